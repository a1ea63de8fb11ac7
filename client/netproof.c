/* Looks at a cell's network by rtnetlink(7), through libmnl. */
#include "netproof.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cells.h"

enum { PROOF_MS = 5000 };

struct proof {
	unsigned lo;			/* lo's index, 0: not seen yet */
	bool	 has4, has6;
	char	 bad[160];		/* "" : nothing so far */
};

/* The attribute at a, or NULL behind the last one of h. */
static const struct nlattr *
attr_at(const struct nlmsghdr *h, const struct nlattr *a)
{
	const char *end = mnl_nlmsg_get_payload_tail(h);

	return mnl_attr_ok(a, (int)(end - (const char *)a)) ? a : NULL;
}

#define each_attr(a, h, skip)						\
	for (a = attr_at(h, mnl_nlmsg_get_payload_offset(h, skip));	\
	    a != NULL; a = attr_at(h, mnl_attr_next(a)))

static int
bad_link(const struct nlmsghdr *h, void *ctx)
{
	const struct ifinfomsg *m = mnl_nlmsg_get_payload(h);
	const struct nlattr *a;
	const char *name = "?";
	struct proof *p = ctx;
	unsigned index = (unsigned)m->ifi_index;

	each_attr(a, h, sizeof *m)
		if (mnl_attr_get_type(a) == IFLA_IFNAME &&
		    mnl_attr_validate(a, MNL_TYPE_NUL_STRING) >= 0)
			name = mnl_attr_get_str(a);
	if ((m->ifi_flags & IFF_LOOPBACK) != 0 && strcmp(name, "lo") == 0 &&
	    p->lo == 0) {
		p->lo = index;
		if ((m->ifi_flags & IFF_UP) == 0)
			(void)snprintf(p->bad, sizeof p->bad, "lo is down");
	} else if ((m->ifi_flags & IFF_UP) != 0) {
		(void)snprintf(p->bad, sizeof p->bad, "link %.32s is up", name);
	}
	return MNL_CB_OK;
}

static int
bad_addr(const struct nlmsghdr *h, void *ctx)
{
	const struct ifaddrmsg *m = mnl_nlmsg_get_payload(h);
	const struct nlattr *a;
	const void *ip = NULL, *local = NULL;
	struct proof *p = ctx;
	uint32_t v4 = htonl(INADDR_LOOPBACK);
	size_t want = m->ifa_family == AF_INET ? 4 : 16;

	each_attr(a, h, sizeof *m) {
		if (mnl_attr_get_payload_len(a) != want)
			continue;
		if (mnl_attr_get_type(a) == IFA_ADDRESS)
			ip = mnl_attr_get_payload(a);
		else if (mnl_attr_get_type(a) == IFA_LOCAL)
			local = mnl_attr_get_payload(a);
	}
	if (local != NULL)
		ip = local;
	if (m->ifa_index == p->lo && ip != NULL && m->ifa_family == AF_INET &&
	    memcmp(ip, &v4, 4) == 0)
		p->has4 = true;
	else if (m->ifa_index == p->lo && ip != NULL &&
	    m->ifa_family == AF_INET6 && memcmp(ip, &in6addr_loopback, 16) == 0)
		p->has6 = true;
	else
		(void)snprintf(p->bad, sizeof p->bad, "link %u has an address "
		    "of family %u that is not loopback's", m->ifa_index,
		    m->ifa_family);
	return MNL_CB_OK;
}

static int
bad_route(const struct nlmsghdr *h, void *ctx)
{
	const struct rtmsg *m = mnl_nlmsg_get_payload(h);
	const struct nlattr *a;
	struct proof *p = ctx;
	unsigned out = 0;
	bool leaves = false;

	each_attr(a, h, sizeof *m) {
		switch (mnl_attr_get_type(a)) {
		case RTA_OIF:
			if (mnl_attr_validate(a, MNL_TYPE_U32) >= 0)
				out = mnl_attr_get_u32(a);
			break;
		case RTA_GATEWAY:
		case RTA_VIA:
		case RTA_MULTIPATH:
		case RTA_NH_ID:
		case RTA_ENCAP:
			leaves = true;
			break;
		default:
			break;
		}
	}
	/* These lead nowhere, whatever device they are booked on. */
	if (m->rtm_type == RTN_UNREACHABLE || m->rtm_type == RTN_BLACKHOLE ||
	    m->rtm_type == RTN_PROHIBIT)
		return MNL_CB_OK;
	if (leaves || out != p->lo)
		(void)snprintf(p->bad, sizeof p->bad,
		    "a route of family %u leaves by link %u", m->rtm_family,
		    out);
	return MNL_CB_OK;
}

/* 0, or -errno. */
static int
dump(struct mnl_socket *s, uint16_t type, size_t payload, unsigned seq,
    mnl_cb_t each, struct proof *p)
{
	char buf[6144]
	    __attribute__((aligned(8)));
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct pollfd pf = { .fd = mnl_socket_get_fd(s), .events = POLLIN };
	uint64_t until = now_ns() + PROOF_MS * 1000000ULL;
	ssize_t n;
	int r;

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	h->nlmsg_seq = seq;
	(void)mnl_nlmsg_put_extra_header(h, payload);	/* zero: any family */
	if (mnl_socket_sendto(s, h, h->nlmsg_len) < 0)
		return -errno;
	do {
		if (now_ns() > until)
			return -ETIMEDOUT;
		/* The kernel answers at once: mostly there is no wait. */
		n = mnl_socket_recvfrom(s, buf, sizeof buf);
		if (n < 0 && errno == EAGAIN) {
			r = poll(&pf, 1, PROOF_MS);
			if (r == 0)
				return -ETIMEDOUT;
			if (r < 0 && errno != EINTR)
				return -errno;
			r = MNL_CB_OK;
			continue;
		}
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r = mnl_cb_run(buf, (size_t)n, seq, mnl_socket_get_portid(s),
		    each, p);
		if (r < 0)
			return -errno;
	} while (r != MNL_CB_STOP);
	return 0;
}

/* A dump that the kernel marks as interrupted fails: mnl gives EINTR. */
static int
dump_all(struct mnl_socket *s, struct proof *p)
{
	int r = dump(s, RTM_GETLINK, sizeof(struct ifinfomsg), 1, bad_link, p);

	if (r == 0)
		r = dump(s, RTM_GETADDR, sizeof(struct ifaddrmsg), 2, bad_addr,
		    p);
	if (r == 0)
		r = dump(s, RTM_GETROUTE, sizeof(struct rtmsg), 3, bad_route,
		    p);
	return r;
}

int
net_prove(int fd, struct bl_err *e)
{
	struct proof p = { 0 };
	struct mnl_socket *s;
	int domain = 0, proto = -1, r;
	socklen_t n = sizeof domain;

	r = getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n);
	n = sizeof proto;
	if (r != 0 || domain != AF_NETLINK || getsockopt(fd, SOL_SOCKET,
	    SO_PROTOCOL, &proto, &n) != 0 || proto != NETLINK_ROUTE) {
		(void)close(fd);
		return err_set(e, BL_KIND_INFRA, "net_not_proved", "cell/proof",
		    0, "the helper did not give a route socket of the cell");
	}
	s = fcntl(fd, F_SETFL, O_NONBLOCK) == 0 ? mnl_socket_fdopen(fd) : NULL;
	if (s == NULL) {
		r = errno;
		(void)close(fd);
		return err_set(e, BL_KIND_INFRA, "net_not_proved", "cell/proof",
		    r, "the cell's route socket can't be used: %s",
		    strerror(r));
	}
	r = dump_all(s, &p);
	(void)mnl_socket_close(s);
	if (r < 0)
		return err_set(e, BL_KIND_INFRA, "net_not_proved", "cell/proof",
		    -r, "the cell's network can't be looked at: %s",
		    strerror(-r));
	if (p.bad[0] == '\0' && p.lo == 0)
		(void)snprintf(p.bad, sizeof p.bad, "there is no lo");
	if (p.bad[0] == '\0' && !p.has4)
		(void)snprintf(p.bad, sizeof p.bad, "lo lacks 127.0.0.1");
	if (p.bad[0] == '\0' && !p.has6 &&
	    access("/proc/sys/net/ipv6", F_OK) == 0)
		(void)snprintf(p.bad, sizeof p.bad, "lo lacks ::1");
	if (p.bad[0] != '\0')
		return err_set(e, BL_KIND_INFRA, "net_not_closed", "cell/proof",
		    0, "the cell's network is not a loopback alone: %s", p.bad);
	return 0;
}

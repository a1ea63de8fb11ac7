/* One datagram at a time, with exactly the descriptors that came. */
#include "wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "fd.h"

#ifndef SCM_PIDFD
#define SCM_PIDFD 4		/* Linux 6.5; the peer can ask for it on our end */
#endif

void
bag_drop(struct fdbag *b)
{
	while (b->n > 0)
		fd_drop(&b->fd[--b->n]);
}

/* Owns every descriptor in m; -EPROTO if anything but one list of them came. */
static int
bag_fill(struct fdbag *b, struct msghdr *m)
{
	struct cmsghdr *c;
	int r = 0, lists = 0;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		size_t got = c->cmsg_len - CMSG_LEN(0);
		unsigned i, n = (unsigned)(got / sizeof b->fd[0]);

		if (c->cmsg_level != SOL_SOCKET ||
		    (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != SCM_PIDFD)) {
			r = -EPROTO;
			continue;
		}
		if (c->cmsg_type != SCM_RIGHTS || ++lists > 1)
			r = -EPROTO;
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (b->n < BL_FDS_MAX)
				b->fd[b->n++] = fd;
			else
				fd_drop(&fd);
		}
	}
	return r;
}

int
wire_recv(int sock, void *buf, size_t size, struct fdbag *b)
{
	union { struct cmsghdr h; char raw[CMSG_LEN(sizeof b->fd)]; } ctl;
	struct iovec iov = { buf, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	ssize_t got;
	int r;

	b->n = 0;
	do
		got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == ECONNRESET ? 0 : -errno;
	r = bag_fill(b, &m);			/* own them before judging */
	if (got == 0 && b->n == 0 && r == 0)
		return 0;
	if ((size_t)got == size && r == 0 &&
	    (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return 1;
	bag_drop(b);
	return -EPROTO;
}

int
wire_request(int sock, struct bl_req *q, struct fdbag *b)
{
	int r = wire_recv(sock, q, sizeof *q, b);

	if (r == 1 && (bl_req_check(q) != 0 || bl_req_fds(q) != b->n)) {
		bag_drop(b);
		return -EPROTO;
	}
	return r;
}

int
wire_send(int sock, const void *buf, size_t size, const int *fds,
    unsigned nfds)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof(int[2]))]; } ctl;
	struct iovec iov = { (void *)(uintptr_t)buf, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t put;

	if (nfds > 2)
		return -EINVAL;
	if (nfds > 0) {
		memset(&ctl, 0, sizeof ctl);
		ctl.h.cmsg_level = SOL_SOCKET;
		ctl.h.cmsg_type = SCM_RIGHTS;
		ctl.h.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&ctl.h), fds, nfds * sizeof(int));
		m.msg_control = ctl.raw;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
	}
	do
		put = sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	return put < 0 ? -errno : (size_t)put == size ? 0 : -EPROTO;
}

int
wire_is_ours(int fd, int listening)
{
	int domain = 0, type = 0, accepts = 0;
	socklen_t n = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &n) != 0 ||
	    domain != AF_UNIX || type != SOCK_SEQPACKET ||
	    accepts != listening)
		return -ENOTSOCK;
	return 0;
}

struct bl_rep
wire_reply(unsigned kind, uint32_t seq)
{
	struct bl_rep p;

	memset(&p, 0, sizeof p);
	p.magic = BL_MAGIC;
	p.version = BL_VERSION;
	p.kind = (uint16_t)kind;
	p.seq = seq;
	return p;
}

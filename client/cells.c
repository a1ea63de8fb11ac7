/* The client's end of the wire: session, owner and reply sockets. */
#include "cells.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "bare.h"
#include "netproof.h"
#include "rlimits.h"
#include "rootless.h"
#include "rulesfile.h"
#include "../policy/reply.h"

enum { SILENT_MS = 15000, END_MS = 3000, REMOVE_MS = 60000 };

uint64_t
now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* can't fail */
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void
fd_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

int
ms_until(uint64_t until_ns)
{
	uint64_t now = now_ns(), ms;

	if (now >= until_ns)
		return 0;
	ms = (until_ns - now + 999999) / 1000000;
	return ms > 3600000 ? 3600000 : (int)ms;
}

/*
 * The kernel counts the descriptors that a user has on their way, and cells
 * without a user of their own add to them, as far as bare_descriptors lets
 * them.  So once more, with all that this process may have, for that moment.
 */
static ssize_t
send_above(int sock, const struct msghdr *m)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct rlimit was, most;
	ssize_t n = -1;
	int err = ETOOMANYREFS;

	(void)pthread_mutex_lock(&one);	/* the limit is the whole process's */
	most = was = (struct rlimit){ 0, 0 };
	if (getrlimit(RLIMIT_NOFILE, &was) == 0)
		most.rlim_cur = most.rlim_max = was.rlim_max;
	if (most.rlim_cur > was.rlim_cur &&
	    setrlimit(RLIMIT_NOFILE, &most) == 0) {
		n = sendmsg(sock, m, MSG_NOSIGNAL | MSG_DONTWAIT);
		err = errno;
		(void)setrlimit(RLIMIT_NOFILE, &was);	/* lower: can't fail */
	}
	(void)pthread_mutex_unlock(&one);
	errno = err;
	return n;
}

/* 0, or -errno. */
static int
send_req(int sock, struct bl_req *q, const int *fd, unsigned nfds)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof(int) *
	    BL_FDS_MAX)]; } ctl;
	struct iovec iov = { q, sizeof *q };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pollfd p = { .fd = sock, .events = POLLOUT };
	struct cmsghdr *c;
	ssize_t n;

	if (nfds > BL_FDS_MAX)
		return -EMFILE;
	if (nfds > 0) {
		memset(&ctl, 0, sizeof ctl);
		m.msg_control = ctl.raw;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(c), fd, sizeof(int) * nfds);
	}
	q->magic = BL_MAGIC;
	q->version = BL_VERSION;
	for (uint64_t until = now_ns() + SILENT_MS * 1000000ULL;;) {
		n = sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == (ssize_t)sizeof *q)
			return 0;
		if (n >= 0)
			return -EPROTO;
		if (errno == ETOOMANYREFS && (n = send_above(sock, &m)) > 0)
			return n == (ssize_t)sizeof *q ? 0 : -EPROTO;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
		if (now_ns() >= until)
			return -ETIMEDOUT;
		(void)poll(&p, 1, ms_until(until));
	}
}

struct bag {
	unsigned n;
	int	 fd[BL_FDS_MAX];
};

static void
bag_drop(struct bag *b)
{
	while (b->n > 0)
		fd_close(&b->fd[--b->n]);
}

/* Takes what the kernel installed, whatever else is wrong with it. */
static void
bag_fill(struct bag *b, struct msghdr *m)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		size_t n = c->cmsg_len >= CMSG_LEN(0) ?
		    (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n && b->n < BL_FDS_MAX; i++)
			memcpy(&b->fd[b->n++], CMSG_DATA(c) + i * sizeof(int),
			    sizeof(int));
	}
}

/* 1: one sound reply; 0: the peer is gone; -ETIMEDOUT; other -errno. */
static int
recv_rep(int sock, struct bl_rep *p, struct bag *b, uint64_t until_ns)
{
	union { struct cmsghdr h; char raw[CMSG_LEN(sizeof b->fd)]; } ctl;
	struct iovec iov = { p, sizeof *p };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	struct pollfd pf = { .fd = sock, .events = POLLIN };
	bool reset = false;
	ssize_t n;

	b->n = 0;
	for (;;) {
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (n >= 0)
			break;
		if (errno == ECONNRESET) {
			if (reset)
				return 0;
			/* It left requests unread; its last word is there. */
			reset = true;
			continue;
		}
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
		if (errno == EAGAIN && now_ns() >= until_ns)
			return -ETIMEDOUT;
		(void)poll(&pf, 1, ms_until(until_ns));
		m.msg_controllen = sizeof ctl.raw;
	}
	bag_fill(b, &m);
	if (n == 0 && b->n == 0)
		return 0;
	if (n == (ssize_t)sizeof *p && bl_rep_check(p) == 0 &&
	    (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return 1;
	bag_drop(b);
	return -EPROTO;
}

static int
broken(struct bl_err *e, const char *step, int err)
{
	return err_set(e, BL_KIND_INFRA, "protocol", step, err,
	    "the helper sent what it should not: %s", strerror(err < 0 ? -err :
	    err));
}

/* The session's socket failed: what became of the helper says why. */
static int
session_lost(struct bl_helper *h, int err, struct bl_err *e)
{
	pid_t pid = h->pid;
	bool silent = err == -ETIMEDOUT;

	if (err == -EPROTO)
		(void)broken(e, "helper/reply", err);
	fd_close(&h->sock);
	h->pid = -1;
	return way_ended(pid, silent ? 0 : END_MS, e);
}

static int
call(struct bl_helper *h, const struct bl_req *q, struct bl_rep *p,
    struct bag *b, struct bl_err *e)
{
	int r = recv_rep(h->sock, p, b, now_ns() + SILENT_MS * 1000000ULL);
	bool early;

	if (r <= 0)
		return session_lost(h, r, e);
	/* a refusal to start at all answers what was not read yet */
	early = q->op == BL_OP_HELLO && p->seq == 0 && p->status != 0;
	if (p->kind != q->op || (p->seq != q->seq && !early)) {
		bag_drop(b);
		return session_lost(h, -EPROTO, e);
	}
	if (p->status != 0) {
		bag_drop(b);
		return err_at(e, p->step, p->object, p->status);
	}
	return 0;
}

int
helper_start(struct bl_helper *h, const struct way_ask *ask, struct bl_err *e)
{
	struct bl_req q = { .op = BL_OP_HELLO, .seq = 1 };
	int r;

	memset(h, 0, sizeof *h);
	h->sock = -1;
	h->pid = -1;
	if (way_choose(ask, &h->way, e) != 0)
		return -1;
	/* behind a socket it is in another one's group, and can't enter this */
	if (h->way.way != BL_WAY_SOCKET)
		cgroups_open(&h->groups);
	if (h->way.way == BL_WAY_BWRAP)
		h->groups.own++;	/* it watches its child */
	if (h->way.way == BL_WAY_SOCKET)
		(void)snprintf(h->groups.why, sizeof h->groups.why, "a helper "
		    "behind a socket can't enter this user's");
	if (h->way.way >= BL_WAY_BWRAP)
		return 0;
	if (way_start(&h->way, &h->sock, &h->pid, e) != 0)
		return -1;
	h->seq = 1;
	r = send_req(h->sock, &q, NULL, 0);
	/* one that has ended already said why: helper_ready reads it */
	return r == 0 || r == -EPIPE || r == -ECONNRESET ? 0 :
	    session_lost(h, r, e);
}

int
helper_ready(struct bl_helper *h, struct bl_err *e)
{
	struct bl_req q = { .op = BL_OP_HELLO, .seq = 1 };
	struct bl_rep p;
	struct bag b;

	if (h->way.way >= BL_WAY_BWRAP) {
		struct bl_caller own;

		bare_quota(&own);
		h->hello = (struct bl_rep_hello){ .way = h->way.way,
		    .uid = geteuid(), .gid = getegid(), .slots = own.slots,
		    .builtin = 1 };
		return 0;
	}
	if (call(h, &q, &p, &b, e) != 0)
		return -1;
	if (b.n != 0) {
		bag_drop(&b);
		return session_lost(h, -EPROTO, e);
	}
	h->hello = p.u.hello;
	if (h->way.way == BL_WAY_ROOTLESS)
		h->hello.way = BL_WAY_ROOTLESS;	/* it can't tell */
	h->way.way = h->hello.way;
	return 0;
}

void
helper_close(struct bl_helper *h)
{
	struct bl_err e = { .kind = BL_KIND_NONE };

	fd_close(&h->sock);
	if (h->pid > 0)
		(void)way_ended(h->pid, END_MS, &e);	/* reaps it; no news */
	h->pid = -1;
	cgroups_close(&h->groups);
}

void
helper_leave(struct bl_helper *h)
{
	fd_close(&h->sock);
	h->pid = -1;
	cgroups_close(&h->groups);
}

static void
cell_req(const struct bl_helper *h, const struct bl_cell_spec *s,
    const struct bl_cell *of, struct bl_req *q, int *fds, unsigned *nfds)
{
	struct bl_req_cell *c = &q->u.cell;

	memset(q, 0, sizeof *q);
	q->op = BL_OP_CELL;
	q->seq = h->seq;
	c->role = s->role;
	c->need = s->need & ~h->way.waived;
	c->deadline_ns = s->deadline_ns;
	c->disk = s->disk;
	c->limits = s->limits;
	c->nplaces = s->nplaces;
	*nfds = 0;
	for (uint32_t i = 0; i < s->nplaces && i < BL_PLACES_MAX; i++) {
		c->place[i] = s->place[i];
		if (s->place[i].kind == BL_PLACE_BIND)
			fds[(*nfds)++] = s->place_fd[i];
	}
	if (s->host_net)
		c->flags |= BL_CELL_HOST_NET;
	if (cgroup_there(&of->group)) {
		c->flags |= BL_CELL_CGROUP;
		/* pids.max is to be met first: what it refuses is counted */
		c->limits.pids += !s->exact && c->limits.pids != 0;
		fds[(*nfds)++] = of->group.dir;
	}
}

/*
 * A helper in a user namespace of ours has another mount namespace, and a
 * network that is not this host's.  0, or a -errno: what it could not do.
 */
static int
cell_ask_rootless(struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_cell *c, struct bl_req *q, const int *fds, unsigned nfds)
{
	struct bag b = { .n = 0 };
	int r = 0;

	if (s->host_net)
		return -ENETUNREACH;
	while (r >= 0 && b.n < nfds) {
		/* the last one, a control group, is no folder to show */
		r = b.n == nfds - 1 && cgroup_there(&c->group) ?
		    fcntl(c->group.dir, F_DUPFD_CLOEXEC, 0) :
		    rootless_place(h->pid, fds[b.n]);
		if (r >= 0)
			b.fd[b.n++] = r;
	}
	c->asked_fd = b.n;
	r = r < 0 ? -ESTALE : send_req(h->sock, q, b.fd, b.n);
	bag_drop(&b);
	return r;
}

/* The request was not sent, or did not get through: cell_ask kept why. */
static int
not_asked(struct bl_helper *h, const struct bl_cell_spec *s,
    const struct bl_cell *c, struct bl_err *e)
{
	uint32_t n = c->asked_fd, i = 0;

	if (h->sock < 0)
		return err_set(e, BL_KIND_INFRA, "helper_gone", "cell", 0,
		    "there is no helper");
	if (c->asked == -ENETUNREACH)
		return way_host_net(h->way.way, e);
	if (c->asked != -ESTALE)
		return session_lost(h, c->asked, e);
	while (i < s->nplaces && (s->place[i].kind != BL_PLACE_BIND || n-- > 0))
		i++;
	(void)err_set(e, BL_KIND_SETUP, "place_refused", "cell/place", 0,
	    "a folder can't be shown in the cell: the helper, in its own "
	    "namespace, does not find it");
	if (i < s->nplaces)
		err_object(e, "%s", s->place[i].dst);
	err_hint(e, "it must not be moved or mounted while bailiff starts");
	return -1;
}

/*
 * Where there is no helper: the request goes to the cell's own init, which is
 * started behind it, with what ties it to this process.
 */
static int
bare_ask(struct bl_helper *h, const struct bl_cell_spec *s, struct bl_cell *c,
    struct bl_err *e)
{
	int sv[2], fds[BL_FDS_MAX], tie, r;
	struct bl_caller quota;
	uint32_t which = 0;
	struct bl_req q;
	unsigned nfds;

	/* a judge there would be the caller's own user to the network */
	if (s->host_net && way_host_net(h->way.way, e) != 0)
		return -1;
	cell_req(h, s, c, &q, fds, &nfds);
	q.u.cell.flags &= BL_CELL_HOST_NET;
	q.u.cell.need &= ~(uint32_t)BL_NEED_CGROUP;
	bare_quota(&quota);
	r = bl_rules_apply(&quota, &q.u.cell, now_ns(), &which);
	if (r != 0)
		return err_at(e, BL_AT_LIMITS, which, r);
	bare_descriptors(&q.u.cell);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		return err_set(e, BL_KIND_INFRA, "no_descriptors", "cell",
		    errno, "no socket: %s", strerror(errno));
	tie = s->lasts ? -1 : pidfd_open(getpid(), 0);
	r = send_req(sv[0], &q, &tie, tie >= 0);
	if (r != 0)
		(void)err_set(e, BL_KIND_INFRA, "no_descriptors", "cell", r,
		    "a cell can't be asked for: %s", strerror(-r));
	else
		r = bare_start(h, s, &q.u.cell, sv[1], c, e);
	fd_close(&tie);
	fd_close(&sv[1]);
	if (r == 0)
		c->owner = sv[0];
	else
		fd_close(&sv[0]);
	return r;
}

/* The report of a cell's own init; *netlink comes with it. */
static int
bare_take(const struct bl_helper *h, struct bl_cell *c, int *netlink,
    struct bl_err *e)
{
	struct bl_rep p;
	struct bag b;
	int r = recv_rep(c->owner, &p, &b,
	    now_ns() + SILENT_MS * 1000000ULL);

	if (r == 1 && p.status == 0 && p.kind == BL_OP_CELL && b.n == 1) {
		*netlink = b.fd[0];
		fd_close(&c->words);
		return 0;
	}
	if (r == 1)
		bag_drop(&b);
	fd_close(&c->owner);
	if (r == 1 && p.status != 0)
		(void)err_at(e, p.step, p.object, p.status);
	else if (r < 0)
		(void)err_set(e, BL_KIND_INFRA, "cell_silent", "cell/report",
		    r, "a cell's init did not report: %s", strerror(-r));
	else
		return bare_ended(h, c, e);
	cell_close(c);
	return -1;
}

void
cell_ask(struct bl_helper *h, const struct bl_cell_spec *s, struct bl_cell *c)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct bl_req q;
	unsigned nfds;
	int fds[BL_FDS_MAX];

	memset(c, 0, sizeof *c);
	c->owner = -1;
	c->role = s->role;
	c->pid = c->words = -1;
	c->asked = -ENOTCONN;
	if (rlimits_enough(&h->way, s, &c->group_e) != 0 ||
	    cgroup_make(&h->groups, s, &c->group, &c->group_e) != 0)
		return;			/* cell_take tells */
	if (s->nplaces <= BL_PLACES_MAX && h->way.way >= BL_WAY_BWRAP)
		(void)bare_ask(h, s, c, &e);	/* cell_take tries again */
	if (s->nplaces > BL_PLACES_MAX || h->sock < 0)
		return;
	c->asked_seq = ++h->seq;
	cell_req(h, s, c, &q, fds, &nfds);
	c->asked = h->way.way == BL_WAY_ROOTLESS ?
	    cell_ask_rootless(h, s, c, &q, fds, nfds) :
	    send_req(h->sock, &q, fds, nfds);
}

/*
 * What the rules give this caller, if the rules that the helper goes by can be
 * read: nothing but 0 asks for all of it, and a control group needs the number.
 */
static bool
rules_give(const struct bl_helper *h, struct bl_caller *q)
{
	struct bl_rules *r = calloc(1, sizeof *r);
	/* the helper has found this user in one of the groups already */
	bool found = r != NULL && rules_read(r) == 0 &&
	    memcmp(r->digest, h->hello.digest, sizeof r->digest) == 0 &&
	    bl_rules_quota(r, h->hello.uid, r->group, r->ngroups, q) == 0;

	free(r);
	return found;
}

static uint64_t
less_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* true: the refusal is of a default of ours; less is s without it. */
static bool
default_refused(const struct bl_helper *h, const struct bl_cell_spec *s,
    const struct bl_cell *c, const struct bl_rep *p, struct bl_cell_spec *less)
{
	struct bl_caller most = { .slots = 0 };
	uint64_t places = 0;

	if (p->kind != BL_OP_CELL || p->step != BL_AT_LIMITS)
		return false;
	*less = *s;
	if (p->object == BL_LIMIT_PROCESSES && cgroup_there(&c->group) &&
	    !s->exact) {
		less->exact = true;
		return true;
	}
	if (p->object >= BL_LIMIT_MAX || (s->defaults >> p->object & 1) == 0)
		return false;
	less->defaults &= ~(1U << p->object);
	(void)rules_give(h, &most);	/* else 0: as they say */
	for (uint32_t i = 0; i < s->nplaces; i++)
		places += s->place[i].size;
	switch (p->object) {
	case BL_LIMIT_MEMORY:
		less->limits.memory = less_of(s->limits.memory, most.memory_max);
		return true;
	case BL_LIMIT_DISK:
		less->disk = less_of(s->disk, most.disk_max > places ?
		    most.disk_max - places : 0);
		less->limits.fsize = less_of(s->limits.fsize, most.fsize_max);
		return true;
	case BL_LIMIT_PROCESSES:
		less->limits.pids = (uint32_t)less_of(s->limits.pids,
		    most.pids_max);
		return true;
	default:
		less->limits.nofile = 0;
		return p->object == BL_LIMIT_START;
	}
}

/* The cell's network is proved by netlink, which is closed; then it may start. */
static int
cell_go(uint32_t need, struct bl_cell *c, int netlink, struct bl_err *e)
{
	struct bl_req go = { .op = BL_OP_GO, .seq = 1 };
	int r = 0;

	if ((need & BL_NEED_NET) != 0)
		r = net_prove(netlink, e);
	else
		fd_close(&netlink);
	if (r == 0 && (r = send_req(c->owner, &go, NULL, 0)) != 0)
		(void)err_set(e, BL_KIND_INFRA, "helper_gone", "cell/go", r,
		    "the cell ended before it was used");
	if (r == 0)
		return 0;
	cell_close(c);
	return -1;
}

/* true: it has no control group, and that is a failure. */
static bool
no_group(const struct bl_helper *h, const struct bl_cell_spec *s,
    const struct bl_cell *c, struct bl_err *e)
{
	if (c->group_e.kind != BL_KIND_NONE) {
		if (e != NULL && e->kind == BL_KIND_NONE)
			*e = c->group_e;
		return true;
	}
	if ((s->need & BL_NEED_CGROUP) == 0 || cgroup_there(&c->group))
		return false;
	(void)err_set(e, BL_KIND_SETUP, "cgroup_missing", "cell/cgroup", 0,
	    "a cell can't have a control group of its own: %s",
	    h->groups.there ? "the rules allow less than the default limits, "
	    "and how much is not to be read" : h->groups.why);
	err_hint(e, h->groups.there ? "give -m, --disk and --pids that the "
	    "rules allow" : "see bailiff doctor, cgroup; or leave cgroup out of "
	    "--require");
	return true;
}

int
cell_take(struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_cell *c, struct bl_err *e)
{
	struct bl_req q = { .op = BL_OP_CELL, .seq = c->asked_seq };
	struct bl_rep p = { 0 };
	struct bl_cell_spec less;
	int netlink = -1;
	struct bag b;

	if (s->nplaces > BL_PLACES_MAX)
		return err_set(e, BL_KIND_USAGE, "too_many_places",
		    "cell/place", 0, "at most %d folders can be added to a "
		    "cell", BL_PLACES_MAX);
	if (no_group(h, s, c, e))
		return -1;
	if (h->way.way >= BL_WAY_BWRAP) {
		c->seq = 1;
		if (c->owner < 0 && bare_ask(h, s, c, e) != 0)
			return -1;
		return bare_take(h, c, &netlink, e) != 0 ? -1 :
		    cell_go(s->need & ~h->way.waived, c, netlink, e);
	}
	if (h->sock < 0 || c->asked != 0)
		return not_asked(h, s, c, e);
	if (call(h, &q, &p, &b, e) != 0) {
		if (default_refused(h, s, c, &p, &less)) {
			if (e != NULL)
				e->kind = BL_KIND_NONE;
			cgroup_end(&c->group);
			cell_ask(h, &less, c);
			return cell_take(h, &less, c, e);
		}
		if (e != NULL && p.kind == BL_OP_CELL && p.status != 0 &&
		    (p.step == BL_AT_BIND || p.step == BL_AT_PLACE) &&
		    p.object < s->nplaces)
			(void)snprintf(e->object, sizeof e->object, "%s",
			    s->place[p.object].dst);
		return -1;
	}
	if (b.n != 2) {
		bag_drop(&b);
		return session_lost(h, -EPROTO, e);
	}
	c->owner = b.fd[0];
	c->seq = 1;
	c->info = p.u.cell;
	return cell_go(s->need, c, b.fd[1], e);
}

int
cell_open(struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_cell *c, struct bl_err *e)
{
	cell_ask(h, s, c);
	return cell_take(h, s, c, e);
}

void
cell_close(struct bl_cell *c)
{
	struct bl_err e = { .kind = BL_KIND_NONE };

	fd_close(&c->owner);
	if (c->pid > 0) {		/* else words may be what it never was */
		if (c->plain)		/* killed, it would leave its folder */
			way_left(c->pid, REMOVE_MS);
		else			/* reaps it; no news */
			(void)way_ended(c->pid, END_MS, &e);
		fd_close(&c->words);
	}
	c->pid = -1;
	cgroup_end(&c->group);
}

/*
 * One stream's pipe.  Where none is wanted *ours is -1: an input is at its end
 * then, and an output goes to the null device.  No input is the null device:
 * a program of the cell's could lock this machine's, and set its times.
 */
static int
stream_open(bool pipe_wanted, bool to_child, int *ours, int *theirs)
{
	int p[2];

	*ours = *theirs = -1;
	if (!pipe_wanted && !to_child) {
		*theirs = open("/dev/null", O_WRONLY | O_CLOEXEC);
		return *theirs < 0 ? -errno : 0;
	}
	if (pipe2(p, O_CLOEXEC) != 0)
		return -errno;
	*ours = to_child ? p[1] : p[0];
	*theirs = to_child ? p[0] : p[1];
	/* So that the role can open /dev/stdout and the like by name. */
	if (fchmod(*theirs, 0666) != 0 ||
	    fcntl(*ours, F_SETFL, O_NONBLOCK) != 0)
		return -errno;
	if (!pipe_wanted)
		fd_close(ours);
	return 0;
}

int
spawn_open(struct bl_spawn *s, unsigned flags, struct bl_err *e)
{
	int *to = s->theirs, sv[2], r;

	memset(s, 0, sizeof *s);
	s->reply = s->in = s->out = s->err = s->result = s->listener = -1;
	for (unsigned i = 0; i < 5; i++)
		to[i] = -1;
	s->ntheirs = (flags & SPAWN_RES) != 0 ? 5 : 4;
	r = stream_open((flags & SPAWN_IN) != 0, true, &s->in, &to[0]);
	if (r == 0)
		r = stream_open((flags & SPAWN_OUT) != 0, false, &s->out,
		    &to[1]);
	if (r == 0)
		r = stream_open((flags & SPAWN_ERR) != 0, false, &s->err,
		    &to[2]);
	if (r == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    sv) != 0)
		r = -errno;
	if (r == 0) {
		s->reply = sv[0];
		to[3] = sv[1];
		if ((flags & SPAWN_RES) != 0)
			r = stream_open(true, false, &s->result, &to[4]);
	}
	if (r == 0)
		return 0;
	(void)err_set(e, BL_KIND_INFRA, "no_descriptors", "spawn/streams", r,
	    "no pipes for a command: %s", strerror(-r));
	spawn_close(s);
	return -1;
}

static void
theirs_close(struct bl_spawn *s)
{
	while (s->ntheirs > 0)
		fd_close(&s->theirs[--s->ntheirs]);
}

int
spawn_send(struct bl_cell *c, int spec, uint64_t wall_ns, struct bl_spawn *s,
    struct bl_err *e)
{
	struct bl_req q = { .op = BL_OP_SPAWN, .seq = ++c->seq };
	int fds[6] = { spec }, r;

	q.u.spawn.wall_ns = wall_ns;
	if (s->result >= 0)
		q.u.spawn.flags = BL_SPAWN_RESULT;
	memcpy(fds + 1, s->theirs, sizeof s->theirs);
	r = send_req(c->owner, &q, fds, 1 + s->ntheirs);
	theirs_close(s);
	if (r == 0)
		return 0;
	(void)err_set(e, BL_KIND_INFRA, "cell_gone", "spawn", r,
	    "the cell is gone: %s", strerror(-r));
	spawn_close(s);
	return -1;
}

int
cell_spawn(struct bl_cell *c, int spec, uint64_t wall_ns, unsigned flags,
    struct bl_spawn *s, struct bl_err *e)
{
	return spawn_open(s, flags, e) == 0 ?
	    spawn_send(c, spec, wall_ns, s, e) : -1;
}

/* 0, or -EPROTO when p can't come now. */
static int
event_take(struct bl_spawn *s, const struct bl_rep *p, struct bag *b)
{
	if (s->ended)
		return -EPROTO;
	if (p->kind == BL_EV_STARTED) {
		if (s->started || b->n > 1)
			return -EPROTO;
		s->started = true;
		s->start = *p;
		if (b->n == 1)
			s->listener = b->fd[--b->n];
		return 0;
	}
	/* both may come without STARTED: a cell's time can be over before it */
	if (b->n != 0 || (p->kind != BL_EV_FAIL && p->kind != BL_EV_EXIT))
		return -EPROTO;
	s->ended = true;
	s->end = *p;
	return 0;
}

int
spawn_event(struct bl_spawn *s, uint64_t until_ns, struct bl_err *e)
{
	struct bl_rep p;
	struct bag b;
	int r = recv_rep(s->reply, &p, &b, until_ns);

	if (r == -ETIMEDOUT)
		return 0;
	if (r == 0)
		return err_set(e, BL_KIND_INFRA, "cell_gone", "spawn/reply", 0,
		    "the cell is gone before the command's end was known");
	if (r > 0) {
		r = event_take(s, &p, &b);
		bag_drop(&b);
	}
	return r < 0 ? broken(e, "spawn/reply", r) : 1;
}

void
spawn_kill(struct bl_spawn *s)
{
	if (s->reply >= 0)
		(void)shutdown(s->reply, SHUT_WR);	/* gone already: fine */
}

void
spawn_close(struct bl_spawn *s)
{
	fd_close(&s->reply);
	fd_close(&s->in);
	fd_close(&s->out);
	fd_close(&s->err);
	fd_close(&s->result);
	fd_close(&s->listener);
	theirs_close(s);
}

/* ATTACH or LISTEN: theirs stays the caller's. */
static int
guest_send(struct bl_cell *c, uint16_t op, int theirs, int *report,
    struct bl_err *e)
{
	const char *step = op == BL_OP_LISTEN ? "cell/listen" : "cell/attach";
	struct bl_req q = { .op = op, .seq = ++c->seq };
	int sv[2], fds[2], r;

	*report = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		return err_set(e, BL_KIND_INFRA, "no_descriptors", step, errno,
		    "no socket: %s", strerror(errno));
	fds[0] = theirs;
	fds[1] = sv[1];
	r = send_req(c->owner, &q, fds, 2);
	(void)close(sv[1]);
	if (r == 0) {
		*report = sv[0];
		return 0;
	}
	(void)close(sv[0]);
	return err_set(e, BL_KIND_INFRA, "cell_gone", step, r,
	    "the cell is gone: %s", strerror(-r));
}

int
cell_listen(struct bl_cell *c, int listener, int *report, struct bl_err *e)
{
	return guest_send(c, BL_OP_LISTEN, listener, report, e);
}

int
cell_attach(struct bl_cell *c, int *guest, int *report, struct bl_err *e)
{
	int sv[2], r;

	*guest = *report = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		return err_set(e, BL_KIND_INFRA, "no_descriptors",
		    "cell/attach", errno, "no socket: %s", strerror(errno));
	r = guest_send(c, BL_OP_ATTACH, sv[1], report, e);
	(void)close(sv[1]);
	if (r == 0)
		*guest = sv[0];
	else
		(void)close(sv[0]);
	return r;
}

/* 1: inode is a namespace, and another one than this process's. */
static bool
differs(const char *name, uint64_t inode)
{
	char path[40];
	struct stat st;

	(void)snprintf(path, sizeof path, "/proc/self/ns/%s", name);
	return inode != 0 && stat(path, &st) == 0 && st.st_ino != inode;
}

void
protections_of(const struct bl_helper *h, const struct bl_cell *c,
    const struct bl_seen *seen, bool net_proved, struct bl_protections *p)
{
	static const char hex[] = "0123456789abcdef";
	char *to;

	memset(p, 0, sizeof *p);
	to = p->rules + 7;
	p->waived = h->way.waived;
	p->uid = h->way.way < BL_WAY_BWRAP && seen->uid == c->info.uid && seen->gid == c->info.gid &&
	    seen->uid != 0 && seen->gid != 0 && seen->uid != geteuid() &&
	    seen->groups == 0 && seen->caps == 0 && seen->no_new_privs == 1;
	p->net = net_proved && differs("net", seen->ns[0]);
	p->mount = differs("mnt", seen->ns[1]) &&
	    (seen->root_flags & (ST_RDONLY | ST_NOSUID)) ==
	    (ST_RDONLY | ST_NOSUID);
	p->pid = differs("pid", seen->ns[2]);
	p->ipc = differs("ipc", seen->ns[3]) && differs("uts", seen->ns[4]);
	p->seccomp = seen->seccomp == 2 && seen->no_new_privs == 1;
	p->cgroup = (c->info.flags & BL_CELL_CGROUP) != 0 &&
	    cgroup_populated(&c->group) ? "v2" : "none";
	if (h->hello.builtin != 0) {
		(void)snprintf(p->rules, sizeof p->rules, "builtin");
		return;
	}
	memcpy(p->rules, "sha256:", 7);
	for (unsigned i = 0; i < sizeof h->hello.digest; i++) {
		*to++ = hex[h->hello.digest[i] >> 4];
		*to++ = hex[h->hello.digest[i] & 15];
	}
	*to = '\0';
}

void
protections_join(struct bl_protections *to, const struct bl_protections *p)
{
	to->uid = to->uid && p->uid;
	to->net = to->net && p->net;
	to->mount = to->mount && p->mount;
	to->pid = to->pid && p->pid;
	to->ipc = to->ipc && p->ipc;
	to->seccomp = to->seccomp && p->seccomp;
	to->waived |= p->waived;
	if (strcmp(p->cgroup, "none") == 0)
		to->cgroup = p->cgroup;
}

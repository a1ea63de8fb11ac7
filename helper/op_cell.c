/* CELL: everything is checked, then one clone3 makes it. */
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd.h"
#include "ops.h"

enum {
	SETUP_MS = 10000,
	NAMESPACES = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
	    CLONE_NEWUTS | CLONE_NEWCGROUP
};

static int
fail(struct bl_rep *p, enum bl_at step, uint32_t object, int err)
{
	p->status = err;
	p->step = step;
	p->object = object;
	return err;
}

/* 0, or -errno with p filled: limits, needs, the type of every descriptor. */
static int
cell_check(const struct session *s, struct bl_req_cell *c,
    const struct fdbag *b, struct bl_rep *p)
{
	uint32_t i, which = 0;
	unsigned fd = 0;
	int r = bl_rules_apply(&s->quota, c, limits_now(), &which);

	if (r != 0)
		return fail(p, BL_AT_LIMITS, which, r);
	if (c->net_of != 0 || (c->flags & BL_CELL_KEEP) != 0)
		return fail(p, BL_AT_UNKNOWN, BL_OP_CELL, -ENOSYS);
	if ((c->need & BL_NEED_CGROUP) != 0 && (c->flags & BL_CELL_CGROUP) == 0)
		return fail(p, BL_AT_NEED, BL_NEED_CGROUP, -EINVAL);
	for (i = 0; i < c->nplaces; i++) {
		if (c->place[i].kind == BL_PLACE_BIND &&
		    (r = bind_check(b->fd[fd++])) != 0)
			return fail(p, BL_AT_PLACE, i, r);
		if (view_taken(s->rules, c->place[i].dst))
			return fail(p, BL_AT_BIND, i, -EBUSY);
		if (c->place[i].size > c->disk)
			return fail(p, BL_AT_LIMITS, BL_LIMIT_DISK, -EDQUOT);
	}
	if ((c->flags & BL_CELL_CGROUP) != 0 &&
	    (r = cgroup_check(b->fd[fd], s->uid)) != 0)
		return fail(p, BL_AT_CGROUP, 0, r);
	return 0;
}

/* The child's half: descriptors of the parent's become cell init's own. */
static _Noreturn void
cell_child(const struct session *s, const struct bl_req_cell *req,
    const struct fdbag *b, uint32_t slot, const int fd[4])
{
	static struct cell cell;
	unsigned i, n = 0;

	cell.req = *req;
	cell.rules = s->rules;
	cell.uid = s->quota.uid_first + (slot - s->quota.slot_first);
	cell.owner = fd[0];
	cell.setup = fd[1];
	cell.helper = fd[2];
	cell.locks = fd[3];
	for (i = 0; i < BL_PLACES_MAX; i++)
		cell.bind[i] = i < req->nplaces &&
		    req->place[i].kind == BL_PLACE_BIND ? b->fd[n++] : -1;
	cell_main(&cell);
}

/* Waits for cell init's word.  0 with *netlink, or -errno with p filled. */
static int
cell_report(int setup, int pidfd, struct bl_rep *p, int *netlink)
{
	struct pollfd w[2] = { { setup, POLLIN, 0 }, { pidfd, POLLIN, 0 } };
	struct fdbag b = { .n = 0 };
	struct bl_rep got;
	int r;

	do
		r = poll(w, 2, SETUP_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return fail(p, BL_AT_REPORT, 0, r == 0 ? -ETIMEDOUT : -errno);
	r = wire_recv(setup, &got, sizeof got, &b);
	if (r != 1)
		return fail(p, BL_AT_REPORT, 1, -ECHILD);
	if (got.status == 0 && b.n == 1) {
		*netlink = b.fd[0];
		return 0;
	}
	bag_drop(&b);
	return fail(p, got.step, got.object,
	    got.status < 0 ? got.status : -EPROTO);
}

/* 0 with l and the two descriptors for the client, or -errno with p filled. */
static int
cell_make(const struct session *s, const struct bl_req_cell *c,
    const struct fdbag *b, struct live *l, struct bl_rep *p, int give[2])
{
	scoped_fd int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	scoped_fd int theirs = -1, mine = -1, report = -1, setup = -1;
	int own[2], set[2], pidfd = -1, r;
	struct clone_args a = { .flags = NAMESPACES | CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)&pidfd, .exit_signal = SIGCHLD };
	long pid;

	if (self < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, own) != 0)
		return fail(p, BL_AT_CLONE, 1, -errno);
	theirs = own[0];
	mine = own[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, set) != 0)
		return fail(p, BL_AT_CLONE, 2, -errno);
	report = set[0];
	setup = set[1];
	if ((c->flags & BL_CELL_CGROUP) != 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (unsigned)b->fd[b->n - 1];
	}
	pid = syscall(SYS_clone3, &a, sizeof a);
	if (pid < 0)
		return fail(p, BL_AT_CLONE, 0, -errno);
	if (pid == 0)
		cell_child(s, c, b, l->slot,
		    (const int[]){ mine, setup, self, s->locks });
	fd_drop(&mine);
	fd_drop(&setup);
	r = cell_report(report, pidfd, p, &give[1]);
	if (r != 0) {
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		(void)waitpid((pid_t)pid, NULL, 0);	/* dying already */
		fd_drop(&pidfd);
		return r;
	}
	give[0] = fd_take(&theirs);
	l->pidfd = pidfd;
	return 0;
}

int
op_cell(struct session *s, const struct bl_req *q, struct fdbag *b)
{
	struct bl_rep p = wire_reply(q->op, q->seq);
	struct bl_req_cell c = q->u.cell;
	struct live *l = s->live, got = { .pidfd = -1 };
	int give[2] = { -1, -1 }, r;

	while (l < s->live + BL_CELLS_MAX && l->pidfd >= 0)
		l++;
	r = cell_check(s, &c, b, &p);
	if (r == 0 && l == s->live + BL_CELLS_MAX)
		r = fail(&p, BL_AT_SLOT, BL_CELLS_MAX, -EMFILE);
	if (r == 0 && (r = slot_take(s, &got.slot)) != 0)
		(void)fail(&p, BL_AT_SLOT, s->quota.slots, r);
	if (r == 0 && (r = cell_make(s, &c, b, &got, &p, give)) != 0)
		slot_free(s, got.slot);
	if (r != 0)
		return wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0);
	got.number = ++s->numbers;
	*l = got;
	p.u.cell.cell = got.number;
	p.u.cell.uid = s->quota.uid_first + (got.slot - s->quota.slot_first);
	p.u.cell.gid = p.u.cell.uid;
	p.u.cell.cgroup = (c.flags & BL_CELL_CGROUP) != 0;
	r = wire_send(BL_SESSION_FD, &p, sizeof p, give, 2);
	fd_drop(&give[0]);
	fd_drop(&give[1]);
	return r;
}

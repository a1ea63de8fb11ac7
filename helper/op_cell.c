/* CELL: everything is checked, then one clone3 makes it. */
#include "ops.h"
#include "sys.h"

enum {
	SETUP_MS = 10000,
	NAMESPACES = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
	    CLONE_NEWUTS | CLONE_NEWCGROUP
};

/*
 * 0, or -errno: fd is a folder of a file system that only the kernel serves
 * and that shows files, not processes or devices.  FUSE could stall a mount,
 * or show another user's file as anything.
 */
static int
bind_check(int fd)
{
	static const unsigned long refused[] = { 0x65735546 /* FUSE */,
	    PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC,
	    CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, NSFS_MAGIC };
	struct statfs fs;
	struct stat st;
	unsigned i;
	int r = fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) ? -ENOTDIR :
	    sys(fstatfs(fd, &fs));

	for (i = 0; r == 0 && i < COUNT(refused); i++)
		if ((unsigned long)fs.f_type == refused[i])
			r = -EOPNOTSUPP;
	return r;
}

/* 0, or -errno.  cgroups(7): whoever owns the folder may put processes there. */
static int
cgroup_check(int fd, uid_t caller)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) != 0 || fstat(fd, &st) != 0 ||
	    fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == caller ? 0 : -EPERM;
}

/*
 * 0, or -errno with p filled: limits, and the type of every descriptor.  The
 * folders become detached mounts here and not in the cell: open_tree(2) takes
 * a descriptor of the caller's mount namespace in that namespace alone.
 */
static int
cell_check(const struct session *s, struct cell *c, struct bl_rep *p)
{
	uint32_t i, which = 0;
	unsigned n = 0;
	int r = bl_rules_apply(&s->quota, &c->req, limits_now(), &which);

	if (r != 0)
		return wire_fail(p, BL_AT_LIMITS, which, r);
	if (c->req.net_of != 0 || (c->req.flags & BL_CELL_KEEP) != 0)
		return wire_fail(p, BL_AT_UNKNOWN, BL_OP_CELL, ENOSYS);
	for (i = 0; i < c->req.nplaces; i++) {
		if (c->req.place[i].kind != BL_PLACE_BIND)
			continue;
		r = bind_check(s->b.fd[n]);
		c->bind[i] = r != 0 ? r : view_show(s->b.fd[n++]);
		if (c->bind[i] < 0)
			return wire_fail(p, BL_AT_PLACE, i, c->bind[i]);
	}
	if ((c->req.flags & BL_CELL_CGROUP) != 0 &&
	    (r = cgroup_check(s->b.fd[s->b.n - 1], s->hello.uid)) != 0)
		return wire_fail(p, BL_AT_CGROUP, 0, r);
	return 0;
}

/* Waits for cell init's word.  0 with *netlink, or -errno with p filled. */
static int
cell_report(int setup, struct bl_rep *p, int *netlink)
{
	struct pollfd w = { setup, POLLIN, 0 };	/* also wakes when init is dead */
	struct fdbag b = { .n = 0 };
	struct bl_rep got;
	int r = poll(&w, 1, SETUP_MS);

	if (r <= 0)
		return wire_fail(p, BL_AT_REPORT, 0, r < 0 ? errno : ETIMEDOUT);
	if (wire_recv(setup, &got, sizeof got, &b) != 1)
		return wire_fail(p, BL_AT_REPORT, 1, ECHILD);
	if (got.status == 0 && b.n == 1) {
		*netlink = b.fd[0];
		return 0;
	}
	bag_drop(&b);
	return wire_fail(p, got.step, got.object,
	    got.status != 0 ? got.status : EIO);
}

/*
 * 0 with l's pidfd, give[0] the owner socket and give[1] the netlink socket,
 * or -errno with p filled.
 */
static int
cell_make(const struct session *s, struct cell *c, struct live *l,
    struct bl_rep *p, int give[2])
{
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC;
	scoped_fd int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int own[2] = { -1, -1 }, set[2] = { -1, -1 };
	int r = self < 0 || socketpair(AF_UNIX, type, 0, own) != 0 ||
	    socketpair(AF_UNIX, type, 0, set) != 0 ? -errno : 0;
	scoped_fd int theirs = own[0], mine = own[1];
	scoped_fd int report = set[0], setup = set[1];
	struct clone_args a = { .flags = NAMESPACES | CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)&l->pidfd, .exit_signal = SIGCHLD };
	pid_t pid = -1;

	if ((c->req.flags & BL_CELL_CGROUP) != 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (unsigned)s->b.fd[s->b.n - 1];
	}
	if (r == 0)
		r = pid = sys(syscall(SYS_clone3, &a, sizeof a));
	if (r < 0)
		return wire_fail(p, BL_AT_CLONE, 0, r);
	c->owner = mine;
	c->setup = setup;
	c->helper = self;
	c->locks = s->locks;
	if (pid == 0)
		cell_main(c);
	fd_drop(&mine);
	fd_drop(&setup);
	r = cell_report(report, p, &give[1]);
	if (r == 0)
		give[0] = fd_take(&theirs);
	else {
		(void)syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
		(void)waitpid(pid, NULL, 0);	/* dying already */
		fd_drop(&l->pidfd);
	}
	return r;
}

int
op_cell(struct session *s)
{
	static struct cell c;		/* filled here, lived in by the child */
	struct bl_rep p = wire_reply(s->q.op, s->q.seq);
	struct live *l = s->live;
	int give[2] = { -1, -1 }, r;
	unsigned i;

	while (l < s->live + BL_CELLS_MAX && l->pidfd >= 0)
		l++;
	c.req = s->q.u.cell;
	c.rules = s->rules;
	for (i = 0; i < BL_PLACES_MAX; i++)
		c.bind[i] = -1;
	r = cell_check(s, &c, &p);
	if (r == 0)
		r = l == s->live + BL_CELLS_MAX ? -EMFILE :
		    slot_take(s, &l->slot);
	if (r != 0 && p.status == 0)
		(void)wire_fail(&p, BL_AT_SLOT, s->quota.slots, r);
	if (r == 0) {
		c.uid = s->quota.uid_first + (l->slot - s->quota.slot_first);
		r = cell_make(s, &c, l, &p, give);
		if (r != 0)
			slot_free(s, l->slot);
	}
	if (r == 0) {
		l->number = ++s->numbers;
		p.u.cell = (struct bl_rep_cell){ l->number, c.uid, c.uid,
		    (c.req.flags & BL_CELL_CGROUP) != 0 };
	}
	r = wire_send(BL_SESSION_FD, &p, sizeof p, give, r == 0 ? 2 : 0);
	fd_drop(&give[0]);
	fd_drop(&give[1]);
	for (i = 0; i < BL_PLACES_MAX; i++)
		fd_drop(&c.bind[i]);
	return r;
}

/* CELL: everything is checked, then one clone3 makes it. */
#include "ops.h"
#include "sys.h"

enum { NAMESPACES = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
    CLONE_NEWCGROUP };

/*
 * 0, or -errno: fd is a folder of a file system that only the kernel serves
 * and that shows files, not processes or devices: FUSE could stall a mount, or
 * show another user's file as anything.
 */
static int
folder_check(int fd)
{
	static const unsigned long refused[] = { 0x65735546 /* FUSE */,
	    PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC,
	    CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, NSFS_MAGIC };
	struct statfs fs;
	struct stat st;
	unsigned i;

	if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    fstatfs(fd, &fs) != 0)
		return -ENOTDIR;
	for (i = 0; i < COUNT(refused); i++)
		if ((unsigned long)fs.f_type == refused[i])
			return -EOPNOTSUPP;
	return 0;
}

/*
 * 0, or -errno with p filled: limits, and the type of every descriptor.  The
 * folders become detached mounts here and not in the cell: open_tree(2) may
 * refuse a descriptor of another mount namespace.  What is mounted below them
 * comes along unlooked at.
 */
static int
cell_check(const struct session *s, struct cell *c, struct bl_rep *p)
{
	const int *fd = s->server.b.fd;
	uint32_t i, which = 0;
	int r = bl_rules_apply(&s->quota, &c->req, limits_now(), &which);

	if (r != 0)
		return wire_fail(p, BL_AT_LIMITS, which, r);
	if (c->req.net_of != 0 || (c->req.flags & BL_CELL_KEEP) != 0)
		return wire_fail(p, BL_AT_UNKNOWN, BL_OP_CELL, ENOSYS);
	for (i = 0; i < c->req.nplaces; i++) {
		if (c->req.place[i].kind != BL_PLACE_BIND)
			continue;
		r = folder_check(*fd);
		if (r == 0)
			r = c->binds.fd[c->binds.n] = view_show(*fd++);
		if (r < 0)
			return wire_fail(p, BL_AT_PLACE, i, r);
		c->binds.n++;
	}
	return 0;
}

/*
 * The sixth namespace, with nothing in it but its loopback, is made here while
 * init makes all else: each takes half of the time.  Or it is the helper's own,
 * the host's, where that was asked for.  Init joins it through the socket; the
 * helper goes back to where the owner socket was made.  netdevice(7): lo gets
 * 127.0.0.1 and ::1 by being up.  The netlink socket that init then reports
 * with, or -errno with p filled.
 */
static int
cell_network(const struct cell *c, int owner, struct bl_rep *p)
{
	struct ifreq q = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int host = (c->req.flags & BL_CELL_HOST_NET) != 0;
	scoped_fd int home = ioctl(owner, SIOCGSKNS);
	scoped_fd int fd = !host && syscall(SYS_unshare, CLONE_NEWNET) != 0 ?
	    -1 : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || (!host && ioctl(fd, SIOCSIFFLAGS, &q) != 0) ||
	    syscall(SYS_setns, home, CLONE_NEWNET) != 0)
		return wire_fail(p, BL_AT_LO, 0, errno);
	(void)wire_send(owner, p, &fd, 1);	/* lost: init waits, and says so */
	return wire_await(owner, p);
}

/*
 * 0 with l's pidfd, give[0] the owner socket and give[1] the netlink socket,
 * or -errno with p filled.  Cell init reports on the owner socket, before the
 * client has it.
 */
static int
cell_make(const struct session *s, struct cell *c, struct live *l,
    struct bl_rep *p, int give[2])
{
	scoped_fd int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int own[2] = { -1, -1 };
	int r = self < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC,
	    0, own) != 0 ? -errno : 0;
	scoped_fd int theirs = own[0], mine = own[1];
	struct clone_args a = { .flags = NAMESPACES | CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)&l->pidfd, .exit_signal = SIGCHLD };
	pid_t pid;

	if ((c->req.flags & BL_CELL_CGROUP) != 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (unsigned)s->server.b.fd[s->server.b.n - 1];
		(void)setfsuid(s->hello.uid);	/* may the caller go there? */
		r = setfsuid((uid_t)-1) == (int)s->hello.uid ? r : -EPERM;
	}
	pid = r != 0 ? r : sys(syscall(SYS_clone3, &a, sizeof a));
	(void)setfsuid(0);			/* both of them */
	l->pidfd = pid < 0 ? -1 : l->pidfd;	/* written before it failed */
	if (pid < 0)
		return wire_fail(p, BL_AT_CLONE, 0, pid);
	c->owner = mine;
	c->helper = self;
	c->locks = s->locks;
	if (pid == 0)
		cell_main(c);
	fd_drop(&mine);
	give[1] = cell_network(c, theirs, p);
	give[0] = fd_take(&theirs);
	if (give[1] >= 0)
		return 0;
	(void)syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
	(void)waitpid(pid, NULL, 0);	/* dying already */
	fd_drop(&l->pidfd);
	return p->status;
}

int
op_cell(struct server *server)
{
	static struct cell c;		/* filled here, lived in by the child */
	struct session *s = (struct session *)(void *)server;
	struct bl_rep p = wire_reply(server->q.op, server->q.seq);
	struct live *l = s->live;
	struct fdbag give = { { -1, -1 }, 2 };
	int r;

	while (l < s->live + BL_CELLS_MAX && l->pidfd >= 0)
		l++;
	c = (struct cell){ .req = server->q.u.cell, .rules = s->rules };
	r = cell_check(s, &c, &p);
	if (r == 0 && (l == s->live + BL_CELLS_MAX ||
	    slot_take(s, &l->slot) != 0))
		r = wire_fail(&p, BL_AT_SLOT, s->quota.slots, EUSERS);
	else if (r == 0) {
		c.uid = l->slot;
		r = cell_make(s, &c, l, &p, give.fd);
		if (r != 0)
			(void)slot_lock(s->locks, l->slot, F_UNLCK);
		else
			p.u.cell = (struct bl_rep_cell){ ++s->numbers, c.uid,
			    c.uid, c.req.role, c.req.flags };
	}
	(void)wire_send(s->audit, &p, NULL, 0);
	r = wire_send(server->sock, &p, give.fd, r == 0 ? 2 : 0);
	bag_drop(&give);
	bag_drop(&c.binds);
	return r;
}

/* CELL, the steps of cell init, and a cell's owner and guests: every refusal. */
/* link: -Wl,--wrap=syscall,--wrap=getpriority,--wrap=ioctl,--wrap=mknodat,--wrap=fchownat,--wrap=sethostname,--wrap=cap_set_proc,--wrap=cap_drop_bound,--wrap=prctl,--wrap=kill,--wrap=fork,--wrap=setgroups,--wrap=setresuid,--wrap=setresgid,--wrap=getresuid,--wrap=getresgid,--wrap=getgroups,--wrap=__getgroups_chk,--wrap=fstatfs,--wrap=socketpair */
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/un.h>

#include "../policy/reply.h"
#include "../helper/loop.h"
#include "../helper/ops.h"
#include "../helper/sys.h"
#include "tap.h"

/* Its checks are its own file's; the helper's object has the other op_cell. */
#define op_cell cell_op
int cell_op(struct server *s);
#include "../helper/op_cell.c"
#undef op_cell

/* --- the kernel, played ------------------------------------------------- */

enum clone_how { FORKED, EARLY, LATE, MUTE, SHORT, FOREIGN, NO_GROUP };

static enum clone_how how;
static int no_pidfd, no_pair, no_net, busy, fork_err;
static unsigned long fs_type;		/* 0: the truth */
static char scratch[64];		/* stands for the new root */
static pid_t helper_pid, init_pid, spawned;
static int last_pair[2], asked_as;
/* Of the calls below, in cell init: how many so far, which one fails. */
static struct played { unsigned calls, fail, no_nodes; char name[32]; } *played;

static int
fails(const char *name)
{
	if (++played->calls != played->fail)
		return 0;
	(void)snprintf(played->name, sizeof played->name, "%s", name);
	errno = EPERM;
	return 1;
}

long __real_syscall(long, ...);
long __wrap_syscall(long, ...);
int __real_ioctl(int, unsigned long, ...);
int __wrap_ioctl(int, unsigned long, ...);
int __real_prctl(int, ...);
int __wrap_prctl(int, ...);
int __wrap_getpriority(__priority_which_t, id_t);
int __wrap_mknodat(int, const char *, mode_t, dev_t);
int __wrap_fchownat(int, const char *, uid_t, gid_t, int);
int __wrap_sethostname(const char *, size_t);
int __wrap_cap_set_proc(cap_t);
int __wrap_cap_drop_bound(cap_value_t);
int __real_kill(pid_t, int);
int __wrap_kill(pid_t, int);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __wrap_setgroups(size_t, const gid_t *);
int __wrap_setresuid(uid_t, uid_t, uid_t);
int __wrap_setresgid(gid_t, gid_t, gid_t);
int __wrap_getresuid(uid_t *, uid_t *, uid_t *);
int __wrap_getresgid(gid_t *, gid_t *, gid_t *);
int __wrap_getgroups(int, gid_t *);
int __wrap___getgroups_chk(int, gid_t *, size_t);
int __real_fstatfs(int, struct statfs *);
int __wrap_fstatfs(int, struct statfs *);
int __real_socketpair(int, int, int, int[2]);
int __wrap_socketpair(int, int, int, int[2]);

/* A process of ours stands for cell init, in no namespace. */
static long
clone_played(const struct clone_args *a)
{
	int *pidfd = (int *)(uintptr_t)a->pidfd;
	pid_t pid;

	asked_as = setfsuid((uid_t)-1);
	if (how == EARLY)
		return errno = EPERM, -1;
	if (how == FOREIGN || how == NO_GROUP)
		return errno = how == FOREIGN ? EACCES : EBADF, -1;
	if (how == LATE) {	/* stored, and only then it does not fit */
		*pidfd = 99;
		return errno = EAGAIN, -1;
	}
	pid = init_pid = __real_fork();
	if (pid == 0 && how == MUTE)
		_exit(0);
	if (pid == 0 && how == SHORT) {
		(void)send(last_pair[1], "x", 1, 0);
		_exit(0);
	}
	if (pid > 0)
		*pidfd = (int)__real_syscall(SYS_pidfd_open, pid, 0);
	return pid;
}

/* Takes six whatever came, as syscall(2) does: of no matter to the kernel. */
__attribute__((no_sanitize_address))
long
__wrap_syscall(long n, ...)
{
	long a[6];
	va_list ap;
	int i;

	va_start(ap, n);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	switch (n) {
	case SYS_clone3:
		return clone_played((const void *)a[0]);
	case SYS_pidfd_open:
		if (no_pidfd)
			return errno = EMFILE, -1;
		break;
	case SYS_fsopen:
	case SYS_open_tree:
		return fails(n == SYS_fsopen ? "fsopen" : "open_tree") ? -1 :
		    open("/dev/null", O_RDONLY | O_CLOEXEC);
	case SYS_fsmount:
		return fails("fsmount") ? -1 :
		    open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	case SYS_fsconfig:
		return fails("fsconfig") ? -1 : 0;
	case SYS_mount_setattr:
		return fails("mount_setattr") ? -1 : 0;
	case SYS_move_mount:
		return fails("move_mount") ? -1 : 0;
	case SYS_pivot_root:
		return fails("pivot_root") ? -1 : 0;
	case SYS_umount2:
		return fails("umount2") ? -1 : 0;
	case SYS_seccomp:
		return fails("seccomp") ? -1 : 0;
	case SYS_setns:
		if (getpid() == helper_pid)
			return no_net == 3 ? (errno = EBADF, -1) : 0;
		return fails("setns") ? -1 : 0;
	case SYS_unshare:		/* the helper's, not init's */
		return no_net == 1 ? (errno = ENOSPC, -1) : 0;
	default:
		break;
	}
	return __real_syscall(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int
__wrap_ioctl(int fd, unsigned long what, ...)
{
	va_list ap;
	void *p;

	va_start(ap, what);
	p = va_arg(ap, void *);
	va_end(ap);
	if (what == SIOCSIFFLAGS)	/* the helper's, not init's */
		return no_net == 2 ? (errno = ENODEV, -1) : 0;
	if (what == SIOCGSKNS)
		return getpid() != helper_pid && fails("ioctl") ? -1 :
		    open("/dev/null", O_RDONLY);
	return __real_ioctl(fd, what, p);
}

int
__wrap_prctl(int what, ...)
{
	va_list ap;
	unsigned long a;

	va_start(ap, what);
	a = va_arg(ap, unsigned long);
	va_end(ap);
	if (what == PR_SET_PDEATHSIG || what == PR_SET_DUMPABLE ||
	    what == PR_SET_NO_NEW_PRIVS)
		return getpid() != helper_pid && fails("prctl") ? -1 : 0;
	return __real_prctl(what, a, 0, 0, 0);
}

int
__wrap_getpriority(__priority_which_t which, id_t who)
{
	(void)which;
	(void)who;
	return busy ? 0 : (errno = ESRCH, -1);
}

int
__wrap_mknodat(int dir, const char *name, mode_t mode, dev_t dev)
{
	(void)dir;
	(void)name;
	(void)mode;
	(void)dev;
	if (S_ISCHR(mode) && played->no_nodes)
		return errno = EPERM, -1;
	/* EPERM alone has an answer */
	return fails("mknodat") ? (errno = EIO, -1) : 0;
}

int
__wrap_fchownat(int dir, const char *name, uid_t u, gid_t g, int flags)
{
	(void)dir;
	(void)name;
	(void)u;
	(void)g;
	(void)flags;
	return fails("fchownat") ? -1 : 0;
}

int
__wrap_sethostname(const char *name, size_t n)
{
	(void)name;
	(void)n;
	return fails("sethostname") ? -1 : 0;
}

int
__wrap_cap_set_proc(cap_t c)
{
	(void)c;
	return fails("capset") ? -1 : 0;
}

int
__wrap_cap_drop_bound(cap_value_t c)
{
	(void)c;
	return fails("capbset") ? -1 : 0;
}

/* Everything in the cell is the one that the loop has forked. */
int
__wrap_kill(pid_t pid, int sig)
{
	if (pid != -1)
		return __real_kill(pid, sig);
	return sig != 0 && spawned > 0 ? __real_kill(spawned, sig) : 0;
}

pid_t
__wrap_fork(void)
{
	if (fork_err != 0)
		return errno = fork_err, -1;
	return spawned = __real_fork();
}

static uint32_t user[3], group[3];

int
__wrap_setgroups(size_t n, const gid_t *g)
{
	(void)g;
	return n == 0 ? 0 : -1;
}

int
__wrap_setresuid(uid_t a, uid_t b, uid_t c)
{
	if (a == 0)			/* not again */
		return -1;
	user[0] = a;
	user[1] = b;
	user[2] = c;
	return 0;
}

int
__wrap_setresgid(gid_t a, gid_t b, gid_t c)
{
	if (a == 0)
		return -1;
	group[0] = a;
	group[1] = b;
	group[2] = c;
	return 0;
}

int
__wrap_getresuid(uid_t *a, uid_t *b, uid_t *c)
{
	*a = user[0];
	*b = user[1];
	*c = user[2];
	return 0;
}

int
__wrap_getresgid(gid_t *a, gid_t *b, gid_t *c)
{
	*a = group[0];
	*b = group[1];
	*c = group[2];
	return 0;
}

int
__wrap_getgroups(int n, gid_t *g)
{
	(void)n;
	(void)g;
	return 0;
}

int
__wrap___getgroups_chk(int n, gid_t *g, size_t size)
{
	(void)size;
	return __wrap_getgroups(n, g);
}

int
__wrap_fstatfs(int fd, struct statfs *fs)
{
	int r = __real_fstatfs(fd, fs);

	if (fs_type != 0)
		fs->f_type = (__fsword_t)fs_type;
	return r;
}

int
__wrap_socketpair(int domain, int type, int proto, int sv[2])
{
	if (no_pair)
		return errno = EMFILE, -1;
	if (__real_socketpair(domain, type, proto, sv) != 0)
		return -1;
	memcpy(last_pair, sv, sizeof last_pair);
	return 0;
}

/* --- help --------------------------------------------------------------- */

static struct bl_rules rules = { .uid_base = 1 << 20, .uid_count = 100 };
static struct session session;
static int client = -1, null_fd, dir_fd;

static unsigned
fds_open(void)
{
	unsigned n = 0;
	int i;

	for (i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

static struct bl_req
req(unsigned op)
{
	struct bl_req q = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .op = (uint16_t)op, .seq = 7 };

	if (op == BL_OP_CELL) {
		q.u.cell.role = BL_ROLE_ANSWER;
		q.u.cell.need = BL_NEED_FULL;
	}
	return q;
}

static void
put(int sock, const void *buf, size_t size, const int *fd, unsigned n)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(16 * sizeof(int))]; } c;
	struct iovec iov = { (void *)(uintptr_t)buf, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	memset(&c, 0, sizeof c);
	if (n > 0) {
		c.h = (struct cmsghdr){ CMSG_LEN(n * sizeof *fd), SOL_SOCKET,
		    SCM_RIGHTS };
		memcpy(CMSG_DATA(&c.h), fd, n * sizeof *fd);
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(n * sizeof *fd);
	}
	if (sendmsg(sock, &m, MSG_NOSIGNAL) != (ssize_t)size)
		abort();
}

/* One reply within 5 s; 0 when the other end is gone. */
static int
get(int sock, struct bl_rep *p, struct fdbag *b)
{
	struct pollfd w = { sock, POLLIN, 0 };

	memset(p, 0, sizeof *p);
	return poll(&w, 1, 5000) == 1 ? wire_recv(sock, p, sizeof *p, b) : -1;
}

static void
fresh_root(void)
{
	char words[256];

	(void)snprintf(words, sizeof words, "rm -rf '%s' && mkdir '%s'",
	    scratch, scratch);
	if (system(words) != 0)
		abort();
}

/*
 * Sends the CELL to the op and reads its answer: what of it came, with what it
 * brought in b.  Fails what fail_at says.  The helper keeps no descriptor.
 */
static struct bl_rep
cell(const struct bl_req_cell *c, const int *fd, unsigned n, struct fdbag *b,
    const char *name)
{
	struct bl_rep p;
	struct fdbag own = { .n = 0 };
	unsigned before, i;

	session.server.q = req(BL_OP_CELL);
	if (c != NULL)
		session.server.q.u.cell = *c;
	before = fds_open();
	for (i = 0; i < n; i++)
		session.server.b.fd[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, 0);
	session.server.b.n = n;
	is(cell_op(&session.server), 0, "%s: answered", name);
	bag_drop(&session.server.b);
	is(get(client, &p, b != NULL ? b : &own), 1, "%s: the answer", name);
	is(bl_rep_check(&p), 0, "%s: is sound", name);
	is((b != NULL ? b : &own)->n, p.status == 0 ? 2 : 0,
	    "%s: brings what it says", name);
	if (p.status != 0) {
		is(session.live[0].pidfd, -1, "%s: no cell is live", name);
		session.live[0].pidfd = -1;
		is(fds_open(), before, "%s: no descriptor stays", name);
	}
	bag_drop(&own);
	return p;
}

static void
refused(const struct bl_req_cell *c, const int *fd, unsigned n, unsigned step,
    int object, int err, const char *name)
{
	struct bl_rep p = cell(c, fd, n, NULL, name);

	is(p.step, step, "%s: step", name);
	if (object >= 0)
		is(p.object, object, "%s: object", name);
	is(p.status, -err, "%s: error", name);
}

/* --- the op ------------------------------------------------------------- */

static void
limit_tests(void)
{
	struct bl_req_cell c = req(BL_OP_CELL).u.cell, d;

	d = c;
	d.limits.memory = session.quota.memory_max + 1;
	refused(&d, NULL, 0, BL_AT_LIMITS, BL_LIMIT_MEMORY, EDQUOT, "memory");
	d = c;
	d.limits.pids = session.quota.pids_max + 1;
	refused(&d, NULL, 0, BL_AT_LIMITS, BL_LIMIT_PROCESSES, EDQUOT, "pids");
	d = c;
	d.limits.nofile = session.quota.nofile_max + 1;
	refused(&d, NULL, 0, BL_AT_LIMITS, BL_LIMIT_START, EDQUOT, "nofile");
	d = c;
	d.limits.fsize = session.quota.fsize_max + 1;
	refused(&d, NULL, 0, BL_AT_LIMITS, BL_LIMIT_DISK, EDQUOT, "fsize");
	d = c;
	d.disk = session.quota.disk_max + 1;
	refused(&d, NULL, 0, BL_AT_LIMITS, BL_LIMIT_DISK, EDQUOT, "disk");
	d = c;
	d.deadline_ns = UINT64_MAX;
	refused(&d, NULL, 0, BL_AT_LIMITS, BL_LIMIT_TIME, EDQUOT, "deadline");
	d = c;
	d.nplaces = 2;
	d.place[0] = d.place[1] = (struct bl_place){ .kind = BL_PLACE_TMPFS,
	    .size = session.quota.disk_max / 2 + 1, .dst = "/opt/a" };
	refused(&d, NULL, 0, BL_AT_LIMITS, BL_LIMIT_DISK, EDQUOT, "places");
	d = c;
	d.net_of = 1;
	refused(&d, NULL, 0, BL_AT_UNKNOWN, BL_OP_CELL, ENOSYS, "net_of");
	d = c;
	d.flags = BL_CELL_KEEP;
	refused(&d, NULL, 0, BL_AT_UNKNOWN, BL_OP_CELL, ENOSYS, "KEEP");
}

static void
folder_tests(void)
{
	static const unsigned long refuse_these[] = { 0x65735546,
	    PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC,
	    CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, NSFS_MAGIC };
	struct bl_req_cell c = req(BL_OP_CELL).u.cell;
	int two[2] = { dir_fd, null_fd };
	unsigned i;

	is(folder_check(dir_fd), 0, "a folder");
	is(folder_check(null_fd), -ENOTDIR, "a device");
	is(folder_check(client), -ENOTDIR, "a socket");
	is(folder_check(-1), -ENOTDIR, "nothing");
	for (i = 0; i < COUNT(refuse_these); i++) {
		fs_type = refuse_these[i];
		is(folder_check(dir_fd), -EOPNOTSUPP,
		    "file system %lx", fs_type);
	}
	fs_type = 0;

	c.nplaces = 2;
	c.place[0] = c.place[1] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/opt/a" };
	refused(&c, two, 2, BL_AT_PLACE, 1, ENOTDIR, "a bind that is no folder");
	played->calls = 0;
	played->fail = 3;		/* open_tree of the second one */
	two[1] = dir_fd;
	refused(&c, two, 2, BL_AT_PLACE, 1, EPERM, "a bind without a copy");
	played->calls = 0;
	played->fail = 2;
	refused(&c, two, 2, BL_AT_PLACE, 0, EPERM, "a copy not made read-only");
	played->fail = 0;
	/* whether the caller may go there is clone3's to say */
	c = req(BL_OP_CELL).u.cell;
	c.flags = BL_CELL_CGROUP;
	how = FOREIGN;
	refused(&c, &dir_fd, 1, BL_AT_CLONE, 0, EACCES, "another's group");
	is(asked_as, session.hello.uid, "asked as the caller");
	is(setfsuid((uid_t)-1), 0, "and no longer");
	how = NO_GROUP;
	refused(&c, &dir_fd, 1, BL_AT_CLONE, 0, EBADF, "no control group");
	how = FORKED;
}

static void
make_tests(void)
{
	uint32_t slot;

	busy = 1;
	refused(NULL, NULL, 0, BL_AT_SLOT, (int)session.quota.slots, EUSERS,
	    "no slot");
	busy = 0;
	no_pidfd = 1;
	refused(NULL, NULL, 0, BL_AT_CLONE, 0, EMFILE, "no pidfd");
	no_pidfd = 0;
	no_pair = 1;
	refused(NULL, NULL, 0, BL_AT_CLONE, 0, EMFILE, "no socket");
	no_pair = 0;
	how = EARLY;
	refused(NULL, NULL, 0, BL_AT_CLONE, 0, EPERM, "clone3 refused");
	how = LATE;
	refused(NULL, NULL, 0, BL_AT_CLONE, 0, EAGAIN,
	    "clone3 refused after it stored a pidfd");
	how = FORKED;
	no_net = 1;
	refused(NULL, NULL, 0, BL_AT_LO, 0, ENOSPC, "no network");
	no_net = 2;
	refused(NULL, NULL, 0, BL_AT_LO, 0, ENODEV, "no loopback");
	no_net = 3;
	refused(NULL, NULL, 0, BL_AT_LO, 0, EBADF, "no way back");
	no_net = 0;
	how = MUTE;
	refused(NULL, NULL, 0, BL_AT_REPORT, -1, ECHILD, "init without a word");
	how = SHORT;
	refused(NULL, NULL, 0, BL_AT_REPORT, -1, ECHILD, "init with another");
	how = FORKED;
	is(slot_take(&session, &slot), 0, "each gave its slot back");
	is(slot, rules.uid_base + session.quota.slot_first, "all of them");
	(void)slot_lock(session.locks, slot, F_UNLCK);
}

/* --- each privileged call of cell init, failing ------------------------- */

static const struct { const char *name; unsigned step[4]; } where[] = {
	{ "prctl", { BL_AT_GONE, BL_AT_FILTER } }, { "ioctl", { BL_AT_LO } },
	{ "setns", { BL_AT_LO } },
	{ "open_tree", { BL_AT_SHOW, BL_AT_VIEW } },
	{ "fsopen", { BL_AT_ROOT, BL_AT_VIEW, BL_AT_BIND } },
	{ "fsconfig", { BL_AT_ROOT, BL_AT_VIEW, BL_AT_BIND } },
	{ "fsmount", { BL_AT_ROOT, BL_AT_VIEW, BL_AT_BIND } },
	{ "mount_setattr",
	    { BL_AT_ROOT, BL_AT_SHOW, BL_AT_VIEW, BL_AT_PIVOT } },
	{ "move_mount",
	    { BL_AT_ROOT, BL_AT_SHOW, BL_AT_VIEW, BL_AT_BIND } },
	{ "mknodat", { BL_AT_VIEW } }, { "fchownat", { BL_AT_VIEW } },
	{ "pivot_root", { BL_AT_PIVOT } }, { "umount2", { BL_AT_PIVOT } },
	{ "sethostname", { BL_AT_PIVOT } }, { "capset", { BL_AT_CAPS } },
	{ "capbset", { BL_AT_CAPS } }, { "seccomp", { BL_AT_FILTER } },
};

static int
belongs(const char *name, unsigned step)
{
	unsigned i, j;

	for (i = 0; i < COUNT(where); i++)
		for (j = 0; strcmp(where[i].name, name) == 0 && j < 4; j++)
			if (where[i].step[j] == step)
				return 1;
	return 0;
}

static void
step_tests(void)
{
	struct bl_req_cell c = req(BL_OP_CELL).u.cell;
	struct fdbag b = { .n = 0 };
	struct bl_rep p;
	unsigned k, last = 0;
	char name[64];
	int st = 0;

	c.nplaces = 1;
	c.place[0] = (struct bl_place){ .kind = BL_PLACE_TMPFS, .size = 4096,
	    .dst = "/opt/a/b" };
	for (k = 1; k < 400; k++) {
		fresh_root();
		played->calls = 0;
		played->fail = k;
		played->name[0] = '\0';
		(void)snprintf(name, sizeof name, "call %u", k);
		p = cell(&c, NULL, 0, &b, name);
		if (p.status == 0)
			break;
		is(p.status, strcmp(played->name, "mknodat") == 0 ? -EIO :
		    -EPERM, "call %u, %s: its error", k, played->name);
		is(belongs(played->name, p.step), 1, "call %u, %s: step %u",
		    k, played->name, p.step);
		ok(p.step == BL_AT_GONE || p.step == BL_AT_LO ||
		    p.step >= last || p.step == BL_AT_SHOW, !=, 0,
		    "call %u: steps come in order", k);
	}
	ok(k, >, 40, "%u calls are made", k - 1);
	is(p.status, 0, "and when none fails there is a cell");
	is(p.u.cell.uid, rules.uid_base + session.quota.slot_first, "its uid");
	bag_drop(&b);			/* the owner's end: it goes */
	is(waitpid(init_pid, &st, 0), init_pid, "init has ended");
	is(WIFEXITED(st) ? WEXITSTATUS(st) : -1, BL_AT_GONE, "by itself");
	fd_drop(&session.live[0].pidfd);
	(void)slot_lock(session.locks, session.live[0].slot, F_UNLCK);
	played->fail = 0;
	last = played->calls;
	fresh_root();
	played->calls = 0;
	played->no_nodes = 1;
	p = cell(&c, NULL, 0, &b, "no nodes may be made");
	is(p.status, 0, "no nodes may be made: the host's serve");
	/* open_tree, mount_setattr, move_mount for each; the mknod of none */
	is(played->calls, last + 6 * 2, "six of them are cloned and attached");
	bag_drop(&b);
	(void)waitpid(init_pid, &st, 0);
	fd_drop(&session.live[0].pidfd);
	(void)slot_lock(session.locks, session.live[0].slot, F_UNLCK);
	played->no_nodes = 0;
}

/* --- owner and guests --------------------------------------------------- */

static int owner = -1;

static void
cell_start(void)
{
	struct fdbag b = { .n = 0 };

	fresh_root();
	played->calls = 0;
	(void)cell(NULL, NULL, 0, &b, "a cell");
	owner = b.n == 2 ? fd_take(&b.fd[0]) : -1;
	bag_drop(&b);
}

/* Its exit status; -1: it had to be killed. */
static int
cell_ended(void)
{
	struct pollfd w = { session.live[0].pidfd, POLLIN, 0 };
	int st = 0, in_time = poll(&w, 1, 5000) == 1;

	if (!in_time)
		(void)__real_kill(init_pid, SIGKILL);
	(void)waitpid(init_pid, &st, 0);
	fd_drop(&owner);
	fd_drop(&session.live[0].pidfd);
	(void)slot_lock(session.locks, session.live[0].slot, F_UNLCK);
	return in_time && WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static void
ask(int sock, unsigned op, const int *fd, unsigned n)
{
	struct bl_req q = req(op);

	put(sock, &q, sizeof q, fd, n);
}

/* It lives: it answers that it can't do this. */
static int
cell_lives(void)
{
	struct fdbag b = { .n = 0 };
	struct bl_rep p;

	ask(owner, BL_OP_PAUSE, NULL, 0);
	return get(owner, &p, &b) == 1 && p.kind == BL_OP_PAUSE &&
	    p.status == -ENOSYS && b.n == 0 && bl_rep_check(&p) == 0;
}

static int
listener_make(int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (bind(fd, (void *)&a, sizeof a.sun_family) != 0 ||
	    listen(fd, 8) != 0)
		abort();
	return fd;
}

/* A request that is the owner's last one. */
static void
fatal(int go, unsigned op, const int *fd, unsigned n, size_t size,
    const char *name)
{
	struct { struct bl_req q; char more[8]; } m = { .q = req(op) };

	cell_start();
	if (go)
		ask(owner, BL_OP_GO, NULL, 0);
	put(owner, &m, size, fd, n);
	is(cell_ended(), BL_AT_WIRE, "%s ends the cell", name);
}

static void
owner_tests(void)
{
	static const unsigned any[] = { BL_OP_NONE, BL_OP_HELLO, BL_OP_CELL,
	    BL_OP_PATH, BL_OP_BYE, BL_OP_SPAWN, BL_OP_KILL, BL_OP_PAUSE,
	    BL_OP_RESUME, BL_OP_ATTACH, BL_OP_LISTEN, BL_OP_MAX };
	const size_t whole = sizeof(struct bl_req);
	int sv[2], l = listener_make(SOCK_SEQPACKET);
	int s = listener_make(SOCK_STREAM), six[6], n;
	unsigned i;
	char name[64];

	(void)socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv);
	for (i = 0; i < COUNT(any); i++) {
		for (n = 0; n < 6; n++)
			six[n] = i < 6 ? null_fd : sv[0];
		(void)snprintf(name, sizeof name, "op %u before GO", any[i]);
		n = any[i] == BL_OP_SPAWN ? 5 : any[i] == BL_OP_ATTACH ? 2 :
		    any[i] == BL_OP_LISTEN ? (six[0] = l, 2) : 0;
		fatal(0, any[i], six, (unsigned)n, whole, name);
		if (any[i] > BL_OP_BYE && any[i] != BL_OP_MAX)
			continue;
		(void)snprintf(name, sizeof name, "op %u of a session", any[i]);
		fatal(1, any[i], six, 0, whole, name);
	}
	fatal(1, BL_OP_GO, NULL, 0, whole, "a second GO");
	fatal(0, BL_OP_GO, &null_fd, 1, whole, "GO with a descriptor");
	fatal(0, BL_OP_GO, NULL, 0, whole - 1, "a short one");
	fatal(0, BL_OP_GO, NULL, 0, whole + 1, "a long one");
	for (n = 0; n < 6; n++)
		six[n] = null_fd;
	fatal(1, BL_OP_SPAWN, six, 4, whole, "SPAWN with four");
	fatal(1, BL_OP_SPAWN, six, 6, whole, "SPAWN with six, unasked");
	fatal(1, BL_OP_KILL, six, 1, whole, "KILL with one");
#define TWO(a, b) ((const int[]){ a, b })
	fatal(1, BL_OP_ATTACH, TWO(null_fd, sv[0]), 2, whole, "ATTACH of none");
	fatal(1, BL_OP_ATTACH, TWO(l, sv[0]), 2, whole, "ATTACH of a listener");
	fatal(1, BL_OP_ATTACH, TWO(sv[0], null_fd), 2, whole, "no report");
	fatal(1, BL_OP_ATTACH, TWO(sv[0], l), 2, whole, "a report that listens");
	fatal(1, BL_OP_ATTACH, TWO(sv[0], sv[1]), 1, whole, "ATTACH of one");
	fatal(1, BL_OP_LISTEN, TWO(sv[0], sv[1]), 2, whole, "LISTEN of a pair");
	fatal(1, BL_OP_LISTEN, TWO(s, sv[1]), 2, whole, "LISTEN of a stream");
	fatal(1, BL_OP_LISTEN, TWO(l, l), 2, whole, "LISTEN, report listens");
	cell_start();
	ask(owner, BL_OP_GO, NULL, 0);
	is(cell_lives(), 1, "what is not in this build is answered");
	ask(owner, BL_OP_KILL, NULL, 0);
	is(cell_lives(), 1, "KILL of nobody");
	(void)shutdown(owner, SHUT_RDWR);
	is(cell_ended(), BL_AT_GONE, "the owner's end is the cell's");
	(void)close(l);
	(void)close(s);
	(void)close(sv[0]);
	(void)close(sv[1]);
}

/* A guest that sends this is dropped, and nobody else. */
static void
guest_dropped(unsigned op, const int *fd, unsigned n, size_t size,
    const char *name)
{
	struct { struct bl_req q; char more[8]; } m = { .q = req(op) };
	int g[2], r[2], other[2];
	char c;

	(void)socketpair(AF_UNIX, SOCK_SEQPACKET, 0, g);
	(void)socketpair(AF_UNIX, SOCK_SEQPACKET, 0, r);
	(void)socketpair(AF_UNIX, SOCK_SEQPACKET, 0, other);
	cell_start();
	ask(owner, BL_OP_GO, NULL, 0);
	ask(owner, BL_OP_ATTACH, TWO(other[1], r[1]), 2);
	ask(owner, BL_OP_ATTACH, TWO(g[1], r[1]), 2);
	is(cell_lives(), 1, "guest: %s: attached", name);
	(void)close(g[1]);
	(void)close(other[1]);
	(void)close(r[1]);
	put(g[0], &m, size, fd, n);
	is(poll(&(struct pollfd){ g[0], POLLRDHUP, 0 }, 1, 5000), 1,
	    "guest: %s: dropped", name);
	is(cell_lives(), 1, "guest: %s: the cell lives", name);
	is(recv(other[0], &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, 1,
	    "guest: %s: so does another guest", name);
	(void)shutdown(owner, SHUT_RDWR);
	is(cell_ended(), BL_AT_GONE, "guest: %s: the end", name);
	(void)close(g[0]);
	(void)close(r[0]);
	(void)close(other[0]);
}

static void
guest_tests(void)
{
	static const unsigned not_its[] = { BL_OP_HELLO, BL_OP_CELL, BL_OP_BYE,
	    BL_OP_GO, BL_OP_KILL, BL_OP_PAUSE, BL_OP_RESUME };
	const size_t whole = sizeof(struct bl_req);
	int six[6], i;
	char name[32];

	for (i = 0; i < 6; i++)
		six[i] = null_fd;
	for (i = 0; i < (int)COUNT(not_its); i++) {
		(void)snprintf(name, sizeof name, "op %u", not_its[i]);
		guest_dropped(not_its[i], NULL, 0, whole, name);
	}
	guest_dropped(BL_OP_ATTACH, six, 2, whole, "ATTACH");
	guest_dropped(BL_OP_LISTEN, six, 2, whole, "LISTEN");
	guest_dropped(BL_OP_SPAWN, six, 4, whole, "SPAWN with four");
	guest_dropped(BL_OP_SPAWN, six, 5, whole - 1, "a short SPAWN");
	guest_dropped(BL_OP_SPAWN, six, 5, whole + 1, "a long SPAWN");
	guest_dropped(BL_OP_SPAWN, NULL, 0, 0, "an empty one");
}

/* --- spawns ------------------------------------------------------------- */

/* SPAWN with its descriptors less one that is another: the last word of it. */
static struct bl_rep
spawn(int at, int fd, int result)
{
	struct bl_req q = req(BL_OP_SPAWN);
	struct fdbag b = { .n = 0 };
	struct bl_rep p;
	int in[2], out[2], r[2], all[6];

	if (pipe(in) != 0 || pipe(out) != 0)
		abort();
	(void)socketpair(AF_UNIX, SOCK_SEQPACKET, 0, r);
	all[0] = all[3] = null_fd;
	all[1] = in[0];
	all[2] = all[5] = out[1];
	all[4] = r[1];
	if (at >= 0)
		all[at] = fd == -2 ? in[1] : fd == -3 ? out[0] : fd;
	q.u.spawn.flags = result ? BL_SPAWN_RESULT : 0;
	put(owner, &q, sizeof q, all, result ? 6 : 5);
	(void)close(r[1]);
	if (get(r[0], &p, &b) != 1)
		p.kind = 0;
	else
		is(bl_rep_check(&p), 0, "a sound word");
	bag_drop(&b);
	(void)close(r[0]);
	(void)close(in[0]);
	(void)close(in[1]);
	(void)close(out[0]);
	(void)close(out[1]);
	return p;
}

static void
stream_refused(int at, int fd, int object, int err, const char *name)
{
	struct bl_rep p = spawn(at, fd, 1);

	is(p.kind, BL_EV_FAIL, "%s: FAIL", name);
	is(p.step, BL_AT_STREAM, "%s: a stream", name);
	is(p.object, object, "%s: which", name);
	is(p.status, -err, "%s: why", name);
}

static void
spawn_tests(void)
{
	int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
	int path = open("/dev/null", O_PATH | O_CLOEXEC);
	int file = memfd_create("f", MFD_CLOEXEC), sv[2], i;
	struct bl_rep p;

	(void)socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv);
	cell_start();
	ask(owner, BL_OP_GO, NULL, 0);
	for (i = 1; i <= 5; i++) {
		if (i == 4)
			continue;
		stream_refused(i, zero, i - 1, EINVAL, "another device");
		stream_refused(i, file, i - 1, EINVAL, "a file");
		stream_refused(i, sv[0], i - 1, EINVAL, "a socket");
		stream_refused(i, dir_fd, i - 1, i == 1 ? EINVAL : EBADF,
		    "a folder");
		stream_refused(i, path, i - 1, EBADF, "a place");
		stream_refused(i, i == 1 ? -2 : -3, i - 1, EBADF,
		    "a pipe's other end");
	}
	p = spawn(4, null_fd, 0);
	is(p.kind, 0, "a reply socket that is none hears nothing");
	p = spawn(4, zero, 0);
	is(p.kind, 0, "nor that");
	p = spawn(-1, -1, 0);
	is(p.kind, BL_EV_FAIL, "a spec that is none");
	is(p.step, BL_AT_SPEC, "is the launch child's to refuse");
	p = spawn(0, file, 0);
	is(p.step, BL_AT_SPEC, "so is one without seals");
	is(cell_lives(), 1, "and the cell lives through all that");
	(void)shutdown(owner, SHUT_RDWR);
	is(cell_ended(), BL_AT_GONE, "to its end");
	fork_err = EAGAIN;
	cell_start();
	ask(owner, BL_OP_GO, NULL, 0);
	p = spawn(-1, -1, 0);
	is(p.kind, BL_EV_FAIL, "no process");
	is(p.step, BL_AT_FORK, "is said");
	is(p.status, -EAGAIN, "with its reason");
	is(cell_lives(), 1, "and is no end");
	(void)shutdown(owner, SHUT_RDWR);
	is(cell_ended(), BL_AT_GONE, "before the owner's");
	fork_err = 0;
	(void)close(zero);
	(void)close(path);
	(void)close(file);
	(void)close(sv[0]);
	(void)close(sv[1]);
}

int
main(void)
{
	char locks[] = "/tmp/t-helper-cell.XXXXXX";
	struct rlimit v = { 0, 0 };
	int sv[2], i;

	helper_pid = getpid();
	if (kill(-1, 12345) != 0)	/* the true one would refuse: stop here */
		return 1;
	(void)getrlimit(RLIMIT_NOFILE, &v);
	v.rlim_cur = v.rlim_max < 4096 ? v.rlim_max : 4096;
	(void)setrlimit(RLIMIT_NOFILE, &v);
	if (v.rlim_cur < 2048)
		return plan_skip("the hard limit of descriptors is below 2048");
	played = mmap(NULL, sizeof *played, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	session.rules = &rules;
	session.locks = mkstemp(locks);
	(void)snprintf(scratch, sizeof scratch, "%s.d", locks);
	(void)__real_socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv);
	client = sv[0];
	session.server = (struct server){ .sock = sv[1], .state = ST_READY };
	session.hello.uid = getuid();
	session.quota = (struct bl_caller){ .slot_first = 3, .slots = 2,
	    .memory_max = 1 << 30, .disk_max = 1 << 20, .fsize_max = 1 << 20,
	    .wall_ms_max = 60000, .pids_max = 100, .nofile_max = 1000 };
	rules.nshows = 1;
	memcpy(rules.show[0].path, "/usr", 5);
	for (i = 0; i < BL_CELLS_MAX; i++)
		session.live[i].pidfd = -1;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	dir_fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	limit_tests();
	folder_tests();
	make_tests();
	step_tests();
	owner_tests();
	guest_tests();
	spawn_tests();
	fresh_root();
	(void)rmdir(scratch);
	(void)unlink(locks);
	return done();
}

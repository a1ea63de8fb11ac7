/*
 * The init of a cell that no helper makes: the helper's own loop, spawns and
 * steps, without its privilege.  bwrap(1) has made the cell's namespaces and
 * files ("cell"), or nobody has ("plain DIR": a folder below DIR is all that
 * is made).  The few calls that differ there are caught by the linker's --wrap.
 */
#include <dirent.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/ioprio.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "filters.h"
#include "../helper/ops.h"
#include "../helper/sys.h"

enum { SEEN_MAX = 1 << 15, ARENA = 1 << 18, PATH_SIZE = 4096 };

static pid_t self;
static int itself = -1;		/* plain: a pidfd of this process */
static int plain;		/* no namespace: kill(-1) is everybody's end */
static int above = -1, folder = -1;	/* the private folder, and its own */
static char base[PATH_SIZE];		/* its path, and the last part of it */
static const char *leaf;

/* --- ids ----------------------------------------------------------------- */

/* What stands for a call of that name, and the call itself. */
#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

/*
 * user_namespaces(7): setgroups is denied in a namespace that an ordinary user
 * has made, and the groups that came along stay.  They are the caller's own,
 * and give no more than its uid does.  Nothing relies on the number: what has
 * one user for all is never said to have protections.uid.
 */
WRAP(int, setgroups, size_t n, unused const gid_t *list)
{
	if (n == 0)
		return 0;
	errno = EPERM;
	return -1;
}

WRAP(int, getgroups, unused int n, unused gid_t *list)
{
	return 0;
}

/*
 * A plain process stays who it is, and may even be root.  BL_UID_FIRST stands
 * for its ids where the launch child becomes the role and looks whether it has
 * (spawn.c); what the client is told goes by getuid, which is not caught.
 */
static int
become(uint32_t r, uint32_t e, uint32_t s)
{
	if (r == BL_UID_FIRST && e == r && s == r)
		return 0;
	errno = EPERM;
	return -1;
}

WRAP(int, setresuid, uid_t r, uid_t e, uid_t s)
{
	return plain ? become(r, e, s) : __real_setresuid(r, e, s);
}

WRAP(int, setresgid, gid_t r, gid_t e, gid_t s)
{
	return plain ? become(r, e, s) : __real_setresgid(r, e, s);
}

WRAP(int, getresuid, uid_t *r, uid_t *e, uid_t *s)
{
	if (!plain)
		return __real_getresuid(r, e, s);
	*r = *e = *s = BL_UID_FIRST;
	return 0;
}

WRAP(int, getresgid, gid_t *r, gid_t *e, gid_t *s)
{
	if (!plain)
		return __real_getresgid(r, e, s);
	*r = *e = *s = BL_UID_FIRST;
	return 0;
}

/*
 * start.c wants nice 0, which who was started with more can't go back to: it
 * stays as the caller's.
 */
WRAP(long, syscall, long n, ...)
{
	long a[6], r;
	va_list ap;

	va_start(ap, n);
	for (unsigned i = 0; i < COUNT(a); i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	r = __real_syscall(n, a[0], a[1], a[2], a[3], a[4], a[5]);
	return r < 0 && n == SYS_sched_setattr && errno == EPERM ? 0 : r;
}

/* --- plain: everything below this process, and nothing else -------------- */

/* The text of a file below /proc, or "". */
static void
proc_read(const char *path, char *text, size_t size)
{
	scoped_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, got = 0;

	while (fd >= 0 && (size_t)got < size - 1 &&
	    (n = read(fd, text + got, size - 1 - (size_t)got)) > 0)
		got += n;
	text[got] = '\0';
}

enum kin { STRANGER, DEAD, ALIVE };

/*
 * What pid is to parent, or to this process if that has ended.  A first thread
 * that has ended is a zombie too, while others of its process run.
 */
static enum kin
kin_of(pid_t pid, pid_t parent)
{
	char path[40], text[512], state;
	const char *at;
	int is, threads;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	proc_read(path, text, sizeof text);
	at = strrchr(text, ')');	/* a name may hold anything else */
	/* proc(5): state and ppid are fields 3 and 4, num_threads is 20 */
	if (at == NULL || sscanf(at, ") %c %d %*s %*s %*s %*s %*s %*s %*s %*s "
	    "%*s %*s %*s %*s %*s %*s %*s %d", &state, &is, &threads) != 3 ||
	    (is != parent && is != self))
		return STRANGER;
	return (state != 'Z' && state != 'X') || threads > 1 ? ALIVE : DEAD;
}

static int
signal_by(int fd, int sig)
{
	return (int)__real_syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

/*
 * Kills pid if it is a child of parent, which has the descriptor of.  Both are
 * opened before /proc is read, so that a number that was given to somebody else
 * meanwhile is seen: of has not been waited for while it can be signalled.
 */
static enum kin
end_one(pid_t pid, pid_t parent, int of)
{
	scoped_fd int fd = (int)__real_syscall(SYS_pidfd_open, pid, 0);
	enum kin is = fd < 0 ? STRANGER : kin_of(pid, parent);

	if (is == STRANGER || signal_by(of, 0) != 0)
		return STRANGER;
	(void)signal_by(fd, SIGKILL);
	return is;
}

/*
 * Ends the children of one thread, and puts them behind those in seen.  Their
 * number; *alive goes up.  The kernel ends each number with a space: one that
 * the text's end cuts off has none, and is left to the next pass.
 */
static unsigned
children(pid_t pid, int of, const char *task, pid_t *seen, unsigned room,
    unsigned *alive)
{
	static char text[1 << 16];
	char path[80], *at = text, *end;
	unsigned n = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%.20s/children",
	    (int)pid, task);
	proc_read(path, text, sizeof text);
	for (; n < room; at = end) {
		long v = strtol(at, &end, 10);
		enum kin is;

		if (end == at || *end != ' ')
			break;
		is = end_one((pid_t)v, pid, of);
		*alive += is == ALIVE;
		if (is != STRANGER)
			seen[n++] = (pid_t)v;
	}
	return n;
}

/*
 * One pass over all that this process, or what it started, has started: how
 * many were alive.  Whose parent ends becomes this one's child (subreaper),
 * so nobody gets out of the tree.
 */
static unsigned
end_pass(void)
{
	static pid_t seen[SEEN_MAX];
	unsigned n = 1, alive = 0;

	seen[0] = self;
	for (unsigned i = 0; i < n; i++) {
		/* no new one of itself: the guard refuses that */
		scoped_fd int other = i == 0 ? -1 :
		    (int)__real_syscall(SYS_pidfd_open, seen[i], 0);
		int of = i == 0 ? itself : other;
		char path[40];
		struct dirent *de;
		DIR *d;

		(void)snprintf(path, sizeof path, "/proc/%d/task",
		    (int)seen[i]);
		d = opendir(path);
		while (d != NULL && (de = readdir(d)) != NULL) {
			if (de->d_name[0] != '.')
				n += children(seen[i], of, de->d_name,
				    seen + n, SEEN_MAX - n, &alive);
		}
		if (d != NULL)
			(void)closedir(d);
	}
	return alive;
}

static void
pause_ns(long ns)
{
	const struct timespec t = { .tv_nsec = ns };

	(void)nanosleep(&t, NULL);
}

/*
 * kill(2): -1 is all that the caller may signal.  In a pid namespace that is
 * what runs in the cell; anywhere else it is all that the user has, so it is
 * never passed on there.  A pass can miss who is started during it.  The guard
 * refuses kill(2) with init's number to roles, and so to init itself.
 */
WRAP(int, kill, pid_t pid, int sig)
{
	if (plain && pid == self && getpid() == self)
		return signal_by(itself, sig);
	if (pid != -1)
		return __real_kill(pid, sig);
	if (!plain && getpid() == 1)
		return __real_kill(pid, sig);
	for (unsigned i = 0; i < 2000 && end_pass() > 0; i++)
		pause_ns(200000);
	return 0;
}

/*
 * Waiting for all that was killed ends only when it is dead: where a pass may
 * have missed one, it is looked for again.
 */
WRAP(pid_t, wait4, pid_t pid, int *st, int how, struct rusage *u)
{
	pid_t r;

	if (!plain || how != 0)
		return __real_wait4(pid, st, how, u);
	while ((r = __real_wait4(pid, st, WNOHANG, u)) == 0) {
		(void)end_pass();
		pause_ns(1000000);
	}
	return r;
}

/* --- plain: a cell's paths, in the private folder ------------------------ */

static const char *const moved[] = { "/work", "/tmp", "/var/tmp", "/run",
    "/home" };
/* In arguments only what can't be meant otherwise, for it may be meant. */
static const char *const moved_args[] = { "/work", "/run/bailiff",
    "/run/serve", "/home/judge", "/home/answer", "/home/agent",
    "/home/verifier" };

/* path, or in to what it is in the private folder: it is one of v, or below. */
static const char *
inside(const char *path, const char *const *v, size_t nv, char *to, size_t size)
{
	for (size_t i = 0; plain && i < nv; i++) {
		size_t n = strlen(v[i]);

		if (strncmp(path, v[i], n) != 0 ||
		    (path[n] != '/' && path[n] != '\0'))
			continue;
		return snprintf(to, size, "%s%s", base, path) < (int)size ?
		    to : path;
	}
	return path;
}

#define INSIDE(path, to) inside(path, moved, COUNT(moved), to, sizeof to)

WRAP(int, open, const char *path, int flags, ...)
{
	char to[PATH_SIZE];
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return __real_open(INSIDE(path, to), flags, mode);
}

WRAP(int, mkdir, const char *path, mode_t mode)
{
	char to[PATH_SIZE];

	return __real_mkdir(INSIDE(path, to), mode);
}

WRAP(int, chdir, const char *path)
{
	char to[PATH_SIZE];

	return __real_chdir(INSIDE(path, to));
}

WRAP(int, bind, int fd, const struct sockaddr *a, socklen_t n)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX }, was;

	if (!plain || n != sizeof was)
		return __real_bind(fd, a, n);
	memcpy(&was, a, sizeof was);
	if (snprintf(un.sun_path, sizeof un.sun_path, "%s%s", base,
	    was.sun_path) >= (int)sizeof un.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return __real_bind(fd, (const struct sockaddr *)&un, sizeof un);
}

static char arena[ARENA];
static size_t used;
static int argued;		/* once: exec_along (spec.c) tries several */

/* An argument, or a variable's value, that names a place of a cell's own. */
static char *
argument(char *s, int variable)
{
	char to[PATH_SIZE], *v = variable ? strchr(s, '=') : NULL;
	const char *was = v == NULL ? s : v + 1, *now;
	size_t n = (size_t)(was - s), m;

	now = variable && strncmp(s, "TMPDIR=", 7) == 0 ? INSIDE(was, to) :
	    inside(was, moved_args, COUNT(moved_args), to, sizeof to);
	m = strlen(now) + 1;
	if (now == was || n + m > sizeof arena - used)
		return s;
	s = memcpy(arena + used, s, n);
	memcpy(s + n, now, m);
	used += n + m;
	return s;
}

WRAP(int, execve, const char *path, char *const *argv, char *const *envp)
{
	char to[PATH_SIZE];

	for (size_t i = 0; plain && !argued && argv[i] != NULL; i++)
		((char **)(uintptr_t)argv)[i] = argument(argv[i], 0);
	for (size_t i = 0; plain && !argued && envp[i] != NULL; i++)
		((char **)(uintptr_t)envp)[i] = argument(envp[i], 1);
	argued = 1;
	return __real_execve(inside(path, moved_args, COUNT(moved_args), to,
	    sizeof to), argv, envp);
}

/*
 * Whose file it is, for spec_run: what is not in the private folder is as good
 * as read-only, for it is not the role's.
 */
WRAP(int, statvfs, const char *path, struct statvfs *v)
{
	char to[PATH_SIZE];
	const char *at = inside(path, moved_args, COUNT(moved_args), to,
	    sizeof to);
	int r = __real_statvfs(at, v);

	if (plain && r == 0 && at[0] == '/' &&
	    strncmp(at, base, strlen(base)) != 0)
		v->f_flag |= ST_RDONLY;
	return r;
}

/* --- plain: the end of the private folder -------------------------------- */

/* Whatever mode it was left with: its names are to be changed. */
static void
unlock(int dir, const char *name)
{
	scoped_fd int fd = openat(dir, name, O_PATH | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	char path[40];

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fd >= 0)
		(void)chmod(path, 0700);
}

/*
 * Empties the folder name in top, by moving what folders it has up into top:
 * so there is no depth to run out of.  Links are removed, and never followed.
 */
static void
flatten(int top, const char *name)
{
	static unsigned long number;
	struct dirent *de;
	char to[40];
	DIR *d;
	int fd;

	unlock(top, name);
	fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	while (d != NULL && (de = readdir(d)) != NULL) {
		if (strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0 ||
		    unlinkat(dirfd(d), de->d_name, 0) == 0)
			continue;
		unlock(dirfd(d), de->d_name);
		do
			(void)snprintf(to, sizeof to, "%lu", number++);
		while (syscall(SYS_renameat2, dirfd(d), de->d_name, top, to,
		    RENAME_NOREPLACE) != 0 && errno == EEXIST);
	}
	if (d != NULL)
		(void)closedir(d);
	else if (fd >= 0)
		(void)close(fd);
}

static void
folder_remove(void)
{
	int more = 1;

	while (more && folder >= 0) {
		int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
		DIR *d = fd < 0 ? NULL : fdopendir(fd);
		struct dirent *de;

		more = 0;
		if (d != NULL)
			rewinddir(d);	/* the position is shared by copies */
		while (d != NULL && (de = readdir(d)) != NULL) {
			if (strcmp(de->d_name, ".") == 0 ||
			    strcmp(de->d_name, "..") == 0)
				continue;
			if (unlinkat(folder, de->d_name, 0) == 0) {
				more = 1;
				continue;
			}
			if (unlinkat(folder, de->d_name, AT_REMOVEDIR) != 0) {
				flatten(folder, de->d_name);
				more |= unlinkat(folder, de->d_name,
				    AT_REMOVEDIR) == 0;
			} else
				more = 1;
		}
		if (d != NULL)
			(void)closedir(d);
	}
	if (above >= 0 && leaf != NULL)
		(void)unlinkat(above, leaf, AT_REMOVEDIR);
}

/* Every end of init itself; that of a launch child is nothing but its own. */
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
void
__wrap__exit(int status)
{
	if (plain && getpid() == self) {
		(void)kill(-1, SIGKILL);
		while (wait4(-1, NULL, 0, NULL) > 0)
			;
		folder_remove();
	}
	__real__exit(status);
}

/* --- from the first instruction to the loop ------------------------------ */

/* What the helper would be asked, and the client's pidfd if it ties us. */
static int
init_request(struct cell *c)
{
	static struct bl_req q;
	struct fdbag b = { .n = 0 };
	int r = wire_recv(BL_SESSION_FD, &q, sizeof q, &b);

	if (r != 1 || bl_req_check(&q) != 0 || q.op != BL_OP_CELL || b.n > 1)
		return -EPROTO;
	c->req = q.u.cell;
	c->locks = BL_SESSION_FD;	/* no slots; but it is never removed */
	c->helper = b.n == 1 ? b.fd[0] : -1;
	return 0;
}

static int
folder_make(const char *dir, uint32_t role)
{
	static const char *const home[BL_ROLE_MAX] = { "", "home/judge",
	    "home/answer", "home/agent", "home/verifier" };
	const char *const part[] = { "run", "work", "tmp", "var", "var/tmp",
	    "home", home[role] };
	int n = snprintf(base, sizeof base, "%s/bailiff-XXXXXX", dir);

	if (n <= 0 || (size_t)n >= sizeof base || dir[0] != '/')
		return -ENAMETOOLONG;
	above = __real_open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (above < 0 || mkdtemp(base) == NULL)
		return -errno;
	leaf = strrchr(base, '/') + 1;
	folder = openat(above, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (folder < 0 || fchdir(folder) != 0)
		return -errno;
	for (unsigned i = 0; i < COUNT(part); i++)
		if (mkdirat(folder, part[i], 0700) != 0)
			return -errno;
	return 0;
}

/* In bwrap: process 1 of a cell, with the ids that the client chose. */
static int
init_cell(struct cell *c)
{
	c->uid = getuid();
	return getpid() != 1 || getgid() != c->uid || c->uid < BL_UID_FIRST ||
	    c->uid > BL_UID_LAST ? -EPERM :
	    /* bwrap's own, which start_clean has taken back */
	    sys(prctl(PR_SET_PDEATHSIG, SIGKILL));
}

/* How many threads this user has already. */
static uint32_t
tasks(void)
{
	DIR *d = opendir("/proc");
	uid_t me = geteuid();
	struct dirent *de;
	uint32_t n = 0;
	struct stat st;
	char path[40];

	while (d != NULL && (de = readdir(d)) != NULL) {
		(void)snprintf(path, sizeof path, "/proc/%.20s/task",
		    de->d_name);
		/* proc(5): a folder for each, beside "." and ".." */
		if (de->d_name[0] >= '1' && de->d_name[0] <= '9' &&
		    stat(path, &st) == 0 && st.st_uid == me)
			n += (uint32_t)st.st_nlink - 2;
	}
	if (d != NULL)
		(void)closedir(d);
	return n;
}

static int
init_plain(struct cell *c)
{
	char path[60];

	c->uid = BL_UID_FIRST;
	(void)snprintf(path, sizeof path, "/proc/self/task/%d/children",
	    (int)self);
	if (access(path, R_OK) != 0)
		return -ENOSYS;		/* CONFIG_PROC_CHILDREN */
	itself = (int)__real_syscall(SYS_pidfd_open, self, 0);
	if (itself < 0)
		return -errno;
	/* RLIMIT_NPROC counts what the user has, not what the cell has */
	c->req.limits.pids += tasks();
	return sys(prctl(PR_SET_CHILD_SUBREAPER, 1));
}

/*
 * bwrap has left none.  A plain process of root's may have all: it is to have
 * what any other user's has.
 */
static int
init_caps(unused struct cell *c)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	const struct __user_cap_data_struct none[2] = { { 0, 0, 0 } };
	int i = 0;

	while (prctl(PR_CAPBSET_DROP, i) == 0)	/* or it had no right to */
		i++;
	return sys(__real_syscall(SYS_capset, &h, none));
}

static int
init_netlink(struct cell *c)
{
	return (c->netlink = sys(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
	    NETLINK_ROUTE))) < 0 ? c->netlink : 0;
}

static struct sock_filter guard[160];
static unsigned short nguard;

#define LOW_HALF(arg) ((uint32_t)(offsetof(struct seccomp_data, args) + \
	8 * (unsigned)(arg) + \
	(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0)))

/* err where the low half of one argument is value. */
static void
deny_as(uint32_t err, long nr, int arg, uint32_t value)
{
	const struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(arg)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
	};

	if (nguard + COUNT(f) < COUNT(guard))
		memcpy(guard + nguard, f, sizeof f);
	nguard = (unsigned short)(nguard + COUNT(f));
}

static void
deny(long nr, int arg, uint32_t value)
{
	deny_as(EPERM, nr, arg, value);
}

/*
 * A role has init's uid here, so that the kernel would let it lower init's
 * limits or priority, and end or starve what keeps its time.  Foreign
 * architectures are the role filter's to refuse.
 */
static void
guard_make(void)
{
	uint32_t me = (uint32_t)self;

	deny(SYS_prlimit64, 0, me);
	deny(SYS_sched_setattr, 0, me);
	deny(SYS_sched_setparam, 0, me);
	deny(SYS_sched_setscheduler, 0, me);
	deny(SYS_sched_setaffinity, 0, me);
	deny(SYS_setpriority, 1, me);
	deny(SYS_setpriority, 0, PRIO_USER);
	deny(SYS_ioprio_set, 1, me);
	deny(SYS_ioprio_set, 0, IOPRIO_WHO_USER);
	/* the files shown may be the caller's, who would wait for it */
	deny_as(EACCES, SYS_fcntl, 1, F_SETLEASE);
	deny_as(EACCES, SYS_fcntl, 1, 1024 + 16);	/* F_SETDELEG, 6.19 */
	if (!plain)
		return;			/* process 1: signals don't reach it */
	/*
	 * Against accidents alone: what means to end init still can, by
	 * pidfd_send_signal(2) on its folder in /proc (init needs that call
	 * itself) or by F_SETOWN and F_SETSIG of fcntl(2).
	 */
	deny(SYS_kill, 0, me);
	deny(SYS_kill, 0, -me);
	deny(SYS_kill, 0, (uint32_t)-1);	/* all that the user has */
	deny(SYS_tkill, 0, me);
	deny(SYS_tgkill, 0, me);
	deny(SYS_rt_sigqueueinfo, 0, me);
	deny(SYS_rt_tgsigqueueinfo, 0, me);
	deny(SYS_pidfd_open, 0, me);
}

static int
load(const struct sock_filter *f, unsigned short n)
{
	const struct sock_fprog p = { n, (struct sock_filter *)(uintptr_t)f };

	return sys(__real_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p));
}

/* As the helper's init does it: everything later runs under this. */
static int
init_filter(struct cell *c)
{
	const struct bl_filter *f = &bl_filters[c->req.role];
	const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ALLOW);
	int r;

	guard_make();
	if (nguard + 1u > COUNT(guard))
		return -E2BIG;
	guard[nguard++] = allow;
	/* of a plain one its user may look at the folder (--keep) */
	r = (!plain && prctl(PR_SET_DUMPABLE, 0) != 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -errno :
	    load(guard, nguard);
	return r != 0 ? r : load(f->prog, f->len);
}

/* MUST be in this order, as in the helper's cell.c. */
static const struct {
	uint32_t at;
	int (*fn)(struct cell *);
} steps[] = {
	{ BL_AT_CAPS, init_caps }, { BL_AT_NETLINK, init_netlink },
	{ BL_AT_FILTER, init_filter },
};

int
main(int argc, char **argv)
{
	static struct cell c = { .owner = BL_SESSION_FD };
	struct bl_rep p = wire_reply(BL_OP_CELL, 0);
	uint32_t at = BL_AT_WIRE;
	unsigned i;
	int r;

	plain = argc == 3;
	self = getpid();
	if (argc < 2 || wire_is_ours(BL_SESSION_FD, 0) != 0)
		die(BL_AT_FD3);
	start_clean();
	(void)prctl(PR_SET_NAME, "bailiff-cell");
	/* session-keyring(7): the caller's is left behind, as far as it can */
	(void)__real_syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	r = init_request(&c);
	if (r == 0) {
		at = BL_AT_INIT;
		r = plain ? init_plain(&c) : init_cell(&c);
	}
	if (r == 0 && plain) {
		at = BL_AT_ROOT;
		r = folder_make(argv[2], c.req.role);
	}
	for (i = 0; r == 0 && i < COUNT(steps); i++) {
		at = steps[i].at;
		r = steps[i].fn(&c);
	}
	if (r != 0)
		(void)wire_fail(&p, at, 0, r);
	if (wire_send(c.owner, &p, &c.netlink, r == 0) != 0 || r != 0)
		die(at);
	fd_drop(&c.netlink);
	loop_run(&c);
}

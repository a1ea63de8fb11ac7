/* Cells without a helper: by bwrap(1), or plain processes. */
#include "bare.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cellspec.h"
#include "rules-default.h"
#include "userns.h"
#include "ways.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U			/* Linux 6.3 */
#endif

/* As it is built: client/cellinit_blob.S. */
extern const char bl_cellinit_blob[], bl_cellinit_blob_end[];

enum {
	FIRST = 3,		/* the init's owner socket, as in cellinit.c */
	FDS_MAX = 24,		/* descriptors of one start, 3 and up */
	ARGS_BYTES = 24 << 10,
	STACK = 16384,
	WORDS_MAX = 200,
	NOBODY = 65534,		/* where a container has no higher numbers */
	/* with one message of 253 less than programs usually have, 1024 */
	ANSWERS_FILES = 512,
	END_MS = 3000
};

static const char *const roles[BL_ROLE_MAX] = { "", "judge", "answer",
    "agent", "verifier" };

/* What one start is made of. */
struct start {
	const struct bl_cell_spec *s;
	const struct bl_req_cell *q;
	struct bl_err *e;
	int	 fd[FDS_MAX];	/* number FIRST + i there */
	bool	 own[FDS_MAX];	/* closed when it has started */
	unsigned nfds;
	char	 args[ARGS_BYTES];	/* each with its NUL */
	size_t	 n;
	bool	 over;
};

void
bare_quota(struct bl_caller *q)
{
	/* whom the rules don't name has what an ordinary user has */
	if (bl_rules_quota(&bl_rules_default, geteuid(), NULL, 0, q) != 0 &&
	    bl_rules_quota(&bl_rules_default, 1000, NULL, 0, q) != 0)
		*q = bl_rules_default.caller[0];
}

/* true: all numbers that a cell may get are there in this user namespace. */
static bool
mapped(const char *path)
{
	uint64_t in, out, n, first = bl_rules_default.uid_base;
	FILE *f = fopen(path, "re");
	bool all = false;

	while (f != NULL && !all && fscanf(f, "%lu %lu %lu", &in, &out, &n) == 3)
		all = in <= first && first + bl_rules_default.uid_count <= in + n;
	if (f != NULL)
		(void)fclose(f);
	return all;
}

/*
 * Root can give each cell a user where there are enough numbers; in a container
 * there may be 65,536, and its cells are all NOBODY.
 */
bool
bare_users(void)
{
	return geteuid() == 0 && mapped("/proc/self/uid_map") &&
	    mapped("/proc/self/gid_map");
}

void
bare_descriptors(struct bl_req_cell *q)
{
	uint32_t usual = ANSWERS_FILES;
	struct rlimit v;

	if (bare_users())	/* then each cell's descriptors are its own */
		return;
	/* one more message passes the kernel's look: from 765 that is enough */
	if (getrlimit(RLIMIT_NOFILE, &v) == 0 && v.rlim_cur < 2 * usual)
		usual = v.rlim_cur < 128 ? 64 : (uint32_t)v.rlim_cur / 2;
	if (q->role == BL_ROLE_JUDGE || q->role == BL_ROLE_VERIFIER)
		q->limits.nofile = 1U << 20;	/* to the hard limit */
	else if (q->limits.nofile == 0 || q->limits.nofile > usual)
		q->limits.nofile = usual;
}

/* --- descriptors that go along ------------------------------------------- */

/* Its number there, or -1 with *e; own: fd is closed in the end, or at once. */
static int
pass(struct start *t, int fd, bool own)
{
	if (fd >= 0 && t->nfds < FDS_MAX) {
		t->own[t->nfds] = own;
		t->fd[t->nfds] = fd;
		return FIRST + (int)t->nfds++;
	}
	(void)err_set(t->e, BL_KIND_INFRA, "no_descriptors", "cell/bwrap",
	    fd < 0 ? errno : EMFILE, "no descriptor for a cell: %s",
	    strerror(fd < 0 ? errno : EMFILE));
	if (fd >= 0 && own)
		(void)close(fd);
	return -1;
}

static void
drop(struct start *t)
{
	while (t->nfds > 0)
		if (t->own[--t->nfds])
			(void)close(t->fd[t->nfds]);
}

/* A memory file that holds n bytes and is read from its start; or -1. */
static int
memory(const char *name, unsigned flags, const char *from, size_t n)
{
	int fd = memfd_create(name, MFD_CLOEXEC | flags);

	if (fd < 0 && errno == EINVAL)		/* flags of a later kernel's */
		fd = memfd_create(name, MFD_CLOEXEC | (flags & ~MFD_EXEC));
	for (size_t at = 0; fd >= 0 && at < n;) {
		ssize_t did = pwrite(fd, from + at, n - at, (off_t)at);

		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0) {
			(void)close(fd);
			return -1;
		}
		at += (size_t)did;
	}
	return fd;
}

static _Atomic int program = -1;

/* The init's program, one for this process: sealed, so that it stays so. */
static int
program_fd(void)
{
	int fd = atomic_load(&program), none = -1;

	if (fd >= 0)
		return fd;
	/* two objects to the compiler, and one to the assembler */
	fd = memory("bailiff-cell", MFD_ALLOW_SEALING | MFD_EXEC,
	    bl_cellinit_blob, (size_t)((uintptr_t)bl_cellinit_blob_end -
	    (uintptr_t)bl_cellinit_blob));
	if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK |
	    F_SEAL_GROW | F_SEAL_WRITE) != 0) {
		(void)close(fd);
		return -1;
	}
	if (fd < 0 || atomic_compare_exchange_strong(&program, &none, fd))
		return fd;
	(void)close(fd);		/* another thread was faster */
	return none;
}

/* The init's program: its number there, or -1 with *e. */
static int
program_pass(struct start *t)
{
	int fd = program_fd(), err = errno;

	/* memfd_create(2) in one of the modes of vm.memfd_noexec */
	if (fd >= 0 || err != EACCES)
		return errno = err, pass(t, fd, false);
	(void)err_set(t->e, BL_KIND_SETUP, "cell_start", "cell/program", err,
	    "no program in memory, which a cell starts with, can be made: %s",
	    strerror(err));
	err_object(t->e, "/proc/sys/vm/memfd_noexec");
	err_hint(t->e, "programs in memory must be allowed; as root: sysctl "
	    "-w vm.memfd_noexec=1");
	return -1;
}

/* --- bwrap's arguments --------------------------------------------------- */

/* Adds words, up to a NULL. */
static void
words(struct start *t, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, t);
	while ((s = va_arg(ap, const char *)) != NULL) {
		size_t n = strlen(s) + 1;

		if (n > sizeof t->args - t->n) {
			t->over = true;
			break;
		}
		memcpy(t->args + t->n, s, n);
		t->n += n;
	}
	va_end(ap);
}

/* A file of the cell's own, from text. */
static int
file(struct start *t, const char *path, const char *text)
{
	char number[16];
	int fd = pass(t, memory("bailiff-file", 0, text, strlen(text)), true);

	if (fd < 0)
		return -1;
	(void)snprintf(number, sizeof number, "%d", fd);
	words(t, "--perms", "0444", "--file", number, path, NULL);
	return 0;
}

/* An empty folder to write in. */
static void
room(struct start *t, const char *mode, uint64_t size, const char *path)
{
	char bytes[24];

	(void)snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)size);
	words(t, "--perms", mode, "--size", bytes, "--tmpfs", path, NULL);
}

/* What the rules show, as helper/view.c: what is not there is left out. */
static void
shows(struct start *t)
{
	char to[BL_DST_MAX];
	struct stat st;

	for (uint32_t i = 0; i < bl_rules_default.nshows; i++) {
		const char *path = bl_rules_default.show[i].path;
		ssize_t n;

		if (lstat(path, &st) != 0)
			continue;
		if (!S_ISLNK(st.st_mode)) {
			words(t, "--ro-bind", path, path, NULL);
			continue;
		}
		n = readlink(path, to, sizeof to - 1);
		if (n > 0) {
			to[n] = '\0';
			words(t, "--symlink", to, path, NULL);
		}
	}
}

/* The names of helper/etc.c and helper/view.h. */
static int
names(struct start *t, uint32_t uid, const char *role)
{
	char text[512];

	(void)snprintf(text, sizeof text, "root:x:0:0::/:/usr/sbin/nologin\n"
	    "%s:x:%u:%u::/home/%s:/bin/sh\n"
	    "nobody:x:65534:65534::/:/usr/sbin/nologin\n", role, uid, uid,
	    role);
	if (file(t, "/etc/passwd", text) != 0)
		return -1;
	(void)snprintf(text, sizeof text, "root:x:0:\n%s:x:%u:\n"
	    "nogroup:x:65534:\n", role, uid);
	if (file(t, "/etc/group", text) != 0 ||
	    file(t, "/etc/hosts", "127.0.0.1\tlocalhost cell\n"
	    "::1\tlocalhost cell\n") != 0 ||
	    file(t, "/etc/hostname", "cell\n") != 0 ||
	    file(t, "/etc/nsswitch.conf", "passwd: files\ngroup: files\n"
	    "hosts: files dns\nservices: files\nprotocols: files\n") != 0)
		return -1;
	words(t, "--symlink", "/run/resolv.conf", "/etc/resolv.conf",
	    "--symlink", "/proc/self/mounts", "/etc/mtab", "--symlink", "/run",
	    "/var/run", NULL);
	return 0;
}

/* Its own processes and devices; what tells of the whole machine is covered. */
static void
system_files(struct start *t)
{
	static const char *const covered[] = { "/proc/locks",
	    "/proc/key-users", "/proc/keys", "/proc/kcore", "/proc/kallsyms",
	    "/proc/timer_list" };
	/* bwrap leaves them so where the user has no right to write there */
	static const char *const locked[] = { "/proc/sys", "/proc/irq",
	    "/proc/bus", "/proc/sysrq-trigger" };

	words(t, "--proc", "/proc", NULL);
	for (size_t i = 0; i < sizeof locked / sizeof locked[0]; i++)
		if (access(locked[i], F_OK) == 0)
			words(t, "--ro-bind", locked[i], locked[i], NULL);
	/* a device that is bound without leave to be one can't be opened */
	for (size_t i = 0; i < sizeof covered / sizeof covered[0]; i++)
		if (access(covered[i], F_OK) == 0)
			words(t, "--ro-bind", "/dev/null", covered[i], NULL);
	words(t, "--dev", "/dev", NULL);
	room(t, "1777", t->q->disk, "/dev/shm");
	words(t, "--remount-ro", "/dev", NULL);
}

/* 1: one of a and b is the other, or below it. */
static bool
meet(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;

	return strncmp(a, b, least) == 0 && (n == m ||
	    (n < m ? b : a)[least] == '/');
}

const char *const bare_own[] = { "/dev", "/proc", "/run", "/tmp", "/var/tmp",
    "/var/run", "/work", "/etc/passwd", "/etc/group", "/etc/hosts",
    "/etc/hostname", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/mtab",
    NULL };

/* As in helper/view.c: a place is a new name, and stands for nothing else. */
static bool
taken(const struct bl_req_cell *q, uint32_t i)
{
	const char *dst = q->place[i].dst;
	char home[32];
	bool is = false;

	(void)snprintf(home, sizeof home, "/home/%s", roles[q->role]);
	is |= meet(dst, home);
	for (size_t k = 0; bare_own[k] != NULL; k++)
		is |= meet(dst, bare_own[k]);
	for (uint32_t k = 0; k < bl_rules_default.nshows; k++)
		is |= meet(dst, bl_rules_default.show[k].path) &&
		    access(bl_rules_default.show[k].path, F_OK) == 0;
	for (uint32_t k = 0; k < i; k++)
		is |= meet(dst, q->place[k].dst);
	return is;
}

static int
place_refused(struct start *t, uint32_t at, uint32_t i, int err)
{
	(void)err_at(t->e, at, i, -err);
	err_object(t->e, "%s", t->q->place[i].dst);
	return -1;
}

/* 0, or an errno: the helper's own rule, folder_check of helper/op_cell.c. */
static int
folder_check(int fd)
{
	static const unsigned long refused[] = { 0x65735546 /* FUSE */,
	    PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC,
	    CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, NSFS_MAGIC };
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    fstatfs(fd, &fs) != 0)
		return ENOTDIR;
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if ((unsigned long)fs.f_type == refused[i])
			return EOPNOTSUPP;
	return 0;
}

/*
 * The caller's folders.  bwrap finds each by the name that its descriptor has,
 * with its caller's rights; where that is root, with those that the cell has.
 */
static int
places(struct start *t)
{
	char src[40];

	for (uint32_t i = 0; i < t->q->nplaces; i++) {
		const struct bl_place *p = &t->q->place[i];
		int fd, r;

		if (taken(t->q, i))
			return place_refused(t, BL_AT_BIND, i, EEXIST);
		if (p->kind == BL_PLACE_TMPFS) {
			room(t, "0755", p->size, p->dst);
			continue;
		}
		r = folder_check(t->s->place_fd[i]);
		if (r != 0)
			return place_refused(t, BL_AT_PLACE, i, r);
		fd = pass(t, t->s->place_fd[i], false);
		if (fd < 0)
			return -1;
		(void)snprintf(src, sizeof src, "/proc/self/fd/%d", fd);
		words(t, "--ro-bind", src, p->dst, NULL);
	}
	return 0;
}

/*
 * The whole cell.  A memory file with all of it leaves little for ps(1) to
 * show.  Each folder to write in has disk bytes of its own: bwrap can't make
 * several of one file system.
 */
static int
arguments(struct start *t, uint32_t uid)
{
	const char *role = roles[t->q->role];
	char id[16], home[32];

	(void)snprintf(id, sizeof id, "%u", uid);
	(void)snprintf(home, sizeof home, "/home/%s", role);
	words(t, "--unshare-user", "--unshare-pid", "--unshare-ipc",
	    "--unshare-uts", "--unshare-cgroup-try", "--uid", id, "--gid", id,
	    "--hostname", "cell", "--as-pid-1", "--new-session", "--cap-drop",
	    "ALL", "--chdir", "/", "--unshare-net", NULL);
	if (!t->s->lasts)
		words(t, "--die-with-parent", NULL);
	/* else bwrap makes them for their owner alone */
	words(t, "--perms", "0755", "--dir", "/etc", "--perms", "0755",
	    "--dir", "/home", "--perms", "0755", "--dir", "/var", NULL);
	shows(t);
	if (names(t, uid, role) != 0)
		return -1;
	system_files(t);
	room(t, "1777", t->q->disk, "/tmp");
	room(t, "1777", t->q->disk, "/var/tmp");
	room(t, "0755", t->q->disk, "/run");
	room(t, "0755", t->q->disk, "/work");
	room(t, "0700", t->q->disk, home);
	if (places(t) != 0)
		return -1;
	words(t, "--remount-ro", "/", NULL);
	return !t->over ? 0 : err_set(t->e, BL_KIND_SETUP, "too_many_places",
	    "cell/bwrap", E2BIG, "a cell's description is too long");
}

/* --- starting it --------------------------------------------------------- */

struct child {
	const char *path;
	char *const *argv;
	const int *fd;
	unsigned n;
	int	 null, say;
	uint32_t uid;			/* root becomes it; 0: nobody does */
	int	 group;			/* cgroup.procs of the cell's, or -1 */
	int	 err;			/* 0 once the program runs */
};

/*
 * Root's cells are not root's processes, which may write kernel settings
 * without any capability: each has a number that owns nothing.  Calls by
 * number, for libc's would reach for the threads of the caller.
 */
static bool
lower(uint32_t uid)
{
	return uid == 0 || (syscall(SYS_setgroups, 0, NULL) == 0 &&
	    syscall(SYS_setresgid, uid, uid, uid) == 0 &&
	    syscall(SYS_setresuid, uid, uid, uid) == 0);
}

/*
 * In the parent's memory, as in ways.c: plain system calls alone.  All signals
 * are blocked until each has its usual effect again, so that no handler of this
 * program runs here.
 */
static int
child(void *arg)
{
	static const struct sigaction dfl = { .sa_handler = SIG_DFL };
	static char *const env[] = { NULL };
	struct child *c = arg;
	int high = FIRST + (int)c->n, at[FDS_MAX + 2], bad = 0;	/* an errno */
	sigset_t none;

	for (unsigned i = 0; i < c->n + 2; i++) {
		at[i] = fcntl(i < c->n ? c->fd[i] : i == c->n ? c->null :
		    c->say, F_DUPFD, high);
		if (at[i] < 0 && bad == 0)
			bad = errno;
	}
	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &dfl, NULL);	/* KILL, STOP: they are so */
	(void)sigemptyset(&none);
	if (!bad && c->group >= 0 && write(c->group, "0", 1) != 1)
		bad = errno;
	if (!bad && setsid() >= 0 && dup2(at[c->n], 0) == 0 &&
	    dup2(at[c->n], 1) == 1 && dup2(at[c->n + 1], 2) == 2) {
		for (unsigned i = 0; i < c->n; i++)
			if (dup2(at[i], FIRST + (int)i) < 0 && bad == 0)
				bad = errno;
		if (!bad && close_range((unsigned)high, ~0U, 0) == 0 &&
		    lower(c->uid) &&
		    sigprocmask(SIG_SETMASK, &none, NULL) == 0)
			(void)execve(c->path, c->argv, env);
	}
	c->err = bad != 0 ? bad : errno;
	_exit(127);
}

/* The program at path; 0 with to->pid, or an errno.  As way_exec. */
static int
run(const struct start *t, const char *path, char *const *argv, uint32_t uid,
    struct bl_cell *to)
{
	_Alignas(16) char stack[STACK];
	struct child c = { .path = path, .argv = argv, .fd = t->fd,
	    .n = t->nfds, .say = to->words, .uid = geteuid() != 0 ? 0 :
	    bare_users() ? uid : NOBODY,
	    .null = open("/dev/null", O_RDWR | O_CLOEXEC),
	    .group = !cgroup_there(&to->group) ? -1 : openat(to->group.dir,
	    "cgroup.procs", O_WRONLY | O_CLOEXEC) };
	sigset_t all, was;
	int r = c.null < 0 || (cgroup_there(&to->group) && c.group < 0) ?
	    errno : 0;

	(void)sigfillset(&all);
	if (r == 0)
		r = pthread_sigmask(SIG_SETMASK, &all, &was);
	if (r == 0) {
		pid_t pid = clone(child, stack + sizeof stack,
		    CLONE_VM | CLONE_VFORK | SIGCHLD, &c);

		r = pid < 0 ? errno : c.err;
		(void)pthread_sigmask(SIG_SETMASK, &was, NULL);
		while (pid > 0 && r != 0 && waitpid(pid, NULL, 0) < 0 &&
		    errno == EINTR)
			;
		to->pid = r == 0 ? pid : -1;
		to->info.flags = r == 0 && c.group >= 0 ? BL_CELL_CGROUP : 0;
	}
	if (c.group >= 0)
		(void)close(c.group);
	if (c.null >= 0)
		(void)close(c.null);
	return r;
}

const char *
bare_bwrap(void)
{
	static const char *const at[] = { "/usr/bin/bwrap",
	    "/usr/local/bin/bwrap", "/bin/bwrap" };

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
		if (access(at[i], X_OK) == 0)
			return at[i];
	return NULL;
}

bool
bare_found(char *why, size_t size)
{
	if (bare_bwrap() != NULL)
		return true;
	(void)snprintf(why, size, "there is no bwrap (apt install bubblewrap)");
	return false;
}

static int
start_failed(int err, const char *path, struct bl_err *e)
{
	(void)err_set(e, BL_KIND_SETUP, "cell_start", "cell/exec", err,
	    "a cell's first program can't be started: %s", strerror(err));
	err_object(e, "%s", path);
	/* root looks for bwrap with other rights than its cells have */
	if (err == EACCES && path[0] == '/')
		err_hint(e, "every user must be able to execute it: as root: "
		    "chmod 755 it, on a file system that is not mounted "
		    "noexec");
	else if ((err == EINVAL || err == EPERM) && geteuid() == 0)
		err_hint(e, "root of this user namespace has no other user "
		    "that its cells could be: run bailiff as an ordinary user");
	return -1;
}

static int
start_bwrap(struct start *t, struct bl_cell *c)
{
	uint32_t uid = c->info.uid;
	char name[] = "bwrap", opt[] = "--args", sep[] = "--", from[16],
	    init[40], word[] = "cell";
	char *argv[] = { name, opt, from, sep, init, word, NULL };
	const char *path = bare_bwrap();
	int args, prog = program_pass(t), r;

	if (path == NULL)
		return err_set(t->e, BL_KIND_SETUP, "way_missing",
		    "cell/bwrap", ENOENT, "there is no bwrap");
	if (prog < 0 || arguments(t, uid) != 0)
		return -1;
	args = pass(t, memory("bailiff-cell", 0, t->args, t->n), true);
	if (args < 0)
		return -1;
	(void)snprintf(from, sizeof from, "%d", args);
	(void)snprintf(init, sizeof init, "/proc/self/fd/%d", prog);
	r = run(t, path, argv, uid, c);
	return r == 0 ? 0 : start_failed(r, path, t->e);
}

/* A folder is where it is for plain processes, and nowhere else. */
static int
plain_places(struct start *t)
{
	struct stat a, b;

	for (uint32_t i = 0; i < t->q->nplaces; i++) {
		const struct bl_place *p = &t->q->place[i];

		if (p->kind == BL_PLACE_BIND &&
		    fstat(t->s->place_fd[i], &a) == 0 &&
		    stat(p->dst, &b) == 0 && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			continue;
		(void)err_set(t->e, BL_KIND_SETUP, "place_refused",
		    "cell/bind", 0, "plain processes have no folders of their "
		    "own elsewhere");
		err_object(t->e, "%s", p->dst);
		return -1;
	}
	return 0;
}

static int
start_plain(struct start *t, struct bl_cell *c)
{
	const char *dir = getenv("TMPDIR");
	char name[] = "bailiff-cell", word[] = "plain", path[40], tmp[64];
	char *argv[] = { name, word, tmp, NULL };
	int prog = program_pass(t), r;

	if (prog < 0 || plain_places(t) != 0)
		return -1;
	/* the paths of sockets below it have about a hundred bytes */
	(void)snprintf(tmp, sizeof tmp, "%s", dir != NULL && dir[0] == '/' &&
	    strlen(dir) < sizeof tmp ? dir : "/tmp");
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", prog);
	r = run(t, path, argv, c->info.uid, c);
	if (geteuid() != 0) {
		c->info.uid = geteuid();
		c->info.gid = getegid();
	}
	return r == 0 ? 0 : start_failed(r, name, t->e);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t first;			/* of the numbers below */

/*
 * Where root has other runs too, their cells' users are hardly ever the same.
 * Where the kernel has no randomness yet, the process's number has to do.
 */
static void
first_choose(void)
{
	if (getrandom(&first, sizeof first, GRND_NONBLOCK) !=
	    (ssize_t)sizeof first)
		first = (uint32_t)getpid() * 64;
	first %= bl_rules_default.uid_count;
}

int
bare_start(const struct bl_helper *h, const struct bl_cell_spec *s,
    const struct bl_req_cell *q, int sock, struct bl_cell *c,
    struct bl_err *e)
{
	static _Atomic uint32_t number;
	uint32_t n = atomic_fetch_add(&number, 1);
	struct start *t = calloc(1, sizeof *t);
	int r;

	(void)pthread_once(&once, first_choose);
	/* two cells of a run never have the same */
	c->info.uid = c->info.gid = bl_rules_default.uid_base +
	    (first + n) % bl_rules_default.uid_count;
	c->info.cell = n + 1;
	c->pid = c->words = -1;
	c->plain = h->way.way == BL_WAY_PLAIN;
	if (t == NULL)
		return err_memory(e, "cell");
	*t = (struct start){ .s = s, .q = q, .e = e };
	(void)pass(t, sock, false);	/* the first, so FIRST */
	c->words = memory("bailiff-words", 0, NULL, 0);
	if (c->words < 0)
		r = err_set(e, BL_KIND_INFRA, "no_memfd", "cell", errno,
		    "no memory file: %s", strerror(errno));
	else
		r = h->way.way == BL_WAY_PLAIN ? start_plain(t, c) :
		    start_bwrap(t, c);
	drop(t);
	free(t);
	if (r != 0 && c->words >= 0) {
		(void)close(c->words);
		c->words = -1;
	}
	return r;
}

/* --- why it can't be ----------------------------------------------------- */

/* The first line of what was said, as plain text. */
static void
first_line(int fd, char *to, size_t size)
{
	ssize_t n = pread(fd, to, size - 1, 0);

	to[n > 0 ? n : 0] = '\0';
	to[strcspn(to, "\n")] = '\0';
	for (char *p = to; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}

/* Why bwrap made no cell: *w with words of why, and a remedy or "". */
static void
reason(const char *said, struct userns_why *w)
{
	struct userns_fail f;

	memset(w, 0, sizeof *w);
	if (strstr(said, "nknown option") != NULL) {
		(void)snprintf(w->why, sizeof w->why, "it is too old, 0.8 is "
		    "needed");
		return;
	}
	/* a profile would have to be bwrap's, and no other one helps it */
	if (userns_try(USERNS_CELL & ~CLONE_NEWCGROUP, &f) != 0) {
		userns_why("/proc/sys", &f, w);
		if (!w->profile)
			return;
	}
	memset(w, 0, sizeof *w);
	if (userns_restricted("/proc/sys"))
		(void)snprintf(w->why, sizeof w->why, "AppArmor restricts user "
		    "namespaces and bwrap has no profile that allows them");
	else if (said[0] == '\0')
		(void)snprintf(w->why, sizeof w->why, "it ended without a "
		    "word");
}

int
bare_ended(const struct bl_helper *h, struct bl_cell *c, struct bl_err *e)
{
	struct bl_err how = { .kind = BL_KIND_NONE };
	struct userns_why w = { .why = "the first process ended" };
	char said[WORDS_MAX] = "";
	bool both;

	(void)way_ended(c->pid, END_MS, &how);
	c->pid = -1;
	if (c->words >= 0)
		first_line(c->words, said, sizeof said);
	if (h->way.way == BL_WAY_BWRAP)
		reason(said, &w);
	else
		said[0] = '\0';
	both = w.why[0] != '\0' && said[0] != '\0';
	(void)err_set(e, w.now ? BL_KIND_INFRA : BL_KIND_SETUP, w.now ?
	    "no_resources" : "cell_start", "cell/start", 0,
	    "no cell could be made without the helper: %s%s%s%s", w.why,
	    both ? " (" : "", said, both ? ")" : "");
	if (w.fix[0] != '\0')
		err_hint(e, "%s%s", w.now ? "wait for other runs to end, or " :
		    "", w.fix);
	else
		err_hint(e, "install the helper: " BL_INSTALL);
	return -1;
}

static pthread_once_t tried = PTHREAD_ONCE_INIT;
static char trial[256];			/* why not, or "" */

static void
try(void)
{
	struct bl_helper h = { .sock = -1, .pid = -1,
	    .way = { .way = BL_WAY_BWRAP, .waived = BL_NEED_UID } };
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct bl_cell_spec s;
	struct bl_cell c;

	cellspec_init(&s);
	s.role = BL_ROLE_ANSWER;
	cellspec_limits(&s);
	if (cell_open(&h, &s, &c, &e) != 0)
		(void)snprintf(trial, sizeof trial, "%.255s", e.message);
	else
		cell_close(&c);
}

bool
bare_possible(char *why, size_t size)
{
	if (!bare_found(why, size))
		return false;
	(void)pthread_once(&tried, try);
	if (trial[0] != '\0')
		(void)snprintf(why, size, "%s", trial);
	return trial[0] == '\0';
}

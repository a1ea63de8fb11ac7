/* Rootless: the helper as root of a user namespace of the caller's own. */
#include "rootless.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cells.h"
#include "nsroot.h"
#include "rules-default.h"
#include "subid.h"
#include "userns.h"
#include "ways.h"

enum {
	MAP_MS		= 10000,	/* newuidmap and newgidmap together */
	TREE_MS		= 10000,	/* and then the small tree */
	HELPER_MAX	= 16 << 20,	/* bytes; the tree is larger */
	USER_MAX	= 64		/* bytes of a name that fit a sentence */
};

/* Of users, and of groups: the tool that maps them and its table. */
static const struct kind {
	const char *tool, *table;
} kinds[2] = {
	{ "newuidmap", "/etc/subuid" }, { "newgidmap", "/etc/subgid" }
};

/* What both tools need to be told. */
struct maps {
	char	 tool[2][64];
	struct subid range[2];		/* as large as can be used, no larger */
};

/* --- whether ------------------------------------------------------------- */

/* Where a system has it; PATH is the caller's and counts for nothing. */
bool
rootless_tool(const char *name, char *path, size_t size)
{
	static const char *const where[] = { "/usr/bin", "/bin",
	    "/usr/local/bin", "/run/wrappers/bin" };

	for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
		int n = snprintf(path, size, "%s/%s", where[i], name);

		if (n > 0 && (size_t)n < size && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

bool
rootless_gains(const char *path)
{
	struct statvfs fs;
	struct stat st;

	return geteuid() == 0 || (stat(path, &st) == 0 &&
	    ((st.st_uid == 0 && (st.st_mode & S_ISUID) != 0) ||
	    getxattr(path, "security.capability", NULL, 0) > 0) &&
	    statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID) == 0);
}

/* true, or why says which of the tools is not there or could do nothing. */
static bool
tools(struct maps *m, char *why, size_t size)
{
	for (int i = 0; i < 2; i++) {
		if (!rootless_tool(kinds[i].tool, m->tool[i],
		    sizeof m->tool[i])) {
			(void)snprintf(why, size, "%s is not installed; as "
			    "root: apt install uidmap", kinds[i].tool);
			return false;
		}
		if (!rootless_gains(m->tool[i])) {
			(void)snprintf(why, size, "%s can gain no rights; as "
			    "root: chown root %s and chmod u+s it, on a file "
			    "system that is not mounted nosuid",
			    m->tool[i], m->tool[i]);
			return false;
		}
	}
	return true;
}

/* The slots of the helper's caller, which is root in there. */
static uint32_t
slots(uint32_t *first)
{
	struct bl_caller q;

	*first = bl_rules_default.uid_base;
	if (bl_rules_quota(&bl_rules_default, 0, NULL, 0, &q) != 0)
		return 0;
	*first += q.slot_first;
	return q.slots;
}

uint32_t
rootless_ids(void)
{
	uint32_t first;

	return slots(&first);
}

/* 0 or -err: what ran out may be there again, and this proves nothing. */
static int
not_now(int err, char *why, size_t size)
{
	if (!way_ran_out(err))
		return 0;
	(void)snprintf(why, size, "whether rootless works can't be tried now: "
	    "%s", strerror(err));
	return -err;
}

/* No user namespace, by f: as rootless_possible, without the 1. */
static int
no_namespace(const struct userns_fail *f, char *why, size_t size)
{
	struct userns_why w;

	userns_why("/proc/sys", f, &w);
	if (!w.now) {
		(void)snprintf(why, size, "%s; %s", w.why, w.fix);
		return 0;
	}
	(void)snprintf(why, size, "whether rootless works can't be tried now: "
	    "%s; wait for other runs to end, or %s", w.why, w.fix);
	return -f->err;
}

/*
 * A number for every slot that the helper may take: one that is not mapped
 * would fail in the middle of a cell.  Of a larger range its end: what
 * containers of this user use of it is mostly its beginning.
 */
static int
range(const struct kind *k, const char *user, uid_t id, struct subid *s,
    char *why, size_t size)
{
	FILE *f = fopen(k->table, "re");
	uint32_t base, want = slots(&base), next;
	char fix[WAY_WHY];
	int r = f == NULL ? -errno :
	    subid_read(f, user, id, want, s, &next), n = 0;

	if (f != NULL)
		(void)fclose(f);
	else if (not_now(-r, why, size) != 0)
		return r;
	if (r == -ERANGE)
		n = snprintf(why, size, "the range of %s in %s has %u "
		    "numbers, and %u are needed", user, k->table, s->count,
		    want);
	else if (r != 0)
		n = snprintf(why, size, "%s has no range in %s", user,
		    k->table);
	if (r != 0) {
		subid_fix(user, id, want, fix, sizeof fix);
		if (n > 0 && (size_t)n < size)
			(void)snprintf(why + n, size - (size_t)n,
			    "; as root: %s", fix);
		return 0;
	}
	s->first += s->count - want;
	s->count = want;
	return 1;
}

static int
ranges(struct maps *m, char *why, size_t size)
{
	const uid_t id = geteuid();
	struct passwd pw, *got = NULL;
	char text[16384];
	int r = getpwuid_r(id, &pw, text, sizeof text, &got);

	if (not_now(r, why, size) != 0)
		return -r;
	if (r != 0 || got == NULL || strlen(pw.pw_name) >= USER_MAX) {
		(void)snprintf(why, size, "newuidmap knows no user without a "
		    "name; as root: add one for the number %u to /etc/passwd",
		    id);
		return 0;
	}
	r = range(&kinds[0], pw.pw_name, id, &m->range[0], why, size);
	return r != 1 ? r :
	    range(&kinds[1], pw.pw_name, id, &m->range[1], why, size);
}

static int
maps_find(struct maps *m, char *why, size_t size)
{
	if (geteuid() != 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
		(void)snprintf(why, size, "this process may gain no rights "
		    "(no_new_privs), and newuidmap needs to; start bailiff "
		    "without it");
		return 0;
	}
	return tools(m, why, size) ? ranges(m, why, size) : 0;
}

int
rootless_possible(char *why, size_t size)
{
	struct userns_fail f;
	struct maps m;

	/* where they give no rights, this one, the cheapest, says so */
	return userns_try(CLONE_NEWUTS, &f) == 0 ? maps_find(&m, why, size) :
	    no_namespace(&f, why, size);
}

/* What has run out may be there again: -1 with *e. */
static int
ran_out(const char *object, int err, struct bl_err *e)
{
	char why[WAY_WHY];

	(void)snprintf(why, sizeof why, "the helper can't be started now: %s",
	    strerror(err));
	(void)way_refused(BL_WAY_ROOTLESS, -err, why, e);
	err_object(e, "%s", object);
	return -1;
}

/* --- the folder of locks ------------------------------------------------- */

/* A folder of this user's own, that lacks the rights in mask for others. */
static int
own_folder(int dir, const char *name, int how, mode_t mask, struct stat *st)
{
	int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | how);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st) == 0 && st->st_uid == geteuid() &&
	    (st->st_mode & mask) == 0)
		return fd;
	(void)close(fd);
	return -EPERM;
}

/*
 * 1: path, which is bailiff's folder in base, can be used; 0: base can't; -1
 * with *e: base can, but the folder is not as it must be.
 */
static int
locks_in(const char *base, char *path, size_t size, struct stat *st,
    struct bl_err *e)
{
	int dir = base[0] != '/' ? -ENOENT :
	    own_folder(AT_FDCWD, base, 0, 022, st);
	int n = snprintf(path, size, "%s/bailiff", base), fd;

	if (way_ran_out(-dir))
		return ran_out(base, -dir, e);
	if (dir < 0 || n <= 0 || (size_t)n >= size) {
		if (dir >= 0)
			(void)close(dir);
		return 0;
	}
	fd = mkdirat(dir, "bailiff", 0700) != 0 && errno != EEXIST ? -errno :
	    own_folder(dir, "bailiff", O_NOFOLLOW, 077, st);
	(void)close(dir);
	if (fd >= 0) {
		(void)close(fd);
		return 1;
	}
	if (way_ran_out(-fd))
		return ran_out(path, -fd, e);
	(void)err_set(e, BL_KIND_SETUP, "slot_locks", "helper/rootless", -fd,
	    "the folder of the slot locks can't be used: %s", fd == -EPERM ?
	    "it is another user's, or others have rights to it" :
	    strerror(-fd));
	err_object(e, "%s", path);
	err_hint(e, "it must be this user's, mode 0700: chmod 700 it, or "
	    "remove it");
	return -1;
}

/* HOME/.local/state, made as the XDG base directory specification wants it. */
static void
state_folder(const char *home, char *path, size_t size)
{
	static const char *const parts[] = { "/.local", "/state" };
	int n = snprintf(path, size, "%s", home);

	for (int i = 0; i < 2; i++) {
		if (n <= 0 || (size_t)n + 8 >= size)
			break;
		n += snprintf(path + n, size - (size_t)n, "%s", parts[i]);
		(void)mkdir(path, 0700);	/* there: fine; else locks_in says */
	}
}

/* All sessions of one user are to have one folder.  0 with path, or -1. */
static int
locks_find(char *path, size_t size, struct stat *st, struct bl_err *e)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char base[4096];
	int r = run == NULL ? 0 : locks_in(run, path, size, st, e);

	if (r == 0) {
		(void)snprintf(base, sizeof base, "/run/user/%u", geteuid());
		r = locks_in(base, path, size, st, e);
	}
	if (r == 0 && state != NULL && state[0] == '/')
		r = locks_in(state, path, size, st, e);
	else if (r == 0 && home != NULL && home[0] == '/') {
		state_folder(home, base, sizeof base);
		r = locks_in(base, path, size, st, e);
	}
	if (r != 0)
		return r > 0 ? 0 : -1;
	(void)err_set(e, BL_KIND_SETUP, "slot_locks", "helper/rootless", 0,
	    "there is no folder for the slot locks: neither XDG_RUNTIME_DIR "
	    "nor HOME names one that is this user's own");
	err_hint(e, "set XDG_RUNTIME_DIR to a folder of mode 0700");
	return -1;
}

/* --- the maps ------------------------------------------------------------ */

/* fd, or a copy of it that no standard stream's number hides.  -1: errno. */
static int
above_stdio(int fd)
{
	int up = fd < 0 || fd > STDERR_FILENO ? fd :
	    fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (up != fd)
		(void)close(fd);
	return up;
}

static int
map_failed(const char *tool, int err, const char *said, struct bl_err *e)
{
	if (way_ran_out(err))
		return ran_out(tool, err, e);
	(void)err_set(e, BL_KIND_SETUP, "id_map", "helper/rootless", err,
	    "the numbers of users or groups could not be mapped: %s",
	    said[0] != '\0' ? said : strerror(err));
	err_object(e, "%s", tool);
	/* login.defs(5) may allow it, so that newuidmap has to say */
	if (strstr(said, " pw_gid:") != NULL)
		err_hint(e, "the first group of this process is not its "
		    "user's: start bailiff outside of newgrp or sg");
	else
		err_hint(e, "see newuidmap(1); ranges are in /etc/subuid and "
		    "/etc/subgid");
	return -1;
}

/*
 * Starts one of the tools: inside 0 is this user, and each slot's number one
 * of the range.  What it says goes to out.  0, or an errno.
 */
static int
map_start(const struct maps *m, int i, pid_t child, int null, int out,
    pid_t *pid)
{
	char text[7][16], name[16];
	char *const argv[] = { name, text[0], text[1], text[2], text[3],
	    text[4], text[5], text[6], NULL };
	char *const env[] = { NULL };
	uint32_t base, n = slots(&base);
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t mask;
	const uint32_t v[] = { (uint32_t)child, 0, i == 0 ? geteuid() :
	    getegid(), 1, base, m->range[i].first, n };
	int r;

	(void)snprintf(name, sizeof name, "%s", kinds[i].tool);
	for (size_t j = 0; j < sizeof v / sizeof v[0]; j++)
		(void)snprintf(text[j], sizeof text[j], "%u", v[j]);
	(void)sigemptyset(&mask);
	if ((r = posix_spawn_file_actions_init(&fa)) != 0)
		return r;
	if ((r = posix_spawnattr_init(&at)) == 0) {
		if ((r = posix_spawn_file_actions_adddup2(&fa, null, 0)) == 0 &&
		    (r = posix_spawn_file_actions_adddup2(&fa, out, 1)) == 0 &&
		    (r = posix_spawn_file_actions_adddup2(&fa, out, 2)) == 0 &&
		    (r = posix_spawnattr_setsigmask(&at, &mask)) == 0 &&
		    (r = posix_spawnattr_setflags(&at,
		    POSIX_SPAWN_SETSIGMASK)) == 0)
			r = posix_spawn(pid, m->tool[i], &fa, &at, argv,
			    env);
		(void)posix_spawnattr_destroy(&at);
	}
	(void)posix_spawn_file_actions_destroy(&fa);
	return r;
}

/* Waits for pid; one that is late, or can't be, is killed.  0, or an errno. */
static int
map_wait(pid_t pid, uint64_t until_ns)
{
	struct pollfd p = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int st = 0, r = 0, late = p.fd < 0 ? errno : ETIMEDOUT;
	uint64_t now;

	while (p.fd >= 0 && r == 0 && (now = now_ns()) < until_ns) {
		r = poll(&p, 1, (int)((until_ns - now) / 1000000 + 1));
		if (r < 0 && errno == EINTR)
			r = 0;
	}
	if (p.fd >= 0)
		(void)close(p.fd);
	if (r <= 0)
		(void)kill(pid, SIGKILL);	/* ours by its real uid */
	while (waitpid(pid, &st, 0) < 0) {
		if (errno == ECHILD)	/* SIGCHLD is ignored here: the child */
			return r <= 0 ? late : 0;	/* will see */
		if (errno != EINTR)
			return errno;
	}
	return r <= 0 ? late : st == 0 ? 0 : EPERM;
}

/* The first line of what a tool said. */
static void
map_said(int out, char *text, size_t size)
{
	ssize_t n = pread(out, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* Both at once: each is some milliseconds' work.  0, or -1 with *e. */
static int
map_both(const struct maps *m, pid_t child, int null, struct bl_err *e)
{
	const uint64_t until = now_ns() + MAP_MS * 1000000ULL;
	int out[2], err[2], bad = -1;
	char said[200] = "";
	pid_t pid[2] = { -1, -1 };

	for (int i = 0; i < 2; i++) {
		out[i] = above_stdio(memfd_create(kinds[i].tool,
		    MFD_CLOEXEC));
		err[i] = out[i] < 0 ? errno :
		    map_start(m, i, child, null, out[i], &pid[i]);
	}
	for (int i = 0; i < 2; i++) {
		if (err[i] == 0)
			err[i] = map_wait(pid[i], until);
		if (err[i] != 0 && bad < 0) {
			bad = i;
			if (out[i] >= 0)
				map_said(out[i], said, sizeof said);
		}
	}
	for (int i = 0; i < 2; i++)
		if (out[i] >= 0)
			(void)close(out[i]);
	return bad < 0 ? 0 : map_failed(m->tool[bad], err[bad], said, e);
}

/* --- the child ----------------------------------------------------------- */

/* Another try of its namespaces, which shows why: -1 with *e, or 0. */
static int
spaces_failed(struct bl_err *e)
{
	struct userns_fail f;
	char why[WAY_WHY];
	int r;

	if (userns_try(CLONE_NEWNS | CLONE_NEWNET, &f) == 0)
		return 0;
	r = no_namespace(&f, why, sizeof why);
	return way_refused(BL_WAY_ROOTLESS, r, why, e);
}

static int
tree_failed(const struct ns_fail *f, const struct ns_plan *p,
    const char *helper, struct bl_err *e)
{
	static const struct { const char *said, *hint; } words[NS_MAX] = {
		[NS_FDS] = { "its descriptors could not be arranged",
		    "see ulimit -n" },
		[NS_SPACES] = { "no mount and network namespaces could be made",
		    "see user.max_mnt_namespaces and user.max_net_namespaces" },
		[NS_IDS] = { "it could not become root in there",
		    "see /etc/subuid and /etc/subgid" },
		[NS_ROOT] = { "its own file tree could not be made",
		    "bailiff needs Linux 5.12 or later" },
		[NS_COPY] = { "the helper could not be copied into its tree",
		    "is there memory left?" },
		[NS_SHOW] = { "a folder of this host could not be put into "
		    "its tree", "this user must be able to open it" },
		[NS_LOCKS] = { "the folder of the slot locks could not be put "
		    "into its tree", "it must be this user's, mode 0700" },
		[NS_PIVOT] = { "its own file tree could not be entered",
		    "in a chroot or an initramfs that is not possible" },
		[NS_EXEC] = { "the helper could not be executed in there",
		    "it must be a static program of this machine's kind" }
	};
	const uint32_t step = f->step < NS_MAX ? f->step : 0;
	const bool now = way_ran_out(f->err);

	if (step == NS_SPACES && spaces_failed(e) != 0)
		return -1;
	(void)err_set(e, now ? BL_KIND_INFRA : BL_KIND_SETUP, now ?
	    "no_resources" : "rootless_start", "helper/rootless", f->err,
	    "the helper's namespace: %s: %s", words[step].said != NULL ?
	    words[step].said : "it failed", strerror(f->err));
	if (step == NS_SHOW && f->object < p->rules->nshows)
		err_object(e, "%s", p->rules->show[f->object].path);
	else
		err_object(e, "%s", step == NS_LOCKS ? p->locks : helper);
	if (words[step].hint != NULL)
		err_hint(e, "%s", words[step].hint);
	return -1;
}

/* Waits for the helper to run: talk is at its end then.  0, or -1 with *e. */
static int
tree_wait(int talk, const struct ns_plan *p, const char *helper,
    struct bl_err *e)
{
	const uint64_t until = now_ns() + TREE_MS * 1000000ULL;
	struct pollfd w = { .fd = talk, .events = POLLIN };
	struct ns_fail f = { 0, 0, 0 };
	uint64_t now;
	ssize_t n = 0;
	int r = 0;

	while (r == 0 && (now = now_ns()) < until) {
		r = poll(&w, 1, (int)((until - now) / 1000000 + 1));
		if (r < 0 && errno == EINTR)
			r = 0;
	}
	if (r > 0)
		n = recv(talk, &f, sizeof f, MSG_DONTWAIT);
	if (r > 0 && (n == 0 || (n < 0 && errno == ECONNRESET)))
		return 0;
	f.err = r > 0 ? f.err : ETIMEDOUT;
	return tree_failed(&f, p, helper, e);
}

/* clone(2) as fork(2) does it, but into a user namespace.  -errno: failed. */
static pid_t
child_make(const struct ns_plan *p)
{
	const struct clone_args a = { .flags = CLONE_NEWUSER,
	    .exit_signal = SIGCHLD };
	sigset_t all, was;
	long pid;
	int r;

	(void)sigfillset(&all);		/* can't fail on a plain set */
	r = pthread_sigmask(SIG_SETMASK, &all, &was);
	if (r != 0)
		return -r;
	pid = syscall(SYS_clone3, &a, sizeof a);
	if (pid == 0)
		nsroot_child(p);
	if (pid < 0)
		pid = -errno;
	(void)pthread_sigmask(SIG_SETMASK, &was, NULL);
	return (pid_t)pid;
}

static void
child_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The plan is made.  0 with *pid, or -1 with *e and nothing left. */
static int
child_run(struct ns_plan *p, const struct maps *m, const char *helper,
    pid_t *pid, struct bl_err *e)
{
	int sv[2], r;
	char why[WAY_WHY];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		return err_set(e, BL_KIND_INFRA, "no_descriptors",
		    "helper/socket", errno, "no socket: %s", strerror(errno));
	p->talk = sv[1];
	*pid = child_make(p);
	(void)close(sv[1]);
	if (*pid < 0) {
		r = no_namespace(&(struct userns_fail){ -*pid, CLONE_NEWUSER },
		    why, sizeof why);
		r = way_refused(BL_WAY_ROOTLESS, r, why, e);
	} else {
		r = map_both(m, *pid, p->null, e);
		/* one that is gone already has said why */
		if (r == 0 && send(sv[0], "", 1, MSG_NOSIGNAL) != 1 &&
		    errno != EPIPE && errno != ECONNRESET)
			r = map_failed("socket", errno, "", e);
		if (r == 0)
			r = tree_wait(sv[0], p, helper, e);
		if (r != 0)
			child_end(*pid);
	}
	(void)close(sv[0]);
	if (r != 0)
		*pid = -1;
	return r;
}

static int
no_helper(const char *path, int err, struct bl_err *e)
{
	if (way_ran_out(err))
		return ran_out(path, err, e);
	(void)err_set(e, BL_KIND_SETUP, "helper_start", "helper/rootless", err,
	    "the helper can't be copied: %s", err == EFBIG ?
	    "it is no plain file of a helper's size" : strerror(err));
	err_object(e, "%s", path);
	err_hint(e, "this user must be able to read it: name one that was "
	    "built here by BAILIFF_HELPER, with --way rootless");
	return -1;
}

/* A file that can be the helper: its descriptor, or -errno. */
static int
helper_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= HELPER_MAX)
		return fd;
	(void)close(fd);
	return -EFBIG;
}

/* The helper runs at nice 0, and no root of a namespace may lower it. */
static int
too_nice(struct bl_err *e)
{
	const int nice = getpriority(PRIO_PROCESS, 0);
	struct rlimit v;

	if (nice <= 0 || (getrlimit(RLIMIT_NICE, &v) == 0 && v.rlim_cur >= 20))
		return 0;
	(void)err_set(e, BL_KIND_SETUP, "limits_too_low", "helper/rootless", 0,
	    "this process runs at nice %d, and the helper could not leave it",
	    nice);
	err_hint(e, "start bailiff without nice(1)");
	return -1;
}

int
rootless_exec(const char *path, int sock, pid_t *pid, struct bl_err *e)
{
	struct ns_plan p = { .sock = sock, .rules = &bl_rules_default };
	char why[WAY_WHY], locks[4096];
	struct maps m;
	int r;

	*pid = -1;
	r = maps_find(&m, why, sizeof why);
	if (r != 1)
		return way_refused(BL_WAY_ROOTLESS, r, why, e);
	p.locks = locks;
	if (too_nice(e) != 0 ||
	    locks_find(locks, sizeof locks, &p.locks_st, e) != 0)
		return -1;
	p.helper = helper_open(path);
	if (p.helper < 0)
		return no_helper(path, -p.helper, e);
	p.null = above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));
	r = p.null < 0 ? no_helper("/dev/null", errno, e) :
	    child_run(&p, &m, path, pid, e);
	if (p.null >= 0)
		(void)close(p.null);
	(void)close(p.helper);
	return r;
}

/* --- folders ------------------------------------------------------------- */

int
rootless_place(pid_t pid, int fd)
{
	static const struct open_how how = {
	    .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	char name[64], path[4096];
	struct stat st, was;
	int host, got;
	ssize_t n;

	(void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	n = readlink(name, path, sizeof path - 1);
	if (n < 2 || (size_t)n >= sizeof path - 1 || path[0] != '/' ||
	    fstat(fd, &was) != 0)
		return -ESTALE;
	path[n] = '\0';
	(void)snprintf(name, sizeof name, "/proc/%d/root" NSROOT_HOST, pid);
	host = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (host < 0)
		return -errno;
	got = (int)syscall(SYS_openat2, host, path + 1, &how, sizeof how);
	(void)close(host);
	/* moved meanwhile, or mounted since: another one is there */
	if (got >= 0 && fstat(got, &st) == 0 && st.st_dev == was.st_dev &&
	    st.st_ino == was.st_ino)
		return got;
	if (got >= 0)
		(void)close(got);
	return -ESTALE;
}

/* Ways in: finds the helper, starts it, and tells how it ended. */
#include "ways.h"

#include "absent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "bare.h"
#include "rootless.h"

#ifndef BL_HELPER_PATH
#define BL_HELPER_PATH "/usr/local/libexec/bailiff/bailiff-helper"
#endif
#ifndef BL_SOCKET_PATH
#define BL_SOCKET_PATH "/run/bailiff.sock"
#endif

static const char *const names[] = {
	[BL_WAY_NONE] = "auto", [BL_WAY_SETUID] = "setuid",
	[BL_WAY_ROOT] = "root", [BL_WAY_CAPS] = "capabilities",
	[BL_WAY_SOCKET] = "socket", [BL_WAY_ROOTLESS] = "rootless",
	[BL_WAY_BWRAP] = "bwrap", [BL_WAY_PLAIN] = "plain"
};

const char *
way_name(enum bl_way way)
{
	return (size_t)way < sizeof names / sizeof names[0] ? names[way] : NULL;
}

int
way_number(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

/* --- which one ----------------------------------------------------------- */

bool
way_beside(char *path, size_t size)
{
	static const char name[] = "bailiff-helper";
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (n <= 0 || (size_t)n >= size - 1)
		return false;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL ||
	    (size_t)(slash + 1 - path) + sizeof name > size)
		return false;
	memcpy(slash + 1, name, sizeof name);
	return access(path, F_OK) == 0;
}

/*
 * A name from the environment, or the usual one.  It counts whenever something
 * is there, or can't be looked at: what this user may not use is an error
 * then, not a reason to look further.
 */
static bool
installed(const char *var, const char *usual, char *path, size_t size)
{
	const char *named = getenv(var);
	bool given = named != NULL && named[0] != '\0';
	int n = snprintf(path, size, "%s", given ? named : usual);

	/* one that was named counts in any case: cut short it can't be found,
	   which its start will say */
	return given || (n > 0 && (size_t)n < size &&
	    !path_absent(path, NULL));
}

/* Whether the file at path has the bit or the capabilities. */
static bool
has_rights(const char *path, bool *by_caps)
{
	struct stat st;

	*by_caps = getxattr(path, "security.capability", NULL, 0) > 0;
	return *by_caps || (stat(path, &st) == 0 && (st.st_mode & S_ISUID) != 0);
}

/*
 * Whether a helper at path can come by rights when this process runs it.  Only
 * to choose between two ways that are both installed: the helper itself is the
 * one that looks.
 */
static bool
can_gain(const char *path, bool *by_caps)
{
	bool rights = has_rights(path, by_caps);
	struct statvfs fs;

	return geteuid() == 0 || (rights && statvfs(path, &fs) == 0 &&
	    (fs.f_flag & ST_NOSUID) == 0 &&
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
}

/* One that is not there, or can't be looked at, does not lack rights alone. */
static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool
socket_there(char *path, size_t size)
{
	return installed("BAILIFF_SOCKET", BL_SOCKET_PATH, path, size);
}

static int
missing(struct bl_err *e)
{
	(void)err_set(e, BL_KIND_SETUP, "helper_missing", "helper/find", ENOENT,
	    "the helper is not installed");
	err_object(e, "%s", BL_HELPER_PATH);
	err_hint(e, "run " BL_INSTALL ", or see bailiff doctor for what else "
	    "this host can do");
	return -1;
}

/* The helper that is installed, or the one that came with this program. */
static bool
helper_there(struct way *w)
{
	return installed("BAILIFF_HELPER", BL_HELPER_PATH, w->path,
	    sizeof w->path) || way_beside(w->path, sizeof w->path);
}

bool
way_helper(char *path, size_t size, bool *is_installed)
{
	*is_installed = installed("BAILIFF_HELPER", BL_HELPER_PATH, path, size);
	if (*is_installed || way_beside(path, size))
		return true;
	(void)snprintf(path, size, "%s", BL_HELPER_PATH);
	return false;
}

bool
way_socket(char *path, size_t size)
{
	return socket_there(path, size);
}

bool
way_ran_out(int err)
{
	return err == EAGAIN || err == ENOMEM || err == EMFILE || err == ENFILE;
}

/* Of "REASON" or "REASON; REMEDY". */
static int
reason_length(const char *why)
{
	const char *fix = strstr(why, "; ");

	return fix != NULL ? (int)(fix - why) : (int)strlen(why);
}

int
way_impossible(enum bl_way way, const char *why, struct bl_err *e)
{
	const char *name = way_name(way), *fix = strstr(why, "; ");

	(void)err_set(e, BL_KIND_SETUP, "way_missing", "helper/find", 0,
	    "the way %s can't be used here: %.*s", name != NULL ? name : "",
	    reason_length(why), why);
	if (fix != NULL)
		err_hint(e, "%s", fix + 2);
	return -1;
}

/* What has run out now may be there soon: no reason for a weaker way. */
int
way_refused(enum bl_way way, int r, const char *why, struct bl_err *e)
{
	const char *fix = strstr(why, "; ");

	if (r == 0)
		return way_impossible(way, why, e);
	(void)err_set(e, BL_KIND_INFRA, "no_resources", "helper/find", r,
	    "%.*s", reason_length(why), why);
	if (fix != NULL)
		err_hint(e, "%s", fix + 2);
	else
		err_hint(e, "wait for other runs to end, or raise what bounds "
		    "it: see ulimit -a, and the cgroup's pids.max");
	return -1;
}

/* What has no helper gives no users of their own, or nothing at all. */
static int
bare(const struct way_ask *ask, struct way *w, struct bl_err *e)
{
	uint32_t lacks = w->way == BL_WAY_PLAIN ? BL_NEED_FULL : BL_NEED_UID;

	w->path[0] = '\0';
	if (w->way == BL_WAY_PLAIN && (!ask->need_given || ask->need != 0)) {
		(void)err_set(e, BL_KIND_SETUP, "way_too_weak", "helper/find",
		    0, "plain processes are held by nothing");
		err_hint(e, "if that is meant, add --require none");
		return -1;
	}
	if (ask->need_given && (ask->need & lacks) != 0) {
		(void)err_set(e, BL_KIND_SETUP, "way_too_weak", "helper/find",
		    0, "bwrap gives no user of its own to a cell, and "
		    "--require names uid");
		err_hint(e, "install the helper: " BL_INSTALL "; or leave uid "
		    "out of --require");
		return -1;
	}
	w->waived = lacks;
	return 0;
}

/* One that was named. */
static int
way_named(const struct way_ask *ask, struct way *w, struct bl_err *e)
{
	char why[WAY_WHY] = "";
	bool caps = false, own;
	int r;

	w->way = ask->way;
	switch (ask->way) {
	case BL_WAY_SOCKET:
		return socket_there(w->path, sizeof w->path) ? 0 :
		    way_impossible(w->way, "nothing listens at " BL_SOCKET_PATH,
		    e);
	case BL_WAY_ROOT:
		if (geteuid() != 0)
			return way_impossible(w->way, "this is not root", e);
		return helper_there(w) ? 0 : missing(e);
	case BL_WAY_ROOTLESS:
		r = rootless_possible(why, sizeof why);
		if (r != 1)
			return way_refused(w->way, r, why, e);
		return helper_there(w) ? 0 : missing(e);
	case BL_WAY_BWRAP:
		if (!bare_found(why, sizeof why))
			return way_impossible(w->way, why, e);
		return bare(ask, w, e);
	case BL_WAY_PLAIN:
		return bare(ask, w, e);
	case BL_WAY_SETUID:
	case BL_WAY_CAPS:
	case BL_WAY_NONE:
	default:
		if (geteuid() == 0)
			return way_impossible(w->way, "this is root already", e);
		own = !installed("BAILIFF_HELPER", BL_HELPER_PATH, w->path,
		    sizeof w->path);
		if (own && !way_beside(w->path, sizeof w->path))
			return missing(e);
		/* a build's own has no rights before it is installed */
		if (!has_rights(w->path, &caps) && own)
			return missing(e);
		return caps == (w->way == BL_WAY_CAPS) ? 0 : way_impossible(
		    w->way, caps ? "the helper has file capabilities" :
		    "the helper has no file capabilities", e);
	}
}

/* A helper that is installed, or its socket: these count even if they fail. */
static bool
way_installed(struct way *w)
{
	char sock[sizeof w->path];
	bool have = socket_there(sock, sizeof sock), caps;

	if (installed("BAILIFF_HELPER", BL_HELPER_PATH, w->path,
	    sizeof w->path)) {
		bool gains = can_gain(w->path, &caps);

		w->way = geteuid() == 0 ? BL_WAY_ROOT : caps ? BL_WAY_CAPS :
		    BL_WAY_SETUID;
		if (gains || !have || !is_file(w->path))
			return true;
	}
	if (!have)
		return false;
	w->way = BL_WAY_SOCKET;
	(void)snprintf(w->path, sizeof w->path, "%s", sock);
	return true;
}

int
way_choose(const struct way_ask *ask, struct way *w, struct bl_err *e)
{
	char why[WAY_WHY] = "";
	bool have, caps;
	int r;

	*w = (struct way){ .way = BL_WAY_NONE };
	if (ask->way != BL_WAY_NONE)
		return way_named(ask, w, e);
	if (way_installed(w))
		return 0;
	have = way_beside(w->path, sizeof w->path);
	/* one that was given rights is installed: its start says if it has none */
	if (have && (has_rights(w->path, &caps) || geteuid() == 0)) {
		w->way = geteuid() == 0 ? BL_WAY_ROOT : caps ? BL_WAY_CAPS :
		    BL_WAY_SETUID;
		return 0;
	}
	(void)snprintf(w->passed, sizeof w->passed, "no helper is installed");
	r = have ? rootless_possible(why, sizeof why) : 0;
	if (r < 0)
		return way_refused(BL_WAY_ROOTLESS, r, why, e);
	if (r == 1) {
		w->way = BL_WAY_ROOTLESS;
		return 0;
	}
	if (why[0] != '\0')
		(void)snprintf(w->passed, sizeof w->passed, "no helper is "
		    "installed, and rootless: %s", why);
	/* if it can't, its first cell tells why: nothing weaker comes after it */
	w->way = BL_WAY_BWRAP;
	if (bare_found(why, sizeof why))
		return bare(ask, w, e);
	w->way = BL_WAY_PLAIN;
	return ask->plain && ask->need_given && ask->need == 0 ?
	    bare(ask, w, e) : missing(e);
}

bool
way_warning(const struct way *w, char *text, size_t size)
{
	if (w->way == BL_WAY_BWRAP)
		(void)snprintf(text, size, "cells are made by bwrap: each has "
		    "namespaces of its own, %s (%s)", bare_users() ?
		    "and a user, which nothing proves" :
		    "but all have one user",
		    w->passed[0] != '\0' ? w->passed : "by --way");
	else if (w->way == BL_WAY_PLAIN)
		(void)snprintf(text, size, "plain processes: nothing keeps "
		    "judge and answer from each other, or from your files");
	else
		return false;
	return true;
}

int
way_host_net(enum bl_way way, struct bl_err *e)
{
	if (way != BL_WAY_ROOTLESS && way != BL_WAY_BWRAP)
		return 0;
	(void)err_set(e, BL_KIND_SETUP, "way_too_weak", "cell/network", 0,
	    "the way %s can't give a cell the host's network", way_name(way));
	err_hint(e, "install the helper: " BL_INSTALL "; or leave out "
	    "--judge-net host");
	return -1;
}

/* --- starting it --------------------------------------------------------- */

/* true: path is what BAILIFF_HELPER names, and there is no program at all. */
static bool
named_wrongly(const char *path)
{
	const char *named = getenv("BAILIFF_HELPER");
	struct stat st;

	return named != NULL && strcmp(named, path) == 0 &&
	    (stat(path, &st) != 0 ? errno == ENOENT || errno == ENOTDIR :
	    !S_ISREG(st.st_mode));
}

static int
start_failed(const char *path, int err, struct bl_err *e)
{
	(void)err_set(e, BL_KIND_SETUP,
	    err == ENOENT ? "helper_missing" : "helper_start", "helper/exec",
	    err, "the helper can't be started: %s", strerror(err));
	err_object(e, "%s", path);
	if (named_wrongly(path))
		err_hint(e, "BAILIFF_HELPER names it: unset BAILIFF_HELPER");
	else if (err == EACCES)
		err_hint(e, "only its group may run it: adduser USER bailiff, "
		    "and log in again");
	else if (err == ENOENT)
		err_hint(e, "run " BL_INSTALL);
	else if (err == EPERM &&
	    getxattr(path, "security.capability", NULL, 0) > 0)
		err_hint(e, "its file capabilities name one that this machine "
		    "can't give: install it with those that it can; see "
		    "bailiff doctor");
	return -1;
}

enum { CHILD_STACK = 8192, CONNECT_MS = 5000, CONNECT_NAP_MS = 10 };

struct child {
	const char *path;
	int	 sock, null;
	int	 err;			/* 0 once the helper runs */
};

/*
 * In the parent's memory, and on a stack of its own, until it executes: plain
 * system calls alone.  Signals stay blocked, so that no handler of this
 * program runs here: the helper sets all of them and the mask by itself.
 */
static int
child(void *arg)
{
	static char name[] = "bailiff-helper";
	char *const argv[] = { name, NULL }, *const env[] = { NULL };
	struct child *c = arg;
	/* above all that is replaced, wherever they are */
	int sock = fcntl(c->sock, F_DUPFD, BL_SESSION_FD + 1);
	int null = fcntl(c->null, F_DUPFD, BL_SESSION_FD + 1);

	/*
	 * A session of its own: the terminal's ^C is for the client, which
	 * then ends the helper in good order.
	 */
	if (sock >= 0 && null >= 0 && setsid() >= 0 &&
	    dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2 &&
	    dup2(sock, BL_SESSION_FD) == BL_SESSION_FD &&
	    close_range(BL_SESSION_FD + 1, ~0U, 0) == 0)
		(void)execve(c->path, argv, env);
	c->err = errno;
	_exit(127);
}

/*
 * clone(2) as vfork(2) does it: this process goes on once the helper executes
 * or has failed.  posix_spawn(3) would do the same with 200 more system calls.
 */
int
way_exec(const char *path, int sock, pid_t *pid, struct bl_err *e)
{
	_Alignas(16) char stack[CHILD_STACK];
	struct child c = { .path = path, .sock = sock,
	    .null = open("/dev/null", O_RDWR | O_CLOEXEC) };
	sigset_t all, was;
	int r;

	if (c.null < 0)
		return start_failed(path, errno, e);
	(void)sigfillset(&all);		/* can't fail on a plain set */
	r = pthread_sigmask(SIG_SETMASK, &all, &was);
	if (r == 0) {
		*pid = clone(child, stack + sizeof stack,
		    CLONE_VM | CLONE_VFORK | SIGCHLD, &c);
		r = *pid < 0 ? errno : c.err;
		(void)pthread_sigmask(SIG_SETMASK, &was, NULL);
		if (*pid > 0 && r != 0)
			while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
				;
	}
	(void)close(c.null);
	return r == 0 ? 0 : start_failed(path, r, e);
}

/* Whoever listens there starts a helper for each connection. */
static int
way_connect(const char *path, int *sock, struct bl_err *e)
{
	const struct timespec nap = { .tv_nsec = CONNECT_NAP_MS * 1000000L };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int err = ENAMETOOLONG, r, left = CONNECT_MS / CONNECT_NAP_MS;

	*sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	if (*sock < 0)
		return err_set(e, BL_KIND_INFRA, "no_descriptors",
		    "helper/socket", errno, "no socket: %s", strerror(errno));
	if (strlen(path) < sizeof to.sun_path) {
		memcpy(to.sun_path, path, strlen(path) + 1);
		/* EAGAIN: too many wait there already; connect(2) would, too */
		while ((r = connect(*sock, (struct sockaddr *)&to,
		    sizeof to)) != 0 && (errno == EAGAIN || errno == EINTR) &&
		    left-- > 0)
			(void)nanosleep(&nap, NULL);
		err = errno;
		if (r == 0 && fcntl(*sock, F_SETFL, 0) == 0)
			return 0;
	}
	(void)close(*sock);
	*sock = -1;
	if (err == EAGAIN)
		return err_set(e, BL_KIND_INFRA, "helper_silent",
		    "helper/connect", err, "nobody has taken a connection to "
		    "the helper's socket within %d s", CONNECT_MS / 1000);
	(void)err_set(e, BL_KIND_SETUP, "helper_socket", "helper/connect", err,
	    "the helper's socket can't be used: %s", strerror(err));
	err_object(e, "%s", path);
	if (err == EACCES || err == EPERM)
		err_hint(e, "only its group may use it: adduser USER bailiff, "
		    "and log in again");
	else
		err_hint(e, "as root: systemctl enable --now bailiff.socket");
	return -1;
}

int
way_start(const struct way *w, int *sock, pid_t *pid, struct bl_err *e)
{
	int sv[2], r;

	*sock = *pid = -1;
	if (w->way == BL_WAY_SOCKET)
		return way_connect(w->path, sock, e);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		return err_set(e, BL_KIND_INFRA, "no_descriptors",
		    "helper/socket", errno, "no socket: %s", strerror(errno));
	r = w->way == BL_WAY_ROOTLESS ? rootless_exec(w->path, sv[1], pid, e) :
	    way_exec(w->path, sv[1], pid, e);
	(void)close(sv[1]);
	if (r != 0) {
		(void)close(sv[0]);
		*pid = -1;
		return -1;
	}
	*sock = sv[0];
	return 0;
}

/* --- its end ------------------------------------------------------------- */

/* 1: it ended, *si tells how; 0: it still runs; -1: it can't be waited for. */
static int
wait_end(pid_t pid, unsigned wait_ms, siginfo_t *si)
{
	struct pollfd p = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int r;

	memset(si, 0, sizeof *si);
	if (p.fd < 0)
		return -1;
	do
		r = poll(&p, 1, (int)wait_ms);
	while (r < 0 && errno == EINTR);
	if (r > 0)
		r = waitid(P_PIDFD, (id_t)p.fd, si, WEXITED | WNOHANG) == 0 &&
		    si->si_pid == pid ? 1 : -1;
	(void)close(p.fd);
	return r;
}

void
way_left(pid_t pid, unsigned wait_ms)
{
	siginfo_t si;

	if (pid > 0)
		(void)wait_end(pid, wait_ms, &si);
}

int
way_ended(pid_t pid, unsigned wait_ms, struct bl_err *e)
{
	siginfo_t si;
	int r = pid > 0 ? wait_end(pid, wait_ms, &si) : -1;

	if (r == 0) {
		/* Works for root's own; a set-uid one ends with its socket. */
		(void)kill(pid, SIGKILL);
		r = wait_end(pid, 500, &si);
		return err_set(e, BL_KIND_INFRA, "helper_silent", "helper", 0,
		    r > 0 ? "the helper was silent and was killed" :
		    "the helper is silent");
	}
	if (r < 0)
		return err_set(e, BL_KIND_INFRA, "helper_gone", "helper", 0,
		    "the helper is gone");
	if (si.si_code != CLD_EXITED)
		return err_set(e, BL_KIND_INFRA, "helper_gone", "helper", 0,
		    "the helper was killed by signal %d", si.si_status);
	if (si.si_status == 0)
		return err_set(e, BL_KIND_INFRA, "helper_gone", "helper", 0,
		    "the helper ended the session");
	return err_at(e, (uint32_t)si.si_status, 0, 0);
}

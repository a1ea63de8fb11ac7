/* Ways in: finds the helper, starts it, and tells how it ended. */
#include "ways.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../policy/proto.h"

#ifndef BL_HELPER_PATH
#define BL_HELPER_PATH "/usr/local/libexec/bailiff/bailiff-helper"
#endif

/* 1: path now names "bailiff-helper" beside the running program. */
static int
beside(char *path, size_t size)
{
	static const char name[] = "bailiff-helper";
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (n <= 0 || (size_t)n >= size - 1)
		return 0;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL ||
	    (size_t)(slash + 1 - path) + sizeof name > size)
		return 0;
	memcpy(slash + 1, name, sizeof name);
	return access(path, F_OK) == 0;
}

int
way_find(char *path, size_t size, struct bl_err *e)
{
	const char *named = getenv("BAILIFF_HELPER");
	int n;

	if (named != NULL && named[0] != '\0') {
		n = snprintf(path, size, "%s", named);
		if (n > 0 && (size_t)n < size)
			return 0;
		return err_set(e, BL_KIND_SETUP, "helper_missing",
		    "helper/find", ENAMETOOLONG, "BAILIFF_HELPER is too long");
	}
	/*
	 * An installed helper counts whenever it is there: one that may not be
	 * run by this user is an error then, not a reason to look further.
	 */
	n = snprintf(path, size, "%s", BL_HELPER_PATH);
	if (n > 0 && (size_t)n < size &&
	    (access(path, F_OK) == 0 || errno != ENOENT))
		return 0;
	if (beside(path, size))
		return 0;
	(void)err_set(e, BL_KIND_SETUP, "helper_missing", "helper/find", ENOENT,
	    "the helper is not installed");
	err_object(e, "%s", BL_HELPER_PATH);
	err_hint(e, "run sudo make install (as root: make install); root may "
	    "set BAILIFF_HELPER to the path of one instead");
	return -1;
}

static int
start_failed(const char *path, int err, struct bl_err *e)
{
	(void)err_set(e, BL_KIND_SETUP,
	    err == ENOENT ? "helper_missing" : "helper_start", "helper/exec",
	    err, "the helper can't be started: %s", strerror(err));
	err_object(e, "%s", path);
	if (err == EACCES)
		err_hint(e, "only its group may run it: adduser USER bailiff, "
		    "and log in again");
	else if (err == ENOENT)
		err_hint(e, "run sudo make install (as root: make install)");
	return -1;
}

enum { CHILD_STACK = 8192 };

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
way_start(const char *path, int sock, pid_t *pid, struct bl_err *e)
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

int
way_ended(pid_t pid, unsigned wait_ms, struct bl_err *e)
{
	siginfo_t si;
	int r = pid > 0 ? wait_end(pid, wait_ms, &si) : -1;

	if (r == 0) {
		/* Works for root's own; a set-uid one ends by its own clock. */
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

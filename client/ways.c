/* Ways in: finds the helper, starts it, and tells how it ended. */
#include "ways.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
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
	err_hint(e, "run make install as root, or set BAILIFF_HELPER to the "
	    "helper's path when you are root");
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
		err_hint(e, "the helper's group (bailiff) may run it: be a "
		    "member, and log in anew");
	else if (err == ENOENT)
		err_hint(e, "run make install as root");
	return -1;
}

int
way_start(const char *path, int sock, pid_t *pid, struct bl_err *e)
{
	char name[] = "bailiff-helper";
	char *const argv[] = { name, NULL }, *const env[] = { NULL };
	posix_spawn_file_actions_t acts;
	posix_spawnattr_t attr;
	sigset_t none, ours;
	int err;

	err = posix_spawn_file_actions_init(&acts);
	if (err != 0)
		return start_failed(path, err, e);
	err = posix_spawnattr_init(&attr);
	if (err != 0) {
		(void)posix_spawn_file_actions_destroy(&acts);
		return start_failed(path, err, e);
	}
	(void)sigemptyset(&none);	/* can't fail on a plain set */
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGPIPE);	/* the client ignores it */
	/*
	 * A session of its own: the terminal's ^C is for this process, which
	 * then ends the helper in good order.
	 */
	if ((err = posix_spawn_file_actions_adddup2(&acts, sock,
	    BL_SESSION_FD)) == 0 &&
	    (err = posix_spawn_file_actions_addclosefrom_np(&acts,
	    BL_SESSION_FD + 1)) == 0 &&
	    (err = posix_spawn_file_actions_addopen(&acts, 0, "/dev/null",
	    O_RDWR, 0)) == 0 &&
	    (err = posix_spawn_file_actions_adddup2(&acts, 0, 1)) == 0 &&
	    (err = posix_spawn_file_actions_adddup2(&acts, 0, 2)) == 0 &&
	    (err = posix_spawnattr_setsigmask(&attr, &none)) == 0 &&
	    (err = posix_spawnattr_setsigdefault(&attr, &ours)) == 0 &&
	    (err = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
	    POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID)) == 0)
		err = posix_spawn(pid, path, &acts, &attr, argv, env);
	(void)posix_spawn_file_actions_destroy(&acts);
	(void)posix_spawnattr_destroy(&attr);
	return err == 0 ? 0 : start_failed(path, err, e);
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

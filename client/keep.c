/* Cells that outlive this process, for somebody to look at. */
#include "keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FDS_MAX = KEEP_MAX + 2, PIPE_MS = 5000 };

/* --- the holder ---------------------------------------------------------- */

/* Closes everything from descriptor 3 on but the n of keep.  0, or -1. */
static int
close_others(const int *keep, unsigned n)
{
	unsigned from = 3;

	for (;;) {
		unsigned next = ~0U;

		for (unsigned i = 0; i < n; i++)
			if ((unsigned)keep[i] >= from &&
			    (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next > from && close_range(from, next == ~0U ? next :
		    next - 1, 0) != 0)
			return -1;
		if (next == ~0U)
			return 0;
		from = next + 1;
	}
}

/* Nothing of its maker's: no terminal, stream, folder, handler or mask. */
static int
settle(int *keep, unsigned n)
{
	static const struct sigaction act = { .sa_handler = SIG_DFL };
	sigset_t none;
	int null;

	for (unsigned i = 0; i < n; i++)	/* -1: there is no session */
		if (keep[i] >= 0 &&
		    (keep[i] = fcntl(keep[i], F_DUPFD_CLOEXEC, 3)) < 0)
			return -1;
	for (int s = 1; s <= SIGRTMAX; s++)
		(void)sigaction(s, &act, NULL);	/* KILL, STOP: they are so */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_NAME, "bailiff-holder");
	null = open("/dev/null", O_RDWR);
	if (null < 0 || chdir("/") != 0)
		return -1;
	for (int fd = 0; fd < 3; fd++)
		if (dup2(null, fd) != fd)
			return -1;
	return close_others(keep, n);
}

/* fd[0] is the session, or -1; the rest are the owner sockets. */
static void
hold(const int *fd, unsigned n)
{
	struct pollfd p[FDS_MAX] = { { .fd = -1 } };
	unsigned open = n - 1;

	for (unsigned i = 0; i < n; i++)
		p[i] = (struct pollfd){ .fd = fd[i] };
	while (open > 0 && p[0].revents == 0) {
		if (poll(p, n, -1) < 0 && errno != EINTR)
			return;
		for (unsigned i = 1; i < n; i++)
			if (p[i].fd >= 0 && p[i].revents != 0) {
				p[i].fd = -1;
				open--;
			}
	}
}

/*
 * A grandchild, so that its end is nobody's business but its own.  The last of
 * the n descriptors is where it tells that it is ready.
 */
static void
become(int *fd, unsigned n)
{
	pid_t pid;
	char go;

	if (setsid() < 0 || fork() != 0)
		_exit(0);
	pid = getpid();
	/* whoever has not waited for this has told that nothing is kept */
	if (settle(fd, n) != 0 ||
	    write(fd[n - 1], &pid, sizeof pid) != (ssize_t)sizeof pid ||
	    read(fd[n - 1], &go, 1) != 1)
		_exit(1);
	(void)close(fd[n - 1]);
	hold(fd, n - 1);
	_exit(0);
}

/* Its process, or -errno.  fd has room for one more than n. */
static pid_t
holder_start(int *fd, unsigned n)
{
	struct pollfd p = { .events = POLLIN };
	int tell[2];
	pid_t child, pid = -ECHILD;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, tell) != 0)
		return -errno;
	fd[n] = tell[1];
	child = fork();
	if (child == 0)
		become(fd, n + 1);
	if (child < 0)
		pid = -errno;
	(void)close(tell[1]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	p.fd = tell[0];
	if (child > 0 && (poll(&p, 1, PIPE_MS) <= 0 ||
	    read(tell[0], &pid, sizeof pid) != (ssize_t)sizeof pid ||
	    send(tell[0], "", 1, MSG_NOSIGNAL) != 1))
		pid = -ECHILD;
	(void)close(tell[0]);
	return pid;
}

/* --- where the cells are ------------------------------------------------- */

/* The parent of a process, or -1. */
static pid_t
parent_of(pid_t pid)
{
	char path[40], text[512];
	const char *at;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strrchr(text, ')');	/* a name may hold anything else */
	return at == NULL || strlen(at) < 5 ? -1 :
	    (pid_t)strtol(at + 4, NULL, 10);
}

/* 1: pid's process namespace is that one; 0: another; -1: not for us to see. */
static int
is_in(pid_t pid, uint64_t pidns)
{
	char path[40];
	struct stat st;

	(void)snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
	return stat(path, &st) != 0 ? -1 : st.st_ino == pidns;
}

/* The helper's (or bwrap's) child that is process 1 of the nth cell, or 0. */
static pid_t
init_of(pid_t helper, uint64_t pidns, unsigned nth)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	pid_t found = 0;

	/* by the socket: it is somebody else's child */
	while (helper > 0 && d != NULL && found == 0 && (de = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(de->d_name, NULL, 10);
		int in;

		if (pid <= 0 || parent_of(pid) != helper)
			continue;
		in = is_in(pid, pidns);
		/* in the order that they were made, where that is all */
		if (in == 1 || (in < 0 && nth-- == 0))
			found = pid;
	}
	if (d != NULL)
		(void)closedir(d);
	return found;
}

int
keep_cells(struct bl_helper *h, struct bl_cell *const *c,
    const uint64_t *pidns, unsigned n, struct kept *k, struct bl_err *e)
{
	static const char *const names[BL_ROLE_MAX] = {
		[BL_ROLE_JUDGE] = "judge", [BL_ROLE_ANSWER] = "answer"
	};
	int fd[FDS_MAX] = { h->sock };
	pid_t pid;

	memset(k, 0, sizeof *k);
	for (unsigned i = 0; i < n && i < KEEP_MAX; i++, k->n++) {
		const char *name = c[i]->role < BL_ROLE_MAX ?
		    names[c[i]->role] : NULL;

		fd[1 + i] = c[i]->owner;
		k->cell[i].whose = name == NULL ? "command" : name;
		k->cell[i].uid = c[i]->info.uid;
		k->cell[i].init = h->way.way == BL_WAY_PLAIN ? c[i]->pid :
		    h->way.way == BL_WAY_BWRAP ?
		    init_of(c[i]->pid, pidns[i], 0) :
		    init_of(h->pid, pidns[i], i);
	}
	pid = holder_start(fd, 1 + k->n);
	if (pid < 0)
		return err_set(e, BL_KIND_INFRA, "keep_failed", "keep", pid,
		    "no process could be started that keeps the cells: %s",
		    strerror(-pid));
	k->holder = pid;
	for (unsigned i = 0; i < k->n; i++) {
		c[i]->pid = -1;		/* it is not to end now */
		cgroup_leave(&c[i]->group);
		cell_close(c[i]);
	}
	helper_leave(h);
	return 0;
}

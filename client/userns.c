/* User namespaces: whether one can be had here, and if not, why. */
#include "userns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor_read.h"
#include "ways.h"

enum { TRY_STACK = 16384, LIMIT_USUAL = 15000 };

#define APPARMOR "kernel/apparmor_restrict_unprivileged_userns"

/* In the order of a try: the second is the cheapest that needs a right. */
static const struct space { int flag; const char *name, *word; } row[] = {
	{ CLONE_NEWUSER, "user", "user" }, { CLONE_NEWUTS, "uts", "UTS" },
	{ CLONE_NEWIPC, "ipc", "IPC" }, { CLONE_NEWCGROUP, "cgroup", "cgroup" },
	{ CLONE_NEWPID, "pid", "PID" }, { CLONE_NEWNS, "mnt", "mount" },
	{ CLONE_NEWNET, "net", "network" }
};
enum { ROWS = sizeof row / sizeof row[0] };

/* --- whether ------------------------------------------------------------- */

struct try {
	int	 spaces;
	struct userns_fail f;
};

/* In its parent's memory, on a stack of its own: plain system calls alone. */
static int
try_child(void *arg)
{
	struct try *t = arg;

	for (int i = 1; i < ROWS && t->f.err == 0; i++)
		if ((t->spaces & row[i].flag) != 0 && unshare(row[i].flag) != 0)
			t->f = (struct userns_fail){ errno, row[i].flag };
	_exit(0);
}

int
userns_try(int spaces, struct userns_fail *f)
{
	_Alignas(16) char stack[TRY_STACK];
	struct try t = { .spaces = spaces, .f = { 0, CLONE_NEWUSER } };
	sigset_t all, was;
	pid_t pid;

	(void)sigfillset(&all);		/* can't fail on a plain set */
	t.f.err = pthread_sigmask(SIG_SETMASK, &all, &was);
	if (t.f.err == 0) {
		pid = clone(try_child, stack + sizeof stack, CLONE_NEWUSER |
		    CLONE_VM | CLONE_VFORK | SIGCHLD, &t);
		if (pid < 0)
			t.f.err = errno;
		(void)pthread_sigmask(SIG_SETMASK, &was, NULL);
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	*f = t.f;
	return f->err == 0 ? 0 : -1;
}

/* --- why not ------------------------------------------------------------- */

/* The number in a file below sys; -1: there is none. */
static long
knob(const char *sys, const char *name)
{
	char path[256], text[32] = "";
	int n = snprintf(path, sizeof path, "%s/%s", sys, name), fd;

	if (n <= 0 || (size_t)n >= sizeof path)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = (int)read(fd, text, sizeof text - 1);
	(void)close(fd);
	return n <= 0 ? -1 : strtol(text, NULL, 10);
}

bool
userns_restricted(const char *sys)
{
	return knob(sys, APPARMOR) == 1;
}

/*
 * true: "/" is a folder of a mount, which only chroot(2) makes it.  One that is
 * a mount's own root is not seen.
 */
static bool
in_chroot(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool root = f == NULL;
	struct read_mount m;

	while (!root && getline(&line, &size, f) > 0) {
		const char *text = line;

		root = read_mount(&text, &m) && strcmp(m.point, "/") == 0;
	}
	free(line);
	if (f != NULL)
		(void)fclose(f);
	return !root;
}

/* What a user may have of them is bounded here, and in every outer one. */
static void
limit(const char *sys, const struct space *s, struct userns_why *w)
{
	const char *nest = s->flag == CLONE_NEWUSER ?
	    ", or the nest of them is too deep" : "";
	char name[40];
	long max;

	(void)snprintf(name, sizeof name, "user/max_%s_namespaces", s->name);
	max = knob(sys, name);
	name[4] = '.';			/* as sysctl(8) has it */
	w->now = max != 0;
	(void)snprintf(w->object, sizeof w->object,
	    "/proc/sys/user/max_%s_namespaces", s->name);
	if (max == 0) {
		(void)snprintf(w->why, sizeof w->why, "%s is 0: %s namespaces "
		    "are switched off", name, s->word);
	} else if (max > 0 && max <= INT_MAX / 2) {
		(void)snprintf(w->why, sizeof w->why, "all %ld that %s allows "
		    "are in use%s", max, name, nest);
	} else {		/* unbounded, as in any that is made */
		(void)snprintf(w->object, sizeof w->object, "/proc/self/ns/%s",
		    s->name);
		(void)snprintf(w->why, sizeof w->why, "there are too many %s "
		    "namespaces already%s", s->word, nest);
		(void)snprintf(w->fix, sizeof w->fix, "start bailiff outside "
		    "of the container, or nest of them, that it is in");
		return;
	}
	(void)snprintf(w->fix, sizeof w->fix, "as root: sysctl -w %s=%ld",
	    name, max == 0 ? LIMIT_USUAL : 2 * max);
}

static void
ran_out(int err, struct userns_why *w)
{
	w->now = true;
	(void)snprintf(w->object, sizeof w->object, "clone(2)");
	(void)snprintf(w->why, sizeof w->why, "%s", err == EAGAIN ?
	    "no more processes can be had" : strerror(err));
	(void)snprintf(w->fix, sizeof w->fix, "raise what bounds it: see "
	    "ulimit -a, and the cgroup's %s", err == EAGAIN ? "pids.max" :
	    "limits");
}

static void
restricted(struct userns_why *w)
{
	static const char *const profiles[] = { "/etc/apparmor.d/bailiff",
	    "/usr/local/share/bailiff/apparmor.d/bailiff",
	    "/usr/share/bailiff/apparmor.d/bailiff" };
	size_t i = 0, n = sizeof profiles / sizeof profiles[0];

	w->profile = true;
	(void)snprintf(w->object, sizeof w->object, "/proc/sys/%s", APPARMOR);
	(void)snprintf(w->why, sizeof w->why, "AppArmor gives a program "
	    "without a profile of its own no rights in a user namespace "
	    "(kernel.apparmor_restrict_unprivileged_userns is 1)");
	while (i < n && access(profiles[i], F_OK) != 0)
		i++;
	(void)snprintf(w->fix, sizeof w->fix, i < n ?
	    "as root: apparmor_parser -r %s" : "as root: sysctl -w "
	    "kernel.apparmor_restrict_unprivileged_userns=0",
	    i < n ? profiles[i] : "");
}

/* Nobody may make one here. */
static void
forbidden(const char *sys, int err, struct userns_why *w)
{
	if (err == EPERM && knob(sys, "kernel/unprivileged_userns_clone") == 0) {
		(void)snprintf(w->object, sizeof w->object,
		    "/proc/sys/kernel/unprivileged_userns_clone");
		(void)snprintf(w->why, sizeof w->why, "kernel."
		    "unprivileged_userns_clone is 0: only root may make user "
		    "namespaces");
		(void)snprintf(w->fix, sizeof w->fix, "as root: sysctl -w "
		    "kernel.unprivileged_userns_clone=1");
	} else if (err == EPERM && in_chroot()) {
		(void)snprintf(w->object, sizeof w->object, "/");
		(void)snprintf(w->why, sizeof w->why, "no user namespace can "
		    "be made in a chroot, and this is one (%s)", strerror(err));
		(void)snprintf(w->fix, sizeof w->fix, "start bailiff outside "
		    "of the chroot");
	} else if ((err == EPERM || err == EACCES) && userns_restricted(sys)) {
		restricted(w);
	} else {
		(void)snprintf(w->object, sizeof w->object, "clone(2)");
		(void)snprintf(w->why, sizeof w->why, "no user namespace can "
		    "be made here (%s)", strerror(err));
		(void)snprintf(w->fix, sizeof w->fix, "start bailiff outside "
		    "of the container, chroot or policy that forbids it");
	}
}

/* One was made, and its root may not do what root may. */
static void
powerless(const char *sys, int err, const struct space *s,
    struct userns_why *w)
{
	bool denied = err == EPERM || err == EACCES;

	if (denied && userns_restricted(sys)) {
		restricted(w);
		return;
	}
	(void)snprintf(w->object, sizeof w->object, "unshare(2)");
	if (denied)
		(void)snprintf(w->why, sizeof w->why, "the root of a new user "
		    "namespace has no rights in it: %s", strerror(err));
	else
		(void)snprintf(w->why, sizeof w->why, "no %s namespace can be "
		    "made here (%s)", s->word, strerror(err));
	(void)snprintf(w->fix, sizeof w->fix, "start bailiff outside of the "
	    "container, or policy, that forbids it");
}

void
userns_why(const char *sys, const struct userns_fail *f, struct userns_why *w)
{
	const struct space *s = row;

	memset(w, 0, sizeof *w);
	for (int i = 0; i < ROWS; i++)
		if (row[i].flag == f->space)
			s = &row[i];
	if (f->err == ENOSPC)
		limit(sys, s, w);
	else if (way_ran_out(f->err))
		ran_out(f->err, w);
	else if (s->flag == CLONE_NEWUSER)
		forbidden(sys, f->err, w);
	else
		powerless(sys, f->err, s, w);
}

/* Doctor's tries: a cell by each way that runs /bin/true. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bailiff.h"
#include "cells.h"

enum { TRY_S = 5, TRY_MS = 20000 };

/* What the trying process says of it. */
struct said {
	int	 works;
	struct bailiff_error e;
};

/*
 * With what the defaults ask for, where w is given.  The command's own failures
 * count: they are the way's, for /bin/true.
 */
static void
exec_true(struct bailiff_sandbox *s, const struct doctor_wish *w,
    struct said *said)
{
	static const char *const argv[] = { "/bin/true", NULL };
	const struct bailiff_tmpfs more = { "/bailiff-doctor",
	    w != NULL ? w->disk_more : 0 };
	struct bailiff_command c;
	struct bailiff_end x;

	bailiff_command_init(&c);
	c.argv = argv;
	if (w != NULL) {
		c.memory = w->memory;
		c.fsize = w->fsize;
		c.disk = w->disk;
		c.pids = w->pids;
		c.cpu_ms = w->cpu_ms;
		c.tmpfs = &more;
		c.ntmpfs = more.size != 0;
	}
	c.timeout_ns = TRY_S * 1000000000ULL;
	if (bailiff_exec(s, &c, &x, &said->e) == 0) {
		said->works = x.started && x.wait_status == 0;
		if (!said->works && x.why.kind != BAILIFF_OK)
			said->e = x.why;
		else if (!said->works)
			(void)snprintf(said->e.message, sizeof said->e.message,
			    "/bin/true ended with wait status %d in a cell",
			    x.wait_status);
	}
	bailiff_end_free(&x);
}

static void
try_here(enum bl_way way, const struct doctor_wish *w, int to)
{
	/* nothing holds plain processes, and that has to be said */
	const struct bailiff_ask ask = { .way = way_name(way),
	    .require_given = way == BL_WAY_PLAIN };
	struct said said = { .works = 0 };
	struct bailiff_sandbox *s = NULL;

	if (bailiff_open("local", &ask, &s, &said.e) == 0)
		exec_true(s, w, &said);
	bailiff_close(s);
	(void)!write(to, &said, sizeof said);	/* unsaid is a failure */
}

/* true: all of it came before the time was up. */
static bool
heard(int from, struct said *said)
{
	const uint64_t until = now_ns() + TRY_MS * 1000000ULL;
	struct pollfd p = { .fd = from, .events = POLLIN };
	size_t n = 0;

	while (n < sizeof *said) {
		uint64_t now = now_ns();
		ssize_t r;

		if (now >= until)
			return false;
		if (poll(&p, 1, (int)((until - now) / 1000000) + 1) <= 0)
			continue;
		r = read(from, (char *)said + n, sizeof *said - n);
		if (r == 0 || (r < 0 && errno != EINTR))
			return false;
		n += r > 0 ? (size_t)r : 0;
	}
	return true;
}

/*
 * In a process of its own: whatever a way gets stuck in, that process can be
 * ended, and all that it holds goes with it.
 */
static bool
try_apart(enum bl_way way, const struct doctor_wish *w, struct said *said)
{
	int fd[2];
	bool good;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) != 0)
		return false;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(fd[0]);
		try_here(way, w, fd[1]);
		_exit(0);
	}
	(void)close(fd[1]);
	good = pid > 0 && heard(fd[0], said);
	(void)close(fd[0]);
	if (pid > 0 && !good)
		(void)kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return good;
}

/* The row says already which way it is that isn't there. */
static void
words(const struct bailiff_error *e, struct finding *f)
{
	const char *why = strcmp(e->code, "way_missing") == 0 ?
	    strstr(e->message, "here: ") : NULL;

	found_detail(f, "%s", why == NULL ? e->message : why + 6);
	found_fix(f, "%s", e->hint);
}

static struct finding
try_one(const struct doctor *d, enum bl_way way)
{
	struct said said;
	struct finding f;

	if (d->uid == 0 && (way == BL_WAY_SETUID || way == BL_WAY_CAPS)) {
		f = found(DOCTOR_UNKNOWN, d->helper);
		found_detail(&f, "root can't try it: run bailiff doctor as "
		    "an ordinary user");
		return f;
	}
	memset(&said, 0, sizeof said);
	if (!try_apart(way, way == d->chosen ? d->wish : NULL, &said)) {
		f = found(DOCTOR_UNKNOWN, way_name(way));
		found_detail(&f, "a try gave no answer within %d s",
		    TRY_MS / 1000);
		return f;
	}
	f = found(said.works ? DOCTOR_WORKS : DOCTOR_DOESNT, said.e.object);
	if (f.object[0] == '\0')
		f = found(f.status, way == BL_WAY_SOCKET ? d->socket :
		    way <= BL_WAY_ROOTLESS ? d->helper :
		    way == BL_WAY_BWRAP ? "bwrap" : "this user's processes");
	if (!said.works)
		words(&said.e, &f);
	return f;
}

void
doctor_try(struct doctor *d)
{
	struct finding rules = look_rules_caller(d), low = look_limits(d);

	for (size_t i = 0; i < DOCTOR_WAYS; i++) {
		struct finding *f = &d->ways[i].f;

		*f = try_one(d, d->ways[i].way);
		/* one cell could be had, and a judged run needs two */
		if (f->status == DOCTOR_WORKS && rules.few &&
		    d->ways[i].way < BL_WAY_ROOTLESS)
			*f = rules;
		/* and a try is shorter than a run, in processor time, too */
		if (f->status == DOCTOR_WORKS && d->ways[i].used &&
		    low.status == DOCTOR_DOESNT &&
		    d->ways[i].way != BL_WAY_SOCKET)
			*f = low;
	}
}

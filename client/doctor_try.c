/* Doctor's tries: /bin/true in a cell by each way, and a run by the one in use. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../providers/registry.h"
#include "bailiff.h"
#include "cells.h"
#include "deepgym.h"
#include "judge.h"
#include "result.h"

enum { TRY_S = 5, TRY_MS = 20000 };

/* What the trying process says of it. */
struct said {
	int	 works;
	struct bailiff_error e;
};

/* The command's own failures count: they are the way's, for /bin/true. */
static void
exec_true(struct bailiff_sandbox *s, struct said *said)
{
	static const char *const argv[] = { "/bin/true", NULL };
	struct bailiff_command c;
	struct bailiff_end x;

	bailiff_command_init(&c);
	c.argv = argv;
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
try_cell(enum bl_way way, struct said *said)
{
	/* nothing holds plain processes, and that has to be said */
	const struct bailiff_ask ask = { .way = way_name(way),
	    .require_given = way == BL_WAY_PLAIN };
	struct bailiff_sandbox *s = NULL;

	if (bailiff_open("local", &ask, &s, &said->e) == 0)
		exec_true(s, said);
	bailiff_close(s);
}

/* A file of this program's own with text in it, or -1. */
static int
file_of(const char *text)
{
	int fd = memfd_create("bailiff-doctor", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		return fd;
	(void)close(fd);
	return -1;
}

/*
 * What a run does with the user's defaults, for a judge that has an answer run
 * once.  Their places, limits and times can each be a run's end; a cell for one
 * command, which gets no files, would not tell.
 */
static void
try_run(enum bl_way way, const struct doctor_wish *w, struct said *said)
{
	static const char judge[] = "#!/bin/sh\n"
	    "\"$BAILIFF_ANSWER\" -- /bin/true &&\n"
	    "    echo '{\"score\": 1, \"passed\": true}'\n";
	struct deepgym env = { .name = "doctor", .dir = -1,
	    .judge = file_of(judge), .judge_name = "verifier" };
	struct judge_plan p = { .by = provider_find("local"), .ask = w->ask,
	    .env = &env, .answer = file_of(""), .answer_path = "solution",
	    .answer_name = "solution", .host_net = w->host_net,
	    .judge_ns = w->judge_ns, .answer_ns = TRY_MS * 1000000ULL,
	    .max_output = 4096, .artifacts = -1, .cell = w->cell,
	    .cancel_fd = -1 };
	struct result r;

	p.ask.way = way;
	if (env.judge >= 0 && p.answer >= 0 && result_init(&r) == 0) {
		judge_run(&p, &r);
		said->works = r.fail.kind == BL_KIND_NONE;
		err_out(&said->e, &r.fail);
		result_free(&r);
	} else
		(void)snprintf(said->e.message, sizeof said->e.message,
		    "out of memory");
	(void)close(env.judge);
	(void)close(p.answer);
}

static void
try_here(enum bl_way way, const struct doctor_wish *w, int to)
{
	struct said said = { .works = 0 };

	if (w != NULL)
		try_run(way, w, &said);
	else
		try_cell(way, &said);
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
		int ms = ms_until(until);
		ssize_t r;

		if (ms == 0)
			return false;
		if (poll(&p, 1, ms) <= 0)
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
words(const struct doctor *d, bool run, const struct bailiff_error *e,
    struct finding *f)
{
	const char *why = strcmp(e->code, "way_missing") == 0 ?
	    strstr(e->message, "here: ") : NULL;

	found_detail(f, "%s", why == NULL ? e->message : why + 6);
	/* the try asks for next to nothing: what it lacks is not given */
	if (run && (e->hint[0] == '\0' || e->kind == BAILIFF_JUDGE) &&
	    e->kind != BAILIFF_INFRASTRUCTURE && d->config[0] != '\0' &&
	    access(d->config, F_OK) == 0)
		found_fix(f, "let %s give a run more", d->config);
	else
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
	if (said.e.err == EAGAIN && strcmp(said.e.code, "helper_silent") == 0) {
		f = found(DOCTOR_UNKNOWN, d->socket);
		found_detail(&f, "busy: %s; try again", said.e.message);
		return f;
	}
	f = found(said.works ? DOCTOR_WORKS : DOCTOR_DOESNT, said.e.object);
	if (f.object[0] == '\0')
		f = found(f.status, way == BL_WAY_SOCKET ? d->socket :
		    way <= BL_WAY_ROOTLESS ? d->helper :
		    way == BL_WAY_BWRAP ? "bwrap" : "this user's processes");
	if (!said.works)
		words(d, way == d->chosen, &said.e, &f);
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

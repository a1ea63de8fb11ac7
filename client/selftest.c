/*
 * bailiff selftest's run: a judge's cell and an answer's, as in a judged run,
 * the probe in both; and the same probe outside, as the caller, to show that
 * what is tried would be seen to work where nothing forbids it.
 *
 * Nothing that the caller's party makes outlives this process: the party is a
 * process that takes its things away when its input ends, however it ends.
 */
#include "selftest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cells.h"
#include "cellspec.h"
#include "provider.h"
#include "selftest_tree.h"

#define SECOND 1000000000ULL
#define MIB (1ULL << 20)

/* As it is built: client/probe_blob.S. */
extern const char bl_probe_blob[], bl_probe_blob_end[];

enum {
	FACTS		= 1500,		/* bytes of a party's line */
	WORDS_MAX	= 48,
	CELL_S		= 90,
	RUN_S		= 30,		/* a set of tries */
	END_S		= 6,		/* what has to end by itself */
	LATE_MS		= 200,
	KEEP		= 64 << 10
};

/* A process outside: its ends of pipes. */
struct outside {
	pid_t	 pid;
	int	 in, out;
};

struct test {
	struct selftest *t;
	struct sandbox box;
	struct bl_cell judge, answer;
	int	 probe;			/* memfd */
	struct outside caller;		/* the caller's party */
	struct outside spin;		/* the control of limit_cpu */
	struct tree tree;
	bool	 listing;		/* a probe lists folders, and tries none */
	struct bl_spawn party;		/* the judge's */
	char	 facts[FACTS], judge_facts[FACTS];
	char	 folder[256];		/* of the caller's party */
	char	 token[40];		/* in what the probe is started with */
	unsigned mounts;
};

/*
 * Of spawns that try limits; below what the probe tries to get.  That of
 * processes by itself: it may count those of the caller, too.
 */
static const struct bl_limits low = { .memory = 48 * MIB, .fsize = 8 * MIB,
    .nofile = 64 }, few = { .pids = 24 }, brief = { .cpu_ms = 1000 };

/* --- words: the probe's arguments ---------------------------------------- */

struct words {
	unsigned n;
	char	*v[WORDS_MAX + 1];
	char	 text[FACTS + 200];
};

/* The probe, then text's words, as blanks part them. */
static void
words_make(struct words *w, const char *command, const char *facts)
{
	static char probe[] = "./probe";
	char *at;

	(void)snprintf(w->text, sizeof w->text, "%s %s", command, facts);
	w->n = 0;
	w->v[w->n++] = probe;
	for (char *word = strtok_r(w->text, " \n", &at); word != NULL &&
	    w->n < WORDS_MAX; word = strtok_r(NULL, " \n", &at))
		w->v[w->n++] = word;
	w->v[w->n] = NULL;
}

/* The same for a cell: its processes are known by the token. */
static void
cell_words(const struct test *u, struct words *w, const char *command,
    const char *facts)
{
	char all[FACTS + sizeof u->token + 1];

	(void)snprintf(all, sizeof all, "%s %s", facts, u->token);
	words_make(w, command, all);
}

/* --- outside ------------------------------------------------------------- */

static void
fd_shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static int
probe_open(struct bl_err *e)
{
	size_t n = (size_t)((uintptr_t)bl_probe_blob_end -
	    (uintptr_t)bl_probe_blob);
	int fd = memfd_create("probe", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, bl_probe_blob, n) == (ssize_t)n)
		return fd;
	(void)err_set(e, BL_KIND_INFRA, "no_memfd", "selftest", errno,
	    "no memory file for the probe: %s", strerror(errno));
	fd_shut(&fd);
	return -1;
}

/* In the child: all that this process would leave to it, it gets. */
static _Noreturn void
outside_child(const struct test *u, const struct words *w, int in, int out)
{
	char fd[32];

	if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
		_exit(126);
	if (u->folder[0] != '\0' && chdir(u->folder) != 0)
		_exit(126);
	(void)snprintf(fd, sizeof fd, "/proc/self/fd/%d", u->probe);
	(void)execv(fd, w->v);
	_exit(127);
}

static int
outside_start(const struct test *u, const struct words *w, struct outside *o)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };

	o->pid = o->in = o->out = -1;
	if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0)
		o->pid = fork();
	if (o->pid == 0)
		outside_child(u, w, in[0], out[1]);
	fd_shut(&in[0]);
	fd_shut(&out[1]);
	if (o->pid > 0) {
		o->in = in[1];
		o->out = out[0];
		return 0;
	}
	fd_shut(&in[1]);
	fd_shut(&out[0]);
	return -1;
}

/* Reads until a line's end (line) or the end, or until_ns.  How many bytes. */
static size_t
read_all(int fd, char *buf, size_t size, bool line, uint64_t until_ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now = now_ns();
	size_t n = 0;

	for (; n < size && now < until_ns; now = now_ns()) {
		ssize_t some;

		if (poll(&p, 1, (int)((until_ns - now) / 1000000 + 1)) <= 0)
			continue;
		some = read(fd, buf + n, size - n);
		if (some <= 0 && (errno == EINTR || errno == EAGAIN) &&
		    some != 0)
			continue;
		if (some <= 0)
			break;
		n += (size_t)some;
		if (line && memchr(buf, '\n', n) != NULL)
			break;
	}
	return n;
}

/* Its end is waited for; one that does not come is made. */
static void
outside_end(struct outside *o, unsigned wait_ms)
{
	uint64_t until = now_ns() + wait_ms * 1000000ULL;

	fd_shut(&o->in);
	fd_shut(&o->out);
	while (o->pid > 0 && waitpid(o->pid, NULL, WNOHANG) == 0) {
		if (now_ns() > until)
			(void)kill(o->pid, SIGKILL);
		(void)usleep(1000);
	}
	o->pid = -1;
}

static void
lines_read(struct test *u, enum place p, const char *text, size_t n)
{
	if (u->listing)
		tree_read(&u->tree, u->t, p, text, n);
	else
		seen_read(u->t, p, text, n);
}

/* One probe outside, to its end. */
static void
outside_run(struct test *u, const char *command, const char *facts,
    enum place p)
{
	char *buf = malloc(KEEP);
	struct outside o;
	struct words w;

	words_make(&w, command, facts);
	if (buf != NULL && outside_start(u, &w, &o) == 0) {
		size_t n = read_all(o.out, buf, KEEP, false,
		    now_ns() + RUN_S * SECOND);

		if (p < PLACE_MAX)
			lines_read(u, p, buf, n);
		outside_end(&o, 0);
	}
	free(buf);
}

/* The caller's own party; without it there is no control, which is told. */
static void
caller_start(struct test *u)
{
	struct words w;
	const char *dir;
	size_t n;

	words_make(&w, "stay /tmp", "");
	if (outside_start(u, &w, &u->caller) != 0)
		return;
	n = read_all(u->caller.out, u->facts, sizeof u->facts - 1, true,
	    now_ns() + END_S * SECOND);
	u->facts[n] = '\0';
	dir = strstr(u->facts, " dir=");
	if (dir != NULL)
		(void)snprintf(u->folder, sizeof u->folder, "%.*s",
		    (int)strcspn(dir + 5, " "), dir + 5);
}

/* A copy of one try's result under another name. */
static void
seen_as(struct selftest *t, enum place p, const char *from, const char *to)
{
	const struct seen *s = seen_get(t, p, from);

	if (s != NULL)
		seen_put(t, p, to, s->what, s->why);
}

static void
controls(struct test *u)
{
	char facts[FACTS + 16], left[64], meet[96];
	struct selftest *t = u->t;
	struct outside late;
	uint64_t from = now_ns();
	struct words w;

	words_make(&w, "sleep -", "control=1");
	(void)outside_start(u, &w, &late);
	(void)snprintf(facts, sizeof facts, "control=1 %s", u->facts);
	/* first what uses abstract_socket's name for another thing */
	(void)snprintf(left, sizeof left, "bailiff-selftest-left-%d",
	    (int)getpid());
	(void)snprintf(meet, sizeof meet, "leave %s", left);
	outside_run(u, meet, "control=1", PLACE_MAX);
	(void)snprintf(meet, sizeof meet, "control=1 name=%s", left);
	outside_run(u, "try abstract_socket", meet, PLACE_OUTSIDE);
	seen_as(t, PLACE_OUTSIDE, "abstract_socket", "left_next");
	outside_run(u, "try self,calls,party", facts, PLACE_OUTSIDE);
	outside_run(u, "try limits", facts, PLACE_OUTSIDE);
	while (now_ns() < from + LATE_MS * 1000000ULL)
		(void)usleep(1000);
	if (late.pid > 0 && waitpid(late.pid, NULL, WNOHANG) == 0)
		seen_put(t, PLACE_OUTSIDE, "limit_time", TRIED_OPEN,
		    "still runs");
	outside_end(&late, 0);
}

/* --- in a cell ----------------------------------------------------------- */

static int
spec_make(const struct words *w, const struct bl_cell *c,
    const struct bl_limits *l, bool put, struct bl_err *e)
{
	struct specw *s = specw_new();
	char name[32], path[40];	/* from /work, where all starts */
	int fd = -1, r = 0;

	if (s == NULL)
		return err_memory(e, "selftest");
	(void)snprintf(name, sizeof name, "./probe-%d", (int)c->role);
	(void)snprintf(path, sizeof path, "/work%s", name + 1);
	if (put)
		r = specw_put(s, path, 0755, bl_probe_blob,
		    (size_t)((uintptr_t)bl_probe_blob_end -
		    (uintptr_t)bl_probe_blob), e);
	for (unsigned i = 0; r == 0 && !put && i < w->n; i++)
		r = specw_arg(s, i == 0 ? name : w->v[i], e);
	if (r == 0)
		r = specw_base_env(s, c->role, e);
	if (l != NULL)
		specw_limits(s, l);
	if (r == 0)
		fd = specw_seal(s, e);
	specw_free(s);
	return fd;
}

/* w runs in c as s: started, or -1 with *e. */
static int
cell_start(struct bl_cell *c, const struct words *w, const struct bl_limits *l,
    uint64_t wall_ns, unsigned flags, struct bl_spawn *s, struct bl_err *e)
{
	int fd = spec_make(w, c, l, w == NULL, e), r;

	if (fd < 0)
		return -1;
	r = cell_spawn(c, fd, wall_ns, flags, s, e);
	(void)close(fd);
	return r;
}

/* A probe to its end, which has to come within so many seconds. */
static int
cell_run(struct test *u, struct bl_cell *c, const struct words *w,
    const struct bl_limits *l, uint64_t wall_ns, unsigned seconds,
    enum place p, struct bl_exit *x, struct bl_err *e)
{
	struct pump m = { .from = -1, .cancel_fd = -1,
	    .out = { .to = -1, .keep = KEEP, .max = KEEP, .drop = true },
	    .err = { .to = -1, .max = UINT64_MAX, .drop = true },
	    .result = { .to = -1 },
	    .until_ns = now_ns() + seconds * SECOND };
	struct bl_spawn s;
	int r = cell_start(c, w, l, wall_ns, SPAWN_OUT | SPAWN_ERR, &s, e);

	if (r != 0)
		return -1;
	r = pump_run(&m, &s, e);
	if (r == 0 && p < PLACE_MAX)
		lines_read(u, p, m.out.data, m.out.n);
	if (r == 0 && s.end.kind != BL_EV_EXIT)
		r = err_at(e, s.end.step, s.end.object, s.end.status);
	if (r == 0 && x != NULL)
		*x = s.end.u.exit;
	pump_free(&m);
	spawn_close(&s);
	return r;
}

static int
cell_try(struct test *u, struct bl_cell *c, const char *command,
    const char *facts, const struct bl_limits *l, enum place p)
{
	struct words w;

	cell_words(u, &w, command, facts);
	return cell_run(u, c, &w, l, 0, RUN_S, p, NULL, &u->t->e);
}

static int
cells_open(struct test *u)
{
	struct bl_cell_spec s;
	struct bl_err *e = &u->t->e;

	cellspec_init(&s);
	s.disk = 16 * MIB;
	cellspec_limits(&s);
	s.deadline_ns = now_ns() + CELL_S * SECOND;
	s.role = BL_ROLE_JUDGE;
	if (cell_open(&u->box.helper, &s, &u->judge, e) != 0)
		return -1;
	s.role = BL_ROLE_ANSWER;
	if (cell_open(&u->box.helper, &s, &u->answer, e) != 0)
		return -1;
	if (cell_run(u, &u->judge, NULL, NULL, 0, RUN_S, PLACE_MAX, NULL,
	    e) != 0)
		return -1;
	return cell_run(u, &u->answer, NULL, NULL, 0, RUN_S, PLACE_MAX, NULL,
	    e);
}

/* The judge's party: what it tells is what the answer reaches for. */
static int
party_start(struct test *u)
{
	struct words w;
	size_t n;

	cell_words(u, &w, "stay .", "");
	if (cell_start(&u->judge, &w, NULL, 0, SPAWN_IN | SPAWN_OUT, &u->party,
	    &u->t->e) != 0)
		return -1;
	n = read_all(u->party.out, u->judge_facts, sizeof u->judge_facts - 1,
	    true, now_ns() + END_S * SECOND);
	u->judge_facts[n] = '\0';
	if (n > 0)
		return 0;
	return err_set(&u->t->e, BL_KIND_INFRA, "cell_silent", "selftest", 0,
	    "the probe in the judge's cell says nothing");
}

/* --- ends ---------------------------------------------------------------- */

/* true: the process that proc's name is was started with token. */
static bool
started_with(int proc, const char *name, const char *token)
{
	char path[300], line[4096];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "%s/cmdline", name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, line, sizeof line);
	if (fd >= 0)
		(void)close(fd);
	return n > 0 && memmem(line, (size_t)n, token, strlen(token)) != NULL;
}

/*
 * Processes of the cells that this one is shown, by how the probe was started:
 * their users may be another's already.
 */
static unsigned
processes_left(const struct test *u)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		n += e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    started_with(dirfd(d), e->d_name, u->token);
	if (d != NULL)
		(void)closedir(d);
	return n;
}

/* Mounts here at places of a cell's own; others mount and unmount, too. */
static unsigned
mounts_now(void)
{
	static const char *const places[] = { "/", "/work", "/home/judge",
	    "/home/answer" };
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096], at[1024];
	unsigned n = 0;

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		if (sscanf(line, "%*d %*d %*s %*s %1023s", at) != 1)
			continue;
		for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
			n += strcmp(at, places[i]) == 0;
	}
	if (f != NULL)
		(void)fclose(f);
	return n;
}

/* The same list in both cells and outside; before the judge's party lives. */
static int
host_tree(struct test *u)
{
	char folders[FACTS];
	int r;

	tree_open(&u->tree, &u->box.helper.hello);
	tree_folders(&u->tree, folders, sizeof folders);
	u->listing = true;
	outside_run(u, "list", folders, PLACE_OUTSIDE);
	r = cell_try(u, &u->judge, "list", folders, NULL, PLACE_JUDGE);
	if (r == 0)
		r = cell_try(u, &u->answer, "list", folders, NULL,
		    PLACE_ANSWER);
	u->listing = false;
	return r;
}

/* By a signal of the kernel's, and not before its time or long after it. */
static void
limit_cpu(struct test *u)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct bl_exit x = { .wait_status = 0 };
	char text[TRY_WHY], *buf = malloc(KEEP);
	struct words w;
	int sig = 0;

	/* at once, and beside nothing else that has a time of its own */
	words_make(&w, "spin -", "control=1");
	(void)outside_start(u, &w, &u->spin);
	cell_words(u, &w, "spin -", "");
	if (cell_run(u, &u->answer, &w, &brief, 0, RUN_S, PLACE_ANSWER, &x,
	    &e) != 0)
		seen_put(u->t, PLACE_ANSWER, "limit_cpu", TRIED_NONE,
		    e.message);
	else if (WIFSIGNALED(x.wait_status))
		sig = WTERMSIG(x.wait_status);
	if (sig != 0) {
		bool held = (sig == SIGXCPU || sig == SIGKILL) &&
		    x.cpu_ns >= 2 * SECOND / 5 && x.cpu_ns < 4 * SECOND;

		(void)snprintf(text, sizeof text, "ended by signal %d after "
		    "%.1f s of processor time", sig, (double)x.cpu_ns / 1e9);
		seen_put(u->t, PLACE_ANSWER, "limit_cpu", held ? TRIED_HELD :
		    TRIED_NONE, text);
	}
	if (buf != NULL && u->spin.pid > 0)
		seen_read(u->t, PLACE_OUTSIDE, buf, read_all(u->spin.out, buf,
		    KEEP, true, now_ns() + RUN_S * SECOND));
	outside_end(&u->spin, 0);
	free(buf);
}

static void
limit_time(struct test *u)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct bl_exit x;
	struct words w;
	bool ended;

	cell_words(u, &w, "sleep -", "");
	ended = cell_run(u, &u->answer, &w, NULL, LATE_MS * 1000000ULL, END_S,
	    PLACE_MAX, &x, &e) == 0;
	seen_put(u->t, PLACE_ANSWER, "limit_time", ended &&
	    x.limit == BL_LIMIT_TIME ? TRIED_HELD : TRIED_OPEN, ended ?
	    "was ended" : "still runs");
}

/* The second command must meet nothing of the first, a fork bomb. */
static int
left_next(struct test *u)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct selftest *t = u->t;
	struct words w;
	struct seen was = { .name = "" };
	const struct seen *s;

	cell_words(u, &w, "leave left", "");
	if (cell_run(u, &u->answer, &w, &few, 0, END_S, PLACE_MAX, NULL,
	    &e) != 0) {
		seen_put(t, PLACE_ANSWER, "left_next", TRIED_OPEN, e.message);
		return -1;
	}
	s = seen_get(t, PLACE_ANSWER, "abstract_socket");
	if (s != NULL)
		was = *s;
	if (cell_try(u, &u->answer, "try remains,abstract_socket", "name=left",
	    NULL, PLACE_ANSWER) != 0)
		return -1;
	seen_as(t, PLACE_ANSWER, "abstract_socket", "left_next");
	if ((s = seen_get(t, PLACE_ANSWER, "remains")) != NULL &&
	    s->what == TRIED_OPEN)
		seen_as(t, PLACE_ANSWER, "remains", "left_next");
	if (was.name[0] != '\0')
		seen_put(t, PLACE_ANSWER, was.name, was.what, was.why);
	return 0;
}

/* One that hears nothing runs in the answer's cell while all is ended. */
static void
left_end(struct test *u)
{
	struct bl_spawn s = { .reply = -1, .in = -1, .out = -1, .err = -1,
	    .result = -1, .listener = -1 };
	struct bl_err e = { .kind = BL_KIND_NONE };
	uint64_t until = now_ns() + END_S * SECOND;
	struct words w;
	unsigned n = 0;
	char text[TRY_WHY];

	cell_words(u, &w, "sleep -", "");
	if (cell_start(&u->answer, &w, NULL, 0, 0, &s, &e) == 0)
		while (!s.started && !s.ended && spawn_event(&s, until, &e) > 0)
			;
	if (s.started)
		n = processes_left(u);
	(void)snprintf(text, sizeof text, "%u of its processes while it runs",
	    n);
	seen_put(u->t, PLACE_OUTSIDE, "left_end", n > 0 ? TRIED_OPEN :
	    TRIED_NONE, text);
	cell_close(&u->answer);
	cell_close(&u->judge);
	u->t->by->destroy(&u->box);
	until = now_ns() + END_S * SECOND;
	while ((n = processes_left(u)) > 0 && now_ns() < until)
		(void)usleep(2000);
	spawn_close(&s);
	(void)snprintf(text, sizeof text, "%u processes, %u mounts more", n,
	    mounts_now() - u->mounts);
	seen_put(u->t, PLACE_ANSWER, "left_end", n == 0 &&
	    mounts_now() == u->mounts ? TRIED_HELD : TRIED_OPEN, text);
}

/* --- all of it ----------------------------------------------------------- */

static int
tries(struct test *u)
{
	static const char all[] = "try self,calls,party";

	if (cell_try(u, &u->judge, all, u->facts, NULL, PLACE_JUDGE) != 0 ||
	    cell_try(u, &u->answer, all, u->facts, NULL, PLACE_ANSWER) != 0 ||
	    host_tree(u) != 0 || party_start(u) != 0 ||
	    cell_try(u, &u->answer, "try party", u->judge_facts, NULL,
	    PLACE_OTHER) != 0 ||
	    cell_try(u, &u->answer, "try limits", "", &low,
	    PLACE_ANSWER) != 0 ||
	    cell_try(u, &u->answer, "try limit_processes", "", &few,
	    PLACE_ANSWER) != 0)
		return -1;
	limit_cpu(u);
	limit_time(u);
	if (left_next(u) == 0)
		left_end(u);
	return u->t->e.kind == BL_KIND_NONE ? 0 : -1;
}

static int
set_up(struct test *u)
{
	struct selftest *t = u->t;
	const struct way *w = &u->box.helper.way;

	u->probe = probe_open(&t->e);
	(void)snprintf(u->token, sizeof u->token, "selftest-of-%d-%llu",
	    (int)getpid(), (unsigned long long)now_ns());
	if (u->probe < 0 || t->by->create(&u->box, &t->ask, &t->e) != 0)
		return -1;
	t->way = way_name(w->way);
	t->waived = w->waived;
	if (!way_warning(w, t->warning, sizeof t->warning))
		t->warning[0] = '\0';
	u->mounts = mounts_now();
	caller_start(u);
	if (t->by->ready(&u->box, &t->e) != 0)
		return -1;
	t->way = way_name(w->way);
	t->waived = w->waived;
	return cells_open(u);
}

int
selftest_run(struct selftest *t)
{
	struct test *u = calloc(1, sizeof *u);
	int r;

	if (u == NULL)
		return err_memory(&t->e, "selftest");
	u->t = t;
	u->probe = u->judge.owner = u->answer.owner = -1;
	u->judge.pid = u->answer.pid = -1;
	u->caller = u->spin = (struct outside){ -1, -1, -1 };
	u->party = (struct bl_spawn){ .reply = -1, .in = -1, .out = -1,
	    .err = -1, .result = -1, .listener = -1 };
	u->box.helper.sock = u->box.helper.pid = -1;
	r = set_up(u);
	if (r == 0) {
		controls(u);
		r = tries(u);
	}
	spawn_close(&u->party);
	cell_close(&u->answer);
	cell_close(&u->judge);
	t->by->destroy(&u->box);
	outside_end(&u->spin, 0);
	outside_end(&u->caller, END_S * 1000);
	fd_shut(&u->probe);
	free(u);
	return r;
}

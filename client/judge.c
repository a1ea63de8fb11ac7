/*
 * A judged run: a judge in one cell, the answer in another.
 *
 * The judge starts answers by itself, as a guest of the answer's cell; what
 * they did is put together by answers.c.
 */
#include "judge.h"

#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers.h"
#include "cellspec.h"
#include "get.h"
#include "note.h"
#include "provider.h"
#include "runtime.h"
#include "walk.h"

_Static_assert((int)PUMP_EXTRA == (int)ANSWERS_POLL, "room for all");

enum {
	STDERR_KEPT	= 64 << 10,
	GRACE_MAX_S	= 10,
	SLACK_S		= 5,	/* cell init acts on time; we allow for it */

	ARTIFACTS_S	= 30,		/* to copy them out, */
	SOON_MS		= 250,		/* while the judge waits: each cell's, */
	SOON_ALL_S	= 5,		/* and in all, */
	ARTIFACTS_BYTES	= 256 << 20,	/* their bytes, */
	ARTIFACTS_TOLD	= 10,		/* and of what can't be: names */

	ANSWER_BYTES	= 128 << 20,	/* of its files, */
	ANSWER_NAMES	= 256 << 10,	/* of their paths, */
	ANSWER_ENTRIES	= 2000		/* and how many there are */
};

struct run {
	const struct judge_plan *p;
	struct result *r;
	struct answers *answers;
	struct sandbox box;
	bool	 boxed;
	int	 answer_spec, judge_spec;	/* of the files of each */
	struct bl_cell judge, answer;
	struct fresh_conf fresh;	/* further answer cells */
	uint64_t deadline;		/* of the judge, */
	uint64_t late;			/* and of its answers */
	struct bl_spawn js;
	int	 report;
	unsigned left_out, artifacts;	/* of artifacts, and cells that had some */
	uint64_t soon_ns;		/* left of SOON_ALL_S */
	uint64_t copied_ns;		/* when ARTIFACTS_S are over, or 0 */
	uint64_t pidns[2];		/* of judge and answer, once seen */
};

static void
fd_shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void artifacts_soon(void *ctx, struct bl_cell *c);

/* --- setting up ---------------------------------------------------------- */

static int
too_few(uint32_t slots, struct bl_err *e)
{
	(void)err_set(e, BL_KIND_SETUP, "slots_too_few", "cell/slot", 0,
	    "a judged run needs two cells at once, and the rules give this "
	    "user fewer");
	err_object(e, "%u cell%s", slots, slots == 1 ? "" : "s");
	err_hint(e, "as root: give this user \"slots 2\" or more in "
	    "/etc/bailiff/policy, then run bailiff-rules compile "
	    "/etc/bailiff/policy -o /etc/bailiff/rules");
	return -1;
}

static int
cells_open(struct run *u)
{
	struct bl_helper *h = &u->box.helper;
	struct bl_err *e = &u->r->fail;
	struct bl_cell_spec j = u->p->cell, s;
	uint64_t grace = u->p->judge_ns / 4;
	/* each init starts by itself: both at once */
	bool both = h->way.way >= BL_WAY_BWRAP;

	if (grace > GRACE_MAX_S * 1000000000ULL)
		grace = GRACE_MAX_S * 1000000000ULL;
	cellspec_limits(&j);
	answers_memory(u->answers, j.limits.memory);
	u->deadline = now_ns() + u->p->judge_ns;
	j.lasts = u->p->keep;
	s = j;
	j.role = BL_ROLE_JUDGE;
	j.deadline_ns = u->deadline + (u->p->shared && u->p->artifacts >= 0 ?
	    ARTIFACTS_S * 1000000000ULL : 0);
	j.host_net = u->p->host_net;
	if (j.host_net)
		j.need &= ~(uint32_t)BL_NEED_NET;
	s.host_net = false;
	s.role = BL_ROLE_ANSWER;
	u->late = s.deadline_ns = u->deadline - grace;
	answers_until(u->answers, u->late);
	/* a cell does nothing after its deadline: it must outlive the judge */
	if (u->p->artifacts >= 0) {
		s.deadline_ns = u->deadline +
		    (ARTIFACTS_S + 2 * SLACK_S) * 1000000000ULL;
	}
	cell_ask(h, &j, &u->judge);
	if (both)
		cell_ask(h, &s, &u->answer);
	if (cell_take(h, &j, &u->judge, e) != 0)
		return -1;
	if (!both) {
		if (h->hello.slots < 2)		/* waiting would not help */
			return too_few(h->hello.slots, e);
		cell_ask(h, &s, &u->answer);
	}
	if (cell_take(h, &s, &u->answer, e) != 0)
		return -1;
	s.lasts = false;
	u->fresh = (struct fresh_conf){ .helper = h, .spec = s,
	    .files = u->answer_spec, .seen = &u->r->prot,
	    .apart = { u->judge.info.uid, u->answer.info.uid } };
	answers_fresh(u->answers, &u->fresh, h->hello.slots);
	if (u->p->artifacts >= 0)
		answers_leaving(u->answers, artifacts_soon, u);
	return 0;
}

/* Seals w and frees it. */
static int
seal(struct specw *w, int r, struct bl_err *e)
{
	int fd = r == 0 ? specw_seal(w, e) : -1;

	specw_free(w);
	return fd;
}

/* Read once: both cells get the same bytes, whoever goes on writing them. */
static int
answer_put(const struct judge_plan *p, struct specw *w, struct bl_err *e)
{
	struct walk k = { .dir = p->answer, .name = "the answer",
	    .what = "answer", .kind = BL_KIND_REFUSED, .below = p->answer_name,
	    .bytes = ANSWER_BYTES, .names = ANSWER_NAMES,
	    .entries = ANSWER_ENTRIES, .w = w, .e = e };
	struct stat st;
	bool known = fstat(p->answer, &st) == 0;

	if (known && S_ISDIR(st.st_mode))
		return walk_tree(&k);
	if (known && st.st_size > ANSWER_BYTES)
		return err_set(e, BL_KIND_REFUSED, "answer_too_large",
		    "answer", EFBIG, "the answer has more than %d MiB",
		    ANSWER_BYTES >> 20);
	return specw_put_fd(w, p->answer_name, 0644, p->answer, e);
}

/* Where a cell's /etc/resolv.conf points to.  A host may have none. */
static int
resolver_put(struct specw *w, struct bl_err *e)
{
	int fd = open("/etc/resolv.conf", O_RDONLY | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC), r;

	if (fd < 0)
		return 0;
	r = specw_put_fd(w, "/run/resolv.conf", 0644, fd, e);
	(void)close(fd);
	return r;
}

static int
judge_files(struct run *u, const struct specw *answer)
{
	const struct judge_plan *p = u->p;
	struct bl_err *e = &u->r->fail;
	struct specw *w = specw_new();
	int r;

	if (w == NULL)
		return err_memory(e, "judge");
	r = deepgym_put(p->env, w, p->answer_name, p->answer_path, e);
	if (r == 0)
		r = specw_join(w, answer, e);
	if (r == 0)
		r = runtime_judge(w, e);
	if (r == 0)
		r = specw_listen(w, NOTE_GUEST, e);
	if (r == 0 && u->p->host_net)
		r = resolver_put(w, e);
	u->judge_spec = seal(w, r, e);
	return u->judge_spec < 0 ? -1 : 0;
}

/* What goes into each cell, read while the helper starts. */
static int
files_read(struct run *u)
{
	struct bl_err *e = &u->r->fail;
	struct specw *w = specw_new();
	int r;

	if (w == NULL)
		return err_memory(e, "judge");
	r = answer_put(u->p, w, e);
	if (r == 0)
		r = judge_files(u, w);
	if (r == 0)
		r = runtime_answer(w, e);
	u->answer_spec = seal(w, r, e);
	return u->answer_spec < 0 ? -1 : 0;
}

/* Waits for the end of a spawn that only writes files. */
static int
files_done(struct run *u, struct bl_spawn *s, const char *whose)
{
	struct bl_err *e = &u->r->fail;
	uint64_t until = u->deadline + SLACK_S * 1000000000ULL;
	int r = 1;

	while (!s->ended && r > 0)
		r = spawn_event(s, until, e);
	if (r <= 0)
		return r < 0 ? -1 : err_set(e, BL_KIND_INFRA, "cell_silent",
		    "judge/files", ETIMEDOUT,
		    "the %s's cell did not take its files in time", whose);
	if (s->end.kind == BL_EV_EXIT) {
		if (s->end.u.exit.wait_status == 0 && s->started)
			return 0;
		if (s->end.u.exit.limit == BL_LIMIT_TIME)
			return err_set(e, BL_KIND_SETUP, "judge_time_short",
			    "judge/files", 0, "--judge-timeout was over "
			    "before the judge could be started");
		return err_set(e, BL_KIND_INFRA, "files_not_written",
		    "judge/files", 0, "the %s's files could not be written",
		    whose);
	}
	if ((s->end.step == BL_AT_STEP && (s->end.status == -ENOSPC ||
	    s->end.status == -EFBIG)) || (s->end.step == BL_AT_LAUNCH &&
	    WIFSIGNALED((int)s->end.object) &&
	    WTERMSIG((int)s->end.object) == SIGXFSZ))
		return err_set(e, BL_KIND_SETUP, "files_too_large",
		    "judge/files", s->end.status,
		    "the %s's files need more room than --disk and --fsize "
		    "give", whose);
	return err_at(e, s->end.step, s->end.object, s->end.status);
}

/* What holds for both cells; less than was required ends the run. */
static int
look(struct run *u, const struct bl_spawn *j, const struct bl_spawn *a)
{
	struct bl_protections b, *to = &u->r->prot;
	bool net = (u->p->cell.need & BL_NEED_NET) != 0;

	protections_of(&u->box.helper, &u->judge, &j->start.u.seen, net, to);
	protections_of(&u->box.helper, &u->answer, &a->start.u.seen, net, &b);
	/* each has its own, which is more than not the host's */
	b.uid = b.uid && u->judge.info.uid != u->answer.info.uid;
	b.net = b.net && j->start.u.seen.ns[0] != a->start.u.seen.ns[0];
	b.mount = b.mount && j->start.u.seen.ns[1] != a->start.u.seen.ns[1];
	b.pid = b.pid && j->start.u.seen.ns[2] != a->start.u.seen.ns[2];
	b.ipc = b.ipc && j->start.u.seen.ns[3] != a->start.u.seen.ns[3];
	/* what the judge was given by name is no lack of the answer's */
	to->net = to->net || u->p->host_net;
	protections_join(to, &b);
	u->pidns[0] = j->start.u.seen.ns[2];
	u->pidns[1] = a->start.u.seen.ns[2];
	u->r->seen = true;
	return cellspec_seen(&u->p->cell, to, &u->r->fail);
}

/* Files into both cells at once; then answers may be asked for. */
static int
files_write(struct run *u)
{
	struct bl_err *e = &u->r->fail;
	struct bl_spawn a, j;
	int r;

	if (cell_spawn(&u->answer, u->answer_spec, 0, 0, &a, e) != 0)
		return -1;
	if (cell_spawn(&u->judge, u->judge_spec, 0, 0, &j, e) != 0) {
		spawn_close(&a);
		return -1;
	}
	r = files_done(u, &a, "answer");
	if (r == 0)
		r = files_done(u, &j, "judge");
	if (r == 0 && j.listener < 0)
		r = err_set(e, BL_KIND_INFRA, "protocol", "judge/files",
		    EPROTO, "no listener came from the judge's cell");
	if (r == 0)
		r = cell_listen(&u->answer, j.listener, &u->report, e);
	if (r == 0)
		r = look(u, &j, &a);
	spawn_close(&a);
	spawn_close(&j);
	return r;
}

/* --- the judge ----------------------------------------------------------- */

/* A Python verifier's command, up to its own arguments. */
static int
runner_args(struct run *u, struct specw *w)
{
	const struct judge_plan *p = u->p;
	struct bl_err *e = &u->r->fail;
	char seconds[40];
	int r = 0;

	(void)snprintf(seconds, sizeof seconds, "%llu.%09llu",
	    (unsigned long long)(p->answer_ns / 1000000000U),
	    (unsigned long long)(p->answer_ns % 1000000000U));
	r |= specw_arg(w, "python3", e);
	r |= specw_arg(w, RUNTIME_RUNNER, e);
	if (p->shared)
		r |= specw_arg(w, "--shared", e);
	r |= specw_arg(w, "--timeout", e);
	r |= specw_arg(w, seconds, e);
	return r | specw_arg(w, p->env->judge_name, e);
}

static int
judge_spec(struct run *u, struct specw *w)
{
	const struct judge_plan *p = u->p;
	struct bl_err *e = &u->r->fail;
	int r = 0;

	if (p->env->python) {
		r |= runner_args(u, w);
	} else {
		char path[64];

		(void)snprintf(path, sizeof path, "./%s", p->env->judge_name);
		r |= specw_arg(w, path, e);
	}
	r |= specw_arg(w, p->answer_name, e);
	if (p->env->tests)
		r |= specw_arg(w, "test_cases.json", e);
	r |= specw_base_env(w, BL_ROLE_JUDGE, e);
	r |= deepgym_env(p->env, w, e);
	for (size_t i = 0; r == 0 && i < p->nvars; i++)
		r |= specw_env(w, p->vars[i], e);
	/* last, so that nobody's value stands in their place */
	r |= specw_env(w, "BAILIFF_ANSWER=" NOTE_PROGRAM, e);
	r |= specw_env(w, "BAILIFF_RESULT_FD=3", e);
	return r | specw_listen(w, NOTE_RUN, e);
}

static int
judge_start(struct run *u)
{
	struct bl_err *e = &u->r->fail;
	struct specw *w = specw_new();
	uint64_t until = u->deadline + SLACK_S * 1000000000ULL;
	uint64_t now = now_ns();
	int spec, r;

	if (w == NULL)
		return err_memory(e, "judge");
	spec = seal(w, judge_spec(u, w), e);
	if (spec < 0)
		return -1;
	r = cell_spawn(&u->judge, spec, u->deadline > now ? u->deadline - now :
	    1, SPAWN_OUT | SPAWN_ERR | SPAWN_RES,
	    &u->js, e);
	(void)close(spec);
	if (r != 0)
		return -1;
	r = 1;
	answers_avoid(u->answers, 0, u->js.out);
	answers_avoid(u->answers, 1, u->js.result);
	while (!u->js.started && !u->js.ended && r > 0)
		r = spawn_event(&u->js, until, e);
	if (r <= 0)
		return r < 0 ? -1 : err_set(e, BL_KIND_INFRA, "cell_silent",
		    "judge/start", ETIMEDOUT,
		    "the judge's cell did not start the judge in time");
	if (u->js.ended)
		return 0;		/* judge_ended says why */
	if (u->js.listener < 0)
		return err_set(e, BL_KIND_INFRA, "protocol", "judge/start",
		    EPROTO, "no listener came from the judge");
	return answers_watch(u->answers, u->js.listener, u->report,
	    &u->answer);
}

static unsigned
extra(void *ctx, struct pollfd *pf)
{
	return answers_fill(((struct run *)ctx)->answers, pf);
}

static void
on_extra(void *ctx, const struct pollfd *pf, unsigned n)
{
	struct run *u = ctx;

	answers_take(u->answers, pf, n);
	if (u->r->fail.kind != BL_KIND_NONE)
		spawn_kill(&u->js);	/* no verdict can come of it any more */
}

static void
judge_counted(void *ctx)
{
	struct run *u = ctx;

	u->r->counted = cgroup_there(&u->judge.group);
	cgroup_read(&u->judge.group, &u->r->judge_counted);
}

/*
 * A judge's cell that has used up its memory may lose its init, which is in the
 * same control group: that is the judge's end, no failure of ours.
 */
static int
judge_out_of_memory(struct run *u)
{
	struct bl_err *e = &u->r->fail;

	/* not the one of an answer, which has the same code */
	if (strcmp(e->code, "cell_gone") != 0 || e->kind != BL_KIND_INFRA ||
	    strncmp(e->step, "judge/", 6) == 0)
		return -1;
	judge_counted(u);
	if (!cgroup_ran_out(&u->r->judge_counted, NULL))
		return -1;
	e->kind = BL_KIND_NONE;
	u->js.ended = true;
	u->js.end = (struct bl_rep){ .kind = BL_EV_EXIT, .u.exit = {
	    .wait_status = SIGKILL, .limit = BL_LIMIT_MEMORY } };
	return 0;
}

static int
judge_pump(struct run *u, struct pump *m)
{
	*m = (struct pump){ .from = -1,
	    .out = { .to = -1, .keep_tail = VERDICT_LINE_MAX,
		.max = UINT64_MAX, .drop = true },
	    .err = { .to = -1, .keep = STDERR_KEPT, .max = UINT64_MAX,
		.drop = true },
	    .result = { .to = -1, .keep = VERDICT_LINE_MAX + 1,
		.max = UINT64_MAX, .drop = true },
	    .until_ns = u->deadline + SLACK_S * 1000000000ULL,
	    .cancel_fd = u->p->cancel_fd,
	    .extra = extra, .on_extra = on_extra, .on_end = judge_counted,
	    .ctx = u };
	return pump_run(m, &u->js, &u->r->fail) == 0 ? 0 :
	    judge_out_of_memory(u);
}

/* Nothing of the judge's has run. */
static void
judge_not_started(struct run *u)
{
	const struct bl_rep *end = &u->js.end;
	struct bl_err *e = &u->r->fail;
	const char *what = u->p->env->python ? "python3" : "its interpreter";

	if (end->step != BL_AT_EXEC) {
		(void)err_at(e, end->step, end->object, end->status);
		return;
	}
	(void)err_set(e, BL_KIND_JUDGE, "judge_not_started", "judge/start",
	    end->status, "the judge can't be started by %s: %s", what,
	    strerror(-end->status));
	if (end->status == -ENOENT)
		err_hint(e, "%s must be in the cell's PATH, as its line is "
		    "written; --expose shows a folder", what);
}

/* The last line of its standard error: mostly what an exception says. */
static void
last_words(const struct result *r, struct bl_err *e)
{
	size_t end = r->judge_nerr, from;
	const char *s = r->judge_err;

	while (end > 0 && (s[end - 1] == '\n' || s[end - 1] == ' '))
		end--;
	for (from = end; from > 0 && s[from - 1] != '\n'; from--)
		;
	if (end > from)
		err_hint(e, "its last words: %.*s; --json has all of its "
		    "standard error", (int)(end - from > 160 ? 160 :
		    end - from), s + from);
	else
		err_hint(e, "--json tells how it ended");
}

static void
judge_ended(struct run *u, struct pump *m)
{
	struct result *r = u->r;

	if (u->js.end.kind != BL_EV_EXIT) {
		judge_not_started(u);
		return;
	}
	r->judged = true;
	r->judge = u->js.end.u.exit;
	if (r->counted)
		cgroup_facts_of(&r->judge_counted, &r->judge);
	r->judge_err = m->err.data;
	r->judge_nerr = m->err.n;
	r->judge_err_cut = m->err.bytes > m->err.n;
	m->err.data = NULL;
	m->err.n = 0;
	if (r->fail.kind != BL_KIND_NONE)
		return;
	if (m->result.bytes > 0)
		verdict_document(&r->v, m->result.data, m->result.n,
		    m->result.bytes > m->result.n);
	else
		verdict_line(&r->v, m->out.tail, m->out.ntail,
		    m->out.bytes > m->out.ntail);
	verdict_end(&r->v, &r->judge);
	if (r->v.reason != NULL)
		(void)err_set(&r->fail, strcmp(r->v.reason, "no_memory") == 0 ?
		    BL_KIND_INFRA : BL_KIND_JUDGE, r->v.reason, "judge", 0,
		    "%s", r->v.detail);
	if (r->v.reason != NULL && r->fail.hint[0] == '\0')
		last_words(r, &r->fail);
	if (r->v.clipped && r->v.reason == NULL)
		result_warn(r, "a number in the verdict was too large and "
		    "was cut to the largest there is");
}

/* --- what the answer left ------------------------------------------------- */

static void
left_out(void *ctx, const struct bl_err *why)
{
	struct run *u = ctx;
	char name[sizeof why->object];

	walk_name(why->object, name, sizeof name);
	if (u->left_out++ < ARTIFACTS_TOLD)
		result_warn(u->r, "artifacts: %s was left out: %s", name,
		    why->message);
}

/*
 * No verdict hangs on them: what can't be had is a warning.  Several cells may
 * have left some; of those with one name the last one's stays.
 */
static void
artifacts_until(struct run *u, struct bl_cell *c, uint64_t until)
{
	const struct get_most m = { .max_bytes = ARTIFACTS_BYTES,
	    .until_ns = until,
	    .cancel_fd = u->p->cancel_fd, .left_out = left_out, .ctx = u };
	struct bl_err e = { .kind = BL_KIND_NONE };

	if (get_most(c, "artifacts", u->p->artifacts, &m, &e) == 0)
		u->artifacts++;
	else if (strcmp(e.code, "get_missing") != 0)
		result_warn(u->r, "artifacts: %s%s",
		    e.kind == BL_KIND_SETUP ? "" : "not all were copied: ",
		    e.message);
}

/* When the judge has ended: all of them together have their time. */
static void
artifacts_of(void *ctx, struct bl_cell *c)
{
	struct run *u = ctx;

	if (u->copied_ns == 0)
		u->copied_ns = now_ns() + ARTIFACTS_S * 1000000000ULL;
	artifacts_until(u, c, u->copied_ns);
}

/*
 * Of a cell that goes while the judge is there.  It and the answers that it has
 * started meanwhile wait for us, and nothing that an answer leaves may make that
 * long: what there was no time for is left out.
 */
static void
artifacts_soon(void *ctx, struct bl_cell *c)
{
	struct run *u = ctx;
	uint64_t from = now_ns(), until = from + SOON_MS * 1000000ULL;

	if (until > from + u->soon_ns)
		until = from + u->soon_ns;
	if (until > u->late)		/* the judge's grace is its own */
		until = u->late;
	artifacts_until(u, c, until);
	from = now_ns() - from;
	u->soon_ns -= from < u->soon_ns ? from : u->soon_ns;
}

static void
artifacts(struct run *u)
{
	if (u->p->artifacts < 0 || u->answer.owner < 0)
		return;
	/* the judge is over, whatever became of it: nobody starts answers */
	if (u->p->shared)
		artifacts_of(u, &u->judge);
	if (!u->p->keep)
		cell_close(&u->judge);
	answers_leaving(u->answers, artifacts_of, u);
	answers_left(u->answers);
	artifacts_of(u, &u->answer);
	if (u->artifacts == 0 && u->p->verbose)
		result_warn(u->r, "artifacts: the answer made no such folder");
	if (u->left_out > ARTIFACTS_TOLD)
		result_warn(u->r, "artifacts: %u more were left out",
		    u->left_out - ARTIFACTS_TOLD);
}

/* Both cells go on without us; nothing runs in them but their init. */
static void
keep(struct run *u)
{
	struct bl_cell *const cells[] = { &u->judge, &u->answer };
	struct bl_err e = { .kind = BL_KIND_NONE };

	if (!u->p->keep)
		return;
	if (u->judge.owner < 0 || u->answer.owner < 0 || !u->r->seen)
		result_warn(u->r, "--keep: there were no cells to keep");
	else if (keep_cells(&u->box.helper, cells, u->pidns, 2, &u->r->kept,
	    &e) != 0)
		result_warn(u->r, "--keep: %s", e.message);
}

static void
run_init(struct run *u, const struct judge_plan *p, struct result *r)
{
	u->p = p;
	u->r = r;
	u->answer_spec = u->judge_spec = -1;
	u->soon_ns = SOON_ALL_S * 1000000000ULL;
	u->judge.owner = u->answer.owner = u->report = -1;
	u->js = (struct bl_spawn){ .reply = -1, .in = -1, .out = -1,
	    .err = -1, .result = -1, .listener = -1 };
}

/* Everything up to the judge's first instruction. */
static int
set_up(struct run *u)
{
	const struct provider *by = u->p->by;
	const struct answers_conf want = { .wall_ns = u->p->answer_ns,
	    .max_output = u->p->max_output, .keep = u->p->keep_output,
	    .vars = u->p->vars, .nvars = u->p->nvars };
	struct bl_err *e = &u->r->fail;
	char text[512];

	u->answers = answers_new(u->r, &want);
	if (u->answers == NULL || by->create(&u->box, &u->p->ask,
	    e) != 0)
		return -1;
	u->boxed = true;
	u->r->way = way_name(u->box.helper.way.way);
	if (way_warning(&u->box.helper.way, text, sizeof text))
		result_warn(u->r, "%s", text);
	(void)snprintf(u->r->sandbox, sizeof u->r->sandbox, "%s", u->box.id);
	if (files_read(u) != 0 || by->ready(&u->box, e) != 0)
		return -1;
	u->r->way = way_name(u->box.helper.way.way);
	return cells_open(u) == 0 && files_write(u) == 0 ? judge_start(u) : -1;
}

static void
run_free(struct run *u)
{
	answers_free(u->answers);
	spawn_close(&u->js);
	keep(u);
	cell_close(&u->answer);
	cell_close(&u->judge);
	fd_shut(&u->report);
	fd_shut(&u->answer_spec);
	fd_shut(&u->judge_spec);
	if (u->boxed)
		u->p->by->destroy(&u->box);
	free(u);
}

void
judge_run(const struct judge_plan *p, struct result *r)
{
	uint64_t from = now_ns();
	struct run *u = calloc(1, sizeof *u);
	struct pump m = { .from = -1 };
	bool up;

	if (u == NULL) {
		(void)err_memory(&r->fail, "judge");
		return;
	}
	run_init(u, p, r);
	r->shared = p->shared;
	up = set_up(u) == 0;
	if (up && p->host_net)
		result_warn(r, "the judge has the host's network "
		    "(--judge-net host)");
	if (up && judge_pump(u, &m) == 0) {
		answers_drain(u->answers);
		judge_ended(u, &m);
	}
	if (u->answers != NULL)
		answers_tell(u->answers);
	artifacts(u);
	pump_free(&m);
	run_free(u);
	r->wall_ns = now_ns() - from;
}

/* bailiff run: judges one answer. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../providers/registry.h"
#include "bailiff.h"
#include "cancel.h"
#include "cellspec.h"
#include "cmd.h"
#include "deepgym.h"
#include "doctor.h"
#include "json.h"
#include "judge.h"
#include "note.h"
#include "opts.h"
#include "result.h"
#include "sink.h"
#include "tell.h"

#define SECOND 1000000000ULL

enum { EXIT_NONE = 3, EXIT_CANCELLED = 130, EXIT_USAGE = 64, WRITE_S = 30, SUFFIX_MAX = 16 };

struct rn {
	struct opts o;
	char	*judge, *answer;	/* --judge, --answer */
	char	*artifacts;		/* --artifacts, and that folder: */
	int	 artifacts_fd;
	uint64_t judge_ns, keep_output;
	bool	 exit_zero, shared, host_net;
	bool	 file;			/* the defaults' file is being read */
	const char *env;		/* the folder's path, or NULL */
	struct deepgym dg;
	int	 answer_fd, cancel;
	char	 answer_name[16 + SUFFIX_MAX];
	struct opt_list vars;
	struct bl_cell_spec cell;
	struct result res;
};

static const char usage[] =
"usage: bailiff run ENV --answer PATH [options]\n"
"       bailiff run --judge VERIFIER --answer PATH [options]\n"
"\n"
"Judges PATH: the verifier of the DeepGym folder ENV runs in one cell, and\n"
"each run of the answer that it asks for in another. Exit status: 0 passed,\n"
"1 not passed, 3 no verdict, 64 usage, 77 refused, 130 cancelled.\n"
"\n"
"      --answer PATH        the answer: a file, called solution with its own\n"
"                           suffix, or a folder, called solution\n"
"      --judge VERIFIER     a verifier alone, instead of ENV\n"
"      --judge-mode MODE    separate, or shared: a Python verifier may run the\n"
"                           answer in its own process (default separate)\n"
"      --judge-timeout S    of the judge (default 120); its last 10 s, or its\n"
"                           last quarter, belong to the judge alone\n"
"      --keep-output SIZE   of an answer's streams in the result (default 4k)\n"
"      --judge-net NET      loopback, or host: the judge, and it alone, has this\n"
"                           host's network\n"
"      --artifacts DIR      gets what the answer left in its folder artifacts;\n"
"                           DIR is made, or is empty\n"
"      --exit-zero          0 for every verdict\n"
"\n"
"-t is for one run of the answer; -e gives a variable to judge and answer.\n"
"\n";

/* What belongs to one run is no default of a user's. */
static int
typed(const struct rn *x, const char *name, struct bl_err *e)
{
	return !x->file ? 0 : err_set(e, BL_KIND_USAGE, "bad_config", "config",
	    0, "\"%s\" can't be set here", name);
}

static int
set_answer(void *ctx, const char *val, struct bl_err *e)
{
	struct rn *x = ctx;

	if (typed(x, "answer", e) != 0)
		return -1;
	if (x->answer != NULL)
		return err_set(e, BL_KIND_USAGE, "usage", "options", 0,
		    "--answer: one answer in a run");
	return opt_string(&x->answer, val, e);
}

static int
set_judge(void *ctx, const char *val, struct bl_err *e)
{
	return typed(ctx, "judge", e) != 0 ? -1 :
	    opt_string(&((struct rn *)ctx)->judge, val, e);
}

static int
set_artifacts(void *ctx, const char *val, struct bl_err *e)
{
	return typed(ctx, "artifacts", e) != 0 ? -1 :
	    opt_string(&((struct rn *)ctx)->artifacts, val, e);
}

static int
set_judge_mode(void *ctx, const char *val, struct bl_err *e)
{
	bool shared = strcmp(val, "shared") == 0;

	if (!shared && strcmp(val, "separate") != 0)
		return err_set(e, BL_KIND_USAGE, "usage", "options", 0,
		    "--judge-mode wants separate or shared, not %.60s", val);
	((struct rn *)ctx)->shared = shared;
	return 0;
}

static int
set_judge_net(void *ctx, const char *val, struct bl_err *e)
{
	bool host = strcmp(val, "host") == 0;

	if (!host && strcmp(val, "loopback") != 0)
		return err_set(e, BL_KIND_USAGE, "usage", "options", 0,
		    "--judge-net wants loopback or host, not %.60s", val);
	((struct rn *)ctx)->host_net = host;
	return 0;
}

static int
set_judge_timeout(void *ctx, const char *val, struct bl_err *e)
{
	return opt_seconds("judge-timeout", val, &((struct rn *)ctx)->judge_ns,
	    e);
}

static int
set_keep_output(void *ctx, const char *val, struct bl_err *e)
{
	struct rn *x = ctx;

	if (opt_size("keep-output", val, &x->keep_output, e) != 0)
		return -1;
	return x->keep_output <= NOTE_KEEP_MAX ? 0 : err_set(e, BL_KIND_USAGE,
	    "usage", "options", 0, "--keep-output: at most %d bytes",
	    NOTE_KEEP_MAX);
}

static int
set_exit_zero(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	((struct rn *)ctx)->exit_zero = strcmp(val, "yes") == 0;
	return 0;
}

static const struct opt_def own[] = {
	{ "answer", 0, true, set_answer },
	{ "artifacts", 0, true, set_artifacts },
	{ "judge", 0, true, set_judge },
	{ "judge-mode", 0, true, set_judge_mode },
	{ "judge-net", 0, true, set_judge_net },
	{ "judge-timeout", 0, true, set_judge_timeout },
	{ "keep-output", 0, true, set_keep_output },
	{ "exit-zero", 0, false, set_exit_zero },
	{ NULL, 0, false, NULL }
};

static int
bad_usage(struct rn *x, const char *what)
{
	return err_set(&x->res.fail, BL_KIND_USAGE, "usage", "options", 0,
	    "%s", what);
}

static void
warn(struct rn *x, const char *s)
{
	result_warn(&x->res, "%s", s);
}

static int
defaults(struct rn *x)
{
	int r;

	x->file = true;
	r = opts_config(&x->o, own, x, &x->res.fail);
	x->file = false;
	/* exec's: judge and answer start in /work, and here it is no fault */
	free(x->o.workdir);
	x->o.workdir = NULL;
	return r;
}

/* ENV may stand before, between and behind the options.  0, or -1. */
static int
words(struct rn *x, int argc, char **argv)
{
	struct bl_err *e = &x->res.fail;
	int at = defaults(x);
	bool rest = false;		/* -- was there: no more options */

	for (at = at == 0 ? 1 : -1; at > 0 && at < argc;) {
		at = rest ? at : opts_parse(&x->o, argc, argv, at, own, x, e);
		if (at < 0 || at >= argc)
			break;
		rest = rest || strcmp(argv[at - 1], "--") == 0;
		if (x->env != NULL)
			return bad_usage(x, "wants one ENV");
		x->env = argv[at++];
	}
	return at < 0 ? -1 : 0;
}

/* What this build can't do is said before anything is started. */
static int
options_fit(struct rn *x)
{
	const char *warning;

	if (opts_mode(&x->o, &x->res.mode, &warning, &x->res.fail) != 0)
		return -1;
	if (warning != NULL)
		warn(x, warning);
	if (x->shared && x->host_net)
		return bad_usage(x, "--judge-net host and --judge-mode shared: "
		    "the answer would have the host's network");
	if (x->o.image != NULL)
		return bad_usage(x, "--image: local mode has no images");
	if (x->o.cells)
		return bad_usage(x, "--cells: only for containers; on this "
		    "host there are only full cells");
	if (x->o.meta != NULL)
		return bad_usage(x, "--meta: belongs to exec");
	if (x->o.workdir != NULL)
		return bad_usage(x, "--workdir: judge and answer start in "
		    "/work");
	return 0;
}

static int
groups(struct rn *x)
{
	const char *warning;

	x->cell.need |= x->o.require & BL_NEED_CGROUP;
	if (opts_cgroup(&x->o, &warning, &x->res.fail) != 0)
		return -1;
	if (warning != NULL)
		warn(x, warning);
	return 0;
}

/* What this run is of. */
static int
names_fit(struct rn *x)
{
	if ((x->env == NULL) == (x->judge == NULL))
		return bad_usage(x, "wants ENV, or --judge VERIFIER instead");
	return x->answer != NULL ? 0 : bad_usage(x, "wants --answer PATH");
}

/* "solution", with the suffix that a file has. */
static int
name_answer(struct rn *x, bool folder)
{
	const char *base = strrchr(x->answer, '/'), *dot;

	base = base == NULL ? x->answer : base + 1;
	dot = strrchr(base, '.');
	if (dot == base || folder)
		dot = NULL;
	if (dot != NULL && (strlen(dot) > SUFFIX_MAX ||
	    strspn(dot + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_+-") != strlen(dot + 1)))
		return bad_usage(x, "--answer: a suffix has up to 15 letters, "
		    "digits, _, + or -");
	(void)snprintf(x->answer_name, sizeof x->answer_name, "solution%s",
	    dot == NULL ? "" : dot);
	return 0;
}

static int
open_answer(struct rn *x)
{
	struct bl_err *e = &x->res.fail;
	struct stat st;

	/* O_NONBLOCK: a pipe without a writer must not hold this up */
	x->answer_fd = open(x->answer, O_RDONLY | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC);
	if (x->answer_fd < 0 && errno == ENXIO)
		(void)err_set(e, BL_KIND_REFUSED, "answer_not_a_file",
		    "answer", 0, "the answer is neither a plain file nor a "
		    "folder");
	else if (x->answer_fd < 0 || fstat(x->answer_fd, &st) != 0)
		(void)err_set(e, BL_KIND_SETUP, "answer_unreadable", "answer",
		    errno, "the answer can't be opened: %s", strerror(errno));
	else if (S_ISDIR(st.st_mode))
		return name_answer(x, true);
	else if (!S_ISREG(st.st_mode))
		(void)err_set(e, BL_KIND_REFUSED, "answer_not_a_file",
		    "answer", 0, "the answer is neither a plain file nor a "
		    "folder");
	else
		return name_answer(x, false);
	err_object(e, "%s", x->answer);
	return -1;
}

static int
places(struct rn *x)
{
	struct bl_err *e = &x->res.fail;
	struct bl_cell_spec *s = &x->cell;
	const struct opts *o = &x->o;
	char dir[256];
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->ro_bind.n; i++) {
		const char *dst;
		char *src;

		r = opt_pair("ro-bind", o->ro_bind.v[i], &src, &dst, e);
		if (r == 0) {
			r = cellspec_bind(s, src, dst, "--ro-bind", e);
			free(src);
		}
	}
	for (size_t i = 0; r == 0 && i < o->expose.n; i++)
		r = cellspec_expose(s, o->expose.v[i], e);
	for (uint32_t i = 0; r == 0 && i < s->nplaces; i++)
		if (cellspec_dangles(s, i, dir, sizeof dir))
			result_warn(&x->res, "%s/bin/python3 leads to %s, "
			    "which a cell has not: --expose %s as well",
			    s->place[i].dst, dir, dir);
	for (size_t i = 0; r == 0 && i < o->tmpfs.n; i++) {
		char *dst = strdup(o->tmpfs.v[i]), *colon;
		uint64_t size = 0;

		if (dst == NULL)
			return err_memory(e, "options");
		colon = strrchr(dst, ':');
		if (colon != NULL) {
			*colon = '\0';
			r = opt_size("tmpfs", colon + 1, &size, e);
		}
		if (r == 0)
			r = cellspec_tmpfs(s, dst, size, e);
		free(dst);
	}
	return r;
}

/* The variables of both roles: where exposed programs are, then -e's own. */
static int
variables(struct rn *x)
{
	const struct opts *o = &x->o;
	uint32_t from = (uint32_t)o->ro_bind.n;
	char path[4096];
	int r = 0;

	if (o->expose.n > 0) {
		cellspec_path(&x->cell, from, from + (uint32_t)o->expose.n,
		    path, sizeof path);
		r = opt_add(&x->vars, path, &x->res.fail);
	}
	for (size_t i = 0; r == 0 && i < o->env.n; i++)
		r = opt_add(&x->vars, o->env.v[i], &x->res.fail);
	return r;
}

static void
limits(struct rn *x)
{
	struct bl_cell_spec *s = &x->cell;

	s->disk = x->o.disk;
	s->limits.memory = x->o.memory;
	s->limits.fsize = x->o.fsize;
	s->limits.pids = (uint32_t)x->o.pids;
	s->cpus_milli = (uint32_t)x->o.cpus_milli;
	s->cpus_given = x->o.cpus_milli != 0;
	s->limits.cpu_ms = (uint32_t)x->o.cpu_ms;
}

static bool
is_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *de;
	bool empty = d != NULL;

	while (empty && (de = readdir(d)) != NULL)
		empty = strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0;
	if (d != NULL)
		(void)closedir(d);
	else if (copy >= 0)
		(void)close(copy);
	return empty;
}

/* The folder for what the answer leaves: nothing of it replaces anything. */
static int
open_artifacts(struct rn *x)
{
	struct bl_err *e = &x->res.fail;

	if (x->artifacts == NULL)
		return 0;
	if (mkdir(x->artifacts, 0777) == 0 || errno == EEXIST)
		x->artifacts_fd = open(x->artifacts, O_RDONLY | O_DIRECTORY |
		    O_CLOEXEC);
	if (x->artifacts_fd < 0) {
		(void)err_set(e, BL_KIND_SETUP, "artifacts_folder",
		    "artifacts", errno, "--artifacts: no such folder can be "
		    "made or opened: %s", strerror(errno));
	} else if (!is_empty(x->artifacts_fd)) {
		(void)err_set(e, BL_KIND_SETUP, "artifacts_not_empty",
		    "artifacts", ENOTEMPTY, "--artifacts: the folder is not "
		    "empty, or can't be read");
		err_hint(e, "name one that is not there yet");
	} else
		return 0;
	err_object(e, "%s", x->artifacts);
	return -1;
}

/* Whatever can be refused without starting anything. */
static int
look(struct rn *x)
{
	struct bl_err *e = &x->res.fail;
	int r;

	if (options_fit(x) != 0 || names_fit(x) != 0 || open_answer(x) != 0)
		return -1;
	r = x->env != NULL ? deepgym_open(&x->dg, x->env, e) :
	    deepgym_bare(&x->dg, x->judge, e);
	if (r != 0)
		return -1;
	if (x->shared)
		warn(x, "verifier and answer share one process (--judge-mode "
		    "shared): the answer can write the verdict");
	if (x->dg.image != NULL && x->o.verbose > 0)
		warn(x, "metadata.json's image is not used in local mode");
	limits(x);
	return places(x) == 0 && variables(x) == 0 ? open_artifacts(x) : -1;
}

static void
run(struct rn *x)
{
	struct judge_plan p = { .by = provider_find(x->res.mode),
	    .ask = opts_way(&x->o),
	    .env = &x->dg, .answer = x->answer_fd,
	    .answer_path = x->answer, .answer_name = x->answer_name, .vars = x->vars.v,
	    .nvars = x->vars.n, .shared = x->shared,
	    .host_net = x->host_net, .judge_ns = x->judge_ns,
	    .answer_ns = x->o.timeout_ns,
	    .max_output = x->o.max_output_given ? x->o.max_output : 1 << 20,
	    .keep_output = x->keep_output, .artifacts = x->artifacts_fd,
	    .verbose = x->o.verbose > 0, .keep = x->o.keep,
	    .cell = x->cell };

	if (p.answer_ns == 0)
		p.answer_ns = x->dg.timeout_ns != 0 ? x->dg.timeout_ns :
		    30 * SECOND;
	x->cancel = cancel_open(&x->res.fail);
	if (x->cancel < 0 || groups(x) != 0)
		return;
	p.cell = x->cell;
	p.cancel_fd = x->cancel;
	judge_run(&p, &x->res);
	if (opts_cpus_lost(&x->o, x->res.way))
		warn(x, opts_no_cpus);
}

/* Text to stdout, made safe already.  0, or -1 with *e. */
static int
say(const char *text, uint64_t until, int stop_fd, struct bl_err *e)
{
	size_t n = strlen(text), at = 0;
	struct sink k;
	int r = 0;

	sink_open(&k, 1);
	while (r == 0 && at < n) {
		size_t some = n - at < SINK_IN ? n - at : SINK_IN;

		sink_put(&k, text + at, some);
		at += some;
		r = sink_finish(&k, until, stop_fd);
	}
	sink_close(&k);
	return r == 0 ? 0 : err_set(e, BL_KIND_INFRA, "output_failed",
	    "result", r, "the result can't be written: %s", strerror(-r));
}

static int
say_object(const struct rn *x, uint64_t until, struct bl_err *e)
{
	json_t *o = result_json(&x->res);
	int r = 0;

	if (o == NULL)
		return err_memory(e, "result");
	if (x->o.status_fd >= 0)
		r = json_line(o, x->o.status_fd, until, x->cancel, e);
	if (r == 0 && x->o.json)
		r = json_line(o, 1, until, x->cancel, e);
	json_decref(o);
	return r;
}

/* Tells everything; the exit status says so only when all of it was told. */
static int
finish(struct rn *x)
{
	uint64_t until = now_ns() + WRITE_S * SECOND;
	struct bl_err e = { .kind = BL_KIND_NONE };
	const struct result *r = &x->res;
	struct signalfd_siginfo junk;
	char *text;
	int bad = 0;

	/* one that has ended the run does not stop the telling of it as well */
	if (x->cancel >= 0 && r->fail.kind == BL_KIND_CANCELLED)
		(void)!read(x->cancel, &junk, sizeof junk);
	if (r->fail.kind == BL_KIND_USAGE) {
		tell_err(&r->fail);
		return EXIT_USAGE;
	}
	for (size_t i = 0; !x->o.quiet && i < json_array_size(r->warnings); i++)
		tell("warning: %s",
		    json_string_value(json_array_get(r->warnings, i)));
	for (unsigned i = 0; r->kept.holder > 0 && i < r->kept.n; i++)
		tell_kept(r->kept.cell[i].whose, r->way,
		    r->kept.cell[i].init, r->kept.cell[i].uid);
	if (r->kept.holder > 0)
		tell_holder(r->kept.holder);
	if (x->o.verbose > 0)
		tell("%s: %.1f ms, %zu answer runs", r->sandbox,
		    (double)r->wall_ns / 1e6, json_array_size(r->answers));
	if (!x->o.json) {
		text = result_text(r);
		bad = text == NULL ? err_memory(&e, "result") : say(text, until, x->cancel, &e);
		free(text);
	}
	if (bad == 0 && (x->o.json || x->o.status_fd >= 0))
		bad = say_object(x, until, &e);
	if (bad == 0)
		return result_status(r, x->exit_zero);
	tell_err(&e);
	return e.err == -ECANCELED || e.err == ECANCELED ? EXIT_CANCELLED :
	    EXIT_NONE;
}

static void
rn_free(struct rn *x)
{
	deepgym_close(&x->dg);
	cellspec_close(&x->cell);
	result_free(&x->res);
	if (x->answer_fd >= 0)
		(void)close(x->answer_fd);
	if (x->artifacts_fd >= 0)
		(void)close(x->artifacts_fd);
	if (x->cancel > 2)
		(void)close(x->cancel);
	for (size_t i = 0; i < x->vars.n; i++)
		free(x->vars.v[i]);
	free(x->vars.v);
	free(x->judge);
	free(x->answer);
	free(x->artifacts);
	opts_free(&x->o);
	free(x);
}

static struct rn *
rn_new(void)
{
	struct rn *x = calloc(1, sizeof *x);

	if (x == NULL || result_init(&x->res) != 0) {
		free(x);
		return NULL;
	}
	x->dg.dir = x->dg.judge = x->answer_fd = x->cancel = -1;
	x->artifacts_fd = -1;
	x->judge_ns = 120 * SECOND;
	x->keep_output = 4096;
	cellspec_init(&x->cell);
	opts_init(&x->o, CMD_RUN);
	return x;
}

int
run_defaults(struct doctor_wish *w)
{
	struct rn *x = rn_new();
	int r;

	cellspec_init(&w->cell);
	if (x == NULL)
		return err_memory(&w->e, "config");
	r = defaults(x);
	if (r == 0)
		(void)snprintf(w->line, sizeof w->line, "%s%s",
		    x->o.way != NULL ? "way = " : x->o.require_given ?
		    "require" : "", x->o.way != NULL ? x->o.way : "");
	if (r == 0)
		r = options_fit(x);
	limits(x);
	if (r == 0)
		r = places(x);
	w->ask = opts_way(&x->o);
	w->host_net = x->host_net;
	w->judge_ns = x->judge_ns;
	if (r == 0)
		r = groups(x);
	w->cell = x->cell;
	cellspec_init(&x->cell);	/* the descriptors are w's now */
	w->e = x->res.fail;
	rn_free(x);
	return r;
}

int
cmd_run(int argc, char **argv)
{
	struct rn *x = rn_new();
	int r;

	if (x == NULL) {
		tell("out of memory");
		return EXIT_NONE;
	}
	r = words(x, argc, argv);
	if (r == 0 && x->o.help) {
		r = fputs(usage, stdout) < 0 || fputs(opts_help, stdout) < 0 ||
		    fflush(stdout) != 0 ? EXIT_NONE : 0;
	} else if (r == 0 && x->o.version) {
		r = cmd_version() == 0 ? 0 : EXIT_NONE;
	} else {
		if (r == 0 && look(x) == 0)
			run(x);
		r = finish(x);
	}
	rn_free(x);
	return r;
}

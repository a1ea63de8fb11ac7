/* bailiff selftest: tries what a sandbox forbids; one line for each wall. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "opts.h"
#include "provider.h"
#include "selftest.h"
#include "tell.h"
#include "../providers/registry.h"

enum { EXIT_FAILED = 1, EXIT_NONE = 3, EXIT_USAGE = 64, WRITE_S = 30 };

static const char usage[] =
"usage: bailiff selftest [options]\n"
"\n"
"Makes a judge's cell and an answer's, as a judged run does, and really tries\n"
"in them what they forbid. Each try is made outside as well, where nothing\n"
"forbids it, to show that it would be seen to succeed. One line a wall:\n"
"  pass     it stands: tried in the cell, and in vain\n"
"  fail     what it forbids was possible in the cell\n"
"  unknown  it can't be told here: the try works nowhere on this host\n"
"  absent   this way in does without it, by design\n"
"\n"
"      --mode MODE          auto or local (default auto)\n"
"      --way WAY            how cells are come by on this host (default auto)\n"
"      --json               one JSON object instead of lines\n"
"  -v, --verbose            what was seen of each, in the cell and outside\n"
"  -q, --quiet              only what is not pass, and the sum\n"
"  -h, --help               this text;  --version: version and protocol\n"
"\n"
"Exit status 0: nothing failed; 1: a wall failed, or one of those that must\n"
"stand is unknown; 3: no sandbox could be made; 64: usage.\n";

static const char *const words[STATUS_MAX] = { "pass", "fail", "unknown",
    "absent" };

struct report {
	struct selftest t;
	struct opts o;
	const char *mode;
	unsigned sum[STATUS_MAX];
	bool	 bad;			/* failed, or not known to stand */
	int	 broken;		/* of the JSON: 0, or -1 */
	json_t	*list;
};

static void
wall_json(struct report *r, const struct wall *w, enum status s,
    const char *control, const char *detail)
{
	json_t *o = json_object();

	r->broken |= put_str(o, "name", w->name);
	r->broken |= put_str(o, "status", words[s]);
	r->broken |= put_str(o, "tried", w->words);
	r->broken |= put_json(o, "control", text_json(control,
	    strlen(control)));
	r->broken |= put_json(o, "detail", text_json(detail, strlen(detail)));
	r->broken |= json_array_append_new(r->list, o);
}

static void
wall_line(const struct report *r, const struct wall *w, enum status s,
    const char *control, const char *detail)
{
	if (s == STATUS_PASS && r->o.quiet)
		return;
	printf("%-8s %-18s%s", words[s], w->name, w->words);
	if (r->o.verbose > 0)
		printf(" (in the cell: %s; outside: %s)", detail, control);
	else if (s != STATUS_PASS)
		printf(" (%s)", detail);
	putchar('\n');
}

static void
judge_walls(struct report *r)
{
	char control[TRY_WHY], detail[2 * TRY_WHY];

	for (const struct wall *w = walls; w->name != NULL; w++) {
		enum status s = wall_status(&r->t, w, control, detail);

		r->sum[s]++;
		r->bad |= s == STATUS_FAIL ||
		    (s == STATUS_UNKNOWN && w->required);
		if (r->o.json)
			wall_json(r, w, s, control, detail);
		else
			wall_line(r, w, s, control, detail);
	}
	if (r->o.json)
		return;
	printf("%s, way %s: %u passed, %u failed, %u unknown", r->mode,
	    r->t.way, r->sum[STATUS_PASS], r->sum[STATUS_FAIL],
	    r->sum[STATUS_UNKNOWN]);
	if (r->sum[STATUS_ABSENT] > 0)
		printf(", %u absent by design", r->sum[STATUS_ABSENT]);
	putchar('\n');
}

static int
json_tell(struct report *r)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	json_t *o = json_object();
	int bad = r->broken;

	bad |= put_str(o, "schema", "bailiff-selftest/1");
	bad |= put_str(o, "mode", r->mode);
	bad |= put_str(o, "way", r->t.way);
	bad |= put_json(o, "walls", r->list);
	r->list = NULL;
	bad |= put_num(o, "passed", r->sum[STATUS_PASS]);
	bad |= put_num(o, "failed", r->sum[STATUS_FAIL]);
	bad |= put_num(o, "unknown", r->sum[STATUS_UNKNOWN]);
	bad |= put_num(o, "absent", r->sum[STATUS_ABSENT]);
	if (r->t.warning[0] != '\0')
		bad |= put_str(o, "warning", r->t.warning);
	if (r->t.e.kind != BL_KIND_NONE)
		bad |= put_err(o, "error", &r->t.e);
	if (bad != 0)
		(void)err_memory(&e, "result");
	else
		bad = json_line(o, 1, now_ns() + WRITE_S * 1000000000ULL, -1,
		    &e);
	json_decref(o);
	if (bad != 0)
		tell_err(&e);
	return bad;
}

/* What a cell could inherit, were it to inherit anything. */
static int
bait(struct bl_err *e)
{
	if (open("/dev/null", O_RDONLY) >= 0 &&
	    setenv("BAILIFF_SELFTEST", "secret", 1) == 0)
		return 0;
	return err_set(e, BL_KIND_INFRA, "no_descriptors", "selftest", errno,
	    "no descriptor or variable to try with: %s", strerror(errno));
}

static int
run(struct report *r, int argc, char **argv)
{
	struct bl_err *e = &r->t.e;
	const char *warning;
	int at = opts_config(&r->o, NULL, NULL, e);

	if (at == 0)
		at = opts_parse(&r->o, argc, argv, 1, NULL, NULL, e);
	if (at < 0 || r->o.help || r->o.version)
		return at < 0 ? -1 : 0;
	if (at < argc)
		return err_set(e, BL_KIND_USAGE, "usage", "options", 0,
		    "selftest takes no word such as %.80s", argv[at]);
	if (opts_mode(&r->o, &r->mode, &warning, e) != 0)
		return -1;
	if (warning != NULL && !r->o.quiet)
		tell("warning: %s", warning);
	r->t.by = provider_find(r->mode);
	r->t.ask = opts_way(&r->o);
	/* whoever names it here wants to see what it lacks */
	r->t.ask.need_given = r->t.ask.way == BL_WAY_PLAIN;
	r->t.ask.need = 0;
	return bait(e) != 0 ? -1 : selftest_run(&r->t);
}

static int
finish(struct report *r, int ran)
{
	const struct bl_err *e = &r->t.e;
	int bad = 0;

	if (r->t.warning[0] != '\0' && !r->o.quiet && !r->o.json)
		tell("warning: %s", r->t.warning);
	if (ran == 0)
		judge_walls(r);
	else
		tell_err(e);
	if (r->o.json)
		bad = json_tell(r);
	else
		bad = fflush(stdout) != 0 || ferror(stdout) != 0 ? -1 : 0;
	if (ran != 0)
		return e->kind == BL_KIND_USAGE ? EXIT_USAGE : EXIT_NONE;
	return bad != 0 ? EXIT_NONE : r->bad ? EXIT_FAILED : 0;
}

int
cmd_selftest(int argc, char **argv)
{
	struct report *r = calloc(1, sizeof *r);
	int status;

	if (r == NULL) {
		tell("out of memory");
		return EXIT_NONE;
	}
	opts_init(&r->o, CMD_SELFTEST);
	r->list = json_array();
	status = run(r, argc, argv);
	if (status == 0 && r->o.help)
		status = fputs(usage, stdout) < 0 || fflush(stdout) != 0 ?
		    EXIT_NONE : 0;
	else if (status == 0 && r->o.version)
		status = cmd_version() == 0 ? 0 : EXIT_NONE;
	else
		status = finish(r, status);
	json_decref(r->list);
	opts_free(&r->o);
	free(r);
	return status;
}

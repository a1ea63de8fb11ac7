/* bailiff doctor: what this host can do, and the one fix for what it can't. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "cellspec.h"
#include "cmd.h"
#include "doctor.h"
#include "json.h"
#include "sink.h"
#include "tell.h"

enum {
	EXIT_WORKS = 0,
	EXIT_BROKEN = 1,	/* a way works, but not all that is installed */
	EXIT_NONE = 3,
	EXIT_USAGE = 64,
	WRITE_S = 30
};

static const char usage[] =
"usage: bailiff doctor [--json]\n"
"\n"
"Tries every way in to a cell, looks at every wall, and says of each whether\n"
"it works, on which object it doesn't, and the one thing to do about it. The\n"
"way in that it names is the one that a run would take, your defaults' file\n"
"obeyed. The exit status is 0 when a run would work and nothing that is\n"
"installed is broken, 1 when a run would work and something is broken, 3 when\n"
"none would.\n"
"\n"
"      --json               one line of JSON, schema bailiff-doctor/1\n"
"  -h, --help               this text;  --version: version and protocol\n";

static const char *const status_names[] = {
	[DOCTOR_WORKS] = "works", [DOCTOR_DOESNT] = "doesnt",
	[DOCTOR_UNKNOWN] = "unknown"
};
static const char *const status_words[] = {
	[DOCTOR_WORKS] = "works", [DOCTOR_DOESNT] = "doesn't",
	[DOCTOR_UNKNOWN] = "unknown"
};

/* The way that a run takes, if it works; or NULL. */
static const struct doctor_way *
taken(const struct doctor *d)
{
	for (size_t i = 0; i < DOCTOR_WAYS; i++)
		if (d->ways[i].used && d->ways[i].f.status == DOCTOR_WORKS)
			return &d->ways[i];
	return NULL;
}

/* true: nothing is known of the way that a run takes. */
static bool
unknown(const struct doctor *d)
{
	for (size_t i = 0; i < DOCTOR_WAYS; i++)
		if (d->ways[i].used && d->ways[i].f.status == DOCTOR_UNKNOWN)
			return true;
	return false;
}

static int
status_of(const struct doctor *d, const struct finding *f)
{
	if (taken(d) == NULL)
		return EXIT_NONE;
	for (size_t i = 0; i < doctor_nchecks; i++)
		if (f[i].status == DOCTOR_DOESNT && f[i].broken)
			return EXIT_BROKEN;
	return EXIT_WORKS;
}

/* --- for people -------------------------------------------------------------- */

/* A line with nothing in it that could mislead a terminal, or a reader. */
static void
line(const char *text)
{
	char flat[2048], out[8192];
	size_t n = 0;

	for (; text[n] != '\0' && n < (sizeof out - 16) / 4 &&
	    n < sizeof flat; n++)
		flat[n] = (unsigned char)text[n] < ' ' ? '?' : text[n];
	n = text_escape(out, flat, n, NULL, NULL);
	(void)fwrite(out, 1, n, stdout);	/* judged once, by fflush */
	(void)fputc('\n', stdout);
}

static void
row(const char *name, const struct finding *f)
{
	char text[1600];

	(void)snprintf(text, sizeof text, "  %-20s %-8s %s%s%s", name,
	    status_words[f->status], f->object, f->object[0] != '\0' &&
	    f->detail[0] != '\0' ? ": " : "", f->detail);
	line(text);
	if (f->fix[0] == '\0')
		return;
	(void)snprintf(text, sizeof text, "  %-20s %-8s fix: %s", "", "",
	    f->fix);
	line(text);
}

static void
say_ways(const struct doctor *d)
{
	const struct doctor_way *w = taken(d);
	char text[600];

	if (w != NULL)
		(void)snprintf(text, sizeof text, "bailiff run would use: %s",
		    way_name(w->way));
	else if (d->chosen != BL_WAY_NONE)
		(void)snprintf(text, sizeof text, "bailiff run would use: %s, "
		    "which %s", way_name(d->chosen), unknown(d) ?
		    "could not be tried" : "doesn't work");
	else
		(void)snprintf(text, sizeof text, "bailiff run would use: "
		    "nothing: %s", d->chosen_e.message);
	line(text);
	line("");
	line("ways in");
	for (size_t i = 0; i < DOCTOR_WAYS; i++)
		row(way_name(d->ways[i].way), &d->ways[i].f);
}

static void
say(const struct doctor *d, const struct finding *f)
{
	say_ways(d);
	line("");
	line("checks");
	for (size_t i = 0; i < doctor_nchecks; i++)
		row(doctor_checks[i].name, &f[i]);
}

/* --- for programs ------------------------------------------------------------ */

static int
put_text(json_t *o, const char *name, const char *text)
{
	return put_bytes(o, name, text, strlen(text));
}

static json_t *
ways_json(const struct doctor *d, int *bad)
{
	json_t *list = json_array();

	for (size_t i = 0; i < DOCTOR_WAYS; i++) {
		const struct finding *f = &d->ways[i].f;
		json_t *o = json_object();

		*bad |= put_str(o, "name", way_name(d->ways[i].way)) |
		    put_str(o, "status", status_names[f->status]) |
		    put_bool(o, "used", d->ways[i].used) |
		    put_text(o, "reason", f->detail) |
		    put_text(o, "object", f->object) |
		    put_text(o, "fix", f->fix);
		*bad |= json_array_append_new(list, o);
	}
	return list;
}

static json_t *
checks_json(const struct finding *f, int *bad)
{
	json_t *list = json_array();

	for (size_t i = 0; i < doctor_nchecks; i++) {
		json_t *o = json_object();

		*bad |= put_str(o, "name", doctor_checks[i].name) |
		    put_str(o, "status", status_names[f[i].status]) |
		    put_text(o, "object", f[i].object) |
		    put_text(o, "detail", f[i].detail) |
		    put_text(o, "fix", f[i].fix);
		*bad |= json_array_append_new(list, o);
	}
	return list;
}

static int
say_json(const struct doctor *d, const struct finding *f)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	const struct doctor_way *w = taken(d);
	json_t *o = json_object();
	int bad = put_str(o, "schema", "bailiff-doctor/1");

	bad |= put_str(o, "way", w != NULL ? way_name(w->way) : NULL);
	bad |= put_json(o, "ways", ways_json(d, &bad));
	bad |= put_json(o, "checks", checks_json(f, &bad));
	if (bad != 0)
		(void)err_memory(&e, "doctor");
	else
		bad = json_line(o, 1, now_ns() + WRITE_S * 1000000000ULL, -1, &e);
	json_decref(o);
	if (bad != 0)
		tell_err(&e);
	return bad;
}

/* --- the command -------------------------------------------------------------- */

static int
examine(bool json)
{
	static struct doctor_wish w;
	static struct doctor d;
	struct finding *f = calloc(doctor_nchecks, sizeof *f);
	int status;

	if (f == NULL) {
		tell("out of memory");
		return EXIT_NONE;
	}
	(void)run_defaults(&w);		/* w.e is a finding */
	doctor_open(&d, &w);
	doctor_try(&d);
	doctor_look(&d, f);
	status = status_of(&d, f);
	if (json) {
		if (say_json(&d, f) != 0)
			status = EXIT_NONE;
	} else {
		say(&d, f);
		if (fflush(stdout) != 0)
			status = EXIT_NONE;
	}
	doctor_close(&d);
	cellspec_close(&w.cell);
	free(f);
	return status;
}

int
cmd_doctor(int argc, char **argv)
{
	bool json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			json = true;
		} else if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0) {
			return fputs(usage, stdout) < 0 || fflush(stdout) != 0;
		} else if (strcmp(argv[i], "--version") == 0) {
			return cmd_version();
		} else {
			tell("doctor: takes no \"%.80s\"; see bailiff doctor "
			    "--help", argv[i]);
			return EXIT_USAGE;
		}
	}
	return examine(json);
}

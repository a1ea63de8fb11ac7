/* The result of a judged run: one object, told last. */
#include "result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "sink.h"

enum { STATUS_FAILED = 1, STATUS_NONE = 3, STATUS_USAGE = 64,
    STATUS_REFUSED = 77, STATUS_CANCELLED = 130 };

int
result_init(struct result *r)
{
	memset(r, 0, sizeof *r);
	r->mode = "local";
	r->answers = json_array();
	r->warnings = json_array();
	if (r->answers != NULL && r->warnings != NULL)
		return 0;
	result_free(r);
	return -1;
}

void
result_free(struct result *r)
{
	verdict_free(&r->v);
	free(r->judge_err);
	json_decref(r->answers);
	json_decref(r->warnings);
	r->judge_err = NULL;
	r->answers = r->warnings = NULL;
}

void
result_warn(struct result *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);	/* may be cut */
	va_end(ap);
	for (size_t i = 0; i < json_array_size(r->warnings); i++) {
		const char *s = json_string_value(json_array_get(r->warnings,
		    i));

		if (s != NULL && strcmp(s, text) == 0)
			return;
	}
	(void)json_array_append_new(r->warnings, text_json(text, strlen(text)));
}

/* A judge's own member when it has the right type; else what is due instead. */
static int
put_member(json_t *o, const char *name, json_t *v, bool right, json_t *instead)
{
	if (!right)
		return put_json(o, name, instead);
	json_decref(instead);
	return json_object_set(o, name, v) == 0 ? 0 : -1;
}

/* details: a string; whatever else a judge puts there, as its text. */
static int
put_details(json_t *o, json_t *v)
{
	char *text;
	int r;

	if (v == NULL || json_is_null(v) || json_is_string(v))
		return put_member(o, "details", v, v != NULL, json_null());
	text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	r = text == NULL ? -1 : put_str(o, "details", text);
	free(text);
	return r;
}

static bool
is_numbers(json_t *v)
{
	const char *k;
	json_t *n;

	json_object_foreach(v, k, n)
		if (!json_is_number(n))
			return false;
	return json_is_object(v);
}

/* A case without a score has 1.0 when it passed, else 0.0. */
static int
put_cases(json_t *o, json_t *cases)
{
	json_t *list = json_array();
	int r = list == NULL ? -1 : 0;

	for (size_t i = 0; i < json_array_size(cases); i++) {
		json_t *c = json_array_get(cases, i), *copy;
		json_t *passed = json_object_get(c, "passed");

		if (!json_is_boolean(passed))
			continue;
		copy = json_copy(c);
		if (json_object_get(c, "score") == NULL)
			r |= put_json(copy, "score",
			    json_real(json_is_true(passed) ? 1.0 : 0.0));
		r |= json_array_append_new(list, copy);
	}
	return r | put_json(o, "cases", list);
}

static int
put_verdict(json_t *o, const struct verdict *v)
{
	json_t *d = v->doc;
	json_t *parts = json_object_get(d, "reward_components");
	json_t *metrics = json_object_get(d, "metrics");
	json_t *seed = json_object_get(d, "seed");
	json_t *cut = json_object_get(d, "truncated");
	json_t *type = json_object_get(d, "error_type");
	int r = 0;

	r |= put_str(o, "verdict", v->passed ? "passed" : "failed");
	r |= put_json(o, "score", json_real(v->score));
	r |= put_bool(o, "passed", v->passed);
	r |= put_details(o, json_object_get(d, "details"));
	r |= put_member(o, "reward_components", parts, is_numbers(parts),
	    json_object());
	r |= put_cases(o, json_object_get(d, "cases"));
	r |= put_member(o, "metrics", metrics, json_is_object(metrics),
	    json_object());
	r |= put_member(o, "seed", seed, json_is_integer(seed), json_null());
	r |= put_member(o, "truncated", cut, json_is_boolean(cut),
	    json_false());
	r |= put_member(o, "error_type", type, json_is_string(type),
	    json_null());
	return r | put_bool(o, "mask_sample", false);
}

static int
put_failure(json_t *o, const struct bl_err *e)
{
	char text[sizeof e->object + sizeof e->message + sizeof e->hint + 8];
	int r = 0;

	(void)snprintf(text, sizeof text, "%s%s%s%s%s%s", e->object,
	    e->object[0] != '\0' ? ": " : "", e->message,
	    e->hint[0] != '\0' ? " (" : "", e->hint,
	    e->hint[0] != '\0' ? ")" : "");
	r |= put_str(o, "verdict", "none");
	r |= put_str(o, "failure_kind", err_kind_name(e->kind));
	r |= put_str(o, "failure_reason", e->code);
	r |= put_str(o, "failure_detail", text);
	return r | put_bool(o, "mask_sample", true);
}

/*
 * By what was seen, not by what was asked for; but whoever asked for none has
 * none, whatever the cells are like.
 */
static const char *
separation(const struct result *r)
{
	bool spaces = r->prot.net && r->prot.mount && r->prot.pid &&
	    r->prot.ipc;

	if (!r->seen)
		return NULL;
	if (r->shared)
		return "none";
	if (spaces)
		return r->prot.uid ? "users+namespaces" : "namespaces";
	return r->prot.uid ? "users" : "none";
}

static int
put_judge(json_t *o, const struct result *r)
{
	json_t *j;
	int bad = 0;

	if (!r->judged)
		return put_null(o, "judge");
	j = json_object();
	bad |= put_exit(j, &r->judge);
	bad |= put_evidence(j, r->counted ? &r->judge_counted : NULL);
	bad |= put_bytes(j, "stderr", r->judge_err, r->judge_nerr);
	bad |= put_bool(j, "stderr_truncated", r->judge_err_cut);
	return bad | put_json(o, "judge", j);
}

json_t *
result_json(const struct result *r)
{
	json_t *o = json_object();
	int bad = 0;

	bad |= put_str(o, "schema", "bailiff/1");
	if (r->fail.kind == BL_KIND_NONE)
		bad |= put_verdict(o, &r->v);
	else
		bad |= put_failure(o, &r->fail);
	bad |= put_str(o, "mode", r->mode);
	bad |= put_str(o, "way", r->way);
	bad |= put_str(o, "sandbox_id", r->sandbox[0] == '\0' ? NULL :
	    r->sandbox);
	bad |= put_null(o, "image");
	bad |= put_str(o, "separation", separation(r));
	if (r->seen)
		bad |= put_protections(o, "protections", &r->prot);
	else
		bad |= put_null(o, "protections");
	bad |= put_judge(o, r);
	bad |= put_json(o, "answers", json_incref(r->answers));
	bad |= put_num(o, "answers_omitted", r->omitted);
	bad |= put_num(o, "wall_ms", r->wall_ns / 1000000);
	bad |= put_json(o, "warnings", json_incref(r->warnings));
	if (bad == 0)
		return o;
	json_decref(o);
	return NULL;
}

/* Adds n bytes of anybody's, made safe for a terminal. */
static int
add_safe(FILE *to, const char *s, size_t n)
{
	char *out = malloc(4 * (n + 4));

	if (out == NULL)
		return -1;
	n = text_escape(out, s, n, NULL, NULL);
	(void)fwrite(out, 1, n, to);
	free(out);
	return 0;
}

char *
result_text(const struct result *r)
{
	const json_t *details = json_object_get(r->v.doc, "details");
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);
	int bad = 0;

	if (to == NULL)
		return NULL;
	if (r->fail.kind == BL_KIND_NONE) {
		(void)fprintf(to, "%s, score %.4g\n",
		    r->v.passed ? "passed" : "not passed", r->v.score);
		if (json_string_length(details) > 0) {
			bad |= add_safe(to, json_string_value(details),
			    json_string_length(details));
			(void)fputc('\n', to);
		}
	} else {
		(void)fprintf(to, "no verdict (%s, %s): ",
		    err_kind_name(r->fail.kind), r->fail.code);
		if (r->fail.object[0] != '\0') {
			bad |= add_safe(to, r->fail.object,
			    strlen(r->fail.object));
			(void)fputs(": ", to);
		}
		bad |= add_safe(to, r->fail.message, strlen(r->fail.message));
		(void)fputc('\n', to);
		if (r->fail.hint[0] != '\0') {
			(void)fputs("hint: ", to);
			bad |= add_safe(to, r->fail.hint, strlen(r->fail.hint));
			(void)fputc('\n', to);
		}
	}
	bad |= ferror(to);
	if (fclose(to) == 0 && bad == 0)
		return text;
	free(text);
	return NULL;
}

int
result_status(const struct result *r, bool exit_zero)
{
	switch (r->fail.kind) {
	case BL_KIND_NONE:
		return r->v.passed || exit_zero ? 0 : STATUS_FAILED;
	case BL_KIND_REFUSED:
		return STATUS_REFUSED;
	case BL_KIND_CANCELLED:
		return STATUS_CANCELLED;
	case BL_KIND_USAGE:
		return STATUS_USAGE;
	case BL_KIND_SETUP:
	case BL_KIND_INFRA:
	case BL_KIND_JUDGE:
	default:
		return STATUS_NONE;
	}
}

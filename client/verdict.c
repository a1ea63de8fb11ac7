/* What is a verdict, and what is not: one grammar, no effects. */
#include "verdict.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A line made fit for a strict parser, and what was seen on the way. */
struct tidy {
	char	*to, *own;	/* own: the same, with 0 for each inner value */
	size_t	 n, nown;
	size_t	 depth, values;		/* of objects and arrays that are open */
	bool	 clipped, not_finite;
	bool	 own_null;	/* was NaN or so, and is a member's value */
};

static void no_verdict(struct verdict *v, const char *reason, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

static void
no_verdict(struct verdict *v, const char *reason, const char *fmt, ...)
{
	va_list ap;

	v->reason = reason;
	va_start(ap, fmt);
	(void)vsnprintf(v->detail, sizeof v->detail, fmt, ap);	/* may be cut */
	va_end(ap);
	json_decref(v->doc);
	v->doc = NULL;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' ||
	    c == '\f';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The code unit of the escape \uXXXX at p, or -1. */
static int
unit_at(const char *p, const char *end)
{
	int unit = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int c = p[i];

		if (c >= '0' && c <= '9')
			unit = unit * 16 + c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			unit = unit * 16 + (c | 32) - 'a' + 10;
		else
			return -1;
	}
	return unit;
}

static void
tidy_add(struct tidy *t, const char *p, size_t n)
{
	memcpy(t->to + t->n, p, n);
	t->n += n;
	if (t->depth > 1)
		return;
	memcpy(t->own + t->nown, p, n);
	t->nown += n;
}

/*
 * One escape in a string.  A judge that shows odd bytes of an answer writes
 * them as lone surrogates or NULs, which no UTF-8 text can hold: an answer
 * could end its run without a verdict by printing them.  They become the six
 * characters of their escape.
 */
static size_t
tidy_escape(struct tidy *t, const char *p, const char *end)
{
	int unit = unit_at(p, end);
	int next = unit < 0 ? -1 : unit_at(p + 6, end);

	if (unit < 0) {
		size_t n = end - p < 2 ? 1 : 2;

		tidy_add(t, p, n);
		return n;
	}
	if (unit >= 0xd800 && unit < 0xdc00 &&
	    next >= 0xdc00 && next < 0xe000) {
		tidy_add(t, p, 12);
		return 12;
	}
	if (unit == 0 || (unit >= 0xd800 && unit < 0xe000))
		tidy_add(t, "\\", 1);
	tidy_add(t, p, 6);
	return 6;
}

/* The length of a number by JSON's grammar at p, or 0. */
static size_t
number_at(const char *p, const char *end, bool *integer)
{
	const char *s = p;

	*integer = true;
	if (s < end && *s == '-')
		s++;
	if (s >= end || !is_digit(*s))
		return 0;
	if (*s++ != '0')
		while (s < end && is_digit(*s))
			s++;
	if (end - s >= 2 && *s == '.' && is_digit(s[1])) {
		*integer = false;
		for (s++; s < end && is_digit(*s); s++)
			;
	}
	if (s < end && (*s | 32) == 'e') {
		const char *x = s + 1;

		if (x < end && (*x == '+' || *x == '-'))
			x++;
		if (x < end && is_digit(*x)) {
			*integer = false;
			for (s = x; s < end && is_digit(*s); s++)
				;
		}
	}
	return (size_t)(s - p);
}

/*
 * A number, which JSON lets be of any size and the parser doesn't: again an
 * end that an answer could choose, by a judge that shows its numbers.
 */
static size_t
tidy_number(struct tidy *t, const char *p, const char *end)
{
	char text[64], *s;
	bool integer, fits;
	size_t n = number_at(p, end, &integer);
	double d;
	int len;

	if (n == 0 || (integer && n <= 18)) {
		n = n == 0 ? 1 : n;
		tidy_add(t, p, n);
		return n;
	}
	s = strndup(p, n);
	if (s == NULL)
		return 0;
	d = strtod(s, NULL);
	errno = 0;
	fits = integer ? strtoll(s, NULL, 10) != 0 && errno == 0 : isfinite(d);
	free(s);
	if (fits) {
		tidy_add(t, p, n);
		return n;
	}
	if (!isfinite(d)) {
		t->clipped = true;
		d = d > 0 ? DBL_MAX : -DBL_MAX;
	}
	len = snprintf(text, sizeof text, "%.17g", d);
	tidy_add(t, text, (size_t)len);	/* has an e: it is that large */
	return n;
}

static bool
word_is(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

/* The length of what Python writes for a float that is no number, or 0. */
static size_t
not_finite_at(const char *p, const char *end)
{
	size_t sign = *p == '-';

	if (*p == 'N')
		return word_is(p, end, "NaN") ? 3 : 0;
	if (*p != 'I' && *p != '-')
		return 0;
	return word_is(p + sign, end, "Infinity") ? sign + 8 : 0;
}

/* What stands between strings. */
static size_t
tidy_token(struct tidy *t, const char *p, const char *end)
{
	size_t n = not_finite_at(p, end);

	if (n > 0) {
		t->not_finite = true;
		t->own_null |= t->depth == 1;
		if (t->depth > 0)
			tidy_add(t, "null", 4);
		else
			tidy_add(t, p, n);
		return n;
	}
	if (*p == '-' || is_digit(*p))
		return tidy_number(t, p, end);
	t->values += *p == ',';		/* others are first ones: as deep */
	if ((*p == '{' || *p == '[') && ++t->depth == 2)
		t->own[t->nown++] = '0';
	tidy_add(t, p, 1);
	if ((*p == '}' || *p == ']') && t->depth > 0)
		t->depth--;
	return 1;
}

/*
 * 0, or -1: no memory.  Nothing that was not JSON becomes so, but for NaN and
 * Infinity inside of something.
 */
static int
tidy_line(struct tidy *t, const char *p, size_t n)
{
	const char *end = p + n;
	bool string = false;

	/*
	 * The most that a piece grows: an escape by 1 of 6, and a number of
	 * at least 5 characters (1e999) to 24.
	 */
	t->to = malloc(n * 6 + 32);
	t->own = malloc(n * 6 + 32);
	if (t->to == NULL || t->own == NULL)
		return -1;
	while (p < end && t->values <= VERDICT_VALUES_MAX) {
		size_t took = 1;

		if (!string)
			took = tidy_token(t, p, end);
		else if (*p == '\\')
			took = tidy_escape(t, p, end);
		else
			tidy_add(t, p, 1);
		if (took == 0)
			return -1;
		if (*p == '"')
			string = !string;
		p += took;
	}
	return 0;
}

/* Turns the parser's complaint into the reason why. */
static void
not_json(struct verdict *v, const struct tidy *t, const json_error_t *je)
{
	enum json_error_code code = json_error_code(je);
	size_t at = je->position < 0 ? 0 : (size_t)je->position;

	if (code == json_error_invalid_utf8) {
		no_verdict(v, "judge_not_utf8",
		    "the verdict's line is not UTF-8");
	} else if (code == json_error_out_of_memory) {
		no_verdict(v, "no_memory", "no memory to read the verdict");
	} else if (t->not_finite) {
		no_verdict(v, "judge_not_finite",
		    "the verdict has NaN or Infinity in it, which is not JSON");
	} else if (code == json_error_end_of_input_expected) {
		while (at > 0 && t->to[at - 1] != '}')
			at--;
		while (at < t->n && is_blank(t->to[at]))
			at++;
		if (at < t->n && t->to[at] == '{')
			no_verdict(v, "judge_two_objects",
			    "the verdict's line has more than one object");
		else
			no_verdict(v, "judge_text_after",
			    "there is text after the verdict on its line");
	} else {
		no_verdict(v, "judge_last_line_not_json",
		    "the judge's last line is not a JSON object: %s", je->text);
	}
}

static void
take_members(struct verdict *v, const struct tidy *t)
{
	json_t *score = json_object_get(v->doc, "score");
	json_t *passed = json_object_get(v->doc, "passed");

	if (t->own_null && (json_is_null(score) || json_is_null(passed))) {
		no_verdict(v, "judge_not_finite",
		    "the verdict's score or \"passed\" is NaN or Infinity");
		return;
	}
	if (score == NULL) {
		no_verdict(v, "judge_score_missing",
		    "the verdict has no score");
		return;
	}
	if (!json_is_number(score)) {
		no_verdict(v, "judge_score_type",
		    "the verdict's score is not a number");
		return;
	}
	v->score = json_number_value(score) + 0.0;	/* -0.0 is 0.0 */
	if (v->clipped && (v->score >= DBL_MAX || v->score <= -DBL_MAX)) {
		no_verdict(v, "judge_not_finite",
		    "the verdict's score is not a finite number");
		return;
	}
	if (!(v->score >= 0.0 && v->score <= 1.0)) {
		no_verdict(v, "judge_score_range",
		    "the verdict's score %g is not within 0 and 1", v->score);
		return;
	}
	if (passed == NULL) {
		no_verdict(v, "judge_passed_missing",
		    "the verdict does not say whether it passed");
		return;
	}
	if (!json_is_boolean(passed)) {
		no_verdict(v, "judge_passed_type",
		    "the verdict's \"passed\" is neither true nor false");
		return;
	}
	v->passed = json_is_true(passed);
}

/* Twice: the object's own keys must differ, those within it need not. */
static void
parse(struct verdict *v, const struct tidy *t)
{
	json_error_t je;
	json_t *own = json_loadb(t->own, t->nown, JSON_REJECT_DUPLICATES |
	    JSON_DECODE_ANY, &je);

	v->clipped = t->clipped;
	if (own == NULL && json_error_code(&je) == json_error_duplicate_key)
		no_verdict(v, "judge_duplicate_key",
		    "the verdict has a key twice: %s", je.text);
	else if ((v->doc = json_loadb(t->to, t->n, JSON_DECODE_ANY,
	    &je)) == NULL)
		not_json(v, t, &je);
	else if (own == NULL)		/* the whole is sound: so was this */
		no_verdict(v, "no_memory", "no memory to read the verdict");
	else if (!json_is_object(v->doc))
		no_verdict(v, "judge_not_object",
		    "the judge's last line is JSON, but not an object");
	else
		take_members(v, t);
	json_decref(own);
}

static void
read_object(struct verdict *v, const char *p, size_t n)
{
	struct tidy t = { 0 };

	if (memchr(p, '\0', n) != NULL) {
		no_verdict(v, "judge_nul_byte",
		    "the verdict's line has a NUL byte in it");
		return;
	}
	if (tidy_line(&t, p, n) != 0)
		no_verdict(v, "no_memory", "no memory to read the verdict");
	else if (t.values > VERDICT_VALUES_MAX)
		no_verdict(v, "judge_line_too_long",
		    "the verdict has more than %d values", VERDICT_VALUES_MAX);
	else
		parse(v, &t);
	free(t.to);
	free(t.own);
}

static void
too_long(struct verdict *v)
{
	no_verdict(v, "judge_line_too_long",
	    "the verdict is longer than %d bytes", VERDICT_LINE_MAX);
}

void
verdict_line(struct verdict *v, const char *text, size_t n, bool cut)
{
	size_t from;

	*v = (struct verdict){ 0 };
	while (n > 0 && is_blank(text[n - 1]))
		n--;
	for (from = n; from > 0 && text[from - 1] != '\n'; from--)
		;
	if (cut && from == 0)
		too_long(v);
	else if (n == 0)
		no_verdict(v, "judge_no_output",
		    "the judge wrote nothing to its standard output");
	else if (n - from > VERDICT_LINE_MAX)
		too_long(v);
	else
		read_object(v, text + from, n - from);
}

void
verdict_document(struct verdict *v, const char *text, size_t n, bool cut)
{
	*v = (struct verdict){ 0 };
	if (cut || n > VERDICT_LINE_MAX)
		too_long(v);
	else
		read_object(v, text, n);
}

/* A death by signal, by what sent it where that is known. */
static void
end_by_signal(struct verdict *v, const struct bl_exit *x)
{
	static const struct { const char *reason, *what; } why[BL_LIMIT_MAX] = {
		[BL_LIMIT_TIME]	= { "judge_timeout", "used up its time" },
		[BL_LIMIT_CPU]	= { "judge_cpu_limit",
		    "used up its processor time" },
		[BL_LIMIT_MEMORY] = { "judge_memory_limit",
		    "used too much memory" },
		[BL_LIMIT_PROCESSES] = { "judge_process_limit",
		    "started too many processes" },
		[BL_LIMIT_OUTPUT] = { "judge_output_limit", "wrote too much" },
		[BL_LIMIT_DISK]	= { "judge_disk_limit",
		    "wrote more to files than it may" },
	};
	unsigned k = x->limit < BL_LIMIT_MAX ? x->limit : 0;

	if (why[k].reason != NULL)
		no_verdict(v, why[k].reason, "the judge %s", why[k].what);
	else
		no_verdict(v, "judge_signal",
		    "the judge was ended by signal %d",
		    WTERMSIG(x->wait_status));
}

void
verdict_end(struct verdict *v, const struct bl_exit *x)
{
	int status;

	if (!WIFEXITED(x->wait_status)) {
		end_by_signal(v, x);
		return;
	}
	status = WEXITSTATUS(x->wait_status);
	if (status == 2)
		no_verdict(v, "judge_failed",
		    "the judge says by status 2 that it failed by itself");
	else if (status > 2)
		no_verdict(v, "judge_exit_status",
		    "the judge ended with status %d", status);
	else if (v->reason == NULL && status == 1 && v->passed)
		no_verdict(v, "judge_status_mismatch",
		    "the judge said passed, and ended with status 1");
}

void
verdict_free(struct verdict *v)
{
	json_decref(v->doc);
	v->doc = NULL;
}

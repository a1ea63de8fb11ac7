/* client/verdict.c: one exact form, and a reason for everything near it. */
#include "../client/verdict.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define GOOD "{\"score\": 0.5, \"passed\": false}"

static struct verdict v;

/* The reason why text is no verdict, or NULL. */
static const char *
why(const char *text, size_t n)
{
	verdict_free(&v);
	verdict_line(&v, text, n, false);
	return v.reason;
}

static const char *
end(const char *text, int wait_status, unsigned limit)
{
	struct bl_exit x = { .wait_status = wait_status, .limit = limit };

	(void)why(text, strlen(text));
	verdict_end(&v, &x);
	return v.reason;
}

static const struct { const char *text, *reason; } lines[] = {
	{ GOOD, NULL },
	{ GOOD "\n", NULL },
	{ "chatter\n{\"score\": 9}\n" GOOD "\r\n\n \t\n", NULL },
	{ "  " GOOD " \t", NULL },
	{ "{\"passed\":true,\"score\":1}", NULL },
	{ "{\"passed\":true,\"score\":1e-400}", NULL },
	{ "{\"passed\":true,\"score\":-0.0}", NULL },
	{ "{\"passed\":true,\"score\":1,\"details\":\"a\\u0000\\ud800b\"}", NULL },
	{ "{\"passed\":true,\"score\":1,\"details\":\"\\ud83d\\ude00\"}", NULL },
	{ "{\"passed\":true,\"score\":1,\"\\u0000\":\"\\udc80\\udc80\"}", NULL },
	{ "{\"passed\":true,\"score\":1,\"m\":[1e999,-1e999,"
	    "123456789012345678901234567890]}", NULL },
	{ "", "judge_no_output" },
	{ "\n \r\n\t", "judge_no_output" },
	{ "hello", "judge_last_line_not_json" },
	{ GOOD "\nhello", "judge_last_line_not_json" },
	{ "{", "judge_last_line_not_json" },
	{ "{\n\"score\": 1,\n\"passed\": true\n}", "judge_last_line_not_json" },
	{ "{'score': 1, 'passed': True}", "judge_last_line_not_json" },
	{ "{\"score\": 01, \"passed\": true}", "judge_last_line_not_json" },
	{ "{\"score\": .5, \"passed\": true}", "judge_last_line_not_json" },
	{ "{\"score\": +1, \"passed\": true}", "judge_last_line_not_json" },
	{ "{\"score\": 1, \"passed\": true,}", "judge_last_line_not_json" },
	{ "{\"score\": 0x1, \"passed\": true}", "judge_last_line_not_json" },
	{ GOOD "}", "judge_text_after" },
	{ GOOD " bye", "judge_text_after" },
	{ GOOD " 1", "judge_text_after" },
	{ GOOD GOOD, "judge_two_objects" },
	{ GOOD " " GOOD, "judge_two_objects" },
	{ "[" GOOD "]", "judge_not_object" },
	{ "1", "judge_not_object" },
	{ "true", "judge_not_object" },
	{ "{\"score\":1,\"passed\":true,\"score\":1}", "judge_duplicate_key" },
	{ "{\"score\":1,\"passed\":true,\"scor\\u0065\":0}",
	    "judge_duplicate_key" },
	{ "{\"score\":1,\"\":[{}],\"passed\":true,\"\":0}",
	    "judge_duplicate_key" },
	{ "{\"m\":[{\"}\":1}],\"passed\":true,\"score\":1,\"m\":1} x",
	    "judge_duplicate_key" },
	{ "{\"score\":1,\"passed\":true,\"m\":{\"a\":1,\"a\":1}}", NULL },
	{ "{\"cases\":[{\"got\":{\"1\":0,\"1\":0}}],\"score\":1,"
	    "\"passed\":true}", NULL },
	{ "{\"m\":{\"score\":0,\"score\":1},\"score\":1,\"passed\":true}",
	    NULL },
	{ "{\"score\":1,\"passed\":true,\"k\":\"\\\"}\",\"l\":"
	    "\"{\\\"k\\\":[\"}", NULL },
	{ "{\"score\":NaN,\"passed\":true}", "judge_not_finite" },
	{ "{\"score\":Infinity,\"passed\":true}", "judge_not_finite" },
	{ "{\"score\":-Infinity,\"passed\":true}", "judge_not_finite" },
	{ "{\"score\":[NaN],\"passed\":true}", "judge_score_type" },
	{ "{\"score\":1,\"passed\":NaN}", "judge_not_finite" },
	{ "{\"sco\\u0072e\":NaN,\"passed\":true}", "judge_not_finite" },
	{ "NaN", "judge_not_finite" },
	{ "-Infinity", "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true}NaN", "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,NaN:1}", "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,\"m\":[NaN}", "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,\"m\":[NaNNaN]}",
	    "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,\"m\":[NaN0]}", "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,\"m\":[1NaN]}", "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,\"m\":[-NaN]}", "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,\"m\":[--Infinity]}",
	    "judge_not_finite" },
	{ "{\"score\":1,\"passed\":true,\"m\":[nan,inf]}",
	    "judge_last_line_not_json" },
	{ "{\"score\":1,\"passed\":true,\"m\":[Infinit]}",
	    "judge_last_line_not_json" },
	{ "{\"score\":1,\"passed\":true,\"m\":[1}}",
	    "judge_last_line_not_json" },
	{ "]]{\"score\":1,\"passed\":true}", "judge_last_line_not_json" },
	{ "{\"score\":1,\"passed\":true,\"m\":NaN}", NULL },
	{ "{\"score\":1,\"passed\":true,\"m\":[NaN, Infinity,-Infinity]}",
	    NULL },
	{ "{\"score\":1e999,\"passed\":true}", "judge_not_finite" },
	{ "{\"score\":-1e999,\"passed\":true}", "judge_not_finite" },
	{ "{\"score\":1.5,\"passed\":true}", "judge_score_range" },
	{ "{\"score\":-0.1,\"passed\":true}", "judge_score_range" },
	{ "{\"score\":1.0000000000000002,\"passed\":true}",
	    "judge_score_range" },
	{ "{\"score\":100000000000000000000,\"passed\":true}",
	    "judge_score_range" },
	{ "{\"score\":\"1\",\"passed\":true}", "judge_score_type" },
	{ "{\"score\":true,\"passed\":true}", "judge_score_type" },
	{ "{\"score\":null,\"passed\":true}", "judge_score_type" },
	{ "{\"score\":[1],\"passed\":true}", "judge_score_type" },
	{ "{\"passed\":true}", "judge_score_missing" },
	{ "{}", "judge_score_missing" },
	{ "{\"Score\":1,\"passed\":true}", "judge_score_missing" },
	{ "{\"score\":1}", "judge_passed_missing" },
	{ "{\"score\":1,\"passed\":1}", "judge_passed_type" },
	{ "{\"score\":1,\"passed\":\"true\"}", "judge_passed_type" },
	{ "{\"score\":1,\"passed\":null}", "judge_passed_type" },
	{ "{\"score\":1,\"passed\":true,\"d\":\"\xff\"}", "judge_not_utf8" },
	{ "{\"score\":1,\"passed\":true,\"d\":\"\xed\xa0\x80\"}",
	    "judge_not_utf8" },
	{ "\xef\xbb\xbf" GOOD, "judge_last_line_not_json" },
};

static void
bytes(void)
{
	static const char nul[] = "{\"score\":1,\"passed\":true}\0";
	size_t n = VERDICT_LINE_MAX;
	char *big = malloc(2 * n);

	is_str(why(nul, sizeof nul), "judge_nul_byte", "a NUL behind it");
	is_str(why("\0\n" GOOD, sizeof GOOD + 1), NULL, "a NUL in chatter");
	if (big == NULL)
		return;
	memset(big, ' ', 2 * n);
	memcpy(big, GOOD, strlen(GOOD));
	big[n] = '\n';
	is_str(why(big, n), NULL, "blanks behind it don't count");
	memset(big, 'x', 2 * n);
	is_str(why(big, n + 1), "judge_line_too_long", "a line of 32 MiB + 1");
	verdict_line(&v, big, n, true);
	is_str(v.reason, "judge_line_too_long", "a line that began before");
	big[n - 100] = '\n';
	memcpy(big + n - 99, GOOD, strlen(GOOD));
	verdict_line(&v, big, n - 99 + strlen(GOOD), true);
	is_str(v.reason, NULL, "chatter that began before");
	verdict_free(&v);
	free(big);
	verdict_document(&v, "{\n\"score\": 1,\n\"passed\": true\n}\n", 31, false);
	is_str(v.reason, NULL, "a document may have lines");
	verdict_free(&v);
	verdict_document(&v, "x\n" GOOD, sizeof GOOD + 1, false);
	is_str(v.reason, "judge_last_line_not_json",
	    "a document has no chatter");
	verdict_document(&v, GOOD, sizeof GOOD - 1, true);
	is_str(v.reason, "judge_line_too_long", "a document that was cut");
}

/* A verdict with n bytes of unit after one another in a list. */
static const char *
list_of(const char *unit, size_t n)
{
	size_t one = strlen(unit), at;
	char *s = malloc(n + one + 64);
	const char *reason;

	if (s == NULL)
		return "no memory";
	at = (size_t)snprintf(s, 64, "{\"score\":1,\"passed\":true,\"m\":[");
	while (at < n) {
		memcpy(s + at, unit, one);
		at += one;
	}
	at += (size_t)snprintf(s + at, 8, "0]}");
	reason = why(s, at);
	free(s);
	return reason;
}

static const char *
member(const char *name)
{
	json_t *m = json_object_get(v.doc, name);
	static char *text;

	free(text);
	text = m == NULL ? NULL : json_dumps(m, JSON_COMPACT |
	    JSON_ENCODE_ANY);
	return text;
}

/* What a judge shows of an answer decides on no verdict. */
static void
shown(void)
{
	static const char *const many[] = { "NaN,", "-Infinity,", "1e999,",
	    "{\"a\":0,\"a\":0},", "\"\\u0000\",", "{},", "0," };
	const char *s = "{\"score\":1,\"passed\":true,"
	    "\"n\":[NaN,-Infinity,{\"NaN\":Infinity}],\"top\":NaN,"
	    "\"k\":{\"1\":0,\"2\":1,\"1\":{\"a\":1,\"\\u0061\":2}},"
	    "\"t\":[\"NaN\",\"-Infinity, \\\"NaN\\\" {[\","
	    "\"\\\\\",\"NaN\"]}";
	const char *head = "{\"score\":1,\"passed\":true,\"d\":\"";
	char *big;

	is_str(why(s, strlen(s)), NULL, "all of it at once");
	is_str(member("n"), "[null,null,{\"NaN\":null}]",
	    "what is not finite becomes null");
	is_str(member("top"), "null", "and as a member's own value");
	is_str(member("k"), "{\"1\":{\"a\":2},\"2\":1}",
	    "of inner keys the last one counts");
	is_str(member("t"), "[\"NaN\",\"-Infinity, \\\"NaN\\\" {[\","
	    "\"\\\\\",\"NaN\"]", "strings stay as they are");
	is(v.clipped, false, "nothing was cut");
	big = calloc(1, 300064);
	if (big == NULL)
		return;
	memset(big, 'x', 300050);
	memcpy(big, head, strlen(head));
	memcpy(big + strlen(head) + 300000, "\"}", 2);
	is_str(why(big, strlen(head) + 300002), NULL,
	    "a string of 300,000 characters");
	is(json_string_length(json_object_get(v.doc, "d")), 300000,
	    "which is all there");
	free(big);
	for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
		is_str(list_of(many[i], (4 << 20) - 32), NULL,
		    "4 MiB of %s", many[i]);
	is_str(list_of("1,", (4 << 20) + 64), "judge_line_too_long",
	    "and a little more");
}

static void
values(void)
{
	const char *s = "{\"passed\":true,\"score\":1,\"n\":1234567890123456789,"
	    "\"d\":\"\\ud800\\\\\"}";

	(void)why(GOOD, sizeof GOOD - 1);
	is((int)(v.score * 100), 50, "the score");
	is(v.passed, false, "passed");
	(void)why(s, strlen(s));
	is(json_integer_value(json_object_get(v.doc, "n")),
	    1234567890123456789, "an integer of 19 digits is kept");
	is_str(json_string_value(json_object_get(v.doc, "d")), "\\ud800\\",
	    "a lone surrogate becomes its text");
	is(v.clipped, false, "nothing was cut");
	s = "{\"passed\":true,\"score\":1,\"n\":1e999}";
	(void)why(s, strlen(s));
	is(v.clipped, true, "1e999 was cut, and that is told");
}

static void
ends(void)
{
	const char *pass = "{\"score\":1,\"passed\":true}";

	is_str(end(pass, 0, 0), NULL, "status 0");
	is_str(end(GOOD, 1 << 8, 0), NULL, "status 1, not passed");
	is_str(end(GOOD, 0, 0), NULL, "status 0, not passed");
	is_str(end(pass, 1 << 8, 0), "judge_status_mismatch",
	    "status 1, passed");
	is_str(end(pass, 2 << 8, 0), "judge_failed", "status 2");
	is_str(end(pass, 3 << 8, 0), "judge_exit_status", "status 3");
	is_str(end(pass, 255 << 8, 0), "judge_exit_status", "status 255");
	is_str(end("", 1 << 8, 0), "judge_no_output", "status 1, nothing");
	is_str(end(pass, SIGKILL, 0), "judge_signal", "signal 9");
	is_str(end(pass, SIGKILL, BL_LIMIT_TIME), "judge_timeout", "its time");
	is_str(end(pass, SIGXCPU, BL_LIMIT_CPU), "judge_cpu_limit", "its cpu");
	is_str(end(pass, SIGKILL, BL_LIMIT_MEMORY), "judge_memory_limit",
	    "its memory");
	is_str(end(pass, SIGKILL, 99), "judge_signal", "no such limit");
	is_str(end(pass, 0, BL_LIMIT_TIME), NULL,
	    "it ended by itself just before its time was up");
	is(v.doc != NULL, true, "a verdict has its object");
	(void)end(pass, SIGKILL, 0);
	is(v.doc == NULL, true, "none has not");
}

int
main(void)
{
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		is_str(why(lines[i].text, strlen(lines[i].text)),
		    lines[i].reason, "line %zu: %.40s", i, lines[i].reason ==
		    NULL ? "a verdict" : lines[i].reason);
	bytes();
	shown();
	values();
	ends();
	verdict_free(&v);
	return done();
}

/* Anybody's bytes as one line of UTF-8. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../client/json.h"
#include "../client/sink.h"
#include "tap.h"

static void
bytes(void)
{
	static const char mixed[] = "a\xff\xc3\xa9\xed\xa0\x80" "b";
	json_t *o = json_object(), *v;

	is(put_bytes(o, "t", "plain", 5), 0, "text");
	is_str(json_string_value(json_object_get(o, "t")), "plain", "as it is");
	is(json_object_get(o, "t_b64") == NULL, 1, "alone");
	is(put_bytes(o, "n", "a\0b", 3), 0, "text with a NUL");
	is(json_string_length(json_object_get(o, "n")), 3, "whole");
	is(put_bytes(o, "x", mixed, 8), 0, "no text");
	is_str(json_string_value(json_object_get(o, "x")),
	    "a\\xff\xc3\xa9\\xed\\xa0\\x80" "b", "what is text stays");
	is_str(json_string_value(json_object_get(o, "x_b64")),
	    "Yf/Dqe2ggGI=", "and the bytes are kept");
	is(put_bytes(o, "e", NULL, 0), 0, "nothing");
	is_str(json_string_value(json_object_get(o, "e")), "", "is empty");
	is(put_str(o, "s", NULL), 0, "no text");
	is(json_is_null(json_object_get(o, "s")), 1, "is null");
	is(put_str(NULL, "s", "x"), -1, "no object");
	v = text_json("\x80", 1);
	is_str(json_string_value(v), "\\x80", "a string alone");
	json_decref(v);
	json_decref(o);
}

static void
parts(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct bl_exit x = { .wait_status = 9, .limit = BL_LIMIT_TIME,
	    .wall_ns = 1999999 };
	json_t *o = json_object(), *v;

	is(put_exit(o, &x), 0, "an end");
	is(json_is_null(json_object_get(o, "exit_code")), 1, "no code");
	is(json_integer_value(json_object_get(o, "signal")), 9, "a signal");
	is_str(json_string_value(json_object_get(o, "limit")), "time",
	    "a limit");
	is(json_integer_value(json_object_get(o, "wall_ms")), 1, "a time");
	(void)err_set(&e, BL_KIND_INFRA, "some_code", "a/step", -ENOENT, "%s",
	    "bad \xff text");
	err_object(&e, "thing");
	(void)err_set(&e, BL_KIND_SETUP, "later", "x", 0, "later");
	is(put_err(o, "error", &e), 0, "an error");
	v = json_object_get(o, "error");
	is_str(json_string_value(json_object_get(v, "code")), "some_code",
	    "the first one counts");
	is(json_integer_value(json_object_get(v, "errno")), ENOENT, "errno");
	is_str(json_string_value(json_object_get(v, "message")),
	    "bad \\xff text", "escaped");
	is(json_is_null(json_object_get(v, "hint")), 1, "no hint");
	json_decref(o);
}

static void
lines(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	json_t *o = json_object();
	char buf[256] = "", *big = calloc(1, 300000);
	int p[2], fd;

	(void)put_str(o, "a", "x\ny");
	is(pipe(p), 0, "a pipe");
	is(json_line(o, p[1], now_ns() + 1000000000ULL, -1, &e), 0, "a line");
	is(read(p[0], buf, sizeof buf - 1), 13, "of one write");
	is_str(buf, "{\"a\":\"x\\ny\"}\n", "with its end");
	memset(big, 'b', 299999);
	(void)put_str(o, "big", big);
	is(json_line(o, p[1], now_ns() + 200000000ULL, -1, &e), -1,
	    "a pipe that nobody reads");
	is(e.err, ETIMEDOUT, "ends in time");
	(void)close(p[0]);
	(void)close(p[1]);
	e.kind = BL_KIND_NONE;
	fd = open("/dev/full", O_WRONLY);
	is(json_line(o, fd, now_ns() + 1000000000ULL, -1, &e), -1, "a full disk");
	is_str(e.code, "output_failed", "by its name");
	(void)close(fd);
	json_decref(o);
	free(big);
}

static void
escapes(void)
{
	static const struct {
		const char *in, *out;
	} t[] = {
		{ "plain\n\ttext", "plain\n\ttext" },
		{ "\x1b[2J", "\\x1b[2J" },
		{ "a\rb\b", "a\\x0db\\x08" },
		{ "\x7f", "\\x7f" },
		{ "\xc2\x9b" "31m", "\\xc2\\x9b31m" },	/* C1 in UTF-8 */
		{ "\x9b", "\\x9b" },			/* and alone */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },	/* right-to-left */
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80" },
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xe2\x28\xa1", "\\xe2(\\xa1" },
	};
	unsigned char part[4];
	char out[256];
	size_t n, npart;

	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		size_t len = strlen(t[i].in);

		n = text_escape(out, t[i].in, len, NULL, NULL);
		out[n] = '\0';
		is_str(out, t[i].out, "escaped, %zu", i);
		/* The same whatever the borders of the pieces are. */
		n = npart = 0;
		for (size_t j = 0; j < len; j++)
			n += text_escape(out + n, t[i].in + j, 1, part, &npart);
		out[n] = '\0';
		is_str(out, t[i].out, "byte by byte, %zu", i);
		is(npart, 0, "nothing is held back, %zu", i);
	}
	npart = 0;
	n = text_escape(out, "\xe2\x82", 2, part, &npart);
	is(n, 0, "a cut sequence is held back");
	n = text_escape(out, "\xac", 1, part, &npart);
	is(n, 3, "until it is whole");
	n = text_escape(out, "\xe2\x82", 2, NULL, NULL);
	is(n, 8, "or escaped at the end");
}

int
main(void)
{
	bytes();
	parts();
	lines();
	escapes();
	return done();
}

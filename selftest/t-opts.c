/* Options: whole words, whole numbers, nothing by halves. */
#include <stdlib.h>
#include <unistd.h>

#include "../client/cells.h"
#include "../client/opts.h"
#include "tap.h"

static struct bl_err e;
static struct opts o;

/* Parses the words, which end with NULL; returns the index or -1. */
static int
parse(const char *const *words)
{
	char *argv[16] = { NULL };
	int n = 0, r;

	for (; words[n] != NULL; n++)
		argv[n] = strdup(words[n]);
	e = (struct bl_err){ .kind = BL_KIND_NONE };
	opts_free(&o);
	opts_init(&o, CMD_EXEC);
	r = opts_parse(&o, n, argv, 1, NULL, NULL, &e);
	while (n > 0)
		free(argv[--n]);
	return r;
}
#define P(...) parse((const char *[]){ "exec", __VA_ARGS__, NULL })

static void
words(void)
{
	is(P("--timeout", "2.5", "--", "cmd", "-t"), 4, "stops behind --");
	is(o.timeout_ns, 2500000000LL, "two words");
	is(P("--timeout=3", "cmd", "--json"), 2, "stops at a word");
	is(o.timeout_ns, 3000000000LL, "one word with =");
	is(o.json, 0, "what comes later is the command's");
	is(P("-t1", "-m", "512m", "x"), 4, "letters, with and without space");
	is(o.memory, 512LL << 20, "a size");
	is(P("-vvq", "x"), 2, "letters in one word");
	is(o.verbose, 2, "counted");
	is(P("--time", "3", "x"), -1, "no abbreviation");
	is(e.kind, BL_KIND_USAGE, "is a mistake of usage");
	is(P("--timeou=3"), -1, "with = neither");
	is(P("--timeout"), -1, "no value");
	is(P("--json=yes"), -1, "a flag takes none");
	is(P("-"), 1, "a lone dash is a word");
	is(P("--=x"), -1, "no name");
	is(P("--judge-mode", "shared"), -1, "another command's option");
	is(P("--put", "a:b", "--put", "c:d", "x"), 5, "lists");
	is(o.put.n, 2, "grow");
	is_str(o.put.v[1], "c:d", "in order");
	is(P("--put", "a"), -1, "no colon");
	is(P("--put", ":b"), -1, "no source");
	is(P("--put", "a:"), -1, "no destination");
	is(P("--ro-bind", "a:b"), -1, "no absolute destination");
	is(P("--require", "uid,net", "x"), 3, "a list of needs");
	is(o.require, BL_NEED_UID | BL_NEED_NET, "as bits");
	is(P("--require", "uid,,net"), -1, "an empty one");
	is(P("--require", "uids"), -1, "an unknown one");
	is(P("--mode", "mars"), -1, "an unknown mode");
	is(P("--net", "none"), -1, "a network that can't be had");
	is(P("--net", "loopback", "x"), 3, "one that can");
	is(P("--status-fd", "999"), -1, "a closed descriptor");
	is(P("--tmpfs", "/a:1m", "x"), 3, "a folder with a size");
	is(P("--tmpfs", "/a:"), -1, "an empty size");
	is(P("-m", "8191k"), -1, "less memory than any program needs");
	is(P("-m", "8m", "x"), 3, "the least");
}

static void
numbers(void)
{
	static const char *const bad[] = { "", " 1", "1 ", "-1", "+1", "0x10",
	    "1e3", "4294967296k4", "18446744073709551616", "9999999999t",
	    "1mm", "1.5m", "m" };
	static const char *const no_seconds[] = { "", "0", "0.0", "-1", "1.",
	    ".", "inf", "nan", "1e3", "1.0000000001", "99999999999", "1,5" };
	uint64_t v = 7;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		is(opt_size("x", bad[i], &v, &e), -1, "no size: \"%s\"",
		    bad[i]);
	is(v, 7, "a refused value sets nothing");
	is(opt_size("x", "0", &v, &e), 0, "zero");
	is(opt_size("x", "2G", &v, &e), 0, "capital unit");
	is(v, 2LL << 30, "its value");
	is(opt_size("x", "3MiB", &v, &e), 0, "long unit");
	is(v, 3 << 20, "its value");
	is(opt_size("x", "10b", &v, &e), 0, "bytes");
	is(v, 10, "its value");
	for (size_t i = 0; i < sizeof no_seconds / sizeof no_seconds[0]; i++)
		is(opt_seconds("x", no_seconds[i], &v, &e), -1,
		    "no seconds: \"%s\"", no_seconds[i]);
	is(opt_seconds("x", ".25", &v, &e), 0, "a fraction alone");
	is(v, 250000000, "its value");
	is(opt_number("x", "65536", 65535, &v, &e), -1, "above the most");
	is(opt_number("x", "65535", 65535, &v, &e), 0, "the most");
	is(opt_milli("x", "1.5", &v, &e), 0, "processors");
	is(v, 1500, "in thousandths");
}

static void
env_file(const char *text, int want, const char *name)
{
	char path[] = "/tmp/t-opts-XXXXXX";
	int fd = mkstemp(path);

	is(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	    1, "a file of variables");
	is(P("--env-file", path), want, "%s", name);
	(void)close(fd);
	(void)unlink(path);
}

static void
variables(void)
{
	const char *mode, *warning;

	(void)unsetenv("DAYTONA_API_KEY");
	(void)setenv("T_OPTS", "from here", 1);
	(void)unsetenv("T_OPTS_NONE");
	is(P("-e", "A=b=c", "-e", "T_OPTS", "-e", "T_OPTS_NONE", "x"), 7,
	    "variables");
	is(o.env.n, 2, "one that is not set is none");
	is_str(o.env.v[0], "A=b=c", "up to the first =");
	is_str(o.env.v[1], "T_OPTS=from here", "looked up");
	is(opts_mode(&o, &mode, &warning, &e), 0, "a mode");
	is_str(warning, "not set here, so not passed on: T_OPTS_NONE",
	    "and a warning");
	is(P("-e", "A=", "x"), 3, "an empty one");
	is(opts_mode(&o, &mode, &warning, &e), 0, "a mode");
	is(warning == NULL, 1, "without a warning");
	is(P("-e", "=x"), -1, "no name");
	env_file("# x\n\n A=\"b c\"\nT_OPTS\n", 3, "lines");
	is(o.env.n, 2, "two variables");
	is_str(o.env.v[0], "A=\"b c\"", "quotes are no syntax");
	env_file("A=1\nexport B=2\n", -1, "a shell's line");
	ok(strstr(e.object, ":2") != NULL, ==, 1, "is named");
}

static int
config(const char *text)
{
	char path[] = "/tmp/t-opts-XXXXXX";
	int fd = mkstemp(path), r;

	e = (struct bl_err){ .kind = BL_KIND_NONE };
	opts_free(&o);
	opts_init(&o, CMD_EXEC);
	r = fd < 0 || write(fd, text, strlen(text)) < 0;
	is(r, 0, "a file of defaults");
	r = opts_config_file(&o, path, NULL, NULL, &e);
	(void)close(fd);
	(void)unlink(path);
	return r;
}

static void
defaults(void)
{
	is(config("# words\n\n  timeout = 4 \nmemory=1g\njson = yes\n"
	    "judge-timeout = 3\nenv = A=1\n"), 0, "read");
	is(o.timeout_ns, 4000000000LL, "a value, trimmed");
	is(o.memory, 1LL << 30, "a value without spaces");
	is(o.json, 1, "a flag");
	is_str(o.env.v[0], "A=1", "a value with = in it");
	is(config("timeout = 4\ntimeoutt = 5\n"), -1, "an unknown name");
	ok(strstr(e.object, ":2") != NULL, ==, 1, "with its line");
	is(config("json = maybe\n"), -1, "no flag's value");
	is(config("help = yes\n"), -1, "not in a file");
	is(config("timeout 4\n"), -1, "no =");
	is(config("timeout = x\n"), -1, "no value");
	is(opts_config_file(&o, "/nonexistent/config", NULL, NULL, &e), 0,
	    "no file is fine");
}

static int got;

static int
set_extra(void *ctx, const char *val, struct bl_err *err)
{
	(void)err;
	*(int *)ctx = val[0];
	return 0;
}

static void
extras(void)
{
	static const struct opt_def extra[] = {
		{ "answer", 'a', true, set_extra },
		{ "exit-zero", 0, false, set_extra },
		{ NULL, 0, false, NULL }
	};
	char words[6][12] = { "run", "--json", "ENV", "--answer", "z",
	    "--exit-zero" };
	char *argv[] = { words[0], words[1], words[2], words[3], words[4],
	    words[5], NULL };
	int at;

	opts_free(&o);
	opts_init(&o, CMD_RUN);
	at = opts_parse(&o, 6, argv, 1, extra, &got, &e);
	is(at, 2, "up to a word");
	at = opts_parse(&o, 6, argv, at + 1, extra, &got, &e);
	is(at, 6, "and on behind it");
	is(got, 'y', "a command's own options");
	is(o.json, 1, "and shared ones");
}

int
main(void)
{
	opts_init(&o, CMD_EXEC);
	words();
	numbers();
	variables();
	defaults();
	extras();
	opts_free(&o);
	return done();
}

/* TAP for unit tests: each macro compares two values, so = is never ==. */
#ifndef BL_SELFTEST_TAP_H
#define BL_SELFTEST_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 *	is(got, want, name, ...)	equal integers
 *	isnt(got, other, name, ...)	not equal
 *	ok(a, op, b, name, ...)		a op b, op being <, >=, ...
 *	is_str(got, want, name, ...)	equal strings; NULL is only like NULL
 *	is_mem(got, want, n, name, ...)	n equal bytes
 *	skip(reason, name, ...)		counted, with its reason
 *	plan_skip(reason)		instead of everything: return it
 *	done()				prints the plan: return it from main
 */
static int tap_run, tap_bad;

__attribute__((format(printf, 3, 0)))
static inline int
tap_line(int good, const char *why, const char *name, va_list ap)
{
	tap_run++;
	tap_bad += !good;
	(void)printf("%sok %d - ", good ? "" : "not ", tap_run);
	(void)vprintf(name, ap);
	if (why != NULL)
		(void)printf(" # SKIP %s", why);
	(void)printf("\n");
	(void)fflush(stdout);		/* a fork must not print it again */
	return good;
}

__attribute__((format(printf, 7, 8)))
static inline int
tap_cmp(int good, long long got, long long want, const char *op,
    const char *file, int line, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	(void)tap_line(good, NULL, name, ap);
	va_end(ap);
	if (!good)
		(void)printf("# %s:%d: %lld %s %lld is false\n", file, line,
		    got, op, want);
	(void)fflush(stdout);
	return good;
}

__attribute__((format(printf, 6, 7)))
static inline int
tap_text(int good, const char *got, const char *want, const char *file,
    int line, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	(void)tap_line(good, NULL, name, ap);
	va_end(ap);
	if (!good)
		(void)printf("# %s:%d: got  %s\n# want %s\n", file, line,
		    got == NULL ? "(none)" : got,
		    want == NULL ? "(none)" : want);
	(void)fflush(stdout);
	return good;
}

__attribute__((format(printf, 2, 3)))
static inline void
tap_skip(const char *why, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	(void)tap_line(1, why, name, ap);
	va_end(ap);
}

static inline int
tap_plan_skip(const char *why)
{
	(void)printf("1..0 # SKIP %s\n", why);
	return 0;
}

static inline int
tap_done(void)
{
	(void)printf("1..%d\n", tap_run);
	if (tap_bad != 0)
		(void)printf("# %d of %d failed\n", tap_bad, tap_run);
	return tap_bad != 0 || fflush(stdout) != 0;
}

static inline int
tap_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Both sides are read once. */
#define tap_ints(op, a, b, ...) \
	__extension__ ({ long long tap_a = (long long)(a); \
	    long long tap_b = (long long)(b); \
	    tap_cmp(tap_a op tap_b, tap_a, tap_b, #op, \
	    __FILE__, __LINE__, __VA_ARGS__); })
#define ok(a, op, b, ...)	tap_ints(op, a, b, __VA_ARGS__)
#define is(got, want, ...)	tap_ints(==, got, want, __VA_ARGS__)
#define isnt(got, other, ...)	tap_ints(!=, got, other, __VA_ARGS__)
#define is_str(got, want, ...) \
	__extension__ ({ const char *tap_a = (got), *tap_b = (want); \
	    tap_text(tap_same(tap_a, tap_b), tap_a, tap_b, \
	    __FILE__, __LINE__, __VA_ARGS__); })
#define is_mem(got, want, n, ...) \
	is(memcmp((got), (want), (n)), 0, __VA_ARGS__)
#define skip(why, ...)		tap_skip(why, __VA_ARGS__)
#define plan_skip(why)		tap_plan_skip(why)
#define done()			tap_done()

#endif

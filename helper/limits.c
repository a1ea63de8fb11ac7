/* Time and the kernel's per-process limits. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>

#include "ops.h"

enum { NROWS = 11 };

struct row { int what; rlim_t soft, hard; };

static rlim_t
or_none(uint64_t v)
{
	return v == 0 ? RLIM_INFINITY : v;
}

/* RLIMIT_DATA and never RLIMIT_AS: a JVM reserves far more than it uses. */
static void
limits_rows(const struct bl_limits *l, struct row row[NROWS])
{
	rlim_t cpu = l->cpu_ms == 0 ? RLIM_INFINITY : (l->cpu_ms + 999) / 1000;
	const struct row rows[NROWS] = {
		{ RLIMIT_DATA, or_none(l->memory), or_none(l->memory) },
		{ RLIMIT_FSIZE, or_none(l->fsize), or_none(l->fsize) },
		{ RLIMIT_CPU, cpu, cpu == RLIM_INFINITY ? cpu : cpu + 1 },
		{ RLIMIT_NPROC, or_none(l->pids), or_none(l->pids) },
		{ RLIMIT_NOFILE, l->nofile, l->nofile },
		/* 1, not 0: a pipe in core_pattern ignores 0 and obeys 1 */
		{ RLIMIT_CORE, 1, 1 },
		{ RLIMIT_MEMLOCK, 64 << 10, 64 << 10 },
		{ RLIMIT_STACK, 8 << 20, 64 << 20 },
		{ RLIMIT_MSGQUEUE, 819200, 819200 },
		{ RLIMIT_RTPRIO, 0, 0 },
		{ RLIMIT_NICE, 0, 0 },
	};

	memcpy(row, rows, sizeof rows);
}

/*
 * The cell's own limits, hard: before the role is become.  Or die.  Where the
 * helper itself could not be given more, a smaller one stays in force.
 */
void
limits_set(const struct bl_limits *l)
{
	struct row row[NROWS];
	unsigned i;

	limits_rows(l, row);
	for (i = 0; i < NROWS; i++) {
		__rlimit_resource_t what = (__rlimit_resource_t)row[i].what;
		struct rlimit v, have;

		if (getrlimit(what, &have) != 0)
			die(BL_AT_BECOME);
		v.rlim_max = row[i].hard < have.rlim_max ? row[i].hard :
		    have.rlim_max;
		v.rlim_cur = row[i].soft < v.rlim_max ? row[i].soft :
		    v.rlim_max;
		if (setrlimit(what, &v) != 0)
			die(BL_AT_BECOME);
	}
}

/* What a spawn asks for on top, as the role: down only.  0, or -errno. */
int
limits_lower(const struct bl_limits *l, uint32_t *which)
{
	struct row row[NROWS];
	unsigned i;

	limits_rows(l, row);
	for (i = 0; i < 5; i++) {
		struct rlimit v;

		*which = (uint32_t)row[i].what;
		if (row[i].hard == RLIM_INFINITY || row[i].hard == 0)
			continue;
		if (getrlimit((__rlimit_resource_t)row[i].what, &v) != 0)
			return -errno;
		if (row[i].hard > v.rlim_max)
			return -EDQUOT;
		v.rlim_cur = row[i].soft;
		v.rlim_max = row[i].hard;
		if (setrlimit((__rlimit_resource_t)row[i].what, &v) != 0)
			return -errno;
	}
	return 0;
}

uint64_t
limits_now(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
		die(BL_AT_RLIMIT);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Arms a timerfd for an absolute time; 0 disarms.  0, or -errno. */
int
limits_timer(int fd, uint64_t at_ns)
{
	const struct itimerspec v = { .it_value = {
	    .tv_sec = (time_t)(at_ns / 1000000000u),
	    .tv_nsec = (long)(at_ns % 1000000000u) } };

	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &v, NULL) != 0 ?
	    -errno : 0;
}

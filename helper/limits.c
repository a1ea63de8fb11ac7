/* Time and the kernel's per-process limits. */
#include "ops.h"
#include "sys.h"

static rlim_t
or_none(uint64_t v)
{
	return v == 0 ? RLIM_INFINITY : v;
}

/*
 * Down only, hard: what is lower already stays.  0, or -errno.
 * RLIMIT_DATA and never RLIMIT_AS: a JVM reserves far more than it uses.
 * RLIMIT_CORE 1, not 0: a pipe in core_pattern ignores 0 and obeys 1, and one
 * byte is too little for a file.
 */
int
limits_set(const struct bl_limits *l)
{
	rlim_t cpu = or_none(l->cpu_ms / 1000 + (l->cpu_ms % 1000 != 0));
	const struct { int what; rlim_t soft, hard; } row[] = {
		{ RLIMIT_DATA, RLIM_INFINITY, or_none(l->memory) },
		{ RLIMIT_FSIZE, RLIM_INFINITY, or_none(l->fsize) },
		/* the soft one signals, a second later the hard one kills */
		{ RLIMIT_CPU, cpu, cpu == RLIM_INFINITY ? cpu : cpu + 1 },
		{ RLIMIT_NPROC, RLIM_INFINITY, or_none(l->pids) },
		{ RLIMIT_NOFILE, RLIM_INFINITY, or_none(l->nofile) },
		{ RLIMIT_CORE, 1, 1 },
		{ RLIMIT_MEMLOCK, 64 << 10, 64 << 10 },
		{ RLIMIT_STACK, 8 << 20, 64 << 20 },
		{ RLIMIT_MSGQUEUE, 819200, 819200 },
		{ RLIMIT_SIGPENDING, 4096, 4096 },
		{ RLIMIT_RTPRIO, 0, 0 }, { RLIMIT_NICE, 0, 0 },
	};
	unsigned i;

	for (i = 0; i < COUNT(row); i++) {
		__rlimit_resource_t what = (__rlimit_resource_t)row[i].what;
		struct rlimit v;

		if (getrlimit(what, &v) != 0)
			return -errno;
		v.rlim_max = row[i].hard < v.rlim_max ? row[i].hard : v.rlim_max;
		v.rlim_cur = row[i].soft < v.rlim_max ? row[i].soft : v.rlim_max;
		if (setrlimit(what, &v) != 0)
			return -errno;
	}
	return 0;
}

uint64_t
limits_now(void)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* clock known: can't fail */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Arms a timerfd for an absolute time; 0 disarms.  0, or -errno. */
int
limits_timer(int fd, uint64_t at_ns)
{
	const struct itimerspec v = { .it_value = {
	    .tv_sec = (time_t)(at_ns / 1000000000u),
	    .tv_nsec = (long)(at_ns % 1000000000u) } };

	return sys(timerfd_settime(fd, TFD_TIMER_ABSTIME, &v, NULL));
}

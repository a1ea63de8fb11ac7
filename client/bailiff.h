/*
 * bailiff: commands in cells of their own.
 *
 * There is no global state: calls on different sandboxes may run in different
 * threads at once; calls on one sandbox may not.  Every string that goes in
 * stays the caller's; what comes out is freed by the one function that is
 * named with it.  No function waits without a bound, writes to a standard
 * stream, changes signal handling, or ends the process.  Functions return 0,
 * or -1 with *e filled.  The kernel interfaces behind this are described in
 * namespaces(7), unix(7), pipe(7), memfd_create(2) and capabilities(7).
 */
#ifndef BAILIFF_H
#define BAILIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAILIFF_API __attribute__((visibility("default")))

enum bailiff_kind {
	BAILIFF_OK,
	BAILIFF_SETUP,		/* the caller or the installation must change */
	BAILIFF_REFUSED,	/* by a check */
	BAILIFF_INFRASTRUCTURE,	/* may work if repeated */
	BAILIFF_JUDGE,
	BAILIFF_CANCELLED,
	BAILIFF_USAGE
};

/* No pointers: copy and drop freely.  Zeroed by the call that gets it. */
struct bailiff_error {
	enum bailiff_kind kind;
	char	 code[48];	/* fixed, for programs: "helper_missing" */
	char	 step[32];	/* what was being done: "cell/mount" */
	char	 object[192];	/* on what, or "" */
	int	 err;		/* errno(3), or 0 */
	char	 message[512];	/* one sentence */
	char	 hint[256];	/* the one thing to do about it, or "" */
};

/* What a command must be held by; cgroup: after bailiff_cgroup alone. */
enum {
	BAILIFF_UID	= 1 << 0,
	BAILIFF_NET	= 1 << 1,
	BAILIFF_MOUNT	= 1 << 2,
	BAILIFF_PID	= 1 << 3,
	BAILIFF_IPC	= 1 << 4,
	BAILIFF_SECCOMP	= 1 << 5,
	BAILIFF_CGROUP	= 1 << 6
};

/* Which limit ended a command. */
enum bailiff_limit {
	BAILIFF_LIMIT_NONE, BAILIFF_LIMIT_TIME, BAILIFF_LIMIT_CPU,
	BAILIFF_LIMIT_MEMORY, BAILIFF_LIMIT_PROCESSES, BAILIFF_LIMIT_OUTPUT,
	BAILIFF_LIMIT_DISK,
	BAILIFF_LIMIT_START	/* it could not be started */
};

struct bailiff_pair {
	const char *src, *dst;
};

struct bailiff_tmpfs {
	const char *dst;
	uint64_t size;			/* bytes; 0: 64 MiB */
};

/*
 * One command.  Start from bailiff_command_init: 0 and NULL are defaults
 * throughout, but descriptors are -1 for none.  A list has n entries.
 */
struct bailiff_command {
	const char *const *argv;	/* ends with NULL; by the cell's PATH */
	const char *const *env;		/* K=V, ends with NULL; or NULL */
	const char *workdir;		/* /work */
	uint64_t timeout_ns;		/* 30 s; CLOCK_MONOTONIC, see
					   clock_gettime(2) */
	uint64_t cpu_ms;		/* RLIMIT_CPU, getrlimit(2); none */
	uint64_t memory;		/* RLIMIT_DATA; 2 GiB */
	uint64_t fsize;			/* RLIMIT_FSIZE; as disk */
	uint64_t disk;			/* tmpfs(5), all folders; 1 GiB */
	uint32_t pids;			/* RLIMIT_NPROC; 512 */
	uint32_t cpus_milli;		/* processors, in thousandths; 2000; in
					   a control group alone */
	uint32_t require;		/* BAILIFF_ bits on top of the usual */
	uint64_t max_output;		/* bytes per stream; 1 MiB */
	bool	 no_output;		/* max_output 0 is meant as 0 */
	size_t	 keep;			/* bytes per stream, in the result */
	const struct bailiff_pair *ro_bind;	/* folders, read-only */
	size_t	 nro_bind;
	const char *const *expose;	/* folders, at their own path */
	size_t	 nexpose;
	const struct bailiff_tmpfs *tmpfs;
	size_t	 ntmpfs;
	const struct bailiff_pair *put;	/* files or folders, copied in before */
	size_t	 nput;
	const struct bailiff_pair *get;	/* and out, after it has ended */
	size_t	 nget;
	bool	 keep_cell;		/* the cell outlives the call; the
					   sandbox can then do no more */
	int	 in;			/* pumped to its stdin; empty */
	int	 out, err;		/* its output goes there as it comes;
					   control characters escaped on a
					   terminal */
	int	 cancel;		/* when readable, see poll(2): cancel */
};

struct bailiff_stream {
	char	*data;			/* what was kept */
	size_t	 n;
	uint64_t bytes;			/* that came */
	bool	 truncated;		/* data is not all of them */
};

/* How it went.  What was seen, not what was asked for. */
struct bailiff_end {
	bool	 started;		/* else why says why it could not be */
	int	 wait_status;		/* as wait(2) gives it */
	enum bailiff_limit limit;
	uint64_t wall_ns, cpu_ns, peak_bytes;
	struct bailiff_stream out, err;
	bool	 seen;			/* the next ones were looked at */
	bool	 uid, net, mount, pid, ipc, seccomp;
	const char *cgroup;		/* "v2" or "none"; constant */
	uint64_t oom_kills;		/* v2: memory.events, oom_kill, and */
	uint64_t forks_refused;		/* pids.events, max */
	char	 rules[80];		/* "sha256:..." or "builtin" */
	int	 holder;		/* keep_cell: the process whose end is
					   the cell's; 0: there is none */
	int	 init;			/* process 1 of it; 0: unknown */
	uint32_t kept_uid;
	struct bailiff_error why;	/* "not_found", "not_executable" */
};

struct bailiff_sandbox;

/*
 * Moves this process into a control group that its user may divide: its own,
 * where it is alone in that, else one that systemd is asked for (for up to 10
 * seconds); but, unless it is to ask anywhere, only from a login session: a
 * service or a job has limits and an end of its own, and a scope is outside.
 * Sandboxes that it opens from then on give each cell a group of its own:
 * memory, processes and processors are then bounded and counted for all of a
 * cell together.  -1 with *e (cgroup_missing, kind setup): cells have
 * none then (it may have been moved all the same), and only require of
 * BAILIFF_CGROUP makes that a failure.  cgroups(7).
 */
BAILIFF_API int bailiff_cgroup(bool anywhere, struct bailiff_error *e);

/* How to come by cells on this host; all 0: the best way there is. */
struct bailiff_ask {
	const char *way;		/* "setuid", "socket", "rootless", ... */
	bool	 require_given;		/* require is all that must be held */
	uint32_t require;		/* BAILIFF_ bits */
	bool	 plain;			/* with require 0: plain processes where
					   there is nothing else */
};

/*
 * Begins a sandbox of the provider mode ("local"), as ask says (NULL: its
 * defaults); *s is freed by bailiff_close.  Errors: way_missing, way_too_weak,
 * provider_missing, helper_missing, helper_start and others of kind setup;
 * no_resources of kind infrastructure.
 */
BAILIFF_API int bailiff_open(const char *mode, const struct bailiff_ask *ask,
    struct bailiff_sandbox **s, struct bailiff_error *e);

/*
 * The way that was taken ("setuid", ...), and what has to be known about it: a
 * sentence in text, or "".  text has size bytes; the name is constant.
 */
BAILIFF_API const char *bailiff_way(const struct bailiff_sandbox *s,
    char *text, size_t size);

/* Its name; valid until bailiff_close. */
BAILIFF_API const char *bailiff_id(const struct bailiff_sandbox *s);

/*
 * Ends everything in it.  NULL is fine.  A plain process that takes more than a
 * minute to remove its cell's folder is left to end by itself: it is a child of
 * this process, which is told by SIGCHLD and may reap it, see waitpid(2).
 */
BAILIFF_API void bailiff_close(struct bailiff_sandbox *s);

BAILIFF_API void bailiff_command_init(struct bailiff_command *c);

/*
 * Runs c in a fresh cell and waits for its end.  0: *x tells how the command
 * fared, its failures included; -1: the machinery failed, *e tells where, and
 * *x holds what was known.  bailiff_end_free in both cases.
 */
BAILIFF_API int bailiff_exec(struct bailiff_sandbox *s,
    const struct bailiff_command *c, struct bailiff_end *x,
    struct bailiff_error *e);
BAILIFF_API void bailiff_end_free(struct bailiff_end *x);

#endif

/* The client's end of the protocol: a helper session, its cells, their spawns. */
#ifndef BL_CLIENT_CELLS_H
#define BL_CLIENT_CELLS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../policy/proto.h"
#include "../policy/spec.h"
#include "cgroup.h"
#include "err.h"
#include "ways.h"

/*
 * Every function returns 0, or -1 with *e filled, unless it says otherwise.
 * No function waits without a bound.  All descriptors are close-on-exec.
 */

struct bl_helper {		/* one session with a helper */
	int	 sock;		/* -1 when there is none */
	pid_t	 pid;		/* of the helper, or -1 */
	uint32_t seq;
	struct way way;		/* BWRAP, PLAIN: no session, each cell by itself */
	struct bl_rep_hello hello;
	struct cgroups groups;	/* for cells, where this user has one */
};

/*
 * Starts the helper (ways.c picks the way in) and says HELLO.  In two parts,
 * a caller can do its own work while the helper starts.
 */
int  helper_start(struct bl_helper *h, const struct way_ask *ask,
    struct bl_err *e);
int  helper_ready(struct bl_helper *h, struct bl_err *e);
/* Closes the session, which ends every cell; waits for the helper, bounded. */
void helper_close(struct bl_helper *h);
/* Forgets a session that another process goes on with. */
void helper_leave(struct bl_helper *h);

struct bl_cell_spec {
	enum bl_role role;
	uint32_t need;			/* BL_NEED_ bits */
	bool	 host_net;		/* no network of its own; not with NET */
	uint64_t deadline_ns;		/* absolute, CLOCK_MONOTONIC; 0: the rules' */
	uint64_t disk;
	struct bl_limits limits;
	uint32_t defaults;		/* 1 << enum bl_limit: nobody asked for
					   it, so the rules may give less */
	uint32_t cpus_milli;		/* of a processor, in thousandths; 0: all */
	bool	 cpus_given;
	bool	 exact;			/* limits.pids: not one more for init */
	bool	 lasts;			/* it may outlive this process (keep.h) */
	uint32_t nplaces;
	struct bl_place place[BL_PLACES_MAX];
	int	 place_fd[BL_PLACES_MAX];	/* for BL_PLACE_BIND, else -1 */
};

struct bl_cell {
	int	 owner;			/* owner socket; closing it ends the cell */
	uint32_t seq;
	enum bl_role role;
	struct bl_rep_cell info;
	int	 asked;			/* by cell_ask: 0, or -errno */
	uint32_t asked_seq;
	unsigned asked_fd;		/* of its folders, the first not found */
	pid_t	 pid;			/* to reap, or -1: the helper's */
	bool	 plain;			/* pid has files to remove in the end */
	int	 words;			/* what pid said of its failure, or -1 */
	struct cgroup group;		/* its own; all zero: none */
	struct bl_err group_e;		/* why it could not be made */
};

/* Makes a cell, proves its network by libmnl (when required) and sends GO. */
int  cell_open(struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_cell *c, struct bl_err *e);
/*
 * The same in two parts.  cell_ask sends the request, from helper_start on,
 * and waits for nothing; what goes wrong with it cell_take tells.  Takes come
 * in the order of asks, and behind helper_ready.
 */
void cell_ask(struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_cell *c);
int  cell_take(struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_cell *c, struct bl_err *e);
void cell_close(struct bl_cell *c);

/* Building a spec (specw.c).  Strings and file bytes are copied at once. */
struct specw;
struct specw *specw_new(void);			/* NULL: no memory */
void specw_free(struct specw *w);
int  specw_arg(struct specw *w, const char *s, struct bl_err *e);
int  specw_env(struct specw *w, const char *kv, struct bl_err *e);
void specw_cwd(struct specw *w, const char *dir);
void specw_limits(struct specw *w, const struct bl_limits *l);
/* A step.  PUT: the bytes of fd (a regular file), or of data when fd is -1. */
int  specw_dir(struct specw *w, const char *path, unsigned mode, struct bl_err *e);
int  specw_put_fd(struct specw *w, const char *path, unsigned mode, int fd, struct bl_err *e);
int  specw_put(struct specw *w, const char *path, unsigned mode,
    const void *data, size_t n, struct bl_err *e);
int  specw_take(struct specw *w, const char *path, uint64_t max, struct bl_err *e);
int  specw_listen(struct specw *w, const char *path, struct bl_err *e);
/* The steps of from behind those of to, with their bytes; from stays. */
int  specw_join(struct specw *to, const struct specw *from, struct bl_err *e);
uint64_t specw_bytes(const struct specw *w);	/* of files, so far */
/* A sealed memfd, or -1 with *e.  Once only. */
int  specw_seal(struct specw *w, struct bl_err *e);
/* The path of step i (the object of a BL_AT_STEP failure), or NULL. */
const char *specw_step_path(const struct specw *w, uint32_t i);

/*
 * A whole folder or file of the caller's, opened by dirfd-relative steps
 * without following links, as DIR and PUT steps below dst.  Refused entries
 * (links, devices, sockets) fail with their name.
 */
int  specw_tree(struct specw *w, const char *src, const char *dst,
    uint64_t max_bytes, struct bl_err *e);

/* The environment every role gets (interface: What a role finds). */
int  specw_base_env(struct specw *w, enum bl_role role, struct bl_err *e);

/*
 * A running spawn.  Streams are pipes of the client, or -1: the null device
 * (stdin: empty).
 */
struct bl_spawn {
	int	 reply;			/* reply socket; closing it kills */
	int	 in, out, err, result;	/* the client's ends, or -1 */
	int	 listener;		/* from STARTED, or -1 */
	bool	 started, ended;
	struct bl_rep start, end;	/* STARTED and EXIT, or FAIL in end */
	unsigned ntheirs;
	int	 theirs[5];		/* the cell's ends, until they are sent */
};

enum { SPAWN_IN = 1, SPAWN_OUT = 2, SPAWN_ERR = 4, SPAWN_RES = 8 };

/*
 * Sends SPAWN with pipes for the streams that flags name; does not wait.
 * spec stays the caller's.
 */
int  cell_spawn(struct bl_cell *c, int spec, uint64_t wall_ns, unsigned flags,
    struct bl_spawn *s, struct bl_err *e);
/* The same in two parts: the pipes can be made before there is a cell. */
int  spawn_open(struct bl_spawn *s, unsigned flags, struct bl_err *e);
int  spawn_send(struct bl_cell *c, int spec, uint64_t wall_ns,
    struct bl_spawn *s, struct bl_err *e);
/*
 * Reads what is there on s->reply, waiting up to until_ns (absolute).  1: an
 * event was taken in; 0: time is up; -1: the cell is gone, or broke the
 * protocol (infrastructure).  Descriptors that come along land in s.
 */
int  spawn_event(struct bl_spawn *s, uint64_t until_ns, struct bl_err *e);
void spawn_kill(struct bl_spawn *s);	/* kill, EXIT still comes (shutdown) */
void spawn_close(struct bl_spawn *s);

/* LISTEN: hands a listening socket to the cell; *report gets events of its guests. */
int  cell_listen(struct bl_cell *c, int listener, int *report, struct bl_err *e);
/* ATTACH: makes one guest of the cell, *guest, for whoever is to have it. */
int  cell_attach(struct bl_cell *c, int *guest, int *report, struct bl_err *e);

/* What the launched process saw, against this process's own namespaces. */
struct bl_protections {
	bool uid, net, mount, pid, ipc, seccomp;
	const char *cgroup;		/* "v2", "provider" or "none" */
	char rules[80];			/* "sha256:<hex>" or "builtin" */
	uint32_t waived;		/* BL_NEED_ bits that nobody asked for */
};
void protections_of(const struct bl_helper *h, const struct bl_cell *c,
    const struct bl_seen *seen, bool net_proved, struct bl_protections *p);
/* What holds for both. */
void protections_join(struct bl_protections *to,
    const struct bl_protections *p);

/*
 * pump.c: moves bytes for one spawn until it has ended, with caps.
 */
struct pump_stream {
	int	 to;			/* live copy goes here, or -1 */
	size_t	 keep;			/* bytes kept from the start */
	size_t	 keep_tail;		/* and from the end, of what data lacks */
	uint64_t max;			/* cap, UINT64_MAX: none; more bytes than
					   that: kill, or count on if .drop */
	bool	 drop;
	char	*data; size_t n;	/* what was kept; pump_free frees it */
	char	*tail; size_t ntail;	/* never repeats bytes of data */
	uint64_t bytes;			/* that came */
	bool	 capped;
};
enum { PUMP_EXTRA = 640 };
struct pump {
	int	 from;			/* bytes for stdin, or -1: empty */
	struct pump_stream out, err, result;
	uint64_t until_ns;		/* give up on the cell: infrastructure */
	int	 cancel_fd;		/* readable: cancelled; or -1 */
	/* others to wait for, at most PUMP_EXTRA, and what came; or NULL */
	unsigned (*extra)(void *ctx, struct pollfd *pf);
	void	(*on_extra)(void *ctx, const struct pollfd *pf, unsigned n);
	/* called once the spawn has ended, before the rest is written; or NULL */
	void	(*on_end)(void *ctx);
	void	*ctx;
};
/* 0: the spawn ended (s->end holds EXIT or FAIL); -1: *e. */
int  pump_run(struct pump *p, struct bl_spawn *s, struct bl_err *e);
void pump_free(struct pump *p);

uint64_t now_ns(void);			/* CLOCK_MONOTONIC */
/* Milliseconds from now to then, rounded up, an hour at most, for poll(2). */
int	 ms_until(uint64_t until_ns);

#endif

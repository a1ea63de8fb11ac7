/* The wire: every message between client, helper, cell init and guests. */
#ifndef BL_POLICY_PROTO_H
#define BL_POLICY_PROTO_H

#include <stddef.h>
#include <stdint.h>

/*
 * All sockets are AF_UNIX SOCK_SEQPACKET and carry one of two fixed sizes:
 * a request of sizeof(struct bl_req), a reply or event of sizeof(struct
 * bl_rep).  Native byte order, same host.  Unused members and tails are zero
 * or the message is refused.  Times are nanoseconds of CLOCK_MONOTONIC.
 */

enum {
	BL_MAGIC	= 0x6c696162,	/* "bail" */
	BL_VERSION	= 1,		/* must be equal on both ends */

	BL_PLACES_MAX	= 8,		/* extra folders of one cell */
	BL_DST_MAX	= 176,		/* bytes of a destination, with its NUL */
	BL_NAME_MAX	= 64,		/* bytes of one component, with its NUL */
	BL_FDS_MAX	= 12,		/* descriptors on one message */
	BL_SESSION_FD	= 3,		/* where the helper finds its socket */
	BL_CELLS_MAX	= 128,		/* cells of one session */
	BL_SPEC_BYTES	= 256 << 20	/* bytes of a whole spec memfd */
};

enum bl_op {
	BL_OP_NONE	= 0,
	/* session socket: client to helper */
	BL_OP_HELLO	= 1,	/* first; reply: bl_rep_hello */
	BL_OP_CELL	= 2,	/* fds: a folder per BL_PLACE_BIND, in order, then
				   the cgroup folder if BL_CELL_CGROUP; reply:
				   bl_rep_cell with 2 fds: owner, netlink */
	BL_OP_PATH	= 3,	/* the PATH-ownership check */
	BL_OP_BYE	= 4,	/* ends every cell, then the session */
	/* owner socket: client to cell init; no reply but where one is named */
	BL_OP_GO	= 8,	/* nothing runs before it */
	BL_OP_SPAWN	= 9,	/* fds: spec, stdin, stdout, stderr, reply socket,
				   then the result pipe if BL_SPAWN_RESULT;
				   also what a guest may send */
	BL_OP_KILL	= 10,	/* everything in the cell but its init */
	BL_OP_PAUSE	= 11,
	BL_OP_RESUME	= 12,
	BL_OP_ATTACH	= 13,	/* fds: a connected guest socket, report socket */
	BL_OP_LISTEN	= 14,	/* fds: a listening socket, report socket */
	BL_OP_MAX	= 15
};

/* Events: on a spawn's reply socket, and copied to the report socket. */
enum bl_event {
	BL_EV_STARTED	= 32,	/* may carry 1 fd: a listener the spec asked for */
	BL_EV_FAIL	= 33,	/* nothing was started: step, object, status */
	BL_EV_EXIT	= 34,	/* all that the spawn started is gone */
	BL_EV_MAX	= 35
};

enum bl_role {
	BL_ROLE_NONE, BL_ROLE_JUDGE, BL_ROLE_ANSWER, BL_ROLE_AGENT,
	BL_ROLE_VERIFIER, BL_ROLE_MAX
};

/* What a CELL requires: all of it is given, or the request fails. */
enum bl_need {
	BL_NEED_UID	= 1 << 0,
	BL_NEED_NET	= 1 << 1,
	BL_NEED_MOUNT	= 1 << 2,
	BL_NEED_PID	= 1 << 3,
	BL_NEED_IPC	= 1 << 4,	/* with it the uts namespace */
	BL_NEED_SECCOMP	= 1 << 5,
	BL_NEED_CGROUP	= 1 << 6,
	BL_NEED_FULL	= (1 << 6) - 1	/* all but cgroup */
};

enum {
	BL_CELL_KEEP	= 1 << 0,	/* many spawns at once, jobs stay */
	BL_CELL_CGROUP	= 1 << 1,	/* the last descriptor is a cgroup folder */
	BL_CELL_FLAGS	= 3,

	BL_SPAWN_RESULT	= 1 << 0,	/* a sixth descriptor becomes number 3 */
	BL_SPAWN_FLAGS	= 1,

	BL_PLACE_BIND	= 1,		/* a folder, read-only */
	BL_PLACE_TMPFS	= 2		/* an empty one, the role's own */
};

/* Per process, by the kernel's rlimits; 0 leaves what the cell or the rules say. */
struct bl_limits {
	uint64_t memory;		/* bytes, RLIMIT_DATA */
	uint64_t fsize;			/* bytes, RLIMIT_FSIZE */
	uint32_t cpu_ms;		/* rounded up to seconds, RLIMIT_CPU */
	uint32_t pids;			/* RLIMIT_NPROC; a slot's uid is its own */
	uint32_t nofile;		/* RLIMIT_NOFILE */
	uint32_t zero;
};

struct bl_place {
	uint32_t kind;
	uint32_t zero;
	uint64_t size;			/* BL_PLACE_TMPFS: bytes; else 0 */
	char	 dst[BL_DST_MAX];	/* absolute; zero to the end */
};

struct bl_req_cell {
	uint32_t role, need, flags;
	uint32_t net_of;		/* cell whose network to join; 0: its own */
	uint64_t deadline_ns;		/* absolute; 0: as the rules say */
	uint64_t disk;			/* bytes in all private folders together */
	struct bl_limits limits;
	uint32_t nplaces, zero;
	struct bl_place place[BL_PLACES_MAX];
};

struct bl_req_spawn {
	uint32_t flags, zero;
	uint64_t wall_ns;		/* from its start; 0: the cell's deadline */
};

struct bl_req_path {
	char	 path[BL_DST_MAX];
};

struct bl_req {
	uint32_t magic;
	uint16_t version;
	uint16_t op;			/* enum bl_op */
	uint32_t seq;			/* echoed in the reply */
	uint32_t zero;
	union {
		struct bl_req_cell  cell;
		struct bl_req_spawn spawn;
		struct bl_req_path  path;
		uint8_t		    raw[2032];
	} u;
};

struct bl_rep_hello {
	uint32_t way;			/* enum bl_way */
	uint32_t uid, gid;		/* the caller, by the kernel's word */
	uint32_t slots;			/* how many cells it may have at once */
	uint64_t memory_max, disk_max, fsize_max, wall_ms_max;
	uint32_t pids_max, builtin;	/* builtin: 1 when no rules file was read */
	uint8_t	 digest[32];		/* SHA-256 of the rules' source */
};

struct bl_rep_cell {
	uint32_t cell;			/* its number in this session */
	uint32_t uid, gid;		/* of the slot */
	uint32_t cgroup;		/* 1: born in the folder that was passed */
};

/* What the launched process saw of itself just before execve. */
struct bl_seen {
	uint32_t uid, gid, pid, groups;
	uint32_t no_new_privs, seccomp;	/* prctl's own values: 1, 2 */
	uint32_t root_flags;		/* statvfs f_flag of "/" */
	uint32_t zero;
	uint64_t caps;			/* all five sets, or-ed */
	uint64_t ns[6];			/* inodes: net mnt pid ipc uts cgroup */
};

struct bl_exit {
	int32_t	 wait_status;		/* as wait(2) gives it */
	uint32_t limit;			/* enum bl_limit */
	uint64_t wall_ns, cpu_ns;	/* cpu: all that the spawn started */
	uint64_t peak_bytes;		/* of its largest process */
	uint32_t left;			/* processes killed after the first ended */
	uint32_t zero;
};

struct bl_rep {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;			/* the op answered, or enum bl_event */
	uint32_t seq;			/* of the request */
	uint32_t spawn;			/* events: number of the spawn in its cell */
	int32_t	 status;		/* 0, or -errno */
	uint32_t step;			/* enum bl_at, when status is not 0 */
	uint32_t object;		/* which one of several; from 0 */
	uint32_t lost;			/* report socket: events dropped before this */
	union {
		struct bl_rep_hello hello;
		struct bl_rep_cell  cell;
		struct bl_seen	    seen;	/* BL_EV_STARTED */
		struct bl_exit	    exit;	/* BL_EV_EXIT */
		uint8_t		    raw[224];
	} u;
};

enum bl_limit {
	BL_LIMIT_NONE, BL_LIMIT_TIME, BL_LIMIT_CPU, BL_LIMIT_MEMORY,
	BL_LIMIT_PROCESSES, BL_LIMIT_OUTPUT, BL_LIMIT_DISK, BL_LIMIT_START,
	BL_LIMIT_MAX
};

enum bl_way {
	BL_WAY_NONE, BL_WAY_SETUID, BL_WAY_ROOT, BL_WAY_CAPS, BL_WAY_SOCKET,
	BL_WAY_ROOTLESS
};

/*
 * Where something failed: a reply's step, and the helper's exit status when
 * it ends before it can reply.  The client has the words.
 */
enum bl_at {
	BL_AT_NONE = 0,
	/*
	 * Start of the helper.  ARGS: started with arguments; FD3: that is no
	 * socket of ours; NOT_ROOT: no set-user-id bit, nosuid, no_new_privs;
	 * OWN_FILE: others can write the helper; STDIO: descriptors 0 to 2;
	 * RLIMIT: too low, object: its number; RULES_OPEN: missing, or a folder
	 * above unsound; LOCKS: folder or file of the slots; WIRE: a message
	 * broke the protocol; RESTRICTED: capability `object` is missing.
	 */
	BL_AT_ARGS = 10, BL_AT_FD3, BL_AT_NOT_ROOT, BL_AT_OWN_FILE, BL_AT_IDS,
	BL_AT_STDIO, BL_AT_RLIMIT, BL_AT_KEYRING, BL_AT_SIGNALS,
	BL_AT_DUMPABLE, BL_AT_RULES_OPEN, BL_AT_RULES_BAD, BL_AT_RULES_CALLER,
	BL_AT_LOCKS, BL_AT_SEAL, BL_AT_WIRE, BL_AT_RESTRICTED,
	/*
	 * CELL, in the helper.  LIMITS: above the rules, object: enum bl_limit;
	 * NEED: object: the bit; SLOT: all in use; PLACE: object: the one of a
	 * wrong type; CGROUP: not a v2 folder of the caller's; REPORT: cell init
	 * ended or was silent; UNKNOWN: this build does not have it.
	 */
	BL_AT_LIMITS = 40, BL_AT_NEED, BL_AT_SLOT, BL_AT_PLACE, BL_AT_CGROUP,
	BL_AT_CLONE, BL_AT_REPORT, BL_AT_UNKNOWN,
	/*
	 * CELL, in cell init.  VIEW: object: the row; BIND: the caller's place,
	 * SHOW: the rules' folder; GONE: the helper died meanwhile.
	 */
	BL_AT_INIT = 60, BL_AT_LO, BL_AT_PRIVATE, BL_AT_ROOT, BL_AT_VIEW,
	BL_AT_BIND, BL_AT_SHOW, BL_AT_PIVOT, BL_AT_HOSTNAME, BL_AT_NETLINK,
	BL_AT_CAPS, BL_AT_NNP, BL_AT_FILTER, BL_AT_GONE,
	/*
	 * SPAWN, in cell init.  STREAM: object 0 to 2, 4 the result pipe;
	 * SPEC_FD: not sealed, or too large; LAUNCH: died before execve.
	 */
	BL_AT_STREAM = 90, BL_AT_SPEC_FD, BL_AT_REPLY_FD, BL_AT_FORK,
	BL_AT_LAUNCH,
	/*
	 * SPAWN, in the launch child.  SPEC: object: enum bl_spec_bad; STEP:
	 * object: the step; CHDIR: object 0 the role's own, 1 the asked one.
	 */
	BL_AT_BECOME = 110, BL_AT_SPEC, BL_AT_STEP, BL_AT_CHDIR,
	BL_AT_SPEC_RLIMIT, BL_AT_EXEC,
	BL_AT_MAX = 128
};

_Static_assert(sizeof(struct bl_limits) == 32, "wire");
_Static_assert(sizeof(struct bl_place) == 192, "wire");
_Static_assert(sizeof(struct bl_req_cell) == 72 + 8 * 192, "wire");
_Static_assert(sizeof(struct bl_req) == 2048, "wire");
_Static_assert(offsetof(struct bl_req, u) == 16, "no hidden padding");
_Static_assert(sizeof(struct bl_rep_hello) == 88, "wire");
_Static_assert(sizeof(struct bl_seen) == 88, "wire");
_Static_assert(sizeof(struct bl_exit) == 40, "wire");
_Static_assert(sizeof(struct bl_rep) == 256, "wire");
_Static_assert(offsetof(struct bl_rep, u) == 32, "no hidden padding");

/* 0, or -EPROTO: size is fixed, so this judges content alone. */
int bl_req_check(const struct bl_req *q);

/* How many descriptors q must carry.  q has passed bl_req_check. */
unsigned bl_req_fds(const struct bl_req *q);

/* 0, or -EPROTO: magic, version, kind, and zero where nothing is due. */
int bl_rep_check(const struct bl_rep *p);

/*
 * 1: name holds the next component of path, *pos moved behind it; 0: no more;
 * -EINVAL: not absolute, empty, ".", "..", too long, or not printable ASCII.
 */
int bl_path_next(const char path[BL_DST_MAX], size_t *pos,
    char name[BL_NAME_MAX]);

#endif

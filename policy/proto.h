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

	BL_SPEC_READ	= 1 << 20,	/* bytes of header, steps and strings */
	BL_SPEC_BYTES	= 256 << 20,	/* bytes of a whole spec memfd */
	BL_ARGS_MAX	= 4096,
	BL_ENV_MAX	= 1024,
	BL_STEPS_MAX	= 4096
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
	BL_AT_NONE	= 0,
	/* start of the helper */
	BL_AT_ARGS	= 10,	/* started with arguments */
	BL_AT_FD3	= 11,	/* descriptor 3 is not a SEQPACKET unix socket */
	BL_AT_NOT_ROOT	= 12,	/* not effectively root: bit, mount, no_new_privs */
	BL_AT_OWN_FILE	= 13,	/* own file not root's, or writable by others */
	BL_AT_IDS	= 14,	/* could not become root wholly */
	BL_AT_STDIO	= 15,	/* could not make descriptors 0 to 2 sure */
	BL_AT_RLIMIT	= 16,	/* object: RLIMIT_ number */
	BL_AT_KEYRING	= 17,
	BL_AT_SIGNALS	= 18,
	BL_AT_DUMPABLE	= 19,
	BL_AT_RULES_OPEN = 20,	/* rules missing, or a folder above unsound */
	BL_AT_RULES_BAD	= 21,	/* rules of another version, or not rules */
	BL_AT_RULES_CALLER = 22, /* caller not named by the rules */
	BL_AT_LOCKS	= 23,	/* folder or file of the slot locks */
	BL_AT_SEAL	= 24,	/* capabilities, bounding set */
	BL_AT_WIRE	= 25,	/* a message that broke the protocol */
	BL_AT_RESTRICTED = 26,	/* a missing capability; object: its number */
	/* CELL, in the helper */
	BL_AT_LIMITS	= 40,	/* above the rules; object: enum bl_limit */
	BL_AT_NEED	= 41,	/* object: the BL_NEED_ bit not to be had */
	BL_AT_SLOT	= 42,	/* all slots of the caller are in use */
	BL_AT_PLACE	= 43,	/* object: the place: type, or file system */
	BL_AT_CGROUP	= 44,	/* not a cgroup v2 folder, or not the caller's */
	BL_AT_CLONE	= 45,	/* clone3 */
	BL_AT_REPORT	= 46,	/* cell init ended or was silent */
	BL_AT_UNKNOWN	= 47,	/* an op this build does not have */
	/* CELL, in cell init */
	BL_AT_INIT	= 60,	/* descriptors, signals, parent */
	BL_AT_LO	= 61,
	BL_AT_PRIVATE	= 62,	/* mount propagation */
	BL_AT_ROOT	= 63,	/* the new root */
	BL_AT_VIEW	= 64,	/* object: row of view_table.c */
	BL_AT_DEV	= 65,
	BL_AT_PTS	= 66,
	BL_AT_PROC	= 67,
	BL_AT_MASK	= 68,	/* object: row */
	BL_AT_PRIVATE_DIR = 69,	/* object: row */
	BL_AT_ETC	= 70,
	BL_AT_BIND	= 71,	/* object: the place */
	BL_AT_SHOW	= 72,	/* object: row of the rules' folders */
	BL_AT_PIVOT	= 73,
	BL_AT_HOSTNAME	= 74,
	BL_AT_NETLINK	= 75,
	BL_AT_CAPS	= 76,
	BL_AT_NNP	= 77,
	BL_AT_FILTER	= 78,
	BL_AT_GONE	= 79,	/* helper died during set-up */
	/* SPAWN, in cell init */
	BL_AT_STREAM	= 90,	/* object: 0 to 2, 3 the result pipe */
	BL_AT_SPEC_FD	= 91,	/* not a sealed memfd, or too large */
	BL_AT_REPLY_FD	= 92,
	BL_AT_FORK	= 93,
	BL_AT_LAUNCH	= 94,	/* launch child died before execve */
	/* SPAWN, in the launch child, as the role */
	BL_AT_BECOME	= 110,
	BL_AT_SPEC	= 111,	/* object: what of it is wrong */
	BL_AT_STEP	= 112,	/* object: the step */
	BL_AT_CHDIR	= 113,
	BL_AT_SPEC_RLIMIT = 114, /* object: RLIMIT_ number */
	BL_AT_EXEC	= 115,
	BL_AT_MAX	= 128
};

/*
 * The spec: a memfd with all four seals.  Header, then nsteps steps, then
 * strings, each with its NUL, in this order: working folder ("" for the
 * role's own), nargs arguments, nenv variables, one path per step; then, from
 * header.size on, the bytes that PUT steps name.  nargs 0: the steps alone,
 * and the spawn ends with status 0.  Relative paths start in the role's
 * working folder.
 */
enum bl_step_kind {
	BL_STEP_NONE,
	BL_STEP_DIR,		/* mkdir; one that is there is fine */
	BL_STEP_PUT,		/* write off, len of the memfd into a file */
	BL_STEP_TAKE,		/* bl_taken, then a file's bytes or a folder's
				   struct linux_dirent64 records, to stdout */
	BL_STEP_LISTEN,		/* bind and listen, 0600; goes out with STARTED */
	BL_STEP_TREE,
	BL_STEP_TTY,
	BL_STEP_MAX
};

struct bl_step {
	uint32_t kind;
	uint32_t mode;			/* permission bits, 0777 at most */
	uint64_t off, len;		/* TAKE: len is the largest size allowed */
};

struct bl_spec {
	uint32_t magic, version;
	uint32_t size;			/* header, steps and strings */
	uint32_t nargs, nenv, nsteps;
	struct bl_limits limits;
};

struct bl_taken {
	uint32_t magic;
	uint32_t mode;			/* st_mode: a file or a folder */
	uint64_t size;			/* of a file; 0 for a folder */
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
_Static_assert(sizeof(struct bl_step) == 24, "wire");
_Static_assert(sizeof(struct bl_spec) == 56, "wire");
_Static_assert(sizeof(struct bl_taken) == 16, "wire");

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

/* 1: a lies at, above or below b, both absolute and made of sound components. */
int bl_path_meets(const char *a, const char *b);

/*
 * 0, or -EINVAL with *bad telling what: buf holds n bytes read from the start
 * of a spec memfd of total bytes.  After 0, steps and strings can be walked
 * without further checks of bounds.
 */
enum bl_spec_bad {
	BL_SPEC_OK, BL_SPEC_SHORT, BL_SPEC_MAGIC, BL_SPEC_SIZE,
	BL_SPEC_COUNTS, BL_SPEC_STEP, BL_SPEC_STRINGS
};
int bl_spec_check(const void *buf, size_t n, uint64_t total, uint32_t *bad);

#endif

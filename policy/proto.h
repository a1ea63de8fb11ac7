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
/*
 * PLACES: extra folders of one cell; DST, NAME: bytes of a destination, and of
 * one component of it, with the NUL; FDS: descriptors on one message; SESSION_FD:
 * where the helper finds its socket; CELLS: of one session; SPEC_BYTES: of a
 * whole spec memfd.  VERSION must be equal on both ends.
 */
enum { BL_MAGIC = 0x6c696162 /* "bail" */, BL_VERSION = 2, BL_PLACES_MAX = 8,
    BL_DST_MAX = 176, BL_NAME_MAX = 64, BL_FDS_MAX = 12, BL_SESSION_FD = 3,
    BL_CELLS_MAX = 128, BL_SPEC_BYTES = 256 << 20 };

/*
 * Session socket, client to helper.  HELLO comes first; its reply holds
 * bl_rep_hello.  CELL brings a folder per BL_PLACE_BIND, in order, then the
 * cgroup folder if BL_CELL_CGROUP; its reply holds bl_rep_cell and brings the
 * owner socket and a netlink socket.  PATH is the PATH-ownership check.  BYE
 * ends every cell, then the session.
 *
 * Owner socket, client to cell init.  Nothing runs before GO.  SPAWN brings
 * spec, stdin, stdout, stderr, a reply socket, then the result pipe if
 * BL_SPAWN_RESULT; it is all that a guest may send.  KILL ends everything in
 * the cell but its init.  ATTACH brings a connected guest socket, LISTEN a
 * listening one; both a report socket as well.  There is no reply, but where
 * the op is refused.
 */
enum bl_op {
	BL_OP_NONE, BL_OP_HELLO, BL_OP_CELL, BL_OP_PATH, BL_OP_BYE,
	BL_OP_GO = 8, BL_OP_SPAWN, BL_OP_KILL, BL_OP_PAUSE, BL_OP_RESUME,
	BL_OP_ATTACH, BL_OP_LISTEN, BL_OP_MAX
};

/*
 * On a spawn's reply socket, and copied to the report socket.  STARTED: all is
 * done but execve; may bring the listener that the spec asked for.  Then, or
 * without it, one last word.  FAIL: no program was started.  EXIT: all that
 * the spawn started is gone.
 */
enum bl_event { BL_EV_STARTED = 32, BL_EV_FAIL, BL_EV_EXIT, BL_EV_MAX };

enum bl_role { BL_ROLE_NONE, BL_ROLE_JUDGE, BL_ROLE_ANSWER, BL_ROLE_AGENT,
    BL_ROLE_VERIFIER, BL_ROLE_MAX };

/*
 * What a CELL requires: all of it is given, or the request fails.  IPC: with
 * it the uts namespace; FULL: all but cgroup.
 */
enum bl_need { BL_NEED_UID = 1, BL_NEED_NET = 2, BL_NEED_MOUNT = 4,
    BL_NEED_PID = 8, BL_NEED_IPC = 16, BL_NEED_SECCOMP = 32,
    BL_NEED_CGROUP = 64, BL_NEED_FULL = 63 };

/*
 * KEEP: many spawns at once, jobs stay; CGROUP: the last descriptor is a cgroup
 * folder; HOST_NET: the helper's own network, where NET is not needed; RESULT: a sixth descriptor becomes number 3; BIND: a folder of the
 * caller's, read-only; TMPFS: an empty one, the role's own.
 */
enum { BL_CELL_KEEP = 1, BL_CELL_CGROUP = 2, BL_CELL_FLAGS = 7,
    BL_CELL_HOST_NET = 4, BL_SPAWN_RESULT = 1, BL_SPAWN_FLAGS = 1,
    BL_PLACE_BIND = 1, BL_PLACE_TMPFS = 2 };

/* Per process, by rlimits; 0 leaves what the cell or the rules say. */
struct bl_limits {
	uint64_t memory, fsize;		/* bytes: RLIMIT_DATA, RLIMIT_FSIZE */
	uint32_t cpu_ms, pids;		/* whole seconds: RLIMIT_CPU; _NPROC */
	uint32_t nofile, zero;		/* RLIMIT_NOFILE */
};

struct bl_place {
	uint32_t kind, zero;
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

struct bl_req {
	uint32_t magic;
	uint16_t version, op;
	uint32_t seq, zero;		/* seq is echoed in the reply */
	union {
		struct bl_req_cell  cell;
		struct bl_req_spawn spawn;
		char		    path[BL_DST_MAX];
		uint8_t		    raw[2032];
	} u;
};

struct bl_rep_hello {
	uint32_t way;			/* enum bl_way */
	uint32_t uid, gid;		/* the caller, by the kernel's word */
	uint32_t slots;			/* how many cells it may have at once */
	uint32_t builtin, zero;		/* builtin: 1 when no rules file was read */
	uint8_t	 digest[32];		/* SHA-256 of the rules' source */
};

/* Number in this session, ids of the slot; role and flags as they were asked. */
struct bl_rep_cell { uint32_t cell, uid, gid, role, flags; };

/* What the launched process saw of itself just before execve. */
struct bl_seen {
	uint32_t uid, gid, pid, groups;
	uint32_t no_new_privs, seccomp;	/* prctl's own values: 1, 2 */
	uint32_t root_flags, zero;	/* statvfs f_flag of "/" */
	uint64_t caps;			/* all sets, or-ed */
	uint64_t ns[6];			/* inodes: net mnt pid ipc uts cgroup */
};

struct bl_exit {
	int32_t	 wait_status;		/* as wait(2) gives it */
	uint32_t limit;			/* enum bl_limit */
	uint64_t wall_ns, cpu_ns;	/* cpu: all that the spawn started */
	uint64_t peak_bytes;		/* of its largest process */
	uint32_t left, zero;		/* killed after the first one ended */
};

struct bl_rep {
	uint32_t magic;
	uint16_t version, kind;		/* kind: the op answered, or the event */
	uint32_t seq;			/* of the request */
	uint32_t spawn;			/* events: number of the spawn in its cell */
	int32_t	 status;		/* 0, or -errno */
	uint32_t step, object;		/* enum bl_at, and which one of several */
	uint32_t lost;			/* report socket: events dropped before this */
	union {
		struct bl_rep_hello hello;
		struct bl_rep_cell  cell;
		struct bl_seen	    seen;	/* BL_EV_STARTED */
		struct bl_exit	    exit;	/* BL_EV_EXIT */
		uint8_t		    raw[224];
	} u;
};

enum bl_limit { BL_LIMIT_NONE, BL_LIMIT_TIME, BL_LIMIT_CPU, BL_LIMIT_MEMORY,
    BL_LIMIT_PROCESSES, BL_LIMIT_OUTPUT, BL_LIMIT_DISK, BL_LIMIT_START,
    BL_LIMIT_MAX };

enum bl_way { BL_WAY_NONE, BL_WAY_SETUID, BL_WAY_ROOT, BL_WAY_CAPS,
    BL_WAY_SOCKET, BL_WAY_ROOTLESS, BL_WAY_BWRAP, BL_WAY_PLAIN };

/*
 * Where something failed: a reply's step, and the helper's exit status when
 * it ends before it can reply.  The client has the words.
 *
 * Start of the helper.  ARGS: started with arguments; FD3: that is no socket
 * of ours; NOT_ROOT: no set-user-id bit, nosuid, no_new_privs; OWN_FILE:
 * others can write the helper; STDIO: descriptors 0 to 2; RLIMIT: too low,
 * object: its number; RULES_OPEN: missing, or a folder above unsound; LOCKS:
 * folder or file of the slots; WIRE: a message broke the protocol;
 * RESTRICTED: capability number `object` is missing.
 * CELL, in the helper.  LIMITS: above the rules, object: enum bl_limit; SLOT:
 * all in use; PLACE: object: the one of a wrong type; CLONE: or the cgroup
 * folder is none that the caller may use; REPORT: cell init ended or was
 * silent; UNKNOWN: this build does not have it.
 * CELL, in cell init.  ROOT: propagation, or the new root; VIEW: object: the
 * row; BIND: the caller's place; SHOW: the rules' path; GONE: the helper died
 * meanwhile.
 * SPAWN, in cell init.  STREAM: object 0 to 2, 4 the result pipe; LAUNCH: died
 * before execve.
 * SPAWN, in the launch child.  SPEC: object: enum bl_spec_bad; STEP: object:
 * the step; CHDIR: object 0 the role's own, 1 the asked one; EXEC: object 1: a
 * file that the role may have made.
 */
enum bl_at {
	BL_AT_NONE, BL_AT_ARGS = 10, BL_AT_FD3, BL_AT_NOT_ROOT, BL_AT_OWN_FILE,
	BL_AT_IDS, BL_AT_STDIO, BL_AT_RLIMIT, BL_AT_KEYRING, BL_AT_SIGNALS,
	BL_AT_DUMPABLE, BL_AT_RULES_OPEN, BL_AT_RULES_BAD, BL_AT_RULES_CALLER,
	BL_AT_LOCKS, BL_AT_SEAL, BL_AT_WIRE, BL_AT_RESTRICTED,
	BL_AT_LIMITS = 40, BL_AT_SLOT, BL_AT_PLACE, BL_AT_CLONE, BL_AT_REPORT,
	BL_AT_UNKNOWN,
	BL_AT_INIT = 60, BL_AT_LO, BL_AT_ROOT, BL_AT_VIEW, BL_AT_ETC,
	BL_AT_BIND, BL_AT_SHOW, BL_AT_PIVOT, BL_AT_NETLINK, BL_AT_CAPS,
	BL_AT_FILTER, BL_AT_GONE,
	BL_AT_STREAM = 90, BL_AT_REPLY_FD, BL_AT_FORK, BL_AT_LAUNCH,
	BL_AT_BECOME = 110, BL_AT_SPEC, BL_AT_STEP, BL_AT_CHDIR,
	BL_AT_SPEC_RLIMIT, BL_AT_EXEC, BL_AT_MAX = 128
};

/* Sizes are wire format; the sums leave no room for hidden padding. */
_Static_assert(sizeof(struct bl_req) == 16 + 2032 &&
    sizeof(struct bl_req_cell) == 72 + 8 * 192 && sizeof(struct bl_rep) == 256 &&
    sizeof(struct bl_seen) == 88 && sizeof(struct bl_exit) == 40, "wire");

/* 0, or -EPROTO: size is fixed, so this judges content alone. */
int bl_req_check(const struct bl_req *q);

/* How many descriptors q must carry.  q has passed bl_req_check. */
unsigned bl_req_fds(const struct bl_req *q);

/*
 * 1: name holds the next component of path, *pos moved behind it; 0: no more;
 * -EINVAL: not absolute, empty, ".", "..", too long, or not printable ASCII.
 */
int bl_path_next(const char path[BL_DST_MAX], size_t *pos,
    char name[BL_NAME_MAX]);

#endif

/* The administrator's rules: a fixed layout that is used without parsing. */
#ifndef BL_POLICY_RULES_H
#define BL_POLICY_RULES_H

#include "proto.h"

enum {
	BL_RULES_MAGIC = 0x656c7572 /* "rule" */, BL_RULES_VERSION = 1,
	BL_CALLERS_MAX = 64, BL_SHOWS_MAX = 64, BL_GROUPS_MAX = 16,
	BL_UID_FIRST = 65536, BL_UID_LAST = 0x7ffdffff	/* of all slots */
};

/*
 * Every uid from uid_lo to uid_hi has slots of its own: the first one is
 * slot_first + (uid - uid_lo) * slots.  Slot n runs as uid and gid
 * uid_base + n.
 */
struct bl_caller {
	uint32_t uid_lo, uid_hi;
	uint32_t slot_first, slots;
	uint64_t memory_max, disk_max, fsize_max;	/* bytes, for one cell */
	uint64_t wall_ms_max;
	uint32_t pids_max, nofile_max;
};

/* Shown read-only at its own path, if it is there. */
struct bl_show { char path[BL_DST_MAX]; };

struct bl_rules {
	uint32_t magic, version, size;	/* size: sizeof(struct bl_rules) */
	uint32_t uid_base, uid_count;
	uint32_t ncallers, nshows, ngroups;
	uint8_t	 digest[32];		/* SHA-256 of the source text */
	uint32_t group[BL_GROUPS_MAX];	/* none: any caller, else its members */
	struct bl_caller caller[BL_CALLERS_MAX];
	struct bl_show	 show[BL_SHOWS_MAX];
};

_Static_assert(sizeof(struct bl_rules) == 128 + 64 * 56 + 64 * 176, "file");

/*
 * 0, or -EINVAL: the right file, with counts and a uid range that the two
 * functions below are safe with.  What is left is what the compiler saw.
 */
int bl_rules_usable(const struct bl_rules *r);

/*
 * 0 with *q the line for uid, with slot_first of its own slots; or -EPERM: no
 * caller of r has uid, or it is in none of the groups, or its slots lie
 * outside of r's.  r has passed bl_rules_usable.
 */
int bl_rules_quota(const struct bl_rules *r, uint32_t uid,
    const uint32_t *groups, size_t ngroups, struct bl_caller *q);

/*
 * 0 with every 0 of c's limits replaced by the caller's maximum (deadline_ns
 * counted from now_ns), or -EDQUOT with *which naming the enum bl_limit that
 * asks for more than the rules give.
 */
int bl_rules_apply(const struct bl_caller *max, struct bl_req_cell *c,
    uint64_t now_ns, uint32_t *which);

#endif

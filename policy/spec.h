/* POST-DROP: what a launch child is to do, as a role, for whoever asked. */
#ifndef BL_POLICY_SPEC_H
#define BL_POLICY_SPEC_H

#include "proto.h"

/* READ: bytes of header, steps and strings. */
enum { BL_SPEC_READ = 1 << 20, BL_ARGS_MAX = 4096, BL_ENV_MAX = 1024,
    BL_STEPS_MAX = 4096 };

/*
 * The spec: a memfd with all four seals.  Header, then nsteps steps, then
 * strings, each with its NUL, in this order: working folder ("" for the
 * role's own), nargs arguments, nenv variables, one path per step; then, from
 * header.size on, the bytes that PUT steps name.  nargs 0: the steps alone,
 * and the spawn ends with status 0.  Relative paths start in the role's
 * working folder.
 *
 * DIR: mkdir; one that is there is fine.  PUT: off, len of the memfd into a
 * file.  TAKE: bl_taken, then a file's bytes or a folder's linux_dirent64
 * records, to stdout; len is the largest size allowed.  LISTEN: bind and
 * listen, 0600; it goes out with STARTED.
 */
enum bl_step_kind { BL_STEP_NONE, BL_STEP_DIR, BL_STEP_PUT, BL_STEP_TAKE,
    BL_STEP_LISTEN, BL_STEP_TREE, BL_STEP_TTY, BL_STEP_MAX };

struct bl_step {
	uint32_t kind, mode;		/* permission bits, 0777 at most */
	uint64_t off, len;
};

struct bl_spec {
	uint32_t magic, version;
	uint32_t size;			/* header, steps and strings */
	uint32_t nargs, nenv, nsteps;
	struct bl_limits limits;
};

struct bl_taken {
	uint32_t magic, mode;		/* st_mode: a file or a folder */
	uint64_t size;			/* of a file; 0 for a folder */
};

_Static_assert(sizeof(struct bl_step) == 24 && sizeof(struct bl_spec) == 56 &&
    sizeof(struct bl_taken) == 16, "wire");

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

/* Control groups, version 2: one for each cell, below one of this user's own. */
#ifndef BL_CLIENT_CGROUP_H
#define BL_CLIENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct bl_cell_spec;

/* Where cells' groups are made. */
struct cgroups {
	bool	 there;			/* else why says why not */
	int	 top;			/* a folder */
	unsigned own;			/* processes of a cell that are not its
					   role's: its init, and bwrap */
	char	 why[200];
};

/* One cell's; all zero where it has none. */
struct cgroup {
	char	 name[56];		/* of its folder, in top; "": there is none */
	int	 dir;			/* that folder */
	uint32_t cpus_milli;
	int	 top;			/* not owned */
};

static inline bool
cgroup_there(const struct cgroup *c)
{
	return c->name[0] != '\0';
}

/* What the kernel has counted in it so far. */
struct cgroup_facts {
	uint64_t oom_kills;		/* memory.events: oom_kill, */
	uint64_t oom;			/* and oom: by its own limit, not by that
					   of a group above or the machine */
	uint64_t full;			/* memory.events: max, a charge that met it */
	uint64_t refused;		/* pids.events: max */
	uint64_t cpu_ns;		/* cpu.stat: usage_usec */
	uint64_t peak_bytes;		/* memory.peak; 0: not told */
};

/*
 * Moves this process into a control group that it may divide: its own one,
 * where it is alone in it and it was delegated, else one that systemd is asked
 * for; but not out of a service or a job, whose limits and end are its own,
 * unless it is to ask anywhere.  Until it ends, or is moved again.  0, or -errno
 * with why, one sentence: ENODEV where this host's controllers are elsewhere,
 * ENOTCONN where there is nobody to ask, ELIBACC where there is nothing to ask
 * with.
 */
int cgroup_enter(bool anywhere, char *why, size_t size);

/*
 * Finds what cgroup_enter has done, in this process or in one before it, and
 * takes away what ended ones left there.
 */
void cgroups_open(struct cgroups *g);
void cgroups_close(struct cgroups *g);

/*
 * A cell's, with the limits of s: of memory and disk together (private folders
 * are memory), processes (own ones come on top), processors.  0, or -1 with *e;
 * 0 and none where there is no top, or where a limit is 0: the rules' own, which
 * nobody could read, and a group without it would be none.  cgroup_end takes it
 * away again with all that is in it.
 */
int cgroup_make(const struct cgroups *g, const struct bl_cell_spec *s,
    struct cgroup *c, struct bl_err *e);
void cgroup_end(struct cgroup *c);
/* yes: what is in it is to end, which takes some processor time: no bound on
   that.  no: as it was made. */
void cgroup_hurry(const struct cgroup *c, bool yes);
/* Forgets one that another process goes on with. */
void cgroup_leave(struct cgroup *c);

/* true: processes are in it. */
bool cgroup_populated(const struct cgroup *c);
/* What can't be read stays as it is in *f. */
void cgroup_read(const struct cgroup *c, struct cgroup_facts *f);

/* true: somebody in it was killed since was (NULL: ever), by its own limit. */
static inline bool
cgroup_ran_out(const struct cgroup_facts *now, const struct cgroup_facts *was)
{
	return now->oom_kills > (was == NULL ? 0 : was->oom_kills) &&
	    now->oom > (was == NULL ? 0 : was->oom);
}

/*
 * What they say of an end, beside what cell init does: what the group has used,
 * and the limit that was met.
 */
struct bl_exit;
void cgroup_facts_of(const struct cgroup_facts *f, struct bl_exit *x);

/* scope.c: systemd is asked to move this process into a group that is its
   user's own, and does.  0, or -errno with why ("": there is no systemd). */
int scope_enter(char *why, size_t size);
/* This process's group, as /proc/self/cgroup has it: 0, or -errno. */
int cgroup_own(char *path, size_t size);

#endif

/* What the helper's files know of each other. */
#ifndef BL_HELPER_OPS_H
#define BL_HELPER_OPS_H

#include <stdint.h>
#include <sys/types.h>

#include "../policy/proto.h"
#include "../policy/rules.h"
#include "wire.h"

enum { ST_NEW = 1, ST_READY = 2, ST_DONE = 4 };

struct caller {			/* by the kernel's word alone */
	enum bl_way way;
	uid_t	 uid;
	gid_t	 gid;
	unsigned ngroups;
	gid_t	 groups[65536];	/* NGROUPS_MAX */
};

struct live {			/* a cell that runs */
	int	 pidfd;		/* -1: free */
	uint32_t number, slot;
};

struct session {
	unsigned state;
	const struct bl_rules *rules;
	uint32_t builtin;
	enum bl_way way;
	uid_t	 uid;
	gid_t	 gid;
	struct bl_quota quota;
	int	 locks;
	uint32_t numbers;	/* of cells so far */
	struct live live[BL_CELLS_MAX];
};

/* What cell init is made with.  The descriptors are its own. */
struct cell {
	struct bl_req_cell req;
	const struct bl_rules *rules;
	uid_t	 uid;		/* of the slot; gid is the same number */
	int	 owner, setup, helper, locks;
	int	 bind[BL_PLACES_MAX];
	uint32_t step, object;	/* where set-up is, for the report */
};

/* What the launch child tells cell init, before it becomes the program. */
enum { LAUNCH_LISTENER = 1, LAUNCH_SEEN, LAUNCH_FAIL };
struct launch {
	uint32_t kind, step, object;
	int32_t	 status;
	uint32_t cpu_s;		/* RLIMIT_CPU in force; 0: none */
	uint32_t zero;
	struct bl_seen seen;
};

_Noreturn void die(enum bl_at at);				/* die.c */
_Noreturn void refuse(enum bl_at at, uint32_t object, int err);	/* die.c */

void	start_fd3(int argc);					/* start.c */
void	start_caller(struct caller *c);
void	start_clean(void);
void	start_root(void);

const struct bl_rules *load_rules(enum bl_way way, uint32_t *builtin);
int	load_walk(const char *const *parts, int make);		/* load.c */

void	seal_helper(void);					/* seal.c */
int	seal_init(void);

int	dispatch(struct session *s, const struct bl_req *q, struct fdbag *b);
int	op_cell(struct session *s, const struct bl_req *q, struct fdbag *b);

int	slot_open(void);					/* slot.c */
int	slot_take(const struct session *s, uint32_t *slot);
void	slot_free(const struct session *s, uint32_t slot);

int	cgroup_check(int fd, uid_t caller);			/* cgroup.c */
int	bind_check(int fd);					/* binds.c */
int	bind_places(struct cell *c, int root);

int	net_lo_up(void);					/* net.c */
int	net_probe(void);

int	view_build(struct cell *c);				/* view.c */
int	view_new_fs(const char *type, const char *const (*opts)[2],
	    unsigned nopts, uint64_t attr);
int	view_clone(int dir, const char *name, uint64_t set, uint64_t clear);
int	view_put(int root, const char *path, int isdir, int mnt);
int	view_tmpfs(uint64_t bytes, uid_t uid, unsigned mode);
int	view_taken(const struct bl_rules *rules, const char *path);
int	view_etc(int root, const struct cell *c);		/* etc.c */
const char *view_role(unsigned role);

_Noreturn void cell_main(struct cell *c);			/* cell.c */
_Noreturn void loop_run(const struct cell *c);			/* loop.c */

void	limits_set(const struct bl_limits *l);			/* limits.c */
int	limits_lower(const struct bl_limits *l, uint32_t *which);
int	limits_timer(int fd, uint64_t at_ns);
uint64_t limits_now(void);

void	ids_become(uid_t uid, gid_t gid);			/* ids.c */
_Noreturn void spec_run(int spec, int tell);			/* spec.c */

#endif

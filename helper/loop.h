/* Cell init at work: one loop, one spawn at a time. */
#ifndef BL_HELPER_LOOP_H
#define BL_HELPER_LOOP_H

#include "ops.h"

enum { GUESTS_MAX = 16, ACCEPTED_MAX = 12 };	/* 4 stay the owner's */

/*
 * Shared with the launch child until it becomes the program: what it could not
 * do (step 0: nothing failed yet), and whether it has got as far as execve.
 */
struct launch { uint32_t ready, step, object, lost; int32_t status; };

struct spawn {			/* the one that runs */
	pid_t	 pid;		/* 0: none */
	uint32_t seq, number;
	int	 stopped;	/* by used.limit, or because it was asked for */
	int	 reply, report;	/* report: its guest's, not owned; or -1 */
	uint64_t start_ns, end_ns;
	struct bl_exit used;	/* by those that were reaped so far */
};

struct guest { int sock, report, listening; };	/* sock -1: free */

struct loop {
	struct server owner;	/* first: handlers get a pointer to it */
	const struct cell *cell;
	int	 waits;		/* owner.q is a SPAWN, and waits for its turn */
	struct fdbag next;	/* with these */
	int	 signals;
	uint32_t numbers;
	struct launch *launch;
	struct spawn run;
	struct guest guest[GUESTS_MAX];
};

/* The SPAWN q with b, whose descriptors it takes; report: the guest's, or -1. */
void	spawn_start(struct loop *l, const struct bl_req *q, struct fdbag *b,
	    int report);
void	spawn_tell(struct loop *l, struct bl_rep *p, const int *fd);
void	spawn_reap(struct loop *l);		/* somebody may have ended */
void	spawn_stop(struct loop *l, enum bl_limit why);

/* In the launch child: becomes the program, as the role that it is already. */
_Noreturn void spec_run(struct loop *l, struct fdbag *b);	/* spec.c */
struct bl_step;
int	step_run(int fd, const struct bl_step *w, const char *path,
	    int *listener);				/* steps.c */

#endif

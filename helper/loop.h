/* Cell init at work: one loop, one spawn at a time. */
#ifndef BL_HELPER_LOOP_H
#define BL_HELPER_LOOP_H

#include "ops.h"

enum { GUESTS_MAX = 16 };

struct spawn {			/* the one that runs */
	pid_t	 pid;		/* 0: none */
	uint32_t seq, number, limit;
	int	 reply, report;	/* report: its guest's, not owned; or -1 */
	int	 launch;	/* from the launch child; closes at execve */
	int	 listener;	/* it sent this one, or -1 */
	struct launch seen, fail;	/* its words; kind 0: not said */
	uint64_t start_ns;
	struct bl_exit used;	/* by those that were reaped so far */
};

struct guest {
	int	 sock, report;	/* -1: free; report lasts as long as the cell */
	int	 listening;
};

struct loop {
	const struct cell *cell;
	unsigned state;
	struct bl_req q;	/* the request in hand, and its descriptors */
	struct fdbag b;
	int	 waits;		/* q is the owner's SPAWN, waiting for its turn */
	int	 signals, cell_timer, spawn_timer;
	int	 late;		/* the cell's deadline has passed */
	uint32_t numbers, lost;
	struct spawn run;
	struct guest guest[GUESTS_MAX];
};

/* Of l->q and l->b, whose descriptors it takes; report: the guest's, or -1. */
void	spawn_start(struct loop *l, int report);
void	spawn_launched(struct loop *l);		/* the launch socket speaks */
void	spawn_reap(struct loop *l);		/* somebody ended */
void	spawn_stop(struct loop *l, enum bl_limit why);

#endif

/* Cell init at work: one loop, one spawn at a time. */
#ifndef BL_HELPER_LOOP_H
#define BL_HELPER_LOOP_H

#include "ops.h"

enum { LISTENERS_MAX = 2, GUESTS_MAX = 16 };

struct spawn {			/* the one that runs */
	pid_t	 pid;		/* 0: none */
	uint32_t seq, number;
	int	 reply, report;	/* report: the guest's, not owned; or -1 */
	int	 launch;	/* from the launch child; closes at execve */
	int	 listener;	/* it sent this one, or -1 */
	uint32_t cpu_s, limit;
	int	 told;		/* the launch child's last word is in */
	struct launch seen, fail;
	uint64_t start_ns;
};

struct guest {
	int	 sock, report;	/* -1: free; report is not owned */
};

struct loop {
	const struct cell *cell;
	unsigned state;
	int	 signals, cell_timer, spawn_timer;
	int	 late;		/* the cell's deadline has passed */
	uint32_t numbers, lost;
	struct spawn run;
	int	 waits;		/* 1: the owner's next SPAWN is in these two */
	struct bl_req next;
	struct fdbag next_fds;
	struct guest listener[LISTENERS_MAX];
	struct guest guest[GUESTS_MAX];
};

/* Takes over b's descriptors.  An error goes to the reply socket alone. */
void	spawn_start(struct loop *l, const struct bl_req *q, struct fdbag *b,
	    int report);
void	spawn_launched(struct loop *l);		/* the launch socket speaks */
void	spawn_reap(struct loop *l);		/* somebody ended */
void	spawn_stop(struct loop *l, enum bl_limit why);

#endif

/* What the answers of a judged run did: by the kernel, and by notes. */
#ifndef BL_CLIENT_ANSWERS_H
#define BL_CLIENT_ANSWERS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fresh.h"
#include "result.h"

struct answers_conf {
	uint64_t wall_ns;		/* of one answer run */
	uint64_t max_output, keep;	/* bytes per stream */
	char *const *vars;		/* NAME=VALUE */
	size_t	 nvars;
};

struct answers;

/*
 * NULL with r->fail.  From here on r->fail is set when something comes that
 * no verdict can come of: the caller looks after each step.
 */
struct answers *answers_new(struct result *r, const struct answers_conf *want);
void answers_free(struct answers *a);

/* The most memory that one answer run may have. */
void answers_memory(struct answers *a, uint64_t bytes);

/*
 * The answers' time is over at ns, by the word of whoever starts them: for a
 * cell whose own deadline is a later one.
 */
void answers_until(struct answers *a, uint64_t ns);

/*
 * fn sees each fresh cell that an answer had, before it is closed; it may
 * spawn in it.  answers_left: those that are still there, when the judge is
 * over; nobody else is seen after that.
 */
void answers_leaving(struct answers *a, void (*fn)(void *ctx,
    struct bl_cell *c), void *ctx);
void answers_left(struct answers *a);

/* Where fresh cells come from; slots: all that this user may have at once. */
void answers_fresh(struct answers *a, const struct fresh_conf *f,
    uint32_t slots);

/* Stream i (0, 1) of the judge that no answer's output may get into. */
void answers_avoid(struct answers *a, unsigned i, int fd);

/*
 * Begins to listen: to programs on the run socket, to cell init on the report
 * socket, and for the end of the answer's cell.  0, or -1 with r->fail.
 */
int  answers_watch(struct answers *a, int listener, int report,
    const struct bl_cell *cell);

/*
 * What to wait for, with the pump's own: fills pf and returns how many.  What
 * poll(2) found goes to answers_take, before anything else of this file.
 */
enum { ANSWERS_POLL = 640 };
unsigned answers_fill(struct answers *a, struct pollfd pf[ANSWERS_POLL]);
void answers_take(struct answers *a, const struct pollfd *pf, unsigned n);
/* Both, waiting here.  false: nothing came within wait_ms. */
bool answers_step(struct answers *a, int wait_ms);

/* The judge has ended: takes in ends and notes that are on their way. */
void answers_drain(struct answers *a);

/* Fills r->answers and r->omitted. */
void answers_tell(struct answers *a);

#endif

/* A fresh answer cell, made for one run while a judge waits for it. */
#ifndef BL_CLIENT_FRESH_H
#define BL_CLIENT_FRESH_H

#include <stdbool.h>
#include <stdint.h>

#include "cells.h"

/* What all of a run have in common; the caller's, as long as there are some. */
struct fresh_conf {
	struct bl_helper *helper;
	struct bl_cell_spec spec;	/* as the first cell's */
	int	 files;			/* sealed spec of its files */
	uint32_t apart[2];		/* uids that none may have */
	struct bl_protections *seen;	/* lowered by what is seen */
};

struct fresh {
	struct bl_cell cell;
	struct bl_spawn files;		/* writes them; files.reply is watched */
	int	 guest, report;
};

/*
 * In three steps, none of which waits for anybody but the helper: the caller
 * watches in between.  fresh_ask: the request, which is answered on fresh_fd
 * (-1: it never will be).  fresh_made, when that is readable: the cell is there, and is given its files.  fresh_step, when
 * something is there on files.reply: 1: guest is ready, and what was required
 * has been seen; 0: not yet; -ETIME: the answers' time is over.  0 otherwise,
 * or -1 with *e; fresh_full then tells whether a later try may succeed.
 */
void fresh_ask(struct fresh *f, const struct fresh_conf *c);
int  fresh_fd(const struct fresh *f, const struct fresh_conf *c);
int  fresh_made(struct fresh *f, const struct fresh_conf *c, struct bl_err *e);
int  fresh_step(struct fresh *f, const struct fresh_conf *c,
    struct bl_err *e);
bool fresh_full(const struct bl_err *e);
void fresh_close(struct fresh *f);

#endif

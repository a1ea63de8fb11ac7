/* Cells that outlive this process, for somebody to look at. */
#ifndef BL_CLIENT_KEEP_H
#define BL_CLIENT_KEEP_H

#include <sys/types.h>

#include "cells.h"

enum { KEEP_MAX = 2 };

/*
 * What is left behind.  init: process 1 of the cell, as this process sees it;
 * 0: it can't be seen from here.
 */
struct kept {
	pid_t	 holder;		/* its end is that of the cells; 0: none */
	unsigned n;
	struct {
		const char *whose;	/* constant */
		pid_t	 init;
		uint32_t uid;
	} cell[KEEP_MAX];
};

/*
 * Gives the session and the n cells to a process of their own, which ends when
 * they do: of h and c nothing is left here.  Or -1 with *e, and all is as it
 * was.  pidns: the inodes of the cells' process namespaces.
 */
int keep_cells(struct bl_helper *h, struct bl_cell *const *c,
    const uint64_t *pidns, unsigned n, struct kept *k, struct bl_err *e);

#endif

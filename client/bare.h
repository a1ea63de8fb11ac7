/* Cells without a helper: by bwrap(1), or plain processes. */
#ifndef BL_CLIENT_BARE_H
#define BL_CLIENT_BARE_H

#include <stdbool.h>
#include <stddef.h>

#include "cells.h"
#include "err.h"

/* true: bwrap works here; else why says what is missing. */
bool bare_possible(char *why, size_t size);

/*
 * Makes one cell by h's way (BWRAP or PLAIN): its init runs, *owner is its
 * owner socket and *netlink the socket for the proof (-1 where s has no
 * network of its own); info is filled.  0, or -1 with *e.  *pid is the process
 * to reap, or -1.
 */
int  bare_open(const struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_rep_cell *info, int *owner, int *netlink, pid_t *pid,
    struct bl_err *e);

#endif

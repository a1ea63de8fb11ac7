/* Cells without a helper: by bwrap(1), or plain processes. */
#ifndef BL_CLIENT_BARE_H
#define BL_CLIENT_BARE_H

#include <stdbool.h>
#include <stddef.h>

#include "cells.h"
#include "err.h"
#include "../policy/rules.h"

/* true: bwrap is there; else why says what to do about it. */
bool bare_found(char *why, size_t size);
/* true: and it works, as a cell that it made has shown; asked once. */
bool bare_possible(char *why, size_t size);

/* Where it is, among the folders of bare.c; NULL: in none of them. */
const char *bare_bwrap(void);

/* What a cell has of its own, as helper/view.h, but its home; then NULL. */
extern const char *const bare_own[];

/* What one caller may have, by the built-in rules. */
void bare_quota(struct bl_caller *q);
/*
 * All cells have the caller's user, whose descriptors in unix(7) messages the
 * kernel counts together, and it lets a sender have as many as its own limit
 * of open files.  So those who run an answer get fewer than the caller's
 * programs, and a judge all that there are: with 512 processes that each wait
 * in a send, uncounted, an answer can get to about 130,000.
 */
void bare_descriptors(struct bl_req_cell *q);

/*
 * Starts the init of one cell by h's way (BWRAP or PLAIN), with sock as its
 * owner socket: q, which waits there already, is what it will be.  Fills
 * c->info, c->pid and c->words.  0, or -1 with *e.
 */
int  bare_start(const struct bl_helper *h, const struct bl_cell_spec *s,
    const struct bl_req_cell *q, int sock, struct bl_cell *c,
    struct bl_err *e);

/* It ended without a report: *e says why.  Reaps c->pid; always -1. */
int  bare_ended(const struct bl_helper *h, struct bl_cell *c,
    struct bl_err *e);

#endif

/* What a caller asks of a cell: extra folders, limits and their defaults. */
#ifndef BL_CLIENT_CELLSPEC_H
#define BL_CLIENT_CELLSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cells.h"
#include "err.h"

/* All 0 and no places; the only requirement is the usual one. */
void cellspec_init(struct bl_cell_spec *s);
void cellspec_close(struct bl_cell_spec *s);	/* the places' descriptors */

/*
 * Adds a place; opt is the option's name, for the error.  Folders are opened
 * with the caller's rights: the helper never sees a path of the caller's.
 */
int  cellspec_bind(struct bl_cell_spec *s, const char *src, const char *dst,
    const char *opt, struct bl_err *e);
/* At its own path: as it was typed, if a cell can have that. */
int  cellspec_expose(struct bl_cell_spec *s, const char *dir,
    struct bl_err *e);
/*
 * true: the place i has a bin/python3 that leads to a file which a cell does
 * not have; to, of size bytes, is the folder to be exposed as well.
 */
bool cellspec_dangles(const struct bl_cell_spec *s, uint32_t i, char *to,
    size_t size);
int  cellspec_tmpfs(struct bl_cell_spec *s, const char *dst, uint64_t size,
    struct bl_err *e);

/*
 * Writes "PATH=...", with the bin folders that places first to last - 1 have
 * before the usual ones; to has size bytes, at least 64.
 */
void cellspec_path(const struct bl_cell_spec *s, uint32_t first, uint32_t last,
    char *to, size_t size);

/* Every limit that is 0 gets its default. */
void cellspec_limits(struct bl_cell_spec *s);

/*
 * 0, or -1 with *e: p lacks something that s requires.  To be asked before
 * anything untrusted matters: what can't be seen isn't there.
 */
int  cellspec_seen(const struct bl_cell_spec *s,
    const struct bl_protections *p, struct bl_err *e);

#endif

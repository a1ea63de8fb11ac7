/* Hard limits of this process's that a cell would have in place of its own. */
#ifndef BL_CLIENT_RLIMITS_H
#define BL_CLIENT_RLIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cells.h"
#include "doctor_read.h"
#include "err.h"
#include "ways.h"

struct rlimits_row {
	int	 what;			/* RLIMIT_ */
	rlim_t	 least;			/* the helper starts with no less */
	const char *name, *word;	/* word: of limits.conf(5) */
	unsigned unit;			/* of that file */
	const char *option;		/* asks for less; NULL: none does */
};
extern const struct rlimits_row rlimits_rows[];
extern const unsigned rlimits_n;

/*
 * What a cell by s is to have of a row, RLIM_INFINITY where that is without a
 * bound; 0: nothing is known, as the rules decide.  What limits a command of
 * its own is less than that in any case.
 */
rlim_t rlimits_need(const struct rlimits_row *row,
    const struct bl_cell_spec *s);

/*
 * true: a helper that uid has started raises hard limits: it has the right to,
 * in the first user namespace.  caps: its file's, or NULL for all.
 */
bool rlimits_raised(uid_t uid, bool whole, const struct read_status *self,
    const struct read_caps *caps);

/*
 * 0; or -1 with *e: a cell by w would get less than s asks for, or than it has
 * by default, and what runs in it would fail by this process's surroundings.
 */
int  rlimits_enough(const struct way *w, const struct bl_cell_spec *s,
    struct bl_err *e);

#endif

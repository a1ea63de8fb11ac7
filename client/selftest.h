/* What a sandbox forbids, really tried. */
#ifndef BL_CLIENT_SELFTEST_H
#define BL_CLIENT_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "ways.h"

/* Where tries are run: OTHER is the answer, reaching for the judge's. */
enum place { PLACE_OUTSIDE, PLACE_JUDGE, PLACE_ANSWER, PLACE_OTHER,
    PLACE_MAX };

/* What became of one try; MISSING: it was not tried. */
enum tried { TRIED_MISSING, TRIED_HELD, TRIED_OPEN, TRIED_NONE };

enum { TRY_NAME = 24, TRY_WHY = 200, TRIES_MAX = 96 };

struct seen {
	char	 name[TRY_NAME];
	enum tried what;
	char	 why[TRY_WHY];
};

struct selftest {
	const struct provider *by;
	struct way_ask ask;
	const char *way;		/* once it is known */
	uint32_t waived;		/* BL_NEED_ bits that it gives not */
	char	 warning[512];
	struct seen seen[PLACE_MAX][TRIES_MAX];
	struct bl_err e;
};

/*
 * Fills seen.  0, or -1 with e: there was no sandbox, or it ended too early.
 * Must be called with descriptors and variables that a cell could inherit.
 */
int selftest_run(struct selftest *t);

void seen_put(struct selftest *t, enum place p, const char *name,
    enum tried what, const char *why);
const struct seen *seen_get(const struct selftest *t, enum place p,
    const char *name);			/* NULL: not tried there */
/* Takes the probe's lines. */
void seen_read(struct selftest *t, enum place p, const char *text, size_t n);

/* ABSENT: the way does without it, by design. */
enum status { STATUS_PASS, STATUS_FAIL, STATUS_UNKNOWN, STATUS_ABSENT,
    STATUS_MAX };

struct wall {
	const char *name;
	const char *words;		/* what holds where it stands */
	const char *tries;		/* the probe's, with commas between */
	unsigned places;		/* 1 << enum place */
	uint32_t need;			/* the BL_NEED_ bit of it, or 0 */
	bool	 required;		/* not to know is as bad as a failure */
	bool	 works;			/* the try is of something allowed */
	unsigned lacking;		/* 1 << enum bl_way, by design */
};

extern const struct wall walls[];	/* ends with a NULL name */

/* What is known of w; control and detail get words. */
enum status wall_status(const struct selftest *t, const struct wall *w,
    char control[TRY_WHY], char detail[2 * TRY_WHY]);

#endif

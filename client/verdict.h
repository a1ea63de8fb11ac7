/* What is a verdict, and what is not: one grammar, no effects. */
#ifndef BL_CLIENT_VERDICT_H
#define BL_CLIENT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "../policy/proto.h"

/*
 * Of a verdict's line: bytes, enough for all that an answer can give in one
 * call and a verifier's words about it; and values, which take up to a hundred
 * bytes of memory each.
 */
enum { VERDICT_LINE_MAX = 32 << 20, VERDICT_VALUES_MAX = 2 << 20 };

struct verdict {
	const char *reason;	/* NULL: a verdict; else a fixed code */
	char	 detail[256];	/* one sentence, when reason is set */
	double	 score;		/* 0 to 1 */
	bool	 passed;
	bool	 clipped;	/* a number was cut to double's range */
	json_t	*doc;		/* the object as it was read; owned */
};

/*
 * What a judge shows of an answer is inside its verdict, and no answer may
 * choose by it that there is none.  So only the object itself is held to the
 * letter: inside its members the last of equal keys counts, and NaN and
 * Infinity, which Python writes, are null in doc.
 *
 * The last line of n bytes of standard output that is not blank.  cut: bytes
 * before these are missing, so a line without its start here is too long.
 */
void verdict_line(struct verdict *v, const char *text, size_t n, bool cut);

/* The same for a result descriptor, whose bytes are the document. */
void verdict_document(struct verdict *v, const char *text, size_t n, bool cut);

/* What the end of a judge allows: a verdict stays one, or turns into none. */
void verdict_end(struct verdict *v, const struct bl_exit *x);

void verdict_free(struct verdict *v);

#endif

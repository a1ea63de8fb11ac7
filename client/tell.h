/* Words on stderr. */
#ifndef BL_CLIENT_TELL_H
#define BL_CLIENT_TELL_H

#include "err.h"

/*
 * One line "bailiff: ..." with everything in it that could mislead a terminal
 * escaped.  A stderr that can't be written to is passed over.
 */
void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tell_err(const struct bl_err *e);		/* and its hint */

#endif

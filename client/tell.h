/* Words on stderr. */
#ifndef BL_CLIENT_TELL_H
#define BL_CLIENT_TELL_H

#include <stdint.h>
#include <sys/types.h>

#include "err.h"

/*
 * One line "bailiff: ..." with everything in it that could mislead a terminal
 * escaped.  A stderr that can't be written to is passed over.
 */
void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tell_err(const struct bl_err *e);		/* and its hint */

/* How to get into a kept cell, as the user that it is for; init 0: unknown. */
void tell_kept(const char *whose, pid_t init, uint32_t uid, const char *way);
void tell_holder(pid_t holder);			/* and how to end them */

#endif

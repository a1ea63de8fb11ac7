/* Signals that mean: stop. */
#ifndef BL_CLIENT_CANCEL_H
#define BL_CLIENT_CANCEL_H

#include "err.h"

/*
 * A descriptor that is readable from the first SIGINT, SIGTERM or SIGHUP on,
 * less those that were ignored when the program was started (nohup); or -1
 * with *e.  For a program's main thread alone.
 */
int cancel_open(struct bl_err *e);

/* Signals, timers and descriptors 0 to 2, whatever the caller left: known. */
int start_sound(struct bl_err *e);

#endif

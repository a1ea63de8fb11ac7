/* Which helper, and starting it. */
#ifndef BL_CLIENT_WAYS_H
#define BL_CLIENT_WAYS_H

#include <stddef.h>
#include <sys/types.h>

#include "err.h"

/* The helper's path, or -1 with *e (helper_missing). */
int way_find(char *path, size_t size, struct bl_err *e);

/* Starts it with sock as its descriptor 3; 0 with *pid, or -1 with *e. */
int way_start(const char *path, int sock, pid_t *pid, struct bl_err *e);

/*
 * Waits for pid until until_ns and fills *e from how it ended.  A helper that
 * does not end is killed when it lets itself be; always returns -1.
 */
int way_ended(pid_t pid, unsigned wait_ms, struct bl_err *e);

#endif

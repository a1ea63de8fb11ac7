/* Rootless: the helper as root of a user namespace of the caller's own. */
#ifndef BL_CLIENT_ROOTLESS_H
#define BL_CLIENT_ROOTLESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"

/*
 * true: newuidmap(1), newgidmap(1), ranges in /etc/subuid and /etc/subgid, and
 * user namespaces are there; else why names the first that is not, and what
 * to do about it.
 */
bool rootless_possible(char *why, size_t size);

/* As way_exec; the helper at path is copied into the namespace's own tree. */
int  rootless_exec(const char *path, int sock, pid_t *pid, struct bl_err *e);

#endif

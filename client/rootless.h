/* Rootless: the helper as root of a user namespace of the caller's own. */
#ifndef BL_CLIENT_ROOTLESS_H
#define BL_CLIENT_ROOTLESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

/*
 * 1: user namespaces, newuidmap(1), newgidmap(1) and ranges in /etc/subuid and
 * /etc/subgid are there; 0: the first that is not is in why, "REASON; REMEDY";
 * -errno: something has run out that may be there again, and why says what.
 * It is no reason for a weaker way: a cell of this user could bring it about.
 */
int  rootless_possible(char *why, size_t size);

/* true: path is where newuidmap or newgidmap is, in one of these. */
#define ROOTLESS_TOOLS "/usr/bin, /bin, /usr/local/bin, /run/wrappers/bin"
bool rootless_tool(const char *name, char *path, size_t size);
/* true: the tool at path can gain the rights that it needs. */
bool rootless_gains(const char *path);
/* How many numbers one range of subuid(5) must have. */
uint32_t rootless_ids(void);

/* As way_exec; the helper at path is copied into the namespace's own tree. */
int  rootless_exec(const char *path, int sock, pid_t *pid, struct bl_err *e);

/*
 * The folder fd as the helper pid sees it: open_tree(2) takes none of another
 * mount namespace.  Its descriptor, or -errno; -ESTALE: it is not there.
 */
int  rootless_place(pid_t pid, int fd);

#endif

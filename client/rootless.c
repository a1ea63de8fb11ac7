/* Rootless: the helper as root of a user namespace of the caller's own. */
#include "rootless.h"

#include <stdio.h>

bool
rootless_possible(char *why, size_t size)
{
	(void)snprintf(why, size, "this build can't do it");
	return false;
}

int
rootless_exec(const char *path, int sock, pid_t *pid, struct bl_err *e)
{
	(void)path;
	(void)sock;
	*pid = -1;
	return err_set(e, BL_KIND_SETUP, "way_missing", "helper/rootless", 0,
	    "this build can't do it");
}

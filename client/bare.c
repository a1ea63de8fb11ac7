/* Cells without a helper: by bwrap(1), or plain processes. */
#include "bare.h"

#include <stdio.h>

bool
bare_possible(char *why, size_t size)
{
	(void)snprintf(why, size, "this build can't do it");
	return false;
}

int
bare_open(const struct bl_helper *h, const struct bl_cell_spec *s,
    struct bl_rep_cell *info, int *owner, int *netlink, pid_t *pid,
    struct bl_err *e)
{
	(void)h;
	(void)s;
	(void)info;
	*owner = *netlink = *pid = -1;
	return err_set(e, BL_KIND_SETUP, "way_missing", "cell", 0,
	    "this build can't do it");
}

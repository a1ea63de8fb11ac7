/* What a cell's file tree is made of: const, so that it can be read whole. */
#ifndef BL_HELPER_VIEW_TABLE_H
#define BL_HELPER_VIEW_TABLE_H

#include <stdint.h>

/* Shown from the host, read-only, if it is there; a link stays a link. */
extern const char *const view_shown[];

/* Private folders of the one tmpfs that is the cell's root. */
struct view_private {
	const char *path;	/* NULL in the home's row: made from the role */
	unsigned mode;
	int	 role_owns;
};
extern const struct view_private view_private[];
extern const unsigned view_nprivate;

/* Character devices 1:minor, but for tty, which is 5:0. */
struct view_dev { const char *name; unsigned major, minor; };
extern const struct view_dev view_devs[];
extern const unsigned view_ndevs;

struct view_link { const char *path, *to; };
extern const struct view_link view_links[];
extern const unsigned view_nlinks;

/* Of /proc: read-only, or covered by the null device. */
struct view_mask { const char *name; int covered; };
extern const struct view_mask view_masks[];
extern const unsigned view_nmasks;

/* Below, at or above these nothing of the caller's may be put. */
extern const char *const view_kept[];

#endif

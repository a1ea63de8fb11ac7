/* Copies out of a cell. */
#ifndef BL_CLIENT_GET_H
#define BL_CLIENT_GET_H

#include <stdint.h>

#include "cells.h"

/*
 * Copies the file or folder src of the cell to dst of the caller's, where
 * no command runs any more.  What comes is hostile: plain files and folders
 * below dst are made, nothing else, and no link is followed.  A file goes
 * below dst under its own name when dst is a folder.  0, or -1 with *e.
 */
int get_tree(struct bl_cell *c, const char *src, const char *dst,
    uint64_t max_bytes, int cancel_fd, struct bl_err *e);

/*
 * The same for the entries of the folder src, into the open folder dir, as
 * far as they can be copied: left_out is told of each other one, with its
 * name as the object.  Folders stay usable, and nobody else may write to what
 * was made.  0, or -1 with *e: src itself can't be copied, or the cell is gone.
 */
struct get_most {
	uint64_t max_bytes;
	uint64_t until_ns;		/* absolute: what comes later is left out */
	int	 cancel_fd;
	void	(*left_out)(void *ctx, const struct bl_err *why);
	void	*ctx;
};
int get_most(struct bl_cell *c, const char *src, int dir,
    const struct get_most *m, struct bl_err *e);

/*
 * Names in n bytes of linux_dirent64 records, each with its d_type byte before
 * it and its NUL behind it, without "." and "..", in *names (free it), their
 * number in *count.  0, or -1 with *e: a record or name that can't be.
 */
int get_names(const char *recs, size_t n, char **names, uint32_t *count,
    struct bl_err *e);

#endif

/* A folder of a caller's or an answer's, as steps of a spec: with no way out. */
#ifndef BL_CLIENT_WALK_H
#define BL_CLIENT_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cells.h"
#include "err.h"

/*
 * Plain files and folders are taken; a link to a file that stays inside is
 * taken as that file.  Anything else is refused by its name, with the code
 * unsafe_path.  .git and __pycache__ are left out.
 */
struct walk {
	int	 dir;			/* the open folder */
	const char *name;		/* its name, for errors */
	const char *what;		/* "environment": begins errors' codes */
	enum bl_kind kind;		/* of what is too much or unreadable */
	const char *below;		/* where it goes; "": right there */
	const char *program;		/* is one whatever its mode, or NULL */
	/* true: the entry is left out, at depth 0 in the folder itself */
	bool	(*left_out)(const void *ctx, const char *name, unsigned depth);
	const void *ctx;
	uint64_t bytes;			/* at most, counted down: of files, */
	uint64_t names;			/* of all their paths, */
	uint64_t entries;		/* and their number */
	struct specw *w;
	struct bl_err *e;
	char	 path[PATH_MAX];	/* below the folder; starts as "" */
};

/* 0, or -1 with *k->e. */
int walk_tree(struct walk *k);

/*
 * Opens a path in dir to be read, following links while they stay inside; a
 * pipe without a writer does not hold it up.  The descriptor, or -errno;
 * -EXDEV, -ELOOP: it leaves.
 */
int walk_open(int dir, const char *path, int flags);

/* -1 with *e: path of the what can't be opened because of err, a -errno. */
int walk_not_open(const char *what, enum bl_kind kind, const char *path,
    int err, struct bl_err *e);

/*
 * A name that anybody may have chosen, for a line of text: what could end the
 * line or steer a terminal is a ? there, and a long one is cut.
 */
void walk_name(const char *path, char *to, size_t size);

#endif

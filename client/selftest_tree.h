/* The names that a cell's folders may have. */
#ifndef BL_CLIENT_SELFTEST_TREE_H
#define BL_CLIENT_SELFTEST_TREE_H

#include "../policy/proto.h"
#include "../policy/rules.h"
#include "selftest.h"

struct tree {
	bool	 known;			/* else why says why not */
	const char *why;
	struct bl_rules rules;		/* those that the cells are made by */
};
void tree_open(struct tree *t, const struct bl_rep_hello *h);

/*
 * The folders that are there only to lead to others, with blanks between: what
 * else is in one is not a cell's.
 */
void tree_folders(const struct tree *t, char *text, size_t size);

/* Takes the probe's list of what is in them, as the try host_tree. */
void tree_read(const struct tree *t, struct selftest *to, enum place p,
    const char *text, size_t n);

#endif

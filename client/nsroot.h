/* The small file tree that a rootless helper lives in, and the way there. */
#ifndef BL_CLIENT_NSROOT_H
#define BL_CLIENT_NSROOT_H

#include <stdint.h>
#include <sys/stat.h>

#include "../policy/rules.h"

/* Where the tree of this host is in there. */
#define NSROOT_HOST "/host"

enum ns_step { NS_FDS = 1, NS_SPACES, NS_IDS, NS_ROOT, NS_COPY, NS_SHOW,
    NS_LOCKS, NS_PIVOT, NS_EXEC, NS_MAX };

/* What the child says if it fails; it says nothing if it doesn't. */
struct ns_fail { uint32_t step, object; int32_t err; };

/* All that the child needs, made before there is one. */
struct ns_plan {
	int	 sock, null, helper;	/* helper: its file, to be copied */
	int	 talk;			/* one byte comes: ids are mapped */
	const char *locks;		/* the folder for /run/bailiff */
	struct stat locks_st;		/* and what it was found to be */
	const struct bl_rules *rules;
};

/*
 * In a child that clone(2) made with CLONE_NEWUSER, all signals blocked:
 * becomes the helper, or fails.  Plain system calls alone, for the parent may
 * have had threads.
 */
_Noreturn void nsroot_child(const struct ns_plan *p);

#endif

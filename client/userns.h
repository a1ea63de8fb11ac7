/* User namespaces: whether one can be had here, and if not, why. */
#ifndef BL_CLIENT_USERNS_H
#define BL_CLIENT_USERNS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* What was refused: CLONE_NEWUSER, or one that its root asked for. */
struct userns_fail { int err, space; };

/* All that a cell has of its own. */
enum {
	USERNS_CELL = CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |
	    CLONE_NEWPID | CLONE_NEWCGROUP
};

/*
 * Makes a user namespace and then each of spaces as its root, in a child that
 * ends at once.  0, or -1 with *f.
 */
int userns_try(int spaces, struct userns_fail *f);

struct userns_why {
	bool	 now;		/* it has run out, and may be there again */
	bool	 profile;	/* AppArmor wants the program to have one */
	char	 object[64];	/* the file or the call */
	char	 why[192];
	char	 fix[128];	/* the one thing to do */
};

/* Why f was, by what the files below sys ("/proc/sys") say. */
void userns_why(const char *sys, const struct userns_fail *f,
    struct userns_why *w);
/* true: programs without a profile get no rights in a user namespace. */
bool userns_restricted(const char *sys);

#endif

/* Whether a file is not there, or only can't be seen. */
#ifndef BL_CLIENT_ABSENT_H
#define BL_CLIENT_ABSENT_H

#include <stdbool.h>

/*
 * true: there is nothing of that name, in folders that are there; or, with a
 * home that it is below, it can't be looked at and that home itself is
 * another's.  false for a link, at the end or on the way, that leads nowhere,
 * and for what this user could have let itself see: that something was meant
 * to be there is no reason to do without it.  Paths are absolute.
 */
bool path_absent(const char *path, const char *home);

#endif

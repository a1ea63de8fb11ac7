/* Descriptors that close with their scope. */
#ifndef BL_HELPER_FD_H
#define BL_HELPER_FD_H

#include <unistd.h>

#define scoped_fd __attribute__((cleanup(fd_drop)))

static inline void
fd_drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);	/* nothing is ever written through it */
	*fd = -1;		/* -1 is the only empty value; 0 is a descriptor */
}

static inline int
fd_take(int *fd)		/* the only way a scoped_fd leaves its scope */
{
	int kept = *fd;

	*fd = -1;
	return kept;
}

#endif

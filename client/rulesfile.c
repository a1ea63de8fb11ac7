/* What the helper obeys is what the helper has read; this only knows of it. */
#include "rulesfile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
rules_read(struct bl_rules *r)
{
	int fd = open(BL_RULES_PATH, O_RDONLY | O_NONBLOCK | O_NOCTTY |
	    O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return errno == EACCES || errno == ENOENT ? 1 : -1;
	n = read(fd, r, sizeof *r);
	(void)close(fd);
	return n == (ssize_t)sizeof *r && bl_rules_usable(r) == 0 ? 0 : -1;
}

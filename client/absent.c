/* Whether a file is not there, or only can't be seen. */
#include "absent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
path_absent(const char *path, bool others)
{
	char at[4096];
	struct stat st;
	int err;

	if (lstat(path, &st) == 0 || strlen(path) >= sizeof at)
		return false;
	err = errno;
	(void)snprintf(at, sizeof at, "%s", path);
	if (err != ENOENT && !(others && (err == EACCES || err == ENOTDIR)))
		return false;
	for (char *slash; (slash = strrchr(at, '/')) != NULL && slash > at;) {
		*slash = '\0';
		if (lstat(at, &st) != 0)
			continue;
		if (S_ISLNK(st.st_mode) && stat(at, &st) != 0)
			return false;
		return err != EACCES || st.st_uid != geteuid();
	}
	return true;			/* "/" is there, and anybody's to see */
}

/* Whether a file is not there, or only can't be seen. */
#include "absent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The deepest folder above path that is there to see: 0, or -1 for a link. */
static int
above(const char *path, struct stat *st)
{
	char at[4096];

	(void)snprintf(at, sizeof at, "%s", path);
	for (char *slash; (slash = strrchr(at, '/')) != NULL && slash > at;) {
		*slash = '\0';
		if (lstat(at, st) == 0)
			return S_ISLNK(st->st_mode) && stat(at, st) != 0 ? -1 :
			    0;
	}
	return stat("/", st);
}

/* true: neither home nor what hides path in it is this user's to open. */
static bool
others(const char *path, const char *home)
{
	struct stat st;

	if (stat(home, &st) != 0 && (errno != EACCES || above(home, &st) != 0))
		return false;
	if (S_ISCHR(st.st_mode))	/* HOME=/dev/null: there is none */
		return true;
	return st.st_uid != geteuid() && above(path, &st) == 0 &&
	    st.st_uid != geteuid();
}

bool
path_absent(const char *path, const char *home)
{
	struct stat st;

	if (lstat(path, &st) == 0 || strlen(path) >= 4096)
		return false;
	if (errno == EACCES || errno == ENOTDIR)
		return home != NULL && others(path, home);
	return errno == ENOENT && above(path, &st) == 0;
}

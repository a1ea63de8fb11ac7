/* The control group that the client made: is it one, and is it the client's? */
#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "ops.h"

/* 0, or -errno.  cgroups(7): whoever owns the folder may put processes there. */
int
cgroup_check(int fd, uid_t caller)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) != 0 || fstat(fd, &st) != 0)
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == caller ? 0 : -EPERM;
}

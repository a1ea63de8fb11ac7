/* Folders that the caller adds to one cell's view. */
#include <errno.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "fd.h"
#include "ops.h"

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/*
 * 0, or -errno: fd is a folder of a file system that only the kernel serves
 * and that shows files, not processes or devices.  FUSE could stall a mount,
 * or show another user's file as anything.
 */
int
bind_check(int fd)
{
	static const long refused[] = { FUSE_SUPER_MAGIC, PROC_SUPER_MAGIC,
	    SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
	    DEVPTS_SUPER_MAGIC, NSFS_MAGIC };
	struct statfs fs;
	struct stat st;
	unsigned i;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (fstatfs(fd, &fs) != 0)
		return -errno;
	for (i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if ((unsigned long)fs.f_type == (unsigned long)refused[i])
			return -EOPNOTSUPP;
	return 0;
}

/* In the cell: puts them where the request says.  0, or -errno. */
int
bind_places(struct cell *c, int root)
{
	uint32_t i;

	for (i = 0; i < c->req.nplaces; i++) {
		const struct bl_place *w = &c->req.place[i];
		scoped_fd int mnt = -1;
		int r;

		c->step = BL_AT_BIND;
		c->object = i;
		if (w->kind == BL_PLACE_BIND)
			mnt = view_clone(c->bind[i], "", MOUNT_ATTR_RDONLY |
			    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0);
		else
			mnt = view_tmpfs(w->size, c->uid, 0755);
		r = mnt < 0 ? mnt : view_put(root, w->dst, 1, mnt);
		if (r != 0)
			return r;
	}
	return 0;
}

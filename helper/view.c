/*
 * The cell's file tree, built from nothing: what is not put there is not
 * there.  One tmpfs is the root and holds all private folders, so that one
 * size limits them together; the rest is cloned read-only from the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fd.h"
#include "ops.h"
#include "view_table.h"

enum { MS_PRIVATE_ = 1 << 18, MNT_DETACH_ = 2 };  /* <sys/mount.h> clashes */
enum {
	GUARD = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	SHOWN = GUARD | MOUNT_ATTR_RDONLY
};

/* A detached mount of a new file system, or -errno. */
int
view_new_fs(const char *type, const char *const (*opts)[2], unsigned nopts,
    uint64_t attr)
{
	scoped_fd int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	unsigned i;
	int mnt;

	if (fs < 0)
		return -errno;
	for (i = 0; i < nopts; i++)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, opts[i][0],
		    opts[i][1], 0) != 0)
			return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return -errno;
	mnt = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
	return mnt < 0 ? -errno : mnt;
}

static int
set_attr(int mnt, uint64_t set, uint64_t clear, unsigned recursive)
{
	struct mount_attr a = { .attr_set = set, .attr_clr = clear,
	    .propagation = MS_PRIVATE_ };

	return syscall(SYS_mount_setattr, mnt, "", AT_EMPTY_PATH | recursive,
	    &a, sizeof a) != 0 ? -errno : 0;
}

/*
 * A detached copy of what dir and name show, with all mounted below it: what
 * a mount covers on the host must not come to light here.  Or -errno.
 */
int
view_clone(int dir, const char *name, uint64_t set, uint64_t clear)
{
	scoped_fd int mnt = (int)syscall(SYS_open_tree, dir, name,
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
	    AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
	int r = mnt < 0 ? -errno : set_attr(mnt, set, clear, AT_RECURSIVE);

	return r != 0 ? r : fd_take(&mnt);
}

static int
attach(int mnt, int dir, const char *name)
{
	return syscall(SYS_move_mount, mnt, "", dir, name,
	    MOVE_MOUNT_F_EMPTY_PATH) != 0 ? -errno : 0;
}

/*
 * The folder that is to hold path's last component, made if need be, or
 * -errno.  Never through a link or into another mount: all that is walked was
 * made a moment ago, here.
 */
static int
folder_of(int root, const char *path, char last[BL_NAME_MAX])
{
	const struct open_how how = {
	    .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
	    RESOLVE_NO_XDEV };
	scoped_fd int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);
	char next[BL_NAME_MAX];
	size_t pos = 0;
	int r = dir < 0 ? -errno : bl_path_next(path, &pos, last);

	while (r > 0 && (r = bl_path_next(path, &pos, next)) > 0) {
		long sub;

		if (mkdirat(dir, last, 0755) != 0 && errno != EEXIST)
			return -errno;
		sub = syscall(SYS_openat2, dir, last, &how, sizeof how);
		if (sub < 0)
			return -errno;
		fd_drop(&dir);
		dir = (int)sub;
		memcpy(last, next, sizeof next);
	}
	return r < 0 ? r : fd_take(&dir);
}

/* Attaches mnt at path below root.  0, or -errno. */
int
view_put(int root, const char *path, int isdir, int mnt)
{
	char name[BL_NAME_MAX];
	scoped_fd int dir = folder_of(root, path, name);

	if (dir < 0)
		return dir;
	if ((isdir ? mkdirat(dir, name, 0755) :
	    mknodat(dir, name, S_IFREG | 0444, 0)) != 0 && errno != EEXIST)
		return -errno;
	return attach(mnt, dir, name);
}

static void
digits(char out[21], uint64_t v)
{
	char d[21];
	unsigned i = sizeof d - 1;

	d[i] = '\0';
	do
		d[--i] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	memcpy(out, d + i, sizeof d - i);
}

/* An empty tmpfs of so many bytes, detached, or -errno. */
int
view_tmpfs(uint64_t bytes, uid_t uid, unsigned mode)
{
	char size[21], inodes[21], owner[21];
	const char *const opts[][2] = { { "size", size },
	    { "nr_inodes", inodes }, { "uid", owner }, { "gid", owner },
	    { "mode", mode == 0755 ? "0755" : "0700" } };

	digits(size, bytes);
	digits(inodes, bytes / 8192 + 4096);	/* names are bounded as well */
	digits(owner, uid);
	return view_new_fs("tmpfs", opts, 5, GUARD);
}

/* One path of the host: a link is copied, what is missing is left out. */
static int
show(int root, const char *path, int must)
{
	const struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    .resolve = must ? RESOLVE_NO_SYMLINKS : 0 };
	scoped_fd int host = (int)syscall(SYS_openat2, AT_FDCWD, path, &how,
	    sizeof how), mnt = -1, dir = -1;
	char name[BL_NAME_MAX], to[BL_DST_MAX];
	struct stat st;
	ssize_t n;

	if (host < 0)
		return errno == ENOENT && !must ? 0 : -errno;
	if (fstat(host, &st) != 0)
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(host, "", to, sizeof to - 1);
		if (n < 0)
			return -errno;
		to[n] = '\0';
		dir = folder_of(root, path, name);
		if (dir < 0)
			return dir;
		return symlinkat(to, dir, name) != 0 ? -errno : 0;
	}
	mnt = view_clone(host, "", SHOWN, 0);
	return mnt < 0 ? mnt : view_put(root, path, S_ISDIR(st.st_mode), mnt);
}

static int
show_all(struct cell *c, int root)
{
	uint32_t i;
	int r = 0;

	c->step = BL_AT_VIEW;
	for (i = 0; r == 0 && view_shown[i] != NULL; i++) {
		c->object = i;
		r = show(root, view_shown[i], 0);
	}
	if (r != 0)
		return r;
	c->step = BL_AT_SHOW;
	for (i = 0; r == 0 && i < c->rules->nshows; i++) {
		c->object = i;
		r = show(root, c->rules->show[i].path, 1);
	}
	return r;
}

/* /dev: nodes in the root's tmpfs, shown through a mount that allows them. */
static int
make_dev(struct cell *c, int root)
{
	static const char *const pts_opts[][2] = {
	    { "ptmxmode", "0666" }, { "mode", "0620" } };
	scoped_fd int dev = -1, pts = -1, shm = -1;
	unsigned i;
	int r;

	c->step = BL_AT_DEV;
	for (i = 0; i < view_ndevs; i++) {
		c->object = i;
		if (mknodat(root, view_devs[i].name + 1, S_IFCHR | 0666,
		    makedev(view_devs[i].major, view_devs[i].minor)) != 0)
			return -errno;
	}
	dev = view_clone(root, "dev", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
	    MOUNT_ATTR_NOEXEC, MOUNT_ATTR_NODEV);
	r = dev < 0 ? dev : attach(dev, root, "dev");
	if (r != 0)
		return r;
	shm = view_clone(dev, "shm", GUARD,
	    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
	r = shm < 0 ? shm : attach(shm, dev, "shm");
	if (r != 0)
		return r;
	c->step = BL_AT_PTS;
	pts = view_new_fs("devpts", pts_opts, 2,
	    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	return pts < 0 ? pts : attach(pts, dev, "pts");
}

static int
make_proc(struct cell *c, int root)
{
	static const char *const opts[][2] = { { "hidepid", "2" } };
	scoped_fd int proc = -1;
	uint32_t i;
	int r;

	c->step = BL_AT_PROC;
	proc = view_new_fs("proc", opts, 1, GUARD | MOUNT_ATTR_NOEXEC);
	r = proc < 0 ? proc : attach(proc, root, "proc");
	c->step = r == 0 ? BL_AT_MASK : c->step;
	for (i = 0; r == 0 && i < view_nmasks; i++) {
		const struct view_mask *m = &view_masks[i];
		scoped_fd int mnt = -1;

		c->object = i;
		/* A clone of the node in the root, which is mounted nodev. */
		mnt = view_clone(m->covered ? root : proc,
		    m->covered ? "masked" : m->name, SHOWN, 0);
		r = mnt < 0 ? mnt : attach(mnt, proc, m->name);
		if (r == -ENOENT)
			r = 0;		/* not in this kernel */
	}
	return r;
}

/* Private folders: writable windows into the root's tmpfs. */
static int
make_private(struct cell *c, int root)
{
	char home[32] = "/home/";
	uint32_t i;
	int r = 0;

	memcpy(home + 6, view_role(c->req.role),
	    strlen(view_role(c->req.role)) + 1);
	c->step = BL_AT_PRIVATE_DIR;
	for (i = 0; r == 0 && i < view_nprivate; i++) {
		const struct view_private *w = &view_private[i];
		const char *path = w->path != NULL ? w->path : home;
		char name[BL_NAME_MAX];
		scoped_fd int dir = -1, mnt = -1;

		c->object = i;
		dir = folder_of(root, path, name);
		if (dir < 0)
			return dir;
		if ((mkdirat(dir, name, w->mode) != 0 && errno != EEXIST) ||
		    (w->role_owns && fchownat(dir, name, c->uid, c->uid,
		    AT_SYMLINK_NOFOLLOW) != 0))
			return -errno;
		mnt = view_clone(dir, name, GUARD, 0);
		r = mnt < 0 ? mnt : attach(mnt, dir, name);
	}
	return r;
}

static int
make_links(struct cell *c, int root)
{
	uint32_t i;

	c->step = BL_AT_ETC;
	for (i = 0; i < view_nlinks; i++) {
		char name[BL_NAME_MAX];
		scoped_fd int dir = folder_of(root, view_links[i].path, name);

		if (dir < 0)
			return dir;
		if (symlinkat(view_links[i].to, dir, name) != 0)
			return -errno;
	}
	if (mknodat(root, "masked", S_IFREG, 0) != 0 ||
	    mkdirat(root, "dev/pts", 0755) != 0 ||
	    mkdirat(root, "dev/shm", 01777) != 0 ||
	    mkdirat(root, "proc", 0555) != 0)
		return -errno;
	return view_etc(root, c);
}

/* Read-only at last, then the only root there is.  pivot_root(2), NOTES. */
static int
enter(struct cell *c, int root)
{
	struct statvfs v;
	int r;

	c->step = BL_AT_PIVOT;
	r = set_attr(root, MOUNT_ATTR_RDONLY, 0, 0);
	if (r != 0)
		return r;
	if (fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
	    syscall(SYS_umount2, ".", MNT_DETACH_) != 0 || chdir("/") != 0 ||
	    statvfs("/", &v) != 0)
		return -errno;
	return (v.f_flag & ST_RDONLY) != 0 && (v.f_flag & ST_NOSUID) != 0 ?
	    0 : -EXDEV;
}

/* 0, or -errno with c->step and c->object saying where. */
int
view_build(struct cell *c)
{
	scoped_fd int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	scoped_fd int root = -1;
	int r;

	c->step = BL_AT_PRIVATE;
	r = host < 0 ? -errno : set_attr(host, 0, 0, AT_RECURSIVE);
	if (r != 0)
		return r;
	c->step = BL_AT_ROOT;
	root = view_tmpfs(c->req.disk, 0, 0755);
	/* Over "/": needs no folder of the host; names still mean the host's. */
	r = root < 0 ? root : attach(root, AT_FDCWD, "/");
	if (r != 0 || (r = make_links(c, root)) != 0 ||
	    (r = show_all(c, root)) != 0 ||
	    (r = make_dev(c, root)) != 0 || (r = make_proc(c, root)) != 0 ||
	    (r = make_private(c, root)) != 0 || (r = bind_places(c, root)) != 0)
		return r;
	return enter(c, root);
}

/* 1: path lies at, above or below something of the rules or of the view. */
int
view_taken(const struct bl_rules *rules, const char *path)
{
	unsigned i;

	for (i = 0; i < rules->nshows; i++)
		if (bl_path_meets(path, rules->show[i].path))
			return 1;
	for (i = 0; view_shown[i] != NULL; i++)
		if (bl_path_meets(path, view_shown[i]))
			return 1;
	for (i = 0; view_kept[i] != NULL; i++)
		if (bl_path_meets(path, view_kept[i]))
			return 1;
	return 0;
}

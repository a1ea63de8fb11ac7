/*
 * The cell's file tree, built from nothing: what is not put there is not
 * there.  One tmpfs is the root and holds all private folders, so that one
 * size limits them together; the rest is cloned read-only from the host.
 */
#include "ops.h"
#include "sys.h"
#include "view.h"

enum { PRIVATE = 1 << 18, DETACH = 2 };	/* MS_, MNT_: <sys/mount.h> clashes */
enum { GUARD = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
    SHOWN = GUARD | MOUNT_ATTR_RDONLY };

/* A detached mount of a new file system, or -errno.  fsopen(2) */
static int
new_fs(const char *type, const char *const (*opts)[2], uint64_t attr)
{
	scoped_fd int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);

	for (; fs >= 0 && (*opts)[0] != NULL; opts++)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, (*opts)[0],
		    (*opts)[1], 0) != 0)
			return -errno;
	if (fs < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return -errno;
	return sys(syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr));
}

static int
set_attr(int mnt, uint64_t set, uint64_t clear, unsigned recursive)
{
	struct mount_attr a = { .attr_set = set, .attr_clr = clear,
	    .propagation = PRIVATE };

	return sys(syscall(SYS_mount_setattr, mnt, "",
	    AT_EMPTY_PATH | recursive, &a, sizeof a));
}

/*
 * A detached copy of what dir and name show, with all mounted below it: what
 * a mount covers on the host must not come to light here (but for unbindable
 * ones, which open_tree(2) leaves out).  Or -errno.
 */
static int
clone_of(int dir, const char *name, uint64_t set, uint64_t clear)
{
	scoped_fd int mnt = sys(syscall(SYS_open_tree, dir, name,
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
	    AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
	int r = mnt < 0 ? mnt : set_attr(mnt, set, clear, AT_RECURSIVE);

	return r != 0 ? r : fd_take(&mnt);
}

/* The same of a folder that is open: read-only, no devices, no set-id bits. */
int
view_show(int dir)
{
	return clone_of(dir, "", SHOWN, 0);
}

static int
attach(int mnt, int dir, const char *name)
{
	return sys(syscall(SYS_move_mount, mnt, "", dir, name,
	    MOVE_MOUNT_F_EMPTY_PATH));
}

/*
 * The folder that is to hold path's last component, made if need be, or
 * -errno.  Never through a link; also: what more the walk must keep to.
 */
static int
folder_of(int root, const char *path, uint64_t also, char last[BL_NAME_MAX])
{
	const struct open_how how = {
	    .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | also };
	scoped_fd int dir = sys(fcntl(root, F_DUPFD_CLOEXEC, 0));
	char next[BL_NAME_MAX];
	size_t pos = 0;
	int r = dir < 0 ? dir : bl_path_next(path, &pos, last);

	while (r > 0 && (r = bl_path_next(path, &pos, next)) > 0) {
		int sub = sys(mkdirat(dir, last, 0755));

		if (sub == 0 || sub == -EEXIST)
			sub = sys(syscall(SYS_openat2, dir, last, &how,
			    sizeof how));
		if (sub < 0)
			return sub;
		fd_drop(&dir);
		dir = sub;
		memcpy(last, next, sizeof next);
	}
	return r < 0 ? r : fd_take(&dir);
}

/* An empty tmpfs of so many bytes, detached, or -errno.  tmpfs(5) */
static int
tmpfs(uint64_t bytes, uid_t uid)
{
	char size[21], inodes[21], id[21];
	const char *const opts[][2] = { { "size", size },
	    { "nr_inodes", inodes }, { "uid", id }, { "gid", id },
	    { "mode", "0755" }, { NULL, NULL } };

	etc_number(size, bytes);
	etc_number(inodes, bytes / 8192 + 4096);  /* names are bounded as well */
	etc_number(id, uid);
	return new_fs("tmpfs", opts, GUARD);
}

/* A row at dir's name: 0, a mount to attach there, or -errno. */
static int
row_make(const struct cell *c, const struct view_row *w, int dir,
    const char *name)
{
	uid_t owner = w->kind == VIEW_OWN ? c->uid : 0;
	int r;

	switch (w->kind) {
	case VIEW_LINK:
		return sys(symlinkat(w->text, dir, name));
	case VIEW_FILE:
		return etc_file(dir, name, w->mode, &w->text, 1);
	case VIEW_NODE:
		if (mknodat(dir, name, S_IFCHR | 0666,
		    makedev(w->major, w->minor)) == 0)
			return 0;
		/* user_namespaces(7): none may be made there; the host's own */
		r = errno != EPERM ? -errno : etc_file(dir, name, 0, NULL, 0);
		return r != 0 ? r : clone_of(AT_FDCWD, w->path,
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0);
	case VIEW_DIR:
		return sys(mkdirat(dir, name, w->mode));
	case VIEW_OPEN:
	case VIEW_OWN:
		if (mkdirat(dir, name, w->mode) != 0 && errno != EEXIST)
			return -errno;
		if (owner != 0 && fchownat(dir, name, owner, owner,
		    AT_SYMLINK_NOFOLLOW) != 0)
			return -errno;
		return clone_of(dir, name, GUARD,
		    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
	case VIEW_FS:
		return new_fs(w->text, w->opts,
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	case VIEW_LOCK:
		return clone_of(dir, name, MOUNT_ATTR_RDONLY |
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, w->mode);
	case VIEW_COVER:
	default:		/* a clone that is not used costs an RCU period */
		return faccessat(dir, name, F_OK, 0) != 0 ? -errno :
		    clone_of(c->root, ".covered", SHOWN, 0);
	}
}

/*
 * The whole table; a folder stays open for the rows that follow in it.  What
 * this kernel's /proc does not have is left out.
 */
int
view_rows(struct cell *c)
{
	char name[BL_NAME_MAX];
	const char *at = "";
	scoped_fd int dir = -1;

	for (c->object = 0; c->object < COUNT(rows); c->object++) {
		const struct view_row *w = &rows[c->object];
		const char *path = w->path, *leaf = strrchr(path, '/') + 1;
		size_t n = (size_t)(leaf - path);

		leaf = *leaf == '~' ? etc_role[c->req.role] : leaf;
		if (strncmp(path, at, n) != 0 || strchr(at + n, '/') != NULL) {
			fd_drop(&dir);
			dir = folder_of(c->root, path, 0, name);
		}
		at = path;
		if (dir < 0)
			return dir;
		int r = row_make(c, w, dir, leaf);
		if (r == -ENOENT && w->kind >= VIEW_LOCK &&
		    faccessat(dir, leaf, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			continue;	/* looked at twice: it is not there */
		scoped_fd int mnt = r > 0 ? r : -1;	/* 0 is the null device */

		if (mnt > 0)
			r = attach(mnt, dir, leaf);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Attaches mnt, which it takes and which may be an error, at path: as a new
 * name on the root's own tmpfs, so never at, above, below or through anything
 * that is there already.  0, or -errno.
 */
static int
put(int root, const char *path, int is_dir, int mnt)
{
	char name[BL_NAME_MAX];
	scoped_fd int held = mnt;
	scoped_fd int dir = held < 0 ? held :
	    folder_of(root, path, RESOLVE_NO_XDEV, name);
	int r = dir < 0 ? dir : is_dir ? sys(mkdirat(dir, name, 0755)) :
	    sys(mknodat(dir, name, S_IFREG | 0444, 0));

	return r != 0 ? r : attach(held, dir, name);
}

/* One path of the host, read-only; a link stays a link.  0, or -errno. */
static int
show(int root, const char *path)
{
	scoped_fd int host = sys(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	char name[BL_NAME_MAX], to[BL_DST_MAX] = "";
	struct stat st;

	if (host < 0 || fstat(host, &st) != 0)	/* 0: not on this host */
		return host == -ENOENT ? 0 : host < 0 ? host : -errno;
	if (!S_ISLNK(st.st_mode))
		return put(root, path, S_ISDIR(st.st_mode), view_show(host));
	scoped_fd int dir = folder_of(root, path, RESOLVE_NO_XDEV, name);
	return dir < 0 ? dir : readlinkat(host, "", to, sizeof to - 1) < 0 ?
	    -errno : sys(symlinkat(to, dir, name));
}

int
view_shows(struct cell *c)
{
	int r;

	for (c->object = 0; c->object < c->rules->nshows; c->object++)
		if ((r = show(c->root, c->rules->show[c->object].path)) != 0)
			return r;
	return 0;
}

int
view_places(struct cell *c)
{
	int r = 0, *bind = c->binds.fd;

	for (c->object = 0; c->object < c->req.nplaces; c->object++) {
		const struct bl_place *w = &c->req.place[c->object];

		if ((r = put(c->root, w->dst, 1, w->kind == BL_PLACE_TMPFS ?
		    tmpfs(w->size, c->uid) : fd_take(bind++))) != 0)
			return r;
	}
	return 0;
}

/* Over "/": needs no folder of the host; names still mean the host's. */
int
view_root(struct cell *c)
{
	scoped_fd int host = sys(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	int r = host < 0 ? host : set_attr(host, 0, 0, AT_RECURSIVE);

	c->root = r != 0 ? r : tmpfs(c->req.disk, 0);
	return c->root < 0 ? c->root : attach(c->root, AT_FDCWD, "/");
}

/* Read-only at last, then the only root there is.  pivot_root(2), NOTES */
int
view_enter(struct cell *c)
{
	int r = set_attr(c->root, MOUNT_ATTR_RDONLY, 0, 0) != 0 ||
	    fchdir(c->root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
	    syscall(SYS_umount2, ".", DETACH) != 0 || chdir("/") != 0 ||
	    sethostname("cell", 4) != 0 ? -errno : 0;

	fd_drop(&c->root);
	return r;
}

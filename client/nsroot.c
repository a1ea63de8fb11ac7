/* The small file tree that a rootless helper lives in, and the way there. */
#include "nsroot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors from the start on; BL_SESSION_FD is between them. */
enum { TALK = BL_SESSION_FD + 1, HELPER, FIRST_FREE };

static int
sys(long r)
{
	return r < 0 ? -errno : (int)r;
}

/* Nothing else of the parent's stays open: least of all its own end of talk. */
static int
descriptors(const struct ns_plan *p)
{
	int null = fcntl(p->null, F_DUPFD_CLOEXEC, FIRST_FREE);
	int sock = fcntl(p->sock, F_DUPFD_CLOEXEC, FIRST_FREE);
	int talk = fcntl(p->talk, F_DUPFD_CLOEXEC, FIRST_FREE);
	int helper = fcntl(p->helper, F_DUPFD_CLOEXEC, FIRST_FREE);

	return null < 0 || sock < 0 || talk < 0 || helper < 0 ||
	    dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    dup2(sock, BL_SESSION_FD) < 0 || dup3(talk, TALK, O_CLOEXEC) < 0 ||
	    dup3(helper, HELPER, O_CLOEXEC) < 0 ||
	    close_range(FIRST_FREE, ~0U, 0) != 0 ? -errno : 0;
}

/*
 * Until the helper has its session, whose end is its own, the parent's end is
 * ours.  A network of this namespace's, too: the helper goes back to the one
 * that it came from, and into this host's it could not.
 */
static int
spaces(void)
{
	(void)setsid();			/* not the terminal's; can't fail here */
	return prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    unshare(CLONE_NEWNS | CLONE_NEWNET) != 0 ? -errno : 0;
}

static int
ids(void)
{
	char go;
	ssize_t n;

	do
		n = read(TALK, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);		/* the parent is gone, or has given up */
	(void)umask(0);
	/* libc's own would wait for threads that are not here */
	return syscall(SYS_setresgid, 0, 0, 0) != 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) != 0 ? -errno : 0;
}

/* A new tmpfs over "/", where names still mean the host's; or -errno. */
static int
root_new(void)
{
	static const char *const opts[][2] = { { "size", "32m" },
	    { "nr_inodes", "1k" }, { "mode", "0755" } };
	int fs = sys(syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC));
	int mnt = fs;

	for (unsigned i = 0; mnt >= 0 && i < sizeof opts / sizeof *opts; i++)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, opts[i][0],
		    opts[i][1], 0) != 0)
			mnt = -errno;
	if (mnt >= 0 &&
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		mnt = -errno;
	if (mnt >= 0)
		mnt = sys(syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
	if (mnt >= 0 && syscall(SYS_move_mount, mnt, "", AT_FDCWD, "/",
	    MOVE_MOUNT_F_EMPTY_PATH) != 0)
		mnt = -errno;
	return mnt;
}

/* Its file must be root's, and by one name: so it is a copy. */
static int
copy(int root)
{
	int to = sys(openat(root, "bailiff-helper", O_WRONLY | O_CREAT |
	    O_EXCL | O_CLOEXEC, 0755));
	ssize_t n = to;

	while (n > 0)
		n = sendfile(to, HELPER, NULL, 1 << 30);
	if (n < 0)
		return to < 0 ? to : -errno;
	return sys(close(to));		/* or it could not be executed */
}

/*
 * The folder in root that is to hold path's last component, made if need be,
 * and never anything of the host's; or -errno.
 */
static int
folder_of(int root, const char *path, char last[BL_NAME_MAX])
{
	static const struct open_how how = {
	    .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve =
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV };
	char next[BL_NAME_MAX];
	size_t pos = 0;
	int dir = sys(fcntl(root, F_DUPFD_CLOEXEC, FIRST_FREE)), sub;
	int r = bl_path_next(path, &pos, last);

	while (dir >= 0 && r > 0 && (r = bl_path_next(path, &pos, next)) > 0) {
		sub = mkdirat(dir, last, 0755) != 0 && errno != EEXIST ?
		    -errno : sys(syscall(SYS_openat2, dir, last, &how,
		    sizeof how));
		(void)close(dir);
		dir = sub;
		memcpy(last, next, sizeof next);
	}
	return r < 0 ? r : dir;
}

/* What dir and name show, with all mounted below it, at path.  0, or -errno. */
static int
show_at(int root, const char *path, int from, const struct stat *st)
{
	char name[BL_NAME_MAX], to[BL_DST_MAX] = "";
	int dir = folder_of(root, path, name), mnt = 0, r = 0;

	if (dir < 0)
		return dir;
	if (S_ISLNK(st->st_mode))
		r = readlinkat(from, "", to, sizeof to - 1) < 0 ? -errno :
		    sys(symlinkat(to, dir, name));
	else if ((S_ISDIR(st->st_mode) ? mkdirat(dir, name, 0755) :
	    mknodat(dir, name, S_IFREG | 0444, 0)) != 0 ||
	    (mnt = (int)syscall(SYS_open_tree, from, "", AT_EMPTY_PATH |
	    AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)) < 0 ||
	    syscall(SYS_move_mount, mnt, "", dir, name,
	    MOVE_MOUNT_F_EMPTY_PATH) != 0)
		r = -errno;
	if (mnt > 0)
		(void)close(mnt);
	(void)close(dir);
	return r;
}

/* As the rules have it: not there is left out, a link stays a link. */
static int
shows(int root, const struct bl_rules *rules, uint32_t *object)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < rules->nshows; i++) {
		const char *path = rules->show[i].path;
		int fd = sys(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
		struct stat st;

		*object = i;
		if (fd == -ENOENT)
			continue;
		r = fd < 0 ? fd : fstat(fd, &st) != 0 ? -errno :
		    show_at(root, path, fd, &st);
		if (fd >= 0)
			(void)close(fd);
	}
	return r;
}

/* The same folder that the parent saw; the helper looks at its owner itself. */
static int
locks(int root, const struct ns_plan *p)
{
	int fd = sys(open(p->locks, O_PATH | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC));
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) != 0)
		return fd < 0 ? fd : -errno;
	r = st.st_dev != p->locks_st.st_dev || st.st_ino != p->locks_st.st_ino ?
	    -ESTALE : show_at(root, "/run/bailiff", fd, &st);
	(void)close(fd);
	return r;
}

/*
 * The host's tree stays, below NSROOT_HOST: folders that a cell is to be
 * shown must be of the helper's own mount namespace.  Its /proc is what lets
 * cells have one, see user_namespaces(7).
 */
static int
enter(int root)
{
	struct mount_attr ro = { .attr_set = MOUNT_ATTR_RDONLY };

	return mkdirat(root, &NSROOT_HOST[1], 0700) != 0 ||
	    symlinkat(&NSROOT_HOST "/proc"[1], root, "proc") != 0 ||
	    symlinkat(&NSROOT_HOST "/dev"[1], root, "dev") != 0 ||
	    fchdir(root) != 0 ||
	    syscall(SYS_pivot_root, ".", &NSROOT_HOST[1]) != 0 ||
	    chdir("/") != 0 || syscall(SYS_mount_setattr, root, "",
	    AT_EMPTY_PATH, &ro, sizeof ro) != 0 ? -errno : 0;
}

/* Tells the parent and ends, if r says so. */
static void
check(int talk, uint32_t step, uint32_t object, int r)
{
	const struct ns_fail f = { step, object, -r };

	if (r >= 0)
		return;
	/* whoever is gone misses nothing */
	_exit(write(talk, &f, sizeof f) == (ssize_t)sizeof f ? 1 : 2);
}

void
nsroot_child(const struct ns_plan *p)
{
	static char name[] = "bailiff-helper";
	char *const argv[] = { name, NULL }, *const env[] = { NULL };
	uint32_t object = 0;
	int root, r;

	check(p->talk, NS_FDS, 0, descriptors(p));
	check(TALK, NS_SPACES, 0, spaces());
	check(TALK, NS_IDS, 0, ids());
	root = root_new();
	check(TALK, NS_ROOT, 0, root);
	check(TALK, NS_COPY, 0, copy(root));
	r = shows(root, p->rules, &object);
	check(TALK, NS_SHOW, object, r);
	check(TALK, NS_LOCKS, 0, locks(root, p));
	check(TALK, NS_PIVOT, 0, enter(root));
	(void)prctl(PR_SET_PDEATHSIG, 0);	/* of one thread; can't fail */
	check(TALK, NS_EXEC, 0, sys(execve("/bailiff-helper", argv, env)));
	_exit(1);
}

/* Root's own files, opened part by part. */
#include "ops.h"
#include "rules-default.h"
#include "sys.h"

/* fd, or -errno: it is root's, a file by one name, others lack mask's rights. */
int
load_sound(int fd, unsigned mask)
{
	struct stat st;
	int r = fd < 0 || fstat(fd, &st) != 0 ? -errno :
	    st.st_uid != 0 || (st.st_mode & mask) != 0 ||
	    (S_ISREG(st.st_mode) && st.st_nlink != 1) ? -EPERM : fd;

	if (r < 0)
		fd_drop(&fd);
	return r;
}

/*
 * A descriptor for the folder that parts name below "/", or -errno.  make: the
 * last one is made when it is missing, and must be root's alone.
 */
int
load_walk(const char *const *parts, int make)
{
	const int how = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int dir = load_sound(open("/", how), 022);

	for (; dir >= 0 && *parts != NULL; parts++) {
		scoped_fd int above = dir;
		int own = make && parts[1] == NULL;

		if (own && mkdirat(above, *parts, 0700) != 0 && errno != EEXIST)
			return -errno;
		dir = load_sound(openat(above, *parts, how), own ? 077 : 022);
	}
	return dir;
}

/*
 * The rules, and the caller's part of them; does not return without.  Only
 * for root itself does a missing file mean the built-in ones: an installed
 * helper has an administrator, and a lost rule is not one that allows.
 */
void
load_rules(struct session *s)
{
	static const char *const folder[] = { "etc", "bailiff", NULL };
	static struct bl_rules rules;
	static gid_t groups[65536 + 1];	/* NGROUPS_MAX, and the real one */
	scoped_fd int dir = load_walk(folder, 0);
	scoped_fd int fd = dir < 0 ? dir : load_sound(openat(dir, "rules",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), 022);
	socklen_t size = 65536 * sizeof *groups;
	int n = s->hello.way != BL_WAY_SOCKET ? getgroups(65536, groups) + 1 :
	    getsockopt(BL_SESSION_FD, SOL_SOCKET, SO_PEERGROUPS, groups,
	    &size) != 0 ? 0 : (int)(size / sizeof *groups) + 1; /* 0: failed */

	groups[n > 0 ? n - 1 : 0] = s->hello.gid;
	s->hello.builtin = fd == -ENOENT && s->hello.way == BL_WAY_ROOT;
	s->rules = s->hello.builtin ? &bl_rules_default : &rules;
	if (!s->hello.builtin && fd < 0)
		refuse(BL_AT_RULES_OPEN, 0, fd);
	if (fd >= 0 && (read(fd, &rules, sizeof rules) != sizeof rules ||
	    bl_rules_usable(&rules) != 0))
		refuse(BL_AT_RULES_BAD, 0, EINVAL);
	if (n == 0 || bl_rules_quota(s->rules, s->hello.uid, groups, (size_t)n,
	    &s->quota) != 0)
		refuse(BL_AT_RULES_CALLER, s->hello.uid, EPERM);
	s->hello.slots = s->quota.slots;
	memcpy(s->hello.digest, s->rules->digest, sizeof s->hello.digest);
}

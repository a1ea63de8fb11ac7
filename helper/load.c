/* Root's own files, opened part by part. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "ops.h"
#include "rules-default.h"

static const char *const rules_folder[] = { "etc", "bailiff", NULL };

/* 0, or -errno: root's, and nobody else can write in it. */
static int
load_sound(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	return st.st_uid != 0 || (st.st_mode & 022) != 0 ? -EPERM : 0;
}

/*
 * A descriptor for the folder that parts name below "/", or -errno.  make: the
 * last one is made, mode 0700, when it is missing, and must be so.
 */
int
load_walk(const char *const *parts, int make)
{
	scoped_fd int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int r = dir < 0 ? -errno : load_sound(dir);
	unsigned i;

	for (i = 0; r == 0 && parts[i] != NULL; i++) {
		int sub, last = parts[i + 1] == NULL;

		if (make && last && mkdirat(dir, parts[i], 0700) != 0 &&
		    errno != EEXIST)
			return -errno;
		sub = openat(dir, parts[i],
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0)
			return -errno;
		fd_drop(&dir);
		dir = sub;
		r = load_sound(dir);
		if (r == 0 && make && last && (fstat(dir, &st) != 0 ||
		    (st.st_mode & 077) != 0))
			r = -EPERM;
	}
	return r != 0 ? r : fd_take(&dir);
}

/*
 * The rules; does not return without sound ones.  Only for root itself does a
 * missing file mean the built-in ones: an installed helper has an
 * administrator, and a rule that got lost is not a rule that allows.
 */
const struct bl_rules *
load_rules(enum bl_way way, uint32_t *builtin)
{
	static struct bl_rules rules;
	scoped_fd int dir = load_walk(rules_folder, 0), fd = -1;
	int r = dir;
	struct stat st;

	if (dir >= 0) {
		fd = openat(dir, "rules",
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		r = fd < 0 ? -errno : load_sound(fd);
	}
	if (r == -ENOENT && way == BL_WAY_ROOT) {
		*builtin = 1;
		return &bl_rules_default;
	}
	if (r < 0)
		refuse(BL_AT_RULES_OPEN, 0, r);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size != sizeof rules ||
	    read(fd, &rules, sizeof rules) != sizeof rules ||
	    bl_rules_check(&rules) != 0)
		refuse(BL_AT_RULES_BAD, 0, EINVAL);
	*builtin = 0;
	return &rules;
}

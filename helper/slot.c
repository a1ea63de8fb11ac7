/* A uid for each cell, from the caller's own range. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "ops.h"

static const char *const lock_folder[] = { "run", "bailiff", NULL };

/*
 * The file whose byte n is slot n's lock, or -errno.  fcntl(2), "Open file
 * description locks": cell init keeps the description too, so a slot stays
 * taken until both are gone, whoever was killed.
 */
int
slot_open(void)
{
	scoped_fd int dir = load_walk(lock_folder, 1), fd = -1;
	struct stat st;

	if (dir < 0)
		return dir;
	fd = openat(dir, "slots",
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || st.st_nlink != 1 ||
	    (st.st_mode & 077) != 0)
		return -EPERM;
	return fd_take(&fd);
}

static int
slot_lock(int fd, uint32_t slot, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET,
	    .l_start = slot, .l_len = 1 };

	return fcntl(fd, F_OFD_SETLK, &l) != 0 ? -errno : 0;
}

static int
slot_mine(const struct session *s, uint32_t slot)
{
	unsigned i;

	for (i = 0; i < BL_CELLS_MAX; i++)
		if (s->live[i].pidfd >= 0 && s->live[i].slot == slot)
			return 1;
	return 0;
}

/*
 * 0 with *slot locked, or -EUSERS: all of the caller's are in use.  A lock
 * can come free a moment before the last process of its uid is gone:
 * getpriority(2) looks at every process and says ESRCH when there is none.
 */
int
slot_take(const struct session *s, uint32_t *slot)
{
	uint32_t i;

	for (i = 0; i < s->quota.slots; i++) {
		uint32_t n = s->quota.slot_first + i;

		if (slot_mine(s, n) || slot_lock(s->locks, n, F_WRLCK) != 0)
			continue;
		errno = 0;
		if (getpriority(PRIO_USER, s->quota.uid_first + i) == -1 &&
		    errno == ESRCH) {
			*slot = n;
			return 0;
		}
		(void)slot_lock(s->locks, n, F_UNLCK); /* its own, just taken */
	}
	return -EUSERS;
}

void
slot_free(const struct session *s, uint32_t slot)
{
	(void)slot_lock(s->locks, slot, F_UNLCK); /* can't fail on our own */
}

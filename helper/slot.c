/* A uid for each cell, from the caller's own range. */
#include "ops.h"
#include "sys.h"

/* 0, or -errno; unlocking can't fail on our own. */
int
slot_lock(int fd, uint32_t slot, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET,
	    .l_start = slot, .l_len = 1 };

	return sys(fcntl(fd, F_OFD_SETLK, &l));
}

/*
 * s->locks: the file whose byte n is the lock of uid n.  fcntl(2), "Open file
 * description locks": cell init keeps the description too, so a slot stays
 * taken until both are gone, whoever was killed.  A session takes one of as
 * many bytes above all uids: the helper has left the caller's own limits.
 */
void
slot_open(struct session *s)
{
	static const char *const folder[] = { "run", "bailiff", NULL };
	scoped_fd int dir = load_walk(folder, 1);
	uint32_t i = 0, far = (1u << 31) + s->quota.slot_first;

	s->locks = dir < 0 ? dir : load_sound(openat(dir, "slots",
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600), 077);
	if (s->locks < 0)
		refuse(BL_AT_LOCKS, 0, s->locks);
	while (i < s->quota.slots && slot_lock(s->locks, far + i, F_WRLCK) != 0)
		i++;
	if (i == s->quota.slots)
		refuse(BL_AT_SLOT, i, EUSERS);
}

/*
 * 0 with *slot locked, or -EUSERS: all of the caller's are in use.  A lock
 * can come free a moment before the last process of its uid is gone:
 * getpriority(2) looks at every process and says ESRCH when there is none.
 */
int
slot_take(const struct session *s, uint32_t *slot)
{
	uint32_t i, j;

	for (i = 0; i < s->quota.slots; i++) {
		uint32_t n = s->rules->uid_base + s->quota.slot_first + i;

		for (j = 0; j < BL_CELLS_MAX; j++)
			if (s->live[j].pidfd >= 0 && s->live[j].slot == n)
				break;		/* our own lock would not say */
		if (j < BL_CELLS_MAX || slot_lock(s->locks, n, F_WRLCK) != 0)
			continue;
		errno = 0;
		if (getpriority(PRIO_USER, n) == -1 && errno == ESRCH) {
			*slot = n;
			return 0;
		}
		(void)slot_lock(s->locks, n, F_UNLCK);
	}
	return -EUSERS;
}

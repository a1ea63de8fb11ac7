/* Judges rules whole: for the compiler, which writes what the helper uses. */
#include <errno.h>

#include "rules_check.h"

static const uint64_t bytes_max = INT64_MAX;	/* what an rlimit can hold */
static const uint64_t wall_ms_max = UINT64_C(366) * 86400 * 1000;

static int
caller_unused(const struct bl_caller *c)
{
	return c->uid_lo == 0 && c->uid_hi == 0 && c->slot_first == 0 &&
	    c->slots == 0 && c->memory_max == 0 && c->disk_max == 0 &&
	    c->fsize_max == 0 && c->wall_ms_max == 0 && c->pids_max == 0 &&
	    c->nofile_max == 0;
}

/* How many slots c has over all its uids. */
static uint64_t
caller_slots(const struct bl_caller *c)
{
	return ((uint64_t)c->uid_hi - c->uid_lo + 1) * c->slots;
}

/* A maximum of 0 would come out of bl_rules_apply as no limit at all. */
static int
caller_limits_sound(const struct bl_caller *c)
{
	return c->memory_max != 0 && c->memory_max <= bytes_max &&
	    c->disk_max != 0 && c->disk_max <= bytes_max &&
	    c->fsize_max != 0 && c->fsize_max <= bytes_max &&
	    c->wall_ms_max != 0 && c->wall_ms_max <= wall_ms_max &&
	    c->pids_max != 0 && c->nofile_max != 0;
}

static int
caller_sound(const struct bl_rules *r, const struct bl_caller *c)
{
	uint64_t base = r->uid_base;

	if (c->uid_hi < c->uid_lo || c->uid_hi == UINT32_MAX || c->slots == 0)
		return 0;
	if (c->slot_first > r->uid_count ||
	    caller_slots(c) > r->uid_count - c->slot_first)
		return 0;
	/* What runs in a cell must not be a caller by its uid. */
	if (c->uid_hi >= base && c->uid_lo < base + r->uid_count)
		return 0;
	return caller_limits_sound(c);
}

static int
callers_sound(const struct bl_rules *r)
{
	uint64_t uid_next = 0, slot_next = 0;
	size_t i;

	for (i = 0; i < BL_CALLERS_MAX; i++) {
		const struct bl_caller *c = &r->caller[i];

		if (i >= r->ncallers) {
			if (!caller_unused(c))
				return 0;
			continue;
		}
		if (!caller_sound(r, c) || c->uid_lo < uid_next ||
		    c->slot_first < slot_next)
			return 0;
		uid_next = (uint64_t)c->uid_hi + 1;
		slot_next = c->slot_first + caller_slots(c);
	}
	return 1;
}

/* 1: a sound path below the root, or nothing where nothing is due. */
static int
show_sound(const struct bl_show *s, int due)
{
	char name[BL_NAME_MAX];
	size_t pos = 0, i;
	int r = due;

	for (i = 0; i < BL_DST_MAX && r > 0; i++)
		r = bl_path_next(s->path, &pos, name);
	if (r != 0 || (due && pos < 2))		/* 1 is the root itself */
		return 0;
	for (i = pos; i < BL_DST_MAX; i++)
		if (s->path[i] != '\0')
			return 0;
	return 1;
}

int
bl_rules_check(const struct bl_rules *r)
{
	size_t i;

	if (bl_rules_usable(r) != 0 || r->ncallers == 0)
		return -EINVAL;
	for (i = 0; i < BL_GROUPS_MAX; i++)
		if (i < r->ngroups ? r->group[i] == UINT32_MAX :
		    r->group[i] != 0)
			return -EINVAL;
	for (i = 0; i < BL_SHOWS_MAX; i++)
		if (!show_sound(&r->show[i], i < r->nshows))
			return -EINVAL;
	return callers_sound(r) ? 0 : -EINVAL;
}

int
bl_path_meets(const char *a, const char *b)
{
	size_t i;

	for (i = 0; i < BL_DST_MAX; i++) {
		if (a[i] == '\0' && b[i] == '\0')
			return 1;
		/* i is 1 for the root alone, which is above everything */
		if (a[i] == '\0')
			return b[i] == '/' || i == 1;
		if (b[i] == '\0')
			return a[i] == '/' || i == 1;
		if (a[i] != b[i])
			return 0;
	}
	return 1;			/* no end in sight: take the worse */
}

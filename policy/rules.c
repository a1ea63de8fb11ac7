/* What a caller may have: verdicts on the administrator's rules, no effects. */
#include "rules.h"

#include <errno.h>
#include <string.h>

static const uint64_t ns_per_ms = 1000000;
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

	if (r->magic != BL_RULES_MAGIC || r->version != BL_RULES_VERSION ||
	    r->size != sizeof *r)
		return -EINVAL;
	if (r->uid_base < BL_UID_FIRST || r->uid_base > BL_UID_LAST ||
	    r->uid_count == 0 ||
	    r->uid_count - 1 > (uint32_t)BL_UID_LAST - r->uid_base)
		return -EINVAL;
	if (r->ncallers == 0 || r->ncallers > BL_CALLERS_MAX ||
	    r->nshows > BL_SHOWS_MAX || r->ngroups > BL_GROUPS_MAX)
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

static int
group_allowed(const struct bl_rules *r, const uint32_t *groups, size_t ngroups)
{
	size_t i, j;

	for (i = 0; i < BL_GROUPS_MAX && i < r->ngroups; i++)
		for (j = 0; j < ngroups; j++)
			if (groups[j] == r->group[i])
				return 1;
	return r->ngroups == 0;
}

int
bl_rules_quota(const struct bl_rules *r, uint32_t uid, const uint32_t *groups,
    size_t ngroups, struct bl_quota *q)
{
	size_t i;

	memset(q, 0, sizeof *q);
	if (uid != 0 && !group_allowed(r, groups, ngroups))
		return -EPERM;
	for (i = 0; i < BL_CALLERS_MAX && i < r->ncallers; i++) {
		const struct bl_caller *c = &r->caller[i];

		if (uid < c->uid_lo || uid > c->uid_hi)
			continue;
		q->slots = c->slots;
		q->slot_first = c->slot_first + (uid - c->uid_lo) * c->slots;
		q->uid_first = r->uid_base + q->slot_first;
		q->max = *c;
		return 0;
	}
	return -EPERM;
}

/* 1: all empty folders together want no more than max bytes. */
static int
places_within(const struct bl_req_cell *c, uint64_t max)
{
	uint64_t left = max;
	size_t i;

	for (i = 0; i < BL_PLACES_MAX; i++) {
		if (c->place[i].size > left)
			return 0;
		left -= c->place[i].size;
	}
	return 1;
}

int
bl_rules_apply(const struct bl_quota *q, struct bl_req_cell *c,
    uint64_t now_ns, uint32_t *which)
{
	const struct bl_caller *max = &q->max;
	struct bl_limits *l = &c->limits;
	uint64_t last = UINT64_MAX;

	if (max->wall_ms_max <= (UINT64_MAX - now_ns) / ns_per_ms)
		last = now_ns + max->wall_ms_max * ns_per_ms;
	*which = BL_LIMIT_NONE;
	if (l->memory > max->memory_max)
		*which = BL_LIMIT_MEMORY;
	else if (c->disk > max->disk_max || l->fsize > max->fsize_max ||
	    !places_within(c, max->disk_max))
		*which = BL_LIMIT_DISK;
	else if (c->deadline_ns > last)
		*which = BL_LIMIT_TIME;
	else if (l->pids > max->pids_max)
		*which = BL_LIMIT_PROCESSES;
	else if (l->nofile > max->nofile_max)
		*which = BL_LIMIT_START;	/* descriptors have no name */
	if (*which != BL_LIMIT_NONE)
		return -EDQUOT;
	l->memory = l->memory != 0 ? l->memory : max->memory_max;
	l->fsize = l->fsize != 0 ? l->fsize : max->fsize_max;
	l->pids = l->pids != 0 ? l->pids : max->pids_max;
	l->nofile = l->nofile != 0 ? l->nofile : max->nofile_max;
	c->disk = c->disk != 0 ? c->disk : max->disk_max;
	c->deadline_ns = c->deadline_ns != 0 ? c->deadline_ns : last;
	return 0;			/* cpu_ms: the wall bounds it */
}

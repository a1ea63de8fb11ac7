/* What a caller may have: verdicts on the administrator's rules, no effects. */
#include "rules.h"

#include <errno.h>
#include <string.h>

static const uint64_t ns_per_ms = 1000000;

int
bl_rules_usable(const struct bl_rules *r)
{
	return r->magic == BL_RULES_MAGIC && r->version == BL_RULES_VERSION &&
	    r->size == sizeof *r && r->uid_base >= BL_UID_FIRST &&
	    r->uid_base <= BL_UID_LAST && r->uid_count != 0 &&
	    r->uid_count - 1 <= (uint32_t)BL_UID_LAST - r->uid_base &&
	    r->ncallers <= BL_CALLERS_MAX && r->nshows <= BL_SHOWS_MAX &&
	    r->ngroups <= BL_GROUPS_MAX ? 0 : -EINVAL;
}

static int
group_allowed(const struct bl_rules *r, const uint32_t *groups, size_t ngroups)
{
	size_t i, j;

	for (i = 0; i < r->ngroups; i++)
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
	for (i = 0; i < r->ncallers; i++) {
		const struct bl_caller *c = &r->caller[i];
		uint64_t first = c->slot_first +
		    (uint64_t)(uid - c->uid_lo) * c->slots;

		if (uid < c->uid_lo || uid > c->uid_hi)
			continue;
		if (first + c->slots > r->uid_count ||
		    (uid != 0 && !group_allowed(r, groups, ngroups)))
			break;
		q->slots = c->slots;
		q->slot_first = (uint32_t)first;
		q->uid_first = r->uid_base + q->slot_first;
		q->max = *c;
		return 0;
	}
	return -EPERM;
}

int
bl_rules_apply(const struct bl_quota *q, struct bl_req_cell *c,
    uint64_t now_ns, uint32_t *which)
{
	const struct bl_caller *max = &q->max;
	struct bl_limits *l = &c->limits;
	uint64_t last = UINT64_MAX, left = max->disk_max;
	size_t i;

	if (max->wall_ms_max <= (UINT64_MAX - now_ns) / ns_per_ms)
		last = now_ns + max->wall_ms_max * ns_per_ms;
	*which = BL_LIMIT_NONE;
	if (l->memory > max->memory_max)
		*which = BL_LIMIT_MEMORY;
	else if (c->disk > max->disk_max || l->fsize > max->fsize_max)
		*which = BL_LIMIT_DISK;
	else if (c->deadline_ns > last)
		*which = BL_LIMIT_TIME;
	else if (l->pids > max->pids_max)
		*which = BL_LIMIT_PROCESSES;
	else if (l->nofile > max->nofile_max)
		*which = BL_LIMIT_START;	/* descriptors have no name */
	for (i = 0; i < c->nplaces; left -= c->place[i++].size)
		if (c->place[i].size > left)	/* all of them together */
			*which = BL_LIMIT_DISK;
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

/* What a caller may have: verdicts on the administrator's rules, no effects. */
#include "rules.h"

#include <errno.h>

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

int
bl_rules_quota(const struct bl_rules *r, uint32_t uid, const uint32_t *groups,
    size_t ngroups, struct bl_caller *q)
{
	size_t i, j;
	int member = r->ngroups == 0;

	*q = (struct bl_caller){ .slots = 0 };
	for (i = 0; i < r->ngroups; i++)
		for (j = 0; j < ngroups; j++)
			member |= groups[j] == r->group[i];
	for (i = 0; i < r->ncallers; i++) {
		const struct bl_caller *c = &r->caller[i];
		uint64_t first = c->slot_first +
		    (uint64_t)(uid - c->uid_lo) * c->slots;

		if (uid < c->uid_lo || uid > c->uid_hi)
			continue;
		if (!member || first + c->slots > r->uid_count)
			break;
		*q = *c;
		q->slot_first = (uint32_t)first;
		return 0;
	}
	return -EPERM;
}

/* 1: *v asks for more than max gives.  0 asks for all of it, and becomes that. */
static int
above(uint64_t *v, uint64_t max)
{
	*v = *v != 0 ? *v : max;
	return *v > max;
}

int
bl_rules_apply(const struct bl_caller *max, struct bl_req_cell *c,
    uint64_t now_ns, uint32_t *which)
{
	struct bl_limits *l = &c->limits;
	uint64_t pids = l->pids, nofile = l->nofile, places = 0;
	size_t i;
	int over = 0;

	for (i = 0; i < c->nplaces; i++) {	/* and some is left for the rest */
		over |= c->place[i].size >= max->disk_max - places;
		places += over ? 0 : c->place[i].size;
	}
	over |= above(&c->disk, max->disk_max - places) |
	    above(&l->fsize, max->fsize_max);
	*which = over ? BL_LIMIT_DISK : BL_LIMIT_NONE;
	if (above(&c->deadline_ns, now_ns + max->wall_ms_max * 1000000))
		*which = BL_LIMIT_TIME;
	if (above(&pids, max->pids_max))
		*which = BL_LIMIT_PROCESSES;
	if (above(&nofile, max->nofile_max))
		*which = BL_LIMIT_START;	/* descriptors have no name */
	if (above(&l->memory, max->memory_max))
		*which = BL_LIMIT_MEMORY;
	l->pids = (uint32_t)pids;
	l->nofile = (uint32_t)nofile;
	return *which != BL_LIMIT_NONE ? -EDQUOT : 0;
}

/* Fuzz: rules that pass give no two callers one slot, and none a bad uid. */
/* max_len: 14990 */
#include "../../policy/rules_check.h"

#include <stdlib.h>
#include <string.h>

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must_apply(const struct bl_caller *q, const uint8_t *data, size_t size)
{
	struct bl_req_cell c;
	uint64_t now = 1000000000, left = q->disk_max;
	uint32_t which = BL_LIMIT_MAX, i;
	int r;

	memset(&c, 0, sizeof c);
	memcpy(&c, data, size < sizeof c ? size : sizeof c);
	c.nplaces %= BL_PLACES_MAX + 1;		/* bl_req_check saw to it */
	r = bl_rules_apply(q, &c, now, &which);
	MUST(which < BL_LIMIT_MAX && (r == 0) == (which == BL_LIMIT_NONE));
	if (r != 0)
		return;
	MUST(c.limits.memory != 0 && c.limits.memory <= q->memory_max);
	MUST(c.limits.fsize != 0 && c.limits.fsize <= q->fsize_max);
	MUST(c.limits.pids != 0 && c.limits.pids <= q->pids_max);
	MUST(c.limits.nofile != 0 && c.limits.nofile <= q->nofile_max);
	MUST(c.disk != 0 && c.disk <= q->disk_max);
	for (i = 0; i < c.nplaces; i++) {
		MUST(c.place[i].size <= left);
		left -= c.place[i].size;
	}
	MUST(c.deadline_ns != 0 &&
	    c.deadline_ns <= now + q->wall_ms_max * 1000000);
}

static void
must_quota(const struct bl_rules *r, uint32_t uid, struct bl_caller *q)
{
	uint64_t last;

	if (bl_rules_quota(r, uid, r->group, r->ngroups, q) != 0) {
		MUST(q->slots == 0);
		return;
	}
	MUST(q->slots > 0 && q->uid_lo <= uid && uid <= q->uid_hi);
	last = (uint64_t)q->slot_first + q->slots - 1;
	MUST(last < r->uid_count);
	MUST(r->uid_base + q->slot_first >= BL_UID_FIRST &&
	    r->uid_base + last <= (uint64_t)BL_UID_LAST);
	MUST(uid < r->uid_base || uid - r->uid_base >= r->uid_count);
}

/* All that the helper itself asks of a file: no slot lies outside of it. */
static void
must_usable(const struct bl_rules *r, uint32_t uid)
{
	struct bl_caller q;

	if (bl_rules_quota(r, uid, r->group, r->ngroups, &q) != 0)
		return;
	MUST((uint64_t)q.slot_first + q.slots <= r->uid_count);
	MUST(r->uid_base + q.slot_first >= BL_UID_FIRST &&
	    (uint64_t)r->uid_base + q.slot_first + q.slots <= (uint64_t)BL_UID_LAST + 1);
}

/* A sound file, of which the input changes what it reaches. */
static void
base_make(struct bl_rules *r)
{
	size_t i;

	memset(r, 0, sizeof *r);
	r->magic = BL_RULES_MAGIC;
	r->version = BL_RULES_VERSION;
	r->size = sizeof *r;
	r->uid_base = 1 << 20;
	r->uid_count = 1000;
	r->ncallers = 3;
	for (i = 0; i < 3; i++) {
		struct bl_caller *c = &r->caller[i];

		c->uid_lo = c->uid_hi = (uint32_t)i * 10;
		c->slot_first = (uint32_t)i * 100;
		c->slots = 50;
		c->memory_max = c->disk_max = c->fsize_max = 1 << 20;
		c->wall_ms_max = 1000;
		c->pids_max = c->nofile_max = 100;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bl_rules r;
	struct bl_caller a, b;
	uint32_t one, two;
	size_t i;

	if (size < 8)
		return 0;
	memcpy(&one, data, 4);
	memcpy(&two, data + 4, 4);
	base_make(&r);
	for (i = 8; i < size && i - 8 < sizeof r; i++)
		((uint8_t *)&r)[i - 8] ^= data[i];
	if (bl_rules_usable(&r) != 0) {
		MUST(bl_rules_check(&r) != 0);
		return 0;
	}
	must_usable(&r, one);
	for (i = 0; i < r.ncallers; i++)
		must_usable(&r, r.caller[i].uid_hi);
	if (bl_rules_check(&r) != 0)
		return 0;
	must_quota(&r, one, &a);
	must_quota(&r, two, &b);
	if (one != two && a.slots != 0 && b.slots != 0)
		MUST((uint64_t)a.slot_first + a.slots <= b.slot_first ||
		    (uint64_t)b.slot_first + b.slots <= a.slot_first);
	for (i = 0; i < r.ncallers; i++) {
		must_quota(&r, r.caller[i].uid_lo, &a);
		must_quota(&r, r.caller[i].uid_hi, &b);
		MUST(r.ngroups == 0 || r.caller[i].uid_lo == 0 || a.slots != 0);
		if (a.slots != 0)
			must_apply(&a, data, size);
	}
	return 0;
}

/* Rules: no two callers share a slot, and limits only ever go down. */
/* max_len: 7000 */
#include "../../policy/rules.h"
#include "must.h"

static struct bl_rules r;

/* Every number of a slot that uid may have lies in the range, or 0. */
static int
quota(uint32_t uid, struct bl_quota *q)
{
	uint64_t last;

	if (bl_rules_quota(&r, uid, r.group, r.ngroups, q) != 0)
		return 0;
	last = (uint64_t)q->slot_first + q->slots - 1;
	MUST(q->slots > 0 && last < r.uid_count);
	MUST(q->uid_first == r.uid_base + q->slot_first);
	MUST(q->uid_first >= BL_UID_FIRST);
	MUST((uint64_t)q->uid_first + q->slots - 1 <= BL_UID_LAST);
	return 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bl_req_cell c, before;
	struct bl_quota a, b;
	uint32_t ua, ub, which = 0;

	if (size < 16)
		return 0;
	memset(&r, 0, sizeof r);
	r.magic = BL_RULES_MAGIC;
	r.version = BL_RULES_VERSION;
	r.size = sizeof r;
	memcpy(&ua, data, 4);
	memcpy(&ub, data + 4, 4);
	memset(&c, 0, sizeof c);
	memcpy(&c.limits, data, 16);
	c.disk = data[8];
	/* two callers first, then whatever comes */
	r.uid_base = BL_UID_FIRST + data[9];
	r.uid_count = (uint32_t)data[10] << 8 | data[11];
	r.ncallers = data[12] & 3;
	r.nshows = data[13] & 3;
	r.ngroups = data[14] & 3;
	fill(r.caller, r.ncallers * sizeof r.caller[0], data + 15, size - 15);
	if (data[14] & 64)
		fill(&r.uid_base, sizeof r - offsetof(struct bl_rules, uid_base),
		    data + 15, size - 15);
	if (bl_rules_check(&r) != 0)
		return 0;
	for (uint32_t i = 0; i < r.nshows; i++)
		MUST(sound(r.show[i].path, sizeof r.show[i].path));
	for (uint32_t i = 0; i < r.ncallers; i++) {
		(void)quota(r.caller[i].uid_lo, &a);
		(void)quota(r.caller[i].uid_hi, &a);
	}
	if (r.ncallers > 0) {
		uint64_t many = (uint64_t)r.caller[0].uid_hi -
		    r.caller[0].uid_lo + 1;

		if (data[15] & 1)
			ua = r.caller[0].uid_lo + (uint32_t)(ua % many);
		if (data[15] & 2)
			ub = r.caller[r.ncallers - 1].uid_lo;
	}
	if (quota(ua, &a) && quota(ub, &b) && ua != ub)
		MUST((uint64_t)a.slot_first + a.slots <= b.slot_first ||
		    (uint64_t)b.slot_first + b.slots <= a.slot_first);
	if (!quota(ua, &a))
		return 0;
	before = c;
	if (bl_rules_apply(&a, &c, 1, &which) != 0) {
		MUST(which < BL_LIMIT_MAX);
		return 0;
	}
	MUST(c.limits.memory <= a.max.memory_max);
	MUST(c.limits.fsize <= a.max.fsize_max);
	MUST(c.limits.pids <= a.max.pids_max && c.limits.pids > 0);
	MUST(c.limits.nofile <= a.max.nofile_max);
	MUST(c.disk <= a.max.disk_max);
	MUST(before.limits.memory == 0 ||
	    c.limits.memory == before.limits.memory);
	return 0;
}

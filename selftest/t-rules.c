/* policy/rules.c: who may have what, and every way a file can be wrong. */
#include "../policy/rules_check.h"

#include <errno.h>
#include <string.h>

#include "rules-default.h"
#include "tap.h"

static struct bl_rules
rules(void)
{
	struct bl_rules r;
	struct bl_caller c = {
		.memory_max = 1 << 30, .disk_max = 1 << 29,
		.fsize_max = 1 << 28, .wall_ms_max = 1000, .pids_max = 100,
		.nofile_max = 256
	};

	memset(&r, 0, sizeof r);
	r.magic = BL_RULES_MAGIC;
	r.version = BL_RULES_VERSION;
	r.size = sizeof r;
	r.uid_base = 100000;
	r.uid_count = 1000;
	r.ncallers = 2;
	r.ngroups = 1;
	r.nshows = 1;
	r.group[0] = 995;
	c.slots = 100;
	r.caller[0] = c;
	c.uid_lo = 1000;
	c.uid_hi = 1009;
	c.slot_first = 100;
	c.slots = 90;
	r.caller[1] = c;
	memcpy(r.show[0].path, "/opt/tools", 10);
	return r;
}

#define CHECK(want, change, name) do { \
	struct bl_rules r = rules(); \
	change; \
	is(bl_rules_check(&r), want, "rules: %s", name); \
} while (0)
#define REFUSED(change, name)	CHECK(-EINVAL, change, name)
#define TAKEN(change, name)	CHECK(0, change, name)

static void
test_check(void)
{
	TAKEN((void)0, "sound");
	REFUSED(r.magic++, "magic");
	REFUSED(r.version++, "version");
	REFUSED(r.size--, "size");
	REFUSED(r.uid_base = BL_UID_FIRST - 1, "first user number");
	REFUSED(r.uid_base = 0, "root");
	REFUSED(r.uid_base = (uint32_t)BL_UID_LAST, "last user number");
	REFUSED(r.uid_base = UINT32_MAX, "user number -1");
	TAKEN(r.uid_base = (uint32_t)BL_UID_LAST - 999, "the very end");
	REFUSED(r.uid_base = (uint32_t)BL_UID_LAST - 998, "one beyond it");
	REFUSED(r.uid_count = 0, "no user numbers");
	REFUSED(r.uid_count = UINT32_MAX, "-1 of them");
	REFUSED(r.uid_count = 999, "too few for the slots");
	REFUSED(r.ncallers = 0, "no caller");
	REFUSED(r.ncallers = BL_CALLERS_MAX + 1, "a caller too many");
	REFUSED(r.ncallers = 1, "a caller that is not counted");
	REFUSED(r.ncallers = 3, "a caller that is not there");
	REFUSED(r.nshows = BL_SHOWS_MAX + 1, "a folder too many");
	REFUSED(r.nshows = 0, "a folder that is not counted");
	REFUSED(r.nshows = 2, "a folder that is not there");
	REFUSED(r.ngroups = BL_GROUPS_MAX + 1, "a group too many");
	REFUSED(r.ngroups = 0, "a group that is not counted");
	REFUSED(r.group[0] = UINT32_MAX, "group -1");
	TAKEN((r.ngroups = 0, r.group[0] = 0), "no group");
}

static void
test_check_callers(void)
{
	REFUSED((r.caller[1].uid_lo = 0), "callers that meet");
	REFUSED((r.caller[0].uid_hi = 1000), "callers that meet at an end");
	REFUSED((r.caller[1].uid_hi = 999), "a range upside down");
	REFUSED((r.caller[1].uid_lo = 1009, r.caller[1].uid_hi = UINT32_MAX,
	    r.caller[1].slots = 1), "caller -1");
	REFUSED((r.caller[1].slot_first = 99), "slots that meet");
	TAKEN((r.caller[1].slots = 80, r.caller[1].slot_first = 200),
	    "slots with a gap");
	REFUSED((r.caller[1].slot_first = 101), "slots beyond the end");
	REFUSED((r.caller[1].slot_first = UINT32_MAX), "slot -1");
	REFUSED((r.caller[1].slots = 0), "no slots");
	REFUSED((r.caller[1].slots = UINT32_MAX), "-1 slots");
	REFUSED((r.caller[1].uid_lo = r.caller[1].uid_hi = 100500,
	    r.caller[1].slots = 1), "a cell as caller");
	REFUSED((r.caller[1].uid_lo = 99999, r.caller[1].uid_hi = 100000,
	    r.caller[1].slots = 1), "the first cell as caller");
	TAKEN((r.caller[1].uid_lo = r.caller[1].uid_hi = 101000,
	    r.caller[1].slots = 1), "a caller above the cells");
	REFUSED(({
		struct bl_caller c = r.caller[0];

		r.caller[0] = r.caller[1];
		r.caller[1] = c;
	}), "callers in falling order");
	REFUSED(r.caller[0].memory_max = 0, "no memory");
	REFUSED(r.caller[0].memory_max = UINT64_MAX, "memory -1");
	REFUSED(r.caller[0].disk_max = 0, "no disk");
	REFUSED(r.caller[0].fsize_max = 0, "no file size");
	REFUSED(r.caller[0].wall_ms_max = 0, "no time");
	REFUSED(r.caller[0].wall_ms_max = UINT64_MAX, "time -1");
	REFUSED(r.caller[0].pids_max = 0, "no processes");
	REFUSED(r.caller[0].nofile_max = 0, "no descriptors");
	REFUSED(r.caller[BL_CALLERS_MAX - 1].nofile_max = 1, "a byte in an unused caller");
}

static void
test_check_shows(void)
{
	REFUSED(r.show[0].path[0] = 'x', "a relative folder");
	REFUSED((memset(&r.show[0], 0, sizeof r.show[0]),
	    r.show[0].path[0] = '/'), "the root as folder");
	REFUSED(memcpy(r.show[0].path + 4, "/..", 4), "a way up");
	REFUSED(r.show[0].path[12] = 'x', "a byte behind the end");
	REFUSED(memset(&r.show[0], 'x', sizeof r.show[0]), "no end");
	REFUSED(r.show[BL_SHOWS_MAX - 1].path[175] = 1, "a byte in an unused folder");
}

#define USABLE(want, change, name) do { \
	struct bl_rules r = rules(); \
	change; \
	is(bl_rules_usable(&r), want, "usable: %s", name); \
} while (0)

/* What the helper asks of a file that root's compiler has written. */
static void
test_usable(void)
{
	struct bl_rules far = rules();
	struct bl_caller q;

	USABLE(0, (void)0, "sound");
	USABLE(-EINVAL, r.magic++, "magic");
	USABLE(-EINVAL, r.version++, "version");
	USABLE(-EINVAL, r.size++, "size");
	USABLE(-EINVAL, r.uid_base = 0, "root");
	USABLE(-EINVAL, r.uid_base = BL_UID_FIRST - 1, "first user number");
	USABLE(-EINVAL, r.uid_base = UINT32_MAX, "user number -1");
	USABLE(-EINVAL, r.uid_count = 0, "no user numbers");
	USABLE(-EINVAL, r.uid_count = UINT32_MAX, "-1 of them");
	USABLE(-EINVAL, r.ncallers = BL_CALLERS_MAX + 1, "callers");
	USABLE(-EINVAL, r.nshows = BL_SHOWS_MAX + 1, "folders");
	USABLE(-EINVAL, r.ngroups = BL_GROUPS_MAX + 1, "groups");
	far.caller[1].slot_first = 101;
	is(bl_rules_quota(&far, 1009, far.group, 1, &q), -EPERM,
	    "slots that lie outside are not given");
	far.caller[1].slot_first = UINT32_MAX;
	far.caller[1].slots = UINT32_MAX;
	far.caller[1].uid_hi = UINT32_MAX;
	is(bl_rules_quota(&far, UINT32_MAX, far.group, 1, &q), -EPERM,
	    "nor any whose number overflows");
}

static void
test_quota(void)
{
	const uint32_t in[] = { 4, 995 }, out[] = { 4, 996, 0 };
	struct bl_rules r = rules();
	struct bl_caller q;

	is(bl_rules_quota(&r, 0, NULL, 0, &q), -EPERM,
	    "root is no exception to the groups");
	is(bl_rules_quota(&r, 0, in, 2, &q), 0, "root in one of them");
	is(q.slot_first, 0, "its first slot");
	is(q.slots, 100, "how many");
	is(r.uid_base + q.slot_first, 100000, "the first one's user number");
	is(q.pids_max, 100, "its limits");
	is(bl_rules_quota(&r, 1009, in, 2, &q), 0, "the last caller");
	is(q.slot_first, 100 + 9 * 90, "its first slot");
	is(r.uid_base + q.slot_first, 100000 + 910, "that one's user number");
	is(q.slot_first + q.slots, 1000, "its last slot is the last");
	is(bl_rules_quota(&r, 1000, in, 2, &q), 0, "the first caller");
	is(q.slot_first, 100, "its first slot");
	is(bl_rules_quota(&r, 1000, out, 3, &q), -EPERM, "not in the group");
	is(q.slots, 0, "and nothing given");
	is(bl_rules_quota(&r, 1000, NULL, 0, &q), -EPERM, "in no group");
	is(bl_rules_quota(&r, 999, in, 2, &q), -EPERM, "one below");
	is(bl_rules_quota(&r, 1010, in, 2, &q), -EPERM, "one above");
	is(bl_rules_quota(&r, 1, in, 2, &q), -EPERM, "one above root");
	is(bl_rules_quota(&r, UINT32_MAX, in, 2, &q), -EPERM, "-1");
	r.ngroups = 0;
	is(bl_rules_quota(&r, 1000, NULL, 0, &q), 0, "no group listed");
	r.group[0] = 0;			/* what an unlisted one looks like */
	is(bl_rules_quota(&r, 1000, out, 3, &q), 0, "nor looked at");
}

#define APPLY(want, change, name) do { \
	struct bl_req_cell c; \
	uint32_t which = 99; \
	memset(&c, 0, sizeof c); \
	c.nplaces = 3; \
	change; \
	is(bl_rules_apply(&q, &c, now, &which), \
	    want == BL_LIMIT_NONE ? 0 : -EDQUOT, "apply: %s", name); \
	is(which, want, "apply: %s: which", name); \
} while (0)

static void
test_apply(void)
{
	const uint64_t now = 5000000000, wall = 1000 * UINT64_C(1000000);
	struct bl_rules r = rules();
	struct bl_caller q;
	struct bl_req_cell c;
	uint32_t which;

	is(bl_rules_quota(&r, 1000, r.group, 1, &q), 0, "a quota");
	memset(&c, 0, sizeof c);
	is(bl_rules_apply(&q, &c, now, &which), 0, "nothing asked");
	is(c.limits.memory, 1 << 30, "memory");
	is(c.limits.fsize, 1 << 28, "file size");
	is(c.limits.pids, 100, "processes");
	is(c.limits.nofile, 256, "descriptors");
	is(c.limits.cpu_ms, 0, "processor time: none");
	is(c.disk, 1 << 29, "disk");
	is(c.deadline_ns, now + wall, "deadline");
	c.limits.memory = 1;
	c.limits.pids = 2;
	c.deadline_ns = now + 1;
	is(bl_rules_apply(&q, &c, now, &which), 0, "less asked");
	is(c.limits.memory, 1, "memory stays");
	is(c.limits.pids, 2, "processes stay");
	is(c.deadline_ns, now + 1, "deadline stays");

}

static void
test_apply_refused(void)
{
	const uint64_t now = 5000000000, wall = 1000 * UINT64_C(1000000);
	struct bl_rules r = rules();
	struct bl_caller q;

	is(bl_rules_quota(&r, 1000, r.group, 1, &q), 0, "a quota");
	APPLY(BL_LIMIT_MEMORY, c.limits.memory = (1 << 30) + 1, "memory");
	APPLY(BL_LIMIT_DISK, c.disk = (1 << 29) + 1, "disk");
	APPLY(BL_LIMIT_DISK, c.limits.fsize = (1 << 28) + 1, "file size");
	APPLY(BL_LIMIT_PROCESSES, c.limits.pids = 101, "processes");
	APPLY(BL_LIMIT_START, c.limits.nofile = 257, "descriptors");
	APPLY(BL_LIMIT_TIME, c.deadline_ns = now + wall + 1, "deadline");
	APPLY(BL_LIMIT_TIME, c.deadline_ns = UINT64_MAX, "deadline -1");
	APPLY(BL_LIMIT_NONE, c.deadline_ns = now + wall, "all the time");
	APPLY(BL_LIMIT_NONE, c.deadline_ns = 1, "a deadline that is past");
	APPLY(BL_LIMIT_DISK, (c.place[0].size = c.place[1].size = 1 << 28,
	    c.place[2].size = 1), "folders together");
	APPLY(BL_LIMIT_DISK, (c.place[0].size = UINT64_MAX,
	    c.place[1].size = 2), "folders that overflow");
	APPLY(BL_LIMIT_NONE, (c.place[0].size = 1 << 28,
	    c.place[1].size = (1 << 28) - 1), "folders that just fit");
	APPLY(BL_LIMIT_DISK, (c.place[0].size = c.place[1].size = 1 << 28),
	    "folders that leave nothing for the root");
	APPLY(BL_LIMIT_DISK, (c.disk = 1 << 29, c.place[0].size = 1),
	    "a folder beside all there is");
}

static void
test_default(void)
{
	struct bl_caller q;

	is(bl_rules_check(&bl_rules_default), 0, "the built-in rules");
	is(bl_rules_usable(&bl_rules_default), 0, "are usable");
	is(bl_rules_quota(&bl_rules_default, 0, NULL, 0, &q), 0, "root");
	is(bl_rules_quota(&bl_rules_default, 1999, NULL, 0, &q), 0, "a user");
	is(bl_rules_quota(&bl_rules_default, 65534, NULL, 0, &q), -EPERM,
	    "nobody");
}

int
main(void)
{
	test_check();
	test_check_callers();
	test_check_shows();
	test_usable();
	test_quota();
	test_apply();
	test_apply_refused();
	test_default();
	return done();
}

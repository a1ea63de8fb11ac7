/* Control groups: what needs no control group to be seen. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../client/cells.h"
#include "tap.h"

static uint32_t
limit_of(uint64_t kills, uint64_t own, uint64_t refused, int status)
{
	struct cgroup_facts f = { .oom_kills = kills, .oom = own,
	    .refused = refused };
	struct bl_exit x = { .wait_status = status };

	cgroup_facts_of(&f, &x);
	return x.limit;
}

int
main(void)
{
	struct cgroups g = { .there = false };
	struct cgroup c = { .name = "" };
	struct bl_cell_spec s = { .role = BL_ROLE_ANSWER };
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct cgroup_facts f;
	struct bl_cell cell = { .owner = -1 };
	struct bl_exit x = { .cpu_ns = 5, .peak_bytes = 7,
	    .limit = BL_LIMIT_TIME, .wait_status = SIGKILL };

	is(limit_of(1, 1, 0, SIGKILL), BL_LIMIT_MEMORY, "killed for its memory");
	is(limit_of(1, 0, 0, SIGKILL), BL_LIMIT_NONE,
	    "killed for somebody else's limit");
	is(limit_of(0, 0, 0, SIGKILL), BL_LIMIT_NONE, "killed");
	is(limit_of(1, 1, 0, 0), BL_LIMIT_NONE, "a child of its was killed");
	is(limit_of(1, 1, 0, SIGTERM), BL_LIMIT_NONE, "another signal");
	is(limit_of(0, 0, 1, 1 << 8), BL_LIMIT_PROCESSES, "no more processes");
	is(limit_of(0, 0, 1, 0), BL_LIMIT_NONE, "it did without them");
	f = (struct cgroup_facts){ .oom_kills = 1, .oom = 1, .cpu_ns = 9,
	    .peak_bytes = 6 };
	cgroup_facts_of(&f, &x);
	is(x.limit, BL_LIMIT_TIME, "what cell init says comes first");
	is(x.cpu_ns, 9, "processor time of all");
	is(x.peak_bytes, 7, "the larger peak");

	/* what was never made is nothing to end: 0 is a descriptor like others */
	is(dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0), 0, "a descriptor 0");
	cgroup_end(&c);
	cgroup_leave(&c);
	cell_close(&cell);
	is(fcntl(0, F_GETFD), 0, "is left alone by a cell without a group");
	is(cgroup_make(&g, &s, &c, &e), 0, "nowhere to make one");
	is(cgroup_there(&c) ? 1 : 0, 0, "none is made");
	is(cgroup_populated(&c) ? 1 : 0, 0, "nobody is in it");
	cgroup_read(&c, &f);
	is(f.oom_kills + f.cpu_ns, 10, "what nobody counts stays as it was");
	return done();
}

/* Words for what the helper refuses: the kernel's own errno or none. */
#include <errno.h>

#include "../client/err.h"
#include "../policy/proto.h"
#include "tap.h"

static struct bl_err e;

static void
at(uint32_t step, uint32_t object, int err)
{
	e = (struct bl_err){ .kind = BL_KIND_NONE };
	is(err_at(&e, step, object, -err), -1, "step %u", step);
	is(e.err, err, "keeps the number");
}

int
main(void)
{
	static const struct { uint32_t step; int err; } ours[] = {
		{ BL_AT_NOT_ROOT, EPERM }, { BL_AT_OWN_FILE, EPERM },
		{ BL_AT_RULES_OPEN, EPERM }, { BL_AT_RULES_BAD, EINVAL },
		{ BL_AT_RULES_CALLER, EPERM }, { BL_AT_LOCKS, EPERM },
		{ BL_AT_RESTRICTED, EPERM }, { BL_AT_LIMITS, EDQUOT },
		{ BL_AT_SLOT, EUSERS }, { BL_AT_UNKNOWN, ENOSYS },
		{ BL_AT_STREAM, EINVAL }, { BL_AT_LAUNCH, ECHILD }
	};
	unsigned bare = 0;

	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
		at(ours[i].step, 0, ours[i].err);
		is(strstr(e.message, strerror(ours[i].err)) == NULL, 1,
		    "and not the kernel's text for it");
	}
	at(BL_AT_LOCKS, 0, ENOSPC);
	is(strstr(e.message, strerror(ENOSPC)) != NULL, 1, "the kernel's own");
	for (uint32_t i = 0; i < BL_AT_MAX; i++)
		for (uint32_t n = 0; n < 100; n += 33) {
			e = (struct bl_err){ .kind = BL_KIND_NONE };
			(void)err_at(&e, i, n, -EIO);
			bare += e.object[0] >= '0' && e.object[0] <= '9' &&
			    strchr(e.object, ' ') == NULL;
		}
	is(bare, 0, "no object is a bare number");
	at(BL_AT_LIMITS, BL_LIMIT_MEMORY, EDQUOT);
	is_str(e.object, "memory", "a limit by its name");
	ok(strstr(e.hint, "-m") != NULL, ==, 1, "and by its option");
	at(BL_AT_SLOT, 1, EUSERS);
	is_str(e.object, "1 cell", "one");
	at(BL_AT_SLOT, 32, EUSERS);
	is_str(e.object, "32 cells", "several");
	at(BL_AT_CHDIR, 1, ENOENT);
	is_str(e.object, "", "nothing, where there is no word");
	return done();
}

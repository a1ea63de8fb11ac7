/* Becoming a user for good. */
#include <grp.h>
#include <unistd.h>

#include "ops.h"

/* Gives up root for good.  Returns no error: there is no half-way state. */
void
ids_become(uid_t uid, gid_t gid)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (uid < BL_UID_FIRST || uid > BL_UID_LAST ||
	    gid < BL_UID_FIRST || gid > BL_UID_LAST)
		die(BL_AT_BECOME);
	if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
	    setresuid(uid, uid, uid) != 0)
		die(BL_AT_BECOME);
	if (getresuid(&r, &e, &s) != 0 || r != uid || e != uid || s != uid ||
	    getresgid(&rg, &eg, &sg) != 0 || rg != gid || eg != gid ||
	    sg != gid || getgroups(0, NULL) != 0 || setresuid(0, 0, 0) == 0 ||
	    setresgid(0, 0, 0) == 0)
		die(BL_AT_BECOME);
}

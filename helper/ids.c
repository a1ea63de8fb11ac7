/* Becoming a user for good. */
#include "ops.h"
#include "sys.h"

/* Gives up root for good.  Returns no error: there is no half-way state. */
void
ids_become(uid_t uid, gid_t gid)
{
	uid_t u[3];
	gid_t g[3];

	if (uid < BL_UID_FIRST || uid > BL_UID_LAST || gid != uid)
		die(BL_AT_BECOME);
	if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
	    setresuid(uid, uid, uid) != 0)
		die(BL_AT_BECOME);
	if (getresuid(&u[0], &u[1], &u[2]) != 0 ||
	    getresgid(&g[0], &g[1], &g[2]) != 0 || getgroups(0, NULL) != 0)
		die(BL_AT_BECOME);
	if (u[0] != uid || u[1] != uid || u[2] != uid ||
	    g[0] != gid || g[1] != gid || g[2] != gid)
		die(BL_AT_BECOME);
	if (setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0)
		die(BL_AT_BECOME);
}

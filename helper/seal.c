/* Capabilities: what the helper keeps, and what cell init keeps of that. */
#include <sys/capability.h>

#include "ops.h"
#include "sys.h"

/*
 * SETUID, SETGID: become a role; KILL: end what became one; SYS_ADMIN:
 * namespaces and mounts; NET_ADMIN: a cell's network; MKNOD: /dev of a cell; CHOWN:
 * private folders given to the slot; SETPCAP: empty the bounding set.
 */
static const cap_value_t helper_caps[] = { CAP_SETUID, CAP_SETGID, CAP_KILL,
    CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_MKNOD, CAP_CHOWN, CAP_SETPCAP };
enum { NHELPER = COUNT(helper_caps), NINIT = 3 };	/* init keeps three */

static cap_t init_caps;		/* made before the seal: no heap after it */

static cap_t
seal_set(int n)
{
	cap_t c = cap_init();	/* every set empty */

	if (c == NULL ||
	    cap_set_flag(c, CAP_PERMITTED, n, helper_caps, CAP_SET) != 0 ||
	    cap_set_flag(c, CAP_EFFECTIVE, n, helper_caps, CAP_SET) != 0)
		refuse(BL_AT_SEAL, 0, errno);
	return c;
}

void
seal_helper(void)
{
	cap_t have = cap_get_proc();
	cap_flag_value_t v = CAP_CLEAR;
	cap_value_t cap;
	int i;

	init_caps = seal_set(NINIT);
	for (i = 0; i < NHELPER; i++)
		if (have == NULL || cap_get_flag(have, helper_caps[i],
		    CAP_PERMITTED, &v) != 0 || v != CAP_SET)
			refuse(BL_AT_RESTRICTED, (uint32_t)helper_caps[i], EPERM);
	for (cap = 0; cap <= 40 || cap_get_bound(cap) >= 0; cap++) {
		for (i = 0; i < NHELPER && helper_caps[i] != cap; i++)
			;
		if (i == NHELPER && cap_drop_bound(cap) != 0)
			refuse(BL_AT_SEAL, (uint32_t)cap, errno);
	}
	if (cap_set_proc(seal_set(NHELPER)) != 0)	/* ambient follows */
		refuse(BL_AT_SEAL, 0, errno);
}

/* In cell init: SETUID, SETGID, KILL, and nothing left to gain.  0, -errno. */
int
seal_init(unused struct cell *c)
{
	int i;

	for (i = 0; i < NHELPER; i++)
		if (cap_drop_bound(helper_caps[i]) != 0)
			return -errno;
	return sys(cap_set_proc(init_caps));
}

/* Who am I, by everything the kernel says. */
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bit i of set: 0 bounding, 1 ambient. */
static unsigned long long
bits(int ambient)
{
	unsigned long long v = 0;
	int i, r;

	for (i = 0; i < 64; i++) {
		r = ambient ? prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i,
		    0, 0) : prctl(PR_CAPBSET_READ, i);
		if (r > 0)
			v |= 1ull << i;
	}
	return v;
}

int
main(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];
	uid_t u[3];
	gid_t g[3], list[256];
	int i, n = getgroups(256, list);

	memset(d, 0, sizeof d);
	if (getresuid(u, u + 1, u + 2) != 0 ||
	    getresgid(g, g + 1, g + 2) != 0 || syscall(SYS_capget, &h, d) != 0)
		return 1;
	printf("uid %u,%u,%u,%d\n", u[0], u[1], u[2], setfsuid(-1u));
	printf("gid %u,%u,%u,%d\n", g[0], g[1], g[2], setfsgid(-1u));
	printf("groups %d", n);
	for (i = 0; i < n; i++)
		printf(" %u", list[i]);
	printf("\ncaps %llx,%llx,%llx,%llx,%llx\n",
	    (unsigned long long)d[1].effective << 32 | d[0].effective,
	    (unsigned long long)d[1].permitted << 32 | d[0].permitted,
	    (unsigned long long)d[1].inheritable << 32 | d[0].inheritable,
	    bits(0), bits(1));
	printf("no_new_privs %d\nsecure %lu\nsecurebits %d\n",
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), getauxval(AT_SECURE),
	    prctl(PR_GET_SECUREBITS));
	return 0;
}

/* Loads a role's filter and becomes a program: filter_exec [-r ROLE] CMD... */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../policy/proto.h"
#if defined(__x86_64__)
#include "filters-x86_64.h"
#elif defined(__aarch64__)
#include "filters-aarch64.h"
#endif

struct program {			/* struct sock_fprog, but const */
	unsigned short len;
	const struct sock_filter *filter;
};

int
main(int argc, char **argv)
{
	struct program p;
	int role = BL_ROLE_ANSWER, first = 1;

	if (argc > 3 && strcmp(argv[1], "-r") == 0) {
		role = argv[2][0] - '0';
		first = 3;
	}
	if (argc <= first || role <= BL_ROLE_NONE || role >= BL_ROLE_MAX) {
		(void)fprintf(stderr, "usage: filter_exec [-r 1-4] CMD...\n");
		return 64;
	}
	p.len = bl_filters[role].len;
	p.filter = bl_filters[role].prog;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0) {
		perror("filter_exec: seccomp");
		return 125;
	}
	(void)execvp(argv[first], argv + first);
	perror(argv[first]);
	return errno == ENOENT ? 127 : 126;
}

/*
 * A machine that cannot: deny [-n N] CALL ERRNO -- CMD [ARG...]
 *
 * Runs CMD where the system call CALL, made by a program that is called
 * bailiff-helper, fails with ERRNO (a name or a number; 0: it claims success
 * and does nothing).  -n N: the N-th such call alone.  How many there were is
 * written to descriptor 9, if it is open.  Needs root, for no_new_privs is not
 * set: a set-user-id helper is to work as ever.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct { const char *name; int no; } errnos[] = {
	{ "ENOSYS", ENOSYS }, { "EPERM", EPERM }, { "ENOSPC", ENOSPC },
	{ "EAGAIN", EAGAIN }, { "EINVAL", EINVAL }, { "ENOENT", ENOENT },
	{ "EINTR", EINTR }, { "ENOMEM", ENOMEM }, { "EMFILE", EMFILE },
	{ "EACCES", EACCES }, { "EBUSY", EBUSY }, { "EIO", EIO },
};

static int
fail(const char *what)
{
	(void)fprintf(stderr, "deny: %s: %s\n", what, strerror(errno));
	return 99;
}

static int
errno_of(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof errnos / sizeof errnos[0]; i++)
		if (strcmp(errnos[i].name, word) == 0)
			return errnos[i].no;
	return (int)strtol(word, NULL, 10);
}

/* 1: pid is a process of the helper's, before its execve of anything else. */
static int
of_helper(pid_t pid)
{
	char path[64], comm[32] = "";
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fgets(comm, sizeof comm, f) == NULL)
		comm[0] = '\0';
	(void)fclose(f);
	return strncmp(comm, "bailiff-helper", 14) == 0;
}

/* A filter that asks fd's reader about every one of these calls; or -1. */
static int
filter(int call)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);

	if (c == NULL ||
	    seccomp_attr_set(c, SCMP_FLTATR_CTL_NNP, 0) != 0 ||
	    seccomp_rule_add(c, SCMP_ACT_NOTIFY, call, 0) != 0 ||
	    seccomp_load(c) != 0)
		return -1;
	return seccomp_notify_fd(c);
}

/*
 * Answers until everything under the filter has ended, and been reaped: before
 * Linux 6.11 a filter is in use until then.
 */
static long
serve(int fd, int err, long which, pid_t child, int *st)
{
	struct pollfd p[2] = { { fd, POLLIN, 0 },
	    { (int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0 } };
	struct seccomp_notif *q;
	struct seccomp_notif_resp *a;
	long count = 0;

	if (p[1].fd < 0 || seccomp_notify_alloc(&q, &a) != 0)
		return -1;
	while (poll(p, 2, -1) >= 0 || errno == EINTR) {
		if (p[1].revents != 0) {
			if (waitpid(child, st, 0) != child)
				return -1;
			p[1].fd = -1;
			continue;
		}
		if (p[0].revents == 0)
			continue;
		if ((p[0].revents & POLLIN) == 0)
			break;
		memset(q, 0, sizeof *q);
		if (seccomp_notify_receive(fd, q) != 0)
			continue;		/* it was killed meanwhile */
		memset(a, 0, sizeof *a);
		a->id = q->id;
		a->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		if (of_helper((pid_t)q->pid)) {
			count++;
			if (which == 0 || which == count) {
				a->flags = 0;
				a->error = -err;
			}
		}
		(void)seccomp_notify_respond(fd, a);
	}
	return count;
}

int
main(int argc, char **argv)
{
	long which = 0, count;
	int opt, call, err, fd, st = 0;
	volatile int *told;
	pid_t pid;

	while ((opt = getopt(argc, argv, "+n:")) != -1) {
		if (opt != 'n')
			return 64;
		which = strtol(optarg, NULL, 10);
	}
	if (argc - optind < 4 || strcmp(argv[optind + 2], "--") != 0)
		return 64;
	call = seccomp_syscall_resolve_name(argv[optind]);
	if (call == __NR_SCMP_ERROR)
		return fail(argv[optind]);
	err = errno_of(argv[optind + 1]);
	(void)fcntl(9, F_SETFD, FD_CLOEXEC);	/* if it is there */
	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return fail("mmap");
	/*
	 * As fork(2), but with one table of descriptors, until its execve: it
	 * could not send us the filter's without a call that may be ours.
	 */
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		return fail("fork");
	if (pid == 0) {
		fd = filter(call);
		*told = fd > 0 ? fd : -1;
		if (fd <= 0)
			_exit(fail("filter"));
		(void)execvp(argv[optind + 3], argv + optind + 3);
		_exit(98);
	}
	while ((fd = *told) == 0 && waitpid(pid, &st, WNOHANG) == 0)
		(void)sched_yield();
	count = fd <= 0 ? -1 : serve(fd, err, which, pid, &st);
	if (fcntl(9, F_GETFD) >= 0)
		(void)dprintf(9, "%ld\n", count);
	if (waitpid(pid, &st, 0) != pid && errno != ECHILD)
		return fail("waitpid");
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

/*
 * One system call of one run fails:
 * inject -u UID -g GID -x HELPER -o FILE [-l SECONDS] [-i WHO:CALL:N:ERRNO] [-t]
 *     -- CMD
 *
 * Runs CMD as that user and group, traced by root, so that a set-user-id HELPER
 * stays one.  Its processes are told apart: "helper" is from the execve of
 * HELPER on, "init.I" the I-th child of that, "launch.I.L" the L-th child of
 * init I, until it is another program, which is left alone; a second helper is
 * "helper2" and its children "init2.I".  -i: the N-th call CALL of process WHO
 * is not made, and returns -ERRNO (a number).  FILE says, one a line: how CMD
 * ended, or that it did not within SECONDS; what was still there so long after
 * its end (afterwards nothing is); whether the call came; with -t, every call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind { CLIENT, HELPER, INIT, LAUNCH };
enum { PROCS = 4096, CALLS = 512, GRACE = 3 };

struct proc {
	pid_t pid;		/* 0: a free place */
	enum kind kind;
	char name[32];
	unsigned children, calls[CALLS];
	int pending;		/* the errno of the call that it is in, or 0 */
	int early;		/* stopped before its parent said so */
};

static struct proc procs[PROCS];
static struct stat helper;
static struct { char who[32]; int call, err; unsigned n; } inj;
static unsigned helpers;
static int tracing, hits;
static FILE *out;
static const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
    PTRACE_O_EXITKILL;

static _Noreturn void
fail(const char *what)
{
	(void)fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(99);
}

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct proc *
find(pid_t pid)
{
	struct proc *p;

	for (p = procs; p < procs + PROCS; p++)
		if (p->pid == pid)
			return p;
	return NULL;
}

static struct proc *
add(pid_t pid)
{
	struct proc *p = find(pid);

	if (p == NULL && (p = find(0)) != NULL)
		*p = (struct proc){ .pid = pid, .name = "client" };
	if (p == NULL)
		fail("too many processes");
	return p;
}

static void
go_on(struct proc *p, int sig)
{
	int how = p->kind == CLIENT ? PTRACE_CONT : PTRACE_SYSCALL;

	(void)ptrace(how, p->pid, NULL, (void *)(uintptr_t)(unsigned)sig);
}

static void
leave_alone(struct proc *p)
{
	(void)ptrace(PTRACE_DETACH, p->pid, NULL, NULL);
	p->pid = 0;
}

static void
born(struct proc *parent)
{
	unsigned long pid = 0;
	struct proc *p;

	if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) != 0)
		return;			/* killed meanwhile */
	p = add((pid_t)pid);
	p->kind = parent->kind == HELPER ? INIT :
	    parent->kind == INIT ? LAUNCH : parent->kind;
	parent->children++;
	if (p->kind == INIT)
		(void)snprintf(p->name, sizeof p->name, "init%s.%u",
		    parent->name + strlen("helper"), parent->children);
	else if (p->kind == LAUNCH)
		(void)snprintf(p->name, sizeof p->name, "launch%.20s.%u",
		    parent->name + strlen("init"), parent->children);
	if (p->early) {
		p->early = 0;
		go_on(p, 0);
	}
}

/* Another program: the helper; or of a launch, whose part ends here. */
static void
execed(struct proc *p)
{
	char path[64];
	struct stat st;

	if (p->kind != CLIENT) {
		leave_alone(p);
		return;
	}
	(void)snprintf(path, sizeof path, "/proc/%d/exe", (int)p->pid);
	if (stat(path, &st) == 0 && st.st_dev == helper.st_dev &&
	    st.st_ino == helper.st_ino) {
		p->kind = HELPER;
		if (++helpers == 1)
			(void)snprintf(p->name, sizeof p->name, "helper");
		else
			(void)snprintf(p->name, sizeof p->name, "helper%u",
			    helpers);
	}
	go_on(p, 0);
}

/* x86-64: the call becomes one that always is allowed and changes nothing. */
static void
syscall_stop(struct proc *p)
{
	struct __ptrace_syscall_info i;
	struct user_regs_struct r;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, p->pid, (void *)sizeof i, &i) <= 0)
		return;
	if (i.op == PTRACE_SYSCALL_INFO_EXIT && p->pending != 0) {
		if (ptrace(PTRACE_GETREGS, p->pid, NULL, &r) == 0) {
			r.rax = (unsigned long long)-(long long)p->pending;
			(void)ptrace(PTRACE_SETREGS, p->pid, NULL, &r);
		}
		p->pending = 0;
	}
	if (i.op != PTRACE_SYSCALL_INFO_ENTRY || i.entry.nr >= CALLS)
		return;
	p->calls[i.entry.nr]++;
	if (tracing) {
		char *name = seccomp_syscall_resolve_num_arch(
		    SCMP_ARCH_NATIVE, (int)i.entry.nr);

		(void)fprintf(out, "call %s %s %llx %llx %llx\n", p->name,
		    name == NULL ? "unknown" : name,
		    (unsigned long long)i.entry.args[0],
		    (unsigned long long)i.entry.args[1],
		    (unsigned long long)i.entry.args[2]);
		free(name);
	}
	if (inj.err == 0 || (int)i.entry.nr != inj.call ||
	    p->calls[i.entry.nr] != inj.n || strcmp(p->name, inj.who) != 0)
		return;
	if (ptrace(PTRACE_GETREGS, p->pid, NULL, &r) != 0)
		return;
	r.orig_rax = SYS_getpid;
	if (ptrace(PTRACE_SETREGS, p->pid, NULL, &r) == 0) {
		p->pending = inj.err;
		hits++;
	}
}

static void
stopped(pid_t pid, int st)
{
	int sig = WSTOPSIG(st), event = st >> 16;
	struct proc *p = find(pid);

	if (p == NULL) {		/* a child, before its parent's event */
		p = add(pid);
		p->early = 1;
		return;
	}
	if (event == PTRACE_EVENT_EXEC) {
		execed(p);
		return;
	}
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	    event == PTRACE_EVENT_CLONE)
		born(p);
	else if (event == PTRACE_EVENT_STOP && (sig == SIGSTOP ||
	    sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)) {
		(void)ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return;
	} else if (event == 0 && sig == (SIGTRAP | 0x80))
		syscall_stop(p);
	else if (event == 0) {
		go_on(p, sig);
		return;
	}
	go_on(p, 0);
}

/* What has not ended by itself is told, and ended. */
static void
end_rest(const char *why)
{
	struct proc *p;

	for (p = procs; p < procs + PROCS; p++)
		if (p->pid != 0) {
			(void)fprintf(out, "%s %s %d\n", why, p->name,
			    (int)p->pid);
			(void)kill(p->pid, SIGKILL);
		}
}

static void
watch(pid_t cmd, double seconds)
{
	double start = now(), limit = start + seconds;
	int st, ended = 0, told = 0;
	struct proc *p;
	pid_t pid;

	while ((pid = waitpid(-1, &st, __WALL)) > 0 || errno == EINTR) {
		if (pid > 0 && WIFSTOPPED(st))
			stopped(pid, st);
		else if (pid > 0 && (p = find(pid)) != NULL)
			p->pid = 0;
		if (pid > 0 && pid == cmd && !WIFSTOPPED(st)) {
			(void)fprintf(out, "end %d\nms %.0f\n",
			    WIFEXITED(st) ? WEXITSTATUS(st) :
			    128 + WTERMSIG(st), (now() - start) * 1000);
			limit = now() + GRACE * seconds / 15;
			ended = 1;
		}
		if (!told && now() > limit) {
			end_rest(ended ? "left" : "hang");
			told = 1;
		}
	}
}

static _Noreturn void
begin(int fd, uid_t uid, gid_t user, gid_t gid, char **argv)
{
	char c;

	if (read(fd, &c, 1) != 1 || setgroups(1, &gid) != 0 ||
	    setresgid(user, user, user) != 0 || setresuid(uid, uid, uid) != 0)
		fail("set ids");
	(void)execvp(argv[0], argv);
	fail(argv[0]);
}

static void
tick(int sig)
{
	(void)sig;
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = tick };
	const struct itimerval often = { { 0, 100000 }, { 0, 100000 } };
	uid_t uid = 0;
	gid_t gid = 0;
	double seconds = 15;
	int opt, p[2];
	char call[32] = "";
	pid_t pid;

	while ((opt = getopt(argc, argv, "+u:g:x:o:l:i:t")) != -1)
		switch (opt) {
		case 'u':
			uid = (uid_t)strtoul(optarg, NULL, 10);
			break;
		case 'g':
			gid = (gid_t)strtoul(optarg, NULL, 10);
			break;
		case 'x':
			if (stat(optarg, &helper) != 0)
				fail(optarg);
			break;
		case 'o':
			if ((out = fopen(optarg, "we")) == NULL)
				fail(optarg);
			break;
		case 'l':
			seconds = strtod(optarg, NULL);
			break;
		case 'i':
			if (sscanf(optarg, "%31[^:]:%31[^:]:%u:%d", inj.who,
			    call, &inj.n, &inj.err) != 4)
				return 64;
			inj.call = seccomp_syscall_resolve_name(call);
			if (inj.call < 0)
				return 64;
			break;
		case 't':
			tracing = 1;
			break;
		default:
			return 64;
		}
	if (argc - optind < 1 || uid == 0 || out == NULL || helper.st_ino == 0)
		return 64;
	if (pipe2(p, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		fail("fork");
	if (pid == 0)
		begin(p[0], uid, uid, gid, argv + optind);
	(void)add(pid);
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) != 0)
		fail("ptrace");
	if (write(p[1], "", 1) != 1 || sigaction(SIGALRM, &sa, NULL) != 0 ||
	    setitimer(ITIMER_REAL, &often, NULL) != 0)
		fail("start");
	watch(pid, seconds);
	(void)fprintf(out, "hits %d\n", hits);
	return fclose(out) == 0 ? 0 : 99;
}

/*
 * The kernel's side doors, each by every entry there is: the usual one; with
 * bits above the call's number and above each int argument; by x32's numbers;
 * by the 32-bit entry, and by the same from a 32-bit code segment.  For each
 * call and way a line "NAME.WAY RESULT".  A call runs in a process of its own,
 * with arguments that do no harm even where it is allowed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIGH (1L << 32)
#define NONE (-1)

enum { NATIVE, NUMBER, ARGS, X32, INT80, FAR, NWAYS };
static const char *const ways[] = { "native", "number", "args", "x32",
	"int80", "far" };

struct door {
	const char *name;
	long	 nr, nr32;		/* NONE: has none */
	long	 a[6];
	unsigned ints;			/* bit i: a[i] is an int */
};

/* Below 4 GiB, for the 32-bit entries. */
static struct low {
	uint64_t saved;			/* the 64-bit stack */
	unsigned char code[32];
	char	 slash[8], tmp[8], type[8], empty[8];
	uint64_t zero[64], clone[11], handle[4];
	uint64_t stack[512];
} *low;

/* 32-bit: int $0x80; lret.  64-bit: mov saved, %rsp; ret. */
static void
low_make(void)
{
	static const unsigned char code[] = { 0xcd, 0x80, 0xcb,
	    0x48, 0x8b, 0x24, 0x25, 0, 0, 0, 0, 0xc3 };
	uint32_t at;

	low = mmap(NULL, sizeof *low, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED)
		exit(1);
	at = (uint32_t)(uintptr_t)&low->saved;
	memcpy(low->code, code, sizeof code);
	memcpy(low->code + 7, &at, sizeof at);
	memcpy(low->slash, "/", 2);
	memcpy(low->tmp, "/tmp", 5);
	memcpy(low->type, "tmpfs", 6);
}

static long
by_int80(long nr, const long *args)
{
	register const long *a __asm__("r12") = args;
	long r;

	__asm__ volatile (
	    "sub $128, %%rsp\n\t"		/* the red zone */
	    "push %%rbp\n\tpush %%rbx\n\t"
	    "mov 40(%[a]), %%rbp\n\tmov 32(%[a]), %%rdi\n\t"
	    "mov 24(%[a]), %%rsi\n\tmov 0(%[a]), %%rbx\n\t"
	    "mov 8(%[a]), %%rcx\n\tmov 16(%[a]), %%rdx\n\t"
	    "int $0x80\n\t"
	    "pop %%rbx\n\tpop %%rbp\n\tadd $128, %%rsp"
	    : "=a" (r) : "a" (nr), [a] "r" (a)
	    : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
	    "memory", "cc");
	return (int)r;
}

static long
by_far(long nr, const long *args)
{
	register const long *a __asm__("r12") = args;
	register uint64_t *top __asm__("r13") = &low->stack[500];
	register uint64_t *saved __asm__("r14") = &low->saved;
	uint32_t back[2] = { (uint32_t)(uintptr_t)(low->code + 3), 0x33 };
	long r;

	top[0] = (uintptr_t)low->code;
	top[1] = 0x23;
	memcpy(&top[2], back, sizeof back);
	__asm__ volatile (
	    "sub $128, %%rsp\n\t"		/* the red zone */
	    "push %%rbp\n\tpush %%rbx\n\t"
	    "lea 1f(%%rip), %%r11\n\tpush %%r11\n\t"
	    "mov %%rsp, (%[saved])\n\tmov %[top], %%rsp\n\t"
	    "mov 40(%[a]), %%rbp\n\tmov 32(%[a]), %%rdi\n\t"
	    "mov 24(%[a]), %%rsi\n\tmov 0(%[a]), %%rbx\n\t"
	    "mov 8(%[a]), %%rcx\n\tmov 16(%[a]), %%rdx\n\t"
	    "lretq\n\t"
	    "1: pop %%rbx\n\tpop %%rbp\n\tadd $128, %%rsp"
	    : "=a" (r) : "a" (nr), [a] "r" (a), [top] "r" (top),
	    [saved] "r" (saved)
	    : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
	    "memory", "cc");
	return (int)r;
}

static long
by(int way, const struct door *d)
{
	long a[6], nr = d->nr, r;
	int i;

	for (i = 0; i < 6; i++)
		a[i] = d->a[i] | (way == ARGS && d->ints & 1u << i ?
		    HIGH << i : 0);
	if (way == INT80 || way == FAR)
		return way == FAR ? by_far(d->nr32, a) : by_int80(d->nr32, a);
	if (way == NUMBER)
		nr |= HIGH | HIGH << 20;
	else if (way == X32)
		nr |= 0x40000000;
	r = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	return r < 0 ? -errno : r;
}

static void
try(const struct door *d, int way)
{
	int p[2], st = 0;
	long r = 0;
	pid_t pid;

	if (((way == INT80 || way == FAR) && d->nr32 == NONE) ||
	    (way == ARGS && d->ints == 0))
		return;
	if (pipe(p) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		pid_t me = getpid();

		(void)alarm(5);
		(void)setsid();			/* no terminal to hang up */
		r = by(way, d);
		if (getpid() != me || syscall(SYS_getppid) == me)
			_exit(0);		/* a clone */
		_exit(write(p[1], &r, sizeof r) != sizeof r);
	}
	(void)close(p[1]);
	printf("%s.%s ", d->name, ways[way]);
	if (read(p[0], &r, sizeof r) == sizeof r)
		printf("%s\n", r >= 0 ? "ok" : strerrorname_np((int)-r));
	else if (waitpid(pid, &st, 0) == pid && WIFSIGNALED(st))
		printf("SIG%s\n", sigabbrev_np(WTERMSIG(st)));
	else
		printf("end\n");
	(void)close(p[0]);
	while (wait(NULL) > 0)
		;
	(void)fflush(stdout);
}

#define L(p) ((long)(uintptr_t)(p))

int
main(void)
{
	low_make();
	long z = L(low->zero), s = L(low->slash), t = L(low->tmp),
	    type = L(low->type), cl = L(low->clone), none = L(low->empty);
	int ns = open("/proc/self/ns/uts", O_RDONLY);
	const struct door doors[] = {
	/* controls: these are nobody's business */
	{ "getpid", SYS_getpid, 20, { 0 }, 0 },
	{ "getuid", SYS_getuid, 199, { 0 }, 0 },
	/* namespaces, by each flag and call */
#define UNSHARE(n, f) { "unshare_" n, SYS_unshare, 310, { f }, 1 }
	UNSHARE("user", CLONE_NEWUSER), UNSHARE("mount", CLONE_NEWNS),
	UNSHARE("net", CLONE_NEWNET), UNSHARE("pid", CLONE_NEWPID),
	UNSHARE("ipc", CLONE_NEWIPC), UNSHARE("uts", CLONE_NEWUTS),
	UNSHARE("cgroup", CLONE_NEWCGROUP), UNSHARE("time", 0x80),
	UNSHARE("user_fs", CLONE_NEWUSER | CLONE_FS | CLONE_FILES),
	UNSHARE("all", 0x7e020080),
#define CLONE(n, f) { "clone_" n, SYS_clone, 120, { (f) | SIGCHLD }, 1 }
	CLONE("user", CLONE_NEWUSER), CLONE("mount", CLONE_NEWNS),
	CLONE("net", CLONE_NEWNET), CLONE("pid", CLONE_NEWPID),
	CLONE("ipc", CLONE_NEWIPC), CLONE("uts", CLONE_NEWUTS),
	CLONE("cgroup", CLONE_NEWCGROUP),
	CLONE("user_net", CLONE_NEWUSER | CLONE_NEWNET),
	CLONE("vfork", CLONE_NEWUSER | CLONE_VFORK),
	{ "clone3_user", 435, 435, { cl, 64 }, 0 },
	{ "clone3_long", 435, 435, { cl, 88 }, 0 },
	{ "setns", SYS_setns, 346, { ns, 0 }, 3 },
	{ "setns_type", SYS_setns, 346, { ns, CLONE_NEWUTS }, 3 },
	/* mounts, old and new */
	{ "mount", SYS_mount, 21, { none, t, type, 0, 0 }, 0 },
	{ "mount_bind", SYS_mount, 21, { s, t, 0, 4096, 0 }, 0 },
	{ "umount2", SYS_umount2, 52, { t, 2 }, 2 },
	{ "umount", SYS_umount2, 22, { t, 0 }, 2 },
	{ "pivot_root", SYS_pivot_root, 217, { s, s }, 0 },
	{ "chroot", SYS_chroot, 61, { t }, 0 },
	{ "open_tree", 428, 428, { AT_FDCWD, s, 1 }, 4 },
	{ "move_mount", 429, 429, { AT_FDCWD, s, AT_FDCWD, t, 0 }, 16 },
	{ "fsopen", 430, 430, { type, 0 }, 2 },
	{ "fsconfig", 431, 431, { ns, 6, 0, 0, 0 }, 3 },
	{ "fsmount", 432, 432, { ns, 0, 0 }, 7 },
	{ "fspick", 433, 433, { AT_FDCWD, s, 0 }, 4 },
	{ "mount_setattr", 442, 442, { AT_FDCWD, s, 0, z, 32 }, 4 },
	{ "statmount", 457, 457, { z, z, 0, 0 }, 8 },
	{ "listmount", 458, 458, { z, z, 0, 0 }, 8 },
	{ "open_tree_attr", 467, 467, { AT_FDCWD, s, 1, z, 32 }, 4 },
	/* keys; what does calls without an entry; wide and deep ones */
	{ "io_uring_setup", 425, 425, { 1, z }, 1 },
	{ "io_uring_enter", 426, 426, { ns, 0, 0, 0, 0, 0 }, 1 },
	{ "io_uring_register", 427, 427, { ns, 0, 0, 0 }, 1 },
	{ "keyctl", SYS_keyctl, 288, { 0, -3, 0 }, 1 },
	{ "keyctl_join", SYS_keyctl, 288, { 1, 0 }, 1 },
	{ "keyctl_link", SYS_keyctl, 288, { 8, -4, -3 }, 1 },
	{ "add_key", SYS_add_key, 286, { type, type, z, 1, -2 }, 0 },
	{ "request_key", SYS_request_key, 287, { type, type, 0, 0 }, 0 },
	{ "perf_event_open", SYS_perf_event_open, 336, { z, 0, -1, -1, 0 },
	    0 },
	{ "bpf_map", SYS_bpf, 357, { 0, z, 48 }, 1 },
	{ "bpf_load", SYS_bpf, 357, { 5, z, 48 }, 1 },
	{ "userfaultfd", SYS_userfaultfd, 374, { O_CLOEXEC }, 1 },
	{ "userfaultfd_user", SYS_userfaultfd, 374, { 1 }, 1 },
	/* into other processes */
	{ "ptrace_me", SYS_ptrace, 26, { 0, 0, 0, 0 }, 0 },
	{ "ptrace_attach", SYS_ptrace, 26, { 16, 0x7ffffff0, 0, 0 }, 2 },
	{ "ptrace_seize", SYS_ptrace, 26, { 0x4206, 0x7ffffff0, 0, 0 }, 2 },
	{ "process_vm_readv", SYS_process_vm_readv, 347,
	    { getpid(), z, 0, z, 0, 0 }, 1 },
	{ "process_vm_writev", SYS_process_vm_writev, 348,
	    { getpid(), z, 0, z, 0, 0 }, 1 },
	{ "pidfd_getfd", 438, 438, { ns, 0, 0 }, 7 },
	{ "process_madvise", 440, 440, { ns, z, 0, 0, 0 }, 1 },
	{ "kcmp", SYS_kcmp, 349, { getpid(), getpid(), 0, 0, 0 }, 7 },
	{ "move_pages", SYS_move_pages, 317, { 0, 0, 0, 0, 0, 0 }, 1 },
	{ "migrate_pages", SYS_migrate_pages, 294, { 0, 0, 0, 0 }, 1 },
	/* files by number, and what watches or counts them */
	{ "open_by_handle_at", SYS_open_by_handle_at, 342,
	    { AT_FDCWD, L(low->handle), 0 }, 4 },
	{ "fanotify_init", SYS_fanotify_init, 338, { 0, 0 }, 3 },
	{ "quotactl", SYS_quotactl, 131, { 0x80000700, z, 0, z }, 1 },
	{ "quotactl_fd", 443, 443, { ns, 0x80000700, 0, z }, 3 },
	{ "file_setattr", 469, 469, { AT_FDCWD, s, z, 24, 0 }, 16 },
	/* the machine: with arguments that each of them refuses */
	{ "kexec_load", SYS_kexec_load, 283, { 0, 1000, z, 0 }, 0 },
	{ "kexec_file_load", SYS_kexec_file_load, NONE,
	    { -1, -1, 0, z, 0x80 }, 3 },
	{ "init_module", SYS_init_module, 128, { z, 1, z }, 0 },
	{ "finit_module", SYS_finit_module, 350, { -1, z, 0 }, 1 },
	{ "delete_module", SYS_delete_module, 129, { none, 0 }, 2 },
	{ "acct", SYS_acct, 51, { s }, 0 },
	{ "swapon", SYS_swapon, 87, { s, 0 }, 2 },
	{ "swapoff", SYS_swapoff, 115, { s }, 0 },
	{ "reboot", SYS_reboot, 88, { 1, 2, 3, 0 }, 7 },
	{ "syslog", SYS_syslog, 103, { 10, 0, 0 }, 1 },
	{ "vhangup", SYS_vhangup, 111, { 0 }, 0 },
	{ "sethostname", SYS_sethostname, 74, { z, 0 }, 2 },
	{ "setdomainname", SYS_setdomainname, 121, { z, 0 }, 2 },
	{ "settimeofday", SYS_settimeofday, 79, { 0, 0 }, 0 },
	{ "clock_settime", SYS_clock_settime, 264, { 0, 0 }, 1 },
	{ "iopl", SYS_iopl, 110, { 0 }, 1 },
	{ "ioperm", SYS_ioperm, 101, { 0x80, 1, 1 }, 4 },
	{ "modify_ldt", SYS_modify_ldt, 123, { 0, z, 64 }, 1 },
	{ "modify_ldt_write", SYS_modify_ldt, 123, { 17, z, 16 }, 1 },
	};
	/* that no table has: old, new, negative, x32's own */
	static const long numbers[] = { 470, 471, 500, 511, 512, 517, 520, 521,
	    530, 546, 547, 548, 600, 1000, 0xffff, 0x3fffffff, 0x40000000,
	    0x40000208, 0x4000020a, 0x7fffffff, 0x80000000, 0xffffffff, -1,
	    -512 };
	unsigned i;
	int way;

	low->clone[0] = CLONE_NEWUSER;
	low->clone[4] = SIGCHLD;
	low->handle[0] = 8;
	(void)umask(077);
	for (i = 0; i < sizeof doors / sizeof doors[0]; i++)
		for (way = 0; way < NWAYS; way++)
			try(&doors[i], way);
	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		char name[32];
		struct door d = { name, numbers[i], NONE, { 0 }, 0 };

		(void)snprintf(name, sizeof name, "nr_%lx", numbers[i]);
		try(&d, NATIVE);
	}
	return 0;
}

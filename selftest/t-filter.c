/*
 * The role filters: every denied call is made, by every entry the machine has,
 * with a control that makes the same call without a filter.  The program of
 * the architecture that this is not runs in a small interpreter.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../policy/proto.h"
#include "tap.h"

#include "filters-x86_64.h"
static const struct bl_filter *const on_x86_64 = bl_filters;
#undef BL_BUILD_FILTERS_H
#define bl_filter		arm_filter
#define bl_filters		arm_filters
#define bl_filter_judge		arm_filter_judge
#define bl_filter_answer	arm_filter_answer
#define bl_filter_agent		arm_filter_agent
#define bl_filter_verifier	arm_filter_verifier
#include "filters-aarch64.h"
#undef bl_filter
#undef bl_filters

#if defined(__x86_64__)
#define MY_FILTERS	on_x86_64
#define MY_ARCH		AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MY_FILTERS	arm_filters
#define MY_ARCH		AUDIT_ARCH_AARCH64
#endif

#ifndef __O_TMPFILE
#define __O_TMPFILE	020000000
#endif

enum { NEWEST = 469, DEAD = -100000 };

#define HIGH	(1L << 32)		/* what the kernel does not look at */

static const char *const roles[BL_ROLE_MAX] =
    { "none", "judge", "answer", "agent", "verifier" };
static long *shared;			/* what a child found */
static int strict;			/* 1: controls mean something here */

/* --- making a call ------------------------------------------------------ */

static void
filter_load(unsigned role)
{
	struct {
		unsigned short len;
		const struct sock_filter *filter;
	} p = { MY_FILTERS[role].len, MY_FILTERS[role].prog };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
		_exit(99);
}

/* fn's result in a child of its own: role 0 is without a filter. */
static long
apart(unsigned role, long (*fn)(const void *), const void *arg)
{
	pid_t pid;
	int status = 0;

	*shared = DEAD;
	pid = fork();
	if (pid == 0) {
		(void)setsid();		/* for vhangup: no terminal to lose */
		if (role != BL_ROLE_NONE)
			filter_load(role);
		*shared = fn(arg);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	return status == 0 ? *shared : DEAD;
}

struct call {
	const char *name;
	long nr;
	long want;			/* with a filter */
	long a[6];
};

static long
call_make(const void *arg)
{
	const struct call *c = arg;
	pid_t me = getpid();
	long r = syscall(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4],
	    c->a[5]);

	if (r < 0)
		return -errno;
	if (c->nr == SYS_clone && (r == 0 || getpid() != me))
		_exit(0);		/* a new process; maybe with number 1 */
	if (c->nr == SYS_clone)
		(void)waitpid((pid_t)r, NULL, 0);
	return r;
}

/* Refused with want by every role; without a filter something else comes. */
static void
refused(const struct call *c)
{
	unsigned role;
	long got;

	for (role = BL_ROLE_JUDGE; role < BL_ROLE_MAX; role++)
		is(apart(role, call_make, c), c->want, "%s: %s", roles[role],
		    c->name);
	got = apart(BL_ROLE_NONE, call_make, c);
	if (got == c->want && c->want == -ENOSYS)
		is(got, -ENOSYS, "control: %s: this kernel has none", c->name);
	else if (got == c->want && !strict)
		skip("needs root without a filter", "control: %s", c->name);
	else
		isnt(got, c->want, "control: %s", c->name);
}

static void
allowed(const char *name, long (*fn)(const void *), const void *arg)
{
	unsigned role;

	for (role = BL_ROLE_NONE; role < BL_ROLE_MAX; role++)
		is(apart(role, fn, arg), 0, "%s: %s", roles[role], name);
}

/* --- calls denied whatever their arguments ------------------------------ */

/* Each with six times -1: where it is allowed, that changes nothing. */
#define ALL_ONES	{ -1, -1, -1, -1, -1, -1 }
#define C(name, err)	{ #name, SYS_##name, -err, ALL_ONES }
#define N(name, nr, err) { #name, nr, -err, ALL_ONES }
static const struct call whole[] = {
	C(add_key, EPERM), C(request_key, EPERM), C(keyctl, EPERM),
	C(io_uring_setup, ENOSYS), C(io_uring_enter, ENOSYS),
	C(io_uring_register, ENOSYS), C(userfaultfd, EPERM), C(bpf, EPERM),
	C(perf_event_open, EPERM), C(ptrace, EPERM), C(io_setup, ENOSYS),
	C(process_vm_readv, EPERM), C(process_vm_writev, EPERM),
	C(process_madvise, EPERM), C(pidfd_getfd, EPERM), C(kcmp, EPERM),
	C(move_pages, EPERM), C(migrate_pages, EPERM), C(setns, EPERM),
	C(clone3, ENOSYS), C(mount, EPERM), C(umount2, EPERM),
	C(pivot_root, EPERM), C(chroot, EPERM), C(open_tree, EPERM),
	C(move_mount, EPERM), C(fsopen, EPERM), C(fsconfig, EPERM),
	C(fsmount, EPERM), C(fspick, EPERM), C(mount_setattr, EPERM),
	N(statmount, 457, ENOSYS), N(listmount, 458, ENOSYS),
	N(open_tree_attr, 467, EPERM), C(openat2, ENOSYS),
	C(open_by_handle_at, EPERM), C(fanotify_init, EPERM),
	C(quotactl, EPERM), C(quotactl_fd, EPERM),
	N(file_setattr, 469, EPERM), C(kexec_load, EPERM),
	C(kexec_file_load, EPERM), C(init_module, EPERM),
	C(finit_module, EPERM), C(delete_module, EPERM), C(acct, EPERM),
	C(swapon, EPERM), C(swapoff, EPERM), C(reboot, EPERM),
	C(syslog, EPERM), C(vhangup, EPERM), C(sethostname, EPERM),
	C(setdomainname, EPERM), C(settimeofday, EPERM),
	C(clock_settime, EPERM), C(nfsservctl, EPERM),
	C(lookup_dcookie, EPERM),
#if defined(__x86_64__)
	C(iopl, EPERM), C(ioperm, EPERM), C(modify_ldt, EPERM),
	C(_sysctl, EPERM), C(uselib, EPERM),
#endif
};
enum { WHOLE = sizeof whole / sizeof whole[0] };

static void
test_whole(void)
{
	size_t i;

	for (i = 0; i < WHOLE; i++)
		refused(&whole[i]);
}

/* --- calls denied by their arguments ------------------------------------ */

static void
test_namespaces(void)
{
	static const struct {
		const char *name;
		long bit;
	} bits[] = {
		{ "mount", CLONE_NEWNS }, { "cgroup", CLONE_NEWCGROUP },
		{ "uts", CLONE_NEWUTS }, { "ipc", CLONE_NEWIPC },
		{ "user", CLONE_NEWUSER }, { "pid", CLONE_NEWPID },
		{ "net", CLONE_NEWNET }, { "time", CLONE_NEWTIME },
	};
	char name[64];
	size_t i;

	for (i = 0; i < sizeof bits / sizeof bits[0]; i++) {
		struct call c = { name, SYS_unshare, -EPERM,
		    { bits[i].bit, 0, 0, 0, 0, 0 } };

		(void)snprintf(name, sizeof name, "unshare: %s", bits[i].name);
		refused(&c);
		c.a[0] |= CLONE_FS | CLONE_FILES;
		(void)snprintf(name, sizeof name, "unshare: %s and more",
		    bits[i].name);
		refused(&c);
		c.a[0] |= HIGH;
		(void)snprintf(name, sizeof name, "unshare: %s, high bits",
		    bits[i].name);
		refused(&c);
		if (bits[i].bit == CLONE_NEWTIME)
			continue;	/* for clone it is part of a signal */
		c.nr = SYS_clone;
		c.a[0] = bits[i].bit | SIGCHLD;
		(void)snprintf(name, sizeof name, "clone: %s", bits[i].name);
		refused(&c);
		c.a[0] |= HIGH;
		(void)snprintf(name, sizeof name, "clone: %s, high bits",
		    bits[i].name);
		refused(&c);
	}
}

static void
test_sockets(void)
{
	char name[64];
	long family, proto;
	struct call c = { name, SYS_socket, -EPERM, { 0 } };

	c.a[1] = SOCK_DGRAM;
	for (family = 0; family <= 50; family++) {
		if (family == AF_UNIX || family == AF_INET ||
		    family == AF_INET6 || family == AF_NETLINK)
			continue;
		c.a[0] = family;
		(void)snprintf(name, sizeof name, "socket: family %ld", family);
		refused(&c);
	}
	c.a[0] = AF_VSOCK | HIGH;
	(void)snprintf(name, sizeof name, "socket: vsock, high bits");
	refused(&c);
	c.a[0] = AF_ALG | -HIGH;
	(void)snprintf(name, sizeof name, "socket: alg, all high bits");
	refused(&c);
	c.a[1] = SOCK_RAW;
	for (proto = 1; proto < 33; proto++) {
		c.a[0] = AF_NETLINK;
		c.a[2] = proto;
		(void)snprintf(name, sizeof name, "netlink: %ld", proto);
		refused(&c);
	}
	c.a[2] = NETLINK_GENERIC;
	c.a[0] = AF_NETLINK | HIGH;
	(void)snprintf(name, sizeof name, "netlink: generic, high family");
	refused(&c);
	c.a[0] = AF_NETLINK;
	c.a[2] = NETLINK_GENERIC | HIGH;
	(void)snprintf(name, sizeof name, "netlink: generic, high protocol");
	refused(&c);
	c.a[0] = AF_INET;
	c.a[1] = SOCK_PACKET | SOCK_CLOEXEC;
	c.a[2] = 0x300;
	(void)snprintf(name, sizeof name, "socket: inet packet");
	refused(&c);
	c.a[1] = SOCK_PACKET | HIGH;
	(void)snprintf(name, sizeof name, "socket: inet packet, high bits");
	refused(&c);
}

static void
test_socketpairs(void)
{
	char name[64];
	long family;
	struct call c = { name, SYS_socketpair, -EPERM, { 0 } };

	c.a[1] = SOCK_STREAM;
	c.a[3] = (long)shared + 64;
	for (family = 0; family <= 50; family++) {
		if (family == AF_UNIX)
			continue;
		c.a[0] = family;
		(void)snprintf(name, sizeof name, "socketpair: family %ld",
		    family);
		refused(&c);
	}
	c.a[0] = AF_TIPC | HIGH;
	(void)snprintf(name, sizeof name, "socketpair: tipc, high bits");
	refused(&c);
}

static void
test_ioctls(void)
{
	static const struct call calls[] = {
		{ "TIOCSTI", SYS_ioctl, -EPERM, { -1, TIOCSTI } },
		{ "TIOCLINUX", SYS_ioctl, -EPERM, { -1, 0x541c } },
		{ "TIOCSETD", SYS_ioctl, -EPERM, { -1, TIOCSETD } },
		{ "TIOCSTI, high bits", SYS_ioctl, -EPERM,
		    { -1, TIOCSTI | HIGH } },
		{ "TIOCLINUX, high bits", SYS_ioctl, -EPERM,
		    { -1, 0x541c | -HIGH } },
		{ "TIOCSETD, high bits", SYS_ioctl, -EPERM,
		    { -1, TIOCSETD | LONG_MIN } },
	};
	size_t i;

	for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
		refused(&calls[i]);
}

/* One call that gives a file a mode: which argument, and that mode. */
static void
mode_refused(const char *what, long nr, size_t arg, const long a[6])
{
	static const long modes[] = {
		04755, 02755, 06777, 04000, 04755 | HIGH, 02755 | 0xffff0000L,
	};
	char name[80];
	struct call c = { name, nr, -EPERM, { 0 } };
	size_t i;

	for (i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		memcpy(c.a, a, sizeof c.a);
		c.a[arg] = modes[i];
		(void)snprintf(name, sizeof name, "%s: %lo", what, modes[i]);
		(void)unlink("new");
		(void)rmdir("new");
		refused(&c);
	}
}

#define MODE(nr, arg, ...) mode_refused(#nr, nr, arg, \
    (const long[6]){ __VA_ARGS__ })

static void
test_modes(void)
{
	const long old = (long)"old", new = (long)"new", here = (long)".";
	int fd = open("old", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ok(fd, >=, 0, "a file to try on");
	MODE(SYS_fchmod, 1, fd);
	MODE(SYS_fchmodat, 2, AT_FDCWD, old);
	MODE(452 /* fchmodat2 */, 2, AT_FDCWD, old);
	MODE(SYS_mknodat, 2, AT_FDCWD, new);
	MODE(SYS_mkdirat, 2, AT_FDCWD, new);
	MODE(SYS_openat, 3, AT_FDCWD, new, O_CREAT | O_WRONLY);
	MODE(SYS_openat, 3, AT_FDCWD, new, O_CREAT | O_WRONLY | HIGH);
	MODE(SYS_openat, 3, AT_FDCWD, here, O_TMPFILE | O_WRONLY);
#if defined(__x86_64__)
	MODE(SYS_chmod, 1, old);
	MODE(SYS_mknod, 1, new);
	MODE(SYS_mkdir, 1, new);
	MODE(SYS_creat, 1, new);
	MODE(SYS_open, 2, new, O_CREAT | O_WRONLY);
	MODE(SYS_open, 2, here, O_TMPFILE | O_WRONLY);
#endif
	(void)close(fd);
	(void)unlink("new");
	(void)rmdir("new");
}

/* --- other ways into the kernel ----------------------------------------- */

struct sweep {
	long from, to, mask;		/* numbers, and what is or-ed to each */
	long (*enter)(long nr);
};

/* How many numbers do not give ENOSYS. */
static long
sweep_make(const void *arg)
{
	const struct sweep *w = arg;
	long nr, others = 0;

	for (nr = w->from; nr <= w->to; nr++)
		others += w->enter(nr | w->mask) != -ENOSYS;
	return others;
}

static long
enter_native(long nr)
{
	return syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L) < 0 ? -errno : 0;
}

#if defined(__x86_64__)
static long
enter_32(long nr)
{
	long r;

	/* r8 to r11 are not kept by this entry. */
	__asm__ volatile ("int $0x80" : "=a"(r)
	    : "a"(nr), "b"(-1L), "c"(-1L), "d"(-1L), "S"(-1L), "D"(-1L)
	    : "r8", "r9", "r10", "r11", "memory", "cc");
	return (int)r;
}

static long
make_32(const void *arg)
{
	return enter_32(*(const long *)arg);
}

static void
test_entry_32(void)
{
	static const struct {
		const char *name;
		long nr;
	} calls[] = {
		{ "getpid", 20 }, { "ptrace", 26 }, { "mount", 21 },
		{ "keyctl", 288 }, { "unshare", 310 }, { "bpf", 357 },
		{ "perf_event_open", 336 }, { "socket", 359 },
		{ "socketcall", 102 }, { "modify_ldt", 123 },
	};
	static const struct sweep all = { 0, 2000, 0, enter_32 };
	unsigned role, others = 0;
	size_t i;
	int have = apart(BL_ROLE_NONE, make_32, &calls[0].nr) > 0;

	for (role = BL_ROLE_JUDGE; role < BL_ROLE_MAX; role++)
		if (have)
			is(apart(role, sweep_make, &all), 0,
			    "%s: 32-bit: every number is ENOSYS", roles[role]);
		else
			skip("no 32-bit entry in this kernel",
			    "%s: 32-bit", roles[role]);
	for (i = 0; have && i < sizeof calls / sizeof calls[0]; i++) {
		long got = apart(BL_ROLE_NONE, make_32, &calls[i].nr);

		/* a kernel may lack one of them, not all that follow getpid */
		if (got == -ENOSYS)
			is(got, -ENOSYS, "control: 32-bit %s: this kernel has none",
			    calls[i].name);
		else
			others++;
	}
	if (have)
		ok(others, >=, 5, "control: 32-bit calls that exist");
}

static void
test_entry_x32(void)
{
	static const struct sweep all = { 0, 1023, 0x40000000, enter_native };
	static const struct sweep one = { 39, 39, 0x40000000, enter_native };
	unsigned role;

	for (role = BL_ROLE_JUDGE; role < BL_ROLE_MAX; role++)
		is(apart(role, sweep_make, &all), 0,
		    "%s: x32: every number is ENOSYS", roles[role]);
	if (apart(BL_ROLE_NONE, sweep_make, &one) == 0)
		skip("no x32 in this kernel", "control: x32 getpid");
	else
		is(apart(BL_ROLE_NONE, sweep_make, &one), 1,
		    "control: x32 getpid");
}
#endif

static void
test_numbers(void)
{
	static const struct sweep above = { NEWEST + 1, 5000, 0, enter_native };
	static const struct sweep top = { 0x7fffff00, 0x7fffffff, 0,
	    enter_native };
	static const struct sweep minus = { -300, -2, 0, enter_native };
	static const struct call wide = { "keyctl, high bits in the number",
	    SYS_keyctl | HIGH, -EPERM, ALL_ONES };
	unsigned role;

	for (role = BL_ROLE_JUDGE; role < BL_ROLE_MAX; role++) {
		is(apart(role, sweep_make, &above), 0,
		    "%s: numbers above the newest", roles[role]);
		is(apart(role, sweep_make, &top), 0, "%s: the largest",
		    roles[role]);
		is(apart(role, sweep_make, &minus), 0, "%s: negative ones",
		    roles[role]);
	}
	refused(&wide);
}

/* --- what must go on ---------------------------------------------------- */

static void *
thread_main(void *arg)
{
	return arg;
}

static long
do_threads(const void *arg)
{
	pthread_t t[8];
	void *back;
	size_t i;

	for (i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, thread_main, shared) != 0)
			return 1;
	for (i = 0; i < 8; i++)
		if (pthread_join(t[i], &back) != 0 || back != shared)
			return 2;
	return 0;
}

/* What cell init does after it has loaded the filter. */
static long
do_init(const void *arg)
{
	struct itimerspec soon = { .it_value = { 0, 1000000 } };
	struct rlimit limit;
	sigset_t set;
	siginfo_t si;
	int fd;
	pid_t pid = fork();

	if (pid == 0) {
		uid_t u = getuid() == 0 ? 12345 : getuid();

		if (getuid() == 0 && setgroups(0, NULL) != 0)
			_exit(1);
		if (setresgid(u, u, u) != 0 && getuid() == 0)
			_exit(2);
		if (setresuid(u, u, u) != 0 || getuid() != u)
			_exit(3);
		if (syscall(SYS_close_range, 100, ~0U, 0) != 0)
			_exit(4);
		(void)raise(SIGSTOP);
		(void)pause();
	}
	if (waitid(P_PID, (id_t)pid, &si, WSTOPPED) != 0)
		return 1;
	if (kill(pid, SIGKILL) != 0 ||
	    wait4(pid, &fd, 0, NULL) != pid || !WIFSIGNALED(fd))
		return 2;
	if (prlimit(0, RLIMIT_CORE, NULL, &limit) != 0 ||
	    prctl(PR_SET_PDEATHSIG, 0) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
		return 3;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (fd < 0 || timerfd_settime(fd, 0, &soon, NULL) != 0 ||
	    poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 5000) != 1)
		return 4;
	(void)sigemptyset(&set);
	if (signalfd(-1, &set, SFD_CLOEXEC) < 0 ||
	    memfd_create("x", MFD_ALLOW_SEALING) < 0 ||
	    syscall(SYS_pidfd_open, getpid(), 0) < 0)
		return 5;
	return 0;
}

static long
do_sockets(const void *arg)
{
	union { struct cmsghdr h; char raw[CMSG_LEN(sizeof(int))]; } ctl;
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int pair[2], fd, zero = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return 1;
	ctl.h.cmsg_len = CMSG_LEN(sizeof zero);
	ctl.h.cmsg_level = SOL_SOCKET;
	ctl.h.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&ctl.h), &zero, sizeof zero);
	if (sendmsg(pair[0], &m, 0) != 1 || recvmsg(pair[1], &m, 0) != 1)
		return 2;
	/* from an address that the kernel makes up, to accept4 */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sun, sizeof(sa_family_t)) ||
	    listen(fd, 1) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
	    accept4(fd, NULL, NULL, SOCK_CLOEXEC) != -1 || errno != EAGAIN)
		return 3;
	if (socket(AF_INET, SOCK_STREAM, 0) < 0 ||
	    socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0) < 0)
		return 4;
	if (socket(AF_INET6, SOCK_STREAM, 0) < 0 && errno != EAFNOSUPPORT)
		return 5;
	if (socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) < 0)
		return 6;
	return ioctl(pair[0], FIONREAD, &zero) != 0;
}

static long
do_files(const void *arg)
{
	int fd = open("mine", O_RDWR | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0 || fchmod(fd, 0700) != 0 || chmod("mine", 01777) != 0 ||
	    fchmodat(AT_FDCWD, "mine", 0644, 0) != 0)
		return 1;
	/* Without O_CREAT the mode is whatever the register held. */
	if (syscall(SYS_openat, AT_FDCWD, "mine", O_RDONLY, 06777) < 0)
		return 2;
	if (syscall(SYS_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY,
	    06777) < 0)
		return 3;
	if (mkdir("yours", 01777) != 0 || rmdir("yours") != 0)
		return 4;
	if (mkfifo("pipe", 0600) != 0 || unlink("pipe") != 0)
		return 5;
	return unlink("mine") != 0;
}

static long
do_confine(const void *arg)
{
	if (syscall(SYS_unshare, CLONE_FILES | CLONE_FS) != 0)
		return 1;
	if (syscall(SYS_personality, 0xffffffffL) < 0)
		return 2;
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 0 &&
	    errno == EPERM)
		return 3;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 4;
	filter_load(BL_ROLE_ANSWER);	/* a filter upon a filter */
	return 0;
}

static void
test_allowed(void)
{
	allowed("threads", do_threads, NULL);
	allowed("cell init", do_init, NULL);
	allowed("sockets", do_sockets, NULL);
	allowed("files", do_files, NULL);
	allowed("confining itself", do_confine, NULL);
}

/* --- both programs, interpreted ----------------------------------------- */

/* The program's verdict; 1 where it is no program seccomp would take. */
static uint32_t
interpret(const struct sock_filter *p, size_t n, const struct seccomp_data *d)
{
	uint32_t acc = 0;
	size_t pc = 0;

	while (pc < n) {
		const struct sock_filter *f = &p[pc++];

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (f->k > sizeof *d - 4 || f->k % 4 != 0)
				return 1;
			memcpy(&acc, (const char *)d + f->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			acc &= f->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += f->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += acc == f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += acc > f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += acc >= f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += (acc & f->k) != 0 ? f->jt : f->jf;
			break;
		case BPF_RET | BPF_K:
			return f->k;
		default:
			return 1;
		}
	}
	return 1;
}

/* Numbers of what is judged by its arguments; -1: there is no such call. */
static const struct machine {
	const char *name;
	uint32_t arch;
	int socket, socketpair, unshare, clone, ioctl, fchmod, fchmodat,
	    mkdirat, mknodat, openat, chmod, mkdir, mknod, creat, open;
} machines[] = {
	{ "x86_64", AUDIT_ARCH_X86_64, 41, 53, 272, 56, 16, 91, 268, 258, 259,
	    257, 90, 83, 133, 85, 2 },
	{ "aarch64", AUDIT_ARCH_AARCH64, 198, 199, 97, 220, 29, 52, 53, 34, 33,
	    56, -1, -1, -1, -1, -1 },
};

static uint32_t
verdict(size_t which, unsigned role, int nr, uint64_t a0, uint64_t a1,
    uint64_t a2, uint64_t a3)
{
	struct seccomp_data d = { .nr = nr, .arch = machines[which].arch,
	    .args = { a0, a1, a2, a3 } };

	return which == 0 ?
	    interpret(on_x86_64[role].prog, on_x86_64[role].len, &d) :
	    interpret(arm_filters[role].prog, arm_filters[role].len, &d);
}

static const uint32_t yes = SECCOMP_RET_ALLOW;
static const uint32_t no = SECCOMP_RET_ERRNO | EPERM;

static void
model_sockets(size_t which, unsigned role)
{
	const struct machine *m = &machines[which];
	static const uint64_t highs[] = { 0, 1, 0x80000000, 0xffffffff };
	static const uint64_t rare[] = { 24, 33, 58, 115, 132, 262 };
	long leaks = 0, lost = 0;
	uint64_t family, type, proto, n;
	size_t h, k;

	for (family = 0; family < 300; family++)
	for (type = 0; type < 16; type++)
	for (n = 0; n < 24 + 6; n++)
	for (h = 0; h < 4; h++)
	for (k = 0; k < 4; k++) {
		int good;
		uint32_t v;

		proto = n < 24 ? n : rare[n - 24];
		good = (family == 1 || family == 2 || family == 10 ||
		    (family == 16 && proto == 0)) && type != 10 && type != 6 &&
		    proto != 33 && proto <= 58;
		v = verdict(which, role, m->socket,
		    family | highs[h] << 32, type | 02004000 | highs[k] << 32,
		    proto | highs[k] << 32, 0);

		leaks += !good && v != no;
		lost += good && h == 0 && k == 0 && v != yes;
	}
	for (family = 31; family < 64; family++)
		leaks += verdict(which, role, m->socket, (uint64_t)1 << family,
		    2, 0, 0) != no;
	for (family = 0; family < 300; family++)
		leaks += family != 1 && verdict(which, role, m->socketpair,
		    family, 1, 0, 0) != no;
	lost += verdict(which, role, m->socketpair, 1, 1, 0, 0) != yes;
	is(leaks, 0, "%s, %s: no socket too many", m->name, roles[role]);
	is(lost, 0, "%s, %s: no socket too few", m->name, roles[role]);
}

static void
model_flags(size_t which, unsigned role)
{
	const struct machine *m = &machines[which];
	const uint64_t un = 0x7e020080, cl = 0x7e020000;
	long wrong = 0;
	uint64_t bit;
	size_t i, j;

	for (i = 0; i < 64; i++)
	for (j = 0; j < 64; j++) {
		bit = (uint64_t)1 << i | (uint64_t)1 << j;
		wrong += verdict(which, role, m->unshare, bit, 0, 0, 0) !=
		    ((bit & un) != 0 ? no : yes);
		wrong += verdict(which, role, m->clone, bit, 0, 0, 0) !=
		    ((bit & cl) != 0 ? no : yes);
	}
	for (bit = 0; bit < 0x10000; bit++)
	for (i = 0; i < 2; i++)
		wrong += verdict(which, role, m->ioctl, 0,
		    bit | (uint64_t)i << 32, 0, 0) != (bit == 0x5412 ||
		    bit == 0x541c || bit == 0x5423 ? no : yes);
	is(wrong, 0, "%s, %s: flags and ioctls", m->name, roles[role]);
}

static void
model_modes(size_t which, unsigned role)
{
	const struct machine *m = &machines[which];
	long wrong = 0;
	uint64_t mode, at;
	size_t h, f;

	for (mode = 0; mode < 0x10000; mode += 0100)
	for (h = 0; h < 2; h++) {
		uint32_t w = (mode & 06000) != 0 ? no : yes;

		at = mode | (uint64_t)h << 32 | (uint64_t)h << 16;
		wrong += verdict(which, role, m->fchmod, 3, at, 0, 0) != w;
		wrong += verdict(which, role, m->fchmodat, 3, 0, at, 0) != w;
		wrong += verdict(which, role, 452, 3, 0, at, 0) != w;
		wrong += verdict(which, role, m->mkdirat, 3, 0, at, 0) != w;
		wrong += verdict(which, role, m->mknodat, 3, 0, at, 0) != w;
		for (f = 0; f < 64; f++) {
			uint64_t flag = (uint64_t)1 << f;
			uint32_t o = flag == O_CREAT ||
			    (flag & 020000000) != 0 ? w : yes;

			wrong += verdict(which, role, m->openat, 3, 0, flag,
			    at) != o;
			if (m->open >= 0)
				wrong += verdict(which, role, m->open, 0, flag,
				    at, 0) != o;
		}
		if (m->chmod < 0)
			continue;
		wrong += verdict(which, role, m->chmod, 0, at, 0, 0) != w;
		wrong += verdict(which, role, m->mkdir, 0, at, 0, 0) != w;
		wrong += verdict(which, role, m->mknod, 0, at, 0, 0) != w;
		wrong += verdict(which, role, m->creat, 0, at, 0, 0) != w;
	}
	is(wrong, 0, "%s, %s: modes", m->name, roles[role]);
}

/* Whatever is not on the list above is allowed, also with nothing asked. */
static void
model_numbers(size_t which, unsigned role)
{
	long wrong = 0;
	int nr;
	size_t i;

	for (nr = 0; nr <= NEWEST; nr++) {
		uint32_t want = nr == machines[which].socket ||
		    nr == machines[which].socketpair ? no : yes;

		for (i = 0; i < WHOLE; i++)
			if (whole[i].nr == nr)
				want = SECCOMP_RET_ERRNO |
				    (uint32_t)-whole[i].want;
		wrong += verdict(which, role, nr, 0, 0, 0, 0) != want;
	}
	is(wrong, 0, "%s, %s: what else is denied", machines[which].name,
	    roles[role]);
}

static void
model_foreign(size_t which, unsigned role)
{
	static const uint32_t arches[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM,
	    AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_RISCV64, 0 };
	struct seccomp_data d;
	long wrong = 0;
	uint32_t v;
	int nr;
	size_t i;

	memset(&d, 0, sizeof d);
	for (i = 0; i < sizeof arches / sizeof arches[0]; i++)
	for (nr = -2; nr < 1000; nr++) {
		if (arches[i] == machines[which].arch && nr >= 0 &&
		    nr <= NEWEST)
			continue;
		d.nr = nr;
		d.arch = arches[i];
		d.args[2] = 06000;
		v = which == 0 ? interpret(on_x86_64[role].prog,
		    on_x86_64[role].len, &d) :
		    interpret(arm_filters[role].prog, arm_filters[role].len,
		    &d);
		wrong += v != (SECCOMP_RET_ERRNO | ENOSYS);
	}
	is(wrong, 0, "%s, %s: foreign is ENOSYS", machines[which].name,
	    roles[role]);
}

static void
test_models(void)
{
	size_t which;
	unsigned role;

	for (which = 0; which < 2; which++)
		for (role = BL_ROLE_JUDGE; role < BL_ROLE_MAX; role++) {
			model_sockets(which, role);
			model_flags(which, role);
			model_modes(which, role);
			model_foreign(which, role);
			if (machines[which].arch == MY_ARCH)
				model_numbers(which, role);
		}
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *f)
{
	return remove(path);
}

int
main(void)
{
	char dir[] = "/tmp/t-filter.XXXXXX";

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || mkdtemp(dir) == NULL || chdir(dir) != 0)
		return 1;
	strict = geteuid() == 0 && prctl(PR_GET_SECCOMP) == 0 &&
	    prctl(PR_CAPBSET_READ, 21 /* CAP_SYS_ADMIN */) == 1;
	test_whole();
	test_namespaces();
	test_sockets();
	test_socketpairs();
	test_ioctls();
	test_modes();
#if defined(__x86_64__)
	test_entry_32();
	test_entry_x32();
#endif
	test_numbers();
	test_allowed();
	test_models();
	if (chdir("/") != 0 ||
	    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
		return 1;
	return done();
}

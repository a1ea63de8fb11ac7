/*
 * The probe's system calls: each that a role's filter denies, with arguments
 * that the kernel itself refuses, by another error than the filter's, before
 * it asks who calls.  So it is seen which of the two has answered.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum class { MOUNT, SPACE, PROCESS, KEYS, RING, KERNEL, FILES, SETID, MACHINE,
    CLOCK, SOCKET, TERMINAL, FOREIGN };

struct call {
	enum class class;
	const char *name;
	long	 nr;
	int	 err;			/* the filter's */
	long	 a[6];
};

#define BAD 0x7ffffff0L			/* no process, no pointer */
#define EMPTY ((long)(uintptr_t)"")
#define OLD(c, n, ...) { c, #n, SYS_##n, EPERM, { __VA_ARGS__ } }
#define NEW(c, n, nr, err, ...) { c, #n, nr, err, { __VA_ARGS__ } }
#define LOCKED(f) (CLONE_SIGHAND | SIGCHLD | (f))	/* EINVAL: without VM */

static const struct call calls[] = {
	OLD(MOUNT, mount, 0, EMPTY, 0, 0, 0), OLD(MOUNT, umount2, EMPTY, 0),
	OLD(MOUNT, pivot_root, EMPTY, EMPTY), OLD(MOUNT, chroot, EMPTY),
	NEW(MOUNT, open_tree, 428, EPERM, -1, EMPTY, 0xffff),
	NEW(MOUNT, move_mount, 429, EPERM, -1, EMPTY, -1, EMPTY, 0xffff),
	NEW(MOUNT, fsopen, 430, EPERM, EMPTY, 0xffff),
	NEW(MOUNT, fsconfig, 431, EPERM, -1, 0, 0, 0, 0),
	NEW(MOUNT, fsmount, 432, EPERM, -1, 0xffff, 0),
	NEW(MOUNT, fspick, 433, EPERM, -1, EMPTY, 0xffff),
	NEW(MOUNT, mount_setattr, 442, EPERM, -1, EMPTY, 0xff, 0, 0),
	NEW(MOUNT, statmount, 457, ENOSYS, 0, 0, 0, 0xff),
	NEW(MOUNT, listmount, 458, ENOSYS, 0, 0, 0, 0xff),
	NEW(MOUNT, open_tree_attr, 467, EPERM, -1, EMPTY, 0xffff, 0, 0),

	OLD(SPACE, unshare, CLONE_NEWUSER | 1),
	OLD(SPACE, unshare, CLONE_NEWNS | 1),
	OLD(SPACE, unshare, CLONE_NEWNET | 1),
	OLD(SPACE, unshare, CLONE_NEWPID | 1),
	OLD(SPACE, unshare, CLONE_NEWIPC | 1),
	OLD(SPACE, unshare, CLONE_NEWUTS | 1),
	OLD(SPACE, unshare, CLONE_NEWCGROUP | 1), OLD(SPACE, unshare, 0x80 | 1),
	OLD(SPACE, clone, LOCKED(CLONE_NEWUSER)),
	OLD(SPACE, clone, LOCKED(CLONE_NEWNS)),
	OLD(SPACE, clone, LOCKED(CLONE_NEWNET)),
	OLD(SPACE, clone, LOCKED(CLONE_NEWPID)),
	OLD(SPACE, clone, LOCKED(CLONE_NEWIPC)),
	OLD(SPACE, clone, LOCKED(CLONE_NEWUTS)),
	OLD(SPACE, clone, LOCKED(CLONE_NEWCGROUP)),
	NEW(SPACE, clone3, 435, ENOSYS, 0, 0), OLD(SPACE, setns, -1, 0),

	OLD(PROCESS, ptrace, 16, BAD), OLD(PROCESS, ptrace, 0x4206, BAD),
	OLD(PROCESS, process_vm_readv, BAD, 0, 0, 0, 0, 1),
	OLD(PROCESS, process_vm_writev, BAD, 0, 0, 0, 0, 1),
	NEW(PROCESS, pidfd_getfd, 438, EPERM, -1, 0, 0),
	NEW(PROCESS, process_madvise, 440, EPERM, -1, 0, 0, 0, 1),
	OLD(PROCESS, kcmp, BAD, BAD, 99, 0, 0),
	OLD(PROCESS, move_pages, BAD, 0, 0, 0, 0, 0xff),
	OLD(PROCESS, migrate_pages, BAD, 0, 0, 0),

	OLD(KEYS, add_key, 1, 1, 0, 0, -2), OLD(KEYS, request_key, 1, 1, 0, 0),
	OLD(KEYS, keyctl, 9999, 0, 0, 0, 0), OLD(KEYS, ioctl, -1, 0xc0506617),

	NEW(RING, io_uring_setup, 425, ENOSYS, 0, 0),
	NEW(RING, io_uring_enter, 426, ENOSYS, -1, 0, 0, 0, 0, 0),
	NEW(RING, io_uring_register, 427, ENOSYS, -1, 0, 0, 0),
	NEW(RING, io_setup, SYS_io_setup, ENOSYS, 0, 0),

	OLD(KERNEL, bpf, 0, 1, 0x10000), OLD(KERNEL, userfaultfd, 0x40000001),
	OLD(KERNEL, perf_event_open, 0, 0, -1, -1, 0xffff),
#ifdef SYS_modify_ldt
	OLD(KERNEL, modify_ldt, 99, 0, 0),
#endif
	OLD(FILES, open_by_handle_at, -1, 0, 0),
	OLD(FILES, fanotify_init, 0x200, 0),
	OLD(FILES, quotactl, 0x80000700, EMPTY, 0, 0),
	NEW(FILES, quotactl_fd, 443, EPERM, -1, 0x80000700, 0, 0),
	NEW(FILES, file_setattr, 469, EPERM, -1, EMPTY, 0, 0, 0xffff),
	NEW(FILES, openat2, 437, ENOSYS, -1, EMPTY, 0, 0),

#define BOTH(m, n, ...) OLD(m, n, __VA_ARGS__ S_ISUID), \
	OLD(m, n, __VA_ARGS__ S_ISGID)
	BOTH(SETID, fchmod, -1,), BOTH(SETID, fchmodat, -1, EMPTY,),
	NEW(SETID, fchmodat2, 452, EPERM, -1, EMPTY, S_ISUID, 0),
	BOTH(SETID, mknodat, -1, EMPTY,), BOTH(SETID, mkdirat, -1, EMPTY,),
	BOTH(SETID, openat, -1, EMPTY, O_CREAT,),
#ifdef SYS_chmod
	BOTH(SETID, chmod, EMPTY,), BOTH(SETID, mknod, EMPTY,),
	BOTH(SETID, mkdir, EMPTY,), BOTH(SETID, creat, EMPTY,),
	BOTH(SETID, open, EMPTY, O_CREAT,),
#endif

	OLD(MACHINE, kexec_load, 0, 1000, 1, 0),
	OLD(MACHINE, init_module, 1, 1, 1),
	OLD(MACHINE, finit_module, -1, 1, 0xff),
	OLD(MACHINE, delete_module, EMPTY, 0), OLD(MACHINE, acct, EMPTY),
	OLD(MACHINE, swapon, EMPTY, 0), OLD(MACHINE, swapoff, EMPTY),
	OLD(MACHINE, reboot, 1, 2, 3, 0), OLD(MACHINE, syslog, 10, 0, 0),
	OLD(MACHINE, sethostname, 1, -1), OLD(MACHINE, setdomainname, 1, -1),
#ifdef SYS_kexec_file_load
	OLD(MACHINE, kexec_file_load, -1, -1, 0, 1, 0x80),
#endif
#ifdef SYS_iopl
	OLD(MACHINE, iopl, 99), OLD(MACHINE, ioperm, -1, 1, 1),
#endif

	OLD(CLOCK, settimeofday, 1, 1), OLD(CLOCK, clock_settime, 0, 1),

	/* a type that none has: refused before a module is looked for */
	OLD(SOCKET, socket, AF_PACKET, 15, 0),
	OLD(SOCKET, socket, AF_VSOCK, 15, 0),
	OLD(SOCKET, socket, AF_ALG, 15, 0), OLD(SOCKET, socket, AF_KEY, 15, 0),
	OLD(SOCKET, socket, AF_BLUETOOTH, 15, 0), OLD(SOCKET, socket, 3, 15, 0),
	OLD(SOCKET, socket, AF_TIPC, 15, 0), OLD(SOCKET, socket, AF_X25, 15, 0),
	OLD(SOCKET, socket, AF_NETLINK, 15, 16),
	OLD(SOCKET, socket, AF_NETLINK, 15, 4),
	OLD(SOCKET, socket, AF_INET, 15, 132),
	OLD(SOCKET, socket, AF_INET, 15, 33),
	OLD(SOCKET, socket, AF_INET, 15, 262),
	OLD(SOCKET, socketpair, AF_TIPC, 15, 0, 0),

	OLD(TERMINAL, ioctl, -1, TIOCSTI), OLD(TERMINAL, ioctl, -1, TIOCLINUX),
	OLD(TERMINAL, ioctl, -1, TIOCSETD),
};

/* Its errno, 0 where it worked, or -1: it did not come back. */
static int
call_errno(const struct call *c)
{
	int p[2], err = -1;
	pid_t pid, me;

	if (pipe2(p, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		me = getpid();
		errno = 0;
		err = syscall(c->nr, c->a[0], c->a[1], c->a[2], c->a[3],
		    c->a[4], c->a[5]) < 0 ? errno : 0;
		/* a clone that should not be there says nothing */
		_exit(syscall(SYS_getpid) != me ||
		    write(p[1], &err, sizeof err) != sizeof err);
	}
	(void)close(p[1]);
	if (read(p[0], &err, sizeof err) != sizeof err)
		err = -1;
	(void)close(p[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

/* Outside: how many of them get to the kernel, and which do not. */
static enum verdict
class_control(int class, char why[WHY])
{
	char not[WHY / 2] = "";
	unsigned all = 0, reach = 0;

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		const struct call *c = &calls[i];
		size_t n = strlen(not);
		int err;

		if ((int)c->class != class)
			continue;
		err = call_errno(c);
		all++;
		if (err >= 0 && err != c->err)
			reach++;
		else
			(void)snprintf(not + n, sizeof not - n, " %s", c->name);
	}
	(void)say(why, "%u of %u calls reach the kernel%s%s", reach, all,
	    not[0] != '\0' ? ", but not" : "", not);
	return reach > 0 ? OPEN : NONE;
}

static enum verdict
class_denied(const struct facts *f, int class, char why[WHY])
{
	unsigned all = 0;

	if (f->control)
		return class_control(class, why);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		const struct call *c = &calls[i];
		int err = (int)c->class != class ? c->err : call_errno(c);
		char args[60];

		all += (int)c->class == class;
		if (err == c->err)
			continue;
		(void)snprintf(args, sizeof args, "%s(%#lx, %#lx, %#lx)",
		    c->name, (unsigned long)c->a[0], (unsigned long)c->a[1],
		    (unsigned long)c->a[2]);
		return opened(why, args, err > 0 ? err : 0);
	}
	return say(why, "%u calls denied", all);
}

/* A namespace as a program would make one, with all rights in it. */
static enum verdict
user_namespace(const struct facts *f, int arg, char why[WHY])
{
	(void)f;
	(void)arg;
	if (unshare(CLONE_NEWUSER) == 0)
		return opened(why, "a user namespace was made", 0);
	return say(why, "unshare: %s", strerror(errno));
}

#ifdef __x86_64__
static long
by_int80(long nr)
{
	long r;

	__asm__ volatile ("int $0x80" : "=a" (r) : "a" (nr) : "r8", "r9",
	    "r10", "r11", "memory", "cc");
	return (int)r;
}

/* Entries of other call tables, which a filter by number does not see. */
static enum verdict
foreign(const struct facts *f, int arg, char why[WHY])
{
	(void)f;
	(void)arg;
	if (syscall(0x40000000L | SYS_getpid) == getpid())
		return opened(why, "x32's getpid", 0);
	if (by_int80(20) == getpid())	/* a signal ends this where it is off */
		return opened(why, "32-bit getpid by int 0x80", 0);
	return say(why, "x32 and int 0x80: denied");
}
#else
static enum verdict
foreign(const struct facts *f, int arg, char why[WHY])
{
	(void)arg;
	(void)say(why, "this processor has no other call table");
	return f->control ? OPEN : HELD;
}
#endif

const struct try tries_calls[] = {
	{ "call_mount", class_denied, MOUNT },
	{ "call_namespace", class_denied, SPACE },
	{ "user_namespace", user_namespace, 0 },
	{ "call_process", class_denied, PROCESS },
	{ "call_keys", class_denied, KEYS },
	{ "call_uring", class_denied, RING },
	{ "call_kernel", class_denied, KERNEL },
	{ "call_files", class_denied, FILES },
	{ "call_setid", class_denied, SETID },
	{ "call_machine", class_denied, MACHINE },
	{ "call_clock", class_denied, CLOCK },
	{ "call_socket", class_denied, SOCKET },
	{ "call_terminal", class_denied, TERMINAL },
	{ "call_foreign", foreign, 0 },
	{ NULL, NULL, 0 }
};

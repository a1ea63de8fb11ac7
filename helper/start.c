/*
 * From whatever state the caller left us in to a known one.
 *
 * MUST, in this order: look at descriptor 3; take the caller's identity from
 * the kernel; be root or stop; close and reset all that survives execve(2);
 * ask the rules about the caller and its groups; seal what capabilities are
 * left (seal.c); become root wholly.
 */
#include "ops.h"
#include "sys.h"

/*
 * Who asks, by the kernel's word: who started this; or, where root did and the
 * socket has a name, who connected to it (unix(7), SO_PEERCRED).  No set-user-id
 * bit, a nosuid mount, no_new_privs: all end here.
 */
void
start_caller(int argc, struct bl_rep_hello *h)
{
	static const char usage[] = "bailiff-helper: bailiff starts this\n";
	struct ucred peer = { 0, (uid_t)-1, (gid_t)-1 };	/* nobody's */
	struct sockaddr name;
	socklen_t n = sizeof name, m = sizeof peer;
	int at = wire_is_ours(BL_SESSION_FD, 0) != 0 ? BL_AT_FD3 :
	    argc != 1 ? BL_AT_ARGS : BL_AT_NONE;

	if (at != BL_AT_NONE &&
	    write(STDERR_FILENO, usage, sizeof usage - 1) <= (ssize_t)sizeof usage)
		die((uint32_t)at);
	h->uid = getuid();
	h->gid = getgid();
	h->way = h->uid == 0 ? BL_WAY_ROOT :
	    geteuid() == 0 ? BL_WAY_SETUID : BL_WAY_CAPS;
	(void)getsockname(BL_SESSION_FD, &name, &n);	/* failed: a name */
	(void)getsockopt(BL_SESSION_FD, SOL_SOCKET, SO_PEERCRED, &peer, &m);
	if (h->uid == 0 && n > sizeof name.sa_family)
		*h = (struct bl_rep_hello){ .way = BL_WAY_SOCKET,
		    .uid = peer.uid, .gid = peer.gid };
	if (seteuid(0) != 0)		/* the capability is enough for it */
		refuse(BL_AT_NOT_ROOT, 0, EPERM);
}

/*
 * A limit of the caller's may not bite half-way through a cell: raised where
 * that is allowed, and where it is not, what is there must be enough.  CORE 1,
 * not 0: a pipe in core_pattern ignores 0 and obeys 1, too little for a file.
 */
static void
start_rlimits(void)
{
	static const struct { int what; rlim_t want, least; } row[] = {
		{ RLIMIT_CPU, RLIM_INFINITY, 3600 },
		{ RLIMIT_FSIZE, RLIM_INFINITY, 1 << 20 },
		{ RLIMIT_DATA, RLIM_INFINITY, 64 << 20 },
		{ RLIMIT_AS, RLIM_INFINITY, 256 << 20 },
		{ RLIMIT_NPROC, RLIM_INFINITY, 256 }, { RLIMIT_CORE, 1, 1 },
		{ RLIMIT_STACK, 64 << 20, 1 << 20 },
		{ RLIMIT_NOFILE, 1 << 20, 2048 },
		{ RLIMIT_SIGPENDING, RLIM_INFINITY, 0 },
	};
	unsigned i;

	for (i = 0; i < COUNT(row); i++) {
		__rlimit_resource_t what = (__rlimit_resource_t)row[i].what;
		struct rlimit v = { row[i].want, row[i].want };

		if (setrlimit(what, &v) == 0)
			continue;
		(void)getrlimit(what, &v);	/* else v is as wanted: refused */
		v.rlim_max = v.rlim_max < row[i].want ? v.rlim_max : row[i].want;
		v.rlim_cur = v.rlim_max;
		if (v.rlim_max < row[i].least || setrlimit(what, &v) != 0)
			refuse(BL_AT_RLIMIT, (uint32_t)row[i].what, EPERM);
	}
}

/* signal(7), prctl(2): dispositions, masks and slack survive execve. */
static void
start_signals(void)
{
	static const struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t all;
	int i;

	(void)sigfillset(&all);		/* a terminal's too; cells unblock them */
	for (i = 1; i < NSIG; i++)	/* refused for KILL, STOP and libc's own */
		(void)sigaction(i, &dfl, NULL);
	/* its timers' signals are blocked here, and no child has its timers */
	if (prctl(PR_SET_TIMERSLACK, 50000) != 0 ||	/* ns, as usual */
	    sigprocmask(SIG_SETMASK, &all, NULL) != 0)
		refuse(BL_AT_SIGNALS, 0, errno);
}

/* Descriptors 0 to 2 on the null device, 3 the socket, nothing else open. */
void
start_clean(void)
{
	/* struct sched_attr: its size, then SCHED_OTHER, no flags, nice 0 */
	static const uint32_t normal[12] = { sizeof normal };
	struct stat st = { .st_rdev = 0 };
	int fd, i;

	if (syscall(SYS_sched_setattr, 0, normal, 0) != 0)
		refuse(BL_AT_RLIMIT, RLIMIT_NICE, errno);
	start_rlimits();
	start_signals();
	if (close_range(BL_SESSION_FD + 1, ~0u, 0) != 0)
		refuse(BL_AT_STDIO, 0, errno);
	fd = open("/dev/null", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISCHR(st.st_mode) ||
	    st.st_rdev != makedev(1, 3))
		refuse(BL_AT_STDIO, 0, ENODEV);
	for (i = 0; i < BL_SESSION_FD; i++)
		if (dup2(fd, i) != i)
			refuse(BL_AT_STDIO, (uint32_t)i, errno);
	(void)umask(0);			/* modes are as the code says */
	(void)prctl(67, 0, 0, 0, 0);	/* PR_SET_MEMORY_MERGE, Linux 6.4 */
	if (chdir("/") != 0 || syscall(SYS_personality, 0UL) < 0)
		refuse(BL_AT_STDIO, BL_SESSION_FD, errno);
}

/* Wholly root, unreadable, without the caller's keys, from a sound file. */
void
start_root(void)
{
	if (ids_set(0) != 0)
		refuse(BL_AT_IDS, 0, EPERM);
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		refuse(BL_AT_DUMPABLE, 0, errno);
	/* session-keyring(7); a kernel without keys has none to hide */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
	    errno != ENOSYS)
		refuse(BL_AT_KEYRING, 0, errno);
	scoped_fd int self = load_sound(open("/proc/self/exe",
	    O_PATH | O_CLOEXEC), 022);
	if (self < 0)
		refuse(BL_AT_OWN_FILE, 0, self);
}

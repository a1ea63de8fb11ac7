/*
 * The probe's party: makes things in every namespace and tells of them; and
 * the tries of somebody else to reach them.  Then those of limits.
 */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const space_names[NSPACES] = { "net", "mnt", "pid", "ipc", "uts",
    "cgroup" };

enum { SHM, SEM, MSG, QUEUE, KEY };

/* --- its things ---------------------------------------------------------- */

static socklen_t
address(struct sockaddr_un *a, const char *name, bool abstract)
{
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	(void)snprintf(a->sun_path + abstract, sizeof a->sun_path - 1, "%s",
	    name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	    strlen(name) + 1);
}

static void
listen_unix(const char *name, bool abstract)
{
	struct sockaddr_un a;
	socklen_t n = address(&a, name, abstract);
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* what can't be made is not reached, which its control will show */
	if (s >= 0 && bind(s, (struct sockaddr *)&a, n) == 0)
		(void)listen(s, 64);
}

static uint32_t
listen_port(int family)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in four = { .sin_family = AF_INET,
	    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr *a = family == AF_INET ? (void *)&four : (void *)&six;
	socklen_t n = family == AF_INET ? sizeof four : sizeof six;
	int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || bind(s, a, n) != 0 || listen(s, 64) != 0 ||
	    getsockname(s, a, &n) != 0)
		return 0;
	return ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
}

static void
spaces_look(struct facts *f)
{
	char path[40];
	struct stat st;

	for (size_t i = 0; i < NSPACES; i++) {
		(void)snprintf(path, sizeof path, "/proc/self/ns/%s",
		    space_names[i]);
		f->ns[i] = stat(path, &st) == 0 ? st.st_ino : 0;
	}
	if (stat("/", &st) == 0) {
		f->root[0] = st.st_dev;
		f->root[1] = st.st_ino;
	}
	if (f->homedir[0] != '\0' && stat(f->homedir, &st) == 0) {
		f->home[0] = st.st_dev;
		f->home[1] = st.st_ino;
	}
}

static int
folder_make(struct facts *f, const char *where)
{
	char path[sizeof f->dir + 16], at[sizeof f->dir - 32];
	int fd;

	if (chdir(where) != 0 || getcwd(at, sizeof at) == NULL)
		return -1;
	(void)snprintf(f->dir, sizeof f->dir, "%s/bailiff-selftest.XXXXXX",
	    at);
	if (mkdtemp(f->dir) == NULL || chmod(f->dir, 0755) != 0)
		return -1;
	(void)snprintf(f->name, sizeof f->name, "%s", strrchr(f->dir, '/') + 1);
	(void)snprintf(path, sizeof path, "%s/file", f->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, "secret\n", 7) != 7)
		return -1;
	(void)close(fd);
	(void)snprintf(path, sizeof path, "%s/socket", f->dir);
	listen_unix(path, false);
	listen_unix(f->name, true);
	return 0;
}

static void
ipc_make(struct facts *f)
{
	char queue[sizeof f->name + 1];

	if (getrandom(&f->ipc, sizeof f->ipc, 0) != sizeof f->ipc)
		f->ipc = getpid();
	f->ipc = (f->ipc & 0x7fffffff) | 1;	/* never IPC_PRIVATE */
	(void)shmget(f->ipc, 4096, IPC_CREAT | IPC_EXCL | 0666);
	(void)semget(f->ipc, 1, IPC_CREAT | IPC_EXCL | 0666);
	(void)msgget(f->ipc, IPC_CREAT | IPC_EXCL | 0666);
	(void)snprintf(queue, sizeof queue, "/%s", f->name);
	(void)mq_open(queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666, NULL);
	f->key = (int32_t)syscall(SYS_add_key, "user", f->name, "secret", 6UL,
	    KEY_SPEC_PROCESS_KEYRING);
	if (f->key > 0)		/* everybody may look at it, and use it */
		(void)syscall(SYS_keyctl, KEYCTL_SETPERM, f->key, 0x3f3f3f3f);
	else
		f->key = 0;
}

static void
things_remove(const struct facts *f)
{
	static const char *const names[] = { "file", "socket" };
	char path[sizeof f->dir + 16];

	for (size_t i = 0; f->dir[0] != '\0' &&
	    i < sizeof names / sizeof names[0]; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", f->dir, names[i]);
		(void)unlink(path);
	}
	if (f->dir[0] != '\0')
		(void)rmdir(f->dir);
	(void)shmctl(shmget(f->ipc, 0, 0), IPC_RMID, NULL);
	(void)semctl(semget(f->ipc, 0, 0), 0, IPC_RMID);
	(void)msgctl(msgget(f->ipc, 0), IPC_RMID, NULL);
	(void)snprintf(path, sizeof path, "/%s", f->name);
	(void)mq_unlink(path);
}

/* The number of filters that this process runs under; 0 where none tells. */
static uint32_t
filters_now(void)
{
	FILE *s = fopen("/proc/self/status", "re");
	char line[256];
	uint32_t n = 0;

	if (s == NULL)
		return 0;
	while (fgets(line, sizeof line, s) != NULL)
		if (strncmp(line, "Seccomp_filters:", 16) == 0)
			n = (uint32_t)strtoul(line + 16, NULL, 10);
	(void)fclose(s);
	return n;
}

static void
tell(const struct facts *f)
{
	printf("uid=%u gid=%u pid=%u filters=%u port4=%u port6=%u ipc=%d key=%d"
	    " dir=%s name=%s", f->uid, f->gid, f->pid, f->filters, f->port4,
	    f->port6, f->ipc, f->key, f->dir, f->name);
	if (strpbrk(f->host, " \n") == NULL)
		printf(" host=%s", f->host);
	if (f->homedir[0] != '\0' && strpbrk(f->homedir, " \n") == NULL)
		printf(" homedir=%s homedev=%llu homeino=%llu", f->homedir,
		    (unsigned long long)f->home[0],
		    (unsigned long long)f->home[1]);
	printf(" rootdev=%llu rootino=%llu net=%llu mnt=%llu pidns=%llu"
	    " ipcns=%llu uts=%llu cgroup=%llu\n",
	    (unsigned long long)f->root[0], (unsigned long long)f->root[1],
	    (unsigned long long)f->ns[0],
	    (unsigned long long)f->ns[1], (unsigned long long)f->ns[2],
	    (unsigned long long)f->ns[3], (unsigned long long)f->ns[4],
	    (unsigned long long)f->ns[5]);
	(void)fflush(stdout);
}

/* It outlives the one that started it, and takes its things away. */
int
party_stay(const char *where)
{
	struct facts f = { .uid = getuid(), .gid = getgid(),
	    .pid = (uint32_t)getpid() };
	struct pollfd p = { 0, POLLIN, 0 };
	const char *home = getenv("HOME");
	char byte;
	int r;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)umask(0);
	/* prctl(2): where Yama runs, others of this user may trace it, too */
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (home != NULL && strlen(home) < sizeof f.homedir)
		(void)snprintf(f.homedir, sizeof f.homedir, "%s", home);
	(void)gethostname(f.host, sizeof f.host - 1);
	f.filters = filters_now();
	spaces_look(&f);
	r = folder_make(&f, where);
	if (r == 0) {
		f.port4 = listen_port(AF_INET);
		f.port6 = listen_port(AF_INET6);
		ipc_make(&f);
		tell(&f);
		/* accepted or not: a full queue would stop those that try */
		while (poll(&p, 1, 120000) > 0 && read(0, &byte, 1) > 0)
			;
	}
	things_remove(&f);
	return r == 0 ? 0 : 1;
}

/* --- reaching it --------------------------------------------------------- */

static enum verdict
user(const struct facts *f, int arg, char why[WHY])
{
	uid_t u[3];
	gid_t g[3];

	(void)arg;
	if (getresuid(&u[0], &u[1], &u[2]) != 0 ||
	    getresgid(&g[0], &g[1], &g[2]) != 0)
		return NONE;
	(void)say(why, "user %u, group %u", u[0], g[0]);
	for (int i = 0; i < 3; i++)
		if (u[i] == f->uid || g[i] == f->gid || u[i] == 0 ||
		    g[i] == 0 || u[i] != u[0] || g[i] != g[0])
			return OPEN;
	return HELD;
}

static enum verdict
space(const struct facts *f, int which, char why[WHY])
{
	char path[40];
	struct stat st;

	(void)snprintf(path, sizeof path, "/proc/self/ns/%s",
	    space_names[which]);
	if (f->ns[which] == 0 || stat(path, &st) != 0) {
		(void)say(why, "%s: %s", path, strerror(errno));
		return NONE;
	}
	(void)say(why, "%s", st.st_ino == f->ns[which] ? "the same" :
	    "another one");
	return st.st_ino == f->ns[which] ? OPEN : HELD;
}

static enum verdict
host_name(const struct facts *f, int arg, char why[WHY])
{
	char name[65] = "";

	(void)arg;
	(void)gethostname(name, sizeof name - 1);
	(void)say(why, "%.64s", name);
	return f->host[0] == '\0' ? NONE : strcmp(name, f->host) == 0 ? OPEN :
	    HELD;
}

/* By its path, past the root, and by what /proc shows of its owner. */
static enum verdict
files(const struct facts *f, int arg, char why[WHY])
{
	char path[5][sizeof f->dir + 64];
	int err = 0;

	(void)arg;
	(void)snprintf(path[0], sizeof path[0], "%s/file", f->dir);
	(void)snprintf(path[1], sizeof path[1], "/..%s/file", f->dir);
	(void)snprintf(path[2], sizeof path[2], "/proc/1/root%s/file", f->dir);
	(void)snprintf(path[3], sizeof path[3], "/proc/%u/root%s/file", f->pid,
	    f->dir);
	(void)snprintf(path[4], sizeof path[4],
	    "/proc/self/cwd/../../../..%s/file", f->dir);
	for (int i = 0; i < 5; i++) {
		int fd = open(path[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			return opened(why, path[i], 0);
		err = i == 0 ? errno : err;
	}
	return say(why, "by five paths: %s", strerror(err));
}

static enum verdict
roots(const struct facts *f, int arg, char why[WHY])
{
	static const char *const names[] = { "/", "/..", "/proc/1/root",
	    "/proc/self/root" };
	struct stat st;

	(void)arg;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (stat(names[i], &st) == 0 && st.st_dev == f->root[0] &&
		    st.st_ino == f->root[1])
			return opened(why, names[i], 0);
	return say(why, "another one");
}

static enum verdict
home(const struct facts *f, int arg, char why[WHY])
{
	struct stat st;

	(void)arg;
	if (f->home[1] == 0) {
		(void)say(why, "it has no home");
		return NONE;
	}
	if (stat(f->homedir, &st) != 0)
		return say(why, "%.100s: %s", f->homedir, strerror(errno));
	if (st.st_dev == f->home[0] && st.st_ino == f->home[1])
		return opened(why, f->homedir, 0);
	return say(why, "%.100s is another one", f->homedir);
}

/* A process by its number: -1 where that is one of the probe's own. */
static pid_t
number(const struct facts *f)
{
	pid_t pid = (pid_t)f->pid;

	return pid == getpid() || pid == getppid() ? -1 : pid;
}

static enum verdict
signals(const struct facts *f, int arg, char why[WHY])
{
	pid_t pid = number(f);
	char path[40];

	(void)arg;
	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (pid > 0 && access(path, F_OK) == 0)
		return opened(why, path, 0);
	if (pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH))
		return opened(why, "kill knows it", 0);
	return say(why, "no such process");
}

static enum verdict
traces(const struct facts *f, int arg, char why[WHY])
{
	pid_t pid = number(f);
	char path[40], byte;
	struct iovec mine = { &byte, 1 }, theirs = { &byte, 1 };
	int err;

	(void)arg;
	if (pid < 0)
		return say(why, "no such process");
	(void)snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
		return opened(why, path, 0);
	if (process_vm_readv(pid, &mine, 1, &theirs, 1, 0) >= 0 ||
	    errno == EFAULT)
		return opened(why, "process_vm_readv", 0);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
		return opened(why, "ptrace", 0);
	err = errno;
	if (syscall(SYS_pidfd_open, pid, 0) >= 0)
		return opened(why, "pidfd_open", 0);
	return say(why, "ptrace: %s; pidfd_open: %s", strerror(err),
	    strerror(errno));
}

static enum verdict
ports(const struct facts *f, int family, char why[WHY])
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT,
	    .sin6_port = htons((uint16_t)f->port6) };
	struct sockaddr_in four = { .sin_family = AF_INET,
	    .sin_addr = { htonl(INADDR_LOOPBACK) },
	    .sin_port = htons((uint16_t)f->port4) };
	int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if ((family == AF_INET ? f->port4 : f->port6) == 0) {
		(void)say(why, "it has no listener");
		return NONE;
	}
	if (s >= 0 && connect(s, family == AF_INET ? (void *)&four :
	    (void *)&six, family == AF_INET ? sizeof four : sizeof six) == 0)
		return opened(why, "connected", 0);
	return say(why, "%s", strerror(errno));
}

static enum verdict
sockets(const struct facts *f, int abstract, char why[WHY])
{
	char path[sizeof f->dir + 16];
	struct sockaddr_un a;
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n;

	(void)snprintf(path, sizeof path, "%s/socket", f->dir);
	n = address(&a, abstract ? f->name : path, abstract != 0);
	if (s >= 0 && connect(s, (struct sockaddr *)&a, n) == 0)
		return opened(why, "connected", 0);
	return say(why, "%s", strerror(errno));
}

static enum verdict
objects(const struct facts *f, int which, char why[WHY])
{
	char queue[sizeof f->name + 1], text[64];
	long r = -1;

	(void)snprintf(queue, sizeof queue, "/%s", f->name);
	errno = 0;
	if (which == SHM)
		r = shmget(f->ipc, 0, 0);
	else if (which == SEM)
		r = semget(f->ipc, 0, 0);
	else if (which == MSG)
		r = msgget(f->ipc, 0);
	else if (which == QUEUE)
		r = mq_open(queue, O_RDONLY | O_CLOEXEC);
	else if (f->key == 0) {
		(void)say(why, "it has no key");
		return NONE;
	} else
		r = syscall(SYS_keyctl, KEYCTL_DESCRIBE, f->key, text,
		    sizeof text);
	if (r >= 0)
		return opened(why, "it is there", 0);
	return say(why, "%s", strerror(errno));
}

const struct try tries_party[] = {
	{ "user", user, 0 }, { "ns_net", space, 0 }, { "ns_mount", space, 1 },
	{ "ns_pid", space, 2 }, { "ns_ipc", space, 3 }, { "ns_uts", space, 4 },
	{ "ns_cgroup", space, 5 }, { "hostname", host_name, 0 },
	{ "files", files, 0 }, { "root", roots, 0 }, { "home", home, 0 },
	{ "signal", signals, 0 }, { "trace", traces, 0 },
	{ "tcp4", ports, AF_INET }, { "tcp6", ports, AF_INET6 },
	{ "path_socket", sockets, 0 }, { "abstract_socket", sockets, 1 },
	{ "shm", objects, SHM }, { "sem", objects, SEM },
	{ "msg", objects, MSG }, { "mqueue", objects, QUEUE },
	{ "key", objects, KEY }, { NULL, NULL, 0 }
};

/* --- limits: lower than these in the cell that tries them ----------------- */

enum { FORKS = 64, MEMORY_MIB = 128, FILE_MIB = 12, DISK_MIB = 24,
    DESCRIPTORS = 96 };

static enum verdict
limit_processes(const struct facts *f, int arg, char why[WHY])
{
	pid_t pid[FORKS];
	int n = 0, err = 0;

	(void)f;
	(void)arg;
	while (n < FORKS && err == 0) {
		pid[n] = fork();
		if (pid[n] == 0)
			for (;;)
				(void)pause();
		err = pid[n] < 0 ? errno : 0;
		n += pid[n] > 0;
	}
	for (int i = 0; i < n; i++) {
		(void)kill(pid[i], SIGKILL);
		(void)waitpid(pid[i], NULL, 0);
	}
	(void)say(why, "%d processes%s%s", n, err != 0 ? ", then: " : "",
	    err != 0 ? strerror(err) : "");
	return err == EAGAIN ? HELD : OPEN;
}

static enum verdict
limit_memory(const struct facts *f, int arg, char why[WHY])
{
	const size_t step = 8 << 20;
	int mib = 0;

	(void)f;
	(void)arg;
	for (; mib < MEMORY_MIB; mib += 8) {
		char *p = mmap(NULL, step, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return say(why, "%d MiB, then: %s", mib,
			    strerror(errno));
		for (size_t i = 0; i < step; i += 4096)
			p[i] = 1;
	}
	(void)say(why, "%d MiB", mib);
	return OPEN;
}

/* Writes up to mib MiB into fd.  How many there were; errno says why. */
static int
fill(int fd, int mib)
{
	static char block[1 << 20];
	ssize_t r = (ssize_t)sizeof block;
	int n = 0;

	errno = 0;
	while (n < mib && (r = write(fd, block, sizeof block)) ==
	    (ssize_t)sizeof block)
		n++;
	if (n < mib && r >= 0)		/* a part: the next one tells why */
		r = write(fd, block, sizeof block);
	return n;
}

static int
unlinked(const char *dir)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof path, "%s/probe-%d", dir, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	(void)unlink(path);
	return fd;
}

static enum verdict
limit_file(const struct facts *f, int arg, char why[WHY])
{
	int fd = unlinked("."), n;

	(void)f;
	(void)arg;
	(void)signal(SIGXFSZ, SIG_IGN);
	n = fd < 0 ? 0 : fill(fd, FILE_MIB);
	(void)say(why, "%d MiB%s%s", n, n < FILE_MIB ? ", then: " : "",
	    n < FILE_MIB ? strerror(errno) : "");
	return n == FILE_MIB ? OPEN : errno == EFBIG ? HELD : NONE;
}

/* In all folders that it can write to, together. */
static enum verdict
limit_disk(const struct facts *f, int arg, char why[WHY])
{
	static const char *const dirs[] = { ".", "/tmp", "/var/tmp", "/run",
	    "/dev/shm" };
	int n = 0, err = 0;

	(void)arg;
	(void)signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; n < DISK_MIB && err != ENOSPC; i++) {
		int fd = unlinked(f->control ? "." : dirs[i % 5]);
		int some = fd < 0 ? 0 : fill(fd, 4);

		err = some < 4 ? errno : 0;
		n += some;
		if (i > DISK_MIB)
			break;
	}
	(void)say(why, "%d MiB%s%s", n, err != 0 ? ", then: " : "",
	    err != 0 ? strerror(err) : "");
	return n >= DISK_MIB ? OPEN : err == ENOSPC ? HELD : NONE;
}

static enum verdict
limit_descriptors(const struct facts *f, int arg, char why[WHY])
{
	int n = 0;

	(void)f;
	(void)arg;
	while (n < DESCRIPTORS && dup(0) >= 0)
		n++;
	(void)say(why, "%d%s%s", n, n < DESCRIPTORS ? ", then: " : "",
	    n < DESCRIPTORS ? strerror(errno) : "");
	return n == DESCRIPTORS ? OPEN : errno == EMFILE ? HELD : NONE;
}

/*
 * What the kernel keeps for a user.  A hard limit is the most that there can
 * be; helper/spec.c has these numbers.
 */
static enum verdict
limit_kernel(const struct facts *f, int arg, char why[WHY])
{
	static const struct { int what; rlim_t most; const char *name; } row[] = {
		{ RLIMIT_STACK, 64 << 20, "stack" },
		{ RLIMIT_MEMLOCK, 64 << 10, "locked memory" },
		{ RLIMIT_MSGQUEUE, 819200, "message queues" },
		{ RLIMIT_SIGPENDING, 4096, "waiting signals" },
		{ RLIMIT_RTPRIO, 0, "realtime priority" },
		{ RLIMIT_NICE, 0, "priority" }
	};

	(void)f;
	(void)arg;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct rlimit v = { RLIM_INFINITY, RLIM_INFINITY };

		(void)getrlimit((__rlimit_resource_t)row[i].what, &v);
		if (v.rlim_max <= row[i].most)
			continue;
		if (v.rlim_max == RLIM_INFINITY)
			(void)say(why, "%s: without a bound", row[i].name);
		else
			(void)say(why, "%s: up to %llu", row[i].name,
			    (unsigned long long)v.rlim_max);
		return OPEN;
	}
	return say(why, "none is above the cell's");
}

const struct try tries_limits[] = {
	{ "limit_kernel", limit_kernel, 0 },
	{ "limit_processes", limit_processes, 0 },
	{ "limit_memory", limit_memory, 0 }, { "limit_file", limit_file, 0 },
	{ "limit_disk", limit_disk, 0 },
	{ "limit_descriptors", limit_descriptors, 0 }, { NULL, NULL, 0 }
};

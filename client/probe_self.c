/* The probe's tries that look at its own place: rights, files, network. */
#include "probe.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/route.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* TEST-NET-1 and the documentation's prefix: nobody has these addresses. */
#define OUT4 "192.0.2.1"
#define OUT6 "2001:db8::1"

/* --- rights -------------------------------------------------------------- */

static enum verdict
groups(const struct facts *f, int arg, char why[WHY])
{
	const gid_t root = 0;
	int n;

	(void)arg;
	if (f->control && getgroups(0, NULL) == 0)
		(void)setgroups(1, &root);	/* a root in none */
	n = getgroups(0, NULL);
	(void)say(why, "%d groups", n);
	return n == 0 ? HELD : OPEN;
}

static enum verdict
become(const struct facts *f, int arg, char why[WHY])
{
	const gid_t root = 0;

	(void)arg;
	if (setgroups(1, &root) == 0)
		return opened(why, "setgroups worked", 0);
	if (setresgid(0, 0, 0) == 0 || setresgid(f->gid, f->gid, f->gid) == 0)
		return opened(why, "setresgid worked", 0);
	if (setresuid(0, 0, 0) == 0 || setresuid(f->uid, f->uid, f->uid) == 0)
		return opened(why, "setresuid worked", 0);
	return say(why, "setgroups, setresgid, setresuid: %s", strerror(errno));
}

/* A line "NAME: VALUE" of this process's status, as a number, or -1. */
static long long
status(const char *name, int base)
{
	FILE *s = fopen("/proc/self/status", "re");
	size_t n = strlen(name);
	long long v = -1;
	char line[256];

	if (s == NULL)
		return -1;
	while (fgets(line, sizeof line, s) != NULL)
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			v = strtoll(line + n + 1, NULL, base);
	(void)fclose(s);
	return v;
}

/* A user without any outside can still get them in a namespace of its own. */
static enum verdict
capabilities(const struct facts *f, int arg, char why[WHY])
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff",
	    "CapAmb" };

	(void)arg;
	if (f->control && status("CapEff", 16) == 0)
		(void)unshare(CLONE_NEWUSER);
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		long long v = status(sets[i], 16);

		if (v == 0)
			continue;
		(void)say(why, "%s: %llx", sets[i], (unsigned long long)v);
		return v < 0 ? NONE : OPEN;
	}
	return say(why, "none in any set");
}

static enum verdict
bounding(const struct facts *f, int arg, char why[WHY])
{
	long long v = status("CapBnd", 16);

	(void)f;
	(void)arg;
	(void)say(why, "CapBnd: %llx", (unsigned long long)v);
	return v < 0 ? NONE : v == 0 ? HELD : OPEN;
}

static enum verdict
privileges(const struct facts *f, int arg, char why[WHY])
{
	int v = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);

	(void)f;
	(void)arg;
	(void)say(why, "no_new_privs: %d", v);
	return v == 1 ? HELD : OPEN;
}

/* One more than the caller runs under; kernels before 5.9 don't count. */
static enum verdict
filter(const struct facts *f, int arg, char why[WHY])
{
	long long mode = status("Seccomp", 10);
	long long n = status("Seccomp_filters", 10);

	(void)arg;
	(void)say(why, "seccomp mode %lld, %lld filters", mode, n);
	return mode == 2 && (n < 0 || n > f->filters) ? HELD : OPEN;
}

static enum verdict
descriptors(const struct facts *f, int arg, char why[WHY])
{
	(void)arg;
	(void)say(why, "%u open above 2", f->open_fds);
	return f->open_fds == 0 ? HELD : OPEN;
}

static enum verdict
environment(const struct facts *f, int arg, char why[WHY])
{
	static const char *const known[] = { "HOME=", "TMPDIR=", "PATH=",
	    "LANG=", "USER=", "LOGNAME=" };

	(void)f;
	(void)arg;
	for (char **v = environ; *v != NULL; v++) {
		bool is = false;

		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			is |= strncmp(*v, known[i], strlen(known[i])) == 0;
		if (is)
			continue;
		(void)say(why, "has %.*s", (int)strcspn(*v, "="), *v);
		return OPEN;
	}
	return say(why, "the role's own variables alone");
}

/* A core of one byte is none; a handler in core_pattern obeys it, too. */
static enum verdict
core(const struct facts *f, int arg, char why[WHY])
{
	struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };
	int st = 0;
	pid_t pid;

	(void)f;
	(void)arg;
	(void)getrlimit(RLIMIT_CORE, &l);
	if (l.rlim_max > 1)
		return opened(why, "the limit on core files can be raised", 0);
	pid = fork();
	if (pid == 0)
		abort();
	if (pid < 0 || waitpid(pid, &st, 0) != pid)
		return NONE;
	if (WCOREDUMP(st))
		return opened(why, "a core was dumped", 0);
	return say(why, "at most %llu bytes; aborted without one",
	    (unsigned long long)l.rlim_max);
}

/* --- files --------------------------------------------------------------- */

/*
 * Calls each for every mount, with its point and options; the first that says
 * OPEN ends it.  NONE: there is no list.
 */
static enum verdict
mounts(bool (*lacks)(const char *at, const char *opts), const char *what,
    char why[WHY])
{
	FILE *s = fopen("/proc/self/mountinfo", "re");
	char line[4096], at[1024], opts[256];
	unsigned n = 0;

	if (s == NULL) {
		(void)say(why, "mountinfo: %s", strerror(errno));
		return NONE;
	}
	while (fgets(line, sizeof line, s) != NULL) {
		if (sscanf(line, "%*d %*d %*s %*s %1023s %255s", at, opts) != 2)
			continue;
		n++;
		if (!lacks(at, opts))
			continue;
		(void)fclose(s);
		(void)say(why, "%.100s is not %s", at, what);
		return OPEN;
	}
	(void)fclose(s);
	return say(why, "%u mounts are %s", n, what);
}

static bool
has(const char *opts, const char *word)
{
	size_t n = strlen(word);

	for (; opts != NULL; opts = strchr(opts, ',')) {
		opts += *opts == ',';
		if (strncmp(opts, word, n) == 0 &&
		    (opts[n] == ',' || opts[n] == '\0'))
			return true;
	}
	return false;
}

static bool
below(const char *at, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(at, dir, n) == 0 && (at[n] == '\0' || at[n] == '/');
}

static bool
writable(const char *at, const char *opts)
{
	static const char *const may[] = { "/tmp", "/var/tmp", "/run", "/work",
	    "/home", "/dev/shm", "/dev/pts", "/dev/mqueue" };

	struct stat st;

	for (size_t i = 0; i < sizeof may / sizeof may[0]; i++)
		if (below(at, may[i]))
			return false;
	/* the null device and its like; a disk is no character device */
	if (strncmp(at, "/dev/", 5) == 0 && stat(at, &st) == 0 &&
	    S_ISCHR(st.st_mode))
		return false;
	return strcmp(at, "/proc") != 0 && !has(opts, "ro");
}

static bool
gives_ids(const char *at, const char *opts)
{
	(void)at;
	return !has(opts, "nosuid");
}

/* Nobody but the kernel can put a device into /proc; /dev is read-only. */
static bool
gives_devices(const char *at, const char *opts)
{
	return !below(at, "/proc") && !below(at, "/dev") &&
	    !has(opts, "nodev");
}

/* open(2), O_TMPFILE: a read-only mount is told before rights are asked. */
static enum verdict
read_only(const struct facts *f, int arg, char why[WHY])
{
	static const char *const dirs[] = { "/", "/usr", "/bin", "/lib", "/etc",
	    "/dev", "/var", "/home" };

	(void)f;
	(void)arg;
	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		int fd = open(dirs[i], O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
		int err = fd >= 0 ? 0 : errno;

		if (fd >= 0)
			(void)close(fd);
		if (err == EROFS || err == ENOENT)
			continue;
		(void)say(why, "a file in %s: %s", dirs[i], err == 0 ?
		    "made" : strerror(err));
		return OPEN;
	}
	return mounts(writable, "read-only or its own", why);
}

static enum verdict
set_ids(const struct facts *f, int arg, char why[WHY])
{
	(void)f;
	(void)arg;
	return mounts(gives_ids, "nosuid", why);
}

static enum verdict
devices(const struct facts *f, int arg, char why[WHY])
{
	static const char *const dirs[] = { ".", "/tmp", "/dev/shm", "/run" };
	char path[64];

	(void)arg;
	for (size_t i = 0; i < (f->control ? 1 : sizeof dirs / sizeof dirs[0]);
	    i++) {
		(void)snprintf(path, sizeof path, "%s/probe-%d", dirs[i],
		    (int)getpid());
		if (mknod(path, S_IFCHR | 0600, makedev(1, 3)) != 0 &&
		    mknod(path, S_IFBLK | 0600, makedev(7, 0)) != 0)
			continue;
		(void)unlink(path);
		return opened(why, "a device was made", 0);
	}
	return mounts(gives_devices, "nodev", why);
}

static enum verdict
kernel_files(const struct facts *f, int arg, char why[WHY])
{
	static const char *const names[] = { "/proc/sys", "/proc/irq",
	    "/proc/bus", "/proc/sysrq-trigger" };
	struct statvfs v;
	unsigned n = 0;
	int fd;

	(void)f;
	(void)arg;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (statvfs(names[i], &v) != 0)
			continue;
		n++;
		if ((v.f_flag & ST_RDONLY) == 0)
			return opened(why, names[i], EACCES);
	}
	fd = open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		return opened(why, "core_pattern can be written", 0);
	(void)say(why, "%u of them, read-only", n);
	return n > 0 ? HELD : NONE;
}

static enum verdict
covered(const struct facts *f, int arg, char why[WHY])
{
	static const char *const names[] = { "kcore", "keys", "key-users",
	    "kallsyms", "locks", "timer_list" };
	char path[40], byte;

	(void)f;
	(void)arg;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		int fd;
		ssize_t n;

		(void)snprintf(path, sizeof path, "/proc/%s", names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, &byte, 1);
		if (fd >= 0)
			(void)close(fd);
		if (n >= 0)
			return opened(why, path, 0);
	}
	return say(why, "none can be read");
}

/*
 * Any process in /proc but this one and its parent, the probe's first; own:
 * only of this user's, what an earlier command has left; not the cell's init.
 */
static enum verdict
processes(const struct facts *f, int own, char why[WHY])
{
	struct stat st;
	DIR *d = opendir("/proc");
	struct dirent *e;
	long pid;

	(void)f;
	if (d == NULL) {
		(void)say(why, "/proc: %s", strerror(errno));
		return NONE;
	}
	while ((e = readdir(d)) != NULL) {
		pid = strtol(e->d_name, NULL, 10);
		if (pid <= 0 || pid == getpid() || pid == getppid() ||
		    (own && (pid == 1 ||
		    fstatat(dirfd(d), e->d_name, &st, 0) != 0 ||
		    st.st_uid != getuid())))
			continue;
		(void)closedir(d);
		(void)say(why, "process %ld is shown", pid);
		return OPEN;
	}
	(void)closedir(d);
	return say(why, "no other is shown");
}

/* Its own home: there, its own, and closed to others. */
static enum verdict
own_home(const struct facts *f, int arg, char why[WHY])
{
	const char *home = getenv("HOME");
	struct stat st;

	(void)arg;
	if (f->control)		/* the caller's folder, which others can read */
		home = ".";
	if (home == NULL || stat(home, &st) != 0)
		return opened(why, "there is no home", errno);
	(void)say(why, "mode %03o, user %u", st.st_mode & 07777, st.st_uid);
	return (st.st_mode & 077) == 0 && st.st_uid == getuid() ? HELD : OPEN;
}

/* --- network ------------------------------------------------------------- */

/* Outside: a network of its own where an address and a route can be made. */
static bool
own_network(void)
{
	struct ifreq q = { .ifr_name = "lo" };
	struct sockaddr_in *a = (struct sockaddr_in *)(void *)&q.ifr_addr;
	struct rtentry r = { .rt_flags = RTF_UP | RTF_HOST };
	static char lo[] = "lo";
	int s;

	if (unshare(CLONE_NEWNET) != 0 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	q.ifr_flags = IFF_UP;
	if (s < 0 || ioctl(s, SIOCSIFFLAGS, &q) != 0)
		return false;
	(void)snprintf(q.ifr_name, sizeof q.ifr_name, "lo:1");
	memset(a, 0, sizeof *a);
	a->sin_family = AF_INET;
	(void)inet_pton(AF_INET, "192.0.2.2", &a->sin_addr);
	if (ioctl(s, SIOCSIFADDR, &q) != 0)
		return false;
	a = (struct sockaddr_in *)(void *)&r.rt_dst;
	a->sin_family = r.rt_genmask.sa_family = AF_INET;
	(void)inet_pton(AF_INET, OUT4, &a->sin_addr);
	r.rt_dev = lo;
	return ioctl(s, SIOCADDRT, &r) == 0 || errno == EEXIST;
}

/* What is up, or has an address, besides a loopback's.  "" or its name. */
static void
link_seen(char *name, size_t size)
{
	struct ifaddrs *l, *i;

	name[0] = '\0';
	if (getifaddrs(&l) != 0)
		return;
	for (i = l; i != NULL; i = i->ifa_next) {
		const struct sockaddr_in *a = (const void *)i->ifa_addr;
		const struct sockaddr_in6 *b = (const void *)i->ifa_addr;
		bool lo = strcmp(i->ifa_name, "lo") == 0;
		int family = a == NULL ? AF_UNSPEC : a->sin_family;

		if (lo && (family == AF_UNSPEC || family == AF_PACKET ||
		    (family == AF_INET &&
		    ntohl(a->sin_addr.s_addr) >> 24 == 127) ||
		    (family == AF_INET6 &&
		    IN6_IS_ADDR_LOOPBACK(&b->sin6_addr))))
			continue;
		if (lo || (i->ifa_flags & IFF_UP) != 0 ||
		    family == AF_INET || family == AF_INET6)
			(void)snprintf(name, size, "%s", i->ifa_name);
	}
	freeifaddrs(l);
}

static enum verdict
links(const struct facts *f, int arg, char why[WHY])
{
	char name[IF_NAMESIZE + 8];

	(void)arg;
	link_seen(name, sizeof name);
	if (name[0] == '\0' && f->control && own_network())
		link_seen(name, sizeof name);
	if (name[0] == '\0')
		return say(why, "lo alone");
	(void)say(why, "%s has an address, or is up", name);
	return OPEN;
}

/*
 * 0, or the errno of a way out.  connect(2) of a datagram socket looks for a
 * route and sends nothing; send: then a byte is sent, too.
 */
static int
way_out(int family, bool send)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_in6 b = { .sin6_family = AF_INET6,
	    .sin6_port = htons(9) };
	int s = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	(void)inet_pton(AF_INET, OUT4, &a.sin_addr);
	(void)inet_pton(AF_INET6, OUT6, &b.sin6_addr);
	if (s < 0)
		return errno;
	r = family == AF_INET ?
	    connect(s, (struct sockaddr *)&a, sizeof a) :
	    connect(s, (struct sockaddr *)&b, sizeof b);
	if (r != 0 && send)	/* what has no route is no packet either */
		r = sendto(s, "", 1, MSG_NOSIGNAL, family == AF_INET ?
		    (struct sockaddr *)&a : (struct sockaddr *)&b,
		    family == AF_INET ? sizeof a : sizeof b) == 1 ? 0 : -1;
	r = r == 0 ? 0 : errno;
	(void)close(s);
	return r;
}

static enum verdict
routes(const struct facts *f, int arg, char why[WHY])
{
	int r4 = way_out(AF_INET, !f->control);
	int r6 = way_out(AF_INET6, !f->control);

	(void)arg;
	if (r4 != 0 && r6 != 0 && f->control && own_network())
		r4 = way_out(AF_INET, false);
	if (r4 == 0 || r6 == 0)
		return opened(why, r4 == 0 ? OUT4 " has a route" :
		    OUT6 " has a route", 0);
	return say(why, OUT4 ": %s; " OUT6 ": %s", strerror(r4), strerror(r6));
}

/* A change of the network: rtnetlink(7) asks for the right first. */
static enum verdict
network_change(const struct facts *f, int arg, char why[WHY])
{
	struct { struct nlmsghdr h; struct ifinfomsg m; } q = {
	    .h = { sizeof q, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, 1, 0 },
	    .m = { .ifi_family = AF_UNSPEC, .ifi_index = 1 } };
	struct { struct nlmsghdr h; struct nlmsgerr e; char more[512]; } a = {
	    .e = { .error = -EIO } };
	struct ifreq i = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), n;

	(void)arg;
	if (f->control && !own_network())
		return NONE;
	if (f->control)
		s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s >= 0 && ioctl(s, SIOCSIFFLAGS, &i) == 0)
		return opened(why, "SIOCSIFFLAGS worked", 0);
	n = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (n < 0 || send(n, &q, sizeof q, 0) < 0 ||
	    recv(n, &a, sizeof a, 0) < (ssize_t)sizeof a.h)
		return say(why, "netlink: %s", strerror(errno));
	if (a.e.error != -EPERM)
		return opened(why, "RTM_NEWLINK", -a.e.error);
	return say(why, "SIOCSIFFLAGS, RTM_NEWLINK: %s", strerror(EPERM));
}

/* HELD where it works: a wall that stands too close is broken, too. */
static enum verdict
loopback(const struct facts *f, int family, char why[WHY])
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in four = { .sin_family = AF_INET,
	    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr *a = family == AF_INET ? (void *)&four : (void *)&six;
	socklen_t n = family == AF_INET ? sizeof four : sizeof six;
	int l = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), s, c;
	char byte = 0;

	(void)f;
	if (l < 0 || bind(l, a, n) != 0 || listen(l, 1) != 0 ||
	    getsockname(l, a, &n) != 0)
		return opened(why, "no listener", errno);
	s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0 || connect(s, a, n) != 0 ||
	    (c = accept4(l, NULL, NULL, SOCK_CLOEXEC)) < 0 ||
	    send(s, "x", 1, MSG_NOSIGNAL) != 1 || recv(c, &byte, 1, 0) != 1)
		return opened(why, "no connection", errno);
	return say(why, "a byte went from one end to the other");
}

const struct try tries_self[] = {
	{ "groups", groups, 0 }, { "become", become, 0 },
	{ "capabilities", capabilities, 0 }, { "bounding", bounding, 0 },
	{ "no_new_privs", privileges, 0 }, { "filter", filter, 0 },
	{ "descriptors", descriptors, 0 }, { "environment", environment, 0 },
	{ "core", core, 0 }, { "read_only", read_only, 0 },
	{ "nosuid", set_ids, 0 }, { "nodev", devices, 0 },
	{ "proc_sys", kernel_files, 0 }, { "proc_covered", covered, 0 },
	{ "processes", processes, 0 }, { "remains", processes, 1 },
	{ "own_home", own_home, 0 },
	{ "links", links, 0 }, { "routes", routes, 0 },
	{ "network_change", network_change, 0 },
	{ "loopback4", loopback, AF_INET }, { "loopback6", loopback, AF_INET6 },
	{ NULL, NULL, 0 }
};

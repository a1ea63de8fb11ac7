/*
 * Cells' control groups.  cgroups(7); the kernel's admin-guide/cgroup-v2.
 *
 *   TOP                 this user's own, with nobody in it
 *   TOP/bailiff.main    this process, and its helper
 *   TOP/cell-PID-N      a cell, with its limits
 *
 * The helper makes a cell's first process in the cell's group, and the kernel
 * lets it only where this user could have moved it there: TOP, too, has to be
 * this user's.
 */
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <linux/magic.h>
#include <unistd.h>

#include "cells.h"

#define MAIN "bailiff.main"
#define CELL "cell-"

enum { EMPTY_MS = 2000, EMPTY_TRIES = 20, SWEEP_S = 10, TEXT = 4096 };

/* --- small files ------------------------------------------------------------ */

/* 0, or -errno. */
static int
write_at(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), r;
	size_t n = strlen(text);
	ssize_t done;

	if (fd < 0)
		return -errno;
	done = write(fd, text, n);
	r = done == (ssize_t)n ? 0 : done < 0 ? -errno : -EIO;
	(void)close(fd);
	return r;
}

/* 0, or -errno; text is "" then. */
static int
read_at(int dir, const char *name, char text[TEXT])
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT - 1);
	int r = n < 0 ? -errno : 0;

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* true: word is one of those in text. */
static bool
has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	const char *p = text;

	for (; (p = strstr(p, word)) != NULL; p += n)
		if ((p == text || p[-1] == ' ') &&
		    (p[n] == '\0' || p[n] == ' ' || p[n] == '\n'))
			return true;
	return false;
}

/* The number behind a line's name, or 0. */
static uint64_t
number_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; p != NULL; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, name, n) == 0 && p[n] == ' ')
			return strtoull(p + n, NULL, 10);
	}
	return 0;
}

/* --- where this process is --------------------------------------------------- */

int
cgroup_own(char *path, size_t size)
{
	char text[TEXT + 64];
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	const char *p;

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (n == (ssize_t)sizeof text - 1)
		return -ENAMETOOLONG;	/* more of it was not read */
	p = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (p == NULL)
		return -ENOENT;
	p = strchr(p, '/');
	if (p == NULL || strcspn(p, "\n") >= size)
		return -ENAMETOOLONG;
	(void)snprintf(path, size, "%.*s", (int)strcspn(p, "\n"), p);
	return 0;
}

/* A folder of the tree at path, or -errno. */
static int
open_path(const char *path)
{
	static const char *const at[] = { "/sys/fs/cgroup",
	    "/sys/fs/cgroup/unified" };
	char full[TEXT + 64];
	struct statfs fs;
	int fd;

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
		if (statfs(at[i], &fs) != 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
			continue;
		/* a group outside of this namespace's root is shown by ".." */
		(void)snprintf(full, sizeof full, "%s%s", at[i], path);
		fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return fd;
		(void)close(fd);
		break;
	}
	return -ENODEV;
}

static int
say(char *why, size_t size, const char *what, int err)
{
	if (err == 0)
		(void)snprintf(why, size, "%s", what);
	else
		(void)snprintf(why, size, "%s: %s", what, strerror(err));
	return -1;
}

/* true: this user may divide it, and it has what is needed. */
static bool
is_ours(int dir, char *why, size_t size)
{
	struct stat st, procs;
	char text[TEXT];

	if (read_at(dir, "cgroup.controllers", text) != 0 ||
	    !has_word(text, "memory") || !has_word(text, "pids")) {
		(void)say(why, size, "this process's control group has no "
		    "controllers of memory and processes (are they used by "
		    "cgroup v1, or not delegated?)", 0);
		return false;
	}
	if (fstat(dir, &st) != 0 || st.st_uid != geteuid() ||
	    fstatat(dir, "cgroup.procs", &procs, AT_SYMLINK_NOFOLLOW) != 0 ||
	    procs.st_uid != geteuid()) {
		(void)say(why, size, "this process's control group is not its "
		    "user's own", 0);
		return false;
	}
	return true;
}

/*
 * true: nobody else keeps it.  Where systemd runs, a group is a unit's; one that
 * was not delegated is systemd's to write, and a kill in a cell of ours would be
 * the unit's.  systemd(1) marks one that was, but a user's not in every version:
 * then a scope is asked for, as if there was none.
 */
static bool
is_delegated(int dir)
{
	static const char *const mark[] = { "trusted.delegate",
	    "user.delegate" };
	char v;

	if (access("/run/systemd/system", F_OK) != 0)
		return true;
	for (size_t i = 0; i < sizeof mark / sizeof mark[0]; i++)
		if (fgetxattr(dir, mark[i], &v, 1) == 1 && v == '1')
			return true;
	return false;
}

/* true: no other process is in it. */
static bool
alone(int dir)
{
	char text[TEXT], *end;

	return read_at(dir, "cgroup.procs", text) == 0 &&
	    strtol(text, &end, 10) == getpid() && strcmp(end, "\n") == 0;
}

/*
 * Makes a folder for this process in its group and goes there; then the group
 * can hand its controllers on.
 */
static int
divide(int dir, char *why, size_t size)
{
	static const char *const want[] = { "+memory", "+pids", "+cpu" };
	int r;

	if (mkdirat(dir, MAIN, 0755) != 0 && errno != EEXIST)
		return say(why, size, "no control group can be made", errno);
	r = write_at(dir, MAIN "/cgroup.procs", "0");
	if (r != 0)
		return say(why, size, "this process can't be moved into a "
		    "control group of its own", -r);
	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		r = write_at(dir, "cgroup.subtree_control", want[i]);
		if (r != 0 && i < 2)	/* cpu: an old user manager has none */
			return say(why, size, "controllers can't be handed on",
			    -r);
	}
	/* this process and its helper before what runs in their cells */
	(void)write_at(dir, MAIN "/cpu.weight", "1000");
	return 0;
}

/* true: it is the one that divide has made. */
static bool
is_main(const char *path)
{
	return strcmp(strrchr(path, '/') + 1, MAIN) == 0;
}

/* asked: it is one that systemd has just given. */
static int
enter_own(bool asked, char *why, size_t size)
{
	char path[TEXT];
	int r = cgroup_own(path, sizeof path), dir;

	if (r != 0)
		return say(why, size, "this host has no cgroup v2", 0);
	if (is_main(path))
		return 0;
	dir = open_path(path);
	if (dir < 0)
		return say(why, size, "this process's control group can't be "
		    "opened", -dir);
	if (!is_ours(dir, why, size))
		r = -1;
	else if (!alone(dir))
		r = say(why, size, "others are in this process's control "
		    "group", 0);
	else if (!asked && !is_delegated(dir))
		r = say(why, size, "this process's control group was not "
		    "delegated to it", 0);
	else
		r = divide(dir, why, size);
	(void)close(dir);
	return r;
}

/* Where version 1 has the controllers, nobody can give them. */
static bool
possible(void)
{
	char text[TEXT] = "";
	int root = open_path("/");

	if (root >= 0) {
		(void)read_at(root, "cgroup.controllers", text);
		(void)close(root);
	}
	return has_word(text, "memory") && has_word(text, "pids");
}

/* true: this group, or one above it and below its user's slice, has a bound. */
static bool
bounded(char *path, size_t slice)
{
	static const char *const file[] = { "memory.max", "memory.high",
	    "cpu.max" };
	char text[TEXT];

	for (; strlen(path) > slice; *strrchr(path, '/') = '\0') {
		int dir = open_path(path);
		bool any = dir < 0;

		for (size_t i = 0; dir >= 0 && i < sizeof file / sizeof file[0];
		    i++)
			any = any || (read_at(dir, file[i], text) == 0 &&
			    strncmp(text, "max", 3) != 0);
		if (dir >= 0)
			(void)close(dir);
		if (any)
			return true;
	}
	return false;
}

/*
 * true: a login's own scope, or one of its programs' (a desktop makes one for
 * each), which nobody has bounded as a job.  Root may have come there by sudo.
 */
static bool
in_session(void)
{
	static const char above[] = "/user.slice/user-";
	char path[TEXT];
	size_t slice, len;

	if (cgroup_own(path, sizeof path) != 0 ||
	    strncmp(path, above, sizeof above - 1) != 0)
		return false;
	len = strlen(path);
	slice = sizeof above - 1 + strcspn(path + sizeof above - 1, "/");
	return (geteuid() == 0 ||
	    strtoul(path + sizeof above - 1, NULL, 10) == geteuid()) &&
	    len > slice + 6 && strcmp(path + len - 6, ".scope") == 0 &&
	    !bounded(path, slice);
}

int
cgroup_enter(bool anywhere, char *why, size_t size)
{
	char other[200];
	int r;

	if (enter_own(false, why, size) == 0)
		return 0;
	if (!possible()) {
		(void)say(why, size, "this host's controllers of memory and "
		    "processes are not those of cgroup v2", 0);
		return -ENODEV;
	}
	if (!anywhere && !in_session()) {
		(void)say(why, size, "this is a service or a job, and a scope "
		    "would be outside of it; --cgroup scope asks for one", 0);
		return -EPERM;
	}
	r = scope_enter(other, sizeof other);
	if (r == 0)
		return enter_own(true, why, size) == 0 ? 0 : -EPERM;
	/* systemd's answer says more, if there is a systemd */
	if (other[0] != '\0')
		(void)say(why, size, other, 0);
	return r;
}

/* --- the top ------------------------------------------------------------------ */

/* What bailiffs that have ended left: their cells are dead or dying. */
static void
sweep(int top)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *w;
	struct stat st;

	while (d != NULL && (w = readdir(d)) != NULL) {
		long pid = strncmp(w->d_name, CELL, sizeof CELL - 1) == 0 ?
		    strtol(w->d_name + sizeof CELL - 1, NULL, 10) : 0;

		/* one that was just made may be another namespace's */
		if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
		    fstatat(top, w->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_ctime + SWEEP_S < time(NULL))
			(void)unlinkat(top, w->d_name, AT_REMOVEDIR);
	}
	if (d != NULL)
		(void)closedir(d);
	else if (fd >= 0)
		(void)close(fd);
}

void
cgroups_open(struct cgroups *g)
{
	char path[TEXT], text[TEXT];
	int r = cgroup_own(path, sizeof path);

	*g = (struct cgroups){ .top = -1, .own = 1 };
	if (r != 0 || !is_main(path)) {
		(void)say(g->why, sizeof g->why, "this process has no control "
		    "group that it may divide", 0);
		return;
	}
	*strrchr(path, '/') = '\0';
	r = open_path(path);
	if (r < 0) {
		(void)say(g->why, sizeof g->why, "the control group above "
		    "can't be opened", -r);
	} else if (!is_ours(r, g->why, sizeof g->why)) {
		(void)close(r);
	} else if (read_at(r, "cgroup.subtree_control", text) != 0 ||
	    !has_word(text, "memory") || !has_word(text, "pids")) {
		(void)say(g->why, sizeof g->why, "the control group above "
		    "hands no controllers of memory and processes on", 0);
		(void)close(r);
	} else {
		g->top = r;
		g->there = true;
		sweep(r);
	}
}

void
cgroups_close(struct cgroups *g)
{
	if (g->there)
		(void)close(g->top);
	*g = (struct cgroups){ .top = -1 };
}

/* --- a cell's ------------------------------------------------------------------ */

static int
set_number(int dir, const char *name, uint64_t v)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)v);
	return write_at(dir, name, text);
}

/*
 * Read back: what was written must be what counts, but for what of it is less
 * than a unit.  0, or -errno.
 */
static int
check_number(int dir, const char *name, uint64_t v, uint64_t unit)
{
	char text[TEXT];
	int r = read_at(dir, name, text);

	if (r != 0)
		return r;
	return text[0] >= '0' && text[0] <= '9' &&
	    strtoull(text, NULL, 10) / unit == v / unit ? 0 : -EIO;
}

/* 0: all there are. */
static int
set_cpus(int dir, uint32_t milli)
{
	char text[64] = "max 100000";

	if (milli != 0)
		(void)snprintf(text, sizeof text, "%llu 100000",
		    (unsigned long long)milli * 100);
	return write_at(dir, "cpu.max", text);
}

static int
set_limits(int dir, const struct bl_cell_spec *s, unsigned own,
    const char **what)
{
	uint64_t memory = s->limits.memory + s->disk;
	uint64_t pids = s->limits.pids + own;
	int r;

	for (uint32_t i = 0; i < s->nplaces; i++)
		memory += s->place[i].size;
	*what = "memory.max";
	r = set_number(dir, *what, memory);
	if (r == 0)
		r = check_number(dir, *what, memory,
		    (uint64_t)sysconf(_SC_PAGESIZE));
	if (r != 0)
		return r;
	*what = "memory.swap.max";	/* a kernel without swap has none */
	r = set_number(dir, *what, 0);
	if (r != 0 && r != -ENOENT)
		return r;
	*what = "pids.max";
	r = set_number(dir, *what, pids);
	if (r == 0)
		r = check_number(dir, *what, pids, 1);
	if (r != 0 || s->cpus_milli == 0)
		return r;
	*what = "cpu.max";
	r = set_cpus(dir, s->cpus_milli);
	return r == -ENOENT && !s->cpus_given ? 0 : r;
}

/* 0 with its name and dir, or -errno: nothing of it is there. */
static int
make_folder(struct cgroup *c)
{
	static _Atomic uint32_t number;
	char name[sizeof c->name];
	uint32_t salt = 0;

	/* other process namespaces may have this number, too */
	(void)!getrandom(&salt, sizeof salt, GRND_NONBLOCK);
	(void)snprintf(name, sizeof name, CELL "%d-%u-%08x", getpid(),
	    (unsigned)atomic_fetch_add(&number, 1), salt);
	if (mkdirat(c->top, name, 0755) != 0)
		return -errno;
	c->dir = openat(c->top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
	    O_NOFOLLOW);
	if (c->dir < 0) {
		int r = -errno;

		(void)unlinkat(c->top, name, AT_REMOVEDIR);
		return r;
	}
	memcpy(c->name, name, sizeof name);
	return 0;
}

int
cgroup_make(const struct cgroups *g, const struct bl_cell_spec *s,
    struct cgroup *c, struct bl_err *e)
{
	const char *what = "";
	bool no_cpu;
	int r;

	*c = (struct cgroup){ .top = g->top, .cpus_milli = s->cpus_milli };
	if (!g->there || s->limits.memory == 0 || s->disk == 0 ||
	    s->limits.pids == 0)
		return 0;
	r = make_folder(c);
	if (r == 0) {
		/* systemd-oomd(8) goes by pressure, which is no limit of ours */
		(void)fsetxattr(c->dir, "user.oomd_omit", "1", 1, 0);
		r = set_limits(c->dir, s, g->own, &what);
	}
	if (r == 0)
		return 0;
	no_cpu = r == -ENOENT && strcmp(what, "cpu.max") == 0;
	(void)err_set(e, no_cpu ? BL_KIND_SETUP : BL_KIND_INFRA,
	    "cgroup_failed", "cell/cgroup", r, "a cell's control group can't be %s: %s", what[0] == '\0' ?
	    "made" : "limited", strerror(-r));
	err_object(e, "%s", what[0] == '\0' ? "cell" : what);
	if (no_cpu)
		err_hint(e, "leave out --cpus: the cpu controller is not "
		    "delegated to this user");
	cgroup_end(c);
	return -1;
}

bool
cgroup_populated(const struct cgroup *c)
{
	char text[TEXT];

	return cgroup_there(c) && read_at(c->dir, "cgroup.events", text) == 0 &&
	    number_of(text, "populated") == 1;
}

void
cgroup_hurry(const struct cgroup *c, bool yes)
{
	if (cgroup_there(c) && c->cpus_milli != 0)
		(void)set_cpus(c->dir, yes ? 0 : c->cpus_milli);
}

/*
 * Everything in it is killed, and waited for: a group can be removed when
 * nobody is in it.  What can't die yet keeps it; a later bailiff's sweep, or
 * systemd, takes it away.
 */
void
cgroup_end(struct cgroup *c)
{
	uint64_t until = now_ns() + EMPTY_MS * 1000000ULL;
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct pollfd p = { .fd = -1, .events = POLLPRI };
	char text[TEXT] = "";
	int empty = 0;

	if (!cgroup_there(c))
		return;
	cgroup_hurry(c, true);
	(void)write_at(c->dir, "cgroup.kill", "1");	/* Linux 5.14 */
	p.fd = openat(c->dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	while (unlinkat(c->top, c->name, AT_REMOVEDIR) != 0 && errno == EBUSY &&
	    p.fd >= 0 && now_ns() < until && empty < EMPTY_TRIES) {
		/* read(2) is what a change is counted from */
		if (pread(p.fd, text, sizeof text - 1, 0) > 0 &&
		    strstr(text, "populated 1") != NULL)
			(void)poll(&p, 1, 20);
		else {			/* a plain program may have made one below */
			(void)nanosleep(&nap, NULL);
			empty++;
		}
	}
	if (p.fd >= 0)
		(void)close(p.fd);
	cgroup_leave(c);
}

void
cgroup_leave(struct cgroup *c)
{
	if (cgroup_there(c))
		(void)close(c->dir);
	*c = (struct cgroup){ .name = "" };
}

void
cgroup_read(const struct cgroup *c, struct cgroup_facts *f)
{
	char text[TEXT];

	if (!cgroup_there(c))
		return;
	if (read_at(c->dir, "memory.events", text) == 0) {
		f->oom_kills = number_of(text, "oom_kill");
		f->oom = number_of(text, "oom");
		f->full = number_of(text, "max");
	}
	if (read_at(c->dir, "pids.events", text) == 0)
		f->refused = number_of(text, "max");
	if (read_at(c->dir, "cpu.stat", text) == 0)
		f->cpu_ns = number_of(text, "usage_usec") * 1000;
	if (read_at(c->dir, "memory.peak", text) == 0)	/* Linux 5.19 */
		f->peak_bytes = strtoull(text, NULL, 10);
}

void
cgroup_facts_of(const struct cgroup_facts *f, struct bl_exit *x)
{
	int w = x->wait_status;

	if (f->cpu_ns > x->cpu_ns)
		x->cpu_ns = f->cpu_ns;
	if (f->peak_bytes > x->peak_bytes)
		x->peak_bytes = f->peak_bytes;
	/* cpu is told by the time that was used; a kill here is known */
	if ((x->limit == BL_LIMIT_NONE || x->limit == BL_LIMIT_CPU) &&
	    cgroup_ran_out(f, NULL) && WIFSIGNALED(w) && WTERMSIG(w) == SIGKILL)
		x->limit = BL_LIMIT_MEMORY;
	if (x->limit != BL_LIMIT_NONE)
		return;
	/* a program that lives on with a fork refused has met no limit */
	if (f->refused > 0 && !(WIFEXITED(w) && WEXITSTATUS(w) == 0))
		x->limit = BL_LIMIT_PROCESSES;
}

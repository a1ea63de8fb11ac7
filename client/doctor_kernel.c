/* Doctor's checks of the kernel, and of the walls around this process. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"

enum {
	BY_HELPER = DOCTOR_FOR(BL_WAY_SETUID) | DOCTOR_FOR(BL_WAY_CAPS) |
	    DOCTOR_FOR(BL_WAY_ROOT) | DOCTOR_FOR(BL_WAY_SOCKET),
	BY_ROOT = DOCTOR_FOR(BL_WAY_ROOT),
	/* plain processes prove nothing */
	ANY = BY_HELPER | DOCTOR_FOR(BL_WAY_ROOTLESS) |
	    DOCTOR_FOR(BL_WAY_BWRAP),
	NESTED = DOCTOR_FOR(BL_WAY_ROOTLESS) | DOCTOR_FOR(BL_WAY_BWRAP)
};

/* --- calls ------------------------------------------------------------------ */

/*
 * Calls that can't do anything as they are made here: a kernel that has them
 * says so by another error than ENOSYS.  EPERM is a filter's where the kernel
 * would find the arguments wrong first.
 */
static const struct call {
	const char *name;
	long	 nr, a, b, c, d, e;
	bool	 tells;			/* EPERM is a filter's */
} calls[] = {
	{ "clone3", SYS_clone3, 0, 0, 0, 0, 0, true },
	{ "open_tree", SYS_open_tree, -1, 0, -1, 0, 0, true },
	{ "mount_setattr", SYS_mount_setattr, -1, 0, -1, 0, 0, true },
	{ "move_mount", SYS_move_mount, -1, 0, -1, 0, -1, false },
	{ "fsopen", SYS_fsopen, 0, -1, 0, 0, 0, false },
	{ "openat2", SYS_openat2, -1, 0, 0, 0, 0, true },
	{ "close_range", SYS_close_range, 1, 0, 0, 0, 0, true },
	{ "pidfd_open", SYS_pidfd_open, -1, 0, 0, 0, 0, true },
	{ "pidfd_send_signal", SYS_pidfd_send_signal, -1, 0, 0, -1, 0, true },
	{ "unshare", SYS_unshare, 0, 0, 0, 0, 0, true },
	{ "keyctl", SYS_keyctl, KEYCTL_GET_KEYRING_ID,
	    KEY_SPEC_SESSION_KEYRING, 0, 0, 0, true },
};

/* Names of those that fail so, in text; how many. */
static unsigned
calls_failing(int err, char *text, size_t size)
{
	unsigned bad = 0;
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		const struct call *c = &calls[i];

		if (syscall(c->nr, c->a, c->b, c->c, c->d, c->e) != -1 ||
		    errno != err || (err == EPERM && !c->tells))
			continue;
		/* a kernel may be without keys */
		if (err == ENOSYS && c->nr == SYS_keyctl)
			continue;
		if (n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
			    bad > 0 ? ", " : "", c->name);
		bad++;
	}
	return bad;
}

static bool
old_kernel(const struct utsname *u)
{
	unsigned major, minor;

	return read_release(u->release, &major, &minor) == 0 &&
	    (major < 5 || (major == 5 && minor < 12));
}

struct finding
look_kernel(const struct doctor *d)
{
	struct utsname u;
	char object[200], names[256];
	struct finding f;
	bool old;
	long abi;

	if (uname(&u) != 0) {
		f = found(DOCTOR_UNKNOWN, "uname(2)");
		return f;
	}
	(void)snprintf(object, sizeof object, "%.64s %.100s", u.sysname,
	    u.release);
	old = old_kernel(&u);
	if (old || (calls_failing(ENOSYS, names, sizeof names) > 0 &&
	    d->self.seccomp != 2)) {
		f = found(DOCTOR_DOESNT, object);
		if (old)
			found_detail(&f, "older than 5.12: a cell's file tree "
			    "can't be made");
		else
			found_detail(&f, "lacks %s", names);
		found_fix(&f, "boot Linux 5.12 or newer");
		return f;
	}
	f = found(DOCTOR_WORKS, object);
	abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	if (abi > 0)
		found_detail(&f, "has every call; Landlock, which is not "
		    "needed: version %ld", abi);
	else
		found_detail(&f, "has every call; no Landlock, which is not "
		    "needed");
	return f;
}

/* EPERM is a filter's alone; ENOSYS is where the kernel is new enough. */
struct finding
look_seccomp(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, "/proc/self/status Seccomp");
	char names[256];

	if (!d->self_ok) {
		f.status = DOCTOR_UNKNOWN;
		found_detail(&f, "can't be read");
		return f;
	}
	if (d->self.seccomp != 2) {
		found_detail(&f, "no filter");
		return f;
	}
	if (calls_failing(EPERM, names, sizeof names) == 0 &&
	    calls_failing(ENOSYS, names, sizeof names) == 0) {
		found_detail(&f, "a filter, which refuses none of the calls "
		    "that could be tried");
		if (!doctor_any(d, ANY))
			f.status = DOCTOR_UNKNOWN;
		return f;
	}
	f = found(DOCTOR_DOESNT, "/proc/self/status Seccomp");
	found_detail(&f, "a filter around this process, as a container has "
	    "it, refuses %s", names);
	found_fix(&f, "start the container with --security-opt "
	    "seccomp=unconfined");
	return f;
}

/* --- file systems ------------------------------------------------------------ */

struct finding
look_filesystems(const struct doctor *d)
{
	static const char path[] = "/proc/filesystems";
	static const char *const needed[] = { "tmpfs", "proc", "devpts" };
	struct finding f = found(DOCTOR_WORKS, path);
	char *text = doctor_slurp(path);

	(void)d;
	if (text == NULL) {
		f.status = DOCTOR_UNKNOWN;
		found_detail(&f, "can't be read");
		return f;
	}
	found_detail(&f, "tmpfs, proc, devpts; %s overlay, which is not "
	    "needed", read_has_line(text, "overlay") ? "and" : "no");
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (!read_has_line(text, needed[i])) {
			f = found(DOCTOR_DOESNT, path);
			found_detail(&f, "the kernel has no %s", needed[i]);
			found_fix(&f, "boot a kernel that has %s", needed[i]);
			break;
		}
	free(text);
	return f;
}

/* true: *m is the first mount on a part of this /proc that is no harmless one. */
static bool
covered(const char *text, unsigned long long proc, struct read_mount *m)
{
	while (read_mount(&text, m))
		if (m->parent == proc && strcmp(m->type, "binfmt_misc") != 0 &&
		    strcmp(m->type, "autofs") != 0)
			return true;
	return false;
}

/*
 * true: nowhere in this mount namespace is a /proc that shows all of it, which
 * is what the kernel asks for; *m is what hides a part of one, what: how.
 */
static bool
masked(const char *text, struct read_mount *m, const char **what)
{
	const char *rest = text;
	struct read_mount p, over;
	bool hidden_part = false;

	while (read_mount(&rest, &p)) {
		bool part = strstr(p.super, "subset=pid") != NULL;

		if (strcmp(p.type, "proc") != 0 || strcmp(p.root, "/") != 0)
			continue;
		if (!part && !covered(text, p.id, &over))
			return false;
		if (hidden_part)
			continue;
		hidden_part = true;
		*m = part ? p : over;
		*what = part ? "mounted with subset=pid" :
		    strcmp(over.type, "proc") == 0 ?
		    "mounted again, as a container does it" :
		    "covered, as a container does it";
	}
	return hidden_part;
}

/* Other users' processes don't show; the client looks at its own alone. */
static bool
hidden(const char *text)
{
	struct read_mount m;
	bool hides = false;

	while (read_mount(&text, &m))
		if (strcmp(m.point, "/proc") == 0)	/* the last one counts */
			hides = strstr(m.super, "hidepid=") != NULL &&
			    !read_option(m.super, "hidepid=0") &&
			    !read_option(m.super, "hidepid=off");
	return hides;
}

/*
 * Only a user namespace needs all of /proc to be seen before it may mount a
 * fresh one; root of the whole machine may anyway.
 */
struct finding
look_proc(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, "/proc");
	bool nested = d->uid != 0 || !d->whole || !doctor_any(d, BY_ROOT);
	const char *what;
	struct read_mount m;

	if (d->mounts == NULL) {
		f.status = DOCTOR_UNKNOWN;
		found_detail(&f, "/proc/self/mountinfo can't be read");
	} else if (!masked(d->mounts, &m, &what)) {
		found_detail(&f, hidden(d->mounts) ? "mounted with hidepid, "
		    "which does no harm" : "all of it is to be seen");
	} else if (!nested || doctor_any(d, NESTED)) {
		f = found(DOCTOR_WORKS, m.point);
		found_detail(&f, "%s, which does no harm here", what);
	} else {
		f = found(DOCTOR_DOESNT, m.point);
		found_detail(&f, "%s: no user namespace may mount a /proc of "
		    "its own then", what);
		found_fix(&f, "start the container with --security-opt "
		    "systempaths=unconfined");
	}
	return f;
}

/* --- other walls -------------------------------------------------------------- */

struct finding
look_selinux(const struct doctor *d)
{
	static const char path[] = "/sys/fs/selinux/enforce";
	struct finding f = found(DOCTOR_WORKS, path);
	char text[16];

	(void)d;
	if (doctor_file(path, text, sizeof text) != 0) {
		found_detail(&f, "no SELinux");
	} else if (text[0] != '1') {
		found_detail(&f, "SELinux only reports");
	} else {
		f.status = DOCTOR_UNKNOWN;
		found_detail(&f, "SELinux enforces: bailiff has not been tried "
		    "with it");
	}
	return f;
}

struct finding
look_apparmor(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, "/proc/self/attr/current");
	char text[256];

	if (doctor_file("/proc/self/attr/apparmor/current", text,
	    sizeof text) != 0 &&
	    (access("/sys/module/apparmor", F_OK) != 0 ||
	    doctor_file(f.object, text, sizeof text) != 0)) {
		found_detail(&f, "no AppArmor");
		return f;
	}
	text[strcspn(text, "\n")] = '\0';
	found_detail(&f, "%s", text);
	if (strncmp(text, "unconfined", 10) == 0 || doctor_any(d, ANY))
		return f;
	if (strncmp(text, "bailiff", 7) == 0) {
		f.status = DOCTOR_UNKNOWN;
		return f;
	}
	f.status = DOCTOR_DOESNT;
	found_detail(&f, "this process has the profile %s", text);
	found_fix(&f, "start the container with --security-opt "
	    "apparmor=unconfined");
	return f;
}

/*
 * The helper sets the limit 1.  Seen on Linux 6.18: a file then is too small
 * to be written; a pipe's program is not started (it is with 0); a socket
 * gets everything, whatever the limit.
 */
struct finding
look_core_pattern(const struct doctor *d)
{
	static const char path[] = "/proc/sys/kernel/core_pattern";
	struct finding f = found(DOCTOR_WORKS, path);
	char text[160];

	(void)d;
	if (doctor_file(path, text, sizeof text) != 0) {
		f.status = DOCTOR_UNKNOWN;
		found_detail(&f, "can't be read");
		return f;
	}
	text[strcspn(text, "\n")] = '\0';
	switch (read_core(text)) {
	case CORE_FILE:
		found_detail(&f, "a file, \"%s\": a cell's limit stops it",
		    text);
		break;
	case CORE_PIPE:
		found_detail(&f, "a program, \"%s\": a cell's limit of 1 "
		    "stops it", text);
		break;
	case CORE_SOCKET:
	default:
		f.status = DOCTOR_DOESNT;
		found_detail(&f, "a socket, \"%s\": no limit stops it, so a "
		    "crash in a cell sends its memory there", text);
		found_fix(&f, "as root: sysctl -w kernel.core_pattern=core");
		break;
	}
	return f;
}

struct finding
look_ptrace_scope(const struct doctor *d)
{
	static const char path[] = "/proc/sys/kernel/yama/ptrace_scope";
	struct finding f = found(DOCTOR_WORKS, path);
	char text[16];

	(void)d;
	if (doctor_file(path, text, sizeof text) != 0)
		found_detail(&f, "no Yama; cells don't need it: tracing is "
		    "filtered in them");
	else
		found_detail(&f, "%.1s; cells don't need it: tracing is "
		    "filtered in them", text);
	return f;
}

/* --- cgroups ------------------------------------------------------------------ */

/* As a run does it; in a child, so that this process stays where it is. */
static int
enter_try(char *why, size_t size)
{
	int fd[2], r = -EIO;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) != 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		(void)snprintf(why, size, "no process to try it in: %s",
		    strerror(errno));
	if (pid == 0) {
		r = cgroup_enter(true, why, size);
		_exit(write(fd[1], &r, sizeof r) != sizeof r ||
		    write(fd[1], why, size) != (ssize_t)size);
	}
	(void)close(fd[1]);
	if (pid > 0 && (read(fd[0], &r, sizeof r) != sizeof r ||
	    read(fd[0], why, size) != (ssize_t)size))
		r = -EIO;
	(void)close(fd[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

/* No cause of anything: only --require cgroup can't do without. */
struct finding
look_cgroup(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, "/sys/fs/cgroup");
	char why[200] = "";
	int r = enter_try(why, sizeof why);

	if (r == 0) {
		found_detail(&f, "each cell has a control group of its own: in "
		    "a login session, or by --cgroup scope");
		return f;
	}
	f.status = DOCTOR_DOESNT;
	found_detail(&f, "limits are for each process: %s", why);
	if (r == -ENODEV)
		found_fix(&f, "boot with systemd.unified_cgroup_hierarchy=1, "
		    "or leave cgroup out of --require");
	else if (r == -ENOTCONN && d->uid != 0 &&
	    access("/run/systemd/system", F_OK) == 0)
		found_fix(&f, "as root: loginctl enable-linger %s", d->user);
	else
		found_fix(&f, "leave cgroup out of --require");
	return f;
}

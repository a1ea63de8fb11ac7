/* Doctor's checks of what is installed: helper, rules, locks, socket. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "rulesfile.h"

#ifndef BL_HELPER_PATH
#define BL_HELPER_PATH "/usr/local/libexec/bailiff/bailiff-helper"
#endif
#define POLICY_PATH "/etc/bailiff/policy"
#define LOCKS_PATH "/run/bailiff"
enum { BUSY_MS = 5000, BUSY_NAP_MS = 10 };
#define COMPILE "bailiff-rules compile " POLICY_PATH " -o " BL_RULES_PATH

static struct finding
wrong(const char *object)
{
	struct finding f = found(DOCTOR_DOESNT, object);

	f.broken = true;
	return f;
}

/* The folder that path is in, without its last slash. */
static void
above(const char *path, char *to, size_t size)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash == NULL ? 0 : (size_t)(slash - path);

	(void)snprintf(to, size, "%.*s", n == 0 ? 1 : (int)n,
	    n == 0 ? "/" : path);
}

/* true: a folder that an installed bailiff has its files in, or one above. */
static bool
is_place(const char *dir)
{
	static const char *const at[] = { BL_HELPER_PATH, BL_RULES_PATH,
	    LOCKS_PATH "/slots" };
	size_t n = strlen(dir);

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
		if (n == 1 || (strncmp(at[i], dir, n) == 0 && at[i][n] == '/'))
			return true;
	return false;
}

/*
 * true: f says what is wrong with the owner or the mode of path.  A file that
 * others could write is made anew, by mend, and never given to root as it is;
 * a folder is only mended where bailiff has its place.
 */
static bool
unsound(const char *path, const struct stat *st, const char *mend,
    struct finding *f)
{
	bool file = S_ISREG(st->st_mode), owner = st->st_uid != 0;
	char word[DOCTOR_WORD];

	if (!owner && (st->st_mode & 022) == 0 && (!file || st->st_nlink == 1))
		return false;
	*f = wrong(path);
	if (owner)
		found_detail(f, "owned by user %u, not by root", st->st_uid);
	else if ((st->st_mode & 022) != 0)
		found_detail(f, "others than root can write it: mode %04o",
		    st->st_mode & 07777);
	else
		found_detail(f, "has %lu names, and must have one",
		    (unsigned long)st->st_nlink);
	if (file)
		found_fix(f, "%s", mend);
	else if (!is_place(path) || !doctor_word(path, word))
		found_fix(f, "have it where root alone can write: %s", mend);
	else
		found_fix(f, "as root: %s %s", owner ? "chown root" :
		    "chmod go-w", word);
	return true;
}

/* The same of every folder above path; those that can't be seen are passed. */
static bool
unsound_above(const char *path, const char *mend, struct finding *f)
{
	char dir[4096];
	struct stat st;

	(void)snprintf(dir, sizeof dir, "%s", path);
	do {
		char up[sizeof dir];

		above(dir, up, sizeof up);
		(void)snprintf(dir, sizeof dir, "%s", up);
		if (stat(dir, &st) == 0 && unsound(dir, &st, mend, f))
			return true;
	} while (strcmp(dir, "/") != 0 && dir[0] == '/');
	return false;
}

bool
doctor_mendable(const struct doctor *d, char word[DOCTOR_WORD])
{
	struct finding f;

	return d->ours && d->helper_err == 0 &&
	    S_ISREG(d->helper_st.st_mode) &&
	    !unsound(d->helper, &d->helper_st, "", &f) &&
	    !unsound_above(d->helper, "", &f) && doctor_word(d->helper, word);
}

/*
 * Root's group has nobody ordinary in it: only one of bailiff's own may run it
 * then.  chown(2) takes rights away, so they come last.
 */
void
doctor_fix_rights(const struct doctor *d, struct finding *f)
{
	char setcap[256], word[DOCTOR_WORD], group[DOCTOR_WORD + 64] = "";
	const char *mode = d->has_caps ? "0750" : "4750";

	doctor_setcap(d, setcap, sizeof setcap);
	if (!doctor_mendable(d, word)) {
		found_fix(f, BL_INSTALL);
		return;
	}
	if (d->helper_st.st_gid == 0)
		(void)snprintf(group, sizeof group, "chgrp bailiff %s && ",
		    word);
	if (!d->has_caps)
		found_fix(f, "as root: %schmod %s %s", group, mode, word);
	else
		found_fix(f, "as root: %schmod %s %s && %s %s", group, mode,
		    word, setcap, word);
}

/* --- the helper's file ----------------------------------------------------- */

static struct finding
no_file(const struct doctor *d)
{
	struct finding f = found(DOCTOR_UNKNOWN, d->helper);

	found_detail(&f, "there is no such file to look at");
	return f;
}

struct finding
look_helper_file(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, d->helper);

	if (doctor_astray(d)) {
		f = wrong(d->helper);
		found_detail(&f, "BAILIFF_HELPER names it, and no cell can be "
		    "had by it: %s", d->helper_err != 0 ?
		    strerror(d->helper_err) : !S_ISREG(d->helper_st.st_mode) ?
		    "it is no file" : "it is no helper with rights");
		found_fix(&f, "unset BAILIFF_HELPER");
		return f;
	}
	if (d->helper_err == 0 && S_ISREG(d->helper_st.st_mode)) {
		if (!d->installed && d->uid != 0) {
			f = found(DOCTOR_DOESNT, BL_HELPER_PATH);
			found_detail(&f, "the helper is not installed; %.200s "
			    "serves root and rootless alone", d->helper);
			found_fix(&f, BL_INSTALL);
		} else if (!d->installed) {
			found_detail(&f, "a build's own, not installed");
		}
		return f;
	}
	f = d->installed ? wrong(d->helper) : found(DOCTOR_DOESNT, d->helper);
	found_detail(&f, d->helper_err == ENOENT ? "the helper is not "
	    "installed" : d->helper_err == 0 ? "this is no file" :
	    "the helper can't be looked at: %s", strerror(d->helper_err));
	found_fix(&f, BL_INSTALL);
	return f;
}

struct finding
look_helper_owner(const struct doctor *d)
{
	struct finding f;

	if (d->helper_err != 0)
		return no_file(d);
	if (!d->installed && d->uid != 0) {
		f = found(DOCTOR_UNKNOWN, d->helper);
		found_detail(&f, "not installed");
	} else if (!unsound(d->helper, &d->helper_st, BL_INSTALL, &f)) {
		f = found(DOCTOR_WORKS, d->helper);
		found_detail(&f, "root's, and writable by nobody else");
	}
	return f;
}

/* No cause of anything, as the helper looks at its file alone; but a hole. */
struct finding
look_helper_folder(const struct doctor *d)
{
	struct finding f;
	char dir[4096];

	above(d->helper, dir, sizeof dir);
	if (!d->installed || d->helper_err != 0) {
		f = found(DOCTOR_UNKNOWN, dir);
		found_detail(&f, "nothing is installed there");
	} else if (!unsound_above(d->helper, BL_INSTALL, &f)) {
		f = found(DOCTOR_WORKS, dir);
		found_detail(&f, "root's all the way up");
	}
	return f;
}

/* true: the user is in the group by the group's list or by its own entry. */
static bool
listed(const struct doctor *d, const struct group *g)
{
	for (char **m = g->gr_mem; m != NULL && *m != NULL; m++)
		if (strcmp(*m, d->user) == 0)
			return true;
	return false;
}

/* Who is not in the group of object, or is so in name alone. */
static struct finding
not_in(const struct doctor *d, const char *object, gid_t gid)
{
	const struct group *g = getgrgid(gid);
	struct finding f = found(DOCTOR_DOESNT, object);
	char name[64];

	if (g != NULL)
		(void)snprintf(name, sizeof name, "%s", g->gr_name);
	else
		(void)snprintf(name, sizeof name, "%u", gid);
	if (g != NULL && listed(d, g)) {
		found_detail(&f, "%s was put into the group %s, but this "
		    "session began before that", d->user, name);
		found_fix(&f, "log in again");
	} else {
		found_detail(&f, "only the group %s may use it, and %s is not "
		    "in it", name, d->user);
		if (d->named)
			found_fix(&f, "as root: adduser %s %s; then log in "
			    "again", d->user, name);
		else
			found_fix(&f, "as root: useradd -M -u %u -G %s "
			    "user%u; then log in again", d->uid, name, d->uid);
	}
	return f;
}

/* The first folder above path that this user may not enter, in dir. */
static bool
shut_above(const char *path, char *dir, size_t size)
{
	for (const char *p = strchr(path + 1, '/'); p != NULL;
	    p = strchr(p + 1, '/')) {
		(void)snprintf(dir, size, "%.*s", (int)(p - path), path);
		if (access(dir, X_OK) != 0 && errno == EACCES)
			return true;
	}
	return false;
}

/* Nobody ordinary is meant to be in root's group: the file is in the wrong. */
static struct finding
wrong_group(const struct doctor *d)
{
	struct finding f = wrong(d->helper);

	found_detail(&f, "only the group root may run it: mode %04o",
	    d->helper_st.st_mode & 07777);
	doctor_fix_rights(d, &f);
	return f;
}

struct finding
look_helper_group(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, d->helper);
	char dir[4096], word[DOCTOR_WORD];

	if (d->helper_err == EACCES && shut_above(d->helper, dir, sizeof dir)) {
		f = wrong(dir);
		found_detail(&f, "this user may not enter the folder");
		if (is_place(dir) && doctor_word(dir, word))
			found_fix(&f, "as root: chmod a+x %s", word);
		else
			found_fix(&f, "have it where %s can run it: "
			    BL_INSTALL, d->user);
		return f;
	}
	if (d->helper_err != 0)
		return no_file(d);
	if (d->uid == 0 || !d->installed ||
	    faccessat(AT_FDCWD, d->helper, X_OK, AT_EACCESS) == 0 ||
	    (d->at_mount && read_option(d->mount.opts, "noexec"))) {
		found_detail(&f, "%s may run it", d->user);
		return f;
	}
	if ((d->helper_st.st_mode & S_IXGRP) == 0) {
		f = wrong(d->helper);
		found_detail(&f, "no group may run it: mode %04o",
		    d->helper_st.st_mode & 07777);
		doctor_fix_rights(d, &f);
		return f;
	}
	return d->helper_st.st_gid == 0 ? wrong_group(d) :
	    not_in(d, d->helper, d->helper_st.st_gid);
}

/* A mount that is in the way of the helper, by the word for it. */
static struct finding
on_mount(const struct doctor *d, const char *word, const char *what)
{
	char file[DOCTOR_WORD], mount[DOCTOR_WORD];
	struct finding f;

	if (d->helper_err != 0 || !d->at_mount) {
		f = found(DOCTOR_UNKNOWN, d->helper);
		found_detail(&f, "the mount that it is on is not known");
	} else if (!read_option(d->mount.opts, word)) {
		f = found(DOCTOR_WORKS, d->mount.point);
		found_detail(&f, "not %s", word);
	} else {
		f = d->installed ? wrong(d->mount.point) :
		    found(DOCTOR_DOESNT, d->mount.point);
		found_detail(&f, "mounted %s: %s", word, what);
		/* not for a place that others can put programs into */
		if (doctor_mendable(d, file) && doctor_word(d->mount.point,
		    mount))
			found_fix(&f, "as root: mount -o remount,bind,%s %s",
			    word + 2, mount);
		else
			found_fix(&f, "have it on another disk: " BL_INSTALL);
	}
	return f;
}

struct finding
look_helper_exec(const struct doctor *d)
{
	return on_mount(d, "noexec", "the helper on it can't be started");
}

struct finding
look_helper_mount(const struct doctor *d)
{
	return on_mount(d, "nosuid", "the helper on it gains no rights");
}

struct finding
look_helper_setuid(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, d->helper);
	bool bit = (d->helper_st.st_mode & S_ISUID) != 0;
	bool none = d->helper_st.st_gid == 0 &&	/* HELPER_MODE=none */
	    (d->helper_st.st_mode & 1) != 0;
	char word[DOCTOR_WORD];

	if (d->helper_err != 0)
		return no_file(d);
	if (!bit && !d->has_caps && none &&
	    doctor_any(d, DOCTOR_FOR(BL_WAY_SOCKET))) {
		found_detail(&f, "has no rights, and needs none with "
		    "the socket");
		return f;
	}
	if (bit || d->has_caps || !d->installed) {
		found_detail(&f, bit ? "has its set-user-id bit" :
		    d->has_caps ? "has file capabilities in its stead" :
		    "not installed: not needed");
		f.status = d->installed ? f.status : DOCTOR_UNKNOWN;
		return f;
	}
	f = wrong(d->helper);
	found_detail(&f, "has no set-user-id bit and no file capabilities: "
	    "mode %04o", d->helper_st.st_mode & 07777);
	if (none && doctor_mendable(d, word))
		found_fix(&f, "%s" BL_INSTALL, doctor_systemd() ? "as root: "
		    "systemctl enable --now bailiff.socket, or: " : "");
	else
		doctor_fix_rights(d, &f);
	return f;
}

/* What the printed line leaves out of what make install gives. */
static void
not_here(const struct doctor *d, char *text, size_t size)
{
	char names[64];

	text[0] = '\0';
	read_caps_words(d->self_ok ? read_caps_file & ~read_caps_needed &
	    ~d->self.cap_bnd : 0, "cap_", " and ", false, names, sizeof names);
	if (names[0] != '\0')
		(void)snprintf(text, size, "; without %s, which the bounding "
		    "set here lacks", names);
}

struct finding
look_helper_capabilities(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, d->helper);
	uint64_t lacks = read_caps_needed & ~d->caps.permitted;
	char names[256], without[128];

	if (d->helper_err != 0)
		return no_file(d);
	if (!d->has_caps) {
		found_detail(&f, "has none, and needs none with the "
		    "set-user-id bit");
		f.status = d->installed ? f.status : DOCTOR_UNKNOWN;
		return f;
	}
	if (lacks == 0 && d->caps.effective && d->caps.root == 0) {
		found_detail(&f, "has all that are needed");
		return f;
	}
	f = wrong(d->helper);
	read_caps_words(lacks, "cap_", ",", false, names, sizeof names);
	not_here(d, without, sizeof without);
	if (lacks != 0)
		found_detail(&f, "its file capabilities lack %s%s", names,
		    without);
	else if (d->caps.root != 0)
		found_detail(&f, "its file capabilities are for the user "
		    "namespace of user %u%s", d->caps.root, without);
	else
		found_detail(&f, "its file capabilities are not effective%s",
		    without);
	doctor_fix_rights(d, &f);
	return f;
}

/* --- rules ----------------------------------------------------------------- */

/*
 * The fix of f is to compile the policy, by the command that is given.  Where
 * others may have written that, root would make their words its own: f is about
 * that policy then.
 */
__attribute__((format(printf, 2, 3)))
static void
fix_policy(struct finding *f, const char *fmt, ...)
{
	static const char mend[] = "as root: mv " POLICY_PATH " " POLICY_PATH
	    ".old; then write it anew, of what is yours in that, or: "
	    BL_INSTALL;
	char real[PATH_MAX], fix[sizeof f->fix];
	bool few = f->few;
	struct stat st;
	va_list ap;

	if (stat(POLICY_PATH, &st) != 0 && errno == ENOENT) {
		found_fix(f, BL_INSTALL);
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(fix, sizeof fix, fmt, ap);
	va_end(ap);
	if (stat(POLICY_PATH, &st) == 0 &&
	    (unsound_above(POLICY_PATH, mend, f) ||
	    unsound(POLICY_PATH, &st, mend, f) ||
	    (realpath(POLICY_PATH, real) != NULL &&
	    unsound_above(real, mend, f))))
		f->few = few;
	else
		found_fix(f, "%s", fix);
}

/* What the helper makes of a file that is not there depends on who asks. */
static struct finding
no_rules(const struct doctor *d, int err)
{
	struct finding f = found(DOCTOR_WORKS, BL_RULES_PATH);

	if (err == ENOENT && d->uid == 0) {
		found_detail(&f, "not there: the built-in rules count for "
		    "root");
		return f;
	}
	if (err == ENOENT && !d->installed && !d->socket_there) {
		f = found(DOCTOR_UNKNOWN, BL_RULES_PATH);
		found_detail(&f, "not there, and nothing is installed that "
		    "reads it");
		return f;
	}
	f = wrong(BL_RULES_PATH);
	found_detail(&f, "can't be looked at: %s", strerror(err));
	if (err != ENOENT)
		found_fix(&f, "as root: chmod a+x /etc /etc/bailiff");
	else
		fix_policy(&f, "as root: " COMPILE);
	return f;
}

struct finding
look_rules_file(const struct doctor *d)
{
	static struct bl_rules r;
	struct finding f;
	struct stat st;
	int got;

	if (lstat(BL_RULES_PATH, &st) != 0)
		return no_rules(d, errno);
	if (S_ISREG(st.st_mode) && unsound_above(BL_RULES_PATH, "as root: "
	    COMPILE, &f))
		return f;
	if (S_ISREG(st.st_mode) && unsound(BL_RULES_PATH, &st, "", &f)) {
		fix_policy(&f, "as root: " COMPILE);
		return f;
	}
	got = S_ISREG(st.st_mode) ? rules_read(&r) : -1;
	if (got == 0) {
		f = found(DOCTOR_WORKS, BL_RULES_PATH);
		found_detail(&f, "root's alone, and sound");
	} else if (got == 1) {
		f = found(DOCTOR_UNKNOWN, BL_RULES_PATH);
		found_detail(&f, "this user may not read it; the helper may");
	} else {
		f = wrong(BL_RULES_PATH);
		found_detail(&f, S_ISREG(st.st_mode) ? "holds no rules, or "
		    "those of another version" : "is no plain file");
		fix_policy(&f, "as root: %s" COMPILE, S_ISREG(st.st_mode) ?
		    "" : "rm " BL_RULES_PATH " && ");
	}
	return f;
}

/* The rules' line is there, but it is for members of some groups. */
static bool
by_group(const struct doctor *d, const struct bl_rules *r, struct finding *f)
{
	struct bl_caller q;

	if (r->ngroups == 0 ||
	    bl_rules_quota(r, d->uid, r->group, r->ngroups, &q) != 0)
		return false;
	*f = not_in(d, BL_RULES_PATH, r->group[0]);
	return true;
}

struct finding
look_rules_caller(const struct doctor *d)
{
	static struct bl_rules r;
	static uint32_t groups[65536 + 1];
	struct finding f = found(DOCTOR_UNKNOWN, BL_RULES_PATH);
	struct bl_caller q;
	int n = getgroups(65536, groups);

	if (d->uid == 0 && access(BL_RULES_PATH, F_OK) != 0 &&
	    errno == ENOENT) {
		f.status = DOCTOR_WORKS;
		found_detail(&f, "the built-in rules allow root");
		return f;
	}
	if (rules_read(&r) != 0) {
		found_detail(&f, "there are none that can be read");
		return f;
	}
	groups[n < 0 ? 0 : n] = getegid();
	if (bl_rules_quota(&r, d->uid, groups, (size_t)(n < 0 ? 0 : n) + 1,
	    &q) == 0) {
		f = found(q.slots < 2 ? DOCTOR_DOESNT : DOCTOR_WORKS,
		    BL_RULES_PATH);
		f.few = q.slots < 2;
		found_detail(&f, "user %u may have %u cell%s at once%s", d->uid,
		    q.slots, q.slots < 2 ? "" : "s", q.slots < 2 ?
		    ", and a judged run needs two" : "");
		if (q.slots < 2)
			fix_policy(&f, "as root: give its line in " POLICY_PATH
			    " at least \"slots 2\", then " COMPILE);
	} else if (!by_group(d, &r, &f)) {
		f = found(DOCTOR_DOESNT, BL_RULES_PATH);
		found_detail(&f, "no line of them allows user %u (%s)", d->uid,
		    d->user);
		fix_policy(&f, "as root: echo 'caller %u slots 8' >>"
		    POLICY_PATH " && " COMPILE, d->uid);
	}
	return f;
}

/* --- locks and socket ------------------------------------------------------ */

struct finding
look_locks(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, LOCKS_PATH);
	static const char file[] = LOCKS_PATH "/slots";
	struct stat st;

	(void)d;
	if (lstat(LOCKS_PATH, &st) != 0) {
		found_detail(&f, "not there yet: the helper makes it");
	} else if (!S_ISDIR(st.st_mode)) {
		f = wrong(LOCKS_PATH);
		found_detail(&f, "is no folder");
		found_fix(&f, "as root: rm " LOCKS_PATH);
	} else if (st.st_uid != 0 || (st.st_mode & 077) != 0) {
		f = wrong(LOCKS_PATH);
		found_detail(&f, "must be root's, mode 0700; is user %u's, "
		    "mode %04o", st.st_uid, st.st_mode & 07777);
		found_fix(&f, "as root: chown root:root " LOCKS_PATH
		    " && chmod 0700 " LOCKS_PATH);
	} else if (unsound_above(LOCKS_PATH, "as root: rm -r " LOCKS_PATH, &f)) {
		return f;
	} else if (lstat(file, &st) == 0 && (!S_ISREG(st.st_mode) ||
	    st.st_uid != 0 || (st.st_mode & 077) != 0 || st.st_nlink != 1)) {
		f = wrong(file);
		found_detail(&f, "must be a plain file of root's, mode 0600");
		found_fix(&f, "as root: rm %s", file);
	} else {
		found_detail(&f, "root's alone");
	}
	return f;
}

/* A connection, closed at once: 0, or errno.  It waits as a run does. */
static int
reach(const char *path)
{
	const struct timespec nap = { .tv_nsec = BUSY_NAP_MS * 1000000L };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int left = BUSY_MS / BUSY_NAP_MS;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0), err = 0;

	if (fd < 0 || strlen(path) >= sizeof to.sun_path)
		err = fd < 0 ? errno : ENAMETOOLONG;
	else
		memcpy(to.sun_path, path, strlen(path) + 1);
	while (err == 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
		err = errno;
		if ((err == EAGAIN || err == EINTR) && left-- > 0) {
			(void)nanosleep(&nap, NULL);
			err = 0;
		}
	}
	if (fd >= 0)
		(void)close(fd);
	return err;
}

struct finding
look_socket(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, d->socket);
	struct stat st;
	int err;

	if (lstat(d->socket, &st) != 0 && errno == ENOENT) {
		f = found(DOCTOR_DOESNT, d->socket);
		f.broken = d->socket_there;	/* it was named */
		found_detail(&f, "there is no socket");
		doctor_listen(&f);
		return f;
	}
	err = reach(d->socket);
	if (err == 0) {
		found_detail(&f, "somebody listens");
		return f;
	}
	if (err == EAGAIN) {
		f = found(DOCTOR_UNKNOWN, d->socket);
		found_detail(&f, "busy: too many wait there already; try again");
		return f;
	}
	if (err == EACCES || err == EPERM) {
		if (stat(d->socket, &st) == 0 && st.st_gid != 0)
			return not_in(d, d->socket, st.st_gid);
		f = wrong(d->socket);
		found_detail(&f, "this user may not connect to it");
		if (strcmp(d->socket, BL_SOCKET_PATH) == 0)
			found_fix(&f, "as root: chgrp bailiff " BL_SOCKET_PATH
			    " && chmod 0660 " BL_SOCKET_PATH);
		else
			found_fix(&f, "unset BAILIFF_SOCKET");
		return f;
	}
	f = wrong(d->socket);
	found_detail(&f, err == ECONNREFUSED ? "nobody listens at it" :
	    "can't be connected to: %s", strerror(err));
	if (doctor_systemd())
		found_fix(&f, "as root: systemctl enable --now bailiff.socket");
	else
		doctor_listen(&f);
	return f;
}

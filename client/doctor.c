/* Doctor: the table of checks, and what they share. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "opts.h"

#ifndef BL_HELPER_PATH
#define BL_HELPER_PATH "/usr/local/libexec/bailiff/bailiff-helper"
#endif

enum {
	BY_FILE = DOCTOR_FOR(BL_WAY_SETUID) | DOCTOR_FOR(BL_WAY_CAPS),
	BY_ROOT = DOCTOR_FOR(BL_WAY_ROOT),
	BY_SOCKET = DOCTOR_FOR(BL_WAY_SOCKET),
	ROOTLESS = DOCTOR_FOR(BL_WAY_ROOTLESS),
	BWRAP = DOCTOR_FOR(BL_WAY_BWRAP), PLAIN = DOCTOR_FOR(BL_WAY_PLAIN),
	BY_HELPER = BY_FILE | BY_ROOT | BY_SOCKET
};

/*
 * In the order in which they stop a way: of several that are wrong, the first
 * is its cause.
 */
const struct doctor_check doctor_checks[] = {
	{ "config", look_config, 0 },
	{ "helper_file", look_helper_file, BY_FILE | BY_ROOT },
	{ "helper_group", look_helper_group, BY_FILE },
	{ "helper_exec", look_helper_exec, BY_FILE | BY_ROOT },
	{ "socket", look_socket, BY_SOCKET },
	{ "helper_setuid", look_helper_setuid, BY_FILE },
	{ "helper_capabilities", look_helper_capabilities, BY_FILE },
	{ "helper_mount", look_helper_mount, BY_FILE },
	{ "no_new_privs", look_no_new_privs, BY_FILE | ROOTLESS },
	{ "helper_owner", look_helper_owner, BY_HELPER },
	{ "helper_folder", look_helper_folder, 0 },
	{ "limits", look_limits, BY_FILE | BY_ROOT | ROOTLESS | BWRAP | PLAIN },
	{ "rules_file", look_rules_file, BY_HELPER },
	{ "rules_caller", look_rules_caller, BY_HELPER },
	{ "bounding_set", look_bounding_set, BY_FILE | BY_ROOT },
	{ "locks", look_locks, BY_HELPER },
	{ "kernel", look_kernel, BY_HELPER | ROOTLESS | BWRAP },
	{ "seccomp", look_seccomp, BY_HELPER | ROOTLESS | BWRAP },
	{ "user_namespaces", look_user_namespaces, ROOTLESS | BWRAP },
	{ "newuidmap", look_newuidmap, ROOTLESS },
	{ "newgidmap", look_newgidmap, ROOTLESS },
	{ "subuid", look_subuid, ROOTLESS },
	{ "subgid", look_subgid, ROOTLESS },
	{ "bwrap", look_bwrap, BWRAP },
	{ "filesystems", look_filesystems, BY_HELPER | ROOTLESS },
	{ "proc", look_proc, BY_HELPER | ROOTLESS | BWRAP },
	{ "network", look_network, BY_FILE | BY_ROOT },
	{ "user_namespace", look_user_namespace, BY_FILE | BY_ROOT },
	{ "apparmor", look_apparmor, BY_HELPER | ROOTLESS | BWRAP },
	{ "selinux", look_selinux, 0 },
	{ "core_pattern", look_core_pattern, 0 },
	{ "ptrace_scope", look_ptrace_scope, 0 },
	{ "cgroup", look_cgroup, 0 },
	{ "python3", look_python3, 0 },
};
const size_t doctor_nchecks = sizeof doctor_checks / sizeof doctor_checks[0];

/* --- findings -------------------------------------------------------------- */

struct finding
found(enum doctor_status status, const char *object)
{
	struct finding f = { .status = status };

	(void)snprintf(f.object, sizeof f.object, "%.*s",
	    (int)sizeof f.object - 1, object);
	return f;
}

void
found_detail(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(f->detail, sizeof f->detail, fmt, ap);
	va_end(ap);
}

void
found_fix(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	/* half of a command is another command */
	if ((size_t)vsnprintf(f->fix, sizeof f->fix, fmt, ap) >= sizeof f->fix)
		(void)snprintf(f->fix, sizeof f->fix, "see what that is about");
	va_end(ap);
}

bool
doctor_word(const char *path, char word[DOCTOR_WORD])
{
	size_t n = strlen(path), safe = strspn(path, "/._-+@,:%"
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	/* sh(1): between single quotes only one of them means something */
	if (path[0] != '/' || n + 3 > DOCTOR_WORD ||
	    (safe < n && strpbrk(path, "'\n") != NULL))
		return false;
	(void)snprintf(word, DOCTOR_WORD, safe < n ? "'%s'" : "%s", path);
	return true;
}

/* What must be there is in it in any case: another check tells of that. */
void
doctor_setcap(const struct doctor *d, char *text, size_t size)
{
	char names[200];

	read_caps_words(read_caps_needed | (d->self_ok ? read_caps_file &
	    d->self.cap_bnd : read_caps_file), "cap_", ",", false, names,
	    sizeof names);
	(void)snprintf(text, size, "setcap %s=ep", names);
}

bool
doctor_any(const struct doctor *d, unsigned ways)
{
	for (size_t i = 0; i < DOCTOR_WAYS; i++)
		if (d->ways[i].f.status == DOCTOR_WORKS &&
		    (ways & DOCTOR_FOR(d->ways[i].way)) != 0)
			return true;
	return false;
}

bool
doctor_astray(const struct doctor *d)
{
	const char *slash = strrchr(d->helper, '/');
	/* by all looks installed elsewhere: the checks know what it lacks */
	bool rights = d->helper_err == 0 && S_ISREG(d->helper_st.st_mode) &&
	    (d->has_caps || (d->helper_st.st_mode & S_ISUID) != 0) &&
	    slash != NULL && strcmp(slash, "/bailiff-helper") == 0;

	return d->strayed && !rights && !doctor_any(d, BY_FILE | BY_ROOT);
}

/* --- files ----------------------------------------------------------------- */

int
doctor_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	err = errno;
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	errno = err;
	return n < 0 ? -1 : 0;
}

char *
doctor_slurp(const char *path)
{
	enum { STEP = 65536, MOST = 16 << 20 };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text = NULL, *more;
	size_t n = 0;
	ssize_t r = fd < 0 ? 0 : 1;

	for (; r > 0 && n < MOST; n += r > 0 ? (size_t)r : 0) {
		more = realloc(text, n + STEP + 1);
		if (more == NULL)
			break;
		text = more;
		r = read(fd, text + n, STEP);
	}
	if (fd >= 0)
		(void)close(fd);
	if (text != NULL)
		text[n] = '\0';
	return text;
}

/* --- what they share ------------------------------------------------------- */

static void
helper_open(struct doctor *d)
{
	unsigned char raw[64];
	struct statx sx;
	char beside[sizeof d->helper];
	const char *var = getenv("BAILIFF_HELPER");
	bool place, own;
	ssize_t n;

	(void)way_helper(d->helper, sizeof d->helper, &d->installed);
	place = strcmp(d->helper, BL_HELPER_PATH) == 0;
	own = way_beside(beside, sizeof beside) &&
	    strcmp(d->helper, beside) == 0;
	d->ours = place || own;
	d->strayed = var != NULL && var[0] != '\0' && !place &&
	    (!own || access(BL_HELPER_PATH, F_OK) == 0);
	d->helper_err = stat(d->helper, &d->helper_st) == 0 ? 0 : errno;
	if (d->helper_err != 0)
		return;
	n = getxattr(d->helper, "security.capability", raw, sizeof raw);
	d->has_caps = n > 0 && read_caps(raw, (size_t)n, &d->caps) == 0;
	/* one beside this program that was given rights is as good */
	d->installed |= d->has_caps || (d->helper_st.st_mode & S_ISUID) != 0;
	/* by number: of several mounts on one folder the right one */
	d->at_mount = d->mounts != NULL && statx(AT_FDCWD, d->helper, 0,
	    STATX_MNT_ID, &sx) == 0 && (sx.stx_mask & STATX_MNT_ID) != 0 &&
	    read_mount_id(d->mounts, sx.stx_mnt_id, &d->mount);
}

/* As bailiff run does, with the user's defaults and no options. */
static void
choose(struct doctor *d, const struct doctor_wish *w)
{
	struct way way;

	d->wish = w;
	d->chosen_e = w->e;
	if (!opts_config_path(d->config, sizeof d->config))
		d->config[0] = '\0';
	if (w->e.kind == BL_KIND_NONE &&
	    way_choose(&w->ask, &way, &d->chosen_e) == 0 && (!w->host_net ||
	    way_host_net(way.way, &d->chosen_e) == 0))
		d->chosen = way.way;
}

void
doctor_open(struct doctor *d, const struct doctor_wish *w)
{
	static const enum bl_way order[DOCTOR_WAYS] = { BL_WAY_SETUID,
	    BL_WAY_CAPS, BL_WAY_SOCKET, BL_WAY_ROOT, BL_WAY_ROOTLESS,
	    BL_WAY_BWRAP, BL_WAY_PLAIN };
	const struct passwd *pw;
	char text[8192];

	memset(d, 0, sizeof *d);
	d->uid = geteuid();
	pw = getpwuid(d->uid);
	d->named = pw != NULL;
	/* a name that a command can have; numbers do as well */
	if (pw != NULL && pw->pw_name[0] != '-' && strspn(pw->pw_name,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "._-") == strlen(pw->pw_name) &&
	    strlen(pw->pw_name) < sizeof d->user)
		(void)snprintf(d->user, sizeof d->user, "%s", pw->pw_name);
	else
		(void)snprintf(d->user, sizeof d->user, "%u", d->uid);
	d->self_ok = doctor_file("/proc/self/status", text, sizeof text) == 0 &&
	    read_status(text, &d->self) == 0;
	d->whole = doctor_file("/proc/self/uid_map", text, sizeof text) != 0 ||
	    read_map_whole(text);
	d->mounts = doctor_slurp("/proc/self/mountinfo");
	helper_open(d);
	d->socket_there = way_socket(d->socket, sizeof d->socket);
	choose(d, w);
	for (size_t i = 0; i < DOCTOR_WAYS; i++) {
		d->ways[i].way = order[i];
		d->ways[i].used = order[i] == d->chosen;
	}
}

void
doctor_close(struct doctor *d)
{
	free(d->mounts);
	d->mounts = NULL;
}

/* --- what it comes to ------------------------------------------------------ */

/* What w can be done without: a better way that works; or NULL. */
static const struct doctor_way *
instead(const struct doctor *d, const struct doctor_way *w)
{
	for (size_t i = 0; i < DOCTOR_WAYS && &d->ways[i] != w; i++)
		if (d->ways[i].f.status == DOCTOR_WORKS)
			return &d->ways[i];
	return NULL;
}

/* The helper's file has rights for one way alone; what is that? */
static const char *
kind(const struct doctor *d)
{
	return d->has_caps ? "capabilities" :
	    (d->helper_st.st_mode & S_ISUID) == 0 &&
	    d->helper_st.st_gid == 0 && (d->helper_st.st_mode & 1) != 0 ?
	    "the socket" : "setuid";
}

/*
 * Where no check knows more than the way's own error does.  Never a command for
 * a helper's file that gives it the other kind of rights: it would take those
 * away that are in use.
 */
static void
way_fix(const struct doctor *d, const struct doctor_way *w, struct finding *f)
{
	if ((w->way == BL_WAY_SETUID && d->has_caps) ||
	    (w->way == BL_WAY_CAPS && !d->has_caps))
		found_fix(f, "none is needed: the helper is installed for %s",
		    kind(d));
	else if (w->way == BL_WAY_SETUID && !w->used &&
	    doctor_any(d, BY_SOCKET))
		found_fix(f, "none is needed: socket works");
	else if (f->fix[0] != '\0')
		return;
	else if (w->way == BL_WAY_ROOT && d->uid != 0)
		found_fix(f, "run bailiff as root");
	else if (w->way == BL_WAY_SOCKET)
		doctor_listen(f);
	else if (w->way >= BL_WAY_ROOTLESS && !d->installed)
		found_fix(f, "install the helper: " BL_INSTALL);
	else if (w->way >= BL_WAY_ROOTLESS)
		found_fix(f, "none is needed: the installed helper comes "
		    "first");
	else
		found_fix(f, "none is known: report it with what bailiff "
		    "doctor --json says");
}

/* The first check that is wrong and can be the cause names it. */
static void
way_cause(const struct doctor *d, struct doctor_way *w,
    const struct finding *out)
{
	struct finding *f = &w->f;

	for (size_t i = 0; i < doctor_nchecks; i++)
		if (out[i].status == DOCTOR_DOESNT &&
		    (doctor_checks[i].causes & DOCTOR_FOR(w->way)) != 0) {
			*f = out[i];
			return;
		}
	way_fix(d, w, f);
}

/* A way of another kind of user, or helper: no failure of a check. */
static bool
is_other(const struct doctor *d, enum bl_way way)
{
	return (way == BL_WAY_ROOT && d->uid != 0) ||
	    (way == BL_WAY_CAPS && !d->has_caps && d->installed &&
	    d->helper_err == 0 && !doctor_astray(d)) ||
	    (way == BL_WAY_SETUID && d->has_caps && !doctor_astray(d));
}

void
doctor_look(struct doctor *d, struct finding *out)
{
	for (size_t i = 0; i < doctor_nchecks; i++)
		out[i] = doctor_checks[i].look(d);
	for (size_t i = 0; i < DOCTOR_WAYS; i++) {
		struct doctor_way *w = &d->ways[i];
		const struct doctor_way *better = instead(d, w);

		if (w->f.status != DOCTOR_DOESNT)
			continue;
		if (is_other(d, w->way))
			way_fix(d, w, &w->f);
		else
			way_cause(d, w, out);
		if (better != NULL && !w->used)
			found_fix(&w->f, "none is needed: %s works",
			    way_name(better->way));
	}
}

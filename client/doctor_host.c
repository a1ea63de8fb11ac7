/* Doctor's checks of this process and of user namespaces. */
#include "doctor.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bare.h"
#include "cellspec.h"
#include "rlimits.h"
#include "rootless.h"
#include "subid.h"
#include "userns.h"

#define BIT(n) (1ULL << (n))
enum {
	BY_EXEC = DOCTOR_FOR(BL_WAY_SETUID) | DOCTOR_FOR(BL_WAY_CAPS) |
	    DOCTOR_FOR(BL_WAY_ROOT),
	ROOTLESS = DOCTOR_FOR(BL_WAY_ROOTLESS),
	BWRAP = DOCTOR_FOR(BL_WAY_BWRAP)
};

static struct finding
unread(const char *path)
{
	struct finding f = found(DOCTOR_UNKNOWN, path);

	found_detail(&f, "can't be read: %s", strerror(errno));
	return f;
}

static bool
unit_there(void)
{
	static const char *const paths[] = {
		"/etc/systemd/system/bailiff.socket",
		"/usr/local/lib/systemd/system/bailiff.socket",
		"/usr/lib/systemd/system/bailiff.socket",
		"/lib/systemd/system/bailiff.socket"
	};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		if (access(paths[i], F_OK) == 0)
			return true;
	return false;
}

/* sd_booted(3) */
bool
doctor_systemd(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

/* What makes somebody listen at the socket, where anybody can. */
void
doctor_listen(struct finding *f)
{
	if (!doctor_systemd())
		found_fix(f, "systemd does not run here, which would listen "
		    "at it: take another way");
	else
		found_fix(f, "as root: %ssystemctl enable --now bailiff.socket",
		    unit_there() ? "" : "make install HELPER_MODE=none, or "
		    "install the package; then ");
}

struct finding
look_no_new_privs(const struct doctor *d)
{
	static const char object[] = "/proc/self/status NoNewPrivs";
	struct finding f = found(DOCTOR_WORKS, object);

	if (!d->self_ok)
		return unread("/proc/self/status");
	if (d->self.no_new_privs == 0 || d->uid == 0) {
		found_detail(&f, d->self.no_new_privs == 0 ? "not set" :
		    "set, which does not matter to root");
		return f;
	}
	f = found(DOCTOR_DOESNT, object);
	found_detail(&f, "set for this process: no helper that it starts "
	    "gains rights");
	if (unit_there() && !d->socket_there && doctor_systemd())
		found_fix(&f, "as root: systemctl enable --now bailiff.socket");
	else
		found_fix(&f, "start bailiff outside of what has set it (a "
		    "service's NoNewPrivileges=, a container's "
		    "allowPrivilegeEscalation, setpriv --no-new-privs)");
	return f;
}

/* What the rest sees of it is what counts: cells can be made in some. */
struct finding
look_user_namespace(const struct doctor *d)
{
	static const char object[] = "/proc/self/uid_map";
	struct finding f = found(DOCTOR_WORKS, object);

	if (d->whole) {
		found_detail(&f, "every user is itself");
	} else if (doctor_any(d, BY_EXEC)) {
		found_detail(&f, "a user namespace, in which cells can be "
		    "made");
	} else {
		f = found(DOCTOR_DOESNT, object);
		found_detail(&f, "this is a user namespace with a part of the "
		    "users: its root can't make cells' users");
		found_fix(&f, "start bailiff outside of it");
	}
	return f;
}

/*
 * The helper goes back to the network that it came from, and only the root of
 * the user namespace that owns that one may ask for it: root in a container
 * with its host's network is another's.
 */
struct finding
look_network(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, "/proc/self/ns/net");
	bool admin = d->self_ok &&
	    (d->self.cap_prm >> CAP_NET_ADMIN & 1) != 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int net = fd < 0 ? -1 : ioctl(fd, SIOCGSKNS);

	if (net >= 0) {
		found_detail(&f, "belongs to this root");
	} else if (!admin || fd < 0) {
		f.status = DOCTOR_UNKNOWN;
		found_detail(&f, "only root can see whose it is");
	} else {
		f = found(DOCTOR_DOESNT, "/proc/self/ns/net");
		found_detail(&f, "the network is not this user namespace's: "
		    "its root can't make cells' networks");
		found_fix(&f, "start the container with a network of its own, "
		    "not its host's");
	}
	if (net >= 0)
		(void)close(net);
	if (fd >= 0)
		(void)close(fd);
	return f;
}

/*
 * execve(2) refuses a file whose capabilities take effect and can't all be had:
 * then the helper needs those that it could do without, too.
 */
static struct finding
too_many(const struct doctor *d, uint64_t lacks)
{
	struct finding f = found(DOCTOR_DOESNT, "/proc/self/status CapBnd");
	char names[256];

	f.broken = true;
	read_caps_words(lacks, "CAP_", ", ", true, names, sizeof names);
	found_detail(&f, "no program here can have %s, which the helper's file "
	    "capabilities name: it can't be started", names);
	doctor_fix_rights(d, &f);
	return f;
}

struct finding
look_bounding_set(const struct doctor *d)
{
	static const char object[] = "/proc/self/status CapBnd";
	struct finding f = found(DOCTOR_WORKS, object);
	uint64_t lacks = read_caps_needed & ~(d->uid == 0 ? d->self.cap_bnd &
	    d->self.cap_prm : d->self.cap_bnd);
	uint64_t named = d->has_caps && d->caps.effective ?
	    read_caps_file & d->caps.permitted & ~d->self.cap_bnd : 0;
	char names[256];

	if (!d->self_ok)
		return unread("/proc/self/status");
	if (lacks == 0 && named != 0)
		return too_many(d, named);
	if (lacks == 0) {
		found_detail(&f, "has all that the helper needs");
		return f;
	}
	f = found(DOCTOR_DOESNT, object);
	read_caps_words(lacks, "CAP_", ", ", true, names, sizeof names);
	found_detail(&f, "%s here can't have %s", d->uid == 0 ? "root" :
	    "a helper", names);
	read_caps_words(lacks, "--cap-add=", " ", true, names, sizeof names);
	found_fix(&f, "start the container with %s", names);
	return f;
}

/* --- limits ----------------------------------------------------------------- */

/* What a run by the defaults asks of a cell. */
static void
cell_wished(const struct doctor *d, struct bl_cell_spec *s)
{
	const struct doctor_wish *w = d->wish;

	cellspec_init(s);
	s->disk = w->cell.disk;
	s->limits = w->cell.limits;
	cellspec_limits(s);
	s->deadline_ns = now_ns() + w->judge_ns;
}

/* true: the helper that this user would start raises what is too low. */
static bool
limits_raised(const struct doctor *d)
{
	/* a rootless one has the right in its namespace, where it is none */
	return d->self_ok && d->chosen < BL_WAY_ROOTLESS &&
	    (d->uid == 0 || d->installed) && rlimits_raised(d->uid, d->whole,
	    &d->self, d->has_caps ? &d->caps : NULL);
}

/* true: the user's defaults ask for so much. */
static bool
limit_asked(const struct doctor_wish *w, int what)
{
	const struct bl_limits *l = &w->cell.limits;

	return what == RLIMIT_DATA ? l->memory != 0 : what == RLIMIT_NPROC ?
	    l->pids != 0 : what == RLIMIT_CPU ? l->cpu_ms != 0 :
	    what == RLIMIT_FSIZE && (l->fsize != 0 || w->cell.disk != 0);
}

static void
limit_fix(const struct doctor *d, const struct rlimits_row *l, rlim_t need,
    struct finding *f)
{
	char much[32] = "unlimited";

	if (need != RLIM_INFINITY)
		(void)snprintf(much, sizeof much, "%llu", (unsigned long long)
		    (need / l->unit + (need % l->unit != 0)));
	if (l->what == RLIMIT_CORE && getenv("SUDO_UID") != NULL)
		found_fix(f, "sudo sets it to 0: use su - instead, from a shell that sudo did not start");
	else if (need > l->least && limit_asked(d->wish, l->what))
		found_fix(f, "ask for less with %s, in %s", l->option,
		    d->config);
	else
		found_fix(f, "as root: echo '%s hard %s %s' >>"
		    "/etc/security/limits.conf; then log in again", d->user,
		    l->word, much);
}

struct finding
look_limits(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS, "/proc/self/limits");
	bool raises = limits_raised(d), low = false;
	struct bl_cell_spec s;

	cell_wished(d, &s);
	for (unsigned i = 0; i < rlimits_n; i++) {
		const struct rlimits_row *l = &rlimits_rows[i];
		rlim_t need = rlimits_need(l, &s);
		struct rlimit v;

		need = need > l->least ? need : l->least;
		if (getrlimit((__rlimit_resource_t)l->what, &v) != 0 ||
		    v.rlim_max >= need)
			continue;
		low = true;
		if (raises)
			continue;
		f = found(DOCTOR_DOESNT, "/proc/self/limits");
		if (need == RLIM_INFINITY)
			found_detail(&f, "the hard limit of %s is %llu; a cell "
			    "must have none", l->name,
			    (unsigned long long)v.rlim_max);
		else
			found_detail(&f, "the hard limit of %s is %llu; a run "
			    "needs %llu", l->name,
			    (unsigned long long)v.rlim_max,
			    (unsigned long long)need);
		limit_fix(d, l, need, &f);
		return f;
	}
	found_detail(&f, low ? "too low, but the helper may raise them; "
	    "rootless it may not" : "high enough");
	return f;
}

/* --- user namespaces -------------------------------------------------------- */

struct finding
look_user_namespaces(const struct doctor *d)
{
	struct finding f = found(DOCTOR_WORKS,
	    "/proc/sys/user/max_user_namespaces");
	struct userns_fail fail;
	struct userns_why w;

	(void)d;
	if (userns_try(USERNS_CELL, &fail) == 0) {
		found_detail(&f, "one could be made");
		return f;
	}
	userns_why("/proc/sys", &fail, &w);
	f = found(DOCTOR_DOESNT, w.object);
	found_detail(&f, "%s", w.why);
	found_fix(&f, "%s", w.fix);
	return f;
}

/* --- rootless and bwrap ----------------------------------------------------- */

/* path: where it is; NULL: in none of these folders. */
static struct finding
program(const char *name, const char *path, const char *dirs,
    const char *package, const char *what)
{
	struct finding f = found(path != NULL ? DOCTOR_WORKS : DOCTOR_DOESNT,
	    path != NULL ? path : name);

	if (path == NULL) {
		found_detail(&f, "not in %s%s", dirs, what);
		found_fix(&f, "as root: apt-get install %s", package);
	}
	return f;
}

static struct finding
tool(const char *name)
{
	char path[64];
	bool there = rootless_tool(name, path, sizeof path);
	struct finding f = program(name, there ? path : NULL, ROOTLESS_TOOLS,
	    "uidmap", ": rootless needs it");

	if (there && !rootless_gains(path)) {
		f.status = DOCTOR_DOESNT;
		found_detail(&f, "can gain no rights: it is not root's with "
		    "its set-user-id bit, or its file system is nosuid");
		found_fix(&f, "as root: chown root %s && chmod u+s %s, on a "
		    "file system that is not mounted nosuid", path, path);
	}
	return f;
}

struct finding
look_newuidmap(const struct doctor *d)
{
	(void)d;
	return tool("newuidmap");
}

struct finding
look_newgidmap(const struct doctor *d)
{
	(void)d;
	return tool("newgidmap");
}

/* One range that is large enough: what rootless takes is in one. */
static struct finding
range_of(const struct doctor *d, const char *path)
{
	struct finding f = found(DOCTOR_WORKS, path);
	uint32_t want = rootless_ids(), next;
	struct subid s = { 0, 0 };
	char fix[256];
	FILE *file = fopen(path, "re");
	int r = file == NULL ? -ENOENT :
	    subid_read(file, d->user, d->uid, want, &s, &next);

	if (file != NULL)
		(void)fclose(file);
	if (r == 0) {
		found_detail(&f, "gives %s %u ids in one range", d->user,
		    s.count);
		return f;
	}
	if (d->uid == 0 && !doctor_any(d, ROOTLESS)) {
		f = found(DOCTOR_UNKNOWN, path);
		found_detail(&f, "has no such range for root, who needs none");
		return f;
	}
	f = found(DOCTOR_DOESNT, d->named ? path : "/etc/passwd");
	if (!d->named) {
		found_detail(&f, "user %u has no name, and newuidmap knows "
		    "nobody without", d->uid);
		found_fix(&f, "as root: useradd -M -u %u user%u", d->uid,
		    d->uid);
		return f;
	}
	if (r == -ERANGE)
		found_detail(&f, "the largest range of %s has %u ids: rootless "
		    "needs %u in one", d->user, s.count, want);
	else
		found_detail(&f, "has no line for %s: rootless needs one of %u "
		    "ids", d->user, want);
	subid_fix(d->user, d->uid, want, fix, sizeof fix);
	found_fix(&f, "as root: %s", fix);
	return f;
}

struct finding
look_subuid(const struct doctor *d)
{
	return range_of(d, "/etc/subuid");
}

struct finding
look_subgid(const struct doctor *d)
{
	return range_of(d, "/etc/subgid");
}

struct finding
look_bwrap(const struct doctor *d)
{
	struct finding f = program("bwrap", bare_bwrap(), "/usr/bin, "
	    "/usr/local/bin, /bin", "bubblewrap", "");
	char why[256] = "";

	if (f.status != DOCTOR_WORKS || doctor_any(d, BWRAP) ||
	    bare_possible(why, sizeof why))
		return f;
	/* what stops it is another check's business */
	f.status = DOCTOR_UNKNOWN;
	found_detail(&f, "%s", why);
	return f;
}

/* --- the user's defaults ---------------------------------------------------- */

/* The line that e is about, where that is one of the file's own; else NULL. */
static const char *
line_of(const struct doctor *d, const struct bl_err *e)
{
	size_t n = strlen(d->config);
	const char *no = e->object + n + 1;

	return strncmp(e->object, d->config, n) == 0 && e->object[n] == ':' &&
	    no[0] != '\0' && strspn(no, "0123456789") == strlen(no) ? no : NULL;
}

/* The one thing to do about what stops a run in them. */
static void
config_fix(const struct doctor *d, const struct bl_err *e, struct finding *f)
{
	const char *line = line_of(d, e);
	bool plain = strcmp(e->code, "way_too_weak") == 0 &&
	    d->wish->ask.way == BL_WAY_PLAIN;

	if (line != NULL)
		found_fix(f, "take line %s out of %s", line, d->config);
	else if (strcmp(e->code, "unreadable") == 0 && e->object[0] == '\0')
		found_fix(f, "let %s be a file that %s can read", d->config,
		    d->user);
	else if (e->hint[0] != '\0' && !plain &&
	    strcmp(e->code, "provider_missing") != 0)
		found_fix(f, "%s", e->hint);
	else if (d->wish->line[0] != '\0' && (strncmp(e->code, "way_", 4) == 0 ||
	    strcmp(e->code, "cgroup_missing") == 0))
		found_fix(f, "take \"%s\" out of %s", d->wish->line, d->config);
	else if (e->object[0] != '\0')
		found_fix(f, "correct %s, or take it out of %s", e->object,
		    d->config);
	else
		found_fix(f, "take what that names out of %s", d->config);
}

/* What bailiff run takes from them, or what in them stops it. */
struct finding
look_config(const struct doctor *d)
{
	const struct bl_err *e = &d->chosen_e;
	struct finding f = found(DOCTOR_WORKS, d->config);

	if (d->config[0] != '\0' && e->kind != BL_KIND_NONE &&
	    (d->wish->line[0] != '\0' || d->wish->e.kind != BL_KIND_NONE ||
	    d->wish->host_net)) {
		f = found(DOCTOR_DOESNT, line_of(d, e) != NULL ? e->object :
		    d->config);
		found_detail(&f, "%s%s%s", d->wish->line,
		    d->wish->line[0] != '\0' ? ": " : "", e->message);
		config_fix(d, e, &f);
	} else if (d->config[0] == '\0' || access(d->config, F_OK) != 0) {
		int err = errno;

		f = found(DOCTOR_WORKS, d->config[0] == '\0' ? "no HOME" :
		    d->config);
		found_detail(&f, d->config[0] == '\0' || (err != EACCES &&
		    err != ENOTDIR) ? "there is none" : "can't be looked at; "
		    "the home is another's, so there is none of this user's");
	} else {
		found_detail(&f, "%s", d->wish->line);
	}
	return f;
}

struct finding
look_python3(const struct doctor *d)
{
	static const char *const at[] = { "/usr/local/bin/python3",
	    "/usr/bin/python3", "/bin/python3" };
	size_t i, n = sizeof at / sizeof at[0];

	(void)d;
	for (i = 0; i < n && access(at[i], X_OK) != 0; i++)
		;
	return program("python3", i < n ? at[i] : NULL, "/usr/local/bin, "
	    "/usr/bin, /bin", "python3", ", a cell's PATH: verifiers in Python "
	    "need it");
}

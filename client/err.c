/* Words for what went wrong; nobody but this file turns a number into one. */
#include "err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absent.h"
#include "bailiff.h"
#include "../policy/proto.h"
#include "../policy/spec.h"
#include "rulesfile.h"


__attribute__((format(printf, 3, 0)))
static void
text_cut(char *to, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(to, size, fmt, ap);

	if (n < 0)
		to[0] = '\0';
	else if ((size_t)n >= size)
		memcpy(to + size - 4, "...", 4);
}

int
err_set(struct bl_err *e, enum bl_kind kind, const char *code,
    const char *step, int err, const char *fmt, ...)
{
	va_list ap;

	/* The first error is the cause; later ones come of it. */
	if (e == NULL || e->kind != BL_KIND_NONE)
		return -1;
	memset(e, 0, sizeof *e);
	e->kind = kind;
	e->err = err < 0 ? -err : err;
	(void)snprintf(e->code, sizeof e->code, "%s", code);
	(void)snprintf(e->step, sizeof e->step, "%s", step);
	va_start(ap, fmt);
	text_cut(e->message, sizeof e->message, fmt, ap);
	va_end(ap);
	return -1;
}

int
err_memory(struct bl_err *e, const char *step)
{
	return err_set(e, BL_KIND_INFRA, "no_memory", step, ENOMEM,
	    "out of memory");
}

void
err_object(struct bl_err *e, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL || e->object[0] != '\0')
		return;
	va_start(ap, fmt);
	text_cut(e->object, sizeof e->object, fmt, ap);
	va_end(ap);
}

void
err_hint(struct bl_err *e, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL || e->hint[0] != '\0')
		return;
	va_start(ap, fmt);
	text_cut(e->hint, sizeof e->hint, fmt, ap);
	va_end(ap);
}

const char *
err_kind_name(enum bl_kind k)
{
	switch (k) {
	case BL_KIND_NONE:
		return "none";
	case BL_KIND_SETUP:
		return "setup";
	case BL_KIND_REFUSED:
		return "refused";
	case BL_KIND_INFRA:
		return "infrastructure";
	case BL_KIND_JUDGE:
		return "judge";
	case BL_KIND_CANCELLED:
		return "cancelled";
	case BL_KIND_USAGE:
		return "usage";
	}
	return "unknown";
}

static const struct words {
	uint32_t at;
	enum bl_kind kind;
	const char *code, *step, *said, *hint;
} words[] = {
	{ BL_AT_ARGS, BL_KIND_SETUP, "helper_refused", "helper/arguments",
	    "the helper takes no arguments", "" },
	{ BL_AT_FD3, BL_KIND_SETUP, "helper_refused", "helper/socket",
	    "the helper did not find its socket on descriptor 3", "" },
	{ BL_AT_NOT_ROOT, BL_KIND_SETUP, "helper_not_root", "helper/root",
	    "the helper did not become root when it was started",
	    "run " BL_INSTALL ", and adduser USER bailiff; installed for the "
	    "socket: systemctl enable --now bailiff.socket; see bailiff "
	    "doctor" },
	{ BL_AT_OWN_FILE, BL_KIND_SETUP, "helper_file_unsound",
	    "helper/own file",
	    "the helper's own file is not root's, can be written by others, or "
	    "has a second name",
	    "install it again: chown it to root, let nobody else write to it, "
	    "and give it one name" },
	{ BL_AT_IDS, BL_KIND_INFRA, "helper_start", "helper/ids",
	    "the helper could not become root wholly", "" },
	{ BL_AT_STDIO, BL_KIND_INFRA, "helper_start", "helper/stdio",
	    "the helper could not open /dev/null", "" },
	{ BL_AT_RLIMIT, BL_KIND_SETUP, "limits_too_low", "helper/rlimit",
	    "a hard limit that the helper was started with is too low",
	    "raise it: see ulimit -H, or by the socket bailiff@.service; sudo "
	    "sets core to 0: use su - instead, from another shell" },
	{ BL_AT_KEYRING, BL_KIND_INFRA, "helper_start", "helper/keyring",
	    "the helper could not get a session keyring of its own", "" },
	{ BL_AT_SIGNALS, BL_KIND_INFRA, "helper_start", "helper/signals",
	    "the helper could not set signals to a known state", "" },
	{ BL_AT_DUMPABLE, BL_KIND_INFRA, "helper_start", "helper/dumpable",
	    "the helper could not make itself untraceable", "" },
	{ BL_AT_RULES_OPEN, BL_KIND_SETUP, "rules_unsound", "helper/rules",
	    "the rules can't be read, or they or a folder above them are not "
	    "root's alone",
	    "see bailiff-rules; /etc/bailiff and its files belong to root" },
	{ BL_AT_RULES_BAD, BL_KIND_SETUP, "rules_bad", "helper/rules",
	    "the rules are of another version, or are no rules",
	    "compile them again: bailiff-rules compile /etc/bailiff/policy -o "
	    "/etc/bailiff/rules" },
	{ BL_AT_RULES_CALLER, BL_KIND_SETUP, "caller_not_allowed",
	    "helper/caller", "the rules do not allow this user", "" },
	{ BL_AT_LOCKS, BL_KIND_INFRA, "slot_locks", "helper/locks",
	    "the slot locks can't be used",
	    "/run/bailiff must be root's, mode 0700" },
	{ BL_AT_SEAL, BL_KIND_INFRA, "helper_start", "helper/seal",
	    "the helper could not give up what it doesn't need", "" },
	{ BL_AT_WIRE, BL_KIND_INFRA, "protocol", "helper/wire",
	    "client and helper don't understand each other",
	    "install both from the same version" },
	{ BL_AT_RESTRICTED, BL_KIND_SETUP, "helper_restricted",
	    "helper/capability",
	    "the helper lacks a capability that cells need",
	    "installed: " BL_INSTALL "; root in a container: give it "
	    "SYS_ADMIN, NET_ADMIN and SYS_CHROOT" },
	{ BL_AT_LIMITS, BL_KIND_SETUP, "limit_above_rules", "cell/limits",
	    "the limit is above what the rules give this user",
	    "" },
	{ BL_AT_SLOT, BL_KIND_INFRA, "slots_busy", "cell/slot",
	    "all cells that this user may have at once are in use",
	    "wait for one to end" },
	{ BL_AT_PLACE, BL_KIND_SETUP, "place_refused", "cell/place",
	    "a folder can't be shown in the cell: it is no plain folder, its "
	    "file system is not allowed, or its destination is in use",
	    "the destination may not meet /usr, /bin, /lib, /etc, /proc, /dev, "
	    "/tmp, /var/tmp, /run, /work or the role's home" },
	{ BL_AT_CLONE, BL_KIND_INFRA, "cell_clone", "cell/clone",
	    "new namespaces, or processes in the cgroup folder, can't be made",
	    "" },
	{ BL_AT_REPORT, BL_KIND_INFRA, "cell_silent", "cell/report",
	    "the cell's init ended or was silent during set-up", "" },
	{ BL_AT_UNKNOWN, BL_KIND_SETUP, "unknown_request", "helper/request",
	    "this helper doesn't have that request",
	    "install client and helper from the same build" },
	{ BL_AT_INIT, BL_KIND_INFRA, "cell_setup", "cell/init",
	    "the cell's init could not start", "" },
	{ BL_AT_LO, BL_KIND_INFRA, "cell_setup", "cell/network",
	    "the cell's own network could not be made", "" },
	{ BL_AT_ROOT, BL_KIND_INFRA, "cell_setup", "cell/root",
	    "the cell's root could not be made", "" },
	{ BL_AT_VIEW, BL_KIND_INFRA, "cell_setup", "cell/view",
	    "a part of the cell's file tree could not be made", "" },
	{ BL_AT_ETC, BL_KIND_INFRA, "cell_setup", "cell/etc",
	    "the cell's /etc could not be made", "" },
	{ BL_AT_BIND, BL_KIND_SETUP, "place_refused", "cell/bind",
	    "a folder could not be put into the cell: its destination is in "
	    "use, or its file system can't be mounted again",
	    "the destination may not meet /usr, /bin, /lib, /etc, /proc, /dev, "
	    "/tmp, /var/tmp, /run, /work or the role's home" },
	{ BL_AT_SHOW, BL_KIND_INFRA, "cell_setup", "cell/show",
	    "a folder that the rules name could not be shown",
	    "correct its line in /etc/bailiff/policy, and compile it again" },
	{ BL_AT_PIVOT, BL_KIND_INFRA, "cell_setup", "cell/pivot",
	    "the cell's root could not be entered", "" },
	{ BL_AT_NETLINK, BL_KIND_INFRA, "cell_setup", "cell/netlink",
	    "the socket that proves the cell's network could not be opened",
	    "" },
	{ BL_AT_CAPS, BL_KIND_INFRA, "cell_setup", "cell/capabilities",
	    "the cell's init could not give up capabilities", "" },
	{ BL_AT_FILTER, BL_KIND_INFRA, "cell_setup", "cell/filter",
	    "the system call filter could not be put up", "" },
	{ BL_AT_GONE, BL_KIND_INFRA, "helper_gone", "cell/helper",
	    "the helper ended while the cell was made", "" },
	{ BL_AT_STREAM, BL_KIND_INFRA, "spawn_refused", "spawn/stream",
	    "a stream was refused", "" },
	{ BL_AT_REPLY_FD, BL_KIND_INFRA, "spawn_refused", "spawn/reply",
	    "the reply socket was refused", "" },
	{ BL_AT_FORK, BL_KIND_INFRA, "spawn_fork", "spawn/fork",
	    "no process could be started in the cell", "" },
	{ BL_AT_LAUNCH, BL_KIND_INFRA, "spawn_died", "spawn/launch",
	    "the process to be died before its program started", "" },
	{ BL_AT_BECOME, BL_KIND_INFRA, "spawn_become", "spawn/ids",
	    "the process could not become the cell's user", "" },
	{ BL_AT_SPEC, BL_KIND_INFRA, "spawn_refused", "spawn/spec",
	    "the specification was refused", "" },
	{ BL_AT_STEP, BL_KIND_SETUP, "file_step", "spawn/file",
	    "a file step failed in the cell", "" },
	{ BL_AT_CHDIR, BL_KIND_SETUP, "workdir", "spawn/chdir",
	    "the working folder can't be entered in the cell",
	    "it must be there: /work is the default; see --put, --ro-bind" },
	{ BL_AT_SPEC_RLIMIT, BL_KIND_SETUP, "spawn_rlimit", "spawn/rlimit",
	    "a limit could not be set", "" },
	{ BL_AT_EXEC, BL_KIND_SETUP, "could_not_start", "spawn/exec",
	    "the program could not be started", "" },
};

enum { ALL = -1 };

/* Errnos that the helper chose, not the kernel: their text would mislead. */
static const struct { uint32_t at; int err; } ours[] = {
	{ BL_AT_NOT_ROOT, ALL }, { BL_AT_OWN_FILE, EPERM },
	{ BL_AT_IDS, ALL }, { BL_AT_STDIO, ENODEV }, { BL_AT_RLIMIT, EPERM },
	{ BL_AT_RULES_OPEN, EPERM }, { BL_AT_RULES_BAD, ALL },
	{ BL_AT_RULES_CALLER, ALL }, { BL_AT_LOCKS, EPERM },
	{ BL_AT_LOCKS, ESTALE }, { BL_AT_WIRE, EPROTO },
	{ BL_AT_RESTRICTED, ALL }, { BL_AT_LIMITS, ALL }, { BL_AT_SLOT, ALL },
	{ BL_AT_PLACE, EOPNOTSUPP }, { BL_AT_BIND, EXDEV },
	{ BL_AT_REPORT, ALL }, { BL_AT_UNKNOWN, ALL }, { BL_AT_STREAM, ALL },
	{ BL_AT_REPLY_FD, ALL }, { BL_AT_LAUNCH, ALL }, { BL_AT_SPEC, ALL }
};

/* Of enum bl_limit: the rules' word for it, and the options that ask. */
static const struct { const char *name, *options; } limits[BL_LIMIT_MAX] = {
	[BL_LIMIT_TIME]	     = { "time", "-t or --judge-timeout" },
	[BL_LIMIT_CPU]	     = { "cpu", "--cpu-time" },
	[BL_LIMIT_MEMORY]    = { "memory", "-m" },
	[BL_LIMIT_PROCESSES] = { "processes", "--pids" },
	[BL_LIMIT_DISK]	     = { "disk", "--disk, --fsize or --tmpfs" },
	[BL_LIMIT_START]     = { "open files", NULL }
};
static const char *const rlimit_names[] = {
	"cpu time", "file size", "data", "stack", "core", "rss", "processes",
	"open files", "locked memory", "address space", "locks", "signals",
	"message queues", "nice", "realtime priority", "realtime"
};
static const char *const stream_names[] = {
	"stdin", "stdout", "stderr", NULL, "result"
};
static const char *const spec_names[] = {
	[BL_SPEC_SHORT] = "length", [BL_SPEC_MAGIC] = "magic",
	[BL_SPEC_SIZE] = "size", [BL_SPEC_COUNTS] = "counts",
	[BL_SPEC_STEP] = "step", [BL_SPEC_STRINGS] = "strings"
};

#define NAME(list, n) \
	((n) < sizeof (list) / sizeof (list)[0] ? (list)[n] : NULL)

/* capabilities(7): those that the helper asks for; "?" for another one. */
static const char *
capability(uint32_t n)
{
	static const struct { uint32_t n; const char *name; } row[] = {
		{ 0, "CAP_CHOWN" }, { 5, "CAP_KILL" }, { 6, "CAP_SETGID" },
		{ 7, "CAP_SETUID" }, { 8, "CAP_SETPCAP" },
		{ 12, "CAP_NET_ADMIN" }, { 21, "CAP_SYS_ADMIN" },
		{ 27, "CAP_MKNOD" }
	};

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
		if (row[i].n == n)
			return row[i].name;
	return "?";
}

/* A word, or nothing: a bare number tells nobody anything. */
static void
object_of(struct bl_err *e, uint32_t at, uint32_t n)
{
	const char *name = NULL;

	switch (at) {
	case BL_AT_STDIO:
		if (n <= STDERR_FILENO)
			err_object(e, "descriptor %u", n);
		break;
	case BL_AT_RLIMIT:
		name = NAME(rlimit_names, n);
		break;
	case BL_AT_RULES_CALLER:
		err_object(e, "user %u", n);
		break;
	case BL_AT_RESTRICTED:
		err_object(e, "capability %s", capability(n));
		break;
	case BL_AT_LIMITS:
		name = n < BL_LIMIT_MAX ? limits[n].name : NULL;
		break;
	case BL_AT_SLOT:
		err_object(e, "%u cell%s", n, n == 1 ? "" : "s");
		break;
	case BL_AT_UNKNOWN:
		err_object(e, "request %u", n);
		break;
	case BL_AT_VIEW:
		err_object(e, "part %u", n + 1);
		break;
	case BL_AT_SHOW:
		err_object(e, "show line %u", n + 1);
		break;
	case BL_AT_STREAM:
		name = NAME(stream_names, n);
		break;
	case BL_AT_LAUNCH:
		if (WIFSIGNALED((int)n))
			err_object(e, "signal %d", WTERMSIG((int)n));
		break;
	case BL_AT_SPEC:
		name = NAME(spec_names, n);
		break;
	case BL_AT_STEP:
		err_object(e, "step %u", n + 1);
		break;
	default:
		break;
	}
	if (name != NULL)
		err_object(e, "%s", name);
}

/* Whom the rules leave out, as far as this user can read them. */
static void
hint_caller(struct bl_err *e, uint32_t uid)
{
	struct bl_rules *r = calloc(1, sizeof *r);
	struct bl_caller q;
	char list[128] = "";
	size_t n = 0;

	if (r != NULL && rules_read(r) == 0 && r->ngroups > 0 &&
	    bl_rules_quota(r, uid, r->group, r->ngroups, &q) == 0) {
		for (uint32_t i = 0; i < r->ngroups && n < sizeof list - 12; i++)
			n += (size_t)snprintf(list + n, sizeof list - n, " %u",
			    r->group[i]);
		err_hint(e, "the rules name this user, but want it in a group "
		    "with one of these numbers:%s", list);
	} else {
		err_hint(e, "as root: add a line \"caller %u slots 8\" to "
		    "/etc/bailiff/policy, then run bailiff-rules compile "
		    "/etc/bailiff/policy -o /etc/bailiff/rules", uid);
	}
	free(r);
}

static void
hint_of(struct bl_err *e, const struct words *w, uint32_t n)
{
	if (w->at == BL_AT_RULES_CALLER)
		hint_caller(e, n);
	else if (w->at == BL_AT_NOT_ROOT &&
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		err_hint(e, "start bailiff outside of what has set no_new_privs "
		    "(setpriv, a container, a service), or by bailiff.socket");
	else if (w->at == BL_AT_NOT_ROOT && getenv("BAILIFF_HELPER") != NULL)
		err_hint(e, "BAILIFF_HELPER names it: unset BAILIFF_HELPER, or "
		    "add --way rootless");
	else if (w->at == BL_AT_LIMITS && n < BL_LIMIT_MAX &&
	    limits[n].options != NULL)
		err_hint(e, path_absent(BL_RULES_PATH, NULL) ? "ask for less "
		    "with %s: the rules are the built-in ones; " BL_INSTALL
		    " brings /etc/bailiff/policy, where they can be changed" :
		    "ask for less with %s, or have /etc/bailiff/policy changed",
		    limits[n].options);
	else if (w->hint[0] != '\0')
		err_hint(e, "%s", w->hint);
}

int
err_at(struct bl_err *e, uint32_t step, uint32_t object, int status)
{
	const struct words *w = NULL;
	int err = status < 0 ? -status : status;
	bool said = err == 0;

	if (e == NULL || e->kind != BL_KIND_NONE)
		return -1;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (words[i].at == step)
			w = &words[i];
	if (w == NULL)
		return err_set(e, BL_KIND_INFRA, "unknown_failure", "helper",
		    err, "the helper failed at step %u, which this client does "
		    "not know", step);
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		said |= ours[i].at == step &&
		    (ours[i].err == ALL || ours[i].err == err);
	/* nobody said whom: the helper of an earlier version, or its end */
	if (step == BL_AT_RULES_CALLER && object == 0)
		object = getuid();
	/* a cell's own tree is full before anything is in it */
	(void)err_set(e, err == ENOSPC && step >= BL_AT_ROOT &&
	    step <= BL_AT_SHOW ? BL_KIND_SETUP : w->kind, w->code, w->step, err,
	    "%s%s%s", w->said, said ? "" : ": ", said ? "" : strerror(err));
	object_of(e, step, object);
	hint_of(e, w, object);
	if (err == ENOSPC && e->kind == BL_KIND_SETUP && e->hint[0] == '\0')
		err_hint(e, "--disk has to be larger");
	return -1;
}

_Static_assert((int)BAILIFF_USAGE == (int)BL_KIND_USAGE, "same kinds");

void
err_out(struct bailiff_error *to, const struct bl_err *from)
{
	if (to == NULL)
		return;
	memset(to, 0, sizeof *to);
	to->kind = (enum bailiff_kind)from->kind;
	to->err = from->err;
	memcpy(to->code, from->code, sizeof to->code);
	memcpy(to->step, from->step, sizeof to->step);
	memcpy(to->object, from->object, sizeof to->object);
	memcpy(to->message, from->message, sizeof to->message);
	memcpy(to->hint, from->hint, sizeof to->hint);
}

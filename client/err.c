/* Words for what went wrong; nobody but this file turns a number into one. */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../policy/proto.h"

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
	    "install it with mode 4750 and owner root on a file system that is "
	    "not mounted nosuid, and start bailiff without no_new_privs" },
	{ BL_AT_OWN_FILE, BL_KIND_SETUP, "helper_file_unsound",
	    "helper/own file",
	    "the helper's own file, or a folder above it, is not root's or can "
	    "be written by others",
	    "chown it to root, and let nobody else write to it" },
	{ BL_AT_IDS, BL_KIND_INFRA, "helper_start", "helper/ids",
	    "the helper could not become root wholly", "" },
	{ BL_AT_STDIO, BL_KIND_INFRA, "helper_start", "helper/stdio",
	    "the helper could not open /dev/null", "" },
	{ BL_AT_RLIMIT, BL_KIND_SETUP, "limits_too_low", "helper/rlimit",
	    "a hard limit of this process is too low for the helper to work",
	    "raise it: see ulimit -H" },
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
	    "compile them again: bailiff-rules compile" },
	{ BL_AT_RULES_CALLER, BL_KIND_SETUP, "caller_not_allowed",
	    "helper/caller", "the rules do not allow this user",
	    "ask the administrator to be named in /etc/bailiff/rules, or put "
	    "into the group bailiff" },
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
	    "root here lacks a capability that cells need",
	    "in a container: give it SYS_ADMIN, NET_ADMIN and SYS_CHROOT" },
	{ BL_AT_LIMITS, BL_KIND_SETUP, "limit_above_rules", "cell/limits",
	    "a limit is above what the rules give this user",
	    "ask for less, or have the rules changed" },
	{ BL_AT_SLOT, BL_KIND_INFRA, "slots_busy", "cell/slot",
	    "all cells that this user may have at once are in use",
	    "wait for one to end" },
	{ BL_AT_PLACE, BL_KIND_SETUP, "place_refused", "cell/place",
	    "a folder can't be shown in the cell: it is no plain folder, its "
	    "file system is not allowed, or its destination is in use",
	    "the destination may not meet /usr, /bin, /lib, /etc, /proc, /dev, "
	    "/tmp, /var/tmp, /run, /work or the role's home" },
	{ BL_AT_CGROUP, BL_KIND_SETUP, "cgroup_refused", "cell/cgroup",
	    "the cgroup folder is not of cgroup v2, or not this user's", "" },
	{ BL_AT_CLONE, BL_KIND_INFRA, "cell_clone", "cell/clone",
	    "new namespaces can't be made", "" },
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
	{ BL_AT_BIND, BL_KIND_SETUP, "place_refused", "cell/bind",
	    "a folder could not be put into the cell: its destination is in "
	    "use, or its file system can't be mounted again",
	    "the destination may not meet /usr, /bin, /lib, /etc, /proc, /dev, "
	    "/tmp, /var/tmp, /run, /work or the role's home" },
	{ BL_AT_SHOW, BL_KIND_INFRA, "cell_setup", "cell/show",
	    "a folder that the rules name could not be shown",
	    "correct /etc/bailiff/rules" },
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

static const char *const limit_names[BL_LIMIT_MAX] = {
	"", "time", "cpu", "memory", "processes", "output", "disk", "start"
};
static const char *const rlimit_names[] = {
	"cpu time", "file size", "data", "stack", "core", "rss", "processes",
	"open files", "locked memory", "address space", "locks", "signals",
	"message queues", "nice", "realtime priority", "realtime"
};

static void
object_of(struct bl_err *e, uint32_t at, uint32_t n)
{
	const char *name = NULL;

	if (at == BL_AT_LIMITS && n < BL_LIMIT_MAX) {
		name = limit_names[n];
	} else if ((at == BL_AT_RLIMIT || at == BL_AT_SPEC_RLIMIT) &&
	    n < sizeof rlimit_names / sizeof rlimit_names[0]) {
		name = rlimit_names[n];
	}
	if (name != NULL)
		err_object(e, "%s", name);
	else
		err_object(e, "%u", n);
}

int
err_at(struct bl_err *e, uint32_t step, uint32_t object, int status)
{
	const struct words *w = NULL;
	int err = status < 0 ? -status : status;

	if (e == NULL || e->kind != BL_KIND_NONE)
		return -1;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (words[i].at == step)
			w = &words[i];
	if (w == NULL)
		return err_set(e, BL_KIND_INFRA, "unknown_failure", "helper",
		    err, "the helper failed at step %u, which this client does "
		    "not know", step);
	(void)err_set(e, w->kind, w->code, w->step, err, "%s%s%s", w->said,
	    err != 0 ? ": " : "", err != 0 ? strerror(err) : "");
	object_of(e, step, object);
	if (w->hint[0] != '\0')
		err_hint(e, "%s", w->hint);
	return -1;
}

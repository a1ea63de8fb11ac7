/* The walls of a cell, and what tells that one stands. */
#include "selftest.h"

#include <stdio.h>
#include <string.h>

#include "../policy/proto.h"

enum { IN = 1 << PLACE_JUDGE | 1 << PLACE_ANSWER, A = 1 << PLACE_ANSWER,
    O = 1 << PLACE_OTHER };

#define UID BL_NEED_UID
#define NET BL_NEED_NET
#define MNT BL_NEED_MOUNT
#define PID BL_NEED_PID
#define IPC BL_NEED_IPC
#define SEC BL_NEED_SECCOMP
#define WALL(n, need, words, tries) \
	{ n, words, tries, IN, need, false, false, 0 }
#define MUST(n, need, words, tries) \
	{ n, words, tries, IN, need, true, false, 0 }
#define ONLY(n, at, need, words, tries) \
	{ n, words, tries, at, need, false, false, 0 }
/* where no helper makes cells: SECURITY.md tells why it is without */
#define BARE(n, at, need, words, tries) \
	{ n, words, tries, at, need, false, false, 1 << BL_WAY_BWRAP }

const struct wall walls[] = {
	MUST("user", UID, "a user and group number of its own", "user"),
	WALL("groups", UID, "no membership in a group", "groups"),
	WALL("become", UID, "no becoming root or the caller, no joining of a "
	    "group", "become"),
	WALL("capabilities", 0, "no capability in any set", "capabilities"),
	WALL("bounding", 0, "no capability in the bounding set", "bounding"),
	WALL("no_new_privs", 0, "no rights gained from a program's file",
	    "no_new_privs"),
	MUST("filter", SEC, "a system call filter of its role", "filter"),
	WALL("call_mount", SEC, "no calls that mount", "call_mount"),
	WALL("call_namespace", SEC, "no calls that make or enter namespaces",
	    "call_namespace"),
	WALL("user_namespace", SEC, "no new user namespace", "user_namespace"),
	WALL("call_process", SEC, "no calls into other processes",
	    "call_process"),
	WALL("call_keys", SEC, "no calls for keys", "call_keys"),
	WALL("call_uring", SEC, "no io_uring, no asynchronous I/O",
	    "call_uring"),
	WALL("call_kernel", SEC, "no bpf, perf_event_open, userfaultfd and "
	    "such", "call_kernel"),
	WALL("call_files", SEC, "no opening of files by number, no watching "
	    "of them", "call_files"),
	WALL("call_setid", SEC, "no set-user-id or set-group-id bit on a file",
	    "call_setid"),
	WALL("call_machine", SEC, "no kexec, modules, reboot and such",
	    "call_machine"),
	WALL("call_clock", SEC, "no setting the clock", "call_clock"),
	WALL("call_socket", SEC, "no sockets of other families", "call_socket"),
	WALL("call_terminal", SEC, "no typing into a terminal",
	    "call_terminal"),
	WALL("call_foreign", SEC, "no system calls by other tables' numbers",
	    "call_foreign"),
	WALL("root", MNT, "the host's root is not there", "root"),
	WALL("read_only", MNT, "no writing to the root and the system's "
	    "folders", "read_only"),
	WALL("nosuid", MNT, "no mount that gives set-user-id rights", "nosuid"),
	WALL("nodev", MNT, "no device that is not given", "nodev"),
	WALL("host_tree", MNT, "no name in its folders but what rules and view put "
	    "there", "host_tree"),
	WALL("host_files", MNT, "no file of the caller's", "files"),
	WALL("home", MNT, "the caller's home is not there, its own is private",
	    "home,own_home"),
	WALL("proc_sys", MNT, "no writing to the kernel's settings",
	    "proc_sys"),
	WALL("proc_covered", MNT, "the kernel's own files in /proc are covered",
	    "proc_covered"),
	BARE("processes", IN, PID, "no other process in /proc", "processes"),
	WALL("signal", PID, "no signal to a process of the caller's", "signal"),
	WALL("trace", PID, "no tracing of a process of the caller's", "trace"),
	MUST("ns_mount", MNT, "a mount namespace of its own", "ns_mount"),
	MUST("ns_pid", PID, "a process namespace of its own", "ns_pid"),
	MUST("ns_ipc", IPC, "an ipc namespace of its own", "ns_ipc"),
	MUST("ns_net", NET, "a network namespace of its own", "ns_net"),
	WALL("ns_uts", IPC, "a host name of its own", "ns_uts,hostname"),
	WALL("ns_cgroup", PID, "a cgroup namespace of its own", "ns_cgroup"),
	WALL("shm", IPC, "no shared memory of the caller's", "shm"),
	WALL("sem", IPC, "no semaphores of the caller's", "sem"),
	WALL("msg", IPC, "no message queue of the caller's", "msg"),
	WALL("mqueue", IPC, "no POSIX message queue of the caller's", "mqueue"),
	WALL("key", SEC, "no key of the caller's", "key"),
	{ "loopback", "a connection on its own loopback, IPv4 and IPv6",
	    "loopback4,loopback6", IN, NET, false, true, 0 },
	WALL("links", NET, "no link or address besides the loopback's",
	    "links"),
	WALL("routes", NET, "no route out: sending to a test address fails",
	    "routes"),
	WALL("network_change", NET, "no change of its network",
	    "network_change"),
	WALL("host_tcp4", NET, "no listener of the caller's on 127.0.0.1",
	    "tcp4"),
	WALL("host_tcp6", NET, "no listener of the caller's on ::1", "tcp6"),
	WALL("abstract_socket", NET, "no abstract socket of the caller's",
	    "abstract_socket"),
	WALL("path_socket", MNT, "no socket of the caller's in a folder",
	    "path_socket"),
	WALL("descriptors", 0, "no descriptor of the caller's", "descriptors"),
	WALL("environment", 0, "no variable of the caller's", "environment"),
	WALL("core", 0, "no dump of core", "core"),
	ONLY("limit_processes", A, 0, "no more processes than --pids",
	    "limit_processes"),
	ONLY("limit_memory", A, 0, "no more memory than --memory",
	    "limit_memory"),
	ONLY("limit_file", A, 0, "no larger file than --fsize", "limit_file"),
	BARE("limit_disk", A, 0, "no more files than --disk", "limit_disk"),
	ONLY("limit_descriptors", A, 0, "no more open files than are allowed",
	    "limit_descriptors"),
	ONLY("limit_kernel", A, 0, "no more locked memory, waiting signals and "
	    "such than a cell's", "limit_kernel"),
	ONLY("limit_cpu", A, 0, "no more processor time than --cpu-time",
	    "limit_cpu"),
	ONLY("limit_time", A, 0, "no longer run than --timeout",
	    "limit_time"),
	ONLY("other_user", O, UID, "another user and group number than the "
	    "judge's", "user"),
	ONLY("other_namespaces", O, PID, "other namespaces than the judge's",
	    "ns_net,ns_mount,ns_pid,ns_ipc,ns_uts,ns_cgroup"),
	ONLY("other_files", O, MNT, "no file of the judge's", "files,root"),
	ONLY("other_processes", O, PID, "no signal to the judge, no tracing "
	    "of it", "signal,trace"),
	ONLY("other_sockets", O, NET, "no listener or socket of the judge's",
	    "tcp4,tcp6,path_socket,abstract_socket"),
	ONLY("other_ipc", O, IPC, "no shared memory or queue of the judge's",
	    "shm,sem,msg,mqueue"),
	ONLY("left_next", A, 0, "nothing outlives its command, not even a "
	    "fork bomb", "left_next"),
	ONLY("left_end", A, 0, "nothing outlives the sandbox", "left_end"),
	{ NULL, NULL, NULL, 0, 0, false, false, 0 }
};

static const char *const places[PLACE_MAX] = { "outside", "judge", "answer",
    "answer to judge" };

void
seen_put(struct selftest *t, enum place p, const char *name, enum tried what,
    const char *why)
{
	struct seen *s = t->seen[p];
	size_t i = 0;

	while (i < TRIES_MAX && s[i].what != TRIED_MISSING &&
	    strcmp(s[i].name, name) != 0)
		i++;
	if (i == TRIES_MAX)
		return;
	(void)snprintf(s[i].name, sizeof s[i].name, "%s", name);
	(void)snprintf(s[i].why, sizeof s[i].why, "%s", why);
	s[i].what = what;
}

const struct seen *
seen_get(const struct selftest *t, enum place p, const char *name)
{
	for (size_t i = 0; i < TRIES_MAX; i++)
		if (t->seen[p][i].what != TRIED_MISSING &&
		    strcmp(t->seen[p][i].name, name) == 0)
			return &t->seen[p][i];
	return NULL;
}

/* "NAME held|open|none WORDS"; what is no such line says nothing. */
static void
line_read(struct selftest *t, enum place p, const char *line)
{
	static const char *const words[] = { "", "held", "open", "none" };
	char name[TRY_NAME], word[8];
	int at = 0;

	if (sscanf(line, "%23s %7s %n", name, word, &at) != 2)
		return;
	for (int i = TRIED_HELD; i <= TRIED_NONE; i++)
		if (strcmp(word, words[i]) == 0)
			seen_put(t, p, name, (enum tried)i, line + at);
}

void
seen_read(struct selftest *t, enum place p, const char *text, size_t n)
{
	char line[TRY_NAME + TRY_WHY + 16];

	while (n > 0) {
		const char *end = memchr(text, '\n', n);
		size_t some = end == NULL ? n : (size_t)(end - text);
		size_t len = some < sizeof line ? some : sizeof line - 1;

		memcpy(line, text, len);
		line[len] = '\0';
		line_read(t, p, line);
		some += end != NULL;
		text += some;
		n -= some;
	}
}

/* The next of the names in *list, which moves on; false: there is none. */
static bool
next_name(const char **list, char name[TRY_NAME])
{
	size_t n = strcspn(*list, ",");

	if (n == 0)
		return false;
	(void)snprintf(name, TRY_NAME, "%.*s", (int)n, *list);
	*list += n + ((*list)[n] == ',');
	return true;
}

static void
words_add(char *to, size_t size, const char *where, const char *why)
{
	size_t n = strlen(to);

	(void)snprintf(to + n, size - n, "%s%s%s%s", n > 0 ? "; " : "", where,
	    where[0] != '\0' ? ": " : "", why);
}

/* What one try has shown in all of w's places, the worst. */
static enum status
try_status(const struct selftest *t, const struct wall *w, const char *name,
    char detail[2 * TRY_WHY])
{
	enum tried good = TRIED_HELD;
	enum status r = STATUS_PASS;

	for (int p = PLACE_JUDGE; p < PLACE_MAX; p++) {
		const struct seen *s = seen_get(t, (enum place)p, name);

		if ((w->places & 1U << p) == 0 ||
		    (s != NULL && s->what == good))
			continue;
		if (r == STATUS_PASS)
			r = STATUS_UNKNOWN;
		if (s != NULL && s->what == TRIED_OPEN)
			r = STATUS_FAIL;
		words_add(detail, 2 * TRY_WHY, places[p], s == NULL ?
		    "not tried" : s->why);
	}
	return r;
}

/* Where all of its tries are held: what was seen, in the last of its places. */
static void
held_words(const struct selftest *t, const struct wall *w,
    char detail[2 * TRY_WHY])
{
	const char *list = w->tries;
	char name[TRY_NAME];
	int p = PLACE_MAX - 1;

	while (p > PLACE_JUDGE && (w->places & 1U << p) == 0)
		p--;
	while (next_name(&list, name))
		words_add(detail, 2 * TRY_WHY, "",
		    seen_get(t, (enum place)p, name)->why);
}

enum status
wall_status(const struct selftest *t, const struct wall *w,
    char control[TRY_WHY], char detail[2 * TRY_WHY])
{
	const enum tried want = w->works ? TRIED_HELD : TRIED_OPEN;
	const char *list = w->tries;
	enum status r = STATUS_PASS;
	bool shown = true;
	char name[TRY_NAME];

	control[0] = detail[0] = '\0';
	while (next_name(&list, name)) {
		const struct seen *s = seen_get(t, PLACE_OUTSIDE, name);
		enum status one = try_status(t, w, name, detail);

		if (one == STATUS_FAIL || r == STATUS_PASS)
			r = one;
		words_add(control, TRY_WHY, "", s == NULL ? "not tried" :
		    s->why);
		shown &= s != NULL && s->what == want;
	}
	if (r == STATUS_PASS && shown) {
		held_words(t, w, detail);
		return r;
	}
	if (r == STATUS_PASS)
		words_add(detail, 2 * TRY_WHY, "no control", control);
	/* a way without any isolation has no wall that must stand */
	if ((w->need & t->waived) != 0 || t->waived == BL_NEED_FULL ||
	    (t->way != NULL && (w->lacking >> way_number(t->way) & 1) != 0))
		return STATUS_ABSENT;
	return r == STATUS_PASS ? STATUS_UNKNOWN : r;
}

/* Hard limits of this process's that a cell would have in place of its own. */
#include "rlimits.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The same as in helper/start.c, from where on the helper refuses by itself. */
const struct rlimits_row rlimits_rows[] = {
	{ RLIMIT_CPU, 3600, "cpu time", "cpu", 60, "--cpu-time" },
	{ RLIMIT_FSIZE, 1 << 20, "file size", "fsize", 1024, "--fsize" },
	{ RLIMIT_DATA, 64 << 20, "data", "data", 1024, "--memory" },
	{ RLIMIT_AS, 256 << 20, "address space", "as", 1024, NULL },
	{ RLIMIT_NPROC, 256, "processes", "nproc", 1, "--pids" },
	{ RLIMIT_STACK, 1 << 20, "stack", "stack", 1024, NULL },
	{ RLIMIT_NOFILE, 2048, "open files", "nofile", 1, NULL },
	/* in limits.conf a core size is whole kilobytes */
	{ RLIMIT_CORE, 1, "core", "core", 1, NULL }
};
const unsigned rlimits_n = sizeof rlimits_rows / sizeof rlimits_rows[0];

/* Seconds of processor time that one process may use. */
static rlim_t
cpu_need(const struct bl_cell_spec *s)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t now = now_ns(), wall = s->deadline_ns <= now ? 0 :
	    ((s->deadline_ns - now) / 1000000000U + 1) *
	    (n > 0 ? (uint64_t)n : 1);
	/* the hard limit is a second above: helper/spec.c */
	uint64_t cpu = s->limits.cpu_ms == 0 ? 0 :
	    ((uint64_t)s->limits.cpu_ms + 999) / 1000 + 1;

	/* a thread on each processor, to the deadline: no more can be used */
	return cpu == 0 || (wall != 0 && wall < cpu) ? wall : cpu;
}

rlim_t
rlimits_need(const struct rlimits_row *row, const struct bl_cell_spec *s)
{
	switch (row->what) {
	case RLIMIT_CPU:
		return cpu_need(s);
	case RLIMIT_FSIZE:
		return s->limits.fsize;
	case RLIMIT_DATA:
		return s->limits.memory;
	case RLIMIT_AS:
		return RLIM_INFINITY;	/* no cell has one of its own */
	case RLIMIT_NPROC:
		return s->limits.pids;
	case RLIMIT_STACK:
		return 64 << 20;	/* helper/spec.c */
	case RLIMIT_NOFILE:
		return s->limits.nofile;
	default:
		return 0;
	}
}

bool
rlimits_raised(uid_t uid, bool whole, const struct read_status *self,
    const struct read_caps *caps)
{
	uint64_t has = caps != NULL && uid != 0 ?
	    caps->permitted & self->cap_bnd : self->cap_bnd;

	return whole && (has >> CAP_SYS_RESOURCE & 1) != 0;
}

static bool
text_of(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The helper of w raises them; behind a socket it never had this process's. */
static bool
raises(const struct way *w)
{
	struct read_status self;
	struct read_caps caps;
	unsigned char raw[64];
	char text[8192];
	ssize_t n;

	if (w->way == BL_WAY_SOCKET)
		return true;
	/* the others are without it, or have it in their own namespace */
	if (w->way != BL_WAY_SETUID && w->way != BL_WAY_CAPS &&
	    w->way != BL_WAY_ROOT)
		return false;
	if (!text_of("/proc/self/status", text, sizeof text) ||
	    read_status(text, &self) != 0)
		return false;
	n = getxattr(w->path, "security.capability", raw, sizeof raw);
	return rlimits_raised(geteuid(),
	    !text_of("/proc/self/uid_map", text, sizeof text) ||
	    read_map_whole(text), &self, n > 0 &&
	    read_caps(raw, (size_t)n, &caps) == 0 ? &caps : NULL);
}

static const struct rlimits_row *
lowest(const struct bl_cell_spec *s, rlim_t *has)
{
	for (unsigned i = 0; i < rlimits_n; i++) {
		struct rlimit v;

		if (getrlimit((__rlimit_resource_t)rlimits_rows[i].what,
		    &v) != 0 || v.rlim_max >= rlimits_need(&rlimits_rows[i], s))
			continue;
		*has = v.rlim_max;
		return &rlimits_rows[i];
	}
	return NULL;
}

int
rlimits_enough(const struct way *w, const struct bl_cell_spec *s,
    struct bl_err *e)
{
	rlim_t has, need;
	const struct rlimits_row *row = lowest(s, &has);
	char much[32] = "no limit";

	if (row == NULL || raises(w))
		return 0;
	need = rlimits_need(row, s);
	if (need != RLIM_INFINITY)
		(void)snprintf(much, sizeof much, "%llu",
		    (unsigned long long)need);
	(void)err_set(e, BL_KIND_SETUP, "limits_too_low", "cell/rlimit", 0,
	    "the hard limit of %s here is %llu, and would be a cell's, which "
	    "is to have %s", row->name, (unsigned long long)has, much);
	err_object(e, "%s", row->name);
	err_hint(e, "start bailiff where it is higher: see ulimit -H%s%s",
	    row->option != NULL ? "; or ask for less by " : "",
	    row->option != NULL ? row->option : "");
	return -1;
}

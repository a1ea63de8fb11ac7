/* What a caller asks of a cell: extra folders, limits and their defaults. */
#include "cellspec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ULL << 20)

void
cellspec_init(struct bl_cell_spec *s)
{
	memset(s, 0, sizeof *s);
	s->need = BL_NEED_FULL;
	for (unsigned i = 0; i < BL_PLACES_MAX; i++)
		s->place_fd[i] = -1;
}

void
cellspec_close(struct bl_cell_spec *s)
{
	for (unsigned i = 0; i < BL_PLACES_MAX; i++) {
		if (s->place_fd[i] >= 0)
			(void)close(s->place_fd[i]);
		s->place_fd[i] = -1;
	}
	s->nplaces = 0;
}

/* 1: the first n bytes of path are one that a cell can have. */
static bool
is_place(const char *path, size_t n)
{
	char flat[BL_DST_MAX] = "", name[BL_NAME_MAX];
	size_t pos = 0;
	int step;

	if (n < 2 || n >= sizeof flat)
		return false;
	memcpy(flat, path, n);
	while ((step = bl_path_next(flat, &pos, name)) > 0)
		;
	return step == 0;
}

static size_t
length(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n;
}

static int
place_add(struct bl_cell_spec *s, uint32_t kind, const char *dst,
    const char *opt, struct bl_err *e)
{
	struct bl_place *p = &s->place[s->nplaces];
	size_t n = length(dst);

	if (s->nplaces >= BL_PLACES_MAX)
		return err_set(e, BL_KIND_USAGE, "too_many_places",
		    "cell/place", 0, "at most %d folders can be added to a "
		    "cell", BL_PLACES_MAX);
	if (!is_place(dst, n)) {
		(void)err_set(e, BL_KIND_USAGE, "bad_place", "cell/place", 0,
		    "%s: no destination that a cell can have: it starts with "
		    "/, has no . or .., and is plain text of at most %d bytes",
		    opt, BL_DST_MAX - 1);
		err_object(e, "%.150s", dst);
		return -1;
	}
	memset(p, 0, sizeof *p);
	p->kind = kind;
	memcpy(p->dst, dst, n);
	s->nplaces++;
	return 0;
}

int
cellspec_bind(struct bl_cell_spec *s, const char *src, const char *dst,
    const char *opt, struct bl_err *e)
{
	int fd = open(src, O_PATH | O_DIRECTORY | O_CLOEXEC), err = errno;
	struct stat st, root;

	/* It would bring the host's /proc and /dev along. */
	if (fd >= 0 && fstat(fd, &st) == 0 && stat("/", &root) == 0 &&
	    st.st_dev == root.st_dev && st.st_ino == root.st_ino) {
		(void)close(fd);
		return err_set(e, BL_KIND_REFUSED, "place_is_root",
		    "cell/place", 0, "%s: the root of the file tree can't be "
		    "shown to a cell; name the folders that it needs", opt);
	}
	if (fd >= 0 && place_add(s, BL_PLACE_BIND, dst, opt, e) == 0) {
		s->place_fd[s->nplaces - 1] = fd;
		return 0;
	}
	if (fd >= 0) {
		(void)close(fd);
		return -1;
	}
	(void)err_set(e, BL_KIND_SETUP, "place_unreadable", "cell/place",
	    err, "%s: the folder can't be opened: %s", opt, strerror(err));
	err_object(e, "%s", src);
	return -1;
}

int
cellspec_expose(struct bl_cell_spec *s, const char *dir, struct bl_err *e)
{
	char *real;
	int r;

	if (is_place(dir, length(dir)))
		return cellspec_bind(s, dir, dir, "--expose", e);
	real = realpath(dir, NULL);
	if (real == NULL) {
		(void)err_set(e, BL_KIND_SETUP, "place_unreadable",
		    "cell/place", errno, "--expose: %s", strerror(errno));
		err_object(e, "%s", dir);
		return -1;
	}
	r = cellspec_bind(s, real, real, "--expose", e);
	free(real);
	return r;
}

/* 1: path is dir, or below it. */
static bool
is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool
cellspec_dangles(const struct bl_cell_spec *s, uint32_t i, char *to,
    size_t size)
{
	char path[BL_DST_MAX + 16], *real, *bin;
	bool there;

	if (i >= s->nplaces || s->place[i].kind != BL_PLACE_BIND)
		return false;
	(void)snprintf(path, sizeof path, "%s/bin/python3", s->place[i].dst);
	real = realpath(path, NULL);
	if (real == NULL)
		return false;
	there = is_below(real, "/usr") || is_below(real, "/lib");
	for (uint32_t k = 0; k < s->nplaces; k++)
		there = there || is_below(real, s->place[k].dst);
	/* .../bin/python3.11: the folder of it all */
	bin = strstr(real, "/bin/python");
	if (bin != NULL && bin > real)
		*bin = '\0';
	(void)snprintf(to, size, "%s", real);
	free(real);
	return !there && bin != NULL;
}

int
cellspec_tmpfs(struct bl_cell_spec *s, const char *dst, uint64_t size,
    struct bl_err *e)
{
	if (place_add(s, BL_PLACE_TMPFS, dst, "--tmpfs", e) != 0)
		return -1;
	s->place[s->nplaces - 1].size = size == 0 ? 64 * MIB : size;
	return 0;
}

void
cellspec_path(const struct bl_cell_spec *s, uint32_t first, uint32_t last,
    char *to, size_t size)
{
	static const char usual[] = "/usr/local/bin:/usr/bin:/bin";
	size_t n = 5;

	(void)snprintf(to, size, "PATH=");
	for (uint32_t i = first; i < last && i < s->nplaces; i++) {
		size_t more = strlen(s->place[i].dst) + 5;

		if (n + more + sizeof usual > size ||
		    faccessat(s->place_fd[i], "bin", X_OK, 0) != 0)
			continue;
		(void)snprintf(to + n, size - n, "%s/bin:", s->place[i].dst);
		n += more;
	}
	(void)snprintf(to + n, size - n, "%s", usual);
}

void
cellspec_limits(struct bl_cell_spec *s)
{
	s->defaults = 0;
	if (s->disk == 0 && s->limits.fsize == 0)
		s->defaults |= 1U << BL_LIMIT_DISK;
	if (s->disk == 0)
		s->disk = 1024 * MIB;
	if (s->limits.fsize == 0)
		s->limits.fsize = s->disk;
	if (s->limits.memory == 0) {
		s->defaults |= 1U << BL_LIMIT_MEMORY;
		s->limits.memory = 2048 * MIB;
	}
	if (s->limits.pids == 0) {
		s->defaults |= 1U << BL_LIMIT_PROCESSES;
		s->limits.pids = 512;
	}
	if (s->cpus_milli == 0)
		s->cpus_milli = 2000;
	if (s->limits.nofile == 0) {
		s->defaults |= 1U << BL_LIMIT_START;
		s->limits.nofile = 1024;
	}
}

int
cellspec_seen(const struct bl_cell_spec *s, const struct bl_protections *p,
    struct bl_err *e)
{
	const struct { uint32_t need; bool held; const char *name; } row[] = {
		{ BL_NEED_UID, p->uid, "uid" },
		{ BL_NEED_NET, p->net, "net" },
		{ BL_NEED_MOUNT, p->mount, "mount" },
		{ BL_NEED_PID, p->pid, "pid" },
		{ BL_NEED_IPC, p->ipc, "ipc" },
		{ BL_NEED_SECCOMP, p->seccomp, "seccomp" },
		{ BL_NEED_CGROUP, strcmp(p->cgroup, "none") != 0, "cgroup" }
	};

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		if ((s->need & ~p->waived & row[i].need) == 0 || row[i].held)
			continue;
		(void)err_set(e, BL_KIND_INFRA, "protection_missing",
		    "spawn/look", 0, "an isolation that must be there was "
		    "not seen in the cell");
		err_object(e, "%s", row[i].name);
		return -1;
	}
	return 0;
}

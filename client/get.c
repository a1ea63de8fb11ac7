/* Copies files and folders out of a cell, believing nothing that it sends. */
#include "get.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DEPTH_MAX   = 40,
	ENTRIES_MAX = 20000,
	RECORDS_MAX = 4 << 20,		/* bytes of one folder's records */
	TAKE_MS	    = 60000
};

struct get {
	struct bl_cell *c;
	int	 cancel_fd;
	uint64_t left;			/* bytes */
	uint64_t until;			/* 0: there is no end to all of it */
	const struct get_most *most;	/* or NULL: all or nothing */
	unsigned entries;
	char	 path[4096];		/* in the cell */
	struct bl_err *e;
};

static int
refuse(struct get *g, const char *code, int err, const char *why)
{
	(void)err_set(g->e, BL_KIND_SETUP, code, "get", err, "%s%s%s", why,
	    err != 0 ? ": " : "", err != 0 ? strerror(err) : "");
	err_object(g->e, "%s", g->path);
	return -1;
}

/*
 * Runs one TAKE of path into *p, which the caller frees in any case; of a
 * folder on the way only that it is one.
 */
static int
take_path(struct get *g, const char *path, bool on_way, struct pump *p)
{
	struct specw *w = specw_new();
	struct bl_spawn s;
	int fd = -1, r;

	memset(p, 0, sizeof *p);
	p->from = p->out.to = p->err.to = p->result.to = -1;
	p->cancel_fd = g->cancel_fd;
	p->until_ns = now_ns() + TAKE_MS * 1000000ULL;
	if (g->until != 0 && now_ns() >= g->until) {
		specw_free(w);
		return refuse(g, "get_too_late", 0,
		    "the time to copy out was over");
	}
	if (g->until != 0 && g->until < p->until_ns)
		p->until_ns = g->until;
	p->out.keep = (size_t)g->left + sizeof(struct bl_taken) + RECORDS_MAX;
	p->out.max = p->out.keep;
	if (on_way) {
		p->out.keep = sizeof(struct bl_taken);
		p->out.max = UINT64_MAX;
	}
	if (w == NULL)
		return err_memory(g->e, "get");
	if (specw_take(w, path, g->left, g->e) == 0)
		fd = specw_seal(w, g->e);
	specw_free(w);
	if (fd < 0)
		return -1;
	r = cell_spawn(g->c, fd, 0, SPAWN_OUT, &s, g->e);
	(void)close(fd);
	if (r != 0)
		return -1;
	r = pump_run(p, &s, g->e);
	spawn_close(&s);
	if (r != 0)
		return -1;
	if (s.end.kind == BL_EV_FAIL && s.end.step == BL_AT_STEP) {
		switch (-s.end.status) {
		case ENOENT:
			return refuse(g, "get_missing", ENOENT,
			    "not there to be copied out");
		case EFBIG:
			return refuse(g, "get_too_large", 0,
			    "larger than may be copied out");
		case ELOOP:
		case EINVAL:
			return refuse(g, "get_refused", 0,
			    "only plain files and folders are copied out");
		default:
			return refuse(g, "get_failed", -s.end.status,
			    "can't be copied out");
		}
	}
	if (s.end.kind == BL_EV_FAIL)
		return err_at(g->e, s.end.step, s.end.object, s.end.status);
	if (s.end.u.exit.limit == BL_LIMIT_TIME)
		return refuse(g, "get_too_late", 0, "the cell's time was over");
	if (s.end.u.exit.wait_status != 0 || p->out.capped ||
	    p->out.data == NULL || p->out.n < sizeof(struct bl_taken))
		return refuse(g, "get_failed", 0, "the copy was cut off");
	return 0;
}

static int
take(struct get *g, struct pump *p)
{
	return take_path(g, g->path, false, p);
}

/*
 * Every folder above src is one, and no link: nothing of the cell's runs that
 * could make it another one before src is taken.
 */
static int
way_check(struct get *g)
{
	char part[sizeof g->path];

	for (size_t i = 1; g->path[i] != '\0'; i++) {
		struct bl_taken t;
		struct pump p;
		int r;

		if (g->path[i] != '/' || g->path[i - 1] == '/')
			continue;
		memcpy(part, g->path, i);
		part[i] = '\0';
		r = take_path(g, part, true, &p);
		if (r == 0)
			memcpy(&t, p.out.data, sizeof t);
		pump_free(&p);
		if (r != 0)
			return -1;
		if (t.magic != BL_MAGIC || !S_ISDIR(t.mode))
			return refuse(g, "get_refused", 0,
			    "a folder above it is none");
	}
	return 0;
}

static bool
name_sound(const char *name, size_t n)
{
	if (n == 0 || n > 255)
		return false;
	for (size_t i = 0; i < n; i++)
		if (name[i] == '/' || (unsigned char)name[i] < 0x20 ||
		    name[i] == 0x7f)
			return false;
	return true;
}

static int
name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a + 1, *(const char *const *)b + 1);
}

/* 1: two of them are equal; -1: no memory. */
static int
repeated(char *names, uint32_t n)
{
	char **v = calloc(n == 0 ? 1 : n, sizeof *v), *at = names;
	int r = 0;

	if (v == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++, at += strlen(at + 1) + 2)
		v[i] = at;
	qsort(v, n, sizeof *v, name_cmp);
	for (uint32_t i = 1; i < n; i++)
		r |= strcmp(v[i - 1] + 1, v[i] + 1) == 0;
	free(v);
	return r;
}

static int odd_name(struct get *g, const char *name, size_t len);

/* get_names; with g, names that can't be are told and left out. */
static int
names_read(struct get *g, const char *recs, size_t n, char **names,
    uint32_t *count, struct bl_err *e)
{
	const size_t head = offsetof(struct dirent64, d_name);
	char *out = malloc(n + 1), *to = out;
	int r;

	*names = out;
	*count = 0;
	if (out == NULL)
		return err_memory(e, "get");
	while (n > 0) {
		uint16_t reclen;
		const char *name = recs + head;
		size_t len;

		if (n <= head)
			return err_set(e, BL_KIND_SETUP, "get_refused", "get",
			    0, "a folder's records are cut off");
		memcpy(&reclen, recs + offsetof(struct dirent64, d_reclen),
		    sizeof reclen);
		if (reclen <= head || reclen > n)
			return err_set(e, BL_KIND_SETUP, "get_refused", "get",
			    0, "a folder's record has a wrong size");
		len = strnlen(name, reclen - head);
		if (len == reclen - head || !name_sound(name, len)) {
			if (g == NULL || odd_name(g, name, len) != 0) {
				(void)err_set(e, BL_KIND_SETUP, "get_refused",
				    "get", 0, "a file name can't be taken "
				    "over");
				err_object(e, "%.*s",
				    (int)(len < 80 ? len : 80), name);
				return -1;
			}
		} else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			*to++ = recs[offsetof(struct dirent64, d_type)];
			memcpy(to, name, len + 1);
			to += len + 1;
			(*count)++;
		}
		recs += reclen;
		n -= reclen;
	}
	r = repeated(out, *count);
	if (r == 0)
		return 0;
	return err_set(e, BL_KIND_SETUP, r < 0 ? "no_memory" : "get_refused",
	    "get", 0, r < 0 ? "out of memory" :
	    "two entries of a folder have one name");
}

int
get_names(const char *recs, size_t n, char **names, uint32_t *count,
    struct bl_err *e)
{
	return names_read(NULL, recs, n, names, count, e);
}

/* All of it, or -errno. */
static int
write_all(int fd, const char *b, size_t n)
{
	while (n > 0) {
		ssize_t did = write(fd, b, n);

		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			return did < 0 ? -errno : -EIO;
		b += did;
		n -= (size_t)did;
	}
	return 0;
}

/*
 * Under another name first, so that name is the whole file or what it was.
 * 0, or -errno; nothing is left behind on failure.
 */
static int
file_write(int dir, const char *name, unsigned mode, const char *b, size_t n)
{
	char tmp[40], proc[40];
	uint64_t rnd = 0;
	bool named = false;
	struct stat there;
	int fd, r;

	/* A device, a pipe or a link there is not ours to replace. */
	if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISREG(there.st_mode))
		return -EEXIST;
	if (getrandom(&rnd, sizeof rnd, 0) != (ssize_t)sizeof rnd)
		return -errno;
	(void)snprintf(tmp, sizeof tmp, ".bailiff-%016llx",
	    (unsigned long long)rnd);
	/* A file without a name leaves none when this process is killed. */
	fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0) {
		fd = openat(dir, tmp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY |
		    O_CLOEXEC, 0600);
		named = fd >= 0;
	}
	if (fd < 0)
		return -errno;
	r = write_all(fd, b, n);
	if (r == 0 && fchmod(fd, mode & 0777) != 0)
		r = -errno;
	(void)snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
	if (r == 0 && !named && linkat(AT_FDCWD, proc, dir, name,
	    AT_SYMLINK_FOLLOW) != 0) {
		r = errno == EEXIST ? 1 : -errno;
		if (r == 1) {
			named = linkat(AT_FDCWD, proc, dir, tmp,
			    AT_SYMLINK_FOLLOW) == 0;
			r = named ? 0 : -errno;
		}
	}
	if (close(fd) != 0 && r == 0)
		r = -errno;
	if (r == 0 && named && renameat(dir, tmp, dir, name) != 0)
		r = -errno;
	if (r != 0 && named)
		(void)unlinkat(dir, tmp, 0);
	return r;
}

/* A folder that this run has made, and what it put there. */
static void
undo(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (d == NULL && fd >= 0)
		(void)close(fd);
	while (d != NULL && (ent = readdir(d)) != NULL) {
		if (strcmp(ent->d_name, ".") == 0 ||
		    strcmp(ent->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, ent->d_name, 0) != 0)
			undo(fd, ent->d_name);
	}
	if (d != NULL)
		(void)closedir(d);
	(void)unlinkat(dir, name, AT_REMOVEDIR);	/* as far as it goes */
}

static int get_entry(struct get *, int, const char *, unsigned);

/*
 * true: what failed is told and left out.  What is cancelled, and a cell that
 * is gone, are the end of it all.
 */
static bool
may_leave_out(struct get *g)
{
	if (g->most == NULL || g->e->kind != BL_KIND_SETUP)
		return false;
	g->most->left_out(g->most->ctx, g->e);
	memset(g->e, 0, sizeof *g->e);
	return true;
}

/* 0: the name in the folder g->path was told and is left out; -1: it isn't. */
static int
odd_name(struct get *g, const char *name, size_t len)
{
	struct bl_err e = { .kind = BL_KIND_NONE };

	if (g->most == NULL)
		return -1;
	(void)err_set(&e, BL_KIND_SETUP, "get_refused", "get", 0,
	    "a file name can't be taken over");
	err_object(&e, "%.100s/%.*s", g->path, (int)(len < 80 ? len : 80),
	    name);
	g->most->left_out(g->most->ctx, &e);
	return 0;
}

/* The mode of a copy: as it was, but of any use, and no use to others. */
static mode_t
mode_of(const struct get *g, uint32_t mode)
{
	if (g->most == NULL)
		return mode & 0777;
	return (mode & 0755) | (S_ISDIR(mode) ? 0700 : 0600);
}

/* Every name of a folder's records, below the open folder fd. */
static int
get_folder(struct get *g, int fd, const char *recs, size_t n, unsigned depth)
{
	size_t at = strlen(g->path);
	char *names, *name;
	uint32_t count;
	int r = names_read(g, recs, n, &names, &count, g->e);

	if (r != 0)
		err_object(g->e, "%s", g->path);
	name = names;
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		unsigned char type = (unsigned char)*name++;
		int len = snprintf(g->path + at, sizeof g->path - at, "/%s",
		    name);

		if (len < 0 || (size_t)len >= sizeof g->path - at)
			r = refuse(g, "get_refused", 0, "a path is too long");
		else if (type != DT_REG && type != DT_DIR &&
		    type != DT_UNKNOWN)
			r = refuse(g, "get_refused", 0, "only plain files and "
			    "folders are copied out, no links or devices");
		else
			r = get_entry(g, fd, name, depth + 1);
		if (r != 0 && may_leave_out(g))
			r = 0;
		g->path[at] = '\0';
		name += strlen(name) + 1;
	}
	free(names);
	return r;
}

static int
get_into(struct get *g, int dir, const char *name, const struct pump *p,
    unsigned depth)
{
	const size_t head = sizeof(struct bl_taken);
	const char *b = p->out.data + head;
	size_t n = p->out.n - head;
	struct bl_taken t;
	bool made;
	int fd, r;

	memcpy(&t, p->out.data, head);
	if (t.magic != BL_MAGIC || (!S_ISREG(t.mode) && !S_ISDIR(t.mode)) ||
	    (S_ISREG(t.mode) && t.size != n) ||
	    (S_ISDIR(t.mode) && n > RECORDS_MAX))
		return refuse(g, "get_refused", 0, "the copy is not whole");
	if (S_ISREG(t.mode)) {
		if (n > g->left)
			return refuse(g, "get_too_large", 0,
			    "more than may be copied out");
		g->left -= n;
		r = file_write(dir, name, mode_of(g, t.mode), b, n);
		return r == 0 ? 0 : refuse(g, "get_write", -r,
		    "can't be written here");
	}
	made = mkdirat(dir, name, 0700) == 0;
	if (!made && errno != EEXIST)
		return refuse(g, "get_write", errno, "no folder can be made");
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return refuse(g, "get_write", errno,
		    "what has its name here is no folder");
	r = get_folder(g, fd, b, n, depth);
	if (r == 0 && made && fchmod(fd, mode_of(g, t.mode)) != 0)
		r = refuse(g, "get_write", errno, "the mode can't be set");
	(void)close(fd);
	if (r != 0 && made && g->most == NULL)
		undo(dir, name);
	return r;
}

/* g->path of the cell as name in dir. */
static int
get_entry(struct get *g, int dir, const char *name, unsigned depth)
{
	struct pump p;
	int r;

	if (depth > DEPTH_MAX)
		return refuse(g, "get_refused", 0, "nested too deeply");
	if (++g->entries > ENTRIES_MAX)
		return refuse(g, "get_too_large", 0, "too many files");
	r = take(g, &p);
	if (r == 0)
		r = get_into(g, dir, name, &p, depth);
	pump_free(&p);
	return r;
}

/* The last component of path in name; the length of what is before, or -1. */
static ssize_t
last_of(const char *path, char *name, size_t size)
{
	size_t n = strlen(path), cut;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (cut = n; cut > 0 && path[cut - 1] != '/'; cut--)
		;
	if (n == cut || n - cut >= size)
		return -1;
	memcpy(name, path + cut, n - cut);
	name[n - cut] = '\0';
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -1;
	return (ssize_t)cut;
}

/*
 * The folder that gets it, with its name there: below an existing folder dst
 * a file keeps src's name, and a folder's entries go right into dst.  -errno.
 */
static int
target_open(const char *src, const char *dst, bool folder, char *name,
    size_t size)
{
	int fd = open(dst, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ssize_t cut;
	char *copy;

	if (fd >= 0 && folder) {
		(void)snprintf(name, size, ".");
		return fd;
	}
	cut = last_of(fd >= 0 ? src : dst, name, size);
	if (cut < 0 && fd >= 0)
		(void)close(fd);
	if (cut < 0)
		return -EINVAL;
	if (fd >= 0)
		return fd;
	copy = cut == 0 ? strdup(".") : strndup(dst, (size_t)cut);
	if (copy == NULL)
		return -ENOMEM;
	fd = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	free(copy);
	return fd;
}

int
get_tree(struct bl_cell *c, const char *src, const char *dst,
    uint64_t max_bytes, int cancel_fd, struct bl_err *e)
{
	struct get *g = calloc(1, sizeof *g);
	struct bl_err mine = { .kind = BL_KIND_NONE };
	char name[256];
	struct pump p;
	int dir = -1, r;

	if (g == NULL)
		return err_memory(e, "get");
	g->c = c;
	g->cancel_fd = cancel_fd;
	g->left = max_bytes;
	g->e = e == NULL ? &mine : e;
	r = snprintf(g->path, sizeof g->path, "%s", src);
	if (r <= 0 || (size_t)r >= sizeof g->path) {
		free(g);
		return err_set(e, BL_KIND_USAGE, "bad_path", "get", 0,
		    "a name is empty or too long");
	}
	memset(&p, 0, sizeof p);
	r = way_check(g);
	if (r == 0)
		r = take(g, &p);
	if (r == 0) {
		struct bl_taken t;

		memcpy(&t, p.out.data, sizeof t);
		dir = target_open(src, dst, S_ISDIR(t.mode), name, sizeof name);
		if (dir < 0) {
			r = err_set(g->e, BL_KIND_SETUP, "get_write", "get",
			    dir, "the destination can't be used: %s",
			    strerror(-dir));
			err_object(g->e, "%s", dst);
		}
	}
	if (r == 0)
		r = get_into(g, dir, name, &p, 0);
	pump_free(&p);
	if (dir >= 0)
		(void)close(dir);
	free(g);
	return r;
}

int
get_most(struct bl_cell *c, const char *src, int dir,
    const struct get_most *m, struct bl_err *e)
{
	struct get *g = calloc(1, sizeof *g);
	struct bl_taken t;
	struct pump p;
	int r;

	if (g == NULL)
		return err_memory(e, "get");
	g->c = c;
	g->cancel_fd = m->cancel_fd;
	g->left = m->max_bytes;
	g->until = m->until_ns;
	g->most = m;
	g->e = e;
	(void)snprintf(g->path, sizeof g->path, "%s", src);
	r = take(g, &p);
	if (r == 0) {
		memcpy(&t, p.out.data, sizeof t);
		r = t.magic == BL_MAGIC && S_ISDIR(t.mode) ?
		    get_into(g, dir, ".", &p, 0) :
		    refuse(g, "get_refused", 0, "is not a folder");
	}
	pump_free(&p);
	free(g);
	return r;
}

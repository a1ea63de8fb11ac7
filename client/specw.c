/* Writes a spec: header, steps, strings and file bytes in a sealed memfd. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cells.h"

/*
 * Bytes of files stay in the heap while they are few and then lie right
 * behind the strings; above that they go to the memfd at once, behind the
 * largest header there can be.
 */
enum { HEAP_MAX = 1 << 20, DEPTH_MAX = 40, CHUNK = 1 << 16 };

struct list {
	char   **v;
	uint32_t n, room;
};

struct specw {
	char	*cwd;
	bool	 nomem;			/* where a function can't say so */
	struct list args, envs, paths;
	struct bl_step *step;		/* off counts from the first byte */
	uint32_t steproom;
	struct bl_limits limits;
	char	*data;
	size_t	 room;
	uint64_t bytes;			/* of data, in heap or memfd */
	int	 memfd;			/* -1: all in heap */
};

struct specw *
specw_new(void)
{
	struct specw *w = calloc(1, sizeof *w);

	if (w != NULL)
		w->memfd = -1;
	return w;
}

static void
list_free(struct list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
}

void
specw_free(struct specw *w)
{
	if (w == NULL)
		return;
	list_free(&w->args);
	list_free(&w->envs);
	list_free(&w->paths);
	free(w->step);
	free(w->cwd);
	free(w->data);
	if (w->memfd >= 0)
		(void)close(w->memfd);
	free(w);
}

static int
too_much(struct bl_err *e, const char *code, const char *what, unsigned long n)
{
	return err_set(e, BL_KIND_SETUP, code, "spec", E2BIG,
	    "%s: at most %lu", what, n);
}

static int
list_add(struct list *l, const char *s, struct bl_err *e)
{
	char *copy = strdup(s);

	if (copy != NULL && l->n == l->room) {
		uint32_t room = l->room == 0 ? 16 : l->room * 2;
		char **v = reallocarray(l->v, room, sizeof *v);

		if (v != NULL) {
			l->v = v;
			l->room = room;
		}
	}
	if (copy == NULL || l->n == l->room) {
		free(copy);
		return err_memory(e, "spec");
	}
	l->v[l->n++] = copy;
	return 0;
}

int
specw_arg(struct specw *w, const char *s, struct bl_err *e)
{
	if (w->args.n >= BL_ARGS_MAX)
		return too_much(e, "too_many_arguments", "arguments",
		    BL_ARGS_MAX);
	return list_add(&w->args, s, e);
}

/* A later value of a name replaces the earlier: no two of one name. */
int
specw_env(struct specw *w, const char *kv, struct bl_err *e)
{
	const char *eq = strchr(kv, '=');
	size_t n = eq == NULL ? 0 : (size_t)(eq - kv);
	char *copy;

	if (n == 0)
		return err_set(e, BL_KIND_USAGE, "bad_variable", "spec/env", 0,
		    "a variable is NAME=VALUE, not \"%.40s\"", kv);
	for (uint32_t i = 0; i < w->envs.n; i++) {
		if (strncmp(w->envs.v[i], kv, n + 1) != 0)
			continue;
		copy = strdup(kv);
		if (copy == NULL)
			return err_memory(e, "spec");
		free(w->envs.v[i]);
		w->envs.v[i] = copy;
		return 0;
	}
	if (w->envs.n >= BL_ENV_MAX)
		return too_much(e, "too_many_variables", "variables",
		    BL_ENV_MAX);
	return list_add(&w->envs, kv, e);
}

void
specw_cwd(struct specw *w, const char *dir)
{
	free(w->cwd);
	w->cwd = strdup(dir);
	w->nomem |= w->cwd == NULL;
}

void
specw_limits(struct specw *w, const struct bl_limits *l)
{
	w->limits = *l;
}

static int
add_step(struct specw *w, const char *path, const struct bl_step *s,
    struct bl_err *e)
{
	if (path[0] == '\0')
		return err_set(e, BL_KIND_USAGE, "bad_path", "spec/file", 0,
		    "an empty file name");
	if (w->paths.n >= BL_STEPS_MAX) {
		(void)too_much(e, "too_many_files", "files and folders",
		    BL_STEPS_MAX);
		err_hint(e, "show the folder with --ro-bind, or pack it");
		return -1;
	}
	if (w->paths.n == w->steproom) {
		uint32_t room = w->steproom == 0 ? 16 : w->steproom * 2;
		struct bl_step *v = reallocarray(w->step, room, sizeof *v);

		if (v == NULL)
			return err_memory(e, "spec");
		w->step = v;
		w->steproom = room;
	}
	if (list_add(&w->paths, path, e) != 0)
		return -1;
	w->step[w->paths.n - 1] = *s;
	return 0;
}

static int
memfd_open(struct bl_err *e)
{
	int fd = memfd_create("bailiff-spec", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		(void)err_set(e, BL_KIND_INFRA, "no_memfd", "spec", errno,
		    "no memory file: %s", strerror(errno));
	return fd;
}

static int
write_at(int fd, const void *data, size_t n, uint64_t off, struct bl_err *e)
{
	const char *p = data;

	while (n > 0) {
		ssize_t did = pwrite(fd, p, n, (off_t)off);

		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			return err_set(e, BL_KIND_INFRA, "no_memory", "spec",
			    did < 0 ? errno : ENOSPC,
			    "a memory file can't be written: %s",
			    strerror(did < 0 ? errno : ENOSPC));
		p += did;
		n -= (size_t)did;
		off += (uint64_t)did;
	}
	return 0;
}

/* Appends to the data. */
static int
add_bytes(struct specw *w, const void *data, size_t n, struct bl_err *e)
{
	if (n > (size_t)BL_SPEC_BYTES - BL_SPEC_READ - w->bytes)
		return too_much(e, "files_too_large", "bytes of files",
		    BL_SPEC_BYTES - BL_SPEC_READ);
	if (w->memfd < 0 && w->bytes + n > HEAP_MAX) {
		w->memfd = memfd_open(e);
		if (w->memfd < 0 || write_at(w->memfd, w->data,
		    (size_t)w->bytes, BL_SPEC_READ, e) != 0)
			return -1;
	}
	if (w->memfd >= 0) {
		if (write_at(w->memfd, data, n, BL_SPEC_READ + w->bytes,
		    e) != 0)
			return -1;
		w->bytes += n;
		return 0;
	}
	if (w->bytes + n > w->room) {
		size_t room = w->room == 0 ? 4096 : w->room;
		char *v;

		while (room < w->bytes + n)
			room *= 2;
		v = realloc(w->data, room);
		if (v == NULL)
			return err_memory(e, "spec");
		w->data = v;
		w->room = room;
	}
	if (n > 0)
		memcpy(w->data + w->bytes, data, n);
	w->bytes += n;
	return 0;
}

int
specw_dir(struct specw *w, const char *path, unsigned mode, struct bl_err *e)
{
	struct bl_step s = { .kind = BL_STEP_DIR, .mode = mode & 0777 };

	return add_step(w, path, &s, e);
}

int
specw_put(struct specw *w, const char *path, unsigned mode,
    const void *data, size_t n, struct bl_err *e)
{
	struct bl_step s = { .kind = BL_STEP_PUT, .mode = mode & 0777,
	    .off = w->bytes, .len = n };

	if (add_bytes(w, data, n, e) != 0)
		return -1;
	return add_step(w, path, &s, e);
}

/* The bytes are those of now: what happens to the file later is no matter. */
int
specw_put_fd(struct specw *w, const char *path, unsigned mode, int fd,
    struct bl_err *e)
{
	struct bl_step s = { .kind = BL_STEP_PUT, .mode = mode & 0777,
	    .off = w->bytes };
	struct stat st;
	char *buf;
	ssize_t n = 0;
	int r = 0;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(e, BL_KIND_SETUP, "not_a_file", "spec/file", 0,
		    "%s is not a plain file", path);
	buf = malloc(CHUNK);
	if (buf == NULL)
		return err_memory(e, "spec");
	for (off_t at = 0; r == 0; at += n) {
		n = pread(fd, buf, CHUNK, at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			r = err_set(e, BL_KIND_SETUP, "unreadable",
			    "spec/file", errno, "%s can't be read: %s", path,
			    strerror(errno));
		else if (n == 0)
			break;
		else
			r = add_bytes(w, buf, (size_t)n, e);
	}
	free(buf);
	s.len = w->bytes - s.off;
	return r == 0 ? add_step(w, path, &s, e) : -1;
}

int
specw_take(struct specw *w, const char *path, uint64_t max, struct bl_err *e)
{
	struct bl_step s = { .kind = BL_STEP_TAKE, .len = max };

	return add_step(w, path, &s, e);
}

int
specw_listen(struct specw *w, const char *path, struct bl_err *e)
{
	struct bl_step s = { .kind = BL_STEP_LISTEN };

	return add_step(w, path, &s, e);
}

uint64_t
specw_bytes(const struct specw *w)
{
	return w->bytes;
}

/* The data of from, to the end of to's. */
static int
join_bytes(struct specw *to, const struct specw *from, struct bl_err *e)
{
	char *buf;
	int r = 0;

	if (from->memfd < 0)
		return from->bytes == 0 ? 0 :
		    add_bytes(to, from->data, (size_t)from->bytes, e);
	buf = malloc(CHUNK);
	if (buf == NULL)
		return err_memory(e, "spec");
	for (uint64_t at = 0; r == 0 && at < from->bytes;) {
		ssize_t n = pread(from->memfd, buf, CHUNK,
		    (off_t)(BL_SPEC_READ + at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			r = err_set(e, BL_KIND_INFRA, "no_memory", "spec",
			    n < 0 ? errno : EIO, "a memory file can't be read: "
			    "%s", strerror(n < 0 ? errno : EIO));
		else
			r = add_bytes(to, buf, (size_t)n, e);
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(buf);
	return r;
}

int
specw_join(struct specw *to, const struct specw *from, struct bl_err *e)
{
	uint64_t base = to->bytes;
	int r = join_bytes(to, from, e);

	for (uint32_t i = 0; r == 0 && i < from->paths.n; i++) {
		struct bl_step s = from->step[i];

		if (s.kind == BL_STEP_PUT)
			s.off += base;
		r = add_step(to, from->paths.v[i], &s, e);
	}
	return r;
}

static size_t
list_size(const struct list *l)
{
	size_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n += strlen(l->v[i]) + 1;
	return n;
}

static char *
list_write(char *to, const struct list *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		size_t n = strlen(l->v[i]) + 1;

		memcpy(to, l->v[i], n);
		to += n;
	}
	return to;
}

/* Header, steps and strings, in a buffer of h->size bytes that it makes. */
static char *
head_write(const struct specw *w, const struct bl_spec *h)
{
	const char *cwd = w->cwd == NULL ? "" : w->cwd;
	uint64_t base = w->memfd >= 0 ? BL_SPEC_READ : h->size;
	char *buf = malloc(h->size), *to = buf;

	if (buf == NULL)
		return NULL;
	memcpy(to, h, sizeof *h);
	to += sizeof *h;
	for (uint32_t i = 0; i < w->paths.n; i++) {
		struct bl_step s = w->step[i];

		if (s.kind == BL_STEP_PUT)
			s.off += base;
		memcpy(to, &s, sizeof s);
		to += sizeof s;
	}
	memcpy(to, cwd, strlen(cwd) + 1);
	to += strlen(cwd) + 1;
	to = list_write(to, &w->args);
	to = list_write(to, &w->envs);
	(void)list_write(to, &w->paths);
	return buf;
}

int
specw_seal(struct specw *w, struct bl_err *e)
{
	struct bl_spec h = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .nargs = w->args.n, .nenv = w->envs.n, .nsteps = w->paths.n,
	    .limits = w->limits };
	size_t size = sizeof h + w->paths.n * sizeof(struct bl_step) +
	    (w->cwd == NULL ? 0 : strlen(w->cwd)) + 1 + list_size(&w->args) +
	    list_size(&w->envs) + list_size(&w->paths);
	char *head;
	int fd, r;

	if (w->nomem)
		return err_memory(e, "spec");
	if (size > BL_SPEC_READ)
		return too_much(e, "command_too_long",
		    "bytes of arguments, variables and names", BL_SPEC_READ);
	h.size = (uint32_t)size;
	head = head_write(w, &h);
	if (head == NULL)
		return err_memory(e, "spec");
	fd = w->memfd >= 0 ? w->memfd : memfd_open(e);
	r = fd < 0 ? -1 : write_at(fd, head, size, 0, e);
	free(head);
	if (r == 0 && w->memfd < 0)
		r = write_at(fd, w->data, (size_t)w->bytes, size, e);
	if (r == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK |
	    F_SEAL_GROW | F_SEAL_WRITE) != 0)
		r = err_set(e, BL_KIND_INFRA, "no_memfd", "spec", errno,
		    "a memory file can't be sealed: %s", strerror(errno));
	if (r != 0 && fd >= 0 && fd != w->memfd)
		(void)close(fd);
	if (r != 0)
		return -1;
	w->memfd = -1;			/* it is the caller's now */
	return fd;
}

const char *
specw_step_path(const struct specw *w, uint32_t i)
{
	return i < w->paths.n ? w->paths.v[i] : NULL;
}

struct tree {
	struct specw *w;
	uint64_t left;			/* bytes */
	char	 path[4096];		/* in the cell, grows and shrinks */
};

static int
tree_refuse(struct bl_err *e, const char *code, const char *path, int err,
    const char *why)
{
	(void)err_set(e, BL_KIND_SETUP, code, "put/read", err, "%s%s%s", why,
	    err != 0 ? ": " : "", err != 0 ? strerror(err) : "");
	err_object(e, "%s", path);
	return -1;
}

static int
tree_file(struct tree *t, int fd, const struct stat *st, struct bl_err *e)
{
	uint64_t before = t->w->bytes;

	if ((uint64_t)st->st_size > t->left)
		return tree_refuse(e, "files_too_large", t->path, 0,
		    "more bytes than may be copied in");
	if (specw_put_fd(t->w, t->path, st->st_mode & 0777, fd, e) != 0)
		return -1;
	if (t->w->bytes - before > t->left)
		return tree_refuse(e, "files_too_large", t->path, 0,
		    "grew while it was read");
	t->left -= t->w->bytes - before;
	return 0;
}

static int tree_folder(struct tree *, int, const struct stat *, unsigned,
    struct bl_err *);

/* One entry by name in dir; t->path names it in the cell. */
static int
tree_entry(struct tree *t, int dir, const char *name, unsigned depth,
    struct bl_err *e)
{
	/* O_NONBLOCK: a pipe without a writer must not hold this up. */
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC), r;
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return tree_refuse(e, "link_refused", t->path, 0,
		    "symbolic links are not copied");
	if (fd < 0 && errno == ENXIO)
		return tree_refuse(e, "special_refused", t->path, 0,
		    "only plain files and folders are copied");
	if (fd < 0)
		return tree_refuse(e, "unreadable", t->path, errno,
		    "can't be opened");
	if (fstat(fd, &st) != 0)
		r = tree_refuse(e, "unreadable", t->path, errno,
		    "can't be looked at");
	else if (S_ISREG(st.st_mode))
		r = tree_file(t, fd, &st, e);
	else if (S_ISDIR(st.st_mode))
		return tree_folder(t, fd, &st, depth, e);
	else
		r = tree_refuse(e, "special_refused", t->path, 0,
		    "only plain files and folders are copied");
	(void)close(fd);
	return r;
}

/* Takes fd. */
static int
tree_folder(struct tree *t, int fd, const struct stat *st, unsigned depth,
    struct bl_err *e)
{
	size_t at = strlen(t->path);
	DIR *d = fdopendir(fd);
	struct dirent *de;
	int r;

	if (d == NULL) {
		r = errno;
		(void)close(fd);
		return tree_refuse(e, "unreadable", t->path, r,
		    "can't be listed");
	}
	if (depth >= DEPTH_MAX)
		r = tree_refuse(e, "too_deep", t->path, 0,
		    "folders are nested too deeply");
	else	/* its files must get in, whatever its mode was */
		r = specw_dir(t->w, t->path, (st->st_mode & 0777) | 0700, e);
	while (r == 0 && (errno = 0, de = readdir(d)) != NULL) {
		int n;

		if (strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0)
			continue;
		n = snprintf(t->path + at, sizeof t->path - at, "/%s",
		    de->d_name);
		if (n < 0 || (size_t)n >= sizeof t->path - at)
			r = tree_refuse(e, "too_deep", de->d_name, 0,
			    "a path is too long");
		else
			r = tree_entry(t, dirfd(d), de->d_name, depth + 1, e);
		t->path[at] = '\0';
	}
	if (r == 0 && errno != 0)
		r = tree_refuse(e, "unreadable", t->path, errno,
		    "can't be listed");
	(void)closedir(d);
	return r;
}

int
specw_tree(struct specw *w, const char *src, const char *dst,
    uint64_t max_bytes, struct bl_err *e)
{
	struct tree t = { .w = w, .left = max_bytes };
	int n = snprintf(t.path, sizeof t.path, "%s", dst), r;

	if (n <= 0 || (size_t)n >= sizeof t.path)
		return err_set(e, BL_KIND_USAGE, "bad_path", "put/read", 0,
		    "a destination is too long or empty");
	r = tree_entry(&t, AT_FDCWD, src, 0, e);
	if (r != 0 && e != NULL && strcmp(e->object, dst) == 0)
		(void)snprintf(e->object, sizeof e->object, "%s", src);
	return r;
}

int
specw_base_env(struct specw *w, enum bl_role role, struct bl_err *e)
{
	static const char *const names[BL_ROLE_MAX] = {
		[BL_ROLE_JUDGE] = "judge", [BL_ROLE_ANSWER] = "answer",
		[BL_ROLE_AGENT] = "agent", [BL_ROLE_VERIFIER] = "verifier"
	};
	char kv[64];
	int r = 0;

	if (role >= BL_ROLE_MAX || names[role] == NULL)
		return err_set(e, BL_KIND_INFRA, "bad_role", "spec/env", 0,
		    "no such role");
	(void)snprintf(kv, sizeof kv, "HOME=/home/%s", names[role]);
	r |= specw_env(w, kv, e);
	(void)snprintf(kv, sizeof kv, "USER=%s", names[role]);
	r |= specw_env(w, kv, e);
	(void)snprintf(kv, sizeof kv, "LOGNAME=%s", names[role]);
	r |= specw_env(w, kv, e);
	r |= specw_env(w, "PATH=/usr/local/bin:/usr/bin:/bin", e);
	r |= specw_env(w, "TMPDIR=/tmp", e);
	r |= specw_env(w, "LANG=C.UTF-8", e);
	return r == 0 ? 0 : -1;
}

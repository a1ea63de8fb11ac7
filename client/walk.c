/* A folder of a caller's or an answer's, as steps of a spec: with no way out. */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH_MAX = 16 };

void
walk_name(const char *path, char *to, size_t size)
{
	size_t n = 0;

	for (; path[n] != '\0' && n + 1 < size; n++)
		to[n] = (unsigned char)path[n] < 0x20 || path[n] == 0x7f ?
		    '?' : path[n];
	to[n] = '\0';
	if (path[n] != '\0' && size > 4)
		memcpy(to + size - 4, "...", 4);
}

static int
refuse(const char *what, enum bl_kind kind, const char *code,
    const char *path, const char *why, struct bl_err *e)
{
	char name[192];

	walk_name(path, name, sizeof name);
	(void)err_set(e, kind, code, what, 0, "%s", why);
	err_object(e, "%s", name);
	return -1;
}

int
walk_open(int dir, const char *path, int flags)
{
	const struct open_how how = {
	    .flags = (uint64_t)(unsigned)(flags | O_RDONLY | O_NONBLOCK |
		O_NOCTTY | O_CLOEXEC),
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

int
walk_not_open(const char *what, enum bl_kind kind, const char *path, int err,
    struct bl_err *e)
{
	char code[48], why[128];

	if (err == -EXDEV || err == -ELOOP) {
		(void)snprintf(why, sizeof why, "is a link that leaves the "
		    "%s%s", what, err == -ELOOP ? ", or has no end" : "");
		return refuse(what, BL_KIND_REFUSED, "unsafe_path", path, why,
		    e);
	}
	if (err == -ENXIO)
		return refuse(what, BL_KIND_REFUSED, "unsafe_path", path,
		    "is neither a plain file nor a folder", e);
	(void)snprintf(code, sizeof code, "%s_unreadable", what);
	(void)snprintf(why, sizeof why, "can't be opened: %s", strerror(-err));
	return refuse(what, kind, code, path, why, e);
}

static int
not_open(struct walk *k, int err)
{
	return walk_not_open(k->what, k->kind,
	    k->path[0] == '\0' ? k->name : k->path, err, k->e);
}

/* code: what follows the word for the whole in the error's code. */
static int
too_much(struct walk *k, const char *code, const char *path, const char *why)
{
	char full[48];

	(void)snprintf(full, sizeof full, "%s_%s", k->what, code);
	return refuse(k->what, k->kind, full, path, why, k->e);
}

/* Where k->path goes, in to, and counted.  0, or -1 with *k->e. */
static int
place(struct walk *k, char *to, size_t size)
{
	int n = snprintf(to, size, "%s%s%s", k->below,
	    k->below[0] != '\0' && k->path[0] != '\0' ? "/" : "", k->path);

	if (n < 0 || (size_t)n >= size)
		return too_much(k, "too_deep", k->path, "a path is too long");
	if (k->entries == 0)
		return too_much(k, "too_large", k->path,
		    "has too many files and folders from here on");
	if ((uint64_t)n >= k->names)
		return too_much(k, "too_large", k->path,
		    "has too long names from here on");
	k->entries--;
	k->names -= (uint64_t)n + 1;
	return 0;
}

static int
plain_file(struct walk *k, int fd, const struct stat *st)
{
	bool program = (st->st_mode & 0111) != 0 ||
	    (k->program != NULL && strcmp(k->path, k->program) == 0);
	uint64_t before = specw_bytes(k->w), got;
	char to[PATH_MAX];

	if ((uint64_t)st->st_size > k->bytes)
		return too_much(k, "too_large", k->path,
		    "has more bytes than may be taken");
	if (place(k, to, sizeof to) != 0 ||
	    specw_put_fd(k->w, to, program ? 0755 : 0644, fd, k->e) != 0)
		return -1;
	got = specw_bytes(k->w) - before;
	if (got > k->bytes)
		return too_much(k, "too_large", k->path,
		    "grew while it was read");
	k->bytes -= got;
	return 0;
}

static int folder(struct walk *k, int fd, unsigned depth);

/* The entry that k->path names. */
static int
entry(struct walk *k, unsigned depth)
{
	int fd = walk_open(k->dir, k->path, 0), r;
	struct stat st, link;

	if (fd == -ENOENT && fstatat(k->dir, k->path, &link,
	    AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode))
		return refuse(k->what, BL_KIND_REFUSED, "unsafe_path", k->path,
		    "is a link to nothing", k->e);
	if (fd < 0)
		return not_open(k, fd);
	if (fstat(fd, &st) != 0 || fstatat(k->dir, k->path, &link,
	    AT_SYMLINK_NOFOLLOW) != 0) {
		r = not_open(k, -errno);
		(void)close(fd);
		return r;
	}
	if (S_ISREG(st.st_mode)) {
		r = plain_file(k, fd, &st);
		(void)close(fd);
		return r;
	}
	if (S_ISDIR(st.st_mode) && !S_ISLNK(link.st_mode))
		return folder(k, fd, depth + 1);
	(void)close(fd);
	return refuse(k->what, BL_KIND_REFUSED, "unsafe_path", k->path,
	    S_ISDIR(st.st_mode) ? "is a link to a folder" :
	    "is neither a plain file nor a folder", k->e);
}

static bool
left_out(const struct walk *k, const char *name, unsigned depth)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcmp(name, ".git") == 0 || strcmp(name, "__pycache__") == 0 ||
	    (k->left_out != NULL && k->left_out(k->ctx, name, depth));
}

/* Its own step, where it has one. */
static int
folder_step(struct walk *k, unsigned depth)
{
	char to[PATH_MAX];

	if (depth > DEPTH_MAX)
		return too_much(k, "too_deep", k->path,
		    "folders are nested too deeply");
	if (k->path[0] == '\0' && k->below[0] == '\0')
		return 0;
	return place(k, to, sizeof to) == 0 ?
	    specw_dir(k->w, to, 0755, k->e) : -1;
}

/* Takes fd. */
static int
folder(struct walk *k, int fd, unsigned depth)
{
	size_t at = strlen(k->path);
	DIR *d = fdopendir(fd);
	struct dirent *de;
	int r;

	if (d == NULL) {
		r = not_open(k, -errno);
		(void)close(fd);
		return r;
	}
	r = folder_step(k, depth);
	while (r == 0 && (errno = 0, de = readdir(d)) != NULL) {
		int n;

		if (left_out(k, de->d_name, depth))
			continue;
		n = snprintf(k->path + at, sizeof k->path - at, "%s%s",
		    at > 0 ? "/" : "", de->d_name);
		if (n < 0 || (size_t)n >= sizeof k->path - at)
			r = too_much(k, "too_deep", de->d_name,
			    "a path is too long");
		else
			r = entry(k, depth);
		k->path[at] = '\0';
	}
	if (r == 0 && errno != 0)
		r = not_open(k, -errno);
	(void)closedir(d);
	return r;
}

int
walk_tree(struct walk *k)
{
	int fd = walk_open(k->dir, ".", O_DIRECTORY);

	k->path[0] = '\0';
	return fd < 0 ? not_open(k, fd) : folder(k, fd, 0);
}

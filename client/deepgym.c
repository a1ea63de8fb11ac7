/* A DeepGym environment: a folder with a task and a judge, read and checked. */
#include "deepgym.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	TEXT_MAX	= 16 << 20,	/* bytes of task.md or a verifier */
	META_MAX	= 1 << 20,
	DEPTH_MAX	= 16,
	TIMEOUT_MAX	= 10 * 366 * 86400
};

static int bad(struct bl_err *e, enum bl_kind kind, const char *code,
    const char *file, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static int
bad(struct bl_err *e, enum bl_kind kind, const char *code, const char *file,
    const char *fmt, ...)
{
	char why[384];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	(void)err_set(e, kind, code, "environment", 0, "%s: %s", file, why);
	err_object(e, "%s", file);
	return -1;
}

/*
 * Opens a path of the environment; links are followed while they stay inside.
 * The descriptor, or -errno; -EXDEV: it leaves.
 */
static int
open_inside(int dir, const char *path, int flags)
{
	const struct open_how how = {
	    /* O_NONBLOCK: a pipe without a writer must not hold this up */
	    .flags = (uint64_t)(unsigned)(flags | O_RDONLY | O_NONBLOCK |
		O_NOCTTY | O_CLOEXEC),
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

static int
not_open(const char *file, int err, struct bl_err *e)
{
	if (err == -EXDEV || err == -ELOOP)
		return bad(e, BL_KIND_REFUSED, "unsafe_path", file,
		    "is a link that leaves the environment");
	return bad(e, BL_KIND_SETUP, "environment_unreadable", file,
	    "can't be opened: %s", strerror(-err));
}

/* A plain file of the environment.  -1 with *e; -ENOENT is left to others. */
static int
open_file(int dir, const char *name, bool optional, struct bl_err *e)
{
	int fd = open_inside(dir, name, 0);
	struct stat st;

	if (fd == -ENOENT && optional)
		return fd;
	if (fd < 0)
		return not_open(name, fd, e);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	(void)close(fd);
	return bad(e, BL_KIND_SETUP, "environment_not_a_file", name,
	    "is not a plain file");
}

/* All of a file, with a NUL behind it; NULL with *e. */
static char *
slurp(int fd, const char *name, size_t max, size_t *n, struct bl_err *e)
{
	struct stat st;
	char *buf;
	ssize_t got = 1;

	*n = 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		(void)bad(e, BL_KIND_SETUP, "environment_not_a_file", name,
		    "is not a plain file");
		return NULL;
	}
	if ((uint64_t)st.st_size > max) {
		(void)bad(e, BL_KIND_SETUP, "environment_too_large", name,
		    "has more than %zu bytes", max);
		return NULL;
	}
	buf = malloc((size_t)st.st_size + 1);
	if (buf == NULL) {
		(void)err_set(e, BL_KIND_INFRA, "no_memory", "environment",
		    ENOMEM, "out of memory");
		return NULL;
	}
	while (got != 0 && *n < (size_t)st.st_size) {
		got = pread(fd, buf + *n, (size_t)st.st_size - *n, (off_t)*n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			(void)bad(e, BL_KIND_SETUP, "environment_unreadable",
			    name, "can't be read: %s", strerror(errno));
			free(buf);
			return NULL;
		}
		*n += (size_t)got;
	}
	buf[*n] = '\0';
	return buf;
}

static bool
is_utf8(const char *s, size_t n)
{
	json_t *probe = json_stringn(s, n);	/* refuses what isn't */

	json_decref(probe);
	return probe != NULL;
}

static int
check_task(int dir, struct bl_err *e)
{
	int fd = open_file(dir, "task.md", true, e), toml;
	size_t n;
	char *text;
	int r = 0;

	if (fd == -ENOENT) {
		toml = open_inside(dir, "task.toml", 0);
		if (toml < 0)
			return bad(e, BL_KIND_SETUP, "task_missing", "task.md",
			    "is missing: this is no environment");
		(void)close(toml);
		(void)bad(e, BL_KIND_REFUSED, "task_kind", "task.toml",
		    "a Harbor task needs a machine of its own, "
		    "which --mode local has not");
		err_hint(e, "use --mode docker");
		return -1;
	}
	if (fd < 0)
		return -1;
	text = slurp(fd, "task.md", TEXT_MAX, &n, e);
	(void)close(fd);
	if (text == NULL)
		return -1;
	if (!is_utf8(text, n))
		r = bad(e, BL_KIND_SETUP, "task_not_utf8", "task.md",
		    "is not UTF-8");
	free(text);
	return r;
}

/* --- the verifier -------------------------------------------------------- */

static bool
has(const char *text, size_t n, const char *word)
{
	return memmem(text, n, word, strlen(word)) != NULL;
}

/* In plain Python these run the answer's text in the judge's own process. */
static bool
loads_answer(const char *text, size_t n)
{
	static const char *const words[] = {
		"exec_module", "spec_from_file_location", "SourceFileLoader",
		"import_module", "__import__", "runpy", "run_path",
		"import solution", "from solution"
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (has(text, n, words[i]))
			return true;
	return false;
}

static int
check_python(struct deepgym *d, const char *name, const char *text, size_t n,
    struct bl_err *e)
{
	if (!has(text, n, "__name__") || !has(text, n, "json.dumps")) {
		(void)bad(e, BL_KIND_REFUSED, "verifier_body", name,
		    "is the body of a function, not a program "
		    "(it lacks __name__ or json.dumps)");
		err_hint(e, "make it a program that prints its verdict");
		return -1;
	}
	if (d->alone && loads_answer(text, n)) {
		(void)bad(e, BL_KIND_REFUSED, "verifier_loads_answer", name,
		    "would run the answer inside the judge");
		err_hint(e, "run the answer by \"$BAILIFF_ANSWER\" -- CMD");
		return -1;
	}
	return 0;
}

static int
check_judge(struct deepgym *d, const char *name, struct bl_err *e)
{
	size_t n;
	char *text = slurp(d->judge, name, TEXT_MAX, &n, e);
	int r = 0;

	if (text == NULL)
		return -1;
	d->alone = !has(text, n, "BAILIFF_ANSWER");
	if (d->python)
		r = check_python(d, name, text, n, e);
	else if (n < 2 || text[0] != '#' || text[1] != '!')
		r = bad(e, BL_KIND_SETUP, "verifier_no_interpreter", name,
		    "must start with #! and the name of an interpreter");
	free(text);
	return r;
}

static int
find_judge(struct deepgym *d, struct bl_err *e)
{
	d->python = true;
	d->judge_name = "verifier.py";
	d->judge = open_file(d->dir, d->judge_name, true, e);
	if (d->judge == -ENOENT) {
		d->python = false;
		d->judge_name = "verifier";
		d->judge = open_file(d->dir, d->judge_name, true, e);
	}
	if (d->judge == -ENOENT)
		return bad(e, BL_KIND_SETUP, "verifier_missing", "verifier.py",
		    "is missing, and so is a program called verifier");
	return d->judge < 0 ? -1 : check_judge(d, d->judge_name, e);
}

/* --- metadata.json ------------------------------------------------------- */

static bool
is_strings(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!json_is_string(json_array_get(v, i)))
			return false;
	return json_is_array(v);
}

/* NAME=VALUE can be made of each. */
static bool
is_variables(json_t *v)
{
	const char *k;
	json_t *s;

	if (!json_is_object(v))
		return false;
	json_object_foreach(v, k, s) {
		if (!json_is_string(s) || *k == '\0' ||
		    (*k >= '0' && *k <= '9'))
			return false;
		if (strspn(k, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(k))
			return false;
		if (strlen(json_string_value(s)) != json_string_length(s))
			return false;
	}
	return true;
}

static int
check_types(json_t *meta, struct bl_err *e)
{
	static const char *const strings[] = { "id", "name", "type",
	    "difficulty", "domain", "family", "image", "snapshot" };
	json_t *v;

	for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
		v = json_object_get(meta, strings[i]);
		if (v != NULL && !json_is_string(v))
			return bad(e, BL_KIND_SETUP, "metadata_type",
			    "metadata.json", "\"%s\" is not a string",
			    strings[i]);
	}
	v = json_object_get(meta, "tags");
	if (v != NULL && !is_strings(v))
		return bad(e, BL_KIND_SETUP, "metadata_type", "metadata.json",
		    "\"tags\" is not an array of strings");
	v = json_object_get(meta, "env_vars");
	if (v != NULL && !is_variables(v))
		return bad(e, BL_KIND_SETUP, "metadata_type", "metadata.json",
		    "\"env_vars\" is not an object of strings whose names "
		    "a variable can have");
	v = json_object_get(meta, "timeout");
	if (v != NULL && (!json_is_integer(v) || json_integer_value(v) < 1 ||
	    json_integer_value(v) > TIMEOUT_MAX))
		return bad(e, BL_KIND_SETUP, "metadata_type", "metadata.json",
		    "\"timeout\" is not a whole number of seconds from 1 on");
	return 0;
}

static int
check_kind(json_t *meta, struct bl_err *e)
{
	const char *type = json_string_value(json_object_get(meta, "type"));

	if (type == NULL || (strcmp(type, "computer-use") != 0 &&
	    strcmp(type, "repo-patch") != 0))
		return 0;
	(void)bad(e, BL_KIND_REFUSED, "task_kind", "metadata.json",
	    "a %s task needs a machine of its own, which --mode local has not",
	    type);
	err_hint(e, "use --mode %s",
	    strcmp(type, "computer-use") == 0 ? "daytona" : "docker");
	return -1;
}

static int
read_meta(struct deepgym *d, struct bl_err *e)
{
	static const char name[] = "metadata.json";
	int fd = open_file(d->dir, name, true, e);
	json_error_t je;
	json_t *v;
	size_t n;
	char *text;

	if (fd < 0)
		return fd == -ENOENT ? 0 : -1;
	text = slurp(fd, name, META_MAX, &n, e);
	(void)close(fd);
	if (text == NULL)
		return -1;
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		free(text);
		return bad(e, BL_KIND_SETUP, "metadata_bom", name,
		    "starts with a byte-order mark, which JSON must not");
	}
	d->meta = json_loadb(text, n, JSON_REJECT_DUPLICATES, &je);
	free(text);
	if (d->meta == NULL)
		return bad(e, BL_KIND_SETUP,
		    json_error_code(&je) == json_error_duplicate_key ?
		    "metadata_duplicate_key" : "metadata_not_json", name,
		    "line %d: %s", je.line, je.text);
	if (!json_is_object(d->meta))
		return bad(e, BL_KIND_SETUP, "metadata_not_object", name,
		    "is not a JSON object");
	if (check_types(d->meta, e) != 0 || check_kind(d->meta, e) != 0)
		return -1;
	v = json_object_get(d->meta, "timeout");
	d->timeout_ns = (uint64_t)json_integer_value(v) * 1000000000U;
	d->image = json_string_value(json_object_get(d->meta, "image"));
	return 0;
}

/* --- the whole ----------------------------------------------------------- */

static void
blank(struct deepgym *d)
{
	memset(d, 0, sizeof *d);
	d->dir = d->judge = -1;
}

/* The last part of a real path, as the environment's name. */
static int
take_name(struct deepgym *d, const char *path, struct bl_err *e)
{
	char *real = realpath(path, NULL);
	const char *base = real == NULL ? NULL : strrchr(real, '/') + 1;
	int n, r = 0;

	if (base == NULL)
		return bad(e, BL_KIND_SETUP, "environment_missing", path,
		    "%s", strerror(errno));
	n = snprintf(d->name, sizeof d->name, "%s", base);
	if (n < 0 || (size_t)n >= sizeof d->name || base[0] == '\0' ||
	    base[0] == '.')
		r = bad(e, BL_KIND_REFUSED, "environment_name", path,
		    "an environment's folder has a name that does not "
		    "start with a dot");
	free(real);
	return r;
}

int
deepgym_open(struct deepgym *d, const char *path, struct bl_err *e)
{
	int r;

	blank(d);
	d->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir < 0) {
		(void)bad(e, BL_KIND_SETUP, "environment_missing", path, "%s",
		    strerror(errno));
		if (errno == ENOTDIR)
			err_hint(e, "a verifier alone is given by --judge");
		return -1;
	}
	r = take_name(d, path, e);
	if (r == 0)
		r = check_task(d->dir, e);
	if (r == 0)
		r = read_meta(d, e);
	if (r == 0)
		r = find_judge(d, e);
	if (r == 0) {
		int fd = open_file(d->dir, "test_cases.json", true, e);

		d->tests = fd >= 0;
		if (fd >= 0)
			(void)close(fd);
		else if (fd != -ENOENT)
			r = -1;
	}
	if (r != 0)
		deepgym_close(d);
	return r;
}

int
deepgym_bare(struct deepgym *d, const char *path, struct bl_err *e)
{
	const char *base = strrchr(path, '/'), *dot;

	blank(d);
	base = base == NULL ? path : base + 1;
	(void)snprintf(d->name, sizeof d->name, "%s", base);
	dot = strrchr(base, '.');
	d->python = dot != NULL && strcmp(dot, ".py") == 0;
	d->judge_name = d->python ? "verifier.py" : "verifier";
	d->judge = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (d->judge < 0)
		return bad(e, BL_KIND_SETUP, "verifier_missing", path, "%s",
		    strerror(errno));
	if (check_judge(d, path, e) == 0)
		return 0;
	deepgym_close(d);
	return -1;
}

struct walk {
	const struct deepgym *d;
	struct specw *w;
	const char *answer_name;
	struct bl_err *e;
	char	 path[PATH_MAX];	/* below the environment */
};

static bool
left_out(const struct walk *k, const char *name, unsigned depth)
{
	if (strcmp(name, ".git") == 0 || strcmp(name, "__pycache__") == 0)
		return true;
	return depth == 0 && (strcmp(name, "answers") == 0 ||
	    strcmp(name, k->answer_name) == 0);
}

static int walk_folder(struct walk *k, int fd, unsigned depth);

/* The entry that k->path names. */
static int
walk_entry(struct walk *k, unsigned depth)
{
	int fd = open_inside(k->d->dir, k->path, 0), r;
	struct stat st, link;

	if (fd < 0)
		return not_open(k->path, fd, k->e);
	if (fstat(fd, &st) != 0 || fstatat(k->d->dir, k->path, &link,
	    AT_SYMLINK_NOFOLLOW) != 0) {
		r = not_open(k->path, -errno, k->e);
		(void)close(fd);
		return r;
	}
	if (S_ISREG(st.st_mode)) {
		bool program = (st.st_mode & 0111) != 0 ||
		    (!k->d->python && strcmp(k->path, "verifier") == 0);

		r = specw_put_fd(k->w, k->path, program ? 0755 : 0644, fd,
		    k->e);
		(void)close(fd);
		return r;
	}
	if (S_ISDIR(st.st_mode) && !S_ISLNK(link.st_mode))
		return walk_folder(k, fd, depth + 1);
	(void)close(fd);
	return bad(k->e, BL_KIND_REFUSED, "unsafe_path", k->path,
	    "is neither a plain file nor a folder");
}

/* Takes fd. */
static int
walk_folder(struct walk *k, int fd, unsigned depth)
{
	size_t at = strlen(k->path);
	DIR *d = fdopendir(fd);
	struct dirent *de;
	int r = 0;

	if (d == NULL) {
		r = not_open(at == 0 ? k->d->name : k->path, -errno, k->e);
		(void)close(fd);
		return r;
	}
	if (depth > DEPTH_MAX)
		r = bad(k->e, BL_KIND_SETUP, "environment_too_deep", k->path,
		    "folders are nested too deeply");
	else if (at > 0)
		r = specw_dir(k->w, k->path, 0755, k->e);
	while (r == 0 && (errno = 0, de = readdir(d)) != NULL) {
		int n;

		if (strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0 ||
		    left_out(k, de->d_name, depth))
			continue;
		n = snprintf(k->path + at, sizeof k->path - at, "%s%s",
		    at > 0 ? "/" : "", de->d_name);
		if (n < 0 || (size_t)n >= sizeof k->path - at)
			r = bad(k->e, BL_KIND_SETUP, "environment_too_deep",
			    de->d_name, "a path is too long");
		else
			r = walk_entry(k, depth);
		k->path[at] = '\0';
	}
	if (r == 0 && errno != 0)
		r = not_open(at == 0 ? k->d->name : k->path, -errno, k->e);
	(void)closedir(d);
	return r;
}

int
deepgym_put(const struct deepgym *d, struct specw *w, const char *answer_name,
    struct bl_err *e)
{
	struct walk k = { .d = d, .w = w, .answer_name = answer_name, .e = e };
	int fd;

	if (d->dir < 0)
		return specw_put_fd(w, d->judge_name, 0755, d->judge, e);
	fd = open_inside(d->dir, ".", O_DIRECTORY);
	if (fd < 0)
		return not_open(d->name, fd, e);
	return walk_folder(&k, fd, 0);
}

int
deepgym_env(const struct deepgym *d, struct specw *w, struct bl_err *e)
{
	json_t *vars = json_object_get(d->meta, "env_vars"), *v;
	const char *k;

	json_object_foreach(vars, k, v) {
		const char *s = json_string_value(v);
		size_t n = strlen(k) + strlen(s) + 2;
		char *kv = malloc(n);
		int r;

		if (kv == NULL)
			return err_set(e, BL_KIND_INFRA, "no_memory",
			    "environment", ENOMEM, "out of memory");
		(void)snprintf(kv, n, "%s=%s", k, s);
		r = specw_env(w, kv, e);
		free(kv);
		if (r != 0)
			return -1;
	}
	return 0;
}

void
deepgym_close(struct deepgym *d)
{
	if (d->dir >= 0)
		(void)close(d->dir);
	if (d->judge >= 0)
		(void)close(d->judge);
	json_decref(d->meta);
	blank(d);
}

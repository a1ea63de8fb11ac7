/* A DeepGym environment: a folder with a task and a judge, read and checked. */
#include "deepgym.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "walk.h"

enum {
	TEXT_MAX	= 16 << 20,	/* bytes of task.md or a verifier */
	META_MAX	= 1 << 20,
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
	(void)err_set(e, kind, code, "environment", 0, "%s", why);
	err_object(e, "%s", file);
	return -1;
}

static int
not_open(const char *file, int err, struct bl_err *e)
{
	return walk_not_open("environment", BL_KIND_SETUP, file, err, e);
}

/* A plain file of the environment.  -1 with *e; -ENOENT is left to others. */
static int
open_file(int dir, const char *name, bool optional, struct bl_err *e)
{
	int fd = walk_open(dir, name, 0);
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
		(void)err_memory(e, "environment");
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
		toml = walk_open(dir, "task.toml", 0);
		if (toml < 0)
			return bad(e, BL_KIND_SETUP, "task_missing", "task.md",
			    "is missing: this is no environment");
		(void)close(toml);
		(void)bad(e, BL_KIND_REFUSED, "task_kind", "task.toml",
		    "a Harbor task needs a machine of its own, "
		    "which --mode local has not");
		err_hint(e, "use --mode docker, where a version has it");
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

static int
check_judge(struct deepgym *d, const char *name, struct bl_err *e)
{
	size_t n;
	char *text = slurp(d->judge, name, TEXT_MAX, &n, e);
	int r = 0;

	if (text == NULL)
		return -1;
	if (!d->python && (n < 2 || text[0] != '#' || text[1] != '!'))
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

/* What this host can't judge, and who can. */
static int
check_kind(json_t *meta, struct bl_err *e)
{
	static const struct {
		const char *key, *value, *mode, *kind;
	} row[] = {
		{ "type", "computer-use", "daytona", "a computer-use task" },
		{ "type", "repo-patch", "docker", "a repo-patch task" },
		{ "type", "cybergym", "docker", "a CyberGym task" },
		{ "benchmark", "cybergym", "docker", "a CyberGym task" },
	};

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		const char *is = json_string_value(json_object_get(meta,
		    row[i].key));

		if (is == NULL || strcasecmp(is, row[i].value) != 0)
			continue;
		(void)bad(e, BL_KIND_REFUSED, "task_kind", "metadata.json",
		    "%s needs a machine of its own, which --mode local has "
		    "not", row[i].kind);
		err_hint(e, "use --mode %s, where a version has it",
		    row[i].mode);
		return -1;
	}
	return 0;
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
	/* its kind first: other kinds have other files */
	if (r == 0)
		r = read_meta(d, e);
	if (r == 0)
		r = check_task(d->dir, e);
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

struct leave {
	const char *answer_name;
	bool	 answers;		/* the folder of that name */
};

static bool
left_out(const void *ctx, const char *name, unsigned depth)
{
	const struct leave *l = ctx;

	return depth == 0 && ((l->answers && strcmp(name, "answers") == 0) ||
	    strcmp(name, l->answer_name) == 0);
}

/* path, or a folder that it is in, is the folder at dir's name. */
static bool
is_below(const char *path, int dir, const char *name)
{
	struct stat want, st, above = { 0 };
	char *copy = strdup(path);
	int at = copy == NULL ? -1 : open(dirname(copy), O_PATH | O_DIRECTORY |
	    O_CLOEXEC), up;
	bool found = false;

	free(copy);
	if (fstatat(dir, name, &want, AT_SYMLINK_NOFOLLOW) != 0)
		memset(&want, 0, sizeof want);
	for (; at >= 0 && !found && fstat(at, &st) == 0; at = up) {
		found = st.st_dev == want.st_dev && st.st_ino == want.st_ino;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		(void)close(at);
		if (up >= 0 && (fstat(up, &above) != 0 ||
		    (above.st_dev == st.st_dev && above.st_ino == st.st_ino))) {
			(void)close(up);	/* the root */
			up = -1;
		}
	}
	if (at >= 0)
		(void)close(at);
	return found;
}

int
deepgym_put(const struct deepgym *d, struct specw *w, const char *answer_name,
    const char *answer, struct bl_err *e)
{
	/* others' answers are no part of the task, and no word of the judge's */
	const struct leave l = { answer_name,
	    d->dir >= 0 && is_below(answer, d->dir, "answers") };
	/* the caller's own: what a spec can hold is the only bound */
	struct walk k = { .dir = d->dir, .name = d->name,
	    .what = "environment", .kind = BL_KIND_SETUP, .below = "",
	    .program = d->python ? NULL : d->judge_name,
	    .left_out = left_out, .ctx = &l, .bytes = UINT64_MAX,
	    .names = UINT64_MAX, .entries = UINT64_MAX, .w = w, .e = e };

	if (d->dir < 0)
		return specw_put_fd(w, d->judge_name, 0755, d->judge, e);
	return walk_tree(&k);
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
			return err_memory(e, "environment");
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

/* One table of options; no abbreviations, no half-read numbers. */
#include "opts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absent.h"
#include "bailiff.h"
#include "../policy/proto.h"
#include "../providers/registry.h"

enum {
	CMD_ALL	  = CMD_EXEC | CMD_RUN | CMD_BATCH | CMD_SESSION,
	CMD_ANY	  = CMD_ALL | CMD_SELFTEST,
	CMD_FILES = CMD_EXEC | CMD_SESSION,
	CMD_JUDGE = CMD_RUN | CMD_BATCH,
	LINE_MAX_ = 1 << 16,
	MEMORY_MIN = 8 << 20
};

static int
usage(struct bl_err *e, const char *what, const char *fmt, const char *val)
{
	char said[160];

	(void)snprintf(said, sizeof said, "%.100s", val);
	(void)err_set(e, BL_KIND_USAGE, "usage", "options", 0, "%s%s: %s%s",
	    strncmp(what, "-", 1) == 0 ? "" : "--", what, fmt, said);
	return -1;
}

/* Digits alone, up to the first other byte at *end.  0, or -1. */
static int
digits(const char *s, uint64_t *out, const char **end)
{
	uint64_t v = 0;

	*end = s;
	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		uint64_t d = (uint64_t)(*s - '0');

		if (v > (UINT64_MAX - d) / 10)
			return -1;
		v = v * 10 + d;
	}
	*out = v;
	*end = s;
	return 0;
}

int
opt_number(const char *what, const char *s, uint64_t max, uint64_t *out,
    struct bl_err *e)
{
	const char *end;
	uint64_t v;

	if (digits(s, &v, &end) != 0 || *end != '\0' || v > max)
		return usage(e, what, "not a whole number that is allowed: ",
		    s);
	*out = v;
	return 0;
}

int
opt_size(const char *what, const char *s, uint64_t *out, struct bl_err *e)
{
	static const char units[] = "kmgt";
	const char *end, *u;
	unsigned shift = 0;
	uint64_t v;

	if (digits(s, &v, &end) != 0)
		return usage(e, what, "not a size, such as 512m: ", s);
	if (*end != '\0' && *end != 'b' && *end != 'B') {
		u = strchr(units, *end | 0x20);
		if (u == NULL)
			return usage(e, what, "not a size, such as 512m: ", s);
		shift = 10 * (unsigned)(u - units + 1);
		end++;
		if (end[0] == 'i' && (end[1] == 'b' || end[1] == 'B'))
			end++;
	}
	if (*end == 'b' || *end == 'B')
		end++;
	if (*end != '\0' || v > (uint64_t)INT64_MAX >> shift)
		return usage(e, what, "not a size, such as 512m: ", s);
	*out = v << shift;
	return 0;
}

/* A decimal number times 10^places; further places must not be there. */
static int
decimal(const char *s, unsigned places, uint64_t max, uint64_t *out)
{
	const char *end;
	uint64_t v = 0, scale = 1;

	for (unsigned i = 0; i < places; i++)
		scale *= 10;
	if (*s != '.' && digits(s, &v, &s) != 0)
		return -1;
	if (v > max / scale)
		return -1;
	v *= scale;
	if (*s == '.') {
		end = ++s;
		for (; *s >= '0' && *s <= '9' && scale > 1; s++) {
			scale /= 10;
			v += scale * (uint64_t)(*s - '0');
		}
		if (s == end)
			return -1;
	}
	if (*s != '\0' || v > max)
		return -1;
	*out = v;
	return 0;
}

int
opt_seconds(const char *what, const char *s, uint64_t *out, struct bl_err *e)
{
	const uint64_t most = 315360000ULL * 1000000000ULL;

	if (decimal(s, 9, most, out) != 0 || *out == 0)
		return usage(e, what, "not a number of seconds above 0: ", s);
	return 0;
}

int
opt_milli(const char *what, const char *s, uint64_t *out, struct bl_err *e)
{
	if (decimal(s, 3, 1000000000ULL, out) != 0 || *out == 0)
		return usage(e, what, "not a number above 0: ", s);
	return 0;
}

int
opt_string(char **to, const char *s, struct bl_err *e)
{
	char *copy = strdup(s);

	if (copy == NULL)
		return err_memory(e, "options");
	free(*to);
	*to = copy;
	return 0;
}

int
opt_add(struct opt_list *l, const char *s, struct bl_err *e)
{
	char **v = reallocarray(l->v, l->n + 2, sizeof *v);

	if (v == NULL)
		return err_memory(e, "options");
	l->v = v;
	v[l->n] = strdup(s);
	if (v[l->n] == NULL)
		return err_memory(e, "options");
	v[++l->n] = NULL;
	return 0;
}

int
opt_pair(const char *what, const char *s, char **src, const char **dst,
    struct bl_err *e)
{
	const char *colon = strchr(s, ':');

	if (colon == NULL || colon == s || colon[1] == '\0')
		return usage(e, what, "wants SRC:DST, not ", s);
	*src = strndup(s, (size_t)(colon - s));
	if (*src == NULL)
		return err_memory(e, "options");
	*dst = colon + 1;
	return 0;
}

static int
set_mode(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;

	if (!provider_known(val))
		return usage(e, "mode", "wants auto or local, not ", val);
	return opt_string(&o->mode, val, e);
}

static int
set_image(void *ctx, const char *val, struct bl_err *e)
{
	return opt_string(&((struct opts *)ctx)->image, val, e);
}

static int
set_env(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;
	const char *eq = strchr(val, '='), *own;
	char *kv;
	int r;

	if (eq == val || val[0] == '\0')
		return usage(e, "env", "wants NAME=VALUE or NAME, not ", val);
	if (eq != NULL)
		return opt_add(&o->env, val, e);
	own = getenv(val);
	if (own == NULL) {	/* as docker does: nothing to pass on */
		kv = NULL;
		if (asprintf(&kv, "%s%s%.100s", o->unset == NULL ? "" :
		    o->unset, o->unset == NULL ? "" : ", ", val) < 0)
			return err_memory(e, "options");
		free(o->unset);
		o->unset = kv;
		return 0;
	}
	if (asprintf(&kv, "%s=%s", val, own) < 0)
		return err_memory(e, "options");
	r = opt_add(&o->env, kv, e);
	free(kv);
	return r;
}

/* Not a pipe, which could keep anybody waiting.  NULL with errno. */
static FILE *
plain_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	FILE *f = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	else
		f = fdopen(fd, "r");
	if (f == NULL)
		(void)close(fd);	/* it keeps errno: it was only opened */
	return f;
}

/* Where the user's defaults are below; NULL: there can be none. */
static const char *
config_home(bool *xdg)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	*xdg = base != NULL && base[0] == '/';
	return *xdg ? base : home != NULL && home[0] == '/' ? home : NULL;
}

/*
 * Calls each(ctx, line, number) for every line of path that is neither blank
 * nor a comment, its ends trimmed.  missing_ok: no such file is no line.
 */
static int
lines(const char *path, bool missing_ok, int (*each)(void *, char *, unsigned,
    struct bl_err *), void *ctx, struct bl_err *e)
{
	FILE *f = missing_ok ? plain_file(path) : fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	unsigned no = 0;
	ssize_t n;
	int r = 0, err = errno;
	bool xdg;

	/* HOME may be somebody else's, as sudo or setpriv leave it */
	if (f == NULL && missing_ok && path_absent(path, config_home(&xdg)))
		return 0;
	if (f == NULL) {
		(void)err_set(e, BL_KIND_USAGE, "unreadable", "options", err,
		    "%s can't be read: %s", path, strerror(err));
		if (missing_ok && (err == EACCES || err == ENOTDIR))
			err_hint(e, "what is above it must be folders that this "
			    "user may enter, its own again if another took "
			    "them: see ls -ld");
		return -1;
	}
	while (r == 0 && (n = getline(&line, &room, f)) >= 0) {
		char *s = line;

		no++;
		if (n > LINE_MAX_ || strlen(line) != (size_t)n) {
			r = err_set(e, BL_KIND_USAGE, "bad_line", "options", 0,
			    "%s:%u: too long, or no text", path, no);
			break;
		}
		while (n > 0 && strchr(" \t\r\n", line[n - 1]) != NULL)
			line[--n] = '\0';
		s += strspn(s, " \t");
		if (*s != '\0' && *s != '#')
			r = each(ctx, s, no, e);
		if (r != 0 && e != NULL)
			err_object(e, "%s:%u", path, no);
	}
	if (r == 0 && ferror(f) != 0)
		r = err_set(e, BL_KIND_USAGE, "unreadable", "options", EIO,
		    "%s can't be read", path);
	free(line);
	(void)fclose(f);		/* it was only read */
	return r;
}

static int
env_line(void *ctx, char *line, unsigned no, struct bl_err *e)
{
	size_t n = strcspn(line, "=");

	(void)no;			/* err_object has it */
	if (strcspn(line, " \t") < n)
		return err_set(e, BL_KIND_USAGE, "bad_line", "options", 0,
		    "a line is NAME=VALUE or NAME: no \"export\", and no blank "
		    "in NAME");
	return set_env(ctx, line, e);
}

static int
set_env_file(void *ctx, const char *val, struct bl_err *e)
{
	return lines(val, false, env_line, ctx, e);
}

static int
set_workdir(void *ctx, const char *val, struct bl_err *e)
{
	return opt_string(&((struct opts *)ctx)->workdir, val, e);
}

static int
set_timeout(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;

	return opt_seconds("timeout", val, &o->timeout_ns, e);
}

static int
set_cpu_time(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;
	uint64_t ns;

	if (opt_seconds("cpu-time", val, &ns, e) != 0)
		return -1;
	if (ns / 1000000 > UINT32_MAX)
		return usage(e, "cpu-time", "too long: ", val);
	o->cpu_ms = (ns + 999999) / 1000000;
	return 0;
}

static int
set_cpus(void *ctx, const char *val, struct bl_err *e)
{
	uint64_t *milli = &((struct opts *)ctx)->cpus_milli;

	if (opt_milli("cpus", val, milli, e) != 0)
		return -1;
	/* the kernel's least is 1 ms of each 100 */
	return *milli >= 10 ? 0 : usage(e, "cpus", "0.01 at least, not ", val);
}

static int
set_cgroup(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;

	o->no_cgroup = strcmp(val, "none") == 0;
	o->scope = strcmp(val, "scope") == 0;
	if (!o->no_cgroup && !o->scope && strcmp(val, "auto") != 0)
		return usage(e, "cgroup", "wants auto, scope or none, not ",
		    val);
	return 0;
}

/* A size that may not be 0: the wire's 0 means "as the rules say". */
static int
some_size(const char *what, const char *val, uint64_t *to, struct bl_err *e)
{
	if (opt_size(what, val, to, e) != 0)
		return -1;
	return *to > 0 ? 0 : usage(e, what, "must not be ", val);
}

static int
set_memory(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;

	if (some_size("memory", val, &o->memory, e) != 0)
		return -1;
	return o->memory >= MEMORY_MIN ? 0 : usage(e, "memory",
	    "programs need 8m or more, not ", val);
}

static int
set_pids(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;

	if (opt_number("pids", val, 1 << 22, &o->pids, e) != 0)
		return -1;
	return o->pids > 0 ? 0 : usage(e, "pids", "must not be ", val);
}

static int
set_fsize(void *ctx, const char *val, struct bl_err *e)
{
	return some_size("fsize", val, &((struct opts *)ctx)->fsize, e);
}

static int
set_disk(void *ctx, const char *val, struct bl_err *e)
{
	return some_size("disk", val, &((struct opts *)ctx)->disk, e);
}

static int
set_max_output(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;

	o->max_output_given = true;
	return opt_size("max-output", val, &o->max_output, e);
}

static int
add_pair(struct opt_list *l, const char *what, const char *val,
    struct bl_err *e)
{
	const char *dst;
	char *src;

	if (opt_pair(what, val, &src, &dst, e) != 0)
		return -1;
	free(src);
	return opt_add(l, val, e);
}

static int
add_ro_bind(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;

	if (add_pair(&o->ro_bind, "ro-bind", val, e) != 0)
		return -1;
	return strchr(val, ':')[1] == '/' ? 0 :
	    usage(e, "ro-bind", "the destination must start with /: ", val);
}

static int
add_expose(void *ctx, const char *val, struct bl_err *e)
{
	return val[0] == '\0' ? usage(e, "expose", "wants a folder", val) :
	    opt_add(&((struct opts *)ctx)->expose, val, e);
}

static int
add_put(void *ctx, const char *val, struct bl_err *e)
{
	return add_pair(&((struct opts *)ctx)->put, "put", val, e);
}

static int
add_get(void *ctx, const char *val, struct bl_err *e)
{
	return add_pair(&((struct opts *)ctx)->get, "get", val, e);
}

static int
add_tmpfs(void *ctx, const char *val, struct bl_err *e)
{
	const char *colon = strrchr(val, ':');
	uint64_t size;

	if (val[0] != '/')
		return usage(e, "tmpfs", "the folder must start with /: ", val);
	if (colon != NULL && some_size("tmpfs", colon + 1, &size, e) != 0)
		return -1;
	return opt_add(&((struct opts *)ctx)->tmpfs, val, e);
}

static int
set_net(void *ctx, const char *val, struct bl_err *e)
{
	(void)ctx;			/* there is one value so far */
	if (strcmp(val, "loopback") == 0)
		return 0;
	if (strcmp(val, "none") == 0)
		return usage(e, "net", "cells always have a loopback of their "
		    "own and nothing else; this build can't do ", val);
	return usage(e, "net", "wants loopback, not ", val);
}

static int
set_require(void *ctx, const char *val, struct bl_err *e)
{
	static const char *const names[] = { "uid", "net", "mount", "pid",
	    "ipc", "seccomp", "cgroup" };
	struct opts *o = ctx;
	const char *s = val;

	o->require = 0;
	o->require_given = true;
	if (strcmp(val, "none") == 0)
		return 0;
	for (;;) {
		size_t n = strcspn(s, ",");
		unsigned i;

		for (i = 0; i < 7; i++)
			if (strlen(names[i]) == n &&
			    strncmp(names[i], s, n) == 0)
				break;
		if (i == 7)
			return usage(e, "require", "wants some of uid,net,"
			    "mount,pid,ipc,seccomp,cgroup, or none, not ", val);
		o->require |= 1U << i;
		if (s[n] == '\0')
			return 0;
		s += n + 1;
	}
}

static int
set_way(void *ctx, const char *val, struct bl_err *e)
{
	if (way_number(val) < 0)
		return usage(e, "way", "wants auto, setuid, capabilities, "
		    "socket, root, rootless, bwrap or plain, not ", val);
	return opt_string(&((struct opts *)ctx)->way, val, e);
}

static int
flag(bool *to, const char *val)
{
	*to = strcmp(val, "yes") == 0;
	return 0;
}

static int
set_cells(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	return flag(&((struct opts *)ctx)->cells, val);
}

static int
set_json(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	return flag(&((struct opts *)ctx)->json, val);
}

static int
set_status_fd(void *ctx, const char *val, struct bl_err *e)
{
	struct opts *o = ctx;
	uint64_t n;
	int how;

	if (opt_number("status-fd", val, 1 << 20, &n, e) != 0)
		return -1;
	how = fcntl((int)n, F_GETFL);
	if (how < 0 || (how & O_ACCMODE) == O_RDONLY)
		return usage(e, "status-fd", "no descriptor that is open for "
		    "writing: ", val);
	o->status_fd = (int)n;
	return 0;
}

static int
set_meta(void *ctx, const char *val, struct bl_err *e)
{
	return opt_string(&((struct opts *)ctx)->meta, val, e);
}

static int
set_keep(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	return flag(&((struct opts *)ctx)->keep, val);
}

static int
set_verbose(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	if (strcmp(val, "yes") == 0)
		((struct opts *)ctx)->verbose++;
	return 0;
}

static int
set_quiet(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	return flag(&((struct opts *)ctx)->quiet, val);
}

static int
set_help(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	return flag(&((struct opts *)ctx)->help, val);
}

static int
set_version(void *ctx, const char *val, struct bl_err *e)
{
	(void)e;
	return flag(&((struct opts *)ctx)->version, val);
}

static const struct shared {
	struct opt_def d;
	unsigned cmds;
	bool config;			/* may stand in the defaults' file */
} table[] = {
	{ { "mode", 0, true, set_mode }, CMD_ANY, true },
	{ { "way", 0, true, set_way }, CMD_ANY, true },
	{ { "image", 0, true, set_image }, CMD_ALL, true },
	{ { "env", 'e', true, set_env }, CMD_ALL, true },
	{ { "env-file", 0, true, set_env_file }, CMD_ALL, true },
	{ { "workdir", 'w', true, set_workdir }, CMD_ALL, true },
	{ { "timeout", 't', true, set_timeout }, CMD_ALL, true },
	{ { "cpu-time", 0, true, set_cpu_time }, CMD_ALL, true },
	{ { "cpus", 0, true, set_cpus }, CMD_ALL, true },
	{ { "cgroup", 0, true, set_cgroup }, CMD_ALL, true },
	{ { "memory", 'm', true, set_memory }, CMD_ALL, true },
	{ { "pids", 0, true, set_pids }, CMD_ALL, true },
	{ { "fsize", 0, true, set_fsize }, CMD_ALL, true },
	{ { "disk", 0, true, set_disk }, CMD_ALL, true },
	{ { "max-output", 0, true, set_max_output }, CMD_ALL, true },
	{ { "ro-bind", 0, true, add_ro_bind }, CMD_ALL, true },
	{ { "expose", 0, true, add_expose }, CMD_ALL, true },
	{ { "put", 0, true, add_put }, CMD_FILES, false },
	{ { "get", 0, true, add_get }, CMD_FILES, false },
	{ { "tmpfs", 0, true, add_tmpfs }, CMD_ALL, true },
	{ { "net", 0, true, set_net }, CMD_ALL, true },
	{ { "require", 0, true, set_require }, CMD_ALL, true },
	{ { "cells", 0, false, set_cells }, CMD_ALL, true },
	{ { "json", 0, false, set_json }, CMD_ANY, true },
	{ { "status-fd", 0, true, set_status_fd }, CMD_ALL, false },
	{ { "meta", 0, true, set_meta }, CMD_ALL, false },
	{ { "keep", 0, false, set_keep }, CMD_ALL, true },
	{ { "verbose", 'v', false, set_verbose }, CMD_ANY, true },
	{ { "quiet", 'q', false, set_quiet }, CMD_ANY, true },
	{ { "help", 'h', false, set_help }, CMD_ANY, false },
	{ { "version", 0, false, set_version }, CMD_ANY, false },
	/* Of commands with options of their own: known, for the file's sake. */
	{ { "judge", 0, true, NULL }, CMD_JUDGE, false },
	{ { "judge-mode", 0, true, NULL }, CMD_JUDGE, true },
	{ { "judge-timeout", 0, true, NULL }, CMD_JUDGE, true },
	{ { "judge-net", 0, true, NULL }, CMD_JUDGE, true },
	{ { "artifacts", 0, true, NULL }, CMD_JUDGE, false },
	{ { "exit-zero", 0, false, NULL }, CMD_JUDGE, true },
	{ { "keep-output", 0, true, NULL }, CMD_JUDGE, true },
	{ { "pool", 0, true, NULL }, CMD_JUDGE, true },
};

enum { NTABLE = sizeof table / sizeof table[0] };

struct found {
	const struct opt_def *d;
	bool shared;			/* from the table above */
	bool usable;			/* this command has it */
	bool config;
};

/* By long name of n bytes, or by letter when n is 0. */
static bool
named(const struct opt_def *d, const char *name, size_t n)
{
	return n == 0 ? d->brief == *name :
	    strlen(d->name) == n && strncmp(d->name, name, n) == 0;
}

static bool
find(const struct opts *o, const struct opt_def *extra, const char *name,
    size_t n, struct found *f)
{
	for (; extra != NULL && extra->name != NULL; extra++)
		if (named(extra, name, n)) {
			*f = (struct found){ extra, false, true, true };
			return true;
		}
	for (size_t i = 0; i < NTABLE; i++) {
		const struct opt_def *d = &table[i].d;

		if (!named(d, name, n))
			continue;
		*f = (struct found){ d, true, d->set != NULL &&
		    (table[i].cmds & o->cmd) != 0, table[i].config };
		return true;
	}
	return false;
}

static int
apply(struct opts *o, const struct found *f, void *ctx, const char *val,
    struct bl_err *e)
{
	return f->d->set(f->shared ? (void *)o : ctx, val, e);
}

/* argv[i] is "--name" or "--name=value": words used, or -1. */
static int
long_opt(struct opts *o, int argc, char **argv, int i,
    const struct opt_def *extra, void *ctx, struct bl_err *e)
{
	const char *name = argv[i] + 2, *eq = strchr(name, '=');
	size_t n = eq == NULL ? strlen(name) : (size_t)(eq - name);
	const char *val = eq == NULL ? NULL : eq + 1;
	struct found f;

	if (n == 0 || !find(o, extra, name, n, &f) || !f.usable)
		return usage(e, argv[i], "no such option", "");
	if (!f.d->arg) {
		if (val != NULL)
			return usage(e, f.d->name, "takes no value: ", val);
		return apply(o, &f, ctx, "yes", e) == 0 ? 1 : -1;
	}
	if (val != NULL)
		return apply(o, &f, ctx, val, e) == 0 ? 1 : -1;
	if (i + 1 >= argc)
		return usage(e, f.d->name, "wants a value", "");
	return apply(o, &f, ctx, argv[i + 1], e) == 0 ? 2 : -1;
}

/* argv[i] is "-abc", the last of which may take a value, in it or next. */
static int
brief_opts(struct opts *o, int argc, char **argv, int i,
    const struct opt_def *extra, void *ctx, struct bl_err *e)
{
	for (const char *s = argv[i] + 1; *s != '\0'; s++) {
		struct found f;

		if (!find(o, extra, s, 0, &f) || !f.usable)
			return usage(e, argv[i], "no such option", "");
		if (!f.d->arg) {
			if (apply(o, &f, ctx, "yes", e) != 0)
				return -1;
			continue;
		}
		if (s[1] != '\0')
			return apply(o, &f, ctx, s + 1, e) == 0 ? 1 : -1;
		if (i + 1 >= argc)
			return usage(e, f.d->name, "wants a value", "");
		return apply(o, &f, ctx, argv[i + 1], e) == 0 ? 2 : -1;
	}
	return 1;
}

int
opts_parse(struct opts *o, int argc, char **argv, int from,
    const struct opt_def *extra, void *ctx, struct bl_err *e)
{
	int i = from, n;

	while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
		if (strcmp(argv[i], "--") == 0)
			return i + 1;
		n = argv[i][1] == '-' ?
		    long_opt(o, argc, argv, i, extra, ctx, e) :
		    brief_opts(o, argc, argv, i, extra, ctx, e);
		if (n < 0)
			return -1;
		i += n;
	}
	return i;
}

struct config {
	struct opts *o;
	const struct opt_def *extra;
	void *ctx;
};

static int
config_line(void *ctx, char *line, unsigned no, struct bl_err *e)
{
	struct config *c = ctx;
	size_t n = strcspn(line, " \t=");
	char *val = line + n;
	struct found f;

	(void)no;			/* err_object has it */
	val += strspn(val, " \t");
	if (n == 0 || *val != '=')
		return err_set(e, BL_KIND_USAGE, "bad_config", "config", 0,
		    "a line is \"name = value\"");
	val++;
	val += strspn(val, " \t");
	if (!find(c->o, c->extra, line, n, &f) || !f.config)
		return err_set(e, BL_KIND_USAGE, "bad_config", "config", 0,
		    "\"%.*s\" can't be set here", (int)(n < 40 ? n : 40), line);
	if (!f.usable)
		return 0;		/* another command's */
	if (!f.d->arg && strcmp(val, "yes") != 0 && strcmp(val, "no") != 0)
		return err_set(e, BL_KIND_USAGE, "bad_config", "config", 0,
		    "%s is yes or no", f.d->name);
	return apply(c->o, &f, c->ctx, val, e);
}

int
opts_config_file(struct opts *o, const char *path,
    const struct opt_def *extra, void *ctx, struct bl_err *e)
{
	struct config c = { o, extra, ctx };

	return lines(path, true, config_line, &c, e);
}

bool
opts_config_path(char *path, size_t size)
{
	bool xdg;
	const char *home = config_home(&xdg);
	int n = home == NULL ? 0 : snprintf(path, size, "%s%s/bailiff/config",
	    home, xdg ? "" : "/.config");

	return n > 0 && (size_t)n < size;	/* no file has a longer name */
}

int
opts_config(struct opts *o, const struct opt_def *extra, void *ctx,
    struct bl_err *e)
{
	char path[4096];

	return !opts_config_path(path, sizeof path) ? 0 :
	    opts_config_file(o, path, extra, ctx, e);
}

void
opts_init(struct opts *o, unsigned cmd)
{
	memset(o, 0, sizeof *o);
	o->cmd = cmd;
	o->status_fd = -1;
}

static void
list_free(struct opt_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = 0;
}

void
opts_free(struct opts *o)
{
	free(o->mode);
	free(o->way);
	free(o->image);
	free(o->workdir);
	free(o->meta);
	free(o->unset);
	free(o->warning);
	list_free(&o->env);
	list_free(&o->ro_bind);
	list_free(&o->expose);
	list_free(&o->put);
	list_free(&o->get);
	list_free(&o->tmpfs);
	opts_init(o, o->cmd);
}

int
opts_mode(struct opts *o, const char **mode, const char **warning,
    struct bl_err *e)
{
	const char *want = o->mode == NULL ? "auto" : o->mode, *lost = "";
	const char *key = getenv("DAYTONA_API_KEY");

	*warning = NULL;
	if (strcmp(want, "auto") == 0) {
		want = "local";
		if (key != NULL && key[0] != '\0') {
			if (provider_find("daytona") != NULL)
				want = "daytona";
			else
				lost = "DAYTONA_API_KEY is set, but this "
				    "build has no Daytona provider: using "
				    "local";
		}
	}
	*mode = want;
	if (provider_find(want) == NULL) {
		(void)err_set(e, BL_KIND_SETUP, "provider_missing", "provider",
		    0, "this version has no provider \"%s\", only local", want);
		err_hint(e, "leave --mode out, or wait for a version that has it");
		return -1;
	}
	free(o->warning);
	o->warning = NULL;
	if (asprintf(&o->warning, "%s%s%s%s", lost,
	    lost[0] != '\0' && o->unset != NULL ? "; " : "",
	    o->unset != NULL ? "not set here, so not passed on: " : "",
	    o->unset != NULL ? o->unset : "") < 0) {
		o->warning = NULL;
		return err_memory(e, "options");
	}
	if (o->warning[0] != '\0')
		*warning = o->warning;
	return 0;
}

struct way_ask
opts_way(const struct opts *o)
{
	int way = o->way == NULL ? BL_WAY_NONE : way_number(o->way);

	return (struct way_ask){ (enum bl_way)way, o->require,
	    o->require_given, o->mode != NULL &&
	    strcmp(o->mode, "local") == 0 };
}

void
err_from(struct bl_err *to, const struct bailiff_error *from)
{
	if (to->kind != BL_KIND_NONE || from->kind == BAILIFF_OK)
		return;
	(void)err_set(to, (enum bl_kind)from->kind, from->code, from->step,
	    from->err, "%s", from->message);
	if (from->object[0] != '\0')
		err_object(to, "%s", from->object);
	if (from->hint[0] != '\0')
		err_hint(to, "%s", from->hint);
}

int
opts_cgroup(const struct opts *o, const char **warning, struct bl_err *e)
{
	struct bailiff_error why = { .kind = BAILIFF_OK };
	bool needed = (o->require & BL_NEED_CGROUP) != 0;

	*warning = NULL;
	/* behind a socket the helper could not use it */
	if ((needed || (!o->no_cgroup && opts_way(o).way != BL_WAY_SOCKET)) &&
	    bailiff_cgroup(needed || o->scope, &why) == 0)
		return 0;
	if (needed) {
		err_from(e, &why);
		return -1;
	}
	if (o->cpus_milli != 0)
		*warning = opts_no_cpus;
	else if (o->scope)
		*warning = "--cgroup scope has no effect: see bailiff doctor";
	return 0;
}

const char opts_no_cpus[] =
    "--cpus has no effect: there is no control group for it";

bool
opts_cpus_lost(const struct opts *o, const char *way)
{
	return o->cpus_milli != 0 && o->way == NULL && !o->no_cgroup &&
	    way != NULL && strcmp(way, "socket") == 0;
}

const char opts_help[] =
"Shared options:\n"
"      --mode MODE          auto or local (default auto)\n"
"      --way WAY            how cells are come by on this host: auto (default),\n"
"                           setuid, capabilities, socket, root, rootless,\n"
"                           bwrap (no users of their own) or plain\n"
"  -e, --env K=V|K          a variable, or one passed on; nothing else is\n"
"      --env-file FILE      lines K=V or K, and # comments; quotes are part\n"
"                           of V, and there is no export\n"
"  -t, --timeout SECONDS    wall time, decimals allowed (default 30)\n"
"      --cpu-time SECONDS   processor time of one process, rounded up to\n"
"                           whole seconds\n"
"      --cgroup MODE        auto: each cell has a control group of its own where\n"
"                           bailiff is alone in one that was delegated, or in\n"
"                           a login session systemd gives one (cgroup v2);\n"
"                           scope: also out of a service or a job; or none\n"
"      --cpus N             processors, decimals allowed (default 2): in a\n"
"                           control group alone\n"
"  -m, --memory SIZE        of one process, as 512m, 1024-based (default 2g); in\n"
"                           a control group also of all, with --disk\n"
"      --pids N             processes (default 512)\n"
"      --fsize SIZE         largest file that may be written (default: as\n"
"                           --disk)\n"
"      --disk SIZE          all private folders together, but those of\n"
"                           --tmpfs (default 1g)\n"
"      --max-output SIZE    per stream (default 1m); more ends the command\n"
"      --ro-bind SRC:DST    a folder, read-only, at DST\n"
"      --expose DIR         a folder, read-only, at its own path; its bin\n"
"                           comes first in PATH (virtualenv, conda, pyenv)\n"
"      --tmpfs DST[:SIZE]   an empty folder of SIZE (default 64m), on top of\n"
"                           --disk; the rules bound the sum\n"
"      --net loopback       the only network a cell has\n"
"      --require LIST       of uid,net,mount,pid,ipc,seccomp,cgroup: what a cell\n"
"                           must have (default: all of them but cgroup, and\n"
"                           but uid where only bwrap is there); or none\n"
"      --json               one JSON object instead of streams\n"
"      --status-fd N        that object to descriptor N as well\n"
"      --keep               leaves the cells for a look; says where they are\n"
"  -v, --verbose            tell times and memory;  -q, --quiet: no warnings\n"
"  -h, --help               this text;  --version: version and protocol\n";

/* bailiff exec: one command in a fresh cell, with its own exit status. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bailiff.h"
#include "cancel.h"
#include "cmd.h"
#include "json.h"
#include "opts.h"
#include "tell.h"

enum {
	EXIT_TIME = 124, EXIT_OURS = 125, EXIT_NOEXEC = 126,
	EXIT_NOTFOUND = 127, EXIT_CANCELLED = 130,
	EXIT_PIPE = 128 + 13,		/* SIGPIPE, as a pipeline's others */
	STATUS_KEEP = 4096,		/* of a stream, for --status-fd alone */
	WRITE_S = 30
};

struct ex {
	struct opts o;
	const char *mode, *way;
	char	**argv;			/* the command */
	struct bailiff_command c;
	struct bailiff_pair *bind, *put, *get;
	struct bailiff_tmpfs *tmpfs;
	struct opt_list owned;		/* strings that the pairs point into */
	struct opt_list warnings;
	struct bailiff_sandbox *sandbox;
	char	 id[40];
	struct bailiff_end x;
	struct bl_err e;
	int	 meta;
};

static const char usage[] =
"usage: bailiff exec [options] -- CMD [ARG...]\n"
"\n"
"Runs CMD in a cell of its own: no network but a loopback, a read-only root,\n"
"a user of its own, private /work (where it starts), /tmp, /run and home.\n"
"stdin, stdout and stderr are passed on. The exit status is CMD's; 124:\n"
"limit of time; 125: bailiff itself failed; 126: CMD can't be executed; 127:\n"
"CMD not found; 128+n: killed by signal n (137: limit of processor time, of\n"
"output, or of memory in a control group; 153: of a file); 130: cancelled; 141:\n"
"nobody reads the output any more, and CMD was ended. Other limits are errors\n"
"that CMD sees.\n"
"\n"
"      --put SRC:DST        a file or folder, copied in (DST/: into it)\n"
"      --get SRC:DST        and out, after the end\n"
"  -w, --workdir DIR        working folder in the cell (default /work)\n"
"      --meta FILE          isolate's keys\n"
"\n";

static void
warn(struct ex *x, const char *s)
{
	struct bl_err e = { .kind = BL_KIND_NONE };

	(void)opt_add(&x->warnings, s, &e);	/* if lost: told below */
	if (!x->o.quiet)
		tell("warning: %s", s);
}

/* Splits the pairs of a list; NULL with an error set, or an array. */
static int
pairs(struct ex *x, const char *what, const struct opt_list *l,
    struct bailiff_pair **out)
{
	*out = calloc(l->n + 1, sizeof **out);
	if (*out == NULL)
		return err_memory(&x->e, "options");
	for (size_t i = 0; i < l->n; i++) {
		char *src;
		int r;

		if (opt_pair(what, l->v[i], &src, &(*out)[i].dst, &x->e) != 0)
			return -1;
		r = opt_add(&x->owned, src, &x->e);
		free(src);
		if (r != 0)
			return -1;
		(*out)[i].src = x->owned.v[x->owned.n - 1];
	}
	return 0;
}

static int
tmpfs_list(struct ex *x)
{
	x->tmpfs = calloc(x->o.tmpfs.n + 1, sizeof *x->tmpfs);
	if (x->tmpfs == NULL)
		return err_memory(&x->e, "options");
	for (size_t i = 0; i < x->o.tmpfs.n; i++) {
		char *colon;

		if (opt_add(&x->owned, x->o.tmpfs.v[i], &x->e) != 0)
			return -1;
		x->tmpfs[i].dst = x->owned.v[x->owned.n - 1];
		colon = strrchr(x->owned.v[x->owned.n - 1], ':');
		if (colon == NULL)
			continue;
		*colon = '\0';
		if (opt_size("tmpfs", colon + 1, &x->tmpfs[i].size, &x->e) != 0)
			return -1;
	}
	return 0;
}

/* stdin for the cell: -1 where there is nothing to pump. */
static int
stdin_of(void)
{
	struct stat st;

	if (fstat(0, &st) != 0 ||
	    (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) ||
	    S_ISDIR(st.st_mode))
		return -1;
	return 0;
}

static int
command_fill(struct ex *x)
{
	struct bailiff_command *c = &x->c;
	const struct opts *o = &x->o;

	bailiff_command_init(c);
	if (pairs(x, "ro-bind", &o->ro_bind, &x->bind) != 0 ||
	    pairs(x, "put", &o->put, &x->put) != 0 ||
	    pairs(x, "get", &o->get, &x->get) != 0 || tmpfs_list(x) != 0)
		return -1;
	c->argv = (const char *const *)x->argv;
	c->env = (const char *const *)o->env.v;
	c->workdir = o->workdir;
	c->timeout_ns = o->timeout_ns;
	c->cpu_ms = o->cpu_ms;
	c->memory = o->memory;
	c->fsize = o->fsize;
	c->disk = o->disk;
	c->pids = (uint32_t)o->pids;
	c->cpus_milli = (uint32_t)o->cpus_milli;
	c->require = o->require;
	c->max_output = o->max_output;
	c->no_output = o->max_output_given && o->max_output == 0;
	c->ro_bind = x->bind;
	c->nro_bind = o->ro_bind.n;
	c->expose = (const char *const *)o->expose.v;
	c->nexpose = o->expose.n;
	c->tmpfs = x->tmpfs;
	c->ntmpfs = o->tmpfs.n;
	c->put = x->put;
	c->nput = o->put.n;
	c->get = x->get;
	c->nget = o->get.n;
	c->keep_cell = o->keep;
	c->in = stdin_of();
	c->out = o->json ? -1 : 1;
	c->err = o->json ? -1 : 2;
	c->keep = o->status_fd >= 0 ? STATUS_KEEP : 0;
	if (o->json)
		c->keep = o->max_output_given ? o->max_output : 1 << 20;
	return 0;
}

/* What this build can't do is said before anything is started. */
static int
options_fit(struct ex *x)
{
	const char *warning;

	if (opts_mode(&x->o, &x->mode, &warning, &x->e) != 0)
		return -1;
	if (warning != NULL)
		warn(x, warning);
	if (x->o.image != NULL)
		return err_set(&x->e, BL_KIND_USAGE, "usage", "options", 0,
		    "--image: local mode has no images");
	if (x->o.cells)
		return err_set(&x->e, BL_KIND_USAGE, "usage", "options", 0,
		    "--cells: only for containers; on this host every command "
		    "has a full cell");
	if (x->argv[0] == NULL)
		return err_set(&x->e, BL_KIND_USAGE, "usage", "options", 0,
		    "wants a command: bailiff exec [options] -- CMD [ARG...]");
	if (x->o.meta == NULL)
		return 0;
	x->meta = open(x->o.meta, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
	    O_NOCTTY, 0666);
	if (x->meta >= 0)
		return 0;
	(void)err_set(&x->e, BL_KIND_SETUP, "meta", "options", errno,
	    "--meta: can't be written: %s", strerror(errno));
	err_object(&x->e, "%s", x->o.meta);
	return -1;
}

/*
 * true: path is a program of this host in a folder that a cell lacks and can be
 * shown.  Cells have a /tmp, /run and /work of their own.
 */
static bool
lacking(const char *path)
{
	static const char *const had[] = { "/usr/", "/bin/", "/sbin/", "/lib",
	    "/etc/", "/proc/", "/dev/", "/sys/", "/tmp/", "/var/tmp/", "/run/",
	    "/work/" };
	char *real = realpath(path, NULL);
	struct stat st;
	bool r = real != NULL && stat(real, &st) == 0 &&
	    S_ISREG(st.st_mode) && access(real, X_OK) == 0;

	for (size_t i = 0; r && i < sizeof had / sizeof had[0]; i++)
		r = strncmp(path, had[i], strlen(had[i])) != 0 &&
		    strncmp(real, had[i], strlen(had[i])) != 0;
	free(real);
	return r;
}

/* true: dir, n bytes long, has name, and path is where. */
static bool
program_in(const char *dir, size_t n, const char *sub, const char *name,
    char *path, size_t size)
{
	int len = snprintf(path, size, "%.*s%s/%s", (int)n, dir, sub, name);

	return dir[0] == '/' && len > 0 && (size_t)len < size && lacking(path);
}

static bool
program_find(const char *name, char *path, size_t size)
{
	static const char *const vars[] = { "VIRTUAL_ENV", "CONDA_PREFIX",
	    "PYENV_ROOT" };
	const char *dirs = getenv("PATH"), *env;

	if (strchr(name, '/') != NULL)
		return program_in(name, 0, "", name + 1, path, size);
	while (dirs != NULL && *dirs != '\0') {
		size_t n = strcspn(dirs, ":");

		if (program_in(dirs, n, "", name, path, size))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	for (size_t i = 0; i < sizeof vars / sizeof vars[0]; i++) {
		env = getenv(vars[i]);
		if (env != NULL && program_in(env, strlen(env), "/bin", name,
		    path, size))
			return true;
	}
	return false;
}

static bool
is_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* true: the options show it to the cell already. */
static bool
shown(const struct ex *x, const char *path)
{
	bool is = false;

	for (size_t i = 0; !is && i < x->o.ro_bind.n; i++)
		is = is_in(path, x->bind[i].dst);
	for (size_t i = 0; !is && i < x->o.expose.n; i++) {
		char *real = realpath(x->o.expose.v[i], NULL);

		is = is_in(path, x->o.expose.v[i]) ||
		    (real != NULL && is_in(path, real));
		free(real);
	}
	return is;
}

/* path becomes what it is a link to, its folder without links; false: is none. */
static bool
follow(char *path, size_t size)
{
	char to[4096], full[2 * sizeof to], *slash = strrchr(path, '/'), *real;
	ssize_t n = readlink(path, to, sizeof to - 1);
	int len;

	if (n <= 0 || slash == NULL)
		return false;
	to[n] = '\0';
	(void)snprintf(full, sizeof full, "%.*s%s", to[0] == '/' ? 0 :
	    (int)(slash + 1 - path), path, to);
	slash = strrchr(full, '/');
	*slash = '\0';
	real = realpath(slash == full ? "/" : full, NULL);
	len = real == NULL ? -1 : snprintf(path, size, "%s/%s", real,
	    slash + 1);
	free(real);
	return len > 0 && (size_t)len < size;
}

/*
 * A command that this user has, but the cell does not: in a virtualenv, below
 * a home.  The folder above its bin is what the cell lacks; where that is shown,
 * the one that the command is a link into, as a virtualenv's python is.
 */
static void
hint_expose(const struct ex *x, struct bl_err *e)
{
	char path[4096], *slash;
	unsigned hops = 0;

	if (!program_find(x->argv[0], path, sizeof path))
		return;
	for (; shown(x, path); hops++)
		if (hops == 40 || !follow(path, sizeof path))
			return;
	if ((hops > 0 && !lacking(path)) ||
	    (slash = strrchr(path, '/')) == path)
		return;
	*slash = '\0';
	slash = strrchr(path, '/');
	if (slash != path && strcmp(slash, "/bin") == 0)
		*slash = '\0';
	if (hops == 0)
		err_hint(e, "this host has it, the cell has not: --expose %s",
		    path);
	else
		err_hint(e, "it is a link to what the cell has not: add "
		    "--expose %s", path);
}

static int
group(struct ex *x)
{
	const char *warning;

	if (opts_cgroup(&x->o, &warning, &x->e) != 0)
		return -1;
	if (warning != NULL)
		warn(x, warning);
	return 0;
}

static int
run(struct ex *x)
{
	struct bailiff_error e = { .kind = BAILIFF_OK };
	const struct bailiff_ask ask = { x->o.way, x->o.require_given,
	    x->o.require, opts_way(&x->o).plain };
	char text[512];
	int r;

	if (options_fit(x) != 0 || command_fill(x) != 0)
		return -1;
	x->c.cancel = cancel_open(&x->e);
	if (x->c.cancel < 0 || group(x) != 0)
		return -1;
	r = bailiff_open(x->mode, &ask, &x->sandbox, &e);
	if (r == 0) {
		x->way = bailiff_way(x->sandbox, text, sizeof text);
		if (text[0] != '\0')
			warn(x, text);
		(void)snprintf(x->id, sizeof x->id, "%s",
		    bailiff_id(x->sandbox));
		if (opts_cpus_lost(&x->o, x->way))
			warn(x, opts_no_cpus);
		r = bailiff_exec(x->sandbox, &x->c, &x->x, &e);
		x->way = bailiff_way(x->sandbox, text, sizeof text);
	}
	bailiff_close(x->sandbox);
	err_from(&x->e, &e);
	if (r == 0 && !x->x.started && x->x.limit == BAILIFF_LIMIT_START) {
		err_from(&x->e, &x->x.why);
		if (strcmp(x->e.code, "not_found") == 0)
			hint_expose(x, &x->e);
	}
	return r;
}

/* No failure: who read the output has had enough, as of "yes | head". */
static bool
reader_gone(const struct bl_err *e)
{
	return e->err == EPIPE && strcmp(e->code, "output_failed") == 0;
}

static int
status_of(const struct ex *x, int r)
{
	const struct bailiff_end *end = &x->x;
	int w = end->wait_status;

	if (r != 0)
		return x->e.kind == BL_KIND_CANCELLED ? EXIT_CANCELLED :
		    reader_gone(&x->e) ? EXIT_PIPE : EXIT_OURS;
	if (!end->started)
		return strcmp(end->why.code, "not_found") == 0 ?
		    EXIT_NOTFOUND : EXIT_NOEXEC;
	if (end->limit == BAILIFF_LIMIT_TIME)
		return EXIT_TIME;
	if (end->limit == BAILIFF_LIMIT_OUTPUT)
		return 128 + 9;
	if (WIFSIGNALED(w))
		return end->limit != BAILIFF_LIMIT_NONE ? 128 + 9 :
		    128 + WTERMSIG(w);
	return WEXITSTATUS(w);
}

static const char *
separation(const struct bailiff_end *x)
{
	bool ns = x->net && x->mount && x->pid && x->ipc;

	if (!x->seen)
		return NULL;
	return x->uid && ns ? "users+namespaces" : ns ? "namespaces" :
	    x->uid ? "users" : "none";
}

static int
put_end(json_t *o, const struct bailiff_end *x)
{
	const struct bl_exit ended = { .wait_status = x->wait_status,
	    .limit = (uint32_t)x->limit, .wall_ns = x->wall_ns,
	    .cpu_ns = x->cpu_ns, .peak_bytes = x->peak_bytes };
	const struct cgroup_facts counted = { .oom_kills = x->oom_kills,
	    .refused = x->forks_refused };
	int r = put_evidence(o, x->started && strcmp(x->cgroup, "v2") == 0 ?
	    &counted : NULL);

	if (x->started)
		r |= put_exit(o, &ended);
	if (!x->started) {
		static const char *const names[] = { "exit_code", "signal",
		    "wall_ms", "cpu_ms", "memory_peak_bytes" };

		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
			r |= put_null(o, names[i]);
		r |= put_str(o, "limit", limit_name((uint32_t)x->limit));
	}
	r |= put_num(o, "stdout_bytes", x->out.bytes);
	r |= put_num(o, "stderr_bytes", x->err.bytes);
	r |= put_bytes(o, "stdout", x->out.data, x->out.n);
	r |= put_bytes(o, "stderr", x->err.data, x->err.n);
	r |= put_bool(o, "stdout_truncated", x->out.truncated);
	return r | put_bool(o, "stderr_truncated", x->err.truncated);
}

static int
put_seen(json_t *o, const struct bailiff_end *x)
{
	struct bl_protections p = { x->uid, x->net, x->mount, x->pid, x->ipc,
	    x->seccomp, x->cgroup, "", 0 };

	if (!x->seen)
		return put_null(o, "protections");
	memcpy(p.rules, x->rules, sizeof p.rules);
	return put_protections(o, "protections", &p);
}

static json_t *
object(const struct ex *x)
{
	json_t *o = json_object(), *v;
	int r = put_str(o, "schema", "bailiff/1");

	v = json_array();
	for (size_t i = 0; x->argv != NULL && x->argv[i] != NULL; i++)
		r |= json_array_append_new(v, text_json(x->argv[i],
		    strlen(x->argv[i])));
	r |= put_json(o, "argv", v);
	r |= put_end(o, &x->x);
	r |= put_str(o, "mode", x->mode);
	r |= put_str(o, "way", x->way);
	r |= put_str(o, "sandbox_id", x->id[0] == '\0' ? NULL : x->id);
	r |= put_str(o, "separation", separation(&x->x));
	r |= put_seen(o, &x->x);
	v = json_array();
	for (size_t i = 0; i < x->warnings.n; i++)
		r |= json_array_append_new(v, text_json(x->warnings.v[i],
		    strlen(x->warnings.v[i])));
	r |= put_json(o, "warnings", v);
	if (x->e.kind != BL_KIND_NONE)
		r |= put_err(o, "error", &x->e);
	if (r == 0)
		return o;
	json_decref(o);
	return NULL;
}

/* isolate's keys; the file was opened before anything ran.  0, or -1. */
static int
meta_write(const struct ex *x, int r)
{
	const struct bailiff_end *end = &x->x;
	const char *status = NULL;
	bool killed = end->limit != BAILIFF_LIMIT_NONE &&
	    end->limit != BAILIFF_LIMIT_START &&
	    end->limit != BAILIFF_LIMIT_PROCESSES;
	int w = end->wait_status, n = 0;
	FILE *f = fdopen(x->meta, "w");

	if (f == NULL)
		return -1;
	if (r != 0 || !end->started)
		status = "XX";
	else if (end->limit == BAILIFF_LIMIT_TIME ||
	    end->limit == BAILIFF_LIMIT_CPU)
		status = "TO";
	else if (WIFSIGNALED(w))
		status = "SG";
	else if (WEXITSTATUS(w) != 0)
		status = "RE";
	if (end->started) {
		n |= fprintf(f, "time:%.3f\ntime-wall:%.3f\nmax-rss:%llu\n",
		    (double)end->cpu_ns / 1e9, (double)end->wall_ns / 1e9,
		    (unsigned long long)(end->peak_bytes / 1024)) < 0;
		n |= fprintf(f, WIFSIGNALED(w) ? "exitsig:%d\n" :
		    "exitcode:%d\n", WIFSIGNALED(w) ? WTERMSIG(w) :
		    WEXITSTATUS(w)) < 0;
	}
	if (killed)
		n |= fprintf(f, "killed:1\n") < 0;
	if (status != NULL)
		n |= fprintf(f, "status:%s\n", status) < 0;
	if (x->e.kind != BL_KIND_NONE)
		n |= fprintf(f, "message:%s\n", x->e.message) < 0;
	else if (killed)
		n |= fprintf(f, "message:limit %s\n",
		    limit_name((uint32_t)end->limit)) < 0;
	return fclose(f) != 0 || n != 0 ? -1 : 0;
}

/* Tells everything; the exit status is known, and success said, last. */
static int
finish(struct ex *x, int r)
{
	uint64_t until = now_ns() + WRITE_S * 1000000000ULL;
	int status = status_of(x, r), bad = 0;
	json_t *o = NULL;

	if (reader_gone(&x->e))
		;
	else if (x->e.kind != BL_KIND_NONE)
		tell_err(&x->e);
	else if (x->x.limit != BAILIFF_LIMIT_NONE && !x->o.quiet &&
	    !x->o.json)
		tell("the command met its limit: %s",
		    limit_name((uint32_t)x->x.limit));
	if (x->x.holder > 0) {
		tell_kept("command", x->way, x->x.init, x->x.kept_uid);
		tell_holder(x->x.holder);
	} else if (x->o.keep && r == 0 && x->x.started)
		tell("--keep: there is no cell to keep");
	if (x->o.verbose > 0 && x->x.started)
		tell("%s: wall %.1f ms, cpu %.1f ms, peak %llu KiB", x->id,
		    (double)x->x.wall_ns / 1e6, (double)x->x.cpu_ns / 1e6,
		    (unsigned long long)(x->x.peak_bytes / 1024));
	if (x->o.json || x->o.status_fd >= 0) {
		struct bl_err e = { .kind = BL_KIND_NONE };

		o = object(x);
		if (o == NULL)
			bad = err_memory(&e, "result");
		if (bad == 0 && x->o.status_fd >= 0)
			bad = json_line(o, x->o.status_fd, until, -1, &e);
		if (bad == 0 && x->o.json) {
			bad = json_line(o, 1, until, -1, &e);
			if (reader_gone(&e)) {
				bad = 0;
				status = EXIT_PIPE;
			}
		}
		if (bad != 0)
			tell_err(&e);
		json_decref(o);
	}
	if (x->meta >= 0 && meta_write(x, r) != 0) {
		tell("--meta: can't be written");
		bad = -1;
	}
	return bad == 0 ? status : EXIT_OURS;
}

static void
ex_free(struct ex *x)
{
	free(x->bind);
	free(x->put);
	free(x->get);
	free(x->tmpfs);
	for (size_t i = 0; i < x->owned.n; i++)
		free(x->owned.v[i]);
	free(x->owned.v);
	for (size_t i = 0; i < x->warnings.n; i++)
		free(x->warnings.v[i]);
	free(x->warnings.v);
	bailiff_end_free(&x->x);
	if (x->c.cancel > 2)
		(void)close(x->c.cancel);
	opts_free(&x->o);
	free(x);
}

int
cmd_exec(int argc, char **argv)
{
	struct ex *x = calloc(1, sizeof *x);
	int at, r = -1;

	if (x == NULL) {
		tell("out of memory");
		return EXIT_OURS;
	}
	x->meta = x->c.cancel = -1;
	opts_init(&x->o, CMD_EXEC);
	at = opts_config(&x->o, NULL, NULL, &x->e);
	if (at == 0)
		at = opts_parse(&x->o, argc, argv, 1, NULL, NULL, &x->e);
	if (at > 0 && x->o.help) {
		r = fputs(usage, stdout) < 0 || fputs(opts_help, stdout) < 0 ||
		    fflush(stdout) != 0 ? EXIT_OURS : 0;
	} else if (at > 0 && x->o.version) {
		r = cmd_version() == 0 ? 0 : EXIT_OURS;
	} else {
		if (at > 0) {
			x->argv = argv + at;
			r = run(x);
		}
		r = finish(x, r);
	}
	ex_free(x);
	return r;
}

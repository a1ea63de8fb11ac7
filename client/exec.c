/* One command in a cell of its own: the library's half of bailiff exec. */
#include "bailiff.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../providers/registry.h"
#include "cells.h"
#include "cellspec.h"
#include "get.h"
#include "keep.h"
#include "provider.h"

#define SECOND 1000000000ULL
#define MIB (1ULL << 20)

enum {
	START_MS	= 30000,	/* from SPAWN to its STARTED */
	SPARE_S		= 15,		/* the helper may be late by so much */
	GET_S		= 60
};

struct bailiff_sandbox {
	struct sandbox sb;
	bool	 ready;
};

struct run {
	struct bailiff_sandbox *s;
	const struct bailiff_command *c;
	struct bailiff_end *x;
	struct bl_err *e;
	struct bl_cell_spec cs;
	struct bl_cell cell;
	struct bl_spawn spawn;
	struct specw *w;
	int	 spec;
	uint64_t wall_ns, from_ns;	/* its time; when it began */
	struct cgroup_facts counted;
};

_Static_assert((int)BAILIFF_LIMIT_START == (int)BL_LIMIT_START, "same limits");
_Static_assert((int)BAILIFF_CGROUP == (int)BL_NEED_CGROUP, "same needs");

static int
ask_in(const struct bailiff_ask *ask, struct way_ask *to, struct bl_err *e)
{
	int way = ask == NULL || ask->way == NULL ? BL_WAY_NONE :
	    way_number(ask->way);

	if (way < 0)
		return err_set(e, BL_KIND_USAGE, "usage", "provider", 0,
		    "there is no way in called \"%s\"", ask->way);
	if (ask != NULL)
		*to = (struct way_ask){ (enum bl_way)way, ask->require,
		    ask->require_given, ask->plain };
	return 0;
}

int
bailiff_cgroup(bool anywhere, struct bailiff_error *error)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	char why[200];
	int r = cgroup_enter(anywhere, why, sizeof why);

	if (r != 0) {
		(void)err_set(&e, BL_KIND_SETUP, "cgroup_missing",
		    "cell/cgroup", 0, "cells can't have control groups of "
		    "their own: %s", why);
		err_hint(&e, "see bailiff doctor, cgroup");
	}
	err_out(error, &e);
	return r == 0 ? 0 : -1;
}

int
bailiff_open(const char *mode, const struct bailiff_ask *ask,
    struct bailiff_sandbox **out, struct bailiff_error *error)
{
	struct way_ask how = { .way = BL_WAY_NONE };
	const struct provider *p = provider_find(mode);
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct bailiff_sandbox *s = NULL;
	int r;

	*out = NULL;
	if (p == NULL) {
		r = err_set(&e, BL_KIND_SETUP, "provider_missing", "provider",
		    0, "this build has no provider \"%s\"", mode);
	} else if ((s = calloc(1, sizeof *s)) == NULL) {
		r = err_memory(&e, "provider");
	} else {
		r = ask_in(ask, &how, &e);
		if (r == 0)
			r = p->create(&s->sb, &how, &e);
		if (r != 0)
			p->destroy(&s->sb);
	}
	err_out(error, &e);
	if (r == 0)
		*out = s;
	else
		free(s);
	return r;
}

const char *
bailiff_way(const struct bailiff_sandbox *s, char *text, size_t size)
{
	if (!way_warning(&s->sb.helper.way, text, size) && size > 0)
		text[0] = '\0';
	return way_name(s->sb.helper.way.way);
}

const char *
bailiff_id(const struct bailiff_sandbox *s)
{
	return s->sb.id;
}

void
bailiff_close(struct bailiff_sandbox *s)
{
	if (s == NULL)
		return;
	s->sb.by->destroy(&s->sb);
	free(s);
}

void
bailiff_command_init(struct bailiff_command *c)
{
	memset(c, 0, sizeof *c);
	c->in = c->out = c->err = c->cancel = -1;
}

void
bailiff_end_free(struct bailiff_end *x)
{
	free(x->out.data);
	free(x->err.data);
	x->out.data = x->err.data = NULL;
}

static int
places(struct run *r)
{
	const struct bailiff_command *c = r->c;
	int bad = 0;

	for (size_t i = 0; bad == 0 && i < c->nro_bind; i++)
		bad = cellspec_bind(&r->cs, c->ro_bind[i].src,
		    c->ro_bind[i].dst, "--ro-bind", r->e);
	for (size_t i = 0; bad == 0 && i < c->nexpose; i++)
		bad = cellspec_expose(&r->cs, c->expose[i], r->e);
	for (size_t i = 0; bad == 0 && i < c->ntmpfs; i++)
		bad = cellspec_tmpfs(&r->cs, c->tmpfs[i].dst, c->tmpfs[i].size,
		    r->e);
	if (bad != 0 && r->e->err == ENOTDIR)
		err_hint(r->e, "--put copies a single file in");
	return bad;
}

/* The folders above dst, which may not be there yet. */
static int
parents(struct run *r, const char *dst)
{
	char part[4096];

	for (size_t i = 1; dst[i] != '\0'; i++) {
		if (dst[i] != '/' || dst[i - 1] == '/' || i >= sizeof part)
			continue;
		memcpy(part, dst, i);
		part[i] = '\0';
		if (specw_dir(r->w, part, 0755, r->e) != 0)
			return -1;
	}
	return 0;
}

static int
put_one(struct run *r, const struct bailiff_pair *p)
{
	size_t n = strlen(p->dst), m = strlen(p->src), cut;
	char dst[4096];
	int len;

	while (m > 1 && p->src[m - 1] == '/')
		m--;
	for (cut = m; cut > 0 && p->src[cut - 1] != '/'; cut--)
		;
	/* "dir/" means: in there, under its own name. */
	len = snprintf(dst, sizeof dst, "%s%.*s", p->dst,
	    n > 0 && p->dst[n - 1] == '/' ? (int)(m - cut) : 0, p->src + cut);
	if (len <= 0 || (size_t)len >= sizeof dst)
		return err_set(r->e, BL_KIND_USAGE, "bad_path", "put", 0,
		    "a destination is empty or too long");
	if (parents(r, dst) != 0)
		return -1;
	return specw_tree(r->w, p->src, dst, BL_SPEC_BYTES, r->e);
}

static int
path_env(struct run *r)
{
	uint32_t first = (uint32_t)r->c->nro_bind;
	char kv[4096];

	if (r->c->nexpose == 0)
		return 0;
	cellspec_path(&r->cs, first, first + (uint32_t)r->c->nexpose, kv,
	    sizeof kv);
	return specw_env(r->w, kv, r->e);
}

static int
spec_make(struct run *r)
{
	const struct bailiff_command *c = r->c;
	int bad = 0;

	r->w = specw_new();
	if (r->w == NULL)
		return err_memory(r->e, "spec");
	if (c->argv == NULL || c->argv[0] == NULL || c->argv[0][0] == '\0')
		return err_set(r->e, BL_KIND_USAGE, "no_command", "spec", 0,
		    "there is no command");
	for (size_t i = 0; bad == 0 && c->argv[i] != NULL; i++)
		bad = specw_arg(r->w, c->argv[i], r->e);
	if (bad == 0)
		bad = specw_base_env(r->w, BL_ROLE_ANSWER, r->e);
	if (bad == 0)
		bad = path_env(r);
	for (size_t i = 0; bad == 0 && c->env != NULL && c->env[i] != NULL; i++)
		bad = specw_env(r->w, c->env[i], r->e);
	if (c->workdir != NULL)
		specw_cwd(r->w, c->workdir);
	for (size_t i = 0; bad == 0 && i < c->nput; i++)
		bad = put_one(r, &c->put[i]);
	if (bad == 0)
		r->spec = specw_seal(r->w, r->e);
	return bad == 0 && r->spec >= 0 ? 0 : -1;
}

static void
limits(struct run *r)
{
	const struct bailiff_command *c = r->c;
	struct bl_cell_spec *cs = &r->cs;

	r->wall_ns = c->timeout_ns != 0 ? c->timeout_ns : 30 * SECOND;
	cs->deadline_ns = now_ns() + r->wall_ns +
	    (c->nget > 0 ? SPARE_S + GET_S : SPARE_S) * SECOND;
	cs->disk = c->disk;
	cs->limits.memory = c->memory;
	cs->limits.fsize = c->fsize;
	cs->limits.pids = c->pids;
	cs->cpus_milli = c->cpus_milli;
	cs->cpus_given = c->cpus_milli != 0;
	cs->limits.cpu_ms = c->cpu_ms > UINT32_MAX ? UINT32_MAX :
	    (uint32_t)c->cpu_ms;
	cellspec_limits(cs);
}

/* Waits for STARTED or FAIL; nothing of the command runs before STARTED. */
static int
await_start(struct run *r)
{
	uint64_t until = now_ns() + START_MS * 1000000ULL;
	struct pollfd p[2] = { { .fd = r->spawn.reply, .events = POLLIN },
	    { .fd = r->c->cancel, .events = POLLIN } };

	while (!r->spawn.started && !r->spawn.ended) {
		int n, ms = ms_until(until);

		if (ms == 0)
			return err_set(r->e, BL_KIND_INFRA, "cell_silent",
			    "spawn/start", 0, "the command was not started in "
			    "time");
		n = poll(p, 2, ms);
		if (n > 0 && p[1].revents != 0)
			return err_set(r->e, BL_KIND_CANCELLED, "cancelled",
			    "spawn/start", 0, "cancelled");
		if (n > 0 && spawn_event(&r->spawn, 0, r->e) < 0)
			return -1;
	}
	return 0;
}

/* Fail closed: what was required must have been seen. */
static int
look(struct run *r)
{
	struct bl_protections p = { 0 };
	struct bailiff_end *x = r->x;

	/* it ended, and nobody has said how it began: no look was possible */
	if (!r->spawn.started && r->spawn.end.kind == BL_EV_EXIT &&
	    r->spawn.end.u.exit.limit == BL_LIMIT_NONE)
		return err_set(r->e, BL_KIND_INFRA, "cell_silent",
		    "spawn/start", 0, "the cell's init did not tell of the "
		    "command's start");
	if (!r->spawn.started)
		return 0;
	protections_of(&r->s->sb.helper, &r->cell, &r->spawn.start.u.seen, true,
	    &p);
	x->seen = true;
	x->uid = p.uid;
	x->net = p.net;
	x->mount = p.mount;
	x->pid = p.pid;
	x->ipc = p.ipc;
	x->seccomp = p.seccomp;
	x->cgroup = p.cgroup;
	memcpy(x->rules, p.rules, sizeof x->rules);
	return cellspec_seen(&r->cs, &p, r->e);
}

static void
stream_out(struct bailiff_stream *to, struct pump_stream *from)
{
	to->data = from->data;		/* it is the result's now */
	to->n = from->n;
	to->bytes = from->bytes;
	to->truncated = from->bytes > from->n;
	from->data = NULL;
}

/* Why the command was not started: a fact about it, or a failure of ours. */
static int
not_started(struct run *r)
{
	const struct bl_rep *p = &r->spawn.end;
	struct bl_err why = { .kind = BL_KIND_NONE };
	const char *path;
	bool missing = p->status == -ENOENT || p->status == -ENOTDIR;

	if (p->step != BL_AT_EXEC) {
		(void)err_at(r->e, p->step, p->object, p->status);
		path = p->step == BL_AT_STEP ?
		    specw_step_path(r->w, p->object) :
		    p->step == BL_AT_CHDIR && p->object == 1 ?
		    r->c->workdir : NULL;
		if (path != NULL)
			(void)snprintf(r->e->object, sizeof r->e->object, "%s",
			    path);
		if (p->step == BL_AT_STEP &&
		    (p->status == -EROFS || p->status == -EACCES))
			err_hint(r->e, "files go below /work, /tmp, /var/tmp "
			    "or the home; --ro-bind shows a folder elsewhere");
		return -1;
	}
	(void)err_set(&why, BL_KIND_SETUP, missing ? "not_found" :
	    "not_executable", "spawn/exec", p->status, missing ?
	    "not found in the cell, or its interpreter is not: %s" :
	    "can't be executed: %s", strerror(-p->status));
	err_object(&why, "%s", r->c->argv[0]);
	err_out(&r->x->why, &why);
	r->x->limit = BAILIFF_LIMIT_START;
	return 0;
}

/* The cell is torn down while the rest of the output is written. */
static void
on_end(void *ctx)
{
	struct run *r = ctx;

	cgroup_read(&r->cell.group, &r->counted);
	if (r->c->nget == 0 && !r->c->keep_cell)
		cell_close(&r->cell);
}

/* What the cell's control group has counted, where it has one. */
static void
counted(struct run *r)
{
	struct bl_exit x = { .wait_status = r->x->wait_status,
	    .limit = r->x->limit, .cpu_ns = r->x->cpu_ns,
	    .peak_bytes = r->x->peak_bytes };

	cgroup_facts_of(&r->counted, &x);
	r->x->limit = (enum bailiff_limit)x.limit;
	r->x->cpu_ns = x.cpu_ns;
	r->x->peak_bytes = x.peak_bytes;
	r->x->oom_kills = r->counted.oom_kills;
	r->x->forks_refused = r->counted.refused;
}

/*
 * A cell that has used up its memory may lose its init, which is in the same
 * control group: that is the command's end like any other, no failure of ours.
 */
static int
out_of_memory(struct run *r)
{
	struct cgroup_facts now = r->counted;

	if (!r->spawn.started || r->x->started ||
	    strcmp(r->e->code, "cell_gone") != 0)
		return -1;
	cgroup_read(&r->cell.group, &now);
	if (!cgroup_ran_out(&now, NULL))
		return -1;
	r->counted = now;
	r->e->kind = BL_KIND_NONE;
	r->x->started = true;
	r->x->wait_status = SIGKILL;
	r->x->limit = BAILIFF_LIMIT_MEMORY;
	r->x->wall_ns = now_ns() - r->from_ns;
	counted(r);
	return 0;
}

static int
run_pump(struct run *r)
{
	const struct bailiff_command *c = r->c;
	uint64_t max = c->max_output == 0 && !c->no_output ? MIB :
	    c->max_output;
	struct pump p = { .from = c->in, .cancel_fd = c->cancel,
	    .out = { .to = c->out, .keep = c->keep, .max = max },
	    .err = { .to = c->err, .keep = c->keep, .max = max },
	    .result = { .to = -1 }, .on_end = on_end, .ctx = r };
	int bad;

	r->from_ns = now_ns();
	p.until_ns = r->from_ns + r->wall_ns + SPARE_S * SECOND;
	bad = pump_run(&p, &r->spawn, r->e);
	stream_out(&r->x->out, &p.out);
	stream_out(&r->x->err, &p.err);
	pump_free(&p);
	if (r->spawn.ended && r->spawn.end.kind == BL_EV_EXIT) {
		const struct bl_exit *x = &r->spawn.end.u.exit;

		r->x->started = true;
		r->x->wait_status = x->wait_status;
		r->x->limit = x->limit < BL_LIMIT_MAX ?
		    (enum bailiff_limit)x->limit : BAILIFF_LIMIT_NONE;
		r->x->wall_ns = x->wall_ns;
		r->x->cpu_ns = x->cpu_ns;
		r->x->peak_bytes = x->peak_bytes;
		if ((p.out.capped || p.err.capped) &&
		    r->x->limit != BAILIFF_LIMIT_TIME)
			r->x->limit = BAILIFF_LIMIT_OUTPUT;
		counted(r);
	}
	if (bad != 0)
		return -1;
	return r->spawn.end.kind == BL_EV_FAIL ? not_started(r) : 0;
}

static int
sandbox_ready(struct run *r)
{
	struct bailiff_sandbox *s = r->s;

	if (s->ready)
		return 0;
	if (s->sb.by->ready(&s->sb, r->e) != 0)
		return -1;
	s->ready = true;
	return 0;
}

/*
 * The helper makes the cell as soon as it has started: the request for it
 * waits there already, where the sandbox has a session before it is ready.
 */
static int
cell_made(struct run *r)
{
	struct bl_helper *h = &r->s->sb.helper;
	bool early = h->sock >= 0;

	limits(r);
	if (early)
		cell_ask(h, &r->cs, &r->cell);
	if (sandbox_ready(r) != 0)
		return -1;
	if (!early)
		cell_ask(h, &r->cs, &r->cell);
	return cell_take(h, &r->cs, &r->cell, r->e);
}

static int
run_cell(struct run *r)
{
	const struct bailiff_command *c = r->c;
	unsigned flags = SPAWN_OUT | SPAWN_ERR | (c->in >= 0 ? SPAWN_IN : 0U);

	if (spawn_open(&r->spawn, flags, r->e) != 0 || cell_made(r) != 0 ||
	    spawn_send(&r->cell, r->spec, r->wall_ns, &r->spawn, r->e) != 0 ||
	    await_start(r) != 0 || look(r) != 0 || run_pump(r) != 0)
		return -1;
	if (!r->x->started)
		return 0;
	for (size_t i = 0; i < c->nget; i++)
		if (get_tree(&r->cell, c->get[i].src, c->get[i].dst,
		    r->cs.disk, c->cancel, r->e) != 0)
			return -1;
	return 0;
}

/* That it can't be kept is the machinery's failure: it was asked for. */
static int
keep(struct run *r)
{
	struct bl_cell *const cells[] = { &r->cell };
	struct kept k;

	if (!r->c->keep_cell || r->cell.owner < 0 || !r->x->seen)
		return 0;
	if (keep_cells(&r->s->sb.helper, cells,
	    &r->spawn.start.u.seen.ns[2], 1, &k, r->e) != 0)
		return -1;
	r->x->holder = k.holder;
	r->x->init = k.cell[0].init;
	r->x->kept_uid = k.cell[0].uid;
	return 0;
}

int
bailiff_exec(struct bailiff_sandbox *s, const struct bailiff_command *c,
    struct bailiff_end *x, struct bailiff_error *error)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct run *r = calloc(1, sizeof *r);
	int bad;

	memset(x, 0, sizeof *x);
	x->cgroup = "none";
	if (r == NULL) {
		bad = err_memory(&e, "exec");
		err_out(error, &e);
		return bad;
	}
	r->s = s;
	r->c = c;
	r->x = x;
	r->e = &e;
	r->spec = r->cell.owner = -1;
	r->spawn = (struct bl_spawn){ .reply = -1, .in = -1, .out = -1,
	    .err = -1, .result = -1, .listener = -1 };
	cellspec_init(&r->cs);
	r->cs.role = BL_ROLE_ANSWER;
	r->cs.need |= c->require & BL_NEED_CGROUP;
	r->cs.lasts = c->keep_cell;
	bad = places(r);
	if (bad == 0)
		bad = spec_make(r);
	if (bad == 0)
		bad = run_cell(r);
	if (bad != 0)
		bad = out_of_memory(r);
	if (keep(r) != 0)
		bad = -1;
	spawn_close(&r->spawn);
	cell_close(&r->cell);
	cellspec_close(&r->cs);
	if (r->spec >= 0)
		(void)close(r->spec);
	specw_free(r->w);
	free(r);
	err_out(error, &e);
	return bad;
}

/*
 * A judged run: a judge in one cell, the answer in another.
 *
 * The judge starts answers by itself, as a guest of the answer's cell.  The
 * kernel's word on each of them comes here on the report socket; what only
 * the judge's side knows (command, bytes) comes as a note on the run socket
 * and is believed to be no more than that.
 */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cellspec.h"
#include "json.h"
#include "note.h"
#include "provider.h"

enum {
	CONNS_MAX	= 256,
	KEPT_MAX	= 64 << 20,	/* bytes of all answers' output */
	STDERR_KEPT	= 64 << 10,
	GRACE_MAX_S	= 10,
	SLACK_S		= 5,		/* cell init acts on time; we allow for it */
	DRAIN_MS	= 1000
};

/* BAILIFF_ANSWER, as it is built: client/answer_blob.S. */
extern const char bl_answer_blob[], bl_answer_blob_end[];

struct entry {				/* one answer run */
	uint32_t spawn;
	bool	 started, ended, noted;
	struct bl_rep end;		/* EXIT or FAIL */
	struct note note;
	char	*bytes;			/* argv, stdout, stderr as noted; owned */
};

struct conn {				/* one BAILIFF_ANSWER that speaks */
	int	 fd;			/* -1: free */
	struct note note;
	char	*bytes;
	size_t	 n, want;		/* of bytes; want 0: the note comes first */
};

struct run {
	const struct judge_plan *p;
	struct result *r;
	struct sandbox box;
	bool	 boxed;
	int	 answer_spec, judge_spec;	/* of the files of each */
	struct bl_cell judge, answer;
	uint64_t deadline;		/* of the judge */
	struct bl_spawn js;
	int	 report, ep;
	struct entry *entry;
	size_t	 n, room;
	bool	 ran;			/* some answer has run in its cell */
	struct conn conn[CONNS_MAX];
	bool	 deaf;			/* no room for another conn: not watched */
	size_t	 kept;			/* bytes of notes in entries */
	struct {
		struct note_conf c;
		char env[NOTE_ENV_MAX];
	} conf;
};

static int
no_memory(struct bl_err *e)
{
	return err_set(e, BL_KIND_INFRA, "no_memory", "judge", ENOMEM,
	    "out of memory");
}

static void
fd_shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* No verdict can come of this run any more. */
static void
give_up(struct run *u)
{
	spawn_kill(&u->js);
}

/* --- what answers did ---------------------------------------------------- */

/* The entry of a spawn, made if need be; NULL when there is no room. */
static struct entry *
entry_of(struct run *u, uint32_t spawn)
{
	for (size_t i = u->n; i > 0; i--)
		if (u->entry[i - 1].spawn == spawn)
			return &u->entry[i - 1];
	if (u->n == RESULT_ANSWERS_MAX)
		return NULL;
	if (u->n == u->room) {
		size_t room = u->room == 0 ? 16 : u->room * 2;
		struct entry *v = reallocarray(u->entry, room, sizeof *v);

		if (v == NULL) {
			(void)no_memory(&u->r->fail);
			give_up(u);
			return NULL;
		}
		u->entry = v;
		u->room = room;
	}
	u->entry[u->n] = (struct entry){ .spawn = spawn };
	return &u->entry[u->n++];
}

/*
 * An answer that could not be started.  Its command, its folder and what the
 * judge asked for are facts for the judge.  A cell that has run no answer yet
 * and can't start one is a broken machine; later, the answer may have seen to
 * it (by filling the memory that its cell counts), so that it is a fact too.
 */
static bool
is_fact(const struct run *u, const struct bl_rep *fail)
{
	if (fail->step == BL_AT_FORK || fail->step == BL_AT_LAUNCH ||
	    fail->step == BL_AT_BECOME)
		return u->ran;
	return true;
}

static void
report_take(struct run *u, const struct bl_rep *p)
{
	struct entry *a;

	u->r->omitted += p->lost;
	if (p->kind == BL_EV_FAIL && !is_fact(u, p)) {
		(void)err_at(&u->r->fail, p->step, p->object, p->status);
		give_up(u);
	}
	a = entry_of(u, p->spawn);
	if (p->kind == BL_EV_STARTED) {
		u->ran = true;
		if (a != NULL)
			a->started = true;
		return;
	}
	if (a == NULL) {
		u->r->omitted++;
		return;
	}
	a->ended = true;
	a->end = *p;
}

static void
cell_lost(struct run *u, const char *step)
{
	(void)err_set(&u->r->fail, BL_KIND_INFRA, "cell_gone", step, 0,
	    "the answer's cell is gone");
	give_up(u);
}

/* The kernel's word, by way of cell init. */
static void
report_read(struct run *u)
{
	struct bl_rep p;
	ssize_t n;

	for (;;) {
		n = recv(u->report, &p, sizeof p, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n != (ssize_t)sizeof p || bl_rep_check(&p) != 0 ||
		    p.kind < BL_EV_STARTED) {
			fd_shut(&u->report);
			cell_lost(u, "judge/report");
			return;
		}
		report_take(u, &p);
	}
}

/* The owner socket says nothing, until its cell's end. */
static void
owner_read(struct run *u)
{
	char c;
	ssize_t n = recv(u->answer.owner, &c, 1, MSG_DONTWAIT | MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	(void)epoll_ctl(u->ep, EPOLL_CTL_DEL, u->answer.owner, NULL);
	cell_lost(u, "judge/answer_cell");
}

/* --- what BAILIFF_ANSWER says -------------------------------------------- */

static int
watch(struct run *u, int fd, void *what)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP,
	    .data = { .ptr = what } };

	if (epoll_ctl(u->ep, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	return err_set(&u->r->fail, BL_KIND_INFRA, "no_descriptors",
	    "judge/watch", errno, "epoll: %s", strerror(errno));
}

static void
conn_drop(struct run *u, struct conn *c)
{
	fd_shut(&c->fd);
	free(c->bytes);
	c->bytes = NULL;
	c->n = c->want = 0;
	if (u->deaf && watch(u, u->js.listener, &u->js) == 0)
		u->deaf = false;
}

/* Everyone who is there, and what they need to know at once. */
static void
conns_accept(struct run *u)
{
	size_t n = sizeof u->conf.c + u->conf.c.env_bytes;

	for (unsigned i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &u->conn[i];

		if (c->fd >= 0)
			continue;
		c->fd = accept4(u->js.listener, NULL, NULL, SOCK_CLOEXEC);
		if (c->fd < 0 && errno == EAGAIN)
			return;
		if (c->fd < 0)
			break;
		if (send(c->fd, &u->conf, n, MSG_DONTWAIT | MSG_NOSIGNAL) !=
		    (ssize_t)n || watch(u, c->fd, c) != 0)
			conn_drop(u, c);
	}
	/* no room, or no descriptor: they wait for the end of another one */
	(void)epoll_ctl(u->ep, EPOLL_CTL_DEL, u->js.listener, NULL);
	u->deaf = true;
}

/* A note's strings are argc many, each with its end. */
static bool
argv_sound(const struct note *n, const char *bytes)
{
	uint32_t ends = 0;

	for (uint32_t i = 0; i < n->argv_bytes; i++)
		ends += bytes[i] == '\0';
	return ends == n->argc &&
	    (n->argv_bytes == 0 || bytes[n->argv_bytes - 1] == '\0');
}

/* true: n may be believed as far as sizes go. */
static bool
note_sound(const struct run *u, const struct note *n)
{
	return n->magic == NOTE_MAGIC && n->version == NOTE_VERSION &&
	    (n->flags & ~(uint32_t)NOTE_FLAGS) == 0 &&
	    n->argv_bytes <= NOTE_ARGV_MAX && n->argc <= n->argv_bytes &&
	    n->out_kept <= u->p->keep_output &&
	    n->err_kept <= u->p->keep_output &&
	    n->out_kept <= n->out_bytes && n->err_kept <= n->err_bytes;
}

/* A whole note: kept with its entry, unless that has one. */
static void
note_take(struct run *u, struct conn *c)
{
	struct entry *a;

	if ((c->note.flags & NOTE_STREAM) != 0)
		result_warn(u->r, "the judge let an answer inherit the stream "
		    "that its verdict is read from; the answer's output was "
		    "kept out of it");
	if (!argv_sound(&c->note, c->bytes))
		return;
	a = entry_of(u, c->note.spawn);
	if (a == NULL || a->noted)
		return;
	a->noted = true;
	a->note = c->note;
	if (u->kept + c->want > KEPT_MAX) {
		/* the command stays, the output goes */
		c->want = c->note.argv_bytes;
		a->note.out_kept = a->note.err_kept = 0;
	}
	u->kept += c->want;
	a->bytes = c->bytes;
	c->bytes = NULL;
}

/* The first datagram.  0, or -1: no note, or too large a one. */
static int
note_head(struct run *u, struct conn *c, ssize_t n)
{
	if (n != (ssize_t)sizeof c->note || !note_sound(u, &c->note))
		return -1;
	if ((c->note.flags & NOTE_BROKEN) != 0) {
		(void)err_set(&u->r->fail, BL_KIND_INFRA, "answer_program",
		    "judge/answer", (int)c->note.spawn,
		    "BAILIFF_ANSWER could not do its work: %s",
		    strerror((int)(c->note.spawn & 4095)));
		give_up(u);
		return -1;
	}
	c->want = (size_t)c->note.argv_bytes + c->note.out_kept +
	    c->note.err_kept;
	c->bytes = malloc(c->want + 1);
	return c->bytes == NULL ? -1 : 0;
}

static void
conn_read(struct run *u, struct conn *c)
{
	static char chunk[NOTE_CHUNK];
	ssize_t n;

	for (;;) {
		if (c->bytes == NULL)
			n = recv(c->fd, &c->note, sizeof c->note,
			    MSG_DONTWAIT | MSG_TRUNC);
		else
			n = recv(c->fd, chunk, sizeof chunk,
			    MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			break;
		if (c->bytes == NULL) {
			if (note_head(u, c, n) != 0)
				break;
		} else {
			if ((size_t)n > sizeof chunk ||
			    (size_t)n > c->want - c->n)
				break;
			memcpy(c->bytes + c->n, chunk, (size_t)n);
			c->n += (size_t)n;
		}
		if (c->n == c->want) {
			note_take(u, c);
			break;
		}
	}
	conn_drop(u, c);
}

/* One look at everything but the judge's own streams.  false: nothing there. */
static bool
watch_step(struct run *u, int wait_ms)
{
	struct epoll_event ev[32];
	int n = epoll_wait(u->ep, ev, 32, wait_ms);

	for (int i = 0; i < n; i++) {
		void *what = ev[i].data.ptr;

		if (what == &u->report && u->report >= 0)
			report_read(u);
		else if (what == &u->answer)
			owner_read(u);
		else if (what == &u->js)
			conns_accept(u);
		else if (what >= (void *)u->conn &&
		    what < (void *)(u->conn + CONNS_MAX))
			conn_read(u, what);
	}
	return n > 0;
}

static void
on_extra(void *ctx, int fd, short revents)
{
	(void)fd;
	(void)revents;
	(void)watch_step(ctx, 0);
}

/* The judge has ended: its last answers' ends and notes are on their way. */
static void
drain(struct run *u)
{
	uint64_t until = now_ns() + DRAIN_MS * 1000000ULL;

	for (;;) {
		bool open = false;

		while (watch_step(u, 0))
			;
		for (size_t i = 0; i < u->n; i++)
			open |= u->entry[i].started && !u->entry[i].ended;
		if (!open || u->report < 0 || now_ns() >= until)
			return;
		(void)watch_step(u, 20);
	}
}

/* --- what the result says of answers ------------------------------------- */

static int
put_argv(json_t *o, const struct entry *a)
{
	json_t *v = json_array();
	const char *s = a->bytes;
	int bad = v == NULL;

	for (uint32_t i = 0; a->noted && i < a->note.argc; i++) {
		bad |= json_array_append_new(v, text_json(s, strlen(s)));
		s += strlen(s) + 1;
	}
	return bad | put_json(o, "argv", v);
}

static int
put_streams(json_t *o, const struct entry *a)
{
	const struct note *n = &a->note;
	const char *out = a->noted ? a->bytes + n->argv_bytes : "";
	const char *err = out + n->out_kept;
	bool over = (n->flags & NOTE_OUTPUT) != 0;
	int bad = 0;

	bad |= put_num(o, "stdout_bytes", n->out_bytes);
	bad |= put_num(o, "stderr_bytes", n->err_bytes);
	bad |= put_bytes(o, "stdout", out, n->out_kept);
	bad |= put_bytes(o, "stderr", err, n->err_kept);
	bad |= put_bool(o, "stdout_truncated", n->out_bytes > n->out_kept ||
	    (over && n->out_bytes >= n->err_bytes));
	return bad | put_bool(o, "stderr_truncated",
	    n->err_bytes > n->err_kept ||
	    (over && n->err_bytes >= n->out_bytes));
}

/* How it ended: cell init's word, but for the cap, which is not its own. */
static int
put_end(json_t *o, const struct entry *a)
{
	struct bl_exit x = a->end.u.exit;
	int bad = 0;

	if (a->ended && a->end.kind == BL_EV_EXIT) {
		if (x.limit == BL_LIMIT_NONE &&
		    (a->note.flags & NOTE_OUTPUT) != 0)
			x.limit = BL_LIMIT_OUTPUT;
		return put_exit(o, &x);
	}
	bad |= put_null(o, "exit_code");
	bad |= put_null(o, "signal");
	bad |= put_str(o, "limit", a->ended ? limit_name(BL_LIMIT_START) :
	    NULL);
	bad |= put_num(o, "wall_ms", 0);
	bad |= put_num(o, "cpu_ms", 0);
	return bad | put_num(o, "memory_peak_bytes", 0);
}

static void
answers_tell(struct run *u)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct entry *a = &u->entry[i];
		json_t *o;

		/* a note about what cell init never heard of is no fact */
		if (!a->started && !a->ended)
			continue;
		o = json_object();
		if ((put_argv(o, a) | put_end(o, a) | put_streams(o, a)) != 0) {
			json_decref(o);
			(void)no_memory(&u->r->fail);
			return;
		}
		if (json_array_append_new(u->r->answers, o) != 0)
			(void)no_memory(&u->r->fail);
	}
}

/* --- setting up ---------------------------------------------------------- */

static int
conf_make(struct run *u)
{
	const struct judge_plan *p = u->p;
	struct note_conf *c = &u->conf.c;

	c->magic = NOTE_MAGIC;
	c->version = NOTE_VERSION;
	c->wall_ns = p->answer_ns;
	c->max_output = p->max_output;
	c->keep = p->keep_output;
	for (size_t i = 0; i < p->nvars; i++) {
		size_t n = strlen(p->vars[i]) + 1;

		if (n > sizeof u->conf.env - c->env_bytes)
			return err_set(&u->r->fail, BL_KIND_SETUP,
			    "too_many_variables", "judge/env", E2BIG,
			    "variables have more than %d bytes",
			    NOTE_ENV_MAX);
		memcpy(u->conf.env + c->env_bytes, p->vars[i], n);
		c->env_bytes += (uint32_t)n;
		c->nenv++;
	}
	return 0;
}

/* So that BAILIFF_ANSWER knows the streams that it must not write to. */
static void
conf_stream(struct run *u, unsigned i, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return;
	u->conf.c.verdict[i].dev = st.st_dev;
	u->conf.c.verdict[i].ino = st.st_ino;
}

static int
cells_open(struct run *u)
{
	struct bl_helper *h = &u->box.helper;
	struct bl_err *e = &u->r->fail;
	struct bl_cell_spec s = u->p->cell;
	uint64_t grace = u->p->judge_ns / 4;

	if (grace > GRACE_MAX_S * 1000000000ULL)
		grace = GRACE_MAX_S * 1000000000ULL;
	cellspec_limits(&s, &h->hello);
	u->conf.c.limits.memory = s.limits.memory;
	u->deadline = now_ns() + u->p->judge_ns;
	s.role = BL_ROLE_JUDGE;
	s.deadline_ns = u->deadline;
	if (cell_open(h, &s, &u->judge, e) != 0)
		return -1;
	s.role = BL_ROLE_ANSWER;
	s.deadline_ns = u->deadline - grace;
	return cell_open(h, &s, &u->answer, e);
}

/* Seals w and frees it. */
static int
seal(struct specw *w, int r, struct bl_err *e)
{
	int fd = r == 0 ? specw_seal(w, e) : -1;

	specw_free(w);
	return fd;
}

/* What goes into each cell, read while the helper starts. */
static int
files_read(struct run *u)
{
	const struct judge_plan *p = u->p;
	struct bl_err *e = &u->r->fail;
	struct specw *a = specw_new(), *j = specw_new();
	int r;

	if (a == NULL || j == NULL) {
		specw_free(a);
		specw_free(j);
		return no_memory(e);
	}
	r = specw_put_fd(a, p->answer_name, 0644, p->answer, e);
	u->answer_spec = seal(a, r, e);
	if (r == 0)
		r = deepgym_put(p->env, j, p->answer_name, e);
	if (r == 0)
		r = specw_put_fd(j, p->answer_name, 0644, p->answer, e);
	if (r == 0)
		r = specw_dir(j, NOTE_DIR, 0700, e);
	if (r == 0)
		r = specw_put(j, NOTE_PROGRAM, 0755, bl_answer_blob,
		    (size_t)(bl_answer_blob_end - bl_answer_blob), e);
	if (r == 0)
		r = specw_listen(j, NOTE_GUEST, e);
	u->judge_spec = seal(j, r, e);
	return u->answer_spec < 0 || u->judge_spec < 0 ? -1 : 0;
}

/* Waits for the end of a spawn that only writes files. */
static int
files_done(struct run *u, struct bl_spawn *s, const char *whose)
{
	struct bl_err *e = &u->r->fail;
	uint64_t until = u->deadline + SLACK_S * 1000000000ULL;
	int r = 1;

	while (!s->ended && r > 0)
		r = spawn_event(s, until, e);
	if (r <= 0)
		return r < 0 ? -1 : err_set(e, BL_KIND_INFRA, "cell_silent",
		    "judge/files", ETIMEDOUT,
		    "the %s's cell did not take its files in time", whose);
	if (s->end.kind == BL_EV_EXIT) {
		if (s->end.u.exit.wait_status == 0)
			return 0;
		return err_set(e, BL_KIND_INFRA, "files_not_written",
		    "judge/files", 0, "the %s's files could not be written",
		    whose);
	}
	if (s->end.step == BL_AT_STEP && (s->end.status == -ENOSPC ||
	    s->end.status == -EFBIG))
		return err_set(e, BL_KIND_SETUP, "files_too_large",
		    "judge/files", s->end.status,
		    "the %s's files need more room than --disk and --fsize "
		    "give", whose);
	return err_at(e, s->end.step, s->end.object, s->end.status);
}

/* What holds for both cells; less than was required ends the run. */
static int
look(struct run *u, const struct bl_spawn *j, const struct bl_spawn *a)
{
	struct bl_protections b, *to = &u->r->prot;
	bool net = (u->p->cell.need & BL_NEED_NET) != 0;

	protections_of(&u->box.helper, &u->judge, &j->start.u.seen, net, to);
	protections_of(&u->box.helper, &u->answer, &a->start.u.seen, net, &b);
	to->uid = to->uid && b.uid &&
	    u->judge.info.uid != u->answer.info.uid;
	to->net = to->net && b.net;
	to->mount = to->mount && b.mount;
	to->pid = to->pid && b.pid;
	to->ipc = to->ipc && b.ipc;
	to->seccomp = to->seccomp && b.seccomp;
	if (strcmp(b.cgroup, "none") == 0)
		to->cgroup = b.cgroup;
	u->r->seen = true;
	return cellspec_seen(&u->p->cell, to, &u->r->fail);
}

/* Files into both cells at once; then answers may be asked for. */
static int
files_write(struct run *u)
{
	struct bl_err *e = &u->r->fail;
	struct bl_spawn a, j;
	int r;

	if (cell_spawn(&u->answer, u->answer_spec, 0, 0, &a, e) != 0)
		return -1;
	if (cell_spawn(&u->judge, u->judge_spec, 0, 0, &j, e) != 0) {
		spawn_close(&a);
		return -1;
	}
	r = files_done(u, &a, "answer");
	if (r == 0)
		r = files_done(u, &j, "judge");
	if (r == 0 && j.listener < 0)
		r = err_set(e, BL_KIND_INFRA, "protocol", "judge/files",
		    EPROTO, "no listener came from the judge's cell");
	if (r == 0)
		r = cell_listen(&u->answer, j.listener, &u->report, e);
	if (r == 0)
		r = look(u, &j, &a);
	spawn_close(&a);
	spawn_close(&j);
	return r;
}

/* --- the judge ----------------------------------------------------------- */

static int
judge_spec(struct run *u, struct specw *w)
{
	const struct judge_plan *p = u->p;
	struct bl_err *e = &u->r->fail;
	int r = 0;

	if (p->env->python) {
		r |= specw_arg(w, "python3", e);
		r |= specw_arg(w, p->env->judge_name, e);
	} else {
		char path[64];

		(void)snprintf(path, sizeof path, "./%s", p->env->judge_name);
		r |= specw_arg(w, path, e);
	}
	r |= specw_arg(w, p->answer_name, e);
	if (p->env->tests)
		r |= specw_arg(w, "test_cases.json", e);
	r |= specw_base_env(w, BL_ROLE_JUDGE, e);
	r |= deepgym_env(p->env, w, e);
	for (size_t i = 0; r == 0 && i < p->nvars; i++)
		r |= specw_env(w, p->vars[i], e);
	/* last, so that nobody's value stands in their place */
	r |= specw_env(w, "BAILIFF_ANSWER=" NOTE_PROGRAM, e);
	r |= specw_env(w, "BAILIFF_RESULT_FD=3", e);
	return r | specw_listen(w, NOTE_RUN, e);
}

static int
judge_start(struct run *u)
{
	struct bl_err *e = &u->r->fail;
	struct specw *w = specw_new();
	uint64_t until = u->deadline + SLACK_S * 1000000000ULL;
	int spec, r;

	if (w == NULL)
		return no_memory(e);
	spec = seal(w, judge_spec(u, w), e);
	if (spec < 0)
		return -1;
	r = cell_spawn(&u->judge, spec, 0, SPAWN_OUT | SPAWN_ERR | SPAWN_RES,
	    &u->js, e);
	(void)close(spec);
	if (r != 0)
		return -1;
	r = 1;
	conf_stream(u, 0, u->js.out);
	conf_stream(u, 1, u->js.result);
	while (!u->js.started && !u->js.ended && r > 0)
		r = spawn_event(&u->js, until, e);
	if (r <= 0)
		return r < 0 ? -1 : err_set(e, BL_KIND_INFRA, "cell_silent",
		    "judge/start", ETIMEDOUT,
		    "the judge's cell did not start the judge in time");
	if (u->js.ended)
		return 0;		/* judge_ended says why */
	if (u->js.listener < 0)
		return err_set(e, BL_KIND_INFRA, "protocol", "judge/start",
		    EPROTO, "no listener came from the judge");
	/* conns_accept goes on until there is nobody */
	if (fcntl(u->js.listener, F_SETFL, O_NONBLOCK) != 0 ||
	    watch(u, u->js.listener, &u->js) != 0 ||
	    watch(u, u->report, &u->report) != 0 ||
	    watch(u, u->answer.owner, &u->answer) != 0)
		return -1;
	return 0;
}

static int
judge_pump(struct run *u, struct pump *m)
{
	*m = (struct pump){ .from = -1,
	    .out = { .to = -1, .keep_tail = VERDICT_LINE_MAX,
		.max = UINT64_MAX, .drop = true },
	    .err = { .to = -1, .keep = STDERR_KEPT, .max = UINT64_MAX,
		.drop = true },
	    .result = { .to = -1, .keep = VERDICT_LINE_MAX + 1,
		.max = UINT64_MAX, .drop = true },
	    .until_ns = u->deadline + SLACK_S * 1000000000ULL,
	    .cancel_fd = u->p->cancel_fd, .extra = { u->ep }, .nextra = 1,
	    .on_extra = on_extra, .ctx = u };
	return pump_run(m, &u->js, &u->r->fail);
}

/* Nothing of the judge's has run. */
static void
judge_not_started(struct run *u)
{
	const struct bl_rep *end = &u->js.end;
	struct bl_err *e = &u->r->fail;
	const char *what = u->p->env->python ? "python3" : "its interpreter";

	if (end->step != BL_AT_EXEC) {
		(void)err_at(e, end->step, end->object, end->status);
		return;
	}
	(void)err_set(e, BL_KIND_JUDGE, "judge_not_started", "judge/start",
	    end->status, "the judge can't be started by %s: %s", what,
	    strerror(-end->status));
	err_hint(e, "%s must be in the cell's PATH; --expose shows a folder",
	    what);
}

static void
judge_ended(struct run *u, struct pump *m)
{
	struct result *r = u->r;

	if (u->js.end.kind != BL_EV_EXIT) {
		judge_not_started(u);
		return;
	}
	r->judged = true;
	r->judge = u->js.end.u.exit;
	r->judge_err = m->err.data;
	r->judge_nerr = m->err.n;
	r->judge_err_cut = m->err.bytes > m->err.n;
	m->err.data = NULL;
	m->err.n = 0;
	if (r->fail.kind != BL_KIND_NONE)
		return;
	if (m->result.bytes > 0)
		verdict_document(&r->v, m->result.data, m->result.n,
		    m->result.bytes > m->result.n);
	else
		verdict_line(&r->v, m->out.tail, m->out.ntail,
		    m->out.bytes > m->out.ntail);
	verdict_end(&r->v, &r->judge);
	if (r->v.reason != NULL)
		(void)err_set(&r->fail, strcmp(r->v.reason, "no_memory") == 0 ?
		    BL_KIND_INFRA : BL_KIND_JUDGE, r->v.reason, "judge", 0,
		    "%s", r->v.detail);
	if (r->v.clipped)
		result_warn(r, "a number in the verdict was too large and "
		    "was cut to the largest there is");
}

static void
run_init(struct run *u, const struct judge_plan *p, struct result *r)
{
	u->p = p;
	u->r = r;
	u->answer_spec = u->judge_spec = -1;
	u->judge.owner = u->answer.owner = u->report = -1;
	u->js = (struct bl_spawn){ .reply = -1, .in = -1, .out = -1,
	    .err = -1, .result = -1, .listener = -1 };
	for (unsigned i = 0; i < CONNS_MAX; i++)
		u->conn[i].fd = -1;
	u->ep = epoll_create1(EPOLL_CLOEXEC);
	if (u->ep < 0)
		(void)err_set(&r->fail, BL_KIND_INFRA, "no_descriptors",
		    "judge/watch", errno, "epoll: %s", strerror(errno));
}

/* Everything up to the judge's first instruction. */
static int
set_up(struct run *u)
{
	const struct provider *by = u->p->by;
	struct bl_err *e = &u->r->fail;

	if (u->ep < 0 || conf_make(u) != 0 || by->create(&u->box, e) != 0)
		return -1;
	u->boxed = true;
	(void)snprintf(u->r->sandbox, sizeof u->r->sandbox, "%s", u->box.id);
	if (files_read(u) != 0 || by->ready(&u->box, e) != 0)
		return -1;
	return cells_open(u) == 0 && files_write(u) == 0 ? judge_start(u) : -1;
}

static void
run_free(struct run *u)
{
	u->deaf = false;
	for (unsigned i = 0; i < CONNS_MAX; i++)
		if (u->conn[i].fd >= 0)
			conn_drop(u, &u->conn[i]);
	for (size_t i = 0; i < u->n; i++)
		free(u->entry[i].bytes);
	free(u->entry);
	spawn_close(&u->js);
	cell_close(&u->answer);
	cell_close(&u->judge);
	fd_shut(&u->report);
	fd_shut(&u->ep);
	fd_shut(&u->answer_spec);
	fd_shut(&u->judge_spec);
	if (u->boxed)
		u->p->by->destroy(&u->box);
	free(u);
}

void
judge_run(const struct judge_plan *p, struct result *r)
{
	uint64_t from = now_ns();
	struct run *u = calloc(1, sizeof *u);
	struct pump m = { .from = -1 };

	if (u == NULL) {
		(void)no_memory(&r->fail);
		return;
	}
	run_init(u, p, r);
	if (set_up(u) == 0 && judge_pump(u, &m) == 0) {
		drain(u);
		judge_ended(u, &m);
	}
	answers_tell(u);
	pump_free(&m);
	run_free(u);
	r->wall_ns = now_ns() - from;
}

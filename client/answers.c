/*
 * What the answers of a judged run did.
 *
 * The kernel's word on each of them comes by way of cell init on the report
 * socket.  What only the judge's side knows (command, bytes) comes as notes on
 * the run socket, and is believed to be no more than that.
 */
#include "answers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "note.h"
#include "../policy/reply.h"

enum {
	CONNS_MAX	= 256,
	KEPT_MAX	= 64 << 20,	/* bytes of all answers' output */
	DRAIN_MS	= 1000
};

struct entry {				/* one answer run */
	uint32_t spawn;
	bool	 started, ended, noted;
	struct bl_rep end;		/* EXIT or FAIL */
	struct note note;
	char	*bytes;			/* argv, stdout, stderr, as noted */
};

struct conn {				/* one BAILIFF_ANSWER that speaks */
	int	 fd;			/* -1: free */
	struct note note;
	char	*bytes;
	size_t	 n, want;		/* of bytes */
};

struct answers {
	struct result *r;		/* its fail is set when a run is lost */
	int	 ep, report, owner, listener;	/* but for ep not owned */
	struct entry *entry;
	size_t	 n, room;
	bool	 ran;			/* some answer has run in its cell */
	uint32_t running;		/* the spawn that has not ended, or 0 */
	struct conn conn[CONNS_MAX];
	bool	 deaf;			/* no room for another: not watched */
	size_t	 kept;			/* bytes of notes in entries */
	char	 chunk[NOTE_CHUNK];	/* one datagram */
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

/* --- what cell init says -------------------------------------------------- */

/* The entry of a spawn, made if need be; NULL when there is no room. */
static struct entry *
entry_of(struct answers *u, uint32_t spawn)
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
is_fact(const struct answers *u, const struct bl_rep *fail)
{
	if (fail->step == BL_AT_FORK || fail->step == BL_AT_LAUNCH ||
	    fail->step == BL_AT_BECOME)
		return u->ran;
	return true;
}

static void
report_take(struct answers *u, const struct bl_rep *p)
{
	struct entry *a;

	u->r->omitted += p->lost;
	if (p->kind == BL_EV_FAIL && !is_fact(u, p))
		(void)err_at(&u->r->fail, p->step, p->object, p->status);
	a = entry_of(u, p->spawn);
	if (p->kind == BL_EV_STARTED) {
		u->running = p->spawn;
		if (a != NULL)
			a->started = true;
		return;
	}
	if (u->running == p->spawn)
		u->running = 0;
	if (p->kind == BL_EV_EXIT)
		u->ran = true;
	if (a == NULL) {
		u->r->omitted++;
		return;
	}
	a->ended = true;
	a->end = *p;
}

static void
cell_lost(struct answers *u, const char *step)
{
	(void)err_set(&u->r->fail, BL_KIND_INFRA, "cell_gone", step, 0,
	    "the answer's cell is gone");
}

/* The kernel's word, by way of cell init. */
static void
report_read(struct answers *u)
{
	struct bl_rep p;
	ssize_t n;

	for (;;) {
		n = recv(u->report, &p, sizeof p, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n != (ssize_t)sizeof p || bl_rep_check(&p) != 0 ||
		    p.kind < BL_EV_STARTED) {
			(void)epoll_ctl(u->ep, EPOLL_CTL_DEL, u->report, NULL);
			u->report = -1;
			cell_lost(u, "judge/report");
			return;
		}
		report_take(u, &p);
	}
}

/* The owner socket says nothing, until its cell's end. */
static void
owner_read(struct answers *u)
{
	char c;
	ssize_t n = recv(u->owner, &c, 1, MSG_DONTWAIT | MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	(void)epoll_ctl(u->ep, EPOLL_CTL_DEL, u->owner, NULL);
	cell_lost(u, "judge/answer_cell");
}

/* --- what BAILIFF_ANSWER says -------------------------------------------- */

static int
watch(struct answers *u, int fd, void *what)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP,
	    .data = { .ptr = what } };

	if (epoll_ctl(u->ep, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	return err_set(&u->r->fail, BL_KIND_INFRA, "no_descriptors",
	    "judge/watch", errno, "epoll: %s", strerror(errno));
}

static void
conn_drop(struct answers *u, struct conn *c)
{
	(void)close(c->fd);
	c->fd = -1;
	free(c->bytes);
	c->bytes = NULL;
	c->n = c->want = 0;
	if (u->deaf && watch(u, u->listener, &u->listener) == 0)
		u->deaf = false;
}

/* Everyone who is there, and what they need to know at once. */
static void
conns_accept(struct answers *u)
{
	size_t n = sizeof u->conf.c + u->conf.c.env_bytes;

	for (unsigned i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &u->conn[i];

		if (c->fd >= 0)
			continue;
		c->fd = accept4(u->listener, NULL, NULL, SOCK_CLOEXEC);
		if (c->fd < 0 && errno == EAGAIN)
			return;
		if (c->fd < 0)
			break;
		if (send(c->fd, &u->conf, n, MSG_DONTWAIT | MSG_NOSIGNAL) !=
		    (ssize_t)n || watch(u, c->fd, c) != 0)
			conn_drop(u, c);
	}
	/* no room, or no descriptor: they wait for the end of another one */
	(void)epoll_ctl(u->ep, EPOLL_CTL_DEL, u->listener, NULL);
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
note_sound(const struct answers *u, const struct note *n)
{
	return n->magic == NOTE_MAGIC && n->version == NOTE_VERSION &&
	    (n->flags & ~(uint32_t)NOTE_FLAGS) == 0 &&
	    n->argv_bytes <= NOTE_ARGV_MAX && n->argc <= n->argv_bytes &&
	    n->out_kept <= u->conf.c.keep &&
	    n->err_kept <= u->conf.c.keep &&
	    n->out_kept <= n->out_bytes && n->err_kept <= n->err_bytes;
}

/* A whole note: kept with its entry, unless that has one. */
static void
note_take(struct answers *u, struct conn *c)
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
	a->bytes = realloc(c->bytes, c->want + 1);
	if (a->bytes == NULL)		/* it only ever shrinks */
		a->bytes = c->bytes;
	c->bytes = NULL;
}

/* The first datagram.  0, or -1: no note, or too large a one. */
static int
note_head(struct answers *u, struct conn *c, ssize_t n)
{
	if (n != (ssize_t)sizeof c->note || !note_sound(u, &c->note))
		return -1;
	if ((c->note.flags & NOTE_BROKEN) != 0) {
		(void)err_set(&u->r->fail, BL_KIND_INFRA, "answer_program",
		    "judge/answer", (int)c->note.spawn,
		    "BAILIFF_ANSWER could not do its work: %s",
		    strerror((int)(c->note.spawn & 4095)));
		return -1;
	}
	c->want = (size_t)c->note.argv_bytes + c->note.out_kept +
	    c->note.err_kept;
	c->bytes = malloc(c->want + 1);
	return c->bytes == NULL ? -1 : 0;
}

static void
conn_read(struct answers *u, struct conn *c)
{
	ssize_t n;

	for (;;) {
		if (c->bytes == NULL)
			n = recv(c->fd, &c->note, sizeof c->note,
			    MSG_DONTWAIT | MSG_TRUNC);
		else
			n = recv(c->fd, u->chunk, sizeof u->chunk,
			    MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			break;
		if (c->bytes == NULL) {
			if (note_head(u, c, n) != 0)
				break;
		} else {
			if ((size_t)n > sizeof u->chunk ||
			    (size_t)n > c->want - c->n)
				break;
			memcpy(c->bytes + c->n, u->chunk, (size_t)n);
			c->n += (size_t)n;
		}
		if (c->n == c->want) {
			note_take(u, c);
			break;
		}
	}
	conn_drop(u, c);
}

bool
answers_step(struct answers *u, int wait_ms)
{
	struct epoll_event ev[32];
	int n = epoll_wait(u->ep, ev, 32, wait_ms);

	for (int i = 0; i < n; i++) {
		void *what = ev[i].data.ptr;

		if (what == &u->report && u->report >= 0)
			report_read(u);
		else if (what == &u->owner)
			owner_read(u);
		else if (what == &u->listener)
			conns_accept(u);
		else if (what >= (void *)u->conn &&
		    what < (void *)(u->conn + CONNS_MAX))
			conn_read(u, what);
	}
	return n > 0;
}

void
answers_drain(struct answers *u)
{
	uint64_t until = now_ns() + DRAIN_MS * 1000000ULL;

	for (;;) {
		bool open = u->running != 0;

		while (answers_step(u, 0))
			;
		for (size_t i = 0; i < u->n; i++)
			open |= !u->entry[i].ended;
		if (!open || u->report < 0 || now_ns() >= until)
			return;
		(void)answers_step(u, 20);
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

void
answers_tell(struct answers *u)
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

/* --- its life ------------------------------------------------------------- */

struct answers *
answers_new(struct result *r, const struct answers_conf *want)
{
	struct answers *u = calloc(1, sizeof *u);
	struct note_conf *c;

	if (u == NULL) {
		(void)no_memory(&r->fail);
		return NULL;
	}
	u->r = r;
	u->report = u->owner = u->listener = -1;
	for (unsigned i = 0; i < CONNS_MAX; i++)
		u->conn[i].fd = -1;
	c = &u->conf.c;
	c->magic = NOTE_MAGIC;
	c->version = NOTE_VERSION;
	c->wall_ns = want->wall_ns;
	c->max_output = want->max_output;
	c->keep = want->keep;
	for (size_t i = 0; i < want->nvars; i++) {
		size_t n = strlen(want->vars[i]) + 1;

		if (n > sizeof u->conf.env - c->env_bytes) {
			(void)err_set(&r->fail, BL_KIND_SETUP,
			    "too_many_variables", "judge/env", E2BIG,
			    "variables have more than %d bytes",
			    NOTE_ENV_MAX);
			break;
		}
		memcpy(u->conf.env + c->env_bytes, want->vars[i], n);
		c->env_bytes += (uint32_t)n;
		c->nenv++;
	}
	u->ep = epoll_create1(EPOLL_CLOEXEC);
	if (u->ep < 0)
		(void)err_set(&r->fail, BL_KIND_INFRA, "no_descriptors",
		    "judge/watch", errno, "epoll: %s", strerror(errno));
	if (r->fail.kind == BL_KIND_NONE)
		return u;
	answers_free(u);
	return NULL;
}

void
answers_memory(struct answers *u, uint64_t bytes)
{
	u->conf.c.limits.memory = bytes;
}

void
answers_avoid(struct answers *u, unsigned i, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return;
	u->conf.c.verdict[i].dev = st.st_dev;
	u->conf.c.verdict[i].ino = st.st_ino;
}

int
answers_watch(struct answers *u, int listener, int report, int owner)
{
	u->listener = listener;
	u->report = report;
	u->owner = owner;
	/* conns_accept goes on until there is nobody */
	if (fcntl(listener, F_SETFL, O_NONBLOCK) != 0)
		return err_set(&u->r->fail, BL_KIND_INFRA, "no_descriptors",
		    "judge/watch", errno, "fcntl: %s", strerror(errno));
	if (watch(u, listener, &u->listener) != 0 ||
	    watch(u, report, &u->report) != 0 ||
	    watch(u, owner, &u->owner) != 0)
		return -1;
	return 0;
}

int
answers_fd(const struct answers *u)
{
	return u->ep;
}

void
answers_free(struct answers *u)
{
	if (u == NULL)
		return;
	u->deaf = false;
	for (unsigned i = 0; i < CONNS_MAX; i++)
		if (u->conn[i].fd >= 0)
			conn_drop(u, &u->conn[i]);
	for (size_t i = 0; i < u->n; i++)
		free(u->entry[i].bytes);
	free(u->entry);
	if (u->ep >= 0)
		(void)close(u->ep);
	free(u);
}

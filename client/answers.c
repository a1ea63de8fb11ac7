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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "json.h"
#include "note.h"
#include "../policy/reply.h"

enum {
	CONNS_MAX	= 256,
	FRESH_MAX	= BL_CELLS_MAX - 2,	/* two are judge and answer */
	KEPT_MAX	= 64 << 20,	/* bytes of all answers' output */
	DRAIN_MS	= 1000,
	ENDS_S		= 25,
	TICK_MS		= 20,
	FREE_MS		= 2000,		/* from a cell's end to a free slot */
	JUST_MS		= 2000		/* from a death to its being seen */
};

_Static_assert(ANSWERS_POLL >= 5 + CONNS_MAX + 3 * FRESH_MAX, "room for all");

#define ANY_CELL UINT32_MAX

struct entry {				/* one answer run */
	uint32_t cell, spawn;		/* numbers; cell 0: the first one */
	bool	 started, ended, noted;
	struct bl_rep end;		/* EXIT or FAIL */
	bool	 has_group;		/* and this is what it has counted: */
	struct cgroup_facts counted;
	struct note note;
	char	*bytes;			/* argv, stdout, stderr, as noted */
};

struct source {				/* an answer cell, as it reports */
	uint32_t cell;
	int	 report, owner;		/* -1: no more */
	bool	 ran;			/* some answer has run in it */
	uint32_t running;		/* the spawn that has not ended, or 0 */
	const struct cgroup *group;	/* the cell's, or NULL */
	bool	 gone;			/* the kernel has ended it, for memory */
	bool	 hurried;		/* for the end of what was given up */
	struct cgroup_facts counted;	/* by it, of those that have ended */
	struct cgroup_facts before;	/* and what that was an end earlier; */
	uint64_t counted_ns;		/* when it was counted last */
};

struct conn {				/* one BAILIFF_ANSWER that speaks */
	int	 fd;			/* -1: free */
	uint64_t ticket;		/* waits for a fresh cell; 0: no */
	struct place *place;		/* the one that it has, or NULL */
	uint32_t cell;			/* where it runs its answer, for good */
	struct note note;
	char	*bytes;
	size_t	 n, want;		/* of bytes */
};

/*
 * A fresh cell.  ENDING: its conn is gone, its last report is awaited; HELD: that
 * has come, and what the answer left is looked at when the judge is over.
 */
struct place {
	enum { PLACE_FREE, PLACE_ASKED, PLACE_FILES, PLACE_GIVEN,
	    PLACE_ENDING, PLACE_HELD } state;
	struct conn *conn;		/* NULL: gone */
	struct fresh f;
	struct source src;
	uint64_t until;			/* PLACE_ENDING: not after that */
};

/* What a descriptor that is polled is; an index goes with it. */
enum watched { W_REPORT, W_OWNER, W_LISTENER, W_TIMER, W_HELPER, W_CONN,
    W_FILES, W_PLACE_REPORT, W_PLACE_OWNER };

struct answers {
	struct result *r;		/* its fail is set when a run is lost */
	int	 timer, listener;	/* listener: not owned */
	uint64_t wakes;			/* timer, then; 0: no more */
	struct entry *entry;
	size_t	 n, room;
	struct source first;		/* its descriptors: not owned */
	struct { enum watched what; size_t i; } tag[ANSWERS_POLL];
	struct conn conn[CONNS_MAX];
	bool	 deaf;			/* no room for another: not watched */
	size_t	 kept;			/* bytes of notes in entries */
	const struct fresh_conf *fresh;
	struct place place[FRESH_MAX];
	unsigned places;		/* of them are for use */
	struct place *asking;		/* its request is on the way, or NULL */
	int	 helper;		/* where it is answered */
	void	(*leaving)(void *ctx, struct bl_cell *c);
	void	*leaving_ctx;
	uint64_t tickets;
	uint32_t numbers;
	uint64_t freed, hold;		/* the last end; no request before */
	char	 chunk[NOTE_CHUNK];	/* one datagram */
	struct {
		struct note_conf c;
		char env[NOTE_ENV_MAX];
	} conf;
};

/* --- what is polled -------------------------------------------------------- */

static void
watch(struct answers *u, struct pollfd *pf, unsigned *n, int fd,
    enum watched what, size_t i)
{
	if (fd < 0 || *n >= ANSWERS_POLL)
		return;			/* it has room for all that there is */
	u->tag[*n].what = what;
	u->tag[*n].i = i;
	pf[(*n)++] = (struct pollfd){ .fd = fd, .events = POLLIN | POLLRDHUP };
}

/*
 * By poll(2), not epoll(7): the kernel counts what epoll watches by user, and
 * where cells have no user of their own an answer could use that up.
 */
unsigned
answers_fill(struct answers *u, struct pollfd pf[ANSWERS_POLL])
{
	unsigned n = 0;

	if (u->listener < 0)
		return 0;		/* not begun */
	watch(u, pf, &n, u->timer, W_TIMER, 0);
	watch(u, pf, &n, u->deaf ? -1 : u->listener, W_LISTENER, 0);
	watch(u, pf, &n, u->first.report, W_REPORT, 0);
	watch(u, pf, &n, u->first.owner, W_OWNER, 0);
	watch(u, pf, &n, u->asking != NULL ? u->helper : -1, W_HELPER, 0);
	for (unsigned i = 0; i < u->places; i++) {
		const struct place *p = &u->place[i];

		if (p->state == PLACE_FREE || p->state == PLACE_ASKED)
			continue;
		if (p->state == PLACE_FILES)
			watch(u, pf, &n, p->f.files.reply, W_FILES, i);
		watch(u, pf, &n, p->src.report, W_PLACE_REPORT, i);
		watch(u, pf, &n, p->src.owner, W_PLACE_OWNER, i);
	}
	/* behind them: that a cell is gone comes before what comes of it */
	for (unsigned i = 0; i < CONNS_MAX; i++)
		watch(u, pf, &n, u->conn[i].fd, W_CONN, i);
	return n;
}

/* --- what cell init says -------------------------------------------------- */

/* The entry of a spawn, made if need be; NULL when there is no room. */
static struct entry *
entry_of(struct answers *u, uint32_t cell, uint32_t spawn)
{
	for (size_t i = u->n; i > 0; i--)
		if (u->entry[i - 1].cell == cell &&
		    u->entry[i - 1].spawn == spawn)
			return &u->entry[i - 1];
	if (u->n == RESULT_ANSWERS_MAX)
		return NULL;
	if (u->n == u->room) {
		size_t room = u->room == 0 ? 16 : u->room * 2;
		struct entry *v = reallocarray(u->entry, room, sizeof *v);

		if (v == NULL) {
			(void)err_memory(&u->r->fail, "judge");
			return NULL;
		}
		u->entry = v;
		u->room = room;
	}
	u->entry[u->n] = (struct entry){ .cell = cell, .spawn = spawn };
	return &u->entry[u->n++];
}

/*
 * An errno by which a path or a program is as it is, not the machine.  theirs:
 * the answer may have made that, and execve(2) says EIO, EFAULT and ENOMEM, too,
 * of a file that is not what it says itself.
 */
static bool
of_a_path(int err, bool theirs)
{
	switch (err) {
	case EIO: case EFAULT: case ENOMEM:
		return theirs;
	case EAGAIN: case EMFILE: case ENFILE:
	case EINTR: case ENOSYS: case EBADF:
		return false;
	default:
		return true;
	}
}

/* Since the last end the cell's group has met its limit of memory. */
static bool
is_full(const struct source *s)
{
	struct cgroup_facts now = s->counted;

	if (s->group == NULL || !cgroup_there(s->group))
		return false;
	cgroup_read(s->group, &now);
	return now.full > s->counted.full;
}

/*
 * An answer that could not be started.  Its command and its folder are facts
 * for the judge.  A cell that has run no answer yet and can't start one is a
 * broken machine; later, answers may have seen to it by filling its memory, and
 * that is a fact too, where the cell's group has counted that just now.  Not by
 * processes, for those of answers before are gone; and where nothing is counted
 * nobody can tell who has filled the machine's memory.  Streams and what is read of
 * the request are BAILIFF_ANSWER's making, and no answer's.
 */
static bool
is_fact(const struct source *s, const struct bl_rep *fail)
{
	const bool full = s->ran && is_full(s);

	switch (fail->step) {
	case BL_AT_LOCKS:
	case BL_AT_STREAM:
	case BL_AT_REPLY_FD:
	case BL_AT_SPEC:
	case BL_AT_SPEC_RLIMIT:
		return false;
	case BL_AT_FORK:
	case BL_AT_LAUNCH:
	case BL_AT_BECOME:
		return full && fail->status != -EAGAIN;
	case BL_AT_CHDIR:		/* object 0: the role's own folder */
		return s->ran || (fail->object != 0 &&
		    of_a_path(-fail->status, false));
	case BL_AT_EXEC:		/* object 1: it may be the answer's file */
		return (full && fail->status == -ENOMEM) ||
		    of_a_path(-fail->status, fail->object != 0);
	default:
		return true;
	}
}

/*
 * What the group has counted since the last end.  What the next one has had
 * counted before this one's end was read, some microseconds, is taken for this
 * one's; nothing is carried over to whoever ends later.  a: NULL for one that is
 * only counted.
 */
static void
count(struct source *s, struct entry *a)
{
	struct cgroup_facts now = s->counted, was = s->counted;

	if (s->group == NULL || !cgroup_there(s->group))
		return;
	cgroup_read(s->group, &now);
	s->before = was;
	s->counted = now;
	s->counted_ns = now_ns();
	if (a == NULL || a->end.kind != BL_EV_EXIT)
		return;
	a->has_group = true;
	a->counted = (struct cgroup_facts){
	    .oom_kills = now.oom_kills - was.oom_kills,
	    .oom = now.oom - was.oom, .refused = now.refused - was.refused,
	    .cpu_ns = now.cpu_ns - was.cpu_ns,
	    .peak_bytes = now.peak_bytes > was.peak_bytes ? now.peak_bytes : 0 };
	cgroup_facts_of(&a->counted, &a->end.u.exit);
}

/*
 * To end takes processor time, too, and whoever has made much to be taken apart
 * must not make that last by a small bound; the next one has its bound again.
 */
static void
hurry(struct source *s, bool yes)
{
	if (s->group != NULL && s->hurried != yes)
		cgroup_hurry(s->group, yes);
	s->hurried = yes;
}

static void
report_take(struct answers *u, struct source *s, const struct bl_rep *p)
{
	struct entry *a;

	u->r->omitted += p->lost;
	if (p->kind == BL_EV_FAIL && !is_fact(s, p))
		(void)err_at(&u->r->fail, p->step, p->object, p->status);
	a = entry_of(u, s->cell, p->spawn);
	if (p->kind == BL_EV_STARTED) {
		s->running = p->spawn;
		if (a != NULL)
			a->started = true;
		return;
	}
	if (s->running == p->spawn) {	/* it had started */
		s->running = 0;
		s->ran = s->ran || p->kind == BL_EV_EXIT;
	}
	if (a != NULL) {
		a->ended = true;
		a->end = *p;
	} else
		u->r->omitted++;
	count(s, a);
	hurry(s, false);
}

/*
 * A cell that has used up its memory may lose its init, which is in the same
 * control group: that is the end of what ran there, a fact like any other.  It
 * may have been counted with the last end that was read, when the next one was
 * just being started: so, if that was only now, the count is compared with the
 * one before.
 */
static bool
out_of_memory(struct answers *u, struct source *s)
{
	const struct bl_rep end = { .kind = BL_EV_EXIT, .spawn = s->running,
	    .u.exit = { .wait_status = SIGKILL, .limit = BL_LIMIT_MEMORY } };
	struct cgroup_facts now = s->counted;
	bool just = now_ns() < s->counted_ns + JUST_MS * 1000000ULL;

	if (s->group == NULL || !cgroup_there(s->group))
		return false;
	cgroup_read(s->group, &now);
	if (!cgroup_ran_out(&now, just ? &s->before : &s->counted))
		return false;
	if (s->running != 0)
		report_take(u, s, &end);
	s->report = s->owner = -1;
	s->gone = true;
	return true;
}

static void
cell_lost(struct answers *u, const char *step)
{
	(void)err_set(&u->r->fail, BL_KIND_INFRA, "cell_gone", step, 0,
	    "the answer's cell is gone");
}

/* The kernel's word, by way of cell init.  false: there is no more of it. */
static bool
report_read(struct answers *u, struct source *s)
{
	struct bl_rep p;
	ssize_t n;

	for (;;) {
		n = recv(s->report, &p, sizeof p, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n != (ssize_t)sizeof p || bl_rep_check(&p) != 0 ||
		    p.kind < BL_EV_STARTED) {
			s->report = -1;
			return false;
		}
		report_take(u, s, &p);
	}
}

/* The owner socket says nothing, until its cell's end.  false: that. */
static bool
owner_read(struct source *s)
{
	char c;
	ssize_t n = recv(s->owner, &c, 1, MSG_DONTWAIT | MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	s->owner = -1;
	return false;
}

/* --- fresh cells ---------------------------------------------------------- */

static void fresh_next(struct answers *u);
static void helper_read(struct answers *u);

/* Looks again at the latest then, where no descriptor will say when. */
static void
wake(struct answers *u, uint64_t at)
{
	const struct itimerspec v = { .it_value = {
	    .tv_sec = (time_t)(at / 1000000000U),
	    .tv_nsec = (long)(at % 1000000000U) } };

	if (u->wakes != 0 && u->wakes <= at)
		return;
	u->wakes = at;
	(void)timerfd_settime(u->timer, TFD_TIMER_ABSTIME, &v, NULL);	/* sound */
}

static void
tick(struct answers *u)
{
	wake(u, now_ns() + TICK_MS * 1000000ULL);
}

static void
lost(struct answers *u, const struct bl_err *e)
{
	if (u->r->fail.kind == BL_KIND_NONE)
		u->r->fail = *e;
}

/* A fresh cell goes: what the answer left there is looked at first. */
static void
place_leave(struct answers *u, struct place *p)
{
	if (u->leaving != NULL && p->f.cell.owner >= 0 &&
	    (p->state == PLACE_GIVEN || p->state == PLACE_ENDING ||
	    p->state == PLACE_HELD))
		u->leaving(u->leaving_ctx, &p->f.cell);
	fresh_close(&p->f);
}

/*
 * Once the answers' time is over this run makes no cell any more, and so doesn't
 * need this one's slot; but the judge has its grace to speak, and waits for us.
 */
static bool
place_hold(struct answers *u, struct place *p)
{
	if (u->leaving == NULL || now_ns() < u->conf.c.deadline_ns ||
	    (p->state != PLACE_GIVEN && p->state != PLACE_ENDING))
		return false;
	p->state = PLACE_HELD;
	p->src.report = p->src.owner = -1;
	if (p->conn != NULL)
		p->conn->place = NULL;
	p->conn = NULL;
	return true;
}

static void
place_free(struct answers *u, struct place *p)
{
	if (place_hold(u, p)) {
		fresh_next(u);		/* to be told that it is late */
		return;
	}
	place_leave(u, p);
	if (p->conn != NULL)
		p->conn->place = NULL;
	*p = (struct place){ .state = PLACE_FREE,
	    .src = { .report = -1, .owner = -1 } };
	u->freed = now_ns();
	fresh_next(u);
}

/* err 0: fd goes with it.  Never waits: one who doesn't read has lost it. */
static bool
cell_tell(const struct conn *c, int err, int fd)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof fd)]; } ctl;
	struct note_cell n = { .magic = NOTE_MAGIC, .version = NOTE_VERSION,
	    .err = (uint32_t)err };
	struct iovec iov = { &n, sizeof n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (err == 0) {
		memset(&ctl, 0, sizeof ctl);
		ctl.h.cmsg_level = SOL_SOCKET;
		ctl.h.cmsg_type = SCM_RIGHTS;
		ctl.h.cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(&ctl.h), &fd, sizeof fd);
		m.msg_control = ctl.raw;
		m.msg_controllen = CMSG_LEN(sizeof fd);
	}
	return sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	    (ssize_t)sizeof n;
}

/* The answers' time is over: the first cell says so, as of any other run. */
static void
fresh_late(struct conn *c)
{
	c->ticket = 0;
	c->place = NULL;
	(void)cell_tell(c, ETIME, -1);
}

/* Whose turn it is, or NULL. */
static struct conn *
fresh_first(struct answers *u)
{
	struct conn *first = NULL;

	for (unsigned i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &u->conn[i];

		if (c->fd >= 0 && c->ticket != 0 && c->place == NULL &&
		    (first == NULL || c->ticket < first->ticket))
			first = c;
	}
	return first;
}

/* Where the next one can be, or NULL. */
static struct place *
place_find(struct answers *u)
{
	for (unsigned i = 0; i < u->places; i++)
		if (u->place[i].state == PLACE_FREE)
			return &u->place[i];
	return NULL;
}

/* One request at a time; the helper answers while everything else goes on. */
static void
fresh_next(struct answers *u)
{
	struct conn *c = fresh_first(u);
	struct place *p = place_find(u);

	if (c == NULL || u->asking != NULL || u->r->fail.kind != BL_KIND_NONE)
		return;
	if (u->places == 0) {
		(void)err_at(&u->r->fail, BL_AT_SLOT, 0, -EUSERS);
		return;
	}
	if (now_ns() >= u->conf.c.deadline_ns) {
		for (; c != NULL; c = fresh_first(u))
			fresh_late(c);
		return;
	}
	if (p == NULL) {		/* another one's end is its turn */
		wake(u, u->conf.c.deadline_ns);
		return;
	}
	if (now_ns() < u->hold) {
		tick(u);
		return;
	}
	*p = (struct place){ .state = PLACE_ASKED, .conn = c,
	    .src = { .cell = ++u->numbers, .report = -1, .owner = -1 } };
	c->place = p;
	u->asking = p;
	fresh_ask(&p->f, u->fresh);
	u->helper = fresh_fd(&p->f, u->fresh);
	if (u->helper < 0)
		helper_read(u);		/* nobody was asked; it knows why */
}

/* A cell of ours is there, or its slot has not come free yet. */
static bool
may_come_free(const struct answers *u)
{
	for (unsigned i = 0; i < u->places; i++)
		if (u->place[i].state != PLACE_FREE)
			return true;
	return now_ns() < u->freed + FREE_MS * 1000000ULL;
}

/* No cell for p; a full quota is waited for while waiting can help. */
static void
fresh_refused(struct answers *u, struct place *p, const struct bl_err *e)
{
	uint64_t freed = u->freed;

	u->hold = now_ns() + TICK_MS * 1000000ULL;
	place_free(u, p);		/* it never was one: */
	u->freed = freed;
	if (!fresh_full(e) || !may_come_free(u))
		lost(u, e);
	tick(u);
}

/* The helper has answered. */
static void
helper_read(struct answers *u)
{
	struct place *p = u->asking;
	struct bl_err e = { .kind = BL_KIND_NONE };

	if (p == NULL)
		return;
	u->asking = NULL;
	if (fresh_made(&p->f, u->fresh, &e) != 0) {
		fresh_refused(u, p, &e);
		return;
	}
	p->state = PLACE_FILES;
	p->src.report = p->f.report;
	p->src.owner = p->f.cell.owner;
	p->src.group = &p->f.cell.group;
	if (p->conn == NULL)		/* it is gone already */
		place_free(u, p);
	fresh_next(u);
}

/* Its files are there, or will never be. */
static void
files_read(struct answers *u, struct place *p)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct conn *c = p->conn;
	int r;

	if (p->state != PLACE_FILES)
		return;
	r = fresh_step(&p->f, u->fresh, &e);
	if (r == -ETIME) {
		place_free(u, p);
		if (c != NULL)
			fresh_late(c);
	} else if (r < 0) {
		lost(u, &e);
		place_free(u, p);
	} else if (r > 0) {
		p->state = PLACE_GIVEN;
		c->ticket = 0;
		c->cell = p->src.cell;
		(void)cell_tell(c, 0, p->f.guest);
		(void)close(p->f.guest);	/* theirs alone now */
		p->f.guest = -1;
	}
}

/*
 * Answers that were given up on: BAILIFF_ANSWER has told the judge that their
 * time was over, and cell init has not told of their end.  The kernel may take
 * long to take apart what an answer has made, and that is a fact like others;
 * but an init that never tells is no answer's doing, and then nothing counts.
 */
static bool
given_up(const struct answers *u, uint32_t cell)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct entry *a = &u->entry[i];

		if ((cell == ANY_CELL || a->cell == cell) && a->started &&
		    !a->ended && a->noted && (a->note.flags & NOTE_TIME) != 0)
			return true;
	}
	return false;
}

/* Its conn is gone, and with it the cell, once the last report is read. */
static void
place_end(struct answers *u, struct place *p)
{
	p->conn = NULL;
	if (p->state == PLACE_ASKED)
		return;			/* the helper answers first */
	if (p->state != PLACE_GIVEN || p->src.report < 0 ||
	    !report_read(u, &p->src)) {
		place_free(u, p);
		return;
	}
	p->state = PLACE_ENDING;
	p->until = now_ns() + (given_up(u, p->src.cell) ?
	    ENDS_S * 1000ULL : DRAIN_MS) * 1000000ULL;
	tick(u);
}

/* A guest's end is that of its reports: whoever had the place has gone. */
static void
place_report(struct answers *u, struct place *p)
{
	if (p->src.report < 0 || report_read(u, &p->src))
		return;
	if (p->state == PLACE_ENDING)
		place_free(u, p);
}

/* owner: -1 when this came for a cell that had the place before. */
static void
place_owner(struct answers *u, struct place *p)
{
	if (p->src.owner < 0 || owner_read(&p->src))
		return;
	if (p->state == PLACE_ENDING || out_of_memory(u, &p->src))
		place_free(u, p);
	else
		cell_lost(u, "judge/fresh");
}

static void
timer_read(struct answers *u)
{
	uint64_t n, at = now_ns();
	bool more = false;

	if (read(u->timer, &n, sizeof n) < 0)
		return;
	u->wakes = 0;
	for (unsigned i = 0; i < u->places; i++) {
		struct place *p = &u->place[i];

		if (p->state == PLACE_ENDING && at >= p->until)
			place_free(u, p);
		more |= p->state == PLACE_ENDING;
	}
	u->deaf = false;		/* there may be room again */
	fresh_next(u);
	if (more)
		tick(u);
}

/* --- what BAILIFF_ANSWER says -------------------------------------------- */

static void
conn_drop(struct answers *u, struct conn *c)
{
	struct place *p = c->place;

	(void)close(c->fd);
	c->fd = -1;
	free(c->bytes);
	c->bytes = NULL;
	c->n = c->want = 0;
	c->ticket = 0;
	c->cell = 0;
	c->place = NULL;
	if (p != NULL)
		place_end(u, p);
	u->deaf = false;		/* there is room for another one */
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
		if (c->fd < 0) {
			tick(u);	/* nobody's end may be to come */
			break;
		}
		if (send(c->fd, &u->conf, n, MSG_DONTWAIT | MSG_NOSIGNAL) !=
		    (ssize_t)n)
			conn_drop(u, c);
	}
	/* no room, or no descriptor: until another one's end, or a tick */
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
	    (n->flags & ~(uint32_t)(NOTE_ENDS | NOTE_BROKEN)) == 0 &&
	    n->argv_bytes <= NOTE_ARGV_MAX && n->argc <= n->argv_bytes &&
	    n->out_kept <= u->conf.c.keep &&
	    n->err_kept <= u->conf.c.keep &&
	    n->out_kept <= n->out_bytes && n->err_kept <= n->err_bytes;
}

/* true: n says this one thing and nothing else. */
static bool
note_says(const struct note *n, uint32_t flag)
{
	const struct note bare = { .magic = NOTE_MAGIC,
	    .version = NOTE_VERSION, .flags = flag };

	return memcmp(n, &bare, sizeof bare) == 0;
}

/* A whole note: kept with its entry, unless that has one. */
static void
note_take(struct answers *u, struct conn *c)
{
	uint32_t cell = c->cell;
	struct entry *a;

	if ((c->note.flags & NOTE_STREAM) != 0)
		result_warn(u->r, "the judge let an answer inherit the stream "
		    "that its verdict is read from; the answer's output was "
		    "kept out of it (redirect it: to a file, a pipe, >&2)");
	if (!argv_sound(&c->note, c->bytes))
		return;
	a = entry_of(u, cell, c->note.spawn);
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
	if ((a->note.flags & NOTE_TIME) == 0 || !a->started || a->ended)
		return;
	if (cell == 0)
		hurry(&u->first, true);
	else if (c->place != NULL)
		hurry(&c->place->src, true);
}

/*
 * BAILIFF_ANSWER has heard nothing more of its answer's cell.  1: the answer
 * has brought that about, and a note of it comes next; -1: nobody has.
 */
static int
cell_told_gone(struct answers *u, const struct conn *c)
{
	struct source *s = c->cell == 0 ? &u->first : NULL;

	for (unsigned i = 0; s == NULL && i < u->places; i++)
		if (u->place[i].state != PLACE_FREE &&
		    u->place[i].src.cell == c->cell)
			s = &u->place[i].src;
	/* a fresh one that has gone already went so */
	if (s == NULL || s->gone || out_of_memory(u, s))
		return 1;
	cell_lost(u, "judge/answer_cell");
	return -1;
}

/*
 * The first datagram.  0: what it promises comes next; 1: a cell is wanted;
 * -1: no note, too large a one, or the last word of a judge.
 */
static int
note_head(struct answers *u, struct conn *c, ssize_t n)
{
	struct bl_err *e = &u->r->fail;

	if (n != (ssize_t)sizeof c->note)
		return -1;
	if (note_says(&c->note, NOTE_FRESH) && c->ticket == 0 &&
	    c->place == NULL) {
		c->ticket = ++u->tickets;
		fresh_next(u);
		return 1;
	}
	if (note_says(&c->note, NOTE_IN_JUDGE)) {
		(void)err_set(e, BL_KIND_JUDGE, "answer_in_judge", "judge", 0,
		    "the judge would run the answer's code in its own process");
		err_hint(e, "load it by bailiff.load, or choose --judge-mode "
		    "shared");
		return -1;
	}
	if (!note_sound(u, &c->note))
		return -1;
	if ((c->note.flags & NOTE_BROKEN) != 0 && c->note.spawn == EPIPE)
		return cell_told_gone(u, c);
	if ((c->note.flags & NOTE_BROKEN) != 0) {
		(void)err_set(e, BL_KIND_INFRA, "answer_program",
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

/* One datagram of what a note promised.  0, or -1: it did not. */
static int
note_body(struct answers *u, struct conn *c, ssize_t n)
{
	if ((size_t)n > sizeof u->chunk || (size_t)n > c->want - c->n)
		return -1;
	memcpy(c->bytes + c->n, u->chunk, (size_t)n);
	c->n += (size_t)n;
	return 0;
}

static void
conn_read(struct answers *u, struct conn *c)
{
	ssize_t n;

	for (;;) {
		int r;

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
		r = c->bytes == NULL ? note_head(u, c, n) :
		    note_body(u, c, n);
		if (r < 0)
			break;
		if (r == 0 && c->n == c->want) {
			note_take(u, c);
			break;
		}
	}
	conn_drop(u, c);
}

static void
step(struct answers *u, enum watched what, size_t i)
{
	switch (what) {
	case W_REPORT:
		if (u->first.report >= 0 && !report_read(u, &u->first) &&
		    !out_of_memory(u, &u->first))
			cell_lost(u, "judge/report");
		break;
	case W_OWNER:
		if (u->first.owner >= 0 && !owner_read(&u->first) &&
		    !out_of_memory(u, &u->first))
			cell_lost(u, "judge/answer_cell");
		break;
	case W_LISTENER:
		conns_accept(u);
		break;
	case W_TIMER:
		timer_read(u);
		break;
	case W_HELPER:
		helper_read(u);
		break;
	case W_CONN:
		if (u->conn[i].fd >= 0)
			conn_read(u, &u->conn[i]);
		break;
	case W_FILES:
		files_read(u, &u->place[i]);
		break;
	case W_PLACE_REPORT:
		place_report(u, &u->place[i]);
		break;
	case W_PLACE_OWNER:
		place_owner(u, &u->place[i]);
		break;
	}
}

/* What came for something that has ended meanwhile finds nothing to do. */
void
answers_take(struct answers *u, const struct pollfd *pf, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (pf[i].revents != 0)
			step(u, u->tag[i].what, u->tag[i].i);
}

bool
answers_step(struct answers *u, int wait_ms)
{
	struct pollfd pf[ANSWERS_POLL];
	unsigned n = answers_fill(u, pf);

	if (poll(pf, n, wait_ms) <= 0)
		return false;
	answers_take(u, pf, n);
	return true;
}

static void
await_ends(struct answers *u)
{
	const struct bl_err e = { .kind = BL_KIND_INFRA,
	    .code = "cell_silent", .step = "judge/answers",
	    .message = "an answer's cell did not tell of its end" };
	uint64_t until = now_ns() + ENDS_S * 1000000000ULL;

	while (given_up(u, ANY_CELL) && now_ns() < until)
		(void)answers_step(u, 20);
	if (given_up(u, ANY_CELL))
		lost(u, &e);
}

void
answers_drain(struct answers *u)
{
	uint64_t until;

	await_ends(u);
	until = now_ns() + DRAIN_MS * 1000000ULL;
	for (;;) {
		bool open = u->first.running != 0;

		while (answers_step(u, 0) && now_ns() < until)
			;
		for (size_t i = 0; i < u->n; i++)
			open |= u->entry[i].cell == 0 && !u->entry[i].ended;
		open = open && u->first.report >= 0;
		for (unsigned i = 0; i < u->places; i++)
			open |= u->place[i].state != PLACE_FREE &&
			    u->place[i].state != PLACE_HELD;
		if (!open || now_ns() >= until)
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

/* How it ended: cell init's word, but for limits that are not its own. */
static int
put_end(json_t *o, const struct entry *a)
{
	struct bl_exit x = a->end.u.exit;
	int bad = 0;

	if (a->ended && a->end.kind == BL_EV_EXIT) {
		if (x.limit == BL_LIMIT_NONE &&
		    (a->note.flags & NOTE_TIME) != 0)
			x.limit = BL_LIMIT_TIME;
		if (x.limit == BL_LIMIT_NONE &&
		    (a->note.flags & NOTE_OUTPUT) != 0)
			x.limit = BL_LIMIT_OUTPUT;
		return put_exit(o, &x) | put_evidence(o, a->has_group ?
		    &a->counted : NULL);
	}
	bad |= put_null(o, "exit_code");
	bad |= put_null(o, "signal");
	bad |= put_str(o, "limit", a->ended ? limit_name(BL_LIMIT_START) :
	    a->noted && (a->note.flags & NOTE_TIME) != 0 ?
	    limit_name(BL_LIMIT_TIME) : NULL);
	bad |= put_num(o, "wall_ms", 0);
	bad |= put_num(o, "cpu_ms", 0);
	bad |= put_evidence(o, NULL);
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
			(void)err_memory(&u->r->fail, "judge");
			return;
		}
		if (json_array_append_new(u->r->answers, o) != 0)
			(void)err_memory(&u->r->fail, "judge");
	}
}

/* --- its life ------------------------------------------------------------- */

struct answers *
answers_new(struct result *r, const struct answers_conf *want)
{
	struct answers *u = calloc(1, sizeof *u);
	struct note_conf *c;

	if (u == NULL) {
		(void)err_memory(&r->fail, "judge");
		return NULL;
	}
	u->r = r;
	u->listener = u->timer = -1;
	u->first.report = u->first.owner = -1;
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
	u->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (u->timer < 0)
		(void)err_set(&r->fail, BL_KIND_INFRA, "no_descriptors",
		    "judge/watch", errno, "no timer: %s", strerror(errno));
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
answers_until(struct answers *u, uint64_t ns)
{
	u->conf.c.deadline_ns = ns;
}

void
answers_fresh(struct answers *u, const struct fresh_conf *f, uint32_t slots)
{
	u->fresh = f;
	u->places = slots <= 2 ? 0 : slots - 2 < FRESH_MAX ? slots - 2 :
	    FRESH_MAX;
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
answers_watch(struct answers *u, int listener, int report,
    const struct bl_cell *cell)
{
	u->listener = listener;
	u->first.report = report;
	u->first.owner = cell->owner;
	u->first.group = &cell->group;
	/* conns_accept goes on until there is nobody */
	if (fcntl(listener, F_SETFL, O_NONBLOCK) != 0)
		return err_set(&u->r->fail, BL_KIND_INFRA, "no_descriptors",
		    "judge/watch", errno, "fcntl: %s", strerror(errno));
	return 0;
}

void
answers_leaving(struct answers *u, void (*fn)(void *, struct bl_cell *),
    void *ctx)
{
	u->leaving = fn;
	u->leaving_ctx = ctx;
}

void
answers_left(struct answers *u)
{
	for (unsigned i = 0; i < FRESH_MAX; i++)
		if (u->place[i].state != PLACE_FREE)
			place_leave(u, &u->place[i]);
	u->leaving = NULL;
}

void
answers_free(struct answers *u)
{
	if (u == NULL)
		return;
	u->deaf = false;
	u->asking = NULL;
	for (unsigned i = 0; i < FRESH_MAX; i++)
		if (u->place[i].state != PLACE_FREE)
			fresh_close(&u->place[i].f);	/* answers_left was */
	for (unsigned i = 0; i < CONNS_MAX; i++) {
		u->conn[i].place = NULL;
		if (u->conn[i].fd >= 0)
			conn_drop(u, &u->conn[i]);
	}
	for (size_t i = 0; i < u->n; i++)
		free(u->entry[i].bytes);
	free(u->entry);
	if (u->timer >= 0)
		(void)close(u->timer);
	free(u);
}

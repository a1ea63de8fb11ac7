/* Moves a command's bytes, with a cap on each stream, until it has ended. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cells.h"
#include "sink.h"

enum {
	CHUNK	  = 1 << 14,
	KILL_MS	  = 5000,		/* from a kill to the end's event */
	FLUSH_MS  = 60000,		/* for a slow reader of the rest */
	DRAIN_MAX = 1 << 20,		/* what a pipe can hold, by pipe(7) */
	OWN	  = 7,			/* slots of ours */
	SLOTS	  = OWN + PUMP_EXTRA
};

struct flow {				/* one output stream while it runs */
	struct pump_stream *st;
	int	*from;
	struct sink sink;
};

struct state {
	struct pump *p;
	struct bl_spawn *s;
	struct bl_err *e;
	struct flow flow[3];
	char	 in[CHUNK];
	size_t	 at, n;			/* of in, not yet written */
	bool	 in_open, in_ready;	/* in_ready: from can be read */
	bool	 failed, killed;
	bool	 lost;			/* output that nobody ever took */
	uint64_t until;
};

/* 0, or -ENOMEM. */
static int
keep_bytes(struct pump_stream *st, const char *b, size_t n)
{
	size_t want = st->keep > st->n ? st->keep - st->n : 0;

	if (want > n)
		want = n;
	if (want > 0) {
		/* Power-of-two steps; a kept size is asked for, not trusted. */
		size_t room = 4096, old = 4096;
		char *v = st->data;

		while (room < st->n + want)
			room *= 2;
		while (old < st->n)
			old *= 2;
		if (v == NULL || room != old)
			v = realloc(st->data, room);
		if (v == NULL)
			return -ENOMEM;
		st->data = v;
		memcpy(st->data + st->n, b, want);
		st->n += want;
		b += want;
		n -= want;
	}
	if (st->keep_tail == 0 || n == 0)
		return 0;
	if (st->tail == NULL && (st->tail = malloc(2 * st->keep_tail)) == NULL)
		return -ENOMEM;
	if (n > st->keep_tail) {
		b += n - st->keep_tail;
		n = st->keep_tail;
	}
	if (st->ntail + n > 2 * st->keep_tail) {
		size_t stay = st->keep_tail - n;

		memmove(st->tail, st->tail + st->ntail - stay, stay);
		st->ntail = stay;
	}
	memcpy(st->tail + st->ntail, b, n);
	st->ntail += n;
	return 0;
}

static void
tail_cut(struct pump_stream *st)
{
	if (st->ntail <= st->keep_tail)
		return;
	memmove(st->tail, st->tail + st->ntail - st->keep_tail, st->keep_tail);
	st->ntail = st->keep_tail;
}

static void
stop(struct state *t)
{
	uint64_t until = now_ns() + KILL_MS * 1000000ULL;

	if (t->killed)
		return;
	t->killed = true;
	spawn_kill(t->s);
	if (until < t->until)
		t->until = until;
}

static void
fail(struct state *t)
{
	t->failed = true;
	stop(t);
}

/* What came, against the cap: the bytes of it that are let through. */
static size_t
within(struct pump_stream *st, size_t n)
{
	uint64_t left = st->bytes < st->max ? st->max - st->bytes : 0;

	st->bytes += n;
	if (n <= left)
		return n;
	st->capped = true;
	return (size_t)left;
}

/* 1: bytes came; 0: none now; -1: the pipe's end. */
static int
flow_read(struct state *t, struct flow *f)
{
	struct pump_stream *st = f->st;
	char buf[CHUNK / 4];
	ssize_t n = read(*f->from, buf, sizeof buf);
	size_t pass;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	pass = within(st, (size_t)n);
	if (keep_bytes(st, buf, st->drop ? (size_t)n : pass) != 0) {
		(void)err_memory(t->e, "pump");
		fail(t);
	}
	if (pass > 0)
		sink_put(&f->sink, buf, pass);
	if (st->capped && !st->drop)
		stop(t);
	return 1;
}

static void
flow_end(struct flow *f)
{
	if (*f->from >= 0)
		(void)close(*f->from);
	*f->from = -1;
	sink_end(&f->sink);
}

static void
flow_flush(struct state *t, struct flow *f)
{
	int r = sink_flush(&f->sink);

	if (r >= 0)
		return;
	(void)err_set(t->e, BL_KIND_INFRA, "output_failed", "pump/output", r,
	    "the command's output can't be written: %s", strerror(-r));
	sink_close(&f->sink);
	sink_drop(&f->sink);
	if (r == -EBADF)
		t->lost = true;		/* closed from the start: go on without */
	else
		fail(t);
}

static void
in_end(struct state *t)
{
	if (t->s->in >= 0)
		(void)close(t->s->in);
	t->s->in = -1;
	t->in_open = false;
}

static void
in_move(struct state *t, bool readable)
{
	ssize_t n;

	if (!t->in_open)
		return;
	if (t->n == 0 && readable) {
		n = read(t->p->from, t->in, sizeof t->in);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return;
		if (n <= 0) {
			in_end(t);
			return;
		}
		t->at = 0;
		t->n = (size_t)n;
	}
	if (t->n == 0)
		return;
	n = write(t->s->in, t->in + t->at, t->n);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		in_end(t);		/* nobody reads it: not an error */
	if (n > 0) {
		t->at += (size_t)n;
		t->n -= (size_t)n;
	}
}

static void
slot(struct pollfd *pf, int fd, short events)
{
	pf->fd = fd;			/* poll(2) passes over negative ones */
	pf->events = events;
	pf->revents = 0;
}

/*
 * Slots: 0 reply, 1 cancel, 2 from, 3 in, 4 to 6 a stream's pipe or, while
 * bytes of it wait, where they go; OWN on: extra.
 */
static unsigned
slots_fill(struct state *t, struct pollfd *pf)
{
	struct pump *p = t->p;

	slot(&pf[0], t->s->ended ? -1 : t->s->reply, POLLIN);
	slot(&pf[1], t->killed ? -1 : p->cancel_fd, POLLIN);
	slot(&pf[2], t->in_open && t->n == 0 ? p->from : -1, POLLIN);
	/* POLLERR comes unasked: nobody reads any more. */
	slot(&pf[3], t->s->in, t->n > 0 ? POLLOUT : 0);
	for (unsigned i = 0; i < 3; i++) {
		struct flow *f = &t->flow[i];

		if (sink_waits(&f->sink))
			slot(&pf[4 + i], f->sink.fd, POLLOUT);
		else
			slot(&pf[4 + i], *f->from, POLLIN);
	}
	return OWN + (p->extra != NULL ? p->extra(p->ctx, pf + OWN) : 0);
}

static void
turn(struct state *t, const struct pollfd *pf, unsigned n)
{
	for (unsigned i = 0; i < 3; i++) {
		struct flow *f = &t->flow[i];

		if (pf[4 + i].fd < 0 || pf[4 + i].revents == 0)
			continue;
		if (!sink_waits(&f->sink) && flow_read(t, f) < 0)
			flow_end(f);
		if (sink_waits(&f->sink))
			flow_flush(t, f);
	}
	if (pf[3].fd >= 0 && (pf[3].revents & (POLLERR | POLLNVAL)) != 0)
		in_end(t);
	if (pf[2].revents != 0 || pf[3].revents != 0)
		in_move(t, pf[2].fd >= 0 && pf[2].revents != 0);
	if (t->p->on_extra != NULL)
		t->p->on_extra(t->p->ctx, pf + OWN, n - OWN);
	if (pf[1].fd >= 0 && pf[1].revents != 0) {
		(void)err_set(t->e, BL_KIND_CANCELLED, "cancelled", "pump", 0,
		    "cancelled");
		fail(t);
	}
	/* Last: the end of a command is no reason to lose what it wrote. */
	if (pf[0].fd >= 0 && pf[0].revents != 0 &&
	    spawn_event(t->s, 0, t->e) < 0) {
		t->failed = true;
		t->until = 0;		/* the cell is gone: no more waiting */
	}
}

/* All that waits in f's sink, unless something has failed already. */
static void
flow_finish(struct state *t, struct flow *f, uint64_t until)
{
	int r = t->failed ? 0 : sink_finish(&f->sink, until, t->p->cancel_fd);

	if (r == -ECANCELED)
		(void)err_set(t->e, BL_KIND_CANCELLED, "cancelled", "pump", 0,
		    "cancelled");
	else if (r < 0)
		(void)err_set(t->e, BL_KIND_INFRA, "output_failed",
		    "pump/output", r, "the command's output can't be written: "
		    "%s", strerror(-r));
	t->failed |= r < 0 && r != -EBADF;
	t->lost |= r == -EBADF;
	if (t->failed || r < 0)
		sink_drop(&f->sink);
}

/* After the end: what is still in the pipes, and what waits to be written. */
static void
drain(struct state *t)
{
	uint64_t until = now_ns() + FLUSH_MS * 1000000ULL;

	for (unsigned i = 0; i < 3; i++) {
		struct flow *f = &t->flow[i];
		uint64_t first = f->st->bytes;

		flow_finish(t, f, until);
		/* Bounded: in a kept cell a job may go on writing. */
		while (*f->from >= 0 && f->st->bytes - first < DRAIN_MAX &&
		    flow_read(t, f) > 0)
			flow_finish(t, f, until);
		flow_end(f);
		flow_finish(t, f, until);
		tail_cut(f->st);
	}
}

static void
state_init(struct state *t, struct pump *p, struct bl_spawn *s,
    struct bl_err *e)
{
	struct pump_stream *st[3] = { &p->out, &p->err, &p->result };
	int *from[3] = { &s->out, &s->err, &s->result };

	memset(t, 0, offsetof(struct state, in));
	t->p = p;
	t->s = s;
	t->e = e;
	t->at = t->n = 0;
	t->failed = t->killed = t->lost = false;
	t->until = p->until_ns;
	t->in_open = s->in >= 0 && p->from >= 0;
	for (unsigned i = 0; i < 3; i++) {
		st[i]->data = st[i]->tail = NULL;
		st[i]->n = st[i]->ntail = 0;
		st[i]->bytes = 0;
		st[i]->capped = false;
		t->flow[i].st = st[i];
		t->flow[i].from = from[i];
		sink_open(&t->flow[i].sink, st[i]->to);
	}
	if (!t->in_open)
		in_end(t);
}

int
pump_run(struct pump *p, struct bl_spawn *s, struct bl_err *e)
{
	struct bl_err mine = { .kind = BL_KIND_NONE };
	struct state *t = malloc(sizeof *t);
	struct pollfd pf[SLOTS];
	int r;

	if (t == NULL)
		return err_memory(e, "pump");
	state_init(t, p, s, e == NULL ? &mine : e);
	while (!s->ended) {
		uint64_t now = now_ns();
		unsigned n = slots_fill(t, pf);
		bool late = now >= t->until;

		/* late: it may have told while something else kept us */
		r = poll(pf, n, late ? 0 : (int)((t->until - now) / 1000000 >
		    60000 ? 60000 : (t->until - now) / 1000000 + 1));
		if (r < 0 && errno != EINTR) {
			(void)err_set(t->e, BL_KIND_INFRA, "poll_failed",
			    "pump", errno, "poll: %s", strerror(errno));
			t->failed = true;
			break;
		}
		if (r > 0)
			turn(t, pf, n);
		if (late && !s->ended) {
			if (!t->failed)
				(void)err_set(t->e, BL_KIND_INFRA,
				    "cell_silent", "pump", 0,
				    "the cell did not tell of the command's "
				    "end in time");
			t->failed = true;
			break;
		}
	}
	in_end(t);
	if (s->ended && p->on_end != NULL)
		p->on_end(p->ctx);
	drain(t);
	for (unsigned i = 0; i < 3; i++)
		sink_close(&t->flow[i].sink);
	r = t->failed || t->lost ? -1 : 0;
	free(t);
	return r;
}

void
pump_free(struct pump *p)
{
	struct pump_stream *st[3] = { &p->out, &p->err, &p->result };

	for (unsigned i = 0; i < 3; i++) {
		free(st[i]->data);
		free(st[i]->tail);
		st[i]->data = st[i]->tail = NULL;
		st[i]->n = st[i]->ntail = 0;
	}
}

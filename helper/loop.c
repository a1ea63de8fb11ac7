/* Cell init's loop: who may ask for what, and whose end is its own. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "fd.h"
#include "loop.h"

static int
op_go(struct loop *l, const struct bl_req *q, struct fdbag *b)
{
	(void)q;
	(void)b;
	l->state = ST_READY;
	return 0;
}

static int
op_spawn(struct loop *l, const struct bl_req *q, struct fdbag *b)
{
	if (l->run.pid == 0) {
		spawn_start(l, q, b, -1);
		return 0;
	}
	l->waits = 1;			/* the owner is not read until it ran */
	l->next = *q;
	l->next_fds = *b;
	b->n = 0;
	return 0;
}

static int
op_kill(struct loop *l, const struct bl_req *q, struct fdbag *b)
{
	(void)q;
	(void)b;
	spawn_stop(l, BL_LIMIT_NONE);
	return 0;
}

/* ATTACH and LISTEN: fds are a guest's socket and its report socket. */
static int
op_guest(struct loop *l, const struct bl_req *q, struct fdbag *b)
{
	int listening = q->op == BL_OP_LISTEN;
	struct guest *g = listening ? l->listener : l->guest;
	unsigned i, n = listening ? LISTENERS_MAX : GUESTS_MAX;

	if (wire_is_ours(b->fd[0], listening) != 0 ||
	    wire_is_ours(b->fd[1], 0) != 0 ||
	    (listening && fcntl(b->fd[0], F_SETFL, O_NONBLOCK) != 0))
		return -EPROTO;
	for (i = 0; i < n && g[i].sock >= 0; i++)
		;
	if (i == n)
		return -EMFILE;
	g[i].sock = b->fd[0];
	g[i].report = b->fd[1];		/* kept for as long as the cell lives */
	b->n = 0;
	return 0;
}

static int
op_absent(struct loop *l, const struct bl_req *q, struct fdbag *b)
{
	struct bl_rep p = wire_reply(q->op, q->seq);

	(void)b;
	p.status = -ENOSYS;
	p.step = BL_AT_UNKNOWN;
	p.object = q->op;
	return wire_send(l->cell->owner, &p, sizeof p, NULL, 0);
}

/* Descriptors are counted exactly by bl_req_fds before this is reached. */
static const struct owner_op {
	unsigned when;
	int (*fn)(struct loop *, const struct bl_req *, struct fdbag *);
} owner_ops[BL_OP_MAX] = {
	[BL_OP_GO]	= { ST_NEW,   op_go },
	[BL_OP_SPAWN]	= { ST_READY, op_spawn },
	[BL_OP_KILL]	= { ST_READY, op_kill },
	[BL_OP_PAUSE]	= { ST_READY, op_absent },
	[BL_OP_RESUME]	= { ST_READY, op_absent },
	[BL_OP_ATTACH]	= { ST_READY, op_guest },
	[BL_OP_LISTEN]	= { ST_READY, op_guest },
};

/* The owner's end, or a word of its that is none, ends the cell. */
static void
owner_step(struct loop *l)
{
	const struct owner_op *op;
	struct fdbag b;
	struct bl_req q;
	int r = wire_request(l->cell->owner, &q, &b);

	if (r == -EAGAIN)
		return;
	if (r != 1)
		die(BL_AT_WIRE);
	op = &owner_ops[q.op < BL_OP_MAX ? q.op : 0];
	if (op->fn == NULL || (op->when & l->state) == 0 ||
	    op->fn(l, &q, &b) != 0)
		die(BL_AT_WIRE);
	bag_drop(&b);
}

/* A guest may SPAWN; its end, or anything else, is the end of the guest. */
static void
guest_step(struct loop *l, struct guest *g)
{
	struct fdbag b;
	struct bl_req q;
	int r = wire_request(g->sock, &q, &b);

	if (r == -EAGAIN)
		return;
	if (r == 1 && q.op == BL_OP_SPAWN) {
		spawn_start(l, &q, &b, g->report);
		return;
	}
	if (r == 1)
		bag_drop(&b);
	fd_drop(&g->sock);
}

static void
listener_step(struct loop *l, const struct guest *from)
{
	unsigned i;

	for (i = 0; i < GUESTS_MAX && l->guest[i].sock >= 0; i++)
		;
	if (i == GUESTS_MAX)
		return;
	l->guest[i].sock = accept4(from->sock, NULL, NULL, SOCK_CLOEXEC);
	l->guest[i].report = from->report;
}

/* Reads what woke a timerfd or the signalfd, so that it may wake again. */
static void
quiet(int fd)
{
	struct signalfd_siginfo junk;

	if (read(fd, &junk, sizeof junk) < 0 && errno != EAGAIN)
		die(BL_AT_SIGNALS);
}

enum { P_OWNER, P_HELPER, P_SIGNALS, P_CELL, P_SPAWN, P_LAUNCH, P_REPLY,
    P_LISTEN, P_GUEST = P_LISTEN + LISTENERS_MAX, P_MAX = P_GUEST + GUESTS_MAX };

/* While a spawn runs nobody is read who could only ask for another one. */
static void
loop_watch(const struct loop *l, struct pollfd p[P_MAX])
{
	int idle = l->run.pid == 0;
	unsigned i, room = 0;

	for (i = 0; i < GUESTS_MAX; i++)
		room |= l->guest[i].sock < 0;
	p[P_OWNER] = (struct pollfd){ l->cell->owner,
	    l->waits ? 0 : POLLIN, 0 };
	p[P_HELPER] = (struct pollfd){ l->cell->helper, POLLIN, 0 };
	p[P_SIGNALS] = (struct pollfd){ l->signals, POLLIN, 0 };
	p[P_CELL] = (struct pollfd){ l->cell_timer, POLLIN, 0 };
	p[P_SPAWN] = (struct pollfd){ l->spawn_timer, POLLIN, 0 };
	p[P_LAUNCH] = (struct pollfd){ idle ? -1 : l->run.launch, POLLIN, 0 };
	p[P_REPLY] = (struct pollfd){ idle ? -1 : l->run.reply, POLLRDHUP, 0 };
	for (i = 0; i < LISTENERS_MAX; i++)
		p[P_LISTEN + i] = (struct pollfd){
		    room ? l->listener[i].sock : -1, POLLIN, 0 };
	for (i = 0; i < GUESTS_MAX; i++)
		p[P_GUEST + i] = (struct pollfd){
		    idle ? l->guest[i].sock : -1, POLLIN, 0 };
}

/* One round.  Ends are looked at before clocks: what ended first counts. */
static void
loop_turn(struct loop *l, const struct pollfd p[P_MAX])
{
	unsigned i;

	if ((p[P_OWNER].revents & (POLLHUP | POLLERR)) != 0 ||
	    p[P_HELPER].revents != 0)
		die(BL_AT_GONE);
	if (p[P_LAUNCH].revents != 0)
		spawn_launched(l);
	if (p[P_SIGNALS].revents != 0) {
		quiet(l->signals);
		spawn_reap(l);
	}
	if (p[P_SPAWN].revents != 0) {
		quiet(l->spawn_timer);
		spawn_stop(l, BL_LIMIT_TIME);
	}
	if (p[P_CELL].revents != 0) {
		quiet(l->cell_timer);
		l->late = 1;
		spawn_stop(l, BL_LIMIT_TIME);
	}
	if (p[P_REPLY].revents != 0 && l->run.pid != 0)
		spawn_stop(l, BL_LIMIT_NONE);
	if (l->run.pid == 0 && l->waits) {
		l->waits = 0;
		spawn_start(l, &l->next, &l->next_fds, -1);
	}
	if (p[P_OWNER].revents != 0)
		owner_step(l);
	for (i = 0; i < LISTENERS_MAX; i++)
		if (p[P_LISTEN + i].revents != 0)
			listener_step(l, &l->listener[i]);
	for (i = 0; i < GUESTS_MAX && l->run.pid == 0; i++)
		if (p[P_GUEST + i].revents != 0)
			guest_step(l, &l->guest[i]);
}

void
loop_run(const struct cell *c)
{
	static struct loop loop;
	struct loop *l = &loop;
	struct pollfd p[P_MAX];
	sigset_t child;
	unsigned i;

	l->cell = c;
	l->state = ST_NEW;
	for (i = 0; i < LISTENERS_MAX; i++)
		l->listener[i].sock = -1;
	for (i = 0; i < GUESTS_MAX; i++)
		l->guest[i].sock = -1;
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	l->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	l->cell_timer = timerfd_create(CLOCK_MONOTONIC,
	    TFD_CLOEXEC | TFD_NONBLOCK);
	l->spawn_timer = timerfd_create(CLOCK_MONOTONIC,
	    TFD_CLOEXEC | TFD_NONBLOCK);
	if (sigprocmask(SIG_SETMASK, &child, NULL) != 0 || l->signals < 0 ||
	    l->cell_timer < 0 || l->spawn_timer < 0 ||
	    limits_timer(l->cell_timer, c->req.deadline_ns) != 0)
		die(BL_AT_SIGNALS);
	for (;;) {
		loop_watch(l, p);
		if (poll(p, P_MAX, -1) >= 0)
			loop_turn(l, p);
		else if (errno != EINTR)
			die(BL_AT_WIRE);
	}
}

/* Cell init's loop: who may ask for what, and whose end is its own. */
#include "loop.h"
#include "ops.h"
#include "sys.h"

static int
op_go(struct loop *l)
{
	l->state = ST_READY;
	return 0;
}

static int
op_spawn(struct loop *l)
{
	l->waits = l->run.pid != 0;	/* the owner is not read until it ran */
	if (!l->waits)
		spawn_start(l, -1);
	return 0;
}

static int
op_kill(struct loop *l)
{
	spawn_stop(l, BL_LIMIT_NONE);
	return 0;
}

static struct guest *
guest_free(struct loop *l)
{
	struct guest *g = l->guest;

	while (g < l->guest + GUESTS_MAX && g->sock >= 0)
		g++;
	return g < l->guest + GUESTS_MAX ? g : NULL;
}

/* ATTACH and LISTEN: the descriptors are a guest's socket and its report's. */
static int
op_guest(struct loop *l)
{
	struct guest *g = guest_free(l);
	int listening = l->q.op == BL_OP_LISTEN;

	if (g == NULL || wire_is_ours(l->b.fd[0], listening) != 0 ||
	    wire_is_ours(l->b.fd[1], 0) != 0 ||
	    (listening && fcntl(l->b.fd[0], F_SETFL, O_NONBLOCK) != 0))
		return -EPROTO;
	*g = (struct guest){ l->b.fd[0], l->b.fd[1], listening };
	l->b.n = 0;
	return 0;
}

static int
op_absent(struct loop *l)
{
	struct bl_rep p = wire_reply(l->q.op, l->q.seq);

	(void)wire_fail(&p, BL_AT_UNKNOWN, l->q.op, ENOSYS);
	return wire_send(l->cell->owner, &p, sizeof p, NULL, 0);
}

/* Descriptors are counted exactly by bl_req_fds before this is reached. */
static const struct owner_op {
	unsigned when;
	int (*fn)(struct loop *);
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
	int r = wire_request(l->cell->owner, &l->q, &l->b);

	if (r == -EAGAIN)
		return;
	op = &owner_ops[r == 1 && l->q.op < BL_OP_MAX ? l->q.op : 0];
	if (op->fn == NULL || (op->when & l->state) == 0 || op->fn(l) != 0)
		die(BL_AT_WIRE);
	if (!l->waits)
		bag_drop(&l->b);
}

/* A guest may SPAWN; its end, or anything else, is the end of the guest. */
static void
guest_step(struct loop *l, struct guest *g)
{
	struct guest *other = guest_free(l);
	int r = -EAGAIN;

	if (!g->listening)
		r = wire_request(g->sock, &l->q, &l->b);
	else if (other != NULL)		/* -1 if it has gone again: still free */
		*other = (struct guest){ accept4(g->sock, NULL, NULL,
		    SOCK_CLOEXEC), g->report, 0 };
	if (r == 1 && l->q.op == BL_OP_SPAWN)
		spawn_start(l, g->report);
	else if (r != -EAGAIN)
		fd_drop(&g->sock);
	bag_drop(&l->b);
}

enum { P_OWNER, P_HELPER, P_SIGNALS, P_CELL, P_SPAWN, P_LAUNCH, P_REPLY,
    P_GUEST, P_MAX = P_GUEST + GUESTS_MAX };

/* While a spawn runs nobody is read who could only ask for another one. */
static void
loop_watch(struct loop *l, struct pollfd p[P_MAX])
{
	int idle = l->run.pid == 0, room = guest_free(l) != NULL;
	const int fd[P_GUEST] = { l->cell->owner, l->cell->helper, l->signals,
	    l->cell_timer, l->spawn_timer, idle ? -1 : l->run.launch,
	    idle ? -1 : l->run.reply };
	unsigned i;

	for (i = 0; i < P_GUEST; i++)
		p[i] = (struct pollfd){ fd[i], POLLIN, 0 };
	p[P_OWNER].events = l->waits ? 0 : POLLIN;
	p[P_REPLY].events = POLLRDHUP;
	for (i = 0; i < GUESTS_MAX; i++)
		p[P_GUEST + i] = (struct pollfd){
		    !l->waits && (l->guest[i].listening ? room : idle) ?
		    l->guest[i].sock : -1, POLLIN, 0 };
}

/* Reads what woke a timerfd or the signalfd, so that it may wake again. */
static int
woke(const struct pollfd *p)
{
	struct signalfd_siginfo junk;

	return p->revents != 0 && (read(p->fd, &junk, sizeof junk) > 0 ||
	    errno == EAGAIN);
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
	if (woke(&p[P_SIGNALS]))
		spawn_reap(l);
	if (woke(&p[P_SPAWN]))
		spawn_stop(l, BL_LIMIT_TIME);
	if (woke(&p[P_CELL])) {
		l->late = 1;
		spawn_stop(l, BL_LIMIT_TIME);
	}
	if (p[P_REPLY].revents != 0)
		spawn_stop(l, BL_LIMIT_NONE);
	if (l->waits && l->run.pid == 0) {
		l->waits = 0;
		spawn_start(l, -1);
	} else if (p[P_OWNER].revents != 0)
		owner_step(l);
	for (i = 0; i < GUESTS_MAX && !l->waits; i++)
		if (p[P_GUEST + i].revents != 0 &&
		    (l->run.pid == 0 || l->guest[i].listening))
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

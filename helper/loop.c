/* Cell init's loop: who may ask for what, and whose end is its own. */
#include "loop.h"
#include "sys.h"

static int
op_spawn(struct server *s)
{
	struct loop *l = (struct loop *)(void *)s;

	if (l->run.pid == 0)
		spawn_start(l, &s->q, &s->b, -1);
	else {
		l->waits = 1;		/* the owner is not read until it ran */
		l->next = s->b;
		s->b.n = 0;
	}
	return 0;
}

static int
op_kill(struct server *s)
{
	spawn_stop((struct loop *)(void *)s, BL_LIMIT_NONE);
	return 0;
}

/* One of the first n places, or NULL. */
static struct guest *
guest_free(struct loop *l, unsigned n)
{
	struct guest *g = l->guest;

	while (g < l->guest + n && g->sock >= 0)
		g++;
	return g < l->guest + n ? g : NULL;
}

/* ATTACH and LISTEN: the descriptors are a guest's socket and its report's. */
static int
op_guest(struct server *s)
{
	struct guest *g = guest_free((struct loop *)(void *)s, GUESTS_MAX);
	int listening = s->q.op == BL_OP_LISTEN;

	if (g == NULL || wire_is_ours(s->b.fd[0], listening) != 0 ||
	    wire_is_ours(s->b.fd[1], 0) != 0 ||
	    (listening && fcntl(s->b.fd[0], F_SETFL, O_NONBLOCK) != 0))
		return -EPROTO;
	*g = (struct guest){ s->b.fd[0], s->b.fd[1], listening };
	s->b.n = 0;
	return 0;
}

/* What the owner may ask of its cell, and when. */
static const struct op owner_ops[BL_OP_MAX] = {
	[BL_OP_GO]	= { ST_NEW,   ST_READY, NULL },
	[BL_OP_SPAWN]	= { ST_READY, ST_READY, op_spawn },
	[BL_OP_KILL]	= { ST_READY, ST_READY, op_kill },
	[BL_OP_PAUSE]	= { ST_READY, 0, NULL },
	[BL_OP_RESUME]	= { ST_READY, 0, NULL },
	[BL_OP_ATTACH]	= { ST_READY, ST_READY, op_guest },
	[BL_OP_LISTEN]	= { ST_READY, ST_READY, op_guest },
};

/* A guest may SPAWN; its end, or anything else, is the end of the guest. */
static void
guest_step(struct loop *l, struct guest *g)
{
	struct guest *other = guest_free(l, ACCEPTED_MAX);
	struct bl_req q;
	struct fdbag b = { .n = 0 };
	int r = g->listening ? -EAGAIN : wire_request(g->sock, &q, &b);

	if (g->listening && other != NULL)
		r = sys(accept4(g->sock, NULL, NULL, SOCK_CLOEXEC));
	if (g->listening && r >= 0) {
		*other = (struct guest){ r,
		    fcntl(g->report, F_DUPFD_CLOEXEC, 0), 0 };
		return;
	}
	if (r == 1 && q.op == BL_OP_SPAWN)
		spawn_start(l, &q, &b, g->report);
	else if (r != -EAGAIN) {
		fd_drop(&g->sock);
		fd_drop(&g->report);
	}
	bag_drop(&b);
}

enum { P_OWNER, P_HELPER, P_SIGNALS, P_REPLY, P_GUEST,
    P_MAX = P_GUEST + GUESTS_MAX };

/* While a spawn runs nobody is read who could only ask for another one. */
static void
loop_watch(struct loop *l, struct pollfd p[P_MAX])
{
	int idle = l->run.pid == 0, live = !idle && !l->run.stopped;
	const int fd[P_GUEST] = { l->owner.sock, l->cell->helper, l->signals,
	    live ? l->run.reply : -1 };
	unsigned i;

	for (i = 0; i < P_GUEST; i++)
		p[i] = (struct pollfd){ fd[i], POLLIN, 0 };
	p[P_OWNER].events = l->waits ? 0 : POLLIN;
	p[P_REPLY].events = POLLRDHUP;
	for (i = 0; i < GUESTS_MAX; i++)
		p[P_GUEST + i] = (struct pollfd){ (l->guest[i].listening ?
		    guest_free(l, ACCEPTED_MAX) != NULL : idle && !l->waits) ?
		    l->guest[i].sock : -1, POLLIN, 0 };
}

/* One round.  Ends are looked at before clocks: what ended first counts. */
static void
loop_turn(struct loop *l, const struct pollfd p[P_MAX])
{
	struct signalfd_siginfo junk;
	unsigned i;

	if ((p[P_OWNER].revents & (POLLHUP | POLLERR)) != 0 ||
	    p[P_HELPER].revents != 0)
		die(BL_AT_GONE);
	if (p[P_SIGNALS].revents != 0 &&
	    read(l->signals, &junk, sizeof junk) > 0)
		spawn_reap(l);
	if (limits_now() >= l->run.end_ns)	/* idle: does nothing */
		spawn_stop(l, BL_LIMIT_TIME);
	if (p[P_REPLY].revents != 0)
		spawn_stop(l, BL_LIMIT_NONE);
	if (l->waits && l->run.pid == 0) {
		l->waits = 0;
		spawn_start(l, &l->owner.q, &l->next, -1);
	} else if (p[P_OWNER].revents != 0 &&
	    wire_serve(&l->owner, owner_ops) != 1)
		die(BL_AT_WIRE);	/* the owner's end ends the cell */
	for (i = 0; i < GUESTS_MAX; i++)
		if (p[P_GUEST + i].revents != 0 &&
		    (l->run.pid == 0 || l->guest[i].listening))
			guest_step(l, &l->guest[i]);
}

void
loop_run(const struct cell *c)
{
	static struct loop l[1];
	struct pollfd p[P_MAX];
	uint64_t now, left;		/* left: ms, of the spawn's time */
	sigset_t child;

	*l = (struct loop){ .cell = c, .owner = { .sock = c->owner,
	    .state = ST_NEW }, .guest = { [0 ... GUESTS_MAX - 1] = { .sock = -1 } } };
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	l->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	l->launch = mmap(NULL, sizeof *l->launch, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sigprocmask(SIG_SETMASK, &child, NULL) != 0 || l->signals < 0 ||
	    l->launch == MAP_FAILED)
		die(BL_AT_SIGNALS);
	/* An hour too late is the end, too: an owner may never hang up. */
	while ((now = limits_now()) < c->req.deadline_ns + 3600000000000u) {
		loop_watch(l, p);
		left = l->run.pid == 0 || l->run.stopped ? UINT64_MAX :
		    l->run.end_ns > now ? (l->run.end_ns - now) / 1000000 + 1 : 0;
		if (poll(p, P_MAX, left < 60000 ? (int)left : 60000) >= 0)
			loop_turn(l, p);
		else if (errno != EINTR)
			die(BL_AT_WIRE);
	}
	die(BL_AT_GONE);
}

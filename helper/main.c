/*
 * bailiff-helper: the one privileged program.
 *
 * Start, then one session: requests come on descriptor 3, cells are
 * made, and the session's end, however it comes, is the end of every cell.
 */
#include "ops.h"
#include "sys.h"

/*
 * The administrator's log is told what HELLO and CELL were answered, and each
 * cell's end; the connection's end is the session's.  It is never waited for:
 * what has no room there is lost, and nothing else is.
 */
static void
audit_open(struct session *s)
{
	static const struct sockaddr_un log = { AF_UNIX, "/run/bailiff/audit" };

	s->audit = socket(AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)connect(s->audit, (const void *)&log, sizeof log);
}

/* For a helper that stands still as it starts: half a minute, and never. */
static const struct itimerspec still[2] = { { .it_value = { .tv_sec = 30 } } };

static int
op_hello(struct server *server)
{
	const struct session *s = (struct session *)(void *)server;
	struct bl_rep p = wire_reply(server->q.op, server->q.seq);

	p.u.hello = s->hello;
	(void)wire_send(s->audit, &p, NULL, 0);
	return wire_send(server->sock, &p, NULL, 0);
}

/* What a client may ask of the helper, and when. */
static const struct op ops[BL_OP_MAX] = {
	[BL_OP_HELLO]	= { ST_NEW,   ST_READY, op_hello },
	[BL_OP_CELL]	= { ST_READY, ST_READY, op_cell },
	[BL_OP_PATH]	= { ST_READY, 0, NULL },
	[BL_OP_BYE]	= { ST_READY, ST_DONE,  NULL },
};

/* A cell whose init has ended: its slot and its place are free. */
static void
session_reap(struct session *s, struct live *l)
{
	struct bl_rep p = wire_reply(BL_EV_EXIT, s->numbers);
	siginfo_t end = { .si_status = 0 };

	(void)waitid(P_PIDFD, (id_t)l->pidfd, &end, WEXITED);
	p.spawn = l->slot;
	p.step = (uint32_t)end.si_code;
	p.status = end.si_status;
	(void)wire_send(s->audit, &p, NULL, 0);
	(void)slot_lock(s->locks, l->slot, F_UNLCK);
	fd_drop(&l->pidfd);
}

/*
 * Every cell, at once (a free place is -1, which is no pidfd); one that can't
 * die yet is waited for 10 s, then left.
 */
static void
session_end(struct session *s)
{
	struct live *l;

	for (l = s->live; l < s->live + BL_CELLS_MAX; l++)
		(void)syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
	for (l = s->live; l < s->live + BL_CELLS_MAX; l++) {
		struct pollfd p = { l->pidfd, POLLIN, 0 };

		if (p.fd >= 0 && poll(&p, 1, 10000) == 1)
			session_reap(s, l);
	}
}

/* 0: the client is gone or done; -errno: it broke the protocol. */
static int
session_loop(struct session *s)
{
	struct pollfd p[BL_CELLS_MAX + 1];
	const uint64_t sure = limits_now() + 2000000000u;
	unsigned i;
	int r = 1, wait = 2000;

	while (r > 0 && s->server.state != ST_DONE) {
		for (i = 0; i < BL_CELLS_MAX; i++)
			p[i] = (struct pollfd){ s->live[i].pidfd, POLLIN, 0 };
		p[i] = (struct pollfd){ s->server.sock, POLLIN, 0 };
		if (poll(p, BL_CELLS_MAX + 1, wait) < 0 && errno != EINTR)
			return -errno;
		if (wait > 0 && limits_now() >= sure)	/* see main */
			wait = timer_settime(s->watchdog, 0, &still[1], NULL) - 1;
		for (i = 0; i < BL_CELLS_MAX; i++)
			if (p[i].fd >= 0 && p[i].revents != 0)
				session_reap(s, &s->live[i]);
		if (p[i].revents != 0)
			r = wire_serve(&s->server, ops);
	}
	return r < 0 ? r : 0;
}

int
main(int argc, unused char **argv)
{
	static struct session s[1];
	struct sigevent end = { .sigev_signo = SIGKILL };	/* by the kernel */
	int r;

	*s = (struct session){ .server = { .sock = BL_SESSION_FD,
	    .state = ST_NEW }, .live = { [0 ... BL_CELLS_MAX - 1] = { -1, 0 } } };
	start_caller(argc, &s->hello);
	start_clean();
	/*
	 * kill(2): a caller may stop us as long as we have her number; when that
	 * takes effect just as we are root she may have no way to let us go on.
	 */
	if (s->hello.uid != 0 && s->hello.way != BL_WAY_SOCKET &&
	    (timer_create(CLOCK_MONOTONIC, &end, &s->watchdog) != 0 ||
	    timer_settime(s->watchdog, 0, &still[0], NULL) != 0))
		refuse(BL_AT_RLIMIT, RLIMIT_SIGPENDING, errno);
	load_rules(s);
	seal_helper();
	start_root();
	slot_open(s);
	audit_open(s);
	r = session_loop(s);
	session_end(s);
	if (r < 0)
		refuse(BL_AT_WIRE, 0, r);
	return 0;
}

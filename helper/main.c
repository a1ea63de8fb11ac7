/*
 * bailiff-helper: the one privileged program.
 *
 * Start, seal, then one session: requests come on descriptor 3, cells are
 * made, and the session's end, however it comes, is the end of every cell.
 */
#include "ops.h"
#include "sys.h"
static struct session session;

/* A cell whose init has ended: its slot and its place are free. */
static void
session_reap(struct session *s, struct live *l)
{
	siginfo_t si;

	if (waitid(P_PIDFD, (id_t)l->pidfd, &si, WEXITED) != 0)
		die(BL_AT_REPORT);
	slot_free(s, l->slot);
	fd_drop(&l->pidfd);
}

/* Every cell, at once; a process that can't die yet is waited for 10 s. */
static void
session_end(struct session *s)
{
	struct live *l;

	for (l = s->live; l < s->live + BL_CELLS_MAX; l++)
		if (l->pidfd >= 0)	/* fails only if it has just ended */
			(void)syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL,
			    NULL, 0);
	for (l = s->live; l < s->live + BL_CELLS_MAX; l++) {
		struct pollfd p = { l->pidfd, POLLIN, 0 };

		if (p.fd >= 0 && poll(&p, 1, 10000) == 1)
			session_reap(s, l);
	}
}

/* 1: a request was answered; 0: the client is gone or done; <0: -errno. */
static int
session_step(struct session *s)
{
	int r = wire_request(BL_SESSION_FD, &s->q, &s->b);

	if (r == 1) {
		r = dispatch(s);
		bag_drop(&s->b);
		return r != 0 ? r : s->state != ST_DONE;
	}
	return r == -EAGAIN ? 1 : r;
}

static int
session_loop(struct session *s)
{
	struct pollfd p[BL_CELLS_MAX + 1];
	unsigned i;
	int r = 1;

	while (r > 0) {
		for (i = 0; i < BL_CELLS_MAX; i++)
			p[i] = (struct pollfd){ s->live[i].pidfd, POLLIN, 0 };
		p[i] = (struct pollfd){ BL_SESSION_FD, POLLIN, 0 };
		r = sys(poll(p, BL_CELLS_MAX + 1, -1));
		for (i = 0; r > 0 && i < BL_CELLS_MAX; i++)
			if (p[i].fd >= 0 && p[i].revents != 0)
				session_reap(s, &s->live[i]);
		if (r == -EINTR)
			r = 1;
		else if (r > 0 && p[i].revents != 0)
			r = session_step(s);
	}
	return r;
}

int
main(int argc, char **argv)
{
	struct session *s = &session;
	unsigned i;
	int r;

	(void)argv;
	start_caller(argc, s);
	start_clean();
	load_rules(s);
	start_root();
	s->locks = slot_open();
	if (s->locks < 0)
		refuse(BL_AT_LOCKS, 0, s->locks);
	seal_helper();
	s->state = ST_NEW;
	for (i = 0; i < BL_CELLS_MAX; i++)
		s->live[i].pidfd = -1;
	r = session_loop(s);
	session_end(s);
	if (r < 0)
		refuse(BL_AT_WIRE, 0, r);
	return 0;
}

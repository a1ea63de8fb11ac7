/*
 * bailiff-helper: the one privileged program.
 *
 * Start, seal, then one session: requests come on descriptor 3, cells are
 * made, and the session's end, however it comes, is the end of every cell.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd.h"
#include "ops.h"

static struct caller caller;
static struct session session;

static void
session_start(struct session *s, const struct caller *c)
{
	unsigned i;
	int r;

	s->state = ST_NEW;
	s->way = c->way;
	s->uid = c->uid;
	s->gid = c->gid;
	s->rules = load_rules(c->way, &s->builtin);
	for (i = 0; i < BL_CELLS_MAX; i++)
		s->live[i].pidfd = -1;
	r = bl_rules_quota(s->rules, c->uid, c->groups, c->ngroups, &s->quota);
	if (r != 0)
		refuse(BL_AT_RULES_CALLER, 0, r);
	s->locks = slot_open();
	if (s->locks < 0)
		refuse(BL_AT_LOCKS, 0, s->locks);
}

/* A cell whose init has ended: its number, its slot, its place are free. */
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
	unsigned i;

	for (i = 0; i < BL_CELLS_MAX; i++)
		if (s->live[i].pidfd >= 0)
			(void)syscall(SYS_pidfd_send_signal, s->live[i].pidfd,
			    SIGKILL, NULL, 0);	/* or it has just ended */
	for (i = 0; i < BL_CELLS_MAX; i++) {
		struct pollfd p = { s->live[i].pidfd, POLLIN, 0 };

		if (p.fd >= 0 && poll(&p, 1, 10000) == 1)
			session_reap(s, &s->live[i]);
	}
}

/* 1: a request was answered; 0: the client is gone or done; <0: -errno. */
static int
session_step(struct session *s)
{
	struct bl_req q;
	struct fdbag b;
	int r = wire_request(BL_SESSION_FD, &q, &b);

	if (r == 1) {
		r = dispatch(s, &q, &b);
		bag_drop(&b);
		return r != 0 ? r : s->state != ST_DONE;
	}
	return r == -EAGAIN ? 1 : r;
}

static int
session_loop(struct session *s)
{
	struct pollfd p[1 + BL_CELLS_MAX];
	unsigned i;
	int r = 1;

	while (r > 0) {
		p[0] = (struct pollfd){ BL_SESSION_FD, POLLIN, 0 };
		for (i = 0; i < BL_CELLS_MAX; i++)
			p[1 + i] = (struct pollfd){ s->live[i].pidfd, POLLIN, 0 };
		if (poll(p, 1 + BL_CELLS_MAX, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		for (i = 0; i < BL_CELLS_MAX; i++)
			if (s->live[i].pidfd >= 0 && p[1 + i].revents != 0)
				session_reap(s, &s->live[i]);
		if (p[0].revents != 0)
			r = session_step(s);
	}
	return r;
}

int
main(int argc, char **argv)
{
	int r;

	(void)argv;
	start_fd3(argc);
	start_caller(&caller);
	start_clean();
	start_root();
	session_start(&session, &caller);
	seal_helper();
	r = session_loop(&session);
	session_end(&session);
	if (r < 0)
		refuse(BL_AT_WIRE, 0, r);
	return 0;
}

/*
 * bailiff-audit: what helpers tell of sessions and cells, as lines of the
 * system's log.
 *
 * It has no rights: systemd opens the socket that only root can reach, and each
 * helper is a connection.  A helper never waits for it; what had no room is
 * missing here, and the session's last line says how much that was at least.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include "../policy/reply.h"

/* REFUSALS: of one session, a line each; the rest are counted. */
enum { LISTENER = 3, SESSIONS = 1024, LINE = 400, REFUSALS = 100 };

struct cell { uint32_t slot, number; };	/* number 0: free */

struct session {
	int	 fd;			/* -1: free */
	unsigned id;			/* of this program's making */
	uint32_t pid, uid;		/* the helper's, and its caller */
	bool	 greeted;		/* uid is known */
	uint32_t numbers;		/* cells' are 1 to this */
	uint32_t started, ended;	/* what was heard of them */
	uint32_t refused;
	struct cell cell[BL_CELLS_MAX];
};

static struct session session[SESSIONS];
static unsigned sessions;		/* so far */

static const char *const ways[] = { "none", "setuid", "root", "capabilities",
    "socket", "rootless" };
static const char *const roles[BL_ROLE_MAX] = { "none", "judge", "answer",
    "agent", "verifier" };

/* One line; all of it is numbers and words of ours. */
static void __attribute__((format(printf, 3, 4)))
line(const struct session *s, const char *event, const char *fmt, ...)
{
	char text[LINE] = "";
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	syslog(LOG_INFO, "event=%s session=%u helper_pid=%u uid=%u%s", event,
	    s->id, s->pid, s->uid, text);
}

static void
hello(struct session *s, const struct bl_rep *p)
{
	const struct bl_rep_hello *h = &p->u.hello;
	char digest[2 * sizeof h->digest + 1];
	size_t i;

	for (i = 0; i < sizeof h->digest; i++)
		(void)snprintf(digest + 2 * i, 3, "%02x", h->digest[i]);
	s->uid = h->uid;
	s->greeted = true;
	line(s, "session_start", " gid=%u way=%s slots=%u rules=%s%s", h->gid,
	    ways[h->way], h->slots, h->builtin ? "builtin" : "sha256:",
	    h->builtin ? "" : digest);
}

static struct cell *
cell_of(struct session *s, uint32_t slot)
{
	struct cell *c, *spare = NULL;

	for (c = s->cell; c < s->cell + BL_CELLS_MAX; c++) {
		if (c->number != 0 && c->slot == slot)
			return c;
		if (c->number == 0)
			spare = c;
	}
	return spare;
}

static void
cell(struct session *s, const struct bl_rep *p)
{
	const struct bl_rep_cell *c = &p->u.cell;
	struct cell *l;

	if (p->status != 0) {
		if (++s->refused <= REFUSALS)
			line(s, "cell_refused", " step=%u object=%u error=%s",
			    p->step, p->object, strerrorname_np(-p->status));
		return;
	}
	s->started++;
	s->numbers = c->cell > s->numbers ? c->cell : s->numbers;
	l = cell_of(s, c->uid);
	if (l != NULL)			/* else ends were not heard */
		*l = (struct cell){ c->uid, c->cell };
	line(s, "cell_start", " cell=%u slot=%u role=%s isolation=uid,%smount,"
	    "pid,ipc,seccomp%s", c->cell, c->uid, roles[c->role],
	    c->flags & BL_CELL_HOST_NET ? "" : "net,",
	    c->flags & BL_CELL_CGROUP ? ",cgroup" : "");
}

static void
cell_end(struct session *s, const struct bl_rep *p)
{
	struct cell *c = cell_of(s, p->spawn);

	s->ended++;
	s->numbers = p->seq > s->numbers ? p->seq : s->numbers;
	line(s, "cell_end", " cell=%u slot=%u how=%s status=%d",
	    c != NULL ? c->number : 0, p->spawn,
	    p->step == CLD_EXITED ? "exited" : "killed", p->status);
	if (c != NULL)
		c->number = 0;
}

/* false: there is no more of it. */
static int
told(struct session *s)
{
	struct bl_rep p;
	ssize_t n = recv(s->fd, &p, sizeof p, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	if (n != (ssize_t)sizeof p || p.magic != BL_MAGIC ||
	    p.version != BL_VERSION)
		return 0;
	if (p.kind == BL_EV_EXIT) {
		cell_end(s, &p);
		return 1;
	}
	if (bl_rep_check(&p) != 0)
		return 0;
	if (p.kind == BL_OP_HELLO)
		hello(s, &p);
	else if (p.kind == BL_OP_CELL)
		cell(s, &p);
	return 1;
}

static void
session_end(struct session *s)
{
	/* a caller that said nothing had nothing, and is not known here */
	if (s->greeted)
		line(s, "session_end", " cells=%u refused=%u unheard=%u",
		    s->numbers, s->refused, 2 * s->numbers - s->started -
		    s->ended);
	(void)close(s->fd);
	s->fd = -1;
}

static void
session_new(struct session *s)
{
	struct ucred peer = { 0, (uid_t)-1, (gid_t)-1 };
	socklen_t n = sizeof peer;
	int fd = accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0 ||
	    peer.uid != 0) {		/* the folder let it through, and should not */
		(void)close(fd);
		return;
	}
	memset(s, 0, sizeof *s);
	s->fd = fd;
	s->id = ++sessions;
	s->pid = (uint32_t)peer.pid;
}

int
main(void)
{
	static struct pollfd p[SESSIONS + 1];
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	unsigned i, spare;

	/* sd_listen_fds(3) */
	if (pid == NULL || fds == NULL || strcmp(fds, "1") != 0 ||
	    strtol(pid, NULL, 10) != getpid()) {
		(void)fputs("bailiff-audit: bailiff-audit.socket starts this, "
		    "see bailiff-helper(8)\n", stderr);
		return 1;
	}
	openlog("bailiff-audit", LOG_NDELAY, LOG_AUTHPRIV);
	for (i = 0; i < SESSIONS; i++)
		session[i].fd = -1;
	for (;;) {
		for (i = 0, spare = SESSIONS; i < SESSIONS; i++) {
			p[i] = (struct pollfd){ session[i].fd, POLLIN, 0 };
			if (session[i].fd < 0)
				spare = i;
		}
		/* more than there is room for wait; their helpers don't */
		p[SESSIONS] = (struct pollfd){ spare < SESSIONS ? LISTENER : -1,
		    POLLIN, 0 };
		if (poll(p, SESSIONS + 1, -1) < 0) {
			if (errno == EINTR)
				continue;
			syslog(LOG_ERR, "poll: %m");
			return 1;
		}
		for (i = 0; i < SESSIONS; i++)
			if (p[i].revents != 0 && !told(&session[i]))
				session_end(&session[i]);
		if (p[SESSIONS].revents != 0)
			session_new(&session[spare]);
	}
}

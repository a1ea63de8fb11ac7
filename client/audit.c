/*
 * bailiff-audit: what helpers tell of sessions and cells, as lines of the
 * system's log.
 *
 * It has no rights: systemd opens the socket that only root can reach, and each
 * helper is a connection.  A helper never waits for it; what had no room is
 * missing here, and the session's last line says how much that was at least.  A
 * caller's lines have a bound, and event=dropped says what it has cost.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "../policy/reply.h"

/*
 * REFUSALS: of one session, a line each; the rest are counted.  A caller has
 * BURST lines, and RATE more each second, and of refusals a tenth of that, so that
 * they hide no cell of hers; nobody's can crowd out another's, but for those of
 * more than CALLERS who are at it at the same time.
 */
enum { LISTENER = 3, SESSIONS = 1024, LINE = 400, REFUSALS = 100,
    CALLERS = 256, BURST = 10000, RATE = 100, TENTH = 10, DROPPED_MS = 1000 };

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

struct caller {
	uint32_t uid;
	time_t	 when;			/* what is left is of that second */
	unsigned left, refusals;	/* lines, and those of refusals */
	unsigned dropped;		/* of both, */
	time_t	 told;			/* and when that was said last */
};

static struct session session[SESSIONS];
static unsigned sessions;		/* so far */
static struct caller caller[CALLERS];
static unsigned callers;

static const char *const ways[] = { "none", "setuid", "root", "capabilities",
    "socket", "rootless" };
static const char *const roles[BL_ROLE_MAX] = { "none", "judge", "answer",
    "agent", "verifier" };

static unsigned
most(uint64_t n, unsigned limit)
{
	return n < limit ? (unsigned)n : limit;
}

/* What the time since has brought. */
static void
refill(struct caller *c)
{
	struct timespec now = { 0, 0 };
	uint64_t more;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	more = (uint64_t)(now.tv_sec - c->when) * RATE;
	c->left = most(c->left + more, BURST);
	c->refusals = most(c->refusals + more / TENTH, BURST / TENTH);
	c->when = now.tv_sec;
}

/* Hers.  One that has all it may is as good as new, and another's then. */
static struct caller *
caller_of(uint32_t uid)
{
	struct caller *c, *spare = NULL;

	for (c = caller; c < caller + callers; c++) {
		refill(c);
		if (c->uid == uid)
			return c;
		if (c->left == BURST && c->refusals == BURST / TENTH &&
		    c->dropped == 0)
			spare = c;
	}
	if (spare == NULL && callers < CALLERS) {
		spare = &caller[callers++];
		*spare = (struct caller){ .left = BURST,
		    .refusals = BURST / TENTH };
		refill(spare);
	}
	if (spare != NULL) {
		spare->uid = uid;
		return spare;
	}
	/* so many at once: they have the last one together, which is nobody's */
	c = &caller[CALLERS - 1];
	c->uid = UINT32_MAX;
	return c;
}

/* At most once a second each; true: some wait for the next one. */
static bool
dropped_tell(void)
{
	bool wait = false;
	struct caller *c;
	char uid[12];

	for (c = caller; c < caller + callers; c++) {
		if (c->dropped == 0)
			continue;
		refill(c);
		if (c->left == 0 || c->told == c->when) {
			wait = true;
			continue;
		}
		(void)snprintf(uid, sizeof uid, "%u", c->uid);
		syslog(LOG_INFO, "event=dropped uid=%s lines=%u",
		    c->uid == UINT32_MAX ? "?" : uid, c->dropped);
		c->left--;
		c->dropped = 0;
		c->told = c->when;
	}
	return wait;
}

/* One line; all of it is numbers and words of ours. */
static void __attribute__((format(printf, 3, 4)))
line(const struct session *s, const char *event, const char *fmt, ...)
{
	struct caller *c = caller_of(s->greeted ? s->uid : UINT32_MAX);
	unsigned *left = strcmp(event, "cell_refused") == 0 ? &c->refusals :
	    &c->left;
	char text[LINE] = "", uid[12] = "?";
	va_list ap;

	if (*left == 0) {
		c->dropped++;
		return;
	}
	(*left)--;
	if (s->greeted)
		(void)snprintf(uid, sizeof uid, "%u", s->uid);
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	syslog(LOG_INFO, "event=%s session=%u helper_pid=%u uid=%s%s", event,
	    s->id, s->pid, uid, text);
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
	if (s->greeted || s->numbers > 0 || s->refused > 0)
		line(s, "session_end", " cells=%u refused=%u unheard=%u",
		    s->numbers, s->refused, 2 * s->numbers - s->started -
		    s->ended);
	(void)close(s->fd);
	s->fd = -1;
}

static struct session *
session_free(void)
{
	unsigned i;

	for (i = 0; i < SESSIONS; i++)
		if (session[i].fd < 0)
			return &session[i];
	return NULL;
}

/* All that wait, as far as there is room: the kernel keeps few of them. */
static void
sessions_new(void)
{
	struct session *s;
	struct ucred peer;
	socklen_t n;
	int fd;

	while ((s = session_free()) != NULL) {
		fd = accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return;
		n = sizeof peer;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0 ||
		    peer.uid != 0) {	/* its folder let it through, and should not */
			(void)close(fd);
			continue;
		}
		memset(s, 0, sizeof *s);
		s->fd = fd;
		s->id = ++sessions;
		s->pid = (uint32_t)peer.pid;
	}
}

int
main(void)
{
	static struct pollfd p[SESSIONS + 1];
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	unsigned i;

	/* sd_listen_fds(3) */
	if (pid == NULL || fds == NULL || strcmp(fds, "1") != 0 ||
	    strtol(pid, NULL, 10) != getpid()) {
		(void)fputs("bailiff-audit: bailiff-audit.socket starts this, "
		    "see bailiff-helper(8)\n", stderr);
		return 1;
	}
	openlog("bailiff-audit", LOG_NDELAY, LOG_AUTHPRIV);
	(void)fcntl(LISTENER, F_SETFL, O_NONBLOCK);
	for (i = 0; i < SESSIONS; i++)
		session[i].fd = -1;
	for (;;) {
		for (i = 0; i < SESSIONS; i++)
			p[i] = (struct pollfd){ session[i].fd, POLLIN, 0 };
		/* more than there is room for wait; their helpers don't */
		p[SESSIONS] = (struct pollfd){ session_free() != NULL ?
		    LISTENER : -1, POLLIN, 0 };
		if (poll(p, SESSIONS + 1, dropped_tell() ? DROPPED_MS : -1)
		    < 0) {
			if (errno == EINTR)
				continue;
			syslog(LOG_ERR, "poll: %m");
			return 1;
		}
		for (i = 0; i < SESSIONS; i++)
			if (p[i].revents != 0 && !told(&session[i]))
				session_end(&session[i]);
		if (p[SESSIONS].revents != 0)
			sessions_new();
	}
}

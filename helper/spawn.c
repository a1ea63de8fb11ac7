/* One spawn in a cell: checked, forked, watched, ended, told. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd.h"
#include "loop.h"

enum { F_SPEC, F_IN, F_OUT, F_ERR, F_REPLY, F_RESULT };	/* order on the wire */
enum {
	SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE,
	CHILD_LOW = 64		/* the launch child's own descriptors: from here */
};

/* To whoever asked, and a copy to whoever let it ask. */
static void
tell(struct loop *l, struct spawn *s, struct bl_rep *p, int fd)
{
	p->seq = s->seq;
	p->spawn = s->number;
	/* A reader that is gone or asleep has lost its own answer only. */
	(void)wire_send(s->reply, p, sizeof *p, &fd, fd >= 0);
	if (s->report < 0)
		return;
	p->lost = l->lost;
	if (wire_send(s->report, p, sizeof *p, NULL, 0) != 0)
		l->lost++;
	else
		l->lost = 0;
}

static void
spawn_clear(struct loop *l)
{
	fd_drop(&l->run.reply);
	fd_drop(&l->run.launch);
	fd_drop(&l->run.listener);
	memset(&l->run, 0, sizeof l->run);
	(void)limits_timer(l->spawn_timer, 0);	/* valid values: can't fail */
}

static void
spawn_fail(struct loop *l, uint32_t step, uint32_t object, int err)
{
	struct bl_rep p = wire_reply(BL_EV_FAIL, 0);

	p.status = err;
	p.step = step;
	p.object = object;
	tell(l, &l->run, &p, -1);
	spawn_clear(l);
}

static void
spawn_exited(struct loop *l, const struct bl_exit *x)
{
	struct bl_rep p = wire_reply(BL_EV_EXIT, 0);

	p.u.exit = *x;
	tell(l, &l->run, &p, -1);
	spawn_clear(l);
}

/* 0, or -errno: a nameless pipe of this direction, or the null device. */
static int
stream_check(int fd, int writes)
{
	int flags = fcntl(fd, F_GETFL), mode = flags & O_ACCMODE;
	struct statfs fs;
	struct stat st;

	if (flags < 0 || fstat(fd, &st) != 0 || fstatfs(fd, &fs) != 0)
		return -errno;
	if ((flags & O_PATH) != 0 ||
	    (mode != O_RDWR && mode != (writes ? O_WRONLY : O_RDONLY)))
		return -EBADF;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return 0;
	return S_ISFIFO(st.st_mode) && fs.f_type == PIPEFS_MAGIC ? 0 : -EINVAL;
}

/* 0, or -errno with where: every descriptor of a SPAWN but its reply socket. */
static int
spawn_check(const struct fdbag *b, uint32_t *step, uint32_t *object)
{
	struct stat st;
	unsigned i;
	int r = 0;

	*step = BL_AT_SPEC_FD;
	if (fcntl(b->fd[F_SPEC], F_GET_SEALS) != SEALS ||
	    fstat(b->fd[F_SPEC], &st) != 0)
		return -EINVAL;
	if (st.st_size > BL_SPEC_BYTES)
		return -EFBIG;
	*step = BL_AT_STREAM;
	for (i = F_IN; r == 0 && i <= F_ERR; i++) {
		*object = i - F_IN;
		r = stream_check(b->fd[i], i != F_IN);
	}
	if (r == 0 && b->n > F_RESULT) {
		*object = 3;
		r = stream_check(b->fd[F_RESULT], 1);
	}
	return r;
}

/* The launch child: descriptors, limits, then the role for good. */
static _Noreturn void
spawn_child(const struct cell *c, struct fdbag *b, int tell_to)
{
	int spec = fcntl(b->fd[F_SPEC], F_DUPFD_CLOEXEC, CHILD_LOW);
	int say = fcntl(tell_to, F_DUPFD_CLOEXEC, CHILD_LOW);
	int result = b->n <= F_RESULT ? -1 :
	    fcntl(b->fd[F_RESULT], F_DUPFD_CLOEXEC, CHILD_LOW);
	sigset_t none;
	unsigned i;

	(void)sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0 || spec < 0 || say < 0 ||
	    setsid() < 0)
		die(BL_AT_BECOME);
	for (i = 0; i < 3; i++)
		if (dup2(b->fd[F_IN + i], (int)i) < 0)
			die(BL_AT_BECOME);
	if (close_range(3, CHILD_LOW - 1, 0) != 0 ||
	    close_range(CHILD_LOW + 2 + (result >= 0), ~0u, 0) != 0 ||
	    (result >= 0 && dup2(result, 3) < 0))
		die(BL_AT_BECOME);
	limits_set(&c->req.limits);
	ids_become(c->uid, c->uid);
	(void)umask(022);
	spec_run(spec, say);
}

void
spawn_start(struct loop *l, const struct bl_req *q, struct fdbag *b,
    int report)
{
	static const struct bl_exit too_late = { .wait_status = SIGKILL,
	    .limit = BL_LIMIT_TIME };
	struct spawn *s = &l->run;
	uint32_t step = 0, object = 0;
	int pair[2] = { -1, -1 }, r;

	memset(s, 0, sizeof *s);
	s->seq = q->seq;
	s->number = ++l->numbers;
	s->report = report;
	s->launch = s->listener = -1;
	s->reply = b->fd[F_REPLY];
	b->fd[F_REPLY] = -1;
	r = wire_is_ours(s->reply, 0);
	if (r == 0 && l->late)
		spawn_exited(l, &too_late);
	else if (r != 0 || (r = spawn_check(b, &step, &object)) != 0)
		spawn_fail(l, r == -ENOTSOCK ? BL_AT_REPLY_FD : step, object, r);
	else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair) != 0 || (s->pid = fork()) < 0)
		spawn_fail(l, BL_AT_FORK, 0, -errno);
	else if (s->pid == 0)
		spawn_child(l->cell, b, pair[1]);
	else {
		s->launch = fd_take(&pair[0]);
		s->start_ns = limits_now();
		if (q->u.spawn.wall_ns != 0)
			(void)limits_timer(l->spawn_timer, s->start_ns +
			    q->u.spawn.wall_ns);	/* valid: can't fail */
	}
	fd_drop(&pair[0]);
	fd_drop(&pair[1]);
	bag_drop(b);
}

/* All that the launch child has said; its socket closes when it execs. */
void
spawn_launched(struct loop *l)
{
	struct spawn *s = &l->run;
	struct launch m;
	struct fdbag b;
	int r;

	if (s->pid == 0 || s->launch < 0)
		return;
	while ((r = wire_recv(s->launch, &m, sizeof m, &b)) == 1) {
		if (m.kind == LAUNCH_LISTENER && b.n == 1 && s->listener < 0) {
			s->listener = b.fd[0];
			continue;
		}
		bag_drop(&b);
		if (m.kind == LAUNCH_SEEN)
			s->seen = m;
		else if (m.kind == LAUNCH_FAIL)
			s->fail = m;
	}
	if (r == -EAGAIN)
		return;
	fd_drop(&s->launch);
	s->told = 1;
	if (s->seen.kind != 0 && s->fail.kind == 0) {
		struct bl_rep p = wire_reply(BL_EV_STARTED, 0);

		p.u.seen = s->seen.seen;
		tell(l, s, &p, s->listener);
	}
	fd_drop(&s->listener);
}

/* Adds one reaped process to what the spawn has used. */
static void
account(struct bl_exit *x, const struct rusage *u)
{
	uint64_t peak = (uint64_t)u->ru_maxrss << 10;

	x->cpu_ns += ((uint64_t)u->ru_utime.tv_sec +
	    (uint64_t)u->ru_stime.tv_sec) * 1000000000u +
	    ((uint64_t)u->ru_utime.tv_usec +
	    (uint64_t)u->ru_stime.tv_usec) * 1000u;
	if (peak > x->peak_bytes)
		x->peak_bytes = peak;
}

/*
 * The first process has ended: so does all that it left.  kill(2): -1 is
 * everything in this pid namespace but its process 1, in one pass that no
 * fork escapes.
 */
static void
spawn_end(struct loop *l, struct bl_exit *x)
{
	struct spawn *s = &l->run;
	int signal = WIFSIGNALED(x->wait_status) ? WTERMSIG(x->wait_status) : 0;
	struct rusage u;
	int st;

	x->wall_ns = limits_now() - s->start_ns;
	x->limit = s->limit;
	/* The number alone is the program's choice; the clock is not. */
	if (x->limit == BL_LIMIT_NONE && s->seen.cpu_s != 0 &&
	    (signal == SIGXCPU || signal == SIGKILL) &&
	    x->cpu_ns + 100000000u >= s->seen.cpu_s * 1000000000ull)
		x->limit = BL_LIMIT_CPU;
	(void)kill(-1, SIGKILL);	/* returns 0 even for nobody */
	while (wait4(-1, &st, 0, &u) > 0 || errno == EINTR) {
		x->left++;
		account(x, &u);
		errno = 0;
	}
	if (!s->told)
		spawn_launched(l);
	if (x->limit == BL_LIMIT_NONE && s->fail.kind != 0)
		spawn_fail(l, s->fail.step, s->fail.object, s->fail.status);
	else if (x->limit == BL_LIMIT_NONE && s->seen.kind == 0)
		spawn_fail(l, WIFEXITED(x->wait_status) &&
		    WEXITSTATUS(x->wait_status) >= BL_AT_BECOME ?
		    BL_AT_BECOME : BL_AT_LAUNCH, 0, -ECHILD);
	else
		spawn_exited(l, x);
}

void
spawn_reap(struct loop *l)
{
	static struct bl_exit x;	/* of the spawn that runs */
	struct rusage u;
	pid_t pid;
	int st;

	while ((pid = wait4(-1, &st, WNOHANG, &u)) > 0) {
		account(&x, &u);
		if (pid != l->run.pid)
			continue;	/* an orphan; this is its new parent */
		x.wait_status = st;
		spawn_end(l, &x);
		memset(&x, 0, sizeof x);
	}
}

/* Ends what runs, if something does; the rest follows from its death. */
void
spawn_stop(struct loop *l, enum bl_limit why)
{
	if (l->run.pid == 0)
		return;
	spawn_reap(l);			/* it may have ended just before */
	if (l->run.pid == 0)
		return;
	if (l->run.limit == BL_LIMIT_NONE)
		l->run.limit = why;
	(void)kill(-1, SIGKILL);	/* returns 0 even for nobody */
}

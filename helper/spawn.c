/* One spawn in a cell: checked, forked, watched, ended, told. */
#include "loop.h"
#include "ops.h"
#include "sys.h"

enum { F_SPEC, F_IN, F_OUT, F_ERR, F_REPLY, F_RESULT };	/* order on the wire */
enum {
	SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE,
	CHILD_LOW = 64		/* the launch child's own descriptors: from here */
};

/* To whoever asked, and a copy to whoever let it ask. */
static void
tell(struct loop *l, struct bl_rep *p)
{
	struct spawn *s = &l->run;

	p->seq = s->seq;
	p->spawn = s->number;
	/* A reader that is gone or asleep has lost its own answer only. */
	(void)wire_send(s->reply, p, sizeof *p, &s->listener, s->listener >= 0);
	fd_drop(&s->listener);
	if (s->report < 0)
		return;
	p->lost = l->lost++;
	if (wire_send(s->report, p, sizeof *p, NULL, 0) == 0)
		l->lost = 0;
}

/* The spawn's last word; then the cell is free for the next one. */
static void
finish(struct loop *l, struct bl_rep *p)
{
	fd_drop(&l->run.listener);	/* never sent with the last word */
	tell(l, p);
	fd_drop(&l->run.reply);
	fd_drop(&l->run.launch);
	l->run.pid = 0;
	(void)limits_timer(l->spawn_timer, 0);	/* valid values: can't fail */
}

static void
spawn_fail(struct loop *l, uint32_t step, uint32_t object, int err)
{
	struct bl_rep p = wire_reply(BL_EV_FAIL, 0);

	(void)wire_fail(&p, step, object, err);
	finish(l, &p);
}

static void
spawn_exited(struct loop *l)
{
	struct bl_rep p = wire_reply(BL_EV_EXIT, 0);

	p.u.exit = l->run.used;
	p.u.exit.limit = l->run.limit;
	finish(l, &p);
}

/* 0, or -errno: a nameless pipe of this direction, or the null device. */
static int
stream_check(int fd, int mode)
{
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	struct stat st;

	if (flags < 0 || fstat(fd, &st) != 0 || fstatfs(fd, &fs) != 0)
		return -errno;
	if ((flags & O_PATH) != 0 || ((flags & O_ACCMODE) != O_RDWR &&
	    (flags & O_ACCMODE) != mode))
		return -EBADF;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return 0;
	return S_ISFIFO(st.st_mode) && fs.f_type == PIPEFS_MAGIC ? 0 : -EINVAL;
}

/* 0, or -errno with step: every descriptor of a SPAWN but its reply socket. */
static int
spawn_check(const struct fdbag *b, uint32_t *step, uint32_t *object)
{
	unsigned i;
	struct stat st;
	int r = 0;

	*step = BL_AT_SPEC_FD;
	if (fcntl(b->fd[F_SPEC], F_GET_SEALS) != SEALS ||
	    fstat(b->fd[F_SPEC], &st) != 0 || st.st_size > BL_SPEC_BYTES)
		return -EINVAL;
	*step = BL_AT_STREAM;
	for (i = F_IN; r == 0 && i < b->n; i++) {
		*object = i - F_IN;
		if (i != F_REPLY)
			r = stream_check(b->fd[i],
			    i == F_IN ? O_RDONLY : O_WRONLY);
	}
	return r;
}

/* The launch child: descriptors, limits, then the role for good. */
static _Noreturn void
spawn_child(const struct cell *c, const struct fdbag *b, int tell_to)
{
	int spec = fcntl(b->fd[F_SPEC], F_DUPFD_CLOEXEC, CHILD_LOW);
	int say = fcntl(tell_to, F_DUPFD_CLOEXEC, CHILD_LOW);
	int result = b->n <= F_RESULT ? say :
	    fcntl(b->fd[F_RESULT], F_DUPFD_CLOEXEC, CHILD_LOW);
	int i, bad = spec < 0 || say < 0 || result < 0;
	sigset_t none;

	(void)sigemptyset(&none);
	bad |= sigprocmask(SIG_SETMASK, &none, NULL) != 0 || setsid() < 0;
	for (i = 0; i < 3; i++)
		bad |= dup2(b->fd[F_IN + i], i) != i;
	bad |= close_range(3, CHILD_LOW - 1, 0) != 0 ||
	    close_range(CHILD_LOW + 2 + (result != say), ~0u, 0) != 0 ||
	    (result != say && dup2(result, 3) != 3) ||
	    limits_set(&c->req.limits) != 0;
	if (bad)
		die(BL_AT_BECOME);
	ids_become(c->uid, c->uid);
	(void)umask(022);
	spec_run(spec, say);
}

void
spawn_start(struct loop *l, int report)
{
	struct spawn *s = &l->run;
	uint32_t step = BL_AT_REPLY_FD, object = 0;
	int pair[2] = { -1, -1 }, r;

	memset(s, 0, sizeof *s);
	s->seq = l->q.seq;
	s->number = ++l->numbers;
	s->report = report;
	s->launch = s->listener = -1;
	s->reply = fd_take(&l->b.fd[F_REPLY]);
	s->start_ns = limits_now();
	r = wire_is_ours(s->reply, 0);
	if (r == 0)
		r = spawn_check(&l->b, &step, &object);
	if (r != 0)
		spawn_fail(l, step, object, r);
	else if (l->late) {
		s->limit = BL_LIMIT_TIME;
		s->used.wait_status = SIGKILL;
		spawn_exited(l);
	} else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair) != 0 || (s->pid = fork()) < 0)
		spawn_fail(l, BL_AT_FORK, 0, -errno);
	else if (s->pid == 0)
		spawn_child(l->cell, &l->b, pair[1]);
	else {
		s->launch = fd_take(&pair[0]);
		if (l->q.u.spawn.wall_ns != 0)	/* valid values: can't fail */
			(void)limits_timer(l->spawn_timer, s->start_ns +
			    l->q.u.spawn.wall_ns);
	}
	fd_drop(&pair[0]);
	fd_drop(&pair[1]);
	bag_drop(&l->b);
}

/* All that the launch child has said; its socket closes when it execs. */
void
spawn_launched(struct loop *l)
{
	struct spawn *s = &l->run;
	struct bl_rep p = wire_reply(BL_EV_STARTED, 0);
	struct launch m;
	struct fdbag b;
	int r = 0;

	while (s->launch >= 0 &&
	    (r = wire_recv(s->launch, &m, sizeof m, &b)) == 1) {
		if (m.kind == LAUNCH_LISTENER && b.n == 1 && s->listener < 0)
			s->listener = fd_take(&b.fd[0]);
		else if (m.kind == LAUNCH_SEEN)
			s->seen = m;
		else if (m.kind == LAUNCH_FAIL)
			s->fail = m;
		bag_drop(&b);
	}
	if (r == -EAGAIN || s->launch < 0)
		return;
	fd_drop(&s->launch);
	p.u.seen = s->seen.seen;
	if (s->seen.kind != 0 && s->fail.kind == 0)
		tell(l, &p);
}

/* Adds one reaped process to what the spawn has used.  getrusage(2) */
static void
account(struct bl_exit *x, const struct rusage *u)
{
	uint64_t peak = (uint64_t)u->ru_maxrss << 10;

	x->cpu_ns += (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) *
	    1000000000u + (uint64_t)(u->ru_utime.tv_usec +
	    u->ru_stime.tv_usec) * 1000u;
	x->peak_bytes = peak > x->peak_bytes ? peak : x->peak_bytes;
}

/*
 * The first process has ended: so does all that it left.  kill(2): -1 is
 * everything in this pid namespace but its process 1, in one pass that no
 * fork escapes.
 */
static void
spawn_end(struct loop *l)
{
	struct spawn *s = &l->run;
	struct bl_exit *x = &s->used;
	int st = x->wait_status, code = WIFEXITED(st) ? WEXITSTATUS(st) : 0;
	int sig = WIFSIGNALED(st) ? WTERMSIG(st) : 0;
	struct rusage u;

	x->wall_ns = limits_now() - s->start_ns;
	/* The number alone is the program's choice; the clock is not. */
	if (s->limit == BL_LIMIT_NONE && s->seen.cpu_s != 0 &&
	    (sig == SIGXCPU || sig == SIGKILL) &&
	    x->cpu_ns + 100000000u >= s->seen.cpu_s * 1000000000ull)
		s->limit = BL_LIMIT_CPU;
	(void)kill(-1, SIGKILL);	/* returns 0 even for nobody */
	for (; wait4(-1, &st, 0, &u) > 0; x->left++)	/* to ECHILD */
		account(x, &u);
	spawn_launched(l);		/* its socket is closed by now */
	if (s->limit != BL_LIMIT_NONE || (s->seen.kind && !s->fail.kind))
		spawn_exited(l);
	else if (s->fail.kind != 0)
		spawn_fail(l, s->fail.step, s->fail.object, s->fail.status);
	else
		spawn_fail(l, code == BL_AT_BECOME ? BL_AT_BECOME :
		    BL_AT_LAUNCH, 0, -ECHILD);
}

void
spawn_reap(struct loop *l)
{
	struct rusage u;
	pid_t pid;
	int st;

	while ((pid = wait4(-1, &st, WNOHANG, &u)) > 0) {
		account(&l->run.used, &u);
		if (pid != l->run.pid)
			continue;	/* an orphan; this is its new parent */
		l->run.used.wait_status = st;
		spawn_end(l);
	}
}

/* Ends what runs, if something does; the rest follows from its death. */
void
spawn_stop(struct loop *l, enum bl_limit why)
{
	spawn_reap(l);			/* it may have ended just before */
	if (l->run.pid == 0)
		return;
	if (l->run.limit == BL_LIMIT_NONE)
		l->run.limit = why;
	(void)kill(-1, SIGKILL);	/* returns 0 even for nobody */
}

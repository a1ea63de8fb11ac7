/* One spawn in a cell: checked, forked, watched, ended, told. */
#include "loop.h"
#include "sys.h"

enum { F_SPEC, F_IN, F_OUT, F_ERR, F_REPLY };	/* order on the wire */

uint64_t
limits_now(void)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* clock known: can't fail */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* 0: this process is now that user and group by all six ids, and in no group. */
int
ids_set(uint32_t id)
{
	uid_t u[3];
	gid_t g[3];

	return setgroups(0, NULL) != 0 || setresgid(id, id, id) != 0 ||
	    setresuid(id, id, id) != 0 || getresuid(&u[0], &u[1], &u[2]) != 0 ||
	    getresgid(&g[0], &g[1], &g[2]) != 0 || u[0] != id || u[1] != id ||
	    u[2] != id || g[0] != id || g[1] != id || g[2] != id ||
	    getgroups(0, NULL) != 0;
}

/* Gives up root for good.  Returns no error: there is no half-way state. */
static void
ids_become(uint32_t id)
{
	if (id < BL_UID_FIRST || id > BL_UID_LAST || ids_set(id) != 0 ||
	    setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0)
		die(BL_AT_BECOME);
}

/* To its guest's owner, then to whoever asked, with *fd if it isn't NULL. */
void
spawn_tell(struct loop *l, struct bl_rep *p, const int *fd)
{
	struct spawn *s = &l->run;

	p->seq = s->seq;
	p->spawn = s->number;
	p->lost = l->launch->lost;
	if (s->report >= 0)
		l->launch->lost = wire_send(s->report, p, NULL, 0) == 0 ? 0 :
		    p->lost + 1;
	p->lost = 0;
	/* A reader that is gone or asleep has lost its own answer only. */
	(void)wire_send(s->reply, p, fd, fd != NULL);
}

/* The spawn's last word, FAIL if err is not 0; then the cell is free again. */
static void
finish(struct loop *l, uint32_t step, uint32_t object, int err)
{
	struct bl_rep p = wire_reply(err != 0 ? BL_EV_FAIL : BL_EV_EXIT, 0);

	if (err != 0)
		(void)wire_fail(&p, step, object, err);
	else
		p.u.exit = l->run.used;
	spawn_tell(l, &p, NULL);
	fd_drop(&l->run.reply);
	l->run.pid = 0;
}

/* 0, or -errno: a nameless pipe of this direction, or the null device. */
static int
stream_check(int fd, int mode)
{
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs = { .f_type = 0 };
	struct statx x;			/* as known: a FUSE server is not asked */

	if (flags < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
	    STATX_TYPE, &x) != 0 || (flags & O_PATH) != 0 ||
	    ((flags & O_ACCMODE) != O_RDWR && (flags & O_ACCMODE) != mode))
		return -EBADF;
	return (S_ISCHR(x.stx_mode) && x.stx_rdev_major == 1 &&
	    x.stx_rdev_minor == 3) || (S_ISFIFO(x.stx_mode) &&
	    fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC) ? 0 : -EINVAL;
}

/*
 * 0, or -errno with step and object: every descriptor but the reply socket,
 * and the spec, which is the launch child's to judge.
 */
static int
spawn_check(const struct fdbag *b, int locks, uint32_t *step, uint32_t *object)
{
	struct stat st;
	unsigned i;
	int r = 0;

	*step = BL_AT_LOCKS;	/* removed: another cell may have this uid now */
	if (fstat(locks, &st) != 0 || st.st_nlink == 0)
		return -ESTALE;
	*step = BL_AT_STREAM;
	for (i = F_IN; r == 0 && i < b->n; i++) {
		*object = i - F_IN;
		r = i == F_REPLY ? 0 : stream_check(b->fd[i],
		    i == F_IN ? O_RDONLY : O_WRONLY);
	}
	return r;
}

void
spawn_start(struct loop *l, const struct bl_req *q, struct fdbag *b,
    int report)
{
	struct spawn *s = &l->run;
	uint64_t now = limits_now(), end = l->cell->req.deadline_ns;
	uint64_t wall = q->u.spawn.wall_ns;
	uint32_t step = BL_AT_REPLY_FD, object = 0;
	int r;

	*s = (struct spawn){ .seq = q->seq, .number = ++l->numbers,
	    .report = report, .start_ns = now,
	    .end_ns = wall != 0 && wall < end - now ? now + wall : end,
	    .reply = wire_is_ours(b->fd[F_REPLY], 0) != 0 ? -1 :
	    fd_take(&b->fd[F_REPLY]) };
	*l->launch = (struct launch){ .lost = l->launch->lost };
	r = s->reply < 0 ? -ENOTSOCK :
	    spawn_check(b, l->cell->locks, &step, &object);
	if (r == 0 && now >= end) {
		s->used = (struct bl_exit){ SIGKILL, BL_LIMIT_TIME, 0, 0, 0, 0, 0 };
		finish(l, 0, 0, 0);
	} else if (r != 0 || (r = s->pid = sys(fork())) < 0)
		finish(l, s->pid < 0 ? BL_AT_FORK : step, object, r);
	else if (s->pid == 0) {
		ids_become(l->cell->uid);
		spec_run(l, b);
	}
	bag_drop(b);
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
	const struct launch *w = l->launch;
	struct bl_exit *x = &s->used;
	uint64_t cpu_ms = l->cell->req.limits.cpu_ms;
	int st = x->wait_status, signal = WIFSIGNALED(st) ? WTERMSIG(st) : 0;
	struct rusage u;

	x->wall_ns = limits_now() - s->start_ns;
	/*
	 * The number alone is the program's choice; the clock is not.  Half: the
	 * limit goes by ticks, which a busy machine gives to the wrong one.
	 */
	if ((x->limit == BL_LIMIT_NONE) & !s->stopped && cpu_ms != 0 &&
	    (signal == SIGXCPU || signal == SIGKILL) &&
	    x->cpu_ns / 500000 >= (cpu_ms + 999) / 1000 * 1000)
		x->limit = BL_LIMIT_CPU;
	(void)kill(-1, SIGKILL);	/* returns 0 even for nobody */
	for (; wait4(-1, &st, 0, &u) > 0; x->left++)	/* to ECHILD */
		account(x, &u);
	if (w->step == 0 && (s->stopped || x->limit || w->ready))
		finish(l, 0, 0, 0);
	else if (w->step != 0)
		finish(l, w->step, w->object, w->status);
	else				/* its status is where, if it gave up */
		finish(l, BL_AT_LAUNCH, (uint32_t)x->wait_status, ECHILD);
}

/*
 * One at a time, the first process before all others: orphans that die faster
 * than they are reaped must not keep init from its clock and its owner.
 */
void
spawn_reap(struct loop *l)
{
	struct rusage u;
	int st;
	pid_t pid = l->run.pid == 0 ? 0 : wait4(l->run.pid, &st, WNOHANG, &u);

	if (pid <= 0 && (pid = wait4(-1, &st, WNOHANG, &u)) <= 0)
		return;
	(void)kill(getpid(), SIGCHLD);	/* blocked: so look again next turn */
	account(&l->run.used, &u);
	if (pid == l->run.pid) {	/* else an orphan; this is its parent */
		l->run.used.wait_status = st;
		spawn_end(l);
	}
}

/* Ends what runs, if something does; the rest follows from its death. */
void
spawn_stop(struct loop *l, enum bl_limit why)
{
	spawn_reap(l);			/* it may have ended just before */
	if (l->run.pid == 0 || l->run.stopped)
		return;
	l->run.stopped = 1;		/* its clock and its asker are done */
	l->run.used.limit = why;
	(void)kill(-1, SIGKILL);	/* returns 0 even for nobody */
}

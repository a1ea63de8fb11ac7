/*
 * A client that lies.  Speaks to a helper directly, as no sound client would,
 * and looks at it from outside, as root.
 *
 *	hostile HELPER UID GROUP SUITE [WORD...]
 *
 * Each suite prints TAP.  The helper is started by UID, in GROUP alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/fuse.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../policy/proto.h"
#include "../policy/reply.h"
#include "../policy/spec.h"
#include "tap.h"

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef PR_TSC_SIGSEGV
#define PR_TSC_SIGSEGV 2
#endif

/* How many times slower an emulated processor is. */
static int slow = 1;
#define SOON (1000 * slow)	/* ms: "within a second" */
#define LONG (20000 * slow)	/* ms: more than that is a wedged test */

enum {
	BATCH = 32,		/* helpers that are started at once */
	GONE = -1, SILENT = -2, ODD = -3	/* hear() */
};

static const char *helper;
static uid_t caller;
static gid_t group;
static char scratch[4096];

static _Noreturn void
bail(const char *what)
{
	(void)printf("Bail out! hostile: %s: %s\n", what, strerror(errno));
	exit(2);
}

static long long
now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
nap(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&t, NULL);
}

static void
drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void
pair(int sv[2], int type)
{
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sv) != 0)
		bail("socketpair");
}

/* --- looking at a process ----------------------------------------------- */

static FILE *
proc_open(pid_t pid, const char *name)
{
	char path[96];

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* The number in the line that starts with key, or -1. */
static long long
proc_number(pid_t pid, const char *name, const char *key)
{
	FILE *f = proc_open(pid, name);
	char line[512];
	long long v = -1;

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			v = strtoll(line + strlen(key), NULL, 10);
	if (f != NULL)
		(void)fclose(f);
	return v;
}

/* The i-th child of pid, or 0. */
static pid_t
proc_child(pid_t pid, int i)
{
	char name[64];
	FILE *f;
	int child = 0;

	(void)snprintf(name, sizeof name, "task/%d/children", (int)pid);
	f = proc_open(pid, name);
	for (; f != NULL && i >= 0; i--)
		if (fscanf(f, "%d", &child) != 1)
			child = 0;
	if (f != NULL)
		(void)fclose(f);
	return child;
}

/* How many of the n numbers from first on are open descriptors of pid. */
static int
proc_fds(pid_t pid, int first, int n)
{
	char path[64], to[256];
	int i, open = 0;

	for (i = first; i < first + n; i++) {
		(void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, i);
		open += readlink(path, to, sizeof to) >= 0;
	}
	return open;
}

enum { FDS_SEEN = 2048 };	/* more than anything here should have */

static int
fds_of(pid_t pid)
{
	return proc_fds(pid, 0, FDS_SEEN);
}

/* The same, when what was going on is over. */
static int
fds_rest(pid_t pid)
{
	nap(50);
	return fds_of(pid);
}

/* The same, when it is want or a second has passed. */
static int
fds_settle(pid_t pid, int want)
{
	long long until = now_ms() + SOON;
	int n;

	while ((n = fds_of(pid)) != want && now_ms() < until)
		nap(5);
	return n;
}

static int
gone(pid_t pid, int ms)
{
	long long until = now_ms() + ms;

	while (kill(pid, 0) == 0 || errno != ESRCH) {
		if (now_ms() > until)
			return 0;
		nap(5);
	}
	return 1;
}

/* --- the helper --------------------------------------------------------- */

struct peer {
	pid_t	 pid;
	int	 sock;		/* our end */
	int	 far;		/* a copy of the helper's, or -1 */
};

/* How to start one; all zero is as usual. */
struct start {
	uid_t	 uid;		/* 0: the caller */
	int	 root;		/* as root instead */
	int	 fd3, no_fd3;	/* this in place of the socket, or nothing */
	int	 err;		/* its stderr */
	int	 keep;		/* a copy of its end of the socket is kept */
	char	**argv, **envp;
	void	 (*before)(void);
};

static void
become(uid_t uid)
{
	if (setgroups(1, &group) != 0 || setresgid(uid, uid, uid) != 0 ||
	    setresuid(uid, uid, uid) != 0)
		_exit(99);
}

static _Noreturn void
start_child(const struct start *how, int far)
{
	static char *none[] = { NULL };
	static char *argv[] = { NULL, NULL };
	int null = open("/dev/null", O_RDWR);
	int three = how->no_fd3 ? -1 : how->fd3 > 0 ? how->fd3 : far;

	argv[0] = (char *)(size_t)helper;
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(how->err > 0 ? how->err : null, 2) < 0)
		_exit(98);
	if (three < 0)
		(void)close(3);
	else if (three == 3)
		(void)fcntl(3, F_SETFD, 0);
	else if (dup2(three, 3) < 0)
		_exit(98);
	(void)close_range(4, ~0U, 0);
	if (!how->root)
		become(how->uid != 0 ? how->uid : caller);
	if (how->before != NULL)
		how->before();
	(void)execve(helper, how->argv != NULL ? how->argv : argv,
	    how->envp != NULL ? how->envp : none);
	_exit(97);
}

static struct peer
peer_start(const struct start *how)
{
	static const struct start usual;
	struct peer p;
	int sv[2];

	pair(sv, SOCK_SEQPACKET);
	p.sock = sv[0];
	p.far = sv[1];
	(void)fflush(stdout);
	p.pid = fork();
	if (p.pid < 0)
		bail("fork");
	if (p.pid == 0)
		start_child(how == NULL ? &usual : how, sv[1]);
	if (how == NULL || !how->keep)
		drop(&p.far);
	return p;
}

/* Its exit status, 256 and more for a signal; or -1 if it has to be killed. */
static int
peer_end(struct peer *p, int ms)
{
	struct pollfd w = { pidfd_open(p->pid, 0), POLLIN, 0 };
	int st = 0, late = w.fd < 0 || poll(&w, 1, ms) != 1;

	if (late)
		(void)kill(p->pid, SIGKILL);
	drop(&w.fd);
	if (waitpid(p->pid, &st, 0) != p->pid)
		bail("waitpid");
	drop(&p->sock);
	drop(&p->far);
	return late ? -1 : WIFSIGNALED(st) ? 256 + WTERMSIG(st) :
	    WEXITSTATUS(st);
}

static void
peer_close(struct peer *p)
{
	drop(&p->sock);
	drop(&p->far);
	(void)peer_end(p, LONG);
}

/* --- messages ----------------------------------------------------------- */

static struct bl_req
ask(unsigned op)
{
	static uint32_t seq = 100;
	struct bl_req q;

	memset(&q, 0, sizeof q);
	q.magic = BL_MAGIC;
	q.version = BL_VERSION;
	q.op = (uint16_t)op;
	q.seq = ++seq;
	return q;
}

/* 0, or -errno.  lists: how many control messages the descriptors come in. */
static int
say_in(int sock, const void *buf, size_t n, const int *fd, unsigned nfds,
    unsigned lists)
{
	static union { struct cmsghdr h; char raw[4096]; } ctl;
	struct iovec iov = { (void *)(size_t)buf, n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	char *at = ctl.raw;
	unsigned i, part;

	memset(&ctl, 0, sizeof ctl);
	for (i = 0; i < lists && nfds > 0; i++) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)at;

		part = i + 1 == lists ? nfds - i * (nfds / lists) :
		    nfds / lists;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * part);
		memcpy(CMSG_DATA(c), fd + i * (nfds / lists),
		    sizeof(int) * part);
		at += CMSG_SPACE(sizeof(int) * part);
	}
	if (at > ctl.raw) {
		m.msg_control = ctl.raw;
		m.msg_controllen = (size_t)(at - ctl.raw);
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int
say(int sock, const void *buf, size_t n, const int *fd, unsigned nfds)
{
	return say_in(sock, buf, n, fd, nfds, 1);
}

static int
say_req(int sock, const struct bl_req *q, const int *fd, unsigned nfds)
{
	return say(sock, q, sizeof *q, fd, nfds);
}

/* How many descriptors came with one sound reply; or GONE, SILENT, ODD. */
static int
hear(int sock, struct bl_rep *p, int fd[BL_FDS_MAX], int ms)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof(int) *
	    BL_FDS_MAX)]; } ctl;
	struct iovec iov = { p, sizeof *p };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	struct pollfd w = { sock, POLLIN, 0 };
	struct cmsghdr *c;
	size_t n = 0, i;
	ssize_t got;
	int none[BL_FDS_MAX];

	if (poll(&w, 1, ms) != 1)
		return SILENT;
	got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (got < 0 && errno == ECONNRESET)	/* its last word is behind it */
		got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN ? SILENT : GONE;
	c = CMSG_FIRSTHDR(&m);
	if (c != NULL && c->cmsg_type == SCM_RIGHTS) {
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fd != NULL ? fd : none, CMSG_DATA(c), n * sizeof(int));
		for (i = 0; fd == NULL && i < n; i++)
			(void)close(none[i]);
	}
	if (got == 0)
		return GONE;
	return got == sizeof *p && bl_rep_check(p) == 0 ? (int)n : ODD;
}

/* 0, or -step of the refusal; -1000 for anything else. */
static int
hello(struct peer *p)
{
	struct bl_req q = ask(BL_OP_HELLO);
	struct bl_rep r;

	if (say_req(p->sock, &q, NULL, 0) != 0 && errno != EPIPE)
		return -1000;
	if (hear(p->sock, &r, NULL, LONG) != 0 || r.kind != BL_OP_HELLO)
		return -1000;
	return r.status == 0 ? 0 : -(int)r.step;
}

struct cell {
	int	 owner, net;
	uint32_t uid, number;
	pid_t	 init;
};

static struct bl_req
ask_cell(void)
{
	struct bl_req q = ask(BL_OP_CELL);

	q.u.cell.role = BL_ROLE_ANSWER;
	q.u.cell.need = BL_NEED_FULL;
	q.u.cell.disk = 64 << 20;
	return q;
}

/* The last child that pid has. */
static pid_t
proc_last(pid_t pid)
{
	pid_t child = 0, next;
	int i;

	for (i = 0; (next = proc_child(pid, i)) != 0 && next != child; i++)
		child = next;
	return child;
}

/* 0, or -step, or -1000. */
static int
cell_within(struct peer *p, const struct bl_req *q, const int *fd,
    unsigned nfds, struct cell *c, int ms)
{
	int got[BL_FDS_MAX] = { -1, -1 }, n;
	struct bl_rep r;

	c->owner = c->net = -1;
	if (say_req(p->sock, q, fd, nfds) != 0)
		return -1000;
	n = hear(p->sock, &r, got, ms);
	if (n < 0 || r.kind != BL_OP_CELL || r.seq != q->seq)
		return -1000;
	if (r.status != 0)
		return -(int)r.step;
	if (n != 2)
		return -1000;
	c->owner = got[0];
	c->net = got[1];
	c->uid = r.u.cell.uid;
	c->number = r.u.cell.cell;
	c->init = proc_last(p->pid);
	return 0;
}

static int
cell_with(struct peer *p, const struct bl_req *q, const int *fd, unsigned nfds,
    struct cell *c)
{
	return cell_within(p, q, fd, nfds, c, LONG);
}

static int
cell(struct peer *p, struct cell *c)
{
	const struct bl_req q = ask_cell();

	return cell_with(p, &q, NULL, 0, c);
}

static int
tell(int sock, unsigned op)
{
	const struct bl_req q = ask(op);

	return say_req(sock, &q, NULL, 0);
}

static void
cell_close(struct cell *c)
{
	drop(&c->owner);
	drop(&c->net);
}

/* A helper that has answered HELLO and a cell that has gone; or it bails. */
static struct peer
ready(const struct start *how, struct cell *c)
{
	struct peer p = peer_start(how);
	int r = hello(&p);

	if (r == 0)
		r = cell(&p, c);
	if (r != 0 || tell(c->owner, BL_OP_GO) != 0) {
		(void)printf("# step %d\n", -r);
		bail("no cell");
	}
	return p;
}

/* --- spawns ------------------------------------------------------------- */

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

/* A memfd with a sound spec that runs sh -c text; not sealed yet. */
static int
spec_with(const char *text, unsigned flags)
{
	static const char env[] = "PATH=/usr/bin:/bin";
	const char *const words[] = { "", "/bin/sh", "-c", text, env };
	struct bl_spec h = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .nargs = 3, .nenv = 1 };
	int fd = memfd_create("spec", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	size_t i;

	if (fd < 0 && flags != 0)
		return -1;
	h.size = sizeof h;
	for (i = 0; i < 5; i++)
		h.size += (uint32_t)strlen(words[i]) + 1;
	if (fd < 0 || write(fd, &h, sizeof h) != sizeof h)
		bail("memfd");
	for (i = 0; i < 5; i++)
		if (write(fd, words[i], strlen(words[i]) + 1) < 0)
			bail("memfd");
	return fd;
}

static int
spec_open(const char *text)
{
	return spec_with(text, 0);
}

static int
spec(const char *text)
{
	int fd = spec_open(text);

	if (fcntl(fd, F_ADD_SEALS, SEALS) != 0)
		bail("seals");
	return fd;
}

/*
 * What goes with a SPAWN, in its order: spec, stdin, stdout, stderr, reply;
 * our end of the reply socket, and of stdout.
 */
struct launch {
	int	 fd[6], reply, out;
};

static struct launch
launch(const char *text)
{
	struct launch l = { .fd = { -1, -1, -1, -1, -1, -1 } };
	int sv[2], p[2];

	l.fd[0] = spec(text);
	l.fd[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	l.fd[3] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (pipe2(p, O_CLOEXEC) != 0)
		bail("pipe");
	l.fd[2] = p[1];
	l.out = p[0];
	pair(sv, SOCK_SEQPACKET);
	l.reply = sv[0];
	l.fd[4] = sv[1];
	return l;
}

static void
launch_sent(struct launch *l)
{
	int i;

	for (i = 0; i < 6; i++)
		drop(&l->fd[i]);
}

static void
launch_close(struct launch *l)
{
	launch_sent(l);
	drop(&l->reply);
	drop(&l->out);
}

/* The wait status of EXIT, -step of FAIL, or -1000. */
static int
launch_end(struct launch *l, int ms)
{
	struct bl_rep r;
	int n;

	do
		n = hear(l->reply, &r, NULL, ms);
	while (n >= 0 && r.kind == BL_EV_STARTED);
	if (n != 0 || (r.kind != BL_EV_EXIT && r.kind != BL_EV_FAIL))
		return -1000;
	return r.kind == BL_EV_FAIL ? -(int)r.step : r.u.exit.wait_status;
}

static int
launch_on(int sock, struct launch *l)
{
	const struct bl_req q = ask(BL_OP_SPAWN);
	int r = say_req(sock, &q, l->fd, 5);

	launch_sent(l);
	return r;
}

/* Runs sh -c text: as launch_end. */
static int
run(int sock, const char *text)
{
	struct launch l = launch(text);
	int r = launch_on(sock, &l) != 0 ? -1000 : launch_end(&l, LONG);

	launch_close(&l);
	return r;
}

/*
 * All of a session, with a status that nobody makes up: 0, or -step of what
 * was refused, or -1000; 1000 and more: the wrong status.
 */
static int
whole(struct peer *p)
{
	struct cell c;
	int r = hello(p), st;

	if (r != 0 || (r = cell(p, &c)) != 0)
		return r;
	(void)tell(c.owner, BL_OP_GO);
	st = run(c.owner, "exit 7");
	cell_close(&c);
	return st == 7 << 8 ? 0 : st < 0 ? st : 1000 + st;
}

static int
whole_with(const struct start *how)
{
	struct peer p = peer_start(how);
	int r = whole(&p);

	peer_close(&p);
	return r;
}

/* --- guests ------------------------------------------------------------- */

/* Our end of a new guest's socket. */
static int
guest(struct cell *c)
{
	const struct bl_req q = ask(BL_OP_ATTACH);
	int sv[2], report[2], fd[2];

	pair(sv, SOCK_SEQPACKET);
	pair(report, SOCK_SEQPACKET);
	fd[0] = sv[1];
	fd[1] = report[1];
	if (say_req(c->owner, &q, fd, 2) != 0)
		bail("attach");
	(void)close(sv[1]);
	(void)close(report[0]);
	(void)close(report[1]);
	return sv[0];
}

/* 1: the other end is closed within a second, and nothing came before. */
static int
dropped(int sock)
{
	struct bl_rep r;

	return hear(sock, &r, NULL, SOON) == GONE;
}

/* 1: the helper says WIRE, or nothing, and ends by itself within a second. */
static int
broken(struct peer *p)
{
	long long from = now_ms();
	struct bl_rep r;
	int n = hear(p->sock, &r, NULL, SOON), st;
	int good = n == GONE || (n == 0 && r.kind == BL_OP_HELLO &&
	    r.status < 0 && r.step == BL_AT_WIRE);

	st = peer_end(p, SOON);
	return good && st == BL_AT_WIRE && now_ms() - from < SOON;
}

/* A session to which one message was sent after HELLO: broken. */
static int
breaks(const void *buf, size_t n, const int *fd, unsigned nfds)
{
	struct peer p = peer_start(NULL);

	if (hello(&p) != 0)
		bail("hello");
	(void)say(p.sock, buf, n, fd, nfds);
	return broken(&p);
}

/* The same to an owner socket: its cell ends, and the session does not. */
static int
breaks_cell(struct peer *p, const void *buf, size_t n, const int *fd,
    unsigned nfds, int go)
{
	struct cell c;
	int good;

	if (cell(p, &c) != 0)
		bail("cell");
	if (go)
		(void)tell(c.owner, BL_OP_GO);
	(void)say(c.owner, buf, n, fd, nfds);
	good = dropped(c.owner) && gone(c.init, SOON);
	cell_close(&c);
	return good;
}

/* --- F01: broken messages ----------------------------------------------- */

/* One of many broken messages to a helper that waits for HELLO. */
struct bad {
	char	 raw[sizeof(struct bl_req) * 2];
	size_t	 n;
};

/* How many of count messages, made by make, did not end a fresh session. */
static int
first_words(int count, void (*make)(int i, struct bad *b))
{
	static struct bad b;
	struct peer p[BATCH];
	int at, i, sound = 0;

	for (at = 0; at < count; at += BATCH) {
		for (i = 0; i < BATCH && at + i < count; i++) {
			p[i] = peer_start(NULL);
			memset(&b, 0, sizeof b);
			make(at + i, &b);
			(void)say(p[i].sock, b.raw, b.n, NULL, 0);
		}
		for (i = 0; i < BATCH && at + i < count; i++)
			if (!broken(&p[i])) {
				sound++;
				(void)printf("# message %d was not refused\n",
				    at + i);
			}
	}
	return sound;
}

static void
make_cut(int i, struct bad *b)
{
	const struct bl_req q = ask(BL_OP_HELLO);

	memcpy(b->raw, &q, sizeof q);
	b->n = (size_t)i + 1;
}

static void
make_longer(int i, struct bad *b)
{
	make_cut(sizeof(struct bl_req) - 1, b);
	b->n += 1U << i;
}

/* Where byte i of a HELLO is another than it has to be; seq is free. */
static void
make_byte(int i, struct bad *b)
{
	make_cut(sizeof(struct bl_req) - 1, b);
	b->raw[i < 8 ? i : i + 4] ^= (char)(i % 3 == 0 ? 0x80 : 1);
}

static const unsigned first_ops[] = { BL_OP_NONE, BL_OP_CELL, BL_OP_PATH,
	BL_OP_BYE, 5, 6, 7, BL_OP_GO, BL_OP_SPAWN, BL_OP_KILL, BL_OP_PAUSE,
	BL_OP_RESUME, BL_OP_ATTACH, BL_OP_LISTEN, BL_OP_MAX, BL_EV_STARTED,
	BL_EV_FAIL, BL_EV_EXIT, 0x100 | BL_OP_HELLO, 0xffff };

static void
make_first(int i, struct bad *b)
{
	struct bl_req q = ask(first_ops[i]);

	if (first_ops[i] == BL_OP_CELL)
		q = ask_cell();
	if (first_ops[i] == BL_OP_PATH)
		q.u.raw[0] = '/';
	memcpy(b->raw, &q, sizeof q);
	b->n = sizeof q;
}

static const unsigned versions[][2] = { { 0, BL_MAGIC },
	{ BL_VERSION - 1, BL_MAGIC }, { BL_VERSION + 1, BL_MAGIC },
	{ 0x100, BL_MAGIC }, { 0xffff, BL_MAGIC }, { BL_VERSION, 0 },
	{ BL_VERSION, 0x6261696c }, { BL_VERSION, 0xffffffff } };

static void
make_version(int i, struct bad *b)
{
	struct bl_req q = ask(BL_OP_HELLO);

	q.version = (uint16_t)versions[i][0];
	q.magic = versions[i][1];
	memcpy(b->raw, &q, sizeof q);
	b->n = sizeof q;
}

/* A CELL of the right size that is none; 0: there is no such one. */
static int
wrong_cell(int i, struct bl_req *q)
{
	static const char *const dst[] = { "", "/", "a", "//", "/a//b", "/a/",
	    "/.", "/a/..", "/../a", "/./a", "/a\n", "/\x7f", "/\xc3\xa9",
	    "/a\t", "/" "0123456789012345678901234567890123456789012345678901"
	    "2345678901234" /* 65 */ };
	struct bl_req_cell *c = &q->u.cell;
	const int ndst = (int)(sizeof dst / sizeof dst[0]);

	*q = ask_cell();
	c->nplaces = i >= 100;
	c->place[0].kind = i >= 100 ? BL_PLACE_TMPFS : 0;
	c->place[0].size = i >= 100 ? 4096 : 0;
	if (i >= 100)
		memcpy(c->place[0].dst, "/x", 3);
	switch (i) {
	case 0: c->role = BL_ROLE_NONE; return 1;
	case 1: c->role = BL_ROLE_MAX; return 1;
	case 2: c->role = 0xffffffff; return 1;
	case 3: c->role |= 1U << 31; return 1;
	case 4: c->need |= 128; return 1;
	case 5: c->need |= 1U << 31; return 1;
	case 6: c->flags = 4; return 1;
	case 7: c->flags = 1U << 31; return 1;
	case 8: c->limits.zero = 1; return 1;
	case 9: c->zero = 1; return 1;
	case 10: c->nplaces = 1; return 1;
	case 11: c->nplaces = BL_PLACES_MAX + 1; return 1;
	case 12: c->nplaces = 0xffffffff; return 1;
	case 13: c->nplaces = 1U << 31; return 1;
	case 14: q->zero = 1; return 1;
	case 15: q->u.raw[sizeof *c] = 1; return 1;
	case 16: q->u.raw[sizeof q->u.raw - 1] = 1; return 1;
	case 17: c->place[7].dst[BL_DST_MAX - 1] = 1; return 1;
	case 18: c->place[0].kind = BL_PLACE_TMPFS; return 1;
	case 100: c->place[0].kind = 0; return 1;
	case 101: c->place[0].kind = 3; return 1;
	case 102: c->place[0].kind = 0xffffffff; return 1;
	case 103: c->place[0].zero = 1; return 1;
	case 104: c->place[0].size = 0; return 1;
	case 105: c->place[0].kind = BL_PLACE_BIND; return 1;	/* with size */
	case 106: c->place[0].dst[3] = 'x'; return 1;	/* behind its end */
	case 107: c->place[0].dst[BL_DST_MAX - 1] = '/'; return 1;
	case 108: memset(c->place[0].dst, '/', BL_DST_MAX); return 1;
	case 109: memset(c->place[0].dst + 1, 'x', BL_DST_MAX - 1); return 1;
	case 110: c->nplaces = 2; return 1;
	default:
		if (i < 200 || i - 200 >= ndst)
			return 0;
		memset(c->place[0].dst, 0, BL_DST_MAX);
		memcpy(c->place[0].dst, dst[i - 200], strlen(dst[i - 200]));
		return 1;
	}
}

static void
suite_session_words(void)
{
	struct bl_req q[2] = { ask(BL_OP_HELLO), ask(BL_OP_HELLO) };
	static char big[200000];
	int i, bad = 0, count = 0;
	struct peer p;

	is(first_words(sizeof(struct bl_req) - 1, make_cut), 0,
	    "HELLO cut at each of its bytes");
	is(first_words(12, make_longer), 0, "HELLO with 1 to 2048 bytes more");
	is(first_words(sizeof(struct bl_req) - 4, make_byte), 0,
	    "HELLO with each of its bytes changed, the unused ones too");
	is(first_words(sizeof first_ops / sizeof first_ops[0], make_first), 0,
	    "all but HELLO as the first word: ops, events, numbers of none");
	is(first_words(sizeof versions / sizeof versions[0], make_version), 0,
	    "wrong versions, wrong magic");
	p = peer_start(NULL);
	i = 1;
	(void)setsockopt(p.sock, SOL_SOCKET, SO_SNDBUF, &(int){ 1 << 20 },
	    sizeof i);
	(void)say(p.sock, big, sizeof big, NULL, 0);
	is(broken(&p), 1, "200,000 bytes in one message");
	p = peer_start(NULL);
	(void)say(p.sock, q, sizeof q, NULL, 0);
	is(broken(&p), 1, "two requests in one message");
	p = peer_start(NULL);
	(void)say(p.sock, q, 1, NULL, 0);
	nap(300);
	is(say(p.sock, (char *)q + 1, 1, NULL, 0), -EPIPE,
	    "byte by byte: there is nobody for the second one");
	is(broken(&p), 1, "byte by byte");
	p = peer_start(NULL);
	(void)say(p.sock, q, 0, NULL, 0);
	i = peer_end(&p, SOON);
	ok(i == 0 || i == BL_AT_WIRE, ==, 1, "an empty message (status %d)", i);
	p = peer_start(NULL);
	drop(&p.sock);
	is(peer_end(&p, SOON), 0, "no message at all");
	is(breaks(&q[0], sizeof q[0], NULL, 0), 1, "HELLO twice");
	for (i = BL_OP_GO; i < BL_OP_MAX; i++) {
		q[0] = ask((unsigned)i);
		bad += !breaks(&q[0], sizeof q[0], NULL, 0);
	}
	is(bad, 0, "an owner's words to the helper");
	for (i = bad = 0; i < 300; i++) {
		if (!wrong_cell(i, &q[0]))
			continue;
		count++;
		if (!breaks(&q[0], sizeof q[0], NULL, 0)) {
			bad++;
			(void)printf("# CELL %d was not refused\n", i);
		}
	}
	is(bad, 0, "%d CELLs that are none: counts, places, bits, paths",
	    count);
	for (i = bad = count = 0; i < (int)sizeof q[0]; i++) {
		q[0] = ask_cell();
		if (i >= (int)(offsetof(struct bl_req, u) + 64) && i % 7 != 0)
			continue;	/* not all of 1,900: it says the same */
		if (i >= 8 && i < 12)
			continue;
		if (i >= (int)offsetof(struct bl_req, u) &&
		    i < (int)(offsetof(struct bl_req, u) + 72))
			continue;	/* what it uses */
		((char *)&q[0])[i] ^= 1;
		count++;
		bad += !breaks(&q[0], sizeof q[0], NULL, 0);
	}
	is(bad, 0, "CELL with one of %d bytes that are not its own", count);
	for (i = bad = count = 0; i < 300; i++) {
		struct bl_req c;

		if (i < 200 || !wrong_cell(i, &c) || c.u.cell.place[0].dst[1] ==
		    '\0')
			continue;	/* "/" is sound for PATH */
		q[0] = ask(BL_OP_PATH);
		memcpy(q[0].u.raw, c.u.cell.place[0].dst, BL_DST_MAX);
		count++;
		bad += !breaks(&q[0], sizeof q[0], NULL, 0);
	}
	is(bad, 0, "PATH with %d paths that are none", count);
}

/* Requests that are well-formed and refused: answered, and that is all. */
static void
suite_refused(void)
{
	struct peer p = peer_start(NULL);
	struct bl_req q;
	struct bl_rep r;
	struct cell c;
	int bad = 0, i;

	is(hello(&p), 0, "HELLO");
	for (i = 0; i < 8; i++) {
		q = ask_cell();
		switch (i) {
		case 0: q.u.cell.limits.memory = UINT64_MAX; break;
		case 1: q.u.cell.limits.fsize = UINT64_MAX; break;
		case 2: q.u.cell.limits.pids = UINT32_MAX; break;
		case 3: q.u.cell.limits.nofile = UINT32_MAX; break;
		case 4: q.u.cell.disk = UINT64_MAX; break;
		case 5: q.u.cell.deadline_ns = UINT64_MAX; break;
		case 6:
		case 7:
			q.u.cell.nplaces = 2;
			q.u.cell.place[0].kind = q.u.cell.place[1].kind =
			    BL_PLACE_TMPFS;
			memcpy(q.u.cell.place[0].dst, "/a", 3);
			memcpy(q.u.cell.place[1].dst, "/b", 3);
			q.u.cell.place[0].size = i == 6 ? 1 << 20 :
			    1ULL << 63;
			q.u.cell.place[1].size = i == 6 ? UINT64_MAX :
			    1ULL << 63;
			break;
		}
		i = cell_with(&p, &q, NULL, 0, &c) == -BL_AT_LIMITS ? i :
		    (bad++, (void)printf("# limit %d\n", i), i);
	}
	is(bad, 0, "8 limits above the rules, sums that overflow too: LIMITS");
	q = ask_cell();
	q.u.cell.net_of = 1;
	is(cell_with(&p, &q, NULL, 0, &c), -BL_AT_UNKNOWN, "net_of: UNKNOWN");
	q = ask_cell();
	q.u.cell.flags = BL_CELL_KEEP;
	is(cell_with(&p, &q, NULL, 0, &c), -BL_AT_UNKNOWN, "KEEP: UNKNOWN");
	q = ask(BL_OP_PATH);
	q.u.raw[0] = '/';
	(void)say_req(p.sock, &q, NULL, 0);
	is(hear(p.sock, &r, NULL, SOON) == 0 && r.status == -ENOSYS &&
	    r.seq == q.seq, 1, "PATH: ENOSYS, and its own number");
	q = ask_cell();
	q.u.cell.place[0] = (struct bl_place){ .kind = BL_PLACE_TMPFS,
	    .size = 1 << 20, .dst = "/usr/x" };
	q.u.cell.nplaces = 1;
	is(cell_with(&p, &q, NULL, 0, &c), -BL_AT_BIND,
	    "a place below what the rules show: BIND");
	is(cell(&p, &c), 0, "and then a cell");
	(void)tell(c.owner, BL_OP_GO);
	for (i = bad = 0; i < 2; i++) {
		q = ask(i == 0 ? BL_OP_PAUSE : BL_OP_RESUME);
		(void)say_req(c.owner, &q, NULL, 0);
		bad += hear(c.owner, &r, NULL, SOON) != 0 ||
		    r.status != -ENOSYS || r.kind != q.op || r.seq != q.seq;
	}
	is(bad, 0, "PAUSE and RESUME: ENOSYS");
	is(run(c.owner, "exit 7"), 7 << 8, "which runs a program");
	cell_close(&c);
	/* Needs are of one kind: all of them are given, or it is refused. */
	q = ask_cell();
	q.u.cell.need |= BL_NEED_CGROUP;
	i = cell_with(&p, &q, NULL, 0, &c);
	ok(i, <, 0, "a control group is needed and none is brought: refused");
	cell_close(&c);
	peer_close(&p);
}

static void
suite_owner_words(void)
{
	static const unsigned early[] = { BL_OP_SPAWN, BL_OP_KILL, BL_OP_PAUSE,
	    BL_OP_RESUME, BL_OP_ATTACH, BL_OP_LISTEN };
	static const unsigned never[] = { BL_OP_NONE, BL_OP_HELLO, BL_OP_CELL,
	    BL_OP_PATH, BL_OP_BYE, BL_OP_GO, BL_OP_MAX, BL_EV_EXIT, 0xffff };
	static const size_t size[] = { 0, 1, 3, 4, 15, 16, 255, 256, 257, 2047,
	    2049, 4096 };
	struct peer p = peer_start(NULL);
	char buf[4096] = "";
	struct launch l;
	struct bl_req q;
	struct cell c;
	unsigned i;
	int bad = 0, sv[2], fd[2];

	is(hello(&p), 0, "HELLO");
	pair(sv, SOCK_SEQPACKET);
	fd[0] = fd[1] = sv[0];
	for (i = 0; i < sizeof early / sizeof early[0]; i++) {
		q = ask(early[i]);
		l = launch("exit 0");
		bad += !breaks_cell(&p, &q, sizeof q, early[i] == BL_OP_SPAWN ?
		    l.fd : fd, early[i] == BL_OP_SPAWN ? 5 :
		    early[i] >= BL_OP_ATTACH ? 2 : 0, 0);
		launch_close(&l);
	}
	is(bad, 0, "before GO, all but GO ends the cell");
	for (i = bad = 0; i < sizeof never / sizeof never[0]; i++) {
		q = never[i] == BL_OP_CELL ? ask_cell() : ask(never[i]);
		bad += !breaks_cell(&p, &q, sizeof q, NULL, 0, 1);
	}
	is(bad, 0, "after GO: GO again, a session's words, numbers of none");
	for (i = bad = 0; i < sizeof size / sizeof size[0]; i++) {
		q = ask(BL_OP_KILL);
		memcpy(buf, &q, sizeof q);
		bad += !breaks_cell(&p, buf, size[i], NULL, 0, 1);
	}
	is(bad, 0, "KILL of %zu wrong sizes", sizeof size / sizeof size[0]);
	for (i = bad = 0; i < 40; i++) {
		q = ask(BL_OP_KILL);
		((char *)&q)[i < 8 ? i : i < 12 ? i + 4 :
		    16 + (i - 12) * 72 % 2032] ^= 0x40;
		bad += !breaks_cell(&p, &q, sizeof q, NULL, 0, 1);
	}
	is(bad, 0, "KILL with one of 40 bytes changed");
	drop(&sv[0]);
	drop(&sv[1]);
	is(cell(&p, &c), 0, "the session goes on");
	(void)tell(c.owner, BL_OP_GO);
	is(run(c.owner, "exit 7"), 7 << 8, "and its cells work");
	cell_close(&c);
	peer_close(&p);
}

/* A guest says one thing too many: it is dropped, and its cell goes on. */
static int
guest_breaks(struct cell *c, const void *buf, size_t n, const int *fd,
    unsigned nfds)
{
	int sock = guest(c), good;

	(void)say(sock, buf, n, fd, nfds);
	good = dropped(sock);
	(void)close(sock);
	return good;
}

static void
suite_guest_words(void)
{
	struct cell c;
	struct peer p = ready(NULL, &c);
	struct launch l = launch("exit 0");
	struct bl_req q = ask(BL_OP_SPAWN);
	int bad = 0, i, fds, fd[2];
	long long rss, more;

	is(run(c.owner, "exit 7"), 7 << 8, "a cell that works");
	rss = proc_number(c.init, "status", "VmRSS:");
	fds = fds_rest(c.init);
	for (i = 0; i < (int)sizeof q; i++)
		bad += !guest_breaks(&c, &q, (size_t)i, l.fd, 5);
	is(bad, 0, "SPAWN cut at each of its bytes, with its descriptors");
	for (i = bad = 0; i < (int)sizeof q; i++) {
		if ((i >= 8 && i < 12) || (i >= 24 && i < 32))
			continue;	/* seq, wall_ns */
		q = ask(BL_OP_SPAWN);
		((char *)&q)[i] ^= 1;	/* flags: one more is due then */
		if (!guest_breaks(&c, &q, sizeof q, l.fd, 5)) {
			bad++;
			(void)printf("# byte %d\n", i);
		}
	}
	is(bad, 0, "SPAWN with each of its bytes changed");
	fd[0] = fd[1] = l.fd[4];
	for (i = bad = 0; i < 64; i++) {
		if (i == BL_OP_SPAWN)
			continue;
		q = i == BL_OP_CELL ? ask_cell() : ask((unsigned)i);
		bad += !guest_breaks(&c, &q, sizeof q, fd,
		    i == BL_OP_ATTACH || i == BL_OP_LISTEN ? 2 : 0);
	}
	is(bad, 0, "all words but SPAWN, an owner's too");
	launch_close(&l);
	is(run(c.owner, "exit 7"), 7 << 8, "the cell works");
	more = proc_number(c.init, "status", "VmRSS:") - rss;
	ok(more, <, 512, "its init's memory is flat after 4,000 messages "
	    "(%lld KiB more)", more);
	is(fds_settle(c.init, fds), fds, "and so are its descriptors");
	cell_close(&c);
	peer_close(&p);
}

/* Many messages at once, and nobody reads the answers. */
static void
suite_flood(void)
{
	struct peer p = peer_start(NULL);
	struct bl_req q = ask_cell();
	struct cell c;
	int i, r = 0, on;
	long long rss, from;

	is(hello(&p), 0, "HELLO");
	rss = proc_number(p.pid, "status", "VmRSS:");
	q.u.cell.limits.pids = UINT32_MAX;
	from = now_ms();
	for (i = 0; i < 10000 && r == 0 && now_ms() - from < 5000; i++) {
		struct pollfd w = { p.sock, POLLOUT, 0 };

		q.seq++;
		(void)poll(&w, 1, 1000);
		r = say_req(p.sock, &q, NULL, 0);
	}
	is(r == -EPIPE || r == -ECONNRESET, 1, "requests without end, and no "
	    "answer is read: ended after %d", i);
	i = peer_end(&p, SOON);
	is(i, BL_AT_WIRE, "by itself");
	p = ready(NULL, &c);
	from = now_ms();
	for (i = 0; i < 3000; i++)
		if ((r = tell(c.owner, BL_OP_KILL)) != 0)
			break;
	is(run(c.owner, "exit 7"), 7 << 8, "3,000 KILLs, then a SPAWN");
	for (i = 0; i < 3000; i++) {
		struct pollfd w = { c.owner, POLLOUT, 0 };

		(void)poll(&w, 1, 1000);
		if ((r = tell(c.owner, BL_OP_PAUSE)) != 0)
			break;
	}
	on = gone(c.init, SOON);
	is(on || r == 0, 1, "3,000 PAUSEs, and no answer is read: bounded");
	(void)rss;
	cell_close(&c);
	peer_close(&p);
}

static void
suite_F01(void)
{
	struct cell c;
	struct peer other = ready(NULL, &c);

	suite_session_words();
	suite_refused();
	suite_owner_words();
	suite_guest_words();
	suite_flood();
	is(run(c.owner, "exit 7"), 7 << 8,
	    "another client was served all the time");
	cell_close(&c);
	is(whole_with(NULL), 0, "and so is a new one");
	peer_close(&other);
}

/* --- F02: wrong numbers of descriptors ---------------------------------- */

/* n copies of a pipe's writing end; *from is its reading end. */
static int
many_fds(int *fd, int n, int *from)
{
	int p[2], i;

	if (pipe2(p, O_CLOEXEC) != 0)
		bail("pipe");
	for (i = 0; i < n; i++)
		fd[i] = p[1];
	*from = p[0];
	return p[1];
}

/* 1: nobody else holds the pipe's writing end any more, within a second. */
static int
closed(int from, int end)
{
	struct pollfd w = { from, POLLIN, 0 };
	int good;

	drop(&end);
	good = poll(&w, 1, SOON) == 1 && (w.revents & POLLHUP) != 0;
	drop(&from);
	return good;
}

static const int counts[] = { 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 64, 253 };
enum { NCOUNTS = sizeof counts / sizeof counts[0] };

/* How often q with a number of descriptors that is not due went on, or kept. */
static int
wrong_counts(const struct bl_req *q, int due, unsigned lists, int after)
{
	int fd[256], i, from, end, bad = 0;

	for (i = -1; i < NCOUNTS; i++) {
		int n = i < 0 ? 0 : counts[i];
		struct peer p;

		if (n == due || (int)lists > n + 1)
			continue;
		p = peer_start(NULL);
		if (after && hello(&p) != 0)
			bail("hello");
		end = many_fds(fd, n, &from);
		(void)say_in(p.sock, q, sizeof *q, fd, (unsigned)n, lists);
		bad += !broken(&p);
		bad += !closed(from, end);
	}
	return bad;
}

static void
suite_session_fds(void)
{
	struct bl_req q = ask(BL_OP_HELLO);
	int fd[256], from, end, i, bad = 0, fds, dir;
	struct peer p;
	struct cell c;

	is(wrong_counts(&q, 0, 1, 0), 0, "HELLO with descriptors");
	is(wrong_counts(&q, 0, 2, 0), 0, "HELLO with two lists of them");
	q = ask(BL_OP_BYE);
	is(wrong_counts(&q, 0, 1, 1), 0, "BYE with descriptors");
	q = ask(BL_OP_PATH);
	q.u.raw[0] = '/';
	is(wrong_counts(&q, 0, 1, 1), 0, "PATH with descriptors");
	q = ask_cell();
	is(wrong_counts(&q, 0, 1, 1), 0, "CELL with descriptors");
	q.u.cell.nplaces = 2;
	q.u.cell.place[0] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/a" };
	q.u.cell.place[1] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/b" };
	is(wrong_counts(&q, 2, 1, 1), 0, "CELL with two BINDs, not two");
	q.u.cell.flags = BL_CELL_CGROUP;
	is(wrong_counts(&q, 3, 1, 1), 0, "and a control group, not three");
	is(wrong_counts(&q, 3, 3, 1), 0, "in three lists");

	/* Without data there is no message that they could belong to. */
	for (i = 0; i < 3; i++) {
		p = peer_start(NULL);
		if (i > 0 && hello(&p) != 0)
			bail("hello");
		end = many_fds(fd, 1 + i * 50, &from);
		(void)say(p.sock, "", 0, fd, (unsigned)(1 + i * 50));
		fds = peer_end(&p, SOON);
		bad += fds != 0 && fds != BL_AT_WIRE;
		bad += !closed(from, end);
	}
	is(bad, 0, "descriptors without data");

	p = peer_start(NULL);
	is(hello(&p), 0, "HELLO");
	fds = fds_rest(p.pid);
	dir = open("/dev/null", O_RDONLY | O_CLOEXEC);
	q = ask_cell();
	q.u.cell.nplaces = 8;
	for (i = 0; i < 8; i++)
		q.u.cell.place[i] = (struct bl_place){ .kind = BL_PLACE_BIND,
		    .dst = { '/', (char)('a' + i) } };
	for (i = 0; i < 8; i++)
		fd[i] = i == 7 ? dir : open("/usr", O_PATH | O_CLOEXEC);
	for (i = bad = 0; i < 1000; i++)
		bad += cell_with(&p, &q, fd, 8, &c) != -BL_AT_PLACE;
	is(bad, 0, "1,000 CELLs of 7 folders and one that is none: PLACE");
	is(fds_settle(p.pid, fds), fds, "nothing of them is left open");
	q.u.cell.limits.pids = UINT32_MAX;
	for (i = bad = 0; i < 1000; i++)
		bad += cell_with(&p, &q, fd, 8, &c) != -BL_AT_LIMITS;
	is(bad, 0, "1,000 CELLs above the rules: LIMITS");
	is(fds_settle(p.pid, fds), fds, "nothing of them is left open");
	q.u.cell.limits.pids = 0;
	memcpy(q.u.cell.place[6].dst, "/proc/x", 8);
	q.u.cell.nplaces = 7;
	q.u.cell.place[7] = (struct bl_place){ .kind = 0 };
	for (i = bad = 0; i < 30; i++)
		bad += cell_with(&p, &q, fd, 7, &c) != -BL_AT_BIND;
	is(bad, 0, "30 cells that fail half-way: BIND");
	is(fds_settle(p.pid, fds), fds, "nothing of them is left open");
	is(proc_child(p.pid, 0), 0, "and no process");
	is(cell(&p, &c), 0, "then one that doesn't fail");
	for (i = 0; i < 8; i++)
		(void)close(fd[i]);
	cell_close(&c);
	peer_close(&p);
}

static void
suite_cell_fds(void)
{
	static const unsigned bare[] = { BL_OP_GO, BL_OP_KILL, BL_OP_PAUSE,
	    BL_OP_RESUME };
	struct peer p = peer_start(NULL);
	struct bl_req q;
	struct launch l;
	struct cell c;
	int fd[256], from, end, i, n, bad = 0, fds, flag, sv[2];
	unsigned o;

	is(hello(&p), 0, "HELLO");
	for (o = 0; o < 4; o++)
		for (i = 0; i < NCOUNTS; i += 4) {
			q = ask(bare[o]);
			end = many_fds(fd, counts[i], &from);
			bad += !breaks_cell(&p, &q, sizeof q, fd,
			    (unsigned)counts[i], bare[o] != BL_OP_GO);
			bad += !closed(from, end);
		}
	is(bad, 0, "an owner's words with descriptors where none is due");
	pair(sv, SOCK_SEQPACKET);
	for (i = 0; i < 256; i++)
		fd[i] = sv[0];
	for (i = bad = 0; i < NCOUNTS; i++) {
		q = ask(i % 2 != 0 ? BL_OP_ATTACH : BL_OP_LISTEN);
		if (counts[i] != 2)
			bad += !breaks_cell(&p, &q, sizeof q, fd,
			    (unsigned)counts[i], 1);
	}
	is(bad, 0, "ATTACH and LISTEN with not two");
	drop(&sv[0]);
	drop(&sv[1]);

	is(cell(&p, &c), 0, "a cell");
	(void)tell(c.owner, BL_OP_GO);
	is(run(c.owner, "exit 7"), 7 << 8, "that works");
	l = launch("exit 0");
	fds = fds_rest(c.init);
	for (flag = bad = 0; flag < 2; flag++)
		for (i = -1; i < NCOUNTS; i++) {
			n = i < 0 ? 0 : counts[i];
			if (n == 5 + flag)
				continue;
			end = many_fds(fd, n, &from);
			if (n > 0)
				fd[0] = l.fd[0];
			q = ask(BL_OP_SPAWN);
			q.u.spawn.flags = flag ? BL_SPAWN_RESULT : 0;
			bad += !guest_breaks(&c, &q, sizeof q, fd, (unsigned)n);
			bad += n > 1 && !closed(from, end);
		}
	is(bad, 0, "SPAWN with not five, or not six with a result pipe");
	for (i = bad = 0; i < 1000; i++) {
		q = ask(BL_OP_SPAWN);
		n = counts[i % NCOUNTS];
		end = many_fds(fd, n, &from);
		bad += !guest_breaks(&c, &q, sizeof q, fd,
		    (unsigned)(n == 5 ? 4 : n));
		bad += !closed(from, end);
	}
	is(bad, 0, "1,000 of them");
	is(fds_settle(c.init, fds), fds, "nothing of them is left open");
	for (i = bad = 0; i < 1000; i++) {
		struct launch one = launch("exit 0");

		drop(&one.fd[2]);
		one.fd[2] = open("/dev/zero", O_WRONLY | O_CLOEXEC);
		(void)launch_on(c.owner, &one);
		bad += launch_end(&one, LONG) != -BL_AT_STREAM;
		launch_close(&one);
	}
	is(bad, 0, "1,000 SPAWNs with a wrong stream: STREAM");
	is(fds_settle(c.init, fds), fds, "nothing of them is left open");
	for (i = bad = 0; i < 200; i++)
		bad += run(c.owner, "exit 7") != 7 << 8;
	is(bad, 0, "200 programs");
	is(fds_settle(c.init, fds), fds, "nothing of them is left open");
	for (i = 0; i < 1000; i++) {
		n = guest(&c);
		(void)close(n);
		if (i % 8 == 7)
			(void)run(c.owner, "exit 0");	/* it has kept up */
	}
	is(run(c.owner, "exit 7"), 7 << 8, "1,000 guests that go at once");
	is(fds_settle(c.init, fds), fds, "nothing of them is left open");
	launch_close(&l);
	cell_close(&c);
	peer_close(&p);
}

/* A listener: 1,000 that connect and go, and more at once than there is room. */
static void
suite_listener_fds(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const socklen_t size = sizeof a;
	struct cell c;
	struct peer p = ready(NULL, &c);
	const struct bl_req q = ask(BL_OP_LISTEN);
	int fd[2], report[2], to[64], i, bad = 0, fds;

	(void)snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "hostile-%d",
	    (int)getpid());
	pair(report, SOCK_SEQPACKET);
	fd[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	fd[1] = report[1];
	if (bind(fd[0], (struct sockaddr *)&a, size) != 0 ||
	    listen(fd[0], 128) != 0)
		bail("listen");
	is(say_req(c.owner, &q, fd, 2), 0, "LISTEN");
	is(run(c.owner, "exit 7"), 7 << 8, "and the cell works");
	fds = fds_rest(c.init);
	for (i = 0; i < 1000; i++) {
		to[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		bad += connect(to[0], (struct sockaddr *)&a, size) != 0;
		(void)close(to[0]);
	}
	is(bad, 0, "1,000 that connect and go");
	for (i = 0; i < 64; i++) {
		to[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		bad += connect(to[i], (struct sockaddr *)&a, size) != 0;
	}
	is(bad, 0, "64 that stay");
	for (i = 0; i < 64; i++) {
		/* all are served, 15 at a time: each goes after its turn */
		bad += run(to[i], "exit 7") != 7 << 8;
		(void)close(to[i]);
	}
	is(bad, 0, "each is served");
	is(fds_settle(c.init, fds), fds, "nothing of them is left open");
	drop(&fd[0]);
	drop(&report[0]);
	drop(&report[1]);
	cell_close(&c);
	peer_close(&p);
}

static void
suite_F02(void)
{
	suite_session_fds();
	suite_cell_fds();
	suite_listener_fds();
}

/* --- F03: descriptors that the kernel drops on the way ------------------ */

/* n: 0 for as many as it may have. */
static void
nofile(pid_t pid, unsigned n)
{
	struct rlimit v;

	if (prlimit(pid, RLIMIT_NOFILE, NULL, &v) != 0)
		bail("prlimit");
	v.rlim_cur = n != 0 ? n : v.rlim_max;
	if (prlimit(pid, RLIMIT_NOFILE, &v, NULL) != 0)
		bail("prlimit");
}

/* The first number that pid has no descriptor of. */
static int
fd_next(pid_t pid)
{
	int i = 0;

	while (i < FDS_SEEN && proc_fds(pid, i, 1) == 1)
		i++;
	return i;
}

static void
suite_F03(void)
{
	struct bl_req q = ask_cell(), spawn;
	struct peer p;
	struct cell c;
	struct launch l;
	int fd[2], room, bad = 0, i, sock[12], from, end, many[256];
	pid_t init;

	q.u.cell.nplaces = 2;
	q.u.cell.place[0] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/a" };
	q.u.cell.place[1] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/b" };
	fd[0] = fd[1] = open("/usr", O_PATH | O_CLOEXEC);
	p = peer_start(NULL);
	is(hello(&p), 0, "HELLO");
	is(cell_with(&p, &q, fd, 2, &c), 0, "control: there is room for both");
	cell_close(&c);
	peer_close(&p);
	for (room = 0; room < 2; room++) {
		p = peer_start(NULL);
		(void)hello(&p);
		nap(20);		/* it waits in poll(2) by now */
		nofile(p.pid, (unsigned)(fd_next(p.pid) + room));
		(void)say_req(p.sock, &q, fd, 2);
		is(broken(&p), 1, "the helper has room for %d of 2: ended, "
		    "with a reason", room);
	}
	(void)close(fd[0]);

	for (room = 0; room < 5; room++) {
		p = ready(NULL, &c);
		is(run(c.owner, "exit 7"), 7 << 8, "control: room for all");
		nap(20);
		init = c.init;
		l = launch("echo ran");
		nofile(init, (unsigned)(fd_next(init) + room));
		(void)launch_on(c.owner, &l);
		is(gone(init, SOON), 1, "cell init has room for %d of 5: the "
		    "cell ends", room);
		is(read(l.out, &i, 1), 0, "and nothing was run or kept");
		launch_close(&l);
		is(cell(&p, &c), 0, "the session goes on");
		cell_close(&c);
		peer_close(&p);
	}

	/* A guest of a cell whose init has enough for itself, and no more. */
	p = ready(NULL, &c);
	for (i = 0; i < 12; i++)
		sock[i] = guest(&c);
	is(run(c.owner, "exit 7"), 7 << 8, "12 guests");
	spawn = ask(BL_OP_SPAWN);
	for (room = bad = 0; room < 5; room++) {
		l = launch("echo ran");
		many[0] = l.fd[0];
		end = many_fds(many + 1, 4, &from);
		nap(20);
		nofile(c.init, (unsigned)(fd_next(c.init) + room));
		(void)say_req(sock[room], &spawn, many, 5);
		bad += !dropped(sock[room]);
		bad += !closed(from, end);
		nofile(c.init, 0);
		launch_close(&l);
		drop(&sock[room]);
		sock[room] = guest(&c);		/* in its place */
		bad += run(c.owner, "exit 7") != 7 << 8;
	}
	is(bad, 0, "a guest's SPAWN loses some: it is dropped, they are closed");
	is(run(c.owner, "exit 7"), 7 << 8, "and the cell goes on");
	is(run(sock[11], "exit 7"), 7 << 8, "and so do other guests");
	for (i = 0; i < 12; i++)
		drop(&sock[i]);
	cell_close(&c);
	peer_close(&p);
}

/* --- F04: wrong kinds of descriptor ------------------------------------- */

static int
in_scratch(const char *name, char path[4200])
{
	return snprintf(path, 4200, "%s/%s", scratch, name);
}

/* A socket of another kind that is connected, with its other end in *other. */
static int
half(int type, int *other)
{
	int sv[2];

	pair(sv, type);
	*other = sv[1];
	return sv[0];
}

/* An endless writer fills the pipe, and nobody is ever done reading it. */
static int
endless(void)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) != 0)
		bail("pipe");
	while (write(p[1], scratch, sizeof scratch) > 0)
		;
	return p[0];
}

static int
terminal(void)
{
	int a, b;

	if (openpty(&a, &b, NULL, NULL, NULL) != 0)
		return -1;
	return b;
}

static int
in_mount_ns(const char *path)
{
	int old = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), fd;

	if (unshare(CLONE_NEWNS) != 0)
		return -1;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (setns(old, CLONE_NEWNS) != 0 || chdir("/") != 0)
		bail("setns");
	(void)close(old);
	return fd;
}

static int
write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r;

	r = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	(void)close(fd);
	return r;
}

/*
 * A tmpfs that the caller has mounted itself, as root of a user namespace of
 * its own, with a set-user-id file in it; or -1.
 */
static int
in_user_ns(void)
{
	int sv[2], fd[BL_FDS_MAX] = { -1 }, i;
	char map[64], path[4200];
	struct bl_rep r = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = BL_OP_BYE };
	pid_t pid;

	pair(sv, SOCK_SEQPACKET);
	(void)in_scratch("work/open/mnt", path);
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		become(caller);
		(void)prctl(PR_SET_DUMPABLE, 1);
		(void)mkdir(path, 0755);
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
			_exit(1);
		(void)snprintf(map, sizeof map, "0 %u 1", caller);
		if (!write_text("/proc/self/uid_map", map) ||
		    syscall(SYS_mount, "t", path, "tmpfs", 0UL, NULL) != 0)
			_exit(1);
		i = open(path, O_PATH | O_DIRECTORY);
		_exit(i < 0 || say(sv[1], &r, sizeof r, &i, 1) != 0);
	}
	(void)close(sv[1]);
	if (hear(sv[0], &r, fd, LONG) != 1)
		fd[0] = -1;
	(void)close(sv[0]);
	(void)waitpid(pid, NULL, 0);
	return fd[0];
}

/* Any descriptor that is no folder: -1: not to be had here, -2: no more. */
static int
odd(int i, const char **name, int *other)
{
	static const char *const names[] = { "a file", "a path-only file",
	    "a link", "a named pipe", "a named socket", "a pipe's end",
	    "an endless pipe", "a memfd", "the null device, path-only",
	    "/dev/zero", "a terminal", "an eventfd", "an epoll",
	    "a timerfd", "a stream socket", "a datagram socket",
	    "an internet socket", "a process", "another process's memory",
	    "a mount namespace", "a file that is leased" };
	const int path = O_PATH | O_CLOEXEC;
	char at[4200];
	int fd;

	*other = -1;
	if (i >= (int)(sizeof names / sizeof names[0]))
		return -2;
	*name = names[i];
	switch (i) {
	case 0: return open(helper, O_RDONLY | O_CLOEXEC);
	case 1: return open(helper, path);
	case 2: (void)in_scratch("work/link", at);
		(void)!symlink("/usr", at);
		return open(at, path | O_NOFOLLOW);
	case 3: (void)in_scratch("work/fifo", at);
		(void)mkfifo(at, 0666);
		return open(at, O_RDWR | O_CLOEXEC);
	case 4: (void)in_scratch("work/sock", at);
		(void)mknod(at, S_IFSOCK | 0666, 0);
		return open(at, path);
	case 5: fd = endless(); return fd;
	case 6: return endless();
	case 7: return memfd_create("m", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	case 8: return open("/dev/null", path);
	case 9: return open("/dev/zero", O_RDWR | O_CLOEXEC);
	case 10: return terminal();
	case 11: return eventfd(0, EFD_CLOEXEC);
	case 12: return epoll_create1(EPOLL_CLOEXEC);
	case 13: return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	case 14: return half(SOCK_STREAM, other);
	case 15: return half(SOCK_DGRAM, other);
	case 16: return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	case 17: return pidfd_open(getpid(), 0);
	case 18: return open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	case 19: return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	default:
		(void)in_scratch("work/leased", at);
		fd = open(at, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		(void)fcntl(fd, F_SETLEASE, F_WRLCK);
		return fd;
	}
}

/* 1: refused as a place, by its type, within a second. */
static int
no_place(struct peer *p, int fd, const char *name)
{
	struct bl_req q = ask_cell();
	long long from = now_ms();
	struct cell c;
	int r;

	q.u.cell.nplaces = 1;
	q.u.cell.place[0] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/x" };
	r = cell_within(p, &q, &fd, 1, &c, 2 * SOON);
	if (r == 0)
		cell_close(&c);
	if ((r == -BL_AT_PLACE || r == -BL_AT_BIND) && now_ms() - from < SOON)
		return 1;
	(void)printf("# %s: %d, after %lld ms\n", name, r, now_ms() - from);
	return 0;
}

/*
 * A FUSE file system whose server says hello and then nothing any more: its
 * root, or -1.  *dev ends it.
 */
static int
fuse_root(uid_t owner, const char *more, int *dev)
{
	char path[4200], opt[128], buf[FUSE_MIN_READ_BUFFER];
	struct { struct fuse_out_header h; struct fuse_init_out o; } out;
	struct fuse_in_header in;
	int fd;

	*dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	(void)in_scratch("work/fuse", path);
	(void)mkdir(path, 0755);
	(void)snprintf(opt, sizeof opt,
	    "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s", *dev, owner,
	    owner, more);
	if (*dev < 0 || syscall(SYS_mount, "f", path, "fuse", 0UL, opt) != 0)
		return -1;
	if (read(*dev, buf, sizeof buf) < (ssize_t)sizeof in)
		return -1;
	memcpy(&in, buf, sizeof in);
	memset(&out, 0, sizeof out);
	out.h = (struct fuse_out_header){ sizeof out, 0, in.unique };
	out.o.major = FUSE_KERNEL_VERSION;
	out.o.minor = FUSE_KERNEL_MINOR_VERSION;
	out.o.max_write = 4096;
	if (write(*dev, &out, sizeof out) != sizeof out)
		return -1;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void)syscall(SYS_umount2, path, 2 /* MNT_DETACH */);
	return fd;
}

/* Answers until the file is open, and then nothing any more. */
static _Noreturn void
fuse_serve(int dev)
{
	static char buf[FUSE_MIN_READ_BUFFER * 16];
	struct fuse_in_header in;
	struct {
		struct fuse_out_header h;
		union {
			struct fuse_init_out init;
			struct fuse_entry_out entry;
			struct fuse_attr_out attr;
			struct fuse_open_out open;
		} u;
	} out;
	size_t n;
	int last = 0;

	while (!last && read(dev, buf, sizeof buf) >= (ssize_t)sizeof in) {
		memcpy(&in, buf, sizeof in);
		memset(&out, 0, sizeof out);
		n = 0;
		switch (in.opcode) {
		case FUSE_INIT:
			out.u.init.major = FUSE_KERNEL_VERSION;
			out.u.init.minor = FUSE_KERNEL_MINOR_VERSION;
			out.u.init.max_write = 4096;
			n = sizeof out.u.init;
			break;
		case FUSE_LOOKUP:
			out.u.entry.nodeid = 2;
			out.u.entry.attr.ino = 2;
			out.u.entry.attr.mode = S_IFREG | 0666;
			out.u.entry.attr.nlink = 1;
			n = sizeof out.u.entry;
			break;
		case FUSE_GETATTR:
			out.u.attr.attr.ino = in.nodeid;
			out.u.attr.attr.mode = (in.nodeid == 1 ? S_IFDIR :
			    S_IFREG) | 0777;
			out.u.attr.attr.nlink = 1;
			n = sizeof out.u.attr;
			break;
		case FUSE_OPEN:
			n = sizeof out.u.open;
			last = 1;
			break;
		default:
			break;
		}
		out.h.len = (uint32_t)(sizeof out.h + n);
		out.h.unique = in.unique;
		out.h.error = n == 0 ? -ENOSYS : 0;
		if (in.opcode != FUSE_FORGET)
			(void)!write(dev, &out, out.h.len);
	}
	nap(8000);		/* whoever waits for us is let go then */
	_exit(0);
}

/*
 * A file of a FUSE file system of the caller's own, whose server is *pid and
 * answers no more; or -1.  Who closes it waits for that server.
 */
static int
fuse_file(pid_t *pid)
{
	char path[4200], file[4224], opt[128];
	int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC), sv[2];
	int fd[BL_FDS_MAX] = { -1 };
	struct bl_rep r = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = BL_OP_BYE };

	*pid = -1;
	(void)in_scratch("work/fuse", path);
	(void)mkdir(path, 0755);
	(void)snprintf(file, sizeof file, "%s/file", path);
	(void)snprintf(opt, sizeof opt,
	    "fd=%d,rootmode=40000,user_id=%u,group_id=%u", dev, caller, caller);
	if (dev < 0 || syscall(SYS_mount, "f", path, "fuse", 0UL, opt) != 0) {
		drop(&dev);
		return -1;
	}
	pair(sv, SOCK_SEQPACKET);
	(void)fflush(stdout);
	*pid = fork();
	if (*pid == 0)
		fuse_serve(dev);
	if (fork() == 0) {
		become(caller);
		fd[0] = open(file, O_RDWR);
		_exit(fd[0] < 0 || say(sv[1], &r, sizeof r, fd, 1) != 0);
	}
	(void)close(dev);
	(void)close(sv[1]);
	if (hear(sv[0], &r, fd, SOON) != 1)
		fd[0] = -1;
	(void)close(sv[0]);
	(void)syscall(SYS_umount2, path, 2 /* MNT_DETACH */);
	return fd[0];
}

/* Closing a file may take as long as its server likes: who closes it waits. */
static void
suite_fuse_file(void)
{
	struct launch l = launch("exit 7"), next = launch("exit 7");
	const struct bl_req q = ask(BL_OP_SPAWN);
	struct cell c;
	struct peer p = ready(NULL, &c);	/* before: it closes all it has */
	pid_t server;
	int fd = fuse_file(&server);

	if (fd < 0) {
		skip("no FUSE can be mounted here", "a file of the caller's "
		    "own FUSE, as stdout");
		peer_close(&p);
		return;
	}
	drop(&l.fd[2]);
	l.fd[2] = fd;
	(void)say_req(c.owner, &q, l.fd, 5);
	l.fd[2] = -1;			/* we close it when we can */
	is(launch_end(&l, SOON), -BL_AT_STREAM, "a file of the caller's own "
	    "FUSE, as stdout: STREAM within a second");
	(void)launch_on(c.owner, &next);
	is(launch_end(&next, SOON), 7 << 8, "and cell init does not wait for "
	    "its server");
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	(void)close(fd);
	launch_close(&l);
	launch_close(&next);
	cell_close(&c);
	peer_close(&p);
}

static void
suite_fuse(void)
{
	static const struct { uid_t owner; const char *more, *name; } rows[] = {
		{ 1, "", "mounted by another user" },
		{ 0, "", "mounted by root" },
		{ 1, ",allow_other", "open to everybody" },
	};
	struct peer p;
	unsigned i;
	int fd, dev;

	for (i = 0; i < 3; i++) {
		fd = fuse_root(rows[i].owner, rows[i].more, &dev);
		if (fd < 0) {
			skip("no FUSE can be mounted here",
			    "a FUSE folder, %s", rows[i].name);
			drop(&dev);
			continue;
		}
		p = peer_start(NULL);
		(void)hello(&p);
		is(no_place(&p, fd, "FUSE"), 1, "a FUSE folder whose server is "
		    "silent, %s: refused within a second", rows[i].name);
		(void)close(dev);	/* or the helper could not be killed */
		(void)close(fd);
		peer_close(&p);
	}
}

static void
suite_places(void)
{
	static const char *const shown[] = { "/proc", "/proc/self",
	    "/proc/self/fd", "/sys", "/sys/fs/cgroup", "/dev/pts" };
	struct peer p = peer_start(NULL);
	struct bl_req q;
	struct cell c;
	const char *name = "";
	int fd, i, bad = 0, other, count = 0, self, r;

	is(hello(&p), 0, "HELLO");
	for (i = 0; (fd = odd(i, &name, &other)) != -2; i++) {
		if (fd < 0)
			continue;
		bad += !no_place(&p, fd, name);
		count++;
		drop(&fd);
		drop(&other);
	}
	is(bad, 0, "%d that are no folder, as one: PLACE", count);
	self = dup(p.sock);
	is(no_place(&p, self, "the session"), 1, "the session's own socket");
	drop(&self);
	for (i = bad = 0; i < 6; i++) {
		fd = open(shown[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (i == 4 && fd >= 0 && faccessat(fd, "unified", F_OK, 0) == 0) {
			(void)close(fd);	/* a tmpfs of cgroup v1's */
			fd = open("/sys/fs/cgroup/unified", O_PATH | O_CLOEXEC);
		}
		if (fd < 0)
			continue;
		bad += !no_place(&p, fd, shown[i]);
		drop(&fd);
	}
	is(bad, 0, "folders of processes, devices, control groups: PLACE");
	fd = in_mount_ns("/usr");
	is(fd < 0 || no_place(&p, fd, "another namespace"), 1,
	    "a folder of another mount namespace");
	drop(&fd);
	fd = in_user_ns();
	if (fd < 0)
		skip("no user namespace here", "a folder that the caller "
		    "has mounted in a user namespace of its own");
	else
		is(no_place(&p, fd, "the caller's own mount"), 1, "a folder "
		    "that the caller has mounted in a user namespace of its "
		    "own");
	drop(&fd);

	/* What is mounted below a folder comes along, and is held like it. */
	q = ask_cell();
	q.u.cell.nplaces = 1;
	q.u.cell.place[0] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/x" };
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = cell_with(&p, &q, &fd, 1, &c);
	if (r == 0) {
		(void)tell(c.owner, BL_OP_GO);
		r = run(c.owner, "grep -E '^([^ ]+ ){4}/x(/| )' "
		    "/proc/self/mountinfo | grep -cvE '^([^ ]+ ){5}ro,nosuid,"
		    "nodev' | grep -qx 0 && exit 7") == 7 << 8 ? 0 : -1;
		cell_close(&c);
	}
	is(r, 0, "the root folder, with all that is mounted: each of that "
	    "read-only, without devices and set-user-id bits");
	drop(&fd);
	is(cell(&p, &c), 0, "the session goes on");
	cell_close(&c);

	/* In place of a control group. */
	q = ask_cell();
	q.u.cell.flags = BL_CELL_CGROUP;
	for (i = bad = count = 0; (fd = odd(i, &name, &other)) != -2; i++) {
		if (fd < 0)
			continue;
		r = cell_with(&p, &q, &fd, 1, &c);
		bad += r != -BL_AT_CLONE;
		count++;
		drop(&fd);
		drop(&other);
	}
	for (i = 0; i < 6; i++) {
		static const char *const no[] = { "/usr", "/proc", "/sys",
		    "/sys/fs/cgroup", "/sys/fs/cgroup/unified",
		    "/sys/fs/cgroup/memory" };

		fd = open(no[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		r = cell_with(&p, &q, &fd, 1, &c);
		if (r != -BL_AT_CLONE)
			(void)printf("# %s: %d\n", no[i], r);
		bad += r != -BL_AT_CLONE;
		count++;
		drop(&fd);
	}
	is(bad, 0, "%d that are no control group that the caller may use: CLONE",
	    count);
	is(cell(&p, &c), 0, "the session goes on");
	cell_close(&c);
	peer_close(&p);
}

/* 1: a spec was refused, by cell init or by the launch child. */
static int
no_spec(int r)
{
	return r < 0 && r > -1000;
}

/* A SPAWN in which descriptor at is fd: as launch_end, within a second. */
static int
run_odd(struct cell *c, int at, int fd)
{
	struct launch l = launch("exit 7");
	struct bl_req q = ask(BL_OP_SPAWN);
	int r;

	drop(&l.fd[at]);
	l.fd[at] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	q.u.spawn.flags = at == 5 ? BL_SPAWN_RESULT : 0;
	if (say_req(c->owner, &q, l.fd, at == 5 ? 6 : 5) != 0)
		bail("spawn");
	launch_sent(&l);
	r = launch_end(&l, SOON);
	launch_close(&l);
	return r;
}

static int
sealed(int seals, off_t size)
{
	int fd = spec_open("exit 7");

	if (size > 0 && ftruncate(fd, size) != 0)
		return -1;
	return fcntl(fd, F_ADD_SEALS, seals) == 0 ? fd : -1;
}

static void
suite_specs(struct cell *c)
{
	const char *name = "";
	int fd, i, other, bad = 0, count = 0, r;
	char path[64];

	for (i = 0; (fd = odd(i, &name, &other)) != -2; i++) {
		if (fd < 0)
			continue;
		r = run_odd(c, 0, fd);
		if (!no_spec(r)) {
			bad++;
			(void)printf("# %s: %d\n", name, r);
		}
		count++;
		drop(&fd);
		drop(&other);
	}
	fd = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bad += !no_spec(run_odd(c, 0, fd));
	drop(&fd);
	is(bad, 0, "%d that are no memfd, as a spec: refused", count + 1);
	for (i = bad = 0; i < SEALS; i++) {
		if ((i & ~SEALS) != 0)
			continue;
		fd = sealed(i, 0);
		bad += fd < 0 || !no_spec(run_odd(c, 0, fd));
		drop(&fd);
	}
	is(bad, 0, "a memfd without one or more of its four seals");
	fd = sealed(SEALS, BL_SPEC_BYTES + 1);
	is(no_spec(run_odd(c, 0, fd)), 1, "one byte too large: refused");
	drop(&fd);
	fd = sealed(SEALS, (off_t)1 << 40);
	is(no_spec(run_odd(c, 0, fd)), 1, "a memfd of 1 TiB of holes");
	drop(&fd);
	fd = sealed(SEALS, BL_SPEC_BYTES);
	is(run_odd(c, 0, fd), 7 << 8, "one of the largest size is fine");
	drop(&fd);
	fd = memfd_create("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	(void)fcntl(fd, F_ADD_SEALS, SEALS);
	is(no_spec(run_odd(c, 0, fd)), 1, "an empty one");
	drop(&fd);
	fd = memfd_create("zero", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	(void)!ftruncate(fd, 4096);
	(void)fcntl(fd, F_ADD_SEALS, SEALS);
	is(no_spec(run_odd(c, 0, fd)), 1, "one of zeros");
	drop(&fd);
	fd = sealed(SEALS, 0);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	i = open(path, O_WRONLY | O_CLOEXEC);
	if (i < 0) {	/* a sealed one can't be opened for writing */
		i = open(path, O_PATH | O_CLOEXEC);
		is(no_spec(run_odd(c, 0, i)), 1, "a path-only one");
	} else {
		r = run_odd(c, 0, i);
		is(no_spec(r), 1, "a write-only one");
	}
	drop(&i);
	drop(&fd);
	/* vm.memfd_noexec adds a seal of the kernel's own to every memfd. */
	fd = spec_with("exit 7", 8 /* MFD_NOEXEC_SEAL */);
	if (fd < 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0)
		is(errno, EINVAL, "one more seal, the kernel's own: this "
		    "kernel has none");
	else
		is(run_odd(c, 0, fd), 7 << 8, "one more seal, the kernel's "
		    "own, is fine");
	drop(&fd);
	is(run(c->owner, "exit 7"), 7 << 8, "the cell goes on");
}

static void
suite_streams(struct cell *c)
{
	const char *name = "";
	int fd, i, other, at, bad = 0, count = 0, p[2], r;
	static const int places[] = { 1, 2, 3, 5 };
	static const char *const devs[] = { "/dev/full", "/dev/random",
	    "/dev/tty0", "/dev/mem", "/dev/kmsg" };
	char path[4200];

	for (i = 0; (fd = odd(i, &name, &other)) != -2; i++) {
		if (i == 5 || i == 6)
			continue;	/* pipes are right here */
		for (at = 0; at < 4 && fd >= 0; at++, count++) {
			r = run_odd(c, places[at], fd);
			if (r == -BL_AT_STREAM)
				continue;
			bad++;
			(void)printf("# %s as %d: %d\n", name, places[at], r);
		}
		drop(&fd);
		drop(&other);
	}
	for (i = 0; i < 5; i++)
		for (at = 0; at < 4; at++) {
			fd = open(devs[i], O_RDWR | O_CLOEXEC | O_NOCTTY |
			    O_NONBLOCK);
			bad += fd >= 0 &&
			    run_odd(c, places[at], fd) != -BL_AT_STREAM;
			drop(&fd);
		}
	fd = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (at = 0; at < 4; at++)
		bad += run_odd(c, places[at], fd) != -BL_AT_STREAM;
	drop(&fd);
	is(bad, 0, "%d times what is no pipe, as a stream: STREAM", count + 24);
	if (pipe2(p, O_CLOEXEC) != 0)
		bail("pipe");
	for (at = bad = 0; at < 4; at++)
		bad += run_odd(c, places[at], p[at == 0]) != -BL_AT_STREAM;
	is(bad, 0, "pipes' wrong ends");
	drop(&p[0]);
	drop(&p[1]);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (at = 1, bad = 0; at < 4; at++)
		bad += run_odd(c, places[at], fd) != -BL_AT_STREAM;
	drop(&fd);
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	bad += run_odd(c, 1, fd) != -BL_AT_STREAM;
	drop(&fd);
	is(bad, 0, "the null device, the wrong way");
	fd = endless();
	is(run_odd(c, 1, fd), 7 << 8, "a full pipe as stdin is fine");
	drop(&fd);
	(void)in_scratch("work/zero", path);
	(void)mknod(path, S_IFCHR | 0666, makedev(1, 5));
	fd = open(path, O_RDWR | O_CLOEXEC);
	is(fd < 0 || run_odd(c, 2, fd) == -BL_AT_STREAM, 1,
	    "a device by another name");
	drop(&fd);
	is(run(c->owner, "exit 7"), 7 << 8, "the cell goes on");
}

/* A datagram socket that takes the credentials of whoever sends. */
static int
names_sender(int other)
{
	const int on = 1;

	return setsockopt(other, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

/* The uid of whoever sent the next message, or -1. */
static long
sender(int other)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(64)]; } ctl;
	char buf[4096];
	struct iovec iov = { buf, sizeof buf };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	struct pollfd w = { other, POLLIN, 0 };
	struct ucred u;
	struct cmsghdr *k;

	if (poll(&w, 1, 200) != 1 || recvmsg(other, &m, MSG_DONTWAIT) <= 0)
		return -1;
	k = CMSG_FIRSTHDR(&m);
	if (k == NULL || k->cmsg_type != SCM_CREDENTIALS)
		return -1;
	memcpy(&u, CMSG_DATA(k), sizeof u);
	return (long)u.uid;
}

static void
suite_sockets(struct peer *p)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *name = "";
	struct cell c;
	struct launch l;
	struct bl_req q;
	int fd[2], i, other, bad = 0, count = 0, sv[2];
	long who = -1;

	is(cell(p, &c), 0, "a cell");
	(void)tell(c.owner, BL_OP_GO);
	/* The answer can't come, so what counts is that the cell goes on. */
	for (i = 0; (fd[0] = odd(i, &name, &other)) != -2; i++) {
		if (fd[0] < 0)
			continue;
		l = launch("sleep 100");
		drop(&l.fd[4]);
		l.fd[4] = fd[0];
		(void)launch_on(c.owner, &l);
		launch_close(&l);
		if (run(c.owner, "exit 7") != 7 << 8) {
			bad++;
			(void)printf("# %s\n", name);
		}
		count++;
		drop(&other);
	}
	is(bad, 0, "%d that are no reply socket: nothing is started", count);
	/* Whoever trusts a sender's credentials would take ours for root's. */
	for (i = 0; i < 2; i++) {
		fd[0] = half(i == 0 ? SOCK_DGRAM : SOCK_STREAM, &other);
		(void)names_sender(other);
		l = launch("exit 0");
		drop(&l.fd[4]);
		l.fd[4] = fd[0];
		(void)launch_on(c.owner, &l);
		launch_close(&l);
		who = sender(other);
		is(who, -1, "a %s socket of another's as reply socket: root "
		    "sends nothing there", i == 0 ? "datagram" : "stream");
		drop(&other);
	}
	fd[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	l = launch("sleep 100");
	drop(&l.fd[4]);
	l.fd[4] = fd[0];
	(void)launch_on(c.owner, &l);
	launch_close(&l);
	is(run(c.owner, "exit 7"), 7 << 8, "a socket that is not connected");
	(void)snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "odd-%d",
	    (int)getpid());
	fd[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(fd[0], (struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(fd[0], 1) != 0)
		bail("listen");
	l = launch("sleep 100");
	drop(&l.fd[4]);
	l.fd[4] = fcntl(fd[0], F_DUPFD_CLOEXEC, 3);
	(void)launch_on(c.owner, &l);
	launch_close(&l);
	is(run(c.owner, "exit 7"), 7 << 8, "a socket that listens");
	i = guest(&c);
	l = launch("sleep 100");
	drop(&l.fd[4]);
	l.fd[4] = fcntl(i, F_DUPFD_CLOEXEC, 3);
	(void)launch_on(i, &l);
	launch_close(&l);
	drop(&i);
	nap(100);
	(void)tell(c.owner, BL_OP_KILL);	/* nobody is there to close it */
	is(run(c.owner, "exit 7"), 7 << 8, "a guest's own socket");
	cell_close(&c);

	/* ATTACH and LISTEN. */
	pair(sv, SOCK_SEQPACKET);
	for (i = bad = count = 0; (fd[0] = odd(i, &name, &other)) != -2; i++) {
		if (fd[0] < 0)
			continue;
		fd[1] = sv[0];
		q = ask(i % 2 != 0 ? BL_OP_ATTACH : BL_OP_LISTEN);
		bad += !breaks_cell(p, &q, sizeof q, fd, 2, 1);
		fd[1] = fd[0];
		fd[0] = sv[0];
		q = ask(BL_OP_ATTACH);
		bad += !breaks_cell(p, &q, sizeof q, fd, 2, 1);
		drop(&fd[1]);
		drop(&other);
		count += 2;
	}
	is(bad, 0, "%d times what is no guest or report: the cell ends", count);
	fd[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	(void)snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "more-%d",
	    (int)getpid());
	if (bind(fd[0], (struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(fd[0], 1) != 0)
		bail("listen");
	fd[1] = sv[0];
	q = ask(BL_OP_ATTACH);
	is(breaks_cell(p, &q, sizeof q, fd, 2, 1), 1,
	    "ATTACH of one that listens");
	fd[1] = fd[0];
	fd[0] = sv[0];
	is(breaks_cell(p, &q, sizeof q, fd, 2, 1), 1,
	    "a report that listens");
	fd[1] = sv[0];
	q = ask(BL_OP_LISTEN);
	is(breaks_cell(p, &q, sizeof q, fd, 2, 1), 1,
	    "LISTEN of one that doesn't");
	drop(&sv[0]);
	drop(&sv[1]);
	is(cell(p, &c), 0, "the session goes on");
	cell_close(&c);
}

/*
 * Closing a socket may take as long as its owner wants, if it asked to linger
 * and its peer does not read: who closes it waits.
 */
static int
lingers(int *peer)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct linger on = { 1, 30 };
	socklen_t n = sizeof a;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(s, (struct sockaddr *)&a, n) != 0 || listen(s, 1) != 0 ||
	    getsockname(s, (struct sockaddr *)&a, &n) != 0 ||
	    connect(fd, (struct sockaddr *)&a, n) != 0 ||
	    (*peer = accept4(s, NULL, NULL, SOCK_CLOEXEC)) < 0)
		bail("loopback");
	(void)close(s);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, scratch, sizeof scratch) > 0)
		;
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &on, sizeof on);
	(void)fcntl(fd, F_SETFL, 0);
	return fd;
}

static void
suite_linger(struct peer *p)
{
	struct launch l = launch("exit 7"), next;
	struct bl_req q;
	struct cell c;
	int peer = -1, fd, r;
	long long from;

	is(cell(p, &c), 0, "a cell");
	(void)tell(c.owner, BL_OP_GO);
	drop(&l.fd[2]);
	l.fd[2] = lingers(&peer);
	(void)kill(c.init, SIGSTOP);	/* or the last to close it were us */
	(void)launch_on(c.owner, &l);
	(void)kill(c.init, SIGCONT);
	is(launch_end(&l, SOON), -BL_AT_STREAM, "a socket that lingers, as "
	    "stdout: STREAM within a second");
	next = launch("exit 7");
	(void)launch_on(c.owner, &next);
	is(launch_end(&next, SOON), 7 << 8, "and cell init does not wait for "
	    "it");
	drop(&peer);
	launch_close(&next);
	launch_close(&l);
	cell_close(&c);

	q = ask_cell();
	q.u.cell.nplaces = 1;
	q.u.cell.place[0] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/x" };
	fd = lingers(&peer);
	(void)kill(p->pid, SIGSTOP);
	(void)say_req(p->sock, &q, &fd, 1);
	(void)close(fd);
	(void)kill(p->pid, SIGCONT);
	from = now_ms();
	q = ask(BL_OP_PATH);
	q.u.raw[0] = '/';
	(void)say_req(p->sock, &q, NULL, 0);
	do {
		struct bl_rep rep;

		r = hear(p->sock, &rep, NULL, SOON);
		if (r == 0 && rep.kind == BL_OP_PATH)
			break;
	} while (r == 0 && now_ms() - from < SOON);
	is(r, 0, "nor does the helper, for one as a folder");
	drop(&peer);
}

static void
suite_F04(void)
{
	struct cell c;
	struct peer p = ready(NULL, &c);

	suite_places();
	suite_specs(&c);
	suite_streams(&c);
	cell_close(&c);
	suite_sockets(&p);
	suite_linger(&p);
	peer_close(&p);
	suite_fuse();
	suite_fuse_file();
}

/* --- F05: changed after it was checked ---------------------------------- */

static void
suite_spec_changes(struct cell *c)
{
	struct launch l;
	int fd = spec_open("exit 7"), bad = 0, i;
	char path[64];
	void *map;
	pid_t pid;

	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	is(fcntl(fd, F_ADD_SEALS, SEALS), -1,
	    "control: what is mapped for writing can't be sealed");
	is(no_spec(run_odd(c, 0, fd)), 1, "so it is refused");
	(void)munmap(map, 4096);
	is(fcntl(fd, F_ADD_SEALS, SEALS), 0, "sealed");
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	i = open(path, O_RDWR | O_CLOEXEC);
	bad += pwrite(fd, "x", 1, 0) >= 0;
	bad += i >= 0 && pwrite(i, "x", 1, 0) >= 0;
	bad += ftruncate(fd, 1) == 0;
	bad += ftruncate(fd, 1 << 20) == 0;
	bad += fallocate(fd, 3 /* punch a hole, keep the size */, 0, 8) == 0;
	bad += mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
	    MAP_FAILED;
	drop(&i);
	is(bad, 0, "nothing can be changed in it any more");
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0)
		for (;;)		/* until it is killed */
			(void)lseek(fd, (i = (i + 13) & 0xffff), SEEK_SET);
	for (i = bad = 0; i < 200; i++)
		bad += run_odd(c, 0, fd) != 7 << 8;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	is(bad, 0, "200 runs while its position moves");
	/* Unsealed while it is sent, sealed a moment later: one of the two. */
	for (i = bad = 0; i < 200; i++) {
		int n = spec_open("exit 7"), r;

		l = launch("exit 1");
		drop(&l.fd[0]);
		l.fd[0] = fcntl(n, F_DUPFD_CLOEXEC, 3);
		(void)launch_on(c->owner, &l);
		(void)!pwrite(n, "x", 1, 0);
		(void)fcntl(n, F_ADD_SEALS, SEALS);
		r = launch_end(&l, LONG);
		bad += !no_spec(r);
		launch_close(&l);
		drop(&n);
	}
	is(bad, 0, "200 that are spoilt, then sealed, as they arrive: refused");
	drop(&fd);
}

static void
suite_stream_changes(struct cell *c)
{
	struct launch l = launch("sleep 0.2; echo a; exit 7");
	int out = fcntl(l.fd[2], F_DUPFD_CLOEXEC, 3), i, r;

	(void)launch_on(c->owner, &l);
	for (i = 0; i < 50; i++) {
		(void)fcntl(out, F_SETPIPE_SZ, i % 2 ? 4096 : 65536);
		(void)fcntl(out, F_SETFL, i % 2 ? O_NONBLOCK : O_ASYNC);
		(void)fchmod(out, i % 2 ? 0 : 0666);
		nap(4);
	}
	r = launch_end(&l, LONG);
	is(r, 7 << 8, "a stream's flags, size and mode change under it");
	drop(&out);
	launch_close(&l);
	l = launch("sleep 100");
	(void)launch_on(c->owner, &l);
	nap(50);
	(void)shutdown(l.reply, SHUT_WR);
	is(launch_end(&l, SOON), 9, "its reply socket is shut down: killed");
	launch_close(&l);
	is(run(c->owner, "exit 7"), 7 << 8, "the cell goes on");
}

/* What was a folder is renamed, and something else is in its place. */
static void
suite_folder_changes(struct peer *p)
{
	struct bl_req q = ask_cell();
	char was[4200], moved[4200], file[4200];
	struct cell c;
	int fd;

	(void)in_scratch("work/was", was);
	(void)in_scratch("work/moved", moved);
	(void)in_scratch("work/was/mark", file);
	(void)mkdir(was, 0755);
	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	drop(&fd);
	fd = open(was, O_PATH | O_DIRECTORY | O_CLOEXEC);
	q.u.cell.nplaces = 1;
	q.u.cell.place[0] = (struct bl_place){ .kind = BL_PLACE_BIND,
	    .dst = "/x" };
	if (rename(was, moved) != 0 || symlink("/root", was) != 0)
		bail("rename");
	is(cell_with(p, &q, &fd, 1, &c), 0, "a folder that was renamed");
	(void)unlink(was);
	(void)!symlink("/etc", was);
	(void)tell(c.owner, BL_OP_GO);
	is(run(c.owner, "[ -f /x/mark ] && [ ! -e /x/passwd ] && exit 7"),
	    7 << 8, "is that folder, whatever has its name now");
	cell_close(&c);
	(void)unlink(was);
	drop(&fd);
}

/*
 * A cell for two seconds with a program in it; 1: the program still ends at the
 * deadline, whatever hold does to cell init; 0: it does not; -1: hold could do
 * nothing.
 */
static int
deadline_holds(struct peer *p, int (*hold)(struct cell *c))
{
	struct bl_req q = ask_cell();
	struct launch l = launch("sleep 100");
	struct cell c;
	struct bl_rep r;
	int n, good;

	q.u.cell.deadline_ns = (uint64_t)(now_ms() + 2000) * 1000000;
	if (cell_with(p, &q, NULL, 0, &c) != 0)
		bail("cell");
	(void)tell(c.owner, BL_OP_GO);
	(void)launch_on(c.owner, &l);
	n = hear(l.reply, &r, NULL, SOON);
	if (n != 0 || r.kind != BL_EV_STARTED)
		bail("spawn");
	good = hold(&c) ? 0 : -1;
	if (good == 0) {
		n = hear(l.reply, &r, NULL, 3500);
		good = n == GONE || (n == 0 && r.kind == BL_EV_EXIT);
	}
	cell_close(&c);
	if (good != 0 && !gone(c.init, SOON))
		good = 0;
	launch_close(&l);
	return good;
}

/*
 * A listener's flags belong to whoever made it, so it can be made to wait
 * again, and a connection that poll(2) has seen can be taken by another.
 */
static int
hold_accept(struct cell *c)
{
	static int turn;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct bl_req listening = ask(BL_OP_LISTEN);
	int fd[2], report[2], i, s, stuck = 0;
	pid_t thief[3];
	unsigned t;

	(void)snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "thief-%d-%d",
	    (int)getpid(), turn++);
	fd[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	pair(report, SOCK_SEQPACKET);
	fd[1] = report[1];
	if (bind(fd[0], (struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(fd[0], 128) != 0)
		bail("listen");
	(void)say_req(c->owner, &listening, fd, 2);
	(void)fflush(stdout);
	for (t = 0; t < 3; t++) {
		thief[t] = fork();
		if (thief[t] != 0)
			continue;
		for (;;) {
			(void)fcntl(fd[0], F_SETFL, 0);
			s = accept4(fd[0], NULL, NULL, SOCK_CLOEXEC);
			(void)close(s);
		}
	}
	nap(20);
	for (i = 0; i < 60 && !stuck; i++) {
		s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		(void)fcntl(fd[0], F_SETFL, 0);
		(void)connect(s, (struct sockaddr *)&a, sizeof a);
		nap(5);
		(void)close(s);
		stuck = proc_number(c->init, "syscall", "") == SYS_accept4;
	}
	for (t = 0; t < 3; t++) {
		(void)kill(thief[t], SIGKILL);
		(void)waitpid(thief[t], NULL, 0);
	}
	drop(&fd[0]);
	drop(&report[0]);
	drop(&report[1]);
	return stuck;
}

static int linger_peer = -1;

/* A word with one descriptor too many, which takes long to close. */
static int
hold_close(struct cell *c)
{
	const struct bl_req q = ask(BL_OP_KILL);
	int fd = lingers(&linger_peer);

	(void)kill(c->init, SIGSTOP);	/* or the last to close it were us */
	(void)say_req(c->owner, &q, &fd, 1);
	(void)close(fd);
	(void)kill(c->init, SIGCONT);
	nap(100);
	return kill(c->init, 0) == 0 &&
	    proc_number(c->init, "syscall", "") == SYS_close;
}

static void
suite_holds(struct peer *p)
{
	int i, r = -1;

	for (i = 0; i < 6 && r == -1; i++)
		r = deadline_holds(p, hold_accept);
	is(r != 0, 1, "its listener is made to wait, its connections are "
	    "stolen: the program still ends at the deadline (%s)",
	    r == -1 ? "nothing waits" : "something waits");
	r = deadline_holds(p, hold_close);
	is(r != 0, 1, "cell init is given what takes long to close: the "
	    "program still ends at the deadline (%s)",
	    r == -1 ? "nothing waits" : "something waits");
	drop(&linger_peer);
}

static void
suite_F05(void)
{
	struct cell c;
	struct peer p = ready(NULL, &c);

	suite_spec_changes(&c);
	suite_stream_changes(&c);
	cell_close(&c);
	suite_folder_changes(&p);
	suite_holds(&p);
	peer_close(&p);
}

/* --- F06: who is on the other end --------------------------------------- */

/* What HELLO says of who we are, or -1. */
static long
hello_uid(int sock, struct bl_rep *r)
{
	if (tell(sock, BL_OP_HELLO) != 0 || hear(sock, r, NULL, SOON) != 0 ||
	    r->status != 0)
		return -1;
	return (long)r->u.hello.uid;
}

static void
suite_passed_on(uid_t other)
{
	struct peer p = peer_start(NULL);
	struct start how = { .uid = other };
	struct cell c;
	struct bl_rep r;
	struct ucred lie = { 1, 0, 0 };
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof lie)]; } ctl;
	struct bl_req q = ask(BL_OP_HELLO);
	struct iovec iov = { &q, sizeof q };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	int st = 0;
	uint32_t first;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		become(other);
		if (hello_uid(p.sock, &r) != (long)caller)
			_exit(1);
		if (cell(&p, &c) != 0)
			_exit(2);
		(void)tell(c.owner, BL_OP_GO);
		_exit(run(c.owner, "exit 7") == 7 << 8 ? 0 : 3);
	}
	(void)waitpid(pid, &st, 0);
	is(st, 0, "a session in another user's hands stays the caller's");
	is(cell(&p, &c), 0, "and is still whole when that process has ended");
	first = c.uid;
	cell_close(&c);
	peer_close(&p);
	p = peer_start(&how);
	is(hello_uid(p.sock, &r), other, "control: the other user by itself");
	is(cell(&p, &c), 0, "has a cell");
	ok(c.uid, !=, first, "of its own range");
	cell_close(&c);
	peer_close(&p);

	p = peer_start(NULL);
	memset(&ctl, 0, sizeof ctl);
	ctl.h = (struct cmsghdr){ CMSG_LEN(sizeof lie), SOL_SOCKET,
	    SCM_CREDENTIALS };
	memcpy(CMSG_DATA(&ctl.h), &lie, sizeof lie);
	is(sendmsg(p.sock, &m, 0), (long)sizeof q,
	    "a message that claims to be root's");
	st = hear(p.sock, &r, NULL, SOON);
	is(st != 0 || r.u.hello.uid == caller, 1, "does not make it root's");
	peer_close(&p);
}

/* Options of the helper's end, which the peer made and can still change. */
static void
suite_options(void)
{
	static const struct { int opt; const char *name; } rows[] = {
		{ SO_PASSCRED, "SO_PASSCRED" }, { SO_PASSSEC, "SO_PASSSEC" },
		{ SO_PASSPIDFD, "SO_PASSPIDFD" },
		{ SO_TIMESTAMP, "SO_TIMESTAMP" },
		{ SO_TIMESTAMPNS, "SO_TIMESTAMPNS" },
		{ SO_PEEK_OFF, "SO_PEEK_OFF" },
		{ SO_RCVLOWAT, "SO_RCVLOWAT" },
		{ 83 /* SO_PASSRIGHTS */, "SO_PASSRIGHTS" },
	};
	static const struct sock_filter trim[] = {
	    { BPF_RET | BPF_K, 0, 0, 100 } };
	static const struct sock_filter none[] = {
	    { BPF_RET | BPF_K, 0, 0, 0 } };
	const struct sock_fprog prog[2] = {
	    { 1, (struct sock_filter *)(size_t)trim },
	    { 1, (struct sock_filter *)(size_t)none } };
	const struct start how = { .keep = 1 };
	const struct timeval tv = { 1000, 0 };
	struct bl_req q;
	struct bl_rep r;
	struct launch l;
	struct cell c;
	struct peer p;
	unsigned i;
	int on = 1, n, fd, fds, from, end, bad, sv[2], report[2], two[2];
	int many[256];

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		on = rows[i].opt == 83 ? 0 : rows[i].opt == SO_RCVLOWAT ?
		    1 << 20 : 1;
		p = peer_start(&how);
		n = setsockopt(p.far, SOL_SOCKET, rows[i].opt, &on, sizeof on);
		if (n != 0) {
			is(errno, ENOPROTOOPT, "%s: this kernel has none",
			    rows[i].name);
			peer_close(&p);
			continue;
		}
		drop(&p.far);
		(void)hello(&p);
		/* Whatever it makes of that: all that came is closed. */
		q = ask_cell();
		end = many_fds(many, 12, &from);
		if (say_req(p.sock, &q, many, 12) == -EPERM)
			drop(&p.sock);	/* the kernel gives it none */
		bad = !closed(from, end);
		n = peer_end(&p, SOON);
		n = n == 0 && rows[i].opt == 83 ? BL_AT_WIRE : n;
		is(bad == 0 && n == BL_AT_WIRE, 1, "%s at the helper's end: "
		    "ended (%d), nothing kept", rows[i].name, n);
	}
	for (i = 0; i < 2; i++) {
		p = peer_start(&how);
		(void)setsockopt(p.far, SOL_SOCKET, SO_ATTACH_FILTER, &prog[i],
		    sizeof prog[i]);
		drop(&p.far);
		(void)tell(p.sock, BL_OP_HELLO);
		if (i == 0)
			is(broken(&p), 1, "a filter that shortens messages");
		else {
			is(hear(p.sock, &r, NULL, 200), SILENT,
			    "a filter that drops them");
			peer_close(&p);
		}
	}
	p = peer_start(&how);
	on = 1;
	(void)setsockopt(p.far, SOL_SOCKET, SO_SNDBUF, &on, sizeof on);
	(void)setsockopt(p.far, SOL_SOCKET, SO_RCVBUF, &on, sizeof on);
	(void)setsockopt(p.far, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	(void)setsockopt(p.far, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
	(void)fcntl(p.far, F_SETFL, 0);
	n = whole(&p);
	drop(&p.far);
	drop(&p.sock);
	ok(peer_end(&p, SOON), >=, 0, "small buffers, long waits: no hang "
	    "(%d)", n);
	for (i = SHUT_RD; i <= SHUT_RDWR; i++) {
		struct start keep = how;

		p = ready(&keep, &c);
		(void)shutdown(p.far, (int)i);
		drop(&p.far);
		nap(50);
		(void)tell(p.sock, BL_OP_BYE);
		n = peer_end(&p, 2 * SOON);
		is(n >= 0 && gone(c.init, SOON), 1, "its end is shut down "
		    "(%u): it ends", i);
		cell_close(&c);
	}

	/* A guest's socket has two ends that are the owner's. */
	p = ready(NULL, &c);
	is(run(c.owner, "exit 7"), 7 << 8, "a cell that works");
	fds = fds_rest(c.init);
	for (i = bad = 0; i < 5; i++) {
		on = 1;
		pair(sv, SOCK_SEQPACKET);
		pair(report, SOCK_SEQPACKET);
		if (setsockopt(sv[1], SOL_SOCKET, rows[i].opt, &on,
		    sizeof on) != 0)
			continue;
		two[0] = sv[1];
		two[1] = report[1];
		q = ask(BL_OP_ATTACH);
		(void)say_req(c.owner, &q, two, 2);
		(void)close(sv[1]);
		(void)close(report[0]);
		(void)close(report[1]);
		l = launch("sleep 100");
		q = ask(BL_OP_SPAWN);
		(void)say_req(sv[0], &q, l.fd, 5);
		bad += i != 1 && !dropped(sv[0]);	/* 1: without a module */
		launch_close(&l);
		drop(&sv[0]);
	}
	is(bad, 0, "the same at a guest's end: dropped");
	is(run(c.owner, "exit 7"), 7 << 8, "and the cell goes on");
	is(fds_settle(c.init, fds), fds, "with nothing more open");
	cell_close(&c);
	peer_close(&p);

	/* Signals that the kernel sends for whoever asked it to. */
	{
		struct start keep = how;

		p = ready(&keep, &c);
	}
	fd = p.far;
	(void)fflush(stdout);
	n = fork();
	if (n == 0) {
		become(caller);
		(void)fcntl(fd, F_SETOWN, p.pid);
		(void)fcntl(fd, F_SETSIG, SIGKILL);
		(void)fcntl(fd, F_SETFL, O_ASYNC);
		_exit(0);
	}
	(void)waitpid(n, NULL, 0);
	q = ask(BL_OP_PATH);
	q.u.raw[0] = '/';
	(void)say_req(p.sock, &q, NULL, 0);
	is(hear(p.sock, &r, NULL, SOON), 0, "signals for input on its socket, "
	    "by the caller's order: none comes");
	is(run(c.owner, "exit 7"), 7 << 8, "and its cell goes on");
	cell_close(&c);
	peer_close(&p);
}

/* Who holds an end, and what ends with it. */
static void
suite_ends(void)
{
	struct cell c, d;
	struct peer p = ready(NULL, &c);
	struct launch l, m;
	struct bl_req q;
	struct bl_rep r;
	pid_t holder, init;
	int fd[2], g, g2, i, n;

	/* A reply socket's end is the end of that spawn. */
	l = launch("sleep 100 & sleep 100");
	(void)launch_on(c.owner, &l);
	i = hear(l.reply, &r, NULL, SOON);
	is(i == 0 && r.kind == BL_EV_STARTED, 1, "a program");
	launch_close(&l);
	is(run(c.owner, "exit 7"), 7 << 8, "its reply socket is closed: the "
	    "next one has its turn");

	/* One at a time; a second one waits, and both tell the truth. */
	g = guest(&c);
	l = launch("sleep 0.4; exit 5");
	m = launch("exit 6");
	(void)launch_on(c.owner, &l);
	(void)launch_on(g, &m);
	is(hear(m.reply, &r, NULL, 200), SILENT, "a second SPAWN waits");
	is(launch_end(&l, SOON), 5 << 8, "the first one's status");
	is(launch_end(&m, SOON), 6 << 8, "the second one's status");
	launch_close(&l);
	launch_close(&m);
	l = launch("sleep 0.4; exit 5");
	m = launch("exit 6");
	(void)launch_on(g, &l);
	nap(50);
	(void)launch_on(c.owner, &m);
	is(launch_end(&l, SOON), 5 << 8, "the guest's first");
	is(launch_end(&m, SOON), 6 << 8, "then the owner's");
	launch_close(&l);
	launch_close(&m);
	g2 = guest(&c);
	for (i = n = 0; i < 100; i++) {
		l = launch("exit 3");
		m = launch("exit 4");
		(void)launch_on(g, &l);
		(void)launch_on(g2, &m);
		n += run(c.owner, "exit 5") != 5 << 8;
		n += launch_end(&l, LONG) != 3 << 8;
		n += launch_end(&m, LONG) != 4 << 8;
		launch_close(&l);
		launch_close(&m);
	}
	is(n, 0, "three ask at once, 100 times: nobody gets another's status");
	/* A guest that goes has nothing to say about the owner's. */
	l = launch("sleep 0.3; exit 5");
	(void)launch_on(c.owner, &l);
	drop(&g);
	drop(&g2);
	is(launch_end(&l, SOON), 5 << 8, "guests go while the owner's runs");
	launch_close(&l);

	/* A copy of the owner's end elsewhere. */
	(void)fflush(stdout);
	holder = fork();
	if (holder == 0) {
		(void)close(p.sock);
		nap(60000);
		_exit(0);
	}
	init = c.init;
	cell_close(&c);
	is(kill(init, 0), 0, "control: a copy of the owner's end keeps a cell");
	drop(&p.sock);
	is(peer_end(&p, SOON), 0, "the session's end is the helper's");
	is(gone(init, SOON), 1, "and every cell's, whoever has copies");
	(void)kill(holder, SIGKILL);
	(void)waitpid(holder, NULL, 0);

	/* A copy of the session's end in the hands of the cell itself. */
	p = ready(NULL, &c);
	is(cell(&p, &d), 0, "two cells");
	(void)tell(d.owner, BL_OP_GO);
	fd[0] = p.sock;
	fd[1] = c.owner;
	q = ask(BL_OP_ATTACH);
	is(say_req(c.owner, &q, fd, 2), 0, "one is given its own owner's end, "
	    "and the session's");
	is(run(c.owner, "exit 7"), 7 << 8, "as a guest's");
	cell_close(&c);
	cell_close(&d);
	drop(&p.sock);
	is(peer_end(&p, 2 * SOON), 0, "then the client ends: so does the "
	    "helper");
	is(gone(c.init, 2 * SOON) && gone(d.init, SOON), 1, "and the cells");
	(void)kill(c.init, SIGKILL);	/* where it was not so */
	(void)kill(d.init, SIGKILL);
}

static void
suite_F06(void)
{
	suite_passed_on((uid_t)(caller == 4321 ? 1234 : 4321));
	suite_options();
	suite_ends();
}

/* How many processes of uid there are that have not ended. */
static int
alive_of(uint32_t uid)
{
	char path[64], line[256];
	int n = 0, pid, state, is_it;
	DIR *d = opendir("/proc");
	struct dirent *e;
	FILE *f;

	while (d != NULL && (e = readdir(d)) != NULL) {
		pid = (int)strtol(e->d_name, NULL, 10);
		(void)snprintf(path, sizeof path, "/proc/%d/status", pid);
		f = pid > 0 ? fopen(path, "re") : NULL;
		state = is_it = 0;
		while (f != NULL && fgets(line, sizeof line, f) != NULL) {
			if (strncmp(line, "State:\t", 7) == 0)
				state = line[7];
			if (strncmp(line, "Uid:\t", 5) == 0)
				is_it = strtoul(line + 5, NULL, 10) == uid;
		}
		if (f != NULL)
			(void)fclose(f);
		n += is_it && state != 'Z' && state != 'X';
	}
	if (d != NULL)
		(void)closedir(d);
	return n;
}

/* --- slots -------------------------------------------------------------- */

enum { MANY = 6 };

/* The rules give two slots to the caller, and to the other one. */
static void
suite_slots(void)
{
	const uid_t uids[] = { caller, caller, 4321, 4321, 0, 0 };
	struct peer p[MANY];
	struct cell c[MANY][3];
	uint32_t seen[MANY * 3];
	int i, j, k, n = 0, r, refused = 0, same = 0;

	for (i = 0; i < MANY; i++) {
		const struct start how = { .uid = uids[i],
		    .root = uids[i] == 0 };

		p[i] = peer_start(&how);
		if (hello(&p[i]) != 0)
			bail("hello");
		for (j = 0; j < 3; j++) {
			c[i][j].owner = c[i][j].net = -1;
			r = cell(&p[i], &c[i][j]);
			if (r == -BL_AT_SLOT)
				refused++;
			else if (r == 0)
				seen[n++] = c[i][j].uid;
			else
				(void)printf("# %d\n", r);
		}
	}
	is(n, 4 + 6, "two callers with two slots each, root with more: cells");
	is(refused, 8, "and SLOT for each one more, in any session of theirs");
	for (j = 0; j < n; j++)
		for (k = 0; k < j; k++)
			same += seen[j] == seen[k];
	is(same, 0, "no two of them share a user number");
	{
		struct peer third = peer_start(NULL);

		is(hello(&third), -BL_AT_SLOT, "a caller with two slots asks "
		    "for a third session: SLOT");
		peer_close(&third);
	}
	cell_close(&c[0][0]);
	nap(100);
	is(cell(&p[1], &c[1][0]), 0, "one ends: its slot is the other "
	    "session's of that caller");
	is(cell(&p[2], &c[2][2]), -BL_AT_SLOT, "and not another caller's");
	for (i = 0; i < MANY; i++) {
		for (j = 0; j < 3; j++)
			cell_close(&c[i][j]);
		peer_close(&p[i]);
	}
	is(whole_with(NULL), 0, "all end: there is room again");

	/* A helper is killed: its cells are gone before their slots are free. */
	for (i = r = n = 0; i < 30; i++) {
		struct cell one, two;
		struct peer q = peer_start(NULL), s;
		struct launch l = launch("while :; do sleep 0.001; done");

		/* the last round's may not have gone yet: so once more */
		for (j = 0; j < 100 && (hello(&q) != 0 ||
		    cell(&q, &one) != 0); j++) {
			peer_close(&q);
			nap(20);
			q = peer_start(NULL);
		}
		if (j == 100)
			bail("no cell");
		(void)tell(one.owner, BL_OP_GO);
		(void)launch_on(one.owner, &l);
		nap(3);
		(void)kill(q.pid, SIGKILL);
		s = peer_start(NULL);
		two.owner = two.net = -1;
		if (hello(&s) == 0 && cell(&s, &two) == 0 &&
		    two.uid == one.uid) {
			r += alive_of(two.uid) != 0;
			n++;
		}
		cell_close(&two);
		peer_close(&s);
		launch_close(&l);
		cell_close(&one);
		(void)peer_end(&q, SOON);
	}
	is(r, 0, "30 helpers are killed: no slot is given out while somebody "
	    "of its last cell lives (%d were given out at once)", n);
}

/* --- E01 to E05: what a program inherits -------------------------------- */

/* 1: all that pid has open is the null device, 3, the slot locks, and a socket:
   the log's, whether there is one or not. */
static int
clean_fds(pid_t pid)
{
	char path[64], to[256];
	int i, good = 1, sockets = 0;
	ssize_t n;

	for (i = 0; i < FDS_SEEN; i++) {
		(void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, i);
		n = readlink(path, to, sizeof to - 1);
		to[n < 0 ? 0 : n] = '\0';
		if (i > 3 && strncmp(to, "socket:[", 8) == 0)
			sockets++;
		else if (i < 3 || (n > 0 && i > 3))
			good &= strcmp(to, "/dev/null") == 0 ||
			    (i > 3 && strcmp(to, "/run/bailiff/slots") == 0);
	}
	return good && sockets <= 1;
}

/* 1: pid has path open. */
static int
holds(pid_t pid, const char *path)
{
	char name[64], to[4200];
	ssize_t n;
	int i;

	for (i = 0; i < FDS_SEEN; i++) {
		(void)snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)pid, i);
		n = readlink(name, to, sizeof to - 1);
		to[n < 0 ? 0 : n] = '\0';
		if (strcmp(to, path) == 0)
			return 1;
	}
	return 0;
}

/* One line comes, within a second, and nothing after it. */
static int
one_line(int from)
{
	char buf[4096];
	struct pollfd w = { from, POLLIN, 0 };
	ssize_t n = 0, got = 0;

	while (poll(&w, 1, SOON) == 1 && (got = read(from, buf + n,
	    sizeof buf - 1 - (size_t)n)) > 0)
		n += got;
	buf[n] = '\0';
	return got == 0 && n > 1 && strchr(buf, '\n') == buf + n - 1;
}

static void
suite_E01(void)
{
	static char *none[] = { NULL };
	static char big[100 << 10], *many[100002];
	static char *rows[][4] = {
		{ (char *)"bailiff-helper", (char *)"--help", NULL },
		{ (char *)"bailiff-helper", (char *)"", NULL },
		{ (char *)"", (char *)"-h", NULL },
		{ (char *)"bailiff-helper", (char *)"--", (char *)"x", NULL },
		{ (char *)"x", (char *)"\xff\xfe\n%n%s", NULL },
		{ (char *)"x", big, NULL },
	};
	static char *names[][2] = { { (char *)"--help", NULL },
	    { (char *)"", NULL }, { big, NULL }, { (char *)"-\n%s", NULL } };
	struct start how;
	struct peer p;
	size_t i;
	int err[2], bad = 0, r, with;

	memset(big, 'x', sizeof big - 1);
	for (i = 0; i < 100001; i++)
		many[i] = (char *)"x";
	for (with = 0; with < 2; with++)
		for (i = 0; i <= sizeof rows / sizeof rows[0]; i++) {
			if (pipe2(err, O_CLOEXEC) != 0)
				bail("pipe");
			how = (struct start){ .no_fd3 = !with, .err = err[1],
			    .argv = i == sizeof rows / sizeof rows[0] ? many :
			    rows[i] };
			p = peer_start(&how);
			drop(&err[1]);
			bad += !one_line(err[0]);
			r = peer_end(&p, SOON);
			bad += r != (with ? BL_AT_ARGS : BL_AT_FD3);
			drop(&err[0]);
		}
	is(bad, 0, "one argument, or 100,000, with a socket and without: one "
	    "line, refused");
	/* Linux 5.18 and newer put an empty name where there is none at all. */
	if (pipe2(err, O_CLOEXEC) != 0)
		bail("pipe");
	how = (struct start){ .argv = none, .no_fd3 = 1, .err = err[1] };
	p = peer_start(&how);
	drop(&err[1]);
	is(one_line(err[0]), 1, "an empty list of arguments: one line");
	r = peer_end(&p, SOON);
	is(r, BL_AT_FD3, "refused");
	drop(&err[0]);
	how = (struct start){ .argv = none };
	p = peer_start(&how);
	r = whole(&p);
	is(r == 0 || r == -1000, 1, "the same with a socket: refused, or as if "
	    "it had its name (%d)", r);
	drop(&p.sock);
	ok(peer_end(&p, SOON), <, 256, "and no crash");
	for (i = bad = 0; i < sizeof names / sizeof names[0]; i++) {
		how = (struct start){ .argv = names[i] };
		bad += whole_with(&how) != 0;
		if (pipe2(err, O_CLOEXEC) != 0)
			bail("pipe");
		how = (struct start){ .argv = names[i], .no_fd3 = 1,
		    .err = err[1] };
		p = peer_start(&how);
		drop(&err[1]);
		bad += !one_line(err[0]);
		bad += peer_end(&p, SOON) != BL_AT_FD3;
		drop(&err[0]);
	}
	is(bad, 0, "a name that is an option, empty, 100 KiB: never looked at");
}

static unsigned which;			/* what a before() is to do */

static void
close_some(void)
{
	unsigned i;

	for (i = 0; i < 3; i++)
		if ((which & 1U << i) != 0)
			(void)close((int)i);
}

static void
open_more(void)
{
	static const int numbers[] = { 4, 5, 17, 63, 64, 255, 1023, 1024, 1025,
	    1300, 2000 };
	unsigned i;

	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		(void)dup2(2, numbers[i]);
	(void)dup2(2, 0);
	(void)dup2(2, 1);
}

static int
three_of(int i, const char **name, int *other)
{
	static const char *const names[] = { "a stream", "datagrams",
	    "a listener", "an internet socket", "a file", "a path-only file",
	    "a folder", "a pipe", "netlink", "a stream that listens" };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = -1, p[2];

	*other = -1;
	if (i >= (int)(sizeof names / sizeof names[0]))
		return -2;
	*name = names[i];
	(void)snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "three-%d",
	    (int)getpid());
	switch (i) {
	case 0: return half(SOCK_STREAM, other);
	case 1: return half(SOCK_DGRAM, other);
	case 2:
	case 9:
		fd = socket(AF_UNIX, i == 2 ? SOCK_SEQPACKET : SOCK_STREAM, 0);
		if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
		    listen(fd, 1) != 0)
			bail("listen");
		return fd;
	case 3: return socket(AF_INET, SOCK_DGRAM, 0);
	case 4: return open(helper, O_RDONLY);
	case 5: return open(helper, O_PATH);
	case 6: return open("/", O_RDONLY | O_DIRECTORY);
	case 7: if (pipe2(p, 0) != 0)
			bail("pipe");
		*other = p[0];
		return p[1];
	default: return socket(AF_NETLINK, SOCK_RAW, 0);
	}
}

static void
suite_E02(void)
{
	struct start how = { .before = close_some };
	const char *name = "";
	char path[4200];
	struct stat st;
	struct peer p;
	struct cell c;
	struct launch l;
	int bad = 0, i, r, err[2], other, three, count = 0;
	char buf[64];

	for (which = 1; which < 8; which++) {
		p = peer_start(&how);
		r = hello(&p);
		if (r != 0 || !clean_fds(p.pid)) {
			bad++;
			(void)printf("# closed %u: %d\n", which, r);
		}
		if (r == 0) {
			r = cell(&p, &c);
			(void)tell(c.owner, BL_OP_GO);
			bad += r != 0 || run(c.owner, "exit 7") != 7 << 8;
			cell_close(&c);
		}
		peer_close(&p);
	}
	is(bad, 0, "each of 0, 1, 2 closed, and all ways together: a normal "
	    "run; they are the null device");
	(void)in_scratch("work/open/two", path);
	how = (struct start){ .before = NULL,
	    .err = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) };
	p = peer_start(&how);
	r = hello(&p);
	is(r == 0 && clean_fds(p.pid), 1, "2 is a file of the caller's: it is "
	    "let go");
	r = cell(&p, &c);
	(void)tell(c.owner, BL_OP_GO);
	is(run(c.owner, "echo x >&2; exit 7"), 7 << 8, "a normal run");
	cell_close(&c);
	peer_close(&p);
	is(stat(path, &st) == 0 && st.st_size == 0, 1, "and nothing in it");
	how.before = open_more;
	p = ready(&how, &c);
	is(holds(p.pid, path) + holds(c.init, path), 0, "more are open, with "
	    "high numbers: neither helper nor cell init has them");
	l = launch("ls -l /proc/self/fd | wc -l; exit 7");
	(void)launch_on(c.owner, &l);
	is(launch_end(&l, LONG), 7 << 8, "nor has a program");
	memset(buf, 0, sizeof buf);
	(void)!read(l.out, buf, sizeof buf - 1);
	is(strtol(buf, NULL, 10), 5, "but its three streams");
	launch_close(&l);
	cell_close(&c);
	peer_close(&p);

	/* Descriptor 3 is anything but what it has to be. */
	for (i = bad = 0; (three = three_of(i, &name, &other)) != -2; i++) {
		if (pipe2(err, O_CLOEXEC) != 0)
			bail("pipe");
		how = (struct start){ .fd3 = three, .err = err[1] };
		p = peer_start(&how);
		drop(&err[1]);
		r = !one_line(err[0]);
		r |= peer_end(&p, SOON) != BL_AT_FD3;
		if (r)
			(void)printf("# %s\n", name);
		bad += r;
		drop(&err[0]);
		drop(&three);
		drop(&other);
		count++;
	}
	is(bad, 0, "descriptor 3 is one of %d other things: one line, FD3",
	    count);
	for (which = bad = 0; which < 8; which++) {
		how = (struct start){ .no_fd3 = 1, .before = close_some };
		p = peer_start(&how);
		bad += peer_end(&p, SOON) != BL_AT_FD3;
	}
	is(bad, 0, "no descriptor 3, and others closed: FD3");
	three = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	how = (struct start){ .fd3 = three };
	p = peer_start(&how);
	r = peer_end(&p, SOON);
	ok(r == 0 || r == BL_AT_WIRE || r == BL_AT_FD3, ==, 1,
	    "a socket that is not connected: it ends (%d)", r);
	drop(&three);
}

static void
signals_before(void)
{
	struct itimerval t = { .it_value = { 0, 50000 } };
	sigset_t all;
	int i;

	(void)sigfillset(&all);
	switch (which) {
	case 0: (void)signal(SIGCHLD, SIG_IGN); break;
	case 1: (void)sigprocmask(SIG_SETMASK, &all, NULL); break;
	case 2:
		for (i = 1; i < NSIG; i++)
			(void)signal(i, SIG_IGN);
		break;
	case 3: (void)setitimer(ITIMER_REAL, &t, NULL); break;
	case 4: (void)setitimer(ITIMER_VIRTUAL, &t, NULL);
		(void)setitimer(ITIMER_PROF, &t, NULL);
		break;
	case 5:			/* they wait, and are let in one day */
		(void)sigprocmask(SIG_SETMASK, &all, NULL);
		for (i = SIGRTMIN; i <= SIGRTMAX; i++)
			(void)raise(i);
		break;
	case 6:
		(void)sigprocmask(SIG_SETMASK, &all, NULL);
		(void)raise(SIGCHLD);
		(void)raise(SIGURG);
		(void)raise(SIGWINCH);
		(void)raise(SIGCONT);
		break;
	case 7: (void)prctl(PR_SET_PDEATHSIG, SIGKILL); break;
	case 8: (void)prctl(PR_SET_CHILD_SUBREAPER, 1); break;
	case 9: (void)alarm(1); break;
	case 10:
		(void)sigprocmask(SIG_SETMASK, &all, NULL);
		(void)signal(SIGCHLD, SIG_IGN);
		(void)setitimer(ITIMER_REAL, &t, NULL);
		break;
	default:
		t.it_value.tv_usec = (int)which;
		(void)setitimer(ITIMER_REAL, &t, NULL);
		break;
	}
}

/*
 * A helper that leads a process group on a terminal, but no session: our child
 * is the session's leader, and ends as the helper does.
 */
static struct peer
on_terminal(int *master, pid_t *pid)
{
	struct peer p;
	int sv[2], tty, st = 0, i;

	pair(sv, SOCK_SEQPACKET);
	if (openpty(master, &tty, NULL, NULL, NULL) != 0)
		bail("openpty");
	p.sock = sv[0];
	p.far = -1;
	(void)fflush(stdout);
	p.pid = fork();
	if (p.pid == 0) {
		(void)signal(SIGTTOU, SIG_IGN);
		(void)signal(SIGHUP, SIG_IGN);
		(void)setsid();
		(void)ioctl(tty, TIOCSCTTY, 0);
		*pid = fork();
		if (*pid == 0) {
			(void)setpgid(0, 0);
			(void)tcsetpgrp(tty, getpid());
			(void)signal(SIGTTOU, SIG_DFL);
			(void)signal(SIGHUP, SIG_DFL);
			start_child(&(struct start){ .err = 0 }, sv[1]);
		}
		(void)close(sv[0]);
		(void)close(sv[1]);
		(void)close(*master);
		(void)waitpid(*pid, &st, 0);
		_exit(WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st));
	}
	(void)close(sv[1]);
	(void)close(tty);
	for (i = 0; i < 200 && (*pid = proc_child(p.pid, 0)) == 0; i++)
		nap(5);
	return p;
}

static void
suite_E03(void)
{
	static const char *const names[] = { "SIGCHLD is ignored",
	    "all signals are blocked", "all signals are ignored",
	    "an alarm comes in 50 ms", "timers of processor time",
	    "real-time signals wait", "harmless signals wait",
	    "a parent-death signal", "it is to reap orphans",
	    "an alarm in a second", "all of these" };
	static const char keys[] = { 3, 28, 26 };	/* ^C ^\ ^Z */
	struct start how = { .before = signals_before };
	struct peer p;
	struct cell c;
	int i, r, bad = 0, died = 0, master;
	pid_t pid;
	char text[32];

	for (which = 0; which < 11; which++) {
		p = peer_start(&how);
		r = hello(&p);
		if (which != 5)		/* these may end it at once */
			nap(which == 9 ? 1100 : 70);
		if (r == 0)
			r = cell(&p, &c);
		if (r == 0) {
			(void)tell(c.owner, BL_OP_GO);
			for (i = 0; i < 20; i++) {
				(void)snprintf(text, sizeof text, "exit %d", i);
				bad += run(c.owner, text) != i << 8;
			}
			bad += run(c.owner, "sh -c 'kill -9 $$' & wait $!; "
			    "exit $?") != 137 << 8;
			bad += run(c.owner, "kill -15 $$") != 15;
			cell_close(&c);
		}
		drop(&p.sock);
		i = peer_end(&p, SOON);
		if (which == 5)
			is(i >= 0 && (r == 0 || i > 256), 1, "%s: a normal "
			    "run, or its end (%d)", names[which], i);
		else
			is(r == 0 && i == 0, 1, "%s: a normal run",
			    names[which]);
	}
	is(bad, 0, "with the right status of each of 200 programs");
	for (which = 100, bad = 0; which < 3000; which += 37) {
		p = peer_start(&how);
		r = whole(&p);
		drop(&p.sock);
		i = peer_end(&p, SOON);
		died += i == 256 + SIGALRM;
		bad += !(r == 0 && i == 0) && i != 256 + SIGALRM;
	}
	is(bad, 0, "an alarm 0.1 to 3 ms after its start, 79 times: a normal "
	    "run, or dead of it at once (%d)", died);
	for (i = 0; i < 3; i++) {
		p = on_terminal(&master, &pid);
		r = hello(&p);
		if (r == 0)
			r = cell(&p, &c);
		(void)!write(master, &keys[i], 1);
		nap(100);
		if (r == 0) {
			(void)tell(c.owner, BL_OP_GO);
			r = run(c.owner, "exit 7");
		}
		if (r == 7 << 8) {
			struct cell d;

			(void)tell(p.sock, BL_OP_BYE);
			cell_close(&c);
			d = c;
			r = gone(d.init, SOON) ? 0 : -1;
		}
		is(r, 0, "the caller's terminal sends %s: not to the helper",
		    i == 0 ? "^C" : i == 1 ? "^\\" : "^Z");
		(void)kill(pid, SIGKILL);
		drop(&p.sock);
		(void)peer_end(&p, SOON);
		(void)close(master);
	}
}

struct limit_row {
	int what;
	rlim_t value;
	const char *name;
};
static const struct limit_row limit_rows[] = {
	{ RLIMIT_FSIZE, 0, "file size 0" }, { RLIMIT_NOFILE, 4, "4 open files" },
	{ RLIMIT_NOFILE, 100, "100 open files" },
	{ RLIMIT_NPROC, 0, "no processes" }, { RLIMIT_CPU, 1, "1 s of time" },
	{ RLIMIT_STACK, 64 << 10, "64 KiB of stack" },
	{ RLIMIT_CORE, RLIM_INFINITY, "cores without end" },
	{ RLIMIT_DATA, 1 << 20, "1 MiB of data" },
	{ RLIMIT_AS, 32 << 20, "32 MiB of address space" },
	{ RLIMIT_MEMLOCK, 0, "no locked memory" },
	{ RLIMIT_MSGQUEUE, 0, "no queues" },
	{ RLIMIT_SIGPENDING, 0, "no waiting signals" },
	{ RLIMIT_LOCKS, 0, "no locks" }, { RLIMIT_RSS, 0, "no pages" },
	{ RLIMIT_RTTIME, 1, "1 us of real-time" },
	{ RLIMIT_NICE, 0, "nice" }, { RLIMIT_RTPRIO, 0, "real-time" },
};
enum { NLIMITS = sizeof limit_rows / sizeof limit_rows[0] };

static void
limit_set(unsigned i, int soft)
{
	const struct limit_row *w = &limit_rows[i];
	struct rlimit v;

	(void)getrlimit((__rlimit_resource_t)w->what, &v);
	v.rlim_cur = w->value < v.rlim_max ? w->value : v.rlim_max;
	v.rlim_max = soft ? v.rlim_max : v.rlim_cur;
	(void)setrlimit((__rlimit_resource_t)w->what, &v);
}

static void
limits_before(void)
{
	unsigned i;

	if (which < 2 * NLIMITS)
		limit_set(which / 2, which % 2 == 0);
	else
		for (i = 0; i < NLIMITS; i++)
			limit_set(i, which % 2 == 0);
}

static void
manners_before(void)
{
	const struct timespec t = { 0, 0 };
	struct sched_param sp = { 0 };
	cpu_set_t one;

	(void)t;
	switch (which) {
	case 0: (void)setpriority(PRIO_PROCESS, 0, 19); break;
	case 1:
		(void)prctl(PR_SET_DUMPABLE, 1);	/* or it is root's */
		(void)write_text("/proc/self/oom_score_adj", "1000");
		break;
	case 2: (void)sched_setscheduler(0, SCHED_IDLE, &sp); break;
	case 3: (void)sched_setscheduler(0, SCHED_BATCH, &sp); break;
	case 4: (void)syscall(SYS_ioprio_set, 1, 0, 3 << 13); break;
	case 5:
		CPU_ZERO(&one);
		CPU_SET(0, &one);
		(void)sched_setaffinity(0, sizeof one, &one);
		break;
	case 6: (void)prctl(PR_SET_TIMERSLACK, 1000000000UL); break;
	case 7: (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); break;
	case 8: (void)personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC |
		    UNAME26 | SHORT_INODE | STICKY_TIMEOUTS); break;
	case 9: (void)personality(PER_LINUX32); break;
	case 10: (void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV); break;
	case 11: (void)syscall(SYS_set_mempolicy, 1, NULL, 0); break;
	case 12: (void)prctl(PR_SET_SPECULATION_CTRL, 0, 1 << 3, 0, 0); break;
	default: break;
	}
}

/* What cells must not have of it, as a command that is silent where all is well. */
static const char *const manners_seen[][2] = {
	{ "nice 19", "[ $(nice) = 0 ]" },
	{ "first in line for the memory killer",
	    "[ $(cat /proc/self/oom_score_adj) = 0 ]" },
	{ "SCHED_IDLE", "[ $(cut -d' ' -f41 /proc/$$/stat) = 0 ]" },
	{ "SCHED_BATCH", "[ $(cut -d' ' -f41 /proc/$$/stat) = 0 ]" },
	{ "idle disk class", ":" }, { "one processor", ":" },
	{ "timer slack", ":" }, { "no huge pages", ":" },
	{ "a personality", "case $(uname -r) in 2.*) exit 1;; esac" },
	{ "a 32-bit personality", "[ $(uname -m) != i686 ]" },
	{ "no time-stamp counter", ":" }, { "a memory policy", ":" },
	{ "speculation", ":" },
};

static void
suite_E04(void)
{
	struct start how = { .before = limits_before };
	struct peer p;
	struct cell c;
	struct launch l;
	int r, bad = 0, refused = 0;
	char buf[64];
	ssize_t n;

	for (which = 0; which < 2 * NLIMITS + 2; which++) {
		p = peer_start(&how);
		r = hello(&p);
		/* too little to be loaded at all: the kernel ends it */
		if (r == -BL_AT_RLIMIT || r == -1000) {
			refused++;
			bad += proc_child(p.pid, 0) != 0;
		} else if (r == 0)
			r = cell(&p, &c);
		else
			bad++;
		if (r == 0) {
			(void)tell(c.owner, BL_OP_GO);
			/* a second of time is used up, and a MiB is written */
			l = launch(which / 2 != 4 ? "exit 7" : "i=0; while "
			    "[ $i -lt 300000 ]; do i=$((i+1)); done; exit 7");
			(void)launch_on(c.owner, &l);
			r = launch_end(&l, LONG) == 7 << 8 ? 0 : -1;
			launch_close(&l);
			if (r == 0)
				r = run(c.owner, "head -c 1000000 /dev/zero "
				    ">x && exit 7") == 7 << 8 ? 0 : -2;
			cell_close(&c);
			bad += r != 0;
		}
		if (r != 0 && r != -BL_AT_RLIMIT && r != -1000)
			(void)printf("# %s: %d\n", which < 2 * NLIMITS ?
			    limit_rows[which / 2].name : "all of them", r);
		drop(&p.sock);
		r = peer_end(&p, SOON);
		if (r < 0)
			(void)printf("# %u: does not end\n", which);
		bad += r < 0;
	}
	is(bad, 0, "%d limits, soft and hard, and all at once: a normal run, "
	    "or RLIMIT before anything is started (%d)", NLIMITS, refused);

	how.before = manners_before;
	for (which = 0; which < sizeof manners_seen / sizeof manners_seen[0];
	    which++) {
		p = peer_start(&how);
		r = hello(&p);
		if (r == 0)
			r = cell(&p, &c);
		buf[0] = '\0';
		if (r == 0) {
			(void)tell(c.owner, BL_OP_GO);
			l = launch(manners_seen[which][1]);
			(void)launch_on(c.owner, &l);
			r = launch_end(&l, LONG);
			n = read(l.out, buf, sizeof buf - 1);
			buf[n < 0 ? 0 : n] = '\0';
			launch_close(&l);
			cell_close(&c);
		}
		drop(&p.sock);
		n = peer_end(&p, SOON);
		if (which == 10)	/* a crash of its own choice */
			is(r == 0 || n >= 256 || r == -1000, 1, "%s: a normal "
			    "run, or none (%d)", manners_seen[which][0], r);
		else
			is(r, 0, "%s: set afresh", manners_seen[which][0]);
	}
}

static void
umask_before(void)
{
	char dir[4200];

	(void)umask((mode_t)which);
	(void)snprintf(dir, sizeof dir, "%s/work/open/gone-%d", scratch,
	    (int)getpid());
	if (mkdir(dir, 0777) == 0 && chdir(dir) == 0)
		(void)rmdir(dir);
}

static void
suite_E05(void)
{
	static char *env[] = { (char *)"LD_PRELOAD=/none.so",
	    (char *)"LD_LIBRARY_PATH=/none", (char *)"LD_AUDIT=/none.so",
	    (char *)"LD_BIND_NOW=", (char *)"LD_DEBUG=all",
	    (char *)"LD_DEBUG_OUTPUT=/tmp/ld", (char *)"LD_PROFILE=x",
	    (char *)"GLIBC_TUNABLES=glibc.malloc.mxfast=glibc.malloc.mxfast=A",
	    (char *)"GLIBC_TUNABLES=glibc.malloc.check=3:x:=:::==",
	    (char *)"MALLOC_CHECK_=3", (char *)"MALLOC_PERTURB_=165",
	    (char *)"TZ=:/etc/shadow", (char *)"TMPDIR=/none",
	    (char *)"PATH=/none", (char *)"PATH=.:/tmp", (char *)"IFS=/",
	    (char *)"no equals sign", (char *)"=", (char *)"==x", (char *)"",
	    (char *)"GCONV_PATH=/tmp", (char *)"LOCPATH=/tmp",
	    (char *)"LC_ALL=../../tmp", (char *)"RES_OPTIONS=x",
	    (char *)"BAILIFF_HELPER=/none", NULL };
	static char big[120 << 10], *huge[3] = { big, NULL };
	static const unsigned masks[] = { 0, 022, 077, 0777 };
	struct start how = { .envp = env };
	struct peer p;
	struct cell c;
	unsigned i;

	p = ready(&how, &c);
	is(run(c.owner, "[ \"$(env -u PWD | sort)\" = PATH=/usr/bin:/bin ] || "
	    "[ \"$(env | grep -v ^PWD= | grep -v ^_= | grep -v ^SHLVL= | "
	    "sort)\" = PATH=/usr/bin:/bin ] && exit 7"), 7 << 8,
	    "25 variables, twice, without =, empty: none reaches a cell");
	cell_close(&c);
	peer_close(&p);
	memset(big, 'x', sizeof big - 1);
	how.envp = huge;
	is(whole_with(&how), 0, "one of 120 KiB");
	for (i = 0; i < 4; i++) {
		which = masks[i];
		how = (struct start){ .before = umask_before };
		p = ready(&how, &c);
		is(run(c.owner, "[ $(umask) = 0022 ] && [ \"$(stat -c %a /work "
		    "/run /tmp /dev/shm /home/answer /etc/passwd /etc/hosts "
		    "/dev/null | tr '\\n' ' ' | sed s/644/444/)\" = '755 755 "
		    "1777 1777 700 444 444 666 ' ] && pwd >/dev/null && "
		    "exit 7"), 7 << 8,
		    "mask %04o, a folder that is gone: modes as ever",
		    which);
		cell_close(&c);
		peer_close(&p);
	}
}

/* --- E08: touched while it works ---------------------------------------- */

/* What a process can try on another one; each is a bit of attack()'s result. */
static const char *const tries[] = { "signal", "ptrace", "open memory",
	"read environ", "list descriptors", "read maps", "process_vm_readv",
	"take a descriptor", "set a limit", "renice", "pin", "write oom_score_adj",
	"write comm", "read auxv", "follow cwd", "follow root", "follow exe",
	"read syscall", "write clear_refs", "write coredump_filter", "kcmp",
	"write timerslack", "read stack", "read smaps" };
enum { NTRIES = sizeof tries / sizeof tries[0] };

static unsigned
proc_try(pid_t pid, const char *name, int flags)
{
	char path[64], byte;
	int fd, n;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	n = (flags & O_ACCMODE) == O_RDONLY && (flags & O_DIRECTORY) == 0 ?
	    (int)read(fd, &byte, 1) : 1;
	if (strcmp(name, "timerslack_ns") == 0)	/* everybody may open it */
		n = (int)write(fd, "50000", 5);
	(void)close(fd);
	return n > 0;
}

/* As whoever calls.  Nothing here changes what it does get hold of. */
static unsigned
attack(pid_t pid)
{
	unsigned long word;
	struct iovec here = { &word, sizeof word }, there = { &word,
	    sizeof word };
	struct rlimit v = { RLIM_INFINITY, RLIM_INFINITY };
	char path[64], to[256];
	unsigned got = 0;
	cpu_set_t all;
	int fd, nice, i;

	got |= (unsigned)(kill(pid, 0) == 0) << 0;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0) {
		got |= 1U << 1;
		(void)ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		(void)waitpid(pid, NULL, __WALL);
		(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	}
	got |= proc_try(pid, "mem", O_RDWR) << 2;
	got |= proc_try(pid, "environ", O_RDONLY) << 3;
	(void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	got |= proc_try(pid, "fd", O_RDONLY | O_DIRECTORY) << 4;
	got |= proc_try(pid, "maps", O_RDONLY) << 5;
	errno = 0;
	i = (int)process_vm_readv(pid, &here, 1, &there, 1, 0);
	got |= (unsigned)(i > 0 || errno == EFAULT) << 6;
	fd = pidfd_open(pid, 0);
	i = fd >= 0 ? pidfd_getfd(fd, 3, 0) : -1;
	got |= (unsigned)(i >= 0 || errno == EBADF) << 7;
	drop(&i);
	drop(&fd);
	got |= (unsigned)(prlimit(pid, RLIMIT_CORE, NULL, &v) == 0) << 8;
	errno = 0;
	nice = getpriority(PRIO_PROCESS, (id_t)pid);
	got |= (unsigned)(errno == 0 &&
	    setpriority(PRIO_PROCESS, (id_t)pid, nice) == 0) << 9;
	got |= (unsigned)(sched_getaffinity(pid, sizeof all, &all) == 0 &&
	    sched_setaffinity(pid, sizeof all, &all) == 0) << 10;
	got |= proc_try(pid, "oom_score_adj", O_WRONLY) << 11;
	got |= proc_try(pid, "comm", O_WRONLY) << 12;
	got |= proc_try(pid, "auxv", O_RDONLY) << 13;
	for (i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid,
		    i == 0 ? "cwd" : i == 1 ? "root" : "exe");
		got |= (unsigned)(readlink(path, to, sizeof to) > 0) <<
		    (14 + i);
	}
	got |= proc_try(pid, "syscall", O_RDONLY) << 17;
	got |= proc_try(pid, "clear_refs", O_WRONLY) << 18;
	got |= proc_try(pid, "coredump_filter", O_WRONLY) << 19;
	got |= (unsigned)(syscall(SYS_kcmp, getpid(), pid, 0, 0, 0) >= 0) << 20;
	got |= proc_try(pid, "timerslack_ns", O_WRONLY) << 21;
	got |= proc_try(pid, "stack", O_RDONLY) << 22;
	got |= proc_try(pid, "smaps", O_RDONLY) << 23;
	return got;
}

/* A process of the caller's that tries, at our word, and says what it got. */
static int pest_sock;

static pid_t
pest_start(void)
{
	int sv[2];
	unsigned got;
	pid_t pid, who;

	pair(sv, SOCK_SEQPACKET);
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		(void)close(sv[0]);
		become(caller);
		while (recv(sv[1], &who, sizeof who, 0) == sizeof who) {
			got = who > 0 ? attack(who) :
			    (unsigned)kill(-who, SIGSTOP);
			(void)send(sv[1], &got, sizeof got, 0);
		}
		_exit(0);
	}
	(void)close(sv[1]);
	pest_sock = sv[0];
	return pid;
}

static unsigned
pest(pid_t pid)
{
	unsigned got = 0;

	if (send(pest_sock, &pid, sizeof pid, 0) != sizeof pid ||
	    recv(pest_sock, &got, sizeof got, 0) != sizeof got)
		bail("pest");
	return got;
}

/* Where a process of the helper's stands. */
enum { STARTING, ROOT, INIT, ROLE, PROGRAM, NPHASES };
static const char *const phases[] = { "the helper before it is root wholly",
	"the helper", "cell init", "a launch child after it has given up root",
	"a program in the cell" };

struct watched {
	unsigned long steps[NPHASES];
	unsigned got[NPHASES];
	int	 odd, stop, stopped;	/* stop: where it becomes root wholly */
};

/* -1: not the helper's: before the first execve. */
static int
phase_of(pid_t pid)
{
	char comm[64] = "";
	long long uid = proc_number(pid, "status", "Uid:\t");
	FILE *f = proc_open(pid, "comm");

	if (f == NULL || fgets(comm, sizeof comm, f) == NULL)
		comm[0] = '\0';
	if (f != NULL)
		(void)fclose(f);
	if (strncmp(comm, "bailiff-helper", 14) != 0)
		return uid != (long long)caller && uid != 0 && uid != -1 ?
		    PROGRAM : -1;
	if (uid != 0)
		return uid == (long long)caller ? STARTING : ROLE;
	(void)snprintf(comm, sizeof comm, "NSpid:\t%d\t", (int)pid);
	return proc_number(pid, "status", comm) == 1 ? INIT : ROOT;
}

/* Every system call of the helper and of all that comes from it stops here. */
static const struct sock_filter all_stop[] = {
	{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF } };

static void
stop_all(void)
{
	static const struct sock_fprog prog = { 1,
	    (struct sock_filter *)(size_t)all_stop };

	/* 1 << 5: WAIT_KILLABLE_RECV, Linux 5.19: a stop waits for the call */
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == -2 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    SECCOMP_FILTER_FLAG_NEW_LISTENER | 1UL << 5, &prog) < 0)
		_exit(96);
}

/* Looks at each stop, lets the pest try, and lets the call go on. */
static void
watch(int listener, struct watched *w)
{
	struct pollfd p = { listener, POLLIN, 0 };
	struct seccomp_notif n;
	struct seccomp_notif_resp a;
	int phase;

	for (;;) {
		if (poll(&p, 1, LONG) != 1 || (p.revents & POLLIN) == 0)
			return;
		memset(&n, 0, sizeof n);
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) != 0) {
			if (errno == ENOENT || errno == EINTR)
				continue;	/* killed meanwhile */
			return;
		}
		phase = phase_of((pid_t)n.pid);
		if (w->stop) {
			if (phase == STARTING && n.data.args[0] == 0 &&
			    n.data.nr == SYS_setresuid)
				w->stopped += pest(-(pid_t)n.pid) == 0;
		} else if (phase >= 0 && w->steps[phase] < 1500) {
			w->steps[phase]++;
			w->got[phase] |= pest((pid_t)n.pid);
		}
		memset(&a, 0, sizeof a);
		a.id = n.id;
		a.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &a) != 0 &&
		    errno != ENOENT)
			w->odd++;
	}
}

/* In start_child, as root: stop_all, then the usual. */
static void
stopped_before(void)
{
	stop_all();
	become(caller);
}

static const char *
names_of(unsigned got, char text[512])
{
	unsigned i;

	text[0] = '\0';
	for (i = 0; i < NTRIES; i++)
		if ((got & 1U << i) != 0) {
			size_t n = strlen(text);

			(void)snprintf(text + n, 512 - n, "%s%s",
			    n > 0 ? ", " : "", tries[i]);
		}
	return text;
}

static int
yama(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int c = f != NULL ? fgetc(f) : '0';

	if (f != NULL)
		(void)fclose(f);
	return c - '0';
}

/* Ours of a peer whose calls all stop, or -1. */
static int
listener_of(const struct peer *p)
{
	int pidfd = pidfd_open(p->pid, 0), fd = -1, i;

	for (i = 0; i < 500 && fd < 0; i++) {
		nap(2);
		/* until then that number may be something of ours */
		if (holds(p->pid, "anon_inode:seccomp notify"))
			fd = pidfd_getfd(pidfd, 4, 0);
	}
	drop(&pidfd);
	return fd;
}

static pid_t
watcher_start(struct peer *p, int *listener, struct watched *w)
{
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		drop(&p->sock);
		watch(*listener, w);
		_exit(0);
	}
	drop(listener);
	return pid;
}

static int
is_stopped(pid_t pid)
{
	char line[512] = "";
	FILE *f = proc_open(pid, "stat");
	const char *end = NULL;

	if (f != NULL && fgets(line, sizeof line, f) != NULL)
		end = strrchr(line, ')');
	if (f != NULL)
		(void)fclose(f);
	return end != NULL && strncmp(end, ") T", 3) == 0;
}

/*
 * A stop that the caller may send just before that takes effect just after:
 * nothing of hers can let it go on, or end it.
 */
static void
stopped_as_root(const struct start *how, struct watched *w)
{
	struct peer p = peer_start(how);
	int listener = listener_of(&p), i;
	pid_t watcher, pid;

	memset(w, 0, sizeof *w);
	w->stop = 1;
	watcher = watcher_start(&p, &listener, w);
	for (i = 0; i < 1000 && !is_stopped(p.pid); i++)
		nap(5);
	is(w->stopped == 1 && is_stopped(p.pid) &&
	    proc_number(p.pid, "status", "Uid:\t") == 0, 1,
	    "control: as it becomes root its caller stops it");
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		(void)setsid();	/* kill(2): within a session CONT is for all */
		become(caller);
		_exit(kill(p.pid, SIGCONT) == 0 || kill(p.pid, SIGKILL) == 0);
	}
	(void)waitpid(pid, &i, 0);
	is(i, 0, "control: she can't let it go on, or end it");
	drop(&p.sock);
	/* 30 s, and what such a machine may be late */
	is(peer_end(&p, 40000), 256 + SIGKILL, "the kernel ends it");
	(void)waitpid(watcher, NULL, 0);
}

static void
suite_E08(void)
{
	/* What a user may do to any program that it has started. */
	const unsigned harmless = 1U << 0 | 1U << 9 | 1U << 10;
	const struct start how = { .root = 1, .before = stopped_before };
	struct watched *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t victim, pest_pid = pest_start(), watcher;
	int listener, i, r;
	char text[512];
	struct peer p;
	unsigned got;

	(void)fflush(stdout);
	victim = fork();
	if (victim == 0) {
		become(caller);
		(void)prctl(PR_SET_DUMPABLE, 1);
		/* Yama: who is no child of the tracer's has to ask for it */
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		nap(60000);
		_exit(0);
	}
	nap(50);
	got = pest(victim);
	/* less where Yama keeps all tracing to root, and what is checked alike */
	ok(__builtin_popcount(got), >=, yama() < 2 ? 18 : 16, "control: on a process of its own "
	    "most of %d ways lead somewhere", NTRIES);
	(void)printf("# %s\n", names_of(got, text));
	(void)kill(victim, SIGKILL);
	(void)waitpid(victim, NULL, 0);

	p = peer_start(&how);
	listener = listener_of(&p);
	if (listener < 0) {
		skip("no supervised calls here", "at every step");
		peer_close(&p);
		return;
	}
	watcher = watcher_start(&p, &listener, w);
	r = whole(&p);
	is(r, 0, "a normal run, with every system call stopped for a while");
	drop(&p.sock);
	is(peer_end(&p, LONG), 0, "to its end");
	(void)waitpid(watcher, NULL, 0);
	for (i = 0; i < NPHASES; i++) {
		got = w->got[i] & ~(i == STARTING ? harmless : 0);
		is(got, 0, "%s, at %lu steps: %s", phases[i], w->steps[i],
		    i == STARTING ? "nothing but a signal and its turn" :
		    "nothing");
		if (got != 0)
			(void)printf("# %s\n", names_of(got, text));
	}
	ok(w->steps[STARTING], >=, 30, "steps before it is root were seen");
	ok(w->steps[ROOT] + w->steps[INIT], >=, 200, "steps as root were seen");
	ok(w->steps[ROLE], >=, 20, "steps after root was given up were seen");
	is(w->odd, 0, "and all went on");
	stopped_as_root(&how, w);
	(void)close(pest_sock);
	(void)waitpid(pest_pid, NULL, 0);
}

/*
 * As the caller: until it is killed, whatever looks like a helper is attacked
 * with all that works, and stopped, and ended.
 */
static void
suite_pest(void)
{
	struct dirent *e;
	char comm[64];
	unsigned turn = 0;
	pid_t pid;
	DIR *d;
	FILE *f;

	become(caller);
	for (;;) {
		d = opendir("/proc");
		while (d != NULL && (e = readdir(d)) != NULL) {
			pid = (pid_t)strtol(e->d_name, NULL, 10);
			f = pid > 0 ? proc_open(pid, "comm") : NULL;
			if (f == NULL)
				continue;
			if (fgets(comm, sizeof comm, f) == NULL)
				comm[0] = '\0';
			(void)fclose(f);
			if (strncmp(comm, "bailiff-helper", 14) != 0)
				continue;
			(void)attack(pid);
			switch (turn++ % 4) {
			case 0: (void)kill(pid, SIGSTOP);
				(void)kill(pid, SIGCONT); break;
			case 1: (void)kill(pid, SIGTERM); break;
			case 2: (void)kill(-pid, SIGKILL); break;
			default: (void)kill(pid, SIGUSR1); break;
			}
		}
		if (d != NULL)
			(void)closedir(d);
	}
}

static char **words;			/* behind the suite's name */

/*
 * As another user, until the file words[0] is there: all that others' runs
 * consist of is tried, from outside, over and over.  The client, the helper and
 * cell init by their name; what runs in cells by its user number.
 */
static void
suite_others(void)
{
	unsigned long sweeps = 0, tried = 0, inside = 0;
	unsigned got = 0, here;
	char comm[64], text[512];
	struct dirent *e;
	long long uid;
	pid_t pid;
	DIR *d;
	FILE *f;

	become(caller);
	if (nice(10) == -1)
		bail("nice");
	for (; access(words[0], F_OK) != 0; sweeps++) {
		d = opendir("/proc");
		while (d != NULL && (e = readdir(d)) != NULL) {
			pid = (pid_t)strtol(e->d_name, NULL, 10);
			uid = pid > 0 ? proc_number(pid, "status", "Uid:\t") : -1;
			f = uid < 0 || uid == (long long)caller ? NULL :
			    proc_open(pid, "comm");
			if (f == NULL)
				continue;
			if (fgets(comm, sizeof comm, f) == NULL)
				comm[0] = '\0';
			(void)fclose(f);
			if (uid < 65536 && strncmp(comm, "bailiff", 7) != 0)
				continue;
			inside += uid >= 65536;	/* slots begin there */
			tried++;
			here = attack(pid);
			if (here != 0)
				(void)printf("# %d, user %lld, %.40s: %s\n",
				    (int)pid, uid, comm, names_of(here, text));
			got |= here;
		}
		if (d != NULL)
			(void)closedir(d);
		nap(100);
	}
	is(got, 0, "%lu processes of others' runs, %lu of them in cells, in %lu "
	    "sweeps: none of %d ways leads anywhere", tried, inside, sweeps, NTRIES);
	ok(tried, >=, 100, "control: there were some");
	ok(inside, >=, 20, "control: in cells, too");
}

/* --- E11: its folders, while cells are there ---------------------------- */

static void
copy_rules(const char *from)
{
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t n;

	out = open("/etc/bailiff/rules", O_WRONLY | O_TRUNC | O_CREAT |
	    O_CLOEXEC, 0644);
	while (in >= 0 && (n = read(in, buf, sizeof buf)) > 0)
		if (write(out, buf, (size_t)n) != n)
			bail("rules");
	drop(&in);
	drop(&out);
}

/*
 * 1: while one's cell waits for its first program, no other has its uid; or,
 * where the locks were taken away, it can't start one any more.
 */
static int
alone(void (*between)(void))
{
	struct cell c, d;
	struct peer p = ready(NULL, &c), q;
	int r, i, same = 0;

	between();
	q = peer_start(NULL);
	r = hello(&q);
	for (i = 0; i < 4 && r == 0; i++) {
		r = cell(&q, &d);
		if (r == 0 && d.uid == c.uid) {
			same = 1;
			(void)printf("# both have uid %u\n", d.uid);
		}
		if (r == 0 && i < 3)
			cell_close(&d);
	}
	(void)printf("# the second one: %d\n", r);
	r = (run(c.owner, "exit 7") == 7 << 8) != same;
	cell_close(&d);
	peer_close(&q);
	cell_close(&c);
	peer_close(&p);
	return r;
}

static void
nothing_between(void)
{
}

static void
locks_unlinked(void)
{
	(void)unlink("/run/bailiff/slots");
}

static void
locks_emptied(void)
{
	(void)!truncate("/run/bailiff/slots", 0);
}

static void
locks_folder_gone(void)
{
	(void)unlink("/run/bailiff/slots");
	(void)rmdir("/run/bailiff");
}

static void
locks_folder_moved(void)
{
	(void)rename("/run/bailiff", "/run/bailiff.old");
}

static void
rules_changed(void)
{
	copy_rules(words[1]);
}

/* words: rules, and others that give the same user numbers to other slots. */
static void
suite_E11(void)
{
	is(alone(nothing_between), 1, "two sessions, two user numbers");
	is(alone(locks_emptied), 1, "the locks' file is emptied meanwhile");
	is(alone(locks_unlinked), 1, "the locks' file is removed meanwhile");
	is(alone(locks_folder_gone), 1, "with its folder");
	is(alone(locks_folder_moved), 1, "its folder has another name now");
	copy_rules(words[0]);
	is(alone(rules_changed), 1, "the rules are changed meanwhile");
}

/* --- main --------------------------------------------------------------- */

int
main(int argc, char **argv)
{
	static const struct suite {
		const char *name;
		void (*fn)(void);
	} suites[] = {
		{ "F01", suite_F01 }, { "F02", suite_F02 },
		{ "F03", suite_F03 }, { "F04", suite_F04 },
		{ "F05", suite_F05 }, { "F06", suite_F06 },
		{ "slots", suite_slots },
		{ "E01", suite_E01 }, { "E02", suite_E02 },
		{ "E03", suite_E03 }, { "E04", suite_E04 },
		{ "E05", suite_E05 }, { "E08", suite_E08 },
		{ "E11", suite_E11 }, { "pest", suite_pest },
		{ "others", suite_others },
	};
	size_t i;

	if (getenv("BL_SLOW") != NULL)
		slow = (int)strtol(getenv("BL_SLOW"), NULL, 10);
	if (argc < 5) {
		(void)fprintf(stderr,
		    "usage: hostile HELPER UID GROUP SUITE [WORD...]\n");
		return 64;
	}
	helper = argv[1];
	words = argv + 5;
	caller = (uid_t)strtoul(argv[2], NULL, 10);
	group = (gid_t)strtoul(argv[3], NULL, 10);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)snprintf(scratch, sizeof scratch, "%s", helper);
	*strrchr(scratch, '/') = '\0';
	for (i = 0; i < sizeof suites / sizeof suites[0]; i++)
		if (strcmp(argv[4], suites[i].name) == 0) {
			suites[i].fn();
			return done();
		}
	return 64;
}

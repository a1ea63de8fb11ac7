/*
 * Fuzz: the session's dispatcher and a cell's, whole, against any client.
 *
 * The helper's own sources are included; what has privilege or touches
 * processes is played here.  Sockets and descriptors are real.  The input is
 * a program: whom to play next, and with what bytes and descriptors.
 */
/* max_len: 256 */
/* Known by fuzz_req, and not what the fuzzer is to look for here. */
#pragma clang attribute push (__attribute__((no_sanitize("coverage"))), \
    apply_to = function)
#include "../../policy/reply.h"
#include "../../policy/proto.c"
#include "../../policy/reply.c"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#include "../../helper/loop.h"
#include "../../helper/ops.h"
#include "../../helper/sys.h"

#define MUST(x) do { if (!(x)) { \
	(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
	abort(); } } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NFD = 128, SLOTS = 3, BASE = 1 << 20, FIRST = 7, CELLS = 8,
    PAIRS = 24, RETURNED = 1, CHILD = 2, DIED = 256 };

/* --- the input ---------------------------------------------------------- */

static const uint8_t *in, *in_end;

static unsigned
u8(void)
{
	return in < in_end ? *in++ : 0;
}

/* --- descriptors: what there is, whose it is ---------------------------- */

enum kind { K_NULL_RW, K_NULL_R, K_NULL_W, K_PIPE_R, K_PIPE_W, K_SPEC, K_LOOSE,
    K_DIR, K_O_PATH, K_O_PATH_PIPE, K_ZERO, K_FILE, K_STREAM, K_DGRAM, K_ALONE,
    K_LISTENER, K_LISTENS_STREAM, K_EVENT, K_FIFO, K_POOL,
    K_REPLY = K_POOL, K_GUEST, K_MAX };

static int pool[K_POOL], never, alone_other;
static uint8_t base[NFD], ours[NFD];	/* open for good; for this iteration */
static int high, paths;	/* the highest that was seen; O_PATH was given */
static struct sockaddr_un address;	/* of K_LISTENER */
static socklen_t address_size;

/* This end of a pair whose other one was given away. */
static struct pair {
	int fd, guest, words, over;	/* guest: 1 attached, 2 connected */
	int bad, wrote;
	uint64_t cookie;		/* of the other end */
	char name[8];			/* of one that connects */
} pair[PAIRS];
static unsigned npairs, naccept;
static int audit = -1;

static int
keep(int fd)
{
	MUST(fd >= 0 && fd < NFD);
	ours[fd] = 1;
	high = fd > high ? fd : high;
	return fd;
}

static void
lose(int fd)
{
	MUST(fd >= 0 && fd < NFD && ours[fd]);
	ours[fd] = 0;
	(void)close(fd);
}

/* Which descriptors are open.  poll(2) does not know those of O_PATH. */
__attribute__((no_sanitize("address")))
static void
table(uint8_t open[NFD])
{
	struct pollfd p[NFD];
	int i, top = high + 12 < NFD ? high + 12 : NFD;

	memset(open, 0, NFD);
	for (i = 0; i < top; i++)
		p[i] = (struct pollfd){ i, 0, 0 };
	MUST(syscall(SYS_poll, p, top, 0) >= 0);
	for (i = 0; i < top; i++) {
		open[i] = (p[i].revents & POLLNVAL) == 0 || ((paths ||
		    i == pool[K_O_PATH] || i == pool[K_O_PATH_PIPE]) &&
		    fcntl(i, F_GETFD) >= 0);
		high = open[i] && i > high ? i : high;
	}
}

/* Exactly these are open: base, ours, and n more. */
static void
must_be_open(const int *more, unsigned n)
{
	uint8_t open[NFD];
	unsigned i;

	table(open);
	for (i = 0; i < n; i++) {
		MUST(more[i] >= 0 && more[i] < NFD);
		MUST(open[more[i]] == 1);	/* and owned once only */
		open[more[i]] = 0;
	}
	for (i = 0; i < NFD; i++)
		MUST(open[i] == (base[i] | ours[i]));
}

static uint64_t
cookie_of(int fd)
{
	uint64_t c = 0;
	socklen_t n = sizeof c;

	MUST(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &c, &n) == 0);
	return c;
}

static void
pool_make(void)
{
	char dir[] = "/tmp/fuzz_dispatch.XXXXXX", path[64];
	int p[2], i;

	MUST(pipe(p) == 0 && mkdtemp(dir) != NULL);
	pool[K_NULL_RW] = open("/dev/null", O_RDWR);
	pool[K_NULL_R] = open("/dev/null", O_RDONLY);
	pool[K_NULL_W] = open("/dev/null", O_WRONLY);
	pool[K_PIPE_R] = p[0];
	pool[K_PIPE_W] = p[1];
	pool[K_SPEC] = memfd_create("spec", MFD_ALLOW_SEALING);
	pool[K_LOOSE] = memfd_create("loose", MFD_ALLOW_SEALING);
	pool[K_DIR] = open("/", O_RDONLY | O_DIRECTORY);
	pool[K_O_PATH] = open("/dev/null", O_PATH);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", p[0]);
	pool[K_O_PATH_PIPE] = open(path, O_PATH);
	pool[K_ZERO] = open("/dev/zero", O_RDWR);
	(void)snprintf(path, sizeof path, "%s/f", dir);
	pool[K_FILE] = open(path, O_RDWR | O_CREAT, 0600);
	(void)unlink(path);
	MUST(mkfifo(path, 0600) == 0);
	pool[K_FIFO] = open(path, O_RDWR);
	(void)unlink(path);
	(void)rmdir(dir);
	pool[K_DGRAM] = socket(AF_UNIX, SOCK_DGRAM, 0);
	pool[K_STREAM] = socket(AF_UNIX, SOCK_STREAM, 0);
	pool[K_ALONE] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	pool[K_LISTENER] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	pool[K_LISTENS_STREAM] = socket(AF_UNIX, SOCK_STREAM, 0);
	pool[K_EVENT] = eventfd(0, 0);
	address.sun_family = AF_UNIX;
	address_size = sizeof address.sun_family;
	for (i = K_LISTENER; i <= K_LISTENS_STREAM; i++)	/* autobind */
		MUST(bind(pool[i], (void *)&address, address_size) == 0 &&
		    listen(pool[i], 64) == 0);
	address_size = sizeof address;
	MUST(getsockname(pool[K_LISTENER], (void *)&address,
	    &address_size) == 0);
	never = eventfd(0, 0);
	MUST(fcntl(pool[K_SPEC], F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK |
	    F_SEAL_GROW | F_SEAL_WRITE) == 0);
	for (i = 0; i < K_POOL; i++)
		MUST(pool[i] >= 0 && pool[i] < NFD);
	high = never;
}

/* One to give away, and whether it is to be closed after that. */
static int
give(enum kind k, int *own)
{
	int sv[2];

	*own = k >= K_POOL && npairs < PAIRS;
	if (!*own)
		return pool[k < K_POOL ? k : K_ALONE];
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv) == 0);
	pair[npairs++] = (struct pair){ .fd = keep(sv[0]),
	    .guest = k == K_GUEST, .cookie = cookie_of(sv[1]) };
	return sv[1];
}

static struct pair *
pair_of(uint64_t cookie)
{
	unsigned i;

	for (i = 0; i < npairs; i++)
		if (pair[i].cookie == cookie)
			return &pair[i];
	return NULL;
}

/* --- datagrams ---------------------------------------------------------- */

/* What was sent: 1 legal by content and count; 0 not; -1 empty; -2 nothing. */
struct sent { struct bl_req q; int how; enum kind kind[16]; unsigned n; };

static void
body(struct bl_req *q)
{
	struct bl_req_cell *c = &q->u.cell;
	unsigned i, b;

	if (q->op == BL_OP_CELL) {
		b = u8();
		c->role = 1 + b % 4;
		c->need = BL_NEED_FULL;
		c->flags = b & 16 ? BL_CELL_CGROUP : b & 64 ? BL_CELL_KEEP : 0;
		if ((b & 0x32) == 0x22) {
			c->flags |= BL_CELL_HOST_NET;
			c->need &= ~(uint32_t)BL_NEED_NET;
		}
		c->net_of = (b & 128) != 0;
		c->nplaces = (b >> 2) % 4;
		for (i = 0; i < c->nplaces; i++) {
			b = u8();
			c->place[i].kind = b & 1 ? BL_PLACE_TMPFS :
			    BL_PLACE_BIND;
			c->place[i].size = b & 1 ? (uint64_t)b << (b / 8) : 0;
			memcpy(c->place[i].dst, "/opt/a", 7);
		}
		b = u8();
		c->limits.memory = b & 1 ? UINT64_MAX : 0;
		c->limits.pids = b & 2 ? 1000000 : 0;
		c->deadline_ns = b & 4 ? UINT64_MAX : 0;
	} else if (q->op == BL_OP_SPAWN) {
		b = u8();
		q->u.spawn.flags = b & 1;
		q->u.spawn.wall_ns = b & 2 ? 1ull << (b / 4) : 0;
	} else if (q->op == BL_OP_PATH)
		memcpy(q->u.path, "/usr/bin", 9);
}

static enum kind
kind_due(const struct bl_req *q, unsigned i)
{
	static const enum kind spawn[] = { K_SPEC, K_PIPE_R, K_PIPE_W,
	    K_NULL_RW, K_REPLY, K_PIPE_W };

	switch (q->op) {
	case BL_OP_SPAWN:
		return spawn[i < 6 ? i : 0];
	case BL_OP_ATTACH:
		return i == 0 ? K_GUEST : K_REPLY;
	case BL_OP_LISTEN:
		return i == 0 ? K_LISTENER : K_REPLY;
	default:
		return K_DIR;
	}
}

static struct sent
datagram(int sock, unsigned op)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(16 * sizeof(int))]; } c;
	struct { struct bl_req q; char more[8]; } m = { .q = {
	    BL_MAGIC, BL_VERSION, (uint16_t)op, u8(), 0, { .raw = { 0 } } } };
	struct sent s = { .n = 0 };
	unsigned twist = u8(), fds = u8(), i;
	struct iovec iov = { &m, sizeof m.q };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd[16], own[16];

	body(&m.q);
	switch (twist) {
	case 1:
		m.q.magic ^= 1u << (u8() % 32);
		break;
	case 2:
		m.q.version++;
		break;
	case 3:
		m.q.zero = 1;
		break;
	case 4:
		m.q.op = (uint16_t)(u8() << (u8() & 8));
		break;
	case 5:
		iov.iov_len = u8() * 8;		/* 0 is one of them */
		break;
	case 6:
		iov.iov_len = sizeof m.q + 1 + u8() % 8;
		break;
	case 7:
		i = u8() * 8u;
		m.q.u.raw[i < sizeof m.q.u.raw ? i : 0] ^= (uint8_t)u8();
		break;
	case 8:
		m.q.u.raw[sizeof m.q.u.raw - 1] = 1;
		break;
	case 9:
		for (i = 0; i < 8; i++)
			m.q.u.raw[u8()] = (uint8_t)u8();
		break;
	default:
		break;
	}
	s.n = bl_req_fds(&m.q) + (fds & 128 ? (fds & 15) - 8 : 0);
	s.n = s.n > 14 ? (fds & 15) % 15 : s.n;
	for (i = 0; i < s.n; i++) {
		s.kind[i] = fds & 64 ? (enum kind)(u8() % K_MAX) :
		    kind_due(&m.q, i);
		if ((fds & 32) && (fds & 7) == i)
			s.kind[i] = (enum kind)(u8() % K_MAX);
		fd[i] = give(s.kind[i], &own[i]);
		paths |= s.kind[i] == K_O_PATH || s.kind[i] == K_O_PATH_PIPE;
		if (!own[i] && s.kind[i] >= K_POOL)
			s.kind[i] = K_ALONE;
	}
	if (s.n > 0) {
		memset(&c, 0, sizeof c);
		c.h = (struct cmsghdr){ CMSG_LEN(s.n * sizeof *fd), SOL_SOCKET,
		    SCM_RIGHTS };
		memcpy(CMSG_DATA(&c.h), fd, s.n * sizeof *fd);
		h.msg_control = &c;
		h.msg_controllen = CMSG_SPACE(s.n * sizeof *fd);
	}
	s.q = m.q;
	s.how = iov.iov_len == 0 && s.n == 0 ? -1 :
	    iov.iov_len == sizeof m.q && bl_req_check(&m.q) == 0 &&
	    bl_req_fds(&m.q) == s.n;
	if (sendmsg(sock, &h, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		s.how = -2;
	for (i = 0; i < s.n; i++)
		if (own[i])
			(void)close(fd[i]);
	return s;
}

/* One reply: 1 with it, its descriptors closed and counted; 0 none; -1 end. */
static int
reply(int sock, struct bl_rep *p, unsigned *nfds)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(8 * sizeof(int))]; } c;
	struct { struct bl_rep p; char more; } m;
	struct iovec iov = { &m, sizeof m };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = &c, .msg_controllen = sizeof c };
	ssize_t n = recvmsg(sock, &h, MSG_DONTWAIT);
	unsigned i;
	int fd;

	*nfds = 0;
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : -1;
	MUST(n == sizeof m.p && (h.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) == 0);
	if (CMSG_FIRSTHDR(&h) != NULL) {
		*nfds = (unsigned)((c.h.cmsg_len - CMSG_LEN(0)) / sizeof fd);
		for (i = 0; i < *nfds; i++) {
			memcpy(&fd, CMSG_DATA(&c.h) + i * sizeof fd, sizeof fd);
			(void)close(fd);
		}
	}
	*p = m.p;
	MUST(bl_rep_check(p) == 0);
	return 1;
}

/* --- both worlds: time, ids, the way out -------------------------------- */

static jmp_buf out;
static enum { SESSION, CELL } mode;
static uint64_t now;
static uint32_t uids[3], gids[3], groups;
static int peer;			/* our end: the client's */
static int peer_open, bad, gone, maybe;	/* what the client did so far */

static _Noreturn void
fake_exit(int code)
{
	longjmp(out, DIED + code);
}

static int
fake_clock_gettime(clockid_t id, struct timespec *t)
{
	MUST(id == CLOCK_MONOTONIC);
	t->tv_sec = (time_t)(now / 1000000000u);
	t->tv_nsec = (long)(now % 1000000000u);
	return 0;
}

static int
fake_setgroups(size_t n, const gid_t *g)
{
	(void)g;
	groups = (uint32_t)n;
	return uids[1] == 0 ? 0 : -1;
}

static int
set_three(uint32_t id[3], uint32_t a, uint32_t b, uint32_t c)
{
	if (uids[1] != 0)
		return -1;
	id[0] = a;
	id[1] = b;
	id[2] = c;
	return 0;
}

static int
fake_setresuid(uid_t a, uid_t b, uid_t c)
{
	return set_three(uids, a, b, c);
}

static int
fake_setresgid(gid_t a, gid_t b, gid_t c)
{
	return set_three(gids, a, b, c);
}

static int
fake_getresuid(uid_t *a, uid_t *b, uid_t *c)
{
	*a = uids[0];
	*b = uids[1];
	*c = uids[2];
	return 0;
}

static int
fake_getresgid(gid_t *a, gid_t *b, gid_t *c)
{
	*a = gids[0];
	*b = gids[1];
	*c = gids[2];
	return 0;
}

static int
fake_getgroups(int n, gid_t *g)
{
	(void)n;
	(void)g;
	return (int)groups;
}

/* --- the session's world ------------------------------------------------ */

static int session_fd, locks_fd, owner_fds[2];
static int hello, due_kind, child_of_clone;
static uint32_t due_seq;
static uint8_t lock[SLOTS];		/* 1 ours, 2 another helper's */
static struct { int pidfd, dead; uint32_t uid; } cell[CELLS];
static struct bl_rules rules;
static struct session *session;

static unsigned
cells_live(void)
{
	unsigned i, n = 0;

	for (i = 0; i < CELLS; i++)
		n += cell[i].pidfd >= 0;
	return n;
}

static unsigned
cell_of(int pidfd)
{
	unsigned i;

	for (i = 0; i < CELLS; i++)
		if (cell[i].pidfd == pidfd)
			return i;
	MUST(!"a descriptor of no cell");
	return 0;
}

static int
fake_socketpair(int domain, int type, int proto, int sv[2])
{
	if (u8() == 1)
		return errno = EMFILE, -1;
	MUST(socketpair(domain, type, proto, sv) == 0);
	memcpy(owner_fds, sv, sizeof owner_fds);
	return 0;
}

/* The log's: nobody listens, and the helper has it open all the time. */
static int
fake_connect(int fd, const void *to, socklen_t n)
{
	const struct sockaddr_un *at = to;

	MUST(n == sizeof *at && strcmp(at->sun_path, "/run/bailiff/audit") == 0);
	audit = keep(fd);
	return errno = ECONNREFUSED, -1;
}

/* Cell init's word, in all the ways in which it can come or not come. */
static void
report(unsigned how)
{
	struct bl_rep p = wire_reply(BL_OP_CELL, 0);
	int fd[2] = { never, never };

	if (how % 8 == 1)		/* silent; fake_poll lets it time out */
		return;
	if (how % 8 == 2)
		(void)wire_fail(&p, BL_AT_VIEW, how, EPERM);
	if (how % 8 == 3)
		MUST(send(owner_fds[1], &p, 5, 0) == 5);
	else
		MUST(wire_send(owner_fds[1], &p, fd, how % 8 == 4 ? 2 :
		    how % 8 != 5 && p.status == 0) == 0);
}

static unsigned cloned;		/* how: its network follows, or does not */

static int
clone3(const struct clone_args *a)
{
	unsigned how = u8(), i;
	int fd;

	cloned = how;
	MUST(hello && !bad);			/* never CELL before HELLO */
	MUST((a->flags & CLONE_NEWUSER) == 0 && (a->flags & CLONE_NEWPID));
	MUST((a->flags & CLONE_NEWNET) == 0);	/* init joins its own later */
	if (a->flags & CLONE_INTO_CGROUP)
		MUST(fcntl((int)a->cgroup, F_GETFD) >= 0);
	if (how == 1)
		return errno = EPERM, -1;
	fd = dup(never);
	if (how == 2) {		/* clone3(2) stores it before it can still fail */
		(void)close(fd);
		*(int *)(uintptr_t)a->pidfd = fd;
		return errno = EAGAIN, -1;
	}
	if (how == 3)
		return child_of_clone = 1, (void)close(fd), 0;
	for (i = 0; i < CELLS && cell[i].pidfd >= 0; i++)
		;
	MUST(i < SLOTS + 1);
	cell[i].pidfd = *(int *)(uintptr_t)a->pidfd = fd;
	cell[i].dead = 0;
	report(how);
	return 1000 + (int)i;
}

/* The network of the cell that was cloned last. */
static int
unshare_network(unsigned long flags)
{
	MUST(flags == CLONE_NEWNET);
	MUST(!(session->server.q.u.cell.flags & BL_CELL_HOST_NET));
	return cloned == 14 ? (errno = ENOSPC, -1) : 0;
}

static int
fake_ioctl(int fd, unsigned long what, ...)
{
	const struct ifreq *q;
	va_list ap;

	MUST(fcntl(fd, F_GETFD) >= 0);
	if (what == SIOCGSKNS)
		return dup(never);		/* where the helper comes from */
	MUST(what == SIOCSIFFLAGS);
	va_start(ap, what);
	q = va_arg(ap, const struct ifreq *);
	va_end(ap);
	MUST(strcmp(q->ifr_name, "lo") == 0 && (q->ifr_flags & IFF_UP));
	return cloned == 15 ? (errno = ENODEV, -1) : 0;
}

static long
fake_syscall(long n, ...)
{
	va_list ap;
	long r = 0, fd;

	va_start(ap, n);
	if (n == SYS_pidfd_open)
		r = u8() == 1 ? (errno = EMFILE, -1) : dup(never);
	else if (n == SYS_clone3)
		r = clone3(va_arg(ap, const struct clone_args *));
	else if (n == SYS_setns)
		r = cloned == 22 ? (errno = EBADF, -1) : 0;
	else if (n == SYS_unshare)
		r = unshare_network(va_arg(ap, unsigned long));
	else if (n == SYS_pidfd_send_signal) {
		fd = va_arg(ap, int);
		if (fd >= 0)
			cell[cell_of((int)fd)].dead = 1;
	} else
		MUST(!"a call that has no fake");
	va_end(ap);
	return r;
}

static int
fake_waitid(idtype_t t, id_t fd, siginfo_t *si, int flags)
{
	unsigned i = cell_of((int)fd);

	(void)si;
	MUST(t == P_PIDFD && (flags & WEXITED) && cell[i].dead);
	cell[i].pidfd = -1;
	return 0;
}

static pid_t
fake_waitpid(pid_t pid, int *st, int flags)
{
	unsigned i = (unsigned)pid - 1000;

	(void)st;
	MUST(flags == 0 && i < CELLS && cell[i].pidfd >= 0 && cell[i].dead);
	cell[i].pidfd = -1;
	return pid;
}

static int
fake_getpriority(__priority_which_t which, id_t who)
{
	MUST(which == PRIO_USER && who >= BASE + FIRST &&
	    who < BASE + FIRST + SLOTS);
	if (u8() == 1)
		return 0;		/* somebody lives */
	return errno = ESRCH, -1;
}

static int
fake_fcntl(int fd, int cmd, ...)
{
	struct flock *l;
	unsigned slot;
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (cmd != F_OFD_SETLK)
		return fcntl(fd, cmd, arg);
	l = (struct flock *)arg;
	if (l->l_start >= 1LL << 31)	/* the session's own */
		return 0;
	slot = (unsigned)l->l_start - BASE - FIRST;
	MUST(fd == locks_fd && slot < SLOTS && l->l_len == 1 && l->l_pid == 0);
	if (l->l_type == F_UNLCK) {
		MUST(lock[slot] == 1);
		lock[slot] = 0;
		return 0;
	}
	MUST(l->l_type == F_WRLCK && lock[slot] != 1);
	if (lock[slot] == 2)
		return errno = EAGAIN, -1;
	lock[slot] = 1;
	return 0;
}

/* The client reads what is due, and nothing else. */
static void
session_read(int last)
{
	struct bl_rep p;
	unsigned n;

	if (peer_open && due_kind != 0) {
		MUST(reply(peer, &p, &n) == 1);
		MUST(p.kind == due_kind && p.seq == due_seq);
		MUST(n == (p.kind == BL_OP_CELL && p.status == 0 ? 2 : 0));
		if (n == 2)
			MUST(p.u.cell.uid - BASE - FIRST < SLOTS);
	}
	if (peer_open && last && bad)
		MUST(reply(peer, &p, &n) == 1 && p.step == BL_AT_WIRE &&
		    n == 0 && p.status == -EPROTO);
	if (peer_open && due_kind != 0)
		MUST(reply(peer, &p, &n) <= 0);
	due_kind = 0;
}

static void
session_send(unsigned op)
{
	struct sent s = datagram(peer, op);
	int legal = s.how == 1 && s.q.op <= BL_OP_BYE &&
	    (s.q.op == BL_OP_HELLO) == !hello;

	if (s.how == -2)
		return;
	gone |= s.how == -1 || (legal && s.q.op == BL_OP_BYE);
	bad |= s.how >= 0 && !legal;
	due_kind = legal && s.q.op != BL_OP_BYE ? s.q.op : 0;
	due_seq = s.q.seq;
	hello |= legal && s.q.op == BL_OP_HELLO;
}

/* The session waits: whatever the input says comes next. */
static int
session_turn(struct pollfd *p, unsigned n)
{
	static const uint8_t common[] = { BL_OP_HELLO, BL_OP_CELL, BL_OP_CELL,
	    BL_OP_PATH };
	unsigned i, locked = 0, what = u8();

	MUST(!bad && !gone && peer_open);	/* either is the end */
	MUST(session->server.b.n == 0);
	session_read(0);
	for (i = 0; i < SLOTS; i++)
		locked += lock[i] == 1;
	MUST(locked == cells_live());
	if (in == in_end) {
		lose(peer);
		peer_open = 0;
	} else if (what < 4)
		session_send(common[what]);
	else if (what < 24)
		session_send(what - 4);
	else if (what < 28)
		cell[what - 24].dead = 1;
	else if (what < 31)
		lock[what - 28] ^= lock[what - 28] == 1 ? 0 : 2;
	else if (what == 31)
		return errno = EINTR, -1;
	else if (what == 32) {
		lose(peer);
		peer_open = 0;
	} else if (what == 33) {
		p[n - 1].revents = POLLIN;	/* for nothing */
		return 1;
	}
	for (i = 0; i + 1 < n; i++)
		if (p[i].fd >= 0 && cell[cell_of(p[i].fd)].dead)
			p[i].revents = POLLIN;
	return poll(p + n - 1, 1, 0) + 1;
}

/* --- the cell's world --------------------------------------------------- */

static struct loop *loop_now;
static struct launch launch;
static struct { int main, status, left, gone; } proc;	/* main 2: ended */
static struct pair *running;
static uint64_t turned;		/* the clock when the loop last looked at it */
static int went, helper_gone, forked;
static const struct pair *was[GUESTS_MAX];
static unsigned writers;

/* signalfd(2) in loop_run, where l is: what a new process would find zero. */
static int
fresh(struct loop *l)
{
	l->waits = 0;
	l->next.n = 0;
	l->owner.b.n = 0;
	l->numbers = 0;
	memset(&l->run, 0, sizeof l->run);
	loop_now = l;
	return never;
}

/* By the kernel's word and not the helper's: what the role may be given. */
static int
is_stream(int fd, int input)
{
	struct stat st;
	struct statfs fs;
	int f = fcntl(fd, F_GETFL);

	MUST(f >= 0 && fstat(fd, &st) == 0 && fstatfs(fd, &fs) == 0);
	return (f & O_PATH) == 0 &&
	    (f & O_ACCMODE) != (input ? O_WRONLY : O_RDONLY) &&
	    ((S_ISFIFO(st.st_mode) && fs.f_type == 0x50495045) ||
	    (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)));
}

static pid_t
fake_fork(struct loop *l, const struct fdbag *b)
{
	unsigned how = u8(), i;

	MUST(went && l->owner.state == ST_READY);	/* nothing before GO */
	MUST(proc.main == 0 && proc.left == 0 && proc.gone == 0);
	MUST((b->n == 5 || b->n == 6) && b->fd[4] == -1 && l->run.reply >= 0);
	MUST(now < l->cell->req.deadline_ns);
	for (i = 1; i < b->n; i++)
		MUST(i == 4 || is_stream(b->fd[i], i == 1));
	running = pair_of(cookie_of(l->run.reply));
	if (how == 1)
		return errno = EAGAIN, -1;
	if (how == 2)
		return forked = 1, 0;
	proc.main = 1;
	return 77;
}

static int
fake_kill(pid_t pid, int sig)
{
	if (sig == SIGCHLD) {		/* to itself: look again next turn */
		MUST(pid == getpid());
		return 0;
	}
	MUST(pid == -1 && sig == SIGKILL);
	if (proc.main == 1) {
		proc.main = 2;
		proc.status = SIGKILL;
	}
	proc.gone += proc.left;
	proc.left = 0;
	return 0;
}

static pid_t
fake_wait4(pid_t pid, int *st, int flags, struct rusage *u)
{
	MUST(pid == -1 || (pid == 77 && proc.main != 0 && flags == WNOHANG));
	memset(u, 0, sizeof *u);
	u->ru_maxrss = 100;
	u->ru_utime.tv_sec = now % 3 == 0;
	if (proc.main == 2) {
		*st = proc.status;
		return proc.main = 0, 77;
	}
	if (pid == 77)
		return 0;
	if (proc.gone > 0)
		return *st = 0, 100 + proc.gone--;
	if (proc.main == 0 && proc.left == 0)
		return errno = ECHILD, -1;
	MUST(flags == WNOHANG);		/* would wait for one that lives */
	return 0;
}

static int
fake_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags)
{
	struct sockaddr_un from;
	socklen_t size = sizeof from;
	unsigned i;
	int new;

	MUST((fcntl(fd, F_GETFL) & O_NONBLOCK) && (flags & SOCK_CLOEXEC));
	new = accept4(fd, a, n, flags);
	if (new < 0)
		return new;
	MUST(getpeername(new, (void *)&from, &size) == 0);
	for (i = 0; i < npairs; i++)
		if (pair[i].guest == 2 &&
		    memcmp(pair[i].name, from.sun_path, 6) == 0)
			pair[i].cookie = cookie_of(new);
	return new;
}

static ssize_t
fake_read(int fd, void *buf, size_t n)
{
	MUST(fd == never && n == sizeof(struct signalfd_siginfo));
	memset(buf, 0, n);
	return (ssize_t)n;
}

static void *
fake_mmap(void)
{
	return &launch;
}

/* Ours and the cell's together are all there is; nobody vanished unasked. */
static void
cell_look(const struct loop *l)
{
	int more[NFD];
	unsigned n = 0, i, nfds;
	struct bl_rep p;
	int r;

	MUST(l->owner.b.n == 0 && l->next.n <= BL_FDS_MAX);
	MUST(l->waits == 0 || l->waits == 1);
	more[n++] = l->owner.sock;
	for (i = 0; i < GUESTS_MAX; i++) {
		const struct guest *g = &l->guest[i];
		const struct pair *is = NULL;

		if (g->sock >= 0) {
			more[n++] = g->sock;
			more[n++] = g->report;
			is = g->listening ? NULL : pair_of(cookie_of(g->sock));
		}
		if (was[i] != NULL && was[i] != is)
			MUST(was[i]->bad || was[i]->fd < 0);
		if (is != NULL && is->bad && l->run.pid == 0 && !l->waits)
			MUST(recv(g->sock, &p, 1, MSG_PEEK | MSG_DONTWAIT) >= 0);
		was[i] = is;
	}
	if (l->run.pid != 0)
		more[n++] = l->run.reply;
	else
		MUST(proc.main == 0 && proc.left == 0 && proc.gone == 0);
	for (i = 0; l->waits && i < l->next.n; i++)
		more[n++] = l->next.fd[i];
	if (in == in_end)		/* what leaks is open to the end */
		must_be_open(more, n);
	for (i = 0; i < npairs; i++)
		while (pair[i].fd >= 0 &&
		    (r = reply(pair[i].fd, &p, &nfds)) == 1) {
			MUST(p.kind == BL_EV_FAIL || p.kind == BL_EV_EXIT);
			pair[i].words++;
		}
	if (running != NULL && l->run.pid == 0) {	/* it had its last word */
		MUST(running->fd < 0 || running->wrote || running->words > 0);
		running = NULL;
	}
}

static void
owner_send(unsigned op)
{
	struct sent s;
	unsigned i, used = 0;
	int legal;

	if (bad || gone || !peer_open)		/* a bad one was the last */
		return;
	s = datagram(peer, op);
	legal = s.how == 1 && s.q.op >= BL_OP_GO &&
	    (s.q.op == BL_OP_GO) == !went;
	if (s.how == -2)
		return;
	for (i = 0; i < GUESTS_MAX; i++)
		used += loop_now->guest[i].sock >= 0;
	if (legal && (s.q.op == BL_OP_ATTACH || s.q.op == BL_OP_LISTEN)) {
		legal = (s.q.op == BL_OP_LISTEN ? s.kind[0] == K_LISTENER :
		    s.kind[0] >= K_POOL || s.kind[0] == K_ALONE) &&
		    (s.kind[1] >= K_POOL || s.kind[1] == K_ALONE);
		writers++;
		maybe |= used + writers + naccept >= GUESTS_MAX;
	}
	gone |= s.how == -1;
	bad |= s.how >= 0 && !legal;
	went |= legal && s.q.op == BL_OP_GO;
}

static void
guest_send(unsigned which, unsigned op)
{
	unsigned i, n = 0;
	struct pair *g = NULL;
	struct sent s;

	for (i = 0; i < npairs; i++)
		n += pair[i].guest && pair[i].fd >= 0 && !pair[i].bad;
	if (n == 0)
		return;
	for (i = 0, n = which % n; g == NULL; i++)
		if (pair[i].guest && pair[i].fd >= 0 && !pair[i].bad && n-- == 0)
			g = &pair[i];
	if (op == BL_OP_NONE) {
		lose(g->fd);
		g->fd = -1;
		return;
	}
	s = datagram(g->fd, op);
	g->wrote = 1;		/* unread at a close, it takes replies along */
	if (s.how != -2)
		g->bad = s.how != 1 || s.q.op != BL_OP_SPAWN;
}

static void
connect_one(void)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	socklen_t size = sizeof own;
	int fd;

	if (npairs == PAIRS)
		return;
	fd = keep(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0));
	MUST(bind(fd, (void *)&own, sizeof own.sun_family) == 0 &&
	    getsockname(fd, (void *)&own, &size) == 0);
	if (connect(fd, (void *)&address, address_size) != 0) {
		lose(fd);
		return;
	}
	naccept++;
	pair[npairs] = (struct pair){ .fd = fd, .guest = 2 };
	memcpy(pair[npairs++].name, own.sun_path, 6);	/* autobind: NUL, 5 */
}

/* Somebody else's turn. */
static void
cell_event(unsigned what, int *signal)
{
	static const uint8_t common[] = { BL_OP_SPAWN, BL_OP_SPAWN,
	    BL_OP_ATTACH, BL_OP_LISTEN };
	unsigned i;

	if (what < 4)
		owner_send(common[what]);
	else if (what < 24)
		owner_send(what - 4);
	else if (what < 32)
		guest_send(what, BL_OP_SPAWN);
	else if (what < 48)
		guest_send(u8(), what - 32);
	else if (what < 56)
		connect_one();
	else if (what < 64 && proc.main == 1) {
		proc.main = 2;
		proc.status = (int)u8() << (what & 8);
		proc.status &= 0x7f7f;
		launch.ready = what & 1;
		launch.step = what & 2 ? BL_AT_EXEC : 0;
		launch.status = -ENOENT;
		*signal = 1;
	} else if (what < 72 && proc.main == 1)
		proc.left += 2;
	else if (what < 80 && proc.left > 0) {
		proc.left--;
		proc.gone++;
		*signal = 1;
	} else if (what < 88)
		now += 1ull << (u8() % 44);
	else if (what < 96) {
		for (i = 0; i < npairs; i++)
			if (!pair[i].guest && pair[i].fd >= 0 &&
			    i % 8 == what - 88) {
				lose(pair[i].fd);
				pair[i].fd = -1;
			}
	} else if (what == 96)
		*signal = 1;			/* of nobody */
	else if (what == 97)
		helper_gone = 1;
}

static int
cell_turn(struct pollfd *p, unsigned n)
{
	struct loop *l = loop_now;
	unsigned what = u8();
	int signal = 0;
	char c;

	cell_look(l);
	/* what ran out of time by then is stopped */
	MUST(l->run.pid == 0 || l->run.stopped || l->run.end_ns > turned);
	MUST(!helper_gone && peer_open);
	if ((bad || gone) && !l->waits)		/* it was read; so it is over */
		MUST(recv(l->owner.sock, &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0);
	if (in == in_end) {
		lose(peer);
		peer_open = 0;
	} else if (what == 98)
		return errno = EINTR, -1;
	else
		cell_event(what, &signal);
	/* libFuzzer's own clock is a signal */
	while (poll(p, n, 0) < 0)
		MUST(errno == EINTR);
	p[1].revents = helper_gone ? POLLIN : 0;
	p[2].revents = signal ? POLLIN : 0;
	turned = now;
	return 1;
}

static int
fake_poll(struct pollfd *p, nfds_t n, int timeout)
{
	/* 2000: as long as its timer is armed */
	if ((timeout < 0 || timeout == 2000) && mode == SESSION)
		return session_turn(p, (unsigned)n);
	if (n == GUESTS_MAX + 4) {
		const struct spawn *s = &loop_now->run;

		/* a cell looks at its own end, and at its spawn's */
		MUST(timeout >= 0 && timeout <= 60000);
		MUST(s->pid == 0 || s->stopped || s->end_ns <= now ||
		    (uint64_t)timeout <= (s->end_ns - now) / 1000000 + 1);
		return cell_turn(p, (unsigned)n);
	}
	if (timeout == 10000 && mode == SESSION && p->fd != owner_fds[0]) {
		MUST(cell[cell_of(p->fd)].dead);
		return p->revents = POLLIN, 1;
	}
	return poll(p, n, 0);
}

/* --- what of the helper is not here ------------------------------------- */

void
start_caller(int argc, struct bl_rep_hello *h)
{
	MUST(argc == 1);
	*h = (struct bl_rep_hello){ .way = BL_WAY_ROOT };
}

void
start_clean(void)
{
}

void
start_root(void)
{
}

void
seal_helper(void)
{
}

void
load_rules(struct session *s)
{
	rules.uid_base = BASE;
	rules.uid_count = 100;
	s->rules = &rules;
	s->quota = (struct bl_caller){ .slot_first = FIRST, .slots = SLOTS,
	    .memory_max = 1 << 30, .disk_max = 1 << 20, .fsize_max = 1 << 20,
	    .wall_ms_max = 60000, .pids_max = 100, .nofile_max = 100 };
	session = s;
}

int
load_walk(const char *const *parts, int make)
{
	(void)parts;
	(void)make;
	return dup(never);
}

int
load_sound(int fd, unsigned mask)
{
	(void)mask;
	return locks_fd = keep(fd);
}

static int
fake_openat(void)
{
	return dup(never);
}

int
view_show(int dir)
{
	MUST(fcntl(dir, F_GETFD) >= 0);
	return u8() == 1 ? -EPERM : dup(never);
}

void
cell_main(struct cell *c)
{
	unsigned i;

	MUST(child_of_clone && hello && lock[c->uid - BASE - FIRST] == 1);
	MUST(c->binds.n <= BL_PLACES_MAX && c->locks == locks_fd);
	for (i = 0; i < c->binds.n; i++)
		MUST(fcntl(c->binds.fd[i], F_GETFD) >= 0);
	longjmp(out, CHILD);
}

void
spec_run(struct loop *l, struct fdbag *b)
{
	unsigned i;

	MUST(forked && groups == 0 && (b->n == 5 || b->n == 6));
	for (i = 0; i < 3; i++)
		MUST(uids[i] == l->cell->uid && gids[i] == l->cell->uid);
	longjmp(out, CHILD);
}

/* --- the helper --------------------------------------------------------- */

#pragma clang attribute pop

#define _exit fake_exit
#define fork() fake_fork(l, b)
#define kill fake_kill
#define wait4 fake_wait4
#define waitpid fake_waitpid
#define waitid fake_waitid
#define poll fake_poll
#define syscall fake_syscall
#define ioctl fake_ioctl
#define fcntl fake_fcntl
#define openat(...) fake_openat()
#define socketpair fake_socketpair
#define accept4 fake_accept4
#define connect fake_connect
#define read fake_read
#define getpriority fake_getpriority
#define clock_gettime fake_clock_gettime
#define signalfd(...) fresh(l)
#define sigprocmask(...) 0
#define mmap(...) fake_mmap()
#define setgroups fake_setgroups
#define setresuid fake_setresuid
#define setresgid fake_setresgid
#define getresuid fake_getresuid
#define getresgid fake_getresgid
#define getgroups fake_getgroups
#define BL_SESSION_FD session_fd
#define main helper_main

int helper_main(int argc, char **argv);
#include "../../helper/wire.c"
#include "../../helper/slot.c"
#include "../../helper/op_cell.c"
#include "../../helper/main.c"
#include "../../helper/spawn.c"
#include "../../helper/loop.c"

#undef main
#undef poll
#undef fcntl
#undef socketpair
#undef accept4

/* --- one iteration ------------------------------------------------------ */

static void
begin(void)
{
	unsigned i;

	table(base);			/* the fuzzer's own come and go */
	paths = 0;
	npairs = naccept = writers = 0;
	bad = gone = maybe = hello = went = helper_gone = forked = 0;
	child_of_clone = due_kind = 0;
	memset(uids, 0, sizeof uids);
	memset(gids, 0, sizeof gids);
	memset(lock, 0, sizeof lock);
	memset(was, 0, sizeof was);
	memset(&proc, 0, sizeof proc);
	groups = 0;
	running = NULL;
	now = 1000000000;
	for (i = 0; i < CELLS; i++)
		cell[i].pidfd = -1;
}

static void
session_try(void)
{
	int sv[2], how;
	unsigned i;

	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv) == 0);
	peer = keep(sv[0]);
	session_fd = keep(sv[1]);
	peer_open = 1;
	how = setjmp(out);
	if (how == 0) {
		MUST(helper_main(1, NULL) == 0);
		how = RETURNED;
	}
	lose(audit);
	if (how == CHILD)
		return;			/* another process: it had its checks */
	session_read(1);
	MUST(how == (bad ? DIED + BL_AT_WIRE : RETURNED));
	must_be_open(NULL, 0);
	MUST(cells_live() == 0);
	for (i = 0; i < SLOTS; i++)
		MUST(lock[i] != 1);
}

static void
cell_try(void)
{
	static const uint64_t late = 3600000000000;	/* an hour */
	static struct cell c;
	int sv[2], how;

	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv) == 0);
	peer = keep(sv[0]);
	peer_open = 1;
	c = (struct cell){ .uid = BASE + FIRST, .owner = sv[1],
	    .helper = never };
	c.req.deadline_ns = 61000000000;
	c.req.limits.cpu_ms = u8() * 10;
	how = setjmp(out);
	if (how == 0)
		loop_run(&c);
	if (how == CHILD)
		return;
	MUST(how == DIED + BL_AT_WIRE || how == DIED + BL_AT_GONE);
	MUST(bad || gone || maybe || helper_gone || !peer_open ||
	    (how == DIED + BL_AT_GONE && now >= c.req.deadline_ns + late));
}

static void
end(void)
{
	uint8_t open[NFD];
	int i;

	table(open);			/* it closed nothing of anybody else's */
	for (i = 0; i < NFD; i++)
		MUST(open[i] || !(base[i] | ours[i]));
	if (naccept > 0) {
		(void)fcntl(pool[K_LISTENER], F_SETFL, O_NONBLOCK);
		while ((i = accept4(pool[K_LISTENER], NULL, NULL, 0)) >= 0)
			(void)close(i);
	}
	if (writers > 0)
		(void)fcntl(pool[K_LISTENER], F_SETFL, 0);
	for (i = 0; i < NFD; i++)
		if (open[i] && !base[i])
			(void)close(i);
	memset(ours, 0, sizeof ours);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int ready;

	if (size < 1)
		return 0;
	if (!ready++)
		pool_make();
	in = data + 1;
	in_end = data + size;
	mode = data[0] & 1 ? CELL : SESSION;
	begin();
	if (mode == CELL)
		cell_try();
	else
		session_try();
	end();
	return 0;
}

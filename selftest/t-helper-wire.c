/* What comes on a socket, and all of it that is refused: no descriptor stays. */
/* link: -Wl,--wrap=recvmsg,--wrap=sendmsg,--wrap=fstat,--wrap=getpriority */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#include "../policy/reply.h"
#include "../helper/ops.h"
#include "../helper/sys.h"
#include "tap.h"

/* The session's table is in the program's file; CELL has its own test. */
static int
no_cell(struct server *s)
{
	(void)s;
	return 0;
}

#define op_cell no_cell
#define main helper_main
int helper_main(int argc, char **argv);
#include "../helper/main.c"
#undef main

/* --- the kernel's word, where a test has another one -------------------- */

static int recv_err, send_err, stat_lies, prio_err;
static struct stat lie;

ssize_t __real_recvmsg(int, struct msghdr *, int);
ssize_t __wrap_recvmsg(int, struct msghdr *, int);
ssize_t __real_sendmsg(int, const struct msghdr *, int);
ssize_t __wrap_sendmsg(int, const struct msghdr *, int);
int __real_fstat(int, struct stat *);
int __wrap_fstat(int, struct stat *);
int __wrap_getpriority(__priority_which_t, id_t);

ssize_t
__wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	if (recv_err != 0)
		return errno = recv_err, -1;
	return __real_recvmsg(fd, m, flags);
}

ssize_t
__wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	if (send_err != 0)
		return errno = send_err, -1;
	return __real_sendmsg(fd, m, flags);
}

/* The type is the file's own; owner and rights are the lie's. */
int
__wrap_fstat(int fd, struct stat *st)
{
	int r = __real_fstat(fd, st);

	if (stat_lies && r == 0) {
		st->st_uid = lie.st_uid;
		st->st_mode = (st->st_mode & S_IFMT) | lie.st_mode;
	}
	return r;
}

int
__wrap_getpriority(__priority_which_t which, id_t who)
{
	(void)which;
	(void)who;
	return prio_err == 0 ? 0 : (errno = prio_err, -1);
}

/* --- help --------------------------------------------------------------- */

static unsigned
fds_open(void)
{
	unsigned n = 0;
	int i;

	for (i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

static void
pair_make(int sv[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		abort();
}

static void
pair_end(int sv[2])
{
	(void)close(sv[0]);
	(void)close(sv[1]);
}

/* size bytes with n copies of fd, in lists lists. */
static void
put(int sock, const void *buf, size_t size, int fd, unsigned n, unsigned lists)
{
	static union { struct cmsghdr h; char raw[1024]; } c;
	struct iovec iov = { (void *)(uintptr_t)buf, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *h;
	unsigned i, j;

	memset(&c, 0, sizeof c);
	if (n > 0) {
		m.msg_control = &c;
		m.msg_controllen = lists * CMSG_SPACE(n * sizeof fd);
		h = CMSG_FIRSTHDR(&m);
		for (j = 0; j < lists; j++, h = CMSG_NXTHDR(&m, h)) {
			h->cmsg_len = CMSG_LEN(n * sizeof fd);
			h->cmsg_level = SOL_SOCKET;
			h->cmsg_type = SCM_RIGHTS;
			for (i = 0; i < n; i++)
				memcpy(CMSG_DATA(h) + i * sizeof fd, &fd,
				    sizeof fd);
		}
	}
	if (__real_sendmsg(sock, &m, MSG_NOSIGNAL) != (ssize_t)size)
		abort();
}

static struct bl_req
req(unsigned op)
{
	struct bl_req q = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .op = (uint16_t)op, .seq = 7 };

	if (op == BL_OP_CELL)
		q.u.cell.role = BL_ROLE_ANSWER;
	if (op == BL_OP_PATH)
		q.u.path[0] = '/';
	return q;
}

/* --- one datagram ------------------------------------------------------- */

/* What wire_recv makes of size bytes and n descriptors in lists; room: 1 KiB. */
static int
recv_case(size_t size, unsigned n, unsigned lists, int option)
{
	static char in[2048], outb[2048];
	struct fdbag b = { .n = 99 };
	int sv[2], one = 1, r;
	unsigned before;

	pair_make(sv);
	if (option != 0 &&
	    setsockopt(sv[1], SOL_SOCKET, option, &one, sizeof one) != 0) {
		pair_end(sv);
		return -ENOPROTOOPT;
	}
	before = fds_open();
	put(sv[0], outb, size, 0, n, lists);
	r = wire_recv(sv[1], in, 1024, &b);
	if (r == 1)
		is(b.n, n * lists, "%u descriptors are in the bag", n * lists);
	is(r == 1 ? before + b.n : before, fds_open(),
	    "%zu bytes, %u descriptors: none is elsewhere", size, n * lists);
	bag_drop(&b);
	is(b.n, 0, "an empty bag");
	pair_end(sv);
	return r;
}

static void
recv_tests(void)
{
	static const struct { size_t size; unsigned n, lists; int r; } row[] = {
		{ 1024, 0, 1, 1 }, { 1024, 1, 1, 1 },
		{ 1024, BL_FDS_MAX, 1, 1 }, { 1024, 3, 2, 1 },
		{ 1024, BL_FDS_MAX + 1, 1, -EPROTO },
		{ 1024, BL_FDS_MAX + 2, 1, -EPROTO },
		{ 1024, 100, 1, -EPROTO }, { 1024, 7, 2, -EPROTO },
		{ 1023, 0, 1, -EPROTO }, { 1025, 0, 1, -EPROTO },
		{ 1023, 2, 1, -EPROTO }, { 1025, 2, 1, -EPROTO },
		{ 0, 0, 1, 0 }, { 0, 1, 1, -EPROTO }, { 1, 12, 1, -EPROTO },
	};
	/* for our end, by whoever made it: SO_PASSPIDFD is 76 */
	static const struct { int option; const char *name; } more[] = {
		{ SO_PASSCRED, "credentials" }, { 76, "SCM_PIDFD" },
		{ SO_TIMESTAMP, "a time" }, { SO_PASSSEC, "a label" },
	};
	unsigned i, n;

	for (i = 0; i < COUNT(row); i++)
		is(recv_case(row[i].size, row[i].n, row[i].lists, 0), row[i].r,
		    "%zu bytes for 1024, %u lists of %u", row[i].size,
		    row[i].lists, row[i].n);
	for (i = 0; i < COUNT(more); i++)
		for (n = 0; n <= BL_FDS_MAX; n += 3) {
			int r = recv_case(1024, n, 1, more[i].option);

			if (r == -ENOPROTOOPT)
				skip("not in this kernel", "%s", more[i].name);
			else if (more[i].option == SO_PASSSEC && r == 1)
				skip("no labels here", "%s", more[i].name);
			else
				is(r, -EPROTO, "%s and %u descriptors",
				    more[i].name, n);
		}
}

/* unix(7): what does not fit under RLIMIT_NOFILE is left out, and flagged. */
static void
recv_nofile(void)
{
	struct rlimit was, v;
	struct fdbag b = { .n = 0 };
	unsigned left, before;
	int sv[2], top;
	char c = 0;

	pair_make(sv);
	(void)getrlimit(RLIMIT_NOFILE, &was);
	top = fcntl(0, F_DUPFD, 0);
	(void)close(top);
	before = fds_open();
	for (left = 0; left <= 5; left++) {
		put(sv[0], &c, 1, 0, 5, 1);
		v = was;
		v.rlim_cur = (rlim_t)top + left;
		(void)setrlimit(RLIMIT_NOFILE, &v);
		is(wire_recv(sv[1], &c, 1, &b), left == 5 ? 1 : -EPROTO,
		    "five descriptors where %u fit", left);
		(void)setrlimit(RLIMIT_NOFILE, &was);
		is(fds_open(), before + (left == 5 ? 5 : 0), "and none stays");
		bag_drop(&b);
	}
	pair_end(sv);
}

static void
recv_ends(void)
{
	static const struct { int err, r; } row[] = { { EINTR, -EAGAIN },
	    { EAGAIN, -EAGAIN }, { ECONNRESET, 0 }, { EBADF, -EBADF },
	    { ENOMEM, -ENOMEM } };
	struct fdbag b = { .n = 5 };
	unsigned i;
	int sv[2];
	char c;

	pair_make(sv);
	is(wire_recv(sv[1], &c, 1, &b), -EAGAIN, "nothing there: no wait");
	is(b.n, 0, "and an empty bag");
	for (i = 0; i < COUNT(row); i++) {
		recv_err = row[i].err;
		b.n = 5;
		is(wire_recv(sv[1], &c, 1, &b), row[i].r, "recvmsg says %d",
		    row[i].err);
		is(b.n, 0, "the bag is empty");
	}
	recv_err = 0;
	(void)close(sv[0]);
	is(wire_recv(sv[1], &c, 1, &b), 0, "the peer is gone");
	(void)close(sv[1]);
	is(wire_recv(sv[1], &c, 1, &b), -EBADF, "no socket");
}

/* --- one request -------------------------------------------------------- */

static int
try_req(const struct bl_req *q, unsigned n)
{
	struct bl_req got;
	struct fdbag b = { .n = 0 };
	unsigned before;
	int sv[2], r;

	pair_make(sv);
	before = fds_open();
	put(sv[0], q, sizeof *q, 0, n, 1);
	r = wire_request(sv[1], &got, &b);
	bag_drop(&b);
	if (fds_open() != before)
		r = -EMFILE;
	pair_end(sv);
	return r;
}

static void
request_tests(void)
{
	unsigned op, n, i;
	struct bl_req q;

	for (op = 0; op < BL_OP_MAX + 3; op++) {
		static const uint8_t known[BL_OP_MAX] = { 0, 1, 1, 1, 1, 0, 0, 0,
		    1, 1, 1, 1, 1, 1, 1 };

		q = req(op);
		n = bl_req_fds(&q);
		if (op >= BL_OP_MAX || !known[op]) {
			is(try_req(&q, 0), -EPROTO, "op %u is not known", op);
			continue;
		}
		is(try_req(&q, n), 1, "op %u with its %u descriptors", op, n);
		is(try_req(&q, n + 1), -EPROTO, "op %u: one too many", op);
		if (n > 0)
			is(try_req(&q, n - 1), -EPROTO, "op %u: one too few", op);
		is(try_req(&q, BL_FDS_MAX + 1), -EPROTO, "op %u: a flood", op);
		q.magic++;
		is(try_req(&q, n), -EPROTO, "op %u: magic", op);
		q = req(op);
		q.version++;
		is(try_req(&q, n), -EPROTO, "op %u: version", op);
		q.version -= 2;
		is(try_req(&q, n), -EPROTO, "op %u: an older version", op);
		q = req(op);
		q.zero = 1;
		is(try_req(&q, n), -EPROTO, "op %u: padding of the head", op);
		for (i = 0; i < 2; i++) {
			q = req(op);
			q.u.raw[i == 0 ? sizeof q.u.raw - 1 :
			    op == BL_OP_CELL ? sizeof q.u.cell :
			    op == BL_OP_SPAWN ? sizeof q.u.spawn :
			    op == BL_OP_PATH ? BL_DST_MAX : 0] = 1;
			is(try_req(&q, n), -EPROTO, "op %u: tail, %u", op, i);
		}
	}
	q = req(BL_OP_SPAWN);
	q.u.spawn.flags = BL_SPAWN_RESULT;
	is(try_req(&q, 6), 1, "SPAWN with a result pipe");
	is(try_req(&q, 5), -EPROTO, "SPAWN that only says so");
	q.u.spawn.flags = 2;
	is(try_req(&q, 5), -EPROTO, "SPAWN: a flag of nobody");
	q = req(BL_OP_SPAWN);
	q.u.spawn.zero = 1;
	is(try_req(&q, 5), -EPROTO, "SPAWN: padding");
	q = req(BL_OP_CELL);
	q.u.cell.flags = BL_CELL_CGROUP;
	is(try_req(&q, 1), 1, "CELL with a control group");
	is(try_req(&q, 0), -EPROTO, "CELL that only says so");
}

/* --- the session's table ------------------------------------------------ */

/* What the session makes of op in that state: wire_serve's word. */
static int
serve(unsigned op, unsigned state, unsigned *then, struct bl_rep *p)
{
	struct session s = { .server = { .state = state } };
	struct bl_req q = req(op);
	unsigned n = bl_req_fds(&q), before;
	int sv[2], r;

	pair_make(sv);
	before = fds_open();
	s.server.sock = sv[1];
	s.hello.way = BL_WAY_ROOT;
	put(sv[0], &q, sizeof q, 0, n, 1);
	r = wire_serve(&s.server, ops);
	*then = s.server.state;
	if (recv(sv[0], p, sizeof *p, MSG_DONTWAIT) != sizeof *p)
		p->magic = 0;
	if (fds_open() != before)
		r = -EMFILE;
	pair_end(sv);
	return r;
}

static void
state_tests(void)
{
	static const struct { unsigned op, when, then; int replies; } row[] = {
		{ BL_OP_HELLO, ST_NEW, ST_READY, 1 },
		{ BL_OP_CELL, ST_READY, ST_READY, 0 },
		{ BL_OP_PATH, ST_READY, ST_READY, 1 },
		{ BL_OP_BYE, ST_READY, ST_DONE, 0 },
		{ BL_OP_GO, 0, 0, 0 }, { BL_OP_SPAWN, 0, 0, 0 },
		{ BL_OP_KILL, 0, 0, 0 }, { BL_OP_PAUSE, 0, 0, 0 },
		{ BL_OP_RESUME, 0, 0, 0 }, { BL_OP_ATTACH, 0, 0, 0 },
		{ BL_OP_LISTEN, 0, 0, 0 },
	};
	unsigned i, state, then;
	struct bl_rep p;

	for (i = 0; i < COUNT(row); i++)
		for (state = ST_NEW; state <= ST_DONE; state *= 2) {
			int fits = (row[i].when & state) != 0;
			int r = serve(row[i].op, state, &then, &p);

			is(r, fits ? 1 : -EPROTO, "session, state %u, op %u",
			    state, row[i].op);
			is(then, fits ? row[i].then : state, "and its state");
			is(p.magic != 0, fits && row[i].replies, "and a reply");
			if (p.magic != 0)
				is(bl_rep_check(&p), 0, "that is sound");
		}
	send_err = EAGAIN;
	is(serve(BL_OP_HELLO, ST_NEW, &then, &p), -EAGAIN,
	    "a client that does not read is the end");
	is(then, ST_NEW, "and its state stays");
	is(serve(BL_OP_PATH, ST_READY, &then, &p), -EAGAIN, "PATH too");
	send_err = 0;
}

/* --- what a socket is --------------------------------------------------- */

static void
ours_tests(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	static const struct { int domain, type, listens, fits; } row[] = {
		{ AF_UNIX, SOCK_SEQPACKET, 0, 1 },
		{ AF_UNIX, SOCK_SEQPACKET, 1, 1 },
		{ AF_UNIX, SOCK_STREAM, 0, 0 }, { AF_UNIX, SOCK_STREAM, 1, 0 },
		{ AF_UNIX, SOCK_DGRAM, 0, 0 }, { AF_INET, SOCK_STREAM, 0, 0 },
		{ AF_INET, SOCK_DGRAM, 0, 0 },
	};
	unsigned i;
	int fd, p[2];

	for (i = 0; i < COUNT(row); i++) {
		fd = socket(row[i].domain, row[i].type, 0);
		if (row[i].listens && (bind(fd, (void *)&a,
		    sizeof a.sun_family) != 0 || listen(fd, 1) != 0))
			abort();
		is(wire_is_ours(fd, 0), row[i].fits && !row[i].listens ? 0 :
		    -ENOTSOCK, "socket %u as one that talks", i);
		is(wire_is_ours(fd, 1), row[i].fits && row[i].listens ? 0 :
		    -ENOTSOCK, "socket %u as one that listens", i);
		(void)close(fd);
	}
	if (pipe(p) != 0)
		abort();
	is(wire_is_ours(p[0], 0), -ENOTSOCK, "a pipe");
	is(wire_is_ours(-1, 0), -ENOTSOCK, "nothing");
	pair_end(p);
}

/* --- root's files ------------------------------------------------------- */

static void
sound_tests(void)
{
	static const char *const tmp[] = { "tmp", NULL };
	static const char *const none[] = { "tmp", "bl none", "x", NULL };
	static const char *const file[] = { "dev", "null", NULL };
	static const char *const link[] = { "proc", "self", NULL };
	unsigned before = fds_open(), m;
	int fd;

	stat_lies = 1;
	for (m = 1; m <= 01000; m *= 2) {
		lie = (struct stat){ .st_uid = 0, .st_mode = m };
		fd = load_sound(open("/", O_PATH | O_CLOEXEC), 022);
		is(fd < 0, (m & 022) != 0, "root's, mode %o, mask 022", m);
		fd_drop(&fd);
		fd = load_sound(open("/", O_PATH | O_CLOEXEC), 077);
		is(fd < 0, (m & 077) != 0, "root's, mode %o, mask 077", m);
		fd_drop(&fd);
	}
	lie = (struct stat){ .st_uid = 1, .st_mode = 0700 };
	is(load_sound(open("/", O_PATH | O_CLOEXEC), 022), -EPERM, "not root's");
	is(load_walk(tmp, 0), -EPERM, "a folder above that is not root's");
	errno = ENOENT;
	is(load_sound(-1, 022), -ENOENT, "what did not open says why");
	lie = (struct stat){ .st_uid = 0, .st_mode = 0755 };
	fd = load_walk(tmp, 0);
	ok(fd, >=, 0, "a walk");
	fd_drop(&fd);
	is(load_walk(tmp, 1), -EPERM, "one of our own is root's alone");
	is(load_walk(none, 0), -ENOENT, "a part that is missing");
	is(load_walk(file, 0), -ENOTDIR, "a part that is a file");
	is(load_walk(link, 0), -ENOTDIR, "a part that is a link");
	stat_lies = 0;
	is(fds_open(), before, "no descriptor stays");
}

/* --- slots -------------------------------------------------------------- */

static int
take(struct session *s)
{
	uint32_t slot = 99;
	int r = slot_take(s, &slot);

	return r == 0 ? (int)slot : r;
}

static void
slot_tests(void)
{
	static struct bl_rules rules = { .uid_base = 1 << 20, .uid_count = 100 };
	static struct session s;
	char path[] = "/tmp/t-helper-wire.XXXXXX";
	struct flock other = { .l_type = F_WRLCK, .l_start = (1 << 20) + 5, .l_len = 1 };
	unsigned i;
	int fd2;

	s.rules = &rules;
	s.quota = (struct bl_caller){ .slot_first = 4, .slots = 3 };
	s.locks = mkstemp(path);
	fd2 = open(path, O_RDWR | O_CLOEXEC);
	(void)unlink(path);
	for (i = 0; i < BL_CELLS_MAX; i++)
		s.live[i].pidfd = -1;
	prio_err = ESRCH;
	is(take(&s), (1 << 20) + 4, "the first of the caller's own");
	s.live[0] = (struct live){ 0, (1 << 20) + 4 };
	is(fcntl(fd2, F_OFD_SETLK, &other), 0, "another helper has the next");
	is(take(&s), (1 << 20) + 6, "so the one behind it");
	s.live[1] = (struct live){ 0, (1 << 20) + 6 };
	is(take(&s), -EUSERS, "none of another caller's");
	(void)slot_lock(s.locks, (1 << 20) + 4, F_UNLCK);
	is(take(&s), -EUSERS, "one that we say is live stays so");
	s.live[0].pidfd = -1;
	prio_err = 0;
	is(take(&s), -EUSERS, "a process of that uid is left");
	prio_err = EPERM;
	is(take(&s), -EUSERS, "any answer but ESRCH is one");
	other.l_start = (1 << 20) + 4;
	is(fcntl(fd2, F_OFD_SETLK, &other), 0, "and its lock is not kept");
	other.l_type = F_UNLCK;
	(void)fcntl(fd2, F_OFD_SETLK, &other);
	prio_err = ESRCH;
	is(take(&s), (1 << 20) + 4, "then it is gone");
	s.quota.slots = 0;
	is(take(&s), -EUSERS, "no slots, no cell");
	(void)close(fd2);
	(void)close(s.locks);
}

int
main(void)
{
	recv_tests();
	recv_nofile();
	recv_ends();
	request_tests();
	state_tests();
	ours_tests();
	sound_tests();
	slot_tests();
	return done();
}

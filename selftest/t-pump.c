/* The pump against a cell's end that this test plays. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../client/cells.h"
#include "tap.h"

#define MS 1000000ULL

/* A spawn whose other ends are in fd: stdin, stdout, stderr, reply. */
static void
spawn_make(struct bl_spawn *s, int fd[4])
{
	int in[2], out[2], err[2], sv[2];

	memset(s, 0, sizeof *s);
	if (pipe(in) != 0 || pipe(out) != 0 || pipe(err) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv) != 0)
		abort();
	s->result = s->listener = -1;
	s->in = in[1];
	s->out = out[0];
	s->err = err[0];
	s->reply = sv[0];
	(void)fcntl(s->in, F_SETFL, O_NONBLOCK);
	(void)fcntl(s->out, F_SETFL, O_NONBLOCK);
	(void)fcntl(s->err, F_SETFL, O_NONBLOCK);
	fd[0] = in[0];
	fd[1] = out[1];
	fd[2] = err[1];
	fd[3] = sv[1];
}

static void
event(int fd, unsigned kind)
{
	struct bl_rep p = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = (uint16_t)kind, .seq = 1 };

	if (send(fd, &p, sizeof p, MSG_NOSIGNAL) != (ssize_t)sizeof p)
		abort();
}

static void
init(struct pump *p)
{
	memset(p, 0, sizeof *p);
	p->from = p->out.to = p->err.to = p->result.to = p->cancel_fd = -1;
	p->out.keep = p->err.keep = 1000;
	p->out.max = p->err.max = UINT64_MAX;
	p->until_ns = now_ns() + 5000 * MS;
}

/* Runs the pump against child, which plays the cell in a process of its own. */
static int
play(struct pump *p, struct bl_err *e, void (*child)(int fd[4]))
{
	struct bl_spawn s;
	int fd[4], r;
	pid_t pid;

	memset(e, 0, sizeof *e);
	spawn_make(&s, fd);
	pid = fork();
	if (pid == 0) {
		(void)close(s.in);
		(void)close(s.out);
		(void)close(s.err);
		(void)close(s.reply);
		(void)signal(SIGPIPE, SIG_IGN);
		child(fd);
		_exit(0);
	}
	for (int i = 0; i < 4; i++)
		(void)close(fd[i]);
	r = pump_run(p, &s, e);
	spawn_close(&s);
	(void)waitpid(pid, NULL, 0);
	return r;
}

static void
put(int fd, const char *s, size_t n)
{
	while (n > 0) {
		ssize_t did = write(fd, s, n);

		if (did <= 0)
			return;
		s += did;
		n -= (size_t)did;
	}
}

static void
simple(int fd[4])
{
	event(fd[3], BL_EV_STARTED);
	put(fd[1], "out", 3);
	put(fd[2], "error", 5);
	event(fd[3], BL_EV_EXIT);
}

static void
echo(int fd[4])
{
	char buf[5000];
	ssize_t n;

	event(fd[3], BL_EV_STARTED);
	while ((n = read(fd[0], buf, sizeof buf)) > 0)
		put(fd[1], buf, (size_t)n);
	event(fd[3], BL_EV_EXIT);
}

static void
wait_kill(int fd[4])
{
	char c;

	(void)recv(fd[3], &c, 1, 0);	/* 0: the other end is shut */
}

static void
flood(int fd[4])
{
	static char chunk[10000];
	struct bl_rep p;

	memset(chunk, 'y', sizeof chunk);
	chunk[0] = 'F';
	event(fd[3], BL_EV_STARTED);
	for (int i = 0; i < 1000; i++) {
		if (recv(fd[3], &p, sizeof p, MSG_DONTWAIT) == 0)
			break;
		put(fd[1], chunk, sizeof chunk);
	}
	event(fd[3], BL_EV_EXIT);
}

static void
tail(int fd[4])
{
	event(fd[3], BL_EV_STARTED);
	for (int i = 0; i < 20000; i++)
		put(fd[1], "0123456789", 10);
	put(fd[1], "THE END", 7);
	event(fd[3], BL_EV_EXIT);
}

static void
silent(int fd[4])
{
	event(fd[3], BL_EV_STARTED);
	wait_kill(fd);
	event(fd[3], BL_EV_EXIT);
}

static void
gone(int fd[4])
{
	event(fd[3], BL_EV_STARTED);
	put(fd[1], "x", 1);
}

static void
garbage(int fd[4])
{
	if (send(fd[3], "garbage", 7, MSG_NOSIGNAL) != 7)
		abort();
	wait_kill(fd);
}

static void
early(int fd[4])
{
	event(fd[3], BL_EV_EXIT);
	wait_kill(fd);
}

static void
streams(void)
{
	struct bl_err e;
	struct pump p;
	char buf[64] = "";
	int to[2], from[2];

	init(&p);
	is(pipe(to), 0, "a pipe");
	p.out.to = to[1];
	is(play(&p, &e, simple), 0, "a command");
	is(p.out.n, 3, "its output is kept");
	is_mem(p.out.data, "out", 3, "whole");
	is(p.err.bytes, 5, "the other stream too");
	is(read(to[0], buf, sizeof buf), 3, "and passed on");
	pump_free(&p);

	init(&p);
	is(pipe(from), 0, "a pipe");
	is(write(from[1], "hello", 5), 5, "input");
	(void)close(from[1]);
	p.from = from[0];
	is(play(&p, &e, echo), 0, "through a command");
	is(p.out.n, 5, "comes back");
	pump_free(&p);
	(void)close(from[0]);

	init(&p);
	is(play(&p, &e, echo), 0, "no input is an empty one");
	pump_free(&p);

	init(&p);
	(void)close(to[0]);
	p.out.to = to[1];
	(void)signal(SIGPIPE, SIG_IGN);
	is(play(&p, &e, simple), -1, "a reader that is gone");
	is_str(e.code, "output_failed", "is told");
	pump_free(&p);
	(void)close(to[1]);

	init(&p);
	to[1] = open("/dev/full", O_WRONLY);
	p.out.to = to[1];
	is(play(&p, &e, simple), -1, "a full disk");
	is(e.err, ENOSPC, "is told");
	pump_free(&p);
	(void)close(to[1]);
}

static void
caps(void)
{
	struct bl_err e;
	struct pump p;

	init(&p);
	p.out.max = 50000;
	p.out.keep = 20000;
	is(play(&p, &e, flood), 0, "a flood");
	is(p.out.capped, 1, "meets its cap");
	is(p.out.n, 20000, "what was to be kept is");
	is(p.out.data[0], 'F', "from the start");
	ok(p.out.bytes, <, 10000000, "and the command was ended");
	pump_free(&p);

	init(&p);
	p.out.max = 100;
	p.out.drop = true;
	p.out.keep = 10;
	p.out.keep_tail = 100;
	is(play(&p, &e, tail), 0, "a flood that is let go on");
	is(p.out.bytes, 200007, "is counted");
	is(p.out.n, 10, "the first bytes");
	is(p.out.ntail, 100, "and the last ones");
	is_mem(p.out.tail + 93, "THE END", 7, "are kept");
	pump_free(&p);

	init(&p);
	p.out.keep = 2;
	p.out.keep_tail = 100;
	is(play(&p, &e, simple), 0, "a short output");
	is(p.out.n + p.out.ntail, 3, "is in both parts once");
	is_mem(p.out.tail, "t", 1, "the tail being the rest");
	pump_free(&p);
}

static void
ends(void)
{
	struct bl_err e;
	struct pump p;
	int c[2];

	init(&p);
	is(play(&p, &e, gone), -1, "a cell that is gone");
	is_str(e.code, "cell_gone", "is told");
	is(e.kind, BL_KIND_INFRA, "as a failure of the machinery");
	pump_free(&p);
	init(&p);
	is(play(&p, &e, garbage), -1, "garbage");
	is_str(e.code, "protocol", "is told");
	pump_free(&p);
	init(&p);
	is(play(&p, &e, early), 0, "an end without a start: it came too late");
	is_str(e.code, "", "is no failure");
	pump_free(&p);
	init(&p);
	p.until_ns = now_ns() + 100 * MS;
	is(play(&p, &e, silent), -1, "silence");
	is_str(e.code, "cell_silent", "is told");
	pump_free(&p);
	init(&p);
	is(pipe(c), 0, "a pipe");
	is(write(c[1], "x", 1), 1, "that is readable");
	p.cancel_fd = c[0];
	is(play(&p, &e, silent), -1, "cancels");
	is(e.kind, BL_KIND_CANCELLED, "in so many words");
	pump_free(&p);
	(void)close(c[0]);
	(void)close(c[1]);
}

/* Messages with descriptors: used or closed, on every path. */
static void
descriptors(void)
{
	struct bl_rep p = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = BL_EV_EXIT };
	union { struct cmsghdr h; char raw[CMSG_SPACE(3 * sizeof(int))]; } u;
	struct iovec iov = { &p, sizeof p };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = u.raw, .msg_controllen = sizeof u.raw };
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct bl_spawn s;
	int fd[4], three[3] = { 0, 1, 2 }, before, after;

	spawn_make(&s, fd);
	memset(&u, 0, sizeof u);
	u.h.cmsg_level = SOL_SOCKET;
	u.h.cmsg_type = SCM_RIGHTS;
	u.h.cmsg_len = CMSG_LEN(sizeof three);
	memcpy(CMSG_DATA(&u.h), three, sizeof three);
	before = dup(0);
	(void)close(before);
	is(sendmsg(fd[3], &m, 0), (long long)sizeof p, "an end with three");
	is(spawn_event(&s, now_ns() + 1000 * MS, &e), -1, "is refused");
	after = dup(0);
	(void)close(after);
	is(after, before, "and they are closed");
	e.kind = BL_KIND_NONE;
	event(fd[3], BL_EV_STARTED);
	is(spawn_event(&s, now_ns() + 1000 * MS, &e), 1, "a start");
	event(fd[3], BL_EV_STARTED);
	is(spawn_event(&s, now_ns() + 1000 * MS, &e), -1, "comes once");
	e.kind = BL_KIND_NONE;
	is(spawn_event(&s, now_ns() + 20 * MS, &e), 0, "then nothing");
	spawn_close(&s);
	for (int i = 0; i < 4; i++)
		(void)close(fd[i]);
}

int
main(void)
{
	streams();
	caps();
	ends();
	descriptors();
	return done();
}

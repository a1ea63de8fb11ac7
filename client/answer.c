/* BAILIFF_ANSWER: runs one command as the answer, on behalf of a judge. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../policy/reply.h"
#include "../policy/spec.h"
#include "note.h"

enum {
	STATUS_TIME	= 124,
	STATUS_OURS	= 125,	/* nothing is known about the answer */
	STATUS_NO_EXEC	= 126,
	STATUS_NO_FILE	= 127,
	STATUS_LIMIT	= 128 + 9,

	PATIENCE_S	= 10,	/* for the client to take a note */
	SLACK_MS	= 2000,	/* after a run's time: its end, and its output */
	QUIET_MS	= 300	/* from a failed execve to the word of it */
};

/* One stream on its way: from the answer to us, or from us to the answer. */
struct flow {
	int	 from, to;	/* -1: closed */
	bool	 plain;		/* reading from can't be made not to wait */
	bool	 counts;	/* the answer's: kept and capped */
	size_t	 at, n;		/* what buf holds */
	char	*kept;
	size_t	 nkept, keep;
	uint64_t bytes, max;
	bool	 over;
	char	 buf[64 << 10];
};

static struct flow f_in, f_out, f_err;
static int run_sock = -1;
static bool late;		/* the answers' deadline ended it */
static uint64_t wall_ns;	/* what it may take, from its start on */
static bool gave_up;		/* its end was not waited for */
static uint64_t give_up;	/* when nobody waits any more; 0: not known */
static uint64_t quiet_at;	/* when our stderr goes, as the answer's has; or 0 */
static bool quiet;		/* it is gone, or not for us to speak on */
static bool begun;		/* STARTED has come: only execve can fail now */
static uint32_t spawned;	/* its number */
static struct {
	struct note_conf c;
	char env[NOTE_ENV_MAX];
} conf;
static const char *const base_env[] = {
	"HOME=/home/answer", "TMPDIR=/tmp", "PATH=/usr/local/bin:/usr/bin:/bin",
	"LANG=C.UTF-8", "USER=answer", "LOGNAME=answer"
};

static void fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));
static void broken(const char *what, int err) __attribute__((noreturn));

static void
fail(int status, const char *fmt, ...)
{
	char line[512] = "bailiff-answer: ";
	size_t n = strlen(line);
	va_list ap;
	int k;

	va_start(ap, fmt);
	k = vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
	va_end(ap);
	if (k > 0)
		n = strlen(line);
	line[n++] = '\n';
	if (!quiet && write(STDERR_FILENO, line, n) < 0)
		_exit(status);		/* nobody to tell */
	_exit(status);
}

/*
 * Not the answer's doing and not the judge's: the client is told, so that
 * nobody takes it for an answer that failed.
 */
static void
tell_broken(int err)
{
	const struct note n = { .magic = NOTE_MAGIC, .version = NOTE_VERSION,
	    .spawn = (uint32_t)err, .flags = NOTE_BROKEN };

	(void)send(run_sock, &n, sizeof n, MSG_NOSIGNAL);  /* or it is gone */
}

static void
broken(const char *what, int err)
{
	tell_broken(err);
	fail(STATUS_OURS, "%s: %s", what, strerror(err));
}

/*
 * The answer's cell has ended, as its client is told by EPIPE: it knows whether
 * the answer has brought that about, by using up its memory, or the machine.
 */
static void
cell_gone(void)
{
	tell_broken(EPIPE);
	fail(STATUS_LIMIT, "the answer's cell is gone");
}

/* Numbers 0 to 2 are never one of our own descriptors. */
static void
sure_stdio(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		int got = fcntl(fd, F_GETFD) >= 0 ? fd :
		    open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);

		if (got != fd)
			_exit(STATUS_OURS);
	}
}

/* --- what was asked ------------------------------------------------------ */

struct asked {
	uint64_t wall_ns, memory;	/* 0: the run's */
	bool	 fresh;
	bool	 channel;		/* by these two of our descriptors */
	int	 chan_in, chan_out;
	char   **argv;
	int	 argc;
};

static void
usage(void)
{
	fail(STATUS_OURS, "usage: \"$BAILIFF_ANSWER\" [-t SECONDS] [-m SIZE] "
	    "[--fresh] [--channel IN,OUT] -- CMD [ARG...]");
}

static uint64_t
seconds(const char *s)
{
	uint64_t ns = 0, unit = 1000000000;
	bool any = false;

	for (; *s >= '0' && *s <= '9' && ns < 1000000000; s++, any = true)
		ns = ns * 10 + (uint64_t)(*s - '0');
	ns *= unit;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++, any = true) {
			unit /= 10;
			ns += unit * (uint64_t)(*s - '0');
		}
	if (!any || *s != '\0' || ns == 0)
		fail(STATUS_OURS, "-t takes seconds, such as 2 or 0.5");
	return ns;
}

static uint64_t
size(const char *s)
{
	uint64_t v = 0;
	const char *units = "kmgt", *u;
	unsigned shift = 0;
	bool any = false;

	for (; *s >= '0' && *s <= '9' && v < (1ULL << 56); s++, any = true)
		v = v * 10 + (uint64_t)(*s - '0');
	if (*s != '\0' && (u = strchr(units, *s | 32)) != NULL) {
		shift = 10 * (unsigned)(u - units + 1);
		s++;
	}
	any = any && v <= UINT64_MAX >> shift;
	v <<= shift;
	if (!any || *s != '\0' || v == 0)
		fail(STATUS_OURS, "-m takes a size, such as 256m");
	return v;
}

/* One end of a channel: *at is moved behind its number, which is returned. */
static int
descriptor(const char **at, char end)
{
	const char *s = *at;
	int fd = 0;

	for (; *s >= '0' && *s <= '9' && fd < (1 << 20); s++)
		fd = fd * 10 + (*s - '0');
	if (s == *at || *s != end)
		fail(STATUS_OURS, "--channel takes two descriptors, such as "
		    "5,6");
	*at = s + (end != '\0');
	return fd;
}

/*
 * fd is this end of a pipe that can be the answer's as it is: cell init takes
 * no other, and a terminal or a file of the judge's is not for the answer.
 */
static void
channel_end(int fd, int mode, struct stat *st)
{
	const char *end = mode == O_RDONLY ? "read" : "write";
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;

	if (fd <= STDERR_FILENO)
		fail(STATUS_OURS, "--channel: descriptor %d is a standard "
		    "stream; use one above 2", fd);
	if (flags < 0 || fstat(fd, st) != 0)
		fail(STATUS_OURS, "--channel: descriptor %d is not open: pass "
		    "it on to this program", fd);
	if (!S_ISFIFO(st->st_mode) || fstatfs(fd, &fs) != 0 ||
	    fs.f_type != PIPEFS_MAGIC)
		fail(STATUS_OURS, "--channel: descriptor %d is no pipe, as "
		    "pipe(2) makes it", fd);
	if ((flags & (O_ACCMODE | O_PATH)) != mode)
		fail(STATUS_OURS, "--channel: descriptor %d is not the %s end "
		    "of a pipe", fd, end);
}

static void
channel(struct asked *a, const char *val)
{
	struct stat in, out;

	a->channel = true;
	a->chan_in = descriptor(&val, ',');
	a->chan_out = descriptor(&val, '\0');
	channel_end(a->chan_in, O_RDONLY, &in);
	channel_end(a->chan_out, O_WRONLY, &out);
	if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
		fail(STATUS_OURS, "--channel: descriptors %d and %d are of one "
		    "pipe; it takes two", a->chan_in, a->chan_out);
}

/* A long option in argv[*i - 1]; it may take the next word, too. */
static void
long_option(struct asked *a, int argc, char **argv, int *i)
{
	static const char name[] = "--channel";
	const char *o = argv[*i - 1];
	size_t n = sizeof name - 1;

	if (strcmp(o, "--fresh") == 0)
		a->fresh = true;
	else if (strncmp(o, name, n) == 0 && o[n] == '=')
		channel(a, o + n + 1);
	else if (strcmp(o, name) == 0 && *i < argc)
		channel(a, argv[(*i)++]);
	else
		usage();
}

static struct asked
options(int argc, char **argv)
{
	struct asked a = { .chan_in = -1, .chan_out = -1 };
	int i = 1;

	while (i < argc && argv[i][0] == '-') {
		const char *o = argv[i++], *val;

		if (strcmp(o, "--") == 0)
			break;
		if (o[1] == '-') {
			long_option(&a, argc, argv, &i);
			continue;
		}
		if (o[1] != 't' && o[1] != 'm')
			usage();
		val = o[2] != '\0' ? o + 2 : i < argc ? argv[i++] : NULL;
		if (val == NULL)
			usage();
		if (o[1] == 't')
			a.wall_ns = seconds(val);
		else
			a.memory = size(val);
	}
	if (i >= argc)
		usage();
	a.argv = argv + i;
	a.argc = argc - i;
	return a;
}

/* --- who is there -------------------------------------------------------- */

/*
 * Where a judge has no file tree of its own (--way plain) this program lies
 * below a private folder, and what it looks for beside it.  The name of that
 * folder to to; as good as none: "".
 */
static void
root(char *to, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", to, size - 1);
	size_t last = strlen(NOTE_PROGRAM);

	to[n > 0 ? n : 0] = '\0';
	if (n > 0 && (size_t)n > last &&
	    strcmp(to + (size_t)n - last, NOTE_PROGRAM) == 0)
		to[(size_t)n - last] = '\0';
	else
		to[0] = '\0';
}

/* Waits for its turn where many are waiting; the judge's deadline ends that. */
static int
dial(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), r = -1;
	size_t n;

	root(sa.sun_path, sizeof sa.sun_path - strlen(path));
	n = strlen(sa.sun_path);
	memcpy(sa.sun_path + n, path, strlen(path));
	while (s >= 0 && (r = connect(s, (const struct sockaddr *)&sa,
	    sizeof sa)) != 0 && errno == EINTR)
		;
	if (r != 0 && errno == ECONNREFUSED && strcmp(path, NOTE_GUEST) == 0)
		cell_gone();
	if (r != 0)
		broken(path, errno);
	return s;
}

static void
get_conf(void)
{
	const struct timeval tv = { .tv_sec = PATIENCE_S };
	ssize_t n;

	run_sock = dial(NOTE_RUN);
	do
		n = recv(run_sock, &conf, sizeof conf, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		broken(NOTE_RUN, errno);
	if ((size_t)n < sizeof conf.c || conf.c.magic != NOTE_MAGIC ||
	    conf.c.version != NOTE_VERSION || conf.c.keep > NOTE_KEEP_MAX ||
	    conf.c.env_bytes != (size_t)n - sizeof conf.c ||
	    (conf.c.env_bytes > 0 && conf.env[conf.c.env_bytes - 1] != '\0'))
		fail(STATUS_OURS, "%s: the run is over", NOTE_RUN);
	if (setsockopt(run_sock, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv) != 0)
		broken(NOTE_RUN, errno);
}

/* 1: fd is where the judge's verdict is read, so no answer may write to it. */
static bool
is_verdict(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	for (int i = 0; i < 2; i++)
		if (conf.c.verdict[i].ino != 0 &&
		    conf.c.verdict[i].ino == st.st_ino &&
		    conf.c.verdict[i].dev == st.st_dev)
			return true;
	return false;
}

/* A channel is the judge's own pipe: never the one that its verdict takes. */
static void
channel_apart(const struct asked *a)
{
	const int fd[] = { a->chan_in, a->chan_out };

	for (int i = 0; a->channel && i < 2; i++)
		if (is_verdict(fd[i]))
			fail(STATUS_OURS, "--channel: descriptor %d is where "
			    "the judge's verdict goes; make a pipe for the "
			    "answer", fd[i]);
}

static uint64_t
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* can't fail */
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* --- a fresh cell -------------------------------------------------------- */

/* Nobody holds the other end of our input any more.  Takes in what is there. */
static bool
input_ended(void)
{
	char junk[4096];
	struct iovec iov = { junk, sizeof junk };
	ssize_t n = preadv2(STDIN_FILENO, &iov, 1, -1, RWF_NOWAIT);

	if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS ||
	    errno == EINVAL))
		n = read(STDIN_FILENO, junk, sizeof junk);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* The client's word: this program's turn may come late, as in any queue. */
static void
fresh_await(const struct asked *a)
{
	struct pollfd p[2] = { { .fd = run_sock, .events = POLLIN },
	    { .fd = a->channel ? STDIN_FILENO : -1, .events = POLLIN } };

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			broken("poll", errno);
		if (p[0].revents != 0)
			return;
		if (p[1].revents != 0 && input_ended())
			_exit(STATUS_LIMIT);	/* stopped before its start */
	}
}

/* A guest's socket of a fresh cell; of the first one, where time is over. */
static int
fresh_guest(const struct asked *a)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof(int))]; } ctl;
	const struct note ask = { .magic = NOTE_MAGIC,
	    .version = NOTE_VERSION, .flags = NOTE_FRESH };
	struct note_cell c = { 0 };
	struct iovec iov = { &c, sizeof c };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	ssize_t n;
	int fd;

	if (send(run_sock, &ask, sizeof ask, MSG_NOSIGNAL) !=
	    (ssize_t)sizeof ask)
		broken(NOTE_RUN, errno);
	fresh_await(a);
	memset(&ctl, 0, sizeof ctl);
	do
		n = recvmsg(run_sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof c || c.magic != NOTE_MAGIC ||
	    c.version != NOTE_VERSION)
		fail(STATUS_OURS, "--fresh: no cell could be made, and the "
		    "run is over");
	if (c.err == ETIME)
		return dial(NOTE_GUEST);
	if (c.err != 0)
		fail(STATUS_OURS, "--fresh: no cell could be made: %s",
		    strerror((int)c.err));
	if (m.msg_controllen < CMSG_LEN(sizeof fd) ||
	    ctl.h.cmsg_level != SOL_SOCKET || ctl.h.cmsg_type != SCM_RIGHTS ||
	    ctl.h.cmsg_len != CMSG_LEN(sizeof fd))
		fail(STATUS_OURS, "--fresh: no cell came: %s",
		    strerror(EPROTO));
	memcpy(&fd, CMSG_DATA(&ctl.h), sizeof fd);
	return fd;
}

/* --- the spec ------------------------------------------------------------ */

static char *
put_string(char *p, const char *s)
{
	size_t n = strlen(s) + 1;

	memcpy(p, s, n);
	return p + n;
}

/* 1: the run gives this variable another value. */
static bool
is_given(const char *kv)
{
	size_t n = strcspn(kv, "=") + 1;

	for (uint32_t at = 0; at < conf.c.env_bytes;
	    at += (uint32_t)strlen(conf.env + at) + 1)
		if (strncmp(conf.env + at, kv, n) == 0)
			return true;
	return false;
}

/* Folder, arguments and variables: all that an answer's spec has. */
static char *
spec_text(const struct asked *a, struct bl_spec *h)
{
	size_t total = sizeof *h + 1 + conf.c.env_bytes;
	const char *env[sizeof base_env / sizeof base_env[0]];
	unsigned nenv = 0;
	char *buf, *p;

	for (size_t i = 0; i < sizeof base_env / sizeof base_env[0]; i++)
		if (!is_given(base_env[i]))
			env[nenv++] = base_env[i];
	for (int i = 0; i < a->argc; i++)
		total += strlen(a->argv[i]) + 1;
	for (unsigned i = 0; i < nenv; i++)
		total += strlen(env[i]) + 1;
	if (total > BL_SPEC_READ || a->argc > BL_ARGS_MAX)
		fail(STATUS_NO_EXEC, "the argument list is too long");
	h->size = (uint32_t)total;
	h->nargs = (uint32_t)a->argc;
	h->nenv = nenv + conf.c.nenv;
	buf = malloc(total);
	if (buf == NULL)
		broken("spec", ENOMEM);
	memcpy(buf, h, sizeof *h);
	p = put_string(buf + sizeof *h, "");
	for (int i = 0; i < a->argc; i++)
		p = put_string(p, a->argv[i]);
	for (unsigned i = 0; i < nenv; i++)
		p = put_string(p, env[i]);
	memcpy(p, conf.env, conf.c.env_bytes);
	return buf;
}

static int
make_spec(const struct asked *a)
{
	static const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE;
	struct bl_spec h = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .limits = conf.c.limits };
	char *text;
	int fd;

	/* a judge may take from the run's memory, not add to it */
	if (a->memory != 0 && (h.limits.memory == 0 ||
	    a->memory < h.limits.memory))
		h.limits.memory = a->memory;
	text = spec_text(a, &h);
	fd = memfd_create("spec", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || write(fd, text, h.size) != (ssize_t)h.size ||
	    fcntl(fd, F_ADD_SEALS, seals) != 0)
		broken("spec", errno);
	free(text);
	return fd;
}

/* --- starting it --------------------------------------------------------- */

/* Our end never waits; the answer's may be opened by name in its cell. */
static void
make_pipe(int *answers, int *ours, bool answer_reads)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) != 0 || fchmod(p[0], 0666) != 0 ||
	    fcntl(p[answer_reads ? 1 : 0], F_SETFL, O_NONBLOCK) != 0)
		broken("pipe", errno);
	*answers = p[answer_reads ? 0 : 1];
	*ours = p[answer_reads ? 1 : 0];
}

/* The time limit of its own, or the run's; a channel's is its cell's. */
static uint64_t
wall(const struct asked *a)
{
	uint64_t ns = a->wall_ns != 0 ? a->wall_ns :
	    a->channel ? 0 : conf.c.wall_ns, at = now(), left;

	if (conf.c.deadline_ns == 0)
		return ns;
	/* over already: cell init's clock says so, at once */
	left = conf.c.deadline_ns > at ? conf.c.deadline_ns - at : 1;
	return ns == 0 || left < ns ? left : ns;
}

/* The first n of fd, with SPAWN. */
static void
send_spawn(int guest, const struct bl_req *q, const int *fd, size_t n)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(6 * sizeof(int))]; } ctl;
	struct iovec iov = { 0 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw,
	    .msg_controllen = CMSG_LEN(n * sizeof *fd) };
	ssize_t did;

	memcpy(&iov.iov_base, &q, sizeof q);
	iov.iov_len = sizeof *q;
	memset(&ctl, 0, sizeof ctl);
	ctl.h.cmsg_level = SOL_SOCKET;
	ctl.h.cmsg_type = SCM_RIGHTS;
	ctl.h.cmsg_len = CMSG_LEN(n * sizeof *fd);
	memcpy(CMSG_DATA(&ctl.h), fd, n * sizeof *fd);
	do
		did = sendmsg(guest, &m, MSG_NOSIGNAL);
	while (did < 0 && errno == EINTR);
	if (did < 0 && (errno == EPIPE || errno == ECONNRESET))
		cell_gone();
	if (did != (ssize_t)sizeof *q)
		broken(NOTE_GUEST, errno);
}

/* Sends SPAWN and returns our end of its reply socket. */
static int
start(const struct asked *a, int guest)
{
	struct bl_req q = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .op = BL_OP_SPAWN, .seq = 1 };
	int fd[6], sv[2], n = 5;

	q.u.spawn.wall_ns = wall_ns = wall(a);
	fd[0] = make_spec(a);
	if (a->channel) {
		q.u.spawn.flags = BL_SPAWN_RESULT;
		fd[1] = a->chan_in;
		fd[n++] = a->chan_out;
	} else
		make_pipe(&fd[1], &f_in.to, true);
	make_pipe(&fd[2], &f_out.from, false);
	make_pipe(&fd[3], &f_err.from, false);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		broken("socket", errno);
	fd[4] = sv[1];
	send_spawn(guest, &q, fd, (size_t)n);
	for (int i = 0; i < n; i++)
		(void)close(fd[i]);	/* only the answer's are left */
	return sv[0];
}

/* --- moving bytes -------------------------------------------------------- */

/*
 * Reading without waiting even where another process reads the same pipe, and
 * without O_NONBLOCK, which that process would share.
 */
static ssize_t
read_soon(struct flow *f, char *buf, size_t n)
{
	struct iovec iov = { buf, n };
	ssize_t got = -1;

	if (!f->plain) {
		got = preadv2(f->from, &iov, 1, -1, RWF_NOWAIT);
		if (got >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS &&
		    errno != EINVAL))
			return got;
		f->plain = true;
	}
	return read(f->from, buf, n);
}

/* After POLLOUT a pipe takes PIPE_BUF bytes, other writers apart. */
static ssize_t
write_soon(int fd, const char *buf, size_t n)
{
	struct iovec iov = { 0 };
	ssize_t put;

	memcpy(&iov.iov_base, &buf, sizeof buf);
	iov.iov_len = n;
	put = pwritev2(fd, &iov, 1, -1, RWF_NOWAIT);
	if (put >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS &&
	    errno != EINVAL))
		return put;
	return write(fd, buf, n > 4096 ? 4096 : n);
}

static void
shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* The end of the readers ends the writer, as in any pipe. */
static void
flow_stop(struct flow *f)
{
	if (f->from > STDERR_FILENO)
		shut(&f->from);
	if (f->to > STDERR_FILENO)
		shut(&f->to);
	f->from = f->to = -1;
	f->n = 0;
}

static void
flow_count(struct flow *f, size_t n)
{
	size_t room = f->keep - f->nkept;

	if (n > f->max - f->bytes) {		/* the cap's bytes still pass */
		f->over = true;
		n = (size_t)(f->max - f->bytes);
	}
	if (room > n)
		room = n;
	memcpy(f->kept + f->nkept, f->buf, room);
	f->nkept += room;
	f->bytes += n;
	f->n = f->to >= 0 ? n : 0;
}

/* Takes in what is there.  last: what isn't there now won't come any more. */
static void
flow_read(struct flow *f, bool last)
{
	ssize_t got;

	f->at = 0;
	got = read_soon(f, f->buf, sizeof f->buf);
	if (got < 0 && (errno == EAGAIN || errno == EINTR) && !last)
		return;
	if (got <= 0) {
		if (f->from > STDERR_FILENO)
			shut(&f->from);
		f->from = -1;
		return;
	}
	if (f->over)
		return;			/* drained, so that it can end */
	if (f->counts)
		flow_count(f, (size_t)got);
	else
		f->n = (size_t)got;
}

static void
flow_write(struct flow *f)
{
	ssize_t put = write_soon(f->to, f->buf + f->at, f->n);

	if (put < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (put < 0) {
		flow_stop(f);
		return;
	}
	f->at += (size_t)put;
	f->n -= (size_t)put;
}

/* What f waits for: to be read from, or to be written to. */
static void
flow_poll(const struct flow *f, struct pollfd *p)
{
	*p = (struct pollfd){ .fd = -1 };
	if (f->n > 0)
		*p = (struct pollfd){ .fd = f->to, .events = POLLOUT };
	else if (f->from >= 0)
		*p = (struct pollfd){ .fd = f->from, .events = POLLIN };
}

static void
flow_step(struct flow *f, const struct pollfd *p, bool ended)
{
	if (p->fd < 0 || (p->revents == 0 && !(ended && f->n == 0)))
		return;
	if (f->n > 0)
		flow_write(f);
	else
		flow_read(f, ended);
	/* our input's end is the answer's, and its end is that of our output */
	if (f->n == 0 && f->from < 0 && f->to == STDERR_FILENO) {
		/* that of one that was not started has our words to take */
		f->to = -1;
		quiet_at = now() + QUIET_MS * 1000000ULL;
	} else if (f->n == 0 && f->from < 0)
		shut(&f->to);
}

/* One event on the reply socket.  true: it was the end. */
static bool
reply_read(int reply, struct bl_rep *end)
{
	struct bl_rep p;
	ssize_t n = recv(reply, &p, sizeof p, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n == 0 || (n < 0 && errno == ECONNRESET)) {
		tell_broken(EPIPE);	/* as cell_gone */
		*end = (struct bl_rep){ .kind = BL_EV_EXIT, .spawn = spawned,
		    .u.exit = { .wait_status = SIGKILL } };
		return true;
	}
	if (n != (ssize_t)sizeof p || bl_rep_check(&p) != 0)
		broken("the answer's cell", EPIPE);
	*end = p;
	spawned = p.spawn;
	begun = begun || p.kind == BL_EV_STARTED;
	if (p.kind == BL_EV_STARTED && wall_ns != 0)
		give_up = now() + wall_ns + SLACK_MS * 1000000ULL;
	return p.kind == BL_EV_EXIT || p.kind == BL_EV_FAIL;
}

static bool
over(void)
{
	return f_out.over || f_err.over;
}

/* Milliseconds to the answers' deadline, for poll(2); -1: not ours to watch. */
static int
ms_left(void)
{
	uint64_t at = now(), end = conf.c.deadline_ns;

	if (end == 0 || late)
		return -1;
	if (at >= end)
		return 0;
	return (end - at) / 1000000 > 3600000 ? 3600000 :
	    (int)((end - at) / 1000000 + 1);
}

/* Why nothing more may come of it; once true, always true. */
static bool
must_stop(const struct pollfd *watched)
{
	if (watched->fd >= 0 && watched->revents != 0 && input_ended())
		return true;
	/* one that waits for its turn is not on cell init's clock yet */
	if (!late && ms_left() == 0) {
		late = true;
		give_up = now() + SLACK_MS * 1000000ULL;
	}
	return late || over();
}

/* Milliseconds, of which -1 is for ever: the shorter one of ms and until. */
static int
sooner(int ms, uint64_t until)
{
	uint64_t at = now(), left;

	if (until == 0)
		return ms;
	left = until > at ? (until - at) / 1000000 + 1 : 0;
	left = left > 3600000 ? 3600000 : left;
	return ms < 0 || (uint64_t)ms > left ? (int)left : ms;
}

/* Who reads our stderr has read the answer's to its end. */
static void
stderr_end(void)
{
	(void)close(STDERR_FILENO);
	quiet = true;
	quiet_at = 0;
}

/* Until the answer has ended and all that it wrote has gone on its way. */
static void
pump(const struct asked *a, int reply, struct bl_rep *end)
{
	bool ended = false, told = false;
	struct pollfd p[5];
	int wait;

	for (;;) {
		if (a->channel)
			p[0] = (struct pollfd){ .fd = ended || told ? -1 :
			    STDIN_FILENO, .events = POLLIN };
		else
			flow_poll(&f_in, &p[0]);
		flow_poll(&f_out, &p[1]);
		flow_poll(&f_err, &p[2]);
		/* no events: it wakes us when the answer closes its input */
		p[3] = (struct pollfd){ .fd = f_in.n > 0 ? -1 : f_in.to };
		p[4] = (struct pollfd){ .fd = ended ? -1 : reply,
		    .events = POLLIN };
		if (ended && p[1].fd < 0 && p[2].fd < 0)
			return;
		/* after the end, what can be read now is all there will be */
		wait = ended && ((p[1].fd >= 0 && f_out.n == 0) ||
		    (p[2].fd >= 0 && f_err.n == 0)) ? 0 :
		    ended || told ? -1 : ms_left();
		if (give_up != 0 && now() >= give_up) {
			/* the kernel still takes it apart, or nobody reads */
			gave_up = !ended;
			if (!ended)
				*end = (struct bl_rep){ .kind = BL_EV_EXIT,
				    .spawn = spawned, .u.exit = {
				    .wait_status = SIGKILL,
				    .limit = BL_LIMIT_TIME } };
			return;
		}
		if (quiet_at != 0 && begun && !ended && now() >= quiet_at)
			stderr_end();
		wait = sooner(sooner(wait, give_up), begun && !ended ?
		    quiet_at : 0);
		if (poll(p, 5, wait) < 0) {
			if (errno != EINTR)
				broken("poll", errno);
			continue;
		}
		if (!a->channel)
			flow_step(&f_in, &p[0], false);
		flow_step(&f_out, &p[1], ended);
		flow_step(&f_err, &p[2], ended);
		if (!ended && !told && must_stop(a->channel ? &p[0] :
		    &(struct pollfd){ .fd = -1 })) {
			(void)shutdown(reply, SHUT_WR);	/* kills, by contract */
			told = true;
		}
		if (p[4].revents != 0)
			ended = reply_read(reply, end);
		if (ended || p[3].revents != 0)
			flow_stop(&f_in);
	}
}

/* --- telling ------------------------------------------------------------- */

/* The exit status where nothing was started. */
static int
start_status(const struct bl_rep *end)
{
	if (end->step == BL_AT_EXEC && (end->status == -ENOENT ||
	    end->status == -ENOTDIR))
		return STATUS_NO_FILE;
	switch (end->step) {
	/*
	 * These an answer before may have seen to, in the cell that they share;
	 * if it was the machine, bailiff knows, and no verdict will count.
	 */
	case BL_AT_FORK: case BL_AT_LAUNCH: case BL_AT_BECOME:
	case BL_AT_EXEC: case BL_AT_CHDIR:
		return STATUS_NO_EXEC;
	default:
		return STATUS_OURS;
	}
}

/* Ended by us, on account of the answers' deadline. */
static bool
is_late(const struct bl_rep *end)
{
	return late && end->kind == BL_EV_EXIT &&
	    end->u.exit.limit == BL_LIMIT_NONE &&
	    WIFSIGNALED(end->u.exit.wait_status);
}

static int
end_status(const struct bl_rep *end)
{
	int w = end->u.exit.wait_status;

	if (end->kind == BL_EV_FAIL)
		return start_status(end);
	if (end->u.exit.limit == BL_LIMIT_TIME || is_late(end))
		return STATUS_TIME;
	if (end->u.exit.limit == BL_LIMIT_START)
		return STATUS_NO_EXEC;
	if (end->u.exit.limit != BL_LIMIT_NONE || over())
		return STATUS_LIMIT;
	return WIFEXITED(w) ? WEXITSTATUS(w) : 128 + WTERMSIG(w);
}

static void
send_all(const char *p, size_t n)
{
	while (n > 0) {
		size_t k = n > NOTE_CHUNK ? NOTE_CHUNK : n;

		if (send(run_sock, p, k, MSG_NOSIGNAL) != (ssize_t)k)
			return;		/* the client has the kernel's part */
		p += k;
		n -= k;
	}
}

static void
send_note(const struct asked *a, const struct bl_rep *end, bool stream)
{
	static char args[NOTE_ARGV_MAX];
	struct note n = { .magic = NOTE_MAGIC, .version = NOTE_VERSION,
	    .spawn = end->spawn, .out_bytes = f_out.bytes,
	    .err_bytes = f_err.bytes, .out_kept = (uint32_t)f_out.nkept,
	    .err_kept = (uint32_t)f_err.nkept };

	for (int i = 0; i < a->argc; i++, n.argc++) {
		size_t len = strlen(a->argv[i]) + 1;

		if (len > sizeof args - n.argv_bytes) {
			n.flags |= NOTE_ARGV_CUT;
			break;
		}
		memcpy(args + n.argv_bytes, a->argv[i], len);
		n.argv_bytes += (uint32_t)len;
	}
	n.flags |= (over() ? NOTE_OUTPUT : 0U) | (stream ? NOTE_STREAM : 0U) |
	    (is_late(end) || gave_up ? NOTE_TIME : 0U);
	if (send(run_sock, &n, sizeof n, MSG_NOSIGNAL) != (ssize_t)sizeof n)
		return;
	send_all(args, n.argv_bytes);
	send_all(f_out.kept, f_out.nkept);
	send_all(f_err.kept, f_err.nkept);
}

/* The length of the UTF-8 character at p, or 0. */
static size_t
utf8_at(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80 ? 1 :
	    p[0] >= 0xc2 && p[0] < 0xe0 ? 2 :
	    p[0] >= 0xe0 && p[0] < 0xf0 ? 3 :
	    p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return len;
}

/* A JSON string; bytes that are not UTF-8 as the text \xNN. */
static bool
json_text(FILE *to, const char *s, size_t n)
{
	bool whole = true;

	(void)fputc('"', to);
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)s[i];
		size_t len = utf8_at((const unsigned char *)s + i, n - i);

		if (len == 0) {
			(void)fprintf(to, "\\\\x%02x", c);
			whole = false;
			len = 1;
		} else if (c == '"' || c == '\\')
			(void)fprintf(to, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			(void)fprintf(to, "\\u%04x", c);
		else
			(void)fwrite(s + i, 1, len, to);
		i += len;
	}
	(void)fputc('"', to);
	return whole;
}

static void
json_base64(FILE *to, const char *s, size_t n)
{
	static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";

	(void)fputc('"', to);
	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = 0;

		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (i + k < n ? (unsigned char)s[i + k] : 0);
		(void)fputc(set[v >> 18], to);
		(void)fputc(set[v >> 12 & 63], to);
		(void)fputc(i + 1 < n ? set[v >> 6 & 63] : '=', to);
		(void)fputc(i + 2 < n ? set[v & 63] : '=', to);
	}
	(void)fputc('"', to);
}

static void
fact_stream(FILE *to, const char *name, const struct flow *f)
{
	(void)fprintf(to, ",\"%s_bytes\":%llu,\"%s\":", name,
	    (unsigned long long)f->bytes, name);
	if (!json_text(to, f->kept, f->nkept)) {
		(void)fprintf(to, ",\"%s_b64\":", name);
		json_base64(to, f->kept, f->nkept);
	}
	(void)fprintf(to, ",\"%s_truncated\":%s", name,
	    f->over || f->bytes > f->nkept ? "true" : "false");
}

static const char *
limit_word(const struct bl_rep *end)
{
	static const char *const word[BL_LIMIT_MAX] = {
		[BL_LIMIT_TIME] = "\"time\"", [BL_LIMIT_CPU] = "\"cpu\"",
		[BL_LIMIT_MEMORY] = "\"memory\"",
		[BL_LIMIT_PROCESSES] = "\"processes\"",
		[BL_LIMIT_OUTPUT] = "\"output\"", [BL_LIMIT_DISK] = "\"disk\"",
		[BL_LIMIT_START] = "\"start\""
	};
	uint32_t k = end->kind == BL_EV_FAIL ? BL_LIMIT_START :
	    end->u.exit.limit;

	if (k == BL_LIMIT_NONE && is_late(end))
		k = BL_LIMIT_TIME;
	if (k == BL_LIMIT_NONE && over())
		k = BL_LIMIT_OUTPUT;
	return k < BL_LIMIT_MAX && word[k] != NULL ? word[k] : "null";
}

/* The answers entry as one line, for a judge that wants to know more. */
static void
tell_fact(const struct asked *a, const struct bl_rep *end)
{
	const char *at = getenv("BAILIFF_FACT_FD");
	const struct bl_exit *x = &end->u.exit;
	bool ran = end->kind == BL_EV_EXIT;
	char *text = NULL;
	size_t n = 0;
	FILE *to;
	char *rest = NULL;
	long fd = at == NULL ? -1 : strtol(at, &rest, 10);

	if (fd <= STDERR_FILENO || fd > INT_MAX || *rest != '\0' ||
	    fcntl((int)fd, F_GETFD) < 0 ||
	    (to = open_memstream(&text, &n)) == NULL)
		return;
	(void)fputs("{\"argv\":[", to);
	for (int i = 0; i < a->argc; i++) {
		(void)fputs(i > 0 ? "," : "", to);
		(void)json_text(to, a->argv[i], strlen(a->argv[i]));
	}
	(void)fputs("],\"exit_code\":", to);
	if (ran && WIFEXITED(x->wait_status))
		(void)fprintf(to, "%d", WEXITSTATUS(x->wait_status));
	else
		(void)fputs("null", to);
	(void)fputs(",\"signal\":", to);
	if (ran && WIFSIGNALED(x->wait_status))
		(void)fprintf(to, "%d", WTERMSIG(x->wait_status));
	else
		(void)fputs("null", to);
	(void)fprintf(to, ",\"limit\":%s,\"wall_ms\":%llu,\"cpu_ms\":%llu,"
	    "\"memory_peak_bytes\":%llu", limit_word(end),
	    (unsigned long long)(ran ? x->wall_ns / 1000000 : 0),
	    (unsigned long long)(ran ? x->cpu_ns / 1000000 : 0),
	    (unsigned long long)(ran ? x->peak_bytes : 0));
	fact_stream(to, "stdout", &f_out);
	fact_stream(to, "stderr", &f_err);
	(void)fputs("}\n", to);
	if (fclose(to) != 0)
		return;
	for (size_t off = 0; off < n;) {
		ssize_t put = write((int)fd, text + off, n - off);

		if (put < 0 && errno != EINTR)
			return;
		off += put > 0 ? (size_t)put : 0;
	}
}

/* --- all of it ----------------------------------------------------------- */

static void
flow_open(struct flow *f, int to)
{
	f->counts = true;
	f->to = to;
	f->max = conf.c.max_output;
	f->keep = (size_t)conf.c.keep;
	f->kept = malloc(f->keep + 1);
	if (f->kept == NULL)
		broken("output", ENOMEM);
}

int
main(int argc, char **argv)
{
	bool mute_out, mute_err;
	struct bl_rep end = { 0 };
	struct asked a;
	struct stat st;
	int guest, reply;

	sure_stdio();
	(void)signal(SIGPIPE, SIG_IGN);		/* EPIPE says the same */
	a = options(argc, argv);
	get_conf();
	channel_apart(&a);
	guest = a.fresh ? fresh_guest(&a) : dial(NOTE_GUEST);
	reply = start(&a, guest);
	mute_out = is_verdict(STDOUT_FILENO);
	quiet = mute_err = is_verdict(STDERR_FILENO);
	flow_open(&f_out, mute_out ? -1 : STDOUT_FILENO);
	flow_open(&f_err, mute_err ? -1 : STDERR_FILENO);
	f_in.to = a.channel ? -1 : f_in.to;
	f_in.from = a.channel ? -1 : STDIN_FILENO;
	f_in.plain = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
	pump(&a, reply, &end);
	send_note(&a, &end, mute_out || mute_err);
	tell_fact(&a, &end);
	if (end_status(&end) == STATUS_OURS && end.kind == BL_EV_FAIL)
		fail(STATUS_OURS, "could not start the answer: step %u, %s",
		    end.step, strerror(-end.status));
	if (end.kind == BL_EV_FAIL)
		fail(end_status(&end), "%.200s: %s", a.argc > 0 ? a.argv[0] :
		    "the answer", strerror(-end.status));
	return end_status(&end);
}

/* client/answers.c: notes, reports and fresh cells, with all others faked. */
#include "../client/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../client/note.h"
#include "tap.h"

static struct result r;
static struct answers *u;
static struct fresh_conf conf;
static struct bl_helper helper;
static int helper_end, report_end, owner_end, listener;
static struct sockaddr_un place;

static void
pair(int *a, int *b)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		abort();
	*a = sv[0];
	*b = sv[1];
}

static void
begin(uint32_t slots)
{
	const struct answers_conf want = { .wall_ns = 1000000000, .keep = 100,
	    .max_output = 1000 };
	int ours, owner;

	if (result_init(&r) != 0)
		abort();
	u = answers_new(&r, &want);
	/* an abstract name, as the kernel chooses it */
	place = (struct sockaddr_un){ .sun_family = AF_UNIX };
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (u == NULL || bind(listener, (struct sockaddr *)&place,
	    sizeof(sa_family_t)) != 0 || listen(listener, 8) != 0)
		abort();
	memset(&helper, 0, sizeof helper);
	pair(&helper.sock, &helper_end);
	pair(&ours, &report_end);
	pair(&owner, &owner_end);
	conf = (struct fresh_conf){ .helper = &helper, .seen = &r.prot,
	    .files = open("/dev/null", O_RDONLY | O_CLOEXEC),
	    .spec = { .role = BL_ROLE_ANSWER,
		.deadline_ns = now_ns() + 60000000000 } };
	r.prot = (struct bl_protections){ true, true, true, true, true, true,
	    "none", "", 0 };
	answers_until(u, conf.spec.deadline_ns);
	answers_fresh(u, &conf, slots);
	is(answers_watch(u, listener, ours, &(struct bl_cell){ .owner = owner }), 0, "watching");
}

static void
end(void)
{
	answers_free(u);
	result_free(&r);
	(void)close(conf.files);
	(void)close(helper.sock);
	(void)close(helper_end);
	(void)close(report_end);
	(void)close(owner_end);
	(void)close(listener);
}

static void
steps(void)
{
	while (answers_step(u, 0))
		;
}

/* One who speaks as BAILIFF_ANSWER does. */
static int
dial(void)
{
	struct sockaddr_un at;
	socklen_t n = sizeof at;
	static char buf[1 << 16];
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (getsockname(listener, (struct sockaddr *)&at, &n) != 0 ||
	    connect(s, (struct sockaddr *)&at, n) != 0)
		abort();
	steps();
	if (recv(s, buf, sizeof buf, MSG_DONTWAIT) <
	    (ssize_t)sizeof(struct note_conf))
		abort();
	return s;
}

static void
say(int s, struct note n)
{
	n.magic = NOTE_MAGIC;
	n.version = NOTE_VERSION;
	if (send(s, &n, sizeof n, MSG_NOSIGNAL) != (ssize_t)sizeof n)
		abort();
	steps();
}

/* 1: the client has hung up. */
static int
hung_up(int s)
{
	char c[16];

	return recv(s, c, sizeof c, MSG_DONTWAIT) == 0;
}

static void
event(int s, uint16_t kind, uint32_t spawn, int status, uint32_t limit)
{
	struct bl_rep p = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = kind, .spawn = spawn };

	if (kind == BL_EV_EXIT) {
		p.u.exit.wait_status = status;
		p.u.exit.limit = limit;
	}
	if (send(s, &p, sizeof p, MSG_NOSIGNAL) != (ssize_t)sizeof p)
		abort();
	steps();
}

static const char *
told(size_t i, const char *member)
{
	json_t *v = json_object_get(json_array_get(r.answers, i), member);
	static char said[64];

	if (json_is_string(v))
		return json_string_value(v);
	(void)snprintf(said, sizeof said, json_is_integer(v) ? "%lld" : "null",
	    (long long)json_integer_value(v));
	return said;
}

static void
notes(void)
{
	static const struct note bare[] = {
		{ .flags = NOTE_IN_JUDGE, .spawn = 1 },
		{ .flags = NOTE_IN_JUDGE, .out_bytes = 1 },
		{ .flags = NOTE_IN_JUDGE | NOTE_FRESH },
		{ .flags = NOTE_IN_JUDGE | NOTE_OUTPUT },
		{ .flags = NOTE_FRESH, .spawn = 1 },
		{ .flags = NOTE_FRESH, .argc = 1 },
		{ .flags = 1 << 7 },
	};
	int s;

	begin(10);
	for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++) {
		s = dial();
		say(s, bare[i]);
		is(hung_up(s), 1, "no note, %zu", i);
		(void)close(s);
	}
	is(r.fail.kind, BL_KIND_NONE, "and no harm in it");
	event(report_end, BL_EV_STARTED, 1, 0, 0);
	event(report_end, BL_EV_EXIT, 1, 9, BL_LIMIT_NONE);
	event(report_end, BL_EV_EXIT, 2, 9, BL_LIMIT_MEMORY);
	event(report_end, BL_EV_EXIT, 3, 0, BL_LIMIT_NONE);
	s = dial();
	say(s, (struct note){ .spawn = 1, .flags = NOTE_TIME });
	s = dial();
	say(s, (struct note){ .spawn = 2, .flags = NOTE_TIME | NOTE_OUTPUT });
	s = dial();
	say(s, (struct note){ .spawn = 3, .flags = NOTE_OUTPUT });
	answers_tell(u);
	is(json_array_size(r.answers), 3, "three runs");
	is_str(told(0, "limit"), "time", "a deadline of the judge's side");
	is_str(told(1, "limit"), "memory", "the kernel's word counts more");
	is_str(told(2, "limit"), "output", "a cap");
	s = dial();
	say(s, (struct note){ .flags = NOTE_IN_JUDGE });
	is(hung_up(s), 1, "the runner's word ends its connection");
	is_str(r.fail.code, "answer_in_judge", "and the run");
	is(r.fail.kind, BL_KIND_JUDGE, "as the judge's failure");
	end();
}

/* --- fresh cells ---------------------------------------------------------- */

/* One request with up to n descriptors, of which there are *got; its op. */
static int
request(int s, struct bl_req *q, int *fd, int n, int *got)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(8 * sizeof(int))]; } c;
	struct iovec iov = { q, sizeof *q };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = c.raw, .msg_controllen = sizeof c.raw };

	*got = 0;
	if (recvmsg(s, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) !=
	    (ssize_t)sizeof *q)
		return -1;
	if (m.msg_controllen > 0) {
		*got = (int)((c.h.cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fd, CMSG_DATA(&c.h), (size_t)(*got < n ? *got : n) *
		    sizeof(int));
	}
	return q->op;
}

static void
with_fds(int s, const void *p, size_t size, const int *fd, int n)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(2 * sizeof(int))]; } c;
	struct iovec iov = { (void *)p, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	memset(&c, 0, sizeof c);
	c.h.cmsg_level = SOL_SOCKET;
	c.h.cmsg_type = SCM_RIGHTS;
	c.h.cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	memcpy(CMSG_DATA(&c.h), fd, (size_t)n * sizeof(int));
	m.msg_control = c.raw;
	m.msg_controllen = CMSG_LEN((size_t)n * sizeof(int));
	if (sendmsg(s, &m, MSG_NOSIGNAL) != (ssize_t)size)
		abort();
}

struct made { int owner, guest, report, reply; };

/*
 * The helper and cell init, for one request; refused: a step, or 0.  0: there
 * is no request.
 */
static int
make(struct made *c, uint32_t refused)
{
	struct bl_req q;
	struct bl_rep p = { .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = BL_OP_CELL };
	int fd[8], n, theirs[2];

	*c = (struct made){ -1, -1, -1, -1 };
	if (request(helper_end, &q, fd, 8, &n) != BL_OP_CELL)
		return 0;
	p.seq = q.seq;
	if (refused != 0) {
		p.step = refused;
		p.status = -EUSERS;
		if (send(helper_end, &p, sizeof p, MSG_NOSIGNAL) < 0)
			abort();
		steps();
		return 1;
	}
	pair(&c->owner, &theirs[0]);
	theirs[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	p.u.cell.uid = p.u.cell.gid = 7;
	with_fds(helper_end, &p, sizeof p, theirs, 2);
	(void)close(theirs[0]);
	(void)close(theirs[1]);
	steps();
	if (request(c->owner, &q, fd, 8, &n) != BL_OP_GO ||
	    request(c->owner, &q, fd, 8, &n) != BL_OP_SPAWN || n != 5)
		abort();
	c->reply = fd[4];
	for (int i = 0; i < 4; i++)
		(void)close(fd[i]);
	if (request(c->owner, &q, fd, 8, &n) != BL_OP_ATTACH || n != 2)
		abort();
	c->guest = fd[0];
	c->report = fd[1];
	return 1;
}

/* What the client answers to one who wants a cell: err, or -1; and *guest. */
static int
given(int s, int *guest)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof(int))]; } c;
	struct note_cell n;
	struct iovec iov = { &n, sizeof n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = c.raw, .msg_controllen = sizeof c.raw };

	*guest = -1;
	if (recvmsg(s, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) !=
	    (ssize_t)sizeof n)
		return -1;
	if (m.msg_controllen > 0)
		memcpy(guest, CMSG_DATA(&c.h), sizeof *guest);
	return (int)n.err;
}

static void
cell_gone(struct made *c)
{
	(void)close(c->owner);
	(void)close(c->guest);
	(void)close(c->report);
	(void)close(c->reply);
}

static const struct note want = { .flags = NOTE_FRESH };

static void
one_cell(void)
{
	struct made c;
	int s, guest;

	begin(10);
	s = dial();
	say(s, want);
	is(given(s, &guest), -1, "nothing comes before the helper's answer");
	is(make(&c, 0), 1, "a cell is made");
	is(given(s, &guest), -1, "nor before its files are there");
	event(c.reply, BL_EV_STARTED, 1, 0, 0);
	is(given(s, &guest), 0, "and then it is given");
	ok(guest, >=, 0, "as a guest's socket");
	is(r.fail.kind, BL_KIND_NONE, "nothing was required");
	is(r.prot.uid, 0, "but what was not seen is not said to be there");
	/* the same number as one of the first cell's */
	event(report_end, BL_EV_EXIT, 2, 3 << 8, 0);
	event(c.report, BL_EV_STARTED, 2, 0, 0);
	event(c.report, BL_EV_EXIT, 2, 4 << 8, 0);
	say(s, (struct note){ .spawn = 2, .out_bytes = 5 });
	is(hung_up(s), 1, "a note ends the connection");
	(void)close(guest);
	is(hung_up(c.owner), 0, "the cell waits for the guest's last report");
	(void)close(c.report);
	steps();
	is(hung_up(c.owner), 1, "and ends then");
	answers_tell(u);
	is(json_array_size(r.answers), 2, "two runs");
	is_str(told(0, "exit_code"), "3", "of the first cell");
	is_str(told(0, "stdout_bytes"), "0", "which no note is about");
	is_str(told(1, "exit_code"), "4", "and of the fresh one");
	is_str(told(1, "stdout_bytes"), "5", "with its note");
	end();
}

static void
turns(void)
{
	struct made a, b, none;
	int s[3], guest;

	begin(4);			/* judge, answer and two more */
	for (int i = 0; i < 3; i++) {
		s[i] = dial();
		say(s[i], want);
	}
	is(make(&a, 0), 1, "the first one's");
	is(make(&b, 0), 1, "and the second one's");
	is(make(&none, 0), 0, "there is none for the third one yet");
	event(a.reply, BL_EV_STARTED, 1, 0, 0);
	is(given(s[0], &guest), 0, "the first one has its own");
	(void)close(guest);
	(void)close(s[0]);
	(void)close(a.report);
	steps();
	is(hung_up(a.owner), 1, "its end");
	is(make(&none, BL_AT_SLOT), 1, "makes room; the helper refuses, though");
	is(r.fail.kind, BL_KIND_NONE, "a slot may come free");
	is(answers_step(u, 1000) ? 1 : 0, 1, "so it is asked again, a little later");
	is(make(&a, 0), 1, "and does it");
	event(a.reply, BL_EV_STARTED, 1, 0, 0);
	is(given(s[2], &guest), 0, "for the third one");
	(void)close(s[1]);
	steps();
	is(hung_up(b.owner), 1, "one who goes before it is given gives up all");
	cell_gone(&b);
	(void)close(a.owner);
	steps();
	is_str(r.fail.code, "cell_gone", "a cell that ends by itself is a loss");
	end();
}

static void
refusals(void)
{
	struct made c;
	int s, guest;

	begin(2);
	s = dial();
	say(s, want);
	is_str(r.fail.code, "slots_busy", "a quota of two has no fresh cell");
	end();
	begin(10);
	s = dial();
	say(s, want);
	is(make(&c, BL_AT_SLOT), 1, "others have all slots, and none is ours");
	is_str(r.fail.code, "slots_busy", "so nobody can say when");
	is(r.fail.kind, BL_KIND_INFRA, "which is no verdict");
	end();
	begin(10);
	s = dial();
	say(s, want);
	say(s, want);
	is(hung_up(s), 1, "who asks twice has nothing");
	is(make(&c, 0), 1, "what was asked for is made");
	is(hung_up(c.owner), 1, "and ended at once");
	is(r.fail.kind, BL_KIND_NONE, "with no harm done");
	cell_gone(&c);
	answers_until(u, now_ns());
	s = dial();
	say(s, want);
	is(given(s, &guest), ETIME, "the answers' time is over");
	is(make(&c, 0), 0, "and no cell is asked for");
	answers_until(u, conf.spec.deadline_ns);
	s = dial();
	say(s, want);
	is(make(&c, 0), 1, "its time is over while it is made");
	event(c.reply, BL_EV_EXIT, 1, 9, BL_LIMIT_TIME);
	is(given(s, &guest), ETIME, "which is the same");
	s = dial();
	say(s, want);
	is(make(&c, 0), 1, "its files");
	event(c.reply, BL_EV_EXIT, 1, 9, BL_LIMIT_NONE);
	is_str(r.fail.code, "files_not_written", "can't be written");
	end();
	begin(10);
	conf.spec.need = BL_NEED_UID;
	s = dial();
	say(s, want);
	is(make(&c, 0), 1, "a cell that lacks");
	event(c.reply, BL_EV_STARTED, 1, 0, 0);
	is_str(r.fail.code, "protection_missing", "what is required");
	is(given(s, &guest), -1, "is not given");
	end();
	begin(10);
	s = dial();
	say(s, want);
	(void)shutdown(helper_end, SHUT_RDWR);
	steps();
	is_str(r.fail.code, "helper_gone", "the helper ends");
	end();
}

/* A cell's last events come together, and the next one has its place. */
static void
at_once(void)
{
	struct made a, b;
	int s[2], guest;

	begin(3);			/* judge, answer and one more */
	for (int i = 0; i < 2; i++) {
		s[i] = dial();
		say(s[i], want);
	}
	is(make(&a, 0), 1, "the only place is the first one's");
	event(a.reply, BL_EV_STARTED, 1, 0, 0);
	is(given(s[0], &guest), 0, "who has it");
	(void)close(guest);
	(void)close(s[0]);
	steps();
	(void)close(a.report);		/* the place's end, */
	(void)close(a.owner);		/* and an event for who has it next */
	steps();
	is(r.fail.kind, BL_KIND_NONE, "one cell's end is not the next one's");
	is(make(&b, 0), 1, "which is made");
	event(b.reply, BL_EV_STARTED, 1, 0, 0);
	is(given(s[1], &guest), 0, "and given");
	is(r.fail.kind, BL_KIND_NONE, "with no harm done");
	(void)close(guest);
	(void)close(a.reply);
	cell_gone(&b);
	(void)close(s[1]);
	end();
}

/* The client has no descriptor for one who calls, and nobody else is there. */
static void
no_descriptor(void)
{
	struct sockaddr_un at;
	struct rlimit all, few;
	socklen_t n = sizeof at;
	static char buf[1 << 16];
	int s, next;

	begin(10);
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	next = fcntl(s, F_DUPFD_CLOEXEC, 0);
	if (s < 0 || next < 0 || getrlimit(RLIMIT_NOFILE, &all) != 0 ||
	    getsockname(listener, (struct sockaddr *)&at, &n) != 0 ||
	    connect(s, (struct sockaddr *)&at, n) != 0)
		abort();
	(void)close(next);
	few = (struct rlimit){ (rlim_t)next, all.rlim_max };
	(void)setrlimit(RLIMIT_NOFILE, &few);
	is(answers_step(u, 0) ? 1 : 0, 1, "someone calls");
	is(answers_step(u, 0) ? 1 : 0, 0, "but can't be let in");
	is(answers_step(u, 1000) ? 1 : 0, 1, "a little later");
	is(answers_step(u, 0) ? 1 : 0, 1, "it is tried again");
	is(recv(s, buf, sizeof buf, MSG_DONTWAIT), -1, "in vain");
	(void)setrlimit(RLIMIT_NOFILE, &all);
	is(answers_step(u, 1000) ? 1 : 0, 1, "and again");
	steps();
	ok(recv(s, buf, sizeof buf, MSG_DONTWAIT), >=,
	    (ssize_t)sizeof(struct note_conf), "until there is one");
	is(r.fail.kind, BL_KIND_NONE, "with no harm done");
	(void)close(s);
	steps();
	s = dial();
	(void)close(s);
	end();
}

int
main(void)
{
	notes();
	one_cell();
	turns();
	refusals();
	at_once();
	no_descriptor();
	return done();
}

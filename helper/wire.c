/* One datagram at a time, with exactly the descriptors that came. */
#include "ops.h"
#include "sys.h"

void
bag_drop(struct fdbag *b)
{
	while (b->n > 0)
		fd_drop(&b->fd[--b->n]);
}

/*
 * 1: one message of exactly size bytes is in buf, its descriptors in b;
 * 0: peer gone; -EAGAIN: nothing there; -EPROTO: anything else came.
 * Only 1 leaves descriptors in b.  Never waits.
 */
int
wire_recv(int sock, void *buf, size_t size, struct fdbag *b)
{
	union { struct cmsghdr h; char raw[CMSG_LEN(sizeof b->fd)]; } ctl;
	struct iovec iov = { buf, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = ctl.raw, .msg_controllen = sizeof ctl.raw };
	int got = sys(recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT));
	int lists = 0, bad = m.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
	struct cmsghdr *c;

	b->n = 0;
	if (got < 0)
		return got == -ECONNRESET ? 0 : got == -EINTR ? -EAGAIN : got;
	/*
	 * Own them before judging.  The peer can switch on SCM_PIDFD (4, Linux
	 * 6.5) for our end: that brings one too.  All lists together fit the
	 * bag, for the control buffer has its size.
	 */
	for (c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof b->fd[0];

		bad |= c->cmsg_type != SCM_RIGHTS || ++lists > 1;
		if (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != 4)
			continue;
		memcpy(b->fd + b->n, CMSG_DATA(c), n * sizeof b->fd[0]);
		b->n += (unsigned)n;
	}
	if (!bad && ((size_t)got == size || (got == 0 && b->n == 0)))
		return got != 0;
	bag_drop(b);
	return -EPROTO;
}

/*
 * The one descriptor of the next message on a socket between helper and cell
 * init, or -errno with p filled: what it says has failed, or that none came.
 */
int
wire_await(int sock, struct bl_rep *p)
{
	struct pollfd w = { sock, POLLIN, 0 };	/* an end wakes it, too */
	struct fdbag b = { .n = 0 };
	struct bl_rep got;
	int r = poll(&w, 1, 10000) != 1 ? 0 :
	    wire_recv(sock, &got, sizeof got, &b);

	if (r == 0)	/* unix(7): its end, our word unread, comes first */
		r = wire_recv(sock, &got, sizeof got, &b);
	if (r == 1 && got.status == 0 && b.n == 1)
		return b.fd[0];
	bag_drop(&b);
	if (r == 1 && got.status != 0)
		return wire_fail(p, got.step, got.object, got.status);
	return wire_fail(p, BL_AT_REPORT, w.revents == 0, ECHILD);
}

/* As wire_recv; 1 only for a request that passed its check. */
int
wire_request(int sock, struct bl_req *q, struct fdbag *b)
{
	int r = wire_recv(sock, q, sizeof *q, b);

	if (r != 1 || (bl_req_check(q) == 0 && bl_req_fds(q) == b->n))
		return r;
	bag_drop(b);
	return -EPROTO;
}

/*
 * 1: one request was handled, or none was there; 0: peer gone; -errno: it
 * broke the protocol, or the handler says that this is the end.  A handler
 * finds exactly the descriptors of its op, and empties the bag to keep them.
 */
int
wire_serve(struct server *s, const struct op ops[BL_OP_MAX])
{
	int r = wire_request(s->sock, &s->q, &s->b);
	const struct op *op = &ops[r == 1 ? s->q.op : BL_OP_NONE];
	struct bl_rep p = wire_reply(s->q.op, s->q.seq);

	if (r != 1)
		return r == -EAGAIN ? 1 : r;
	if ((op->when & s->state) == 0)
		r = -EPROTO;
	else if (op->then == 0) {	/* not in this build */
		(void)wire_fail(&p, BL_AT_UNKNOWN, s->q.op, ENOSYS);
		r = wire_send(s->sock, &p, NULL, 0);
	} else {
		r = op->fn == NULL ? 0 : op->fn(s);
		s->state = r == 0 ? op->then : s->state;
	}
	bag_drop(&s->b);
	return r == 0 ? 1 : r;
}

/* 0, or -errno.  Never waits: a full socket is the peer's own fault. */
int
wire_send(int sock, const struct bl_rep *p, const int *fds, unsigned n)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof(int[2]))]; } ctl;
	struct iovec iov = { (void *)(uintptr_t)p, sizeof *p };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	memset(&ctl, 0, sizeof ctl);
	if (n > 0) {
		ctl.h = (struct cmsghdr){ CMSG_LEN(n * sizeof *fds),
		    SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&ctl.h), fds, n * sizeof *fds);
		m.msg_control = ctl.raw;
		m.msg_controllen = CMSG_SPACE(n * sizeof *fds);
	}
	return sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* 0, or -ENOTSOCK: fd is a SOCK_SEQPACKET unix socket, listening or not. */
int
wire_is_ours(int fd, int listening)
{
	const int want[][2] = { { SO_DOMAIN, AF_UNIX },
	    { SO_TYPE, SOCK_SEQPACKET }, { SO_ACCEPTCONN, listening } };
	unsigned i;

	for (i = 0; i < COUNT(want); i++) {
		int is = -1;
		socklen_t n = sizeof is;

		if (getsockopt(fd, SOL_SOCKET, want[i][0], &is, &n) != 0 ||
		    is != want[i][1])
			return -ENOTSOCK;
	}
	return 0;
}

/* A reply with nothing but its head. */
struct bl_rep
wire_reply(unsigned kind, uint32_t seq)
{
	return (struct bl_rep){ .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = (uint16_t)kind, .seq = seq };
}

/* Makes p a refusal, and returns its negative errno. */
int
wire_fail(struct bl_rep *p, uint32_t step, uint32_t object, int err)
{
	p->step = step;
	p->object = object;
	return p->status = err < 0 ? err : -err;
}

/* Outside any op: the client reads why on its socket, or is gone. */
void
refuse(uint32_t at, uint32_t object, int err)
{
	struct bl_rep p = wire_reply(BL_OP_HELLO, 0);

	(void)wire_fail(&p, at, object, err);
	(void)wire_send(BL_SESSION_FD, &p, NULL, 0);
	die(at);
}

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
 * Owns every descriptor in m; -EPROTO if anything but one list of them came.
 * The peer can switch on SCM_PIDFD (4, Linux 6.5) for our end: that is one
 * too.  All lists together fit the bag, for the control buffer has its size.
 */
static int
bag_fill(struct fdbag *b, struct msghdr *m)
{
	struct cmsghdr *c;
	int r = 0, lists = 0;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof b->fd[0];

		if (c->cmsg_type != SCM_RIGHTS || ++lists > 1)
			r = -EPROTO;
		if (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != 4)
			continue;
		memcpy(b->fd + b->n, CMSG_DATA(c), n * sizeof b->fd[0]);
		b->n += (unsigned)n;
	}
	return r;
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
	int got = sys(recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT)), r;

	b->n = 0;
	if (got < 0)
		return got == -ECONNRESET ? 0 : got == -EINTR ? -EAGAIN : got;
	r = bag_fill(b, &m);			/* own them before judging */
	if (got == 0 && b->n == 0 && r == 0)
		return 0;
	if ((size_t)got == size && r == 0 &&
	    (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return 1;
	bag_drop(b);
	return -EPROTO;
}

/* The same; 1 only for a request that passed its check. */
int
wire_request(int sock, struct bl_req *q, struct fdbag *b)
{
	int r = wire_recv(sock, q, sizeof *q, b);

	if (r != 1 || (bl_req_check(q) == 0 && bl_req_fds(q) == b->n))
		return r;
	bag_drop(b);
	return -EPROTO;
}

/* 0, or -errno.  Never waits: a full socket is the peer's own fault. */
int
wire_send(int sock, const void *buf, size_t size, const int *fds,
    unsigned nfds)
{
	union { struct cmsghdr h; char raw[CMSG_SPACE(sizeof(int[2]))]; } ctl;
	struct iovec iov = { (void *)(uintptr_t)buf, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int put;

	memset(&ctl, 0, sizeof ctl);
	if (nfds > 0) {
		ctl.h = (struct cmsghdr){ CMSG_LEN(nfds * sizeof *fds),
		    SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&ctl.h), fds, nfds * sizeof *fds);
		m.msg_control = ctl.raw;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof *fds);
	}
	put = sys(sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL));
	return put < 0 ? put : (size_t)put == size ? 0 : -EPROTO;
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

void
die(uint32_t at)
{
	_exit((int)at);
}

/* Outside any op: the client reads why on its socket, or is gone. */
void
refuse(uint32_t at, uint32_t object, int err)
{
	struct bl_rep p = wire_reply(BL_OP_HELLO, 0);

	(void)wire_fail(&p, at, object, err);
	(void)wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0);
	die(at);
}

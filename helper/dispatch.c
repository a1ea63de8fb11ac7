/* What a client may ask of the helper, and when. */
#include "ops.h"
#include "sys.h"

static int
op_hello(struct session *s)
{
	struct bl_rep p = wire_reply(s->q.op, s->q.seq);

	p.u.hello = s->hello;
	return wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0);
}

/* PATH has its place on the wire, and this build no more of it than this. */
static int
op_other(struct session *s)
{
	struct bl_rep p = wire_reply(s->q.op, s->q.seq);

	if (s->q.op != BL_OP_BYE)
		(void)wire_fail(&p, BL_AT_UNKNOWN, s->q.op, ENOSYS);
	return wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0);
}

/* Descriptors are counted exactly by bl_req_fds before this is reached. */
static const struct op {
	unsigned when, then;		/* legal states, next state */
	int (*fn)(struct session *);
} ops[BL_OP_MAX] = {
	[BL_OP_HELLO]	= { ST_NEW,   ST_READY, op_hello },
	[BL_OP_CELL]	= { ST_READY, ST_READY, op_cell },
	[BL_OP_PATH]	= { ST_READY, ST_READY, op_other },
	[BL_OP_BYE]	= { ST_READY, ST_DONE,  op_other },
};

/* 0, or -errno: the session ends. */
int
dispatch(struct session *s)
{
	const struct op *op = &ops[s->q.op < BL_OP_MAX ? s->q.op : 0];
	int r = op->fn == NULL || (op->when & s->state) == 0 ? -EPROTO :
	    op->fn(s);

	if (r == 0)
		s->state = op->then;
	return r;
}

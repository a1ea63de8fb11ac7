/* What a client may ask of the helper, and when. */
#include <errno.h>
#include <string.h>

#include "ops.h"

static int
op_hello(struct session *s, const struct bl_req *q, struct fdbag *b)
{
	struct bl_rep p = wire_reply(q->op, q->seq);
	struct bl_rep_hello *h = &p.u.hello;

	(void)b;			/* dispatch saw that it is empty */
	h->way = s->way;
	h->uid = s->uid;
	h->gid = s->gid;
	h->slots = s->quota.slots;
	h->memory_max = s->quota.max.memory_max;
	h->disk_max = s->quota.max.disk_max;
	h->fsize_max = s->quota.max.fsize_max;
	h->wall_ms_max = s->quota.max.wall_ms_max;
	h->pids_max = s->quota.max.pids_max;
	h->builtin = s->builtin;
	memcpy(h->digest, s->rules->digest, sizeof h->digest);
	return wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0);
}

static int
op_bye(struct session *s, const struct bl_req *q, struct fdbag *b)
{
	struct bl_rep p = wire_reply(q->op, q->seq);

	(void)s;
	(void)b;
	return wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0);
}

/* Has its place on the wire; this build has no more of it than this answer. */
static int
op_absent(struct session *s, const struct bl_req *q, struct fdbag *b)
{
	struct bl_rep p = wire_reply(q->op, q->seq);

	(void)s;
	(void)b;
	p.status = -ENOSYS;
	p.step = BL_AT_UNKNOWN;
	p.object = q->op;
	return wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0);
}

/* Descriptors are counted exactly by bl_req_fds before this is reached. */
static const struct op {
	unsigned when, then;		/* legal states, next state */
	int (*fn)(struct session *, const struct bl_req *, struct fdbag *);
} ops[BL_OP_MAX] = {
	[BL_OP_HELLO]	= { ST_NEW,   ST_READY, op_hello },
	[BL_OP_CELL]	= { ST_READY, ST_READY, op_cell },
	[BL_OP_PATH]	= { ST_READY, ST_READY, op_absent },
	[BL_OP_BYE]	= { ST_READY, ST_DONE,  op_bye },
};

/* 0, or -errno: the session ends. */
int
dispatch(struct session *s, const struct bl_req *q, struct fdbag *b)
{
	const struct op *op = &ops[q->op < BL_OP_MAX ? q->op : 0];
	int r;

	if (op->fn == NULL || (op->when & s->state) == 0)
		return -EPROTO;
	r = op->fn(s, q, b);
	if (r == 0)
		s->state = op->then;
	return r;
}

/* Judges every reply and event by content alone: the client's side of proto.c. */
#include <errno.h>

#include "reply.h"

enum { ERRNO_MAX = 4095 };		/* the kernel's MAX_ERRNO */

/* 1: bytes from, from + 1, ... up to size are all 0. */
static int
bytes_zero(const uint8_t *p, size_t from, size_t size)
{
	size_t i;

	for (i = from; i < size; i++)
		if (p[i] != 0)
			return 0;
	return 1;
}

/* How many bytes of the body are due, or -EPROTO where they are not sound. */
static int
body_used(const struct bl_rep *p)
{
	switch (p->kind) {
	case BL_OP_HELLO:
		if (p->status != 0)
			return 0;
		return p->u.hello.way > BL_WAY_NONE &&
		    p->u.hello.way <= BL_WAY_ROOTLESS &&
		    p->u.hello.builtin <= 1 && p->u.hello.zero == 0 ? (int)sizeof p->u.hello : -EPROTO;
	case BL_OP_CELL:
		if (p->status != 0)
			return 0;
		return ((p->u.cell.role < BL_ROLE_MAX) &
		    (p->u.cell.flags <= BL_CELL_FLAGS)) != 0 ?
		    (int)sizeof p->u.cell : -EPROTO;
	case BL_EV_STARTED:
		return p->status == 0 && p->u.seen.zero == 0 ?
		    (int)sizeof p->u.seen : -EPROTO;
	case BL_EV_EXIT:
		return p->status == 0 && p->u.exit.zero == 0 &&
		    p->u.exit.limit < BL_LIMIT_MAX ?
		    (int)sizeof p->u.exit : -EPROTO;
	case BL_EV_FAIL:
		return p->status != 0 ? 0 : -EPROTO;
	default:
		return 0;
	}
}

static int
kind_known(uint16_t kind)
{
	return (kind >= BL_OP_HELLO && kind <= BL_OP_BYE) ||
	    (kind >= BL_OP_GO && kind < BL_OP_MAX) ||
	    (kind >= BL_EV_STARTED && kind < BL_EV_MAX);
}

int
bl_rep_check(const struct bl_rep *p)
{
	int used;

	if (p->magic != BL_MAGIC || p->version != BL_VERSION ||
	    !kind_known(p->kind))
		return -EPROTO;
	if (p->status > 0 || p->status < -ERRNO_MAX || p->step >= BL_AT_MAX)
		return -EPROTO;
	if (p->status == 0 && (p->step != BL_AT_NONE || p->object != 0))
		return -EPROTO;
	if (p->kind < BL_EV_STARTED && (p->spawn != 0 || p->lost != 0))
		return -EPROTO;
	used = body_used(p);
	if (used < 0 || !bytes_zero(p->u.raw, (size_t)used, sizeof p->u.raw))
		return -EPROTO;
	return 0;
}

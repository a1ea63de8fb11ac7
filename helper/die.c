/* The two ways to give up: with a reply, and without one. */
#include <unistd.h>

#include "ops.h"

void
die(enum bl_at at)
{
	_exit((int)at);
}

/* Before the session begins: the client reads why on its socket. */
void
refuse(enum bl_at at, uint32_t object, int err)
{
	struct bl_rep p = wire_reply(BL_OP_HELLO, 0);

	p.status = err < 0 ? err : -err;
	p.step = at;
	p.object = object;
	(void)wire_send(BL_SESSION_FD, &p, sizeof p, NULL, 0); /* or it is gone */
	die(at);
}

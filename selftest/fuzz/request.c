/* Requests and replies: what passes the check keeps every promise of it. */
/* max_len: 2048 */
#include "../../policy/proto.h"
#include "must.h"

static int
zeros(const void *at, size_t n)
{
	const uint8_t *p = at;

	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			return 0;
	return 1;
}

static void
cell(const struct bl_req_cell *c)
{
	MUST(c->role > BL_ROLE_NONE && c->role < BL_ROLE_MAX);
	MUST((c->flags & ~(uint32_t)BL_CELL_FLAGS) == 0);
	MUST(c->nplaces <= BL_PLACES_MAX && c->zero == 0 && c->limits.zero == 0);
	for (unsigned i = 0; i < BL_PLACES_MAX; i++) {
		const struct bl_place *p = &c->place[i];

		if (i >= c->nplaces) {
			MUST(zeros(p, sizeof *p));
			continue;
		}
		MUST(p->kind == BL_PLACE_BIND || p->kind == BL_PLACE_TMPFS);
		MUST(p->kind == BL_PLACE_TMPFS || p->size == 0);
		MUST(sound(p->dst, sizeof p->dst));
		MUST(zeros(p->dst + strlen(p->dst),
		    sizeof p->dst - strlen(p->dst)));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bl_req q = { .magic = BL_MAGIC, .version = BL_VERSION };
	struct bl_rep p = { .magic = BL_MAGIC, .version = BL_VERSION };
	size_t head = offsetof(struct bl_req, op);

	if (size < 1)
		return 0;
	if (data[0] & 1)		/* most inputs start with a right head */
		head = 0;
	fill((uint8_t *)&q + head, sizeof q - head, data + 1, size - 1);
	if (bl_req_check(&q) == 0) {
		MUST(q.magic == BL_MAGIC && q.version == BL_VERSION);
		MUST(q.op > BL_OP_NONE && q.op < BL_OP_MAX && q.zero == 0);
		MUST(bl_req_fds(&q) <= BL_FDS_MAX);
		switch (q.op) {
		case BL_OP_CELL:
			cell(&q.u.cell);
			break;
		case BL_OP_SPAWN:
			MUST((q.u.spawn.flags & ~(uint32_t)BL_SPAWN_FLAGS) == 0);
			MUST(bl_req_fds(&q) == 5 + (q.u.spawn.flags & 1));
			break;
		case BL_OP_PATH:
			break;
		default:
			MUST(zeros(&q.u, sizeof q.u));
		}
	}
	fill((uint8_t *)&p + head, sizeof p - head, data + 1, size - 1);
	if (bl_rep_check(&p) == 0) {
		MUST(p.magic == BL_MAGIC && p.version == BL_VERSION);
		MUST(p.kind < BL_EV_MAX);
	}
	return 0;
}

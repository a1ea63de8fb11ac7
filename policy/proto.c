/* Judges every request by content alone; asks the kernel nothing. */
#include "proto.h"

#include <errno.h>
#include <string.h>

/* Which bytes of the body an op uses, and how many descriptors it brings. */
static const struct shape {
	unsigned known, body, fds;
} shapes[BL_OP_MAX] = {
	[BL_OP_HELLO] = { 1, 0, 0 }, [BL_OP_BYE] = { 1, 0, 0 },
	[BL_OP_CELL] = { 1, sizeof(struct bl_req_cell), 0 },
	[BL_OP_PATH] = { 1, BL_DST_MAX, 0 },
	[BL_OP_GO] = { 1, 0, 0 }, [BL_OP_KILL] = { 1, 0, 0 },
	[BL_OP_SPAWN] = { 1, sizeof(struct bl_req_spawn), 5 },
	[BL_OP_PAUSE] = { 1, 0, 0 }, [BL_OP_RESUME] = { 1, 0, 0 },
	[BL_OP_ATTACH] = { 1, 0, 2 }, [BL_OP_LISTEN] = { 1, 0, 2 },
};

int
bl_path_next(const char path[BL_DST_MAX], size_t *pos, char name[BL_NAME_MAX])
{
	size_t i = *pos, n = 0;

	memset(name, 0, BL_NAME_MAX);
	if (i >= BL_DST_MAX)
		return -EINVAL;
	if (path[i] != '/')
		return i > 0 && path[i] == '\0' ? 0 : -EINVAL;
	if (i++ == 0 && path[1] == '\0') {	/* the root: no component */
		*pos = 1;
		return 0;
	}
	for (; i < BL_DST_MAX && path[i] != '\0' && path[i] != '/'; i++) {
		if (n >= BL_NAME_MAX - 1 || path[i] < ' ' || path[i] > '~')
			return -EINVAL;
		name[n++] = path[i];
	}
	if ((i >= BL_DST_MAX) | (n == 0) | ((n == 1) & (name[0] == '.')) |
	    ((n == 2) & (name[0] == '.') & (name[1] == '.')))
		return -EINVAL;
	*pos = i;
	return 1;
}

/* How many components a sound path has, zero to the end; or -EINVAL. */
static int
path_count(const char path[BL_DST_MAX])
{
	char name[BL_NAME_MAX];
	size_t pos = 0, i;
	int count = 0, r = 1;

	/* Two bytes each at least, so the bound is never what ends it. */
	for (i = 0; i < BL_DST_MAX && r > 0; i++) {
		r = bl_path_next(path, &pos, name);
		count += r > 0;
	}
	for (i = pos; r == 0 && i < BL_DST_MAX; i++)
		r = path[i] != '\0' ? -EINVAL : 0;
	return r != 0 ? -EINVAL : count;
}

static int
place_sound(const struct bl_place *p)
{
	return p->zero == 0 && path_count(p->dst) >= 1 &&
	    (p->kind == BL_PLACE_BIND ? p->size == 0 :
	    p->kind == BL_PLACE_TMPFS && p->size != 0);
}

static int
cell_sound(const struct bl_req_cell *c)
{
	static const struct bl_place unused;
	uint32_t i;

	if (c->role <= BL_ROLE_NONE || c->role >= BL_ROLE_MAX ||
	    (c->need & ~(uint32_t)(BL_NEED_FULL | BL_NEED_CGROUP)) != 0 ||
	    (c->flags & ~(uint32_t)BL_CELL_FLAGS) != 0 || c->zero != 0 ||
	    ((c->need & BL_NEED_CGROUP) && !(c->flags & BL_CELL_CGROUP)) ||
	    ((c->need & BL_NEED_NET) && (c->flags & BL_CELL_HOST_NET)) ||
	    c->limits.zero != 0 || c->nplaces > BL_PLACES_MAX)
		return 0;
	for (i = 0; i < BL_PLACES_MAX; i++)
		if (i < c->nplaces ? !place_sound(&c->place[i]) :
		    memcmp(&c->place[i], &unused, sizeof unused) != 0)
			return 0;
	return 1;
}

int
bl_req_check(const struct bl_req *q)
{
	const struct shape *s = &shapes[q->op < BL_OP_MAX ? q->op : 0];
	size_t i;
	int sound = s->known && q->magic == BL_MAGIC &&
	    q->version == BL_VERSION && q->zero == 0;

	if (sound && q->op == BL_OP_CELL)
		sound = cell_sound(&q->u.cell);
	else if (sound && q->op == BL_OP_PATH)
		sound = path_count(q->u.path) >= 0;
	else if (sound && q->op == BL_OP_SPAWN)
		sound = q->u.spawn.zero == 0 &&
		    (q->u.spawn.flags & ~(uint32_t)BL_SPAWN_FLAGS) == 0;
	for (i = s->body; sound && i < sizeof q->u.raw; i++)
		sound = q->u.raw[i] == 0;
	return sound ? 0 : -EPROTO;
}

unsigned
bl_req_fds(const struct bl_req *q)
{
	unsigned n = shapes[q->op < BL_OP_MAX ? q->op : 0].fds, i;

	if (q->op == BL_OP_SPAWN)
		n += (q->u.spawn.flags & BL_SPAWN_RESULT) != 0;
	else if (q->op == BL_OP_CELL) {
		n = (q->u.cell.flags & BL_CELL_CGROUP) != 0;
		for (i = 0; i < BL_PLACES_MAX; i++)
			n += q->u.cell.place[i].kind == BL_PLACE_BIND;
	}
	return n;
}

/* Judges every message and spec by content alone; asks the kernel nothing. */
#include "proto.h"

#include <errno.h>
#include <string.h>

enum {
	PATH_FIRST	= 0x20,		/* printable ASCII, space included */
	PATH_LAST	= 0x7e,
	STEP_MODE	= 0777,
	ERRNO_MAX	= 4095		/* the kernel's MAX_ERRNO */
};

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

int
bl_path_next(const char path[BL_DST_MAX], size_t *pos, char name[BL_NAME_MAX])
{
	size_t i = *pos, n = 0;

	memset(name, 0, BL_NAME_MAX);
	if (i >= BL_DST_MAX)
		return -EINVAL;
	if (i > 0 && path[i] == '\0')
		return 0;
	if (path[i] != '/')
		return -EINVAL;
	i++;
	if (i == 1 && path[1] == '\0') {	/* the root: no component */
		*pos = 1;
		return 0;
	}
	for (; i < BL_DST_MAX && path[i] != '\0' && path[i] != '/'; i++) {
		if (n >= BL_NAME_MAX - 1 || path[i] < PATH_FIRST ||
		    path[i] > PATH_LAST)
			return -EINVAL;
		name[n] = path[i];
		n++;
	}
	if (i >= BL_DST_MAX || n == 0 || (n == 1 && name[0] == '.') ||
	    (n == 2 && name[0] == '.' && name[1] == '.'))
		return -EINVAL;
	*pos = i;
	return 1;
}

int
bl_path_meets(const char *a, const char *b)
{
	size_t i;

	for (i = 0; i < BL_DST_MAX; i++) {
		if (a[i] == '\0' && b[i] == '\0')
			return 1;
		/* i is 1 for the root alone, which is above everything */
		if (a[i] == '\0')
			return b[i] == '/' || i == 1;
		if (b[i] == '\0')
			return a[i] == '/' || i == 1;
		if (a[i] != b[i])
			return 0;
	}
	return 1;			/* no end in sight: take the worse */
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
		if (r > 0)
			count++;
	}
	if (r != 0)
		return -EINVAL;
	for (i = pos; i < BL_DST_MAX; i++)
		if (path[i] != '\0')
			return -EINVAL;
	return count;
}

static int
place_unused(const struct bl_place *p)
{
	size_t i;

	for (i = 0; i < BL_DST_MAX; i++)
		if (p->dst[i] != '\0')
			return 0;
	return p->kind == 0 && p->zero == 0 && p->size == 0;
}

static int
place_sound(const struct bl_place *p)
{
	if (p->zero != 0 || path_count(p->dst) < 1)
		return 0;
	if (p->kind == BL_PLACE_BIND)
		return p->size == 0;
	return p->kind == BL_PLACE_TMPFS && p->size != 0;
}

static int
cell_sound(const struct bl_req_cell *c)
{
	const uint32_t needs = BL_NEED_FULL | BL_NEED_CGROUP;
	uint32_t i;

	if (c->role <= BL_ROLE_NONE || c->role >= BL_ROLE_MAX)
		return 0;
	if ((c->need & ~needs) != 0 ||
	    (c->flags & ~(uint32_t)BL_CELL_FLAGS) != 0)
		return 0;
	if (c->limits.zero != 0 || c->zero != 0 ||
	    c->nplaces > BL_PLACES_MAX)
		return 0;
	for (i = 0; i < BL_PLACES_MAX; i++)
		if (i < c->nplaces ? !place_sound(&c->place[i]) :
		    !place_unused(&c->place[i]))
			return 0;
	return 1;
}

int
bl_req_check(const struct bl_req *q)
{
	size_t used = 0;
	int sound = 1;

	if (q->magic != BL_MAGIC || q->version != BL_VERSION || q->zero != 0)
		return -EPROTO;
	switch (q->op) {
	case BL_OP_CELL:
		sound = cell_sound(&q->u.cell);
		used = sizeof q->u.cell;
		break;
	case BL_OP_PATH:
		sound = path_count(q->u.path.path) >= 0;
		used = sizeof q->u.path;
		break;
	case BL_OP_SPAWN:
		sound = q->u.spawn.zero == 0 &&
		    (q->u.spawn.flags & ~(uint32_t)BL_SPAWN_FLAGS) == 0;
		used = sizeof q->u.spawn;
		break;
	case BL_OP_HELLO:
	case BL_OP_BYE:
	case BL_OP_GO:
	case BL_OP_KILL:
	case BL_OP_PAUSE:
	case BL_OP_RESUME:
	case BL_OP_ATTACH:
	case BL_OP_LISTEN:
		break;
	default:
		sound = 0;
		break;
	}
	if (!sound || !bytes_zero(q->u.raw, used, sizeof q->u.raw))
		return -EPROTO;
	return 0;
}

unsigned
bl_req_fds(const struct bl_req *q)
{
	unsigned n = 0, i;

	switch (q->op) {
	case BL_OP_CELL:
		for (i = 0; i < BL_PLACES_MAX; i++)
			if (q->u.cell.place[i].kind == BL_PLACE_BIND)
				n++;
		if ((q->u.cell.flags & BL_CELL_CGROUP) != 0)
			n++;
		return n;
	case BL_OP_SPAWN:
		return (q->u.spawn.flags & BL_SPAWN_RESULT) != 0 ? 6 : 5;
	case BL_OP_ATTACH:
	case BL_OP_LISTEN:
		return 2;
	default:
		return 0;
	}
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
		    p->u.hello.builtin <= 1 ? (int)sizeof p->u.hello : -EPROTO;
	case BL_OP_CELL:
		if (p->status != 0)
			return 0;
		return p->u.cell.cgroup <= 1 ?
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

static int
step_sound(const struct bl_step *s, uint64_t size, uint64_t total)
{
	if (s->mode > STEP_MODE)
		return 0;
	switch (s->kind) {
	case BL_STEP_PUT:		/* a difference cannot overflow here */
		return s->off >= size && s->off <= total &&
		    s->len <= total - s->off;
	case BL_STEP_TAKE:
		return s->off == 0;
	case BL_STEP_DIR:
	case BL_STEP_LISTEN:
		return s->off == 0 && s->len == 0;
	default:
		return 0;
	}
}

/* 1: exactly the strings h names, each with its end, variables with a name. */
static int
strings_sound(const char *s, size_t from, const struct bl_spec *h)
{
	const uint32_t env = 1 + h->nargs, steps = env + h->nenv;
	size_t i, start = from;
	uint32_t n = 0;
	int named = 0;

	for (i = from; i < h->size; i++) {
		if (s[i] == '=' && i > start)
			named = 1;
		if (s[i] == '=' && i == start && n >= env && n < steps)
			return 0;
		if (s[i] != '\0')
			continue;
		if (n >= env && n < steps && !named)
			return 0;
		n++;
		start = i + 1;
		named = 0;
	}
	return start == h->size && n == steps + h->nsteps;
}

static uint32_t
spec_judge(const char *buf, size_t n, uint64_t total)
{
	struct bl_spec h;
	struct bl_step step;
	size_t at;
	uint32_t i;

	if (n < sizeof h)
		return BL_SPEC_SHORT;
	memcpy(&h, buf, sizeof h);
	if (h.magic != BL_MAGIC || h.version != BL_VERSION)
		return BL_SPEC_MAGIC;
	if (n > BL_SPEC_READ || n > total || total > BL_SPEC_BYTES ||
	    h.size < sizeof h || h.size > n)
		return BL_SPEC_SIZE;
	if (h.nargs > BL_ARGS_MAX || h.nenv > BL_ENV_MAX ||
	    h.nsteps > BL_STEPS_MAX || h.limits.zero != 0)
		return BL_SPEC_COUNTS;
	if (h.nsteps > (h.size - sizeof h) / sizeof step)
		return BL_SPEC_SIZE;
	at = sizeof h;
	for (i = 0; i < h.nsteps; i++) {
		memcpy(&step, buf + at, sizeof step);	/* of any alignment */
		if (!step_sound(&step, h.size, total))
			return BL_SPEC_STEP;
		at += sizeof step;
	}
	return strings_sound(buf, at, &h) ? BL_SPEC_OK : BL_SPEC_STRINGS;
}

int
bl_spec_check(const void *buf, size_t n, uint64_t total, uint32_t *bad)
{
	*bad = spec_judge(buf, n, total);
	return *bad == BL_SPEC_OK ? 0 : -EINVAL;
}

/* Fuzz: a request or reply that passes its check is what the check promises. */
/* max_len: 2049 */
#include "../../policy/reply.h"
#include "../../policy/rules_check.h"

#include <stdlib.h>
#include <string.h>

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must_be_path(const char path[BL_DST_MAX], int least)
{
	char name[BL_NAME_MAX];
	size_t pos = 0, last = 0, i;
	int n = 0, r;

	while ((r = bl_path_next(path, &pos, name)) > 0) {
		MUST(memchr(name, '\0', sizeof name) != NULL);
		MUST(name[0] != '\0' && strchr(name, '/') == NULL);
		MUST(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
		MUST(pos > last && pos < BL_DST_MAX);
		last = pos;
		n++;
	}
	MUST(r == 0 && n >= least && path[0] == '/');
	for (i = strlen(path); i < BL_DST_MAX; i++)
		MUST(path[i] == '\0');
	MUST(bl_path_meets(path, path) == 1);
	MUST(bl_path_meets(path, "/") == 1 && bl_path_meets("/", path) == 1);
	MUST(bl_path_meets(path, "/usr") == bl_path_meets("/usr", path));
}

static void
must_be_cell(const struct bl_req *q)
{
	const struct bl_req_cell *c = &q->u.cell;
	unsigned i, binds = 0;

	MUST(c->role > BL_ROLE_NONE && c->role < BL_ROLE_MAX);
	MUST(c->nplaces <= BL_PLACES_MAX);
	for (i = 0; i < c->nplaces; i++) {
		must_be_path(c->place[i].dst, 1);
		MUST((c->place[i].kind == BL_PLACE_TMPFS) ==
		    (c->place[i].size != 0));
		binds += c->place[i].kind == BL_PLACE_BIND;
	}
	for (; i < BL_PLACES_MAX; i++)
		MUST(c->place[i].kind == 0 && c->place[i].dst[0] == '\0');
	MUST(bl_req_fds(q) == binds + ((c->flags & BL_CELL_CGROUP) != 0));
}

static void
try_req(const uint8_t *data, size_t size)
{
	struct bl_req q;

	memset(&q, 0, sizeof q);
	memcpy(&q, data, size < sizeof q ? size : sizeof q);
	q.magic = BL_MAGIC;		/* not what is to be found out */
	q.version = BL_VERSION;
	q.zero = 0;
	if (bl_req_check(&q) != 0)
		return;
	MUST(q.op > BL_OP_NONE && q.op < BL_OP_MAX);
	MUST(bl_req_fds(&q) <= BL_FDS_MAX);
	if (q.op == BL_OP_CELL)
		must_be_cell(&q);
	if (q.op == BL_OP_PATH)
		must_be_path(q.u.path, 0);
	q.u.raw[sizeof q.u.raw - 1] ^= 1;	/* no op has a use for it */
	MUST(bl_req_check(&q) != 0);
}

static void
try_rep(const uint8_t *data, size_t size)
{
	struct bl_rep p;

	memset(&p, 0, sizeof p);
	memcpy(&p, data, size < sizeof p ? size : sizeof p);
	p.magic = BL_MAGIC;
	p.version = BL_VERSION;
	if (bl_rep_check(&p) != 0)
		return;
	MUST(p.status <= 0 && p.step < BL_AT_MAX && p.kind < BL_EV_MAX);
	MUST(p.kind != BL_EV_FAIL || p.status != 0);
	MUST(p.kind != BL_EV_EXIT || p.u.exit.limit < BL_LIMIT_MAX);
	p.u.raw[sizeof p.u.raw - 1] ^= 1;
	MUST(bl_rep_check(&p) != 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] % 4 == 0)
		try_rep(data + 1, size - 1);
	else
		try_req(data + 1, size - 1);
	return 0;
}

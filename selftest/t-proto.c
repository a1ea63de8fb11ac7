/* policy/proto.c: every check of a message or spec refuses what it is for. */
#include "../policy/reply.h"
#include "../policy/rules_check.h"
#include "../policy/spec.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct bl_req
request(unsigned op)
{
	struct bl_req q;

	memset(&q, 0, sizeof q);
	q.magic = BL_MAGIC;
	q.version = BL_VERSION;
	q.op = (uint16_t)op;
	q.seq = 7;
	return q;
}

static struct bl_req
cell(void)
{
	struct bl_req q = request(BL_OP_CELL);

	q.u.cell.role = BL_ROLE_ANSWER;
	q.u.cell.need = BL_NEED_FULL;
	q.u.cell.nplaces = 2;
	q.u.cell.place[0].kind = BL_PLACE_BIND;
	memcpy(q.u.cell.place[0].dst, "/opt/a", 6);
	q.u.cell.place[1].kind = BL_PLACE_TMPFS;
	q.u.cell.place[1].size = 4096;
	memcpy(q.u.cell.place[1].dst, "/scratch", 8);
	return q;
}

static void
test_path_next(void)
{
	static const struct {
		const char *path;
		int n;			/* components; -1: refused */
	} rows[] = {
		{ "/", 0 }, { "/a", 1 }, { "/a/b c/d", 3 }, { "/...", 1 },
		{ "/.a", 1 }, { "/..a", 1 }, { "/a.", 1 }, { "/~", 1 },
		{ "", -1 }, { "a", -1 }, { "a/b", -1 }, { ".", -1 },
		{ "//", -1 }, { "/a/", -1 }, { "//a", -1 }, { "/a//b", -1 },
		{ "/.", -1 }, { "/..", -1 }, { "/a/.", -1 }, { "/a/..", -1 },
		{ "/a/../b", -1 }, { "/a/./b", -1 }, { "/a\n", -1 },
		{ "/\x7f", -1 }, { "/\x1f", -1 }, { "/\xc3\xa9", -1 },
		{ "/a/\xff", -1 }, { "/a\tb", -1 },
	};
	char path[BL_DST_MAX], name[BL_NAME_MAX];
	size_t i, pos;
	int n, r;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		memset(path, 0, sizeof path);
		memcpy(path, rows[i].path, strlen(rows[i].path));
		pos = 0;
		for (n = 0; (r = bl_path_next(path, &pos, name)) > 0; n++)
			continue;
		is(r == 0 ? n : -1, rows[i].n, "path row %zu", i);
		if (r < 0)
			is(r, -EINVAL, "row %zu: -EINVAL", i);
	}
	memset(path, 0, sizeof path);
	memcpy(path, "/usr/lib", 8);
	pos = 0;
	is(bl_path_next(path, &pos, name), 1, "first");
	is_str(name, "usr", "its name");
	is(pos, 4, "behind it");
	is(bl_path_next(path, &pos, name), 1, "second");
	is_str(name, "lib", "its name");
	is(bl_path_next(path, &pos, name), 0, "no more");
	is(bl_path_next(path, &pos, name), 0, "still no more");

	memset(path, 'x', sizeof path);
	path[0] = '/';
	path[BL_NAME_MAX] = '\0';
	pos = 0;
	is(bl_path_next(path, &pos, name), 1, "63 bytes fit");
	is(strlen(name), BL_NAME_MAX - 1, "all of them");
	path[BL_NAME_MAX] = 'x';
	path[BL_NAME_MAX + 1] = '\0';
	pos = 0;
	is(bl_path_next(path, &pos, name), -EINVAL, "64 do not");

	for (i = 0; i < sizeof path; i++)	/* never an end */
		path[i] = i % 2 == 0 ? '/' : 'x';
	for (pos = 0; (r = bl_path_next(path, &pos, name)) > 0;)
		continue;
	is(r, -EINVAL, "a path without an end");
	ok(pos, <, sizeof path, "and nothing behind it was read");
	pos = sizeof path;
	is(bl_path_next(path, &pos, name), -EINVAL, "a position outside");
	path[BL_DST_MAX - 1] = '\0';
	path[BL_DST_MAX - 2] = 'x';
	pos = 0;
	while ((r = bl_path_next(path, &pos, name)) > 0)
		continue;
	is(r, 0, "175 bytes are a path");
}

static void
test_path_meets(void)
{
	static const struct {
		const char *a, *b;
		int meets;
	} rows[] = {
		{ "/a", "/a", 1 }, { "/a", "/a/b", 1 }, { "/a", "/ab", 0 },
		{ "/a/b", "/a/c", 0 }, { "/", "/a", 1 }, { "/", "/", 1 },
		{ "/a/b/c", "/a", 1 }, { "/usr/lib", "/usr/lib64", 0 },
		{ "/proc", "/process", 0 }, { "/b", "/a", 0 },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		is(bl_path_meets(rows[i].a, rows[i].b), rows[i].meets,
		    "%s and %s", rows[i].a, rows[i].b);
		is(bl_path_meets(rows[i].b, rows[i].a), rows[i].meets,
		    "%s and %s", rows[i].b, rows[i].a);
	}
}

/* Every op: alone it passes, with one byte set behind its body it does not. */
static void
test_req_ops(void)
{
	unsigned op;
	size_t i;

	for (op = 0; op < 70; op++) {
		struct bl_req q = op == BL_OP_CELL ? cell() : request(op);
		int known = (op >= 1 && op <= 4) || (op >= 8 && op <= 14);
		size_t body = op == BL_OP_CELL ? sizeof q.u.cell :
		    op == BL_OP_SPAWN ? sizeof q.u.spawn :
		    op == BL_OP_PATH ? sizeof q.u.path : 0;
		int bad = 0;

		if (op == BL_OP_PATH)
			memcpy(q.u.path, "/usr/bin", 8);
		is(bl_req_check(&q), known ? 0 : -EPROTO, "op %u", op);
		if (!known)
			continue;
		for (i = body; i < sizeof q.u.raw; i++) {
			q.u.raw[i] = 1;
			bad += bl_req_check(&q) == 0;
			q.u.raw[i] = 0;
		}
		is(bad, 0, "op %u: nothing behind its body", op);
		q.magic++;
		is(bl_req_check(&q), -EPROTO, "op %u: magic", op);
		q.magic--;
		q.version++;
		is(bl_req_check(&q), -EPROTO, "op %u: a later version", op);
		q.version = 0;
		is(bl_req_check(&q), -EPROTO, "op %u: no version", op);
		q.version = BL_VERSION;
		q.zero = 1;
		is(bl_req_check(&q), -EPROTO, "op %u: zero", op);
	}
	for (op = 15, i = 0; op <= UINT16_MAX; op++) {
		struct bl_req q = request(op);

		i += bl_req_check(&q) == 0;
	}
	is(i, 0, "no op above the last");
}

#define REFUSED(change, name) do { \
	struct bl_req q = cell(); \
	struct bl_req_cell *c = &q.u.cell; \
	change; \
	is(bl_req_check(&q), -EPROTO, "cell: %s", name); \
} while (0)
#define TAKEN(change, name) do { \
	struct bl_req q = cell(); \
	struct bl_req_cell *c = &q.u.cell; \
	change; \
	is(bl_req_check(&q), 0, "cell: %s", name); \
} while (0)

static void
test_req_cell(void)
{
	size_t i;

	REFUSED(c->role = BL_ROLE_NONE, "no role");
	REFUSED(c->role = BL_ROLE_MAX, "a role too many");
	REFUSED(c->role = UINT32_MAX, "role -1");
	REFUSED(c->need = 1 << 7, "an unknown need");
	REFUSED(c->need |= UINT32_C(1) << 31, "another");
	REFUSED(c->flags = 4, "an unknown flag");
	REFUSED(c->flags = UINT32_C(1) << 31, "another");
	REFUSED(c->zero = 1, "zero");
	REFUSED(c->limits.zero = 1, "zero of the limits");
	REFUSED(c->nplaces = BL_PLACES_MAX + 1, "a place too many");
	REFUSED(c->nplaces = UINT32_MAX, "places -1");
	REFUSED(c->nplaces = 3, "a place that is not there");
	REFUSED(c->nplaces = 1, "a place that is not counted");
	REFUSED(c->place[0].kind = 3, "a kind");
	REFUSED(c->place[0].kind = 0, "no kind");
	REFUSED(c->place[0].zero = 1, "zero of a place");
	REFUSED(c->place[0].size = 1, "a size where none is due");
	REFUSED(c->place[1].size = 0, "no size where one is due");
	REFUSED(c->place[0].dst[0] = 'x', "a relative place");
	REFUSED(c->place[0].dst[1] = '/', "an empty component");
	REFUSED(memcpy(c->place[0].dst, "/o/../", 6), "a way up");
	REFUSED(memset(c->place[0].dst, 0, BL_DST_MAX), "no place");
	REFUSED((memset(c->place[0].dst, 0, BL_DST_MAX),
	    c->place[0].dst[0] = '/'), "the root");
	REFUSED(c->place[0].dst[7] = 'x', "a byte behind the end");
	REFUSED(c->place[0].dst[BL_DST_MAX - 1] = 'x', "the last byte");
	REFUSED(memset(c->place[0].dst, 'x', BL_DST_MAX), "no end");
	REFUSED(c->place[7].dst[9] = 'x', "a byte in an unused place");
	REFUSED(c->place[7].kind = BL_PLACE_BIND, "a kind in one");
	REFUSED(c->place[7].size = 1, "a size in one");
	REFUSED(c->place[7].zero = 1, "zero in one");
	TAKEN(c->need = 0, "no need");
	REFUSED((c->need = BL_NEED_CGROUP, c->flags = 0), "a cgroup from nowhere");
	TAKEN((c->need = BL_NEED_FULL | BL_NEED_CGROUP,
	    c->flags = BL_CELL_CGROUP), "every need");
	TAKEN((c->flags = BL_CELL_FLAGS, c->need &= ~(uint32_t)BL_NEED_NET),
	    "every flag");
	REFUSED((c->flags = BL_CELL_HOST_NET, c->need = BL_NEED_NET),
	    "the host's network, and one of its own");
	TAKEN(c->net_of = 9, "the network of another");
	for (i = BL_ROLE_JUDGE; i < BL_ROLE_MAX; i++)
		TAKEN(c->role = (uint32_t)i, "role");
	TAKEN({
		c->nplaces = BL_PLACES_MAX;
		for (i = 2; i < BL_PLACES_MAX; i++)
			c->place[i] = c->place[1];
	}, "all places");
}

static void
test_req_others(void)
{
	struct bl_req q = request(BL_OP_SPAWN);

	q.u.spawn.flags = BL_SPAWN_RESULT;
	q.u.spawn.wall_ns = UINT64_MAX;
	is(bl_req_check(&q), 0, "spawn");
	is(bl_req_fds(&q), 6, "spawn with a result: descriptors");
	q.u.spawn.flags = 2;
	is(bl_req_check(&q), -EPROTO, "spawn: flag");
	q.u.spawn.flags = 0;
	is(bl_req_fds(&q), 5, "spawn: descriptors");
	q.u.spawn.zero = 1;
	is(bl_req_check(&q), -EPROTO, "spawn: zero");

	q = request(BL_OP_PATH);
	is(bl_req_check(&q), -EPROTO, "path: none");
	q.u.path[0] = '/';
	is(bl_req_check(&q), 0, "path: the root");
	q.u.path[2] = 'x';
	is(bl_req_check(&q), -EPROTO, "path: a byte behind the end");
	memset(&q.u.path, 'x', sizeof q.u.path);
	is(bl_req_check(&q), -EPROTO, "path: no end");
	is(bl_req_fds(&q), 0, "path: descriptors");

	q = cell();
	is(bl_req_fds(&q), 1, "cell: one folder");
	q.u.cell.flags = BL_CELL_CGROUP;
	is(bl_req_fds(&q), 2, "cell: and a cgroup");
	q = request(BL_OP_ATTACH);
	is(bl_req_fds(&q), 2, "attach: descriptors");
	q.op = BL_OP_LISTEN;
	is(bl_req_fds(&q), 2, "listen: descriptors");
	q.op = BL_OP_GO;
	is(bl_req_fds(&q), 0, "go: descriptors");
}

static struct bl_rep
reply(unsigned kind)
{
	struct bl_rep p;

	memset(&p, 0, sizeof p);
	p.magic = BL_MAGIC;
	p.version = BL_VERSION;
	p.kind = (uint16_t)kind;
	if (kind == BL_OP_HELLO)
		p.u.hello.way = BL_WAY_SETUID;
	if (kind == BL_EV_FAIL)
		p.status = -EACCES;
	return p;
}

static size_t
reply_body(unsigned kind)
{
	switch (kind) {
	case BL_OP_HELLO:
		return sizeof(struct bl_rep_hello);
	case BL_OP_CELL:
		return sizeof(struct bl_rep_cell);
	case BL_EV_STARTED:
		return sizeof(struct bl_seen);
	case BL_EV_EXIT:
		return sizeof(struct bl_exit);
	default:
		return 0;
	}
}

static void
test_rep_kinds(void)
{
	unsigned kind;
	size_t i;

	for (kind = 0; kind < 70; kind++) {
		struct bl_rep p = reply(kind);
		int known = (kind >= 1 && kind <= 4) ||
		    (kind >= 8 && kind <= 14) || (kind >= 32 && kind <= 34);
		int bad = 0;

		is(bl_rep_check(&p), known ? 0 : -EPROTO, "kind %u", kind);
		if (!known)
			continue;
		for (i = reply_body(kind); i < sizeof p.u.raw; i++) {
			p.u.raw[i] = 1;
			bad += bl_rep_check(&p) == 0;
			p.u.raw[i] = 0;
		}
		is(bad, 0, "kind %u: nothing behind its body", kind);
		p.magic ^= 1;
		is(bl_rep_check(&p), -EPROTO, "kind %u: magic", kind);
		p.magic ^= 1;
		p.version = BL_VERSION + 1;
		is(bl_rep_check(&p), -EPROTO, "kind %u: version", kind);
		p.version = BL_VERSION;
		p.status = 1;
		is(bl_rep_check(&p), -EPROTO, "kind %u: status 1", kind);
		p.status = -4096;
		is(bl_rep_check(&p), -EPROTO, "kind %u: no errno", kind);
		p = reply(kind);
		p.lost = p.spawn = 3;
		is(bl_rep_check(&p), kind >= 32 ? 0 : -EPROTO,
		    "kind %u: a spawn, and events lost", kind);
	}
}

static void
test_rep_values(void)
{
	struct bl_rep p = reply(BL_EV_EXIT);

	p.u.exit.limit = BL_LIMIT_MAX;
	is(bl_rep_check(&p), -EPROTO, "exit: limit");
	p.u.exit.limit = BL_LIMIT_MAX - 1;
	is(bl_rep_check(&p), 0, "exit: the last limit");
	p.u.exit.zero = 1;
	is(bl_rep_check(&p), -EPROTO, "exit: zero");
	p = reply(BL_EV_EXIT);
	p.status = -EIO;
	is(bl_rep_check(&p), -EPROTO, "exit: a status of our own");
	p = reply(BL_EV_STARTED);
	p.u.seen.zero = 1;
	is(bl_rep_check(&p), -EPROTO, "started: zero");
	p = reply(BL_EV_FAIL);
	p.step = BL_AT_EXEC;
	p.object = 2;
	is(bl_rep_check(&p), 0, "fail: step and object");
	p.step = BL_AT_MAX;
	is(bl_rep_check(&p), -EPROTO, "fail: step");
	p.step = 0;
	p.object = 0;
	p.status = 0;
	is(bl_rep_check(&p), -EPROTO, "fail: without an errno");
	p = reply(BL_OP_HELLO);
	p.u.hello.way = BL_WAY_NONE;
	is(bl_rep_check(&p), -EPROTO, "hello: no way");
	p.u.hello.way = BL_WAY_ROOTLESS + 1;
	is(bl_rep_check(&p), -EPROTO, "hello: an unknown way");
	p.u.hello.way = BL_WAY_ROOTLESS;
	p.u.hello.builtin = 2;
	is(bl_rep_check(&p), -EPROTO, "hello: builtin");
	p.u.hello.builtin = 1;
	p.step = 1;
	is(bl_rep_check(&p), -EPROTO, "hello: a step without a failure");
	p.step = 0;
	p.object = 1;
	is(bl_rep_check(&p), -EPROTO, "hello: an object without one");
	p.object = 0;
	p.status = -EPERM;
	is(bl_rep_check(&p), -EPROTO, "hello: refused, and a body");
	p = reply(BL_OP_CELL);
	p.u.cell.role = BL_ROLE_MAX;
	is(bl_rep_check(&p), -EPROTO, "cell: role");
	p.u.cell.role = BL_ROLE_JUDGE;
	p.u.cell.flags = BL_CELL_FLAGS + 1;
	is(bl_rep_check(&p), -EPROTO, "cell: flags");
}

/* --- specs -------------------------------------------------------------- */

struct spec {
	struct bl_spec h;
	struct bl_step step[2];
	char text[64];
};

static const char strings[] =
    "\0" "sh\0" "-c\0" "A=1\0" "B==\0" "in/x\0" "out";	/* and its NUL */

static struct spec
spec(void)
{
	struct spec s;

	memset(&s, 0, sizeof s);
	s.h.magic = BL_MAGIC;
	s.h.version = BL_VERSION;
	s.h.size = offsetof(struct spec, text) + sizeof strings;
	s.h.nargs = s.h.nenv = s.h.nsteps = 2;
	s.step[0].kind = BL_STEP_PUT;
	s.step[0].mode = 0644;
	s.step[0].off = s.h.size;
	s.step[0].len = 100;
	s.step[1].kind = BL_STEP_TAKE;
	s.step[1].len = 1 << 20;
	memcpy(s.text, strings, sizeof strings);
	return s;
}

#define SPEC(want, change, name) do { \
	struct spec s = spec(); \
	size_t n = s.h.size; \
	uint64_t total = n + 100; \
	uint32_t bad = 99; \
	char *b; \
	int r; \
	change; \
	b = malloc(n + 1);	/* exactly, so that ASan sees a byte more */ \
	if (b == NULL) \
		return; \
	memcpy(b + 1, &s, n < sizeof s ? n : sizeof s); \
	r = bl_spec_check(b + 1, n, total, &bad);	/* odd */ \
	free(b); \
	is(bad, want, "spec: %s", name); \
	is(r, want == BL_SPEC_OK ? 0 : -EINVAL, "spec: %s: result", name); \
} while (0)

static void
test_spec_header(void)
{
	SPEC(BL_SPEC_OK, (void)0, "sound");
	SPEC(BL_SPEC_OK, n += 5, "with bytes of a PUT read too");
	SPEC(BL_SPEC_SHORT, n = 0, "empty");
	SPEC(BL_SPEC_SHORT, n = sizeof s.h - 1, "short");
	SPEC(BL_SPEC_SIZE, n = sizeof s.h, "header alone");
	SPEC(BL_SPEC_MAGIC, s.h.magic ^= 1, "magic");
	SPEC(BL_SPEC_MAGIC, s.h.version++, "version");
	SPEC(BL_SPEC_SIZE, s.h.size = (uint32_t)n + 1, "a byte not read");
	SPEC(BL_SPEC_SIZE, s.h.size = 1, "size 1");
	SPEC(BL_SPEC_SIZE, s.h.size = UINT32_MAX, "size -1");
	SPEC(BL_SPEC_SIZE, total = n - 1, "more than there is");
	SPEC(BL_SPEC_SIZE, total = BL_SPEC_BYTES + 1, "too much");
	SPEC(BL_SPEC_COUNTS, s.h.nargs = BL_ARGS_MAX + 1, "arguments");
	SPEC(BL_SPEC_COUNTS, s.h.nargs = UINT32_MAX, "arguments -1");
	SPEC(BL_SPEC_COUNTS, s.h.nenv = BL_ENV_MAX + 1, "variables");
	SPEC(BL_SPEC_COUNTS, s.h.nsteps = BL_STEPS_MAX + 1, "steps");
	SPEC(BL_SPEC_COUNTS, s.h.nsteps = UINT32_MAX, "steps -1");
	SPEC(BL_SPEC_COUNTS, s.h.limits.zero = 1, "zero of the limits");
	SPEC(BL_SPEC_SIZE, s.h.nsteps = 4, "steps that do not fit");
}

static void
test_spec_steps(void)
{
	SPEC(BL_SPEC_STEP, s.step[0].kind = 0, "no kind");
	SPEC(BL_SPEC_STEP, s.step[0].kind = BL_STEP_TREE, "tree");
	SPEC(BL_SPEC_STEP, s.step[0].kind = BL_STEP_TTY, "tty");
	SPEC(BL_SPEC_STEP, s.step[0].kind = UINT32_MAX, "kind -1");
	SPEC(BL_SPEC_STEP, s.step[0].mode = 04755, "set-user-id");
	SPEC(BL_SPEC_STEP, s.step[0].off--, "put from the strings");
	SPEC(BL_SPEC_STEP, s.step[0].len++, "put more than there is");
	SPEC(BL_SPEC_STEP, s.step[0].off += 101, "put from behind the end");
	SPEC(BL_SPEC_STEP, s.step[0].len = UINT64_MAX, "put -1 bytes");
	SPEC(BL_SPEC_STEP, s.step[0].off = UINT64_MAX, "put from -1");
	SPEC(BL_SPEC_OK, (s.step[0].off += 100, s.step[0].len = 0),
	    "put nothing");
	SPEC(BL_SPEC_STEP, s.step[1].off = 1, "take with an offset");
	SPEC(BL_SPEC_OK, s.step[1].len = UINT64_MAX, "take anything");
	SPEC(BL_SPEC_STEP, s.step[1].kind = BL_STEP_DIR, "a folder's bytes");
	SPEC(BL_SPEC_STEP, s.step[1].kind = BL_STEP_LISTEN, "a socket's");
	SPEC(BL_SPEC_OK, (s.step[1].kind = BL_STEP_DIR, s.step[1].len = 0),
	    "a folder");
	SPEC(BL_SPEC_OK, (s.step[1].kind = BL_STEP_LISTEN, s.step[1].len = 0),
	    "a socket");
}

static void
test_spec_strings(void)
{
	SPEC(BL_SPEC_STRINGS, s.h.nargs = 1, "a string too many");
	SPEC(BL_SPEC_STRINGS, s.h.nargs = 3, "a string too few");
	SPEC(BL_SPEC_STRINGS, s.h.size--, "the last one open");
	SPEC(BL_SPEC_STRINGS, (s.h.size++, n++, total++, s.step[0].off++),
	    "a byte behind the last");
	SPEC(BL_SPEC_STRINGS, memcpy(s.text + 7, "A11", 3),
	    "a variable without =");
	SPEC(BL_SPEC_STRINGS, memcpy(s.text + 7, "=11", 3),
	    "a variable without a name");
	SPEC(BL_SPEC_STRINGS, s.text[sizeof strings - 1] = 'x', "no end");
	SPEC(BL_SPEC_OK, memcpy(s.text + 1, "=h", 2), "an argument is free");
	SPEC(BL_SPEC_STRINGS, {
		memset(s.text, 0, sizeof s.text);
		s.h.nenv = s.h.nargs = s.h.nsteps = 0;
		s.h.size = sizeof s.h;
		n = s.h.size;
	}, "nothing at all");
	SPEC(BL_SPEC_OK, {
		s.h.nenv = s.h.nargs = s.h.nsteps = 0;
		s.h.size = sizeof s.h + 1;
		memset(s.step, 0, sizeof s.step);
		n = s.h.size;
	}, "no more than a folder");
}

int
main(void)
{
	test_path_next();
	test_path_meets();
	test_req_ops();
	test_req_cell();
	test_req_others();
	test_rep_kinds();
	test_rep_values();
	test_spec_header();
	test_spec_steps();
	test_spec_strings();
	return done();
}

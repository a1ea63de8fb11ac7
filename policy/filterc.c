/* Tool: compiles roles.def into the role filters of one architecture. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <asm/ioctls.h>
#include <unistd.h>

#include "proto.h"

enum {
	NEWEST		= 469,	/* last one reviewed: Linux 6.18 */
	BY_NUMBER	= 451,	/* the first that DENY_NR may name */
	PROG_MAX	= 2048,
	ALL		= 1 << BL_ROLE_JUDGE | 1 << BL_ROLE_ANSWER |
			  1 << BL_ROLE_AGENT | 1 << BL_ROLE_VERIFIER
};

struct rule {
	const char *name;
	unsigned roles, err, nargs;
	struct scmp_arg_cmp arg[2];
};

struct number {
	const char *name;
	unsigned roles, nr, err;
	unsigned arg, bits;		/* bits 0: whatever the arguments */
};

struct prog {
	struct sock_filter op[PROG_MAX];
	size_t n;
};

static const struct arch {
	const char *name;
	uint32_t token;			/* libseccomp's, and the kernel's */
} arches[] = {
	{ "x86_64", AUDIT_ARCH_X86_64 },
	{ "aarch64", AUDIT_ARCH_AARCH64 },
};

static const char *const role_names[BL_ROLE_MAX] = {
	[BL_ROLE_JUDGE] = "judge", [BL_ROLE_ANSWER] = "answer",
	[BL_ROLE_AGENT] = "agent", [BL_ROLE_VERIFIER] = "verifier",
};

/*
 * The constants of roles.def are this machine's; those it uses are the same
 * on both architectures.
 */
#define LOW(a, v)	{ (a), SCMP_CMP_MASKED_EQ, 0xffffffff, (v) }
#define HAS(a, v)	{ (a), SCMP_CMP_MASKED_EQ, (v), (v) }
#define BITS(a, m, v)	{ (a), SCMP_CMP_MASKED_EQ, (m), (v) }
#define ABOVE(a, v)	{ (a), SCMP_CMP_GT, (v), 0 }
#define NOT(a, v)	{ (a), SCMP_CMP_NE, (v), 0 }
#define COUNT(...)	(sizeof (const struct scmp_arg_cmp[]){ __VA_ARGS__ } / \
			 sizeof(struct scmp_arg_cmp))

#define DENY(r, c, e)			{ #c, (r), (e), 0, { { 0 } } },
#define DENY_IF(r, c, e, ...)		{ #c, (r), (e), COUNT(__VA_ARGS__), \
					    { __VA_ARGS__ } },
#define DENY_NR(r, c, nr, e)
#define DENY_NR_IF(r, c, nr, e, a, b)
static const struct rule rules[] = {
#include "roles.def"
};
#undef DENY
#undef DENY_IF
#undef DENY_NR
#undef DENY_NR_IF

#define DENY(r, c, e)
#define DENY_IF(r, c, e, ...)
#define DENY_NR(r, c, nr, e)		{ #c, (r), (nr), (e), 0, 0 },
#define DENY_NR_IF(r, c, nr, e, a, b)	{ #c, (r), (nr), (e), (a), (b) },
static const struct number numbers[] = {
#include "roles.def"
};

static int
fail(const char *what, const char *name, int r)
{
	(void)fprintf(stderr, "filterc: %s %s: %s\n", what, name,
	    strerror(r < 0 ? -r : r));
	return -EINVAL;
}

static void
emit(struct prog *p, struct sock_filter op)
{
	if (p->n < PROG_MAX)
		p->op[p->n] = op;
	p->n++;				/* prog_build refuses what was lost */
}

static void
emit_load(struct prog *p, size_t offset)
{
	emit(p, (struct sock_filter)
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void
emit_ret(struct prog *p, unsigned err)
{
	emit(p, (struct sock_filter)
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err));
}

static void
emit_jump(struct prog *p, unsigned how, uint32_t k, size_t yes, size_t no)
{
	emit(p, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | how | BPF_K),
	    k, (uint8_t)yes, (uint8_t)no));
}

static void
emit_number(struct prog *p, const struct number *n)
{
	emit_jump(p, BPF_JEQ, n->nr, 0, n->bits != 0 ? 4 : 1);
	if (n->bits != 0) {		/* little endian: the low half first */
		emit_load(p, offsetof(struct seccomp_data, args) +
		    n->arg * sizeof(uint64_t));
		emit_jump(p, BPF_JSET, n->bits, 0, 1);
	}
	emit_ret(p, n->err);
	if (n->bits != 0)
		emit_load(p, offsetof(struct seccomp_data, nr));
}

/*
 * What libseccomp cannot say: every number above NEWEST (x32's too, it is a
 * bit far above), and calls it has no name for.  Nothing is allowed here, the
 * rest of the program decides.
 */
static int
prelude(struct prog *p, const struct arch *a, unsigned role)
{
	size_t nr = offsetof(struct seccomp_data, nr), from, i;

	emit_load(p, nr);
	emit_jump(p, BPF_JGE, BY_NUMBER, 0, 0);
	from = p->n;
	emit_jump(p, BPF_JGT, NEWEST, 0, 1);
	emit_ret(p, ENOSYS);
	emit_load(p, offsetof(struct seccomp_data, arch));
	emit_jump(p, BPF_JEQ, a->token, 1, 0);
	emit_ret(p, ENOSYS);
	emit_load(p, nr);
	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		const struct number *n = &numbers[i];
		int known = seccomp_syscall_resolve_name_arch(a->token,
		    n->name);

		if ((known >= 0 && known != (int)n->nr) ||
		    n->nr < BY_NUMBER || n->nr > NEWEST)
			return fail("number of", n->name, EINVAL);
		if ((n->roles & 1U << role) != 0)
			emit_number(p, n);
	}
	if (p->n - from > UINT8_MAX)
		return fail("too many", "DENY_NR", E2BIG);
	p->op[from - 1].jf = (uint8_t)(p->n - from);
	return 0;
}

static int
rules_add(scmp_filter_ctx ctx, const struct arch *a, unsigned role)
{
	size_t i;

	for (i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		const struct rule *u = &rules[i];
		int nr = seccomp_syscall_resolve_name_arch(a->token, u->name);
		int r;

		if (nr == __NR_SCMP_ERROR)
			return fail("unknown call", u->name, ENOSYS);
		if (nr < 0 || (u->roles & 1U << role) == 0)
			continue;	/* a call of another architecture */
		/* libseccomp takes this machine's number and translates it. */
		nr = seccomp_syscall_resolve_name(u->name);
		r = seccomp_rule_add_exact_array(ctx, SCMP_ACT_ERRNO(u->err),
		    nr, u->nargs, u->arg);
		if (r != 0)
			return fail("rule for", u->name, r);
	}
	return 0;
}

/* 0 with the program appended to p, or -errno. */
static int
export(scmp_filter_ctx ctx, struct prog *p)
{
	ssize_t got;
	int fd, r;

	fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = seccomp_export_bpf(ctx, fd);
	got = r != 0 ? 0 : pread(fd, &p->op[p->n],
	    (PROG_MAX - p->n) * sizeof p->op[0], 0);
	if (got < 0)
		r = -errno;
	(void)close(fd);		/* only memory */
	if (r == 0 && (got == 0 || (size_t)got % sizeof p->op[0] != 0))
		r = -EIO;
	if (r == 0)
		p->n += (size_t)got / sizeof p->op[0];
	return r;
}

static int
context_set(scmp_filter_ctx ctx, const struct arch *a)
{
	int r = 0;

	if (a->token != seccomp_arch_native()) {
		r = seccomp_arch_add(ctx, a->token);
		if (r == 0)
			r = seccomp_arch_remove(ctx, seccomp_arch_native());
	}
	if (r == 0)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
		    SCMP_ACT_ERRNO(ENOSYS));
	if (r == 0)			/* 2: a binary tree */
		r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return r;
}

static int
prog_build(struct prog *p, const struct arch *a, unsigned role)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (ctx == NULL)
		return fail("no context for", a->name, ENOMEM);
	p->n = 0;
	r = context_set(ctx, a);
	if (r == 0)
		r = prelude(p, a, role);
	if (r == 0)
		r = rules_add(ctx, a, role);
	if (r == 0)
		r = export(ctx, p);
	if (r == 0 && p->n >= PROG_MAX)
		r = -E2BIG;
	if (r != 0)
		(void)fail("program for", a->name, r);
	seccomp_release(ctx);
	return r;
}

static int
same(const struct prog *x, const struct prog *y)
{
	return x->n == y->n &&
	    memcmp(x->op, y->op, x->n * sizeof x->op[0]) == 0;
}

static void
print_prog(const char *name, const struct prog *p)
{
	size_t i;

	(void)printf("static const struct sock_filter bl_filter_%s[] = {\n",
	    name);
	for (i = 0; i < p->n; i++)
		(void)printf("\t{ 0x%02x, %3u, %3u, 0x%08xu },\n",
		    p->op[i].code, p->op[i].jt, p->op[i].jf, p->op[i].k);
	(void)printf("};\n\n");
}

static int
print_header(const struct arch *a)
{
	static struct prog progs[BL_ROLE_MAX];
	unsigned like[BL_ROLE_MAX] = { 0 }, i, j;

	(void)printf("/* Role filters, %s: made by filterc of roles.def. */\n"
	    "#ifndef BL_BUILD_FILTERS_H\n#define BL_BUILD_FILTERS_H\n\n"
	    "#include <linux/filter.h>\n\n", a->name);
	for (i = BL_ROLE_JUDGE; i < BL_ROLE_MAX; i++) {
		if (prog_build(&progs[i], a, i) != 0)
			return -EINVAL;
		for (j = BL_ROLE_JUDGE; !same(&progs[j], &progs[i]); j++)
			continue;	/* ends at i itself */
		like[i] = j;
		if (j == i)
			print_prog(role_names[i], &progs[i]);
	}
	(void)printf("/* By enum bl_role. */\n"
	    "static const struct bl_filter {\n"
	    "\tconst struct sock_filter *prog;\n\tunsigned short len;\n"
	    "} bl_filters[%u] = {\n", (unsigned)BL_ROLE_MAX);
	for (i = BL_ROLE_JUDGE; i < BL_ROLE_MAX; i++)
		(void)printf("\t[%u] = { bl_filter_%s, %zu },\t/* %s */\n", i,
		    role_names[like[i]], progs[i].n, role_names[i]);
	(void)printf("};\n\n#endif\n");
	return ferror(stdout) || fflush(stdout) != 0 ? -EIO : 0;
}

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < sizeof arches / sizeof arches[0]; i++)
		if (strcmp(argv[1], arches[i].name) == 0)
			return print_header(&arches[i]) == 0 ? 0 : 1;
	(void)fprintf(stderr, "usage: filterc x86_64|aarch64 > HEADER\n");
	return 64;
}

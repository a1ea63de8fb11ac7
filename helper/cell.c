/* Cell init, from its birth to its readiness: process 1 of the cell. */
#include "filters.h"
#include "ops.h"
#include "sys.h"

enum { HIGH = 1024 };		/* above all the helper ever has open */

/* An inherited socket end would hide another process's death.  0, -errno. */
static int
cell_descriptors(struct cell *c)
{
	int *own[4 + BL_PLACES_MAX] = { &c->owner, &c->setup, &c->helper,
	    &c->locks };
	unsigned i, n = 4;

	for (i = 0; i < BL_PLACES_MAX; i++)
		if (c->bind[i] >= 0)
			own[n++] = &c->bind[i];
	for (i = 0; i < n; i++)		/* in turn: HIGH, HIGH + 1, ... */
		if ((*own[i] = fcntl(*own[i], F_DUPFD_CLOEXEC, HIGH)) < 0)
			return -errno;
	return close_range(STDERR_FILENO + 1, HIGH - 1, 0) != 0 ? -errno :
	    sys(close_range(HIGH + n, ~0u, 0));
}

/* prctl(2): the signal is lost if the parent died before; so look after. */
static int
cell_tie(struct cell *c)
{
	struct pollfd p = { c->helper, POLLIN, 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return -errno;
	return poll(&p, 1, 0) == 0 ? 0 : -ESRCH;
}

static int
cell_name(struct cell *c)
{
	(void)c;
	(void)setsid();			/* it leads no group yet: can't fail */
	return sys(sethostname("cell", 4));
}

static int
cell_nnp(struct cell *c)
{
	(void)c;
	return prctl(PR_SET_DUMPABLE, 0) != 0 ? -errno :
	    sys(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static int
cell_filter(struct cell *c)
{
	const struct bl_filter *f = &bl_filters[c->req.role];
	const struct sock_fprog p = { f->len,
	    (struct sock_filter *)(uintptr_t)f->prog };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
		return -errno;
	return prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER ? 0 : -ENOSYS;
}

/* MUST be in this order.  Nothing of the caller's has run when it is through. */
static const struct {
	enum bl_at at;
	int (*fn)(struct cell *);
} steps[] = {
	{ BL_AT_INIT,	  cell_descriptors },
	{ BL_AT_GONE,	  cell_tie },
	{ BL_AT_LO,	  net_lo_up },
	{ BL_AT_HOSTNAME, cell_name },
	{ BL_AT_PRIVATE,  view_build },
	{ BL_AT_CAPS,	  seal_init },
	{ BL_AT_NETLINK,  net_probe },
	{ BL_AT_NNP,	  cell_nnp },
	{ BL_AT_FILTER,	  cell_filter },	/* all later code runs under it */
	{ BL_AT_GONE,	  cell_tie },	/* a change of ids undoes the first */
};

void
cell_main(struct cell *c)
{
	struct bl_rep p = wire_reply(BL_OP_CELL, 0);
	unsigned i;

	for (i = 0; p.status == 0 && i < COUNT(steps); i++) {
		c->step = steps[i].at;
		c->object = 0;
		p.status = steps[i].fn(c);
	}
	if (p.status != 0) {
		p.step = c->step;
		p.object = c->object;
	}
	if (wire_send(c->setup, &p, sizeof p, &c->netlink, p.status == 0) != 0 ||
	    p.status != 0)
		die(c->step);
	fd_drop(&c->netlink);
	fd_drop(&c->setup);
	for (i = 0; i < BL_PLACES_MAX; i++)
		fd_drop(&c->bind[i]);
	loop_run(c);
}

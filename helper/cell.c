/* Cell init, from its birth to its readiness: process 1 of the cell. */
#include "filters.h"
#include "ops.h"
#include "sys.h"

enum { HIGH = 1024 };		/* above all the helper ever has open */

/* An inherited socket end would hide another process's death.  0, -errno. */
static int
cell_descriptors(struct cell *c)
{
	int *own[] = { &c->owner, &c->helper, &c->locks };
	unsigned i, n = COUNT(own) + c->binds.n;

	for (i = 0; i < n; i++) {	/* in turn: HIGH, HIGH + 1, ... */
		int *fd = i < COUNT(own) ? own[i] :
		    &c->binds.fd[i - COUNT(own)];

		if ((*fd = fcntl(*fd, F_DUPFD_CLOEXEC, HIGH)) < 0)
			return -errno;
	}
	return close_range(STDERR_FILENO + 1, HIGH - 1, 0) != 0 ? -errno :
	    sys(close_range(HIGH + n, ~0u, 0));
}

/* prctl(2): the signal is lost if the parent died before; so look after. */
static int
cell_tie(struct cell *c)
{
	struct pollfd p = { c->helper, POLLIN, 0 };

	(void)setsid();			/* at first; later it leads one */
	return prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ? -errno :
	    poll(&p, 1, 0) == 0 ? 0 : -ESRCH;
}

/* Into the network that the helper has made meanwhile. */
static int
cell_network(struct cell *c)
{
	struct bl_rep p;
	scoped_fd int there = wire_await(c->owner, &p);
	scoped_fd int net = there < 0 ? there : sys(ioctl(there, SIOCGSKNS));

	return net < 0 ? net : sys(syscall(SYS_setns, net, CLONE_NEWNET));
}

/*
 * The netlink socket for the client's proof.  Opened after the capabilities
 * are gone: whoever holds it can ask and change nothing.  0, or -errno.
 */
static int
cell_probe(struct cell *c)
{
	return (c->netlink = sys(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
	    NETLINK_ROUTE))) < 0 ? c->netlink : 0;
}

/* All later code runs under this, to the role's last program.  0, or -errno. */
static int
cell_filter(struct cell *c)
{
	const struct bl_filter *f = &bl_filters[c->req.role];
	const struct sock_fprog p = { f->len,
	    (struct sock_filter *)(uintptr_t)f->prog };

	return sys(prctl(PR_SET_DUMPABLE, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0 ? -1 : 0);
}

/* MUST be in this order.  Nothing of the caller's has run when it is through. */
static const struct {
	uint32_t at;
	int (*fn)(struct cell *);
} steps[] = {
	{ BL_AT_INIT, cell_descriptors }, { BL_AT_GONE, cell_tie },
	{ BL_AT_ROOT, view_root }, { BL_AT_SHOW, view_shows },
	{ BL_AT_VIEW, view_rows }, { BL_AT_ETC, etc_make },
	{ BL_AT_BIND, view_places }, { BL_AT_PIVOT, view_enter },
	{ BL_AT_LO, cell_network }, { BL_AT_CAPS, seal_init },
	{ BL_AT_NETLINK, cell_probe }, { BL_AT_FILTER, cell_filter },
	{ BL_AT_GONE, cell_tie },	/* a change of ids undoes the first */
};

void
cell_main(struct cell *c)
{
	struct bl_rep p = wire_reply(BL_OP_CELL, 0);
	unsigned i;
	int r = 0;

	for (i = 0; r == 0 && i < COUNT(steps); i++) {
		c->step = steps[i].at;
		c->object = 0;
		r = steps[i].fn(c);
	}
	if (r != 0)
		(void)wire_fail(&p, c->step, c->object, r);
	if (wire_send(c->owner, &p, &c->netlink, r == 0) != 0 || r != 0)
		die(c->step);
	fd_drop(&c->netlink);
	loop_run(c);
}

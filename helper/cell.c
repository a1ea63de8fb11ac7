/*
 * Cell init, from its birth to its readiness: process 1 of the cell.
 *
 * MUST, in this order: keep no descriptor but its own; be tied to the
 * helper's life; build; give up what it does not need; load the role's
 * filter; say so.  Nothing of the caller's has run by then.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd.h"
#include "filters.h"
#include "ops.h"

enum { HIGH = 1024 };		/* above all the helper ever has open */

/* An inherited socket end would hide another process's death.  0, -errno. */
static int
cell_descriptors(struct cell *c)
{
	int *own[4 + BL_PLACES_MAX] = { &c->owner, &c->setup, &c->helper,
	    &c->locks };
	unsigned i, n = 4;
	int top = HIGH;

	for (i = 0; i < BL_PLACES_MAX; i++)
		if (c->bind[i] >= 0)
			own[n++] = &c->bind[i];
	for (i = 0; i < n; i++) {
		*own[i] = fcntl(*own[i], F_DUPFD_CLOEXEC, HIGH);
		if (*own[i] < 0)
			return -errno;
		if (*own[i] >= top)
			top = *own[i] + 1;
	}
	if (close_range(STDERR_FILENO + 1, HIGH - 1, 0) != 0 ||
	    close_range((unsigned)top, ~0u, 0) != 0)
		return -errno;
	return 0;
}

/* prctl(2): the signal is lost if the parent died before; so look after. */
static int
cell_tie(const struct cell *c)
{
	struct pollfd p = { c->helper, POLLIN, 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return -errno;
	(void)setsid();			/* it leads no group yet: can't fail */
	return poll(&p, 1, 0) == 0 ? 0 : -ESRCH;
}

static int
cell_filter(unsigned role)
{
	const struct sock_fprog p = { bl_filters[role].len,
	    (struct sock_filter *)(uintptr_t)bl_filters[role].prog };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
		return -errno;
	return prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER ? 0 : -ENOSYS;
}

static int
cell_build(struct cell *c, int *netlink)
{
	int r;

	c->step = BL_AT_INIT;
	if ((r = cell_descriptors(c)) != 0)
		return r;
	c->step = BL_AT_GONE;
	if ((r = cell_tie(c)) != 0)
		return r;
	c->step = BL_AT_LO;
	if ((r = net_lo_up()) != 0 || (r = view_build(c)) != 0)
		return r;
	c->step = BL_AT_HOSTNAME;
	if (sethostname("cell", 4) != 0)
		return -errno;
	c->step = BL_AT_CAPS;
	if ((r = seal_init()) != 0)
		return r;
	c->step = BL_AT_NETLINK;
	if ((*netlink = net_probe()) < 0)
		return *netlink;
	c->step = BL_AT_NNP;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	c->step = BL_AT_FILTER;
	if ((r = cell_filter(c->req.role)) != 0)
		return r;
	c->step = BL_AT_GONE;
	return cell_tie(c);		/* a change of ids would undo the tie */
}

void
cell_main(struct cell *c)
{
	struct bl_rep p = wire_reply(BL_OP_CELL, 0);
	int netlink = -1, r = cell_build(c, &netlink);
	unsigned i;

	if (r != 0) {
		p.status = r;
		p.step = c->step;
		p.object = c->object;
	}
	if (wire_send(c->setup, &p, sizeof p, &netlink, r == 0) != 0 || r != 0)
		die(r != 0 ? c->step : BL_AT_GONE);
	fd_drop(&netlink);
	fd_drop(&c->setup);
	for (i = 0; i < BL_PLACES_MAX; i++)
		fd_drop(&c->bind[i]);
	loop_run(c);
}

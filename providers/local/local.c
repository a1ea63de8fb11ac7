/* This host as the sandbox: cells come straight from the helper. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "../../client/provider.h"

static int
local_create(struct sandbox *s, const struct way_ask *ask, struct bl_err *e)
{
	uint64_t n;

	memset(s, 0, sizeof *s);
	s->by = &provider_local;
	s->helper.sock = -1;
	s->helper.pid = -1;
	if (getrandom(&n, sizeof n, 0) != (ssize_t)sizeof n)
		return err_set(e, BL_KIND_INFRA, "no_random", "local", errno,
		    "no random bytes: %s", strerror(errno));
	(void)snprintf(s->id, sizeof s->id, "local-%016llx",
	    (unsigned long long)n);
	return helper_start(&s->helper, ask, e);
}

static int
local_ready(struct sandbox *s, struct bl_err *e)
{
	return helper_ready(&s->helper, e);
}

static void
local_destroy(struct sandbox *s)
{
	helper_close(&s->helper);
}

const struct provider provider_local = {
	.name	 = "local",
	.create	 = local_create,
	.ready	 = local_ready,
	.destroy = local_destroy,
};

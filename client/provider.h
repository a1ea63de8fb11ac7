/* Where sandboxes come from: what every provider has to offer. */
#ifndef BL_CLIENT_PROVIDER_H
#define BL_CLIENT_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cells.h"
#include "err.h"

/* One sandbox: this host, a container, a machine.  Cells are made in it. */
struct sandbox {
	const struct provider *by;
	char	 id[40];		/* for people and for results */
	struct bl_helper helper;	/* once ready has returned 0 */
};

/*
 * A table of a provider is constant; a sandbox is its caller's.  Functions
 * return 0, or -1 with *e.  None of them waits without a bound.
 */
struct provider {
	const char *name;
	uint32_t supplies;		/* BL_NEED_ bits that a sandbox gives
					   without the helper */
	bool	 images;		/* a sandbox is made from an image */
	/*
	 * Begins a sandbox, and returns while it still starts up: the caller
	 * can do work of its own until it calls ready.
	 */
	int	(*create)(struct sandbox *s, const struct way_ask *ask,
	    struct bl_err *e);
	int	(*ready)(struct sandbox *s, struct bl_err *e);
	/* Ends every cell and process of it; fine after any failure. */
	void	(*destroy)(struct sandbox *s);
};

extern const struct provider provider_local;

#endif

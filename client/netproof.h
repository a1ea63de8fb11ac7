/* Proof that a cell's network leads nowhere. */
#ifndef BL_CLIENT_NETPROOF_H
#define BL_CLIENT_NETPROOF_H

#include "err.h"

/*
 * fd is a route netlink socket that was opened inside the cell; it is closed
 * in any case.  0: lo is up with 127.0.0.1 and, where the kernel has IPv6,
 * ::1; every other link is down and has no address; no route leaves by another
 * interface than lo.  -1: *e tells what is otherwise.
 */
int net_prove(int fd, struct bl_err *e);

#endif

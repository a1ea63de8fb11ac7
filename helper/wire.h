/* One datagram at a time, with exactly the descriptors that came. */
#ifndef BL_HELPER_WIRE_H
#define BL_HELPER_WIRE_H

#include <stddef.h>

#include "../policy/proto.h"

struct fdbag {
	int	 fd[BL_FDS_MAX];
	unsigned n;
};

void bag_drop(struct fdbag *b);

/*
 * 1: one message of exactly size bytes is in buf, its descriptors in b;
 * 0: peer gone; -EAGAIN: nothing there; -EPROTO: anything else came.
 * Only 1 leaves descriptors in b.  Never waits.
 */
int wire_recv(int sock, void *buf, size_t size, struct fdbag *b);

/* 1, 0 or -errno like wire_recv; 1 only for a request that passed its check. */
int wire_request(int sock, struct bl_req *q, struct fdbag *b);

/* 0, or -errno.  Never waits: a full socket is the peer's own fault. */
int wire_send(int sock, const void *buf, size_t size, const int *fds,
    unsigned nfds);

/* 0, or -ENOTSOCK: fd is a SOCK_SEQPACKET unix socket, listening or not. */
int wire_is_ours(int fd, int listening);

/* A reply with nothing but its head. */
struct bl_rep wire_reply(unsigned kind, uint32_t seq);

#endif

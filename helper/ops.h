/* What the helper's files know of each other. */
#ifndef BL_HELPER_OPS_H
#define BL_HELPER_OPS_H

#include <stdint.h>
#include <sys/types.h>

#include "../policy/proto.h"
#include "../policy/rules.h"

enum { ST_NEW = 1, ST_READY = 2, ST_DONE = 4 };

struct fdbag {
	int	 fd[BL_FDS_MAX];
	unsigned n;
};

struct live {			/* a cell that runs */
	int	 pidfd;		/* -1: free */
	uint32_t number, slot;
};

struct session {
	unsigned state;
	struct bl_req q;	/* the request in hand, and its descriptors */
	struct fdbag b;
	const struct bl_rules *rules;
	struct bl_rep_hello hello;
	struct bl_quota quota;
	int	 locks;
	uint32_t numbers;	/* of cells so far */
	struct live live[BL_CELLS_MAX];
};

/* What cell init is made with.  The descriptors are its own. */
struct cell {
	struct bl_req_cell req;
	const struct bl_rules *rules;
	uid_t	 uid;		/* of the slot; gid is the same number */
	int	 owner, setup, helper, locks, netlink;
	int	 bind[BL_PLACES_MAX];
	uint32_t step, object;	/* where set-up is, for the report */
};

/* What the launch child tells cell init, before it becomes the program. */
enum { LAUNCH_LISTENER = 1, LAUNCH_SEEN, LAUNCH_FAIL };
struct launch {
	uint32_t kind, step, object;
	int32_t	 status;
	uint32_t cpu_s, zero;	/* RLIMIT_CPU in force; 0: none */
	struct bl_seen seen;
};

_Noreturn void die(uint32_t at);		/* wire.c; with no word */
_Noreturn void refuse(uint32_t at, uint32_t object, int err);
void	bag_drop(struct fdbag *b);
int	wire_recv(int sock, void *buf, size_t size, struct fdbag *b);
int	wire_request(int sock, struct bl_req *q, struct fdbag *b);
int	wire_send(int sock, const void *buf, size_t size, const int *fds,
	    unsigned nfds);
int	wire_is_ours(int fd, int listening);
struct bl_rep wire_reply(unsigned kind, uint32_t seq);
int	wire_fail(struct bl_rep *p, uint32_t step, uint32_t object, int err);

void	start_caller(int argc, struct session *s);	/* start.c */
void	start_clean(void);
void	start_root(void);
void	load_rules(struct session *s);			/* load.c */
int	load_walk(const char *const *parts, int make);
void	seal_helper(void);				/* seal.c */
int	seal_init(struct cell *c);
int	dispatch(struct session *s);			/* dispatch.c */
int	op_cell(struct session *s);			/* op_cell.c */
int	slot_open(void);				/* slot.c */
int	slot_take(const struct session *s, uint32_t *slot);
void	slot_free(const struct session *s, uint32_t slot);

int	net_lo_up(struct cell *c);			/* net.c */
int	net_probe(struct cell *c);
int	view_build(struct cell *c);			/* view.c */
int	view_show(int dir);
int	etc_make(const struct cell *c, int root);	/* etc.c */
void	etc_number(char out[21], uint64_t v);
const char *etc_role(unsigned role);
_Noreturn void cell_main(struct cell *c);		/* cell.c */
_Noreturn void loop_run(const struct cell *c);		/* loop.c */
int	limits_set(const struct bl_limits *l);		/* limits.c */
int	limits_timer(int fd, uint64_t at_ns);
uint64_t limits_now(void);
void	ids_become(uid_t uid, gid_t gid);		/* ids.c */
_Noreturn void spec_run(int spec, int tell);		/* spec.c */

#endif

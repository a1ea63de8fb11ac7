/* What the helper's files know of each other. */
#ifndef BL_HELPER_OPS_H
#define BL_HELPER_OPS_H

#include <sys/types.h>
#include <time.h>

#include "../policy/rules.h"

enum { ST_NEW = 1, ST_READY = 2, ST_DONE = 4 };

struct fdbag { int fd[BL_FDS_MAX]; unsigned n; };

struct server {			/* either end of a socket that takes requests */
	int	 sock;
	unsigned state;
	struct bl_req q;	/* the request in hand, and its descriptors */
	struct fdbag b;
};

struct op {
	unsigned when, then;	/* legal states, next; 0: not in this build */
	int (*fn)(struct server *);	/* NULL: the state is all */
};

/* What cell init is made with.  The descriptors are its own. */
struct cell {
	struct bl_req_cell req;
	const struct bl_rules *rules;
	uid_t	 uid;		/* of the slot; gid is the same number */
	int	 owner, helper, locks, root, netlink;
	struct fdbag binds;	/* detached mounts, in the order of the places */
	uint32_t step, object;	/* where set-up is, for the report */
};

struct live { int pidfd; uint32_t slot; };	/* slot: its uid; pidfd -1: free */

struct session {
	struct server server;	/* first: handlers get a pointer to it */
	const struct bl_rules *rules;
	struct bl_rep_hello hello;
	struct bl_caller quota;	/* the caller's line of the rules */
	int	 locks, audit;	/* audit: the administrator's log; or -1 */
	timer_t	 watchdog;
	uint32_t numbers;	/* of cells so far */
	struct live live[BL_CELLS_MAX];
};

_Noreturn void refuse(uint32_t at, uint32_t object, int err);	/* wire.c */
void	bag_drop(struct fdbag *b);
int	wire_recv(int sock, void *buf, size_t size, struct fdbag *b);
int	wire_await(int sock, struct bl_rep *p);
int	wire_request(int sock, struct bl_req *q, struct fdbag *b);
int	wire_serve(struct server *s, const struct op ops[BL_OP_MAX]);
int	wire_send(int sock, const struct bl_rep *p, const int *fds, unsigned n);
int	wire_is_ours(int fd, int listening);
struct bl_rep wire_reply(unsigned kind, uint32_t seq);
int	wire_fail(struct bl_rep *p, uint32_t step, uint32_t object, int err);

void	start_caller(int argc, struct bl_rep_hello *h);	/* start.c */
void	start_clean(void), start_root(void);
void	load_rules(struct session *s);			/* load.c */
int	load_walk(const char *const *parts, int make);
int	load_sound(int fd, unsigned mask);
void	seal_helper(void);				/* seal.c */
int	seal_init(struct cell *c);
int	op_cell(struct server *s);			/* op_cell.c */
void	slot_open(struct session *s);			/* slot.c */
int	slot_take(const struct session *s, uint32_t *slot);
int	slot_lock(int fd, uint32_t slot, short type);
int	view_show(int dir);				/* view.c */
int	view_root(struct cell *c), view_shows(struct cell *c);
int	view_rows(struct cell *c), view_places(struct cell *c);
int	view_enter(struct cell *c), etc_make(struct cell *c);	/* etc.c */
int	etc_file(int dir, const char *name, unsigned mode,
	    const char *const *part, unsigned n);
void	etc_number(char out[21], uint64_t v);
extern const char *const etc_role[BL_ROLE_MAX];
_Noreturn void cell_main(struct cell *c);		/* cell.c */
_Noreturn void loop_run(const struct cell *c);		/* loop.c */
uint64_t limits_now(void);			/* spawn.c */
int	ids_set(uint32_t id);

#endif

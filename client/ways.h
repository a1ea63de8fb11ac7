/* Ways in: which one, starting it, and how a helper ended. */
#ifndef BL_CLIENT_WAYS_H
#define BL_CLIENT_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "../policy/proto.h"

/* What a sandbox on this host is asked for. */
struct way_ask {
	enum bl_way way;		/* NONE: the best there is */
	uint32_t need;			/* BL_NEED_ bits that were named */
	bool	 need_given;		/* --require was: need is all of it */
	bool	 plain;			/* --mode local was: plain processes, if
					   nothing is needed or there */
};

/* What was chosen. */
struct way {
	enum bl_way way;		/* SETUID stands for CAPS, too */
	char	 path[4096];		/* the helper's, or its socket's */
	uint32_t waived;		/* BL_NEED_ bits that it can't give, and
					   that nobody has named */
	char	 passed[384];		/* why better ones can't be used, or "" */
};

/* "setuid", "socket", ...; NULL for a number that is none. */
const char *way_name(enum bl_way way);
/* The number, NONE for "auto"; -1: there is no such way. */
int way_number(const char *name);

/*
 * 0 with *w, or -1 with *e.  What is installed comes first and is never passed
 * over because it fails; only what is not there at all is.
 */
int way_choose(const struct way_ask *ask, struct way *w, struct bl_err *e);

/*
 * Where the helper and its socket are looked for.  true: that counts as there;
 * else path is where it would be if it were installed.
 */
bool way_helper(char *path, size_t size, bool *is_installed);
bool way_socket(char *path, size_t size);
/* true: path names "bailiff-helper" beside the running program. */
bool way_beside(char *path, size_t size);

/* Bytes of "REASON; REMEDY", so that no name in it is cut: both have it. */
enum { WAY_WHY = 384 };
/* -1 with *e; why is "REASON" or "REASON; REMEDY". */
int way_impossible(enum bl_way way, const char *why, struct bl_err *e);
/* The same for a way that said r, 0 or -errno, as rootless_possible does. */
int way_refused(enum bl_way way, int r, const char *why, struct bl_err *e);
/* true: err tells of something that has run out and may be there again. */
bool way_ran_out(int err);

/* 0, or -1 with *e: a judge's cell can't have this host's network by it. */
int way_host_net(enum bl_way way, struct bl_err *e);

/* true: text says what the user has to know about w, in one sentence. */
bool way_warning(const struct way *w, char *text, size_t size);

/*
 * A session with a helper, by w: *sock is the client's end; *pid is the
 * helper, or -1 where somebody else has started it.  Not for BWRAP and PLAIN,
 * which have no helper.  0, or -1 with *e.
 */
int way_start(const struct way *w, int *sock, pid_t *pid, struct bl_err *e);

/*
 * Runs argv0 by path with sock as its descriptor 3 and nothing else open; the
 * start of each way that has a program.  0 with *pid, or -1 with *e.
 */
int way_exec(const char *path, int sock, pid_t *pid, struct bl_err *e);

/*
 * Waits for pid for up to wait_ms and fills *e from how it ended.  A helper
 * that does not end is killed when it lets itself be; always returns -1.
 */
int way_ended(pid_t pid, unsigned wait_ms, struct bl_err *e);
/*
 * Waits for pid as long, and then leaves it to end by itself: nobody here reaps
 * it then, see bailiff_close.
 */
void way_left(pid_t pid, unsigned wait_ms);

#endif

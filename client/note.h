/* What BAILIFF_ANSWER and the client tell each other on the run socket. */
#ifndef BL_CLIENT_NOTE_H
#define BL_CLIENT_NOTE_H

#include <stdint.h>

#include "../policy/proto.h"

/* As the judge finds them in its private /run. */
#define NOTE_DIR	"/run/bailiff"
#define NOTE_PROGRAM	NOTE_DIR "/answer"
#define NOTE_GUEST	NOTE_DIR "/answer.sock"	/* cell init of the answer */
#define NOTE_RUN	NOTE_DIR "/run.sock"	/* the client */

enum {
	NOTE_MAGIC	= 0x65746f6e,
	NOTE_VERSION	= 1,
	NOTE_CHUNK	= 32 << 10,	/* bytes of one datagram at most */
	NOTE_ARGV_MAX	= 16 << 10,
	NOTE_KEEP_MAX	= 1 << 20,
	NOTE_ENV_MAX	= 24 << 10,

	NOTE_OUTPUT	= 1 << 0,	/* ended at its output cap */
	NOTE_STREAM	= 1 << 1,	/* it had the verdict's stream */
	NOTE_ARGV_CUT	= 1 << 2,
	NOTE_BROKEN	= 1 << 3,	/* no end; spawn is an errno */
	NOTE_IN_JUDGE	= 1 << 4,	/* the runner's; nothing was started */
	NOTE_FRESH	= 1 << 5,	/* wants a cell; no end yet */
	NOTE_TIME	= 1 << 6,	/* ended at the answers' deadline */
	NOTE_ENDS	= NOTE_OUTPUT | NOTE_STREAM | NOTE_ARGV_CUT | NOTE_TIME
};

/* Client to program, at once: one datagram, with the variables behind it. */
struct note_conf {
	uint32_t magic, version;
	uint64_t wall_ns;		/* of one answer run, without -t */
	uint64_t deadline_ns;		/* of all; 0: cell init looks after it */
	uint64_t max_output, keep;	/* bytes per stream */
	struct bl_limits limits;
	struct {
		uint64_t dev, ino;	/* 0: there is none */
	} verdict[2];			/* the judge's stdout, result pipe */
	uint32_t nenv, env_bytes;	/* strings, each with its NUL */
};

/*
 * Program to client, first of all, where it wants a fresh cell: one with
 * NOTE_FRESH and nothing else; see note_cell.  The runner of a Python judge,
 * when its verifier would run the answer by itself: one with NOTE_IN_JUDGE and
 * nothing else; the client then ends the connection, and the run.
 *
 * Program to client, at its end: this, then argv_bytes (strings, each with
 * its NUL), out_kept and err_kept bytes in as many datagrams as it takes.
 */
struct note {
	uint32_t magic, version;
	uint32_t spawn;			/* its number in the answer cell */
	uint32_t flags;
	uint64_t out_bytes, err_bytes;	/* that the answer wrote */
	uint32_t argc, argv_bytes;
	uint32_t out_kept, err_kept;
};

/*
 * Client to program: the socket of a guest of a fresh cell, which is gone with
 * this connection.  ETIME: the answers' time is over, which is for the first
 * cell to say.
 */
struct note_cell {
	uint32_t magic, version;
	uint32_t err;			/* an errno; 0: a descriptor is here */
	uint32_t zero;
};

_Static_assert(sizeof(struct note_conf) == 112, "no hidden padding");
_Static_assert(sizeof(struct note_cell) == 16, "no hidden padding");
_Static_assert(sizeof(struct note) == 48, "no hidden padding");

#endif

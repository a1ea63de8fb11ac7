/* Bytes to a file of the caller's that must never hold this process up. */
#ifndef BL_CLIENT_SINK_H
#define BL_CLIENT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SINK_IN = 4096, SINK_ROOM = 4 * SINK_IN + 64 };

struct sink {
	int	 fd;			/* -1: bytes are dropped */
	bool	 own;			/* fd is this sink's, non-blocking */
	bool	 socket, escape;
	unsigned char part[4];		/* of a UTF-8 sequence, when escaping */
	size_t	 npart;
	size_t	 at, n;			/* of buf: still to be written */
	char	 buf[SINK_ROOM];
};

/* fd stays the caller's; -1: a sink that drops everything. */
void sink_open(struct sink *k, int fd);
bool sink_waits(const struct sink *k);	/* bytes wait to be written */
/* Takes up to SINK_IN bytes; only while nothing waits. */
void sink_put(struct sink *k, const char *b, size_t n);
void sink_end(struct sink *k);		/* no more will be put */
int  sink_flush(struct sink *k);	/* writes what it can: 0, or -errno */
/* Writes everything, before until_ns and until stop_fd is readable. */
int  sink_finish(struct sink *k, uint64_t until_ns, int stop_fd);
void sink_drop(struct sink *k);		/* forget what waits */
void sink_close(struct sink *k);

/*
 * Text for a terminal: to gets n bytes of b with control characters but tab
 * and line end, C1 controls, direction marks and bytes that are no UTF-8 as
 * \xNN.  part and npart carry a sequence that is cut by the end of b, or NULL:
 * it is escaped at once.  Returns the length; to holds 4 * (n + 4) bytes.
 */
size_t text_escape(char *to, const char *b, size_t n, unsigned char part[4],
    size_t *npart);

/*
 * Length of the UTF-8 sequence at b with its code point in *cp; 0: it is cut
 * by the end; -1: b[0] starts none.
 */
int utf8_next(const unsigned char *b, size_t n, uint32_t *cp);

#endif

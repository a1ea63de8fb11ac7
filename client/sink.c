/* Writes to the caller's files: without waiting, and safe for a terminal. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cells.h"

int
utf8_next(const unsigned char *b, size_t n, uint32_t *cp)
{
	uint32_t c, low;
	size_t len;

	if (n == 0)
		return 0;
	if (b[0] < 0x80) {
		*cp = b[0];
		return 1;
	}
	if (b[0] >= 0xc2 && b[0] <= 0xdf) {
		len = 2, low = 0x80, c = b[0] & 0x1fU;
	} else if ((b[0] & 0xf0) == 0xe0) {
		len = 3, low = 0x800, c = b[0] & 0x0fU;
	} else if (b[0] >= 0xf0 && b[0] <= 0xf4) {
		len = 4, low = 0x10000, c = b[0] & 0x07U;
	} else {
		return -1;
	}
	for (size_t i = 1; i < len; i++) {
		if (i == n)
			return 0;
		if ((b[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (b[i] & 0x3fU);
	}
	if (c < low || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return -1;
	*cp = c;
	return (int)len;
}

static bool
harmless(uint32_t c)
{
	if (c == '\n' || c == '\t')
		return true;
	return c >= 0x20 && !(c >= 0x7f && c <= 0x9f) && c != 0x061c &&
	    c != 0x200e && c != 0x200f && !(c >= 0x2028 && c <= 0x202e) &&
	    !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

static size_t
hex_put(char *to, const unsigned char *b, size_t n)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*to++ = '\\';
		*to++ = 'x';
		*to++ = hex[b[i] >> 4];
		*to++ = hex[b[i] & 15];
	}
	return 4 * n;
}

/* One sequence at b; -1 in *used: it is cut by the end. */
static size_t
one_put(char *to, const unsigned char *b, size_t n, int *used)
{
	uint32_t c = 0;
	int len = utf8_next(b, n, &c);

	*used = len == 0 ? -1 : len < 0 ? 1 : len;
	if (len == 0)
		return 0;
	if (len < 0 || !harmless(c))
		return hex_put(to, b, len < 0 ? 1 : (size_t)len);
	memcpy(to, b, (size_t)len);
	return (size_t)len;
}

size_t
text_escape(char *to, const char *text, size_t n, unsigned char part[4],
    size_t *npart)
{
	const unsigned char *b = (const unsigned char *)text;
	size_t out = 0;
	int used;

	while (part != NULL && *npart > 0 && n > 0) {
		part[(*npart)++] = *b++;
		n--;
		out += one_put(to + out, part, *npart, &used);
		if (used < 0)
			continue;
		*npart -= (size_t)used;
		memmove(part, part + used, *npart);
		/* A broken sequence: its last bytes may start new ones. */
		while (*npart > 0) {
			out += one_put(to + out, part, *npart, &used);
			if (used < 0)
				break;
			*npart -= (size_t)used;
			memmove(part, part + used, *npart);
		}
	}
	while (n > 0) {
		out += one_put(to + out, b, n, &used);
		if (used < 0) {
			if (part == NULL)
				return out + hex_put(to + out, b, n);
			memcpy(part, b, n);	/* three bytes at most */
			*npart = n;
			return out;
		}
		b += used;
		n -= (size_t)used;
	}
	return out;
}

/*
 * A description of its own of the same pipe or terminal can be non-blocking
 * without changing the caller's.  Where that is refused, small writes after
 * poll(2) don't block on a pipe either.
 */
static int
reopen(int fd)
{
	char path[40];

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void
sink_open(struct sink *k, int fd)
{
	struct stat st;
	int own = -1;

	memset(k, 0, offsetof(struct sink, buf));
	k->fd = fd;
	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	k->socket = S_ISSOCK(st.st_mode);
	k->escape = S_ISCHR(st.st_mode) && isatty(fd) == 1;
	if (S_ISFIFO(st.st_mode) || k->escape)
		own = reopen(fd);
	k->own = own >= 0;
	if (k->own)
		k->fd = own;
}

bool
sink_waits(const struct sink *k)
{
	return k->n > 0;
}

void
sink_put(struct sink *k, const char *b, size_t n)
{
	if (k->fd < 0)
		return;
	if (n > SINK_IN)
		n = SINK_IN;
	k->at = 0;
	if (k->escape) {
		k->n = text_escape(k->buf, b, n, k->part, &k->npart);
	} else {
		memcpy(k->buf, b, n);
		k->n = n;
	}
}

void
sink_end(struct sink *k)
{
	if (k->npart == 0)
		return;
	/* Room is there: what waits is at most 4 * SINK_IN + 16 bytes. */
	if (k->at > 0)
		memmove(k->buf, k->buf + k->at, k->n);
	k->at = 0;
	k->n += hex_put(k->buf + k->n, k->part, k->npart);
	k->npart = 0;
}

int
sink_flush(struct sink *k)
{
	struct pollfd p = { .fd = k->fd, .events = POLLOUT };

	while (k->n > 0) {
		size_t some = k->n < 4096 ? k->n : 4096;
		ssize_t n;

		if (!k->own && !k->socket && poll(&p, 1, 0) == 0)
			return 0;
		n = k->socket ?
		    send(k->fd, k->buf + k->at, some,
		    MSG_DONTWAIT | MSG_NOSIGNAL) :
		    write(k->fd, k->buf + k->at, some);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (n == 0)
			return -EIO;
		k->at += (size_t)n;
		k->n -= (size_t)n;
	}
	return 0;
}

int
sink_finish(struct sink *k, uint64_t until_ns, int stop_fd)
{
	struct pollfd p[2] = { { .fd = k->fd, .events = POLLOUT },
	    { .fd = stop_fd, .events = POLLIN } };

	for (;;) {
		int r = sink_flush(k);
		uint64_t now;

		if (r < 0 || k->n == 0)
			return r;
		now = now_ns();
		if (now >= until_ns)
			return -ETIMEDOUT;
		r = poll(p, 2, (int)((until_ns - now) / 1000000 + 1));
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && p[1].revents != 0)
			return -ECANCELED;
	}
}

void
sink_drop(struct sink *k)
{
	k->n = k->at = 0;
	k->npart = 0;
}

void
sink_close(struct sink *k)
{
	if (k->own)
		(void)close(k->fd);
	k->own = false;
	k->fd = -1;
}

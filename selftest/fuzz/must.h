/* What the fuzz targets share: an assertion that always counts. */
#ifndef BL_SELFTEST_MUST_H
#define BL_SELFTEST_MUST_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The front of data into *to, the rest of which stays as it is. */
static inline void
fill(void *to, size_t room, const uint8_t *data, size_t size)
{
	if (size > 0)
		memcpy(to, data, size < room ? size : room);
}

/* 1: a path that may be named in a request: absolute, whole, no dots. */
static inline int
sound(const char *path, size_t room)
{
	const char *end = memchr(path, '\0', room);

	return end != NULL && path[0] == '/' && path[1] != '\0' &&
	    strstr(path, "//") == NULL && strstr(path, "/../") == NULL &&
	    strstr(path, "/./") == NULL && end[-1] != '/';
}

#endif

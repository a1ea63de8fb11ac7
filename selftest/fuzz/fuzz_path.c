/* Fuzz: components of a path are plain names, and meeting is symmetrical. */
/* max_len: 352 */
#include "../../policy/proto.h"

#include <stdlib.h>
#include <string.h>

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The front of data into a path that keeps room bytes. */
static void
fill(char *to, size_t room, const uint8_t *data, size_t size)
{
	if (size > 0)
		memcpy(to, data, size < room ? size : room);
}

/* How many components, or -1; copy is put together from them. */
static int
walk(const char path[BL_DST_MAX], char copy[BL_DST_MAX + 2])
{
	char name[BL_NAME_MAX];
	size_t pos = 0;
	int n = 0, r;

	copy[0] = '\0';
	while ((r = bl_path_next(path, &pos, name)) > 0) {
		size_t at = strlen(copy), len = strnlen(name, sizeof name);

		MUST(len > 0 && len < sizeof name);
		MUST(strchr(name, '/') == NULL);
		MUST(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
		for (size_t i = 0; i < len; i++)
			MUST(name[i] > ' ' - 1 && name[i] < 127);
		MUST(at + 1 + len < BL_DST_MAX);
		copy[at] = '/';
		memcpy(copy + at + 1, name, len + 1);
		MUST(++n <= BL_DST_MAX / 2);
	}
	MUST(pos < BL_DST_MAX);
	return r < 0 ? -1 : n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char a[BL_DST_MAX] = "", b[BL_DST_MAX] = "";
	char ca[BL_DST_MAX + 2], cb[BL_DST_MAX + 2];
	const uint8_t *cut = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t na = cut != NULL ? (size_t)(cut - data) : size;
	int ra, rb, prefix;

	/* once without a NUL at the end, then as two paths */
	fill(a, sizeof a, data, size);
	(void)walk(a, ca);
	memset(a, 0, sizeof a);
	fill(a, sizeof a - 1, data, na);
	if (cut != NULL)
		fill(b, sizeof b - 1, cut + 1, size - na - 1);
	ra = walk(a, ca);
	rb = walk(b, cb);
	if (ra <= 0 || rb <= 0)
		return 0;
	MUST(bl_path_meets(a, a) == 1 && bl_path_meets(b, b) == 1);
	MUST(bl_path_meets(a, b) == bl_path_meets(b, a));
	/* the plain meaning: one, with a '/' at its end, begins the other */
	memcpy(ca + strlen(ca), "/", 2);
	memcpy(cb + strlen(cb), "/", 2);
	prefix = strncmp(ca, cb, strlen(ca)) == 0 ||
	    strncmp(cb, ca, strlen(cb)) == 0;
	MUST(bl_path_meets(a, b) == prefix);
	return 0;
}

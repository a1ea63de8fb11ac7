/* Fuzz: the components of a path are plain names, and together the path. */
/* max_len: 200 */
#include "../../policy/proto.h"
#include "../../policy/rules.h"

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
	char path[BL_DST_MAX] = "", copy[BL_DST_MAX + 2];

	/* once with no NUL at the end, if the input is long, then with one */
	fill(path, sizeof path, data, size);
	(void)walk(path, copy);
	path[sizeof path - 1] = '\0';
	if (walk(path, copy) > 0)
		MUST(strcmp(path, copy) == 0);
	return 0;
}

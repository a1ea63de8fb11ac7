/* metadata.json: an environment is taken whole and sound, or named wrong. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../client/deepgym.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/fuzz-meta.XXXXXX";
static int meta = -1;

static void
gone(void)
{
	static const char *const files[] = { "task.md", "verifier.py",
	    "metadata.json" };
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (unsigned i = 0; i < 3; i++)
		(void)unlinkat(fd, files[i], 0);
	(void)close(fd);
	(void)rmdir(dir);
}

static int
file(const char *name, const char *text)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	MUST(at >= 0);
	fd = openat(at, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, text, strlen(text)) ==
	    (ssize_t)strlen(text));
	(void)close(at);
	return fd;
}

static void
start(void)
{
	MUST(mkdtemp(dir) != NULL);
	(void)atexit(gone);
	(void)close(file("task.md", "A task."));
	(void)close(file("verifier.py", "# __name__ json.dumps"));
	meta = file("metadata.json", "");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct deepgym d;
	int r;

	if (meta < 0)
		start();
	MUST(ftruncate(meta, 0) == 0);
	MUST(pwrite(meta, data, size, 0) == (ssize_t)size);
	r = deepgym_open(&d, dir, &e);
	if (r != 0) {
		MUST(e.kind == BL_KIND_SETUP || e.kind == BL_KIND_REFUSED);
		MUST(e.code[0] != '\0' && e.message[0] != '\0');
		MUST(d.dir == -1 && d.judge == -1 && d.meta == NULL);
		return 0;
	}
	MUST(e.kind == BL_KIND_NONE && json_is_object(d.meta));
	MUST(d.timeout_ns % 1000000000 == 0);
	MUST(d.image == NULL || strlen(d.image) <= size);
	deepgym_close(&d);
	return 0;
}

/* Specs that the client writes are specs that the helper takes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../client/cells.h"
#include "tap.h"

static char raw[BL_SPEC_READ];

/* The bad code of a sealed spec, or -1; its header in *h. */
static int
checked(int fd, struct bl_spec *h)
{
	struct stat st;
	uint32_t bad = 0;
	ssize_t n = pread(fd, raw, sizeof raw, 0);

	if (n < 0 || fstat(fd, &st) != 0)
		return -1;
	memcpy(h, raw, sizeof *h);
	(void)bl_spec_check(raw, (size_t)n, (uint64_t)st.st_size, &bad);
	return (int)bad;
}

static void
plain(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct specw *w = specw_new();
	struct bl_spec h;
	struct bl_step *s;
	char data[7] = "";
	int fd;

	is(specw_arg(w, "prog", &e), 0, "an argument");
	is(specw_arg(w, "", &e), 0, "an empty argument");
	is(specw_base_env(w, BL_ROLE_ANSWER, &e), 0, "base variables");
	is(specw_env(w, "A=1", &e), 0, "a variable");
	is(specw_env(w, "A=22", &e), 0, "the same again");
	is(specw_env(w, "HOME=/x", &e), 0, "one of the base ones again");
	specw_cwd(w, "/tmp");
	is(specw_dir(w, "d", 0755, &e), 0, "a folder");
	is(specw_put(w, "d/f", 04711, "content", 7, &e), 0, "a file");
	is(specw_put(w, "d/empty", 0600, "", 0, &e), 0, "an empty file");
	fd = specw_seal(w, &e);
	ok(fd, >=, 0, "sealed");
	is(checked(fd, &h), BL_SPEC_OK, "sound");
	is(h.nargs, 2, "arguments");
	is(h.nenv, 7, "a later value replaces an earlier one");
	is(h.nsteps, 3, "steps");
	s = (struct bl_step *)(void *)(raw + sizeof h);
	is(s[1].mode, 0711, "no set-user-id bit in a mode");
	is(pread(fd, data, 7, (off_t)s[1].off), 7, "the bytes are there");
	is_mem(data, "content", 7, "and are the right ones");
	ok(s[1].off, >=, h.size, "behind the strings");
	is_str(specw_step_path(w, 1), "d/f", "a step's path");
	is(specw_step_path(w, 3) == NULL, 1, "no fourth step");
	is(fcntl(fd, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE, "all four seals");
	is(write(fd, "x", 1), -1, "closed for writing");
	(void)close(fd);
	specw_free(w);
}

static void
large(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct specw *w = specw_new();
	struct bl_spec h;
	struct bl_step *s;
	size_t n = 3 << 20;
	char *big = calloc(1, n), got = 0;
	int fd, r = 0;

	big[n - 1] = 'z';
	is(specw_put(w, "a", 0600, "small", 5, &e), 0, "a small file first");
	is(specw_put(w, "b", 0600, big, n, &e), 0, "then a large one");
	is(specw_put(w, "c", 0600, "!", 1, &e), 0, "and a small one");
	fd = specw_seal(w, &e);
	is(checked(fd, &h), BL_SPEC_OK, "sound");
	s = (struct bl_step *)(void *)(raw + sizeof h);
	is(pread(fd, &got, 1, (off_t)(s[1].off + n - 1)), 1, "last byte");
	is(got, 'z', "of the large one");
	is(pread(fd, &got, 1, (off_t)s[2].off), 1, "first byte");
	is(got, '!', "of the one behind it");
	(void)close(fd);
	specw_free(w);

	w = specw_new();
	for (int i = 0; r == 0 && i < 300; i++)
		r = specw_put(w, "f", 0600, big, 1 << 20, &e);
	is(r, -1, "more than a spec may hold is refused");
	is_str(e.code, "files_too_large", "by its name");
	specw_free(w);
	free(big);
}

static void
limits(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct specw *w = specw_new();
	char *big = malloc(BL_SPEC_READ + 1);
	int r = 0;

	memset(big, 'a', BL_SPEC_READ);
	big[BL_SPEC_READ] = '\0';
	is(specw_arg(w, big, &e), 0, "an argument of a MiB");
	is(specw_seal(w, &e), -1, "does not fit");
	is_str(e.code, "command_too_long", "by its name");
	specw_free(w);
	e.kind = BL_KIND_NONE;
	w = specw_new();
	for (int i = 0; r == 0 && i <= BL_ARGS_MAX; i++)
		r = specw_arg(w, "x", &e);
	is_str(e.code, "too_many_arguments", "too many arguments");
	e.kind = BL_KIND_NONE;
	is(specw_env(w, "novalue", &e), -1, "a variable without =");
	is(specw_env(w, "=x", &e), -1, "a variable without a name");
	is(e.kind, BL_KIND_USAGE, "is a mistake of usage");
	specw_free(w);
	free(big);
}

static void
tree(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	char dir[] = "/tmp/t-specw-XXXXXX", path[64];
	struct specw *w = specw_new();
	struct bl_spec h;
	int fd;

	if (mkdtemp(dir) == NULL) {
		skip("no temporary folder", "trees");
		return;
	}
	(void)snprintf(path, sizeof path, "%s/sub", dir);
	is(mkdir(path, 0500), 0, "a folder that its owner can't write to");
	(void)snprintf(path, sizeof path, "%s/f", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0640);
	is(write(fd, "hello", 5), 5, "a file");
	(void)close(fd);
	is(specw_tree(w, dir, "/work/t", 100, &e), 0, "read");
	fd = specw_seal(w, &e);
	is(checked(fd, &h), BL_SPEC_OK, "sound");
	is(h.nsteps, 3, "two folders and a file");
	(void)close(fd);
	specw_free(w);

	w = specw_new();
	is(specw_tree(w, dir, "/work/t", 4, &e), -1, "more than allowed");
	is_str(e.code, "files_too_large", "is refused");
	e = (struct bl_err){ .kind = BL_KIND_NONE };
	(void)snprintf(path, sizeof path, "%s/link", dir);
	is(symlink("/etc/passwd", path), 0, "a link");
	is(specw_tree(w, dir, "/work/t", 1000, &e), -1, "in a folder");
	is_str(e.code, "link_refused", "is refused");
	is_str(e.object, "/work/t/link", "by its name");
	e = (struct bl_err){ .kind = BL_KIND_NONE };
	is(specw_tree(w, path, "/work/t", 1000, &e), -1, "or alone");
	is_str(e.object, path, "by its own name");
	(void)unlink(path);
	e = (struct bl_err){ .kind = BL_KIND_NONE };
	is(mkfifo(path, 0600), 0, "a pipe without a writer");
	is(specw_tree(w, dir, "/work/t", 1000, &e), -1, "is no file");
	is_str(e.code, "special_refused", "and holds nothing up");
	e = (struct bl_err){ .kind = BL_KIND_NONE };
	is(specw_tree(w, "/nonexistent", "/work/t", 1, &e), -1, "nothing");
	is(e.err, ENOENT, "the caller's own error");
	specw_free(w);
	(void)unlink(path);
	(void)snprintf(path, sizeof path, "%s/f", dir);
	(void)unlink(path);
	(void)snprintf(path, sizeof path, "%s/sub", dir);
	(void)rmdir(path);
	(void)rmdir(dir);
}

/* The bytes of step i of the sealed spec fd, as checked() has read it. */
static void
bytes_of(int fd, unsigned i, char *to, size_t n)
{
	const struct bl_step *s = (struct bl_step *)(void *)(raw +
	    sizeof(struct bl_spec));

	memset(to, 0, n);
	is(pread(fd, to, s[i].len < n ? s[i].len : n, (off_t)s[i].off) > 0, 1,
	    "step %u has bytes", i);
}

/* big: the first one's bytes lie in a memfd already. */
static void
join(size_t big)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct specw *from = specw_new(), *to = specw_new();
	char *fill = calloc(1, big + 1), got[8];
	struct bl_spec h;
	int fd;

	is(specw_dir(from, "d", 0755, &e), 0, "a folder");
	is(specw_put(from, "d/fill", 0644, fill, big, &e), 0, "%zu bytes", big);
	is(specw_put(from, "d/a", 0644, "from", 5, &e), 0, "a file");
	is(specw_put(to, "b", 0644, "to", 3, &e), 0, "another one's");
	is(specw_join(to, from, &e), 0, "joined");
	is(specw_bytes(to), specw_bytes(from) + 3, "with all bytes");
	is(specw_put(to, "c", 0644, "last", 5, &e), 0, "and one more");
	is(specw_put(from, "e", 0644, "own", 4, &e), 0, "the first goes on");
	is_str(specw_step_path(to, 3), "d/a", "in their order");
	fd = specw_seal(to, &e);
	is(checked(fd, &h), BL_SPEC_OK, "sound");
	is(h.nsteps, 5, "steps");
	bytes_of(fd, 0, got, sizeof got);
	is_str(got, "to", "its own");
	bytes_of(fd, 3, got, sizeof got);
	is_str(got, "from", "the other's");
	bytes_of(fd, 4, got, sizeof got);
	is_str(got, "last", "the last one's");
	(void)close(fd);
	fd = specw_seal(from, &e);
	is(checked(fd, &h), BL_SPEC_OK, "the first is sound, too");
	bytes_of(fd, 3, got, sizeof got);
	is_str(got, "own", "and has its own");
	(void)close(fd);
	specw_free(from);
	specw_free(to);
	free(fill);
}

static void
join_too_much(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct specw *from = specw_new(), *to = specw_new();
	char name[16];
	int r = 0;

	is(specw_join(to, from, &e), 0, "nothing to nothing");
	for (int i = 0; r == 0 && i < BL_STEPS_MAX; i++) {
		(void)snprintf(name, sizeof name, "f%d", i);
		r = specw_dir(from, name, 0755, &e);
	}
	is(r, 0, "as many steps as there can be");
	is(specw_join(to, from, &e), 0, "fit");
	is(specw_join(to, from, &e), -1, "twice they don't");
	is_str(e.code, "too_many_files", "and that is said");
	specw_free(from);
	specw_free(to);
}

int
main(void)
{
	plain();
	large();
	limits();
	tree();
	join(0);
	join(100);
	join(2 << 20);
	join_too_much();
	return done();
}

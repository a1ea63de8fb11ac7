/* Folder records from a cell are hostile. */
#include <dirent.h>
#include <stddef.h>
#include <stdlib.h>

#include "../client/get.h"
#include "tap.h"

static char recs[4096];
static size_t used;

static void
rec(const char *name, size_t len, unsigned char type, size_t reclen)
{
	const size_t head = offsetof(struct dirent64, d_name);
	uint16_t n = (uint16_t)(reclen != 0 ? reclen : (head + len + 8) & ~7UL);

	memset(recs + used, 0, n);
	memcpy(recs + used + offsetof(struct dirent64, d_reclen), &n, sizeof n);
	recs[used + offsetof(struct dirent64, d_type)] = (char)type;
	memcpy(recs + used + head, name, len);
	used += n;
}

static int
names(uint32_t *count)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	char *v;
	int r = get_names(recs, used, &v, count, &e);

	free(v);
	return r;
}

int
main(void)
{
	static const char *const bad[] = { "", "a/b", "/", "a\nb", "\x1b[0m",
	    "a\x7f" };
	uint32_t n;

	is(names(&n), 0, "an empty folder");
	rec(".", 1, DT_DIR, 0);
	rec("..", 2, DT_DIR, 0);
	rec("a", 1, DT_REG, 0);
	rec("bb", 2, DT_DIR, 0);
	is(names(&n), 0, "a plain one");
	is(n, 2, "without itself and the one above");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		used = 0;
		rec("x", 1, DT_REG, 0);
		rec(bad[i], strlen(bad[i]), DT_REG, 0);
		is(names(&n), -1, "no name, %zu", i);
	}
	used = 0;
	rec("a", 1, DT_REG, 0);
	rec("b", 1, DT_REG, 0);
	rec("a", 1, DT_DIR, 0);
	is(names(&n), -1, "one name twice");
	used = 0;
	rec("aaaaa", 5, DT_REG, 24);
	is(names(&n), -1, "no NUL within the record");
	used = 0;
	rec("a", 1, DT_REG, 24);
	used -= 1;
	is(names(&n), -1, "a record that is cut off");
	used = 5;
	is(names(&n), -1, "less than a record");
	used = 0;
	rec("", 0, DT_REG, 19);
	is(names(&n), -1, "a record without room for a name");
	used = 0;
	rec("a", 1, DT_REG, 24);
	memset(recs + offsetof(struct dirent64, d_reclen), 0, 2);
	is(names(&n), -1, "a record of no size");
	return done();
}

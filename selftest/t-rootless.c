/* client/subid.c, client/rootless.c: what is lent to a user; a helper's tree. */
#include "../client/subid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../client/rootless.h"
#include "tap.h"

/* "first count" for joe, whose number is 1000, or the errno as a number. */
static const char *
lent(const char *table, uint32_t least)
{
	static char text[64];
	FILE *f = tmpfile();
	struct subid s;
	uint32_t next;
	int r;

	if (f == NULL || fputs(table, f) < 0 || fseek(f, 0, SEEK_SET) != 0)
		abort();
	r = subid_read(f, "joe", 1000, least, &s, &next);
	(void)fclose(f);
	if (least == 0)
		(void)snprintf(text, sizeof text, "%u", next);
	else if (r != 0)
		(void)snprintf(text, sizeof text, "%s %u",
		    r == -ENOENT ? "none" : r == -ERANGE ? "small" : "?",
		    s.count);
	else
		(void)snprintf(text, sizeof text, "%u %u", s.first, s.count);
	return text;
}

static void
tables(void)
{
	static const char *const bad[] = { "", "\n", "joe", "joe:100000",
	    "joe:100000:\n", "joe::65536\n", ":100000:65536\n",
	    "joey:100000:65536\n", "jo:100000:65536\n", "1001:100000:65536\n",
	    "joe:-1:65536\n", "joe:+100000:65536\n", "joe: 100000:65536\n",
	    "joe:0x10000:65536\n", "joe:100000:65536:1\n", "joe:100000:65536 \n",
	    "joe:0:65536\n", "joe:500:65536\n", "joe:1000:65536\n",
	    "joe:100000:0\n", "joe:4294967295:1\n", "joe:4294901760:65536\n",
	    "joe:18446744073709651616:65536\n", "joe:100000:4294967296\n",
	    "#joe:100000:65536\n", " joe:100000:65536\n",
	    "\njoe\n:100000:65536\n" };
	char line[2048];

	is_str(lent("joe:100000:65536\n", 1024), "100000 65536", "by name");
	is_str(lent("ann:4294836223:65536\n", 0), "4294901759",
	    "a range follows");
	is_str(lent("ann:4294836224:65536\n", 0), "0", "none follows");
	is_str(lent("1000:100000:65536\n", 1024), "100000 65536", "by number");
	is_str(lent("joe:100000:65536", 1024), "100000 65536",
	    "without the last line's end");
	is_str(lent("ann:100000:65536\njoe:165536:1024\njoe:300000:65536\n",
	    1024), "165536 1024", "the first that is large enough");
	is_str(lent("joe:100000:1000\njoe:200000:1023\njoe:300000:5\n", 1024),
	    "small 1023", "only smaller ones: the largest of them");
	is_str(lent("joe:100000:1000\njoe:200000:1024\n", 1024), "200000 1024",
	    "a smaller one is passed over");
	is_str(lent("joe:1001:65536\n", 1024), "1001 65536", "just above id");
	is_str(lent("joe:1:999\n", 9), "1 999", "just below id");
	is_str(lent("joe:4294901759:65536\n", 1024), "4294901759 65536",
	    "up to the last number that is one");
	is_str(lent("", 0), "100000", "the first that anybody gets");
	is_str(lent("ann:200000:65536\njoe:100000:65536\nbob:1:5\n", 0),
	    "265536", "behind all of them");
	is_str(lent("ann:4294901759:65536\n", 0), "0", "no room behind all");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		is_str(lent(bad[i], 1024), "none 0", "no line: %zu", i);
	memset(line, 'x', sizeof line);
	(void)snprintf(line + 1500, sizeof line - 1500, "\njoe:7000:2000\n");
	is_str(lent(line, 1024), "7000 2000", "behind a very long line");
	memset(line, 'x', sizeof line);
	(void)snprintf(line + 1023, sizeof line - 1023, "joe:7000:2000\n");
	is_str(lent(line, 1024), "none 0", "in the middle of one");
}

/* No process has this folder; one that is not a helper's has no tree. */
static void
places(void)
{
	int fd = open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC);

	is(rootless_place(getpid(), fd) < 0, 1, "no helper's tree");
	is(rootless_place(getpid(), -1), -ESTALE, "no descriptor");
	(void)close(fd);
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	is(rootless_place(getpid(), fd), -ESTALE, "the root");
	(void)close(fd);
}

int
main(void)
{
	tables();
	places();
	return done();
}

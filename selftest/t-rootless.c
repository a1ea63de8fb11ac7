/* client/subid.c, client/rootless.c: what is lent to a user, and why not. */
#include "../client/subid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
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

static void
text(const char *name, const char *s)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, s, strlen(s)) != (ssize_t)strlen(s))
		abort();
	(void)close(fd);
}

/* 1: the reason for err has this word in it. */
static int
says(int err, const char *word)
{
	char why[256] = "";

	rootless_reason(".", err, why, sizeof why);
	if (strlen(why) > 180 || strstr(why, word) == NULL)
		(void)printf("# %s\n", why);
	/* what quotes it has no room for more */
	return strlen(why) <= 180 && strstr(why, word) != NULL;
}

static void
reasons(void)
{
	is(says(EPERM, "container"), 1, "no such files: the errno decides");
	is(says(ENOSPC, "too many"), 1, "too many of them");
	if (mkdir("user", 0700) != 0 || mkdir("kernel", 0700) != 0)
		abort();
	text("user/max_user_namespaces", "15000\n");
	text("kernel/unprivileged_userns_clone", "1\n");
	text("kernel/apparmor_restrict_unprivileged_userns", "0\n");
	is(says(EPERM, "container"), 1, "all of them allow it");
	text("kernel/apparmor_restrict_unprivileged_userns", "1\n");
	is(says(EACCES, "apparmor_parser"), 1, "AppArmor");
	text("kernel/unprivileged_userns_clone", "0\n");
	is(says(EPERM, "kernel.unprivileged_userns_clone=1"), 1, "only root");
	text("user/max_user_namespaces", "0\n");
	is(says(ENOSPC, "user.max_user_namespaces="), 1, "switched off");
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
	char top[] = "/tmp/bailiff-rootless-XXXXXX", cmd[128];

	if (mkdtemp(top) == NULL || chdir(top) != 0)
		return plan_skip("no folder in /tmp");
	tables();
	reasons();
	places();
	(void)snprintf(cmd, sizeof cmd, "rm -rf %s", top);
	is(chdir("/"), 0, "done");
	is(system(cmd), 0, "cleaned up");
	return done();
}

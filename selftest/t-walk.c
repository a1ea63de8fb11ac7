/* client/walk.c: a folder that somebody else has filled. */
#include "../client/walk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tap.h"

static char top[] = "/tmp/bailiff-walk-XXXXXX";

static void
text(const char *name, const char *s)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, s, strlen(s)) != (ssize_t)strlen(s))
		abort();
	(void)close(fd);
}

static void
link_to(const char *to, const char *name)
{
	if (symlink(to, name) != 0)
		abort();
}

/* The names that were taken, in their order, or "kind code object". */
static const char *
walked(const char *below, uint64_t bytes, uint64_t names, uint64_t entries)
{
	static char said[4096];
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct walk k = { .dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	    .name = "it", .what = "answer", .kind = BL_KIND_SETUP,
	    .below = below, .bytes = bytes, .names = names,
	    .entries = entries, .w = specw_new(), .e = &e };
	const char *path;
	size_t n = 0;

	said[0] = '\0';
	if (k.dir < 0 || k.w == NULL)
		abort();
	if (walk_tree(&k) != 0)
		(void)snprintf(said, sizeof said, "%s %s %s",
		    err_kind_name(e.kind), e.code, e.object);
	else
		for (uint32_t i = 0;
		    (path = specw_step_path(k.w, i)) != NULL; i++)
			n += (size_t)snprintf(said + n, sizeof said - n,
			    "%s%s", i > 0 ? " " : "", path);
	specw_free(k.w);
	(void)close(k.dir);
	return said;
}

static const char *
all(void)
{
	return walked("s", 1000, 1000, 10);
}

static void
bounds(void)
{
	is_str(walked("", 100, 100, 10), "", "an empty folder");
	is_str(walked("s", 100, 100, 10), "s", "an empty folder below a name");
	text("a", "12345");
	is_str(all(), "s s/a", "one file");
	is_str(walked("", 5, 2, 1), "a", "as much as there may be");
	is_str(walked("", 4, 2, 1), "setup answer_too_large a",
	    "a byte too many");
	is_str(walked("", 5, 1, 1), "setup answer_too_large a",
	    "a name too long");
	is_str(walked("", 5, 2, 0), "setup answer_too_large a",
	    "a file too many");
	is_str(walked("s", 5, 5, 1), "setup answer_too_large a",
	    "its folder counts");
	is_str(walked("", 0, 100, 10), "setup answer_too_large a",
	    "no bytes at all");
	text("a", "");
	is_str(walked("", 0, 100, 10), "a", "an empty file needs none");
}

static void
kinds(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX, .sun_path = "bad" };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)mkdir(".git", 0700);
	link_to("/etc", ".git/out");
	(void)mkdir("__pycache__", 0700);
	is_str(all(), "s s/a", "what tools leave is not looked at");
	link_to("a", "b");
	is(strlen(walked("", 100, 4, 2)), 3, "a link to a file counts as one");
	(void)unlink("b");
	link_to("/etc/passwd", "bad");
	is_str(all(), "refused unsafe_path bad", "a link that leaves");
	(void)unlink("bad");
	link_to("..", "bad");
	is_str(all(), "refused unsafe_path bad", "the folder above");
	(void)unlink("bad");
	link_to(".", "bad");
	is_str(all(), "refused unsafe_path bad", "the folder itself");
	(void)unlink("bad");
	link_to("bad", "bad");
	is_str(all(), "refused unsafe_path bad", "a link to itself");
	(void)unlink("bad");
	link_to("nowhere", "bad");
	is_str(all(), "refused unsafe_path bad", "a link to nothing");
	(void)unlink("bad");
	link_to("/proc/self/cwd/a", "bad");
	is_str(all(), "refused unsafe_path bad", "a way round by /proc");
	(void)unlink("bad");
	(void)mkfifo("bad", 0600);
	is_str(all(), "refused unsafe_path bad", "a pipe");
	(void)unlink("bad");
	is(bind(s, (const struct sockaddr *)&sa, sizeof sa), 0, "a socket");
	is_str(all(), "refused unsafe_path bad", "is refused");
	(void)unlink("bad");
	(void)close(s);
	is_str(all(), "s s/a", "control: without them");
}

static void
names(void)
{
	char name[16], most[8];

	walk_name("plain/name", name, sizeof name);
	is_str(name, "plain/name", "a plain name");
	walk_name("a\nb\x1b[31m\x7f\r", name, sizeof name);
	is_str(name, "a?b?[31m??", "no line ends, no steering");
	walk_name("0123456", most, sizeof most);
	is_str(most, "0123456", "as long as it may be");
	walk_name("01234567", most, sizeof most);
	is_str(most, "0123...", "longer");
	walk_name("", most, sizeof most);
	is_str(most, "", "none");
	text("bad\nx", "");
	link_to("/etc", "worse\nx");
	is_str(all(), "refused unsafe_path worse?x", "in an error, too");
	(void)unlink("worse\nx");
	(void)unlink("bad\nx");
}

static void
depth(void)
{
	for (int i = 0; i < 17; i++)
		if (mkdir("d", 0700) != 0 || chdir("d") != 0)
			abort();
	if (chdir(top) != 0)
		abort();
	is_str(walked("", 100, 10000, 100) + 6, "answer_too_deep "
	    "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d", "17 folders deep");
	is(rmdir("d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d"), 0, "one less");
	is(strncmp(walked("", 100, 10000, 100), "setup", 5) != 0, 1,
	    "is fine");
}

int
main(void)
{
	char cmd[128];

	if (mkdtemp(top) == NULL || chdir(top) != 0)
		return plan_skip("no folder in /tmp");
	bounds();
	kinds();
	names();
	depth();
	(void)snprintf(cmd, sizeof cmd, "rm -rf %s", top);
	is(chdir("/"), 0, "done");
	is(system(cmd), 0, "cleaned up");
	return done();
}

/* client/deepgym.c: folders that are environments, and all that are not. */
#include "../client/deepgym.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define PROGRAM "import json\nif __name__ == '__main__':\n" \
	"    print(json.dumps({}))\n"

static char top[] = "/tmp/bailiff-deepgym-XXXXXX";

static void
file(const char *name, const void *text, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, n) != (ssize_t)n)
		abort();
	(void)close(fd);
}

static void
text(const char *name, const char *s)
{
	file(name, s, strlen(s));
}

static void
link_to(const char *to, const char *name)
{
	if (symlink(to, name) != 0)
		abort();
}

/* An empty folder to work in, where there is one more each time. */
static void
fresh(const char *name)
{
	if (chdir(top) != 0 || mkdir(name, 0755) != 0 || chdir(name) != 0)
		abort();
}

/* A folder that is an environment. */
static void
sound(const char *name)
{
	fresh(name);
	text("task.md", "Do it.\n");
	text("verifier.py", PROGRAM);
}

/* Why the current folder is none, as "kind code object"; "" for one that is. */
static const char *
why(const char *path)
{
	static char said[512];
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct deepgym d;

	said[0] = '\0';
	if (deepgym_open(&d, path, &e) != 0)
		(void)snprintf(said, sizeof said, "%s %s %s",
		    err_kind_name(e.kind), e.code, e.object);
	else
		deepgym_close(&d);
	return said;
}

static const char *
copied(void)
{
	static char said[512];
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct specw *w = specw_new();
	struct deepgym d;

	said[0] = '\0';
	if (w == NULL || deepgym_open(&d, ".", &e) != 0)
		abort();
	if (deepgym_put(&d, w, "solution.py", "answers/x.py", &e) != 0)
		(void)snprintf(said, sizeof said, "%s %s %s",
		    err_kind_name(e.kind), e.code, e.object);
	deepgym_close(&d);
	specw_free(w);
	return said;
}

static const struct { const char *json, *why; } metas[] = {
	{ "{}", "" },
	{ "{\"id\":\"a\",\"tags\":[\"b\"],\"timeout\":1,\"image\":\"c\"}", "" },
	{ "{\"unknown\":[1,{\"x\":null}],\"difficulty\":\"odd\"}", "" },
	{ "{\"env_vars\":{\"A_1\":\"b\",\"_\":\"\"}}", "" },
	{ "", "setup metadata_not_json metadata.json" },
	{ "{\"id\":", "setup metadata_not_json metadata.json" },
	{ "{} {}", "setup metadata_not_json metadata.json" },
	{ "[]", "setup metadata_not_object metadata.json" },
	{ "\xef\xbb\xbf{}", "setup metadata_bom metadata.json" },
	{ "{\"id\":\"a\",\"id\":\"a\"}",
	    "setup metadata_duplicate_key metadata.json" },
	{ "{\"id\":1}", "setup metadata_type metadata.json" },
	{ "{\"tags\":\"a\"}", "setup metadata_type metadata.json" },
	{ "{\"tags\":[1]}", "setup metadata_type metadata.json" },
	{ "{\"image\":null}", "setup metadata_type metadata.json" },
	{ "{\"timeout\":0}", "setup metadata_type metadata.json" },
	{ "{\"timeout\":-5}", "setup metadata_type metadata.json" },
	{ "{\"timeout\":1.5}", "setup metadata_type metadata.json" },
	{ "{\"timeout\":\"30\"}", "setup metadata_type metadata.json" },
	{ "{\"timeout\":99999999999}", "setup metadata_type metadata.json" },
	{ "{\"env_vars\":{\"1A\":\"b\"}}", "setup metadata_type metadata.json" },
	{ "{\"env_vars\":{\"A=\":\"b\"}}", "setup metadata_type metadata.json" },
	{ "{\"env_vars\":{\"A\":1}}", "setup metadata_type metadata.json" },
	{ "{\"env_vars\":[]}", "setup metadata_type metadata.json" },
	{ "{\"type\":\"computer-use\"}", "refused task_kind metadata.json" },
	{ "{\"type\":\"repo-patch\"}", "refused task_kind metadata.json" },
	{ "{\"type\":\"cybergym\"}", "refused task_kind metadata.json" },
	{ "{\"benchmark\":\"CyberGym\"}", "refused task_kind metadata.json" },
	{ "{\"benchmark\":\"other\",\"type\":\"coding\"}", "" },
	{ "{\"benchmark\":[\"cybergym\"]}", "" },
};

static void
parts(void)
{
	sound("whole");
	is_str(why("."), "", "the least there can be");
	is_str(why(top), "setup task_missing task.md", "no task.md");
	is_str(why("nowhere"), "setup environment_missing nowhere",
	    "no folder");
	is_str(why("task.md"), "setup environment_missing task.md",
	    "a file as a folder");
	is_str(why("/"), "refused environment_name /", "the root folder");
	sound(".hidden");
	is_str(why("."), "refused environment_name .", "a hidden folder");
	sound("no-verifier");
	(void)unlink("verifier.py");
	is_str(why("."), "setup verifier_missing verifier.py", "no verifier");
	text("verifier", "#!/bin/sh\n");
	is_str(why("."), "", "a program called verifier");
	text("verifier", "echo\n");
	is_str(why("."), "setup verifier_no_interpreter verifier",
	    "a program without #!");
	(void)unlink("verifier");
	(void)mkdir("verifier", 0755);
	is_str(why("."), "setup environment_not_a_file verifier",
	    "a folder called verifier");
	sound("odd-task");
	text("task.md", "\xff\n");
	is_str(why("."), "setup task_not_utf8 task.md", "a task of bytes");
	(void)unlink("task.md");
	(void)mkfifo("task.md", 0600);
	is_str(why("."), "setup environment_not_a_file task.md",
	    "a pipe as the task");
	(void)unlink("task.md");
	link_to("/etc/hostname", "task.md");
	is_str(why("."), "refused unsafe_path task.md",
	    "the task is a link that leaves");
	(void)unlink("task.md");
	link_to("../whole/task.md", "task.md");
	is_str(why("."), "refused unsafe_path task.md", "by ..");
	(void)unlink("task.md");
	text("real.md", "Do it.\n");
	link_to("real.md", "task.md");
	is_str(why("."), "", "the task is a link that stays");
	fresh("harbor");
	text("task.toml", "");
	is_str(why("."), "refused task_kind task.toml", "a Harbor task");
	text("metadata.json", "{\"type\":\"cybergym\"}");
	is_str(why("."), "refused task_kind metadata.json",
	    "a kind that has no task.md");
}

static void
metadata(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct deepgym d;

	sound("meta");
	for (size_t i = 0; i < sizeof metas / sizeof metas[0]; i++) {
		text("metadata.json", metas[i].json);
		is_str(why("."), metas[i].why, "metadata %zu: %s", i,
		    metas[i].why);
	}
	text("metadata.json", "{\"timeout\":7,\"image\":\"x:1\"}");
	text("test_cases.json", "[]");
	if (deepgym_open(&d, ".", &e) != 0)
		abort();
	is(d.timeout_ns, 7000000000, "its timeout");
	is_str(d.image, "x:1", "its image");
	is_str(d.name, "meta", "its name");
	is(d.tests, true, "its test cases");
	deepgym_close(&d);
}

static void
verifiers(void)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	struct deepgym d;

	sound("verifiers");
	text("verifier.py", "return solution_path is not None\n");
	is_str(why("."), "", "the body of a function");
	text("verifier.py", PROGRAM "import importlib.util as u\n"
	    "u.spec_from_file_location('s', 'solution.py')\n");
	is_str(why("."), "", "one that loads the answer");
	is(deepgym_bare(&d, "verifier.py", &e), 0, "a verifier alone");
	is(d.python, true, "run by python3");
	deepgym_close(&d);
	is(deepgym_bare(&d, "task.md", &e), -1, "a text alone");
	is_str(e.code, "verifier_no_interpreter", "lacks its #!");
}

static void
copies(void)
{
	sound("copies");
	is_str(copied(), "", "files");
	(void)mkdir("data", 0700);
	(void)mkdir("data/deep", 0700);
	text("data/deep/x", "x");
	link_to("deep/x", "data/link");
	is_str(copied(), "", "folders, and a link to a file inside");
	link_to("deep", "data/folder");
	is_str(copied(), "refused unsafe_path data/folder",
	    "a link to a folder");
	(void)unlink("data/folder");
	link_to("../../whole/task.md", "data/out");
	is_str(copied(), "refused unsafe_path data/out", "a link that leaves");
	(void)unlink("data/out");
	link_to("/etc/passwd", "data/out");
	is_str(copied(), "refused unsafe_path data/out", "an absolute link");
	(void)unlink("data/out");
	(void)mkfifo("data/pipe", 0600);
	is_str(copied(), "refused unsafe_path data/pipe", "a pipe");
	(void)unlink("data/pipe");
	(void)mkdir("answers", 0700);
	link_to("/etc", "answers/out");
	link_to("/etc/passwd", "solution.py");
	is_str(copied(), "", "what is left out is not looked at");
}

int
main(void)
{
	char cmd[128];

	if (mkdtemp(top) == NULL)
		return plan_skip("no folder in /tmp");
	parts();
	metadata();
	verifiers();
	copies();
	(void)snprintf(cmd, sizeof cmd, "rm -rf %s", top);
	is(chdir("/"), 0, "done");
	is(system(cmd), 0, "cleaned up");
	return done();
}

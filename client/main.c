/* bailiff: finds the command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../policy/proto.h"
#include "cancel.h"
#include "cmd.h"
#include "tell.h"

#ifndef BL_COMMIT
#define BL_COMMIT "unknown"
#endif
#ifndef BL_RELEASE
#define BL_RELEASE "0.1"
#endif

static const char help[] =
"usage: bailiff COMMAND [options]\n"
"\n"
"  run ENV --answer PATH [options]   judge one answer\n"
"  exec [options] -- CMD [ARG...]    run one command in a fresh cell\n"
"  doctor [--json]                   what this host can do, and what to mend\n"
"  selftest [options]                try what a sandbox forbids, really\n"
"  help [COMMAND]                    this text, or a command's\n"
"\n"
"bailiff COMMAND --help tells a command's options; bailiff --version tells\n"
"version, protocol and commit.\n";

static const struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
} commands[] = {
	{ "doctor", cmd_doctor },
	{ "exec", cmd_exec },
	{ "run", cmd_run },
	{ "selftest", cmd_selftest },
};

static const struct command *
find(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* 0, or 3: stdout did not take it. */
static int
say(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) != 0 ? 3 : 0;
}

int
cmd_version(void)
{
	char text[160];

	(void)snprintf(text, sizeof text,
	    "bailiff %s protocol %d commit %s\n", BL_RELEASE, BL_VERSION,
	    BL_COMMIT);
	return say(text);
}

static int
cmd_help(int argc, char **argv)
{
	static char flag[] = "--help";
	const struct command *c = argc > 1 ? find(argv[1]) : NULL;
	char *args[3] = { argc > 1 ? argv[1] : NULL, flag, NULL };

	if (c != NULL)
		return c->fn(2, args);
	if (argc == 1)
		return say(help);
	tell("no such command: %.80s", argv[1]);
	return 64;
}

int
main(int argc, char **argv)
{
	struct bl_err e = { .kind = BL_KIND_NONE };
	const struct command *c;

	if (start_sound(&e) != 0) {
		tell_err(&e);
		return 3;
	}
	if (argc < 2) {
		tell("wants a command: see bailiff --help [usage]");
		return 64;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return say(help);
	if (strcmp(argv[1], "--version") == 0)
		return cmd_version();
	if (strcmp(argv[1], "help") == 0)
		return cmd_help(argc - 1, argv + 1);
	c = find(argv[1]);
	if (c == NULL) {
		tell("no such command: %.80s; see bailiff --help [usage]", argv[1]);
		return 64;
	}
	return c->fn(argc - 1, argv + 1);
}

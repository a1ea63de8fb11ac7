/* client/userns.c: whether user namespaces can be had, and why not. */
#include "../client/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static void
text(const char *name, const char *s)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, s, strlen(s)) != (ssize_t)strlen(s))
		abort();
	(void)close(fd);
}

static struct userns_why w;

/* "now" or "never", the object and the fix; the reason is in w. */
static const char *
of(int err, int space)
{
	const struct userns_fail f = { err, space };
	static char said[300];

	userns_why(".", &f, &w);
	(void)printf("# %s; %s\n", w.why, w.fix);
	/* no part of it is cut, and a semicolon is what ends the reason */
	is(strlen(w.why) < sizeof w.why - 1 && strlen(w.fix) <
	    sizeof w.fix - 1 && strstr(w.why, "; ") == NULL, 1, "whole");
	(void)snprintf(said, sizeof said, "%s %s %s", w.now ? "now" : "never",
	    w.object, w.fix);
	return said;
}

static int
has(const char *word)
{
	return strstr(w.why, word) != NULL;
}

#define USER_KNOB "/proc/sys/user/max_user_namespaces"
#define UTS_KNOB "/proc/sys/user/max_uts_namespaces"

static void
limits(void)
{
	static const char outside[] = "now /proc/self/ns/user start bailiff "
	    "outside of the container, or nest of them, that it is in";

	is_str(of(ENOSPC, CLONE_NEWUSER), outside, "a limit nobody can read");
	text("user/max_user_namespaces", "2147483647\n");
	is_str(of(ENOSPC, CLONE_NEWUSER), outside, "a limit that is none");
	is(has("too deep"), 1, "the nest can be it");
	text("user/max_user_namespaces", "96365\n");
	is_str(of(ENOSPC, CLONE_NEWUSER), "now " USER_KNOB
	    " as root: sysctl -w user.max_user_namespaces=192730",
	    "a limit is never lowered");
	is(has("all 96365 that user.max_user_namespaces allows"), 1, "which");
	is(has("too deep"), 1, "nor is it certain");
	text("user/max_user_namespaces", "0\n");
	is_str(of(ENOSPC, CLONE_NEWUSER), "never " USER_KNOB
	    " as root: sysctl -w user.max_user_namespaces=15000", "off");
	text("user/max_user_namespaces", "96365\n");
	text("user/max_uts_namespaces", "0\n");
	is_str(of(ENOSPC, CLONE_NEWUTS), "never " UTS_KNOB
	    " as root: sysctl -w user.max_uts_namespaces=15000",
	    "another kind is off");
	is(has("UTS namespaces are switched off"), 1, "and is named");
	text("user/max_uts_namespaces", "7\n");
	is_str(of(ENOSPC, CLONE_NEWUTS), "now " UTS_KNOB
	    " as root: sysctl -w user.max_uts_namespaces=14",
	    "all of another kind are in use");
	is(has("too deep"), 0, "which knows no nest");
}

static void
others(void)
{
	static const char chroot[] = "never / start bailiff outside of the "
	    "chroot";
	static const char forbidden[] = "never clone(2) start bailiff outside "
	    "of the container, chroot or policy that forbids it";

	/* a package may be built in one */
	const int in_chroot = system("awk '$5 == \"/\" { n = 1 } END { exit n }' "
	    "/proc/self/mountinfo") == 0;

	is_str(of(EAGAIN, CLONE_NEWUSER), "now clone(2) raise what bounds it: "
	    "see ulimit -a, and the cgroup's pids.max", "no more processes");
	is(has("processes"), 1, "are named");
	is_str(of(ENOMEM, CLONE_NEWUSER), "now clone(2) raise what bounds it: "
	    "see ulimit -a, and the cgroup's limits", "no memory");
	is_str(of(EPERM, CLONE_NEWUSER), in_chroot ? chroot : forbidden,
	    "forbidden");
	is_str(of(EINVAL, CLONE_NEWUSER), forbidden, "not known");
	(void)of(EPERM, CLONE_NEWUTS);
	is(has("no rights"), 1, "one without rights");
	(void)of(EINVAL, CLONE_NEWNET);
	is(has("no network namespace"), 1, "a kernel without networks");
	text("kernel/apparmor_restrict_unprivileged_userns", "0\n");
	text("kernel/unprivileged_userns_clone", "1\n");
	is_str(of(EPERM, CLONE_NEWUSER), in_chroot ? chroot : forbidden, "all knobs allow it");
	is(userns_restricted(".") ? 1 : 0, 0, "no profile is needed");
	text("kernel/apparmor_restrict_unprivileged_userns", "1\n");
	is(userns_restricted(".") ? 1 : 0, 1, "one is");
	(void)of(EACCES, CLONE_NEWUSER);
	is(w.profile && has("AppArmor"), 1, "AppArmor, that denies it");
	(void)of(EPERM, CLONE_NEWUTS);
	is(w.profile && has("AppArmor"), 1, "AppArmor, that takes its rights");
	(void)of(EAGAIN, CLONE_NEWUSER);
	is(w.profile, 0, "AppArmor is not all that there is");
	text("kernel/unprivileged_userns_clone", "0\n");
	is_str(of(EPERM, CLONE_NEWUSER), "never "
	    "/proc/sys/kernel/unprivileged_userns_clone as root: sysctl -w "
	    "kernel.unprivileged_userns_clone=1", "only root");
}

/* What can be had here is: nothing else can be known of this machine. */
static void
tries(void)
{
	struct userns_fail f = { -1, -1 };
	int r = userns_try(0, &f);

	is(f.space, CLONE_NEWUSER, "alone: nothing else was asked for");
	is(r, f.err == 0 ? 0 : -1, "and it says whether");
	if (r == 0)
		is(userns_try(CLONE_NEWUTS, &f) == 0 || f.space == CLONE_NEWUTS,
		    1, "what fails then is the other one");
	else
		skip("no user namespace here", "what fails is the other one");
}

int
main(void)
{
	char top[] = "/tmp/bailiff-userns-XXXXXX", cmd[128];

	if (mkdtemp(top) == NULL || chdir(top) != 0)
		return plan_skip("no folder in /tmp");
	if (mkdir("user", 0700) != 0 || mkdir("kernel", 0700) != 0)
		abort();
	limits();
	others();
	tries();
	(void)snprintf(cmd, sizeof cmd, "rm -rf %s", top);
	is(chdir("/"), 0, "done");
	is(system(cmd), 0, "cleaned up");
	return done();
}

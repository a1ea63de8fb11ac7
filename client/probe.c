/*
 * The probe: tries, in a cell and outside of it, what a cell forbids.
 *
 *	probe try NAME,...|self|calls|party|limits [FACT=VALUE...]
 *	probe stay FOLDER	a party: makes things that others try to reach
 *	probe leave NAME	ends, and leaves processes
 *	probe sleep		does not end
 *	probe spin		takes processor time, and tells that it could
 *	probe list FOLDER...	names in them, with their paths
 *
 * For each try a line "NAME held|open|none WORDS".  Each runs in a process of
 * its own, and does no harm where it is allowed.
 */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRY_S = 5, SCAN = 4096, BOMB_S = 15, SPIN_S = 2, SPUN_S = 25 };

enum verdict
say(char why[WHY], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, WHY, fmt, ap);
	va_end(ap);
	return HELD;
}

enum verdict
opened(char why[WHY], const char *what, int err)
{
	(void)say(why, err == 0 ? "%s" : "%s: %s", what, strerror(err));
	return OPEN;
}

/* --- facts --------------------------------------------------------------- */

#define FACT(n, text) \
	{ #n, offsetof(struct facts, n), sizeof ((struct facts *)0)->n, text }
#define NUM(n) FACT(n, false)
#define TEXT(n) FACT(n, true)
#define AT(n, m, i) { n, offsetof(struct facts, m) + (i) * 8, 8, false }

static const struct {
	const char *name;
	size_t	 off, size;
	bool	 text;
} facts[] = {
	NUM(control), NUM(uid), NUM(gid), NUM(pid), NUM(filters), NUM(port4),
	NUM(port6), NUM(ipc), NUM(key), TEXT(dir), TEXT(name), TEXT(host),
	TEXT(homedir), AT("net", ns, 0), AT("mnt", ns, 1), AT("pidns", ns, 2),
	AT("ipcns", ns, 3), AT("uts", ns, 4), AT("cgroup", ns, 5),
	AT("rootdev", root, 0), AT("rootino", root, 1), AT("homedev", home, 0),
	AT("homeino", home, 1)
};

/* Takes "NAME=VALUE"; names that are none are passed over. */
static void
fact_take(struct facts *f, const char *kv)
{
	const char *eq = strchr(kv, '=');
	size_t n = eq == NULL ? 0 : (size_t)(eq - kv);

	for (size_t i = 0; n > 0 && i < sizeof facts / sizeof facts[0]; i++) {
		char *to = (char *)f + facts[i].off;
		uint64_t v = strtoull(eq + 1, NULL, 10);

		if (strlen(facts[i].name) != n ||
		    strncmp(facts[i].name, kv, n) != 0)
			continue;
		if (facts[i].text)
			(void)snprintf(to, facts[i].size, "%s", eq + 1);
		else		/* the low bytes come first where this runs */
			memcpy(to, &v, facts[i].size);
	}
}

/* --- trying -------------------------------------------------------------- */

static void
try_in_child(const struct try *t, const struct facts *f, int to)
{
	char why[WHY + 1] = "";
	enum verdict v;

	(void)alarm(TRY_S);
	v = t->fn(f, t->arg, why + 1);
	why[0] = (char)('0' + (int)v);
	_exit(write(to, why, sizeof why) == (ssize_t)sizeof why ? 0 : 1);
}

static void
try_one(const struct try *t, const struct facts *f)
{
	static const char *const words[] = { "held", "open", "none" };
	char got[WHY + 1] = "";
	int p[2], st = 0;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
		printf("%s none no process for it: %s\n", t->name,
		    strerror(errno));
		return;
	}
	if (pid == 0)
		try_in_child(t, f, p[1]);
	(void)close(p[1]);
	if (read(p[0], got, sizeof got) == (ssize_t)sizeof got &&
	    got[0] >= '0' && got[0] <= '2') {
		got[WHY] = '\0';
		for (char *c = got + 1; *c != '\0'; c++)
			*c = *c == '\n' ? ' ' : *c;
		printf("%s %s %s\n", t->name, words[got[0] - '0'], got + 1);
	}
	(void)close(p[0]);
	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	if (got[0] == '\0')
		printf("%s none its process ended with status %d\n", t->name,
		    st);
}

/* true: name is one of list's words, which commas part. */
static bool
listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (; list != NULL; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, name, n) == 0 &&
		    (list[n] == ',' || list[n] == '\0'))
			return true;
	}
	return false;
}

static int
run_tries(const char *list, const struct facts *f)
{
	static const struct {
		const char *name;
		const struct try *t;
	} sets[] = { { "self", tries_self }, { "calls", tries_calls },
	    { "party", tries_party }, { "limits", tries_limits } };

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
		for (const struct try *t = sets[i].t; t->name != NULL; t++)
			if (listed(list, sets[i].name) || listed(list, t->name))
				try_one(t, f);
	return fflush(stdout) != 0;
}

/* --- what it leaves ------------------------------------------------------ */

/* As many as there can be, deaf to all that can be refused. */
static void
bomb(void)
{
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_IGN);
	(void)alarm(BOMB_S);
	(void)signal(SIGALRM, SIG_DFL);
	(void)setsid();
	for (;;)
		if (fork() < 0)
			(void)usleep(1000);
}

/* Listens as name until somebody comes, or for some seconds. */
static int
leave(const char *name, bool bombs)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t n = strlen(name);

	if (s < 0 || n >= sizeof a.sun_path - 1)
		return 1;
	memcpy(a.sun_path + 1, name, n);
	if (bind(s, (struct sockaddr *)&a, (socklen_t)(offsetof(
	    struct sockaddr_un, sun_path) + 1 + n)) != 0 || listen(s, 4) != 0)
		return 1;
	for (int i = 0; i < (bombs ? 4 : 1); i++) {
		pid_t pid = fork();

		if (pid != 0)
			continue;
		if (i > 0)
			bomb();
		(void)setsid();
		(void)signal(SIGHUP, SIG_IGN);
		(void)close(0);
		(void)close(1);
		(void)close(2);
		(void)alarm(bombs ? BOMB_S : TRY_S / 2);
		_exit(accept(s, NULL, NULL) < 0);
	}
	(void)usleep(bombs ? 50000 : 0);
	return 0;
}

static int
endless(void)
{
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_IGN);
	for (int i = 0; i < BOMB_S; i++)	/* it ends by itself, too */
		(void)sleep(1);
	return 0;
}

/*
 * Longer than the limit that a cell has for it; there by far, as the limit goes
 * by ticks, which a busy machine gives to the wrong process.
 */
static int
spin(bool control)
{
	const int most = control ? SPIN_S : 2 * SPIN_S;
	struct timespec t = { 0, 0 };

	(void)alarm(SPUN_S);
	while (t.tv_sec < most)
		if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
			return 1;
	printf("limit_cpu open %d s of processor time\n", most);
	return fflush(stdout) != 0;
}

static int
list(char **dirs)
{
	for (; *dirs != NULL; dirs++) {
		DIR *d = **dirs == '/' ? opendir(*dirs) : NULL;
		struct dirent *e;

		while (d != NULL && (e = readdir(d)) != NULL) {
			if (strcmp(e->d_name, ".") == 0 ||
			    strcmp(e->d_name, "..") == 0)
				continue;
			for (char *c = e->d_name; *c != '\0'; c++)
				*c = *c == '\n' ? '?' : *c;
			printf("%s/%s\n", (*dirs)[1] == '\0' ? "" : *dirs,
			    e->d_name);
		}
		if (d != NULL)
			(void)closedir(d);
	}
	return fflush(stdout) != 0;
}

int
main(int argc, char **argv)
{
	struct facts f = { .control = false };
	const char *what = argc > 1 ? argv[1] : "";

	for (int fd = 3; fd < SCAN; fd++)
		f.open_fds += fcntl(fd, F_GETFD) >= 0;
	for (int i = 3; i < argc; i++)
		fact_take(&f, argv[i]);
	if (f.control)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(what, "sleep") == 0)
		return endless();
	if (strcmp(what, "spin") == 0)
		return spin(f.control);
	if (argc > 2 && strcmp(what, "list") == 0)
		return list(argv + 2);
	if (argc > 2 && strcmp(what, "try") == 0)
		return run_tries(argv[2], &f);
	if (argc > 2 && strcmp(what, "leave") == 0)
		return leave(argv[2], !f.control);
	if (argc > 2 && strcmp(what, "stay") == 0)
		return party_stay(argv[2]);
	return 64;
}

/* What a program inherits, set to a known state. */
#include "cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

int
start_sound(struct bl_err *e)
{
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = SIG_DFL };
	sigset_t open_all;

	/* In a closed stdout's place what fails as it would: nothing is lost. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null",
		    fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd)
			return err_set(e, BL_KIND_SETUP, "no_dev_null",
			    "start", errno, "/dev/null can't be opened: %s",
			    strerror(errno));
	/* A child's end must reach waitid(2); a lost reader is an EPIPE. */
	(void)sigemptyset(&open_all);
	if (sigaction(SIGCHLD, &act, NULL) != 0 ||
	    (act.sa_handler = SIG_IGN, sigaction(SIGPIPE, &act, NULL) != 0) ||
	    sigaction(SIGXFSZ, &act, NULL) != 0 ||	/* EFBIG will do */
	    sigprocmask(SIG_SETMASK, &open_all, NULL) != 0 ||
	    setitimer(ITIMER_REAL, &none, NULL) != 0)
		return err_set(e, BL_KIND_INFRA, "signals", "start", errno,
		    "signals can't be set up: %s", strerror(errno));
	return 0;
}

int
cancel_open(struct bl_err *e)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction was;
	sigset_t set;
	int fd = -1;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
		if (sigaction(stops[i], NULL, &was) == 0 &&
		    was.sa_handler != SIG_IGN)
			(void)sigaddset(&set, stops[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
		fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		(void)err_set(e, BL_KIND_INFRA, "signals", "start", errno,
		    "signals can't be set up: %s", strerror(errno));
	return fd;
}

/*
 * A control group that this user may divide, from systemd: a scope with
 * Delegate=yes (systemd.resource-control(5), org.freedesktop.systemd1(5)).
 *
 * The user's own manager is asked, or the system's where the user is root; each
 * by its private socket, which needs no message bus, else by the bus.
 * libsystemd is loaded only here: it costs more to load than a cell to make.
 */
#include "cgroup.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#include "cells.h"

/* For all of it: on a machine with more to do than it can, systemd is slow, and
   to go on without would be a wall less. */
enum { WAIT_MS = 10000 };

/* What is used of libsystemd: its functions by their own types. */
#define USED(X) X(sd_bus_new) X(sd_bus_set_address) X(sd_bus_start) \
    X(sd_bus_open_user) X(sd_bus_open_system) X(sd_bus_unref) \
    X(sd_bus_message_new_method_call) X(sd_bus_is_ready) X(sd_bus_process) \
    X(sd_bus_get_fd) X(sd_bus_get_events) \
    X(sd_bus_message_append) X(sd_bus_call) X(sd_bus_message_unref) \
    X(sd_bus_error_free)

struct lib {
	void	*at;
#define MEMBER(f) __typeof__(f) *f;
	USED(MEMBER)
#undef MEMBER
};

static bool
lib_open(struct lib *l)
{
	bool all = true;

	l->at = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
	if (l->at == NULL)
		return false;
	/* dlsym(3): a function's address comes as an object's */
#define LOAD(f) *(void **)&l->f = dlsym(l->at, #f); all = all && l->f != NULL;
	USED(LOAD)
#undef LOAD
	return all;
}

/* The manager's own socket.  true: *bus talks to it. */
static bool
private_bus(const struct lib *l, sd_bus **bus)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[200], address[220];
	int n;

	if (geteuid() == 0)
		n = snprintf(path, sizeof path, "/run/systemd/private");
	else if (runtime != NULL && runtime[0] == '/')
		n = snprintf(path, sizeof path, "%s/systemd/private", runtime);
	else
		n = snprintf(path, sizeof path, "/run/user/%u/systemd/private",
		    geteuid());
	/* an address would need other bytes written as %xx */
	if (n <= 0 || (size_t)n >= sizeof path || strspn(path, "/_-."
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	    != strlen(path) || access(path, F_OK) != 0)
		return false;
	(void)snprintf(address, sizeof address, "unix:path=%s", path);
	if (l->sd_bus_new(bus) < 0)
		return false;
	if (l->sd_bus_set_address(*bus, address) >= 0 &&
	    l->sd_bus_start(*bus) >= 0)
		return true;
	*bus = l->sd_bus_unref(*bus);
	return false;
}

/*
 * sd_bus_call would wait for a manager that hangs in the greeting for as long
 * as libsystemd thinks right, a minute and a half.  0, or -errno.
 */
static int
greet(const struct lib *l, sd_bus *bus, uint64_t until)
{
	int r;

	while ((r = l->sd_bus_is_ready(bus)) == 0) {
		struct pollfd p = { .fd = l->sd_bus_get_fd(bus) };
		int events = l->sd_bus_get_events(bus);

		r = l->sd_bus_process(bus, NULL);
		if (r < 0)
			return r;
		if (ms_until(until) == 0)
			return -ETIMEDOUT;
		p.events = (short)(events > 0 ? events : POLLIN);
		if (r == 0)
			(void)poll(&p, 1, ms_until(until));
	}
	return r < 0 ? r : 0;
}

/* 0, or -errno with why. */
static int
start_scope(const struct lib *l, sd_bus *bus, uint64_t until, char *why,
    size_t size)
{
	sd_bus_error err = SD_BUS_ERROR_NULL;
	sd_bus_message *m = NULL, *reply = NULL;
	char name[64];
	uint32_t salt = 0;
	int r = greet(l, bus, until);

	if (r < 0) {
		(void)snprintf(why, size, "systemd does not answer: %s",
		    strerror(-r));
		return r;
	}
	/* so that a number that comes again is no name that is there already */
	(void)!getrandom(&salt, sizeof salt, GRND_NONBLOCK);
	(void)snprintf(name, sizeof name, "bailiff-%d-%08x.scope", getpid(),
	    salt);
	r = l->sd_bus_message_new_method_call(bus, &m,
	    "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
	    "org.freedesktop.systemd1.Manager", "StartTransientUnit");
	if (r >= 0)
		r = l->sd_bus_message_append(m, "ssa(sv)a(sa(sv))", name, "fail",
		    5, "Description", "s", "bailiff: cells",
		    "Delegate", "b", 1, "CollectMode", "s", "inactive-or-failed",
		    /* cells have their own, and RLIMIT_NPROC; a sum would
		       fail what they allow */
		    "TasksMax", "t", UINT64_MAX,
		    "PIDs", "au", 1, 0, 0);	/* 0: the sender, whatever
						   namespace its number is of */
	if (r >= 0)
		r = l->sd_bus_call(bus, m, (uint64_t)ms_until(until) * 1000 + 1,
		    &err, &reply);	/* 0 would be libsystemd's own bound */
	if (r < 0)
		(void)snprintf(why, size, "systemd gives no scope: %s",
		    err.message != NULL ? err.message : strerror(-r));
	l->sd_bus_error_free(&err);
	(void)l->sd_bus_message_unref(reply);
	(void)l->sd_bus_message_unref(m);
	return r < 0 ? r : 0;
}

/* The call only queues a job; this process is where it shows. */
static bool
moved(const char *from, uint64_t until)
{
	const struct timespec nap = { .tv_nsec = 500000 };
	char path[4096];

	do {
		if (cgroup_own(path, sizeof path) == 0 &&
		    strcmp(path, from) != 0)
			return true;
		(void)nanosleep(&nap, NULL);
	} while (now_ns() < until);
	return false;
}

int
scope_enter(char *why, size_t size)
{
	char from[4096];
	uint64_t until = now_ns() + WAIT_MS * 1000000ULL;
	struct lib l = { .at = NULL };
	sd_bus *bus = NULL;
	int r;

	why[0] = '\0';
	if (access("/run/systemd/system", F_OK) != 0 ||
	    cgroup_own(from, sizeof from) != 0)
		return -ENOTCONN;	/* sd_booted(3): there is no systemd */
	if (!lib_open(&l)) {
		(void)snprintf(why, size, "systemd can't be asked for a "
		    "control group: libsystemd.so.0 can't be loaded");
		return -ELIBACC;
	}
	r = private_bus(&l, &bus) ? 0 : geteuid() == 0 ?
	    l.sd_bus_open_system(&bus) : l.sd_bus_open_user(&bus);
	if (r < 0) {
		(void)snprintf(why, size, "there is no systemd of this user's "
		    "to ask for a control group (XDG_RUNTIME_DIR, linger): %s",
		    strerror(-r));
		r = -ENOTCONN;
	} else
		r = start_scope(&l, bus, until, why, size);
	if (r == 0 && !moved(from, until)) {
		(void)snprintf(why, size, "systemd has not moved this process "
		    "within %d s", WAIT_MS / 1000);
		r = -ETIMEDOUT;
	}
	(void)l.sd_bus_unref(bus);
	return r;			/* the library stays: it has threads' keys */
}

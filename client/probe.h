/* Inside the probe: what it knows of a party, and what it tries. */
#ifndef BL_CLIENT_PROBE_H
#define BL_CLIENT_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* NONE: it could not be tried. */
enum verdict { HELD, OPEN, NONE };

enum { WHY = 200, NSPACES = 6 };

/* A party whose things are to be reached: the caller, or the judge. */
struct facts {
	bool	 control;		/* outside, where nothing forbids it */
	uint32_t uid, gid, pid;
	uint32_t filters;		/* that the caller runs under */
	uint64_t ns[NSPACES];		/* inodes: net mnt pid ipc uts cgroup */
	uint64_t root[2], home[2];	/* device and inode */
	uint32_t port4, port6;		/* of its listeners */
	int32_t	 ipc;			/* key of its System V objects */
	int32_t	 key;			/* serial of its key */
	char	 dir[128];		/* its folder: has file, socket */
	char	 name[64];		/* of its abstract socket and queue */
	char	 host[65];
	char	 homedir[128];
	unsigned open_fds;		/* above 2, at the start */
};

/* why gets what was seen, in a few words. */
struct try {
	const char *name;
	enum verdict (*fn)(const struct facts *f, int arg, char why[WHY]);
	int	 arg;
};

__attribute__((format(printf, 2, 3)))
enum verdict say(char why[WHY], const char *fmt, ...);	/* HELD */
/* OPEN, with what and errno in words where err is not 0. */
enum verdict opened(char why[WHY], const char *what, int err);

extern const struct try tries_calls[], tries_self[], tries_party[],
    tries_limits[];			/* each ends with a NULL name */

/* Becomes a party: makes its things, tells them, waits for the end of stdin. */
int  party_stay(const char *where);
extern const char *const space_names[NSPACES];

#endif

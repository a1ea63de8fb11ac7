/* Doctor: every way in and every wall, looked at; one finding for each. */
#ifndef BL_CLIENT_DOCTOR_H
#define BL_CLIENT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "doctor_read.h"
#include "err.h"
#include "ways.h"

enum doctor_status { DOCTOR_WORKS, DOCTOR_DOESNT, DOCTOR_UNKNOWN };

struct finding {
	enum doctor_status status;
	bool	 broken;	/* it is installed, and is not as it must be */
	bool	 few;		/* cells: one, and a judged run needs two */
	char	 object[256];	/* the file or kernel object */
	char	 detail[384];
	char	 fix[640];	/* one, when it doesn't work; else "" */
};

/* What was seen of one way in. */
struct doctor_way {
	enum bl_way way;
	bool	 used;		/* a run would take it first */
	struct finding f;
};
enum { DOCTOR_WAYS = 7 };

/* What a run asks for by the user's defaults. */
struct doctor_wish {
	struct way_ask ask;
	char	 line[64];		/* of the file, about ways; or "" */
	bool	 host_net;
	uint64_t memory, fsize, disk, disk_more;	/* 0: not said */
	uint32_t pids, cpu_ms;
	uint64_t wall_ns;		/* of the judge */
	struct bl_err e;		/* it would be refused */
};

/* What the checks share; looked at once. */
struct doctor {
	uid_t	 uid;
	char	 user[64];		/* its name, or its number */
	bool	 named;
	struct read_status self;
	bool	 self_ok;
	bool	 whole;			/* the uid_map is the whole */
	char	*mounts;		/* mountinfo; owned */
	char	 helper[4096];		/* "" where there is none at all */
	bool	 installed;		/* it is no build's */
	int	 helper_err;		/* of its stat, or 0 */
	struct stat helper_st;
	bool	 has_caps;		/* the attribute is there and sound */
	struct read_caps caps;
	bool	 at_mount;		/* the mount that it is on */
	struct read_mount mount;
	char	 socket[4096];
	bool	 socket_there;
	char	 config[4096];		/* the user's defaults; "": no path */
	const struct doctor_wish *wish;
	enum bl_way chosen;		/* NONE: nothing would be */
	struct bl_err chosen_e;		/* then: why */
	struct doctor_way ways[DOCTOR_WAYS];
};

/* Which ways a check can be the cause for, as bits. */
#define DOCTOR_FOR(way) (1U << (way))

struct doctor_check {
	const char *name;
	struct finding (*look)(const struct doctor *d);
	unsigned causes;
};
extern const struct doctor_check doctor_checks[];
extern const size_t doctor_nchecks;

/*
 * Fills d, tries the ways, then looks: out has doctor_nchecks places.  w must
 * last as long as d.
 */
void doctor_open(struct doctor *d, const struct doctor_wish *w);
void doctor_try(struct doctor *d);
void doctor_look(struct doctor *d, struct finding *out);
void doctor_close(struct doctor *d);

/* true: one of those in the set was tried and works. */
bool doctor_any(const struct doctor *d, unsigned ways);

/*
 * The start of each finding: printf into one of its members.
 */
struct finding found(enum doctor_status status, const char *object);
void found_detail(struct finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void found_fix(struct finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * A path as a word of a command that root is told to run; false: no command can
 * have it.
 */
enum { DOCTOR_WORD = 300 };
bool doctor_word(const char *path, char word[DOCTOR_WORD]);
/* true: root alone can have written the helper's file; word is its path. */
bool doctor_mendable(const struct doctor *d, char word[DOCTOR_WORD]);
/* The fix is to give it the capabilities that it needs. */
void doctor_fix_caps(const struct doctor *d, struct finding *f);
void doctor_listen(struct finding *f);
/* "setcap NAMES=ep": what this machine can give of what a helper's file has. */
void doctor_setcap(const struct doctor *d, char *text, size_t size);

/* A small file as text in a static buffer's stead; -1 with errno: can't. */
int doctor_file(const char *path, char *text, size_t size);
char *doctor_slurp(const char *path);	/* whole, malloc'd, or NULL */

/* The checks themselves: doctor_helper.c, doctor_host.c, doctor_kernel.c. */
struct finding look_config(const struct doctor *d);
struct finding look_helper_file(const struct doctor *d);
struct finding look_helper_owner(const struct doctor *d);
struct finding look_helper_folder(const struct doctor *d);
struct finding look_helper_group(const struct doctor *d);
struct finding look_helper_exec(const struct doctor *d);
struct finding look_helper_setuid(const struct doctor *d);
struct finding look_helper_capabilities(const struct doctor *d);
struct finding look_helper_mount(const struct doctor *d);
struct finding look_no_new_privs(const struct doctor *d);
struct finding look_rules_file(const struct doctor *d);
struct finding look_rules_caller(const struct doctor *d);
struct finding look_locks(const struct doctor *d);
struct finding look_socket(const struct doctor *d);
struct finding look_user_namespace(const struct doctor *d);
struct finding look_network(const struct doctor *d);
struct finding look_bounding_set(const struct doctor *d);
struct finding look_limits(const struct doctor *d);
struct finding look_kernel(const struct doctor *d);
struct finding look_seccomp(const struct doctor *d);
struct finding look_filesystems(const struct doctor *d);
struct finding look_proc(const struct doctor *d);
struct finding look_user_namespaces(const struct doctor *d);
struct finding look_newuidmap(const struct doctor *d);
struct finding look_newgidmap(const struct doctor *d);
struct finding look_subuid(const struct doctor *d);
struct finding look_subgid(const struct doctor *d);
struct finding look_bwrap(const struct doctor *d);
struct finding look_selinux(const struct doctor *d);
struct finding look_apparmor(const struct doctor *d);
struct finding look_core_pattern(const struct doctor *d);
struct finding look_ptrace_scope(const struct doctor *d);
struct finding look_cgroup(const struct doctor *d);
struct finding look_python3(const struct doctor *d);

#endif

/* Readers of what the kernel and the system's files say; pure, no effects. */
#ifndef BL_CLIENT_DOCTOR_READ_H
#define BL_CLIENT_DOCTOR_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of /proc/self/status.  See proc(5). */
struct read_status {
	unsigned no_new_privs, seccomp;
	uint64_t cap_prm, cap_bnd;
};
/* 0, or -1: a line that every kernel of today has is not there. */
int read_status(const char *text, struct read_status *s);

/* One line of /proc/self/mountinfo, its escapes undone. */
struct read_mount {
	unsigned long long id, parent;
	char	 root[256], point[1024], type[64];
	char	 opts[256];		/* of this mount alone */
	char	 super[512];		/* of the file system */
};
/* true: *m is the line that *text began with, *text is behind it. */
bool read_mount(const char **text, struct read_mount *m);
bool read_mount_id(const char *text, unsigned long long id,
    struct read_mount *m);
/* true: the list of words with commas between has this one. */
bool read_option(const char *list, const char *word);

/* The extended attribute security.capability.  See capabilities(7). */
struct read_caps {
	unsigned version;		/* 1 to 3 */
	bool	 effective;
	uint64_t permitted, inheritable;
	uint32_t root;			/* of version 3, else 0 */
};
int read_caps(const void *data, size_t n, struct read_caps *c);	/* 0 or -1 */

/* What the helper can't do without, helper/seal.c; bits and names. */
extern const uint64_t read_caps_needed;
/* What the Makefile's HELPER_MODE=caps gives it: two more, for limits. */
extern const uint64_t read_caps_file;
/* "cap_setuid,cap_kill": those of a file's that are in set; before: "cap_". */
void read_caps_words(uint64_t set, const char *before, const char *between,
    bool large, char *text, size_t size);

/* true: the uid_map or gid_map shows every number as itself. */
bool read_map_whole(const char *text);

/* What a line of /proc/sys/kernel/core_pattern starts with.  See core(5). */
enum read_core { CORE_FILE, CORE_PIPE, CORE_SOCKET };
enum read_core read_core(const char *text);

/* uname's release; 0 or -1. */
int read_release(const char *text, unsigned *major, unsigned *minor);

/* true: a line of a file like /proc/filesystems ends with this word. */
bool read_has_line(const char *text, const char *word);

#endif

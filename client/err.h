/* What went wrong, for people and for programs. */
#ifndef BL_CLIENT_ERR_H
#define BL_CLIENT_ERR_H

#include <stdint.h>

/* What installs the helper; a package says what does it there. */
#ifndef BL_INSTALL
#define BL_INSTALL "sudo make install (as root: make install)"
#endif

enum bl_kind {			/* the failure_kind of a result */
	BL_KIND_NONE, BL_KIND_SETUP, BL_KIND_REFUSED, BL_KIND_INFRA,
	BL_KIND_JUDGE, BL_KIND_CANCELLED,
	BL_KIND_USAGE		/* exit 64 (run) or 125 (exec); never in a result */
};

/* Owned by the caller, no pointers: copy and drop freely.  kind NONE is "no error". */
struct bl_err {
	enum bl_kind kind;
	char	 code[48];	/* fixed snake_case reason, e.g. "helper_missing" */
	char	 step[32];	/* what was being done, e.g. "cell/mount" */
	char	 object[192];	/* on which object */
	int	 err;		/* errno, or 0 */
	char	 message[512];	/* one sentence */
	char	 hint[256];	/* the one thing to do about it, or "" */
};

/* Fills e (unless it is NULL or holds an earlier error) and returns -1. */
int err_set(struct bl_err *e, enum bl_kind kind, const char *code,
    const char *step, int err, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
int err_memory(struct bl_err *e, const char *step);	/* the same */
void err_object(struct bl_err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void err_hint(struct bl_err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Fills e from a helper's or cell init's refusal (enum bl_at, object, -errno). */
int err_at(struct bl_err *e, uint32_t step, uint32_t object, int status);

/* The same for the library's callers; to may be NULL. */
struct bailiff_error;
void err_out(struct bailiff_error *to, const struct bl_err *from);

const char *err_kind_name(enum bl_kind k);	/* "setup", "refused", "infrastructure", ... */

#endif

/* Options that commands share: one table, strict values, a user's defaults. */
#ifndef BL_CLIENT_OPTS_H
#define BL_CLIENT_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "ways.h"

enum {				/* commands, as bits */
	CMD_EXEC	= 1 << 0,
	CMD_RUN		= 1 << 1,
	CMD_BATCH	= 1 << 2,
	CMD_SESSION	= 1 << 3,
	CMD_SELFTEST	= 1 << 4
};

struct opt_list {		/* of strings that it owns */
	char	**v;		/* ends with NULL when n > 0 */
	size_t	  n;
};

/* Numbers are 0, and pointers NULL, where nothing was given. */
struct opts {
	unsigned  cmd;			/* CMD_ bit */
	char	 *mode, *way;		/* NULL: auto */
	char	 *image;
	struct opt_list env;		/* K=V; a bare K was looked up */
	char	 *unset;		/* bare ones that were not there */
	char	 *warning;		/* of opts_mode */
	char	 *workdir;
	uint64_t  timeout_ns;
	uint64_t  cpu_ms;
	uint64_t  cpus_milli;		/* thousandths */
	uint64_t  memory;
	uint64_t  pids;
	uint64_t  fsize, disk;
	uint64_t  max_output;
	bool	  max_output_given;	/* 0 is a value */
	struct opt_list ro_bind, expose, put, get, tmpfs;	/* as typed */
	uint32_t  require;		/* BL_NEED_ bits */
	bool	  require_given;
	bool	  no_cgroup, scope;	/* --cgroup none, scope */
	bool	  cells, json, keep, quiet, help, version;
	unsigned  verbose;
	int	  status_fd;		/* -1: none; known to be open */
	char	 *meta;
};

/*
 * An option of one command alone.  set gets ctx and the value; for a flag
 * (arg false) the value is "yes" or, from the defaults' file, "no".  It
 * returns 0, or -1 with *e.
 */
struct opt_def {
	const char *name;		/* long name, no dashes */
	char	 brief;			/* or 0 */
	bool	 arg;
	int	(*set)(void *ctx, const char *val, struct bl_err *e);
};

void opts_init(struct opts *o, unsigned cmd);
void opts_free(struct opts *o);

/*
 * Takes options from argv[from] on and stops at the first word that is none;
 * "--" is taken and ends them.  extra ends with a NULL name, or is NULL; its
 * names win over shared ones.  Returns the index of the next word, or -1
 * with *e (kind usage).  May be called again behind that word.
 */
int opts_parse(struct opts *o, int argc, char **argv, int from,
    const struct opt_def *extra, void *ctx, struct bl_err *e);

/*
 * The user's defaults, $XDG_CONFIG_HOME/bailiff/config: call it before
 * opts_parse.  No such file is no error.  Names of other commands' options
 * are passed over.
 */
int opts_config(struct opts *o, const struct opt_def *extra, void *ctx,
    struct bl_err *e);
int opts_config_file(struct opts *o, const char *path,
    const struct opt_def *extra, void *ctx, struct bl_err *e);
/* Its path, whether it is there or not; false: there can be none. */
bool opts_config_path(char *path, size_t size);

/* Values.  0, or -1 with *e naming the option: what. */
int opt_size(const char *what, const char *s, uint64_t *out, struct bl_err *e);
int opt_number(const char *what, const char *s, uint64_t max, uint64_t *out,
    struct bl_err *e);
/* Decimal seconds as nanoseconds: "30", "0.5"; not 0, 10 years at most. */
int opt_seconds(const char *what, const char *s, uint64_t *out,
    struct bl_err *e);
/* Decimal number as thousandths. */
int opt_milli(const char *what, const char *s, uint64_t *out,
    struct bl_err *e);
/* "SRC:DST" at the first colon, neither empty; *src is malloc'd, *dst in s. */
int opt_pair(const char *what, const char *s, char **src, const char **dst,
    struct bl_err *e);
/* Sets an owned string, or adds to a list. */
int opt_string(char **to, const char *s, struct bl_err *e);
int opt_add(struct opt_list *l, const char *s, struct bl_err *e);

/*
 * The mode that counts: "local", or -1 (setup) for one this build lacks.
 * *warning is o's, or NULL: about the mode, and variables that are not set.
 */
int opts_mode(struct opts *o, const char **mode, const char **warning,
    struct bl_err *e);

/* What they ask of a sandbox on this host. */
struct way_ask opts_way(const struct opts *o);

/*
 * Asks for a control group that cells can have theirs below.  0: it is there or
 * can be done without; *warning is NULL, or what has no effect then.  -1 with
 * *e: it was required.
 */
int opts_cgroup(const struct opts *o, const char **warning, struct bl_err *e);
extern const char opts_no_cpus[];
/* true: that has to be said of the way that was found only afterwards. */
bool opts_cpus_lost(const struct opts *o, const char *way);

/* The library's error as the program's own, unless there is one already. */
struct bailiff_error;
void err_from(struct bl_err *to, const struct bailiff_error *from);

/* The shared options' part of a --help text. */
extern const char opts_help[];

#endif

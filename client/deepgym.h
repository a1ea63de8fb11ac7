/* A DeepGym environment: a folder with a task and a judge, read and checked. */
#ifndef BL_CLIENT_DEEPGYM_H
#define BL_CLIENT_DEEPGYM_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "cells.h"
#include "err.h"

struct deepgym {
	char	 name[256];	/* of the folder, or of the bare judge */
	int	 dir;		/* the folder; -1: a bare judge */
	int	 judge;		/* the verifier's file */
	const char *judge_name;	/* as the judge's folder has it */
	bool	 python;	/* by our runner, else by its first line */
	bool	 tests;		/* test_cases.json is there */
	json_t	*meta;		/* metadata.json, or NULL */
	uint64_t timeout_ns;	/* of one answer run; 0: not said */
	const char *image;	/* in meta, or NULL */
};

/* Opens and checks a folder.  0, or -1 with *e naming what is wrong with it. */
int  deepgym_open(struct deepgym *d, const char *path, struct bl_err *e);

/* The same for a verifier without a folder. */
int  deepgym_bare(struct deepgym *d, const char *path, struct bl_err *e);

/*
 * Everything the judge gets, as steps: the folder but for what tools leave
 * (.git, __pycache__), an entry called like the answer, and answers/ where
 * answer, the path that was given for it, lies in there.
 */
int  deepgym_put(const struct deepgym *d, struct specw *w,
    const char *answer_name, const char *answer, struct bl_err *e);

/* The environment's own variables, for the judge alone. */
int  deepgym_env(const struct deepgym *d, struct specw *w, struct bl_err *e);

void deepgym_close(struct deepgym *d);

#endif

/* The result of a judged run: one object, told last. */
#ifndef BL_CLIENT_RESULT_H
#define BL_CLIENT_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "cells.h"
#include "err.h"
#include "keep.h"
#include "verdict.h"

enum { RESULT_ANSWERS_MAX = 1000 };

struct result {
	struct bl_err	 fail;		/* kind NONE: v is the verdict */
	struct verdict	 v;
	const char	*mode, *way;	/* way: constant, or NULL */
	char		 sandbox[64];	/* "": none was made */
	bool		 shared;	/* --judge-mode shared */
	bool		 seen;		/* prot was looked at */
	struct bl_protections prot;
	bool		 judged;	/* judge holds how the judge ended */
	struct bl_exit	 judge;
	bool		 counted;	/* by its control group: */
	struct cgroup_facts judge_counted;
	char		*judge_err;	/* owned */
	size_t		 judge_nerr;
	bool		 judge_err_cut;
	json_t		*answers;	/* array, owned; NULL: none */
	uint64_t	 omitted;
	json_t		*warnings;	/* array, owned */
	uint64_t	 wall_ns;
	struct kept	 kept;		/* holder 0: nothing */
};

/* 0, or -1: no memory. */
int  result_init(struct result *r);
void result_free(struct result *r);

/* One that can't be kept is lost; the verdict doesn't hang on it. */
void result_warn(struct result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The object; NULL: no memory. */
json_t *result_json(const struct result *r);

/* For people, without the warnings; free it.  NULL: no memory. */
char *result_text(const struct result *r);

/* The exit status that says the same. */
int  result_status(const struct result *r, bool exit_zero);

#endif

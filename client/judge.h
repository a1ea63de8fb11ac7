/* A judged run: a judge in one cell, the answer in another. */
#ifndef BL_CLIENT_JUDGE_H
#define BL_CLIENT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cells.h"
#include "deepgym.h"
#include "result.h"

struct provider;

struct judge_plan {
	const struct provider *by;
	struct way_ask ask;
	const struct deepgym *env;
	int	 answer;		/* its file or folder */
	const char *answer_path;	/* as it was given */
	const char *answer_name;	/* "solution.py", in both folders */
	char *const *vars;		/* NAME=VALUE for both; nvars of them */
	size_t	 nvars;
	bool	 shared;		/* a Python judge may run the answer */
	bool	 host_net;		/* the judge has the host's network */
	uint64_t judge_ns;		/* wall time of the judge */
	uint64_t answer_ns;		/* of one answer run */
	uint64_t max_output;		/* of an answer, per stream */
	uint64_t keep_output;		/* of it in the result, per stream */
	int	 artifacts;		/* folder for what the answer left; -1 */
	bool	 verbose;		/* tells when there is nothing */
	bool	 keep;			/* the cells: r->kept says where */
	struct bl_cell_spec cell;	/* of both: all but role and deadline */
	int	 cancel_fd;		/* readable: cancelled; or -1 */
};

/*
 * Runs it to its end and fills r, which result_init has made: there is always
 * a verdict in it, or the reason why there is none.
 */
void judge_run(const struct judge_plan *p, struct result *r);

#endif

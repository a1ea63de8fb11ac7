/* What is put into the cells beside an environment and an answer. */
#ifndef BL_CLIENT_RUNTIME_H
#define BL_CLIENT_RUNTIME_H

#include "cells.h"

/* The runner of Python verifiers, as the judge finds it. */
#define RUNTIME_RUNNER	"/run/bailiff/py/runner.py"
#define RUNTIME_SERVE	"/run/serve"	/* bailiff.py names it, too */

/* Files for the judge's cell, and for answer cells.  0, or -1 with *e. */
int runtime_judge(struct specw *w, struct bl_err *e);
int runtime_answer(struct specw *w, struct bl_err *e);

#endif

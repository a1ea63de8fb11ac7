/* JSON out: one line, always valid UTF-8, every failure noticed. */
#ifndef BL_CLIENT_JSON_H
#define BL_CLIENT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "cells.h"
#include "err.h"

/*
 * The put_ functions set one member of the object o and return 0, or -1: no
 * memory, or o is NULL.  So a document is built without looking in between,
 * by or-ing the results, and judged once.
 */
int put_str(json_t *o, const char *name, const char *s);  /* NULL: null */
int put_num(json_t *o, const char *name, uint64_t v);
int put_bool(json_t *o, const char *name, bool v);
int put_null(json_t *o, const char *name);
int put_json(json_t *o, const char *name, json_t *v);	/* takes v */

/*
 * n bytes of anybody's: as they are when they are UTF-8; else name holds them
 * with each byte that isn't as \xNN, and name_b64 holds them exactly.
 */
int put_bytes(json_t *o, const char *name, const void *data, size_t n);
/* A new JSON string, escaped in the same way; NULL: no memory. */
json_t *text_json(const void *data, size_t n);

/* exit_code, signal, limit, wall_ms, cpu_ms, memory_peak_bytes. */
int put_exit(json_t *o, const struct bl_exit *x);
/* "evidence": what its control group has counted; f NULL: it has none. */
struct cgroup_facts;
int put_evidence(json_t *o, const struct cgroup_facts *f);
int put_protections(json_t *o, const char *name,
    const struct bl_protections *p);
/* {code, step, object, errno, message, hint} */
int put_err(json_t *o, const char *name, const struct bl_err *e);

const char *limit_name(uint32_t limit);		/* NULL for BL_LIMIT_NONE */

/*
 * Writes o and a line end to fd, all of it, before until_ns (see now_ns).
 * 0, or -1 with *e.  Nothing is written when o can't be put into text.
 */
int json_line(const json_t *o, int fd, uint64_t until_ns, int stop_fd,
    struct bl_err *e);

#endif

/* JSON out of anybody's bytes. */
#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sink.h"

int
put_json(json_t *o, const char *name, json_t *v)
{
	return json_object_set_new(o, name, v) == 0 ? 0 : -1;
}

int
put_str(json_t *o, const char *name, const char *s)
{
	if (s == NULL)
		return put_null(o, name);
	return put_json(o, name, text_json(s, strlen(s)));
}

int
put_num(json_t *o, const char *name, uint64_t v)
{
	return put_json(o, name, json_integer((json_int_t)(v > INT64_MAX ?
	    INT64_MAX : v)));
}

int
put_bool(json_t *o, const char *name, bool v)
{
	return put_json(o, name, json_boolean(v));
}

int
put_null(json_t *o, const char *name)
{
	return put_json(o, name, json_null());
}

/* A copy of n bytes with those that are no UTF-8 as \xNN; NULL: no memory. */
static char *
escape(const unsigned char *b, size_t n, size_t *out)
{
	static const char hex[] = "0123456789abcdef";
	char *to = malloc(4 * n + 1), *at = to;

	if (to == NULL)
		return NULL;
	while (n > 0) {
		uint32_t c;
		int len = utf8_next(b, n, &c);
		size_t used = len <= 0 ? 1 : (size_t)len;

		if (len <= 0) {
			*at++ = '\\';
			*at++ = 'x';
			*at++ = hex[b[0] >> 4];
			*at++ = hex[b[0] & 15];
		} else {
			memcpy(at, b, used);
			at += used;
		}
		b += used;
		n -= used;
	}
	*out = (size_t)(at - to);
	return to;
}

json_t *
text_json(const void *data, size_t n)
{
	json_t *v = json_stringn(n == 0 ? "" : data, n);
	char *copy;
	size_t len;

	if (v != NULL || n > SIZE_MAX / 8)
		return v;
	copy = escape(data, n, &len);
	if (copy == NULL)
		return NULL;
	v = json_stringn(copy, len);
	free(copy);
	return v;
}

static json_t *
base64(const unsigned char *b, size_t n)
{
	static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *to = malloc((n + 2) / 3 * 4 + 1), *at = to;
	json_t *v;

	if (to == NULL)
		return NULL;
	for (size_t i = 0; i < n; i += 3) {
		unsigned c = (unsigned)b[i] << 16 |
		    (i + 1 < n ? (unsigned)b[i + 1] << 8 : 0) |
		    (i + 2 < n ? b[i + 2] : 0);

		*at++ = set[c >> 18];
		*at++ = set[c >> 12 & 63];
		*at++ = i + 1 < n ? set[c >> 6 & 63] : '=';
		*at++ = i + 2 < n ? set[c & 63] : '=';
	}
	v = json_stringn(to, (size_t)(at - to));
	free(to);
	return v;
}

int
put_bytes(json_t *o, const char *name, const void *data, size_t n)
{
	json_t *v = json_stringn(n == 0 ? "" : data, n);
	size_t len = strlen(name);
	char twin[64];

	if (v != NULL)
		return put_json(o, name, v);
	if (len + 5 > sizeof twin)
		return -1;
	memcpy(twin, name, len);
	memcpy(twin + len, "_b64", 5);
	if (put_json(o, name, text_json(data, n)) != 0)
		return -1;
	return put_json(o, twin, base64(data, n));
}

const char *
limit_name(uint32_t limit)
{
	static const char *const names[BL_LIMIT_MAX] = {
		NULL, "time", "cpu", "memory", "processes", "output", "disk",
		"start"
	};

	return limit < BL_LIMIT_MAX ? names[limit] : NULL;
}

int
put_exit(json_t *o, const struct bl_exit *x)
{
	int w = x->wait_status, r = 0;

	if (WIFEXITED(w))
		r |= put_num(o, "exit_code", (uint64_t)WEXITSTATUS(w));
	else
		r |= put_null(o, "exit_code");
	if (WIFSIGNALED(w))
		r |= put_num(o, "signal", (uint64_t)WTERMSIG(w));
	else
		r |= put_null(o, "signal");
	r |= put_str(o, "limit", limit_name(x->limit));
	r |= put_num(o, "wall_ms", x->wall_ns / 1000000);
	r |= put_num(o, "cpu_ms", x->cpu_ns / 1000000);
	r |= put_num(o, "memory_peak_bytes", x->peak_bytes);
	return r;
}

int
put_evidence(json_t *o, const struct cgroup_facts *f)
{
	json_t *v;
	int r = 0;

	if (f == NULL)
		return put_null(o, "evidence");
	v = json_object();
	r |= put_num(v, "oom_kills", f->oom_kills);
	r |= put_num(v, "forks_refused", f->refused);
	return r | put_json(o, "evidence", v);
}

int
put_protections(json_t *o, const char *name, const struct bl_protections *p)
{
	json_t *v = json_object();
	int r = 0;

	r |= put_bool(v, "uid", p->uid);
	r |= put_bool(v, "net", p->net);
	r |= put_bool(v, "mount", p->mount);
	r |= put_bool(v, "pid", p->pid);
	r |= put_bool(v, "ipc", p->ipc);
	r |= put_bool(v, "seccomp", p->seccomp);
	r |= put_str(v, "cgroup", p->cgroup);
	r |= put_str(v, "rules", p->rules);
	return r | put_json(o, name, v);
}

int
put_err(json_t *o, const char *name, const struct bl_err *e)
{
	json_t *v = json_object();
	int r = 0;

	r |= put_str(v, "kind", err_kind_name(e->kind));
	r |= put_str(v, "code", e->code);
	r |= put_str(v, "step", e->step);
	r |= put_str(v, "object", e->object[0] == '\0' ? NULL : e->object);
	if (e->err != 0)
		r |= put_num(v, "errno", (uint64_t)e->err);
	else
		r |= put_null(v, "errno");
	r |= put_str(v, "message", e->message);
	r |= put_str(v, "hint", e->hint[0] == '\0' ? NULL : e->hint);
	return r | put_json(o, name, v);
}

int
json_line(const json_t *o, int fd, uint64_t until_ns, int stop_fd,
    struct bl_err *e)
{
	/* A terminal's sink would turn more than JSON does into \xNN. */
	size_t flags = JSON_COMPACT | (isatty(fd) == 1 ? JSON_ENSURE_ASCII : 0);
	char *text = json_dumps(o, flags);
	size_t n = text == NULL ? 0 : strlen(text), at = 0;
	struct sink *k = malloc(sizeof *k);
	int r = 0;

	if (text == NULL || k == NULL) {
		free(text);
		free(k);
		return err_set(e, BL_KIND_INFRA, "no_memory", "result", ENOMEM,
		    "the result can't be put into text");
	}
	text[n++] = '\n';		/* in the place of its NUL */
	sink_open(k, fd);
	while (r == 0 && at < n) {
		size_t some = n - at < SINK_IN ? n - at : SINK_IN;

		sink_put(k, text + at, some);
		at += some;
		r = sink_finish(k, until_ns, stop_fd);
	}
	if (r == 0) {
		sink_end(k);
		r = sink_finish(k, until_ns, stop_fd);
	}
	sink_close(k);
	free(text);
	free(k);
	if (r == 0)
		return 0;
	return err_set(e, BL_KIND_INFRA, "output_failed", "result", r,
	    "the result can't be written: %s", strerror(-r));
}

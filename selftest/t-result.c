/* client/result.c: no score without a verdict, and one line of UTF-8. */
#include "../client/result.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct result r;
static json_t *o;

static void
again(const char *verdict)
{
	result_free(&r);
	json_decref(o);
	o = NULL;
	if (result_init(&r) != 0)
		abort();
	if (verdict != NULL) {
		verdict_line(&r.v, verdict, strlen(verdict), false);
		if (r.v.reason != NULL)
			abort();
	}
}

static json_t *
get(const char *name)
{
	json_decref(o);
	o = result_json(&r);
	return json_object_get(o, name);
}

static const char *
str(const char *name)
{
	return json_string_value(get(name));
}

/* A member as its own text. */
static const char *
dump(const char *name)
{
	static char text[512];
	json_t *v = get(name);
	char *s = v == NULL ? NULL : json_dumps(v, JSON_ENCODE_ANY |
	    JSON_COMPACT | JSON_SORT_KEYS);

	(void)snprintf(text, sizeof text, "%s", s == NULL ? "absent" : s);
	free(s);
	return text;
}

static void
verdicts(void)
{
	again("{\"score\":1,\"passed\":true}");
	is_str(str("verdict"), "passed", "passed");
	is_str(dump("score"), "1.0", "its score");
	is_str(dump("mask_sample"), "false", "counts");
	is(get("failure_kind") == NULL && get("failure_reason") == NULL &&
	    get("failure_detail") == NULL, true, "has no failure");
	is_str(dump("details"), "null", "no details");
	is_str(dump("reward_components"), "{}", "no components");
	is_str(dump("cases"), "[]", "no cases");
	is_str(dump("metrics"), "{}", "no metrics");
	is_str(dump("seed"), "null", "no seed");
	is_str(dump("truncated"), "false", "not truncated");
	is_str(dump("error_type"), "null", "no error type");
	is(result_status(&r, false), 0, "status 0");

	again("{\"score\":0.25,\"passed\":false,\"details\":\"d\","
	    "\"reward_components\":{\"a\":1,\"b\":0.5},\"metrics\":{\"m\":[]},"
	    "\"seed\":4,\"truncated\":true,\"error_type\":\"timeout\","
	    "\"cases\":[{\"passed\":true,\"id\":\"x\"}]}");
	is_str(str("verdict"), "failed", "failed");
	is_str(dump("reward_components"), "{\"a\":1,\"b\":0.5}", "components");
	is_str(dump("metrics"), "{\"m\":[]}", "metrics");
	is_str(dump("seed"), "4", "seed");
	is_str(dump("truncated"), "true", "truncated");
	is_str(dump("error_type"), "\"timeout\"", "error type");
	is_str(dump("cases"), "[{\"id\":\"x\",\"passed\":true,\"score\":1.0}]",
	    "cases");
	is(result_status(&r, false), 1, "status 1");
	is(result_status(&r, true), 0, "status 0 with --exit-zero");

	again("{\"score\":0,\"passed\":false,\"details\":[1],"
	    "\"reward_components\":{\"a\":\"1\"},\"metrics\":[],\"seed\":1.5,"
	    "\"truncated\":1,\"error_type\":5,\"cases\":{\"passed\":true}}");
	is_str(str("details"), "[1]", "details of another type are text");
	is_str(dump("reward_components"), "{}", "components that are none");
	is_str(dump("metrics"), "{}", "metrics that are none");
	is_str(dump("seed"), "null", "a seed that is none");
	is_str(dump("truncated"), "false", "truncated that is none");
	is_str(dump("error_type"), "null", "an error type that is none");
	is_str(dump("cases"), "[]", "cases that are none");
}

static void
failures(void)
{
	static const struct { enum bl_kind kind; int status; const char *name; }
	    kinds[] = {
		{ BL_KIND_SETUP, 3, "setup" },
		{ BL_KIND_REFUSED, 77, "refused" },
		{ BL_KIND_INFRA, 3, "infrastructure" },
		{ BL_KIND_JUDGE, 3, "judge" },
		{ BL_KIND_CANCELLED, 130, "cancelled" },
	};
	char *text;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		/* a verdict that was read before doesn't show */
		again("{\"score\":1,\"passed\":true}");
		(void)err_set(&r.fail, kinds[i].kind, "some_code", "step", 0,
		    "odd \xff bytes");
		is_str(str("verdict"), "none", "%s: none", kinds[i].name);
		is(get("score") == NULL && get("passed") == NULL, true,
		    "no score");
		is_str(str("failure_kind"), kinds[i].name, "its kind");
		is_str(str("failure_reason"), "some_code", "its reason");
		is_str(str("failure_detail"), "odd \\xff bytes", "its detail");
		is_str(dump("mask_sample"), "true", "masked");
		is_str(dump("protections"), "null", "nothing was seen");
		is(result_status(&r, true), kinds[i].status,
		    "status %d, whatever --exit-zero says", kinds[i].status);
	}
	text = result_text(&r);
	is_str(text, "no verdict (cancelled, some_code): odd \\xff bytes\n",
	    "in words");
	free(text);
}

static void
words(void)
{
	char *text;

	again("{\"score\":0.5,\"passed\":false,\"details\":\"\\u001b[2J x\"}");
	text = result_text(&r);
	is_str(text, "not passed, score 0.5\n\\x1b[2J x\n",
	    "nothing of a judge reaches a terminal as it is");
	free(text);
	result_warn(&r, "odd %s", "thing");
	result_warn(&r, "odd thing");
	is_str(dump("warnings"), "[\"odd thing\"]", "a warning, once");
	r.seen = true;
	r.prot.cgroup = "none";
	is_str(str("separation"), "none", "separation by what was seen");
	r.prot.uid = true;
	is_str(str("separation"), "users", "users");
	r.prot.mount = r.prot.pid = r.prot.net = r.prot.ipc = true;
	is_str(str("separation"), "users+namespaces", "both");
	r.prot.uid = false;
	is_str(str("separation"), "namespaces", "namespaces");
}

int
main(void)
{
	verdicts();
	failures();
	words();
	result_free(&r);
	json_decref(o);
	return done();
}

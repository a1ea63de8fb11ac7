/* The verdict's grammar: what it takes is one, whatever came before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../../client/verdict.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
sound(const struct verdict *v)
{
	json_t *s = json_object_get(v->doc, "score");

	if (v->reason != NULL) {
		MUST(v->doc == NULL && v->detail[0] != '\0');
		return;
	}
	MUST(json_is_object(v->doc) && json_is_number(s));
	MUST(json_is_boolean(json_object_get(v->doc, "passed")));
	MUST(v->score >= 0.0 && v->score <= 1.0);
	MUST(v->passed == json_is_true(json_object_get(v->doc, "passed")));
}

/* Written out, it is a line that says the same. */
static void
again(const struct verdict *v)
{
	char *text = json_dumps(v->doc, JSON_COMPACT);
	struct verdict w;

	MUST(text != NULL && strchr(text, '\n') == NULL);
	verdict_line(&w, text, strlen(text), false);
	if (w.reason == NULL)
		MUST(w.score == v->score && w.passed == v->passed);
	else
		MUST(strlen(text) > VERDICT_LINE_MAX);
	verdict_free(&w);
	free(text);
}

/* Its own keys, each once: any of them a second time, and it is none. */
static void
twice(const struct verdict *v)
{
	json_t *first = json_string(json_object_iter_key(
	    json_object_iter(v->doc)));
	char *key = json_dumps(first, JSON_ENCODE_ANY), *more;
	char *text = json_dumps(v->doc, JSON_COMPACT);
	struct verdict w;
	int n;

	MUST(text != NULL && key != NULL);
	text[strlen(text) - 1] = '\0';
	n = asprintf(&more, "%s,%s:[{}]}", text, key);
	MUST(n > 0);
	verdict_line(&w, more, (size_t)n, false);
	MUST(w.reason != NULL);
	MUST(n > VERDICT_LINE_MAX ||
	    strcmp(w.reason, "judge_duplicate_key") == 0);
	verdict_free(&w);
	free(more);
	free(text);
	free(key);
	json_decref(first);
}

/* Shown inside of another one, it is no matter: even twice by one key. */
static void
inside(const char *text, size_t n)
{
	static const char *const part[] = { "{\"score\":1,\"x\":[{\"k\":",
	    ",\"k\":", "},NaN,-Infinity],\"passed\":true}" };
	char *all = malloc(2 * n + 128);
	struct verdict w;
	size_t at = 0;

	MUST(all != NULL);
	for (unsigned i = 0; i < 3; i++) {
		memcpy(all + at, part[i], strlen(part[i]));
		at += strlen(part[i]);
		memcpy(all + at, text, i < 2 ? n : 0);
		at += i < 2 ? n : 0;
	}
	verdict_document(&w, all, at, false);
	MUST(at > VERDICT_LINE_MAX || w.reason == NULL);
	MUST(w.reason != NULL || (w.passed && w.score == 1.0));
	verdict_free(&w);
	free(all);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bl_exit x = { .wait_status = 0 };
	struct verdict v;

	if (size < 2)
		return 0;
	x.wait_status = data[0] << 8;
	x.limit = data[1] & 15;
	verdict_line(&v, (const char *)data + 2, size - 2, data[1] & 16);
	sound(&v);
	if (v.reason == NULL) {
		again(&v);
		twice(&v);
	}
	verdict_end(&v, &x);
	sound(&v);
	if (v.reason == NULL)
		MUST(data[0] == 0 || (data[0] == 1 && !v.passed));
	verdict_free(&v);
	verdict_document(&v, (const char *)data + 2, size - 2, data[1] & 16);
	sound(&v);
	if (v.reason == NULL)
		inside((const char *)data + 2, size - 2);
	verdict_free(&v);
	return 0;
}

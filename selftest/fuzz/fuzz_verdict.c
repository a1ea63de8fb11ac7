/* The verdict's grammar: what it takes is one, whatever came before. */
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
	if (v.reason == NULL)
		again(&v);
	verdict_end(&v, &x);
	sound(&v);
	if (v.reason == NULL)
		MUST(data[0] == 0 || (data[0] == 1 && !v.passed));
	verdict_free(&v);
	verdict_document(&v, (const char *)data + 2, size - 2, data[1] & 16);
	sound(&v);
	verdict_free(&v);
	return 0;
}

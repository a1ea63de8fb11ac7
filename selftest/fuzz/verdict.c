/* Verdicts: a score is finite and in range, or there is a reason instead. */
/* max_len: 2048 */
#include <math.h>

#include "../../client/verdict.h"
#include "must.h"

static void
judge(struct verdict *v)
{
	if (v->reason != NULL) {
		MUST(v->reason[0] != '\0');
		MUST(memchr(v->detail, '\0', sizeof v->detail) != NULL);
	} else {
		MUST(isfinite(v->score) && v->score >= 0 && v->score <= 1);
		MUST(json_is_object(v->doc));
		MUST(json_is_number(json_object_get(v->doc, "score")));
		MUST(json_is_boolean(json_object_get(v->doc, "passed")));
	}
	verdict_free(v);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct verdict v;
	struct bl_exit x = { .wait_status = 0 };
	bool cut = size > 0 && (data[0] & 1);
	char *text;

	if (size < 2)
		return 0;
	x.wait_status = (data[1] & 3) << 8;
	text = malloc(size - 2 + 1);
	MUST(text != NULL);
	memcpy(text, data + 2, size - 2);
	memset(&v, 0, sizeof v);
	verdict_line(&v, text, size - 2, cut);
	verdict_end(&v, &x);
	judge(&v);
	memset(&v, 0, sizeof v);
	verdict_document(&v, text, size - 2, cut);
	verdict_end(&v, &x);
	judge(&v);
	free(text);
	return 0;
}

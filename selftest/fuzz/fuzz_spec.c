/* Fuzz: a spec that passes can be walked without a check of bounds. */
/* max_len: 4096 */
#include "../../policy/proto.h"
#include "../../policy/spec.h"

#include <stdlib.h>
#include <string.h>

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As the launch child does it: ASan and these assertions look on. */
static void
walk(const char *buf, uint64_t total)
{
	struct bl_spec h;
	struct bl_step s;
	size_t at = sizeof h, i, n;

	memcpy(&h, buf, sizeof h);
	for (i = 0; i < h.nsteps; i++, at += sizeof s) {
		memcpy(&s, buf + at, sizeof s);
		MUST(s.kind >= BL_STEP_DIR && s.kind <= BL_STEP_LISTEN);
		MUST(s.mode <= 0777);
		if (s.kind == BL_STEP_PUT)
			MUST(s.off >= h.size && s.off <= total &&
			    s.off + s.len >= s.off && s.off + s.len <= total);
	}
	n = (size_t)1 + h.nargs + h.nenv + h.nsteps;
	for (i = 0; i < n; i++) {
		MUST(at < h.size);
		if (i > h.nargs && i <= (size_t)h.nargs + h.nenv)
			MUST(buf[at] != '=' && strchr(buf + at, '=') != NULL);
		at += strlen(buf + at) + 1;
	}
	MUST(at == h.size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bl_spec h;
	uint64_t total;
	uint32_t bad = 99;
	char *buf;
	int r;

	if (size < 4)
		return 0;
	total = size - 4 + (uint64_t)data[0] * data[1];
	buf = malloc(size);		/* its own, so that every byte counts */
	if (buf == NULL)
		return 0;
	memcpy(buf, data + 4, size - 4);
	if (size - 4 >= sizeof h) {
		memcpy(&h, buf, sizeof h);
		h.magic = BL_MAGIC;
		h.version = BL_VERSION;
		if (data[2] % 4 != 0) {	/* else what the input says */
			h.size = (uint32_t)(size - 4);
			h.nargs %= 8;
			h.nenv %= 8;
			h.nsteps %= 8;
			h.limits.zero = 0;
		}
		memcpy(buf, &h, sizeof h);
	}
	r = bl_spec_check(buf, size - 4, total, &bad);
	MUST((r == 0) == (bad == BL_SPEC_OK) && bad <= BL_SPEC_STRINGS);
	if (r == 0)
		walk(buf, total);
	free(buf);
	return 0;
}

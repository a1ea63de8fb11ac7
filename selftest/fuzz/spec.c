/* Specs: after the check, steps and strings can be walked without checks. */
/* max_len: 4096 */
#include "../../policy/proto.h"
#include "must.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union { struct bl_spec s; uint8_t raw[8192]; } u = { .raw = { 0 } };
	uint32_t bad = 0, n, left;
	const uint8_t *at, *end;
	uint64_t total;
	uint8_t *copy;
	int r;

	if (size < 4)
		return 0;
	/* two bytes say how much of the file is missing from the buffer */
	total = size - 3 + ((uint64_t)data[0] << 8 | data[1]);
	memcpy(u.raw, data + 3, size - 3 < sizeof u.raw ? size - 3 : sizeof u.raw);
	if (data[2] & 1) {
		u.s.magic = BL_MAGIC;
		u.s.version = BL_VERSION;
	}
	if (data[2] & 2)
		u.s.size = (uint32_t)(size - 3);
	/* in a block of its own size, so that a byte too far is seen */
	n = (uint32_t)(size - 3);
	copy = malloc(n);
	MUST(copy != NULL);
	memcpy(copy, u.raw, n);
	r = bl_spec_check(copy, n, total, &bad);
	if (r != 0) {
		MUST(bad != BL_SPEC_OK && bad <= BL_SPEC_STRINGS);
		free(copy);
		return 0;
	}
	MUST(n >= sizeof u.s);
	MUST(u.s.magic == BL_MAGIC && u.s.size <= n && u.s.size <= total);
	MUST(u.s.nargs <= BL_ARGS_MAX && u.s.nenv <= BL_ENV_MAX);
	MUST(u.s.nsteps <= BL_STEPS_MAX);
	at = copy + sizeof u.s;
	end = copy + u.s.size;
	for (uint32_t i = 0; i < u.s.nsteps; i++, at += sizeof(struct bl_step)) {
		struct bl_step s;

		MUST((size_t)(end - at) >= sizeof s);
		memcpy(&s, at, sizeof s);
		MUST(s.kind > BL_STEP_NONE && s.kind < BL_STEP_MAX);
		MUST((s.mode & ~07777u) == 0);
		if (s.kind == BL_STEP_PUT) {
			MUST(s.off <= total && s.len <= total - s.off);
			MUST(s.off >= u.s.size || s.len == 0);
		}
	}
	left = 1 + u.s.nargs + u.s.nenv + u.s.nsteps;
	while (left-- > 0) {
		const uint8_t *nul = memchr(at, '\0', (size_t)(end - at));

		MUST(nul != NULL);
		at = nul + 1;
	}
	free(copy);
	return 0;
}

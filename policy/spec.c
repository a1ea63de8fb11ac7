/* POST-DROP: judges a spec by content alone, as the role that it is for. */
#include "spec.h"

#include <errno.h>
#include <string.h>

static int
step_sound(const struct bl_step *s, uint64_t size, uint64_t total)
{
	if (s->kind == BL_STEP_PUT)	/* a difference cannot overflow here */
		return s->mode <= 0777 && s->off >= size && s->off <= total &&
		    s->len <= total - s->off;
	return s->mode <= 0777 && s->off == 0 && (s->kind == BL_STEP_TAKE ||
	    ((s->kind == BL_STEP_DIR || s->kind == BL_STEP_LISTEN) &&
	    s->len == 0));
}

/* 1: exactly the strings h names, each with its end, variables with a name. */
static int
strings_sound(const char *s, size_t from, const struct bl_spec *h)
{
	const uint32_t env = 1 + h->nargs, steps = env + h->nenv;
	size_t i, start = from;
	uint32_t n = 0;
	int named = 0;

	for (i = from; i < h->size; i++) {
		if (s[i] == '=' && i > start)
			named = 1;
		if (s[i] == '=' && i == start && n >= env && n < steps)
			return 0;
		if (s[i] != '\0')
			continue;
		if (n >= env && n < steps && !named)
			return 0;
		n++;
		start = i + 1;
		named = 0;
	}
	return start == h->size && n == steps + h->nsteps;
}

static uint32_t
spec_judge(const char *buf, size_t n, uint64_t total)
{
	struct bl_spec h;
	struct bl_step step;
	size_t at = sizeof h;
	uint32_t i;

	if (n < sizeof h)
		return BL_SPEC_SHORT;
	memcpy(&h, buf, sizeof h);	/* of any alignment, as the steps */
	if (h.magic != BL_MAGIC || h.version != BL_VERSION)
		return BL_SPEC_MAGIC;
	if (n > BL_SPEC_READ || n > total || total > BL_SPEC_BYTES ||
	    h.size < sizeof h || h.size > n)
		return BL_SPEC_SIZE;
	if ((h.nargs > BL_ARGS_MAX) | (h.nenv > BL_ENV_MAX) |
	    (h.nsteps > BL_STEPS_MAX) | (h.limits.zero != 0))
		return BL_SPEC_COUNTS;
	if (h.nsteps > (h.size - sizeof h) / sizeof step)
		return BL_SPEC_SIZE;
	for (i = 0; i < h.nsteps; i++, at += sizeof step) {
		memcpy(&step, buf + at, sizeof step);
		if (!step_sound(&step, h.size, total))
			return BL_SPEC_STEP;
	}
	return strings_sound(buf, at, &h) ? BL_SPEC_OK : BL_SPEC_STRINGS;
}

int
bl_spec_check(const void *buf, size_t n, uint64_t total, uint32_t *bad)
{
	*bad = spec_judge(buf, n, total);
	return *bad == BL_SPEC_OK ? 0 : -EINVAL;
}

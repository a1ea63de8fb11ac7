/* Ranges of user and group numbers that are lent to a user: subuid(5). */
#include "subid.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { LINE_BYTES = 1024 };	/* longer ones are nobody's */

/* true: all of text, from from to its end, is a number below 2^32 - 1. */
static bool
number(const char *from, uint32_t *v)
{
	uint64_t n = 0;

	if (from[0] == '\0')
		return false;
	for (; *from != '\0'; from++) {
		if (*from < '0' || *from > '9')
			return false;
		n = n * 10 + (uint64_t)(*from - '0');
		if (n >= UINT32_MAX)
			return false;
	}
	*v = (uint32_t)n;
	return true;
}

/* true: line, which is cut up, lends *s to the one whom it begins with. */
static bool
lends(char *line, struct subid *s)
{
	char *first = strchr(line, ':'), *count;

	if (first == NULL || (count = strchr(first + 1, ':')) == NULL)
		return false;
	*first++ = '\0';
	*count++ = '\0';
	count[strcspn(count, "\n")] = '\0';
	return number(first, &s->first) && number(count, &s->count) &&
	    s->first != 0 && s->count != 0 &&
	    s->count <= UINT32_MAX - s->first;
}

static bool
is_for(const char *who, const char *user, uid_t id, const struct subid *s)
{
	uint32_t by;

	return (strcmp(who, user) == 0 || (number(who, &by) && by == id)) &&
	    (id < s->first || id - s->first >= s->count);
}

int
subid_read(FILE *f, const char *user, uid_t id, uint32_t least,
    struct subid *s, uint32_t *next)
{
	char line[LINE_BYTES];
	bool whole = true;

	*s = (struct subid){ 0, 0 };
	*next = SUBID_FROM;
	while (fgets(line, sizeof line, f) != NULL) {
		struct subid got = { 0, 0 };
		bool begins = whole;

		whole = strchr(line, '\n') != NULL;
		if (!begins || (!whole && !feof(f)) || !lends(line, &got))
			continue;
		if (got.first + got.count > *next)
			*next = got.first + got.count;
		if (s->count < least && is_for(line, user, id, &got) &&
		    got.count > s->count)
			*s = got;
	}
	if (*next > UINT32_MAX - SUBID_USUAL)
		*next = 0;
	return s->count == 0 ? -ENOENT : s->count < least ? -ERANGE : 0;
}

void
subid_fix(const char *user, uid_t id, uint32_t least, char *text, size_t size)
{
	static const struct { const char *table, *option; } kind[] = {
		{ "/etc/subuid", "--add-subuids" },
		{ "/etc/subgid", "--add-subgids" }
	};
	char add[2][64] = { "", "" };

	for (size_t i = 0; i < 2; i++) {
		FILE *f = fopen(kind[i].table, "re");
		uint32_t next = SUBID_FROM;
		struct subid s;
		int r = f == NULL ? -errno :
		    subid_read(f, user, id, least, &s, &next);

		if (f != NULL)
			(void)fclose(f);
		if (r != 0 && next == 0) {
			(void)snprintf(text, size, "make room in %s, whose "
			    "last numbers are lent", kind[i].table);
			return;
		}
		if (r != 0)
			(void)snprintf(add[i], sizeof add[i], "%s %u-%u ",
			    kind[i].option, next, next + SUBID_USUAL - 1);
	}
	(void)snprintf(text, size, "usermod %s%s%s", add[0], add[1], user);
}

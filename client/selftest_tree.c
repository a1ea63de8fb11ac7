/* The names that a cell's folders may have. */
#include "selftest_tree.h"

#include <stdio.h>
#include <string.h>

#include "bare.h"
#include "rules-default.h"
#include "rulesfile.h"

/* OWN: whole; LEADS: to such. */
enum standing { ALIEN, LEADS, OWN };

void
tree_open(struct tree *t, const struct bl_rep_hello *h)
{
	t->known = h->builtin != 0;
	t->why = "";
	if (t->known)
		t->rules = bl_rules_default;
	else if (rules_read(&t->rules) != 0)
		t->why = "what the rules show can't be read";
	else if (memcmp(t->rules.digest, h->digest, sizeof h->digest) != 0)
		t->why = "the rules have changed since";
	else
		t->known = true;
}

/* The places of a cell by number; NULL: there is none more. */
static const char *
place_at(const struct tree *t, enum place p, size_t i)
{
	/* what covers files of the kernel's: helper/view.h */
	const char *const more[] = { p == PLACE_JUDGE ? "/home/judge" :
	    "/home/answer", "/.covered" };
	const size_t nmore = sizeof more / sizeof more[0];
	size_t n = 0;

	if (i < nmore)
		return more[i];
	i -= nmore;
	while (bare_own[n] != NULL && n < i)
		n++;
	if (bare_own[n] != NULL)
		return bare_own[n];
	return i - n < t->rules.nshows ? t->rules.show[i - n].path : NULL;
}

static enum standing
standing(const struct tree *t, enum place p, const char *path)
{
	size_t n = strlen(path);
	enum standing is = ALIEN;
	const char *at;

	for (size_t i = 0; (at = place_at(t, p, i)) != NULL; i++) {
		if (strcmp(at, path) == 0)
			return OWN;
		if (strncmp(at, path, n) == 0 && at[n] == '/')
			is = LEADS;
	}
	return is;
}

/* true: text has the word, blanks around it. */
static bool
has(const char *text, const char *word, size_t n)
{
	for (; *text != '\0'; text += strcspn(text, " "), text += *text == ' ')
		if (strcspn(text, " ") == n && strncmp(text, word, n) == 0)
			return true;
	return false;
}

void
tree_folders(const struct tree *t, char *text, size_t size)
{
	const char *at, *slash;

	(void)snprintf(text, size, "/");
	for (size_t i = 0; (at = place_at(t, PLACE_ANSWER, i)) != NULL; i++)
		for (slash = strchr(at + 1, '/'); slash != NULL;
		    slash = strchr(slash + 1, '/')) {
			size_t len = (size_t)(slash - at), n = strlen(text);
			char dir[BL_DST_MAX];

			(void)snprintf(dir, sizeof dir, "%.*s", (int)len, at);
			/* /usr/x below /usr says nothing of the rest */
			if (standing(t, PLACE_ANSWER, dir) == LEADS && !has(text, at, len) &&
			    n + len + 2 < size)
				(void)snprintf(text + n, size - n, " %s", dir);
		}
}

void
tree_read(const struct tree *t, struct selftest *to, enum place p,
    const char *text, size_t n)
{
	char path[TRY_WHY / 2], why[TRY_WHY];
	unsigned lines = 0;

	while (t->known && n > 0) {
		const char *end = memchr(text, '\n', n);
		size_t len = end == NULL ? n : (size_t)(end - text);

		(void)snprintf(path, sizeof path, "%.*s", (int)len, text);
		if (standing(t, p, path) == ALIEN) {
			(void)snprintf(why, sizeof why, "%s is there", path);
			seen_put(to, p, "host_tree", TRIED_OPEN, why);
			return;
		}
		lines++;
		len += end != NULL;
		text += len;
		n -= len;
	}
	(void)snprintf(why, sizeof why, "%u names, all of a cell's own", lines);
	seen_put(to, p, "host_tree", lines > 0 ? TRIED_HELD : TRIED_NONE,
	    t->known ? why : t->why);
}

/* Tool: bailiff-rules, the administrator's policy from text to fixed layout. */
#include <sys/stat.h>
#include <sys/types.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules_check.h"

enum {
	SOURCE_MAX	= 65536,	/* bytes of a source file */
	WORDS_MAX	= 32,		/* words of one line */
	EX_BAD		= 1,
	EX_BADUSE	= 64
};

static const char usage_text[] =
    "usage: bailiff-rules check FILE\n"
    "       bailiff-rules compile FILE [-o OUT]\n"
    "       bailiff-rules builtin FILE [-o OUT]\n"
    "       bailiff-rules --help | --version\n"
    "\n"
    "check    says whether FILE is a sound policy for this machine\n"
    "compile  does that and writes what the helper reads, to be installed as\n"
    "         /etc/bailiff/rules; OUT is replaced in one step, mode 0644\n"
    "builtin  writes it as a C header, without looking at this machine\n"
    "\n"
    "--etc DIR  looks in DIR for passwd, group, subuid and subgid (/etc)\n"
    "-o OUT     writes there and not to standard output\n"
    "\n"
    "Exit status: 0 done, 1 bad policy or unusable file, 64 usage\n";

static const char version_text[] =
    "bailiff-rules, rules version 1, protocol version 2\n";
_Static_assert(BL_RULES_VERSION == 1 && BL_VERSION == 2, "version_text");

struct word {
	const char *text;		/* in the line; ends with a NUL */
	size_t col;			/* from 1 */
};

struct source {
	const char *file;
	size_t line;			/* from 1; the one at work */
	struct word word[WORDS_MAX];
	size_t nwords, at;		/* at: the next word */
	size_t end_col;			/* where a missing word would be */
	int host;			/* 1: this machine's names count */
	int bad;			/* 1: something was reported */
	size_t uids_line, uids_col;	/* line 0: not seen yet */
	size_t caller_line[BL_CALLERS_MAX], caller_col[BL_CALLERS_MAX];
	size_t show_line[BL_SHOWS_MAX];
};

/* --- words for people --------------------------------------------------- */

__attribute__((format(printf, 4, 5)))
static void
complain(struct source *s, size_t line, size_t col, const char *how, ...)
{
	char text[2048 + PATH_MAX], *at;
	int n = snprintf(text, PATH_MAX, "%s:%zu:%zu: ", s->file, line, col);
	va_list ap;

	s->bad = 1;
	n = n < PATH_MAX ? n : PATH_MAX - 1;
	va_start(ap, how);
	(void)vsnprintf(text + n, 2048, how, ap);	/* may be cut */
	va_end(ap);
	for (at = text; *at != '\0'; at++)	/* nothing that a terminal obeys */
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			*at = '?';
	(void)fprintf(stderr, "%s\n", text);
}

/* At the word just taken, or at the end of the line when none was left. */
static void
expected(struct source *s, const struct word *w, const char *what)
{
	if (w == NULL)
		complain(s, s->line, s->end_col,
		    "expected %s, found the end of the line", what);
	else
		complain(s, s->line, w->col, "expected %s, found \"%s\"", what,
		    w->text);
}

/* --- SHA-256, FIPS 180-4 ------------------------------------------------ */

static const uint32_t sha_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t
rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void
sha_block(uint32_t h[8], const uint8_t block[64])
{
	uint32_t w[64], v[8];
	size_t i, j;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		    (uint32_t)block[4 * i + 1] << 16 |
		    (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] +
		    (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		    (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, h, sizeof v);
	for (i = 0; i < 64; i++) {
		uint32_t t1 = v[7] + sha_k[i] + w[i] +
		    (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
		    ((v[4] & v[5]) ^ (~v[4] & v[6]));
		uint32_t t2 =
		    (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
		    ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		for (j = 7; j > 0; j--)
			v[j] = v[j - 1];
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		h[i] += v[i];
}

static void
sha256(const void *data, size_t n, uint8_t out[32])
{
	uint32_t h[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
	};
	const uint8_t *p = data;
	uint8_t last[128] = { 0 };
	uint64_t bits = (uint64_t)n * 8;
	size_t i, left = n % 64, total = left < 56 ? 64 : 128;

	for (i = 0; i + 64 <= n; i += 64)
		sha_block(h, p + i);
	memcpy(last, p + i, left);
	last[left] = 0x80;
	for (i = 0; i < 8; i++)
		last[total - 1 - i] = (uint8_t)(bits >> 8 * i);
	for (i = 0; i < total; i += 64)
		sha_block(h, last + i);
	for (i = 0; i < 32; i++)
		out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* --- words -------------------------------------------------------------- */

static const struct word *
word_next(struct source *s)
{
	return s->at < s->nwords ? &s->word[s->at++] : NULL;
}

/* Cuts line into words, in place. */
static void
line_cut(struct source *s, char *line)
{
	size_t i = 0, n = strcspn(line, "#");

	line[n] = '\0';
	s->nwords = s->at = 0;
	s->end_col = n + 1;
	while (i < n) {
		if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
			line[i++] = '\0';
			continue;
		}
		if (s->nwords == WORDS_MAX) {
			complain(s, s->line, i + 1, "too many words");
			return;
		}
		s->word[s->nwords].text = line + i;
		s->word[s->nwords].col = i + 1;
		s->nwords++;
		while (i < n && line[i] != ' ' && line[i] != '\t' &&
		    line[i] != '\r')
			i++;
	}
}

/*
 * 0 with *value and *rest behind the digits, or -EINVAL.  Decimal digits
 * only: no sign, no 0x, and no 010 that might be meant as 8.
 */
static int
number_parse(const char *text, uint64_t *value, const char **rest)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; text[i] >= '0' && text[i] <= '9'; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return -EINVAL;
		v = v * 10 + digit;
	}
	if (i == 0 || (i > 1 && text[0] == '0'))
		return -EINVAL;
	*value = v;
	*rest = text + i;
	return 0;
}

/* A number from least to most with nothing behind it. */
static int
take_u32(struct source *s, const char *what, uint32_t least, uint32_t *value)
{
	const struct word *w = word_next(s);
	const char *rest = "";
	uint64_t v = 0;

	if (w == NULL || number_parse(w->text, &v, &rest) != 0 ||
	    *rest != '\0' || v < least || v > UINT32_MAX - 1) {
		expected(s, w, what);
		return -EINVAL;
	}
	*value = (uint32_t)v;
	return 0;
}

static int
take_keyword(struct source *s, const char *keyword)
{
	const struct word *w = word_next(s);
	char what[32];

	if (w != NULL && strcmp(w->text, keyword) == 0)
		return 0;
	(void)snprintf(what, sizeof what, "\"%s\"", keyword);
	expected(s, w, what);
	return -EINVAL;
}

static int
take_end(struct source *s)
{
	const struct word *w = word_next(s);

	if (w == NULL)
		return 0;
	expected(s, w, "the end of the line");
	return -EINVAL;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 }, { "k", 1 << 10 }, { "m", 1 << 20 }, { "g", 1 << 30 },
	{ "t", UINT64_C(1) << 40 }, { NULL, 0 }
};

static const struct unit time_units[] = {
	{ "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 3600 * 1000 },
	{ "d", 24 * 3600 * 1000 }, { NULL, 0 }
};

static const struct unit plain_units[] = { { "", 1 }, { NULL, 0 } };

static int
take_amount(struct source *s, const struct unit *units, const char *what,
    uint64_t most, uint64_t *value)
{
	const struct word *w = word_next(s);
	const char *rest = "";
	uint64_t v = 0;

	if (w != NULL && number_parse(w->text, &v, &rest) == 0 && v != 0)
		for (; units->name != NULL; units++)
			if (strcmp(rest, units->name) == 0 &&
			    v <= most / units->factor) {
				*value = v * units->factor;
				return 0;
			}
	expected(s, w, what);
	return -EINVAL;
}

/* --- lines -------------------------------------------------------------- */

static int
line_uids(struct source *s, struct bl_rules *r)
{
	if (s->uids_line != 0) {
		complain(s, s->line, s->word[0].col,
		    "a second \"uids\" line; the first is line %zu",
		    s->uids_line);
		return -EINVAL;
	}
	s->uids_line = s->line;
	s->uids_col = s->word[0].col;
	if (take_u32(s, "the first user number", 0, &r->uid_base) != 0 ||
	    take_keyword(s, "count") != 0 ||
	    take_u32(s, "how many", 1, &r->uid_count) != 0)
		return -EINVAL;
	if (r->uid_base < BL_UID_FIRST || r->uid_base > BL_UID_LAST ||
	    r->uid_count - 1 > (uint32_t)BL_UID_LAST - r->uid_base) {
		complain(s, s->line, s->word[1].col,
		    "expected user numbers within %u and %u",
		    (unsigned)BL_UID_FIRST, (unsigned)BL_UID_LAST);
		return -EINVAL;
	}
	return take_end(s);
}

static int
take_range(struct source *s, struct bl_caller *c)
{
	const struct word *w = word_next(s);
	const char *rest = "";
	uint64_t lo = 0, hi = 0;
	int r = w == NULL ? -EINVAL : number_parse(w->text, &lo, &rest);

	hi = lo;
	if (r == 0 && *rest == '-')
		r = number_parse(rest + 1, &hi, &rest);
	if (r != 0 || *rest != '\0' || hi >= UINT32_MAX) {
		expected(s, w, "a user number, or two as FIRST-LAST");
		return -EINVAL;
	}
	if (hi < lo) {
		complain(s, s->line, w->col,
		    "expected the smaller number first, found \"%s\"", w->text);
		return -EINVAL;
	}
	c->uid_lo = (uint32_t)lo;
	c->uid_hi = (uint32_t)hi;
	return 0;
}

/* 0: one limit taken; -ENOENT: w is no limit's name; -EINVAL: reported. */
static int
take_limit(struct source *s, struct bl_caller *c, const struct word *w,
    unsigned *seen)
{
	static const char a_size[] = "a size such as 512m (k, m, g, t)";
	static const char a_time[] = "a time such as 90s (ms, s, m, h, d), "
	    "at most 366d";
	const struct limit {
		const char *name;
		const struct unit *units;
		const char *what;
		uint64_t most;
		uint64_t *wide;		/* one of these two */
		uint32_t *narrow;
	} limits[] = {
		{ "memory", size_units, a_size, INT64_MAX, &c->memory_max, 0 },
		{ "disk", size_units, a_size, INT64_MAX, &c->disk_max, 0 },
		{ "fsize", size_units, a_size, INT64_MAX, &c->fsize_max, 0 },
		{ "wall", time_units, a_time, UINT64_C(366) * 86400 * 1000,
		    &c->wall_ms_max, 0 },
		{ "pids", plain_units, "a number of processes", INT32_MAX, 0,
		    &c->pids_max },
		{ "nofile", plain_units, "a number of descriptors", INT32_MAX,
		    0, &c->nofile_max },
	};
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < sizeof limits / sizeof limits[0]; i++)
		if (strcmp(w->text, limits[i].name) == 0)
			break;
	if (i == sizeof limits / sizeof limits[0])
		return -ENOENT;
	if ((*seen & 1U << i) != 0) {
		complain(s, s->line, w->col, "a second \"%s\"", w->text);
		return -EINVAL;
	}
	*seen |= 1U << i;
	if (take_amount(s, limits[i].units, limits[i].what, limits[i].most,
	    &v) != 0)
		return -EINVAL;
	if (limits[i].wide != NULL)
		*limits[i].wide = v;
	else
		*limits[i].narrow = (uint32_t)v;
	return 0;
}

static int
line_caller(struct source *s, struct bl_rules *r)
{
	struct bl_caller c = {
		.memory_max = UINT64_C(8) << 30, .disk_max = UINT64_C(4) << 30,
		.fsize_max = UINT64_C(4) << 30, .wall_ms_max = 3600 * 1000,
		.pids_max = 4096, .nofile_max = 65536
	};
	const struct word *w;
	unsigned seen = 0;
	int got;

	if (r->ncallers == BL_CALLERS_MAX) {
		complain(s, s->line, s->word[0].col,
		    "expected at most %u \"caller\" lines",
		    (unsigned)BL_CALLERS_MAX);
		return -EINVAL;
	}
	if (take_range(s, &c) != 0 || take_keyword(s, "slots") != 0 ||
	    take_u32(s, "a number of slots, at least 1", 1, &c.slots) != 0)
		return -EINVAL;
	while ((w = word_next(s)) != NULL) {
		got = take_limit(s, &c, w, &seen);
		if (got == -ENOENT)
			expected(s, w, "memory, disk, fsize, wall, pids or "
			    "nofile");
		if (got != 0)
			return -EINVAL;
	}
	s->caller_line[r->ncallers] = s->line;
	s->caller_col[r->ncallers] = s->word[0].col;
	r->caller[r->ncallers++] = c;
	return 0;
}

static int
line_group(struct source *s, struct bl_rules *r)
{
	const struct word *w = word_next(s);
	const char *rest = "";
	const struct group *g;
	uint64_t v = UINT32_MAX;

	if (r->ngroups == BL_GROUPS_MAX) {
		complain(s, s->line, s->word[0].col,
		    "expected at most %u \"group\" lines",
		    (unsigned)BL_GROUPS_MAX);
		return -EINVAL;
	}
	if (w != NULL && isdigit((unsigned char)w->text[0]) != 0) {
		if (number_parse(w->text, &v, &rest) != 0 || *rest != '\0')
			v = UINT32_MAX;
	} else if (w != NULL && s->host) {
		g = getgrnam(w->text);
		v = g != NULL ? g->gr_gid : UINT32_MAX;
	}
	if (v >= UINT32_MAX) {
		expected(s, w, s->host ? "a group number, or the name of a "
		    "group of this machine" : "a group number");
		return -EINVAL;
	}
	r->group[r->ngroups++] = (uint32_t)v;
	return take_end(s);
}

/* What every cell has of its own, or must not see at all. */
static const char *const show_never[] = {
	"/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp", "/var/run",
	"/home", "/work", "/.covered", "/boot", "/root", "/etc/passwd",
	"/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/sudoers",
	"/etc/sudoers.d", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf",
	"/etc/nsswitch.conf", "/etc/mtab"
};

static int
show_judge(struct source *s, const struct bl_rules *r, const struct word *w,
    const char path[BL_DST_MAX])
{
	char name[BL_NAME_MAX];
	size_t pos = 0, i;
	int got;

	do
		got = bl_path_next(path, &pos, name);
	while (got > 0);
	if (got != 0 || pos < 2) {
		expected(s, w, "an absolute path below \"/\", without \"//\", "
		    "\".\", \"..\" or a slash at its end");
		return -EINVAL;
	}
	for (i = 0; i < sizeof show_never / sizeof show_never[0]; i++)
		if (bl_path_meets(path, show_never[i])) {
			complain(s, s->line, w->col, "\"%s\" meets \"%s\", "
			    "which a cell has of its own or never sees",
			    path, show_never[i]);
			return -EINVAL;
		}
	for (i = 0; i < r->nshows; i++)
		if (bl_path_meets(path, r->show[i].path)) {
			complain(s, s->line, w->col,
			    "\"%s\" meets \"%s\" of line %zu", path,
			    r->show[i].path, s->show_line[i]);
			return -EINVAL;
		}
	return 0;
}

static int
line_show(struct source *s, struct bl_rules *r)
{
	const struct word *w = word_next(s);
	char path[BL_DST_MAX] = { 0 };

	if (r->nshows == BL_SHOWS_MAX) {
		complain(s, s->line, s->word[0].col,
		    "expected at most %u \"show\" lines",
		    (unsigned)BL_SHOWS_MAX);
		return -EINVAL;
	}
	if (w == NULL || strlen(w->text) >= sizeof path) {
		expected(s, w, "an absolute path shorter than 176 bytes");
		return -EINVAL;
	}
	memcpy(path, w->text, strlen(w->text));
	if (show_judge(s, r, w, path) != 0)
		return -EINVAL;
	s->show_line[r->nshows] = s->line;
	memcpy(r->show[r->nshows++].path, path, sizeof path);
	return take_end(s);
}

static int
line_judge(struct source *s, struct bl_rules *r)
{
	static const struct kind {
		const char *name;
		int (*fn)(struct source *, struct bl_rules *);
	} kinds[] = {
		{ "uids", line_uids }, { "caller", line_caller },
		{ "group", line_group }, { "show", line_show },
	};
	const struct word *w = word_next(s);
	size_t i;

	if (w == NULL)
		return 0;
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(w->text, kinds[i].name) == 0)
			return kinds[i].fn(s, r);
	expected(s, w, "uids, caller, group or show");
	return -EINVAL;
}

/* --- the whole ---------------------------------------------------------- */

static void
swap(size_t *a, size_t *b)
{
	size_t c = *a;

	*a = *b;
	*b = c;
}

/* By uid: the helper's check wants them so, the administrator need not. */
static void
callers_sort(struct source *s, struct bl_rules *r)
{
	size_t i, j;

	for (i = 1; i < r->ncallers; i++)
		for (j = i; j > 0 &&
		    r->caller[j].uid_lo < r->caller[j - 1].uid_lo; j--) {
			struct bl_caller c = r->caller[j];

			r->caller[j] = r->caller[j - 1];
			r->caller[j - 1] = c;
			swap(&s->caller_line[j], &s->caller_line[j - 1]);
			swap(&s->caller_col[j], &s->caller_col[j - 1]);
		}
}

static void
callers_place(struct source *s, struct bl_rules *r)
{
	uint64_t next = 0, last = (uint64_t)r->uid_base + r->uid_count - 1;
	size_t i;

	callers_sort(s, r);
	for (i = 0; i < r->ncallers; i++) {
		struct bl_caller *c = &r->caller[i];
		uint64_t uids = (uint64_t)c->uid_hi - c->uid_lo + 1;

		if (i > 0 && c->uid_lo <= r->caller[i - 1].uid_hi)
			complain(s, s->caller_line[i], s->caller_col[i],
			    "caller %u is in line %zu, too (%u-%u)", c->uid_lo,
			    s->caller_line[i - 1], c[-1].uid_lo, c[-1].uid_hi);
		if (c->uid_hi >= r->uid_base && c->uid_lo <= last)
			complain(s, s->caller_line[i], s->caller_col[i],
			    "callers %u-%u meet the user numbers of cells, "
			    "line %zu", c->uid_lo, c->uid_hi, s->uids_line);
		if (uids > (r->uid_count - next) / c->slots) {
			complain(s, s->caller_line[i], s->caller_col[i], "expected slots for "
			    "%llu caller%s out of %u user numbers, line %zu; "
			    "callers before have %llu, and these want %u each",
			    (unsigned long long)uids, uids == 1 ? "" : "s",
			    r->uid_count,
			    s->uids_line, (unsigned long long)next, c->slots);
			return;
		}
		c->slot_first = (uint32_t)next;
		next += uids * c->slots;
	}
}

static void
host_range(struct source *s, const struct bl_rules *r, const char *who,
    uint64_t first, uint64_t last)
{
	uint64_t end = (uint64_t)r->uid_base + r->uid_count - 1;

	last = last < first ? UINT64_MAX : last;	/* the sum was too large */
	if (first <= end && last >= r->uid_base)
		complain(s, s->uids_line, s->uids_col, "user numbers %u to %llu meet "
		    "%llu to %llu, %s", r->uid_base, (unsigned long long)end,
		    (unsigned long long)first, (unsigned long long)last, who);
}

/* In files of the system's 0 may stand before a number, as nowhere in ours. */
static const char *
number_at(const char *at)
{
	while (at[0] == '0' && at[1] >= '0' && at[1] <= '9')
		at++;
	return at;
}

/*
 * Every line of a colon-separated file whose field'th field is a number; with
 * counted set the next field says how many follow.  A file that is not there
 * has no lines.
 */
static void
host_file(struct source *s, const struct bl_rules *r, const char *etc,
    const char *name, unsigned field, int counted)
{
	char path[PATH_MAX], who[128], *line = NULL;
	const char *at, *rest = "";
	size_t room = 0, n = 0;
	unsigned i;
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", etc, name);
	f = fopen(path, "re");
	if (f == NULL) {
		if (errno != ENOENT)
			complain(s, s->uids_line, s->uids_col, "%s: %s", path,
			    strerror(errno));
		return;
	}
	while (getline(&line, &room, f) > 0) {
		uint64_t first = 0, count = 1;

		n++;
		at = line;
		for (i = 0; i < field && at != NULL; i++) {
			at = strchr(at, ':');
			if (at != NULL)
				at++;
		}
		if (at == NULL || number_parse(number_at(at), &first, &rest)
		    != 0)
			continue;
		if (counted && (*rest != ':' || number_parse(number_at(rest + 1),
		    &count, &rest) != 0 || count == 0))
			continue;
		(void)snprintf(who, sizeof who, "line %zu of %.100s", n, path);
		host_range(s, r, who, first, first + (count - 1));
	}
	if (ferror(f) != 0)
		complain(s, s->uids_line, s->uids_col, "%s: cannot be read", path);
	free(line);
	(void)fclose(f);		/* only read */
}

static void
host_judge(struct source *s, const struct bl_rules *r, const char *etc)
{
	host_range(s, r, "the users systemd makes as it needs them", 61184,
	    65519);
	host_range(s, r, "nobody", 65534, 65534);
	host_file(s, r, etc, "passwd", 2, 0);
	host_file(s, r, etc, "group", 2, 0);
	host_file(s, r, etc, "subuid", 1, 1);
	host_file(s, r, etc, "subgid", 1, 1);
}

/* 0, or -EINVAL with everything that is wrong reported. */
static int
source_judge(struct source *s, char *text, size_t n, const char *etc,
    struct bl_rules *r)
{
	size_t i, start = 0;

	r->magic = BL_RULES_MAGIC;
	r->version = BL_RULES_VERSION;
	r->size = sizeof *r;
	sha256(text, n, r->digest);
	for (i = 0; i <= n; i++) {
		if (i < n && text[i] != '\n') {
			if (text[i] == '\0')
				complain(s, s->line + 1, i - start + 1,
				    "expected text, found a NUL byte");
			continue;
		}
		text[i] = '\0';		/* one byte behind n is ours */
		s->line++;
		line_cut(s, text + start);
		(void)line_judge(s, r);	/* reported; the next line may be too */
		start = i + 1;
	}
	if (s->bad)
		return -EINVAL;
	if (s->uids_line == 0)
		complain(s, s->line, 1, "expected a \"uids\" line");
	else if (r->ncallers == 0)
		complain(s, s->line, 1, "expected a \"caller\" line");
	if (s->bad)
		return -EINVAL;
	callers_place(s, r);
	if (s->host)
		host_judge(s, r, etc);
	/* The helper's own judge has the last word. */
	if (!s->bad && bl_rules_check(r) != 0)
		complain(s, s->line, 1, "expected what the helper accepts");
	return s->bad ? -EINVAL : 0;
}

/* --- output ------------------------------------------------------------- */

static void
print_bytes(FILE *f, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t i;

	for (i = 0; i < n; i++)
		(void)fprintf(f, "%s0x%02x,", i % 8 == 0 ? "\n\t\t" : " ",
		    p[i]);
}

static void
write_header(FILE *f, const struct bl_rules *r)
{
	uint32_t i;

	(void)fprintf(f, "/* The built-in rules: made by bailiff-rules. */\n"
	    "#ifndef BL_BUILD_RULES_DEFAULT_H\n"
	    "#define BL_BUILD_RULES_DEFAULT_H\n\n"
	    "static const struct bl_rules bl_rules_default = {\n"
	    "\t.magic = BL_RULES_MAGIC,\n\t.version = BL_RULES_VERSION,\n"
	    "\t.size = sizeof(struct bl_rules),\n"
	    "\t.uid_base = %uU,\n\t.uid_count = %uU,\n"
	    "\t.ncallers = %uU,\n\t.nshows = %uU,\n\t.ngroups = %uU,\n"
	    "\t.digest = {", r->uid_base, r->uid_count, r->ncallers, r->nshows,
	    r->ngroups);
	print_bytes(f, r->digest, sizeof r->digest);
	(void)fprintf(f, "\n\t},\n");
	for (i = 0; i < r->ngroups; i++)
		(void)fprintf(f, "\t.group[%u] = %uU,\n", i, r->group[i]);
	for (i = 0; i < r->ncallers; i++) {
		const struct bl_caller *c = &r->caller[i];

		(void)fprintf(f, "\t.caller[%u] = {\n"
		    "\t\t.uid_lo = %uU, .uid_hi = %uU,\n"
		    "\t\t.slot_first = %uU, .slots = %uU,\n"
		    "\t\t.memory_max = %lluU,\n\t\t.disk_max = %lluU,\n"
		    "\t\t.fsize_max = %lluU,\n\t\t.wall_ms_max = %lluU,\n"
		    "\t\t.pids_max = %uU, .nofile_max = %uU,\n\t},\n",
		    i, c->uid_lo, c->uid_hi, c->slot_first, c->slots,
		    (unsigned long long)c->memory_max,
		    (unsigned long long)c->disk_max,
		    (unsigned long long)c->fsize_max,
		    (unsigned long long)c->wall_ms_max, c->pids_max,
		    c->nofile_max);
	}
	/* As bytes: a path may hold what a C string would need to escape. */
	for (i = 0; i < r->nshows; i++) {
		(void)fprintf(f, "\t.show[%u].path = {", i);
		print_bytes(f, r->show[i].path, strlen(r->show[i].path));
		(void)fprintf(f, "\n\t},\n");
	}
	(void)fprintf(f, "};\n\n#endif\n");
}

static int
write_all(FILE *f, const struct bl_rules *r, int header)
{
	if (header)
		write_header(f, r);
	else
		(void)fwrite(r, sizeof *r, 1, f);
	if (fflush(f) != 0 || ferror(f) != 0)
		return errno != 0 ? -errno : -EIO;
	return 0;
}

/* The folder's entry must be on disk too, or a crash brings the old rules. */
static int
folder_sync(const char *out)
{
	char path[PATH_MAX];
	const char *slash = strrchr(out, '/');
	size_t n = slash == NULL ? 0 : (size_t)(slash - out) + 1;
	int fd, r = 0;

	if (n >= sizeof path)
		return -ENAMETOOLONG;
	memcpy(path, out, n);
	path[n] = '\0';
	fd = open(n == 0 ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) != 0 && errno != EINVAL)
		r = -errno;
	(void)close(fd);		/* only read */
	return r;
}

/* A device, a pipe or a link is not ours to replace; rename(2) tells of a folder. */
static int
is_odd(const char *out)
{
	struct stat there;

	return lstat(out, &there) == 0 && !S_ISREG(there.st_mode) &&
	    !S_ISDIR(there.st_mode);
}

static int
write_file(const char *out, const struct bl_rules *r, int header)
{
	char temp[PATH_MAX];
	FILE *f;
	int fd, got;

	got = snprintf(temp, sizeof temp, "%s.XXXXXX", out);
	if (got < 0 || (size_t)got >= sizeof temp)
		return -ENAMETOOLONG;
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (f == NULL) {
		got = -errno;
		(void)close(fd);	/* empty */
		(void)unlink(temp);	/* nothing better to do */
		return got;
	}
	got = write_all(f, r, header);
	if (got == 0 && (fchmod(fd, 0644) != 0 || fsync(fd) != 0))
		got = -errno;
	if (fclose(f) != 0 && got == 0)
		got = -errno;
	if (got == 0 && rename(temp, out) != 0)
		got = -errno;
	if (got != 0)
		(void)unlink(temp);	/* nothing better to do */
	return got == 0 ? folder_sync(out) : got;
}

/* --- whose the source is -------------------------------------------------- */

/* What root can't answer for in an object, or NULL. */
static const char *
not_roots(const struct stat *st)
{
	/* of a folder with the sticky bit nobody takes what is root's away */
	bool sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) != 0;

	if (st->st_uid != 0)
		return "is not root's";
	return (st->st_mode & 022) == 0 || S_ISLNK(st->st_mode) || sticky ?
	    NULL : "can be written by others than root";
}

/* Says so; 1. */
static int
distrust(const char *file, const char *object, const char *why)
{
	(void)fprintf(stderr, "bailiff-rules: %s was not compiled: %s %s, so "
	    "others may have written it\n"
	    "bailiff-rules: copy it to a file of root's own in a folder of "
	    "root's, look through the copy, and compile that\n", file, object,
	    why);
	return 1;
}

/* Behind the link at path: what it says, and then rest.  0, or -errno. */
static int
link_follow(char path[PATH_MAX], char rest[PATH_MAX])
{
	char to[PATH_MAX], whole[2 * PATH_MAX];
	ssize_t n = readlink(path, to, sizeof to - 1);

	if (n < 0)
		return -errno;
	to[n] = '\0';
	(void)snprintf(whole, sizeof whole, "%s/%s", to, rest);
	if (strlen(whole) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(rest, whole, strlen(whole) + 1);
	if (to[0] == '/')
		path[0] = '\0';
	else
		*strrchr(path, '/') = '\0';
	return 0;
}

/* The next name of rest is put at path, as far as it is one.  1: it was. */
static int
step(char path[PATH_MAX], char rest[PATH_MAX])
{
	size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/");
	size_t have = strlen(path);
	const char *name = rest + skip;
	char *slash = strrchr(path, '/');
	int got = n > 0 && !(n == 1 && name[0] == '.');

	if (n == 2 && memcmp(name, "..", 2) == 0) {
		if (slash != NULL)
			*slash = '\0';
		got = 0;
	} else if (got && have + 1 + n >= PATH_MAX) {
		got = -ENAMETOOLONG;
	} else if (got) {
		path[have] = '/';
		memcpy(path + have + 1, name, n);
		path[have + 1 + n] = '\0';
	}
	memmove(rest, name + n, strlen(name + n) + 1);
	return got;
}

/* 0 with *st: what is at path ("": the root) is root's alone; as source_trust. */
static int
object_trust(const char *file, const char *path, struct stat *st)
{
	const char *why;

	if (path[0] == '\0')
		path = "/";
	if (lstat(path, st) != 0)
		return -errno;
	why = not_roots(st);
	return why == NULL ? 0 : distrust(file, path, why);
}

/* One name further, and behind a link: 0 with *st, else as source_trust. */
static int
name_trust(const char *file, char path[PATH_MAX], char rest[PATH_MAX],
    struct stat *st, int *links)
{
	int r = object_trust(file, path, st), got;

	if (r != 0)
		return r;
	got = step(path, rest);
	if (got <= 0)
		return got;
	r = object_trust(file, path, st);
	if (r != 0 || !S_ISLNK(st->st_mode))
		return r;
	return (*links)-- > 0 ? link_follow(path, rest) : -ELOOP;
}

/* true: rest, looked up from the root, is a descriptor of this process. */
static bool
is_given(const char *path, const char *rest)
{
	static const char fd[] = "proc/self/fd/";
	const char *at = rest + strspn(rest, "/");

	if (path[0] != '\0' || strncmp(at, fd, sizeof fd - 1) != 0)
		return false;
	at += sizeof fd - 1;
	at += strspn(at, "0123456789");
	return at[strspn(at, "/")] == '\0';	/* itself, and nothing in it */
}

/*
 * 0: file, every folder that it is looked up in and every link on the way are
 * root's alone, so nobody else has written what was opened, which is *was; 1: it
 * was said which one isn't; else -errno.  What came as a descriptor was opened
 * by whoever runs this: only a plain file of another's is refused.
 */
static int
source_trust(const char *file, const struct stat *was)
{
	char path[PATH_MAX] = "", rest[PATH_MAX];
	struct stat st = *was;
	int links = 40, r = 0, n;

	if (file[0] != '/' && getcwd(path, sizeof path) == NULL)
		return -errno;
	n = snprintf(rest, sizeof rest, "%s/%s", path, file);
	if (n < 0 || (size_t)n >= sizeof rest)
		return -ENAMETOOLONG;
	path[0] = '\0';
	while (r == 0 && rest[strspn(rest, "/")] != '\0') {
		if (is_given(path, rest)) {
			const char *why = S_ISREG(was->st_mode) ?
			    not_roots(was) : NULL;

			return why == NULL ? 0 : distrust(file, file, why);
		}
		r = name_trust(file, path, rest, &st, &links);
	}
	if (r == 0 && (st.st_dev != was->st_dev || st.st_ino != was->st_ino))
		return -ESTALE;
	return r;
}

/*
 * true: root writes what the helper reads, by whatever name.  Elsewhere, such
 * as in a test or in a package's folder, what is compiled gives nobody
 * anything.
 */
static bool
is_rules(const char *out)
{
	char path[PATH_MAX];
	const char *slash = out == NULL ? NULL : strrchr(out, '/');
	struct stat at, rules;

	if (out == NULL || geteuid() != 0 || strlen(out) >= sizeof path)
		return false;
	(void)snprintf(path, sizeof path, "%.*s", slash == NULL ? 1 :
	    (int)(slash - out) + 1, slash == NULL ? "." : out);
	return stat(path, &at) == 0 && stat("/etc/bailiff", &rules) == 0 &&
	    at.st_dev == rules.st_dev && at.st_ino == rules.st_ino;
}

/* trusted: it has to be root's own.  0, or as source_trust. */
static int
source_read(const char *file, bool trusted, char *text, size_t *n)
{
	FILE *f = fopen(file, "re");
	struct stat st;
	int r;

	if (f == NULL)
		return -errno;
	r = !trusted ? 0 : fstat(fileno(f), &st) != 0 ? -errno :
	    source_trust(file, &st);
	if (r != 0) {
		(void)fclose(f);	/* not read */
		return r;
	}
	*n = fread(text, 1, SOURCE_MAX + 1, f);
	if (ferror(f) != 0) {
		(void)fclose(f);	/* only read */
		return -EIO;
	}
	(void)fclose(f);		/* only read */
	return *n > SOURCE_MAX ? -EFBIG : 0;
}

static int
say(const char *file, int err)
{
	(void)fprintf(stderr, "bailiff-rules: %s: %s\n", file, strerror(-err));
	return EX_BAD;
}

/* To out, or standard output: the exit status. */
static int
output(const char *out, const struct bl_rules *rules, int header)
{
	int r;

	if (out != NULL && is_odd(out)) {
		(void)fprintf(stderr, "bailiff-rules: %s: is there, and no plain "
		    "file: name another one\n", out);
		return EX_BAD;
	}
	r = out == NULL ? write_all(stdout, rules, header) :
	    write_file(out, rules, header);
	return r == 0 ? 0 : say(out == NULL ? "output" : out, r);
}

struct words {
	const char *verb, *file, *out, *etc;
};

static int
run(const struct words *o)
{
	static char text[SOURCE_MAX + 2];
	static struct bl_rules rules;
	static struct source s;
	uint64_t cells = 0;
	uint32_t i;
	size_t n = 0;
	int header = strcmp(o->verb, "builtin") == 0;
	int r = source_read(o->file, is_rules(o->out), text, &n);

	if (r != 0)
		return r > 0 ? EX_BAD : say(o->file, r);
	s.file = o->file;
	s.host = !header;
	if (source_judge(&s, text, n, o->etc, &rules) != 0)
		return EX_BAD;
	if (strcmp(o->verb, "check") == 0) {
		for (i = 0; i < rules.ncallers; i++)
			cells += ((uint64_t)rules.caller[i].uid_hi -
			    rules.caller[i].uid_lo + 1) * rules.caller[i].slots;
		(void)printf("%s: sound; %llu of %u user numbers given out, "
		    "sha256 ", o->file, (unsigned long long)cells,
		    rules.uid_count);
		for (i = 0; i < sizeof rules.digest; i++)
			(void)printf("%02x", rules.digest[i]);
		(void)printf("\n");
		return fflush(stdout) != 0 ? say("output", -errno) : 0;
	}
	if (o->out == NULL && !header && isatty(STDOUT_FILENO) != 0) {
		(void)fprintf(stderr, "bailiff-rules: compiled rules are no "
		    "text; name a file with -o\n");
		return EX_BADUSE;
	}
	return output(o->out, &rules, header);
}

static int
usage(const char *what, const char *word)
{
	(void)fprintf(stderr, "bailiff-rules: %s%s\n%s", what, word,
	    usage_text);
	return EX_BADUSE;
}

/* Says text; the exit status. */
static int
tell(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) != 0 ? EX_BAD : 0;
}

/* -1: o is filled as far as the words go; otherwise the exit status. */
static int
words_read(struct words *o, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		const char **value = strcmp(argv[i], "-o") == 0 ? &o->out :
		    strcmp(argv[i], "--etc") == 0 ? &o->etc : NULL;

		if (strcmp(argv[i], "--help") == 0)
			return tell(usage_text);
		if (strcmp(argv[i], "--version") == 0)
			return tell(version_text);
		if (value != NULL) {
			if (++i == argc || argv[i][0] == '\0')
				return usage("expected a value after ",
				    argv[i - 1]);
			*value = argv[i];
		} else if (argv[i][0] == '-') {
			return usage("unknown option ", argv[i]);
		} else if (o->verb == NULL) {
			o->verb = argv[i];
		} else if (o->file == NULL) {
			o->file = argv[i];
		} else {
			return usage("one file too many: ", argv[i]);
		}
	}
	return -1;
}

int
main(int argc, char **argv)
{
	struct words o = { NULL, NULL, NULL, "/etc" };
	int r = words_read(&o, argc, argv);

	if (r >= 0)
		return r;
	if (o.verb == NULL || (strcmp(o.verb, "check") != 0 &&
	    strcmp(o.verb, "compile") != 0 && strcmp(o.verb, "builtin") != 0))
		return usage("expected check, compile or builtin", "");
	if (o.file == NULL)
		return usage("expected a file", "");
	if (o.out != NULL && strcmp(o.verb, "check") == 0)
		return usage("check writes nothing, so it has no ", "-o");
	return run(&o);
}

/* What makes a wall's status: tries in the cells, and their controls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../client/selftest.h"
#include "../policy/proto.h"
#include "tap.h"

static struct selftest t;
static char control[TRY_WHY], detail[2 * TRY_WHY];

static const struct wall two = { "two", "words", "a,b",
    1 << PLACE_JUDGE | 1 << PLACE_ANSWER, BL_NEED_NET, false, false,
    1 << BL_WAY_BWRAP };
static const struct wall works = { "works", "words", "a",
    1 << PLACE_ANSWER, 0, false, true, 0 };

static void
all_held(void)
{
	static const char *const names[] = { "a", "b" };

	memset(&t, 0, sizeof t);
	for (int i = 0; i < 2; i++) {
		seen_put(&t, PLACE_OUTSIDE, names[i], TRIED_OPEN, "yes");
		seen_put(&t, PLACE_JUDGE, names[i], TRIED_HELD, "no");
		seen_put(&t, PLACE_ANSWER, names[i], TRIED_HELD, "no");
	}
}

static long
status(const struct wall *w)
{
	enum status s = wall_status(&t, w, control, detail);

	return (long)s;
}

static void
statuses(void)
{
	all_held();
	is(status(&two), STATUS_PASS, "held in all places, open outside");
	is_str(detail, "no; no", "what was seen in the last of them");
	is_str(control, "yes; yes", "and outside");
	seen_put(&t, PLACE_JUDGE, "b", TRIED_OPEN, "was open");
	is(status(&two), STATUS_FAIL, "open in one of them");
	is_str(detail, "judge: was open", "which is told");
	seen_put(&t, PLACE_OUTSIDE, "b", TRIED_HELD, "no");
	is(status(&two), STATUS_FAIL, "open, whatever the control says");
	seen_put(&t, PLACE_JUDGE, "a", TRIED_NONE, "could not");
	is(status(&two), STATUS_FAIL, "unknown and open: open");
	all_held();
	seen_put(&t, PLACE_ANSWER, "a", TRIED_NONE, "could not");
	is(status(&two), STATUS_UNKNOWN, "not to be tried in one of them");
	all_held();
	seen_put(&t, PLACE_OUTSIDE, "b", TRIED_HELD, "no");
	is(status(&two), STATUS_UNKNOWN, "a control that fails");
	is_str(detail, "no control: yes; no", "which is told");
	all_held();
	t.seen[PLACE_JUDGE][1].what = TRIED_MISSING;
	is(status(&two), STATUS_UNKNOWN, "not tried in one of them");
	memset(&t, 0, sizeof t);
	is(status(&two), STATUS_UNKNOWN, "nothing tried");
}

static void
absences(void)
{
	all_held();
	t.waived = BL_NEED_NET;
	is(status(&two), STATUS_PASS, "waived, and there: pass");
	seen_put(&t, PLACE_JUDGE, "b", TRIED_OPEN, "was open");
	is(status(&two), STATUS_ABSENT, "waived, and missing: absent");
	t.waived = BL_NEED_UID;
	is(status(&two), STATUS_FAIL, "another one is waived");
	t.way = "root";
	is(status(&two), STATUS_FAIL, "another way lacks it");
	t.way = "bwrap";
	is(status(&two), STATUS_ABSENT, "this way lacks it");
	t.way = NULL;
	t.waived = BL_NEED_FULL;
	is(status(&two), STATUS_ABSENT, "all are waived");
	all_held();
	seen_put(&t, PLACE_OUTSIDE, "a", TRIED_HELD, "works");
	is(status(&works), STATUS_PASS, "what has to work, works");
	seen_put(&t, PLACE_ANSWER, "a", TRIED_OPEN, "does not");
	is(status(&works), STATUS_FAIL, "it does not");
	seen_put(&t, PLACE_ANSWER, "a", TRIED_HELD, "works");
	seen_put(&t, PLACE_OUTSIDE, "a", TRIED_OPEN, "does not");
	is(status(&works), STATUS_UNKNOWN, "it works nowhere else");
}

static void
lines(void)
{
	static const char text[] = "a held no such thing\nb open\nnoise\n"
	    "c maybe so\nd none cut";
	char long_line[2000];

	memset(&t, 0, sizeof t);
	seen_read(&t, PLACE_JUDGE, text, sizeof text - 1);
	is_str(seen_get(&t, PLACE_JUDGE, "a")->why, "no such thing", "words");
	is(seen_get(&t, PLACE_JUDGE, "b")->what, TRIED_OPEN, "no words");
	is(seen_get(&t, PLACE_JUDGE, "noise") == NULL &&
	    seen_get(&t, PLACE_JUDGE, "c") == NULL, 1, "no such line: nothing");
	is(seen_get(&t, PLACE_JUDGE, "d")->what, TRIED_NONE,
	    "the last one has no line end");
	is(seen_get(&t, PLACE_ANSWER, "a") == NULL, 1,
	    "another place's is not");
	memset(long_line, 'x', sizeof long_line);
	memcpy(long_line, "e held ", 7);
	seen_read(&t, PLACE_JUDGE, long_line, sizeof long_line);
	is((long)strlen(seen_get(&t, PLACE_JUDGE, "e")->why), TRY_WHY - 1,
	    "a long line is cut");
	for (int i = 0; i < 2 * TRIES_MAX; i++) {
		(void)snprintf(long_line, sizeof long_line, "n%d", i);
		seen_put(&t, PLACE_OTHER, long_line, TRIED_HELD, "");
	}
	is(seen_get(&t, PLACE_OTHER, "n95") != NULL &&
	    seen_get(&t, PLACE_OTHER, "n96") == NULL, 1, "too many: dropped");
}

int
main(void)
{
	statuses();
	absences();
	lines();
	return done();
}

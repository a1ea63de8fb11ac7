/* The only writer to stderr on the client's own account. */
#include "tell.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sink.h"

enum { TEXT_MAX = 1024 };

void
tell(const char *fmt, ...)
{
	char text[TEXT_MAX], line[4 * (TEXT_MAX + 4) + 16];
	struct pollfd p = { .fd = 2, .events = POLLOUT };
	size_t n = 9;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	memcpy(line, "bailiff: ", n);
	n += text_escape(line + n, text, strlen(text), NULL, NULL);
	line[n++] = '\n';
	/* Nobody may hold this process up by not reading. */
	if (poll(&p, 1, 1000) > 0)
		(void)!write(2, line, n);	/* nowhere to complain */
}

void
tell_err(const struct bl_err *e)
{
	if (e->object[0] != '\0')
		tell("%s: %s [%s]", e->object, e->message, e->code);
	else
		tell("%s [%s]", e->message, e->code);
	if (e->hint[0] != '\0')
		tell("hint: %s", e->hint);
}

void
tell_kept(const char *whose, const char *way, pid_t init, uint32_t uid)
{
	bool own = way != NULL && strcmp(way, "rootless") == 0;
	bool in_user = own || (way != NULL && strcmp(way, "bwrap") == 0);

	if (init > 0 && way != NULL && strcmp(way, "plain") == 0)
		tell("kept: the %s's folder: cd /proc/%d/cwd/work", whose,
		    (int)init);
	else if (init > 0)		/* rootless: this user's own namespace */
		tell("kept: the %s's cell; %snsenter -t %d %s-m -u -i -n "
		    "-p -r -w -S %u -G %u -- sh", whose, own ? "" : "as root: ",
		    (int)init, in_user ? "-U " : "", uid, uid);
	else
		tell("kept: the %s's cell, user %u; its process can't be seen "
		    "by this user", whose, uid);
}

void
tell_holder(pid_t holder)
{
	tell("kept: until kill %d", (int)holder);
}

/* Readers of what the kernel and the system's files say; pure, no effects. */
#include "doctor_read.h"

#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cap {
	unsigned bit;
	const char *name, *large;
} caps[] = {
	{ CAP_SETUID, "setuid", "SETUID" },
	{ CAP_SETGID, "setgid", "SETGID" },
	{ CAP_KILL, "kill", "KILL" },
	{ CAP_SYS_ADMIN, "sys_admin", "SYS_ADMIN" },
	{ CAP_NET_ADMIN, "net_admin", "NET_ADMIN" },
	{ CAP_MKNOD, "mknod", "MKNOD" },
	{ CAP_CHOWN, "chown", "CHOWN" },
	{ CAP_SETPCAP, "setpcap", "SETPCAP" },
	{ CAP_SYS_RESOURCE, "sys_resource", "SYS_RESOURCE" },
	{ CAP_SYS_NICE, "sys_nice", "SYS_NICE" }
};
#define BIT(n) (1ULL << (n))
const uint64_t read_caps_needed = BIT(CAP_CHOWN) | BIT(CAP_KILL) |
    BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) |
    BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_ADMIN) | BIT(CAP_MKNOD);
const uint64_t read_caps_file = BIT(CAP_CHOWN) | BIT(CAP_KILL) |
    BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) |
    BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_ADMIN) | BIT(CAP_MKNOD) |
    BIT(CAP_SYS_RESOURCE) | BIT(CAP_SYS_NICE);

void
read_caps_words(uint64_t set, const char *before, const char *between,
    bool large, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof caps / sizeof caps[0] && n < size; i++)
		if ((set & BIT(caps[i].bit)) != 0)
			n += (size_t)snprintf(text + n, size - n, "%s%s%s",
			    n > 0 ? between : "", before,
			    large ? caps[i].large : caps[i].name);
}

/* The text behind "\nname:", or NULL. */
static const char *
field(const char *text, const char *name)
{
	size_t n = strlen(name);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, name, n) == 0 && text[n] == ':')
			return text + n + 1;
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
	return NULL;
}

int
read_status(const char *text, struct read_status *s)
{
	const char *nnp = field(text, "NoNewPrivs");
	const char *seccomp = field(text, "Seccomp");
	const char *prm = field(text, "CapPrm"), *bnd = field(text, "CapBnd");

	*s = (struct read_status){ .no_new_privs = 0 };
	if (prm == NULL || bnd == NULL || nnp == NULL)
		return -1;
	s->no_new_privs = (unsigned)strtoul(nnp, NULL, 10);
	/* a kernel without seccomp has no such line */
	if (seccomp != NULL)
		s->seccomp = (unsigned)strtoul(seccomp, NULL, 10);
	s->cap_prm = strtoull(prm, NULL, 16);
	s->cap_bnd = strtoull(bnd, NULL, 16);
	return 0;
}

/* --- mountinfo ------------------------------------------------------------ */

static bool
octal(const char *s)
{
	return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
	    s[2] <= '7' && s[3] >= '0' && s[3] <= '7';
}

/* The next word of a line, \040 and the like undone; false: there is none. */
static bool
word(const char **s, char *to, size_t size)
{
	size_t n = 0;

	while (**s == ' ')
		(*s)++;
	if (**s == '\0' || **s == '\n')
		return false;
	while (**s != '\0' && **s != ' ' && **s != '\n') {
		char c = **s;

		if (octal(*s)) {
			c = (char)(((*s)[1] - '0') << 6 | ((*s)[2] - '0') << 3 |
			    ((*s)[3] - '0'));
			*s += 3;
		}
		if (n + 1 < size)
			to[n++] = c;
		(*s)++;
	}
	to[n] = '\0';
	return true;
}

/* The line at s. */
static bool
mount_line(const char *s, struct read_mount *m)
{
	char skip[512], id[32], parent[32];

	if (!word(&s, id, sizeof id) || !word(&s, parent, sizeof parent) ||
	    !word(&s, skip, sizeof skip) || !word(&s, m->root, sizeof m->root) ||
	    !word(&s, m->point, sizeof m->point) ||
	    !word(&s, m->opts, sizeof m->opts))
		return false;
	do			/* tags of propagation, up to a dash */
		if (!word(&s, skip, sizeof skip))
			return false;
	while (strcmp(skip, "-") != 0);
	m->id = strtoull(id, NULL, 10);
	m->parent = strtoull(parent, NULL, 10);
	return word(&s, m->type, sizeof m->type) &&
	    word(&s, skip, sizeof skip) && word(&s, m->super, sizeof m->super);
}

bool
read_mount(const char **text, struct read_mount *m)
{
	const char *end;
	bool good;

	memset(m, 0, sizeof *m);
	if (**text == '\0')
		return false;
	good = mount_line(*text, m);
	end = strchr(*text, '\n');
	*text = end != NULL ? end + 1 : *text + strlen(*text);
	if (!good)
		memset(m, 0, sizeof *m);
	return true;
}

bool
read_mount_id(const char *text, unsigned long long id, struct read_mount *m)
{
	while (read_mount(&text, m))
		if (m->id == id && m->point[0] != '\0')
			return true;
	return false;
}

bool
read_option(const char *list, const char *want)
{
	size_t n = strlen(want);

	while (*list != '\0') {
		size_t len = strcspn(list, ",");

		if (len == n && memcmp(list, want, n) == 0)
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

/* --- capabilities of a file ------------------------------------------------ */

static uint32_t
le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	    (uint32_t)p[3] << 24;
}

int
read_caps(const void *data, size_t n, struct read_caps *c)
{
	static const size_t sizes[] = { 0, 12, 20, 24 };
	const unsigned char *p = data;
	uint32_t magic;

	memset(c, 0, sizeof *c);
	if (n < 12)
		return -1;
	magic = le32(p);
	c->version = magic >> 24;
	if (c->version < 1 || c->version > 3 || n != sizes[c->version])
		return -1;
	c->effective = (magic & VFS_CAP_FLAGS_EFFECTIVE) != 0;
	c->permitted = le32(p + 4);
	c->inheritable = le32(p + 8);
	if (c->version >= 2) {
		c->permitted |= (uint64_t)le32(p + 12) << 32;
		c->inheritable |= (uint64_t)le32(p + 16) << 32;
	}
	if (c->version == 3)
		c->root = le32(p + 20);
	return 0;
}

/* --- users ----------------------------------------------------------------- */

bool
read_map_whole(const char *text)
{
	unsigned long long in, out, count;
	char rest;

	return sscanf(text, " %llu %llu %llu %c", &in, &out, &count, &rest) ==
	    3 && in == 0 && out == 0 && count == 4294967295U;
}

/* --- the kernel ------------------------------------------------------------ */

enum read_core
read_core(const char *text)
{
	/* Linux 6.16 knows sockets; for one before, "@x" is a file's name. */
	return text[0] == '|' ? CORE_PIPE : text[0] == '@' ? CORE_SOCKET :
	    CORE_FILE;
}

int
read_release(const char *text, unsigned *major, unsigned *minor)
{
	return sscanf(text, "%u.%u", major, minor) == 2 ? 0 : -1;
}

bool
read_has_line(const char *text, const char *want)
{
	size_t len = strlen(want);

	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		if (n >= len && memcmp(text + n - len, want, len) == 0 &&
		    (n == len || isspace((unsigned char)text[n - len - 1])))
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

/* The few files of /etc that are the cell's own: constant for its slot. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fd.h"
#include "ops.h"

struct text {
	char	 b[512];
	size_t	 n;
};

static void
text_add(struct text *t, const char *s)
{
	size_t n = strlen(s);

	if (n > sizeof t->b - t->n)
		n = sizeof t->b - t->n;
	memcpy(t->b + t->n, s, n);
	t->n += n;
}

static void
text_number(struct text *t, uint32_t v)
{
	char d[11];
	unsigned i = sizeof d - 1;

	d[i] = '\0';
	do
		d[--i] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	text_add(t, d + i);
}

static int
etc_file(int root, const char *path, const struct text *t)
{
	scoped_fd int fd = openat(root, path,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	return write(fd, t->b, t->n) == (ssize_t)t->n ? 0 : -ENOSPC;
}

const char *
view_role(unsigned role)
{
	static const char *const name[BL_ROLE_MAX] = {
		[BL_ROLE_JUDGE] = "judge", [BL_ROLE_ANSWER] = "answer",
		[BL_ROLE_AGENT] = "agent", [BL_ROLE_VERIFIER] = "verifier",
	};

	return name[role < BL_ROLE_MAX ? role : 0];
}

/* passwd and group name root, the role and nobody.  0, or -errno. */
int
view_etc(int root, const struct cell *c)
{
	static const char *const fixed[][2] = {
		{ "etc/hosts", "127.0.0.1\tlocalhost cell\n"
		    "::1\tlocalhost cell\n" },
		{ "etc/hostname", "cell\n" },
		{ "etc/nsswitch.conf", "passwd: files\ngroup: files\n"
		    "hosts: files\nservices: files\nprotocols: files\n" },
		{ "etc/resolv.conf", "# offline\n" },
	};
	const char *role = view_role(c->req.role);
	struct text t = { .n = 0 };
	unsigned i;
	int r;

	text_add(&t, "root:x:0:0:root:/root:/usr/sbin/nologin\n");
	text_add(&t, role);
	text_add(&t, ":x:");
	text_number(&t, c->uid);
	text_add(&t, ":");
	text_number(&t, c->uid);
	text_add(&t, "::/home/");
	text_add(&t, role);
	text_add(&t, ":/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:"
	    "/usr/sbin/nologin\n");
	r = etc_file(root, "etc/passwd", &t);
	t.n = 0;
	text_add(&t, "root:x:0:\n");
	text_add(&t, role);
	text_add(&t, ":x:");
	text_number(&t, c->uid);
	text_add(&t, ":\nnogroup:x:65534:\n");
	if (r == 0)
		r = etc_file(root, "etc/group", &t);
	for (i = 0; r == 0 && i < sizeof fixed / sizeof fixed[0]; i++) {
		t.n = 0;
		text_add(&t, fixed[i][1]);
		r = etc_file(root, fixed[i][0], &t);
	}
	return r;
}

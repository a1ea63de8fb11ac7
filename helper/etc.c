/* Names of the cell's one user: constant for its slot. */
#include "ops.h"
#include "sys.h"

const char *const etc_role[BL_ROLE_MAX] = { "", "judge", "answer", "agent",
    "verifier" };

void
etc_number(char out[21], uint64_t v)
{
	char d[21] = "";
	unsigned i = sizeof d - 1;

	do
		d[--i] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	memcpy(out, d + i, sizeof d - i);
}

/* A new file of n parts.  0, or -errno. */
int
etc_file(int dir, const char *name, unsigned mode, const char *const *part,
    unsigned n)
{
	scoped_fd int fd = sys(openat(dir, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
	struct iovec v[9] = { { NULL, 0 } };
	unsigned i;

	for (i = 0; i < n && i < COUNT(v); i++)
		v[i] = (struct iovec){ (void *)(uintptr_t)part[i],
		    strlen(part[i]) };
	return fd < 0 ? fd : writev(fd, v, (int)i) < 0 ? -errno : 0;
}

/* passwd and group name root, the role and nobody.  0, or -errno. */
int
etc_make(struct cell *c)
{
	char id[21];
	const char *role = etc_role[c->req.role];
	const char *const passwd[] = { "root:x:0:0::/:/usr/sbin/nologin\n",
	    role, ":x:", id, ":", id, "::/home/", role, ":/bin/sh\n"
	    "nobody:x:65534:65534::/:/usr/sbin/nologin\n" };
	const char *const group[] = { "root:x:0:\n", role, ":x:", id,
	    ":\nnogroup:x:65534:\n" };
	int r;

	etc_number(id, c->uid);
	r = etc_file(c->root, "etc/passwd", 0444, passwd, COUNT(passwd));
	return r != 0 ? r :
	    etc_file(c->root, "etc/group", 0444, group, COUNT(group));
}

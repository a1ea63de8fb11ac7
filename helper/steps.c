/* POST-DROP: a spec's file steps, as the role, in the cell's own files. */
#include <sys/sendfile.h>
#include <sys/un.h>

#include "../policy/spec.h"
#include "loop.h"
#include "sys.h"

static int
step_put(int fd, const struct bl_step *w, const char *path)
{
	scoped_fd int to = open(path, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, w->mode | 0200);
	off_t off = (off_t)w->off, end = off + (off_t)w->len;

	while (to >= 0 && off < end) {
		ssize_t put = sendfile(to, fd, &off, (size_t)(end - off));

		if (put <= 0)
			return put < 0 ? -errno : -EIO;
	}
	return to < 0 ? -errno : sys(fchmod(to, w->mode));
}

/* All of n bytes to stdout.  0, or -errno. */
static int
put_all(const char *p, size_t n)
{
	while (n > 0) {
		ssize_t put = write(STDOUT_FILENO, p, n);

		if (put < 0)
			return -errno;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

/* A plain file's bytes or a folder's entries; anything else is refused. */
static int
step_take(const struct bl_step *w, const char *path)
{
	static char buf[1 << 16];
	scoped_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	struct bl_taken t = { .magic = BL_MAGIC };
	struct stat st;
	int r = fd < 0 ? -errno : sys(fstat(fd, &st)), n = 1;
	int dir = r == 0 && S_ISDIR(st.st_mode);
	uint64_t left = dir || r != 0 ? 0 : (uint64_t)st.st_size;

	if (r == 0 && !dir && !S_ISREG(st.st_mode))
		r = -EINVAL;
	if (r == 0 && left > w->len)
		r = -EFBIG;
	t.mode = r == 0 ? st.st_mode : 0;
	t.size = left;
	for (r = r == 0 ? put_all((char *)&t, sizeof t) : r;
	    r == 0 && n > 0 && (dir || left > 0); left -= dir ? 0 : (unsigned)n) {
		n = sys(dir ? syscall(SYS_getdents64, fd, buf, sizeof buf) :
		    read(fd, buf, left < sizeof buf ? left : sizeof buf));
		r = n < 0 ? n : n == 0 && !dir ? -EIO : /* it shrank */
		    put_all(buf, (size_t)n);
		if (r != 0)
			return r;
	}
	return r;
}

static int
step_listen(const char *path, int *listener)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	int r;

	if (*listener >= 0 || n >= sizeof a.sun_path)
		return -EINVAL;
	*listener = sys(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	memcpy(a.sun_path, path, n);
	(void)umask(0177);		/* 0600 from its first moment */
	r = bind(*listener, (const struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(*listener, 64) != 0 ? -errno : 0;
	(void)umask(022);
	return r;
}

/* 0, or -errno; fd: the spec; *listener: -1, and then a listening socket. */
int
step_run(int fd, const struct bl_step *w, const char *path, int *listener)
{
	switch (w->kind) {
	case BL_STEP_DIR:
		return mkdir(path, w->mode) != 0 && errno != EEXIST ?
		    -errno : 0;
	case BL_STEP_PUT:
		return step_put(fd, w, path);
	case BL_STEP_TAKE:
		return step_take(w, path);
	case BL_STEP_LISTEN:
		return step_listen(path, listener);
	default:
		return -ENOSYS;
	}
}

/* POST-DROP: a spec's file steps, as the role, in the cell's own files. */
#include <sys/sendfile.h>

#include "../policy/spec.h"
#include "loop.h"
#include "sys.h"

static int
step_put(int fd, const struct bl_step *w, const char *path)
{
	scoped_fd int to = open(path, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, w->mode | 0200);
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

/* left bytes of a file, or all entries of a folder, to stdout.  0, or -errno. */
static int
copy_out(int fd, int dir, uint64_t left)
{
	static char buf[1 << 16];
	int r = 0;

	while (r == 0 && (dir || left > 0)) {
		int n = sys(dir ? syscall(SYS_getdents64, fd, buf, sizeof buf) :
		    read(fd, buf, left < sizeof buf ? left : sizeof buf));

		if (n <= 0)		/* a file's end: it shrank */
			return n == 0 && !dir ? -EIO : n;
		left -= dir ? 0 : (unsigned)n;
		r = put_all(buf, (size_t)n);
	}
	return r;
}

/* A plain file's bytes or a folder's entries; anything else is refused. */
static int
step_take(const struct bl_step *w, const char *path)
{
	scoped_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	struct bl_taken t = { .magic = BL_MAGIC };
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return -EINVAL;
	t.mode = st.st_mode;
	t.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	if (t.size > w->len)
		return -EFBIG;
	r = put_all((const char *)&t, sizeof t);
	return r != 0 ? r : copy_out(fd, S_ISDIR(st.st_mode), t.size);
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

/*
 * POST-DROP: runs as the role, with its filter, in the process that is about
 * to become the role's program.  All that a caller or a judge wrote is read
 * here, and nothing it could do wrong here is more than that program may do.
 */
#include <linux/capability.h>
#include <sys/sendfile.h>
#include <sys/un.h>

#include "../policy/spec.h"
#include "ops.h"
#include "sys.h"

static union {
	struct bl_spec head;
	char raw[BL_SPEC_READ];
} spec;
static char *args[BL_ARGS_MAX + 1], *env[BL_ENV_MAX + 1];

static _Noreturn void
give_up(int tell, enum bl_at step, uint32_t object, int err)
{
	struct launch m;

	memset(&m, 0, sizeof m);
	m.kind = LAUNCH_FAIL;
	m.step = step;
	m.object = object;
	m.status = err < 0 ? err : -err;
	(void)wire_send(tell, &m, sizeof m, NULL, 0);	/* or init is gone */
	_exit(1);
}

static char *
next_string(char **at)
{
	char *s = *at;

	*at += strlen(s) + 1;		/* bl_spec_check saw every NUL */
	return s;
}

static int
spec_read(int fd, uint32_t *bad)
{
	struct stat st;
	ssize_t n = pread(fd, &spec, sizeof spec.head, 0);

	*bad = BL_SPEC_SHORT;
	if (n != sizeof spec.head || fstat(fd, &st) != 0 ||
	    spec.head.size < sizeof spec.head || spec.head.size > sizeof spec)
		return -EINVAL;
	n = pread(fd, &spec, spec.head.size, 0);
	return n < 0 ? -errno :
	    bl_spec_check(&spec, (size_t)n, (uint64_t)st.st_size, bad);
}

static int
step_put(int fd, const struct bl_step *w, const char *path)
{
	scoped_fd int to = open(path, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, w->mode | 0200);
	uint64_t left = w->len;
	off_t off = (off_t)w->off;

	if (to < 0)
		return -errno;
	while (left > 0) {
		size_t n = left > 1 << 20 ? 1 << 20 : (size_t)left;
		ssize_t put = sendfile(to, fd, &off, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		left -= (uint64_t)put;
	}
	return fchmod(to, w->mode) != 0 ? -errno : 0;
}

/* All of n bytes to stdout, or -errno. */
static int
put_all(const void *p, size_t n)
{
	const char *at = p;

	while (n > 0) {
		ssize_t put = write(STDOUT_FILENO, at, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		at += put;
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
	uint64_t left;
	struct stat st;
	int isdir, r;
	long n;

	if (fd < 0 || fstat(fd, &st) != 0)
		return -errno;
	isdir = S_ISDIR(st.st_mode);
	if (!isdir && !S_ISREG(st.st_mode))
		return -EINVAL;
	t.mode = st.st_mode;
	t.size = left = isdir ? 0 : (uint64_t)st.st_size;
	if (left > w->len)
		return -EFBIG;
	r = put_all(&t, sizeof t);
	while (r == 0 && (isdir || left > 0)) {
		n = isdir ? syscall(SYS_getdents64, fd, buf, sizeof buf) :
		    read(fd, buf, left < sizeof buf ? left : sizeof buf);
		if (n < 0)
			return -errno;
		if (n == 0)
			return isdir ? 0 : -EIO;	/* it shrank */
		left -= isdir ? 0 : (uint64_t)n;
		r = put_all(buf, (size_t)n);
	}
	return r;
}

static int
step_listen(int tell, const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	scoped_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct launch m = { .kind = LAUNCH_LISTENER };
	size_t n = strlen(path);

	if (fd < 0 || n >= sizeof a.sun_path)
		return fd < 0 ? -errno : -ENAMETOOLONG;
	memcpy(a.sun_path, path, n);
	(void)umask(0177);		/* 0600 from its first moment */
	if (bind(fd, (const struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(fd, 64) != 0)
		return -errno;
	(void)umask(022);
	return wire_send(tell, &m, sizeof m, &fd, 1);
}

static int
step_run(int fd, int tell, const struct bl_step *w, const char *path)
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
		return step_listen(tell, path);
	default:
		return -ENOSYS;
	}
}

/* What this process is, as the kernel answers: the client compares. */
static int
look(struct launch *m)
{
	static const char *const ns[] = { "/proc/self/ns/net",
	    "/proc/self/ns/mnt", "/proc/self/ns/pid", "/proc/self/ns/ipc",
	    "/proc/self/ns/uts", "/proc/self/ns/cgroup" };
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];
	struct bl_seen *s = &m->seen;
	struct statvfs v;
	struct rlimit cpu;
	struct stat st;
	int i, bit;

	memset(m, 0, sizeof *m);
	m->kind = LAUNCH_SEEN;
	s->uid = getuid();
	s->gid = getgid();
	s->pid = (uint32_t)getpid();
	s->groups = (uint32_t)getgroups(0, NULL);
	s->no_new_privs = (uint32_t)prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	s->seccomp = (uint32_t)prctl(PR_GET_SECCOMP);
	if (statvfs("/", &v) != 0 || syscall(SYS_capget, &h, d) != 0 ||
	    getrlimit(RLIMIT_CPU, &cpu) != 0)
		return -errno;
	m->cpu_s = cpu.rlim_cur == RLIM_INFINITY ? 0 : (uint32_t)cpu.rlim_cur;
	s->root_flags = (uint32_t)v.f_flag;
	for (i = 0; i < 2; i++)
		s->caps |= (uint64_t)(d[i].effective | d[i].permitted |
		    d[i].inheritable) << (32 * i);
	for (i = 0; (bit = prctl(PR_CAPBSET_READ, i)) >= 0; i++)
		s->caps |= (uint64_t)bit << i;
	for (i = 0; i < 6; i++) {
		if (stat(ns[i], &st) != 0)
			return -errno;
		s->ns[i] = st.st_ino;
	}
	return 0;
}

/* execve along PATH of the new environment, as execvp(3) but for no shell. */
static int
exec_along(const char *path)
{
	static char full[4096 + 256];
	size_t n = strlen(args[0]);
	int err = -ENOENT;

	if (strchr(args[0], '/') != NULL || path == NULL || n == 0 ||
	    n > 255) {
		(void)execve(args[0], args, env);
		return -errno;
	}
	while (*path != '\0') {
		size_t part = strcspn(path, ":");

		if (part > 0 && part <= 4096 - 1) {
			memcpy(full, path, part);
			full[part] = '/';
			memcpy(full + part + 1, args[0], n + 1);
			(void)execve(full, args, env);
			if (errno != ENOENT && errno != ENOTDIR)
				err = -errno;
			if (errno != ENOENT && errno != ENOTDIR &&
			    errno != EACCES)
				return err;
		}
		path += part + (path[part] == ':');
	}
	return err;
}

void
spec_run(int fd, int tell)
{
	const struct bl_step *step;
	const char *path = NULL;
	struct launch seen;
	char *at, *cwd;
	uint32_t i, bad = 0;
	int r = spec_read(fd, &bad);

	if (r != 0)
		give_up(tell, BL_AT_SPEC, bad, r);
	step = (const struct bl_step *)(const void *)(spec.raw +
	    sizeof spec.head);
	at = spec.raw + sizeof spec.head + spec.head.nsteps * sizeof *step;
	cwd = next_string(&at);
	for (i = 0; i < spec.head.nargs; i++)
		args[i] = next_string(&at);
	for (i = 0; i < spec.head.nenv; i++) {
		env[i] = next_string(&at);
		if (strncmp(env[i], "PATH=", 5) == 0)
			path = env[i] + 5;
	}
	if (chdir("/work") != 0)
		give_up(tell, BL_AT_CHDIR, 0, errno);
	for (i = 0; i < spec.head.nsteps; i++)
		if ((r = step_run(fd, tell, &step[i], next_string(&at))) != 0)
			give_up(tell, BL_AT_STEP, i, r);
	if (cwd[0] != '\0' && chdir(cwd) != 0)
		give_up(tell, BL_AT_CHDIR, 1, errno);
	if ((r = limits_set(&spec.head.limits)) != 0)
		give_up(tell, BL_AT_SPEC_RLIMIT, 0, r);
	if ((r = look(&seen)) != 0)
		give_up(tell, BL_AT_BECOME, 0, r);
	if ((r = wire_send(tell, &seen, sizeof seen, NULL, 0)) != 0)
		_exit(BL_AT_BECOME);
	if (spec.head.nargs == 0)
		_exit(0);
	give_up(tell, BL_AT_EXEC, 0, exec_along(path));
}

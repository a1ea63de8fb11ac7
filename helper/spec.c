/*
 * POST-DROP: runs as the role, with its filter, in the process that is about
 * to become the role's program.  All that a caller or a judge wrote is read
 * here, and nothing it could do wrong here is more than that program may do.
 */
#include <linux/capability.h>
#include <sys/statvfs.h>

#include "../policy/spec.h"
#include "loop.h"
#include "ops.h"
#include "sys.h"

enum { OWN = 512 };		/* the launch child's own descriptors: from here */

static union {
	struct bl_spec head;
	char raw[BL_SPEC_READ];
} spec;
/* ran: what execve was last asked for */
static char *args[BL_ARGS_MAX + 1], *env[BL_ENV_MAX + 1], *ran;

static _Noreturn void
give_up(struct launch *w, uint32_t step, uint32_t object, int err)
{
	w->object = object;
	w->status = err < 0 ? err : -err;
	w->step = step;
	_exit(1);
}

static rlim_t
or_none(uint64_t v)
{
	return v == 0 ? RLIM_INFINITY : v;
}

/*
 * Down only, hard: what is lower already stays.  0, or -errno.
 * RLIMIT_DATA and never RLIMIT_AS: a JVM reserves far more than it uses.
 * RLIMIT_CORE is the helper's own, 1, and the filter keeps it so.
 */
static int
limits_set(const struct bl_limits *l)
{
	rlim_t cpu = l->cpu_ms / 1000 + (l->cpu_ms % 1000 != 0);
	const struct { int what; rlim_t soft, hard; } row[] = {
		/* the soft one signals, a second later the hard one kills */
		{ RLIMIT_CPU, cpu, cpu + 1 },
		{ RLIMIT_DATA, RLIM_INFINITY, or_none(l->memory) },
		{ RLIMIT_FSIZE, RLIM_INFINITY, or_none(l->fsize) },
		{ RLIMIT_NPROC, RLIM_INFINITY, or_none(l->pids) },
		{ RLIMIT_NOFILE, RLIM_INFINITY, or_none(l->nofile) },
		{ RLIMIT_STACK, 8 << 20, 64 << 20 },
		{ RLIMIT_MEMLOCK, 64 << 10, 64 << 10 },
		{ RLIMIT_MSGQUEUE, 819200, 819200 }, { RLIMIT_NICE, 0, 0 },
		{ RLIMIT_SIGPENDING, 4096, 4096 }, { RLIMIT_RTPRIO, 0, 0 },
	};
	unsigned i;

	for (i = cpu == 0; i < COUNT(row); i++) {	/* 0: as it is */
		__rlimit_resource_t what = (__rlimit_resource_t)row[i].what;
		struct rlimit v;

		if (getrlimit(what, &v) != 0)
			return -errno;
		v.rlim_max = row[i].hard < v.rlim_max ? row[i].hard : v.rlim_max;
		v.rlim_cur = row[i].soft < v.rlim_max ? row[i].soft : v.rlim_max;
		if (setrlimit(what, &v) != 0)
			return -errno;
	}
	return 0;
}

/* 0 to 2 the streams, 3 the result pipe if any; of the rest only *own. */
static int
descriptors(const struct fdbag *b, int *own[4])
{
	static const sigset_t none;
	unsigned i, n = 0;
	int bad = sigprocmask(SIG_SETMASK, &none, NULL) != 0 || setsid() < 0;

	(void)umask(022);
	for (i = 0; i < 4; i++)
		if (*own[i] >= 0) {
			*own[i] = fcntl(*own[i], F_DUPFD_CLOEXEC, OWN);
			bad |= *own[i] != OWN + (int)n++;
		}
	for (i = 0; i < 3; i++)
		bad |= dup2(b->fd[1 + i], (int)i) != (int)i;
	bad |= close_range(3, OWN - 1, 0) != 0 ||
	    close_range(OWN + n, ~0u, 0) != 0 ||
	    (*own[3] >= 0 && dup2(*own[3], 3) != 3);
	return bad ? -EBADF : 0;
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
	/* F_SEAL_EXEC (0x20, Linux 6.3) comes with vm.memfd_noexec. */
	if ((fcntl(fd, F_GET_SEALS) | 0x20) != (F_SEAL_SEAL | F_SEAL_SHRINK |
	    F_SEAL_GROW | F_SEAL_WRITE | 0x20) ||
	    n != sizeof spec.head || fstat(fd, &st) != 0 ||
	    spec.head.size < sizeof spec.head || spec.head.size > sizeof spec)
		return -EINVAL;
	n = pread(fd, &spec, spec.head.size, 0);
	return n < 0 ? -errno :
	    bl_spec_check(&spec, (size_t)n, (uint64_t)st.st_size, bad);
}

/* What this process is, as the kernel answers: the client compares. */
static int
look(struct bl_seen *s)
{
	static const char *const ns[] = { "/proc/self/ns/net",
	    "/proc/self/ns/mnt", "/proc/self/ns/pid", "/proc/self/ns/ipc",
	    "/proc/self/ns/uts", "/proc/self/ns/cgroup" };
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];
	struct statvfs v;
	struct stat st;
	int i;

	s->uid = getuid();
	s->gid = getgid();
	s->pid = (uint32_t)getpid();
	s->groups = (uint32_t)getgroups(0, NULL);
	s->no_new_privs = (uint32_t)prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	s->seccomp = (uint32_t)prctl(PR_GET_SECCOMP);
	if (statvfs("/", &v) != 0 || syscall(SYS_capget, &h, d) != 0)
		return -errno;
	s->root_flags = (uint32_t)v.f_flag;
	for (i = 0; i < 2; i++)
		s->caps |= (uint64_t)(d[i].effective | d[i].permitted |
		    d[i].inheritable) << (32 * i);
	for (i = 0; i <= 40; i++)	/* -1, where it fails, is all of them */
		s->caps |= (uint64_t)prctl(PR_CAPBSET_READ, i) << i;
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
	static char full[4096];
	size_t n = strlen(ran = args[0]), part;
	int err = -ENOENT;

	if (strchr(args[0], '/') != NULL || path == NULL) {
		(void)execve(args[0], args, env);
		return -errno;
	}
	for (; *path != '\0'; path += part + (path[part] == ':')) {
		part = strcspn(path, ":");
		if (part == 0 || part + n + 2 > sizeof full)
			continue;
		ran = memcpy(full, path, part);
		full[part] = '/';
		memcpy(full + part + 1, args[0], n + 1);
		(void)execve(full, args, env);
		if (errno == EACCES)
			err = -EACCES;
		else if (errno != ENOENT && errno != ENOTDIR)
			return -errno;
	}
	return err;
}

/* Points args and env into the spec.  Returns the working folder. */
static const char *
arguments(char **at, const char **path)
{
	const char *cwd = next_string(at);
	uint32_t i;

	for (i = 0; i < spec.head.nargs; i++)
		args[i] = next_string(at);
	for (i = 0; i < spec.head.nenv; i++) {
		env[i] = next_string(at);
		if (strncmp(env[i], "PATH=", 5) == 0)
			*path = env[i] + 5;
	}
	return cwd;
}

void
spec_run(struct loop *l, struct fdbag *b)
{
	static const struct bl_limits none;
	struct launch *w = l->launch;
	struct bl_rep p = wire_reply(BL_EV_STARTED, 0);
	int fd = b->fd[0], result = b->n > 5 ? b->fd[5] : -1, listener = -1;
	int *own[4] = { &fd, &l->run.reply, &l->run.report, &result };
	int r = descriptors(b, own);
	const struct bl_step *step = (const void *)(spec.raw + sizeof spec.head);
	const char *path = NULL, *cwd;
	struct statvfs v = { .f_flag = ST_RDONLY };
	char *at;
	uint32_t i, bad = 0;

	if (r != 0 || (r = limits_set(&l->cell->req.limits)) != 0)
		give_up(w, BL_AT_BECOME, 1, r);
	if ((r = spec_read(fd, &bad)) != 0)
		give_up(w, BL_AT_SPEC, bad, r);
	at = spec.raw + sizeof spec.head + spec.head.nsteps * sizeof *step;
	cwd = arguments(&at, &path);
	if (chdir("/work") != 0)
		give_up(w, BL_AT_CHDIR, 0, errno);
	for (i = 0; i < spec.head.nsteps; i++)
		if ((r = step_run(fd, &step[i], next_string(&at),
		    &listener)) != 0)
			give_up(w, BL_AT_STEP, i, r);
	if (cwd[0] != '\0' && chdir(cwd) != 0)
		give_up(w, BL_AT_CHDIR, 1, errno);
	if (memcmp(&spec.head.limits, &none, sizeof none) != 0 &&
	    (r = limits_set(&spec.head.limits)) != 0)
		give_up(w, BL_AT_SPEC_RLIMIT, 0, r);
	if ((r = look(&p.u.seen)) != 0)
		give_up(w, BL_AT_BECOME, 2, r);
	spawn_tell(l, &p, listener >= 0 ? &listener : NULL);
	w->ready = 1;
	if (spec.head.nargs == 0)
		_exit(0);
	r = exec_along(path);
	/* a file of the role's may be as it wants it, and is there to be seen */
	(void)statvfs(ran, &v);
	give_up(w, BL_AT_EXEC, (v.f_flag & ST_RDONLY) == 0, r);
}

/*
 * Fuzz: the launch child's reader, whole, from the spec to execve.
 *
 * helper/spec.c and steps.c are included; what they would do to this process
 * or its files is played, and looked at: every pointer that reaches a call is
 * a string inside of the spec, every step one of the spec's, in its order.
 */
/* max_len: 2048 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sanitizer/asan_interface.h>
#include <sys/sendfile.h>
#include <sys/statvfs.h>
#include <sys/un.h>

#include "../../policy/reply.h"
#include "../../helper/loop.h"
#include "../../helper/ops.h"
#include "../../helper/sys.h"
#include "../../policy/spec.h"

#define MUST(x) do { if (!(x)) { \
	(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
	abort(); } } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STREAM = 3, SPEC = 600, REPLY, REPORT, RESULT, FILE_FD, LISTENER,
    EXITED = 1000 };

static jmp_buf out;
static const uint8_t *bytes;		/* the whole memfd */
static size_t total;
static unsigned fail_at, calls, nexec, nsteps;
static int seals, open_files, listeners, told, exec_errno;
static uint64_t left;			/* of the file that is read */
static char **seen_args, **seen_env;

static void string_is_inside(const char *s);

/* 1: this call is the one that fails. */
static int
fails(int err)
{
	errno = err;
	return ++calls == fail_at;
}

static _Noreturn void
fake_exit(int code)
{
	longjmp(out, EXITED + code);
}

static int
fake_fcntl(int fd, int cmd, ...)
{
	static int next;

	if (cmd == F_GET_SEALS)
		return fd == 512 ? seals : -1;
	MUST(cmd == F_DUPFD_CLOEXEC);
	next = fd == SPEC ? 512 : next + 1;
	return fails(EMFILE) ? -1 : next;
}

static ssize_t
fake_pread(int fd, void *buf, size_t n, off_t off)
{
	MUST(off == 0 && fd == 512);
	if (fails(EIO))
		return -1;
	n = n < total ? n : total;
	memcpy(buf, bytes, n);
	return (ssize_t)n;
}

static int
fake_fstat(int fd, struct stat *st)
{
	memset(st, 0, sizeof *st);
	st->st_size = fd == FILE_FD ? (off_t)left : (off_t)total;
	st->st_mode = calls % 3 == 0 ? S_IFDIR :
	    calls % 5 == 0 ? S_IFIFO : S_IFREG;
	return fails(EIO) ? -1 : 0;
}

static int
fake_open(const char *path, int flags, ...)
{
	string_is_inside(path);
	MUST((flags & (O_NOFOLLOW | O_CLOEXEC)) == (O_NOFOLLOW | O_CLOEXEC));
	MUST(open_files == 0);
	nsteps++;
	left = total % 70000;
	return fails(EACCES) ? -1 : (open_files++, FILE_FD);
}

static int
fake_close(int fd)
{
	MUST(fd == FILE_FD && open_files == 1);
	open_files--;
	return 0;
}

static ssize_t
fake_sendfile(int to, int from, off_t *off, size_t n)
{
	MUST(to == FILE_FD && from == 512 && *off >= 0 && n > 0);
	MUST((size_t)*off < total && n <= total - (size_t)*off);
	n = n > 3 ? n / 2 : n;
	*off += (off_t)n;
	return fails(ENOSPC) ? -1 : (ssize_t)n;
}

static ssize_t
fake_read(int fd, void *buf, size_t n)
{
	MUST(fd == FILE_FD && n <= 1 << 16);
	n = n > left ? left : n;
	memset(buf, 'x', n);
	left -= n;
	return fails(EIO) ? -1 : (ssize_t)n;
}

static ssize_t
fake_write(int fd, const void *buf, size_t n)
{
	MUST(fd == STDOUT_FILENO && n > 0 && n <= 1 << 16);
	MUST(((const uint8_t *)buf)[n - 1] <= 255);	/* reads it, for ASan */
	return fails(EPIPE) ? -1 : (ssize_t)(n > 1 ? n - n / 2 : n);
}

static long
fake_syscall(long n, ...)
{
	static unsigned entries;

	MUST(n == SYS_getdents64 || n == SYS_capget);
	return fails(EIO) ? -1 : n == SYS_capget ? 0 : (entries++ % 3) * 24;
}

static int
fake_path(const char *path, int step)
{
	if (strcmp(path, "/work") != 0 || step)
		string_is_inside(path);
	nsteps += (unsigned)step;
	return fails(ENOTDIR) ? -1 : 0;
}

static int
fake_bind(int fd, const struct sockaddr *a, socklen_t n)
{
	const struct sockaddr_un *u = (const void *)a;

	if (fd < 0)
		return errno = EBADF, -1;
	MUST(fd == LISTENER && n == sizeof *u && u->sun_family == AF_UNIX);
	MUST(memchr(u->sun_path, '\0', sizeof u->sun_path) != NULL);
	nsteps++;
	return fails(EADDRINUSE) ? -1 : 0;
}

static int
fake_socket(void)
{
	listeners++;
	return fails(EMFILE) ? -1 : LISTENER;
}

static int
fake_setrlimit(__rlimit_resource_t what, const struct rlimit *v)
{
	MUST(v->rlim_cur <= v->rlim_max && what != RLIMIT_AS);
	return fails(EPERM) ? -1 : 0;
}

static int
fake_execve(const char *path, char **args, char **env)
{
	unsigned i;

	MUST(told == 1 && strlen(path) < BL_SPEC_READ);
	if (nexec++ == 0)
		for (i = 0; args[i] != NULL; i++)
			string_is_inside(args[i]);
	seen_args = args;
	seen_env = env;
	errno = exec_errno;
	return -1;
}

/* In spawn.c, which is not here. */
void
spawn_tell(struct loop *l, struct bl_rep *p, const int *fd)
{
	(void)l;
	MUST(p->kind == BL_EV_STARTED && told == 0 && bl_rep_check(p) == 0);
	MUST(fd == NULL ? listeners == 0 : *fd == LISTENER && listeners == 1);
	told = 1;
}

struct bl_rep
wire_reply(unsigned kind, uint32_t seq)
{
	return (struct bl_rep){ .magic = BL_MAGIC, .version = BL_VERSION,
	    .kind = (uint16_t)kind, .seq = seq };
}

#define _exit fake_exit
#define fcntl fake_fcntl
#define pread fake_pread
#define fstat fake_fstat
#define open fake_open
#define close fake_close
#define sendfile fake_sendfile
#define read fake_read
#define write fake_write
#define syscall fake_syscall
#define mkdir(p, m) fake_path(p, 1)
#define chdir(p) fake_path(p, 0)
#define bind fake_bind
#define socket(...) fake_socket()
#define listen(...) 0
#define setrlimit fake_setrlimit
#define execve fake_execve
#define dup2(a, b) (fails(EBADF) ? -1 : (b))
#define close_range(...) (fails(EINVAL) ? -1 : 0)
#define setsid() (fails(EPERM) ? -1 : 1)
#define sigprocmask(...) 0
#define umask(m) 0
#define fchmod(...) 0
#define prctl(...) (-1)
/* only where it is called: struct stat stays */
#define stat(path, st) (memset(st, 0, sizeof *(st)), 0)
#define statvfs(path, v) (memset(v, 0, sizeof *(v)), 0)
#define fd_drop reader_drop

/* sys.h has it with the real close(2). */
static inline void
reader_drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* --- the reader --------------------------------------------------------- */

#include "../../helper/steps.c"
#include "../../helper/spec.c"

#undef close

/* What it was given starts and ends in the spec's strings. */
static void
string_is_inside(const char *s)
{
	size_t from = sizeof spec.head +
	    spec.head.nsteps * sizeof(struct bl_step);

	MUST(s >= spec.raw + from && s < spec.raw + spec.head.size);
	MUST(strlen(s) < (size_t)(spec.raw + spec.head.size - s));
}

/* What comes behind the bytes that were read may not be looked at. */
static void
fence(size_t n, int up)
{
	size_t size = sizeof spec - n < 4096 ? sizeof spec - n : 4096;

	if (up)
		__asan_poison_memory_region(spec.raw + n, size);
	else
		__asan_unpoison_memory_region(spec.raw + n, size);
}

static void
ended(int how, const struct launch *w)
{
	unsigned i;

	MUST(open_files == 0 || w->step == BL_AT_STEP);	/* _exit closes it */
	MUST(nsteps <= BL_STEPS_MAX && told == (int)w->ready);
	if (how == EXITED) {
		MUST(w->step == 0 && told && spec.head.nargs == 0);
		MUST(nsteps == spec.head.nsteps && nexec == 0);
		return;
	}
	MUST(how == EXITED + 1 && w->status < 0 && w->step >= BL_AT_BECOME &&
	    w->step <= BL_AT_EXEC);
	if (w->step == BL_AT_STEP)
		MUST(w->object < spec.head.nsteps);
	if (w->step == BL_AT_EXEC)
		MUST(told && nsteps == spec.head.nsteps);
	for (i = 0; nexec > 0 && i <= spec.head.nenv; i++)
		MUST(i == spec.head.nenv ? seen_env[i] == NULL :
		    strchr(seen_env[i], '=') > seen_env[i]);
	if (nexec > 0)
		MUST(seen_args[spec.head.nargs] == NULL);
}

/* The header as the input has it, or so far right that more is reached. */
static void
mend(uint8_t *to, unsigned how)
{
	struct bl_spec h;

	if (how % 4 == 0 || total < sizeof h)
		return;
	memcpy(&h, to, sizeof h);
	h.magic = BL_MAGIC;
	h.version = BL_VERSION;
	if (h.size > total || how % 4 == 1)
		h.size = (uint32_t)total;
	h.nargs %= 8;
	h.nenv %= 8;
	h.nsteps %= 8;
	h.limits.zero = 0;
	memcpy(to, &h, sizeof h);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cell cell;
	static struct launch w;
	static struct loop l;
	static uint8_t copy[2048];
	struct fdbag b = { { SPEC, STREAM, STREAM, STREAM, -1, RESULT }, 5 };
	int how;

	if (size < 4 || size - 4 > sizeof copy)
		return 0;
	bytes = copy;
	total = size - 4;
	memcpy(copy, data + 4, total);
	mend(copy, data[0]);
	fail_at = data[1] < 128 ? 0 : data[1] - 127u;
	seals = data[0] & 64 ? data[2] : F_SEAL_SEAL | F_SEAL_SHRINK |
	    F_SEAL_GROW | F_SEAL_WRITE;
	exec_errno = data[2] & 1 ? EACCES : data[2] & 2 ? ENOEXEC : ENOENT;
	b.n += (data[0] & 32) != 0;
	calls = nexec = nsteps = 0;
	open_files = listeners = told = 0;
	memset(args, 0, sizeof args);
	memset(env, 0, sizeof env);
	w = (struct launch){ .step = 0 };
	l.cell = &cell;
	l.launch = &w;
	l.run = (struct spawn){ .reply = REPLY,
	    .report = data[0] & 16 ? REPORT : -1 };
	fence(total, 1);
	how = setjmp(out);
	if (how == 0)
		spec_run(&l, &b);
	fence(total, 0);
	ended(how, &w);
	return 0;
}

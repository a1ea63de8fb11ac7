/* The kernel's and libc's headers, once for all of the helper. */
#ifndef BL_HELPER_SYS_H
#define BL_HELPER_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define die(at) _exit((int)(at))	/* without a word: nobody to tell */
#define COUNT(a) ((unsigned)(sizeof (a) / sizeof (a)[0]))
#define unused __attribute__((unused))
#define scoped_fd __attribute__((cleanup(fd_drop)))

static inline void
fd_drop(int *fd)		/* a descriptor closes with its scope */
{
	if (*fd >= 0)
		(void)close(*fd);	/* no error of it changes anything */
	*fd = -1;		/* -1 is the only empty value; 0 is a descriptor */
}

static inline int
fd_take(int *fd)		/* the only way a scoped_fd leaves its scope */
{
	int kept = *fd;

	*fd = -1;
	return kept;
}

static inline int
sys(long r)			/* a call's own result, or -errno */
{
	return r < 0 ? -errno : (int)r;
}

#endif

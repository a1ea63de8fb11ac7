/* A network namespace with nothing but its loopback, and a way to prove it. */
#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "fd.h"
#include "ops.h"

/* 0, or -errno.  netdevice(7); the kernel then adds 127.0.0.1 and ::1. */
int
net_lo_up(void)
{
	struct ifreq q;
	scoped_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memset(&q, 0, sizeof q);
	memcpy(q.ifr_name, "lo", sizeof "lo");
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &q) != 0)
		return -errno;
	q.ifr_flags = (short)(q.ifr_flags | IFF_UP);
	if (ioctl(fd, SIOCSIFFLAGS, &q) != 0)
		return -errno;
	q.ifr_flags = 0;		/* look, not only ask */
	if (ioctl(fd, SIOCGIFFLAGS, &q) != 0)
		return -errno;
	return (q.ifr_flags & IFF_UP) != 0 ? 0 : -ENETDOWN;
}

/*
 * The netlink socket for the client's proof, or -errno.  Opened after the
 * capabilities are gone, so that whoever holds it can ask and change nothing.
 */
int
net_probe(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	return fd < 0 ? -errno : fd;
}

/* A network namespace with nothing but its loopback, and a way to prove it. */
#include "ops.h"
#include "sys.h"

/* 0, or -errno.  netdevice(7); the kernel then adds 127.0.0.1 and ::1. */
int
net_lo_up(struct cell *c)
{
	struct ifreq q = { .ifr_name = "lo" };
	scoped_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)c;
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &q) != 0)
		return -errno;
	q.ifr_flags = (short)(q.ifr_flags | IFF_UP);
	if (ioctl(fd, SIOCSIFFLAGS, &q) != 0 ||
	    ioctl(fd, SIOCGIFFLAGS, &q) != 0)	/* look, not only ask */
		return -errno;
	return (q.ifr_flags & IFF_UP) != 0 ? 0 : -ENETDOWN;
}

/*
 * The netlink socket for the client's proof.  Opened after the capabilities
 * are gone: whoever holds it can ask and change nothing.  0, or -errno.
 */
int
net_probe(struct cell *c)
{
	c->netlink = sys(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
	    NETLINK_ROUTE));
	return c->netlink < 0 ? c->netlink : 0;
}

"""The ways out of a network namespace.  Sends nothing: a connect() of a
datagram socket asks the routing table and no more."""
import fcntl
import os
import socket
import struct
import sys

from attempt import attempt, say, syscall

host_port, *resolvers = sys.argv[1:]


def dump(kind, size):
    """All answers to one rtnetlink(7) question, as (body, attributes)."""
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
    s.send(struct.pack("=IHHII", 16 + size, kind, 0x301, 1, 0) + bytes(size))
    out = []
    while True:
        b = s.recv(1 << 16)
        while b:
            n, t = struct.unpack_from("=IH", b)
            if t == 3:
                return out
            assert t != 2, "netlink error"
            body, a, at = b[16:16 + size], {}, (16 + size + 3) & ~3
            while at + 4 <= n:
                alen, atype = struct.unpack_from("=HH", b, at)
                a[atype & 0x3fff] = b[at + 4:at + alen]
                at += (alen + 3) & ~3
            out.append((body, a))
            b = b[(n + 3) & ~3:]


# Links, by three ways to ask.
links = {a[3].rstrip(b"\0").decode(): struct.unpack_from("=BxHiI", m)
         for m, a in dump(18, 16)}
up = sorted(k for k, v in links.items() if v[3] & 1)
say("links", ",".join(up))
say("links_if_nameindex", ",".join(sorted(n for _, n in socket.if_nameindex()
                                          if n in up)))
with open("/proc/net/dev") as f:
    say("links_proc", ",".join(sorted(n for n in (x.split(":")[0].strip()
                                                  for x in list(f)[2:])
                                      if n in up)))
lo = links["lo"][2]

# Routes: those that do not end here.
UNREACHABLE = (6, 7, 8)
bad = []
for m, a in dump(26, 12):
    oif = struct.unpack("=i", a[4])[0] if 4 in a else None
    if m[7] not in UNREACHABLE and (oif != lo or {5, 9, 18, 30} & a.keys()):
        bad.append("family %d by %s" % (m[0], oif))
say("routes", "leave" if bad else "stay")
say("addresses", ",".join(sorted(
    socket.inet_ntop(m[0], a[1]) for m, a in dump(22, 8)
    if struct.unpack_from("=I", m, 4)[0] == lo)))


# The routing table, asked for one address after another.
def route(ip, scope=0):
    six = ":" in ip
    s = socket.socket(socket.AF_INET6 if six else socket.AF_INET,
                      socket.SOCK_DGRAM)
    if not six:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    s.connect((ip, 53, 0, scope) if six else (ip, 53))


for ip in ("192.0.2.1", "198.51.100.1", "203.0.113.1",      # documentation
           "10.0.0.1", "172.16.0.1", "192.168.0.1",         # private
           "100.64.0.1", "100.100.100.200",                 # shared
           "169.254.169.254", "169.254.170.2",              # metadata
           "255.255.255.255", "224.0.0.251", "240.0.0.1",
           "2001:db8::1", "fd00:ec2::254", "fd00::1", "64:ff9b::c000:201",
           "::ffff:192.0.2.1", *resolvers):
    attempt("route_" + ip, route, ip)
other = [v[2] for k, v in links.items() if k != "lo"]
attempt("route_fe80::1", route, "fe80::1", other[0] if other else 0)
attempt("route_ff02::1", route, "ff02::1", other[0] if other else 0)

# Families and types: which does socket() give?
inet = [socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK]
got = set()
for family in range(0, 64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW,
                 socket.SOCK_SEQPACKET, socket.SOCK_RDM):
        try:
            socket.socket(family, kind, 0).close()
            got.add(family)
        except OSError:
            pass
say("families", "more" if got - set(inet) else "few")
NAMES = {"packet": (17, 3, 0x300), "packet_dgram": (17, 2, 0x300),
         "vsock": (40, 1, 0), "vsock_dgram": (40, 2, 0), "alg": (38, 5, 0),
         "can": (29, 3, 1), "bluetooth": (31, 3, 1), "tipc": (30, 5, 0),
         "xdp": (44, 3, 0), "key": (15, 3, 2), "rds": (21, 5, 0),
         "smc": (43, 1, 0), "kcm": (41, 2, 0), "qipcrtr": (42, 2, 0),
         "raw_icmp": (2, 3, 1), "raw_any": (2, 3, 255), "raw6": (10, 3, 58),
         "ping": (2, 2, 1), "old_packet": (2, 10, 0x300)}
for name, a in NAMES.items():
    attempt("socket_" + name, socket.socket, *a)
for proto in range(1, 32):
    attempt("netlink_%d" % proto, socket.socket, 16, 3, proto)
# The kernel takes 32 bits of each: the upper half must not make a difference.
HIGH = 1 << 32
attempt("high_packet", syscall, 41, 17 | HIGH, 3, 0x300)
attempt("high_packet_type", syscall, 41, 2, 10 | HIGH, 0x300)
attempt("high_netlink", syscall, 41, 16, 3, 16 | HIGH)
attempt("high_vsock", syscall, 41, 40 | HIGH << 1, 1, 0)
attempt("pair_tipc", syscall, 53, 30, 5, 0, bytes(8))

# Changes to what is there.
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ifr = struct.pack("=16s24x", b"lo")
attempt("lo_flags", fcntl.ioctl, u, 0x8914, struct.pack("=16sH22x", b"lo", 73))
attempt("lo_address", fcntl.ioctl, u, 0x8916, struct.pack(
    "=16sHH4s16x", b"lo", 2, 0, socket.inet_aton("127.0.0.1")))
attempt("add_route", fcntl.ioctl, u, 0x890b, bytes(120))
attempt("netns_of_socket", lambda: os.close(fcntl.ioctl(u, 0x894c)))
attempt("to_device", u.setsockopt, socket.SOL_SOCKET, 25, b"eth0\0")
attempt("mark", u.setsockopt, socket.SOL_SOCKET, 36, 1)
attempt("transparent", u.setsockopt, socket.IPPROTO_IP, 19, 1)
attempt("tun", os.open, "/dev/net/tun", os.O_RDWR)
attempt("vsock_device", os.open, "/dev/vsock", os.O_RDONLY)
attempt("sysctl", os.open, "/proc/sys/net/ipv4/ip_forward", os.O_WRONLY)
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.bind((0, 0))


def new_link():
    for kind in b"dummy", b"bridge", b"veth":
        name = b"bailiff0\0"
        attr = struct.pack("=HH9s3x", 4 + len(name), 3, name)
        info = struct.pack("=HH%ds%dx" % (len(kind), -len(kind) % 4),
                           4 + len(kind), 1, kind)
        attr += struct.pack("=HH", 4 + len(info), 18) + info
        s.send(struct.pack("=IHHII", 32 + len(attr), 16, 0x605, 2, 0)
               + bytes(16) + attr)
        err = -struct.unpack_from("=i", s.recv(4096), 16)[0]
        if err != 95:           # this kernel has no such kind
            break
    if err:
        raise OSError(err, "netlink")


attempt("new_link", new_link)


# And what has to work: localhost, in both families.
def local(family, ip, kind):
    a = socket.socket(family, kind)
    a.bind((ip, 0))
    if kind == socket.SOCK_STREAM:
        a.listen(1)
    a.settimeout(5)
    if os.fork() == 0:
        b = socket.socket(family, kind)
        b.connect(a.getsockname())
        b.send(b"hello")
        os._exit(0)
    r = a.accept()[0].recv(9) if kind == socket.SOCK_STREAM else a.recv(9)
    if r != b"hello":
        raise OSError(71, "other bytes")
    os.wait()


for kind, name in ((socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")):
    attempt(name + "4", local, socket.AF_INET, "127.0.0.1", kind)
    attempt(name + "6", local, socket.AF_INET6, "::1", kind)
attempt("localhost", local, socket.AF_INET, "localhost", socket.SOCK_STREAM)
attempt("host_port", socket.create_connection, ("127.0.0.1", host_port), 5)

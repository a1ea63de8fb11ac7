"""Two strangers: one serves on ports and names without a path, the other
visits them, or takes the same ones."""
import os
import select
import socket
import sys

from attempt import attempt, listener, say


def udp(ip):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((ip, 0))
    return s


def serve():
    name = "\0bailiff-selftest-%d" % os.getppid()
    socks = [socket.create_server(("127.0.0.1", 0)),
             socket.create_server(("::1", 0), family=socket.AF_INET6),
             udp("127.0.0.1"), listener(name + "s"),
             listener(name + "d", socket.SOCK_DGRAM),
             listener(name + "q", socket.SOCK_SEQPACKET),
             listener("")]
    say("ready", *[s.getsockname()[1] for s in socks[:3]],
        name[1:], os.fsdecode(socks[6].getsockname())[1:])
    visitors, stay, kept = 0, True, []
    while stay:
        ready = select.select([0, *socks], [], [], 120)[0]
        stay = 0 not in ready and ready
        for s in ready:
            if s != 0:
                visitors += 1
                if s.type == socket.SOCK_DGRAM:
                    s.recv(9)
                else:
                    kept.append(s.accept())
    say("visitors", visitors)


def udp_visit(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    s.connect(("127.0.0.1", port))
    s.send(b"x")
    s.send(b"x")                # the refusal of the first one comes here


def unix(name, kind):
    s = socket.socket(socket.AF_UNIX, kind)
    s.connect("\0" + name)
    s.send(b"x")


def visit(_, port4, port6, port, name, auto):
    attempt("tcp4", socket.create_connection, ("127.0.0.1", port4), 5)
    attempt("tcp6", socket.create_connection, ("::1", port6), 5)
    attempt("udp4", udp_visit, int(port))
    attempt("stream", unix, name + "s", socket.SOCK_STREAM)
    attempt("dgram", unix, name + "d", socket.SOCK_DGRAM)
    attempt("seqpacket", unix, name + "q", socket.SOCK_SEQPACKET)
    attempt("autobound", unix, auto, socket.SOCK_STREAM)
    with open("/proc/net/unix") as f:
        seen = [x.split()[-1] for x in f if "@" in x]
    say("listed", "yes" if "@" + name + "s" in seen else "no")


def take(_, port4, port6, port, name, auto):
    attempt("take_tcp4", lambda: socket.socket().bind(
        ("127.0.0.1", int(port4))))
    attempt("take_tcp6", lambda: socket.socket(socket.AF_INET6).bind(
        ("::1", int(port6))))
    attempt("take_stream", listener, "\0" + name + "s")
    attempt("take_dgram", listener, "\0" + name + "d", socket.SOCK_DGRAM)


if sys.argv[1] == "serve":
    serve()
else:
    {"visit": visit, "take": take}[sys.argv[1]](*sys.argv[2].split())

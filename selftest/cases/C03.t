#!/bin/bash
# C03. Daemons: not by path, by name, by number or by an inherited descriptor.
# More of the kind: a stand-in in each folder that daemons use, by three paths;
# a socket as standard input and output, a connection and a listening socket as
# further descriptors; other processes' descriptors by number and by pidfd;
# twenty variables that name a daemon; every name in the whole tree.
# shellcheck disable=SC2016,SC2086 # inner shells; no blanks
. selftest/payload/cell.sh

# Stand-ins, in each folder where daemons have theirs and that we can write.
folders=("$work/open")
for d in /run /tmp /var/tmp /dev/shm /var/lib "${XDG_RUNTIME_DIR-}"; do
	[ -n "$d" ] && [ -w "$d" ] && f=$(mktemp -d "$d/selftest.XXXXXX") &&
	    chmod 755 "$f" && folders+=("$f")
done
trap 'exec {to}>&-; rm -rf "$work" "${folders[@]}"' EXIT
paths=("${folders[@]/%//s}")
cat >"$work/p/daemon.py" <<'PY'
from attempt import *
import sys
os.umask(0)
s = [listener(x) for x in sys.argv[1:]]
say("ready")
os.read(0, 1)
PY
talk $PY "$work/p/daemon.py" "${paths[@]}"
hear ready
ok $? "stand-ins for daemons" "$work/talk.err"

cell -- $PY /p/daemons.py paths "${paths[@]}" >"$work/in" 2>&1
plain $PY "$work/p/daemons.py" paths "${paths[@]}" >"$work/out" 2>&1
for i in "${!paths[@]}"; do
	d=${folders[i]%/*}
	[ "$i" = 0 ] && d="the caller's folder"
	both path_$i ENOENT ok "in $d"
	both root_$i ENOENT ok "in $d, by /proc/self/root"
	both up_$i ENOENT ok "in $d, from far below"
done
# A read-only mount does not stop a connect: what keeps them out is that
# their folder is not there.
cell --ro-bind "$work/open:/shown" -- $PY /p/daemons.py paths /shown/s \
    >"$work/in" 2>&1
is "$(said in path_0)" ok "control: in a folder that the caller shows"

# Where they usually are; and what may be there under such names is the
# cell's own folder.
usual=(/run/docker.sock /var/run/docker.sock /run/podman/podman.sock
    /run/containerd/containerd.sock /run/crio/crio.sock /run/dbus/system_bus_socket
    /var/run/dbus/system_bus_socket /run/systemd/private /run/systemd/notify
    /run/systemd/journal/socket /run/systemd/journal/stdout
    /run/systemd/journal/dev-log /run/systemd/userdb/io.systemd.DynamicUser
    /run/udev/control /run/nscd/socket /var/run/nscd/socket /run/initctl
    /dev/initctl /dev/log /run/postgresql/.s.PGSQL.5432 /run/mysqld/mysqld.sock
    /run/cups/cups.sock /run/snapd.socket /run/lxd.socket /run/sssd.socket
    /run/gssproxy.sock /run/rpcbind.sock /run/screen /run/tmux
    /run/user/0/bus /run/user/1000/bus /run/user/1000/systemd/private
    /run/user/1000/gnupg/S.gpg-agent /run/user/1000/wayland-0
    /tmp/.X11-unix/X0 /tmp/.ICE-unix /tmp/ssh-agent /var/lib/sss/pipes/nss
    /var/lib/docker /run/bailiff /run/bailiff.sock)
cell -- sh -c 'for f in "$@"; do [ ! -e "$f" ] || echo "$f"; done
    ls -A /run; touch /run/x && echo mine' sh "${usual[@]}" >"$work/in" 2>&1
is "$(cat "$work/in")" mine "${#usual[@]} usual places: none; /run is its own"

# By name: what the caller's environment says of them.
vars=(DOCKER_HOST CONTAINER_HOST SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO
    DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS XDG_RUNTIME_DIR DISPLAY
    WAYLAND_DISPLAY NOTIFY_SOCKET LISTEN_FDS LISTEN_PID JOURNAL_STREAM TMUX STY
    KRB5CCNAME PULSE_SERVER http_proxy BAILIFF_HELPER_SOCKET MODAL_TOKEN_ID)
named=()
for v in "${vars[@]}"; do
	named+=("$v=unix:path=${paths[0]}")
done
env "${named[@]}" "$B" exec --ro-bind "$work/p:/p" -- \
    $PY /p/daemons.py environ >"$work/in" 2>&1
env "${named[@]}" $PY "$work/p/daemons.py" environ >"$work/out" 2>&1
both environ 'HOME,(LANG|LC_CTYPE|LOGNAME|PATH|TMPDIR|USER|,)*' \
    '.*DOCKER_HOST.*SSH_AUTH_SOCK.*' "none is named in its environment"

# By descriptor: each end of a connection, and a listening socket; as the
# three standard streams, and as others.
cat >"$work/p/inherit.py" <<'PY'
import os, socket, subprocess, sys
path, out, how, *argv = sys.argv[1:]
def connected():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s
listening = socket.socket(socket.AF_UNIX)
listening.bind(path + ".2")
listening.listen(4)
listening.setblocking(False)
socket.socket(socket.AF_UNIX).connect(path + ".2")
a, b = socket.socketpair() if how == "streams" else (None, None)
for fd, s in (9, connected()), (8, listening), (7, connected()):
    os.dup2(s.fileno(), fd)
    os.set_inheritable(fd, True)
p = subprocess.Popen(argv, close_fds=False, stdin=b, stdout=b)
if a is None:
    sys.exit(p.wait())
b.close()
a.shutdown(socket.SHUT_WR)
with open(out, "wb") as f:
    while x := a.recv(4096):
        f.write(x)
sys.exit(p.wait())
PY
$PY "$work/p/inherit.py" "${paths[0]}" "$work/in" streams \
    "$B" exec --ro-bind "$work/p:/p" -- $PY /p/daemons.py descriptors $$ 2>&1
rm -f "${paths[0]}.2"
$PY "$work/p/inherit.py" "${paths[0]}" "$work/out" streams \
    $PY "$work/p/daemons.py" descriptors $$ 2>&1
both open '0,1,2' '.*,7,8,9.*' "open in it: its three streams"
both open_sockets 0 '[1-9].*' "none of them is a socket"
both send_9 EBADF 'ok' "a connection that the caller had"
both accept_8 EBADF ok "a listening socket that the caller had"
both peer_0 ENOTSOCK ok "a socket as the caller's standard input"
both peer_1 ENOTSOCK ok "a socket as the caller's standard output"
both others_fds 0 '[1-9].*' "descriptors of any other process"
both others 1 '[2-9]|[1-9].+' "another process at all, but the cell's first"

# By looking at every name that there is.
cell -- $PY /p/daemons.py tree >"$work/in" 2>&1
is "$(said in sockets) $(said in fifos) $(said in blocks)" "0 0 0" \
    "in the whole tree no socket, no named pipe, no block device"
is "$(said in chars)" "/dev/full,/dev/null,/dev/pts/ptmx,/dev/random,/dev/tty,\
/dev/urandom,/dev/zero" "and no device but these"
[ -S "${paths[0]}" ]
ok $? "control: the stand-ins are still there"
done_testing

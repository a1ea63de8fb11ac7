#!/bin/bash
# C01. The network: a loopback that works, and no way off the machine or to
# the machine's own services, whatever the address family.
# More of the kind: all 64 families in five types, and all netlink protocols;
# bits above the 32 that the kernel takes; packet sockets by their old type,
# ping sockets; IPv4 inside IPv6, broadcast, groups, neighbours by link; a link,
# an address, a route of one's own; a socket's namespace as a descriptor, marks,
# foreign sources; the tunnel's and vsock's devices; two cells and one port.
# shellcheck disable=SC2086 # no blanks
. selftest/payload/cell.sh

# A service of this machine, on its loopback.
talk plain $PY "$work/p/meet.py" serve
hear 'ready .*' || { ok 1 "a service outside" "$work/talk.err"; }
read -r _ port _ <<<"$line"
mapfile -t resolvers < <(awk '$1 == "nameserver" && $2 !~ /^127\.|^::1$|%/ {
    print $2 }' /etc/resolv.conf 2>/dev/null | head -n 3)

cell -- $PY /p/net.py "$port" "${resolvers[@]}" >"$work/in" 2>"$work/err"
ok $? "the payload came to its end" "$work/err"

# The control has a second link and routes for everything, and goes nowhere.
cat >"$work/p/linked.sh" <<'SH'
ip link set lo up
ip link add name d0 type dummy || ip link add name d0 type bridge ||
    ip link add name d0 type veth peer name d1 || exit 9
ip link set d0 up
ip addr add 192.0.2.2/24 dev d0
ip route add default via 192.0.2.1
ip -6 addr add 2001:db8::2/64 dev d0 nodad
ip -6 route add default dev d0
exec "$@"
SH
space sh "$work/p/linked.sh" $PY "$work/p/net.py" "$port" "${resolvers[@]}" \
    >"$work/out" 2>"$work/err"
[ -n "$(said out links)" ]
ok $? "the control has namespaces of its own" "$work/err"

both links lo 'd0,.*lo|.*,lo' "links that are up: a loopback alone"
both links_if_nameindex lo '.+,lo' "the same by if_nameindex"
both links_proc lo '.+,lo' "the same by /proc/net/dev"
both addresses '127.0.0.1,::1' '127.0.0.1,::1' "its addresses, both families"
both routes stay leave "no route leaves"
unreach='ENETUNREACH'
for ip in 192.0.2.1 198.51.100.1 203.0.113.1 10.0.0.1 172.16.0.1 192.168.0.1 \
    100.64.0.1 100.100.100.200 169.254.169.254 169.254.170.2 255.255.255.255 \
    224.0.0.251 "${resolvers[@]}"; do
	both "route_$ip" $unreach ok "no route to $ip"
done
both route_240.0.0.1 "$unreach|EINVAL" 'ok' "no route to 240.0.0.1"
for ip in 2001:db8::1 fd00:ec2::254 fd00::1 64:ff9b::c000:201 \
    ::ffff:192.0.2.1; do
	both "route_$ip" $unreach ok "no route to $ip" 'ENETUNREACH|EADDRNOTAVAIL'
done
both route_fe80::1 'EINVAL|ENETUNREACH' ok "no neighbour by a link's address"
both route_ff02::1 'EINVAL|ENETUNREACH|ENODEV' ok "no group of neighbours"

both socket_packet EPERM ok "packet sockets"
both socket_packet_dgram EPERM ok "packet sockets, cooked"
both socket_old_packet EPERM ok "packet sockets by their old type"
both socket_raw_icmp EPERM ok "raw sockets"
both socket_raw_any EPERM ok "raw sockets that make their own header"
both socket_raw6 EPERM ok "raw sockets, IPv6"
both socket_ping 'EACCES|EPERM' 'ok|EACCES' "ping sockets"
# Where this kernel lacks a family, the filter's answer is not the kernel's.
lack='EAFNOSUPPORT|EPROTONOSUPPORT|ESOCKTNOSUPPORT|ENODEV'
for w in vsock vsock_dgram alg can bluetooth tipc xdp key rds smc kcm qipcrtr
do
	both socket_$w EPERM "ok|$lack" "a family that no network namespace \
confines, or no program needs: $w"
done
both families few more "of all 64 families: unix, inet, inet6, netlink"
more=0
for i in {1..31}; do
	[ "$(said in netlink_$i)" = EPERM ] || more=$((more + 1))
done
is $more 0 "of all netlink protocols: route"
both netlink_4 EPERM ok "netlink: sock_diag" EPROTONOSUPPORT
both netlink_16 EPERM ok "netlink: generic"
both netlink_15 EPERM ok "netlink: events of devices"
both high_packet EPERM 'ok' "a family with more than 32 bits"
both high_packet_type EPERM 'ok' "a type with more than 32 bits"
both high_netlink EPERM 'ok' "a protocol with more than 32 bits"
both high_vsock EPERM "ok|$lack" "vsock with more than 32 bits"
both pair_tipc EPERM "ok|$lack" "pairs of another family"

both lo_flags EPERM ok "a link's flags"
both lo_address EPERM ok "a link's address"
both new_link EPERM ok "a new link" ENOTSUP
both netns_of_socket EPERM ok "a socket's namespace as a descriptor" ENOTTY
both mark EPERM ok "marks for the routing"
both transparent EPERM ok "foreign source addresses"
both tun ENOENT 'ok|EBUSY|EBADFD' "a tunnel's device" 'ENOENT|EPERM|ENODEV|EACCES'
both vsock_device ENOENT ok "vsock's device" 'ENOENT|EPERM|ENODEV|EACCES'
both sysctl 'EROFS|EACCES' ok "the network's settings"
both host_port ECONNREFUSED ECONNREFUSED "localhost is not the machine's"
plain $PY "$work/p/meet.py" visit "$line" >"$work/out" 2>&1
is "$(said out tcp4)" ok "control: outside it is"
tell end
hush service

for w in tcp4 tcp6 udp4 udp6 localhost; do
	is "$(said in $w)" ok "between two processes of the cell: $w"
done

# Two cells at the same time, and a port.
meet() {	# FILE COMMAND...: a second one of the same visits the first
	local file=$1
	shift
	talk "$@" serve
	hear 'ready .*'
	"$@" visit "$line" >"$work/$file" 2>&1
	"$@" take "$line" >>"$work/$file" 2>&1
	tell end
	hush "$file"
}
meet in cell -- $PY /p/meet.py
meet out plain $PY "$work/p/meet.py"
for w in tcp4 tcp6; do
	both $w ECONNREFUSED ok "another cell's port: $w"
	both take_$w ok EADDRINUSE "another cell's port is free here: $w"
done
both udp4 ECONNREFUSED ok "another cell's port: udp"
both visitors 0 '[1-9]*' "and nobody came there"
done_testing

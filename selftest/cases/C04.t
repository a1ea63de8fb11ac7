#!/bin/bash
# C04. What is hidden stays hidden: it is not in the cell's tree at all.
# More of the kind: a root of a root, a thread's root, a removed working folder,
# upwards by descriptor; what the caller had open; ten covers, three ways to take
# them away; the disk as a device and by a file's number; six links in a folder
# that is shown; what the host itself covers with a mount; the mount list.
# shellcheck disable=SC2016,SC2086 # inner shells; no blanks
. selftest/payload/cell.sh

# Secrets where a machine has them, readable by everybody.
folders=("$work/open")
for d in "$HOME" /run /tmp /var/tmp /dev/shm /srv /var/lib /opt; do
	[ -w "$d" ] && f=$(mktemp -d "$d/selftest.XXXXXX") &&
	    chmod 755 "$f" && folders+=("$f")
done
trap 'rm -rf "$work" "${folders[@]}"' EXIT
secrets=()
for d in "${folders[@]}"; do
	echo 'do not show this' >"$d/secret" && secrets+=("$d/secret")
done

# --- by path, by /proc, by a link, and upwards ------------------------------
cell -- $PY /p/hidden.py paths "${secrets[@]}" >"$work/in" 2>&1
plain $PY "$work/p/hidden.py" paths "${secrets[@]}" >"$work/out" 2>&1
both path absent found "by its path: ${#secrets[@]} secrets"
both proc_self_root absent found "by /proc/self/root"
both proc_self_cwd absent found "by /proc/self/cwd and upwards"
both proc_task_root absent found "by a thread's root"
both proc_thread absent found "by a root of a root"
both dot_dot absent found "above the root"
both removed_cwd absent 'found|absent' "from a folder that was removed"
both walk_up absent found "upwards by descriptor"
for i in "${!secrets[@]}"; do
	[[ ${secrets[i]} == "$HOME"/* ]] && continue	# often for its owner alone
	both own_link_$i ENOENT ok "by a link of its own: $i"
done
# As the same user as everything else, or as root of a namespace, it is there.
space sh -c '"$@"; exit 0' sh $PY "$work/p/hidden.py" paths "${secrets[@]}" \
    >"$work/out" 2>&1
both proc_1_root absent found "by the root of process 1"
both others_proc absent found "by the folders of other processes"

# --- what the caller had open ------------------------------------------------
(cd "$work/open" && exec 7<. 8<secret &&
    cell -- $PY /p/hidden.py inherited "$work/open/secret") >"$work/in" 2>&1
(cd "$work/open" && exec 7<. 8<secret &&
    $PY "$work/p/hidden.py" inherited /secret) >"$work/out" 2>&1
both cwd absent found "the caller's working folder"
both cwd_file ENOENT ok "a file in it"
both fd_7 EBADF ok "a folder that the caller had open"
both fd_7_up EBADF ok "and the one above it"
both fd_7_proc ENOENT ok "the same by /proc"
both fd_8 EBADF ok "a file that the caller had open"
both fd_8_proc ENOENT ok "the same by /proc"
both dev_fd_8 ENOENT ok "the same by /dev/fd"

# --- taking covers away, or the disk a second time ---------------------------
cell -- $PY /p/hidden.py mounts >"$work/in" 2>&1
space $PY "$work/p/hidden.py" mounts >"$work/out" 2>&1
bad=$(grep -c '^umount_' "$work/in"):$(grep '^umount_' "$work/in" |
    grep -vc ' EPERM$')
is "$bad" 30:0 "unmounting: ten places, three ways"
both umount_/tmp_2 EPERM ok "control: outside it can be done"
for w in bind remount proc tmpfs chroot open_tree open_tree_path fsopen fspick
do
	both $w EPERM ok "mounts: $w" "$([ $root = 1 ] || echo EINVAL)"
done
both mount_setattr EPERM 'ok|EINVAL' "mounts: mount_setattr"
both move EPERM 'ok|EINVAL' "mounts: move"
both move_mount EPERM 'ok|EINVAL|ELOOP' "mounts: move_mount"
both pivot_root EPERM 'ok|EINVAL|EBUSY' "mounts: pivot_root"
both setns EPERM 'ok|EINVAL' "another mount namespace"
both mknod_block EPERM "$([ $root = 1 ] && echo ok || echo 'ok|EPERM')" \
    "the disk as a device"
both mknod_char EPERM "$([ $root = 1 ] && echo ok || echo 'ok|EPERM')" \
    "memory as a device"
both by_handle EPERM ok "a file by its number on the disk" 'EOPNOTSUPP|EPERM'

# --- links in a folder that is shown ------------------------------------------
mkdir -p "$work/show/sub"
ln -s "$work/open/secret" "$work/show/absolute"
ln -s ../open/secret "$work/show/relative"
ln -s ../../../../../../../../../..$work/open/secret "$work/show/far"
ln -s "/proc/self/root$work/open/secret" "$work/show/root"
ln -s "/proc/$$/cwd/README.md" "$work/show/caller"
ln -s "$work/open" "$work/show/sub/folder"
echo 'do not show this' >"$work/show/plain"
roads=()
for f in absolute relative far root caller sub/folder/../secret plain; do
	roads+=("/show/$f")
done
cell --ro-bind "$work/show:/show" -- $PY /p/hidden.py shown "${roads[@]}" \
    "/show/../open/secret" "/show/sub/folder/secret" >"$work/in" 2>&1
roads=("${roads[@]/#/$work}")
(cd "$work" && $PY "$work/p/hidden.py" shown "${roads[@]}") >"$work/out" 2>&1
for f in absolute relative far root; do
	both shown_$f ENOENT ok "a link in a folder that is shown: $f"
done
both shown_caller ENOENT '.*' "a link to the caller's process"
both shown_secret ENOENT 'ok|ENOENT' "a link to a folder, and on from there"
both shown_plain ok ok "control: a file of its own in there"

# --- what the host covers with a mount ----------------------------------------
# Under a mount in /usr there is something else; a copy of /usr without its
# mounts would show it.
cat >"$work/p/covered.sh" <<'SH'
mount -t tmpfs none /usr/src && echo cover >/usr/src/cover || exit 9
mkdir "$1/u" && mount --bind /usr "$1/u" || exit 9
ls "$1/u/src" >"$1/below"	# a copy without its mounts
exec "$2" exec -- ls /usr/src
SH
if [ -d /usr/src ]; then
	touch "$work/below"
	got=$(unshare -m --propagation private -- sh "$work/p/covered.sh" \
	    "$work" "$B" 2>"$work/err")
	if [ $root = 1 ]; then
		is "$got" cover "a mount of the host's over a folder of /usr"
		[ "$(cat "$work/below")" != cover ]
		ok $? "control: without its mounts the folder is another"
	else
		skip "a mount of the host's over a folder of /usr" "needs root"
	fi
else
	skip "a mount of the host's over a folder of /usr" "there is no /usr/src"
fi

# --- a walk over the names that a host has -------------------------------------
absent=(/root /srv /boot /sys /mnt /media /opt /lost+found
    /snap /nix /etc/shadow /etc/shadow- /etc/gshadow /etc/sudoers
    /etc/ssh /etc/crontab /etc/fstab /etc/machine-id /etc/bailiff
    /etc/ssl/private /etc/environment /etc/krb5.keytab /etc/docker /etc/pam.d
    /etc/security /etc/systemd /etc/apt /etc/NetworkManager /etc/wireguard
    /etc/passwd- /etc/subuid /etc/init.d /etc/default /etc/kubernetes
    /var/lib /var/log /var/cache /var/spool /var/mail /var/backups /var/lock
    /var/local /run/lock /run/user /run/secrets /run/systemd /run/utmp
    /var/run/secrets /.dockerenv /dev/kmsg /dev/mem /dev/kvm /dev/fuse
    /dev/mqueue /dev/net /dev/vda /dev/sda /dev/nvme0n1 /dev/loop0 /dev/disk
    /dev/dm-0 /dev/mapper /dev/console /dev/tty0 /dev/vcs /dev/hwrng
    /dev/userfaultfd /dev/vsock /dev/input /dev/dri /dev/snd /dev/uinput
    /dev/cpu /dev/port /dev/rtc0 /dev/bus /dev/hugepages)
for f in /* /home/*; do
	case $f in
	/bin | /dev | /etc | /home | /lib* | /proc | /run | /sbin | /tmp | /usr | \
	    /var | /work | "/home/*") ;;
	*) absent+=("$f") ;;
	esac
done
cell -- sh -c 'for f in "$@"; do [ ! -e "$f" ] && [ ! -L "$f" ] ||
    echo "$f"; done' sh "${absent[@]}" >"$work/in" 2>&1
is "$(cat "$work/in")" "" "${#absent[@]} names of the machine's"
has=0
for f in "${absent[@]}"; do
	[ -e "$f" ] && has=$((has + 1))
done
[ $has -gt 10 ]
ok $? "control: the machine has $has of them"
is "$(cell -- sh -c 'cat /etc/shadow /etc/passwd | grep -c "[$]"' 2>/dev/null)" 0 \
    "no password in any file of users"
got=$(cell -- sh -c 'ls /home; ls -A /home/*; ls -A /var /tmp /var/tmp /work \
    /dev/shm | tr -s "\n" " "')
is "$got" "answer
/dev/shm: /tmp: /var: run tmp /var/tmp: /work: " "its own folders are empty"
got=$(cell -- sh -c 'ls -id / /.. /../.. /proc/self/root/. /proc/1/cwd/. 2>&1 |
    sed "s/^ *//; s/ .*//" | sort | uniq -c | tr -s " \n" " "')
like "$got" ' 4 [0-9]+ 1 ls: ' "there is nothing above the root"

# The mount list tells what is shown, and of the host no more than that.
got=$(cell -- cat /proc/self/mountinfo)
for d in "${folders[@]}"; do
	[[ $got == *"$d"* ]] && echo "# $d"
done >"$work/in"
[ ! -s "$work/in" ]
ok $? "none of the secrets' folders is in the mount list" "$work/in"
rw=$(awk '$6 ~ /^rw/ { print $5 }' <<<"$got" | sort | tr '\n' ' ')
is "$rw" "/dev/pts /dev/shm /home/answer /proc /run /tmp /var/tmp /work " \
    "what can be written is the cell's own"
# Writing to what is shown, by each way to ask for it.
cat >"$work/p/write.py" <<'PY'
from attempt import *
for name, f in {
        "open": lambda: os.open("/usr/bin/env", os.O_WRONLY),
        "create": lambda: os.open("/usr/x", os.O_CREAT | os.O_WRONLY),
        "truncate": lambda: os.truncate("/usr/bin/env", 0),
        "unlink": lambda: os.unlink("/etc/hosts"),
        "rename": lambda: os.rename("/usr/bin/env", "/usr/bin/env2"),
        "link": lambda: os.link("/usr/bin/env", "/tmp/env"),
        "chmod": lambda: os.chmod("/usr/bin/env", 0o777),
        "chown": lambda: os.chown("/work", 0, 0),
        "times": lambda: os.utime("/usr/bin/env"),
        "xattr": lambda: os.setxattr("/usr/bin/env", "user.x", b"y"),
        "mkdir": lambda: os.mkdir("/x"),
        "socket": lambda: listener("/usr/s"),
        "sysctl": lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY),
        "sysrq": lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY),
        "keys": lambda: os.open("/proc/keys", os.O_RDONLY),
        "kcore": lambda: os.open("/proc/kcore", os.O_RDONLY),
        "kallsyms": lambda: os.open("/proc/kallsyms", os.O_RDONLY),
        "covered": lambda: os.open("/.covered", os.O_RDONLY)}.items():
    attempt(name, f)
PY
cell -- $PY /p/write.py >"$work/in" 2>&1
is "$(wc -l <"$work/in"):$(grep -vcE ' (EROFS|EACCES|EPERM|EXDEV|ENOENT)$' \
    "$work/in")" 18:0 "changing what is shown, in 18 ways"
done_testing

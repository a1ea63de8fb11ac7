# What a cell looks like from inside.  Numbers that are of this one alone are
# taken out.
# shellcheck shell=sh
grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs|Seccomp):' /proc/self/status
sed -E 's/^[0-9]+ [0-9]+ [0-9]+:[0-9]+ //' /proc/self/mountinfo
for f in /proc/keys /proc/kcore /proc/kallsyms /proc/timer_list; do
	head -c 1 $f >/dev/null 2>&1 && echo "can read $f"
done
for f in /proc/sys/kernel/hostname /proc/sysrq-trigger /usr/x /etc/x /x; do
	(: >$f) 2>/dev/null && echo "can write $f"
done
for d in / /dev /etc /home /run /tmp /work /var /sys /proc/1/root; do
	stat -c '%n %a %u %g' $d
	ls -A $d 2>&1 | grep -vE '^[0-9]+$'
done
ls -l /proc/self/fd | sed -nE 's/^(\S+) .* ([0-9]+) -> .*/\1 \2/p'
uname -n
tail -n +3 /proc/net/dev | cut -d: -f1
cut -d' ' -f1-4 /proc/net/route
for w in "unshare -Ur true" "unshare -m true" "mount -t tmpfs t /tmp" \
    "chroot / true" "hostname x" "kill -0 1"; do
	$w >/dev/null 2>&1 && echo "can $w"
done
ulimit -a
umask
pwd

/* What a cell's file tree is made of: const, so that it can be read whole. */
#include "view_table.h"

#include <stddef.h>

#define COUNT(a) (sizeof (a) / sizeof (a)[0])

/* Programs, and of /etc what ordinary programs of a distribution read. */
const char *const view_shown[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc/alternatives", "/etc/ca-certificates", "/etc/debian_version",
	"/etc/fonts", "/etc/gitconfig", "/etc/java-11-openjdk",
	"/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/ld.so.cache",
	"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
	"/etc/magic", "/etc/mime.types", "/etc/os-release", "/etc/perl",
	"/etc/pki/tls/certs", "/etc/protocols", "/etc/python3",
	"/etc/python3.11", "/etc/services", "/etc/ssl/certs",
	"/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone",
	NULL
};

const struct view_private view_private[] = {
	{ "/tmp", 01777, 0 },
	{ "/var/tmp", 01777, 0 },
	{ "/run", 0755, 1 },
	{ "/work", 0755, 1 },
	{ NULL, 0700, 1 },
};
const unsigned view_nprivate = COUNT(view_private);

const struct view_dev view_devs[] = {
	{ "/dev/null", 1, 3 }, { "/dev/zero", 1, 5 }, { "/dev/full", 1, 7 },
	{ "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
};
const unsigned view_ndevs = COUNT(view_devs);

const struct view_link view_links[] = {
	{ "/dev/fd", "/proc/self/fd" },
	{ "/dev/stdin", "/proc/self/fd/0" },
	{ "/dev/stdout", "/proc/self/fd/1" },
	{ "/dev/stderr", "/proc/self/fd/2" },
	{ "/dev/ptmx", "pts/ptmx" },
	{ "/etc/mtab", "/proc/self/mounts" },
	{ "/var/run", "/run" },
	{ "/var/lock", "/run/lock" },
};
const unsigned view_nlinks = COUNT(view_links);

const struct view_mask view_masks[] = {
	{ "sys", 0 }, { "irq", 0 }, { "bus", 0 }, { "sysrq-trigger", 0 },
	{ "keys", 1 }, { "kcore", 1 }, { "kallsyms", 1 }, { "timer_list", 1 },
};
const unsigned view_nmasks = COUNT(view_masks);

const char *const view_kept[] = {
	"/proc", "/dev", "/sys", "/tmp", "/var/tmp", "/run", "/work",
	"/home/judge", "/home/answer", "/home/agent", "/home/verifier",
	"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname",
	"/etc/nsswitch.conf", "/etc/resolv.conf",
	NULL
};

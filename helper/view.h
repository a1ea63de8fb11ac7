/* What a cell's file tree is made of: const, so that it can be read whole. */
#ifndef BL_HELPER_VIEW_H
#define BL_HELPER_VIEW_H

#include <linux/mount.h>

/*
 * LINK, FILE: to, or of, text; NODE: a character device; DIR: a folder of
 * root's; OPEN: the same, as a writable window into the root's tmpfs; OWN: the
 * same again, and the role's; FS: a new file system of type text, with opts;
 * LOCK: what is there, read-only, less the mount attribute mode;
 * COVER: what is there, covered by a file that nobody can read.
 */
enum view_kind { VIEW_LINK, VIEW_FILE, VIEW_NODE, VIEW_DIR, VIEW_OPEN,
    VIEW_OWN, VIEW_FS, VIEW_LOCK, VIEW_COVER };

struct view_row {
	enum view_kind kind;
	const char *path;	/* ~: the role's name */
	const char *text, *opts[3][2];
	unsigned mode, major, minor;
};

#define LINK(p, to)	{ .kind = VIEW_LINK, .path = p, .text = to }
#define TEXT(p, m, t)	{ .kind = VIEW_FILE, .path = p, .mode = m, .text = t }
#define NODE(p, a, b)	{ .kind = VIEW_NODE, .path = p, .major = a, .minor = b }
#define KIND(k, p, m)	{ .kind = VIEW_##k, .path = p, .mode = m }
#define FS(p, t, ...) { .kind = VIEW_FS, .path = p, .text = t, __VA_ARGS__ }

/* In the order in which they are put there. */
static const struct view_row rows[] = {
	/* its own names; passwd and group are in etc.c */
	TEXT("/etc/hosts", 0444, "127.0.0.1\tlocalhost cell\n"
	    "::1\tlocalhost cell\n"),
	TEXT("/etc/hostname", 0444, "cell\n"),
	LINK("/etc/resolv.conf", "/run/resolv.conf"),	/* the role's to have */
	TEXT("/etc/nsswitch.conf", 0444, "passwd: files\ngroup: files\n"
	    "hosts: files dns\nservices: files\nprotocols: files\n"),
	LINK("/etc/mtab", "/proc/self/mounts"), LINK("/var/run", "/run"),
	/* devices */
	NODE("/dev/null", 1, 3), NODE("/dev/zero", 1, 5),
	NODE("/dev/full", 1, 7), NODE("/dev/random", 1, 8),
	NODE("/dev/urandom", 1, 9), NODE("/dev/tty", 5, 0),
	LINK("/dev/fd", "/proc/self/fd"), LINK("/dev/ptmx", "pts/ptmx"),
	LINK("/dev/stdin", "/proc/self/fd/0"),
	LINK("/dev/stdout", "/proc/self/fd/1"),
	LINK("/dev/stderr", "/proc/self/fd/2"),
	KIND(DIR, "/dev/pts", 0755), KIND(DIR, "/dev/shm", 01777),
	KIND(LOCK, "/dev", MOUNT_ATTR_NODEV),
	FS("/dev/pts", "devpts", .opts = { { "ptmxmode", "0666" }, { "max", "64" } }),
	KIND(OPEN, "/dev/shm", 01777),
	/* its own processes; uid 0 without capabilities may write sysctls */
	KIND(DIR, "/proc", 0555), FS("/proc", "proc", .opts = { { "hidepid", "2" } }),
	KIND(LOCK, "/proc/sys", 0), KIND(LOCK, "/proc/irq", 0),
	KIND(LOCK, "/proc/bus", 0), KIND(LOCK, "/proc/sysrq-trigger", 0),
	TEXT("/.covered", 0, ""),
	KIND(COVER, "/proc/locks", 0), KIND(COVER, "/proc/key-users", 0),
	KIND(COVER, "/proc/keys", 0), KIND(COVER, "/proc/kcore", 0),
	KIND(COVER, "/proc/kallsyms", 0), KIND(COVER, "/proc/timer_list", 0),
	/* places to write */
	KIND(OPEN, "/tmp", 01777), KIND(OPEN, "/var/tmp", 01777),
	KIND(OWN, "/run", 0755), KIND(OWN, "/work", 0755),
	KIND(OWN, "/home/~", 0700),
};

#endif

/* What doctor reads: status, mountinfo, capabilities, ranges, and the like. */
#include <linux/capability.h>
#include <stdlib.h>

#include "../client/doctor_read.h"
#include "tap.h"

#define AS_INT(b)	((b) ? 1 : 0)

static void
test_status(void)
{
	struct read_status s;
	static const char text[] = "Name:\tx\nCapPrm:\t00000000000000ff\n"
	    "CapBnd:\t000001fffeffffff\nNoNewPrivs:\t1\nSeccomp:\t2\n"
	    "Seccomp_filters:\t1\n";

	is(read_status(text, &s), 0, "a status");
	is(s.no_new_privs, 1, "no_new_privs");
	is(s.seccomp, 2, "seccomp, and not the number of filters");
	is(s.cap_prm, 0xff, "permitted");
	is(s.cap_bnd, 0x1fffeffffffLL, "bounding");
	is(read_status("CapPrm:\t1\nCapBnd:\t1\nNoNewPrivs:\t0\n", &s), 0,
	    "a kernel without filters");
	is(s.seccomp, 0, "has none");
	is(read_status("CapPrm:\t1\nNoNewPrivs:\t0\n", &s), -1,
	    "no bounding set");
	is(read_status("", &s), -1, "nothing");
	is(read_status("XCapPrm:\t1\nCapBnd:\t1\nNoNewPrivs:\t0\n", &s), -1,
	    "a name is a whole one");
	/* a program's name can be anything, but a line of its own */
	is(read_status("Name:\tNoNewPrivs:1\nCapPrm:\t1\nCapBnd:\t1\n"
	    "NoNewPrivs:\t0\n", &s), 0, "a name that looks like a line");
	is(s.no_new_privs, 0, "is none");
}

static void
test_mounts(void)
{
	static const char text[] =
	    "22 27 0:21 / /proc rw,relatime - proc proc rw,hidepid=2\n"
	    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
	    "31 27 0:9 /a\\040b /mnt/x\\040y\\134z rw,nosuid shared:3 "
	    "master:1 - tmpfs none rw,size=4k\n"
	    "garbage\n"
	    "32 27 0:9 / /late rw,noexec - tmpfs none rw";
	const char *p = text;
	struct read_mount m;

	is(AS_INT(read_mount(&p, &m)), 1, "first line");
	is_str(m.point, "/proc", "its point");
	is_str(m.type, "proc", "its type");
	is_str(m.super, "rw,hidepid=2", "its file system's options");
	is(m.id, 22, "its number");
	is(m.parent, 27, "and what it is mounted on");
	is(AS_INT(read_mount(&p, &m)), 1, "second");
	is(AS_INT(read_mount(&p, &m)), 1, "third");
	is_str(m.point, "/mnt/x y\\z", "escapes are undone");
	is_str(m.root, "/a b", "everywhere");
	is_str(m.opts, "rw,nosuid", "options of the mount");
	is_str(m.super, "rw,size=4k", "behind tags of propagation");
	is(AS_INT(read_mount(&p, &m)), 1, "a line that is none");
	is_str(m.point, "", "says nothing");
	is(AS_INT(read_mount(&p, &m)), 1, "one without its end");
	is_str(m.point, "/late", "counts");
	is(AS_INT(read_mount(&p, &m)), 0, "and no more");
	is(AS_INT(read_mount_id(text, 31, &m)), 1, "by number");
	is_str(m.type, "tmpfs", "the right one");
	is(AS_INT(read_mount_id(text, 33, &m)), 0, "a number that is not there");
	is(AS_INT(read_mount_id(text, 0, &m)), 0, "not even that of no line");
	is(AS_INT(read_option("rw,nosuid,nodev", "nosuid")), 1, "an option");
	is(AS_INT(read_option("rw,nosuid", "suid")), 0, "is a whole word");
	is(AS_INT(read_option("", "rw")), 0, "none");
	is(AS_INT(read_option("a,b,rw", "rw")), 1, "the last");
}

static void
test_caps(void)
{
	/* cap_setuid,cap_sys_admin+ep, then with the owner of a namespace */
	unsigned char v2[20] = { 1, 0, 0, 2, 0x80, 0, 0x20, 0 };
	unsigned char v3[24] = { 0, 0, 0, 3, 0x80, 0, 0x20, 0, 0, 0, 0, 0,
	    1, 0, 0, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0 };
	struct read_caps c;
	char text[256];

	is(read_caps(v2, sizeof v2, &c), 0, "version 2");
	is(c.permitted, 1LL << CAP_SETUID | 1LL << CAP_SYS_ADMIN, "its set");
	is(c.effective, 1, "effective");
	is(c.version, 2, "its number");
	is(read_caps(v3, sizeof v3, &c), 0, "version 3");
	is(c.permitted, 1LL << 32 | 1LL << CAP_SETUID | 1LL << CAP_SYS_ADMIN,
	    "both words of its set");
	is(c.effective, 0, "not effective");
	is(c.root, 1000, "whose");
	is(read_caps(v2, 19, &c), -1, "too short");
	is(read_caps(v3, 20, &c), -1, "of the other's length");
	is(read_caps("", 0, &c), -1, "nothing");
	v2[3] = 1;
	is(read_caps(v2, 12, &c), 0, "version 1");
	is(c.permitted, 1LL << CAP_SETUID | 1LL << CAP_SYS_ADMIN, "its set");
	v2[3] = 4;
	is(read_caps(v2, sizeof v2, &c), -1, "a version to come");
	read_caps_words(1ULL << CAP_KILL | 1ULL << CAP_MKNOD | 1ULL << CAP_BPF,
	    "cap_", ",", false, text, sizeof text);
	is_str(text, "cap_kill,cap_mknod", "names of what is needed alone");
	read_caps_words(1ULL << CAP_KILL | 1ULL << CAP_MKNOD, "--cap-add=", " ",
	    true, text, sizeof text);
	is_str(text, "--cap-add=KILL --cap-add=MKNOD", "large ones");
	read_caps_words(0, "x", ",", false, text, sizeof text);
	is_str(text, "", "none");
	read_caps_words(read_caps_needed, "cap_", ",", false, text, 12);
	is(strlen(text) < 12, 1, "cut, not run over");
	is(read_caps_needed, 1LL << CAP_CHOWN | 1LL << CAP_KILL |
	    1LL << CAP_SETGID | 1LL << CAP_SETUID | 1LL << CAP_SETPCAP |
	    1LL << CAP_NET_ADMIN | 1LL << CAP_SYS_ADMIN | 1LL << CAP_MKNOD,
	    "as helper/seal.c has them");
	read_caps_words(read_caps_file, "cap_", ",", false, text, sizeof text);
	is_str(text, "cap_setuid,cap_setgid,cap_kill,cap_sys_admin,"
	    "cap_net_admin,cap_mknod,cap_chown,cap_setpcap,cap_sys_resource,"
	    "cap_sys_nice", "what a file is given, as the Makefile has it");
}

static void
test_users(void)
{
	is(AS_INT(read_map_whole("         0          0 4294967295\n")), 1,
	    "the whole map");
	is(AS_INT(read_map_whole("         0       1000          1\n")), 0, "one user");
	is(AS_INT(read_map_whole("0 0 4294967295\n4294967295 1 1\n")), 0,
	    "more than the whole");
	is(AS_INT(read_map_whole("0 1 4294967295\n")), 0, "shifted");
	is(AS_INT(read_map_whole("")), 0, "not set yet");
}

static void
test_kernel(void)
{
	unsigned major, minor;

	is(read_core("core\n") + 0, CORE_FILE, "a file");
	is(read_core("/var/%p\n") + 0, CORE_FILE, "with a path");
	is(read_core("|/usr/lib/x %P\n") + 0, CORE_PIPE, "a pipe");
	is(read_core("@/run/x\n") + 0, CORE_SOCKET, "a socket");
	is(read_core("@@/run/x\n") + 0, CORE_SOCKET, "one that is asked first");
	is(read_core("") + 0, CORE_FILE, "nothing");
	is(read_release("6.18.44-x", &major, &minor), 0, "a release");
	is(major * 100 + minor, 618, "its numbers");
	is(read_release("x", &major, &minor), -1, "none");
	is(AS_INT(read_has_line("nodev\ttmpfs\n\text4\n", "tmpfs")), 1, "a line's end");
	is(AS_INT(read_has_line("nodev\ttmpfs\n\text4", "ext4")), 1, "the last");
	is(AS_INT(read_has_line("nodev\tdevtmpfs\n", "tmpfs")), 0, "a whole word");
	is(AS_INT(read_has_line("proc\n", "proc")), 1, "alone");
}

int
main(void)
{
	test_status();
	test_mounts();
	test_caps();
	test_users();
	test_kernel();
	return done();
}

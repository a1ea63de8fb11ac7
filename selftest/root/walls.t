#!/usr/bin/perl
# bailiff selftest sees each wall that is missing.  The helper is built again
# and again from a copy of the sources, each time with one wall taken away by
# the substitutions that are listed here, and selftest has to name exactly what
# is then open.  Where the client itself refuses such a cell, it has to say so.
#
# Each run is in namespaces of its own: some of these helpers kill whatever
# they see, name the machine, or change the root of everything around them.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Test::More;

my $build = $ENV{BUILD} // 'build/release';
my $variant = basename($build);
my $bailiff;
my $WORKERS = 2;
my $SECONDS = 60;		# for one run

if (!$ENV{BL_WALLS}) {		# all in a mount namespace, once
	if (system('unshare -m -u -p -f --mount-proc true 2>/dev/null') != 0) {
		print "1..0 # SKIP no namespaces can be made here\n";
		exit 0;
	}
	$ENV{BL_WALLS} = tempdir('/var/lib/bailiff-test.XXXXXX', CLEANUP => 1);
	chmod 0755, $ENV{BL_WALLS};
	my $st = system('unshare', '-m', '-u', '-i', '--propagation', 'private', $0,
	    @ARGV);
	exit($st == 0 ? 0 : 1);
}
my $top = $ENV{BL_WALLS};
# a checkout in /tmp stays in sight
mkdir "$top/src";
system('mount', '--rbind', '.', "$top/src") == 0 && chdir "$top/src" or
    die "no other name for this folder: $?\n";
$bailiff = abs_path("$build/bailiff");
# neither the machine's locks and rules nor its /tmp
for my $dir ('/run', '/tmp', grep { -d } '/etc/bailiff') {
	next if system('mount', '-t', 'tmpfs', '-o',
	    $dir eq '/tmp' ? 'mode=1777' : 'mode=0755', 'tmpfs', $dir) == 0;
	print "1..0 # SKIP no tmpfs can be mounted here\n";
	exit 0;
}
delete @ENV{qw(BAILIFF_SOCKET DAYTONA_API_KEY MAKEFLAGS MFLAGS MAKELEVEL)};
$ENV{HOME} = '/root';
$ENV{XDG_CONFIG_HOME} = '/none';

# --- what is taken away -----------------------------------------------------

# Lines of the filter that are each a wall's.
sub line {
	my ($wall, $line, @more) = @_;
	return { name => "filter: no line for $wall",
	    edit => ['policy/roles.def', "$line\n", "\n"],
	    open => [$wall, @more] };
}
my @calls = qw(call_mount call_namespace user_namespace call_process call_keys
    call_uring call_kernel call_files call_setid call_machine call_clock
    call_socket call_terminal call_foreign);
my $ambient = q{	{
		struct __user_cap_header_struct h = {
		    _LINUX_CAPABILITY_VERSION_3, 0 };
		struct __user_cap_data_struct d[2];

		if (syscall(SYS_capget, &h, d) == 0) {
			d[0].inheritable = d[0].effective = d[0].permitted;
			(void)syscall(SYS_capset, &h, d);
		}
		/* SYS_ADMIN would set a fork bomb free */
		for (i = 0; i < 40; i++)
			(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE,
			    i == CAP_SYS_ADMIN ? 0 : i, 0, 0);
	}
};
my @keep = (
    ['helper/seal.c', "		if (cap_drop_bound(helper_caps[i]) != 0)\n" .
	"			return -errno;", "		(void)cap_drop_bound;"],
    ['helper/spawn.c', "	    setresuid(id, id, id) != 0 || getresuid",
	"	    prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 ||\n" .
	"	    setresuid(id, id, id) != 0 || getresuid"],
    ['helper/spec.c', "	r = exec_along(path);",
	"$ambient	r = exec_along(path);"]);
my @no_proof = (['client/netproof.c', "	r = dump_all(s, &p);\n	(void)",
	"	r = dump_all(s, &p);\n	p.has4 = p.has6 = p.lo = 1;\n" .
	"	p.bad[0] = 0;\n	r = 0;\n	(void)"]);
my @host_net = (['helper/op_cell.c',
	"!host && syscall(SYS_unshare, CLONE_NEWNET) != 0 ?", "host < 0 ?"],
    ['helper/cell.c', "return net < 0 ? net : sys(syscall(SYS_setns, net, " .
	"CLONE_NEWNET));", "return net < 0 ? net : 0;"]);
my @lo_down = (['helper/op_cell.c',
	"(!host && ioctl(fd, SIOCSIFFLAGS, &q) != 0) ||", "q.ifr_flags == 0 ||"]);

# One folder more, which no rules can ask for.
sub shown {
	my $end = "\n}\n\nint\nview_places(";
	return ['helper/view.c', "	return 0;$end",
	    "	return show(c->root, \"$_[0]\");$end"];
}

sub limit {
	my ($wall, $row) = @_;
	return { name => "limits: no $wall",
	    edit => ['helper/spec.c', "		{ $row },\n", ""],
	    open => [$wall] };
}

my @all = (
    { name => 'nothing', open => [] },

    # --- who it is
    { name => 'its groups are kept',
      edits => [
	['helper/spawn.c', "setgroups(0, NULL) != 0 || setresgid(id",
	    "setgroups(1, (gid_t[]){ 4 }) != 0 || setresgid(id"],
	['helper/spawn.c', " ||\n	    getgroups(0, NULL) != 0;", ";"]],
      open => ['groups'] },
    { name => 'it stays root, if without rights',
      edits => [['helper/spawn.c', "		ids_become(l->cell->uid);\n",
	    "		(void)ids_become;\n"],
	['helper/view.c', "w->kind == VIEW_OWN ? c->uid : 0;",
	    "w->kind == VIEW_OWN ? 0 : 0;"]],
      open => [qw(user become processes limit_processes other_user)] },
    { name => 'both cells have one user',
      edit => ['helper/op_cell.c', "c.uid = l->slot;",
	    "c.uid = s->live[0].slot;"],
      open => ['other_user'] },
    { name => 'a capability stays in the bounding set',
      edit => ['helper/seal.c', "i < NHELPER; i++)\n		if (cap_drop_bound(h",
	    "i < NHELPER - 1; i++)\n		if (cap_drop_bound(h"],
      open => ['bounding'] },
    { name => "init's capabilities come along", edits => \@keep,
      open => [qw(become capabilities bounding)] },
    { name => "the helper's capabilities come along",
      edits => [@keep, ['helper/seal.c', 'NINIT = 3', 'NINIT = NHELPER']],
      open => [qw(become capabilities bounding nodev network_change)] },
    { name => 'rights can be gained',
      edits => [
	['helper/cell.c', "	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||\n",
	    ""],
	['helper/cell.c', ", { BL_AT_FILTER, cell_filter },\n", ",\n"],
	['helper/cell.c', "{ BL_AT_CAPS, seal_init },",
	    "{ BL_AT_FILTER, cell_filter }, { BL_AT_CAPS, seal_init },"]],
      open => ['no_new_privs'] },

    # --- system calls
    { name => 'no filter',
      edit => ['helper/cell.c',
	    "syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0",
	    "p.len == 0"],
      open => ['filter', 'key', @calls] },
    line('call_mount', 'DENY(ALL, mount, EPERM)'),
    line('call_namespace', 'DENY(ALL, setns, EPERM)'),
    line('user_namespace', 'DENY_IF(ALL, unshare, EPERM, HAS(0, CLONE_NEWUSER))',
	'call_namespace'),
    line('call_process', 'DENY(ALL, process_vm_readv, EPERM)'),
    line('call_keys', 'DENY(ALL, keyctl, EPERM)', 'key'),
    line('call_uring', 'DENY(ALL, io_uring_setup, ENOSYS)'),
    line('call_kernel', 'DENY(ALL, bpf, EPERM)'),
    line('call_files', 'DENY(ALL, openat2, ENOSYS)'),
    line('call_setid', 'DENY_IF(ALL, fchmodat, EPERM, HAS(2, S_ISGID))'),
    line('call_machine', 'DENY(ALL, ioperm, EPERM)'),
    line('call_clock', 'DENY(ALL, clock_settime, EPERM)'),
    line('call_socket',
	'DENY_IF(ALL, socket, EPERM, ABOVE(0, AF_NETLINK))'),
    line('call_terminal', 'DENY_IF(ALL, ioctl, EPERM, LOW(1, TIOCSTI))'),
    { name => "filter: other tables' numbers",
      edit => ['policy/filterc.c', "SCMP_FLTATR_ACT_BADARCH,\n		    " .
	    "SCMP_ACT_ERRNO(ENOSYS)", "SCMP_FLTATR_ACT_BADARCH,\n		    " .
	    "SCMP_ACT_ALLOW"],
      open => ['call_foreign'] },

    # --- files
    { name => "the host's root stays below its own",
      edit => ['helper/view.c', "syscall(SYS_umount2, \".\", DETACH) != 0 || ",
	    ""],
      open => [qw(root read_only nosuid nodev host_files)] },
    { name => 'its root can be written to',
      edit => ['helper/view.c',
	    "set_attr(c->root, MOUNT_ATTR_RDONLY, 0, 0) != 0 ||",
	    "set_attr(c->root, 0, 0, 0) != 0 ||"],
      open => ['read_only'] },
    { name => "the host's folders can be written to",
      edit => ['helper/view.c', "SHOWN = GUARD | MOUNT_ATTR_RDONLY",
	    "SHOWN = GUARD"],
      open => ['read_only'] },
    { name => 'mounts give set-user-id rights',
      edit => ['helper/view.c', "GUARD = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV",
	    "GUARD = MOUNT_ATTR_NODEV"],
      open => ['nosuid'] },
    { name => 'mounts give devices',
      edit => ['helper/view.c', "GUARD = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV",
	    "GUARD = MOUNT_ATTR_NOSUID"],
      open => ['nodev'] },
    { name => "the host's /tmp is its own",
      edits => [shown('/tmp'),
	['helper/view.h', "KIND(OPEN, \"/tmp\", 01777), ", ""]],
      open => ['host_files', 'path_socket'] },
    { name => "the caller's home is shown",
      edit => shown('/root'),
      open => ['home', 'host_tree'] },
    { name => "the host's /var/lib is shown",
      edit => shown('/var/lib'),
      open => ['host_tree'] },
    { name => 'all cells have one /work',
      edit => ['helper/view.c', "		return clone_of(dir, name, GUARD,\n",
	    "		return strcmp(w->path, \"/work\") == 0 ?\n" .
	    "		    clone_of(AT_FDCWD, \"/tmp\", GUARD, 0) :\n" .
	    "		    clone_of(dir, name, GUARD,\n"],
      open => ['other_files', 'other_sockets'] },
    { name => 'its home is open to others',
      edit => ['helper/view.h', 'KIND(OWN, "/home/~", 0700)',
	    'KIND(OWN, "/home/~", 0755)'],
      open => ['home'] },
    { name => "the kernel's settings can be written to",
      edit => ['helper/view.h', 'KIND(LOCK, "/proc/sys", 0), ', ''],
      open => ['proc_sys'] },
    { name => 'a file in /proc is not covered',
      edit => ['helper/view.h', 'KIND(COVER, "/proc/kallsyms", 0), ', ''],
      open => ['proc_covered'] },
    { name => '/proc shows all processes',
      edit => ['helper/view.h', '{ "hidepid", "2" }', '{ "hidepid", "0" }'],
      open => ['processes'] },

    # --- namespaces
    { name => "the helper's mounts",
      edit => ['helper/op_cell.c', "NAMESPACES = CLONE_NEWNS | ",
	    "NAMESPACES = "],
      refused => 'file_step', missing => ['ns_mount'] },
    { name => "the helper's processes",
      edits => [
	['helper/op_cell.c', " | CLONE_NEWPID | ", " | "],
	['helper/spawn.c', "	(void)kill(-1, SIGKILL);	/* returns 0 even for " .
	    "nobody */\n	for (; wait4", "	for (; wait4"],
	['helper/spawn.c', "	(void)kill(-1, SIGKILL);	/* returns 0 even for " .
	    "nobody */\n}", "	(void)kill(l->run.pid, SIGKILL);\n}"]],
      alone => 1, open => [qw(ns_pid signal trace other_namespaces other_processes
	    left_next left_end)] },
    { name => "the helper's ipc",
      edit => ['helper/op_cell.c', " | CLONE_NEWIPC | ", " | "],
      open => [qw(ns_ipc shm sem msg mqueue other_namespaces other_ipc)] },
    { name => "the helper's host name",
      edit => ['helper/op_cell.c', " | CLONE_NEWUTS |", " |"],
      open => [qw(ns_uts other_namespaces)] },
    { name => "the helper's cgroups",
      edit => ['helper/op_cell.c', " |\n    CLONE_NEWCGROUP }", " }"],
      open => [qw(ns_cgroup other_namespaces)] },
    { name => "the helper's network", edits => \@host_net,
      refused => 'net_not_closed' },
    { name => 'the loopback is down', edits => \@lo_down,
      refused => 'net_not_closed' },
    { name => "the helper's network, and a client that does not look",
      edits => [@no_proof, @host_net],
      open => [qw(ns_net links routes host_tcp4 host_tcp6 abstract_socket
	    other_namespaces other_sockets)] },
    { name => 'the loopback is down, and a client that does not look',
      edits => [@no_proof, @lo_down], open => ['loopback'],
      unknown => ['other_sockets'] },

    # --- what is inherited, and limits
    { name => 'a descriptor is left open',
      edit => ['helper/spec.c', "*own[i] = fcntl(*own[i], F_DUPFD_CLOEXEC, OWN);",
	    "*own[i] = fcntl(*own[i], F_DUPFD, OWN);"],
      open => ['descriptors'] },
    { name => 'a variable is passed on',
      edit => ['helper/spec.c', "	return cwd;\n}",
	    "	env[i] = (char *)(uintptr_t)\"LD_DEBUG=all\";\n	return cwd;\n}"],
      open => ['environment'] },
    { name => 'core can be dumped',
      edit => ['helper/start.c', "{ RLIMIT_CORE, 1, 1 }",
	    "{ RLIMIT_CORE, RLIM_INFINITY, 1 }"],
      open => ['core'] },
    limit('limit_processes',
	'RLIMIT_NPROC, RLIM_INFINITY, or_none(l->pids)'),
    limit('limit_memory', 'RLIMIT_DATA, RLIM_INFINITY, or_none(l->memory)'),
    limit('limit_file', 'RLIMIT_FSIZE, RLIM_INFINITY, or_none(l->fsize)'),
    limit('limit_descriptors',
	'RLIMIT_NOFILE, RLIM_INFINITY, or_none(l->nofile)'),
    # what is bounded instead has no effect
    { name => 'limits: no limit_cpu',
      edit => ['helper/spec.c', "{ RLIMIT_CPU, cpu, ", "{ RLIMIT_RSS, cpu, "],
      open => ['limit_cpu'] },
    (map { { name => "limits: no $_ of limit_kernel",
      edit => ['helper/spec.c', "{ RLIMIT_$_, ", "{ RLIMIT_RSS, "],
      open => ['limit_kernel'] } } qw(MEMLOCK SIGPENDING)),
    { name => 'limits: no limit_disk',
      edit => ['helper/view.c', "tmpfs(c->req.disk, 0)", "tmpfs(1u << 30, 0)"],
      open => ['limit_disk'] },
    { name => 'limits: no limit_time',
      edit => ['helper/spawn.c', "wall != 0 && wall < end - now ? now + wall : " .
	    "end,", "wall == now ? now : end,"],
      open => ['limit_time'] },

    # --- ends
    { name => 'what a command leaves stays',
      edits => [
	['helper/spawn.c', "	(void)kill(-1, SIGKILL);	/* returns 0 even for " .
	    "nobody */\n	for (; wait4(-1, &st, 0, &u)",
	    "	for (; wait4(-1, &st, WNOHANG, &u)"]],
      open => ['left_next'] },
    { name => 'cells stay',
      edits => [
	['helper/loop.c', "		die(BL_AT_GONE);\n	if (p[P_SIGNALS]",
	    "		return;\n	if (p[P_SIGNALS]"],
	['helper/cell.c', "prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ? -errno :",
	    "poll(&p, 1, 0) < 0 ? -errno :"],
	['helper/main.c', "		(void)syscall(SYS_pidfd_send_signal, l->pidfd, " .
	    "SIGKILL, NULL, 0);\n", "		(void)l->pidfd;\n"],
	['helper/main.c', "poll(&p, 1, 10000) == 1", "poll(&p, 1, 0) == 1"]],
      alone => 1,
      open => ['left_end'] },
);

# --- building ---------------------------------------------------------------

sub slurp {
	open my $f, '<', $_[0] or die "$_[0]: $!\n";
	local $/;
	return scalar <$f>;
}
sub spew {
	open my $f, '>', $_[0] or die "$_[0]: $!\n";
	print $f $_[1];
	close $f or die "$_[0]: $!\n";
}

my $B = "build/$variant";
my %made_of = (		# what else is made of a source
	'policy/roles.def' => ["$B/obj/h/helper/cell.o"],
	'policy/filterc.c' => ["$B/obj/h/helper/cell.o"],
	'helper/view.h' => ["$B/obj/h/helper/view.o"],
);
my @gen = map { "$B/gen/$_" } qw(filters-x86_64.h filters-aarch64.h filters.h
    rules-default.h);

sub object {
	my ($source) = @_;
	return @{$made_of{$source}} if $made_of{$source};
	my ($room) = $source =~ m{^(\w+)/};
	return "$B/obj/" . ($room eq 'client' ? 'c' : 'h') . '/' .
	    $source =~ s/\.c$/.o/r;
}

# Applies the edits in the copy; dies where one does not fit any more.
sub apply {
	my ($copy, @edits) = @_;
	for (@edits) {
		my ($file, $from, $to) = @$_;
		my $text = slurp("$copy/$file");
		my $n = () = $text =~ /\Q$from\E/g;
		die "$file: substitution fits $n times: $from\n" if $n != 1;
		$text =~ s/\Q$from\E/$to/;
		spew("$copy/$file", $text);
	}
}

# make in the copy; headers that were made are as old as they have to be.
sub make {
	my ($copy, $headers, @goals) = @_;
	my @old = $headers ? () : map { ('-o', $_) } @gen;
	my $out = `cd $copy && make -s VARIANT=$variant WERROR= @old @goals 2>&1`;
	die "make @goals: $out" if $? != 0;
}

sub build {
	my ($copy, @edits) = @_;
	my %source = map { $_->[0] => 1 } @edits;
	my @objects = map { object($_) } keys %source;
	apply($copy, @edits);
	make($copy, 1, $gen[2]) if grep { m{^policy/(roles|filterc)} } keys %source;
	unlink map { "$copy/$_" } @objects;
	make($copy, 0, "$B/bailiff-helper",
	    (grep { m{^client/} } keys %source) ? "$B/bailiff" : ());
}

# --- running ----------------------------------------------------------------

sub run {
	my ($copy, $name) = @_;
	my $own = "$copy/$B/bailiff";
	my $program = -e $own ? $own : $bailiff;
	open my $p, '-|', 'timeout', '-k', 5, $SECONDS, 'unshare', '-m', '-u',
	    '-n', '-p', '-f', '--mount-proc', '--propagation', 'private', 'env',
	    "BAILIFF_HELPER=$copy/$B/bailiff-helper", 'sh', '-c',
	    'mount -t tmpfs -o mode=1777 tmpfs /tmp && ip link set lo up &&
	    ip addr add 192.0.2.2/24 dev lo && exec "$@" 2>/dev/null', 'sh',
	    $program, 'selftest', '--json' or die;
	local $/;
	my $out = <$p> // '';
	close $p;
	return ($? >> 8, $out);
}

sub one {
	my ($copy, $v) = @_;
	my @edits = $v->{edits} ? @{$v->{edits}} : $v->{edit} ? $v->{edit} : ();
	my %r = (name => $v->{name});
	eval {
		build($copy, @edits);
		($r{status}, $r{out}) = run($copy, $v->{name});
		1;
	} or $r{died} = $@;
	return \%r;
}

# Each worker's copy is laid out anew for each: hard links, but for what is
# written to.
sub fresh {
	my ($copy, $from) = @_;
	remove_tree($copy);
	system('cp', '-al', $from, $copy) == 0 or die "cp: $?\n";
	# what is edited must not be the other copies', too
	system("cd $copy && for d in helper policy client $B/obj/h/helper; do " .
	    "cp -a \$d \$d.new && rm -rf \$d && mv \$d.new \$d; done && " .
	    "rm -rf $B/gen && cp -a $from/$B/gen $B/gen && " .
	    "rm -f $B/bailiff $B/bailiff-helper $B/libbailiff.a") == 0 or
	    die "cp: $?\n";
}

my $from = "$top/from";
make_path("$from/$B");
system("cp -a Makefile helper policy client providers $from && " .
    "cp -a $build/obj $build/gen $build/*.bin $build/filterc " .
    "$build/bailiff-rules $from/$B") == 0 or die "cp: $?\n";
remove_tree("$from/$B/obj/t", "$from/$B/obj/th");
open STDERR, '>&', \*STDOUT;

my @pick = grep { !@ARGV || $_->{name} =~ /$ARGV[0]/ } @all;
sub work {
	my ($copy, @numbers) = @_;
	for my $i (@numbers) {
		fresh($copy, $from);
		spew("$top/r$i", encode_json(one($copy, $pick[$i])));
	}
}
my @many = grep { !$pick[$_]{alone} } 0 .. $#pick;
my @pids;
for my $w (0 .. $WORKERS - 1) {
	my $pid = fork // die;
	if ($pid == 0) {
		work("$top/w$w", @many[grep { $_ % $WORKERS == $w } 0 .. $#many]);
		POSIX::_exit(0);
	}
	push @pids, $pid;
}
waitpid $_, 0 for @pids;
# what leaves processes of a cell's user would be counted in another's limit
work("$top/w0", grep { $pick[$_]{alone} } 0 .. $#pick);

# --- judging ----------------------------------------------------------------

my %seen_open;
my @names;
for my $i (0 .. $#pick) {
	my $v = $pick[$i];
	my $r = -e "$top/r$i" ? decode_json(slurp("$top/r$i")) :
	    { died => "its worker ended\n" };
	my $d = eval { decode_json($r->{out} // '') } // {};
	if ($r->{died} || !$d->{walls}) {
		fail($v->{name});
		diag($r->{died} // "status $r->{status}: $r->{out}");
		next;
	}
	if ($v->{refused}) {
		is("$r->{status} " . ($d->{error}{code} // 'none'),
		    "3 $v->{refused}", "$v->{name}: refused, and told why");
		$seen_open{$_} = 1 for @{$v->{missing} // []};
		next;
	}
	my @open = map { $_->{name} } grep { $_->{status} eq 'fail' }
	    @{$d->{walls}};
	my @unknown = map { $_->{name} } grep { $_->{status} eq 'unknown' }
	    @{$d->{walls}};
	@names = map { $_->{name} } @{$d->{walls}} if $v->{name} eq 'nothing';
	is_deeply({ status => $r->{status}, open => [sort @open],
	    unknown => [sort @unknown] }, { status => @{$v->{open}} ? 1 : 0,
	    open => [sort @{$v->{open}}],
	    unknown => [sort @{$v->{unknown} // []}] },
	    "$v->{name}: " . (@open ? "seen" : 'all stands')) or diag(
	    "open: @open; unknown: @unknown; " .
	    ($d->{error} ? encode_json($d->{error}) : '') . join('', map {
	    "\n  $_->{name}: $_->{detail}" } grep { $_->{status} ne 'pass' }
	    @{$d->{walls}}));
	$seen_open{$_} = 1 for @open;
}
is("@{[grep { !$seen_open{$_} } @names]}", '',
    'each wall was missing once') unless @ARGV;
done_testing;

#!/usr/bin/perl
# Which room may include what, by the compiler's own dependency files and by
# the include lines; and what the helper may call, by nm.
use strict;
use warnings;
use Test::More;
use lib 'selftest/lint';
use Lint;

my %pure = map { $_ => 1 } qw(stddef.h stdint.h errno.h string.h);
my %tool = map { $_ => 1 } qw(policy/rulesc.c policy/filterc.c);

# Why $file may not depend on our own $on, or undef.
sub ours {
	my ($file, $on) = @_;
	my ($room) = $file =~ m{^(\w+)/};
	return undef if $on eq $file || $on =~ m{^build/} && $room ne 'policy';
	return undef if $on =~ m{^\Q$room\E/};
	if ($room eq 'helper') {
		return undef if $on =~ m{^policy/};
	} elsif ($room eq 'client') {
		# a cell's init where there is no helper: made of its objects
		return undef if $file eq 'client/cellinit.c' &&
		    $on =~ m{^helper/(ops|sys)\.h$};
		return undef if $on =~ m{^policy/(proto|reply|rules|spec)\.h$} ||
		    $on eq 'providers/registry.h';	# a name to its provider
	} elsif ($room eq 'providers') {
		return undef if $on =~ m{^client/\w+\.h$} ||
		    $on =~ m{^policy/(proto|reply|rules|spec)\.h$};
	} elsif ($room eq 'selftest') {
		return undef;
	}
	return "$file depends on $on";
}

# Why $file may not have the line #include <$h>, or undef.
sub theirs {
	my ($file, $h) = @_;
	return "$file includes <$h>"
	    if $file =~ m{^policy/} && !$tool{$file} && !$pure{$h} ||
	    $file =~ m{^helper/} && $h =~ m{^(stdio|pwd|netdb|pthread|signal\.h\+)} ||
	    $file =~ m{^helper/} && $h eq 'sys/capability.h' &&
		$file ne 'helper/seal.c' ||
	    $h =~ m{^curl/} && $file ne 'providers/http/http.c' ||
	    $h =~ m{^seccomp} && $file ne 'policy/filterc.c';
	return undef;
}

# Why a line may not be in $file, or undef: what the kernel counts by user, a
# cell of the same user could use up, and there would be no verdict.
sub counted {
	my ($file, $line) = @_;
	return "$file: $line" if $file =~ m{^(client|providers)/} &&
	    $file !~ m{/probe} && $line =~
	    /\b(epoll_\w+|inotify_\w+|fanotify_\w+|timer_create|mq_open|
	    F_SETPIPE_SZ|msgget|semget|shmget|mlock\w*)\s*\(?/x;
	return undef;
}

# Symbols that are neither defined here nor on the list.
sub strangers {
	my ($undefined, $defined, $allowed) = @_;
	return grep { !$defined->{$_} && !$allowed->{$_} } @$undefined;
}

# The lint itself
ok(counted('client/a.c', 'epoll_create1(0);'), 'would see: what is counted by user');
ok(!counted('client/probe_x.c', 'inotify_init();'), 'allows: what is tried');
ok(ours('helper/wire.c', 'client/err.h'), 'would see: helper/ to client/');
ok(ours('policy/rules.c', 'helper/fd.h'), 'would see: policy/ to helper/');
ok(ours('client/cells.c', 'helper/fd.h'), 'would see: client/ to helper/');
ok(ours('client/cellinit.c', 'helper/view.h'), 'would see: client/ to helper/');
ok(!ours('helper/wire.c', 'policy/proto.h'), 'allows: helper/ to policy/');
ok(theirs('policy/rules.c', 'unistd.h'), 'would see: policy/ to the kernel');
ok(theirs('helper/net.c', 'stdio.h'), 'would see: helper/ to stdio');
ok(theirs('helper/net.c', 'sys/capability.h'), 'would see: libcap elsewhere');
is_deeply([strangers(['open', 'puts'], {}, { open => 1 })], ['puts'],
    'would see: a new symbol');

my @bad;
my $n = 0;
for my $d (split /\n/, `find @{[build()]}/obj -name '*.d'`) {
	my $text = slurp($d);
	$text =~ s/\\\n/ /g;
	my ($rule) = $text =~ /^[^:\n]+:([^\n]*)/;
	my @on = map { 1 while s{[^/]+/\.\./}{}; $_ } split ' ', $rule;
	my $file = shift @on;
	next unless $file =~ m{^(helper|policy|client|providers)/} && -e $file;
	$n++;
	push @bad, grep { defined } map { ours($file, $_) } grep { !m{^/} } @on;
}
cmp_ok($n, '>', 0, 'there are dependency files');
is_deeply(\@bad, [], "no arrow points out of a room ($n objects)");

@bad = ();
for my $file (sources('{helper,policy,client}/*.[ch]', 'providers/*.[ch]',
    'providers/*/*.[ch]')) {
	push @bad, grep { defined } map { theirs($file, $_) }
	    code(slurp($file)) =~ /^\s*#\s*include\s*<([^>]+)>/mg;
}
is_deeply(\@bad, [], 'no header of the system in the wrong room');

my (@undefined, %defined);
for my $o (split /\n/, `find @{[build()]}/obj/h -name '*.o'`) {
	my $src = $o =~ s{^.*/obj/h/}{}r =~ s{\.o$}{.c}r;
	next unless -e $src;
	for (split /\n/, `nm $o`) {
		my ($type, $name) = /(\w) (\S+)$/;
		$type eq 'U' ? push @undefined, $name : $defined{$name}++;
	}
}
my %seen;
@undefined = sort grep { !$seen{$_}++ } @undefined;
SKIP: {
	skip 'helper/ has no symbols.allow', 2 unless -e 'helper/symbols.allow';
	my %allowed = map { s/\s*#.*//r => 1 } grep { /^\w/ }
	    split /\n/, slurp('helper/symbols.allow');
	is_deeply([strangers(\@undefined, \%defined, \%allowed)], [],
	    'the helper calls what symbols.allow lists');
	my %used = map { $_ => 1 } @undefined;
	is_deeply([grep { !$used{$_} } sort keys %allowed], [],
	    'and symbols.allow lists nothing else');
}
{
	my @bad;
	for my $file (glob('client/*.[ch] providers/*.[ch] providers/*/*.[ch]')) {
		open my $in, '<', $file or die "$file: $!";
		push @bad, grep { defined } map { counted($file, $_) } <$in>;
	}
	is_deeply(\@bad, [], 'nothing that the kernel counts by user');
}
done_testing;

#!/usr/bin/perl
# What the linker made, by looking at it: flags that were asked for and not
# given do not count.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use lib 'selftest/lint';
use Lint;

# What is wrong with a file; $static: it may need no loader.
sub faults {
	my ($file, $static) = @_;
	my ($status, $t) = run('readelf', '-hldW', $file);
	my @bad;
	return ("$file is not ELF") if $status;
	push @bad, 'not position independent' unless $t =~ /Type:\s+DYN/;
	push @bad, 'not marked PIE' unless $t =~ /FLAGS_1\b.*\bPIE\b/;
	push @bad, 'symbols are bound late' unless $t =~ /FLAGS_1\b.*\bNOW\b/;
	push @bad, 'no RELRO' unless $t =~ /GNU_RELRO/;
	push @bad, 'no word on the stack' unless $t =~ /GNU_STACK/;
	push @bad, 'executable stack' if $t =~ /GNU_STACK.*\bRWE\b/;
	push @bad, 'writable code' if $t =~ /LOAD.*\bRWE\b/;
	push @bad, 'names folders to load from' if $t =~ /\b(RPATH|RUNPATH)\b/;
	push @bad, 'text relocations' if $t =~ /\bTEXTREL\b/;
	push @bad, 'needs a loader' if $static && $t =~ /\b(INTERP|NEEDED)\b/;
	push @bad, 'set-user-id in the tree' if (stat $file)[2] & 06000;
	return @bad;
}

my $dir = tempdir(CLEANUP => 1);
open my $c, '>', "$dir/a.c" or die;
print $c "int main(void) { return 0; }\n";
close $c;
run('gcc', '-no-pie', '-Wl,-z,norelro,-z,lazy,-z,execstack', '-o', "$dir/a",
    "$dir/a.c");
chmod 04755, "$dir/a";
my @f = faults("$dir/a", 1);
for my $w ('not position independent', 'symbols are bound late', 'no RELRO',
    'executable stack', 'needs a loader', 'set-user-id in the tree') {
	ok((grep { $_ eq $w } @f), "would see: $w");
}

for my $static ('bailiff-helper', 'answer.bin', 'cellinit.bin', 'probe.bin') {
	is_deeply([faults(build() . "/$static", 1)], [], "$static, static");
}
for my $name (qw(bailiff bailiff-rules)) {
	is_deeply([faults(build() . "/$name", 0)], [], $name);
}

my (undef, $nm) = run('nm', build() . '/bailiff-helper');
my @names = map { / (\S+)$/ } split /\n/, $nm;
is_deeply([grep { /^__(asan|ubsan|msan|gcov)_/ } @names], [],
    'no sanitizer runtime in the helper');
ok((grep { /^__stack_chk_fail/ } @names), 'its stack is guarded');
is_deeply([grep { /^_?_?(getpw(nam|uid)|getaddrinfo|nss_\w+)(_r)?$/ } @names],
    [], 'no name service in it');
done_testing;

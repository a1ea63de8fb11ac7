#!/usr/bin/perl
# Every header compiles by itself, twice over, and has its room's guard.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use Cwd;
use lib 'selftest/lint';
use Lint;

my $dir = tempdir(CLEANUP => 1);
sub alone {
	my ($header) = @_;
	open my $c, '>', "$dir/t.c" or die;
	print $c qq(#include "$header"\n) x 2, "int main(void) { return 0; }\n";
	close $c;
	return run('gcc', '-std=c11', '-D_GNU_SOURCE', '-Wall', '-Wextra',
	    '-Werror', '-fsyntax-only', '-I' . build() . '/gen', "$dir/t.c");
}

open my $h, '>', "$dir/bad.h" or die;
print $h "#ifndef X\n#define X\nuint32_t n(void);\n#endif\n";
close $h;
isnt((alone("$dir/bad.h"))[0], 0, 'would see: a header that needs another');

for my $f (sources('{policy,helper,client,selftest}/*.h', 'providers/*.h',
    'providers/*/*.h')) {
	my ($status, $out) = alone(getcwd() . "/$f");
	is($status, 0, $f) or diag($out);
	my ($room, $name) = $f =~ m{^(\w+)/(?:.*/)?(\w+)\.h$};
	next if $f eq 'client/bailiff.h' || $room eq 'selftest';
	my $guard = uc "BL_${room}_${name}_H";
	like(slurp($f), qr/^#ifndef $guard\n#define $guard$/m, "$f: guard");
}
done_testing;

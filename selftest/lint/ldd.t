#!/usr/bin/perl
# Which libraries are loaded at start: each costs time and has to be trusted.
use strict;
use warnings;
use Test::More;
use lib 'selftest/lint';
use Lint;

sub needed {
	my (undef, $t) = run('readelf', '-dW', $_[0]);
	return sort $t =~ /\(NEEDED\).*\[([^\]]+)\]/g;
}
my %may = map { $_ => 1 } qw(libjansson.so.4 libmnl.so.0 libc.so.6);

ok((grep { !$may{$_} } needed(build() . '/filterc')),
    'would see: a library that is not on the list');
is_deeply([grep { !$may{$_} } needed(build() . '/bailiff')], [],
    'bailiff needs jansson, mnl and libc');
is_deeply([grep { !$may{$_} } needed(build() . '/libbailiff.so')], [],
    'and so does the library');
is_deeply([needed(build() . '/bailiff-helper')], [], 'the helper needs none');
is_deeply([needed(build() . '/bailiff-rules')], ['libc.so.6'],
    'the rules compiler needs libc');
done_testing;

#!/usr/bin/perl
# SECURITY.md names every op that the helper and cell init take, and every
# capability they keep: no more, no less.
use strict;
use warnings;
use Test::More;
use lib 'selftest/lint';
use Lint;

# op => socket it comes on, of a table in the text of a source
sub handled {
	my ($text, $socket) = (code($_[0]), $_[1]);
	return map { $_ => $socket } $text =~ /(?<!\w)\[BL_OP_(\w+)\]\s*=\s*\{/g;
}

# The same of SECURITY.md's table: | `OP` | socket | ...
sub documented {
	return map { /^\|\s*`([A-Z]+)`\s*\|\s*(\w+)/ ? ($1 => $2) : () }
	    split /\n/, $_[0];
}

is_deeply({ handled("\t[BL_OP_X] = { ST_NEW, 0, op_x },\n" .
    "\t/* [BL_OP_Z] = { op_z } */ [BL_OP_Y] = { 1, op_y }", 'owner') },
    { X => 'owner', Y => 'owner' }, 'would see: an op in a table');
is_deeply({ documented("| `X` | owner, guest |\n| op | a |\n| `Y` | session |") },
    { X => 'owner', Y => 'session' }, 'would see: a row');

my %in_code = map { handled(slurp($_),
    $_ eq 'helper/dispatch.c' ? 'session' : 'owner') } sources('helper/*.c');
my $doc = slurp('SECURITY.md');
my %in_doc = documented($doc);
cmp_ok(scalar keys %in_code, '>', 5, 'the helper has ops');
is_deeply(\%in_doc, \%in_code, 'SECURITY.md names the ops of the helper');

my %kept = map { $_ => 1 } code(slurp('helper/seal.c')) =~ /\b(CAP_[A-Z_]+)\b/g;
delete @kept{qw(CAP_SET CAP_CLEAR CAP_PERMITTED CAP_EFFECTIVE)};
my %said = map { $_ => 1 } $doc =~ /^\|\s*`(CAP_[A-Z_]+)`/mg;
is_deeply(\%said, \%kept, 'SECURITY.md names the capabilities it keeps');
my ($enum) = slurp('policy/proto.h') =~ /enum bl_op \{(.*?)\}/s;
my %wire = map { $_ => 1 } code($enum) =~ /BL_OP_(\w+)/g;
delete @wire{qw(NONE MAX)};
is_deeply([grep { !$in_doc{$_} } sort keys %wire], [],
    'and every number of the wire');
done_testing;

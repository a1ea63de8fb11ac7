#!/usr/bin/perl
# SECURITY.md names every op that the helper and cell init take, and every
# capability they keep: no more, no less.
use strict;
use warnings;
use Test::More;
use lib 'selftest/lint';
use Lint;

# op => socket it comes on, of every table NAME[BL_OP_MAX] in a source; a row
# without a next state is answered ENOSYS
sub handled {
	my ($text) = map { code($_) } @_;
	my %h;
	while ($text =~ /\b(\w*)ops\[BL_OP_MAX\]\s*=\s*\{(.*?)^\};/gms) {
		my ($name, $rows) = ($1, $2);
		my $socket = $name eq '' ? 'session' : $name =~ s/_$//r;
		while ($rows =~ /\[BL_OP_(\w+)\]\s*=\s*\{([^}]*)\}/g) {
			my ($op, $row) = ($1, $2);
			$h{$op} = $socket .
			    ($row =~ /,\s*0,\s*NULL/ ? ', absent' : '');
		}
	}
	return %h;
}

# The same of SECURITY.md's table: | `OP` | socket | ...
sub documented {
	my %d;
	for my $row (split /\n/, $_[0]) {
		my ($op, $socket) = $row =~ /^\|\s*`([A-Z]+)`\s*\|\s*(\w+)/
		    or next;
		$d{$op} = $socket . ($row =~ /ENOSYS/ ? ', absent' : '');
	}
	return %d;
}

is_deeply({ handled("static const struct op owner_ops[BL_OP_MAX] = {\n" .
    "\t[BL_OP_X] = { ST_NEW, op_x },\n\t/* [BL_OP_Z] = { 1 } */\n" .
    "\t[BL_OP_Y] = { 1, 0, NULL },\n};\n") },
    { X => 'owner', Y => 'owner, absent' }, 'would see: an op in a table');
is_deeply({ documented("| `X` | owner, guest |\n| op | a |\n" .
    "| `Y` | session | ENOSYS |") },
    { X => 'owner', Y => 'session, absent' }, 'would see: a row');

my %in_code = map { handled(slurp($_)) } sources('helper/*.c');
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

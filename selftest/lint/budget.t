#!/usr/bin/perl
# How much there is to read of what runs with privilege: the code lines of all
# that the helper's link map names, headers of ours included.
use strict;
use warnings;
use Test::More;
use lib 'selftest/lint';
use Lint;

my ($MAX, $MAX_AFTER, $MAX_FILE, $MAX_FUNCTION, $MAX_PATHS) =
    (1800, 400, 250, 60, 15);
my %after_drop = map { $_ => 1 } qw(helper/spec.c helper/steps.c
    helper/path.c policy/spec.c policy/spec.h);

is(lines_of("/* a\n b */\nint x; /* c */\n\n// d\nchar *s = \"/*\";\n"), 2,
    'counts code, and neither blanks nor comments');

# What pmccabe has against a function, from one line of its output.  Of its two
# counts the first: a switch is one decision, however long its table.
sub too_much {
	my ($paths, undef, undef, undef, $lines, $where) = split ' ', $_[0];
	return () unless defined $where;
	my ($name) = $_[0] =~ /(\w+)$/;
	return ("$_[0]: complexity above $MAX_PATHS")
	    if $paths > $MAX_PATHS;
	return ("$_[0]: longer than $MAX_FUNCTION") if $lines > $MAX_FUNCTION;
	return ();
}
is(@{[too_much("16\t16\t9\t1\t20\ta.c(1): f")]}, 1, 'would see: a tangled function');
is(@{[too_much("3\t4\t9\t1\t61\ta.c(1): f")]}, 1, 'would see: a long function');
is(@{[too_much("15\t19\t9\t1\t60\ta.c(1): f")]}, 0, 'allows: one at the limit');

my $map = build() . '/bailiff-helper.map';
my $text = slurp($map);
my %obj = map { $_ => 1 } $text =~ m{^(?:LOAD )?\s*(\S*obj/h/\S+\.o)$}mg;
cmp_ok(scalar keys %obj, '>', 0, 'the link map names our objects');

my %file;
for my $o (keys %obj) {
	my $d = slurp($o =~ s/\.o$/.d/r) =~ s/\\\n/ /gr;
	my ($rule) = $d =~ /^[^:\n]+:([^\n]*)/;
	for (split ' ', $rule) {
		1 while s{[^/]+/\.\./}{};
		$file{$_}++ unless m{^build/} || m{^/};
	}
}
my ($total, $after, @large) = (0, 0);
for my $f (sort keys %file) {
	my $n = lines_of(slurp($f));
	$after_drop{$f} ? ($after += $n) : ($total += $n);
	push @large, "$f: $n" if $n > $MAX_FILE;
	diag(sprintf '%5d %s', $n, $f) if $ENV{LINT_VERBOSE};
}
# shown by prove too: SECURITY.md says so
diag("privileged: $total code lines; after the drop: $after");
cmp_ok($total, '<=', $MAX, "$total code lines run with privilege");
cmp_ok($after, '<=', $MAX_AFTER, "$after code lines after the drop");
# SECURITY.md's own figures may lag behind a little, and not more.
my ($said, $said_after) = slurp('SECURITY.md') =~
    /run with privilege \| [\d,]+ \| ([\d,]+) .*?after the drop \| \d+ \| (\d+)/s;
$said =~ tr/,//d;
ok(abs($said - $total) <= 50 && abs($said_after - $after) <= 50,
    "SECURITY.md says $said and $said_after");
is_deeply(\@large, [], "no file above $MAX_FILE code lines");

my ($status, $out) = run('pmccabe', sources('{helper,policy}/*.c'));
is($status, 0, 'pmccabe reads every function');
is_deeply([map { too_much($_) } split /\n/, $out], [],
    "no function above $MAX_FUNCTION lines or complexity $MAX_PATHS");
done_testing;

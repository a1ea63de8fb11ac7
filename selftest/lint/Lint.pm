# What the lints share: reading sources, and taking comments out of them.
package Lint;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(build slurp code bare lines_of sources tracked run);

sub build { return $ENV{BUILD} // 'build/release' }

sub slurp {
	my ($name) = @_;
	open my $f, '<', $name or die "$name: $!\n";
	local $/;
	return scalar <$f>;
}

# The text of C without its comments; with $strings also without what is in
# quotes.  Lines stay where they are.
sub strip {
	my ($text, $strings) = @_;
	$text =~ s{
		( "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )	# quoted
		| ( /\*.*?\*/ | //[^\n]* )			# comment
	}{
		my ($q, $c) = ($1, $2);
		if (defined $c) { $c =~ s/[^\n]+/ /g; $c }
		else { $strings ? substr($q, 0, 1) . substr($q, -1) : $q }
	}gsex;
	return $text;
}
sub code { return strip($_[0], 0) }
sub bare { return strip($_[0], 1) }

# Code lines: neither blank nor comment.
sub lines_of { return scalar grep { /\S/ } split /\n/, code($_[0]) }

sub sources { return sort map { glob } @_ }

# What git knows or would add; without git, what is there.
sub tracked {
	my @f = -e '.git'
	    ? split /\0/, `git ls-files -z -co --exclude-standard`
	    : grep { !m{^build/} } map { s{^\./}{}r }
		split /\0/, `find . -name .git -prune -o -type f -print0`;
	return grep { -f } @f;
}

# ($status, $output) of a command given as a list.
sub run {
	my @argv = @_;
	my $pid = open my $p, '-|';
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		exec @argv or exit 127;
	}
	local $/;
	my $out = <$p>;
	close $p;
	return ($?, $out // '');
}
1;

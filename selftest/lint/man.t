#!/usr/bin/perl
# Manual pages without a warning, and the same options in --help, in the pages
# and in the completions of three shells.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use lib 'selftest/lint';
use Lint;

my @pages = sources('client/*.1', 'helper/*.8', 'policy/*.[58]');
my $bailiff = build() . '/bailiff';

my @commands = qw(doctor exec run selftest);
my @own = ('-h', '--help', '--version');	# every command has these

sub have { return scalar grep { -x "$_/$_[0]" } split /:/, $ENV{PATH} }

sub uniq { my %s = map { $_ => 1 } @_; return sort keys %s }

# Every option that stands in $text as a word.
sub options {
	my ($text) = @_;
	return uniq($text =~ /(?<![^\s,;({|'"*])(--?[a-z][a-z-]*)(?![\w-])/g);
}

# The options that the mdoc $text has as items.
sub items {
	my ($text) = @_;
	my @found;
	for (grep { /^\.It .*\bFl / } split /\n/, $text) {
		push @found, map { "-$_" } /\bFl ([\w-]+)/g;
	}
	return uniq(@found);
}

# What is in only one of the two lists, with a word in front that says which.
sub differ {
	my ($a, $b, $allowed) = @_;
	my %a = map { $_ => 1 } @$a;
	my %b = map { $_ => 1 } @$b;
	my %ok = map { $_ => 1 } @$allowed;
	return ((map { "only help: $_" } grep { !$b{$_} } @$a),
	    map { "not in help: $_" } grep { !$a{$_} && !$ok{$_} } @$b);
}

is_deeply([options("  -a, --be C  as --de; x-y\n'(-q)' --get=")],
    [qw(--be --de --get -a -q)], 'would see: options in a text');
is_deeply([items(".It Fl a , Fl -be Ar X\n.Fl c\n")], [qw(--be -a)],
    'would see: options in a page');
is_deeply([differ([qw(-a -b)], [qw(-b -c -d)], ['-d'])],
    ['only help: -a', 'not in help: -c'], 'would see: what only one has');

# --- the pages ---------------------------------------------------------------

my $dir = tempdir(CLEANUP => 1);
open my $bad, '>', "$dir/bad.1" or die;
print $bad ".Dd August 1, 2026\n.Dt BAD 1\n.Os\n.Sh NAME\n.Nm bad\n.Bogus\n";
close $bad;
my $style = qr/^mandoc: \S*: STYLE|outdated mandoc.db|STYLE: /;
SKIP: {
	skip 'mandoc is not installed', 1 + @pages unless have('mandoc');
	isnt((run('mandoc', '-T', 'lint', '-W', 'warning', "$dir/bad.1"))[1], '',
	    'mandoc would see: an unknown macro');
	is((run('mandoc', '-T', 'lint', '-W', 'warning', $_))[1], '',
	    "mandoc: $_") for @pages;
}
SKIP: {
	skip 'man is not installed', 1 + @pages unless have('man');
	local @ENV{qw(MANROFFSEQ MANWIDTH LC_ALL)} = ('', 80, 'C.UTF-8');
	# what it formats is of no interest, only what it says beside
	my $man = sub { (run('sh', '-c', 'man --warnings -E UTF-8 -l -Tutf8 ' .
	    '-Z "$1" 2>&1 >/dev/null', 'sh', $_[0]))[1] };
	isnt($man->("$dir/bad.1"), '', 'man would see: an unknown macro');
	is($man->($_), '', "man: $_") for @pages;
}
is_deeply([grep { slurp($_) !~ /^\.Sh NAME\n\.Nm \S+\n\.Nd \S/m } @pages], [],
    'each has a name and a line for whatis');

# --- the options -------------------------------------------------------------

my $page = slurp('client/bailiff.1');
my %section;
$section{$1 // $2} = $3 while $page =~
    /^\.Ss (?:bailiff (\w+)|(Options)[^\n]*)\n(.*?)(?=^\.S[sh])/gms;
is_deeply([sort keys %section], [qw(Options doctor exec run selftest)],
    'the page has a section for each command');

my %help;	# of the commands that this build has
for my $c (@commands) {
	my ($status, $out) = run($bailiff, $c, '--help');
	$help{$c} = [options($out)] if $status == 0;
}
ok($help{run} && $help{exec}, 'run and exec tell their options');
my ($status, $all) = run($bailiff, '--help');
is_deeply([sort grep { !$help{$_} && $_ ne 'help' }
    $all =~ /^  (\w+) /mg], [], 'no command but those');

sub same {
	my ($c, $found, $where) = @_;
	is_deeply([differ($help{$c}, [grep { $_ ne '--' } @$found], [])], [],
	    "$c: the options of --help and of $where");
}

for my $c (sort keys %help) {
	my @in = items($section{$c});
	push @in, $c eq 'run' || $c eq 'exec' ? items($section{Options}) : @own;
	same($c, \@in, 'bailiff.1');
}

# bash: completed by bash itself
my $drive = 'source client/bailiff.bash; COMP_WORDS=(bailiff "$1" -)
    COMP_CWORD=2; _bailiff; printf "%s\n" "${COMPREPLY[@]}"';
for my $c (sort keys %help) {
	my ($st, $out) = run('bash', '-c', $drive, 'bash', $c);
	is($st, 0, "bash completes $c");
	same($c, [split ' ', $out], 'bailiff.bash');
}

# as bash cuts the line; the last word is the one to be completed
$drive = 'source client/bailiff.bash; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _bailiff; printf "%s\n" "${COMPREPLY[@]}"';
for (['exec --way = so', 'socket'], ['exec --way=so', '--way=socket'],
    ['exec --require uid,n', 'uid,net'], ['exec --require = net,ui', 'net,uid'],
    ['exec -- bash -', ''], ['exec --way = root -e A = B bash --js', ''],
    ['exec --ro-bind /a : /b --js', '--json'], ['exec --put Makefil', 'Makefile'],
    ['exec -- ls Makefil', 'Makefile'], ['run --js', '--json']) {
	my ($line, $want) = @$_;
	is((run('bash', '-c', $drive, 'bash', 'bailiff', split / /, $line))[1] =~
	    s/\n\z//r, $want, "bash: bailiff $line");
}
for my $line ('exec -- bas', 'exec --json bas') {
	like((run('bash', '-c', $drive, 'bash', 'bailiff', split / /, $line))[1],
	    qr/^bash$/m, "bash: bailiff $line: a command");
}

# zsh: by what the file gives to _arguments
my $zsh = slurp('client/bailiff.zsh');
my ($shared) = $zsh =~ /^shared=\((.*?)^\)/ms;
for my $c (sort keys %help) {
	my ($own) = $zsh =~ /^$c\)\n(.*?)^\t;;/ms;
	my $text = join "\n", map { s/\[.*//r }		# not what explains
	    split /\n/, $own =~ s/^.*\$shared//mr . ($own =~ /\$shared/ ?
	    $shared : '');
	$text =~ s/_arguments.*?(?=\s['"(\\]|$)//mg;
	$text =~ s/[={}+,()'"*]+/ /g;
	same($c, [options($text)], 'bailiff.zsh');
}
SKIP: {
	skip 'zsh is not installed', 1 unless have('zsh');
	is((run('zsh', '-n', 'client/bailiff.zsh'))[1], '', 'zsh reads its own');
}

# fish: completed by fish itself
SKIP: {
	skip 'fish is not installed', 6 + 2 * keys %help unless have('fish');
	local @ENV{qw(HOME XDG_CONFIG_HOME XDG_DATA_HOME)} = ($dir) x 3;
	for my $c (sort keys %help) {
		my ($st, $out) = run('fish', '-c', 'source client/bailiff.fish
		    complete -C "bailiff $argv[1] -"
		    complete -C "bailiff $argv[1] --"', $c);
		is($st, 0, "fish completes $c");
		same($c, [uniq(map { s/\t.*//r } split /\n/, $out)],
		    'bailiff.fish');
	}
	for (['exec --require uid,ne', qr/\Auid,net\t/],
	    ['exec -- bas', qr/^bash\t/m], ['exec --json bas', qr/^bash\t/m],
	    ['exec -e A=1 bash --js', qr/\A\z/],
	    ['exec -- ls Makefil', qr/\AMakefile$/],
	    ['exec -e A=1 --js', qr/\A--json\t/]) {
		my ($line, $want) = @$_;
		like((run('fish', '-c', 'source client/bailiff.fish
		    complete -C $argv[1]', "bailiff $line"))[1], $want,
		    "fish: bailiff $line");
	}
}

# --- the other pages ---------------------------------------------------------

my ($st, $text) = run(build() . '/bailiff-rules', '--help');
my @in8 = uniq(map { "-$_" } slurp('policy/bailiff-rules.8') =~
    /\bFl ([\w-]+)/g);
is_deeply([differ([options($text)], \@in8, [])], [],
    'bailiff-rules: --help and bailiff-rules.8');

my $rules = slurp('policy/bailiff-rules.5');
my $source = slurp('policy/rulesc.c');
my @words = $source =~ /^\t\t\{ "(\w+)", (?=line_|\w+_units)/mg;
push @words, $source =~ /\}, \{ "(\w+)", line_/g;
push @words, $source =~ /\{ "(\w+)", line_/g;
cmp_ok(scalar(my @u = uniq(@words)), '>=', 10, 'the compiler has its keywords');
is_deeply([grep { $rules !~ /^\.It Ic $_\b/m } uniq(@words)], [],
    'each of them is in bailiff-rules.5');
my ($example) = $rules =~ /^\.Bd -literal[^\n]*\n(.*?)^\.Ed/ms;
$example =~ s/^group \K\S+/0/m;		# this machine may not have that one
open my $f, '>', "$dir/policy" or die;
print $f $example;
close $f;
mkdir "$dir/etc";
is((run(build() . '/bailiff-rules', 'check', '--etc', "$dir/etc",
    "$dir/policy"))[0], 0, 'its example is sound');

my ($enum) = slurp('policy/proto.h') =~ /^enum bl_at \{(.*?)\}/ms;
my ($n, @codes) = (0);
for (split /,\s*/, $enum) {
	/(BL_AT_\w+)(?: = (\d+))?/ or next;
	$n = defined $2 ? $2 : $n + 1;
	push @codes, $n if $n >= 10 && $n < 40 || $1 eq 'BL_AT_SLOT';
}
is_deeply([slurp('helper/bailiff-helper.8') =~ /^\.It (\d\d)$/mg], \@codes,
    'bailiff-helper.8 has each exit status');
done_testing;

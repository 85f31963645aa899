# Dice.pm - chance, repeatable: all that is drawn comes from Perl's own rand.
package Dice;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(one below chance damage literal weighted);

# Starts the sequence of a part of a run.
sub start
{
	my ($seed, $part) = @_;

	srand(($seed * 7919 + $part * 104729 + 1) % 4294967291);
	return;
}

sub below { return int rand $_[0] }
sub one { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }

# One of pairs (weight, thing).
sub weighted
{
	my @pairs = @_;
	my $sum = 0;

	for (my $i = 0; $i < @pairs; $i += 2) { $sum += $pairs[$i] }
	my $at = rand $sum;
	for (my $i = 0; $i < @pairs; $i += 2) { return $pairs[ $i + 1 ] if ($at -= $pairs[$i]) < 0 }
	return $pairs[-1];
}

# A string with some of its characters changed, left out, doubled or added.
sub damage
{
	my ($text) = @_;

	for (1 .. one(1, 1, 2, 3, 8))
	{
		my $at = below(1 + length $text);
		my $what = below(5);
		my $rest = length($text) - $at;
		if ($what == 0) { substr $text, $at, $rest ? 1 : 0, '' }
		elsif ($what == 1) { substr $text, $at, 0, one('(', ')', '*', "'", '"', ' ', ',', '0', '9', '-', 'A', 'W', "\xc3\xa9", '\\', '%', '{', "\n") }
		elsif ($what == 2) { substr $text, $at, $rest ? 1 : 0, chr 32 + below(95) }
		elsif ($what == 3) { substr $text, $at, 0, substr $text, below(1 + length $text), below(12) }
		else { $text = substr $text, 0, $at if chance(0.3) }
	}
	return $text;
}

# A string as a literal of SQL.
sub literal
{
	my ($text) = @_;

	return 'NULL' unless defined $text;
	$text =~ s/'/''/g;
	return $text =~ s/\\/\\\\/g ? " E'$text'" : "'$text'";
}

1;

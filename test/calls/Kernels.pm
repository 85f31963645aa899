# Kernels.pm - texts of the kernel language: valid ones, damaged ones, deep ones.
package Kernels;

use strict;
use warnings;
use Dice qw(one chance below damage);

our $deep = 1;
our @presets = qw(gcn gin gcnii sage appnp ggp rbf laplacian mlp sage2 profile hops field linear gckm gpsrf dgp ease scores pairs auto);
my @options = ('layers=1', 'layers=2', 'layers=3', 'layers=0', 'layers=7', 'sigma_w=0.5', 'sigma_w=1e-3', 'sigma_b=0.1',
	'sigma_b=0', 'norm=row', 'norm=sym', 'input=rbf(gamma=0.3)', 'input=poly(c=5, d=3)', 'input=arccos', 'input=linear',
	'input=identity', 'input=laplacian(d=2)', 'input=cosine', 'power=1', 'power=1.5', 'power=auto', 'power=2', 'alpha=0.2', 'beta=ln(0.5/l+1)', 'lambda=0.5', 'gamma=0.2', 'sigma_w1=0.3');
my %named = (gcn => [''], gin => [''], mlp => [''], sage => [ '', 'sigma_self=0.5' ], gcnii => [ '', 'alpha=0.3', 'lambda=1' ],
	appnp => [ '', 'alpha=0.5', 'alpha=1' ], ggp => [ '', 'c=1', 'd=2', 'c=0, d=1' ], rbf => [ '', 'gamma=0.01', 'gamma=5' ],
	sage2 => ['', 'sigma_self=2'], profile => [''], hops => [''], field => [ '', 'alpha=0.5' ], linear => [''], gckm => [ '', 'own=true' ],
	gpsrf => [ 'steps=10' ], dgp => [ 'steps=10', 'steps=1' ], ease => [''], scores => [''], pairs => [''], auto => [''],
	laplacian => [ '', 'd=1', 'sigma2=10', 'd=3, sigma2=5', 'walks=10', 'p_term=0.5', 'dims=4' ]);

# A number that is likely, or not.
sub number
{
	return one('0.1', '0.5', '0.9', '1', '2', '0', '3', '1e-3') if chance(0.9);
	return one('1e300', '-1', '1e-320', '1/0', 'ln(0)', 'sqrt(-1)', 'l', '0.5/l', '99999999999999999999', '(1-0.3)');
}

# A linear operator.
sub operator
{
	my ($depth) = @_;

	return one('A', 'A', 'A', 'I', 'P(' . number() . ')') if $depth <= 0 || chance(0.7);
	return '(' . number() . '*A + ' . number() . '*I)' . one('', '^2', '^3', '^' . below(20)) if chance(0.7);
	return operator($depth - 1) . '*' . operator($depth - 1);
}

# A sum of products.
sub feature
{
	my ($depth) = @_;

	return join one(' + ', '+', ' - '), map { product($depth) } 1 .. one(1, 1, 2, 2, 3);
}

# One term of a sum.
sub product
{
	my ($depth) = @_;
	my $atom = $depth <= 0 ? one('X', 'X0', 'relu(X)', 'relu(X0*W)', 'b', 'N', 'unit(X0*W)')
		: one('relu(X)', 'X0', 'relu(' . feature($depth - 1) . ')', 'relu(' . product($depth - 1) . ' + b)', 'X', 'N', 'unit(' . feature($depth - 1) . ')',
		'(' . feature($depth - 1) . ')');

	return $atom if $atom eq 'b';
	$atom = operator(1) . "*$atom" if chance(0.6);
	$atom = number() . "*$atom" if chance(0.2);
	$atom .= one('*W', '*W', '*W', '*W1', '*W2', '*(' . number() . '*I + ' . number() . '*W)') if chance(0.7);
	return $atom;
}

# Layers as they are written in papers.
sub layer
{
	return one('A*relu(X)*W + b', 'relu(A*relu(X)*W + b)*W + b', 'relu(X)*W1 + A*relu(X)*W2', 'P(0.1)*relu(X0*W)*W',
		'((1-alpha)*A*relu(X) + alpha*X0)*((1-beta)*I + beta*W), alpha=0.1, beta=ln(0.5/l+1)',
		'(0.7*A + 0.3*I)^2*relu(X)*W + b', 'A*X0, input=poly(c=5, d=3), norm=row', 'X0, input=rbf(gamma=0.1)',
		'A*relu(X)*W', 'X0', 'A*A*X*W');
}

# What is nested far, or goes on for long.
sub deep_one
{
	return valid() unless $deep;
	my $n = one(4, 6, 8, 8, 8, 10, 12, 16, 24, 40, 200, 1000, 5000, 40000);
	my $layers = one('', ', layers=2', ', layers=8', (', layers=32') x 5);

	return ('A*relu(' x $n) . one('X', 'X0') . (')*W + b' x $n) . $layers if chance(0.7);
	return ('(' x $n) . 'X' . (')' x $n) if chance(0.2);
	return join('+', ('A*relu(X)*W') x $n) . $layers if chance(0.3);
	return join('*', ('A') x $n) . '*X' if chance(0.3);
	return 'A*X, layers=1, alpha=' . ('(' x $n) . '1' . (')' x $n) if chance(0.3);
	return 'A*X, sigma_b=' . ('ln(' x $n) . '2' . (')' x $n) if chance(0.3);
	return ('(' x $n) . 'A' . ('+I)^2' x $n) . '*X';
}

# A kernel that should be one.
sub valid
{
	my $preset = one(@presets);
	my $text = chance(0.65) ? $preset : chance(0.6) ? layer() : feature(one(0, 1, 1, 2, 3));

	if ($text eq $preset && chance(0.4))
	{
		my $option = one(@{ $named{$preset} });
		$option = join ', ', grep { length } $option, one('layers=' . one(1 .. 4), 'sigma_b=0.1', 'norm=row') if chance(0.4);
		$text .= "($option)" if length $option;
	}
	$text .= ', ' . one(@options) if $text ne $preset && chance(0.3);
	return $text;
}

# Any text for a kernel.
sub any
{
	my $r = rand;

	return deep_one() if $r < 0.02;
	return valid() if $r < 0.8;
	return damage(valid()) if $r < 0.93;
	return valid() . ', ' . join(', ', map { one(@options) } 1 .. 1 + below(3)) if $r < 0.97;
	return join '', map { one('A', 'X', 'X0', 'relu', '(', ')', '*', '+', '-', '^', '2', 'W', 'b', 'I', 'P', ',', '=', 'layers', ' ', '.5', '1e') }
		1 .. below(30);
}

1;

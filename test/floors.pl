# floors.pl - the house as its sources say it: floors, doors and circles.
#
#   perl test/floors.pl check         prints what breaks the house's rules
#   perl test/floors.pl draw          prints the picture of the floors as SVG
#
# A floor is a folder of src with the folders in it.  A door is a header that other floors include: each
# floor has one to three, and one is named like the floor.  A folder has at most 20 files.  A file
# needs another when it includes it or uses a function that the other defines, in an inline function
# of a header, too; for circles a .c and its header are one.  A type's name is that of one file's type.  Run in the root of the checkout; needs nothing but Perl.
use strict;
use warnings;

# From the ground up: a floor uses those before it.
my @FLOORS = (
	[ 'src/core/base', 'environment, matrices, hashes, sort' ],
	[ 'src/core/device', 'the table of operations, the CPU, the loader of the GPU library' ],
	[ 'src/core/numeric', 'factorisations, solvers and metrics, each once' ],
	[ 'src/core/graph', 'edges to CSR, features, walks' ],
	[ 'src/core/encoding', 'rows of tables, and edges, as numbers' ],
	[ 'src/core/formula', 'kernels: from text to a program' ],
	[ 'src/core/kernel', 'from a program to covariances' ],
	[ 'src/core/regression', 'targets, nugget, posterior, calibration' ],
	[ 'src/core/precision', 'Laplacian priors by conjugate gradients' ],
	[ 'src/core/fit', 'planner, landmarks, strategies' ],
	[ 'src/core/live', 'answers from the rows of today' ],
	[ 'src/core/facts', 'tables with time: scan, weights' ],
	[ 'src/core/train', 'methods that learn their kernel' ],
	[ 'src/core/cluster', 'groups of nodes' ],
	[ 'src/core/links', 'missing links: scores, search, model' ],
	[ 'src/pg/server', 'the server as the core sees it' ],
	[ 'src/pg/catalog', 'graphs, models, roles, locks' ],
	[ 'src/pg/ids', 'ids of nodes, of any type' ],
	[ 'src/pg/reader', 'the user\'s tables in one snapshot' ],
	[ 'src/pg/schema', 'many tables: foreign keys, times, the facts of a task' ],
	[ 'src/pg/store', 'models in packed blocks' ],
	[ 'src/pg/types', 'types and aggregates' ],
	[ 'src/pg/distributed', 'fits whose factor lies in tables' ],
	[ 'src/pg/functions', 'the SQL functions' ]);
my @BESIDE = ([ 'cuda', 'the CUDA device, a library of its own' ]);
my $MOST_DOORS = 3;
my $MOST_FILES = 20;

# links are between files, pairs between a .c and its header as one.
my (%height, %text, %file_at, %links, %pairs);
$height{ $FLOORS[$_][0] } = $_ for 0 .. $#FLOORS;

# A whole file
sub slurp
{
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!\n";
	local $/ = undef;
	return scalar <$file>;
}

# The folder of a path, and the floor that it is in
sub folder { return $_[0] =~ m{^(.*)/} ? $1 : '' }
sub floor { return $_[0] =~ m{^(src/\w+/\w+|cuda)/} ? $1 : '' }

# Code without comments and strings, which name functions that it does not use
sub bare
{
	my ($code) = @_;
	$code =~ s{/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"}{$& =~ /^"/ ? '""' : $& =~ tr/\n//cdr}gse;
	return $code;
}

# Reads every source once.
sub read_sources
{
	for my $path (map { glob("$_->[0]/*.[ch] $_->[0]/*/*.[ch] $_->[0]/*.cu") } @FLOORS, @BESIDE)
	{
		$text{$path} = slurp($path);
		my ($base) = $path =~ m{([^/]+)$};
		print "$path: its name is that of $file_at{$base}\n" if exists $file_at{$base} && $ARGV[0] eq 'check';
		$file_at{$base} = $path;
	}
	for my $folder (glob('src/core/*/ src/pg/*/'))
	{
		$folder =~ s{/$}{};
		print "$folder: no floor of this name is known to test/floors.pl\n"
		  if !exists $height{$folder} && glob("$folder/*.[ch] $folder/*/*.[ch]");
	}
}

# The files that a path includes, of ours
sub includes
{
	my ($path) = @_;
	my @found;
	while ($text{$path} =~ /^\s*#\s*include\s+"([^"]+)"/mg)
	{
		my ($near, @roots) = (folder($path) . "/$1", "src/core/$1", "src/$1");
		push @found, grep { exists $text{$_} } exists $text{$near} ? $near : @roots;
	}
	return @found;
}

# Notes that one file needs another, and why.
sub touch_file
{
	my ($from, $to, $why) = @_;
	$links{$from}{$to} //= $why if $from ne $to;
	($from, $to) = map { s/\.[ch]$//r } $from, $to;
	$pairs{$from}{$to} //= $why if $from ne $to;
}

# Functions that a file shares, by the style of the house: the name stands at the line's start.
sub shared_functions
{
	my ($path) = @_;
	my @found;
	my $code = bare($text{$path});
	while ($code =~ /^((?:\w[\w \t*]*\n)?)(\w+)\((?=[^;{]*\)\s*\{)/mg)
	{
		push @found, $2 unless $1 =~ /\b(?:static|typedef)\b/ || $1 eq '';
	}
	return @found;
}

# Types that two files define
sub check_types
{
	my %home;
	for my $path (sort keys %text)
	{
		for my $name ($text{$path} =~ /^(?:typedef )?(?:struct|enum|union) (\w+)\s*\{/mg)
		{
			print "$path defines $name, as $home{$name} does\n" if exists $home{$name};
			$home{$name} = $path;
		}
	}
}

# What includes and calls say of the files
sub link_files
{
	my %home;
	for my $path (grep { /\.c$/ } keys %text)
	{
		$home{$_} = $path for shared_functions($path);
	}
	for my $path (sort keys %text)
	{
		touch_file($path, $_, 'includes') for includes($path);
		my $code = bare($text{$path});
		$code = join ' ', $code =~ /^static inline[^;{]*\{(.*?)^\}/gms unless $path =~ /\.c$/;
		my %words = map { $_ => 1 } $code =~ /\b([a-z]\w+)\b/g;
		for my $name (sort grep { exists $home{$_} } keys %words)
		{
			next if $text{$path} =~ /^static[^\n;]*\n?\Q$name\E\(/m;
			touch_file($path, $home{$name}, $name);
		}
	}
}

# Includes that go up a floor, or into another floor's private headers
sub check_floors
{
	my (%doors, %files_in);
	for my $path (sort keys %text)
	{
		$files_in{ folder($path) }++;
		for my $to (includes($path))
		{
			next if floor($to) eq floor($path);
			my ($here, $there) = ($height{ floor($path) } // 2, $height{ floor($to) } // 99);
			print "$path includes $to, which is above it\n" if $there > $here;
			$doors{ floor($to) }{$to} = 1;
		}
	}
	for my $floor (map { $_->[0] } @FLOORS)
	{
		my @doors = sort keys %{ $doors{$floor} // {} };
		my ($own) = $floor =~ m{([^/]+)$};
		print "$floor has no $own.h, which says what the floor is\n" unless exists $text{"$floor/$own.h"};
		for my $folder (sort { $a cmp $b } grep { $_ eq $floor || index($_, "$floor/") == 0 } keys %files_in)
		{
			print "$folder has more than $MOST_FILES files\n" if $files_in{$folder} > $MOST_FILES;
		}
		print "$floor has more than $MOST_DOORS headers that others include: @doors\n" if @doors > $MOST_DOORS;
	}
	for my $from (sort keys %links)
	{
		for my $to (sort keys %{ $links{$from} })
		{
			my ($here, $there) = ($height{ floor($from) }, $height{ floor($to) });
			print "$from uses $links{$from}{$to} of $to, which is above it\n"
			  if defined $here && defined $there && $there > $here && $links{$from}{$to} ne 'includes';
		}
	}
}

# The circles: strongly connected files, after Tarjan (1972)
sub circles
{
	my ($count, %number, %low, %on, @stack, @found) = (0);
	my $visit;
	$visit = sub {
		my ($file) = @_;
		$number{$file} = $low{$file} = $count++;
		push @stack, $file;
		$on{$file} = 1;
		for my $to (sort keys %{ $pairs{$file} // {} })
		{
			$visit->($to) unless exists $number{$to};
			$low{$file} = $low{$to} if $on{$to} && $low{$to} < $low{$file};
		}
		return if $low{$file} != $number{$file};
		my @circle;
		do { push @circle, pop @stack; $on{ $circle[-1] } = 0 } while $circle[-1] ne $file;
		push @found, [ sort @circle ] if @circle > 1;
	};
	exists $number{$_} or $visit->($_) for sort keys %pairs;
	return @found;
}

# Prints each circle with the names that tie it.
sub check_circles
{
	for my $circle (circles())
	{
		my %in = map { $_ => 1 } @$circle;
		print "circle: @$circle\n";
		for my $from (@$circle)
		{
			print "  $from -> $_: $pairs{$from}{$_}\n" for sort grep { $in{$_} } keys %{ $pairs{$from} };
		}
	}
}

# Which folders a folder includes
sub arrows
{
	my %to;
	for my $path (keys %text)
	{
		$to{ floor($path) }{ floor($_) } = 1 for grep { floor($_) ne floor($path) } includes($path);
	}
	return %to;
}

# One floor of the picture: its name, what it does, and a mark under each floor that it includes
sub draw_floor
{
	my ($floor, $y, $width, $x, $includes) = @_;
	my ($name, $says) = @$floor;
	my $class = $name =~ m{^src/(core|pg)/} ? $1 : 'cuda';
	my $body = sprintf qq{<rect class="%s" x="20" y="%d" width="%d" height="38" rx="4"/>\n}
	  . qq{<text class="name" x="30" y="%d">%s</text><text class="says" x="30" y="%d">%s</text>\n},
	  $class, $y, $width, $y + 16, short($name), $y + 31, $says =~ s/'/&#8217;/gr;
	for my $to (grep { exists $x->{$_} } sort keys %$includes)
	{
		$body .= sprintf qq{<circle class="%s" cx="%d" cy="%d" r="6"/>\n}, $class, $x->{$to}, $y + 19;
	}
	return $body;
}

# The last part of a floor's folder
sub short { return $_[0] =~ s{^.*/}{}r }

# The place of a column: a line down to the floor that it stands for, and the floor's name
sub draw_column
{
	my ($name, $x, $top, $y) = @_;
	return sprintf qq{<path d="M%d %d V%d H400"/>\n<text class="says" transform="translate(%d %d) rotate(-50)">%s</text>\n},
	  $x, $top - 6, $y + 19, $x + 2, $top - 12, short($name);
}

# The picture: the calls on top; a mark for each floor that includes another, always above that one's own line
sub draw
{
	my ($top, $step, $width, $first) = (120, 44, 380, 420);
	my %to = arrows();
	my @rows = (reverse(@FLOORS), @BESIDE);
	my %y = map { $rows[$_][0] => $top + $step * $_ } 0 .. $#rows;
	my %x = map { $FLOORS[$_][0] => $first + 27 * ($#FLOORS - $_) } 0 .. $#FLOORS;
	my $body = join '', (map { draw_column($_->[0], $x{ $_->[0] }, $top, $y{ $_->[0] }) } reverse @FLOORS),
	  map { draw_floor($_, $y{ $_->[0] }, $width, \%x, $to{ $_->[0] }) } @rows;
	printf <<'SVG', ($first + 27 * @FLOORS + 40, $top + $step * @rows + 10) x 2, $body;
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="The floors of gnngp and which others each includes">
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2933 }
.title { font-size: 15px; font-weight: 600 } .name { font-weight: 600 } .says { font-size: 11.5px; fill: #52606d }
rect { stroke: #9aa5b1 } rect.pg { fill: #e3f0fb } rect.core { fill: #f3f0e4 } rect.cuda { fill: #e5f3e4 }
circle.pg { fill: #2b6cb0 } circle.core { fill: #8a6d1f } circle.cuda { fill: #3c8c3a }
path { fill: none; stroke: #e4e7eb } rect.ground { fill: #ffffff; stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7eb } .says { fill: #9aa5b1 } path { stroke: #323f4b } rect { stroke: #3e4c59 } rect.ground { fill: #12181f }
rect.pg { fill: #1c3044 } rect.core { fill: #35301f } rect.cuda { fill: #1f3623 }
circle.pg { fill: #74c0fc } circle.core { fill: #e0b84c } circle.cuda { fill: #8ce99a }
}
</style>
<rect class="ground" width="100%%" height="100%%"/>
<text class="title" x="20" y="30">The floors</text>
<text class="says" x="20" y="52">A mark: this floor includes the one whose column it stands in.</text>
<text class="says" x="20" y="68">Every column ends at its own floor: a mark below its end</text>
<text class="says" x="20" y="84">would be an include that goes up.</text>
%s</svg>
SVG
}

die "usage: perl test/floors.pl check|draw\n" unless @ARGV == 1 && $ARGV[0] =~ /^(check|draw)$/;
read_sources();
if ($ARGV[0] eq 'draw')
{
	draw();
}
else
{
	link_files();
	check_types();
	check_floors();
	check_circles();
}

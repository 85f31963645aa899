# metadata.pl - what describes the project to others names one version and parses.
#
# Prints what does not hold, and nothing when all does.  Run in the root of the
# checkout; needs nothing but Perl, which comes with PostgreSQL on Debian.
use strict;
use warnings;
use JSON::PP;

# A whole file
sub slurp
{
	my ($path) = @_;
	open my $file, '<', $path or do { print "$path: $!\n"; return ''; };
	local $/ = undef;
	return scalar <$file>;
}

# What the first group of a pattern finds in a file
sub find
{
	my ($path, $pattern) = @_;
	my ($found) = slurp($path) =~ $pattern;
	print "$path: names no version\n" unless defined $found;
	return $found // '';
}

# The parts that the specification of PGXN asks for, of the right kind
sub check_meta
{
	my ($meta) = @_;

	for my $key (qw(name version abstract maintainer license provides meta-spec))
	{
		print "META.json: lacks $key\n" unless defined $meta->{$key};
	}
	print "META.json: meta-spec is not 1.0.0\n" unless ($meta->{'meta-spec'}{version} // '') eq '1.0.0';
	print "META.json: the version is none of three numbers\n" unless $meta->{version} =~ /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/;
	for my $part (values %{ $meta->{provides} })
	{
		for my $key (qw(file docfile))
		{
			print "META.json: no file $part->{$key}\n" unless -e $part->{$key};
		}
	}
	return;
}

my $meta = eval { decode_json(slurp('META.json')) };
if (!$meta)
{
	print "META.json: $@";
	exit;
}
check_meta($meta);

my $version = find('Makefile', qr/^EXTVERSION = (\S+)$/m);
my %named = (
	'gnngp.control' => find('gnngp.control', qr/^default_version = '(\S+)'$/m),
	'META.json, version' => $meta->{version},
	'META.json, provides' => $meta->{provides}{gnngp}{version} // 'none',
	'rpm/gnngp.spec' => find('rpm/gnngp.spec', qr/^Version:\s+(\S+)$/m),
	'debian/changelog' => find('debian/changelog', qr/\A\w+ \((\S+)-\w+\)/));
my $home = $meta->{resources}{homepage} // 'none';
for my $place (qw(debian/control.in rpm/gnngp.spec))
{
	my $url = find($place, qr/^(?:Homepage|URL):\s+(\S+)$/m);
	print "$place: home page $url, META.json has $home\n" if $url ne $home;
}
for my $place (sort keys %named)
{
	print "$place: version $named{$place}, the Makefile has $version\n" if $named{$place} ne $version;
}

# Ids and labels that meet in a hash table, and lists of millions: in time, or ended in time.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Gnngp;

# Generous: the machine may be busy.  What is held against these took minutes, or seconds beyond a timeout.
my $soon = 20;
my $patience = 1.5;

# A single-byte encoding: every byte but zero is a character.
my $node = PostgreSQL::Test::Cluster->new('hostile');
$node->init(extra => [ '--encoding=LATIN1', '--locale=C' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp');

# Fills a table by COPY, with escapes.
sub copy_rows
{
	my ($table, @rows) = @_;

	$node->safe_psql('postgres', "SET client_encoding = 'LATIN1'; COPY $table FROM stdin;\n" . join("\n", @rows) . "\n\\.\n");
	return;
}

# Runs a statement that must be done soon; what it printed.
sub runs_soon
{
	my ($sql, $name) = @_;
	my $started = time;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = error; SET statement_timeout = '${soon}s'; $sql");

	note sprintf('%s: %.1f s', $name, time - $started);
	is($rc, 0, $name) or diag $err;
	return $out;
}

# The number whose MurmurHash3 finaliser is given: with equal low bits they meet in a table of that hash.
sub unmix
{
	use integer;
	my ($k) = @_;
	my $high = sub { return ($_[0] >> 33) & 0x7fffffff; };

	$k ^= $high->($k);
	$k *= -7154897129451604005;		# the inverse of 0xc4ceb9fe1a85ec53
	$k ^= $high->($k);
	$k *= 5725274745694666757;		# of 0xff51afd7ed558ccd
	$k ^= $high->($k);
	return $k;
}

# 200,000 integer ids, each linked with the next, and the first of them as labels
my @ids = map { unmix($_ << 24) } 1 .. 200_000;
$node->safe_psql('postgres', 'CREATE TABLE n (id bigint, class bigint); CREATE TABLE e (src bigint, dst bigint)');
# Every label stands twice: else it would be no class
copy_rows('n', map { "$ids[$_]\t" . ($_ < 120_000 ? $ids[$_ >> 1] : '\N') } 0 .. $#ids);
copy_rows('e', map { "$ids[$_]\t$ids[$_ - 1]" } 0 .. $#ids);
$node->safe_psql('postgres', q{SELECT gp_create_graph('integers', 'n', 'e', target => 'class')});
runs_soon(q{SELECT gp_estimate('integers', 'gcn', strategy => 'nystrom', landmarks => 10)}, 'integer ids and labels that collided are read');
is(runs_soon(q{SELECT length(gp_graph(src, dst)::text) > 200000 FROM e}, 'and collected by an aggregate'), 't', 'as a graph');

# 32 bits, turned left
sub turn
{
	my ($x, $k) = @_;

	return (($x << $k) | ($x >> (32 - $k))) & 0xffffffff;
}

# Bob Jenkins' mix, as PostgreSQL's hash of texts has it, and the way back from its end
my @steps = ([ 0, 2, 4, 1 ], [ 1, 0, 6, 2 ], [ 2, 1, 8, 0 ], [ 0, 2, 16, 1 ], [ 1, 0, 19, 2 ], [ 2, 1, 4, 0 ]);
my @last = ([ 2, 1, 14 ], [ 0, 2, 11 ], [ 1, 0, 25 ], [ 2, 1, 16 ], [ 0, 2, 4 ], [ 1, 0, 14 ], [ 2, 1, 24 ]);

sub mix
{
	my @s = @_;

	for (@steps)
	{
		my ($x, $y, $k, $z) = @$_;

		$s[$x] = (($s[$x] - $s[$y]) & 0xffffffff) ^ turn($s[$y], $k);
		$s[$y] = ($s[$y] + $s[$z]) & 0xffffffff;
	}
	return @s;
}

# The state before the last two mixes, from the state at the end.
sub back
{
	my @s = @_;

	for (reverse @last)
	{
		my ($x, $y, $k) = @$_;

		$s[$x] = (($s[$x] + turn($s[$y], $k)) & 0xffffffff) ^ $s[$y];
	}
	for (reverse @steps)
	{
		my ($x, $y, $k, $z) = @$_;

		$s[$y] = ($s[$y] - $s[$z]) & 0xffffffff;
		$s[$x] = (($s[$x] ^ turn($s[$y], $k)) + $s[$y]) & 0xffffffff;
	}
	return @s;
}

# A text of 24 bytes that begins with a number and whose hash is the same for all numbers.
sub colliding_text
{
	my ($number) = @_;
	my $head = sprintf '%012d', $number;
	my $start = (0x9e3779b9 + 24 + 3923095) & 0xffffffff;
	my @state = mix(map { ($start + $_) & 0xffffffff } unpack 'V3', $head);

	for (my $free = 0;; $free++)
	{
		my @wanted = back($free, 4711, 815);
		my $tail = pack 'V3', map { ($wanted[$_] - $state[$_]) & 0xffffffff } 0 .. 2;

		return $head . $tail unless $tail =~ /\0/;
	}
}

# 60,000 texts as ids and labels, with five links to each
my @texts = map { join '', map { sprintf '\\x%02x', ord } split //, colliding_text($_) } 1 .. 60_000;
$node->safe_psql('postgres', 'CREATE TABLE tn (id text, class text)');
copy_rows('tn', map { "$texts[$_]\t$texts[$_ >> 1]" } 0 .. $#texts);
$node->safe_psql('postgres', q{
	CREATE TABLE te AS SELECT a.id AS src, b.id AS dst FROM tn AS a CROSS JOIN generate_series(1, 5) AS k
	JOIN tn AS b ON left(b.id, 12)::integer = 1 + (left(a.id, 12)::integer * 7 + k) % 60000});
is($node->safe_psql('postgres', 'SELECT count(DISTINCT hashtextextended(id, 0)) FROM tn'), '1', 'all texts have one hash');
$node->safe_psql('postgres', q{SELECT gp_create_graph('texts', 'tn', 'te', target => 'class')});
runs_soon(q{SELECT gp_estimate('texts', 'gcn', strategy => 'nystrom', landmarks => 10)}, 'text ids and labels that collide are read');
$node->safe_psql('postgres', q{
	UPDATE tn SET class = left(id, 12)::integer % 2;
	DELETE FROM te WHERE ctid NOT IN (SELECT ctid FROM te LIMIT 500);
	DELETE FROM tn WHERE id NOT IN (SELECT src FROM te UNION SELECT dst FROM te)});
runs_soon(q{SELECT gp_fit('texts', kernel => 'gcn'); SELECT gp_fit_links('texts')}, 'they are fitted');
is(runs_soon(q{SELECT count(*) = (SELECT count(*) FROM te) FROM gp_score_links('texts',
	(SELECT array_agg(src ORDER BY src, dst) FROM te), (SELECT array_agg(dst ORDER BY src, dst) FROM te))},
	'and found in link models'), 't', 'all of them');
is(runs_soon(q{SELECT node = id FROM (SELECT max(id) AS id FROM tn) AS t, gp_predict('texts', id)}, 'and in models'), 't', 'each by itself');

# Ten million ids: every timeout is served soon, whatever it meets
$node->safe_psql('postgres', small_graph() . q{
	SELECT gp_fit('small');
	CREATE TABLE many (a bigint[]);
	ALTER TABLE many ALTER a SET STORAGE EXTERNAL;
	INSERT INTO many SELECT array_agg((i::bigint * 7919 * 104729) % 10000019) FROM generate_series(1, 10000000) AS i});
my $sql = "\\set VERBOSITY verbose\n";
my @timeouts = (100, 200, 300, 450, 600, 800);
$sql .= "SET statement_timeout = $_; SELECT clock_timestamp() AS started \\gset\n"
	. "SELECT count(*) FROM many, gp_predict('small', nodes => a);\n"
	. "SET statement_timeout = 0; SELECT 'late ' || extract(epoch FROM clock_timestamp() - :'started') * 1000 - $_;\n" for @timeouts;
$sql .= "SELECT 'rows ' || count(*) FROM gp_predict('small');\n";
my ($rc, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 0);
my @late = $out =~ /late (\S+)/g;
note 'late by (ms): ' . join(', ', map { sprintf '%.0f', $_ } @late);
is(scalar(() = $err =~ /57014/g), scalar(@timeouts), 'lists of ten million ids are ended by a timeout');
ok(@late == @timeouts && (grep { $_ >= 1000 * $patience } @late) == 0, 'soon');
like($out, qr/rows 200/, 'the session works on');

$node->stop;
done_testing();

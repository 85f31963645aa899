# Gnngp.pm - what the TAP tests share: graphs to fit, sessions in the background, the SQL of documents.
package Gnngp;

use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);
use IPC::Run;
use List::Util qw(max min);
use Time::HiRes qw(usleep time);
use Test::More;

our @EXPORT = qw(small_graph large_graph background poll finish document_sql citus_cluster timeouts);

# A graph that is fitted in milliseconds: tables nodes and edges, graph "small".
sub small_graph
{
	return q{
		CREATE TABLE nodes AS
			SELECT i AS id, ARRAY[i % 13, i % 10, 3]::real[] AS x,
				   CASE WHEN i % 3 = 0 THEN 'class ' || i % 2 END AS y
			FROM generate_series(1, 200) i;
		CREATE TABLE edges AS
			SELECT i AS src, (i * 7 + 3) % 200 + 1 AS dst FROM generate_series(1, 200) i
			UNION ALL SELECT i, i % 200 + 1 FROM generate_series(1, 200) i;
		SELECT gp_create_graph('small', 'nodes', 'edges', features => '{x}', target => 'y');
	};
}

# A graph whose fit with many landmarks takes many seconds, by default: graph "large".
sub large_graph
{
	my ($nodes) = (@_, 40_000);

	return qq{
		CREATE TABLE large_nodes AS
			SELECT i AS id,
				   (SELECT array_agg(sin(i * k * 0.37)::real + 1) FROM generate_series(1, 24) k) AS x,
				   CASE WHEN i % 2 = 0 THEN i % 7 END AS y
			FROM generate_series(1, $nodes) i;
		CREATE TABLE large_edges AS
			SELECT i AS src, (i::bigint * j * 31 + 7 * j) % $nodes + 1 AS dst
			FROM generate_series(1, $nodes) i, generate_series(1, 6) j;
		SELECT gp_create_graph('large', 'large_nodes', 'large_edges', features => '{x}', target => 'y');
	};
}

# Starts psql with a statement in the background.
sub background
{
	my ($node, $sql, $db) = @_;
	my $self = { out => '', err => '' };

	$self->{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-d',
			$node->connstr($db // 'postgres'), '-c', $sql ],
		'<', \undef, '>', \$self->{out}, '2>', \$self->{err});
	return $self;
}

# Waits until a query gives "t"; false after the timeout.  Each look is a connection: what takes long is looked for less often.
sub poll
{
	my ($node, $query, $seconds) = @_;
	my $started = time;

	while ((my $waited = time - $started) < ($seconds // 60))
	{
		return 1 if $node->safe_psql('postgres', $query) eq 't';
		usleep(1e6 * min(1, max(0.02, $waited / 10)));
	}
	return 0;
}

# Runs statements under one timeout after the other, each of which is to end them soon; what is done after each comes last.
sub timeouts
{
	my ($node, $sql, $what, $times, $after) = @_;

	for my $ms (@$times)
	{
		my $started = time;
		my (undef, undef, $err) = $node->psql('postgres', "SET statement_timeout = '${ms}ms'; $sql");
		my $late = time - $started - $ms / 1000;

	  SKIP:
		{
			skip("$what was over before", 2) if $err !~ /ERROR/;
			like($err, qr/canceling statement due to statement timeout/, "a timeout after $ms ms ends $what");
			cmp_ok($late, '<', 1.5, sprintf('soon: %.2f s', $late));
		}
		$after->();
	}
}

# The blocks of SQL below a heading of a document
sub document_sql
{
	my ($name, $heading) = @_;
	my $path = dirname(__FILE__) . "/../../doc/$name";

	open my $file, '<', $path or die "$path: $!";
	my $text = do { local $/ = undef; <$file> };
	my ($section) = $text =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms or die "$path has no section $heading";
	return $section =~ /^```sql(?: no-run)?\n(.*?)^```/msg;
}

# A coordinator and workers of Citus that can reach each other, with gnngp, by their names; skips the file without Citus.
sub citus_cluster
{
	my @names = ('coordinator', @_);
	my %node;

	chomp(my $library = qx(pg_config --pkglibdir));
	chomp(my $share = qx(pg_config --sharedir));
	plan(skip_all => 'Citus is not installed') unless -e "$library/citus.so" && -e "$share/extension/citus.control";
	for my $name (@names)
	{
		my $node = $node{$name} = PostgreSQL::Test::Cluster->new($name);

		$node->init;
		$node->append_conf('postgresql.conf', q{
listen_addresses = 'localhost'
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
citus.shard_count = 6
max_prepared_transactions = 60
});
		$node->append_conf('pg_hba.conf', 'host all all localhost trust');
		plan(skip_all => 'Citus cannot be loaded') unless $node->start(fail_ok => 1);
		$node->safe_psql('postgres', 'CREATE EXTENSION citus');
	}
	$node{coordinator}->safe_psql('postgres', join(';', map { 'SELECT ' . ($_ eq 'coordinator' ? 'citus_set_coordinator_host' : 'citus_add_node')
			. "('localhost', " . $node{$_}->port . ')' } @names) . '; CREATE EXTENSION gnngp');
	return %node;
}

# Waits for a background session to end; returns its exit status.
sub finish
{
	my ($self) = @_;

	$self->{run}->finish;
	return $self->{run}->result(0);
}

1;

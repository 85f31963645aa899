# Tables of models, of predictions and of packed edges, between sessions: who reads one waits for nobody, and nobody for who reads it.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('tables');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nclient_min_messages = error");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . small_graph());
my $fit = q{SELECT gp_fit('small', kernel => 'gcn', strategy => 'sql', nugget => 0.1)};

# A session in which a statement has left a transaction open
sub open_session
{
	my ($sql) = @_;
	my $session = $node->background_psql('postgres');

	$session->query_safe("SET statement_timeout = '20s'; BEGIN; $sql");
	return $session;
}

# Ends it.
sub close_session
{
	my ($session, $how) = @_;

	$session->query_safe($how // 'COMMIT');
	$session->quit;
	return;
}

# The SQLSTATE of a statement, 57014 when it waits, or its output; and its hint.
sub outcome
{
	my ($sql) = @_;
	my (undef, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET statement_timeout = '10s';\n$sql;", on_error_stop => 0);
	my ($state) = $err =~ /ERROR:\s+(\w{5})/;
	my ($hint) = $err =~ /HINT:\s+(.*)/;

	return wantarray ? ($state // $out, $hint // '') : $state // $out;
}

# Packed edges: a reader, as a dump is, sees those of before, and neither it nor a refresh waits.
$node->safe_psql('postgres', "$fit; CALL gp_refresh('small')");
my $edges = q{SELECT md5(string_agg(e::text, ',' ORDER BY part)) FROM small_edges AS e};
my $packed = $node->safe_psql('postgres', $edges);
my $reader = open_session('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
is($reader->query_safe($edges), $packed, 'a reader of packed edges in a transaction');
$node->safe_psql('postgres', 'INSERT INTO edges VALUES (1, 50)');
my $refresh = open_session(q{CALL gp_refresh('small')});
is(outcome($edges), $packed, 'beside a refresh that packs anew anybody reads those before');
close_session($refresh);
isnt(outcome($edges), $packed, 'then come the new ones');
is($reader->query_safe($edges), $packed, 'which the reader does not see');
close_session($reader);

# Dropping a model or a graph, or giving it away, is refused at once beside a reader of any of its tables, and nobody waits behind it.
$node->safe_psql('postgres', q{
	CREATE ROLE other;
	GRANT CREATE ON SCHEMA public TO other;
	CREATE TABLE parted (LIKE nodes) PARTITION BY RANGE (id);
	CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (100);
	CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (100) TO (MAXVALUE);
	INSERT INTO parted TABLE nodes;
	SELECT gp_create_graph('parted', 'parted', 'edges', features => '{x}', target => 'y');
	SELECT gp_fit('parted', kernel => 'gcn', strategy => 'sql', nugget => 0.1);
	CALL gp_refresh('parted')});
my @tables = split /\n/, $node->safe_psql('postgres', q{
	SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relname ~ '^parted_(predictions1?(_\d)?|edges)$' ORDER BY 1});
is(scalar(@tables), 7, 'two tables with two partitions each, and one of edges');
for my $table (@tables)
{
	$reader = open_session("LOCK TABLE ONLY $table IN ACCESS SHARE MODE");
	for my $call (q{gp_drop_model('parted')}, q{gp_drop_graph('parted')}, q{gp_set_owner('parted', 'other')})
	{
		my ($state, $hint) = outcome("SELECT $call");

		is($state, '55006', "beside a reader of $table: $call");
		like($hint, qr/pg_locks/, 'says where to look');
	}
	close_session($reader);
}

# Grants of a model with tables come one at a time; of others, side by side.
$node->safe_psql('postgres', q{CREATE ROLE r1; CREATE ROLE r2; SELECT gp_fit('small', 'plain', 'gcn', nugget => 0.1); SELECT gp_grant('small', 'r2')});
my $granted = open_session(q{SELECT gp_grant('small', 'r1')});
is(outcome("SELECT $_('small', 'r2')"), '55006', "$_ of a model with a table, beside an open gp_grant") for qw(gp_grant gp_revoke);
close_session($granted);
is(outcome(q{SELECT gp_revoke('small', 'r2'); SELECT gp_grant('small', 'r2')}), "\n", 'and after it');
is(outcome(q{SELECT has_table_privilege(r, predictions, 'SELECT') FROM gp_models, unnest('{r1,r2}'::name[]) AS r WHERE model = 'small'}), "t\nt", 'both read the table');
$granted = open_session(q{SELECT gp_grant('plain', 'r1')});
is(outcome(q{SELECT gp_grant('plain', 'r2')}), '', 'of a model without one, beside it');
close_session($granted);

# A refresh keeps a table of before one of whose partitions is read, and waits neither for that.
my $past = q{SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'parted'};
is(outcome($past), 'public.parted_predictions1|{public.parted_predictions}', 'a table with partitions and the one before');
$reader = open_session('LOCK TABLE ONLY parted_predictions_2 IN ACCESS SHARE MODE');
is(outcome(q{CALL gp_refresh('parted')}), '', 'a refresh beside a reader of a partition');
is(outcome($past), 'public.parted_predictions2|{public.parted_predictions,public.parted_predictions1}', 'leaves that table');
$refresh = open_session(q{CALL gp_refresh('parted')});
is(outcome('SELECT count(*) FROM parted_predictions'), '200', 'which anybody can read while a refresh has been at it');
close_session($refresh);
close_session($reader);
is(outcome(q{CALL gp_refresh('parted')}), '', 'the next refresh');
is(outcome($past), 'public.parted_predictions|{public.parted_predictions1}', 'drops all that nobody reads');

# Autovacuum is no reader: it makes way.
$node->safe_psql('postgres', q{
	ALTER TABLE parted_predictions_2 SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1);
	INSERT INTO parted_predictions SELECT i, repeat('x', 500) FROM generate_series(1000, 30000) AS i;
	DELETE FROM parted_predictions WHERE node >= 1000});
$node->append_conf('postgresql.conf', "autovacuum = on\nautovacuum_naptime = 1s");
$node->reload;
ok(poll($node, q{SELECT count(*) > 0 FROM pg_stat_activity AS a JOIN pg_locks AS l USING (pid)
	WHERE a.backend_type = 'autovacuum worker' AND l.relation = 'parted_predictions_2'::regclass}), 'autovacuum is at a table');
is(outcome(q{SELECT gp_drop_graph('parted')}), '', 'which can be dropped all the same');
is(outcome(q{SELECT count(*) FROM pg_class WHERE relname ~ '^parted_(predictions|edges)'}), '0', 'with all others');

$node->stop;
done_testing();

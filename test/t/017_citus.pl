# Tables that Citus has spread over nodes: the same models as of local tables, read at one moment, and never another node's.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my %node = citus_cluster('worker1', 'worker2');
my $node = $node{coordinator};
my $port = $node->port;
is($node{$_}->safe_psql('postgres', q{SELECT count(*) FROM pg_extension WHERE extname = 'gnngp'}), '1',
	"CREATE EXTENSION reaches $_") for qw(worker1 worker2);

# The SQLSTATE of a statement, and all that it said
sub outcome
{
	my ($sql, $at) = @_;
	my ($rc, $out, $err) = ($at // $node)->psql('postgres', "\\set VERBOSITY verbose\n$sql;");
	my $state = $err =~ /ERROR:\s+(\w{5})/ ? $1 : 'done';

	return wantarray ? ($state, $out, $err) : $state;
}

# Tables of one shape, local and distributed
$node->safe_psql('postgres', small_graph() . q{
	CREATE TABLE features AS SELECT id AS node, id % 7 AS number, 1.5 AS value FROM nodes;
	CREATE TABLE names AS SELECT 'node ' || id AS id, x[1]::numeric AS a, x[2] AS b, id::float8 / 3 AS y FROM nodes;
	CREATE TABLE name_edges AS SELECT 'node ' || src AS src, 'node ' || dst AS dst, 1.5 + src % 3 AS w FROM edges;
	CREATE TABLE d_nodes (LIKE nodes);
	CREATE TABLE d_edges (LIKE edges);
	CREATE TABLE d_features (LIKE features);
	CREATE TABLE d_names (LIKE names);
	CREATE TABLE d_name_edges (LIKE name_edges);
	SELECT create_distributed_table('d_nodes', 'id'), create_distributed_table('d_edges', 'src'),
		create_distributed_table('d_features', 'node'), create_distributed_table('d_names', 'id'),
		create_distributed_table('d_name_edges', 'src');
	INSERT INTO d_nodes TABLE nodes;
	INSERT INTO d_edges TABLE edges;
	INSERT INTO d_features TABLE features;
	INSERT INTO d_names TABLE names;
	INSERT INTO d_name_edges TABLE name_edges;
	CREATE VIEW d_view AS SELECT id, x, y FROM d_nodes WHERE id > 0;
	SELECT gp_create_graph('spread', 'd_nodes', 'd_edges', features => '{x}', target => 'y'),
		gp_create_graph('view', 'd_view', 'd_edges', features => '{x}', target => 'y'),
		gp_create_graph('mixed', 'nodes', 'd_edges', features => '{x}', target => 'y'),
		gp_create_graph('sparse', 'nodes', 'edges', sparse_features => 'features', target => 'y'),
		gp_create_graph('d_sparse', 'd_nodes', 'd_edges', sparse_features => 'd_features', target => 'y'),
		gp_create_graph('names', 'names', 'name_edges', features => '{a,b}', target => 'y', weight => 'w', directed => true),
		gp_create_graph('d_names', 'd_names', 'd_name_edges', features => '{a,b}', target => 'y', weight => 'w', directed => true);
	SELECT gp_fit(g) FROM unnest('{small,spread,view,mixed,sparse,d_sparse,names,d_names}'::text[]) g;
	SELECT gp_fit_links(g) FROM unnest('{small,spread}'::text[]) g;
});

# How many rows two queries don't share
sub differences
{
	my ($one, $other) = @_;

	return $node->safe_psql('postgres', "SELECT count(*) FROM (($one EXCEPT ALL $other) UNION ALL ($other EXCEPT ALL $one)) d");
}

for my $pair (['small', 'spread'], ['small', 'view'], ['small', 'mixed'], ['sparse', 'd_sparse'])
{
	is(differences(map { "SELECT * FROM gp_predict('$_', top => NULL)" } @$pair), '0', "$pair->[1]: the same bits as $pair->[0]");
}
is(differences(map { "SELECT * FROM gp_predict('$_', NULL::text)" } qw(names d_names)), '0',
	'and so have texts, values, weights and several columns');
is(differences(map { "SELECT * FROM gp_predict_links('$_')" } qw(small spread)), '0', 'and so have links');
$node->safe_psql('postgres', q{CALL gp_refresh('spread')});
is(differences(map { "SELECT * FROM gp_predict('$_', top => NULL)" } qw(small spread)), '0', 'a refresh gives the same again');
is(outcome(q{SELECT count(*) FROM gp_tune('spread', kernels => ARRAY['gcn(layers=1)', 'rbf(gamma=1)']), gp_estimate('spread')}),
	'done', 'gp_tune and gp_estimate read them, too');
like($node->safe_psql('postgres', q{
	BEGIN;
	INSERT INTO d_nodes VALUES (1000, '{1,2,3}', NULL);
	INSERT INTO d_edges VALUES (1000, 1);
	SELECT nodes FROM gp_fit('spread', 'own');
	ROLLBACK}), qr/^201$/m, 'a transaction reads what it has written itself');

# Aggregates run on the workers
like($node->safe_psql('postgres', q{EXPLAIN (VERBOSE) SELECT gp_graph(src, dst) FROM d_edges}), qr/worker_partial_agg/,
	'gp_graph is made in parts');
is($node->safe_psql('postgres', q{SELECT (SELECT gp_graph(src, dst)::text FROM d_edges) = (SELECT gp_graph(src, dst)::text FROM edges)}),
	't', 'the same as of local tables');

# Edges with directions, weights and repeats
$node->safe_psql('postgres', q{
	CREATE TABLE ways AS SELECT src::int4, dst::int8, (1 + src % 4)::real AS w FROM edges UNION ALL SELECT src, dst, 0.25 FROM edges WHERE src < 50;
	CREATE TABLE d_ways (LIKE ways);
	SELECT create_distributed_table('d_ways', 'dst');
	INSERT INTO d_ways TABLE ways;
	SELECT gp_create_graph(d || 'ways', d || 'nodes', d || 'ways', features => '{x}', target => 'y', weight => 'w', directed => true),
		gp_create_graph(d || 'heavy', d || 'nodes', d || 'ways', features => '{x}', target => 'y', weight => 'w'),
		gp_create_graph(d || 'oneway', d || 'nodes', d || 'ways', features => '{x}', target => 'y', directed => true) FROM unnest('{"",d_}'::text[]) d;
	SELECT gp_fit(d || g, kernel => 'gcn(norm=row)') FROM unnest('{"",d_}'::text[]) d, unnest('{ways,heavy,oneway}'::text[]) g});
is(differences(map { "SELECT * FROM gp_predict('$_', top => NULL)" } $_, "d_$_"), '0', "$_: directions and weights") for qw(ways heavy oneway);
$node->safe_psql('postgres', q{INSERT INTO d_ways VALUES (1, 2, -1)});
my (undef, undef, $negative) = outcome(q{SELECT gp_fit('d_ways')});
like($negative, qr/22003.*"w" of table "public.d_ways" is -1 for the edge from 1 to 2/s, 'a wrong weight is named by its row');
$node->safe_psql('postgres', q{SELECT gp_drop_graph(g) FROM unnest('{d_ways,d_heavy,d_oneway}'::text[]) g; DROP TABLE d_ways});
$node->safe_psql('postgres', q{
	CREATE TABLE repeats AS SELECT src::int4, dst::int4 FROM edges UNION ALL SELECT dst, src FROM edges UNION ALL SELECT 5, 5;
	CREATE TABLE d_repeats (LIKE repeats);
	SELECT create_distributed_table('d_repeats', 'dst');
	INSERT INTO d_repeats TABLE repeats;
	SELECT gp_create_graph('repeats', 'nodes', 'repeats', features => '{x}', target => 'y'),
		gp_create_graph('d_repeats', 'd_nodes', 'd_repeats', features => '{x}', target => 'y');
	SELECT gp_fit(g) FROM unnest('{repeats,d_repeats}'::text[]) g});
is(differences(map { "SELECT * FROM gp_predict('$_', top => NULL)" } qw(repeats d_repeats)), '0',
	'repeated edges and loops make no difference');
$node->safe_psql('postgres', 'INSERT INTO d_repeats VALUES (99998, 99998), (99998, 99998)');
my (undef, undef, $loops) = outcome(q{SELECT gp_fit('d_repeats')});
like($loops, qr/names a node that table "public.d_nodes" does not have: 99998.*DETAIL:  2 rows/s, 'a loop of an unknown node is told');
$node->safe_psql('postgres', 'TRUNCATE d_repeats; INSERT INTO d_repeats TABLE repeats; INSERT INTO d_repeats VALUES (NULL, 4)');
(undef, undef, $loops) = outcome(q{SELECT gp_fit('d_repeats')});
like($loops, qr/23502.*"src" of table "public.d_repeats" contains NULL.*DETAIL:  1 row/s, 'and so is NULL');
$node->safe_psql('postgres', q{SELECT gp_drop_graph('d_repeats'); DROP TABLE d_repeats});

# Rights are those of the graph's owner
$node->safe_psql('postgres', q{
	CREATE ROLE analyst LOGIN;
	GRANT CREATE ON SCHEMA public TO analyst;
	GRANT SELECT ON d_nodes, d_edges TO analyst;
	SET ROLE analyst;
	SELECT gp_create_graph('theirs', 'd_nodes', 'd_edges', features => '{x}', target => 'y');
	SELECT gp_fit('theirs');
	RESET ROLE;
	REVOKE SELECT ON d_edges FROM analyst;
});
is(outcome(q{CALL gp_refresh('analyst.theirs')}), '42501', 'a grant that is missing is missed');

# A writer comes between the queries for nodes and edges: the edges wait until the writer is done
$node->safe_psql('postgres', q{
	CREATE VIEW late_edges AS
		WITH wait AS MATERIALIZED (SELECT 1 AS one FROM pg_advisory_xact_lock_shared(17))
		SELECT src, dst FROM d_edges JOIN wait ON one = 1;
	SELECT gp_create_graph('late', 'd_nodes', 'late_edges', features => '{x}', target => 'y');
	SELECT gp_fit('late');
});
my $new = 2000;
my $held = q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 17 AND mode = 'ExclusiveLock' AND granted)};
my $waits = q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 17 AND NOT granted)};

sub beside_writer
{
	my ($sql) = @_;
	my $writer = background($node, q{
		SELECT pg_advisory_lock(17);
		DO $$ BEGIN
			FOR k IN 1..600 LOOP
				EXIT WHEN (} . $waits . q{);
				PERFORM pg_sleep(0.05);
			END LOOP;
		END $$;
		INSERT INTO d_nodes VALUES (} . ++$new . qq{, '{1,2,3}', NULL);
		INSERT INTO d_edges SELECT $new, i FROM generate_series(1, 20) i;
		INSERT INTO d_edges SELECT i, $new FROM generate_series(1, 20) i;
		SELECT pg_advisory_unlock(17)});

	ok(poll($node, $held), 'the writer is there');
	my @result = outcome($sql);
	is(finish($writer), 0, 'and writes') or diag($writer->{err});
	return @result;
}

my ($state, $out, $err) = beside_writer(q{SELECT gp_fit('late')});
is($state, '23503', 'several queries of READ COMMITTED see several moments');
like($err, qr/HINT:.*REPEATABLE READ/, 'the hint says what helps');
($state, $out, $err) = beside_writer(q{CALL gp_refresh('late')});
is($state, 'done', 'a refresh reads at one moment') or diag($err);
($state, $out, $err) = beside_writer(q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT gp_fit('late'); COMMIT});
is($state, 'done', 'and so does a transaction of REPEATABLE READ') or diag($err);

# Rows that are wrong for good
$node->safe_psql('postgres', 'INSERT INTO d_edges VALUES (1, 99999); INSERT INTO edges VALUES (1, 99999)');
($state, $out, $err) = outcome(q{SELECT gp_fit('spread')});
is($state, '23503', 'an unknown node is refused');
like($err, qr/"dst" of table "public.d_edges".*"public.d_nodes".*99999/, 'by table, column and value');
like($err, qr/HINT:.*leaves such rows out\. .*REPEATABLE READ/, 'with both hints');
(undef, undef, $err) = outcome(q{CALL gp_refresh('spread')});
like($err, qr/HINT:.*leaves such rows out\.$/m, 'but not where REPEATABLE READ it was');
(undef, undef, $err) = outcome(q{SELECT gp_fit('small')});
like($err, qr/HINT:.*leaves such rows out\.$/m, 'nor of local tables');
$node->safe_psql('postgres', 'DELETE FROM d_edges WHERE dst = 99999; DELETE FROM edges WHERE dst = 99999');
$node->safe_psql('postgres', q{DELETE FROM d_edges WHERE src > 1000 OR dst > 1000; DELETE FROM d_nodes WHERE id > 1000;
	SELECT gp_fit('spread')});

# Queries that Citus pushes down: refused on other nodes, also where these have a model of that name
$node->safe_psql('postgres', q{
	CREATE TABLE results (id int, class text);
	SELECT create_distributed_table('results', 'id');
	INSERT INTO results SELECT id FROM nodes});
my $update = q{UPDATE results r SET class = p.class FROM gp_predict('spread', NULL::bigint) p WHERE p.node = r.id};
my $safe = q{WITH p AS MATERIALIZED (SELECT * FROM gp_predict('spread', NULL::bigint))
	UPDATE results r SET class = p.class FROM p WHERE p.node = r.id};
my $wrong = q{SELECT count(*) FROM results r JOIN gp_predict('spread', NULL::bigint) p ON p.node = r.id WHERE r.class IS DISTINCT FROM p.class};

for my $has (0, 1)
{
	my $name = $has ? 'a worker with a model of that name' : 'a worker';

	$node{$_}->safe_psql('postgres', q{
		SET citus.enable_ddl_propagation = off;
		CREATE TABLE own_nodes AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'other ' || i % 2 END AS y FROM generate_series(1, 200) i;
		CREATE TABLE own_edges AS SELECT i AS src, i % 200 + 1 AS dst FROM generate_series(1, 200) i;
		SELECT gp_create_graph('spread', 'own_nodes', 'own_edges', target => 'y');
		SELECT gp_fit('spread')}) for $has ? qw(worker1 worker2) : ();
	($state, $out, $err) = outcome($update);
	is($state, '0A000', "$name refuses gp_predict in a query that was pushed down");
	like($err, qr/HINT:.*WITH p AS MATERIALIZED/, 'and says what to write');
	is($node->safe_psql('postgres', 'SELECT count(class) FROM results'), '0', 'no row was changed');
	is(outcome(q{SELECT count(*) FROM results r, LATERAL gp_predict('spread', r.id) p}), '0A000', 'nor is it called for each row');
	is(outcome(q{SELECT count(*) FROM results r, LATERAL gp_predict_links('spread', r.id) p}), '0A000', 'and gp_predict_links as little');
}
is(outcome($safe), 'done', 'what the hint says');
is($node->safe_psql('postgres', $wrong), '0', 'is right');
is($node->safe_psql('postgres', q{SELECT count(class) FROM results}), '200', 'for every row');
is($node{worker1}->safe_psql('postgres', q{SELECT DISTINCT left(class, 5) FROM gp_predict('spread')}), 'other',
	'who asks a worker itself is answered with its own model');
is(outcome(q{SELECT gp_predict('small')}, $node{worker1}), '42704', 'and has no other one');
like($node->safe_psql('postgres', q{SELECT string_agg(result, '') FROM run_command_on_workers($$SELECT count(*) FROM gp_predict('spread')$$)}),
	qr/^200200$/, 'and so is run_command_on_workers');

# A node that calls itself
$node->safe_psql('postgres', qq{
	SELECT citus_set_node_property('localhost', $port, 'shouldhaveshards', true);
	CREATE TABLE at_home (id int, class text);
	SELECT create_distributed_table('at_home', 'id', shard_count => 6, colocate_with => 'none');
	INSERT INTO at_home SELECT id FROM nodes});
my $home = $node->safe_psql('postgres', qq{SELECT min(id) FROM at_home WHERE get_shard_id_for_distribution_column('at_home', id) IN
	(SELECT shardid FROM pg_dist_shard_placement WHERE nodeport = $port)});
for my $local (qw(on off))
{
	is($node->safe_psql('postgres', qq{
		SET citus.enable_local_execution = $local;
		UPDATE at_home r SET class = p.class FROM gp_predict('spread', NULL::bigint) p WHERE p.node = r.id AND r.id = $home RETURNING r.id}),
		$home, "a node may ask itself, with local execution $local");
}

# A cancel, and a worker that goes
my $blocker = background($node, q{SELECT pg_advisory_lock(17), pg_sleep(60)});
ok(poll($node, $held), 'edges that wait');
my $slow = background($node, q{SELECT gp_fit('late')});
ok(poll($node, $waits), 'have a fit wait');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM gp_progress});
isnt(finish($slow), 0, 'which is cancelled');
like($slow->{err}, qr/57014/, 'with its SQLSTATE');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
finish($blocker);
my $before = $node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('spread') p});
$node{worker2}->stop('immediate');
isnt(outcome(q{CALL gp_refresh('spread')}), 'done', 'without a worker a refresh fails');
is($node->safe_psql('postgres', q{SELECT outcome FROM gp_refreshes WHERE model = 'spread' ORDER BY started DESC LIMIT 1}),
	'failed', 'its failure is logged');
is($node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('spread') p}),
	$before, 'and the model is the old one');
$node{worker2}->start;
is(outcome(q{CALL gp_refresh('spread')}), 'done', 'with it it succeeds again');

$node{$_}->stop for qw(coordinator worker1 worker2);
done_testing();

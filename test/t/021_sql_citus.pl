# A fit whose factor lies in tables of Citus: the models of one server, no rows through the coordinator, and nothing left of what fails.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Gnngp;

my %node = citus_cluster('worker1', 'worker2', 'worker3');
my $node = $node{coordinator};

# The SQLSTATE of statements, and all that they said
sub outcome
{
	my ($sql, $at) = @_;
	my ($rc, $out, $err) = ($at // $node)->psql('postgres', "\\set VERBOSITY verbose\n$sql;");

	return wantarray ? ($err =~ /ERROR:\s+(\w{5})/ ? $1 : 'done', $out, $err) : ($err =~ /ERROR:\s+(\w{5})/ ? $1 : 'done');
}

# What a fit may leave on any server: schemas, tables, transactions that wait, models, locks.
sub left
{
	return join '', map { $node{$_}->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'gnngp_work%')
			+ (SELECT count(*) FROM pg_class WHERE relname ~ '^(small|features|rows|copies|edges|groups|operated|columns|covariances|targets)\d*_\d+$')
			+ (SELECT count(*) FROM pg_prepared_xacts) + (SELECT count(*) FROM gp_progress)
			+ (SELECT count(*) FROM pg_locks WHERE classid = 'pg_extension'::regclass AND objid <> (SELECT oid FROM pg_extension WHERE extname = 'citus'))}) } sort keys %node;
}

# The same, once servers have ended what was cancelled.
sub left_soon
{
	my $end = time + 10;

	sleep 1 while left() ne '0000' && time < $end;
	return left();
}

# Tables of one shape, local and distributed; no two nodes are twins, of which memory takes one, and
# sixty have more neighbours than all others, so that both strategies take them as landmarks.
$node->safe_psql('postgres', q{
	CREATE TABLE nodes AS SELECT i * 3 + 7 AS id, x, x[1]::float8 AS a, 1000 + 7 * x[2]::float8 AS b, 4 AS c,
			CASE WHEN i % 3 = 0 THEN 'class ' || (i * 3 / 901) END AS y, CASE WHEN i % 3 = 0 THEN sin(i / 40.0) END AS v
		FROM generate_series(1, 900) i, LATERAL (SELECT array_agg(sin(i * j * 1.7) + CASE WHEN j % 3 = i * 3 / 901 THEN 0.6 ELSE 0 END)::real[] AS x
												 FROM generate_series(1, 8) j) f;
	CREATE TABLE edges AS SELECT a * 3 + 7 AS src, (1 + (a + (a * a * k) % (20 + a % 50)) % 900) * 3 + 7 AS dst, 1 + k % 2 AS w
		FROM generate_series(1, 900) a, generate_series(1, 5) k
		UNION ALL SELECT a * 45 + 7, (15 * (a + k) + 1 + k % 14) % 900 * 3 + 7, 1 FROM generate_series(1, 60) a, generate_series(1, 28) k;
	CREATE TABLE d_nodes (LIKE nodes);
	CREATE TABLE d_edges (LIKE edges);
	SELECT create_distributed_table('d_nodes', 'id'), create_distributed_table('d_edges', 'dst');
	INSERT INTO d_nodes TABLE nodes;
	INSERT INTO d_edges TABLE edges;
	CREATE VIEW d_view AS SELECT id, x, y FROM d_nodes WHERE id > 0;
	SELECT gp_create_graph('local', 'nodes', 'edges', features => '{x}', target => 'y'),
		gp_create_graph('spread', 'd_nodes', 'd_edges', features => '{x}', target => 'y'),
		gp_create_graph('view', 'd_view', 'd_edges', features => '{x}', target => 'y'),
		gp_create_graph('nodes_here', 'nodes', 'd_edges', features => '{x}', target => 'y'),
		gp_create_graph('edges_here', 'd_nodes', 'edges', features => '{x}', target => 'y'),
		gp_create_graph('local_values', 'nodes', 'edges', features => '{a,b,c}', target => 'v', weight => 'w'),
		gp_create_graph('spread_values', 'd_nodes', 'd_edges', features => '{a,b,c}', target => 'v', weight => 'w');
});
is(left(), '0000', 'nothing is there at first');

# Fits one graph in memory, and another one with strategy sql: how far off the means are, and how many best classes are the same.
sub near
{
	my ($memory, $sql, $kernel, $nugget) = @_;
	my $settings = "landmarks => 60, nugget => " . ($nugget // 0.1) . ', replace => true';
	my ($far, $same) = split /\n/, $node->safe_psql('postgres', qq{
		SET client_min_messages = error;
		DO \$\$ BEGIN PERFORM gp_fit('$memory', 'm', '$kernel', strategy => 'nystrom', $settings);
			PERFORM gp_fit('$sql', 's', '$kernel', strategy => 'sql', $settings); END \$\$;
		SELECT max(abs(a.score - b.score)) / max(abs(a.score))
		FROM gp_predict('m', top => NULL) a JOIN gp_predict('s', top => NULL) b ON a.node = b.node AND a.class IS NOT DISTINCT FROM b.class;
		SELECT coalesce(avg((a.class = b.class)::int), 1) FROM gp_predict('m') a JOIN gp_predict('s') b USING (node)});

	cmp_ok($far, '<', 3e-4, "$sql, $kernel: the means of memory");
	cmp_ok($same, '>=', 0.998, 'and its best classes');
}

# Kernels for which memory has no exact diagonal, so that both have one prior
near('local', $_, 'gcn(layers=3)') for qw(spread view nodes_here edges_here);
near('local', 'spread', $_) for 'gcn(layers=3, sigma_b=0.3)', 'appnp', 'A*(A*relu(X)*W + b)*W, sigma_b=0.2, layers=3, norm=row',
	'relu(X)*W1 + A*relu(X)*W2, layers=3', 'P(0.3)*relu(A*X0*W)*W';
near('local_values', 'spread_values', 'gcn(layers=3)');
near('local_values', 'spread_values', 'appnp', 'NULL');
is($node->safe_psql('postgres', q{
	SET client_min_messages = error;
	DO $$ BEGIN
		PERFORM gp_fit('local', 'm', 'gcn', strategy => 'sql', landmarks => 60, replace => true);
		PERFORM gp_fit('spread', 's', 'gcn', strategy => 'sql', landmarks => 60, replace => true);
	END $$;
	SELECT max(abs(a.score - b.score)) < 1e-6 * max(abs(a.score)) FROM gp_predict('m', top => NULL) a JOIN gp_predict('s', top => NULL) b USING (node, class)}),
	't', 'tables of Citus give what partitions give');
is(left(), '0000', 'no fit has left anything');

# Rows go from server to server: Citus logs each statement that it repartitions, of those that it would collect, and of subqueries that it would carry.
my $offset = -s $node->logfile;
$node->safe_psql('postgres', q{SET log_min_messages = debug1; SELECT gp_fit('spread', kernel => 'gcn', strategy => 'sql', landmarks => 60)});
my $log = substr slurp_file($node->logfile), $offset;
is(scalar(() = $log =~ /performing repartitioned INSERT/g), 7, 'features, blocks of edges, the first layer both ways, copies of it, some rows and sums of the last one are moved between servers');
unlike($log, qr/Collecting INSERT/, 'nothing is collected on the coordinator');
unlike($log, qr/pull to coordinator/i, 'and nothing is pulled');
unlike($log, qr/generating subplan/, 'and no subquery is');
$offset = -s $node->logfile;
$node->safe_psql('postgres', q{SET log_min_messages = debug1; SELECT gp_fit('spread_values', kernel => 'gcn', strategy => 'sql', landmarks => 60)});
$log = substr slurp_file($node->logfile), $offset;
unlike($log, qr/Collecting INSERT/, 'nor are columns that are scaled');
unlike($log, qr/pull to coordinator|generating subplan/i, 'in any way');

# What is kept serves all that reads a model; a refresh goes the same way.
is(outcome(q{SELECT count(*) FROM gp_loo('s')}), 'done', 'gp_loo reads it');
is(outcome(q{CALL gp_refresh('s')}), 'done', 'a refresh');
is($node->safe_psql('postgres', q{SELECT outcome FROM gp_refreshes WHERE model = 's'}), 'succeeded', 'succeeds');

is($node->safe_psql('postgres', q{BEGIN; INSERT INTO d_nodes SELECT 5000, x, a, b, c, y, v FROM nodes LIMIT 1;
	SELECT nodes FROM gp_fit('spread', 'own', 'gcn', strategy => 'sql', landmarks => 60); ROLLBACK}), '901', 'a transaction reads what it has written itself');
my ($state, $out, $err) = outcome(q{BEGIN; SELECT count(*) FROM d_nodes; SELECT gp_fit('spread', kernel => 'gcn', strategy => 'sql'); ROLLBACK});
like($err, qr/HINT:.*multi_shard_modify_mode/, 'but where it has read over several connections, Citus says what helps');
like($node->safe_psql('postgres', q{SELECT reason FROM gp_estimate('spread', 'gcn', 'sql', 60)}), qr/^20 statements on 8 chunks /, 'gp_estimate knows the statements');
cmp_ok($node->safe_psql('postgres', q{SELECT bytes FROM gp_estimate('spread', 'gcn', 'sql', 60)}), '>=', 28 * 6180, 'and the edges, which are elsewhere');

# What the documents say of several servers
my ($table) = document_sql('scaling.md', 'Several servers');
my $join = 'SELECT p.class, count(*) FROM papers n JOIN papers_predictions p ON p.node = n.id GROUP BY p.class ORDER BY p.class';
$node->safe_psql('postgres', q{
	CREATE TABLE papers AS SELECT id::bigint, x, y FROM nodes;
	CREATE TABLE citations AS SELECT src, dst FROM edges;
	SELECT create_distributed_table('papers', 'id'), create_distributed_table('citations', 'src');
	SELECT gp_create_graph('papers', 'papers', 'citations', features => '{x}', target => 'y');
	SELECT gp_fit('papers', kernel => 'gcn', strategy => 'sql')});
is(outcome($table), 'done', 'predictions in a table');
my $topics = $node->safe_psql('postgres', $join);
is($topics, $node->safe_psql('postgres', q{SELECT class, count(*) FROM gp_predict('papers') GROUP BY class ORDER BY class}), 'are those of the model');
is($node{worker2}->safe_psql('postgres', $join), $topics, 'which any node can tell');
like($node->safe_psql('postgres', "EXPLAIN $join"), qr/Task Count: 6.*Join.*papers_predictions_\d+.*papers_\d+|Task Count: 6.*Join.*papers_\d+.*papers_predictions_\d+/s, 'and workers join');
is(outcome(q{SELECT gp_drop_graph('papers'); DROP TABLE papers_predictions}), 'done', 'and all of it goes');

# Bad rows are told by table, column and value
$node->safe_psql('postgres', 'INSERT INTO d_edges VALUES (1, 99999, 1)');
($state, $out, $err) = outcome(q{SELECT gp_fit('spread', kernel => 'gcn', strategy => 'sql')});
is($state, '23503', 'an unknown node is refused');
like($err, qr/"public.d_edges".*"public.d_nodes"/, 'by the names of the tables');
$node->safe_psql('postgres', 'DELETE FROM d_edges WHERE dst = 99999');

# A node that comes between the queries for ids and for features, as a writer in READ COMMITTED may bring it
$node->safe_psql('postgres', q{
	CREATE FUNCTION late() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO public.d_nodes SELECT 5000, x, a, b, c, y, v FROM public.nodes LIMIT 1;
	END $$;
	CREATE EVENT TRIGGER late ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION late()});
($state, $out, $err) = outcome(q{SELECT gp_fit('spread', kernel => 'gcn', strategy => 'sql')});
is($state, '55000', 'nodes that change under a fit end it');
like($err, qr/"public.d_nodes" had 900 rows, and then 901.*HINT:.*REPEATABLE READ/s, 'with what helps');
$node->safe_psql('postgres', 'DROP EVENT TRIGGER late; DROP FUNCTION late()');
is(left(), '0000', 'and leave nothing');

# An ordinary role, which needs to make a schema
$node->safe_psql('postgres', q{
	CREATE ROLE analyst LOGIN;
	GRANT SELECT ON d_nodes, d_edges TO analyst;
	SET ROLE analyst;
	SELECT gp_create_graph('theirs', 'd_nodes', 'd_edges', features => '{x}', target => 'y')});
my $theirs = q{SELECT gp_fit('analyst.theirs', kernel => 'gcn', strategy => 'sql', landmarks => 60)};
($state, $out, $err) = outcome($theirs);
is($state, '42501', 'an owner who may not make a schema');
like($err, qr/HINT:.*GRANT CREATE ON DATABASE/, 'is told what it takes');
$node->safe_psql('postgres', 'GRANT CREATE ON DATABASE postgres TO analyst');
is(outcome($theirs), 'done', 'with it the fit is done');

# A coordinator that holds shards works on them as any server; no worker makes tables
$node->safe_psql('postgres', q{SELECT citus_set_node_property('localhost', } . $node->port . q{, 'shouldhaveshards', true)});
near('local', 'spread', 'gcn(layers=3)');
is(outcome(q{CALL gp_refresh('s')}), 'done', 'a refresh on a coordinator that holds shards');
$node->safe_psql('postgres', q{SELECT citus_set_node_property('localhost', } . $node->port . q{, 'shouldhaveshards', false)});
is(left(), '0000', 'and nothing is left of either');
$node{worker1}->safe_psql('postgres', q{SELECT gp_create_graph('spread', 'd_nodes', 'd_edges', features => '{x}', target => 'y')});
is(outcome(q{SELECT gp_fit('spread', kernel => 'gcn', strategy => 'sql')}, $node{worker1}), '0A000', 'a worker is refused');

# A timeout in any statement ends the fit soon and leaves nothing.
$node->safe_psql('postgres', large_graph() . q{
	CREATE TABLE d_large_nodes (LIKE large_nodes);
	CREATE TABLE d_large_edges (LIKE large_edges);
	SELECT create_distributed_table('d_large_nodes', 'id'), create_distributed_table('d_large_edges', 'src');
	INSERT INTO d_large_nodes TABLE large_nodes;
	INSERT INTO d_large_edges TABLE large_edges;
	SELECT gp_create_graph('d_large', 'd_large_nodes', 'd_large_edges', features => '{x}', target => 'y')});
my $fit = q{SELECT gp_fit('d_large', kernel => 'gcn', strategy => 'sql', landmarks => 300, nugget => 0.1)};
timeouts($node, $fit, 'the fit', [ 500, 1200, 2000, 3000, 4500 ], sub { is(left_soon(), '0000', 'and leaves nothing') });

# Waits until a fit has made tables, and runs statements on them.
my $at_work = q{SELECT coalesce(max(done), 0) >= 7 FROM gp_progress WHERE phase = 'building the kernel'};
sub at_work
{
	my $session = background($node, $fit);

	ok(poll($node, $at_work), 'a fit works');
	return $session;
}

# A worker that goes
my $session = at_work();
$node{worker2}->stop('immediate');
isnt(finish($session), 0, 'without a worker it ends');
like($session->{err}, qr/ERROR:  (08006|57P0[12]|XX000: server closed the connection)/, 'by an error of the connection') or diag $session->{err};
$node{worker2}->start;
my $end = time + 20;
sleep 1 while left() ne '0000' && time < $end;
is(left(), '0000', 'which leaves nothing on any server');

# A coordinator that goes: workers undo what they have, and no later fit finds anything of it
$session = at_work();
$node->stop('immediate');
finish($session);
$node->start;
is(outcome(q{CALL gp_refresh('s')}), 'done', 'the next refresh');
for my $name (sort keys %node)
{
	ok(poll($node{$name}, q{SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE nspname LIKE 'gnngp_work%')}), "nothing is left on $name");
}
is(outcome($fit), 'done', 'a fit runs as before');
is(left(), '0000', 'and leaves nothing');

$node{$_}->stop for keys %node;
done_testing();

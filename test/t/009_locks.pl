# DDL between the look at a table and its reading: no crash, no rows of another table, no model of an emptied one.
#
# With GNNGP_WITHOUT the library was built without one of its guards, "locks" or
# "types", and the other one alone has to stop the crash.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $without = $ENV{GNNGP_WITHOUT} // '';
my $node = PostgreSQL::Test::Cluster->new('locks');
$node->init;
$node->append_conf('postgresql.conf', "max_prepared_transactions = 0\ndeadlock_timeout = 10s");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp; CREATE EXTENSION postgres_fdw;');

# Tables of one shape in which one column has another type, for each kind of source.
$node->safe_psql('postgres', q{
	CREATE TABLE n AS SELECT i::bigint AS id, ARRAY[i % 13, i % 10, 3]::real[] AS x,
			CASE WHEN i % 3 = 0 THEN i % 2 END::numeric AS y
		FROM generate_series(1, 60) i;
	CREATE TABLE e AS SELECT i::bigint AS src, (i * 7 + 3) % 60 + 1::bigint AS dst, 1.5::numeric AS w
		FROM generate_series(1, 60) i;
	CREATE TABLE f AS SELECT id AS node, 1 AS number, 1.0::numeric AS value FROM n;
	CREATE TABLE n_id AS SELECT id::text AS id, x, y FROM n;
	CREATE TABLE n_target AS SELECT id, x, 4.94e-324::float8 + id * 1e-310 AS y FROM n;
	CREATE TABLE n_features AS SELECT id, id::float8 AS x, y FROM n;
	CREATE TABLE e_ends AS SELECT src::text AS src, dst, w FROM e;
	CREATE TABLE e_weight AS SELECT src, dst, w::float8 AS w FROM e;
	CREATE TABLE f_value AS SELECT node, number, value::float8 AS value FROM f;
	SELECT gp_create_graph('g', 'n', 'e', features => '{x}', target => 'y', weight => 'w');
	SELECT gp_create_graph('s', 'n', 'e', sparse_features => 'f', target => 'y');
	CREATE VIEW nv AS TABLE n;
	CREATE VIEW nv_id AS TABLE n_id;
	SELECT gp_create_graph('v', 'nv', 'e', features => '{x}', target => 'y');
	CREATE TABLE np (LIKE n) PARTITION BY RANGE (id);
	CREATE TABLE np_low PARTITION OF np FOR VALUES FROM (0) TO (31);
	CREATE TABLE np_high PARTITION OF np FOR VALUES FROM (31) TO (100);
	INSERT INTO np TABLE n;
	CREATE TABLE np_id (LIKE n_id) PARTITION BY LIST (id);
	CREATE TABLE np_id_all PARTITION OF np_id DEFAULT;
	INSERT INTO np_id TABLE n_id;
	SELECT gp_create_graph('p', 'np', 'e', features => '{x}', target => 'y');
	CREATE VIEW ev AS TABLE e;
	SELECT gp_create_graph('w', 'n', 'ev', features => '{x}', target => 'y');
	SELECT gp_fit(g, kernel => 'gcn(layers=1)') FROM unnest('{g,s,v,p,w}'::text[]) g;
});
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', qq{
	CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER loop;
	CREATE FOREIGN TABLE nf (id bigint, x real[], y numeric) SERVER loop OPTIONS (table_name 'n');
	CREATE FOREIGN TABLE nf_id (id text, x real[], y numeric) SERVER loop OPTIONS (table_name 'n_id');
	SELECT gp_create_graph('f', 'nf', 'e', features => '{x}', target => 'y');
	SELECT gp_fit('f', kernel => 'gcn(layers=1)');
});

# Runs a call while another session has done something that it commits once the call waits for it.
sub beside
{
	my ($ddl, $call) = @_;
	my $other = background($node, qq{
		BEGIN;
		$ddl;
		DO \$\$ BEGIN
			FOR k IN 1..400 LOOP
				EXIT WHEN EXISTS (SELECT FROM pg_stat_activity
					WHERE wait_event_type = 'Lock' AND query LIKE '/* the call */%');
				PERFORM pg_sleep(0.05), pg_stat_clear_snapshot();
			END LOOP;
		END \$\$;
		COMMIT;});
	ok(poll($node, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE '%BEGIN%pg_sleep%' AND pid <> pg_backend_pid()
			AND wait_event = 'PgSleep')}), 'the other session has its lock') or diag($other->{err});
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n/* the call */ $call");
	is(finish($other), 0, 'the other session commits') or diag($other->{err});
	my $state = $rc == 2 ? 'a crash' : $err =~ /ERROR:\s+(\w{5})/ ? $1 : 'done';
	return wantarray ? ($state, $out, $err) : $state;
}

# Swaps two tables while a call runs, and back.
sub swapped
{
	my ($kind, $table, $other, $call) = @_;
	my $swap = "ALTER $kind $table RENAME TO aside; ALTER $kind $other RENAME TO $table; ALTER $kind aside RENAME TO $other";
	my @result = beside($swap, $call);

	$node->safe_psql('postgres', $swap);
	return wantarray ? @result : $result[0];
}

# Without locks the types have to tell; with them the look waits, and finds another table under the name.
my $expected = $without eq 'locks' ? '55000' : '42P01';
my $fit = q{SELECT nodes FROM gp_fit('%s', kernel => 'gcn(layers=1)');};

for my $case (['n', 'n_id', 'g', 'ids'], ['n', 'n_target', 'g', 'targets'], ['n', 'n_features', 'g', 'features'],
	['e', 'e_ends', 'g', 'ends'], ['e', 'e_weight', 'g', 'weights'], ['f', 'f_value', 's', 'sparse features'])
{
	my ($table, $other, $graph, $what) = @$case;
	my ($state, $out, $err) = swapped('TABLE', $table, $other, sprintf($fit, $graph));

	is($state, $expected, "$what of another type: $expected") or diag($err);
	my $says = $expected eq '55000' ? qr/table "public\.\Q$table\E" changed while it was read/
		: qr/table "public\.\Q$table\E" of graph .* was replaced.*SELECT gp_alter_graph\('\w', \w+ => 'public\.$table'\)/s;

	like($err, $says, 'which says so');
}
for my $case (['VIEW', 'nv', 'v'], ['TABLE', 'np', 'p'], ['FOREIGN TABLE', 'nf', 'f'])
{
	my ($kind, $table, $graph) = @$case;

	is(swapped($kind, $table, "${table}_id", sprintf($fit, $graph)), $expected, "another $kind: $expected");
}

# Everything that reads
for my $call (q{SELECT count(*) FROM gp_tune('g', kernels => ARRAY['gcn(layers=1)', 'rbf(gamma=1)']);},
	q{SELECT count(*) FROM gp_cluster('g', 2);}, q{SELECT strategy FROM gp_estimate('g');},
	q{SELECT method FROM gp_fit_links('g');}, q{CALL gp_refresh('g');})
{
	is(swapped('TABLE', 'n', 'n_id', $call), $expected, "$call ends with $expected");
}
if ($without ne 'locks')
{
	$node->safe_psql('postgres', 'CREATE TABLE late AS TABLE n');
	is(beside('ALTER TABLE late ALTER id TYPE text', q{SELECT gp_create_graph('late', 'late', 'e', target => 'y');}), '42804',
		'gp_create_graph waits, and sees the type that the column has');
	is(beside('ALTER TABLE n RENAME y TO topic', sprintf($fit, 'g')), '42703', 'a column that is renamed meanwhile');
	$node->safe_psql('postgres', 'ALTER TABLE n RENAME topic TO y');
	# A change of a graph keeps what another session changes after the statement has begun
	is(beside(q{SELECT pg_advisory_xact_lock(7); SELECT gp_alter_graph('g', directed => true)},
		q{WITH w AS MATERIALIZED (SELECT pg_advisory_xact_lock(7) AS l)
		SELECT gp_alter_graph('g', scale => 'none') FROM w WHERE l IS NOT NULL;}), 'done', 'a graph that was changed meanwhile is changed');
	is($node->safe_psql('postgres', q{SELECT directed, scale FROM gp_graphs WHERE graph = 'g'}), 't|none', 'and has both changes');
	$node->safe_psql('postgres', q{SELECT gp_alter_graph('g', directed => false, scale => 'auto')});
	is(beside('DROP VIEW nv', sprintf($fit, 'v')), '42P01', 'a view that is dropped meanwhile');
	is($node->safe_psql('postgres', q{SELECT problem FROM gp_graphs WHERE graph = 'v'}), 'the node table nv is missing',
		'which the view of graphs tells');
	$node->safe_psql('postgres', q{CREATE VIEW nv AS TABLE n; SELECT gp_drop_graph('v');
		SELECT gp_create_graph('v', 'nv', 'e', features => '{x}', target => 'y');
		SELECT gp_fit('v', kernel => 'gcn(layers=1)')});

	# A table that is emptied and filled again is never seen empty
	my $edges = $node->safe_psql('postgres', q{SELECT edges FROM gp_models WHERE model = 'g'});
	my $reload = 'CREATE TEMP TABLE kept AS TABLE %1$s; TRUNCATE %1$s; INSERT INTO %1$s TABLE kept';

	for my $case (['e', 'g', 'a table'], ['n', 'v', 'the table of a view'], ['e', 'w', 'the edges of a view'], ['np_high', 'p', 'a partition'])
	{
		my ($table, $graph, $what) = @$case;
		my $ddl = sprintf($reload, $table);

		is(beside($ddl, "CALL gp_refresh('$graph');"), 'done', "$what is filled anew beside a refresh");
		is($node->safe_psql('postgres', qq{SELECT nodes, edges FROM gp_models WHERE model = '$graph'}),
			"60|$edges", 'and read whole');
		is(beside($ddl, sprintf($fit, $graph)), 'done', "$what is filled anew beside a fit");
		is($node->safe_psql('postgres', qq{SELECT nodes, edges FROM gp_models WHERE model = '$graph'}),
			"60|$edges", 'and read whole');
	}
	my $repeatable = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; ';
	is(beside(sprintf($reload, 'e'), $repeatable . sprintf($fit, 'g') . 'COMMIT;'), '40001',
		'a transaction whose snapshot is older than the table fails');
	$node->safe_psql('postgres', 'ALTER SYSTEM SET default_transaction_isolation = serializable; SELECT pg_reload_conf()');
	is(beside(sprintf($reload, 'e'), q{CALL gp_refresh('g');}), 'done', 'a refresh does not, whatever the default');
	is($node->safe_psql('postgres', q{SELECT edges FROM gp_models WHERE model = 'g'}), $edges, 'and reads all');
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET default_transaction_isolation; SELECT pg_reload_conf()');
}

# What a transaction has seen is older than a model that another session has fitted since: it must not replace it.
for my $model ('g', 'new')
{
	my $call = "SELECT gp_fit('g', '$model', kernel => 'gcn(layers=1)')";
	my $beside = qq{\\! psql -X -q -c "$call" "} . $node->connstr('postgres') . qq{" >/dev/null};
	my ($rc, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nBEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\n$beside\n$call;");

	like($err, qr/40001/, "a fit of model $model does not replace what came after its snapshot");
}

# A role that may read some columns only
$node->safe_psql('postgres', q{
	CREATE ROLE reader;
	GRANT CREATE ON SCHEMA public TO reader;
	GRANT SELECT (id, y) ON n TO reader;
	GRANT SELECT (src, dst) ON e TO reader;
	SET ROLE reader;
	SELECT gp_create_graph('columns', 'n', 'e', target => 'y');
	SELECT gp_fit('columns', kernel => 'gcn(layers=1)');
});
is($node->safe_psql('postgres', q{SELECT nodes FROM gp_models WHERE model = 'columns'}), '60',
	'a role that may read the columns of the graph alone can fit it');

# A schema is renamed beside a lock on its table
if ($without ne 'locks')
{
	$node->safe_psql('postgres', q{
		CREATE SCHEMA a; CREATE SCHEMA b;
		CREATE TABLE a.n AS TABLE n; CREATE TABLE b.n AS SELECT id, x, NULL::numeric AS y FROM n;
		SELECT gp_create_graph('schemas', 'a.n', 'e', target => 'y');});
	my ($state) = beside('LOCK TABLE e IN ACCESS EXCLUSIVE MODE; ALTER SCHEMA a RENAME TO c; ALTER SCHEMA b RENAME TO a',
		sprintf($fit, 'schemas'));
	like($state, qr/^(55000|3F000|done)$/, "schemas that are swapped meanwhile: $state");
}

# Graphs of tables: a foreign key that goes, and a function of an expression that returns another type, beside a look at the tables
$node->safe_psql('postgres', q{
	CREATE TABLE asked (id int PRIMARY KEY, at timestamptz NOT NULL);
	INSERT INTO asked SELECT i, '2024-01-01' FROM generate_series(1, 20) i;
	CREATE TABLE fact (gone int REFERENCES asked, asked int REFERENCES asked, at timestamptz NOT NULL);
	INSERT INTO fact SELECT 1, i % 20 + 1, '2024-01-01'::timestamptz + i * interval '1 hour' FROM generate_series(1, 2000) i;
	CREATE FUNCTION slow() RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN PERFORM pg_sleep(2); RETURN true; END';
	CREATE VIEW slow_fact AS SELECT asked, at FROM fact WHERE (SELECT slow());
	CREATE FUNCTION answer(int) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT $1 % 2::numeric';
	SELECT gp_create_graph('facts', '{asked,fact}'::regclass[]);
	SELECT gp_create_task('task', 'facts', 'asked', 'e.id % 2 = 0', horizon => '20 days');
	SELECT gp_create_graph('slow', '{asked,slow_fact}'::regclass[], times => '{"slow_fact": "at"}', keys => '{"slow_fact.asked": "asked.id"}');
	SELECT gp_create_task('swapped', 'slow', 'asked', 'answer(e.id)', horizon => '20 days');
});
my $old = background($node, q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_sleep(3); SELECT labelled > 0 FROM gp_fit('task'); COMMIT});
sleep 1;
$node->safe_psql('postgres', 'ALTER TABLE fact DROP COLUMN gone CASCADE');
is(finish($old), 0, 'a snapshot that is older than a foreign key has no part in it') or diag $old->{err};
my $swapped = background($node, q{SELECT gp_fit('swapped')});
ok(poll($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}), 'a look at the facts takes a while');
$node->safe_psql('postgres', q{BEGIN; DROP FUNCTION answer(int); CREATE FUNCTION answer(int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 1234567::bigint + $1 % 2'; COMMIT});
finish($swapped);
like($swapped->{err}, $without eq 'types' ? qr/./ : qr/55000/, 'a function that returns another type than before is an error');

is($node->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 'f', 'the server lives');
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC/, 'and never lost a session');
$node->stop;
done_testing();

# A fit whose factor lies in tables: statements in parallel, counted, cancelled, and gone.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Gnngp;

my $fit = q{SET max_parallel_workers_per_gather = 2;
	SELECT gp_fit('large', kernel => 'gcn', strategy => 'sql', landmarks => 300, nugget => 0.1)};

my $node = PostgreSQL::Test::Cluster->new('parts');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'auto_explain'\nmax_worker_processes = 8");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . large_graph());

# What a fit may leave: schemas, tables, models, locks.
sub left
{
	return $node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'gnngp_parts%')
			|| ' ' || (SELECT count(*) FROM pg_class WHERE relname ~ '^(features|edges|groups|spread|columns|covariances|targets)\d+')
			|| ' ' || (SELECT count(*) FROM gp_model_catalog) || ' ' || (SELECT count(*) FROM gp_progress)
			|| ' ' || (SELECT count(*) FROM pg_locks WHERE classid = 'pg_extension'::regclass)});
}
is(left(), '0 0 0 0 0', 'nothing is there at first');

# Each statement's progress as another session sees it: the total is there from the start and is met.
my $session = background($node, $fit);
my ($most, $total, $later) = (0, 0, 0);
my $end = time + 120;
my $running = q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%gp_fit(%' AND state = 'active' AND pid <> pg_backend_pid()};
$node->poll_query_until('postgres', "SELECT ($running) > 0");
while (time < $end && $node->safe_psql('postgres', $running) > 0)
{
	my $seen = $node->safe_psql('postgres', q{SELECT done, total FROM gp_progress WHERE phase IN ('building the kernel', 'posterior')});
	($most, $total) = ($1 > $most ? $1 : $most, $2) if $seen =~ /^(\d+)\|(\d+)$/;
}
is(finish($session), 0, 'the fit ends well');
cmp_ok($total, '>', 10, "gp_progress has the number of statements ($total)");
cmp_ok($most, '>', 2, "and counts them ($most seen)");
cmp_ok($most, '<=', $total, 'never beyond their number');
my $estimated = $node->safe_psql('postgres', q{SELECT reason FROM gp_estimate('large', 'gcn', 'sql', 300)});
like($estimated, qr/^$total statements on /, 'which gp_estimate knows, too');

# Every statement over parts is a parallel one, and no statement's rows pass an INSERT.
my (undef, undef, $plans) = $node->psql('postgres', q{
	SET client_min_messages = log; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
	SET auto_explain.log_level = log; SET log_min_messages = log;} . $fit);
my $log = slurp_file($node->logfile);
for my $function ('gp_step', 'gp_split', 'gp_stack', 'gp_glue', 'gp_apply', 'gp_gram', 'gp_features', 'gp_graph')
{
	my @plans = grep { /public\.$function\(/ } split /(?=Query Text:)/, $log;

	cmp_ok(scalar(@plans), '>', 0, "$function is part of a statement");
	is(scalar(grep { !/Gather/ } @plans), 0, "each of which runs in parallel");
	next if $function =~ /features|graph/;
	is(scalar(grep { !/Parallel Append/ } @plans), 0, "by partitions");
}
like($log, qr/ gnngp_parts_[0-9a-f]{32}\./, 'in a schema whose name nobody can guess');
unlike($log, qr/INSERT INTO gnngp_parts\S+ SELECT/, 'no INSERT takes the rows of a query');

# The same bits without parallel processes
$node->safe_psql('postgres', q{SET gnngp.threads = 1; SET max_parallel_workers_per_gather = 0;
	SELECT gp_fit('large', 'alone', 'gcn', strategy => 'sql', landmarks => 300, nugget => 0.1)});
is($node->safe_psql('postgres', q{SELECT count(*) FROM
	(SELECT * FROM gp_predict('large', top => NULL) EXCEPT SELECT * FROM gp_predict('alone', top => NULL)) AS d}), '0',
	'serial and parallel plans give the same bits');
$node->safe_psql('postgres', q{SELECT gp_drop_model('large'); SELECT gp_drop_model('alone')});

# A timeout or a cancel in any statement ends it soon and leaves nothing.
sub leaves_nothing
{
	$node->safe_psql('postgres', q{SELECT gp_drop_model(model) FROM gp_models});
	is(left(), '0 0 0 0 0', 'and leaves nothing');
}
timeouts($node, $fit, 'the fit', [ 300, 600, 1000, 1500, 2200, 3000 ], \&leaves_nothing);

# Laplacian priors: shares of conjugate gradients in parallel, the same bits as alone, soon cancelled
my $prior = q{kernel => 'laplacian(sigma2=10)', strategy => 'sql'};
my $offset = -s $node->logfile;
$node->psql('postgres', qq{
	SET client_min_messages = error; SET max_parallel_workers_per_gather = 2; LOAD 'auto_explain';
	SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET log_min_messages = log;
	SELECT gp_fit('large', $prior)});
my @plans = grep { /public\.gp_solve\(/ } split /(?=Query Text:)/, substr slurp_file($node->logfile), $offset;
is(scalar(@plans), 2, 'two statements solve');
is(scalar(grep { /Gather.*Parallel Append/s } @plans), 2, 'in parallel, by partitions');
$node->safe_psql('postgres', qq{SET client_min_messages = error; SET gnngp.threads = 1; SET max_parallel_workers_per_gather = 0;
	SELECT gp_fit('large', 'alone', $prior)});
is($node->safe_psql('postgres', q{SELECT count(*) FROM
	(SELECT * FROM gp_predict('large', top => NULL) EXCEPT SELECT * FROM gp_predict('alone', top => NULL)) AS d}), '0',
	'serial and parallel shares give the same bits');
$node->safe_psql('postgres', q{SELECT gp_drop_model('large'); SELECT gp_drop_model('alone')});
timeouts($node, "SET max_parallel_workers_per_gather = 2; SELECT gp_fit('large', $prior)", 'the shares', [ 150, 400, 900 ], \&leaves_nothing);

# An error of the user's own code in the middle of a statement, and memory that does not suffice
$node->safe_psql('postgres', q{
	CREATE VIEW traps AS SELECT id, x, CASE WHEN y = 3 AND id > 30000 THEN 1 / (id - id) ELSE y END AS y FROM large_nodes;
	SELECT gp_create_graph('traps', 'traps', 'large_edges', features => '{x}', target => 'y')});
my ($rc, undef, $err) = $node->psql('postgres', q{SELECT gp_fit('traps', kernel => 'gcn', strategy => 'sql')});
like($err, qr/division by zero/, 'an error of a view');
($rc, undef, $err) = $node->psql('postgres', q{SET gnngp.memory_limit = '4MB'; SELECT gp_fit('large', kernel => 'gcn', strategy => 'sql')});
like($err, qr/gnngp\.memory_limit allows/, 'a memory limit that a task does not fit in');
is(left(), '0 0 0 0 0', 'neither leaves anything');

# Readers of predictions in a table: each sees one version, and waits for no refresh.
$node->safe_psql('postgres', small_graph());
my $small = q{SELECT gp_fit('small', kernel => 'gcn', strategy => 'sql')};
my $said = q{SELECT md5(string_agg(p::text, ';' ORDER BY node, class)) FROM gp_predict('small', top => NULL) AS p};
$node->safe_psql('postgres', $small);
my $first = $node->safe_psql('postgres', $said);
my $reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($reader->query_safe($said), $first, 'a reader in a transaction');
$node->safe_psql('postgres', q{UPDATE nodes SET y = 'class 0' WHERE id < 50 AND y IS NOT NULL; CALL gp_refresh('small')});
my $now = $node->safe_psql('postgres', $said);
isnt($now, $first, 'a refresh brings other predictions');
is($reader->query_safe($said), $first, 'which the reader does not see');
$node->safe_psql('postgres', q{SET statement_timeout = '20s'; CALL gp_refresh('small')});
is($reader->query_safe($said), $first, 'nor those of the next one, which leaves what is being read');
is($node->safe_psql('postgres', q{SELECT cardinality(predictions_past) FROM gp_model_catalog WHERE name = 'small'}), '2', 'so that two are to be dropped');
$reader->query_safe('COMMIT');
$reader->quit;
$node->safe_psql('postgres', q{CALL gp_refresh('small')});
is($node->safe_psql('postgres', q{SELECT predictions_past FROM gp_model_catalog WHERE name = 'small'}), '{public.small_predictions2}', 'as the refresh after does');

# A dump brings table and model back, and each as it was.
my $dump = $node->basedir . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('postgres') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '-j', '2', '-d', $node->connstr('copy'), $dump ], 'and its restore');
is($node->safe_psql('copy', $said), $now, 'the model says the same');
is($node->safe_psql('copy', q{SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'small'}),
	$node->safe_psql('postgres', q{SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'small'}), 'from the table of its name');
$node->safe_psql('copy', q{CALL gp_refresh('small')});
is($node->safe_psql('copy', $said), $now, 'and after a refresh');
$node->safe_psql('postgres', q{SELECT gp_drop_graph('small')});

# The limit's refusal tells of strategy sql where the nodes are partitioned.
$node->safe_psql('postgres', q{
	CREATE TABLE divided (LIKE large_nodes) PARTITION BY HASH (id);
	CREATE TABLE divided_0 PARTITION OF divided FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE divided_1 PARTITION OF divided FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO divided SELECT * FROM large_nodes;
	SELECT gp_create_graph('divided', 'divided', 'large_edges', features => '{x}', target => 'y')});
my $limited = q{SET gnngp.memory_limit = '64MB'; SELECT gp_fit('%s', kernel => 'gcn', strategy => 'nystrom', landmarks => 2000)};
(undef, undef, $err) = $node->psql('postgres', sprintf($limited, 'divided'));
like($err, qr/HINT:.*strategy => 'sql'/, 'of partitioned nodes the refusal tells of it');
(undef, undef, $err) = $node->psql('postgres', sprintf($limited, 'large'));
unlike($err, qr/strategy => 'sql'/, 'and of others it does not');

# Owners whose views change the working tables under the fit's feet get an error.
$node->safe_psql('postgres', q{
	CREATE ROLE schemer;
	GRANT SELECT ON large_nodes, large_edges TO schemer;
	GRANT CREATE ON SCHEMA public TO schemer;
	SET ROLE schemer;
	CREATE FUNCTION scheme(bigint) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		t text;
	BEGIN
		IF $1 = 40000 THEN
			FOR t IN SELECT oid::regclass FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace::regnamespace::text LIKE 'gnngp%' LOOP
				EXECUTE format('ALTER TABLE %s ALTER COLUMN m TYPE text USING NULL', t);
			END LOOP;
		END IF;
		RETURN $1;
	END $$;
	CREATE VIEW schemes AS SELECT scheme(src) AS src, dst FROM large_edges;
	SELECT gp_create_graph('schemes', 'large_nodes', 'schemes', features => '{x}', target => 'y')});
($rc, undef, $err) = $node->psql('postgres', q{SELECT gp_fit('schemer.schemes', kernel => 'gcn', strategy => 'sql', landmarks => 50)});
isnt($rc, 0, 'working tables that are altered end the fit');
like($err, qr/^psql:<stdin>:1: ERROR/m, 'by an error');
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'and the server goes on');
is(left(), '0 0 0 0 0', 'with nothing left');

# A part that is missing, and one that comes twice in place of another, as the owner's code could have it
for my $tamper ('INSERT INTO %I.%I VALUES (0, 99, NULL)',
	'WITH gone AS (DELETE FROM %1$I.%2$I WHERE part = 0 RETURNING 1) INSERT INTO %1$I.%2$I SELECT t.pk, 0, t.m FROM %1$I.%2$I AS t, gone WHERE t.part = 1')
{
	$node->safe_psql('postgres', qq{
		SET ROLE schemer;
		CREATE OR REPLACE FUNCTION tamper() RETURNS trigger LANGUAGE plpgsql AS \$\$
		BEGIN
			IF NEW.name LIKE 'weights%' THEN
				EXECUTE (SELECT format('$tamper', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
						 WHERE n.nspname LIKE 'gnngp\\_parts%' AND c.relname LIKE 'features%' AND c.relkind = 'p');
			END IF;
			RETURN NEW;
		END \$\$;
		CREATE OR REPLACE FUNCTION scheme(id integer) RETURNS integer LANGUAGE plpgsql AS \$\$
		DECLARE
			small name;
		BEGIN
			SELECT n.nspname INTO small FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
			WHERE n.nspname LIKE 'gnngp\\_parts%' AND c.relname = 'small' AND NOT c.relhastriggers;
			IF small IS NOT NULL THEN
				EXECUTE format('CREATE TRIGGER tamper BEFORE INSERT ON %I.small FOR EACH ROW EXECUTE FUNCTION public.tamper()', small);
			END IF;
			RETURN id;
		END \$\$;
		CREATE OR REPLACE VIEW scheming AS SELECT id, ARRAY[scheme(1), x[2], x[1]]::real[] AS x, y FROM large_nodes;
		SELECT gp_create_graph('scheming', 'scheming', 'large_edges', features => '{x}', target => 'y')
		WHERE NOT EXISTS (SELECT FROM gp_graphs WHERE graph = 'scheming')});
	($rc, undef, $err) = $node->psql('postgres', q{SET ROLE schemer; SELECT gp_fit('scheming', kernel => 'X0', strategy => 'sql', nugget => 0.1)});
	isnt($rc, 0, 'what is tampered with ends the fit');
	like($err, qr/is missing|comes twice/, 'by an error that says so') or diag $err;
	is($node->safe_psql('postgres', 'SELECT 1'), '1', 'and the server goes on');
}

# Who may read a model no longer beside a fit of it does not read the table of that fit, either
$node->safe_psql('postgres', q{CREATE ROLE reader; SELECT gp_fit('large', 'shared', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
	SELECT gp_grant('shared', 'reader')});
$session = background($node, q{BEGIN; SELECT gp_fit('large', 'shared', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1); SELECT pg_sleep(3); COMMIT});
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%gp_fit(%' AND wait_event = 'PgSleep' AND pid <> pg_backend_pid()});
($rc, undef, $err) = $node->psql('postgres', q{SELECT gp_revoke('shared', 'reader')});
like($err, qr/is being/, 'a revoke beside a fit that is stored is refused');
finish($session);
is($node->safe_psql('postgres', q{SELECT has_table_privilege('reader', predictions, 'SELECT') FROM gp_models WHERE model = 'shared'}), 't', 'the grant holds for the new table');
$node->safe_psql('postgres', q{SELECT gp_revoke('shared', 'reader')});
is($node->safe_psql('postgres', q{SELECT has_table_privilege('reader', predictions, 'SELECT') FROM gp_models WHERE model = 'shared'}), 'f', 'and no longer once it is taken back');

# Between two statements gp_progress has the fit, too: making a table writes the server's own progress into its place.
$node->safe_psql('postgres', q{
	CREATE TABLE seen (phase text, done bigint);
	CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
		PERFORM pg_stat_clear_snapshot();
		INSERT INTO public.seen SELECT p.phase, p.done FROM (SELECT pg_backend_pid() AS pid) AS b LEFT JOIN public.gp_progress AS p USING (pid);
	END $$;
	CREATE EVENT TRIGGER see ON ddl_command_start EXECUTE FUNCTION see()});
$node->safe_psql('postgres', q{SELECT gp_fit('large', 'shared', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1)});
$node->safe_psql('postgres', 'DROP EVENT TRIGGER see');
is($node->safe_psql('postgres', 'SELECT count(*) > 20 FROM seen'), 't', 'a fit makes tables');
is($node->safe_psql('postgres', 'SELECT count(*) FROM seen WHERE phase IS NULL'), '0', 'and is seen before each of them');
is($node->safe_psql('postgres', q{SELECT string_agg(phase, ', ' ORDER BY at) FROM (SELECT phase, min(ctid) AS at FROM seen GROUP BY phase) AS s}),
	'planning, building the kernel, choosing the nugget, posterior, storing', 'in one phase after the other');

# A refresh commits what it has read before it computes links: a table that is dropped in between is missed, and the model stays as it was
$node->safe_psql('postgres', q{
	CREATE TABLE quick_nodes AS SELECT * FROM large_nodes WHERE id <= 4000;
	CREATE TABLE quick_edges AS SELECT src, (dst - 1) % 4000 + 1 AS dst FROM large_edges WHERE src <= 4000;
	SELECT gp_create_graph('quick', 'quick_nodes', 'quick_edges', features => '{x}', target => 'y');
	SELECT gp_fit('quick', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1);
	SELECT gp_fit_links('quick')});
$session = background($node, q{CALL gp_refresh('quick')});
ok(poll($node, q{SELECT predictions_past IS NOT NULL FROM gp_model_catalog WHERE name = 'quick'}), 'a refresh has read');
$node->safe_psql('postgres', 'DROP TABLE quick_predictions1');
isnt(finish($session), 0, 'its table is dropped, and it fails');
is($node->safe_psql('postgres', q{SELECT outcome FROM gp_refreshes WHERE model = 'quick'; SELECT count(*) FROM gp_predict('quick')}), "failed\n4000", 'which leaves the model as it was');
is($node->safe_psql('postgres', q{CALL gp_refresh('quick'); SELECT predictions, predictions_past FROM gp_model_catalog WHERE name = 'quick'}),
	'public.quick_predictions1|{public.quick_predictions}', 'the next one is as any other');

# A partition is detached when the fit is over
$node->safe_psql('postgres', q{
	CREATE TABLE parted (LIKE large_nodes) PARTITION BY RANGE (id);
	CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (20000);
	CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (20000) TO (MAXVALUE);
	INSERT INTO parted TABLE large_nodes;
	SELECT gp_create_graph('parted', 'parted', 'large_edges', features => '{x}', target => 'y')});
$session = background($node, q{BEGIN; SELECT gp_fit('parted', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1); SELECT pg_sleep(3); COMMIT});
ok(poll($node, q{SELECT EXISTS (SELECT FROM gp_progress WHERE model = 'parted' AND phase <> 'reading nodes' AND phase <> 'starting')}), 'a fit of partitions');
($rc, undef, $err) = $node->psql('postgres', q{SET lock_timeout = '200ms'; ALTER TABLE parted DETACH PARTITION parted_high});
like($err, qr/lock timeout/, 'who detaches one waits');
is(finish($session), 0, 'until it has ended well');

done_testing();

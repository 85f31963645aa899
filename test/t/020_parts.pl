# A fit whose factor lies in tables: statements in parallel, counted, cancelled, and gone.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Gnngp;

my $fit = q{SET max_parallel_workers_per_gather = 2;
	SELECT gp_fit('large', kernel => 'gcn', strategy => 'sql', landmarks => 200, nugget => 0.1)};

my $node = PostgreSQL::Test::Cluster->new('parts');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'auto_explain'\nmax_worker_processes = 8");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . large_graph(7_000));

# What a fit may leave: schemas, tables, models, locks.
sub left
{
	return $node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'gnngp_work%')
			|| ' ' || (SELECT count(*) FROM pg_class WHERE relname ~ '^(features|edges|groups|operated|columns|covariances|targets)\d+')
			|| ' ' || (SELECT count(*) FROM gnngp_internal.gp_model_catalog) || ' ' || (SELECT count(*) FROM gp_progress)
			|| ' ' || (SELECT count(*) FROM pg_locks WHERE classid = 'pg_extension'::regclass)});
}
is(left(), '0 0 0 0 0', 'nothing is there at first');

# Each statement's progress as another session sees it: the total is there from the start and is met.
my $session = background($node, q{SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;} . $fit);
my ($most, $total, $rows) = (0, 0, '');
my $end = time + 120;
my $running = q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%gp_fit(%' AND state = 'active' AND pid <> pg_backend_pid()};
$node->poll_query_until('postgres', "SELECT ($running) > 0");
while (time < $end && $node->safe_psql('postgres', $running) > 0)
{
	my $seen = $node->safe_psql('postgres', q{SELECT done, total FROM gp_progress WHERE phase IN ('building the kernel', 'posterior')});
	($most, $total) = ($1 > $most ? $1 : $most, $2) if $seen =~ /^(\d+)\|(\d+)$/;
	$rows .= $node->safe_psql('postgres', 'SELECT count(*) FROM gp_progress');
}
is(finish($session), 0, 'the fit ends well');
cmp_ok($total, '>', 10, "gp_progress has the number of statements ($total)");
cmp_ok($most, '>', 2, "and counts them ($most seen)");
cmp_ok($most, '<=', $total, 'never beyond their number');
like($rows, qr/^0*1+0*$/, 'with a row from the first moment to the last');
my $estimated = $node->safe_psql('postgres', q{SELECT reason FROM gp_estimate('large', 'gcn', 'sql', 200)});
like($estimated, qr/^$total statements on /, 'which gp_estimate knows, too');

# Every statement over chunks is a parallel one, and no statement's rows pass an INSERT.
my $log = slurp_file($node->logfile);
for my $function ('gp_step', 'gp_split', 'gp_operate', 'gp_glue', 'gp_apply', 'gp_gram', 'gp_features', 'gp_graph')
{
	my @plans = grep { /(?:public|gnngp_internal)\.$function\(/ } split /(?=Query Text:)/, $log;

	cmp_ok(scalar(@plans), '>', 0, "$function is part of a statement");
	is(scalar(grep { !/Gather/ } @plans), 0, "each of which runs in parallel");
	next if $function =~ /features|graph/;
	is(scalar(grep { !/Parallel Append/ } @plans), 0, "by partitions");
}
like($log, qr/ gnngp_work_[0-9a-f]{32}\./, 'in a schema whose name nobody can guess');
unlike($log, qr/INSERT INTO gnngp_work\S+ SELECT/, 'no INSERT takes the rows of a query');

# The same bits without parallel processes
$node->safe_psql('postgres', q{SET gnngp.threads = 1; SET max_parallel_workers_per_gather = 0;
	SELECT gp_fit('large', 'alone', 'gcn', strategy => 'sql', landmarks => 200, nugget => 0.1)});
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
timeouts($node, $fit, 'the fit', [ 300, 900, 1800 ], \&leaves_nothing);

# An error of the user's own code in the middle of a statement, and memory that does not suffice
$node->safe_psql('postgres', q{
	CREATE VIEW traps AS SELECT id, x, CASE WHEN y = 3 AND id > 5000 THEN 1 / (id - id) ELSE y END AS y FROM large_nodes;
	SELECT gp_create_graph('traps', 'traps', 'large_edges', features => '{x}', target => 'y')});
my ($rc, undef, $err) = $node->psql('postgres', q{SELECT gp_fit('traps', kernel => 'gcn', strategy => 'sql')});
like($err, qr/division by zero/, 'an error of a view');
($rc, undef, $err) = $node->psql('postgres', q{SET gnngp.memory_limit = '4MB'; SELECT gp_fit('large', kernel => 'gcn', strategy => 'sql')});
like($err, qr/gnngp\.memory_limit allows/, 'a memory limit that a task does not fit in');
is(left(), '0 0 0 0 0', 'neither leaves anything');

# The limit's refusal names strategy sql where the nodes are partitioned.
$node->safe_psql('postgres', q{
	CREATE TABLE divided (LIKE large_nodes) PARTITION BY HASH (id);
	CREATE TABLE divided_0 PARTITION OF divided FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE divided_1 PARTITION OF divided FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO divided SELECT * FROM large_nodes;
	SELECT gp_create_graph('divided', 'divided', 'large_edges', features => '{x}', target => 'y')});
my $limited = q{SET gnngp.memory_limit = '64MB'; SELECT gp_fit('%s', kernel => 'gcn', strategy => 'nystrom', landmarks => 2000)};
(undef, undef, $err) = $node->psql('postgres', sprintf($limited, 'divided'));
like($err, qr/HINT:.*strategy => 'sql'/, 'of partitioned nodes the refusal names it');
(undef, undef, $err) = $node->psql('postgres', sprintf($limited, 'large'));
unlike($err, qr/strategy => 'sql'/, 'and of others it does not');

# The owner's own code, which a fit calls, reads no working table, whatever is granted by default.
$node->safe_psql('postgres', q{
	CREATE ROLE schemer;
	GRANT SELECT ON large_nodes, large_edges TO schemer;
	GRANT CREATE ON SCHEMA public TO schemer;
	ALTER DEFAULT PRIVILEGES FOR ROLE schemer GRANT ALL ON TABLES TO PUBLIC;
	ALTER DEFAULT PRIVILEGES FOR ROLE schemer GRANT ALL ON SCHEMAS TO PUBLIC;
	SET ROLE schemer;
	CREATE FUNCTION scheme(bigint, statement text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		t text;
	BEGIN
		IF $1 = 7000 THEN
			SELECT format('%I.%I', n.nspname, c.relname) INTO STRICT t FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
			WHERE n.nspname LIKE 'gnngp\_work\_%' AND c.relname LIKE 'features%' AND c.relkind = 'p';
			EXECUTE format(statement, t);
		END IF;
		RETURN $1;
	END $$});
for my $statement ('SELECT count(*) FROM %s', 'DELETE FROM %s', 'ALTER TABLE %s ADD x int', 'CREATE TABLE public.heir () INHERITS (%s)', 'DROP TABLE %s')
{
	$node->safe_psql('postgres', qq{
		SET ROLE schemer;
		CREATE OR REPLACE VIEW schemes AS SELECT scheme(src, '$statement') AS src, dst FROM large_edges;
		SELECT gp_create_graph('schemes', 'large_nodes', 'schemes', features => '{x}', target => 'y')
		WHERE NOT EXISTS (SELECT FROM gp_graphs WHERE graph = 'schemes')});
	($rc, undef, $err) = $node->psql('postgres', q{SELECT gp_fit('schemer.schemes', kernel => 'gcn', strategy => 'sql', landmarks => 50)});
	like($err, qr/permission denied for schema gnngp_work_/, "of the owner's code: $statement") or diag $err;
	is(left(), '0 0 0 0 0', 'nothing is left');
}

# A server that is killed in the middle of a fit has nothing of it when it is back
$session = background($node, $fit);
ok(poll($node, q{SELECT coalesce(max(done), 0) >= 5 FROM gp_progress WHERE phase = 'building the kernel'}), 'a fit works');
$node->stop('immediate');
finish($session);
$node->start;
is(left(), '0 0 0 0 0', 'after a crash nothing is left');

# Two fits at a time, each in a schema of its own
$session = background($node, q{SELECT gp_fit('large', 'one', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1)});
$node->safe_psql('postgres', q{SELECT gp_fit('large', 'two', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1)});
is(finish($session), 0, 'two fits side by side');
is($node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT * FROM gp_predict('one', top => NULL) EXCEPT SELECT * FROM gp_predict('two', top => NULL)) AS d}),
	'0', 'are the same model');
$node->safe_psql('postgres', q{SELECT gp_drop_model('one'), gp_drop_model('two')});
is(left(), '0 0 0 0 0', 'nothing but the models was left');

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
	'planning, building the kernel, choosing the nugget, posterior', 'in one phase after the other');

# A partition is detached when the fit is over
$node->safe_psql('postgres', q{
	CREATE TABLE parted (LIKE large_nodes) PARTITION BY RANGE (id);
	CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (3500);
	CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (3500) TO (MAXVALUE);
	INSERT INTO parted TABLE large_nodes;
	SELECT gp_create_graph('parted', 'parted', 'large_edges', features => '{x}', target => 'y')});
$session = background($node, q{BEGIN; SELECT gp_fit('parted', kernel => 'gcn', strategy => 'sql', landmarks => 50, nugget => 0.1); SELECT pg_sleep(3); COMMIT});
ok(poll($node, q{SELECT EXISTS (SELECT FROM gp_progress WHERE model = 'parted' AND phase <> 'reading nodes' AND phase <> 'starting')}), 'a fit of partitions');
($rc, undef, $err) = $node->psql('postgres', q{SET lock_timeout = '200ms'; ALTER TABLE parted DETACH PARTITION parted_high});
like($err, qr/lock timeout/, 'who detaches one waits');
is(finish($session), 0, 'until it has ended well');

done_testing();

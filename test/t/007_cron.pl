# A refresh each night, as pg_cron runs it: here each minute.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

chomp(my $library = qx(pg_config --pkglibdir));
plan skip_all => 'pg_cron is not installed' unless -e "$library/pg_cron.so";

my $node = PostgreSQL::Test::Cluster->new('cron');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'pg_cron'
cron.database_name = 'postgres'
cron.use_background_workers = on
});
$node->start;

# A model of both parts to be refreshed, and one whose refresh will fail
$node->safe_psql('postgres', 'CREATE EXTENSION pg_cron; CREATE EXTENSION gnngp;' . small_graph() . q{
	SELECT gp_fit('small');
	SELECT gp_fit_links('small', keep => 10);
	CREATE TABLE suggested AS SELECT src, dst FROM gp_predict_links('small');
	CREATE VIEW new_suggestions AS SELECT l.* FROM gp_predict_links('small') AS l
		WHERE NOT EXISTS (SELECT FROM suggested AS s WHERE s.src = l.src AND s.dst = l.dst);
	CREATE TABLE broken_edges AS TABLE edges;
	SELECT gp_create_graph('broken', 'nodes', 'broken_edges', target => 'y');
	SELECT gp_fit('broken');
	INSERT INTO broken_edges VALUES (1, 9999);
	INSERT INTO nodes VALUES (201, '{1,2,3}', NULL);
	INSERT INTO edges VALUES (201, 1), (201, 2);
	SELECT cron.schedule('small', '* * * * *', $$CALL gp_refresh('small')$$);
	SELECT cron.schedule('broken', '* * * * *', $$CALL gp_refresh('broken')$$);
});
ok(poll($node, q{
	SELECT count(DISTINCT j.jobname) = 2 FROM cron.job_run_details d JOIN cron.job j USING (jobid)
	WHERE d.status IN ('succeeded', 'failed')}, 120), 'both jobs ran');
$node->safe_psql('postgres', q{SELECT cron.unschedule(jobid) FROM cron.job});

# The first run of a job, as pg_cron has it
sub run_of
{
	my ($column, $command) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT $column FROM cron.job_run_details WHERE command LIKE '%$command%' ORDER BY runid LIMIT 1});
}

# The result appears
is(run_of('status', 'small'), 'succeeded', 'pg_cron saw the refresh succeed');
is($node->safe_psql('postgres', q{SELECT outcome FROM gp_refreshes WHERE model = 'small' ORDER BY started LIMIT 1}),
	'succeeded', 'it is logged');
like($node->safe_psql('postgres', q{SELECT message FROM gp_refreshes WHERE model = 'small' ORDER BY started LIMIT 1}),
	qr/^nodes 200 to 201, edges \d+ to \d+/, 'with what has changed');
is($node->safe_psql('postgres', q{SELECT nodes || ' ' || version || ' ' || link_nodes || ' ' || link_version
	FROM gnngp_internal.gp_model_catalog WHERE name = 'small'}) =~ /^201 [2-9] 201 [2-9]$/, 1, 'both parts are new');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gp_predict('small', nodes => '{201}')}), '1',
	'the new node has a prediction');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM gp_predict_links('small', nodes => '{201}')}), '>', 0,
	'and links');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM new_suggestions WHERE 201 IN (src, dst)}), '>', 0,
	'which are new since yesterday');
is($node->safe_psql('postgres', q{
	SELECT cron.schedule('aside', '* * * * *',
		$$TRUNCATE suggested; INSERT INTO suggested SELECT src, dst FROM gp_predict_links('small')$$) IS NOT NULL}), 't',
	'yesterday\'s are put aside');
ok(poll($node, q{SELECT count(*) = 0 FROM new_suggestions}, 120), 'and then none is new');
$node->safe_psql('postgres', q{SELECT cron.unschedule(jobid) FROM cron.job});

# The failure is logged, and pg_cron sees it
is(run_of('status', 'broken'), 'failed', 'pg_cron saw the other refresh fail');
like(run_of('return_message', 'broken'), qr/names a node that table ".*nodes" does not have: 9999/, 'and why');
is($node->safe_psql('postgres', q{SELECT outcome FROM gp_refreshes WHERE model = 'broken' ORDER BY started LIMIT 1}),
	'failed', 'it is logged');
like($node->safe_psql('postgres', q{SELECT message FROM gp_refreshes WHERE model = 'broken' ORDER BY started LIMIT 1}),
	qr/names a node that table ".*nodes" does not have: 9999/, 'with the error');
is($node->safe_psql('postgres', q{SELECT version FROM gnngp_internal.gp_model_catalog WHERE name = 'broken'}), '1',
	'the model of before stays');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gp_predict('broken')}), '200', 'and predicts');

$node->stop;
done_testing();

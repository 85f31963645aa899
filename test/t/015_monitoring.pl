# The queries that the documents give to a monitoring system answer what they promise.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('monitoring');
$node->init;
$node->start;
my ($running, $models, $failures, $role, @more) = document_sql('reliability.md', 'Monitoring');
is(scalar(@more), 0, 'the document gives three queries and a role');
$node->safe_psql('postgres', "CREATE EXTENSION gnngp; $role
	CREATE ROLE keeper LOGIN; GRANT CREATE ON SCHEMA public TO keeper;
	SET ROLE keeper;" . small_graph() . large_graph());

# Columns of a query of the document, as the role that watches
sub watch
{
	my ($query, $columns) = @_;

	(my $bare = $query) =~ s/;\s*\z//;
	return $node->safe_psql('postgres', "SELECT $columns FROM ($bare) AS q", connstr => $node->connstr('postgres') . ' user=watcher');
}

# Nothing yet
is(watch($_, 'count(*)'), '0', 'an idle server has nothing to tell') for ($running, $models, $failures);

# A fit: a session that uses a processor, and what it does
my $fit = q{SELECT gp_fit('large', kernel => 'gcn', strategy => 'nystrom', landmarks => 600)};
my $session = background($node, "SET ROLE keeper; $fit");
ok(poll($node, q{SELECT count(*) = 1 FROM gp_progress WHERE phase = 'building the kernel' AND done > 0}), 'a fit runs');
like(watch($running, q{concat_ws(' ', model, phase, state, coalesce(wait_event, '-'), done <= total, since > '0'::interval)}),
	qr/^large building the kernel active - t t$/, 'it is active, waits for nothing, and says what it does');
is($node->safe_psql('postgres', q{SELECT bool_and(a.query ~ 'gp_fit') FROM pg_stat_activity a JOIN gp_progress p USING (pid)}),
	't', 'its call is in pg_stat_activity');
finish($session);
is(watch($running, 'count(*)'), '0', 'and is gone with its end');

# Ages: the older of two parts counts
$node->safe_psql('postgres', q{SET ROLE keeper; SELECT gp_fit('small'); SELECT gp_fit_links('small')});
$node->safe_psql('postgres', q{UPDATE gnngp_internal.gp_model_catalog SET link_fitted = now() - interval '2 hours' WHERE name = 'small'});
is(watch($models, q{string_agg(format('%s.%s %s %s %s', owner, model, age / 3600, succeeded IS NULL, failed IS NULL), ', ')}),
	'keeper.small 2 t t, keeper.large 0 t t', 'each model has an age');
$node->safe_psql('postgres', q{CALL gp_refresh('keeper.small')});
is(watch($models, q{string_agg(concat(model, age < 60, succeeded > now() - interval '1 minute', failed), ' ' ORDER BY model)}),
	'larget smalltt', 'a refresh makes it young, and is a success');
is(watch($failures, 'count(*)'), '0', 'which is no failure');

# A refresh that fails
$node->safe_psql('postgres', 'ALTER TABLE nodes ADD z text; UPDATE nodes SET z = y; ALTER TABLE nodes DROP y');
$node->psql('postgres', q{CALL gp_refresh('keeper.small')});
$node->safe_psql('postgres', 'ALTER TABLE nodes RENAME z TO y');
is(watch($models, q{succeeded < failed}) =~ s/\s//gr, 't', 'a later failure stands beside the success');
like(watch($failures, q{concat_ws(' ', owner, model, outcome, message)}), qr/^keeper small failed .*"?y"?/, 'with its message');
$node->safe_psql('postgres', q{UPDATE gnngp_internal.gp_refresh_log SET started = started - interval '2 days', ended = ended - interval '2 days'});
is(watch($failures, 'count(*)'), '0', 'and for a day');

# A refresh that runs is none, and holds no vacuum back; one whose session died is one
$session = background($node, q{CALL gp_refresh('keeper.large')});
ok(poll($node, q{SELECT count(*) = 1 FROM gp_progress WHERE phase = 'building the kernel'}), 'a refresh runs');
is($node->safe_psql('postgres', q{SELECT a.state, a.backend_xmin IS NULL AND a.backend_xid IS NULL
	FROM pg_stat_activity a JOIN gp_progress p USING (pid)}), 'active|t', 'without a snapshot');
is(watch($failures, 'count(*)'), '0', 'it is no failure as long as it runs');
is(watch($running, 'usename = current_user'), 'f', 'the watcher sees the session of another role');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM gp_progress');
finish($session);
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM gp_progress');
like(watch($failures, q{concat_ws(' ', model, outcome)}), qr/^large interrupted$/, 'when its session ends it is');

$node->stop;
done_testing();

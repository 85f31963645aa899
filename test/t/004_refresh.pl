# A long refresh: readers go on, vacuum is not held back, two never overlap, failures are logged.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('refresh');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . large_graph(24_000) . small_graph());
$node->safe_psql('postgres', q{SELECT gp_fit('small'); SELECT gp_fit('large', kernel => 'gcn', strategy => 'nystrom', landmarks => 100)});
# The next refreshes take longer
$node->safe_psql('postgres', q{UPDATE gnngp_internal.gp_model_catalog SET asked_landmarks = 1200 WHERE name = 'large'});

my $computing = q{SELECT EXISTS (SELECT FROM gp_progress WHERE model = 'large' AND phase = 'building the kernel' AND done > 0)};
my $log = q{SELECT outcome FROM gp_refreshes WHERE model = 'large' ORDER BY started DESC LIMIT 1};

# The SQLSTATE of a statement.
sub sqlstate
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$sql;");

	return $err =~ /ERROR:\s+(\w{5})/ ? $1 : "no error: $out";
}

# While it runs
my $before = $node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('large') p});
my $session = background($node, q{CALL gp_refresh('large')});
ok(poll($node, $computing), 'a refresh computes');
is($node->safe_psql('postgres', $log), 'running', 'its log row says so');
is($node->safe_psql('postgres', q{
	SELECT a.backend_xid IS NULL AND a.backend_xmin IS NULL
	FROM pg_stat_activity a JOIN gp_progress p USING (pid)}), 't',
	'it holds neither a transaction id nor a snapshot');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks l JOIN gp_progress p USING (pid) WHERE locktype = 'relation'}),
	'0', 'nor a lock on a table');
is($node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('large') p}),
	$before, 'readers see the old model');
is(sqlstate(q{CALL gp_refresh('large')}), '55006', 'a second refresh is refused');
is(sqlstate(q{SELECT gp_fit('large')}), '55006', 'and so is a fit of the same model');
is(sqlstate(q{SELECT gp_drop_model('large')}), '55006', 'and dropping it');
is(sqlstate(q{SELECT gp_drop_graph('large')}), '55006', 'and dropping its graph');
is($node->safe_psql('postgres', $log), 'running', 'the refusals leave the log as it was');
$node->safe_psql('postgres', q{CALL gp_refresh('small')});
is($node->safe_psql('postgres', q{SELECT outcome FROM gp_refreshes WHERE model = 'small'}), 'succeeded',
	'another model is refreshed meanwhile');
$node->safe_psql('postgres', q{INSERT INTO large_nodes SELECT 50000, x, NULL FROM large_nodes WHERE id = 1});
is(finish($session), 0, 'the refresh succeeds');
is($node->safe_psql('postgres', $log), 'succeeded', 'and is logged');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gp_predict('large')}), '24000',
	'it has read one snapshot, of its start');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT b.version) FROM gnngp_internal.gp_block b JOIN gnngp_internal.gp_model_catalog m ON m.id = b.model WHERE m.name = 'large'}),
	'1', 'the old version is gone');
isnt($node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('large') p}),
	$before, 'and the model is new');

# Cancelled
$before = $node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('large') p});
$session = background($node, q{CALL gp_refresh('large')});
ok(poll($node, $computing), 'a refresh to cancel');
my $started = time;
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM gp_progress');
isnt(finish($session), 0, 'the caller sees the failure');
cmp_ok(time - $started, '<', 1.0, 'soon');
like($session->{err}, qr/57014/, 'with its SQLSTATE');
is($node->safe_psql('postgres', $log), 'failed', 'the failure is logged');
is($node->safe_psql('postgres', q{SELECT message FROM gp_refreshes WHERE outcome = 'failed'}),
	'canceling statement due to user request', 'with its message');
is($node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('large') p}),
	$before, 'the model is the old one');

# Terminated, and a session that goes on after a timeout
$session = background($node, q{CALL gp_refresh('large')});
ok(poll($node, $computing), 'a refresh to terminate');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM gp_progress');
finish($session);
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_locks WHERE classid = 'pg_extension'::regclass});
is($node->safe_psql('postgres', $log), 'interrupted', 'a session that ended reads as interrupted');
my ($rc, $out, $err) = $node->psql('postgres', q{
	SET statement_timeout = '700ms';
	CALL gp_refresh('large');
	RESET statement_timeout;
	SELECT 'locks ' || count(*) FROM pg_locks WHERE classid = 'pg_extension'::regclass;
	CALL gp_refresh('small');
	SELECT 'after ' || outcome FROM gp_refreshes ORDER BY started DESC LIMIT 1;
}, on_error_stop => 0);
like($err, qr/statement timeout/, 'a timeout ends a refresh');
like($out, qr/locks 0/, 'its lock is released');
like($out, qr/after succeeded/, 'and the session goes on');
is($node->safe_psql('postgres', $log), 'failed', 'the timeout is logged');

# The server crashes
$session = background($node, q{CALL gp_refresh('large')});
ok(poll($node, $computing), 'a refresh to lose');
$node->stop('immediate');
finish($session);
$node->start;
is($node->safe_psql('postgres', $log), 'interrupted', 'after a crash it reads as interrupted');
is($node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '' ORDER BY node)) FROM gp_predict('large') p}),
	$before, 'and the model is the old one');
$session = background($node, q{CALL gp_refresh('large')});
ok(poll($node, $computing), 'the next refresh');
is($node->safe_psql('postgres', q{SELECT string_agg(outcome, ' ' ORDER BY started) FROM gp_refreshes WHERE model = 'large'}),
	'succeeded failed interrupted failed interrupted running', 'leaves the log of the lost ones');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM gp_progress');
finish($session);

# In a transaction block a fit's lock lasts until the end of the transaction
$session = background($node, q{DO $$ BEGIN PERFORM gp_fit('small'); PERFORM pg_sleep(300); END $$});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
is(sqlstate(q{CALL gp_refresh('small')}), '55006', 'a fit that has not committed keeps refreshes away');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
finish($session);
is(sqlstate(q{CALL gp_refresh('small')}), 'no error: ', 'its end lets them in');

$node->stop;
done_testing();

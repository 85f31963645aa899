# A standby predicts from what the primary stored, and refuses to write.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . small_graph() . q{
	SELECT gp_fit('small');
	SELECT gp_fit('small', 'learnt', kernel => 'gckm');
	SELECT gp_fit('small', 'live', kernel => 'gcn', live => true);
	SELECT gp_fit_links('small');
	SELECT gp_fit_links('small', 'kept', keep => 5);
	SELECT gp_fit_links('small', 'published', method => 'dgp(inducing=12, units=9, steps=20)');
	CALL gp_refresh('small');
	CREATE ROLE stranger;
});
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

# The SQLSTATE that a statement gives on the standby.
sub sqlstate
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY sqlstate\n$sql;");

	return $err =~ /ERROR:\s+(\w{5})/ ? $1 : "no error: $out";
}

for my $query ('SELECT * FROM gp_predict(\'small\', top => NULL) ORDER BY node, class',
	'SELECT * FROM gp_predict(\'small\', id => 7)', 'SELECT * FROM gp_predict_live(\'live\', 7)', 'SELECT * FROM gp_explain(\'live\', 7)',
	'SELECT * FROM gp_explain_edges(\'live\', 7)', 'SELECT * FROM gp_next_labels(\'live\', 3)', 'SELECT * FROM gp_predict(\'learnt\', top => NULL) ORDER BY node, class',
	'SELECT * FROM gp_predict_links(\'small\') ORDER BY src, dst',
	'SELECT * FROM gp_predict_links(\'kept\', k => 5) ORDER BY src, dst', 'SELECT * FROM gp_predict_links(\'kept\', 7, k => 3)',
	'SELECT * FROM gp_score_links(\'small\', ARRAY[1, 2], ARRAY[7, 3])', 'SELECT * FROM gp_score_links(\'published\', ARRAY[1, 2], ARRAY[7, 3])',
	'SELECT * FROM gp_evaluate(\'small\')', 'SELECT * FROM gp_heldout_links(\'small\')', 'SELECT gp_report(\'small\')', 'SELECT model, nodes, kernel FROM gp_models', 'SELECT * FROM gp_graphs',
	'SELECT model, outcome FROM gp_refreshes', 'SELECT * FROM gp_progress')
{
	is($standby->safe_psql('postgres', $query), $primary->safe_psql('postgres', $query), $query);
}
is($standby->safe_psql('postgres', "SET ROLE stranger; SELECT count(*) FROM gp_models"), '0',
	'row-level security holds on the standby');

for my $statement (q{SELECT gp_fit('small')}, q{SELECT gp_fit('small', kernel => 'gckm')}, q{SELECT gp_fit_links('small')}, q{CALL gp_refresh('small')}, q{SELECT gp_drop_model('small')},
	q{SELECT gp_drop_graph('small')}, q{SELECT gp_set_owner('small', current_user)}, q{SELECT gp_grant('small', 'stranger')},
	q{SELECT gp_revoke('small', 'stranger')}, q{SELECT gp_create_graph('g', 'nodes', 'edges')})
{
	is(sqlstate($statement), '25006', "$statement is refused");
}

# Refreshes arrive
$primary->safe_psql('postgres', q{INSERT INTO nodes VALUES (201, '{1,2,3}', NULL); CALL gp_refresh('small')});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
is($standby->safe_psql('postgres', "SELECT count(*) FROM gp_predict('small')"), '201',
	'the standby follows a refresh');
$primary->safe_psql('postgres', q{INSERT INTO edges VALUES (201, 1), (201, 2); CALL gp_refresh('small')});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
cmp_ok($standby->safe_psql('postgres', "SELECT count(*) FROM gp_predict_links('small', nodes => '{201}')"), '>', 0,
	'with its links');

# And so does the standby's promotion
$standby->promote;
$standby->safe_psql('postgres', q{CALL gp_refresh('small')});
is($standby->safe_psql('postgres', "SELECT count(*) FROM gp_refreshes WHERE outcome = 'succeeded'"), '4',
	'a promoted standby refreshes');

$standby->stop;
$primary->stop;
done_testing();

# Source tables that logical replication fills: fits on the subscriber see what has arrived.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my %node = map { $_ => PostgreSQL::Test::Cluster->new($_) } qw(publisher subscriber);
$node{publisher}->init(allows_streaming => 'logical');
$node{subscriber}->init;
$_->start for values %node;
$_->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . small_graph()
	. 'ALTER TABLE nodes ADD PRIMARY KEY (id); ALTER TABLE edges REPLICA IDENTITY FULL') for values %node;
$node{subscriber}->safe_psql('postgres', 'TRUNCATE nodes, edges');

# Every schema of the publisher: nothing of the extension's is published, a fit stops nothing.
$node{publisher}->safe_psql('postgres', q{CREATE PUBLICATION everything FOR TABLES IN SCHEMA public});
$node{publisher}->safe_psql('postgres', q{SELECT gp_fit('small', kernel => 'gcn')});
my $connection = $node{publisher}->connstr . ' dbname=postgres';
my $tables = $node{publisher}->safe_psql('postgres',
	q{SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_publication_tables WHERE tablename NOT LIKE 'gp\_%'});
is($tables, 'edges nodes', 'the source tables are published');

$node{publisher}->safe_psql('postgres', 'DROP PUBLICATION everything; CREATE PUBLICATION sources FOR TABLE nodes, edges');
$node{subscriber}->safe_psql('postgres', qq{CREATE SUBSCRIPTION sources CONNECTION '$connection' PUBLICATION sources});
$node{subscriber}->wait_for_subscription_sync($node{publisher}, 'sources');

my $fit = q{SELECT nodes, loo_score FROM gp_fit('small', kernel => 'gcn')};
my $answers = q{SELECT md5(string_agg(p::text, '|' ORDER BY node)) FROM gp_predict('small') AS p};
is($node{subscriber}->safe_psql('postgres', "$fit; $answers"), $node{publisher}->safe_psql('postgres', "$fit; $answers"),
	'a fit on the subscriber is that on the publisher');

$node{publisher}->safe_psql('postgres', q{UPDATE nodes SET y = 'class 1' WHERE id = 3; DELETE FROM edges WHERE src = 5;
	INSERT INTO nodes VALUES (201, '{1,2,3}', 'class 0'); INSERT INTO edges VALUES (201, 1)});
$node{publisher}->wait_for_catchup('sources');
my $refreshed = "CALL gp_refresh('small'); $answers";
is($node{subscriber}->safe_psql('postgres', $refreshed), $node{publisher}->safe_psql('postgres', $refreshed),
	'and a refresh sees what has arrived');
is($node{subscriber}->safe_psql('postgres', q{SELECT count(*) FROM gp_predict('small', 201)}), '1', 'a new row is a node');

$_->stop for values %node;
done_testing();

# A model survives a restart, a dump by a superuser, and a dump by the database's owner.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('survival');
$node->init;
$node->start;

my $predictions = 'SELECT * FROM gp_predict(\'small\', top => NULL) ORDER BY node, class';
my $links = 'SELECT * FROM gp_predict_links(\'small\') ORDER BY src, dst';
my $linked = q{SELECT m, l.* FROM unnest('{few,links only,published}'::text[]) AS m, gp_predict_links(m, nodes => ARRAY[7, 8]) AS l ORDER BY m, src, dst};
my $held = 'SELECT * FROM gp_heldout_links(\'small\') ORDER BY src, dst, score';
my $learnt = 'SELECT * FROM gp_predict(\'learnt\', top => NULL) ORDER BY node, class';
my $methods = 'SELECT string_agg(concat_ws(\' \', model, kernel), \', \' ORDER BY model) FROM gp_models';
my $figures = 'SELECT * FROM gp_evaluate(\'small\') ORDER BY metric';

$node->safe_psql('postgres', q{
	CREATE ROLE keeper LOGIN;
	CREATE ROLE reader LOGIN;
	CREATE ROLE other LOGIN;
	CREATE DATABASE source OWNER keeper;
});
$node->safe_psql('source', 'CREATE EXTENSION gnngp; GRANT CREATE ON SCHEMA public TO keeper, other;');
my $sql = small_graph();
$node->safe_psql('source', qq{
	SET ROLE keeper;
	$sql
	SELECT gp_fit('small', kernel => 'appnp');
	SELECT gp_fit_links('small');
	SELECT gp_fit_links('small', model => 'links only', kernel => 'laplacian(d=2)');
	SELECT gp_fit_links('small', model => 'published', method => 'dgp(inducing=12, units=9, steps=20)');
	CREATE TABLE few AS SELECT * FROM edges WHERE greatest(src, dst) <= 12;
	SELECT gp_create_graph('few', 'nodes', 'few');
	SELECT gp_fit_links('few', method => 'pairs');
	CALL gp_refresh('small');
	SELECT gp_fit('small', model => 'learnt', kernel => 'gckm(own=true, lambda2=0.06)', landmarks => 50);
	SELECT gp_grant('small', 'reader');
	RESET ROLE;
	SET ROLE other;
	CREATE TABLE n2 (id int); CREATE TABLE e2 (src int, dst int);
	SELECT gp_create_graph('others', 'n2', 'e2');
});
my $before = $node->safe_psql('source', $predictions);
my $evaluated = $node->safe_psql('source', $figures);
cmp_ok(length($before), '>', 1000, 'there are predictions');
my $links_before = $node->safe_psql('source', $links);
my $held_before = $node->safe_psql('source', $held);
my $learnt_before = $node->safe_psql('source', $learnt);
my $methods_before = $node->safe_psql('source', $methods);
like($methods_before, qr/learnt gckm\(own=true, landmarks=50, lambda2=0.06\), links only, published, small appnp/, 'methods are kept');
my $linked_before = $node->safe_psql('source', $linked);
cmp_ok(length($links_before), '>', 1000, 'and links');
cmp_ok(length($linked_before), '>', 100, 'of all three models');
cmp_ok(length($held_before), '>', 1000, 'and pairs that were held out');

# Restart
$node->restart;
is($node->safe_psql('source', $predictions), $before, 'a restart keeps the predictions');
$node->stop('immediate');
$node->start;
is($node->safe_psql('source', $predictions), $before, 'a crash keeps the predictions');
is($node->safe_psql('source', $links), $links_before, 'and the links');

# Checks a restored database.
sub check_restored
{
	my ($db, $how, $graphs) = @_;

	is($node->safe_psql($db, $predictions), $before, "$how keeps the predictions");
	is($node->safe_psql($db, $links), $links_before, "$how keeps the links");
	is($node->safe_psql($db, $linked), $linked_before, "$how keeps models of links alone");
	is($node->safe_psql($db, $learnt), $learnt_before, "$how keeps what another method learnt");
	is($node->safe_psql($db, $methods), $methods_before, "$how keeps the methods");
	is($node->safe_psql($db, $figures), $evaluated, "$how keeps the figures");
	is($node->safe_psql($db, $held), $held_before, "$how keeps the pairs that were held out");
	is($node->safe_psql($db, "SELECT string_agg(graph, ',' ORDER BY graph) FROM gp_graphs"), $graphs,
		"$how keeps the graphs");
	is($node->safe_psql($db, 'SELECT outcome FROM gp_refreshes'), 'succeeded', "$how keeps the log");
	is($node->safe_psql($db, "SET ROLE reader; SELECT count(*) FROM gp_predict('small')"), '200',
		"$how keeps the grant");
	cmp_ok($node->safe_psql($db, "SET ROLE reader; SELECT count(*) FROM gp_predict_links('small')"), '>', 100,
		"$how keeps the grant of the links");
	is($node->safe_psql($db, "SELECT nodes, edges, target FROM gp_graphs WHERE graph = 'small'"),
		'nodes|pairs|known', "$how keeps the tables and their columns");
	$node->safe_psql($db, q{
		SET ROLE keeper;
		CALL gp_refresh('small');
		CALL gp_refresh('learnt');
		SELECT gp_fit('small', model => 'another', kernel => 'gcn');
		SELECT gp_create_graph('again', 'nodes', 'pairs');
	});
	is($node->safe_psql($db, $learnt), $learnt_before, "$how: a refresh fits by the method again");
	is($node->safe_psql($db, "SELECT version, link_version FROM gnngp_internal.gp_model_catalog WHERE name = 'small'"), '3|3',
		"$how: the model can be refreshed");
	return;
}

# pg_dump by a superuser, of a graph one of whose columns was renamed, and its name taken
$node->safe_psql('source', 'ALTER TABLE nodes ADD last int; ALTER TABLE nodes RENAME y TO known;
	ALTER TABLE nodes RENAME last TO y; ALTER TABLE edges RENAME TO pairs');
my $dump = $node->basedir . '/super.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('source') ], 'a superuser dumps');
$node->safe_psql('postgres', 'CREATE DATABASE by_super OWNER keeper');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('by_super') ],
	'and restores');
check_restored('by_super', 'a dump by a superuser', 'few,others,small');
$node->safe_psql('by_super', q{CALL gp_refresh('keeper.links only')});

# pg_dump in the custom format, restored by several workers
my $custom = $node->basedir . '/super.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $custom, $node->connstr('source') ], 'a dump in the custom format');
$node->safe_psql('postgres', 'CREATE DATABASE by_workers OWNER keeper');
$node->command_ok([ 'pg_restore', '-j', '2', '--exit-on-error', '-d', $node->connstr('by_workers'), $custom ],
	'is restored by two workers');
check_restored('by_workers', 'a restore by workers', 'few,others,small');

# Into a database that has models: not as it is; all but the models, or the models in place of those that are there
$node->safe_psql('postgres', 'CREATE DATABASE inhabited OWNER keeper');
$node->safe_psql('inhabited', 'CREATE EXTENSION gnngp;
	CREATE TABLE mine AS SELECT i AS id, CASE WHEN i < 4 THEN i % 2 END AS y FROM generate_series(1, 9) i;
	CREATE TABLE links AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 8) i;
	SELECT gp_create_graph(\'mine\', \'mine\', \'links\', target => \'y\'); SELECT gp_fit(\'mine\')');
$node->command_checks_all([ 'pg_restore', '-d', $node->connstr('inhabited'), '-t', 'gp_model_catalog', $custom ], 1, [],
	[ qr/duplicate key/ ], 'models of two databases do not fit together');
my $ours = ' (TABLE DATA|SEQUENCE SET) \S+ gp_(graph_catalog|model_catalog|block|grant_catalog|refresh_log)(_id_seq)? ';
my $list = $node->basedir . '/list';
my @entries = split /^/, `pg_restore --list $custom`;
append_to_file("$list.rest", join('', grep { $_ !~ $ours } @entries));
append_to_file("$list.models", join('', grep { $_ =~ $ours } @entries));
$node->command_ok([ 'pg_restore', '--exit-on-error', '-L', "$list.rest", '-d', $node->connstr('inhabited'), $custom ],
	'the rest of the dump does');
is($node->safe_psql('inhabited', 'SELECT (SELECT count(*) FROM nodes) || string_agg(graph, \' \') FROM gp_graphs'), '200mine',
	'beside the models that are there');
$node->safe_psql('inhabited', 'TRUNCATE gnngp_internal.gp_graph_catalog, gnngp_internal.gp_model_catalog, gnngp_internal.gp_block, gnngp_internal.gp_grant_catalog, gnngp_internal.gp_refresh_log');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-L', "$list.models", '-d', $node->connstr('inhabited'), $custom ],
	'or the models in their place');
check_restored('inhabited', 'a restore in place of other models', 'few,others,small');

# Publications: nothing of the extension's, and what all tables are does not stop its writes
$node->safe_psql('inhabited', 'CREATE PUBLICATION everything FOR ALL TABLES; SELECT gp_fit(\'small\');
	SELECT gp_grant(\'small\', \'other\'); SELECT gp_revoke(\'small\', \'other\'); SELECT gp_set_owner(\'small\', \'other\');
	SELECT gp_drop_graph(\'other.small\')');
my ($listing) = slurp_file('doc/operations.md') =~ /```\n(SELECT format\('CREATE PUBLICATION.*?gexec)\n```/s;
$node->safe_psql('inhabited', $listing);
is($node->safe_psql('inhabited', 'SELECT string_agg(tablename, \' \' ORDER BY tablename) FROM pg_publication_tables WHERE pubname = \'mine\''),
	'e2 few links mine n2 nodes pairs', 'the list for a publication leaves the extension out');

# pg_dump by the database's owner, who sees rows of its own only
my $owned = $node->basedir . '/owner.sql';
my $connect = $node->connstr('source') . ' user=keeper';
$node->safe_psql('source', 'REASSIGN OWNED BY other TO keeper');
$node->command_fails([ 'pg_dump', '-f', $owned, $connect ],
	'without --enable-row-security the dump fails instead of being silently incomplete');
$node->command_ok([ 'pg_dump', '--enable-row-security', '-f', $owned, $connect ], 'the owner dumps');
$node->safe_psql('postgres', 'CREATE DATABASE by_owner OWNER keeper');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $owned, $node->connstr('by_owner') ],
	'a superuser restores it');
check_restored('by_owner', 'a dump by the owner', 'few,small');

# A role that is missing does not stop a restore, and loses no row
my $other = PostgreSQL::Test::Cluster->new('elsewhere');
$other->init;
$other->start;
$other->safe_psql('postgres', 'CREATE DATABASE target');
$other->command_ok([ 'pg_dump', '--no-owner', '--no-privileges', '-f', $dump, $node->connstr('source') ], 'a dump for another server');
$other->safe_psql('postgres', 'CREATE ROLE other');
$other->command_checks_all([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $other->connstr('target') ], 0, [],
	[ qr/WARNING:  the role "keeper" that owns .* is missing.*gp_set_owner/s, qr/WARNING:  the role "reader"/ ],
	'is restored where roles are missing, which is told');
is($other->safe_psql('target', $predictions), $before, 'a superuser reads the predictions there');
my $rows = q{SELECT concat_ws(' ', (SELECT count(*) FROM gnngp_internal.gp_graph_catalog), (SELECT count(*) FROM gnngp_internal.gp_model_catalog),
	(SELECT count(*) FROM gnngp_internal.gp_block), (SELECT count(*) FROM gnngp_internal.gp_grant_catalog), (SELECT count(*) FROM gnngp_internal.gp_refresh_log))};
is($other->safe_psql('target', $rows), $node->safe_psql('source', $rows), 'no row is lost');
my $owners = q{SELECT string_agg(owner || ' ' || graph, ', ' ORDER BY graph) FROM gp_graphs};
is($other->safe_psql('target', $owners), 'pg_gone:keeper few, other others, pg_gone:keeper small', 'what has no role says whose it was');
is($other->safe_psql('target', "SET ROLE other; $owners"), 'other others', 'a role that exists has its own');
$other->safe_psql('postgres', 'CREATE ROLE keeper; CREATE ROLE reader');
is($other->safe_psql('target', "SET ROLE keeper; $owners"), '', 'one that is created later has nothing');
is($other->safe_psql('target', 'SET ROLE reader; SELECT count(*) FROM gp_models'), '0', 'nor a grant');
$other->safe_psql('target', q{SELECT gp_set_owner('few', 'keeper'), gp_set_owner('small', 'keeper')});
is($other->safe_psql('target', "SET ROLE keeper; $owners"), 'keeper few, keeper small', 'until they are given to it');
is($other->safe_psql('target', 'SET ROLE keeper; SELECT count(*) FROM gp_models'), '5', 'with the models');
is($other->safe_psql('target', 'SET ROLE keeper; SELECT outcome FROM gp_refreshes'), 'succeeded', 'and the log');
$other->command_ok([ 'pg_dump', '--no-owner', '--no-privileges', '-f', $dump, $other->connstr('target') ],
	'a dump with a grantee that is gone');
$other->safe_psql('postgres', 'CREATE DATABASE twice');
$other->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $other->connstr('twice') ], 'is restored');
is($other->safe_psql('twice', 'SELECT grantee FROM gnngp_internal.gp_grant_catalog'), 'pg_gone:reader',
	'and the grant is not that of the role which has the name now');

$other->stop;
$node->stop;
done_testing();

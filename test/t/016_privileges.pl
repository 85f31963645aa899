# The privileges that the document takes from everybody, and those that it leaves.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('privileges');
$node->init;
$node->start;

# The settings, as they are to be made
$node->safe_psql('postgres', $_) for document_sql('install.md', 'Settings');
is($node->safe_psql('postgres', q{LOAD 'gnngp'; SELECT concat(current_setting('gnngp.memory_limit'), ' ', current_setting('gnngp.max_threads'))}),
	'2GB 4', 'limits are set with ALTER SYSTEM');

$node->safe_psql('postgres', $_) for document_sql('install.md', 'Privileges');
$node->safe_psql('postgres', q{
	CREATE ROLE stranger LOGIN; CREATE ROLE reader LOGIN IN ROLE gnngp_readers; CREATE ROLE fitter LOGIN IN ROLE gnngp_fitters;
	GRANT CREATE ON SCHEMA public TO reader, fitter;
	SET search_path = public, gnngp; SET ROLE fitter;} . small_graph());

# Runs statements as a role; returns the SQLSTATE, or the output
sub as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\nSET search_path = public, gnngp;\n$sql;",
		connstr => $node->connstr('postgres') . " user=$role", on_error_stop => 0);

	return $err =~ /ERROR:\s+(\w{5})/ ? $1 : $out;
}

is(as('fitter', q{SELECT nodes FROM gp_fit('small')}), '200', 'a fitter fits');
is(as('fitter', q{CALL gp_refresh('small')}), '', 'and refreshes');
is(as('fitter', q{SELECT gp_edges(gp_graph(src, dst)) > 0 FROM edges}), 't', 'and makes graphs in a query');
is(as('fitter', q{SELECT gp_grant('small', 'reader')}), '', 'and grants');
is(as('reader', q{SELECT count(*) FROM gp_predict('small')}), '200', 'a reader predicts');
is(as('reader', q{SELECT count(*) > 0 FROM gp_evaluate('small')}), 't', 'and evaluates');
is(as('fitter', q{SELECT model FROM gp_fit_links('small'); SELECT count(*) > 0 FROM gp_heldout_links('small')}), "small\nt", 'a fitter sees what it held out');
is(as('reader', q{SELECT count(*) FROM gp_evaluate('small') WHERE metric = 'auc_component'}), '1', 'a reader sees what that comes to');
is(as('reader', q{SELECT count(*) FROM gp_heldout_links('small')}), '42501', 'but not the pairs');
is(as('reader', q{SELECT count(*) FROM gnngp_internal.gp_block WHERE part LIKE '%loo'}), '0', 'nor their blocks');
is(as('reader', q{SELECT gp_report('small')}), '42501', 'nor the page');
is(as('reader', q{SELECT model || ' ' || kernel FROM gp_models}) =~ s/ .*//r, 'small', 'and has the views');
is(as('reader', q{SELECT count(*) FROM gp_progress}), '0', 'all of them');
for my $call (q{SELECT gp_create_graph('mine', 'nodes', 'edges')}, q{SELECT gp_fit('small')}, q{SELECT gp_fit_links('small')},
	q{SELECT gp_tune('small')}, q{SELECT gp_estimate('small')}, q{SELECT gp_cluster('small', 3)}, q{CALL gp_refresh('small')},
	q{SELECT gp_grant('small', 'public')}, q{SELECT gp_graph(1, 2)}, q{SELECT gp_factor(1, 2, 'gcn', 2)}, q{SELECT gp_device()})
{
	is(as('reader', $call), '42501', "but not $call");
}
is(as('stranger', q{SELECT count(*) FROM gp_predict('small')}), '42883', 'a stranger finds no function');
is(as('stranger', q{SELECT count(*) FROM gnngp.gp_models}), '42501', 'and may not use the schema');
is(as('stranger', q{SELECT 'gcn'::gnngp.gp_kernel}), '42501', 'nor its types');

# A dump keeps them
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'it is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', $dump, '-d', $node->connstr('copy') ], 'and restored');
is($node->safe_psql('copy', q{SELECT concat(has_function_privilege('reader', 'gnngp.gp_device()', 'EXECUTE'),
	has_function_privilege('fitter', 'gnngp.gp_device()', 'EXECUTE'), has_schema_privilege('stranger', 'gnngp', 'USAGE'))}),
	'ftf', 'with the privileges');

# With the library preloaded a connection that brings a limit along does not come about
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'gnngp'});
$node->restart;
{
	local $ENV{PGOPTIONS} = '-c gnngp.max_threads=64';
	my ($rc, $out, $err) = $node->psql('postgres', 'SELECT 1', connstr => $node->connstr('postgres') . ' user=fitter');
	like($err, qr/permission denied to set parameter "gnngp.max_threads"/, 'a preloaded library refuses it at once');
}

$node->stop;
done_testing();

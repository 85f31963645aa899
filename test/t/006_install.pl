# The extension works in any schema, preloaded or not, and can be dropped and made again.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('install');
$node->init;
$node->start;

# Everything once, in a schema that is not in search_path
my $use = small_graph() . q{
	SELECT gp_fit('small', kernel => 'gcn');
	SELECT gp_fit_links('small', kernel => 'gcn');
	CALL gp_refresh('small');
	SELECT gp_grant('small', 'public');
	SELECT gp_revoke('small', 'public');
	SELECT 'predictions ' || count(*) FROM gp_predict('small');
	SELECT 'one ' || count(*) FROM gp_predict('small', id => 7);
	SELECT 'links ' || count(*) FROM gp_predict_links('small', k => 3, nodes => '{7}');
	SELECT 'pairs ' || count(*) FROM gp_score_links('small', ARRAY[7], ARRAY[9]);
	SELECT 'metrics ' || (count(*) > 10)::integer FROM gp_evaluate('small');
	SELECT 'held ' || (count(*) > 10)::integer FROM gp_heldout_links('small');
	SELECT 'kernels ' || count(*) FROM gp_tune('small', ARRAY['gcn', 'mlp']::gp_kernel[]);
	SELECT 'estimate ' || count(*) FROM gp_estimate('small');
	SELECT 'rows ' || (SELECT count(*) FROM gp_graphs) + (SELECT count(*) FROM gp_models)
		+ (SELECT count(*) FROM gp_refreshes) + (SELECT count(*) FROM gp_progress);
	SELECT gp_drop_model('small');
	SELECT gp_drop_graph('small');
};
my $expected = join("\n", 'predictions 200', 'one 1', 'links 3', 'pairs 1', 'metrics 1', 'held 1', 'kernels 2', 'estimate 1', 'rows 3');
(my $qualified = $use) =~ s/\b(gp_\w+)/"Odd % Schema".$1/g;

$node->safe_psql('postgres', q{CREATE SCHEMA "Odd % Schema"; CREATE EXTENSION gnngp SCHEMA "Odd % Schema"});
my $out = $node->safe_psql('postgres', $qualified);
is(join("\n", grep { /^[a-z]+ \d+$/ } split /\n/, $out), $expected, 'it works in a schema outside of search_path');

# A role without rights on the schema is refused by the server, not by a crash
$node->safe_psql('postgres', 'CREATE ROLE stranger');
my ($rc, $stdout, $err) = $node->psql('postgres', q{SET ROLE stranger; SELECT "Odd % Schema".gp_drop_graph('x')});
like($err, qr/permission denied for schema/, 'the schema\'s rights hold');

# Dropped and made again in one session
$out = $node->safe_psql('postgres', qq{
	DROP EXTENSION gnngp;
	CREATE EXTENSION gnngp;
	DROP TABLE nodes, edges;
	$use
	DROP EXTENSION gnngp CASCADE;
});
is(join("\n", grep { /^[a-z]+ \d+$/ } split /\n/, $out), $expected, 'it can be dropped and made again');

# Nothing is left of it without CASCADE, and a schema of the name that somebody has made is not taken over
$out = $node->safe_psql('postgres', q{CREATE EXTENSION gnngp; DROP EXTENSION gnngp; SELECT count(*) FROM pg_namespace WHERE nspname ~ 'gnngp'});
is($out, '0', 'the extension is dropped with its schema');
($rc, $stdout, $err) = $node->psql('postgres', q{CREATE SCHEMA gnngp_internal; CREATE EXTENSION gnngp});
like($err, qr/schema "gnngp_internal" already exists/, 'a schema gnngp_internal of somebody else is refused');
$node->safe_psql('postgres', 'DROP SCHEMA gnngp_internal');

# A backend that loaded the library before the extension was dropped
($rc, $stdout, $err) = $node->psql('postgres', q{LOAD 'gnngp'; SET gnngp.threads = 1; SHOW gnngp.threads});
is($stdout, '1', 'the library alone offers its settings');

# Preloaded: no thread in the postmaster, and the same results
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'gnngp'});
$node->restart;
$node->safe_psql('postgres', 'DROP TABLE IF EXISTS nodes, edges; CREATE EXTENSION gnngp');
$out = $node->safe_psql('postgres', $use);
is(join("\n", grep { /^[a-z]+ \d+$/ } split /\n/, $out), $expected, 'it works preloaded');
SKIP:
{
	my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	skip 'no /proc', 1 unless -d "/proc/$pid/task";
	my @tasks = glob "/proc/$pid/task/*";
	is(scalar(@tasks), 1, 'the postmaster has one thread');
}
($rc, $stdout, $err) = $node->psql('postgres', q{SET gnngp.device = 'gpu'});
like($err, qr/invalid value for parameter/, 'a misspelt setting is refused at once');

$node->stop;
done_testing();

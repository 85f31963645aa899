# From version 0.1.0: its catalog is read by the new library, not written, and updated to what CREATE EXTENSION makes.
#
# dump_0_1_0.sql is a dump of a database that the library of 0.1.0 filled, with the predictions that it gave.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init;
$node->start;
$node->psql('postgres', 'CREATE ROLE postgres SUPERUSER', on_error_stop => 0);
$node->safe_psql('postgres', 'CREATE ROLE keeper; CREATE ROLE reader; CREATE ROLE stranger;
	CREATE DATABASE fresh; CREATE DATABASE old; CREATE DATABASE restored; CREATE DATABASE viewed');
$node->safe_psql('fresh', 'CREATE EXTENSION gnngp');
my $version = $node->safe_psql('fresh', q{SELECT extversion FROM pg_extension WHERE extname = 'gnngp'});

# Fills a database from the dump.
sub restore
{
	my ($db) = @_;

	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', 'test/t/dump_0_1_0.sql', $node->connstr($db) ],
		"a dump of 0.1.0 is restored in database $db");
	return;
}

# What a call says as a role: the SQLSTATE and the message, or its output.
sub as
{
	my ($role, $sql, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'old', "\\set VERBOSITY verbose\nSET ROLE $role;\n$sql;", on_error_stop => 0);

	return $err =~ /ERROR:\s+(.*)/s ? $1 : $out;
}

# Predictions are those that 0.1.0 gave.
sub check_predictions
{
	my ($db, $when) = @_;
	my $far = 'count(*) FILTER (WHERE abs(a.score - b.score) > 1e-6 OR abs(a.variance - b.variance) > 1e-6
		OR abs(a.probability - b.probability) > 1e-6 OR a.score IS NULL OR b.score IS NULL)';

	is($node->safe_psql($db, "SELECT $far, count(*) FROM predicted a FULL JOIN gp_predict('keeper.small', top => NULL) b USING (node, class)"),
		'0|48', "$when nodes are predicted");
	is($node->safe_psql($db, "SELECT count(*) FROM gp_predict('keeper.small', id => 7)"), '1', 'a node alone too');
	for my $model ('small', 'links only')
	{
		is($node->safe_psql($db, "SELECT $far FROM (SELECT * FROM linked WHERE model = '$model') a
			FULL JOIN gp_predict_links('keeper.$model') b USING (src, dst)"), '0', "$when links of $model");
	}
	is($node->safe_psql($db, "SELECT count(*) FILTER (WHERE abs(f.value - e.value) > 1e-9 OR f.value IS NULL OR e.value IS NULL), count(*)
		FROM figures f FULL JOIN (SELECT * FROM gp_evaluate('keeper.small') WHERE metric NOT IN ('auc', 'average_precision')) e USING (metric)"), '0|3', 'and figures');
	is($node->safe_psql($db, q{SELECT string_agg(metric, ' ' ORDER BY metric), bool_and(e.value = CASE metric WHEN 'auc' THEN m.link_auc ELSE m.link_average_precision END)
		FROM gp_evaluate('keeper.links only') e, gp_model_catalog m WHERE m.name = 'links only'}), 'auc average_precision|t', 'of links those that were kept');
	is(as('keeper', q{SELECT count(*) FROM gp_score_links('small', ARRAY[1], ARRAY[9])}, $db), '1', 'a pair is scored');
	is(as('reader', q{SELECT model FROM gp_models ORDER BY model}, $db), "links only\nsmall", 'a grantee sees its models')
		if $when !~ /0\.1\.0/;
	is(as('reader', q{SELECT count(*) FROM gp_predict('small')}, $db), '24', 'and predicts');
	is(as('stranger', q{SELECT string_agg(model, ',') FROM gp_models}, $db), 'links only', 'others see what is public');
	return;
}

# The catalog of 0.1.0 under the new library
$node->safe_psql('old', q{CREATE EXTENSION gnngp VERSION '0.1.0'});
restore('old');
$node->safe_psql('old', q{CREATE VIEW public.mine AS
	SELECT m.owner, m.model, g.nodes, (SELECT count(*) FROM public.gp_refreshes r WHERE r.model = m.model) AS refreshes
	FROM public.gp_models m JOIN public.gp_graphs g USING (graph, owner)});
check_predictions('old', 'beside the objects of 0.1.0');
is(as('keeper', 'SELECT graph, owner FROM gp_graphs'), 'small|keeper', 'the views work');

# Values under the functions of 0.1.0, and then under the server's own
my $indexed = q{SET enable_seqscan = off; SELECT count(*), (SELECT count(*) FROM valued WHERE kernel = 'gcn'),
	(SELECT count(*) FROM valued WHERE kernel > 'gcn'), (SELECT count(*) FROM valued v WHERE v.graph = (SELECT gp_graph(1, 2))),
	(SELECT count(DISTINCT kernel::text || gp_kernel_hash(kernel) || gp_kernel_hash_extended(kernel, 7)) FROM valued),
	md5(string_agg(gp_graph_send(graph)::text || gp_kernel_send(kernel)::text || gp_graph_hash_extended(graph, 7), ',' ORDER BY kernel))
	FROM valued};
$node->safe_psql('old', q{CREATE TABLE valued AS
	SELECT k::gp_kernel AS kernel, gp_graph(1, n) AS graph FROM unnest('{gcn,gin,mlp}'::text[]) WITH ORDINALITY AS k(k, n)
	WHERE gp_kernel_eq('gcn', 'gcn') AND gp_kernel_ne('gcn', 'gin') AND gp_kernel_le('gcn', 'gin') AND gp_kernel_cmp('gcn', 'gin') < 0
	GROUP BY k;
	CREATE INDEX ON valued (kernel); CREATE INDEX ON valued USING hash (kernel); CREATE INDEX ON valued USING hash (graph)});
my $found = $node->safe_psql('old', $indexed);
like($found, qr/^3\|1\|2\|1\|3\|/, 'values are found by indexes');
for my $call (q{SELECT gp_create_graph('new', 'nodes', 'edges')}, q{SELECT gp_fit('small')}, q{SELECT gp_fit_links('small')},
	q{CALL gp_refresh('small')}, q{SELECT gp_grant('small', 'stranger')}, q{SELECT gp_revoke('small', 'reader')},
	q{SELECT gp_drop_model('small')}, q{SELECT gp_drop_graph('small')})
{
	like(as('keeper', $call), qr/^55000: .*0\.1\.0.*run ALTER EXTENSION gnngp UPDATE/s, "$call is refused");
}
is(as('keeper', q{SELECT count(*) FROM gp_estimate('small')}), '1', 'what stores nothing runs');
is(as('keeper', q{SELECT kernel FROM gp_tune('small', '{gcn}')}), 'gcn', 'such as a comparison of kernels');
is(as('keeper', q{SELECT count(*) FROM gp_cluster('small', 3)}), '24', 'and groups of nodes');

# The update
my ($rc, $out, $err) = $node->psql('old', 'ALTER EXTENSION gnngp UPDATE');
is($rc, 0, 'it is updated') or diag $err;
like($err, qr/WARNING:  the role "leaver" that owns/, 'a role that is gone is named');
check_predictions('old', 'after the update');
is($node->safe_psql('old', q{SELECT string_agg(owner || '.' || graph, ' ' ORDER BY graph) FROM gp_graphs}),
	'pg_gone:leaver.left keeper.small', 'owners are kept');
is($node->safe_psql('old', q{SELECT string_agg(owner || '.' || model || ' ' || refreshes, ', ' ORDER BY model) FROM mine}),
	'pg_gone:leaver.left 0, keeper.links only 0, keeper.small 0', 'views of users stand');
is($node->safe_psql('old', q{SELECT string_agg(concat_ws(' ', owner, grantee), ', ' ORDER BY model) FROM gp_grant_catalog}),
	'keeper reader, keeper public, pg_gone:leaver reader', 'grants are kept');
like(as('keeper', q{SELECT * FROM gp_loo_links('links only')}), qr/^55000: .*was fitted by a version that kept no/, 'pairs that were held out were not kept');
is($node->safe_psql('old', q{SELECT string_agg(concat_ws(' ', model, kernel, method), ', ' ORDER BY model) FROM gp_models}),
	'left gcn gp, links only, small gcn gp', 'kernels are of a Gaussian process');
$node->safe_psql('old', 'ALTER ROLE keeper RENAME TO warden');
is(as('warden', q{CALL gp_refresh('small'); SELECT outcome FROM gp_refreshes}), 'succeeded', 'the owner refreshes, renamed or not');
is(as('warden', q{SELECT model FROM gp_fit('small', model => 'new')}), 'new', 'and fits');
is(as('warden', q{SELECT gp_grant('new', 'stranger'); SELECT grantee FROM gp_grant_catalog g JOIN gp_model_catalog m ON m.id = g.model
	WHERE m.name = 'new'}), "\nstranger", 'and grants');
like(as('warden', q{SELECT gp_create_graph('small', 'nodes', 'edges')}), qr/^42710/, 'names are unique as before');
$node->safe_psql('old', q{SELECT gp_set_owner('left', 'warden')});
is(as('warden', q{SELECT count(*) FROM gp_predict('left')}), '24', 'a superuser gives away what was left');
$node->safe_psql('old', 'ALTER ROLE warden RENAME TO keeper');

is($node->safe_psql('old', $indexed), $found, 'values are found by indexes of before');

# Object by object
sub objects
{
	my ($db) = @_;
	my %lines = map { $_ => 1 } split /\n/, $node->safe_psql($db, slurp_file('test/t/catalog.sql'));

	return \%lines;
}
my ($fresh, $updated) = (objects('fresh'), objects('old'));
cmp_ok(scalar(keys %$fresh), '>', 500, 'there is something to compare');
is(join("\n", grep { !$updated->{$_} } sort keys %$fresh), '', "what CREATE EXTENSION makes of $version, ALTER EXTENSION UPDATE makes");
is(join("\n", grep { !$fresh->{$_} } sort keys %$updated), '', 'and no more');

# A dump of 0.1.0 in the new version
$node->safe_psql('restored', 'CREATE EXTENSION gnngp');
restore('restored');
is($node->safe_psql('restored', q{SELECT extversion FROM pg_extension WHERE extname = 'gnngp'}), $version, 'of the new version');
check_predictions('restored', 'in a database of the new version');

# A view of a user on a function whose arguments changed
$node->safe_psql('viewed', q{CREATE EXTENSION gnngp VERSION '0.1.0'});
restore('viewed');
my $rows = 'SELECT count(*), sum(score) FROM public.answers';
$node->safe_psql('viewed', q{CREATE VIEW public.answers AS SELECT * FROM public.gp_predict('keeper.small', top => 1, nodes => '{1,2,3}')});
my $before = $node->safe_psql('viewed', $rows);
$node->safe_psql('viewed', 'ALTER EXTENSION gnngp UPDATE');
is($node->safe_psql('viewed', $rows), $before, 'a view on gp_predict stands and gives what it gave');
is($node->safe_psql('viewed', q{SELECT count(*) FROM gp_predict('keeper.small', 1)}), '1', 'beside the forms of today');
$node->safe_psql('postgres', 'CREATE DATABASE dumped');
$node->command_ok([ 'bash', '-c', 'set -o pipefail; pg_dump "$0" | psql -Xq -v ON_ERROR_STOP=1 "$1"', $node->connstr('viewed'),
	$node->connstr('dumped') ], 'it is dumped and restored');
is($node->safe_psql('dumped', $rows), $before, 'with its function');
$node->safe_psql('viewed', 'DROP VIEW public.answers; DROP FUNCTION public.gp_predict_0_1(text, integer, boolean, bigint[])');
$node->safe_psql('viewed', 'DROP EXTENSION gnngp');

# Operators that somebody made in the schema before do not get into views and policies
my $trap = 'CREATE FUNCTION ext.yes(oid, integer) RETURNS boolean LANGUAGE sql AS $$SELECT true$$;
	CREATE FUNCTION ext.yes(oid, regclass) RETURNS boolean LANGUAGE sql AS $$SELECT true$$;
	CREATE FUNCTION ext.yes(double precision, integer) RETURNS boolean LANGUAGE sql AS $$SELECT true$$;
	CREATE OPERATOR ext.= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = ext.yes);
	CREATE OPERATOR ext.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = ext.yes);
	CREATE OPERATOR ext.= (LEFTARG = double precision, RIGHTARG = integer, FUNCTION = ext.yes)';
for my $case ([ 'an update', "CREATE EXTENSION gnngp SCHEMA ext VERSION '0.1.0'; $trap; ALTER EXTENSION gnngp UPDATE" ],
	[ 'CREATE EXTENSION', "$trap; CREATE EXTENSION gnngp SCHEMA ext" ])
{
	my ($when, $sql) = @$case;

	$node->safe_psql('postgres', 'CREATE DATABASE trapped');
	$node->safe_psql('trapped', "CREATE SCHEMA ext; $sql");
	is($node->safe_psql('trapped', q{SELECT count(*) FROM pg_depend d JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND d.refobjid = o.oid
		WHERE d.classid IN ('pg_rewrite'::regclass, 'pg_policy'::regclass) AND o.oprcode::text LIKE 'ext.yes'}),
		'0', "after $when no operator of others is in a view or policy");
	$node->safe_psql('postgres', 'DROP DATABASE trapped');
}

$node->stop;
done_testing();

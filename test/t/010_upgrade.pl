# From the last release: its catalog is read by the new library, not written, and updated to what CREATE EXTENSION makes.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init;
$node->start;

# Operators that somebody made in the schema before do not get into views and policies
$node->safe_psql('postgres', 'CREATE DATABASE trapped');
$node->safe_psql('trapped', 'CREATE SCHEMA ext;
	CREATE FUNCTION ext.yes(oid, integer) RETURNS boolean LANGUAGE sql AS $$SELECT true$$;
	CREATE FUNCTION ext.yes(oid, regclass) RETURNS boolean LANGUAGE sql AS $$SELECT true$$;
	CREATE FUNCTION ext.yes(double precision, integer) RETURNS boolean LANGUAGE sql AS $$SELECT true$$;
	CREATE OPERATOR ext.= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = ext.yes);
	CREATE OPERATOR ext.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = ext.yes);
	CREATE OPERATOR ext.= (LEFTARG = double precision, RIGHTARG = integer, FUNCTION = ext.yes);
	CREATE EXTENSION gnngp SCHEMA ext');
is($node->safe_psql('trapped', q{SELECT count(*) FROM pg_depend d JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND d.refobjid = o.oid
	WHERE d.classid IN ('pg_rewrite'::regclass, 'pg_policy'::regclass) AND o.oprcode::text LIKE 'ext.yes'}),
	'0', 'no operator of others is in a view or policy');

# Every object of the extension in a database, one line each
sub objects
{
	my ($db) = @_;
	my @lines = split /\n/, $node->safe_psql($db, slurp_file('test/t/catalog.sql'));

	return { map { $_ => 1 } grep { !/^extension: version/ } @lines };
}

SKIP:
{
	my $released = $ENV{GNNGP_RELEASED};

	skip 'no commit is tagged, or this is no checkout', 1 unless $released;
	$node->safe_psql('postgres', 'CREATE DATABASE fresh; CREATE DATABASE old');
	$node->safe_psql('fresh', 'CREATE EXTENSION gnngp');
	$node->safe_psql('old', qq{CREATE EXTENSION gnngp VERSION '$released';
		CREATE TABLE nodes (id bigint, topic text); CREATE TABLE edges (src bigint, dst bigint);
		CREATE VIEW mine AS SELECT m.model, g.nodes FROM gp_models m JOIN gp_graphs g USING (graph, owner)});
	if ($released !~ /-released$/)
	{
		my ($rc, $out, $err) = $node->psql('old', q{SELECT gp_create_graph('new', 'nodes', 'edges')});

		like($err, qr/ALTER EXTENSION gnngp UPDATE/, 'before the update nothing is written');
		is($node->safe_psql('old', 'SELECT count(*) FROM mine'), '0', 'and views can be read');
		$node->safe_psql('old', 'ALTER EXTENSION gnngp UPDATE');
		$node->safe_psql('old', q{SELECT gp_create_graph('new', 'nodes', 'edges')});
		is($node->safe_psql('old', 'SELECT count(*) FROM gp_graphs; SELECT count(*) FROM mine'), "1\n0", 'after it all is as ever');
	}
	my ($fresh, $updated) = (objects('fresh'), objects('old'));
	my $name = $released =~ /-released$/ ? 'a script that was released stays as it is: what changes it has another version' :
		'the update makes what CREATE EXTENSION makes';

	cmp_ok(scalar(keys %$fresh), '>', 500, 'there is something to compare');
	is(join("\n", grep { !$updated->{$_} } sort keys %$fresh), '', $name);
	is(join("\n", grep { !$fresh->{$_} } sort keys %$updated), '', "$name, and no more");
}

$node->stop;
done_testing();

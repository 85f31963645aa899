# A superuser's graph over other roles' tables: no code of theirs runs with a superuser's rights.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('trust');
$node->init;
$node->start;
my $rules = $node->safe_psql('postgres', q{SELECT current_setting('server_version_num')::int < 160000}) eq 't';

# The function of role app says as whom it runs
$node->safe_psql('postgres', q{
	CREATE EXTENSION gnngp;
	CREATE ROLE app;
	GRANT CREATE ON SCHEMA public TO app;
	SET ROLE app;
	CREATE TABLE ran (who name);
	GRANT ALL ON ran TO PUBLIC;
	CREATE FUNCTION evil(i bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
		IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN RAISE EXCEPTION 'ran as %', current_user; END IF;
		RETURN i; END $$;
	CREATE TABLE n AS SELECT i::bigint AS id, CASE WHEN i % 3 = 0 THEN i % 2 END AS y FROM generate_series(1, 60) i;
	CREATE TABLE e AS SELECT i::bigint AS src, ((i * 7 + 3) % 60 + 1)::bigint AS dst FROM generate_series(1, 60) i;
	CREATE TABLE m AS TABLE n;
	CREATE VIEW v AS TABLE n;
	RESET ROLE;
	CREATE TABLE own_n AS TABLE n;
	CREATE TABLE own_e AS TABLE e;
	CREATE VIEW own_v AS TABLE n;
});

# Runs statements as a superuser, or as app; returns the SQLSTATE and the messages, or the output
sub as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE $role;\n\\set VERBOSITY verbose\n$sql", on_error_stop => 0);
	return $err =~ /ERROR:\s+(\w{5}): (.*)/s ? "$1 $2" : $out;
}

# A fit of a new graph of a role's
sub fit
{
	my ($role, $nodes, $edges) = @_;
	return as($role, qq{BEGIN; SELECT FROM gp_create_graph('t', '$nodes', '$edges', target => 'y');
		SELECT nodes FROM gp_fit('t', kernel => 'gcn(layers=1)'); ROLLBACK;}) =~ s/^\s+//r;
}

my $refused = qr/^42501 a superuser cannot read table "public\.\w+" for a graph: that would run code of role "app".*HINT:.*gp_set_owner/s;

is(fit('postgres', 'n', 'e'), '60', 'a superuser reads the tables of a role');
is(fit('postgres', 'own_n', 'own_e'), '60', 'and its own');
is(fit('postgres', 'own_v', 'e'), '60', 'and its own view on them');
like(fit('postgres', 'v', 'e'), $refused, 'but no view of a role');
is(fit('app', 'v', 'e'), '60', 'which that role itself reads');

# What stands behind
for my $case (
	['CREATE VIEW w AS TABLE v', 'w', 'a view behind a view of a superuser'],
	['CREATE VIEW w AS SELECT evil(id) AS id, y FROM n', 'w', 'a function in a view of a superuser'],
	['CREATE OPERATOR @@@ (FUNCTION = evil, RIGHTARG = bigint); CREATE VIEW w AS SELECT @@@ id AS id, y FROM n', 'w', 'an operator'],
	['SET ROLE app; CREATE DOMAIN d AS bigint CHECK (evil(VALUE) = VALUE); RESET ROLE; CREATE VIEW w AS SELECT id::d AS id, y FROM n', 'w',
		'a domain of which the view makes values'],
	['CREATE TABLE w (LIKE n); SET ROLE app; CREATE VIEW x AS TABLE n; RESET ROLE; CREATE VIEW w2 AS TABLE w UNION ALL TABLE x', 'w2',
		'one half of a view'],
	['SET ROLE app; CREATE INDEX ON n ((evil(id)))', 'n', 'an index on an expression'],
	['SET ROLE app; CREATE INDEX ON n (id) WHERE evil(1) = 1', 'n', 'the predicate of an index'],
	['SET ROLE app; CREATE STATISTICS s ON (evil(id)), y FROM n', 'n', 'statistics of an expression'],
	['SET ROLE app; ALTER TABLE n ADD CHECK (evil(1) = 1)', 'n', 'a check constraint'],
	['SET ROLE app; CREATE TABLE w (id bigint, y int) PARTITION BY RANGE (evil(id)); CREATE TABLE w1 PARTITION OF w FOR VALUES FROM (0) TO (100); INSERT INTO w TABLE n',
		'w', 'a key of partitions'],
	['SET ROLE app; CREATE TABLE w (LIKE n) INHERITS (n); ALTER TABLE w ADD CHECK (evil(1) = 1)', 'n', 'a child of the table'],
	['SET ROLE app; CREATE TYPE f AS ENUM (\'a\'); CREATE FUNCTION vector(v f) RETURNS real[] LANGUAGE sql AS $$ SELECT ARRAY[public.evil(1)]::real[] $$;
		CREATE CAST (f AS real[]) WITH FUNCTION vector(f); CREATE TABLE w AS SELECT id, y, \'a\'::f AS x FROM n', 'w', 'a cast of features', q{features => '{x}',}],
	['SET ROLE app; CREATE TYPE f AS (i bigint); CREATE FUNCTION number(v f) RETURNS bigint LANGUAGE sql AS $$ SELECT public.evil(v.i) $$;
		CREATE CAST (f AS bigint) WITH FUNCTION number(f) AS IMPLICIT; DELETE FROM e; ALTER TABLE e ALTER src TYPE f USING ROW(src)', 'n', 'a cast of ids'],
	['CREATE EXTENSION postgres_fdw; CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw; GRANT USAGE ON FOREIGN SERVER s TO app; SET ROLE app;
		CREATE FOREIGN TABLE w () INHERITS (n) SERVER s', 'n', 'a foreign table below the table'])
{
	my ($ddl, $nodes, $what, $features) = (@$case, '');
	like(as('postgres', qq{BEGIN; $ddl; RESET ROLE; SELECT FROM gp_create_graph('t', '$nodes', 'e', $features target => 'y');
		SELECT nodes FROM gp_fit('t', kernel => 'gcn(layers=1)');}), $refused, "refused: $what");
}

# What a superuser needs not fear
for my $case (
	['SET ROLE app; ALTER TABLE n ADD CHECK (id > 0); CREATE INDEX ON n (id); CREATE TABLE w (LIKE n) INHERITS (n)', 'n', 'built-in functions'],
	['CREATE MATERIALIZED VIEW w AS TABLE n; ALTER MATERIALIZED VIEW w OWNER TO app', 'w', 'a materialized view'],
	['SET ROLE app; ALTER TABLE n ADD z bigint DEFAULT evil(1)', 'n', 'a default'],
	['SET ROLE app; ALTER TABLE n ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON n USING (evil(id) > 0)', 'n', 'a policy, which holds for others'])
{
	my ($ddl, $nodes, $what) = @$case;
	like(as('postgres', qq{BEGIN; $ddl; RESET ROLE; SELECT FROM gp_create_graph('t', '$nodes', 'e', target => 'y');
		SELECT nodes FROM gp_fit('t', kernel => 'gcn(layers=1)');}), qr/^\s*60$/, "read: $what");
}

# An expression of a task is the owner's code, in which a function of another role has no place
$node->safe_psql('postgres', q{CREATE TABLE asked (id bigint PRIMARY KEY, at timestamptz NOT NULL); INSERT INTO asked SELECT i, '2024-01-01' FROM generate_series(1, 40) i;
	CREATE TABLE happened (id bigint REFERENCES asked, at timestamptz NOT NULL); INSERT INTO happened SELECT i % 40 + 1, '2024-01-01'::timestamptz + i * interval '1 hour' FROM generate_series(1, 2000) i;
	SELECT gp_create_graph('times', '{asked,happened}'::regclass[])});
like(as('postgres', qq{BEGIN; SELECT gp_create_task('task', 'times', 'asked', '$_', horizon => '10 days'); SELECT labelled FROM gp_fit('task');}),
	$refused, "refused: a task that asks $_") for 'evil(e.id) % 2', 'e.id % 2 = (SELECT max(evil(1)) FROM happened)';

# The table becomes something else under the graph of a superuser
$node->safe_psql('postgres', q{SELECT gp_create_graph('g', 'm', 'e', target => 'y');
	SELECT gp_fit('g', kernel => 'gcn(layers=1)', live => true);
	SELECT gp_create_graph('a', 'own_n', 'own_e', target => 'y');
});
is(as('postgres', q{SELECT node FROM gp_predict_live('g', 1::bigint)}), '1', 'a live answer of a superuser reads the tables of a role');
SKIP:
{
	skip 'no rule makes a view of a table', 5 unless $rules;
	my $swap = q{CREATE TABLE m2 AS TABLE m; TRUNCATE m;
		CREATE RULE "_RETURN" AS ON SELECT TO m DO INSTEAD SELECT evil(id) AS id, y FROM m2};
	my $changed = qr/^42809 "public\.m" of graph "g" has become a view.*HINT:.*SELECT gp_alter_graph\('g', nodes => 'public\.m'\)/s;

	$node->safe_psql('postgres', q{SET ROLE app; } . $swap);
	like(as('postgres', q{SELECT nodes FROM gp_fit('g')}), $changed, 'a table that became a view is not fitted');
	like(as('postgres', q{CALL gp_refresh('g')}), $changed, 'nor refreshed');
	like(as('postgres', q{SELECT * FROM gp_predict_live('g', 1::bigint)}), $changed, 'nor read by a live answer');
	like(as('postgres', q{SELECT gp_alter_graph('g', target => 'y'); CALL gp_refresh('g')}), $changed, 'a change of something else does not accept it');
	like(as('postgres', q{SELECT gp_alter_graph('g', nodes => 'public.m'); CALL gp_refresh('g')}), $refused, 'and no superuser may');
}

# A view of a superuser that takes another shape is read as it is: the role could not have replaced it
is(as('postgres', q{CREATE VIEW own AS TABLE own_n; SELECT gp_alter_graph('a', nodes => 'own'); SELECT nodes FROM gp_fit('a', kernel => 'gcn(layers=1)', live => true)}) =~ s/\s//gr,
	'60', 'a view of the superuser');
$node->safe_psql('postgres', q{ALTER VIEW own OWNER TO app; GRANT SELECT ON own_n TO app; SET ROLE app;
	CREATE OR REPLACE VIEW own AS SELECT evil(id) AS id, y FROM own_n});
like(as('postgres', q{CALL gp_refresh('a')}), $refused, 'which a role got and replaced');
like(as('postgres', q{SELECT * FROM gp_predict_live('a', 1::bigint)}), $refused, 'for live answers, too');

# A snapshot that is older than the view is no way around
$node->safe_psql('postgres', q{ALTER VIEW own OWNER TO postgres; CREATE OR REPLACE VIEW own AS SELECT id, y FROM own_n});
my $swap = 'ALTER VIEW own OWNER TO app; CREATE OR REPLACE VIEW own AS SELECT evil(id) AS id, y FROM own_n';
my $psql = sprintf q{psql -X -q -d "%s"}, $node->connstr('postgres');
like(as('postgres', qq{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\n\\! $psql -c "$swap"\n
	SELECT nodes FROM gp_fit('a', kernel => 'gcn(layers=1)');}), $refused, 'a view that was replaced after the transaction began');

# A dump keeps the kinds
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'the database is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('copy') ], 'and restored');
is($node->safe_psql('copy', q{SELECT kinds FROM gnngp_internal.gp_graph_catalog WHERE name = 'a'}), 'vr-', 'and knows the kinds');
done_testing();

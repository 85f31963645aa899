# Whose rights a fit and a refresh use, and what code in the user's tables can do with them.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('permissions');
$node->init;
$node->start;
# The first superuser bears the name of whoever runs the tests.
$node->psql('postgres', 'CREATE ROLE postgres SUPERUSER', on_error_stop => 0);
$node->safe_psql('postgres', q{
	CREATE EXTENSION gnngp;
	CREATE ROLE keeper; CREATE ROLE owner; CREATE ROLE member IN ROLE owner; CREATE ROLE stranger;
	CREATE ROLE outsider NOINHERIT IN ROLE owner;
	GRANT CREATE ON SCHEMA public TO keeper, owner, stranger;
	SET ROLE keeper;} . small_graph() . q{
	SELECT gp_drop_graph('small');
	GRANT SELECT ON nodes, edges TO owner;
	SET ROLE owner;
	SELECT gp_create_graph('g', 'nodes', 'edges', features => '{x}', target => 'y');
	SELECT gp_fit('g');
});

# Runs statements as a role; returns the SQLSTATE, or the output.
sub as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\nSET ROLE $role;\n$sql;",
		on_error_stop => 0);

	return $err =~ /ERROR:\s+(\w{5})/ ? $1 : $out;
}

# Who may do what
is(as('stranger', q{SELECT count(*) FROM gp_predict('g')}), '42704', 'a stranger sees no model');
is(as('stranger', q{SELECT gp_fit('g')}), '42704', 'and no graph');
is(as('keeper', q{SELECT gp_fit('owner.g')}), '42704', 'the owner of the tables neither');
is(as('member', q{SELECT count(*) FROM gp_predict('g')}), '200', 'a member reads');
is(as('member', q{CALL gp_refresh('g')}), '', 'and refreshes');
is(as('member', q{SELECT model FROM gp_fit('g')}), 'g', 'and fits');
is($node->safe_psql('postgres', q{SELECT string_agg(owner || '.' || name || ' ' || version, ',') FROM gnngp_internal.gp_model_catalog}),
	'owner.g 3', 'without becoming the owner');
is(as('outsider', q{SELECT count(*) FROM gp_predict('g')}), '42704', 'a member that inherits nothing sees nothing');
as('owner', q{SELECT gp_grant('g', 'stranger')});
is(as('stranger', q{SELECT count(*) FROM gp_predict('g')}), '200', 'a grantee predicts');
is(as('stranger', q{SELECT count(*) > 0 FROM gp_evaluate('g')}), 't', 'and evaluates');
is(as('stranger', q{CALL gp_refresh('g')}), '42501', 'but does not refresh');
is(as('stranger', q{SELECT gp_drop_model('g')}), '42501', 'nor drop');
is(as('stranger', q{SELECT gp_fit('g')}), '42501', 'and cannot fit the graph');

# A superuser's refresh reads with the owner's rights
is($node->safe_psql('postgres', q{CALL gp_refresh('g'); SELECT version FROM gnngp_internal.gp_model_catalog}), '4', 'a superuser refreshes');
as('keeper', q{REVOKE SELECT ON edges FROM owner});
for my $role ('owner', 'member', 'postgres')
{
	is(as($role, q{CALL gp_refresh('owner.g')}), '42501', "without SELECT a refresh by $role fails");
	is(as($role, q{SELECT gp_fit('owner.g')}), '42501', "and so does a fit");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM gp_refreshes WHERE outcome = 'failed'}), '3', 'which is logged');
is(as('member', q{SELECT count(*) > 2 AND bool_or(message IS NOT NULL) FROM gp_refreshes}), 't', 'members read the log');
is(as('stranger', q{SELECT concat((SELECT count(*) FROM gp_models), (SELECT count(*) FROM gp_refreshes), (SELECT count(*) FROM gnngp_internal.gp_refresh_log))}),
	'100', 'a grantee sees the model, but no messages, which may quote the owner\'s data');
as('keeper', q{GRANT SELECT ON edges TO owner});

# Row-level security of the tables holds for the owner of the graph
as('keeper', q{ALTER TABLE nodes ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON nodes FOR SELECT TO owner USING (id <= 100);
	CREATE VIEW some_edges WITH (security_invoker = true) AS SELECT * FROM edges WHERE src <= 100 AND dst <= 100;
	GRANT SELECT ON some_edges TO owner});
as('owner', q{SELECT gp_create_graph('h', 'nodes', 'some_edges', features => '{x}', target => 'y')});
is(as('owner', q{SELECT nodes FROM gp_fit('h')}), '100', 'policies hold in a fit');
is(as('postgres', q{SELECT nodes FROM gp_fit('owner.h')}), '100', 'also in that of a superuser');

# Code in a view runs as the owner of the graph, and cannot change who it runs as
$node->safe_psql('postgres', q{
	CREATE TABLE trail (who text, note text); GRANT INSERT, SELECT ON trail TO PUBLIC;
	SET ROLE owner;
	CREATE FUNCTION spy(v integer) RETURNS integer LANGUAGE plpgsql AS $$
	BEGIN
		IF v = 1 THEN RAISE WARNING 'runs as %', current_user; END IF;
		RETURN v;
	END $$;
	CREATE FUNCTION escape(v integer) RETURNS integer LANGUAGE plpgsql AS $$
	BEGIN
		SET ROLE postgres;
		RETURN v;
	END $$;
	CREATE FUNCTION scribble(v integer) RETURNS integer LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO public.trail VALUES (current_user, v);
		RETURN v;
	END $$;
	CREATE VIEW spied AS SELECT spy(src) AS src, dst FROM edges;
	CREATE VIEW escaping AS SELECT escape(src) AS src, dst FROM edges;
	CREATE VIEW scribbling AS SELECT scribble(src) AS src, dst FROM edges;
	CREATE VIEW all_nodes AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN i % 2 END AS y FROM generate_series(1, 200) i;
	SELECT gp_create_graph('spied', 'all_nodes', 'spied', target => 'y');
	SELECT gp_create_graph('escaping', 'all_nodes', 'escaping', target => 'y');
	SELECT gp_create_graph('scribbling', 'all_nodes', 'scribbling', target => 'y');
});
my ($rc, $out, $err) = $node->psql('postgres', q{SELECT nodes FROM gp_fit('owner.spied', kernel => 'gcn')});
like($err, qr/runs as owner/, 'a view of the owner runs as the owner');
is($out, '200', 'and the fit succeeds');
is(as('postgres', q{SELECT gp_fit('owner.escaping')}), '42501', 'it cannot become somebody else');
is(as('postgres', q{SELECT nodes FROM gp_fit('owner.scribbling')}), '200', 'what it writes');
is($node->safe_psql('postgres', 'SELECT DISTINCT who FROM trail'), 'owner', 'it writes as the owner');
is(as('postgres', q{SELECT FROM gp_create_graph('mine', 'nodes', 'edges', features => '{x}', target => 'y'); SELECT current_user}),
	'postgres', 'the session is still its own');

# A role that is gone
$node->safe_psql('postgres', q{DROP OWNED BY owner CASCADE; DROP ROLE owner});
is(as('postgres', q{CALL gp_refresh('pg_gone:owner.g')}), '42704', 'the model of a missing role is not refreshed');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gp_predict('pg_gone:owner.g')}), '200', 'but a superuser may read it');
is(as('member', q{SELECT count(*) FROM gp_models}), '0', 'others see nothing, and get no error');
is(as('stranger', q{SELECT count(*) FROM gp_models}), '0', 'not even who was granted a model');

$node->stop;
done_testing();

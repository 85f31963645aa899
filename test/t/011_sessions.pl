# What one session does to a graph or model while another one changes it: 55006 at once, and nothing left over.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('sessions');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION gnngp;
	CREATE ROLE alice; CREATE ROLE team; CREATE ROLE stranger;
	GRANT team TO alice;
	GRANT CREATE ON SCHEMA public TO alice;
	SET ROLE alice;} . small_graph() . q{SELECT gp_fit('small', kernel => 'gcn(layers=1)', nugget => 0.5);});
my $fit = q{PERFORM gp_fit('small', kernel => 'gcn(layers=1)', nugget => 0.5)};
my $orphans = q{SELECT (SELECT count(*) FROM gnngp_internal.gp_grant_catalog g WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m WHERE m.id = g.model))
	+ (SELECT count(*) FROM gnngp_internal.gp_block b WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m WHERE m.id = b.model))
	+ (SELECT count(*) FROM gnngp_internal.gp_model_catalog m WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_graph_catalog g WHERE g.id = m.graph))};

# The SQLSTATE of a statement, 57014 when it waits, or its output.
sub as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY sqlstate\nSET ROLE $role; SET statement_timeout = '10s';\n$sql;", on_error_stop => 0);

	return $err =~ /ERROR:\s+(\w{5})/ ? $1 : $out;
}

# Starts a transaction of alice's that does something and stays open.
sub stay_open
{
	my ($sql) = @_;
	my $session = background($node, "SET ROLE alice; DO \$\$ BEGIN $sql; PERFORM pg_sleep(300); END \$\$");

	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
		or die $session->{err};
	return $session;
}

# Ends it; what it did is undone.
sub end_session
{
	my ($session) = @_;

	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
	finish($session);
	return;
}

# Holds calls against an open transaction.
sub refused_beside
{
	my ($what, $sql, @calls) = @_;
	my $session = stay_open($sql);

	is(as('alice', $_), '55006', "beside $what: $_") for @calls;
	end_session($session);
	is($node->safe_psql('postgres', $orphans), '0', "$what leaves no orphan");
	return;
}

my @changes = (q{SELECT gp_drop_graph('small')}, q{SELECT gp_set_owner('small', 'team')});
my @all = (@changes, q{SELECT gp_drop_model('small')});
my @uses = (q{CALL gp_refresh('small')}, q{SELECT gp_fit('small')});

refused_beside('a fit', $fit, @all, @uses);
refused_beside('the first fit of a model', q{PERFORM gp_fit('small', model => 'new')}, @changes);
refused_beside('a refresh', q{CALL gp_refresh('small')}, @all, @uses);
refused_beside('gp_drop_model', q{PERFORM gp_drop_model('small')}, @all, @uses, q{SELECT gp_grant('small', 'stranger')});
refused_beside('gp_drop_graph', q{PERFORM gp_drop_graph('small')}, @all, @uses, q{SELECT gp_grant('small', 'stranger')},
	q{SELECT gp_fit('small', model => 'new')}, q{SELECT gp_fit_links('small', model => 'new')});
refused_beside('gp_set_owner', q{PERFORM gp_set_owner('small', 'team')}, @all, @uses, q{SELECT gp_grant('small', 'stranger')});
refused_beside('gp_grant', q{PERFORM gp_grant('small', 'stranger')}, @all);

as('alice', q{SELECT gp_grant('small', 'stranger')});
refused_beside('gp_revoke', q{PERFORM gp_revoke('small', 'stranger')}, @all);
refused_beside('gp_create_graph', q{PERFORM gp_create_graph('small 2', 'nodes', 'edges')},
	q{SELECT gp_create_graph('small 2', 'nodes', 'edges')});

# Grants go on while a model is fitted
my $session = stay_open($fit);
is(as('alice', q{SELECT gp_grant('small', 'stranger'); SELECT gp_revoke('small', 'stranger')}), "\n", 'beside a fit a grant is given');
end_session($session);

# A rename is no way round the lock
$session = stay_open($fit);
$node->safe_psql('postgres', 'ALTER ROLE alice RENAME TO alicia');
is(as('alicia', $_), '55006', "beside a fit of a renamed role: $_") for @all, @uses;
end_session($session);
$node->safe_psql('postgres', 'ALTER ROLE alicia RENAME TO alice');

as('alice', q{SELECT gp_revoke('small', 'stranger')});

# Who sees that a model is being refreshed
my $id = $node->safe_psql('postgres', q{SELECT id FROM gnngp_internal.gp_model_catalog WHERE name = 'small'});
$session = stay_open(q{CALL gp_refresh('small')});
is(as('alice', "SELECT gnngp_internal.gp_is_refreshing($id)"), 't', 'the owner sees that it is being refreshed');
is(as('stranger', "SELECT gnngp_internal.gp_is_refreshing($id)"), 'f', 'a stranger does not');
end_session($session);
is(as('alice', "SELECT gnngp_internal.gp_is_refreshing($id)"), 'f', 'it is no longer');

# A snapshot of old does not leave behind what came since, which is done where the sequence has a value
$node->safe_psql('postgres', q{CREATE SEQUENCE done; GRANT SELECT ON SEQUENCE done TO PUBLIC});
sub with_old_snapshot
{
	my ($what, $sql, $meanwhile) = @_;
	$node->safe_psql('postgres', q{SELECT setval('done', 1, false)});
	my $old = background($node, qq{SET ROLE alice; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM gp_models;
		DO 'BEGIN WHILE pg_sequence_last_value(''done'') IS NULL LOOP PERFORM pg_sleep(0.1); END LOOP; END'; $sql; COMMIT});

	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
	as('alice', $meanwhile);
	$node->safe_psql('postgres', q{SELECT nextval('done')});
	is(finish($old), 0, "with an old snapshot $what") or diag $old->{err};
	is($node->safe_psql('postgres', $orphans), '0', 'and leaves no orphan');
	return;
}
with_old_snapshot('gp_set_owner gives all', q{SELECT gp_set_owner('small', 'team')}, q{SELECT gp_fit('small', model => 'later')});
is($node->safe_psql('postgres', q{SELECT string_agg(owner || '.' || model, ' ' ORDER BY model) FROM gp_models}),
	'team.later team.small', 'models too');
$node->safe_psql('postgres', q{SELECT gp_set_owner('small', 'alice')});
with_old_snapshot('gp_revoke takes back', q{SELECT gp_revoke('small', 'stranger')}, q{SELECT gp_grant('small', 'stranger')});
is($node->safe_psql('postgres', 'SELECT count(*) FROM gnngp_internal.gp_grant_catalog WHERE NOT revoked'), '0', 'a grant that came since');
with_old_snapshot('gp_drop_model drops all', q{SELECT gp_drop_model('later')}, q{SELECT gp_grant('later', 'stranger')});
with_old_snapshot('gp_drop_graph drops all', q{SELECT gp_drop_graph('small')},
	q{SELECT gp_fit('small', model => 'latest'); SELECT gp_grant('latest', 'stranger')});
is($node->safe_psql('postgres', 'SELECT count(*) FROM gnngp_internal.gp_model_catalog'), '0', 'models that came since too');

$node->stop;
done_testing();

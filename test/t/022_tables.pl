# Tables of models, of predictions and of packed edges, between sessions: who reads one waits for nobody, and nobody for who reads it.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('tables');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nclient_min_messages = error");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . small_graph());
my $fit = q{SELECT gp_fit('small', kernel => 'gcn', strategy => 'sql', nugget => 0.1)};

# A session in which a statement has left a transaction open
sub open_session
{
	my ($sql) = @_;
	my $session = $node->background_psql('postgres');

	$session->query_safe("SET statement_timeout = '20s'; BEGIN; $sql");
	return $session;
}

# Ends it.
sub close_session
{
	my ($session, $how) = @_;

	$session->query_safe($how // 'COMMIT');
	$session->quit;
	return;
}

# The SQLSTATE of a statement, 57014 when it waits, or its output; and its hint.
sub outcome
{
	my ($sql) = @_;
	my (undef, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET statement_timeout = '10s';\n$sql;", on_error_stop => 0);
	my ($state) = $err =~ /ERROR:\s+(\w{5})/;
	my ($hint) = $err =~ /HINT:\s+(.*)/;

	return wantarray ? ($state // $out, $hint // '') : $state // $out;
}

# Packed edges: a reader, as a dump is, sees those of before, and neither it nor a refresh waits.
$node->safe_psql('postgres', "$fit; CALL gp_refresh('small')");
my $edges = q{SELECT sum(n), sum(a), sum(b) FROM small_edges};
my $packed = $node->safe_psql('postgres', $edges);
my $reader = open_session('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
is($reader->query_safe($edges), $packed, 'a reader of packed edges in a transaction');
$node->safe_psql('postgres', 'INSERT INTO edges VALUES (1, 50)');
my $refresh = open_session(q{CALL gp_refresh('small')});
is(outcome($edges), $packed, 'beside a refresh that packs anew anybody reads those before');
close_session($refresh);
isnt(outcome($edges), $packed, 'then come the new ones');
is($reader->query_safe($edges), $packed, 'which the reader does not see');
close_session($reader);

$node->stop;
done_testing();

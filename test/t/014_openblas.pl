# A missing OpenBLAS is told when the extension is made, and costs no session.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('openblas');
$node->init;

# Where the loader looks first lies a file of the library's name that is none.
my $hidden = PostgreSQL::Test::Utils::tempdir();
append_to_file("$hidden/$_", '') for ('libopenblas.so.0', 'libopenblas.so');
{
	local $ENV{LD_LIBRARY_PATH} = join ':', grep { defined } $hidden, $ENV{LD_LIBRARY_PATH};
	$node->start;
}
my ($rc, $out, $err) = $node->psql('postgres', '\set VERBOSITY verbose' . "\n"
	. q{CREATE EXTENSION gnngp; SELECT 'on ' || count(*) FROM gp_models;});
is($rc, 0, 'the extension is made without OpenBLAS');
like($err, qr/WARNING:  58000: could not load OpenBLAS/, 'and a warning says that it is missing');
like($err, qr/HINT:  .*package libopenblas0/, 'with the name of the package');
is($out, 'on 0', 'the session goes on');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname = 'gp_check_blas'}), '0',
	'the check leaves no function behind');
($rc, $out, $err) = $node->psql('postgres', small_graph() . "\\set VERBOSITY verbose\nSELECT gp_fit('small');\n"
	. q{SELECT 'on ' || count(*) FROM gp_graphs;}, on_error_stop => 0);
like($err, qr/ERROR:  58000: could not load OpenBLAS/, 'a fit says the same');
like($out, qr/on 1$/, 'and its session goes on');
$node->stop;

# With the library in its place the extension works as it is, and a new one is silent
$node->start;
is($node->safe_psql('postgres', q{SELECT nodes FROM gp_fit('small')}), '200', 'nothing has to be made again');
($rc, $out, $err) = $node->psql('postgres', q{SET client_min_messages = warning; DROP EXTENSION gnngp CASCADE;
	CREATE EXTENSION gnngp; SELECT pg_backend_pid(); SELECT pg_sleep(1);}, on_error_stop => 1);
is($err, '', 'with OpenBLAS there is no warning');

# The check loads the library, which starts no thread
SKIP:
{
	skip 'no /proc', 2 unless -d "/proc/$$/task";
	my $session = background($node, q{DROP EXTENSION gnngp; CREATE EXTENSION gnngp; SELECT pg_sleep(60)});
	my $sleeping = q{FROM pg_stat_activity WHERE wait_event = 'PgSleep'};
	ok(poll($node, "SELECT count(*) = 1 $sleeping"), 'the extension is made');
	my $pid = $node->safe_psql('postgres', "SELECT pid $sleeping");
	my @tasks = glob "/proc/$pid/task/*";
	is(scalar(@tasks), 1, 'the backend has one thread');
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $sleeping");
	finish($session);
}

$node->stop;
done_testing();

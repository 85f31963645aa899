# A fit does not outlive its postmaster, and so does not keep the server from starting again.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('postmaster');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . large_graph());

for my $fit (q{SELECT gp_fit('large', kernel => 'gcn', strategy => 'nystrom', landmarks => 4000)},
	q{SELECT gp_fit('large', kernel => 'gckm', seed => 1)})
{
	my $session = background($node, $fit);

	ok(poll($node, q{SELECT coalesce(bool_or(phase <> 'starting' AND phase NOT LIKE 'reading%'), false) FROM gp_progress}),
		'a fit computes') or diag($session->{err});
	my $pid = $node->safe_psql('postgres', 'SELECT pid FROM gp_progress');
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;

	kill 'KILL', $postmaster;
	my $killed = time;
	usleep(20_000) while kill(0, $pid) && time - $killed < 30;
	cmp_ok(time - $killed, '<', 10, 'it ends soon after its postmaster');
	finish($session);
	like($session->{err}, qr/57P01|server closed the connection/, 'and says so');

	# A stale pid file, and shared memory that nobody holds any more
	$node->{_pid} = undef;
	ok($node->start(fail_ok => 1), 'the server starts again');
	cmp_ok(time - $killed, '<', 20, 'within seconds');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM gnngp_internal.gp_model_catalog'), '0', 'without a model');
}
$node->stop;
done_testing();

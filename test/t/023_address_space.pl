# A shortage of address space, as limits and vm.overcommit_memory make it, is an error and no hang.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

plan skip_all => 'no prlimit' unless -d "/proc/$$/task" && `prlimit --version 2>/dev/null` =~ /util-linux/;

my $node = PostgreSQL::Test::Cluster->new('address_space');
$node->init;
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . large_graph() . small_graph());

# What a session can be told to run: limits it to what it has and so many MB more, or sets it free
sub limit
{
	my ($megabytes) = @_;
	my $most = defined $megabytes ? qq{\$((\$(awk '/^VmSize/ {print \$2}' /proc/\$PID/status) * 1024 + ($megabytes << 20)))} : 'unlimited';

	return qq{\\setenv PID :pid\n\\! prlimit --pid \$PID --as=$most:unlimited\n};
}

# Runs statements in a session, which a hang would hold for ever: it is killed then, and the server restarts
sub run
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');
	my $ended = eval
	{
		IPC::Run::run([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') ], '<',
			\"SELECT pg_backend_pid() AS pid \\gset\n\\echo pid :pid\n$sql", '>', \$out, '2>', \$err, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
		1;
	};

	my ($pid) = $out =~ /^pid (\d+)/;
	if (!$ended && defined $pid)
	{
		kill 'KILL', $pid;
		$node->poll_query_until('postgres', 'SELECT true');
	}
	ok($ended, 'the session ends') or diag $err;
	return ($out, $err);
}

my $fit = q{SELECT 'nodes ' || nodes FROM gp_fit('small');} . "\n";
my ($out, $err) = run(limit(100) . $fit . q{SELECT 'on ' || count(*) FROM gp_graphs;} . "\n" . limit() . $fit);
like($err, qr/ERROR:  53200: out of memory: OpenBLAS needs \d+ MB of address space/, 'where not even one thread can compute, that is an error');
like($out, qr/^on 2$/m, 'the session goes on');
like($out, qr/^nodes 200$/m, 'and computes once there is room');

# One thread has a buffer, and there is no room for another's
my $long = q{SELECT 'score ' || loo_score FROM gp_fit('large', kernel => 'gcn', strategy => 'nystrom', landmarks => 200);} . "\n";
my @setting = ("SET client_min_messages = error; SET gnngp.threads = 1;\n", $fit, "SET gnngp.threads = 2;\n");
($out, $err) = run(join('', @setting, $long));
my ($expected) = $out =~ /^(score \S+)$/m;
ok(defined $expected, 'a fit with two threads') or diag $err;
($out, $err) = run(join('', @setting, limit(120), $long));
is($err, '', 'with buffers for one thread only there is no error');
like($out, qr/^\Q$expected\E$/m, 'and the fit is the same');

$node->stop;
done_testing();

# A cancel or a timeout ends a fit soon in every phase, and leaves nothing behind.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Gnngp;

# Generous: the machine may be busy.  Interrupts are served every 50 ms of work.
my $patience = 1.0;
my $fit = q{SELECT gp_fit('large', kernel => 'gcn', strategy => 'nystrom', landmarks => 2000)};

my $node = PostgreSQL::Test::Cluster->new('cancel');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp; CREATE ROLE stranger; CREATE ROLE watcher IN ROLE pg_read_all_stats;'
	. large_graph() . q{
	CREATE TABLE tenth_nodes AS SELECT * FROM large_nodes WHERE id <= 4000;
	CREATE TABLE tenth_edges AS SELECT * FROM large_edges WHERE src <= 4000 AND dst <= 4000;
	SELECT gp_create_graph('tenth', 'tenth_nodes', 'tenth_edges', features => '{x}', target => 'y')});

# Nothing is left of a fit that was ended.
sub check_nothing_left
{
	my ($how) = @_;

	is($node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM gnngp_internal.gp_model_catalog) + (SELECT count(*) FROM gnngp_internal.gp_block)
			 + (SELECT count(*) FROM gp_progress)
			 + (SELECT count(*) FROM pg_locks WHERE classid = 'pg_extension'::regclass)}), '0', "$how leaves nothing");
	return;
}

my @phases = ('starting', 'reading nodes', 'reading features', 'reading edges', 'planning', 'exact diagonal',
	'building the kernel', 'training', 'scoring pairs', 'choosing the nugget', 'posterior', 'storing');

# Waits for a phase inside the server, which is quicker than one connection for
# each look, and ends the fit; 0 when a fit came to a later phase unseen.
$node->safe_psql('postgres', q{
	CREATE FUNCTION end_in_phase(wanted text, later text[], kind text) RETURNS integer LANGUAGE plpgsql AS $$
	DECLARE
		found_pid integer; found_phase text;
	BEGIN
		LOOP
			PERFORM pg_stat_clear_snapshot();
			SELECT pid, phase INTO found_pid, found_phase FROM gp_progress;
			IF found_phase = wanted OR found_phase = ANY (later) THEN
				EXECUTE format('SELECT %I($1)', kind) USING found_pid;
				RETURN CASE WHEN found_phase = wanted THEN found_pid ELSE 0 END;
			END IF;
			PERFORM pg_sleep(0.001);
		END LOOP;
	END $$
});

# Ends a fit in a phase, and measures how long it lives on.
sub end_in_phase
{
	my ($function, $phase, $sqlstate, $statement) = @_;
	my ($i) = grep { $phases[$_] eq $phase } 0 .. $#phases;
	my $later = join ',', map { qq{"$_"} } @phases[ $i + 1 .. $#phases ];

  SKIP:
	for my $attempt (1 .. 8)
	{
		my $session = background($node, $statement // $fit);
		my $pid = $node->safe_psql('postgres',
			"SET statement_timeout = '120s'; SELECT end_in_phase('$phase', '{$later}', '$function')");
		my $started = time;
		finish($session);
		my $seconds = time - $started;
		if ($pid == 0)
		{
			next if $attempt < 8;
			skip "phase $phase was too short to be seen", 3;
		}
		note sprintf('%s in phase %s took %.0f ms', $function, $phase, 1000 * $seconds);
		cmp_ok($seconds, '<', $patience, "$function is soon served in phase $phase");
		like($session->{err}, qr/$sqlstate/, 'with its SQLSTATE');
		$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
		check_nothing_left("$function in phase $phase");
		last;
	}
	return;
}

for my $phase ('reading nodes', 'reading edges', 'exact diagonal', 'building the kernel')
{
	end_in_phase('pg_cancel_backend', $phase, '57014');
}
end_in_phase('pg_cancel_backend', 'choosing the nugget', '57014', $fit =~ s/large/tenth/r);
end_in_phase('pg_cancel_backend', 'posterior', '57014', $fit =~ s/large/tenth/r =~ s/2000/1000/r);
end_in_phase('pg_terminate_backend', 'building the kernel', '57P01');
for my $phase ('reading edges', 'scoring pairs')
{
	end_in_phase('pg_cancel_backend', $phase, '57014', q{SELECT gp_fit_links('large')});
}
end_in_phase('pg_cancel_backend', 'building the kernel', '57014', q{SELECT gp_fit_links('large', method => 'pairs')});
for my $phase ('reading features', 'building the kernel')
{
	end_in_phase('pg_cancel_backend', $phase, '57014', q{SELECT gp_fit('large', kernel => 'gckm(own=true)')});
}
end_in_phase('pg_cancel_backend', 'posterior', '57014', q{SELECT gp_fit('tenth', kernel => 'gckm(own=true)')});
end_in_phase('pg_cancel_backend', 'training', '57014', q{SELECT gp_fit('large', kernel => 'gpsrf(features=100)')});
for my $method ('dgp', 'dgp(inducing=82)')
{
	end_in_phase('pg_cancel_backend', 'training', '57014', "SELECT gp_fit_links('large', method => '$method')");
}

# statement_timeout, in one session that goes on after each
sub check_timeouts
{
	my ($statement, @timeouts) = @_;
	my $sql = "\\set VERBOSITY verbose\n";

	$sql .= "SET statement_timeout = $_; SELECT clock_timestamp() AS started \\gset\n$statement;\n"
		. "SET statement_timeout = 0; SELECT 'late ' || extract(epoch FROM clock_timestamp() - :'started') * 1000 - $_;\n"
		for @timeouts;
	$sql .= "SELECT 'rows ' || count(*) FROM gp_predict('small');\n";
	my ($rc, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 0);
	my @late = $out =~ /late (\S+)/g;
	is(scalar(@late), scalar(@timeouts), "the session survives every timeout of $statement");
	is(scalar(() = $err =~ /57014/g), scalar(@timeouts), 'every timeout is reported as one');
	note 'late by (ms): ' . join(', ', map { sprintf '%.0f', $_ } @late);
	ok((grep { $_ >= 1000 * $patience } @late) == 0, 'and served soon');
	like($out, qr/rows 200/, 'the session works on');
	return;
}

$node->safe_psql('postgres', small_graph() . "SELECT gp_fit('small')");
check_timeouts($fit, 20, 150, 1000);
check_timeouts(q{SELECT gp_fit('large', kernel => 'gckm(layers=4)')}, 60, 1000);
check_timeouts(q{SELECT gp_cluster('large', 7, kernel => 'gckm')}, 600);
check_timeouts(q{SELECT gp_fit_links('large')}, 100, 800);
$node->safe_psql('postgres', q{
	CREATE TABLE some_nodes AS SELECT generate_series(1, 3000) AS id;
	CREATE TABLE some_edges AS
		SELECT i AS src, abs(hashint4(i * 7 + j) % 3000) + 1 AS dst FROM generate_series(1, 3000) i, generate_series(1, 6) j;
	SELECT gp_create_graph('some', 'some_nodes', 'some_edges');
	SELECT gp_fit_links('some');
});
check_timeouts(q{SELECT count(*) FROM gp_predict_links('some')}, 5, 30, 120, 500);

# Progress: the session itself, its role and members of pg_read_all_stats see it, others do not
my $session = background($node, $fit);
ok(poll($node, q{SELECT count(*) = 1 FROM gp_progress WHERE phase = 'building the kernel' AND done > 0
	AND model = 'large' AND started < now() AND pid <> pg_backend_pid()}), 'progress is visible');
is($node->safe_psql('postgres', 'SET ROLE stranger; SELECT count(*) FROM gp_progress'), '0',
	'but not for everybody');
is($node->safe_psql('postgres', 'SET ROLE watcher; SELECT count(*) FROM gp_progress'), '1',
	'pg_read_all_stats shows it');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM gp_progress');
finish($session);
is($node->safe_psql('postgres', 'SELECT count(*) FROM gp_progress'), '0', 'a cancel clears it');
$session = background($node, q{SELECT gp_fit_links('small', method => 'dgp(steps=1000000)')});
ok(poll($node, q{SELECT count(*) = 1 FROM gp_progress WHERE phase = 'training' AND done > 1 AND total = 1000000
	AND objective < 0}), 'a training tells what it has reached');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM gp_progress');
finish($session);

$node->stop;
done_testing();

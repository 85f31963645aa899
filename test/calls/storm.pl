#!/usr/bin/perl
# storm.pl - sessions that fit, refresh, read, drop, grant and change tables at once, while others end them.
#
#   perl test/calls/storm.pl --log SERVERLOG [--seconds N] [--seed S]
#
# In rounds of some seconds.  Backends are cancelled, terminated, and once in a
# while killed, which ends the round, and the server recovers; after each round
# models and catalog must be whole.  What must not happen besides: a
# backend that ends by another signal than ours, an error of class XX, a reader
# that sees half a model, a cancel that nobody hears, a leak in the log.  Works
# on the server that psql finds, as a superuser who may send it signals, and in
# the databases and with the roles of calls.pl.  Prints TAP.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Getopt::Long;
use POSIX qw(_exit);
use Time::HiRes qw(time sleep);
use lib dirname(abs_path(__FILE__));
use Catalog;
use Dice qw(one below chance);
use Server;
use Statements;
use Surroundings;
use Values;
use Wire;

my %option = (seconds => 300, seed => time);
GetOptions(\%option, 'seconds=i', 'seed=i', 'log=s') && defined $option{log} && !@ARGV
	or die "usage: storm.pl --log SERVERLOG [--seconds N] [--seed S]\n";
my $directory = tempdir(CLEANUP => 1);
my $round_length = 10;
my $patience = 15;			# seconds within which a cancel is served on a busy machine
my ($round, $sent_kills, $world, $worker_file) = (0, 0);
my %done;					# what was done to how many
my %phases;					# in which phases of a computation
my %found;					# failures by kind
my @kinds = (
	crash => 'no backend ends by a signal that was not sent',
	internal => 'no call ends in an internal error',
	late => 'cancels and terminations are served',
	half => 'readers see a whole model or none',
	whole => 'models and catalog are whole after every round and recovery',
	leak => 'the log knows of no leak');

# Notes a failure, in the parent or for it.
sub fails
{
	my ($kind, $text) = @_;

	$text =~ s/\s*\n\s*/ /g;
	print "# $kind in round $round: $text\n";
	if ($worker_file) { print $worker_file "$kind\t$text\n" }
	else { push @{ $found{$kind} }, "round $round: $text" }
	return;
}

# What a fitter does.
sub fit
{
	my $graph = one(qw(wide wide wide int val text big sparse));
	my $kernel = Values::literal(Kernels::valid());

	return one(
		"SELECT gp_fit('$graph')", "SELECT gp_fit('wide', 'wide2', strategy => 'nystrom', landmarks => " . one(50, 300, 600) . ')',
		"SELECT gp_fit('$graph', kernel => $kernel)", "SELECT gp_fit_links('$graph')", "SELECT gp_fit_links('$graph', method => 'pairs')",
		"CALL gp_refresh('$graph')", "CALL gp_refresh('wide')", "CALL gp_refresh('wide2')", "BEGIN; CALL gp_refresh('$graph'); ROLLBACK",
		"SELECT count(*) FROM gp_tune('$graph')", "SELECT count(*) FROM gp_cluster('$graph', 3)", "BEGIN; SELECT gp_fit('$graph'); SELECT pg_sleep(0.1); COMMIT");
}

# What an owner does besides.
sub own
{
	my $model = one(qw(wide2 int val text rbf nys));

	return one("SELECT gp_drop_model('$model')", "SELECT gp_grant('$model', 'calls_bob')", "SELECT gp_revoke('$model', 'calls_bob')", "SELECT gp_grant('$model', 'public')",
		"BEGIN; SELECT gp_drop_model('$model'); SELECT pg_sleep(0.05); " . one('COMMIT', 'ROLLBACK'), "SELECT gp_fit('int', '$model')", "SELECT gp_fit('int', '$model')",
		"SELECT gp_create_graph('made', 'n_int', 'e_int', features => '{x}', target => 'y')", "SELECT gp_fit('made')", "SELECT gp_fit_links('made')", "SELECT gp_drop_graph('made')");
}

# What a migration does to the tables; their rows stay the same in number.
sub migrate
{
	my $t = one('n_int', 'e_int', 'n_wide', 'e_wide', 'n_text');

	return one("BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM $t; TRUNCATE $t; INSERT INTO $t SELECT * FROM kept; DROP TABLE kept; " . one('COMMIT', 'COMMIT', 'ROLLBACK'),
		"BEGIN; ALTER TABLE $t RENAME TO away; CREATE TABLE $t AS SELECT * FROM away; DROP TABLE away CASCADE; ROLLBACK",
		"ALTER TABLE $t ADD COLUMN added int; ALTER TABLE $t DROP COLUMN added", "UPDATE n_int SET b = b + 1", "VACUUM $t", "ANALYZE $t",
		"BEGIN; ALTER TABLE $t RENAME TO swapped; SELECT pg_sleep(0.05); ALTER TABLE swapped RENAME TO $t; COMMIT", "REINDEX TABLE gnngp_internal.gp_block", "VACUUM gnngp_internal.gp_block");
}

# What a reader does.
sub read_models
{
	my $model = one(qw(int val text big wide wide2 made));

	return one("SELECT count(*) AS whole FROM gp_predict('wide')", "SELECT count(*) AS whole FROM gp_predict('wide')", "SELECT * FROM gp_predict('$model', top => NULL) LIMIT 50",
		"SELECT * FROM gp_predict_links('$model', 3)", "SELECT * FROM gp_models", "SELECT * FROM gp_refreshes", "SELECT * FROM gp_progress", "SELECT * FROM gp_evaluate('$model')",
		"SELECT gp_factor(src, dst, 'gcn') FROM e_wide", "SELECT * FROM gp_graphs");
}

my %workers = (
	fitter => [ 'calls_ann', \&fit ], fitter2 => [ 'calls_ann', \&fit ], owner => [ 'calls_ann', \&own ], migration => [ $admin, \&migrate ],
	reader => [ 'calls_ann', \&read_models ], guest => [ 'calls_bob', sub { Statements::any()->{sql} } ]);

# Whether an error was to be expected where sessions are ended and tables change.
sub judge
{
	my ($name, $sql, $answer) = @_;
	my $error = $answer->{error};

	fails('internal', "$error->{C} $error->{M} ($error->{F}, $error->{R}): $sql")
		if $error && $error->{C} =~ /^XX/ && $error->{M} !~ /concurrently (updated|deleted)/;
	my $row = $answer->{rows}[0];
	fails('half', "$row->[1][0] rows: $sql") if $row && $row->[0][0] eq 'whole' && $row->[1][0] != 3000;
	return;
}

# One session after the other, until the round is over.
sub work
{
	my ($name, $end) = @_;
	my ($user, $statement) = @{ $workers{$name} };
	my $calls = 0;

	while (time < $end && !-e "$directory/stop")
	{
		my $wire = Wire->connect(%to, user => $user) or do { sleep 0.1; next };
		my $left = 20;
		while ($left-- > 0 && time < $end && !-e "$directory/stop")
		{
			my $sql = $statement->();
			my $answer = $wire->query($sql, 120);
			$calls++;
			last if $answer->{lost};
			if ($answer->{hang}) { fails('late', "no answer: $sql"); last }
			judge($name, $sql, $answer);
			$wire->query('ROLLBACK', 60) if $wire->{status} ne 'I';
		}
		$wire->close;
	}
	print $worker_file "calls\t$calls\n";
	return;
}

# Starts a worker in a process of its own.
sub start_worker
{
	my ($name, $end) = @_;
	my $pid = fork // die "fork: $!\n";

	return $pid if $pid;
	open $worker_file, '>', "$directory/$name" or _exit(1);
	$worker_file->autoflush(1);
	srand $option{seed} * 1000 + $round * 10 + length($name) + ord $name;
	eval { work($name, $end); 1 } or fails('internal', "worker $name: $@");
	close $worker_file;
	_exit(0);
}

# Ends one of the workers' backends in some way; false after a kill, which ends all sessions.
sub end_somebody
{
	my ($wire) = @_;
	my $how = Dice::weighted(10, 'pg_cancel_backend', 8, 'pg_terminate_backend', 0.6, 'kill');
	my $answer = $wire->query(q{SELECT pid, query_start, query, (SELECT phase FROM "odd gp".gp_progress p WHERE p.pid = a.pid LIMIT 1) FROM pg_stat_activity a
		WHERE datname = 'calls_work' AND pid <> pg_backend_pid() AND state = 'active' AND usename LIKE 'calls%' ORDER BY random() LIMIT 1}, 30);
	my $row = $answer->{rows}[0] or return 1;
	my $pid = $row->[1][0];

	$done{$how}++;
	$phases{ $row->[1][3] }++ if defined $row->[1][3];
	if ($how eq 'kill')
	{
		$sent_kills++;
		kill KILL => $pid;
		sleep 0.5;
		return 0;
	}
	$wire->query("SELECT $how($pid)", 30);
	my $until = time + $patience;
	my $same = "SELECT 1 FROM pg_stat_activity WHERE pid = $pid AND state = 'active' AND query_start = '$row->[1][1]'";
	while ($wire->query($same, 30)->{rows}[0])
	{
		if (time > $until) { fails('late', "$how of a backend in $row->[1][2]"); last }
		sleep 0.02;
	}
	return 1;
}

# A round: workers, and who ends them; then a look at what is left.
sub run_round
{
	my $end = time + $round_length;
	my %pids = map { start_worker($_, $end) => $_ } sort keys %workers;
	my $wire = admin_session('calls_work');

	srand $option{seed} + $round;
	while (time < $end)
	{
		sleep 0.02 + rand 0.4;
		end_somebody($wire) or last;
	}
	$wire->close;
	open my $stop, '>', "$directory/stop" or die "$directory: $!\n";
	waitpid $_, 0 for keys %pids;
	unlink "$directory/stop";
	for my $name (values %pids)
	{
		open my $file, '<', "$directory/$name" or next;
		while (<$file>)
		{
			chomp;
			my ($kind, $text) = split /\t/, $_, 2;
			if ($kind eq 'calls') { $done{calls} += $text }
			else { push @{ $found{$kind} }, "round $round: $text" }
		}
	}
	sleep 0.3;
	# A backend that was killed ends all sessions, this one too, until the log is replayed.
	fails('whole', $_->[0]) for defects(24);
	return;
}

# What the server's log tells: signals and leaks.
sub read_log
{
	open my $log, '<', $option{log} or die "$option{log}: $!\n";
	my $killed = 0;

	while (<$log>)
	{
		if (/was terminated by signal (\d+)/) { $1 == 9 ? $killed++ : fails('crash', $_) }
		fails('crash', $_) if /PANIC|TRAP:/;
		fails('leak', $_) if /WARNING.*(leak|not closed|still referenced)/;
	}
	fails('crash', "$killed backends were killed, $sent_kills by us") if $killed > $sent_kills;
	return;
}

$| = 1;
build_stage();
# What came before is not to be replayed after every kill.
administer('postgres', 'CHECKPOINT', 'CREATE DATABASE calls_work TEMPLATE calls_stage',
	map { "ALTER DATABASE calls_work SET $_" } 'search_path = stage, public, "odd gp"', 'statement_timeout = 8000', "gnngp.memory_limit = '256MB'", 'client_min_messages = warning');
my $error = administer('calls_work', slurp('storm.sql'));
die "the stage could not be built: $error\n" if $error;
my $wire = admin_session('calls_work');
$wire->query(q{LOAD 'gnngp'}, 60);
$world = Catalog::read($wire);
$wire->close;
%Values::words = ('' => ['auto']);
Statements::use_world($world);
my $end = time + $option{seconds};
while (time < $end && !grep { @$_ > 20 } values %found)
{
	$round++;
	run_round();
}
read_log();
my ($number, $failed) = (0, 0);
for (my $i = 0; $i < @kinds; $i += 2)
{
	my @texts = @{ $found{ $kinds[$i] } // [] };
	$failed += @texts > 0;
	printf "%sok %d - %s: %d rounds, seed %d\n", @texts ? 'not ' : '', ++$number, $kinds[ $i + 1 ], $round, $option{seed};
	print map { "#   $_\n" } @texts > 20 ? @texts[ 0 .. 19 ] : @texts;
}
printf "# %s\n", join ', ', map { "$_ $done{$_}" } sort keys %done;
printf "# ended in the phases: %s\n", join ', ', map { "$_ $phases{$_}" } sort keys %phases;
print "1..$number\n";
remove_stage();
exit($failed != 0);

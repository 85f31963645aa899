#!/usr/bin/perl
# calls.pl - random calls of all that the extension has, to find one that ends the server.
#
#   perl test/calls/calls.pl [--calls N] [--seed S] [--part P] [--without deep] [--seconds N] [--trail FILE]
#
# Works in databases and with roles of its own, calls_*, on the server that psql
# finds, as a superuser.  Calls come in parts of 250, each on a fresh copy of
# small graphs and models; all that is sent depends on the seed and the part's
# number alone, so a failure is repeated by --seed and --part.  --trail writes
# every statement to a file.  --without deep leaves out kernels nested far.
# Prints TAP: what must not happen is a lost connection, an error of class XX, a
# resource that leaks, a call that outlives its timeout, a variance below zero or
# a probability out of range, a model that is not whole after a part.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Getopt::Long;
use Time::HiRes qw(time sleep);
use lib dirname(abs_path(__FILE__));
use Catalog;
use Dice qw(one below chance);
use Server;
use Statements;
use Surroundings;
use Values;
use Wire;

my %option = (calls => 20000, seed => 1, seconds => 1e9);
my $per_part = 250;
my $timeout = 0.4;			# seconds; no statement is allowed more
my $patience = 4;			# seconds on top of it: the machine may be busy
my $most_memory = 40 << 20;	# bytes that a session without cache may keep
GetOptions(\%option, 'calls=i', 'seed=i', 'part=i', 'without=s', 'seconds=i', 'trail=s') && !@ARGV
	or die "usage: calls.pl [--calls N] [--seed S] [--part P] [--without deep] [--seconds N] [--trail FILE]\n";
$Kernels::deep = 0 if ($option{without} // '') =~ /deep/;

my ($world, $trail, $part);
my (%failures, %states, %called, %succeeded);
my ($calls, $good) = (0, 0);
my @recent;				# what the session was sent

# The kinds of failure, in the order of the report.
my @kinds = (
	crash => 'no call ends the server or the session',
	internal => 'no call ends in an internal error',
	leak => 'no call leaves a resource or memory behind',
	late => 'no call outlives its timeout',
	range => 'variances, probabilities and figures are in range',
	whole => 'models and catalog are whole after every part',
	machinery => 'every part could be set up');

# Notes a failure, with what was sent last.
sub fails
{
	my ($kind, $message, $statement) = @_;

	my $before = $kind =~ /crash|late|leak/ && @{ $failures{$kind} // [] } < 3;
	$statement = substr($statement, 0, 1500) . ' ...' if length($statement // '') > 1500;
	push @{ $failures{$kind} }, join "\n", $message, (defined $statement ? "statement: $statement" : ()),
		"repeat with: --seed $option{seed} --part $part", $before ? map { "  before: $_" } @recent[ 0 .. $#recent - defined $statement ] : ();
	printf "# %s in part %d: %s\n", $kind, $part, $message =~ s/\n/ /gr;
	return;
}


# A fresh copy of the stage, with the limits that hold all calls.
sub start_part
{
	my $error = administer('postgres', 'DROP DATABASE IF EXISTS calls_work WITH (FORCE)');

	reset_roles();
	$error //= administer('postgres', 'CREATE DATABASE calls_work TEMPLATE calls_stage',
		map { "ALTER DATABASE calls_work SET $_" } 'search_path = stage, public, "odd gp"', 'statement_timeout = ' . 1000 * $timeout,
		"gnngp.memory_limit = '128MB'", 'log_min_messages = panic', 'temp_buffers = 100');
	fails('machinery', $error) if $error;
	@recent = ();
	return !$error;
}

# Looks at the figures of a result by the names of its columns.
sub check_range
{
	my ($answer, $statement) = @_;

	for (@{ $answer->{rows} })
	{
		my ($columns, $row) = @$_;
		for my $i (0 .. $#$columns)
		{
			my ($name, $value) = ($columns->[$i], $row->[$i]);
			next unless defined $value;
			my $wrong = $name =~ /^(probability|auc|average_precision|link_auc|accuracy)$/ ? $value !~ /^[-+.\de]+$/ || $value < 0 || $value > 1 + 1e-12
				: $name =~ /^(variance|seconds|peak_bytes|bytes|flops|nugget|nll|rmse)$/ ? $value !~ /^[-+.\de]+$/ || $value < 0
				: $name =~ /^(share|score|loo_score|log_marginal_likelihood)$/ ? $value !~ /^[-+.\de]+$/
				: $name eq 'value' && $columns->[0] eq 'metric' ? $value !~ /^[-+.\de]+$/ : 0;
			return fails('range', "$name is $value", $statement) if $wrong;
		}
	}
	return;
}

# Judges an answer; false when the session is over.
sub judge
{
	my ($answer, $statement, $seconds) = @_;
	my $error = $answer->{error};

	$states{$_}++ for @{ $answer->{states} };
	if ($answer->{lost})
	{
		fails('crash', 'the connection was lost', $statement);
		admin_session('postgres')->close;
		return 0;
	}
	if ($answer->{hang})
	{
		fails('late', 'no answer', $statement);
		return 0;
	}
	# What a cursor WITH HOLD collects at the commit is under no timeout; a cancel would end it.
	my $parts = 1 + ($statement =~ tr/;/;/);
	fails('late', sprintf('%.1f s', $seconds), $statement)
		if $seconds > $parts * $timeout + $patience && $statement !~ /CURSOR WITH HOLD/;
	fails('internal', "$error->{C} $error->{M} ($error->{F}, $error->{R})", $statement)
		if $error && $error->{C} =~ /^XX/ && !($error->{F} =~ /^(relcache|syscache|lsyscache|heapam|xlog)/ && $error->{M} =~ /concurrently/);
	for (@{ $answer->{notices} })
	{
		fails('leak', $_->{M}, $statement) if $_->{M} =~ /leak|resource was not closed|still referenced|problem in alloc/;
	}
	check_range($answer, $statement);
	return 1;
}

# What is sent, on one line, for people.
sub shown
{
	my ($statement) = @_;
	my $text = $statement->{sql};

	$text .= join ', ', ' -- with', map { $_->[2] ? "'\\x" . unpack('H*', $_->[1]) . "'" : $_->[1] // 'NULL' } @{ $statement->{parameters} } if $statement->{parameters};
	$text .= ' -- COPY data \\x' . unpack 'H*', $statement->{copy} if defined $statement->{copy};
	$text =~ s/\n/\\n/g;
	return $text;
}

# Sends a statement; the answer, or nothing when the session is over.
sub send_statement
{
	my ($wire, $statement) = @_;
	my $text = shown($statement);
	my $from = time;

	print $trail "$text\n" if $trail;
	push @recent, length $text > 400 ? substr($text, 0, 400) . ' ...' : $text;
	shift @recent if @recent > 12;
	my $answer = $statement->{parameters}
		? $wire->execute($statement->{sql}, 60, $statement->{parameters}, $statement->{rows}, $statement->{binary})
		: $wire->query($statement->{sql}, 60, $statement->{copy});
	print $trail "-- $answer->{error}{C} $answer->{error}{M}\n" if $trail && $answer->{error};
	return judge($answer, $text, time - $from) ? $answer : undef;
}

# One call with what surrounds it; false when the session is over.
sub one_call
{
	my ($wire) = @_;
	my $before = Surroundings::any();
	my $statement = Statements::any();
	my $keep = chance(0.1);

	if (defined $before)
	{
		send_statement($wire, { sql => $before }) or return 0;
		send_statement($wire, { sql => 'ROLLBACK' }) or return 0 if $wire->{status} eq 'E' && !$keep;
	}
	my $answer = send_statement($wire, $statement);
	$calls++;
	$called{ $_->{signature} }++ for @{ $statement->{what} };
	return 0 unless $answer;
	unless ($answer->{error})
	{
		$good++;
		$succeeded{ $_->{signature} }++ for @{ $statement->{what} };
	}
	# In a failed transaction nothing more is called.
	return 1 unless $wire->{status} eq 'E' && !$keep;
	return defined send_statement($wire, { sql => 'ROLLBACK' });
}

# Looks at what a session still holds when all is reset, and ends it.
sub end_session
{
	my ($wire) = @_;

	if (chance(0.2))
	{
		$wire->close(chance(0.5));
		return;
	}
	$wire->query($_, 60) for 'ROLLBACK', 'RESET SESSION AUTHORIZATION', 'DISCARD ALL', 'SET gnngp.link_cache_size = 0';
	my $answer = $wire->query('SELECT sum(total_bytes) FROM pg_backend_memory_contexts', 60);
	my $bytes = $answer->{rows}[0] ? $answer->{rows}[0][1][0] : 0;
	fails('leak', "the session keeps $bytes bytes", undef) if $bytes > $most_memory;
	$wire->close;
	return;
}

# The calls of a part, in sessions of some tens of calls.
sub run_part
{
	my ($n) = @_;

	Dice::start($option{seed}, $part);
	start_part() or return;
	while ($n > 0)
	{
		my $user = one($admin, 'calls_ann', 'calls_ann', 'calls_ann', 'calls_bob');
		# A role that a call has renamed or locked out comes back.
		my $wire = Wire->connect(%to, user => $user) // do { reset_roles(); Wire->connect(%to, user => $user) };
		my $length = 10 + below(60);
		unless ($wire)
		{
			fails('crash', 'no new session', undef);
			admin_session('postgres')->close;
			return;
		}
		@recent = ();
		while ($n > 0 && $length-- > 0)
		{
			$n--;
			one_call($wire) or undef $wire, last;
		}
		end_session($wire) if $wire;
	}
	fails('whole', @$_) for defects();
	return;
}

# The words that options are given: those in the documents' row on the argument, and all of them.
sub read_words
{
	my $reference = slurp('../../doc/reference.md') . slurp('../../doc/reference-values.md') . slurp('../../doc/kernels.md');
	my %words = ('' => { auto => 1 });

	for ($reference =~ /^(\| *`.*)$/mg)
	{
		my ($arguments, $about) = /^\| *(.*?) *\|(.*)/ or next;
		for my $argument ($arguments =~ /`(\w+)`/g)
		{
			$words{$argument}{$_} = 1 for $about =~ /`(\w+)`/g;
		}
	}
	$words{''}{$_} = 1 for $reference =~ /`([a-z][a-z0-9_]{1,15})`/g;
	return map { $_ => [ sort keys %{ $words{$_} } ] } keys %words;
}

# The report, as TAP.
sub report
{
	my $number = 0;
	my $failed = 0;
	my @all = map { @{ $world->{$_} } } qw(functions operators casts types relations);

	for (my $i = 0; $i < @kinds; $i += 2)
	{
		my @found = @{ $failures{ $kinds[$i] } // [] };
		printf "%sok %d - %s\n", @found ? 'not ' : '', ++$number, "$kinds[$i + 1]: $calls calls, seed $option{seed}";
		$failed += @found > 0;
		print map { s/^/#   /gmr . "\n" } @found > 10 ? @found[ 0 .. 9 ] : @found;
		printf "#   ... and %d more\n", @found - 10 if @found > 10;
	}
	my @missed = grep { !$called{$_} } map { $_->{signature} } @all;
	my @failing = grep { !$succeeded{$_} } map { $_->{signature} } grep { !$_->{internal} } @all;
	if ($calls >= 20000)
	{
		printf "%sok %d - all %d functions, operators, casts, types and views were called\n", @missed ? 'not ' : '', ++$number, scalar @all;
		print map { "#   $_\n" } @missed;
		$failed += @missed > 0;
	}
	print "# never without an error: ", join(', ', @failing), "\n" if @failing;
	printf "# %d of %d calls ended without an error; errors: %s\n", $good, $calls, join ', ', map { "$_ $states{$_}" } sort { $states{$b} <=> $states{$a} } keys %states;
	print "1..$number\n";
	return $failed;
}

$| = 1;
open $trail, '>', $option{trail} or die "$option{trail}: $!\n" if $option{trail};
%Values::words = read_words();
build_stage();
my $wire = admin_session('calls_stage');
$wire->query(q{LOAD 'gnngp'; SET search_path = stage, public, "odd gp"}, 60);
$world = Catalog::read($wire);
$wire->close;
Statements::use_world($world);
$Surroundings::world = $world;
my $end = time + $option{seconds};
my @parts = defined $option{part} ? $option{part} : 1 .. int(($option{calls} + $per_part - 1) / $per_part);
for (@parts)
{
	$part = $_;
	last if time > $end || grep { @$_ > 40 } values %failures;
	run_part($per_part);
}
my $failed = report();
remove_stage();
exit($failed != 0);

# A computation uses no more threads than gnngp.max_threads, which is the administrator's.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

# A thread is a task in /proc.
plan skip_all => 'no /proc' unless -d "/proc/$$/task";
chomp(my $processors = `nproc`);
plan skip_all => 'one processor shows no limit' if $processors < 2;

my $node = PostgreSQL::Test::Cluster->new('threads');
$node->init;
$node->append_conf('postgresql.conf', q{gnngp.max_threads = 1});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION gnngp;
	CREATE ROLE plain LOGIN; CREATE ROLE trusted LOGIN; CREATE ROLE limited LOGIN;
	ALTER ROLE trusted SET gnngp.max_threads = 2;
	GRANT plain TO trusted, limited;
	GRANT CREATE ON SCHEMA public TO plain;
	SET ROLE plain;
	CREATE FUNCTION many() RETURNS void LANGUAGE sql SET gnngp.threads = 64
		AS $$ SELECT gp_fit('plain.large', strategy => 'nystrom', landmarks => 2000) $$;} . large_graph());

my $fit = q{SELECT gp_fit('plain.large', strategy => 'nystrom', landmarks => 2000)};

# The threads of a backend, itself included, while a fit of this role computes
sub threads_of
{
	my ($role, $sql, $options) = @_;
	local $ENV{PGOPTIONS} = $options // '';
	local $ENV{PGUSER} = $role;
	my $session = background($node, $sql);
	delete $ENV{PGOPTIONS};
	delete $ENV{PGUSER};

	ok(poll($node, q{SELECT count(*) = 1 FROM gp_progress WHERE phase = 'building the kernel'}), "a fit by $role computes")
		or diag $session->{err};
	my $pid = $node->safe_psql('postgres', 'SELECT pid FROM gp_progress');
	my @tasks = glob "/proc/$pid/task/*";
	$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM gp_progress');
	finish($session);
	return (scalar(@tasks), $session->{err});
}

# Checks the number of threads, and what the session was told
sub check
{
	my ($name, $expected, $message, @call) = @_;
	my ($threads, $err) = threads_of(@call);

	is($threads, $expected, $name);
	like($err, $message, 'and the session is told') if defined $message;
	return;
}

my $denied = qr/WARNING: .*permission denied to set parameter "gnngp.max_threads"/;

check('gnngp.threads does not exceed the limit', 1, undef, 'plain', "SET gnngp.threads = 64; $fit");
check('nor does what a maintenance operation may use', 1, undef, 'plain', "SET max_parallel_maintenance_workers = 64; $fit");
check('nor a limit that was set before the library was loaded', 1, $denied, 'plain',
	"SET gnngp.max_threads = 64; SET gnngp.threads = 64; $fit");
check('nor the settings of a function', 1, undef, 'plain', 'SELECT many()');
check('a superuser raises the limit of a role', 2, undef, 'trusted', "SET gnngp.threads = 64; $fit");

# A role cannot raise its own, before the library is loaded or after it
for my $load ('', q{LOAD 'gnngp'; })
{
	my ($rc, $out, $err) = $node->psql('postgres', "${load}SET ROLE plain; ALTER ROLE plain SET gnngp.max_threads = 64");
	like($err, qr/permission denied to set parameter "gnngp.max_threads"/, 'a role is refused a setting of its own');
}
for my $statement ('SET gnngp.max_threads = 64', 'ALTER FUNCTION many() SET gnngp.max_threads = 64', q{SELECT set_config('gnngp.max_threads', '64', false)})
{
	my ($rc, $out, $err) = $node->psql('postgres', "LOAD 'gnngp'; SET ROLE plain; $statement");
	like($err, qr/permission denied to set parameter "gnngp.max_threads"/, "a user is refused $statement");
}

$node->safe_psql('postgres', q{LOAD 'gnngp'; GRANT SET ON PARAMETER gnngp.max_threads TO limited});
check('who was given the parameter sets it', 2, undef, 'limited',
	"SET gnngp.max_threads = 2; SET gnngp.threads = 64; $fit");

# What a session sets before the library is loaded does not outlive it
my ($rc, $out, $err) = $node->psql('postgres', q{SET ROLE plain; SET gnngp.max_threads = 64;
	SELECT 'gcn'::gp_kernel; SHOW gnngp.max_threads});
is($out, "gcn\n1", 'the configured limit is back');

# The options of a connection overwrite the configured value, so that nothing computes
for my $option ('-c gnngp.max_threads=64', '-cgnngp.max_threads=0', '--gnngp.max-threads=', '-c GNNGP.Max\_Threads=many',
	'-c gnngp.memory_limit=0', '-c gnngp.threads=1 -c gnngp.memory_limit=1PB', '-c gnngp.gpu_memory_limit=0')
{
	local $ENV{PGOPTIONS} = $option;
	local $ENV{PGUSER} = 'plain';
	($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$fit", on_error_stop => 0);
	like($err, qr/ERROR:  42501: permission denied to set parameter "gnngp.\w+"/, "a connection with $option computes nothing");
}
{
	local $ENV{PGOPTIONS} = '-c gnngp.max_threads=3';
	is($node->safe_psql('postgres', q{SELECT 'gcn'::gp_kernel; SHOW gnngp.max_threads}), "gcn\n3", 'a superuser\'s options hold');
	local $ENV{PGUSER} = 'limited';
	is($node->safe_psql('postgres', q{SELECT 'gcn'::gp_kernel; SHOW gnngp.max_threads}), "gcn\n3",
		'and those of who was given the parameter');
}
{
	local $ENV{PGOPTIONS} = '-c gnngp.threads=3 -c work_mem=1MB';
	local $ENV{PGUSER} = 'plain';
	is($node->safe_psql('postgres', q{SELECT 'gcn'::gp_kernel; SHOW gnngp.max_threads}), "gcn\n1", 'other options do no harm');
}

# Without a limit it is the processors, also where there was one before
$node->adjust_conf('postgresql.conf', 'gnngp.max_threads', undef);
$node->reload;
check('0 stands for the processors', $processors, undef, 'plain', "SET gnngp.threads = 1024; $fit");

$node->stop;
done_testing();

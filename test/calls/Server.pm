# Server.pm - what the programs here do as the superuser: databases, roles, and a look at what is left.
package Server;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use Time::HiRes qw(sleep);
use Wire;

our @EXPORT = qw(%to $admin admin_session administer slurp build_stage reset_roles remove_stage defects);
our %to = (host => $ENV{PGHOST} // '/var/run/postgresql', port => $ENV{PGPORT} // 5432, database => 'calls_work');
our $ann = 0;					# the number of the role calls_ann, which may be renamed
our $admin = $ENV{PGUSER} // getpwuid $<;
my $here = dirname(abs_path(__FILE__));

# A session of the superuser; waits for a server that recovers.
sub admin_session
{
	my ($database) = @_;

	for (1 .. 300)
	{
		my $wire = Wire->connect(%to, user => $admin, database => $database);
		return $wire if $wire;
		sleep 0.2;
	}
	die "no server answers as $admin in database $database\n";
}

# Runs statements one by one as the superuser; the first error that was not expected, or nothing.
sub administer
{
	my ($database, @statements) = @_;
	my $wire = admin_session($database);
	my $error;

	for my $sql (@statements)
	{
		my $answer = $wire->query($sql, 120);
		$error //= $answer->{error} ? "$answer->{error}{M}: $sql" : $answer->{lost} || $answer->{hang} ? "no answer: $sql" : undef;
	}
	$wire->close;
	return $error;
}

# The text of a file beside this one.
sub slurp
{
	my ($file) = @_;

	open my $handle, '<', "$here/$file" or die "$file: $!\n";
	local $/;
	return <$handle>;
}

# Makes the roles and the database that every part copies; removes what an earlier run left.
sub build_stage
{
	administer('postgres', 'DROP DATABASE IF EXISTS calls_work WITH (FORCE)', 'DROP DATABASE IF EXISTS calls_stage', map { "DROP ROLE IF EXISTS calls_$_" } qw(ann bob carl));
	my $error = administer('postgres', 'CREATE ROLE calls_ann LOGIN', 'CREATE ROLE calls_bob LOGIN',
		'GRANT pg_read_all_stats TO calls_ann, calls_bob', 'CREATE DATABASE calls_stage')
		// administer('calls_stage', slurp('stage.sql')) // administer('postgres', 'ALTER DATABASE calls_stage OWNER TO calls_ann');
	die "the stage could not be built: $error\n" if $error;
	my $wire = admin_session('postgres');
	$ann = $wire->query("SELECT 'calls_ann'::regrole::oid", 60)->{rows}[0][1][0];
	$wire->close;
	return;
}

# Gives roles their names back, whatever a call did to them, and drops those that calls have made.
sub reset_roles
{
	administer('postgres', sprintf q{DO $$
		DECLARE ann name := (SELECT rolname FROM pg_roles WHERE oid = %d); r name;
		BEGIN
			IF ann <> 'calls_ann' THEN
				IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'calls_ann') THEN
					EXECUTE 'ALTER ROLE calls_ann RENAME TO calls_' || md5(clock_timestamp()::text);
				END IF;
				EXECUTE format('ALTER ROLE %%I RENAME TO calls_ann', ann);
			END IF;
			FOR r IN SELECT rolname FROM pg_roles WHERE rolname LIKE 'calls\_%%' AND rolname NOT IN ('calls_ann', 'calls_bob') LOOP
				BEGIN
					EXECUTE format('DROP ROLE %%I', r);
				EXCEPTION WHEN dependent_objects_still_exist THEN
					NULL;
				END;
			END LOOP;
			ALTER ROLE calls_bob NOSUPERUSER;
			IF pg_has_role('calls_bob', 'calls_ann', 'MEMBER') THEN
				REVOKE calls_ann FROM calls_bob;
			END IF;
		END $$}, $ann);
	return;
}

# Removes the databases and the roles.
sub remove_stage
{
	reset_roles();
	administer('postgres', 'DROP DATABASE IF EXISTS calls_work WITH (FORCE)', 'DROP DATABASE IF EXISTS calls_stage',
		'DROP ROLE IF EXISTS calls_ann', 'DROP ROLE IF EXISTS calls_bob');
	return;
}

# What is broken in the database, [what, query] each.
sub defects
{
	my ($tries) = @_;
	my $wire = admin_session('calls_work');
	my @found;
	my $lost;

	$wire->query('SET statement_timeout = 0', 60);
	for my $sql (split /^;\n/m, slurp('whole.sql'))
	{
		my $answer = $wire->query($sql, 120);
		my $what = $answer->{error} ? "$answer->{error}{C} $answer->{error}{M}" : $answer->{lost} || $answer->{hang} ? 'no answer' : undef;
		$lost ||= $answer->{lost};
		push @found, [ $what, $sql ] if $what;
		push @found, map { [ $_, undef ] } map({ $_->[1][0] } @{ $answer->{rows} }), grep { /^broken/ } map { $_->{M} } @{ $answer->{notices} };
	}
	$wire->close;
	return @found if !$lost || ($tries // 1) <= 1;
	sleep 5;
	return defects($tries - 1);
}

1;

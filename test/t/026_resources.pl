# A full disk, a limit on temporary files, SIGKILL in each phase, 200 sessions: errors, and whole models.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $sessions = 200;
my $fit = q{SELECT gp_fit('large', kernel => 'gcn', strategy => 'nystrom', landmarks => 300)};
my $whole = q{SELECT (SELECT count(*) FROM gp_predict('small')) || ' of ' || (SELECT count(*) FROM gp_models)
	|| ', orphans ' || (SELECT count(*) FROM gnngp_internal.gp_block b WHERE NOT EXISTS (SELECT FROM gnngp_internal.gp_model_catalog m WHERE m.id = b.model))
	|| ', working schemas ' || (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'gnngp\_work%')};

# Small WAL segments: the limit on the size of files is to stop tables alone.
my $node = PostgreSQL::Test::Cluster->new('resources');
$node->init(extra => [ '--wal-segsize=1' ]);
$node->append_conf('postgresql.conf', "restart_after_crash = on\nmax_connections = " . ($sessions + 20));
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . small_graph() . large_graph(20_000)
	. q{SELECT gp_fit('small', kernel => 'gcn'); SELECT gp_fit_links('small');});
my $before = $node->safe_psql('postgres', $whole);
like($before, qr/^200 of 1, orphans 0, working schemas 0$/, 'there is a model');

# The SQLSTATE of statements, or 00000
sub state_of
{
	my ($sql) = @_;
	my (undef, undef, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\nSET client_min_messages = error;\n$sql",
		on_error_stop => 1);

	return $err =~ /ERROR:\s+(\w{5})/ ? $1 : '00000';
}

# Temporary files: reading sorts and joins with little memory
for my $kilobytes (0, 64, 1024)
{
	my $state = state_of("SET work_mem = '64kB'; SET temp_file_limit = '${kilobytes}kB'; $fit;");

	like($state, qr/^(00000|53400)$/, "with $kilobytes kB of temporary files a fit succeeds or says so");
	$node->safe_psql('postgres', q{SELECT gp_drop_model('large')}) if $state eq '00000';
	is($node->safe_psql('postgres', $whole), $before, 'and leaves nothing by halves');
}

# The posterior of a fit in working tables lies in a temporary file
my (undef, undef, $warned) = $node->psql('postgres',
	q{SET temp_file_limit = '64kB'; SELECT gp_fit('large', kernel => 'gcn', strategy => 'sql', landmarks => 20)});
like($warned, qr/temporary file size exceeds "?temp_file_limit/, 'a fit in working tables reports the limit of temporary files');
unlike($warned, qr/AbortTransaction/, 'once');

# No room for what is stored: files of the server's children are limited, as a full disk would
SKIP:
{
	skip 'no prlimit', 5 unless `prlimit --version 2>/dev/null` =~ /util-linux/;
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my $room = 9 << 17;

	system('prlimit', '--pid', $postmaster, "--fsize=$room:unlimited") == 0 or die 'prlimit';
	isnt(state_of("$fit;"), '00000', 'a fit that cannot be stored is an error');
	is($node->safe_psql('postgres', $whole), $before, 'and leaves nothing by halves');
	isnt(state_of(q{SELECT gp_fit('large', kernel => 'gcn', strategy => 'sql', landmarks => 300)}), '00000', 'nor one in working tables');
	is($node->safe_psql('postgres', $whole), $before, 'which are gone');
	isnt(state_of(q{CALL gp_refresh('small'); SELECT gp_fit('large', model => 'small')}), '00000', 'so does one beside a model');
	system('prlimit', '--pid', $postmaster, '--fsize=unlimited:unlimited') == 0 or die 'prlimit';
}

# SIGKILL, which no backend survives: all of them restart, and the model is the one of before
$node->safe_psql('postgres', q{CREATE FUNCTION pid_in_phase(wanted text) RETURNS integer LANGUAGE plpgsql AS $$
	DECLARE
		found_pid integer;
	BEGIN
		FOR i IN 1 .. 2000 LOOP
			PERFORM pg_stat_clear_snapshot();
			SELECT pid INTO found_pid FROM gp_progress WHERE phase = wanted;
			EXIT WHEN found_pid IS NOT NULL;
			PERFORM pg_sleep(0.001);
		END LOOP;
		RETURN found_pid;
	END $$});
$node->safe_psql('postgres', q{SELECT gp_create_graph('again', 'large_nodes', 'large_edges', features => '{x}', target => 'y');
	SELECT gp_fit('again', kernel => 'gcn', strategy => 'nystrom', landmarks => 20);
	SELECT gp_fit('again', 'apart', kernel => 'gcn', strategy => 'sql', landmarks => 50)});
$before = $node->safe_psql('postgres', $whole);
my $predictions = $node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '|' ORDER BY node)) FROM gp_predict('again') AS p});
my %killed;
for my $case ((map { [ 'again', $_ ] } 'reading nodes', 'reading edges', 'building the kernel', 'posterior', 'storing'), [ 'apart', 'building the kernel' ])
{
	my ($model, $phase) = @$case;
	my $session = background($node, "CALL gp_refresh('$model')");
	my $pid = $node->safe_psql('postgres', "SELECT pid_in_phase('$phase')");
	if ($pid ne '')
	{
		kill 'KILL', $pid;
		$killed{$phase} = 1;
	}
	finish($session);
	$node->poll_query_until('postgres', 'SELECT true') or die 'the server is gone';
	is($node->safe_psql('postgres', $whole), $before, "SIGKILL of a refresh of $model in phase $phase leaves the models whole");
	is($node->safe_psql('postgres', q{SELECT md5(string_agg(p::text, '|' ORDER BY node)) FROM gp_predict('again') AS p}),
		$predictions, 'and the predictions');
}
cmp_ok(scalar(keys %killed), '>=', 2, 'phases were met: ' . join(', ', sort keys %killed));
like($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT outcome, ' ' ORDER BY outcome) FROM gp_refreshes}),
	qr/\binterrupted\b/, 'the log names what was killed');
is($node->safe_psql('postgres', q{CALL gp_refresh('again'); SELECT outcome FROM gp_refreshes ORDER BY started DESC LIMIT 1}),
	'succeeded', 'and the next refresh succeeds');

# Many sessions at once: readers, and fits that refuse to overlap
my $script = $node->basedir . '/session.sql';
append_to_file($script, q{
SELECT count(*) FROM gp_predict('small', :client_id % 200 + 1);
SELECT count(*) FROM gp_predict_links('small', nodes => ARRAY[:client_id % 200 + 1]);
SELECT count(*) FROM gp_evaluate('small');
});
$node->command_checks_all([ 'pgbench', '-n', '-c', $sessions, '-j', '2', '-t', '1', '-f', $script, $node->connstr('postgres') ],
	0, [ qr/number of transactions actually processed: $sessions/ ], [ qr/^(?!.*(?:ERROR|FATAL))/s ],
	"$sessions sessions read at once");
my @fits = map { background($node, "SELECT gp_fit('small', model => 'm$_', kernel => 'gcn')") } 1 .. 8;
is(finish($_), 0, 'fits of eight models run side by side') or diag $_->{err} for @fits;

$node->stop;
done_testing();

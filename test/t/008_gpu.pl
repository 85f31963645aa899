# The server with a GPU library: answers like the CPU's, cards that fail, cancels.
#
# The card is an emulated one.  GNNGP_CUDA_LIBRARY names the library, which lies in
# the server's library directory for as long as this test runs.
use strict;
use warnings;
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Gnngp;

my $library = $ENV{GNNGP_CUDA_LIBRARY} // '';
my $installed = `pg_config --pkglibdir`;
chomp $installed;
my $writable = -w $installed;
$installed .= '/gnngp_cuda.so';
plan skip_all => 'GNNGP_CUDA_LIBRARY names no emulated GPU library' if !-e $library;
plan skip_all => 'a GPU library is installed' if -e $installed;
plan skip_all => "the server's library directory is not writable" if !$writable;

my $mine = 0;
END { unlink $installed if $mine }

# What costs nothing to start is taken as soon as there is work for it.
my $auto = q{SET gnngp.device = auto; SET gnngp.gpu_start_cost = '1ms'; SET gnngp.threads = 1;};
my $failed = qr/WARNING:  01000: the GPU failed; the computation continues on the CPU/;
my $node = PostgreSQL::Test::Cluster->new('gpu');

# Graphs on which auto takes a card: "middle", and "few" for links, which take longest.
my $middle_graph = q{
	CREATE TABLE middle_nodes AS
		SELECT i AS id, ARRAY[sin(i), cos(i * 0.7), i % 5, 1]::real[] AS x, CASE WHEN i % 3 > 0 THEN i % 4 END AS y,
			   CASE WHEN i % 3 > 0 THEN sin(i * 0.1) END AS t
		FROM generate_series(1, 300) i;
	CREATE TABLE middle_edges AS
		SELECT i AS src, (i * j * 7 + j) % 300 + 1 AS dst FROM generate_series(1, 300) i, generate_series(1, 3) j;
	SELECT gp_create_graph('middle', 'middle_nodes', 'middle_edges', features => '{x}', target => 'y');
	CREATE TABLE few_edges AS SELECT i AS src, (i * j * 7 + j) % 20 + 1 AS dst FROM generate_series(1, 20) i, generate_series(1, 2) j;
	CREATE TABLE few_nodes AS SELECT * FROM middle_nodes WHERE id <= 20;
	SELECT gp_create_graph('few', 'few_nodes', 'few_edges', features => '{x}');
	SELECT gp_create_graph('values', 'middle_nodes', 'middle_edges', features => '{x}', target => 't');
};

# Starts the server with an emulated card; the settings are those of its environment.
sub start_with
{
	my (%settings) = @_;

	local %ENV = %ENV;
	$ENV{"GNNGP_EMULATED_\U$_"} = $settings{$_} for keys %settings;
	$node->restart;
	return;
}

# Runs statements in one session, all of them; the output, and the messages.
sub session
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);

	is($rc, 0, 'the session lives on') or diag($err);
	$err =~ s/^psql:[^ ]* //mg;
	return ($out, $err);
}

# How often something is said.
sub count_of
{
	my ($text, $pattern) = @_;
	my $n = () = $text =~ /$pattern/g;

	return $n;
}

$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gnngp;' . small_graph() . $middle_graph);

# The library is looked for until it is there
my ($out, $err) = session(qq{
	SELECT status FROM gp_device() WHERE device = 'cuda';
	\\! cp '$library' '$installed'
	SELECT device, name, compute_capability, memory > 0, status FROM gp_device() WHERE device = 'cuda';
});
$mine = -e $installed;
is($out, "the GPU library is not installed\ncuda|Emulated card|9.0|t|ready", 'a card is found once its library is installed');

# It is the one beside the extension's library, wherever the server has found that: an extension folder has its own
my $folder = PostgreSQL::Test::Utils::tempdir();
copy($installed =~ s/_cuda//r, "$folder/gnngp.so");
$node->safe_psql('postgres', qq{DO \$\$ BEGIN
	EXECUTE format('CREATE FUNCTION there() RETURNS %s LANGUAGE C AS %L, %L', pg_get_function_result('gp_device'::regproc),
		'$folder/gnngp', 'gnngp_device'); END \$\$});
is($node->safe_psql('postgres', q{SELECT status FROM there() WHERE device = 'cuda'}), 'the GPU library is not installed',
	'a folder without a GPU library');
copy($library, "$folder/gnngp_cuda.so");
unlink $installed;
is($node->safe_psql('postgres', q{SELECT status FROM there() WHERE device = 'cuda'}), 'ready', 'one with its own');
is($node->safe_psql('postgres', q{SELECT status FROM gp_device() WHERE device = 'cuda'}), 'the GPU library is not installed',
	'which is no other folder\'s');

# A file that is no library, or not ours, is a reason like others; made from C where it has some
sub check_strange_library
{
	my ($what, $source, $reason) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/strange.c';

	unlink $installed;
	append_to_file($file, $source);
	if ($source =~ /;/ ? system('gcc', '-shared', '-fPIC', '-o', $installed, $file) : !copy($file, $installed))
	{
		note "no $what could be made";
		return;
	}
	($out, $err) = session(qq{$auto SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT status FROM gp_device() WHERE device = 'cuda';
		SET gnngp.device = cuda; SELECT gp_fit('middle', kernel => 'gcn')});
	like($out, qr/^cpu\n$reason/, "$what: why there is no card");
	like($err, qr/WARNING:  .*the GPU library cannot be used; the computation continues on the CPU\nDETAIL:  [TC]/, 'of which auto warns');
	like($err, qr/ERROR:  58000: the CUDA device cannot be used\nDETAIL:  [TC]/, 'and cuda does');
	return;
}
check_strange_library('no library', 'no library', qr/could not load the GPU library: /);
check_strange_library('another library', 'int x;', qr/the GPU library lacks "gnngp_cuda_module"/);
check_strange_library('another version', 'int gnngp_cuda_module[64] = {99};', qr/the GPU library has interface version 99 instead of /);
unlink $installed;
copy($library, $installed);

# An estimate says where the fit would run
($out, $err) = session(qq{$auto SELECT reason ~ 'on the GPU\$' FROM gp_estimate('middle');
	SET gnngp.gpu_start_cost = 1000; SELECT reason ~ 'on the GPU' FROM gp_estimate('middle');
	SET gnngp.device = cpu; SELECT reason ~ 'on the GPU' FROM gp_estimate('middle');
	SET gnngp.device = cuda; SELECT reason ~ 'on the GPU\$' FROM gp_estimate('middle')});
is($out, "t\nf\nf\nt", 'gp_estimate says which fits go to the card');

# The answers are the CPU's (test/gpu compares every kind of fit); with the nugget given, for its best value is found on a flat curve
my @computations = (
	[ 'middle', q{kernel => 'gcn'} ],
	[ 'middle', q{kernel => 'gin', strategy => 'nystrom', landmarks => 80} ],
	[ 'values', q{kernel => 'sage', strategy => 'nystrom', landmarks => 100} ],
	[ 'middle', q{kernel => 'gckm(own=true, landmarks=100)'} ]);
for my $c (@computations)
{
	my ($graph, $arguments) = @$c;
	my $nugget = $arguments =~ /gckm/ ? '' : 'nugget => 0.5,';
	my $difference = $node->safe_psql('postgres', qq{
		SET client_min_messages = warning;
		SET gnngp.device = cpu;
		SELECT device FROM gp_fit('$graph', 'on_cpu', $nugget replace => true, $arguments);
		SET gnngp.device = cuda;
		SELECT device FROM gp_fit('$graph', 'on_cuda', $nugget replace => true, $arguments);
		SELECT max(abs(a.score - b.score)) < 1e-4 AND max(abs(a.variance - b.variance)) < 1e-4
				AND max(abs(a.probability - b.probability)) IS DISTINCT FROM 'NaN' AND count(*) > 0
		FROM gp_predict('on_cpu', top => NULL) a JOIN gp_predict('on_cuda', top => NULL) b
			ON a.node = b.node AND a.class IS NOT DISTINCT FROM b.class;
	});
	is($difference, "cpu\ncuda\nt", "$graph, $arguments: the CPU's answers");
}

# Everything else that computes
sub answers
{
	my ($device) = @_;

	return $node->safe_psql('postgres', qq{
		SET client_min_messages = warning;
		SET gnngp.device = $device;
		SELECT strategy FROM gp_estimate('middle');
		SELECT kernel, round(loo_score::numeric, 1) FROM gp_tune('middle', ARRAY['gcn', 'sage']::gp_kernel[]);
		SELECT method, pairs, round(auc::numeric, 2) FROM gp_fit_links('few', 'links');
		SELECT count(*) > 20 FROM gp_predict_links('links', k => 3);
		SELECT src, count(*), bool_and(score > 0.3) FROM gp_predict_links('links', nodes => ARRAY[5, 6], k => 2) GROUP BY src ORDER BY src;
		SELECT src, dst, round(score::numeric, 2) FROM gp_score_links('links', ARRAY[1, 2], ARRAY[3, 9]);
		SELECT cluster, count(*) FROM gp_cluster('middle', 4) GROUP BY 1 ORDER BY 1;
		SELECT cluster, count(*) FROM gp_cluster('middle', 4, kernel => 'gckm') GROUP BY 1 ORDER BY 1;
		SELECT round(gp_kernel_value(gp_factor(src, dst, 'gcn', 64), 3, 8)::numeric, 4) FROM middle_edges;
		SELECT node, class, round(score::numeric, 3)
		FROM (SELECT gp_factor(src, dst, 'gcn', 64) AS q FROM middle_edges) f,
			(SELECT array_agg(id) AS ids, array_agg(y::text) AS labels FROM middle_nodes) l,
			gp_factor_predict(q, ids, labels) WHERE node < 4 ORDER BY node;
	});
}
is(answers('cuda'), answers('cpu'), 'links, groups and factors on the card');

# auto
($out, $err) = session(qq{
	SELECT device FROM gp_fit('middle', kernel => 'gcn');
	$auto
	SELECT device FROM gp_fit('small', kernel => 'gcn', strategy => 'exact');
	SELECT device FROM gp_fit('middle', kernel => 'gckm');
	SELECT reason ~ 'on the GPU\$' FROM gp_estimate('middle', kernel => 'gckm');
	SELECT device FROM gp_fit('middle', kernel => 'gcn');
	SELECT count(*) FROM gp_tune('middle', ARRAY['gcn']::gp_kernel[]);
	CALL gp_refresh('middle');
	SELECT device FROM gp_models WHERE model = 'middle';
});
is($out, "cpu\ncpu\ncuda\nt\ncuda\n1\ncuda", 'auto takes the card where it gains by it');
unlike($err, qr/WARNING|ERROR/, 'and has nothing to say');

# Links: auto takes the card for a fit and for what that keeps, and the pairs are the CPU's
($out, $err) = session(qq{
	$auto
	SELECT reason ~ 'on the GPU\$' FROM gp_estimate('few', kernel => 'scores', keep => 5);
	SET client_min_messages = warning;
	SELECT model FROM gp_fit_links('few', 'links_auto', keep => 5);
	SET gnngp.device = cpu;
	SELECT reason ~ 'on the GPU' FROM gp_estimate('few', kernel => 'scores', keep => 5);
	SELECT model FROM gp_fit_links('few', 'links_cpu', keep => 5);
	SELECT count(*) FILTER (WHERE a.src = b.src) > 0.98 * count(*), corr(a.score, b.score) > 0.9999
	FROM gp_predict_links('links_auto', k => 5) a FULL JOIN gp_predict_links('links_cpu', k => 5) b ON a.src = b.src AND a.dst = b.dst;
});
is($out, "t\nlinks_auto\nf\nlinks_cpu\nt|t", 'auto takes the card for links, and finds the pairs of the CPU');
unlike($err, qr/WARNING|ERROR/, 'with nothing to say');
start_with(fail_at => 200);
($out, $err) = session(qq{$auto SELECT model, auc > 0.5 FROM gp_fit_links('few', 'links_auto', keep => 5, replace => true)});
is($out, 'links_auto|t', 'a card that fails amid a fit of links: the CPU does it');
is(count_of($err, $failed), 1, 'with one warning');
start_with();

# The number of a card
($out, $err) = session(qq{
	SET gnngp.gpu = 7;
	SET gnngp.device = cuda; SELECT device FROM gp_fit('middle', kernel => 'gcn');
	$auto SELECT device FROM gp_fit('middle', kernel => 'gcn'); SELECT device FROM gp_fit('middle', kernel => 'gcn');
	RESET gnngp.gpu; SELECT device FROM gp_fit('middle', kernel => 'gcn');
});
is($out, "cpu\ncpu\ncuda", 'auto goes without a card of that number');
like($err, qr/ERROR:  22023: there is no GPU 7/, 'cuda does not');
is(count_of($err, qr/there is no GPU 7; the computation continues on the CPU/), 1, 'auto says so once');

# A card that fails at any call; once it has begun to work it is lost
for my $n (8, 90, 220)
{
	my $working = $n > 80;
	my $status = $working ? qr/lost in this session/ : qr/lost in this session|ready/;
	my $hint = $working ? qr/start a new one/ : qr/gnngp.device/;

	start_with(fail_at => $n);
	($out, $err) = session(qq{
		$auto
		SELECT device, peak_bytes > 0 FROM gp_fit('middle', kernel => 'gcn');
		SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gnngp%';
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT status FROM gp_device() WHERE device = 'cuda';
		SELECT count(*) FROM gp_predict('middle');
	});
	like($out, qr/^(cpu|cuda)\|t\n0\n((cuda\n)*(cpu\n)+)$status\n300$/, "failure at call $n: the fit is done");
	is(count_of($err, $failed), 1, 'with one warning');
	unlike($err, qr/ERROR/, 'and no error');
	($out, $err) = session(qq{
		SET gnngp.device = cuda;
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gnngp%';
		$auto
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
	});
	like($out, qr/^(cuda\n)*0\ncpu$/, "failure at call $n: cuda is an error, and the CPU serves on");
	like($err, qr/ERROR:  58000: the CUDA device (failed|cannot be used).*\nDETAIL:  .*\nHINT:  .*$hint/, 'with a hint');
	unlike($err, qr/WARNING/, 'and a lost card is not tried again') if $working;
}

# No card, no driver: auto is silent
for my $how ('devices', 'driver')
{
	start_with($how => 0);
	($out, $err) = session(qq{
		$auto
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT device, name IS NULL, length(status) > 10, status = 'ready' FROM gp_device() WHERE device = 'cuda';
		SET gnngp.device = cuda;
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
	});
	is($out, "cpu\ncuda|t|t|f", "no $how: the CPU computes");
	unlike($err, qr/WARNING/, 'in silence');
	like($err, qr/ERROR:  58000: the CUDA device cannot be used\n.*DETAIL:  .*\n.*HINT:  Set gnngp.device to cpu or auto/s, 'and cuda says why');
}

# A card with next to no memory: the work is streamed, or the CPU does it
for my $memory (1 << 14, 1 << 20)
{
	start_with(memory => $memory);
	($out, $err) = session(qq{
		$auto
		SELECT device IN ('cpu', 'cuda') FROM gp_fit('middle', kernel => 'gcn');
		SELECT device IN ('cpu', 'cuda') FROM gp_fit('middle', kernel => 'gcn');
		SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gnngp%';
	});
	is($out, "t\nt\n0", "a card of $memory bytes: the fit is done");
	unlike($err, qr/ERROR/, 'without an error');
	cmp_ok(count_of($err, $failed), '<=', 1, 'with a warning at most');
	($out, $err) = session(q{
		SET gnngp.device = cuda;
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gnngp%';
	});
	like($out, qr/^(cuda\n)?0$/, 'and cuda leaves nothing behind');
	ok($out =~ /cuda/ || $err =~ /ERROR:  58000: /, 'whether it succeeds or not');
}
start_with();
($out, $err) = session(q{
	SET gnngp.device = cuda;
	SET gnngp.gpu_memory_limit = '100kB';
	SELECT device FROM gp_fit('middle', 'on_cuda', 'gcn', nugget => 0.1, replace => true);
	SET gnngp.device = cpu;
	SELECT device FROM gp_fit('middle', 'on_cpu', 'gcn', nugget => 0.1, replace => true);
	SELECT max(abs(a.score - b.score)) < 1e-4 FROM gp_predict('on_cpu', top => NULL) a
		JOIN gp_predict('on_cuda', top => NULL) b USING (node, class);
});
is($out, "cuda\ncpu\nt", 'gnngp.gpu_memory_limit is held by streaming');

# Cancels and timeouts of slow work
start_with(delay_us => 20_000);
for my $ms (50, 300, 1000)
{
	my $started = time;
	($out, $err) = session(qq{
		SET statement_timeout = $ms;
		SET gnngp.device = cuda;
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SET gnngp.device = auto; SET gnngp.gpu_start_cost = 0; SET gnngp.threads = 1;
		SELECT device FROM gp_fit('middle', kernel => 'gcn');
		SET statement_timeout = 0;
		SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gnngp%';
	});
	my $late = time - $started - 2 * $ms / 1000;
	is($out, '0', "a timeout after $ms ms leaves nothing");
	is(count_of($err, qr/ERROR:  57014: /), 2, 'with its error');
	unlike($err, qr/WARNING/, 'and is no failure of the card');
	cmp_ok($late, '<', 2.0, 'soon');
}
for my $function ('pg_cancel_backend', 'pg_terminate_backend')
{
	my $session = background($node, q{SET gnngp.device = cuda; SELECT gp_fit('middle', kernel => 'gcn')});
	ok(poll($node, q{SELECT count(*) = 1 FROM gp_progress WHERE phase NOT IN ('reading nodes', 'planning')}), 'a fit runs on the card');
	my $started = time;
	$node->safe_psql('postgres', "SELECT $function(pid) FROM gp_progress");
	finish($session);
	cmp_ok(time - $started, '<', 1.5, "$function ends it soon");
	like($session->{err}, qr/57014|57P01/, 'with its error');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM gp_progress'), '0', 'and leaves nothing');
}

# The end of a session, in the middle of work and with a device that is kept
start_with();
is($node->safe_psql('postgres', q{
	SET gnngp.device = cuda;
	SELECT count(*) > 0 FROM gp_predict_links('links', nodes => ARRAY[5]);
	SELECT count(*) > 0 FROM gp_predict_links('links', nodes => ARRAY[6])}), "t\nt", 'a session ends after using the card');

# Nothing of CUDA in the postmaster, nor in a single-user server
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gnngp'\ngnngp.device = 'cuda'\n");
$node->restart;
is($node->safe_psql('postgres', q{SELECT device FROM gp_fit('middle', kernel => 'gcn')}), 'cuda', 'the preloaded extension uses the card');
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
my $maps = slurp_file("/proc/$postmaster/maps");
like($maps, qr/gnngp\.so/, 'the postmaster has the extension');
unlike($maps, qr/gnngp_cuda/, 'but not the GPU library');
$node->stop;
my ($single_out, $single_err);
IPC::Run::run([ 'postgres', '--single', '-D', $node->data_dir, 'postgres' ], '<', \"SELECT gp_fit('middle', kernel => 'gcn')\n",
	'>', \$single_out, '2>', \$single_err);
like($single_err, qr/the CUDA device cannot be used/, 'a single-user server does not load it');

unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC/, 'no backend crashed');
done_testing();

# gp_report's page: what is in it, and how it looks in a browser at three widths.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

my $node = PostgreSQL::Test::Cluster->new('report');
$node->init;
$node->start;

# Classes with names that are markup, that are long, and that have no place to break; values; links.
$node->safe_psql('postgres', q{
	CREATE EXTENSION gnngp;
	CREATE TABLE node AS
		SELECT i AS id, (ARRAY['<script>alert(1)</script>', 'R&D "quoted"', repeat('long', 30)])[1 + i / 40] AS class,
		       (i / 40) * 1e9 + sin(i) * 1e8 AS value
		FROM generate_series(0, 119) AS i;
	UPDATE node SET class = NULL, value = NULL WHERE id % 4 = 0;
	CREATE TABLE edge AS
		SELECT i AS src, (i / 40) * 40 + (i + step) % 40 AS dst FROM generate_series(0, 119) AS i, unnest(ARRAY[1, 3, 11]) AS step;
	SELECT gp_create_graph('<b>classes', 'node', 'edge', target => 'class');
	SELECT gp_create_graph('values', 'node', 'edge', target => 'value');
	SELECT gp_fit('<b>classes', kernel => 'gcn(layers=1)');
	SELECT gp_fit('values', kernel => 'gcn(layers=1)');
	SELECT gp_fit_links('values');
	SELECT gp_fit_links('values', 'links');
	CALL gp_refresh('<b>classes');
	CREATE TABLE two AS SELECT id, CASE WHEN id % 4 > 0 THEN CASE WHEN id < 40 THEN '<i>rare and long to tell' ELSE 'often' END END AS class FROM node;
	SELECT gp_create_graph('two', 'two', 'edge', target => 'class');
	SELECT gp_fit('two', kernel => 'gcn(layers=1)');
	CREATE ROLE reader;
	SELECT gp_grant('<b>classes', 'reader');
	SELECT gp_grant('links', 'reader');});

# The page of a model
sub page
{
	my ($model) = @_;
	return $node->safe_psql('postgres', "SELECT gp_report('$model')");
}

my %page = map { $_ => page($_) } '<b>classes', 'values', 'links', 'two';
for my $model (sort keys %page)
{
	like($page{$model}, qr{^<!DOCTYPE html>.*</html>$}s, "$model: one page");
	unlike($page{$model} =~ s{<a href="#f\d+">}{}gr, qr{<script|<b>|<i>|(?:src|href|url)\s*[=(]|https?:(?!//www\.w3\.org)}i, "$model: nothing of the user's is markup, and nothing comes from elsewhere");
}
like($page{'<b>classes'}, qr{&lt;script&gt;alert}, 'a class named like markup is shown as it is written');
like($page{'<b>classes'}, qr{It predicts [\d.]+% of the labels correctly \(\d+ of 90\).*How good it is.*Reliability.*Confusion.*All nodes.*prediction sets.*By class.*Least certain.*What was fitted.*Refreshes.*succeeded}s, 'classes: every part is there, the verdict first');
like($page{'values'}, qr{<th>edges</th><td>\d+<(?!.*<th>relations<)}s, 'a graph has edges, and no relations as tables have');
like($page{'values'}, qr{Labels, each predicted.*standard deviations.*AUC}s, 'values and links: every part is there');
unlike($page{'values'}, qr{<td>(?:mrr|hits|auc)}, 'and the figures of links are not told of labels');
like($page{$_}, qr{AUC within one component; .5 is chance</td>.*mean reciprocal rank.*first twenty places.*ROC curve of held-out links, AUC [.\d]+, within one component [.\d]+<.*Precision and recall of held-out links, average precision [.\d]+<}s,
	"$_: the curves of held-out pairs") for 'values', 'links';
like($page{'two'}, qr{ROC curve of labels &quot;&lt;i&gt;rare.*, AUC [.\d]+<.*Precision and recall of labels}s, 'two classes: curves of the rarer one');
unlike($page{'<b>classes'}, qr{ROC curve}, 'three classes: none');
my ($rc, $out, $err) = $node->psql('postgres', q{SET ROLE reader; SELECT gp_report('<b>classes')});
like($err, qr{must be owner}, 'the labels are the owner\'s');
($rc, $out, $err) = $node->psql('postgres', q{SET ROLE reader; SELECT gp_report('links')});
like($err, qr{must be owner}, 'so are the links');

# Characters that HTML does not allow, and what somebody has written into the catalog
is($node->safe_psql('postgres', q{SELECT gnngp_internal.report_html(E'a\x01b\u0085c\x7fd\te\nf<>&"' || chr(39))}),
	"a?b?c?d\te\nf&lt;&gt;&amp;&quot;&#39;", 'controls but tab and newline are replaced');
$node->safe_psql('postgres', q{UPDATE gnngp_internal.gp_model_catalog SET link_method = '<i>' || chr(1) WHERE name = 'links'});
like(page('links'), qr{<td class="w">&lt;i&gt;\?</td>}, 'the method of links is escaped');

# Many classes: the page is made in seconds, and lists twenty of them; a second one takes no more memory
$node->safe_psql('postgres', q{
	CREATE TABLE many AS SELECT i AS id, CASE WHEN i % 4 > 0 THEN E'c\x02<' || i % 1500 END AS class FROM generate_series(0, 5999) AS i;
	UPDATE many SET class = E'c\x02<' || id / 4 WHERE id % 4 = 1;
	CREATE TABLE ring AS SELECT i AS src, (i + 1500) % 6000 AS dst FROM generate_series(0, 5999) AS i;
	SELECT gp_create_graph('many', 'many', 'ring', target => 'class');
	SELECT gp_fit('many', kernel => 'gcn(layers=1)', strategy => 'nystrom', landmarks => 20)});
my $begun = time;
my $many = page('many');
cmp_ok(time - $begun, '<', 10, 'a page of 1,500 classes is made in seconds');
like($many, qr{<td colspan="5">and 1,480 more</td>}, 'which lists twenty of them');
unlike($many, qr{[\x01-\x08\x0b-\x1f\x7f]}, 'without their controls');
# The first pages fill caches: from PostgreSQL 18 on, the plans of SQL functions are kept too.
my $held = 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts;';
my $fifteen = "SELECT sum(length(gp_report('values'))) FROM generate_series(1, 15); $held";
my @held = split /\n/, $node->safe_psql('postgres', "BEGIN; $fifteen $fifteen");
cmp_ok($held[3] - $held[1], '<', 30_000, 'fifteen more pages in one transaction leave nothing behind');

# What a browser makes of it: parts that are wider than their place, and texts outside of their picture.
my ($chromium) = grep { -x $_ } map { "$_/chromium" } split(/:/, $ENV{PATH});
my $script = q{<script>
	let bad = [...document.querySelectorAll('body, h1, main, figure, table, td, th')]
		.filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.tagName + ' ' + e.textContent.slice(0, 40));
	if (document.documentElement.scrollWidth > innerWidth) bad.push('page');
	for (const svg of document.querySelectorAll('svg')) {
		const box = svg.getBoundingClientRect();
		for (const e of svg.querySelectorAll('text, rect, circle')) {
			const r = e.getBoundingClientRect();
			if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
				bad.push('outside: ' + e.tagName + ' ' + e.textContent);
		}
	}
	document.body.setAttribute('data-looked', document.querySelectorAll('figure').length + ' figures at ' + innerWidth + ': ' + bad.join('; '));
</script>};

# The pages at several widths, each in a frame of one document, which gathers what their scripts found out.
sub look
{
	my ($models, $widths) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/report.html';
	my ($frames, $dom, $log) = ('');
	my %entity = ('&' => '&amp;', '"' => '&quot;');

	for my $model (@$models)
	{
		my $text = $page{$model} =~ s{</body>}{$script</body>}r =~ s/([&"])/$entity{$1}/gr;

		$frames .= qq{<iframe style="width: ${_}px; height: 1200px; border: 0" srcdoc="$text"></iframe>\n} for @$widths;
	}
	append_to_file($file, qq{<!DOCTYPE html><meta charset="utf-8"><body onload="document.body.textContent =
		[...document.querySelectorAll('iframe')].map(f => f.contentDocument.body.getAttribute('data-looked')).join('\\n')">$frames</body>});
	IPC::Run::run([ $chromium, qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars), '--window-size=1600,1200',
			"--user-data-dir=$PostgreSQL::Test::Utils::tmp_check/chromium", '--dump-dom', "file://$file" ],
		'>', \$dom, '2>', \$log, IPC::Run::timeout(240));
	return $dom =~ /figures at/ ? $dom : "no answer: $log";
}

SKIP:
{
	my @widths = (400, 800, 1600);

	skip 'no chromium to look at the pages with', @widths * keys %page unless $chromium;
	my @seen = look([ sort keys %page ], \@widths) =~ /(?:<body[^>]*>|^)(\d+ figures at [^<\n]*)/mg;
	for my $model (sort keys %page)
	{
		like(shift(@seen) // 'no answer', qr{^[1-9]\d* figures at $_: $}, "$model: nothing overflows at a width of $_") for @widths;
	}
}

$node->stop;
done_testing();

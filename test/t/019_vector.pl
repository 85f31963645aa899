# The embedding of a deep model of links in pgvector's type: an index finds likely links.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Gnngp;

chomp(my $library = qx(pg_config --pkglibdir));
plan skip_all => 'pgvector is not installed' unless -e "$library/vector.so";

my $node = PostgreSQL::Test::Cluster->new('vector');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION vector; CREATE EXTENSION gnngp;' . small_graph() . q{
	SELECT gp_fit_links('small', 'places', method => 'dgp(units=32, steps=100)');
	CREATE TABLE place AS SELECT node, embedding::vector(32) FROM gp_embedding('places');
	CREATE INDEX ON place USING hnsw (embedding vector_ip_ops);
	ANALYZE place;
});
is($node->safe_psql('postgres', q{SELECT count(*) = (SELECT count(*) FROM nodes) FROM place}), 't',
	'each node has a place');

# What lies nearest by inner product is what the model finds likeliest, up to the variances, which are small here.
my $shared = $node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SELECT count(*) FROM
		(SELECT b.node FROM place AS a, place AS b WHERE a.node = 7 AND b.node <> 7
		 ORDER BY a.embedding <#> b.embedding LIMIT 20) AS near
		JOIN (SELECT dst FROM (SELECT array_agg(id::bigint) AS all_ids FROM nodes WHERE id <> 7) AS o,
				gp_score_links('places', array_fill(7::bigint, ARRAY[cardinality(all_ids)]), all_ids) AS s
			  ORDER BY s.score DESC LIMIT 20) AS likely ON likely.dst = near.node});
cmp_ok($shared, '>=', 15, 'the nearest are the likeliest');
my $plan = $node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	EXPLAIN SELECT node FROM place ORDER BY embedding <#> (SELECT embedding FROM place WHERE node = 7) LIMIT 20});
like($plan, qr/Index Scan using place_embedding_idx/, 'by the index');
$node->stop;
done_testing();

/*
 * test_local.c - columns that reach few nodes: the entries are those of whole columns, and the work does not grow with
 * the graph.
 */
#include "links/scores/scores.h"
#include "test_env.h"

#define SMALL 2000
#define LARGE 300000			/* more than what walks keep an array for */
#define ORDERED 12000			/* whose rows are put in order */
#define PAIRS 300
#define STEPS 6

static uint64_t state = 5;

/* A ring of so many of the nodes, with links to those near by and one far away; the others have none. */
static gp_graph *
ring(gp_env *env, int32_t nodes, int32_t linked)
{
	gp_edges   *edges = gp_edges_create(env, nodes, false, false);

	for (int32_t i = 0; i < linked; i++)
		for (int32_t k = 1; k <= 4; k++)
		{
			int32_t		j = (int32_t) ((k < 4 ? i + k : (int64_t) i * 7919 + 104729) % linked);

			if (i != j)
				gp_edges_add(edges, 1, &i, &j, NULL);
		}
	return gp_graph_build(edges);
}

/* The entries of T_1 .. T_steps of a source by whole columns in double: steps x nodes. */
static double *
whole_columns(gp_env *env, const gp_csr *s, int32_t source, int32_t steps)
{
	double	   *t = gp_alloc_zero(env, (steps + 1) * s->rows, sizeof(double));

	t[source] = 1.0;
	for (int32_t k = 1; k <= steps; k++)
		for (int64_t i = 0; i < s->rows; i++)
		{
			double		sum = 0.0;

			for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
				sum += ((const float *) s->value)[e] * t[(k - 1) * s->rows + s->col[e]];
			t[k * s->rows + i] = k == 1 ? sum : 2.0 * sum - t[(k - 2) * s->rows + i];
		}
	return t;
}

/* Pairs of a source: near by, anywhere, one of them twice, and the source itself. */
static void
draw_pairs(int32_t nodes, int32_t source, int32_t *dst)
{
	for (int e = 0; e < PAIRS; e++)
		dst[e] = e < PAIRS / 2 ? (source + e) % nodes : (int32_t) (draw_unit(&state) * nodes);
	dst[PAIRS - 1] = dst[0];
}

/* The largest error of a column. */
static double
column_error(gp_env *env, gp_link_local *local, const gp_csr *s, int32_t source, int32_t steps)
{
	int32_t		dst[PAIRS];
	float	   *entry = gp_alloc_array(env, PAIRS * steps, sizeof(float));
	double	   *whole = whole_columns(env, s, source, steps);
	double		worst = 0.0;
	int64_t		most = gp_csr_entries(s) * 100;

	draw_pairs((int32_t) s->rows, source, dst);
	if (gp_link_local_column(local, s, source, steps, PAIRS, dst, most, entry) > most)
		worst = INFINITY;
	for (int32_t k = 1; k <= steps; k++)
		for (int e = 0; e < PAIRS; e++)
			worst = fmax(worst, fabs(entry[(k - 1) * PAIRS + e] - whole[k * s->rows + dst[e]]));
	gp_free(env, entry);
	gp_free(env, whole);
	return worst;
}

/* Columns of any number of steps, of nodes with and without links. */
static void
check_entries(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *g = ring(env, SMALL + 10, SMALL);
	gp_link_local *local = gp_link_local_open(env, g->nodes);
	gp_link_frame f;
	double		worst = 0.0;
	int32_t		dst[1] = {1};
	float		entry[STEPS];

	gp_link_frame_open(&f, dev, g, NULL, STEPS, 0, NULL);
	for (int32_t steps = 1; steps <= GP_LINK_LOCAL_STEPS; steps++)
		for (int32_t source = 0; source < SMALL + 10; source += 401)
			worst = fmax(worst, column_error(env, local, &f.smooth, source, steps));
	ok(worst < 2e-5, "entries of columns are those of whole ones");
	ok(gp_link_local_column(local, &f.smooth, 0, STEPS, 1, dst, 50, entry) > 50, "more work than most is told");
	ok(column_error(env, local, &f.smooth, 7, STEPS) < 2e-5, "and the next column is right");
	gp_link_local_free(env, local);
	gp_link_frame_close(&f);
}

/* The scores of pairs of 16 sources that are side by side; fills a room for them. */
static double *
block_scores(gp_env *env, gp_link_frame *f, gp_link_local *local)
{
	static int32_t slot[16 * PAIRS];
	static int32_t dst[16 * PAIRS];
	int32_t		source[16];
	gp_link_block block = {.sources = 16, .source = source, .n = 16 * PAIRS, .slot = slot, .dst = dst};
	double	   *out = gp_alloc_zero(env, block.n * f->width, sizeof(double));

	for (int32_t c = 0; c < 16; c++)
	{
		source[c] = 20 * c;
		for (int e = 0; e < PAIRS; e++)
		{
			slot[c * PAIRS + e] = c;
			dst[c * PAIRS + e] = (source[c] + 1 + e) % SMALL;
		}
	}
	f->local = local;
	gp_link_graph_scores(f, &block, out);
	return out;
}

/* Scores of a block with a room are those without, and the very same where columns reach too much. */
static void
check_blocks(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	int32_t		nodes[2] = {SMALL * 20, SMALL};

	for (int k = 0; k < 2; k++)
	{
		gp_graph   *g = ring(env, nodes[k], nodes[k]);
		gp_link_local *local = gp_link_local_open(env, g->nodes);
		gp_link_frame f;
		double	   *with;
		double	   *without;
		double		worst = 0.0;

		gp_link_frame_open(&f, dev, g, NULL, STEPS, 0, NULL);
		without = block_scores(env, &f, NULL);
		with = block_scores(env, &f, local);
		for (int e = 0; e < 16 * PAIRS * f.width; e++)
			worst = fmax(worst, fabs(exp(with[e]) - exp(without[e])) / (1.0 + exp(without[e])));
		ok(k == 1 ? worst == 0.0 : worst > 0.0 && worst < 1e-5,
		   k == 1 ? "where columns reach too much, scores are the same" : "scores are those of whole columns");
		gp_link_local_free(env, local);
		gp_link_frame_close(&f);
	}
}

/* The entries that columns of some sources go through. */
static int64_t
count_work(gp_env *env, gp_device *dev, int32_t nodes)
{
	gp_graph   *g = ring(env, nodes, nodes);
	gp_link_local *local = gp_link_local_open(env, nodes);
	gp_link_frame f;
	float		entry[STEPS * 100];
	int64_t		work = 0;

	gp_link_frame_open(&f, dev, g, NULL, STEPS, 0, NULL);
	for (int32_t source = 0; source < nodes; source += nodes / 20)
	{
		int32_t		dst[100];

		for (int32_t e = 0; e < 100; e++)
			dst[e] = (source + 1 + e) % nodes;
		work += gp_link_local_column(local, &f.smooth, source, STEPS, 100, dst, INT64_MAX, entry);
	}
	gp_link_local_free(env, local);
	gp_link_frame_close(&f);
	return work;
}

/* Work is that of what is reached. */
static void
check_work(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	int64_t		few = count_work(env, dev, 30000);
	int64_t		many = count_work(env, dev, LARGE);

	ok(few > 0 && many < 1.1 * few, "ten times as many nodes are no more work");
}

/* Walks in a graph and in the same among many other nodes. */
static void
check_walks(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	static double two[2][PAIRS * GP_WALK_LANES];
	static double three[2][PAIRS * GP_WALK_LANES];
	int32_t		src[PAIRS];
	int32_t		dst[PAIRS];
	bool		cut[PAIRS];
	int32_t		nodes[2] = {SMALL, LARGE};

	for (int e = 0; e < PAIRS; e++)
	{
		src[e] = e / 10 * 60;
		dst[e] = e % 10 == 9 ? (src[e] + 1) % SMALL : (src[e] + e % 10 + 2) % SMALL;
		cut[e] = e % 10 == 9;
	}
	for (int k = 0; k < 2; k++)
	{
		gp_graph   *g = ring(env, nodes[k], SMALL);
		gp_link_frame f;

		gp_link_frame_open(&f, dev, g, NULL, STEPS, 0, NULL);
		dev->walks(dev, f.weights, f.middle, PAIRS, src, dst, cut, two[k], three[k]);
		gp_link_frame_close(&f);
	}
	ok(two[0][0] > 0.0 && memcmp(two[0], two[1], sizeof(two[0])) == 0 &&
	   memcmp(three[0], three[1], sizeof(three[0])) == 0, "walks are the same among many nodes");
}

/* True when each row of a frame's matrix is some node's. */
static bool
rows_of_all(gp_env *env, const gp_link_frame *f)
{
	bool	   *seen = gp_alloc_zero(env, f->n, sizeof(bool));
	bool		moved = false;

	for (int64_t i = 0; f->row && i < f->n; i++)
	{
		moved = moved || f->row[i] != i;
		seen[f->row[i]] = true;
	}
	for (int64_t i = 0; i < f->n; i++)
		moved = moved && seen[i];
	gp_free(env, seen);
	return moved;
}

/* Rows in another order change no score: of links, which are cut, of other pairs, and of columns that reach few nodes. */
static void
check_order(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *g = ring(env, ORDERED + 10, ORDERED);
	gp_link_frame f[2];
	double	   *score[2];
	double	   *local[2];
	int32_t		src[PAIRS];
	int32_t		dst[PAIRS];

	for (int e = 0; e < PAIRS; e++)
	{
		src[e] = e / 10 * 97;
		dst[e] = e % 10 < 4 ? src[e] + 1 + e % 10 : (int32_t) (draw_unit(&state) * (ORDERED + 10));
		dst[e] += dst[e] == src[e];
	}
	for (int k = 0; k < 2; k++)
	{
		gp_link_local *room = gp_link_local_open(env, g->nodes);

		gp_link_frame_open(&f[k], dev, g, NULL, STEPS, 0, NULL);
		if (k == 1)
			gp_link_frame_order(&f[k]);
		score[k] = gp_alloc_array(env, PAIRS * f[k].width, sizeof(double));
		gp_link_pair_scores(&f[k], PAIRS, src, dst, score[k]);
		local[k] = block_scores(env, &f[k], room);
	}
	ok(f[0].row == NULL && rows_of_all(env, &f[1]), "rows are put in another order, each node has one");
	ok(memcmp(score[0], score[1], PAIRS * f[0].width * sizeof(double)) == 0, "scores of pairs are those without an order");
	ok(memcmp(local[0], local[1], 16 * PAIRS * f[0].width * sizeof(double)) == 0, "and those of local columns");
	gp_link_frame_close(&f[0]);
	gp_link_frame_close(&f[1]);
}

int
main(void)
{
	in_env(check_order(env));
	in_env(check_entries(env));
	in_env(check_blocks(env));
	in_env(check_work(env));
	in_env(check_walks(env));
	return done_testing();
}

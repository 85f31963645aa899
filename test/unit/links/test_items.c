/*
 * test_items.c - the scores of users and items against ridge regressions that are solved one by one.
 */
#include "links/scores/scores.h"
#include "test_env.h"

/* The fits of links with a method ease that is planned alone, and needs more than there is. */
#define LARGE ((size_t) 1 << 40)

static void
large_open(void *state, gp_device *dev, const gp_problem *problem, const void *options)
{
}

static void *
large_run(void *state, gp_device *dev, const gp_plan *plan)
{
	gp_free(dev->env, gp_alloc_values(dev->env, LARGE, 1));
	return NULL;
}

static void
large_describe(const void *state, gp_plan *plan)
{
}

static void
large_close(void *state)
{
}

static void
large_release(gp_env *env, void *result)
{
}

static const gp_method large_method = {.name = "ease",.what = "link model",.hint = "",.state = 1,
	.open = large_open,.run = large_run,.release = large_release,.describe = large_describe,
.close = large_close};

#define gp_method_ease large_method
#define gp_link_plan_make plan_without_ease
#define gp_link_fit fit_without_ease
#include "links/model/link_fit.c"

#define USERS 17
#define ITEMS 23
#define NODES (USERS + ITEMS)
#define PAIRS (USERS * ITEMS)

static uint64_t state = 5;

/* Users like some items; items are numbered before users, and the last of both have no link. */
static gp_graph *
random_likes(gp_env *env, bool directed, bool like[USERS][ITEMS])
{
	gp_edges   *edges = gp_edges_create(env, NODES, directed, false);

	for (int u = 0; u < USERS; u++)
		for (int i = 0; i < ITEMS; i++)
		{
			int32_t		user = ITEMS + u;
			int32_t		item = i;

			like[u][i] = u < USERS - 1 && i < ITEMS - 1 && (i == u || draw_unit(&state) < 2.0 / (2 + i));
			if (like[u][i])
				gp_edges_add(edges, 1, &user, &item, NULL);
		}
	return gp_graph_build(edges);
}

/* Solves a w = b in place, a being positive definite. */
static void
solve(int n, double a[NODES][NODES], double *b)
{
	for (int k = 0; k < n; k++)
		for (int r = 0; r < n; r++)
		{
			double		factor = r == k ? 0.0 : a[r][k] / a[k][k];

			for (int c = 0; c < n; c++)
				a[r][c] -= factor * a[k][c];
			b[r] -= factor * b[k];
		}
	for (int k = 0; k < n; k++)
		b[k] /= a[k][k];
}

/* The prediction of entry (r, c) of x by the ridge regression of column c on the others, whose targets have 0 there. */
static double
predict(int rows, int cols, double x[NODES][NODES], double ridge, int r, int c)
{
	static double gram[NODES][NODES];
	double		w[NODES] = {0.0};
	double		sum = 0.0;

	for (int i = 0; i < cols; i++)
		for (int j = 0; j < cols; j++)
		{
			gram[i][j] = i == j ? ridge : 0.0;
			for (int k = 0; k < rows && i != c && j != c; k++)
				gram[i][j] += x[k][i] * x[k][j];
		}
	for (int i = 0; i < cols; i++)
		for (int k = 0; k < rows && i != c; k++)
			w[i] += k == r ? 0.0 : x[k][i] * x[k][c];
	solve(cols, gram, w);
	for (int i = 0; i < cols; i++)
		sum += i == c ? 0.0 : x[r][i] * w[i];
	return sum;
}

/* Scores by regressions, as logarithms of their odds; returns lambda. */
static double
dense_scores(bool directed, bool like[USERS][ITEMS], double *out)
{
	static double x[NODES][NODES];
	static double turned[NODES][NODES];
	double		scale[ITEMS];
	double		ridge = 0.0;
	int			linked = 0;
	double		links = 0.0;

	for (int i = 0; i < ITEMS; i++)
	{
		int			d = 0;

		for (int u = 0; u < USERS; u++)
			d += like[u][i];
		scale[i] = d > 0 ? pow(d, -0.25) : 1.0;
		ridge += 6.0 * sqrt(d);
		linked += d > 0;
		links += d;
		for (int u = 0; u < USERS; u++)
			turned[i][u] = x[u][i] = like[u][i] ? scale[i] : 0.0;
	}
	ridge /= linked;
	double		share = links / linked / (USERS - 1);
	for (int u = 0; u < USERS; u++)
		for (int i = 0; i < ITEMS; i++)
		{
			double		item = predict(USERS, ITEMS, x, ridge, u, i) / scale[i];
			double		user = predict(ITEMS, USERS, turned, ridge, i, u) / scale[i];

			double		x = directed ? item : (item + user) / 2.0;

			out[u * ITEMS + i] = asinh((exp(2.0 * x) - 1.0) / 2.0 / share);
		}
	return ridge;
}

/* The largest difference of a context's scores from others. */
static double
worst_of(gp_link_context *f, const double *want)
{
	int32_t		src[PAIRS];
	int32_t		dst[PAIRS];
	double		score[PAIRS];
	double		worst = 0.0;

	for (int e = 0; e < PAIRS; e++)
	{
		src[e] = ITEMS + e / ITEMS;
		dst[e] = e % ITEMS;
	}
	gp_link_pair_scores(f, PAIRS, src, dst, score);
	for (int e = 0; e < PAIRS; e++)
		worst = fmax(worst, fabs(score[e] - want[e]));
	return worst;
}

/* Both ways to the scores; and the diagonals where there is no room for the inverse. */
static void
check_scores(gp_env *env, bool directed)
{
	bool		like[USERS][ITEMS];
	gp_graph   *g = random_likes(env, directed, like);
	gp_device  *dev = gp_device_cpu(env, 1);
	double		want[PAIRS];
	double		ridge = dense_scores(directed, like, want);
	double		share;
	double		off = 0.0;
	bool	   *item = gp_link_items_find(env, g, &share);
	gp_link_context f;

	ok(share == 1.0 && item[0] && !item[ITEMS], "items are what links lead to, or the larger side");
	gp_link_context_open_ease(&f, dev, g, item, NULL);
	gp_link_ease_fit(&f, 0, true);
	ok(fabs(f.ridge - ridge) < 1e-12, "the ridge is a multiple of the mean diagonal");
	ok(worst_of(&f, want) < 1e-9, "the inverse gives the scores of the regressions, of links without themselves");
	double	   *diagonal = gp_link_ease_diagonal(&f);
	gp_link_context_close(&f);
	gp_link_context_open_ease(&f, dev, g, NULL, &(gp_link_model) {.ease = {ridge, diagonal}});
	ok(worst_of(&f, want) < 1e-6, "and so do conjugate gradients");
	gp_link_context_close(&f);
	gp_link_context_open_ease(&f, dev, g, NULL, &(gp_link_model) {.ease = {ridge, diagonal}});
	gp_link_ease_probe(&f);
	double	   *probed = gp_link_ease_diagonal(&f);
	for (int i = 0; i < NODES; i++)
		off = fmax(off, fabs(probed[i] / diagonal[i] - 1.0));
	ok(off > 0.0 && off < 0.1, "random signs tell the diagonals to a tenth");
	gp_link_context_close(&f);
}

/* One item of three users beside six items of four, which are numbered before their users. */
static void
check_small_component(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 14, false, false);
	bool		right = true;

	for (int32_t j = 0; j < 7; j++)
		for (int32_t u = j == 6 ? 11 : 7; u < (j == 6 ? 14 : 11); u++)
			gp_edges_add(edges, 1, &u, &j, NULL);
	bool	   *item = gp_link_items_find(env, gp_graph_build(edges), NULL);
	for (int i = 0; i < 14; i++)
		right = right && item[i] == (i < 7);
	ok(right, "a small component has its sides in the order of the largest one's");
}

/* A fit by auto says when the limit has room for the scores of pairs alone. */
static void
check_left_out(gp_env *env)
{
	bool		like[USERS][ITEMS];
	gp_link_problem p = {.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};

	p.graph = random_likes(env, false, like);
	env->limit = LARGE / 2;
	gp_link_model *model = fit_without_ease(gp_device_cpu(env, 1), &p);
	is_int(model->method, GP_LINK_SCORES, "auto leaves out ease where it needs too much");
	ok(strncmp(test_state(env)->notice, "method ease is left out: it needs 10485", 39) == 0, "and says so");
}

int
main(void)
{
	in_env(check_left_out(env));
	in_env(check_small_component(env));
	in_env(check_scores(env, false));
	in_env(check_scores(env, true));
	return done_testing();
}

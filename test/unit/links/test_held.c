/*
 * test_held.c - the pairs that folds hide: which they are, how they are predicted, and what they make.
 */
#include "links/model/link_regression.h"
#include "links/model/sparse.h"
#include "test_env.h"

#define NODES 150
#define TRAIN 40
#define OTHERS 9
#define WIDTH 5

/* A small generator, so that every run sees the same cases. */
static uint64_t seed = 1;

/*
 * Stars of a few nodes, linked to each other seldom: most links cut the graph in two when they are
 * taken out.
 */
static gp_graph *
stars(gp_env *env, bool directed)
{
	gp_edges   *edges = gp_edges_create(env, NODES, directed, false);

	seed = 7;
	for (int32_t i = 0; i < NODES; i++)
	{
		int32_t		centre = i / 6 * 6;
		int32_t		far = (int32_t) (draw_unit(&seed) * NODES);

		if (i != centre)
			gp_edges_add(edges, 1, &centre, &i, NULL);
		if (draw_unit(&seed) < 0.4 && far != i && far != centre)
			gp_edges_add(edges, 1, &i, &far, NULL);
	}
	return gp_graph_build(edges);
}

/* A fit of the stars. */
static gp_link_model *
fit_stars(gp_device *dev, bool directed, gp_link_method method)
{
	gp_env	   *env = dev->env;
	gp_link_problem p = {.graph = stars(env, directed),.method = method,.seed = 3,
	.program = gp_kernel_compile(env, gp_kernel_parse(env, "gcn"))};

	return gp_link_fit(dev, &p);
}

/* True when a walk along the links leads from one node to another; those of a fold are not there. */
static bool
is_reached(const gp_graph *g, const gp_link_held *held, int fold, int32_t from, int32_t to)
{
	bool		seen[NODES] = {false};
	bool		more = true;

	seen[from] = true;
	while (more)
	{
		more = false;
		for (int32_t i = 0; i < NODES; i++)
			for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
			{
				int32_t		j = g->col[k];
				bool		hidden = false;

				for (int64_t e = held->first[fold]; e < held->first[fold + 1] && held->linked[e]; e++)
					hidden = hidden || (held->row[e].src == i && held->row[e].dst == j) ||
						(!g->directed && held->row[e].src == j && held->row[e].dst == i);
				if (hidden || seen[i] == seen[j])
					continue;
				seen[i] = seen[j] = more = true;
			}
	}
	return seen[to];
}

/* The figures by their definition. */
static void
check_figures(gp_env *env, const gp_link_model *model)
{
	const gp_link_held *held = &model->held;
	double		score[1000];
	bool		label[1000];
	double		mean[2] = {0.0, 0.0};
	double		unused;

	for (int f = 0; f < held->folds; f++)
		for (int all = 0; all < 2; all++)
		{
			double		auc;
			int			n = 0;

			for (int64_t e = held->first[f]; e < held->first[f + 1]; e++)
				if (all || held->together[e])
				{
					score[n] = held->row[e].score;
					label[n++] = held->linked[e];
				}
			gp_ranking_metrics(env, n, score, label, &auc, &unused);
			mean[all] += auc / held->folds;
		}
	close_to(model->metric[GP_LINK_METRIC_AUC], mean[1], 1e-12, "the AUC is the folds' mean");
	close_to(model->metric[GP_LINK_METRIC_AUC_COMPONENT], mean[0], 1e-12, "the AUC within a component, too");
	ok(fabs(model->metric[GP_LINK_METRIC_AUC] - model->metric[GP_LINK_METRIC_AUC_COMPONENT]) > 1e-3, "and says something else");
}

/* What a fit holds out. */
static void
check_held(gp_env *env, bool directed, gp_link_method method)
{
	gp_link_model *model = fit_stars(gp_device_cpu(env, 1), directed, method);
	const gp_link_held *held = &model->held;
	gp_link_model *other = fit_stars(gp_device_cpu(env, 2), directed, method);
	int			links = 0;
	int			apart = 0;
	int			wrong = 0;
	int			outside = 0;

	for (int f = 0; f < held->folds; f++)
		for (int64_t e = held->first[f]; e < held->first[f + 1]; e++)
		{
			const gp_link_row *row = &held->row[e];

			wrong += held->linked[e] != gp_link_exists(model->graph, row->src, row->dst);
			wrong += held->together[e] != is_reached(model->graph, held, f, row->src, row->dst);
			wrong += !directed && row->src >= row->dst;
			for (int64_t d = 0; d < e; d++)
				wrong += held->linked[e] && held->row[d].src == row->src && held->row[d].dst == row->dst;
			outside += !(row->variance >= 0.0 && isfinite(row->variance) && isfinite(row->score) &&
						 row->probability > 0.0 && row->probability < 1.0);
			links += held->linked[e];
			apart += !held->together[e];
		}
	is_int(wrong, 0, "links are links, each once, others are none, and both ends together where they are");
	is_int(outside, 0, "scores, variances and probabilities are what they should be");
	ok(2 * links == held->n && held->folds > 1 && apart > 20, "as many of both, and some are apart");
	ok(memcmp(held->row, other->held.row, held->n * sizeof(gp_link_row)) == 0, "the same bits with two threads");
	check_figures(env, model);
}

/* A figure that no fold knows. */
static void
check_unknown(gp_env *env)
{
	gp_link_row row[] = {{0, 1, 0.9, 0.1, 0.0}, {0, 2, 0.2, 0.1, 0.0}, {1, 2, 0.8, 0.1, 0.0}, {1, 3, 0.1, 0.1, 0.0}};
	bool		linked[] = {true, false, true, false};
	bool		together[] = {true, true, false, true};
	gp_link_model model = {.slope = 2.0, .intercept = -1.0,
		.held = {4, row, linked, together, 2, {0, 2, 4}}};

	gp_link_held_judge(env, &model);
	close_to(model.metric[GP_LINK_METRIC_AUC_COMPONENT], 1.0, 0.0, "a fold that knows nothing does not count");
	close_to(row[0].probability, 1.0 / (1.0 + exp(-0.8)), 1e-15, "the probability is the curve's");
	together[0] = false;
	gp_link_held_judge(env, &model);
	ok(isnan(model.metric[GP_LINK_METRIC_AUC_COMPONENT]) && model.metric[GP_LINK_METRIC_AUC] == 1.0, "a figure that no fold knows is not known");
}

/* x = A^-1 b for a small matrix, by elimination; a and b are destroyed. */
static void
solve(int n, double *a, double *b)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
		{
			double		factor = a[i * n + k] / a[k * n + k];

			if (i == k)
				continue;
			for (int j = k; j < n; j++)
				a[i * n + j] -= factor * a[k * n + j];
			b[i] -= factor * b[k];
		}
	for (int k = 0; k < n; k++)
		b[k] /= a[k * n + k];
}

/* The posterior of other rows against elimination. */
static void
check_regression(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	double		score[(TRAIN + OTHERS) * WIDTH];
	bool		label[TRAIN];
	gp_link_row out[OTHERS];
	gp_link_regression g;
	gp_matrix	k = dev->create(dev, TRAIN, TRAIN, GP_DOUBLE);
	gp_matrix	cross = dev->create(dev, OTHERS, TRAIN, GP_DOUBLE);
	gp_matrix	own = dev->create(dev, OTHERS, 1, GP_DOUBLE);
	gp_matrix	unused = dev->create(dev, TRAIN, 1, GP_DOUBLE);
	double		worst[2] = {0.0, 0.0};

	for (int e = 0; e < (TRAIN + OTHERS) * WIDTH; e++)
		score[e] = draw_unit(&seed);
	for (int i = 0; i < TRAIN; i++)
		label[i] = score[i * WIDTH] + score[i * WIDTH + 1] > 1.0;
	g = gp_link_regress(dev, TRAIN, WIDTH, score, label);
	gp_link_regression_predict(dev, &g, OTHERS, WIDTH, score + TRAIN * WIDTH, out);
	gp_link_cross_covariance(dev, g.z, g.z, k, unused);
	gp_link_cross_covariance(dev, gp_link_standardise(dev, OTHERS, WIDTH, score + TRAIN * WIDTH, g.centre, g.spread,
													  GP_DOUBLE), g.z, cross, own);
	for (int r = 0; r < OTHERS; r++)
	{
		double		a[TRAIN * TRAIN];
		double		x[TRAIN];
		const double *row = (const double *) cross.data + r * cross.ld;
		double		mean = g.offset;
		double		variance = ((const double *) own.data)[r * own.ld];

		for (int i = 0; i < TRAIN; i++)
			for (int j = 0; j < TRAIN; j++)
				a[i * TRAIN + j] = ((const double *) k.data)[i * k.ld + j] + (i == j ? g.solution.noise : 0.0);
		memcpy(x, row, sizeof(x));
		solve(TRAIN, a, x);
		for (int i = 0; i < TRAIN; i++)
		{
			variance -= row[i] * x[i];
			mean += (label[i] - g.offset) * x[i];
		}
		worst[0] = fmax(worst[0], fabs(out[r].score - mean));
		worst[1] = fmax(worst[1], fabs(out[r].variance / (g.solution.scale * g.unit * g.unit * variance) - 1.0));
	}
	ok(worst[0] < 1e-9, "the score is the posterior mean");
	ok(worst[1] < 1e-6, "the variance is the posterior's");
}

/* The variances of a regression carried by inducing inputs, against its root. */
static void
check_sparse(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_matrix	kuu = dev->create(dev, OTHERS, OTHERS, GP_DOUBLE);
	gp_matrix	kfu = dev->create(dev, TRAIN, OTHERS, GP_DOUBLE);
	gp_matrix	v = dev->create(dev, OTHERS, OTHERS, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, OTHERS, OTHERS, GP_DOUBLE);
	double		y[TRAIN];
	double		at[TRAIN + 2 * OTHERS];
	double		prior[OTHERS];
	double		variance[OTHERS];
	double		worst = 0.0;
	gp_sparse	s;
	float	   *root;

	for (int i = 0; i < TRAIN + 2 * OTHERS; i++)
		at[i] = 4.0 * draw_unit(&seed);
	for (int i = 0; i < TRAIN; i++)
		y[i] = sin(at[i]) + 0.2 * draw_unit(&seed);
	for (int j = 0; j < OTHERS; j++)
	{
		double		centre = 0.5 * j;

		for (int i = 0; i < TRAIN; i++)
			((double *) kfu.data)[i * kfu.ld + j] = exp(-(at[i] - centre) * (at[i] - centre));
		for (int i = 0; i < OTHERS; i++)
		{
			((double *) kuu.data)[i * kuu.ld + j] = exp(-(0.5 * i - centre) * (0.5 * i - centre));
			((double *) v.data)[i * v.ld + j] = exp(-(at[TRAIN + i] - centre) * (at[TRAIN + i] - centre));
		}
		prior[j] = 1.0;
	}
	s = gp_sparse_create(dev, kuu);
	gp_sparse_add(&s, kfu, y);
	gp_sparse_ready(&s);
	gp_sparse_solve(&s, 0.05);
	dev->transpose(dev, k, v);
	dev->trsm(dev, false, true, s.l, v);
	root = gp_sparse_root(&s);
	gp_sparse_trim(&s);
	gp_sparse_variances(&s, 0.05, v, prior, variance);
	gp_link_root_solve(dev, gp_matrix_wrap(root, gp_link_root_size(OTHERS), 1, GP_FLOAT), k);
	for (int i = 0; i < OTHERS; i++)
	{
		double		left = 1.0;

		for (int j = 0; j < OTHERS; j++)
			left -= ((double *) k.data)[j * k.ld + i] * ((double *) k.data)[j * k.ld + i];
		worst = fmax(worst, fabs(variance[i] - s.scale * left) / s.scale);
	}
	ok(worst < 1e-4 && s.scale > 0.0, "the variance is that of the packed root");
}

int
main(void)
{
	in_env(check_held(env, false, GP_LINK_SCORES));
	in_env(check_held(env, true, GP_LINK_SCORES));
	in_env(check_held(env, false, GP_LINK_PAIRS));
	in_env(check_unknown(env));
	in_env(check_regression(env));
	in_env(check_sparse(env));
	return done_testing();
}

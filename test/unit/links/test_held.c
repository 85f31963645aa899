/*
 * test_held.c - the pairs that folds hide: which they are, how they are predicted, and what they make.
 */
#include "links/links_internal.h"
#include "test_env.h"

#define NODES 102
#define PATIENTS 600
#define DOCTORS 60

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
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};

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
	check_figures(env, model);
}

/* A figure that no fold knows. */
static void
check_unknown(gp_env *env)
{
	gp_link_row row[] = {{0, 1, 0.9, 0.1, 0.0}, {0, 2, 0.2, 0.1, 0.0}, {1, 2, 0.8, 0.1, 0.0}, {1, 3, 0.1, 0.1, 0.0}};
	bool		linked[] = {true, false, true, false};
	bool		together[] = {true, true, false, true};
	gp_link_model model = {.curve = {-1.0, 2.0},
		.held = {4, row, linked, together, 2, {0, 2, 4}}};

	gp_link_held_judge(env, &model);
	close_to(model.metric[GP_LINK_METRIC_AUC_COMPONENT], 1.0, 0.0, "a fold that knows nothing does not count");
	close_to(row[0].probability, 1.0 / (1.0 + exp(-0.8)), 1e-15, "the probability is the curve's");
	together[0] = false;
	gp_link_held_judge(env, &model);
	ok(isnan(model.metric[GP_LINK_METRIC_AUC_COMPONENT]) && model.metric[GP_LINK_METRIC_AUC] == 1.0, "a figure that no fold knows is not known");
}

/*
 * Patients who visit doctors, the popular ones more often and, if planted, those of their kind: what
 * is promised is how well visits that are new rank among other pairs of a patient and a doctor.
 */
static void
check_sides(gp_env *env, bool planted, gp_link_method method)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_edges   *edges = gp_edges_create(env, PATIENTS + DOCTORS, false, false);
	gp_link_pairs pairs = gp_link_pairs_create(env, PATIENTS * DOCTORS);
	gp_link_problem p = {.method = method,.seed = 3,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};
	bool	   *linked = gp_alloc_zero(env, PATIENTS * DOCTORS, sizeof(bool));
	double	   *score = gp_alloc_zero(env, PATIENTS * DOCTORS, sizeof(double));
	int			within = 0;
	double		auc;
	double		unused;

	seed = 11;
	for (int32_t i = 0; i < PATIENTS; i++)
		for (int32_t j = 0; j < DOCTORS; j++)
		{
			int32_t		doctor = PATIENTS + j;
			double		rate = (planted ? (i % 4 == j % 4 ? 0.3 : 0.03) : 0.1) * (j < 15 ? 2.0 : 0.7);
			bool		visits = draw_unit(&seed) < rate;
			bool		later = draw_unit(&seed) < 0.15;

			if (visits && !later)
				gp_edges_add(edges, 1, &i, &doctor, NULL);
			else if (later)
			{
				linked[pairs.n] = visits;
				gp_link_pairs_add(&pairs, i, doctor);
			}
		}
	p.graph = gp_graph_build(edges);
	gp_link_model *model = gp_link_fit(dev, &p);
	gp_links   *links = gp_links_open(dev, model);
	gp_link_row *row = gp_alloc_zero(env, pairs.n, sizeof(gp_link_row));
	gp_links_score(links, pairs.n, pairs.src, pairs.dst, row);
	gp_links_close(links);
	for (int64_t e = 0; e < pairs.n; e++)
		score[e] = row[e].score;
	gp_ranking_metrics(env, pairs.n, score, linked, &auc, &unused);
	for (int64_t e = 0; e < model->held.n; e++)
	{
		int32_t		i = model->held.row[e].src;
		int32_t		j = model->held.row[e].dst;

		/* Nobody knows the side of a node without links. */
		within += (i < PATIENTS) == (j < PATIENTS) &&
			p.graph->start[i + 1] > p.graph->start[i] && p.graph->start[j + 1] > p.graph->start[j];
	}
	is_int(within, 0, "no pair of two patients is held out");
	close_to(model->metric[GP_LINK_METRIC_AUC], auc, planted ? 0.03 : 0.05, "the AUC that new links have is promised");
}

/* Three patients who visit all doctors: two patients are the only pairs without a link. */
static void
check_complete(gp_env *env, gp_link_method method)
{
	gp_edges   *edges = gp_edges_create(env, 3 + DOCTORS, false, false);
	gp_link_problem p = {.method = method,.seed = 3,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};

	for (int32_t i = 0; i < 3; i++)
		for (int32_t j = 3; j < 3 + DOCTORS; j++)
			gp_edges_add(edges, 1, &i, &j, NULL);
	p.graph = gp_graph_build(edges);
	gp_link_model *model = gp_link_fit(gp_device_cpu(env, 1), &p);
	ok(model->metric[GP_LINK_METRIC_AUC] > 0.5, "two complete sides are learnt");
}

int
main(void)
{
	in_env(check_sides(env, false, GP_LINK_SCORES));
	in_env(check_sides(env, true, GP_LINK_SCORES));
	in_env(check_sides(env, true, GP_LINK_PAIRS));
	in_env(check_held(env, false, GP_LINK_SCORES));
	in_env(check_held(env, true, GP_LINK_SCORES));
	in_env(check_held(env, false, GP_LINK_PAIRS));
	in_env(check_complete(env, GP_LINK_SCORES));
	in_env(check_complete(env, GP_LINK_PAIRS));
	in_env(check_unknown(env));
	return done_testing();
}

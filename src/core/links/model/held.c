/*
 * held.c - the pairs that folds hide from themselves, and the figures that they give.
 *
 * A link that is taken out may cut the graph in two.  A pair of two components can be told by its
 * ends alone, so auc_component counts the pairs of one component only.
 */
#include "links/search/rules.h"

/* Lists the pairs of the folds, and adds them to the counts of their topology. */
static void
list_pairs(gp_env *env, const gp_link_fold *fold, int folds, int64_t *topology,
		   gp_link_held *held)
{
	for (int f = 0; f < folds; f++)
		held->n += fold[f].pairs.n;
	held->row = gp_alloc_zero(env, held->n, sizeof(gp_link_row));
	held->linked = gp_alloc_zero(env, held->n, sizeof(bool));
	held->together = gp_alloc_zero(env, held->n, sizeof(bool));
	for (int f = 0; f < folds; f++)
	{
		int64_t		first = held->first[held->folds++];

		for (int64_t e = 0; e < fold[f].pairs.n; e++)
		{
			held->row[first + e].src = fold[f].pairs.src[e];
			held->row[first + e].dst = fold[f].pairs.dst[e];
			held->linked[first + e] = e < fold[f].links;
		}
		held->first[held->folds] = first + fold[f].pairs.n;
		gp_link_topology_count(env, &fold[f], topology, held->together + first);
	}
}

static void
free_rules(gp_env *env, gp_link_prepared *prepared)
{
	if (prepared->rules)
		gp_link_rules_close(env, prepared->rules);
	gp_free(env, prepared->rules);
	prepared->rules = NULL;
}

gp_link_prepared
gp_link_prepared_make(gp_env *env, const gp_graph *graph, gp_link_fold *fold, int folds)
{
	gp_link_prepared prepared = {
		.topology = gp_alloc_zero(env, GP_LINK_TOPOLOGY_COUNTS, sizeof(int64_t))
	};
	int64_t		unused[GP_LINK_TOPOLOGY_COUNTS] = {0};

	list_pairs(env, fold, folds, prepared.topology, &prepared.held);
	prepared.rules = gp_link_rules_learn(env, graph, prepared.topology);
	if (prepared.rules == NULL)
		return prepared;
	for (int f = 0; f < folds && prepared.rules; f++)
		if (!gp_link_fold_redraw(env, graph, prepared.rules, &fold[f]))
			free_rules(env, &prepared);
	gp_link_held_free(env, &prepared.held);
	list_pairs(env, fold, folds, unused, &prepared.held);
	return prepared;
}

void
gp_link_prepared_free(gp_env *env, gp_link_prepared *prepared)
{
	gp_link_held_free(env, &prepared->held);
	free_rules(env, prepared);
	gp_free(env, prepared->topology);
	gp_features_free(env, prepared->features);
}

void
gp_link_held_free(gp_env *env, gp_link_held *held)
{
	gp_free_all(env, held->row, held->linked, held->together);
	memset(held, 0, sizeof(*held));
}

/* The mean of the folds that know a figure; NaN of none. */
static double
mean_of(const double *value, int folds)
{
	double		sum = 0.0;
	int			known = 0;

	for (int f = 0; f < folds; f++)
		known += !isnan(value[f]);
	for (int f = 0; f < folds; f++)
		if (!isnan(value[f]))
			sum += value[f] / known;
	return known > 0 ? sum : NAN;
}

/*
 * The scores and labels of a fold's pairs, of all or of those within one component; returns how
 * many.
 */
static int64_t
fold_scores(const gp_link_held *held, int fold, bool all, double *score, bool *label)
{
	int64_t		n = 0;

	for (int64_t e = held->first[fold]; e < held->first[fold + 1]; e++)
		if (all || held->together[e])
		{
			score[n] = held->row[e].score;
			label[n++] = held->linked[e];
		}
	return n;
}

void
gp_link_held_judge(gp_env *env, gp_link_model *model)
{
	const gp_link_held *held = &model->held;
	const gp_link_ranks *ranks = &held->ranks;
	double		links = ranks->links > 0 ? (double) ranks->links : NAN;
	double	   *score = gp_alloc_array(env, held->n, sizeof(double));
	bool	   *label = gp_alloc_array(env, held->n, sizeof(bool));
	double		auc[GP_LINK_FOLDS];
	double		precision[GP_LINK_FOLDS];
	double		within[GP_LINK_FOLDS];
	double		unused;

	for (int f = 0; f < held->folds; f++)
	{
		gp_ranking_metrics(env, fold_scores(held, f, true, score, label), score, label, &auc[f],
						   &precision[f]);
		gp_ranking_metrics(env, fold_scores(held, f, false, score, label), score, label, &within[f],
						   &unused);
	}
	model->metric[GP_LINK_METRIC_AUC] = mean_of(auc, held->folds);
	model->metric[GP_LINK_METRIC_PRECISION] = mean_of(precision, held->folds);
	model->metric[GP_LINK_METRIC_AUC_COMPONENT] = mean_of(within, held->folds);
	/* The figures of ranks; NaN without a link. */
	model->metric[GP_LINK_METRIC_MRR] = ranks->reciprocal / links;
	model->metric[GP_LINK_METRIC_HITS_1] = ranks->hits[0] / links;
	model->metric[GP_LINK_METRIC_HITS_10] = ranks->hits[1] / links;
	model->metric[GP_LINK_METRIC_HITS_20] = ranks->hits[2] / links;
	model->metric[GP_LINK_METRIC_MRR_COMMON] = ranks->common / links;
	model->metric[GP_LINK_METRIC_MRR_ALLOCATION] = ranks->allocation / links;
	model->metric[GP_LINK_METRIC_MRR_ATTACHMENT] = ranks->attachment / links;
	for (int64_t e = 0; e < held->n; e++)
		held->row[e].probability = gp_link_probability(&model->curve, held->row[e].score);
	gp_free_all(env, label, score);
}

const char *
gp_link_metric_name(gp_link_metric metric)
{
	static const char *const names[] = {
		[GP_LINK_METRIC_AUC] = "auc",
		[GP_LINK_METRIC_PRECISION] = "average_precision",
		[GP_LINK_METRIC_AUC_COMPONENT] = "auc_component",
		[GP_LINK_METRIC_MRR] = "mrr",
		[GP_LINK_METRIC_HITS_20] = "hits_at_20",
		[GP_LINK_METRIC_HITS_1] = "hits_at_1",
		[GP_LINK_METRIC_HITS_10] = "hits_at_10",
		[GP_LINK_METRIC_MRR_COMMON] = "mrr_common_neighbours",
		[GP_LINK_METRIC_MRR_ALLOCATION] = "mrr_resource_allocation",
		[GP_LINK_METRIC_MRR_ATTACHMENT] = "mrr_preferential_attachment"
	};

	return names[metric];
}

/*
 * trial.c - the pairs that folds hide from themselves, and what they say of a model.
 *
 * Each pair is scored on a graph without the links of its fold, and predicted by what the other
 * folds teach.  A link that is taken out may cut the graph in two.  A pair of two components can be
 * told by its ends alone, so auc_component counts the pairs of one component only.
 */
#include "regression/regression.h"
#include "links/links_internal.h"

gp_link_prepared
gp_link_prepared_make(gp_env *env, const gp_link_fold *fold, int folds)
{
	gp_link_prepared prepared = {
		.topology = gp_alloc_zero(env, GP_LINK_TOPOLOGY_COUNTS, sizeof(int64_t))
	};
	gp_link_held *held = &prepared.held;

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
		gp_link_topology_count(env, &fold[f], prepared.topology, held->together + first);
	}
	return prepared;
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
	for (int64_t e = 0; e < held->n; e++)
		held->row[e].probability = gp_link_probability(&model->curve, held->row[e].score);
	gp_free_all(env, label, score);
}

gp_link_trial
gp_link_trial_open(gp_env *env, const gp_link_held *held)
{
	gp_link_trial t = {.row = gp_alloc_array(env, held->n, sizeof(gp_link_row))};

	memcpy(t.row, held->row, held->n * sizeof(gp_link_row));
	return t;
}

void
gp_link_trial_free(gp_env *env, gp_link_trial *t)
{
	for (int f = 0; f < GP_LINK_FOLDS; f++)
		gp_free(env, t->calibration[f]);
	gp_free_all(env, t->row, t->logit_on_fold, t->logit_on_whole);
}

void
gp_link_trial_rank(gp_env *env, gp_link_trial *t, const gp_link_fold *fold, int f,
				   const double *logit)
{
	int64_t		n = fold->calibration.pairs.n;

	gp_link_rivals_rank(&fold->rivals, logit, &t->ranks);
	t->calibration[f] = gp_alloc_array(env, n, sizeof(double));
	memcpy(t->calibration[f], logit + fold->rivals.pairs.n, n * sizeof(double));
}

void
gp_link_trial_take(gp_link_trial *t, const gp_link_held *held, const gp_link_fold *fold, int f,
				   gp_link_logistic *l, int64_t first, const double *logit)
{
	gp_env	   *env = l->dev->env;
	int64_t		n = fold->pairs.n;
	gp_link_row *row = t->row + held->first[f];
	double	   *variance = gp_alloc_zero(env, n, sizeof(double));

	gp_link_logistic_variances(l, first, n, variance);
	for (int64_t e = 0; e < n; e++)
	{
		row[e].score = l->logit[first + e];
		row[e].variance = variance[e];
		t->loss += gp_link_loss(e < fold->links, row[e].score);
	}
	gp_free(env, variance);
	gp_link_trial_rank(env, t, fold, f, logit);
}

void
gp_link_trial_judge(gp_env *env, const gp_link_trial *t, const gp_link_fold *fold, int folds,
					double share, gp_link_model *model)
{
	memcpy(model->held.row, t->row, model->held.n * sizeof(gp_link_row));
	model->held.ranks = t->ranks;
	gp_link_calibrate_model(env, fold, folds, t, share, model);
	gp_link_held_judge(env, model);
}

void
gp_link_fold_free(gp_env *env, gp_link_fold *fold)
{
	gp_graph_free(env, fold->graph);
	gp_link_pairs_free(env, &fold->pairs);
	gp_link_rivals_free(env, &fold->rivals);
	gp_calibration_pairs_free(env, &fold->calibration);
	memset(fold, 0, sizeof(*fold));
}

void
gp_link_held_free(gp_env *env, gp_link_held *held)
{
	gp_free_all(env, held->row, held->linked, held->together);
	memset(held, 0, sizeof(*held));
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
		[GP_LINK_METRIC_MRR_ALLOCATION] = "mrr_resource_allocation"
	};

	return names[metric];
}

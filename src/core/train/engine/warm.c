/*
 * warm.c - what a training leaves for the next one of the same model.
 */
#include "engine.h"

#include "base/sort.h"

#include <string.h>

/* Room of these sizes in one block: the longest elements first. */
gp_warm *
gp_warm_create(gp_env *env, gp_warm sizes)
{
	int64_t		floats = gp_size_mul(env, sizes.sets, sizes.values) + gp_size_mul(env, sizes.nsample, sizes.inputs);
	int64_t		bytes = sizeof(gp_warm) + (sizes.nheld + sizes.nsample) * sizeof(uint64_t) +
		floats * sizeof(float) + sizes.nheld * sizeof(int32_t);
	gp_warm    *w = gp_alloc_figures(env, bytes, 1);

	if (env->dry)
		return w;
	*w = sizes;
	w->held = (uint64_t *) (w + 1);
	w->sample = w->held + sizes.nheld;
	w->value = (float *) (w->sample + sizes.nsample);
	w->input = w->value + sizes.sets * sizes.values;
	w->part = (int32_t *) (w->input + sizes.nsample * sizes.inputs);
	return w;
}

/* The place of a key. */
int64_t
gp_warm_find(const uint64_t *key, int64_t n, uint64_t wanted)
{
	int64_t		low = 0;
	int64_t		high = n;

	while (low < high)
	{
		int64_t		middle = low + (high - low) / 2;

		if (key[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && key[low] == wanted ? low : -1;
}

/* The key of a node. */
uint64_t
gp_warm_node(const uint64_t *key, int64_t node)
{
	return key ? key[node] : (uint64_t) node;
}

/* The key of a pair. */
uint64_t
gp_warm_pair(uint64_t a, uint64_t b)
{
	return gp_hash(gp_hash(a < b ? a : b) ^ (a < b ? b : a));
}

/* How many there are. */
int64_t
gp_trainer_values(const gp_trainer *t)
{
	int64_t		values = 0;

	for (int k = 0; k < t->nparameters; k++)
		values += t->parameter[k]->value.rows * t->parameter[k]->value.cols;
	return values;
}

/* Reads the parameters into a set, or sets them from it. */
static void
exchange(gp_trainer *t, const gp_warm *warm, int64_t set, bool set_them)
{
	float	   *at;

	if (t->env->dry)
		return;
	at = warm->value + set * warm->values;
	for (int k = 0; k < t->nparameters; k++)
	{
		gp_matrix	value = t->parameter[k]->value;
		gp_matrix	host = gp_matrix_wrap(at, value.rows, value.cols, GP_FLOAT);

		if (set_them)
			t->dev->upload(t->dev, value, host);
		else
			t->dev->download(t->dev, host, value);
		at += value.rows * value.cols;
	}
}

/* Reads the parameters. */
void
gp_trainer_leave(gp_trainer *t, gp_warm *warm, int64_t set)
{
	exchange(t, warm, set, false);
}

/* Sets the parameters. */
void
gp_trainer_start(gp_trainer *t, const gp_warm *warm, int64_t set)
{
	exchange(t, warm, set, true);
}

/* ---- labels that are held out ---- */

/* The fold that has the fewest of a class, the fewest of all among those. */
static int32_t
emptiest(const int64_t *of_class, const int64_t *of_all, int folds)
{
	int32_t		best = 0;

	for (int32_t f = 1; f < folds; f++)
		if (of_class[f] < of_class[best] || (of_class[f] == of_class[best] && of_all[f] < of_all[best]))
			best = f;
	return best;
}

/* Deals labels. */
int32_t *
gp_warm_deal(gp_env *env, const gp_problem *problem, const gp_warm *before, int folds)
{
	int64_t		n = problem->nlabelled;
	int32_t		classes = problem->label ? problem->nclasses : 1;
	int32_t    *fold = gp_alloc_figures(env, n, sizeof(int32_t));
	int64_t    *count = gp_alloc_zero(env, (classes + 1) * (int64_t) folds, sizeof(int64_t));
	int64_t    *all = count + classes * (int64_t) folds;

	for (int known = 1; known >= 0 && !env->dry; known--)
		for (int64_t k = 0; k < n; k++)
		{
			int64_t    *of_class = count + (problem->label ? problem->label[k] : 0) * (int64_t) folds;
			int64_t		place = gp_warm_find(before->held, before->nheld, gp_warm_node(problem->key, problem->labelled[k]));

			if (place >= 0 && (before->part[place] < 0 || before->part[place] >= folds))
				place = -1;
			if ((place >= 0) != known)
				continue;
			fold[k] = known ? before->part[place] : emptiest(of_class, all, folds);
			of_class[fold[k]]++;
			all[fold[k]]++;
		}
	gp_free(env, count);
	return fold;
}

/* A key, and the set that has not seen it; of now, or of before. */
typedef struct held
{
	uint64_t	key;
	int32_t		part;
	bool		before;
} held;

/* By key, what is of now first. */
static int
compare_held(const void *a, const void *b, void *unused)
{
	const held *x = a;
	const held *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (int) x->before - (int) y->before;
}

/* What is left, with who was held out. */
gp_warm *
gp_warm_hold(gp_env *env, const gp_problem *problem, const gp_warm *before, const int32_t *fold,
			 int64_t sets, int64_t values)
{
	int64_t		old = before ? before->nheld : 0;
	int64_t		n = problem->nlabelled;
	held	   *all = gp_alloc_figures(env, n + old, sizeof(held));
	int64_t		kept = 0;
	gp_warm    *left;

	for (int64_t k = 0; k < n + old && !env->dry; k++)
		all[k] = k < n ? (held) {gp_warm_node(problem->key, problem->labelled[k]), fold[k], false} :
			(held) {before->held[k - n], before->part[k - n], true};
	if (!env->dry)
		gp_sort(env, all, n + old, sizeof(held), compare_held, NULL);
	for (int64_t k = 0; k < n + old && !env->dry; k++)
		if (kept == 0 || all[k].key != all[kept - 1].key)
			all[kept++] = all[k];
	left = gp_warm_create(env, (gp_warm) {.sets = sets,.values = values,.nheld = env->dry ? n + old : kept});
	for (int64_t k = 0; k < kept; k++)
	{
		left->held[k] = all[k].key;
		left->part[k] = all[k].part;
	}
	gp_free(env, all);
	return left;
}

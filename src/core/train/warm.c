/*
 * warm.c - labels that are held out, and what a training leaves for the next one of the same model.
 */
#include "engine/engine.h"

#include "base/sort.h"
#include "kernel/kernel.h"

int64_t
gp_warm_find(const uint64_t *key, int64_t n, uint64_t wanted)
{
	int64_t		low = 0;

	GP_BISECT(low, n, at, key[at] < wanted);
	return low < n && key[low] == wanted ? low : -1;
}

/* The key of a node, key being NULL where the caller knows none. */
static uint64_t
node_key(const uint64_t *key, int64_t node)
{
	return key ? key[node] : (uint64_t) node;
}

/* ---- parameters ---- */

int64_t
gp_trainer_values(const gp_trainer *t)
{
	int64_t		values = 0;

	for (int k = 0; k < t->nparameters; k++)
		values += t->parameter[k]->value.rows * t->parameter[k]->value.cols;
	return values;
}

void
gp_trainer_exchange(gp_trainer *t, const gp_warm *warm, int64_t set, bool leave)
{
	float	   *at = t->env->dry ? NULL : warm->value + set * warm->values;

	for (int k = 0; k < t->nparameters && at; k++)
	{
		gp_matrix	value = t->parameter[k]->value;
		gp_matrix	host = gp_matrix_wrap(at, value.rows, value.cols, GP_FLOAT);

		if (leave)
			t->dev->download(t->dev, host, value);
		else
			t->dev->upload(t->dev, value, host);
		at += value.rows * value.cols;
	}
}

/* ---- labels that are held out ---- */

int32_t *
gp_folds_deal(gp_env *env, int64_t n, const int32_t *label, int folds, uint64_t seed)
{
	int32_t    *fold = gp_alloc_figures(env, n, sizeof(int32_t));
	int32_t    *order = gp_shuffle(env, n, seed, NULL);
	int32_t		classes = 1;

	for (int64_t k = 0; label && k < gp_items(env, n); k++)
		classes = (int32_t) gp_max64(classes, label[k] + 1);
	/* The place of the next label of each class, one class behind the other */
	int64_t    *place = gp_alloc_zero(env, classes + 1, sizeof(int64_t));
	for (int64_t k = 0; label && k < gp_items(env, n); k++)
		place[label[k] + 1]++;
	gp_offsets_of_counts(place, classes);
	for (int64_t k = 0; k < gp_items(env, n); k++)
		fold[order[k]] = (int32_t) (place[label ? label[order[k]] : 0]++ % folds);
	gp_free_all(env, place, order);
	return fold;
}

int32_t *
gp_warm_deal(gp_env *env, const gp_problem *problem, const gp_warm *before, int folds)
{
	int64_t		n = problem->nlabelled;
	int32_t		classes = problem->label ? problem->nclasses : 1;
	int32_t    *fold = gp_alloc_figures(env, n, sizeof(int32_t));
	int64_t    *count = gp_alloc_zero(env, (classes + 1) * (int64_t) folds, sizeof(int64_t));
	int64_t    *all = count + classes * (int64_t) folds;

	for (int known = 1; known >= 0; known--)
		for (int64_t k = 0; k < gp_items(env, n); k++)
		{
			int64_t    *of_class = count + (problem->label ? problem->label[k]
											: 0) * (int64_t) folds;
			int64_t		at = gp_warm_find(before->held, before->nheld,
										  node_key(problem->key, problem->labelled[k]));
			int32_t		best = at < 0 ? -1 : before->part[at];

			if ((best >= 0 && best < folds) != known)
				continue;
			/* the fold that has the fewest of the class, the fewest of all among those */
			for (int32_t f = best = known ? best : 0; f < folds && !known; f++)
				if (of_class[f] < of_class[best] ||
					(of_class[f] == of_class[best] && all[f] < all[best]))
					best = f;
			fold[k] = best;
			of_class[best]++;
			all[best]++;
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

gp_warm *
gp_warm_hold(gp_env *env, const gp_problem *problem, const gp_warm *before, const int32_t *fold,
			 int64_t sets, int64_t values)
{
	int64_t		n = problem->nlabelled;
	int64_t		count = n + (before ? before->nheld : 0);
	held	   *all = gp_alloc_figures(env, count, sizeof(held));
	int64_t		kept = 0;

	for (int64_t k = 0; k < gp_items(env, count); k++)
		all[k] = k < n ? (held) {node_key(problem->key, problem->labelled[k]), fold[k], false} :
			(held) {before->held[k - n], before->part[k - n], true};
	if (!env->dry)
		gp_sort(env, all, count, sizeof(held), compare_held, NULL);
	for (int64_t k = 0; k < gp_items(env, count); k++)
		if (kept == 0 || all[k].key != all[kept - 1].key)
			all[kept++] = all[k];
	/* one block of memory */
	int64_t		nheld = env->dry ? count : kept;
	int64_t		floats = gp_size_mul(env, sets, values);
	gp_warm    *left = gp_alloc_figures(env, sizeof(gp_warm) + floats * sizeof(float) +
										nheld * (sizeof(uint64_t) + sizeof(int32_t)), 1);
	if (!env->dry)
	{
		*left = (gp_warm) {.sets = sets,.values = values,.nheld = nheld};
		left->held = (uint64_t *) (left + 1);
		left->value = (float *) (left->held + nheld);
		left->part = (int32_t *) (left->value + floats);
	}
	for (int64_t k = 0; k < kept; k++)
	{
		left->held[k] = all[k].key;
		left->part[k] = all[k].part;
	}
	gp_free(env, all);
	return left;
}

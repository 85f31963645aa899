/*
 * gckm_folds.c - labels that are held out in turn.
 *
 * Components that were fine-tuned have seen the labels, so that leaving one out of the last
 * layer alone would prove nothing: each fold is fine-tuned without its labels.
 */
#include "gckm.h"

#include "base/sort.h"

/* A label with its place in the draw. */
typedef struct drawn
{
	int32_t		class;
	int32_t		number;
	uint64_t	draw;
} drawn;

/* By class, then by the draw, so that every class is dealt to all folds. */
static int
compare_drawn(const void *a, const void *b, void *unused)
{
	const drawn *x = a;
	const drawn *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->draw != y->draw)
		return x->draw < y->draw ? -1 : 1;
	return x->number - y->number;
}

/* The fold of each label. */
int32_t *
gp_folds_deal(gp_env *env, int64_t n, const int32_t *label, int folds, uint64_t seed)
{
	int32_t    *fold = gp_alloc_figures(env, n, sizeof(int32_t));
	drawn	   *d = gp_alloc_figures(env, n, sizeof(drawn));

	for (int64_t k = 0; k < n && !env->dry; k++)
		d[k] = (drawn) {label ? label[k] : 0, (int32_t) k, gp_hash(seed ^ gp_hash((uint64_t) k))};
	if (!env->dry)
		gp_sort(env, d, n, sizeof(drawn), compare_drawn, NULL);
	else
		gp_free(env, gp_alloc_figures(env, n / 2, sizeof(drawn)));
	for (int64_t k = 0; k < n && !env->dry; k++)
		fold[d[k].number] = (int32_t) (k % folds);
	gp_free(env, d);
	return fold;
}

/* The labels that are not of a fold, in arrays of their own. */
gp_rkm
gp_folds_without(gp_env *env, const gp_rkm *rkm, const int32_t *fold, int f, int folds)
{
	int64_t		n = rkm->nlabelled;
	int64_t		kept = n - (n - f + folds - 1) / folds;
	int32_t    *labelled = gp_alloc_figures(env, kept, sizeof(int32_t));
	int32_t    *label = gp_alloc_figures(env, kept, sizeof(int32_t));
	gp_rkm		out = *rkm;

	out.nlabelled = kept;
	out.labelled = labelled;
	out.label = label;
	kept = 0;
	for (int64_t k = 0; k < n && !env->dry; k++)
		if (fold[k] != f)
		{
			labelled[kept] = rkm->labelled[k];
			label[kept++] = rkm->label[k];
		}
	return out;
}

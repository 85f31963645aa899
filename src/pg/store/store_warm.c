/*
 * store_warm.c - writing and reading what a training left.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "store.h"
#include "store_arrays.h"
#include "store_live.h"

#define WARM "warm"

/* The arrays. */
enum warm_array
{
	WARM_SIZES, WARM_HELD, WARM_PARTS, WARM_VALUES, WARM_ARRAYS
};

static const int warm_element[WARM_ARRAYS] = {
	GP_ARRAY_I64, GP_ARRAY_U64, GP_ARRAY_I32, GP_ARRAY_F32
};

/* The numbers of WARM_SIZES. */
enum warm_size
{
	SIZE_LIKE, SIZE_SETS, SIZE_VALUES, SIZE_HELD, SIZES
};

#define MOST_SETS 64			/* of parameters: folds, and all */

uint64
gnngp_warm_like(uint64 graph_shape, int32 nclasses, char *const *class_label)
{
	uint64		like = graph_shape;

	for (int32 c = 0; c < nclasses; c++)
		like = hash_bytes_extended((const unsigned char *) class_label[c],
								   (int) strlen(class_label[c]), like);
	return like;
}

/* What each array has to hold. */
static void
count_elements(const gp_warm *w, int64 *count)
{
	count[WARM_SIZES] = SIZES;
	count[WARM_HELD] = count[WARM_PARTS] = w->nheld;
	count[WARM_VALUES] = w->sets * w->values;
}

void
gnngp_warm_write(const gnngp_model *model, uint64 like, const gp_warm *warm)
{
	int64		sizes[SIZES] = {(int64) like, warm->sets, warm->values, warm->nheld};
	const void *data[WARM_ARRAYS] = {sizes, warm->held, warm->part, warm->value};
	int64		count[WARM_ARRAYS];

	count_elements(warm, count);
	gnngp_arrays_save(model, WARM, WARM_ARRAYS, warm_element, count, data, NULL);
}

gp_warm *
gnngp_warm_read(gp_env *env, const gnngp_model *model, uint64 like)
{
	gnngp_identity saved = gnngp_become_extension();
	gp_warm    *w = gp_alloc_zero(env, 1, sizeof(gp_warm));
	gp_link_array array[WARM_ARRAYS];
	bool		found = gnngp_arrays_load(env, model, WARM, WARM_ARRAYS, warm_element, array, NULL);
	int64		count[WARM_ARRAYS];
	bool		bad = false;

	gnngp_become_again(&saved);
	if (!found)
		return NULL;
	if (array[WARM_SIZES].count != SIZES)
		gnngp_arrays_damaged(model, WARM);
	const int64 *size = array[WARM_SIZES].data;
	*w = (gp_warm) {.sets = size[SIZE_SETS],.values = size[SIZE_VALUES],.nheld = size[SIZE_HELD],
	.held = array[WARM_HELD].data,.part = array[WARM_PARTS].data,.value = array[WARM_VALUES].data};
	if (w->sets < 1 || w->sets > MOST_SETS || w->values < 0 ||
		w->values > PG_INT64_MAX / MOST_SETS || w->nheld < 0)
		gnngp_arrays_damaged(model, WARM);
	count_elements(w, count);
	for (int k = 0; k < WARM_ARRAYS && !bad; k++)
		bad = array[k].count != count[k];
	/* Keys ascend, sets exist, and numbers are numbers. */
	for (int64 k = 0; k < w->nheld && !bad; k++)
		bad = w->part[k] < 0 || w->part[k] >= w->sets || (k > 0 && w->held[k] < w->held[k - 1]);
	for (int64 k = 0; k < w->sets * w->values && !bad; k++)
		bad = !isfinite(w->value[k]);
	if (bad)
		gnngp_arrays_damaged(model, WARM);
	if ((uint64) size[SIZE_LIKE] == like)
		return w;
	gp_notice(env, NULL, "the training starts over: columns or classes have changed");
	return NULL;
}

/*
 * categories.c - what values of columns are told apart by, and how often each is there.
 */
#include "encoding_internal.h"

#include "base/sort.h"

uint64_t
gp_category_of_number(double number)
{
	uint64_t	bits;

	number += 0.0;				/* both zeros are one */
	memcpy(&bits, &number, sizeof(bits));
	bits = gp_hash(bits);
	return bits == GP_CATEGORY_NULL ? bits + 1 : bits;
}

uint64_t
gp_category_of_cell(gp_cell_kind kind, const gp_cell *cell)
{
	if (cell->null)
		return GP_CATEGORY_NULL;
	return gp_cell_is_word(kind) ? cell->word : gp_category_of_number(cell->number);
}

static int
compare_values(const void *a, const void *b, void *unused)
{
	uint64_t	x = ((const gp_tallied *) a)->value;
	uint64_t	y = ((const gp_tallied *) b)->value;

	return (x > y) - (x < y);
}

/* The most frequent first; ties by value. */
static int
compare_counts(const void *a, const void *b, void *unused)
{
	int64_t		x = ((const gp_tallied *) a)->count;
	int64_t		y = ((const gp_tallied *) b)->count;

	return x != y ? (x < y) - (x > y) : compare_values(a, b, NULL);
}

int64_t
gp_tally(gp_env *env, int64_t n, const gp_kept_value *value, gp_tallied *out)
{
	int64_t		different = 0;

	for (int64_t i = 0; i < n; i++)
		out[i] = (gp_tallied) {value[i].category, 1};
	gp_sort(env, out, n, sizeof(gp_tallied), compare_values, NULL);
	for (int64_t i = 0; i < n; i++)
		if (different > 0 && out[different - 1].value == out[i].value)
			out[different - 1].count++;
		else
			out[different++] = out[i];
	gp_sort(env, out, different, sizeof(gp_tallied), compare_counts, NULL);
	return different;
}

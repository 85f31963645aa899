/*
 * store_figures.c - the figures of a whole fit, and the scores of its labels.
 *
 * The sections "figure" and "link_figure" are lists of arrays.  A figure is known by its
 * place: new ones come at the end.
 */
#include "postgres.h"

#include "store_arrays.h"
#include "store_links.h"

enum figure_array
{
	FIGURE_METRICS, FIGURE_SCORES, FIGURE_CLASSES, FIGURE_ARRAYS
};

static const int figure_element[FIGURE_ARRAYS] = {GP_ARRAY_F64, GP_ARRAY_F64, GP_ARRAY_I32};

#define MOST_SCORES (INT64CONST(1) << 20)	/* more are thinned out: quantiles to 1e-6 */

void
gnngp_figures_write(const gnngp_model *model, const gp_posterior *posterior)
{
	int64		n = posterior->loo.n;
	int64		nscores = Min(n, MOST_SCORES);
	double	   *score = palloc(sizeof(double) * Max(nscores, 1));
	int32	   *class = palloc(sizeof(int32) * Max(nscores, 1));
	const int64 count[FIGURE_ARRAYS] = {GP_METRICS + 1, nscores, nscores};
	double		metric[GP_METRICS + 1];	/* and the least value */
	const void *const data[FIGURE_ARRAYS] = {metric, score, class};

	memcpy(metric, posterior->metric, sizeof(posterior->metric));
	metric[GP_METRICS] = posterior->least;
	for (int64 i = 0; i < nscores; i++)
	{
		score[i] = posterior->loo.nonconformity[i * n / nscores];
		class[i] = posterior->loo.nonconformity_class[i * n / nscores];
	}
	gnngp_arrays_save(model, "figure", FIGURE_ARRAYS, figure_element, count, data, NULL);
	pfree(score);
	pfree(class);
}

void
gnngp_link_figures_write(const gnngp_model *model, const double *metric)
{
	const int64 count = GP_LINK_METRICS;
	const void *const data = metric;

	gnngp_arrays_save(model, "link_figure", 1, figure_element, &count, &data, NULL);
}

/* Reads n figures, NaN where fewer were stored, and all arrays. */
static void
read_figures(const gnngp_model *model, const char *section, double *metric, int64 n,
			 gp_link_array *array)
{
	(void) gnngp_arrays_load(gnngp_env_create(CurrentMemoryContext), model, section, FIGURE_ARRAYS,
							 figure_element, array, NULL);
	for (int64 i = 0; i < n; i++)
		metric[i] = i < array[FIGURE_METRICS].count ? ((double *) array[FIGURE_METRICS].data)[i]
			: NAN;
}

void
gnngp_figures_read(const gnngp_model *model, gnngp_figures *figures)
{
	double		metric[GP_METRICS + 1];
	gp_link_array array[FIGURE_ARRAYS];

	read_figures(model, "figure", metric, GP_METRICS + 1, array);
	memcpy(figures->metric, metric, sizeof(figures->metric));
	figures->least = metric[GP_METRICS];
	figures->n = array[FIGURE_SCORES].count;
	figures->score = array[FIGURE_SCORES].data;
	figures->class = array[FIGURE_CLASSES].data;
	for (int64 i = 0; i < figures->n; i++)
		if (array[FIGURE_CLASSES].count != figures->n || figures->class[i] < 0 ||
			figures->class[i] >= Max(model->classes, 1))
			gnngp_arrays_damaged(model, "figure");
}

void
gnngp_link_figures_read(const gnngp_model *model, double *metric)
{
	gp_link_array array[FIGURE_ARRAYS];

	read_figures(model, "link_figure", metric, GP_LINK_METRICS, array);
}

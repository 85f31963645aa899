/*
 * cpu_entries.c - single elements of matrices on the CPU.
 *
 * Scores of pairs are read out of blocks that hold whole columns, and a link
 * that is to be ignored changes a column in two places.
 */
#include "cpu_internal.h"

#define TAKE_ENTRIES (INT64_C(1) << 14)	/* of a tile; most miss the cache */

typedef struct take_job
{
	gp_matrix	m;
	int64_t		n;
	const int32_t *row;
	const int32_t *col;
	double	   *out;
} take_job;

/* Reads one tile of elements. */
static void
take_tile(void *arg, int64_t tile, int worker)
{
	take_job   *job = arg;
	int64_t		end = gp_min64(job->n, (tile + 1) * TAKE_ENTRIES);

	if (job->m.type == GP_FLOAT)
		for (int64_t e = tile * TAKE_ENTRIES; e < end; e++)
			job->out[e] = ((const float *) job->m.data)[job->row[e] * job->m.ld + job->col[e]];
	else
		for (int64_t e = tile * TAKE_ENTRIES; e < end; e++)
			job->out[e] = ((const double *) job->m.data)[job->row[e] * job->m.ld + job->col[e]];
}

void
gp_cpu_take(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			double *out)
{
	take_job	job = {m, n, row, col, out};

	gp_cpu_run(dev, take_tile, &job, (n + TAKE_ENTRIES - 1) / TAKE_ENTRIES);
}

void
gp_cpu_put(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
		   const double *value)
{
	GP_EACH(dev->env, e, n, e)
		gp_number_put(m.data, m.type, row[e] * m.ld + col[e], value[e]);
}

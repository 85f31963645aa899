/*
 * time_blocks.c - the regression judged by leaving out blocks of time.
 *
 * Rows of one entity a month apart give each other's labels away, so that leave-one-out prefers
 * models that merely recognise the entity.  A block much longer than labels stay correlated is left
 * out as a whole, from the Gram matrices of the blocks; the same matrices give the predictions of
 * the past alone.
 */
#include "solution.h"

#define GRID 5
#define REFINE 5				/* further nuggets, at most */
/* of the labels comes before the first block that the past predicts */
#define PAST_SHARE 0.4

typedef struct blocks
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_targets *targets;
	double		mean_diag;
	gp_matrix	q;				/* m x r */
	int32_t		nblocks;
	int32_t    *order;			/* the labels, block by block */
	int64_t    *start;			/* of each block in it; nblocks + 1 */
	gp_matrix  *gram;			/* r x r of each block */
	gp_matrix  *right;			/* r x (columns + 1): P_b and s_b */
	double	   *sum;			/* nblocks x columns: y_b */
	gp_matrix	all_gram;		/* sums over all blocks */
	gp_matrix	all_right;
	gp_matrix	rest_gram;		/* what is left of them, */
	gp_matrix	rest_right;
	double	   *rest_sum;
	int64_t		rest;			/* of so many labels */
	gp_matrix	root;
	gp_matrix	w;				/* r x columns */
	double	   *mean;			/* m x columns: what the others say */
	double	   *leverage;		/* m: q_i' (rest + noise)^-1 q_i; NULL: not asked for */
	int32_t    *counted;		/* labels that count */
	int64_t		ncounted;
} blocks;

/* The labels in order of their blocks; in a block as they are. */
static void
order_labels(blocks *b)
{
	gp_env	   *env = b->dev->env;
	const int32_t *block = b->problem->block;

	b->order = gp_alloc_array(env, b->targets->m, sizeof(int32_t));
	b->start = gp_alloc_zero(env, (int64_t) b->nblocks + 1, sizeof(int64_t));
	int64_t    *next = gp_alloc_array(env, b->nblocks, sizeof(int64_t));
	for (int64_t i = 0; i < b->targets->m; i++)
		b->start[block[i] + 1]++;
	gp_offsets_of_counts(b->start, b->nblocks);
	memcpy(next, b->start, b->nblocks * sizeof(int64_t));
	for (int64_t i = 0; i < b->targets->m; i++)
		b->order[next[block[i]]++] = (int32_t) i;
	gp_free(env, next);
}

/* Rows of the factor of some labels, in double; to be destroyed. */
static gp_matrix
rows_of(blocks *b, const int32_t *index, int64_t n)
{
	gp_matrix	rows = gp_gather(b->dev, b->q, index, n);

	if (b->q.type == GP_DOUBLE)
		return rows;
	gp_matrix	wide = gp_copy(b->dev, rows, GP_DOUBLE);
	b->dev->destroy(b->dev, &rows);
	return wide;
}

/* All blocks' sums, and the sums of these. */
static void
sum_blocks(blocks *b)
{
	gp_device  *dev = b->dev;
	int64_t		rank = b->q.cols;
	int32_t		columns = b->targets->columns;

	b->gram = gp_alloc_array(dev->env, b->nblocks, sizeof(gp_matrix));
	b->right = gp_alloc_array(dev->env, b->nblocks, sizeof(gp_matrix));
	b->sum = gp_alloc_zero(dev->env, (int64_t) b->nblocks * columns, sizeof(double));
	b->all_gram = gp_filled(dev, rank, rank, GP_DOUBLE, 0.0);
	b->all_right = gp_filled(dev, rank, columns + 1, GP_DOUBLE, 0.0);
	for (int32_t k = 0; k < b->nblocks; k++)
	{
		b->gram[k] = gp_filled(dev, rank, rank, GP_DOUBLE, 0.0);
		b->right[k] = gp_filled(dev, rank, columns + 1, GP_DOUBLE, 0.0);
		/* The Gram matrix of a block, and its products with the targets, a band of rows at a
		 * time. */
		int64_t		n = b->start[k + 1] - b->start[k];
		for (gp_band band = gp_band_first(n, dev->row_block); band.count > 0; gp_band_next(&band))
		{
			const int32_t *index = b->order + b->start[k] + band.first;
			gp_matrix	rows = rows_of(b, index, band.count);
			/* The targets of some labels, and a column of ones. */
			double	   *host = gp_alloc_values(b->dev->env, band.count * (columns + 1),
												sizeof(double));
			gp_matrix	y;
			for (int64_t i = 0; i < gp_items(b->dev->env, band.count); i++)
			{
				memcpy(host + i * (columns + 1), b->targets->y + (int64_t) index[i] * columns,
					   columns * sizeof(double));
				host[i * (columns + 1) + columns] = 1.0;
			}
			y = gp_upload(dev, gp_matrix_wrap(host, band.count, columns + 1, GP_DOUBLE), GP_DOUBLE);
			gp_free(b->dev->env, host);

			dev->syrk(dev, true, 1.0, rows, 1.0, b->gram[k]);
			dev->gemm(dev, true, false, 1.0, rows, y, 1.0, b->right[k]);
			gp_destroy_all(dev, &rows, &y);
			for (int64_t i = 0; i < gp_items(dev->env, band.count); i++)
				for (int32_t c = 0; c < columns; c++)
					b->sum[k * columns + c] += b->targets->y[(int64_t) index[i] * columns + c];
			dev->env->progress(dev->env, GP_PHASE_NUGGET, b->start[k] + band.first + band.count,
							   b->targets->m);
		}
		dev->axpby(dev, 1.0, b->gram[k], 1.0, b->all_gram);
		dev->axpby(dev, 1.0, b->right[k], 1.0, b->all_right);
	}
}

/* What is left begins with all labels, or none. */
static void
begin_rest(blocks *b, bool all)
{
	int32_t		columns = b->targets->columns;

	b->dev->axpby(b->dev, all, b->all_gram, 0.0, b->rest_gram);
	b->dev->axpby(b->dev, all, b->all_right, 0.0, b->rest_right);
	b->rest = all ? b->targets->m : 0;
	memset(b->rest_sum, 0, columns * sizeof(double));
	for (int32_t k = 0; k < b->nblocks && all; k++)
		for (int32_t c = 0; c < columns; c++)
			b->rest_sum[c] += b->sum[k * columns + c];
}

/* Adds a block to what is left, or takes it away. */
static void
move_rest(blocks *b, int32_t k, double sign)
{
	int32_t		columns = b->targets->columns;

	b->dev->axpby(b->dev, sign, b->gram[k], 1.0, b->rest_gram);
	b->dev->axpby(b->dev, sign, b->right[k], 1.0, b->rest_right);
	b->rest += (int64_t) sign * (b->start[k + 1] - b->start[k]);
	for (int32_t c = 0; c < columns; c++)
		b->rest_sum[c] += sign * b->sum[k * columns + c];
}

/* The weights of what is left, and the root of its system; returns log det. */
static double
solve_rest(blocks *b, double noise, bool refit_mean)
{
	gp_device  *dev = b->dev;
	int32_t		columns = b->targets->columns;
	gp_matrix	sums = gp_matrix_cols(b->rest_right, columns, 1);

	dev->copy(dev, b->w, gp_matrix_cols(b->rest_right, 0, columns));
	for (int32_t c = 0; c < columns && refit_mean; c++)
		dev->axpby(dev, -b->rest_sum[c] / (double) b->rest, sums, 1.0, gp_matrix_cols(b->w, c, 1));
	return gp_gram_solve(dev, b->rest_gram, noise, b->root, b->w);
}

/*
 * What the weights say of the rows of a block, beside a mean for each column; and their leverages.
 */
static void
predict_block(blocks *b, int32_t k, const double *mean, double *out, double *leverage)
{
	gp_device  *dev = b->dev;
	gp_env	   *env = dev->env;
	int32_t		columns = b->targets->columns;
	int64_t		n = b->start[k + 1] - b->start[k];
	int64_t		height = gp_min64(n, dev->row_block);
	double	   *fit = gp_alloc_values(env, height * (columns + 1), sizeof(double));
	double	   *lever = env->dry ? fit : fit + height * columns;

	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		const int32_t *index = b->order + b->start[k] + band.first;
		gp_matrix	rows = rows_of(b, index, band.count);

		gp_rows_predict(dev, rows, b->root, b->w, fit, leverage ? lever : NULL);
		dev->destroy(dev, &rows);
		for (int64_t i = 0; i < gp_items(env, band.count); i++)
		{
			for (int32_t c = 0; c < columns; c++)
				out[(int64_t) index[i] * columns + c] = fit[i * columns + c] +
					(mean ? mean[c] / (double) b->rest : 0.0);
			if (leverage)
				leverage[index[i]] = lever[i];
		}
	}
	gp_free(env, fit);
}

/* Predicts each block by all others. */
static void
leave_blocks_out(blocks *b, double noise)
{
	for (int32_t k = 0; k < b->nblocks; k++)
	{
		begin_rest(b, true);
		move_rest(b, k, -1.0);
		solve_rest(b, noise, true);
		predict_block(b, k, b->rest_sum, b->mean, b->leverage);
	}
}

/* The error of predictions without the block of each label. */
static double
block_error(void *state, double nugget)
{
	blocks	   *b = state;

	leave_blocks_out(b, nugget * b->mean_diag);
	return b->dev->env->dry ? 0.0 :
		gp_loo_error(b->problem, b->targets, b->mean, b->counted, b->ncounted, NULL);
}

/* The regression on all labels, its scale, and the variances of what is left out. */
static void
solve_all(blocks *b, gp_solution *out)
{
	gp_env	   *env = b->dev->env;
	int64_t		m = b->targets->m;
	int32_t		columns = b->targets->columns;
	double		quadratic = 0.0;
	int32_t		recent = gp_blocks_recent(b->problem);
	double	   *fit = gp_alloc_values(env, m * columns, sizeof(double));
	double		log_det;

	begin_rest(b, true);
	log_det = solve_rest(b, out->noise, false) + (double) (m - b->q.cols) * log(out->noise);
	for (int32_t k = 0; k < b->nblocks; k++)
		predict_block(b, k, NULL, fit, NULL);
	for (int64_t i = 0; i < gp_items(env, m * columns); i++)
		quadratic += b->targets->y[i] * (b->targets->y[i] - fit[i]) / out->noise;
	gp_free(env, fit);
	gp_solution_scale(env, b->targets, quadratic, log_det, out);
	for (int64_t i = 0; i < gp_items(env, m); i++)
		out->loo_variance[i] = out->scale * out->noise * (1.0 + out->loo_variance[i]);
	/* Noise changes with time: intervals are those of the last blocks. */
	gp_solution_spread(env, b->problem, b->targets, b->order + b->start[recent],
					   m - b->start[recent], out);
}

gp_solution
gp_blocks_solve(gp_device *dev, const gp_problem *problem, const gp_targets *targets, gp_matrix q,
				double mean_diag)
{
	gp_env	   *env = dev->env;
	int64_t		m = targets->m;
	int32_t		columns = targets->columns;
	blocks		b = {.dev = dev,.problem = problem,.targets = targets,.mean_diag = mean_diag,.q = q,
	.nblocks = problem->nblocks};
	gp_solution out = {.mean_diag = mean_diag};

	order_labels(&b);
	b.counted = gp_loo_sample(env, targets, m, &b.ncounted);
	sum_blocks(&b);
	b.rest_gram = dev->create(dev, q.cols, q.cols, GP_DOUBLE);
	b.rest_right = dev->create(dev, q.cols, columns + 1, GP_DOUBLE);
	b.rest_sum = gp_alloc_array(env, columns, sizeof(double));
	b.root = dev->create(dev, q.cols, q.cols, GP_DOUBLE);
	b.w = dev->create(dev, q.cols, columns, GP_DOUBLE);
	b.mean = out.loo_mean = gp_alloc_values(env, m * columns, sizeof(double));
	out.loo_variance = gp_alloc_values(env, m, sizeof(double));
	out.forward = gp_alloc_values(env, m * columns, sizeof(double));

	out.nugget = gp_nugget_choose(env, problem, targets, block_error, &b, GRID, REFINE);
	out.noise = out.nugget * mean_diag;
	b.leverage = out.loo_variance;
	leave_blocks_out(&b, out.noise);
	/* Predicts the blocks that enough labels come before by these alone. */
	for (int64_t i = 0; i < gp_items(b.dev->env, b.targets->m * b.targets->columns); i++)
		out.forward[i] = NAN;
	begin_rest(&b, false);
	for (int32_t k = 0; k < b.nblocks; k++)
	{
		if (k > 0 && (double) b.start[k] >= PAST_SHARE * (double) b.targets->m)
		{
			solve_rest(&b, out.noise, true);
			predict_block(&b, k, b.rest_sum, out.forward, NULL);
		}
		move_rest(&b, k, 1.0);
	}
	solve_all(&b, &out);
	out.weights = b.w;
	out.root = b.root;
	/* Frees what is not the solution's. */
	for (int32_t k = 0; k < b.nblocks; k++)
		gp_destroy_all(dev, &b.gram[k], &b.right[k]);
	gp_destroy_all(dev, &b.all_gram, &b.all_right, &b.rest_gram, &b.rest_right);
	gp_free_all(dev->env, b.gram, b.right, b.sum, b.rest_sum, b.order, b.start, b.counted);
	return out;
}

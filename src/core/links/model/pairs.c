/*
 * pairs.c - the pair kernel on a kernel of the nodes (Yu and Chu 2008).
 *
 * c((i,j), (i',j')) = k(i,i') k(j,j') + k(i,j') k(j,i') does not see the order of
 * a pair; for directed graphs the first product stands alone.  k is the nodes'
 * kernel plus a constant, normalised to k_ii = 1: both rank links better on every
 * graph tried than the raw kernel does.  It comes from a factor of the nodes'
 * kernel, so a covariance of two pairs costs four products of short rows.
 *
 * The figures are cross-fitted: for each fold the nodes' factor is that of the
 * graph without the fold's links, and neither these nor the fold's non-links are
 * learnt from.
 */
#include "regression/regression.h"
#include "base/base.h"
#include "links/links_internal.h"
#include "hard_negatives.h"
#include "sparse.h"

#include <math.h>
#include <string.h>

#define LEAST_RANK 256			/* columns of the nodes' factor, at least */
#define MOST_RANK 512			/* and at most */
#define NODES_A_COLUMN 4		/* more columns than nodes / this say too much of single nodes */
#define ROW_NUMBERS 16777216	/* that all nodes' rows together may have beyond the least rank */
#define LEARNT 4000				/* links that are learnt from, and as many non-links */
#define INDUCING 1000			/* pairs that carry the regression, half of them links */
#define BLOCK 256				/* pairs whose covariances are computed at once */
#define RANKED 50				/* links of all folds that are ranked among rivals */
#define CONSTANT 0.1			/* added to the nodes' kernel, relative to its mean variance */
#define LEARN_SALT UINT64_C(0x6c6561726e000000)

/* The factors of the noise, relative to the mean variance of a pair. */
static const double noise_grid[] = {1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0};

#define GRID ((int) (sizeof(noise_grid) / sizeof(noise_grid[0])))

/* What the folds add up for the choice of the noise and for the figures. */
typedef struct crossfit
{
	double	   *score[GRID];	/* of each pair that is held out */
	double		error[GRID];	/* squared, summed */
	gp_link_ranks ranks[GRID];
	/* of each fold: what the variances take once the noise is known */
	gp_sparse	regression[GP_LINK_FOLDS];
	gp_matrix	v[GP_LINK_FOLDS];
	double	   *prior;			/* variance of each pair */
} crossfit;

/* The columns of the factor of n nodes. */
static int64_t
factor_rank(int64_t n)
{
	int64_t		rank = n / NODES_A_COLUMN;

	if (n > 0 && rank > ROW_NUMBERS / n)
		rank = ROW_NUMBERS / n;
	return rank < LEAST_RANK ? LEAST_RANK : rank > MOST_RANK ? MOST_RANK : rank;
}

/*
 * Adds a constant column and scales each row to length one.  With k + c in place of
 * k the pair kernel gains c (k(i,i') + k(j,j')), a term for how well linked the
 * ends are each on its own.
 */
static void
normalise_rows(gp_env *env, float *row, int64_t n, int64_t width)
{
	double	   *norm = gp_alloc_array(env, n, sizeof(double));
	double		mean = 0.0;
	int64_t		next = 0;

	for (int64_t i = 0; i < n; i++)
	{
		gp_poll(env, i * width, &next);
		norm[i] = 0.0;
		for (int64_t c = 0; c < width - 1; c++)
			norm[i] += (double) row[i * width + c] * row[i * width + c];
		mean += norm[i] / n;
	}
	if (!isfinite(mean))
		gp_raise(env, GP_ERR_RANGE, "Scale the features down, or take fewer layers.",
				 "the kernel overflows");
	if (mean <= 0.0)
		mean = 1.0;
	next = 0;
	for (int64_t i = 0; i < n; i++)
	{
		double		factor = 1.0 / sqrt(norm[i] + CONSTANT * mean);

		gp_poll(env, i * width, &next);
		row[i * width + width - 1] = (float) sqrt(CONSTANT * mean);
		for (int64_t c = 0; c < width; c++)
			row[i * width + c] = (float) (row[i * width + c] * factor);
	}
	gp_free(env, norm);
}

/* Puts the nodes' normalised factor on a graph into a model. */
static void
set_rows(gp_device *dev, const gp_link_problem *problem, const gp_graph *graph,
		 gp_link_model *model)
{
	gp_link_problem p = *problem;
	gp_matrix	q;
	gp_matrix	host;

	p.graph = graph;
	q = gp_link_factor(dev, &p, factor_rank(graph->nodes));
	model->graph = graph;
	model->width = (int32_t) q.cols + 1;
	model->row = gp_alloc_array(dev->env, gp_size_mul(dev->env, q.rows, model->width),
								sizeof(float));
	host = gp_matrix_wrap(model->row, q.rows, model->width, GP_FLOAT);
	dev->download(dev, gp_matrix_cols(host, 0, q.cols), q);
	dev->destroy(dev, &q);
	normalise_rows(dev->env, model->row, graph->nodes, model->width);
}

/* Copies one node's row. */
static void
copy_row(const gp_link_model *model, int32_t node, float *to)
{
	memcpy(to, model->row + (int64_t) node * model->width, model->width * sizeof(float));
}

/* <row i, row j>, which is k_ij. */
static double
node_kernel(const gp_link_model *model, int32_t i, int32_t j)
{
	const float *a = model->row + (int64_t) i * model->width;
	const float *b = model->row + (int64_t) j * model->width;
	double		sum = 0.0;

	for (int32_t c = 0; c < model->width; c++)
		sum += (double) a[c] * b[c];
	return sum;
}

/* The variance of a pair. */
static double
pair_variance(const gp_link_model *model, int32_t i, int32_t j)
{
	double		cross = model->graph->directed ? 0.0 : node_kernel(model, i, j);

	return node_kernel(model, i, i) * node_kernel(model, j, j) + cross * cross;
}

/* The inducing pairs' rows on the device: those of the sources, then those of the targets. */
static gp_matrix
inducing_rows(gp_device *dev, const gp_link_model *model)
{
	int64_t		m = model->m;
	float	   *host = gp_alloc_array(dev->env, gp_size_mul(dev->env, 2 * m, model->width),
									  sizeof(float));
	gp_matrix	u = dev->create(dev, 2 * m, model->width, GP_FLOAT);

	for (int64_t k = 0; k < m; k++)
	{
		copy_row(model, model->inducing[2 * k], host + k * model->width);
		copy_row(model, model->inducing[2 * k + 1], host + (m + k) * model->width);
	}
	dev->upload(dev, u, gp_matrix_wrap(host, 2 * m, model->width, GP_FLOAT));
	gp_free(dev->env, host);
	return u;
}

/* The memory that blocks of pairs share. */
typedef struct pair_block
{
	float	   *rows;			/* 2 BLOCK x width: the ends' rows, sources first */
	float	   *products;		/* 2 BLOCK x 2 m: with the inducing ends' */
	double	   *k;				/* BLOCK x m */
	gp_matrix	u;				/* on the device: inducing_rows */
	gp_matrix	p;				/* on the device: rows, products */
	gp_matrix	g;
} pair_block;

/* The covariances of n <= BLOCK pairs with the inducing ones, in b->k. */
static void
block_kernel(gp_device *dev, const gp_link_model *model, int64_t n, const int32_t *src,
			 const int32_t *dst, pair_block *b)
{
	int64_t		m = model->m;
	gp_matrix	p = gp_matrix_rows(b->p, 0, 2 * n);
	gp_matrix	g = gp_matrix_rows(b->g, 0, 2 * n);

	for (int64_t r = 0; r < n; r++)
	{
		bool		turn = !model->graph->directed && src[r] > dst[r];

		copy_row(model, turn ? dst[r] : src[r], b->rows + r * model->width);
		copy_row(model, turn ? src[r] : dst[r], b->rows + (n + r) * model->width);
	}
	dev->upload(dev, p, gp_matrix_wrap(b->rows, 2 * n, model->width, GP_FLOAT));
	dev->gemm(dev, false, true, 1.0, p, b->u, 0.0, g);
	dev->download(dev, gp_matrix_wrap(b->products, 2 * n, 2 * m, GP_FLOAT), g);
	for (int64_t r = 0; r < n; r++)
	{
		const float *i = b->products + r * 2 * m;
		const float *j = b->products + (n + r) * 2 * m;
		double	   *k = b->k + r * m;

		for (int64_t c = 0; c < m; c++)
			k[c] = (double) i[c] * j[m + c];
		if (!model->graph->directed)
			for (int64_t c = 0; c < m; c++)
				k[c] += (double) i[m + c] * j[c];
	}
}

/* Covariances of pairs with the inducing ones, and variances where these are asked for. */
void
gp_link_pairs_kernel(gp_device *dev, const gp_link_model *model, int64_t n, const int32_t *src,
					 const int32_t *dst, gp_matrix k, double *variance)
{
	gp_env	   *env = dev->env;
	int64_t		m = model->m;
	int64_t		height = gp_min64(n, BLOCK);
	pair_block	b;

	b.rows = gp_alloc_array(env, 2 * height * model->width, sizeof(float));
	b.products = gp_alloc_array(env, 4 * height * m, sizeof(float));
	b.k = gp_alloc_array(env, height * m, sizeof(double));
	b.u = inducing_rows(dev, model);
	b.p = dev->create(dev, 2 * height, model->width, GP_FLOAT);
	b.g = dev->create(dev, 2 * height, 2 * m, GP_FLOAT);
	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		block_kernel(dev, model, band.count, src + band.first, dst + band.first, &b);
		dev->upload(dev, gp_matrix_rows(k, band.first, band.count),
					gp_matrix_wrap(b.k, band.count, m, GP_DOUBLE));
		for (int64_t r = band.first; variance && r < band.first + band.count; r++)
			variance[r] = pair_variance(model, src[r], dst[r]);
	}
	dev->destroy(dev, &b.u);
	dev->destroy(dev, &b.p);
	dev->destroy(dev, &b.g);
	gp_free(env, b.rows);
	gp_free(env, b.products);
	gp_free(env, b.k);
}

/* Links and as many non-links of a graph: links first.  The graph whose links are known is full. */
static gp_link_fold
training_pairs(gp_env *env, const gp_graph *graph, const gp_graph *full, uint64_t seed,
			   const gp_link_pairs *except)
{
	gp_link_fold t = {NULL, {0, NULL, NULL}, 0};
	gp_link_pairs links = gp_link_sample_links(env, graph, seed, LEARNT);
	gp_link_pairs missing = gp_link_sample_missing(env, full, seed, links.n, except);

	t.links = links.n;
	t.pairs = gp_link_pairs_join(env, &links, links.n, &missing);
	gp_link_pairs_free(env, &links);
	return t;
}

/* The inducing pairs: the first of the links and of the non-links, which come in random order. */
static void
set_inducing(gp_env *env, const gp_link_fold *t, gp_link_model *model)
{
	int64_t		links = gp_min64(t->links, INDUCING / 2);

	model->m = links + gp_min64(t->pairs.n - t->links, INDUCING / 2);
	model->inducing = gp_alloc_array(env, 2 * model->m, sizeof(int32_t));
	for (int64_t k = 0; k < model->m; k++)
	{
		int64_t		from = k < links ? k : t->links + k - links;

		model->inducing[2 * k] = t->pairs.src[from];
		model->inducing[2 * k + 1] = t->pairs.dst[from];
	}
}

/* The covariances of the inducing pairs. */
static gp_matrix
inducing_kernel(gp_device *dev, const gp_link_model *model)
{
	gp_link_pairs u = gp_link_pairs_create(dev->env, model->m);
	gp_matrix	k = dev->create(dev, model->m, model->m, GP_DOUBLE);

	for (int64_t i = 0; i < model->m; i++)
	{
		u.src[i] = model->inducing[2 * i];
		u.dst[i] = model->inducing[2 * i + 1];
	}
	gp_link_pairs_kernel(dev, model, model->m, u.src, u.dst, k, NULL);
	gp_link_pairs_free(dev->env, &u);
	return k;
}

/* Learns from the pairs in the model's inducing ones; sets the model's offset. */
static gp_sparse
learn(gp_device *dev, const gp_link_fold *t, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	int64_t		height = gp_min64(t->pairs.n, 2 * BLOCK);
	gp_matrix	k = dev->create(dev, height, model->m, GP_DOUBLE);
	double	   *y = gp_alloc_array(env, height, sizeof(double));
	gp_sparse	s = gp_sparse_create(dev, inducing_kernel(dev, model));

	model->offset = (double) t->links / t->pairs.n;
	for (gp_band band = gp_band_first(t->pairs.n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(k, 0, band.count);

		for (int64_t r = 0; r < band.count; r++)
			y[r] = (band.first + r < t->links) - model->offset;
		gp_link_pairs_kernel(dev, model, band.count, t->pairs.src + band.first,
							 t->pairs.dst + band.first, part, NULL);
		gp_sparse_add(&s, part, y);
		env->progress(env, GP_PHASE_KERNEL, band.first + band.count, t->pairs.n);
	}
	gp_sparse_ready(&s);
	dev->destroy(dev, &k);
	gp_free(env, y);
	return s;
}

/* The means of pairs at the noise that was solved for, from their covariances k. */
static void
means(gp_device *dev, const gp_link_model *model, const gp_sparse *s, gp_matrix k, double *out)
{
	gp_matrix	score = dev->create(dev, k.rows, 1, GP_DOUBLE);

	dev->gemm(dev, false, false, 1.0, k, s->alpha, 0.0, score);
	dev->download(dev, gp_matrix_wrap(out, k.rows, 1, GP_DOUBLE), score);
	for (int64_t r = 0; r < k.rows; r++)
		out[r] += model->offset;
	dev->destroy(dev, &score);
}

/* The covariances of pairs, and their variances where these are asked for. */
static gp_matrix
covariances(gp_device *dev, const gp_link_model *model, const gp_link_pairs *pairs, double *prior)
{
	gp_matrix	k = dev->create(dev, pairs->n, model->m, GP_DOUBLE);

	gp_link_pairs_kernel(dev, model, pairs->n, pairs->src, pairs->dst, k, prior);
	return k;
}

/* Scores the pairs of a fold, of which the first is from of all, with each noise; k is their covariances. */
static void
score_fold(gp_device *dev, const gp_link_fold *fold, const gp_link_rivals *rivals, const gp_link_model *model,
		   gp_sparse *s, int64_t from, gp_matrix k, crossfit *x)
{
	double	   *rank = gp_alloc_array(dev->env, rivals->pairs.n, sizeof(double));
	gp_matrix	others = covariances(dev, model, &rivals->pairs, NULL);

	for (int g = 0; g < GRID; g++)
	{
		double	   *out = x->score[g] + from;

		gp_sparse_solve(s, noise_grid[g]);
		means(dev, model, s, k, out);
		for (int64_t r = 0; r < fold->pairs.n; r++)
			x->error[g] += (out[r] - (r < fold->links)) * (out[r] - (r < fold->links));
		means(dev, model, s, others, rank);
		gp_link_rivals_rank(rivals, rank, &x->ranks[g]);
	}
	gp_free(dev->env, rank);
	dev->destroy(dev, &others);
}

/* Fold f: a model of its graph, learnt from what it does not hide, scores what it hides. */
static void
crossfit_fold(gp_device *dev, const gp_link_problem *problem, const gp_link_fold *fold,
			  uint64_t seed, const gp_link_rivals *rivals, int f, int64_t from, crossfit *x)
{
	gp_link_model model = {0};
	gp_link_fold t;
	gp_sparse  *s = &x->regression[f];

	set_rows(dev, problem, fold->graph, &model);
	t = training_pairs(dev->env, fold->graph, problem->graph, seed, &fold->pairs);
	set_inducing(dev->env, &t, &model);
	*s = learn(dev, &t, &model);
	x->v[f] = covariances(dev, &model, &fold->pairs, x->prior + from);
	score_fold(dev, fold, rivals, &model, s, from, x->v[f], x);
	dev->trsm(dev, false, true, s->l, x->v[f]);
	gp_sparse_trim(s);
	gp_free(dev->env, model.inducing);
	gp_link_pairs_free(dev->env, &t.pairs);
	gp_free(dev->env, model.row);
}

/* The variances of a fold's pairs at a noise; what they take is freed. */
static void
fold_variances(gp_device *dev, crossfit *x, int f, double noise, gp_link_held *held)
{
	int64_t		first = held->first[f];
	double	   *variance = gp_alloc_array(dev->env, x->v[f].rows, sizeof(double));

	gp_sparse_variances(&x->regression[f], noise, x->v[f], x->prior + first, variance);
	for (int64_t r = 0; r < x->v[f].rows; r++)
		held->row[first + r].variance = variance[r];
	gp_free(dev->env, variance);
	gp_sparse_free(&x->regression[f]);
	dev->destroy(dev, &x->v[f]);
}

/* Takes the scores and the ranks at the best noise, and the curve through them; returns that noise. */
static double
choose_noise(gp_env *env, const crossfit *x, gp_link_model *model)
{
	gp_link_held *held = &model->held;
	int			best = 0;

	for (int g = 1; g < GRID; g++)
		if (x->error[g] < x->error[best])
			best = g;
	for (int64_t e = 0; e < held->n; e++)
		held->row[e].score = x->score[best][e];
	held->ranks = x->ranks[best];
	gp_link_calibrate(env, held->n, x->score[best], held->linked, &model->intercept, &model->slope);
	return noise_grid[best];
}

/* Cross-fits: sets the model's figures, its curve and its habits, and returns the noise. */
static double
crossfit_all(gp_device *dev, const gp_link_problem *problem, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_link_fold fold[GP_LINK_FOLDS];
	int			folds = gp_link_folds_make(env, problem->graph, problem->seed, fold);
	crossfit	x = {0};
	double		noise;

	model->held = gp_link_held_create(env, fold, folds);
	for (int g = 0; g < GRID; g++)
		x.score[g] = gp_alloc_array(env, model->held.n, sizeof(double));
	x.prior = gp_alloc_array(env, model->held.n, sizeof(double));
	model->habits = gp_alloc_zero(env, GP_LINK_HABITS, sizeof(int64_t));
	for (int f = 0; f < folds; f++)
	{
		gp_link_rivals rivals = gp_link_rivals_make(env, problem->graph, &fold[f], RANKED / folds, problem->seed);

		crossfit_fold(dev, problem, &fold[f], gp_hash(problem->seed ^ LEARN_SALT) + f + 1, &rivals, f,
					  model->held.first[f], &x);
		gp_link_rivals_free(env, &rivals);
		gp_link_held_add(env, &model->held, &fold[f], model->habits);
		gp_link_fold_free(env, &fold[f]);
	}
	noise = choose_noise(env, &x, model);
	for (int f = 0; f < folds; f++)
		fold_variances(dev, &x, f, noise, &model->held);
	gp_link_held_judge(env, model);
	for (int g = 0; g < GRID; g++)
		gp_free(env, x.score[g]);
	gp_free(env, x.prior);
	return noise;
}

/* Fits: the figures from the folds, the regression from the whole graph. */
void
gp_link_pairs_fit(gp_device *dev, const gp_link_problem *problem, gp_link_model *model)
{
	double		noise = crossfit_all(dev, problem, model);
	gp_link_fold t;
	gp_sparse	s;

	set_rows(dev, problem, problem->graph, model);
	t = training_pairs(dev->env, problem->graph, problem->graph,
					   gp_hash(problem->seed ^ LEARN_SALT), NULL);
	set_inducing(dev->env, &t, model);
	s = learn(dev, &t, model);
	gp_sparse_solve(&s, noise);
	model->pairs = t.pairs.n;
	model->scale = s.scale;
	model->alpha = gp_alloc_array(dev->env, model->m, sizeof(double));
	dev->download(dev, gp_matrix_wrap(model->alpha, model->m, 1, GP_DOUBLE), s.alpha);
	model->root = gp_sparse_root(&s);
	gp_sparse_free(&s);
	gp_link_pairs_free(dev->env, &t.pairs);
}

/* True when any step sums over neighbours. */
static bool
has_operator(const gp_program *program)
{
	for (int k = 0; k < program->nsteps; k++)
		if (program->steps[k].kind == GP_STEP_OP)
			return true;
	return false;
}

/*
 * Sparse entries of the input layer: X, and A X where neighbours are summed over.
 * The features of walks, and A times them, are held several times while they are made.
 */
static double
input_entries(const gp_link_problem *problem)
{
	double		n = (double) problem->graph->nodes;
	double		degree = problem->graph->start[problem->graph->nodes] / fmax(n, 1.0) + 1.0;
	const gp_features *x = problem->features;
	bool		walks = problem->program->input.kind == GP_INPUT_LAPLACIAN;
	const double *p = problem->program->input.p;
	double		in = n;
	double		width = n;

	if (walks)
		in = n * fmin(n, 1.25 * p[GP_LAPLACIAN_WALKS] / p[GP_LAPLACIAN_P_TERM]);
	else if (x != NULL)
	{
		in = x->csr ? (double) gp_csr_entries(x->csr) : 0.5 * n * x->dims;
		width = (double) x->dims;
	}
	return (walks ? 3.0 : 1.0) * in + (has_operator(problem->program) ? walks ? 2.5 : 1.0 : 0.0) *
		fmin(n * width, in * degree);
}

/* The bytes of making the nodes' factor, an upper bound: A, its factor, panels. */
static double
factor_bytes(const gp_link_problem *problem, double rank)
{
	const gp_program *program = problem->program;
	double		n = (double) problem->graph->nodes;
	double		entries = (double) problem->graph->start[problem->graph->nodes];
	double		panels = 2.0;

	for (int k = 0; k < program->nsteps; k++)
		panels += program->steps[k].kind == GP_STEP_SUM && program->layers > 1;
	return 8.0 * (entries + n) + 8.0 * input_entries(problem) + 80.0 * n +
		4.0 * n * (panels * (rank + 16.0) + 3.0 * GP_COLUMN_BLOCK) +
		8.0 * GP_ROW_BLOCK * rank + 24.0 * rank * rank;
}

/*
 * The bytes of the regression beside the rows: four square matrices and the blocks of pairs; what
 * the other folds keep for their variances, a square matrix and the covariances of their pairs; and
 * the rivals.
 */
static double
regression_bytes(double m, double width, double held)
{
	return (4.0 + GP_LINK_FOLDS) * 8.0 * m * m + 8.0 * held * m + 4.0 * 2.0 * BLOCK * 4.0 * m +
		8.0 * 3.0 * BLOCK * m + 8.0 * (m + BLOCK) * 2.0 * width;
}

/* The bytes and operations of a fit, on top of what is held already. */
void
gp_link_pairs_count(gp_env *env, const gp_link_problem *problem, double *bytes, double *flops)
{
	const gp_graph *graph = problem->graph;
	double		n = (double) graph->nodes;
	double		rank = fmin((double) factor_rank(graph->nodes), n);
	double		learnt = 2.0 * fmin(LEARNT, (double) graph->edges);
	double		m = fmin(INDUCING, learnt);
	double		folds = GP_LINK_FOLDS * (8.0 * n + (graph->weight ? 12.0 : 4.0) *
										 (double) graph->start[graph->nodes]);
	double		layers = problem->program->layers;
	int64_t		held = gp_link_fold_rows(graph->edges);

	*bytes = folds + gp_link_rivals_bytes(graph->nodes, gp_min64(RANKED, held / 2), (int64_t) m + 1) +
		fmax(factor_bytes(problem, rank) + 8.0 * m * (GP_LINK_FOLDS * m + (double) held),
			 4.0 * n * (rank + 1.0) + regression_bytes(m, rank + 1.0, (double) held));
	*flops = (GP_LINK_FOLDS + 1) *
		(2.0 * rank * input_entries(problem) + layers * 3.0 * n * rank * rank +
		 layers * 2.0 * rank * (double) graph->start[graph->nodes] +
		 learnt * (8.0 * m * rank + m * m) + (3.0 + GRID / 3.0) * m * m * m);
}

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
#include "link_regression.h"

#define LEAST_RANK 256			/* columns of the nodes' factor, at least */
#define MOST_RANK 512			/* and at most */
#define NODES_A_COLUMN 4		/* more columns than nodes / this say too much of single nodes */
#define ROW_NUMBERS 16777216	/* that all nodes' rows together may have beyond the least rank */
#define LEARNT 4000				/* links that are learnt from, and as many non-links */
#define INDUCING 500				/* pairs that carry the regression, half of them links */
#define BLOCK 256				/* pairs whose covariances are computed at once */
#define RANKED 50				/* links of all folds that are ranked among rivals */
#define ASKED 100				/* nodes of all folds whose candidates the curve is fitted to */
#define CONSTANT 0.1			/* added to the nodes' kernel, relative to its mean variance */
#define LEARN_SALT UINT64_C(0x6c6561726e000000)

/* Penalties of the weights, of which the folds' likelihood chooses one. */
static const double penalties[] = {0.01, 0.1, 1.0};

#define GRID ((int) (sizeof(penalties) / sizeof(penalties[0])))

/* What the folds say of a penalty. */
typedef struct trial
{
	double		loss;			/* of the pairs that are held out */
	double	   *logit;			/* of each of them */
	double	   *variance;
	gp_link_ranks ranks;
	double	   *asked[GP_LINK_FOLDS];	/* logits of a fold's candidates */
} trial;

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

void
gp_link_pairs_kernel(gp_device *dev, const gp_link_model *model, int64_t n, const int32_t *src,
					 const int32_t *dst, gp_matrix k)
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
	gp_link_pairs_kernel(dev, model, model->m, u.src, u.dst, k);
	gp_link_pairs_free(dev->env, &u);
	return k;
}

/* The covariances of pairs with the inducing ones. */
static gp_matrix
covariances(gp_device *dev, const gp_link_model *model, const gp_link_pairs *pairs)
{
	gp_matrix	k = dev->create(dev, pairs->n, model->m, GP_DOUBLE);

	gp_link_pairs_kernel(dev, model, pairs->n, pairs->src, pairs->dst, k);
	return k;
}

/* A regression on some pairs, and on others that it does not learn from: those of weight 0. */
typedef struct regression
{
	gp_link_logistic logistic;
	gp_matrix	root;			/* of the inducing pairs' covariance */
	bool	   *label;
	double	   *weight;
} regression;

/* Prepares it: pairs to learn from, links first, then the others. */
static regression
regression_open(gp_device *dev, const gp_link_model *model, const gp_link_fold *t,
				const gp_link_pairs *others)
{
	regression	r = {.root = gp_link_landmark_root(dev, inducing_kernel(dev, model))};
	int64_t		n = t->pairs.n + others->n;
	gp_link_pairs all = gp_link_pairs_create(dev->env, n);

	memcpy(all.src, t->pairs.src, t->pairs.n * sizeof(int32_t));
	memcpy(all.dst, t->pairs.dst, t->pairs.n * sizeof(int32_t));
	if (others->n > 0)
	{
		memcpy(all.src + t->pairs.n, others->src, others->n * sizeof(int32_t));
		memcpy(all.dst + t->pairs.n, others->dst, others->n * sizeof(int32_t));
	}
	r.logistic = gp_link_logistic_open(dev,
									   gp_link_whiten(dev, covariances(dev, model, &all), r.root),
									   penalties[0]);
	gp_link_pairs_free(dev->env, &all);
	r.label = gp_alloc_zero(dev->env, n, sizeof(bool));
	r.weight = gp_alloc_zero(dev->env, n, sizeof(double));
	for (int64_t e = 0; e < t->pairs.n; e++)
	{
		r.label[e] = e < t->links;
		r.weight[e] = 1.0;
	}
	return r;
}

static void
regression_close(regression *r)
{
	gp_device  *dev = r->logistic.dev;

	gp_link_logistic_close(&r->logistic);
	dev->destroy(dev, &r->root);
	gp_free(dev->env, r->label);
	gp_free(dev->env, r->weight);
}

/*
 * Fold f: a model of its graph, learnt from what it does not hide, with each penalty, on what it
 * hides.
 */
static void
try_fold(gp_device *dev, const gp_link_problem *problem, const gp_link_fold *fold, int folds, int f,
		 gp_link_asked *asked, int64_t from, trial *x)
{
	gp_env	   *env = dev->env;
	gp_link_model model = {0};
	gp_link_rivals rivals = gp_link_rivals_make(env, problem->graph, fold, RANKED / folds,
												problem->seed, NULL);
	gp_link_fold t = training_pairs(env, fold->graph, problem->graph,
									gp_hash(problem->seed ^ LEARN_SALT) + f + 1,
									&fold->pairs);
	gp_link_pairs hidden = gp_link_pairs_concat(env, &fold->pairs, &rivals.pairs);
	gp_link_pairs others = gp_link_pairs_concat(env, &hidden, &asked->pairs);
	regression	r;

	set_rows(dev, problem, fold->graph, &model);
	set_inducing(env, &t, &model);
	r = regression_open(dev, &model, &t, &others);
	for (int g = 0; g < GRID; g++)
	{
		const double *logit = r.logistic.logit + t.pairs.n;

		r.logistic.penalty = penalties[g];
		gp_link_logistic_fit(&r.logistic, r.label, r.weight);
		memcpy(x[g].logit + from, logit, fold->pairs.n * sizeof(double));
		gp_link_logistic_variances(&r.logistic, t.pairs.n, fold->pairs.n, x[g].variance + from);
		for (int64_t e = 0; e < fold->pairs.n; e++)
			x[g].loss += log1p(exp(e < fold->links ? -logit[e] : logit[e]));
		gp_link_rivals_rank(&rivals, logit + fold->pairs.n, &x[g].ranks);
		x[g].asked[f] = gp_alloc_array(env, asked->pairs.n, sizeof(double));
		memcpy(x[g].asked[f], logit + hidden.n, asked->pairs.n * sizeof(double));
	}
	regression_close(&r);
	gp_free(env, model.inducing);
	gp_free(env, model.row);
	gp_link_pairs_free(env, &t.pairs);
	gp_link_pairs_free(env, &hidden);
	gp_link_pairs_free(env, &others);
	gp_link_rivals_free(env, &rivals);
}

/* Cross-fits: sets the model's figures, its curve and its habits, and returns the penalty. */
static double
choose_penalty(gp_device *dev, const gp_link_problem *problem, gp_link_model *model)
{
	gp_env	   *env = dev->env;
	gp_link_fold fold[GP_LINK_FOLDS];
	gp_link_asked asked[GP_LINK_FOLDS];
	int			folds = gp_link_folds_make(env, problem->graph, problem->seed, fold);
	trial		x[GRID] = {{0}};
	int			best = 0;

	model->held = gp_link_held_create(env, fold, folds);
	model->habits = gp_alloc_zero(env, GP_LINK_HABITS, sizeof(int64_t));
	for (int g = 0; g < GRID; g++)
	{
		x[g].logit = gp_alloc_array(env, model->held.n, sizeof(double));
		x[g].variance = gp_alloc_array(env, model->held.n, sizeof(double));
	}
	for (int f = 0; f < folds; f++)
		gp_link_held_add(env, &model->held, &fold[f], model->habits);
	for (int f = 0; f < folds; f++)
	{
		asked[f] = gp_link_asked_make(env, problem, model, &fold[f], ASKED / folds,
									  problem->seed + (uint64_t) f);
		try_fold(dev, problem, &fold[f], folds, f, &asked[f], model->held.first[f], x);
		gp_link_fold_free(env, &fold[f]);
	}
	for (int g = 1; g < GRID; g++)
		if (x[g].loss < x[best].loss)
			best = g;
	for (int64_t e = 0; e < model->held.n; e++)
	{
		model->held.row[e].score = x[best].logit[e];
		model->held.row[e].variance = x[best].variance[e];
	}
	model->held.ranks = x[best].ranks;
	gp_link_asked_calibrate(env, asked, folds, x[best].asked, problem->missing_share, model);
	gp_link_held_judge(env, model);
	for (int g = 0; g < GRID; g++)
	{
		gp_free(env, x[g].logit);
		gp_free(env, x[g].variance);
		for (int f = 0; f < folds; f++)
			gp_free(env, x[g].asked[f]);
	}
	for (int f = 0; f < folds; f++)
		gp_link_asked_free(env, &asked[f]);
	return penalties[best];
}

void
gp_link_pairs_fit(gp_device *dev, const gp_link_problem *problem, gp_link_model *model)
{
	double		penalty = choose_penalty(dev, problem, model);
	gp_link_pairs none = {0};
	gp_link_fold t;
	regression	r;

	set_rows(dev, problem, problem->graph, model);
	t = training_pairs(dev->env, problem->graph, problem->graph,
					   gp_hash(problem->seed ^ LEARN_SALT), NULL);
	set_inducing(dev->env, &t, model);
	r = regression_open(dev, model, &t, &none);
	r.logistic.penalty = penalty;
	gp_link_logistic_fit(&r.logistic, r.label, r.weight);
	model->pairs = t.pairs.n;
	model->alpha = gp_link_logistic_weights(&r.logistic, r.root);
	model->root = gp_link_logistic_spread(&r.logistic, r.root);
	regression_close(&r);
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
	double		held = (double) gp_link_fold_rows(graph->edges);
	double		others = 2.0 * held + RANKED * (1.0 + fmin(GP_LINK_RIVALS, n)) +
		ASKED * fmin(GP_LINK_OTHERS, n);

	*bytes = folds + 40.0 * n + GRID * 16.0 * held + 40.0 * others +
		fmax(factor_bytes(problem, rank),
			 4.0 * n * (rank + 1.0) + gp_link_logistic_bytes(learnt + others, m) +
			 8.0 * (learnt + others) * m + 24.0 * m * m + 64.0 * BLOCK * (m + rank) +
			 8.0 * m * rank);
	*flops = (GP_LINK_FOLDS + 1) *
		(2.0 * rank * input_entries(problem) + layers * 3.0 * n * rank * rank +
		 layers * 2.0 * rank * (double) graph->start[graph->nodes] +
		 (learnt + others) * (8.0 * m * rank + 8.0 * GRID * m * m));
}

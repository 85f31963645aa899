/*
 * precision_fit.c - the posterior at the labels, and without each of them.
 *
 * All that leave-one-out asks for is the posterior itself: with S = K(t,t) + e I, the residual
 * of the labels is y - F = e S^-1 y, and their posterior variances are V with
 * [S^-1]_ii = (1 - V_ii / e) / e; so the prediction at i without its label is
 * y_i - (y_i - F_i) / (1 - V_ii / e) (Rasmussen and Williams 2006, section 5.4.2).
 *
 * The variances are probed beside the targets: few labels have a colour each, and their
 * diagonal is exact.
 */
#include "precision_fit.h"

#include <float.h>

#define PAD 16					/* columns that a row of sparse products takes at no more cost */
#define FEWEST_COLOURS 8		/* of labels */
/* columns that stand for many classes while a nugget is looked for */
#define SKETCH 8
#define FEW_LABELS 0.05			/* of the nodes: so many that a system of theirs takes no time */
#define MOST_LOST 1e-2			/* of a start, to rounding */

static double
class_sign(const gp_precision_fit *f, int32_t c, int j)
{
	return gp_hash(f->problem->seed ^ gp_hash(((uint64_t) c << 8) + j)) & 1 ? 1.0 : -1.0;
}

/*
 * A few random combinations of the classes, each without a mean: products of rows that are
 * centred are kept on average, and so is the error that chooses (Johnson and Lindenstrauss
 * 1984).
 */
static double *
make_sketch(const gp_precision_fit *f)
{
	int32_t		classes = f->targets->columns;
	int64_t		m = f->problem->nlabelled;
	double	   *sketch = gp_alloc_figures(f->env, m * SKETCH, sizeof(double));

	for (int j = 0; j < SKETCH && !f->env->dry; j++)
	{
		double		mean = 0.0;

		for (int32_t c = 0; c < classes; c++)
			mean += class_sign(f, c, j) / classes;
		GP_EACH(f->env, k, m, j * m + k)
			sketch[k * SKETCH + j] = class_sign(f, f->problem->label[k], j) - mean;
	}
	return sketch;
}

static void
leave_space(gp_precision_fit *f)
{
	if (f->space)
		gp_krylov_close(f->space);
	f->space = NULL;
}

static void
forget(gp_precision_fit *f)
{
	f->dev->destroy(f->dev, &f->last);
	leave_space(f);
}

static bool
has_few_labels(const gp_problem *problem)
{
	return (double) problem->nlabelled <= FEW_LABELS * (double) problem->graph->nodes;
}

void
gp_precision_set_targets(gp_precision_fit *f, bool sketch)
{
	bool		many = sketch && f->targets->columns > SKETCH;
	const double *before = f->y;

	if (many && f->sketch == NULL)
		f->sketch = make_sketch(f);
	f->y = many ? f->sketch : f->targets->y;
	f->columns = many ? SKETCH : f->targets->columns;
	f->level = many || f->problem->task == GP_TASK_VALUES ? 0.0 : 1.0 / f->columns;
	/* Colours the labels beside so many columns: one each where they are few, else what fills the
	 * rows of sparse products.  The errors of many probes cancel, which serves to compare with
	 * kernels of features. */
	int64_t		m = f->problem->nlabelled;
	int64_t		wide = ((int64_t) f->columns + FEWEST_COLOURS + PAD - 1) / PAD * PAD - f->columns;
	bool		rough = sketch && f->problem->loo_only && f->problem->features &&
		!has_few_labels(f->problem);
	bool		exact = m <= wide || (!rough && (double) m * (double) f->s->rows <= GP_PROBE_WORK);
	int32_t		colours = (int32_t) (exact ? m : wide);

	if (f->y != before || f->colours != colours)
		forget(f);
	gp_free(f->env, f->colour);
	f->colours = colours;
	f->colour = gp_probe_colours(f->env, f->s, f->problem->labelled, m, f->colours);
}

void
gp_precision_fit_open(gp_precision_fit *f, gp_device *dev, const gp_problem *problem,
					  const gp_targets *targets, const gp_csr *s)
{
	int64_t		room = problem->nlabelled * gp_max64(targets->columns, SKETCH);

	*f = (gp_precision_fit) {.env = dev->env, .dev = dev, .s = s, .problem = problem,
							 .targets = targets};
	/* Beside kernels of features, few labels need no exact comparison to leave this one out. */
	f->costly_products = problem->costly_products || gp_precision_is_costly(s) ||
		(problem->loo_only && problem->features && has_few_labels(problem));
	f->p = gp_precision_open(dev, s, problem->type);
	f->lone = gp_probe_lone(f->env, s, problem->labelled, problem->nlabelled);
	f->fitted = gp_alloc_figures(f->env, room, sizeof(double));
	f->loo = gp_alloc_figures(f->env, room, sizeof(double));
	f->variance = gp_alloc_figures(f->env, problem->nlabelled, sizeof(double));
	f->least = gp_alloc_figures(f->env, problem->nlabelled, sizeof(double));
	f->index = gp_loo_sample(f->env, targets, problem->nlabelled, &f->nindex);
}

void
gp_precision_fit_close(gp_precision_fit *f)
{
	if (f->p)
		gp_precision_close(f->p);
	forget(f);
	gp_free_all(f->env, f->sketch, f->colour, f->lone, f->fitted, f->variance, f->least, f->index);
}

void
gp_precision_set_prior(gp_precision_fit *f, double sigma2, int d)
{
	f->sigma2 = sigma2;
	f->d = d;
	f->mean_diag = gp_precision_mean_diagonal(f->p, sigma2, d, f->problem->seed);
}

void
gp_elements_add(gp_elements *b, int32_t row, int64_t col, int64_t first, int64_t cols, double value)
{
	if (value == 0.0 || col < first || col >= first + cols)
		return;
	b->row[b->n] = row;
	b->col[b->n] = (int32_t) (col - first);
	b->value[b->n++] = value;
}

gp_elements
gp_elements_make(gp_env *env, int64_t n)
{
	return (gp_elements) {
		.n = env->dry ? n : 0,
		.row = gp_alloc_figures(env, n, sizeof(int32_t)),
		.col = gp_alloc_figures(env, n, sizeof(int32_t)),
		.value = gp_alloc_figures(env, n, sizeof(double))
	};
}

/*
 * The right sides of columns first to first + cols: targets over the noise, then probes.
 *
 * Classes are taken without the mean of each row, which no order of them depends on: it is the
 * same for all, and the constant takes by far the most steps to be heard of.  Who wants it adds
 * it from a column of its own.
 */
static gp_elements
right_sides(const gp_precision_fit *f, int64_t first, int64_t cols)
{
	int64_t		m = f->problem->nlabelled;
	int64_t		last = gp_min64(f->columns, first + cols);
	int64_t		width = gp_max64(last - first, 0) + 1;
	gp_elements b = gp_elements_make(f->env, m * width);

	GP_EACH(f->env, k, gp_items(f->env, m), k * width)
	{
		int32_t		node = f->problem->labelled[k];

		for (int64_t j = first; j < last; j++)
			gp_elements_add(&b, node, j, first, cols,
							(f->y[k * f->columns + j] - f->level) / f->noise);
		gp_elements_add(&b, node, f->columns + f->colour[k], first, cols,
					gp_probe_sign(f->problem->seed, node) / f->noise);
	}
	return b;
}

void
gp_elements_free(gp_env *env, gp_elements *b)
{
	gp_free_all(env, b->row, b->col, b->value);
}

/* Takes what the labels' rows of a solution say of columns first to first + cols. */
static void
read_labels(gp_precision_fit *f, const double *host, bool scaled, int64_t first, int64_t cols)
{
	int32_t		columns = f->columns;

	GP_EACH(f->env, k, gp_items(f->env, f->problem->nlabelled), k * cols)
	{
		int32_t		node = f->problem->labelled[k];
		double		unscale = scaled ? gp_precision_unscale(f->p, node) : 1.0;
		int64_t		probe = columns + f->colour[k] - first;

		f->least[k] = scaled ? gp_precision_least(f->p, node)
			: gp_precision_least_of(f->p, f->sigma2, f->d, f->noise, node);
		for (int64_t j = 0; j < cols && first + j < columns; j++)
			f->fitted[k * columns + first + j] = unscale * host[k * cols + j];
		if (probe >= 0 && probe < cols)
			f->variance[k] = f->noise * unscale * gp_probe_sign(f->problem->seed, node)
				* host[k * cols + probe];
	}
}

/* Reads the classes' columns of a solution, scaled or not, at all nodes. */
static void
read_means(gp_precision_fit *f, gp_matrix x, bool scaled, int64_t first, double *mean)
{
	int64_t		columns = f->columns;
	int64_t		last = gp_min64(columns, first + x.cols);
	gp_matrix	out = gp_matrix_wrap(mean, x.rows, columns, GP_DOUBLE);

	if (first >= last)
		return;
	f->dev->download(f->dev, gp_matrix_cols(out, first, last - first),
					 gp_matrix_cols(x, 0, last - first));
	GP_EACH(f->env, i, gp_items(f->env, x.rows), i * columns)
	{
		double		unscale = scaled ? gp_precision_unscale(f->p, i) : 1.0;

		for (int64_t j = first; j < last; j++)
			mean[i * columns + j] *= unscale;
	}
}

gp_matrix
gp_precision_run(gp_precision_fit *f, int64_t cols, const gp_elements *b, double energy,
				 double tolerance, gp_matrix *start)
{
	gp_effort	effort;
	gp_matrix	x = gp_precision_solve(f->p, cols, b, energy, tolerance, GP_PRECISION_MOST, start,
									   &effort);

	f->run_error = effort.error;
	f->error = fmax(f->error, effort.error);
	return x;
}

/* |Y|^2 / e for right sides Y / e. */
static double
energy_of(const gp_precision_fit *f, const gp_elements *b)
{
	double		sum = 0.0;

	GP_EACH(f->env, k, gp_items(f->env, b->n), k)
		sum += f->noise * b->value[k] * b->value[k];
	return sum;
}

double
gp_precision_leverage(const gp_precision_fit *f, int64_t k)
{
	return fmax(f->least[k], fmin(f->variance[k], f->noise / (1.0 + f->noise))) / f->noise;
}

/*
 * The roots of the degrees where products are costly: S keeps them, so that the prior hardly holds
 * a multiple of them back, and a level's posterior mean is mostly that.  Nothing where rounding is
 * as large as what B^d leaves of them.
 */
static gp_matrix
level_start(const gp_precision_fit *f)
{
	const gp_graph *graph = f->problem->graph;
	int64_t		n = graph->nodes;
	double		lost = pow(1.0 + 2.0 * f->sigma2, f->d) * (f->problem->type == GP_FLOAT
														   ? FLT_EPSILON : DBL_EPSILON);

	if (!f->costly_products || lost > MOST_LOST)
		return (gp_matrix) {0};
	double	   *root = gp_alloc_zero(f->env, n, sizeof(double));
	GP_EACH(f->env, i, gp_items(f->env, n), graph->start[i])
	{
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
		{
			double		weight = graph->weight ? graph->weight[k] : 1.0;

			root[i] += weight;
			if (graph->directed)
				root[graph->col[k]] += weight;
		}
	}
	for (int64_t i = 0; i < gp_items(f->env, n); i++)
		root[i] = sqrt(root[i]);
	gp_matrix	start = gp_upload(f->dev, gp_matrix_wrap(root, n, 1, GP_DOUBLE), f->problem->type);
	gp_free(f->env, root);
	return start;
}

/* Adds the level's posterior mean to all classes, at the labels and at all nodes. */
static void
add_level(gp_precision_fit *f, double tolerance, double *mean)
{
	const gp_problem *problem = f->problem;
	int64_t		n = f->s->rows;
	int64_t		m = problem->nlabelled;
	double		scale = sqrt(f->columns + 1.0);
	double		former = f->error;
	double	   *level = gp_alloc_figures(f->env, n, sizeof(double));
	gp_elements b = gp_elements_make(f->env, m);
	gp_matrix	start = level_start(f);

	for (int64_t k = 0; k < m && !f->env->dry; k++)
		gp_elements_add(&b, problem->labelled[k], 0, 0, 1, f->level / f->noise);
	/* One column of so many counts less: its error is that of all classes, and of as many
	 * targets. */
	f->error = 0.0;
	gp_matrix	x = gp_precision_run(f, 1, &b, energy_of(f, &b), scale * tolerance, &start);
	f->error = fmax(former, f->error / scale);
	gp_elements_free(f->env, &b);
	f->dev->download(f->dev, gp_matrix_wrap(level, n, 1, GP_DOUBLE), x);
	f->dev->destroy(f->dev, &x);
	GP_EACH(f->env, i, gp_items(f->env, n), i * f->columns)
	{
		level[i] *= gp_precision_unscale(f->p, i);
		for (int32_t c = 0; c < f->columns; c++)
			mean[i * f->columns + c] += level[i];
	}
	for (int64_t e = 0; e < m * f->columns && !f->env->dry; e++)
		f->fitted[e] += level[problem->labelled[e / f->columns]];
	gp_free(f->env, level);
}

/* Solves the columns in bands; the solution of the only one is kept where its means are not asked
 * for. */
static void
run_bands(gp_precision_fit *f, double nugget, double tolerance, double *mean)
{
	int64_t		total = (int64_t) f->columns + f->colours;
	bool		single = total <= GP_PRECISION_BATCH;

	gp_precision_set(f->p, f->sigma2, f->d, f->problem->labelled, f->problem->nlabelled, f->noise);
	for (gp_band band = gp_band_first(total, GP_PRECISION_BATCH); band.count > 0;
		 gp_band_next(&band))
	{
		gp_elements b = right_sides(f, band.first, band.count);
		gp_matrix	x = gp_precision_run(f, band.count, &b, energy_of(f, &b), tolerance,
										 single ? &f->last : NULL);

		gp_elements_free(f->env, &b);
		gp_matrix	rows = gp_gather(f->dev, x, f->problem->labelled, f->problem->nlabelled);
		double	   *host = gp_download(f->dev, rows);

		read_labels(f, host, true, band.first, x.cols);
		gp_free(f->env, host);
		f->dev->destroy(f->dev, &rows);
		if (mean)
			read_means(f, x, true, band.first, mean);
		else if (single)
		{
			f->last = gp_precision_unscaled(f->p, &x);
			f->last_prior = (gp_prior_score) {f->sigma2, f->d, nugget, f->run_error};
		}
		f->dev->destroy(f->dev, &x);
	}
}

/* The best solution of the space at the labels, with the prior and noise in hand; returns what the
 * last products gained. */
static double
search_space(gp_precision_fit *f, double nugget)
{
	int64_t		cols = (int64_t) f->columns + f->colours;
	double	   *x = gp_alloc_figures(f->env, f->problem->nlabelled, cols * sizeof(double));

	f->noise = nugget * f->mean_diag;
	double		gained = gp_krylov_solve(f->space, f->sigma2, f->d, f->noise, x);
	read_labels(f, x, false, 0, cols);
	gp_free(f->env, x);
	return gained;
}

void
gp_precision_span(gp_precision_fit *f, const gp_plan *plan, double sigma2, int d)
{
	const gp_problem *problem = f->problem;
	int64_t		total = (int64_t) f->columns + f->colours;

	if (!f->costly_products || plan->products == 0 || d > 2 || total > GP_PRECISION_BATCH ||
		!has_few_labels(problem))
		return;
	f->noise = 1.0;
	gp_elements	b = right_sides(f, 0, total);
	f->space = gp_krylov_open(f->dev, f->s, problem->type, problem->labelled, problem->nlabelled,
							  total, &b, plan->products);
	gp_elements_free(f->env, &b);
	gp_precision_set_prior(f, sigma2, d);
	if (!(search_space(f, GP_PRECISION_NUGGET) <= GP_TOLERANCE_COMPARED_COSTLY))
		leave_space(f);
}

void
gp_precision_solve_labels(gp_precision_fit *f, double nugget, double tolerance, double *mean)
{
	bool		with_level = mean && f->level > 0.0;
	double		level = with_level ? 0.0 : f->level;

	f->noise = nugget * f->mean_diag;
	if (f->space)
		search_space(f, nugget);
	if (f->space && mean)
	{
		/* From here on products refine the solution of one prior and nugget. */
		f->last = gp_krylov_solution(f->space);
		f->last_prior = (gp_prior_score) {0};
		leave_space(f);
	}
	/* The last solution is that of the prior and the nugget in hand, and good enough. */
	const gp_prior_score *of = &f->last_prior;
	bool		at_hand = f->last.data && !f->env->dry && of->sigma2 == f->sigma2 &&
		of->d == f->d && of->nugget == nugget && of->score <= tolerance;
	if (f->space == NULL && !at_hand)
		run_bands(f, nugget, tolerance, mean);
	else if (f->space == NULL)
	{
		/* What has been read at the labels stands; who takes the means is the last to need the
		 * memory. */
		f->error = fmax(f->error, f->last_prior.score);
		if (mean)
		{
			read_means(f, f->last, false, 0, mean);
			f->dev->destroy(f->dev, &f->last);
		}
	}
	if (with_level)
		add_level(f, tolerance, mean);
	/* Each label's prediction without itself; fitted is the posterior mean of y less a
	 * level. */
	GP_EACH(f->env, k, gp_items(f->env, f->problem->nlabelled), k * f->columns)
	{
		double		rest = 1.0 - gp_precision_leverage(f, k);

		for (int64_t e = k * f->columns; e < (k + 1) * f->columns; e++)
		{
			double		y = f->y[e] - level;

			f->loo[e] = f->lone[k] ? 0.0 : y - (y - f->fitted[e]) / rest;
		}
	}
}

double
gp_precision_loo_error(const gp_precision_fit *f, double *total)
{
	double		ym = 0.0;
	double		mm = 0.0;

	if (f->y == f->targets->y)
		return gp_loo_error(f->problem, f->targets, f->loo, f->index, f->nindex, total);
	*total = 0.0;
	GP_EACH(f->env, k, f->nindex, k * f->columns)
	{
		for (int64_t e = (int64_t) f->index[k] * f->columns;
			 e < ((int64_t) f->index[k] + 1) * f->columns; e++)
		{
			*total += f->y[e] * f->y[e];
			ym += f->y[e] * f->loo[e];
			mm += f->loo[e] * f->loo[e];
		}
	}
	return ym > 0.0 && mm > 0.0 ? *total - ym * ym / mm : *total;
}

double
gp_precision_nugget_error(void *state, double nugget)
{
	gp_precision_fit *f = state;
	double		total;

	gp_precision_solve_labels(f, nugget, gp_precision_compare_tolerance(f), NULL);
	return f->env->dry ? 0.0 : gp_precision_loo_error(f, &total);
}


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

#define PAD 16					/* columns that a row of sparse products takes at no more cost */
#define FEWEST_COLOURS 8		/* of labels */
/* columns that stand for many classes while a nugget is looked for */
#define SKETCH 8
#define FEW_LABELS 0.05			/* of the nodes: so many that a system of theirs takes no time */

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
	double	   *sketch = gp_alloc_values(f->env, m * SKETCH, sizeof(double));

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
close_krylov(gp_precision_fit *f)
{
	if (f->krylov)
		gp_krylov_close(f->krylov);
	f->krylov = NULL;
}

/* Solutions of other right sides. */
static void
drop_solutions(gp_precision_fit *f)
{
	f->dev->destroy(f->dev, &f->last.x);
	close_krylov(f);
}

static bool
has_few_labels(const gp_problem *problem)
{
	return (double) problem->nlabelled <= FEW_LABELS * (double) problem->graph->nodes;
}

/*
 * Colours the labels beside the columns in hand: one each where they are few, else what fills the
 * rows of sparse products.  The errors of many probes cancel, which serves to compare with kernels
 * of features.  Returns true where there are more or fewer colours than before.
 */
static bool
colour_labels(gp_precision_fit *f, bool sketch)
{
	int64_t		m = f->problem->nlabelled;
	int64_t		wide = ((int64_t) f->columns + FEWEST_COLOURS + PAD - 1) / PAD * PAD - f->columns;
	bool		rough = sketch && f->problem->loo_only && f->problem->features &&
		!has_few_labels(f->problem);
	bool		exact = m <= wide || (!rough && (double) m * (double) f->s->rows <= GP_PROBE_WORK);
	int32_t		colours = (int32_t) (exact ? m : wide);
	bool		changed = f->colours != colours;

	gp_free(f->env, f->colour);
	f->colours = colours;
	f->colour = gp_probe_colours(f->env, f->s, f->problem->labelled, m, colours);
	return changed;
}

/* True where one Krylov space of all targets serves a comparison to its end. */
static bool
spans_all_targets(const gp_precision_fit *f)
{
	return f->problem->loo_only && gp_precision_is_costly(f->s) && has_few_labels(f->problem) &&
		f->targets->columns + FEWEST_COLOURS <= GP_PRECISION_BATCH;
}

void
gp_precision_set_targets(gp_precision_fit *f, bool sketch)
{
	bool		many = sketch && f->targets->columns > SKETCH && !spans_all_targets(f);
	const double *before = f->y;

	if (many && f->sketch == NULL)
		f->sketch = make_sketch(f);
	f->y = many ? f->sketch : f->targets->y;
	f->columns = many ? SKETCH : f->targets->columns;
	f->class_mean = many || f->problem->task == GP_TASK_VALUES ? 0.0 : 1.0 / f->columns;
	bool		recoloured = colour_labels(f, sketch);
	if (f->y != before || recoloured)
		drop_solutions(f);
}

/*
 * The labels that are the only one of their component: without theirs the posterior mean is exactly
 * 0, and rounding must not hint at the class.
 */
static bool *
sole_labels(gp_env *env, const int32_t *component, int64_t nodes, const int32_t *labelled,
			int64_t n)
{
	bool	   *sole = gp_alloc_values(env, n, sizeof(bool));
	int32_t    *labels = env->dry ? gp_alloc_values(env, nodes, sizeof(int32_t)) :
		gp_alloc_zero(env, nodes, sizeof(int32_t));

	for (int64_t k = 0; k < n && !env->dry; k++)
		labels[component[labelled[k]]]++;
	for (int64_t k = 0; k < n && !env->dry; k++)
		sole[k] = labels[component[labelled[k]]] == 1;
	gp_free(env, labels);
	return sole;
}

void
gp_precision_fit_open(gp_precision_fit *f, gp_device *dev, const gp_problem *problem,
					  const gp_targets *targets, const gp_csr *s)
{
	int64_t		room = problem->nlabelled * gp_max64(targets->columns, SKETCH);

	*f = (gp_precision_fit) {.env = dev->env, .dev = dev, .s = s, .problem = problem,
							 .targets = targets};
	/* Beside kernels of features, few labels need no exact comparison to leave this one out. */
	f->costly_products = gp_precision_is_costly(s) ||
		(problem->loo_only && problem->features && has_few_labels(problem));
	f->p = gp_precision_open(dev, s, problem->type);
	f->component = gp_graph_components(f->env, s->rows, s->start, s->col, s->value, false);
	f->sole_label = sole_labels(f->env, f->component, s->rows, problem->labelled,
								problem->nlabelled);
	f->fitted = gp_alloc_values(f->env, room, sizeof(double));
	f->loo = gp_alloc_values(f->env, room, sizeof(double));
	f->variance = gp_alloc_values(f->env, problem->nlabelled, sizeof(double));
	f->variance_floor = gp_alloc_values(f->env, problem->nlabelled, sizeof(double));
	f->index = gp_loo_sample(f->env, targets, problem->nlabelled, &f->nindex);
}

void
gp_precision_fit_close(gp_precision_fit *f)
{
	if (f->p)
		gp_precision_close(f->p);
	drop_solutions(f);
	gp_free_all(f->env, f->moment, f->sketch, f->colour, f->component, f->sole_label, f->fitted,
				f->variance, f->variance_floor, f->index);
}

void
gp_precision_set_prior(gp_precision_fit *f, double sigma2, int d)
{
	f->sigma2 = sigma2;
	f->d = d;
	if (f->moment == NULL)
		f->moment = gp_prior_moments(f->dev, f->s, f->problem->type, f->problem->seed);
	f->mean_diag = gp_prior_mean(f->moment, sigma2, d);
}

/*
 * Right sides of a band of the columns: targets over the noise, then probes.
 *
 * Classes lack the mean of a row, 1 / classes: it is the same for all, so that no order of them
 * depends on it, and a constant takes by far the most steps to converge.  add_class_mean solves it
 * as one column for the posterior in the end.
 */
static gp_elements
right_sides(const gp_precision_fit *f, int64_t first, int64_t cols)
{
	int64_t		m = f->problem->nlabelled;
	int64_t		last = gp_min64(f->columns, first + cols);
	int64_t		width = gp_max64(last - first, 0) + 1;
	gp_elements b = gp_elements_make(f->env, m * width, first, cols);

	GP_EACH(f->env, k, gp_items(f->env, m), k * width)
	{
		int32_t		node = f->problem->labelled[k];

		for (int64_t j = first; j < last; j++)
			gp_elements_add(&b, node, j, (f->y[k * f->columns + j] - f->class_mean) / f->noise);
		gp_elements_add(&b, node, f->columns + f->colour[k],
						gp_probe_sign(f->problem->seed, node) / f->noise);
	}
	return b;
}

/* Reads the labels' rows of a solution's columns first to first + cols: means and variances. */
static void
read_label_posterior(gp_precision_fit *f, const double *x, int64_t first, int64_t cols)
{
	int32_t		columns = f->columns;

	GP_EACH(f->env, k, gp_items(f->env, f->problem->nlabelled), k * cols)
	{
		int32_t		node = f->problem->labelled[k];
		int64_t		probe = columns + f->colour[k] - first;

		f->variance_floor[k] = gp_precision_variance_floor(f->p, f->sigma2, f->d, f->noise,
														   node);
		for (int64_t j = 0; j < cols && first + j < columns; j++)
			f->fitted[k * columns + first + j] = x[k * cols + j];
		if (probe >= 0 && probe < cols)
			f->variance[k] = f->noise * gp_probe_sign(f->problem->seed, node) * x[k * cols + probe];
	}
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
	return fmax(f->variance_floor[k], fmin(f->variance[k], f->noise / (1.0 + f->noise))) / f->noise;
}

/*
 * Most of a constant's posterior mean, which takes by far the most steps to converge: the vector
 * that L takes to 0, the roots of degrees, where components have labels.  The room is for one
 * number a node.
 */
static gp_matrix
constant_start(const gp_precision_fit *f, double *room)
{
	const gp_graph *graph = f->problem->graph;
	int64_t		n = f->s->rows;
	bool	   *has_label = gp_alloc_zero(f->env, n, sizeof(bool));

	for (int64_t k = 0; k < gp_items(f->env, f->problem->nlabelled); k++)
		has_label[f->component[f->problem->labelled[k]]] = true;
	memset(room, 0, gp_items(f->env, n) * sizeof(double));
	GP_EACH(f->env, i, gp_items(f->env, n), graph->start[i])
	{
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
		{
			double		w = graph->weight ? fmax(graph->weight[k], 0.0) : 1.0;

			room[i] += w;
			room[graph->col[k]] += graph->directed ? w : 0.0;
		}
	}
	GP_EACH(f->env, i, gp_items(f->env, n), i)
		room[i] = has_label[f->component[i]] ? sqrt(room[i]) : 0.0;
	gp_free(f->env, has_label);
	return gp_upload(f->dev, gp_matrix_wrap(room, n, 1, GP_DOUBLE), f->problem->type);
}

/* Adds the posterior mean of class_mean to all classes, at the labels and to mean, if given. */
static void
add_class_mean(gp_precision_fit *f, double tolerance, double *mean)
{
	const gp_problem *problem = f->problem;
	int64_t		n = f->s->rows;
	int64_t		m = problem->nlabelled;
	double	   *constant = gp_alloc_values(f->env, n, sizeof(double));
	gp_elements b = gp_elements_make(f->env, m, 0, 1);
	gp_convergence reached;

	for (int64_t k = 0; k < gp_items(f->env, m); k++)
		gp_elements_add(&b, problem->labelled[k], 0, f->class_mean / f->noise);
	gp_matrix	start = constant_start(f, constant);
	gp_matrix	x = gp_precision_solve(f->p, &b, energy_of(f, &b), tolerance,
									   GP_PRECISION_MOST, &start, &reached);
	f->error = fmax(f->error, reached.error);
	gp_elements_free(f->env, &b);
	f->dev->download(f->dev, gp_matrix_wrap(constant, n, 1, GP_DOUBLE), x);
	f->dev->destroy(f->dev, &x);
	GP_EACH(f->env, i, mean ? gp_items(f->env, n) : 0, i * f->columns)
		for (int32_t c = 0; c < f->columns; c++)
			mean[i * f->columns + c] += constant[i];
	for (int64_t e = 0; e < gp_items(f->env, m * f->columns); e++)
		f->fitted[e] += constant[problem->labelled[e / f->columns]];
	gp_free(f->env, constant);
}

/*
 * Solves all columns, a band at a time, but where the last solution is that of the prior and noise
 * in hand, and good enough.  Where the columns are one band, its solution is kept for the next to
 * start from, until means are asked for: who wants them is the last to need the memory.
 */
static void
solve_columns(gp_precision_fit *f, double tolerance, double *mean)
{
	gp_device  *dev = f->dev;
	const gp_problem *problem = f->problem;
	int64_t		m = problem->nlabelled;
	int64_t		total = (int64_t) f->columns + f->colours;
	gp_precision_solution *last = &f->last;
	bool		solved = last->x.data && !f->env->dry && last->sigma2 == f->sigma2 &&
		last->d == f->d && last->noise == f->noise && last->error <= tolerance;

	if (!solved)
		gp_precision_set(f->p, f->sigma2, f->d, problem->labelled, m, f->noise);
	for (gp_band band = gp_band_first(total, GP_PRECISION_BATCH); band.count > 0;
		 gp_band_next(&band))
	{
		if (!solved)
		{
			gp_elements b = right_sides(f, band.first, band.count);
			gp_convergence reached;
			gp_matrix	x = gp_precision_solve(f->p, &b, energy_of(f, &b), tolerance,
											   GP_PRECISION_MOST, &last->x, &reached);

			gp_elements_free(f->env, &b);
			*last = (gp_precision_solution) {x, f->sigma2, f->d, f->noise, reached.error};
		}
		f->error = fmax(f->error, last->error);
		gp_matrix	rows = gp_gather(dev, last->x, problem->labelled, m);
		double	   *host = gp_download(dev, rows);
		read_label_posterior(f, host, band.first, band.count);
		gp_free(f->env, host);
		dev->destroy(dev, &rows);
		int64_t		classes = gp_min64(f->columns - band.first, band.count);
		if (mean && classes > 0)
		{
			gp_matrix	all = gp_matrix_wrap(mean, f->s->rows, f->columns, GP_DOUBLE);

			dev->download(dev, gp_matrix_cols(all, band.first, classes),
						  gp_matrix_cols(last->x, 0, classes));
		}
		if (mean || total > GP_PRECISION_BATCH)
			dev->destroy(dev, &last->x);
	}
}

/* The best solution of the Krylov space at the labels, with the prior and noise in hand; returns
 * what the last products gained. */
static double
search_krylov(gp_precision_fit *f)
{
	int64_t		cols = (int64_t) f->columns + f->colours;
	const double *x;
	double		gained = gp_krylov_solve(f->krylov, f->sigma2, f->d, f->noise, &x);

	read_label_posterior(f, x, 0, cols);
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
	f->krylov = gp_krylov_open(f->dev, f->s, problem->type, problem->labelled, problem->nlabelled,
							   &b, plan->products, problem->loo_only);
	gp_elements_free(f->env, &b);
	gp_precision_set_prior(f, sigma2, d);
	f->noise = GP_PRECISION_NUGGET * f->mean_diag;
	if (!(search_krylov(f) <= GP_TOLERANCE_COMPARED_COSTLY))
		close_krylov(f);
}

void
gp_precision_solve_labels(gp_precision_fit *f, double nugget, double tolerance, double *mean)
{
	bool		adds_mean = (mean || f->is_last) && f->class_mean > 0.0;
	double		left_out = adds_mean ? 0.0 : f->class_mean;	/* of y, by fitted */

	f->noise = nugget * f->mean_diag;
	if (f->krylov)
		search_krylov(f);
	if (f->krylov && mean)
	{
		/* Products refine the solution of one prior and nugget. */
		f->dev->destroy(f->dev, &f->last.x);
		f->last = (gp_precision_solution) {.x = gp_krylov_solution(f->krylov)};
		close_krylov(f);
	}
	if (f->krylov && f->is_last && f->env->dry)
	{
		/* Conjugate gradients take over where the space is too small.  A plan counts their memory,
		 * first without a start, then with one, and none of their steps. */
		close_krylov(f);
		solve_columns(f, 1.0, NULL);
		solve_columns(f, 1.0, NULL);
	}
	else if (f->krylov == NULL)
		solve_columns(f, tolerance, mean);
	else if (adds_mean)
		gp_precision_set(f->p, f->sigma2, f->d, f->problem->labelled, f->problem->nlabelled,
						 f->noise);
	if (adds_mean)
		add_class_mean(f, tolerance, mean);
	/* Each label's prediction without itself */
	GP_EACH(f->env, k, gp_items(f->env, f->problem->nlabelled), k * f->columns)
	{
		double		rest = 1.0 - gp_precision_leverage(f, k);

		for (int64_t e = k * f->columns; e < (k + 1) * f->columns; e++)
		{
			double		y = f->y[e] - left_out;

			f->loo[e] = f->sole_label[k] ? 0.0 : y - (y - f->fitted[e]) / rest;
		}
	}
}

double
gp_precision_loo_error(const gp_precision_fit *f, double *total)
{
	double		ym = 0.0;
	double		mm = 0.0;

	*total = 0.0;
	if (f->env->dry)
		return 0.0;
	if (f->y == f->targets->y)
		return gp_loo_error(f->problem, f->targets, f->loo, f->index, f->nindex, total);
	/* Of a sketch: min over a of |y - a m|^2 = |y|^2 - (y'm)^2 / |m|^2 for its means m, for only
	 * their order counts. */
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
	return gp_precision_loo_error(f, &total);
}


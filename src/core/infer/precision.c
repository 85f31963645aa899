/*
 * precision.c - the posterior of Laplacian kernels by conjugate gradients, without a factor.
 *
 * All that leave-one-out asks for is the posterior itself: with S = K(t,t) + e I, the residual
 * of the labels is y - F = e S^-1 y, and their posterior variances are V with
 * [S^-1]_ii = (1 - V_ii / e) / e; so the prediction at i without its label is
 * y_i - (y_i - F_i) / (1 - V_ii / e) (Rasmussen and Williams 2006, section 5.4.2).
 *
 * Diagonals of H^-1 are probed (Tang and Saad 2012): nodes of one colour share a right side of
 * random signs, and neighbours have different colours where there are enough.  What is left
 * of the others of a colour is small beside the diagonal.  Few labels have a colour each,
 * and their diagonal is exact.
 */
#include "precision.h"

#include <math.h>

#include "graph/walks.h"
#include "infer_internal.h"

#define BATCH 64				/* columns that are solved at once */
#define PAD 16					/* columns that a row of sparse products takes at no more cost */
#define FEWEST_COLOURS 8		/* of labels */
#define FEWEST_NODE_COLOURS 14	/* of all nodes */
#define EXACT_NODES 4096		/* up to which every variance is exact */
#define SAMPLE 32				/* nodes whose variance is probed apart, to tell how good the others are */
#define SAMPLE_COLUMNS 2		/* that they share: so few that they hardly meet */
#define SKETCH 8				/* columns that stand for many classes while a nugget is looked for */
#define PROBE_WORK 4e6			/* nodes x colours that are cheap: where labels need no more, each has its own */
#define COARSE 1e-3				/* the residual's fall while a nugget is looked for */
#define FINE_FLOAT 1e-5			/* and in the end */
#define FINE_DOUBLE 1e-10
#define PROBE 1e-2				/* for variances, whose probes are no better */
#define MOST_ITERATIONS 500

/* A fit on its way. */
typedef struct fit
{
	gp_env	   *env;
	gp_device  *dev;
	gp_precision *p;
	const gp_problem *problem;
	const gp_targets *targets;
	double		sigma2;
	int			d;
	double		mean_diag;
	double		noise;
	bool		exact;			/* each label has a colour of its own */
	int32_t		columns;		/* of the right sides in hand: */
	const double *y;			/* m x columns, the targets or a sketch of them */
	double	   *sketch;			/* m x SKETCH of many classes, or NULL */
	int32_t		colours;
	int32_t    *colour;			/* of each label */
	bool	   *alone;			/* labels without another one in their component */
	double	   *at;				/* m x columns: the posterior mean of y at the labels */
	double	   *variance;		/* m: V_ii at the labels */
	double	   *loo;			/* m x columns */
	double		residual;		/* the worst one met since it was set to 0 */
	int32_t    *index;			/* the labels that count */
	int64_t		nindex;
} fit;

/* The sign of a node among the probes of its colour. */
static double
probe_sign(const fit *f, int32_t node)
{
	return gp_hash(f->problem->seed ^ gp_hash(~(uint64_t) node)) & 1 ? 1.0 : -1.0;
}

/* The sign of a class in a column of the sketch. */
static double
class_sign(const fit *f, int32_t c, int j)
{
	return gp_hash(f->problem->seed ^ gp_hash(((uint64_t) c << 8) + j)) & 1 ? 1.0 : -1.0;
}

/* The colour that is rarest among the neighbours of a node, the first one from its own place on. */
static int32_t
rarest_colour(const gp_csr *s, int32_t node, const int32_t *of_node, int32_t colours, int32_t *count)
{
	int32_t		first = (int32_t) (gp_hash((uint64_t) node) % (uint64_t) colours);
	int32_t		best = first;

	for (int32_t c = 0; c < colours; c++)
		count[c] = 0;
	for (int64_t k = s->start[node]; k < s->start[node + 1]; k++)
		if (of_node[s->col[k]] >= 0)
			count[of_node[s->col[k]]]++;
	for (int32_t c = 1; c < colours; c++)
		if (count[(first + c) % colours] < count[best])
			best = (first + c) % colours;
	return best;
}

/* Colours some nodes so that neighbours differ where possible; the caller owns the result. */
static int32_t *
colour_nodes(const fit *f, const int32_t *node, int64_t n, int32_t colours)
{
	const gp_csr *s = gp_precision_pattern(f->p);
	int32_t    *of_node = gp_alloc_array(f->env, s->rows, sizeof(int32_t));
	int32_t    *colour = gp_alloc_array(f->env, n, sizeof(int32_t));
	int32_t    *count = gp_alloc_array(f->env, colours, sizeof(int32_t));
	int64_t		next = 0;

	for (int64_t i = 0; i < s->rows; i++)
		of_node[i] = -1;
	for (int64_t k = 0; k < n; k++)
	{
		int32_t		i = node ? node[k] : (int32_t) k;

		gp_look(f->env, s->start[i] + k * colours, &next);
		colour[k] = of_node[i] = n <= colours ? (int32_t) k :
			rarest_colour(s, i, of_node, colours, count);
	}
	gp_free(f->env, count);
	gp_free(f->env, of_node);
	return colour;
}

/* The representative of a node's component so far. */
static int32_t
find_root(int32_t *parent, int32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/*
 * Labels of which no other label can know anything: without theirs the posterior mean is
 * exactly 0, and rounding must not hint at the class.
 */
static bool *
find_alone(const fit *f)
{
	const gp_csr *s = gp_precision_pattern(f->p);
	const gp_problem *problem = f->problem;
	int32_t    *parent = gp_alloc_array(f->env, s->rows, sizeof(int32_t));
	int32_t    *labels = gp_alloc_zero(f->env, s->rows, sizeof(int32_t));
	bool	   *alone = gp_alloc_array(f->env, problem->nlabelled, sizeof(bool));
	int64_t		next = 0;

	for (int64_t i = 0; i < s->rows; i++)
		parent[i] = (int32_t) i;
	for (int64_t i = 0; i < s->rows; i++)
	{
		gp_look(f->env, s->start[i], &next);
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			if (s->col[k] < i && ((const double *) s->value)[k] > 0.0)
				parent[find_root(parent, s->col[k])] = find_root(parent, (int32_t) i);
	}
	for (int64_t k = 0; k < problem->nlabelled; k++)
		labels[find_root(parent, problem->labelled[k])]++;
	for (int64_t k = 0; k < problem->nlabelled; k++)
		alone[k] = labels[find_root(parent, problem->labelled[k])] == 1;
	gp_free(f->env, labels);
	gp_free(f->env, parent);
	return alone;
}

/*
 * Colours for the labels beside so many columns: one each where they are few, else what fills
 * the rows of sparse products.
 */
static void
colour_labels(fit *f, int32_t columns)
{
	int64_t		m = f->problem->nlabelled;
	int64_t		wide = ((int64_t) columns + FEWEST_COLOURS + PAD - 1) / PAD * PAD - columns;
	bool		exact = (double) m * (double) f->problem->graph->nodes <= PROBE_WORK || m <= wide;

	gp_free(f->env, f->colour);
	f->colours = (int32_t) (exact ? m : wide);
	f->colour = colour_nodes(f, f->problem->labelled, m, f->colours);
}

/*
 * A few random combinations of the classes, each without a mean: products of rows that are
 * centred are kept on average, and so is the error that chooses (Johnson and Lindenstrauss
 * 1984).
 */
static double *
make_sketch(const fit *f)
{
	int32_t		classes = f->targets->columns;
	int64_t		m = f->problem->nlabelled;
	double	   *sketch = gp_alloc_array(f->env, m * SKETCH, sizeof(double));

	for (int j = 0; j < SKETCH; j++)
	{
		double		mean = 0.0;

		for (int32_t c = 0; c < classes; c++)
			mean += class_sign(f, c, j) / classes;
		for (int64_t k = 0; k < m; k++)
			sketch[k * SKETCH + j] = class_sign(f, f->problem->label[k], j) - mean;
	}
	return sketch;
}

/* Works on a sketch of the targets, or on all of them. */
static void
set_targets(fit *f, bool sketch)
{
	bool		many = sketch && f->targets->columns > SKETCH;

	if (many && f->sketch == NULL)
		f->sketch = make_sketch(f);
	f->y = many ? f->sketch : f->targets->y;
	f->columns = many ? SKETCH : f->targets->columns;
	colour_labels(f, f->columns);
}

/* Prepares a fit. */
static void
fit_open(fit *f, gp_device *dev, const gp_problem *problem, const gp_targets *targets)
{
	int64_t		room = problem->nlabelled * gp_max64(targets->columns, SKETCH);

	*f = (fit) {.env = dev->env, .dev = dev, .problem = problem, .targets = targets};
	f->p = gp_precision_open(dev, problem->graph, problem->type);
	f->alone = find_alone(f);
	f->at = gp_alloc_array(f->env, room, sizeof(double));
	f->loo = gp_alloc_array(f->env, room, sizeof(double));
	f->variance = gp_alloc_array(f->env, problem->nlabelled, sizeof(double));
	f->index = gp_loo_sample(f->env, targets, problem->nlabelled, &f->nindex);
}

/* Frees all but the leave-one-out means. */
static void
fit_close(fit *f)
{
	gp_precision_close(f->p);
	gp_free(f->env, f->sketch);
	gp_free(f->env, f->colour);
	gp_free(f->env, f->alone);
	gp_free(f->env, f->at);
	gp_free(f->env, f->variance);
	gp_free(f->env, f->index);
}

/* Sets the prior. */
static void
set_prior(fit *f, double sigma2, int d)
{
	f->sigma2 = sigma2;
	f->d = d;
	f->mean_diag = gp_precision_mean_diagonal(f->p, sigma2, d, f->problem->seed);
}

/* Adds an element that lies in the columns from first on, cols of them. */
static void
add_element(gp_elements *b, int32_t row, int64_t col, int64_t first, int64_t cols, double value)
{
	if (value == 0.0 || col < first || col >= first + cols)
		return;
	b->row[b->n] = row;
	b->col[b->n] = (int32_t) (col - first);
	b->value[b->n++] = value;
}

/* Room for so many elements. */
static gp_elements
make_elements(gp_env *env, int64_t n)
{
	return (gp_elements) {
		.row = gp_alloc_array(env, n, sizeof(int32_t)),
		.col = gp_alloc_array(env, n, sizeof(int32_t)),
		.value = gp_alloc_array(env, n, sizeof(double))
	};
}

/* The right sides of columns first to first + cols: targets over the noise, then probes. */
static gp_elements
right_sides(const fit *f, int64_t first, int64_t cols)
{
	int64_t		m = f->problem->nlabelled;
	int64_t		last = gp_min64(f->columns, first + cols);
	gp_elements b = make_elements(f->env, m * (gp_max64(last - first, 0) + 1));

	for (int64_t k = 0; k < m; k++)
	{
		int32_t		node = f->problem->labelled[k];

		for (int64_t j = first; j < last; j++)
			add_element(&b, node, j, first, cols, f->y[k * f->columns + j] / f->noise);
		add_element(&b, node, f->columns + f->colour[k], first, cols,
					probe_sign(f, node) / f->noise);
	}
	return b;
}

/* Frees them. */
static void
free_elements(gp_env *env, gp_elements *b)
{
	gp_free(env, b->row);
	gp_free(env, b->col);
	gp_free(env, b->value);
}

/* Reads the labels' rows of a solution. */
static void
take_labels(fit *f, gp_matrix x, int64_t first)
{
	gp_device  *dev = f->dev;
	int64_t		m = f->problem->nlabelled;
	int32_t		columns = f->columns;
	gp_matrix	rows = dev->create(dev, m, x.cols, x.type);
	double	   *host = gp_alloc_figures(f->env, m, x.cols * sizeof(double));

	dev->gather_rows(dev, rows, x, f->problem->labelled);
	dev->download(dev, gp_matrix_wrap(host, m, x.cols, GP_DOUBLE), rows);
	for (int64_t k = 0; k < m && !f->env->dry; k++)
	{
		int32_t		node = f->problem->labelled[k];
		double		unscale = gp_precision_unscale(f->p, node);
		int64_t		probe = columns + f->colour[k] - first;

		for (int64_t j = 0; j < x.cols && first + j < columns; j++)
			f->at[k * columns + first + j] = unscale * host[k * x.cols + j];
		if (probe >= 0 && probe < x.cols)
			f->variance[k] = f->noise * unscale * probe_sign(f, node) * host[k * x.cols + probe];
	}
	gp_free(f->env, host);
	dev->destroy(dev, &rows);
}

/* Reads the classes' columns of a solution at all nodes into mean, nodes x columns. */
static void
take_means(fit *f, gp_matrix x, int64_t first, double *mean)
{
	int32_t		columns = f->columns;
	int64_t		cols = gp_min64(x.cols, columns - first);
	gp_matrix	out = gp_matrix_wrap(mean, x.rows, columns, GP_DOUBLE);
	int64_t		next = 0;

	if (cols <= 0)
		return;
	f->dev->download(f->dev, gp_matrix_cols(out, first, cols), gp_matrix_cols(x, 0, cols));
	for (int64_t i = 0; i < x.rows && !f->env->dry; i++)
	{
		double		unscale = gp_precision_unscale(f->p, i);

		gp_look(f->env, i * cols, &next);
		for (int64_t j = first; j < first + cols; j++)
			mean[i * columns + j] *= unscale;
	}
}

/* Solves, and remembers the worst residual. */
static gp_matrix
solve(fit *f, int64_t cols, const gp_elements *b, double tolerance)
{
	gp_effort	effort;
	gp_matrix	x = gp_precision_solve(f->p, cols, b, tolerance, MOST_ITERATIONS, &effort);

	f->residual = fmax(f->residual, effort.residual);
	return x;
}

/*
 * Bounds of a label's variance as a share of the noise: 1 / H_ii, and what its own label alone
 * leaves of a prior that is at most 1.
 */
static double
share_of_noise(const fit *f, int64_t k)
{
	double		least = gp_precision_least(f->p, f->problem->labelled[k]);

	return fmax(least, fmin(f->variance[k], f->noise / (1.0 + f->noise))) / f->noise;
}

/* Each label's prediction without itself. */
static void
leave_out(fit *f)
{
	for (int64_t k = 0; k < f->problem->nlabelled; k++)
		for (int64_t e = k * f->columns; e < (k + 1) * f->columns; e++)
			f->loo[e] = f->alone[k] ? 0.0 :
				f->y[e] - (f->y[e] - f->at[e]) / (1.0 - share_of_noise(f, k));
}

/* The posterior at the labels with this nugget, and without each; at all nodes where mean is given. */
static void
solve_labels(fit *f, double nugget, double tolerance, double *mean)
{
	int64_t		total = (int64_t) f->columns + f->colours;

	f->noise = nugget * f->mean_diag;
	gp_precision_set(f->p, f->sigma2, f->d, f->problem->labelled, f->problem->nlabelled, f->noise);
	for (gp_band band = gp_band_first(total, BATCH); band.count > 0; gp_band_next(&band))
	{
		gp_elements b = right_sides(f, band.first, band.count);
		gp_matrix	x = solve(f, band.count, &b, tolerance);

		free_elements(f->env, &b);
		take_labels(f, x, band.first);
		if (mean)
			take_means(f, x, band.first, mean);
		f->dev->destroy(f->dev, &x);
	}
	if (!f->env->dry)
		leave_out(f);
}

/*
 * The leave-one-out error of the predictions in hand, as gp_loo_error has it; a sketch has no
 * means to take off.
 */
static double
error_in_hand(const fit *f, double *total)
{
	double		ym = 0.0;
	double		mm = 0.0;

	if (f->y == f->targets->y)
		return gp_loo_error(f->problem, f->targets, f->loo, f->index, f->nindex, total);
	*total = 0.0;
	for (int64_t k = 0; k < f->nindex; k++)
		for (int64_t e = f->index[k] * f->columns; e < (f->index[k] + 1) * f->columns; e++)
		{
			*total += f->y[e] * f->y[e];
			ym += f->y[e] * f->loo[e];
			mm += f->loo[e] * f->loo[e];
		}
	return ym > 0.0 && mm > 0.0 ? *total - ym * ym / mm : *total;
}

/* The leave-one-out error with a nugget. */
static double
nugget_error(void *state, double nugget)
{
	fit		   *f = state;
	double		total;

	solve_labels(f, nugget, COARSE, NULL);
	return f->env->dry ? 0.0 : error_in_hand(f, &total);
}

/* The columns that probe all nodes: a sign at each, then the sample's own. */
static gp_elements
node_probes(const fit *f, const int32_t *colour, const int32_t *sample, int64_t first, int64_t cols,
			int32_t colours)
{
	int64_t		n = f->problem->graph->nodes;
	gp_elements b = make_elements(f->env, n + SAMPLE);

	for (int64_t k = 0; k < n; k++)
		add_element(&b, (int32_t) k, colour[k], first, cols, probe_sign(f, (int32_t) k));
	for (int64_t k = 0; k < SAMPLE; k++)
		add_element(&b, sample[k], colours + k % SAMPLE_COLUMNS, first, cols,
					probe_sign(f, sample[k]));
	return b;
}

/* Reads (H^-1)_ii of the nodes whose colours a solution holds, and what the sample's columns say. */
static void
take_variances(fit *f, gp_matrix x, const gp_elements *b, int64_t first, int32_t colours,
			   double *variance, double *apart)
{
	double	   *host = gp_alloc_figures(f->env, b->n, sizeof(double));

	if (!f->env->dry)
		f->dev->take(f->dev, x, b->n, b->row, b->col, host);
	for (int64_t k = 0; k < b->n && !f->env->dry; k++)
	{
		int32_t		node = b->row[k];
		double		value = host[k] * gp_precision_unscale(f->p, node) * b->value[k];
		bool		is_sample = first + b->col[k] >= colours;

		/* Elements of the sample come last, in its order. */
		if (is_sample)
			apart[SAMPLE - b->n + k] = value;
		else
			variance[node] = fmin(1.0, fmax(value, gp_precision_least(f->p, node)));
	}
	gp_free(f->env, host);
}

/* The root mean square of the sample's relative errors. */
static double
sample_error(const double *variance, const int32_t *sample, const double *apart)
{
	double		sum = 0.0;

	for (int k = 0; k < SAMPLE; k++)
		sum += pow(variance[sample[k]] / apart[k] - 1.0, 2.0) / SAMPLE;
	return sqrt(sum);
}

/* Draws the sample: nodes that follow from the seed, each once where there are enough. */
static void
draw_sample(const fit *f, int32_t *sample)
{
	int64_t		n = f->problem->graph->nodes;
	uint64_t	start = gp_hash(f->problem->seed) % (uint64_t) n;

	for (int k = 0; k < SAMPLE; k++)
		sample[k] = (int32_t) ((start + (uint64_t) (n / SAMPLE) * k) % (uint64_t) n);
}

/* Probes the posterior variance of all nodes; returns the typical error, 0 where it is exact. */
static double
probe_variances(fit *f, double *variance)
{
	int64_t		n = f->problem->graph->nodes;
	bool		all = n <= EXACT_NODES;
	int32_t		colours = all ? (int32_t) n : (int32_t) fmax(FEWEST_NODE_COLOURS, PROBE_WORK / (double) n);
	int32_t    *colour = colour_nodes(f, NULL, n, colours);
	int64_t		total = colours + (all ? 0 : SAMPLE_COLUMNS);
	int32_t		sample[SAMPLE];
	double		apart[SAMPLE];

	draw_sample(f, sample);
	for (gp_band band = gp_band_first(total, BATCH); band.count > 0; gp_band_next(&band))
	{
		gp_elements b = node_probes(f, colour, sample, band.first, band.count, colours);
		gp_matrix	x = solve(f, band.count, &b, all ? COARSE : PROBE);

		take_variances(f, x, &b, band.first, colours, variance, apart);
		free_elements(f->env, &b);
		f->dev->destroy(f->dev, &x);
		f->env->progress(f->env, GP_PHASE_POSTERIOR, band.first + band.count, total);
	}
	gp_free(f->env, colour);
	return all || f->env->dry ? 0.0 : sample_error(variance, sample, apart);
}

/* The regression's figures at the nugget in hand, in the form that all strategies share. */
static gp_solution
solution_of(fit *f, double nugget)
{
	int64_t		m = f->problem->nlabelled;
	int32_t		columns = f->targets->columns;
	gp_solution out = {.nugget = nugget, .noise = f->noise, .mean_diag = f->mean_diag};
	double		quadratic = 0.0;

	out.loo_mean = f->loo;
	out.loo_variance = gp_alloc_array(f->env, m, sizeof(double));
	for (int64_t e = 0; e < m * columns && !f->env->dry; e++)
		quadratic += f->targets->y[e] * (f->targets->y[e] - f->at[e]) / f->noise;
	/* log det (K(t,t) + e I) is not at hand without a factor. */
	gp_solution_scale(f->env, f->problem, f->targets, quadratic, NAN, &out);
	for (int64_t k = 0; k < m && !f->env->dry; k++)
		out.loo_variance[k] = out.scale * f->noise / (1.0 - share_of_noise(f, k));
	return out;
}

/* Tells what the figures do not show. */
static void
tell(fit *f, double residual, double tolerance, double error)
{
	if (residual > tolerance)
		gp_notice(f->env, "Use a smaller sigma2 or a larger nugget.",
				  "conjugate gradients ended after %d iterations at a residual of %.1g",
				  MOST_ITERATIONS, residual);
	if (error > 0.0)
		gp_notice(f->env, "Means do not depend on them.",
				  "variances of unlabelled nodes are estimates, typically %.0f%% off", 100.0 * error);
}

/* True for a program that is a Laplacian prior alone, without columns that were asked for. */
static bool
is_prior(const gp_program *program)
{
	return program->nsteps == 1 && program->power == 1.0 && program->steps[0].kind == GP_STEP_INPUT &&
		program->input.kind == GP_INPUT_LAPLACIAN && program->input.p[GP_LAPLACIAN_DIMS] == 0.0;
}

/*
 * True where conjugate gradients are asked for, or where they serve best: a Laplacian kernel
 * on a graph too large for its root.  Who asks for landmarks, or for the walks' columns, means
 * the factor.
 */
bool
gp_precision_serves(gp_env *env, const gp_problem *problem)
{
	bool		possible = is_prior(problem->program);

	if (problem->strategy == GP_STRATEGY_PRECISION && !possible)
		gp_raise(env, GP_ERR_VALUE, "Use kernel => 'laplacian(sigma2=10, d=2)', or another strategy.",
				 "strategy precision serves laplacian kernels without dims only");
	return problem->strategy == GP_STRATEGY_PRECISION ||
		(possible && problem->strategy == GP_STRATEGY_AUTO && problem->nlandmarks == 0 &&
		 !gp_laplacian_root_fits(env, problem->graph));
}

/* The prior of a program that is one. */
static void
prior_of(const gp_program *program, double *sigma2, int *d)
{
	*sigma2 = program->input.p[GP_LAPLACIAN_SIGMA2];
	*d = (int) program->input.p[GP_LAPLACIAN_D];
}

/* The posterior. */
gp_posterior *
gp_infer_precision(gp_device *dev, const gp_problem *problem, const gp_plan *plan)
{
	gp_env	   *env = dev->env;
	gp_eval		ev = {.dev = dev, .env = env, .n = problem->graph->nodes, .type = problem->type};
	double		fine = problem->type == GP_FLOAT ? FINE_FLOAT : FINE_DOUBLE;
	gp_targets	targets = gp_targets_make(env, problem);
	gp_posterior *out = gp_posterior_create(env, problem, &targets, plan);
	gp_solution solution;
	double		sigma2;
	int			d;
	double		nugget;
	double		residual;
	double		error;
	fit			f;

	fit_open(&f, dev, problem, &targets);
	prior_of(problem->program, &sigma2, &d);
	set_prior(&f, sigma2, d);
	set_targets(&f, true);
	nugget = gp_nugget_choose(env, problem, &targets, nugget_error, &f, 5, 2);
	set_targets(&f, false);
	f.residual = 0.0;
	solve_labels(&f, nugget, fine, out->mean);
	residual = f.residual;
	error = probe_variances(&f, out->variance);
	for (int64_t k = 0; k < problem->nlabelled && !env->dry; k++)
		out->variance[problem->labelled[k]] = f.noise * share_of_noise(&f, k);
	tell(&f, residual, fine, error);
	solution = solution_of(&f, nugget);
	fit_close(&f);
	gp_posterior_finish(env, problem, &targets, &solution, NULL, out);
	gp_posterior_settle(&ev, problem, &targets, &solution, out);
	gp_solution_free(dev, &solution);
	gp_targets_free(env, &targets);
	return out;
}

#define ROUGH 1e-2				/* the residual's fall while priors are compared, */
#define ROUGH_NUGGET 1.0		/* at a nugget where little depends on it */
#define WORTH 0.002				/* of a score: a step that gains less is not followed */

/* Scores a prior with a nugget, and keeps it when it is the best so far; true when it is. */
static bool
try_prior(fit *f, gp_prior_choice *all, double sigma2, int d, double nugget, double tolerance)
{
	gp_prior_score *score = &all->tried[all->n];
	double		total;
	double		error;

	if (all->n == GP_PRIORS_TRIED)
		return false;
	f->env->progress(f->env, GP_PHASE_NUGGET, all->n, GP_PRIORS_TRIED);
	set_prior(f, sigma2, d);
	solve_labels(f, nugget, tolerance, NULL);
	error = error_in_hand(f, &total);
	*score = (gp_prior_score) {sigma2, d, nugget, total > 0.0 ? 1.0 - error / total : 0.0};
	all->n++;
	if (all->n > 1 && score->score < all->tried[all->best].score + WORTH)
		return false;
	all->best = all->n - 1;
	return true;
}

/* The prior and the nugget that leave-one-out likes best, one after the other. */
gp_prior_choice
gp_precision_choose(gp_device *dev, const gp_problem *problem)
{
	gp_targets	targets = gp_targets_make(dev->env, problem);
	gp_prior_choice all = {0};
	fit			f;

	all.tried[0] = (gp_prior_score) {10.0, 2, GP_NUGGET_FEW, NAN};
	all.n = 1;
	if (targets.few || targets.flat)
	{
		gp_targets_free(dev->env, &targets);
		return all;
	}
	all.n = 0;
	fit_open(&f, dev, problem, &targets);
	set_targets(&f, true);
	try_prior(&f, &all, 10.0, 2, ROUGH_NUGGET, ROUGH);
	try_prior(&f, &all, 10.0, 1, ROUGH_NUGGET, ROUGH);
	if (!try_prior(&f, &all, 50.0, all.tried[all.best].d, ROUGH_NUGGET, ROUGH))
		try_prior(&f, &all, 2.0, all.tried[all.best].d, ROUGH_NUGGET, ROUGH);
	fit_close(&f);
	gp_free(dev->env, f.loo);
	gp_targets_free(dev->env, &targets);
	return all;
}

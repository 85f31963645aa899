/*
 * precision_system.c - the posterior's sparse precision, and conjugate gradients on it.
 *
 * H is scaled from both sides to a diagonal of ones, which is Jacobi's preconditioner at no
 * cost: with R the root of diag H, R^-1 H R^-1 = (R^-1 B) B^(d-2) (B R^-1) + R^-2 M / e.
 * An incomplete Cholesky factor of B by rising degree takes a third of the iterations, each
 * of which costs three times as much, in one thread.
 */
#include "precision.h"

#define USUAL_STEPS 5.0			/* that divide the error by e, in a dry run; half with a start */
/* that are looked at where a start leaves hardly anything to gain */
#define WARM_STEPS 3

struct gp_precision
{
	gp_device  *dev;
	gp_env	   *env;
	int64_t		n;
	gp_type		type;
	double		sigma2;
	int			d;
	const gp_csr *s;			/* S with a full diagonal of zeros, double; the caller's */
	gp_csr		left;			/* R^-1 B, or all of it for d = 1; shares the places of s */
	gp_csr		right;			/* B R^-1; d >= 2 */
	gp_csr		middle;			/* B; d >= 3 */
	gp_csr	   *labels;			/* R^-2 M / e; d >= 2 */
	double	   *root;			/* R */
	double	   *inverse;		/* R^-1 */
	gp_conjugate g;				/* what the last solution left for the next, */
	gp_matrix	spare;			/* and room for half a product; d >= 2 */
};

gp_csr *
gp_precision_matrix(gp_env *env, const gp_graph *graph)
{
	gp_csr	   *off_diagonal = gp_graph_smooth(env, graph, 1.0, GP_DOUBLE);
	gp_csr	   *diagonal = gp_csr_identity(env, off_diagonal->rows, GP_DOUBLE);

	gp_csr_scale(diagonal, 0.0);
	gp_csr	   *s = gp_csr_add(env, off_diagonal, diagonal);
	gp_csr_free(env, diagonal);
	gp_csr_free(env, off_diagonal);
	return s;
}

gp_elements
gp_elements_make(gp_env *env, int64_t n, int64_t first, int64_t cols)
{
	return (gp_elements) {
		.n = env->dry ? n : 0,
		.row = gp_alloc_values(env, n, sizeof(int32_t)),
		.col = gp_alloc_values(env, n, sizeof(int32_t)),
		.value = gp_alloc_values(env, n, sizeof(double)),
		.first = first,
		.cols = cols
	};
}

void
gp_elements_free(gp_env *env, gp_elements *b)
{
	gp_free_all(env, b->row, b->col, b->value);
}

void
gp_elements_add(gp_elements *b, int32_t row, int64_t col, double value)
{
	if (value == 0.0 || col < b->first || col >= b->first + b->cols)
		return;
	b->row[b->n] = row;
	b->col[b->n] = (int32_t) (col - b->first);
	b->value[b->n++] = value;
}

gp_precision *
gp_precision_open(gp_device *dev, const gp_csr *s, gp_type type)
{
	gp_env	   *env = dev->env;
	gp_precision *p = gp_alloc_zero(env, 1, sizeof(gp_precision));

	*p = (gp_precision) {.dev = dev,.env = env,.n = s->rows,.type = type,.s = s};
	p->root = gp_alloc_values(env, p->n, sizeof(double));
	p->inverse = gp_alloc_values(env, p->n, sizeof(double));
	return p;
}

/* Frees what conjugate gradients hold. */
static void
free_vectors(gp_precision *p)
{
	gp_conjugate_close(&p->g);
	p->dev->destroy(p->dev, &p->spare);
}

void
gp_precision_close(gp_precision *p)
{
	free_vectors(p);
	gp_csr_free(p->env, p->labels);
	/* The factors' places are S's. */
	gp_free_all(p->env, p->left.value, p->right.value, p->middle.value, p->inverse, p->root,
				p);
}

/* Element k of B = (1 + s2) I - s2 S, in row i. */
static inline double
element(const gp_precision *p, double sigma2, int64_t i, int64_t k)
{
	double		unit = p->s->col[k] == i ? 1.0 + sigma2 : 0.0;

	return unit - sigma2 * ((const double *) p->s->value)[k];
}

/*
 * Element i of B^d's diagonal: exact for d <= 2; beyond, B^d is at most (1 + 2 s2)^(d-2) B^2, whose
 * diagonal serves as well.
 */
static double
diagonal(const gp_precision *p, double sigma2, int d, int64_t i)
{
	double		square = 0.0;

	if (d == 1)
		return 1.0 + sigma2;
	for (int64_t k = p->s->start[i]; k < p->s->start[i + 1]; k++)
		square += pow(element(p, sigma2, i, k), 2.0);
	return square * pow(1.0 + 2.0 * sigma2, d - 2);
}

/*
 * One factor of H: B, divided by the root of its rows, its columns, both or none; in the memory
 * that the factor of the last H had, for new pages would cost as much as the numbers.
 */
static void
make_factor(gp_precision *p, double sigma2, bool rows, bool cols, gp_csr *out)
{
	void	   *value = out->value ? out->value :
		gp_alloc_values(p->env, gp_csr_entries(p->s), gp_type_size(p->type));

	*out = *p->s;
	out->type = p->type;
	out->stamp = gp_csr_stamp();
	out->value = value;
	GP_EACH(p->env, i, gp_items(p->env, p->n), p->s->start[i])
	{
		double		row = rows ? p->inverse[i] : 1.0;

		for (int64_t k = p->s->start[i]; k < p->s->start[i + 1]; k++)
			gp_number_put(value, p->type, k, element(p, sigma2, i, k) * row *
						  (cols ? p->inverse[p->s->col[k]] : 1.0));
	}
}

void
gp_precision_set(gp_precision *p, double sigma2, int d, const int32_t *labelled,
				 int64_t nlabelled, double noise)
{
	gp_csr_free(p->env, p->labels);
	p->labels = NULL;
	p->sigma2 = sigma2;
	p->d = d;
	if (!p->env->dry)
	{
		/* R, from the diagonal of B^d + M / e */
		GP_EACH(p->env, i, p->n, p->s->start[i])
			p->root[i] = diagonal(p, sigma2, p->d, i);
		for (int64_t k = 0; k < nlabelled; k++)
			p->root[labelled[k]] += 1.0 / noise;
		GP_EACH(p->env, i, p->n, i)
		{
			p->root[i] = sqrt(p->root[i]);
			p->inverse[i] = 1.0 / p->root[i];
		}
	}
	make_factor(p, sigma2, true, d == 1, &p->left);
	if (d >= 2)
		make_factor(p, sigma2, false, true, &p->right);
	if (d >= 3)
		make_factor(p, sigma2, false, false, &p->middle);
	/* What the labels add: to the diagonal of the one factor there is, or as a matrix of its
	 * own. */
	int64_t		at = 0;
	if (p->d > 1)
		p->labels = gp_csr_create(p->env, p->n, p->n, nlabelled, p->type);
	for (int64_t k = 0; k < nlabelled && !p->env->dry; k++)
	{
		int32_t		i = labelled[k];
		double		value = 1.0 / (noise * p->root[i] * p->root[i]);

		if (p->d == 1)
		{
			at = gp_csr_find(p->s->start, p->s->col, i, i);
			gp_number_put(p->left.value, p->type, at,
						  gp_number_at(p->left.value, p->type, at) + value);
			continue;
		}
		p->labels->col[k] = i;
		gp_number_put(p->labels->value, p->type, k, value);
		p->labels->start[i + 1] = 1;
	}
	if (p->d > 1)
		gp_offsets_of_counts(p->labels->start, gp_items(p->env, p->n));
}

double
gp_precision_variance_floor(const gp_precision *p, double sigma2, int d, double noise, int64_t node)
{
	return 1.0 / (diagonal(p, sigma2, d, node) + 1.0 / noise);
}

/* to = H from. */
static void
multiply(void *system, gp_matrix from, gp_matrix to)
{
	gp_precision *p = system;
	gp_device  *dev = p->dev;
	gp_matrix	now = from;
	gp_matrix	next = p->d % 2 == 0 ? p->spare : to;
	gp_matrix	other = p->d % 2 == 0 ? to : p->spare;

	for (int k = p->d - 1; k >= 0; k--)
	{
		const gp_csr *factor = k == 0 ? &p->left : k == p->d - 1 ? &p->right : &p->middle;
		gp_matrix	done = next;

		dev->spmm(dev, 1.0, factor, now, 0.0, next);
		next = other;
		now = other = done;
	}
	if (p->labels)
		dev->spmm(dev, 1.0, p->labels, from, 1.0, to);
}

/* R x, or R^-1 x; the memory of x and of a product change places. */
static void
scale_rows(gp_precision *p, gp_matrix *x, bool up)
{
	gp_csr	   *scale = gp_csr_identity(p->env, p->n, p->type);
	gp_matrix	out = p->g.product;

	GP_EACH(p->env, i, gp_items(p->env, p->n), i)
		gp_number_put(scale->value, p->type, i, up ? p->root[i] : p->inverse[i]);
	p->dev->spmm(p->dev, 1.0, scale, *x, 0.0, out);
	p->g.product = *x;
	*x = out;
	gp_csr_free(p->env, scale);
}

/* Makes room, and the right sides the first residual; true where x has a start. */
static bool
prepare(gp_precision *p, const gp_elements *b, gp_matrix *start)
{
	gp_device  *dev = p->dev;
	double	   *scaled = gp_alloc_values(p->env, b->n, sizeof(double));
	gp_conjugate *g = &p->g;
	bool		started = start && start->data;

	/* What a run on this many columns left serves the next: new pages of large vectors would cost
	 * as much as a product */
	if (g->dev && g->residual.cols != b->cols)
		free_vectors(p);
	if (g->dev == NULL)
		*g = gp_conjugate_open(dev, p->n, b->cols, p->type, multiply, p);
	if (p->d > 1 && p->spare.data == NULL)
		p->spare = dev->create(dev, p->n, b->cols, p->type);
	if (started)
	{
		g->x = *start;
		*start = (gp_matrix) {0};
		scale_rows(p, &g->x, true);
	}
	else
		g->x = gp_filled(dev, p->n, b->cols, p->type, 0.0);
	dev->fill(dev, g->residual, 0.0);
	for (int64_t k = 0; k < b->n && !p->env->dry; k++)
		scaled[k] = b->value[k] / p->root[b->row[k]];
	dev->put(dev, g->residual, b->n, b->row, b->col, scaled);
	gp_free(p->env, scaled);
	return started;
}

/*
 * Starts from the multiple of x that is nearest to the solution, s = <B, X> / <X, H X>; returns
 * <B, s X>, which it gains over nothing.
 */
static double
start_from(gp_precision *p, gp_conjugate *g)
{
	gp_device  *dev = p->dev;

	multiply(p, g->x, g->product);
	double		along = gp_long_dot(&g->dots, g->residual, g->x);
	double		curvature = gp_long_dot(&g->dots, g->x, g->product);
	if (!(along > 0.0 && curvature > 0.0 && isfinite(along / curvature)))
	{
		dev->fill(dev, g->x, 0.0);
		return 0.0;
	}
	double		length = along / curvature;
	dev->axpby(dev, length, g->x, 0.0, g->x);
	dev->axpby(dev, -length, g->product, 1.0, g->residual);
	return length * along;
}

/*
 * The error that so many steps leave, from the gain of the last fifth of them, which are not to
 * be too few: the square of the error at their start, less what is still to come (Strakos and
 * Tichy 2002).  It is relative to what is left of the energy, of which rounding leaves something.
 */
static double
error_left(const double *gained, int steps, int least, double energy)
{
	int			window = steps / 5 + 1 > least ? steps / 5 + 1 : least;
	double		gain = gained[steps] - gained[steps - window < 0 ? 0 : steps - window];
	double		scale = energy > 0.0 ? fmax(energy - gained[steps], 1e-7 * energy) : gained[steps];

	return window > steps ? 1.0 : sqrt(fmax(gain, 0.0) / scale);
}

gp_matrix
gp_precision_solve(gp_precision *p, const gp_elements *b, double energy, double tolerance,
				   int most, gp_matrix *start, gp_convergence *reached)
{
	gp_conjugate *g = &p->g;
	bool		started = prepare(p, b, start);
	double		usual = -log(tolerance) * (started ? 0.5 : 1.0) * USUAL_STEPS;
	double	   *gained = gp_alloc_zero(p->env, most + 1, sizeof(double));

	gp_conjugate_begin(g);
	double		first = g->first;
	if (started)
	{
		gained[0] = start_from(p, g);
		gp_conjugate_begin(g);
	}
	*reached = (gp_convergence) {0, g->square > 0.0 ? 1.0 : 0.0};
	while (g->square > 0.0 && reached->error > tolerance && reached->iterations < most)
	{
		int			k = ++reached->iterations;
		double		gain = gp_conjugate_step(g);

		if (isnan(gain))
			gp_raise(p->env, GP_ERR_RANGE, "Use a smaller sigma2 or a larger nugget.",
					 "the Laplacian kernel with sigma2=%g and d=%d is singular to %s precision",
					 p->sigma2, p->d, p->type == GP_FLOAT ? "single" : "double");
		gained[k] = gained[k - 1] + gain;
		reached->error = p->env->dry ? k < usual :
			fmax(error_left(gained, k, started ? WARM_STEPS : 1, energy), sqrt(g->square / first));
	}
	gp_free(p->env, gained);
	scale_rows(p, &g->x, false);
	gp_matrix	x = g->x;
	g->x = (gp_matrix) {0};
	return x;
}

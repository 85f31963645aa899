/*
 * krylov.c - posteriors of all Laplacian priors from one run of products with S.
 *
 * Each H = B^d + M / e, B = I + s2 L, is a polynomial of S except at its labelled nodes, which are
 * few.  So the posterior mean is looked for among X = sum_j c_j q_j + U: q_j the Lanczos vectors
 * of S from the right sides (Lanczos 1950; all columns as one long vector, so that the q_j are
 * orthonormal and S among them is tridiagonal), and U anything in the rows of the labels.  The
 * best one (Galerkin's: least in H's norm of the error) eliminates U, a system of the labels
 * alone; what is left has as many unknowns as products were made.  Any prior and noise has the
 * same q_j, of which a solution needs the labels' rows only.  A polynomial of S of degree k is as
 * good as k / d steps on H take it, and better, for those find powers of B^d alone.
 *
 * Of the labels alone, with R their rows of S, all columns, B^2 is
 * (1 + s2)^2 I - 2 s2 (1 + s2) S_tt + s2^2 R R': nothing is multiplied out, for labels around a
 * hub meet in pairs.  The noise makes it well conditioned, so that conjugate gradients need no
 * preconditioner.
 */
#include "precision.h"

#define MOST GP_SMALL			/* products */
#define LAST 2					/* vectors whose gain shows whether there are enough */
#define SINGULAR 1e-10			/* of a vector: what is left of the next one */
#define SMALL 1e-6				/* of the right side, what may be left of it */
#define MOST_STEPS 100

/* The labels' rows of S, and S among them; double. */
typedef struct label_system
{
	gp_device  *dev;
	int64_t		n;				/* labels */
	gp_csr	   *own;			/* n x n */
	gp_csr	   *rows;			/* n x the nodes that they reach */
	gp_csr	   *cols;			/* the transpose */
	gp_matrix	reach;			/* room for a row of each node that they reach */
	double		sigma2;			/* of the system in hand, */
	int			d;
	double		noise;
} label_system;

struct gp_krylov
{
	gp_device  *dev;
	gp_env	   *env;
	int64_t		n;
	int64_t		cols;
	gp_type		type;
	const int32_t *labelled;
	int64_t		m;
	bool		labels_only;	/* solutions are asked for at the labels alone */
	int			products;		/* made */
	double		diagonal[MOST];	/* of the tridiagonal matrix, */
	double		beside[MOST + 1];	/* and what follows it: |vector j| / |vector j - 1| */
	double		size[MOST + 1];	/* |vector j| */
	gp_matrix	vector[MOST + 1];	/* not of length 1 */
	double	   *row[MOST + 1];	/* q_j at the labels, m x cols */
	label_system labels;
	double		c[MOST + 1];	/* of the last solution, */
	double	   *x;				/* and its rows at the labels */
};

/* The labels' rows of S, its columns numbered as the labels reach them. */
static label_system
label_system_open(gp_device *dev, const gp_csr *s, const int32_t *labelled, int64_t n)
{
	gp_env	   *env = dev->env;
	label_system l = {.dev = dev, .n = n};
	int64_t		count = 0;
	int32_t    *place = gp_alloc_array(env, s->cols, sizeof(int32_t));

	for (int64_t j = 0; j < s->cols; j++)
		place[j] = -1;
	GP_EACH(env, k, n, s->start[labelled[k]])
	{
		for (int64_t e = s->start[labelled[k]]; e < s->start[labelled[k] + 1]; e++)
			if (place[s->col[e]] < 0)
				place[s->col[e]] = (int32_t) count++;
	}
	l.rows = gp_csr_select(env, s, labelled, n, place, count);
	int32_t    *label_at = gp_alloc_array(env, count, sizeof(int32_t));
	for (int64_t j = 0; j < count; j++)
		label_at[j] = -1;
	/* Each row of S has its diagonal, so that labels reach themselves. */
	for (int64_t k = 0; k < n; k++)
		label_at[place[labelled[k]]] = (int32_t) k;
	/* S among the labels: the columns of their rows that are labels themselves */
	l.own = gp_csr_select(env, l.rows, NULL, n, label_at, n);
	l.cols = gp_csr_transpose(env, l.rows);
	gp_free_all(env, label_at, place);
	return l;
}

/* to = (B^d + I / noise) x among the labels. */
static void
label_product(void *system, gp_matrix x, gp_matrix to)
{
	label_system *l = system;
	gp_device  *dev = l->dev;
	double		unit = 1.0 + l->sigma2;

	dev->axpby(dev, (l->d == 1 ? unit : unit * unit) + 1.0 / l->noise, x, 0.0, to);
	dev->spmm(dev, l->d == 1 ? -l->sigma2 : -2.0 * l->sigma2 * unit, l->own, x, 1.0, to);
	if (l->d == 1)
		return;
	dev->spmm(dev, 1.0, l->cols, x, 0.0, l->reach);
	dev->spmm(dev, l->sigma2 * l->sigma2, l->rows, l->reach, 1.0, to);
}

/* Reads the labels' rows of a vector, divided by its length. */
static void
read_rows(gp_krylov *k, int j)
{
	gp_device  *dev = k->dev;
	gp_matrix	rows = gp_gather(dev, k->vector[j], k->labelled, k->m);
	double		factor = k->size[j] > 0.0 ? 1.0 / k->size[j] : 0.0;

	k->row[j] = gp_download(dev, rows);
	GP_EACH(k->env, e, gp_items(k->env, k->m * k->cols), e)
		k->row[j][e] *= factor;
	dev->destroy(dev, &rows);
}

/* Vector j + 1 = S vector j, orthogonal to the last two; false where nothing is left of it. */
static bool
next_vector(gp_krylov *k, const gp_csr *s, gp_long_dots *dots, int j)
{
	gp_device  *dev = k->dev;
	gp_matrix	now = k->vector[j];
	double		square = k->size[j] * k->size[j];

	/* The first vector is among what labels can have anyhow, so that its memory serves the fourth.
	 * Where solutions are asked for at the labels alone, that of each serves the third after it. */
	if (j == 2 || (j > 2 && k->labels_only))
	{
		k->vector[j + 1] = k->vector[j - 2];
		k->vector[j - 2].data = NULL;
	}
	else
		k->vector[j + 1] = dev->create(dev, k->n, k->cols, k->type);
	gp_matrix	next = k->vector[j + 1];
	dev->spmm(dev, 1.0, s, now, 0.0, next);
	k->diagonal[j] = gp_long_dot(dots, now, next) / square;
	dev->axpby(dev, -k->diagonal[j], now, 1.0, next);
	if (j > 0)
		dev->axpby(dev, -k->beside[j] * k->beside[j], k->vector[j - 1], 1.0, next);
	k->size[j + 1] = sqrt(gp_long_dot(dots, next, next));
	k->beside[j + 1] = k->size[j + 1] / k->size[j];
	read_rows(k, j + 1);
	return k->beside[j + 1] > SINGULAR;
}

gp_krylov *
gp_krylov_open(gp_device *dev, const gp_csr *s, gp_type type, const int32_t *labelled,
			   int64_t nlabelled, const gp_elements *b, int products, bool labels_only)
{
	gp_krylov  *k = gp_alloc_zero(dev->env, 1, sizeof(gp_krylov));

	*k = (gp_krylov) {
		.dev = dev, .env = dev->env, .n = s->rows, .cols = b->cols, .type = type,
		.labelled = labelled, .m = nlabelled, .labels_only = labels_only
	};
	k->x = gp_alloc_values(k->env, k->m, k->cols * sizeof(double));
	k->labels = label_system_open(dev, s, labelled, nlabelled);
	gp_long_dots dots = gp_long_dots_open(dev, k->n);
	gp_csr		of_type = gp_csr_as(k->env, s, k->type);
	k->vector[0] = gp_filled(dev, k->n, k->cols, k->type, 0.0);
	dev->put(dev, k->vector[0], b->n, b->row, b->col, b->value);
	k->size[0] = sqrt(gp_long_dot(&dots, k->vector[0], k->vector[0]));
	read_rows(k, 0);
	while (k->products < (products < MOST ? products : MOST) && k->size[0] > 0.0 &&
		   next_vector(k, &of_type, &dots, k->products))
		k->products++;
	/* Of the last one only the labels' rows are asked for. */
	dev->destroy(dev, &k->vector[k->products]);
	gp_free(k->env, of_type.value);
	gp_long_dots_close(&dots);
	return k;
}

void
gp_krylov_close(gp_krylov *k)
{
	for (int j = 0; j <= MOST; j++)
	{
		k->dev->destroy(k->dev, &k->vector[j]);
		gp_free(k->env, k->row[j]);
	}
	gp_csr_free(k->env, k->labels.own);
	gp_csr_free(k->env, k->labels.rows);
	gp_csr_free(k->env, k->labels.cols);
	gp_free_all(k->env, k->x, k);
}

/* sum_i factor_i row_i, into out. */
static void
combine_rows(const gp_krylov *k, const double *factor, double *out)
{
	int64_t		total = k->m * k->cols;

	memset(out, 0, total * sizeof(double));
	for (int i = 0; i <= k->products; i++)
	{
		GP_EACH(k->env, e, factor[i] != 0.0 ? total : 0, e)
			out[e] += factor[i] * k->row[i][e];
	}
}

/* The inner product of the labels' rows. */
static double
row_product(const gp_krylov *k, const double *a, const double *b)
{
	double		sum = 0.0;

	GP_EACH(k->env, e, k->m * k->cols, e)
		sum += a[e] * b[e];
	return sum;
}

/* The labels' system solved for right sides in their rows; the caller's. */
static double *
label_solution(gp_krylov *k, const double *w)
{
	gp_device  *dev = k->dev;
	label_system *l = &k->labels;
	gp_conjugate g = gp_conjugate_open(dev, l->n, k->cols, GP_DOUBLE, label_product, l);

	l->reach = dev->create(dev, l->cols->rows, k->cols, GP_DOUBLE);
	dev->upload(dev, g.residual, gp_matrix_wrap((void *) w, k->m, k->cols, GP_DOUBLE));
	g.x = gp_filled(dev, l->n, k->cols, GP_DOUBLE, 0.0);
	gp_conjugate_solve(&g, SMALL, MOST_STEPS);
	double	   *z = gp_download(dev, g.x);
	gp_destroy_all(dev, &g.x, &l->reach);
	gp_conjugate_close(&g);
	return z;
}

/* The system of c without U: unknown j is that of q_(j + 1), for q_0 is the labels' own; z[j]
 * answers to q_j, z[0] to the right sides. */
static void
eliminate_labels(gp_krylov *k, double sigma2, int d, double noise, int vectors, double **z,
				 double (*a)[MOST], double *b)
{
	double	   *w = gp_alloc_values(k->env, k->m, k->cols * sizeof(double));
	double		factor[MOST + 1] = {k->size[0] / noise};

	k->labels.sigma2 = sigma2;
	k->labels.d = d;
	k->labels.noise = noise;
	if (!k->env->dry)
		combine_rows(k, factor, w);
	z[0] = label_solution(k, w);
	for (int j = 1; j < vectors; j++)
	{
		/* The coefficients of B^d q_j in the q, products + 1 of them */
		memset(factor, 0, (MOST + 1) * sizeof(double));
		factor[j] = 1.0;
		for (int step = 1; step <= d; step++)
		{
			double		from[MOST + 1];

			memcpy(from, factor, sizeof(from));
			for (int i = 0; i <= k->products; i++)
			{
				double		s = i < k->products ? k->diagonal[i] * from[i] : 0.0;

				if (i > 0)
					s += k->beside[i] * from[i - 1];
				if (i < k->products)
					s += k->beside[i + 1] * from[i + 1];
				factor[i] = (1.0 + sigma2) * from[i] - sigma2 * s;
			}
		}
		for (int i = 1; i <= j; i++)
			a[j - 1][i - 1] = factor[i];
		factor[j] += 1.0 / noise;
		if (!k->env->dry)
			combine_rows(k, factor, w);
		z[j] = label_solution(k, w);
		for (int i = 1; i <= j && !k->env->dry; i++)
		{
			a[j - 1][i - 1] += row_product(k, k->row[i], k->row[j]) / noise
				- row_product(k, w, z[i]);
			a[i - 1][j - 1] = a[j - 1][i - 1];
		}
		if (!k->env->dry)
			b[j - 1] = k->size[0] / noise *
				(row_product(k, k->row[j], k->row[0]) - row_product(k, z[j], k->row[0]));
	}
	gp_free(k->env, w);
}

double
gp_krylov_solve(gp_krylov *k, double sigma2, int d, double noise, const double **x)
{
	/* A column of B^d takes d vectors more. */
	int			vectors = k->products + 1 - d > 1 ? k->products + 1 - d : 1;
	double	   *z[MOST + 1] = {NULL};
	double		a[MOST][MOST];
	double		b[MOST] = {0.0};
	double		left = 0.0;

	eliminate_labels(k, sigma2, d, noise, vectors, z, a, b);
	if (!k->env->dry)
	{
		memset(k->c, 0, sizeof(k->c));
		double		before = gp_solve_small(vectors - 1 - LAST, *a, MOST, b, k->c + 1);
		double		gain = gp_solve_small(vectors - 1, *a, MOST, b, k->c + 1);
		/* The labels' rows of the solution, from the coefficients and what the labels answer to
		 * each */
		combine_rows(k, k->c, k->x);
		for (int j = 0; j < vectors; j++)
		{
			double		factor = j == 0 ? 1.0 : -k->c[j];

			GP_EACH(k->env, e, k->m * k->cols, e)
				k->x[e] += factor * z[j][e];
		}
		left = k->size[0] / noise * (k->size[0] - row_product(k, k->row[0], k->x));
		left = left > 0.0 ? sqrt(fmax(gain - before, 0.0) / left) : INFINITY;
	}
	for (int j = 0; j < vectors; j++)
		gp_free(k->env, z[j]);
	*x = k->x;
	return left;
}

gp_matrix
gp_krylov_solution(gp_krylov *k)
{
	gp_device  *dev = k->dev;
	gp_matrix	out = gp_filled(dev, k->n, k->cols, k->type, 0.0);

	for (int j = 1; j < k->products; j++)
		if (k->c[j] != 0.0 || k->env->dry)
			dev->axpby(dev, k->c[j] / k->size[j], k->vector[j], 1.0, out);
	/* Writes the labels' rows of the last solution into all of it */
	int64_t		total = k->m * k->cols;
	int32_t    *row = gp_alloc_values(k->env, total, sizeof(int32_t));
	int32_t    *col = gp_alloc_values(k->env, total, sizeof(int32_t));

	GP_EACH(k->env, e, gp_items(k->env, total), e)
	{
		row[e] = k->labelled[e / k->cols];
		col[e] = (int32_t) (e % k->cols);
	}
	dev->put(dev, out, total, row, col, k->x);
	gp_free_all(k->env, row, col);
	return out;
}

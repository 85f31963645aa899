/*
 * operator.c - linear operators on the nodes: polynomials in A and P(a).
 */
#include "prepared.h"

#define WORK_COLUMNS 32			/* that a recurrence is for at once: more leave the cache, */
#define MANY_NODES 262144		/* but of so many nodes even these do: then */
#define MORE_COLUMNS 64			/* share the reading of A */
#define FILL_FACTOR 64.0		/* entries of a power, relative to A's, that are too many */
#define FILL_SMALL 4e6			/* so many are never too many */

int
gp_operator_reach(const gp_operator *op)
{
	int			most = 0;

	for (int t = 0; t < op->nterms; t++)
		most = op->term[t].power_a > most ? op->term[t].power_a : most;
	return most;
}

bool
gp_operator_is_global(const gp_operator *op)
{
	for (int t = 0; t < op->nterms; t++)
		for (int p = 0; p < op->np; p++)
			if (op->term[t].power_p[p] > 0)
				return true;
	return false;
}

/* Column blocks that the recurrences work in; those that an operator does not need have no data. */
enum work_block
{
	IN, SUM, T0, T1, WORK_BLOCKS
};

/*
 * x <- coef A^power x in the rows that are computed now; those of a power before reach further.
 * The products go to and fro between x and work.
 */
static void
apply_a(gp_eval *ev, double coef, int power, gp_matrix x, gp_matrix work)
{
	gp_device  *dev = ev->dev;
	gp_csr		part = *ev->kernel->a;

	for (int k = power; k > 0; k--)
	{
		bool		back = (power - k) % 2 == 1;
		gp_matrix	from = back ? work : x;

		if (ev->near)
		{
			part.rows = gp_eval_rows_behind(ev, k - 1);
			part.cols = x.rows;
		}
		dev->spmm(dev, k == 1 ? coef : 1.0, &part, from, 0.0,
				  gp_matrix_rows(back ? x : work, 0, part.rows));
	}
	if (power % 2 == 1)
		dev->copy(dev, gp_matrix_rows(x, 0, part.rows), gp_matrix_rows(work, 0, part.rows));
}

/* x <- coef A^power x. */
static void
apply_monomial(gp_eval *ev, const gp_operator *op, const gp_monomial *m, gp_matrix x,
			   const gp_matrix *w)
{
	gp_device  *dev = ev->dev;

	apply_a(ev, 1.0, m->power_a, x, w[T0]);
	for (int p = 0; p < op->np; p++)
		for (int k = 0; k < m->power_p[p]; k++)
			gp_propagate(ev, op->p_alpha[p], x, w[T0], w[T1]);
	if (m->coef != 1.0)
		dev->axpby(dev, m->coef, x, 0.0, x);
}

bool
gp_operator_is_a(const gp_operator *op)
{
	return op->nterms == 1 && op->np == 0 && op->term[0].power_a == 1;
}

/* Applies the operator to one block of columns: the sum of its monomials. */
static void
apply_block(gp_eval *ev, const gp_operator *op, gp_matrix x, const gp_matrix *w)
{
	gp_device  *dev = ev->dev;

	if (gp_operator_is_a(op))
	{
		apply_a(ev, op->term[0].coef, 1, x, w[T0]);
		return;
	}
	if (op->nterms == 1)
	{
		apply_monomial(ev, op, &op->term[0], x, w);
		return;
	}
	dev->fill(dev, w[SUM], 0.0);
	for (int t = 0; t < op->nterms; t++)
	{
		dev->copy(dev, w[IN], x);
		apply_monomial(ev, op, &op->term[t], w[IN], w);
		dev->axpby(dev, 1.0, w[IN], 1.0, w[SUM]);
	}
	dev->copy(dev, x, w[SUM]);
}

/* Which blocks an operator needs; how many. */
static int
blocks_needed(const gp_operator *op, bool *needed)
{
	bool		global = gp_operator_is_global(op);
	bool		several = op->nterms > 1;

	needed[IN] = needed[SUM] = several;
	needed[T0] = true;
	needed[T1] = global;
	return 1 + 2 * several + global;
}

int
gp_operator_blocks(const gp_operator *op)
{
	bool		needed[WORK_BLOCKS];

	return blocks_needed(op, needed);
}

void
gp_operator_apply(gp_eval *ev, const gp_operator *op, gp_matrix x)
{
	gp_device  *dev = ev->dev;
	/* One product reads x as it lies, and the wider the better. */
	int64_t		width = gp_min64(x.cols, gp_operator_is_a(op) ? GP_COLUMN_BLOCK :
								  ev->n < MANY_NODES ? WORK_COLUMNS : MORE_COLUMNS);
	bool		needed[WORK_BLOCKS];
	gp_matrix	full[WORK_BLOCKS] = {{0}};
	gp_matrix	w[WORK_BLOCKS] = {{0}};

	(void) blocks_needed(op, needed);
	for (int k = 0; k < WORK_BLOCKS; k++)
		if (needed[k])
			full[k] = dev->create(dev, x.rows, width, x.type);
	for (gp_band band = gp_band_first(x.cols, width); band.count > 0; gp_band_next(&band))
	{
		for (int k = 0; k < WORK_BLOCKS; k++)
			if (needed[k])
				w[k] = gp_matrix_cols(full[k], 0, band.count);
		apply_block(ev, op, gp_matrix_cols(x, band.first, band.count), w);
	}
	for (int k = 0; k < WORK_BLOCKS; k++)
		dev->destroy(dev, &full[k]);
}

double
gp_operator_products(const gp_eval *ev, const gp_operator *op)
{
	double		products = 0.0;

	for (int t = 0; t < op->nterms; t++)
	{
		products += op->term[t].power_a;
		for (int p = 0; p < op->np; p++)
			products += (double) op->term[t].power_p[p] *
				gp_propagation_products(ev, op->p_alpha[p]);
	}
	return products;
}

/* What is known of an operator; all layers mean one by equal ones. */
static gp_known_operator *
known_operator(gp_prepared *kernel, const gp_operator *op)
{
	for (int k = 0; k < kernel->nops; k++)
		if (gp_operator_compare(kernel->op[k].op, op) == 0)
			return &kernel->op[k];
	kernel->op[kernel->nops] = (gp_known_operator) {.op = op};
	return &kernel->op[kernel->nops++];
}

double
gp_walk_on(gp_env *env, const gp_csr *a, double **walk, double most, double *entries)
{
	double	   *next = gp_alloc_array(env, a->rows, sizeof(double));
	double		walks = 0.0;

	*entries = 0.0;
	GP_EACH(env, i, a->rows, a->start[i])
	{
		next[i] = 0.0;
		for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
			next[i] += (*walk)[a->col[e]];
		walks += next[i];
		next[i] = fmin(next[i], most);
		*entries += next[i];
	}
	gp_free(env, *walk);
	*walk = next;
	return walks;
}

bool
gp_operator_fills(gp_eval *ev, const gp_operator *op)
{
	int			power = gp_operator_reach(op);

	if (power < 2 || ev->live)
		return false;
	gp_known_operator *known = known_operator(ev->kernel, op);
	if (!known->looked)
	{
		/* The walks of a length bound the entries of that power of A; they cost one product with
		 * a vector. */
		gp_env	   *env = ev->kernel->env;
		const gp_csr *a = ev->kernel->a;
		double	   *walks = gp_alloc_array(env, a->rows, sizeof(double));
		double		sum = 0.0;

		for (int64_t i = 0; i < a->rows; i++)
			walks[i] = 1.0;
		for (int k = 0; k < power; k++)
			gp_walk_on(env, a, &walks, (double) a->rows, &sum);
		gp_free(env, walks);
		known->fills = sum > FILL_FACTOR * (double) gp_csr_entries(a) && sum > FILL_SMALL;
	}
	known->looked = true;
	return known->fills;
}

const gp_csr *
gp_operator_csr(gp_eval *ev, const gp_operator *op)
{
	if (gp_operator_is_a(op) && op->term[0].coef == 1.0)
		return ev->kernel->a;
	gp_known_operator *known = known_operator(ev->kernel, op);
	if (known->csr == NULL)
	{
		/* The sparse matrix of an operator without P(a), by adding up its powers of A. */
		gp_env	   *env = ev->kernel->env;
		gp_csr	   *sum = NULL;

		for (int t = 0; t < op->nterms; t++)
		{
			gp_csr	   *power = gp_csr_identity(env, ev->n, ev->type);
			gp_csr	   *old;

			for (int k = 0; k < op->term[t].power_a; k++)
			{
				old = power;
				power = gp_csr_product(env, ev->kernel->a, old);
				gp_csr_free(env, old);
			}
			gp_csr_scale(power, op->term[t].coef);
			if (sum == NULL)
			{
				sum = power;
				continue;
			}
			old = sum;
			sum = gp_csr_add(env, old, power);
			gp_csr_free(env, old);
			gp_csr_free(env, power);
		}
		known->csr = sum;
	}
	return known->csr;
}

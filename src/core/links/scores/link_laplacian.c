/*
 * link_laplacian.c - Laplacian kernels and DeepWalk's matrix as scores of pairs.
 *
 * Both are polynomials of S = D^-1/2 W D^-1/2.  The entries (S^k)_ij of a pair
 * come from columns of one Chebyshev recurrence, which serves all scales.
 *
 *   1 / (1 + s2 - s2 x) = sum_k c_k T_k(x),  c_k = 2 r^k / sqrt(b^2 - 1) / s2,
 *   b = (1 + s2) / s2, r = b - sqrt(b^2 - 1), c_0 halved
 *
 * DeepWalk's matrix is log(vol / T sum_{r=1..T} (D^-1/2 S^r D^-1/2)_ij) (Qiu et al.
 * 2018, eq. 8, without the constant for negative samples).
 */
#include "scores.h"

#define ERROR_AIM 1e-9			/* of the series; no smaller entry is told from nothing */
#define WALK_LENGTH 10			/* T */
#define SMALLEST_WALK 1e-3		/* of DeepWalk's matrix: less says nothing */
#define LOCAL_SHARE 32			/* an entry gone through by itself takes as long as one of so many columns at once */
#define SERIES (GP_LINK_SCALES + 1)	/* the scales, then DeepWalk */

static const double scales[GP_LINK_SCALES] = {1.0, 10.0};

/* r of a scale. */
static double
ratio_of(double s2)
{
	double		b = (1.0 + s2) / s2;

	return b - sqrt(b * b - 1.0);
}

/* The largest k that a scale needs. */
static int32_t
steps_of(double s2)
{
	return (int32_t) ceil(log(ERROR_AIM) / log(ratio_of(s2)));
}

int32_t
gp_link_laplacian_steps(void)
{
	return steps_of(scales[GP_LINK_SCALES - 1]);
}

/* The coefficients of a scale, up to a number of steps. */
static void
kernel_series(double s2, int32_t steps, double *c)
{
	double		b = (1.0 + s2) / s2;
	double		r = ratio_of(s2);
	double		value = 2.0 / (sqrt(b * b - 1.0) * s2);
	int32_t		last = steps_of(s2) < steps ? steps_of(s2) : steps;

	for (int32_t k = 0; k <= last; k++, value *= r)
		c[k] = k == 0 ? value / 2.0 : value;
}

/* The coefficients of x + x^2 + ... + x^length: x T_k = (T_(k+1) + T_(k-1)) / 2. */
static void
walk_series(int32_t length, double *c)
{
	double		power[WALK_LENGTH + 2] = {1.0};
	double		next[WALK_LENGTH + 2];

	for (int32_t r = 1; r <= length; r++)
	{
		memset(next, 0, sizeof(next));
		for (int32_t k = 0; k < r; k++)
		{
			next[k + 1] += k == 0 ? power[k] : power[k] / 2.0;
			if (k > 0)
				next[k - 1] += power[k] / 2.0;
		}
		memcpy(power, next, sizeof(power));
		for (int32_t k = 0; k <= r; k++)
			c[k] += power[k];
	}
}

/* A number of each series, at any address. */
typedef double series __attribute__((vector_size(4 * sizeof(double)), aligned(8)));

/* A recurrence on its way. */
typedef struct recurrence
{
	gp_link_frame *f;
	const gp_link_block *block;
	int32_t		steps;
	series	   *c;				/* steps + 1 coefficients */
	series	   *sum;			/* an entry of each pair */
	int32_t		source[GP_LINK_BLOCK];	/* their rows */
	/* where all columns are run at once */
	gp_link_block by_row;		/* rows in place of nodes, the pairs in the order of those that are read */
	int32_t    *place;			/* of each pair in it; NULL: its own */
	double	   *entry[2];		/* of an even and an odd step */
} recurrence;

/* Allocates, and computes the coefficients. */
static recurrence
recurrence_open(gp_link_frame *f, const gp_link_block *block)
{
	recurrence	r = {.f = f, .block = block, .steps = f->steps > 1 ? f->steps : 1};
	double	   *c = gp_alloc_array(f->env, r.steps + 1, sizeof(double));

	r.c = gp_alloc_array(f->env, r.steps + 1, sizeof(series));
	r.sum = gp_alloc_zero(f->env, block->n, sizeof(series));
	for (int s = 0; s < SERIES; s++)
	{
		memset(c, 0, (r.steps + 1) * sizeof(double));
		if (s < GP_LINK_SCALES)
			kernel_series(scales[s], r.steps, c);
		else
			walk_series(r.steps < WALK_LENGTH ? r.steps : WALK_LENGTH, c);
		for (int32_t k = 0; k <= r.steps; k++)
			r.c[k][s] = c[k];
	}
	gp_free(f->env, c);
	for (int32_t t = 0; t < block->sources; t++)
		r.source[t] = gp_link_row_of(f, &f->smooth, block->source[t]);
	return r;
}

/* Frees it. */
static void
recurrence_close(recurrence *r)
{
	gp_free(r->f->env, r->c);
	gp_free(r->f->env, r->sum);
	gp_free(r->f->env, r->place);
	gp_free(r->f->env, (void *) r->by_row.slot);
	gp_free(r->f->env, (void *) r->by_row.dst);
	gp_free(r->f->env, r->entry[0]);
	gp_free(r->f->env, r->entry[1]);
}

/* Orders the pairs by the rows that they read of each step, which are then read as they lie. */
static void
order_pairs(recurrence *r)
{
	const gp_link_frame *f = r->f;
	gp_env	   *env = f->env;
	const gp_link_block *b = r->block;
	int32_t    *next = gp_alloc_zero(env, f->n + 1, sizeof(int32_t));
	int32_t    *slot = gp_alloc_array(env, b->n, sizeof(int32_t));
	int32_t    *dst = gp_alloc_array(env, b->n, sizeof(int32_t));
	int64_t		look = 0;

	r->place = gp_alloc_array(env, b->n, sizeof(int32_t));
	for (int64_t e = 0; e < b->n; e++)
	{
		gp_poll(env, e, &look);
		next[gp_link_row_of(f, &f->smooth, b->dst[e]) + 1]++;
	}
	for (int64_t i = 0; i < f->n; i++)
		next[i + 1] += next[i];
	for (int64_t e = 0; e < b->n; e++)
	{
		int32_t		row = gp_link_row_of(f, &f->smooth, b->dst[e]);
		int32_t		at = r->place[e] = next[row]++;

		gp_poll(env, b->n + e, &look);
		slot[at] = b->slot[e];
		dst[at] = row;
	}
	gp_free(env, next);
	r->by_row = *b;
	r->by_row.source = r->source;
	r->by_row.slot = slot;
	r->by_row.dst = dst;
	for (int odd = 0; odd < 2; odd++)
		r->entry[odd] = gp_alloc_array(env, b->n, sizeof(double));
}

/* Adds the entries of T_first .. T_last, at most two steps, in the order of the steps. */
static void
add_entries(recurrence *r, int32_t first, int32_t last)
{
	const double *a = r->entry[first & 1];
	const double *b = r->entry[last & 1];

	r->f->env->check_interrupts(r->f->env);
	for (int64_t e = 0; e < r->block->n; e++)
	{
		series		sum = r->sum[e] + r->c[first] * a[e];

		r->sum[e] = first < last ? sum + r->c[last] * b[e] : sum;
	}
}

/* Takes the entries of T_k, and adds those of two steps at once. */
static void
add_step(recurrence *r, int32_t k, gp_matrix t)
{
	gp_device  *dev = r->f->dev;

	dev->take(dev, t, r->by_row.n, r->by_row.dst, r->by_row.slot, r->entry[k & 1]);
	if (k % 2 == 0 || k == r->steps)
		add_entries(r, k % 2 == 0 ? k - 1 : k, k);
}

/*
 * The last step, whose T_k = 2 S T_(k-1) - T_(k-2) is needed at the pairs alone; T_(k-2) was taken there, of all steps
 * but the first two.
 */
static void
add_last(recurrence *r, gp_matrix last)
{
	double	   *entry = r->entry[r->steps & 1];
	double	   *product = gp_alloc_array(r->f->env, r->block->n, sizeof(double));

	gp_link_last_product(r->f, &r->by_row, &r->f->smooth, last, product);
	for (int64_t e = 0; e < r->block->n; e++)
		entry[e] = 2.0 * product[e] - entry[e];
	gp_free(r->f->env, product);
	add_entries(r, r->steps % 2 == 0 ? r->steps - 1 : r->steps, r->steps);
}

/* T_1 of the sources, and T_0 where the next step needs it; of the pairs, T_0 has no entries. */
static void
first_steps(recurrence *r, const gp_link_cut *cuts, gp_matrix zeroth, gp_matrix first)
{
	gp_link_frame *f = r->f;
	const gp_link_block *b = &r->by_row;

	if (cuts == NULL)
		f->dev->csr_rows(f->dev, first, &f->smooth, b->source, b->sources);
	else
		gp_link_cut_columns(f, &f->smooth, 0.0, b->sources, b->source, zeroth, first, cuts);
	add_step(r, 1, first);
}

/* T_2 = 2 S^2 - I, without cuts. */
static void
second_step(recurrence *r, gp_matrix first, gp_matrix second)
{
	gp_link_frame *f = r->f;
	gp_device  *dev = f->dev;
	int32_t		n = r->block->sources;
	int32_t		slot[GP_LINK_BLOCK];
	double		own[GP_LINK_BLOCK];

	gp_link_first_product(f, 2.0, &f->smooth, &f->smooth, &f->smooth, r->source, first,
						  second);
	for (int32_t t = 0; t < n; t++)
		slot[t] = t;
	dev->take(dev, second, n, r->source, slot, own);
	for (int32_t t = 0; t < n; t++)
		own[t] -= 1.0;
	dev->put(dev, second, n, r->source, slot, own);
}

/* Runs the recurrence T_(k+1) = 2 S T_k - T_(k-1) on the sources' unit vectors. */
static void
run(recurrence *r, const gp_link_cut *cuts)
{
	gp_link_frame *f = r->f;
	int32_t		columns = r->block->sources;
	gp_matrix	even = f->dev->create(f->dev, f->n, columns, f->smooth.type);
	gp_matrix	odd = f->dev->create(f->dev, f->n, columns, f->smooth.type);

	order_pairs(r);
	first_steps(r, cuts, even, odd);
	for (int32_t k = 2; k <= r->steps; k++)
	{
		gp_matrix	last = k % 2 == 0 ? odd : even;
		gp_matrix	next = k % 2 == 0 ? even : odd;

		if (k == 2 && cuts == NULL)
			second_step(r, last, next);
		else if (k == r->steps && cuts == NULL)
		{
			add_last(r, last);
			break;
		}
		else
			gp_link_cut_spmm(f, &f->smooth, 0.0, 2.0, last, -1.0, next, cuts);
		add_step(r, k, next);
	}
	f->dev->destroy(f->dev, &even);
	f->dev->destroy(f->dev, &odd);
}

/* Adds the entries of all steps of a source's pairs first to end. */
static void
add_column(recurrence *r, int64_t first, int64_t end, const float *entry)
{
	int64_t		n = end - first;

	for (int32_t k = 1; k <= r->steps; k++)
		for (int64_t e = 0; e < n; e++)
			r->sum[first + e] += r->c[k] * (double) entry[(k - 1) * n + e];
}

/* The end of the pairs of one source. */
static int64_t
end_of_source(const gp_link_block *block, int64_t first)
{
	int64_t		end = first + 1;

	while (end < block->n && block->slot[end] == block->slot[first])
		end++;
	return end;
}

/*
 * Runs the recurrence source by source where it reaches few nodes; false, and nothing added, where that is more
 * work than all columns at once.  One column may take twice its share.
 */
static bool
run_local(recurrence *r, gp_link_local *local)
{
	gp_link_frame *f = r->f;
	const gp_link_block *block = r->block;
	int64_t		share = (gp_csr_entries(&f->smooth) + f->n) * r->steps / LOCAL_SHARE;
	int64_t		left = share * block->sources;
	float	   *entry = gp_alloc_array(f->env, gp_size_mul(f->env, block->n, r->steps), sizeof(float));
	int32_t    *row = gp_alloc_array(f->env, block->n, sizeof(int32_t));
	int64_t		next = 0;

	for (int64_t e = 0; e < block->n; e++)
	{
		gp_poll(f->env, e, &next);
		row[e] = gp_link_row_of(f, &f->smooth, block->dst[e]);
	}
	next = 0;
	for (int64_t first = 0, end; first < block->n && left >= 0; first = end)
	{
		int64_t		most = gp_min64(left, 2 * share);
		int64_t		work;

		end = end_of_source(block, first);
		work = gp_link_local_column(local, &f->smooth, r->source[block->slot[first]], r->steps, end - first, row + first,
									most, entry);
		left = work > most ? -1 : left - work;
		if (left >= 0)
			add_column(r, first, end, entry);
		gp_poll(f->env, share * block->sources - left, &next);
	}
	gp_free(f->env, entry);
	gp_free(f->env, row);
	if (left < 0)
		memset(r->sum, 0, block->n * sizeof(series));
	return left >= 0;
}

/* The strength of an end without the link that is cut. */
static double
strength_of(const gp_link_frame *f, int32_t node, const gp_link_cut *cut)
{
	return f->strength[node] - (cut ? cut->weight : 0.0);
}

/*
 * sum_j S_ij^2 without the link that is cut: the ends' own rows lose the entry,
 * and are scaled by what is left.
 */
static double
square_of(const gp_link_frame *f, int32_t node, const gp_link_cut *cut)
{
	const gp_csr *w = f->weights;
	double		own = f->strength[node];
	double		left = strength_of(f, node, cut);
	double		lost = 0.0;
	int32_t		other;
	int64_t		at;

	if (!(left > 1e-12 * own))
		return 0.0;
	other = cut->i == node ? cut->j : cut->i;
	at = gp_csr_find(w->start, w->col, node, other);
	if (at >= 0)
	{
		double		weight = ((const double *) w->value)[at];
		double		rest = weight - cut->weight;
		double		other_left = strength_of(f, other, cut);

		/* A weight that stays in part keeps its square in part. */
		lost = weight > 0.0 ? weight / own * (weight / f->strength[other]) : 0.0;
		if (rest > 0.0 && other_left > 0.0)
			lost -= rest / own * (rest / other_left);
	}
	return fmax(f->square[node] - lost, 0.0) * own / left;
}

/* Half the logarithm of a kernel's diagonal: 1/(1+s2) (1 + (s2/(1+s2))^2 sum_j S_ij^2). */
static double
half_log_diagonal(double s2, double square)
{
	double		q = s2 / (1.0 + s2);

	return 0.5 * log((1.0 + q * q * square) / (1.0 + s2));
}

void
gp_link_half_logs(gp_link_frame *f)
{
	f->half_log = gp_alloc_array(f->env, (int64_t) gp_size_mul(f->env, f->n, GP_LINK_SCALES), sizeof(double));
	GP_EACH(f->env, i, f->n, GP_LINK_SCALES * i)
	{
		for (int s = 0; s < GP_LINK_SCALES; s++)
			f->half_log[i * GP_LINK_SCALES + s] = half_log_diagonal(scales[s], f->square[i]);
	}
}

/* The same of an end, without the link that is cut. */
static void
half_logs_of(const gp_link_frame *f, int32_t node, const gp_link_cut *cut, double *out)
{
	if (cut == NULL)
		memcpy(out, f->half_log + (int64_t) node * GP_LINK_SCALES, GP_LINK_SCALES * sizeof(double));
	else
	{
		double		square = square_of(f, node, cut);

		for (int s = 0; s < GP_LINK_SCALES; s++)
			out[s] = half_log_diagonal(scales[s], square);
	}
}

/* The scores of one pair from its sums. */
static void
write_scores(const recurrence *r, int64_t e, const gp_link_cut *cut, double *out)
{
	const gp_link_frame *f = r->f;
	const series sum = r->sum[r->place ? r->place[e] : e];
	int32_t		i = r->block->source[r->block->slot[e]];
	int32_t		j = r->block->dst[e];
	double		mass = sqrt(fmax(strength_of(f, i, cut), 0.0)) * sqrt(fmax(strength_of(f, j, cut), 0.0));
	double		volume = f->volume - (cut ? 2.0 * cut->weight : 0.0);
	int32_t		length = r->steps < WALK_LENGTH ? r->steps : WALK_LENGTH;
	double		walk = mass > 0.0 ? sum[GP_LINK_SCALES] * volume / (length * mass) : 0.0;
	double		half_i[GP_LINK_SCALES];
	double		half_j[GP_LINK_SCALES];

	half_logs_of(f, i, cut, half_i);
	half_logs_of(f, j, cut, half_j);
	for (int s = 0; s < GP_LINK_SCALES; s++)
	{
		double		raw = log(fmax(sum[s], ERROR_AIM));

		out[s] = raw;
		out[GP_LINK_SCALES + s] = raw - half_i[s] - half_j[s];
	}
	out[2 * GP_LINK_SCALES] = log(fmax(walk, SMALLEST_WALK));
}

void
gp_link_laplacian(gp_link_frame *f, const gp_link_block *block, const gp_link_cut *cuts,
				  int32_t first, double *out)
{
	recurrence	r = recurrence_open(f, block);

	if (cuts || f->local == NULL || r.steps > GP_LINK_LOCAL_STEPS || !run_local(&r, f->local))
		run(&r, cuts);
	GP_EACH(f->env, e, block->n, e)
		write_scores(&r, e, cuts ? &cuts[block->slot[e]] : NULL, out + e * f->width + first);
	recurrence_close(&r);
}

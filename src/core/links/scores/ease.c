/*
 * ease.c - linear auto-encoders of a graph with two sides (EASE; Steck 2019).
 *
 * R has a row for each user and a column for each item, 1 for a link; A = R c scales the column of
 * an item with d_j links by c_j = d_j^-1/4.  With P = (A'A + lambda I)^-1, Q = (AA' + lambda I)^-1
 * and Z = AP = QA the ridge regression of a column on the other columns predicts, scaled back,
 *
 *		-z_uj / (P_jj c_j)								for a pair without a link, and
 *		lambda Q_uu - z_uj / (P_jj c_j) + z_uj^2 / P_jj	for a link, as if it were not there:
 *
 * the residual of a regression whose targets lack the row, with the leverage z_u'(A'e_u) = 1 -
 * lambda Q_uu.  The regression of a row on the other rows swaps P_jj and Q_uu.  Users are asked
 * for items where links have directions; without them the score is the mean of both.
 *
 * A prediction x estimates the share of such pairs that are linked.  Its odds are x + x^2 + ..;
 * (exp(2x) - 1) / 2 starts alike and has no end at 1.  The score is asinh(odds / share), share
 * being that of all pairs: nearly a logit, and defined for predictions below 0.
 *
 * As a matrix of all nodes A is symmetric, and (A^2 + lambda I)^-1 has the blocks P and Q.
 * ease_solve.c solves it for single columns of Z; the block of the smaller side, where there
 * is room for it, gives any z and both diagonals.
 */
#include "links/search/bipartition.h"
#include "scores.h"

#define DENSE_NODES 10000		/* of the smaller side, at most, where the inverse is computed */
#define PROBES GP_LINK_BLOCK	/* random signs that tell the diagonal of P beyond */
#define PROBE_SALT UINT64_C(0x70726f6265000000)
#define MOST 100.0				/* of a prediction; its odds are a number */
/* an entry of A takes as long, for one source, as so many operations of the inverse */
#define SOLVE_EFFORT 500.0
/* of the pairs of both sides in the largest component: with so many in one order ids tell sides */
#define SORTED 0.9

struct gp_link_items
{
	bool	   *item;			/* of each node; else it is a user */
	int32_t    *place;			/* of each node on its side */
	int64_t		n;				/* nodes of the smaller side, */
	bool		smaller;		/* which is that of the items */
	double	   *scale;			/* c of each node; 1 of users */
	double	   *diagonal;		/* P_jj of items, Q_uu of users */
	double		mean;			/* of the diagonal of A'A */
	double		share;			/* of the pairs of users and items with links: those linked */
	/* n x n: the block of the smaller side; NULL: solved for each source */
	double	   *inverse;
};

static const double multiples[GP_LINK_RIDGES] = {6.0, 2.0, 18.0};	/* of the mean diagonal */

/* What is known of a component's two sides. */
typedef struct sides_count
{
	int64_t		nodes[2];
	int64_t		arrivals[2];	/* links of a directed graph that lead to a side */
	double		later;			/* pairs of nodes of both whose second stands behind its first */
} sides_count;

/* Counts them; *share is that of the links that lead from side to side.  Owned by the caller. */
static sides_count *
count_sides(gp_env *env, const gp_graph *graph, const gp_link_sides *sides, double *share)
{
	sides_count *count = gp_alloc_zero(env, graph->nodes, sizeof(sides_count));
	int64_t		across = 0;

	GP_EACH(env, i, graph->nodes, graph->start[i] + i)
	{
		sides_count *own = &count[sides->component[i]];
		int			side = sides->side[i];

		if (side == GP_LINK_NO_SIDE)
			continue;
		own->nodes[side]++;
		own->later += side == 1 ? (double) own->nodes[0] : 0.0;
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
			if (!gp_link_same_side(sides, (int32_t) i, graph->col[k]))
			{
				across++;
				own->arrivals[side ^ 1]++;
			}
	}
	if (share)
		*share = (double) across / (double) gp_max64(graph->start[graph->nodes], 1);
	return count;
}

/* The share of a component's pairs of both sides whose second node stands behind its first. */
static double
later_share(const sides_count *c)
{
	return c->later / fmax((double) c->nodes[0] * (double) c->nodes[1], 1.0);
}

/* The side of a component's items, as long as nothing is known of other components. */
static int
item_side(const sides_count *c, bool directed)
{
	const int64_t *size = directed ? c->arrivals : c->nodes;

	return size[1] > size[0];
}

bool *
gp_link_items_find(gp_env *env, const gp_graph *graph, double *share)
{
	gp_csr	   *a = gp_graph_symmetric(env, graph);
	gp_link_sides sides = gp_link_sides_find(env, a);
	sides_count *count = count_sides(env, graph, &sides, share);
	bool	   *item = gp_alloc_zero(env, graph->nodes, sizeof(bool));
	const sides_count *largest = count;
	bool		sorted;			/* users, then items, or the other way round */
	bool		second;			/* in the largest component the later side is the items' */

	for (int64_t c = 1; c < graph->nodes; c++)
		if (count[c].nodes[0] + count[c].nodes[1] > largest->nodes[0] + largest->nodes[1])
			largest = &count[c];
	sorted = !graph->directed && fabs(later_share(largest) - 0.5) >= SORTED - 0.5;
	second = (item_side(largest, graph->directed) == 1) == (later_share(largest) > 0.5);
	for (int64_t i = 0; i < graph->nodes; i++)
	{
		const sides_count *own = &count[sides.component[i]];
		bool		follow = sorted && own->nodes[0] > 0 && own->nodes[1] > 0;

		if (sides.side[i] != GP_LINK_NO_SIDE)
			item[i] = sides.side[i] == (follow ? (later_share(own) > 0.5) == second :
										item_side(own, graph->directed));
	}
	gp_free(env, count);
	gp_link_sides_free(env, &sides);
	gp_csr_free(env, a);
	return item;
}

void
gp_link_ease_open(gp_link_context *f, const bool *item, const gp_link_model *model)
{
	gp_env	   *env = f->env;
	gp_link_items *items = f->items = gp_alloc_zero(env, 1, sizeof(gp_link_items));
	const gp_csr *w = f->weights;
	int64_t		linked[2] = {0, 0};	/* users and items with a link, */
	int64_t		count[2] = {0, 0};	/* and all */
	double	   *value;

	if (model)
		items->item = gp_link_items_find(env, f->graph, NULL);
	else
	{
		items->item = gp_alloc_array(env, f->n, sizeof(bool));
		memcpy(items->item, item, f->n * sizeof(bool));
	}
	items->place = gp_alloc_array(env, f->n, sizeof(int32_t));
	items->scale = gp_alloc_array(env, f->n, sizeof(double));
	items->diagonal = gp_alloc_zero(env, f->n, sizeof(double));
	for (int64_t i = 0; i < f->n; i++)
	{
		double		d = f->degree[i];

		items->place[i] = (int32_t) count[items->item[i]]++;
		items->scale[i] = items->item[i] && d > 0.0 ? 1.0 / sqrt(sqrt(d)) : 1.0;
		linked[items->item[i]] += d > 0.0;
		items->share += items->item[i] ? d : 0.0;
		items->mean += items->item[i] ? sqrt(d) : 0.0;
	}
	if (model)
		memcpy(items->diagonal, model->ease.diagonal, f->n * sizeof(double));
	items->smaller = count[true] <= count[false];
	items->n = count[items->smaller];
	items->mean /= (double) gp_max64(linked[true], 1);
	items->share = fmax(items->share, 1.0) /
		fmax((double) linked[true] * (double) linked[false], 1.0);
	/* A: an entry for each link between a user and an item, 0 for another. */
	f->pattern = *w;
	f->pattern.stamp = gp_csr_stamp();
	f->pattern.value = value = gp_alloc_values(env, gp_csr_entries(w), sizeof(double));
	GP_EACH(env, i, gp_items(env, f->n), w->start[i] + i)
		for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
			value[k] = items->item[i] != items->item[w->col[k]] ?
				items->scale[i] * items->scale[w->col[k]] : 0.0;
}

void
gp_link_ease_close(gp_link_context *f)
{
	gp_env	   *env = f->env;

	if (f->items == NULL)
		return;
	gp_free_all(env, f->items->item, f->items->place, f->items->scale, f->items->diagonal,
				f->items->inverse, f->items);
}

/* True where a dense inverse, and what it is made of, may be held. */
static bool
has_room(const gp_link_context *f)
{
	double		bytes = 24.0 * (double) f->items->n * (double) f->items->n;

	return f->env->limit == 0 || (double) f->env->used + bytes <= (double) gp_limit(f->env);
}

/* The block of A^2 + lambda I, from the rows of A of the larger side. */
static void
fill_gram(const gp_link_context *f, double *gram)
{
	const gp_link_items *items = f->items;
	const gp_csr *a = &f->pattern;
	const double *value = a->value;
	int64_t		work = 0;
	int64_t		look = 0;

	GP_EACH(f->env, j, items->n, j * items->n)
		memset(gram + j * items->n, 0, items->n * sizeof(double));
	for (int64_t u = 0; u < f->n; u++)
		for (int64_t k = a->start[u]; items->item[u] != items->smaller && k < a->start[u + 1]; k++)
		{
			double	   *row = gram + items->place[a->col[k]] * items->n;

			gp_poll(f->env, work, &look);
			for (int64_t l = a->start[u]; l < a->start[u + 1] && value[k] > 0.0; l++, work++)
				if (value[l] > 0.0)
					row[items->place[a->col[l]]] += value[k] * value[l];
		}
	for (int64_t j = 0; j < items->n; j++)
		gram[j * items->n + j] += f->ridge;
}

/* The inverse by the Cholesky factor. */
static void
invert(gp_link_context *f)
{
	gp_device  *dev = f->dev;
	int64_t		n = f->items->n;

	gp_free(f->env, f->items->inverse);
	f->items->inverse = NULL;
	double	   *host = gp_alloc_values(f->env, (int64_t) gp_size_mul(f->env, n, n),
										sizeof(double));
	gp_matrix	view = gp_matrix_wrap(host, n, n, GP_DOUBLE);

	if (!f->env->dry)
		fill_gram(f, host);
	gp_matrix	root = gp_upload(dev, view, GP_DOUBLE);
	if (dev->potrf(dev, root) >= 0)
		gp_raise(f->env, GP_ERR_INTERNAL, NULL, "the matrix of the items is not positive definite");
	dev->trtri(dev, root);
	gp_matrix	inverse = dev->create(dev, n, n, GP_DOUBLE);

	dev->syrk(dev, true, 1.0, root, 0.0, inverse);
	dev->destroy(dev, &root);
	dev->download(dev, view, inverse);
	dev->destroy(dev, &inverse);
	f->items->inverse = host;
}

/* z of a user and an item by the dense inverse. */
static double
dense_entry(const gp_link_context *f, int32_t user, int32_t item)
{
	const gp_link_items *items = f->items;
	int32_t		other = items->smaller ? user : item;
	const double *row = items->inverse + items->place[items->smaller ? item : user] * items->n;
	const double *value = f->pattern.value;
	double		sum = 0.0;

	for (int64_t k = f->pattern.start[other]; k < f->pattern.start[other + 1]; k++)
		if (value[k] > 0.0)
			sum += value[k] * row[items->place[f->pattern.col[k]]];
	return sum;
}

/*
 * An entry of the diagonals: of the inverse itself, or (1 - sum_u a_uj z_uj) / lambda over the
 * node's neighbours.
 */
static double
dense_diagonal(const gp_link_context *f, int32_t node)
{
	const gp_link_items *items = f->items;
	bool		item = items->item[node];
	const double *value = f->pattern.value;
	double		sum = 1.0;

	if (item == items->smaller)
		return items->inverse[items->place[node] * (items->n + 1)];
	for (int64_t k = f->pattern.start[node]; k < f->pattern.start[node + 1]; k++)
		if (value[k] > 0.0)
			sum -= value[k] * dense_entry(f, item ? f->pattern.col[k] : node,
										  item ? node : f->pattern.col[k]);
	return sum / f->ridge;
}

/*
 * The diagonals from random signs v: the mean of v (A^2 + lambda I)^-1 v (Bekas, Kokiopoulou and
 * Saad 2007).
 */
void
gp_link_ease_probe(gp_link_context *f)
{
	gp_device  *dev = f->dev;
	gp_link_items *items = f->items;
	int64_t		n = gp_items(f->env, f->n);
	double	   *sign = gp_alloc_values(f->env, f->n, PROBES * sizeof(double));
	gp_matrix	x = dev->create(dev, f->n, PROBES, GP_DOUBLE);

	for (int64_t i = 0; i < n; i++)
		for (int64_t t = 0; t < PROBES; t++)
			sign[i * PROBES + t] = gp_hash(PROBE_SALT + (uint64_t) (i * PROBES + t)) & 1 ? 1.0 :
				-1.0;
	gp_matrix	v = gp_upload(dev, gp_matrix_wrap(sign, f->n, PROBES, GP_DOUBLE), GP_DOUBLE);
	gp_matrix	left = gp_copy(dev, v, GP_DOUBLE);
	gp_link_ease_solve(f, left, x);
	double	   *sum = gp_row_products(dev, v, x);
	/* An entry is at least one over that of A^2 + lambda I. */
	for (int64_t i = 0; i < n; i++)
	{
		const double *value = f->pattern.value;
		double		most = f->ridge;

		for (int64_t k = f->pattern.start[i]; k < f->pattern.start[i + 1]; k++)
			most += value[k] * value[k];
		items->diagonal[i] = fmin(fmax(sum[i] / PROBES, 1.0 / most), 1.0 / f->ridge);
	}
	gp_destroy_all(dev, &v, &left, &x);
	gp_free_all(f->env, sign, sum);
}

void
gp_link_ease_fit(gp_link_context *f, int ridge, bool dense)
{
	gp_link_items *items = f->items;
	int64_t		look = 0;

	f->ridge = multiples[ridge] * fmax(items->mean, 1.0);
	if (!dense || items->n == 0 || items->n > DENSE_NODES)
	{
		gp_link_ease_probe(f);
		return;
	}
	invert(f);
	for (int64_t i = 0; i < gp_items(f->env, f->n); i++)
	{
		gp_poll(f->env, i, &look);
		items->diagonal[i] = dense_diagonal(f, (int32_t) i);
	}
}

double *
gp_link_ease_diagonal(gp_link_context *f)
{
	double	   *diagonal = f->items->diagonal;

	f->items->diagonal = NULL;
	return diagonal;
}

void
gp_link_ease_expect(gp_link_context *f, int64_t sources)
{
	double		n = (double) f->items->n;
	double		solves = SOLVE_EFFORT * (double) gp_csr_entries(&f->pattern) * (double) sources;

	if (f->items->inverse == NULL && n > 0.0 && n <= DENSE_NODES && has_room(f) &&
		2.0 * n * n * n < solves)
		invert(f);
}

/*
 * The prediction of a pair by one of the regressions, whose own diagonal is given, and that of the
 * other.
 */
static double
predict(const gp_link_context *f, double z, double scale, bool cut, double own, double other)
{
	return -z / (own * scale) + (cut ? f->ridge * other + z * z / own : 0.0);
}

void
gp_link_ease_scores(gp_link_context *f, const gp_link_block *block, double *out)
{
	const gp_link_items *items = f->items;
	bool		cut = block->partner != NULL;
	gp_matrix	z = {.type = GP_DOUBLE};
	int64_t		work = 0;
	int64_t		look = 0;

	if (items->inverse == NULL)
	{
		gp_matrix	right = f->dev->create(f->dev, f->n, block->sources, GP_DOUBLE);

		z = f->dev->create(f->dev, f->n, block->sources, GP_DOUBLE);
		f->dev->csr_rows(f->dev, right, &f->pattern, block->source, block->sources);
		gp_link_ease_solve(f, right, z);
		f->dev->destroy(f->dev, &right);
		f->dev->take(f->dev, z, block->n, block->dst, block->slot, out);
		f->dev->destroy(f->dev, &z);
	}
	for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
	{
		int32_t		source = block->source[block->slot[e]];
		int32_t		user = items->item[source] ? block->dst[e] : source;
		int32_t		item = items->item[source] ? source : block->dst[e];

		if (items->item[user] || !items->item[item])
		{
			out[e] = 0.0;
			continue;
		}
		work += 1 + (int64_t) f->degree[items->smaller ? user : item];
		gp_poll(f->env, work, &look);
		if (items->inverse)
			out[e] = dense_entry(f, user, item);
		double		x = predict(f, out[e], items->scale[item], cut, items->diagonal[item],
								items->diagonal[user]);
		if (!f->graph->directed)
			x = 0.5 * (x + predict(f, out[e], items->scale[item], cut, items->diagonal[user],
								   items->diagonal[item]));
		/* fmin would make a number of none */
		out[e] = asinh(0.5 * expm1(2.0 * (x > MOST ? MOST : x)) / items->share);
	}
}

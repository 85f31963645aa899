/*
 * random_walks.c - graph random features (Choromanski 2023).
 *
 * A walk from node i that is at node v after k steps leaves there f_k times the product of U along
 * its way over the product of the steps' probabilities, (1 - p_term) times that of the choice
 * (algorithm 1).  The mean of the loads of many walks is row i of sum_k f_k U^k, the root of the
 * kernel (laplacian.h).
 *
 * Every walk draws from a generator keyed by (seed, copy, node, walk), so the
 * result does not depend on the order in which walks run.
 */
#include "numeric/accumulator.h"
#include "laplacian.h"

/* of a node in the mean: more are walked on the host, which adds them at once */
#define DEVICE_LOADS 1e6

/* What all walks share. */
typedef struct walker
{
	gp_env	   *env;
	gp_walk_task task;
	gp_walk_choice choice;
	gp_accumulator row;			/* the loads of the current node */
	int32_t    *used;			/* times that this node's walks took each entry, for repelled */
	int64_t    *used_entry;		/* the entries to forget when the node is done */
	int64_t		nused;
} walker;

static inline void
deposit(walker *w, int32_t at, double load)
{
	if (w->task.anchor)
	{
		at = w->task.anchor[at];
		if (at < 0)
			return;
	}
	*gp_accumulator_at(&w->row, at) += load;
}

/* Chooses in proportion to 1 / (1 + times used): reinforced the wrong way round (eq. 21). */
static int64_t
choose_repelled(walker *w, int64_t begin, int64_t end, double x, double *probability)
{
	double		total = 0.0;
	double		sum = 0.0;
	int64_t		k = begin;

	for (int64_t e = begin; e < end; e++)
		total += 1.0 / (1.0 + w->used[e]);
	for (; k < end - 1; k++)
	{
		sum += 1.0 / (1.0 + w->used[k]);
		if (sum > x * total)
			break;
	}
	*probability = 1.0 / (1.0 + w->used[k]) / total;
	if (w->used[k]++ == 0)
		w->used_entry[w->nused++] = k;
	return k;
}

/* One walk from a node (algorithm 1): the load after k steps is the product of U over
 * probability. */
typedef struct lane
{
	gp_stream	s;
	int32_t		at;
	int			k;
	double		load;
	double		f;				/* f_(k + first) */
	int64_t		entry;			/* of U that it follows next */
	double		probability;
} lane;

/* Leaves load * f_(k + first) and chooses where to go; false when the walk ends. */
static inline bool
lane_choose(walker *w, lane *l)
{
	int64_t		begin = w->task.u->start[l->at];
	int64_t		end = w->task.u->start[l->at + 1];

	deposit(w, l->at, l->load * l->f);
	if (begin == end || gp_uniform(&l->s) < w->task.p_term)
		return false;
	double		x = gp_uniform(&l->s);
	if (w->choice == GP_WALK_REPELLED)
		l->entry = choose_repelled(w, begin, end, x, &l->probability);
	else if (w->choice == GP_WALK_WEIGHTED)
		l->entry = gp_choose_weighted(w->task.u->value, w->task.cumulated, begin, end, x,
									  &l->probability);
	else
		l->entry = gp_choose_uniform(begin, end, x, &l->probability);
	__builtin_prefetch((const double *) w->task.u->value + l->entry);
	__builtin_prefetch(w->task.u->col + l->entry);
	return true;
}

/* Goes there; false when that was the last step that any walk takes. */
static inline bool
lane_go(const walker *w, lane *l)
{
	l->load = gp_walk_load(l->load, ((const double *) w->task.u->value)[l->entry], l->probability,
						   w->task.p_term);
	l->at = w->task.u->col[l->entry];
	l->f = gp_walk_next(l->f, l->k, w->task.d);
	__builtin_prefetch(w->task.u->start + l->at);
	__builtin_prefetch(w->task.anchor ? (const void *) (w->task.anchor + l->at) :
					   w->row.mark + l->at);
	return ++l->k < GP_LONGEST_WALK;
}

/*
 * Some walks of a node abreast: on a graph larger than the cache each step
 * waits for memory, and so they wait together.
 */
static void
walk_abreast(walker *w, int64_t node, int64_t number, int count)
{
	lane		lanes[GP_WALKS_ABREAST];
	int			alive = count;

	for (int i = 0; i < count; i++)
		lanes[i] = (lane) {.s = gp_stream_start(w->task.seed, w->task.copy, node, number + i),
			.at = (int32_t) node, .k = w->task.first, .load = 1.0,
			.f = w->task.first ? 0.5 * w->task.d : 1.0};
	while (alive > 0)
	{
		int			n = 0;

		for (int i = 0; i < alive; i++)
			if (lane_choose(w, &lanes[i]))
				lanes[n++] = lanes[i];
		alive = n;
		n = 0;
		for (int i = 0; i < alive; i++)
			if (lane_go(w, &lanes[i]))
				lanes[n++] = lanes[i];
		alive = n;
	}
}

/* All walks from a node; then it forgets which entries they took. */
static void
walk_node(walker *w, int64_t node)
{
	/* A walk that is repelled has to know where those before it went. */
	int			most = w->choice == GP_WALK_REPELLED ? 1 : GP_WALKS_ABREAST;

	for (int64_t k = 0; k < w->task.walks; k += most)
	{
		int64_t		left = w->task.walks - k;

		walk_abreast(w, node, k, left < most ? (int) left : most);
		if (k % 64 >= 64 - most)
			w->env->check_interrupts(w->env);
	}
	for (int64_t k = 0; k < w->nused; k++)
		w->used[w->used_entry[k]] = 0;
	w->nused = 0;
}

/* True when only some nodes take loads. */
static bool
uses_anchors(const gp_laplacian *kernel, int64_t n)
{
	return kernel->dims > 0 && kernel->dims < n && kernel->trim == GP_TRIM_ANCHORS;
}

static walker
walker_open(gp_env *env, const gp_csr *u, const gp_laplacian *kernel, uint64_t seed, int copy)
{
	walker		w = {.env = env, .choice = kernel->choice};
	int64_t		entries = u->start[u->rows];
	int64_t		n = u->rows;

	w.task = (gp_walk_task) {.u = u, .columns = n, .seed = seed, .copy = copy,
		.walks = kernel->walks, .d = kernel->d, .first = 1, .p_term = kernel->p_term};
	w.row = gp_accumulator_open(env, n);
	if (kernel->choice == GP_WALK_WEIGHTED)
	{
		double	   *sum = gp_alloc_array(env, entries, sizeof(double));

		for (int64_t i = 0; i < n; i++)
			for (int64_t k = u->start[i]; k < u->start[i + 1]; k++)
				sum[k] = ((const double *) u->value)[k] + (k > u->start[i] ? sum[k - 1] : 0.0);
		w.task.cumulated = sum;
	}
	if (kernel->choice == GP_WALK_REPELLED)
	{
		w.used = gp_alloc_zero(env, entries, sizeof(int32_t));
		w.used_entry = gp_alloc_array(env, entries, sizeof(int64_t));
	}
	if (uses_anchors(kernel, n))
	{
		/* Chooses the anchors, a seeded sample without repetition */
		int32_t    *anchor = gp_alloc_array(env, n, sizeof(int32_t));
		int64_t		left = kernel->dims;
		gp_stream	s = gp_stream_start(seed, -1, 0, 0);

		for (int64_t i = 0; i < n; i++)
		{
			bool		take = gp_uniform(&s) * (double) (n - i) < (double) left;

			anchor[i] = take ? (int32_t) (kernel->dims - left) : -1;
			left -= take;
		}
		w.task.anchor = anchor;
		w.task.columns = kernel->dims;
		w.task.first = 0;
	}
	return w;
}

static void
walker_close(walker *w)
{
	gp_accumulator_close(&w->row);
	gp_free_all(w->env, w->task.cumulated, w->used, w->used_entry, w->task.anchor);
}

/* Appends the current node's loads as a sorted row; the arrays grow by half. */
static void
append_row(walker *w, int64_t node, double factor, gp_csr *out, int64_t *room)
{
	int64_t		at = out->start[node];
	gp_accumulator *row = &w->row;

	if (at + row->n > *room)
	{
		*room = (at + row->n) * 3 / 2 + 1024;
		out->col = gp_realloc_array(w->env, out->col, *room, sizeof(int32_t));
		out->value = gp_realloc_array(w->env, out->value, *room, sizeof(double));
	}
	gp_sort_columns(w->env, row->touched, row->n);
	for (int64_t k = 0; k < row->n; k++)
	{
		out->col[at + k] = row->touched[k];
		((double *) out->value)[at + k] = factor * *gp_accumulator_at(row, row->touched[k]);
	}
	out->start[node + 1] = at + row->n;
}

/*
 * The loads of all walks, averaged.  With K of n nodes as anchors every copy is
 * scaled by sqrt(n / K), which keeps a product of two copies unbiased.
 */
static gp_csr *
walk_loads(gp_env *env, gp_device *dev, const gp_csr *u, const gp_laplacian *kernel, uint64_t seed,
		   int copy)
{
	walker		w = walker_open(env, u, kernel, seed, copy);
	gp_csr	   *out = gp_alloc_zero(env, 1, sizeof(gp_csr));
	double		factor = 1.0 / kernel->walks;
	int64_t		room = 0;

	if (w.task.anchor)
		factor *= sqrt((double) u->rows / (double) kernel->dims);
	*out = (gp_csr) {.rows = u->rows,.cols = w.task.columns,.type = GP_DOUBLE,
	.stamp = gp_csr_stamp()};
	out->start = gp_alloc_zero(env, u->rows + 1, sizeof(int64_t));
	if ((dev != NULL && dev->random_walks != NULL && kernel->choice != GP_WALK_REPELLED &&
		 kernel->walks / kernel->p_term < DEVICE_LOADS))
	{
		dev->random_walks(dev, w.task, factor, out);
		walker_close(&w);
		return out;
	}
	for (int64_t i = 0; i < u->rows; i++)
	{
		gp_accumulator_begin(&w.row, u->rows);
		walk_node(&w, i);
		append_row(&w, i, factor, out, &room);
		if (i % GP_POLL_ROWS == 0)
			env->check_interrupts(env);
	}
	walker_close(&w);
	return out;
}

gp_csr *
gp_walk_factor(gp_env *env, gp_device *dev, const gp_graph *graph, const gp_laplacian *kernel,
			   uint64_t seed, int copy, gp_type type)
{
	gp_csr	   *u = gp_graph_smooth(env, graph, gp_laplacian_share(kernel->sigma2), GP_DOUBLE);
	gp_csr	   *loads = walk_loads(env, dev, u, kernel, seed, copy);
	gp_csr	   *factor = loads;

	if (!uses_anchors(kernel, graph->nodes))
	{
		factor = gp_csr_product_plus(env, u, loads, 1.0);
		gp_csr_free(env, loads);
	}
	gp_csr_free(env, u);
	gp_csr_scale(factor, pow(1.0 + kernel->sigma2, -0.5 * kernel->d));
	gp_csr_retype(env, factor, type);
	return factor;
}

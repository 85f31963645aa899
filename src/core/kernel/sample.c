/*
 * sample.c - nodes in an order that does not depend on what they are called.
 *
 * A node's place is a hash of its features, its degree and the same of nodes that are near.  So
 * landmarks and samples stay the same nodes under other ids, except nodes that look alike as far
 * as that.  Weights of edges are not looked at: their sums round differently in another order.
 */
#include "base/sort.h"
#include "prepared.h"

#define STEPS 2					/* how far a hash sees */

uint64_t
gp_hash_sparse(const gp_csr *s, int64_t row, int64_t first)
{
	uint64_t	hash = 0;

	for (int64_t k = s->start[row]; k < s->start[row + 1]; k++)
		hash += gp_hash(gp_hash(first + s->col[k]) ^ gp_bits_at(s->value, s->type, k));
	return hash;
}

uint64_t *
gp_hash_features(gp_env *env, const gp_features *x)
{
	uint64_t   *hash = gp_alloc_zero(env, x->rows, sizeof(uint64_t));
	uint64_t   *column = x->dense ? gp_alloc_array(env, x->dims, sizeof(uint64_t)) : NULL;

	for (int64_t j = 0; j < x->dims && column; j++)
		column[j] = gp_hash(j);
	GP_EACH(env, i, x->rows, x->csr ? x->csr->start[i] : i * x->dims)
	{
		if (x->csr)
			hash[i] = gp_hash_sparse(x->csr, i, 0);
		for (int64_t j = 0; j < x->dims && x->dense; j++)
		{
			uint64_t	bits = gp_bits_at(x->dense, x->type, i * x->dims + j);

			if (bits)
				hash[i] += gp_hash(column[j] ^ bits);
		}
	}
	gp_free(env, column);
	return hash;
}

/* From a hash of each node to one of what is around it, too. */
static void
hash_surroundings(gp_env *env, const gp_csr *a, uint64_t *hash)
{
	uint64_t   *former = gp_alloc_array(env, a->rows, sizeof(uint64_t));

	for (int step = 0; step < STEPS; step++)
	{
		for (int64_t i = 0; i < a->rows; i++)
			former[i] = gp_hash(hash[i]);
		GP_EACH(env, i, a->rows, a->start[i])
		{
			hash[i] = gp_hash(hash[i] ^ gp_hash((uint64_t) (a->start[i + 1] - a->start[i])));
			for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
				hash[i] += former[a->col[k]];
		}
	}
	gp_free(env, former);
}

int32_t *
gp_shuffle(gp_env *env, int64_t n, uint64_t seed, const uint64_t *hash)
{
	gp_drawn   *all = gp_alloc_values(env, n, sizeof(gp_drawn));

	for (int64_t i = 0; i < gp_items(env, n); i++)
		all[i] = (gp_drawn) {gp_hash(seed ^ gp_hash(hash ? hash[i] : (uint64_t) i)), (int32_t) i};
	if (env->dry)
		gp_free(env, gp_alloc_values(env, n / 2, sizeof(gp_drawn)));
	else
		gp_sort(env, all, n, sizeof(gp_drawn), gp_compare_drawn, NULL);
	int32_t    *order = gp_alloc_values(env, n, sizeof(int32_t));
	for (int64_t i = 0; i < gp_items(env, n); i++)
		order[i] = all[i].node;
	gp_free(env, all);
	return order;
}

gp_shared
gp_shared_open(gp_env *env, const gp_graph *graph, const gp_features *features, gp_norm norm,
			   gp_type type, uint64_t seed)
{
	gp_shared	s = {.features = features};
	uint64_t   *around = gp_alloc_zero(env, graph->nodes, sizeof(uint64_t));

	s.a[norm] = gp_graph_normalise(env, graph, norm, type);
	if (features)
	{
		s.hash = gp_hash_features(env, features);
		memcpy(around, s.hash, graph->nodes * sizeof(uint64_t));
	}
	hash_surroundings(env, s.a[norm], around);
	s.shuffled = gp_shuffle(env, graph->nodes, seed, around);
	gp_free(env, around);
	return s;
}

void
gp_shared_add(gp_env *env, gp_shared *shared, const gp_graph *graph, const gp_program *program,
			  gp_type type)
{
	if (shared->a[program->norm] == NULL)
		shared->a[program->norm] = gp_graph_normalise(env, graph, program->norm, type);
	if (shared->lists == NULL && gp_program_has(program, GP_STEP_LISTS))
		shared->lists = gp_graph_lists(env, graph, type);
}

void
gp_shared_close(gp_env *env, gp_shared *shared)
{
	for (gp_norm norm = 0; norm <= GP_NORM_NONE; norm++)
		gp_csr_free(env, shared->a[norm]);
	gp_csr_free(env, shared->lists);
	gp_csr_free(env, shared->s);
	gp_features_free(env, shared->x);
	gp_free_all(env, shared->hash, shared->shuffled);
}

const int32_t *
gp_eval_shuffled(gp_eval *ev)
{
	const gp_prepared *kernel = ev->kernel;
	/* The columns of an identity are nodes, those of a Laplacian's factor are made of them. */
	bool		bare = kernel->x_is_identity || kernel->program->input.kind == GP_INPUT_LAPLACIAN;

	if (kernel->shared)
		return kernel->shared->shuffled;
	if (ev->shuffled)
		return ev->shuffled;
	uint64_t   *hash = ev->env->dry ? gp_alloc_values(ev->env, ev->n, sizeof(uint64_t)) :
		bare ? gp_alloc_zero(ev->env, ev->n, sizeof(uint64_t)) :
		gp_hash_features(ev->env, kernel->x);
	if (!ev->env->dry)
		hash_surroundings(ev->env, kernel->a, hash);
	ev->shuffled = gp_shuffle(ev->env, ev->n, kernel->seed, hash);
	gp_free(ev->env, hash);
	return ev->shuffled;
}

/* Marks nodes; how many had no mark. */
static int64_t
mark(bool *marked, const int32_t *node, int64_t n)
{
	int64_t		fresh = 0;

	for (int64_t k = 0; k < n; k++)
	{
		fresh += !marked[node[k]];
		marked[node[k]] = true;
	}
	return fresh;
}

void
gp_eval_keep_rows(gp_eval *ev, const int32_t *index, int64_t n)
{
	bool	   *marked = gp_alloc_zero(ev->env, ev->n, sizeof(bool));
	int64_t		count = mark(marked, index, n);
	/* Where all rows are asked for, such as all labelled rows of a task, none is left to sample. */
	int64_t		sampled = count < ev->n ? gp_min64(ev->n, GP_FACTOR_SAMPLE) : 0;
	int32_t    *sample = sampled > 0 ? gp_eval_sample(ev, sampled) : NULL;

	count += mark(marked, sample, sampled);
	/* A dry run knows no sample: at worst none of it was marked before. */
	for (int32_t i = 0; ev->env->dry && i < ev->n && count < n + sampled; i++)
		count += mark(marked, &i, 1);
	gp_free(ev->env, ev->kept_rows);
	ev->kept_rows = gp_alloc_array(ev->env, count, sizeof(int32_t));
	ev->nkept_rows = 0;
	for (int32_t i = 0; i < ev->n; i++)
		if (marked[i])
			ev->kept_rows[ev->nkept_rows++] = i;
	gp_free_all(ev->env, sample, marked);
}

int32_t *
gp_eval_sample(gp_eval *ev, int64_t count)
{
	int32_t    *sample = gp_alloc_array(ev->env, count, sizeof(int32_t));
	/* Of rows that are a factor themselves nothing is known but their numbers. */
	const int32_t *shuffled = ev->kernel && count < ev->n ? gp_eval_shuffled(ev) : NULL;

	for (int64_t k = 0; k < count; k++)
	{
		int64_t		place = k * ev->n / count;

		sample[k] = shuffled && !ev->env->dry ? shuffled[place] : (int32_t) place;
	}
	gp_sort_columns(ev->env, sample, count);
	return sample;
}

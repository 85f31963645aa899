/*
 * landmarks.c - which nodes stand for all others in a low-rank factor.
 *
 * With few labels of classes the landmarks are the closed neighbourhood of the labelled
 * nodes, which makes a two-layer network's columns exact.  With many, or when
 * the user gives a smaller number, they are the nodes of highest degree, which
 * cover most of the graph; those of a power of a kernel are spread evenly.  Kernels that are
 * compared take fewer.  Twins (same features, same neighbours) would make
 * the landmarks' covariance singular, so one of them is enough.
 *
 * Strategy sql takes nodes of highest degree, those that labels see first where they fit
 * (gp_landmarks_of_degrees); tasks draw theirs from the labelled rows (facts/facts_fit.c).
 */
#include "base/hash_table.h"
#include "base/sort.h"
#include "fit_internal.h"
#include "factor.h"
#include "kernel/prepared.h"

#define AUTOMATIC_WORK 1.5e12		/* nodes times the squared rank of a factor, at most */
#define COMPARED_COUNT 600		/* landmarks of a kernel that is compared with others */
#define COMPARED_SQUARES 6e9	/* more while landmarks^2 times nodes stays below */
#define COMPARED_ENTRIES 3e7	/* fewer where landmarks times nodes would be above */
#define COMPARED_LEAST 128		/* landmarks that it has in any case */

/* True when an operator has a part that stays at the node: I, or P(a). */
static bool
keeps_node(const gp_operator *op)
{
	for (int t = 0; t < op->nterms; t++)
		if (op->term[t].power_a == 0)
			return true;
	return false;
}

/*
 * True when a node's own features reach the kernel by another way than its
 * neighbourhood's sum: then twins must have equal features, too.
 */
static bool
sees_itself(const gp_eval *ev)
{
	const gp_program *program = ev->kernel->program;
	bool	   *bare = gp_alloc_zero(ev->env, program->nsteps, sizeof(bool));
	bool		sees = ev->kernel->input != GP_INPUT_LINEAR;

	for (int i = 0; i < program->nsteps; i++)
	{
		const gp_step *s = &program->steps[i];

		const gp_step_nature *nature = gp_step_nature_of(s);

		bare[i] = s->kind == GP_STEP_INPUT || s->kind == GP_STEP_LISTS ||
			(nature->arguments > 0 && bare[s->arg0]) ||
			(nature->arguments > 1 && bare[s->arg1]);
		if (nature->gathers)
			bare[i] = bare[i] && keeps_node(s->op);
		if (i == program->nsteps - 1 || (nature->panel && nature->arguments > 0))
			sees = sees || bare[i];
	}
	gp_free(ev->env, bare);
	return sees;
}

/* Hashes of what each node has itself; the lists of neighbours are features, too. */
static uint64_t *
own_hashes(const gp_eval *ev)
{
	const gp_prepared *kernel = ev->kernel;
	/* No two rows of a root are alike. */
	const uint64_t *hash = kernel->shared ? kernel->shared->hash : NULL;
	uint64_t   *own = kernel->root_of ? gp_alloc_zero(ev->env, ev->n, sizeof(uint64_t))
		: hash ? gp_alloc_array(ev->env, ev->n, sizeof(uint64_t))
		: gp_hash_features(ev->env, kernel->x);

	if (hash)
		memcpy(own, hash, ev->n * sizeof(uint64_t));
	for (int64_t i = 0; i < ev->n && (kernel->lists || kernel->root_of); i++)
	{
		if (kernel->lists)
			own[i] += gp_hash_sparse(kernel->lists, i, kernel->x->dims);
		if (kernel->root_of)
			own[i] += gp_hash(~(uint64_t) i);
	}
	return own;
}

/* What twins share: the features, summed over the neighbours with their weights. */
static uint64_t
fingerprint(const gp_csr *a, const uint64_t *own, bool sees, int64_t i)
{
	uint64_t	sum = 0;

	for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
		if (own[a->col[k]])
			sum += gp_hash(own[a->col[k]] ^ gp_hash(gp_bits_at(a->value, a->type, k)));
	return sees ? gp_hash(sum) + own[i] : sum;
}

/*
 * Nodes that come in some order, those that are preferred (NULL: none is) before all others, and
 * by falling degree.
 */
static int32_t *
ranked(gp_env *env, int64_t n, const int32_t *order, const int64_t *degree, const bool *preferred)
{
	int32_t    *out = gp_alloc_values(env, n, sizeof(int32_t));
	int64_t		most = 0;

	for (int64_t i = 0; i < n; i++)
		most = gp_max64(most, degree[i]);
	int64_t    *at = gp_alloc_zero(env, 2 * most + 3, sizeof(int64_t));
#define RANK(i) (most - degree[i] + (preferred && preferred[i] ? 0 : most + 1))
	for (int64_t i = 0; i < n; i++)
		at[RANK(i) + 1]++;
	gp_offsets_of_counts(at, 2 * most + 2);
	for (int64_t k = 0; k < gp_items(env, n); k++)
		out[at[RANK(order[k])]++] = order[k];
#undef RANK
	gp_free(env, at);
	return out;
}

/* All nodes, first come first; of equal rank those that the evaluation shuffled. */
static int32_t *
ranked_nodes(gp_eval *ev, const gp_problem *problem, bool prefer_field)
{
	const gp_csr *a = ev->kernel->a;
	int64_t    *degree = gp_alloc_array(ev->env, ev->n, sizeof(int64_t));
	bool	   *preferred = gp_alloc_zero(ev->env, prefer_field ? ev->n : 0, sizeof(bool));
	int32_t    *out;

	for (int64_t i = 0; i < ev->n; i++)
		degree[i] = a->start[i + 1] - a->start[i];
	for (int64_t k = 0; k < problem->nlabelled && prefer_field; k++)
	{
		int32_t		i = problem->labelled[k];

		for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
			preferred[a->col[e]] = true;
	}
	out = ranked(ev->env, ev->n, gp_eval_shuffled(ev), degree, prefer_field ? preferred : NULL);
	gp_free_all(ev->env, degree, preferred);
	return out;
}

/* The size of the labelled nodes' closed neighbourhood. */
static int64_t
field_size(const gp_eval *ev, const gp_problem *problem)
{
	int64_t		n;
	int32_t    *field = gp_graph_field(ev->env, ev->kernel->a, problem->labelled,
									   problem->nlabelled, &n);

	gp_free(ev->env, field);
	return n;
}

int64_t
gp_landmarks_automatic(gp_eval *ev, const gp_problem *problem)
{
	if (problem->nlandmarks > 0)
		return problem->nlandmarks < ev->n ? problem->nlandmarks : ev->n;
	if (ev->kernel->program->power != 1.0)
		return gp_power_landmarks(ev);
	if (problem->loo_only)
	{
		/* So many that every kernel that is compared takes seconds, whatever the size of the
		 * graph. */
		double		few = fmin(fmax(COMPARED_ENTRIES / (double) ev->n, COMPARED_LEAST),
							   COMPARED_COUNT);

		return gp_min64(ev->n, (int64_t) fmax(sqrt(COMPARED_SQUARES / (double) ev->n), few));
	}
	int64_t		n = field_size(ev, problem);
	if (n <= GP_FIELD_MOST && problem->task == GP_TASK_CLASSES)
		return n;
	int			root = ev->kernel->program->nsteps - 1;
	/* A factor wider than there are labels takes time and explains no more (measured). */
	double		width = problem->nlabelled == 0 ? INFINITY :
		gp_max64(GP_LANDMARKS_MOST, problem->nlabelled);
	double		most = fmin(width / gp_nystrom_panels(ev, root, false),
							sqrt(AUTOMATIC_WORK / (double) ev->n) /
							gp_nystrom_panels(ev, root, true));
	return gp_min64(gp_min64(ev->n, GP_LANDMARKS_MOST), (int64_t) fmax(most, COMPARED_LEAST));
}

int32_t *
gp_landmarks_choose(gp_eval *ev, const gp_problem *problem, int64_t count, bool spread, int64_t *n)
{
	gp_env	   *env = ev->env;
	int32_t    *landmark = gp_alloc_values(env, count, sizeof(int32_t));
	bool		sums = gp_program_has(ev->kernel->program, GP_STEP_OP);
	bool		sees = sees_itself(ev);
	bool		field;			/* that of the labels comes first */
	int32_t    *rank = NULL;
	const int32_t *order;

	if (problem->landmark)
	{
		memcpy(landmark, problem->landmark, (size_t) gp_items(env, count) * sizeof(int32_t));
		*n = count;
		return landmark;
	}
	spread |= ev->kernel->program->power != 1.0;
	/* The whole field of the labels comes first where there is room for it, which makes more
	 * landmarks useless. */
	field = !spread && problem->task == GP_TASK_CLASSES && problem->nlabelled <= count &&
		field_size(ev, problem) <= count;
	order = spread ? gp_eval_shuffled(ev) : (rank = ranked_nodes(ev, problem, field));
	uint64_t   *own = env->dry ? gp_alloc_values(env, ev->n, sizeof(uint64_t)) : own_hashes(ev);
	gp_set		seen = gp_set_open(env, count);
	*n = 0;
	GP_EACH(env, k, *n < count ? gp_items(env, ev->n) : 0, k)
	{
		uint64_t	twin = sums ? fingerprint(ev->kernel->a, own, sees, order[k]) : own[order[k]];

		if (gp_set_add(&seen, twin ? twin : 1))
			landmark[(*n)++] = order[k];
	}
	/* The landmarks of a dry run: nobody is a twin, and nobody looks at them. */
	if (env->dry)
		*n = count;
	else
		gp_sort_columns(env, landmark, *n);
	gp_free_all(env, rank, own);
	gp_set_close(&seen);
	return landmark;
}

/* A node that may be a landmark. */
typedef struct ranked_node
{
	gp_drawn	drawn;
	int32_t		degree;
	bool		preferred;
} ranked_node;

/* Preferred nodes first, then by falling degree, then as they were drawn. */
static int
compare_ranked(const void *a, const void *b, void *unused)
{
	const ranked_node *x = a;
	const ranked_node *y = b;

	if (x->preferred != y->preferred)
		return x->preferred ? -1 : 1;
	if (x->degree != y->degree)
		return x->degree > y->degree ? -1 : 1;
	return gp_compare_drawn(&x->drawn, &y->drawn, NULL);
}

int32_t *
gp_landmarks_of_degrees(gp_env *env, uint64_t seed, int64_t nodes, const int32_t *degree,
						const bool *preferred, int64_t count)
{
	ranked_node *first = gp_alloc_array(env, count, sizeof(ranked_node));
	gp_heap		heap = {.env = env,.item = first,.room = count,.size = sizeof(ranked_node),
						.compare = compare_ranked};
	int32_t    *landmark = gp_alloc_array(env, count, sizeof(int32_t));

	for (int64_t i = 0; i < nodes; i++)
	{
		ranked_node	c = {{gp_hash(seed ^ gp_hash((uint64_t) i)), (int32_t) i}, degree[i],
						 preferred && preferred[i]};

		gp_heap_offer(&heap, &c);
	}
	for (int64_t k = 0; k < count; k++)
		landmark[k] = first[k].drawn.node;
	gp_sort_columns(env, landmark, count);
	gp_free(env, first);
	return landmark;
}

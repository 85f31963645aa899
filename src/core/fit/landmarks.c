/*
 * landmarks.c - which nodes stand for all others in a low-rank factor.
 *
 * With few labels the landmarks are the closed neighbourhood of the labelled
 * nodes, which makes a two-layer network's columns exact.  With many, or when
 * the user gives a smaller number, they are the nodes of highest degree, which
 * cover most of the graph.  Twins (same features, same neighbours) would make
 * the landmarks' covariance singular, so one of them is enough.
 */
#include "base/hash_table.h"
#include "base/sort.h"
#include "fit_internal.h"
#include "landmarks.h"
#include "kernel/prepared.h"

#define AUTOMATIC_FIELD 2048	/* a field up to this size is taken whole */
#define AUTOMATIC_COUNT 1500	/* else this many landmarks, */
#define AUTOMATIC_WORK 2e12		/* fewer where nodes times the factor's squared rank are more */
#define COMPARED_COUNT 600		/* for each kernel of several that are compared: */
#define COMPARED_SQUARES 6e9	/* more where their squares times the nodes are less than so, */
#define COMPARED_ENTRIES 3e7	/* fewer where they times the nodes are more, */
#define COMPARED_LEAST 128		/* but so many */

/* A candidate with what it is ranked by. */
typedef struct candidate
{
	int32_t		node;
	bool		preferred;		/* in the labelled nodes' neighbourhood */
	int64_t		degree;
	uint64_t	fingerprint;
} candidate;

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

/* Fingerprints that twins share: of the features, summed over the neighbours with their weights. */
static uint64_t *
fingerprints(const gp_eval *ev)
{
	/* The lists of neighbours are features, too; no two rows of a root are alike. */
	uint64_t   *own = ev->kernel->root_of ? gp_alloc_zero(ev->env, ev->n, sizeof(uint64_t))
		: gp_hash_features(ev);
	uint64_t   *sum;
	bool		sees = sees_itself(ev);

	for (int64_t i = 0; i < ev->n; i++)
	{
		if (ev->kernel->lists)
			own[i] += gp_hash_sparse(ev->kernel->lists, i, ev->kernel->x->dims);
		if (ev->kernel->root_of)
			own[i] += gp_hash(~(uint64_t) i);
	}
	if (!gp_program_has(ev->kernel->program, GP_STEP_OP))
		return own;
	sum = gp_alloc_zero(ev->env, ev->n, sizeof(uint64_t));
	GP_EACH(ev->env, i, ev->n, ev->kernel->a->start[i])
	{
		for (int64_t k = ev->kernel->a->start[i]; k < ev->kernel->a->start[i + 1]; k++)
			if (own[ev->kernel->a->col[k]])
				sum[i] += gp_hash(own[ev->kernel->a->col[k]] ^
								  gp_hash(gp_bits_at(ev->kernel->a->value, ev->kernel->a->type,
													   k)));
		if (sees)
			sum[i] = gp_hash(sum[i]) + own[i];
	}
	gp_free(ev->env, own);
	return sum;
}

/* By preference and degree. */
static int
compare_rank(const void *a, const void *b, void *unused)
{
	const candidate *x = a;
	const candidate *y = b;

	if (x->preferred != y->preferred)
		return x->preferred ? -1 : 1;
	return (x->degree < y->degree) - (x->degree > y->degree);
}

/* All nodes as candidates, first come first; of equal rank those that the evaluation shuffled. */
static candidate *
candidates(gp_eval *ev, const gp_problem *problem, bool spread, bool prefer_field)
{
	const gp_csr *a = ev->kernel->a;
	const int64_t *start = a->start;
	const int32_t *shuffled = gp_eval_shuffled(ev);
	uint64_t   *fingerprint = fingerprints(ev);
	candidate  *c = gp_alloc_zero(ev->env, ev->n, sizeof(candidate));
	bool	   *preferred = gp_alloc_zero(ev->env, prefer_field ? ev->n : 0, sizeof(bool));

	for (int64_t k = 0; k < problem->nlabelled && prefer_field; k++)
		for (int64_t e = start[problem->labelled[k]]; e < start[problem->labelled[k] + 1]; e++)
			preferred[a->col[e]] = true;
	for (int64_t k = 0; k < ev->n; k++)
	{
		int32_t		i = shuffled[k];

		c[k] = (candidate) {i, prefer_field && preferred[i],
			spread ? 0 : start[i + 1] - start[i], fingerprint[i]};
	}
	gp_free_all(ev->env, fingerprint, preferred);
	if (!spread)
		gp_sort(ev->env, c, ev->n, sizeof(candidate), compare_rank, NULL);
	return c;
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
	int64_t		n;
	double		rank;

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
	n = field_size(ev, problem);
	if (n <= AUTOMATIC_FIELD && problem->task == GP_TASK_CLASSES)
		return n;
	rank = sqrt(AUTOMATIC_WORK / (double) ev->n);
	return gp_min64(gp_min64(ev->n, AUTOMATIC_COUNT),
					(int64_t) fmax(rank / gp_nystrom_panels(ev, ev->kernel->program->nsteps - 1),
								   COMPARED_LEAST));
}

int32_t *
gp_landmarks_choose(gp_eval *ev, const gp_problem *problem, int64_t count, bool spread, int64_t *n)
{
	gp_env	   *env = ev->env;
	int32_t    *landmark;
	bool		field;			/* that of the labels comes first */
	candidate  *c;
	gp_set		seen;

	*n = count;
	spread |= ev->kernel->program->power != 1.0;
	if (env->dry)
	{
		/* The landmarks of a dry run: nobody is a twin, and nobody looks at them. */
		(void) gp_eval_shuffled(ev);
		gp_free(env, gp_alloc_figures(env, ev->n, sizeof(candidate) * 3 / 2));
		return gp_alloc_figures(ev->env, count, sizeof(int32_t));
	}
	landmark = gp_alloc_array(env, count, sizeof(int32_t));
	/* The whole field of the labels comes first where there is room for it, which makes more
	 * landmarks useless. */
	field = !spread && problem->task == GP_TASK_CLASSES && problem->nlabelled <= count &&
		field_size(ev, problem) <= count;
	if (problem->landmark)
	{
		memcpy(landmark, problem->landmark, count * sizeof(int32_t));
		return landmark;
	}
	*n = 0;
	seen = gp_set_open(env, count);
	c = candidates(ev, problem, spread, field);
	GP_EACH(env, k, *n < count ? ev->n : 0, k)
	{
		if (gp_set_add(&seen, c[k].fingerprint ? c[k].fingerprint : 1))
			landmark[(*n)++] = c[k].node;
	}
	gp_sort_columns(env, landmark, *n);
	gp_free(env, c);
	gp_set_close(&seen);
	return landmark;
}

int32_t *
gp_landmarks_of_degrees(gp_env *env, uint64_t seed, int64_t nodes, const int64_t *degree,
						const bool *preferred, int64_t count)
{
	candidate  *c = gp_alloc_zero(env, nodes, sizeof(candidate));
	int32_t    *shuffled = gp_shuffle(env, nodes, seed, NULL);
	int32_t    *landmark = gp_alloc_array(env, count, sizeof(int32_t));

	for (int64_t k = 0; k < nodes; k++)
		c[k] = (candidate) {shuffled[k], preferred && preferred[shuffled[k]],
			degree[shuffled[k]], 0};
	gp_sort(env, c, nodes, sizeof(candidate), compare_rank, NULL);
	for (int64_t k = 0; k < count; k++)
		landmark[k] = c[k].node;
	gp_sort_columns(env, landmark, count);
	gp_free_all(env, c, shuffled);
	return landmark;
}

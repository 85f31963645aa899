/*
 * step_kinds.c - the kinds of steps, what can be had cheaply of each, and how far they reach.
 *
 * The cheapness decides which evaluator can serve: pairs of a chain cost one dot
 * product each, the diagonal of S C S' over a chain C costs the pairs of
 * neighbours of each node, and anything deeper needs the full recursion.
 */
#include "prepared.h"

/* What is true of each kind whatever evaluates it. */
static const gp_step_nature nature[] = {
	[GP_STEP_INPUT] = {.arguments = 0, .linear = true, .pointwise = true, .panel = true},
	[GP_STEP_LISTS] = {.arguments = 0, .linear = true, .pointwise = true},
	[GP_STEP_BIAS] = {.arguments = 0, .linear = true},
	[GP_STEP_SCALE] = {.arguments = 1, .linear = true, .pointwise = true},
	[GP_STEP_OP] = {.arguments = 1, .linear = true, .gathers = true},
	[GP_STEP_RELU] = {.arguments = 1, .pointwise = true, .panel = true},
	[GP_STEP_UNIT] = {.arguments = 1, .pointwise = true},
	[GP_STEP_SUM] = {.arguments = 2, .linear = true}
};
_Static_assert(sizeof(nature) == GP_STEP_KINDS * sizeof(nature[0]), "each kind of step has a line");

const gp_step_nature *
gp_step_nature_of(const gp_step *s)
{
	return &nature[s->kind];
}

static int
argument(const gp_step *s, int k)
{
	return k == 0 ? s->arg0 : s->arg1;
}

/* A step without activation over a linear input has an explicit factor. */
static bool
find_linear(const gp_prepared *kernel, const gp_step *s)
{
	const gp_step_nature *nature = gp_step_nature_of(s);
	bool		linear = nature->linear;

	if (s->kind == GP_STEP_INPUT)
		return kernel->input == GP_INPUT_LINEAR;
	for (int k = 0; k < nature->arguments; k++)
		linear = linear && kernel->is_linear[argument(s, k)];
	return linear;
}

/* A chain: pointwise stages over one linear step; a constant that is added is one, too. */
static bool
find_chain(const gp_prepared *kernel, int step)
{
	const gp_step *steps = kernel->program->steps;
	const gp_step *s = &steps[step];
	const gp_step_nature *nature = gp_step_nature_of(s);

	if (kernel->is_linear[step])
		return true;
	if (nature->arguments < 2)
		return nature->pointwise && (nature->arguments == 0 || kernel->is_chain[s->arg0]);
	return (steps[s->arg1].kind == GP_STEP_BIAS && kernel->is_chain[s->arg0]) ||
		(steps[s->arg0].kind == GP_STEP_BIAS && kernel->is_chain[s->arg1]);
}

/* What can be had cheaply of a step. */
static gp_cheapness
find_cheapness(gp_eval *ev, int step)
{
	const gp_prepared *kernel = ev->kernel;
	const gp_step *s = &kernel->program->steps[step];
	const gp_step_nature *nature = gp_step_nature_of(s);
	/* Two chains have no common factor: only their diagonals add up cheaply. */
	gp_cheapness cheapness = nature->arguments > 1 ? GP_CHEAP_DIAGONAL : GP_CHEAP_PAIRS;

	if (kernel->is_chain[step])
		return GP_CHEAP_PAIRS;
	/* Pairs of rows are of one kind of columns: dense features would make the lists dense. */
	if (nature->gathers)
		return kernel->is_chain[s->arg0] && !gp_operator_is_global(s->op) &&
			!(kernel->x->csr == NULL && kernel->has_lists[s->arg0]) &&
			!gp_operator_fills(ev, s->op) ? GP_CHEAP_DIAGONAL : GP_CHEAP_NONE;
	for (int k = 0; k < nature->arguments; k++)
		if (kernel->cheapness[argument(s, k)] > cheapness)
			cheapness = kernel->cheapness[argument(s, k)];
	return cheapness;
}

void
gp_eval_learn_steps(gp_eval *ev)
{
	int			n = ev->kernel->program->nsteps;

	ev->linear = gp_alloc_zero(ev->env, n, sizeof(gp_linear));
	ev->kernel->linear = gp_alloc_zero(ev->env, n, sizeof(gp_known_linear));
	ev->kernel->op = gp_alloc_zero(ev->env, n, sizeof(gp_known_operator));
	ev->kernel->is_linear = gp_alloc_zero(ev->env, n, sizeof(bool));
	ev->kernel->is_chain = gp_alloc_zero(ev->env, n, sizeof(bool));
	ev->kernel->has_lists = gp_alloc_zero(ev->env, n, sizeof(bool));
	ev->kernel->cheapness = gp_alloc_zero(ev->env, n, sizeof(gp_cheapness));
	for (int step = 0; step < n; step++)
	{
		ev->kernel->is_linear[step] = find_linear(ev->kernel, &ev->kernel->program->steps[step]);
		ev->kernel->is_chain[step] = find_chain(ev->kernel, step);
		/* True when lists of neighbours are at or under a step */
		const gp_step *s = &ev->kernel->program->steps[step];
		bool		lists = s->kind == GP_STEP_LISTS;

		for (int k = 0; k < gp_step_nature_of(s)->arguments; k++)
			lists = lists || ev->kernel->has_lists[argument(s, k)];
		ev->kernel->has_lists[step] = lists;
		ev->kernel->cheapness[step] = find_cheapness(ev, step);
	}
}

bool
gp_step_is_linear(const gp_eval *ev, int step)
{
	return ev->kernel->is_linear[step];
}

bool
gp_step_is_chain(const gp_eval *ev, int step)
{
	return ev->kernel->is_chain[step];
}

gp_cheapness
gp_step_cheapness(const gp_eval *ev, int step)
{
	return ev->kernel->cheapness[step];
}

int *
gp_step_hops(gp_env *env, const gp_program *program)
{
	int		   *hop = gp_alloc_zero(env, program->nsteps, sizeof(int));

	for (int i = program->nsteps - 1; i >= 0; i--)
	{
		const gp_step *s = &program->steps[i];
		int			need = s->kind == GP_STEP_OP ? hop[i] + gp_operator_reach(s->op) : hop[i];

		if (s->arg0 >= 0 && need > hop[s->arg0])
			hop[s->arg0] = need;
		if (s->arg1 >= 0 && need > hop[s->arg1])
			hop[s->arg1] = need;
	}
	return hop;
}

int
gp_program_hops(gp_env *env, const gp_program *program)
{
	int		   *hop = gp_step_hops(env, program);
	int			most = 0;

	for (int i = 0; i < program->nsteps; i++)
		most = hop[i] > most ? hop[i] : most;
	gp_free(env, hop);
	return most;
}

const char *
gp_program_global_part(const gp_program *program)
{
	if (program->input.kind == GP_INPUT_LAPLACIAN)
		return "a Laplacian input";
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_OP && gp_operator_is_global(program->steps[i].op))
			return "P(a)";
	return NULL;
}

void
gp_program_check_live(gp_env *env, const gp_program *program)
{
	const char *what = gp_program_global_part(program);

	if (what)
		gp_raise(env, GP_ERR_UNSUPPORTED,
				 "Fit without live, or by a kernel of neighbours such as gcn, sage or gin.",
				 "a kernel with %s has no live state: it reaches every node", what);
}

/*
 * evaluation.c - the frame of an evaluation: opening, moving, dry runs, closing.
 */
#include "graph/laplacian.h"
#include "prepared.h"

/* A Laplacian input as the graph's floor knows it. */
static gp_laplacian
laplacian_of(const gp_input *input)
{
	const double *p = input->p;

	return (gp_laplacian) {
		.d = (int) p[GP_LAPLACIAN_D],
		.sigma2 = p[GP_LAPLACIAN_SIGMA2],
		.walks = (int) p[GP_LAPLACIAN_WALKS],
		.p_term = p[GP_LAPLACIAN_P_TERM],
		.choice = (gp_walk_choice) p[GP_LAPLACIAN_CHOICE],
		.trim = (gp_walk_trim) p[GP_LAPLACIAN_TRIM],
		.dims = (int64_t) p[GP_LAPLACIAN_DIMS]
	};
}

/* The making of a root, on a device that accounts for it. */
typedef struct root_trial
{
	const gp_graph *graph;
	gp_laplacian kernel;
	gp_type		type;
} root_trial;

static void
run_root(gp_device *dry, void *arg)
{
	const root_trial *t = arg;

	gp_features_free(dry->env, gp_laplacian_root_features(dry, t->graph, &t->kernel, t->type));
}

double
gp_eval_promised(const gp_eval *ev, double *most)
{
	const gp_features *x = ev->kernel->x;

	*most = ev->kernel->promised ? ev->kernel->making.bytes : 0.0;
	return ev->kernel->promised
		? (double) gp_alloc_size((size_t) (x->rows * x->dims) * gp_type_size(x->type)) : 0.0;
}

void
gp_eval_make_promised(gp_eval *ev)
{
	gp_prepared *kernel = ev->kernel;

	if (!kernel->promised)
		return;
	ev->env->progress(ev->env, GP_PHASE_KERNEL, 0, 0);
	gp_laplacian laplacian = laplacian_of(&kernel->program->input);
	gp_features_free(ev->env, kernel->own_x);
	kernel->own_x = NULL;
	kernel->x = kernel->own_x = gp_laplacian_root_features(ev->dev, kernel->root_of, &laplacian,
														   ev->type);
	kernel->promised = false;
}

gp_features *
gp_input_factor(gp_device *dev, const gp_program *program, const gp_graph *graph, uint64_t seed,
				gp_type type, gp_eval_options set)
{
	gp_laplacian kernel = laplacian_of(&program->input);

	if (set.to_plan && kernel.dims == 0 && gp_laplacian_root_fits(dev->env, graph, set.limit))
		return NULL;
	return gp_laplacian_features(dev, graph, &kernel, seed, type, set.limit);
}

/* Makes the features that the input kernel takes instead of the user's. */
static void
make_input(gp_eval *ev, const gp_graph *graph, uint64_t seed, gp_eval_options set)
{
	if (ev->kernel->input == GP_INPUT_LAPLACIAN)
	{
		/* Makes the factor of a Laplacian input, unless it is there; to plan, a root is only
		 * promised */
		gp_laplacian kernel = laplacian_of(&ev->kernel->program->input);
		const gp_features *made = set.shared ? set.shared->x : NULL;

		if (kernel.dims == 0 &&
			(made ? made->dense != NULL : gp_laplacian_root_fits(ev->env, graph, set.limit)))
			ev->kernel->root_of = graph;
		if (made)
			ev->kernel->x = made;
		else if (set.to_plan && ev->kernel->root_of)
		{
			root_trial	t = {graph, kernel, ev->type};

			ev->kernel->own_x = gp_features_of_dense(ev->env, gp_alloc(ev->env, 1), graph->nodes,
													 graph->nodes, ev->type);
			ev->kernel->promised = true;
			ev->kernel->making = gp_dry_run(ev->dev, run_root, &t);
		}
		else
			ev->kernel->own_x = gp_laplacian_features(ev->dev, graph, &kernel, seed, ev->type,
													   set.limit);
		ev->kernel->input = GP_INPUT_LINEAR;
	}
	else if (ev->kernel->x != NULL && ev->kernel->input == GP_INPUT_COSINE)
		ev->kernel->own_x = gp_features_unit(ev->env, ev->kernel->x, ev->kernel->x->type,
											 GP_ROW_LENGTH);
	else if (ev->kernel->x == NULL || ev->kernel->input == GP_INPUT_IDENTITY)
	{
		ev->kernel->own_x = gp_features_identity(ev->env, ev->n, ev->type);
		ev->kernel->x_is_identity = true;
	}
	/* The identity is linear in itself; rbf, poly and arccos of it stay what they are. */
	if (ev->kernel->input == GP_INPUT_IDENTITY || ev->kernel->input == GP_INPUT_COSINE)
		ev->kernel->input = GP_INPUT_LINEAR;
	if (ev->kernel->own_x)
		ev->kernel->x = ev->kernel->own_x;
}

void
gp_eval_open_with(gp_eval *ev, gp_device *dev, const gp_program *program, const gp_graph *graph,
				  const gp_features *features, uint64_t seed, gp_type type, gp_eval_options set)
{
	gp_prepared *kernel = gp_alloc_zero(dev->env, 1, sizeof(gp_prepared));

	*kernel = (gp_prepared) {.env = dev->env, .program = program, .directed = graph->directed,
	.input = program->input.kind, .x = features, .seed = seed, .a = set.a};
	*ev = (gp_eval) {.dev = dev, .env = dev->env, .kernel = kernel, .n = graph->nodes, .type = type,
	.jitter = type == GP_FLOAT ? GP_FLOAT_JITTER : 1e-6};
	make_input(ev, graph, seed, set);
	if (set.shared && kernel->a == NULL)
		kernel->a = set.shared->a[program->norm];
	kernel->lent_a = kernel->a != NULL;
	if (set.shared && gp_program_has(program, GP_STEP_LISTS))
		kernel->lists = set.shared->lists;
	kernel->lent_lists = kernel->lists != NULL;
	if (set.shared && set.shared->features == features &&
		(kernel->own_x == NULL || (features == NULL && kernel->x_is_identity)))
		kernel->shared = set.shared;
	if (kernel->a == NULL)
		kernel->a = gp_graph_normalise(ev->env, graph, program->norm, ev->type);
	if (kernel->lists == NULL && gp_program_has(program, GP_STEP_LISTS))
		kernel->lists = gp_graph_lists(ev->env, graph, ev->type);
	gp_eval_learn_steps(ev);
}

void
gp_eval_open(gp_eval *ev, gp_device *dev, const gp_program *program, const gp_graph *graph,
			 const gp_features *features, uint64_t seed, gp_type type)
{
	gp_eval_open_with(ev, dev, program, graph, features, seed, type, (gp_eval_options) {0});
}

void
gp_eval_move(gp_eval *ev, gp_device *dev)
{
	if (dev != ev->dev)
		gp_linear_forget(ev);
	ev->dev = dev;
}

/* A piece of work on an evaluation. */
typedef struct eval_trial
{
	const gp_eval *ev;
	gp_eval_work work;
	void	   *arg;
} eval_trial;

static void
run_eval_trial(gp_device *dry, void *arg)
{
	const eval_trial *t = arg;
	gp_eval		run = *t->ev;

	run.dev = dry;
	run.env = dry->env;
	run.linear = gp_alloc_zero(run.env, run.kernel->program->nsteps, sizeof(gp_linear));
	run.shuffled = run.kept_rows = NULL;
	run.nkept_rows = 0;
	t->work(&run, t->arg);
	gp_linear_forget(&run);
	gp_free_all(run.env, run.linear, run.shuffled, run.kept_rows);
}

gp_count
gp_eval_dry(gp_eval *ev, gp_eval_work work, void *arg)
{
	eval_trial	t = {ev, work, arg};

	return gp_dry_run(ev->dev, run_eval_trial, &t);
}

void
gp_eval_close(gp_eval *ev)
{
	gp_linear_forget(ev);
	gp_free_all(ev->env, ev->linear, ev->shuffled, ev->kept_rows);
	/* Frees what was prepared for a kernel */
	gp_env	   *env = ev->kernel->env;

	for (int step = 0; step < ev->kernel->program->nsteps; step++)
		if (!ev->kernel->linear[step].borrowed)
			gp_csr_free(env, ev->kernel->linear[step].csr);
	for (int k = 0; k < ev->kernel->nops; k++)
		gp_csr_free(env, ev->kernel->op[k].csr);
	gp_free_all(env, ev->kernel->linear, ev->kernel->op, ev->kernel->is_linear,
				ev->kernel->is_chain, ev->kernel->has_lists, ev->kernel->cheapness);
	gp_features_free(env, ev->kernel->own_x);
	if (!ev->kernel->lent_a)
		gp_csr_free(env, ev->kernel->a);
	if (!ev->kernel->lent_lists)
		gp_csr_free(env, ev->kernel->lists);
	gp_order_free(env, ev->kernel->order);
	gp_free(env, ev->kernel);
	ev->kernel = NULL;
}

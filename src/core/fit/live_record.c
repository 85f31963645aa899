/*
 * live_record.c - what a fit records of its regression for later questions.
 */
#include "fit_internal.h"

void
gp_live_open(gp_eval *ev, const gp_problem *problem)
{
	if (!problem->live)
		return;
	gp_program_check_live(ev->env, problem->program);
	ev->state = gp_state_create(ev->env);
}

void
gp_live_keep_weights(gp_eval *ev, gp_matrix weights, gp_matrix root, gp_matrix right)
{
	gp_device  *dev = ev->dev;

	gp_state_matrix(dev, ev->state, GP_PIECE_WEIGHTS, 0, 0, weights);
	gp_state_lower(dev, ev->state, GP_PIECE_POSTERIOR, 0, 0, root);
	dev->trsm(dev, true, false, root, right);
	dev->trsm(dev, true, true, root, right);
	gp_state_matrix(dev, ev->state, GP_PIECE_WEIGHTS, 0, 1, right);
}

static void
keep_scalars(gp_live_state *state, const gp_problem *problem, const gp_targets *targets,
			 const gp_solution *solution, const gp_posterior *out)
{
	gp_live_scalars f = {
		.nodes = (double) out->nodes,
		.columns = out->columns,
		.values = problem->task == GP_TASK_VALUES,
		.exact = out->plan.strategy == GP_STRATEGY_EXACT,
		.by_columns = out->plan.by_columns,
		.exact_diagonal = out->plan.exact_diagonal,
		.dims = problem->features ? (double) problem->features->dims : 0.0,
		.noise = solution->noise,
		.mean_diag = solution->mean_diag,
		.scale = solution->scale,
		.unit = targets->unit,
		.offset = targets->offset,
		.least = targets->least,
		.flat = targets->flat,
		.wide = problem->type == GP_DOUBLE
	};

	gp_state_numbers(state, GP_PIECE_FIGURES, 0, 0, (double *) &f, sizeof(f) / sizeof(double), 1);
	if (solution->spread.n > 0)
		gp_state_numbers(state, GP_PIECE_FIGURES, 0, 1, *solution->spread.knot,
						 solution->spread.n, 2);
}

double
gp_live_entries(const gp_live_state *state, const gp_problem *problem, const gp_plan *plan)
{
	if (state == NULL || plan->strategy != GP_STRATEGY_EXACT)
		return 0.0;
	double		anchors = (double) gp_state_find(state, GP_PIECE_ANCHORS, 0, 0)->rows;
	return anchors * (plan->by_columns ? (double) problem->nlabelled : anchors);
}

void
gp_live_record(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
			   const gp_solution *solution, gp_posterior *out)
{
	gp_live_state *state = ev->state;

	if (state == NULL)
		return;
	if (out->plan.strategy == GP_STRATEGY_NYSTROM)
		gp_state_nodes(state, GP_PIECE_ANCHORS, out->landmark, out->nlandmarks);
	if (problem->moments)
		gp_state_numbers(state, GP_PIECE_MOMENTS, 0, 0, problem->moments, 2,
						 problem->features->dims);
	if (problem->encoding)
		gp_state_numbers(state, GP_PIECE_ENCODING, 0, 0, problem->encoding, problem->encoding_rows,
						problem->encoding_cols);
	gp_state_nodes(state, GP_PIECE_LABELLED, problem->labelled, problem->nlabelled);
	if (problem->task == GP_TASK_VALUES)
		gp_state_numbers(state, GP_PIECE_TARGETS, 0, 0, targets->y, targets->m, targets->columns);
	else
		gp_state_nodes(state, GP_PIECE_TARGETS, problem->label, problem->nlabelled);
	keep_scalars(state, problem, targets, solution, out);
	out->state = state;
	ev->state = NULL;
}

void
gp_live_record_calibrator(gp_env *env, const gp_problem *problem, gp_posterior *out)
{
	double		number[5] = {out->calibrator.delta, out->calibrator.gamma,
		out->calibrator.slope, out->calibrator.variance, out->calibrator.noise};

	if (out->state == NULL)
		return;
	gp_state_numbers(out->state, GP_PIECE_CALIBRATOR, 0, 0, number, 5, 1);
	if (out->calibrator.bias)
		gp_state_numbers(out->state, GP_PIECE_CALIBRATOR, 0, 1, out->calibrator.bias, out->columns,
						1);
	if (out->prior_share)
		gp_state_numbers(out->state, GP_PIECE_SHARES, 0, 0, out->prior_share, out->columns, 1);
	/* An exact answer computes the kernel of the labelled nodes again. */
	if (!env->dry && gp_live_entries(out->state, problem, &out->plan) > GP_LIVE_ENTRIES)
		gp_notice(env, "For answers in milliseconds fit with strategy => 'nystrom'.",
				  "each live answer of this exact fit computes the kernel of %lld labelled nodes "
				  "again, which is slow", (long long) problem->nlabelled);
}

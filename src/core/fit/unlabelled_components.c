/*
 * unlabelled_components.c - nodes that no path leads to from a label.
 *
 * What the graph carries from the labels does not get there.  A kernel of features says
 * something of such nodes all the same; one of the graph alone does not, whatever its figures
 * on the labels are: these are of nodes that have others around them.
 */
#include "fit_internal.h"

#define MANY 0.1				/* a share of the unlabelled nodes that the user should know of */

/* True where that may be counted: a fit does not fail for a notice. */
static bool
has_room(gp_env *env, int64_t nodes)
{
	double		bytes = (double) gp_alloc_size((size_t) nodes * sizeof(int32_t)) +
		(double) gp_alloc_size((size_t) nodes * sizeof(bool));

	return env->limit == 0 || (double) env->used + bytes <= (double) gp_limit(env);
}

/* What their predictions are, and what helps. */
static const char *
hint_of(const gp_problem *problem, bool by_features)
{
	if (by_features)
		return "Predictions there rest on features alone; a label in the largest of these components helps most.";
	if (problem->features)
		return "Predictions there rest on nothing but the prior: label some of these nodes, or take a kernel that uses the features, such as gcn.";
	return "Predictions there rest on nothing but the prior: label some of these nodes, or give the nodes features.";
}

void
gp_notice_unlabelled(gp_env *env, const gp_problem *problem)
{
	int64_t		unlabelled = problem->graph->nodes - problem->nlabelled;
	/* What the steps of a program see; a method, which has none, sees all that there is. */
	const gp_program *program = problem->program;
	bool		sees_features = program == NULL;
	bool		sees_graph = program == NULL;

	for (int i = 0; program && i < program->nsteps; i++)
	{
		gp_step_kind kind = program->steps[i].kind;
		gp_input_kind input = program->input.kind;

		sees_graph |= kind == GP_STEP_OP || kind == GP_STEP_LISTS ||
			(kind == GP_STEP_INPUT && input == GP_INPUT_LAPLACIAN);
		sees_features |= kind == GP_STEP_INPUT && input != GP_INPUT_LAPLACIAN &&
			input != GP_INPUT_IDENTITY;
	}
	sees_features &= problem->features != NULL;
	if (!sees_graph || problem->nlabelled < 1 || !has_room(env, problem->graph->nodes))
		return;
	/* The nodes of components without a label. */
	const gp_graph *graph = problem->graph;
	int32_t    *component = gp_graph_components(env, graph->nodes, graph->start, graph->col,
												graph->weight, graph->directed);
	bool	   *labelled = gp_alloc_zero(env, graph->nodes, sizeof(bool));
	int64_t		apart = 0;

	for (int64_t k = 0; k < problem->nlabelled; k++)
		labelled[component[problem->labelled[k]]] = true;
	GP_EACH(env, i, graph->nodes, i)
	{
		apart += !labelled[component[i]];
	}
	gp_free_all(env, labelled, component);
	if ((double) apart <= MANY * (double) unlabelled)
		return;
	if (unlabelled == 1)
		gp_notice(env, hint_of(problem, sees_features),
				  "the unlabelled node is in a component of the graph without a label");
	else
		gp_notice(env, hint_of(problem, sees_features),
				  "%lld of %lld unlabelled nodes %s of the graph without a label",
				  (long long) apart, (long long) unlabelled, apart == 1 ? "is in a component" :
					  "are in components");
}

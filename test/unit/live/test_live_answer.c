/*
 * test_live_answer.c - a node evaluated by its neighbourhood has the posterior of the fit, and labels
 * that are given or taken change it as a refit would.
 */
#include "fit/fit_internal.h"
#include "live/live.h"
#include "kernel/live/live_state.h"
#include "test_env.h"
#include "test_graphs.h"

#include <math.h>
#include <stdlib.h>

#define NODES 120
#define CLASSES 3
#define DIMS 7

/* A kind of problem. */
typedef struct setup
{
	const char *kernel;
	int			features;		/* 0 none, 1 dense, 2 sparse */
	gp_strategy strategy;
	gp_task		task;
	int			step;			/* every so many nodes are labelled */
	int64_t		landmarks;
	bool		directed;
	bool		weighted;
} setup;

/* Blocks of nodes with most edges within. */
static gp_graph *
make_graph(gp_env *env, const setup *s)
{
	uint64_t	state = 5;
	gp_edges   *edges = gp_edges_create(env, NODES, s->directed, s->weighted);

	for (int k = 0; k < 2 * NODES; k++)
	{
		int32_t		src = draw_below(&state, NODES);
		int32_t		dst = draw_below(&state, 5) < 4 ?
			draw_below(&state, NODES / CLASSES) + src / (NODES / CLASSES) * (NODES / CLASSES) :
			draw_below(&state, NODES);
		double		weight = 1.0 + draw_below(&state, 3);

		gp_edges_add(edges, 1, &src, &dst, s->weighted ? &weight : NULL);
	}
	return gp_graph_build(edges);
}

/* Features that say a little of the block; the sparse ones are few. */
static gp_features *
make_features(gp_env *env, const setup *s, gp_type type)
{
	uint64_t	state = 9;
	int32_t		repeated;
	int32_t		which;

	if (s->features == 0)
		return NULL;
	gp_features_builder *b = gp_features_create(env, NODES, s->features == 1 ? DIMS : 0, type);
	for (int32_t i = 0; i < NODES; i++)
		if (s->features == 1)
		{
			double		row[DIMS];

			for (int j = 0; j < DIMS; j++)
				row[j] = draw_unit(&state) + (j == i / (NODES / CLASSES));
			gp_features_add_row(b, i, row);
		}
		else
			for (int k = 0; k < 3; k++)
			{
				int32_t		feature = 20 * k + draw_below(&state, 20);
				double		value = 1.0 + draw_unit(&state);

				gp_features_add_entries(b, 1, &i, &feature, &value);
			}
	return gp_features_build(b, &repeated, &which);
}

/* The problem of a setup. */
static gp_problem
make_problem(gp_env *env, const setup *s, gp_type type)
{
	uint64_t	state = 11;
	int32_t    *labelled = gp_alloc_array(env, NODES, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, NODES, sizeof(int32_t));
	double	   *target = gp_alloc_array(env, NODES, sizeof(double));
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	for (int32_t i = 0; i < NODES; i += s->step)
	{
		labelled[p.nlabelled] = i;
		label[p.nlabelled] = i / (NODES / CLASSES);
		target[p.nlabelled++] = i / (NODES / CLASSES) + draw_unit(&state);
	}
	p.graph = make_graph(env, s);
	p.features = make_features(env, s, type);
	p.program = gp_kernel_program(env, gp_kernel_parse(env, s->kernel));
	p.task = s->task;
	p.labelled = labelled;
	p.label = s->task == GP_TASK_CLASSES ? label : NULL;
	p.target = s->task == GP_TASK_VALUES ? target : NULL;
	p.nclasses = s->task == GP_TASK_CLASSES ? CLASSES : 0;
	p.nugget = 0.1;
	p.strategy = s->strategy;
	p.nlandmarks = s->landmarks;
	p.type = type;
	p.quiet = p.live = true;
	return p;
}

/* A neighbourhood: nodes of the whole graph, and how far each is. */
typedef struct ball
{
	int64_t		n;
	int32_t		node[NODES];
	int			depth[NODES];
	int			place[NODES];	/* -1: not in it */
} ball;

/* Adds a node. */
static void
reach(ball *b, int32_t node, int depth)
{
	if (b->place[node] >= 0)
		return;
	b->place[node] = (int) b->n;
	b->depth[b->n] = depth;
	b->node[b->n++] = node;
}

/* The neighbourhood of some nodes, with one hop more, whose edges are not all there. */
static ball
make_ball(const gp_graph *g, const int32_t *node, int64_t n, int hops)
{
	ball		b;

	b.n = 0;
	for (int i = 0; i < NODES; i++)
		b.place[i] = -1;
	for (int64_t i = 0; i < n; i++)
		reach(&b, node[i], 0);
	for (int64_t k = 0; k < b.n && b.depth[k] <= hops; k++)
		for (int32_t i = 0; i < NODES; i++)
			if (gp_csr_find(g->start, g->col, b.node[k], i) >= 0 || gp_csr_find(g->start, g->col, i, b.node[k]) >= 0)
				reach(&b, i, b.depth[k] + 1);
	return b;
}

/* The edges of a neighbourhood's inner nodes. */
static gp_graph *
ball_graph(gp_env *env, const gp_graph *g, const ball *b, int hops)
{
	gp_edges   *edges = gp_edges_create(env, b->n, g->directed, g->weight != NULL);

	for (int32_t i = 0; i < b->n; i++)
		for (int64_t k = g->start[b->node[i]]; k < g->start[b->node[i] + 1]; k++)
		{
			int32_t		j = b->place[g->col[k]];

			if (j < 0 || (b->depth[i] > hops && b->depth[j] > hops) || (!g->directed && i > j))
				continue;
			gp_edges_add(edges, 1, &i, &j, g->weight ? &g->weight[k] : NULL);
		}
	return gp_graph_build(edges);
}

/* Their features; those of the outer nodes are not looked at. */
static gp_features *
ball_features(gp_env *env, const gp_features *x, const ball *b, int hops)
{
	int32_t		repeated;
	int32_t		which;

	if (x == NULL)
		return NULL;
	if (x->csr)
	{
		int32_t	   *node = gp_alloc_array(env, b->n, sizeof(int32_t));

		memcpy(node, b->node, b->n * sizeof(int32_t));
		return gp_features_of_csr(env, gp_csr_select(env, x->csr, node, b->n, NULL, x->dims));
	}
	gp_features_builder *f = gp_features_create(env, b->n, x->dims, x->type);
	for (int32_t i = 0; i < b->n; i++)
	{
		double		row[DIMS] = {0};

		for (int j = 0; j < DIMS && b->depth[i] <= hops; j++)
			row[j] = gp_number_at(x->dense, x->type, b->node[i] * DIMS + j);
		gp_features_add_row(f, i, row);
	}
	return gp_features_build(f, &repeated, &which);
}

/* Asks about some nodes of the problem's graph as if all others were unknown. */
static gp_live_answer
ask(gp_device *dev, const gp_problem *p, const gp_live_state *state, const int32_t *node, int64_t n,
	const gp_live_label *label, int64_t nlabels)
{
	gp_env	   *env = dev->env;
	int			hops = gp_program_hops(env, p->program);
	ball		b = make_ball(p->graph, node, n, hops);
	gp_live_question q = {.state = state,.program = p->program,.asked = n,.label = label,.nlabels = nlabels,
	.fit_node = b.node};

	while (q.inner < b.n && b.depth[q.inner] <= hops)
		q.inner++;
	q.graph = ball_graph(env, p->graph, &b, hops);
	q.features = ball_features(env, p->features, &b, hops);
	return gp_live_ask(dev, &q);
}

/* The largest difference of an answer's means and variances from a posterior's. */
static double
difference(const gp_live_answer *a, const gp_posterior *out, const int32_t *node)
{
	double		most = 0.0;

	for (int64_t i = 0; i < a->n; i++)
	{
		most = fmax(most, fabs(a->variance[i] - out->variance[node[i]]));
		for (int c = 0; c < a->columns; c++)
			most = fmax(most, fabs(a->mean[i * a->columns + c] - out->mean[node[i] * a->columns + c]));
	}
	return isfinite(most) ? most : INFINITY;
}

/* Every node by its neighbourhood, one by one and some together. */
static void
check_nodes(gp_env *env, setup s, gp_type type)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, &s, type);
	gp_posterior *out = gp_fit(dev, &p);
	int32_t		some[4] = {7, 3, 88, 44};
	double		most = 0.0;
	gp_live_answer a;
	char		name[200];

	for (int32_t i = 0; i < NODES; i += 3)
	{
		a = ask(dev, &p, out->state, &i, 1, NULL, 0);
		most = fmax(most, difference(&a, out, &i));
	}
	a = ask(dev, &p, out->state, some, 4, NULL, 0);
	most = fmax(most, difference(&a, out, some));
	snprintf(name, sizeof(name), "%s, features %d, %s%s%s, %s, power %g: differs by %.1g", s.kernel, s.features,
			 gp_strategy_names[out->plan.strategy], out->plan.by_columns ? " by columns" : "",
			 out->plan.exact_diagonal ? ", exact diagonal" : "", s.directed ? "directed" : "undirected", out->power, most);
	ok(most < (type == GP_FLOAT ? 3e-5 : 1e-8), name);
}

/* Labels that are changed, against a fit with them. */
static void
check_labels(gp_env *env, setup s)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, &s, GP_DOUBLE);
	gp_posterior *out = gp_fit(dev, &p);
	int32_t		node[6] = {7, 3, 88, 45, 50, 100};
	gp_live_label label[3] = {{.node = 3,.label = 1,.target = 2.5}, {.node = 4,.taken = true}, {.node = 5,.label = 0,.target = -1.0}};
	int32_t    *labelled = gp_alloc_array(env, NODES, sizeof(int32_t));
	int32_t    *class = gp_alloc_array(env, NODES, sizeof(int32_t));
	double	   *target = gp_alloc_array(env, NODES, sizeof(double));
	int64_t		m = 0;
	gp_live_answer a = ask(dev, &p, out->state, node, 6, label, 3);
	gp_problem	again = p;
	char		name[200];

	/* Of step 5: 45 is not new but changes, 50 loses its label, 100 changes; of step 3 the first and last are new. */
	for (int32_t i = 0; i < NODES; i++)
	{
		bool		was = i % s.step == 0;
		int64_t		k = i / s.step;

		if ((!was && i != 45 && i != 100) || i == 50)
			continue;
		labelled[m] = i;
		class[m] = i == 45 ? 1 : i == 100 ? 0 : i / (NODES / CLASSES);
		target[m++] = i == 45 ? 2.5 : i == 100 ? -1.0 : p.target ? p.target[k] : 0.0;
	}
	again.nlabelled = m;
	again.labelled = labelled;
	again.label = p.label ? class : NULL;
	again.target = p.target ? target : NULL;
	again.nugget = out->nugget;
	again.landmark = out->landmark;
	again.nlandmarks = out->nlandmarks;
	again.strategy = out->plan.strategy;
	again.live = false;
	gp_posterior *want = gp_fit(dev, &again);
	/* A live answer keeps the scale of its fit. */
	for (int64_t i = 0; i < want->nodes; i++)
		want->variance[i] *= out->scale / want->scale;
	double		most = difference(&a, want, node);
	snprintf(name, sizeof(name), "%s, %s, step %d: labels that change differ from a fit by %.1g (nugget %g, %g)", s.kernel,
			 gp_strategy_names[out->plan.strategy], s.step, most, out->nugget * out->mean_diag, want->nugget * want->mean_diag);
	ok(most < 1e-4 && gp_state_find(out->state, GP_PIECE_FIGURES, 0, 0) != NULL, name);
}

/* The parts of a score, which add up to it. */
static void
check_parts(gp_env *env, setup s)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, &s, GP_DOUBLE);
	gp_posterior *out = gp_fit(dev, &p);
	int			hops = gp_program_hops(env, p.program);
	int32_t		node = 7;
	ball		b = make_ball(p.graph, &node, 1, hops);
	gp_live_question q = {.state = out->state,.program = p.program,.asked = 1,.fit_node = b.node,.inner = b.n};
	double	   *share = gp_alloc_array(env, p.nlabelled, sizeof(double));
	double		sum = out->offset;
	char		name[200];

	q.graph = ball_graph(env, p.graph, &b, hops);
	q.features = ball_features(env, p.features, &b, hops);
	double		score = gp_live_explain(dev, &q, share).mean[0];
	gp_live_parts(env, out->state, 0, share);
	for (int64_t t = 0; t < p.nlabelled; t++)
		sum += share[t];
	sum = fmax(sum, out->least);
	snprintf(name, sizeof(name), "%s, %s: the parts add up to the score (%.1g)", s.kernel,
			 gp_strategy_names[out->plan.strategy], fabs(sum - score));
	ok(fabs(sum - score) < 1e-8 && fabs(score - out->mean[7 * out->columns]) < 1e-8, name);
}

/* The sum of the variances of every so many nodes, with labels given to some. */
static double
variance_left(gp_device *dev, gp_live_question q, const int32_t *given, int64_t ngiven, int step)
{
	gp_live_label label[NODES];
	double		sum = 0.0;

	for (int64_t k = 0; k < ngiven; k++)
		label[k] = (gp_live_label) {.node = given[k]};
	q.asked = q.inner;
	q.node = NULL;
	q.label = label;
	q.nlabels = ngiven;
	gp_live_answer a = gp_live_ask(dev, &q);
	for (int64_t i = 0; i < q.inner; i += step)
		sum += a.variance[i];
	return sum;
}

/* The largest share of what is left that one more label can take, by trying all. */
static double
best_by_trial(gp_device *dev, const gp_live_question *q, int32_t *given, int64_t n, int step, const setup *s)
{
	double		before = variance_left(dev, *q, given, n, step);
	double		best = 0.0;

	for (int32_t i = 0; i < NODES; i++)
	{
		bool		taken = i % s->step == 0;

		for (int64_t k = 0; k < n; k++)
			taken = taken || given[k] == i;
		given[n] = i;
		if (!taken)
			best = fmax(best, 1.0 - variance_left(dev, *q, given, n + 1, step) / before);
	}
	return best;
}

/* What to label next: each choice takes as much as the best of all that are tried. */
static void
check_next(gp_env *env, setup s, int step)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, &s, GP_DOUBLE);
	gp_posterior *out = gp_fit(dev, &p);
	int32_t		number[NODES];
	int32_t		among[NODES];
	int32_t		given[NODES];
	gp_live_question q = {.state = out->state,.program = p.program,.graph = p.graph,.features = p.features,
	.fit_node = number,.inner = NODES,.asked = NODES};
	double		most = 0.0;
	char		name[200];

	for (int i = 0; i < NODES; i++)
		number[i] = i;
	if (step > 1)
	{
		for (q.asked = 0; q.asked * step < NODES; q.asked++)
			among[q.asked] = (int32_t) (q.asked * step);
		q.node = among;
	}
	gp_live_choice choice = gp_live_next(dev, &q, 4);
	for (int64_t k = 0; k < choice.n; k++)
	{
		double		trial = best_by_trial(dev, &q, given, k, step, &s);

		given[k] = choice.node[k];
		most = fmax(most, fabs(trial - choice.gain[k]));
		most = fmax(most, fabs(1.0 - variance_left(dev, q, given, k + 1, step) / variance_left(dev, q, given, k, step) - choice.gain[k]));
	}
	snprintf(name, sizeof(name), "%s, %s%s, every %d: labels to take next gain what the best one does (%.1g)", s.kernel,
			 gp_strategy_names[out->plan.strategy], out->plan.exact_diagonal ? ", exact diagonal" : "", step, most);
	ok(choice.n == 4 && most < 1e-6, name);
	choice = gp_live_next(dev, &q, 1000);
	is_int(choice.n, NODES - p.nlabelled, "all that have none");
}

/* A graph without one edge. */
static gp_graph *
graph_without(gp_env *env, const gp_graph *g, int32_t src, int32_t dst)
{
	gp_edges   *edges = gp_edges_create(env, g->nodes, g->directed, g->weight != NULL);

	for (int32_t i = 0; i < g->nodes; i++)
		for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
			if ((g->directed || i < g->col[k]) && (i != src || g->col[k] != dst))
				gp_edges_add(edges, 1, &i, &g->col[k], g->weight ? &g->weight[k] : NULL);
	return gp_graph_build(edges);
}

/* The edges that move a score most: each as an evaluation of the whole graph without it says. */
static void
check_edges(gp_env *env, setup s)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, &s, GP_DOUBLE);
	gp_posterior *out = gp_fit(dev, &p);
	int32_t		number[NODES];
	int32_t		node = 7;
	gp_live_question q = {.state = out->state,.program = p.program,.graph = p.graph,.features = p.features,
	.fit_node = number,.inner = NODES,.asked = 1,.node = &node};
	double		most = 0.0;
	int64_t		n;
	int64_t		left;
	char		name[200];

	for (int i = 0; i < NODES; i++)
		number[i] = i;
	double		score = gp_live_ask(dev, &q).mean[0];
	gp_live_edge *edge = gp_live_explain_edges(dev, &q, 0, score, 3, &n, &left);
	for (int64_t e = 0; e < n; e++)
	{
		gp_live_question without = q;

		without.graph = graph_without(env, p.graph, edge[e].src, edge[e].dst);
		most = fmax(most, fabs(gp_live_ask(dev, &without).mean[0] - score - edge[e].effect));
	}
	snprintf(name, sizeof(name), "%s, %s, features %d: the effects of edges are those of leaving them out (%.1g)", s.kernel,
			 gp_strategy_names[out->plan.strategy], s.features, most);
	ok(n == 3 && left == 0 && most < 1e-9 && fabs(edge[0].effect) > 1e-6 && fabs(edge[0].effect) >= fabs(edge[2].effect), name);
}

/*
 * Three rings: labels of two values, labels that all equal their mean, and none.  Of the second one
 * something is known, of the third one nothing.
 */
static void
check_silent(gp_env *env, const char *kernel, gp_strategy strategy, gp_type type)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	setup		s = {kernel, 0, strategy, GP_TASK_VALUES, 2, strategy == GP_STRATEGY_NYSTROM ? NODES : 0, false, false};
	gp_problem	p = make_problem(env, &s, type);
	double	   *target = gp_alloc_array(env, NODES, sizeof(double));
	gp_edges   *edges = gp_edges_create(env, NODES, false, false);
	int32_t		node[3] = {9, 49, 89};
	char		name[200];

	for (int32_t i = 0; i < NODES; i++)
	{
		int32_t		next = i / 40 * 40 + (i + 1) % 40;

		gp_edges_add(edges, 1, &i, &next, NULL);
		if (i % 2 == 0 && i < 80)
			target[i / 2] = i < 20 ? 2.0 : i < 40 ? 0.0 : 1.0;
	}
	p.nlabelled = 40;
	p.graph = gp_graph_build(edges);
	p.target = target;
	p.live = strategy != GP_STRATEGY_PRECISION && strchr(kernel, 'P') == NULL;
	gp_posterior *out = gp_fit(dev, &p);
	snprintf(name, sizeof(name), "%s, %s%s: labels that equal their mean say so", kernel, gp_strategy_names[out->plan.strategy],
			 out->plan.exact_diagonal ? ", exact diagonal" : "");
	ok(fabs(out->mean[49] - 1.0) < 1e-6 && out->variance[49] < 2.0 * out->variance[9] && out->variance[49] < 0.4, name);
	ok(fabs(out->mean[89] - 1.0) < 1e-6 && fabs(out->variance[89] - 0.5) < 1e-9, "where none is values have their spread");
	if (p.live)
	{
		gp_live_answer a = ask(dev, &p, out->state, node, 3, NULL, 0);

		ok(difference(&a, out, node) < 1e-5, "live answers agree");
	}
}

/* Pieces whose shape or type is another than that of the fit. */
static void
check_forms(gp_env *env, setup s)
{
	static const gp_piece_kind kinds[] = {GP_PIECE_WEIGHTS, GP_PIECE_POSTERIOR, GP_PIECE_TARGETS, GP_PIECE_LABELLED_ROWS,
	GP_PIECE_FIGURES, GP_PIECE_CALIBRATOR, GP_PIECE_SHARES, GP_PIECE_ROOT};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, &s, GP_DOUBLE);
	gp_live_state *state = gp_fit(dev, &p)->state;

	ok(gp_live_fits(state), "what a fit keeps fits");
	for (int k = 0; k < state->n; k++)
	{
		gp_piece   *piece = &state->piece[k];
		gp_piece	was = *piece;
		bool		known = false;

		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			known = known || piece->kind == (int32_t) kinds[i];
		if (!known)
			continue;
		piece->rows--;
		ok(piece->kind == GP_PIECE_ROOT || !gp_live_fits(state), "a row less is noticed");
		*piece = was;
		piece->cols = 0;
		ok(!gp_live_fits(state), "rows without a number are noticed");
		*piece = was;
		piece->ints = !was.ints;
		ok(!gp_live_fits(state), "numbers of another type are noticed");
		*piece = was;
	}
}

/* A fit that keeps its state, and a question. */
static void
run(gp_env *env, const setup *s)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, s, GP_DOUBLE);
	gp_posterior *out = gp_fit(dev, &p);
	int32_t		node = 5;
	gp_live_label label = {.node = 0,.label = 1};
	gp_live_answer a = ask(dev, &p, out->state, &node, 1, &label, 1);
	int32_t		number[NODES];
	int64_t		n;
	gp_live_question q = {.state = out->state,.program = p.program,.graph = p.graph,.features = p.features,
	.fit_node = number,.inner = NODES,.asked = NODES};

	(void) a;
	for (int i = 0; i < NODES; i++)
		number[i] = i;
	(void) gp_live_next(dev, &q, 3);
	q.asked = 1;
	q.node = &node;
	(void) gp_live_explain_edges(dev, &q, 0, 0.0, 1, &n, &n);
}

/* What the plan says of a fit that keeps its state. */
static void
check_plan(gp_env *env, setup s)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, &s, GP_DOUBLE);
	gp_posterior *out = gp_fit(dev, &p);
	char		name[200];

	snprintf(name, sizeof(name), "%s, %s: the plan's bytes hold what is kept (%.3f)", s.kernel,
			 gp_strategy_names[out->plan.strategy], out->plan.bytes / env->peak);
	ok(out->plan.bytes >= 0.999 * (double) env->peak && out->plan.bytes <= 1.15 * (double) env->peak, name);
}

/* A kernel that reaches every node. */
static void
check_refusal(gp_env *env, const char *kernel)
{
	setup		s = {kernel, 1, GP_STRATEGY_AUTO, GP_TASK_CLASSES, 5, 0, false, false};
	gp_problem	p = make_problem(env, &s, GP_DOUBLE);

	expect_error(env, GP_ERR_UNSUPPORTED, gp_fit(gp_device_cpu(env, 1), &p));
}

/* One check of nodes in an environment of its own. */
static void
nodes(setup s, gp_type type)
{
	in_env(check_nodes(env, s, type));
}

/* All that is checked of a strategy. */
static void
check_strategy(gp_strategy strategy)
{
	int64_t		landmarks = strategy == GP_STRATEGY_NYSTROM ? 40 : 0;
	setup		values = {"gcn", 1, strategy, GP_TASK_VALUES, 2, landmarks, true, true};
	setup		classes = {"sage", 2, strategy, GP_TASK_CLASSES, 5, landmarks, true, false};

	nodes(values, GP_DOUBLE);
	nodes(values, GP_FLOAT);
	/* so many labels that errors have a curve */
	nodes((setup) {"mlp", 1, strategy, GP_TASK_VALUES, 1, landmarks, true, false}, GP_DOUBLE);
	nodes(classes, GP_DOUBLE);
	nodes(classes, GP_FLOAT);
	in_env(check_parts(env, values));
	in_env(check_parts(env, classes));
	in_env(check_labels(env, values));
	in_env(check_labels(env, classes));
	in_env(check_edges(env, values));
	in_env(check_edges(env, classes));
	in_env(check_forms(env, classes));
	in_env(check_next(env, values, 1));
	in_env(check_next(env, classes, strategy == GP_STRATEGY_EXACT ? 1 : 7));
	in_env(check_plan(env, classes));
	disturb("a live fit and a question, each allocation", TEST_REFUSE, 7, 25, run(env, &classes));
	disturb("a live fit and a question, each interrupt", TEST_CANCEL, 23, 5, run(env, &classes));
}

int
main(void)
{
	static const char *const kernels[] = {
		"gcn", "gcnii", "sage", "gin", "profile", "mlp", "sage2", "gcn(layers=3)", "gin(input=rbf)",
		"gcn(input=arccos)", "gcn(input=cosine)", "A^2*relu(X)*W + b", "(0.5*A + 0.5*I)*relu(X)*W + b",
		"unit(A*relu(X)*W) + b", "A*X*W", "ggp", "gcn(norm=row)",
	};
	static const gp_strategy strategies[] = {GP_STRATEGY_EXACT, GP_STRATEGY_NYSTROM};

	/* Any two of kernel, features and strategy; with GNNGP_LONG=1 all three. */
	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
		for (int features = 0; features < 3; features++)
			for (int s = 0; s < 2; s++)
				if (((int) k + features + s) % 2 == 0 || getenv("GNNGP_LONG") != NULL)
					nodes((setup) {kernels[k], features, strategies[s], GP_TASK_CLASSES, 5, s ? 40 : 0, false, false}, GP_DOUBLE);
	check_strategy(GP_STRATEGY_EXACT);
	check_strategy(GP_STRATEGY_NYSTROM);
	nodes((setup) {"gcn(layers=3)", 2, GP_STRATEGY_EXACT, GP_TASK_CLASSES, 5, 0, false, false}, GP_FLOAT);
	nodes((setup) {"gcn(power=1.5)", 2, GP_STRATEGY_AUTO, GP_TASK_CLASSES, 5, 0, false, false}, GP_DOUBLE);
	in_env(check_silent(env, "A^3*X0*W", GP_STRATEGY_EXACT, GP_FLOAT));
	in_env(check_silent(env, "A^3*X0*W", GP_STRATEGY_NYSTROM, GP_FLOAT));
	in_env(check_silent(env, "P(0.2)*X0*W", GP_STRATEGY_NYSTROM, GP_FLOAT));
	in_env(check_silent(env, "laplacian(sigma2=2, d=2)", GP_STRATEGY_PRECISION, GP_FLOAT));
	in_env(check_refusal(env, "appnp"));
	in_env(check_refusal(env, "laplacian"));
	return done_testing();
}

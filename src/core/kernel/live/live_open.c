/*
 * live_open.c - opening an evaluation of a few nodes against what a fit kept.
 *
 * Rows are nodes in the order of their distance from what is asked for, so that a step
 * computes the first ones alone: as far as later steps reach.  Within a row of A the
 * entries stay in the order of nodes, as the fit has added them up.
 */
#include "kernel/prepared.h"

/*
 * A among the rows, with that among the anchors behind it; the rows of the outermost nodes, which
 * nothing reads, are empty.
 */
static gp_csr *
stack_operator(gp_env *env, const gp_csr *a, const gp_asked *asked, const gp_order *order,
			   const gp_piece *kept, int64_t anchors)
{
	int64_t		rows = order->rows;
	int64_t		full = order->near[order->hops > 0 ? order->hops - 1 : 0];
	int32_t    *place = gp_alloc_array(env, a->cols, sizeof(int32_t));

	for (int64_t i = 0; i < a->cols; i++)
		place[i] = i < asked->inner ? order->place[i] : -1;
	gp_csr	   *own = gp_csr_select(env, a, order->node, full, place, rows);
	gp_csr	   *below = kept ? gp_csr_stack(env, NULL, rows - full, kept->csr, rows + anchors) :
		gp_csr_create(env, rows - full + anchors, rows + anchors, 0, a->type);
	for (int64_t k = 0; k < gp_csr_entries(below); k++)
		below->col[k] += (int32_t) rows;
	gp_csr	   *out = gp_csr_stack(env, own, full, below, rows + anchors);
	gp_csr_free(env, own);
	gp_csr_free(env, below);
	gp_free(env, place);
	return out;
}

static gp_features *
features_of_rows(gp_env *env, const gp_features *x, const gp_order *order)
{
	gp_features *out;

	if (x->csr)
		return gp_features_of_csr(env, gp_csr_select(env, x->csr, order->node, order->rows, NULL,
													 x->dims));
	size_t		bytes = (size_t) x->dims * gp_type_size(x->type);
	out = gp_features_of_dense(env, gp_alloc_array(env, order->rows, bytes), order->rows, x->dims,
							   x->type);
	for (int64_t r = 0; r < order->rows; r++)
		memcpy((char *) out->dense + (size_t) r * bytes,
			   (char *) x->dense + (size_t) order->node[r] * bytes, bytes);
	return out;
}

/*
 * What was kept of the anchors has a row for each, no more columns than there are, and the type of
 * the rest.
 */
static void
require_anchors(gp_env *env, const gp_piece *kept, int64_t anchors, int64_t width, gp_type type)
{
	if (kept && ((kept->csr == NULL && kept->dense == NULL) || kept->rows != anchors ||
				 kept->cols > width || (kept->csr ? kept->csr->type : kept->type) != type))
		gp_state_refuse(env);
}

/*
 * The features of the rows, those of the anchors behind them where they were kept: in the form of
 * these.
 */
static gp_features *
stack_features(gp_env *env, const gp_features *x, int64_t rows, const gp_piece *kept,
			   int64_t anchors)
{
	gp_features *out = gp_features_of_dense(env, NULL, rows + anchors, x->dims, x->type);
	gp_csr	   *own;
	size_t		size = gp_type_size(x->type);
	size_t		bytes = (size_t) (rows * x->dims) * size;

	require_anchors(env, kept, anchors, x->dims, x->type);
	if (kept ? kept->csr != NULL : x->csr != NULL)
	{
		gp_csr	   *none = gp_csr_create(env, anchors, x->dims, 0, x->type);
		own = x->csr ? NULL : gp_csr_of_dense(env, x->dense, x->rows, x->dims, x->rows * x->dims,
											  x->type, x->type);
		out->csr = gp_csr_stack(env, own ? own : x->csr, rows, kept ? kept->csr : none, x->dims);
		gp_csr_free(env, none);
		gp_csr_free(env, own);
		return out;
	}
	out->dense = gp_alloc_zero(env, (int64_t) gp_size_mul(env, out->rows, out->dims), size);
	if (x->csr)
		gp_csr_to_dense(env, x->csr, rows, out->dense, x->dims);
	else
		memcpy(out->dense, x->dense, bytes);
	/* Features that are new since the fit are 0 there. */
	for (int64_t i = 0; kept && i < gp_items(env, anchors); i++)
		memcpy((char *) out->dense + bytes + (size_t) (i * x->dims) * size,
			   (char *) kept->dense + (size_t) (i * kept->cols) * size, (size_t) kept->cols * size);
	return out;
}

/* The column of each node: its number in the fit, or one behind these; *width counts them. */
static int32_t *
node_columns(gp_env *env, int64_t n, const int32_t *fit_node, int64_t fit_nodes, int64_t *width)
{
	int32_t    *column = gp_alloc_array(env, n, sizeof(int32_t));

	*width = fit_nodes;
	for (int64_t i = 0; i < n; i++)
		column[i] = fit_node[i] >= 0 ? fit_node[i] : (int32_t) (*width)++;
	return column;
}

/*
 * The first rows of a sparse matrix whose columns are nodes, as columns of those of the fit and the
 * new ones.
 */
static gp_csr *
rename_columns(gp_env *env, gp_csr *s, int64_t rows, const int32_t *column, int64_t width,
			   int64_t anchors)
{
	gp_csr	   *none = gp_csr_create(env, anchors, width, 0, s->type);
	gp_csr	   *renamed = gp_csr_stack(env, s, rows, none, width);

	for (int64_t k = 0; k < gp_csr_entries(renamed); k++)
		renamed->col[k] = column[renamed->col[k]];
	gp_csr	   *turned = gp_csr_transpose(env, renamed);
	gp_csr	   *out = gp_csr_transpose(env, turned);
	gp_csr_free(env, turned);
	gp_csr_free(env, renamed);
	gp_csr_free(env, none);
	gp_csr_free(env, s);
	return out;
}

/* The features that the kernel takes: the rows' own, or a column for each node. */
static void
make_features(gp_prepared *kernel, const gp_asked *asked, const gp_order *order,
			  const int32_t *column, int64_t width,
			  const gp_piece *kept, int64_t anchors, gp_type type)
{
	gp_env	   *env = kernel->env;
	gp_features *unit = NULL;

	if (asked->features == NULL || kernel->input == GP_INPUT_IDENTITY)
	{
		gp_csr	   *all = gp_csr_identity(env, asked->inner, type);
		gp_csr	   *eye = gp_csr_select(env, all, order->node, order->rows, NULL, asked->inner);
		gp_csr_free(env, all);
		eye = rename_columns(env, eye, order->rows, column, width, kept ? 0 : anchors);
		kernel->own_x = gp_features_of_csr(env, eye);
		kernel->node_columns = true;
		require_anchors(env, kept, anchors, width, type);
		if (kept)
		{
			kernel->own_x->csr = gp_csr_stack(env, eye, order->rows, kept->csr, width);
			kernel->own_x->rows = order->rows + anchors;
			gp_csr_free(env, eye);
		}
	}
	else
	{
		gp_features *own = features_of_rows(env, asked->features, order);
		if (kernel->input == GP_INPUT_COSINE)
			unit = gp_features_unit(env, own, own->type, GP_ROW_LENGTH);
		kernel->own_x = stack_features(env, unit ? unit : own, order->rows, kept, anchors);
		gp_features_free(env, unit);
		gp_features_free(env, own);
	}
	if (kernel->input == GP_INPUT_IDENTITY || kernel->input == GP_INPUT_COSINE)
		kernel->input = GP_INPUT_LINEAR;
	kernel->x = kernel->own_x;
}

void
gp_eval_open_live(gp_eval *ev, gp_device *dev, const gp_program *program, const gp_asked *asked,
				  gp_fit_size fit, const gp_live_state *state, gp_type type)
{
	gp_env	   *env = dev->env;
	gp_prepared *kernel = gp_alloc_zero(env, 1, sizeof(gp_prepared));
	gp_order   *order = gp_order_make(env, asked->graph->start, asked->graph->col, asked->inner,
									  asked->node, asked->n, gp_program_hops(env, program), false);
	int64_t		anchors = gp_state_find(state, GP_PIECE_ANCHORS, 0, 0)->rows;
	int64_t		width;
	int32_t    *column = node_columns(env, asked->graph->nodes, asked->fit_node, fit.nodes, &width);
	gp_csr	   *a = gp_graph_normalise(env, asked->graph, program->norm, type);

	*kernel = (gp_prepared) {.env = env,.program = program,.directed = asked->graph->directed,
	.input = program->input.kind,.fit_nodes = fit.nodes,.fit_dims = fit.dims,.order = order};
	*ev = (gp_eval) {.dev = dev,.env = env,.n = order->rows + anchors,.type = type,
	.kernel = kernel,.live = state,
	.live_rows = order->rows,.hops = order->hops,.hop = order->hops,.jitter = 1e-6};
	kernel->a = stack_operator(env, a, asked, order, gp_state_find(state, GP_PIECE_OPERATOR, 0, 0),
							   anchors);
	gp_csr_free(env, a);
	make_features(kernel, asked, order, column, width, gp_state_find(state, GP_PIECE_INPUT, 0, 0),
				  anchors, type);
	if (gp_program_has(program, GP_STEP_LISTS))
	{
		gp_csr	   *all = gp_graph_lists(env, asked->graph, type);
		gp_csr	   *own = gp_csr_select(env, all, order->node, order->rows, NULL, all->cols);

		gp_csr_free(env, all);
		kernel->lists = rename_columns(env, own, order->rows, column, width, anchors);
	}
	gp_free(env, column);
	gp_eval_learn_steps(ev);
}

int32_t
gp_live_row(const gp_eval *ev, int32_t node)
{
	return ev->kernel->order->place[node];
}

void
gp_live_near(gp_eval *ev)
{
	ev->near = ev->kernel->order->near;
}

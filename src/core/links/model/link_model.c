/*
 * link_model.c - a link model as a list of arrays, and back.
 *
 * The arrays come from a table on the way back.  None is trusted: whatever is
 * used as an index or a length is checked here.
 */
#include "links/scores/scores.h"

#define MOST_COUNTED (INT64_C(1) << 20)	/* pairs of folds: far more than there are */

enum array_tag
{
	TAG_SCALARS, TAG_START, TAG_COL, TAG_WEIGHT, TAG_ROW, TAG_INDUCING, TAG_ALPHA, TAG_ROOT,
	TAG_CENTRE, TAG_SPREAD, TAG_FEATURE_START, TAG_FEATURE_COL, TAG_FEATURE_VALUE,
	TAG_FEATURE_MEAN, TAG_FEATURE_DOT, TAG_FEATURE_NORM, TAG_CODE, TAG_HABITS, TAG_ROW_VARIANCE,
	TAG_POINT, TAG_TAKEN, TAG_TIME, TAG_DIAGONAL, TAGS
};

enum scalar
{
	METHOD, NODES, EDGES, DIRECTED, PAIRS, AUC, PRECISION, STEPS, ROWS, WIDTH, OFFSET, SCALE,
	INTERCEPT, SLOPE, DIMS, POWERS, SCALARS
};

static const gp_link_element elements[TAGS] = {
	[TAG_SCALARS] = GP_LINK_F64,[TAG_START] = GP_LINK_I64,[TAG_COL] = GP_LINK_I32,
	[TAG_WEIGHT] = GP_LINK_F64,[TAG_ROW] = GP_LINK_F32,[TAG_INDUCING] = GP_LINK_I32,
	[TAG_ALPHA] = GP_LINK_F64,[TAG_ROOT] = GP_LINK_F32,[TAG_CENTRE] = GP_LINK_F64,
	[TAG_SPREAD] = GP_LINK_F64,[TAG_FEATURE_START] = GP_LINK_I64,
	[TAG_FEATURE_COL] = GP_LINK_I32,[TAG_FEATURE_VALUE] = GP_LINK_F32,
	[TAG_FEATURE_MEAN] = GP_LINK_F32,[TAG_FEATURE_DOT] = GP_LINK_F32,
	[TAG_FEATURE_NORM] = GP_LINK_F32,[TAG_CODE] = GP_LINK_U64,[TAG_HABITS] = GP_LINK_I64,
	[TAG_ROW_VARIANCE] = GP_LINK_F32,[TAG_POINT] = GP_LINK_F32,[TAG_TAKEN] = GP_LINK_F64,
	[TAG_TIME] = GP_LINK_F64,[TAG_DIAGONAL] = GP_LINK_F64
};

/* Adds an array that is there. */
static int
add(gp_link_array *out, int n, enum array_tag tag, int64_t count, const void *data)
{
	if (data == NULL || count == 0)
		return n;
	out[n] = (gp_link_array) {tag, elements[tag], count, (void *) data};
	return n + 1;
}

/* The numbers of a model. */
static void
write_scalars(const gp_link_model *m, double *s)
{
	memset(s, 0, GP_LINK_SCALARS * sizeof(double));
	s[METHOD] = m->method;
	s[NODES] = (double) m->graph->nodes;
	s[EDGES] = (double) m->graph->edges;
	s[DIRECTED] = m->graph->directed;
	s[PAIRS] = (double) m->pairs;
	s[AUC] = m->metric[GP_LINK_METRIC_AUC];
	s[PRECISION] = m->metric[GP_LINK_METRIC_PRECISION];
	s[STEPS] = m->steps;
	s[ROWS] = (double) m->m;
	s[WIDTH] = m->width;
	s[OFFSET] = m->offset;
	s[SCALE] = m->scale;
	s[INTERCEPT] = m->intercept;
	s[SLOPE] = m->slope;
	s[DIMS] = m->features ? (double) m->features->dims : 0.0;
	s[POWERS] = m->powers;
}

/* The arrays of the features. */
static int
add_features(const gp_link_model *m, gp_link_array *out, int n)
{
	const gp_features *x = m->features;
	int64_t		nodes = m->graph->nodes;

	if (x == NULL)
		return n;
	if (x->csr)
	{
		n = add(out, n, TAG_FEATURE_START, nodes + 1, x->csr->start);
		n = add(out, n, TAG_FEATURE_COL, gp_csr_entries(x->csr), x->csr->col);
		n = add(out, n, TAG_FEATURE_VALUE, gp_csr_entries(x->csr), x->csr->value);
	}
	else
		n = add(out, n, TAG_FEATURE_VALUE, nodes * x->dims, x->dense);
	n = add(out, n, TAG_FEATURE_MEAN, m->powers * x->dims, m->feature_mean);
	n = add(out, n, TAG_FEATURE_DOT, m->powers * nodes, m->feature_dot);
	return add(out, n, TAG_FEATURE_NORM, m->powers * nodes, m->feature_norm);
}

/* The rows of m->row: of the regression, or of the nodes. */
static int64_t
rows_of(gp_link_method method, int64_t m, int64_t nodes)
{
	return gp_link_has_scores(method) ? m : nodes;
}

int
gp_link_model_arrays(const gp_link_model *m, double *scalars, gp_link_array *out)
{
	const gp_graph *g = m->graph;
	int64_t		nodes = g->nodes;
	int64_t		p = gp_link_model_functions(m);
	int			n = 0;

	write_scalars(m, scalars);
	n = add(out, n, TAG_SCALARS, SCALARS, scalars);
	n = add(out, n, TAG_START, nodes + 1, g->start);
	n = add(out, n, TAG_COL, g->start[nodes], g->col);
	n = add(out, n, TAG_WEIGHT, g->start[nodes], g->weight);
	n = add(out, n, TAG_TIME, g->start[nodes], g->time);
	n = add(out, n, TAG_ROW, rows_of(m->method, m->m, nodes) * m->width, m->row);
	n = add(out, n, TAG_ROW_VARIANCE, nodes * m->width, m->row_variance);
	n = add(out, n, TAG_INDUCING, 2 * m->m, m->inducing);
	n = add(out, n, TAG_ALPHA, m->method == GP_LINK_DEEP ? m->m : p, m->alpha);
	n = add(out, n, TAG_ROOT, p * p, m->root);
	n = add(out, n, TAG_POINT, m->points * (int64_t) m->width, m->point);
	n = add(out, n, TAG_TAKEN, m->m * m->m, m->taken);
	n = add(out, n, TAG_CENTRE, m->width, m->centre);
	n = add(out, n, TAG_SPREAD, m->width, m->spread);
	n = add(out, n, TAG_DIAGONAL, nodes, m->diagonal);
	n = add_features(m, out, n);
	n = add(out, n, TAG_HABITS, GP_LINK_HABITS, m->habits);
	return add(out, n, TAG_CODE, GP_LINK_CODE_WORDS * nodes, m->code);
}

/* Frees a model. */
void
gp_link_model_free(gp_env *env, gp_link_model *m)
{
	void	   *array[] = {m->row, m->row_variance, m->inducing, m->alpha, m->root, m->point,
		m->taken, m->centre, m->spread,
		m->feature_mean, m->feature_dot, m->feature_norm, m->habits, m->code, m->diagonal};

	if (m->owns_graph)
		gp_graph_free(env, (gp_graph *) m->graph);
	gp_features_free(env, m->features);
	gp_link_held_free(env, &m->held);
	for (size_t k = 0; k < sizeof(array) / sizeof(array[0]); k++)
		gp_free(env, array[k]);
	gp_free(env, m);
}

void
gp_link_release(gp_env *env, void *model)
{
	gp_link_model_free(env, model);
}

gp_link_model *
gp_link_model_begin(gp_env *env, const gp_link_opened *opened, gp_link_method method,
					const gp_graph *graph)
{
	gp_link_model *model = gp_alloc_zero(env, 1, sizeof(gp_link_model));

	model->method = method;
	model->graph = graph;
	model->held = opened->held;
	model->habits = opened->habits;
	model->features = opened->features;
	return model;
}

gp_link_model *
gp_link_model_end(gp_env *env, gp_link_opened *opened, gp_link_model *model)
{
	*opened = (gp_link_opened) {.habits = NULL};
	if (env->dry)
	{
		model->held = opened->held;
		model->habits = NULL;
		model->features = NULL;
	}
	return model;
}

void
gp_link_opened_free(gp_env *env, gp_link_opened *opened)
{
	gp_link_held_free(env, &opened->held);
	gp_free(env, opened->habits);
	gp_features_free(env, opened->features);
}

/* What a restored model is checked with. */
typedef struct restorer
{
	gp_env	   *env;
	const gp_link_array *array[TAGS];
	const double *scalar;
} restorer;

/* Raises the error of a model that does not fit together. */
static void
refuse(const restorer *r, const char *what)
{
	gp_raise(r->env, GP_ERR_DATA, "Fit the links again with gp_fit_links.",
			 "the stored link model is damaged: %s", what);
}

/* A whole number between 0 and a limit. */
static int64_t
whole(const restorer *r, enum scalar which, double most)
{
	double		v = r->scalar[which];

	if (!(v >= 0.0 && v <= most) || v != floor(v))
		refuse(r, "a number is out of range");
	return (int64_t) v;
}

/* An array that must have this many elements, or be missing when that is allowed. */
static void *
need(const restorer *r, enum array_tag tag, int64_t count, bool optional)
{
	const gp_link_array *a = r->array[tag];

	if (a == NULL && (optional || count == 0))
		return NULL;
	if (a == NULL || a->count != count)
		refuse(r, "an array has another length");
	return a->data;
}

/* Sorts arrays by tag. */
static void
index_arrays(restorer *r, const gp_link_array *arrays, int n)
{
	for (int i = 0; i < n; i++)
	{
		int32_t		tag = arrays[i].tag;

		if (tag < 0 || tag >= TAGS || r->array[tag] != NULL || arrays[i].element != elements[tag])
			refuse(r, "an array is unknown or stands twice");
		r->array[tag] = &arrays[i];
	}
	if (r->array[TAG_SCALARS] == NULL || r->array[TAG_SCALARS]->count != SCALARS)
		refuse(r, "its numbers are missing");
	r->scalar = r->array[TAG_SCALARS]->data;
}

/* Checks offsets and columns of a sparse matrix: ascending within limits. */
static void
check_rows(const restorer *r, const int64_t *start, const int32_t *col, int64_t rows,
		   int64_t cols, int64_t entries)
{
	if (start == NULL || start[0] != 0 || start[rows] != entries)
		refuse(r, "its offsets are wrong");
	GP_EACH(r->env, i, rows, start[i])
	{
		if (start[i + 1] < start[i] || start[i + 1] > entries)
			refuse(r, "its offsets are wrong");
		for (int64_t k = start[i]; k < start[i + 1]; k++)
			if (col[k] < 0 || col[k] >= cols || (k > start[i] && col[k] <= col[k - 1]))
				refuse(r, "its columns are wrong");
	}
}

/* Numbers that are used as they are: not one may be infinite or none. */
static void
check_finite(const restorer *r, const double *value, int64_t n)
{
	for (int64_t k = 0; k < n; k++)
		if (!isfinite(value[k]))
			refuse(r, "a number is out of range");
}

/* The graph. */
static gp_graph *
restore_graph(const restorer *r)
{
	gp_graph   *g = gp_alloc_zero(r->env, 1, sizeof(gp_graph));
	int64_t		entries = r->array[TAG_COL] ? r->array[TAG_COL]->count : 0;

	g->nodes = whole(r, NODES, INT32_MAX);
	g->edges = whole(r, EDGES, (double) entries);
	g->directed = whole(r, DIRECTED, 1.0) == 1;
	g->start = need(r, TAG_START, g->nodes + 1, false);
	g->col = need(r, TAG_COL, entries, false);
	g->weight = need(r, TAG_WEIGHT, entries, true);
	g->time = need(r, TAG_TIME, entries, true);
	if (g->time)
		check_finite(r, g->time, entries);
	check_rows(r, g->start, g->col, g->nodes, g->nodes, entries);
	for (int64_t k = 0; g->weight != NULL && k < entries; k++)
		if (!(g->weight[k] >= 0.0) || !isfinite(g->weight[k]))
			refuse(r, "a weight is wrong");
	return g;
}

/* The features and their statistics. */
static void
restore_features(const restorer *r, gp_link_model *m)
{
	int64_t		nodes = m->graph->nodes;
	int64_t		dims = whole(r, DIMS, INT32_MAX);
	gp_features *x;

	if (dims == 0)
		return;
	x = gp_alloc_zero(r->env, 1, sizeof(gp_features));
	x->rows = nodes;
	x->dims = dims;
	x->type = GP_FLOAT;
	if (r->array[TAG_FEATURE_START])
	{
		int64_t		entries = r->array[TAG_FEATURE_COL] ? r->array[TAG_FEATURE_COL]->count : 0;

		x->csr = gp_alloc_zero(r->env, 1, sizeof(gp_csr));
		x->csr->rows = nodes;
		x->csr->cols = dims;
		x->csr->type = GP_FLOAT;
		x->csr->start = need(r, TAG_FEATURE_START, nodes + 1, false);
		x->csr->col = need(r, TAG_FEATURE_COL, entries, false);
		x->csr->value = need(r, TAG_FEATURE_VALUE, entries, false);
		check_rows(r, x->csr->start, x->csr->col, nodes, dims, entries);
	}
	else
		x->dense = need(r, TAG_FEATURE_VALUE, (int64_t) gp_size_mul(r->env, nodes, dims), false);
	m->features = x;
	m->powers = (int32_t) whole(r, POWERS, GP_LINK_POWERS);
	if (m->powers < 1)
		refuse(r, "a number is out of range");
	m->feature_mean = need(r, TAG_FEATURE_MEAN, m->powers * dims, false);
	m->feature_dot = need(r, TAG_FEATURE_DOT, m->powers * nodes, false);
	m->feature_norm = need(r, TAG_FEATURE_NORM, m->powers * nodes, false);
}

/* The variances of a deep Gaussian process's rows; none is negative. */
static void
restore_moments(const restorer *r, gp_link_model *m)
{
	int64_t		count = m->graph->nodes * m->width;

	m->row_variance = need(r, TAG_ROW_VARIANCE, count, false);
	GP_EACH(r->env, k, count, k)
	{
		if (!isfinite(m->row[k]) || !isfinite(m->row_variance[k]) || m->row_variance[k] < 0.0f)
			refuse(r, "a number is out of range");
	}
}

/* The inducing pairs of a deep Gaussian process, where it has some. */
static void
restore_inducing(const restorer *r, gp_link_model *m)
{
	const gp_link_array *point = r->array[TAG_POINT];

	if (m->m == 0)
		return;
	if (m->m > GP_SYEV_MAX || point == NULL || point->count % m->width != 0 ||
		point->count / m->width > GP_LINK_MOST_POINTS)
		refuse(r, "an array has another length");
	m->points = (int32_t) (point->count / m->width);
	m->point = point->data;
	m->inducing = need(r, TAG_INDUCING, 2 * m->m, false);
	m->alpha = need(r, TAG_ALPHA, m->m, false);
	m->taken = need(r, TAG_TAKEN, m->m * m->m, false);
	for (int64_t k = 0; k < 2 * m->m; k++)
		if (m->inducing[k] < 0 || m->inducing[k] >= m->points)
			refuse(r, "a pair is wrong");
	for (int64_t k = 0; k < point->count; k++)
		if (!isfinite(m->point[k]))
			refuse(r, "a number is out of range");
	check_finite(r, m->alpha, m->m);
	check_finite(r, m->taken, m->m * m->m);
}

/* The regression, or what stands in its place. */
static void
restore_regression(const restorer *r, gp_link_model *m)
{
	int64_t		nodes = m->graph->nodes;
	int64_t		p;

	m->m = whole(r, ROWS, 1 << 20);
	m->width = (int32_t) whole(r, WIDTH, 1 << 20);
	m->row = need(r, TAG_ROW, (int64_t) gp_size_mul(r->env, rows_of(m->method, m->m, nodes),
													m->width),
				  false);
	m->offset = r->scalar[OFFSET];
	m->scale = r->scalar[SCALE];
	m->intercept = r->scalar[INTERCEPT];
	m->slope = r->scalar[SLOPE];
	if (m->method == GP_LINK_DEEP)
	{
		const double number[] = {m->offset, m->scale, m->intercept, m->slope};

		check_finite(r, number, 4);
		if (m->width < 1 || !(m->scale > 0.0))
			refuse(r, "a number is out of range");
		restore_moments(r, m);
		restore_inducing(r, m);
		return;
	}
	if (m->m > GP_SYEV_MAX || m->width > GP_LINK_MOST_WIDTH)
		refuse(r, "a number is out of range");
	p = gp_link_model_functions(m);
	m->alpha = need(r, TAG_ALPHA, p, false);
	m->root = need(r, TAG_ROOT, p * p, false);
	check_finite(r, m->alpha, p);
	if (m->method == GP_LINK_PAIRS)
	{
		if (m->m == 0)
			refuse(r, "its pairs are missing");
		m->inducing = need(r, TAG_INDUCING, 2 * m->m, false);
		for (int64_t k = 0; k < 2 * m->m; k++)
			if (m->inducing[k] < 0 || m->inducing[k] >= nodes)
				refuse(r, "a pair is wrong");
		return;
	}
	m->centre = need(r, TAG_CENTRE, m->width, false);
	m->spread = need(r, TAG_SPREAD, m->width, false);
	if (m->width != (m->method == GP_LINK_EASE ? 1 : gp_link_width(m->graph, m->powers)))
		refuse(r, "its scores are not those of this version");
	check_finite(r, m->centre, m->width);
	check_finite(r, m->spread, m->width);
	for (int32_t k = 0; k < m->width; k++)
		if (!(m->spread[k] > 0.0))
			refuse(r, "a spread is not positive");
}

/* What the scores of users and items need. */
static void
restore_items(const restorer *r, gp_link_model *m)
{
	if (m->method != GP_LINK_EASE)
		return;
	m->diagonal = need(r, TAG_DIAGONAL, m->graph->nodes, false);
	if (!(m->scale > 0.0) || !isfinite(m->scale))
		refuse(r, "a number is out of range");
	for (int64_t i = 0; i < m->graph->nodes; i++)
		if (!(m->diagonal[i] > 0.0) || !isfinite(m->diagonal[i]))
			refuse(r, "a number is out of range");
}

/* The counts of what links are like; a model of an older version has none. */
static void
restore_habits(const restorer *r, gp_link_model *m)
{
	m->habits = need(r, TAG_HABITS, GP_LINK_HABITS, true);
	for (int k = 0; m->habits != NULL && k < GP_LINK_HABITS; k++)
		if (m->habits[k] < 0 || m->habits[k] > MOST_COUNTED)
			refuse(r, "a number is out of range");
}

gp_link_model *
gp_link_model_restore(gp_env *env, const gp_link_array *arrays, int n)
{
	restorer	r = {.env = env};
	gp_link_model *m = gp_alloc_zero(env, 1, sizeof(gp_link_model));

	index_arrays(&r, arrays, n);
	m->method = (gp_link_method) whole(&r, METHOD, GP_LINK_EASE);
	if (m->method == GP_LINK_AUTO)
		refuse(&r, "its method is unknown");
	m->graph = restore_graph(&r);
	m->owns_graph = true;
	m->pairs = whole(&r, PAIRS, 1e15);
	for (int k = 0; k < GP_LINK_METRICS; k++)
		m->metric[k] = NAN;
	m->metric[GP_LINK_METRIC_AUC] = r.scalar[AUC];
	m->metric[GP_LINK_METRIC_PRECISION] = r.scalar[PRECISION];
	m->steps = (int32_t) whole(&r, STEPS, m->method == GP_LINK_SCORES ? GP_LINK_STEPS : 0);
	restore_features(&r, m);
	restore_regression(&r, m);
	restore_items(&r, m);
	restore_habits(&r, m);
	m->code = need(&r, TAG_CODE, GP_LINK_CODE_WORDS * m->graph->nodes, true);
	return m;
}

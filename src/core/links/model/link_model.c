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
	TAG_FEATURE_MEAN, TAG_FEATURE_DOT, TAG_FEATURE_NORM, TAG_CODE, TAG_TOPOLOGY, TAG_ROW_VARIANCE,
	TAG_POINT, TAG_TAKEN, TAG_TIME, TAG_DIAGONAL, TAGS
};

enum scalar
{
	METHOD, NODES, EDGES, DIRECTED, PAIRS, AUC, PRECISION, STEPS, ROWS, WIDTH, OFFSET, SCALE,
	INTERCEPT, SLOPE, KNEE, BEND, DIMS, SCALARS
};

static const gp_link_element elements[TAGS] = {
	[TAG_SCALARS] = GP_ARRAY_F64,[TAG_START] = GP_ARRAY_I64,[TAG_COL] = GP_ARRAY_I32,
	[TAG_WEIGHT] = GP_ARRAY_F64,[TAG_ROW] = GP_ARRAY_F32,[TAG_INDUCING] = GP_ARRAY_I32,
	[TAG_ALPHA] = GP_ARRAY_F64,[TAG_ROOT] = GP_ARRAY_F32,[TAG_CENTRE] = GP_ARRAY_F64,
	[TAG_SPREAD] = GP_ARRAY_F64,[TAG_FEATURE_START] = GP_ARRAY_I64,
	[TAG_FEATURE_COL] = GP_ARRAY_I32,[TAG_FEATURE_VALUE] = GP_ARRAY_F32,
	[TAG_FEATURE_MEAN] = GP_ARRAY_F32,[TAG_FEATURE_DOT] = GP_ARRAY_F32,
	[TAG_FEATURE_NORM] = GP_ARRAY_F32,[TAG_CODE] = GP_ARRAY_U64,[TAG_TOPOLOGY] = GP_ARRAY_I64,
	[TAG_ROW_VARIANCE] = GP_ARRAY_F32,[TAG_POINT] = GP_ARRAY_F32,[TAG_TAKEN] = GP_ARRAY_F64,
	[TAG_TIME] = GP_ARRAY_F64,[TAG_DIAGONAL] = GP_ARRAY_F64
};

/* Where an array of a model stands (a pointer to its start), and how long it is. */
typedef struct place
{
	void	   *at;
	int64_t		count;
	bool		optional;		/* may be missing where it has a count, too */
} place;

/* Counts of a sparse matrix follow from its start, which comes first. */
static place
place_of(gp_link_model *m, enum array_tag tag)
{
	gp_graph   *g = (gp_graph *) m->graph;
	gp_features *x = m->features;
	gp_csr	   *sparse = x ? x->csr : NULL;
	int64_t		n = g->nodes;
	int64_t		links = g->start ? g->start[n] : 0;
	int64_t		values = x == NULL ? 0 : sparse == NULL ? n * x->dims :
		sparse->start ? sparse->start[n] : 0;
	bool		deep = m->method == GP_LINK_DEEP;
	bool		scores = gp_link_has_scores(m->method);
	int64_t		p = deep ? 0 : gp_link_model_functions(m);

	switch (tag)
	{
		case TAG_START:
			return (place) {&g->start, n + 1, false};
		case TAG_COL:
			return (place) {&g->col, links, false};
		case TAG_WEIGHT:
			return (place) {&g->weight, links, true};
		case TAG_TIME:
			return (place) {&g->time, links, true};
		case TAG_ROW:
			return (place) {&m->row, (scores ? m->m : n) * m->width, false};
		case TAG_ROW_VARIANCE:
			return (place) {&m->row_variance, deep ? n * m->width : 0, false};
		case TAG_INDUCING:
			return (place) {&m->inducing, scores ? 0 : 2 * m->m, false};
		case TAG_ALPHA:
			return (place) {&m->alpha, deep ? m->m : p, false};
		case TAG_ROOT:
			return (place) {&m->root, p * p, false};
		case TAG_POINT:
			return (place) {&m->point, m->points * (int64_t) m->width, false};
		case TAG_TAKEN:
			return (place) {&m->taken, deep ? m->m * m->m : 0, false};
		case TAG_CENTRE:
		case TAG_SPREAD:
			return (place) {tag == TAG_CENTRE ? &m->centre : &m->spread, scores * m->width, false};
		case TAG_DIAGONAL:
			return (place) {&m->diagonal, m->method == GP_LINK_EASE ? n : 0, false};
		case TAG_FEATURE_START:
			return (place) {sparse ? &sparse->start : NULL, n + 1, false};
		case TAG_FEATURE_COL:
			return (place) {sparse ? &sparse->col : NULL, values, false};
		case TAG_FEATURE_VALUE:
			return (place) {sparse ? (void *) &sparse->value : x ? (void *) &x->dense : NULL,
							values, false};
		case TAG_FEATURE_MEAN:
			return (place) {&m->feature_mean, x ? GP_LINK_POWERS * x->dims : 0, false};
		case TAG_FEATURE_DOT:
			return (place) {&m->feature_dot, x ? GP_LINK_POWERS * n : 0, false};
		case TAG_FEATURE_NORM:
			return (place) {&m->feature_norm, x ? GP_LINK_POWERS * n : 0, false};
		case TAG_TOPOLOGY:
			return (place) {&m->topology, GP_LINK_TOPOLOGY_COUNTS, true};
		case TAG_CODE:
			return (place) {&m->code, GP_LINK_CODE_WORDS * n, true};
		default:
			return (place) {.at = NULL};
	}
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
	s[INTERCEPT] = m->curve.intercept;
	s[SLOPE] = m->curve.slope;
	s[KNEE] = m->curve.knee;
	s[BEND] = m->curve.bend;
	s[DIMS] = m->features ? (double) m->features->dims : 0.0;
}

int
gp_link_model_arrays(const gp_link_model *m, double *scalars, gp_link_array *out)
{
	int			n = 0;

	write_scalars(m, scalars);
	out[n++] = (gp_link_array) {TAG_SCALARS, elements[TAG_SCALARS], SCALARS, scalars};
	for (enum array_tag tag = TAG_START; tag < TAGS; tag++)
	{
		place		p = place_of((gp_link_model *) m, tag);
		void	   *data = NULL;

		if (p.at)
			memcpy(&data, p.at, sizeof(data));
		if (data && p.count > 0)
			out[n++] = (gp_link_array) {tag, elements[tag], p.count, data};
	}
	return n;
}

void
gp_link_model_free(gp_env *env, gp_link_model *m)
{
	void	   *array[] = {m->row, m->row_variance, m->inducing, m->alpha, m->root, m->point,
		m->taken, m->centre, m->spread,
		m->feature_mean, m->feature_dot, m->feature_norm, m->topology, m->code, m->diagonal};

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
gp_link_model_begin(gp_env *env, const gp_link_prepared *prepared, gp_link_method method,
					const gp_graph *graph)
{
	gp_link_model *model = gp_alloc_zero(env, 1, sizeof(gp_link_model));

	model->method = method;
	model->graph = graph;
	model->held = prepared->held;
	model->topology = prepared->topology;
	model->features = prepared->features;
	return model;
}

gp_link_model *
gp_link_model_end(gp_device *dev, const gp_link_problem *problem, gp_link_prepared *prepared,
				  gp_link_model *model)
{
	*prepared = (gp_link_prepared) {.topology = NULL};
	if (dev->env->dry)
	{
		if (problem->keep > 0)
		{
			gp_link_kept kept = gp_link_model_keep(dev, model, dev->threads, problem->keep, 0.0);

			gp_free_all(dev->env, kept.first, kept.row);
		}
		model->held = prepared->held;
		model->topology = NULL;
		model->features = NULL;
	}
	return model;
}

void
gp_link_prepared_free(gp_env *env, gp_link_prepared *prepared)
{
	gp_link_held_free(env, &prepared->held);
	gp_free(env, prepared->topology);
	gp_features_free(env, prepared->features);
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

/* True where all numbers are finite and, where that is asked for, positive. */
static bool
is_sound(const double *value, int64_t n, bool positive)
{
	for (int64_t k = 0; k < n; k++)
		if (!isfinite(value[k]) || (positive && !(value[k] > 0.0)))
			return false;
	return true;
}

/* The numbers, and room for what the arrays are put into. */
static void
restore_scalars(restorer *r, gp_link_model *m)
{
	gp_graph   *g = gp_alloc_zero(r->env, 1, sizeof(gp_graph));
	int64_t		dims = whole(r, DIMS, INT32_MAX);
	const gp_link_array *point = r->array[TAG_POINT];

	m->method = (gp_link_method) whole(r, METHOD, GP_LINK_EASE);
	if (m->method == GP_LINK_AUTO)
		refuse(r, "its method is unknown");
	g->nodes = whole(r, NODES, INT32_MAX);
	g->edges = whole(r, EDGES, r->array[TAG_COL] ? (double) r->array[TAG_COL]->count : 0.0);
	g->directed = whole(r, DIRECTED, 1.0) == 1;
	m->graph = g;
	m->owns_graph = true;
	m->pairs = whole(r, PAIRS, 1e15);
	for (int k = 0; k < GP_LINK_METRICS; k++)
		m->metric[k] = NAN;
	m->metric[GP_LINK_METRIC_AUC] = r->scalar[AUC];
	m->metric[GP_LINK_METRIC_PRECISION] = r->scalar[PRECISION];
	m->steps = (int32_t) whole(r, STEPS, m->method == GP_LINK_SCORES ? GP_LINK_STEPS : 0);
	m->m = whole(r, ROWS, GP_SYEV_MAX);
	m->width = (int32_t) whole(r, WIDTH, GP_LINK_MOST_WIDTH);
	m->offset = r->scalar[OFFSET];
	m->scale = r->scalar[SCALE];
	m->curve = (gp_link_curve) {r->scalar[INTERCEPT], r->scalar[SLOPE], r->scalar[KNEE],
		r->scalar[BEND]};
	if (dims > 0)
	{
		m->features = gp_alloc_zero(r->env, 1, sizeof(gp_features));
		*m->features = (gp_features) {.rows = g->nodes,.dims = dims,.type = GP_FLOAT};
	}
	if (dims > 0 && r->array[TAG_FEATURE_START])
	{
		m->features->csr = gp_alloc_zero(r->env, 1, sizeof(gp_csr));
		*m->features->csr = (gp_csr) {.rows = g->nodes,.cols = dims,.type = GP_FLOAT};
	}
	if (m->method == GP_LINK_DEEP && m->m > 0 && point)
		m->points = (int32_t) gp_min64(point->count / gp_max64(m->width, 1),
									   GP_LINK_MOST_POINTS);
}

/* What the arrays must be, beside their lengths. */
static void
check_arrays(const restorer *r, const gp_link_model *m)
{
	const gp_graph *g = m->graph;
	int64_t		links = g->start[g->nodes];
	bool		deep = m->method == GP_LINK_DEEP;
	int64_t		ends = deep ? m->points : g->nodes;
	int64_t		p = deep ? m->m : gp_link_model_functions(m);
	const double number[] = {m->offset, m->scale, m->curve.intercept, m->curve.slope,
		m->curve.knee, m->curve.bend};
	bool		sound = is_sound(m->alpha, p, false);

	check_rows(r, g->start, g->col, g->nodes, g->nodes, links);
	if (m->features && m->features->csr)
		check_rows(r, m->features->csr->start, m->features->csr->col, g->nodes, m->features->dims,
				   m->features->csr->start[g->nodes]);
	for (int64_t k = 0; g->weight != NULL && k < links; k++)
		if (!(g->weight[k] >= 0.0) || !isfinite(g->weight[k]))
			refuse(r, "a weight is wrong");
	if (g->time)
		sound &= is_sound(g->time, links, false);
	for (int64_t k = 0; m->inducing && k < 2 * m->m; k++)
		if (m->inducing[k] < 0 || m->inducing[k] >= ends)
			refuse(r, "a pair is wrong");
	if (m->method == GP_LINK_PAIRS && m->m == 0)
		refuse(r, "its pairs are missing");
	if (gp_link_has_scores(m->method))
	{
		if (m->width != (m->method == GP_LINK_EASE ? 1 : gp_link_width(g, m->features != NULL)))
			refuse(r, "its scores are not those of this version");
		sound &= is_sound(m->centre, m->width, false) && is_sound(m->spread, m->width, true);
	}
	if (m->method == GP_LINK_EASE)
		sound &= is_sound(&m->scale, 1, true) && is_sound(m->diagonal, g->nodes, true);
	/* A deep Gaussian process: no variance of a row is negative. */
	if (deep)
		sound &= is_sound(number, sizeof(number) / sizeof(number[0]), false) && m->scale > 0.0 &&
			m->width > 0 && is_sound(m->taken, m->m * m->m, false);
	GP_EACH(r->env, k, deep ? g->nodes * m->width : 0, k)
		sound &= isfinite(m->row[k]) && isfinite(m->row_variance[k]) && m->row_variance[k] >= 0.0f;
	for (int64_t k = 0; k < m->points * (int64_t) m->width; k++)
		sound &= isfinite(m->point[k]) != 0;
	for (int k = 0; m->topology != NULL && k < GP_LINK_TOPOLOGY_COUNTS; k++)
		sound &= m->topology[k] >= 0 && m->topology[k] <= MOST_COUNTED;
	if (!sound)
		refuse(r, "a number is out of range");
}

gp_link_model *
gp_link_model_restore(gp_env *env, const gp_link_array *arrays, int n)
{
	restorer	r = {.env = env};
	gp_link_model *m = gp_alloc_zero(env, 1, sizeof(gp_link_model));

	index_arrays(&r, arrays, n);
	restore_scalars(&r, m);
	for (enum array_tag tag = TAG_START; tag < TAGS; tag++)
	{
		const gp_link_array *a = r.array[tag];
		place		p = place_of(m, tag);

		if (p.at == NULL || (a == NULL && (p.optional || p.count == 0)))
			continue;
		if (a == NULL || a->count != p.count)
			refuse(&r, "an array has another length");
		memcpy(p.at, &a->data, sizeof(a->data));
	}
	check_arrays(&r, m);
	return m;
}

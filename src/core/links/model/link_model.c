/*
 * link_model.c - a link model as a list of arrays, and back.
 *
 * The arrays come from a table on the way back.  None is trusted: whatever is
 * used as an index or a length is checked here.
 */
#include "links/scores/scores.h"

#define MOST_WIDTH 1024			/* numbers of a node or a pair */
#define MOST_COUNTED (INT64_C(1) << 20)	/* pairs of folds: far more than there are */

/* Stored models have arrays of these tags: append only. */
enum array_tag
{
	TAG_SCALARS = 0, TAG_START = 1, TAG_COL = 2, TAG_WEIGHT = 3, TAG_TIME = 4, TAG_ALPHA = 5,
	TAG_ROOT = 6, TAG_CENTRE = 7, TAG_DEVIATION = 8, TAG_LANDMARK = 9, TAG_DIAGONAL = 10,
	TAG_ROW = 11, TAG_VARIANCE = 12, TAG_INDUCING = 13, TAG_POINT = 14, TAG_TAKEN = 15,
	TAG_FEATURE_START = 16, TAG_FEATURE_COL = 17, TAG_FEATURE_VALUE = 18, TAG_FEATURE_MEAN = 19,
	TAG_FEATURE_DOT = 20, TAG_FEATURE_NORM = 21, TAG_TOPOLOGY = 22, TAG_CODE = 23, TAGS
};

_Static_assert(TAGS <= GP_LINK_MAX_ARRAYS, "callers have room for all arrays");

/* The places of numbers in TAG_SCALARS: append only; a stored model must have all of them. */
enum scalar
{
	AT_METHOD = 0, AT_NODES = 1, AT_EDGES = 2, AT_DIRECTED = 3, AT_PAIRS = 4, AT_AUC = 5,
	AT_PRECISION = 6, AT_STEPS = 7, AT_SCORES = 8, AT_LANDMARKS = 9, AT_RIDGE = 10,
	AT_NODE_WIDTH = 11, AT_INDUCING = 12, AT_OFFSET = 13, AT_SCALE = 14, AT_POINTS = 15,
	AT_INTERCEPT = 16, AT_SLOPE = 17, AT_KNEE = 18, AT_BEND = 19, AT_DIMS = 20, SCALARS
};

_Static_assert(SCALARS <= GP_LINK_SCALARS, "callers have room for all numbers");

/* Where an array of a model stands (a pointer to its start), and how long it is. */
typedef struct place
{
	gp_link_element element;
	void	   *at;
	int64_t		count;
} place;

/* True for an array that a model may be without, whatever its count. */
static bool
is_optional(enum array_tag tag)
{
	return tag == TAG_WEIGHT || tag == TAG_TIME || tag == TAG_TOPOLOGY || tag == TAG_CODE;
}

/* Counts of a sparse matrix follow from its start, which comes first. */
static place
place_of(gp_link_model *m, enum array_tag tag)
{
	gp_graph   *g = (gp_graph *) m->graph;
	gp_features *x = m->features;
	gp_csr	   *sparse = x ? x->csr : NULL;
	int64_t		n = g->nodes;
	int64_t		links = g->start ? g->start[n] : 0;
	int64_t		dims = x ? x->dims : 0;
	int64_t		values = sparse == NULL ? n * dims : sparse->start ? sparse->start[n] : 0;
	bool		dgp = m->method == GP_LINK_DGP;
	int64_t		p = gp_link_model_functions(m);
	int32_t		width = m->scores.width;
	const place places[TAGS] = {
		[TAG_START] = {GP_ARRAY_I64, &g->start, n + 1},
		[TAG_COL] = {GP_ARRAY_I32, &g->col, links},
		[TAG_WEIGHT] = {GP_ARRAY_F64, &g->weight, links},
		[TAG_TIME] = {GP_ARRAY_F64, &g->time, links},
		[TAG_ALPHA] = {GP_ARRAY_F64, &m->alpha, p},
		[TAG_ROOT] = {GP_ARRAY_F32, &m->root, dgp ? 0 : p * p},
		[TAG_CENTRE] = {GP_ARRAY_F64, &m->scores.centre, width},
		[TAG_DEVIATION] = {GP_ARRAY_F64, &m->scores.deviation, width},
		[TAG_LANDMARK] = {GP_ARRAY_F32, &m->scores.landmark, m->scores.landmarks * width},
		[TAG_DIAGONAL] = {GP_ARRAY_F64, &m->ease.diagonal, m->method == GP_LINK_EASE ? n : 0},
		[TAG_ROW] = {GP_ARRAY_F32, &m->node.row, n * m->node.width},
		[TAG_VARIANCE] = {GP_ARRAY_F32, &m->node.variance, dgp ? n * m->node.width : 0},
		[TAG_INDUCING] = {GP_ARRAY_I32, &m->inducing.pair, 2 * m->inducing.n},
		[TAG_POINT] = {GP_ARRAY_F32, &m->dgp.point, m->dgp.points * (int64_t) m->node.width},
		[TAG_TAKEN] = {GP_ARRAY_F64, &m->dgp.taken, dgp ? p * p : 0},
		[TAG_FEATURE_START] = {GP_ARRAY_I64, sparse ? &sparse->start : NULL, n + 1},
		[TAG_FEATURE_COL] = {GP_ARRAY_I32, sparse ? &sparse->col : NULL, values},
		[TAG_FEATURE_VALUE] = {GP_ARRAY_F32, sparse ? (void *) &sparse->value :
			x ? (void *) &x->dense : NULL, values},
		[TAG_FEATURE_MEAN] = {GP_ARRAY_F32, &m->feature_mean, GP_LINK_POWERS * dims},
		[TAG_FEATURE_DOT] = {GP_ARRAY_F32, &m->feature_dot, x ? GP_LINK_POWERS * n : 0},
		[TAG_FEATURE_NORM] = {GP_ARRAY_F32, &m->feature_norm, x ? GP_LINK_POWERS * n : 0},
		[TAG_TOPOLOGY] = {GP_ARRAY_I64, &m->topology, GP_LINK_TOPOLOGY_COUNTS},
		[TAG_CODE] = {GP_ARRAY_U64, &m->code, GP_LINK_CODE_WORDS * n}
	};

	return places[tag];
}

static void
write_scalars(const gp_link_model *m, double *s)
{
	const double number[SCALARS] = {
		[AT_METHOD] = m->method,[AT_NODES] = (double) m->graph->nodes,
		[AT_EDGES] = (double) m->graph->edges,[AT_DIRECTED] = m->graph->directed,
		[AT_PAIRS] = (double) m->pairs,[AT_AUC] = m->metric[GP_LINK_METRIC_AUC],
		[AT_PRECISION] = m->metric[GP_LINK_METRIC_PRECISION],[AT_STEPS] = m->steps,
		[AT_SCORES] = m->scores.width,[AT_LANDMARKS] = (double) m->scores.landmarks,
		[AT_RIDGE] = m->ease.ridge,[AT_NODE_WIDTH] = m->node.width,
		[AT_INDUCING] = (double) m->inducing.n,[AT_OFFSET] = m->dgp.offset,
		[AT_SCALE] = m->dgp.scale,[AT_POINTS] = m->dgp.points,
		[AT_INTERCEPT] = m->curve.intercept,[AT_SLOPE] = m->curve.slope,
		[AT_KNEE] = m->curve.knee,[AT_BEND] = m->curve.bend,
		[AT_DIMS] = m->features ? (double) m->features->dims : 0.0
	};

	memcpy(s, number, sizeof(number));
}

int
gp_link_model_arrays(const gp_link_model *m, double *scalars, gp_link_array *out)
{
	int			n = 0;

	write_scalars(m, scalars);
	out[n++] = (gp_link_array) {TAG_SCALARS, GP_ARRAY_F64, SCALARS, scalars};
	for (enum array_tag tag = TAG_START; tag < TAGS; tag++)
	{
		place		p = place_of((gp_link_model *) m, tag);
		void	   *data = NULL;

		if (p.at)
			memcpy(&data, p.at, sizeof(data));
		if (data && p.count > 0)
			out[n++] = (gp_link_array) {tag, p.element, p.count, data};
	}
	return n;
}

void
gp_link_model_free(gp_env *env, gp_link_model *m)
{
	if (m->owns_graph)
		gp_graph_free(env, (gp_graph *) m->graph);
	gp_features_free(env, m->features);
	gp_link_held_free(env, &m->held);
	gp_free_all(env, m->alpha, m->root, m->scores.centre, m->scores.deviation, m->scores.landmark,
				m->ease.diagonal, m->node.row, m->node.variance, m->inducing.pair, m->dgp.point,
				m->dgp.taken, m->feature_mean, m->feature_dot, m->feature_norm, m->topology,
				m->code, m);
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
	if (dev->env->dry)
	{
		if (problem->keep > 0)
		{
			gp_link_kept kept = gp_link_model_keep(dev, model, dev->threads, problem->keep, 0.0);

			gp_free_all(dev->env, kept.first, kept.row);
		}
		/* The state owns them still. */
		model->held = (gp_link_held) {0};
		model->topology = NULL;
		model->features = NULL;
	}
	*prepared = (gp_link_prepared) {.rules = prepared->rules};
	return model;
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
	gp_raise(r->env, GP_ERR_DAMAGED, "Fit the links again with gp_fit_links.",
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

/* Checks offsets and columns of a sparse matrix: ascending within limits. */
static void
check_rows(const restorer *r, const int64_t *start, const int32_t *col, int64_t rows,
		   int64_t cols)
{
	if (start[0] != 0)
		refuse(r, "its offsets are wrong");
	GP_EACH(r->env, i, rows, start[i])
	{
		if (start[i + 1] < start[i] || start[i + 1] > start[rows])
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
	int64_t		dims = whole(r, AT_DIMS, INT32_MAX);

	m->method = (gp_link_method) whole(r, AT_METHOD, GP_LINK_EASE);
	if (m->method == GP_LINK_AUTO)
		refuse(r, "its method is unknown");
	g->nodes = whole(r, AT_NODES, INT32_MAX);
	g->edges = whole(r, AT_EDGES, r->array[TAG_COL] ? (double) r->array[TAG_COL]->count : 0.0);
	g->directed = whole(r, AT_DIRECTED, 1.0) == 1;
	m->graph = g;
	m->owns_graph = true;
	m->pairs = whole(r, AT_PAIRS, 1e15);
	for (int k = 0; k < GP_LINK_METRICS; k++)
		m->metric[k] = NAN;
	m->metric[GP_LINK_METRIC_AUC] = r->scalar[AT_AUC];
	m->metric[GP_LINK_METRIC_PRECISION] = r->scalar[AT_PRECISION];
	m->steps = (int32_t) whole(r, AT_STEPS, m->method == GP_LINK_SCORES ? GP_LINK_STEPS : 0);
	m->scores.width = (int32_t) whole(r, AT_SCORES, MOST_WIDTH);
	m->scores.landmarks = whole(r, AT_LANDMARKS, GP_SYEV_MAX);
	m->ease.ridge = r->scalar[AT_RIDGE];
	m->node.width = (int32_t) whole(r, AT_NODE_WIDTH, MOST_WIDTH);
	m->inducing.n = whole(r, AT_INDUCING, GP_SYEV_MAX);
	m->dgp.offset = r->scalar[AT_OFFSET];
	m->dgp.scale = r->scalar[AT_SCALE];
	m->dgp.points = (int32_t) whole(r, AT_POINTS, GP_LINK_MOST_POINTS);
	m->curve = (gp_link_curve) {r->scalar[AT_INTERCEPT], r->scalar[AT_SLOPE],
		r->scalar[AT_KNEE], r->scalar[AT_BEND]};
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
}

/* What the arrays must be, beside their lengths. */
static void
check_arrays(const restorer *r, const gp_link_model *m)
{
	const gp_graph *g = m->graph;
	int64_t		links = g->start[g->nodes];
	bool		dgp = m->method == GP_LINK_DGP;
	int64_t		ends = dgp ? m->dgp.points : g->nodes;
	const double number[] = {m->dgp.offset, m->dgp.scale, m->curve.intercept, m->curve.slope,
		m->curve.knee, m->curve.bend};
	bool		sound = is_sound(m->alpha, gp_link_model_functions(m), false);

	check_rows(r, g->start, g->col, g->nodes, g->nodes);
	if (m->features && m->features->csr)
		check_rows(r, m->features->csr->start, m->features->csr->col, g->nodes, m->features->dims);
	for (int64_t k = 0; g->weight != NULL && k < links; k++)
		if (!(g->weight[k] >= 0.0) || !isfinite(g->weight[k]))
			refuse(r, "a weight is wrong");
	if (g->time)
		sound &= is_sound(g->time, links, false);
	for (int64_t k = 0; k < 2 * m->inducing.n; k++)
		if (m->inducing.pair[k] < 0 || m->inducing.pair[k] >= ends)
			refuse(r, "a pair is wrong");
	if (m->method == GP_LINK_PAIRS && m->inducing.n == 0)
		refuse(r, "its pairs are missing");
	if (gp_link_has_scores(m->method))
	{
		if (m->scores.width !=
			(m->method == GP_LINK_EASE ? 1 : gp_link_width(g, m->features != NULL)))
			refuse(r, "its scores are not those of this version");
		sound &= is_sound(m->scores.centre, m->scores.width, false) &&
			is_sound(m->scores.deviation, m->scores.width, true);
	}
	if (m->method == GP_LINK_EASE)
		sound &= is_sound(&m->ease.ridge, 1, true) && is_sound(m->ease.diagonal, g->nodes, true);
	/* A deep Gaussian process: no variance of a node is negative. */
	if (dgp)
		sound &= is_sound(number, sizeof(number) / sizeof(number[0]), false) &&
			m->dgp.scale > 0.0 && m->node.width > 0 &&
			is_sound(m->dgp.taken, m->inducing.n * m->inducing.n, false);
	GP_EACH(r->env, k, dgp ? g->nodes * m->node.width : 0, k)
		sound &= isfinite(m->node.row[k]) && isfinite(m->node.variance[k]) &&
			m->node.variance[k] >= 0.0f;
	for (int64_t k = 0; k < m->dgp.points * (int64_t) m->node.width; k++)
		sound &= isfinite(m->dgp.point[k]) != 0;
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

	/* Sorts the arrays by tag. */
	for (int i = 0; i < n; i++)
	{
		int32_t		tag = arrays[i].tag;

		if (tag < 0 || tag >= TAGS || r.array[tag] != NULL)
			refuse(&r, "an array is unknown or stands twice");
		r.array[tag] = &arrays[i];
	}
	const gp_link_array *scalars = r.array[TAG_SCALARS];
	if (scalars == NULL || scalars->count != SCALARS || scalars->element != GP_ARRAY_F64)
		refuse(&r, "its numbers are missing");
	r.scalar = scalars->data;
	restore_scalars(&r, m);
	for (enum array_tag tag = TAG_START; tag < TAGS; tag++)
	{
		const gp_link_array *a = r.array[tag];
		place		p = place_of(m, tag);

		if (p.at == NULL || (a == NULL && (is_optional(tag) || p.count == 0)))
			continue;
		if (a == NULL || a->count != p.count || a->element != p.element)
			refuse(&r, "an array has another length or type");
		memcpy(p.at, &a->data, sizeof(a->data));
	}
	check_arrays(&r, m);
	return m;
}

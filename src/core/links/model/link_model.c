/*
 * link_model.c - a link model as a list of arrays, and back.
 *
 * The arrays come from a table on the way back.  None is trusted: whatever is
 * used as an index or a length is checked here.
 */
#include "links/search/link_predict.h"

#include <float.h>

#define MOST_COUNTED (INT64_C(1) << 20)	/* pairs of folds: far more than there are */
#define MEGABYTE (1024.0 * 1024.0)

enum array_tag
{
	TAG_SCALARS, TAG_START, TAG_COL, TAG_WEIGHT, TAG_ROW, TAG_INDUCING, TAG_ALPHA, TAG_ROOT,
	TAG_CENTRE, TAG_SPREAD, TAG_FEATURE_START, TAG_FEATURE_COL, TAG_FEATURE_VALUE,
	TAG_FEATURE_MEAN, TAG_FEATURE_DOT, TAG_FEATURE_NORM, TAG_CODE, TAG_HABITS, TAG_ROW_VARIANCE,
	TAG_POINT, TAG_TAKEN, TAG_TIME, TAGS
};

enum scalar
{
	METHOD, NODES, EDGES, DIRECTED, PAIRS, AUC, PRECISION, STEPS, ROWS, WIDTH, OFFSET, SCALE,
	INTERCEPT, SLOPE, DIMS, POWERS, SCALARS
};

static const gp_link_element elements[TAGS] = {
	[TAG_SCALARS] = GP_LINK_F64,[TAG_START] = GP_LINK_I64,[TAG_COL] = GP_LINK_I32,[TAG_WEIGHT] = GP_LINK_F64,
	[TAG_ROW] = GP_LINK_F32,[TAG_INDUCING] = GP_LINK_I32,[TAG_ALPHA] = GP_LINK_F64,[TAG_ROOT] = GP_LINK_F32,
	[TAG_CENTRE] = GP_LINK_F64,[TAG_SPREAD] = GP_LINK_F64,[TAG_FEATURE_START] = GP_LINK_I64,
	[TAG_FEATURE_COL] = GP_LINK_I32,[TAG_FEATURE_VALUE] = GP_LINK_F32,[TAG_FEATURE_MEAN] = GP_LINK_F32,
	[TAG_FEATURE_DOT] = GP_LINK_F32,[TAG_FEATURE_NORM] = GP_LINK_F32,[TAG_CODE] = GP_LINK_U64,
	[TAG_HABITS] = GP_LINK_I64,[TAG_ROW_VARIANCE] = GP_LINK_F32,[TAG_POINT] = GP_LINK_F32,[TAG_TAKEN] = GP_LINK_F64,
	[TAG_TIME] = GP_LINK_F64
};

/* Where a model has an array, and how many elements it has. */
typedef struct field
{
	void	  **data;			/* NULL: a model of this kind has none */
	int64_t		count;
	bool		optional;
} field;

#define FIELD(member, n, optional) ((field) {(void **) &(member), n, optional})

/* The arrays of a model whose numbers are known, of a graph with so many entries and features with so many numbers. */
static void
list_fields(gp_env *env, gp_link_model *m, int64_t entries, int64_t numbers, field *f)
{
	gp_graph   *g = (gp_graph *) m->graph;
	gp_features *x = m->features;
	int64_t		n = g->nodes;
	int64_t		p = m->method == GP_LINK_DEEP ? m->m : gp_link_model_functions(m);
	int64_t		rows = m->method == GP_LINK_SCORES ? m->m : n;

	memset(f, 0, TAGS * sizeof(field));
	f[TAG_START] = FIELD(g->start, n + 1, false);
	f[TAG_COL] = FIELD(g->col, entries, false);
	f[TAG_WEIGHT] = FIELD(g->weight, entries, true);
	f[TAG_TIME] = FIELD(g->time, entries, true);
	f[TAG_ROW] = FIELD(m->row, env ? (int64_t) gp_size_mul(env, rows, m->width) : rows * m->width, false);
	f[TAG_ALPHA] = FIELD(m->alpha, p, false);
	f[TAG_HABITS] = FIELD(m->habits, GP_LINK_HABITS, true);
	f[TAG_CODE] = FIELD(m->code, GP_LINK_CODE_WORDS * n, true);
	if (m->method != GP_LINK_DEEP)
		f[TAG_ROOT] = FIELD(m->root, p * p, false);
	if (m->method == GP_LINK_SCORES)
	{
		f[TAG_CENTRE] = FIELD(m->centre, m->width, false);
		f[TAG_SPREAD] = FIELD(m->spread, m->width, false);
	}
	else
		f[TAG_INDUCING] = FIELD(m->inducing, 2 * m->m, false);
	if (m->method == GP_LINK_DEEP)
	{
		f[TAG_ROW_VARIANCE] = FIELD(m->row_variance, n * m->width, false);
		f[TAG_POINT] = FIELD(m->point, m->points * (int64_t) m->width, false);
		f[TAG_TAKEN] = FIELD(m->taken, m->m * m->m, false);
	}
	if (x == NULL)
		return;
	if (x->csr)
	{
		f[TAG_FEATURE_START] = FIELD(x->csr->start, n + 1, false);
		f[TAG_FEATURE_COL] = FIELD(x->csr->col, numbers, false);
	}
	f[TAG_FEATURE_VALUE] = (field) {x->csr ? &x->csr->value : &x->dense, numbers, false};
	f[TAG_FEATURE_MEAN] = FIELD(m->feature_mean, m->powers * x->dims, false);
	f[TAG_FEATURE_DOT] = FIELD(m->feature_dot, m->powers * n, false);
	f[TAG_FEATURE_NORM] = FIELD(m->feature_norm, m->powers * n, false);
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

int
gp_link_model_arrays(const gp_link_model *m, double *scalars, gp_link_array *out)
{
	const gp_features *x = m->features;
	field		f[TAGS];
	int			n = 1;

	write_scalars(m, scalars);
	out[0] = (gp_link_array) {TAG_SCALARS, elements[TAG_SCALARS], SCALARS, scalars};
	list_fields(NULL, (gp_link_model *) m, m->graph->start[m->graph->nodes],
				x == NULL ? 0 : x->csr ? gp_csr_entries(x->csr) : x->rows * x->dims, f);
	for (int tag = TAG_SCALARS + 1; tag < TAGS; tag++)
		if (f[tag].data && *f[tag].data && f[tag].count > 0)
			out[n++] = (gp_link_array) {tag, elements[tag], f[tag].count, *f[tag].data};
	return n;
}

/* Frees a model. */
void
gp_link_model_free(gp_env *env, gp_link_model *m)
{
	void	   *array[] = {m->row, m->row_variance, m->inducing, m->alpha, m->root, m->point, m->taken, m->centre, m->spread,
		m->feature_mean, m->feature_dot, m->feature_norm, m->habits, m->code};

	if (m->owns_graph)
		gp_graph_free(env, (gp_graph *) m->graph);
	gp_features_free(env, m->features);
	gp_link_held_free(env, &m->held);
	for (size_t k = 0; k < sizeof(array) / sizeof(array[0]); k++)
		gp_free(env, array[k]);
	gp_free(env, m);
}

void
gp_link_check_limit(gp_env *env, double bytes, const char *hint)
{
	if (env->limit > 0 && bytes > (double) gp_limit(env))
		gp_raise(env, GP_ERR_LIMIT, hint, "the link model needs %.0f MB, more than gnngp.memory_limit (%.0f MB)",
				 ceil(bytes / MEGABYTE), floor((double) gp_limit(env) / MEGABYTE));
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

/* Offsets and columns of a sparse matrix: ascending within limits. */
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

/* Each number of an array, which is double or float, at least least; none is infinite. */
static void
check_numbers(const restorer *r, enum array_tag tag, double least)
{
	const gp_link_array *a = r->array[tag];
	gp_type		type = elements[tag] == GP_LINK_F64 ? GP_DOUBLE : GP_FLOAT;

	for (int64_t k = 0; a && k < a->count; k++)
	{
		double		value = gp_number_at(a->data, type, k);

		if (!isfinite(value) || value < least)
			refuse(r, "a number is out of range");
	}
}

/* The indices of an array, below a limit. */
static void
check_indices(const restorer *r, enum array_tag tag, int64_t limit)
{
	const gp_link_array *a = r->array[tag];

	for (int64_t k = 0; a && k < a->count; k++)
		if (((const int32_t *) a->data)[k] < 0 || ((const int32_t *) a->data)[k] >= limit)
			refuse(r, "a pair is wrong");
}

/* The elements of an array. */
static int64_t
count_of(const restorer *r, enum array_tag tag)
{
	return r->array[tag] ? r->array[tag]->count : 0;
}

/* The numbers of a model, with a graph and features that have no arrays yet. */
static void
restore_numbers(const restorer *r, gp_link_model *m)
{
	gp_graph   *g = gp_alloc_zero(r->env, 1, sizeof(gp_graph));
	int64_t		dims = whole(r, DIMS, INT32_MAX);

	m->method = (gp_link_method) whole(r, METHOD, GP_LINK_DEEP);
	if (m->method == GP_LINK_AUTO)
		refuse(r, "its method is unknown");
	m->graph = g;
	m->owns_graph = true;
	g->nodes = whole(r, NODES, INT32_MAX);
	g->edges = whole(r, EDGES, (double) count_of(r, TAG_COL));
	g->directed = whole(r, DIRECTED, 1.0) == 1;
	m->pairs = whole(r, PAIRS, 1e15);
	for (int k = 0; k < GP_LINK_METRICS; k++)
		m->metric[k] = NAN;
	m->metric[GP_LINK_METRIC_AUC] = r->scalar[AUC];
	m->metric[GP_LINK_METRIC_PRECISION] = r->scalar[PRECISION];
	m->steps = (int32_t) whole(r, STEPS, GP_LINK_STEPS);
	m->m = whole(r, ROWS, GP_SYEV_MAX);
	m->width = (int32_t) whole(r, WIDTH, GP_LINK_MOST_WIDTH);
	m->powers = (int32_t) whole(r, POWERS, GP_LINK_POWERS);
	m->offset = r->scalar[OFFSET];
	m->scale = r->scalar[SCALE];
	m->intercept = r->scalar[INTERCEPT];
	m->slope = r->scalar[SLOPE];
	if (dims > 0)
	{
		m->features = gp_alloc_zero(r->env, 1, sizeof(gp_features));
		*m->features = (gp_features) {.rows = g->nodes,.dims = dims,.type = GP_FLOAT};
		if (r->array[TAG_FEATURE_START])
		{
			m->features->csr = gp_alloc_zero(r->env, 1, sizeof(gp_csr));
			*m->features->csr = (gp_csr) {.rows = g->nodes,.cols = dims,.type = GP_FLOAT};
		}
		if (m->powers < 1)
			refuse(r, "a number is out of range");
	}
	if (m->method == GP_LINK_DEEP && (m->width < 1 || !(m->scale > 0.0)))
		refuse(r, "a number is out of range");
	if (m->method == GP_LINK_DEEP && m->m > 0)
	{
		if (count_of(r, TAG_POINT) % m->width != 0 || count_of(r, TAG_POINT) / m->width > GP_LINK_MOST_POINTS)
			refuse(r, "an array has another length");
		m->points = (int32_t) (count_of(r, TAG_POINT) / m->width);
	}
	if (!isfinite(m->offset) || !isfinite(m->scale) || !isfinite(m->intercept) || !isfinite(m->slope))
		refuse(r, "a number is out of range");
	if (m->method == GP_LINK_PAIRS && m->m == 0)
		refuse(r, "its pairs are missing");
}

/* What the arrays hold. */
static void
check_arrays(const restorer *r, const gp_link_model *m)
{
	const gp_graph *g = m->graph;
	const gp_csr *x = m->features ? m->features->csr : NULL;

	check_rows(r, g->start, g->col, g->nodes, g->nodes, count_of(r, TAG_COL));
	if (x)
		check_rows(r, x->start, x->col, x->rows, x->cols, count_of(r, TAG_FEATURE_COL));
	check_numbers(r, TAG_WEIGHT, 0.0);
	check_numbers(r, TAG_TIME, -INFINITY);
	check_numbers(r, TAG_ALPHA, -INFINITY);
	check_numbers(r, TAG_CENTRE, -INFINITY);
	check_numbers(r, TAG_SPREAD, DBL_MIN);
	check_numbers(r, TAG_POINT, -INFINITY);
	check_numbers(r, TAG_TAKEN, -INFINITY);
	check_numbers(r, TAG_ROW_VARIANCE, 0.0);
	if (m->method == GP_LINK_DEEP)
		check_numbers(r, TAG_ROW, -INFINITY);
	check_indices(r, TAG_INDUCING, m->method == GP_LINK_DEEP ? m->points : g->nodes);
	for (int k = 0; m->habits != NULL && k < GP_LINK_HABITS; k++)
		if (m->habits[k] < 0 || m->habits[k] > MOST_COUNTED)
			refuse(r, "a number is out of range");
	if (m->method == GP_LINK_SCORES && m->width != gp_link_width(g, m->powers))
		refuse(r, "its scores are not those of this version");
}

gp_link_model *
gp_link_model_restore(gp_env *env, const gp_link_array *arrays, int n)
{
	restorer	r = {.env = env};
	gp_link_model *m = gp_alloc_zero(env, 1, sizeof(gp_link_model));
	field		f[TAGS];

	index_arrays(&r, arrays, n);
	restore_numbers(&r, m);
	list_fields(env, m, count_of(&r, TAG_COL), m->features && m->features->csr ? count_of(&r, TAG_FEATURE_COL) :
				m->features ? (int64_t) gp_size_mul(env, m->graph->nodes, m->features->dims) : 0, f);
	for (int tag = TAG_SCALARS + 1; tag < TAGS; tag++)
	{
		const gp_link_array *a = r.array[tag];

		if (f[tag].data == NULL || (a == NULL && (f[tag].optional || f[tag].count == 0)))
			continue;
		if (a == NULL || a->count != f[tag].count)
			refuse(&r, "an array has another length");
		*f[tag].data = a->data;
	}
	check_arrays(&r, m);
	return m;
}

/*
 * read_features.c - features in columns of the node table: one array column,
 * or several columns, which are encoded unless all of them are numbers.
 *
 * They come with the ids, in rows of one query: a view, or a table on several
 * servers that others write to, could return other rows to a second one.  Arrays
 * of real are read in place.  A fault is kept until the end and the one of the
 * smallest id is reported, so that the error does not depend on the order of the
 * rows.
 */
#include "postgres.h"

#include <float.h>

#include "reader_internal.h"

/* Spreads of columns whose ratio is worth a word. */
#define NOTICE_RATIO 1000		/* deviations of columns */
#define SHARED 10				/* means of an array's numbers, in deviations */

/* The length of a row that has none. */
#define FAULTY (-1)

/* Elements looked at together. */
#define LANES 16

typedef enum feature_fault
{
	FAULT_NONE,
	FAULT_NULL,
	FAULT_SHAPE,				/* an array of several dimensions */
	FAULT_EMPTY,
	FAULT_NULL_ELEMENT,
	FAULT_VALUE					/* NaN, infinite, or beyond real */
} feature_fault;

/* The error about a fault. */
static const struct
{
	int			sqlstate;
	const char *what;
	const char *hint;
}			said[] = {
	[FAULT_NULL] = {ERRCODE_NULL_VALUE_NOT_ALLOWED, "is NULL",
		"Give every node its features; coalesce(...) in a view can fill gaps."},
	[FAULT_SHAPE] = {ERRCODE_ARRAY_SUBSCRIPT_ERROR, "has an array of several dimensions",
		"The features of a node are an array of one dimension."},
	[FAULT_EMPTY] = {ERRCODE_ARRAY_SUBSCRIPT_ERROR, "has an empty array",
		"Give every node its features, or create the graph without features."},
	[FAULT_NULL_ELEMENT] = {ERRCODE_NULL_VALUE_NOT_ALLOWED, "has a NULL element",
		"Give every element a value, such as 0."},
	[FAULT_VALUE] = {ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, NULL,
					 "Features must be finite and fit the type real."}
};

struct gnngp_feature_reading
{
	gnngp_reader *r;
	int			ncolumns;
	gnngp_column *column;
	Oid			array_type;		/* of the array in the query; InvalidOid for numeric columns */
	gp_features_builder *builder;
	int64		dims;
	int64		room;
	int32	   *length;			/* of each row, or FAULTY; in the end of each node's */
	double	   *value;			/* columns of one row, as numbers */
	gnngp_cell_type *type;		/* of each column */
	bool		encoded;		/* some are not numbers, or NULL */
	gnngp_id	id;				/* of the row at hand */
	feature_fault fault;		/* of the smallest id */
	gnngp_id	fault_id;
	int			fault_element;
	double		fault_value;
};

/* Keeps a fault when no smaller id has one. */
static void
note_fault(gnngp_feature_reading *s, feature_fault fault, int32 row, int element, double value)
{
	s->length[row] = FAULTY;
	if (s->fault != FAULT_NONE && gnngp_id_compare(&s->fault_id, &s->id, NULL) <= 0)
		return;
	s->fault = fault;
	s->fault_id = s->id;
	s->fault_element = element;
	s->fault_value = value;
}

/* The first element that is not finite, or n: LANES at once without branches, as vectors. */
static int
first_bad_float(const float *v, int n)
{
	int			i = 0;

	for (uint32 bad = 0; i + LANES <= n; i += LANES)
	{
		uint32		bits[LANES];

		memcpy(bits, v + i, sizeof(bits));
		for (int k = 0; k < LANES; k++)
			bad |= (bits[k] & 0x7f800000) == 0x7f800000;
		if (bad)
			break;
	}
	while (i < n && isfinite(v[i]))
		i++;
	return i;
}

/* The first element that is no finite real, or n. */
static int
first_bad_double(const double *v, int n)
{
	for (int i = 0; i < n; i++)
		if (!(fabs(v[i]) <= FLT_MAX))
			return i;
	return n;
}

/* Starts the features when the first good row tells their number; false for another length. */
static bool
begin_row(gnngp_feature_reading *s, int32 row, int n)
{
	s->length[row] = n;
	if (s->builder == NULL)
	{
		s->dims = n;
		/* The deviation of a large number would be lost in single precision. */
		s->builder = gp_features_create(s->r->env, GP_NODES_UNKNOWN, n,
										s->array_type == InvalidOid ? GP_DOUBLE : GP_FLOAT);
	}
	return n == s->dims;
}

static void
array_row(gnngp_feature_reading *s, int32 row, const Datum *values, const bool *nulls)
{
	int			n,
				bad;

	if (nulls[0])
	{
		note_fault(s, FAULT_NULL, row, 0, 0);
		return;
	}
	ArrayType  *array = DatumGetArrayTypeP(values[0]);
	n = ARR_NDIM(array) == 1 ? ARR_DIMS(array)[0] : 0;
	if (n == 0)
		note_fault(s, ARR_NDIM(array) > 1 ? FAULT_SHAPE : FAULT_EMPTY, row, 0, 0);
	else if (array_contains_nulls(array))
		note_fault(s, FAULT_NULL_ELEMENT, row, 0, 0);
	else if (s->array_type == FLOAT4ARRAYOID)
	{
		const float *v = gnngp_array_data(array);

		if ((bad = first_bad_float(v, n)) < n)
			note_fault(s, FAULT_VALUE, row, bad, v[bad]);
		else if (begin_row(s, row, n))
			gp_features_add_row_float(s->builder, row, v);
	}
	else
	{
		const double *v = gnngp_array_data(array);

		if (s->array_type == NUMERICARRAYOID)
		{
			/* What is beyond double precision becomes infinite. */
			double	   *value = palloc(sizeof(double) * n);
			Datum	   *elements;

			(void) gnngp_array_elements(array, &elements, NULL);
			for (int i = 0; i < n; i++)
				value[i] = gnngp_number_datum(elements[i], NUMERICOID);
			v = value;
		}
		if ((bad = first_bad_double(v, n)) < n)
			note_fault(s, FAULT_VALUE, row, bad, v[bad]);
		else if (begin_row(s, row, n))
			gp_features_add_row(s->builder, row, v);
	}
}

void
gnngp_features_add_row(gnngp_feature_reading *s, int64 place, gnngp_id id, const Datum *values,
					   const bool *nulls)
{
	int32		row = (int32) place;

	if (place >= s->room)
	{
		s->room = s->room ? s->room + s->room / 2 : 4096;
		s->length = gp_realloc_array(s->r->env, s->length, s->room, sizeof(int32));
	}
	s->id = id;
	if (s->array_type != InvalidOid)
	{
		array_row(s, row, values, nulls);
		return;
	}
	for (int i = 0; i < s->ncolumns; i++)
	{
		if (nulls[i] && s->r->some && s->r->encoding == NULL)
		{
			note_fault(s, FAULT_NULL, row, i, 0);
			return;
		}
		s->encoded = s->encoded || nulls[i];
		s->value[i] = gnngp_feature_number(&s->type[i], values[i], nulls[i]);
		/* An infinite time is none. */
		if (!nulls[i] && s->type[i].kind != GP_CELL_TIME && !(fabs(s->value[i]) <= FLT_MAX))
		{
			note_fault(s, FAULT_VALUE, row, i, s->value[i]);
			return;
		}
	}
	if (begin_row(s, row, s->ncolumns))
		gp_features_add_row(s->builder, row, s->value);
}

/* Raises the fault of the smallest id. */
static void
check_fault(const gnngp_feature_reading *s)
{
	bool		columns = s->array_type == InvalidOid;
	const char *what = said[s->fault].what;

	if (s->fault == FAULT_NONE)
		return;
	if (what == NULL)
		what = columns ? psprintf("is %g", s->fault_value) :
			psprintf("has the element %g at position %d", s->fault_value, s->fault_element + 1);
	ereport(ERROR,
			(errcode(said[s->fault].sqlstate),
			 errmsg("column \"%s\" of table \"%s\" %s for node %s",
					s->column[columns ? s->fault_element : 0].name, s->r->nodes.name, what,
					gnngp_id_name(&s->fault_id)),
			 errhint("%s", said[s->fault].hint)));
}

void
gnngp_require_feature(const gnngp_table *table, const gnngp_column *column, bool alone)
{
	if (!gnngp_is_feature_type(column->base) && !(alone && gnngp_is_vector_type(column->base)))
		gnngp_wrong_type(table, column, "a number, a text, an enum, a boolean, a date, uuid or inet",
						 "Features are one array column, or columns of numbers, texts, enums, booleans, dates, uuid and inet.");
}

gnngp_feature_reading *
gnngp_add_features(gnngp_reader *r, gnngp_query *q)
{
	if (r->def->features.n == 0)
		return NULL;
	gnngp_feature_reading *s = palloc0(sizeof(gnngp_feature_reading));
	s->r = r;
	s->ncolumns = r->def->features.n;
	s->column = palloc0(sizeof(gnngp_column) * s->ncolumns);
	for (int i = 0; i < s->ncolumns; i++)
	{
		s->column[i] = gnngp_table_column(&r->nodes, r->def->features.text[i]);
		gnngp_require_feature(&r->nodes, &s->column[i], s->ncolumns == 1);
	}
	s->type = palloc0(sizeof(gnngp_cell_type) * s->ncolumns);
	if (s->ncolumns == 1 && !gnngp_is_feature_type(s->column[0].base))
	{
		/* An array, as the array type that comes nearest */
		Oid			base = s->column[0].base;
		Oid			element = get_element_type(base);
		bool		same = base == FLOAT4ARRAYOID || base == FLOAT8ARRAYOID ||
			base == NUMERICARRAYOID;

		s->array_type = same ? base : OidIsValid(element) && gnngp_is_number_type(element) ?
			FLOAT8ARRAYOID : FLOAT4ARRAYOID;
		gnngp_query_add(q, s->array_type, "t.%s%s", s->column[0].quoted, same ? "" :
						s->array_type == FLOAT8ARRAYOID ? "::pg_catalog.float8[]" :
						"::pg_catalog.float4[]");
		return s;
	}
	for (int i = 0; i < s->ncolumns; i++)
	{
		gnngp_add_feature(q, &s->column[i], &s->type[i]);
		s->encoded = s->encoded || s->type[i].kind == GP_CELL_WORD ||
			s->type[i].kind == GP_CELL_TIME;
	}
	s->encoded = s->encoded || r->encoding;
	s->value = palloc0(sizeof(double) * s->ncolumns);
	return s;
}

void
gnngp_check_dims(const gnngp_reader *r, int64 dims)
{
	if (r->data->features->dims != dims)
		gnngp_raise(ARRAY_SUBSCRIPT_ERROR,
					"Give each node as many as before, or fit the model again with gp_refresh.",
					"the nodes of table \"%s\" have " INT64_FORMAT " features, and had " INT64_FORMAT " when the model was fitted",
					r->nodes.name, (int64) r->data->features->dims, dims);
}

void
gnngp_scale_features(gnngp_reader *r, gp_scale scale)
{
	gnngp_data *data = r->data;

	if (r->some)
	{
		/* 55000 unless a neighbourhood can be scaled as the fit's features were */
		if ((r->moments != NULL) != (scale == GP_SCALE_STANDARD))
			gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Fit the model again with gp_refresh.",
						"the features of table \"%s\" have another type than when the model was fitted",
						r->nodes.name);
		if (r->moments)
			gnngp_check_dims(r, r->dims);
	}
	if (scale != GP_SCALE_STANDARD)
	{
		data->features = gp_features_scale(r->env, data->features, scale);
		return;
	}
	if (!r->some)
		r->moments = data->moments = gp_features_moments(r->env, data->features);
	data->features = gp_features_standardise(r->env, data->features, r->moments);
}

/*
 * How the features are scaled.  By itself what has units of its own is standardised: columns, or
 * numbers of an array.  A long one is an embedding or a bag of words, one thing whose maker has
 * seen to its scale; so is one of length one.  A NOTICE says where features that are taken as they
 * are hardly tell nodes apart.
 */
static gp_scale
choose_scale(const gnngp_feature_reading *s)
{
	const gp_features *f = s->r->data->features;
	gp_env	   *env = s->r->env;
	bool		columns = s->array_type == InvalidOid;
	bool		units = columns ||
		(s->r->some ? s->r->moments != NULL :
		 f->dims < GNNGP_SHORT_ARRAY && !gp_features_have_length(env, f) &&
		 gp_features_spread(env, f) > GNNGP_UNITS_RATIO);
	gp_scale	scale = gnngp_scale(s->r->def, units ? GP_SCALE_STANDARD : GP_SCALE_NONE);

	if (scale != GP_SCALE_NONE || s->r->some)
		return scale;
	if (columns && gp_features_spread(env, f) >= NOTICE_RATIO)
		gp_notice(env,
				  "Use gp_alter_graph(..., scale => 'standard') to give every column the same weight.",
				  "the feature columns of table \"%s\" differ in scale more than %d-fold",
				  s->r->nodes.name, NOTICE_RATIO);
	if (!columns && strcmp(s->r->def->scale, "auto") == 0 && gp_features_shared(env, f) >= SHARED)
		gp_notice(env,
				  "Use gp_alter_graph(..., scale => 'standard') to subtract the mean of each feature, or scale => 'none' to keep them.",
				  "the features of table \"%s\" are nearly the same for all nodes: their means are more than %d times as large as their deviations",
				  s->r->nodes.name, SHARED);
	return scale;
}

#define SPARE_PARTS 8.0			/* of the memory that is left: a spare form takes one at most */

/*
 * Keeps the features in the form that they are not scaled to where the labels may choose: of a
 * short array that auto scales, unless its rows have one length, or memory is scarce.
 */
static void
keep_other_form(const gnngp_feature_reading *s, gp_scale scale)
{
	gnngp_data *data = s->r->data;
	gp_env	   *env = s->r->env;

	if (!s->r->both_forms || s->array_type == InvalidOid ||
		strcmp(s->r->def->scale, "auto") != 0 || data->features->dims >= GNNGP_SHORT_ARRAY ||
		SPARE_PARTS * sizeof(float) * (double) data->features->rows * data->features->dims >
		(double) gnngp_account_left() || gp_features_have_length(env, data->features))
		return;
	data->other = gp_features_unit(env, data->features, GP_FLOAT, GP_ROW_KEPT);
	if (scale == GP_SCALE_STANDARD)
		return;
	data->other_moments = gp_features_moments(env, data->other);
	data->other = gp_features_standardise(env, data->other, data->other_moments);
}

void
gnngp_finish_features(gnngp_feature_reading *s, int32 *node)
{
	gnngp_data *data = s->r->data;
	const gnngp_ids *ids = &data->ids;
	gp_env	   *env = s->r->env;
	int32		repeated_node,
				repeated_feature;

	env->progress(env, GP_PHASE_FEATURES, 0, data->ids.n);
	check_fault(s);
	if (node)
	{
		int32	   *length = gp_alloc_array(env, ids->n, sizeof(int32));

		for (int64 row = 0; row < ids->n; row++)
			length[node[row]] = s->length[row];
		gp_free(env, s->length);
		s->length = length;
	}
	/* Raises when rows have different lengths */
	for (int64 i = 0; i < ids->n; i++)
		if (s->length[i] != s->length[0])
			gnngp_raise(ARRAY_SUBSCRIPT_ERROR, "All nodes need the same number of features.",
						"column \"%s\" of table \"%s\" has %d elements for node %s but %d for node %s",
						s->column[0].name, s->r->nodes.name, s->length[0], gnngp_id_text(ids, 0),
						s->length[i], gnngp_id_text(ids, i));
	gp_free(env, s->length);
	gp_features_place(s->builder, data->ids.n, node);
	data->features = gp_features_build(s->builder, &repeated_node, &repeated_feature);
	if (s->encoded)
		data->features = gnngp_encode_features(s->r, data->features, s->column, s->type);
	gp_scale	scale = choose_scale(s);
	keep_other_form(s, scale);
	gnngp_scale_features(s->r, scale);
	env->progress(env, GP_PHASE_FEATURES, data->ids.n, data->ids.n);
	pfree(s);
}

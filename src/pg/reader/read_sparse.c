/*
 * read_sparse.c - features in a table whose first three columns are the node,
 * the feature's number and its value.  They never become dense here.
 */
#include "postgres.h"

#include <float.h>

#include "read_ids.h"

/* Larger feature numbers are refused. */
#define MAX_FEATURE (PG_INT32_MAX - 1)

typedef enum entry_fault
{
	ENTRY_NULL_NUMBER,
	ENTRY_BAD_NUMBER,			/* negative, or too large */
	ENTRY_NULL_VALUE,
	ENTRY_BAD_VALUE,			/* NaN, infinite, or beyond real */
	ENTRY_FAULTS
} entry_fault;

struct gnngp_sparse_reading
{
	gnngp_reader *r;
	gnngp_query query;
	gnngp_finder node;
	gnngp_column number;
	gnngp_column value;
	gnngp_fault fault[ENTRY_FAULTS];	/* second: the feature's number */
	gp_features_builder *builder;
	int64		entries;
};

static void
entry_row(void *state, const Datum *values, const bool *nulls)
{
	gnngp_sparse_reading *s = state;
	double		number,
				value;

	/* Of a neighbourhood all rows may come: those of other nodes are nobody's fault. */
	int32		node = s->r->some ? gnngp_finder_try(&s->node, values[0], nulls[0]) :
					gnngp_finder_find(&s->node, values[0], nulls[0]);
	if (node < 0)
		return;
	if (nulls[1])
	{
		gnngp_note_fault(&s->fault[ENTRY_NULL_NUMBER], node, 0, 0);
		return;
	}
	number = (double) gnngp_integer_datum(values[1], s->number.base);
	value = nulls[2] ? 0.0 : gnngp_number_datum(values[2], s->value.base);
	if (!(number >= 0 && number <= MAX_FEATURE))
		gnngp_note_fault(&s->fault[ENTRY_BAD_NUMBER], node, number, 0);
	else if (nulls[2])
		gnngp_note_fault(&s->fault[ENTRY_NULL_VALUE], node, number, 0);
	else if (!(fabs(value) <= FLT_MAX))
		gnngp_note_fault(&s->fault[ENTRY_BAD_VALUE], node, number, value);
	else
	{
		int32		feature = (int32) number;

		gp_features_add_entries(s->builder, 1, &node, &feature, &value);
		s->entries++;
	}
}

static void
check_entries(const gnngp_sparse_reading *s)
{
	static const char *const hints[ENTRY_FAULTS] = {
		"The second column of the table is the feature's number.",
		"Feature numbers are whole numbers from 0 to 2147483646.",
		"Remove the row: a feature that is not in the table is 0.",
		"Features must be finite and fit the type real."
	};

	for (int k = 0; k < ENTRY_FAULTS; k++)
	{
		const gnngp_fault *e = &s->fault[k];
		bool		of_value = k >= ENTRY_NULL_VALUE;
		bool		null = k == ENTRY_NULL_NUMBER || k == ENTRY_NULL_VALUE;

		if (!e->found)
			continue;
		ereport(ERROR,
				(errcode(null ? ERRCODE_NULL_VALUE_NOT_ALLOWED
						 : ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("column \"%s\" of table \"%s\" is %s for %snode %s",
						of_value ? s->value.name : s->number.name, s->r->sparse.name,
						null ? "NULL" : of_value ? psprintf("%g", e->value)
						: psprintf("%.15g", e->second),
						of_value ? psprintf("feature %.0f of ", e->second) : "",
						gnngp_id_text(&s->r->data->ids, e->node)),
				 errhint("%s", hints[k])));
	}
}

void
gnngp_require_feature_number(const gnngp_table *table, const gnngp_column *column)
{
	if (!gnngp_is_integer_type(column->base))
		gnngp_wrong_type(table, column, "an integer type",
						 "The first three columns are the node, the number of the feature and the value.");
}

gnngp_sparse_reading *
gnngp_plan_sparse(gnngp_reader *r)
{
	const gnngp_table *table = &r->sparse;

	if (!OidIsValid(table->oid))
		return NULL;
	gnngp_sparse_reading *s = palloc0(sizeof(gnngp_sparse_reading));
	s->r = r;
	gnngp_query_init(&s->query, table);
	gnngp_finder_init(&s->node, r, &s->query, gnngp_table_column_name(table, 0));
	s->number = gnngp_table_column(table, gnngp_table_column_name(table, 1));
	gnngp_require_feature_number(table, &s->number);
	s->value = gnngp_table_number(table, gnngp_table_column_name(table, 2));
	gnngp_query_add(&s->query, s->number.base, "t.%s", s->number.quoted);
	gnngp_query_add_number(&s->query, &s->value);
	if (r->some)
		gnngp_query_some(r, &s->query, &s->node.column);
	gnngp_query_plan(&s->query);
	return s;
}

void
gnngp_read_sparse(gnngp_sparse_reading *s)
{
	gnngp_reader *r = s->r;
	gnngp_data *data = r->data;
	int32		repeated_node,
				repeated_feature;

	s->builder = gp_features_create(r->env, data->ids.n, 0, GP_FLOAT);
	s->query.array = r->some_ids;
	gnngp_reader_run(r, &s->query, entry_row, s, GP_PHASE_FEATURES);
	gnngp_check_nulls(&r->sparse, &s->node.column, s->node.nulls,
					  "Remove the row, or name its node.");
	gnngp_finder_check_unknown(&s->node);
	check_entries(s);
	if (s->entries == 0 && !r->some)
		gnngp_raise(DATA_EXCEPTION, "Fill the table, or create the graph without features.",
					"table \"%s\" has no features", r->sparse.name);
	data->features = s->entries > 0 ?
		gp_features_build(s->builder, &repeated_node, &repeated_feature) :
		gp_features_of_csr(r->env, gp_csr_create(r->env, data->ids.n, 1, 0, GP_FLOAT));
	if (data->features == NULL)
		gnngp_raise(UNIQUE_VIOLATION,
					"Each feature of a node may have one row: remove the others, or sum them in a view.",
					"table \"%s\" repeats feature %d of node %s", r->sparse.name, repeated_feature,
					gnngp_id_text(&data->ids, repeated_node));
	if (r->some)
		data->features = gp_features_widen(r->env, data->features, data->ids.n, r->dims);
	gnngp_scale_features(r, gnngp_scale(r->def, GP_SCALE_NONE));
	pfree(s);
}

/*
 * read_packed.c - rows of a table on several servers, as one array for each column.
 *
 * What comes to this node a row at a time costs it several times as much as the same numbers in
 * arrays, which Citus makes where the rows are.  The rows are then handed on one by one, as if they had come
 * so: whoever takes them finds the same faults in them.
 */
#include "postgres.h"

#include "pg/server/server.h"
#include "pg/reader/reader_internal.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define MOST_ROWS INT64CONST(16000000)
#define MOST_BYTES 268435456.0	/* of one column */
#define CELL_BYTES 40.0			/* of a value, in all its forms together */

struct gnngp_packed
{
	gnngp_reader *r;
	gnngp_query count;			/* rows, the bytes of their texts, then the least and the greatest length of their arrays */
	gnngp_query arrays;			/* rows, then each column */
	const gnngp_query *rows;
	int			columns;
	int64		n;
	int64		text;
	int64		least;
	int64		width;			/* of arrays; 0: none */
	gnngp_row_fn row;
	void	   *state;
	bool		taken;
};

/* The bytes of a row's texts, as an expression. */
static const char *
text_bytes(const gnngp_query *rows)
{
	StringInfoData sum;
	ListCell   *type;
	ListCell   *expression;

	initStringInfo(&sum);
	appendStringInfoString(&sum, "0::bigint");
	forboth(type, rows->types, expression, rows->expressions)
		if (get_typlen(lfirst_oid(type)) < 0 && !OidIsValid(get_element_type(lfirst_oid(type))))
			appendStringInfo(&sum, " + coalesce(pg_catalog.octet_length((%s)::pg_catalog.text), 0)", (char *) lfirst(expression));
	return sum.data;
}

/* Plans the reading of a query's rows in this way; NULL where it does not serve. */
gnngp_packed *
gnngp_plan_packed(gnngp_reader *r, const gnngp_query *rows)
{
	gnngp_packed *p;
	ListCell   *type;
	ListCell   *expression;

	if (!r->integer_ids || r->some || !gnngp_citus_has_table(rows->table->oid) || list_member_oid(rows->types, NUMERICOID) ||
		list_member_oid(rows->types, NUMERICARRAYOID))
		return NULL;
	p = palloc0(sizeof(gnngp_packed));
	p->r = r;
	p->rows = rows;
	p->columns = list_length(rows->types);
	gnngp_query_init(&p->count, rows->table);
	gnngp_query_init(&p->arrays, rows->table);
	gnngp_query_add(&p->count, INT8OID, "pg_catalog.count(*)");
	gnngp_query_add(&p->count, INT8OID, "pg_catalog.sum(%s)::bigint", text_bytes(rows));
	gnngp_query_add(&p->arrays, INT8OID, "pg_catalog.count(*)");
	forboth(type, rows->types, expression, rows->expressions)
	{
		const char *e = lfirst(expression);
		bool		is_array = OidIsValid(get_element_type(lfirst_oid(type)));

		gnngp_query_add(&p->arrays, is_array ? lfirst_oid(type) : get_array_type(lfirst_oid(type)), "pg_catalog.array_agg((%s)::%s)", e,
						gnngp_type_name(lfirst_oid(type)));
		if (!is_array)
			continue;
		gnngp_query_add(&p->count, INT8OID, "pg_catalog.min(CASE WHEN pg_catalog.array_ndims(%s) = 1 AND pg_catalog.array_lower(%s, 1) = 1"
						" THEN pg_catalog.cardinality(%s) ELSE 0 END)::bigint", e, e, e);
		gnngp_query_add(&p->count, INT8OID, "pg_catalog.max(pg_catalog.cardinality(%s))::bigint", e);
	}
	gnngp_query_plan(&p->count);
	gnngp_query_plan(&p->arrays);
	return p;
}

/* Takes the number of rows, and the lengths of arrays. */
static void
count_row(void *state, const Datum *values, const bool *nulls)
{
	gnngp_packed *p = state;

	p->n = DatumGetInt64(values[0]);
	p->text = nulls[1] ? 0 : DatumGetInt64(values[1]);
	if (list_length(p->count.types) > 2)
	{
		p->least = nulls[2] ? 0 : DatumGetInt64(values[2]);
		p->width = nulls[3] ? 0 : DatumGetInt64(values[3]);
	}
}

/* A column that has come. */
typedef struct packed_column
{
	bool		is_array;
	Datum	   *value;			/* of each row; of arrays that of the row in hand */
	bool	   *null;
	const char *element;		/* of arrays */
	size_t		bytes;			/* of a row's */
	ArrayType  *row;
} packed_column;

/* Finds the numbers of arrays; false where they have not the shape that was counted. */
static bool
open_arrays(const gnngp_packed *p, packed_column *c, ArrayType *all, int64 n)
{
	size_t		size = ARR_ELEMTYPE(all) == FLOAT8OID ? sizeof(float8) : sizeof(float4);
	size_t		header = ARR_OVERHEAD_NONULLS(1);

	if (ARR_NDIM(all) != 2 || ARR_DIMS(all)[0] != n || ARR_DIMS(all)[1] != p->width || ARR_HASNULL(all) ||
		(ARR_ELEMTYPE(all) != FLOAT4OID && ARR_ELEMTYPE(all) != FLOAT8OID))
		return false;
	c->element = gnngp_array_data(all);
	c->bytes = size * p->width;
	c->row = palloc0(header + c->bytes);
	SET_VARSIZE(c->row, header + c->bytes);
	c->row->ndim = 1;
	c->row->elemtype = ARR_ELEMTYPE(all);
	ARR_DIMS(c->row)[0] = (int) p->width;
	ARR_LBOUND(c->row)[0] = 1;
	return true;
}

/* Opens a column. */
static bool
open_column(const gnngp_packed *p, packed_column *c, Oid type, Datum value, bool null, int64 n)
{
	ArrayType  *all = null ? NULL : DatumGetArrayTypeP(value);
	int16		length;
	bool		by_value;
	char		align;
	int			count;

	c->is_array = OidIsValid(get_element_type(type));
	if (all == NULL || c->is_array)
		return all != NULL && open_arrays(p, c, all, n);
	if (ARR_NDIM(all) != 1 || ARR_DIMS(all)[0] != n)
		return false;
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(all, type, length, by_value, align, &c->value, &c->null, &count);
	return true;
}

/* Hands the rows on. */
static void
hand_rows(gnngp_packed *p, packed_column *column, int64 n)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gnngp packed row", ALLOCSET_DEFAULT_SIZES);
	Datum	   *values = palloc(sizeof(Datum) * p->columns);
	bool	   *nulls = palloc0(sizeof(bool) * p->columns);
	MemoryContext old = MemoryContextSwitchTo(context);

	for (int64 i = 0; i < n; i++)
	{
		gnngp_poll(i);
		for (int k = 0; k < p->columns; k++)
		{
			packed_column *c = &column[k];

			if (c->is_array)
				memcpy((char *) gnngp_array_data(c->row), c->element + i * c->bytes, c->bytes);
			values[k] = c->is_array ? PointerGetDatum(c->row) : c->value[i];
			nulls[k] = !c->is_array && c->null[i];
		}
		p->row(p->state, values, nulls);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Takes all rows, if they are as they were counted. */
static void
arrays_row(void *state, const Datum *values, const bool *nulls)
{
	gnngp_packed *p = state;
	packed_column *column = palloc0(sizeof(packed_column) * p->columns);
	int64		n = DatumGetInt64(values[0]);
	ListCell   *type;
	int			k = 0;

	p->taken = n > 0 && n <= MOST_ROWS;
	foreach(type, p->rows->types)
	{
		p->taken = p->taken && open_column(p, &column[k], lfirst_oid(type), values[k + 1], nulls[k + 1], n);
		k++;
	}
	if (p->taken)
		hand_rows(p, column, n);
}

/* Reads the rows and hands them on; false, and nothing is handed on, where they have to come one by one. */
bool
gnngp_read_packed(gnngp_packed *p, gnngp_row_fn row, void *state, gp_phase phase)
{
	gp_env	   *env;

	if (p == NULL)
		return false;
	env = p->r->env;
	p->row = row;
	p->state = state;
	gnngp_query_run(&p->count, env, count_row, p, phase, 0);
	if (p->n < 1 || p->n > MOST_ROWS || p->least != p->width || (list_length(p->count.types) > 2 && p->width < 1) ||
		(double) p->text > MOST_BYTES || (double) p->n * p->width * sizeof(float8) > MOST_BYTES ||
		(double) p->n * (p->columns * CELL_BYTES + p->width * 3.0 * sizeof(float8)) + 2.0 * p->text > (double) gnngp_account_left())
		return false;
	gnngp_query_run(&p->arrays, env, arrays_row, p, phase, p->n);
	env->progress(env, phase, p->taken ? p->n : 0, p->n);
	return p->taken;
}

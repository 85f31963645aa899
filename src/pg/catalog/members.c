/*
 * members.c - members of a struct as columns of a catalog's row.
 *
 * A member of type REGROLEOID is a role's oid, which is stored as a gp_role; of
 * JSONBOID and INTERVALOID its text; of TEXTARRAYOID a gnngp_texts; of NAMEARRAYOID a
 * gnngp_source_name; of REGCLASSARRAYOID a gnngp_oids.  Others are what their name says, and
 * TEXTOID reads a column of any type.  NaN is stored as NULL, and so is a list or table that is
 * none.
 */
#include "postgres.h"

#include "catalog_internal.h"

Datum
gnngp_interval_datum(const char *text)
{
	return DirectFunctionCall3(interval_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

int64
gnngp_interval_length(const char *text)
{
	Interval   *i = DatumGetIntervalP(gnngp_interval_datum(text));

	return i->time + ((int64) i->month * 31 + i->day) * USECS_PER_DAY;
}

static gnngp_oids
load_oids(Datum value, bool null)
{
	gnngp_oids	list = {0, NULL};
	Datum	   *elements;
	bool	   *nulls;

	if (null)
		return list;
	list.n = gnngp_array_elements(DatumGetArrayTypePCopy(value), &elements, &nulls);
	list.oid = palloc(sizeof(Oid) * Max(list.n, 1));
	for (int i = 0; i < list.n; i++)
		list.oid[i] = nulls[i] ? InvalidOid : DatumGetObjectId(elements[i]);
	return list;
}

static void
load_member(const gnngp_member *member, void *record)
{
	void	   *at = (char *) record + member->offset;
	HeapTuple	row = SPI_tuptable->vals[0];
	TupleDesc	desc = SPI_tuptable->tupdesc;
	int			column = SPI_fnumber(desc, member->name);
	bool		null;
	Datum		value = SPI_getbinval(row, desc, column, &null);
	gnngp_texts list;

	if (column <= 0)
		elog(ERROR, "column \"%s\" is missing", member->name);
	switch (member->type)
	{
		case REGROLEOID:
			*(Oid *) at = null ? InvalidOid : gnngp_role_read(value);
			break;
		case TEXTOID:
		case JSONBOID:
		case INTERVALOID:
			*(char **) at = SPI_getvalue(row, desc, column);
			break;
		case INT8OID:
		case TIMESTAMPTZOID:
			*(int64 *) at = null ? 0 : DatumGetInt64(value);
			break;
		case INT4OID:
			*(int32 *) at = null ? 0 : DatumGetInt32(value);
			break;
		case FLOAT8OID:
			*(double *) at = null ? NAN : DatumGetFloat8(value);
			break;
		case BOOLOID:
			*(bool *) at = null ? false : DatumGetBool(value);
			break;
		case REGCLASSOID:
			*(Oid *) at = null ? InvalidOid : DatumGetObjectId(value);
			break;
		case REGCLASSARRAYOID:
			*(gnngp_oids *) at = load_oids(value, null);
			break;
		case NAMEARRAYOID:
			list = null ? (gnngp_texts) {0, NULL} : gnngp_texts_of(value);
			*(gnngp_source_name *) at = list.n != 2 ? (gnngp_source_name) {NULL, NULL} :
				(gnngp_source_name) {list.text[0], list.text[1]};
			break;
		default:
			*(gnngp_texts *) at = null ? (gnngp_texts) {0, NULL} : gnngp_texts_of(value);
	}
}

void
gnngp_members_load(const gnngp_member *member, int n, void *record)
{
	for (int i = 0; i < n; i++)
		load_member(&member[i], record);
}

/* The array of a list of texts, or of tables; NULL where there is none. */
static gnngp_param
save_texts(int n, char *const *text)
{
	Datum	   *elements = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
		elements[i] = CStringGetTextDatum(text[i]);
	return (gnngp_param) {TEXTARRAYOID, gnngp_make_array(elements, n, TEXTOID), text == NULL};
}

static gnngp_param
save_oids(const gnngp_oids *list)
{
	Datum	   *elements = palloc(sizeof(Datum) * Max(list->n, 1));

	for (int i = 0; i < list->n; i++)
		elements[i] = ObjectIdGetDatum(list->oid[i]);
	return (gnngp_param) {REGCLASSARRAYOID, gnngp_make_array(elements, list->n, REGCLASSOID),
						  list->oid == NULL};
}

gnngp_param
gnngp_member_save(const gnngp_member *member, const void *record)
{
	const void *at = (const char *) record + member->offset;
	const gnngp_texts *list = at;
	char	   *const *names = at;	/* a text, or the schema and the table of a name */
	gnngp_param out = {.type = member->type};

	switch (member->type)
	{
		case TEXTOID:
		case JSONBOID:
		case INTERVALOID:
			out.null = names[0] == NULL;
			if (out.null)
				break;
			if (out.type == TEXTOID)
				out.value = CStringGetTextDatum(names[0]);
			else if (out.type == JSONBOID)
				out.value = DirectFunctionCall1(jsonb_in, CStringGetDatum(names[0]));
			else
				out.value = gnngp_interval_datum(names[0]);
			break;
		case REGROLEOID:
			return gnngp_role_param(*(const Oid *) at);
		case INT8OID:
		case TIMESTAMPTZOID:
			out.value = Int64GetDatum(*(const int64 *) at);
			out.null = member->null_for_zero && out.value == 0;
			break;
		case INT4OID:
			out.value = Int32GetDatum(*(const int32 *) at);
			out.null = member->null_for_zero && out.value == 0;
			break;
		case FLOAT8OID:
			out.value = Float8GetDatum(*(const double *) at);
			out.null = isnan(*(const double *) at);
			break;
		case BOOLOID:
			out.value = BoolGetDatum(*(const bool *) at);
			break;
		case REGCLASSOID:
			out.value = ObjectIdGetDatum(*(const Oid *) at);
			out.null = !OidIsValid(*(const Oid *) at);
			break;
		case REGCLASSARRAYOID:
			return save_oids(at);
		case NAMEARRAYOID:
			return save_texts(names[1] ? 2 : 0, names[1] ? names : NULL);
		default:
			return save_texts(list->n, list->text);
	}
	return out;
}

int64
gnngp_members_write(const gnngp_kind *kind, const gnngp_member *member, int n,
					const gnngp_param *param, int64 id)
{
	int			first = id == 0 ? 0 : 1;
	StringInfoData names;
	StringInfoData numbers;

	initStringInfo(&names);
	initStringInfo(&numbers);
	for (int i = first; i < n; i++)
	{
		appendStringInfo(&names, "%s%s", i > first ? ", " : "", member[i].name);
		appendStringInfo(&numbers, "%s$%d", i > first ? ", " : "", i + 1);
	}
	gnngp_execute_with(GNNGP_WRITE, id == 0 ?
					   psprintf("INSERT INTO gnngp_internal.%s (%s) VALUES (%s)"
								" ON CONFLICT DO NOTHING RETURNING id", kind->table, names.data,
								numbers.data) :
					   psprintf("UPDATE gnngp_internal.%s SET (%s) = ROW(%s)"
								" WHERE id = " INT64_FORMAT " RETURNING id", kind->table,
								names.data, numbers.data, id), n, param);
	return SPI_processed > 0 ? gnngp_found_int64(0) : 0;
}

/*
 * reader.c - reading the user's tables under one snapshot.
 *
 * Rows go straight from the executor to a callback, without a result table
 * between them.  All queries run read only under the active snapshot, as the
 * graph's owner, who can do nothing but read: the tables may be views that call
 * anybody's functions.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "graph_check.h"
#include "miscadmin.h"
#include "reader_int.h"
#include "tcop/dest.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/uuid.h"

/* Rows between two progress reports. */
#define PROGRESS_ROWS 8192

/* A receiver of rows that hands each to a callback. */
typedef struct row_receiver
{
	DestReceiver pub;
	gnngp_reader *reader;
	gnngp_row_fn row;
	void	   *state;
	gp_phase	phase;
	int64		done;
	int64		total;
} row_receiver;

/* Hands one row to the callback. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	row_receiver *rr = (row_receiver *) self;
	MemoryContext old;

	slot_getallattrs(slot);
	old = MemoryContextSwitchTo(rr->reader->row_context);
	rr->row(rr->state, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(rr->reader->row_context);
	if (++rr->done % PROGRESS_ROWS == 0)
		rr->reader->env->progress(rr->reader->env, rr->phase, rr->done, rr->total);
	return true;
}

/* Nothing to start. */
static void
receive_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

/* Nothing to end: the receiver lives on the stack of gnngp_scan. */
static void
receive_nothing(DestReceiver *self)
{
}

/* Runs a query and hands each row to the callback. */
void
gnngp_scan(gnngp_reader *r, const char *query, gnngp_row_fn row, void *state,
		   gp_phase phase, int64 total)
{
	row_receiver rr;
	SPIExecuteOptions options;
	int			rc;

	memset(&rr, 0, sizeof(rr));
	rr.pub.receiveSlot = receive_row;
	rr.pub.rStartup = receive_startup;
	rr.pub.rShutdown = receive_nothing;
	rr.pub.rDestroy = receive_nothing;
	rr.pub.mydest = DestTuplestore;
	rr.reader = r;
	rr.row = row;
	rr.state = state;
	rr.phase = phase;
	rr.total = total;

	memset(&options, 0, sizeof(options));
	options.read_only = true;
	options.dest = &rr.pub;

	r->env->progress(r->env, phase, 0, total);
	rc = SPI_execute_extended(query, &options);
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "reading a table returned %s", SPI_result_code_string(rc));
	r->env->progress(r->env, phase, rr.done, rr.done);
}

/* The planner's count of a table's rows, for progress; 0 when it is not known. */
int64
gnngp_table_rows(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(oid));
	float4		rows = 0;

	if (HeapTupleIsValid(tuple))
	{
		rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
		ReleaseSysCache(tuple);
	}
	return rows > 0 ? (int64) rows : 0;
}

/* A table by oid; 42P01 when it has been dropped since the graph was created. */
gnngp_table
gnngp_reader_table(Oid oid, const char *role, const gnngp_graph_def *def)
{
	gnngp_table table = {oid, NULL};
	char	   *name = OidIsValid(oid) ? get_rel_name(oid) : NULL;
	char	   *schema = name ? get_namespace_name(get_rel_namespace(oid)) : NULL;

	if (schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the %s table of graph \"%s\" does not exist any more", role, def->name),
				 errhint("Drop the graph with gp_drop_graph and create it again.")));
	table.name = quote_qualified_identifier(schema, name);
	return table;
}

/* A column of a table; 42703 when it has been dropped since. */
gnngp_column
gnngp_reader_column(const gnngp_table *table, const char *name)
{
	gnngp_column column = {name, quote_identifier(name), InvalidOid, InvalidOid};
	AttrNumber	attnum = get_attnum(table->oid, name);

	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist", name, table->name),
				 errhint("Drop the graph with gp_drop_graph and create it again with the right column.")));
	column.type = get_atttype(table->oid, attnum);
	column.base = getBaseType(column.type);
	return column;
}

/*
 * The qualified name of a type of any length: "character" would mean char(1),
 * and a cast to it would cut ids.
 */
char *
gnngp_type_name(Oid type)
{
	return format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY | FORMAT_TYPE_TYPEMOD_GIVEN);
}

/* True for the types whose values are read as integers. */
bool
gnngp_is_integer_type(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

/*
 * The SQL expression of a column that holds ids, and the type of its value: the
 * column itself when it has the type of the node table's ids (or both are
 * integers), else a cast to that type.
 */
const char *
gnngp_id_expression(gnngp_reader *r, const char *alias, const gnngp_column *column, Oid *base)
{
	*base = column->base;
	if (column->base == r->id.base)
		return psprintf("%s.%s", alias, column->quoted);
	if (r->integer_ids && gnngp_is_integer_type(column->base))
		return psprintf("%s.%s", alias, column->quoted);
	*base = r->id.base;
	return psprintf("%s.%s::%s", alias, column->quoted, gnngp_type_name(r->id.base));
}

/* The text of a string, without the padding of char(n). */
static const char *
string_text(Datum value, Oid base, int *length)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

	*length = VARSIZE_ANY_EXHDR(v);
	if (base == BPCHAROID)
		*length = bpchartruelen(VARDATA_ANY(v), *length);
	return VARDATA_ANY(v);
}

/* True for the types whose datum is the text. */
static bool
is_string_type(Oid base)
{
	return base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
}

/* One value for all that are equal: 1.0 is 1 and -0 is 0, though their texts differ. */
static Datum
same_when_equal(Datum value, Oid base)
{
	switch (base)
	{
		case NUMERICOID:
			return DirectFunctionCall1(numeric_trim_scale, value);
		case FLOAT8OID:
			return Float8GetDatum(DatumGetFloat8(value) + 0.0);
		case FLOAT4OID:
			return Float4GetDatum(DatumGetFloat4(value) + 0.0f);
	}
	return value;
}

/* The text of a value. */
const char *
gnngp_value_text(Datum value, Oid base, int *length)
{
	Oid			output;
	bool		is_varlena;
	char	   *text;

	if (is_string_type(base))
		return string_text(value, base, length);
	getTypeOutputInfo(base, &output, &is_varlena);
	text = OidOutputFunctionCall(output, same_when_equal(value, base));
	*length = strlen(text);
	return text;
}

/* The text of a uuid, as its output function writes it but several times as fast. */
static const char *
uuid_text(Datum value, int *length)
{
	static const char digits[] = "0123456789abcdef";
	const pg_uuid_t *uuid = DatumGetUUIDP(value);
	char	   *text = palloc(2 * UUID_LEN + 4);
	char	   *p = text;

	for (int i = 0; i < UUID_LEN; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = digits[uuid->data[i] >> 4];
		*p++ = digits[uuid->data[i] & 15];
	}
	*length = p - text;
	return text;
}

/* The text of an id that is no integer: the same, with the output function at hand. */
const char *
gnngp_id_datum_text(gnngp_reader *r, Datum value, int *length)
{
	char	   *text;

	if (r->string_ids)
		return string_text(value, r->id.base, length);
	if (r->id.base == UUIDOID)
		return uuid_text(value, length);
	text = OutputFunctionCall(&r->id_output, same_when_equal(value, r->id.base));
	*length = strlen(text);
	return text;
}

/* The id of a node, for messages. */
char *
gnngp_id_text(const gnngp_ids *ids, int64 node)
{
	if (ids->integer)
		return psprintf(INT64_FORMAT, ids->key[node]);
	return pstrdup(ids->text[node]);
}

/* Pins the settings that the texts of dates, times, floats, money and the like depend on. */
void
gnngp_pin_output_settings(void)
{
	static const char *const pins[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"DateStyle", "ISO, YMD"},
		{"IntervalStyle", "postgres"},
		{"extra_float_digits", "1"},
		{"bytea_output", "hex"},
		{"TimeZone", "UTC"},
		{"lc_monetary", "C"},
	};

	for (int i = 0; i < (int) lengthof(pins); i++)
		(void) set_config_option(pins[i][0], pins[i][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
}

/* 42804: a column has been given a type that does not serve. */
static void
wrong_type(const gnngp_table *table, const gnngp_column *column, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of table \"%s\" has type %s, not %s", column->name, table->name,
					format_type_be(column->type), expected),
			 errhint("Use a view that casts the column.")));
}

/* A column of numbers; 42804 when it has been given another type since. */
gnngp_column
gnngp_reader_number(const gnngp_table *table, const char *name)
{
	gnngp_column column = gnngp_reader_column(table, name);

	if (!gnngp_is_number_type(column.base))
		wrong_type(table, &column, "a numeric type");
	return column;
}

/* The SQL expression of a number, to be taken by gnngp_number_datum. */
const char *
gnngp_number_expression(const char *alias, const gnngp_column *column)
{
	return psprintf(column->base == NUMERICOID ? "%s.%s" : "%s.%s::pg_catalog.float8", alias,
					column->quoted);
}

/* Prepares a finder for one column of ids. */
void
gnngp_finder_init(gnngp_finder *f, gnngp_reader *r, const gnngp_table *table,
				  const char *alias, const char *column)
{
	memset(f, 0, sizeof(*f));
	f->r = r;
	f->table = table;
	f->column = gnngp_reader_column(table, column);
	if (!gnngp_matches_id_type(f->column.base, r->id.base))
		wrong_type(table, &f->column,
				   psprintf("%s, the type of column \"%s\" of table \"%s\"",
							format_type_be(r->id.type), r->id.name, r->nodes.name));
	f->expression = gnngp_id_expression(r, alias, &f->column, &f->base);
}

/* Remembers an unknown id when it is the smallest so far. */
static void
remember_unknown(gnngp_finder *f, int64 key, const char *text, int length)
{
	bool		smaller;
	char	   *copy = text ? pnstrdup(text, length) : NULL;

	if (f->unknown++ == 0)
		smaller = true;
	else if (text)
		smaller = strcmp(copy, f->unknown_text) < 0;
	else
		smaller = key < f->unknown_key;
	if (!smaller)
		return;
	f->unknown_key = key;
	if (text)
		f->unknown_text = MemoryContextStrdup(GetMemoryChunkContext(f->r->data), copy);
}

/* Finds texts, and keeps account of NULLs and unknown ids. */
int32
gnngp_finder_find_slow(gnngp_finder *f, Datum value, bool null)
{
	const char *text = NULL;
	int			length = 0;
	int32		node = -1;

	if (null)
	{
		f->nulls++;
		return -1;
	}
	if (!f->r->integer_ids)
	{
		text = gnngp_id_datum_text(f->r, value, &length);
		node = gnngp_idmap_find_text(&f->r->map, text, length);
	}
	if (node < 0)
		remember_unknown(f, text ? 0 : gnngp_integer_datum(value, f->base), text, length);
	return node;
}

/* 23502 when the column held NULLs. */
void
gnngp_finder_check_nulls(const gnngp_finder *f, const char *hint)
{
	if (f->nulls > 0)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("column \"%s\" of table \"%s\" contains NULL", f->column.name, f->table->name),
				 errdetail_plural("%lld row has no value in this column.",
								  "%lld rows have no value in this column.",
								  f->nulls, (long long) f->nulls),
				 errhint("%s", hint)));
}

/* 23503 when the column held ids that are not in the node table. */
void
gnngp_finder_check_unknown(const gnngp_finder *f)
{
	if (f->unknown > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
				 errmsg("column \"%s\" of table \"%s\" names a node that table \"%s\" does not have: %s",
						f->column.name, f->table->name, f->r->nodes.name,
						f->unknown_text ? f->unknown_text
						: psprintf(INT64_FORMAT, f->unknown_key)),
				 errdetail_plural("%lld row names an unknown node.",
								  "%lld rows name unknown nodes.",
								  f->unknown, (long long) f->unknown),
				 errhint("Add the node to \"%s\" or remove the row.", f->r->nodes.name)));
}

/* Looks up the tables and the type of the ids. */
static void
open_reader(gnngp_reader *r, gp_env *env, const gnngp_graph_def *def)
{
	Oid			output;
	bool		is_varlena;
	const char *type_name;

	memset(r, 0, sizeof(*r));
	r->env = env;
	r->def = def;
	r->nodes = gnngp_reader_table(def->nodes, "node", def);
	r->edges = gnngp_reader_table(def->edges, "edge", def);
	if (OidIsValid(def->sparse_features))
		r->sparse = gnngp_reader_table(def->sparse_features, "feature", def);
	r->id = gnngp_reader_column(&r->nodes, def->id_column);
	r->integer_ids = gnngp_is_integer_type(r->id.base);
	r->string_ids = is_string_type(r->id.base);
	getTypeOutputInfo(r->id.base, &output, &is_varlena);
	fmgr_info(output, &r->id_output);
	r->row_context = AllocSetContextCreate(CurrentMemoryContext, "gnngp row",
										   ALLOCSET_DEFAULT_SIZES);

	type_name = gnngp_type_name(r->id.type);
	r->data = palloc0(sizeof(gnngp_data));
	r->data->ids.integer = r->integer_ids;
	r->data->ids.type_name = gp_alloc(env, strlen(type_name) + 1);
	strcpy(r->data->ids.type_name, type_name);
}

/* Reads the tables; the user has been switched and SPI is connected. */
static void
read_tables(gnngp_reader *r, const char *task, bool need_target)
{
	gnngp_read_nodes(r, task, need_target);
	gnngp_idmap_build(r->env, &r->map, &r->data->ids);
	gnngp_read_features(r);
	gnngp_read_edges(r);
	gnngp_idmap_free(r->env, &r->map);
}

/* Reads everything as the owner of the graph, and restores the caller's identity. */
gnngp_data *
gnngp_read(gp_env *env, const gnngp_graph_def *graph, const char *task, bool need_target)
{
	gnngp_reader *r;
	gnngp_data *data;
	Oid			owner = gnngp_owner_role(graph->owner, "graph", graph->name);
	Oid			save_user;
	int			save_context;
	int			guc_level;

	GetUserIdAndSecContext(&save_user, &save_context);
	SetUserIdAndSecContext(owner, save_context | SECURITY_RESTRICTED_OPERATION);
	guc_level = NewGUCNestLevel();
	gnngp_pin_output_settings();
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");

	r = palloc(sizeof(gnngp_reader));
	open_reader(r, env, graph);
	read_tables(r, task, need_target);
	data = gp_alloc(env, sizeof(gnngp_data));
	*data = *r->data;

	SPI_finish();
	AtEOXact_GUC(false, guc_level);
	SetUserIdAndSecContext(save_user, save_context);
	return data;
}

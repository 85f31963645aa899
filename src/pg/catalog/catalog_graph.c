/*
 * catalog_graph.c - rows of gp_graph_catalog.
 *
 * One table says which column holds which member of gnngp_graph_def.
 */
#include "postgres.h"

#include <stddef.h>

#include "catalog/pg_type_d.h"
#include "catalog_internal.h"
#include "members.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#define COLUMN(name, type, member) {name, type, offsetof(gnngp_graph_def, member)}

/* The id is not here: nobody writes it. */
static const gnngp_member columns[] = {
	COLUMN("owner", REGROLEOID, owner_role),
	COLUMN("name", TEXTOID, name),
	COLUMN("nodes", REGCLASSOID, nodes),
	COLUMN("edges", REGCLASSOID, edges),
	COLUMN("id_column", TEXTOID, id_column),
	COLUMN("features", TEXTARRAYOID, features),
	COLUMN("target", TEXTOID, target),
	COLUMN("src", TEXTOID, src),
	COLUMN("dst", TEXTOID, dst),
	COLUMN("weight", TEXTOID, weight),
	COLUMN("directed", BOOLOID, directed),
	COLUMN("sparse_features", REGCLASSOID, sparse_features),
	COLUMN("scale", TEXTOID, scale),
	COLUMN("time_column", TEXTOID, time),
	COLUMN("nodes_name", NAMEARRAYOID, nodes_name),
	COLUMN("edges_name", NAMEARRAYOID, edges_name),
	COLUMN("sparse_features_name", NAMEARRAYOID, sparse_name),
	COLUMN("kinds", TEXTOID, kinds),
};

#define NCOLUMNS ((int) lengthof(columns))

static const gnngp_member id_column = COLUMN("id", INT8OID, id);
static const gnngp_member owner_text = COLUMN("owner", TEXTOID, owner);

/* The columns of a look-up. */
static const char *
lookup_list(void)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < NCOLUMNS; i++)
	{
		bool		is_list = columns[i].type == TEXTARRAYOID || columns[i].type == NAMEARRAYOID;

		appendStringInfo(&list, "%s%s, ", columns[i].name, is_list ? "::text[]" : "");
	}
	appendStringInfoString(&list, "id");
	return list.data;
}

/* Turns the row in hand into a definition in context. */
static gnngp_graph_def *
load_graph(MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	gnngp_graph_def *def = palloc0(sizeof(gnngp_graph_def));

	for (int i = 0; i < NCOLUMNS; i++)
		gnngp_member_load(&columns[i], def);
	gnngp_member_load(&owner_text, def);
	gnngp_member_load(&id_column, def);
	if (def->features.n < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the row of graph \"%s\" in %s is damaged: a feature is NULL", def->name,
						gnngp_graph_kind.table),
				 errhint("Create the graph again with gp_create_graph.")));
	MemoryContextSwitchTo(old);
	return def;
}

gnngp_graph_def *
gnngp_own_graph(const char *name)
{
	MemoryContext context = CurrentMemoryContext;
	gnngp_graph_def *def;

	gnngp_spi_connect();
	(void) gnngp_find_named(&gnngp_graph_kind, lookup_list(), name, false);
	def = load_graph(context);
	gnngp_spi_finish();
	gnngp_require_owner(def->owner_role, "graph", def->name);
	return def;
}

gnngp_graph_def *
gnngp_graph_by_id(int64 id)
{
	MemoryContext context = CurrentMemoryContext;
	gnngp_graph_def *def;

	gnngp_spi_connect();
	gnngp_find_id(&gnngp_graph_kind, lookup_list(), id);
	def = load_graph(context);
	gnngp_spi_finish();
	return def;
}

/*
 * Looks up a graph of the caller's and locks it. Another session may have changed its row since the statement began, so that
 * it is read again as it is now: what is written back must not undo that.
 */
gnngp_graph_def *
gnngp_graph_to_change(const char *name)
{
	gnngp_graph_def *def = gnngp_own_graph(name);

	gnngp_spi_connect();
	(void) gnngp_lock_whole_graph(def);
	gnngp_spi_finish();
	PushActiveSnapshot(GetLatestSnapshot());
	def = gnngp_graph_by_id(def->id);
	PopActiveSnapshot();
	return def;
}

/*
 * Writes a row by a statement in which $1 is the first member, or the id in its place,
 * and the others follow; true when there is such a row.
 */
static bool
write_row(const gnngp_graph_def *def, const gnngp_member *first, const char *query)
{
	Oid			types[NCOLUMNS];
	Datum		values[NCOLUMNS];
	char		nulls[NCOLUMNS];
	bool		null;

	for (int i = 0; i < NCOLUMNS; i++)
	{
		const gnngp_member *member = i == 0 ? first : &columns[i];

		types[i] = gnngp_member_type(member);
		values[i] = gnngp_member_save(member, def, &null);
		nulls[i] = null ? 'n' : ' ';
	}
	gnngp_execute_as_extension(query, NCOLUMNS, types, values, nulls);
	return SPI_processed == 1;
}

/* Appends the columns from one on, and the parameters that they are written from. */
static void
append_columns(StringInfo query, int first, const char *between)
{
	for (int i = first; i < NCOLUMNS; i++)
		appendStringInfo(query, "%s%s", i > first ? ", " : "(", columns[i].name);
	appendStringInfoString(query, between);
	for (int i = first; i < NCOLUMNS; i++)
		appendStringInfo(query, "%s$%d", i > first ? ", " : "(", i + 1);
}

bool
gnngp_graph_insert(const gnngp_graph_def *def)
{
	StringInfoData query;
	bool		inserted;

	initStringInfo(&query);
	appendStringInfo(&query, "INSERT INTO %s.%s ", gnngp_schema(), gnngp_graph_kind.table);
	append_columns(&query, 0, ") VALUES ");
	appendStringInfo(&query, ") ON CONFLICT (name, %s.gp_role_oid(owner)) DO NOTHING", gnngp_schema());
	gnngp_spi_connect();
	inserted = write_row(def, &columns[0], query.data);
	gnngp_spi_finish();
	return inserted;
}

void
gnngp_graph_update(const gnngp_graph_def *def)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query, "UPDATE %s.%s SET ", gnngp_schema(), gnngp_graph_kind.table);
	append_columns(&query, 1, ") = ");
	appendStringInfoString(&query, ") WHERE id = $1");
	gnngp_spi_connect();
	(void) write_row(def, &id_column, query.data);
	gnngp_spi_finish();
}

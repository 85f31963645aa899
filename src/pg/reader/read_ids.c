/*
 * read_ids.c - ids as rows bring them: their text, and the nodes that they mean.
 */
#include "postgres.h"

#include "catalog/catalog.h"
#include "catalog/pg_operator.h"
#include "read_ids.h"
#include "utils/rls.h"
#include "utils/typcache.h"

Oid
gnngp_query_add_id(const gnngp_reader *r, gnngp_query *q, const gnngp_column *column)
{
	if (column->base == r->id.base || (r->integer_ids && gnngp_is_integer_type(column->base)))
	{
		gnngp_query_add(q, column->base, "t.%s", column->quoted);
		return column->base;
	}
	gnngp_query_add(q, r->id.base, "t.%s::%s", column->quoted, gnngp_type_name(r->id.base));
	return r->id.base;
}

void
gnngp_query_some(const gnngp_reader *r, gnngp_query *q, const gnngp_column *column)
{
	Oid			base = r->integer_ids ? INT8OID : r->id.base;
	const char *value = psprintf("t.%s", column->quoted);
	TypeCacheEntry *type = lookup_type_cache(base, TYPECACHE_EQ_OPR);

	if (column->base != r->id.base && !r->integer_ids)
		value = psprintf("%s::%s", value, gnngp_type_name(r->id.base));
	if (r->integer_ids)
	{
		q->where = psprintf("%s = ANY ($1)", value);
		q->array_type = INT8ARRAYOID;
		return;
	}
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(type->eq_opr));
	if (!HeapTupleIsValid(tuple) || !OidIsValid(get_array_type(base)))
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"The type needs an equality operator; gp_predict gives all nodes.",
					"nodes of type %s cannot be looked up", format_type_be(base));
	Form_pg_operator operator = (Form_pg_operator) GETSTRUCT(tuple);
	q->where = psprintf("%s OPERATOR(%s.%s) ANY ($1)", value,
						quote_identifier(get_namespace_name(operator->oprnamespace)),
						NameStr(operator->oprname));
	q->array_type = get_array_type(base);
	ReleaseSysCache(tuple);
}

void
gnngp_finder_init(gnngp_finder *f, gnngp_reader *r, gnngp_query *q, const char *column)
{
	memset(f, 0, sizeof(*f));
	f->r = r;
	f->query = q;
	f->column = gnngp_table_column(q->table, column);
	gnngp_require_reference(q->table, &f->column, &r->nodes, &r->id);
	f->base = gnngp_query_add_id(r, q, &f->column);
}

int32
gnngp_finder_find_slow(gnngp_finder *f, Datum value, bool null)
{
	if (null)
	{
		f->nulls++;
		return -1;
	}
	int32		node = gnngp_finder_try(f, value, false);
	if (node >= 0)
		return node;
	/* Remembers the smallest that is unknown */
	gnngp_id	id = gnngp_datum_id(value, f->base, &f->r->id_output);
	const char *text = id.text ? gnngp_id_name(&id) : NULL;
	if (text && (f->unknown == 0 || strcmp(text, f->unknown_text) < 0))
		f->unknown_text = MemoryContextStrdup(GetMemoryChunkContext(f->r->data), text);
	if (f->unknown == 0 || id.key < f->unknown_key)
		f->unknown_key = id.key;
	f->unknown++;
	return -1;
}

void
gnngp_check_nulls(const gnngp_table *table, const gnngp_column *column, int64 nulls,
				  const char *hint)
{
	if (nulls > 0)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("column \"%s\" of table \"%s\" contains NULL", column->name, table->name),
				 errdetail_plural("%lld row has no value in this column.",
								  "%lld rows have no value in this column.",
								  nulls, (long long) nulls),
				 errhint("%s", hint)));
}

/*
 * Says how unknown ids can be mended. Nobody adds nodes to the server's own tables; row security
 * may hide those that are there; several queries of READ COMMITTED see several moments of other
 * nodes.
 */
void
gnngp_finder_check_unknown(const gnngp_finder *f)
{
	const gnngp_table *nodes = &f->r->nodes;
	bool		moments = !IsolationUsesXactSnapshot() &&
		(f->r->nodes_apart || gnngp_query_is_apart(f->query));
	bool		hidden = check_enable_rls(nodes->oid, InvalidOid, true) == RLS_ENABLED;
	const char *view = psprintf("a view on \"%s\" that leaves such rows out.", f->query->table->name);
	StringInfoData hint;

	if (f->unknown == 0)
		return;
	initStringInfo(&hint);
	if (IsCatalogNamespace(get_rel_namespace(nodes->oid)))
		appendStringInfo(&hint, "Use %s", view);
	else
		appendStringInfo(&hint, "Add the node to \"%s\", remove the row, or use %s", nodes->name,
						 view);
	if (hidden)
		appendStringInfo(&hint,
						 " The policies of table \"%s\" may hide the node from role \"%s\", as which it is read.", nodes->name, GetUserNameFromId(GetUserId(), false));
	if (moments)
		appendStringInfoString(&hint,
							   " If the tables changed while they were read, use a transaction of ISOLATION LEVEL REPEATABLE READ.");
	ereport(ERROR,
			(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
			 errmsg("column \"%s\" of table \"%s\" names a node that table \"%s\" does not have: %s",
					f->column.name, f->query->table->name, nodes->name,
					f->unknown_text ? f->unknown_text : psprintf(INT64_FORMAT, f->unknown_key)),
			 errdetail_plural("%lld row names an unknown node.",
							  "%lld rows name unknown nodes.",
							  f->unknown, (long long) f->unknown),
			 errhint("%s", hint.data)));
}

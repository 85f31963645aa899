/*
 * schema_shape.c - what of a graph's tables is used, and a hash of all that.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "schema_internal.h"

bool
gnngp_leave_table_out(gnngp_schema *s, int table)
{
	gnngp_schema_table *t = &s->table[table];
	bool		known = false;
	bool		any = false;

	for (int k = 0; k < t->ncolumns; k++)
	{
		gnngp_schema_column *c = &t->column[k];

		if (c->role != GNNGP_COLUMN_CELL)
			continue;
		known = known || c->known;
		any = any || !c->known;
		c->role = c->known ? c->role : GNNGP_COLUMN_GATHERED;
	}
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].child == table && !known)
			s->relation[r].aside = any = true;
	return any;
}

bool
gnngp_is_used(const gnngp_schema *s, int table)
{
	const gnngp_schema_table *t = &s->table[table];
	bool		used = t->left_out == NULL && t->later == NULL;

	for (int k = 0; k < t->ncolumns && !used; k++)
		used = t->column[k].role == GNNGP_COLUMN_CELL || t->column[k].role == GNNGP_COLUMN_TARGET;
	for (int r = 0; r < s->nrelations && !used; r++)
		used = s->relation[r].child == table || s->relation[r].parent == table;
	return used;
}

/* A column of a shape; place -1: none. */
static const char *
column_shape(const gnngp_schema_table *t, int place, bool by_number)
{
	return place < 0 ? "-" : !by_number ? t->column[place].column.name :
		psprintf("%d", t->column[place].number);
}

uint64
gnngp_schema_shape(const gnngp_schema *s, bool by_number)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];

		appendStringInfo(&text, "%s %s\n", by_number ? psprintf("%u", t->table.oid) : t->table.name,
						 column_shape(t, t->time, by_number));
		if (t->hidden && gnngp_is_used(s, i))
			appendStringInfoString(&text, "hidden\n");
		for (int k = 0; k < t->ncolumns && gnngp_is_used(s, i); k++)
			if (t->column[k].role != GNNGP_COLUMN_EXCLUDED &&
				t->column[k].role != GNNGP_COLUMN_ANSWER)
				appendStringInfo(&text, "%s %s %d\n", column_shape(t, k, by_number),
								 gnngp_type_name(t->column[k].column.base), t->column[k].role);
	}
	for (int r = 0; r < s->nrelations; r++)
	{
		const gnngp_schema_relation *relation = &s->relation[r];

		appendStringInfo(&text, "%d %d\n", relation->child, relation->parent);
		for (int k = 0; k < relation->n; k++)
			appendStringInfo(&text, "%s %s\n",
							 column_shape(&s->table[relation->child], relation->from[k], by_number),
							 column_shape(&s->table[relation->parent], relation->to[k], by_number));
	}
	return hash_bytes_extended((unsigned char *) text.data, text.len, 0);
}

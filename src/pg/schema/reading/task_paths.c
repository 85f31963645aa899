/*
 * task_paths.c - what rows without time refer to: a paper to its venue, at once, and to its authors
 * by the rows of the table between them.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "task_reading.h"

/* Pairs of a row and what it refers to, of one path. */
typedef struct path_rows
{
	gnngp_task_reading *r;
	Oid			id_type;
	Oid			key_type;
	gp_metapath_pair *pair;
	int64		n;
	int64		room;
} path_rows;

static void
pair_row(void *state, const Datum *values, const bool *nulls)
{
	path_rows  *p = state;
	gnngp_task_reading *r = p->r;
	int32		entity = gnngp_key_number(&r->entities, values[0], nulls[0], p->id_type);
	gp_time		at = gnngp_time_of(values[2], nulls[2]);

	if (entity < 0 || nulls[1])
		return;
	gnngp_id	key = gnngp_datum_id(values[1], p->key_type, NULL);
	/* Of a text key its digest, so that none is made to pass for another */
	uint64		number = key.text ? gnngp_word_hash(key.text, key.length) : (uint64) key.key;
	for (int64 k = r->row_start[entity]; k < r->row_start[entity + 1]; k++)
	{
		if (at >= r->as_of[r->row_of[k]])
			continue;
		GP_GROW(r->env, p->pair, p->n, p->room);
		p->pair[p->n++] = (gp_metapath_pair) {number, r->row_of[k]};
	}
}

/*
 * Reads a path: what a table's rows refer to by a relation, the table being the entities' or its
 * child by another.
 */
static void
read_path(gnngp_task_reading *r, gp_metapath *metapath, const gnngp_schema_relation *by,
		  const gnngp_schema_relation *to)
{
	const gnngp_schema_table *t = &r->schema->table[to->child];
	const gnngp_schema_table *entities = &r->schema->table[r->entity];
	path_rows	p = {.r = r};
	gnngp_query q;

	gnngp_query_init(&q, &t->table);
	p.id_type = gnngp_query_add_key(&q, entities, by ? "e" : "t", 1, &r->id);
	p.key_type = gnngp_query_add_key(&q, t, "t", to->n, to->from);
	r->timeless_path |= t->time < 0;
	gnngp_query_add_text(&q, TIMESTAMPTZOID, gnngp_time_expression(t, "t"));
	if (by)
		q.joins = psprintf(" JOIN %s e ON %s", entities->table.quoted, gnngp_join_equals(r->schema, by, "t", "e"));
	q.condition = gnngp_key_condition(t, "t", to->n, to->from);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, r->env, pair_row, &p, GP_PHASE_EDGES, gnngp_table_rows(&t->table));
	r->read += p.n;
	gp_metapath_add(metapath, gnngp_keep_text(r->env, by ? psprintf("%s, %s", to->name, by->name) :
										to->name), p.n, p.pair);
	gp_free(r->env, p.pair);
}

gp_metapath *
gnngp_reading_paths(gnngp_task_reading *r)
{
	const gnngp_schema *s = r->schema;
	gp_metapath *metapath = gp_metapath_create(r->env, r->n);

	for (int k = 0; k < s->nrelations; k++)
	{
		if (s->relation[k].child == r->entity)
			read_path(r, metapath, NULL, &s->relation[k]);
		for (int i = 0; s->relation[k].parent == r->entity && i < s->nrelations; i++)
			if (i != k && s->relation[i].child == s->relation[k].child)
				read_path(r, metapath, &s->relation[k], &s->relation[i]);
	}
	return metapath;
}

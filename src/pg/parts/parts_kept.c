/*
 * parts_kept.c - packed edges that stay from one refresh to the next, while their rows are the same.
 *
 * A refresh marks the edges by their number and two sums of hashes of their values, which do not depend on who wrote
 * rows when, or where they lie: tables, views and tables of Citus have a mark alike, by one pass that moves no
 * row.  Where it is that of the last refresh, so are the edges, and they are taken as they were packed
 * then.  Into which parts does not matter: whoever multiplies takes them all.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "parts_int.h"
#include "utils/builtins.h"

/* Takes the mark. */
static void
take_mark(void *state, const Datum *values, const bool *nulls)
{
	gnngp_parts *p = state;

	if (!nulls[0])
		strlcpy(p->mark, TextDatumGetCString(values[0]), sizeof(p->mark));
}

/* One of the sums, over rows n, with columns of these names; NULLs count as rows. */
static const char *
sum_hashes(const char *src, const char *dst, const char *weight, int seed)
{
	const char *ends = psprintf("pg_catalog.hashint8extended(n.%s::bigint, pg_catalog.hashint8extended(n.%s::bigint, %d))", src, dst, seed);

	return psprintf("pg_catalog.sum(%s)", weight ? psprintf("pg_catalog.hashfloat8extended(n.%s::pg_catalog.float8, %s)", weight, ends) : ends);
}

/* What marks rows n. */
const char *
gnngp_parts_mark(const char *src, const char *dst, const char *weight)
{
	return psprintf("pg_catalog.count(*), %s, %s", sum_hashes(src, dst, weight, 1), sum_hashes(src, dst, weight, 2));
}

/* Asks for a mark. */
static void
ask_mark(gnngp_parts *p, const char *sums, const char *table)
{
	Oid			type = TEXTOID;
	gnngp_place_taker taker = {take_mark, p, 1, &type};

	p->mark[0] = '\0';
	gnngp_place_query(&p->place, psprintf("SELECT pg_catalog.concat_ws(':', '%s', %s) FROM %s AS n", p->src->weight ? "weights" : "ends",
										  sums, table), 0, NULL, NULL, &taker);
}

/* The table of the last refresh where it has the edges of today, else NULL. */
const char *
gnngp_parts_kept(gnngp_parts *p)
{
	const gnngp_sources *s = p->src;

	if (p->keep == NULL)
		return NULL;
	ask_mark(p, gnngp_parts_mark(s->src, s->dst, s->weight), s->edges);
	if (p->listed || p->mark[0] == '\0' || p->keep->edges_mark == NULL || strcmp(p->mark, p->keep->edges_mark) != 0)
		return NULL;
	p->kept = gnngp_edges_open(p->keep);
	return p->kept;
}

/* Keeps the edges that were packed, which are good. */
void
gnngp_parts_keep(gnngp_parts *p)
{
	const char *table;
	const char *fill;

	if (p->keep == NULL || p->kept)
		return;
	/* Servers of Citus have no moment that they share: what counts is what was packed. */
	ask_mark(p, "pg_catalog.sum(n.n), pg_catalog.sum(n.a), pg_catalog.sum(n.b)", p->graph);
	table = p->listed ? "kept" : gnngp_edges_renew(p->keep, p->graph_def, p->src->spread, p->mark);
	if (table == NULL)
		return;
	fill = psprintf("INSERT INTO %s SELECT t.part, t.g, t.bad FROM %s AS t", table, p->graph);
	if (!p->listed)
		gnngp_place_execute(&p->place, fill, 0, NULL, NULL);
	gnngp_place_count_statement(&p->place, fill);
}

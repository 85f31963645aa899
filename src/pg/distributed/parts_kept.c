/*
 * parts_kept.c - packed edges that stay from one refresh to the next, while their rows are the same.
 *
 * A refresh marks the edges by their number and two sums of hashes of their values, which do not depend on who wrote
 * rows when, or where they lie: tables, views and tables of Citus have a mark alike, by one pass that moves no
 * row.  Where it is that of the parts that were kept, all together, so are the edges, and they are taken as they were packed
 * then.  Into which parts does not matter: whoever multiplies takes them all.  The marks lie in the owner's table alone: the
 * difference of two of them tells which edge has come.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "parts_internal.h"
#include "utils/builtins.h"

#define MARK_BYTES 128			/* three sums with their signs */

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

/* Takes a mark. */
static void
take_mark(void *state, const Datum *values, const bool *nulls)
{
	if (!nulls[0])
		strlcpy(state, TextDatumGetCString(values[0]), MARK_BYTES);
}

/* Asks for a mark: empty where there are no rows. */
static void
ask_mark(gnngp_parts *p, char *mark, const char *sums, const char *table)
{
	Oid			type = TEXTOID;
	gnngp_place_taker taker = {take_mark, mark, 1, &type};

	mark[0] = '\0';
	gnngp_place_query(&p->place, psprintf("SELECT pg_catalog.concat_ws(':', %s) FROM %s AS n", sums, table), 0, NULL, NULL, &taker);
}

/*
 * The table of the last refresh where it has the edges of today, else NULL.  Its rows are asked, not what somebody remembers of
 * them: it may have been emptied, or restored without its rows.
 */
const char *
gnngp_parts_kept(gnngp_parts *p)
{
	const gnngp_sources *s = p->src;
	const char *table;
	char		kept[MARK_BYTES];
	char		today[MARK_BYTES];

	if (p->keep == NULL || !OidIsValid(p->keep->edges_kept))
		return NULL;
	table = p->listed ? "kept" : gnngp_edges_open(p->keep);
	if (table == NULL)
		return NULL;
	ask_mark(p, kept, "pg_catalog.sum(n.n), pg_catalog.sum(n.a), pg_catalog.sum(n.b)", table);
	ask_mark(p, today, gnngp_parts_mark(s->src, s->dst, s->weight), s->edges);
	if (p->listed || kept[0] == '\0' || strcmp(kept, today) != 0)
		return NULL;
	p->kept = table;
	return p->kept;
}

/*
 * Keeps the edges that were packed, which are good, each part with the mark of its rows.  Servers of Citus have no moment that
 * they share: what counts is what was packed.
 */
void
gnngp_parts_keep(gnngp_parts *p)
{
	const char *table;
	const char *fill;

	if (p->keep == NULL || p->kept)
		return;
	table = p->listed ? "kept" : gnngp_edges_renew(p->keep, p->graph_def, p->src->spread);
	if (table == NULL)
		return;
	fill = psprintf("INSERT INTO %s (part, g, bad, n, a, b) SELECT t.part, t.g, t.bad, t.n, t.a, t.b FROM %s AS t", table, p->graph);
	if (!p->listed)
		gnngp_place_execute(&p->place, fill, 0, NULL, NULL);
	gnngp_place_count_statement(&p->place, fill);
}

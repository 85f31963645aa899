/*
 * parts_rows.c - between tables and the device: a few rows one way, small matrices the other.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "core/base/sort.h"
#include "parts_internal.h"
#include "utils/array.h"
#include "utils/builtins.h"

/* Rows that are gathered. */
typedef struct gathering
{
	gnngp_parts *p;
	const int32 *node;
	int64		n;
	int64		found;
	gp_matrix	host;			/* double */
	bool	   *taken;			/* places of nodes: what user code has put into a table may come twice */
} gathering;

/* Takes some rows. */
static void
take_rows(void *state, const Datum *values, const bool *nulls)
{
	gathering  *g = state;
	gnngp_table_value m;

	if (nulls[0])
		return;
	m = gnngp_matrix_read(values[0]);
	if (m.cols != g->host.cols)
		gnngp_matrix_refuse("A part has another number of columns than the first one.");
	for (int64 i = 0; i < m.ids.n; i++)
	{
		int64		at = gp_sorted_find(g->node, g->n, gnngp_source_node(g->p->src, gnngp_value_id(&m.ids, i)));
		double	   *row = (double *) g->host.data + at * m.cols;

		if (at < 0)
			gnngp_matrix_refuse("A part has a row that was not asked for.");
		if (g->taken[at])
			gnngp_matrix_refuse("A row comes twice.");
		g->taken[at] = true;
		for (int64 j = 0; j < m.cols; j++)
			row[j] = m.wide ? gnngp_get_float8(m.value + (i * m.cols + j) * sizeof(double)) :
				gnngp_get_float4(m.value + (i * m.cols + j) * sizeof(float));
		g->found++;
	}
}

/* The ids of nodes, and the parts that they lie in. */
void
gnngp_parts_places(const gnngp_parts *p, const int32 *node, int64 n, Datum *values)
{
	Datum	   *id = palloc(n * sizeof(Datum));
	Datum	   *part = palloc(n * sizeof(Datum));
	int			parts = 0;
	int64		at = 0;

	for (int64 i = 0; i < n; i++)
	{
		int64		key = p->src->data->ids.key[node[i]];

		id[i] = Int64GetDatum(key);
		while (at < p->parts - 1 && p->bound[at] <= key)
			at++;
		if (parts == 0 || DatumGetInt32(part[parts - 1]) != at)
			part[parts++] = Int32GetDatum((int32) at);
	}
	values[0] = PointerGetDatum(construct_array(id, (int) n, INT8OID, 8, true, TYPALIGN_DOUBLE));
	values[1] = PointerGetDatum(construct_array(part, parts, INT4OID, 4, true, TYPALIGN_INT));
}

/* Gathers rows. */
gp_matrix
gnngp_parts_gather(gnngp_parts *p, const char *table, const int32 *node, int64 n, int64 cols)
{
	gp_env	   *env = p->ev.env;
	Oid			types[] = {INT8ARRAYOID, INT4ARRAYOID};
	Datum		values[2] = {0};
	gathering	g = {.p = p,.node = node,.n = n};
	Oid			type = gnngp_type("gp_matrix");
	gnngp_place_taker taker = {take_rows, &g, 1, &type};
	const char *query = psprintf("SELECT %s.gp_rows(t.m, $1) FROM %s AS t WHERE t.part = ANY ($2)", p->schema, table);
	gp_matrix	out;

	if (p->listed)
	{
		gnngp_place_query(&p->place, query, 2, types, values, &taker);
		return (gp_matrix) {0};
	}
	g.host = gp_matrix_wrap(gp_alloc_array(env, (int64) gp_size_mul(env, n, cols), sizeof(double)), n, cols, GP_DOUBLE);
	g.taken = gp_alloc_zero(env, n, sizeof(bool));
	gnngp_parts_places(p, node, n, values);
	gnngp_place_query(&p->place, query, 2, types, values, &taker);
	if (g.found != n)
		gnngp_matrix_refuse("A row is missing.");
	out = p->ev.dev->create(p->ev.dev, n, cols, GP_DOUBLE);
	p->ev.dev->upload(p->ev.dev, out, g.host);
	gp_free(env, g.taken);
	gp_free(env, g.host.data);
	return out;
}

/* Frees a matrix. */
void
gnngp_parts_free(gnngp_parts *p, gp_matrix *m)
{
	if (!p->listed)
		p->ev.dev->destroy(p->ev.dev, m);
}

/* Copies a matrix to everybody. */
const char *
gnngp_parts_copy(gnngp_parts *p, const char *what, gp_matrix m, gp_type type, const int32 *node)
{
	const char *name = psprintf("%s%d", what, ++p->place.made);
	gnngp_value_ids ids = {.n = m.rows};
	gp_matrix	host;

	if (p->listed)
		return gnngp_place_matrix(&p->place, name);
	host = gp_matrix_wrap(gp_alloc_array(p->ev.env, m.rows * m.cols, gp_type_size(type)), m.rows, m.cols, type);
	p->ev.dev->download(p->ev.dev, host, m);
	if (node)
	{
		ids.id = palloc(m.rows * sizeof(int64));
		for (int64 i = 0; i < m.rows; i++)
			ids.id[i] = p->src->data->ids.key[node[i]];
		ids.first = ids.id[0];
		ids = gnngp_value_ids_part(&ids, 0, ids.n);
	}
	p->place.verbs->copy(&p->place, name, gnngp_matrix_write(&ids, host));
	gp_free(p->ev.env, host.data);
	return gnngp_place_matrix(&p->place, name);
}

/* True when no panel has a root or a value. */
static bool
is_plain(const gp_factor *f)
{
	for (int b = 0; b < f->npanels; b++)
		if (f->panel[b].root.data || f->panel[b].value != 1.0)
			return false;
	return true;
}

/* The combined root. */
gp_matrix
gnngp_parts_root(gnngp_parts *p, const gp_factor *f, const gp_matrix *l)
{
	gp_device  *dev = p->ev.dev;
	int64		rank = gp_factor_rank(f);
	gp_matrix	right;
	gp_matrix	out;
	int64		at = 0;

	if (p->listed || (l == NULL && is_plain(f)))
		return (gp_matrix) {0};
	right = dev->create(dev, rank, rank, GP_DOUBLE);
	out = dev->create(dev, rank, rank, GP_DOUBLE);
	dev->fill(dev, right, 0.0);
	if (l)
		dev->copy(dev, right, *l);
	else
		dev->shift(dev, gp_matrix_diagonal(right), 1.0);
	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *panel = &f->panel[b];
		gp_matrix	from = gp_matrix_rows(right, at, panel->p.cols);
		gp_matrix	to = gp_matrix_rows(out, at, panel->p.cols);

		if (panel->root.data)
			dev->gemm(dev, false, false, 1.0 / sqrt(panel->value), panel->root, from, 0.0, to);
		else
			dev->axpby(dev, 1.0 / sqrt(panel->value), from, 0.0, to);
		at += panel->p.cols;
	}
	dev->destroy(dev, &right);
	return out;
}

/* Rows of panels as rows of Q. */
void
gnngp_parts_whiten(gnngp_parts *p, const gp_factor *f, gp_matrix x)
{
	int64		at = 0;

	for (int b = 0; b < f->npanels && !p->listed; b++)
	{
		gp_panel_apply_root(p->ev.dev, &f->panel[b], false, gp_matrix_cols(x, at, f->panel[b].p.cols));
		at += f->panel[b].p.cols;
	}
}

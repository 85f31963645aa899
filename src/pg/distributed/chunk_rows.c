/*
 * chunk_rows.c - between tables and the device: rows one way, small matrices the other.
 */
#include "postgres.h"

#include "core/base/sort.h"
#include "distributed_internal.h"

const char *
gnngp_chunk_table(gnngp_dfit *d, const char *what, const char *more, int64 cols)
{
	const char *table = gnngp_placement_table(&d->placement, what);

	gnngp_placement_create(&d->placement, table,
						   psprintf("chunk integer, %sm gnngp_internal.gp_matrix", more));
	d->written += (double) d->n * cols * sizeof(float);
	return table;
}

typedef struct collection
{
	const gnngp_dfit *d;
	const int32 *node;			/* n of them, ascending; NULL: all */
	int64		n;
	int64		cols;
	double	   *value;			/* n x cols */
	double	   *norm;			/* n, behind them in a row; or NULL */
	double	   *present;		/* n, behind that; or NULL */
	int64		found;
} collection;

static void
collect_rows(void *state, const Datum *values, const bool *nulls)
{
	collection *c = state;
	gnngp_table_value m;

	if (nulls[0])
		return;
	m = gnngp_matrix_read(values[0]);
	if (m.cols != c->cols + (c->norm ? 2 : 0) || (c->norm && !m.wide))
		gnngp_matrix_refuse("A chunk has another number of columns than the first one.");
	for (int64 i = 0; i < m.ids.n; i++)
	{
		int64		at = gnngp_source_node(c->d->src, gnngp_value_id(&m.ids, i));
		const unsigned char *row = m.value + i * m.cols * (m.wide ? sizeof(double) : sizeof(float));

		gnngp_poll(i);
		if (c->node)
			at = gp_sorted_find(c->node, c->n, (int32) at);
		if (at < 0)
			gnngp_matrix_refuse("A chunk has a row that was not asked for.");
		for (int64 j = 0; j < c->cols; j++)
			c->value[at * c->cols + j] = m.wide ? gnngp_get_float8(row + j * sizeof(double)) :
				gnngp_get_float4(row + j * sizeof(float));
		if (c->norm)
		{
			c->norm[at] = gnngp_get_float8(row + c->cols * sizeof(double));
			c->present[at] = gnngp_get_float8(row + (c->cols + 1) * sizeof(double));
		}
	}
	c->found += m.ids.n;
}

/* Runs a query of matrices and collects their rows, of which none may be missing. */
static void
collect(gnngp_dfit *d, collection *c, const char *query, int nargs, Oid *types, Datum *values)
{
	Oid			type = gnngp_type("gp_matrix");
	gnngp_rows	rows = {.row = collect_rows,.state = c,.n = 1,.types = &type};

	gnngp_placement_query(&d->placement, query, nargs, types, values, &rows);
	if (!d->listed && c->found != c->n)
		gnngp_matrix_refuse("A row is missing.");
}

gp_matrix
gnngp_chunk_gather(gnngp_dfit *d, const char *table, const int32 *node, int64 n, int64 cols)
{
	gp_env	   *env = d->ev.env;
	collection	c = {.d = d,.node = node,.n = n,.cols = cols};
	const char *query =
		psprintf("SELECT gnngp_internal.gp_rows(t.m, $1) FROM %s AS t WHERE t.chunk = ANY ($2)",
				 table);
	Oid			types[] = {INT8ARRAYOID, INT4ARRAYOID};
	Datum		values[2] = {0};
	Datum	   *id;
	Datum	   *chunk;
	int			chunks = 0;
	int64		at = 0;
	gp_matrix	out;

	if (d->listed)
	{
		collect(d, &c, query, 2, types, values);
		return (gp_matrix) {0};
	}
	/* The ids of the nodes, and the chunks that they lie in. */
	id = palloc(n * sizeof(Datum));
	chunk = palloc(n * sizeof(Datum));
	for (int64 i = 0; i < n; i++)
	{
		int64		key = d->src->data->ids.key[node[i]];

		id[i] = Int64GetDatum(key);
		while (at < d->chunks - 1 && d->bound[at] <= key)
			at++;
		if (chunks == 0 || DatumGetInt32(chunk[chunks - 1]) != at)
			chunk[chunks++] = Int32GetDatum((int32) at);
	}
	values[0] = gnngp_make_array(id, (int) n, INT8OID);
	values[1] = gnngp_make_array(chunk, chunks, INT4OID);
	c.value = gp_alloc_zero(env, (int64_t) gp_size_mul(env, n, cols), sizeof(double));
	collect(d, &c, query, 2, types, values);
	out = d->ev.dev->create(d->ev.dev, n, cols, GP_DOUBLE);
	d->ev.dev->upload(d->ev.dev, out, gp_matrix_wrap(c.value, n, cols, GP_DOUBLE));
	gp_free(env, c.value);
	return out;
}

void
gnngp_chunk_predict(gnngp_dfit *d, const char *table, gp_matrix weights, gp_matrix root,
					int32 columns, double *mean, double *norm, double *present)
{
	const char *w = gnngp_chunk_copy(d, "weights", weights, GP_DOUBLE, NULL);
	const char *r = gnngp_chunk_copy(d, "root", root, GP_DOUBLE, NULL);
	collection	c = {.d = d,.n = d->n,.cols = columns,.value = mean,.norm = norm,
					 .present = present};

	d->placement.phase = GP_PHASE_POSTERIOR;
	collect(d, &c, psprintf("SELECT gnngp_internal.gp_apply(t.m, %s, %s) FROM %s AS t", w, r, table),
			0, NULL, NULL);
}

const char *
gnngp_chunk_labelled(gnngp_dfit *d, const double *y, int32 columns)
{
	const gnngp_data *data = d->src->data;
	const char *table = gnngp_chunk_table(d, "labelled", "", columns);
	Oid			types[] = {INT4OID, INT4OID, gnngp_type("gp_matrix")};
	gnngp_value_ids all = {.n = data->nlabelled,
						   .id = palloc(Max(data->nlabelled, 1) * sizeof(int64))};
	int64		first = 0;
	int64		n;

	for (int64 k = 0; k < data->nlabelled; k++)
		all.id[k] = data->ids.key[data->labelled[k]];
	for (int64 chunk = 0; chunk < d->chunks && !d->listed; chunk++, first += n)
	{
		gnngp_value_ids ids;
		Datum		values[3];

		n = gnngp_rows_of_chunk(&all, first, d->bound, (int) d->chunks - 1, (int) chunk);
		if (n == 0)
			continue;
		ids = gnngp_value_ids_part(&all, first, n);
		values[0] = Int32GetDatum(gnngp_placement_key_of(&d->placement, chunk));
		values[1] = Int32GetDatum((int32) chunk);
		values[2] = gnngp_matrix_write(&ids, gp_matrix_wrap((double *) y + first * columns, n,
															columns, GP_DOUBLE));
		gnngp_placement_execute(&d->placement, psprintf("INSERT INTO %s VALUES ($1, $2, $3)",
														table), 3, types, values);
		pfree(DatumGetPointer(values[2]));
	}
	pfree(all.id);
	return table;
}

void
gnngp_chunk_free(gnngp_dfit *d, gp_matrix *m)
{
	if (!d->listed)
		d->ev.dev->destroy(d->ev.dev, m);
}

const char *
gnngp_chunk_copy(gnngp_dfit *d, const char *what, gp_matrix m, gp_type type, const int32 *node)
{
	const char *name = psprintf("%s%d", what, ++d->placement.made);
	gnngp_value_ids ids = {.n = m.rows};
	gp_matrix	host;

	if (d->listed)
		return gnngp_placement_matrix(&d->placement, name);
	host = gp_matrix_wrap(gp_alloc_array(d->ev.env, m.rows * m.cols, gp_type_size(type)), m.rows,
						  m.cols, type);
	d->ev.dev->download(d->ev.dev, host, m);
	if (node)
	{
		ids.id = palloc(m.rows * sizeof(int64));
		for (int64 i = 0; i < m.rows; i++)
			ids.id[i] = d->src->data->ids.key[node[i]];
		ids.first = ids.id[0];
		ids = gnngp_value_ids_part(&ids, 0, ids.n);
	}
	gnngp_placement_copy(&d->placement, name, gnngp_matrix_write(&ids, host));
	gp_free(d->ev.env, host.data);
	return gnngp_placement_matrix(&d->placement, name);
}

gp_matrix
gnngp_chunk_root(gnngp_dfit *d, const gp_factor *f, const gp_matrix *l)
{
	gp_device  *dev = d->ev.dev;
	int64		rank = gp_factor_rank(f);
	bool		plain = l == NULL;
	gp_matrix	right;
	gp_matrix	out;
	int64		at = 0;

	for (int b = 0; b < f->npanels; b++)
		plain = plain && f->panel[b].root.data == NULL && f->panel[b].value == 1.0;
	if (d->listed || plain)
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

void
gnngp_chunk_whiten(gnngp_dfit *d, const gp_factor *f, gp_matrix x)
{
	int64		at = 0;

	for (int b = 0; b < f->npanels && !d->listed; b++)
	{
		gp_panel_apply_root(d->ev.dev, &f->panel[b], false,
							gp_matrix_cols(x, at, f->panel[b].p.cols));
		at += f->panel[b].p.cols;
	}
}

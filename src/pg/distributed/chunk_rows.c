/*
 * chunk_rows.c - between tables and the device: rows one way, small matrices the other.
 */
#include "postgres.h"

#include "distributed_internal.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

const char *
gnngp_chunk_table(gnngp_table_fit *d, const char *what, const char *more, int64 cols)
{
	const char *table = gnngp_placement_table(&d->placement, what);

	gnngp_placement_create(&d->placement, table,
						   psprintf("chunk integer, %sm gnngp_internal.gp_matrix", more));
	d->written += (double) d->n * cols * sizeof(float);
	return table;
}

const char *
gnngp_chunk_call(const gnngp_chunked_factor *f, const char *m, const char *landmarks,
				 const char *weights)
{
	if (f->arg == NULL)
		return m;
	m = gnngp_chunk_call(f->arg, m, NULL, NULL);
	if (f->kernel == NULL)
		return psprintf("gnngp_internal.gp_apply(%s, %s)", m, f->weights);
	return psprintf("gnngp_internal.gp_step(%s, %s, %s, %s, %s)", m, f->kernel,
					landmarks ? landmarks : f->landmarks, f->root, weights ? weights : "NULL");
}

typedef struct collection
{
	const gnngp_table_fit *d;
	const int32 *node;			/* n of them, ascending; NULL: all */
	int64		n;
	int64		cols;
	double	   *value;			/* n x cols, or */
	gp_kept_rows kept;			/* of all nodes, whose chunks have one behind the other */
	int64		found;
} collection;

static void
collect_rows(void *state, const Datum *values, const bool *nulls)
{
	collection *c = state;
	double	   *rows = c->value;
	int64		first = 0;		/* of these rows */

	if (nulls[0])
		return;
	gnngp_table_value m = gnngp_matrix_read(values[0]);
	if (m.cols != c->cols)
		gnngp_matrix_refuse("A chunk has another number of columns than the first one.");
	if (c->kept.move)
	{
		rows = MemoryContextAllocHuge(CurrentMemoryContext, m.ids.n * m.cols * sizeof(double));
		first = gnngp_value_find(&c->d->ids, m.ids.first);
	}
	for (int64 i = 0; i < m.ids.n; i++)
	{
		int64		at = gnngp_value_find(&c->d->ids, gnngp_value_id(&m.ids, i));
		const unsigned char *row = m.value + i * m.cols * (m.wide ? sizeof(double) : sizeof(float));

		gnngp_poll(i);
		if (c->node)
			at = gp_sorted_find(c->node, c->n, (int32) at);
		if (at < 0 || (c->kept.move && at != first + i))
			gnngp_matrix_refuse("A chunk has a row that was not asked for.");
		for (int64 j = 0; j < c->cols; j++)
			rows[(at - first) * c->cols + j] = m.wide ? gnngp_get_float8(row + j * sizeof(double)) :
				gnngp_get_float4(row + j * sizeof(float));
	}
	if (c->kept.move)
		c->kept.move(c->kept.state, first, m.ids.n, rows, true);
	c->found += m.ids.n;
}

/* Runs a query of matrices and collects their rows, of which none may be missing. */
static void
collect(gnngp_table_fit *d, collection *c, const char *query)
{
	Oid			type = gnngp_type("gp_matrix");
	gnngp_sink	rows = {.row = collect_rows,.state = c,.n = 1,.types = &type};

	gnngp_placement_query(&d->placement, query, &rows);
	if (!d->placement.listed && c->found != c->n)
		gnngp_matrix_refuse("A row is missing.");
}

/* Rows of numbers in a temporary file, which the server deletes when it is closed. */
typedef struct row_file
{
	File		file;
	int64		cols;
} row_file;

/* Unlike that of a BufFile this writes nothing, so it raises nothing while an error is handled. */
static void
close_file(void *file)
{
	FileClose(((const row_file *) file)->file);
	pfree(file);
}

static void
move_rows(void *state, int64 first, int64 n, double *rows, bool write)
{
	const row_file *f = state;
	off_t		at = first * f->cols * (int64) sizeof(double);
	off_t		end = at + n * f->cols * (int64) sizeof(double);

	for (char *data = (char *) rows; at < end;)
	{
		int			piece = Min(end - at, 1 << 30);
		int			moved = write ? FileWrite(f->file, data, piece, at, WAIT_EVENT_BUFFILE_WRITE) :
			FileRead(f->file, data, piece, at, WAIT_EVENT_BUFFILE_READ);

		if (moved < 0)
			ereport(ERROR, (errcode_for_file_access(),
							errmsg("could not %s a temporary file: %m", write ? "write" : "read")));
		if (moved == 0)
			elog(ERROR, "a temporary file ends too early");
		data += moved;
		at += moved;
	}
}

/* It outlives the transaction: a refresh stores what it has in a later one. */
static row_file *
make_file(gp_env *env, int64 cols)
{
	row_file   *f = MemoryContextAlloc(TopMemoryContext, sizeof(row_file));

	*f = (row_file) {OpenTemporaryFile(true), cols};
	env->own(env, close_file, f);
	return f;
}

gp_kept_rows
gnngp_chunk_collect(gnngp_table_fit *d, const char *query, int64 cols)
{
	collection	c = {.d = d,.n = d->n,.cols = cols};

	if (!d->placement.listed)
		c.kept = (gp_kept_rows) {make_file(d->ev.env, cols), move_rows};
	collect(d, &c, query);
	return c.kept;
}

const char *
gnngp_chunk_ids(const gnngp_table_fit *d, const int32 *node, int64 n)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "'{");
	for (int64 i = 0; i < n && !d->placement.listed; i++)
		appendStringInfo(&text, "%s" INT64_FORMAT, i > 0 ? "," : "",
						 d->sources->data->ids.key[node[i]]);
	appendStringInfoString(&text, "}'::bigint[]");
	return text.data;
}

/* Some rows of a factor in a query; chunks without one of them give NULL. */
static const char *
rows_of(gnngp_table_fit *d, const gnngp_chunked_factor *f, const int32 *node, int64 n)
{
	return gnngp_chunk_call(f, psprintf("gnngp_internal.gp_rows(t.m, %s)",
										gnngp_chunk_ids(d, node, n)), NULL, NULL);
}

void
gnngp_chunk_products(gnngp_table_fit *d, const gnngp_chunked_factor *f, gp_matrix w, int32 columns,
					 double *value)
{
	const gnngp_data *data = d->sources->data;
	collection	c = {.d = d,.node = data->labelled,.n = data->nlabelled,.cols = 1 + columns,
	.value = value};

	collect(d, &c, psprintf("SELECT gnngp_internal.gp_squares(gnngp_internal.gp_apply(%s, %s), " INT64_FORMAT ") FROM %s AS t",
							rows_of(d, f, c.node, c.n),
							gnngp_chunk_copy(d, "weights", w, GP_DOUBLE, NULL), w.cols - columns,
							f->table));
}

gp_matrix
gnngp_chunk_gather(gnngp_table_fit *d, const gnngp_chunked_factor *f, const int32 *node, int64 n)
{
	gp_env	   *env = d->ev.env;
	collection	c = {.d = d,.node = node,.n = n,.cols = gp_factor_rank(f->f)};
	gp_matrix	out = {.rows = n,.cols = c.cols};

	if (!d->placement.listed)
		c.value = gp_alloc_zero(env, (int64_t) gp_size_mul(env, n, c.cols), sizeof(double));
	collect(d, &c, psprintf("SELECT %s FROM %s AS t", rows_of(d, f, node, n), f->table));
	if (d->placement.listed)
		return out;
	out = d->ev.dev->create(d->ev.dev, n, c.cols, GP_DOUBLE);
	d->ev.dev->upload(d->ev.dev, out, gp_matrix_wrap(c.value, n, c.cols, GP_DOUBLE));
	gp_free(env, c.value);
	return out;
}

void
gnngp_chunk_insert(gnngp_table_fit *d, const char *table, int64 number, int64 chunk, Datum matrix)
{
	Oid			types[] = {INT4OID, INT4OID, gnngp_type("gp_matrix")};
	Datum		values[] = {Int32GetDatum(gnngp_placement_key_of(&d->placement, number)),
		Int32GetDatum((int32) chunk), matrix};

	gnngp_placement_execute(&d->placement, psprintf("INSERT INTO %s VALUES ($1, $2, $3)", table), 3,
							types, values);
	pfree(DatumGetPointer(matrix));
}

const char *
gnngp_chunk_labelled(gnngp_table_fit *d, const double *y, int32 columns)
{
	const gnngp_data *data = d->sources->data;
	const char *table = gnngp_chunk_table(d, "labelled", "", columns);
	gnngp_value_ids all = {.n = data->nlabelled,
						   .id = palloc(Max(data->nlabelled, 1) * sizeof(int64))};
	int64		first = 0;
	int64		n;

	for (int64 k = 0; k < data->nlabelled; k++)
		all.id[k] = data->ids.key[data->labelled[k]];
	for (int64 chunk = 0; chunk < d->chunks && !d->placement.listed; chunk++, first += n)
	{
		n = gnngp_rows_of_chunk(&all, first, d->bound, (int) d->chunks - 1, (int) chunk);
		if (n == 0)
			continue;
		gnngp_value_ids ids = gnngp_value_ids_part(&all, first, n);
		gp_matrix	part = gp_matrix_wrap((double *) y + first * columns, n, columns, GP_DOUBLE);
		gnngp_chunk_insert(d, table, chunk, chunk, gnngp_matrix_write(&ids, part));
	}
	pfree(all.id);
	return table;
}

void
gnngp_chunk_free(gnngp_table_fit *d, gp_matrix *m)
{
	if (!d->placement.listed)
		d->ev.dev->destroy(d->ev.dev, m);
}

Datum
gnngp_chunk_value(gnngp_table_fit *d, gp_matrix m, gp_type type, const int32 *node)
{
	gnngp_value_ids ids = {.n = m.rows};
	gp_matrix	host = gp_matrix_wrap(gp_alloc_array(d->ev.env, m.rows * m.cols,
													 gp_type_size(type)), m.rows, m.cols, type);

	d->ev.dev->download(d->ev.dev, host, m);
	if (node)
	{
		ids.id = palloc(m.rows * sizeof(int64));
		for (int64 i = 0; i < m.rows; i++)
			ids.id[i] = d->sources->data->ids.key[node[i]];
		ids.first = ids.id[0];
		ids = gnngp_value_ids_part(&ids, 0, ids.n);
	}
	Datum		value = gnngp_matrix_write(&ids, host);
	gp_free(d->ev.env, host.data);
	return value;
}

const char *
gnngp_chunk_copy(gnngp_table_fit *d, const char *what, gp_matrix m, gp_type type, const int32 *node)
{
	const char *name = psprintf("%s%d", what, ++d->placement.made);

	if (!d->placement.listed)
		gnngp_placement_copy(&d->placement, name, gnngp_chunk_value(d, m, type, node));
	return gnngp_placement_matrix(&d->placement, name);
}

gp_matrix
gnngp_chunk_root(gnngp_table_fit *d, const gp_factor *f)
{
	gp_device  *dev = d->ev.dev;
	int64		rank = gp_factor_rank(f);
	bool		plain = true;
	int64		at = 0;

	for (int b = 0; b < f->npanels; b++)
		plain = plain && f->panel[b].root.data == NULL && f->panel[b].value == 1.0;
	if (d->placement.listed || plain)
		return (gp_matrix) {0};
	gp_matrix	out = dev->create(dev, rank, rank, GP_DOUBLE);
	dev->fill(dev, out, 0.0);
	for (int b = 0; b < f->npanels; at += f->panel[b++].p.cols)
	{
		const gp_panel *panel = &f->panel[b];
		int64		cols = panel->p.cols;
		gp_matrix	to = gp_matrix_cols(gp_matrix_rows(out, at, cols), at, cols);

		if (panel->root.data)
			dev->axpby(dev, 1.0 / sqrt(panel->value), panel->root, 0.0, to);
		else
			dev->shift(dev, gp_matrix_diagonal(to), 1.0 / sqrt(panel->value));
	}
	return out;
}

void
gnngp_chunk_whiten(gnngp_table_fit *d, const gp_factor *f, gp_matrix x)
{
	int64		at = 0;

	for (int b = 0; b < f->npanels && !d->placement.listed; b++)
	{
		gp_panel_solve(d->ev.dev, &f->panel[b], false,
							gp_matrix_cols(x, at, f->panel[b].p.cols));
		at += f->panel[b].p.cols;
	}
}

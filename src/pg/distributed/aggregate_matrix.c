/*
 * aggregate_matrix.c - matrices of many pieces, as gp_glue and gp_operate take them, and gp_gram.
 *
 * Pieces are kept as they come and put together at the end, each freed as it is copied: rows
 * under rows in the order of their ids, or columns beside columns in the order of a number that
 * comes with each.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "pg/types/aggregate_state.h"
#include "distributed_internal.h"

/* A piece of a matrix, and what it is ordered by. */
typedef struct piece
{
	int64		key;			/* first: it is sorted by */
	void	   *bytes;
	gnngp_table_value m;
} piece;

struct gnngp_pieces
{
	gnngp_holding held;
	MemoryContext context;
	double		bytes;
	int64		n;
	int64		room;
	piece	   *piece;
};

gnngp_pieces *
gnngp_pieces_create(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gnngp matrices",
												  ALLOCSET_DEFAULT_SIZES);
	gnngp_pieces *p = MemoryContextAllocZero(context, sizeof(gnngp_pieces));

	p->context = context;
	return p;
}

void
gnngp_pieces_add(gnngp_pieces *p, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(p->context);

	CHECK_FOR_INTERRUPTS();
	p->bytes += toast_raw_datum_size(value);
	gnngp_value_hold(&p->held, p->context, p->bytes, p->bytes, "the pieces of a matrix");
	if (p->n == p->room)
	{
		p->room = Max(2 * p->room, 16);
		p->piece = gnngp_value_grow(p->context, p->piece, p->room * sizeof(piece));
	}
	piece	   *new = &p->piece[p->n++];
	new->bytes = PG_DETOAST_DATUM_COPY(value);
	new->m = gnngp_matrix_read(PointerGetDatum(new->bytes));
	new->key = new->m.ids.first;
	MemoryContextSwitchTo(old);
}

/* The ids of all pieces, which must ascend. */
static gnngp_value_ids
stacked_ids(const gnngp_pieces *p)
{
	gnngp_value_ids ids = {0};
	int64		at = 0;

	for (int64 k = 0; k < p->n; k++)
		ids.n += p->piece[k].m.ids.n;
	ids.id = MemoryContextAllocHuge(p->context, ids.n * sizeof(int64));
	for (int64 k = 0; k < p->n; k++)
		for (int64 i = 0; i < p->piece[k].m.ids.n; i++, at++)
		{
			gnngp_poll(at);
			ids.id[at] = gnngp_value_id(&p->piece[k].m.ids, i);
			if (at > 0 && ids.id[at] <= ids.id[at - 1])
				gnngp_matrix_refuse("Pieces have no ids between those of others.");
		}
	ids.first = ids.id[0];
	return gnngp_value_ids_part(&ids, 0, ids.n);
}

gp_matrix
gnngp_pieces_join(gnngp_pieces *p, gp_env *env, bool beside, gnngp_value_ids *ids)
{
	bool		wide = p->piece[0].m.wide;
	size_t		size = wide ? sizeof(double) : sizeof(float);
	int64		cols = 0;
	int64		at = 0;			/* of the next piece: numbers from the first one */

	gnngp_sort(p->piece, p->n, sizeof(piece), gp_compare_int64, NULL);
	*ids = beside ? p->piece[0].m.ids : stacked_ids(p);
	for (int64 k = 0; k < (beside ? p->n : 1); k++)
		cols += p->piece[k].m.cols;
	char	   *data = gp_alloc_array(env, (int64) gp_size_mul(env, ids->n, cols), size);
	for (int64 k = 0; k < p->n; k++)
	{
		const gnngp_table_value *m = &p->piece[k].m;

		CHECK_FOR_INTERRUPTS();
		if (beside && (m->wide != wide || !gnngp_value_ids_equal(ids, &m->ids)))
			gnngp_matrix_refuse("Matrices that are glued have the same ids, and one precision.");
		if (!beside && (m->wide != wide || m->cols != cols))
			gnngp_matrix_refuse("Pieces have as many columns each, of one precision.");
		for (int64 i = 0; i < m->ids.n; i++)
			memcpy(data + (at + i * cols) * size, m->value + i * m->cols * size, m->cols * size);
		at += beside ? m->cols : m->ids.n * cols;
		pfree(p->piece[k].bytes);
	}
	gnngp_turn_numbers(data, ids->n * cols * size, size);
	gnngp_account_hold(&p->held, p->context, 0);
	return gp_matrix_wrap(data, ids->n, cols, wide ? GP_DOUBLE : GP_FLOAT);
}

/* The step of gp_glue: a place, and a matrix. */
GNNGP_FUNCTION(gnngp_glue_accum)
{
	MemoryContext context = gnngp_aggregate_context(fcinfo, "gp_glue");
	gnngp_pieces *p = PG_ARGISNULL(0) ? gnngp_pieces_create(context)
		: (gnngp_pieces *) PG_GETARG_POINTER(0);

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		gnngp_aggregate_null(PG_ARGISNULL(1) ? "place" : "matrix");
	gnngp_pieces_add(p, PG_GETARG_DATUM(2));
	p->piece[p->n - 1].key = PG_GETARG_INT32(1);
	PG_RETURN_POINTER(p);
}

/* Each partition of a table keeps the state of its last group until the statement ends, so that a
 * state is emptied. */
GNNGP_FUNCTION(gnngp_glue_final)
{
	gnngp_pieces *p = (gnngp_pieces *) PG_GETARG_POINTER(0);
	gnngp_value_ids ids;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_matrix	all = gnngp_pieces_join(p, env, true, &ids);
	Datum		result = gnngp_matrix_write(&ids, all);

	gnngp_env_destroy(env);
	MemoryContextDelete(p->context);
	gnngp_trim_memory();
	PG_RETURN_DATUM(result);
}

/* ---- gp_gram ---- */

/* The state of gp_gram: Q'Q beside Q'y. */
typedef struct gram_sums
{
	gp_env	   *env;
	gp_matrix	gram;
	gp_matrix	qty;
} gram_sums;

/* gp_gram's step: state, rows, y, root */
GNNGP_FUNCTION(gnngp_gram_accum)
{
	MemoryContext context = gnngp_aggregate_context(fcinfo, "gp_gram");
	gram_sums  *s = PG_ARGISNULL(0) ? NULL : (gram_sums *) PG_GETARG_POINTER(0);
	gp_device  *dev;
	gp_matrix	root;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		gnngp_aggregate_null(PG_ARGISNULL(1) ? "rows" : "y");
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_table_value m = gnngp_matrix_read(PG_GETARG_DATUM(1));
	gnngp_table_value y = gnngp_matrix_read(PG_GETARG_DATUM(2));
	gnngp_value_ids ids = y.ids;
	bool		rooted = gnngp_root_argument(fcinfo, env, m.cols, &root);
	if (s == NULL)
	{
		gp_env	   *own = gnngp_env_create(context);

		s = gp_alloc(own, sizeof(gram_sums));
		double	   *value = gp_alloc_zero(own, m.cols * (m.cols + y.cols), sizeof(double));
		gp_matrix	all = gp_matrix_wrap(value, m.cols, m.cols + y.cols, GP_DOUBLE);
		*s = (gram_sums) {own, gp_matrix_cols(all, 0, m.cols),
						  gp_matrix_cols(all, m.cols, y.cols)};
	}
	if (s->gram.rows != m.cols || s->qty.cols != y.cols)
		gnngp_matrix_refuse("All rows of a group have as many columns each.");
	gp_matrix	rows = gnngp_matrix_some(env, &m, &ids);
	if (rows.rows < y.ids.n)
		gnngp_matrix_refuse("A row of y has an id that the rows do not have.");
	dev = gnngp_device_open(env, gnngp_factor_threads(2.0 * rows.rows * rows.cols * rows.cols));
	gp_block_gram(dev, rows, gnngp_matrix_numbers(env, &y), rooted ? &root : NULL, s->gram,
				  s->qty);
	dev->close(dev);
	gnngp_env_destroy(env);
	PG_RETURN_POINTER(s);
}

GNNGP_FUNCTION(gnngp_gram_final)
{
	gram_sums  *s = (gram_sums *) PG_GETARG_POINTER(0);
	int64		rank = s->gram.rows;
	Datum		result = gnngp_matrix_write(&(gnngp_value_ids) {.n = rank},
											gp_matrix_wrap(s->gram.data, rank, rank + s->qty.cols,
														   GP_DOUBLE));

	gnngp_env_destroy(s->env);
	PG_RETURN_DATUM(result);
}

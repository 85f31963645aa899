/*
 * aggregate_matrix.c - gp_stack, gp_glue and gp_gram: matrices of many pieces.
 *
 * A stack has the rows of all pieces, in the order of their ids; what is glued has their columns
 * side by side, in the order of a number that comes with each.  Pieces are kept as they
 * come, and put together at the end, each freed as it is copied.  The state of gp_gram is its result
 * so far, a matrix of sums in double precision, which servers can send each other.
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

/* Adds a piece; its key is its first id. */
static piece *
add_piece(gnngp_pieces *p, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(p->context);
	piece	   *new;

	CHECK_FOR_INTERRUPTS();
	p->bytes += toast_raw_datum_size(value);
	gnngp_value_hold(&p->held, p->context, p->bytes, p->bytes, "the pieces of a matrix");
	if (p->n == p->room)
	{
		p->room = Max(2 * p->room, 16);
		p->piece = gnngp_value_grow(p->context, p->piece, p->room * sizeof(piece));
	}
	new = &p->piece[p->n++];
	new->bytes = PG_DETOAST_DATUM_COPY(value);
	new->m = gnngp_matrix_read(PointerGetDatum(new->bytes));
	new->key = new->m.ids.first;
	MemoryContextSwitchTo(old);
	return new;
}

void
gnngp_pieces_add(gnngp_pieces *p, Datum value)
{
	(void) add_piece(p, value);
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
				gnngp_matrix_refuse("Pieces of a stack have no ids between those of others.");
		}
	ids.first = ids.id[0];
	return gnngp_value_ids_part(&ids, 0, ids.n);
}

/* Rows under rows, or columns beside columns. */
static gp_matrix
join_pieces(gnngp_pieces *p, gp_env *env, bool beside, gnngp_value_ids *ids)
{
	bool		wide = p->piece[0].m.wide;
	size_t		size = wide ? sizeof(double) : sizeof(float);
	int64		cols = 0;
	int64		at = 0;			/* of the next piece: numbers from the first one */
	char	   *data;

	gnngp_sort(p->piece, p->n, sizeof(piece), gp_compare_int64, NULL);
	*ids = beside ? p->piece[0].m.ids : stacked_ids(p);
	for (int64 k = 0; k < (beside ? p->n : 1); k++)
		cols += p->piece[k].m.cols;
	data = gp_alloc_array(env, (int64) gp_size_mul(env, ids->n, cols), size);
	for (int64 k = 0; k < p->n; k++)
	{
		const gnngp_table_value *m = &p->piece[k].m;

		CHECK_FOR_INTERRUPTS();
		if (beside && (m->wide != wide || !gnngp_value_ids_equal(ids, &m->ids)))
			gnngp_matrix_refuse("Matrices that are glued have the same ids, and one precision.");
		if (!beside && (m->wide != wide || m->cols != cols))
			gnngp_matrix_refuse("Pieces of a stack have as many columns each, of one precision.");
		for (int64 i = 0; i < m->ids.n; i++)
			memcpy(data + (at + i * cols) * size, m->value + i * m->cols * size, m->cols * size);
		at += beside ? m->cols : m->ids.n * cols;
		pfree(p->piece[k].bytes);
	}
	gnngp_turn_numbers(data, ids->n * cols * size, size);
	gnngp_account_hold(&p->held, p->context, 0);
	return gp_matrix_wrap(data, ids->n, cols, wide ? GP_DOUBLE : GP_FLOAT);
}

gp_matrix
gnngp_pieces_stack(gnngp_pieces *p, gp_env *env, gnngp_value_ids *ids)
{
	return join_pieces(p, env, false, ids);
}

/* The step of gp_stack, and of gp_glue, which has a place before the matrix. */
PG_FUNCTION_INFO_V1(gnngp_join_accum);
Datum
gnngp_join_accum(PG_FUNCTION_ARGS)
{
	bool		beside = PG_NARGS() > 2;
	MemoryContext context = gnngp_aggregate_context(fcinfo, beside ? "gp_glue" : "gp_stack");
	gnngp_pieces *p = PG_ARGISNULL(0) ? gnngp_pieces_create(context)
		: (gnngp_pieces *) PG_GETARG_POINTER(0);

	if (beside && PG_ARGISNULL(1))
		gnngp_aggregate_null("place");
	if (PG_ARGISNULL(beside ? 2 : 1))
		gnngp_aggregate_null("matrix");
	if (beside)
		add_piece(p, PG_GETARG_DATUM(2))->key = PG_GETARG_INT32(1);
	else
		gnngp_pieces_add(p, PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(p);
}

/* Each partition of a table keeps the state of its last group until the statement ends, so that a
 * state is emptied. */
static Datum
join_final(FunctionCallInfo fcinfo, bool beside)
{
	gnngp_pieces *p = PG_ARGISNULL(0) ? NULL : (gnngp_pieces *) PG_GETARG_POINTER(0);
	gnngp_value_ids ids;
	gp_env	   *env;
	gp_matrix	all;
	Datum		result;

	if (p == NULL)
		PG_RETURN_NULL();
	env = gnngp_env_create(CurrentMemoryContext);
	all = join_pieces(p, env, beside, &ids);
	result = gnngp_matrix_write(&ids, all);
	gnngp_env_destroy(env);
	MemoryContextDelete(p->context);
	gnngp_trim_memory();
	PG_RETURN_DATUM(result);
}

PG_FUNCTION_INFO_V1(gnngp_stack_final);
Datum
gnngp_stack_final(PG_FUNCTION_ARGS)
{
	return join_final(fcinfo, false);
}

PG_FUNCTION_INFO_V1(gnngp_glue_final);
Datum
gnngp_glue_final(PG_FUNCTION_ARGS)
{
	return join_final(fcinfo, true);
}

/* ---- gp_gram ---- */

/* The rows of a matrix that have the ids of another one. */
static gp_matrix
rows_of_ids(gp_env *env, const gnngp_table_value *m, const gnngp_value_ids *ids)
{
	gp_matrix	all = gnngp_matrix_numbers(env, m);
	size_t		bytes = m->cols * gp_type_size(all.type);
	gp_matrix	rows = gp_matrix_wrap(gp_alloc(env, ids->n * bytes), ids->n, m->cols, all.type);

	for (int64 i = 0; i < ids->n; i++)
	{
		int64		at = gnngp_value_find(&m->ids, gnngp_value_id(ids, i));

		gnngp_poll(i);
		if (at < 0)
			gnngp_matrix_refuse("A row of y has an id that the rows do not have.");
		memcpy((char *) rows.data + i * bytes, (char *) all.data + at * bytes, bytes);
	}
	gp_free(env, all.data);
	return rows;
}

/* The sums of a state, or zeros: rank rows of Q'Q beside Q'y. */
static gp_matrix
sums_of_state(FunctionCallInfo fcinfo, gp_env *env, int64 rank, int64 columns)
{
	gnngp_table_value old;

	if (PG_ARGISNULL(0))
		return gp_matrix_wrap(gp_alloc_zero(env, rank * (rank + columns), sizeof(double)), rank,
							  rank + columns, GP_DOUBLE);
	old = gnngp_matrix_read(PG_GETARG_DATUM(0));
	if (old.ids.n != rank || old.cols != rank + columns || !old.wide)
		gnngp_matrix_refuse("All rows of a group have as many columns each.");
	return gnngp_matrix_numbers(env, &old);
}

/* Sums as a state, whose ids are 0, 1, ...; the aggregate copies it to its own memory. */
static Datum
write_sums(gp_matrix sums)
{
	return gnngp_matrix_write(&(gnngp_value_ids) {.n = sums.rows}, sums);
}

static void
add_gram(gp_env *env, gp_matrix q, gp_matrix y, const gp_matrix *root, gp_matrix sums)
{
	gp_matrix	gram = gp_matrix_wrap(gp_alloc_zero(env, q.cols * q.cols, sizeof(double)), q.cols,
									  q.cols, GP_DOUBLE);
	gp_matrix	qty = gp_matrix_wrap(gp_alloc_zero(env, q.cols * y.cols, sizeof(double)), q.cols,
									 y.cols, GP_DOUBLE);
	gp_device  *dev = gnngp_device_open(env, gnngp_factor_threads(2.0 * q.rows * q.cols * q.cols));

	gp_block_gram(dev, q, y, root, gram, qty);
	dev->close(dev);
	for (int64 i = 0; i < q.cols; i++)
	{
		double	   *row = (double *) sums.data + i * sums.cols;

		for (int64 j = 0; j < q.cols; j++)
			row[j] += ((double *) gram.data)[i * q.cols + j];
		for (int64 j = 0; j < y.cols; j++)
			row[q.cols + j] += ((double *) qty.data)[i * y.cols + j];
	}
}

/* gp_gram's step: state, rows, y, root */
PG_FUNCTION_INFO_V1(gnngp_gram_accum);
Datum
gnngp_gram_accum(PG_FUNCTION_ARGS)
{
	gnngp_table_value m;
	gnngp_table_value y;
	gnngp_table_value r;
	gp_env	   *env;
	gp_matrix	root;
	gp_matrix	sums;
	Datum		result;
	MemoryContext work;
	MemoryContext old;

	(void) gnngp_aggregate_context(fcinfo, "gp_gram");
	if (PG_ARGISNULL(1))
		gnngp_aggregate_null("rows");
	if (PG_ARGISNULL(2))
		gnngp_aggregate_null("y");
	work = AllocSetContextCreate(CurrentMemoryContext, "gnngp gram", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(work);
	env = gnngp_env_create(work);
	m = gnngp_matrix_read(PG_GETARG_DATUM(1));
	y = gnngp_matrix_read(PG_GETARG_DATUM(2));
	if (!PG_ARGISNULL(3))
	{
		r = gnngp_matrix_read(PG_GETARG_DATUM(3));
		if (r.ids.n != m.cols || r.cols != m.cols)
			gnngp_matrix_refuse("The root has a row and a column for each column of the rows.");
		root = gnngp_matrix_numbers(env, &r);
	}
	sums = sums_of_state(fcinfo, env, m.cols, y.cols);
	add_gram(env, rows_of_ids(env, &m, &y.ids), gnngp_matrix_numbers(env, &y), PG_ARGISNULL(3)
			 ? NULL : &root, sums);
	MemoryContextSwitchTo(old);
	result = write_sums(sums);
	gnngp_env_destroy(env);
	MemoryContextDelete(work);
	PG_RETURN_DATUM(result);
}

/* gp_gram's combination of two states */
PG_FUNCTION_INFO_V1(gnngp_gram_combine);
Datum
gnngp_gram_combine(PG_FUNCTION_ARGS)
{
	gp_env	   *env;
	gnngp_table_value more;
	gp_matrix	sums;
	gp_matrix	added;
	Datum		result;

	(void) gnngp_aggregate_context(fcinfo, "gp_gram");
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	env = gnngp_env_create(CurrentMemoryContext);
	more = gnngp_matrix_read(PG_GETARG_DATUM(1));
	if (!more.wide || more.cols < more.ids.n)
		gnngp_matrix_refuse("A state of gp_gram has sums in double precision.");
	sums = sums_of_state(fcinfo, env, more.ids.n, more.cols - more.ids.n);
	added = gnngp_matrix_numbers(env, &more);
	for (int64 k = 0; k < sums.rows * sums.cols; k++)
		((double *) sums.data)[k] += ((double *) added.data)[k];
	result = write_sums(sums);
	gnngp_env_destroy(env);
	PG_RETURN_DATUM(result);
}

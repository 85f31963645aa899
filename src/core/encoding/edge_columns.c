/*
 * edge_columns.c - sums over the edges of each node, and what is made of them.
 */
#include "edge_columns.h"
#include "encoding.h"

#include <math.h>

/* What is known of a column of some edges: the sum is total + rest, whose bits are those of any
 * order. */
typedef struct column_sum
{
	double		n;
	double		total;
	double		rest;
	double		largest;
} column_sum;

struct gp_edge_columns
{
	gp_env	   *env;
	int64_t		nodes;
	int32_t		sides;			/* out and in, or both as one */
	int32_t		columns;
	bool	   *is_time;
	double	   *count;			/* nodes x sides */
	column_sum *sum;			/* nodes x sides x columns */
	double	   *newest;			/* of each column */
};

gp_edge_columns *
gp_edge_columns_create(gp_env *env, int64_t nodes, bool directed, int32_t columns,
					   const bool *is_time)
{
	gp_edge_columns *e = gp_alloc_zero(env, 1, sizeof(gp_edge_columns));

	*e = (gp_edge_columns) {.env = env,.nodes = nodes,.sides = directed ? 2 : 1,.columns = columns};
	e->is_time = gp_alloc_array(env, columns, sizeof(bool));
	memcpy(e->is_time, is_time, sizeof(bool) * (size_t) columns);
	e->count = gp_alloc_zero(env, nodes * e->sides, sizeof(double));
	e->sum = gp_alloc_zero(env, (int64_t) gp_size_mul(env, nodes * e->sides, columns),
						   sizeof(column_sum));
	e->newest = gp_alloc_array(env, columns, sizeof(double));
	for (int32_t c = 0; c < columns; c++)
		e->newest[c] = -INFINITY;
	return e;
}

/* Adds an edge at one of its ends: the error of each addition is added up, too. */
static void
add_end(gp_edge_columns *e, int64_t at, const double *value)
{
	e->count[at]++;
	for (int32_t c = 0; c < e->columns; c++)
	{
		column_sum *s = &e->sum[at * e->columns + c];
		double		total = s->total + value[c];

		if (!isfinite(value[c]))
			continue;
		s->rest += fabs(s->total) >= fabs(value[c]) ? (s->total - total) + value[c] :
			(value[c] - total) + s->total;
		s->total = total;
		s->largest = s->n == 0.0 ? value[c] : fmax(s->largest, value[c]);
		s->n++;
		e->newest[c] = fmax(e->newest[c], value[c]);
	}
}

void
gp_edge_columns_add(gp_edge_columns *e, int32_t src, int32_t dst, const double *value)
{
	add_end(e, (int64_t) src * e->sides, value);
	if (e->sides == 2)
		add_end(e, (int64_t) dst * 2 + 1, value);
	else if (dst != src)
		add_end(e, dst, value);
}

/* A number, NULL where it is none. */
static gp_cell
number(double z)
{
	return (gp_cell) {.null = !isfinite(z),.number = z};
}

/* What a node's edges of one side come to; returns how many numbers that are. */
static int32_t
put_side(const gp_edge_columns *e, int64_t at, gp_cell *cell)
{
	int32_t		n = 0;

	cell[n++] = number(e->count[at]);
	for (int32_t c = 0; c < e->columns; c++)
	{
		const column_sum *s = &e->sum[at * e->columns + c];
		double		sum = s->total + s->rest;

		if (e->is_time[c])
			cell[n++] = number(s->n > 0.0 ? e->newest[c] - s->largest : NAN);
		else
		{
			cell[n++] = number(sum);
			cell[n++] = number(s->n > 0.0 ? sum / s->n : NAN);
			cell[n++] = number(s->n > 0.0 ? s->largest : NAN);
		}
	}
	return n;
}

/* The same of both sides. */
static int32_t
put_node(const gp_edge_columns *e, int64_t node, gp_cell *cell)
{
	int32_t		n = put_side(e, node * e->sides, cell);

	return e->sides == 1 ? n : n + put_side(e, node * 2 + 1, cell + n);
}

/* How they are encoded, by all nodes. */
static gp_encoding *
look_at_nodes(const gp_edge_columns *e, int32_t width, gp_cell *cell)
{
	gp_cell_kind *kind = gp_alloc_array(e->env, width, sizeof(gp_cell_kind));

	for (int32_t c = 0; c < width; c++)
		kind[c] = GP_CELL_NUMBER;
	gp_encoder *encoder = gp_encoder_create(e->env, width, kind, GP_TIME_NEVER, NULL);
	GP_EACH(e->env, i, e->nodes, i * width)
	{
		put_node(e, i, cell);
		gp_encoder_look(encoder, (uint64_t) i + 1, 0, cell);
	}
	gp_free(e->env, kind);
	return gp_encoder_finish(encoder, false);
}

/* How many numbers there are of each column, and of the number of edges. */
static void
count_numbers(const gp_edge_columns *e, const gp_encoding *encoding, int32_t *numbers)
{
	int32_t		p = 0;

	for (int32_t c = 0; c <= e->columns; c++)
		numbers[c] = 0;
	for (int32_t side = 0; side < e->sides; side++)
	{
		numbers[e->columns] += encoding->encoded[p++].width;
		for (int32_t c = 0; c < e->columns; c++)
			for (int32_t k = e->is_time[c] ? 1 : 3; k > 0; k--)
				numbers[c] += encoding->encoded[p++].width;
	}
}

gp_features *
gp_edge_columns_join(gp_edge_columns *e, gp_features *own, gp_type type, int32_t *numbers)
{
	gp_env	   *env = e->env;
	gp_cell    *cell = gp_alloc_array(env, e->sides * (1 + 3 * e->columns), sizeof(gp_cell));
	int32_t		width = e->sides;
	int64_t		before = own ? own->dims : 0;
	gp_features *out = own;

	for (int32_t c = 0; c < e->columns; c++)
		width += e->sides * (e->is_time[c] ? 1 : 3);
	gp_encoding *encoding = look_at_nodes(e, width, cell);
	count_numbers(e, encoding, numbers);
	if (encoding->width > 0)
	{
		gp_features_builder *builder = gp_features_create(env, e->nodes, before + encoding->width,
														  type);
		double	   *row = gp_alloc_array(env, before + encoding->width, sizeof(double));
		int32_t		repeated_node;
		int32_t		repeated_feature;

		GP_EACH(env, i, e->nodes, i * (before + encoding->width))
		{
			if (own)
				gp_features_row(own, i, row);
			put_node(e, i, cell);
			gp_encode(encoding, cell, row + before);
			gp_features_add_row(builder, (int32_t) i, row);
		}
		out = gp_features_build(builder, &repeated_node, &repeated_feature);
		gp_free(env, row);
		gp_features_free(env, own);
	}
	gp_free_all(env, cell, encoding, e->is_time, e->count, e->sum, e->newest, e);
	return out;
}

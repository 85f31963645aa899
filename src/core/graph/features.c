/*
 * features.c - the features of the nodes, sparse or dense.
 *
 * Rows of values are kept as their non-zeros while these are few and as a dense
 * matrix otherwise; the final form depends on all values, not on their order of
 * arrival.  Rows may come before the nodes are known: their numbers are then
 * turned into nodes when all have come.
 */
#include "graph.h"

#define DENSE_SHARE 0.25		/* of non-zeros, from which a matrix is dense */
#define DECIDE_AFTER 256		/* rows seen before the working form is chosen */

struct gp_features_builder
{
	gp_env	   *env;
	int64_t		nodes;			/* rows of the dense form while it is not known */
	bool		unknown_nodes;
	int64_t		dims;			/* 0: not known beforehand */
	int64_t		max_feature;
	gp_type		type;
	int64_t		rows_seen;
	int64_t		last_row;		/* the largest number of a row */
	void	   *dense;			/* the working form when most values are set */
	int64_t		entries;		/* else entries in order of arrival */
	int64_t		room;
	int32_t    *node;
	int32_t    *feature;
	void	   *value;
};

gp_features_builder *
gp_features_create(gp_env *env, int64_t nodes, int64_t dims, gp_type type)
{
	gp_features_builder *b = gp_alloc_zero(env, 1, sizeof(gp_features_builder));

	*b = (gp_features_builder) {.env = env,.nodes = gp_max64(nodes, 0),.dims = dims,.type = type,
	.unknown_nodes = nodes == GP_NODES_UNKNOWN,.max_feature = dims - 1};
	return b;
}

/* Makes room for more entries, half as many again. */
static void
grow(gp_features_builder *b, int64_t more)
{
	int64_t		room = b->room + b->room / 2;

	if (b->entries + more <= b->room)
		return;
	if (room < b->entries + more)
		room = b->entries + more;
	if (room < 1024)
		room = 1024;
	b->node = gp_realloc_array(b->env, b->node, room, sizeof(int32_t));
	b->feature = gp_realloc_array(b->env, b->feature, room, sizeof(int32_t));
	b->value = gp_realloc_array(b->env, b->value, room, gp_type_size(b->type));
	b->room = room;
}

/* Appends one entry; room has been made. */
static inline void
append(gp_features_builder *b, int32_t node, int32_t feature, double value)
{
	b->node[b->entries] = node;
	b->feature[b->entries] = feature;
	gp_number_put(b->value, b->type, b->entries, value);
	b->entries++;
}

static void
become_dense(gp_features_builder *b)
{
	if (b->unknown_nodes)
		b->nodes = b->last_row + 1;
	b->dense = gp_alloc_zero(b->env, (int64_t) gp_size_mul(b->env, b->nodes, b->dims),
							 gp_type_size(b->type));
	for (int64_t k = 0; k < b->entries; k++)
		gp_number_put(b->dense, b->type, b->node[k] * b->dims + b->feature[k],
					  gp_number_at(b->value, b->type, k));
	gp_free_all(b->env, b->node, b->feature, b->value);
	b->node = b->feature = NULL;
	b->value = NULL;
	b->entries = b->room = 0;
}

static inline void
add_row(gp_features_builder *b, int32_t node, const void *value, gp_type type)
{
	if (node > b->last_row)
		b->last_row = node;
	if (b->dense)
	{
		if (node >= b->nodes)
		{
			/* Makes room in the dense form for a row whose number goes beyond it */
			int64_t		rows = b->nodes + b->nodes / 8;

			if (rows <= node)
				rows = node + 1;
			b->dense = gp_resize_array(b->env, b->dense,
									   (int64_t) gp_size_mul(b->env, rows, b->dims),
									   gp_type_size(b->type));
			b->nodes = rows;
		}
		for (int64_t j = 0; j < b->dims; j++)
			gp_number_put(b->dense, b->type, node * b->dims + j, gp_number_at(value, type, j));
		return;
	}
	grow(b, b->dims);
	for (int64_t j = 0; j < b->dims; j++)
		if (gp_number_at(value, type, j) != 0.0)
			append(b, node, (int32_t) j, gp_number_at(value, type, j));
	/* Counts a row and changes to the dense form when the values seen call for it */
	b->rows_seen++;
	if (b->dense == NULL && b->rows_seen % DECIDE_AFTER == 0 &&
		b->entries > DENSE_SHARE * b->rows_seen * b->dims)
		become_dense(b);
}

void
gp_features_add_row(gp_features_builder *b, int32_t node, const double *value)
{
	add_row(b, node, value, GP_DOUBLE);
}

void
gp_features_add_row_float(gp_features_builder *b, int32_t node, const float *value)
{
	add_row(b, node, value, GP_FLOAT);
}

void
gp_features_add_entries(gp_features_builder *b, int64_t n, const int32_t *node,
						const int32_t *feature, const double *value)
{
	grow(b, n);
	for (int64_t i = 0; i < n; i++)
	{
		append(b, node[i], feature[i], value[i]);
		if (feature[i] > b->max_feature)
			b->max_feature = feature[i];
	}
}

void
gp_features_place(gp_features_builder *b, int64_t nodes, int32_t *node)
{
	if (b->dense)
		b->dense = gp_resize_array(b->env, b->dense, (int64_t) gp_size_mul(b->env, nodes, b->dims),
								   gp_type_size(b->type));
	b->nodes = nodes;
	b->unknown_nodes = false;
	if (node == NULL)
		return;
	GP_EACH(b->env, k, b->entries, k)
		b->node[k] = node[b->node[k]];
	if (b->dense)
	{
		/* Brings the rows of the dense form to their nodes, each by one exchange. */
		size_t		bytes = gp_size_mul(b->env, b->dims, gp_type_size(b->type));
		char	   *scratch = gp_alloc(b->env, bytes);
		char	   *rows = b->dense;
		int64_t		moved = 0;
		int64_t		next = 0;

		for (int64_t i = 0; i < b->nodes; i++)
			while (node[i] != i)
			{
				int32_t		to = node[i];

				gp_poll(b->env, moved++ * b->dims, &next);
				/* Exchanges two rows by way of a third place */
				char *x = rows + i * bytes;
				char *y = rows + to * bytes;
				memcpy(scratch, x, bytes);
				memcpy(x, y, bytes);
				memcpy(y, scratch, bytes);
				node[i] = node[to];
				node[to] = to;
			}
		gp_free(b->env, scratch);
	}
}

/* Finds the first entry that stands twice; rows are sorted. */
static bool
find_repeated(gp_env *env, const gp_csr *s, int32_t *node, int32_t *feature)
{
	GP_EACH(env, i, s->rows, s->start[i])
	{
		for (int64_t k = s->start[i] + 1; k < s->start[i + 1]; k++)
			if (s->col[k] == s->col[k - 1])
			{
				*node = (int32_t) i;
				*feature = s->col[k];
				return true;
			}
	}
	return false;
}

gp_csr *
gp_csr_of_dense(gp_env *env, const void *dense, int64_t rows, int64_t dims, int64_t entries,
				gp_type from, gp_type type)
{
	gp_csr	   *s = gp_csr_create(env, rows, dims, entries, type);
	int64_t		at = 0;

	GP_EACH(env, i, rows, i * dims)
	{
		for (int64_t j = 0; j < dims; j++)
		{
			double		v = gp_number_at(dense, from, i * dims + j);

			if (v == 0.0)
				continue;
			s->col[at] = (int32_t) j;
			gp_number_put(s->value, type, at++, v);
		}
		s->start[i + 1] = at;
	}
	return s;
}

void
gp_csr_to_dense(gp_env *env, const gp_csr *s, int64_t rows, void *dense, int64_t dims)
{
	GP_EACH(env, i, rows, s->start[i])
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			gp_number_put(dense, s->type, i * dims + s->col[k],
						  gp_number_at(s->value, s->type, k));
}

/* Chooses the final form, which follows from the share of non-zeros alone. */
static void
choose_form(gp_env *env, gp_features *f, gp_csr *csr, void *dense)
{
	int64_t		cells = f->rows * f->dims;
	int64_t		entries = csr ? gp_csr_entries(csr) : 0;

	GP_EACH(env, k, csr ? 0 : cells, k)
		entries += gp_number_at(dense, f->type, k) != 0.0;
	bool		want_dense = entries > DENSE_SHARE * (double) cells;
	if (want_dense && dense == NULL)
	{
		dense = gp_alloc_zero(env, (int64_t) gp_size_mul(env, f->rows, f->dims),
							  gp_type_size(f->type));
		gp_csr_to_dense(env, csr, csr->rows, dense, f->dims);
		gp_csr_free(env, csr);
		csr = NULL;
	}
	else if (!want_dense && csr == NULL)
	{
		csr = gp_csr_of_dense(env, dense, f->rows, f->dims, entries, f->type, f->type);
		gp_free(env, dense);
		dense = NULL;
	}
	f->csr = csr;
	f->dense = dense;
}

gp_features *
gp_features_build(gp_features_builder *b, int32_t *repeated_node, int32_t *repeated_feature)
{
	gp_env	   *env = b->env;
	gp_features *f = gp_alloc_zero(env, 1, sizeof(gp_features));
	void	   *dense = b->dense;
	gp_csr	   *csr = NULL;

	f->rows = b->nodes;
	f->dims = b->max_feature + 1;
	f->type = b->type;
	*repeated_node = *repeated_feature = -1;
	if (dense == NULL)
	{
		if (b->entries > INT32_MAX)
			gp_raise(env, GP_ERR_LIMIT, NULL, "more than %d feature entries", INT32_MAX);
		/* The nodes of each feature, in the order of arrival, then the features of each node */
		grow(b, 1);				/* there are values where there is no entry */
		gp_csr	   *turned = gp_csr_by_column(env, b->nodes, f->dims, b->entries, b->node,
											  b->feature, b->value, b->type, false);

		gp_free_all(env, b->node, b->feature, b->value);
		b->node = b->feature = NULL;
		b->value = NULL;
		csr = gp_csr_transpose(env, turned);
		gp_csr_free(env, turned);
	}
	/* Frees the builder's entries and the builder */
	gp_free_all(b->env, b->node, b->feature, b->value, b);
	if (csr && find_repeated(env, csr, repeated_node, repeated_feature))
	{
		gp_csr_free(env, csr);
		gp_free(env, f);
		return NULL;
	}
	choose_form(env, f, csr, dense);
	return f;
}

gp_features *
gp_features_of_csr(gp_env *env, gp_csr *csr)
{
	gp_features *f = gp_alloc_zero(env, 1, sizeof(gp_features));

	*f = (gp_features) {csr->rows, csr->cols, csr, NULL, csr->type};
	return f;
}

gp_features *
gp_features_of_dense(gp_env *env, void *dense, int64_t rows, int64_t dims, gp_type type)
{
	gp_features *f = gp_alloc_zero(env, 1, sizeof(gp_features));

	*f = (gp_features) {rows, dims, NULL, dense, type};
	return f;
}

gp_features *
gp_features_widen(gp_env *env, gp_features *f, int64_t rows, int64_t dims)
{
	size_t		size = gp_type_size(f->type);
	gp_csr	   *s = f->csr;

	rows = gp_max64(rows, f->rows);
	dims = gp_max64(dims, f->dims);
	gp_features *out = gp_features_of_dense(env, NULL, rows, dims, f->type);
	if (s)
	{
		gp_csr	   *none = gp_csr_create(env, rows - s->rows, dims, 0, s->type);

		out->csr = gp_csr_stack(env, s, s->rows, none, dims);
		gp_csr_free(env, none);
	}
	else
	{
		out->dense = gp_alloc_zero(env, (int64_t) gp_size_mul(env, rows, dims), size);
		for (int64_t i = 0; i < f->rows; i++)
			memcpy((char *) out->dense + i * dims * size, (char *) f->dense + i * f->dims * size,
				   f->dims * size);
	}
	gp_features_free(env, f);
	return out;
}

gp_features *
gp_features_identity(gp_env *env, int64_t nodes, gp_type type)
{
	return gp_features_of_csr(env, gp_csr_identity(env, nodes, type));
}

void
gp_features_free(gp_env *env, gp_features *f)
{
	if (f == NULL)
		return;
	gp_csr_free(env, f->csr);
	gp_free_all(env, f->dense, f);
}

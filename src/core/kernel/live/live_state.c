/*
 * live_state.c - the list of pieces that a fit keeps.
 *
 * A dry run accounts for them, and keeps nothing of those that a device makes.
 */
#include "live_state.h"

/* of a triangle, which stay in the cache while they are solved with */
#define ROWS_AT_ONCE 64

gp_live_state *
gp_state_create(gp_env *env)
{
	gp_live_state *state = gp_alloc_zero(env, 1, sizeof(gp_live_state));

	state->env = env;
	return state;
}

static void
free_content(gp_live_state *state, gp_piece *piece)
{
	gp_csr_free(state->env, piece->csr);
	gp_free(state->env, piece->dense);
	piece->csr = NULL;
	piece->dense = NULL;
}

void
gp_state_free(gp_live_state *state)
{
	if (state == NULL)
		return;
	for (int k = 0; k < state->n; k++)
		free_content(state, &state->piece[k]);
	gp_free_all(state->env, state->piece, state);
}

gp_piece *
gp_state_find(const gp_live_state *state, gp_piece_kind kind, int site, int part)
{
	for (int k = 0; k < state->n; k++)
		if (state->piece[k].kind == (int32_t) kind && state->piece[k].site == site &&
			state->piece[k].part == part)
			return &state->piece[k];
	return NULL;
}

void
gp_state_refuse(gp_env *env)
{
	gp_raise(env, GP_ERR_DAMAGED, "Fit the model again.", "the live state does not fit its kernel");
}

const gp_piece *
gp_state_need(gp_env *env, const gp_live_state *state, gp_piece_kind kind, int site, int part,
			  int64_t rows)
{
	const gp_piece *piece = gp_state_find(state, kind, site, part);

	if (piece == NULL || piece->rows != rows || piece->dense == NULL)
		gp_state_refuse(env);
	return piece;
}

double
gp_state_bytes(const gp_live_state *state)
{
	double		bytes = 0.0;

	for (int k = 0; k < state->n; k++)
		bytes += state->piece[k].bytes;
	return bytes;
}

void
gp_state_join(gp_live_state *state, gp_live_state *other)
{
	for (int k = 0; k < other->n; k++)
	{
		const gp_piece *p = &other->piece[k];

		*gp_state_add(state, p->kind, p->site, p->part) = *p;
	}
	other->n = 0;
	gp_state_free(other);
}

gp_piece *
gp_state_add(gp_live_state *state, gp_piece_kind kind, int site, int part)
{
	gp_piece   *piece = gp_state_find(state, kind, site, part);

	if (piece)
		free_content(state, piece);
	else
	{
		GP_GROW(state->env, state->piece, state->n, state->room);
		piece = &state->piece[state->n++];
	}
	*piece = (gp_piece) {.kind = kind, .site = site, .part = part};
	return piece;
}

/* The shape of a dense piece; returns how many numbers it has. */
static int64_t
shape_dense(const gp_live_state *state, gp_piece *piece, int64_t rows, int64_t cols, gp_type type)
{
	int64_t		count = (int64_t) gp_size_mul(state->env, rows, cols);

	piece->rows = rows;
	piece->cols = cols;
	piece->type = type;
	piece->bytes = (double) count * gp_type_size(type);
	return count;
}

void
gp_state_dense(gp_live_state *state, gp_piece *piece, int64_t rows, int64_t cols, gp_type type)
{
	int64_t		count = shape_dense(state, piece, rows, cols, type);

	piece->dense = gp_alloc_values(state->env, count, gp_type_size(type));
}

void
gp_state_matrix(gp_device *dev, gp_live_state *state, gp_piece_kind kind, int site, int part,
				gp_matrix m)
{
	gp_piece   *piece = gp_state_add(state, kind, site, part);

	gp_state_dense(state, piece, m.rows, m.cols, m.type);
	dev->download(dev, gp_matrix_wrap(piece->dense, m.rows, m.cols, m.type), m);
}

void
gp_state_lower(gp_device *dev, gp_live_state *state, gp_piece_kind kind, int site, int part,
			   gp_matrix m)
{
	gp_piece   *piece = gp_state_add(state, kind, site, part);
	double	   *row = gp_alloc_values(state->env, m.cols, sizeof(double));

	gp_state_dense(state, piece, m.rows * (m.rows + 1) / 2, 1, GP_DOUBLE);
	double	   *at = piece->dense;
	for (int64_t i = 0; i < m.rows && !state->env->dry; i++)
	{
		dev->download(dev, gp_matrix_wrap(row, 1, i + 1, GP_DOUBLE),
					  gp_matrix_part(m, i, 0, 1, i + 1));
		memcpy(at, row, (i + 1) * sizeof(double));
		at += i + 1;
	}
	gp_free(state->env, row);
}

void
gp_state_numbers(gp_live_state *state, gp_piece_kind kind, int site, int part, const double *value,
				 int64_t rows, int64_t cols)
{
	gp_piece   *piece = gp_state_add(state, kind, site, part);

	int64_t		count = shape_dense(state, piece, rows, cols, GP_DOUBLE);

	/* The host has these numbers in a dry run, too, and evaluators read some. */
	piece->dense = gp_alloc_array(state->env, count, sizeof(double));
	memcpy(piece->dense, value, (size_t) count * sizeof(double));
}

void
gp_state_nodes(gp_live_state *state, gp_piece_kind kind, const int32_t *node, int64_t n)
{
	gp_piece   *piece = gp_state_add(state, kind, 0, 0);

	piece->rows = n;
	piece->cols = 1;
	piece->ints = true;
	piece->bytes = (double) n * sizeof(int32_t);
	piece->dense = gp_alloc_array(state->env, n, sizeof(int32_t));
	if (!state->env->dry)
		memcpy(piece->dense, node, n * sizeof(int32_t));
}

void
gp_state_rows(gp_live_state *state, gp_piece_kind kind, int site, int part, const gp_csr *s,
			  const int32_t *index, int64_t n)
{
	gp_piece   *piece = gp_state_add(state, kind, site, part);
	size_t		size = sizeof(int32_t) + gp_type_size(s->type);

	piece->rows = n;
	piece->cols = s->cols;
	piece->type = s->type;
	if (state->env->dry)
	{
		/* At most, for a dry run does not know which rows. */
		int64_t		entries = gp_csr_longest(state->env, s, n, false);

		piece->bytes = (double) entries * size;
		piece->dense = gp_alloc_values(state->env, 1, entries * size +
										(piece->rows + 1) * sizeof(int64_t));
		return;
	}
	piece->csr = gp_csr_select(state->env, s, index, n, NULL, s->cols);
	piece->bytes = (double) gp_csr_entries(piece->csr) * size;
}

gp_matrix
gp_state_load(gp_device *dev, const gp_piece *piece, gp_type type)
{
	return gp_upload(dev, gp_matrix_wrap(piece->dense, piece->rows, piece->cols, piece->type),
					 type);
}

gp_matrix
gp_state_load_lower(gp_device *dev, const gp_piece *piece, int64_t n)
{
	gp_matrix	m = gp_filled(dev, n, n, GP_DOUBLE, 0.0);
	double	   *at = piece->dense;

	for (int64_t i = 0; i < gp_items(dev->env, n); i++)
	{
		dev->upload(dev, gp_matrix_part(m, i, 0, 1, i + 1),
					gp_matrix_wrap(at, 1, i + 1, GP_DOUBLE));
		at += i + 1;
	}
	return m;
}

/* Some rows of a triangle as far as their diagonal, zeros above it. */
static gp_matrix
lower_rows(gp_device *dev, const gp_piece *piece, gp_band band, double *host, gp_matrix on_device)
{
	int64_t		width = band.first + band.count;
	gp_matrix	rows = gp_matrix_wrap(host, band.count, width, GP_DOUBLE);
	gp_matrix	out = gp_matrix_part(on_device, 0, 0, band.count, width);

	for (int64_t i = 0; i < gp_items(dev->env, band.count); i++)
	{
		int64_t		n = band.first + i + 1;

		memcpy(host + i * width, (double *) piece->dense + n * (n - 1) / 2, n * sizeof(double));
		memset(host + i * width + n, 0, (width - n) * sizeof(double));
	}
	if (dev->room == 0)
		return rows;
	dev->upload(dev, out, rows);
	return out;
}

void
gp_state_solve(gp_device *dev, const gp_piece *piece, bool trans, gp_matrix x)
{
	int64_t		n = x.cols;
	int64_t		height = gp_min64(ROWS_AT_ONCE, n);
	int64_t		blocks = (n + height - 1) / height;
	double	   *host = gp_alloc_array(dev->env, height, n * sizeof(double));
	gp_matrix	on_device = {0};

	if (dev->room > 0)
		on_device = dev->create(dev, height, n, GP_DOUBLE);
	for (int64_t k = 0; k < blocks; k++)
	{
		int64_t		first = (trans ? k : blocks - 1 - k) * height;
		gp_band		band = {first, gp_min64(height, n - first), height, n};
		/* A block of columns of x, by the rows of the triangle that they belong to. */
		gp_matrix	rows = lower_rows(dev, piece, band, host, on_device);
		gp_matrix	own = gp_matrix_cols(x, first, band.count);
		gp_matrix	before = gp_matrix_cols(x, 0, first);
		gp_matrix	beside = gp_matrix_cols(rows, 0, first);

		if (trans && first > 0)
			dev->gemm(dev, false, true, -1.0, before, beside, 1.0, own);
		dev->trsm(dev, false, trans, gp_matrix_cols(rows, first, band.count), own);
		if (!trans && first > 0)
			dev->gemm(dev, false, false, -1.0, own, beside, 1.0, before);
	}
	dev->destroy(dev, &on_device);
	gp_free(dev->env, host);
}

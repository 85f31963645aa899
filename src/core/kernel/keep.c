/*
 * keep.c - the list of pieces that a fit keeps.
 *
 * A dry run accounts for them, and keeps nothing of them.
 */
#include "keep.h"

#include <string.h>

/* An empty list. */
gp_keep *
gp_keep_create(gp_env *env)
{
	gp_keep    *keep = gp_alloc_zero(env, 1, sizeof(gp_keep));

	keep->env = env;
	return keep;
}

/* Frees what a piece holds. */
static void
free_content(gp_keep *keep, gp_piece *piece)
{
	gp_csr_free(keep->env, piece->csr);
	gp_free(keep->env, piece->dense);
	piece->csr = NULL;
	piece->dense = NULL;
}

/* Frees a list. */
void
gp_keep_free(gp_keep *keep)
{
	if (keep == NULL)
		return;
	for (int k = 0; k < keep->n; k++)
		free_content(keep, &keep->piece[k]);
	gp_free(keep->env, keep->piece);
	gp_free(keep->env, keep);
}

/* The place of a piece; -1: there is none. */
static int
find(const gp_keep *keep, gp_piece_kind kind, int site, int part)
{
	for (int k = 0; k < keep->n; k++)
		if (keep->piece[k].kind == (int32_t) kind && keep->piece[k].site == site && keep->piece[k].part == part)
			return k;
	return -1;
}

/* The piece of this name. */
const gp_piece *
gp_keep_find(const gp_keep *keep, gp_piece_kind kind, int site, int part)
{
	int			k = find(keep, kind, site, part);

	return k < 0 ? NULL : &keep->piece[k];
}

/* The same, which has to be there. */
const gp_piece *
gp_keep_need(gp_env *env, const gp_keep *keep, gp_piece_kind kind, int site, int part, int64_t rows)
{
	const gp_piece *piece = gp_keep_find(keep, kind, site, part);

	if (piece == NULL || piece->rows != rows || piece->dense == NULL)
		gp_raise(env, GP_ERR_DATA, "Fit the model again.", "the live state does not fit its kernel");
	return piece;
}

/* The bytes of all pieces. */
double
gp_keep_bytes(const gp_keep *keep)
{
	double		bytes = 0.0;

	for (int k = 0; k < keep->n; k++)
		bytes += keep->piece[k].bytes;
	return bytes;
}

/* A new piece; the former one of its name goes. */
gp_piece *
gp_keep_add(gp_keep *keep, gp_piece_kind kind, int site, int part)
{
	int			k = find(keep, kind, site, part);

	if (k >= 0)
		free_content(keep, &keep->piece[k]);
	else
	{
		if (keep->n == keep->room)
		{
			keep->room = keep->room ? 2 * keep->room : 16;
			keep->piece = gp_realloc_array(keep->env, keep->piece, keep->room, sizeof(gp_piece));
		}
		k = keep->n++;
	}
	keep->piece[k] = (gp_piece) {.kind = kind, .site = site, .part = part};
	return &keep->piece[k];
}

/* Room for a dense piece. */
void
gp_keep_dense(gp_keep *keep, gp_piece *piece, int64_t rows, int64_t cols, gp_type type)
{
	int64_t		count = (int64_t) gp_size_mul(keep->env, rows, cols);

	piece->rows = rows;
	piece->cols = cols;
	piece->type = type;
	piece->bytes = (double) count * gp_type_size(type);
	piece->dense = gp_alloc_figures(keep->env, count, gp_type_size(type));
}

/* Keeps a matrix of the device. */
void
gp_keep_matrix(gp_device *dev, gp_keep *keep, gp_piece_kind kind, int site, int part, gp_matrix m)
{
	gp_piece   *piece = gp_keep_add(keep, kind, site, part);

	gp_keep_dense(keep, piece, m.rows, m.cols, m.type);
	dev->download(dev, gp_matrix_wrap(piece->dense, m.rows, m.cols, m.type), m);
}

/* Keeps the lower triangle of a matrix, row after row. */
void
gp_keep_lower(gp_device *dev, gp_keep *keep, gp_piece_kind kind, int site, int part, gp_matrix m)
{
	gp_piece   *piece = gp_keep_add(keep, kind, site, part);
	double	   *row = gp_alloc_figures(keep->env, m.cols, sizeof(double));
	double	   *at;

	gp_keep_dense(keep, piece, m.rows * (m.rows + 1) / 2, 1, GP_DOUBLE);
	at = piece->dense;
	for (int64_t i = 0; i < m.rows && !keep->env->dry; i++)
	{
		dev->download(dev, gp_matrix_wrap(row, 1, i + 1, GP_DOUBLE), gp_matrix_part(m, i, 0, 1, i + 1));
		memcpy(at, row, (i + 1) * sizeof(double));
		at += i + 1;
	}
	gp_free(keep->env, row);
}

/* Keeps numbers. */
void
gp_keep_numbers(gp_keep *keep, gp_piece_kind kind, int site, int part, const double *value, int64_t rows,
				int64_t cols)
{
	gp_piece   *piece = gp_keep_add(keep, kind, site, part);

	gp_keep_dense(keep, piece, rows, cols, GP_DOUBLE);
	if (!keep->env->dry)
		memcpy(piece->dense, value, rows * cols * sizeof(double));
}

/* Keeps numbers of nodes or classes. */
void
gp_keep_nodes(gp_keep *keep, gp_piece_kind kind, const int32_t *node, int64_t n)
{
	gp_piece   *piece = gp_keep_add(keep, kind, 0, 0);

	piece->rows = n;
	piece->cols = 1;
	piece->ints = true;
	piece->bytes = (double) n * sizeof(int32_t);
	piece->dense = gp_alloc_array(keep->env, n, sizeof(int32_t));
	if (!keep->env->dry)
		memcpy(piece->dense, node, n * sizeof(int32_t));
}

/* The entries of the n longest rows, at most: a dry run does not know which rows. */
static int64_t
longest_rows(gp_env *env, const gp_csr *s, int64_t n)
{
	int64_t		most = 0;
	int64_t		entries = 0;
	int64_t    *count;

	for (int64_t i = 0; i < s->rows; i++)
		most = gp_max64(most, s->start[i + 1] - s->start[i]);
	count = gp_alloc_zero(env, most + 1, sizeof(int64_t));
	for (int64_t i = 0; i < s->rows; i++)
		count[s->start[i + 1] - s->start[i]]++;
	for (int64_t length = most; n > 0 && length >= 0; length--)
	{
		int64_t		rows = gp_min64(n, count[length]);

		entries += rows * length;
		n -= rows;
	}
	gp_free(env, count);
	return entries;
}

/* Keeps rows of a sparse matrix. */
void
gp_keep_rows(gp_keep *keep, gp_piece_kind kind, int site, int part, const gp_csr *s, const int32_t *index,
			 int64_t n)
{
	gp_piece   *piece = gp_keep_add(keep, kind, site, part);
	size_t		size = sizeof(int32_t) + gp_type_size(s->type);

	piece->rows = n;
	piece->cols = s->cols;
	piece->type = s->type;
	if (keep->env->dry)
	{
		int64_t		entries = longest_rows(keep->env, s, n);

		piece->bytes = (double) entries * size;
		piece->dense = gp_alloc_figures(keep->env, entries, size);
		return;
	}
	piece->csr = gp_csr_select(keep->env, s, index, n, NULL, s->cols);
	piece->bytes = (double) gp_csr_entries(piece->csr) * size;
}

/* A dense piece on the device. */
gp_matrix
gp_keep_take(gp_device *dev, const gp_piece *piece, gp_type type)
{
	gp_matrix	m = dev->create(dev, piece->rows, piece->cols, type);

	dev->upload(dev, m, gp_matrix_wrap(piece->dense, piece->rows, piece->cols, piece->type));
	return m;
}

/* A triangle on the device, zeros above it; row by row where the device's memory is the host's, which needs no jobs. */
gp_matrix
gp_keep_take_lower(gp_device *dev, const gp_piece *piece, int64_t n)
{
	gp_matrix	m = dev->create(dev, n, n, GP_DOUBLE);
	double	   *at = piece->dense;

	if (dev->room > 0)
		dev->fill(dev, m, 0.0);
	for (int64_t i = 0; i < n && !dev->env->dry; i++)
	{
		double	   *row = (double *) m.data + i * m.ld;

		if (dev->room > 0)
			dev->upload(dev, gp_matrix_part(m, i, 0, 1, i + 1), gp_matrix_wrap(at, 1, i + 1, GP_DOUBLE));
		else
		{
			memcpy(row, at, (i + 1) * sizeof(double));
			memset(row + i + 1, 0, (n - i - 1) * sizeof(double));
		}
		at += i + 1;
	}
	return m;
}

/*
 * matrix.h - views of dense and sparse matrices.
 *
 * All dense matrices are row major: element (i, j) is data[i * ld + j], with ld
 * counted in elements.  A gp_matrix is a view and is passed by value; it owns
 * nothing.  Memory comes from the device (device.h: create, destroy) and may
 * be out of the host's reach: the host looks at it through upload and download.
 * A vector is a matrix of one column.
 */
#ifndef GP_MATRIX_H
#define GP_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int64_t
gp_min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t
gp_max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* x to a whole power by squaring: the same bits with every C library. */
static inline double
gp_whole_power(double x, int64_t power)
{
	double		out = 1.0;

	for (; power > 0; power >>= 1)
	{
		if (power & 1)
			out *= x;
		x *= x;
	}
	return out;
}

/*
 * A band of rows, or columns, that are worked on at once:
 *
 *		for (gp_band band = gp_band_first(n, most); band.count > 0; gp_band_next(&band))
 */
typedef struct gp_band
{
	int64_t		first;
	int64_t		count;			/* most, or what is left at the end */
	int64_t		most;
	int64_t		end;
} gp_band;

/* The first band of n rows. */
static inline gp_band
gp_band_first(int64_t n, int64_t most)
{
	return (gp_band) {0, gp_min64(n, most), most, n};
}

/* Goes on to the next one, which has no rows behind the last. */
static inline void
gp_band_next(gp_band *band)
{
	band->first += band->count;
	band->count = gp_min64(band->most, band->end - band->first);
}

typedef enum gp_type
{
	GP_FLOAT,
	GP_DOUBLE
} gp_type;

typedef struct gp_matrix
{
	void	   *data;
	int64_t		rows;
	int64_t		cols;
	int64_t		ld;				/* elements from one row to the next, >= cols */
	gp_type		type;
} gp_matrix;

/*
 * A sparse matrix in compressed rows, in host memory.  The columns of a row
 * ascend and do not repeat.  value has the type of the dense matrices it is
 * multiplied with.  A stamp names a content that no other matrix of the process
 * has, so that a device may keep a copy; 0 is no name.  Whoever changes entries
 * of a matrix that a device has seen takes a new one (gp_csr_stamp).
 */
typedef struct gp_csr
{
	int64_t		rows;
	int64_t		cols;
	int64_t    *start;			/* rows + 1 offsets; start[rows] entries in all */
	int32_t    *col;
	void	   *value;
	gp_type		type;
	uint64_t	stamp;
} gp_csr;

/* The bytes of one element. */
static inline size_t
gp_type_size(gp_type type)
{
	return type == GP_FLOAT ? sizeof(float) : sizeof(double);
}

/* The entries of a sparse matrix. */
static inline int64_t
gp_csr_entries(const gp_csr *s)
{
	return s->start[s->rows];
}

/* Number k of an array of a type, in host memory. */
static inline double
gp_number_at(const void *array, gp_type type, int64_t k)
{
	return type == GP_FLOAT ? ((const float *) array)[k] : ((const double *) array)[k];
}

/* Its bits as they are stored. */
static inline uint64_t
gp_bits_at(const void *array, gp_type type, int64_t k)
{
	uint64_t	bits = 0;

	memcpy(&bits, (const char *) array + k * gp_type_size(type), gp_type_size(type));
	return bits;
}

/* Writes it, rounded to the type. */
static inline void
gp_number_put(void *array, gp_type type, int64_t k, double number)
{
	if (type == GP_FLOAT)
		((float *) array)[k] = (float) number;
	else
		((double *) array)[k] = number;
}

/* A view of host memory that the caller owns, rows tightly packed. */
static inline gp_matrix
gp_matrix_wrap(void *data, int64_t rows, int64_t cols, gp_type type)
{
	gp_matrix	m = {data, rows, cols, cols, type};

	return m;
}

/* The view of rows [row, row + rows) and columns [col, col + cols). */
static inline gp_matrix
gp_matrix_part(gp_matrix m, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
	m.data = (char *) m.data + (row * m.ld + col) * (int64_t) gp_type_size(m.type);
	m.rows = rows;
	m.cols = cols;
	return m;
}

/* The view of some rows, all columns. */
static inline gp_matrix
gp_matrix_rows(gp_matrix m, int64_t row, int64_t rows)
{
	return gp_matrix_part(m, row, 0, rows, m.cols);
}

/* The view of some columns, all rows. */
static inline gp_matrix
gp_matrix_cols(gp_matrix m, int64_t col, int64_t cols)
{
	return gp_matrix_part(m, 0, col, m.rows, cols);
}

/* The view of the diagonal of a square matrix, as a vector. */
static inline gp_matrix
gp_matrix_diagonal(gp_matrix m)
{
	m.ld++;
	m.cols = 1;
	return m;
}

#endif							/* GP_MATRIX_H */

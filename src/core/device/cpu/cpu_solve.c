/*
 * cpu_solve.c - triangular solves on the CPU.
 *
 * A solve splits its triangle in two and recurs: half of the unknowns, a
 * product that takes them out of the rest, the other half.  So nearly all the
 * work is done by OpenBLAS's products, which are faster than its solves; the
 * smallest triangles are solved by vector code of our own, by substitution.
 * Right sides are independent of each other and are shared out in slices.
 */

#include "cpu_internal.h"

/* The largest triangle solved by substitution. */
#define LEAF 64

/* Bytes of right sides that a leaf works on at a time; a multiple of 16 numbers. */
#define PANEL_BYTES 512

/* Slices are not cut thinner, where that leaves four of them: products would be slow. */
#define LEAST_SLICE 192

/* The largest triangle that one tile goes through. */
#define OUTER 2048

/* A triangular solve: b = op(l)^-1 b (left) or b op(l)^-1. */
typedef struct solve_job
{
	bool		left;
	bool		trans;
	gp_matrix	l;
	gp_matrix	b;
	int64_t		slice;			/* rows (left: columns) of b in a tile */
	const gp_simd_ops *ops;
	struct leaf_room *room;		/* of each worker; of its own in a tile */
} solve_job;

/* What a worker needs in a leaf: too large for the stack of a thread. */
typedef struct leaf_room
{
	double		t[LEAF * LEAF]; /* a packed triangle, of either type */
	char		panel[LEAF * PANEL_BYTES];
} leaf_room;

/* Whether the unknowns are found from the first to the last or backwards. */
static bool
solve_forward(const solve_job *job)
{
	return job->left != job->trans;
}

static int64_t
panel_length(gp_type type)
{
	return PANEL_BYTES / (int64_t) gp_type_size(type);
}

/* Solves for few columns, in a padded copy. */
static void
leaf_columns(const solve_job *job, gp_matrix b)
{
	char	   *buffer = job->room->panel;
	gp_matrix	x = {buffer, b.rows, b.cols, 16, b.type};
	size_t		bytes = (size_t) b.cols * gp_type_size(b.type);
	bool		forward = solve_forward(job);

	memset(buffer, 0, LEAF * 16 * sizeof(double));
	for (int64_t j = 0; j < b.rows; j++)
		memcpy(gp_matrix_at(x, j, 0), gp_matrix_at(b, forward ? j : b.rows - 1 - j, 0), bytes);
	job->ops->solve(b.rows, job->room->t, LEAF, 16, buffer, 16);
	for (int64_t j = 0; j < b.rows; j++)
		memcpy(gp_matrix_at(b, forward ? j : b.rows - 1 - j, 0), gp_matrix_at(x, j, 0), bytes);
}

/* Solves a small triangle from the left: the columns of b side by side are vectors. */
static void
leaf_left(const solve_job *job)
{
	const void *t = job->room->t;
	gp_matrix	b = job->b;
	bool		forward = solve_forward(job);
	int64_t		panel = panel_length(b.type);
	int64_t		c = 0;

	for (int64_t n; c + 16 <= b.cols; c += n)
	{
		n = gp_min64(panel, (b.cols - c) / 16 * 16);
		job->ops->solve(b.rows, t, LEAF, n, gp_matrix_at(b, forward ? 0 : b.rows - 1, c),
						forward ? b.ld : -b.ld);
	}
	if (c < b.cols)
		leaf_columns(job, gp_matrix_cols(b, c, b.cols - c));
}

/* Solves a small triangle from the right: rows of b, turned, are vectors. */
static void
leaf_right(const solve_job *job)
{
	const void *t = job->room->t;
	char	   *panel = job->room->panel;
	gp_matrix	b = job->b;
	bool		forward = solve_forward(job);
	int64_t		length = panel_length(b.type);
	size_t		size = gp_type_size(b.type);

	for (int64_t i = 0; i < b.rows; i += length)
	{
		gp_matrix	part = gp_matrix_rows(b, i, gp_min64(length, b.rows - i));
		int64_t		width = (part.rows + 15) / 16 * 16;

		if (width > part.rows)
			memset(panel, 0, (size_t) (b.cols * width) * size);
		job->ops->turn(part.rows, b.cols, part.data, b.ld, panel, width);
		job->ops->solve(b.cols, t, LEAF, width,
						panel + (size_t) (forward ? 0 : (b.cols - 1) * width) * size,
						forward ? width : -width);
		job->ops->turn(b.cols, part.rows, panel, width, part.data, b.ld);
	}
}

/* The rows (left) or columns of b that belong to a range of the triangle. */
static gp_matrix
solve_part(const solve_job *job, int64_t start, int64_t n)
{
	return job->left ? gp_matrix_rows(job->b, start, n) : gp_matrix_cols(job->b, start, n);
}

/* One half of a triangle, and the operands of the product between the halves. */
typedef struct solve_split
{
	solve_job	first;
	solve_job	second;
	gp_matrix	coupling;		/* the block below the diagonal */
} solve_split;

static solve_split
split_solve(const solve_job *job, int64_t half)
{
	int64_t		n = job->l.rows;
	bool		forward = solve_forward(job);
	solve_split s = {*job, *job, gp_matrix_part(job->l, half, 0, n - half, half)};
	solve_job  *upper = forward ? &s.first : &s.second;
	solve_job  *lower = forward ? &s.second : &s.first;

	upper->l = gp_matrix_part(job->l, 0, 0, half, half);
	upper->b = solve_part(job, 0, half);
	lower->l = gp_matrix_part(job->l, half, half, n - half, n - half);
	lower->b = solve_part(job, half, n - half);
	return s;
}

/* Solves all of b in the calling thread. */
static void
solve_alone(const solve_job *job)
{
	int64_t		n = job->l.rows;

	if (n <= LEAF)
	{
		/* The triangle in the order of substitution: minus the coefficients, and 1 / diagonal */
		gp_matrix	l = job->l;
		int64_t		k = l.rows;
		bool		forward = solve_forward(job);

		for (int64_t j = 0; j < k; j++)
			for (int64_t i = 0; i <= j; i++)
			{
				int64_t		at = forward ? j * l.ld + i : (k - 1 - i) * l.ld + (k - 1 - j);
				double		v = gp_number_at(l.data, l.type, at);

				/* The quotient of two floats is the same when it is rounded twice. */
				gp_number_put(job->room->t, l.type, j * LEAF + i, i == j ? 1 / v : -v);
			}
		if (job->left)
			leaf_left(job);
		else
			leaf_right(job);
		return;
	}
	solve_split	s = split_solve(job, (n / 2 + LEAF - 1) / LEAF * LEAF);
	solve_alone(&s.first);
	if (job->left)
		gp_blas_gemm(job->trans, false, -1.0, s.coupling, s.first.b, 1.0, s.second.b);
	else
		gp_blas_gemm(false, job->trans, -1.0, s.first.b, s.coupling, 1.0, s.second.b);
	solve_alone(&s.second);
}

static void
solve_tile(void *arg, int64_t tile, int worker)
{
	const solve_job *job = arg;
	solve_job	mine = *job;
	int64_t		length = job->left ? job->b.cols : job->b.rows;
	int64_t		start = tile * job->slice;
	int64_t		n = gp_min64(job->slice, length - start);

	mine.room = &job->room[worker];
	mine.b = job->left ? gp_matrix_cols(job->b, start, n) : gp_matrix_rows(job->b, start, n);
	solve_alone(&mine);
}

static void
solve_shared(gp_device *dev, solve_job *job)
{
	double		n = (double) job->l.rows;
	int64_t		length = job->left ? job->b.cols : job->b.rows;

	if (job->l.rows <= OUTER)
	{
		double		slice = gp_tile_flops(job->b.type, n * n * (double) length) / (n * n);

		slice = fmax(slice, fmin(LEAST_SLICE, (double) length / 4));
		job->slice = gp_even_part(length, slice);
		gp_cpu_run_blas(dev, solve_tile, job, (length + job->slice - 1) / job->slice);
		return;
	}
	solve_split	s = split_solve(job, (job->l.rows / 2 + LEAF - 1) / LEAF * LEAF);
	solve_shared(dev, &s.first);
	if (job->left)
		gp_cpu_gemm(dev, job->trans, false, -1.0, s.coupling, s.first.b, 1.0, s.second.b);
	else
		gp_cpu_gemm(dev, false, job->trans, -1.0, s.first.b, s.coupling, 1.0, s.second.b);
	solve_shared(dev, &s.second);
}

size_t
gp_cpu_solve_bytes(void)
{
	return sizeof(leaf_room);
}

void
gp_cpu_trsm(gp_device *dev, bool left, bool trans, gp_matrix l, gp_matrix b)
{
	solve_job	job = {.left = left, .trans = trans, .l = l, .b = b,
	.ops = gp_cpu_ops(dev, b.type), .room = gp_cpu_of(dev)->solve_room};

	gp_cpu_require(dev, l.type == b.type && l.rows == l.cols &&
				   l.rows == (left ? b.rows : b.cols) && l.ld <= INT32_MAX && b.ld <= INT32_MAX);
	if (b.rows > 0 && b.cols > 0)
		solve_shared(dev, &job);
}

/*
 * device.h - the table of operations that a processor offers.
 *
 * Evaluators are written once against this table and run on every device.  Each
 * entry works on float and on double; unless its comment says otherwise all
 * matrices of one call have the same type, do not overlap, and may have no rows
 * or no columns.  Results depend on the input and the device alone, never on
 * the number of threads: work is cut into blocks of fixed size, and sums over
 * blocks are added in a fixed order.
 *
 * Errors are raised through the device's environment, by the calling thread
 * and between blocks of work.  Every entry serves interrupts at least every
 * 50 ms of work.
 *
 * Vectors of diagonals (gp_matrix, n x 1) are always double.
 */
#ifndef GP_DEVICE_H
#define GP_DEVICE_H

#include "base/base.h"
#include "elementwise.h"
#include "walk_stream.h"

/* Element-wise functions of a covariance k_ij and the variances k_ii, k_jj. */
typedef enum gp_map
{
	GP_MAP_NONE,				/* k */
	/* the arc-cosine of degree one, E[relu(u) relu(v)] of a Gaussian pair with these covariances
	 * (Cho and Saul 2009): sqrt(k_ii k_jj) (sin t + (pi - t) cos t) / (2 pi) with
	 * cos t = k_ij / sqrt(k_ii k_jj); 0 where a variance is 0 */
	GP_MAP_RELU,
	GP_MAP_RBF,					/* exp(-p1 (k_ii + k_jj - 2 k)) */
	GP_MAP_POLY					/* (k + p1)^p2, p2 a positive whole number */
} gp_map;

/* One pointwise step: k becomes scale * map(k, k_ii, k_jj) + shift. */
typedef struct gp_stage
{
	gp_map		map;
	double		p1;
	double		p2;
	double		scale;
	double		shift;
	gp_matrix	diag;			/* n x 1: k_ii before this step; unused for NONE, POLY */
} gp_stage;

typedef struct gp_device gp_device;

struct gp_device
{
	const char *name;			/* "cpu", "cuda", or "dry": it only accounts */
	gp_env	   *env;
	int			threads;
	int64_t		row_block;		/* rows of a factor that evaluators take at once: enough to fill
								 * it */
	size_t		room;			/* bytes of its own for matrices, beside the environment's; 0 on the
								 * CPU */
	void	   *state;			/* the device's own */

	/* Memory.  create does not clear; destroy accepts a view whose data is NULL. */
	gp_matrix	(*create) (gp_device *dev, int64_t rows, int64_t cols, gp_type type);
	void		(*destroy) (gp_device *dev, gp_matrix *m);	/* sets data to NULL */
	void		(*upload) (gp_device *dev, gp_matrix dst, gp_matrix host);	/* converts the type */
	/* converts the type */
	void		(*download) (gp_device *dev, gp_matrix host, gp_matrix src);

	/* Copies and sums. */
	void		(*copy) (gp_device *dev, gp_matrix dst, gp_matrix src);		/* converts the type */
	void		(*fill) (gp_device *dev, gp_matrix dst, double value);
	/* y = a x + b y; b = 0 ignores y, x may be y */
	void		(*axpby) (gp_device *dev, double a, gp_matrix x, double b, gp_matrix y);
	void		(*shift) (gp_device *dev, gp_matrix x, double c);	/* x += c */
	void		(*transpose) (gp_device *dev, gp_matrix dst, gp_matrix src);	/* dst = src' */
	void		(*transpose_square) (gp_device *dev, gp_matrix x);	/* in place */
	void		(*gather_rows) (gp_device *dev, gp_matrix dst, gp_matrix src,
								const int32_t *index);	/* dst row i = src row index[i] */
	/* out (double, n x 1) = sum_j a_ij b_ij, added in double; a may be b */
	void		(*row_dots) (gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b);

	/* Changes each element of y (elementwise.h); b and c are of y's shape, and what an operation
	 * does not name is not looked at. */
	void		(*elementwise) (gp_device *dev, const gp_elementwise *e, gp_matrix y, gp_matrix a,
								gp_matrix b, gp_matrix c);

	/* Single elements: out[e] = m(row[e], col[e]), or m(row[e], col[e]) = value[e], in order. */
	void		(*take) (gp_device *dev, gp_matrix m, int64_t n, const int32_t *row,
						 const int32_t *col, double *out);
	void		(*put) (gp_device *dev, gp_matrix m, int64_t n, const int32_t *row,
						const int32_t *col, const double *value);

	/* Dense products. */
	/* c = alpha op(a) op(b) + beta c */
	void		(*gemm) (gp_device *dev, bool trans_a, bool trans_b, double alpha,
						 gp_matrix a, gp_matrix b, double beta, gp_matrix c);
	void		(*syrk) (gp_device *dev, bool trans, double alpha, gp_matrix a,
						 double beta, gp_matrix c);	/* c = alpha a a' (trans: a' a) + beta c; both
													 * triangles are set */

	/*
	 * Factorisations.  potrf overwrites a with its lower Cholesky factor, zeros
	 * above, and returns -1, or the first column whose pivot is not positive (a
	 * is then spoilt).  Only the lower triangle of a is read.  trtri inverts a
	 * lower triangular matrix in place.  syev takes n <= GP_SYEV_MAX: a becomes
	 * the eigenvectors (columns), w (n x 1, the type of a) the ascending
	 * eigenvalues.
	 */
	int64_t		(*potrf) (gp_device *dev, gp_matrix a);
	void		(*trtri) (gp_device *dev, gp_matrix l);
	void		(*syev) (gp_device *dev, gp_matrix a, gp_matrix w);

	/* b = op(l)^-1 b (left) or b op(l)^-1 (right); l is lower triangular. */
	void		(*trsm) (gp_device *dev, bool left, bool trans, gp_matrix l, gp_matrix b);

	/* Sparse products; s has the type of b and c. */
	void		(*spmm) (gp_device *dev, double alpha, const gp_csr *s, gp_matrix b,
						 double beta, gp_matrix c);	/* c = alpha s b + beta c */
	/* out[e] = (s b)(row[e], col[e]), each element by itself */
	void		(*spmm_take) (gp_device *dev, const gp_csr *s, gp_matrix b, int64_t n,
							  const int32_t *row, const int32_t *col, double *out);
	void		(*csr_rows) (gp_device *dev, gp_matrix dst, const gp_csr *s,
							 const int32_t *index, int64_t n);	/* dst (s->cols x n) = s(index, :)'
																 * as a dense matrix */
	/* dst (b->cols x n) = alpha (a b)(index, :)', entry by entry */
	void		(*csr_product_rows) (gp_device *dev, gp_matrix dst, double alpha, const gp_csr *a,
									 const gp_csr *b, const int32_t *index, int64_t n);

	/*
	 * Walks between the ends of pairs over weighted middles.  s is a symmetric
	 * pattern (its values are not read), w has the weights of its nodes (s->rows x
	 * GP_PATH_LANES float), and for (i, j) = (src[e], dst[e])
	 *   two(e, q) = sum_a s_ia w_aq s_aj
	 *   three(e, q) = sum_ab s_ia w_aq s_ab w_bq s_bj.
	 * Where cut[e] is set (cut may be NULL) no walk uses the link i - j.  Pairs of
	 * one source share work when they stand side by side.
	 */
	void		(*pair_paths) (gp_device *dev, const gp_csr *s, gp_matrix w, int64_t n,
							   const int32_t *src, const int32_t *dst, const bool *cut,
							   double *two, double *three);

	/*
	 * The loads that random walks leave (walk_stream.h), times factor, as the rows
	 * of a sparse matrix of double: fills out's start (there is room for all rows),
	 * makes its col and value, columns ascending.  The bits are the host's.  NULL
	 * where the host does as well.
	 */
	void		(*random_walks) (gp_device *dev, gp_walk_task task, double factor, gp_csr *out);

	/*
	 * Applies one stage to a block of covariances in place.  Row i of k is node
	 * row0 + i, column j is node cols[j] (or j itself when cols is NULL); the
	 * stage's diag is indexed by node.  Where row and column are one node, k is
	 * set to the map of the diagonal itself, so that rounding cannot spoil it.
	 */
	void		(*map) (gp_device *dev, const gp_stage *stage, gp_matrix k,
						int64_t row0, const int32_t *cols);

	/* diag becomes scale * map(diag) + shift, the variance after a stage; n x 1. */
	void		(*map_diag) (gp_device *dev, const gp_stage *stage, gp_matrix diag);

	/*
	 * out_i = sum over j, k in row i of s of s_ij s_ik f(<z_j, z_k>), f being the
	 * stages in order: the diagonal of S K S' where K is cheap by pairs.  z is
	 * sparse (zs) or dense (zd), the other is NULL; s has the type of z.
	 * out is n x 1 double.
	 */
	void		(*pair_diag) (gp_device *dev, const gp_csr *s, const gp_csr *zs,
							  const gp_matrix *zd, const gp_stage *stages, int nstages,
							  gp_matrix out);

	/* Ends the device: threads, handles, memory.  Called by gp_env's own, too. */
	void		(*close) (gp_device *dev);
};

#define GP_PATH_LANES 2			/* weights of a middle */

/* The largest matrix that syev takes: no eigensolver can be interrupted. */
#define GP_SYEV_MAX 512

/*
 * Opens the CPU device: OpenBLAS, loaded at the first call, and threads - 1
 * helper threads that block all signals.  Raises GP_ERR_DEVICE when OpenBLAS
 * cannot be loaded.
 */
extern gp_device *gp_device_cpu(gp_env *env, int threads);

/*
 * Threads of the CPU that take whole pieces of work, for what is too small to be shared out
 * operation by operation.  A piece gets a CPU device of one thread, whose environment has memory
 * that was allocated before and ends with the piece, and the number of the thread.  It may be left
 * at any look at interrupts and any allocation, and is then begun again; what it leaves behind must
 * depend on its own number alone.
 */
typedef struct gp_crew gp_crew;
typedef void (*gp_crew_work) (void *job, gp_device *dev, int worker, int64_t piece);

/* So many threads with so many bytes each, fewer where the limit asks for it; NULL where none has
 * room. */
extern gp_crew *gp_crew_open(gp_env *host, int threads, size_t room);
extern int	gp_crew_size(const gp_crew *crew);

/* The bytes that a thread needs for a piece, by a dry run of it on a device like this one. */
extern size_t gp_crew_room(gp_device *dev, gp_crew_work work, void *job, int64_t piece);

/*
 * Does all pieces; a dry run counts their operations.  What no thread could do, for its memory or
 * for an interrupt, is done on a device of the host, alone, by worker 0.
 */
extern void gp_crew_run(gp_crew *crew, gp_crew_work work, void *job, int64_t pieces,
						gp_device *alone);
extern void gp_crew_close(gp_crew *crew);

/* Destroys several matrices, in this order. */
static inline void
gp_destroy_array(gp_device *dev, int n, gp_matrix *const *m)
{
	for (int i = 0; i < n; i++)
		dev->destroy(dev, m[i]);
}

#define gp_destroy_all(dev, ...) \
	gp_destroy_array(dev, sizeof((gp_matrix *[]) {__VA_ARGS__}) / sizeof(gp_matrix *), \
					 (gp_matrix *[]) {__VA_ARGS__})

/* What a computation takes. */
typedef struct gp_count
{
	double		bytes;			/* high-water mark of the environment */
	double		flops;			/* true operations */
	double		effort;			/* the same, sparse ones weighted by how much slower they run */
	double		doubles;		/* those of the operations that are in double precision */
} gp_count;

#define GP_SPARSE_EFFORT 8.0	/* a sparse multiplication takes as long as so many dense ones */

/*
 * What a piece of work takes, which is done once on a device of its own: one that computes nothing
 * and accounts for everything, in an environment for dry runs (dry_device.c).  Its matrices are the
 * CPU's in size and have no memory; its operations take the CPU's scratch, for as many threads and
 * in the blocks of rows of like.  It has all but random_walks, and each operation succeeds.
 */
typedef void (*gp_dry_work) (gp_device *dry, void *arg);
extern gp_count gp_dry_run(gp_device *like, gp_dry_work work, void *arg);

/* What has been taken on it so far. */
extern gp_count gp_dry_count(gp_device *dry);

/* Adds operations that were counted before; memory is not among them. */
extern void gp_dry_add(gp_device *dry, const gp_count *more);

/* Adds so many times what was taken since a count: a loop of which a dry run goes through one
 * round. */
extern void gp_dry_repeat(gp_device *dry, const gp_count *since, double times);

/* The bytes of a matrix as the CPU allocates it. */
static inline double
gp_matrix_bytes(double rows, double cols, gp_type type)
{
	double		ld = cols <= 1 ? cols : (double) (((int64_t) cols + 15) / 16 * 16);

	return rows * ld * (double) gp_type_size(type) + 64.0;
}

/* The name of OpenBLAS's chosen core and of our own vector code, for reports. */
extern const char *gp_device_cpu_describe(gp_device *dev);

#endif							/* GP_DEVICE_H */

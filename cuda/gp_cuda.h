/*
 * gp_cuda.h - what the files of the CUDA device share.
 *
 * Matrices lie on the card; those for which it has no room, and matrices of the
 * caller's own, lie in host memory.  An operation takes either: it stages what
 * is not on the card, whole, or in blocks of rows that flow through pinned
 * buffers while the block before is worked on.  What an operation writes to
 * host memory is there when it returns.
 *
 * All arithmetic is queued on one stream, in order.  The host runs ahead by at
 * most GP_CUDA_AHEAD short pieces of work (gp_cuda_pace), so that a cancel never
 * waits for more.  What flows and sums are cut into depends on sizes and the kind of
 * card alone, never on what memory is free, and so do the bits.  Each gp_cuda_
 * function of an operation is the entry of that name in the table (device.h says
 * what it does).
 */
#ifndef GP_CUDA_H
#define GP_CUDA_H

#include <signal.h>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#define GP_ON_CARD __host__ __device__

extern "C"
{
#include "device/cuda_module.h"
}

#define GP_CUDA_AHEAD 3			/* pieces of work that may be queued */
#define GP_CUDA_PIECE 0.01		/* seconds of a piece, by the card's own rates */
#define GP_CUDA_LANES 3			/* blocks of rows that are under way at once */
#define GP_CUDA_RING 4			/* pieces of pinned memory that uploads go through */
#ifndef GP_CUDA_EMULATED
#define GP_CUDA_BUFFER ((size_t) 64 << 20)	/* bytes of a block of rows, and of the rows that are added up at once */
#define GP_CUDA_RING_BYTES ((size_t) 2 << 20)	/* bytes of a piece of the ring */
#define GP_CUDA_WORKSPACE ((size_t) 32 << 20)	/* bytes that cuBLAS works in, the same whatever is free, for its bits depend on them */
#else							/* so small that what tests have takes many blocks */
#define GP_CUDA_BUFFER ((size_t) 96 << 10)
#define GP_CUDA_RING_BYTES ((size_t) 16 << 10)
#define GP_CUDA_WORKSPACE ((size_t) 4 << 10)
#endif
#define GP_CUDA_SEGMENT 512		/* entries of a sparse row that one warp adds up */

/* Memory on the card; the newest first. */
typedef struct gp_cuda_block
{
	char	   *data;
	size_t		bytes;
	struct gp_cuda_block *next;
	struct gp_cuda_block *prev;
} gp_cuda_block;

/* A matrix in host memory that was made by create. */
typedef struct gp_cuda_spill
{
	void	   *data;
	struct gp_cuda_spill *next;
} gp_cuda_spill;

/* A sparse matrix on the card. */
typedef struct gp_cuda_csr
{
	int64_t		rows;
	int64_t		cols;
	int64_t		entries;
	gp_type		type;
	int64_t    *start;
	int32_t    *col;
	void	   *value;			/* NULL for a pattern */

	/*
	 * Rows of more than GP_CUDA_SEGMENT entries are cut: segment k is the entries
	 * [first[k], first[k] + length[k]), long row k is row long_row[k] - row0 and has
	 * the segments [long_start[k] - segment0, long_start[k + 1] - segment0).
	 */
	int64_t		nsegments;
	int64_t    *segment_first;
	int32_t    *segment_length;
	int64_t		nlong;
	int32_t    *long_row;
	int64_t    *long_start;
	int64_t		row0;
	int64_t		segment0;
	int64_t		long0;			/* of a view: the whole's long rows before it */
	int32_t    *host_row;		/* the host's copies of the whole's long_row and long_start */
	int64_t    *host_start;

	/* What it is a copy of, and its place among the copies that are kept. */
	gp_csr		source;			/* its arrays are compared, never read */
	size_t		bytes;
	bool		kept;
	int			open;			/* operations that work with it now */
	uint64_t	used;
	struct gp_cuda_csr *whole;	/* what it is some rows of, or NULL */
	struct gp_cuda_csr *next;
} gp_cuda_csr;

typedef struct gp_cuda
{
	gp_device	dev;
	gp_env	   *env;
	int			card;
	bool		started;		/* the driver's context is there */
	cudaStream_t stream;		/* all arithmetic */
	cudaStream_t in;			/* blocks of rows on their way to the card */
	cudaStream_t out;			/* and back */
	cudaMemPool_t pool;			/* NULL where the card has none */
	cublasHandle_t blas;
	cusolverDnHandle_t solver;
	cudaEvent_t ahead[GP_CUDA_AHEAD];
	int			next_ahead;
	cudaEvent_t ready;			/* all that is queued, for those who wait for it */
	cudaEvent_t entered[GP_CUDA_LANES];	/* a block has come in */
	cudaEvent_t worked[GP_CUDA_LANES];	/* it was worked on */
	cudaEvent_t left[GP_CUDA_LANES];	/* it has gone out */
	cudaEvent_t sent[GP_CUDA_RING]; /* the uploads out of a piece of the ring are over */
	size_t		held;			/* bytes of matrices on the card */
	size_t		taken;			/* bytes of all blocks */
	size_t		most;			/* that may be taken; 0 = all that there are */
	size_t		cache_bytes;	/* bytes of sparse matrices that are kept */
	size_t		l2;				/* bytes of the card's cache */
	size_t		reserve;		/* bytes beside the room, for scratch space and sparse matrices in use */
	bool		tf32;
	double		piece_flops[2];	/* operations of a piece, by type */
	double		piece_bytes;	/* bytes moved by one */
	double		piece_steps;	/* look-ups of one */
	char	   *lane[GP_CUDA_LANES];	/* pinned memory that blocks of rows go through */
	char	   *buffer[GP_CUDA_LANES];	/* the same on the card */
	size_t		lane_bytes;
	bool		lane_pinned;
	char	   *ring;			/* pinned memory that uploads go through */
	bool		ring_pinned;
	int			ring_at;		/* the piece that is filled */
	size_t		ring_used;		/* bytes of it */
	void	   *workspace;		/* cuBLAS's own, so that its bits do not depend on others */
	gp_cuda_block *blocks;
	gp_cuda_spill *spills;
	gp_cuda_csr *csr;
	uint64_t	clock;			/* for csr's used */
} gp_cuda;

/* Makes the device's card the one that calls go to, where another device came between. */
extern void gp_cuda_switch(gp_cuda *c);

/* The CUDA device behind a table. */
static inline gp_cuda *
gp_cuda_of(gp_device *dev)
{
	gp_cuda_switch((gp_cuda *) dev->state);
	return (gp_cuda *) dev->state;
}

/* Raises GP_ERR_DEVICE where a call failed; what names it (cuda_device.cu). */
extern void gp_cuda_check(gp_cuda *c, cudaError_t error, const char *what);
extern void gp_cuda_check(gp_cuda *c, cublasStatus_t status, const char *what);
extern void gp_cuda_check(gp_cuda *c, cusolverStatus_t status, const char *what);
#define gp_cuda_try(c, call) gp_cuda_check((c), (call), #call)

extern void gp_cuda_refuse(gp_cuda *c, const char *operation) __attribute__((noreturn));

/* Checks the arguments of the calling operation. */
#define gp_cuda_require(c, condition) \
	do { \
		if (!(condition)) \
			gp_cuda_refuse((c), __func__); \
	} while (0)

/* Ends a piece of work: the host waits while too many are queued, and serves interrupts. */
extern void gp_cuda_pace(gp_cuda *c);

/* Waits for an event, or for all that is queued, serving interrupts. */
extern void gp_cuda_wait_event(gp_cuda *c, cudaEvent_t event);
extern void gp_cuda_wait(gp_cuda *c);

/* A device, and the function that launches on it, which errors name. */
struct gp_cuda_from
{
	gp_cuda    *c;
	const char *where;

	gp_cuda_from(gp_cuda *device, const char *function = __builtin_FUNCTION()) : c(device), where(function)
	{
	}
};

/* Raises the error of a launch, if there was one (cuda_device.cu). */
extern void gp_cuda_launched(gp_cuda *c, const char *where);

/* Starts a kernel on the device's stream. */
template <typename... P, typename... A>
static inline void
gp_cuda_launch(gp_cuda_from from, dim3 grid, dim3 block, void (*kernel) (P...), A... arg)
{
	gp_cuda    *c = from.c;

	if (grid.x == 0 || grid.y == 0 || grid.z == 0)
		return;
#ifdef GP_CUDA_EMULATED
	gp_emulate_launch(grid, block, c->stream, [=]() { kernel((P) arg...); });
#else
	kernel<<<grid, block, 0, c->stream>>>((P) arg...);
#endif
	gp_cuda_launched(c, from.where);
}

/* Blocks of size items that n items take, within what a grid can have. */
static inline unsigned
gp_cuda_blocks(int64_t n, int64_t size, int64_t most)
{
	int64_t		blocks = (n + size - 1) / size;

	return (unsigned) (blocks < most ? blocks : most);
}

#define GP_CUDA_MOST_X INT64_C(2147483647)
#define GP_CUDA_MOST_Y INT64_C(65535)

/* Memory (cuda_memory.cu). */
extern gp_matrix gp_cuda_create(gp_device *dev, int64_t rows, int64_t cols, gp_type type);
extern void gp_cuda_destroy(gp_device *dev, gp_matrix *m);
extern void gp_cuda_upload(gp_device *dev, gp_matrix dst, gp_matrix host);
extern void gp_cuda_download(gp_device *dev, gp_matrix host, gp_matrix src);

/* Memory on the card for the length of an operation; freed by itself after an error. */
extern void *gp_cuda_scratch(gp_cuda *c, size_t bytes);
extern void gp_cuda_scratch_free(gp_cuda *c, void *p);
extern gp_matrix gp_cuda_scratch_matrix(gp_cuda *c, int64_t rows, int64_t cols, gp_type type);

/* A scratch copy of n items of a host array, and the way back. */
extern void *gp_cuda_bring(gp_cuda *c, const void *host, int64_t n, size_t size);
extern void gp_cuda_fetch(gp_cuda *c, void *host, const void *p, int64_t n, size_t size);

/* True when a matrix lies on the card; an empty one does. */
extern bool gp_cuda_resident(const gp_cuda *c, gp_matrix m);

/* The same for rows of one type; the way to the card has read the host's when it returns (cuda_ring.cu). */
extern void gp_cuda_send(gp_cuda *c, void *p, const void *host, size_t bytes);
extern void gp_cuda_send_rows(gp_cuda *c, gp_matrix dst, gp_matrix host);
extern void gp_cuda_fetch_rows(gp_cuda *c, gp_matrix host, gp_matrix src);

/* Pinned memory, or where the driver has none the host's; and its end, which raises nothing. */
extern char *gp_cuda_pin(gp_cuda *c, size_t bytes, bool *pinned);
extern void gp_cuda_unpin(gp_cuda *c, char *p, bool pinned);

/* The bytes of a row of a matrix that create or scratch_matrix makes. */
extern size_t gp_cuda_row_bytes(gp_cuda *c, int64_t cols, gp_type type);

/* Frees all memory; raises nothing. */
extern void gp_cuda_release_memory(gp_cuda *c);

/* What a card does in a second at most (cuda_card.cu). */
typedef struct gp_cuda_rates
{
	double		flops[2];		/* by type */
	double		bytes;			/* of its memory */
	double		steps;			/* look-ups in memory that its cache holds */
} gp_cuda_rates;

extern cudaError_t gp_cuda_find_rates(int card, const struct cudaDeviceProp *props, gp_cuda_rates *rates);

/* The cards that there are (cuda_module.h). */
extern int	gp_cuda_list(gp_cuda_card *card, int most, char *reason);

/* Blocks all signals; before is the mask to put back. */
extern void gp_cuda_block_signals(sigset_t *before);

/* Sparse matrices on the card (cuda_csr.cu); close what open gave. */
extern gp_cuda_csr *gp_cuda_csr_open(gp_cuda *c, const gp_csr *s);
extern void gp_cuda_csr_close(gp_cuda *c, gp_cuda_csr *s);

/* Frees the sparse matrices that are kept and not in use; true when there were any. */
extern bool gp_cuda_csr_evict(gp_cuda *c);

/* Staging (cuda_stage.cu). */
enum
{
	GP_READ = 1,
	GP_WRITE = 2,
	GP_BOTH = 3
};

/* A matrix as an operation sees it: on the card. */
typedef struct gp_staged
{
	gp_matrix	m;				/* what the operation works on */
	gp_matrix	host;
	int			how;
	bool		staged;
} gp_staged;

/* Frees the pinned memory that flows go through. */
extern void gp_cuda_free_lanes(gp_cuda *c);

extern gp_staged gp_cuda_stage(gp_cuda *c, gp_matrix m, int how);
extern void gp_cuda_unstage(gp_cuda *c, gp_staged *s);

/* A matrix of which an operation takes a block of rows at a time. */
typedef struct gp_flow
{
	gp_matrix	m;
	int			how;
	bool		resident;
	size_t		offset;			/* of its rows in a lane and a buffer */
	int64_t		row[GP_CUDA_LANES];	/* rows that come back through each lane */
	int64_t		rows[GP_CUDA_LANES];
} gp_flow;

/* The rows of a block.  An operation whose bits depend on them gets the same wherever its matrices lie. */
extern int64_t gp_cuda_flow_open(gp_cuda *c, gp_flow *flow, int n, bool fixed);
extern void gp_cuda_flow_enter(gp_cuda *c, gp_flow *flow, int n, int64_t row, int64_t rows, int slot,
							   gp_matrix *part);
extern void gp_cuda_flow_leave(gp_cuda *c, gp_flow *flow, int n, int64_t row, int64_t rows, int slot);
extern void gp_cuda_flow_close(gp_cuda *c, gp_flow *flow, int n);

/*
 * Runs body(row, part) for blocks of rows of n matrices of one height, part[k] being
 * on the card.  Where the bits depend on how rows are cut, fixed is true.
 */
template <class F>
static inline void
gp_cuda_rows(gp_cuda *c, gp_flow *flow, int n, bool fixed, F body)
{
	gp_matrix	part[4];
	int64_t		rows = flow[0].m.rows;
	int64_t		height = gp_cuda_flow_open(c, flow, n, fixed);
	int			slot = 0;

	for (int64_t row = 0; row < rows; row += height, slot = (slot + 1) % GP_CUDA_LANES)
	{
		int64_t		take = rows - row < height ? rows - row : height;

		gp_cuda_flow_enter(c, flow, n, row, take, slot, part);
		body(row, part);
		gp_cuda_flow_leave(c, flow, n, row, take, slot);
	}
	gp_cuda_flow_close(c, flow, n);
}

/* Element-wise work: f(i, j) for each element of a rows x cols matrix. */
template <class F>
__global__ void __launch_bounds__(256)
gp_each_wide(int64_t rows, int64_t cols, F f)
{
	for (int64_t i = blockIdx.y * (int64_t) blockDim.y + threadIdx.y; i < rows;
		 i += (int64_t) gridDim.y * blockDim.y)
		for (int64_t j = blockIdx.x * (int64_t) blockDim.x + threadIdx.x; j < cols;
			 j += (int64_t) gridDim.x * blockDim.x)
			f(i, j);
}

/* The same where rows are short: neighbouring threads take neighbouring rows. */
template <class F>
__global__ void __launch_bounds__(256)
gp_each_tall(int64_t rows, int64_t cols, F f)
{
	int64_t		i = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;

	if (i < rows)
		for (int64_t j = 0; j < cols; j++)
			f(i, j);
}

/* Runs f for each element, on the card. */
template <class F>
static inline void
gp_cuda_each(gp_cuda_from c, int64_t rows, int64_t cols, F f)
{
	if (rows == 0 || cols == 0)
		return;
	if (cols < 8)
		gp_cuda_launch(c, dim3(gp_cuda_blocks(rows, 256, GP_CUDA_MOST_X)), dim3(256),
					   gp_each_tall<F>, rows, cols, f);
	else
		gp_cuda_launch(c, dim3(gp_cuda_blocks(cols, 32, GP_CUDA_MOST_X),
							   gp_cuda_blocks(rows, 8, GP_CUDA_MOST_Y)), dim3(32, 8),
					   gp_each_wide<F>, rows, cols, f);
}

/* Element i, j of a matrix on the card. */
template <typename T>
__device__ static __forceinline__ T &
gp_at(gp_matrix m, int64_t i, int64_t j)
{
	return ((T *) m.data)[i * m.ld + j];
}

/* The sum over a warp, the same in all lanes and in the same order always. */
template <typename T>
__device__ static __forceinline__ T
gp_warp_sum(T v)
{
	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

/* Calls f<float>(...) or f<double>(...). */
#define gp_cuda_typed(type, f, ...) \
	do { \
		if ((type) == GP_FLOAT) \
			f<float>(__VA_ARGS__); \
		else \
			f<double>(__VA_ARGS__); \
	} while (0)

/* The operations. */
extern void gp_cuda_copy(gp_device *dev, gp_matrix dst, gp_matrix src);
extern void gp_cuda_fill(gp_device *dev, gp_matrix dst, double value);
extern void gp_cuda_axpby(gp_device *dev, double a, gp_matrix x, double b, gp_matrix y);
extern void gp_cuda_shift(gp_device *dev, gp_matrix x, double value);
extern void gp_cuda_transpose(gp_device *dev, gp_matrix dst, gp_matrix src);
extern void gp_cuda_transpose_square(gp_device *dev, gp_matrix x);
extern void gp_cuda_gather_rows(gp_device *dev, gp_matrix dst, gp_matrix src, const int32_t *index);
extern void gp_cuda_row_dots(gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b);
extern void gp_cuda_elementwise(gp_device *dev, const gp_elementwise *e, gp_matrix y, gp_matrix a, gp_matrix b,
								gp_matrix c);
extern void gp_cuda_take(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row,
						 const int32_t *col, double *out);
extern void gp_cuda_put(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row,
						const int32_t *col, const double *value);
extern void gp_cuda_gemm(gp_device *dev, bool trans_a, bool trans_b, double alpha, gp_matrix a,
						 gp_matrix b, double beta, gp_matrix c);
extern void gp_cuda_syrk(gp_device *dev, bool trans, double alpha, gp_matrix a, double beta,
						 gp_matrix c);
extern int64_t gp_cuda_potrf(gp_device *dev, gp_matrix a);
extern void gp_cuda_trtri(gp_device *dev, gp_matrix l);
extern void gp_cuda_syev(gp_device *dev, gp_matrix a, gp_matrix w);
extern void gp_cuda_trsm(gp_device *dev, bool left, bool trans, gp_matrix l, gp_matrix b);
extern void gp_cuda_spmm(gp_device *dev, double alpha, const gp_csr *s, gp_matrix b, double beta,
						 gp_matrix c);
extern void gp_cuda_spmm_take(gp_device *dev, const gp_csr *s, gp_matrix b, int64_t n,
							  const int32_t *row, const int32_t *col, double *out);
extern void gp_cuda_csr_rows(gp_device *dev, gp_matrix dst, const gp_csr *s, const int32_t *index,
							 int64_t n);
extern void gp_cuda_csr_product_rows(gp_device *dev, gp_matrix dst, double alpha, const gp_csr *a,
									 const gp_csr *b, const int32_t *index, int64_t n);
extern void gp_cuda_pair_paths(gp_device *dev, const gp_csr *s, gp_matrix w, int64_t n,
							   const int32_t *src, const int32_t *dst, const bool *cut,
							   double *two, double *three);
extern void gp_cuda_random_walks(gp_device *dev, gp_walk_task task, double factor, gp_csr *out);
extern void gp_cuda_map(gp_device *dev, const gp_stage *stage, gp_matrix k, int64_t row0,
						const int32_t *cols);
extern void gp_cuda_map_diag(gp_device *dev, const gp_stage *stage, gp_matrix diag);
extern void gp_cuda_pair_diag(gp_device *dev, const gp_csr *s, const gp_csr *zs,
							  const gp_matrix *zd, const gp_stage *stages, int nstages,
							  gp_matrix out);

/* trsm, and the lower triangle of syrk, on the card, in pieces, exactly (cuda_dense.cu). */
extern void gp_cuda_trsm_card(gp_cuda *c, bool left, bool trans, gp_matrix l, gp_matrix b);
extern void gp_cuda_syrk_card(gp_cuda *c, double alpha, gp_matrix a, double beta, gp_matrix x);

/* dst = alpha src' + beta dst, both on the card (cuda_copy.cu). */
extern void gp_cuda_transpose_add(gp_cuda *c, double alpha, gp_matrix src, double beta,
								  gp_matrix dst);

#endif							/* GP_CUDA_H */

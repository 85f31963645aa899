/*
 * cuda_device.cu - the CUDA device: opening and closing, waiting, errors.
 *
 * A device belongs to one computation of one backend.  Its streams, handles and
 * memory end with it, or with the environment after an error; what the driver
 * keeps for the process (its context) stays until the process ends.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gp_cuda.h"

#define RESERVE 0.1				/* share of the free memory that is left to scratch space and libraries */
#define ROW_BLOCK 16384			/* rows of a factor that evaluators take at once */
#define SLACK ((size_t) 256 << 20)	/* bytes that an operation may take beyond the caller's limit */
#define EVENTS (GP_CUDA_AHEAD + 1 + 3 * GP_CUDA_LANES + GP_CUDA_RING)	/* that event_at knows */
#define SPINS 200				/* looks at an event before the host sleeps between them */
#define SLEEP_US 100

static bool card_lost = false;
static int	current_card = -1;
static uint64_t no_image = 0;	/* cards, one bit each, that the library has no code for */

/* True when the card failed in a way that this process cannot go on from. */
static bool
lost(void)
{
	return card_lost;
}

/* Decides whether this process can go on with the card: a card that is lost fails at everything. */
static void
note_error(gp_cuda *c)
{
	cudaError_t state = c->stream ? cudaStreamSynchronize(c->stream) : cudaSuccess;

	(void) cudaGetLastError();
	if (state != cudaSuccess && state != cudaErrorMemoryAllocation)
		card_lost = true;
}

/* Raises the error of a call, which may be the lack of memory on the card. */
static void __attribute__((noreturn))
fail(gp_cuda *c, bool memory, const char *what, const char *why)
{
	note_error(c);
	if (memory)
		gp_raise(c->env, GP_ERR_DEVICE,
				 "Set gnngp.device to cpu, use fewer landmarks, raise gnngp.gpu_memory_limit where it is set, or wait until other programs have freed some.",
				 "out of memory on the GPU");
	gp_raise(c->env, GP_ERR_DEVICE, NULL, "the GPU failed in %.*s: %s", (int) strcspn(what, "("), what,
			 why);
}

/* CUDA's runtime */
void
gp_cuda_check(gp_cuda *c, cudaError_t error, const char *what)
{
	if (error != cudaSuccess)
		fail(c, error == cudaErrorMemoryAllocation, what, cudaGetErrorString(error));
}

/* The error of a launch; lack of the card's own code is said so. */
void
gp_cuda_launched(gp_cuda *c, const char *where)
{
	cudaError_t error = cudaGetLastError();
	char		what[128];

	if (error == cudaSuccess)
		return;
	snprintf(what, sizeof(what), "the kernel of %s", where);
	gp_cuda_check(c, error, what);
}

/* cuBLAS */
void
gp_cuda_check(gp_cuda *c, cublasStatus_t status, const char *what)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		fail(c, status == CUBLAS_STATUS_ALLOC_FAILED, what, cublasGetStatusString(status));
}

/* cuSOLVER, which has no texts for its errors */
void
gp_cuda_check(gp_cuda *c, cusolverStatus_t status, const char *what)
{
	char		why[32];

	if (status == CUSOLVER_STATUS_SUCCESS)
		return;
	snprintf(why, sizeof(why), "cuSOLVER status %d", (int) status);
	fail(c, status == CUSOLVER_STATUS_ALLOC_FAILED, what, why);
}

/* Raises GP_ERR_INTERNAL for arguments that an operation cannot have. */
void
gp_cuda_refuse(gp_cuda *c, const char *operation)
{
	gp_raise(c->env, GP_ERR_INTERNAL, NULL,
			 "operands of the device operation \"%s\" do not fit together", operation);
}

/* Makes the device's card the one that calls go to. */
void
gp_cuda_switch(gp_cuda *c)
{
	if (c->card == current_card)
		return;
	gp_cuda_try(c, cudaSetDevice(c->card));
	current_card = c->card;
}

/* Waits for an event, serving interrupts; sleeps once it takes longer than some microseconds. */
void
gp_cuda_wait_event(gp_cuda *c, cudaEvent_t event)
{
	for (int64_t look = 0;; look++)
	{
		cudaError_t state = cudaEventQuery(event);

		if (state == cudaSuccess)
			return;
		if (state != cudaErrorNotReady)
			gp_cuda_check(c, state, "cudaEventQuery");
		(void) cudaGetLastError();	/* not ready is no error of the next launch */
		if (c->env->interrupt_pending(c->env))
			c->env->check_interrupts(c->env);
		if (look > SPINS)
			usleep(SLEEP_US);
	}
}

/* Ends a piece of work: the host waits while too many are queued. */
void
gp_cuda_pace(gp_cuda *c)
{
	cudaEvent_t oldest = c->ahead[c->next_ahead];

	if (c->env->interrupt_pending(c->env))
		c->env->check_interrupts(c->env);
	gp_cuda_wait_event(c, oldest);
	gp_cuda_try(c, cudaEventRecord(oldest, c->stream));
	c->next_ahead = (c->next_ahead + 1) % GP_CUDA_AHEAD;
}

/* Waits for all that is queued. */
void
gp_cuda_wait(gp_cuda *c)
{
	gp_cuda_try(c, cudaEventRecord(c->ready, c->stream));
	gp_cuda_wait_event(c, c->ready);
}

/* The events of a device, one by one. */
static cudaEvent_t *
event_at(gp_cuda *c, int k)
{
	if (k < GP_CUDA_AHEAD)
		return &c->ahead[k];
	k -= GP_CUDA_AHEAD;
	if (k < GP_CUDA_RING)
		return &c->sent[k];
	k -= GP_CUDA_RING;
	if (k < 3 * GP_CUDA_LANES)
		return k % 3 == 0 ? &c->entered[k / 3] : k % 3 == 1 ? &c->worked[k / 3] : &c->left[k / 3];
	return &c->ready;
}

/* Ends streams, handles and memory. */
static void
end_card(gp_cuda *c)
{
	if (c->card != current_card && cudaSetDevice(c->card) == cudaSuccess)
		current_card = c->card;
	if (c->stream)
		(void) cudaStreamSynchronize(c->stream);
	if (c->in)
		(void) cudaStreamSynchronize(c->in);
	if (c->out)
		(void) cudaStreamSynchronize(c->out);
	gp_cuda_release_memory(c);
	if (c->solver)
		(void) cusolverDnDestroy(c->solver);
	if (c->blas)
		(void) cublasDestroy(c->blas);
	if (c->stream)
		(void) cudaStreamSynchronize(c->stream);
	for (int k = 0; k < EVENTS; k++)
		if (*event_at(c, k))
			(void) cudaEventDestroy(*event_at(c, k));
	if (c->pool)
		(void) cudaMemPoolDestroy(c->pool);
	if (c->stream)
		(void) cudaStreamDestroy(c->stream);
	if (c->in)
		(void) cudaStreamDestroy(c->in);
	if (c->out)
		(void) cudaStreamDestroy(c->out);
	if (c->lane_pinned)
		gp_cuda_free_lanes(c);
	if (c->ring_pinned)
	{
		gp_cuda_unpin(c, c->ring, true);
		c->ring = NULL;
	}
	if (card_lost)
		(void) cudaDeviceReset();	/* nothing of this process can use the card again */
	(void) cudaGetLastError();
}

/*
 * The same where anything was started; raises nothing, for it also runs after an
 * error.  A context that is started on the way has threads, too.
 */
static void
release(void *resource)
{
	gp_cuda    *c = (gp_cuda *) resource;
	sigset_t	before;

	if (!c->started)
		return;
	gp_cuda_block_signals(&before);
	end_card(c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Closes the device. */
static void
close_device(gp_device *dev)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_env	   *env = c->env;

	(void) gp_cuda_csr_evict(c);
	gp_cuda_scratch_free(c, c->workspace);
	for (int slot = 0; slot < GP_CUDA_LANES; slot++)
		gp_cuda_scratch_free(c, c->buffer[slot]);
	gp_cuda_wait(c);
	release(c);
	env->disown(env, c);
	gp_cuda_free_lanes(c);
	gp_free(env, c->ring);
	gp_free(env, c);
}

/* The table; env, room and state are filled in for each device. */
static void
fill_table(gp_device *dev)
{
	dev->name = "cuda";
	dev->threads = 1;
	dev->row_block = ROW_BLOCK;
	dev->create = gp_cuda_create;
	dev->destroy = gp_cuda_destroy;
	dev->upload = gp_cuda_upload;
	dev->download = gp_cuda_download;
	dev->copy = gp_cuda_copy;
	dev->fill = gp_cuda_fill;
	dev->axpby = gp_cuda_axpby;
	dev->shift = gp_cuda_shift;
	dev->transpose = gp_cuda_transpose;
	dev->transpose_square = gp_cuda_transpose_square;
	dev->gather_rows = gp_cuda_gather_rows;
	dev->row_dots = gp_cuda_row_dots;
	dev->elementwise = gp_cuda_elementwise;
	dev->take = gp_cuda_take;
	dev->put = gp_cuda_put;
	dev->gemm = gp_cuda_gemm;
	dev->syrk = gp_cuda_syrk;
	dev->potrf = gp_cuda_potrf;
	dev->trtri = gp_cuda_trtri;
	dev->syev = gp_cuda_syev;
	dev->trsm = gp_cuda_trsm;
	dev->spmm = gp_cuda_spmm;
	dev->spmm_take = gp_cuda_spmm_take;
	dev->csr_rows = gp_cuda_csr_rows;
	dev->csr_product_rows = gp_cuda_csr_product_rows;
	dev->pair_paths = gp_cuda_pair_paths;
	dev->random_walks = gp_cuda_random_walks;
	dev->map = gp_cuda_map;
	dev->map_diag = gp_cuda_map_diag;
	dev->pair_diag = gp_cuda_pair_diag;
	dev->close = close_device;
}

/* Makes the pool that matrices come from, no larger than may be taken; without one they come from cudaMalloc. */
static void
make_pool(gp_cuda *c, int card)
{
	cudaMemPoolProps props;
	unsigned long long keep = ~0ULL;
	int			pools = 0;

	gp_cuda_try(c, cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, card));
	if (!pools)
		return;
	memset(&props, 0, sizeof(props));
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = card;
#if CUDART_VERSION >= 12020
	props.maxSize = c->most;
#endif
	gp_cuda_try(c, cudaMemPoolCreate(&c->pool, &props));
	gp_cuda_try(c, cudaMemPoolSetAttribute(c->pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

/* Makes the streams and the events. */
static void
make_streams(gp_cuda *c)
{

	gp_cuda_try(c, cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
	gp_cuda_try(c, cudaStreamCreateWithFlags(&c->in, cudaStreamNonBlocking));
	gp_cuda_try(c, cudaStreamCreateWithFlags(&c->out, cudaStreamNonBlocking));
	for (int k = 0; k < EVENTS; k++)
		gp_cuda_try(c, cudaEventCreateWithFlags(event_at(c, k), cudaEventDisableTiming));
}

/*
 * Makes the libraries' handles.  The driver and the libraries start threads of
 * their own: they must not take the server's signals, so all are blocked
 * meanwhile.  The mask is put back before an error is raised.
 */
static void
make_handles(gp_cuda *c)
{
	sigset_t	before;
	cublasStatus_t blas;
	cusolverStatus_t solver;

	gp_cuda_block_signals(&before);
	blas = cublasCreate(&c->blas);
	solver = cusolverDnCreate(&c->solver);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	gp_cuda_try(c, blas);
	gp_cuda_try(c, solver);
	gp_cuda_try(c, cublasSetStream(c->blas, c->stream));
	gp_cuda_try(c, cublasSetMathMode(c->blas, CUBLAS_DEFAULT_MATH));
	gp_cuda_try(c, cusolverDnSetStream(c->solver, c->stream));
}

/* Memory for cuBLAS to work in: with its own, its bits could depend on what else it serves. */
static void
make_workspace(gp_cuda *c)
{
	c->workspace = gp_cuda_scratch(c, GP_CUDA_WORKSPACE);
	gp_cuda_try(c, cublasSetWorkspace(c->blas, c->workspace, GP_CUDA_WORKSPACE));
}

/* What matrices may take of the card. */
static void
find_room(gp_cuda *c, const gp_cuda_options *options)
{
	size_t		free_bytes = 0;
	size_t		total = 0;

	gp_cuda_try(c, cudaMemGetInfo(&free_bytes, &total));
	if (options->memory > 0 && options->memory < free_bytes)
	{
		free_bytes = options->memory;
		c->most = free_bytes + SLACK;
	}
	c->reserve = (size_t) ((double) free_bytes * RESERVE);
	c->dev.room = free_bytes - c->reserve;
}

/* A kernel to ask the driver for. */
__global__ void
image_kernel(int *answer)
{
	*answer = 1;
}

/* Raises that the library has no code for a card. */
static void __attribute__((noreturn))
refuse_card(gp_env *env, int card, const struct cudaDeviceProp *props)
{
	if (card < 64)
		no_image |= UINT64_C(1) << card;
	gp_raise(env, GP_ERR_DEVICE, "Build it with this architecture in CUDA_ARCHS, or set gnngp.device to cpu.",
			 "the GPU library has no code for compute capability %d.%d of the GPU", props->major,
			 props->minor);
}

/* What kind of card it is: refuses one that the library is not built for. */
static void
find_properties(gp_cuda *c)
{
	struct cudaDeviceProp props;
	struct cudaFuncAttributes kernel;
	gp_cuda_rates rates;
	cudaError_t error;

	gp_cuda_try(c, cudaGetDeviceProperties(&props, c->card));
	if (props.major * 10 + props.minor < GP_CUDA_CAPABILITY)
		gp_raise(c->env, GP_ERR_DEVICE, "Set gnngp.device to cpu.",
				 "the GPU has compute capability %d.%d, and %d.%d is the least", props.major,
				 props.minor, GP_CUDA_CAPABILITY / 10, GP_CUDA_CAPABILITY % 10);
	error = cudaFuncGetAttributes(&kernel, (const void *) image_kernel);
	if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction)
	{
		(void) cudaGetLastError();
		refuse_card(c->env, c->card, &props);
	}
	gp_cuda_check(c, error, "cudaFuncGetAttributes");
	gp_cuda_try(c, gp_cuda_find_rates(c->card, &props, &rates));
	c->l2 = (size_t) props.l2CacheSize;
	c->piece_flops[GP_FLOAT] = GP_CUDA_PIECE * rates.flops[GP_FLOAT];
	c->piece_flops[GP_DOUBLE] = GP_CUDA_PIECE * rates.flops[GP_DOUBLE];
	c->piece_bytes = GP_CUDA_PIECE * rates.bytes;
	c->piece_steps = GP_CUDA_PIECE * rates.steps;
}

/* Starts the driver's context on a card. */
static cudaError_t
start_card(gp_cuda *c)
{
	sigset_t	before;
	cudaError_t error;

	gp_cuda_block_signals(&before);
	error = cudaSetDevice(c->card);
	if (error == cudaSuccess)
	{
		current_card = c->card;
		error = cudaFree(NULL);
	}
	c->started = error == cudaSuccess;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* Opens a device on a card. */
static gp_device *
open_device(gp_env *env, const gp_cuda_options *options)
{
	gp_cuda    *c;
	struct cudaDeviceProp props;

	if (card_lost)
		gp_raise(env, GP_ERR_DEVICE, "Start a new session, or set gnngp.device to cpu.",
				 "the GPU failed earlier in this session");
	if (options->card < 64 && no_image >> options->card & 1 &&
		cudaGetDeviceProperties(&props, options->card) == cudaSuccess)
		refuse_card(env, options->card, &props);
	c = (gp_cuda *) gp_alloc_zero(env, 1, sizeof(gp_cuda));
	c->env = env;
	c->card = options->card;
	c->dev.env = env;
	c->dev.state = c;
	fill_table(&c->dev);
	env->own(env, release, c);
	c->tf32 = options->tf32;
	gp_cuda_try(c, start_card(c));
	find_properties(c);
	make_streams(c);
	make_handles(c);
	find_room(c, options);
	make_pool(c, options->card);
	make_workspace(c);
	return &c->dev;
}

extern "C" __attribute__((visibility("default"))) const gp_cuda_module gnngp_cuda_module;

const gp_cuda_module gnngp_cuda_module = {
	GP_CUDA_VERSION,
	sizeof(gp_device),
	sizeof(gp_env),
	gp_cuda_list,
	open_device,
	lost
};

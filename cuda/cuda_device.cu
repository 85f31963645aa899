/*
 * cuda_device.cu - the CUDA device: cards, opening and closing, waiting, errors.
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
#define WORKSPACE ((size_t) 32 << 20)	/* bytes that cuBLAS works in, on a card with 8 GB free */
#define SLACK ((size_t) 256 << 20)	/* bytes that an operation may take beyond the caller's limit */
#define EVENTS (GP_CUDA_AHEAD + 7)	/* that event_at knows */
#define SPINS 200				/* looks at an event before the host sleeps between them */
#define SLEEP_US 100

static bool card_lost = false;
static int	current_card = -1;

/* Blocks all signals; before is the mask to put back. */
static void
block_signals(sigset_t *before)
{
	sigset_t	all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

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
	cudaEvent_t *event[] = {&c->ready, &c->entered[0], &c->entered[1], &c->worked[0],
	&c->worked[1], &c->left[0], &c->left[1]};

	return k < GP_CUDA_AHEAD ? &c->ahead[k] : event[k - GP_CUDA_AHEAD];
}

/* Ends streams, handles and memory; raises nothing, for it also runs after an error. */
static void
release(void *resource)
{
	gp_cuda    *c = (gp_cuda *) resource;

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
	if (card_lost)
		(void) cudaDeviceReset();	/* nothing of this process can use the card again */
	(void) cudaGetLastError();
}

/* Closes the device. */
static void
close_device(gp_device *dev)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_env	   *env = c->env;

	(void) gp_cuda_csr_evict(c);
	gp_cuda_scratch_free(c, c->workspace);
	gp_cuda_wait(c);
	release(c);
	env->disown(env, c);
	gp_cuda_free_lanes(c);
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
	dev->each = gp_cuda_each_step;
	dev->take = gp_cuda_take;
	dev->put = gp_cuda_put;
	dev->gemm = gp_cuda_gemm;
	dev->syrk = gp_cuda_syrk;
	dev->potrf = gp_cuda_potrf;
	dev->trtri = gp_cuda_trtri;
	dev->syev = gp_cuda_syev;
	dev->trsm = gp_cuda_trsm;
	dev->spmm = gp_cuda_spmm;
	dev->spmm_right = gp_cuda_spmm_right;
	dev->spmm_take = gp_cuda_spmm_take;
	dev->csr_rows = gp_cuda_csr_rows;
	dev->csr_product_rows = gp_cuda_csr_product_rows;
	dev->walks = gp_cuda_walks;
	dev->random_walks = gp_cuda_random_walks;
	dev->map = gp_cuda_map;
	dev->map_diag = gp_cuda_map_diag;
	dev->pair_diag = gp_cuda_pair_diag;
	dev->close = close_device;
}

/* Makes the pool that matrices come from; without one they come from cudaMalloc. */
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

	block_signals(&before);
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
	size_t		bytes = (c->dev.room + c->reserve) / 256;

	bytes = (bytes < WORKSPACE ? bytes : WORKSPACE) / 65536 * 65536;
	if (bytes == 0)
		return;
	c->workspace = gp_cuda_scratch(c, bytes);
	gp_cuda_try(c, cublasSetWorkspace(c->blas, c->workspace, bytes));
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

/* What kind of card it is: refuses one that the library is not built for. */
static void
find_properties(gp_cuda *c)
{
	struct cudaDeviceProp props;
	int			ratio = 1;
	int			pageable = 0;

	gp_cuda_try(c, cudaGetDeviceProperties(&props, c->card));
	if (props.major * 10 + props.minor < GP_CUDA_CAPABILITY)
		gp_raise(c->env, GP_ERR_DEVICE, "Set gnngp.device to cpu.",
				 "the GPU has compute capability %d.%d, and %d.%d is the least", props.major,
				 props.minor, GP_CUDA_CAPABILITY / 10, GP_CUDA_CAPABILITY % 10);
	gp_cuda_try(c, cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, c->card));
	gp_cuda_try(c, cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, c->card));
	c->settle = pageable != 0;
	c->l2 = (size_t) props.l2CacheSize;
	c->piece_flops[GP_FLOAT] = GP_CUDA_FLOPS;
	c->piece_flops[GP_DOUBLE] = GP_CUDA_FLOPS / (ratio < 2 ? 2 : ratio > 10 ? 10 : ratio);
}

/* Starts the driver's context on a card. */
static cudaError_t
start_card(int card)
{
	sigset_t	before;
	cudaError_t error;

	block_signals(&before);
	error = cudaSetDevice(card);
	if (error == cudaSuccess)
	{
		current_card = card;
		error = cudaFree(NULL);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* Opens a device on a card. */
static gp_device *
open_device(gp_env *env, const gp_cuda_options *options)
{
	gp_cuda    *c;

	if (card_lost)
		gp_raise(env, GP_ERR_DEVICE, "Start a new session, or set gnngp.device to cpu.",
				 "the GPU failed earlier in this session");
	c = (gp_cuda *) gp_alloc_zero(env, 1, sizeof(gp_cuda));
	c->env = env;
	c->card = options->card;
	c->dev.env = env;
	c->dev.state = c;
	fill_table(&c->dev);
	env->own(env, release, c);
	c->tf32 = options->tf32;
	gp_cuda_try(c, start_card(options->card));
	find_properties(c);
	make_pool(c, options->card);
	make_streams(c);
	make_handles(c);
	find_room(c, options);
	make_workspace(c);
	return &c->dev;
}

/* Lists the cards. */
static int
list_cards(gp_cuda_card *card, int most, char *reason)
{
	int			count = 0;
	int			driver = 0;
	int			runtime = 0;
	int			cublas = 0;
	int			cusolver = 0;
	cudaError_t error;
	sigset_t	before;

	reason[0] = '\0';
	block_signals(&before);
	error = cudaGetDeviceCount(&count);
	(void) cudaDriverGetVersion(&driver);
	(void) cudaRuntimeGetVersion(&runtime);
	(void) cublasGetVersion(NULL, &cublas);
	(void) cusolverGetVersion(&cusolver);
	for (int k = 0; error == cudaSuccess && k < count && k < most; k++)
	{
		struct cudaDeviceProp props;

		error = cudaGetDeviceProperties(&props, k);
		if (error != cudaSuccess)
			break;
		memset(&card[k], 0, sizeof(card[k]));
		card[k].number = k;
		snprintf(card[k].name, sizeof(card[k].name), "%s", props.name);
		card[k].major = props.major;
		card[k].minor = props.minor;
		card[k].memory = props.totalGlobalMem;
		card[k].driver = driver;
		card[k].runtime = runtime;
		snprintf(card[k].libraries, sizeof(card[k].libraries),
				 "cuBLAS %d.%d.%d, cuSOLVER %d.%d.%d", cublas / 10000, cublas / 100 % 100, cublas % 100,
				 cusolver / 1000, cusolver / 100 % 10, cusolver % 100);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void) cudaGetLastError();
	if (error != cudaSuccess)
	{
		if (driver == 0)
			snprintf(reason, GP_CUDA_REASON, "no NVIDIA driver is installed");
		else
			snprintf(reason, GP_CUDA_REASON, "%s (driver for CUDA %d.%d, library of CUDA %d.%d)",
					 cudaGetErrorString(error), driver / 1000, driver % 1000 / 10, runtime / 1000,
					 runtime % 1000 / 10);
		return 0;
	}
	if (count == 0)
		snprintf(reason, GP_CUDA_REASON, "there is no card that CUDA can use");
	return count;
}

extern "C" __attribute__((visibility("default"))) const gp_cuda_module gnngp_cuda_module;

const gp_cuda_module gnngp_cuda_module = {
	GP_CUDA_VERSION,
	sizeof(gp_device),
	sizeof(gp_env),
	list_cards,
	open_device,
	lost
};

/*
 * cuda_runtime.h - the part of CUDA's runtime that the GPU library uses, on the host.
 *
 * With this folder in front of CUDA's own, the library's sources compile as plain
 * C++ and run without a card: device memory is an arena of the process, a kernel
 * is a function called once for every thread, and streams are queues of closures.
 * What CUDA leaves undefined is made to fail here where that can be seen: fresh
 * and freed memory holds NaN, the arena can't be touched by the host, copies check
 * their device side and read host memory when they run, kernels must not be given
 * addresses of host memory, and barriers that a thread misses, or a context that is
 * started where signals come through, end the program.
 *
 *	GNNGP_EMULATED_MEMORY=n		bytes of the card (1 GiB)
 *	GNNGP_EMULATED_DEVICES=n	cards that there are (1); 0 = cudaErrorNoDevice
 *	GNNGP_EMULATED_DRIVER=0		no driver: cudaErrorInsufficientDriver
 *	GNNGP_EMULATED_FAIL_AT=n	the card is lost at the n-th call, and stays so
 *	GNNGP_EMULATED_DELAY_US=n	every operation takes so much longer
 *	GNNGP_EMULATED_IMAGE=0		kernels have no code for it: cudaErrorNoKernelImageForDevice
 *	GNNGP_EMULATED_KILOHERTZ=n	its clock (1980000), which decides how fast it says it is
 *	GNNGP_EMULATED_RATIO=n		how much slower it is in double precision (2)
 *	GNNGP_EMULATED_LAZY=1		streams work only when they are waited for
 *	GNNGP_EMULATED_LAZY=n		or by chance, in an order that n decides
 *	GNNGP_EMULATED_REVERSE=1	blocks and threads run from the last to the first
 *	GNNGP_EMULATED_OPEN=1		the host may touch the arena (nothing is protected)
 */
#ifndef GP_EMULATED_CUDA_RUNTIME_H
#define GP_EMULATED_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CUDART_VERSION 13000

#define __global__
#define __device__
#define __host__
#define __shared__ static		/* blocks run one after the other */
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

/* Vectors, aligned as on the device. */
struct alignas(8) float2
{
	float		x, y;
};
struct alignas(16) float4
{
	float		x, y, z, w;
};
struct alignas(16) double2
{
	double		x, y;
};
struct alignas(8) int2
{
	int			x, y;
};
struct alignas(16) int4
{
	int			x, y, z, w;
};
struct uint3
{
	unsigned int x, y, z;
};
struct dim3
{
	unsigned int x, y, z;

	dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c)
	{
	}
};

static inline float2
make_float2(float x, float y)
{
	return float2{x, y};
}

static inline float4
make_float4(float x, float y, float z, float w)
{
	return float4{x, y, z, w};
}

static inline double2
make_double2(double x, double y)
{
	return double2{x, y};
}

static inline int2
make_int2(int x, int y)
{
	return int2{x, y};
}

static inline int4
make_int4(int x, int y, int z, int w)
{
	return int4{x, y, z, w};
}

/* The smaller and the larger of two numbers, for the types that CUDA has them for. */
#define GP_EMULATED_MINMAX(T) \
	static inline T min(T a, T b) \
	{ \
		return b < a ? b : a; \
	} \
	static inline T max(T a, T b) \
	{ \
		return a < b ? b : a; \
	}
GP_EMULATED_MINMAX(int)
GP_EMULATED_MINMAX(unsigned int)
GP_EMULATED_MINMAX(long)
GP_EMULATED_MINMAX(unsigned long)
GP_EMULATED_MINMAX(long long)
GP_EMULATED_MINMAX(unsigned long long)
#undef GP_EMULATED_MINMAX

static inline float
min(float a, float b)
{
	return fminf(a, b);
}

static inline float
max(float a, float b)
{
	return fmaxf(a, b);
}

static inline double
min(double a, double b)
{
	return fmin(a, b);
}

static inline double
max(double a, double b)
{
	return fmax(a, b);
}

/* Error codes, with CUDA's numbers. */
typedef enum cudaError
{
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInitializationError = 3,
	cudaErrorInsufficientDriver = 35,
	cudaErrorDevicesUnavailable = 46,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorNoDevice = 100,
	cudaErrorInvalidDevice = 101,
	cudaErrorNoKernelImageForDevice = 209,
	cudaErrorNotReady = 600,
	cudaErrorIllegalAddress = 700,
	cudaErrorHostMemoryAlreadyRegistered = 712,
	cudaErrorHostMemoryNotRegistered = 713,
	cudaErrorLaunchFailure = 719,
	cudaErrorNotSupported = 801
} cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;

typedef enum cudaMemcpyKind
{
	cudaMemcpyHostToHost = 0,
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost = 2,
	cudaMemcpyDeviceToDevice = 3,
	cudaMemcpyDefault = 4
} cudaMemcpyKind;

struct cudaDeviceProp
{
	char		name[256];
	size_t		totalGlobalMem;
	int			major;
	int			minor;
	int			multiProcessorCount;
	int			l2CacheSize;
};

enum cudaDeviceAttr
{
	cudaDevAttrClockRate = 13,
	cudaDevAttrMemoryClockRate = 36,
	cudaDevAttrGlobalMemoryBusWidth = 37,
	cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
	cudaDevAttrMemoryPoolsSupported = 115
};

enum cudaMemoryType
{
	cudaMemoryTypeUnregistered = 0,
	cudaMemoryTypeHost = 1,
	cudaMemoryTypeDevice = 2
};

struct cudaPointerAttributes
{
	cudaMemoryType type;
	int			device;
	void	   *devicePointer;
	void	   *hostPointer;
};

enum cudaMemAllocationType
{
	cudaMemAllocationTypeInvalid = 0,
	cudaMemAllocationTypePinned = 1
};

enum cudaMemAllocationHandleType
{
	cudaMemHandleTypeNone = 0
};

enum cudaMemLocationType
{
	cudaMemLocationTypeInvalid = 0,
	cudaMemLocationTypeDevice = 1
};

struct cudaMemLocation
{
	cudaMemLocationType type;
	int			id;
};

struct cudaMemPoolProps
{
	cudaMemAllocationType allocType;
	cudaMemAllocationHandleType handleTypes;
	cudaMemLocation location;
	void	   *win32SecurityAttributes;
	size_t		maxSize;
	unsigned short usage;
	unsigned char reserved[54];
};

enum cudaMemPoolAttr
{
	cudaMemPoolAttrReleaseThreshold = 4,
	cudaMemPoolAttrReservedMemCurrent = 5
};

struct cudaFuncAttributes
{
	size_t		sharedSizeBytes;
};

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaEventDefault 0x00
#define cudaEventDisableTiming 0x02
#define cudaHostAllocDefault 0x00
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterReadOnly 0x08

extern cudaError_t cudaGetDeviceCount(int *count);
extern cudaError_t cudaSetDevice(int device);
extern cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device);
extern cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device);
extern cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
extern cudaError_t cudaDriverGetVersion(int *version);
extern cudaError_t cudaRuntimeGetVersion(int *version);
extern cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);

extern cudaError_t cudaGetLastError(void);
extern cudaError_t cudaDeviceReset(void);
extern cudaError_t cudaPeekAtLastError(void);
extern const char *cudaGetErrorString(cudaError_t code);
extern const char *cudaGetErrorName(cudaError_t code);

extern cudaError_t gp_emulated_malloc(void **p, size_t bytes);
extern cudaError_t cudaFree(void *p);
extern cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props);
extern cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
extern cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void *value);
extern cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void *value);
extern cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep);
extern cudaError_t gp_emulated_malloc_async(void **p, size_t bytes, cudaMemPool_t pool,
											cudaStream_t stream);
extern cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
extern cudaError_t gp_emulated_host_alloc(void **p, size_t bytes, unsigned int flags);
extern cudaError_t cudaFreeHost(void *p);
extern cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned int flags);
extern cudaError_t cudaHostUnregister(void *p);
extern cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p);

extern cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind,
								   cudaStream_t stream = NULL);
extern cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
									 size_t width, size_t height, cudaMemcpyKind kind,
									 cudaStream_t stream = NULL);
extern cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream = NULL);

extern cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
extern cudaError_t cudaStreamDestroy(cudaStream_t stream);
extern cudaError_t cudaStreamSynchronize(cudaStream_t stream);
extern cudaError_t cudaStreamQuery(cudaStream_t stream);
extern cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
									   unsigned int flags = 0);
extern cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
extern cudaError_t cudaEventDestroy(cudaEvent_t event);
extern cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = NULL);
extern cudaError_t cudaEventQuery(cudaEvent_t event);
extern cudaError_t cudaEventSynchronize(cudaEvent_t event);

/* Allocations take pointers of any type, as in CUDA's header. */
template<class T>
static inline cudaError_t
cudaMalloc(T **p, size_t bytes)
{
	return gp_emulated_malloc((void **) p, bytes);
}

template<class T>
static inline cudaError_t
cudaMallocFromPoolAsync(T **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
	return gp_emulated_malloc_async((void **) p, bytes, pool, stream);
}

template<class T>
static inline cudaError_t
cudaHostAlloc(T **p, size_t bytes, unsigned int flags)
{
	return gp_emulated_host_alloc((void **) p, bytes, flags);
}

/* The thread that runs now. */
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

enum gp_emulated_shuffle
{
	GP_EMULATED_SYNC,
	GP_EMULATED_INDEX,
	GP_EMULATED_XOR,
	GP_EMULATED_DOWN,
	GP_EMULATED_UP
};

extern void __syncthreads(void);
extern uint64_t gp_emulated_exchange(gp_emulated_shuffle kind, unsigned int mask, uint64_t bits,
									 unsigned int arg);

static inline void
__syncwarp(unsigned int mask = 0xffffffffu)
{
	gp_emulated_exchange(GP_EMULATED_SYNC, mask, 0, 0);
}

/* A shuffle of any type of up to eight bytes. */
template<class T>
static inline T
gp_emulated_shuffle_value(gp_emulated_shuffle kind, unsigned int mask, T value, unsigned int arg)
{
	uint64_t	bits = 0;

	static_assert(sizeof(T) <= sizeof(bits), "shuffles move up to eight bytes");
	memcpy(&bits, &value, sizeof(T));
	bits = gp_emulated_exchange(kind, mask, bits, arg);
	memcpy(&value, &bits, sizeof(T));
	return value;
}

template<class T>
static inline T
__shfl_sync(unsigned int mask, T value, int lane)
{
	return gp_emulated_shuffle_value(GP_EMULATED_INDEX, mask, value, (unsigned int) lane);
}

template<class T>
static inline T
__shfl_xor_sync(unsigned int mask, T value, int lanes)
{
	return gp_emulated_shuffle_value(GP_EMULATED_XOR, mask, value, (unsigned int) lanes);
}

template<class T>
static inline T
__shfl_down_sync(unsigned int mask, T value, unsigned int delta)
{
	return gp_emulated_shuffle_value(GP_EMULATED_DOWN, mask, value, delta);
}

template<class T>
static inline T
__shfl_up_sync(unsigned int mask, T value, unsigned int delta)
{
	return gp_emulated_shuffle_value(GP_EMULATED_UP, mask, value, delta);
}

template<class T>
static inline T
__ldg(const T *p)
{
	return *p;
}

/* One operation of a stream, kept until it runs. */
struct gp_emulated_task
{
	gp_emulated_task *next;
	void		(*run) (gp_emulated_task *task);
	void		(*drop) (gp_emulated_task *task);
	bool		always;			/* runs on a lost card too */
	double		seconds;		/* that a card would take for it, where that is counted */
};

/* An operation that is a function object; arguments are captured by value, as a launch copies them. */
template<class F>
struct gp_emulated_closure : gp_emulated_task
{
	F			body;

	gp_emulated_closure(const F &f) : body(f)
	{
		next = NULL;
		always = false;
		seconds = 0;
		run = [](gp_emulated_task *task) { static_cast<gp_emulated_closure *>(task)->body(); };
		drop = [](gp_emulated_task *task) { delete static_cast<gp_emulated_closure *>(task); };
	}
};

extern bool gp_emulated_may_launch(dim3 grid, dim3 block, cudaStream_t stream, const void *arguments,
								   size_t bytes);
extern void gp_emulated_enqueue(cudaStream_t stream, gp_emulated_task *task);
extern void gp_emulated_grid(dim3 grid, dim3 block, void (*thread) (void *), void *arg);

/* Calls body once for every thread of a grid, in the order of the stream. */
template<class F>
void
gp_emulate_launch(dim3 grid, dim3 block, cudaStream_t stream, F body)
{
	size_t		bytes = 0;

#ifndef __clang__
	__builtin_clear_padding(&body);	/* arguments are looked at, not what was there before */
	bytes = sizeof(body);
#endif
	if (!gp_emulated_may_launch(grid, block, stream, &body, bytes))
		return;
	auto		run = [grid, block, body]() mutable
	{
		gp_emulated_grid(grid, block, [](void *arg) { (*static_cast<F *>(arg))(); }, &body);
	};

	gp_emulated_enqueue(stream, new gp_emulated_closure<decltype(run)>(run));
}

/* For test programs, which find them with dlsym. */
extern "C"
{
extern __attribute__((visibility("default"))) long gp_emulated_calls(void);	/* calls so far that can fail */
extern __attribute__((visibility("default"))) void gp_emulated_fail_at(long n);	/* counted from now; 0 = never, and the card is well again */
extern __attribute__((visibility("default"))) size_t gp_emulated_in_use(void);	/* bytes of the card held now */
extern __attribute__((visibility("default"))) long gp_emulated_objects(void);	/* streams, events, pools, handles, page-locked ranges held now */
extern __attribute__((visibility("default"))) void gp_emulated_lazy(int how);	/* as GNNGP_EMULATED_LAZY */
extern __attribute__((visibility("default"))) void gp_emulated_reverse(int on);
extern __attribute__((visibility("default"))) void gp_emulated_memory(size_t bytes);	/* the card has no more; 0 = all again */
extern __attribute__((visibility("default"))) void gp_emulated_image(int on);	/* as GNNGP_EMULATED_IMAGE */
extern __attribute__((visibility("default"))) void gp_emulated_speed(int kilohertz, int ratio);	/* as their settings; 0 = the usual */
extern __attribute__((visibility("default"))) double gp_emulated_longest(int queued);	/* seconds of the longest call since the last time asked, or of all that was queued at once */
extern __attribute__((visibility("default"))) size_t gp_emulated_reserved(void);	/* the most that pools have held */
}

#endif							/* GP_EMULATED_CUDA_RUNTIME_H */

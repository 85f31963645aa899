/*
 * emulate_state.cpp - the emulated card: its settings, faults and errors.
 *
 * Every call that needs a card passes gp_emulated_enter, which counts it; from
 * the call that GNNGP_EMULATED_FAIL_AT names the card is lost, and all calls fail.
 */
#include "emulate.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#define PROCESSORS 132			/* as an H100 has them, and the rest */
#define KILOHERTZ 1980000
#define MEMORY_KILOHERTZ 2619000.0
#define RATIO 2

gp_emulated_state gp_emulated;

/* A whole number of the environment. */
static long
setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text != NULL && *text != '\0' ? atol(text) : otherwise;
}

/* Reads the environment, once. */
void
gp_emulated_setup(void)
{
	if (gp_emulated.ready)
		return;
	gp_emulated.ready = true;
	gp_emulated.devices = (int) setting("GNNGP_EMULATED_DEVICES", 1);
	gp_emulated.driver = setting("GNNGP_EMULATED_DRIVER", 1) != 0;
	gp_emulated.lazy = (int) setting("GNNGP_EMULATED_LAZY", 0);
	gp_emulated.chance = (uint64_t) gp_emulated.lazy;
	gp_emulated.reverse = setting("GNNGP_EMULATED_REVERSE", 0) != 0;
	gp_emulated.open = setting("GNNGP_EMULATED_OPEN", 0) != 0;
	gp_emulated.memory = (size_t) setting("GNNGP_EMULATED_MEMORY", 1L << 30) & ~(size_t) 4095;
	gp_emulated.limit = gp_emulated.memory;
	gp_emulated.delay_us = setting("GNNGP_EMULATED_DELAY_US", 0);
	gp_emulated.fail_at = setting("GNNGP_EMULATED_FAIL_AT", 0);
	gp_emulated.image = setting("GNNGP_EMULATED_IMAGE", 1) != 0;
	gp_emulated.kilohertz = (int) setting("GNNGP_EMULATED_KILOHERTZ", KILOHERTZ);
	gp_emulated.ratio = (int) setting("GNNGP_EMULATED_RATIO", RATIO);
}

/* Keeps an error for cudaGetLastError. */
cudaError_t
gp_emulated_result(cudaError_t code)
{
	if (code != cudaSuccess && code != cudaErrorNotReady)
		gp_emulated.last = code;
	return code;
}

/* A child of this process has no context. */
static void
forget_context(void)
{
	gp_emulated.context = false;
}

/* The driver's threads take the mask of who starts a context, and would take the server's signals. */
static void
start_context(bool succeeds)
{
	static bool told = false;
	sigset_t	mask;

	if (gp_emulated.context)
		return;
	if (pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGTERM))
		gp_emulated_stop("a context is started where signals come through");
	if (!told)
		pthread_atfork(NULL, NULL, forget_context);
	told = true;
	gp_emulated.context = succeeds;
}

/* Counts a call that needs a card, and its context; what is wrong with the card. */
cudaError_t
gp_emulated_enter(void)
{
	cudaError_t code = gp_emulated_look();

	start_context(code == cudaSuccess);
	return code;
}

/* Counts a call that starts nothing on the card. */
cudaError_t
gp_emulated_look(void)
{
	gp_emulated_setup();
	if (!gp_emulated.driver)
		return gp_emulated_result(cudaErrorInsufficientDriver);
	if (gp_emulated.devices <= 0)
		return gp_emulated_result(cudaErrorNoDevice);
	gp_emulated.calls++;
	if (gp_emulated_lost())
		return gp_emulated_result(cudaErrorLaunchFailure);
	return cudaSuccess;
}

/* Says why a call fails that would be undefined on a card. */
void
gp_emulated_complain(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	fputs("# emulated card: ", stderr);
	vfprintf(stderr, format, args);
	fputs("\n", stderr);
	va_end(args);
}

/* Ends the program: what the kernel does has no meaning on a card. */
void
gp_emulated_stop(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	fputs("# emulated card: ", stderr);
	vfprintf(stderr, format, args);
	fputs("\n", stderr);
	va_end(args);
	abort();
}

/* The calls so far that can fail. */
long
gp_emulated_calls(void)
{
	return gp_emulated.calls;
}

/* Loses the card at the n-th call from now; 0 mends it. */
void
gp_emulated_fail_at(long n)
{
	gp_emulated_setup();
	gp_emulated.fail_at = n > 0 ? gp_emulated.calls + n : 0;
	gp_emulated.last = cudaSuccess;
}

/* Everything but memory that is held now. */
long
gp_emulated_objects(void)
{
	return gp_emulated.objects;
}

/* Makes streams work at once (0), when they are waited for (1), or by chance. */
void
gp_emulated_lazy(int how)
{
	gp_emulated_setup();
	gp_emulated_flush_all();
	gp_emulated.lazy = how;
	gp_emulated.chance = (uint64_t) how;
}

/* Lets the card have less memory than its arena. */
void
gp_emulated_memory(size_t bytes)
{
	gp_emulated_setup();
	gp_emulated.limit = bytes > 0 && bytes < gp_emulated.memory ? bytes : gp_emulated.memory;
}

/* Makes blocks and threads run from the last to the first. */
void
gp_emulated_reverse(int on)
{
	gp_emulated_setup();
	gp_emulated_flush_all();
	gp_emulated.reverse = on != 0;
}

/* Gives kernels code for the card, or none. */
void
gp_emulated_image(int on)
{
	gp_emulated_setup();
	gp_emulated.image = on != 0;
}

/* Makes the card so fast. */
void
gp_emulated_speed(int kilohertz, int ratio)
{
	gp_emulated_setup();
	gp_emulated.kilohertz = kilohertz > 0 ? kilohertz : KILOHERTZ;
	gp_emulated.ratio = ratio > 0 ? ratio : RATIO;
}

/* Operations a second: 128 multiply-adds a cycle. */
double
gp_emulated_rate(bool is_double)
{
	return 256.0 * 1e3 * gp_emulated.kilohertz * PROCESSORS / (is_double ? gp_emulated.ratio : 1);
}

/* The seconds of the longest call, or of all that was queued at once; begins again. */
double
gp_emulated_longest(int queued)
{
	double		most = queued ? gp_emulated.most_queued : gp_emulated.longest;

	gp_emulated.most_queued = gp_emulated.longest = 0;
	return most;
}

cudaError_t
cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
	cudaError_t code = gp_emulated_enter();

	memset(attributes, 0, sizeof(*attributes));
	if (code == cudaSuccess && !gp_emulated.image)
		code = gp_emulated_result(cudaErrorNoKernelImageForDevice);
	return code;
}

cudaError_t
cudaGetDeviceCount(int *count)
{
	cudaError_t code = gp_emulated_look();

	*count = code == cudaSuccess ? gp_emulated.devices : 0;
	return code;
}

cudaError_t
cudaSetDevice(int device)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess && (device < 0 || device >= gp_emulated.devices))
		code = gp_emulated_result(cudaErrorInvalidDevice);
	return code;
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *prop, int device)
{
	cudaError_t code = gp_emulated_look();

	if (code != cudaSuccess)
		return code;
	if (device < 0 || device >= gp_emulated.devices)
		return gp_emulated_result(cudaErrorInvalidDevice);
	memset(prop, 0, sizeof(*prop));
	strcpy(prop->name, "Emulated card");
	prop->totalGlobalMem = gp_emulated.limit;
	prop->major = 9;
	prop->multiProcessorCount = PROCESSORS;
	prop->l2CacheSize = 50 << 20;
	return cudaSuccess;
}

cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device)
{
	cudaError_t code = gp_emulated_look();

	*value = 0;
	if (code == cudaSuccess && (device < 0 || device >= gp_emulated.devices))
		code = gp_emulated_result(cudaErrorInvalidDevice);
	if (code != cudaSuccess)
		return code;
	switch (attr)
	{
		case cudaDevAttrClockRate:
			*value = gp_emulated.kilohertz;
			break;
		case cudaDevAttrMemoryClockRate:
			*value = (int) ceil(MEMORY_KILOHERTZ * gp_emulated.kilohertz / KILOHERTZ);
			break;
		case cudaDevAttrGlobalMemoryBusWidth:
			*value = 5120;
			break;
		case cudaDevAttrSingleToDoublePrecisionPerfRatio:
			*value = gp_emulated.ratio;
			break;
		case cudaDevAttrMemoryPoolsSupported:
			*value = 1;
			break;
	}
	return cudaSuccess;
}

cudaError_t
cudaDriverGetVersion(int *version)
{
	gp_emulated_setup();
	*version = gp_emulated.driver ? CUDART_VERSION : 0;
	return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t
cudaGetLastError(void)
{
	cudaError_t code = cudaPeekAtLastError();

	gp_emulated.last = cudaSuccess;
	return code;
}

/* Ends the context; what tests count as held is counted by those who freed it. */
cudaError_t
cudaDeviceReset(void)
{
	gp_emulated.context = false;
	gp_emulated.last = cudaSuccess;
	return cudaSuccess;
}

/* A lost card stays lost, whatever was asked before. */
cudaError_t
cudaPeekAtLastError(void)
{
	if (gp_emulated_lost())
		return cudaErrorLaunchFailure;
	return gp_emulated.last;
}

/* The names and texts of the errors. */
static const struct
{
	cudaError_t code;
	const char *name;
	const char *text;
}			errors[] = {
	{cudaSuccess, "cudaSuccess", "no error"},
	{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
	{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
	{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
	{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
	"CUDA driver version is insufficient for CUDA runtime version"},
	{cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
	"CUDA-capable device(s) is/are busy or unavailable"},
	{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	{cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
	"no kernel image is available for execution on the device"},
	{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
	{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
	{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
	"an illegal memory access was encountered"},
	{cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
	"part or all of the requested memory range is already mapped"},
	{cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
	"pointer does not correspond to a registered memory region"},
	{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
	{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"}
};

const char *
cudaGetErrorString(cudaError_t code)
{
	for (const auto &e : errors)
		if (e.code == code)
			return e.text;
	return "unrecognized error code";
}

const char *
cudaGetErrorName(cudaError_t code)
{
	for (const auto &e : errors)
		if (e.code == code)
			return e.name;
	return "unrecognized error code";
}

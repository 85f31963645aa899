/*
 * emulate_state.cpp - the emulated card: its settings, faults and errors.
 *
 * Every call that needs a card passes gp_emulated_enter, which counts it; from
 * the call that GNNGP_EMULATED_FAIL_AT names the card is lost, and all calls fail.
 */
#include "emulate.h"

#include <stdarg.h>
#include <stdio.h>

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
}

/* Keeps an error for cudaGetLastError. */
cudaError_t
gp_emulated_result(cudaError_t code)
{
	if (code != cudaSuccess && code != cudaErrorNotReady)
		gp_emulated.last = code;
	return code;
}

/* Counts a call that needs a card; what is wrong with the card. */
cudaError_t
gp_emulated_enter(void)
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

cudaError_t
cudaGetDeviceCount(int *count)
{
	cudaError_t code = gp_emulated_enter();

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
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	if (device < 0 || device >= gp_emulated.devices)
		return gp_emulated_result(cudaErrorInvalidDevice);
	memset(prop, 0, sizeof(*prop));
	strcpy(prop->name, "Emulated card");
	prop->totalGlobalMem = gp_emulated.limit;
	prop->major = 9;
	prop->multiProcessorCount = 132;
	prop->l2CacheSize = 50 << 20;
	return cudaSuccess;
}

cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess && (device < 0 || device >= gp_emulated.devices))
		code = gp_emulated_result(cudaErrorInvalidDevice);
	*value = code == cudaSuccess && attr == cudaDevAttrMemoryPoolsSupported;
	return code;
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

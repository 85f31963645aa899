/*
 * cuda_card.cu - the cards that there are, and how fast one can be.
 *
 * Nothing here starts anything on a card.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gp_cuda.h"

#define USUAL_BYTES 3e11		/* a second, where the driver does not tell */
#define LOOKUPS 0.7				/* that a multiprocessor does in a cycle, of what the card's cache holds */

/* Blocks all signals. */
void
gp_cuda_block_signals(sigset_t *before)
{
	sigset_t	all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

/* Multiply-adds in float that a multiprocessor does in a cycle (CUDA's programming guide, arithmetic instructions). */
static double
adds_of(int major, int minor)
{
	return major == 7 || (major == 8 && minor == 0) ? 64.0 : 128.0;
}

/* What a card does in a second at most: multiprocessors times cycles times what one does in a cycle. */
cudaError_t
gp_cuda_find_rates(int card, const struct cudaDeviceProp *props, gp_cuda_rates *rates)
{
	int			kilohertz = 0;
	int			memory_kilohertz = 0;
	int			bits = 0;
	int			ratio = 1;
	double		cycles;
	cudaError_t error = cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, card);

	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&memory_kilohertz, cudaDevAttrMemoryClockRate, card);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, card);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, card);
	cycles = (double) props->multiProcessorCount * 1e3 * (kilohertz > 0 ? kilohertz : 1e6);
	rates->flops[GP_FLOAT] = 2.0 * adds_of(props->major, props->minor) * cycles;
	rates->flops[GP_DOUBLE] = rates->flops[GP_FLOAT] / (ratio > 1 ? ratio : 1);
	rates->steps = LOOKUPS * cycles;
	rates->bytes = 2.0 * 1e3 * memory_kilohertz * bits / 8.0;	/* two transfers in a cycle */
	if (rates->bytes <= 0.0)
		rates->bytes = USUAL_BYTES;
	return error;
}

/* Describes one card. */
static cudaError_t
describe(int number, int driver, int runtime, gp_cuda_card *card)
{
	struct cudaDeviceProp props;
	gp_cuda_rates rates;
	int			cublas = 0;
	int			cusolver = 0;
	cudaError_t error = cudaGetDeviceProperties(&props, number);

	if (error == cudaSuccess)
		error = gp_cuda_find_rates(number, &props, &rates);
	if (error != cudaSuccess)
		return error;
	(void) cublasGetVersion(NULL, &cublas);
	(void) cusolverGetVersion(&cusolver);
	memset(card, 0, sizeof(*card));
	card->number = number;
	snprintf(card->name, sizeof(card->name), "%s", props.name);
	card->major = props.major;
	card->minor = props.minor;
	card->memory = props.totalGlobalMem;
	card->flops[GP_FLOAT] = rates.flops[GP_FLOAT];
	card->flops[GP_DOUBLE] = rates.flops[GP_DOUBLE];
	card->bytes = rates.bytes;
	card->driver = driver;
	card->runtime = runtime;
	snprintf(card->libraries, sizeof(card->libraries),
			 "cuBLAS %d.%d.%d, cuSOLVER %d.%d.%d", cublas / 10000, cublas / 100 % 100, cublas % 100,
			 cusolver / 1000, cusolver / 100 % 10, cusolver % 100);
	return cudaSuccess;
}

/* Lists the cards. */
int
gp_cuda_list(gp_cuda_card *card, int most, char *reason)
{
	int			count = 0;
	int			driver = 0;
	int			runtime = 0;
	cudaError_t error;
	sigset_t	before;

	reason[0] = '\0';
	gp_cuda_block_signals(&before);
	error = cudaGetDeviceCount(&count);
	(void) cudaDriverGetVersion(&driver);
	(void) cudaRuntimeGetVersion(&runtime);
	for (int k = 0; error == cudaSuccess && k < count && k < most; k++)
		error = describe(k, driver, runtime, &card[k]);
	(void) cudaGetLastError();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
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

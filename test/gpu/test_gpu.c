/*
 * test_gpu.c - the GPU library without a server: test_gpu /path/to/gnngp_cuda.so [part ...]
 *
 * Runs on a real card, and on the emulated one of test/gpu/emulate, where faults
 * can be made as well.  Skips, saying so, where there is no card.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu.h"

const gp_cuda_module *gpu;
gpu_emulator emulator;

/* A function of the emulator, or NULL. */
static void *
emulator_function(const char *path, const char *name)
{
	void	   *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	return library != NULL ? dlsym(library, name) : NULL;
}

/* Finds what a real library lacks. */
static void
find_emulator(const char *path)
{
	*(void **) &emulator.calls = emulator_function(path, "gp_emulated_calls");
	*(void **) &emulator.fail_at = emulator_function(path, "gp_emulated_fail_at");
	*(void **) &emulator.in_use = emulator_function(path, "gp_emulated_in_use");
	*(void **) &emulator.objects = emulator_function(path, "gp_emulated_objects");
	*(void **) &emulator.lazy = emulator_function(path, "gp_emulated_lazy");
	*(void **) &emulator.reverse = emulator_function(path, "gp_emulated_reverse");
	*(void **) &emulator.memory = emulator_function(path, "gp_emulated_memory");
	*(void **) &emulator.image = emulator_function(path, "gp_emulated_image");
	*(void **) &emulator.speed = emulator_function(path, "gp_emulated_speed");
	*(void **) &emulator.longest = emulator_function(path, "gp_emulated_longest");
	*(void **) &emulator.reserved = emulator_function(path, "gp_emulated_reserved");
}

/* True when a part is to run: no part is named, or this one is. */
static bool
wanted(int argc, char **argv, const char *part)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], part) == 0)
			return true;
	return argc == 2;
}

int
main(int argc, char **argv)
{
	static const struct
	{
		const char *name;
		void		(*run) (void);
	}			parts[] = {
		{"faults", gpu_faults},
		{"card", gpu_card},
		{"operations", gpu_operations},
		{"shapes", gpu_shapes},
		{"chains", gpu_chains},
		{"walks", gpu_walks},
		{"training", gpu_training},
		{"fits", gpu_fits}
	};
	char		reason[GP_CUDA_REASON];
	gp_cuda_card card;

	if (argc < 2)
	{
		fprintf(stderr, "usage: test_gpu /path/to/gnngp_cuda.so [part ...]\n");
		return 2;
	}
	gpu = gp_cuda_load(argv[1], reason);
	if (gpu == NULL)
	{
		printf("Bail out! %s\n", reason);
		return 1;
	}
	find_emulator(argv[1]);
	if (gpu->list(&card, 1, reason) <= 0)
	{
		printf("1..0 # SKIP no GPU: %s\n", reason);
		return 0;
	}
	printf("# %s, compute capability %d.%d, %zu bytes\n", card.name, card.major, card.minor,
		   card.memory);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (wanted(argc, argv, parts[i].name))
			parts[i].run();
	return done_testing();
}

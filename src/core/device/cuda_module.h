/*
 * cuda_module.h - what the extension and the GPU library know of each other.
 *
 * The GPU library is a shared object of its own with one exported symbol,
 * GP_CUDA_SYMBOL, of type gp_cuda_module.  It is mapped by gp_cuda_load, once in
 * a process and never in one that forks servers, and it never goes away again.
 */
#ifndef GP_CUDA_MODULE_H
#define GP_CUDA_MODULE_H

#include "device.h"

/* of the structures below, of the environment and of the device table */
#define GP_CUDA_VERSION 8
#define GP_CUDA_SYMBOL "gnngp_cuda_module"
#define GP_CUDA_CAPABILITY 75	/* least compute capability, 10 major + minor */
#define GP_CUDA_REASON 512		/* bytes of a reason, its end included */

/* A card, as it is found without starting anything on it. */
typedef struct gp_cuda_card
{
	int			number;			/* as CUDA counts */
	char		name[256];
	int			major;			/* compute capability */
	int			minor;
	size_t		memory;			/* bytes in all */
	double		flops[2];		/* operations a second that it reaches at most, by gp_type */
	double		bytes;			/* a second between its memory and its processors, at most */
	int			driver;			/* versions as CUDA writes them: 1000 major + 10 minor */
	int			runtime;
	char		libraries[96];	/* cuBLAS and cuSOLVER with their versions */
} gp_cuda_card;

typedef struct gp_cuda_options
{
	int			card;
	bool		tf32;			/* products of float may round their factors to 10 bits */
	size_t		memory;			/* bytes on the card, and 256 MB for operations at most; 0 = what is
								 * free */
} gp_cuda_options;

typedef struct gp_cuda_module
{
	int			version;		/* GP_CUDA_VERSION */
	size_t		device_size;	/* sizeof(gp_device) */
	size_t		env_size;		/* sizeof(gp_env) */

	/*
	 * Lists at most `most` cards and returns how many there are; 0 or less with a
	 * reason (GP_CUDA_REASON bytes) when none can be used.  Does not raise, and
	 * starts no context.
	 */
	int			(*list) (gp_cuda_card *card, int most, char *reason);

	/*
	 * Opens a device on a card; its room is what it may hold there.  Raises
	 * GP_ERR_DEVICE when that fails.  Every later failure of the card, lack of
	 * memory that no streaming can help included, is a GP_ERR_DEVICE, too.
	 */
	gp_device  *(*open) (gp_env *env, const gp_cuda_options *options);

	/* True when the card failed in a way that this process cannot go on from. */
	bool		(*lost) (void);
} gp_cuda_module;

/*
 * The module in a file, mapped at the first call with all signals blocked, or
 * NULL with a reason (GP_CUDA_REASON bytes).  A failure is not remembered: the
 * file may be installed later.
 */
extern const gp_cuda_module *gp_cuda_load(const char *path, char *reason);

#endif							/* GP_CUDA_MODULE_H */

/*
 * gpu.h - what the files of the GPU's test program share.
 */
#ifndef GPU_H
#define GPU_H

#include "device/cuda_module.h"
#include "test_env.h"

/* The emulated card's own functions; all NULL on a real one. */
typedef struct gpu_emulator
{
	long		(*calls) (void);
	void		(*fail_at) (long n);
	size_t		(*in_use) (void);
	long		(*objects) (void);
	void		(*lazy) (int how);	/* 0: at once; 1: when waited for; else by chance */
	void		(*reverse) (int on);
	void		(*memory) (size_t bytes);
	void		(*image) (int on);	/* kernels have code for the card, or none */
	void		(*speed) (int kilohertz, int ratio);	/* of single to double; 0 = the usual */
	double		(*longest) (int queued);	/* seconds of a call, or of what was queued, since the last time */
	size_t		(*reserved) (void);	/* the most that pools have held since the last time */
} gpu_emulator;

extern const gp_cuda_module *gpu;
extern gpu_emulator emulator;

/* Opens the first card with so many bytes for matrices; 0 = all. */
static inline gp_device *
gpu_open(gp_env *env, size_t memory)
{
	gp_cuda_options options = {0, false, memory};

	return gpu->open(env, &options);
}

/* True when nothing is held on the card; always for a real one. */
static inline bool
gpu_clean(void)
{
	return emulator.in_use == NULL || (emulator.in_use() == 0 && emulator.objects() == 0);
}

/* The parts of the program. */
extern void gpu_operations(void);	/* gpu_operations.c: each entry of the table */
extern void gpu_shapes(void);	/* gpu_shapes.c: sizes beyond those of a grid, and refusals */
extern void gpu_chains(void);	/* gpu_chains.c: sequences of operations */
extern void gpu_training(void);	/* gpu_training.c: the operations of a training */
extern void gpu_fits(void);		/* gpu_fits.c: whole fits against the CPU's */
extern void gpu_card(void);		/* gpu_card.c: what a card needs of who drives it */
extern void gpu_walks(void);	/* gpu_walks.c: random walks */
extern void gpu_faults(void);	/* gpu_faults.c: cards lost, cancels, lack of memory */

#endif							/* GPU_H */

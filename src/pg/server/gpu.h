/*
 * gpu.h - the GPU library and the cards that it finds.
 *
 * The library lies beside the extension's own, in a library directory of the server's, and nowhere
 * else.  A client's session or a background worker loads it when a computation is to run on a card,
 * never the postmaster.
 */
#ifndef GNNGP_GPU_H
#define GNNGP_GPU_H

#include "core/device/cuda_module.h"
#include "core/fit/fit.h"

#define GNNGP_GPU_MOST 16		/* cards that can be told apart and used */

/* Whether the card that is set can be tried. */
typedef enum gnngp_gpu_state
{
	GNNGP_GPU_READY,
	GNNGP_GPU_ABSENT,			/* no library, no driver, no card */
	GNNGP_GPU_UNKNOWN,			/* no card of the number in gnngp.gpu */
	GNNGP_GPU_LOST				/* it failed in a way that this process cannot go on from */
} gnngp_gpu_state;

/* What there is; reason tells why a card cannot be tried. */
typedef struct gnngp_gpus
{
	gnngp_gpu_state state;
	const gp_cuda_module *module;	/* NULL without a library */
	int			n;				/* cards in the list */
	gp_cuda_card card[GNNGP_GPU_MOST];
	char		reason[GP_CUDA_REASON];
} gnngp_gpus;

#define GNNGP_GPU_TOO_OLD "the GPU's compute capability is below 7.5"

/* True for a card that the library is not built for. */
static inline bool
gnngp_gpu_too_old(const gp_cuda_card *card)
{
	return card->major * 10 + card->minor < GP_CUDA_CAPABILITY;
}

/* Loads the library and lists the cards; starts none.  Valid until the next call. */
extern const gnngp_gpus *gnngp_gpu_find(void);

/*
 * Opens the card that is set: 58000, or 22023 for a number that no card has.
 * From then on an error of the card reads as one, too.
 */
extern gp_device *gnngp_gpu_open(gp_env *env);

/*
 * True when there is a card and the planner expects it to finish sooner than so many threads: quiet
 * where there is none, else a WARNING once.
 */
extern bool gnngp_gpu_suits(const gp_plan *plan, int threads);

/* Tells, once in a session, that a card failed and the CPU does its work; frees the error. */
extern void gnngp_gpu_warn(ErrorData *error);

#endif							/* GNNGP_GPU_H */

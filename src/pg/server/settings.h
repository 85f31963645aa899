/*
 * settings.h - the settings with the prefix gnngp.
 */
#ifndef GNNGP_SETTINGS_H
#define GNNGP_SETTINGS_H

typedef enum gnngp_device_choice
{
	GNNGP_DEVICE_AUTO,
	GNNGP_DEVICE_CPU,
	GNNGP_DEVICE_CUDA
} gnngp_device_choice;

/* The limits among those below raise 42501 when this session has overwritten one without the right
 * to. */

/* The value of gnngp.device; 22023 when it is none of auto, cpu and cuda. */
extern gnngp_device_choice gnngp_setting_device(void);

/* The threads of a computation: at least 1, at most gnngp.max_threads and the processors. */
extern int	gnngp_setting_threads(void);

/* The bytes of an opened link model or live state that a backend keeps for its next call. */
extern size_t gnngp_setting_link_cache_size(void);

/* Frees what is kept and takes more bytes; set by who keeps something. */
extern void (*gnngp_cache_size_changed) (size_t most);

/* The bytes that one backend may hold at a time for its computations. */
extern size_t gnngp_setting_memory_limit(void);

/* True when a refresh that would lose more than half of a model keeps the model. */
extern bool gnngp_setting_refresh_guard;

/* The number of the card to compute on, as CUDA counts. */
extern int	gnngp_setting_gpu;

/* The bytes that one backend may hold on a card; 0 = what is free there. */
extern size_t gnngp_setting_gpu_memory_limit(void);

/* The seconds that the planner counts for starting a card. */
extern double gnngp_setting_gpu_start_cost;

/* True when products of float may round their factors to TF32 on a card. */
extern bool gnngp_setting_tf32;

#endif							/* GNNGP_SETTINGS_H */

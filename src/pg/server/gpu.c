/*
 * gpu.c - finding, opening and losing a card.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "env_pg.h"
#include "gpu.h"
#include "settings.h"

#define LIBRARY "gnngp_cuda.so"

/*
 * What the planner counts with: operations a second of one thread, the share of
 * its most that a card reaches in a whole fit, bytes a second that travel to it.
 * Low on purpose for the card, so that a fit which would take about as long on
 * either stays on the CPU.
 */
#define CPU_FLOPS 3e10
#define GPU_SHARE 0.125
#define GPU_COPY 5e9

#define HINT_DEVICE "Set gnngp.device to cpu or auto; gp_device() tells what there is."
#define HINT_NUMBER "Set gnngp.gpu to one that gp_device() lists."
#define HINT_LOST "This session cannot use the GPU any more: start a new one, or set gnngp.device to cpu or auto."

/*
 * Where the library lies when it is installed: beside this one, which the server has found in its
 * library directory or in one that dynamic_library_path names, and in no other place.  Whoever
 * may write there may replace this library as well.
 */
static const char *
library_path(void)
{
	static char path[MAXPGPATH];
	Dl_info		own;

	strlcpy(path, pkglib_path, sizeof(path));
	if (dladdr(gnngp_gpu_find, &own) != 0 && is_absolute_path(own.dli_fname))
	{
		strlcpy(path, own.dli_fname, sizeof(path));
		get_parent_directory(path);
	}
	strlcat(path, "/" LIBRARY, sizeof(path));
	return path;
}

/* The library, or NULL with a reason. */
static const gp_cuda_module *
load_module(char *reason)
{
	if (!IsUnderPostmaster || process_shared_preload_libraries_in_progress)
	{
		strlcpy(reason, "the GPU library is loaded in sessions of a running server alone",
				GP_CUDA_REASON);
		return NULL;
	}
	return gp_cuda_load(library_path(), reason);
}

/* Lists the cards, once in a session that has some; whether the one that is set is among them. */
static gnngp_gpu_state
list_cards(gnngp_gpus *gpus)
{
	if (gpus->module->lost())
	{
		strlcpy(gpus->reason, "the GPU was lost in this session", GP_CUDA_REASON);
		return GNNGP_GPU_LOST;
	}
	if (gpus->n == 0)
	{
		int			found = gpus->module->list(gpus->card, GNNGP_GPU_MOST, gpus->reason);

		if (found <= 0)
			return GNNGP_GPU_ABSENT;
		gpus->n = Min(found, GNNGP_GPU_MOST);
	}
	if (gnngp_setting_gpu >= gpus->n)
	{
		snprintf(gpus->reason, GP_CUDA_REASON, "the number of GPUs is %d", gpus->n);
		return GNNGP_GPU_UNKNOWN;
	}
	if (gnngp_gpu_too_old(&gpus->card[gnngp_setting_gpu]))
	{
		strlcpy(gpus->reason, GNNGP_GPU_TOO_OLD, GP_CUDA_REASON);
		return GNNGP_GPU_ABSENT;
	}
	return GNNGP_GPU_READY;
}

const gnngp_gpus *
gnngp_gpu_find(void)
{
	static gnngp_gpus gpus = {0};

	gpus.module = load_module(gpus.reason);
	gpus.state = gpus.module == NULL ? GNNGP_GPU_ABSENT : list_cards(&gpus);
	return &gpus;
}

/* A reason as a detail: a sentence. */
static int
detail_sentence(const char *reason)
{
	int			length = (int) strlen(reason);

	return errdetail_internal("%c%s%s", pg_toupper((unsigned char) reason[0]),
							  length > 0 ? reason + 1 : "",
							  length > 0 && reason[length - 1] == '.' ? "" : ".");
}

/* Raises a card's error; a hint of the library's own goes before ours, but not before a loss's. */
static void
raise_error(const char *what, const char *message, const char *hint)
{
	char		reason[GP_CUDA_REASON];
	const gp_cuda_module *module = load_module(reason);

	if (module != NULL && module->lost())
		hint = HINT_LOST;
	ereport(ERROR,
			(errcode(ERRCODE_SYSTEM_ERROR),
			 errmsg_internal("%s", what),
			 detail_sentence(message),
			 errhint("%s", hint ? hint : HINT_DEVICE)));
}

gp_device *
gnngp_gpu_open(gp_env *env)
{
	const gnngp_gpus *gpus = gnngp_gpu_find();
	gp_cuda_options options = {
		.card = gnngp_setting_gpu,
		.tf32 = gnngp_setting_tf32,
		.memory = gnngp_setting_gpu_memory_limit()
	};

	if (gpus->state != GNNGP_GPU_READY)
	{
		bool		unknown = gpus->state == GNNGP_GPU_UNKNOWN;

		ereport(ERROR,
				(errcode(unknown ? ERRCODE_INVALID_PARAMETER_VALUE : ERRCODE_SYSTEM_ERROR),
				 unknown ? errmsg("there is no GPU %d", gnngp_setting_gpu) :
				 errmsg("the CUDA device cannot be used"),
				 detail_sentence(gpus->reason),
				 errhint("%s", unknown ? HINT_NUMBER :
						 gpus->state == GNNGP_GPU_LOST ? HINT_LOST : HINT_DEVICE)));
	}
	gnngp_env_set_device_error(env, raise_error, "the CUDA device cannot be used");
	gp_device  *device = gpus->module->open(env, &options);
	gnngp_env_set_device_error(env, raise_error, "the CUDA device failed");
	return device;
}

/* Says why no card is used, where that is not as it should be. */
static void
warn_unusable(const gnngp_gpus *gpus)
{
	static bool told = false;
	bool		broken = gpus->module == NULL && access(library_path(), F_OK) == 0;

	if (!broken && gpus->state != GNNGP_GPU_UNKNOWN)
	{
		ereport(DEBUG1,
				(errmsg_internal("no GPU is used: %s", gpus->reason)));
		return;
	}
	ereport(told ? DEBUG1 : WARNING,
			(broken ? errmsg("the GPU library cannot be used; the computation continues on the CPU")
			 : errmsg("there is no GPU %d; the computation continues on the CPU", gnngp_setting_gpu),
			 detail_sentence(gpus->reason),
			 errhint("%s", broken ? "Install the one that belongs to this version of the extension, or set gnngp.device to cpu."
					 : HINT_NUMBER)));
	told = true;
}

/*
 * What would be done before any card has started does not load the library; where there is no
 * card, whoever tries one is told why.
 */
bool
gnngp_gpu_suits(const gp_plan *plan, int threads)
{
	double		cpu = plan->flops / (CPU_FLOPS * threads);
	double		start = gnngp_setting_gpu_start_cost + plan->bytes / GPU_COPY;

	if (start >= cpu)
		return false;
	const gnngp_gpus *gpus = gnngp_gpu_find();
	if (gpus->state != GNNGP_GPU_READY)
	{
		warn_unusable(gpus);
		return false;
	}
	const double *flops = gpus->card[gnngp_setting_gpu].flops;
	return start + (plan->flops - plan->doubles) / (GPU_SHARE * flops[GP_FLOAT]) +
		plan->doubles / (GPU_SHARE * flops[GP_DOUBLE]) < cpu;
}

void
gnngp_gpu_warn(ErrorData *error)
{
	static bool told = false;
	char		reason[GP_CUDA_REASON];
	const gp_cuda_module *module = load_module(reason);
	bool		lost = module != NULL && module->lost();

	ereport(told ? DEBUG1 : WARNING,
			(errmsg(error->sqlerrcode == ERRCODE_SYSTEM_ERROR ?
					"the GPU failed; the computation continues on the CPU" :
					"there is too little memory beside the GPU; the computation continues on the "
					"CPU"),
			 detail_sentence(error->detail ? error->detail : error->message),
			 lost ? errhint("This session no longer uses the GPU; a new one may.") :
			 errhint("With gnngp.device = cpu the GPU is not tried.")));
	told = true;
	FreeErrorData(error);
}

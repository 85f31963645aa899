/*
 * device.c - gp_device: what there is to compute on; and a warning when the
 * extension is made where there is nothing.
 */
#include "postgres.h"

#include "pg/server/gpu.h"
#include "pg/server/server.h"

/* A version as CUDA writes it; NULL where it is not known. */
static const char *
cuda_version(int version)
{
	return version > 0 ? psprintf("%d.%d", version / 1000, version % 1000 / 10) : NULL;
}

/* Bytes, NULL where they are not known. */
static NullableDatum
memory_cell(size_t bytes)
{
	return (NullableDatum) {Int64GetDatum((int64) bytes), bytes == 0};
}

/* gp_device(): the CPU and each card, or why there is none */
GNNGP_FUNCTION(gnngp_device)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_device  *device = gp_device_cpu(env, 1);

	gnngp_emit(result, gnngp_out_text(device->name),
			   gnngp_out_text(gp_device_cpu_describe(device)), memory_cell(env->limit),
			   GNNGP_OUT_NULL, GNNGP_OUT_NULL, GNNGP_OUT_NULL, GNNGP_OUT_NULL,
			   gnngp_out_text("ready"));
	device->close(device);
	gnngp_env_destroy(env);
	const gnngp_gpus *gpus = gnngp_gpu_find();
	for (int i = 0; i < gpus->n; i++)
	{
		const gp_cuda_card *card = &gpus->card[i];

		gnngp_emit(result, gnngp_out_text("cuda"), gnngp_out_text(card->name),
				   memory_cell(card->memory),
				   gnngp_out_text(psprintf("%d.%d", card->major, card->minor)),
				   gnngp_out_text(cuda_version(card->driver)),
				   gnngp_out_text(cuda_version(card->runtime)), gnngp_out_text(card->libraries),
				   gnngp_out_text(gpus->state == GNNGP_GPU_LOST ? "lost in this session" :
								  gnngp_gpu_too_old(card) ? GNNGP_GPU_TOO_OLD : "ready"));
	}
	if (gpus->n == 0)
		gnngp_emit(result, gnngp_out_text("cuda"), GNNGP_OUT_NULL, GNNGP_OUT_NULL,
				   GNNGP_OUT_NULL, GNNGP_OUT_NULL, GNNGP_OUT_NULL, GNNGP_OUT_NULL,
				   gnngp_out_text(gpus->reason));
	return (Datum) 0;
}

/* Loads BLAS, or fails as the first fit would; for gnngp_attempt. */
static void
open_cpu(void *arg)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);

	gp_device_cpu(env, 1);
	gnngp_env_destroy(env);
}

/* For the extension's scripts: a WARNING when OpenBLAS cannot be loaded. */
GNNGP_FUNCTION(gnngp_check_blas)
{
	ErrorData  *error = gnngp_attempt(open_cpu, NULL);

	if (error != NULL && error->sqlerrcode != ERRCODE_SYSTEM_ERROR)
		ReThrowError(error);
	if (error != NULL)
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg_internal("%s", error->message),
				 errdetail("Fits fail until this is repaired; you need not create the extension again."),
				 error->hint ? errhint("%s", error->hint) : 0));
	PG_RETURN_VOID();
}

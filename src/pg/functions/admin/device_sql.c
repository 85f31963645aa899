/*
 * device_sql.c - gp_device: what there is to compute on; and a warning when the
 * extension is made where there is nothing.
 */
#include "postgres.h"

#include "pg/server/gpu.h"
#include "pg/server/server.h"

/* The columns of a row. */
enum device_column
{
	DEVICE_KIND, DEVICE_NAME, DEVICE_MEMORY, DEVICE_CAPABILITY, DEVICE_DRIVER, DEVICE_RUNTIME,
	DEVICE_LIBRARIES, DEVICE_STATUS, DEVICE_COLUMNS
};

typedef struct device_row
{
	const char *text[DEVICE_COLUMNS];	/* NULL is NULL */
	size_t		memory;			/* 0 is NULL */
} device_row;

static void
put_row(ReturnSetInfo *result, const device_row *row)
{
	Datum		values[DEVICE_COLUMNS] = {0};
	bool		nulls[DEVICE_COLUMNS] = {false};

	for (int i = 0; i < DEVICE_COLUMNS; i++)
		if (i == DEVICE_MEMORY)
		{
			values[i] = Int64GetDatum((int64) row->memory);
			nulls[i] = row->memory == 0;
		}
		else
			gnngp_put_text(values, nulls, i, row->text[i]);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* A version as CUDA writes it; NULL where it is not known. */
static const char *
cuda_version(int version)
{
	return version > 0 ? psprintf("%d.%d", version / 1000, version % 1000 / 10) : NULL;
}

/* gp_device(): the CPU and each card, or why there is none */
PG_FUNCTION_INFO_V1(gnngp_device);
Datum
gnngp_device(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_device  *device = gp_device_cpu(env, 1);
	const gnngp_gpus *gpus;

	InitMaterializedSRF(fcinfo, 0);
	put_row(result, &(device_row) {.text = {[DEVICE_KIND] = device->name,
			[DEVICE_NAME] = gp_device_cpu_describe(device), [DEVICE_STATUS] = "ready"},
			.memory = env->limit});
	device->close(device);
	gnngp_env_destroy(env);
	gpus = gnngp_gpu_find();
	for (int i = 0; i < gpus->n; i++)
	{
		const gp_cuda_card *card = &gpus->card[i];

		put_row(result, &(device_row) {.text = {
				[DEVICE_KIND] = "cuda", [DEVICE_NAME] = card->name,
				[DEVICE_CAPABILITY] = psprintf("%d.%d", card->major, card->minor),
				[DEVICE_DRIVER] = cuda_version(card->driver),
				[DEVICE_RUNTIME] = cuda_version(card->runtime),
				[DEVICE_LIBRARIES] = card->libraries,
				[DEVICE_STATUS] = gpus->state == GNNGP_GPU_LOST ? "lost in this session" :
				gnngp_gpu_too_old(card) ? GNNGP_GPU_TOO_OLD : "ready"},
				.memory = card->memory});
	}
	if (gpus->n == 0)
		put_row(result, &(device_row) {.text = {[DEVICE_KIND] = "cuda",
				[DEVICE_STATUS] = gpus->reason}});
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
PG_FUNCTION_INFO_V1(gnngp_check_blas);
Datum
gnngp_check_blas(PG_FUNCTION_ARGS)
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

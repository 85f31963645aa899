/*
 * compute.c - where a computation runs, and what happens when a card fails.
 */
#include "postgres.h"

#include "arguments.h"
#include "compute.h"
#include "env_pg.h"
#include "gpu.h"
#include "progress.h"
#include "raise.h"
#include "settings.h"

gp_kernel *
gnngp_parse_kernel(gp_env *env, const char *kernel)
{
	if (gnngp_kernel_is_auto(kernel))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Name a kernel here, such as gcn; gp_tune(graph) compares them.",
					"only gp_fit takes kernel auto");
	gnngp_env_set_text(env, kernel, "kernel");
	return gp_kernel_parse(env, kernel);
}

gp_program *
gnngp_compile_kernel(gp_env *env, const char *kernel)
{
	return gp_kernel_program(env, gnngp_parse_kernel(env, kernel));
}

gp_device *
gnngp_device_open(gp_env *env, int threads)
{
	if (gnngp_setting_device() == GNNGP_DEVICE_CUDA)
		return gnngp_gpu_open(env);
	return gp_device_cpu(env, threads > 0 ? threads : gnngp_setting_threads());
}

static void
run_once(gp_env *env, int threads, bool by_plan, gnngp_work work, void *arg)
{
	gnngp_computation compute = {.env = env,.by_plan = by_plan};

	compute.device = gnngp_device_open(env, threads);
	compute.used = compute.device->name;
	work(&compute, arg);
	compute.device->close(compute.device);
	gnngp_env_set_device_error(env, NULL, NULL);
}

void
gnngp_compute(gp_env *env, int threads, gnngp_work work, void *arg)
{
	run_once(env, threads, false, work, arg);
}

/*
 * Runs the work in an environment of its own; NULL where a card that its plan took has failed.
 *
 * Errors are caught without a subtransaction, which would have nothing to undo: a computation
 * touches no table, takes no lock and holds no buffer.  All that it has is in its environment,
 * which is destroyed: memory, threads, and the card with what is on it.
 */
static gp_env *
run_below(gp_env *outer, bool by_plan, gnngp_work work, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	gp_env	   *env = gnngp_env_create_child(outer);
	volatile bool failed = false;

	PG_TRY();
	{
		run_once(env, 0, by_plan, work, arg);
	}
	PG_CATCH();
	{
		failed = by_plan && gnngp_env_device_failed(env);
		gnngp_env_destroy(env);
		if (!failed)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		ErrorData  *error = CopyErrorData();
		FlushErrorState();
		gnngp_gpu_warn(error);
	}
	PG_END_TRY();
	return failed ? NULL : env;
}

gp_env *
gnngp_compute_planned(gp_env *env, gnngp_work work, void *arg)
{
	bool		by_plan = gnngp_setting_device() == GNNGP_DEVICE_AUTO;
	gp_env	   *below = run_below(env, by_plan, work, arg);

	return below ? below : run_below(env, false, work, arg);
}

gp_device *
gnngp_device_for(void *arg, gp_device *planner, const gp_plan *plan)
{
	gp_device **card = arg;

	if (*card)
		return *card;
	if (!gnngp_gpu_suits(plan, planner->threads))
	{
		gnngp_progress_expect(planner, 1, &plan->effort);
		return planner;
	}
	return *card = gnngp_gpu_open(planner->env);
}

void
gnngp_card_close(gnngp_computation *compute, gp_device *card)
{
	if (card == NULL)
		return;
	card->close(card);
	gnngp_env_set_device_error(compute->env, NULL, NULL);
}

gp_posterior *
gnngp_fit_on_device(gnngp_computation *compute, gp_problem *problem, gp_fitter fitter,
					const void *arg)
{
	gp_device  *card = NULL;
	gp_posterior *posterior;

	if (compute->by_plan)
	{
		problem->device_for = gnngp_device_for;
		problem->device_arg = &card;
	}
	posterior = fitter ? fitter(compute->device, problem, arg) : gp_fit(compute->device, problem);
	compute->used = card ? card->name : compute->device->name;
	gnngp_card_close(compute, card);
	return posterior;
}

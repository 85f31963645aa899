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

/* Runs the work once in an environment. */
static void
run_once(gp_env *env, int threads, bool by_plan, gnngp_work work, void *arg)
{
	gnngp_computation compute = {.env = env, .by_plan = by_plan};

	compute.device = gnngp_device_open(env, threads);
	compute.used = compute.device->name;
	work(&compute, arg);
	compute.device->close(compute.device);
	gnngp_env_set_device_error(env, NULL, NULL);
}

/*
 * Runs the work where a card may fail: true, or false when one did.  Other errors,
 * a cancel among them, are thrown on.
 *
 * The error is caught without a subtransaction, which would have nothing to undo: a
 * computation touches no table, takes no lock and holds no buffer.  All that it has
 * is in its environment, which is destroyed: memory, threads, and the card with what
 * is on it.
 */
static bool
run_guarded(gp_env *env, int threads, gnngp_work work, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData  *volatile error = NULL;

	PG_TRY();
	{
		run_once(env, threads, true, work, arg);
	}
	PG_CATCH();
	{
		if (!gnngp_env_device_failed(env))
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (error == NULL)
		return true;
	gnngp_env_destroy(env);
	gnngp_gpu_warn(error);
	return false;
}

void
gnngp_compute(gp_env *env, int threads, bool planned, gnngp_work work, void *arg)
{
	if (!planned || gnngp_setting_device() != GNNGP_DEVICE_AUTO ||
		!run_guarded(gnngp_env_create_child(env), threads, work, arg))
		run_once(env, threads, false, work, arg);
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

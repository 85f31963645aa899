/*
 * gpu_faults.c - fits on the GPU that go wrong, at every place in turn.
 *
 * A card that is lost, lack of memory on the host and on the card, cancels: each
 * raises the error that it should, and leaves nothing behind.  A card is lost for
 * the rest of a process, so those fits run in processes of their own.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "gpu.h"
#include "gpu_world.h"

/* How a process of ours ends. */
enum
{
	ENDED_WELL = 0,
	WENT_THROUGH = 10,			/* no error came */
	WRONG_ERROR = 11,
	LEFT_BEHIND = 12,
	WRONG_NUMBERS = 13
};

/* What is made to fail. */
typedef struct victim
{
	const char *kernel;
	gp_strategy strategy;
	gp_type		type;
	size_t		memory;			/* of the device, for matrices */
} victim;

static const victim victims[] = {
	{"gcn", GP_STRATEGY_EXACT, GP_FLOAT, 0},
	{"sage(layers=3)", GP_STRATEGY_EXACT, GP_DOUBLE, 8192},
	{"gcnii(layers=3)", GP_STRATEGY_NYSTROM, GP_FLOAT, 0},
	{"appnp", GP_STRATEGY_NYSTROM, GP_FLOAT, 8192},
};

#define VICTIMS (sizeof(victims) / sizeof(victims[0]))

#define NODES 40
#define NUMBERS (NODES * (WORLD_CLASSES + 1))

static double numbers[NUMBERS];	/* what the last fit gave */
static double usual[NUMBERS];	/* and what one without faults gave */

/* The largest difference between the two. */
static double
difference(void)
{
	double		worst = 0.0;

	for (int i = 0; i < NUMBERS; i++)
		worst = fmax(worst, fabs(numbers[i] - usual[i]));
	return worst;
}

/* A small fit. */
static void
small_fit(gp_env *env, const victim *v)
{
	gp_device  *card = gpu_open(env, v->memory);
	world		w = random_world(env, NODES, 3, v->type);
	gp_problem	p = gpu_problem(env, &w, v->kernel, GP_TASK_CLASSES, v->type);

	p.strategy = v->strategy;
	p.nugget = NAN;
	gp_posterior *out = gp_fit(card, &p);
	memcpy(numbers, out->mean, NODES * WORLD_CLASSES * sizeof(double));
	memcpy(numbers + NODES * WORLD_CLASSES, out->variance, NODES * sizeof(double));
	gp_posterior_free(env, out);
	card->close(card);
}

/* The same where an error may come; how it ended. */
static int
outcome(gp_env *env, const victim *v, gp_error want)
{
	bool		failed = test_catch(env, small_fit(env, v));
	bool		right = !failed || test_state(env)->code == want;

	if (!right)
		printf("# got code %d: %s\n", (int) test_state(env)->code, test_state(env)->message);
	test_env_reset(env);
	if (!gpu_clean())
	{
		printf("# %zu bytes and %ld objects of the card are left\n", emulator.in_use ? emulator.in_use() : 0,
			   emulator.objects ? emulator.objects() : 0);
		return LEFT_BEHIND;
	}
	return !right ? WRONG_ERROR : failed ? ENDED_WELL : WENT_THROUGH;
}

/* The calls that a fit makes; the first fit of a process starts the card, too. */
static long
calls_of(const victim *v)
{
	gp_env	   *env = test_env();
	long		before = emulator.calls();
	long		calls;

	(void) outcome(env, v, GP_ERR_DEVICE);
	calls = emulator.calls() - before;
	memcpy(usual, numbers, sizeof(usual));
	test_env_close(env);
	return calls;
}

/* In a process of its own: the card is lost at the n-th call from here. */
static int
lose_card(const victim *v, long n)
{
	gp_env	   *env = test_env();
	char		reason[GP_CUDA_REASON];
	gp_cuda_card card;

	emulator.fail_at(n);
	int			how = outcome(env, v, GP_ERR_DEVICE);
	if (how == WENT_THROUGH)	/* lost when all was done */
		return difference() == 0.0 ? WENT_THROUGH : WRONG_NUMBERS;
	if (how != ENDED_WELL)
		return how;
	if (gpu->lost())
	{
		(void) gpu->list(&card, 1, reason);
		return outcome(env, v, GP_ERR_DEVICE);
	}
	emulator.fail_at(0);		/* it was not, says the device: then the next fit must work */
	how = outcome(env, v, GP_ERR_DEVICE);
	return how == WENT_THROUGH ? ENDED_WELL : WRONG_ERROR;
}

/* Runs it for one call; how the process ended, or -1 for a crash. */
static int
lose_card_apart(const victim *v, long n)
{
	int			status = 0;

	fflush(stdout);
	pid_t		child = fork();
	if (child == 0)
	{
		status = lose_card(v, n);
		fflush(stdout);
		_exit(status);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Loses the card at some calls of a fit, of the first at every call that opens it; it goes through only where all later calls are those of the close. */
static void
test_lost(const victim *v)
{
	long		calls = calls_of(v);
	long		step = calls / 50 + 1;
	long		bad = 0;
	int			ran = 0;
	int			through = 0;
	char		name[200];

	for (long n = 1; n <= calls; n += v == victims && n < 60 ? 1 : step)
	{
		int			how = lose_card_apart(v, n);

		ran++;
		through += how == WENT_THROUGH;
		if (how != (through > 0 ? WENT_THROUGH : ENDED_WELL) && bad++ < 5)
			printf("# lost at call %ld: ended with %d\n", n, how);
	}
	snprintf(name, sizeof(name), "%s: the card is lost at %d of %ld calls, after %d of them an error and no more",
			 v->kernel, ran, calls, ran - through);
	ok(bad == 0 && calls > 50 && ran > 2 * through, name);
}

/* Refuses allocations of the host in turn, or cancels at checks, until a fit goes through. */
static void
test_places(const victim *v, bool cancel)
{
	gp_env	   *env = test_env();
	int64_t		n = 1;
	int			how = ENDED_WELL;
	int			ran = 0;
	char		name[200];

	for (; how == ENDED_WELL && ran < 3000; n = test_next_place(n, 3))
	{
		test_env_disturb(env, cancel ? TEST_CANCEL : TEST_REFUSE, n);
		how = outcome(env, v, cancel ? TEST_CANCELLED : GP_ERR_MEMORY);
		ran++;
	}
	snprintf(name, sizeof(name), "%s: %s at %d places, each an error and no more", v->kernel,
			 cancel ? "a cancel" : "lack of memory", ran - 1);
	ok(how == WENT_THROUGH && ran > 10, name);
	test_env_close(env);
}

/* Cards with less and less memory: the fit goes through, or says that there is too little. */
static void
test_small_cards(const victim *v)
{
	gp_env	   *env = test_env();
	bool		sound = true;
	int			through = 0;
	int			refused = 0;
	char		name[200];

	for (size_t bytes = (size_t) 4 << 20; bytes >= 256; bytes = bytes * 2 / 3)
	{
		emulator.memory(bytes);
		int			how = outcome(env, v, GP_ERR_DEVICE);
		sound = sound && (how == ENDED_WELL || (how == WENT_THROUGH && difference() < 1e-3)) && !gpu->lost();
		through += how == WENT_THROUGH;
		refused += how == ENDED_WELL;
	}
	emulator.memory(0);
	snprintf(name, sizeof(name), "%s: %d cards of 256 bytes to 4 MB serve, %d are too small", v->kernel, through,
			 refused);
	ok(sound && through > 0 && refused > 0, name);
	ok(outcome(env, v, GP_ERR_DEVICE) == WENT_THROUGH, "and the next fit goes through");
	test_env_close(env);
}

/* The first start of a card in a process fails: the way out must not start it where signals come through. */
static void
test_first_start(void)
{
	bool		well = true;

	for (long n = 1; n <= 3; n++)
		well = well && lose_card_apart(&victims[0], n) == ENDED_WELL;
	ok(well, "a card that fails at its first start, and starts at the next");
}

/* All faults that the card allows.  Processes of their own come first, while this one is small to copy. */
void
gpu_faults(void)
{
	if (emulator.fail_at != NULL)
		test_first_start();
	for (size_t k = 0; emulator.fail_at != NULL && k < VICTIMS; k++)
	{
		test_lost(&victims[k]);
		test_small_cards(&victims[k]);
	}
	for (size_t k = 0; k < VICTIMS; k++)
	{
		test_places(&victims[k], false);
		test_places(&victims[k], true);
	}
}

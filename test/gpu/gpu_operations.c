/*
 * gpu_operations.c - each entry of the GPU's table against plain loops.
 *
 * The cases are those of the CPU device, through a shadow (shadow.h).  Each runs
 * with all on the card, with so little memory for matrices that they are streamed
 * from the host, and with operands of the caller's own.  The emulated card runs them
 * lazily, its streams in any order, and its threads in reverse, too.  The bits must
 * stay, or a wait or a barrier is missing, or what is free decides how a sum is cut.
 */
#include <stdlib.h>

#include "device/cases_dense.h"
#include "device/cases_sparse.h"
#include "gpu.h"
#include "shadow.h"

#define LITTLE ((size_t) 1 << 20)	/* bytes for matrices when they are to be streamed */
#define LOOSER 4.0				/* sums are added in another order than the CPU's */

/* How a case is run. */
typedef struct setting
{
	const char *name;
	size_t		memory;
	shadow_way	way;
	int			lazy;
	bool		reverse;
	int			kilohertz;		/* of a card so slow that small work is cut: its bits are others */
	bool		once;			/* in float alone: the two types are one source */
} setting;

static const setting settings[] = {
	{"on the card", 0, SHADOW_UPLOAD, 0, false, 0, false},
	{"in any order", 0, SHADOW_UPLOAD, 2, true, 0, true},
	{"with little memory, lazily", LITTLE, SHADOW_UPLOAD, 1, false, 0, true},
	{"with little memory, in any order", LITTLE, SHADOW_UPLOAD, 3, false, 0, false},
	{"half from host memory, in any order", 0, SHADOW_MIXED, 4, true, 0, false},
	{"with no memory at all, half from the host", 1, SHADOW_MIXED, 1, false, 0, true},
	{"on a slow card", 0, SHADOW_UPLOAD, 0, false, 10, true},
};

/* Makes the emulated card work as a setting says; a real one works as it likes. */
static void
prepare(const setting *s)
{
	if (emulator.lazy == NULL)
		return;
	emulator.lazy(s->lazy);
	emulator.reverse(s->reverse);
	emulator.speed(s->kilohertz, 0);
}

/* Runs one case; the error and the bits. */
static void
run_case(gp_env *env, const device_test *test, gp_type type, const setting *s, case_result *r)
{
	gp_device  *dev = gpu_open(env, s->memory);
	gp_device  *shadow = shadow_open(dev, s->way);

	random_state = 1;
	test->run(shadow, type, r);
	shadow->close(shadow);
	dev->close(dev);
}

/* Runs one case in all settings. */
static void
test_case(const device_test *test, gp_type type)
{
	gp_env	   *env = test_env();
	volatile uint64_t bits = 0;

	for (volatile size_t k = 0; k < LENGTH(settings); k++)
	{
		const setting *s = &settings[k];
		case_result r = {0, 0};
		char		name[200];

		if (s->once && type == GP_DOUBLE && getenv("GNNGP_LONG") == NULL)
			continue;
		prepare(s);
		if (test_catch(env, run_case(env, test, type, s, &r)))
		{
			snprintf(name, sizeof(name), "%s, %s, %s", test->name, type == GP_FLOAT ? "float" : "double", s->name);
			ok(false, name);
			printf("# %s\n", test_state(env)->message);
			test_env_reset(env);
			continue;
		}
		snprintf(name, sizeof(name), "%s, %s, %s: error %.2g", test->name,
				 type == GP_FLOAT ? "float" : "double", s->name, r.error);
		ok(r.error <= LOOSER * test->tolerance[type], name);
		if (k == 0)
			bits = r.hash;
		else if (s->kilohertz == 0)
			ok(r.hash == bits, "the same bits");
		ok(test_state(env)->live == 0 && gpu_clean(), "nothing is left behind");
	}
	prepare(&settings[0]);
	test_env_close(env);
}

/* The arc-cosine map where it is nearly 0 or 1/2. */
static void
test_arc_cosine(gp_env *env)
{
	static const double tolerance[] = {1e-6, 2e-15};
	gp_device  *dev = gpu_open(env, 0);
	gp_device  *shadow = shadow_open(dev, SHADOW_UPLOAD);
	char		name[100];

	for (int type = GP_FLOAT; type <= GP_DOUBLE; type++)
	{
		double		error = arc_cosine_error(shadow, (gp_type) type);

		snprintf(name, sizeof(name), "arc-cosine map, %s: relative error %.2g",
				 type == GP_FLOAT ? "float" : "double", error);
		ok(error <= tolerance[type], name);
	}
	shadow->close(shadow);
	dev->close(dev);
}

/* The pivots that fail. */
static void
test_shadow_pivots(gp_env *env)
{
	gp_device  *dev = gpu_open(env, 0);

	test_pivots(env, shadow_open(dev, SHADOW_UPLOAD));
	test_pivots(env, shadow_open(dev, SHADOW_DIRECT));
}

/* Operands that do not fit together. */
static void
test_shadow_refusals(gp_env *env)
{
	test_refusals(env, shadow_open(gpu_open(env, 0), SHADOW_UPLOAD));
}

/* All cases in both types. */
void
gpu_operations(void)
{
	few_large = emulator.lazy != NULL;
	for (int type = GP_FLOAT; type <= GP_DOUBLE; type++)
	{
		for (size_t c = 0; c < LENGTH(dense_cases); c++)
			test_case(&dense_cases[c], (gp_type) type);
		for (size_t c = 0; c < LENGTH(sparse_cases); c++)
			test_case(&sparse_cases[c], (gp_type) type);
	}
	in_env(test_arc_cosine(env));
	in_env(test_shadow_pivots(env));
	in_env(test_shadow_refusals(env));
}

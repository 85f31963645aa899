/*
 * test_device.c - the CPU device's copies, dense products and factorisations.
 *
 * The cases of cases_dense.h, which must give the same bits with 1 and 3 threads.
 */
#include "cases_dense.h"
#include "device/cpu/cpu_internal.h"

/* One case in one variant of the vector code, with so many threads. */
static uint64_t
run_case(gp_env *env, size_t c, gp_type type, gp_simd_level level, int threads)
{
	gp_device  *dev = gp_device_cpu(env, threads);
	case_result r = {0, 0};
	char		name[200];

	gp_cpu_force_simd(dev, level);
	random_state = 1;
	dense_cases[c].run(dev, type, &r);
	snprintf(name, sizeof(name), "%s, %s, %d threads, %s: error %.2g", dense_cases[c].name,
			 type == GP_FLOAT ? "float" : "double", threads, gp_device_cpu_describe(dev), r.error);
	ok(r.error <= dense_cases[c].tolerance[type], name);
	dev->close(dev);
	return r.hash;
}

/* OpenBLAS computes with AVX2 where the processor has it and the environment does not say otherwise,
 * an OpenBLAS that is older than the processor included. */
static void
check_core(void)
{
#ifdef __x86_64__
	const char *core = gp_blas_core();

	if (getenv("OPENBLAS_CORETYPE") == NULL && __builtin_cpu_supports("avx2"))
		ok(strcmp(core, "Prescott") != 0 && strcmp(core, "Nehalem") != 0, core);
#endif
}

/* All cases in the widest variant with 1 and 3 threads, and in the others with one, which need no panels. */
int
main(void)
{
	gp_env	   *env = test_env();
	int			widest = GP_SIMD_AVX512;

	while (gp_simd_at((gp_simd_level) widest) == NULL)
		widest--;
	for (size_t c = 0; c < LENGTH(dense_cases); c++)
		for (int type = GP_FLOAT; type <= GP_DOUBLE; type++)
		{
			uint64_t	hash = run_case(env, c, (gp_type) type, (gp_simd_level) widest, 1);

			ok(run_case(env, c, (gp_type) type, (gp_simd_level) widest, 3) == hash,
			   "the same bits as with one thread");
			few_large = true;
			for (int level = GP_SIMD_PORTABLE; level < widest; level++)
				run_case(env, c, (gp_type) type, (gp_simd_level) level, 1);
			few_large = false;
		}
	gp_device  *dev = gp_device_cpu(env, 2);
	test_pivots(env, dev);
	test_refusals(env, dev);
	check_core();
	dev->close(dev);
	is_int(test_env_close(env), 0, "nothing is left behind");
	return done_testing();
}

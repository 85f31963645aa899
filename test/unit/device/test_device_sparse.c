/*
 * test_device_sparse.c - the CPU device's sparse products, maps and pair sums.
 *
 * The cases of cases_sparse.h, with 1 and 3 threads (equal bits), and in
 * every variant of the vector code that the machine runs.
 */
#include "cases_sparse.h"
#include "device/cpu/cpu_internal.h"

/* All cases in one variant of the vector code. */
static void
test_variant(gp_env *env, gp_simd_level level)
{
	char		name[200];

	for (size_t c = 0; c < LENGTH(sparse_cases); c++)
		for (int type = GP_FLOAT; type <= GP_DOUBLE; type++)
		{
			uint64_t	hash = 0;

			for (int threads = 1; threads <= 3; threads += 2)
			{
				gp_device  *dev = gp_device_cpu(env, threads);
				case_result r = {0, 0};

				gp_cpu_force_simd(dev, level);
				random_state = 1;
				sparse_cases[c].run(dev, (gp_type) type, &r);
				snprintf(name, sizeof(name), "%s, %s, %d threads, %s: error %.2g", sparse_cases[c].name,
						 type == GP_FLOAT ? "float" : "double", threads,
						 gp_device_cpu_describe(dev), r.error);
				ok(r.error <= sparse_cases[c].tolerance[type], name);
				if (threads == 1)
					hash = r.hash;
				else
					ok(r.hash == hash, "the same bits as with one thread");
				dev->close(dev);
			}
		}
}

/* All variants that this machine runs. */
int
main(void)
{
	static const double tolerance[] = {5e-7, 1e-15};
	gp_env	   *env = test_env();
	char		name[100];

	for (int level = GP_SIMD_PORTABLE; level <= GP_SIMD_AVX512; level++)
	{
		gp_device  *dev = gp_device_cpu(env, 1);

		if (!gp_cpu_force_simd(dev, (gp_simd_level) level))
		{
			dev->close(dev);
			continue;
		}
		for (int type = GP_FLOAT; type <= GP_DOUBLE; type++)
		{
			double		error = arc_cosine_error(dev, (gp_type) type);

			snprintf(name, sizeof(name), "arc-cosine map, %s, %s: relative error %.2g",
					 type == GP_FLOAT ? "float" : "double", gp_device_cpu_describe(dev), error);
			ok(error <= tolerance[type], name);
		}
		dev->close(dev);
		test_variant(env, (gp_simd_level) level);
	}
	is_int(test_env_close(env), 0, "nothing is left behind");
	return done_testing();
}

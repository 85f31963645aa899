/*
 * test_buffers.c - OpenBLAS's buffers where address space is short.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device/cpu/cpu_blas.h"
#include "device/threads/cpu_pool.h"
#include "device/device.h"
#include "test_env.h"

#define SIDE 600

/* Lets the process map so many MB more than it has now; INT64_MAX: any. */
static void
limit_space(int64_t megabytes)
{
	struct rlimit space;
	long		pages = 0;
	FILE	   *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%ld", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	getrlimit(RLIMIT_AS, &space);
	space.rlim_cur = megabytes == INT64_MAX ? space.rlim_max :
		(rlim_t) pages * (rlim_t) sysconf(_SC_PAGESIZE) + ((rlim_t) megabytes << 20);
	setrlimit(RLIMIT_AS, &space);
}

/* A product by a device of so many threads; returns the sum of its elements. */
static double
product(gp_env *env, int threads)
{
	gp_device  *dev = gp_device_cpu(env, threads);
	gp_matrix	a = dev->create(dev, SIDE, SIDE, GP_DOUBLE);
	gp_matrix	b = dev->create(dev, SIDE, SIDE, GP_DOUBLE);
	double	   *host = gp_alloc_array(env, SIDE * SIDE, sizeof(double));
	double		sum = 0.0;

	for (int64_t k = 0; k < SIDE * SIDE; k++)
		host[k] = 1.0 / (double) (1 + k % 977);
	dev->upload(dev, a, gp_matrix_wrap(host, SIDE, SIDE, GP_DOUBLE));
	dev->gemm(dev, false, true, 1.0, a, a, 0.0, b);
	dev->download(dev, gp_matrix_wrap(host, SIDE, SIDE, GP_DOUBLE), b);
	for (int64_t k = 0; k < SIDE * SIDE; k++)
		sum += host[k] * (double) (1 + k % 7);
	gp_free(env, host);
	gp_destroy_all(dev, &a, &b);
	dev->close(dev);
	return sum;
}

/* Buffers are asked for before OpenBLAS is, which would wait for them for ever. */
static void
check_shortage(gp_env *env)
{
	gp_blas_load(env);
	limit_space(100);
	expect_error(env, GP_ERR_MEMORY, product(env, 1));
	ok(strstr(test_state(env)->message, "address space") != NULL, "the message says of what there is too little");
	test_env_reset(env);
	limit_space(200);
	is_int(gp_blas_reserve(env, 3), 1, "one caller has a buffer where there is room for one");
	double		alone = product(env, 3);
	limit_space(INT64_MAX);
	is_int(gp_blas_reserve(env, 3), 3, "three have, where there is room");
	ok(product(env, 3) == alone, "a product is the same bits by fewer threads than the device has");
	limit_space(0);
	is_int(gp_blas_reserve(env, 3), 3, "what OpenBLAS has it keeps");
	is_int(gp_blas_reserve(env, 2), 2, "and fewer callers need no more");
	limit_space(INT64_MAX);
}

/* How many threads are inside of a tile, and the most that were. */
typedef struct inside
{
	int			now;
	int			most;
} inside;

/* Stays a moment, so that others come where they may. */
static void
stay(void *job, int64_t tile, int worker)
{
	inside	   *i = job;
	int			now = __atomic_add_fetch(&i->now, 1, __ATOMIC_SEQ_CST);
	int			most = __atomic_load_n(&i->most, __ATOMIC_SEQ_CST);

	while (now > most && !__atomic_compare_exchange_n(&i->most, &most, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	usleep(2000);
	__atomic_sub_fetch(&i->now, 1, __ATOMIC_SEQ_CST);
}

/* A run of the pool keeps to the threads that it is given. */
static void
check_fewer(gp_env *env)
{
	gp_pool    *pool = gp_pool_create(env, 4);
	inside		few = {0};
	inside		all = {0};

	gp_pool_run(pool, stay, &few, 60, 2);
	is_int(few.most, 2, "two of four threads take part where no more may");
	gp_pool_run(pool, stay, &all, 60, 4);
	ok(all.most > 2, "and more where they may");
	gp_pool_destroy(pool);
	is_int(test_state(env)->live, 0, "nothing is left");
}

int
main(void)
{
	alarm(300);
	in_env(check_shortage(env));
	in_env(check_fewer(env));
	return done_testing();
}

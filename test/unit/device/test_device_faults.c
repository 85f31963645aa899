/*
 * test_device_faults.c - cancels, lack of memory and threads of the CPU device.
 */
#include <dirent.h>
#include <signal.h>
#include <time.h>

#include "device/cpu/cpu_internal.h"
#include "test_device.h"

/* Polls so far, the poll that finds a cancel, and how often one finds a harmless interrupt. */
static int64_t polls;
static int64_t cancel_poll;
static int64_t harmless_every;

/* A host whose interrupts come after a number of polls. */
static bool
counted_pending(gp_env *env)
{
	polls++;
	if (polls == cancel_poll)
		test_state(env)->cancel = true;
	return test_state(env)->cancel || (harmless_every > 0 && polls % harmless_every == 0);
}

/* The threads of this process. */
static int
threads_now(void)
{
	DIR		   *dir = opendir("/proc/self/task");
	struct dirent *d;
	int			n = 0;

	if (dir == NULL)
		return -1;
	while ((d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.')
			n++;
	closedir(dir);
	return n;
}

/* Waits a moment for a thread that has ended to leave the list. */
static bool
threads_become(int n)
{
	for (int i = 0; i < 1000; i++)
	{
		struct timespec ms = {0, 1000000};

		if (threads_now() == n)
			return true;
		nanosleep(&ms, NULL);
	}
	return false;
}

/* Operations with several tiles; out is what the operation changes. */
static void
long_operation(gp_device *dev, int which, gp_matrix *out)
{
	gp_matrix	a = random_matrix(dev, 600, 600, GP_FLOAT);
	gp_matrix	b = random_matrix(dev, 600, 600, GP_FLOAT);
	gp_matrix	diag = dev->create(dev, 600, 1, GP_DOUBLE);
	gp_matrix	sums = dev->create(dev, 600, 1, GP_DOUBLE);
	gp_csr		s = random_csr(dev, 600, 600, 100, 600, GP_FLOAT);
	gp_stage	relu = {GP_MAP_RELU, 0, 0, 1.0, 0.0, diag};

	dev->fill(dev, diag, 1.0);
	for (int64_t i = 0; i < 600; i++)
		set(a, i, i, 600);
	*out = b;
	switch (which)
	{
		case 0:
			dev->gemm(dev, false, false, 1.0, a, a, 0.0, b);
			break;
		case 1:
			*out = a;
			dev->potrf(dev, a);
			break;
		case 2:
			dev->trsm(dev, false, true, a, b);
			break;
		case 3:
			dev->spmm(dev, 1.0, &s, a, 0.0, b);
			break;
		case 4:
			dev->pair_diag(dev, &s, NULL, &a, &relu, 1, sums);
			*out = sums;
			break;
		case 5:
			dev->map(dev, &relu, b, 0, NULL);
			break;
		case 6:
			*out = a;
			dev->trtri(dev, a);
			break;
	}
	drop_csr(dev, s);
}

static const char *const operation[] = {"gemm", "potrf", "trsm", "spmm", "pair_diag", "map", "trtri"};

#define OPERATIONS ((int) (sizeof(operation) / sizeof(operation[0])))

/* The bits of what an operation gives, and how often it polled. */
static uint64_t
operation_bits(gp_device *dev, int which, int64_t *npolls)
{
	case_result r = {0, 0};
	gp_matrix	out;

	random_state = 1;
	polls = 0;
	long_operation(dev, which, &out);
	*npolls = polls;
	finish(&r, out);
	return r.hash;
}

/* A cancel in the middle ends each operation; the device goes on working; harmless ones do not matter. */
static void
test_cancel(int which, int threads)
{
	gp_env	   *env = test_env();
	int64_t		n;
	char		name[200];
	gp_matrix	out;

	env->interrupt_pending = counted_pending;
	cancel_poll = harmless_every = 0;
	gp_device  *dev = gp_device_cpu(env, threads);
	uint64_t	bits = operation_bits(dev, which, &n);

	snprintf(name, sizeof(name), "%s, %d threads: served more than once", operation[which], threads);
	ok(n > 1, name);
	polls = 0;
	cancel_poll = threads == 1 ? n / 2 : 2;	/* helpers may leave the caller few tiles */
	expect_error(env, TEST_CANCELLED, long_operation(dev, which, &out));
	is_int(polls, cancel_poll, "at the poll that found the cancel");
	test_state(env)->cancel = false;
	cancel_poll = 0;

	ok(operation_bits(dev, which, &n) == bits, "the device goes on working");
	harmless_every = 2;
	ok(operation_bits(dev, which, &n) == bits, "an interrupt that is no cancel changes nothing");
	harmless_every = 0;
	test_env_reset(env);
	ok(threads_become(1), "an environment that ends leaves no thread");
	test_env_close(env);
}

/* A call of everything that allocates. */
static void
allocating_sequence(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 3);
	gp_matrix	a = random_matrix(dev, 20, 4000, GP_FLOAT);
	gp_matrix	c = dev->create(dev, 20, 20, GP_FLOAT);
	gp_matrix	w = dev->create(dev, 20, 1, GP_FLOAT);
	gp_matrix	diag = dev->create(dev, 20, 1, GP_DOUBLE);
	gp_matrix	sums = dev->create(dev, 20, 1, GP_DOUBLE);
	gp_csr		s = random_csr(dev, 20, 20, 4, 20, GP_FLOAT);
	gp_stage	relu = {GP_MAP_RELU, 0, 0, 1.0, 0.0, diag};

	dev->fill(dev, diag, 1.0);
	dev->syrk(dev, false, 1.0, a, 0.0, c);
	dev->gemm(dev, false, true, 1.0, a, a, 0.0, c);
	dev->map(dev, &relu, c, 0, NULL);
	dev->pair_diag(dev, &s, &s, NULL, &relu, 1, sums);
	dev->pair_diag(dev, &s, NULL, &c, &relu, 1, sums);
	dev->syev(dev, c, w);
	drop_csr(dev, s);
	drop(dev, a);
	drop(dev, c);
	drop(dev, w);
	drop(dev, diag);
	drop(dev, sums);
	dev->close(dev);
}

/* Every allocation of it fails in turn. */
static void
test_memory(void)
{
	gp_env	   *env = test_env();
	bool		clean = true;
	int64_t		at;

	for (at = 1; at < 1000; at++)
	{
		test_env_reset(env);
		test_state(env)->fail_at = at;
		if (!test_catch(env, allocating_sequence(env)))
			break;
		if (test_state(env)->code != GP_ERR_MEMORY)
			clean = false;
		test_env_reset(env);
		if (test_state(env)->live != 0 || !threads_become(1))
			clean = false;
	}
	ok(at > 20 && at < 1000, "many allocations were made to fail");
	ok(clean, "each raises the lack of memory, and leaves nothing behind");
	is_int(test_state(env)->live, 0, "the sequence frees what it takes");
	is_int(test_state(env)->resources, 0, "and disowns its threads");
	test_env_close(env);
}

/* Helpers block every signal; the caller's mask stays as it was. */
static void
test_signals(void)
{
	gp_env	   *env = test_env();
	sigset_t	before;
	sigset_t	after;
	struct dirent *d;
	int			blocked = 0;
	int			changed = 0;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	gp_device  *dev = gp_device_cpu(env, 3);
	is_int(threads_now(), 1, "a device that has computed nothing has no helpers");
	gp_matrix	a = random_matrix(dev, 600, 600, GP_FLOAT);
	gp_matrix	b = dev->create(dev, 600, 600, GP_FLOAT);
	dev->gemm(dev, false, false, 1.0, a, a, 0.0, b);
	gp_destroy_all(dev, &a, &b);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (int i = 1; i < NSIG; i++)
		changed += sigismember(&before, i) != sigismember(&after, i);
	is_int(changed, 0, "the caller's signals stay open");
	is_int(dev->threads, 3, "three threads");
	DIR		   *dir = opendir("/proc/self/task");
	while (dir != NULL && (d = readdir(dir)) != NULL)
	{
		char		path[300];
		char		line[200];

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", d->d_name);
		FILE	   *f = fopen(path, "r");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL)
			if (strncmp(line, "SigBlk:", 7) == 0 && strtoull(line + 7, NULL, 16) > 0xffff)
				blocked++;
		if (f != NULL)
			fclose(f);
	}
	if (dir != NULL)
		closedir(dir);
	is_int(blocked, 2, "both helpers block all signals");
	dev->close(dev);
	ok(threads_become(1), "close ends them");
	is_int(test_env_close(env), 0, "nothing is left behind");
}

int
main(void)
{
	for (int which = 0; which < OPERATIONS; which++)
		for (int threads = 1; threads <= 3; threads += 2)
			test_cancel(which, threads);
	test_memory();
	test_signals();
	return done_testing();
}

/*
 * gpu_card.c - what a card needs of who drives it.
 *
 * Memory that a caller takes back at once, a card that is slow in double precision, hubs,
 * one that the library has no code for, a pool that keeps what it is given, TF32.
 * Each needs the emulated card.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "device/test_device.h"
#include "graph/graph.h"
#include "gpu.h"

#define N 500
#define SLACK ((size_t) 256 << 20)	/* that operations may take beyond the limit */

/* A matrix on the card, of random numbers; its diagonal is so much larger. */
static gp_matrix
card_matrix(gp_device *dev, int64_t rows, int64_t cols, gp_type type, double diagonal)
{
	double	   *host = gp_alloc_array(dev->env, rows * cols, sizeof(double));
	gp_matrix	m = dev->create(dev, rows, cols, type);

	for (int64_t e = 0; e < rows * cols; e++)
		host[e] = random_unit() + (e / cols == e % cols ? diagonal : 0.0);
	dev->upload(dev, m, gp_matrix_wrap(host, rows, cols, GP_DOUBLE));
	for (int64_t e = 0; e < rows * cols; e++)
		host[e] = NAN;
	gp_free(dev->env, host);
	return m;
}

/* Memory that is filled again as soon as a call returns. */
static void
check_lent(gp_env *env)
{
	gp_device  *dev = gpu_open(env, 0);
	gp_matrix	m = dev->create(dev, N, 7, GP_DOUBLE);
	gp_matrix	g = dev->create(dev, N, 7, GP_DOUBLE);
	double		host[N * 7];
	double		back[N * 7];
	double		value[N];
	int32_t		index[N];
	int32_t		col[N];
	bool		same = true;

	for (int e = 0; e < N * 7; e++)
		host[e] = e;
	for (int i = 0; i < N; i++)
	{
		index[i] = N - 1 - i;
		col[i] = i % 7;
		value[i] = -i;
	}
	emulator.lazy(1);
	dev->upload(dev, m, gp_matrix_wrap(host, N, 7, GP_DOUBLE));
	memset(host, 0xff, sizeof(host));
	dev->gather_rows(dev, g, m, index);
	memset(index, 0, sizeof(index));
	for (int i = 0; i < N; i++)
		index[i] = i;
	dev->put(dev, g, N, index, col, value);
	memset(index, 0, sizeof(index));
	memset(col, 0, sizeof(col));
	memset(value, 0, sizeof(value));
	dev->download(dev, gp_matrix_wrap(back, N, 7, GP_DOUBLE), g);
	emulator.lazy(0);
	for (int e = 0; e < N * 7; e++)
		same = same && back[e] == (e % 7 == e / 7 % 7 ? -(double) (e / 7) : (double) ((N - 1 - e / 7) * 7 + e % 7));
	ok(same, "what a caller takes back at once was read before");
	drop(dev, m);
	drop(dev, g);
	dev->close(dev);
}

/* Work that a slow card does in so many seconds at most at a time, and has queued. */
static void
check_pieces(gp_env *env, gp_type type, int ratio)
{
	char		name[200];

	emulator.speed(1000, ratio);
	gp_device  *dev = gpu_open(env, 0);
	gp_matrix	a = card_matrix(dev, N, N, type, 0.0);
	gp_matrix	b = card_matrix(dev, N, N, type, 0.0);
	gp_matrix	c = card_matrix(dev, N, N, type, N);
	emulator.lazy(1);
	(void) emulator.longest(0);
	dev->gemm(dev, false, true, 1.0, a, b, 0.0, c);
	dev->gemm(dev, true, false, 1.0, a, b, 0.0, c);
	dev->syrk(dev, true, 1.0, a, 0.0, c);
	dev->syrk(dev, false, 1.0, a, 0.0, c);
	dev->shift(dev, gp_matrix_diagonal(c), N);
	dev->trsm(dev, true, false, c, b);
	dev->trsm(dev, false, true, c, b);
	double		queued = emulator.longest(1);
	dev->gemm(dev, false, false, 1.0, a, b, 0.0, c);
	dev->syrk(dev, true, 1.0, a, 0.0, c);
	dev->trsm(dev, true, true, c, b);
	double		call = emulator.longest(0);
	snprintf(name, sizeof(name), "%s, %d times slower in double: a piece takes %.1f ms, what is queued %.1f",
			 type == GP_FLOAT ? "float" : "double", ratio, 1e3 * call, 1e3 * queued);
	ok(call <= 0.011 && queued <= 4.0 * 0.011 && queued > 0.0, name);
	dev->syrk(dev, false, 1.0, a, 0.0, c);
	dev->shift(dev, gp_matrix_diagonal(c), N);
	ok(dev->potrf(dev, c) == -1, "a factor");
	dev->trtri(dev, c);
	call = emulator.longest(0);
	snprintf(name, sizeof(name), "and its longest call %.1f ms", 1e3 * call);
	ok(call <= 0.05, name);
	drop(dev, a);
	drop(dev, b);
	drop(dev, c);
	dev->close(dev);
	emulator.lazy(0);
	emulator.speed(0, 0);
}

/* Calls of the card that one of its operations on row `row` of s makes: the matrices are there already. */
static long
row_calls(gp_device *dev, const gp_csr *s, const gp_csr *unit, gp_matrix column, int32_t row, int what, double *sum)
{
	const int32_t zero = 0;
	long		before = emulator.calls();

	if (what == 0)
		dev->spmm_take(dev, s, column, 1, &row, &zero, sum);
	else if (what == 1)
		dev->csr_rows(dev, column, s, &row, 1);
	else
		dev->csr_product_rows(dev, column, 1.0, s, unit, &row, 1);
	return emulator.calls() - before;
}

/* A hub, which one warp walks along: no launch follows more of its entries than make a piece. */
static void
check_hub(gp_env *env)
{
	static const char *const name[] = {"elements of a product", "rows", "rows of a product"};
	static const int most[] = {16384, 16384, 4096};
	const int	entries = 100000;
	gp_device  *dev = gpu_open(env, 0);
	gp_csr	   *s = gp_csr_create(env, 2, entries, entries + 1, GP_FLOAT);
	gp_csr	   *unit = gp_csr_identity(env, entries, GP_FLOAT);
	gp_matrix	column = dev->create(dev, entries, 1, GP_FLOAT);
	double		sum[2];

	for (int e = 0; e <= entries; e++)
	{
		s->col[e] = e % entries;
		((float *) s->value)[e] = 1.0f;
	}
	s->start[1] = entries;
	s->start[2] = entries + 1;
	s->stamp = gp_csr_stamp();
	dev->fill(dev, column, 1.0);
	for (int what = 0; what < 3; what++)
	{
		long		few = row_calls(dev, s, unit, column, 1, what, &sum[1]);

		few = row_calls(dev, s, unit, column, 1, what, &sum[1]);
		dev->fill(dev, column, 1.0);
		long		many = row_calls(dev, s, unit, column, 0, what, &sum[0]);
		printf("# %s: %ld calls for one entry, %ld for %d\n", name[what], few, many, entries);
		ok(many - few >= entries / most[what], "a hub is cut into launches");
	}
	ok(sum[0] == entries && sum[1] == 1.0, "which add up");
	drop(dev, column);
	dev->close(dev);
}

/* Opens a card that must refuse, and tells whether it gives the reason. */
static bool
refuses(gp_env *env, const char *why)
{
	bool		failed = test_catch(env, (void) gpu_open(env, 0));
	bool		right = failed && test_state(env)->code == GP_ERR_DEVICE &&
		strstr(test_state(env)->message, why) != NULL;

	if (!right)
		printf("# %s\n", failed ? test_state(env)->message : "no error");
	test_env_reset(env);
	return right && gpu_clean() && !gpu->lost();
}

/* In a process of its own, for it is remembered: a card that the library has no code for. */
static int
meet_strange_card(void)
{
	gp_env	   *env = test_env();
	const char *why = "no code for compute capability 9.0";
	long		calls;

	emulator.image(0);
	bool		first = refuses(env, why);
	calls = emulator.calls();
	return first && refuses(env, why) && emulator.calls() - calls <= 1 ? 0 : 1;
}

/* The same, and launches on one. */
static void
check_image(gp_env *env)
{
	int			status = 1;

	fflush(stdout);
	pid_t		child = fork();
	if (child == 0)
	{
		status = meet_strange_card();
		fflush(stdout);
		_exit(status);
	}
	(void) waitpid(child, &status, 0);
	ok(status == 0, "a card that the library has no code for is refused at the start, and not tried again");
	gp_device  *dev = gpu_open(env, 0);
	gp_matrix	m = dev->create(dev, 3, 3, GP_FLOAT);
	emulator.image(0);
	ok(test_catch(env, dev->fill(dev, m, 1.0)) && strstr(test_state(env)->message, "the kernel of fill") != NULL,
	   "the error of a launch names the kernel");
	emulator.image(1);
	test_env_reset(env);
	ok(gpu_clean(), "nothing is left behind");
}

/* Matrices of many sizes, one after the other, within a limit that counts what the pool keeps. */
static void
check_limit(gp_env *env)
{
	const size_t limit = (size_t) 64 << 20;
	char		name[100];

	(void) emulator.reserved();
	gp_device  *dev = gpu_open(env, limit);
	for (int64_t k = 0; k < 12; k++)
	{
		gp_matrix	m = dev->create(dev, 1000, 10000 + 400 * k, GP_FLOAT);

		dev->fill(dev, gp_matrix_part(m, 0, 0, 1, 1), 1.0);
		drop(dev, m);
	}
	dev->close(dev);
	size_t		held = emulator.reserved();
	snprintf(name, sizeof(name), "the pool holds %.0f MB at most, the limit is 64", (double) held / 1048576.0);
	ok(held <= limit + SLACK, name);
}

/* The bits of what one operation of each kind gives, with TF32 or without. */
static void
tf32_bits(gp_env *env, bool tf32, case_result *product, case_result *factor)
{
	gp_cuda_options options = {0, tf32, 0};
	gp_device  *dev = gpu->open(env, &options);
	float	   *host = gp_alloc_array(env, N * N, sizeof(float));

	random_state = 5;
	gp_matrix	a = card_matrix(dev, N, N, GP_FLOAT, 0.0);
	gp_matrix	c = card_matrix(dev, N, N, GP_FLOAT, 0.0);
	dev->gemm(dev, false, false, 1.0, a, a, 0.0, c);
	dev->download(dev, gp_matrix_wrap(host, N, N, GP_FLOAT), c);
	finish(product, gp_matrix_wrap(host, N, N, GP_FLOAT));
	dev->syrk(dev, false, 1.0, a, 0.0, c);
	dev->shift(dev, gp_matrix_diagonal(c), 1.0);
	(void) dev->potrf(dev, c);
	dev->download(dev, gp_matrix_wrap(host, N, N, GP_FLOAT), c);
	finish(factor, gp_matrix_wrap(host, N, N, GP_FLOAT));
	drop(dev, a);
	drop(dev, c);
	dev->close(dev);
}

/* TF32 in products alone, on a card so slow that a factor takes many. */
static void
check_tf32(gp_env *env)
{
	case_result product[2] = {{0, 0}, {0, 0}};
	case_result factor[2] = {{0, 0}, {0, 0}};

	emulator.speed(5, 0);
	tf32_bits(env, false, &product[0], &factor[0]);
	tf32_bits(env, true, &product[1], &factor[1]);
	emulator.speed(0, 0);
	ok(product[0].hash != product[1].hash, "TF32 rounds products");
	ok(factor[0].hash == factor[1].hash, "and neither a covariance nor its Cholesky factor");
}

/* All of it. */
void
gpu_card(void)
{
	if (emulator.speed == NULL)
		return;
	in_env(check_lent(env));
	for (volatile int ratio = 2; ratio <= 64; ratio *= 32)
	{
		in_env(check_pieces(env, GP_DOUBLE, ratio));
		in_env(check_pieces(env, GP_FLOAT, ratio));
	}
	in_env(check_hub(env));
	in_env(check_image(env));
	in_env(check_limit(env));
	in_env(check_tf32(env));
	ok(gpu_clean(), "nothing is left behind");
}

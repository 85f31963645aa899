/*
 * bench_device.c - the CPU device beside OpenBLAS's own threads.
 *
 *		cc -O2 -Isrc/core test/bench/bench_device.c src/core/device/[a-z]*.c src/core/base/[a-z]*.c
 *			-o bench_device -lm -lpthread -ldl
 *		./bench_device [threads [rows]]
 *
 * For each operation: the device's speed, that of one call of OpenBLAS with as
 * many threads, and their ratio; the best of several runs, taken in turns.
 */
#include <dlfcn.h>

#include "bench_env.h"
#include "device/cpu/cpu_blas.h"
#include "device/device.h"

static int	threads = 1;
static gp_device *dev;

/* The operands that the operations share. */
static struct
{
	int64_t		n;				/* rows of the tall matrices */
	gp_matrix	tall;			/* n x 1500 float */
	gp_matrix	out;			/* the same */
	gp_matrix	square;			/* 1500 x 1500 float */
	gp_matrix	triangle;		/* 1500 x 1500 float, lower */
	gp_matrix	tall_double;	/* n / 10 x 1500 */
	gp_matrix	square_double;	/* 1500 x 1500, positive definite */
	gp_matrix	work_double;	/* 1500 x 1500 */
	gp_matrix	diag;			/* n x 1 */
	gp_stage	relu;
	gp_csr		s;				/* n x n, about 18 entries in a row */
}			data;

#define SIDE 1500

static gp_matrix
make(int64_t rows, int64_t cols, gp_type type)
{
	gp_matrix	m = dev->create(dev, rows, cols, type);
	uint64_t	state = 1;

	for (int64_t i = 0; i < rows * m.ld; i++)
	{
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double		v = (double) (int32_t) (state >> 40) / 8388608.0 - 1.0;
		if (type == GP_FLOAT)
			((float *) m.data)[i] = (float) v;
		else
			((double *) m.data)[i] = v;
	}
	return m;
}

/* A random graph's matrix, columns ascending and apart. */
static void
make_sparse(int64_t n, int64_t degree)
{
	uint64_t	state = 7;
	int64_t		e = 0;

	data.s = (gp_csr) {n, n, gp_alloc_array(&host, n + 1, sizeof(int64_t)),
					   gp_alloc_array(&host, n * degree, sizeof(int32_t)),
					   gp_alloc_array(&host, n * degree, sizeof(float)), GP_FLOAT};
	data.s.start[0] = 0;
	for (int64_t i = 0; i < n; i++)
	{
		for (int64_t d = 0; d < degree && n > degree; d++, e++)
		{
			int64_t		width = n / degree;

			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			data.s.col[e] = (int32_t) (d * width + (int64_t) (state >> 33) % width);
			((float *) data.s.value)[e] = 0.1f;
		}
		data.s.start[i + 1] = e;
	}
}

static void
make_data(int64_t n)
{
	data.n = n;
	data.tall = make(n, SIDE, GP_FLOAT);
	data.out = make(n, SIDE, GP_FLOAT);
	data.square = make(SIDE, SIDE, GP_FLOAT);
	data.triangle = make(SIDE, SIDE, GP_FLOAT);
	data.tall_double = make(n / 10, SIDE, GP_DOUBLE);
	data.square_double = make(SIDE, SIDE, GP_DOUBLE);
	data.work_double = make(SIDE, SIDE, GP_DOUBLE);
	data.diag = dev->create(dev, n, 1, GP_DOUBLE);
	dev->fill(dev, data.diag, 2.0);
	data.relu = (gp_stage) {GP_MAP_RELU, 0, 0, 1.0, 0.0, data.diag};
	for (int64_t i = 0; i < SIDE; i++)
	{
		((float *) data.triangle.data)[i * data.triangle.ld + i] = 500;
		((double *) data.square_double.data)[i * data.square_double.ld + i] = 2000;
	}
	make_sparse(n, 18);
}

/* What the device does not call: it solves by itself, and shares out work by itself. */
static void (*blas_set_threads) (int threads);
static void (*blas_trsm) (int order, int side, int uplo, int trans, int diag, int m, int n,
						  float alpha, const float *l, int ldl, float *b, int ldb);

static void
open_blas(void)
{
	void	   *blas = dlopen("libopenblas.so.0", RTLD_NOW);

	*(void **) &blas_set_threads = dlsym(blas, "openblas_set_num_threads");
	*(void **) &blas_trsm = dlsym(blas, "cblas_strsm");
}

/* Each operation, by the device (own) and by OpenBLAS. */
static void
run_gemm(bool own)
{
	if (own)
		dev->gemm(dev, false, false, 1.0, data.tall, data.square, 0.0, data.out);
	else
		gp_blas_gemm(false, false, 1.0, data.tall, data.square, 0.0, data.out);
}

static void
run_trsm(bool own)
{
	if (own)
		dev->trsm(dev, false, true, data.triangle, data.out);
	else
		blas_trsm(101, 142, 122, 112, 131, (int) data.out.rows, (int) data.out.cols, 1.0f,
				  data.triangle.data, (int) data.triangle.ld, data.out.data, (int) data.out.ld);
}

static void
run_syrk(bool own)
{
	if (own)
		dev->syrk(dev, true, 1.0, data.tall_double, 0.0, data.work_double);
	else
		gp_blas_syrk(true, 1.0, data.tall_double, 0.0, data.work_double);
}

static void
run_potrf(bool own)
{
	if (own)
		dev->potrf(dev, data.work_double);
	else
		gp_blas_potrf(data.work_double);
}

static void
run_relu(bool own)
{
	dev->map(dev, &data.relu, data.out, 0, NULL);
}

static void
run_spmm(bool own)
{
	dev->spmm(dev, 1.0, &data.s, data.tall, 0.0, data.out);
}

/* The best time of several runs by each side. */
static void
bench(const char *name, void (*run) (bool own), double work, const char *unit, bool has_blas)
{
	double		best[2] = {1e30, 1e30};

	for (int r = 0; r < 5; r++)
		for (int own = has_blas ? 0 : 1; own < 2; own++)
		{
			dev->copy(dev, data.work_double, data.square_double);
			dev->copy(dev, data.out, data.tall);
			blas_set_threads(own ? 1 : threads);
			double		t = seconds();
			run(own);
			t = seconds() - t;
			best[own] = t < best[own] ? t : best[own];
		}
	printf("%-36s %8.1f", name, work / best[1] * 1e-9);
	if (has_blas)
		printf(" %8.1f %6.2f", work / best[0] * 1e-9, best[0] / best[1]);
	else
		printf(" %8s %6s", "", "");
	printf("  %s\n", unit);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	double		n;
	double		k = SIDE;

	threads = argc > 1 ? atoi(argv[1]) : 2;
	dev = gp_device_cpu(&host, threads);
	open_blas();
	make_data(argc > 2 ? atoll(argv[2]) : 63000);
	n = (double) data.n;
	printf("%s, %d threads, %lld rows\n%-36s %8s %8s %6s\n", gp_device_cpu_describe(dev),
		   dev->threads, (long long) data.n, "", "device", "OpenBLAS", "ratio");
	bench("gemm, rows x 1500 x 1500, float", run_gemm, 2 * n * k * k, "GFLOP/s", true);
	bench("trsm, rows x 1500, float", run_trsm, n * k * k, "GFLOP/s", true);
	bench("syrk, rows / 10 x 1500, double", run_syrk, n / 10 * k * k, "GFLOP/s", true);
	bench("potrf, 1500, double", run_potrf, k * k * k / 3, "GFLOP/s", true);
	bench("arc-cosine map, rows x 1500, float", run_relu, n * k, "G elements/s", false);
	bench("spmm, 18 a row, 1500 columns, float", run_spmm,
		  (double) gp_csr_entries(&data.s) * k * 4, "GB/s gathered", false);
	dev->close(dev);
	return 0;
}

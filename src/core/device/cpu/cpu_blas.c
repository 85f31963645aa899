/*
 * cpu_blas.c - loads OpenBLAS and calls it for either type.
 *
 * OpenBLAS reads its environment when it is mapped.  At that moment its number
 * of threads is held at 1, so that it starts none, and all signals are blocked,
 * so that any thread it did start would block them too.
 *
 * Each of those who call it at once needs a buffer, which it maps at the first
 * such call, or newer versions as they are mapped themselves, and keeps.  Where the
 * system has no memory for one, it tries again for ever, so that no cancel is heard:
 * nobody maps or calls it before there are enough.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cpu_blas.h"

/* The constants of cblas.h. */
enum
{
	ROW_MAJOR = 101,
	NO_TRANS = 111,
	TRANS = 112,
	LOWER = 122
};

/* What OpenBLAS maps for a buffer, with a little to spare: address space, of which products touch a
 * part. */
#ifdef __powerpc__
#define BUFFER_BYTES (((size_t) 256 << 20) + ((size_t) 1 << 20))
#else
#define BUFFER_BYTES (((size_t) 128 << 20) + ((size_t) 1 << 20))
#endif

#define LIBRARY_BYTES ((size_t) 64 << 20) /* of the library itself, at most */

/* The entry points in use, F(member, name, result, arguments), those of one type by its letter;
 * character lengths follow the arguments of Fortran. */
#define BLAS_FUNCTIONS(F) \
	BLAS_OF_TYPE(F, s, float) BLAS_OF_TYPE(F, d, double) \
	F(corename, "openblas_get_corename", char *, (void)) \
	F(parallel, "openblas_get_parallel", int, (void)) \
	F(set_threads, "openblas_set_num_threads", void, (int))

#define BLAS_OF_TYPE(F, s, T) \
	F(s##gemm, "cblas_" #s "gemm", void, (int, int, int, int, int, int, T, const T *, int, \
										  const T *, int, T, T *, int)) \
	F(s##syrk, "cblas_" #s "syrk", void, (int, int, int, int, int, T, const T *, int, T, T *, \
										  int)) \
	F(s##potrf, #s "potrf_", void, (const char *, const int *, T *, const int *, int *, size_t)) \
	F(s##trtri, #s "trtri_", void, (const char *, const char *, const int *, T *, const int *, \
									int *, size_t, size_t)) \
	F(s##syevd, #s "syevd_", void, (const char *, const char *, const int *, T *, const int *, \
									T *, T *, const int *, int *, const int *, int *, size_t, \
									size_t))

/* Calls the entry point of a type; numbers are converted to it. */
#define CALL(type, name, ...) \
	((type) == GP_FLOAT ? blas.s##name(__VA_ARGS__) : blas.d##name(__VA_ARGS__))

typedef struct blas_table
{
#define MEMBER(member, name, result, arguments) result (*member) arguments;
	BLAS_FUNCTIONS(MEMBER)
#undef MEMBER
	void	   *(*take_buffer) (int);	/* NULL in a build that hides it, */
	void		(*give_buffer) (void *);	/* as this one then is */
} blas_table;

/* Filled once per process: an OpenBLAS that has computed cannot be unmapped safely. */
static blas_table blas;
static bool blas_loaded = false;

/* The buffers that OpenBLAS is known to have; changed by the calling thread, while no other is at
 * work. */
static int	blas_buffers = 0;

/* Where each symbol goes. */
static const struct
{
	const char *name;
	size_t		offset;
}			blas_symbols[] = {
#define SYMBOL(member, name, result, arguments) {name, offsetof(blas_table, member)},
	BLAS_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

/* The best core of OpenBLAS that this processor can run; NULL where OpenBLAS's own choice is not
 * worse. */
static const char *
best_core(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
		__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl"))
		return "SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "Haswell";
#endif
	return NULL;
}

/* True when OpenBLAS took a core without AVX, as it does for processors younger than itself. */
static bool
chose_old_core(void *handle)
{
	static const char *const old_cores[] = {"Prescott", "Nehalem", "Barcelona"};
	char	   *(*corename) (void);
	void	   *symbol = dlsym(handle, "openblas_get_corename");

	if (symbol == NULL)
		return false;
	memcpy(&corename, &symbol, sizeof(symbol));
	for (size_t i = 0; i < sizeof(old_cores) / sizeof(old_cores[0]); i++)
		if (strcmp(corename(), old_cores[i]) == 0)
			return true;
	return false;
}

static void *
map_library(void)
{
	/* Debian's name, the threaded build of Red Hat's releases, and what a development package
	 * links */
	static const char *const names[] = {"libopenblas.so.0", "libopenblasp.so.0", "libopenblas.so"};
	void	   *handle = NULL;

	for (size_t i = 0; handle == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return handle;
}

/*
 * Maps the library with one thread in its environment; NULL when it is missing.  It may be mapped
 * again, for another core, as long as nothing was computed.
 */
static void *
open_library(gp_env *env)
{
	static const char threads[] = "OPENBLAS_NUM_THREADS";
	static const char core[] = "OPENBLAS_CORETYPE";
	const char *old = getenv(threads);
	char	   *saved = NULL;
	sigset_t	all;
	sigset_t	before;

	if (old != NULL)
	{
		saved = gp_alloc(env, strlen(old) + 1);
		strcpy(saved, old);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	setenv(threads, "1", 1);

	void	   *handle = map_library();
	if (handle != NULL && getenv(core) == NULL && best_core() != NULL && chose_old_core(handle))
	{
		dlclose(handle);
		setenv(core, best_core(), 1);
		handle = map_library();
		unsetenv(core);
	}

	if (saved != NULL)
		setenv(threads, saved, 1);
	else
		unsetenv(threads);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	gp_free(env, saved);
	return handle;
}

/* Address space, as OpenBLAS asks for it. */
static void *
map_room(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void __attribute__((noreturn))
refuse_buffer(gp_env *env)
{
	gp_raise(env, GP_ERR_MEMORY,
			 "Raise the limit of the process, or what the system lets all processes map.",
			 "out of memory: OpenBLAS needs %zu MB of address space for a buffer",
			 BUFFER_BYTES >> 20);
}

void
gp_blas_load(gp_env *env)
{
	static const char hint[] =
		"Install OpenBLAS (Debian: package libopenblas0, Red Hat: openblas-threads).";
	blas_table	table = {0};

	if (blas_loaded)
		return;
	void	   *room = map_room(LIBRARY_BYTES + BUFFER_BYTES);
	if (room == MAP_FAILED)
		refuse_buffer(env);
	munmap(room, LIBRARY_BYTES + BUFFER_BYTES);

	void	   *handle = open_library(env);
	if (handle == NULL)
	{
		const char *why = dlerror();
		gp_raise(env, GP_ERR_DEVICE, hint, "could not load OpenBLAS: %s",
				 why ? why : "no reason given");
	}
	for (size_t i = 0; i < sizeof(blas_symbols) / sizeof(blas_symbols[0]); i++)
	{
		void	   *symbol = dlsym(handle, blas_symbols[i].name);

		if (symbol == NULL)
		{
			dlclose(handle);
			gp_raise(env, GP_ERR_DEVICE, hint, "the OpenBLAS library lacks the function \"%s\"",
					 blas_symbols[i].name);
		}
		memcpy((char *) &table + blas_symbols[i].offset, &symbol, sizeof(symbol));
	}
	/* what manages buffers, which a build may hide */
	void	   *take = dlsym(handle, "blas_memory_alloc");
	void	   *give = dlsym(handle, "blas_memory_free");
	if (take != NULL && give != NULL)
	{
		memcpy(&table.take_buffer, &take, sizeof(take));
		memcpy(&table.give_buffer, &give, sizeof(give));
	}
	blas = table;
	blas.set_threads(1);
	blas_loaded = true;
}

const char *
gp_blas_core(void)
{
	return blas.corename();
}

bool
gp_blas_shared(void)
{
	return blas.parallel() != 0;
}

int
gp_blas_reserve(gp_env *env, int callers)
{
	if (blas.take_buffer == NULL || callers <= blas_buffers)
		return callers;
	void	  **room = gp_alloc_array(env, callers, sizeof(void *));
	/* How many more buffers the system has memory for, up to wanted: it is asked, each for itself,
	 * as OpenBLAS will */
	int			more = 0;

	while (more < (callers - blas_buffers))
	{
		room[more] = map_room(BUFFER_BYTES);
		if (room[more] == MAP_FAILED)
			break;
		more++;
	}
	for (int k = 0; k < more; k++)
		munmap(room[k], BUFFER_BYTES);
	if (more > 0)
	{
		/* Has OpenBLAS map buffers for so many callers, by holding them at once; returns how many
		 * it has */
		int			held = 0;

		while (held < (blas_buffers + more) && (room[held] = blas.take_buffer(0)) != NULL)
			held++;
		for (int k = 0; k < held; k++)
			blas.give_buffer(room[k]);
		blas_buffers = held;
	}
	gp_free(env, room);
	if (blas_buffers == 0)
		refuse_buffer(env);
	return blas_buffers;
}

/* The leading dimension for cblas, which refuses 0. */
static int
leading(gp_matrix m)
{
	return m.ld > 0 ? (int) m.ld : 1;
}

void
gp_blas_gemm(bool trans_a, bool trans_b, double alpha, gp_matrix a, gp_matrix b,
			 double beta, gp_matrix c)
{
	int			k = (int) (trans_a ? a.rows : a.cols);

	CALL(c.type, gemm, ROW_MAJOR, trans_a ? TRANS : NO_TRANS, trans_b ? TRANS : NO_TRANS,
		 (int) c.rows, (int) c.cols, k, alpha, a.data, leading(a), b.data, leading(b), beta, c.data,
		 leading(c));
}

void
gp_blas_syrk(bool trans, double alpha, gp_matrix a, double beta, gp_matrix c)
{
	int			k = (int) (trans ? a.rows : a.cols);

	CALL(c.type, syrk, ROW_MAJOR, LOWER, trans ? TRANS : NO_TRANS, (int) c.rows, k, alpha, a.data,
		 leading(a), beta, c.data, leading(c));
}

/* LAPACK is column major: our lower triangle is its upper one. */
int
gp_blas_potrf(gp_matrix a)
{
	int			n = (int) a.rows;
	int			lda = leading(a);
	int			info = 0;

	CALL(a.type, potrf, "U", &n, a.data, &lda, &info, 1);
	return info;
}

int
gp_blas_trtri(gp_matrix l)
{
	int			n = (int) l.rows;
	int			lda = leading(l);
	int			info = 0;

	CALL(l.type, trtri, "U", "N", &n, l.data, &lda, &info, 1, 1);
	return info;
}

int64_t
gp_blas_syevd_work(int64_t n)
{
	return 1 + 6 * n + 2 * n * n;
}

int64_t
gp_blas_syevd_iwork(int64_t n)
{
	return 3 + 5 * n;
}

int
gp_blas_syevd(gp_matrix a, void *w, void *work, int *iwork)
{
	int			n = (int) a.rows;
	int			lda = leading(a);
	int			lwork = (int) gp_blas_syevd_work(n);
	int			liwork = (int) gp_blas_syevd_iwork(n);
	int			info = 0;

	CALL(a.type, syevd, "V", "U", &n, a.data, &lda, w, work, &lwork, iwork, &liwork, &info, 1, 1);
	return info;
}

/*
 * emulate.h - what the files of the emulator share.
 */
#ifndef GP_EMULATE_H
#define GP_EMULATE_H

#include <cuda_runtime.h>

/* What the environment asks for, and what happened so far. */
struct gp_emulated_state
{
	bool		ready;			/* the environment has been read */
	int			devices;
	bool		driver;
	int			lazy;			/* 0: at once; 1: when waited for; else by chance */
	uint64_t	chance;
	bool		reverse;
	bool		open;			/* the arena is not protected */
	size_t		memory;			/* of the arena */
	size_t		limit;			/* of what is held at once */
	int64_t		delay_us;
	bool		image;			/* kernels have code for the card */
	int			kilohertz;
	int			ratio;			/* of single to double precision */
	double		longest;		/* seconds of the longest call */
	double		queued;			/* and of what is queued now, and was at most */
	double		most_queued;
	bool		context;		/* something has started one */
	long		calls;
	long		fail_at;		/* the call that loses the card; 0 = none */
	long		objects;
	cudaError_t last;			/* what cudaGetLastError tells */
};

extern gp_emulated_state gp_emulated;

/* One closed tail of a stream: all operations up to a number, and when they are over. */
struct gp_emulated_point
{
	struct CUstream_st *stream;
	long		upto;
	int64_t		time;
};

extern void gp_emulated_setup(void);
extern cudaError_t gp_emulated_result(cudaError_t code);	/* keeps an error for cudaGetLastError */
extern cudaError_t gp_emulated_enter(void);	/* counts a call that needs a card; what is wrong with it */
extern cudaError_t gp_emulated_look(void);	/* the same for calls that start nothing on the card */
extern double gp_emulated_rate(bool is_double);	/* operations a second */
extern void gp_emulated_complain(const char *format,...) __attribute__((format(printf, 1, 2)));
extern void gp_emulated_stop(const char *format,...)
			__attribute__((noreturn, format(printf, 1, 2)));

/* True from the call on that loses the card. */
static inline bool
gp_emulated_lost(void)
{
	return gp_emulated.fail_at > 0 && gp_emulated.calls >= gp_emulated.fail_at;
}

/* Streams. */
extern void gp_emulated_flush(cudaStream_t stream);
extern void gp_emulated_flush_all(void);
extern bool gp_emulated_is_stream(cudaStream_t stream);

/* Puts a function object into a stream. */
template<class F>
static inline void
gp_emulated_later(cudaStream_t stream, const F &body)
{
	gp_emulated_enqueue(stream, new gp_emulated_closure<F>(body));
}

/* The same for a call of so many operations. */
template<class T, class F>
static inline void
gp_emulated_work(cudaStream_t stream, double flops, const F &body)
{
	auto	   *task = new gp_emulated_closure<F>(body);

	task->seconds = flops / gp_emulated_rate(sizeof(T) == sizeof(double));
	gp_emulated_enqueue(stream, task);
}

/* The arena. */
extern void gp_emulated_arena_open(void);
extern void gp_emulated_arena_close(void);
extern bool gp_emulated_in_arena(const void *p);
extern bool gp_emulated_covers(const void *p, size_t bytes);	/* lies in one live allocation */
extern bool gp_emulated_is_pinned(const void *p, size_t bytes);
extern bool gp_emulated_is_host(const void *p);	/* memory of the host that no card may use */

#endif							/* GP_EMULATE_H */

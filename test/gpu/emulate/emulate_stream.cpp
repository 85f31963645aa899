/*
 * emulate_stream.cpp - streams and events of the emulated card.
 *
 * An operation runs when it is put into its stream.  A lazy card keeps it
 * until somebody waits for the stream or for an event behind it, which is the
 * latest that CUDA allows, or by chance lets one stream run ahead of others: a
 * missing wait then shows as a wrong result.
 * The time at which an operation is over is kept beside that, so that queries
 * answer "not ready" for as long as the delay asks.
 */
#include "emulate.h"

#include <time.h>

struct CUstream_st
{
	CUstream_st *next;			/* of all streams ever made */
	gp_emulated_task *first;
	gp_emulated_task *last;
	long		put;			/* operations so far */
	long		done;
	int64_t		busy_until;		/* ns */
	bool		dead;
};

struct CUevent_st
{
	gp_emulated_point point;
};

static CUstream_st null_stream;
static CUstream_st *streams = &null_stream;

/* Nanoseconds of a clock that only rises. */
static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleeps until a time. */
static void
sleep_until(int64_t when)
{
	for (int64_t left = when - now(); left > 0; left = when - now())
	{
		struct timespec t = {(time_t) (left / 1000000000), (long) (left % 1000000000)};

		nanosleep(&t, NULL);
	}
}

/* The stream behind a handle. */
static CUstream_st *
stream_of(cudaStream_t stream)
{
	return stream == NULL ? &null_stream : stream;
}

/* True for a stream that lives. */
bool
gp_emulated_is_stream(cudaStream_t stream)
{
	for (CUstream_st *s = streams; s != NULL; s = s->next)
		if (s == stream_of(stream))
			return !s->dead;
	return false;
}

/* Runs the operations of a stream up to a number.  One of them may run others of this stream. */
static void
run_upto(CUstream_st *s, long upto)
{
	if (s->done >= upto || s->first == NULL)
		return;
	gp_emulated_arena_open();
	while (s->done < upto && s->first != NULL)
	{
		gp_emulated_task *task = s->first;

		s->first = task->next;
		if (s->first == NULL)
			s->last = NULL;
		s->done++;
		gp_emulated.queued -= task->seconds;
		if (task->always || !gp_emulated_lost())
			task->run(task);
		task->drop(task);
	}
	gp_emulated_arena_close();
}

/* Runs all that a stream holds. */
void
gp_emulated_flush(cudaStream_t stream)
{
	run_upto(stream_of(stream), stream_of(stream)->put);
}

/* Runs all that any stream holds. */
void
gp_emulated_flush_all(void)
{
	for (CUstream_st *s = streams; s != NULL; s = s->next)
		run_upto(s, s->put);
}

/* True by chance, every other time, on a card that works so. */
static bool
toss(void)
{
	if (gp_emulated.lazy == 1)
		return false;
	gp_emulated.chance = gp_emulated.chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return gp_emulated.chance >> 63;
}

/* Puts an operation at the end of a stream. */
void
gp_emulated_enqueue(cudaStream_t stream, gp_emulated_task *task)
{
	CUstream_st *s = stream_of(stream);
	int64_t		start = gp_emulated.delay_us > 0 ? now() : 0;

	s->busy_until = (start > s->busy_until ? start : s->busy_until) + gp_emulated.delay_us * 1000;
	task->next = NULL;
	if (s->last != NULL)
		s->last->next = task;
	else
		s->first = task;
	s->last = task;
	s->put++;
	gp_emulated.queued += task->seconds;
	gp_emulated.longest = max(gp_emulated.longest, task->seconds);
	gp_emulated.most_queued = max(gp_emulated.most_queued, gp_emulated.queued);
	if (!gp_emulated.lazy || toss())
		run_upto(s, s->put);
}

cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	if (flags > cudaStreamNonBlocking)
		return gp_emulated_result(cudaErrorInvalidValue);
	*stream = new CUstream_st();
	(*stream)->next = streams;
	streams = *stream;
	gp_emulated.objects++;
	return cudaSuccess;
}

/* What a stream holds still runs.  Its head stays, for events that point to it. */
cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
	cudaError_t code = gp_emulated_enter();

	if (stream == NULL || !gp_emulated_is_stream(stream))
	{
		gp_emulated_complain("cudaStreamDestroy of what is no stream");
		return gp_emulated_result(cudaErrorInvalidValue);
	}
	gp_emulated_flush(stream);
	stream->dead = true;
	gp_emulated.objects--;
	return code;
}

/* Enters a call that names a stream. */
static cudaError_t
enter_stream(cudaStream_t stream)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess && !gp_emulated_is_stream(stream))
	{
		gp_emulated_complain("a call names a stream that is gone");
		code = gp_emulated_result(cudaErrorInvalidValue);
	}
	return code;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t stream)
{
	cudaError_t code = enter_stream(stream);

	if (code != cudaSuccess)
		return code;
	sleep_until(stream_of(stream)->busy_until);
	gp_emulated_flush(stream);
	return cudaSuccess;
}

cudaError_t
cudaStreamQuery(cudaStream_t stream)
{
	cudaError_t code = enter_stream(stream);

	if (code != cudaSuccess)
		return code;
	if (now() < stream_of(stream)->busy_until)
		return cudaErrorNotReady;
	gp_emulated_flush(stream);
	return cudaSuccess;
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	*event = new CUevent_st();
	gp_emulated.objects++;
	return cudaSuccess;
}

cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
	cudaError_t code = gp_emulated_enter();

	if (event == NULL)
		return gp_emulated_result(cudaErrorInvalidValue);
	delete event;
	gp_emulated.objects--;
	return code;
}

cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	cudaError_t code = enter_stream(stream);

	if (code != cudaSuccess)
		return code;
	event->point = gp_emulated_point{stream_of(stream), stream_of(stream)->put,
	stream_of(stream)->busy_until};
	return cudaSuccess;
}

/* Makes a stream wait for what an event stands for now. */
cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	cudaError_t code = enter_stream(stream);
	CUstream_st *s = stream_of(stream);

	if (code != cudaSuccess)
		return code;
	if (flags != 0)
		return gp_emulated_result(cudaErrorInvalidValue);
	if (event->point.stream == NULL)
		return cudaSuccess;
	if (event->point.time > s->busy_until)
		s->busy_until = event->point.time;
	gp_emulated_later(stream, [point = event->point]() { run_upto(point.stream, point.upto); });
	return cudaSuccess;
}

cudaError_t
cudaEventQuery(cudaEvent_t event)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess || event->point.stream == NULL)
		return code;
	if (now() < event->point.time)
		return cudaErrorNotReady;
	run_upto(event->point.stream, event->point.upto);
	return cudaSuccess;
}

cudaError_t
cudaEventSynchronize(cudaEvent_t event)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess || event->point.stream == NULL)
		return code;
	sleep_until(event->point.time);
	run_upto(event->point.stream, event->point.upto);
	return cudaSuccess;
}

/*
 * cuda_ring.cu - host memory on its way to the card and back.
 *
 * What a caller owns may change or go once a call returns, and CUDA does not promise
 * that a copy has read memory that is not pinned by then.  So uploads go through a
 * ring of pinned memory: a piece of it is filled again once the copies out of it
 * are over, and small arrays share one.  Nobody waits for the queue.
 */
#include <string.h>

#include "gp_cuda.h"

#define CHUNK ((size_t) 64 << 20)	/* bytes that come back at once, between two looks at interrupts */
#define ALIGNMENT ((size_t) 16)

/* Pinned memory, or where the driver has none the host's. */
char *
gp_cuda_pin(gp_cuda *c, size_t bytes, bool *pinned)
{
	void	   *p = NULL;

	*pinned = cudaHostAlloc(&p, bytes, cudaHostAllocDefault) == cudaSuccess;
	(void) cudaGetLastError();
	return (char *) (*pinned ? p : gp_alloc(c->env, bytes));
}

/* Gives it back; a lost card may fail at that, too. */
void
gp_cuda_unpin(gp_cuda *c, char *p, bool pinned)
{
	if (p == NULL)
		return;
	if (pinned)
		(void) cudaFreeHost(p);
	else
		gp_free(c->env, p);
}

/* Room in the ring for so many bytes, at most those of a piece. */
static char *
ring_room(gp_cuda *c, size_t bytes)
{
	char	   *room;

	if (c->ring == NULL)
		c->ring = gp_cuda_pin(c, GP_CUDA_RING * GP_CUDA_RING_BYTES, &c->ring_pinned);
	if (c->ring_used + bytes > GP_CUDA_RING_BYTES)
	{
		gp_cuda_try(c, cudaEventRecord(c->sent[c->ring_at], c->stream));
		c->ring_at = (c->ring_at + 1) % GP_CUDA_RING;
		c->ring_used = 0;
		gp_cuda_wait_event(c, c->sent[c->ring_at]);
		c->env->check_interrupts(c->env);
	}
	room = c->ring + (size_t) c->ring_at * GP_CUDA_RING_BYTES + c->ring_used;
	c->ring_used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return room;
}

/* Sends bytes of the host to the card. */
void
gp_cuda_send(gp_cuda *c, void *p, const void *host, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += GP_CUDA_RING_BYTES)
	{
		size_t		take = bytes - at < GP_CUDA_RING_BYTES ? bytes - at : GP_CUDA_RING_BYTES;
		char	   *room = ring_room(c, take);

		memcpy(room, (const char *) host + at, take);
		gp_cuda_try(c, cudaMemcpyAsync((char *) p + at, room, take, cudaMemcpyHostToDevice, c->stream));
	}
}

/* Sends rows that fit into a piece, side by side. */
static void
send_block(gp_cuda *c, gp_matrix dst, gp_matrix host)
{
	size_t		size = gp_type_size(host.type);
	size_t		row = (size_t) host.cols * size;
	char	   *room = ring_room(c, (size_t) host.rows * row);

	for (int64_t i = 0; i < host.rows; i++)
		memcpy(room + (size_t) i * row, (const char *) host.data + (size_t) (i * host.ld) * size, row);
	gp_cuda_try(c, cudaMemcpy2DAsync(dst.data, (size_t) dst.ld * size, room, row, row,
									 (size_t) host.rows, cudaMemcpyHostToDevice, c->stream));
}

/* Sends rows of a matrix to the card, where they have the same type. */
void
gp_cuda_send_rows(gp_cuda *c, gp_matrix dst, gp_matrix host)
{
	size_t		row = (size_t) host.cols * gp_type_size(host.type);
	int64_t		height;

	if (host.rows == 0 || host.cols == 0)
		return;
	if (dst.ld == host.cols && host.ld == host.cols)
	{
		gp_cuda_send(c, dst.data, host.data, gp_size_mul(c->env, (size_t) host.rows, row));
		return;
	}
	height = (int64_t) (GP_CUDA_RING_BYTES / row);
	for (int64_t i = 0, take; i < host.rows; i += take)
	{
		take = gp_max64(1, gp_min64(height, host.rows - i));
		if (height > 0)
			send_block(c, gp_matrix_rows(dst, i, take), gp_matrix_rows(host, i, take));
		else
			gp_cuda_send(c, gp_matrix_rows(dst, i, 1).data, gp_matrix_rows(host, i, 1).data, row);
	}
}

/* Brings rows of one type back, complete when this returns. */
void
gp_cuda_fetch_rows(gp_cuda *c, gp_matrix host, gp_matrix src)
{
	size_t		size = gp_type_size(src.type);
	int64_t		rows = gp_max64(1, (int64_t) (CHUNK / (size * (size_t) gp_max64(src.cols, 1))));

	if (src.rows == 0 || src.cols == 0)
		return;
	gp_cuda_wait(c);
	for (int64_t row = 0; row < src.rows; row += rows)
	{
		int64_t		take = gp_min64(rows, src.rows - row);
		gp_matrix	to = gp_matrix_rows(host, row, take);
		gp_matrix	from = gp_matrix_rows(src, row, take);

		gp_cuda_try(c, cudaMemcpy2DAsync(to.data, (size_t) to.ld * size, from.data,
										 (size_t) from.ld * size, (size_t) src.cols * size,
										 (size_t) take, cudaMemcpyDeviceToHost, c->stream));
		gp_cuda_wait(c);
	}
}

/* Brings n items back to a host array, complete when this returns. */
void
gp_cuda_fetch(gp_cuda *c, void *host, const void *p, int64_t n, size_t size)
{
	size_t		bytes = gp_size_mul(c->env, (size_t) n, size);

	gp_cuda_wait(c);
	for (size_t at = 0; at < bytes; at += CHUNK)
	{
		gp_cuda_try(c, cudaMemcpyAsync((char *) host + at, (const char *) p + at,
									   bytes - at < CHUNK ? bytes - at : CHUNK,
									   cudaMemcpyDeviceToHost, c->stream));
		gp_cuda_wait(c);
	}
}

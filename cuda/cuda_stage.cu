/*
 * cuda_stage.cu - operands that are not on the card.
 *
 * A staged operand is copied whole.  A flow is a set of matrices of one height
 * of which an operation needs some rows at a time.  Its blocks go through two
 * lanes of pinned memory: while the card works on a block of one lane, the host
 * takes what was worked out from the other and fills it with the next block.
 * Pinning whole matrices instead would take seconds that nothing can interrupt.
 */
#include <string.h>

#include "gp_cuda.h"

#define LOOK_BYTES ((size_t) 4 << 20)	/* copied on the host between two looks at interrupts */

/* Brings an operand onto the card; what is there already stays where it is. */
gp_staged
gp_cuda_stage(gp_cuda *c, gp_matrix m, int how)
{
	gp_staged	s = {m, m, how, false};

	if (gp_cuda_resident(c, m))
		return s;
	s.staged = true;
	s.m = gp_cuda_scratch_matrix(c, m.rows, m.cols, m.type);
	if (how & GP_READ)
		gp_cuda_move(c, s.m, m, cudaMemcpyHostToDevice);
	return s;
}

/* Takes it back: what was written goes to the host, before this returns. */
void
gp_cuda_unstage(gp_cuda *c, gp_staged *s)
{
	if (!s->staged)
		return;
	if (s->how & GP_WRITE)
	{
		gp_cuda_wait(c);
		gp_cuda_move(c, s->host, s->m, cudaMemcpyDeviceToHost);
		gp_cuda_wait(c);
	}
	gp_cuda_scratch_free(c, s->m.data);
	s->staged = false;
}

/* The bytes that a row takes of a lane; tells what is on the card. */
static size_t
row_bytes(gp_cuda *c, gp_flow *flow, int n)
{
	size_t		bytes = 0;

	for (int k = 0; k < n; k++)
	{
		flow[k].resident = gp_cuda_resident(c, flow[k].m);
		flow[k].rows[0] = flow[k].rows[1] = 0;
		if (!flow[k].resident)
			bytes += gp_cuda_row_bytes(c, flow[k].m.cols, flow[k].m.type);
	}
	return bytes;
}

/* Frees the lanes; a lost card may fail at that, too. */
void
gp_cuda_free_lanes(gp_cuda *c)
{
	for (int slot = 0; slot < 2; slot++)
	{
		char	   *lane = c->lane[slot];

		c->lane[slot] = NULL;
		if (lane && c->lane_pinned)
			(void) cudaFreeHost(lane);
		else
			gp_free(c->env, lane);
	}
	c->lane_bytes = 0;
}

/* Makes the lanes large enough: pinned, or where the driver has no such memory the host's. */
static void
make_lanes(gp_cuda *c, size_t bytes)
{
	void	   *lane[2] = {NULL, NULL};

	if (bytes <= c->lane_bytes)
		return;
	gp_cuda_free_lanes(c);
	c->lane_pinned = cudaHostAlloc(&lane[0], bytes, cudaHostAllocDefault) == cudaSuccess;
	if (c->lane_pinned && cudaHostAlloc(&lane[1], bytes, cudaHostAllocDefault) != cudaSuccess)
	{
		(void) cudaFreeHost(lane[0]);
		c->lane_pinned = false;
	}
	(void) cudaGetLastError();
	for (int slot = 0; slot < 2; slot++)
		c->lane[slot] = (char *) (c->lane_pinned ? lane[slot] : gp_alloc(c->env, bytes));
	c->lane_bytes = bytes;
}

/* Chooses the height of a block, makes the lanes and the buffers on the card. */
int64_t
gp_cuda_flow_open(gp_cuda *c, gp_flow *flow, int n)
{
	size_t		bytes = row_bytes(c, flow, n);
	size_t		most = c->dev.room / 4 < GP_CUDA_BUFFER ? c->dev.room / 4 : GP_CUDA_BUFFER;
	int64_t		rows = flow[0].m.rows;
	int64_t		height = bytes == 0 ? rows : gp_min64(rows, (int64_t) (most / bytes));
	size_t		offset = 0;

	height = gp_max64(1, height);
	if (bytes == 0 || rows == 0)
		return height;
	make_lanes(c, gp_size_mul(c->env, (size_t) height, bytes));
	for (int k = 0; k < n; k++)
	{
		flow[k].offset = offset;
		for (int slot = 0; slot < 2 && !flow[k].resident; slot++)
			flow[k].buffer[slot] = gp_cuda_scratch_matrix(c, height, flow[k].m.cols, flow[k].m.type);
		if (!flow[k].resident)
			offset += (size_t) height * gp_cuda_row_bytes(c, flow[k].m.cols, flow[k].m.type);
	}

	/* The buffers are there once the work queued so far is done. */
	gp_cuda_try(c, cudaEventRecord(c->ready, c->stream));
	gp_cuda_try(c, cudaStreamWaitEvent(c->in, c->ready, 0));
	for (int slot = 0; slot < 2; slot++)
		gp_cuda_try(c, cudaEventRecord(c->left[slot], c->stream));
	return height;
}

/* True when all matrices of a flow are on the card. */
static bool
all_resident(const gp_flow *flow, int n)
{
	for (int k = 0; k < n; k++)
		if (!flow[k].resident)
			return false;
	return true;
}

/* Copies rows between a matrix in host memory and a lane, whose rows are as long as the buffer's. */
static void
copy_rows(gp_cuda *c, gp_matrix m, char *lane, int64_t ld, bool to_lane)
{
	size_t		size = gp_type_size(m.type);
	size_t		row = (size_t) m.cols * size;
	size_t		copied = LOOK_BYTES;

	for (int64_t i = 0; i < m.rows; i++, copied += row)
	{
		char	   *there = lane + (size_t) (i * ld) * size;
		char	   *here = (char *) m.data + (size_t) (i * m.ld) * size;

		if (copied >= LOOK_BYTES)
		{
			c->env->check_interrupts(c->env);
			copied = 0;
		}
		memcpy(to_lane ? there : here, to_lane ? here : there, row);
	}
}

/* Takes what came back through a lane; it is free then. */
static void
drain(gp_cuda *c, gp_flow *flow, int n, int slot)
{
	gp_cuda_wait_event(c, c->left[slot]);
	for (int k = 0; k < n; k++)
		if (flow[k].rows[slot] > 0)
		{
			copy_rows(c, gp_matrix_rows(flow[k].m, flow[k].row[slot], flow[k].rows[slot]),
					  c->lane[slot] + flow[k].offset, flow[k].buffer[slot].ld, false);
			flow[k].rows[slot] = 0;
		}
}

/* Brings a block in; part gets the views to work on. */
void
gp_cuda_flow_enter(gp_cuda *c, gp_flow *flow, int n, int64_t row, int64_t rows, int slot,
				   gp_matrix *part)
{
	for (int k = 0; k < n; k++)
		part[k] = flow[k].resident ? gp_matrix_rows(flow[k].m, row, rows) :
			gp_matrix_rows(flow[k].buffer[slot], 0, rows);
	if (all_resident(flow, n))
		return;
	drain(c, flow, n, slot);
	for (int k = 0; k < n; k++)
	{
		char	   *lane = c->lane[slot] + flow[k].offset;

		if (flow[k].resident || !(flow[k].how & GP_READ))
			continue;
		copy_rows(c, gp_matrix_rows(flow[k].m, row, rows), lane, part[k].ld, true);
		gp_cuda_try(c, cudaMemcpyAsync(part[k].data, lane,
									   (size_t) (rows * part[k].ld) * gp_type_size(part[k].type),
									   cudaMemcpyHostToDevice, c->in));
	}
	gp_cuda_try(c, cudaEventRecord(c->entered[slot], c->in));
	gp_cuda_try(c, cudaStreamWaitEvent(c->stream, c->entered[slot], 0));
}

/* Sends a block back once it has been worked on. */
void
gp_cuda_flow_leave(gp_cuda *c, gp_flow *flow, int n, int64_t row, int64_t rows, int slot)
{
	if (all_resident(flow, n))
		return;
	gp_cuda_try(c, cudaEventRecord(c->worked[slot], c->stream));
	gp_cuda_try(c, cudaStreamWaitEvent(c->out, c->worked[slot], 0));
	for (int k = 0; k < n; k++)
	{
		gp_matrix	buffer = flow[k].buffer[slot];

		if (flow[k].resident || !(flow[k].how & GP_WRITE))
			continue;
		gp_cuda_try(c, cudaMemcpyAsync(c->lane[slot] + flow[k].offset, buffer.data,
									   (size_t) (rows * buffer.ld) * gp_type_size(buffer.type),
									   cudaMemcpyDeviceToHost, c->out));
		flow[k].row[slot] = row;
		flow[k].rows[slot] = rows;
	}
	gp_cuda_try(c, cudaEventRecord(c->left[slot], c->out));
	gp_cuda_pace(c);
}

/* Takes the last blocks and frees the buffers. */
void
gp_cuda_flow_close(gp_cuda *c, gp_flow *flow, int n)
{
	if (flow[0].m.rows == 0 || all_resident(flow, n))
		return;
	for (int slot = 0; slot < 2; slot++)
		drain(c, flow, n, slot);
	for (int k = 0; k < n; k++)
		for (int slot = 0; slot < 2 && !flow[k].resident; slot++)
			gp_cuda_scratch_free(c, flow[k].buffer[slot].data);
}

/*
 * cuda_stage.cu - operands that are not on the card.
 *
 * A staged operand is copied whole.  A flow is a set of matrices of one height
 * of which an operation needs some rows at a time.  Its blocks go through lanes of
 * pinned memory, each with a buffer on the card: while the card works on a block of
 * one, others come in and go out, the host takes what was worked out from
 * another and fills it with a next block.  Lanes and buffers stay for the flows to
 * come, and nobody waits for the queue to be empty.  Pinning whole matrices instead
 * would take seconds that nothing can interrupt.
 */
#include <string.h>

#include "gp_cuda.h"

#define ALIGNMENT ((size_t) 256)	/* of a matrix in a buffer, as of one in memory of its own */
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
		gp_cuda_send_rows(c, s.m, m);
	return s;
}

/* Takes it back: what was written goes to the host, before this returns. */
void
gp_cuda_unstage(gp_cuda *c, gp_staged *s)
{
	if (!s->staged)
		return;
	if (s->how & GP_WRITE)
		gp_cuda_fetch_rows(c, s->host, s->m);
	gp_cuda_scratch_free(c, s->m.data);
	s->staged = false;
}

/*
 * The bytes that a row takes of a lane; tells what is on the card.  All is the same
 * with those that are.
 */
static size_t
row_bytes(gp_cuda *c, gp_flow *flow, int n, size_t *all)
{
	size_t		bytes = 0;

	*all = 0;
	for (int k = 0; k < n; k++)
	{
		size_t		row = gp_cuda_row_bytes(c, flow[k].m.cols, flow[k].m.type);

		flow[k].resident = gp_cuda_resident(c, flow[k].m);
		for (int slot = 0; slot < GP_CUDA_LANES; slot++)
			flow[k].rows[slot] = 0;
		bytes += flow[k].resident ? 0 : row;
		*all += row;
	}
	return bytes;
}

/* Frees the lanes; a lost card may fail at that, too. */
void
gp_cuda_free_lanes(gp_cuda *c)
{
	for (int slot = 0; slot < GP_CUDA_LANES; slot++)
	{
		char	   *lane = c->lane[slot];

		c->lane[slot] = NULL;
		gp_cuda_unpin(c, lane, c->lane_pinned);
	}
	c->lane_bytes = 0;
}

/* The lanes in one kind of memory: all pinned, or all the host's. */
static void
pin_lanes(gp_cuda *c, size_t bytes)
{
	bool		pinned = true;

	c->lane_pinned = true;
	for (int slot = 0; slot < GP_CUDA_LANES && pinned; slot++)
	{
		c->lane[slot] = gp_cuda_pin(c, bytes, &pinned);
		if (pinned)
			continue;
		gp_free(c->env, c->lane[slot]);
		c->lane[slot] = NULL;
		gp_cuda_free_lanes(c);
	}
	c->lane_pinned = pinned;
	for (int slot = 0; slot < GP_CUDA_LANES && !pinned; slot++)
		c->lane[slot] = (char *) gp_alloc(c->env, bytes);
}

/* Makes the lanes and their buffers large enough; what went through the old ones is over. */
static void
make_lanes(gp_cuda *c, size_t bytes)
{
	if (bytes <= c->lane_bytes)
		return;
	for (int slot = 0; slot < GP_CUDA_LANES; slot++)
	{
		gp_cuda_wait_event(c, c->entered[slot]);
		gp_cuda_wait_event(c, c->worked[slot]);
		gp_cuda_wait_event(c, c->left[slot]);
		gp_cuda_scratch_free(c, c->buffer[slot]);
		c->buffer[slot] = NULL;
	}
	gp_cuda_free_lanes(c);
	pin_lanes(c, bytes);
	for (int slot = 0; slot < GP_CUDA_LANES; slot++)
		c->buffer[slot] = (char *) gp_cuda_scratch(c, bytes);
	c->lane_bytes = bytes;

	/* The buffers are there once the work queued so far is done. */
	gp_cuda_try(c, cudaEventRecord(c->ready, c->stream));
	gp_cuda_try(c, cudaStreamWaitEvent(c->in, c->ready, 0));
}

/* Chooses the height of a block and makes the lanes. */
int64_t
gp_cuda_flow_open(gp_cuda *c, gp_flow *flow, int n, bool fixed)
{
	size_t		all;
	size_t		bytes = row_bytes(c, flow, n, &all);
	int64_t		rows = flow[0].m.rows;
	int64_t		height = rows;
	size_t		offset = 0;

	if (bytes > 0 || (fixed && all > 0))
		height = gp_min64(rows, (int64_t) (GP_CUDA_BUFFER / (fixed ? all : bytes)));
	if (height >= 256)
		height = height < rows ? height / 128 * 128 : height;
	height = gp_max64(1, height);
	if (bytes == 0 || rows == 0)
		return height;
	for (int k = 0; k < n; k++)
	{
		flow[k].offset = offset;
		if (!flow[k].resident)
			offset += (gp_size_mul(c->env, (size_t) height, gp_cuda_row_bytes(c, flow[k].m.cols, flow[k].m.type)) +
					   ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	make_lanes(c, offset);
	return height;
}

/* A block's rows in the buffer of a lane. */
static gp_matrix
buffer_rows(gp_cuda *c, const gp_flow *flow, int slot, int64_t rows)
{
	gp_matrix	m = flow->m;

	m.data = c->buffer[slot] + flow->offset;
	m.rows = rows;
	m.ld = (int64_t) (gp_cuda_row_bytes(c, m.cols, m.type) / gp_type_size(m.type));
	return m;
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

/* Takes what came back through a lane, if anything did. */
static void
drain(gp_cuda *c, gp_flow *flow, int n, int slot)
{
	for (int k = 0; k < n; k++)
		if (flow[k].rows[slot] > 0)
		{
			gp_cuda_wait_event(c, c->left[slot]);
			copy_rows(c, gp_matrix_rows(flow[k].m, flow[k].row[slot], flow[k].rows[slot]),
					  c->lane[slot] + flow[k].offset, buffer_rows(c, &flow[k], slot, 1).ld, false);
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
			buffer_rows(c, &flow[k], slot, rows);
	if (all_resident(flow, n))
		return;
	drain(c, flow, n, slot);
	gp_cuda_wait_event(c, c->entered[slot]);	/* what was read from the lane before */
	gp_cuda_try(c, cudaStreamWaitEvent(c->in, c->worked[slot], 0));
	gp_cuda_try(c, cudaStreamWaitEvent(c->stream, c->left[slot], 0));
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
	bool		writes = false;

	if (all_resident(flow, n))
		return;
	gp_cuda_try(c, cudaEventRecord(c->worked[slot], c->stream));
	for (int k = 0; k < n; k++)
	{
		gp_matrix	buffer = buffer_rows(c, &flow[k], slot, rows);

		if (flow[k].resident || !(flow[k].how & GP_WRITE))
			continue;
		if (!writes)
			gp_cuda_try(c, cudaStreamWaitEvent(c->out, c->worked[slot], 0));
		writes = true;
		gp_cuda_try(c, cudaMemcpyAsync(c->lane[slot] + flow[k].offset, buffer.data,
									   (size_t) (rows * buffer.ld) * gp_type_size(buffer.type),
									   cudaMemcpyDeviceToHost, c->out));
		flow[k].row[slot] = row;
		flow[k].rows[slot] = rows;
	}
	if (writes)
		gp_cuda_try(c, cudaEventRecord(c->left[slot], c->out));
}

/* Takes the last blocks. */
void
gp_cuda_flow_close(gp_cuda *c, gp_flow *flow, int n)
{
	for (int slot = 0; slot < GP_CUDA_LANES; slot++)
		drain(c, flow, n, slot);
}

/*
 * cuda_stage.cu - operands that are not on the card.
 *
 * A staged operand is copied whole.  A flow is a set of matrices of one height
 * of which an operation needs some rows at a time: block k + 1 comes in and
 * block k - 1 goes out while block k is worked on, through two buffers each.
 * Copies overlap where the host's memory is pinned, as that of spilled matrices.
 */
#include "gp_cuda.h"

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
		gp_cuda_move(c, s.m, m, cudaMemcpyHostToDevice, c->stream);
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
		gp_cuda_move(c, s->host, s->m, cudaMemcpyDeviceToHost, c->stream);
		gp_cuda_wait(c);
	}
	gp_cuda_scratch_free(c, s->m.data);
	s->staged = false;
}

/* The bytes of a row of all that is not on the card. */
static size_t
row_bytes(gp_cuda *c, gp_flow *flow, int n)
{
	size_t		bytes = 0;

	for (int k = 0; k < n; k++)
	{
		flow[k].resident = gp_cuda_resident(c, flow[k].m);
		if (!flow[k].resident)
			bytes += (size_t) flow[k].m.cols * gp_type_size(flow[k].m.type);
	}
	return bytes;
}

/* Chooses the height of a block and makes the buffers. */
int64_t
gp_cuda_flow_open(gp_cuda *c, gp_flow *flow, int n)
{
	size_t		bytes = row_bytes(c, flow, n);
	int64_t		rows = flow[0].m.rows;
	int64_t		height = rows;

	if (bytes == 0)
		return gp_max64(rows, 1);
	if (c->dev.room / 4 < GP_CUDA_BUFFER)
		height = (int64_t) (c->dev.room / 4 / bytes);
	else
		height = (int64_t) (GP_CUDA_BUFFER / bytes);
	height = gp_max64(1, gp_min64(rows, height));
	for (int k = 0; k < n; k++)
		for (int slot = 0; slot < 2 && !flow[k].resident; slot++)
			flow[k].buffer[slot] = gp_cuda_scratch_matrix(c, height, flow[k].m.cols, flow[k].m.type);

	/* The matrices and the buffers are there once the work queued so far is done. */
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
	gp_cuda_try(c, cudaStreamWaitEvent(c->in, c->left[slot], 0));
	for (int k = 0; k < n; k++)
		if (!flow[k].resident && (flow[k].how & GP_READ))
			gp_cuda_move(c, part[k], gp_matrix_rows(flow[k].m, row, rows),
						 cudaMemcpyHostToDevice, c->in);
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
		if (!flow[k].resident && (flow[k].how & GP_WRITE))
			gp_cuda_move(c, gp_matrix_rows(flow[k].m, row, rows),
						 gp_matrix_rows(flow[k].buffer[slot], 0, rows), cudaMemcpyDeviceToHost,
						 c->out);
	gp_cuda_try(c, cudaEventRecord(c->left[slot], c->out));
	gp_cuda_pace(c);
}

/* Waits for the last blocks and frees the buffers. */
void
gp_cuda_flow_close(gp_cuda *c, gp_flow *flow, int n)
{
	if (flow[0].m.rows == 0 || all_resident(flow, n))
		return;
	for (int slot = 0; slot < 2; slot++)
		gp_cuda_wait_event(c, c->left[slot]);
	for (int k = 0; k < n; k++)
		for (int slot = 0; slot < 2 && !flow[k].resident; slot++)
			gp_cuda_scratch_free(c, flow[k].buffer[slot].data);
}

/*
 * cuda_memory.cu - memory on the card and beside it, and the ways between.
 *
 * create takes the card's memory up to the device's room; beyond it matrices go
 * to host memory, which counts against the environment like the CPU device's.
 * It is not pinned, for that would take long and could not be interrupted.
 */
#include <string.h>

#include "gp_cuda.h"

#define LINE 32					/* elements that rows are rounded up to: 128 bytes of float */

/* Gives memory back in the order of the stream; cudaFree waits for all work by itself. */
static cudaError_t
card_free(gp_cuda *c, void *p)
{
	return c->pool ? cudaFreeAsync(p, c->stream) : cudaFree(p);
}

/* Memory of the pool, or of the card where it has none; NULL when there is none left. */
static void *
try_alloc(gp_cuda *c, size_t bytes)
{
	void	   *p = NULL;
	cudaError_t error = c->pool ? cudaMallocFromPoolAsync(&p, bytes, c->pool, c->stream) :
		cudaMalloc(&p, bytes);

	if (error == cudaErrorMemoryAllocation)
	{
		(void) cudaGetLastError();
		return NULL;
	}
	gp_cuda_try(c, error);
	return p;
}

/* True when the pool holds more than it may, what was given back to it included, or does not tell. */
static bool
holds_too_much(gp_cuda *c)
{
	unsigned long long held = 0;

	if (c->most == 0 || c->pool == NULL)
		return false;
	return cudaMemPoolGetAttribute(c->pool, cudaMemPoolAttrReservedMemCurrent, &held) != cudaSuccess ||
		held > c->most;
}

/*
 * Memory on the card, or NULL when there is none left, or none that this device may
 * take.  Where what the pool keeps for later goes beyond that, it is given back first.
 */
static void *
card_alloc(gp_cuda *c, size_t bytes)
{
	void	   *p;

	if (c->most > 0 && (bytes > c->most || c->taken > c->most - bytes))
		return NULL;
	p = try_alloc(c, bytes);
	if (c->pool == NULL || (p != NULL && !holds_too_much(c)))
		return p;
	if (p != NULL)
		gp_cuda_try(c, card_free(c, p));
	gp_cuda_wait(c);
	gp_cuda_try(c, cudaMemPoolTrimTo(c->pool, 0));
	return try_alloc(c, bytes);
}

/* Takes memory on the card and notes it; NULL when there is none. */
static void *
take_block(gp_cuda *c, size_t bytes)
{
	gp_cuda_block *block = (gp_cuda_block *) gp_alloc_zero(c->env, 1, sizeof(gp_cuda_block));

	block->bytes = bytes > 0 ? bytes : 1;
	block->data = (char *) card_alloc(c, block->bytes);
	if (block->data == NULL && gp_cuda_csr_evict(c))
		block->data = (char *) card_alloc(c, block->bytes);
	if (block->data == NULL)
	{
		gp_free(c->env, block);
		return NULL;
	}
	c->taken += block->bytes;
	block->next = c->blocks;
	if (c->blocks)
		c->blocks->prev = block;
	c->blocks = block;
	return block->data;
}

/* The block that holds an address; NULL when it is not on the card. */
static gp_cuda_block *
find_block(const gp_cuda *c, const void *p)
{
	for (gp_cuda_block *b = c->blocks; b; b = b->next)
		if ((const char *) p >= b->data && (const char *) p < b->data + b->bytes)
			return b;
	return NULL;
}

/* Frees a block; returns its bytes. */
static size_t
drop_block(gp_cuda *c, gp_cuda_block *block)
{
	size_t		bytes = block->bytes;
	void	   *data = block->data;

	if (block->prev)
		block->prev->next = block->next;
	else
		c->blocks = block->next;
	if (block->next)
		block->next->prev = block->prev;
	gp_free(c->env, block);
	c->taken -= bytes;
	gp_cuda_try(c, card_free(c, data));
	return bytes;
}

/* Memory for the length of an operation. */
void *
gp_cuda_scratch(gp_cuda *c, size_t bytes)
{
	void	   *p = take_block(c, bytes);

	if (p == NULL)
		gp_cuda_check(c, cudaErrorMemoryAllocation, "scratch");
	return p;
}

/* Frees it; NULL is allowed. */
void
gp_cuda_scratch_free(gp_cuda *c, void *p)
{
	if (p)
		(void) drop_block(c, find_block(c, p));
}

/* Elements from one row to the next: whole lines for long rows, no more than needed for short ones. */
static int64_t
leading(int64_t cols)
{
	if (cols <= 1)
		return cols;
	return cols < LINE ? (cols + 3) / 4 * 4 : (cols + LINE - 1) / LINE * LINE;
}

/* The bytes of a row. */
size_t
gp_cuda_row_bytes(gp_cuda *c, int64_t cols, gp_type type)
{
	return gp_size_mul(c->env, (size_t) leading(cols), gp_type_size(type));
}

/* A scratch matrix. */
gp_matrix
gp_cuda_scratch_matrix(gp_cuda *c, int64_t rows, int64_t cols, gp_type type)
{
	gp_matrix	m = {NULL, rows, cols, leading(cols), type};

	m.data = gp_cuda_scratch(c, gp_size_mul(c->env, (size_t) rows, gp_cuda_row_bytes(c, cols, type)));
	return m;
}

/* A scratch copy of n items of a host array, which may change once this returns. */
void *
gp_cuda_bring(gp_cuda *c, const void *host, int64_t n, size_t size)
{
	size_t		bytes = gp_size_mul(c->env, (size_t) n, size);
	void	   *p = gp_cuda_scratch(c, bytes);

	gp_cuda_send(c, p, host, bytes);
	return p;
}

/* True when a matrix lies on the card; an empty one does. */
bool
gp_cuda_resident(const gp_cuda *c, gp_matrix m)
{
	return m.rows == 0 || m.cols == 0 || find_block(c, m.data) != NULL;
}

/* Host memory for a matrix that the card has no room for. */
static void *
spill(gp_cuda *c, size_t bytes)
{
	gp_cuda_spill *s = (gp_cuda_spill *) gp_alloc_zero(c->env, 1, sizeof(gp_cuda_spill));

	s->data = gp_alloc(c->env, bytes);
	s->next = c->spills;
	c->spills = s;
	return s->data;
}

/* Frees a spilled matrix; false when it is none. */
static bool
unspill(gp_cuda *c, void *data)
{
	for (gp_cuda_spill **s = &c->spills; *s; s = &(*s)->next)
	{
		gp_cuda_spill *found = *s;

		if (found->data != data)
			continue;
		*s = found->next;
		gp_free(c->env, found->data);
		gp_free(c->env, found);
		return true;
	}
	return false;
}

/* Memory for a matrix, on the card where it has room. */
gp_matrix
gp_cuda_create(gp_device *dev, int64_t rows, int64_t cols, gp_type type)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_matrix	m = {NULL, rows, cols, cols, type};
	size_t		bytes;

	gp_cuda_require(c, rows >= 0 && cols >= 0 && cols <= INT64_MAX - LINE);
	m.ld = leading(cols);
	bytes = gp_size_mul(c->env, (size_t) rows, gp_cuda_row_bytes(c, cols, type));
	if (bytes <= dev->room && c->held <= dev->room - bytes)
	{
		if (c->held + c->cache_bytes + bytes > dev->room)
			(void) gp_cuda_csr_evict(c);
		m.data = take_block(c, bytes);
	}
	if (m.data)
		c->held += bytes > 0 ? bytes : 1;
	else
		m.data = spill(c, bytes);
	return m;
}

/* Frees a matrix that create made; a view without data is allowed. */
void
gp_cuda_destroy(gp_device *dev, gp_matrix *m)
{
	gp_cuda    *c = gp_cuda_of(dev);
	gp_cuda_block *block;

	if (m->data == NULL)
		return;
	block = find_block(c, m->data);
	if (block)
		c->held -= drop_block(c, block);
	else if (!unspill(c, m->data))
		gp_cuda_refuse(c, "destroy");
	m->data = NULL;
}

/* dst = src in host memory, converting the type. */
template <typename D, typename S>
static void
convert_rows(gp_cuda *c, gp_matrix dst, gp_matrix src)
{
	int64_t		next = 0;

	for (int64_t i = 0; i < src.rows; i++)
	{
		gp_poll(c->env, i * src.cols, &next);
		for (int64_t j = 0; j < src.cols; j++)
			((D *) dst.data)[i * dst.ld + j] = (D) ((const S *) src.data)[i * src.ld + j];
	}
}

/* The same for any pair of types. */
static void
convert_host(gp_cuda *c, gp_matrix dst, gp_matrix src)
{
	if (dst.type == GP_FLOAT && src.type == GP_FLOAT)
		convert_rows<float, float>(c, dst, src);
	else if (dst.type == GP_FLOAT)
		convert_rows<float, double>(c, dst, src);
	else if (src.type == GP_FLOAT)
		convert_rows<double, float>(c, dst, src);
	else
		convert_rows<double, double>(c, dst, src);
}

/* The rows of a host matrix that are converted on the card at once. */
static int64_t
converted_rows(gp_cuda *c, gp_matrix host)
{
	size_t		row = gp_cuda_row_bytes(c, host.cols, host.type);

	return gp_max64(1, gp_min64(host.rows, (int64_t) (GP_CUDA_BUFFER / 2 / row)));
}

/* dst = host, a matrix of the caller's; it may change once this returns. */
void
gp_cuda_upload(gp_device *dev, gp_matrix dst, gp_matrix host)
{
	gp_cuda    *c = gp_cuda_of(dev);
	int64_t		height;

	gp_cuda_require(c, dst.rows == host.rows && dst.cols == host.cols);
	if (dst.rows == 0 || dst.cols == 0)
		return;
	if (!gp_cuda_resident(c, dst))
	{
		convert_host(c, dst, host);
		return;
	}
	if (dst.type == host.type)
	{
		gp_cuda_send_rows(c, dst, host);
		gp_cuda_pace(c);
		return;
	}
	height = converted_rows(c, host);
	for (int64_t row = 0; row < host.rows; row += height)
	{
		int64_t		rows = gp_min64(height, host.rows - row);
		gp_matrix	part = gp_cuda_scratch_matrix(c, rows, host.cols, host.type);

		gp_cuda_send_rows(c, part, gp_matrix_rows(host, row, rows));
		gp_cuda_copy(dev, gp_matrix_rows(dst, row, rows), part);
		gp_cuda_scratch_free(c, part.data);
	}
}

/* host = src, complete when this returns. */
void
gp_cuda_download(gp_device *dev, gp_matrix host, gp_matrix src)
{
	gp_cuda    *c = gp_cuda_of(dev);
	int64_t		height;

	gp_cuda_require(c, src.rows == host.rows && src.cols == host.cols);
	if (src.rows == 0 || src.cols == 0)
		return;
	if (!gp_cuda_resident(c, src))
	{
		convert_host(c, host, src);
		return;
	}
	if (src.type == host.type)
	{
		gp_cuda_fetch_rows(c, host, src);
		return;
	}
	height = converted_rows(c, host);
	for (int64_t row = 0; row < host.rows; row += height)
	{
		int64_t		rows = gp_min64(height, host.rows - row);
		gp_matrix	part = gp_cuda_scratch_matrix(c, rows, host.cols, host.type);

		gp_cuda_copy(dev, part, gp_matrix_rows(src, row, rows));
		gp_cuda_fetch_rows(c, gp_matrix_rows(host, row, rows), part);
		gp_cuda_scratch_free(c, part.data);
	}
}

/* Frees all memory on the card; raises nothing. */
void
gp_cuda_release_memory(gp_cuda *c)
{
	for (gp_cuda_block *b = c->blocks; b; b = b->next)
		if (b->data)
			(void) card_free(c, b->data);
	c->blocks = NULL;
}

/*
 * emulate_memory.cpp - device memory, page-locked memory and copies.
 *
 * Device memory is an arena that nobody may touch but the operations of
 * streams.  Blocks are taken first-fit, filled with NaN when they come (in the order
 * of their stream: another that does not wait for it finds its work gone) and
 * when they go, and kept apart by poisoned bytes where the address sanitizer watches.
 */
#include "emulate.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define GAP ((size_t) 256)
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void) 0)
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void) 0)
#define GAP ((size_t) 0)
#endif

#define ALIGNMENT ((size_t) 256)
#define PIECE ((size_t) 2 << 20)	/* protection is switched piece by piece: a huge page each, where there are some */
#define LARGEST_PITCH ((size_t) 2147483647)

/* One live block of the arena. */
typedef struct block
{
	size_t		at;
	size_t		bytes;			/* asked for */
	size_t		span;			/* rounded up, and the gap behind */
	bool		pooled;
} block;

/* One range of page-locked memory. */
typedef struct pinned
{
	pinned	   *next;
	char	   *start;
	size_t		bytes;
	bool		owned;			/* of cudaHostAlloc */
} pinned;

struct CUmemPoolHandle_st
{
	size_t		threshold;
	size_t		most;			/* 0 = all that there is */
};

static char *arena;
static size_t high;				/* as far as blocks reach, and protection is switched */
static size_t readied;			/* as far as blocks have ever reached */
static int	opened;
static block *blocks;			/* by place */
static size_t nblocks;
static size_t block_room;
static size_t in_use;
static pinned *pinned_list;

/*
 * What pools hold, as if all were one.  It serves a request from what was given back
 * only where that is of the very size: a pool whose memory is in the worst pieces.
 */
static size_t *kept;			/* bytes of what was given back */
static size_t nkept;
static size_t reserved;
static size_t most_reserved;

/* Takes memory from what pools hold, or more of the card. */
static void
pool_take(size_t bytes)
{
	for (size_t k = 0; k < nkept; k++)
		if (kept[k] == bytes)
		{
			kept[k] = kept[--nkept];
			return;
		}
	reserved += bytes;
	most_reserved = max(most_reserved, reserved);
}

/* True when that is not beyond what a pool may hold. */
static bool
pool_may_take(cudaMemPool_t pool, size_t bytes)
{
	for (size_t k = 0; k < nkept; k++)
		if (kept[k] == bytes)
			return true;
	return pool->most == 0 || reserved + bytes <= pool->most;
}

/* Keeps what is given back. */
static void
pool_keep(size_t bytes)
{
	kept = (size_t *) realloc(kept, (nkept + 1) * sizeof(size_t));
	kept[nkept++] = bytes;
}

/* Gives what is kept back to the card. */
static void
pool_trim(void)
{
	while (nkept > 0)
		reserved -= kept[--nkept];
}

/* The most that pools have held since the last time asked. */
size_t
gp_emulated_reserved(void)
{
	size_t		most = most_reserved;

	most_reserved = reserved;
	return most;
}

/* The end of the piece that a byte count ends in. */
static size_t
piece_end(size_t bytes)
{
	return (bytes + PIECE - 1) & ~(PIECE - 1);
}

/*
 * Readies the arena as far as it is used for the first time: poisoned, in huge pages
 * where there are some, and not copied for a child of this process, which begins with
 * an idle card.  Behind that it is protected, and of another kind, so that switching
 * neither parts nor joins what the system keeps of it.
 */
static void
ready_upto(size_t end)
{
	if (end <= readied)
		return;
	(void) madvise(arena + readied, end - readied, MADV_HUGEPAGE);
	(void) madvise(arena + readied, end - readied, MADV_WIPEONFORK);
	ASAN_POISON_MEMORY_REGION(arena + readied, end - readied);
	readied = end;
}

/* Maps the arena. */
static cudaError_t
make_arena(void)
{
	size_t		bytes = piece_end(gp_emulated.memory + GAP);
	char	   *map;

	if (arena != NULL)
		return cudaSuccess;
	map = (char *) mmap(NULL, bytes + PIECE, gp_emulated.open ? PROT_READ | PROT_WRITE : PROT_NONE,
						MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == (char *) MAP_FAILED)
		return cudaErrorMemoryAllocation;
	arena = (char *) piece_end((size_t) map);
	if (gp_emulated.open)
		ready_upto(bytes);
	return cudaSuccess;
}

/* Switches the protection of what was ever used. */
static void
protect(int how)
{
	if (!gp_emulated.open && high > 0 && mprotect(arena, high, how) != 0)
		gp_emulated_stop("mprotect failed");
}

/* Lets operations touch the arena; calls nest. */
void
gp_emulated_arena_open(void)
{
	if (opened++ == 0)
		protect(PROT_READ | PROT_WRITE);
}

/* The last close shuts the arena again. */
void
gp_emulated_arena_close(void)
{
	if (--opened == 0)
		protect(PROT_NONE);
}

/* True for an address of the card. */
bool
gp_emulated_in_arena(const void *p)
{
	return arena != NULL && (const char *) p >= arena && (const char *) p < arena + gp_emulated.memory + GAP;
}

/* The live block that holds an address, or NULL. */
static block *
block_of(const void *p)
{
	size_t		low = 0;
	size_t		top = nblocks;
	size_t		at;

	if (!gp_emulated_in_arena(p))
		return NULL;
	at = (size_t) ((const char *) p - arena);
	while (low < top)
	{
		size_t		middle = (low + top) / 2;

		if (blocks[middle].at <= at)
			low = middle + 1;
		else
			top = middle;
	}
	if (low == 0 || at - blocks[low - 1].at >= blocks[low - 1].span)
		return NULL;
	return &blocks[low - 1];
}

/* True when a range lies in one live block. */
bool
gp_emulated_covers(const void *p, size_t bytes)
{
	block	   *b = block_of(p);

	return b != NULL && (size_t) ((const char *) p - arena) - b->at + bytes <= b->bytes;
}

/* The bytes of the card held now. */
size_t
gp_emulated_in_use(void)
{
	return in_use;
}

/* Where a span fits, and before which block; the arena's size when it does not. */
static size_t
first_fit(size_t span, size_t *index)
{
	size_t		at = 0;

	for (*index = 0; *index < nblocks; (*index)++)
	{
		if (blocks[*index].at - at >= span)
			return at;
		at = blocks[*index].at + blocks[*index].span;
	}
	return gp_emulated.memory - at >= span ? at : gp_emulated.memory;
}

/* Fills a block that goes. */
static void
fill_block(const block *b, size_t bytes)
{
	gp_emulated_arena_open();
	memset(arena + b->at, 0xff, bytes);
	gp_emulated_arena_close();
}

/* Takes a block, which is filled in the order of a stream. */
static cudaError_t
take_block(void **p, size_t bytes, cudaStream_t stream, bool pooled)
{
	size_t		span = ((bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1)) + GAP;
	size_t		index;
	size_t		at;

	*p = NULL;
	if (bytes == 0)
		return cudaSuccess;
	if (make_arena() != cudaSuccess || bytes > gp_emulated.limit)
		return gp_emulated_result(cudaErrorMemoryAllocation);
	if (in_use + bytes > gp_emulated.limit)
		gp_emulated_flush_all();	/* memory that streams give back later */
	if (in_use + bytes > gp_emulated.limit)
		return gp_emulated_result(cudaErrorMemoryAllocation);
	at = first_fit(span, &index);
	if (at == gp_emulated.memory)
	{
		gp_emulated_flush_all();	/* memory that streams give back later */
		at = first_fit(span, &index);
	}
	if (at == gp_emulated.memory)
		return gp_emulated_result(cudaErrorMemoryAllocation);
	if (nblocks == block_room)
	{
		block_room = block_room == 0 ? 256 : 2 * block_room;
		blocks = (block *) realloc(blocks, block_room * sizeof(block));
	}
	memmove(blocks + index + 1, blocks + index, (nblocks - index) * sizeof(block));
	blocks[index] = block{at, bytes, span, pooled};
	if (pooled)
		pool_take(bytes);
	nblocks++;
	if (high < at + span)
	{
		size_t		end = piece_end(at + span);

		if (opened > 0 && !gp_emulated.open && mprotect(arena + high, end - high, PROT_READ | PROT_WRITE) != 0)
			gp_emulated_stop("mprotect failed");
		ready_upto(end);
		high = end;
	}
	in_use += bytes;
	*p = arena + at;
	ASAN_UNPOISON_MEMORY_REGION(*p, bytes);
	gp_emulated_later(stream, [p = *p, bytes]() { memset(p, 0xff, bytes); });
	return cudaSuccess;
}

/* Pieces behind the last block but the first go back to the system, and need no switching. */
static void
trim(void)
{
	size_t		end = piece_end(nblocks == 0 ? 1 : blocks[nblocks - 1].at + blocks[nblocks - 1].span);

	if (end >= high)
		return;
	(void) madvise(arena + end, high - end, MADV_DONTNEED);
	if (!gp_emulated.open && mprotect(arena + end, high - end, PROT_NONE) != 0)
		gp_emulated_stop("mprotect failed");
	high = end;
}

/* Gives a block back. */
static bool
give_block(void *p)
{
	block	   *b = block_of(p);
	size_t		kept;
	bool		last;

	if (b == NULL || arena + b->at != (char *) p)
		return false;
	last = b == blocks + nblocks - 1 && !gp_emulated.open;
	kept = piece_end(b->at + 1) - b->at;
	fill_block(b, last && b->bytes > kept ? kept : b->bytes);	/* the rest of the last goes away */
	ASAN_POISON_MEMORY_REGION(arena + b->at, b->span);
	in_use -= b->bytes;
	if (b->pooled)
		pool_keep(b->bytes);
	memmove(b, b + 1, (size_t) (blocks + nblocks - (b + 1)) * sizeof(block));
	nblocks--;
	if (last)
		trim();
	return true;
}

cudaError_t
cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	*free_bytes = gp_emulated.limit > in_use ? gp_emulated.limit - in_use : 0;
	*total = gp_emulated.limit;
	return cudaSuccess;
}

cudaError_t
gp_emulated_malloc(void **p, size_t bytes)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess)
		code = take_block(p, bytes, NULL, false);
	if (code == cudaSuccess)
		gp_emulated_flush(NULL);
	return code;
}

/* A lost card's memory is given back too, so that what is held tells what was forgotten. */
cudaError_t
cudaFree(void *p)
{
	cudaError_t code = gp_emulated_enter();

	gp_emulated_flush_all();
	if (p != NULL && !give_block(p))
	{
		gp_emulated_complain("cudaFree of %p, which is no block", p);
		return gp_emulated_result(cudaErrorInvalidValue);
	}
	return code;
}

cudaError_t
cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	if (props->allocType != cudaMemAllocationTypePinned || props->location.type != cudaMemLocationTypeDevice ||
		props->location.id < 0 || props->location.id >= gp_emulated.devices)
		return gp_emulated_result(cudaErrorInvalidValue);
	*pool = new CUmemPoolHandle_st();
	(*pool)->most = props->maxSize;
	gp_emulated.objects++;
	return cudaSuccess;
}

cudaError_t
cudaMemPoolDestroy(cudaMemPool_t pool)
{
	cudaError_t code = gp_emulated_enter();

	if (pool == NULL)
		return gp_emulated_result(cudaErrorInvalidValue);
	delete pool;
	pool_trim();
	gp_emulated.objects--;
	return code;
}

cudaError_t
cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void *value)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess && (pool == NULL || attr != cudaMemPoolAttrReleaseThreshold))
		code = gp_emulated_result(cudaErrorInvalidValue);
	if (code == cudaSuccess)
		pool->threshold = (size_t) *(uint64_t *) value;
	return code;
}

cudaError_t
cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void *value)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess && (pool == NULL || attr != cudaMemPoolAttrReservedMemCurrent))
		code = gp_emulated_result(cudaErrorInvalidValue);
	if (code == cudaSuccess)
		*(uint64_t *) value = reserved;
	return code;
}

/* What streams have not come to yet is not given back. */
cudaError_t
cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess && pool == NULL)
		code = gp_emulated_result(cudaErrorInvalidValue);
	if (code == cudaSuccess && reserved > keep)
		pool_trim();
	return code;
}

cudaError_t
gp_emulated_malloc_async(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
	cudaError_t code = gp_emulated_enter();

	if (code == cudaSuccess && (pool == NULL || !gp_emulated_is_stream(stream)))
		code = gp_emulated_result(cudaErrorInvalidValue);
	if (code == cudaSuccess && !pool_may_take(pool, bytes))
	{
		*p = NULL;
		code = gp_emulated_result(cudaErrorMemoryAllocation);
	}
	return code == cudaSuccess ? take_block(p, bytes, stream, true) : code;
}

/* The block goes once the stream comes to it. */
cudaError_t
cudaFreeAsync(void *p, cudaStream_t stream)
{
	cudaError_t code = gp_emulated_enter();
	block	   *b = block_of(p);

	if (p == NULL)
		return code;
	if (b == NULL || arena + b->at != (char *) p || !gp_emulated_is_stream(stream))
	{
		gp_emulated_complain("cudaFreeAsync of %p, which is no block", p);
		return gp_emulated_result(cudaErrorInvalidValue);
	}
	auto		give = [p]() { give_block(p); };
	auto	   *task = new gp_emulated_closure<decltype(give)>(give);

	task->always = true;
	gp_emulated_enqueue(stream, task);
	if (code != cudaSuccess)
		gp_emulated_flush(stream);
	return code;
}

/* Adds a range of page-locked memory. */
static void
add_pinned(void *p, size_t bytes, bool owned)
{
	pinned_list = new pinned{pinned_list, (char *) p, bytes, owned};
	gp_emulated.objects++;
}

/* Forgets one; false when there is none that begins there. */
static bool
drop_pinned(void *p, bool owned)
{
	for (pinned **link = &pinned_list; *link != NULL; link = &(*link)->next)
		if ((*link)->start == p && (*link)->owned == owned)
		{
			pinned	   *gone = *link;

			*link = gone->next;
			delete gone;
			gp_emulated.objects--;
			return true;
		}
	return false;
}

/* True when a range is page-locked as a whole. */
bool
gp_emulated_is_pinned(const void *p, size_t bytes)
{
	for (pinned *r = pinned_list; r != NULL; r = r->next)
		if ((const char *) p >= r->start && (const char *) p + bytes <= r->start + r->bytes)
			return true;
	return false;
}

/*
 * True for mapped memory that is neither the card's, nor page-locked, nor part of
 * a loaded file.  Linux places programs and their heaps at high addresses; lower
 * ones may be the address sanitizer's, and are what two small numbers look like.
 */
bool
gp_emulated_is_host(const void *p)
{
	uintptr_t	at = (uintptr_t) p;
	unsigned char there;
	Dl_info		file;

	/* Heap, stack and maps are up there; two small numbers side by side look like what is below. */
	return at >> 44 >= 5 && at >> 47 == 0 && !gp_emulated_in_arena(p) && !gp_emulated_is_pinned(p, 1) &&
		mincore((void *) (at & ~(uintptr_t) 4095), 1, &there) == 0 && dladdr(p, &file) == 0;
}

cudaError_t
gp_emulated_host_alloc(void **p, size_t bytes, unsigned int flags)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	if (posix_memalign(p, 4096, bytes == 0 ? 1 : bytes) != 0)
		return gp_emulated_result(cudaErrorMemoryAllocation);
	memset(*p, 0xff, bytes);
	add_pinned(*p, bytes, true);
	return cudaSuccess;
}

cudaError_t
cudaFreeHost(void *p)
{
	cudaError_t code = gp_emulated_enter();

	gp_emulated_flush_all();
	if (p == NULL)
		return code;
	if (!drop_pinned(p, true))
	{
		gp_emulated_complain("cudaFreeHost of %p, which is not of cudaHostAlloc", p);
		return gp_emulated_result(cudaErrorInvalidValue);
	}
	free(p);
	return code;
}

cudaError_t
cudaHostRegister(void *p, size_t bytes, unsigned int flags)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	if (p == NULL || bytes == 0 || gp_emulated_in_arena(p))
		return gp_emulated_result(cudaErrorInvalidValue);
	for (pinned *r = pinned_list; r != NULL; r = r->next)
		if ((char *) p < r->start + r->bytes && r->start < (char *) p + bytes)
			return gp_emulated_result(cudaErrorHostMemoryAlreadyRegistered);
	add_pinned(p, bytes, false);
	return cudaSuccess;
}

cudaError_t
cudaHostUnregister(void *p)
{
	cudaError_t code = gp_emulated_enter();

	gp_emulated_flush_all();
	if (!drop_pinned(p, false))
	{
		gp_emulated_complain("cudaHostUnregister of %p, which is not registered", p);
		return gp_emulated_result(cudaErrorHostMemoryNotRegistered);
	}
	return code;
}

cudaError_t
cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess)
		return code;
	memset(attributes, 0, sizeof(*attributes));
	attributes->type = block_of(p) != NULL ? cudaMemoryTypeDevice :
		gp_emulated_is_pinned(p, 1) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
	attributes->devicePointer = attributes->type != cudaMemoryTypeUnregistered ? (void *) p : NULL;
	attributes->hostPointer = attributes->type != cudaMemoryTypeDevice ? (void *) p : NULL;
	return cudaSuccess;
}

/* A copy of rows. */
typedef struct copy
{
	char	   *dst;
	size_t		dst_pitch;
	const char *src;
	size_t		src_pitch;
	size_t		width;
	size_t		height;
} copy;

/* The bytes from the first to the last of some rows. */
static size_t
span_of(size_t pitch, size_t width, size_t height)
{
	return (height - 1) * pitch + width;
}

/* Moves the rows. */
static void
run_copy(const copy *c)
{
	for (size_t i = 0; i < c->height; i++)
		memcpy(c->dst + i * c->dst_pitch, c->src + i * c->src_pitch, c->width);
}

/* Checks one side of a copy: all in one block of the card, or nothing of it. */
static cudaError_t
check_side(const char *what, const void *p, size_t bytes, bool device)
{
	if (device ? gp_emulated_covers(p, bytes) : p != NULL && !gp_emulated_in_arena(p))
		return cudaSuccess;
	gp_emulated_complain("copy of %zu bytes: the %s %p is not %s", bytes, what, p,
						 device ? "in one block of the card" : "memory of the host");
	return gp_emulated_result(cudaErrorInvalidValue);
}

/*
 * Memory that is not page-locked is read when the copy runs, as page-locked memory
 * is: CUDA does not promise that it has been before.
 */
cudaError_t
cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
				  size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t code = gp_emulated_enter();
	copy		c = {(char *) dst, dst_pitch, (const char *) src, src_pitch, width, height};
	bool		to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	bool		from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

	if (code != cudaSuccess || width == 0 || height == 0)
		return code;
	if (height > 1 && (width > dst_pitch || width > src_pitch || dst_pitch > LARGEST_PITCH ||
					   src_pitch > LARGEST_PITCH))
		return gp_emulated_result(cudaErrorInvalidValue);
	if (kind > cudaMemcpyDeviceToDevice || !gp_emulated_is_stream(stream))
		return gp_emulated_result(cudaErrorInvalidValue);
	if ((code = check_side("target", dst, span_of(dst_pitch, width, height), to)) != cudaSuccess ||
		(code = check_side("source", src, span_of(src_pitch, width, height), from)) != cudaSuccess)
		return code;
	gp_emulated_later(stream, [c]() { run_copy(&c); });
	if (!to && !gp_emulated_is_pinned(dst, span_of(dst_pitch, width, height)))
		gp_emulated_flush(stream);
	return cudaSuccess;
}

cudaError_t
cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
	return cudaMemcpy2DAsync(dst, bytes, src, bytes, bytes, 1, kind, stream);
}

cudaError_t
cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
	cudaError_t code = gp_emulated_enter();

	if (code != cudaSuccess || bytes == 0)
		return code;
	if (!gp_emulated_is_stream(stream) ||
		(code = check_side("target", p, bytes, true)) != cudaSuccess)
		return gp_emulated_result(cudaErrorInvalidValue);
	gp_emulated_later(stream, [p, value, bytes]() { memset(p, value, bytes); });
	return cudaSuccess;
}

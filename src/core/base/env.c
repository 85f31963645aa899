/*
 * env.c - memory and errors on top of the host's environment.
 *
 * Every block starts on a 64-byte boundary, which vector code and BLAS like,
 * and is preceded by a header that remembers its size, so that the bytes held
 * and their high-water mark are known whatever the host's allocator does.
 */
#include "env.h"

#include <stdio.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define MESSAGE_SIZE 1024
#define LARGE_PAGE ((uintptr_t) 1 << 21)
#define LARGE_ARRAY ((size_t) 1 << 22)	/* below, large pages are not worth a system call */
/* filled between two looks at interrupts: its first touch takes time */
#define ZERO_PIECE ((size_t) 32 << 20)
#define LEAST_SPARE ((size_t) 1 << 18)	/* smaller blocks are not worth keeping */

/* What stands right before every block. */
typedef struct block_header
{
	void	   *raw;			/* what the host returned */
	size_t		bytes;			/* what the caller asked for */
} block_header;

#define OVERHEAD (sizeof(block_header) + ALIGNMENT)

static block_header *
header_of(const void *p)
{
	return (block_header *) p - 1;
}

size_t
gp_alloc_size(size_t bytes)
{
	return bytes > SIZE_MAX - OVERHEAD ? SIZE_MAX : bytes + OVERHEAD;
}

/* The bytes that all environments hold which share the limit. */
static size_t
held(const gp_env *env)
{
	return env->account ? *env->account : env->used;
}

size_t
gp_limit(const gp_env *env)
{
	size_t		others = held(env) - env->used;

	return env->limit > others ? env->limit - others : env->limit > 0;
}

size_t
gp_left(const gp_env *env)
{
	size_t		most = env->dry ? env->host_left : env->limit > 0 ? gp_limit(env) : SIZE_MAX;

	return most == SIZE_MAX ? most : most > env->used ? most - env->used : 0;
}

/* Refuses a request that would take what is held over the limit. */
static void
check_limit(gp_env *env, size_t bytes)
{
	if (env->limit == 0 || (bytes <= env->limit && held(env) <= env->limit - bytes))
		return;
	gp_raise(env, GP_ERR_LIMIT, "Raise gnngp.memory_limit, or choose a smaller computation.",
			 "%.1f MB are held and %.1f MB more are needed, but gnngp.memory_limit allows %.1f MB",
			 held(env) / 1048576.0, bytes / 1048576.0, env->limit / 1048576.0);
}

static void
check_memory(gp_env *env, const void *raw, size_t bytes)
{
	if (raw == NULL)
		gp_raise(env, GP_ERR_MEMORY, NULL, "out of memory: %zu bytes could not be allocated",
				 bytes);
}

/* Where a block begins in what the host returned. */
static char *
align_block(char *raw)
{
	char	   *p = raw + sizeof(block_header);

	return p + (ALIGNMENT - (uintptr_t) p % ALIGNMENT) % ALIGNMENT;
}

/* Writes the header of a block and counts it. */
static void *
enter_block(gp_env *env, char *p, void *raw, size_t bytes)
{
	header_of(p)->raw = raw;
	header_of(p)->bytes = bytes;
	env->used += gp_alloc_size(bytes);
	if (env->account)
		*env->account += gp_alloc_size(bytes);
	if (env->used > env->peak)
		env->peak = env->used;
	return p;
}

/* Takes a block of so many bytes out of the count. */
static void
leave_block(gp_env *env, size_t bytes)
{
	env->used -= gp_alloc_size(bytes);
	if (env->account)
		*env->account -= gp_alloc_size(bytes);
}

/* Takes a block out of those that wait. */
static char *
take_spare(gp_env *env, int k)
{
	char	   *p = env->spare[k];

	env->nspare--;
	memmove(env->spare + k, env->spare + k + 1, (env->nspare - k) * sizeof(void *));
	env->spare_bytes -= gp_alloc_size(header_of(p)->bytes);
	return p;
}

/* Frees blocks that wait, the oldest first, until they and so many bytes more are below a mark. */
static void
make_way(gp_env *env, size_t more, size_t mark)
{
	while (env->nspare > 0 && env->used + env->spare_bytes + more > mark)
		env->release(env, header_of(take_spare(env, 0))->raw);
}

void
gp_drop_spares(gp_env *env)
{
	make_way(env, 0, 0);
}

/* Counts a block of so many bytes that has room for some, or all, of them. */
static void *
take(gp_env *env, size_t bytes, size_t room)
{
	size_t		total = gp_alloc_size(bytes);

	check_limit(env, total);
	/* A block that waits and has this size. */
	for (int k = env->nspare - 1; k >= 0 && room == bytes; k--)
		if (header_of(env->spare[k])->bytes == bytes)
		{
			char	   *p = take_spare(env, k);

			return enter_block(env, p, header_of(p)->raw, bytes);
		}
	make_way(env, total, env->peak);
	char	   *raw = total == SIZE_MAX ? NULL : env->alloc(env, gp_alloc_size(room));
	check_memory(env, raw, bytes);
	return enter_block(env, align_block(raw), raw, bytes);
}

void *
gp_alloc(gp_env *env, size_t bytes)
{
	return take(env, bytes, bytes);
}

size_t
gp_size_mul(gp_env *env, size_t a, size_t b)
{
	size_t		product;

	if (__builtin_mul_overflow(a, b, &product))
		gp_raise(env, GP_ERR_LIMIT, NULL, "size too large: %zu times %zu bytes", a, b);
	return product;
}

static size_t
array_bytes(gp_env *env, int64_t count, size_t size)
{
	if (count < 0)
		gp_raise(env, GP_ERR_INTERNAL, NULL, "negative array length: %lld", (long long) count);
	return gp_size_mul(env, (size_t) count, size);
}

void *
gp_alloc_array(gp_env *env, int64_t count, size_t size)
{
	return gp_alloc(env, array_bytes(env, count, size));
}

void *
gp_alloc_values(gp_env *env, int64_t count, size_t size)
{
	size_t		bytes = array_bytes(env, count, size);

	return take(env, bytes, env->dry ? 0 : bytes);
}

void *
gp_alloc_zero(gp_env *env, int64_t count, size_t size)
{
	char	   *p = gp_alloc_array(env, count, size);
	size_t		bytes = header_of(p)->bytes;

	for (size_t at = 0; at < bytes; at += ZERO_PIECE)
	{
		if (at > 0)
			env->check_interrupts(env);
		memset(p + at, 0, bytes - at < ZERO_PIECE ? bytes - at : ZERO_PIECE);
	}
	return p;
}

void *
gp_realloc_array(gp_env *env, void *p, int64_t count, size_t size)
{
	void	   *grown = gp_alloc_array(env, count, size);

	if (p != NULL)
	{
		size_t		old = header_of(p)->bytes;
		size_t		new = header_of(grown)->bytes;

		memcpy(grown, p, old < new ? old : new);
		gp_free(env, p);
	}
	return grown;
}

/*
 * Gives an array another length by the host's resize.  A block that moves to
 * another place below the alignment moves on to its own.
 */
void *
gp_resize_array(gp_env *env, void *p, int64_t count, size_t size)
{
	size_t		bytes = array_bytes(env, count, size);
	size_t		total = gp_alloc_size(bytes);
	size_t		old,
				offset;

	if (p == NULL || env->resize == NULL)
		return gp_realloc_array(env, p, count, size);
	old = header_of(p)->bytes;
	offset = (char *) p - (char *) header_of(p)->raw;
	if (bytes > old)
	{
		check_limit(env, bytes - old);
		make_way(env, bytes - old, env->peak);
	}
	char	   *raw = total == SIZE_MAX ? NULL
					: env->resize(env, header_of(p)->raw, gp_alloc_size(old), total);
	check_memory(env, raw, bytes);
	char	   *new = align_block(raw);
	if (new != raw + offset)
		memmove(new, raw + offset, old < bytes ? old : bytes);
	leave_block(env, old);
	return enter_block(env, new, raw, bytes);
}

void
gp_free(gp_env *env, void *p)
{
	if (p == NULL)
		return;
	block_header *header = header_of(p);
	leave_block(env, header->bytes);
	if (!env->spares || header->bytes < LEAST_SPARE)
	{
		env->release(env, header->raw);
		return;
	}
	if (env->nspare == GP_ENV_SPARES)
		env->release(env, header_of(take_spare(env, 0))->raw);
	env->spare[env->nspare++] = p;
	env->spare_bytes += gp_alloc_size(header->bytes);
	make_way(env, 0, env->peak);
}

void
gp_free_array(gp_env *env, int n, const void *const *p)
{
	for (int i = 0; i < n; i++)
		gp_free(env, (void *) p[i]);
}

void
gp_use_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	first = ((uintptr_t) p + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	uintptr_t	end = ((uintptr_t) p + bytes) / LARGE_PAGE * LARGE_PAGE;

	if (bytes >= LARGE_ARRAY && end > first)
		(void) madvise((void *) first, end - first, MADV_HUGEPAGE);
#endif
}

/* What a derived environment does with reports. */
static void
ignore_progress(gp_env *env, gp_phase phase, int64_t done, int64_t total)
{
}

static void
ignore_notice(gp_env *env, const char *message, const char *hint)
{
}

gp_env
gp_env_derive(const gp_env *host)
{
	gp_env		env = *host;

	env.resize = NULL;
	env.progress = ignore_progress;
	env.notice = ignore_notice;
	env.used = env.peak = env.limit = 0;
	env.account = NULL;
	env.spares = false;
	env.nspare = 0;
	env.spare_bytes = 0;
	return env;
}

/* Drops a character of UTF-8 that a full buffer has cut in two. */
static void
trim_partial_character(char *buffer, size_t size)
{
	size_t		end = size - 1;
	size_t		start = end;

	while (start > 0 && ((unsigned char) buffer[start - 1] & 0xC0) == 0x80)
		start--;
	if (start == 0)
		return;
	unsigned char lead = (unsigned char) buffer[start - 1];
	size_t		need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
	if (end - (start - 1) < need)
		buffer[start - 1] = '\0';
}

/* vsnprintf that cuts a long message between characters. */
static void __attribute__((format(printf, 2, 0)))
format_message(char *buffer, const char *format, va_list args)
{
	int			length = vsnprintf(buffer, MESSAGE_SIZE, format, args);

	if (length < 0)
		buffer[0] = '\0';
	else if (length >= MESSAGE_SIZE)
		trim_partial_character(buffer, MESSAGE_SIZE);
}

void
gp_raise_at(gp_env *env, gp_error code, int position, const char *hint, const char *format,...)
{
	char		message[MESSAGE_SIZE];
	va_list		args;

	va_start(args, format);
	format_message(message, format, args);
	va_end(args);
	env->raise(env, code, position, message, hint);
	__builtin_unreachable();
}

void
gp_notice(gp_env *env, const char *hint, const char *format,...)
{
	char		message[MESSAGE_SIZE];
	va_list		args;

	va_start(args, format);
	format_message(message, format, args);
	va_end(args);
	env->notice(env, message, hint);
}

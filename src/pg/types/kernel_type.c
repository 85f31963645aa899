/*
 * kernel_type.c - the SQL type gp_kernel.
 *
 * A value is the canonical text of a kernel, stored as text is, or the word auto, which
 * leaves the choice to gp_fit.  It therefore dumps as text.  Equality, order and hashes are those
 * of the programs, so that spellings of one kernel are equal.  The order has no meaning, but gives
 * indexes, DISTINCT and GROUP BY.
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "core/formula/formula.h"
#include "pg/server/server.h"

/* Reads a kernel; errors point at the character. */
static gp_kernel *
read_kernel(gp_env *env, const char *source)
{
	gnngp_env_set_text(env, source, "kernel");
	return gp_kernel_parse(env, source);
}

/* The canonical text of a kernel. */
static text *
make_canonical(const char *source)
{
	if (gnngp_kernel_is_auto(source))
		return cstring_to_text(GNNGP_KERNEL_AUTO);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	text	   *canonical = cstring_to_text(gp_kernel_print(env, read_kernel(env, source)));
	gnngp_env_destroy(env);
	return canonical;
}

/* gp_kernel's input function. */
GNNGP_FUNCTION(gnngp_kernel_in)
{
	PG_RETURN_TEXT_P(make_canonical(PG_GETARG_CSTRING(0)));
}

/* gp_kernel's binary input function: text, which is read anew and never trusted. */
GNNGP_FUNCTION(gnngp_kernel_recv)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			nbytes;
	char	   *source = pq_getmsgtext(buf, buf->len - buf->cursor, &nbytes);

	PG_RETURN_TEXT_P(make_canonical(source));
}

/* Orders the two arguments; auto comes first. */
static int
compare_arguments(FunctionCallInfo fcinfo)
{
	char	   *a = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *b = text_to_cstring(PG_GETARG_TEXT_PP(1));
	bool		auto_a = gnngp_kernel_is_auto(a);
	bool		auto_b = gnngp_kernel_is_auto(b);

	if (auto_a || auto_b || strcmp(a, b) == 0)
		return (int) auto_b - (int) auto_a;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	int			order = gp_kernel_compare(read_kernel(env, a), read_kernel(env, b));
	gnngp_env_destroy(env);
	return order;
}

GNNGP_FUNCTION(gnngp_kernel_cmp)
{
	PG_RETURN_INT32(compare_arguments(fcinfo));
}

#define COMPARISON(name, operator) \
GNNGP_FUNCTION(gnngp_kernel_##name) \
{ \
	PG_RETURN_BOOL(compare_arguments(fcinfo) operator 0); \
}

COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

static uint64
hash_argument(FunctionCallInfo fcinfo, uint64 seed)
{
	char	   *source = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (gnngp_kernel_is_auto(source))
		return seed;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	uint64		hash = gp_kernel_hash(read_kernel(env, source), seed);
	gnngp_env_destroy(env);
	return hash;
}

GNNGP_FUNCTION(gnngp_kernel_hash)
{
	PG_RETURN_INT32((int32) hash_argument(fcinfo, 0));
}

/* Its lower half is the plain hash where the seed is 0. */
GNNGP_FUNCTION(gnngp_kernel_hash_extended)
{
	PG_RETURN_INT64((int64) hash_argument(fcinfo, (uint64) PG_GETARG_INT64(1)));
}

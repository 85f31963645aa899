/*
 * kernel_type.c - the SQL type gp_kernel.
 *
 * A value is the canonical text of a kernel, stored as text is, or the word auto, which
 * leaves the choice to gp_fit.  It therefore dumps as text.  Equality, order and hashes are those
 * of the programs, so that spellings of one kernel are equal.  The order has no meaning, but gives
 * indexes, DISTINCT and GROUP BY.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"

#include "pg/server/server.h"

static text *
make_canonical(const char *source)
{
	if (gnngp_kernel_is_auto(source))
		return cstring_to_text(GNNGP_KERNEL_AUTO);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	text	   *canonical = cstring_to_text(gp_kernel_print(env, gnngp_parse_kernel(env, source)));
	gnngp_env_destroy(env);
	return canonical;
}

/* gp_kernel's input function. */
GNNGP_FUNCTION(gnngp_kernel_in)
{
	PG_RETURN_TEXT_P(make_canonical(PG_GETARG_CSTRING(0)));
}

/* gp_kernel's binary input function: text, which is parsed again and never trusted. */
GNNGP_FUNCTION(gnngp_kernel_recv)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			nbytes;
	char	   *source = pq_getmsgtext(buf, buf->len - buf->cursor, &nbytes);

	PG_RETURN_TEXT_P(make_canonical(source));
}

/* What equal kernels share; that of auto comes first. */
static const char *
key_argument(FunctionCallInfo fcinfo, int argno)
{
	const char *source = text_to_cstring(PG_GETARG_TEXT_PP(argno));

	if (gnngp_kernel_is_auto(source))
		return "";
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	const char *key = pstrdup(gp_kernel_key(env, gnngp_parse_kernel(env, source)));
	gnngp_env_destroy(env);
	return key;
}

static int
compare_arguments(FunctionCallInfo fcinfo)
{
	return strcmp(key_argument(fcinfo, 0), key_argument(fcinfo, 1));
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

GNNGP_FUNCTION(gnngp_kernel_hash)
{
	const char *key = key_argument(fcinfo, 0);

	PG_RETURN_INT32((int32) hash_bytes((const unsigned char *) key, (int) strlen(key)));
}

GNNGP_FUNCTION(gnngp_kernel_hash_extended)
{
	const char *key = key_argument(fcinfo, 0);

	PG_RETURN_INT64((int64) hash_bytes_extended((const unsigned char *) key, (int) strlen(key),
												(uint64) PG_GETARG_INT64(1)));
}

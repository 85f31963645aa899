/*
 * kernel_type.c - the SQL type gp_kernel.
 *
 * A value is the canonical text of a kernel, stored as text is, or the word auto, which
 * leaves the choice to gp_fit.  It therefore
 * dumps as text, and two spellings of one kernel are equal.  The order is that of
 * the bytes: it has no meaning, but gives indexes, DISTINCT and GROUP BY.
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "core/formula/formula.h"
#include "pg/server/server.h"

PG_FUNCTION_INFO_V1(gnngp_kernel_in);
PG_FUNCTION_INFO_V1(gnngp_kernel_recv);
PG_FUNCTION_INFO_V1(gnngp_kernel_from_text);
PG_FUNCTION_INFO_V1(gnngp_kernel_as_stored);

/* Reads a kernel and gives its canonical text; errors point at the character. */
static text *
make_canonical(const char *source)
{
	gp_env	   *env;
	gp_kernel  *kernel;
	text	   *canonical;

	if (gnngp_kernel_is_auto(source))
		return cstring_to_text(GNNGP_KERNEL_AUTO);
	env = gnngp_env_create(CurrentMemoryContext);
	gnngp_env_set_text(env, source, "kernel");
	kernel = gp_kernel_parse(env, source);
	canonical = cstring_to_text(gp_kernel_print(env, kernel));
	gnngp_env_destroy(env);
	return canonical;
}

/* gp_kernel's input function. */
Datum
gnngp_kernel_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(make_canonical(PG_GETARG_CSTRING(0)));
}

/* gp_kernel's binary input function: text, which is read anew and never trusted. */
Datum
gnngp_kernel_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			nbytes;
	char	   *source = pq_getmsgtext(buf, buf->len - buf->cursor, &nbytes);

	PG_RETURN_TEXT_P(make_canonical(source));
}

/* The cast from text. */
Datum
gnngp_kernel_from_text(PG_FUNCTION_ARGS)
{
	char	   *source = text_to_cstring(PG_GETARG_TEXT_PP(0));

	PG_RETURN_TEXT_P(make_canonical(source));
}

/*
 * gp_kernel_as_stored(text): a canonical text as a kernel.  It is not read, so
 * that one row which cannot be does not keep everybody from listing models;
 * whoever computes with the value reads it.
 */
Datum
gnngp_kernel_as_stored(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(PG_GETARG_TEXT_P(0));
}

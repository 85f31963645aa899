/*
 * value_type.c - input and output, the same for all types of values.
 *
 * The text form is base64: a value of 256 MB is a text of 342 MB, well under
 * the 1 GB that PostgreSQL allows.  Long loops are cut into pieces that a cancel
 * can come between.
 */
#include "postgres.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "types.h"

#define PIECE (3 << 18)			/* bytes that are turned into text at once; a multiple of 3 */
#define PIECE_TEXT (PIECE / 3 * 4)

/* Reads a whole value that came from outside. */
static Datum
check_value(struct varlena *value, const char *type, gnngp_value_check check, int sqlstate)
{
	gnngp_value_reader r = gnngp_value_open(PointerGetDatum(value), type);

	r.sqlstate = sqlstate;
	check(&r);
	return PointerGetDatum(value);
}

/* Input from text. */
Datum
gnngp_value_in(FunctionCallInfo fcinfo, const char *type, gnngp_value_check check)
{
	const char *text = PG_GETARG_CSTRING(0);
	size_t		length = strlen(text);
	struct varlena *value;
	char	   *out;

	gnngp_value_check_size(length / 4.0 * 3.0, type);
	value = palloc(VARHDRSZ + length / 4 * 3 + 8);
	out = VARDATA(value);
	for (size_t at = 0; at < length; at += PIECE_TEXT)
	{
		int			part = (int) Min(length - at, (size_t) PIECE_TEXT);
		int			n = pg_b64_decode(text + at, part, (void *) out, part / 4 * 3 + 4);

		CHECK_FOR_INTERRUPTS();
		if (n < 0 || (at + part < length && n != PIECE))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					 errmsg("invalid input syntax for type %s", type),
					 errdetail("Its text is base64, as the type's output function writes it.")));
		out += n;
	}
	SET_VARSIZE(value, out - (char *) value);
	return check_value(value, type, check, ERRCODE_INVALID_TEXT_REPRESENTATION);
}

/* Input from binary. */
Datum
gnngp_value_recv(FunctionCallInfo fcinfo, const char *type, gnngp_value_check check)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			length = buf->len - buf->cursor;
	struct varlena *value;

	gnngp_value_check_size(length, type);
	value = palloc(VARHDRSZ + length);
	SET_VARSIZE(value, VARHDRSZ + length);
	pq_copymsgbytes(buf, VARDATA(value), length);
	return check_value(value, type, check, ERRCODE_INVALID_BINARY_REPRESENTATION);
}

/* Output as text. */
PG_FUNCTION_INFO_V1(gnngp_value_out);
Datum
gnngp_value_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	const char *bytes = VARDATA_ANY(value);
	int64		length = VARSIZE_ANY_EXHDR(value);
	int64		room = (length + 2) / 3 * 4;
	char	   *text = palloc(room + 1);
	char	   *out = text;

	for (int64 at = 0; at < length; at += PIECE)
	{
		int			n = (int) Min(length - at, (int64) PIECE);

		CHECK_FOR_INTERRUPTS();
		out += pg_b64_encode((const void *) (bytes + at), n, out, (int) (room - (out - text)));
	}
	*out = '\0';
	PG_RETURN_CSTRING(text);
}

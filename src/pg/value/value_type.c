/*
 * value_type.c - input, output and comparison, the same for all types of values.
 *
 * The text form is base64: a value of 256 MB is a text of 342 MB, well under
 * the 1 GB that PostgreSQL allows.  Long loops are cut into pieces that a cancel
 * can come between.
 */
#include "postgres.h"

#include "common/base64.h"
#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "value.h"

#define PIECE (3 << 18)			/* bytes that are turned into text at once; a multiple of 3 */
#define PIECE_TEXT (PIECE / 3 * 4)

/* Reads a whole value that came from outside. */
static Datum
check_value(struct varlena *value, const gnngp_value_type *type, int sqlstate)
{
	gnngp_value_reader r = gnngp_value_open(PointerGetDatum(value), type->name);

	r.sqlstate = sqlstate;
	type->check(&r);
	if (r.at != r.end)
		gnngp_value_refuse(&r, "Bytes are left over.");
	return PointerGetDatum(value);
}

/* Input from text. */
Datum
gnngp_value_in(FunctionCallInfo fcinfo, const gnngp_value_type *type)
{
	const char *text = PG_GETARG_CSTRING(0);
	size_t		length = strlen(text);
	struct varlena *value;
	char	   *out;

	gnngp_value_check_size(length / 4.0 * 3.0, type->name);
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
					 errmsg("invalid input syntax for type %s", type->name),
					 errdetail("Its text is base64, as the type's output function writes it.")));
		out += n;
	}
	SET_VARSIZE(value, out - (char *) value);
	return check_value(value, type, ERRCODE_INVALID_TEXT_REPRESENTATION);
}

/* Input from binary. */
Datum
gnngp_value_recv(FunctionCallInfo fcinfo, const gnngp_value_type *type)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			length = buf->len - buf->cursor;
	struct varlena *value;

	gnngp_value_check_size(length, type->name);
	value = palloc(VARHDRSZ + length);
	SET_VARSIZE(value, VARHDRSZ + length);
	pq_copymsgbytes(buf, VARDATA(value), length);
	return check_value(value, type, ERRCODE_INVALID_BINARY_REPRESENTATION);
}

PG_FUNCTION_INFO_V1(gnngp_value_out);

/* Output as text. */
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

PG_FUNCTION_INFO_V1(gnngp_value_send);

/* Output as binary. */
Datum
gnngp_value_send(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendbytes(&buf, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* True when two values are the same bytes. */
static bool
same_bytes(FunctionCallInfo fcinfo)
{
	struct varlena *a = PG_GETARG_VARLENA_PP(0);
	struct varlena *b = PG_GETARG_VARLENA_PP(1);
	Size		n = VARSIZE_ANY_EXHDR(a);
	bool		same = n == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), n) == 0;

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return same;
}

PG_FUNCTION_INFO_V1(gnngp_value_eq);

/* a = b */
Datum
gnngp_value_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(same_bytes(fcinfo));
}

PG_FUNCTION_INFO_V1(gnngp_value_ne);

/* a <> b */
Datum
gnngp_value_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!same_bytes(fcinfo));
}

PG_FUNCTION_INFO_V1(gnngp_value_hash);

/* The hash of hash indexes and joins. */
Datum
gnngp_value_hash(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	Datum		hash = hash_any((const unsigned char *) VARDATA_ANY(value),
								(int) VARSIZE_ANY_EXHDR(value));

	PG_FREE_IF_COPY(value, 0);
	return hash;
}

PG_FUNCTION_INFO_V1(gnngp_value_hash_extended);

/* The same with a seed, for hash partitions. */
Datum
gnngp_value_hash_extended(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	Datum		hash = hash_any_extended((const unsigned char *) VARDATA_ANY(value),
										 (int) VARSIZE_ANY_EXHDR(value), PG_GETARG_INT64(1));

	PG_FREE_IF_COPY(value, 0);
	return hash;
}

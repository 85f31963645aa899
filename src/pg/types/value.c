/*
 * value.c - reading and writing the bytes of values: numbers, ids; texts of them.
 *
 * Numbers are written seven bits a byte, low bits first, in as few bytes as they
 * need; ids as the first one, folded so that small negative ids are short, and
 * the gaps between them, or nothing where there are no gaps.
 */
#include "postgres.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "types.h"

void
gnngp_value_refuse(const gnngp_value_reader *r, const char *reason)
{
	ereport(ERROR,
			(errcode(r->sqlstate),
			 errmsg("invalid value of type %s", r->type),
			 errdetail_internal("%s", reason)));
}

uint64
gnngp_value_number(gnngp_value_reader *r)
{
	uint64		v = 0;

	for (int shift = 0; shift < 64; shift += 7)
	{
		if (r->at == r->end)
			gnngp_value_refuse(r, "It ends too early.");
		uint64		byte = *r->at++;
		if (shift == 63 && byte > 1)
			break;
		v |= (byte & 0x7f) << shift;
		if (byte < 0x80)
		{
			if (byte == 0 && shift > 0)
				gnngp_value_refuse(r, "A number is longer than it need be.");
			return v;
		}
	}
	gnngp_value_refuse(r, "A number is too large.");
}

gnngp_value_reader
gnngp_value_open(Datum value, const char *type)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
	const unsigned char *at = (const unsigned char *) VARDATA_ANY(bytes);

	return (gnngp_value_reader) {at, at + VARSIZE_ANY_EXHDR(bytes), type, ERRCODE_DATA_CORRUPTED};
}

int
gnngp_value_flags(gnngp_value_reader *r, int allowed)
{
	if (r->end - r->at < 2)
		gnngp_value_refuse(r, "It ends too early.");
	if (r->at[0] != GNNGP_VALUE_VERSION)
		gnngp_value_refuse(r, "Its version is unknown.");
	int			flags = r->at[1];
	if (flags & ~allowed)
		gnngp_value_refuse(r, "It has unknown flags.");
	r->at += 2;
	return flags;
}

gnngp_value_ids
gnngp_value_read_ids(gnngp_value_reader *r, int flags, uint64 node_bytes)
{
	gnngp_value_ids ids = {0};
	uint64		n = gnngp_value_number(r);
	uint64		folded = gnngp_value_number(r);

	if (n < 1 || n > PG_INT32_MAX)
		gnngp_value_refuse(r, "The number of nodes is out of range.");
	if (node_bytes > (uint64) (r->end - r->at) / n)
		gnngp_value_refuse(r, "It ends too early.");
	ids.n = (int64) n;
	ids.first = (int64) (folded >> 1) ^ -(int64) (folded & 1);
	if ((flags & GNNGP_VALUE_DENSE) == 0)
	{
		if (n == 1)
			gnngp_value_refuse(r, "Ids without a gap are written as such.");
		/* Reads the gaps between ids */
		int64		id = ids.first;
		bool		gap_seen = false;

		ids.id = MemoryContextAllocHuge(CurrentMemoryContext, ids.n * sizeof(int64));
		ids.id[0] = id;
		for (int64 i = 1; i < ids.n; i++)
		{
			uint64		skipped = gnngp_value_number(r);

			gnngp_poll(i);
			if (skipped >= (uint64) PG_INT64_MAX - (uint64) id)
				gnngp_value_refuse(r, "An id is out of range.");
			gap_seen |= skipped > 0;
			id = (int64) ((uint64) id + skipped + 1);
			ids.id[i] = id;
		}
		if (!gap_seen)
			gnngp_value_refuse(r, "Ids without a gap are written as such.");
	}
	else if ((uint64) PG_INT64_MAX - (uint64) ids.first < n - 1)
		gnngp_value_refuse(r, "An id is out of range.");
	return ids;
}

void
gnngp_value_row(const unsigned char *value, int64 row, int64 cols, float *out)
{
	memcpy(out, value + row * cols * sizeof(float), cols * sizeof(float));
	gnngp_turn_numbers(out, cols * sizeof(float), sizeof(float));
}

int64
gnngp_value_find(const gnngp_value_ids *ids, int64 id)
{
	if (id < ids->first)
		return -1;
	if (ids->id == NULL)
		return (uint64) id - (uint64) ids->first < (uint64) ids->n ? id - ids->first : -1;
	/* Most ids that a chunk is asked for are those of other chunks. */
	if (ids->n == 0 || id > ids->id[ids->n - 1])
		return -1;
	const int64 *at = bsearch_arg(&id, ids->id, ids->n, sizeof(int64), gp_compare_int64, NULL);
	return at ? at - ids->id : -1;
}

void
gnngp_value_check_size(double bytes, const char *what)
{
	if (bytes > (double) GNNGP_VALUE_LIMIT)
		gnngp_raise(PROGRAM_LIMIT_EXCEEDED,
					"For graphs of this size use gp_create_graph and gp_fit, which keep them in tables.",
					"the %s would take %.1f MB, but a value may take %.1f MB", what,
					bytes / (1 << 20), (double) GNNGP_VALUE_LIMIT / (1 << 20));
}

void
gnngp_value_hold(gnngp_holding *held, MemoryContext context, double kept, double more,
				 const char *what)
{
	double		needed = kept + more;

	gnngp_account_make_room((size_t) needed, gnngp_setting_memory_limit());
	double		allowed = (double) gnngp_account_left() + (double) held->bytes;
	if (needed > allowed)
		gnngp_raise(CONFIGURATION_LIMIT_EXCEEDED,
					"Raise it, or use gp_create_graph and gp_fit, which keep a graph in tables.",
					"collecting %s needs %.1f MB, but gnngp.memory_limit allows %.1f MB", what,
					needed / (1 << 20), allowed / (1 << 20));
	gnngp_account_hold(held, context, (size_t) kept);
}

void
gnngp_value_begin(StringInfo out, int flags)
{
	initStringInfo(out);
	out->len = VARHDRSZ;
	out->data[out->len++] = GNNGP_VALUE_VERSION;
	out->data[out->len++] = (char) flags;
}

void
gnngp_value_reserve(StringInfo out, uint64 bytes, const char *what)
{
	if (bytes < (uint64) (out->maxlen - out->len))
		return;
	gnngp_value_check_size((double) out->len + (double) bytes, what);
	if (bytes < (uint64) out->maxlen)
		enlargeStringInfo(out, (int) bytes);
	else						/* the bulk of a value, which is not to be doubled */
	{
		out->maxlen = (int) (out->len + bytes + 1);
		out->data = repalloc(out->data, out->maxlen);
	}
}

void
gnngp_value_put_ids(StringInfo out, const gnngp_value_ids *ids, const char *what)
{
	int64		first = gnngp_value_id(ids, 0);

	gnngp_value_reserve(out, 20, what);
	gnngp_value_put_number(out, ids->n);
	gnngp_value_put_number(out, (uint64) first << 1 ^ (uint64) (first >> 63));
	for (int64 i = 1; ids->id && i < ids->n; i++)
	{
		gnngp_poll(i);
		gnngp_value_reserve(out, 10, what);
		gnngp_value_put_number(out, (uint64) ids->id[i] - (uint64) ids->id[i - 1] - 1);
	}
}

Datum
gnngp_value_end(StringInfo out)
{
	SET_VARSIZE(out->data, out->len);
	return PointerGetDatum(out->data);
}

/*
 * ---- input and output, the same for all types of values ----
 *
 * The text form is base64: a value of 256 MB is a text of 342 MB, well under the 1 GB that
 * PostgreSQL allows.  Long loops are cut into pieces that a cancel can come between.
 */

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

Datum
gnngp_value_in(FunctionCallInfo fcinfo, const char *type, gnngp_value_check check)
{
	const char *text = PG_GETARG_CSTRING(0);
	size_t		length = strlen(text);

	gnngp_value_check_size(length / 4.0 * 3.0, type);
	struct varlena *value = palloc(VARHDRSZ + length / 4 * 3 + 8);
	char	   *out = VARDATA(value);
	for (size_t at = 0; at < length; at += PIECE_TEXT)
	{
		int			part = (int) Min(length - at, (size_t) PIECE_TEXT);
		int			n = pg_b64_decode(text + at, part, (void *) out, part / 4 * 3 + 4);

		CHECK_FOR_INTERRUPTS();
		if (n < 0 || (at + part < length && n != PIECE))
			gnngp_raise_detail(INVALID_TEXT_REPRESENTATION, "Its text is base64, as the type's output function writes it.", NULL,
							   "invalid input syntax for type %s", type);
		out += n;
	}
	SET_VARSIZE(value, out - (char *) value);
	return check_value(value, type, check, ERRCODE_INVALID_TEXT_REPRESENTATION);
}

Datum
gnngp_value_recv(FunctionCallInfo fcinfo, const char *type, gnngp_value_check check)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			length = buf->len - buf->cursor;

	gnngp_value_check_size(length, type);
	struct varlena *value = palloc(VARHDRSZ + length);
	SET_VARSIZE(value, VARHDRSZ + length);
	pq_copymsgbytes(buf, VARDATA(value), length);
	return check_value(value, type, check, ERRCODE_INVALID_BINARY_REPRESENTATION);
}

/* Output as text. */
GNNGP_FUNCTION(gnngp_value_out)
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

/*
 * cells.c - columns of any type as cells, which an encoder makes numbers of.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "common/sha2.h"
#include "reader_internal.h"

/* How a column of numbers, or of lists of them, is read. */
static bool
numbers_of(Oid base, gnngp_cell_type *type)
{
	bool		list = gnngp_is_vector_type(base) && !gnngp_is_number_type(base);
	bool		wide = list && OidIsValid(get_element_type(base));

	if (gnngp_is_integer_type(base))
		*type = (gnngp_cell_type) {GP_CELL_INTEGER, base, ""};
	else if (base == FLOAT4OID || base == FLOAT8OID || base == NUMERICOID)
		*type = (gnngp_cell_type) {GP_CELL_NUMBER, base, ""};
	else if (list)
		*type = (gnngp_cell_type) {GP_CELL_LIST, wide ? FLOAT8ARRAYOID : FLOAT4ARRAYOID,
			wide ? "::pg_catalog.float8[]" : "::pg_catalog.float4[]"};
	else
		*type = (gnngp_cell_type) {GP_CELL_NUMBER, FLOAT8OID, gnngp_number_cast(base)};
	return list || base == CASHOID || gnngp_is_number_type(base);
}

bool
gnngp_cell_type_of(Oid base, gnngp_cell_type *type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(base, &category, &preferred);
	if (gnngp_is_time_type(base))
		*type = (gnngp_cell_type) {GP_CELL_TIME, TIMESTAMPTZOID, "::pg_catalog.timestamptz"};
	else if (category == TYPCATEGORY_BOOLEAN || base == UUIDOID || category == TYPCATEGORY_STRING ||
			 category == TYPCATEGORY_ENUM || category == TYPCATEGORY_NETWORK)
		*type = (gnngp_cell_type) {GP_CELL_WORD, TEXTOID, "::pg_catalog.text"};
	else
		return numbers_of(base, type);
	return true;
}

bool
gnngp_is_feature_type(Oid base)
{
	gnngp_cell_type type;

	return gnngp_cell_type_of(base, &type) && type.kind != GP_CELL_LIST;
}

gp_time
gnngp_time_of(Datum value, bool null)
{
	TimestampTz at = null ? DT_NOEND : DatumGetTimestampTz(value);

	return TIMESTAMP_IS_NOEND(at) ? GP_TIME_NEVER : TIMESTAMP_IS_NOBEGIN(at) ? GP_TIME_ALWAYS :
		(gp_time) at;
}

/* The first 64 bits of a text's digest. */
static uint64
digest(const char *text, int length)
{
	pg_cryptohash_ctx *sha = pg_cryptohash_create(PG_SHA256);
	uint8		result[PG_SHA256_DIGEST_LENGTH];
	uint64		hash;

	if (sha == NULL || pg_cryptohash_init(sha) < 0 ||
		pg_cryptohash_update(sha, (const uint8 *) text, length) < 0 ||
		pg_cryptohash_final(sha, result, sizeof(result)) < 0)
		elog(ERROR, "could not compute a digest: %s", pg_cryptohash_error(sha));
	pg_cryptohash_free(sha);
	memcpy(&hash, result, sizeof(hash));
	return hash;
}

uint64
gnngp_word_hash(const char *text, int length)
{
	/* A digest takes twenty times as long as a look at the words that came before. */
	static struct
	{
		uint64		hash;
		int			length;
		char		text[52];
	}			known[1024];
	int			place = hash_bytes((const unsigned char *) text, length) % lengthof(known);

	if (length == 0 || length > (int) sizeof(known->text))
		return digest(text, length);
	if (known[place].length != length || memcmp(known[place].text, text, length) != 0)
	{
		known[place].hash = digest(text, length);
		known[place].length = length;
		memcpy(known[place].text, text, length);
	}
	return known[place].hash;
}

/* The numbers of an array as doubles. */
static void
read_list(Datum value, bool wide, gp_cell *cell)
{
	Datum	   *element;
	bool	   *null;

	cell->length = gnngp_array_elements(DatumGetArrayTypeP(value), &element, &null);
	double	   *number = palloc(sizeof(double) * Max(cell->length, 1));
	for (int i = 0; i < cell->length; i++)
		number[i] = null[i] ? NAN : wide ? DatumGetFloat8(element[i]) :
			(double) DatumGetFloat4(element[i]);
	cell->list = number;
}

void
gnngp_read_cell(const gnngp_cell_type *type, Datum value, bool null, gp_cell *cell)
{
	*cell = (gp_cell) {.null = null};
	if (null)
		return;
	switch (type->kind)
	{
		case GP_CELL_NUMBER:
			cell->number = type->read_as == FLOAT4OID ? (double) DatumGetFloat4(value) :
				gnngp_number_datum(value, type->read_as);
			cell->null = !isfinite(cell->number);
			break;
		case GP_CELL_INTEGER:
			cell->number = (double) gnngp_integer_datum(value, type->read_as);
			break;
		case GP_CELL_TIME:
			cell->time = gnngp_time_of(value, false);
			cell->null = cell->time == GP_TIME_NEVER || cell->time == GP_TIME_ALWAYS;
			break;
		case GP_CELL_WORD:
		case GP_CELL_KEY:
		case GP_CELL_LISTED_KEY:
		case GP_CELL_CATEGORY_KEY:
			cell->word = gnngp_word_hash(VARDATA_ANY(DatumGetTextPP(value)),
										 VARSIZE_ANY_EXHDR(DatumGetTextPP(value)));
			break;
		case GP_CELL_LIST:
			read_list(value, type->read_as == FLOAT8ARRAYOID, cell);
			break;
	}
}

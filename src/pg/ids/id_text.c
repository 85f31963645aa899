/*
 * id_text.c - ids of nodes as texts.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "ids.h"
#include "utils/uuid.h"

const char *
gnngp_id_name(const gnngp_id *id)
{
	return id->text ? pnstrdup(id->text, id->length) : psprintf(INT64_FORMAT, id->key);
}

char *
gnngp_type_name(Oid type)
{
	return format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY | FORMAT_TYPE_TYPEMOD_GIVEN);
}

/* One value for all that are equal: 1.0 is 1 and -0 is 0, though their texts differ. */
static Datum
same_when_equal(Datum value, Oid base)
{
	switch (base)
	{
		case NUMERICOID:
			return DirectFunctionCall1(numeric_trim_scale, value);
		case FLOAT8OID:
			return Float8GetDatum(DatumGetFloat8(value) + 0.0);
		case FLOAT4OID:
			return Float4GetDatum(DatumGetFloat4(value) + 0.0f);
	}
	return value;
}

/* The text of a uuid, as its output function writes it but several times as fast. */
static const char *
uuid_text(Datum value, int *length)
{
	static const char digits[] = "0123456789abcdef";
	const pg_uuid_t *uuid = DatumGetUUIDP(value);
	char	   *text = palloc(2 * UUID_LEN + 4);
	char	   *p = text;

	for (int i = 0; i < UUID_LEN; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = digits[uuid->data[i] >> 4];
		*p++ = digits[uuid->data[i] & 15];
	}
	*length = p - text;
	return text;
}

const char *
gnngp_value_text(Datum value, Oid base, FmgrInfo *output, int *length)
{
	Oid			function;
	bool		is_varlena;
	char	   *text;

	if (gnngp_is_string_type(base))
	{
		struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

		*length = VARSIZE_ANY_EXHDR(v);
		if (base == BPCHAROID)
			*length = bpchartruelen(VARDATA_ANY(v), *length);
		return VARDATA_ANY(v);
	}
	if (base == UUIDOID)
		return uuid_text(value, length);
	if (output)
		text = OutputFunctionCall(output, same_when_equal(value, base));
	else
	{
		getTypeOutputInfo(base, &function, &is_varlena);
		text = OidOutputFunctionCall(function, same_when_equal(value, base));
	}
	*length = strlen(text);
	return text;
}

int64
gnngp_text_key(const char *text, int length)
{
	return (int64) hash_bytes_extended((const unsigned char *) text, length, 0);
}

gnngp_id
gnngp_datum_id(Datum value, Oid base, FmgrInfo *output)
{
	gnngp_id	id = {0};

	if (gnngp_is_integer_type(base))
		id.key = gnngp_integer_datum(value, base);
	else
	{
		id.text = gnngp_value_text(value, base, output, &id.length);
		id.key = gnngp_text_key(id.text, id.length);
	}
	return id;
}

int
gnngp_id_compare(const void *first, const void *second, void *unused)
{
	const gnngp_id *a = first;
	const gnngp_id *b = second;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->text == NULL)
		return 0;
	int			order = memcmp(a->text, b->text, Min(a->length, b->length));
	return order != 0 ? order : a->length - b->length;
}

char *
gnngp_copy_text(gp_env *env, const char *text, int length)
{
	char	   *copy = gp_alloc(env, (size_t) length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char **
gnngp_array_texts(ArrayType *array, int *n)
{
	Oid			base = getBaseType(ARR_ELEMTYPE(array));
	Datum	   *value;
	bool	   *null;

	*n = gnngp_array_elements(array, &value, &null);
	char	  **text = palloc0(sizeof(char *) * Max(*n, 1));
	for (int k = 0; k < *n; k++)
	{
		int			length;
		const char *v = null[k] ? NULL : base == BOOLOID ? NULL :
			gnngp_value_text(value[k], base, NULL, &length);

		if (v)
			text[k] = pnstrdup(v, length);
		else if (!null[k])
			text[k] = pstrdup(DatumGetBool(value[k]) ? "true" : "false");
	}
	return text;
}

char *
gnngp_id_text(const gnngp_ids *ids, int64 node)
{
	if (ids->integer)
		return psprintf(INT64_FORMAT, ids->key[node]);
	return pstrdup(ids->text[node]);
}

/*
 * ids.h - ids of nodes, of any type.
 *
 * An id is stored as its key, by which nodes are ordered: the id itself where it is an integer,
 * else a hash of its text; ids of one key are in the order of their texts.  The map from ids to
 * nodes is in idmap.h, ids as callers give them in given_ids.h.
 */
#ifndef GNNGP_IDS_H
#define GNNGP_IDS_H

#include "pg/catalog/column_types.h"

/* An id. */
typedef struct gnngp_id
{
	int64		key;
	const char *text;			/* NULL for an integer; not 0-terminated */
	int			length;
	bool		null;			/* there is none */
} gnngp_id;

/* The ids of all nodes, in node order. */
typedef struct gnngp_ids
{
	int64		n;
	bool		integer;
	int64	   *key;			/* ascending */
	char	  **text;			/* ids as text, NULL for integer ids */
	char	   *type_name;		/* gnngp_type_name of the id column; NULL where they were stored */
} gnngp_ids;

static inline gnngp_id
gnngp_ids_at(const gnngp_ids *ids, int64 node)
{
	const char *text = ids->text ? ids->text[node] : NULL;

	return (gnngp_id) {ids->key[node], text, text ? (int) strlen(text) : 0, false};
}

/* Compares two ids by the order of nodes; a gp_compare. */
extern int	gnngp_id_compare(const void *first, const void *second, void *unused);

/* The node of an id, or -1 (idmap.c). */
extern int32 gnngp_ids_find(const gnngp_ids *ids, const gnngp_id *id);

/* An id for messages, in the current context. */
extern const char *gnngp_id_name(const gnngp_id *id);

/* The qualified name of a type, with which a cast does not cut values of char(n) or bit(n). */
extern char *gnngp_type_name(Oid type);

/* The key of an id that is not an integer: a hash of its text. */
extern int64 gnngp_text_key(const char *text, int length);

/*
 * The text of a value whose type (no domain) is not an integer, in the current
 * context and not 0-terminated: what the type's output function gives, without
 * the padding of char(n), and the same for values that are equal.  output is that
 * function where it is at hand, or NULL.
 */
extern const char *gnngp_value_text(Datum value, Oid base, FmgrInfo *output, int *length);

/* An integer datum of one of the three types, widened. */
static inline int64
gnngp_integer_datum(Datum value, Oid base)
{
	if (base == INT4OID)
		return DatumGetInt32(value);
	if (base == INT8OID)
		return DatumGetInt64(value);
	return DatumGetInt16(value);
}

/* An id that a datum of a type (no domain) is; its text is in the current context, or the
 * datum's. */
extern gnngp_id gnngp_datum_id(Datum value, Oid base, FmgrInfo *output);

/* A copy of a text in the environment, 0-terminated. */
extern char *gnngp_copy_text(gp_env *env, const char *text, int length);

/* The elements of an array as texts, as their cast to text gives them; NULL for NULL. */
extern char **gnngp_array_texts(ArrayType *array, int *n);

/* The id of a node for messages, palloc'd. */
extern char *gnngp_id_text(const gnngp_ids *ids, int64 node);

/* True for the type gp_integers, an array of bigint, which integers of all sizes become. */
extern bool gnngp_is_integers(Oid type);

#endif							/* GNNGP_IDS_H */

/*
 * role_type.c - the SQL type gp_role: who owns a graph or model, or may read one.
 *
 * A value holds the role's oid, which a rename does not change and a new role of
 * the same name does not have, and the name at the time of storing, which tells
 * who it was once the role is gone.  The text of a value is the name of today;
 * that of a role which is gone begins with "pg_", as no role's name may.
 */
#include "postgres.h"

#include "catalog_internal.h"
#include "libpq/pqformat.h"

#define GONE "pg_gone:"
#define GONE_LENGTH (sizeof(GONE) - 1)
#define EVERYBODY "public"

/* A value of gp_role; an oid of 0 is public's, and that of names without a role. */
typedef struct role_value
{
	int32		varlena_header;
	Oid			oid;
	char		name[FLEXIBLE_ARRAY_MEMBER];	/* without a zero at its end */
} role_value;

static role_value *
make_value(Oid oid, const char *name)
{
	size_t		length = strlen(name);
	role_value *value = palloc(offsetof(role_value, name) + length);

	SET_VARSIZE(value, offsetof(role_value, name) + length);
	value->oid = oid;
	memcpy(value->name, name, length);
	return value;
}

static char *
stored_name(const role_value *value)
{
	return pnstrdup(value->name, VARSIZE(value) - offsetof(role_value, name));
}

/* True for everybody, who is no role. */
static bool
is_public(const role_value *value)
{
	return !OidIsValid(value->oid) && strcmp(stored_name(value), EVERYBODY) == 0;
}

static char *
value_text(const role_value *value)
{
	char	   *current = OidIsValid(value->oid) ? GetUserNameFromId(value->oid, true) : NULL;

	if (current != NULL)
		return current;
	return psprintf("%s%s", is_public(value) ? "" : GONE, stored_name(value));
}

/* The value of a role that is gone: 22P02 for the name of everybody. */
static role_value *
make_gone(const char *name)
{
	if (strcmp(name, EVERYBODY) == 0)
		gnngp_raise_detail(INVALID_TEXT_REPRESENTATION, psprintf("No role is ever named \"%s\".", name), NULL,
						   "invalid role: \"%s%s\"", GONE, name);
	/* Nothing else would say so during a restore. */
	ereport(WARNING,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("the role \"%s\" that owns a graph or model, or may read one, is missing", name),
			 errdetail("Its graphs and models are visible to superusers only. A role of this name that is created later does not get them."),
			 errhint("Give its graphs and their models to another role with gp_set_owner.")));
	return make_value(InvalidOid, name);
}

bool
gnngp_role_is_gone(const char *text)
{
	return strncmp(text, GONE, GONE_LENGTH) == 0;
}

static role_value *
read_value(const char *text)
{
	bool		gone = gnngp_role_is_gone(text);
	const char *name = gone ? text + GONE_LENGTH : text;

	if (strlen(name) >= NAMEDATALEN)
		gnngp_raise_detail(NAME_TOO_LONG, psprintf("\"%s\" has %zu bytes.", name, strlen(name)), NULL,
						   "the name of a role must not be longer than %d bytes", NAMEDATALEN - 1);
	if (gone)
		return make_gone(name);
	if (strcmp(name, EVERYBODY) == 0)
		return make_value(InvalidOid, name);
	Oid			oid = get_role_oid(name, true);
	return OidIsValid(oid) ? make_value(oid, name) : make_gone(name);
}

GNNGP_FUNCTION(gnngp_role_in)
{
	PG_RETURN_POINTER(read_value(PG_GETARG_CSTRING(0)));
}

GNNGP_FUNCTION(gnngp_role_out)
{
	PG_RETURN_CSTRING(value_text((role_value *) PG_DETOAST_DATUM(PG_GETARG_DATUM(0))));
}

GNNGP_FUNCTION(gnngp_role_recv)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			nbytes;

	PG_RETURN_POINTER(read_value(pq_getmsgtext(buf, buf->len - buf->cursor, &nbytes)));
}

GNNGP_FUNCTION(gnngp_role_send)
{
	char	   *text = value_text((role_value *) PG_DETOAST_DATUM(PG_GETARG_DATUM(0)));
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendtext(&buf, text, strlen(text));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* gp_role_oid(role): NULL for a name without a role, of which a unique index takes several. */
GNNGP_FUNCTION(gnngp_role_oid)
{
	role_value *value = (role_value *) PG_DETOAST_DATUM(PG_GETARG_DATUM(0));

	if (!OidIsValid(value->oid) && !is_public(value))
		PG_RETURN_NULL();
	PG_RETURN_OID(value->oid);
}

bool
gnngp_role_is_alive(Oid role)
{
	return OidIsValid(role) && SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role));
}

gnngp_param
gnngp_role_param(Oid role)
{
	const char *name = OidIsValid(role) ? GetUserNameFromId(role, false) : EVERYBODY;

	return (gnngp_param) {gnngp_type("gp_role"), PointerGetDatum(make_value(role, name)), false};
}

Oid
gnngp_role_read(Datum value)
{
	return ((role_value *) PG_DETOAST_DATUM(value))->oid;
}

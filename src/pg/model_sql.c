/*
 * model_sql.c - dropping models, and letting others read them.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "catalog_int.h"
#include "executor/spi.h"
#include "utils/acl.h"
#include "utils/builtins.h"

/* A model that the caller may change. */
static gnngp_model *
own_model(const char *name)
{
	gnngp_model *model = gnngp_model_lookup(name, false);

	gnngp_require_owner(model->owner, "model", model->name);
	return model;
}

PG_FUNCTION_INFO_V1(gnngp_drop_model);

/* gp_drop_model(model) */
Datum
gnngp_drop_model(PG_FUNCTION_ARGS)
{
	char	   *name = gnngp_name_argument(fcinfo, 0, "model");
	gnngp_model *model;

	gnngp_prevent_read_only("gp_drop_model");
	model = own_model(name);
	gnngp_model_lock(model->owner, model->name);
	gnngp_spi_connect();
	gnngp_delete_models("id", model->id);
	gnngp_spi_finish();
	PG_RETURN_VOID();
}

/* The grantee among the arguments; 22004 when it is NULL. */
static Name
grantee_argument(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("grantee must not be NULL")));
	return PG_GETARG_NAME(1);
}

/* 42704 unless there is such a role; public means everybody. */
static void
require_role(const char *role)
{
	if (strcmp(role, "public") == 0 || OidIsValid(get_role_oid(role, true)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("role \"%s\" does not exist", role),
			 errhint("Name a role of this server, or public.")));
}

/* Runs a statement on one grant; returns the rows that it changed. */
static uint64
change_grant(const char *query, const gnngp_model *model, Name grantee)
{
	Oid			types[] = {INT8OID, NAMEOID, TEXTOID};
	Datum		values[] = {Int64GetDatum(model->id), NameGetDatum(grantee),
	CStringGetTextDatum(model->owner)};
	uint64		rows;

	gnngp_spi_connect();
	(void) gnngp_execute_as_extension(query, 3, types, values, NULL);
	rows = SPI_processed;
	gnngp_spi_finish();
	return rows;
}

PG_FUNCTION_INFO_V1(gnngp_grant);

/* gp_grant(model, grantee) */
Datum
gnngp_grant(PG_FUNCTION_ARGS)
{
	char	   *name = gnngp_name_argument(fcinfo, 0, "model");
	Name		grantee = grantee_argument(fcinfo);

	gnngp_prevent_read_only("gp_grant");
	require_role(NameStr(*grantee));
	(void) change_grant(psprintf("INSERT INTO %s.gp_grant_catalog (model, grantee, owner)"
								 " VALUES ($1, $2, $3::name) ON CONFLICT DO NOTHING",
								 gnngp_schema()), own_model(name), grantee);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(gnngp_revoke);

/* gp_revoke(model, grantee); a grantee that was dropped may still be named. */
Datum
gnngp_revoke(PG_FUNCTION_ARGS)
{
	char	   *name = gnngp_name_argument(fcinfo, 0, "model");
	Name		grantee = grantee_argument(fcinfo);
	uint64		rows;

	gnngp_prevent_read_only("gp_revoke");
	rows = change_grant(psprintf("DELETE FROM %s.gp_grant_catalog"
								 " WHERE model = $1 AND grantee = $2 AND owner = $3",
								 gnngp_schema()), own_model(name), grantee);
	if (rows == 0)
		require_role(NameStr(*grantee));
	PG_RETURN_VOID();
}

/*
 * model_sql.c - dropping models, and letting others read them.
 */
#include "postgres.h"

#include "pg/catalog/catalog_internal.h"

/* A model that the caller may change. */
static gnngp_model *
own_model(const char *name)
{
	gnngp_model *model = gnngp_model_lookup(name, false);

	gnngp_require_owner(model->owner_role, "model", model->name);
	return model;
}

/* gp_drop_model(model) */
PG_FUNCTION_INFO_V1(gnngp_drop_model);
Datum
gnngp_drop_model(PG_FUNCTION_ARGS)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "model");
	gnngp_model *model;

	gnngp_prevent_read_only("gp_drop_model");
	model = own_model(name);
	gnngp_model_lock(model->owner_role, model->name);
	gnngp_spi_connect();
	gnngp_lock_row(&gnngp_model_kind, model->id, model->owner_role, "FOR UPDATE", model->name);
	gnngp_delete_models("id", model->id);
	gnngp_spi_finish();
	PG_RETURN_VOID();
}

/* The name of a grantee: public in any case, as in GRANT, unless there is a role of that name. */
static const char *
grantee_argument(FunctionCallInfo fcinfo)
{
	const char *name = NameStr(*PG_GETARG_NAME(1));

	return pg_strcasecmp(name, "public") != 0 || OidIsValid(get_role_oid(name, true)) ? name : "public";
}

/* The role that a grant is for: 0 for public, 42704 for a role that does not exist. */
static Oid
grantee_role(const char *name)
{
	Oid			role = get_role_oid(name, true);

	if (!OidIsValid(role) && strcmp(name, "public") != 0)
		gnngp_raise(UNDEFINED_OBJECT, "Name a role of this server, or public.",
					"role \"%s\" does not exist", name);
	return role;
}

/* What gp_grant and gp_revoke begin with: a model that is locked, inside SPI; the grantee. */
static const gnngp_model *
open_grant(FunctionCallInfo fcinfo, const char *command, const char **grantee)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "model");
	const gnngp_model *model;

	gnngp_require_argument(fcinfo, 1, "grantee");
	gnngp_prevent_read_only(command);
	*grantee = grantee_argument(fcinfo);
	model = own_model(name);
	gnngp_spi_connect();
	gnngp_lock_row(&gnngp_model_kind, model->id, model->owner_role, "FOR KEY SHARE", model->name);
	return model;
}

/* gp_grant(model, grantee) */
PG_FUNCTION_INFO_V1(gnngp_grant);
Datum
gnngp_grant(PG_FUNCTION_ARGS)
{
	const char *grantee;
	const gnngp_model *model = open_grant(fcinfo, "gp_grant", &grantee);

	/* Inserts a grant, unless there is one; the model can't be dropped meanwhile */
	gnngp_execute(GNNGP_LATEST,
				  "INSERT INTO gnngp_internal.gp_grant_catalog (model, grantee, owner)"
				  " SELECT id, $2, owner FROM gnngp_internal.gp_model_catalog WHERE id = $1"
				  " ON CONFLICT (model, gnngp_internal.gp_role_oid(grantee))"
				  " DO UPDATE SET revoked = false",
				  gnngp_param_int8(model->id), gnngp_role_param(grantee_role(grantee)));
	gnngp_spi_finish();
	PG_RETURN_VOID();
}

/*
 * gp_revoke(model, grantee); a grantee that was dropped may still be named.  The grant to a role
 * that there is stays as revoked, for names that it looks up (names.c).
 */
PG_FUNCTION_INFO_V1(gnngp_revoke);
Datum
gnngp_revoke(PG_FUNCTION_ARGS)
{
	const char *grantee;
	const gnngp_model *model = open_grant(fcinfo, "gp_revoke", &grantee);
	uint64		rows;

	gnngp_execute(GNNGP_LATEST, "UPDATE gnngp_internal.gp_grant_catalog SET revoked = true"
				  " WHERE model = $1 AND grantee::text = $2 AND $2 <> 'public'",
				  gnngp_param_int8(model->id), gnngp_param_text(grantee));
	rows = SPI_processed;
	gnngp_execute(GNNGP_LATEST, "DELETE FROM gnngp_internal.gp_grant_catalog WHERE model = $1"
				  " AND (grantee::text = 'pg_gone:' || $2"
				  " OR grantee::text = 'public' AND $2 = 'public')",
				  gnngp_param_int8(model->id), gnngp_param_text(grantee));
	rows += SPI_processed;
	gnngp_spi_finish();
	if (rows == 0)
		(void) grantee_role(grantee);
	PG_RETURN_VOID();
}

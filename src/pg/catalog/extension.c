/*
 * extension.c - where the extension's tables are, and how they are read and written.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_extension.h"
#include "extension.h"
#include "pg/server/compat.h"
#include "utils/fmgroids.h"

/* 42704: there is no extension, or no longer. */
pg_noreturn static void
report_missing(void)
{
	gnngp_raise(UNDEFINED_OBJECT, "Run CREATE EXTENSION gnngp.",
				"extension \"gnngp\" is not installed in this database");
}

/* The schema where the extension is installed, and its version, unless that is NULL. */
static Oid
find_extension(char **version)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	Oid			schema = InvalidOid;
	Datum		value;
	bool		null;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("gnngp"));
	SysScanDesc scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	HeapTuple	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
		value = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(rel), &null);
		if (version)
			*version = null ? "" : TextDatumGetCString(value);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	if (!OidIsValid(schema))
		report_missing();
	return schema;
}

Oid
gnngp_type(const char *name)
{
	Oid			schemas[] = {get_namespace_oid(GNNGP_SCHEMA, true), find_extension(NULL)};
	Oid			type = InvalidOid;

	for (size_t i = 0; i < lengthof(schemas) && !OidIsValid(type); i++)
		type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
							   ObjectIdGetDatum(schemas[i]));
	if (!OidIsValid(type))
		elog(ERROR, "type %s of extension gnngp is missing", name);
	return type;
}

const char *
gnngp_public_schema(void)
{
	const char *name = get_namespace_name(find_extension(NULL));

	if (name == NULL)
		report_missing();
	return quote_identifier(name);
}

gnngp_identity
gnngp_become_extension(void)
{
	gnngp_identity saved;

	(void) find_extension(NULL);
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(
										get_relname_relid("gp_model_catalog",
														  get_namespace_oid(GNNGP_SCHEMA, false))));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "table %s of extension gnngp is missing", "gp_model_catalog");
	GetUserIdAndSecContext(&saved.user, &saved.context);
	SetUserIdAndSecContext(((Form_pg_class) GETSTRUCT(tuple))->relowner,
						   saved.context | SECURITY_LOCAL_USERID_CHANGE);
	saved.level = NewGUCNestLevel();
	ReleaseSysCache(tuple);
	return saved;
}

void
gnngp_execute_with(gnngp_use use, const char *query, int n, const gnngp_param *param)
{
	Oid		   *types = palloc(sizeof(Oid) * n);
	Datum	   *values = palloc(sizeof(Datum) * n);
	char	   *nulls = palloc(n);
	gnngp_identity saved;
	int			rc;

	for (int i = 0; i < n; i++)
	{
		types[i] = param[i].type;
		values[i] = param[i].value;
		nulls[i] = param[i].null ? 'n' : ' ';
	}
	if (use == GNNGP_SELECT)
	{
		GetUserIdAndSecContext(&saved.user, &saved.context);
		saved.level = NewGUCNestLevel();
		(void) find_extension(NULL);
		gnngp_pin("row_security", "on");
	}
	else
		saved = gnngp_become_extension();
	gnngp_pin("search_path", "pg_catalog, pg_temp");
	/* A statement of SPI's own would take the transaction's snapshot, for itself or for parallel
	 * workers, which plans of SPI_prepare never have. */
	SPIPlanPtr	plan = SPI_prepare(query, n, types);
	if (plan == NULL)
		rc = SPI_result;
	else
	{
		rc = use == GNNGP_LATEST ?
			SPI_execute_snapshot(plan, values, nulls, GetLatestSnapshot(), InvalidSnapshot, false,
								 true, 0) :
			SPI_execute_plan(plan, values, nulls, use != GNNGP_WRITE, 0);
		SPI_freeplan(plan);
	}
	gnngp_become_again(&saved);
	if (rc < 0)
		elog(ERROR, "catalog statement returned %s", SPI_result_code_string(rc));
}

void
gnngp_prevent_read_only(const char *command)
{
	char	   *version;

	PreventCommandIfReadOnly(command);
	PreventCommandDuringRecovery(command);
	PreventCommandIfParallelMode(command);
	(void) find_extension(&version);
	if (strcmp(version, GNNGP_VERSION) != 0)
		gnngp_raise_detail(OBJECT_NOT_IN_PREREQUISITE_STATE, "Stored models can be read; nothing is written.",
						   "As a superuser, run ALTER EXTENSION gnngp UPDATE, and start a new session.",
						   "extension \"gnngp\" has version %s in this database, but the library has version %s", version, GNNGP_VERSION);
}

/*
 * store_blocks.c - writing and reading blocks of the table gp_block.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "nodes/params.h"
#include "port/pg_crc32c.h"
#include "store.h"
#include "store_blocks.h"
#include "utils/builtins.h"
#include "utils/guc.h"

void
gnngp_store_corrupted(const gnngp_model *model, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the stored model \"%s\" is damaged: %s", model->name, what),
			 errhint("Fit the model again with gp_refresh.")));
}

/* The checksum of a block, its own field taken as zero. */
static uint32
block_checksum(const char *data, size_t length)
{
	static const char zero[4] = {0};
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, data, AT_CHECKSUM);
	COMP_CRC32C(crc, zero, sizeof(zero));
	COMP_CRC32C(crc, data + AT_CONTENT, length - AT_CONTENT);
	FIN_CRC32C(crc);
	return crc;
}

void
gnngp_store_check_block(const gnngp_model *model, uint32 magic, uint32 format, size_t header,
						const char *data, size_t length)
{
	if (length < header || gnngp_get32(data + AT_MAGIC) != magic)
		gnngp_store_corrupted(model, "a block has no header");
	if (gnngp_get32(data + AT_FORMAT) != format)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the stored model \"%s\" has format %u, this version of gnngp reads format %u",
						model->name, gnngp_get32(data + AT_FORMAT), format),
				 errhint("Fit the model again with gp_refresh.")));
	if (gnngp_get64(data + AT_LENGTH) != length)
		gnngp_store_corrupted(model, "a block has the wrong length");
	if (gnngp_get32(data + AT_CHECKSUM) != block_checksum(data, length))
		gnngp_store_corrupted(model, "a block has the wrong checksum");
}

void
gnngp_store_insert(gnngp_block_place place, uint32 magic, uint32 format, char *buffer,
				   size_t length, int32 nrows)
{
	char	   *data = VARDATA(buffer);
	Oid			types[] = {INT8OID, INT8OID, TEXTOID, INT4OID, INT8OID, INT4OID, BYTEAOID};
	Datum		values[] = {Int64GetDatum(place.model), Int64GetDatum(place.version),
		CStringGetTextDatum(place.part), Int32GetDatum(place.block),
		place.first_key ? Int64GetDatum(*place.first_key) : (Datum) 0, Int32GetDatum(nrows),
	PointerGetDatum(buffer)};
	char		nulls[] = {' ', ' ', ' ', ' ', place.first_key ? ' ' : 'n', ' ', ' '};

	gnngp_put32(data + AT_MAGIC, magic);
	gnngp_put32(data + AT_FORMAT, format);
	gnngp_put64(data + AT_LENGTH, length);
	gnngp_put32(data + AT_CHECKSUM, block_checksum(data, length));
	SET_VARSIZE(buffer, VARHDRSZ + length);
	gnngp_execute_as_extension(psprintf("INSERT INTO %s.gp_block"
										" (model, version, part, block, first_key, nrows, data)"
										" VALUES ($1, $2, $3, $4, $5, $6, $7)", gnngp_schema()),
							   lengthof(types), types, values, nulls);
}

/* Runs a query for blocks; its parameters are model, version and key. */
static void
run_query(const char *query, int64 model_id, int64 version, int64 key, DestReceiver *receiver)
{
	SPIExecuteOptions options = {.read_only = true,.dest = receiver};
	int			guc_level = NewGUCNestLevel();
	int64		values[] = {model_id, version, key};

	options.params = makeParamList(lengthof(values));
	for (int i = 0; i < (int) lengthof(values); i++)
		options.params->params[i] = (ParamExternData) {
			.value = Int64GetDatum(values[i]),.pflags = PARAM_FLAG_CONST,.ptype = INT8OID
		};
	gnngp_pin("row_security", "on");
	if (SPI_execute_extended(query, &options) != SPI_OK_SELECT)
		elog(ERROR, "reading blocks failed");
	AtEOXact_GUC(false, guc_level);
}

/* The part of every query that names the model's blocks. */
static const char *
from_blocks(const char *part, const char *columns, const char *alias)
{
	return psprintf("SELECT %s FROM %s.gp_block %s"
					" WHERE %s.model OPERATOR(pg_catalog.=) $1"
					" AND %s.version OPERATOR(pg_catalog.=) $2"
					" AND %s.part OPERATOR(pg_catalog.=) '%s'::pg_catalog.text",
					columns, gnngp_schema(), alias, alias, alias, alias, part);
}

void
gnngp_store_receive(int64 model_id, int64 version, const char *part, DestReceiver *receiver)
{
	run_query(psprintf("%s ORDER BY k.block", from_blocks(part, "k.data", "k")),
			  model_id, version, 0, receiver);
}

void
gnngp_store_receive_first(int64 model_id, int64 version, const char *part, DestReceiver *receiver)
{
	run_query(psprintf("%s AND k.block OPERATOR(pg_catalog.=) 0", from_blocks(part, "k.data", "k")),
			  model_id, version, 0, receiver);
}

/*
 * A key may begin a block and end the one before it when ids are hashed texts, so all
 * blocks from the last one that begins with a smaller key are read.
 */
void
gnngp_store_receive_key(int64 model_id, int64 version, const char *part, int64 key,
						DestReceiver *receiver)
{
	run_query(psprintf("%s AND k.first_key OPERATOR(pg_catalog.<=) $3"
					   " AND k.block OPERATOR(pg_catalog.>=)"
					   " (%s AND b.first_key OPERATOR(pg_catalog.<) $3) ORDER BY k.block",
					   from_blocks(part, "k.data", "k"),
					   from_blocks(part, "coalesce(pg_catalog.max(b.block), 0)", "b")),
			  model_id, version, key, receiver);
}

void
gnngp_store_drop_versions(const gnngp_model *model)
{
	Oid			types[] = {INT8OID, INT8OID, INT8OID};
	Datum		values[] = {Int64GetDatum(model->id), Int64GetDatum(model->version),
	Int64GetDatum(model->link.version)};

	gnngp_spi_connect();
	gnngp_execute_as_extension(psprintf("DELETE FROM %s.gp_block WHERE model = $1"
										" AND version <> CASE WHEN part LIKE 'link%%' THEN $3 ELSE $2 END",
										gnngp_schema()),
							   3, types, values, NULL);
	gnngp_spi_finish();
}

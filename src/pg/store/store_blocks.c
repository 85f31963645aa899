/*
 * store_blocks.c - writing and reading blocks of the table gp_block.
 */
#include "postgres.h"

#include "store.h"
#include "store_blocks.h"

void
gnngp_store_corrupted(const gnngp_model *model, const char *what)
{
	gnngp_raise(DATA_CORRUPTED, "Fit the model again with gp_refresh.",
				"the stored model \"%s\" is damaged: %s", model->name, what);
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
		gnngp_raise(FEATURE_NOT_SUPPORTED, "Fit the model again with gp_refresh.",
					"the stored model \"%s\" has format %u, this version of gnngp reads format %u",
					model->name, gnngp_get32(data + AT_FORMAT), format);
	if (gnngp_get64(data + AT_LENGTH) != length)
		gnngp_store_corrupted(model, "a block has the wrong length");
	if (gnngp_get32(data + AT_CHECKSUM) != block_checksum(data, length))
		gnngp_store_corrupted(model, "a block has the wrong checksum");
}

void
gnngp_store_insert(gnngp_block_key key, uint32 magic, uint32 format, char *buffer,
				   size_t length, int32 nrows)
{
	char	   *data = VARDATA(buffer);

	gnngp_put32(data + AT_MAGIC, magic);
	gnngp_put32(data + AT_FORMAT, format);
	gnngp_put64(data + AT_LENGTH, length);
	gnngp_put32(data + AT_CHECKSUM, block_checksum(data, length));
	SET_VARSIZE(buffer, VARHDRSZ + length);
	gnngp_execute(GNNGP_WRITE, "INSERT INTO gnngp_internal.gp_block"
				  " (model, version, part, block, first_key, nrows, data)"
				  " VALUES ($1, $2, $3, $4, $5, $6, $7)",
				  gnngp_param_int8(key.model), gnngp_param_int8(key.version),
				  gnngp_param_text(key.section), gnngp_param_int8(key.block),
				  {INT8OID, key.first_key ? Int64GetDatum(*key.first_key) : 0, !key.first_key},
				  gnngp_param_int8(nrows), {BYTEAOID, PointerGetDatum(buffer), false});
}

/*
 * A key may begin a block and end the one before it when ids are hashed texts, so all
 * blocks from the last one that begins with a smaller key are read.
 */
void
gnngp_store_receive(const gnngp_model *model, int64 version, const char *section,
					gnngp_which_blocks which, int64 key, const gnngp_sink *rows)
{
	static const char *const condition[] = {
		[GNNGP_BLOCKS_ALL] = "",
		[GNNGP_BLOCKS_FIRST] = " AND k.block = 0",
		[GNNGP_BLOCKS_KEY] = " AND k.first_key <= $4 AND k.block >= (SELECT coalesce(max(b.block), 0)"
		" FROM gnngp_internal.gp_block b"
		" WHERE b.model = $1 AND b.version = $2 AND b.part = $3 AND b.first_key < $4)"
	};
	Oid			types[] = {INT8OID, INT8OID, TEXTOID, INT8OID};
	Datum		values[] = {Int64GetDatum(model->id), Int64GetDatum(version),
	CStringGetTextDatum(section), Int64GetDatum(key)};
	int			guc_level = NewGUCNestLevel();

	gnngp_pin("row_security", "on");
	gnngp_pin("search_path", "pg_catalog, pg_temp");
	gnngp_each_row(NULL, psprintf("SELECT k.data FROM gnngp_internal.gp_block k WHERE k.model = $1"
								  " AND k.version = $2 AND k.part = $3%s ORDER BY k.block",
								  condition[which]),
				   which == GNNGP_BLOCKS_KEY ? 4 : 3, types, values, rows);
	AtEOXact_GUC(false, guc_level);
}

void
gnngp_store_drop_versions(const gnngp_model *model)
{
	gnngp_spi_connect();
	gnngp_execute(GNNGP_WRITE, "DELETE FROM gnngp_internal.gp_block WHERE model = $1"
				  " AND version <> CASE WHEN part LIKE 'link%' THEN $3 ELSE $2 END",
				  gnngp_param_int8(model->id), gnngp_param_int8(model->version),
				  gnngp_param_int8(model->link.version));
	gnngp_spi_finish();
}

/*
 * store_figures.c - what is said of a whole fit: its figures, and the scores of its labels.
 *
 * One block: the mark, format, length and checksum as in every block, then the number
 * of figures uint32, the number of scores uint64, and all of them as doubles.  A figure
 * is known by its place: new ones come at the end.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "pg/catalog/catalog_int.h"
#include "store.h"
#include "store_format.h"

#define FIGURE_MAGIC 0x46504e42 /* BNPF */
#define FIGURE_FORMAT 1
#define AT_FIGURES 20			/* uint32 */
#define AT_SCORES 24			/* uint64 */
#define FIGURE_HEADER 32
#define MOST_SCORES (INT64CONST(1) << 20)	/* more are thinned out: quantiles to 1e-6 */

/* Writes the block. */
void
gnngp_figures_write(const gnngp_model *model, const gp_posterior *posterior)
{
	int64		n = Min(posterior->loo.n, MOST_SCORES);
	size_t		length = FIGURE_HEADER + (size_t) (GP_METRICS + n) * sizeof(double);
	char	   *buffer = palloc(VARHDRSZ + length);
	char	   *block = VARDATA(buffer);
	char	   *p = block + FIGURE_HEADER;

	gnngp_put32(block + AT_FIGURES, GP_METRICS);
	gnngp_put64(block + AT_SCORES, (uint64) n);
	for (int i = 0; i < GP_METRICS; i++, p += sizeof(double))
		gnngp_put_float8(p, posterior->metric[i]);
	for (int64 i = 0; i < n; i++, p += sizeof(double))
		gnngp_put_float8(p, posterior->loo.score[i * posterior->loo.n / n]);
	gnngp_store_insert((gnngp_block_place) {model->id, model->version, "figure", 0, NULL}, FIGURE_MAGIC,
					   FIGURE_FORMAT, buffer, length, 1);
	pfree(buffer);
}

/* Unpacks the block. */
static void
open_figures(const gnngp_model *model, const char *block, size_t length, gnngp_figures *figures)
{
	uint32		nmetrics;
	const char *p = block + FIGURE_HEADER;

	gnngp_store_check_block(model, FIGURE_MAGIC, FIGURE_FORMAT, FIGURE_FORMAT, FIGURE_HEADER, block, length);
	nmetrics = gnngp_get32(block + AT_FIGURES);
	figures->n = (int64) gnngp_get64(block + AT_SCORES);
	if (figures->n < 0 || figures->n > MOST_SCORES || nmetrics > 1000 ||
		length != FIGURE_HEADER + (nmetrics + (size_t) figures->n) * sizeof(double))
		gnngp_store_corrupted(model, "its figures have the wrong length");
	for (uint32 i = 0; i < GP_METRICS; i++)
		figures->metric[i] = i < nmetrics ? gnngp_get_float8(p + i * sizeof(double)) : NAN;
	p += nmetrics * sizeof(double);
	for (int64 i = 0; i < figures->n; i++)
		figures->score[i] = gnngp_get_float8(p + i * sizeof(double));
}

/* Reads it. */
bool
gnngp_figures_read(const gnngp_model *model, gnngp_figures *figures)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			types[] = {INT8OID, INT8OID};
	Datum		values[] = {Int64GetDatum(model->id), Int64GetDatum(model->version)};
	bool		found;

	gnngp_spi_connect();
	gnngp_select(psprintf("SELECT data FROM %s.gp_block"
						  " WHERE model = $1 AND version = $2 AND part = 'figure'", gnngp_schema()),
				 2, types, values, NULL);
	found = SPI_processed > 0;
	if (found)
	{
		bool		null;
		struct varlena *data = PG_DETOAST_DATUM(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
															  1, &null));
		size_t		length = VARSIZE(data) - VARHDRSZ;

		figures->score = MemoryContextAlloc(context, Max(length, sizeof(double)));
		open_figures(model, VARDATA(data), length, figures);
	}
	gnngp_spi_finish();
	return found;
}

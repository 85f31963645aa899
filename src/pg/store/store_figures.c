/*
 * store_figures.c - what is said of a whole fit: its figures, and the scores of its labels.
 *
 * One block for the part "figure", and one for "link_figure", which has no scores: the mark, format, length and checksum as in every block, then the number
 * of figures uint32, the number of scores uint64, and all of them as doubles.  A figure
 * is known by its place: new ones come at the end.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "pg/catalog/catalog_internal.h"
#include "store.h"
#include "store_format.h"
#include "store_links.h"
#include "utils/builtins.h"

#define FIGURE_MAGIC 0x46504e42 /* BNPF */
#define FIGURE_FORMAT 1
#define AT_FIGURES 20			/* uint32 */
#define AT_SCORES 24			/* uint64 */
#define FIGURE_HEADER 32
#define MOST_SCORES (INT64CONST(1) << 20)	/* more are thinned out: quantiles to 1e-6 */

/* Writes the block of a part: figures, and every n / nscores-th of n scores. */
static void
write_figures(gnngp_block_place place, const double *metric, uint32 nmetrics, const double *score, int64 n)
{
	int64		nscores = Min(n, MOST_SCORES);
	size_t		length = FIGURE_HEADER + (size_t) (nmetrics + nscores) * sizeof(double);
	char	   *buffer = palloc(VARHDRSZ + length);
	char	   *block = VARDATA(buffer);
	char	   *p = block + FIGURE_HEADER;

	gnngp_put32(block + AT_FIGURES, nmetrics);
	gnngp_put64(block + AT_SCORES, (uint64) nscores);
	for (uint32 i = 0; i < nmetrics; i++, p += sizeof(double))
		gnngp_put_float8(p, metric[i]);
	for (int64 i = 0; i < nscores; i++, p += sizeof(double))
		gnngp_put_float8(p, score[i * n / nscores]);
	gnngp_store_insert(place, FIGURE_MAGIC, FIGURE_FORMAT, buffer, length, 1);
	pfree(buffer);
}

/* Writes the figures of the node part. */
void
gnngp_figures_write(const gnngp_model *model, const gp_posterior *posterior)
{
	write_figures((gnngp_block_place) {model->id, model->version, "figure", 0, NULL}, posterior->metric,
				  GP_METRICS, posterior->loo.score, posterior->loo.n);
}

/* Writes those of the link part. */
void
gnngp_link_figures_write(const gnngp_model *model, const double *metric)
{
	gnngp_spi_connect();
	write_figures((gnngp_block_place) {model->id, model->link.version, "link_figure", 0, NULL}, metric,
				  GP_LINK_METRICS, NULL, 0);
	gnngp_spi_finish();
}

/* Unpacks a block: n figures, NaN where it has fewer; then its scores. */
static void
open_figures(const gnngp_model *model, const char *block, size_t length, double *metric, uint32 n,
			 gnngp_figures *figures)
{
	uint32		nmetrics;
	const char *p = block + FIGURE_HEADER;

	gnngp_store_check_block(model, FIGURE_MAGIC, FIGURE_FORMAT, FIGURE_HEADER, block, length);
	nmetrics = gnngp_get32(block + AT_FIGURES);
	figures->n = (int64) gnngp_get64(block + AT_SCORES);
	if (figures->n < 0 || figures->n > MOST_SCORES || nmetrics > 1000 ||
		length != FIGURE_HEADER + (nmetrics + (size_t) figures->n) * sizeof(double))
		gnngp_store_corrupted(model, "its figures have the wrong length");
	for (uint32 i = 0; i < n; i++)
		metric[i] = i < nmetrics ? gnngp_get_float8(p + i * sizeof(double)) : NAN;
	p += nmetrics * sizeof(double);
	for (int64 i = 0; i < figures->n; i++)
		figures->score[i] = gnngp_get_float8(p + i * sizeof(double));
}

/* Reads the block of a part; XX001 when it is missing. */
static void
read_figures(const gnngp_model *model, int64 version, const char *part, double *metric, uint32 n,
			 gnngp_figures *figures)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			types[] = {INT8OID, INT8OID, TEXTOID};
	Datum		values[] = {Int64GetDatum(model->id), Int64GetDatum(version), CStringGetTextDatum(part)};
	struct varlena *data;
	size_t		length;
	bool		null;

	gnngp_spi_connect();
	gnngp_select(psprintf("SELECT data FROM %s.gp_block"
						  " WHERE model = $1 AND version = $2 AND part = $3", gnngp_schema()),
				 3, types, values, NULL);
	if (SPI_processed == 0)
		gnngp_store_corrupted(model, "some of its blocks are missing");
	data = PG_DETOAST_DATUM(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
	length = VARSIZE(data) - VARHDRSZ;
	figures->score = MemoryContextAlloc(context, Max(length, sizeof(double)));
	open_figures(model, VARDATA(data), length, metric, n, figures);
	gnngp_spi_finish();
}

/* Reads the figures of the node part. */
void
gnngp_figures_read(const gnngp_model *model, gnngp_figures *figures)
{
	read_figures(model, model->version, "figure", figures->metric, GP_METRICS, figures);
}

/* Reads those of the link part. */
void
gnngp_link_figures_read(const gnngp_model *model, double *metric)
{
	gnngp_figures rest;

	read_figures(model, model->link.version, "link_figure", metric, GP_LINK_METRICS, &rest);
}

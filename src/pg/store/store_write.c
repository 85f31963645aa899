/*
 * store_write.c - packing a posterior into blocks.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "store.h"
#include "store_format.h"
#include "utils/builtins.h"

/* One class of a node as a sortable number: falling score, then falling share, then class. */
typedef uint64 ranked_class;

#define ST_SORT sort_classes
#define ST_ELEMENT_TYPE ranked_class
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#define ST_DECLARE
#define ST_CHECK_FOR_INTERRUPTS
#include "lib/sort_template.h"

typedef struct writer
{
	const gnngp_model *model;
	const gnngp_data *data;
	const gp_posterior *posterior;
	int32		nclasses;
	size_t		stride;
	double	   *share;			/* of each class among the labels */
	uint16	   *place;			/* of each class by falling share, then class */
	uint16	   *by_place;
	ranked_class *rank;
	char	   *query;
	int32		block;
	char	   *buffer;			/* the varlena of a block */
	size_t		room;
} writer;

/* The bits of a score as a number that falls when the score grows, and back. */
static uint32
score_to_rank(float score)
{
	uint32		bits;

	score += 0.0f;				/* makes -0 and 0 equal */
	memcpy(&bits, &score, sizeof(bits));
	return (bits >> 31) ? bits : ~bits & 0x7fffffff;
}

static float
rank_to_score(uint32 rank)
{
	uint32		bits = (rank >> 31) ? rank : ~rank & 0x7fffffff;
	float		score;

	memcpy(&score, &bits, sizeof(score));
	return score;
}

/* True when a node was given the prior. */
static bool
is_prior(const writer *w, int64 node)
{
	return w->posterior->is_prior != NULL && w->posterior->is_prior[node];
}

/* Sorts the classes of a node into the row and gives log sum exp(b score). */
static double
pack_classes(writer *w, int64 node, char *scores)
{
	int32		n = w->nclasses;
	char	   *order = scores + (size_t) n * sizeof(float);
	double		b = w->posterior->temperature;
	double		sum = 0;
	double		top;

	for (int32 c = 0; c < n; c++)
	{
		float		score = is_prior(w, node) ? 0.0f : (float) w->posterior->mean[node * n + c];

		w->rank[c] = (uint64) score_to_rank(score) << 16 | w->place[c];
	}
	sort_classes(w->rank, n);
	top = rank_to_score((uint32) (w->rank[0] >> 16));
	for (int32 c = 0; c < n; c++)
	{
		float		score = rank_to_score((uint32) (w->rank[c] >> 16));

		gnngp_put_float4(scores + (size_t) c * sizeof(float), score);
		gnngp_put16(order + (size_t) c * sizeof(uint16), w->by_place[w->rank[c] & 0xffff]);
		sum += exp(b * (score - top));
	}
	if (n % 2)
		gnngp_put16(order + (size_t) n * sizeof(uint16), 0);
	return b * top + log(sum);
}

/* True when every number of a node is finite, as it will be stored. */
static bool
is_finite(const writer *w, int64 node)
{
	const gp_posterior *p = w->posterior;
	int32		n = w->nclasses;

	if (!isfinite(p->variance[node]))
		return false;
	if (n == 0)
		return isfinite(p->mean[node]);
	for (int32 c = 0; c < n && !is_prior(w, node); c++)
		if (!isfinite((float) p->mean[node * n + c]) ||
			!isfinite(p->temperature * p->mean[node * n + c]))
			return false;
	return true;
}

/* 22003: a number overflowed; it must not be read as a prediction. */
static void
report_not_finite(const writer *w, int64 node)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("the posterior of node %s is not finite", gnngp_id_text(&w->data->ids, node)),
			 errhint("Rescale the features or the target.")));
}

/* Packs one row. */
static void
pack_row(writer *w, int64 node, bool labelled, size_t text_end, char *row)
{
	const gp_posterior *p = w->posterior;

	if (!is_finite(w, node))
		report_not_finite(w, node);
	gnngp_put64(row + AT_KEY, (uint64) w->data->ids.key[node]);
	gnngp_put_float8(row + AT_VARIANCE, p->variance[node]);
	gnngp_put32(row + AT_ROW_FLAGS, (labelled ? ROW_LABELLED : 0) | (is_prior(w, node) ? ROW_PRIOR : 0));
	gnngp_put32(row + AT_TEXT_END, (uint32) text_end);
	if (w->nclasses > 0)
		gnngp_put_float8(row + AT_VALUE, pack_classes(w, node, row + ROW_FIXED));
	else
		gnngp_put_float8(row + AT_VALUE, p->mean[node]);
}

/* Inserts the block that the buffer holds. */
static void
insert_block(writer *w, int64 first_key, int32 nrows, size_t length)
{
	Oid			types[] = {INT8OID, INT8OID, INT4OID, INT8OID, INT4OID, BYTEAOID};
	Datum		values[6];
	int			rc;

	SET_VARSIZE(w->buffer, VARHDRSZ + length);
	values[0] = Int64GetDatum(w->model->id);
	values[1] = Int64GetDatum(w->model->version);
	values[2] = Int32GetDatum(w->block++);
	values[3] = Int64GetDatum(first_key);
	values[4] = Int32GetDatum(nrows);
	values[5] = PointerGetDatum(w->buffer);
	rc = gnngp_execute_as_extension(w->query, 6, types, values, NULL);
	if (rc != SPI_OK_INSERT)
		elog(ERROR, "storing a block returned %s", SPI_result_code_string(rc));
}

/* Counts the nodes from first that make one block; sets what the block needs. */
static int64
measure_block(const writer *w, int64 first, size_t *length, bool *shares)
{
	const gnngp_ids *ids = &w->data->ids;
	int64		node;
	bool		prior = false;

	*length = HEADER_SIZE;
	for (node = first; node < ids->n && *length < BLOCK_TARGET; node++)
	{
		prior |= w->nclasses > 0 && is_prior(w, node);
		*length += w->stride + (ids->integer ? 0 : strlen(ids->text[node]));
	}
	if (prior)
		*length += (size_t) w->nclasses * sizeof(double);
	*shares = prior;
	return node - first;
}

/* Makes the buffer hold length bytes, and a varlena's header. */
static void
reserve(writer *w, size_t length)
{
	if (length > BLOCK_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the id of one node takes more than %d bytes", BLOCK_MAX),
				 errhint("Use a shorter id.")));
	if (length + VARHDRSZ <= w->room)
		return;
	if (w->buffer)
		pfree(w->buffer);
	w->room = length + VARHDRSZ;
	w->buffer = palloc(w->room);
}

/* Writes the header with its checksum. */
static void
seal_block(writer *w, char *block, size_t length, int64 nrows, bool shares)
{
	gnngp_put32(block + AT_FLAGS, (w->data->ids.integer ? 0 : BLOCK_TEXT_IDS) |
				(shares ? BLOCK_HAS_SHARES : 0));
	gnngp_put32(block + AT_NROWS, (uint32) nrows);
	gnngp_put32(block + AT_NCLASSES, (uint32) w->nclasses);
	gnngp_store_seal_block(BLOCK_MAGIC, BLOCK_FORMAT, block, length);
}

/* Packs and inserts the block that begins with a node; gives the number of its nodes. */
static int64
write_block(writer *w, int64 first, int64 *labelled)
{
	const gnngp_ids *ids = &w->data->ids;
	size_t		length,
				text_end = 0;
	bool		shares;
	int64		n = measure_block(w, first, &length, &shares);
	char	   *block,
			   *rows,
			   *texts;

	reserve(w, length);
	block = VARDATA(w->buffer);
	rows = block + HEADER_SIZE + (shares ? (size_t) w->nclasses * sizeof(double) : 0);
	texts = rows + n * w->stride;
	for (int32 c = 0; shares && c < w->nclasses; c++)
		gnngp_put_float8(block + HEADER_SIZE + (size_t) c * sizeof(double), w->share[c]);
	for (int64 i = 0; i < n; i++)
	{
		bool		has_label = *labelled < w->data->nlabelled &&
			w->data->labelled[*labelled] == first + i;

		*labelled += has_label;
		if (!ids->integer)
		{
			size_t		len = strlen(ids->text[first + i]);

			memcpy(texts + text_end, ids->text[first + i], len);
			text_end += len;
		}
		pack_row(w, first + i, has_label, text_end, rows + i * w->stride);
	}
	seal_block(w, block, length, n, shares);
	insert_block(w, ids->key[first], (int32) n, length);
	return n;
}

/* Orders classes by falling share, then class. */
static int
compare_shares(const void *a, const void *b, void *arg)
{
	const double *share = arg;
	uint16		x = *(const uint16 *) a;
	uint16		y = *(const uint16 *) b;

	if (share[x] != share[y])
		return share[x] > share[y] ? -1 : 1;
	return (int) x - (int) y;
}

/* Counts the share of each class among the labels; ties of scores follow it. */
static void
count_shares(writer *w)
{
	w->share = palloc0(sizeof(double) * w->nclasses);
	w->place = palloc0(sizeof(uint16) * w->nclasses);
	w->by_place = palloc0(sizeof(uint16) * w->nclasses);
	w->rank = palloc0(sizeof(ranked_class) * w->nclasses);
	for (int64 k = 0; k < w->data->nlabelled; k++)
		w->share[w->data->label[k]] += 1;
	for (int32 c = 0; c < w->nclasses; c++)
	{
		w->share[c] /= w->data->nlabelled;
		w->by_place[c] = (uint16) c;
	}
	gnngp_sort(w->by_place, w->nclasses, sizeof(uint16), compare_shares, w->share);
	for (int32 c = 0; c < w->nclasses; c++)
		w->place[w->by_place[c]] = (uint16) c;
}

/* Writes all nodes. */
void
gnngp_store_posterior(const gnngp_model *model, const gnngp_data *data,
					  const gp_posterior *posterior)
{
	writer		w;
	int64		labelled = 0;

	memset(&w, 0, sizeof(w));
	w.model = model;
	w.data = data;
	w.posterior = posterior;
	w.nclasses = data->task == GP_TASK_CLASSES ? data->nclasses : 0;
	w.stride = gnngp_row_stride(w.nclasses);

	gnngp_spi_connect();
	if (w.nclasses > 0)
		count_shares(&w);
	w.query = psprintf("INSERT INTO %s.gp_block (model, version, part, block, first_key, nrows, data)"
					   " VALUES ($1, $2, 'node', $3, $4, $5, $6)", gnngp_schema());
	for (int64 node = 0; node < data->ids.n;)
	{
		CHECK_FOR_INTERRUPTS();
		node += write_block(&w, node, &labelled);
	}
	gnngp_spi_finish();
}

/* Deletes the blocks of other versions of a part. */
void
gnngp_store_drop_versions(int64 model_id, const char *part, int64 keep_version)
{
	Oid			types[] = {INT8OID, TEXTOID, INT8OID};
	Datum		values[] = {Int64GetDatum(model_id), CStringGetTextDatum(part),
	Int64GetDatum(keep_version)};

	gnngp_spi_connect();
	if (gnngp_execute_as_extension(psprintf("DELETE FROM %s.gp_block"
											" WHERE model = $1 AND part = $2 AND version <> $3",
											gnngp_schema()),
								   3, types, values, NULL) != SPI_OK_DELETE)
		elog(ERROR, "deleting old blocks failed");
	gnngp_spi_finish();
}

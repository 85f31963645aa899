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

/* One class of a node as a sortable number: falling logit, then falling share, then class. */
typedef uint64 ranked_class;

#define ST_SORT sort_classes
#define ST_ELEMENT_TYPE ranked_class
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#define ST_DECLARE
#define ST_CHECK_FOR_INTERRUPTS
#include "lib/sort_template.h"

/* What one part says of which nodes. */
typedef struct writer
{
	const gnngp_model *model;
	const gnngp_data *data;
	const gp_posterior *posterior;
	const char *part;
	int64		n;
	const int32 *node;			/* n nodes, ascending; NULL: all */
	const double *mean;			/* n x nclasses, or n */
	const double *variance;
	bool		has_targets;
	int32		nclasses;
	size_t		stride;
	const double *share;		/* of each class among the labels */
	uint16	   *place;			/* of each class by falling share, then class */
	uint16	   *by_place;
	ranked_class *rank;
	double	   *logit;
	int32		block;
	char	   *buffer;			/* the varlena of a block */
	size_t		room;
} writer;

/* The bits of a logit as a number that falls when it grows, less the last 16. */
static uint64
logit_to_rank(double logit)
{
	uint64		bits;

	logit += 0.0;				/* makes -0 and 0 equal */
	memcpy(&bits, &logit, sizeof(bits));
	return ((bits >> 63) ? bits : ~bits & PG_INT64_MAX) & ~UINT64CONST(0xffff);
}

/* The node that row i is of. */
static int64
node_of(const writer *w, int64 i)
{
	return w->node ? w->node[i] : i;
}

/* True when the node of row i was given the prior. */
static bool
is_prior(const writer *w, int64 i)
{
	return w->posterior->is_prior != NULL && w->posterior->is_prior[node_of(w, i)];
}

/* The score of a class as it is stored. */
static float
stored_score(const writer *w, int64 i, int32 class)
{
	return (float) w->mean[i * w->nclasses + class] + 0.0f;
}

/* Sorts the classes of a node into the row and gives log sum exp(logit). */
static double
pack_classes(writer *w, int64 i, char *scores)
{
	int32		n = w->nclasses;
	char	   *order = scores + (size_t) n * sizeof(float);
	double		top = -INFINITY;
	double		sum = 0;

	for (int32 c = 0; c < n; c++)
	{
		w->logit[c] = gp_logit(&w->posterior->calibrator, c, stored_score(w, i, c));
		w->rank[c] = (is_prior(w, i) ? 0 : logit_to_rank(w->logit[c])) | w->place[c];
		top = Max(top, w->logit[c]);
	}
	sort_classes(w->rank, n);
	for (int32 k = 0; k < n; k++)
	{
		uint16		class = w->by_place[w->rank[k] & 0xffff];

		gnngp_put_float4(scores + (size_t) k * sizeof(float), stored_score(w, i, class));
		gnngp_put16(order + (size_t) k * sizeof(uint16), class);
		sum += exp(w->logit[class] - top);
	}
	if (n % 2)
		gnngp_put16(order + (size_t) n * sizeof(uint16), 0);
	return top + log(sum);
}

/* True when every number of a node is finite, as it will be stored. */
static bool
is_finite(const writer *w, int64 i)
{
	int32		n = w->nclasses;

	if (!isfinite(w->variance[i]))
		return false;
	if (n == 0)
		return isfinite(w->mean[i]);
	for (int32 c = 0; c < n; c++)
		if (!isfinite((float) w->mean[i * n + c]))
			return false;
	return true;
}

/* 22003: a number overflowed; it must not be read as a prediction. */
static void
report_not_finite(const writer *w, int64 i)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("the posterior of node %s is not finite", gnngp_id_text(&w->data->ids, node_of(w, i))),
			 errhint("Rescale the features or the target.")));
}

/* The number of a labelled node's class, or its value. */
static double
target_of(const writer *w, int64 i)
{
	return w->nclasses > 0 ? (double) w->data->label[i] : w->data->target[i];
}

/* Packs one row. */
static void
pack_row(writer *w, int64 i, bool labelled, size_t text_end, char *row)
{
	if (!is_finite(w, i))
		report_not_finite(w, i);
	gnngp_put64(row + AT_KEY, (uint64) w->data->ids.key[node_of(w, i)]);
	gnngp_put_float8(row + AT_VARIANCE, w->variance[i]);
	gnngp_put32(row + AT_ROW_FLAGS, (labelled ? ROW_LABELLED : 0) | (is_prior(w, i) ? ROW_PRIOR : 0));
	gnngp_put32(row + AT_TEXT_END, (uint32) text_end);
	if (w->nclasses > 0)
		gnngp_put_float8(row + AT_VALUE, pack_classes(w, i, row + ROW_FIXED));
	else
		gnngp_put_float8(row + AT_VALUE, w->mean[i]);
	if (w->has_targets)
		gnngp_put_float8(row + w->stride - sizeof(double), target_of(w, i));
}

/* Counts the nodes from first that make one block; sets what the block needs. */
static int64
measure_block(const writer *w, int64 first, size_t *length, bool *shares)
{
	const gnngp_ids *ids = &w->data->ids;
	int64		i;
	bool		prior = false;

	*length = HEADER_SIZE + gnngp_calibrator_size(w->nclasses);
	for (i = first; i < w->n && (i == first || *length < BLOCK_TARGET); i++)
	{
		prior |= w->nclasses > 0 && is_prior(w, i);
		*length += w->stride + (ids->integer ? 0 : strlen(ids->text[node_of(w, i)]));
	}
	if (prior)
		*length += (size_t) w->nclasses * sizeof(double);
	*shares = prior;
	return i - first;
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

/* Writes the rest of the header, and inserts the block. */
static void
insert_block(writer *w, size_t length, int64 first_key, int32 nrows, bool shares)
{
	char	   *block = VARDATA(w->buffer);

	gnngp_put32(block + AT_FLAGS, (w->data->ids.integer ? 0 : BLOCK_TEXT_IDS) |
				(shares ? BLOCK_HAS_SHARES : 0) | (w->has_targets ? BLOCK_HAS_TARGETS : 0));
	gnngp_put32(block + AT_NROWS, (uint32) nrows);
	gnngp_put32(block + AT_NCLASSES, (uint32) w->nclasses);
	gnngp_store_insert((gnngp_block_place) {w->model->id, w->model->version, w->part, w->block++, &first_key},
					   BLOCK_MAGIC, BLOCK_FORMAT, w->buffer, length, nrows);
}

/* Writes what makes probabilities of scores; returns where the rows begin. */
static char *
pack_calibrator(const writer *w, char *p)
{
	const gp_calibrator *calibrator = &w->posterior->calibrator;

	if (w->nclasses == 0)
		return p;
	gnngp_put_float8(p, calibrator->delta);
	gnngp_put_float8(p + sizeof(double), calibrator->gamma);
	for (int32 c = 0; c < w->nclasses; c++)
		gnngp_put_float8(p + (size_t) (c + 2) * sizeof(double), calibrator->bias ? calibrator->bias[c] : 0.0);
	return p + gnngp_calibrator_size(w->nclasses);
}

/* Packs the shares of the classes; returns what is behind them. */
static char *
pack_shares(const writer *w, char *p)
{
	for (int32 c = 0; c < w->nclasses; c++)
		gnngp_put_float8(p + (size_t) c * sizeof(double), w->share[c]);
	return p + (size_t) w->nclasses * sizeof(double);
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
	rows = pack_calibrator(w, shares ? pack_shares(w, block + HEADER_SIZE) : block + HEADER_SIZE);
	texts = rows + n * w->stride;
	for (int64 i = 0; i < n; i++)
	{
		int64		node = node_of(w, first + i);
		bool		has_label = *labelled < w->data->nlabelled && w->data->labelled[*labelled] == node;

		*labelled += has_label;
		if (!ids->integer)
		{
			size_t		len = strlen(ids->text[node]);

			memcpy(texts + text_end, ids->text[node], len);
			text_end += len;
		}
		pack_row(w, first + i, has_label, text_end, rows + i * w->stride);
	}
	insert_block(w, length, ids->key[node_of(w, first)], (int32) n, shares);
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

/* Orders classes by their shares among the labels; ties of scores follow that. */
static void
order_classes(writer *w, const double *share)
{
	w->share = share;
	w->place = palloc0(sizeof(uint16) * w->nclasses);
	w->by_place = palloc0(sizeof(uint16) * w->nclasses);
	w->rank = palloc0(sizeof(ranked_class) * w->nclasses);
	w->logit = palloc0(sizeof(double) * w->nclasses);
	for (int32 c = 0; c < w->nclasses; c++)
		w->by_place[c] = (uint16) c;
	gnngp_sort(w->by_place, w->nclasses, sizeof(uint16), compare_shares, unconstify(double *, share));
	for (int32 c = 0; c < w->nclasses; c++)
		w->place[w->by_place[c]] = (uint16) c;
}

/* The share of each class among the labels; values have none. */
static double *
class_shares(const gnngp_data *data)
{
	double	   *share = palloc0(sizeof(double) * Max(data->nclasses, 1));

	for (int64 k = 0; k < data->nlabelled && data->label; k++)
		share[data->label[k]] += 1;
	for (int32 c = 0; c < data->nclasses; c++)
		share[c] /= data->nlabelled;
	return share;
}

/* Writes one part. */
static void
write_part(writer *w)
{
	int64		labelled = 0;

	w->stride = gnngp_row_stride(w->nclasses) + (w->has_targets ? sizeof(double) : 0);
	w->block = 0;
	for (int64 i = 0; i < w->n;)
	{
		CHECK_FOR_INTERRUPTS();
		i += write_block(w, i, &labelled);
	}
}

/* Writes all nodes, then the labelled ones by leave-one-out, then the figures. */
void
gnngp_store_posterior(const gnngp_model *model, const gnngp_data *data,
					  const gp_posterior *posterior)
{
	writer		w = {
		.model = model,.data = data,.posterior = posterior,.part = "node",.n = data->ids.n,
		.mean = posterior->mean,.variance = posterior->variance,
		.nclasses = data->task == GP_TASK_CLASSES ? data->nclasses : 0
	};

	gnngp_spi_connect();
	if (w.nclasses > 0)
		order_classes(&w, class_shares(data));
	write_part(&w);
	w.part = "loo";
	w.n = posterior->loo.n;
	w.node = data->labelled;
	w.mean = posterior->loo.mean;
	w.variance = posterior->loo.variance;
	w.has_targets = true;
	write_part(&w);
	gnngp_figures_write(model, posterior);
	gnngp_spi_finish();
}

/* Deletes the blocks of other versions. */
void
gnngp_store_drop_versions(const gnngp_model *model)
{
	Oid			types[] = {INT8OID, INT8OID, INT8OID};
	Datum		values[] = {Int64GetDatum(model->id), Int64GetDatum(model->version),
	Int64GetDatum(model->link.version)};

	gnngp_spi_connect();
	gnngp_execute_as_extension(psprintf("DELETE FROM %s.gp_block"
										" WHERE model = $1 AND version <> CASE WHEN part LIKE 'link%%' THEN $3 ELSE $2 END",
										gnngp_schema()),
							   3, types, values, NULL);
	gnngp_spi_finish();
}

/*
 * store_nodes.c - the sections "node", all nodes of a fit, and "loo", the labelled ones as all
 * others see them.
 *
 * The count of a block is the number of classes.  Before its rows it has
 *
 *   shares      double for each class; only when HAS_SHARES
 *   calibrator  doubles: delta, gamma, slope, variance, noise, then each class's bias; classes only
 *
 * and a row has, behind its id, flags uint32, variance double, log partition or value
 * double, then for classes float4 scores and uint16 class numbers, best first, filled up
 * to a multiple of 4 bytes; with HAS_TARGETS the target double: the number of the node's
 * own class, or its value.
 */
#include "postgres.h"

#include "store_rows.h"

#define NODES_MAGIC 0x47504e42	/* GPNB */
#define NODES_TARGET (256 * 1024)

#define HAS_SHARES 2			/* flags of a block */
#define HAS_TARGETS 4

#define CALIBRATOR_NUMBERS 5	/* beside the biases */

#define AT_ROW_FLAGS AT_REST
#define AT_VARIANCE (AT_REST + 4)
#define AT_VALUE (AT_REST + 12)
#define AT_SCORES (AT_REST + 20)

#define ROW_LABELLED 1			/* flags of a row */
#define ROW_PRIOR 2

static size_t
calibrator_bytes(int32 nclasses)
{
	return nclasses > 0 ? ((size_t) nclasses + CALIBRATOR_NUMBERS) * sizeof(double) : 0;
}

static size_t
row_bytes(int32 nclasses, bool has_targets)
{
	size_t		n = (size_t) nclasses;

	return AT_SCORES + n * sizeof(float) + ((n * sizeof(uint16) + 3) & ~(size_t) 3) +
		(has_targets ? sizeof(double) : 0);
}

/* ---- classes in order ---- */

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

gnngp_class_order
gnngp_class_order_open(gp_calibrator calibrator, int32 n, const double *share)
{
	gnngp_class_order o = {.calibrator = calibrator,.share = share,.n = n,
						   .rank_of = palloc(sizeof(uint16) * Max(n, 1)),
						   .class_at = palloc(sizeof(uint16) * Max(n, 1)),
						   .key = palloc(sizeof(uint64) * Max(n, 1)),
						   .logit = palloc(sizeof(double) * Max(n, 1))};

	for (int32 c = 0; c < n; c++)
		o.class_at[c] = (uint16) c;
	gnngp_sort(o.class_at, n, sizeof(uint16), compare_shares, unconstify(double *, share));
	for (int32 c = 0; c < n; c++)
		o.rank_of[o.class_at[c]] = (uint16) c;
	return o;
}

void
gnngp_order_classes(gnngp_class_order *o, const double *mean, double variance, bool prior)
{
	double		top = -INFINITY;
	double		sum = 0;

	for (int32 c = 0; c < o->n; c++)
	{
		double		logit = gp_logit(&o->calibrator, c, (float) mean[c] + 0.0f, variance);
		uint64		bits;

		/* The bits of a logit as a number that falls when it grows; -0 and 0 are equal */
		o->logit[c] = logit;
		logit += 0.0;
		memcpy(&bits, &logit, sizeof(bits));
		bits = ((bits >> 63) ? bits : ~bits & PG_INT64_MAX) & ~UINT64CONST(0xffff);
		o->key[c] = (prior ? 0 : bits) | o->rank_of[c];
		top = Max(top, o->logit[c]);
	}
	gnngp_sort_keys(o->key, o->n);
	for (int32 k = 0; k < o->n; k++)
		sum += exp(o->logit[gnngp_class_at(o, k)] - top);
	o->log_partition = top + log(sum);
	o->prior = prior;
}

double
gnngp_class_probability(const gnngp_class_order *o, int32 class)
{
	return o->prior ? o->share[class] : exp(o->logit[class] - o->log_partition);
}

/* ---- writing ---- */

/* What is packed of which nodes. */
typedef struct writer
{
	const gnngp_data *data;
	const gnngp_ids *ids;		/* of the nodes */
	int64		nlabelled;		/* of these */
	const bool *is_prior;		/* NULL: none */
	const int32 *node;			/* of each row; NULL: all nodes */
	const double *mean;			/* a row for each row, of nclasses, or a number */
	const double *variance;
	int64		mean_step;		/* from row to row */
	int64		variance_step;
	int64		first;			/* the row that they begin with */
	double	   *kept;			/* rows of a block, where the posterior keeps them; else NULL */
	gp_kept_rows rows;			/* that they are read from */
	bool		has_targets;
	int32		nclasses;
	size_t		stride;
	int64		labelled;		/* labelled nodes before the next row */
	gnngp_class_order order;
} writer;

/* The bytes of a row with its text. */
static size_t
bytes_of(void *state, int64 i)
{
	const writer *w = state;

	return w->stride + gnngp_text_bytes(w->ids, w->node ? w->node[i] : i);
}

/* Packs the scores of a node and the numbers of their classes, best first. */
static void
pack_classes(writer *w, const double *mean, char *scores)
{
	int32		n = w->nclasses;
	char	   *numbers = scores + (size_t) n * sizeof(float);

	for (int32 k = 0; k < n; k++)
	{
		uint16		class = gnngp_class_at(&w->order, k);

		gnngp_put_float4(scores + (size_t) k * sizeof(float), (float) mean[class] + 0.0f);
		gnngp_put16(numbers + (size_t) k * sizeof(uint16), class);
	}
	if (n % 2)
		gnngp_put16(numbers + (size_t) n * sizeof(uint16), 0);
}

/* Packs what all rows of a block share; returns where the rows begin. */
static char *
pack_head(const writer *w, char *block)
{
	const gp_calibrator *calibrator = &w->order.calibrator;
	const double number[CALIBRATOR_NUMBERS] = {
		calibrator->delta, calibrator->gamma, calibrator->slope, calibrator->variance,
		calibrator->noise
	};
	char	   *p = block + ROWS_HEADER;

	gnngp_put32(block + AT_FLAGS, (w->ids->integer ? 0 : ROWS_TEXT_IDS) |
				(w->nclasses > 0 ? HAS_SHARES : 0) | (w->has_targets ? HAS_TARGETS : 0));
	gnngp_put32(block + AT_COUNT, (uint32) w->nclasses);
	for (int32 c = 0; c < w->nclasses; c++, p += sizeof(double))
		gnngp_put_float8(p, w->order.share[c]);
	for (int k = 0; k < CALIBRATOR_NUMBERS && w->nclasses > 0; k++, p += sizeof(double))
		gnngp_put_float8(p, number[k]);
	for (int32 c = 0; c < w->nclasses; c++, p += sizeof(double))
		gnngp_put_float8(p, calibrator->bias ? calibrator->bias[c] : 0.0);
	return p;
}

static void
pack_rows(void *state, char *block, int64 first, int64 n)
{
	writer	   *w = state;
	const gnngp_data *data = w->data;
	char	   *p = pack_head(w, block);
	size_t		text_end = 0;

	if (w->kept)
	{
		w->kept = repalloc(w->kept, n * w->mean_step * sizeof(double));
		w->rows.move(w->rows.state, first, n, w->kept, false);
		w->variance = w->kept;
		w->mean = w->kept + 1;
		w->first = first;
	}
	char	   *texts = p + n * w->stride;
	for (int64 i = first; i < first + n; i++, p += w->stride)
	{
		int64		node = w->node ? w->node[i] : i;
		bool		labelled = w->labelled < w->nlabelled && data->labelled[w->labelled] == node;
		bool		prior = w->is_prior != NULL && w->is_prior[node];
		const double *mean = w->mean + (i - w->first) * w->mean_step;
		double		variance = w->variance[(i - w->first) * w->variance_step];
		bool		finite = isfinite(variance) && (w->nclasses > 0 || isfinite(*mean));

		w->labelled += labelled;
		/* What overflowed must not be read as a prediction. */
		for (int32 c = 0; c < w->nclasses && finite; c++)
			finite = isfinite((float) mean[c]);
		if (!finite)
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, "Rescale the features or the target.",
						"the posterior of node %s is not finite", gnngp_id_text(w->ids, node));
		gnngp_pack_id(w->ids, node, p, texts, &text_end);
		gnngp_put32(p + AT_ROW_FLAGS, (labelled ? ROW_LABELLED : 0) | (prior ? ROW_PRIOR : 0));
		gnngp_put_float8(p + AT_VARIANCE, variance);
		if (w->nclasses > 0)
		{
			gnngp_order_classes(&w->order, mean, variance, prior);
			pack_classes(w, mean, p + AT_SCORES);
		}
		gnngp_put_float8(p + AT_VALUE, w->nclasses > 0 ? w->order.log_partition : *mean);
		if (w->has_targets)
			gnngp_put_float8(p + w->stride - sizeof(double),
							 w->nclasses > 0 ? (double) data->label[i] : data->target[i]);
	}
}

/* ---- reading ---- */

/* Finds what stands before the rows of a block. */
static size_t
open_nodes(gnngp_block *block, uint32 count)
{
	const char *p = block->data + ROWS_HEADER;
	size_t		n = count;
	size_t		head = ROWS_HEADER;

	if (count != (uint32) block->model->class_labels.n)
		gnngp_store_corrupted(block->model, "a block does not belong to it");
	block->nclasses = (int32) count;
	block->has_targets = (block->flags & HAS_TARGETS) != 0;
	block->stride = row_bytes(block->nclasses, block->has_targets);
	if (block->flags & HAS_SHARES)
	{
		block->shares = p;
		head += n * sizeof(double);
	}
	if (head + calibrator_bytes(block->nclasses) > block->length)
		return SIZE_MAX;
	if (n > 0)
	{
		p = block->data + head;
		block->calibrator.delta = gnngp_get_float8(p);
		block->calibrator.gamma = gnngp_get_float8(p + sizeof(double));
		block->calibrator.slope = gnngp_get_float8(p + 2 * sizeof(double));
		block->calibrator.variance = gnngp_get_float8(p + 3 * sizeof(double));
		block->calibrator.noise = gnngp_get_float8(p + 4 * sizeof(double));
		block->biases = p + CALIBRATOR_NUMBERS * sizeof(double);
	}
	head += calibrator_bytes(block->nclasses);
	block->rows = block->data + head;
	return head + (size_t) block->nrows * block->stride;
}

static gnngp_row_section
section_of(const gnngp_model *model, const char *section)
{
	bool		loo = strcmp(section, "loo") == 0;

	return (gnngp_row_section) {
		.model = model,.name = section,.version = model->version,.magic = NODES_MAGIC,
		.integer_ids = model->integer_ids,.rows = loo ? model->labelled : model->nodes,
		.row_bytes = row_bytes(model->classes, loo),.target = NODES_TARGET,.open = open_nodes
	};
}

void
gnngp_store_read(const gnngp_model *model, const char *section, const gnngp_given_ids *given,
				 gnngp_stored_row_fn row, void *state)
{
	gnngp_row_section p = section_of(model, section);

	gnngp_section_read(&p, given, row, state);
}

void
gnngp_block_row(const gnngp_block *block, int32 i, gnngp_node_row *row)
{
	const char *p = block->rows + (size_t) i * block->stride;
	uint32		flags = gnngp_get32(p + AT_ROW_FLAGS);

	gnngp_block_id(block, p, i > 0 ? p - block->stride : NULL, &row->id);
	row->number = (int64) block->first + i;
	row->variance = gnngp_get_float8(p + AT_VARIANCE);
	row->log_partition = row->value = gnngp_get_float8(p + AT_VALUE);
	row->labelled = (flags & ROW_LABELLED) != 0;
	row->is_prior = (flags & ROW_PRIOR) != 0;
	row->scores = p + AT_SCORES;
	row->order = row->scores + (size_t) block->nclasses * sizeof(float);
	row->target = block->has_targets ? gnngp_get_float8(p + block->stride - sizeof(double)) : 0.0;
}

double
gnngp_row_probability(const gnngp_block *block, const gnngp_node_row *row, int32 k)
{
	uint16		class = gnngp_row_class(row, k);
	size_t		at = (size_t) class * sizeof(double);

	if (class >= block->nclasses)
		gnngp_store_corrupted(block->model, "a class is unknown");
	if (row->is_prior && block->shares)
		return gnngp_get_float8(block->shares + at);
	double		logit = gp_logit(&block->calibrator, 0, gnngp_row_score(row, k), row->variance) +
					gnngp_get_float8(block->biases + at);
	return Min(exp(logit - row->log_partition), 1.0);
}

/* ---- both sections of a fit ---- */

void
gnngp_store_posterior(const gnngp_model *model, const gnngp_data *data,
					  const gp_posterior *posterior)
{
	gnngp_row_section nodes = section_of(model, "node");
	gnngp_row_section loo = section_of(model, "loo");
	int64		first = data->task_data ? data->nlabelled : 0;	/* behind those that are labelled */
	int32		nclasses = data->target_kind == GP_TASK_CLASSES ? data->nclasses : 0;
	writer		w = {
		.data = data,.nclasses = nclasses,
		.ids = &data->ids,.nlabelled = data->nlabelled - first,
		.mean_step = Max(nclasses, 1),.variance_step = 1,
		.is_prior = posterior->is_prior ? posterior->is_prior + first : NULL,
		.stride = row_bytes(nclasses, false),
		.order = gnngp_class_order_open(posterior->calibrator, nclasses, posterior->prior_share)
	};
	gnngp_row_packer packer = {
		.head = ROWS_HEADER + (size_t) w.nclasses * sizeof(double) + calibrator_bytes(w.nclasses),
		.n = data->ids.n,.bytes = bytes_of,.pack = pack_rows,.state = &w
	};

	gnngp_spi_connect();
	if (posterior->kept.move)
	{
		w.mean_step = w.variance_step = 1 + w.mean_step;
		w.kept = palloc(w.mean_step * sizeof(double));
		w.rows = posterior->kept;
	}
	else
	{
		w.mean = posterior->mean + first * w.mean_step;
		w.variance = posterior->variance + first;
	}
	(void) gnngp_section_write(&nodes, w.ids, &packer);
	/* The labelled rows: of a task, where an entity may have many, by ids of their own */
	w = (writer) {
		.data = data,.ids = data->task_data ? &data->task_data->label_ids : &data->ids,
		.nlabelled = data->nlabelled,.is_prior = posterior->is_prior,.node = data->labelled,
		.mean = posterior->loo.mean,.variance = posterior->loo.variance,
		.mean_step = Max(nclasses, 1),.variance_step = 1,.has_targets = true,
		.nclasses = nclasses,.stride = row_bytes(nclasses, true),.order = w.order
	};
	packer.node = data->labelled;
	packer.n = posterior->loo.n;
	(void) gnngp_section_write(&loo, w.ids, &packer);
	gnngp_figures_write(model, posterior);
	gnngp_spi_finish();
}

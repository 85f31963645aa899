/*
 * store_live.c - writing, reading and keeping open the live state of a model.
 *
 * The first array tells the shapes of all pieces; those of each piece follow in turn: its numbers,
 * and before them the offsets and columns of a sparse one.
 */
#include "postgres.h"

#include "store_arrays.h"
#include "store_live.h"

/* The numbers of the first array: of the whole, */
enum shape_head
{
	HEAD_GRAPH,					/* gnngp_graph_shape */
	HEAD_KERNEL,				/* a hash of the kernel's text */
	HEAD_PIECES,				/* how many there are */
	SHAPE_HEAD
};

/* then of each piece. */
enum shape_column
{
	SHAPE_KIND, SHAPE_SITE, SHAPE_PART, SHAPE_ROWS, SHAPE_COLS, SHAPE_FORM, SHAPE_COLUMNS
};

#define FORM_INTS 2				/* beside the core's types of dense pieces */
#define FORM_SPARSE 4			/* plus the type */

uint64
gnngp_graph_shape(const gnngp_graph_def *graph)
{
	if (!graph->task.form)
		gnngp_require_edges(graph);
	return (uint64) gnngp_text_key(graph->shape, (int) strlen(graph->shape));
}

static int64
kernel_key(const gnngp_model *model)
{
	return gnngp_text_key(model->kernel, (int) strlen(model->kernel));
}

static int
element_of(const gp_piece *piece)
{
	return piece->ints ? GP_ARRAY_I32 : piece->type == GP_FLOAT ? GP_ARRAY_F32 : GP_ARRAY_F64;
}

void
gnngp_live_write(const gnngp_model *model, const gnngp_ids *ids, uint64 shape,
				 const gp_live_state *state)
{
	int64		n = SHAPE_HEAD + (int64) state->n * SHAPE_COLUMNS;
	int64	   *number = gp_alloc_array(state->env, n, sizeof(int64));
	gnngp_arrays list = {0};

	number[HEAD_GRAPH] = (int64) shape;
	number[HEAD_KERNEL] = kernel_key(model);
	number[HEAD_PIECES] = state->n;
	gnngp_arrays_add(&list, 0, GP_ARRAY_I64, n, number);
	for (int k = 0; k < state->n; k++)
	{
		const gp_piece *piece = &state->piece[k];
		const gp_csr *s = piece->csr;
		int64		entries = s ? gp_csr_entries(s) : piece->rows * piece->cols;
		int64		form = s ? FORM_SPARSE + piece->type : piece->ints ? FORM_INTS : piece->type;

		memcpy(number + SHAPE_HEAD + (int64) k * SHAPE_COLUMNS,
			   (int64[SHAPE_COLUMNS]) {piece->kind, piece->site, piece->part, piece->rows,
			piece->cols, form}, sizeof(int64) * SHAPE_COLUMNS);
		if (s)
		{
			gnngp_arrays_add(&list, k + 1, GP_ARRAY_I64, piece->rows + 1, s->start);
			gnngp_arrays_add(&list, k + 1, GP_ARRAY_I32, entries, s->col);
		}
		gnngp_arrays_add(&list, k + 1, element_of(piece), entries, s ? s->value : piece->dense);
	}
	gnngp_arrays_write(model, "live", &list, ids);
	gp_free(state->env, number);
}

/* ---- reading ---- */

/* What is read, and which array comes next. */
typedef struct live_reader
{
	const gnngp_model *model;
	gp_env	   *env;
	gnngp_arrays list;
	int			next;
} live_reader;

/* The next array, which must have so many elements of a type. */
static void *
next_array(live_reader *r, int element, int64 count)
{
	const gp_link_array *array = &r->list.array[r->next];

	if (r->next++ >= r->list.n || (int) array->element != element || array->count != count)
		gnngp_arrays_damaged(r->model, "live");
	return array->data;
}

/* Makes a piece of its shape; it points into the arrays. */
static void
make_piece(live_reader *r, gp_piece *piece, const int64 *shape)
{
	int64		form = shape[SHAPE_FORM];
	gp_csr	   *s;

	*piece = (gp_piece) {.kind = (int32) shape[SHAPE_KIND],.site = (int32) shape[SHAPE_SITE],
						 .part = (int32) shape[SHAPE_PART],.rows = shape[SHAPE_ROWS],
						 .cols = shape[SHAPE_COLS],.ints = form == FORM_INTS,
						 .type = form % 2 == GP_FLOAT ? GP_FLOAT : GP_DOUBLE};
	if (form < 0 || form > FORM_SPARSE + GP_DOUBLE || form == FORM_INTS + 1 || piece->rows < 0 ||
		piece->cols < 0 || piece->rows >= PG_INT32_MAX * INT64CONST(4) ||
		piece->cols >= PG_INT32_MAX ||
		(form < FORM_SPARSE && piece->cols > 0 && piece->rows > PG_INT64_MAX / piece->cols))
		gnngp_arrays_damaged(r->model, "live");
	if (form < FORM_SPARSE)
	{
		piece->dense = next_array(r, element_of(piece), piece->rows * piece->cols);
		return;
	}
	piece->csr = s = gp_alloc_zero(r->env, 1, sizeof(gp_csr));
	*s = (gp_csr) {.rows = piece->rows,.cols = piece->cols,.type = piece->type,
				   .stamp = gp_csr_stamp()};
	s->start = next_array(r, GP_ARRAY_I64, piece->rows + 1);
	int64		entries = s->start[s->rows];
	s->col = next_array(r, GP_ARRAY_I32, entries);
	s->value = next_array(r, element_of(piece), entries);
	/* Offsets ascend, and columns are in range. */
	bool		bad = s->start[0] != 0;
	for (int64 i = 0; i < s->rows; i++)
		bad = bad || s->start[i] > s->start[i + 1];
	for (int64 k = 0; k < entries && !bad; k++)
		bad = s->col[k] < 0 || s->col[k] >= s->cols;
	if (bad)
		gnngp_arrays_damaged(r->model, "live");
}

/* Checks node numbers, which ascend, of the anchors and the labelled nodes. */
static void
check_nodes(const gnngp_model *model, const gnngp_live *live, gp_piece_kind kind)
{
	const gp_piece *piece = gp_state_find(live->state, kind, 0, 0);
	const int32 *node = piece ? piece->dense : NULL;
	bool		bad = piece == NULL || !piece->ints || piece->cols != 1;

	for (int64 i = 0; !bad && i < piece->rows; i++)
		bad = node[i] < 0 || node[i] >= live->ids.n || (i > 0 && node[i] <= node[i - 1]);
	if (bad)
		gnngp_arrays_damaged(model, "live");
}

static void
check_state(const gnngp_model *model, const gnngp_live *live)
{
	gp_live_scalars f;
	int			columns = model->classes > 0 ? model->classes : 1;
	bool		task = model->rows > 0;

	/* Of a task the ids are those of the labelled rows, which are the first. */
	if (!gp_live_read(live->state, &f) || f.columns != columns ||
		f.values != (model->classes == 0) || f.nodes != (task ? model->labelled : model->nodes) ||
		live->ids.n != (task ? model->labelled : model->nodes) || !(f.noise > 0.0) ||
		!(f.dims >= 0.0 && f.dims < PG_INT32_MAX))
		gnngp_arrays_damaged(model, "live");
	check_nodes(model, live, GP_PIECE_ANCHORS);
	check_nodes(model, live, GP_PIECE_LABELLED);
	if (!gp_live_fits(live->state) ||
		(task && (gp_state_find(live->state, GP_PIECE_LABELLED, 0, 0)->rows != model->labelled ||
				  f.dims != (double) (live->task->transform.metapaths ?
									  gp_state_find(live->state, GP_PIECE_ANCHORS, 0, 0)->rows + 1 :
									  live->task->transform.scale.kept))))
		gnngp_arrays_damaged(model, "live");
}

/* Reads a live state, as the owner of the extension's tables. */
static gnngp_live *
read_live(const gnngp_model *model)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_live *live = gp_alloc_zero(env, 1, sizeof(gnngp_live));
	gnngp_identity saved = gnngp_become_extension();
	live_reader r = {.model = model,.env = env};

	if (!gnngp_arrays_read(env, model, "live", &r.list, &live->ids))
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE,
					psprintf("CALL gp_refresh(%s) makes it again.",
							 quote_literal_cstr(model->name)),
					"the live state of model \"%s\" was left out of a dump", model->name);
	int64		n = r.list.n > 0 ? r.list.array[0].count : 0;
	const int64 *number = next_array(&r, GP_ARRAY_I64, Max(n, SHAPE_HEAD));
	if (number[HEAD_KERNEL] != kernel_key(model) || number[HEAD_PIECES] < 0 ||
		n - SHAPE_HEAD != number[HEAD_PIECES] * SHAPE_COLUMNS)
		gnngp_arrays_damaged(model, "live");
	live->state = gp_state_create(env);
	live->state->n = live->state->room = (int) number[HEAD_PIECES];
	live->state->piece = gp_alloc_zero(env, Max(live->state->n, 1), sizeof(gp_piece));
	for (int k = 0; k < live->state->n; k++)
		make_piece(&r, &live->state->piece[k], number + SHAPE_HEAD + (int64) k * SHAPE_COLUMNS);
	if (model->rows > 0)
		live->task = gnngp_facts_read(env, model);
	gnngp_become_again(&saved);
	live->env = env;
	live->shape = (uint64) number[HEAD_GRAPH];
	check_state(model, live);
	return live;
}

gnngp_live *
gnngp_live_open(const gnngp_model *model)
{
	const gnngp_kept_key key = {GNNGP_KEPT_LIVE, model->id, model->version, model->fitted,
		model->classes, model->nodes, model->labelled, model->rows
	};

	if (model->live_bytes == 0)
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE,
					strcmp(model->strategy, gp_strategy_names[GP_STRATEGY_SQL]) == 0 ? "Strategy sql stores none. Fit with another strategy and live => true." :
					"Fit it with gp_fit(..., live => true).",
					"model \"%s\" has no live state", model->name);
	gnngp_live *live = gnngp_env_resume(key);
	if (live == NULL)
	{
		live = read_live(model);
		memcpy(live->key, key, sizeof(live->key));
	}
	return live;
}

void
gnngp_live_close(gnngp_live *live)
{
	if (live)
		gnngp_env_keep(live->env, CacheMemoryContext, gnngp_setting_link_cache_size(), live->key,
					   live);
}

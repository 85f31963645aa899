/*
 * store_live.c - writing, reading and keeping open the live state of a model.
 *
 * All pieces are laid end to end in one array for each element type; a table of
 * numbers tells the shapes.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "store.h"
#include "store_arrays.h"
#include "store_live.h"
#include "utils/memutils.h"

/* The arrays, by the element type of what is in them. */
enum live_array
{
	LIVE_SHAPES, LIVE_LONGS, LIVE_INTS, LIVE_FLOATS, LIVE_DOUBLES, LIVE_ARRAYS
};

static const int live_element[LIVE_ARRAYS] = {
	GP_LINK_I64, GP_LINK_I64, GP_LINK_I32, GP_LINK_F32, GP_LINK_F64
};

/* The numbers of LIVE_SHAPES: first of the whole, */
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
	SHAPE_KIND, SHAPE_SITE, SHAPE_PART, SHAPE_ROWS, SHAPE_COLS, SHAPE_FORM, SHAPE_ENTRIES,
		SHAPE_COLUMNS
};

#define FORM_INTS 2				/* beside the core's types of dense pieces */
#define FORM_SPARSE 4			/* plus the type */

static gnngp_live *kept = NULL;

uint64
gnngp_graph_shape(const gnngp_graph_def *graph)
{
	if (graph->task.form == NULL)
		gnngp_require_edges(graph);
	return (uint64) gnngp_text_key(graph->shape, (int) strlen(graph->shape));
}

/* ---- writing ---- */

/* Arrays that grow while pieces are laid into them. */
typedef struct layout
{
	int64		n[LIVE_ARRAYS];
	char	   *data[LIVE_ARRAYS];	/* NULL while they are counted */
} layout;

static void
lay(layout *l, int array, int64 n, const void *from)
{
	size_t		size = gp_link_element_size((gp_link_element) live_element[array]);

	if (l->data[array] && n > 0)
		memcpy(l->data[array] + l->n[array] * size, from, n * size);
	l->n[array] += n;
}

static int
array_of(gp_type type)
{
	return type == GP_FLOAT ? LIVE_FLOATS : LIVE_DOUBLES;
}

/* Lays a piece, and its shape. */
static void
lay_piece(layout *l, const gp_piece *piece)
{
	int64		count = piece->rows * piece->cols;
	int64		shape[SHAPE_COLUMNS] = {piece->kind, piece->site, piece->part, piece->rows,
										piece->cols,
	piece->ints ? FORM_INTS : piece->type, count};

	if (piece->csr)
	{
		count = gp_csr_entries(piece->csr);
		shape[SHAPE_FORM] = FORM_SPARSE + piece->type;
		shape[SHAPE_ENTRIES] = count;
		lay(l, LIVE_LONGS, piece->rows + 1, piece->csr->start);
		lay(l, LIVE_INTS, count, piece->csr->col);
		lay(l, array_of(piece->type), count, piece->csr->value);
	}
	else
		lay(l, piece->ints ? LIVE_INTS : array_of(piece->type), count, piece->dense);
	lay(l, LIVE_SHAPES, SHAPE_COLUMNS, shape);
}

static void
lay_all(layout *l, const gnngp_model *model, uint64 shape, const gp_keep *keep)
{
	int64		head[SHAPE_HEAD] = {(int64) shape,
		gnngp_text_key(model->kernel, (int) strlen(model->kernel)), keep->n};

	memset(l->n, 0, sizeof(l->n));
	lay(l, LIVE_SHAPES, SHAPE_HEAD, head);
	for (int k = 0; k < keep->n; k++)
	{
		CHECK_FOR_INTERRUPTS();
		lay_piece(l, &keep->piece[k]);
	}
}

void
gnngp_live_write(const gnngp_model *model, const gnngp_ids *ids, uint64 shape, const gp_keep *keep)
{
	gnngp_arrays list = {0};
	layout		l = {0};

	lay_all(&l, model, shape, keep);
	for (int k = 0; k < LIVE_ARRAYS; k++)
		l.data[k] = gp_alloc_array(keep->env, Max(l.n[k], 1),
								   gp_link_element_size((gp_link_element) live_element[k]));
	lay_all(&l, model, shape, keep);
	for (int k = 0; k < LIVE_ARRAYS; k++)
		if (l.n[k] > 0)
			gnngp_arrays_add(&list, k, live_element[k], l.n[k], l.data[k]);
	gnngp_arrays_write(model, "live", &list, ids);
	for (int k = 0; k < LIVE_ARRAYS; k++)
		gp_free(keep->env, l.data[k]);
}

/* ---- reading ---- */

/* A part of an array that begins where the last one ended. */
static void *
next_elements(const gnngp_model *model, layout *l, const int64 *have, int array, int64 n)
{
	char	   *at = l->data[array]
		+ l->n[array] * gp_link_element_size((gp_link_element) live_element[array]);

	if (n < 0 || n > have[array] - l->n[array])
		gnngp_arrays_damaged(model, "live");
	l->n[array] += n;
	return at;
}

/* Makes a piece of its shape; it points into the arrays. */
static void
make_piece(const gnngp_model *model, gp_env *env, gp_piece *piece, const int64 *shape, layout *l,
		   const int64 *have)
{
	int64		form = shape[SHAPE_FORM];
	int64		entries = shape[SHAPE_ENTRIES];
	gp_csr	   *s;
	bool		bad;

	*piece = (gp_piece) {.kind = (int32) shape[SHAPE_KIND],.site = (int32) shape[SHAPE_SITE],
	.part = (int32) shape[SHAPE_PART],.rows = shape[SHAPE_ROWS],.cols = shape[SHAPE_COLS]};
	if (form < 0 || form > FORM_SPARSE + GP_DOUBLE || form == FORM_INTS + 1 || piece->rows < 0 ||
		piece->cols < 0 || piece->rows >= PG_INT32_MAX * INT64CONST(4) ||
		piece->cols >= PG_INT32_MAX)
		gnngp_arrays_damaged(model, "live");
	piece->ints = form == FORM_INTS;
	piece->type = form % 2 == GP_FLOAT ? GP_FLOAT : GP_DOUBLE;
	if (form < FORM_SPARSE)
	{
		if ((piece->cols > 0 && piece->rows > PG_INT64_MAX / piece->cols) ||
			entries != piece->rows * piece->cols)
			gnngp_arrays_damaged(model, "live");
		piece->dense = next_elements(model, l, have,
									 piece->ints ? LIVE_INTS : array_of(piece->type), entries);
		return;
	}
	piece->csr = s = gp_alloc_zero(env, 1, sizeof(gp_csr));
	*s = (gp_csr) {.rows = piece->rows,.cols = piece->cols,.type = piece->type,
				   .stamp = gp_csr_stamp()};
	s->start = next_elements(model, l, have, LIVE_LONGS, piece->rows + 1);
	s->col = next_elements(model, l, have, LIVE_INTS, entries);
	s->value = next_elements(model, l, have, array_of(piece->type), entries);
	/* Offsets ascend, and columns are in range. */
	bad = s->start[0] != 0 || s->start[s->rows] != entries;
	for (int64 i = 0; i < s->rows; i++)
		bad = bad || s->start[i] > s->start[i + 1];
	for (int64 k = 0; k < entries && !bad; k++)
		bad = s->col[k] < 0 || s->col[k] >= s->cols;
	if (bad)
		gnngp_arrays_damaged(model, "live");
}

/* Checks node numbers, which ascend, of the anchors and the labelled nodes. */
static void
check_nodes(const gnngp_model *model, const gnngp_live *live, gp_piece_kind kind)
{
	const gp_piece *piece = gp_keep_find(live->keep, kind, 0, 0);
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
	gp_live_figures f;
	int			columns = model->classes > 0 ? model->classes : 1;
	bool		task = model->rows > 0;

	/* Of a task the ids are those of the labelled rows, which are the first. */
	if (!gp_live_read(live->keep, &f) || f.columns != columns ||
		f.values != (model->classes == 0) || f.nodes != (task ? model->labelled : model->nodes) ||
		live->ids.n != (task ? model->labelled : model->nodes) || !(f.noise > 0.0) ||
		!(f.dims >= 0.0 && f.dims < PG_INT32_MAX))
		gnngp_arrays_damaged(model, "live");
	check_nodes(model, live, GP_PIECE_ANCHORS);
	check_nodes(model, live, GP_PIECE_LABELLED);
	if (!gp_live_fits(live->keep) ||
		(task && (gp_keep_find(live->keep, GP_PIECE_LABELLED, 0, 0)->rows != model->labelled ||
				  f.dims != live->task->scale.kept)))
		gnngp_arrays_damaged(model, "live");
	if (model->classes == 0)
		return;
	(void) gp_keep_need(live->env, live->keep, GP_PIECE_CALIBRATOR, 0, 0, 2);
	(void) gp_keep_need(live->env, live->keep, GP_PIECE_SHARES, 0, 0, columns);
	if (gp_keep_find(live->keep, GP_PIECE_CALIBRATOR, 0, 1))
		(void) gp_keep_need(live->env, live->keep, GP_PIECE_CALIBRATOR, 0, 1, columns);
}

static void
make_pieces(const gnngp_model *model, gnngp_live *live, const gnngp_arrays *list)
{
	layout		l = {0};
	int64		have[LIVE_ARRAYS];
	gp_link_array array[LIVE_ARRAYS];
	const int64 *shape;

	gnngp_arrays_sort(model, "live", list, live_element, LIVE_ARRAYS, array);
	for (int k = 0; k < LIVE_ARRAYS; k++)
	{
		have[k] = array[k].count;
		l.data[k] = array[k].data;
	}
	if (have[LIVE_SHAPES] < SHAPE_HEAD)
		gnngp_arrays_damaged(model, "live");
	shape = (const int64 *) l.data[LIVE_SHAPES];
	live->shape = (uint64) shape[HEAD_GRAPH];
	if (shape[HEAD_KERNEL] != gnngp_text_key(model->kernel, (int) strlen(model->kernel)) ||
		shape[HEAD_PIECES] < 0 ||
		have[LIVE_SHAPES] - SHAPE_HEAD != shape[HEAD_PIECES] * SHAPE_COLUMNS)
		gnngp_arrays_damaged(model, "live");
	live->keep = gp_keep_create(live->env);
	live->keep->n = live->keep->room = (int) shape[HEAD_PIECES];
	live->keep->piece = gp_alloc_zero(live->env, Max(shape[HEAD_PIECES], 1), sizeof(gp_piece));
	for (int k = 0; k < live->keep->n; k++)
		make_piece(model, live->env, &live->keep->piece[k],
				   shape + SHAPE_HEAD + (int64) k * SHAPE_COLUMNS, &l, have);
}

/* Reads a live state, as the owner of the extension's tables. */
static gnngp_live *
read_live(const gnngp_model *model)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_live *live = gp_alloc_zero(env, 1, sizeof(gnngp_live));
	gnngp_identity saved = gnngp_become_extension();
	gnngp_arrays list;

	live->env = env;
	if (!gnngp_arrays_read(env, model, "live", &list))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the live state of model \"%s\" was left out of a dump", model->name),
				 errhint("CALL gp_refresh(%s) makes it again.", quote_literal_cstr(model->name))));
	gnngp_arrays_pop_ids(model, "live", &list, &live->ids);
	make_pieces(model, live, &list);
	if (model->rows > 0)
		live->task = gnngp_facts_read(env, model);
	gnngp_become_again(&saved);
	check_state(model, live);
	live->model = model->id;
	live->version = model->version;
	live->fitted = model->fitted;
	return live;
}

static void
forget(void)
{
	gnngp_live *live = kept;

	kept = NULL;
	gnngp_account_keep(0, NULL);
	gnngp_env_destroy(live->env);
}

gnngp_live *
gnngp_live_open(const gnngp_model *model)
{
	gnngp_live *live = kept;

	if (model->live_bytes == 0 && model->rows > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("model \"%s\" has no live answers: its task asks for a column of a table without time", model->name),
				 errhint("What the rows beside a row tell is stored: use gp_predict, and gp_refresh after changes.")));
	if (model->live_bytes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model \"%s\" has no live state", model->name),
				 strcmp(model->strategy, gp_strategy_names[GP_STRATEGY_SQL]) == 0 ?
				 errhint("Strategy sql keeps none: fit it with another strategy and live => true.") :
				 errhint("Fit it with gp_fit(..., live => true).")));
	if (live == NULL || live->model != model->id || live->version != model->version ||
		live->fitted != model->fitted || live->env->used > gnngp_account_left())
	{
		gnngp_account_give_up(0);
		return read_live(model);
	}
	kept = NULL;
	gnngp_env_resume(live->env, CurrentMemoryContext);
	return live;
}

void
gnngp_live_close(gnngp_live *live)
{
	if (live == NULL)
		return;
	if (live->env->used > gnngp_setting_link_cache_size())
	{
		gnngp_env_destroy(live->env);
		return;
	}
	gnngp_account_give_up(0);
	gnngp_env_keep(live->env, CacheMemoryContext, forget);
	kept = live;
}

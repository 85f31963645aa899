/*
 * encode_features.c - columns of any type, NULL among them, as features of nodes.
 *
 * Rows are kept as numbers, which may be sparse, until all have come: words as the bits of their
 * hashes that a double holds, times as days.
 */
#include "postgres.h"

#include "reader_internal.h"

void
gnngp_add_feature(gnngp_query *q, const gnngp_column *column, gnngp_cell_type *type)
{
	(void) gnngp_cell_type_of(column->base, type);
	if (type->kind == GP_CELL_TIME)
	{
		/* Whatever time zone the session has, live answers another than the fit. */
		type->read_as = TIMESTAMPOID;
		type->cast = "::pg_catalog.timestamp";
	}
	if (column->base == TIMESTAMPTZOID)
		gnngp_query_add(q, TIMESTAMPOID, "pg_catalog.timezone('UTC', t.%s)", column->quoted);
	else
		gnngp_query_add(q, type->read_as, "t.%s%s", column->quoted, type->cast);
}

double
gnngp_feature_number(const gnngp_cell_type *type, Datum value, bool null)
{
	gp_cell		cell;

	gnngp_read_cell(type, value, null, &cell);
	if (type->kind == GP_CELL_WORD)
		return null ? NAN : (double) (cell.word >> 11);
	if (type->kind == GP_CELL_TIME)
		return cell.null ? NAN : (double) cell.time / GP_TIME_DAY;
	return null ? NAN : cell.number;
}

/* A row of features that may be sparse. */
static void
read_cells(const gp_features *f, int64 row, gp_cell *cell)
{
	for (int64 c = 0; c < f->dims; c++)
		cell[c] = (gp_cell) {.number = f->csr ? 0.0
							 : gp_number_at(f->dense, f->type, row * f->dims + c)};
	for (int64 k = f->csr ? f->csr->start[row] : 0; f->csr && k < f->csr->start[row + 1]; k++)
		cell[f->csr->col[k]].number = gp_number_at(f->csr->value, f->type, k);
	for (int64 c = 0; c < f->dims; c++)
	{
		cell[c].null = isnan(cell[c].number);
		/* Of a word; other columns may have larger numbers, and negative ones. */
		cell[c].word = (uint64) fmin(fabs(cell[c].number), 0x1p53);
	}
}

/* Tells which columns are left out; 22000 where all are. */
static void
notice_left_out(const gnngp_reader *r, const gp_encoding *encoding, const gnngp_column *column)
{
	for (int32_t p = 0; p < encoding->nencoded; p++)
	{
		char		way[64];
		char		note[128];

		gp_encoded_describe(&encoding->encoded[p], way, sizeof(way), note, sizeof(note));
		if (encoding->encoded[p].width == 0)
			gp_notice(r->env, NULL, "column \"%s\" of table \"%s\" is left out of the features: %s",
					  column[encoding->encoded[p].column].name, r->nodes.name, note);
	}
	if (encoding->width == 0)
		gnngp_raise(DATA_EXCEPTION, "Name other columns, or leave \"features\" out.",
					"no feature column of table \"%s\" has values that tell its nodes apart",
					r->nodes.name);
}

gp_features *
gnngp_encode_features(gnngp_reader *r, gp_features *numbers, const gnngp_column *column,
					  const gnngp_cell_type *type)
{
	gp_env	   *env = r->env;
	const gp_encoding *encoding = r->encoding;
	gp_cell    *cell = palloc(sizeof(gp_cell) * numbers->dims);
	gp_features_builder *builder;
	int32		repeated_node,
				repeated_feature;

	if (r->some)
	{
		if (r->encoding == NULL || r->encoding->nencoded == 0 ||
			r->encoding->encoded[r->encoding->nencoded - 1].column != numbers->dims - 1)
			gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Fit the model again with gp_refresh.",
						"the feature columns of table \"%s\" have changed since the model was fitted",
						r->nodes.name);
	}
	else
	{
		gp_cell_kind *cells = palloc(sizeof(gp_cell_kind) * numbers->dims);
		gp_encoder *encoder;

		for (int64 c = 0; c < numbers->dims; c++)
			cells[c] = type[c].kind == GP_CELL_TIME ? GP_CELL_NUMBER : type[c].kind;
		encoder = gp_encoder_create(env, (int32_t) numbers->dims, cells, GP_TIME_NEVER, NULL);
		GP_EACH(env, i, numbers->rows, i * numbers->dims)
		{
			read_cells(numbers, i, cell);
			gp_encoder_look(encoder, (uint64_t) i + 1, 0, cell);
		}
		encoding = r->data->encoding = gp_encoder_finish(encoder, false);
		notice_left_out(r, encoding, column);
	}
	double	   *row = palloc(sizeof(double) * encoding->width);
	builder = gp_features_create(env, numbers->rows, encoding->width, GP_DOUBLE);
	GP_EACH(env, i, numbers->rows, i * encoding->width)
	{
		read_cells(numbers, i, cell);
		gp_encode(encoding, cell, row);
		gp_features_add_row(builder, (int32) i, row);
	}
	gp_features_free(env, numbers);
	return gp_features_build(builder, &repeated_node, &repeated_feature);
}

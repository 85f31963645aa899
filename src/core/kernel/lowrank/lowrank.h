/*
 * lowrank.h - what the files of the low-rank factor share.
 *
 * To be read in this order: nystrom.c makes the factor step by step; nystrom_panel.c makes the
 * panels of an activation and their roots; implicit_panel.c makes rows and columns of a
 * panel that is not stored; panel.c applies the roots; product.c multiplies with the factor and
 * takes rows of it.
 * nystrom_parts.c refuses kernels with too many parts before anything is made.
 */
#ifndef GP_LOWRANK_H
#define GP_LOWRANK_H

#include "kernel/prepared.h"

/* A factor that is being made, step by step. */
typedef struct gp_nystrom
{
	gp_eval    *ev;
	const int32_t *landmark;
	int64_t		nlandmarks;
	int		   *uses;			/* left of each step's factor */
	int		   *hop;			/* how far from what is asked for the rows of each step lie; NULL:
								 * all are computed */
	int		   *ops_above;		/* operators between each step and the last, if no activation lies
								 * between them, else -1 */
	gp_factor **factor;			/* of each step; NULL before it is computed, and for linear steps */
} gp_nystrom;

/*
 * implicit_panel.c: C(:,a), the covariances of a layer with the landmarks, made for each use: of
 * a chain, or of an activation on terms that steps join.
 */
typedef struct gp_implicit_panel
{
	int			references;		/* panels that it is of */
	gp_chain	chain;
	gp_linear	own;			/* the chain's factor, where it is no step's */
	gp_linear	narrow;			/* the same without columns that no landmark has, where these are
								 * few: then the chain's */
	gp_terms   *terms;			/* not NULL: columns by way of these are cheaper */
	const int32_t *landmark;
	int64_t		nlandmarks;
} gp_implicit_panel;

/*
 * Of a step that is a chain (terms NULL), or an activation on these terms, with their factor where
 * it is no step's, which is taken.
 */
extern gp_implicit_panel *gp_implicit_open(gp_nystrom *ny, int step, const gp_terms *terms,
										   gp_linear *own);

/* Drops a reference; the last one frees it.  NULL is allowed. */
extern void gp_implicit_free(gp_eval *ev, gp_implicit_panel *implicit);

/* Some rows of an implicit panel, made of what lies in reach of them. */
typedef struct gp_local_rows
{
	const gp_panel *panel;
	gp_eval		ev;				/* of the rows in reach, nearest first; of all rows, without an
								 * order, where more than half are in reach */
	gp_prepared kernel;
	gp_order   *order;
	gp_linear	z;
	gp_chain	chain;
	int32_t    *cols;			/* the rows that landmarks are, or that stand for their variances */
	int32_t    *place;			/* among all of these, of each row asked for */
} gp_local_rows;

extern gp_local_rows *gp_local_rows_open(gp_eval *ev, const gp_panel *panel, const int32_t *index,
										 int64_t n);
extern void gp_local_rows_close(gp_eval *ev, gp_local_rows *local);

/* Columns band of these rows of the panel; work has a row for each row in reach. */
extern void gp_local_rows_columns(gp_local_rows *local, gp_band band, gp_matrix work,
								  gp_matrix out);

/* Columns band of C, of all rows or of those in reach. */
extern void gp_implicit_columns(gp_eval *ev, const gp_implicit_panel *s, gp_local_rows *local,
								gp_band band, gp_matrix out);

/* product.c: rows of an implicit panel, before its root, of the evaluation's type. */
extern void gp_panel_rows(gp_eval *ev, const gp_panel *panel, const int32_t *index, int64_t n,
						  gp_matrix out);

/* nystrom_panel.c */

/* Makes a factor of one panel of covariances of a step with the landmarks. */
extern gp_factor *gp_nystrom_of_panel(gp_nystrom *ny, int step, gp_matrix panel);

/* The same of an implicit panel, which it takes. */
extern gp_factor *gp_nystrom_of_implicit(gp_nystrom *ny, int step, gp_implicit_panel *implicit);

/*
 * The covariances of a linear factor, which terms tell, with the landmarks, all rows; with relu,
 * C(:,a) of an activation on it.
 */
extern gp_matrix gp_nystrom_linear_panel(gp_nystrom *ny, int step, const gp_terms *terms,
										 const gp_linear *z, bool relu);

/* The factor of terms that a step joins; it may stay unmade where only a panel is taken of it. */
extern gp_linear gp_nystrom_terms(gp_nystrom *ny, int step, const gp_terms *terms, bool for_panel);

/* C(:,a) of an activation on a factor with panels, a block of rows at a time, which depends on the
 * same rows of the panels alone: the first panel of its width becomes it. */
extern gp_matrix gp_nystrom_deep_panel(gp_nystrom *ny, int step, gp_factor *f);

#endif							/* GP_LOWRANK_H */

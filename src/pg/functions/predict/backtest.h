/*
 * backtest.h - what earlier blocks of time say of later ones.
 */
#ifndef GNNGP_BACKTEST_H
#define GNNGP_BACKTEST_H

#include "postgres.h"

#include "core/fit/fit.h"
#include "pg/catalog/catalog.h"

/*
 * The figures of all labels of a task that earlier blocks of time predict, by GP_METRICS; NaN where
 * there are none.
 */
extern void gnngp_forward_figures(const gnngp_model *model, double *metric);

#endif							/* GNNGP_BACKTEST_H */

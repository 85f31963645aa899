/*
 * read_sparse.h - features in a table of (node, feature number, value).
 */
#ifndef GNNGP_READ_SPARSE_H
#define GNNGP_READ_SPARSE_H

#include "reader_int.h"

extern void gnngp_read_sparse(gnngp_reader *r);

#endif							/* GNNGP_READ_SPARSE_H */

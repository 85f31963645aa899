/*
 * types.h - graphs, features and kernel factors as values of SQL types.
 *
 * A value is a string of bytes without padding, the same on every machine: a
 * version, flags, numbers in seven bits a byte, floats with the low byte first.
 * Each value has one encoding only, so that equal bytes mean equal values.
 * Stored, sent in binary and, in base64, as text it is the same string; the
 * functions that read it from outside trust none of it.
 */
#ifndef GNNGP_TYPES_H
#define GNNGP_TYPES_H

#include "pg/server/compat.h"
#include "pg/server/server.h"

#define GNNGP_VALUE_VERSION 1
#define GNNGP_VALUE_LIMIT ((uint64) 256 << 20)	/* bytes: text and dumps of it stay under 1 GB */

/* Flags of a value. */
#define GNNGP_VALUE_DENSE 0x01	/* node ids follow each other without a gap */
#define GNNGP_VALUE_WEIGHTED 0x02
#define GNNGP_VALUE_KERNEL 0x04 /* a state: a kernel's text stands in it */
#define GNNGP_VALUE_WIDE 0x08	/* a matrix: its numbers are of double precision */

/* A place in a value that is being read. */
typedef struct gnngp_value_reader
{
	const unsigned char *at;
	const unsigned char *end;
	const char *type;
	int			sqlstate;		/* of the error for bytes that make no sense */
} gnngp_value_reader;

/* The ids of the nodes of a value, ascending. */
typedef struct gnngp_value_ids
{
	int64		n;
	int64		first;
	int64	   *id;				/* NULL: first, first + 1, ... */
} gnngp_value_ids;

/* value.c: reading */

/* Raises the error of a value that makes no sense. */
pg_noreturn extern void gnngp_value_refuse(const gnngp_value_reader *r, const char *reason);
extern uint64 gnngp_value_number(gnngp_value_reader *r);
/* Starts reading a stored value, whose header is checked against the flags it may have. */
extern gnngp_value_reader gnngp_value_open(Datum value, const char *type);
/* Reads version and flags. */
extern int	gnngp_value_flags(gnngp_value_reader *r, int allowed);
/* Reads ids; each node is known to take at least node_bytes further on. */
extern gnngp_value_ids gnngp_value_read_ids(gnngp_value_reader *r, int flags, uint64 node_bytes);

static inline int64
gnngp_value_id(const gnngp_value_ids *ids, int64 node)
{
	return ids->id ? ids->id[node] : ids->first + node;
}

/* True when two lists of ids are one. */
static inline bool
gnngp_value_ids_equal(const gnngp_value_ids *a, const gnngp_value_ids *b)
{
	return a->n == b->n && a->first == b->first && (a->id == NULL) == (b->id == NULL) &&
		(a->id == NULL || memcmp(a->id, b->id, a->n * sizeof(int64)) == 0);
}

/* The node of an id, or -1. */
extern int64 gnngp_value_find(const gnngp_value_ids *ids, int64 id);

/* value.c: writing */

/* Refuses a value of so many bytes; what is the word for it. */
extern void gnngp_value_check_size(double bytes, const char *what);
/*
 * Counts bytes that are kept for a value to come; 53400 when the memory limit does not
 * allow them, and more that the end will take, beside what the backend holds.
 */
extern void gnngp_value_hold(gnngp_holding *held, MemoryContext context, double kept, double more,
							 const char *what);
/* Grows memory of a context, or makes it where there is none. */
static inline void *
gnngp_value_grow(MemoryContext context, void *p, Size bytes)
{
	return p ? repalloc_huge(p, bytes) : MemoryContextAllocHuge(context, bytes);
}

extern void gnngp_value_begin(StringInfo out, int flags);
/* Makes room, refusing what grows over the limit. */
extern void gnngp_value_reserve(StringInfo out, uint64 bytes, const char *what);
/* These need room that was reserved: 10 bytes for a number. */

static inline void
gnngp_value_put_number(StringInfo out, uint64 v)
{
	while (v >= 0x80)
	{
		out->data[out->len++] = (char) (v | 0x80);
		v >>= 7;
	}
	out->data[out->len++] = (char) v;
}

extern void gnngp_value_put_ids(StringInfo out, const gnngp_value_ids *ids, const char *what);
extern Datum gnngp_value_end(StringInfo out);

/* The flag of ids. */
static inline int
gnngp_value_ids_flag(const gnngp_value_ids *ids)
{
	return ids->id ? 0 : GNNGP_VALUE_DENSE;
}

/* Input from text and binary; check reads a whole value of the type. */
typedef void (*gnngp_value_check) (gnngp_value_reader *r);

extern Datum gnngp_value_in(FunctionCallInfo fcinfo, const char *type, gnngp_value_check check);
extern Datum gnngp_value_recv(FunctionCallInfo fcinfo, const char *type, gnngp_value_check check);

/* The input functions of the type gp_<name>. */
#define GNNGP_VALUE_INPUT(name, check) \
	GNNGP_FUNCTION(gnngp_##name##_in) { return gnngp_value_in(fcinfo, "gp_" #name, check); } \
	GNNGP_FUNCTION(gnngp_##name##_recv) { return gnngp_value_recv(fcinfo, "gp_" #name, check); }

/* value_graph.c */
typedef struct gnngp_graph_value
{
	gnngp_value_ids ids;
	int64		edges;			/* distinct, except in a state with weights */
	int32	   *src;			/* nodes, src < dst; ordered by src, then dst */
	int32	   *dst;
	double	   *weight;			/* or NULL */
	/* of a state */
	char	   *kernel;			/* or NULL */
	int64		landmarks;		/* 0: as many as are good */
} gnngp_graph_value;

/* Reads a stored gp_graph or gp_graph_state, whichever type says. */
extern void gnngp_graph_read(Datum value, const char *type, gnngp_graph_value *out);
/* The same up to the edges, which are counted; *weighted, unless NULL: whether it has weights. */
extern gnngp_graph_value gnngp_graph_head(Datum value, const char *type, bool *weighted);
/* The place of each of its nodes among rows, palloc'd; NULL where one, then missing, has none. */
extern int32 *gnngp_graph_places(const gnngp_graph_value *graph, const gnngp_value_ids *rows,
								 int64 *missing);

/* Adds its edges between nodes with these numbers. */
extern void gnngp_graph_add_edges(gp_edges *edges, const gnngp_graph_value *graph,
								  const int32 *node);

/*
 * value_table.c: a row of floats for each node.  Features have one of numbers that
 * describe it, a factor one of Q, with K = QQ'.
 */
typedef struct gnngp_table_value
{
	gnngp_value_ids ids;
	int64		cols;
	bool		wide;			/* a gp_matrix: doubles in place of floats */
	const unsigned char *value; /* nodes x cols numbers, not aligned */
} gnngp_table_value;

/* Reads a stored gp_features or gp_factor, whichever type says. */
extern gnngp_table_value gnngp_table_read(Datum value, const char *type);

/* Reads a stored gp_matrix, and its numbers as a matrix of the core, which belongs to env. */
extern gnngp_table_value gnngp_matrix_read(Datum value);
extern gp_matrix gnngp_matrix_numbers(gp_env *env, const gnngp_table_value *matrix);

/*
 * A value of a matrix of the core, rows packed, which is wide for doubles; what is the word for it
 * in an error.  22003 for a number that is not finite.
 */
extern Datum gnngp_table_write(const gnngp_value_ids *ids, gp_matrix m, const char *what);

extern Datum gnngp_matrix_write(const gnngp_value_ids *ids, gp_matrix m);

/* The ids of rows first to first + n; those of a list are in the same memory. */
extern gnngp_value_ids gnngp_value_ids_part(const gnngp_value_ids *ids, int64 first, int64 n);

/* The rows of chunk k of n + 1, the first of which is known: up to the first id that is not below
 * its bound. */
extern int64 gnngp_rows_of_chunk(const gnngp_value_ids *ids, int64 first, const int64 *bound, int n,
								 int k);

/* 22023 for matrices, or an array, that do not go together. */
pg_noreturn extern void gnngp_matrix_refuse(const char *what);

/* Row i of packed floats, as floats. */
extern void gnngp_value_row(const unsigned char *value, int64 row, int64 cols, float *out);

/* ---- kernel factors (factor_make.c) ---- */

/* What a factor is made of. */
typedef struct gnngp_factor_task
{
	const gnngp_graph_value *graph;
	const gnngp_table_value *features;	/* or NULL: structure only */
	const char *kernel;
	int64		landmarks;		/* 0: as many as are good */
	int64		seed;
} gnngp_factor_task;

/* The factor as a value of type gp_factor. */
extern Datum gnngp_factor_make(const gnngp_factor_task *task);

/* The threads for so many operations: 1 for little work, which starts none; 0 for those that are
 * set. */
extern int	gnngp_factor_threads(double flops);

#endif							/* GNNGP_TYPES_H */

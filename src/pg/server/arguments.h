/*
 * arguments.h - arguments of SQL functions and columns of their rows.
 */
#ifndef GNNGP_ARGUMENTS_H
#define GNNGP_ARGUMENTS_H

#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/memutils.h"

/* The head of a C function that SQL calls. */
#define GNNGP_FUNCTION(name) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS)

#define GNNGP_KERNEL_AUTO "auto"

/* True for the word that leaves the choice of a kernel to the fit, in whatever case. */
static inline bool
gnngp_kernel_is_auto(const char *kernel)
{
	return pg_strcasecmp(kernel, GNNGP_KERNEL_AUTO) == 0;
}

/* 22004 when an argument that must be given is NULL. */
extern void gnngp_require_argument(FunctionCallInfo fcinfo, int argno, const char *name);

/* A text or boolean argument, 22004 when NULL. */
extern char *gnngp_text_argument(FunctionCallInfo fcinfo, int argno, const char *name);
extern bool gnngp_bool_argument(FunctionCallInfo fcinfo, int argno, const char *name);

/* A kernel argument as its canonical text, 22004 when NULL. */
extern char *gnngp_kernel_argument(FunctionCallInfo fcinfo, int argno);

/* A landmarks argument: 0 when NULL, 22023 below 1. */
extern int32 gnngp_landmarks_argument(FunctionCallInfo fcinfo, int argno);

#define GNNGP_TOP_HINT "Use top => NULL for all classes."

/*
 * How many rows of each node a call asks for, by an argument of this name: 22023 below 1, all
 * when NULL.
 */
extern int32 gnngp_count_argument(FunctionCallInfo fcinfo, int argno, const char *name,
								  const char *hint);

/* The index of a word, in any case; 22023 with the hint when it is none.  what: for the message. */
extern int	gnngp_require_word(const char *what, const char *word, int n, const char *const *words,
							   const char *hint);

/* The elements of an array without NULLs. */
static inline const void *
gnngp_array_data(const ArrayType *array)
{
	return (const char *) array +
		(ARR_HASNULL(array) ? (Size) array->dataoffset : ARR_OVERHEAD_NONULLS(ARR_NDIM(array)));
}

/* 2202E for an array of several dimensions. */
extern void gnngp_require_list(ArrayType *array, const char *name);

/* The elements of an array, n of them, and which are NULL; and an array of elements of a type. */
extern int	gnngp_array_elements(ArrayType *array, Datum **element, bool **null);
extern Datum gnngp_make_array(Datum *element, int n, Oid type);

/* A list of texts; text is NULL where there is no list. */
typedef struct gnngp_texts
{
	int			n;
	char	  **text;
} gnngp_texts;

/* An array of texts or names, and an argument that is one and not NULL: 22004 for NULL in it. */
extern gnngp_texts gnngp_texts_of(Datum value);
extern gnngp_texts gnngp_texts_argument(FunctionCallInfo fcinfo, int argno, const char *name);

/* ---- rows of functions that return some ---- */

/* A column of a row; a float8 is NULL where it is NaN, and a text where there is none. */
static inline NullableDatum
gnngp_out(Datum value)
{
	return (NullableDatum) {value, false};
}

extern NullableDatum gnngp_out_float(double v);
extern NullableDatum gnngp_out_text(const char *text);

#define GNNGP_OUT_NULL ((NullableDatum) {0, true})

/* The set of rows that a call returns, and where one of them is made. */
typedef struct gnngp_result
{
	Tuplestorestate *store;
	TupleDesc	desc;
	MemoryContext row;			/* reset after each */
	MemoryContext caller;
	struct Tuplesortstate *sort;	/* until they are sorted; NULL: they come as they are emitted */
	struct TupleTableSlot *slot;
} gnngp_result;

extern gnngp_result *gnngp_result_start(FunctionCallInfo fcinfo);

/* Makes these cells, in a memory context of one row, and appends them; serves interrupts. */
#define gnngp_emit(result, ...) \
	((result)->caller = MemoryContextSwitchTo((result)->row), \
	 gnngp_emit_row(result, lengthof(((NullableDatum[]) {__VA_ARGS__})), \
					(const NullableDatum[]) {__VA_ARGS__}))
extern void gnngp_emit_row(gnngp_result *result, int n, const NullableDatum *cell);

/* Sorts them by two columns of double precision, the largest first; the second call ends it. */
extern void gnngp_result_sort(gnngp_result *result, AttrNumber first, AttrNumber second);
extern void gnngp_result_end_sort(gnngp_result *result);

/* The one row that a call returns. */
#define gnngp_row(fcinfo, ...) \
	gnngp_make_row(fcinfo, lengthof(((NullableDatum[]) {__VA_ARGS__})), \
				   (const NullableDatum[]) {__VA_ARGS__})
extern Datum gnngp_make_row(FunctionCallInfo fcinfo, int n, const NullableDatum *cell);

#endif							/* GNNGP_ARGUMENTS_H */

/*
 * task_reading.h - one reading of the facts that rows of a task see.
 */
#ifndef GNNGP_TASK_READING_H
#define GNNGP_TASK_READING_H

#include "postgres.h"

#include "pg/ids/idmap.h"
#include "table_join.h"

/* What of the facts of a source becomes columns. */
typedef enum gnngp_fact_numbers
{
	GNNGP_FACTS_ALL,			/* all numbers of a fact */
	GNNGP_FACTS_WITHIN,			/* its numbers within categories */
	GNNGP_FACTS_CHANGES,		/* its numbers by themselves, for how they change */
	GNNGP_FACTS_AMOUNTS,		/* those that are added up */
	GNNGP_FACTS_TARGETS,		/* the earlier answers of facts that have them */
	GNNGP_FACT_NUMBERS
} gnngp_fact_numbers;

/*
 * Where facts that rows see come from: children of the entity, children of these, or children of
 * something that the entity refers to.
 */
typedef struct gnngp_fact_source
{
	/* As it is planned: */
	const char *name;
	int			relation;		/* by which the facts refer to their parent */
	int			key_relation;	/* whose child has the key: the same, or that of their parent */
	int			joined;			/* whose key finds them; 0: the entity, else one of its parents */
	int			entity_key_column;	/* of the query for the entities: that key */
	Oid			key_type;
	gnngp_join *join;
	int			fact_key_column;	/* columns of its query: the key, */
	int			visible_column; /* since when the fact is visible, */
	int			time_column;	/* and the time of its own row; -1: it has none */
	bool		timed;			/* it, or what it refers to, has times */
	bool		answers;		/* nothing but the answers of its rows counts */
	int			id_column;		/* the id of its rows, entities with labels; -1: they have none */
	/* As it is declared: */
	int			width;			/* numbers of a fact */
	int32		apart;			/* of them by themselves, which are read beside them, */
	int32		amounts;		/* then those that are added up: of its own table alone */
	int32		columns[GNNGP_FACT_NUMBERS];	/* facts of gp_task_columns; -1: none */
	int			target_column;	/* of its query: what the task asks for; -1: it lacks that */
	int32		target_first;	/* and where it is among the numbers of a fact */
	int32		target_width;
	/* As it is read: */
	gnngp_numbered keys;		/* all that entities have */
	int32	   *entity_key;		/* of each entity; -1: none */
	gp_time    *entity_key_from;	/* and from when on it is known; NULL: always */
	int32	   *row_key;		/* of each row */
	int64		nanswering;		/* rows whose labels count, by key */
	int64		answering_room;
	gp_answering *answering;
} gnngp_fact_source;

typedef struct gnngp_task_reading
{
	gp_env	   *env;
	const gnngp_schema *schema;
	bool		few;			/* few rows are asked for: they are read by index */
	const gnngp_graph_def *task;
	int			entity;			/* table, and its column that is the id */
	int			id;
	bool		asks_column;	/* of the entities: each is as of the time of its own row */
	bool		timeless_path;	/* a path of theirs is by rows without time */
	int64		n;				/* rows */
	const gp_time *as_of;
	gnngp_numbered entities;	/* in the order of their first rows */
	bool		integer_ids;
	int32	   *entity_of;		/* of each row */
	const gnngp_ids *label_ids;	/* of each label; NULL: labels are of the entities */
	int32	   *row_of;			/* rows by entity, */
	int64	   *row_start;		/* where those of each begin */
	gnngp_task_transform *transform;
	gnngp_join *own;			/* the query for the entities */
	int32	   *own_group;		/* of each joined table; -1: no columns */
	int			nfact_sources;
	gnngp_fact_source *fact_source;
	bool		cut;			/* there are more of them than are read */
	int32		calendar;
	int32		joint;			/* of all facts of the entities; -1: none */
	int32		of_targets;		/* columns from here on tell what the answers were before, */
	int32		beside;			/* and from here on those of other rows */
	int32		earlier_labels; /* facts of gp_task_columns: of a row's entity, */
	int32		all_labels;		/* and of all; -1: none */
	gp_task_columns *columns;
	gp_time    *answered;		/* as of when rows see earlier answers; NULL: as of their times */
	int64		read;			/* facts that rows see, or might, */
	int64		read_own;		/* those that refer to the entities, */
	int64		later_own;		/* and of these, later than all rows of their entity */
} gnngp_task_reading;

/* Points a reading to rows, and numbers their entities. */
extern void gnngp_reading_point(gnngp_task_reading *r, int64 n, const gnngp_id *id,
								const gp_time *as_of);

/*
 * From when on each entity is there: GP_TIME_NEVER where its time is NULL, GNNGP_NOWHERE where it
 * is in no table.
 */
#define GNNGP_NOWHERE (GP_TIME_NEVER - 1)
extern gp_time *gnngp_reading_entity_times(gnngp_task_reading *r);

/*
 * A query that asks for the entities, of which only the condition (where) and the keys that it asks
 * for (array, array_type) are set.
 */
extern gnngp_query gnngp_reading_key_query(const gnngp_task_reading *r, const char *alias);

/* Gives a query that asks for keys these. */
extern void gnngp_give_keys(gnngp_query *q, const gnngp_numbered *keys);

/* The number that a value has among keys or entities; -1: none. */
extern int32 gnngp_key_number(gnngp_numbered *keys, Datum value, bool null, Oid type);

/*
 * What the rows of a reading by metapaths refer to, at once or by the rows of another table
 * (task_paths.c).
 */
extern gp_metapath *gnngp_reading_paths(gnngp_task_reading *r);

/* Looks up what is to be read: the query for the entities, and the sources of facts. */
extern void gnngp_reading_plan(gnngp_task_reading *r);

/* Looks at all tables that are read, as far as they are there before a time (table_encoding.c). */
extern void gnngp_reading_encode(gnngp_task_reading *r, gp_time before);

/* Declares the columns (fact_columns.c), then reads and fills them (read_facts.c). */
extern void gnngp_reading_declare(gnngp_task_reading *r);
extern void gnngp_reading_run(gnngp_task_reading *r, const gp_facts_labels *labels);

/*
 * Clears earlier answers of other rows that tell nothing.  Where there are many columns, also
 * clears those of facts beside what the entities refer to that tell little of the labels; live
 * answers do not read them.
 */
extern void gnngp_leave_out_silent(const gnngp_task_reading *r, const gp_facts_labels *labels);

/* Clears the sums that decay: where all facts are old, less is left of them than was ever seen. */
extern void gnngp_leave_out_amounts(const gnngp_task_reading *r);

/*
 * Clears what is written once the answer is known, of rows that are asked for a column of theirs:
 * the first are labelled.  NOTICEs name it.
 */
extern void gnngp_clear_later(const gnngp_task_reading *r, int64 labelled);

/* NOTICEs of columns that alone give the answer (leakage_notice.c). */
extern void gnngp_notice_leakage(const gnngp_task_reading *r, const gp_facts_labels *labels);

#endif							/* GNNGP_TASK_READING_H */

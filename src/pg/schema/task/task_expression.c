/*
 * task_expression.c - tasks that are an SQL expression over e, t and horizon.
 *
 * e is a row of the entities' table, t the as-of time, horizon how far the question reaches.  The
 * expressions are the owner's code.  Each is parsed alone, as one expression, before it becomes
 * part of a query; it stands there in parentheses and on lines of its own, so that it cannot end
 * them.  It runs as the graph's owner, under the search_path that it was made under.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "task.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#define BEFORE_EXPRESSION "SELECT ("	/* before an expression, in the query that it is checked in */

/* An expression that is parsed, and where it begins in the text that the parser sees. */
typedef struct parsed_text
{
	const gnngp_graph_def *task;
	const char *argument;
	const char *expression;
	int			begin;
} parsed_text;

/* Points errors of PostgreSQL's parser to the place in the expression, and names the argument. */
static void
parse_context(void *arg)
{
	const parsed_text *text = arg;
	int			position = geterrposition() - text->begin;

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(text->expression);
	errcontext("argument \"%s\" of task \"%s\"", text->argument, text->task->name);
	if (text->task->id != 0 && geterrcode() != ERRCODE_SYNTAX_ERROR)
		errhint("If a name has changed, write the expression again: gp_alter_task(%s, %s => ...).",
				quote_literal_cstr(text->task->name), text->argument);
	if (geterrcode() == ERRCODE_SYNTAX_ERROR &&
		pg_strncasecmp(text->expression + strspn(text->expression, " \t\n"), "SELECT", 6) == 0)
		errhint("Put a query into parentheses: (SELECT ...).");
	/* Of these alone there are two in the query: of the entities and of x. */
	if (geterrcode() == ERRCODE_AMBIGUOUS_COLUMN)
		errhint("Write x.t for the as-of time, x.horizon for the horizon, and e.t or e.horizon for a column of the table.");
}

/* 42601 unless a text is one expression: a SELECT of it alone, without any clause. */
static void
require_expression(const char *text, const char *argument)
{
	List	   *parsed = raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *bare = makeNode(SelectStmt);
	const SelectStmt *select = (const SelectStmt *) linitial_node(RawStmt, parsed)->stmt;

	bare->targetList = IsA(select, SelectStmt) ? select->targetList : NIL;
	if (list_length(bare->targetList) != 1 || !equal(bare, select) ||
		linitial_node(ResTarget, bare->targetList)->name != NULL)
		gnngp_raise(SYNTAX_ERROR, "Put a query into parentheses: (SELECT ...).",
					"argument \"%s\" of a task must be one expression", argument);
}

/*
 * The query that an expression is checked in: one row of its own.  42P01 when the entities' table
 * is gone.
 */
static char *
check_query(const gnngp_graph_def *task, const char *expression)
{
	Oid			table = task->task.table;
	char	   *name = get_rel_name(table);

	if (name == NULL)
		gnngp_raise(UNDEFINED_TABLE, NULL,
					"the table of task \"%s\" no longer exists", task->name);
	return psprintf(BEFORE_EXPRESSION "%s\n) FROM %s e CROSS JOIN (SELECT NULL::pg_catalog.timestamptz AS t,"
					" NULL::pg_catalog.interval AS horizon) x", expression,
					quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name));
}

/* What a target has to depend on and does not: "e", "t", "horizon", or NULL. */
static const char *
lacks(Query *query)
{
	ListCell   *cell;
	bool		has_e = false;
	bool		has_t = false;
	bool		has_horizon = false;

	foreach(cell, pull_vars_of_level((Node *) query->targetList, 0))
	{
		const Var  *var = lfirst_node(Var, cell);
		const RangeTblEntry *of = rt_fetch(var->varno, query->rtable);

		has_e = has_e || of->rtekind == RTE_RELATION;
		/* x.t and x.horizon of the query above, or x itself. */
		has_t = has_t || (of->rtekind == RTE_SUBQUERY && var->varattno <= 1);
		has_horizon = has_horizon || (of->rtekind == RTE_SUBQUERY && var->varattno != 1);
	}
	return !has_e ? "e" : !has_t ? "t" : !has_horizon ? "horizon" : NULL;
}

void
gnngp_tell_target_lacks(const gnngp_graph_def *task, const char *lacking)
{
	static const char *const notes[][3] = {
		{"e", "All rows of the table then have the same answer at a time.",
		"Write e.id for a column of the table: in a subquery, id alone is a column of the subquery's table if that has one."},
		{"t", "It has today's answer at every time, so facts may reveal it too early.",
		"Compare times with t and t + horizon; or ask for a column with gp_create_task(task, graph, 'table.column')."},
		{"horizon", "If it looks at everything after t, older labels cover a longer time than newer ones.",
		"Limit it, for instance by AND l.taken <= t + horizon, where taken is the time of row l."}
	};

	for (size_t i = 0; lacking && i < lengthof(notes); i++)
		if (strcmp(notes[i][0], lacking) == 0)
			gnngp_notice_detail(notes[i][1], notes[i][2],
								"the target of task \"%s\" does not depend on %s", task->name,
								lacking);
}

/* True for a function that tells the moment of the statement, or the time since. */
static bool
tells_now(Oid function, void *unused)
{
	return function == F_NOW || function == F_TRANSACTION_TIMESTAMP ||
		function == F_STATEMENT_TIMESTAMP || function == F_AGE_TIMESTAMP ||
		function == F_AGE_TIMESTAMPTZ;
}

/* True for a text that as a time is relative to the present: 'now', 'today 12:00'. */
static bool
is_relative_time(const char *text)
{
	char		work[MAXDATELEN + 1];
	char	   *field[MAXDATEFIELDS];
	int			type[MAXDATEFIELDS];
	int			n = 0;
	int			value;

	if (ParseDateTime(text, work, sizeof(work), field, type, MAXDATEFIELDS, &n) != 0)
		return false;
	for (int i = 0; i < n; i++)
		if ((type[i] == DTK_STRING || type[i] == DTK_SPECIAL) &&
			DecodeSpecial(i, field[i], &value) == RESERV &&
			value >= DTK_NOW && value <= DTK_TOMORROW)
			return true;
	return false;
}

/* A time that stands in a query as a text, and where. */
typedef struct time_text
{
	Node	   *query;			/* as the parser gave it */
	int			location;
} time_text;

/* Finds the text of a query that begins at a place; true where it is relative. */
static bool
is_relative_text(Node *node, void *arg)
{
	A_Const    *constant = (A_Const *) node;

	if (node == NULL)
		return false;
	if (!IsA(node, A_Const))
		return raw_expression_tree_walker(node, is_relative_text, arg);
	return constant->location == ((const time_text *) arg)->location &&
		IsA(&constant->val, String) && is_relative_time(strVal(&constant->val));
}

/* True where an expression asks for the moment at which it is run; arg: the query that it is of. */
static bool
asks_now(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, asks_now, arg, 0);
	/* 'now' became a time when it was analyzed. */
	if (IsA(node, Const) && TypeCategory(((Const *) node)->consttype) == TYPCATEGORY_DATETIME)
	{
		time_text	text = {arg, ((Const *) node)->location};

		return is_relative_text(text.query, &text);
	}
	return (IsA(node, SQLValueFunction) &&
			((SQLValueFunction *) node)->op <= SVFOP_LOCALTIMESTAMP_N) ||
		check_functions_in_node(node, tells_now, NULL) ||
		expression_tree_walker(node, asks_now, arg);
}

/* 42501 for a column of e that the present user may not read. */
static void
require_readable(const Query *query)
{
	ListCell   *cell;

	foreach(cell, pull_vars_of_level((Node *) query->targetList, 0))
	{
		const Var  *var = lfirst_node(Var, cell);
		Oid			table = rt_fetch(var->varno, query->rtable)->relid;

		if (OidIsValid(table) && var->varattno > 0 &&
			!gnngp_may_read_column(table, var->varattno, GetUserId()))
			aclcheck_error_col(ACLCHECK_NO_PRIV, OBJECT_COLUMN, get_rel_name(table),
							   get_attname(table, var->varattno, false));
	}
}

/*
 * The query that an expression is checked in, analyzed; *raw gets it as the parser gave it.  Errors
 * show the expression alone.
 */
static Query *
analyze_expression(const gnngp_graph_def *task, const char *expression, const char *argument,
				   Node **raw)
{
	parsed_text text = {task, argument, expression, 0};
	ErrorContextCallback context = {error_context_stack, parse_context, &text};
	const char *query = check_query(task, expression);

	error_context_stack = &context;
	require_expression(expression, argument);
	text.begin = strlen(BEFORE_EXPRESSION);
	RawStmt    *parsed = linitial_node(RawStmt, raw_parser(query, RAW_PARSE_DEFAULT));
	*raw = copyObject(parsed->stmt);
	Query	   *analyzed = parse_analyze_fixedparams(parsed, query, NULL, 0, NULL);
	error_context_stack = context.previous;
	require_readable(analyzed);
	return analyzed;
}

/* The type of the expression that such a query selects. */
static Oid
type_of(const Query *query)
{
	return exprType((Node *) linitial_node(TargetEntry, query->targetList)->expr);
}

/*
 * 42601 for what is not one value of each row, such as e.*, an aggregate or generate_series; 42P17
 * for a function that gives another result each time, and would make labels that nobody can check.
 */
static Query *
check_value(const gnngp_graph_def *task, const char *expression, const char *argument)
{
	Node	   *raw;
	Query	   *query = analyze_expression(task, expression, argument, &raw);

	if (list_length(query->targetList) != 1 || query->hasAggs || query->hasWindowFuncs ||
		query->hasTargetSRFs)
		gnngp_raise(SYNTAX_ERROR,
					"Write aggregates over other rows as a subquery: (SELECT count(*) FROM ...).",
					"argument \"%s\" of task \"%s\" must be a single value for each row", argument,
					task->name);
	if (contain_volatile_functions((Node *) query))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("argument \"%s\" of task \"%s\" calls a volatile function", argument, task->name),
				 errdetail("Its result may differ from one call to the next, so that labels could not be reproduced."),
				 errhint("Use functions that are immutable or stable.")));
	if (asks_now((Node *) query, raw))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("argument \"%s\" of task \"%s\" depends on the present time", argument, task->name),
				 errdetail("It would show later facts as of an earlier time, and labels could not be reproduced."),
				 errhint("Compare times with t and t + horizon.")));
	return query;
}

/* The schemas that names are looked up in, as a setting. */
static char *
present_path(void)
{
	StringInfoData path;
	ListCell   *cell;

	initStringInfo(&path);
	foreach(cell, fetch_search_path(true))
	{
		const char *schema = get_namespace_name(lfirst_oid(cell));

		if (schema && !isAnyTempNamespace(lfirst_oid(cell)))
			appendStringInfo(&path, "%s%s", path.len > 0 ? ", " : "", quote_identifier(schema));
	}
	appendStringInfo(&path, "%spg_temp", path.len > 0 ? ", " : "");
	return path.data;
}

/* 42804 for a target that is a row, a time or a structure: neither a class nor a value. */
static void
require_target_type(const gnngp_graph_def *task, Oid type)
{
	char		category = TypeCategory(getBaseType(type));

	if (type_is_rowtype(type))
		gnngp_raise(DATATYPE_MISMATCH, "Name one value of it, such as e.column.",
					"argument \"target\" of task \"%s\" is a row", task->name);
	if (category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN)
		gnngp_raise(DATATYPE_MISMATCH,
					psprintf("To predict days from t, write extract(epoch FROM %s) / 86400.",
							 category == TYPCATEGORY_TIMESPAN ? "..." : "(...) - t"),
					"argument \"target\" of task \"%s\" has type %s, which is not a number",
					task->name, format_type_be(type));
	if (gnngp_is_json_type(getBaseType(type)))
		gnngp_raise(DATATYPE_MISMATCH, "Name one value of it, such as (...) ->> 'KEY'.",
					"argument \"target\" of task \"%s\" has type %s, which is neither a class nor a number",
					task->name, format_type_be(type));
}

const char *
gnngp_check_expressions(gnngp_graph_def *task)
{
	gnngp_task_def *def = &task->task;

	def->path = def->path ? def->path : present_path();
	gnngp_identity saved = gnngp_become(GetUserId());
	gnngp_pin("search_path", def->path);
	gnngp_spi_connect();
	Query	   *target = check_value(task, def->target, "target");
	require_target_type(task, type_of(target));
	if (def->filter && getBaseType(type_of(check_value(task, def->filter, "filter"))) != BOOLOID)
		gnngp_raise(DATATYPE_MISMATCH, "A filter says which entities are asked about as of t.",
					"argument \"filter\" of task \"%s\" is not boolean", task->name);
	const char *lacking = lacks(target);
	gnngp_spi_finish();
	gnngp_become_again(&saved);
	return lacking;
}

/* ---- the columns that an expression reads ---- */

/* Columns, by gnngp_column_key. */
typedef struct read_columns
{
	List	   *queries;		/* around the place, from the innermost out */
	List	   *all;
	List	   *with_t;			/* those that stand under one operator with t */
	bool		has_t;			/* t stands in the innermost query */
} read_columns;

static bool
collect_columns(Node *node, void *arg)
{
	read_columns *c = arg;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		bool		has_t = c->has_t;

		c->queries = lcons(node, c->queries);
		query_tree_walker((Query *) node, collect_columns, c, QTW_IGNORE_JOINALIASES);
		c->queries = list_delete_first(c->queries);
		c->has_t = has_t;
		return false;
	}
	if (IsA(node, SubLink) && ((SubLink *) node)->subLinkType == EXISTS_SUBLINK)
	{
		Query		bare = *(Query *) ((SubLink *) node)->subselect;

		bare.targetList = NIL;	/* as in EXISTS (SELECT * ...) */
		return collect_columns((Node *) &bare, c);
	}
	if (IsA(node, OpExpr))
	{
		read_columns under = {.queries = c->queries};

		expression_tree_walker(node, collect_columns, &under);
		c->all = list_concat_unique(c->all, under.all);
		c->with_t = list_concat_unique(c->with_t, under.has_t ? under.all : under.with_t);
		c->has_t = c->has_t || under.has_t;
		return false;
	}
	if (IsA(node, Var))
	{
		const Var  *var = (Var *) node;
		int			level = (int) var->varlevelsup;
		const Query *query = list_nth_node(Query, c->queries, level);
		const RangeTblEntry *of = rt_fetch(var->varno, query->rtable);

		if (of->rtekind == RTE_RELATION && var->varattno > 0)
			c->all = list_append_unique(c->all, gnngp_column_key(of->relid, var->varattno));
		c->has_t = c->has_t || (of->rtekind == RTE_SUBQUERY && var->varattno == 1 &&
								level + 1 == list_length(c->queries));
	}
	return expression_tree_walker(node, collect_columns, c);
}

/*
 * The columns of a table that a query reads (InvalidOid: of any), except times that it compares
 * with t.
 */
static List *
columns_read(Query *query, Oid table)
{
	read_columns c = {0};
	List	   *read = NIL;
	ListCell   *cell;

	(void) collect_columns((Node *) query, &c);
	foreach(cell, c.all)
	{
		const List *column = lfirst(cell);
		Oid			type = get_atttype(linitial_oid(column), (AttrNumber) lsecond_oid(column));

		if ((table == linitial_oid(column) || !OidIsValid(table)) &&
			(!list_member(c.with_t, column) || !gnngp_is_time_type(getBaseType(type))))
			read = lappend(read, lfirst(cell));
	}
	return read;
}

Oid
gnngp_task_expression_type(gnngp_task_rows *rows)
{
	const gnngp_task_def *def = &rows->task->task;
	int			level = NewGUCNestLevel();
	List	   *items = NIL;
	bool		row_security;
	Node	   *raw;

	gnngp_pin("search_path", def->path);
	Query	   *target = analyze_expression(rows->task, def->target, "target", &raw);
	Oid			type = type_of(target);
	/* Of rows after t a target asks what came of them: that is no leak. */
	rows->read_columns = columns_read(target, def->table);
	extract_query_dependencies((Node *) pg_rewrite_query(target), &rows->read, &items,
							   &row_security);
	if (def->filter)
	{
		Query	   *filter = analyze_expression(rows->task, def->filter, "filter", &raw);

		rows->read_columns = list_concat_unique(rows->read_columns,
												columns_read(filter, InvalidOid));
	}
	AtEOXact_GUC(false, level);
	return type;
}

/*
 * tune.c - gp_tune, which compares kernels on one reading of the tables.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "auto_kernel.h"
#include "pg/functions/functions.h"
#include "funcapi.h"
#include "methods.h"
#include "pg/server/server.h"
#include "portability/instr_time.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

/* The row of a kernel. */
typedef struct tune_row
{
	const char *method;			/* gp, or the kernel where it is a method */
	const char *kernel;			/* NULL: laplacian with the parameters that suit, not found yet */
	double		nugget;			/* NaN when the kernel did not fit into memory */
	double		loo_score;
	double		log_marginal_likelihood;
	double		seconds;
	double		criterion;
} tune_row;

/* A tuning on its way, and the row in hand. */
typedef struct tuner
{
	gp_env	   *env;			/* of the data */
	gnngp_data *data;
	gnngp_fit_settings settings;
	bool		by_likelihood;
	char	   *name;			/* for progress */
	MemoryContext context;		/* of the rows */
	tune_row   *row;
} tuner;

/* What is compared when no kernels are given, beside a Laplacian kernel; the last one has no graph. */
static const char *const default_kernels[] = {
	"gcn", "gin", "sage", "sage2", "gcnii", "appnp(alpha=0.1)", "profile", "gcn(input=laplacian)", "mlp"
};

/* A kernel's canonical text, by way of its type. */
static char *
canonical_kernel(Oid type, const char *text)
{
	Oid			input,
				output,
				ioparam;
	bool		is_varlena;

	getTypeInputInfo(type, &input, &ioparam);
	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output,
								 OidInputFunctionCall(input, unconstify(char *, text), ioparam, -1));
}

/* The texts of an array's elements; 22004 for NULL elements. */
static char **
array_texts(ArrayType *array, const char *name, int *n)
{
	Oid			type = ARR_ELEMTYPE(array);
	Oid			output;
	bool		is_varlena,
				byval;
	int16		length;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	char	  **texts;

	get_typlenbyvalalign(type, &length, &byval, &align);
	getTypeOutputInfo(type, &output, &is_varlena);
	deconstruct_array(array, type, length, byval, align, &elements, &nulls, n);
	texts = palloc(sizeof(char *) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain NULL", name)));
		texts[i] = OidOutputFunctionCall(output, elements[i]);
	}
	return texts;
}

/* The kernels of an array; 22023 for none. */
static char **
given_kernels(ArrayType *array, int *n)
{
	char	  **kernels = array_texts(array, "kernels", n);

	if (*n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kernels must not be empty"),
				 errhint("Leave kernels NULL to compare the usual ones.")));
	return kernels;
}

/* The usual kernels; the one without a graph only where there are features. */
static char **
usual_kernels(Oid type, bool features, int *n)
{
	char	  **kernels = palloc0(sizeof(char *) * (lengthof(default_kernels) + 1));

	*n = (int) lengthof(default_kernels) + (features ? 1 : 0);
	for (int i = 1; i < *n; i++)
		kernels[i] = canonical_kernel(type, default_kernels[i - 1]);
	return kernels;
}

/* A row for each kernel; a kernel that is a method says so in its row. */
static tune_row *
make_rows(int n, char **kernels)
{
	tune_row   *rows = palloc0(sizeof(tune_row) * n);

	for (int i = 0; i < n; i++)
	{
		gnngp_fit_settings settings = gnngp_fit_settings_default();

		if (kernels[i])
			settings.kernel = kernels[i];
		gnngp_method_check(&settings);
		rows[i].kernel = gnngp_method_is_gp(settings.method) ? kernels[i] : settings.method;
		rows[i].method = settings.method;
	}
	return rows;
}

/* Fits the kernel of the row in hand. */
static void
compute_row(gnngp_run *compute, void *arg)
{
	const tuner *t = arg;
	gp_problem	problem;
	gp_posterior *posterior;

	gnngp_problem_init(&problem, t->data, NULL, &t->settings);
	problem.compared = true;
	if (gnngp_method_is_gp(t->row->method))
	{
		if (t->row->kernel == NULL)
			posterior = gnngp_fit_laplacian(compute, &problem, t->context, &t->row->kernel);
		else
		{
			problem.program = gnngp_compile_kernel(compute->env, t->row->kernel);
			posterior = gnngp_run_fit(compute, &problem);
		}
	}
	else
		posterior = gnngp_method_fit(compute, &problem, t->row->method);
	t->row->nugget = posterior->nugget;
	t->row->loo_score = posterior->loo_score;
	t->row->log_marginal_likelihood = posterior->log_marginal_likelihood;
}

/* What a row is to be told of as. */
static char *
row_title(const tune_row *row)
{
	return psprintf("kernel \"%s\"", row->kernel == NULL ? "laplacian" : row->kernel);
}

/* Fits one kernel in an environment of its own, and tells of which one it has something to say. */
static void
fit_kernel(tuner *t, gp_env *env, tune_row *row)
{
	instr_time	start,
				elapsed;

	INSTR_TIME_SET_CURRENT(start);
	t->row = row;
	(void) gnngp_env_collect_notices(env);
	gnngp_compute(env, 0, true, compute_row, t);
	gnngp_env_tell_notices(env, row_title(row));
	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	row->seconds = INSTR_TIME_GET_DOUBLE(elapsed);
}

/* Marks a kernel as one that did not fit into memory; raises other errors again. */
static void
skip_kernel(tune_row *row, ErrorData *error)
{
	if (error->sqlerrcode != ERRCODE_CONFIGURATION_LIMIT_EXCEEDED &&
		error->sqlerrcode != ERRCODE_OUT_OF_MEMORY)
		ReThrowError(error);
	if (row->kernel == NULL)
		row->kernel = "laplacian";
	ereport(NOTICE,
			(errmsg("%s is skipped: %s", row_title(row), error->message),
			 error->hint ? errhint("%s", error->hint) : 0));
	row->nugget = row->loo_score = row->log_marginal_likelihood = row->seconds = NAN;
	FreeErrorData(error);
}

/* Fits one kernel; memory that does not suffice skips the kernel alone. */
static void
try_kernel(tuner *t, tune_row *row)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	gp_env	   *env = gnngp_env_create(context);
	ErrorData  *error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		fit_kernel(t, env, row);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	gnngp_env_destroy(env);
	if (error)
	{
		skip_kernel(row, error);
		gnngp_progress_begin(t->name);
	}
	row->criterion = t->by_likelihood ? row->log_marginal_likelihood : row->loo_score;
}

/* Best first; what has no figure comes last. */
static int
compare_rows(const void *a, const void *b, void *unused)
{
	const tune_row *x = a;
	const tune_row *y = b;

	if (isnan(x->criterion) || isnan(y->criterion))
		return (isnan(x->criterion) ? 1 : 0) - (isnan(y->criterion) ? 1 : 0);
	if (x->criterion != y->criterion)
		return x->criterion > y->criterion ? -1 : 1;
	return strcmp(x->kernel, y->kernel);
}

/* True for the marginal likelihood, false for leave-one-out; 22023 for anything else. */
static bool
read_criterion(const char *criterion)
{
	static const char *const words[] = {"loo", "marginal_likelihood", "lml"};

	return gnngp_require_word("criterion", criterion, lengthof(words), words,
							  "A criterion is loo or marginal_likelihood.") > 0;
}

/* Puts the rows. */
static void
put_rows(ReturnSetInfo *result, const tune_row *rows, int n)
{
	for (int i = 0; i < n; i++)
	{
		Datum		values[5];
		bool		nulls[5] = {true};

		gnngp_put_kernel(values, nulls, 0, result->setDesc, rows[i].kernel);
		gnngp_put_float(values, nulls, 1, rows[i].nugget);
		gnngp_put_float(values, nulls, 2, rows[i].loo_score);
		gnngp_put_float(values, nulls, 3, rows[i].log_marginal_likelihood);
		gnngp_put_float(values, nulls, 4, rows[i].seconds);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

PG_FUNCTION_INFO_V1(gnngp_tune);

/* gp_tune(graph, kernels, criterion) */
Datum
gnngp_tune(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	gnngp_graph_def *graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));
	tuner		t = {.settings = gnngp_fit_settings_default()};
	tune_row   *rows;
	char	  **kernels = NULL;
	int			n = 0;

	t.by_likelihood = read_criterion(gnngp_text_argument(fcinfo, 2, "criterion"));
	if (!PG_ARGISNULL(1))
		kernels = given_kernels(PG_GETARG_ARRAYTYPE_P(1), &n);
	InitMaterializedSRF(fcinfo, 0);

	t.name = graph->name;
	t.context = CurrentMemoryContext;
	gnngp_account_give_up(0);
	gnngp_progress_begin(t.name);
	t.env = gnngp_env_create(CurrentMemoryContext);
	t.data = gnngp_read(t.env, graph, t.settings.task, true);
	if (kernels == NULL)
		kernels = usual_kernels(TupleDescAttr(result->setDesc, 0)->atttypid,
								t.data->features != NULL, &n);
	rows = make_rows(n, kernels);
	for (int i = 0; i < n; i++)
		try_kernel(&t, &rows[i]);
	gnngp_sort(rows, n, sizeof(tune_row), compare_rows, NULL);
	put_rows(result, rows, n);
	gnngp_env_destroy(t.env);
	gnngp_progress_end();
	return (Datum) 0;
}

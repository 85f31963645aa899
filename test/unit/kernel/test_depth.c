/*
 * test_depth.c - the largest kernels that the parser takes, in a thread with a small stack.
 *
 * Each runs through the language, the planner and every evaluator, or is refused
 * with an error; none may take more stack than there is.  What recurs looks at
 * the stack, which is tried with a limit that no kernel here fits into.
 */
#include "fit/fit_internal.h"
#include "formula/formula_internal.h"
#include "test_env.h"
#include "test_graphs.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES (1 << 20)
#define STACK_SPARE (1 << 17)	/* for what looks at the stack no more: libraries, sanitizers */
#define SMALL_LIMIT 3000		/* bytes: a few frames */
#define N 34
#define NLANDMARKS 8

/* A text of the form before(before( ... inside ... )after)after. */
static char *
nested(const char *before, const char *inside, const char *after, int levels, const char *options)
{
	char	   *text = calloc(1, (strlen(before) + strlen(after)) * levels + strlen(inside) +
							  strlen(options) + 1);
	char	   *at = text;

	for (int i = 0; i < levels; i++)
		at = stpcpy(at, before);
	at = stpcpy(at, inside);
	for (int i = 0; i < levels; i++)
		at = stpcpy(at, after);
	stpcpy(at, options);
	return text;
}

/* A sum of so many terms; %d in a term is its number. */
static char *
summed(const char *term, int terms, const char *options)
{
	char	   *text = calloc(1, (strlen(term) + 8) * terms + strlen(options) + 1);
	char	   *at = text;

	for (int i = 1; i <= terms; i++)
	{
		at = stpcpy(at, i > 1 ? " + " : "");
		at += sprintf(at, term, i, i);
	}
	stpcpy(at, options);
	return text;
}

/* Constants, each of which is typed while the one before is: x1=x2*1.01, x2=x3*1.01 ... */
static char *
constants(const char *formula, int count)
{
	char	   *text = calloc(1, strlen(formula) + 24 * count);
	char	   *at = stpcpy(text, formula);

	for (int i = 1; i < count; i++)
		at += sprintf(at, ", x%d=x%d*1.01", i, i + 1);
	sprintf(at, ", x%d=l", count);
	return text;
}

/* ---- in a thread of 1 MB ---- */

/* One kernel through everything. */
typedef struct depth_case
{
	const char *name;
	char	   *text;
	int			refused;		/* evaluators and plans that refused it */
	int			ran;
	int			strange;		/* errors that are no refusal */
	int			steps;
	bool		cancel;			/* evaluators are cancelled */
	char		message[1024];	/* of the last error */
} depth_case;

/* Counts how one part ended. */
static void
count_end(depth_case *c, gp_env *env, bool raised)
{
	gp_error	code = test_state(env)->code;

	c->ran += !raised;
	if (!raised)
		return;
	snprintf(c->message, sizeof(c->message), "%s", test_state(env)->message);
	if (code == GP_ERR_STACK || code == GP_ERR_UNSUPPORTED || code == GP_ERR_SYNTAX ||
		code == GP_ERR_LIMIT || code == GP_ERR_RANGE || code == GP_ERR_DATA)
		c->refused++;
	else
		c->strange++;
}

/* A fit's problem on the karate club. */
static gp_problem
problem_of(gp_env *env, const gp_program *program)
{
	static const int32_t labelled[] = {0, 1, 2, 30, 32, 33};
	static const int32_t label[] = {0, 0, 0, 1, 1, 1};
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	p.graph = karate_graph(env, false, false);
	p.program = program;
	p.task = GP_TASK_CLASSES;
	p.nlabelled = 6;
	p.labelled = labelled;
	p.label = label;
	p.nclasses = 2;
	p.nugget = 0.1;
	p.type = GP_FLOAT;
	return p;
}

/* Every evaluator, one after the other. */
static void
evaluate(depth_case *c, gp_env *env, const gp_problem *p)
{
	static const int32_t landmark[NLANDMARKS] = {0, 2, 5, 11, 16, 24, 32, 33};
	gp_device  *dev = gp_device_cpu(env, 1);
	int			root = p->program->nsteps - 1;
	gp_eval		ev;

	gp_eval_open(&ev, dev, p->program, p->graph, NULL, 0, p->type);
	test_state(env)->cancel = c->cancel;
	count_end(c, env, test_catch(env, gp_eval_full(&ev, root)));
	count_end(c, env, test_catch(env, gp_eval_nystrom(&ev, root, landmark, NLANDMARKS)));
	if (gp_step_cheapness(&ev, root) == GP_CHEAP_NONE)
		return;
	count_end(c, env, test_catch(env, gp_eval_diagonal(&ev, root)));
	count_end(c, env, test_catch(env, gp_eval_columns(&ev, root, landmark, NLANDMARKS)));
}

/* The kernel through the language, the planner with each strategy, the evaluators. */
static void
run_kernel(depth_case *c, gp_env *env)
{
	gp_kernel  *kernel = gp_kernel_parse(env, c->text);
	gp_program *program = gp_kernel_program(env, kernel);
	gp_problem	p = problem_of(env, program);
	gp_device  *dev = gp_device_cpu(env, 1);

	c->steps = program->nsteps;
	gp_kernel_parse(env, gp_kernel_print(env, kernel));
	for (int s = GP_STRATEGY_AUTO; s <= GP_STRATEGY_NYSTROM; s++)
	{
		p.strategy = (gp_strategy) s;
		p.nlandmarks = s == GP_STRATEGY_NYSTROM ? NLANDMARKS : 0;
		count_end(c, env, test_catch(env, gp_plan_make(dev, &p)));
	}
	evaluate(c, env, &p);
}

/* The thread. */
static void *
thread_main(void *arg)
{
	depth_case *c = arg;
	gp_env	   *env = test_env();

	test_state(env)->stack_base = __builtin_frame_address(0);
	test_state(env)->stack_limit = STACK_BYTES - STACK_SPARE;
	if (test_catch(env, run_kernel(c, env)))
		count_end(c, env, true);
	test_env_close(env);
	return NULL;
}

/* Runs a kernel in a thread with a small stack. */
static void
check_small_stack(const char *name, char *text, int steps, int least)
{
	depth_case	c = {.name = name, .text = text};
	pthread_attr_t attr;
	pthread_t	thread;
	char		line[1400];

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (pthread_create(&thread, &attr, thread_main, &c) != 0 || pthread_join(thread, NULL) != 0)
		c.strange++;
	pthread_attr_destroy(&attr);
	snprintf(line, sizeof(line), "%s: %d steps, %d ran, %d refused%s%s", name, c.steps, c.ran,
			 c.refused, c.message[0] != '\0' ? ", the last with: " : "", c.message);
	ok(c.strange == 0 && c.steps >= steps && c.ran >= least && c.ran + c.refused > 0, line);
	free(text);
}

/* ---- with hardly any stack ---- */

/* Allows a few frames from here on. */
static void
allow_little(gp_env *env)
{
	test_state(env)->stack_base = __builtin_frame_address(0);
	test_state(env)->stack_limit = SMALL_LIMIT;
}

/* A text is read and compiled with all the stack there is, and printed with hardly any. */
static void
check_print(gp_env *env, const char *text)
{
	test_state(env)->stack_base = NULL;
	gp_kernel  *kernel = gp_kernel_parse(env, text);
	allow_little(env);
	expect_error(env, GP_ERR_STACK, gp_kernel_print(env, kernel));
}

/* Each part of the language that recurs looks at the stack by itself. */
static void
check_language(gp_env *env)
{
	gp_arena   *arena = gp_arena_create(env);
	char	   *deep = nested("relu(", "X", ")*W", 60, "");
	char	   *sigma = nested("ln(2+", "l", ")", 60, "");
	char	   *chain = constants("x1*X0*W", 250);
	char	   *several = calloc(1, 500 + strlen(sigma));

	sprintf(several, "relu(relu(relu(relu(relu(X)*W)*W)*W)*W)*W + b, sigma_b=%s", sigma);
	allow_little(env);
	expect_error(env, GP_ERR_STACK, gp_kernel_read(arena, deep, 0));
	test_state(env)->stack_limit = 4 * SMALL_LIMIT;
	expect_error(env, GP_ERR_STACK, gp_kernel_parse(env, chain));
	test_state(env)->stack_limit = SMALL_LIMIT;
	check_print(env, deep);
	check_print(env, several);
	free(deep);
	free(sigma);
	free(chain);
	free(several);
}

/* Constants that need each other, in any order, nest no deeper than each by itself. */
static void
check_scalars(gp_env *env)
{
	char		text[4096];
	char	   *at = stpcpy(text, "relu(X)*W + b, sigma_b=");

	/* Each constant is typed before the next one needs it. */
	for (int i = 9; i >= 1; i--)
		at += sprintf(at, "%sx%d", i < 9 ? " + 0*" : "", i);
	for (int i = 9; i >= 1; i--)
	{
		at += sprintf(at, ", x%d=", i);
		for (int k = 0; k < 50; k++)
			at = stpcpy(at, "sqrt(");
		at += i == 9 ? sprintf(at, "l") : sprintf(at, "l+x%d", i + 1);
		for (int k = 0; k < 50; k++)
			at = stpcpy(at, ")");
	}
	gp_kernel  *kernel = gp_kernel_parse(env, text);
	gp_kernel  *again = gp_kernel_parse(env, gp_kernel_print(env, kernel));
	is_str(gp_kernel_key(env, kernel), gp_kernel_key(env, again), "constants that need each other are printed as they are read");
}

/* A deep program can be cancelled in each evaluator and in the planner. */
static void
check_cancel(gp_env *env)
{
	char	   *text = nested("A*relu(", "X", ")*W + b", 60, ", layers=32, sigma_b=1");
	gp_problem	p = problem_of(env, gp_kernel_program(env, gp_kernel_parse(env, text)));
	depth_case	c = {.text = text, .cancel = true};
	gp_device  *dev = gp_device_cpu(env, 1);

	p.nlandmarks = NLANDMARKS;
	for (int s = GP_STRATEGY_AUTO; s <= GP_STRATEGY_NYSTROM; s++)
	{
		p.strategy = (gp_strategy) s;
		test_state(env)->cancel_at = test_state(env)->checks + 1000;
		expect_error(env, TEST_CANCELLED, gp_plan_make(dev, &p));
	}
	evaluate(&c, env, &p);
	ok(c.ran == 0 && c.strange == 2 && test_state(env)->code == TEST_CANCELLED,
	   "cancelled evaluators end");
	free(text);
}

int
main(void)
{
	const char *deep = ", layers=32, sigma_b=1";

	/* OpenBLAS is loaded here, with all the stack there is. */
	in_env(gp_device_cpu(env, 1)->close(gp_device_cpu(env, 1)));
	check_small_stack("nested convolutions", nested("A*relu(", "X", ")*W + b", 8, deep), 700, 4);
	check_small_stack("as deep as may be", nested("A*relu(", "X", ")*W + b", 63, deep), 5000, 4);
	check_small_stack("activations in a row", nested("relu(", "X", ")", 63, ", layers=32"), 1900, 4);
	check_small_stack("linear layers", nested("A*(", "X", ")*W + b", 60, deep), 3000, 0);
	check_small_stack("shared steps", summed("X*W1 + relu(X)*W2", 1, ", layers=32"), 60, 5);
	check_small_stack("shared sums",
					  nested("(X*W + relu(", "X", ")*W1)", 20, ", layers=32, sigma_w1=0.1"), 100, 4);
	check_small_stack("operators on shared steps", summed("X*W1 + A*relu(X)*W2", 1, ", layers=32"), 60, 2);
	check_small_stack("a long sum of powers", summed("A^%d*relu(X*W+b)*W", 60, deep), 3000, 3);
	check_small_stack("a long linear sum", summed("A^%d*X*W", 60, ", layers=32"), 60, 0);
	check_small_stack("a sum as long as may be",
					  summed("(A+%d*I)*relu(X*W+b)*W", 125, ", layers=32, sigma_w=0.001, sigma_b=1"),
					  10000, 2);
	check_small_stack("a linear sum as long as may be", summed("(A+%d*I)*X*W", 180, ", layers=32"),
					  10000, 0);
	check_small_stack("constants in a row", constants("x1*relu(X)*W", 250), 1, 5);
	in_env(check_language(env));
	in_env(check_scalars(env));
	in_env(check_cancel(env));
	return done_testing();
}

/*
 * layer.c - the value of a formula in one layer: its tree, its names and its functions.
 *
 * Names of options get their value where the text first needs them.
 */
#include "layer_value.h"

#include <stdio.h>

#define MAX_DEPTH 600			/* 64 levels of the text, of 5 nodes at most, and constants */

static const gp_value *evaluate(gp_layer *t, const gp_ast *ast);
static double number_of(gp_layer *t, const gp_ast *ast, const char *name);

/* ---- sums, products and functions ---- */

/* A product: left to right. */
static const gp_value *
evaluate_product(gp_layer *t, const gp_ast *ast)
{
	const gp_value *v = evaluate(t, ast->arg[0]);
	int			position = ast->arg[0]->position;

	for (int i = 1; i < ast->n; i++)
	{
		const gp_ast *arg = ast->arg[i];
		const gp_value *b = evaluate(t, arg);

		if (!ast->flip[i])
		{
			v = gp_value_multiply(t, v, position, b, arg->position);
			continue;
		}
		if (b->kind != GP_VALUE_SCALAR)
			gp_value_refuse(t, arg->position, NULL, "only a number can divide in kernel");
		b = gp_value_number(t, b->number == 0.0 ? NAN :
							(v->kind == GP_VALUE_SCALAR ? v->number : 1.0) / b->number,
							arg->position, "division by zero or value out of range in kernel");
		v = v->kind == GP_VALUE_SCALAR ? b : gp_value_multiply(t, v, position, b, arg->position);
	}
	return v;
}

static const gp_value *
evaluate_sum(gp_layer *t, const gp_ast *ast)
{
	const gp_value **v = gp_arena_alloc(t->arena, ast->n * sizeof(gp_value *));

	for (int i = 0; i < ast->n; i++)
	{
		v[i] = evaluate(t, ast->arg[i]);
		if (ast->flip[i])
			v[i] = gp_value_negate(t, v[i]);
	}
	if (v[0]->kind == GP_VALUE_FEATURE)
		return gp_value_add_features(t, ast, v);
	const gp_value *sum = v[0];
	for (int i = 1; i < ast->n; i++)
		sum = gp_value_add(t, sum, v[i], ast->arg[i]->position);
	return sum;
}

const char *const gp_functions[] = {"relu", "unit", "P", "ln", "sqrt", NULL};

static void __attribute__((noreturn))
unknown_function(gp_layer *t, const gp_ast *ast)
{
	gp_meant	meant = gp_meant_start(ast->name, (int) strlen(ast->name));

	for (int i = 0; gp_functions[i] != NULL; i++)
		gp_meant_consider(&meant, gp_functions[i]);
	gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position,
				gp_meant_hint(t->arena, &meant, "Functions are relu, unit, P, ln and sqrt; "
							  "a product is written with *."),
				"unknown function \"%.40s\" in kernel", ast->name);
}

/* relu(X), unit(X), P(alpha), ln(2), sqrt(2) */
static const gp_value *
evaluate_call(gp_layer *t, const gp_ast *ast)
{
	bool		p = strcmp(ast->name, "P") == 0;
	bool		unit = strcmp(ast->lower, "unit") == 0;
	bool		relu = strcmp(ast->lower, "relu") == 0;
	bool		ln = strcmp(ast->lower, "ln") == 0;

	if (!relu && !unit && !ln && !p && strcmp(ast->lower, "sqrt") != 0)
		unknown_function(t, ast);
	if (ast->n != 1 || ast->key[0] != NULL)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, NULL,
					"function \"%.40s\" in kernel takes one argument", ast->name);
	if (p)
	{
		double		alpha = number_of(t, ast->arg[0], "P");

		if (!(alpha >= GP_MIN_P && alpha <= 1.0))
			gp_raise_at(t->env, GP_ERR_VALUE, ast->arg[0]->position, "P(a) is a*(I - (1-a)*A)^-1.",
						"teleport probability %g of P is not between %g and 1", alpha, GP_MIN_P);
		gp_value   *v = gp_value_make(t, GP_VALUE_OPERATOR, ast->position);
		v->op = gp_operator_p(t, alpha);
		return v;
	}
	if (!relu && !unit)
	{
		double		number = number_of(t, ast->arg[0], ast->lower);

		return gp_value_number(t, ln ? log(number) : sqrt(number), ast->position,
							   ln ? "logarithm of a number that is not positive in kernel" :
							   "square root of a negative number in kernel");
	}
	const gp_value *arg = evaluate(t, ast->arg[0]);
	if (arg->kind != GP_VALUE_FEATURE)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[0]->position,
					relu ? "Write relu(X)." : "Write unit(X0).",
					"%s in kernel takes a feature, not %s", relu ? "relu" : "unit",
					gp_value_name(arg));
	int			step = gp_value_step(t, arg);
	if (unit)
		return gp_value_feature(t, ast->position, gp_step_unit(t->steps, step), arg->sources,
								arg->mean);
	/* The input is no pre-activation: in the first layer relu(X) is X0. */
	if (t->layer != 1 || arg->sources != GP_SOURCE_X || arg->weighted ||
		step != gp_step_source(t->steps, GP_STEP_INPUT))
		step = gp_step_relu(t->steps, step);
	return gp_value_feature(t, ast->position, step, arg->sources, true);
}

/* ---- names ---- */

gp_constant *
gp_layer_find(const gp_layer *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->constant[i].option->name, name) == 0)
			return &t->constant[i];
	return NULL;
}

/* The value of a constant, computed once; it must not need itself. */
static const gp_value *
constant_value(gp_layer *t, gp_constant *c, int position)
{
	gp_value   *v = gp_value_make(t, GP_VALUE_SCALAR, position);

	c->used = true;
	c->needed |= t->steps != NULL;
	if (c->busy)
		gp_raise_at(t->env, GP_ERR_SYNTAX, position, NULL,
					"option \"%.40s\" of kernel refers to itself", c->option->spelled);
	c->busy = true;
	if (!c->known)
		c->number = number_of(t, c->option->value, c->option->spelled);
	c->known = true;
	c->busy = false;
	v->number = c->number;
	return v;
}

double
gp_layer_sigma(gp_layer *t, char letter, int number, int position)
{
	char		name[32];
	gp_constant *c = NULL;

	snprintf(name, sizeof(name), "sigma_%c%d", letter, number);
	if (number > 0)
		c = gp_layer_find(t, name);
	snprintf(name, sizeof(name), "sigma_%c", letter);
	if (c == NULL)
		c = gp_layer_find(t, name);
	if (c == NULL)
		return letter == 'w' ? 1.0 : 0.0;
	double		sigma = constant_value(t, c, position)->number;
	if (sigma < 0.0)
		gp_raise_at(t->env, GP_ERR_VALUE, c->option->value->position, NULL,
					"option \"%s\" of kernel must not be negative", c->option->name);
	return sigma;
}

static void __attribute__((noreturn))
unknown_name(gp_layer *t, const gp_ast *ast)
{
	const char *hint = "Names are X, X0, N, A, I, P(a), W, b, relu, unit, l and constants given "
		"as options.";
	gp_meant	meant = gp_meant_start(ast->name, (int) strlen(ast->name));

	for (int i = 0; i < t->n; i++)
		gp_meant_consider(&meant, t->constant[i].option->spelled);
	gp_meant_consider(&meant, "X0");
	if (strcmp(ast->name, "P") == 0)
		hint = "Write P(0.1).";
	else if (gp_keyword_is(ast->name, (int) strlen(ast->name)))
		hint = "Functions take an argument in parentheses, as in relu(X).";
	else if (ast->name[1] == '\0' && strchr("xnaiwB", ast->name[0]) != NULL)
		hint = "X, X0, N, A, I, P and W are upper case, b and l lower case.";
	else
		hint = gp_meant_hint(t->arena, &meant, hint);
	gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, hint,
				"unknown name \"%.40s\" in kernel", ast->name);
}

static const gp_value *
evaluate_name(gp_layer *t, const gp_ast *ast)
{
	size_t		length = strlen(ast->name);
	int			at = ast->position;
	int			number;
	gp_value   *v;

	if (strcmp(ast->name, "X") == 0)
		return gp_value_feature(t, at, t->layer == 1 ? gp_step_source(t->steps, GP_STEP_INPUT) :
								t->previous, GP_SOURCE_X, false);
	if (strcmp(ast->name, "X0") == 0)
		return gp_value_feature(t, at, gp_step_source(t->steps, GP_STEP_INPUT), GP_SOURCE_X0,
								false);
	if (strcmp(ast->name, "N") == 0)
		return gp_value_feature(t, at, gp_step_source(t->steps, GP_STEP_LISTS), GP_SOURCE_N, false);
	if (strcmp(ast->name, "I") == 0)
		return gp_value_make(t, GP_VALUE_IDENTITY, at);
	if (strcmp(ast->name, "A") == 0)
	{
		v = gp_value_make(t, GP_VALUE_OPERATOR, at);
		v->op = gp_operator_a(t);
		return v;
	}
	if ((number = gp_name_number(ast->name, length, 'W')) >= 0)
		return gp_value_weight(t, gp_layer_sigma(t, 'w', number, at), at);
	if ((number = gp_name_number(ast->name, length, 'b')) >= 0)
	{
		double		sigma = gp_layer_sigma(t, 'b', number, at);
		double		variance = gp_value_finite(t, sigma * sigma, at, GP_VARIANCE_NOT_FINITE);

		return gp_value_feature(t, at, gp_step_bias(t->steps, variance), 0, false);
	}
	v = gp_value_make(t, GP_VALUE_SCALAR, at);
	if (strcmp(ast->lower, "l") == 0)
	{
		if (t->plain != NULL && !t->one)
			gp_raise_at(t->env, GP_ERR_VALUE, at, NULL,
						"\"%s\" of kernel must not depend on the layer", t->plain);
		v->number = t->layer;
	}
	else if (strcmp(ast->lower, "layers") == 0)
	{
		if (t->layers == 0)
			gp_raise_at(t->env, GP_ERR_SYNTAX, at, NULL,
						"option \"layers\" of kernel refers to itself");
		v->number = t->layers;
	}
	else if (gp_layer_find(t, ast->lower) != NULL)
		return constant_value(t, gp_layer_find(t, ast->lower), at);
	else if (strcmp(ast->lower, "sigma_b") == 0)
		v->number = 0.0;
	else if (strcmp(ast->lower, "sigma_w") != 0)
		unknown_name(t, ast);
	return v;
}

/* ---- trees ---- */

static const gp_value *
evaluate(gp_layer *t, const gp_ast *ast)
{
	const gp_value *v = NULL;

	gp_check_stack(t->env);
	if (++t->depth > MAX_DEPTH)
		gp_value_refuse(t, ast->position, NULL, "kernel is nested too deeply");
	t->position = ast->position;
	switch (ast->kind)
	{
		case GP_AST_NUMBER:
			v = gp_value_number(t, ast->number, ast->position, "");
			break;
		case GP_AST_NAME:
			v = evaluate_name(t, ast);
			break;
		case GP_AST_CALL:
			v = evaluate_call(t, ast);
			break;
		case GP_AST_SUM:
			v = evaluate_sum(t, ast);
			break;
		case GP_AST_PRODUCT:
			v = evaluate_product(t, ast);
			break;
		case GP_AST_POWER:
			v = evaluate(t, ast->arg[0]);
			v = gp_value_power(t, ast, v, evaluate(t, ast->arg[1]));
			break;
		case GP_AST_NEGATE:
			v = gp_value_negate(t, evaluate(t, ast->arg[0]));
			break;
	}
	t->depth--;
	return v;
}

/* What must be a number; name says of what. */
static double
number_of(gp_layer *t, const gp_ast *ast, const char *name)
{
	const gp_value *v = evaluate(t, ast);

	if (v->kind != GP_VALUE_SCALAR)
		gp_raise_at(t->env, GP_ERR_SYNTAX, ast->position, NULL,
					"\"%.40s\" in kernel takes a number, not %s", name, gp_value_name(v));
	return v->number;
}

double
gp_layer_plain_number(gp_layer *t, const gp_ast *ast, const char *name)
{
	t->plain = name;
	double		number = number_of(t, ast, name);
	t->plain = NULL;
	return number;
}

int
gp_layer_evaluate(gp_layer *t, const gp_ast *formula)
{
	const gp_value *v = evaluate(t, formula);

	if (v->kind != GP_VALUE_FEATURE)
		gp_raise_at(t->env, GP_ERR_SYNTAX, formula->position,
					"Write a layer such as A*relu(X)*W + b.",
					"kernel has no feature such as X, X0 or N");
	return gp_value_step(t, v);
}

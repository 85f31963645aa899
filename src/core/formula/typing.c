/*
 * typing.c - what a kernel's text means: from the grammar's tree to typed values.
 *
 * Names of options get their meaning where the text first needs them.
 */
#include "formula_internal.h"
#include "lex.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 600			/* 64 levels of the text, of 5 nodes at most, and constants */

/* ---- constants ---- */

/* The option of this name, or NULL. */
gp_constant *
gp_typing_find(const gp_typing *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->constant[i].option->name, name) == 0)
			return &t->constant[i];
	return NULL;
}

/* The value of a constant, typed once; it must not need itself. */
static const gp_value *
constant_value(gp_typing *t, gp_constant *c, int position)
{
	c->used = true;
	if (c->value != NULL)
		return c->value;
	if (c->busy)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, position, NULL,
					"option \"%.40s\" of kernel refers to itself", c->option->spelled);
	c->busy = true;
	c->value = c->fixed != NULL ? gp_value_fixed(t, c->fixed) :
		gp_typing_number(t, c->option->value, c->option->spelled);
	c->busy = false;
	return c->value;
}

/* The constant of this name, typed; NULL when there is none. */
static const gp_value *
find_constant(gp_typing *t, const char *folded, int position)
{
	gp_constant *c;

	if (strcmp(folded, "layers") == 0)
	{
		if (t->layers == 0)
			gp_raise_at(t->m.env, GP_ERR_SYNTAX, position, NULL,
						"option \"layers\" of kernel refers to itself");
		return gp_value_plain(t, t->layers);
	}
	c = gp_typing_find(t, folded);
	if (c != NULL)
		return constant_value(t, c, position);
	if (strcmp(folded, "sigma_w") == 0)
		return gp_value_plain(t, 1.0);
	if (strcmp(folded, "sigma_b") == 0)
		return gp_value_plain(t, 0.0);
	return NULL;
}

/* sigma_w, sigma_w1, sigma_b ... for the number of a weight or bias, 0 for none. */
const gp_scalar *
gp_typing_sigma(gp_typing *t, char letter, int number, int position)
{
	char		name[32];
	gp_constant *c = NULL;
	const gp_value *v;

	if (number > 0)
	{
		snprintf(name, sizeof(name), "sigma_%c%d", letter, number);
		c = gp_typing_find(t, name);
	}
	if (c == NULL)
	{
		snprintf(name, sizeof(name), "sigma_%c", letter);
		c = gp_typing_find(t, name);
	}
	if (c == NULL)
		return find_constant(t, name, position)->s;
	v = constant_value(t, c, position);
	for (int i = 0; i <= t->last - t->first; i++)
		if (v->at[i] < 0.0)
			gp_raise_at(t->m.env, GP_ERR_VALUE,
						c->option->value != NULL ? c->option->value->position : position, NULL,
						"option \"%s\" of kernel must not be negative", name);
	return v->s;
}

/* ---- products and sums ---- */

/* A product: left to right. */
static const gp_value *
type_product(gp_typing *t, const gp_ast *ast)
{
	const gp_value *v = gp_typing_value(t, ast->arg[0]);
	int			position = ast->arg[0]->position;

	for (int i = 1; i < ast->n; i++)
	{
		const gp_ast *arg = ast->arg[i];
		const gp_value *b = gp_typing_value(t, arg);

		if (ast->flip[i])
			v = gp_value_divide(t, v, b, arg->position);
		else
			v = gp_value_multiply(t, v, position, b, arg->position);
	}
	return v;
}

/* A sum of features, whose independence is checked as a whole. */
static const gp_value *
sum_features(gp_typing *t, const gp_ast *ast, const gp_value *const *v)
{
	const gp_feature **arg = gp_arena_alloc(t->m.arena, ast->n * sizeof(gp_feature *));

	for (int i = 0; i < ast->n; i++)
	{
		if (v[i]->kind != GP_VALUE_FEATURE)
			gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->arg[i]->position, NULL,
						"%s cannot be added to a feature in kernel", gp_value_name(v[i]));
		arg[i] = v[i]->feature;
	}
	t->m.position = ast->position;
	return GP_VALUE(t, FEATURE, .feature = gp_feature_sum(&t->m, ast->n, arg));
}

/* A sum */
static const gp_value *
type_sum(gp_typing *t, const gp_ast *ast)
{
	const gp_value **v = gp_arena_alloc(t->m.arena, ast->n * sizeof(gp_value *));
	const gp_value *sum;

	for (int i = 0; i < ast->n; i++)
	{
		v[i] = gp_typing_value(t, ast->arg[i]);
		if (ast->flip[i])
			v[i] = gp_value_negate(t, v[i], ast->arg[i]->position);
	}
	if (v[0]->kind == GP_VALUE_FEATURE)
		return sum_features(t, ast, v);
	sum = v[0];
	for (int i = 1; i < ast->n; i++)
		sum = gp_value_add(t, sum, v[i], ast->arg[i]->position);
	return sum;
}

/* ---- powers, calls, names ---- */

/* A power of two numbers as written. */
static const gp_value *
scalar_power(gp_typing *t, const gp_value *base, const gp_value *e, int position)
{
	double	   *at = gp_value_room(t);

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = pow(base->at[i], e->at[i]);
	gp_value_check(t, at, base->s->kind == GP_SCALAR_NUMBER ? e->s : base->s, position,
				 "power out of range in kernel");
	t->m.position = position;
	return GP_VALUE(t, SCALAR, .s = gp_scalar_pow(&t->m, base->s, e->s), .at = at);
}

/* A power: of a number, or a whole one of an operator. */
static const gp_value *
type_power(gp_typing *t, const gp_ast *ast)
{
	const gp_value *base = gp_typing_value(t, ast->arg[0]);
	const gp_value *e = gp_typing_value(t, ast->arg[1]);
	int			position = ast->arg[1]->position;
	int			power;

	if (e->kind != GP_VALUE_SCALAR)
		gp_typing_bad(t, position, NULL, "an exponent in kernel must be a number");
	if (base->kind == GP_VALUE_SCALAR)
		return scalar_power(t, base, e, ast->arg[0]->position);
	if (base->kind != GP_VALUE_OPERATOR && base->kind != GP_VALUE_IDENTITY)
		gp_typing_bad(t, ast->arg[0]->position, NULL, "only numbers and operators have powers in kernel");
	if (e->s->kind != GP_SCALAR_NUMBER || e->s->number != floor(e->s->number) ||
		e->s->number < 0.0 || e->s->number > GP_MAX_POWER)
		gp_raise_at(t->m.env, GP_ERR_VALUE, position, NULL,
					"power of an operator in kernel must be a whole number from 0 to %d",
					GP_MAX_POWER);
	power = (int) e->s->number;
	t->m.position = ast->position;
	if (base->kind == GP_VALUE_IDENTITY)
		return GP_VALUE(t, IDENTITY, .s = gp_scalar_pow(&t->m, base->s, e->s));
	if (power == 0)
		return GP_VALUE(t, IDENTITY, .s = gp_scalar_number(&t->m, 1.0));
	return GP_VALUE(t, OPERATOR, .op = gp_poly_pow(&t->m, base->op, power));
}

/* ln or sqrt */
static const gp_value *
type_function(gp_typing *t, const gp_ast *ast, gp_scalar_kind kind)
{
	const gp_value *arg = gp_typing_number(t, ast->arg[0], ast->folded);
	double	   *at = gp_value_room(t);

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = kind == GP_SCALAR_LN ? log(arg->at[i]) : sqrt(arg->at[i]);
	gp_value_check(t, at, arg->s, ast->position,
				 kind == GP_SCALAR_LN ? "logarithm of a number that is not positive in kernel" :
				 "square root of a negative number in kernel");
	t->m.position = ast->position;
	return GP_VALUE(t, SCALAR, .s = gp_scalar_function(&t->m, kind, arg->s), .at = at);
}

/* P(alpha) */
static const gp_value *
type_pagerank(gp_typing *t, const gp_ast *ast)
{
	const gp_value *alpha = gp_typing_number(t, ast->arg[0], "P");

	for (int i = 0; i <= t->last - t->first; i++)
		if (!(alpha->at[i] >= GP_MIN_P && alpha->at[i] <= 1.0))
			gp_raise_at(t->m.env, GP_ERR_VALUE, ast->arg[0]->position,
						"P(a) is a*(I - (1-a)*A)^-1.",
						"teleport probability %g of P is not between %g and 1", alpha->at[i],
						GP_MIN_P);
	t->m.position = ast->position;
	return GP_VALUE(t, OPERATOR, .op = gp_poly_p(&t->m, alpha->s));
}

const char *const gp_functions[] = {"relu", "unit", "P", "ln", "sqrt", NULL};

/* Refuses a function that there is not. */
static void __attribute__((noreturn))
unknown_function(gp_typing *t, const gp_ast *ast)
{
	gp_meant	meant = gp_meant_start(ast->name, (int) strlen(ast->name));

	for (int i = 0; gp_functions[i] != NULL; i++)
		gp_meant_consider(&meant, gp_functions[i]);
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->position,
				gp_meant_hint(t->m.arena, &meant,
							  "Functions are relu, unit, P, ln and sqrt; a product is written with *."),
				"unknown function \"%.40s\" in kernel", ast->name);
}

/* A function with its argument. */
static const gp_value *
type_call(gp_typing *t, const gp_ast *ast)
{
	bool		unit = strcmp(ast->folded, "unit") == 0;
	bool		relu = strcmp(ast->folded, "relu") == 0;
	bool		ln = strcmp(ast->folded, "ln") == 0;
	const gp_value *arg;

	if (!relu && !unit && !ln && strcmp(ast->folded, "sqrt") != 0 && strcmp(ast->name, "P") != 0)
		unknown_function(t, ast);
	if (ast->n != 1 || ast->key[0] != NULL)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->position, NULL,
					"function \"%.40s\" in kernel takes one argument", ast->name);
	if (strcmp(ast->name, "P") == 0)
		return type_pagerank(t, ast);
	if (!relu && !unit)
		return type_function(t, ast, ln ? GP_SCALAR_LN : GP_SCALAR_SQRT);
	arg = gp_typing_value(t, ast->arg[0]);
	if (arg->kind != GP_VALUE_FEATURE)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->arg[0]->position,
					relu ? "Write relu(X)." : "Write unit(X0).",
					"%s in kernel takes a feature, not %s", relu ? "relu" : "unit",
					gp_value_name(arg));
	t->m.position = ast->position;
	return GP_VALUE(t, FEATURE, .feature = relu ? gp_feature_relu(&t->m, arg->feature) :
					gp_feature_unit(&t->m, arg->feature));
}

/* Refuses a name that stands for nothing. */
static void __attribute__((noreturn))
unknown_name(gp_typing *t, const gp_ast *ast)
{
	const char *hint = "Names are X, X0, N, A, I, P(a), W, b, relu, unit, l and constants given as options.";
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
		hint = gp_meant_hint(t->m.arena, &meant, hint);
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->position, hint,
				"unknown name \"%.40s\" in kernel", ast->name);
}

/* A name */
static const gp_value *
type_name(gp_typing *t, const gp_ast *ast)
{
	size_t		length = strlen(ast->name);
	const gp_value *constant;
	const gp_scalar *sigma;
	int			number;

	t->m.position = ast->position;
	if (strcmp(ast->name, "X") == 0)
		return GP_VALUE(t, FEATURE, .feature = gp_feature_source(&t->m, GP_FEATURE_X));
	if (strcmp(ast->name, "X0") == 0)
		return GP_VALUE(t, FEATURE, .feature = gp_feature_source(&t->m, GP_FEATURE_X0));
	if (strcmp(ast->name, "N") == 0)
		return GP_VALUE(t, FEATURE, .feature = gp_feature_source(&t->m, GP_FEATURE_N));
	if (strcmp(ast->name, "A") == 0)
		return GP_VALUE(t, OPERATOR, .op = gp_poly_a(&t->m));
	if (strcmp(ast->name, "I") == 0)
		return GP_VALUE(t, IDENTITY, .s = gp_scalar_number(&t->m, 1.0));
	if ((number = gp_name_number(ast->name, length, 'W')) >= 0)
	{
		sigma = gp_typing_sigma(t, 'w', number, ast->position);
		return GP_VALUE(t, WEIGHT, .weight = gp_weight_make(&t->m, NULL, sigma));
	}
	if ((number = gp_name_number(ast->name, length, 'b')) >= 0)
	{
		sigma = gp_typing_sigma(t, 'b', number, ast->position);
		t->m.position = ast->position;
		return GP_VALUE(t, FEATURE, .feature = gp_feature_bias(&t->m, sigma));
	}
	if (strcmp(ast->folded, "l") == 0)
		return gp_value_fixed(t, t->fold_layer ? gp_scalar_number(&t->m, t->first) :
							   gp_scalar_layer(&t->m));
	constant = find_constant(t, ast->folded, ast->position);
	if (constant == NULL)
		unknown_name(t, ast);
	return constant;
}

/* Types a tree. */
const gp_value *
gp_typing_value(gp_typing *t, const gp_ast *ast)
{
	const gp_value *v = NULL;

	gp_check_stack(t->m.env);
	if (++t->depth > MAX_DEPTH)
		gp_typing_bad(t, ast->position, NULL, "kernel is nested too deeply");
	t->m.position = ast->position;
	switch (ast->kind)
	{
		case GP_AST_NUMBER:
			v = gp_value_plain(t, ast->number);
			break;
		case GP_AST_NAME:
			v = type_name(t, ast);
			break;
		case GP_AST_CALL:
			v = type_call(t, ast);
			break;
		case GP_AST_SUM:
			v = type_sum(t, ast);
			break;
		case GP_AST_PRODUCT:
			v = type_product(t, ast);
			break;
		case GP_AST_POWER:
			v = type_power(t, ast);
			break;
		case GP_AST_NEGATE:
			v = gp_value_negate(t, gp_typing_value(t, ast->arg[0]), ast->position);
			break;
	}
	t->depth--;
	return v;
}

/* The same for what must be a number; name says of what. */
const gp_value *
gp_typing_number(gp_typing *t, const gp_ast *ast, const char *name)
{
	const gp_value *v = gp_typing_value(t, ast);

	if (v->kind != GP_VALUE_SCALAR)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->position, NULL,
					"\"%.40s\" in kernel takes a number, not %s", name, gp_value_name(v));
	return v;
}

/* A number that must not depend on the layer. */
double
gp_typing_plain_number(gp_typing *t, const gp_ast *ast, const char *name)
{
	const gp_value *v = gp_typing_number(t, ast, name);

	if (v->s->kind != GP_SCALAR_NUMBER)
		gp_raise_at(t->m.env, GP_ERR_VALUE, ast->position, NULL,
					"\"%s\" of kernel must not depend on the layer", name);
	return v->s->number;
}

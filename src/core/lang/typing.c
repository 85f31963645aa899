/*
 * typing.c - what a kernel's text means: from the grammar's tree to typed values.
 *
 * A value is a number, a multiple of I, a linear operator, a weight or a feature.
 * Products read left to right: operators, one feature, weights; numbers anywhere.
 * Numbers are carried twice: in normal form, and evaluated in every layer just as
 * they are written, so that an error points at the character that makes it.
 */
#include "lang_internal.h"
#include "lex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 600			/* 64 levels of the text, of 5 nodes at most, and constants */

/* What errors call a value. */
static const char *
kind_name(const gp_value *v)
{
	static const char *const names[] = {
		"a number", "a multiple of I", "an operator", "a weight", "a feature"
	};

	return names[v->kind];
}

/* Raises a syntax error at a place. */
static void __attribute__((noreturn))
bad(gp_typing *t, int position, const char *hint, const char *message)
{
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, position, hint, "%s", message);
}

/* ---- making values ---- */

/* A value of this kind, with nothing in it. */
static gp_value *
make(gp_typing *t, gp_value_kind kind)
{
	gp_value   *v = gp_arena_alloc(t->m.arena, sizeof(gp_value));

	v->kind = kind;
	return v;
}

/* Room for a value in every layer. */
static double *
make_at(gp_typing *t)
{
	return gp_arena_alloc(t->m.arena, (t->last - t->first + 1) * sizeof(double));
}

/* Refuses a value that is not finite. */
static void
check_finite(gp_typing *t, const double *at, const gp_scalar *s, int position, const char *message)
{
	for (int i = 0; i <= t->last - t->first; i++)
	{
		if (isfinite(at[i]))
			continue;
		if (s != NULL && s->kind == GP_SCALAR_NUMBER)
			gp_raise_at(t->m.env, GP_ERR_VALUE, position, NULL, "%s", message);
		gp_raise_at(t->m.env, GP_ERR_VALUE, position, NULL, "%s in layer %d", message,
					t->first + i);
	}
}

/* A number, in normal form and in every layer. */
static gp_value *
make_scalar(gp_typing *t, const gp_scalar *s, const double *at)
{
	gp_value   *v = make(t, GP_VALUE_SCALAR);

	v->s = s;
	v->at = at;
	return v;
}

/* A number, its value in every layer. */
const gp_value *
gp_typing_plain(gp_typing *t, double number)
{
	return gp_typing_fixed(t, gp_scalar_number(&t->m, number));
}

/* A scalar that is already canonical. */
const gp_value *
gp_typing_fixed(gp_typing *t, const gp_scalar *s)
{
	double	   *at = make_at(t);

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = gp_scalar_eval(s, t->first + i);
	return make_scalar(t, s, at);
}

/* A feature; NULL is zero. */
static gp_value *
make_feature(gp_typing *t, const gp_feature *f)
{
	gp_value   *v = make(t, GP_VALUE_FEATURE);

	v->feature = f;
	return v;
}

/* A linear operator on the nodes. */
static gp_value *
make_operator(gp_typing *t, const gp_poly *op)
{
	gp_value   *v = make(t, GP_VALUE_OPERATOR);

	v->op = op;
	return v;
}

/* A weight. */
static gp_value *
make_weight(gp_typing *t, const gp_weight *weight)
{
	gp_value   *v = make(t, GP_VALUE_WEIGHT);

	v->weight = weight;
	return v;
}

/* A number times I. */
static gp_value *
make_identity(gp_typing *t, const gp_scalar *s)
{
	gp_value   *v = make(t, GP_VALUE_IDENTITY);

	v->s = s;
	return v;
}

/* ---- products ---- */

/* a * b of two numbers as written, or a / b. */
static const gp_value *
scalar_product(gp_typing *t, const gp_value *a, const gp_value *b, bool divide, int position)
{
	double	   *at = make_at(t);
	const gp_scalar *s;

	for (int i = 0; i <= t->last - t->first; i++)
	{
		if (divide && b->at[i] == 0.0)
			at[i] = NAN;
		else
			at[i] = divide ? a->at[i] / b->at[i] : a->at[i] * b->at[i];
	}
	check_finite(t, at, b->s, position,
				 divide ? "division by zero or value out of range in kernel" :
				 "value out of range in kernel");
	t->m.position = position;
	s = divide ? gp_scalar_pow(&t->m, b->s, gp_scalar_number(&t->m, -1.0)) : b->s;
	if (divide && a->s->kind == GP_SCALAR_NUMBER && b->s->kind == GP_SCALAR_NUMBER)
		s = gp_scalar_number(&t->m, a->s->number / b->s->number);
	else
		s = gp_scalar_mul(&t->m, a->s, s);
	return make_scalar(t, s, at);
}

/* A number times what is no number. */
static const gp_value *
scale_value(gp_typing *t, const gp_scalar *s, const gp_value *v)
{
	switch (v->kind)
	{
		case GP_VALUE_SCALAR:
		case GP_VALUE_IDENTITY:
			return make_identity(t, gp_scalar_mul(&t->m, s, v->s));
		case GP_VALUE_OPERATOR:
			return make_operator(t, gp_poly_scale(&t->m, v->op, s));
		case GP_VALUE_WEIGHT:
			return make_weight(t, gp_weight_scale(&t->m, v->weight, s));
		case GP_VALUE_FEATURE:
			return make_feature(t, gp_feature_term(&t->m, s, NULL, v->feature, NULL));
	}
	return v;
}

/* Refuses what stands on the wrong side of a feature. */
static void __attribute__((noreturn))
bad_product(gp_typing *t, const gp_value *a, int a_position, const gp_value *b, int b_position)
{
	if (a->kind == GP_VALUE_FEATURE && b->kind == GP_VALUE_FEATURE)
		bad(t, b_position, "Features are added: A*relu(X)*W + X0.",
			"a product in kernel holds two features");
	if (b->kind == GP_VALUE_OPERATOR)
		bad(t, b_position, "Write A*relu(X)*W.",
			"an operator in kernel must stand left of the feature");
	bad(t, a->kind == GP_VALUE_WEIGHT ? a_position : b_position, "Write A*relu(X)*W.",
		"a weight in kernel must stand right of the feature");
}

/* a * b in the order of the text. */
static const gp_value *
multiply(gp_typing *t, const gp_value *a, int a_position, const gp_value *b, int b_position)
{
	const gp_scalar *one;

	if (a->kind == GP_VALUE_SCALAR && b->kind == GP_VALUE_SCALAR)
		return scalar_product(t, a, b, false, b_position);
	t->m.position = a_position;
	if (a->kind == GP_VALUE_SCALAR || a->kind == GP_VALUE_IDENTITY)
		return scale_value(t, a->s, b);
	if (b->kind == GP_VALUE_SCALAR || b->kind == GP_VALUE_IDENTITY)
		return scale_value(t, b->s, a);
	one = gp_scalar_number(&t->m, 1.0);
	if (a->kind == GP_VALUE_OPERATOR && b->kind == GP_VALUE_OPERATOR)
		return make_operator(t, gp_poly_mul(&t->m, a->op, b->op));
	if (a->kind == GP_VALUE_WEIGHT && b->kind == GP_VALUE_WEIGHT)
		return make_weight(t, gp_weight_mul(&t->m, a->weight, b->weight));
	if (a->kind == GP_VALUE_OPERATOR && b->kind == GP_VALUE_FEATURE)
		return make_feature(t, gp_feature_term(&t->m, one, a->op, b->feature, NULL));
	if (a->kind == GP_VALUE_FEATURE && b->kind == GP_VALUE_WEIGHT)
		return make_feature(t, gp_feature_term(&t->m, one, NULL, a->feature, b->weight));
	bad_product(t, a, a_position, b, b_position);
}

/* a / b */
static const gp_value *
divide(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	if (b->kind != GP_VALUE_SCALAR)
		bad(t, position, NULL, "only a number can divide in kernel");
	if (a->kind == GP_VALUE_SCALAR)
		return scalar_product(t, a, b, true, position);
	return scale_value(t, scalar_product(t, gp_typing_plain(t, 1.0), b, true, position)->s, a);
}

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
			v = divide(t, v, b, arg->position);
		else
			v = multiply(t, v, position, b, arg->position);
	}
	return v;
}

/* ---- sums ---- */

/* The negative of a value; the sign of a feature does not matter. */
static const gp_value *
negate(gp_typing *t, const gp_value *v, int position)
{
	if (v->kind == GP_VALUE_FEATURE)
		return v;
	return multiply(t, gp_typing_plain(t, -1.0), position, v, position);
}

/* a + b as operators. */
static const gp_value *
add_operators(gp_typing *t, const gp_value *a, const gp_value *b)
{
	const gp_poly *x = a->kind == GP_VALUE_OPERATOR ? a->op : gp_poly_identity(&t->m, a->s);
	const gp_poly *y = b->kind == GP_VALUE_OPERATOR ? b->op : gp_poly_identity(&t->m, b->s);

	return make_operator(t, gp_poly_add(&t->m, x, y));
}

/* a + b as weights. */
static const gp_value *
add_weights(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	const gp_weight *x = a->kind == GP_VALUE_WEIGHT ? a->weight :
		gp_weight_make(&t->m, a->s, NULL);
	const gp_weight *y = b->kind == GP_VALUE_WEIGHT ? b->weight :
		gp_weight_make(&t->m, b->s, NULL);
	const gp_weight *sum = gp_weight_add(&t->m, x, y);

	if (sum == NULL)
		bad(t, position, "Write (0.5*I + 0.5*W).",
			"a mixed weight in kernel must be a sum of multiples of I and W");
	return make_weight(t, sum);
}

/* a + b of two numbers as written. */
static const gp_value *
add_scalars(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	double	   *at = make_at(t);
	const gp_scalar *s;

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = a->at[i] + b->at[i];
	check_finite(t, at, b->s, position, "value out of range in kernel");
	s = gp_scalar_add(&t->m, a->s, b->s);
	return make_scalar(t, s, at);
}

/* a + b of anything but features. */
static const gp_value *
add(gp_typing *t, const gp_value *a, const gp_value *b, int position)
{
	gp_value_kind high = a->kind > b->kind ? a->kind : b->kind;
	gp_value_kind low = a->kind > b->kind ? b->kind : a->kind;

	t->m.position = position;
	if (high == GP_VALUE_SCALAR)
		return add_scalars(t, a, b, position);
	if (high == GP_VALUE_IDENTITY && low == high)
		return make_identity(t, gp_scalar_add(&t->m, a->s, b->s));
	if (high == GP_VALUE_OPERATOR && low != GP_VALUE_SCALAR)
		return add_operators(t, a, b);
	if (high == GP_VALUE_WEIGHT && (low == GP_VALUE_IDENTITY || low == high))
		return add_weights(t, a, b, position);
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, position,
				low == GP_VALUE_SCALAR && high < GP_VALUE_FEATURE ?
				"Write 2*I for a multiple of the identity." : NULL,
				"%s cannot be added to %s in kernel", kind_name(b), kind_name(a));
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
						"%s cannot be added to a feature in kernel", kind_name(v[i]));
		arg[i] = v[i]->feature;
	}
	t->m.position = ast->position;
	return make_feature(t, gp_feature_sum(&t->m, ast->n, arg));
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
			v[i] = negate(t, v[i], ast->arg[i]->position);
	}
	if (v[0]->kind == GP_VALUE_FEATURE)
		return sum_features(t, ast, v);
	sum = v[0];
	for (int i = 1; i < ast->n; i++)
		sum = add(t, sum, v[i], ast->arg[i]->position);
	return sum;
}

/* ---- powers, calls, names ---- */

/* A power of two numbers as written. */
static const gp_value *
scalar_power(gp_typing *t, const gp_value *base, const gp_value *e, int position)
{
	double	   *at = make_at(t);

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = pow(base->at[i], e->at[i]);
	check_finite(t, at, base->s->kind == GP_SCALAR_NUMBER ? e->s : base->s, position,
				 "power out of range in kernel");
	t->m.position = position;
	return make_scalar(t, gp_scalar_pow(&t->m, base->s, e->s), at);
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
		bad(t, position, NULL, "an exponent in kernel must be a number");
	if (base->kind == GP_VALUE_SCALAR)
		return scalar_power(t, base, e, ast->arg[0]->position);
	if (base->kind != GP_VALUE_OPERATOR && base->kind != GP_VALUE_IDENTITY)
		bad(t, ast->arg[0]->position, NULL, "only numbers and operators have powers in kernel");
	if (e->s->kind != GP_SCALAR_NUMBER || e->s->number != floor(e->s->number) ||
		e->s->number < 0.0 || e->s->number > GP_MAX_POWER)
		gp_raise_at(t->m.env, GP_ERR_VALUE, position, NULL,
					"power of an operator in kernel must be a whole number from 0 to %d",
					GP_MAX_POWER);
	power = (int) e->s->number;
	t->m.position = ast->position;
	if (base->kind == GP_VALUE_IDENTITY)
		return make_identity(t, gp_scalar_pow(&t->m, base->s, e->s));
	if (power == 0)
		return make_identity(t, gp_scalar_number(&t->m, 1.0));
	return make_operator(t, gp_poly_pow(&t->m, base->op, power));
}

/* ln or sqrt */
static const gp_value *
type_function(gp_typing *t, const gp_ast *ast, gp_scalar_kind kind)
{
	const gp_value *arg = gp_typing_number(t, ast->arg[0], ast->folded);
	double	   *at = make_at(t);

	for (int i = 0; i <= t->last - t->first; i++)
		at[i] = kind == GP_SCALAR_LN ? log(arg->at[i]) : sqrt(arg->at[i]);
	check_finite(t, at, arg->s, ast->position,
				 kind == GP_SCALAR_LN ? "logarithm of a number that is not positive in kernel" :
				 "square root of a negative number in kernel");
	t->m.position = ast->position;
	return make_scalar(t, gp_scalar_function(&t->m, kind, arg->s), at);
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
	return make_operator(t, gp_poly_p(&t->m, alpha->s));
}

/* A function with its argument. */
static const gp_value *
type_call(gp_typing *t, const gp_ast *ast)
{
	bool		relu = strcmp(ast->folded, "relu") == 0;
	bool		ln = strcmp(ast->folded, "ln") == 0;
	const gp_value *arg;

	if (!relu && !ln && strcmp(ast->folded, "sqrt") != 0 && strcmp(ast->name, "P") != 0)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->position,
					"Functions are relu, P, ln and sqrt; a product is written with *.",
					"unknown function \"%.40s\" in kernel", ast->name);
	if (ast->n != 1 || ast->key[0] != NULL)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->position, NULL,
					"function \"%.40s\" in kernel takes one argument", ast->name);
	if (!relu && strcmp(ast->name, "P") == 0)
		return type_pagerank(t, ast);
	if (!relu)
		return type_function(t, ast, ln ? GP_SCALAR_LN : GP_SCALAR_SQRT);
	arg = gp_typing_value(t, ast->arg[0]);
	if (arg->kind != GP_VALUE_FEATURE)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->arg[0]->position, "Write relu(X).",
					"relu in kernel takes a feature, not %s", kind_name(arg));
	t->m.position = ast->position;
	return make_feature(t, gp_feature_relu(&t->m, arg->feature));
}

/* Refuses a name that stands for nothing. */
static void __attribute__((noreturn))
unknown_name(gp_typing *t, const gp_ast *ast)
{
	const char *hint = "Names are X, X0, A, I, P(a), W, b, relu, l and constants given as options.";

	if (strcmp(ast->name, "P") == 0)
		hint = "Write P(0.1).";
	else if (gp_keyword_is(ast->name, (int) strlen(ast->name)))
		hint = "Functions take an argument in parentheses, as in relu(X).";
	else if (ast->name[1] == '\0' && strchr("xaiwB", ast->name[0]) != NULL)
		hint = "X, X0, A, I, P and W are upper case, b and l lower case.";
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, ast->position, hint,
				"unknown name \"%.40s\" in kernel", ast->name);
}

/* A name */
static const gp_value *
type_name(gp_typing *t, const gp_ast *ast)
{
	size_t		length = strlen(ast->name);
	const gp_value *constant;
	int			number;

	t->m.position = ast->position;
	if (strcmp(ast->name, "X") == 0)
		return make_feature(t, gp_feature_source(&t->m, GP_FEATURE_X));
	if (strcmp(ast->name, "X0") == 0)
		return make_feature(t, gp_feature_source(&t->m, GP_FEATURE_X0));
	if (strcmp(ast->name, "A") == 0)
		return make_operator(t, gp_poly_a(&t->m));
	if (strcmp(ast->name, "I") == 0)
		return make_identity(t, gp_scalar_number(&t->m, 1.0));
	if ((number = gp_name_number(ast->name, length, 'W')) >= 0)
	{
		const gp_scalar *sigma = gp_typing_sigma(t, 'w', number, ast->position);

		return make_weight(t, gp_weight_make(&t->m, NULL, sigma));
	}
	if ((number = gp_name_number(ast->name, length, 'b')) >= 0)
	{
		const gp_scalar *sigma = gp_typing_sigma(t, 'b', number, ast->position);

		t->m.position = ast->position;
		return make_feature(t, gp_feature_bias(&t->m, sigma));
	}
	if (strcmp(ast->folded, "l") == 0)
		return gp_typing_fixed(t, t->fold_layer ? gp_scalar_number(&t->m, t->first) :
							   gp_scalar_layer(&t->m));
	constant = gp_typing_constant(t, ast->folded, ast->position);
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
		bad(t, ast->position, NULL, "kernel is nested too deeply");
	t->m.position = ast->position;
	switch (ast->kind)
	{
		case GP_AST_NUMBER:
			v = gp_typing_plain(t, ast->number);
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
			v = negate(t, gp_typing_value(t, ast->arg[0]), ast->position);
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
					"\"%.40s\" in kernel takes a number, not %s", name, kind_name(v));
	return v;
}

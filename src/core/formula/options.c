/*
 * options.c - options, and a text's meaning as a whole.
 *
 * Options that every kernel has are layers, sigma_w, sigma_b, input, norm and power;
 * sigma_w1 belongs to W1; any other name is a constant that the formula or another
 * option uses.  An option that nothing uses is refused, for it is a typing error.
 */
#include "formula_internal.h"
#include "lex.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LAYERS 2

static const char *const general[] = {"layers", "sigma_w", "sigma_b", "input", "norm", "power"};

#define NGENERAL (sizeof(general) / sizeof(general[0]))

/* True for the options that every kernel has. */
static bool
is_general(const char *name)
{
	for (size_t i = 0; i < NGENERAL; i++)
		if (strcmp(name, general[i]) == 0)
			return true;
	return false;
}

/* Refuses a value of an option. */
static void __attribute__((noreturn))
bad_value(gp_typing *t, const gp_ast *at, const char *hint, const char *message)
{
	gp_raise_at(t->m.env, GP_ERR_VALUE, at->position, hint, "%s", message);
}

/* ---- input and norm ---- */

/* norm=... */
static gp_norm
resolve_norm(gp_typing *t, const gp_ast *ast)
{
	if (ast->kind == GP_AST_NAME && strcmp(ast->folded, "sym") == 0)
		return GP_NORM_SYM;
	if (ast->kind == GP_AST_NAME && strcmp(ast->folded, "row") == 0)
		return GP_NORM_ROW;
	bad_value(t, ast, "norm is sym, (I+D)^-1/2 (I+W) (I+D)^-1/2, or row, (I+D)^-1 (I+W).",
			  "unknown normalisation in kernel");
}

/* power=... */
static double
resolve_power(gp_typing *t, const gp_ast *ast)
{
	double		power = gp_typing_plain_number(t, ast, "power");

	if (!(power >= GP_LEAST_POWER && power <= GP_MOST_POWER))
		gp_raise_at(t->m.env, GP_ERR_VALUE, ast->position,
					"It is the power of the kernel's spectrum over all nodes.",
					"option \"power\" of kernel must be between %g and %g", GP_LEAST_POWER,
					GP_MOST_POWER);
	return power;
}

/* The option power, unless it is 1. */
void
gp_text_kernel_power(gp_text *text, double power)
{
	if (power == 1.0)
		return;
	gp_text_add(text, ", power=");
	gp_text_number(text, power);
}

/* What is said of the kernel as a whole, where it is given. */
static void
resolve_whole(gp_typing *t, gp_kernel_options *set)
{
	gp_constant *input = gp_typing_find(t, "input");
	gp_constant *norm = gp_typing_find(t, "norm");
	gp_constant *power = gp_typing_find(t, "power");

	if (input != NULL)
	{
		set->input_given = true;
		set->input = gp_input_resolve(t, input->option->value);
	}
	if (norm != NULL)
		set->norm = resolve_norm(t, norm->option->value);
	if (power != NULL)
		set->power = resolve_power(t, power->option->value);
}

/* ---- layers ---- */

/* True when the formula names the layer before. */
static bool
names_x(const gp_ast *ast)
{
	if (ast->kind == GP_AST_NAME && strcmp(ast->name, "X") == 0)
		return true;
	for (int i = 0; i < ast->n; i++)
		if (names_x(ast->arg[i]))
			return true;
	return false;
}

/* Forgets the values of constants, which hold for one range of layers. */
static void
forget_values(gp_typing *t)
{
	for (int i = 0; i < t->n; i++)
		t->constant[i].value = NULL;
}

/* The number of layers, before anything else is typed. */
static int
resolve_layers(gp_typing *t, bool has_x)
{
	gp_constant *c = gp_typing_find(t, "layers");
	double		layers;

	if (c == NULL)
		return has_x ? DEFAULT_LAYERS : 1;
	layers = gp_typing_plain_number(t, c->option->value, "layers");
	forget_values(t);
	if (!(layers >= 1.0 && layers <= GP_MAX_LAYERS && layers == floor(layers)))
		gp_raise_at(t->m.env, GP_ERR_VALUE, c->option->value->position, NULL,
					"option \"layers\" of kernel must be a whole number from 1 to %d",
					GP_MAX_LAYERS);
	if (!has_x && layers != 1.0)
		bad_value(t, c->option->value, "A formula without X, the layer before, has one layer.",
				  "option \"layers\" of a kernel without X must be 1");
	return (int) layers;
}

/* ---- the list of constants ---- */

/* Adds an option, unless one of its name is there, which then comes first. */
static void
add_constant(gp_typing *t, const gp_option *option, const gp_scalar *fixed)
{
	gp_constant *c;

	if (gp_typing_find(t, option->name) != NULL)
		return;
	if (gp_keyword_is(option->spelled, (int) strlen(option->spelled)))
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, option->position,
					"sigma_w and sigma_b are the scales of W and b.",
					"name \"%.40s\" is reserved in kernels", option->spelled);
	c = &t->constant[t->n++];
	c->option = option;
	c->fixed = fixed;
}

/* Puts together what overrides, what the user gave, and what the preset says. */
static void
collect_constants(gp_typing *t, const gp_kernel_text *text, const gp_kernel_text *preset,
				  int noverrides, const gp_override *overrides)
{
	int			room = noverrides + text->n + (preset != NULL ? preset->n : 0);

	t->constant = gp_arena_alloc(t->m.arena, (room + 1) * sizeof(gp_constant));
	for (int i = 0; i < noverrides; i++)
	{
		gp_option  *option = gp_arena_alloc(t->m.arena, sizeof(gp_option));

		option->name = option->spelled = overrides[i].name;
		option->position = text->position;
		option->preset = true;
		add_constant(t, option, overrides[i].value);
	}
	for (int i = 0; i < text->n; i++)
		add_constant(t, &text->option[i], NULL);
	for (int i = 0; preset != NULL && i < preset->n; i++)
	{
		preset->option[i].preset = true;
		add_constant(t, &preset->option[i], NULL);
	}
}

/* Refuses an option that nothing uses. */
static void __attribute__((noreturn))
refuse_option(gp_typing *t, const gp_option *option, const gp_preset *preset)
{
	gp_meant	meant = gp_meant_start(option->spelled, (int) strlen(option->spelled));
	gp_text		hint = {.arena = t->m.arena};

	for (int i = 0; preset != NULL && i < GP_MAX_PRESET_OPTIONS && preset->own[i].name != NULL; i++)
		gp_meant_consider(&meant, preset->own[i].name);
	for (size_t i = 0; i < NGENERAL; i++)
		gp_meant_consider(&meant, general[i]);
	if (preset == NULL)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, option->position,
					gp_meant_hint(t->m.arena, &meant,
								  "Options are layers, sigma_w, sigma_b, input, norm, power, sigma_w1 for W1, "
								  "and constants that the formula names."),
					"option \"%.40s\" is not used in the kernel", option->spelled);
	gp_text_add(&hint, "Options of %s are %s%slayers, sigma_w, sigma_b, input, norm and power.", preset->name,
				preset->options, preset->options[0] != '\0' ? ", " : "");
	gp_raise_at(t->m.env, GP_ERR_SYNTAX, option->position, gp_meant_hint(t->m.arena, &meant, hint.data),
				"kernel \"%s\" has no use for option \"%.40s\"", preset->name, option->spelled);
}

/* Refuses an option of the user's that nothing uses. */
static void
check_used(gp_typing *t, const gp_preset *preset)
{
	for (int i = 0; i < t->n; i++)
	{
		const gp_option *option = t->constant[i].option;

		if (!t->constant[i].used && !option->preset && !is_general(option->name))
			refuse_option(t, option, preset);
	}
}

/* Types a formula, which must be a feature. */
static const gp_feature *
resolve_formula(gp_typing *t, const gp_ast *formula)
{
	const gp_value *v = gp_typing_value(t, formula);

	if (v->kind != GP_VALUE_FEATURE)
		gp_raise_at(t->m.env, GP_ERR_SYNTAX, formula->position,
					"Write a layer such as A*relu(X)*W + b.",
					"kernel has no feature such as X, X0 or N");
	gp_typing_sigma(t, 'w', 0, formula->position);
	gp_typing_sigma(t, 'b', 0, formula->position);
	return v->feature;
}

/* Puts settings without effect to their defaults, for equal kernels to be equal. */
static void
drop_without_effect(gp_meaning *meaning)
{
	gp_feature_facts facts = gp_feature_look(meaning->root);

	if (!facts.has_op)
		meaning->set.norm = GP_NORM_SYM;
	if (!facts.has_input)
		meaning->set.input = (gp_input) {.kind = GP_INPUT_LINEAR};
}

/* The meaning of a text. */
gp_meaning
gp_kernel_resolve(gp_arena *arena, const gp_kernel_text *text, int noverrides,
				  const gp_override *overrides, int layers)
{
	gp_meaning	meaning = {.set = {.input = {.kind = GP_INPUT_LINEAR}, .norm = GP_NORM_SYM,
	.power = 1.0}};
	gp_typing	t = {.m = {arena, gp_arena_env(arena), text->position}, .first = 1, .last = 1};
	const gp_preset *preset = text->preset != NULL ? gp_preset_find(text->preset) : NULL;
	const gp_kernel_text *source = preset == NULL ? text :
		gp_kernel_read(arena, preset->text, text->position);
	bool		has_x = names_x(source->formula);

	collect_constants(&t, text, preset != NULL ? source : NULL, noverrides, overrides);
	t.layers = !has_x ? 1 : layers;
	if (layers == 0)
		t.layers = resolve_layers(&t, has_x);
	t.last = t.layers;
	t.fold_layer = !has_x;
	meaning.root = resolve_formula(&t, source->formula);
	if (has_x && !gp_feature_look(meaning.root).has_x)
	{
		/* X has a factor of zero: only the last layer remains. */
		forget_values(&t);
		t.first = t.last;
		t.fold_layer = true;
		meaning.root = resolve_formula(&t, source->formula);
		meaning.folded = true;
		has_x = false;
	}
	meaning.set.layers = has_x ? t.layers : 1;
	resolve_whole(&t, &meaning.set);
	drop_without_effect(&meaning);
	check_used(&t, preset);
	return meaning;
}

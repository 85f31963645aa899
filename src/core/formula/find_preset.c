/*
 * find_preset.c - the preset that a canonical tree came from.
 *
 * The numbers that the tree holds are tried as the options of each preset, and
 * the trees are compared.
 */
#include "formula_internal.h"

#include <math.h>
#include <string.h>

#define MAX_NUMBERS 12			/* more numbers than that are no preset's */
#define MAX_OPTIONS (GP_MAX_PRESET_OPTIONS + 2)

/* The meaning of a preset with these options. */
static gp_meaning
preset_meaning(gp_arena *arena, const gp_preset *preset, int noverrides,
			   const gp_override *overrides, int layers)
{
	gp_kernel_text text;

	memset(&text, 0, sizeof(text));
	text.preset = text.spelled = preset->name;
	text.position = 1;
	return gp_kernel_resolve(arena, &text, noverrides, overrides, layers);
}

/* Numbers that occur in a tree. */
typedef struct numbers
{
	int			n;				/* MAX_NUMBERS + 1: too many */
	double		number[MAX_NUMBERS];
} numbers;

/* Adds a number, unless it is there. */
static void
add_number(numbers *list, double number)
{
	number = fabs(number);
	for (int i = 0; i < list->n && i < MAX_NUMBERS; i++)
		if (list->number[i] == number)
			return;
	if (list->n < MAX_NUMBERS)
		list->number[list->n] = number;
	if (list->n <= MAX_NUMBERS)
		list->n++;
}

/* Adds the numbers of an expression; NULL has none. */
static void
add_scalar(numbers *list, const gp_scalar *a)
{
	if (a == NULL)
		return;
	if (a->kind == GP_SCALAR_NUMBER || a->kind == GP_SCALAR_PRODUCT ||
		a->kind == GP_SCALAR_SUM)
		add_number(list, a->number);
	for (int i = 0; i < a->n; i++)
		add_scalar(list, a->arg[i]);
}

/* Adds the numbers of a tree, and counts its activations. */
static void
add_feature(numbers *list, const gp_feature *f, int *activations)
{
	*activations += f->kind == GP_FEATURE_RELU;
	add_scalar(list, f->coef);
	add_scalar(list, f->sigma);
	for (int i = 0; f->op != NULL && i < f->op->n; i++)
		add_scalar(list, f->op->term[i].coef);
	for (int i = 0; f->op != NULL && i < f->op->np; i++)
		add_scalar(list, f->op->alpha[i]);
	for (int i = 0; f->weight != NULL && i < f->weight->n; i++)
	{
		const gp_mix *mix = f->weight->mix[i];

		add_scalar(list, mix->id);
		for (int j = 0; j < mix->n; j++)
		{
			add_scalar(list, mix->coef[j]);
			add_scalar(list, mix->sigma[j]);
		}
	}
	for (int i = 0; i < f->n; i++)
		add_feature(list, f->arg[i], activations);
}

/* The values that an option is tried with; NULL stands for its default. */
typedef struct choice
{
	const char *name;
	int			parameter;		/* place + 1 of the input's parameter that it is; 0: none */
	int			n;
	int			at;
	const gp_scalar *value[MAX_NUMBERS + 1];
} choice;

/* What a search for one preset needs. */
typedef struct search
{
	const gp_meaning *meaning;
	gp_feature_facts facts;
	gp_arena   *arena;			/* of the values */
	int			n;
	choice		option[MAX_OPTIONS];
} search;

/* Adds an option that is a parameter of the input: its value there is the only one to try. */
static void
add_parameter(search *s, const gp_preset *preset, int index, const gp_input *fallback)
{
	gp_maker	m = {s->arena, gp_arena_env(s->arena), 1};
	choice	   *c = &s->option[s->n++];
	int			place = preset->own[index].parameter - 1;
	double		value = s->meaning->set.input.p[place];

	c->name = preset->own[index].name;
	c->parameter = place + 1;
	c->n = 1;
	if (value != fallback->p[place])
		c->value[0] = gp_scalar_number(&m, value);
}

/* Adds an option of the preset's own, with the numbers of the tree. */
static void
add_own(search *s, const gp_preset *preset, int index, const numbers *list)
{
	gp_maker	m = {s->arena, gp_arena_env(s->arena), 1};
	choice	   *c = &s->option[s->n++];

	c->name = preset->own[index].name;
	c->n = 1;
	for (int i = 0; list->n <= MAX_NUMBERS && i < list->n; i++)
	{
		double		number = list->number[i];

		if (number >= preset->own[index].low && number <= preset->own[index].high)
			c->value[c->n++] = gp_scalar_number(&m, number);
	}
}

/* Adds sigma_w or sigma_b, with the values of the tree when they are few. */
static void
add_sigmas(search *s, const char *name, const gp_sigmas *list)
{
	choice	   *c = &s->option[s->n++];

	c->name = name;
	c->n = 1;
	for (int i = 0; list->n <= 3 && i < list->n; i++)
		c->value[c->n++] = list->sigma[i];
}

/* True when a preset's meaning is the one searched for, up to general options. */
static bool
matches(const search *s, const gp_meaning *candidate)
{
	const gp_kernel_options *want = &s->meaning->set;
	const gp_kernel_options *have = &candidate->set;

	if (candidate->folded || gp_feature_compare(candidate->root, s->meaning->root) != 0)
		return false;
	return !have->input_given || gp_input_equal(&have->input, &want->input);
}

/* Goes on to the next combination of values; false after the last. */
static bool
next_combination(search *s)
{
	for (int i = 0; i < s->n; i++)
	{
		if (++s->option[i].at < s->option[i].n)
			return true;
		s->option[i].at = 0;
	}
	return false;
}

/* Tries the current combination; *norm is the norm that the preset has by itself. */
static bool
try_combination(search *s, const gp_preset *preset, gp_kernel_options *set)
{
	gp_arena   *arena = gp_arena_create(gp_arena_env(s->arena));
	gp_override overrides[MAX_OPTIONS];
	gp_meaning	candidate;
	int			n = 0;
	bool		found;

	for (int i = 0; i < s->n; i++)
	{
		overrides[n].name = s->option[i].name;
		overrides[n].value = s->option[i].value[s->option[i].at];
		n += overrides[n].value != NULL;
	}
	candidate = preset_meaning(arena, preset, n, overrides, s->meaning->set.layers);
	found = matches(s, &candidate);
	*set = candidate.set;
	gp_arena_free(arena);
	return found;
}

/* Adds ", name=value" for an option that is not at its default. */
static void
print_choice(gp_text *text, const choice *c, const gp_input *input)
{
	if (c->value[c->at] == NULL)
		return;
	gp_text_add(text, ", %s=", c->name);
	if (c->parameter > 0)
		gp_text_parameter(text, input, c->parameter - 1);
	else
		gp_text_scalar(text, c->value[c->at]);
}

/* Prints a preset with the options that are not at their defaults. */
static void
print_preset(gp_text *text, const search *s, const gp_preset *preset, const gp_kernel_options *own)
{
	gp_text		options = {.arena = text->arena};
	const gp_kernel_options *set = &s->meaning->set;

	gp_text_add(&options, "%s", "");
	for (int i = 0; i < s->n - 2; i++)
		print_choice(&options, &s->option[i], &set->input);
	if (s->facts.has_x && set->layers != 2)
		gp_text_add(&options, ", layers=%d", set->layers);
	print_choice(&options, &s->option[s->n - 2], &set->input);
	print_choice(&options, &s->option[s->n - 1], &set->input);
	if (!own->input_given)
		gp_text_input(&options, &set->input);
	if (s->facts.has_op && set->norm != own->norm)
		gp_text_add(&options, ", norm=%s", set->norm == GP_NORM_ROW ? "row" : "sym");
	gp_text_kernel_power(&options, set->power);
	gp_text_add(text, "%s", preset->name);
	if (options.length > 0)
		gp_text_add(text, "(%s)", options.data + 2);
}

/* The activations of a preset, which no option changes. */
static int
preset_activations(const gp_preset *preset)
{
	int			activations = 0;

	for (const char *at = preset->text; (at = strstr(at, "relu(")) != NULL; at++)
		activations++;
	return activations;
}

/* Adds a preset's own options; false when its input is not the one searched for. */
static bool
add_options(search *s, const gp_preset *preset, const numbers *list)
{
	gp_kernel_options fallback = {.layers = 0};

	if (preset->own[0].parameter > 0)
	{
		gp_arena   *arena = gp_arena_create(gp_arena_env(s->arena));

		fallback = preset_meaning(arena, preset, 0, NULL, s->meaning->set.layers).set;
		gp_arena_free(arena);
		if (fallback.input.kind != s->meaning->set.input.kind)
			return false;
	}
	for (int o = 0; o < GP_MAX_PRESET_OPTIONS && preset->own[o].name != NULL; o++)
		if (preset->own[o].parameter > 0)
			add_parameter(s, preset, o, &fallback.input);
		else
			add_own(s, preset, o, list);
	return true;
}

/* Prints the preset that has this meaning; false when there is none. */
bool
gp_text_preset(gp_text *text, const gp_meaning *meaning, const gp_names *names)
{
	const gp_preset *preset;
	numbers		list = {2, {0.0, 1.0}};
	int			activations = 0;

	add_feature(&list, meaning->root, &activations);
	for (int i = 0; (preset = gp_preset_at(i)) != NULL; i++)
	{
		search		s = {.meaning = meaning, .arena = text->arena};
		gp_kernel_options own;
		bool		found;

		if (preset_activations(preset) != activations)
			continue;
		s.facts = gp_feature_look(meaning->root);
		if (!add_options(&s, preset, &list))
			continue;
		add_sigmas(&s, "sigma_w", &names->w);
		add_sigmas(&s, "sigma_b", &names->b);
		do
			found = try_combination(&s, preset, &own);
		while (!found && next_combination(&s));
		if (found)
		{
			print_preset(text, &s, preset, &own);
			return true;
		}
	}
	return false;
}

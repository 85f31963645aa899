/*
 * option.c - options of input kernels and of methods: what they may be, and their text.
 *
 * An option is a number in a range, or one of a few words, kept as the number of the word.  The
 * word of a number stands for its default.
 */
#include "formula_internal.h"

const gp_option_rule *
gp_option_rule_find(gp_layer *t, const gp_option_rule *list, const char *name,
					const char **nearest)
{
	gp_meant	meant = gp_meant_start(name, (int) strlen(name));

	for (; list->name != NULL; list++)
	{
		if (strcmp(name, list->name) == 0)
			return list;
		gp_meant_consider(&meant, list->name);
	}
	*nearest = gp_meant_hint(t->arena, &meant, "");
	return NULL;
}

/* A number in the parameter's range. */
static double
resolve_number(gp_layer *t, const char *owner, const gp_option_rule *p, const gp_ast *arg)
{
	double		value = gp_layer_plain_number(t, arg, p->name) + 0.0;	/* there is no -0 */
	const gp_constant *c = arg->kind == GP_AST_NAME ? gp_layer_find(t, arg->lower) : NULL;
	int			position = c != NULL ? c->option->value->position : arg->position;

	bool		within = value >= p->low && value <= p->high;
	gp_text		must = {.arena = t->arena};

	if (p->range == GP_RANGE_POSITIVE && !(value > 0.0))
		gp_text_add(&must, "be positive");
	else if (p->range == GP_RANGE_NOT_NEGATIVE && !(value >= 0.0))
		gp_text_add(&must, "not be negative");
	else if (p->range == GP_RANGE_SHARE && !(value > 0.0 && value < 1.0))
		gp_text_add(&must, "be between 0 and 1");
	else if (p->range == GP_RANGE_WHOLE && !(within && value == floor(value)))
		gp_text_add(&must, "be a whole number from %.0f to %.0f", p->low, p->high);
	else if (p->range == GP_RANGE_REAL && !within)
		gp_text_add(&must, "be a number from %g to %g", p->low, p->high);
	if (must.length > 0)
		gp_raise_at(t->env, GP_ERR_VALUE, position, p->hint, "%s of %s must %s", p->name, owner,
					must.data);
	return value;
}

double
gp_option_resolve(gp_layer *t, const char *owner, const gp_option_rule *p, const gp_ast *arg)
{
	for (int w = 0; w < GP_MAX_WORDS && p->word[w] != NULL; w++)
		if (arg->kind == GP_AST_NAME && strcmp(arg->lower, p->word[w]) == 0)
			return p->range == GP_RANGE_WORD ? w : p->fallback;
	/* An option may stand for the word. */
	gp_constant *c = arg->kind == GP_AST_NAME ? gp_layer_find(t, arg->lower) : NULL;
	if (p->range != GP_RANGE_WORD &&
		(c == NULL || c->busy || c->option->value->kind != GP_AST_NAME))
		return resolve_number(t, owner, p, arg);
	if (c == NULL || c->busy)
		gp_raise_at(t->env, GP_ERR_VALUE, arg->position, p->hint, "%s of %s must be %s%s%s or %s",
					p->name, owner, p->word[0], p->word[2] != NULL ? ", " : "",
					p->word[2] != NULL ? p->word[1] : "", p->word[p->word[2] != NULL ? 2 : 1]);
	c->used = c->busy = true;
	double		word = gp_option_resolve(t, owner, p, c->option->value);
	c->busy = false;
	return word;
}

void
gp_text_options(gp_text *text, const gp_option_rule *list, const double *value, bool all)
{
	for (int i = 0; list[i].name != NULL; i++)
	{
		if (!all && value[i] == list[i].fallback)
			continue;
		gp_text_add(text, ", %s=", list[i].name);
		if (list[i].range == GP_RANGE_WORD)
			gp_text_add(text, "%s", list[i].word[(int) value[i]]);
		else
			gp_text_number(text, value[i]);
	}
}

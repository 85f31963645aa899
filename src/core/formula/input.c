/*
 * input.c - the option input: kernels of X0, a line of a table for each.
 */
#include "formula_internal.h"

/* What an input kernel takes. */
typedef struct input_entry
{
	const char *name;
	gp_input_kind kind;
	bool		terse;			/* parameters at their defaults are not printed */
	gp_option_rule parameter[GP_MAX_PARAMETERS + 1];
} input_entry;

/* Words stand in the order of gp_walk_choice and gp_walk_trim. */
static const input_entry inputs[] = {
	{"linear", GP_INPUT_LINEAR, true, {{.name = NULL}}},
	{"rbf", GP_INPUT_RBF, false, {GP_OPTION("gamma", 0.1, POSITIVE)}},
	{"poly", GP_INPUT_POLY, false,
	{GP_OPTION("c", 5.0, NOT_NEGATIVE), GP_OPTION("d", 3.0, WHOLE,.low = 1.0,.high = 64.0)}},
	{"arccos", GP_INPUT_ARCCOS, true, {{.name = NULL}}},
	{"cosine", GP_INPUT_COSINE, true, {{.name = NULL}}},
	{"identity", GP_INPUT_IDENTITY, true, {{.name = NULL}}},
	{"laplacian", GP_INPUT_LAPLACIAN, true,
		{GP_OPTION("d", 0.0, WHOLE,.low = 1.0,.high = 16.0,.word = {"auto"}),
			GP_OPTION("sigma2", 0.0, POSITIVE,.word = {"auto"}),
			GP_OPTION("walks", 80.0, WHOLE,.low = 1.0,.high = 100000.0),
			GP_OPTION("p_term", 0.1, SHARE),
			GP_OPTION("choice", 0.0, WORD,.word = {"uniform", "weighted", "repelled"}),
			GP_OPTION("dims", 0.0, WHOLE,.low = 0.0,.high = 2147483647.0),
	GP_OPTION("trim", 0.0, WORD,.word = {"anchors", "projection"})}},
};

#define NINPUTS ((int) (sizeof(inputs) / sizeof(inputs[0])))
#define HINT "Input kernels are linear, cosine, rbf(gamma=0.1), poly(c=5, d=3), arccos, identity and " \
	"laplacian(d=auto, sigma2=auto, walks=80, p_term=0.1, choice=uniform, dims=0, trim=anchors)."

/* The entry that a value of the option input names. */
static const input_entry *
find_name(gp_layer *t, const gp_ast *ast)
{
	bool		named = ast->kind == GP_AST_NAME || ast->kind == GP_AST_CALL;
	gp_meant	meant = gp_meant_start(named ? ast->name : "", named ? (int) strlen(ast->name) : 0);

	for (int i = 0; i < NINPUTS; i++)
	{
		if (named && strcmp(ast->lower, inputs[i].name) == 0)
			return &inputs[i];
		gp_meant_consider(&meant, inputs[i].name);
	}
	gp_raise_at(t->env, GP_ERR_VALUE, ast->position, gp_meant_hint(t->arena, &meant, HINT),
				"unknown input kernel");
}

gp_input
gp_input_usual(gp_layer *t, const gp_ast *ast)
{
	const input_entry *entry = find_name(t, ast);
	gp_input	input;

	memset(&input, 0, sizeof(input));
	input.kind = entry->kind;
	for (int p = 0; entry->parameter[p].name != NULL; p++)
		input.p[p] = entry->parameter[p].fallback;
	return input;
}

gp_input
gp_input_resolve(gp_layer *t, const gp_ast *ast)
{
	const input_entry *entry = find_name(t, ast);
	gp_input	input = gp_input_usual(t, ast);
	bool		given[GP_MAX_PARAMETERS] = {false};
	gp_text		owner = {.arena = t->arena};
	int			known = 0;

	gp_text_add(&owner, "input kernel \"%s\"", entry->name);
	while (entry->parameter[known].name != NULL)
		known++;
	for (int i = 0; i < ast->n; i++)
	{
		/* An argument is a parameter by its key, or by its place. */
		const char *nearest = "";
		const gp_option_rule *p = ast->key[i] != NULL ?
			gp_option_rule_find(t, entry->parameter, ast->key[i], &nearest) :
			i < known ? &entry->parameter[i] : NULL;
		gp_text		hint = {.arena = t->arena};

		gp_text_add(&hint, "%s%s", nearest, HINT);
		if (p == NULL)
			gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[i]->position, hint.data,
						"%s has no such parameter", owner.data);
		if (given[p - entry->parameter])
			gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[i]->position, NULL,
						"parameter \"%s\" is given twice", p->name);
		given[p - entry->parameter] = true;
		input.p[p - entry->parameter] = gp_option_resolve(t, owner.data, p, ast->arg[i]);
	}
	return input;
}

bool
gp_input_equal(const gp_input *a, const gp_input *b)
{
	for (int p = 0; p < GP_MAX_PARAMETERS; p++)
		if (a->p[p] != b->p[p])
			return false;
	return a->kind == b->kind;
}

void
gp_text_input(gp_text *text, const gp_input *input, bool own)
{
	int			i = 0;

	while (inputs[i].kind != input->kind)
		i++;
	const input_entry *entry = &inputs[i];
	gp_text		parameters = {.arena = text->arena};

	if (own)
	{
		gp_text_options(text, entry->parameter, input->p, false);
		return;
	}
	gp_text_options(&parameters, entry->parameter, input->p, !entry->terse);
	gp_text_add(text, ", input=%s", entry->name);
	if (parameters.length > 0)
		gp_text_add(text, "(%s)", parameters.data + 2);
}

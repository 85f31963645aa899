/*
 * input.c - the option input: kernels of X0, their parameters, and their text.
 *
 * Each kernel is a line of a table that says which parameters it has, between
 * which values, and with which defaults.  A parameter whose values are words is
 * kept as the number of the word.
 */
#include "formula_internal.h"

#include <math.h>
#include <string.h>

#define MAX_WORDS 3

/* What values a parameter may have. */
typedef enum range
{
	RANGE_POSITIVE,
	RANGE_NOT_NEGATIVE,
	RANGE_SHARE,				/* between 0 and 1, both excluded */
	RANGE_WHOLE,				/* from low to high */
	RANGE_WORD
} range;

typedef struct parameter
{
	const char *name;			/* NULL: no more */
	double		fallback;
	range		range;
	double		low;			/* of RANGE_WHOLE */
	double		high;
	const char *word[MAX_WORDS];	/* of RANGE_WORD */
} parameter;

/* What an input kernel takes. */
typedef struct input_entry
{
	const char *name;
	gp_input_kind kind;
	bool		terse;			/* parameters at their defaults are not printed */
	parameter	parameter[GP_MAX_PARAMETERS];
} input_entry;

#define REAL(name, fallback, range) {name, fallback, range, 0.0, 0.0, {NULL}}
#define WHOLE(name, fallback, low, high) {name, fallback, RANGE_WHOLE, low, high, {NULL}}
#define WORD(name, ...) {name, 0.0, RANGE_WORD, 0.0, 0.0, {__VA_ARGS__}}
#define NONE REAL(NULL, 0.0, RANGE_POSITIVE)

/* Words stand in the order of gp_walk_choice and gp_walk_trim. */
static const input_entry inputs[] = {
	{"linear", GP_INPUT_LINEAR, true, {NONE}},
	{"rbf", GP_INPUT_RBF, false, {REAL("gamma", 0.1, RANGE_POSITIVE)}},
	{"poly", GP_INPUT_POLY, false,
	{REAL("c", 5.0, RANGE_NOT_NEGATIVE), WHOLE("d", 3.0, 1.0, 64.0)}},
	{"arccos", GP_INPUT_ARCCOS, true, {NONE}},
	{"cosine", GP_INPUT_COSINE, true, {NONE}},
	{"identity", GP_INPUT_IDENTITY, true, {NONE}},
	{"laplacian", GP_INPUT_LAPLACIAN, true,
		{WHOLE("d", 2.0, 1.0, 16.0), REAL("sigma2", 0.2, RANGE_POSITIVE),
			WHOLE("walks", 80.0, 1.0, 100000.0), REAL("p_term", 0.1, RANGE_SHARE),
			WORD("choice", "uniform", "weighted", "repelled"),
			WHOLE("dims", 0.0, 0.0, 2147483647.0),
	WORD("trim", "anchors", "projection")}},
};

#define NINPUTS ((int) (sizeof(inputs) / sizeof(inputs[0])))
#define HINT "Input kernels are linear, cosine, rbf(gamma=0.1), poly(c=5, d=3), arccos, identity and " \
	"laplacian(d=2, sigma2=0.2, walks=80, p_term=0.1, choice=uniform, dims=0, trim=anchors)."

/* The entry of a kind. */
static const input_entry *
find_kind(gp_input_kind kind)
{
	int			i = 0;

	while (inputs[i].kind != kind)
		i++;
	return &inputs[i];
}

/* True for the parameter of this place, which the last ones of the table may lack. */
static bool
has_parameter(const input_entry *entry, int place)
{
	return place < GP_MAX_PARAMETERS && entry->parameter[place].name != NULL;
}

/* Which parameter an argument is: by its key, or by its place. */
static int
parameter_place(gp_layer *t, const input_entry *entry, const gp_ast *call, int i)
{
	const char *key = call->key[i];
	gp_meant	meant = gp_meant_start(key ? key : "", key ? (int) strlen(key) : 0);

	for (int p = 0; has_parameter(entry, p); p++)
	{
		if (key == NULL ? p == i : strcmp(key, entry->parameter[p].name) == 0)
			return p;
		gp_meant_consider(&meant, entry->parameter[p].name);
	}
	gp_raise_at(t->env, GP_ERR_SYNTAX, call->arg[i]->position, gp_meant_hint(t->arena, &meant, HINT),
				"input kernel \"%s\" has no such parameter", entry->name);
}

/* Where a value stands in the text: that of an option, where the argument names one. */
static int
value_position(gp_layer *t, const gp_ast *arg)
{
	const gp_constant *c = arg->kind == GP_AST_NAME ? gp_layer_find(t, arg->folded) : NULL;

	return c != NULL ? c->option->value->position : arg->position;
}

/* True for a number that the parameter may have. */
static bool
in_range(const parameter *p, double value)
{
	switch (p->range)
	{
		case RANGE_POSITIVE:
			return value > 0.0;
		case RANGE_NOT_NEGATIVE:
			return value >= 0.0;
		case RANGE_SHARE:
			return value > 0.0 && value < 1.0;
		case RANGE_WHOLE:
			return value >= p->low && value <= p->high && value == floor(value);
		case RANGE_WORD:
			break;
	}
	return true;
}

/* Refuses a number outside its parameter's range. */
static double
check_number(gp_layer *t, const input_entry *entry, const parameter *p, const gp_ast *arg,
			 double value)
{
	static const char *const demand[] = {"must be positive", "must not be negative",
	"must be between 0 and 1"};

	if (in_range(p, value))
		return value + 0.0;		/* there is no -0 */
	if (p->range == RANGE_WHOLE)
		gp_raise_at(t->env, GP_ERR_VALUE, value_position(t, arg), NULL,
					"%s of input kernel \"%s\" must be a whole number from %.0f to %.0f",
					p->name, entry->name, p->low, p->high);
	gp_raise_at(t->env, GP_ERR_VALUE, value_position(t, arg), NULL,
				"%s of input kernel \"%s\" %s", p->name, entry->name, demand[p->range]);
}

/* Refuses a word that the parameter does not know. */
static void __attribute__((noreturn))
refuse_word(gp_layer *t, const input_entry *entry, const parameter *p, const gp_ast *arg)
{
	if (p->word[2] == NULL)
		gp_raise_at(t->env, GP_ERR_VALUE, arg->position, NULL,
					"%s of input kernel \"%s\" must be %s or %s", p->name, entry->name,
					p->word[0], p->word[1]);
	gp_raise_at(t->env, GP_ERR_VALUE, arg->position, NULL,
				"%s of input kernel \"%s\" must be %s, %s or %s", p->name, entry->name,
				p->word[0], p->word[1], p->word[2]);
}

/* The number of a word, which an option may stand for. */
static double
resolve_word(gp_layer *t, const input_entry *entry, const parameter *p, const gp_ast *arg)
{
	gp_constant *c;
	double		word;

	for (int w = 0; w < MAX_WORDS && p->word[w] != NULL; w++)
		if (arg->kind == GP_AST_NAME && strcmp(arg->folded, p->word[w]) == 0)
			return w;
	c = arg->kind == GP_AST_NAME ? gp_layer_find(t, arg->folded) : NULL;
	if (c == NULL || c->busy)
		refuse_word(t, entry, p, arg);
	c->used = c->busy = true;
	word = resolve_word(t, entry, p, c->option->value);
	c->busy = false;
	return word;
}

/* The value of an argument. */
static double
resolve_parameter(gp_layer *t, const input_entry *entry, const parameter *p, const gp_ast *arg)
{
	if (p->range == RANGE_WORD)
		return resolve_word(t, entry, p, arg);
	return check_number(t, entry, p, arg, gp_layer_plain_number(t, arg, p->name));
}

/* The entry that a value of the option input names. */
static const input_entry *
find_name(gp_layer *t, const gp_ast *ast)
{
	bool		named = ast->kind == GP_AST_NAME || ast->kind == GP_AST_CALL;
	gp_meant	meant = gp_meant_start(named ? ast->name : "", named ? (int) strlen(ast->name) : 0);

	for (int i = 0; i < NINPUTS; i++)
	{
		if (named && strcmp(ast->folded, inputs[i].name) == 0)
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
	for (int p = 0; has_parameter(entry, p); p++)
		input.p[p] = entry->parameter[p].fallback;
	return input;
}

gp_input
gp_input_resolve(gp_layer *t, const gp_ast *ast)
{
	const input_entry *entry = find_name(t, ast);
	gp_input	input = gp_input_usual(t, ast);
	bool		given[GP_MAX_PARAMETERS] = {false};

	for (int i = 0; i < ast->n; i++)
	{
		int			p = parameter_place(t, entry, ast, i);

		if (given[p])
			gp_raise_at(t->env, GP_ERR_SYNTAX, ast->arg[i]->position, NULL,
						"parameter \"%s\" is given twice", entry->parameter[p].name);
		given[p] = true;
		input.p[p] = resolve_parameter(t, entry, &entry->parameter[p], ast->arg[i]);
	}
	return input;
}

/* True for equal kernels of the input. */
bool
gp_input_equal(const gp_input *a, const gp_input *b)
{
	for (int p = 0; p < GP_MAX_PARAMETERS; p++)
		if (a->p[p] != b->p[p])
			return false;
	return a->kind == b->kind;
}

/* ", name=value" of the parameters, or of those alone that are not at their defaults. */
static void
add_parameters(gp_text *text, const gp_input *input, bool all)
{
	const input_entry *entry = find_kind(input->kind);

	for (int i = 0; has_parameter(entry, i); i++)
	{
		const parameter *p = &entry->parameter[i];

		if (!all && input->p[i] == p->fallback)
			continue;
		gp_text_add(text, ", %s=", p->name);
		if (p->range == RANGE_WORD)
			gp_text_add(text, "%s", p->word[(int) input->p[i]]);
		else
			gp_text_number(text, input->p[i]);
	}
}

void
gp_text_parameters(gp_text *text, const gp_input *input)
{
	add_parameters(text, input, false);
}

void
gp_text_input(gp_text *text, const gp_input *input)
{
	const input_entry *entry = find_kind(input->kind);
	gp_text		parameters = {.arena = text->arena};

	add_parameters(&parameters, input, !entry->terse);
	gp_text_add(text, ", input=%s", entry->name);
	if (parameters.length > 0)
		gp_text_add(text, "(%s)", parameters.data + 2);
}

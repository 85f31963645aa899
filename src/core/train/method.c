/*
 * method.c - a method's text: its name, and options in the kernel language's syntax.
 *
 * The tokens are the kernel language's; what each option may be is a line of a table.
 * The canonical text names the options that are not the default, in the table's order.
 */
#include "train.h"

#include "formula/lex.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_OPTIONS 32
#define COMPONENTS 64
#define LAST_COMPONENTS 16
#define WIDTH 8.0
#define INNER_WIDTH 16.0
#define WARM_HINT "warm=false has every refresh train anew."
#define SYNTAX_HINT "Options are given as name=value, with commas between them."

/* What an option's value is. */
typedef enum value_kind
{
	VALUE_WHOLE,				/* an int */
	VALUE_NUMBER,				/* a double */
	VALUE_WORD					/* an int: the index of the word */
} value_kind;

typedef struct option
{
	const char *name;
	value_kind	kind;
	size_t		offset;			/* in the options */
	double		least;
	double		most;
	const char *hint;
	const char *words[4];
} option;

/* A text that is read, and where the value of each option stood; 0: it was not given. */
typedef struct reader
{
	gp_lexer	lex;
	const gp_method_text *text;
	int			position[MOST_OPTIONS];
} reader;

/* A method's options, up to one without a name, what they are by default, and what must hold among them. */
struct gp_method_text
{
	const char *name;
	const option *options;
	size_t		size;
	const void *defaults;
	void		(*check) (const reader *r, const void *options);
};

#define OPTION(type, field, kind, least, most, hint, ...) \
	{#field, kind, offsetof(type, field), least, most, hint, {__VA_ARGS__}}
#define WHOLE(type, field, least, most, hint) OPTION(type, field, VALUE_WHOLE, least, most, hint, NULL)
#define NUMBER(type, field, least, most, hint) OPTION(type, field, VALUE_NUMBER, least, most, hint, NULL)
#define SWITCH(type, field, hint) OPTION(type, field, VALUE_WORD, 0, 0, hint, "false", "true", NULL)
#define LAST_OPTION {NULL, VALUE_WHOLE, 0, 0, 0, NULL, {NULL}}

#define COMPONENTS_OF(k) \
	{"components" #k, VALUE_WHOLE, offsetof(gp_gckm, components_of[k - 1]), 1, GP_SYEV_MAX, NULL, {NULL}}
#define WIDTH_OF(k) \
	{"width" #k, VALUE_NUMBER, offsetof(gp_gckm, width[k - 1]), 1e-6, 1e6, \
	"A width is a kernel's sigma^2 over the variance of what it acts on.", {NULL}}

static const option gckm_options[] = {
	WHOLE(gp_gckm, layers, 1, GP_GCKM_MAX_LAYERS, NULL),
	WHOLE(gp_gckm, components, 1, GP_SYEV_MAX,
		  "components is of every layer but the last, components2 of the second."),
	COMPONENTS_OF(1), COMPONENTS_OF(2), COMPONENTS_OF(3), COMPONENTS_OF(4),
	WIDTH_OF(1), WIDTH_OF(2), WIDTH_OF(3), WIDTH_OF(4), WIDTH_OF(5),
	OPTION(gp_gckm, aggregate, VALUE_WORD, 0, 0,
		   "sym is (I+D)^-1/2 (I+W) (I+D)^-1/2, sum is I + W, auto is sum with own=true, else sym.",
		   "auto", "sym", "sum", NULL),
	SWITCH(gp_gckm, own, "own is true or false."),
	NUMBER(gp_gckm, gamma, 0, 1e6, "gamma=0 takes 0.8 over the root mean squared distance."),
	WHOLE(gp_gckm, landmarks, 1, GP_SYEV_MAX, NULL),
	NUMBER(gp_gckm, lambda1, 1e-6, 1e6, NULL),
	NUMBER(gp_gckm, lambda2, 1e-6, 1e6, NULL),
	NUMBER(gp_gckm, eta, 1e-6, 1e6, NULL),
	WHOLE(gp_gckm, iterations, 0, 1000,
		  "iterations=0 is the closed form, which was as good where both were measured."),
	LAST_OPTION
};

static const option gpsrf_options[] = {
	WHOLE(gp_gpsrf, features, 1, 100000, "features is the number of cosines."),
	WHOLE(gp_gpsrf, units, 1, 4096, "units is the length of a node's representation."),
	WHOLE(gp_gpsrf, hidden, 1, 4096, "hidden is the width of the layer before it."),
	WHOLE(gp_gpsrf, steps, 1, 1000000, NULL),
	NUMBER(gp_gpsrf, dropout, 0, 0.95, NULL),
	NUMBER(gp_gpsrf, tau, 0, 1, "tau=1 learns from the labels alone."),
	NUMBER(gp_gpsrf, decay, 0, 1, NULL),
	SWITCH(gp_gpsrf, warm, WARM_HINT),
	LAST_OPTION
};

static const option dgp_options[] = {
	WHOLE(gp_dgp, layers, 1, GP_DGP_MAX_LAYERS, NULL),
	WHOLE(gp_dgp, units, 1, GP_SYEV_MAX, "units is the length of a node's representation."),
	WHOLE(gp_dgp, convolutions, 1, 4, "convolutions is the number of sums over neighbours of a layer."),
	WHOLE(gp_dgp, features, 1, 100000, "features is the number of cosines of a layer."),
	WHOLE(gp_dgp, inducing, 2, GP_SYEV_MAX,
		  "inducing is the number of pairs of points, which take the place of cosines and inner products."),
	WHOLE(gp_dgp, steps, 10, 1000000, NULL),
	NUMBER(gp_dgp, rate, 1e-6, 1, "rate is that of the first steps."),
	SWITCH(gp_dgp, warm, WARM_HINT),
	LAST_OPTION
};

const gp_gckm gp_gckm_defaults = {.layers = 2,.components = COMPONENTS,.landmarks = GP_SYEV_MAX,.lambda1 = 1.0,
.lambda2 = 0.07,.eta = 1.0};
const gp_gpsrf gp_gpsrf_defaults = {.features = 1000,.units = 64,.hidden = 128,.steps = 800,.dropout = 0.5,
.tau = 0.8,.decay = 5e-4,.warm = 1};
const gp_dgp gp_dgp_defaults = {.convolutions = 2,.features = 128,.warm = 1};

static void check_gckm(const reader *r, const void *options);
static void check_dgp(const reader *r, const void *options);

const gp_method_text gp_gckm_text = {"gckm", gckm_options, sizeof(gp_gckm), &gp_gckm_defaults, check_gckm};
const gp_method_text gp_gpsrf_text = {"gpsrf", gpsrf_options, sizeof(gp_gpsrf), &gp_gpsrf_defaults, NULL};
const gp_method_text gp_dgp_text = {"dgp", dgp_options, sizeof(gp_dgp), &gp_dgp_defaults, check_dgp};

int
gp_gckm_components(const gp_gckm *o, int layer)
{
	if (o->components_of[layer] > 0)
		return o->components_of[layer];
	return layer + 1 < o->layers ? o->components : LAST_COMPONENTS;
}

double
gp_gckm_width(const gp_gckm *o, int layer)
{
	if (o->width[layer] > 0.0)
		return o->width[layer];
	return layer > 0 && layer < o->layers ? INNER_WIDTH : WIDTH;
}

/* ---- reading ---- */

/* True when a token is this name, in any case. */
static bool
token_is(const gp_token *token, const char *name)
{
	return token->kind == GP_TOKEN_NAME && (size_t) token->length == strlen(name) &&
		strncasecmp(token->start, name, token->length) == 0;
}

bool
gp_method_is(gp_env *env, const char *text, const char *name)
{
	gp_lexer	lex;

	gp_lex_start(&lex, env, text, 0);
	return token_is(&lex.token, name);
}

/* Raises a syntax error at the current token. */
static void __attribute__((noreturn))
bad_syntax(const reader *r, const char *hint)
{
	const gp_token *token = &r->lex.token;

	if (token->kind == GP_TOKEN_END)
		gp_raise_at(r->lex.env, GP_ERR_SYNTAX, token->position, hint, "syntax error at end of method");
	gp_raise_at(r->lex.env, GP_ERR_SYNTAX, token->position, hint, "syntax error in method at \"%.*s\"",
				token->length > 40 ? 40 : token->length, token->start);
}

/* The option that the current token names. */
static int
find_option(const reader *r)
{
	const gp_token *token = &r->lex.token;
	gp_meant	meant = gp_meant_start(token->start, token->length);
	char		hint[600] = "";

	for (int k = 0; r->text->options[k].name; k++)
	{
		if (token_is(token, r->text->options[k].name))
			return k;
		gp_meant_consider(&meant, r->text->options[k].name);
	}
	if (token->kind != GP_TOKEN_NAME)
		bad_syntax(r, SYNTAX_HINT);
	if (meant.name)
		snprintf(hint, sizeof(hint), GP_MEANT, meant.name);
	for (int k = 0; r->text->options[k].name; k++)
		snprintf(hint + strlen(hint), sizeof(hint) - strlen(hint), k > 0 ? ", %s" : "Options are %s",
				 r->text->options[k].name);
	snprintf(hint + strlen(hint), sizeof(hint) - strlen(hint), ".");
	gp_raise_at(r->lex.env, GP_ERR_SYNTAX, token->position, hint,
				"method %s has no option \"%.*s\"", r->text->name,
				token->length > 40 ? 40 : token->length, token->start);
}

/* Reads a value into the options. */
static void
read_value(reader *r, const option *o, char *options)
{
	const gp_token *token = &r->lex.token;
	const char *const *w = o->words;
	int			k = 0;

	if (o->kind == VALUE_WORD)
	{
		while (w[k] && !token_is(token, w[k]))
			k++;
		if (w[k] == NULL)
			gp_raise_at(r->lex.env, GP_ERR_VALUE, token->position, o->hint,
						"option \"%s\" of method %s must be %s%s%s or %s", o->name, r->text->name, w[0],
						w[2] ? ", " : "", w[2] ? w[1] : "", w[2] ? w[2] : w[1]);
		*(int *) (options + o->offset) = k;
	}
	else if (token->kind != GP_TOKEN_NUMBER || !(token->number >= o->least && token->number <= o->most) ||
			 (o->kind == VALUE_WHOLE && token->number != floor(token->number)))
		gp_raise_at(r->lex.env, GP_ERR_VALUE, token->position, o->hint,
					"option \"%s\" of method %s must be a %s from %g to %g", o->name, r->text->name,
					o->kind == VALUE_WHOLE ? "whole number" : "number", o->least, o->most);
	else if (o->kind == VALUE_WHOLE)
		*(int *) (options + o->offset) = (int) token->number;
	else
		*(double *) (options + o->offset) = token->number;
	gp_lex_next(&r->lex);
}

void
gp_method_parse(gp_env *env, const gp_method_text *m, const char *text, void *options)
{
	reader		r = {.text = m};

	memcpy(options, m->defaults, m->size);
	gp_lex_start(&r.lex, env, text, 0);
	if (!token_is(&r.lex.token, m->name))
		bad_syntax(&r, NULL);
	gp_lex_next(&r.lex);
	if (gp_lex_take(&r.lex, '(') && !gp_lex_take(&r.lex, ')'))
	{
		do
		{
			int			k = find_option(&r);
			const option *o = &m->options[k];

			if (r.position[k] > 0)
				gp_raise_at(env, GP_ERR_SYNTAX, r.lex.token.position, NULL,
							"option \"%s\" of method %s is given twice", o->name, m->name);
			gp_lex_next(&r.lex);
			if (!gp_lex_take(&r.lex, '='))
				bad_syntax(&r, SYNTAX_HINT);
			r.position[k] = r.lex.token.position;
			read_value(&r, o, options);
		} while (gp_lex_take(&r.lex, ','));
		if (!gp_lex_take(&r.lex, ')'))
			bad_syntax(&r, SYNTAX_HINT);
	}
	if (r.lex.token.kind != GP_TOKEN_END)
		bad_syntax(&r, NULL);
	if (m->check)
		m->check(&r, options);
}

/* ---- what must hold among options ---- */

/* Where an option stood, or the start of the text. */
static int
position_of(const reader *r, size_t offset)
{
	for (int k = 0; r->text->options[k].name; k++)
		if (r->text->options[k].offset == offset && r->position[k] > 0)
			return r->position[k];
	return 1;
}

/* The position of the later one of two options. */
static int
later_of(const reader *r, size_t a, size_t b)
{
	return position_of(r, a) > position_of(r, b) ? position_of(r, a) : position_of(r, b);
}

/* Options of layers that there are, and penalties with an answer. */
static void
check_gckm(const reader *r, const void *options)
{
	const gp_gckm *o = options;
	gp_env	   *env = r->lex.env;

	for (int k = o->layers; k < GP_GCKM_MAX_LAYERS; k++)
	{
		if (o->components_of[k] > 0)
			gp_raise_at(env, GP_ERR_VALUE, position_of(r, offsetof(gp_gckm, components_of[k])), NULL,
						"option \"components%d\" of method gckm belongs to layer %d of %d", k + 1, k + 1,
						o->layers);
		if (o->width[k + 1] > 0.0)
			gp_raise_at(env, GP_ERR_VALUE, position_of(r, offsetof(gp_gckm, width[k + 1])),
						"The last width is that of the labels' kernel.",
						"option \"width%d\" of method gckm belongs to kernel %d of %d", k + 2, k + 2,
						o->layers + 1);
	}
	if (o->lambda1 * o->eta < 1.0)
		gp_raise_at(env, GP_ERR_VALUE, later_of(r, offsetof(gp_gckm, lambda1), offsetof(gp_gckm, eta)),
					"Below 1 the similarity of the nodes without a label is indefinite.",
					"options \"lambda1\" and \"eta\" of method gckm must have a product of at least 1");
	if (o->lambda2 >= o->lambda1)
		gp_raise_at(env, GP_ERR_VALUE, later_of(r, offsetof(gp_gckm, lambda1), offsetof(gp_gckm, lambda2)),
					"Else a label would count less than nothing.",
					"option \"lambda2\" of method gckm must be less than lambda1, %g", o->lambda1);
}

/* Inducing pairs take the place of cosines. */
static void
check_dgp(const reader *r, const void *options)
{
	const gp_dgp *o = options;

	if (o->inducing > 0 && o->features != gp_dgp_defaults.features)
		gp_raise_at(r->lex.env, GP_ERR_VALUE, later_of(r, offsetof(gp_dgp, inducing), offsetof(gp_dgp, features)),
					"By inducing pairs there are no cosines.",
					"options \"features\" and \"inducing\" of method dgp exclude each other");
}

/* ---- printing ---- */

/* The shortest digits that read back as the same number. */
static void
print_number(char *out, size_t room, double number)
{
	for (int digits = 1; digits <= 17; digits++)
	{
		snprintf(out, room, "%.*g", digits, number);
		if (strtod(out, NULL) == number)
			return;
	}
}

char *
gp_method_print(gp_env *env, const gp_method_text *m, const void *options)
{
	size_t		room = strlen(m->name) + 64 * MOST_OPTIONS;
	char	   *out = gp_alloc(env, room);
	size_t		n = (size_t) snprintf(out, room, "%s", m->name);
	bool		open = false;

	for (const option *o = m->options; o->name; o++)
	{
		const char *at = (const char *) options + o->offset;
		char		value[32];

		if (memcmp(at, (const char *) m->defaults + o->offset,
				   o->kind == VALUE_NUMBER ? sizeof(double) : sizeof(int)) == 0)
			continue;
		if (o->kind == VALUE_NUMBER)
			print_number(value, sizeof(value), *(const double *) at);
		else if (o->kind == VALUE_WHOLE)
			snprintf(value, sizeof(value), "%d", *(const int *) at);
		else
			snprintf(value, sizeof(value), "%s", o->words[*(const int *) at]);
		n += (size_t) snprintf(out + n, room - n, "%s%s=%s", open ? ", " : "(", o->name, value);
		open = true;
	}
	if (open)
		snprintf(out + n, room - n, ")");
	return out;
}

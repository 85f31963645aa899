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

/* What an option's value is. */
typedef enum value_kind
{
	VALUE_WHOLE,				/* an int */
	VALUE_NUMBER,				/* a double */
	VALUE_WORD					/* an int: the place of the word */
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

/* A method: its name, and its options up to one without a name. */
typedef struct method
{
	const char *name;
	const option *options;
} method;

#define AT(field) offsetof(gp_gckm, field)
#define COMPONENTS_OF(number) \
	{"components" #number, VALUE_WHOLE, AT(components_of[number - 1]), 1, GP_SYEV_MAX, NULL, {NULL}}
#define WIDTH_OF(number) \
	{"width" #number, VALUE_NUMBER, AT(width[number - 1]), 1e-6, 1e6, \
	"A width is a kernel's sigma^2 over the variance of what it acts on.", {NULL}}

static const option gckm_options[] = {
	{"layers", VALUE_WHOLE, AT(layers), 1, GP_GCKM_MAX_LAYERS, NULL, {NULL}},
	{"components", VALUE_WHOLE, AT(components), 1, GP_SYEV_MAX,
	"components is of every layer but the last, components2 of the second.", {NULL}},
	COMPONENTS_OF(1), COMPONENTS_OF(2), COMPONENTS_OF(3), COMPONENTS_OF(4),
	WIDTH_OF(1), WIDTH_OF(2), WIDTH_OF(3), WIDTH_OF(4), WIDTH_OF(5),
	{"aggregate", VALUE_WORD, AT(aggregate), 0, 0,
	"sym is (I+D)^-1/2 (I+W) (I+D)^-1/2, sum is I + W, auto is sum with own=true, else sym.",
	{"auto", "sym", "sum", NULL}},
	{"own", VALUE_WORD, AT(own), 0, 0, "own is true or false.", {"false", "true", NULL}},
	{"gamma", VALUE_NUMBER, AT(gamma), 0, 1e6, "gamma=0 takes 0.8 over the root mean squared distance.", {NULL}},
	{"landmarks", VALUE_WHOLE, AT(landmarks), 1, GP_SYEV_MAX, NULL, {NULL}},
	{"lambda1", VALUE_NUMBER, AT(lambda1), 1e-6, 1e6, NULL, {NULL}},
	{"lambda2", VALUE_NUMBER, AT(lambda2), 1e-6, 1e6, NULL, {NULL}},
	{"eta", VALUE_NUMBER, AT(eta), 1e-6, 1e6, NULL, {NULL}},
	{"iterations", VALUE_WHOLE, AT(iterations), 0, 1000,
	"iterations=0 is the closed form, which was as good where both were measured.", {NULL}},
	{NULL, VALUE_WHOLE, 0, 0, 0, NULL, {NULL}}
};

static const method gckm = {"gckm", gckm_options};

#define OF(field) offsetof(gp_gpsrf, field)

static const option gpsrf_options[] = {
	{"features", VALUE_WHOLE, OF(features), 1, 100000, "features is the number of cosines.", {NULL}},
	{"units", VALUE_WHOLE, OF(units), 1, 4096, "units is the length of a node's representation.", {NULL}},
	{"hidden", VALUE_WHOLE, OF(hidden), 1, 4096, "hidden is the width of the layer before it.", {NULL}},
	{"steps", VALUE_WHOLE, OF(steps), 1, 1000000, NULL, {NULL}},
	{"dropout", VALUE_NUMBER, OF(dropout), 0, 0.95, NULL, {NULL}},
	{"tau", VALUE_NUMBER, OF(tau), 0, 1, "tau=1 learns from the labels alone.", {NULL}},
	{"decay", VALUE_NUMBER, OF(decay), 0, 1, NULL, {NULL}},
	{"warm", VALUE_WORD, OF(warm), 0, 0, WARM_HINT, {"false", "true", NULL}},
	{NULL, VALUE_WHOLE, 0, 0, 0, NULL, {NULL}}
};

static const method gpsrf = {"gpsrf", gpsrf_options};

#define IN(field) offsetof(gp_dgp, field)

static const option dgp_options[] = {
	{"layers", VALUE_WHOLE, IN(layers), 1, GP_DGP_MAX_LAYERS, NULL, {NULL}},
	{"units", VALUE_WHOLE, IN(units), 1, GP_SYEV_MAX, "units is the length of a node's representation.", {NULL}},
	{"convolutions", VALUE_WHOLE, IN(convolutions), 1, 4, "convolutions is the number of sums over neighbours of a layer.", {NULL}},
	{"features", VALUE_WHOLE, IN(features), 1, 100000, "features is the number of cosines of a layer.", {NULL}},
	{"inducing", VALUE_WHOLE, IN(inducing), 2, GP_SYEV_MAX,
	"inducing is the number of pairs of points, which take the place of cosines and inner products.", {NULL}},
	{"steps", VALUE_WHOLE, IN(steps), 10, 1000000, NULL, {NULL}},
	{"rate", VALUE_NUMBER, IN(rate), 1e-6, 1, "rate is that of the first steps.", {NULL}},
	{"warm", VALUE_WORD, IN(warm), 0, 0, WARM_HINT, {"false", "true", NULL}},
	{NULL, VALUE_WHOLE, 0, 0, 0, NULL, {NULL}}
};

static const method dgp = {"dgp", dgp_options};

/* What a user may leave out of the deep Gaussian process. */
gp_dgp
gp_dgp_defaults(void)
{
	return (gp_dgp) {.convolutions = 2,.features = 128,.warm = 1};
}

/* What a user may leave out of GPSRF. */
gp_gpsrf
gp_gpsrf_defaults(void)
{
	return (gp_gpsrf) {.features = 1000,.units = 64,.hidden = 128,.steps = 800,.dropout = 0.5,.tau = 0.8,
	.decay = 5e-4,.warm = 1};
}

/* What a user may leave out. */
gp_gckm
gp_gckm_defaults(void)
{
	return (gp_gckm) {.layers = 2,.components = COMPONENTS,.landmarks = GP_SYEV_MAX,.lambda1 = 1.0,
	.lambda2 = 0.07,.eta = 1.0};
}

/* The components of a layer. */
int
gp_gckm_components(const gp_gckm *o, int layer)
{
	if (o->components_of[layer] > 0)
		return o->components_of[layer];
	return layer + 1 < o->layers ? o->components : LAST_COMPONENTS;
}

/* The width of a kernel. */
double
gp_gckm_width(const gp_gckm *o, int layer)
{
	if (o->width[layer] > 0.0)
		return o->width[layer];
	return layer > 0 && layer < o->layers ? INNER_WIDTH : WIDTH;
}

/* ---- reading ---- */

/* A text that is read, and where the value of each option stood; 0: it was not given. */
typedef struct reader
{
	gp_lexer	lex;
	const method *method;
	int			position[MOST_OPTIONS];
} reader;

/* True when a token is this name, in any case. */
static bool
token_is(const gp_token *token, const char *name)
{
	return token->kind == GP_TOKEN_NAME && (size_t) token->length == strlen(name) &&
		strncasecmp(token->start, name, token->length) == 0;
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

/* Raises an error at a word that an option does not know. */
static void __attribute__((noreturn))
bad_word(const reader *r, const option *o)
{
	const char *const *w = o->words;

	gp_raise_at(r->lex.env, GP_ERR_VALUE, r->lex.token.position, o->hint,
				"option \"%s\" of method %s must be %s%s%s or %s", o->name, r->method->name, w[0],
				w[2] ? ", " : "", w[2] ? w[1] : "", w[2] ? w[2] : w[1]);
}

/* Raises an error at a number that an option may not be. */
static void __attribute__((noreturn))
bad_number(const reader *r, const option *o)
{
	gp_raise_at(r->lex.env, GP_ERR_VALUE, r->lex.token.position, o->hint,
				"option \"%s\" of method %s must be a %s from %g to %g", o->name, r->method->name,
				o->kind == VALUE_WHOLE ? "whole number" : "number", o->least, o->most);
}

/* The place of the current token among an option's words. */
static int
read_word(const reader *r, const option *o)
{
	for (int k = 0; o->words[k]; k++)
		if (token_is(&r->lex.token, o->words[k]))
			return k;
	bad_word(r, o);
}

/* Reads a value into the options. */
static void
read_value(reader *r, const option *o, char *options)
{
	const gp_token *token = &r->lex.token;

	if (o->kind == VALUE_WORD)
		*(int *) (options + o->offset) = read_word(r, o);
	else
	{
		if (token->kind != GP_TOKEN_NUMBER || !(token->number >= o->least && token->number <= o->most) ||
			(o->kind == VALUE_WHOLE && token->number != floor(token->number)))
			bad_number(r, o);
		if (o->kind == VALUE_WHOLE)
			*(int *) (options + o->offset) = (int) token->number;
		else
			*(double *) (options + o->offset) = token->number;
	}
	gp_lex_next(&r->lex);
}

/* The option that the current token names. */
static int
find_option(const reader *r)
{
	const gp_token *token = &r->lex.token;
	gp_meant	meant = gp_meant_start(token->start, token->length);
	char		hint[600] = "";

	for (int k = 0; r->method->options[k].name; k++)
	{
		if (token_is(token, r->method->options[k].name))
			return k;
		gp_meant_consider(&meant, r->method->options[k].name);
	}
	if (token->kind != GP_TOKEN_NAME)
		bad_syntax(r, "Options are given as name=value, with commas between them.");
	if (meant.name)
		snprintf(hint, sizeof(hint), GP_MEANT, meant.name);
	for (int k = 0; r->method->options[k].name; k++)
		snprintf(hint + strlen(hint), sizeof(hint) - strlen(hint), k > 0 ? ", %s" : "Options are %s",
				 r->method->options[k].name);
	snprintf(hint + strlen(hint), sizeof(hint) - strlen(hint), ".");
	gp_raise_at(r->lex.env, GP_ERR_SYNTAX, token->position, hint,
				"method %s has no option \"%.*s\"", r->method->name,
				token->length > 40 ? 40 : token->length, token->start);
}

/* name=value */
static void
read_option(reader *r, char *options)
{
	int			k = find_option(r);
	const option *o = &r->method->options[k];

	if (r->position[k] > 0)
		gp_raise_at(r->lex.env, GP_ERR_SYNTAX, r->lex.token.position, NULL,
					"option \"%s\" of method %s is given twice", o->name, r->method->name);
	gp_lex_next(&r->lex);
	if (!gp_lex_take(&r->lex, '='))
		bad_syntax(r, "Options are given as name=value, with commas between them.");
	r->position[k] = r->lex.token.position;
	read_value(r, o, options);
}

/* Reads a method's text into options that hold the defaults. */
static void
read_method(reader *r, gp_env *env, const method *m, const char *text, void *options)
{
	memset(r, 0, sizeof(*r));
	r->method = m;
	gp_lex_start(&r->lex, env, text, 0);
	if (!token_is(&r->lex.token, m->name))
		bad_syntax(r, NULL);
	gp_lex_next(&r->lex);
	if (gp_lex_take(&r->lex, '(') && !gp_lex_take(&r->lex, ')'))
	{
		do
			read_option(r, options);
		while (gp_lex_take(&r->lex, ','));
		if (!gp_lex_take(&r->lex, ')'))
			bad_syntax(r, "Options are given as name=value, with commas between them.");
	}
	if (r->lex.token.kind != GP_TOKEN_END)
		bad_syntax(r, NULL);
}

/* Where an option stood, or the start of the text. */
static int
position_of(const reader *r, size_t offset)
{
	for (int k = 0; r->method->options[k].name; k++)
		if (r->method->options[k].offset == offset && r->position[k] > 0)
			return r->position[k];
	return 1;
}

/* The place of the later one of two options. */
static int
later_of(const reader *r, size_t a, size_t b)
{
	return position_of(r, a) > position_of(r, b) ? position_of(r, a) : position_of(r, b);
}

/* Refuses options of layers that are not there. */
static void
check_layers(const reader *r, const gp_gckm *o)
{
	for (int k = o->layers; k < GP_GCKM_MAX_LAYERS; k++)
	{
		if (o->components_of[k] > 0)
			gp_raise_at(r->lex.env, GP_ERR_VALUE, position_of(r, AT(components_of[k])), NULL,
						"option \"components%d\" of method gckm belongs to layer %d of %d", k + 1, k + 1,
						o->layers);
		if (o->width[k + 1] > 0.0)
			gp_raise_at(r->lex.env, GP_ERR_VALUE, position_of(r, AT(width[k + 1])),
						"The last width is that of the labels' kernel.",
						"option \"width%d\" of method gckm belongs to kernel %d of %d", k + 2, k + 2,
						o->layers + 1);
	}
}

/* Reads GCKM's text. */
gp_gckm
gp_gckm_parse(gp_env *env, const char *text)
{
	gp_gckm		o = gp_gckm_defaults();
	reader		r;

	read_method(&r, env, &gckm, text, &o);
	check_layers(&r, &o);
	if (o.lambda1 * o.eta < 1.0)
		gp_raise_at(env, GP_ERR_VALUE, later_of(&r, AT(lambda1), AT(eta)),
					"Below 1 the similarity of the nodes without a label is indefinite.",
					"options \"lambda1\" and \"eta\" of method gckm must have a product of at least 1");
	if (o.lambda2 >= o.lambda1)
		gp_raise_at(env, GP_ERR_VALUE, later_of(&r, AT(lambda1), AT(lambda2)),
					"Else a label would count less than nothing.",
					"option \"lambda2\" of method gckm must be less than lambda1, %g", o.lambda1);
	return o;
}

/* Reads GPSRF's text. */
gp_gpsrf
gp_gpsrf_parse(gp_env *env, const char *text)
{
	gp_gpsrf	o = gp_gpsrf_defaults();
	reader		r;

	read_method(&r, env, &gpsrf, text, &o);
	return o;
}

/* Reads the deep Gaussian process's text. */
gp_dgp
gp_dgp_parse(gp_env *env, const char *text)
{
	gp_dgp		o = gp_dgp_defaults();
	reader		r;

	read_method(&r, env, &dgp, text, &o);
	if (o.inducing > 0 && o.features != gp_dgp_defaults().features)
		gp_raise_at(env, GP_ERR_VALUE, later_of(&r, IN(inducing), IN(features)),
					"By inducing pairs there are no cosines.",
					"options \"features\" and \"inducing\" of method dgp exclude each other");
	return o;
}

/* True when a method's text begins with this name. */
bool
gp_method_is(gp_env *env, const char *text, const char *name)
{
	gp_lexer	lex;

	gp_lex_start(&lex, env, text, 0);
	return token_is(&lex.token, name);
}

/* ---- printing ---- */

/* True when an option is what it is by default. */
static bool
is_default(const option *o, const char *options, const char *defaults)
{
	size_t		size = o->kind == VALUE_NUMBER ? sizeof(double) : sizeof(int);

	return memcmp(options + o->offset, defaults + o->offset, size) == 0;
}

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

/* One value. */
static void
print_value(const option *o, const char *options, char *out, size_t room)
{
	if (o->kind == VALUE_NUMBER)
		print_number(out, room, *(const double *) (options + o->offset));
	else if (o->kind == VALUE_WHOLE)
		snprintf(out, room, "%d", *(const int *) (options + o->offset));
	else
		snprintf(out, room, "%s", o->words[*(const int *) (options + o->offset)]);
}

/* A method's canonical text. */
static char *
print_method(gp_env *env, const method *m, const void *options, const void *defaults)
{
	size_t		room = strlen(m->name) + 64 * MOST_OPTIONS;
	char	   *out = gp_alloc(env, room);
	size_t		n = (size_t) snprintf(out, room, "%s", m->name);
	bool		open = false;

	for (const option *o = m->options; o->name; o++)
	{
		char		value[32];

		if (is_default(o, options, defaults))
			continue;
		print_value(o, options, value, sizeof(value));
		n += (size_t) snprintf(out + n, room - n, "%s%s=%s", open ? ", " : "(", o->name, value);
		open = true;
	}
	if (open)
		snprintf(out + n, room - n, ")");
	return out;
}

/* GCKM's canonical text. */
char *
gp_gckm_print(gp_env *env, const gp_gckm *options)
{
	gp_gckm		defaults = gp_gckm_defaults();

	return print_method(env, &gckm, options, &defaults);
}

/* The deep Gaussian process's canonical text. */
char *
gp_dgp_print(gp_env *env, const gp_dgp *options)
{
	gp_dgp		defaults = gp_dgp_defaults();

	return print_method(env, &dgp, options, &defaults);
}

/* GPSRF's canonical text. */
char *
gp_gpsrf_print(gp_env *env, const gp_gpsrf *options)
{
	gp_gpsrf	defaults = gp_gpsrf_defaults();

	return print_method(env, &gpsrf, options, &defaults);
}

/*
 * formula_internal.h - the canonical tree of a kernel, shared by the language's files.
 *
 * Text -> tree of the grammar (parse.c) -> typed and canonical tree
 * (typing.c by the rules of algebra.c, of scalars, operators and features; the
 * text as a whole in options.c) -> canonical text (canon.c, by print.c and
 * find_preset.c) and program (program.c).  Canonical trees are in one
 * normal form each, so two kernels are equal when their trees are.
 *
 * What recurs over a tree looks at the stack first (gp_check_stack).  Where no
 * environment is at hand it need not: a feature nests no deeper than the text,
 * which the parser bounds, and a scalar no deeper than scalar.c allows.
 */
#ifndef GP_LANG_INTERNAL_H
#define GP_LANG_INTERNAL_H

#include "tree.h"
#include "formula.h"
#include "lex.h"

#define GP_MAX_LAYERS 32
#define GP_MAX_POWER 64			/* of an operator */

/* ---- names (preset.c) ---- */

#define GP_MAX_PRESET_OPTIONS GP_MAX_PARAMETERS

/* A preset: its text is a kernel as anyone could write it. */
typedef struct gp_preset
{
	const char *name;
	const char *text;			/* the formula, the defaults of its options, what depends on them */
	const char *options;		/* the names of its own options, for hints */
	struct
	{
		const char *name;
		double		low;		/* values that print looks for */
		double		high;
		int			parameter;	/* place + 1 of the input's parameter that it is; 0: none */
	}			own[GP_MAX_PRESET_OPTIONS];
} gp_preset;

/* The preset of a name in whatever case, the i-th one; NULL when there is none. */
extern const gp_preset *gp_preset_find(const char *name);
extern const gp_preset *gp_preset_at(int i);

/* What to write where a kernel is not known; lives in the arena. */
extern const char *gp_preset_hint(gp_arena *arena);

/* The hint with what was perhaps meant before it (did_you_mean.c); lives in the arena. */
extern const char *gp_meant_hint(gp_arena *arena, const gp_meant *meant, const char *hint);

/* ---- scalars (scalar.c) ---- */

typedef enum gp_scalar_kind
{
	GP_SCALAR_NUMBER,
	GP_SCALAR_LAYER,			/* l */
	GP_SCALAR_LN,				/* ln(arg[0]) */
	GP_SCALAR_SQRT,				/* sqrt(arg[0]) */
	GP_SCALAR_POWER,			/* arg[0] ^ arg[1], where no whole number is above */
	GP_SCALAR_PRODUCT,			/* number * arg[i] ^ exponent[i] ... */
	GP_SCALAR_SUM				/* number + arg[i] + ... */
} gp_scalar_kind;

typedef struct gp_scalar gp_scalar;

/* An expression of l in normal form; numbers are folded. */
struct gp_scalar
{
	gp_scalar_kind kind;
	int			size;			/* nodes */
	int			depth;			/* of them, one below the other */
	double		number;
	int			n;
	const gp_scalar **arg;
	int		   *exponent;
};

/* Where canonical trees are made, and the place in the text to complain about. */
typedef struct gp_maker
{
	gp_arena   *arena;
	gp_env	   *env;
	int			position;
} gp_maker;

extern const gp_scalar *gp_scalar_number(gp_maker *m, double number);
extern const gp_scalar *gp_scalar_layer(gp_maker *m);
extern const gp_scalar *gp_scalar_function(gp_maker *m, gp_scalar_kind kind,
										   const gp_scalar *arg);
extern const gp_scalar *gp_scalar_add(gp_maker *m, const gp_scalar *a, const gp_scalar *b);
extern const gp_scalar *gp_scalar_mul(gp_maker *m, const gp_scalar *a, const gp_scalar *b);
extern const gp_scalar *gp_scalar_divide(gp_maker *m, const gp_scalar *a, const gp_scalar *b);
extern const gp_scalar *gp_scalar_pow(gp_maker *m, const gp_scalar *base, const gp_scalar *e);

/* The same without the sign of its number, where only the square matters. */
extern const gp_scalar *gp_scalar_abs(gp_maker *m, const gp_scalar *a);
extern double gp_scalar_eval(const gp_scalar *a, int layer);
extern int	gp_scalar_compare(const gp_scalar *a, const gp_scalar *b);
extern bool gp_scalar_is(const gp_scalar *a, double number);

/* The number that decides the sign as printed: of a product, or its own. */
extern double gp_scalar_factor(const gp_scalar *a);

/* ---- operators on the nodes (poly.c) ---- */

typedef struct gp_poly_term
{
	int			power_a;
	int			power_p[GP_MAX_P];
	const gp_scalar *coef;
} gp_poly_term;

/* A polynomial in A and P(alpha); terms by falling powers, alphas ascending. */
typedef struct gp_poly
{
	int			np;
	const gp_scalar *alpha[GP_MAX_P];
	int			n;				/* 0: zero */
	gp_poly_term term[GP_MAX_TERMS];
} gp_poly;

extern const gp_poly *gp_poly_identity(gp_maker *m, const gp_scalar *coef);
extern const gp_poly *gp_poly_a(gp_maker *m);
extern const gp_poly *gp_poly_p(gp_maker *m, const gp_scalar *alpha);
extern const gp_poly *gp_poly_add(gp_maker *m, const gp_poly *a, const gp_poly *b);
extern const gp_poly *gp_poly_mul(gp_maker *m, const gp_poly *a, const gp_poly *b);
extern const gp_poly *gp_poly_scale(gp_maker *m, const gp_poly *a, const gp_scalar *factor);
extern const gp_poly *gp_poly_pow(gp_maker *m, const gp_poly *a, int power);
extern int	gp_poly_compare(const gp_poly *a, const gp_poly *b);
extern int	gp_poly_compare_powers(int a, const int *a_p, int b, const int *b_p);
extern bool gp_poly_term_is_identity(const gp_poly_term *term);

/* ---- features (feature.c) ---- */

/* What stands right of a feature: id*I + coef[0]*W + ..., each W of its own sigma. */
typedef struct gp_mix
{
	const gp_scalar *id;
	int			n;
	const gp_scalar **coef;
	const gp_scalar **sigma;
} gp_mix;

/* coef times a product of mixes; the type of W and (aI + bW). */
typedef struct gp_weight
{
	const gp_scalar *coef;
	int			n;
	const gp_mix **mix;
} gp_weight;

/* In the order that terms are printed in. */
typedef enum gp_feature_kind
{
	GP_FEATURE_RELU,			/* of arg[0] */
	GP_FEATURE_UNIT,			/* of arg[0], scaled to a mean variance of one */
	GP_FEATURE_X,
	GP_FEATURE_X0,
	GP_FEATURE_N,				/* the lists of neighbours */
	GP_FEATURE_TERM,			/* coef * op * arg[0] * weights */
	GP_FEATURE_SUM,
	GP_FEATURE_BIAS
} gp_feature_kind;

#define GP_SOURCE_X 1u
#define GP_SOURCE_X0 2u
#define GP_SOURCE_N 4u

typedef struct gp_feature gp_feature;

/* A NULL feature is zero. */
struct gp_feature
{
	gp_feature_kind kind;
	int			position;
	unsigned	sources;		/* what it shares with others, of GP_SOURCE_* */
	bool		mean;			/* an activation without a fresh weight: its mean is not zero */
	const gp_scalar *sigma;		/* of a bias */
	const gp_scalar *coef;		/* of a term */
	const gp_poly *op;			/* of a term; NULL: I */
	const gp_weight *weight;	/* of a term; its own coef is 1 */
	int			n;
	const gp_feature **arg;
};

extern const gp_feature *gp_feature_source(gp_maker *m, gp_feature_kind kind);
extern const gp_feature *gp_feature_bias(gp_maker *m, const gp_scalar *sigma);
extern const gp_feature *gp_feature_relu(gp_maker *m, const gp_feature *arg);
extern const gp_feature *gp_feature_unit(gp_maker *m, const gp_feature *arg);
extern const gp_feature *gp_feature_term(gp_maker *m, const gp_scalar *coef, const gp_poly *op,
										 const gp_feature *arg, const gp_weight *weight);

/* Checks that the terms are independent; they stand in the order of the text. */
extern const gp_feature *gp_feature_sum(gp_maker *m, int n, const gp_feature **arg);
extern int	gp_feature_compare(const gp_feature *a, const gp_feature *b);

extern const gp_weight *gp_weight_make(gp_maker *m, const gp_scalar *id, const gp_scalar *sigma);
extern const gp_weight *gp_weight_mul(gp_maker *m, const gp_weight *a, const gp_weight *b);
extern const gp_weight *gp_weight_scale(gp_maker *m, const gp_weight *a, const gp_scalar *factor);

/* NULL when one of the two is a product. */
extern const gp_weight *gp_weight_add(gp_maker *m, const gp_weight *a, const gp_weight *b);

/* What a walk over a tree tells. */
typedef struct gp_feature_facts
{
	bool		has_x;
	bool		has_input;		/* X or X0 */
	bool		has_op;
} gp_feature_facts;

extern gp_feature_facts gp_feature_look(const gp_feature *f);

/* ---- from the grammar's tree to the canonical one ---- */

/* The options beside the formula. */
typedef struct gp_kernel_options
{
	int			layers;
	gp_input	input;
	gp_norm		norm;
	double		power;
	bool		input_given;
} gp_kernel_options;

/* An option while its text gets a meaning. */
typedef struct gp_constant
{
	const gp_option *option;
	const gp_scalar *fixed;		/* overrides the option's text */
	bool		used;
	bool		busy;			/* being typed: a cycle when met again */
	const struct gp_value *value;	/* once typed */
} gp_constant;

/* What typing a text needs to know. */
typedef struct gp_typing
{
	gp_maker	m;
	int			first;			/* the layers that values are checked in */
	int			last;
	int			layers;			/* the value of the name "layers" */
	bool		fold_layer;		/* l is the number first */
	int			depth;
	int			n;
	gp_constant *constant;
} gp_typing;

typedef enum gp_value_kind
{
	GP_VALUE_SCALAR,
	GP_VALUE_IDENTITY,			/* scalar * I, of the nodes or of the width */
	GP_VALUE_OPERATOR,
	GP_VALUE_WEIGHT,
	GP_VALUE_FEATURE
} gp_value_kind;

typedef struct gp_value
{
	gp_value_kind kind;
	const gp_scalar *s;			/* of a scalar or an identity */
	const double *at;			/* of a scalar: its value in each layer, as written */
	const gp_poly *op;
	const gp_weight *weight;
	const gp_feature *feature;	/* NULL: zero */
} gp_value;

/* algebra.c */

/* What errors call a value; a copy that lasts; room for its numbers in every layer. */
extern const char *gp_value_name(const gp_value *v);
extern const gp_value *gp_value_keep(gp_typing *t, gp_value value);
extern double *gp_value_room(gp_typing *t);

#define GP_VALUE(t, kind, ...) gp_value_keep(t, (gp_value) {GP_VALUE_##kind, __VA_ARGS__})

/* Refuses numbers that are not finite; s tells whether they depend on the layer. */
extern void gp_value_check(gp_typing *t, const double *at, const gp_scalar *s, int position,
						   const char *message);

/* A number, the same in every layer; a scalar that is already canonical. */
extern const gp_value *gp_value_plain(gp_typing *t, double number);
extern const gp_value *gp_value_fixed(gp_typing *t, const gp_scalar *s);

/* Anything but sums of features, which are checked as a whole; the sign of a feature does not matter. */
extern const gp_value *gp_value_multiply(gp_typing *t, const gp_value *a, int a_position,
										 const gp_value *b, int b_position);
extern const gp_value *gp_value_divide(gp_typing *t, const gp_value *a, const gp_value *b,
									   int position);
extern const gp_value *gp_value_negate(gp_typing *t, const gp_value *v, int position);
extern const gp_value *gp_value_add(gp_typing *t, const gp_value *a, const gp_value *b,
									int position);

/* Raises a syntax error at a place. */
extern void gp_typing_bad(gp_typing *t, int position, const char *hint, const char *message)
			__attribute__((noreturn));

/* typing.c */

/* The names of functions, up to a NULL. */
extern const char *const gp_functions[];

/* Types a tree; the same for what must be a number, name says of what. */
extern const gp_value *gp_typing_value(gp_typing *t, const gp_ast *ast);
extern const gp_value *gp_typing_number(gp_typing *t, const gp_ast *ast, const char *name);

/* A number that must not depend on the layer. */
extern double gp_typing_plain_number(gp_typing *t, const gp_ast *ast, const char *name);

/* sigma_w, sigma_w1, sigma_b ... for the number of a weight or bias, 0 for none. */
extern const gp_scalar *gp_typing_sigma(gp_typing *t, char letter, int number, int position);

/* The option of this name, or NULL. */
extern gp_constant *gp_typing_find(const gp_typing *t, const char *name);

/* input=... (input.c) */
extern gp_input gp_input_resolve(gp_typing *t, const gp_ast *ast);
extern bool gp_input_equal(const gp_input *a, const gp_input *b);

/* A value that overrides an option, where print looks for a preset. */
typedef struct gp_override
{
	const char *name;
	const gp_scalar *value;
} gp_override;

typedef struct gp_meaning
{
	gp_kernel_options set;
	const gp_feature *root;
	bool		folded;			/* X is in the text, with a factor of zero */
} gp_meaning;

/* Types a text (options.c).  layers > 0 overrides the option. */
extern gp_meaning gp_kernel_resolve(gp_arena *arena, const gp_kernel_text *text,
									int noverrides, const gp_override *overrides, int layers);

/* The canonical text (canon.c), in the arena. */
extern const char *gp_meaning_print(gp_arena *arena, const gp_meaning *meaning);

/* Some text that grows in an arena. */
typedef struct gp_text
{
	gp_arena   *arena;
	size_t		length;
	size_t		room;
	char	   *data;
} gp_text;

extern void gp_text_add(gp_text *text, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* The shortest digits that read back as the same number (print.c). */
extern void gp_text_number(gp_text *text, double number);
extern void gp_text_scalar(gp_text *text, const gp_scalar *a);

/* A list of distinct sigmas, ascending, that print as W1, W2 or b1, b2. */
#define GP_MAX_SIGMAS (GP_KERNEL_MAX_OPTIONS + 8)

typedef struct gp_sigmas
{
	int			n;
	const gp_scalar *sigma[GP_MAX_SIGMAS];
} gp_sigmas;

typedef struct gp_names
{
	gp_sigmas	w;
	gp_sigmas	b;
} gp_names;

extern void gp_names_collect(gp_names *names, const gp_feature *f);
extern void gp_text_feature(gp_text *text, const gp_names *names, const gp_feature *f);
extern void gp_text_sigmas(gp_text *text, const gp_names *names);

/* The option power, unless it is 1 (options.c). */
extern void gp_text_kernel_power(gp_text *text, double power);

/* The option input, unless it is linear; one of its parameters (input.c). */
extern void gp_text_input(gp_text *text, const gp_input *input);
extern void gp_text_parameter(gp_text *text, const gp_input *input, int place);

/* Prints the preset that has this meaning; false when there is none (find_preset.c). */
extern bool gp_text_preset(gp_text *text, const gp_meaning *meaning, const gp_names *names);

/* The program of a meaning; raises when the kernel is zero or not finite. */
extern gp_program *gp_program_make(gp_env *env, const gp_meaning *meaning, int position);

#endif							/* GP_LANG_INTERNAL_H */

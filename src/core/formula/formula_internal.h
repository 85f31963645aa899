/*
 * formula_internal.h - what the language's files share.
 *
 * Text -> tree of the grammar (parse.c) -> steps, layer by layer: layer.c computes the tree's
 * value in each layer with numbers put in (layer_value.c, polynomial.c) and makes steps of its
 * features (steps.c).  kernel.c has the options and the kernel as a whole, print.c its text.
 *
 * What recurs over a tree looks at the stack first (gp_check_stack).
 */
#ifndef GP_FORMULA_INTERNAL_H
#define GP_FORMULA_INTERNAL_H

#include "tree.h"
#include "formula.h"

#define GP_KERNEL_MAX_BYTES 4096	/* the longest text of a kernel */
#define GP_MAX_LAYERS 32
#define GP_MAX_POWER 64			/* of an operator */
#define GP_ZERO (-1)			/* in place of a step: a covariance of zero */

/* ---- names (text.c) ---- */

/* True for the names that formulas reserve: X, W1, relu and so on. */
extern bool gp_keyword_is(const char *name, int length);

/* The number behind a letter: 0 for W, 1 for W1; -1 for any other name. */
extern int	gp_name_number(const char *name, size_t length, char letter);

/* ---- parameters of input kernels and methods (option.c) ---- */

#define GP_MAX_WORDS 3

/* What values a parameter may have. */
typedef enum gp_range
{
	GP_RANGE_POSITIVE,
	GP_RANGE_NOT_NEGATIVE,
	GP_RANGE_SHARE,				/* between 0 and 1, both excluded */
	GP_RANGE_REAL,				/* from low to high */
	GP_RANGE_WHOLE,				/* the same, whole numbers alone */
	GP_RANGE_WORD
} gp_range;

/* What an option may be. */
typedef struct gp_option_rule
{
	const char *name;			/* NULL: no more */
	double		fallback;		/* may be out of range: nothing that could be given */
	gp_range	range;
	double		low;
	double		high;
	const char *hint;
	const char *word[GP_MAX_WORDS];
} gp_option_rule;

/* What follows are members by name. */
#define GP_OPTION(n, value, r, ...) \
	{.name = n,.fallback = value,.range = GP_RANGE_##r, __VA_ARGS__}

/* ---- presets (preset.c) ---- */

/* A kernel with a name: a preset, whose text is one that anyone could write, or a method. */
typedef struct gp_preset
{
	const char *name;
	const char *text;			/* the formula, the defaults of its options, what depends on them;
								 * NULL: a method */
	bool		input;			/* its own options are the parameters of its input, in their
								 * order */
	const char *own[GP_MAX_PARAMETERS + 1]; /* the names of its own options, up to a NULL */
	const gp_option_rule *parameter;	/* of each of a method's options */
} gp_preset;

/* The preset of a name in whatever case, the i-th one; NULL when there is none. */
extern const gp_preset *gp_preset_find(const char *name);
extern const gp_preset *gp_preset_at(int i);

/* What to write where a kernel is not known; lives in the arena. */
extern const char *gp_preset_hint(gp_arena *arena);

/* The hint with what was perhaps meant before it (text.c); lives in the arena. */
extern const char *gp_meant_hint(gp_arena *arena, const gp_meant *meant, const char *hint);

/* ---- numbers (text.c) ---- */

/*
 * A number as kernels are compared by it: 0.7 * 0.7 is 0.49; and the order of two such numbers.
 */
extern double gp_number_rounded(double number);
extern int	gp_number_compare(double a, double b);

/* ---- steps (steps.c) ---- */

typedef struct gp_steps gp_steps;

/* The options beside the formula. */
typedef struct gp_kernel_options
{
	int			layers;
	gp_input	input;
	gp_norm		norm;
	double		power;
	bool		open_power;
} gp_kernel_options;

extern gp_steps *gp_steps_create(gp_arena *arena);

/* The numbers of steps, which are made where there are none like them; arguments may be GP_ZERO. */
extern int	gp_step_source(gp_steps *b, gp_step_kind kind);	/* INPUT, LISTS */
extern int	gp_step_bias(gp_steps *b, double value);
extern int	gp_step_scale(gp_steps *b, double value, int arg);
extern int	gp_step_unit(gp_steps *b, int arg);
extern int	gp_step_relu(gp_steps *b, int arg);
extern int	gp_step_op(gp_steps *b, const gp_operator *op, int arg);
extern int	gp_step_sum(gp_steps *b, int x, int y);

/* The number that a step has; 0 for none. */
extern double gp_step_value(const gp_steps *b, int step);

/*
 * The terms of a sum that stands at a step, which term gets unless it is NULL; how many.  The step
 * whole is one term, whatever it is made of; GP_ZERO: none is.
 */
extern int	gp_step_terms(const gp_steps *b, int step, int whole, int *term);

/* Orders steps by what they compute, in the order of a sum's terms; 0 for the same step. */
extern int	gp_steps_compare(const gp_steps *b, int x, int y);

extern gp_program *gp_steps_finish(const gp_steps *b, const gp_kernel_options *set, int root);
extern gp_program *gp_program_copy(gp_env *env, const gp_program *program);

/* ---- the value of a tree in a layer (layer.c) ---- */

/* An option while its text gets a meaning. */
typedef struct gp_constant
{
	const gp_option *option;
	bool		used;
	bool		needed;			/* by a layer */
	bool		busy;			/* being evaluated: a cycle when met again */
	bool		known;			/* its number in this layer is */
	double		number;
} gp_constant;

/* What evaluating a tree needs to know. */
typedef struct gp_layer
{
	gp_arena   *arena;			/* of this layer */
	gp_env	   *env;
	int			position;		/* the place in the text to complain about */
	int			layer;
	int			layers;			/* the value of the name "layers"; 0: not known yet */
	bool		one;			/* there is no other layer: l is a plain number */
	const char *plain;			/* what must be one; NULL: nothing */
	gp_steps   *steps;			/* NULL: no layer is evaluated, but an option */
	int			previous;		/* the step of the layer before */
	int			depth;
	int			work;			/* products of monomials so far */
	int			n;
	gp_constant *constant;
} gp_layer;

/* One layer of the formula as a step, which may be GP_ZERO. */
extern int	gp_layer_evaluate(gp_layer *t, const gp_ast *formula);

/* What must be a number that does not depend on the layer; name says of what. */
extern double gp_layer_plain_number(gp_layer *t, const gp_ast *ast, const char *name);

/* sigma_w, sigma_w1, sigma_b ... for the number of a weight or bias, 0 for none. */
extern double gp_layer_sigma(gp_layer *t, char letter, int number, int position);

/* The option of this name, or NULL. */
extern gp_constant *gp_layer_find(const gp_layer *t, const char *name);

/* The names of functions, up to a NULL. */
extern const char *const gp_functions[];

/* polynomial.c: NULL stands for I */
extern const gp_operator *gp_operator_a(gp_layer *t);
extern const gp_operator *gp_operator_p(gp_layer *t, double alpha);

/* x a + y b, x a b */
extern const gp_operator *gp_operator_add(gp_layer *t, double x, const gp_operator *a,
										  double y, const gp_operator *b);
extern const gp_operator *gp_operator_multiply(gp_layer *t, double x, const gp_operator *a,
											   const gp_operator *b);

/* The rule of an option by its name; NULL where there is none, and then what was perhaps meant,
 * for a hint. */
extern const gp_option_rule *gp_option_rule_find(gp_layer *t, const gp_option_rule *list,
												 const char *name, const char **nearest);

/* The value that a tree gives a parameter; owner is what errors call its kernel. */
extern double gp_option_resolve(gp_layer *t, const char *owner, const gp_option_rule *p,
								const gp_ast *arg);

/* ---- the option input (input.c) ---- */

extern gp_input gp_input_resolve(gp_layer *t, const gp_ast *ast);

/* The kernel that the text names, with its usual parameters. */
extern gp_input gp_input_usual(gp_layer *t, const gp_ast *ast);
extern bool gp_input_equal(const gp_input *a, const gp_input *b);

/* ---- text (text.c) ---- */

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

/* The shortest digits that read back as the same number. */
extern void gp_text_number(gp_text *text, double number);

/* Adds a number behind a blank as kernels are compared by it; what tells a program from others. */
extern void gp_text_key(gp_text *text, double number);
extern void gp_program_key(gp_text *text, const gp_program *p);

/* A tree; names of options are spelled as where they are given (print.c). */
extern void gp_text_tree(gp_text *text, const gp_layer *names, const gp_ast *ast);

/* ", name=value" of parameters, of all or of those alone that are not at their defaults. */
extern void gp_text_options(gp_text *text, const gp_option_rule *list, const double *value,
							bool all);

/* ", input=..." (input.c); own: its parameters as options, those that are not at their defaults. */
extern void gp_text_input(gp_text *text, const gp_input *input, bool own);

#endif							/* GP_FORMULA_INTERNAL_H */

/*
 * formula.h - the kernel language: from text to a program.
 *
 * A kernel's text is a preset (gcn(layers=3)) or the layer of a network as a
 * paper writes it (A*relu(X)*W + b).  gp_kernel_parse unrolls the layers into a
 * gp_program: numbered steps on a covariance matrix K, or on a factor Q with
 * K = QQ', each using earlier steps only.  Equal sub-expressions are one step,
 * and spellings of one kernel have one program, by which kernels are compared.
 */
#ifndef GP_FORMULA_H
#define GP_FORMULA_H

#include "base/base.h"
#include "graph/norm.h"

/* The kernel of the input X0. */
typedef enum gp_input_kind
{
	GP_INPUT_LINEAR,			/* <x, y> */
	GP_INPUT_RBF,				/* exp(-p[0] |x - y|^2) */
	GP_INPUT_POLY,				/* (<x, y> + p[0])^p[1] */
	GP_INPUT_ARCCOS,			/* arc-cosine map of <x, y> */
	GP_INPUT_IDENTITY,			/* 1 where x is y: structure only */
	GP_INPUT_LAPLACIAN,			/* (I + sigma2 L)^-d of the graph; features are ignored */
	GP_INPUT_COSINE				/* <x, y> of features scaled to length one */
} gp_input_kind;

/* The parameters of GP_INPUT_LAPLACIAN by their places in p (laplacian.h). */
typedef enum gp_laplacian_place
{
	GP_LAPLACIAN_D,
	GP_LAPLACIAN_SIGMA2,
	GP_LAPLACIAN_WALKS,
	GP_LAPLACIAN_P_TERM,
	GP_LAPLACIAN_CHOICE,		/* the number of a gp_walk_choice */
	GP_LAPLACIAN_DIMS,
	GP_LAPLACIAN_TRIM,			/* the number of a gp_walk_trim */
	GP_MAX_PARAMETERS			/* of any input kernel */
} gp_laplacian_place;

/* An input kernel and its parameters; those that it has not are 0. */
typedef struct gp_input
{
	gp_input_kind kind;
	double		p[GP_MAX_PARAMETERS];
} gp_input;

#define GP_MAX_P 4				/* distinct P(a) in one operator */
#define GP_MIN_P 1e-4			/* the smallest a of P(a): its series grows as 1 / a */
#define GP_LEAST_POWER 1.0		/* of a kernel's spectrum */
#define GP_MOST_POWER 2.0
#define GP_MAX_TERMS 32			/* terms of one operator */

/* coef * A^power_a * P(a_1)^power_p[0] * ... */
typedef struct gp_monomial
{
	double		coef;
	int			power_a;
	int			power_p[GP_MAX_P];
} gp_monomial;

/* A linear operator on the nodes: a sum of monomials, by falling powers. */
typedef struct gp_operator
{
	int			np;				/* distinct P used, p_alpha ascending */
	double		p_alpha[GP_MAX_P];
	int			nterms;
	gp_monomial term[GP_MAX_TERMS];
} gp_operator;

/*
 * Orders operators, higher powers first and NULL, which is I, last; 0 when they are the same
 * (polynomial.c).
 */
extern int	gp_operator_compare(const gp_operator *a, const gp_operator *b);

typedef enum gp_step_kind
{
	GP_STEP_INPUT,				/* K0; Q0 */
	GP_STEP_LISTS,				/* NN', rows of G (graph.h) of length one; N */
	GP_STEP_BIAS,				/* value 11'; sqrt(value) 1 */
	GP_STEP_SCALE,				/* value K(arg0); sqrt(value) Q: scalars, W, aI + bW */
	GP_STEP_OP,					/* S K(arg0) S'; S Q */
	GP_STEP_RELU,				/* g(K(arg0)); C(:,a) C(a,a)^(-1/2) */
	GP_STEP_UNIT,				/* K(arg0) over the mean of its diagonal */
	GP_STEP_SUM,				/* K(arg0) + K(arg1); [Q, Q'] */
	GP_STEP_KINDS				/* so many */
} gp_step_kind;

typedef struct gp_step
{
	gp_step_kind kind;
	int			arg0;			/* earlier steps; -1 where there is none */
	int			arg1;
	double		value;			/* a factor on the variance, >= 0 */
	const gp_operator *op;		/* for GP_STEP_OP */
} gp_step;

/* What an evaluator runs.  The last step is the kernel. */
typedef struct gp_program
{
	gp_input	input;
	gp_norm		norm;
	double		power;			/* what is asked for is K^power, between GP_LEAST_POWER and
								 * GP_MOST_POWER */
	bool		open_power;		/* power=auto: power is 1 here, and a fit may choose another */
	/* a Laplacian alone, d=auto and sigma2=auto: the usual ones here, a fit chooses others */
	bool		open_prior;
	int			layers;
	int			nsteps;
	gp_step    *steps;
} gp_program;

typedef struct gp_kernel gp_kernel;

/*
 * Reads a kernel.  Raises GP_ERR_SYNTAX or GP_ERR_VALUE, pointing at the
 * character, with a hint.  The result belongs to env.
 */
extern gp_kernel *gp_kernel_parse(gp_env *env, const char *text);

/* Frees it; the name of its method stays. */
extern void gp_kernel_free(gp_kernel *kernel);

/*
 * The canonical text: regular spacing, options in one order and without those at their
 * defaults.  Belongs to env.  Parsing it gives an equal kernel and the same text.
 */
extern char *gp_kernel_print(gp_env *env, const gp_kernel *kernel);

/* Gives a Laplacian input these parameters. */
extern void gp_kernel_give_prior(gp_kernel *kernel, int d, double sigma2);

/*
 * The program; belongs to env, gp_free frees it.  Raises GP_ERR_VALUE for a method, which has none.
 */
extern gp_program *gp_kernel_program(gp_env *env, const gp_kernel *kernel);

/*
 * A method learns its kernel: its name, NULL for a kernel with a program; the number of an option
 * (of a word: its place among the words), and where it stands in the text, 1 where it is not
 * given.  gp_kernel_give overrides an option with a number in its range.
 */
extern const char *gp_kernel_method(const gp_kernel *kernel);
extern double gp_kernel_option(const gp_kernel *kernel, const char *name);
extern int	gp_kernel_option_position(const gp_kernel *kernel, const char *name);
extern void gp_kernel_give(gp_kernel *kernel, const char *name, double value);

/* A text that equal kernels share: of their programs, or of a method with its options.  Belongs to
 * env. */
extern char *gp_kernel_key(gp_env *env, const gp_kernel *kernel);

/* True for a program that is a Laplacian prior alone, without columns that were asked for. */
extern bool gp_program_is_laplacian(const gp_program *program);

static inline bool
gp_program_has(const gp_program *program, gp_step_kind kind)
{
	for (int step = 0; step < program->nsteps; step++)
		if (program->steps[step].kind == kind)
			return true;
	return false;
}

/* True when this is the name of a preset that is no method, in whatever case. */
extern bool gp_kernel_is_preset(const char *name);

#endif							/* GP_FORMULA_H */

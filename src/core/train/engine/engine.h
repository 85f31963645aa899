/*
 * engine.h - a network of operations that is trained step by step.
 *
 * A network of operations maps an input to a likelihood's argument, each with its own derivative.
 * Values, gradients, parameters and Adam's moments are made before the first
 * step, so that a dry run counts them and a step allocates nothing but the device's scratch; they
 * are the trainer's and end with it.  Random numbers are hashes of (seed, purpose, step, element)
 * and are drawn again by the derivative.  Panels have GP_TRAIN_ROWS rows whatever the device,
 * so that sums do not depend on it.
 */
#ifndef GP_ENGINE_H
#define GP_ENGINE_H

#include "numeric/numeric.h"
#include "train/train.h"

#define GP_TRAIN_ROWS 1024
#define GP_MOST_PARAMETERS 32
#define GP_MOST_OPERATIONS 12
#define GP_MOST_SUMS 4			/* over neighbours, of a layer */

/* No matrix: an operand that an operation has not, a gradient that nobody wants. */
#define GP_NONE ((gp_matrix) {0})

static inline bool
gp_is_wanted(gp_matrix m)
{
	return m.data || m.rows;
}

/* A matrix that is learnt. */
typedef struct gp_parameter
{
	gp_matrix	value;
	gp_matrix	gradient;		/* of what is minimised */
	gp_matrix	first;			/* Adam's moments */
	gp_matrix	second;
	double		decay;
	unsigned	groups;			/* bit g: steps of group g change it; 0: it is given */
	int64_t		steps;			/* that changed it */
} gp_parameter;

/* What all operations of a training share. */
typedef struct gp_trainer
{
	gp_device  *dev;
	gp_env	   *env;
	gp_type		type;
	uint64_t	seed;
	int64_t		step;
	bool		training;		/* dropout is on */
	double		clip;			/* of a gradient's elements */
	gp_parameter *parameter[GP_MOST_PARAMETERS];
	int			nparameters;
	gp_long_dots products;		/* of GP_TRAIN_ROWS rows */
	gp_matrix  *matrix;			/* that are freed with the trainer */
	int64_t		nmatrices;
	void	  **memory;			/* the same of the host */
	int64_t		nmemories;
} gp_trainer;

typedef struct gp_operation gp_operation;

typedef struct gp_operation_class
{
	bool		in_place;		/* the value takes the place of the one before */

	/* Sets the value's size, given that of the one before, and makes buffers and parameters. */
	void		(*shape) (gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols);
	void		(*forward) (gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y);

	/* Adds to the parameters' gradients; dx, where it is wanted, is overwritten. */
	void		(*backward) (gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix y,
							 gp_matrix dy, gp_matrix dx);

	/* Adds weight times the gradient of the divergence from the prior; NULL: none. */
	void		(*prior) (gp_trainer *t, gp_operation *op, double weight);
} gp_operation_class;

/* A linear map, of the value before or of features, of which a step may have fewer rows. */
typedef struct gp_linear_map
{
	const gp_features *x;		/* NULL: the value before */
	double		dropout;		/* of the features' elements */
	bool		biased;
	gp_parameter weight;
	gp_parameter bias;			/* 1 x cols */
	gp_matrix	ones;			/* rows x 1, for the bias */
	const gp_csr *transposed;	/* x', where it is sparse: the caller's */
	gp_csr		kept;			/* x, and x', less what was dropped */
	gp_csr		kept_transposed;
	gp_matrix	dense;			/* x where it is dense, and the same less what was dropped */
	gp_matrix	kept_dense;
} gp_linear_map;

/* A product with a sparse matrix of the caller's, who may change it from step to step. */
typedef struct gp_propagate
{
	const gp_csr *matrix;
	const gp_csr *transposed;
} gp_propagate;

/*
 * Features Phi of rows over len with Gaussian weights, q(A) = N(mean, diag exp(2 log_s)):
 *
 *		F = X map + Phi mean + sqrt(level + (Phi o Phi) factor) o e
 *
 * Rows go by in panels; their features are made again by the derivative.
 */
typedef struct gp_weights
{
	bool		sampled;		/* F is drawn by noise; else A = mean + draw o s, always the same */
	const gp_matrix *map;		/* width x cols: F has X map added; NULL: nothing */
	bool		carries;		/* F has X added, which is as wide */
	gp_matrix	noise;			/* rows x cols: e, where it is sampled; the caller's to fill */
	gp_parameter mean;			/* M x cols */
	gp_parameter log_s;
	gp_parameter log_length;	/* 1 x width; not learnt: 0 */
	gp_parameter log_a;			/* 1 x 1: of the features' scale */
	gp_matrix	variance_factor;	/* M x cols: s^2, or s^2 - 1; where it is not sampled s */
	gp_matrix	slope;			/* M x cols: the gradient by that, or by A */
	gp_matrix	inverse;		/* 1 x width: 1 / len, where len is learnt */
	gp_matrix	ones;			/* panel x 1, for the same */
	gp_matrix	phi;			/* panel x M: features, their squares, their gradient */
	gp_matrix	square;
	gp_matrix	dphi;
	gp_matrix	variance;		/* panel x cols: variances, their roots, their gradient */
} gp_weights;

/* Cosine features, Phi = a sqrt(2/M) cos(X diag(1/len) O' + b). */
typedef struct gp_cosines
{
	int64_t		count;			/* M */
	const gp_matrix *frequency; /* M x width: O */
	const gp_matrix *frequency_gradient;	/* NULL: O is given */
	gp_matrix	phase;			/* 1 x M: b */
	gp_matrix	draw;			/* M x cols, where it is not sampled */
	gp_matrix	weight;			/* M x cols: A, the same */
	double		amplitude;		/* a, where log_a is not learnt */
	gp_matrix	scaled[2];		/* panel x width, where len is learnt: x / len and its gradient */
	gp_matrix	argument;		/* panel x M */
} gp_cosines;

/* O = 2 pi (mu + exp(l) o u), mu and l being the halves of the value before. */
typedef struct gp_spectrum_operation
{
	gp_matrix	draw;			/* u */
} gp_spectrum_operation;

/* Sums over neighbours with weights that are learnt; the matrices are the caller's. */
typedef struct gp_mix
{
	int			sums;			/* K */
	int			groups;			/* of columns: K + 1, or 1 that takes every sum */
	const gp_csr *matrix;		/* S */
	const gp_csr *transposed;	/* S' */
	gp_parameter logit;			/* 1 x K: of the weights */
	gp_matrix	change[GP_MOST_SUMS];	/* S f - f before each sum */
} gp_mix;

/* Rows of one length. */
typedef struct gp_unit
{
	double		length;
	gp_csr		diagonal;		/* rows x rows */
	gp_matrix	dots;			/* rows x 1 double, on the device */
	double	   *inverse;		/* length over that of each row, on the host */
	double	   *dot;
} gp_unit;

/* The ends of pairs of rows. */
typedef struct gp_ends
{
	int64_t		n;				/* pairs */
	int64_t		most;
	int32_t    *end;			/* 2 n, of 2 most: first ends, then second ones; the caller's */
	gp_matrix	row;			/* 2 most x cols: the ends' rows */
	gp_csr		scatter;		/* rows x 2 n: each row gets what stands at the other end of its
								 * pairs */
} gp_ends;

/* Inner products of the ends. */
typedef struct gp_pairs
{
	gp_parameter log_w;			/* 1 x cols */
	gp_parameter offset;		/* 1 x 1: c */
	gp_parameter gain;			/* 1 x 1 */
	gp_matrix	w;				/* 1 x cols */
	gp_matrix	product;		/* most x cols */
	gp_matrix	slope;			/* most x 1 */
	gp_matrix	dots;			/* most x 1 double */
	double	   *dot;			/* most, on the host: r - c */
	double	   *by_pair;		/* most, on the host */
} gp_pairs;

/*
 * Inducing points Z of the kernel k(x, z) = a^2 exp(-|x - z|^2 / 2), x and z over len, and weights
 * of the directions that they span, which a root of their covariance makes white: features C L^-T,
 * LL' = cov.  A direction is a point, or a pair of points.
 */
typedef struct gp_inducing
{
	int64_t		count;			/* points */
	int64_t		span;			/* directions */
	int32_t    *pair;			/* of pairs, 2 span: first points, then second ones; the caller's */
	gp_parameter point;			/* count x width: Z */
	gp_parameter offset;		/* of pairs: 1 x 1, c */
	double		amplitude;		/* a^2 */
	gp_matrix	scaled;			/* count x width: Z / len */
	gp_matrix	root_inverse;	/* span x span: L^-1 */
	struct gp_inducing_buffers *buffers;	/* inducing.h */
	struct gp_pair_buffers *pair_buffers;	/* inducing_pairs.c */
} gp_inducing;

struct gp_operation
{
	const gp_operation_class *class;
	int64_t		rows;			/* of the value, at most */
	int64_t		cols;
	int64_t		now;			/* rows of this step */
	gp_matrix	value;
	gp_matrix	gradient;
	unsigned	groups;			/* of its parameters */
	double		decay;			/* of its matrices */
	int			number;			/* in its network */
	int64_t		width;			/* columns that are asked for; 0: as before */
	double		dropout;
	gp_ends		ends;			/* of what acts on pairs */
	gp_weights	weights;		/* of cosines and of inducing points */
	union
	{
		gp_linear_map linear;
		gp_propagate propagate;
		gp_cosines	cosines;
		gp_spectrum_operation spectrum;
		gp_mix		mix;
		gp_unit		unit;
		gp_pairs	pairs;
		gp_inducing inducing;
	};
};

/* A chain of operations. */
typedef struct gp_network
{
	gp_operation	operation[GP_MOST_OPERATIONS];
	int			n;
	gp_matrix	input;			/* without data where the first operation has its own */
} gp_network;

/* ---- engine.c ---- */

extern gp_trainer gp_trainer_open(gp_device *dev, gp_type type, uint64_t seed);
extern void gp_trainer_close(gp_trainer *t);

/* A matrix of the trainer's; memory that becomes the trainer's. */
extern gp_matrix gp_trainer_matrix(gp_trainer *t, int64_t rows, int64_t cols, gp_type type);
extern void *gp_trainer_own(gp_trainer *t, void *memory);

/* A sparse matrix of ones, entry k in column k, in memory of the trainer's; rows are to be set. */
extern gp_csr gp_trainer_csr(gp_trainer *t, int64_t rows, int64_t cols, int64_t entries);

/* Makes a parameter of zeros; one of no group has no gradient. */
extern void gp_parameter_make(gp_trainer *t, gp_parameter *p, int64_t rows, int64_t cols,
							  unsigned groups, double decay);

/* A parameter of one element. */
extern double gp_parameter_number(gp_trainer *t, const gp_parameter *p);

/* Sets all gradients to 0; makes a step of Adam with the parameters of a group. */
extern void gp_trainer_clear(gp_trainer *t);
extern void gp_trainer_step(gp_trainer *t, int group, double rate);

/*
 * The seed of what is drawn for a purpose: in this step, or (of_step false) once.  A purpose is one
 * of these plus the number of an operation or parameter, or a number of the method's own.
 */
enum
{
	GP_DRAW_LINEAR_WEIGHT = 100,
	GP_DRAW_DROPOUT = 200,
	GP_DRAW_SPECTRUM = 300
};

extern uint64_t gp_trainer_seed(const gp_trainer *t, uint64_t purpose, bool of_step);

/* Fills a matrix on the device: factor times uniform in (-1, 1), or normal numbers. */
extern void gp_fill_uniform(gp_trainer *t, gp_matrix m, uint64_t seed, double factor);
extern void gp_fill_normal(gp_trainer *t, gp_matrix m, uint64_t seed, double factor);

/* Changes y by one operation. */
extern void gp_trainer_elementwise(gp_trainer *t, gp_element_op op, double factor, gp_matrix y,
								   gp_matrix a, gp_matrix b);

/* y = y o a; y = y + factor a o b; y = exp(factor a). */
static inline void
gp_times(gp_trainer *t, gp_matrix y, gp_matrix a)
{
	gp_trainer_elementwise(t, GP_ELEMENT_TIMES, 1.0, y, a, GP_NONE);
}

static inline void
gp_add_product(gp_trainer *t, double factor, gp_matrix y, gp_matrix a, gp_matrix b)
{
	gp_trainer_elementwise(t, GP_ELEMENT_ADD, factor, y, a, b);
}

static inline void
gp_exp(gp_trainer *t, double factor, gp_matrix y, gp_matrix a)
{
	gp_trainer_elementwise(t, GP_ELEMENT_EXP, factor, y, a, GP_NONE);
}

/* sum x_ij y_ij, in double. */
extern double gp_product_sum(gp_trainer *t, gp_matrix x, gp_matrix y);

/* Adds an operation to a network that is not open yet. */
extern gp_operation *gp_network_add(gp_trainer *t, gp_network *net,
									const gp_operation_class *class);
extern void gp_network_open(gp_trainer *t, gp_network *net, int64_t rows, int64_t cols);

/* The rows of this step of operations number first to last. */
extern void gp_network_rows(gp_network *net, int first, int last, int64_t rows);

/* Runs the first n operations. */
extern void gp_network_forward(gp_trainer *t, gp_network *net, int n);

/* The derivatives, from the last operation's gradient on. */
extern void gp_network_backward(gp_trainer *t, gp_network *net);

/* The divergences of all weights: adds weight times their gradient. */
extern void gp_network_prior(gp_trainer *t, gp_network *net, double weight);

/* The value of the last operation, and its gradient. */
extern gp_matrix gp_network_value(const gp_network *net);
extern gp_matrix gp_network_gradient(const gp_network *net);

/* ---- operations.c ---- */

extern const gp_operation_class gp_operation_linear;
extern const gp_operation_class gp_operation_propagate;
extern const gp_operation_class gp_operation_relu;
extern const gp_operation_class gp_operation_dropout;

/* ---- weights.c ---- */

/* Makes what so many features of an operation need, whose weights' sampled and groups are set. */
extern void gp_weights_open(gp_trainer *t, gp_operation *op, int64_t rows, int64_t width,
							int64_t features);

/* The squares of the features of a panel of so many rows times a factor, and the level or GP_NONE:
 * variances, in variance. */
extern gp_matrix gp_weights_variances(gp_trainer *t, gp_weights *w, int64_t rows, gp_matrix factor,
									  gp_matrix level);

/* F of a panel, whose features stand in phi. */
extern void gp_weights_draw(gp_trainer *t, gp_weights *w, const gp_band *band, gp_matrix level,
							gp_matrix x, gp_matrix f);

/* dphi of a panel from dF, and what mean and variance_factor get of it; variance becomes
 * the variances' gradient. */
extern void gp_weights_backward(gp_trainer *t, gp_weights *w, const gp_band *band,
								gp_matrix level, gp_matrix df);

/* What a panel's X and len get of the gradient du of u = X / len, which is used up; dx may be
 * GP_NONE. */
extern void gp_lengths_backward(gp_trainer *t, gp_weights *w, gp_matrix u, gp_matrix du,
								gp_matrix dx);

/* Adds what the input itself gives to y, or transposed, what dy gives to dx: X map, or X, or
 * nothing. */
extern void gp_add_input(gp_trainer *t, const gp_weights *w, bool transposed, gp_matrix x,
						 gp_matrix y);

/* The divergence of the weights from the prior N(0, I); an operation's prior. */
extern double gp_weights_divergence(gp_trainer *t, const gp_weights *w);
extern void gp_weights_prior(gp_trainer *t, gp_operation *op, double weight);

/* ---- fourier.c ---- */

extern const gp_operation_class gp_operation_cosines;
extern const gp_operation_class gp_operation_spectrum;

/* Means (rows x cols) and variances (the same; or GP_NONE) of all rows of x by q. */
extern void gp_cosines_predict(gp_trainer *t, gp_operation *op, gp_matrix x, gp_matrix mean,
							   gp_matrix variance);

/* ---- mix.c ---- */

extern const gp_operation_class gp_operation_mix;
extern const gp_operation_class gp_operation_unit;

/* ---- readout.c ---- */

extern const gp_operation_class gp_operation_pairs;

/* Room for the ends of an operation's pairs; the pairs of this step, whose ends stand in
 * the operation's end. */
extern void gp_ends_open(gp_trainer *t, gp_operation *op, int64_t rows, int64_t cols);
extern void gp_pairs_set(gp_trainer *t, gp_operation *op, int64_t n);

/* e^gain / sqrt(D); w (1 x cols, the operation's). */
extern double gp_pairs_scale(gp_trainer *t, const gp_pairs *p);
extern gp_matrix gp_pairs_weights(gp_trainer *t, const gp_pairs *p);

/* ---- inducing_layer.c, inducing_pairs.c ---- */

/*
 * A Gaussian process of rows, or of pairs of them, by inducing points, of a training in double; the
 * points are the caller's to set, and so is the noise.
 */
extern const gp_operation_class gp_operation_inducing;
extern const gp_operation_class gp_operation_inducing_pairs;

/* Brings amplitude, inverse, scaled and root_inverse of pairs up to the operation's parameters. */
extern void gp_inducing_pairs_ready(gp_trainer *t, gp_operation *op);

#endif							/* GP_ENGINE_H */

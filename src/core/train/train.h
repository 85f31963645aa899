/*
 * train.h - methods that learn their kernel from the graph and the features.
 *
 * A method is a text of the kernel language, such as gckm(layers=2, own=true).  Its options are
 * here; how they are read, planned and run is the same for all (method.c, method_fit.c).
 */
#ifndef GP_TRAIN_H
#define GP_TRAIN_H

#include "fit/fit.h"

#define GP_GCKM_MAX_LAYERS 4

/* ---- method.c: a method's text, its name and options ---- */

/* Option values: 0 where a rule below says what a number is. */

/* How a layer sums over neighbours. */
typedef enum gp_gckm_sum
{
	GP_GCKM_AUTO,				/* sum with the own view, else sym */
	GP_GCKM_SYM,				/* (I+D)^-1/2 (I+G) (I+D)^-1/2 */
	GP_GCKM_SUM					/* I + G */
} gp_gckm_sum;

/*
 * The options of GCKM, the graph convolutional kernel machine (Achten, Tonin, Cevher, Patrinos and
 * Suykens 2024): kernel principal components, aggregated over neighbours, of kernel principal
 * components, and on top of them a semi-supervised restricted kernel machine.  All of it is in
 * closed form, on landmarks, so that nothing has a row and a column for every node.
 *
 *		A_1 = S X,  K_l = rbf(A_l),  H_l = leading eigenvectors of K_l, centred,
 *		A_(l+1) = S H_l,  K = rbf(H_L), or that times a kernel of the nodes' own features
 */
typedef struct gp_gckm
{
	int			layers;
	int			components;		/* of every layer but the last; 0: by the classes */
	int			components_of[GP_GCKM_MAX_LAYERS];	/* of one layer */
	double		width[GP_GCKM_MAX_LAYERS + 1];	/* sigma^2 of a layer's kernel over the variance of
												 * what it acts on; behind the last one: of the
												 * labels' kernel */
	gp_gckm_sum aggregate;
	int			own;			/* 1: the labels' kernel times one of the nodes' own features */
	double		gamma;			/* of that, exp(-gamma |x - y|); 0: 0.8 over the root mean squared
								 * distance */
	int			landmarks;
	double		lambda1;		/* of the similarity */
	double		lambda2;		/* of the labels: less than lambda1 */
	double		eta;			/* of the norm; lambda1 eta >= 1 */
} gp_gckm;

/*
 * The components of a layer, from 0: by default 40, or one a class where there are more, and of the
 * last one two a class, or 16.
 */
extern int gp_gckm_components(const gp_gckm *options, int layer, int32_t classes);

/* The width of a layer's kernel, or behind the last one of the labels': by default 8, 16 ..., 8. */
extern double gp_gckm_width(const gp_gckm *options, int layer);

/*
 * The options of GPSRF, structure-aware random Fourier kernels (Fang, Zhu, Liu and Wang 2021):
 * cosine features, of learnt frequencies, of a node's representation by two graph convolutions;
 * their weights have a Gaussian posterior.
 */
typedef struct gp_gpsrf
{
	int			features;		/* cosines */
	int			units;			/* of a node's representation */
	int			hidden;			/* of the layer before */
	int			steps;			/* each with the weights, then with the frequencies; before them
								 * an eighth as many with the weights alone */
	double		dropout;
	double		tau;			/* nodes so sure of their class are learnt from, too */
	double		decay;			/* of the network's weights */
} gp_gpsrf;

/* The options of the deep Gaussian process of links (Opolka and Lio 2022). */
typedef struct gp_dgp
{
	int			layers;
	int			units;			/* of a node, in every layer */
	int			convolutions;	/* of a layer */
	int			features;		/* cosines of a layer */
	int			inducing;		/* pairs of points, and half as many points of a layer; 0: cosines
								 * and inner products */
	int			steps;
	double		rate;
} gp_dgp;

#define GP_DGP_MAX_LAYERS 4

extern const gp_dgp gp_dgp_defaults;

typedef struct gp_method_text gp_method_text;

extern const gp_method_text gp_gckm_text;
extern const gp_method_text gp_gpsrf_text;
extern const gp_method_text gp_dgp_text;

/*
 * Reads name or name(option=value, ...) into options of the method's type.  Raises GP_ERR_SYNTAX or
 * GP_ERR_VALUE, pointing at the character, with a hint.
 */
extern void gp_method_parse(gp_env *env, const gp_method_text *m, const char *text, void *options);

/* The canonical text, which names what is not the default; belongs to env. */
extern char *gp_method_print(gp_env *env, const gp_method_text *m, const void *options);

/* ---- method_fit.c: plans and fits ---- */

/*
 * A method.  open makes what a run works with, in state bytes that are zero; run computes the
 * result on any device, also on one that only accounts, with what open made; describe names the
 * plan's landmarks and begins its reason.  use_less_memory, where there is one, lets further runs
 * do so for more time; false where they cannot.  Messages call a fit what; hint is for one that
 * is too large.
 */
typedef struct gp_method
{
	const char *name;
	const gp_method_text *text;
	const char *what;
	const char *hint;
	bool		labels;			/* learns from these: classes, */
	bool		values;			/* and values, too */
	size_t		state;
	void		(*open) (void *state, gp_device *dev, const gp_problem *problem,
						 const void *options);
	void	   *(*run) (void *state, gp_device *dev, const gp_plan *plan);
	void		(*release) (gp_env *env, void *result);	/* NULL: it is a posterior */
	void		(*describe) (const void *state, gp_plan *plan);
	bool		(*use_less_memory) (void *state);
	void		(*close) (void *state);
} gp_method;

/*
 * GCKM: the scores e of all nodes, whose classes are coded by 1 and -1, as a posterior of classes:
 * for |e|^2 over the classes q and e' = e / sqrt((1 + q) / 2) a mean is (1 + e') / 2, kept above 0
 * smoothly, over the sum of these.  Leave-one-out is exact in the closed form: the node keeps
 * its features and loses its label.  A variance is 1 less the cosine of the scores to the nearest
 * class's code, and ranks nodes only.  What a posterior has and this method has not (nugget,
 * log_marginal_likelihood) is NaN.
 */
extern const gp_method gp_method_gckm;

/*
 * GPSRF.  Of classes: means are probabilities of the training's own, variances the mean over the
 * classes of those of their logits; of values: means and variances of an observation.  In place of
 * leave-one-out, five folds are held out of trainings of half the steps, which calibrate.
 * log_marginal_likelihood is the bound that was trained, the plan's landmarks are the cosines,
 * nugget is NaN.  Raises GP_ERR_RANGE where a step gives no number.
 */
extern const gp_method gp_method_gpsrf;

/*
 * What a fit takes; raises GP_ERR_LIMIT when that is too much, unless the problem's
 * estimate_limit is set.  The problem's program, strategy and nugget are not read.
 */
extern gp_plan gp_method_plan(gp_device *dev, const gp_method *m, const gp_problem *problem,
							  const void *options);

/* The fit, on the device that the problem chooses for its plan: a gp_posterior of the methods
 * above. */
extern void *gp_method_fit(gp_device *dev, const gp_method *m, const gp_problem *problem,
						   const void *options);

/*
 * GCKM's last layer's components of every node as dense features of double, for
 * grouping them; labels are not read.  Raises GP_ERR_LIMIT like a fit.
 */
extern gp_features *gp_gckm_embedding(gp_device *dev, const gp_graph *graph,
									  const gp_features *features, uint64_t seed,
									  const gp_gckm *options);

/* The fold of each of n labels (label NULL: values): every class is dealt to all folds. */
extern int32_t *gp_folds_deal(gp_env *env, int64_t n, const int32_t *label, int folds,
							  uint64_t seed);

/* ---- inputs.c ---- */

/*
 * Some dense numbers of each node, nodes x count double, the most telling ones first; the
 * caller destroys them.
 */
extern gp_matrix gp_inputs_of_features(gp_device *dev, const gp_features *x, int64_t count,
									   uint64_t seed);
extern gp_matrix gp_inputs_of_walks(gp_device *dev, const gp_graph *graph, int64_t count,
									uint64_t seed);

/* The same turned so that their rows come nearest to others; q is destroyed. */
extern gp_matrix gp_inputs_turn(gp_device *dev, gp_matrix *q, gp_matrix onto);

#endif							/* GP_TRAIN_H */

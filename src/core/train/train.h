/*
 * train.h - methods that learn their kernel from the graph and the features.
 *
 * GCKM, the graph convolutional kernel machine (Achten, Tonin, Cevher, Patrinos and
 * Suykens 2024): kernel principal components, aggregated over neighbours, of kernel
 * principal components, and on top of them a semi-supervised restricted kernel
 * machine.  All of it is in closed form, on landmarks, so that nothing has a
 * row and a column for every node.
 *
 *		A_1 = S X,  K_l = rbf(A_l),  H_l = leading eigenvectors of K_l, centred,
 *		A_(l+1) = S H_l,  K = rbf(H_L), or that times a kernel of the nodes' own features
 *
 * A method is a text in the syntax of the kernel language's options:
 * gckm(layers=2, own=true).
 */
#ifndef GP_TRAIN_H
#define GP_TRAIN_H

#include "fit/fit.h"

#define GP_GCKM_MAX_LAYERS 4

/*
 * What a training leaves, so that the next one of the same model starts from it (warm.c).  Nodes and
 * pairs of them go by keys, which do not change with their numbers.  Who was held out stays so: figures are
 * told of labels and links that no parameters have ever seen.  One block of memory.
 */
typedef struct gp_warm
{
	int64_t		sets;			/* of parameters: each of a training of its own */
	int64_t		values;			/* of a set */
	float	   *value;			/* sets x values */
	int64_t		nheld;
	uint64_t   *held;			/* labelled nodes, or pairs, ascending */
	int32_t    *part;			/* of each: the set that has not seen it */
	int64_t		nsample;		/* nodes whose inputs tell how they are turned */
	int64_t		inputs;
	uint64_t   *sample;			/* ascending */
	float	   *input;			/* nsample x inputs */
} gp_warm;

/* One of these sizes, whose numbers are the caller's to set; owned by the caller, gp_free frees it. */
extern gp_warm *gp_warm_create(gp_env *env, gp_warm sizes);

/* The place of a key among n ascending ones; -1: not there. */
extern int64_t gp_warm_find(const uint64_t *key, int64_t n, uint64_t wanted);

/* The key of a node where the caller knows none, and of a pair, either way round. */
extern uint64_t gp_warm_node(const uint64_t *key, int64_t node);
extern uint64_t gp_warm_pair(uint64_t a, uint64_t b);

/*
 * Folds of labelled nodes: those that were dealt before have the same again, others the one that has the
 * fewest of their class.  And what was dealt, with what was before, as held and part of a gp_warm of so many sets.
 */
extern int32_t *gp_warm_deal(gp_env *env, const gp_problem *problem, const gp_warm *before, int folds);
extern gp_warm *gp_warm_hold(gp_env *env, const gp_problem *problem, const gp_warm *before, const int32_t *fold,
							 int64_t sets, int64_t values);

#define GP_WARM_SHARE 5			/* a training that starts warm takes as many times fewer steps */

/* How a layer sums over neighbours. */
typedef enum gp_aggregate
{
	GP_AGGREGATE_AUTO,			/* sum with the own view, else sym */
	GP_AGGREGATE_SYM,			/* (I+D)^-1/2 (I+W) (I+D)^-1/2 */
	GP_AGGREGATE_SUM			/* I + W */
} gp_aggregate;

/* The options of GCKM, as the user gave them: 0 where a rule below says what a number is. */
typedef struct gp_gckm
{
	int			layers;
	int			components;		/* of every layer but the last */
	int			components_of[GP_GCKM_MAX_LAYERS];	/* of one layer */
	double		width[GP_GCKM_MAX_LAYERS + 1];	/* sigma^2 of a layer's kernel over the variance of what it acts on; behind the last one: of the labels' kernel */
	gp_aggregate aggregate;
	int			own;			/* 1: the labels' kernel times one of the nodes' own features */
	double		gamma;			/* of that, exp(-gamma |x - y|); 0: 0.8 over the root mean squared distance */
	int			landmarks;
	double		lambda1;		/* of the similarity */
	double		lambda2;		/* of the labels: less than lambda1 */
	double		eta;			/* of the norm; lambda1 eta >= 1 */
	int			iterations;		/* of a fine-tuning of the components; 0: the closed form */
} gp_gckm;

/* The components of a layer, from 0: by default 64, and 16 of the last one. */
extern int gp_gckm_components(const gp_gckm *options, int layer);

/* The width of a layer's kernel, or behind the last one of the labels': by default 8, 16 ..., 8. */
extern double gp_gckm_width(const gp_gckm *options, int layer);

/* What a user may leave out. */
extern gp_gckm gp_gckm_defaults(void);

/*
 * Reads gckm or gckm(option=value, ...).  Raises GP_ERR_SYNTAX or GP_ERR_VALUE,
 * pointing at the character, with a hint.
 */
extern gp_gckm gp_gckm_parse(gp_env *env, const char *text);

/* The canonical text, which names what is not the default; belongs to env. */
extern char *gp_gckm_print(gp_env *env, const gp_gckm *options);

/* True when a method's text begins with this name. */
extern bool gp_method_is(gp_env *env, const char *text, const char *name);

/*
 * What a fit takes; raises GP_ERR_LIMIT when that is too much, unless the problem's
 * estimate_limit is set.  The problem's program, strategy, nugget and type are not looked at.
 */
extern gp_plan gp_gckm_plan(gp_device *dev, const gp_problem *problem, const gp_gckm *options);

/*
 * The scores of all nodes as a posterior of classes: (1 + e) / 2 for a score e of
 * the paper, whose classes are coded by 1 and -1.  Leave-one-out is exact in the
 * closed form: the node keeps its features and loses its label.  Components that are
 * fine-tuned have seen the labels, which then are held out by five folds.  A variance is 1 less the cosine of
 * the scores to the nearest class's code, and ranks nodes only.  What a posterior has and
 * this method has not (nugget, log_marginal_likelihood) is NaN.
 */
extern gp_posterior *gp_gckm_fit(gp_device *dev, const gp_problem *problem, const gp_gckm *options);

/*
 * The last layer's components of every node as dense features of double, for
 * grouping them; labels are not looked at.  Raises GP_ERR_LIMIT like a fit.
 */
extern gp_features *gp_gckm_embedding(gp_device *dev, const gp_graph *graph, const gp_features *features,
									  uint64_t seed, const gp_gckm *options);

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
	int			steps;			/* each with the weights, then with the frequencies; an eighth more goes before */
	double		dropout;
	double		tau;			/* nodes so sure of their class are learnt from, too */
	double		decay;			/* of the network's weights */
	int			warm;			/* 1: starts from what the last training left */
} gp_gpsrf;

/* What a user may leave out; a text read, with errors as gp_gckm_parse's; the canonical text. */
extern gp_gpsrf gp_gpsrf_defaults(void);
extern gp_gpsrf gp_gpsrf_parse(gp_env *env, const char *text);
extern char *gp_gpsrf_print(gp_env *env, const gp_gpsrf *options);

/* What a fit takes, as gp_gckm_plan says it. */
extern gp_plan gp_gpsrf_plan(gp_device *dev, const gp_problem *problem, const gp_gpsrf *options);

/*
 * The posterior.  Of classes: means are probabilities of the training's own, variances the mean
 * over the classes of those of their logits; of values: means and variances of an observation.  In place of leave-one-out, five folds are held out of trainings
 * of half the steps, which calibrate.  log_marginal_likelihood is the bound that was trained,
 * the plan's landmarks are the cosines, nugget is NaN.  Raises GP_ERR_RANGE where a step gives no number.
 * With features, what the problem's warm has of the same sizes is where all trainings start, with a fifth of the steps.
 */
extern gp_posterior *gp_gpsrf_fit(gp_device *dev, const gp_problem *problem, const gp_gpsrf *options);

/*
 * The options of the deep Gaussian process of links (Opolka and Lio 2022); 0 where the fit's rule
 * says what a number is.
 */
typedef struct gp_dgp
{
	int			layers;
	int			units;			/* of a node, in every layer */
	int			convolutions;	/* of a layer */
	int			features;		/* cosines of a layer */
	int			inducing;		/* pairs of points, and half as many points of a layer; 0: cosines and inner products */
	int			steps;
	double		rate;
	int			warm;			/* as gp_gpsrf's */
} gp_dgp;

#define GP_DGP_MAX_LAYERS 4

extern gp_dgp gp_dgp_defaults(void);
extern gp_dgp gp_dgp_parse(gp_env *env, const char *text);
extern char *gp_dgp_print(gp_env *env, const gp_dgp *options);

/*
 * inputs.c: some dense numbers of each node, nodes x count double, the most telling ones first; the
 * caller destroys them.
 */
extern gp_matrix gp_inputs_of_features(gp_device *dev, const gp_features *x, int64_t count, uint64_t seed);
extern gp_matrix gp_inputs_of_walks(gp_device *dev, const gp_graph *graph, int64_t count, uint64_t seed);

/* The same turned so that some of their rows come nearest to others; q is destroyed. */
extern gp_matrix gp_inputs_turn(gp_device *dev, gp_matrix *q, gp_matrix some, gp_matrix onto);

#endif							/* GP_TRAIN_H */

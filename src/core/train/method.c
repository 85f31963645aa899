/*
 * method.c - the options of methods, from their texts.
 *
 * What an option may be, and its default, says the table of the kernel language (preset.c there).
 */
#include "train.h"

#include "formula/formula.h"

#include <stddef.h>
#include <stdio.h>

#define INNER_COMPONENTS 40		/* of a layer before the last; more where there are more classes */
#define LAST_COMPONENTS 16		/* without classes; else */
#define CLASS_COMPONENTS 2		/* for each class, at least: */
#define LEAST_COMPONENTS 8
#define MOST_COMPONENTS 512
#define WIDTH 8.0
#define INNER_WIDTH 16.0

/* Where an option is kept. */
typedef struct member
{
	const char *name;
	bool		real;			/* a double, else an int */
	size_t		offset;
} member;

/* A method's options, up to one without a name, and what must hold among them. */
struct gp_method_text
{
	const char *name;
	const member *options;
	void		(*check) (gp_env *env, const gp_kernel *kernel, const void *options);
};

#define WHOLE(type, field) {#field, false, offsetof(type, field)}
#define REAL(type, field) {#field, true, offsetof(type, field)}
#define COMPONENTS_OF(k) {"components" #k, false, offsetof(gp_gckm, components_of[k - 1])}
#define WIDTH_OF(k) {"width" #k, true, offsetof(gp_gckm, width[k - 1])}
#define LAST {NULL, false, 0}

static const member gckm_options[] = {
	WHOLE(gp_gckm, layers), WHOLE(gp_gckm, components),
	COMPONENTS_OF(1), COMPONENTS_OF(2), COMPONENTS_OF(3), COMPONENTS_OF(4),
	WIDTH_OF(1), WIDTH_OF(2), WIDTH_OF(3), WIDTH_OF(4), WIDTH_OF(5),
	WHOLE(gp_gckm, aggregate), WHOLE(gp_gckm, own), REAL(gp_gckm, gamma),
	WHOLE(gp_gckm, landmarks), REAL(gp_gckm, lambda1), REAL(gp_gckm, lambda2),
	REAL(gp_gckm, eta), LAST
};

static const member gpsrf_options[] = {
	WHOLE(gp_gpsrf, features), WHOLE(gp_gpsrf, units), WHOLE(gp_gpsrf, hidden),
	WHOLE(gp_gpsrf, steps), REAL(gp_gpsrf, dropout), REAL(gp_gpsrf, tau), REAL(gp_gpsrf, decay),
	LAST
};

static const member dgp_options[] = {
	WHOLE(gp_dgp, layers), WHOLE(gp_dgp, units), WHOLE(gp_dgp, convolutions),
	WHOLE(gp_dgp, features), WHOLE(gp_dgp, inducing), WHOLE(gp_dgp, steps), REAL(gp_dgp, rate),
	LAST
};

const gp_dgp gp_dgp_defaults = {.convolutions = 2,.features = 128};

/* ---- what must hold among options ---- */

/* Where the later one of two options stands. */
static int
later_of(const gp_kernel *kernel, const char *a, const char *b)
{
	int			x = gp_kernel_option_position(kernel, a);
	int			y = gp_kernel_option_position(kernel, b);

	return x > y ? x : y;
}

/* Options of layers that there are, and penalties with an answer. */
static void
check_gckm(gp_env *env, const gp_kernel *kernel, const void *options)
{
	const gp_gckm *o = options;

	for (int k = o->layers; k < GP_GCKM_MAX_LAYERS; k++)
	{
		char		name[32];

		snprintf(name, sizeof(name), "components%d", k + 1);
		if (o->components_of[k] > 0)
			gp_raise_at(env, GP_ERR_VALUE, gp_kernel_option_position(kernel, name), NULL,
						"option \"%s\" of kernel \"gckm\" is for layer %d, but there are %d layers", name, k + 1,
						o->layers);
		snprintf(name, sizeof(name), "width%d", k + 2);
		if (o->width[k + 1] > 0.0)
			gp_raise_at(env, GP_ERR_VALUE, gp_kernel_option_position(kernel, name),
						"The last width is that of the labels' kernel.",
						"option \"%s\" of kernel \"gckm\" is for kernel %d, but there are %d kernels", name, k + 2,
						o->layers + 1);
	}
	if (o->lambda1 * o->eta < 1.0)
		gp_raise_at(env, GP_ERR_VALUE, later_of(kernel, "lambda1", "eta"),
					"Below 1 the similarity of the nodes without a label is indefinite.",
					"options \"lambda1\" and \"eta\" of kernel \"gckm\" must have a product of at "
					"least 1");
	if (o->lambda2 >= o->lambda1)
		gp_raise_at(env, GP_ERR_VALUE, later_of(kernel, "lambda1", "lambda2"),
					"Otherwise labels would have a negative weight.",
					"option \"lambda2\" of kernel \"gckm\" must be less than lambda1, %g",
					o->lambda1);
}

/* Inducing pairs take the place of cosines. */
static void
check_dgp(gp_env *env, const gp_kernel *kernel, const void *options)
{
	const gp_dgp *o = options;

	if (o->inducing > 0 && o->features != gp_dgp_defaults.features)
		gp_raise_at(env, GP_ERR_VALUE, later_of(kernel, "inducing", "features"),
					"With inducing pairs there are no cosines.",
					"options \"features\" and \"inducing\" of kernel \"dgp\" exclude each other");
}

/* ---- texts and options ---- */

const gp_method_text gp_gckm_text = {"gckm", gckm_options, check_gckm};
const gp_method_text gp_gpsrf_text = {"gpsrf", gpsrf_options, NULL};
const gp_method_text gp_dgp_text = {"dgp", dgp_options, check_dgp};

int
gp_gckm_components(const gp_gckm *o, int layer, int32_t classes)
{
	if (o->components_of[layer] > 0)
		return o->components_of[layer];
	if (layer + 1 < o->layers)
		return o->components > 0 ? o->components :
			(int) gp_min64(gp_max64(classes, INNER_COMPONENTS), MOST_COMPONENTS);
	/* Leading components tell groups apart; those behind them are noise to few labels. */
	return classes == 0 ? LAST_COMPONENTS
		: (int) gp_min64(gp_max64(CLASS_COMPONENTS * (int64_t) classes, LEAST_COMPONENTS),
						 MOST_COMPONENTS);
}

double
gp_gckm_width(const gp_gckm *o, int layer)
{
	if (o->width[layer] > 0.0)
		return o->width[layer];
	return layer > 0 && layer < o->layers ? INNER_WIDTH : WIDTH;
}

void
gp_method_parse(gp_env *env, const gp_method_text *m, const char *text, void *options)
{
	gp_kernel  *kernel = gp_kernel_parse(env, text);
	const char *name = gp_kernel_method(kernel);

	if (name == NULL || strcmp(name, m->name) != 0)
		gp_raise_at(env, GP_ERR_SYNTAX, 1, NULL, "kernel \"%s\" is meant here", m->name);
	for (const member *o = m->options; o->name; o++)
	{
		char	   *at = (char *) options + o->offset;

		if (o->real)
			*(double *) at = gp_kernel_option(kernel, o->name);
		else
			*(int *) at = (int) gp_kernel_option(kernel, o->name);
	}
	if (m->check)
		m->check(env, kernel, options);
	gp_kernel_free(kernel);
}

char *
gp_method_print(gp_env *env, const gp_method_text *m, const void *options)
{
	gp_kernel  *kernel = gp_kernel_parse(env, m->name);

	for (const member *o = m->options; o->name; o++)
	{
		const char *at = (const char *) options + o->offset;

		gp_kernel_give(kernel, o->name, o->real ? *(const double *) at : *(const int *) at);
	}
	char	   *text = gp_kernel_print(env, kernel);
	gp_kernel_free(kernel);
	return text;
}

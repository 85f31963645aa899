/*
 * preset.c - kernels with a name: presets and methods, a line of the table for each.
 *
 * A preset is a text of the kernel language with a name.  The rest of the code knows it by its name
 * alone: the candidates of kernel => 'auto', and the default kernels of links and clusters.  A
 * method learns its kernel; who trains it asks for its options by name.
 */
#include "device/device.h"
#include "formula_internal.h"

#define COMPONENTS(name) GP_OPTION(name, 0.0, WHOLE,.low = 1.0,.high = GP_SYEV_MAX)
#define WIDTH(name) \
	GP_OPTION(name, 0.0, REAL,.low = 1e-6,.high = 1e6, \
		.hint = "A width is a kernel's sigma^2 over the variance of what it acts on.")

static const gp_option_rule gckm[] = {
	GP_OPTION("layers", 2.0, WHOLE,.low = 1.0,.high = 4.0),
	GP_OPTION("components", 0.0, WHOLE,.low = 1.0,.high = GP_SYEV_MAX,
		.hint = "components is for every layer except the last, components2 for the second."),
	COMPONENTS("components1"), COMPONENTS("components2"), COMPONENTS("components3"),
	COMPONENTS("components4"),
	WIDTH("width1"), WIDTH("width2"), WIDTH("width3"), WIDTH("width4"), WIDTH("width5"),
	GP_OPTION("aggregate", 0.0, WORD,
		.hint = "sym is (I+D)^-1/2 (I+G) (I+D)^-1/2, sum is "
		"I + G, auto is sum with own=true, else sym.",.word = {"auto", "sym", "sum"}),
	GP_OPTION("own", 0.0, WORD,.word = {"false", "true"}),
	GP_OPTION("gamma", 0.0, REAL,.low = 0.0,.high = 1e6,
		.hint = "gamma=0 takes 0.8 over the root mean squared distance."),
	GP_OPTION("landmarks", GP_SYEV_MAX, WHOLE,.low = 1.0,.high = GP_SYEV_MAX),
	GP_OPTION("lambda1", 1.0, REAL,.low = 1e-6,.high = 1e6),
	GP_OPTION("lambda2", 0.07, REAL,.low = 1e-6,.high = 1e6),
	GP_OPTION("eta", 1.0, REAL,.low = 1e-6,.high = 1e6),
	{.name = NULL}
};

static const gp_option_rule gpsrf[] = {
	GP_OPTION("features", 1000.0, WHOLE,.low = 1.0,.high = 100000.0,
		.hint = "features is the number of cosines."),
	GP_OPTION("units", 64.0, WHOLE,.low = 1.0,.high = 4096.0,
		.hint = "units is the length of a node's representation."),
	GP_OPTION("hidden", 128.0, WHOLE,.low = 1.0,.high = 4096.0,
		.hint = "hidden is the width of the layer before it."),
	GP_OPTION("steps", 400.0, WHOLE,.low = 1.0,.high = 1000000.0),
	GP_OPTION("dropout", 0.5, REAL,.low = 0.0,.high = 0.95),
	GP_OPTION("tau", 0.8, REAL,.low = 0.0,.high = 1.0,
		.hint = "tau=1 learns from the labels alone."),
	GP_OPTION("decay", 5e-4, REAL,.low = 0.0,.high = 1.0),
	{.name = NULL}
};

/* Of links */
static const gp_option_rule dgp[] = {
	GP_OPTION("layers", 0.0, WHOLE,.low = 1.0,.high = 4.0),
	GP_OPTION("units", 0.0, WHOLE,.low = 1.0,.high = GP_SYEV_MAX,
		.hint = "units is the length of a node's representation."),
	GP_OPTION("convolutions", 2.0, WHOLE,.low = 1.0,.high = 4.0,
		.hint = "convolutions is the number of sums over neighbours of a layer."),
	GP_OPTION("features", 128.0, WHOLE,.low = 1.0,.high = 100000.0,
		.hint = "features is the number of cosines of a layer."),
	GP_OPTION("inducing", 0.0, WHOLE,.low = 2.0,.high = GP_SYEV_MAX,
		.hint = "inducing is the number of pairs of points, "
		"which take the place of cosines and inner products."),
	GP_OPTION("steps", 0.0, WHOLE,.low = 10.0,.high = 1000000.0),
	GP_OPTION("rate", 0.0, REAL,.low = 1e-6,.high = 1.0,
		.hint = "rate is that of the first steps."),
	{.name = NULL}
};

static const gp_option_rule none[] = {{.name = NULL}};

static const gp_preset presets[] = {
	{.name = "gcn",.text = "A*relu(X)*W + b"},
	{.name = "gin",.text = "relu(A*relu(X)*W + b)*W + b"},
	{.name = "gcnii",.text = "((1-alpha)*A*relu(X) + alpha*X0)*((1-beta)*I + beta*W), "
	"beta=ln(lambda/l+1), alpha=0.1, lambda=0.5",
	.own = {"alpha", "lambda"}},
	{.name = "sage",.text = "relu(X)*W1 + A*relu(X)*W2, "
	"norm=row, sigma_w1=sigma_self, sigma_self=0.1, sigma_w2=sigma_w",
	.own = {"sigma_self"}},
	{.name = "appnp",.text = "P(alpha)*relu(X0*W)*W, alpha=0.1",
	.own = {"alpha"}},
	{.name = "ggp",.text = "A*X0, input=poly(c, d), norm=row, c=5, d=3",.input = true,
	.own = {"c", "d"}},
	{.name = "rbf",.text = "X0, input=rbf(gamma), gamma=0.1",.input = true,
	.own = {"gamma"}},
	{.name = "laplacian",
		.text = "X0, input=laplacian(d, sigma2, walks, p_term, choice, dims, trim), "
		"d=auto, sigma2=auto, walks=80, p_term=0.1, choice=uniform, dims=0, trim=anchors",.input = true,
	.own = {"d", "sigma2", "walks", "p_term", "choice", "dims", "trim"}},
	{.name = "mlp",.text = "relu(X)*W + b"},
	{.name = "profile",.text = "unit(relu(X0*W + sqrt(2)*N*W + b)*W) + "
	"sqrt(0.5)*unit(relu(A*relu(relu(A*X0*W + b)*W + b)*W + b)*W), input=cosine"},
	{.name = "sage2",.text = "relu(X)*W1 + 0^(l-1)*N*W1 + A*relu(X)*W2 + A^2*relu(X)*W2, "
	"norm=row, sigma_w1=sigma_self, sigma_self=1, sigma_w2=sigma_w",
	.own = {"sigma_self"}},
	{.name = "hops",.text = "relu(unit(X0*W) + unit(A*X0*W) + unit(A^2*X0*W) + unit(A^3*X0*W) + b)*W, "
	"norm=row, sigma_b=0.3"},
	{.name = "field",.text = "unit(X0*W) + unit(P(alpha)*relu(N*W)*W), alpha=0.01, norm=row",
	.own = {"alpha"}},
	{.name = "linear",.text = "unit(X0*W) + unit(A*X0*W) + b, norm=row, sigma_b=1"},
	{.name = "gckm",.parameter = gckm},
	{.name = "gpsrf",.parameter = gpsrf},
	{.name = "dgp",.parameter = dgp},
	{.name = "scores",.parameter = none},
	{.name = "pairs",.parameter = none},
	{.name = "ease",.parameter = none},
};

#define NPRESETS ((int) (sizeof(presets) / sizeof(presets[0])))

const gp_preset *
gp_preset_at(int i)
{
	return i < NPRESETS ? &presets[i] : NULL;
}

const gp_preset *
gp_preset_find(const char *name)
{
	for (int i = 0; i < NPRESETS; i++)
		if (gp_is_word(name, strlen(name), presets[i].name))
			return &presets[i];
	return NULL;
}

bool
gp_kernel_is_preset(const char *name)
{
	const gp_preset *preset = gp_preset_find(name);

	return preset != NULL && preset->text != NULL;
}

const char *
gp_preset_hint(gp_arena *arena)
{
	gp_text		text = {.arena = arena};

	gp_text_add(&text, "Kernels are ");
	for (int i = 0; i < NPRESETS; i++)
		gp_text_add(&text, "%s%s", i == 0 ? "" : i < NPRESETS - 1 ? ", " : " and ",
					presets[i].name);
	gp_text_add(&text, "; or write a layer such as A*relu(X)*W + b.");
	return text.data;
}

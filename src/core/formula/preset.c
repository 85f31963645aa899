/*
 * preset.c - kernels with a name.
 *
 * A preset is a text of the kernel language with a name, and nothing else in the
 * code knows any of them: a new one is a line of the table.
 */
#include "formula_internal.h"

#include <strings.h>

static const gp_preset presets[] = {
	{"gcn", "A*relu(X)*W + b", false, {NULL}},
	{"gin", "relu(A*relu(X)*W + b)*W + b", false, {NULL}},
	{"gcnii", "((1-alpha)*A*relu(X) + alpha*X0)*((1-beta)*I + beta*W), "
	"beta=ln(lambda/l+1), alpha=0.1, lambda=0.5", false, {"alpha", "lambda"}},
	{"sage", "relu(X)*W1 + A*relu(X)*W2, "
	"norm=row, sigma_w1=sigma_self, sigma_self=0.1, sigma_w2=sigma_w", false, {"sigma_self"}},
	{"appnp", "P(alpha)*relu(X0*W)*W, alpha=0.1", false, {"alpha"}},
	{"ggp", "A*X0, input=poly(c, d), norm=row, c=5, d=3", true, {"c", "d"}},
	{"rbf", "X0, input=rbf(gamma), gamma=0.1", true, {"gamma"}},
	{"laplacian", "X0, input=laplacian(d, sigma2, walks, p_term, choice, dims, trim), "
		"d=2, sigma2=0.2, walks=80, p_term=0.1, choice=uniform, dims=0, trim=anchors", true,
	{"d", "sigma2", "walks", "p_term", "choice", "dims", "trim"}},
	{"mlp", "relu(X)*W + b", false, {NULL}},
	{"profile", "unit(relu(X0*W + sqrt(2)*N*W + b)*W) + "
		"sqrt(0.5)*unit(relu(A*relu(relu(A*X0*W + b)*W + b)*W + b)*W), input=cosine", false,
	{NULL}},
	{"sage2", "relu(X)*W1 + 0^(l-1)*N*W1 + A*relu(X)*W2 + A^2*relu(X)*W2, "
	"norm=row, sigma_w1=sigma_self, sigma_self=1, sigma_w2=sigma_w", false, {"sigma_self"}},
};

#define NPRESETS ((int) (sizeof(presets) / sizeof(presets[0])))

/* One after the other. */
const gp_preset *
gp_preset_at(int i)
{
	return i < NPRESETS ? &presets[i] : NULL;
}

/* The preset of a name. */
const gp_preset *
gp_preset_find(const char *name)
{
	for (int i = 0; i < NPRESETS; i++)
		if (strcasecmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

/* True when there is one. */
bool
gp_kernel_is_preset(const char *name)
{
	return gp_preset_find(name) != NULL;
}

/* Puts the names into a hint. */
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

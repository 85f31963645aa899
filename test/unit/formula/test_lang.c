/*
 * test_lang.c - the kernel language: canonical texts, errors, programs.
 */
#include "formula/formula.h"
#include "test_env.h"

#include <stdlib.h>

/* ---- canonical texts ---- */

/* Spellings, the canonical text of each, and another spelling of the same kernel. */
static const struct
{
	const char *text;
	const char *canonical;
	const char *equal;			/* NULL: none but the canonical text */
}			spellings[] = {
	/* presets and their formulas */
	{"gcn", "gcn", NULL},
	{"GCN()", "gcn", NULL},
	{" gcn ( layers = 2 ) ", "gcn", NULL},
	{"A*relu(X)*W + b", "A*relu(X)*W + b", "gcn"},
	{"b + A*relu(X)*W", "b + A*relu(X)*W", "gcn"},
	{"A*Relu(X)*W1 + b7", "A*relu(X)*W1 + b7", "gcn"},
	{"gcn(layers=3, sigma_b=0.3162)", "gcn(layers=3, sigma_b=0.3162)", NULL},
	{"A*relu(X)*W + b, sigma_b=0.3162, layers=3",
	"A*relu(X)*W + b, layers=3, sigma_b=0.3162",
	"gcn(layers=3, sigma_b=0.3162)"},
	{"gcn, layers=1+2", "gcn(layers=3)", NULL},
	{"gcn(sigma_w=sqrt(2))", "gcn(sigma_w=sqrt(2))", "gcn(sigma_w=1.4142135623730951)"},
	{"gcn(norm=ROW, input=RBF)", "gcn(input=rbf(gamma=0.1), norm=row)", NULL},
	{"gcn(sigma_w=1/l)", "gcn(sigma_w=1/l)", NULL},
	{"A^l*X, layers=3", "A^l*X, layers=3", "A^6*X, layers=1"},
	{"(X0*W1 + A*X0*W2)*W3 + N*W", "(X0*W1 + A*X0*W2)*W3 + N*W", "X0*W + A*X0*W + N*W"},
	{"gin", "gin", NULL},
	{"relu(A*relu(X)*W + b)*W + b", "relu(A*relu(X)*W + b)*W + b", "gin"},
	{"relu(b + A*relu(X)*W1)*W2 + b1, sigma_b=0.1",
	"relu(b + A*relu(X)*W1)*W2 + b1, sigma_b=0.1",
	"gin(sigma_b=0.1)"},
	{"gcnii", "gcnii", NULL},
	{"((1-alpha)*A*relu(X) + alpha*X0)*((1-beta)*I + beta*W), alpha=0.1, beta=ln(0.5/l+1)",
	"((1 - alpha)*A*relu(X) + alpha*X0)*((1 - beta)*I + beta*W), alpha=0.1, beta=ln(0.5/l + 1)",
	"gcnii"},
	{"(0.2*X0 - A*relu(X)*0.8)*(ln(1+1.5/l)*W + (1-ln(1.5/l+1))*I)",
	"(0.2*X0 - A*relu(X)*0.8)*(ln(1 + 1.5/l)*W + (1 - ln(1.5/l + 1))*I)",
	"gcnii(alpha=0.2, lambda=1.5)"},
	{"gcnii(lambda=1.5, alpha=0.2), layers=8", "gcnii(alpha=0.2, lambda=1.5, layers=8)", NULL},
	{"gcnii(alpha=0)", "gcnii(alpha=0)", NULL},
	{"sage", "sage", NULL},
	{"relu(X)*W1 + A*relu(X)*W2, norm=row, sigma_w1=0.1",
	"relu(X)*W1 + A*relu(X)*W2, sigma_w1=0.1, norm=row",
	"sage"},
	{"sage(sigma_self=0.3)", "sage(sigma_self=0.3)", NULL},
	{"sage(sigma_w1=0.3)", "sage(sigma_w1=0.3)", "sage(sigma_self=0.3)"},
	{"sage(norm=sym)", "sage(norm=sym)", NULL},
	{"appnp", "appnp", NULL},
	{"P(0.2)*relu(X0*W)*W", "P(0.2)*relu(X0*W)*W", "appnp(alpha=0.2)"},
	{"ggp", "ggp", NULL},
	{"A*X0, input=poly(5, 3), norm=row", "A*X0, input=poly(c=5, d=3), norm=row", "ggp"},
	{"A*X0, input=poly(d=2), norm=row", "A*X0, input=poly(c=5, d=2), norm=row", "ggp(d=2)"},
	{"ggp(input=linear)", "ggp(input=linear)", "A*X0, norm=row"},
	{"rbf", "rbf", NULL},
	{"X0, input=rbf(gamma=g), g=0.2", "X0, input=rbf(gamma=0.2)", "rbf(gamma=0.2)"},
	{"laplacian", "laplacian", NULL},
	{"X0, input=laplacian", "X0, input=laplacian", "laplacian"},
	{"X0, input=laplacian(auto, s, 80, 0.1, uniform, 0, anchors), s=auto",
	"X0, input=laplacian",
	"laplacian"},
	{"Laplacian(D=3, sigma2=1/2)", "laplacian(d=3, sigma2=0.5)", NULL},
	{"X0, input=laplacian(d=3, sigma2=s), s=0.5",
	"X0, input=laplacian(d=3, sigma2=0.5)",
	"laplacian(d=3, sigma2=0.5)"},
	{"laplacian(d=1, sigma2=10, walks=4, p_term=0.5, choice=Repelled, dims=100, trim=projection)",
	"laplacian(d=1, sigma2=10, walks=4, p_term=0.5, choice=repelled, dims=100, trim=projection)", NULL},
	{"X0, input=laplacian(choice=c), c=weighted",
	"X0, input=laplacian(choice=weighted)",
	"laplacian(choice=weighted)"},
	{"laplacian(choice=uniform, trim=anchors, dims=-0)", "laplacian", NULL},
	{"laplacian(input=linear)", "laplacian(input=linear)", "X0"},
	{"gcn(input=laplacian(d=2))", "gcn(input=laplacian(d=2))", NULL},
	{"A*relu(X)*W, input=laplacian(trim=projection, dims=10, choice=weighted)",
	"A*relu(X)*W, input=laplacian(choice=weighted, dims=10, trim=projection)",
	"gcn(input=laplacian(choice=weighted, dims=10, trim=projection))"},
	{"gcnii(alpha=0.2, input=laplacian(d=5, sigma2=0.3, walks=7, p_term=0.4, dims=99))",
	"gcnii(alpha=0.2, input=laplacian(d=5, sigma2=0.3, walks=7, p_term=0.4, dims=99))", NULL},
	{"appnp(input=laplacian)", "appnp(input=laplacian)", NULL},
	{"2*X0, input=laplacian(d=4)", "2*X0, input=laplacian(d=4)", NULL},
	{"mlp", "mlp", NULL},
	{"relu(X)*W", "relu(X)*W", "mlp"},
	{"profile", "profile", NULL},
	{"unit(relu(X0*W + sqrt(2)*N*W + b)*W) + sqrt(1/2)*unit(relu(A*relu(relu(A*X0*W + b)*W + b)*W + b)*W), input=cosine",
	"unit(relu(X0*W + sqrt(2)*N*W + b)*W) + sqrt(1/2)*unit(relu(A*relu(relu(A*X0*W + b)*W + b)*W + b)*W), input=cosine",
	"profile"},
	{"profile(sigma_b=0.1)", "profile(sigma_b=0.1)", NULL},
	{"profile(input=linear)",
	"profile(input=linear)",
	"0.7071067811865476*unit(relu(A*relu(relu(A*X0*W)*W)*W)*W) + unit(relu(X0*W + 1.4142135623730951*N*W)*W)"},
	{"sage2", "sage2", NULL},
	{"relu(X)*W + A*relu(X)*W + A^2*relu(X)*W + 0^(l-1)*N*W, norm=row",
	"relu(X)*W + A*relu(X)*W + A^2*relu(X)*W + 0^(l - 1)*N*W, norm=row",
	"sage2"},
	{"sage2(sigma_self=0.5, layers=3)", "sage2(sigma_self=0.5, layers=3)", NULL},
	/* powers */
	{"gcn(power=1.5)", "gcn(power=1.5)", NULL},
	{"A*relu(X)*W, power=3/2, layers=3",
	"A*relu(X)*W, layers=3, power=1.5",
	"gcn(layers=3, power=1.5)"},
	{"gcn(power=1)", "gcn(power=1)", NULL},
	{"gcn(power=Auto)", "gcn", NULL},
	{"A*X0, norm=row, power=p, p=2", "A*X0, norm=row, power=2", NULL},
	{"sage(norm=sym, power=1.25)", "sage(norm=sym, power=1.25)", NULL},
	/* lists of neighbours, mean variances of one */
	{"N", "N", NULL},
	{"2*A*N*W + X0", "2*A*N*W + X0", NULL},
	{"N + X0", "N + X0", "X0 + N"},
	{"n*X0, n=2", "n*X0, n=2", "2*X0"},
	{"Unit(X0)", "unit(X0)", NULL},
	{"unit(2*unit(-3*A*X0))", "unit(2*unit(-3*A*X0))", "unit(A*X0)"},
	{"unit(l*X0 + N)", "unit(l*X0 + N)", "unit(X0 + N)"},
	{"unit((A+I)*X0)*W", "unit((A + I)*X0)*W", NULL},
	{"0*unit(X0) + N + unit(b), sigma_b=0", "0*unit(X0) + N + unit(b)", "N"},
	{"X0, input=cosine", "X0, input=cosine", NULL},
	{"N, input=cosine, norm=row", "N, input=cosine, norm=row", "N"},
	/* constants */
	{"alpha*A*X, alpha=2*beta, beta=0.25", "alpha*A*X, alpha=2*beta, beta=0.25", "0.5*A*X"},
	{"(1-l)*A*X + X0", "(1 - l)*A*X + X0", NULL},
	{"(l+1+l)*A*X", "(l + 1 + l)*A*X", "(2*l + 1)*A*X"},
	{"l*2*l/4*A*X", "l*2*l/4*A*X", "0.5*l^2*A*X"},
	{"A*X/l", "A*X/l", "1/l*A*X"},
	{"2^l*A*X", "2^l*A*X", NULL},
	{"l^(-0.5)*A*X", "l^-0.5*A*X", "l^(-0.5)*A*X"},
	{"layers*A*X, layers=3", "layers*A*X, layers=3", "3*A*X, layers=3"},
	{"(0.1+0.2)*X0", "(0.1 + 0.2)*X0", "0.3*X0"},
	{"(0.7*A+0.3*I)^2*X0", "(0.7*A + 0.3*I)^2*X0", "(0.49*A^2 + 0.42*A + 0.09*I)*X0"},
	{"(0.7*A+0.3*I)^3*X0",
	"(0.7*A + 0.3*I)^3*X0",
	"(0.343*A^3 + 0.441*A^2 + 0.189*A + 0.027*I)*X0"},
	{"0.7*0.7*A^2*X0 + b, sigma_b=0.1+0.2",
	"0.7*0.7*A^2*X0 + b, sigma_b=0.1 + 0.2",
	"0.49*A^2*X0 + b, sigma_b=0.3"},
	{"(1-0.9)*X0 + X*W", "(1 - 0.9)*X0 + X*W", "X*W + 0.1*X0"},
	{"1.1*1.1^-1*X0", "1.1*1.1^-1*X0", "X0"},
	{"0.1234567890123456*0.5*X0", "0.1234567890123456*0.5*X0", "0.0617283945061728*X0"},
	{"X0/3", "X0/3", "0.3333333333333333*X0"},
	{"(1e15+1)*X0", "(1e+15 + 1)*X0", "1000000000000001*X0"},
	/* numbers of the text are what they are */
	{"(0.48999999999999994*A^2 - 0.42*A + 0.09*I)*X0",
	"(0.48999999999999994*A^2 - 0.42*A + 0.09*I)*X0", NULL},
	{"-0.30000000000000004*X0", "-0.30000000000000004*X0", "0.30000000000000004*X0"},
	{"0.30000000000000004*1*X0/-1", "0.30000000000000004*1*X0/-1", "0.30000000000000004*X0"},
	{"1e300*1e-300*X0", "1e+300*1e-300*X0", "X0"},
	{"l*X0", "l*X0", "X0"},
	/* operators */
	{"(A+I)*X*W", "(A + I)*X*W", NULL},
	{"I*X", "I*X", "X"},
	{"A*A*X", "A*A*X", "A^2*X"},
	{"(A+I)^2*X", "(A + I)^2*X", "(A^2 + 2*A + I)*X"},
	{"(I - A)*X", "(I - A)*X", "(A - I)*X"},
	{"2*(A+I)*X", "2*(A + I)*X", "(2*A + 2*I)*X"},
	{"2*A*X", "2*A*X", NULL},
	{"(A - A + I)*X", "(A - A + I)*X", "X"},
	{"A^0*X", "A^0*X", "X"},
	{"P(1)*X", "P(1)*X", "X"},
	{"P(0.5)*A*P(0.2)*X", "P(0.5)*A*P(0.2)*X", "A*P(0.2)*P(0.5)*X"},
	{"(P(1/l) + A)*X", "(P(1/l) + A)*X", "(A + P(1/l))*X"},
	/* features and weights */
	{"-X", "-X", "X"},
	{"X*W - b, sigma_b=2", "X*W - b, sigma_b=2", "X*W + b, sigma_b=2"},
	{"A*(2*(A*X0))", "A*(2*(A*X0))", "2*A^2*X0"},
	{"(X0*W + b) + b, sigma_b=1", "(X0*W + b) + b, sigma_b=1", "X0*W + b + b, sigma_b=1"},
	{"X0*W1 + X0*W2, sigma_w1=2, sigma_w2=1",
	"X0*W1 + X0*W2, sigma_w1=2, sigma_w2=1",
	"X0*W + X0*W1, sigma_w1=2"},
	{"X0*W1 + X0*W2, sigma_w1=3, sigma_w2=2",
	"X0*W1 + X0*W2, sigma_w1=3, sigma_w2=2",
	"X0*W1 + X0*W2, sigma_w1=2, sigma_w2=3"},
	{"b1 + b2*W, sigma_b1=2, sigma_b2=1",
	"b1 + b2*W, sigma_b1=2, sigma_b2=1",
	"b1*W + b2, sigma_b1=1, sigma_b2=2"},
	{"X*(0.5*I + 0.5*W)", "X*(0.5*I + 0.5*W)", NULL},
	{"X*(W/2 - I/2)*W", "X*(W/2 - I/2)*W", "X*W*(0.5*I + 0.5*W)"},
	{"X*(I - I + 2*W)", "X*(I - I + 2*W)", "2*X*W"},
	{"X + X0", "X + X0", NULL},
	{"relu(X) + X0", "relu(X) + X0", NULL},
	{"relu(X)*W + relu(X0)", "relu(X)*W + relu(X0)", NULL},
	{"relu(X*W) + X", "relu(X*W) + X", NULL},
	{"0.5*A*relu(X)*W + X0*W, layers=3, norm=row", "0.5*A*relu(X)*W + X0*W, layers=3, norm=row", NULL},
	{"0*X + A*X0, layers=5", "0*X + A*X0, layers=5", "A*X0"},
	/* options without effect make no other kernel */
	{"X0, norm=row", "X0, norm=row", "X0"},
	{"X0*W, sigma_b=0.5", "X0*W, sigma_b=0.5", "X0*W"},
	{"X0 + b, sigma_w=3, sigma_b=1", "X0 + b, sigma_w=3, sigma_b=1", "X0 + b, sigma_b=1"},
	{"b, sigma_b=1, input=rbf, norm=row",
	"b, sigma_b=1, input=rbf(gamma=0.1), norm=row",
	"b, sigma_b=1"},
	{"X0, input=identity", "X0, input=identity", NULL},
	{"X0, input=arccos, layers=1", "X0, input=arccos", NULL},
};

/* Every spelling prints its canonical text, which prints itself. */
static void
test_canonical(void)
{
	gp_env	   *env = test_env();

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
	{
		gp_kernel  *kernel = gp_kernel_parse(env, spellings[i].text);
		char	   *canonical = gp_kernel_print(env, kernel);

		const char *equal = spellings[i].equal != NULL ? spellings[i].equal : canonical;
		gp_kernel  *other = gp_kernel_parse(env, equal);

		is_str(canonical, spellings[i].canonical, spellings[i].text);
		is_str(gp_kernel_print(env, gp_kernel_parse(env, canonical)), canonical,
			   "its canonical text reads back");
		is_str(gp_kernel_key(env, kernel), gp_kernel_key(env, other), "another spelling is equal");
		test_env_reset(env);
	}
	test_env_close(env);
}

/* ---- errors ---- */

/* Texts that are refused: where, why, and with which hint. */
static const struct
{
	const char *text;
	gp_error	code;
	int			position;
	const char *message;
	const char *hint;			/* its beginning; NULL: none */
}			refusals[] = {
	{"", GP_ERR_SYNTAX, 1, "kernel is empty", "Kernels are gcn, gin, gcnii, sage, appnp, ggp, "
	"rbf, laplacian, mlp, profile, sage2, hops, field, linear, gckm, gpsrf, dgp, scores, pairs and ease; or write a layer such as A*relu(X)*W + b."},
	{"gnc", GP_ERR_SYNTAX, 1, "unknown kernel \"gnc\"", "Perhaps you meant \"gcn\". Kernels are gcn"},
	{" gnc(layers=2)", GP_ERR_SYNTAX, 2, "unknown kernel \"gnc\"", "Perhaps you meant \"gcn\". Kernels are gcn"},
	{"GCNI", GP_ERR_SYNTAX, 1, "unknown kernel \"GCNI\"", "Perhaps you meant \"gcn\". Kernels"},
	{"gcniii", GP_ERR_SYNTAX, 1, "unknown kernel \"gcniii\"", "Perhaps you meant \"gcnii\". Kernels"},
	{"laplace(d=1)", GP_ERR_SYNTAX, 1, "unknown kernel \"laplace\"", "Perhaps you meant \"laplacian\". Kernels"},
	{"appn", GP_ERR_SYNTAX, 1, "unknown kernel \"appn\"", "Perhaps you meant \"appnp\". Kernels"},
	{"rellu(X)*W", GP_ERR_SYNTAX, 1, "unknown kernel \"rellu\"", "Perhaps you meant \"relu\". Kernels are"},
	{"gckm(layer=2)", GP_ERR_SYNTAX, 6, "kernel \"gckm\" does not take option \"layer\"", "Perhaps you meant \"layers\". Options of gckm are layers"},
	{"gat", GP_ERR_SYNTAX, 1, "unknown kernel \"gat\"", "Kernels are gcn"},
	{"graph_of_a_name_that_is_longer_than_any_of_ours", GP_ERR_SYNTAX, 1,
	"unknown kernel \"graph_of_a_name_that_is_longer_than_any_\"", "Kernels are gcn"},
	{"A**X", GP_ERR_SYNTAX, 3, "syntax error in kernel at \"*\"", NULL},
	{"+", GP_ERR_SYNTAX, 2, "syntax error at end of kernel", NULL},
	{"A*relu(X", GP_ERR_SYNTAX, 9, "syntax error at end of kernel", "A parenthesis is open."},
	{"A*X)", GP_ERR_SYNTAX, 4, "syntax error in kernel at \")\"", NULL},
	{"X \xc3\xa9", GP_ERR_SYNTAX, 3, "syntax error in kernel at \"\xc3\xa9\"", "A kernel consists"},
	{"2X", GP_ERR_SYNTAX, 2, "syntax error in kernel at \"X\"", NULL},
	{"X, layers", GP_ERR_SYNTAX, 10, "syntax error at end of kernel", "Options look like"},
	{"X, 3", GP_ERR_SYNTAX, 4, "syntax error in kernel at \"3\"", "Options look like"},
	{"gcn(layers=2, Layers=3)", GP_ERR_SYNTAX, 15, "option \"Layers\" is given twice", NULL},
	{"gcn(layer=3)", GP_ERR_SYNTAX, 5, "kernel \"gcn\" does not take option \"layer\"",
	"Perhaps you meant \"layers\". Options of gcn are layers, sigma_w, sigma_b, input, norm and power."},
	{"gcnii(lambada=3)", GP_ERR_SYNTAX, 7, "kernel \"gcnii\" does not take option \"lambada\"",
	"Perhaps you meant \"lambda\". Options of gcnii are"},
	{"gcnii(sigma_self=3)", GP_ERR_SYNTAX, 7,
		"kernel \"gcnii\" does not take option \"sigma_self\"",
	"Options of gcnii are alpha, lambda, layers"},
	{"A*X, foo=1", GP_ERR_SYNTAX, 6, "option \"foo\" is not used in the kernel",
	"Options are layers"},
	{"A*X*W, sigma_w2=1", GP_ERR_SYNTAX, 8, "option \"sigma_w2\" is not used in the kernel",
	"Perhaps you meant \"sigma_w\". Options are layers"},
	{"A*X, W=2", GP_ERR_SYNTAX, 6, "name \"W\" is reserved in kernels", "sigma_w and"},
	{"foo*X", GP_ERR_SYNTAX, 1, "unknown name \"foo\" in kernel", "Names are X"},
	{"a*X", GP_ERR_SYNTAX, 1, "unknown name \"a\" in kernel", "X, X0, N, A, I, P and W are upper"},
	{"A*P*X", GP_ERR_SYNTAX, 3, "unknown name \"P\" in kernel", "Write P(0.1)."},
	{"alhpa*A*X, alpha=0.1", GP_ERR_SYNTAX, 1, "unknown name \"alhpa\" in kernel",
	"Perhaps you meant \"alpha\". Names are X"},
	{"A*x0", GP_ERR_SYNTAX, 3, "unknown name \"x0\" in kernel", "Perhaps you meant \"X0\". Names are X"},
	{"A*relo(X)", GP_ERR_SYNTAX, 3, "unknown function \"relo\" in kernel",
	"Perhaps you meant \"relu\". Functions are relu"},
	{"A*tanh(X)", GP_ERR_SYNTAX, 3, "unknown function \"tanh\" in kernel", "Functions are relu"},
	{"relu(X, X)", GP_ERR_SYNTAX, 1, "function \"relu\" in kernel takes one argument", NULL},
	{"A*relu(2)", GP_ERR_SYNTAX, 8, "relu in kernel takes a feature, not a number",
	"Write relu(X)."},
	{"ln(X)*X", GP_ERR_SYNTAX, 4, "\"ln\" in kernel takes a number, not a feature", NULL},
	{"A", GP_ERR_SYNTAX, 1, "kernel has no feature such as X, X0 or N", "Write a layer"},
	{"W*X", GP_ERR_SYNTAX, 1, "a weight in kernel must stand right of the feature",
	"Write A*relu(X)*W."},
	{"X*A", GP_ERR_SYNTAX, 3, "an operator in kernel must stand left of the feature",
	"Write A*relu(X)*W."},
	{"N + A*N", GP_ERR_SYNTAX, 5, "terms of a sum in kernel are not independent: \"N\" is in two of them", "Write (A + I)*relu(X)"},
	{"unit(relu(X)) + relu(X0)", GP_ERR_SYNTAX, 17, "terms of a sum in kernel are not independent: two are activations", "relu has a mean"},
	{"unit(A)", GP_ERR_SYNTAX, 6, "unit in kernel takes a feature, not an operator", "Write unit(X0)."},
	{"unit", GP_ERR_SYNTAX, 1, "unknown name \"unit\" in kernel", "Functions take an argument"},
	{"n", GP_ERR_SYNTAX, 1, "unknown kernel \"n\"", "Kernels are gcn"},
	{"A*n", GP_ERR_SYNTAX, 3, "unknown name \"n\" in kernel", "X, X0, N, A, I"},
	{"N, N=2", GP_ERR_SYNTAX, 4, "name \"N\" is reserved in kernels", "sigma_w and sigma_b"},
	{"gcn(power=0.9)", GP_ERR_VALUE, 11, "option \"power\" of kernel must be auto or between 1 and 2", "It is the power"},
	{"gcn(power=2.1)", GP_ERR_VALUE, 11, "option \"power\" of kernel must be auto or between 1 and 2", "It is the power"},
	{"gcn(power=l)", GP_ERR_VALUE, 11, "\"power\" of kernel must not depend on the layer", NULL},
	{"X*X0", GP_ERR_SYNTAX, 3, "a product in kernel holds two features", "Features are added"},
	{"X0 + 2", GP_ERR_SYNTAX, 6, "a number cannot be added to a feature in kernel", NULL},
	{"(A + 2)*X", GP_ERR_SYNTAX, 6, "a number cannot be added to an operator in kernel",
	"Write 2*I for a multiple of the identity."},
	{"X*(I + W*W)", GP_ERR_SYNTAX, 8,
	"a mixed weight in kernel must be a sum of multiples of I and W", "Write (0.5*I + 0.5*W)."},
	{"X/A", GP_ERR_SYNTAX, 3, "only a number can divide in kernel", NULL},
	{"X^2", GP_ERR_SYNTAX, 1, "only numbers and operators have powers in kernel", NULL},

	/* independence */
	{"X + A*X", GP_ERR_SYNTAX, 5,
		"terms of a sum in kernel are not independent: \"X\" is in two of them",
	"Write (A + I)*relu(X), or give a term a weight of its own: relu(X)*W1 + A*relu(X)*W2."},
	{"A*relu(X) + relu(X)", GP_ERR_SYNTAX, 13,
		"terms of a sum in kernel are not independent: \"X\" is in two of them",
	"Write (A + I)*relu(X)"},
	{"X0*W + (A*X0 + b + X0*(I + W)), sigma_b=1", GP_ERR_SYNTAX, 20,
		"terms of a sum in kernel are not independent: \"X0\" is in two of them",
	"Write (A + I)*relu(X)"},
	{"relu(X) + relu(X0)", GP_ERR_SYNTAX, 11,
		"terms of a sum in kernel are not independent: two are activations",
	"relu has a mean that is not zero"},

	/* values */
	{"1e999*X", GP_ERR_VALUE, 1, "number out of range in kernel: \"1e999\"", NULL},
	{"gcn(layers=33)", GP_ERR_VALUE, 12,
	"option \"layers\" of kernel must be a whole number from 1 to 32", NULL},
	{"gcn(layers=1.5)", GP_ERR_VALUE, 12,
	"option \"layers\" of kernel must be a whole number from 1 to 32", NULL},
	{"gcn(layers=l)", GP_ERR_VALUE, 12, "\"layers\" of kernel must not depend on the layer", NULL},
	{"ggp(layers=2)", GP_ERR_VALUE, 12, "option \"layers\" of a kernel without X must be 1",
	"A formula without X"},
	{"gcn(sigma_b=-1)", GP_ERR_VALUE, 13,
	"option \"sigma_b\" of kernel must not be negative", NULL},
	{"gcn(sigma_b=ln(0))", GP_ERR_VALUE, 13,
	"logarithm of a number that is not positive in kernel", NULL},
	{"sqrt(1-l)*X, layers=4", GP_ERR_VALUE, 1,
	"square root of a negative number in kernel in layer 2", NULL},
	{"1/(l-2)*X", GP_ERR_VALUE, 3,
	"division by zero or value out of range in kernel in layer 2", NULL},
	{"A^65*X", GP_ERR_VALUE, 3,
	"power of an operator in kernel must be a whole number from 0 to 64", NULL},
	{"A^40*A^40*X", GP_ERR_VALUE, 1,
	"power of an operator in kernel is larger than 64", NULL},
	{"(A+I)^32*X", GP_ERR_VALUE, 1, "operator in kernel has more than 32 terms", NULL},
	{"P(0)*X", GP_ERR_VALUE, 3, "teleport probability 0 of P is not between 0.0001 and 1", "P(a) is"},
	{"P(l)*X", GP_ERR_VALUE, 3, "teleport probability 2 of P is not between 0.0001 and 1", "P(a) is"},
	{"X, input=cosines", GP_ERR_VALUE, 10, "unknown input kernel", "Perhaps you meant \"cosine\". Input kernels are"},
	{"X, input=fourier", GP_ERR_VALUE, 10, "unknown input kernel", "Input kernels are"},
	{"X, input=3", GP_ERR_VALUE, 10, "unknown input kernel", "Input kernels are"},
	{"X, input=rbf(gama=1)", GP_ERR_SYNTAX, 19, "input kernel \"rbf\" has no such parameter",
	"Perhaps you meant \"gamma\". Input kernels are"},
	{"X, input=rbf(gamma=-1)", GP_ERR_VALUE, 20,
	"gamma of input kernel \"rbf\" must be positive", NULL},
	{"X, input=poly(e=1)", GP_ERR_SYNTAX, 17, "input kernel \"poly\" has no such parameter",
	"Input kernels are"},
	{"rbf(gamma=0)", GP_ERR_VALUE, 11,
	"gamma of input kernel \"rbf\" must be positive", NULL},
	{"X, input=poly(c=-1)", GP_ERR_VALUE, 17,
	"c of input kernel \"poly\" must not be negative", NULL},
	{"X, input=poly(1, 65)", GP_ERR_VALUE, 18,
	"d of input kernel \"poly\" must be a whole number from 1 to 64", NULL},
	{"X0, input=laplacian(d=1.5)", GP_ERR_VALUE, 23,
	"d of input kernel \"laplacian\" must be a whole number from 1 to 16", NULL},
	{"laplacian(d=17)", GP_ERR_VALUE, 13,
	"d of input kernel \"laplacian\" must be a whole number from 1 to 16", NULL},
	{"laplacian(sigma2=0)", GP_ERR_VALUE, 18,
	"sigma2 of input kernel \"laplacian\" must be positive", NULL},
	{"laplacian(walks=0)", GP_ERR_VALUE, 17,
	"walks of input kernel \"laplacian\" must be a whole number from 1 to 100000", NULL},
	{"laplacian(walks=1e6)", GP_ERR_VALUE, 17,
	"walks of input kernel \"laplacian\" must be a whole number from 1 to 100000", NULL},
	{"laplacian(p_term=1)", GP_ERR_VALUE, 18,
	"p_term of input kernel \"laplacian\" must be between 0 and 1", NULL},
	{"gcn(input=laplacian(p_term=0))", GP_ERR_VALUE, 28,
	"p_term of input kernel \"laplacian\" must be between 0 and 1", NULL},
	{"laplacian(dims=-1)", GP_ERR_VALUE, 16,
	"dims of input kernel \"laplacian\" must be a whole number from 0 to 2147483647", NULL},
	{"laplacian(choice=random)", GP_ERR_VALUE, 18,
	"choice of input kernel \"laplacian\" must be uniform, weighted or repelled", NULL},
	{"X0, input=laplacian(choice=1)", GP_ERR_VALUE, 28,
	"choice of input kernel \"laplacian\" must be uniform, weighted or repelled", NULL},
	{"laplacian(trim=trim)", GP_ERR_VALUE, 16,
	"trim of input kernel \"laplacian\" must be anchors or projection", NULL},
	{"X0, input=laplacian(d=2, d=3)", GP_ERR_SYNTAX, 28, "parameter \"d\" is given twice", NULL},
	{"X0, input=laplacian(1, 1, 1, 0.1, uniform, 0, anchors, 0)", GP_ERR_SYNTAX, 56,
	"input kernel \"laplacian\" has no such parameter", "Input kernels are"},
	{"laplacian(gamma=1)", GP_ERR_SYNTAX, 11,
	"kernel \"laplacian\" does not take option \"gamma\"", "Options of laplacian are d, sigma2"},
	{"gcn(input=laplacian(d=l))", GP_ERR_VALUE, 23, "\"d\" of kernel must not depend on the layer", NULL},
	{"X, norm=col", GP_ERR_VALUE, 9, "unknown normalisation in kernel", "norm is sym"},
	{"0*X", GP_ERR_VALUE, 1, "the kernel is zero", "A factor"},
	{"gcn(sigma_w=0)", GP_ERR_VALUE, 1, "the kernel is zero", "A factor"},
	{"1e200*X", GP_ERR_VALUE, 1, "variance of kernel is not finite", NULL},
	{"a*X, a=c, c=a", GP_ERR_SYNTAX, 13, "option \"a\" of kernel refers to itself", NULL},
	{"laplacian(d=sigma2, sigma2=d)", GP_ERR_SYNTAX, 28, "option \"d\" of kernel refers to itself",
	NULL},
};

/* Every refusal has its code, place, message and hint. */
static void
test_errors(void)
{
	gp_env	   *env = test_env();
	const test_host *host = test_state(env);

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
	{
		const char *hint = refusals[i].hint;

		if (!ok(test_catch(env, gp_kernel_parse(env, refusals[i].text)), refusals[i].text))
			continue;
		is_int(host->code, refusals[i].code, "its code");
		is_int(host->position, refusals[i].position, "its place");
		is_str(host->message, refusals[i].message, "its message");
		ok(hint == NULL ? host->hint[0] == '\0' : strncmp(host->hint, hint, strlen(hint)) == 0,
		   "its hint");
		test_env_reset(env);
	}
	test_env_close(env);
}

/* A text of a repeated piece. */
static char *
repeat(char *text, const char *before, const char *piece, int times, const char *after)
{
	strcpy(text, before);
	for (int i = 0; i < times; i++)
		strcat(text, piece);
	strcat(text, after);
	return text;
}

/* Long and deep texts end in an error, whatever their shape. */
static void
test_limits(void)
{
	static char text[65536];
	gp_env	   *env = test_env();

	ok(!test_catch(env, gp_kernel_parse(env, repeat(text, "X", " ", 4095, ""))), "4096 bytes");
	expect_error(env, GP_ERR_SYNTAX, gp_kernel_parse(env, repeat(text, "X", " ", 4096, "")));
	is_str(test_state(env)->message, "kernel is longer than 4096 bytes", "4097 bytes");
	expect_error(env, GP_ERR_SYNTAX, gp_kernel_parse(env, repeat(text, "", "(", 4000, "X")));
	is_str(test_state(env)->message, "kernel is nested more than 64 levels deep", "parentheses");
	is_int(test_state(env)->position, 65, "it points at the 65th level");
	expect_error(env, GP_ERR_SYNTAX, gp_kernel_parse(env, repeat(text, "", "-", 4000, "X")));
	expect_error(env, GP_ERR_SYNTAX, gp_kernel_parse(env, repeat(text, "", "2^", 2000, "2*X")));
	expect_error(env, GP_ERR_SYNTAX, gp_kernel_parse(env, repeat(text, "", "relu(", 800, "X")));
	ok(!test_catch(env, gp_kernel_parse(env, repeat(text, "X0", "*W", 2000, ""))), "2000 weights");
	test_env_close(env);
}

/* ---- programs ---- */

/* A step by hand; power: of A in an operator of one term. */
typedef struct expected_step
{
	gp_step_kind kind;
	int			arg0;
	int			arg1;
	double		value;
	int			power;
} expected_step;

/* Compares a program with the steps written out. */
static void
check_program(const char *text, int n, const expected_step *want)
{
	gp_env	   *env = test_env();
	gp_program *program = gp_kernel_program(env, gp_kernel_parse(env, text));
	bool		same = program->nsteps == n;

	for (int i = 0; same && i < n; i++)
	{
		const gp_step *step = &program->steps[i];

		same = step->kind == want[i].kind && step->arg0 == want[i].arg0 &&
			step->arg1 == want[i].arg1 && fabs(step->value - want[i].value) < 1e-15 &&
			(step->op != NULL) == (step->kind == GP_STEP_OP);
		if (same && step->op != NULL)
			same = step->op->nterms == 1 && step->op->np == 0 && step->op->term[0].coef == 1.0 &&
				step->op->term[0].power_a == want[i].power;
	}
	ok(same, text);
	test_env_close(env);
}

#define INPUT {GP_STEP_INPUT, -1, -1, 0.0, 0}
#define BIAS(value) {GP_STEP_BIAS, -1, -1, value, 0}
#define LISTS {GP_STEP_LISTS, -1, -1, 0.0, 0}
#define UNIT(arg) {GP_STEP_UNIT, arg, -1, 0.0, 0}
#define OP(arg, power) {GP_STEP_OP, arg, -1, 0.0, power}
#define RELU(arg) {GP_STEP_RELU, arg, -1, 0.0, 0}
#define SCALE(arg, value) {GP_STEP_SCALE, arg, -1, value, 0}
#define SUM(a, b) {GP_STEP_SUM, a, b, 0.0, 0}
#define CHECK(text, ...) \
	do { \
		const expected_step steps_[] = {__VA_ARGS__}; \
		check_program(text, (int) (sizeof(steps_) / sizeof(steps_[0])), steps_); \
	} while (0)

/* Programs against the recursions of the presets, written out. */
static void
test_programs(void)
{
	double		be1 = log(0.5 + 1.0);
	double		be2 = log(0.25 + 1.0);

	CHECK("gcn", INPUT, OP(0, 1), RELU(1), OP(2, 1));
	CHECK("gcn(sigma_b=0.1, sigma_w=2)", INPUT, OP(0, 1), SCALE(1, 4.0), BIAS(0.01), SUM(2, 3),
		  RELU(4), OP(5, 1), SCALE(6, 4.0), SUM(7, 3));
	CHECK("gin(sigma_b=0.1)", INPUT, OP(0, 1), BIAS(0.01), SUM(1, 2), RELU(3), SUM(4, 2),
		  RELU(5), OP(6, 1), SUM(7, 2), RELU(8), SUM(9, 2));
	CHECK("gcnii", INPUT, OP(0, 1), SCALE(1, 0.81), SCALE(0, 0.01), SUM(2, 3),
		  SCALE(4, (1.0 - be1) * (1.0 - be1) + be1 * be1), RELU(5), OP(6, 1), SCALE(7, 0.81),
		  SUM(8, 3), SCALE(9, (1.0 - be2) * (1.0 - be2) + be2 * be2));
	CHECK("sage", INPUT, OP(0, 1), SCALE(0, 0.01), SUM(1, 2), RELU(3), OP(4, 1), SCALE(4, 0.01),
		  SUM(5, 6));
	CHECK("ggp", INPUT, OP(0, 1));
	CHECK("X0*W + 2*N*W", INPUT, LISTS, SCALE(1, 4.0), SUM(0, 2));
	CHECK("unit(2*X)", INPUT, UNIT(0));
	CHECK("unit(A*X0*W) + unit(b), sigma_b=3, sigma_w=2", INPUT, OP(0, 1), UNIT(1), BIAS(1.0), SUM(2, 3));
	CHECK("unit(unit(X0)*W) + unit(X0*W)", INPUT, UNIT(0), SCALE(1, 2.0));
	CHECK("sage2(layers=1)", INPUT, OP(0, 2), OP(0, 1), SUM(1, 2), SUM(3, 0), LISTS, SUM(4, 5));
	CHECK("rbf", INPUT);
	CHECK("mlp(layers=3)", INPUT, RELU(0), RELU(1));
	CHECK("A*X*W, layers=3, sigma_w=2", INPUT, OP(0, 3), SCALE(1, 64.0));
	CHECK("relu(X0*W)*W", INPUT, RELU(0));
	CHECK("relu(2*X)", INPUT, SCALE(0, 4.0), RELU(1), SCALE(2, 4.0), RELU(3));
	CHECK("relu(X)*W1 + relu(X)*W2, layers=1", INPUT, SCALE(0, 2.0));
	CHECK("(l-1)*A*X + X0", INPUT, OP(0, 1), SUM(1, 0));
	CHECK("A*relu(X)*W + X, layers=3", INPUT, OP(0, 1), SUM(1, 0), RELU(2), OP(3, 1), SUM(4, 2),
		  RELU(5), OP(6, 1), SUM(7, 5));
	CHECK("b, sigma_b=2", BIAS(4.0));
	CHECK("X0 + b + b*W, sigma_b=1", INPUT, BIAS(1.0), SUM(0, 1), SUM(2, 1));
}

/* The settings and the operator of one text. */
static void
test_operator(void)
{
	gp_env	   *env = test_env();
	gp_kernel  *kernel = gp_kernel_parse(env, "(A^2*P(0.5) - 3*P(1/l)*A + 2*I)*X, "
										 "layers=2, input=poly(c=2, d=4), norm=row");
	gp_program *program = gp_kernel_program(env, kernel);
	const gp_operator *op;

	ok(program->input.kind == GP_INPUT_POLY && program->input.p[0] == 2.0 &&
	   program->input.p[1] == 4.0,
	   "the input kernel");
	ok(program->norm == GP_NORM_ROW && program->layers == 2, "norm and layers");
	is_int(program->nsteps, 3, "operators of several terms stay apart");
	op = program->steps[1].op;
	ok(op->np == 1 && op->p_alpha[0] == 0.5 && op->nterms == 3, "layer 1: P(1) is I");
	ok(op->term[0].power_a == 2 && op->term[0].power_p[0] == 1 && op->term[0].coef == 1.0,
	   "the highest power comes first");
	ok(op->term[1].power_a == 1 && op->term[1].power_p[0] == 0 && op->term[1].coef == -3.0,
	   "then the lower one");
	op = program->steps[2].op;
	ok(op->np == 1 && op->nterms == 3 && op->term[1].power_p[0] == 1, "layer 2: one P(0.5)");
	test_env_close(env);
}

/* ---- memory ---- */

/* What is done with a text. */
static void
read_text(gp_env *env, const char *text)
{
	gp_kernel  *kernel = gp_kernel_parse(env, text);

	gp_kernel_print(env, kernel);
	gp_kernel_program(env, kernel);
}

/* Every allocation failing in turn, or each stride-th, is an error, and nothing else. */
static void
test_no_memory(const char *text, int stride)
{
	disturb(text, TEST_REFUSE, stride, 10, read_text(env, text));
}

/* What is not part of the results is freed. */
static void
test_thrift(void)
{
	gp_env	   *env = test_env();
	gp_kernel  *kernel = gp_kernel_parse(env, "gcnii(alpha=0.3)");
	int64_t		held = test_state(env)->live;

	gp_free_all(env, gp_kernel_program(env, kernel), gp_kernel_print(env, kernel));
	is_int(test_state(env)->live, held, "a program and a text are one block each");
	ok(env->used < 200000 && env->peak < 500000, "a kernel is small");
	test_env_close(env);
}

int
main(void)
{
	test_canonical();
	test_errors();
	test_limits();
	test_programs();
	test_operator();
	test_no_memory("gcn(sigma_b=0.1)", 1);
	test_no_memory("laplacian(d=3, choice=weighted)", 1);
	test_no_memory("(l*A + P(0.1))*relu(X)*(0.5*I + 0.5*W) + 2*X0*W1 + b, "
				   "sigma_b=1, sigma_w1=k, k=3", 2);
	test_thrift();
	return done_testing();
}

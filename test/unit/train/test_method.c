/*
 * test_method.c - a method's text: what may be said, what it prints, and where errors point.
 */
#include "formula/formula.h"
#include "test_env.h"
#include "parse_methods.h"

/* A text prints its canonical form, which reads back as the same. */
static void
check_print(gp_env *env, const char *text, const char *want)
{
	char	   *first = gp_kernel_print(env, gp_kernel_parse(env, text));

	is_str(first, want, text);
	is_str(gp_kernel_print(env, gp_kernel_parse(env, first)), want, "and reads back");
	is_str(gp_kernel_key(env, gp_kernel_parse(env, text)),
		   gp_kernel_key(env, gp_kernel_parse(env, want)), "as an equal one");
}

/* A text is refused at a character. */
static void
check_refused(gp_env *env, const char *text, gp_error code, int position, const char *message)
{
	bool		raised = test_catch(env, parse_gckm(env, text));
	test_host  *host = test_state(env);
	char		name[300];

	snprintf(name, sizeof(name), "%s is refused", text);
	ok(raised && host->code == code, name);
	is_int(host->position, position, "at the character");
	is_str(host->message, message, "with the reason");
}

/* What numbers mean that are not given. */
static void
check_rules(gp_env *env)
{
	gp_gckm		o = parse_gckm(env, "gckm");

	ok(o.layers == 2 && gp_gckm_components(&o, 0, 7) == 40 && gp_gckm_components(&o, 0, 58) == 58 && gp_gckm_components(&o, 1, 7) == 14 &&
	   gp_gckm_components(&o, 1, 2) == 8 && gp_gckm_components(&o, 1, 0) == 16, "40 components or one a class, then two a class");
	ok(gp_gckm_width(&o, 0) == 8.0 && gp_gckm_width(&o, 1) == 16.0 && gp_gckm_width(&o, 2) == 8.0,
	   "widths 8, 16, 8");
	o = parse_gckm(env, "gckm(layers=3, components=20, components3=5, width2=3)");
	ok(gp_gckm_components(&o, 0, 0) == 20 && gp_gckm_components(&o, 1, 0) == 20 && gp_gckm_components(&o, 2, 0) == 5,
	   "components of three layers");
	ok(gp_gckm_width(&o, 0) == 8.0 && gp_gckm_width(&o, 1) == 3.0 && gp_gckm_width(&o, 2) == 16.0 &&
	   gp_gckm_width(&o, 3) == 8.0, "widths of three layers");
	o = parse_gckm(env, "gckm(layers=1)");
	ok(gp_gckm_components(&o, 0, 0) == 16 && gp_gckm_width(&o, 0) == 8.0 && gp_gckm_width(&o, 1) == 8.0, "one layer");
	is_str(gp_kernel_method(gp_kernel_parse(env, " GCKM (own=true)")), "gckm", "a method is known by its name");
	ok(gp_kernel_method(gp_kernel_parse(env, "gcn")) == NULL, "and a preset is none");
	expect_error(env, GP_ERR_VALUE, gp_kernel_program(env, gp_kernel_parse(env, "gckm")));
}

/* GPSRF's options. */
static void
check_gpsrf(gp_env *env)
{
	gp_gpsrf	o = parse_gpsrf(env, "GPSRF()");

	ok(o.features == 1000 && o.units == 64 && o.hidden == 128 && o.steps == 400 && o.dropout == 0.5 && o.tau == 0.8 &&
	   o.decay == 5e-4, "gpsrf's defaults");
	is_str(gp_method_print(env, &gp_gpsrf_text, &o), "gpsrf", "which need no options");
	o = parse_gpsrf(env, "gpsrf(tau=1, steps=10, dropout=0.5, features=77)");
	is_str(gp_method_print(env, &gp_gpsrf_text, &o), "gpsrf(features=77, steps=10, tau=1)", "gpsrf's canonical text");
	expect_error(env, GP_ERR_VALUE, parse_gpsrf(env, "gpsrf(dropout=1)"));
	is_str(test_state(env)->message, "dropout of kernel \"gpsrf\" must be a number from 0 to 0.95", "the reason");
	expect_error(env, GP_ERR_SYNTAX, parse_gpsrf(env, "gpsrf(layers=2)"));
	expect_error(env, GP_ERR_SYNTAX, parse_gpsrf(env, "gckm"));
}

/* The options of the deep Gaussian process of links. */
static void
check_dgp(gp_env *env)
{
	gp_dgp		o = parse_dgp(env, "DGP ( Inducing = 82, steps=700)");

	ok(o.inducing == 82 && o.steps == 700 && o.layers == 0 && o.units == 0, "dgp's published form");
	is_str(gp_method_print(env, &gp_dgp_text, &o), "dgp(inducing=82, steps=700)", "its canonical text");
	o = parse_dgp(env, "dgp(layers=2)");
	is_str(gp_method_print(env, &gp_dgp_text, &o), "dgp(layers=2)", "layers that are given are told");
	expect_error(env, GP_ERR_VALUE, parse_dgp(env, "dgp(inducing=1)"));
	is_str(test_state(env)->message, "inducing of kernel \"dgp\" must be a whole number from 2 to 512", "the reason");
	expect_error(env, GP_ERR_VALUE, parse_dgp(env, "dgp(features=64, inducing=82)"));
	is_int(test_state(env)->position, 27, "at the later of the two");
}

int
main(void)
{
	in_env(check_rules(env));
	in_env(check_dgp(env));
	in_env(check_print(env, "gckm", "gckm"));
	in_env(check_print(env, "GCKM()", "gckm"));
	in_env(check_print(env, " gckm ( layers = 2 , Own = TRUE ) ", "gckm(own=true)"));
	in_env(check_print(env, "gckm(lambda2=.1, layers=3, gamma=0.01, aggregate=sum)",
					   "gckm(layers=3, aggregate=sum, gamma=0.01, lambda2=0.1)"));
	in_env(check_print(env, "gckm(width1=1e-3, components2=7, landmarks=256)",
					   "gckm(components2=7, width1=0.001, landmarks=256)"));
	in_env(check_print(env, "gckm(lambda1=0.30000000000000004, eta=4)", "gckm(lambda1=0.30000000000000004, eta=4)"));
	in_env(check_refused(env, "gkcm", GP_ERR_SYNTAX, 1, "unknown kernel \"gkcm\""));
	in_env(check_refused(env, "", GP_ERR_SYNTAX, 1, "kernel is empty"));
	in_env(check_refused(env, "gckm(", GP_ERR_SYNTAX, 6, "syntax error at end of kernel"));
	in_env(check_refused(env, "gckm(own=true", GP_ERR_SYNTAX, 14, "syntax error at end of kernel"));
	in_env(check_refused(env, "gckm(own=true,)", GP_ERR_SYNTAX, 15, "syntax error in kernel at \")\""));
	in_env(check_refused(env, "gckm(own)", GP_ERR_SYNTAX, 9, "syntax error in kernel at \")\""));
	in_env(check_refused(env, "gckm own=true", GP_ERR_SYNTAX, 6, "syntax error in kernel at \"own\""));
	in_env(check_refused(env, "gckm(deep=3)", GP_ERR_SYNTAX, 6, "kernel \"gckm\" does not take option \"deep\""));
	in_env(check_refused(env, "gckm(own=true, own=false)", GP_ERR_SYNTAX, 16,
						 "option \"own\" is given twice"));
	in_env(check_refused(env, "gckm(own=2)", GP_ERR_VALUE, 10, "own of kernel \"gckm\" must be false or true"));
	in_env(check_refused(env, "gckm(aggregate=mean)", GP_ERR_VALUE, 16,
						 "aggregate of kernel \"gckm\" must be auto, sym or sum"));
	in_env(check_refused(env, "gckm(layers=5)", GP_ERR_VALUE, 13,
						 "layers of kernel \"gckm\" must be a whole number from 1 to 4"));
	in_env(check_refused(env, "gckm(layers=1.5)", GP_ERR_VALUE, 13,
						 "layers of kernel \"gckm\" must be a whole number from 1 to 4"));
	in_env(check_refused(env, "gckm(gamma=-1)", GP_ERR_VALUE, 12,
						 "gamma of kernel \"gckm\" must be a number from 0 to 1e+06"));
	in_env(check_refused(env, "gckm(landmarks=513)", GP_ERR_VALUE, 16,
						 "landmarks of kernel \"gckm\" must be a whole number from 1 to 512"));
	in_env(check_refused(env, "gckm(eta=0.5)", GP_ERR_VALUE, 10,
						 "options \"lambda1\" and \"eta\" of kernel \"gckm\" must have a product of at least 1"));
	in_env(check_refused(env, "gckm(lambda2=1, layers=2)", GP_ERR_VALUE, 14,
						 "option \"lambda2\" of kernel \"gckm\" must be less than lambda1, 1"));
	in_env(check_refused(env, "gckm(components3=4)", GP_ERR_VALUE, 18,
						 "option \"components3\" of kernel \"gckm\" is for layer 3, but there are 2 layers"));
	in_env(check_refused(env, "gckm(width4=4)", GP_ERR_VALUE, 13,
						 "option \"width4\" of kernel \"gckm\" is for kernel 4, but there are 3 kernels"));
	in_env(check_gpsrf(env));
	in_env(check_refused(env, "gckm(own=true); x", GP_ERR_SYNTAX, 15, "syntax error in kernel at \";\""));
	disturb("a text", TEST_REFUSE, 1, 1, gp_method_print(env, &gp_gckm_text, (gp_gckm[]) {parse_gckm(env, "gckm(own=true, gamma=2)")}));
	return done_testing();
}

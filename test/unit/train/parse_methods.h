/*
 * parse_methods.h - the options of a method's text, for tests.
 */
#ifndef PARSE_METHODS_H
#define PARSE_METHODS_H

#include "train/train.h"

#define PARSER(name) \
static __attribute__((unused)) gp_##name \
parse_##name(gp_env *env, const char *text) \
{ \
	gp_##name	options; \
\
	gp_method_parse(env, &gp_##name##_text, text, &options); \
	return options; \
}

PARSER(gckm)
PARSER(gpsrf)
PARSER(dgp)

#endif							/* PARSE_METHODS_H */

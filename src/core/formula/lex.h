/*
 * lex.h - tokens of the kernel language.
 */
#ifndef GP_LEX_H
#define GP_LEX_H

#include "base/base.h"

#define GP_KERNEL_MAX_BYTES 4096	/* the longest text of a kernel */

typedef enum gp_token_kind
{
	GP_TOKEN_END,
	GP_TOKEN_NUMBER,
	GP_TOKEN_NAME,
	GP_TOKEN_SYMBOL				/* one of + - * / ^ ( ) , = */
} gp_token_kind;

typedef struct gp_token
{
	gp_token_kind kind;
	const char *start;
	int			length;			/* in bytes */
	int			position;		/* in characters, from 1 */
	double		number;
	char		symbol;			/* 0 unless a symbol */
} gp_token;

typedef struct gp_lexer
{
	gp_env	   *env;
	const char *start;			/* of the text */
	const char *at;
	int			position;		/* of at */
	int			fixed;			/* when > 0: the position of every token */
	gp_token	token;			/* the current one */
} gp_lexer;

/* Starts at the first token.  Raises GP_ERR_SYNTAX when the text is too long. */
extern void gp_lex_start(gp_lexer *lex, gp_env *env, const char *text, int fixed);

/* Goes on to the next token. */
extern void gp_lex_next(gp_lexer *lex);

/* True when the current token is this symbol. */
extern bool gp_lex_at(const gp_lexer *lex, char symbol);

/* The same, and goes on to the next token if so. */
extern bool gp_lex_take(gp_lexer *lex, char symbol);

/* The token after the current one, without going there. */
extern gp_token gp_lex_peek(const gp_lexer *lex);

/* True for the names that formulas reserve: X, W1, relu and so on. */
extern bool gp_keyword_is(const char *name, int length);

/* The number behind a letter: 0 for W, 1 for W1; -1 for any other name. */
extern int	gp_name_number(const char *name, size_t length, char letter);

/* Raises a syntax error at the current token; hint may be NULL. */
extern void gp_lex_error(const gp_lexer *lex, const char *hint)
			__attribute__((noreturn));

#endif							/* GP_LEX_H */

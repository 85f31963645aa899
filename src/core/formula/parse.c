/*
 * parse.c - from text to tokens, and from these to the tree: the grammar of the kernel language.
 *
 *		kernel  := (preset | sum) { "," option }
 *		preset  := name [ "(" [ option { "," option } ] ")" ]
 *		option  := name "=" sum
 *		sum     := product { ("+" | "-") product }
 *		product := unary { ("*" | "/") unary }
 *		unary   := { "+" | "-" } power
 *		power   := primary [ "^" unary ]
 *		primary := number | name | name "(" [ arg { "," arg } ] ")" | "(" sum ")"
 *		arg     := [ name "=" ] sum
 *
 * The tree says nothing about meaning: layer.c does.  Nesting is bounded,
 * so that no text can exhaust the stack.
 *
 * Positions count characters of UTF-8, as the server shows them, not bytes.  Numbers are read with
 * strtod, so LC_NUMERIC must be "C", as it always is in a server process.
 */
#include "formula_internal.h"

#include <stdlib.h>

/* ---- tokens ---- */

typedef enum token_kind
{
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_NAME,
	TOKEN_SYMBOL				/* one of + - * / ^ ( ) , = */
} token_kind;

typedef struct lex_token
{
	token_kind kind;
	const char *start;
	int			length;			/* in bytes */
	int			position;		/* in characters, from 1 */
	double		number;
	char		symbol;			/* 0 unless a symbol */
} lex_token;

typedef struct parser
{
	gp_arena   *arena;
	gp_env	   *env;
	const char *start;			/* of the text */
	const char *at;
	int			position;		/* of at */
	int			fixed;			/* when > 0: the position of every token */
	lex_token	token;			/* the current one */
	int			depth;
} parser;

/* ASCII only, here and below: what a number or a name is must not depend on the locale. */
static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The bytes of the character of UTF-8 at p: its lead and what continues it. */
static int
character_length(const char *p)
{
	int			length = 1;

	while (((unsigned char) p[length] & 0xC0) == 0x80)
		length++;
	return length;
}

/* The bytes of the number at p; "2e" is the number 2 and a name. */
static int
number_length(const char *p)
{
	int			n = 0;

	while (is_digit(p[n]))
		n++;
	if (p[n] == '.')
	{
		n++;
		while (is_digit(p[n]))
			n++;
	}
	if (p[n] != 'e' && p[n] != 'E')
		return n;
	int			exponent = n + 1;
	if (p[exponent] == '+' || p[exponent] == '-')
		exponent++;
	if (!is_digit(p[exponent]))
		return n;
	while (is_digit(p[exponent]))
		exponent++;
	return exponent;
}

static void
lex_next(parser *p)
{
	lex_token   *token = &p->token;

	while (*p->at == ' ' || (*p->at >= '\t' && *p->at <= '\r'))
	{
		p->at++;
		p->position++;
	}
	memset(token, 0, sizeof(*token));
	token->start = p->at;
	token->position = p->fixed > 0 ? p->fixed : p->position;
	if (*p->at == '\0')
		token->kind = TOKEN_END;
	else if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1])))
	{
		token->kind = TOKEN_NUMBER;
		token->length = number_length(token->start);
		char	   *buffer = gp_alloc(p->env, (size_t) token->length + 1);
		memcpy(buffer, token->start, token->length);
		buffer[token->length] = '\0';
		token->number = strtod(buffer, NULL);
		if (!isfinite(token->number))
			gp_raise_at(p->env, GP_ERR_VALUE, token->position, NULL,
						"number out of range in kernel: \"%.40s\"", buffer);
		gp_free(p->env, buffer);
	}
	else if (is_letter(*p->at))
	{
		token->kind = TOKEN_NAME;
		while (is_letter(p->at[token->length]) || is_digit(p->at[token->length]))
			token->length++;
	}
	else if (strchr("+-*/^(),=", *p->at) != NULL)
	{
		token->kind = TOKEN_SYMBOL;
		token->length = 1;
		token->symbol = *p->at;
	}
	else
	{
		gp_raise_at(p->env, GP_ERR_SYNTAX, token->position,
					"A kernel consists of names, numbers and + - * / ^ ( ) , =.",
					"syntax error in kernel at \"%.*s\"",
					character_length(token->start) > 4 ? 4 : character_length(token->start),
					token->start);
	}
	p->at += token->length;
	p->position += token->length;
}

static bool
lex_at(const parser *p, char symbol)
{
	return p->token.symbol == symbol;
}

static bool
lex_take(parser *p, char symbol)
{
	bool		there = lex_at(p, symbol);

	if (there)
		lex_next(p);
	return there;
}

static lex_token
lex_peek(const parser *p)
{
	parser		copy = *p;

	lex_next(&copy);
	return copy.token;
}

static void
lex_error(const parser *p, const char *hint)
{
	const lex_token *token = &p->token;
	int			open = 0;

	for (const char *s = p->start; *s != '\0'; s++)
		open += (*s == '(') - (*s == ')');
	if (hint == NULL && token->kind == TOKEN_END && open > 0)
		hint =
			"A parenthesis is open. In a list of kernels write ARRAY['gcn(layers=2, sigma_b=0.1)', 'mlp']: a literal '{...}' is cut at every comma.";
	if (token->kind == TOKEN_END)
		gp_raise_at(p->env, GP_ERR_SYNTAX, token->position, hint,
					"syntax error at end of kernel");
	gp_raise_at(p->env, GP_ERR_SYNTAX, token->position, hint,
				"syntax error in kernel at \"%.*s\"",
				token->length > 40 ? 40 : token->length, token->start);
}

/* ---- the grammar ---- */

#define MAX_DEPTH 64

static gp_ast *parse_sum(parser *p);
static gp_ast *parse_unary(parser *p);

/* Takes a symbol, or raises a syntax error. */
static void
expect(parser *p, char symbol)
{
	if (!lex_take(p, symbol))
		lex_error(p, NULL);
}

/* The text of the current token in lower case. */
static char *
lower_token(parser *p)
{
	char	   *lower = gp_arena_copy(p->arena, p->token.start, p->token.length);

	gp_ast_lower(lower);
	return lower;
}

/* A name, or a call with its arguments. */
static gp_ast *
parse_name(parser *p)
{
	gp_ast	   *call = gp_ast_named(p->arena, GP_AST_NAME, p->token.position,
									 p->token.start, p->token.length);

	lex_next(p);
	if (!lex_take(p, '('))
		return call;
	call->kind = GP_AST_CALL;
	if (!lex_at(p, ')'))
		do
		{
			/* arg := [ name "=" ] sum, added to a call */
			const char *key = NULL;

			if (p->token.kind == TOKEN_NAME && lex_peek(p).symbol == '=')
			{
				key = lower_token(p);
				lex_next(p);
				lex_next(p);
			}
			gp_ast_add(p->arena, call, parse_sum(p), false, key);
		}
		while (lex_take(p, ','));
	expect(p, ')');
	return call;
}

/* primary := number | name | call | "(" sum ")" */
static gp_ast *
parse_primary(parser *p)
{
	lex_token	token = p->token;
	gp_ast	   *node;

	if (token.kind == TOKEN_NAME)
		return parse_name(p);
	if (token.kind == TOKEN_NUMBER)
	{
		node = gp_ast_make(p->arena, GP_AST_NUMBER, token.position);
		node->number = token.number;
		lex_next(p);
		return node;
	}
	expect(p, '(');
	node = parse_sum(p);
	expect(p, ')');
	node->position = token.position;
	return node;
}

/* power := primary [ "^" unary ], which binds more tightly than a sign before it. */
static gp_ast *
parse_power(parser *p)
{
	gp_ast	   *base = parse_primary(p);

	if (!lex_take(p, '^'))
		return base;
	gp_ast	   *power = gp_ast_make(p->arena, GP_AST_POWER, base->position);
	gp_ast_add(p->arena, power, base, false, NULL);
	gp_ast_add(p->arena, power, parse_unary(p), false, NULL);
	return power;
}

/* unary := { "+" | "-" } power */
static gp_ast *
parse_unary(parser *p)
{
	int			position = p->token.position;
	gp_ast	   *node;

	/* Goes one level down. */
	gp_check_stack(p->env);
	if (++p->depth > MAX_DEPTH)
		gp_raise_at(p->env, GP_ERR_SYNTAX, p->token.position, NULL,
					"kernel is nested more than %d levels deep", MAX_DEPTH);
	if (lex_take(p, '-'))
	{
		node = gp_ast_make(p->arena, GP_AST_NEGATE, position);
		gp_ast_add(p->arena, node, parse_unary(p), false, NULL);
	}
	else if (lex_take(p, '+'))
		node = parse_unary(p);
	else
		node = parse_power(p);
	p->depth--;
	return node;
}

/*
 * operand { (plus | minus) operand }, a node of a kind where there are several; those
 * behind a minus are flipped.
 */
static gp_ast *
parse_series(parser *p, gp_ast_kind kind, char plus, char minus, gp_ast *(*operand) (parser *p))
{
	gp_ast	   *first = operand(p);

	if (!lex_at(p, plus) && !lex_at(p, minus))
		return first;
	gp_ast	   *series = gp_ast_make(p->arena, kind, first->position);
	gp_ast_add(p->arena, series, first, false, NULL);
	while (lex_at(p, plus) || lex_at(p, minus))
	{
		bool		flip = lex_at(p, minus);

		lex_next(p);
		gp_ast_add(p->arena, series, operand(p), flip, NULL);
	}
	return series;
}

/* product := unary { ("*" | "/") unary } */
static gp_ast *
parse_product(parser *p)
{
	return parse_series(p, GP_AST_PRODUCT, '*', '/', parse_unary);
}

/* sum := product { ("+" | "-") product } */
static gp_ast *
parse_sum(parser *p)
{
	return parse_series(p, GP_AST_SUM, '+', '-', parse_product);
}

/* option := name "=" sum */
static void
parse_option(parser *p, gp_kernel_text *text)
{
	gp_option	option;

	memset(&option, 0, sizeof(option));
	if (p->token.kind != TOKEN_NAME)
		lex_error(p, "Options look like layers=3.");
	option.name = lower_token(p);
	option.spelled = gp_arena_copy(p->arena, p->token.start, p->token.length);
	option.position = p->token.position;
	lex_next(p);
	if (!lex_take(p, '='))
		lex_error(p, "Options look like layers=3.");
	for (int i = 0; i < text->n; i++)
		if (strcmp(text->option[i].name, option.name) == 0)
			gp_raise_at(p->env, GP_ERR_SYNTAX, option.position, NULL,
						"option \"%.40s\" is given twice", option.spelled);
	option.value = parse_sum(p);
	if (text->n == GP_KERNEL_MAX_OPTIONS)
		gp_raise_at(p->env, GP_ERR_SYNTAX, option.position, NULL,
					"kernel has more than %d options", GP_KERNEL_MAX_OPTIONS);
	text->option[text->n++] = option;
}

/* True when a preset stands at the current token: its name and no operator behind it. */
static bool
at_preset(parser *p)
{
	if (p->token.kind != TOKEN_NAME || gp_preset_find(lower_token(p)) == NULL)
		return false;
	lex_token	next = lex_peek(p);
	return next.kind == TOKEN_END || next.symbol == '(' || next.symbol == ',';
}

/*
 * Raises an error at a first name that is neither a preset nor begins a formula:
 * most probably a preset with a typing error.
 */
static void
check_first_name(parser *p)
{
	lex_token	name = p->token;
	gp_meant	meant = gp_meant_start(name.start, name.length);

	if (name.kind != TOKEN_NAME || gp_keyword_is(name.start, name.length))
		return;
	lex_token	next = lex_peek(p);
	if (next.kind != TOKEN_END && next.symbol != '(' && next.symbol != ',')
		return;
	for (int i = 0; gp_preset_at(i) != NULL; i++)
		gp_meant_consider(&meant, gp_preset_at(i)->name);
	for (int i = 0; gp_functions[i] != NULL; i++)
		gp_meant_consider(&meant, gp_functions[i]);
	gp_raise_at(p->env, GP_ERR_SYNTAX, name.position,
				gp_meant_hint(p->arena, &meant, gp_preset_hint(p->arena)),
				"unknown kernel \"%.*s\"", name.length > 40 ? 40 : name.length, name.start);
}

gp_kernel_text *
gp_kernel_read(gp_arena *arena, const char *source, int fixed)
{
	gp_env	   *env = gp_arena_env(arena);
	parser		p = {.arena = arena,.env = env,.start = source,.at = source,.position = 1,
	.fixed = fixed};
	gp_kernel_text *text = gp_arena_alloc(arena, sizeof(gp_kernel_text));

	if (strnlen(source, GP_KERNEL_MAX_BYTES + 1) > GP_KERNEL_MAX_BYTES)
		gp_raise_at(env, GP_ERR_SYNTAX, fixed > 0 ? fixed : 1, "Write a sum of fewer terms.",
					"kernel is longer than %d bytes", GP_KERNEL_MAX_BYTES);
	lex_next(&p);
	text->option = gp_arena_alloc(arena, GP_KERNEL_MAX_OPTIONS * sizeof(gp_option));
	text->position = p.token.position;
	if (at_preset(&p))
	{
		text->preset = lower_token(&p);
		lex_next(&p);
		if (lex_take(&p, '('))
		{
			if (!lex_at(&p, ')'))
				do
					parse_option(&p, text);
				while (lex_take(&p, ','));
			expect(&p, ')');
		}
	}
	else
	{
		if (p.token.kind == TOKEN_END)
			gp_raise_at(p.env, GP_ERR_SYNTAX, p.token.position, gp_preset_hint(p.arena),
						"kernel is empty");
		check_first_name(&p);
		text->formula = parse_sum(&p);
	}
	while (lex_take(&p, ','))
		parse_option(&p, text);
	if (p.token.kind != TOKEN_END)
		lex_error(&p, NULL);
	return text;
}

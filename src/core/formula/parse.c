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

typedef struct lexer
{
	gp_env	   *env;
	const char *start;			/* of the text */
	const char *at;
	int			position;		/* of at */
	int			fixed;			/* when > 0: the position of every token */
	lex_token	token;			/* the current one */
} lexer;

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
lex_next(lexer *lex)
{
	lex_token   *token = &lex->token;

	while (*lex->at == ' ' || (*lex->at >= '\t' && *lex->at <= '\r'))
	{
		lex->at++;
		lex->position++;
	}
	memset(token, 0, sizeof(*token));
	token->start = lex->at;
	token->position = lex->fixed > 0 ? lex->fixed : lex->position;
	if (*lex->at == '\0')
		token->kind = TOKEN_END;
	else if (is_digit(*lex->at) || (*lex->at == '.' && is_digit(lex->at[1])))
	{
		token->kind = TOKEN_NUMBER;
		token->length = number_length(token->start);
		char	   *buffer = gp_alloc(lex->env, (size_t) token->length + 1);
		memcpy(buffer, token->start, token->length);
		buffer[token->length] = '\0';
		token->number = strtod(buffer, NULL);
		if (!isfinite(token->number))
			gp_raise_at(lex->env, GP_ERR_VALUE, token->position, NULL,
						"number out of range in kernel: \"%.40s\"", buffer);
		gp_free(lex->env, buffer);
	}
	else if (is_letter(*lex->at))
	{
		token->kind = TOKEN_NAME;
		while (is_letter(lex->at[token->length]) || is_digit(lex->at[token->length]))
			token->length++;
	}
	else if (strchr("+-*/^(),=", *lex->at) != NULL)
	{
		token->kind = TOKEN_SYMBOL;
		token->length = 1;
		token->symbol = *lex->at;
	}
	else
	{
		gp_raise_at(lex->env, GP_ERR_SYNTAX, token->position,
					"A kernel consists of names, numbers and + - * / ^ ( ) , =.",
					"syntax error in kernel at \"%.*s\"",
					character_length(token->start) > 4 ? 4 : character_length(token->start),
					token->start);
	}
	lex->at += token->length;
	lex->position += token->length;
}

static bool
lex_at(const lexer *lex, char symbol)
{
	return lex->token.symbol == symbol;
}

static bool
lex_take(lexer *lex, char symbol)
{
	bool		there = lex_at(lex, symbol);

	if (there)
		lex_next(lex);
	return there;
}

static lex_token
lex_peek(const lexer *lex)
{
	lexer	copy = *lex;

	lex_next(&copy);
	return copy.token;
}

static void
lex_error(const lexer *lex, const char *hint)
{
	const lex_token *token = &lex->token;
	int			open = 0;

	for (const char *s = lex->start; *s != '\0'; s++)
		open += (*s == '(') - (*s == ')');
	if (hint == NULL && token->kind == TOKEN_END && open > 0)
		hint =
			"A parenthesis is open. In a list of kernels write ARRAY['gcn(layers=2, sigma_b=0.1)', 'mlp']: a literal '{...}' is cut at every comma.";
	if (token->kind == TOKEN_END)
		gp_raise_at(lex->env, GP_ERR_SYNTAX, token->position, hint,
					"syntax error at end of kernel");
	gp_raise_at(lex->env, GP_ERR_SYNTAX, token->position, hint,
				"syntax error in kernel at \"%.*s\"",
				token->length > 40 ? 40 : token->length, token->start);
}

/* ---- the grammar ---- */

#define MAX_DEPTH 64

typedef struct parser
{
	gp_arena   *arena;
	gp_env	   *env;
	lexer	lex;
	int			depth;
} parser;

static gp_ast *parse_sum(parser *p);
static gp_ast *parse_unary(parser *p);

/* Takes a symbol, or raises a syntax error. */
static void
expect(parser *p, char symbol)
{
	if (!lex_take(&p->lex, symbol))
		lex_error(&p->lex, NULL);
}

/* The text of the current token in lower case. */
static char *
lower_token(parser *p)
{
	char	   *lower = gp_arena_copy(p->arena, p->lex.token.start, p->lex.token.length);

	gp_ast_lower(lower);
	return lower;
}

/* A name, or a call with its arguments. */
static gp_ast *
parse_name(parser *p)
{
	gp_ast	   *call = gp_ast_named(p->arena, GP_AST_NAME, p->lex.token.position,
									 p->lex.token.start, p->lex.token.length);

	lex_next(&p->lex);
	if (!lex_take(&p->lex, '('))
		return call;
	call->kind = GP_AST_CALL;
	if (!lex_at(&p->lex, ')'))
		do
		{
			/* arg := [ name "=" ] sum, added to a call */
			const char *key = NULL;

			if (p->lex.token.kind == TOKEN_NAME && lex_peek(&p->lex).symbol == '=')
			{
				key = lower_token(p);
				lex_next(&p->lex);
				lex_next(&p->lex);
			}
			gp_ast_add(p->arena, call, parse_sum(p), false, key);
		}
		while (lex_take(&p->lex, ','));
	expect(p, ')');
	return call;
}

/* primary := number | name | call | "(" sum ")" */
static gp_ast *
parse_primary(parser *p)
{
	lex_token	token = p->lex.token;
	gp_ast	   *node;

	if (token.kind == TOKEN_NAME)
		return parse_name(p);
	if (token.kind == TOKEN_NUMBER)
	{
		node = gp_ast_make(p->arena, GP_AST_NUMBER, token.position);
		node->number = token.number;
		lex_next(&p->lex);
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

	if (!lex_take(&p->lex, '^'))
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
	int			position = p->lex.token.position;
	gp_ast	   *node;

	/* Goes one level down. */
	gp_check_stack(p->env);
	if (++p->depth > MAX_DEPTH)
		gp_raise_at(p->env, GP_ERR_SYNTAX, p->lex.token.position, NULL,
					"kernel is nested more than %d levels deep", MAX_DEPTH);
	if (lex_take(&p->lex, '-'))
	{
		node = gp_ast_make(p->arena, GP_AST_NEGATE, position);
		gp_ast_add(p->arena, node, parse_unary(p), false, NULL);
	}
	else if (lex_take(&p->lex, '+'))
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

	if (!lex_at(&p->lex, plus) && !lex_at(&p->lex, minus))
		return first;
	gp_ast	   *series = gp_ast_make(p->arena, kind, first->position);
	gp_ast_add(p->arena, series, first, false, NULL);
	while (lex_at(&p->lex, plus) || lex_at(&p->lex, minus))
	{
		bool		flip = lex_at(&p->lex, minus);

		lex_next(&p->lex);
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
	if (p->lex.token.kind != TOKEN_NAME)
		lex_error(&p->lex, "Options look like layers=3.");
	option.name = lower_token(p);
	option.spelled = gp_arena_copy(p->arena, p->lex.token.start, p->lex.token.length);
	option.position = p->lex.token.position;
	lex_next(&p->lex);
	if (!lex_take(&p->lex, '='))
		lex_error(&p->lex, "Options look like layers=3.");
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
	if (p->lex.token.kind != TOKEN_NAME || gp_preset_find(lower_token(p)) == NULL)
		return false;
	lex_token	next = lex_peek(&p->lex);
	return next.kind == TOKEN_END || next.symbol == '(' || next.symbol == ',';
}

/*
 * Raises an error at a first name that is neither a preset nor begins a formula:
 * most probably a preset with a typing error.
 */
static void
check_first_name(parser *p)
{
	lex_token	name = p->lex.token;
	gp_meant	meant = gp_meant_start(name.start, name.length);

	if (name.kind != TOKEN_NAME || gp_keyword_is(name.start, name.length))
		return;
	lex_token	next = lex_peek(&p->lex);
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
	lexer		lex = {.env = env,.start = source,.at = source,.position = 1,.fixed = fixed};
	parser		p = {.arena = arena,.env = env,.lex = lex};
	gp_kernel_text *text = gp_arena_alloc(arena, sizeof(gp_kernel_text));

	if (strnlen(source, GP_KERNEL_MAX_BYTES + 1) > GP_KERNEL_MAX_BYTES)
		gp_raise_at(env, GP_ERR_SYNTAX, fixed > 0 ? fixed : 1, NULL,
					"kernel is longer than %d bytes", GP_KERNEL_MAX_BYTES);
	lex_next(&p.lex);
	text->option = gp_arena_alloc(arena, GP_KERNEL_MAX_OPTIONS * sizeof(gp_option));
	text->position = p.lex.token.position;
	if (at_preset(&p))
	{
		text->preset = lower_token(&p);
		lex_next(&p.lex);
		if (lex_take(&p.lex, '('))
		{
			if (!lex_at(&p.lex, ')'))
				do
					parse_option(&p, text);
				while (lex_take(&p.lex, ','));
			expect(&p, ')');
		}
	}
	else
	{
		if (p.lex.token.kind == TOKEN_END)
			gp_raise_at(p.env, GP_ERR_SYNTAX, p.lex.token.position, gp_preset_hint(p.arena),
						"kernel is empty");
		check_first_name(&p);
		text->formula = parse_sum(&p);
	}
	while (lex_take(&p.lex, ','))
		parse_option(&p, text);
	if (p.lex.token.kind != TOKEN_END)
		lex_error(&p.lex, NULL);
	return text;
}

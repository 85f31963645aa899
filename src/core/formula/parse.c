/*
 * parse.c - the grammar of the kernel language.
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
 */
#include "tree.h"
#include "formula_internal.h"
#include "lex.h"

#define MAX_DEPTH 64

typedef struct parser
{
	gp_arena   *arena;
	gp_env	   *env;
	gp_lexer	lex;
	int			depth;
} parser;

static gp_ast *parse_sum(parser *p);
static gp_ast *parse_unary(parser *p);

/* Takes a symbol, or raises a syntax error. */
static void
expect(parser *p, char symbol)
{
	if (!gp_lex_take(&p->lex, symbol))
		gp_lex_error(&p->lex, NULL);
}

/* The text of the current token in lower case. */
static char *
folded_token(parser *p)
{
	char	   *folded = gp_arena_copy(p->arena, p->lex.token.start, p->lex.token.length);

	gp_ast_fold(folded);
	return folded;
}

/* A name, or a call with its arguments. */
static gp_ast *
parse_name(parser *p)
{
	gp_ast	   *call = gp_ast_named(p->arena, GP_AST_NAME, p->lex.token.position,
									 p->lex.token.start, p->lex.token.length);

	gp_lex_next(&p->lex);
	if (!gp_lex_take(&p->lex, '('))
		return call;
	call->kind = GP_AST_CALL;
	if (!gp_lex_at(&p->lex, ')'))
		do
		{
			/* arg := [ name "=" ] sum, added to a call */
			const char *key = NULL;

			if (p->lex.token.kind == GP_TOKEN_NAME && gp_lex_peek(&p->lex).symbol == '=')
			{
				key = folded_token(p);
				gp_lex_next(&p->lex);
				gp_lex_next(&p->lex);
			}
			gp_ast_add(p->arena, call, parse_sum(p), false, key);
		}
		while (gp_lex_take(&p->lex, ','));
	expect(p, ')');
	return call;
}

/* primary := number | name | call | "(" sum ")" */
static gp_ast *
parse_primary(parser *p)
{
	gp_token	token = p->lex.token;
	gp_ast	   *node;

	if (token.kind == GP_TOKEN_NAME)
		return parse_name(p);
	if (token.kind == GP_TOKEN_NUMBER)
	{
		node = gp_ast_make(p->arena, GP_AST_NUMBER, token.position);
		node->number = token.number;
		gp_lex_next(&p->lex);
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
	gp_ast	   *power;

	if (!gp_lex_take(&p->lex, '^'))
		return base;
	power = gp_ast_make(p->arena, GP_AST_POWER, base->position);
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
	if (gp_lex_take(&p->lex, '-'))
	{
		node = gp_ast_make(p->arena, GP_AST_NEGATE, position);
		gp_ast_add(p->arena, node, parse_unary(p), false, NULL);
	}
	else if (gp_lex_take(&p->lex, '+'))
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
	gp_ast	   *series;

	if (!gp_lex_at(&p->lex, plus) && !gp_lex_at(&p->lex, minus))
		return first;
	series = gp_ast_make(p->arena, kind, first->position);
	gp_ast_add(p->arena, series, first, false, NULL);
	while (gp_lex_at(&p->lex, plus) || gp_lex_at(&p->lex, minus))
	{
		bool		flip = gp_lex_at(&p->lex, minus);

		gp_lex_next(&p->lex);
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
	if (p->lex.token.kind != GP_TOKEN_NAME)
		gp_lex_error(&p->lex, "Options look like layers=3.");
	option.name = folded_token(p);
	option.spelled = gp_arena_copy(p->arena, p->lex.token.start, p->lex.token.length);
	option.position = p->lex.token.position;
	gp_lex_next(&p->lex);
	if (!gp_lex_take(&p->lex, '='))
		gp_lex_error(&p->lex, "Options look like layers=3.");
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
	gp_token	next;

	if (p->lex.token.kind != GP_TOKEN_NAME || gp_preset_find(folded_token(p)) == NULL)
		return false;
	next = gp_lex_peek(&p->lex);
	return next.kind == GP_TOKEN_END || next.symbol == '(' || next.symbol == ',';
}

/*
 * Raises an error at a first name that is neither a preset nor begins a formula:
 * most probably a preset with a typing error.
 */
static void
check_first_name(parser *p)
{
	gp_token	name = p->lex.token;
	gp_meant	meant = gp_meant_start(name.start, name.length);
	gp_token	next;

	if (name.kind != GP_TOKEN_NAME || gp_keyword_is(name.start, name.length))
		return;
	next = gp_lex_peek(&p->lex);
	if (next.kind != GP_TOKEN_END && next.symbol != '(' && next.symbol != ',')
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
	parser		p = {.arena = arena, .env = gp_arena_env(arena)};
	gp_kernel_text *text = gp_arena_alloc(arena, sizeof(gp_kernel_text));

	gp_lex_start(&p.lex, p.env, source, fixed);
	text->option = gp_arena_alloc(arena, GP_KERNEL_MAX_OPTIONS * sizeof(gp_option));
	text->position = p.lex.token.position;
	if (at_preset(&p))
	{
		text->preset = folded_token(&p);
		gp_lex_next(&p.lex);
		if (gp_lex_take(&p.lex, '('))
		{
			if (!gp_lex_at(&p.lex, ')'))
				do
					parse_option(&p, text);
				while (gp_lex_take(&p.lex, ','));
			expect(&p, ')');
		}
	}
	else
	{
		if (p.lex.token.kind == GP_TOKEN_END)
			gp_raise_at(p.env, GP_ERR_SYNTAX, p.lex.token.position, gp_preset_hint(p.arena),
						"kernel is empty");
		check_first_name(&p);
		text->formula = parse_sum(&p);
	}
	while (gp_lex_take(&p.lex, ','))
		parse_option(&p, text);
	if (p.lex.token.kind != GP_TOKEN_END)
		gp_lex_error(&p.lex, NULL);
	return text;
}

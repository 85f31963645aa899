/*
 * print.c - trees as text.
 *
 * What is printed reads back as the same tree: numbers with as many digits as that takes,
 * parentheses where the tree has them.
 */
#include "formula_internal.h"

/* How tightly trees hold together. */
static const int tightness[] = {
	[GP_AST_SUM] = 1,[GP_AST_PRODUCT] = 2,[GP_AST_NEGATE] = 3,[GP_AST_POWER] = 4,
	[GP_AST_NUMBER] = 5,[GP_AST_NAME] = 5,[GP_AST_CALL] = 5
};

/* A tree within another, in parentheses unless it holds at least so tightly. */
static void
add_tree(gp_text *text, const gp_layer *names, const gp_ast *ast, int least)
{
	bool		open = tightness[ast->kind] < least;

	gp_text_add(text, open ? "(" : "");
	gp_text_tree(text, names, ast);
	gp_text_add(text, open ? ")" : "");
}

/* A name of the language, of an option, or a word. */
static const char *
spelling(const gp_layer *names, const gp_ast *ast)
{
	const gp_constant *c = gp_layer_find(names, ast->lower);

	if (gp_keyword_is(ast->name, (int) strlen(ast->name)))
		return gp_keyword_is(ast->lower, (int) strlen(ast->lower)) ? ast->lower : ast->name;
	return c != NULL ? c->option->spelled : ast->lower;
}

void
gp_text_tree(gp_text *text, const gp_layer *names, const gp_ast *ast)
{
	bool		sum = ast->kind == GP_AST_SUM;

	gp_check_stack(gp_arena_env(text->arena));
	switch (ast->kind)
	{
		case GP_AST_NUMBER:
			gp_text_number(text, ast->number);
			break;
		case GP_AST_NAME:
			gp_text_add(text, "%s", spelling(names, ast));
			break;
		case GP_AST_CALL:
			gp_text_add(text, "%s(", spelling(names, ast));
			gp_text_tree(text, names, ast->arg[0]);
			gp_text_add(text, ")");
			break;
		case GP_AST_SUM:
		case GP_AST_PRODUCT:
			for (int i = 0; i < ast->n; i++)
			{
				if (i > 0 && sum)
					gp_text_add(text, ast->flip[i] ? " - " : " + ");
				else if (i > 0)
					gp_text_add(text, ast->flip[i] ? "/" : "*");
				add_tree(text, names, ast->arg[i], sum ? 2 : 3);
			}
			break;
		case GP_AST_POWER:
			add_tree(text, names, ast->arg[0], 5);
			gp_text_add(text, "^");
			add_tree(text, names, ast->arg[1], 3);
			break;
		case GP_AST_NEGATE:
			gp_text_add(text, "-");
			add_tree(text, names, ast->arg[0], 3);
			break;
	}
}

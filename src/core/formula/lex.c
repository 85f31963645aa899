/*
 * lex.c - from text to tokens.
 *
 * Positions count characters of UTF-8, as the server shows them, not bytes.
 * Numbers are read with strtod, so LC_NUMERIC must be "C", as it always is in
 * a server process.
 */
#include "lex.h"

#include <stdlib.h>

/* ASCII only, here and below: what a number or a name is must not depend on the locale. */
static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What a name begins with. */
static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* What separates tokens. */
static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
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
	int			exponent;

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
	exponent = n + 1;
	if (p[exponent] == '+' || p[exponent] == '-')
		exponent++;
	if (!is_digit(p[exponent]))
		return n;
	while (is_digit(p[exponent]))
		exponent++;
	return exponent;
}

void
gp_lex_next(gp_lexer *lex)
{
	gp_token   *token = &lex->token;

	while (is_space(*lex->at))
	{
		lex->at++;
		lex->position++;
	}
	memset(token, 0, sizeof(*token));
	token->start = lex->at;
	token->position = lex->fixed > 0 ? lex->fixed : lex->position;
	if (*lex->at == '\0')
		token->kind = GP_TOKEN_END;
	else if (is_digit(*lex->at) || (*lex->at == '.' && is_digit(lex->at[1])))
	{
		char	   *buffer;

		token->kind = GP_TOKEN_NUMBER;
		token->length = number_length(token->start);
		buffer = gp_alloc(lex->env, (size_t) token->length + 1);
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
		token->kind = GP_TOKEN_NAME;
		while (is_letter(lex->at[token->length]) || is_digit(lex->at[token->length]))
			token->length++;
	}
	else if (strchr("+-*/^(),=", *lex->at) != NULL)
	{
		token->kind = GP_TOKEN_SYMBOL;
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

void
gp_lex_start(gp_lexer *lex, gp_env *env, const char *text, int fixed)
{
	lex->env = env;
	lex->start = lex->at = text;
	lex->position = 1;
	lex->fixed = fixed;
	if (strnlen(text, GP_KERNEL_MAX_BYTES + 1) > GP_KERNEL_MAX_BYTES)
		gp_raise_at(env, GP_ERR_SYNTAX, fixed > 0 ? fixed : 1, NULL,
					"kernel is longer than %d bytes", GP_KERNEL_MAX_BYTES);
	gp_lex_next(lex);
}

bool
gp_lex_at(const gp_lexer *lex, char symbol)
{
	return lex->token.symbol == symbol;
}

bool
gp_lex_take(gp_lexer *lex, char symbol)
{
	bool		there = gp_lex_at(lex, symbol);

	if (there)
		gp_lex_next(lex);
	return there;
}

gp_token
gp_lex_peek(const gp_lexer *lex)
{
	gp_lexer	copy = *lex;

	gp_lex_next(&copy);
	return copy.token;
}

void
gp_lex_error(const gp_lexer *lex, const char *hint)
{
	const gp_token *token = &lex->token;
	int			open = 0;

	for (const char *s = lex->start; *s != '\0'; s++)
		open += (*s == '(') - (*s == ')');
	if (hint == NULL && token->kind == GP_TOKEN_END && open > 0)
		hint =
			"A parenthesis is open. In a list of kernels write ARRAY['gcn(layers=2, sigma_b=0.1)', 'mlp']: a literal '{...}' is cut at every comma.";
	if (token->kind == GP_TOKEN_END)
		gp_raise_at(lex->env, GP_ERR_SYNTAX, token->position, hint,
					"syntax error at end of kernel");
	gp_raise_at(lex->env, GP_ERR_SYNTAX, token->position, hint,
				"syntax error in kernel at \"%.*s\"",
				token->length > 40 ? 40 : token->length, token->start);
}

/* ---- names ---- */

int
gp_name_number(const char *name, size_t length, char letter)
{
	int			number = 0;

	if (length < 1 || length > 4 || name[0] != letter || (length > 1 && name[1] == '0'))
		return -1;
	for (size_t i = 1; i < length; i++)
	{
		if (!is_digit(name[i]))
			return -1;
		number = 10 * number + (name[i] - '0');
	}
	return number;
}

/* True when a piece of text is this word, in any case. */
static bool
is_word(const char *name, size_t length, const char *word)
{
	if (strlen(word) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (name[i] != word[i] && name[i] != word[i] - ('a' - 'A'))
			return false;
	return true;
}

bool
gp_keyword_is(const char *name, int length)
{
	static const char *const exact[] = {"X", "X0", "N", "A", "I", "P"};
	static const char *const any_case[] = {"l", "ln", "sqrt", "relu", "unit"};

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if ((size_t) length == strlen(exact[i]) && memcmp(name, exact[i], length) == 0)
			return true;
	for (size_t i = 0; i < sizeof(any_case) / sizeof(any_case[0]); i++)
		if (is_word(name, length, any_case[i]))
			return true;
	return gp_name_number(name, length, 'W') >= 0 || gp_name_number(name, length, 'b') >= 0;
}

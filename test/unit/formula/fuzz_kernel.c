/*
 * fuzz_kernel.c - any text through the kernel language.
 *
 * Whatever the text, reading it ends in a kernel or in an error at one of its
 * characters; the canonical text of a kernel reads back as itself and compiles to
 * the same program.  For a fuzzer:
 *
 *		clang -fsanitize=fuzzer,address,undefined -DGP_LIBFUZZER ...
 *
 * and without one, a program that runs the files given as arguments; "-" stands for kernels on
 * its standard input, one a line.
 */
#include "formula/formula.h"
#include "test_env.h"

#include <stdlib.h>

#define MAX_INPUT 6000

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program at a broken promise. */
static void
require(bool held, const char *promise, const char *text)
{
	if (held)
		return;
	fprintf(stderr, "broken: %s\nkernel: %s\n", promise, text);
	abort();
}

/* The characters of a text in UTF-8. */
static int
count_characters(const char *text)
{
	int			n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char) *text & 0xC0) != 0x80;
	return n;
}

/* True for equal operators, NULL being none. */
static bool
same_operator(const gp_operator *a, const gp_operator *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return memcmp(a, b, sizeof(gp_operator)) == 0;
}

/* Compares two programs, bit for bit. */
static void
require_same(const gp_program *a, const gp_program *b, const char *text)
{
	require(a->nsteps == b->nsteps && a->layers == b->layers && a->norm == b->norm &&
			memcmp(&a->input, &b->input, sizeof(gp_input)) == 0,
			"the canonical text has the same program", text);
	for (int i = 0; i < a->nsteps; i++)
	{
		const gp_step *s = &a->steps[i];
		const gp_step *t = &b->steps[i];

		require(s->kind == t->kind && s->arg0 == t->arg0 && s->arg1 == t->arg1 &&
				s->value == t->value && same_operator(s->op, t->op),
				"the canonical text has the same steps", text);
		require(s->arg0 < i && s->arg1 < i && s->value >= 0.0 && isfinite(s->value),
				"a step uses earlier steps and a finite variance", text);
	}
}

/* A text that was read: its canonical form reads back as itself. */
static void
check_kernel(gp_env *env, const char *text)
{
	gp_kernel  *kernel = gp_kernel_parse(env, text);
	char	   *canonical = gp_kernel_print(env, kernel);
	gp_program *program = gp_kernel_program(env, kernel);
	gp_kernel  *again = NULL;

	require(!test_catch(env, again = gp_kernel_parse(env, canonical)),
			"the canonical text can be read", text);
	require(strcmp(gp_kernel_print(env, again), canonical) == 0,
			"the canonical text prints as itself", text);
	require_same(program, gp_kernel_program(env, again), text);
}

/* One text. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	gp_env	   *env = test_env();

	if (size > MAX_INPUT)
		size = MAX_INPUT;
	char	   *text = malloc(size + 1);
	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (test_catch(env, check_kernel(env, text)))
	{
		const test_host *host = test_state(env);

		require(host->code == GP_ERR_SYNTAX || host->code == GP_ERR_VALUE,
				"errors are the text's", text);
		require(host->position >= 1, "errors point at a character", text);
		require(strcmp(host->message, "kernel has no canonical text") != 0,
				"every kernel has a canonical text", text);
		require(host->position <= count_characters(text) + 1,
				"errors point into the text", text);
	}
	test_env_close(env);
	free(text);
	return 0;
}

#ifndef GP_LIBFUZZER

/* Runs one file; false when it can't be read. */
static bool
run_file(const char *path)
{
	static uint8_t data[MAX_INPUT];
	FILE	   *file = fopen(path, "rb");

	if (file == NULL)
		return false;
	size_t		size = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	return true;
}

/* Runs each line of standard input. */
static bool
run_lines(void)
{
	static char line[MAX_INPUT];

	while (fgets(line, sizeof(line), stdin))
		LLVMFuzzerTestOneInput((const uint8_t *) line, strcspn(line, "\n"));
	return true;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!(strcmp(argv[i], "-") == 0 ? run_lines() : run_file(argv[i])))
		{
			fprintf(stderr, "%s cannot be read\n", argv[i]);
			return 1;
		}
	return 0;
}

#endif

/*
 * canon.c - kernels: from text to meaning, and back to canonical text.
 *
 * Two spellings of one kernel have one canonical text, which is what the database
 * stores and compares.  A kernel whose canonical text would not read back as the
 * same kernel is refused when it is made, never later.
 */
#include "formula_internal.h"
#include "lex.h"

#include <string.h>

struct gp_kernel
{
	gp_arena   *arena;
	gp_meaning	meaning;
	const char *text;			/* canonical */
};

/* The canonical text of a meaning, in the arena. */
const char *
gp_meaning_print(gp_arena *arena, const gp_meaning *meaning)
{
	gp_text		text = {.arena = arena};
	gp_names   *names = gp_arena_alloc(arena, sizeof(gp_names));
	gp_feature_facts facts = gp_feature_look(meaning->root);

	gp_names_collect(names, meaning->root);
	if (gp_text_preset(&text, meaning, names))
		return text.data;
	gp_text_feature(&text, names, meaning->root);
	if (facts.has_x && meaning->set.layers != 2)
		gp_text_add(&text, ", layers=%d", meaning->set.layers);
	gp_text_sigmas(&text, names);
	gp_text_input(&text, &meaning->set.input);
	if (facts.has_op && meaning->set.norm == GP_NORM_ROW)
		gp_text_add(&text, ", norm=row");
	gp_text_kernel_power(&text, meaning->set.power);
	return text.data;
}

/* Refuses a kernel whose canonical text does not read back as itself. */
static void
check_round_trip(gp_env *env, const gp_kernel *kernel, int position)
{
	gp_arena   *arena = gp_arena_create(env);
	gp_kernel_text *text;
	gp_meaning	again;

	if (strlen(kernel->text) > GP_KERNEL_MAX_BYTES)
		gp_raise_at(env, GP_ERR_SYNTAX, position, "Write a simpler kernel.",
					"canonical text of kernel is longer than %d bytes", GP_KERNEL_MAX_BYTES);
	text = gp_kernel_read(arena, kernel->text, position);
	again = gp_kernel_resolve(arena, text, 0, NULL, 0);
	if (gp_feature_compare(again.root, kernel->meaning.root) != 0 ||
		strcmp(gp_meaning_print(arena, &again), kernel->text) != 0)
		gp_raise_at(env, GP_ERR_SYNTAX, position, "Write a simpler kernel.",
					"kernel has no canonical text");
	gp_arena_free(arena);
}

/* Reads a kernel. */
gp_kernel *
gp_kernel_parse(gp_env *env, const char *source)
{
	gp_arena   *arena = gp_arena_create(env);
	gp_kernel  *kernel = gp_arena_alloc(arena, sizeof(gp_kernel));
	gp_kernel_text *text = gp_kernel_read(arena, source, 0);

	kernel->arena = arena;
	kernel->meaning = gp_kernel_resolve(arena, text, 0, NULL, 0);
	gp_free(env, gp_program_make(env, &kernel->meaning, text->position));
	kernel->text = gp_meaning_print(arena, &kernel->meaning);
	check_round_trip(env, kernel, text->position);
	return kernel;
}

/* The canonical text; belongs to env. */
char *
gp_kernel_print(gp_env *env, const gp_kernel *kernel)
{
	size_t		size = strlen(kernel->text) + 1;
	char	   *copy = gp_alloc(env, size);

	memcpy(copy, kernel->text, size);
	return copy;
}

/* The program; belongs to env. */
gp_program *
gp_kernel_compile(gp_env *env, const gp_kernel *kernel)
{
	return gp_program_make(env, &kernel->meaning, 0);
}

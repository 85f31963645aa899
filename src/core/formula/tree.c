/*
 * tree.c - the tree that the grammar makes, and the arena it lives in.
 *
 * Trees of kernels are hundreds of small pieces that end together, so they are
 * cut from larger blocks.  A bound on an arena's size is at once a bound on what
 * a hostile text can cost in memory and in time.
 */
#include "tree.h"

#define BLOCK_BYTES 8192
#define ARENA_LIMIT (16 * 1024 * 1024)

typedef struct arena_block
{
	struct arena_block *next;
	size_t		size;
	size_t		used;
} arena_block;

struct gp_arena
{
	gp_env	   *env;
	arena_block *block;
	size_t		total;
};

gp_arena *
gp_arena_create(gp_env *env)
{
	gp_arena   *arena = gp_alloc_zero(env, 1, sizeof(gp_arena));

	arena->env = env;
	return arena;
}

gp_env *
gp_arena_env(const gp_arena *arena)
{
	return arena->env;
}

void *
gp_arena_alloc(gp_arena *arena, size_t bytes)
{
	size_t		rounded = bytes > ARENA_LIMIT ? ARENA_LIMIT : (bytes + 15) & ~(size_t) 15;
	arena_block *block = arena->block;

	if (block == NULL || block->size - block->used < rounded)
	{
		size_t		size = sizeof(arena_block) + rounded;

		if (size < BLOCK_BYTES)
			size = BLOCK_BYTES;
		if (size > ARENA_LIMIT - arena->total)
			gp_raise_at(arena->env, GP_ERR_SYNTAX, 1, "Write a simpler kernel.",
						"kernel is too complex");
		block = gp_alloc(arena->env, size);
		*block = (arena_block) {arena->block, size, sizeof(arena_block)};
		arena->block = block;
		arena->total += size;
	}
	void	   *p = (char *) block + block->used;
	block->used += rounded;
	memset(p, 0, bytes);
	return p;
}

void *
gp_arena_grow(gp_arena *arena, const void *old, int n, int room, size_t size)
{
	void	   *items = gp_arena_alloc(arena, room * size);

	if (n > 0)
		memcpy(items, old, n * size);
	return items;
}

char *
gp_arena_copy(gp_arena *arena, const char *text, int length)
{
	char	   *copy = gp_arena_alloc(arena, (size_t) length + 1);

	memcpy(copy, text, length);
	return copy;
}

void
gp_arena_free(gp_arena *arena)
{
	arena_block *block = arena->block;

	while (block != NULL)
	{
		arena_block *next = block->next;

		gp_free(arena->env, block);
		block = next;
	}
	gp_free(arena->env, arena);
}

gp_ast *
gp_ast_make(gp_arena *arena, gp_ast_kind kind, int position)
{
	gp_ast	   *node = gp_arena_alloc(arena, sizeof(gp_ast));

	node->kind = kind;
	node->position = position;
	return node;
}

void
gp_ast_lower(char *text)
{
	for (; *text != '\0'; text++)
		*text = gp_lower(*text);
}

gp_ast *
gp_ast_named(gp_arena *arena, gp_ast_kind kind, int position, const char *start, int length)
{
	gp_ast	   *node = gp_ast_make(arena, kind, position);
	char	   *lower = gp_arena_copy(arena, start, length);

	gp_ast_lower(lower);
	node->name = gp_arena_copy(arena, start, length);
	node->lower = lower;
	return node;
}

void
gp_ast_add(gp_arena *arena, gp_ast *parent, gp_ast *arg, bool flip, const char *key)
{
	if (parent->n == parent->room)
	{
		int			room = parent->room > 0 ? 2 * parent->room : 2;

		parent->arg = gp_arena_grow(arena, parent->arg, parent->n, room, sizeof(gp_ast *));
		parent->flip = gp_arena_grow(arena, parent->flip, parent->n, room, sizeof(bool));
		parent->key = gp_arena_grow(arena, parent->key, parent->n, room, sizeof(char *));
		parent->room = room;
	}
	parent->arg[parent->n] = arg;
	parent->flip[parent->n] = flip;
	parent->key[parent->n] = key;
	parent->n++;
}

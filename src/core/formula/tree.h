/*
 * tree.h - the tree that the grammar makes, and the arena it lives in.
 */
#ifndef GP_TREE_H
#define GP_TREE_H

#include "base/base.h"

/* Small allocations that end together. */
typedef struct gp_arena gp_arena;

extern gp_arena *gp_arena_create(gp_env *env);
extern gp_env *gp_arena_env(const gp_arena *arena);

/* Zeroed memory.  Raises GP_ERR_SYNTAX when a kernel takes unreasonably much. */
extern void *gp_arena_alloc(gp_arena *arena, size_t bytes);

/* Room for more items than the n that old has, which are copied. */
extern void *gp_arena_grow(gp_arena *arena, const void *old, int n, int room, size_t size);
extern char *gp_arena_copy(gp_arena *arena, const char *text, int length);
extern void gp_arena_free(gp_arena *arena);

typedef enum gp_ast_kind
{
	GP_AST_NUMBER,
	GP_AST_NAME,
	GP_AST_CALL,				/* name(arg, key=arg, ...) */
	GP_AST_SUM,					/* flip: subtracted */
	GP_AST_PRODUCT,				/* flip: divided by */
	GP_AST_POWER,				/* arg[0] ^ arg[1] */
	GP_AST_NEGATE				/* - arg[0] */
} gp_ast_kind;

typedef struct gp_ast gp_ast;

struct gp_ast
{
	gp_ast_kind kind;
	int			position;		/* its first character */
	double		number;
	const char *name;			/* as written */
	const char *lower;			/* in lower case */
	int			n;
	int			room;
	gp_ast	  **arg;
	bool	   *flip;
	const char **key;			/* of a call's arguments, in lower case; NULL: none */
};

extern gp_ast *gp_ast_make(gp_arena *arena, gp_ast_kind kind, int position);
extern gp_ast *gp_ast_named(gp_arena *arena, gp_ast_kind kind, int position,
							const char *start, int length);
extern void gp_ast_add(gp_arena *arena, gp_ast *parent, gp_ast *arg, bool flip, const char *key);

/* Lower case of ASCII letters, in place. */
extern void gp_ast_lower(char *text);

/* An option as the text gives it. */
typedef struct gp_option
{
	const char *name;			/* in lower case */
	const char *spelled;		/* as written */
	int			position;
	gp_ast	   *value;
	bool		preset;			/* it comes from a preset's own text */
} gp_option;

#define GP_KERNEL_MAX_OPTIONS 512

/* A kernel's text, read by the grammar: one of preset and formula is set. */
typedef struct gp_kernel_text
{
	const char *preset;			/* the name, in lower case */
	gp_ast	   *formula;
	int			position;		/* of the preset or the formula */
	int			n;
	gp_option  *option;
} gp_kernel_text;

/*
 * Reads a text by the grammar alone.  When fixed > 0, every position is that one:
 * for texts that the user has not written.
 */
extern gp_kernel_text *gp_kernel_read(gp_arena *arena, const char *text, int fixed);

#endif							/* GP_TREE_H */

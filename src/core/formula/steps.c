/*
 * steps.c - the steps of a program.
 *
 * Equal steps are made once (value numbering); numbers are pulled out of operators, so that a
 * step is SCALE of OP of something.  The finished program has the steps that its root needs,
 * numbered in the order in which a walk from the root leaves them: equal kernels have equal
 * programs, whatever was made on the way.
 */
#include "base/hash_table.h"
#include "formula_internal.h"

struct gp_steps
{
	gp_arena   *arena;
	gp_env	   *env;
	int			n;
	int			room;
	gp_step    *step;
	gp_places	places;			/* of the buckets */
	int		   *bucket;			/* step + 1, by hash; 0: free */
	int			nops;
	int			ops_room;
	const gp_operator **op;
};

gp_steps *
gp_steps_create(gp_arena *arena)
{
	gp_steps   *b = gp_arena_alloc(arena, sizeof(gp_steps));

	b->arena = arena;
	b->env = gp_arena_env(arena);
	return b;
}

/* ---- value numbering ---- */

/* The bucket of a step, or the free one where it belongs. */
static int *
find_bucket(gp_steps *b, const gp_step *s)
{
	double		value = gp_number_rounded(s->value);
	uint64_t	hash = b->env->hash_seed;
	uint64_t	at;

	hash = gp_hash(hash ^ (uint64_t) s->kind);
	hash = gp_hash(hash ^ ((uint64_t) (s->arg0 + 1) << 32 | (uint64_t) (s->arg1 + 1)));
	hash = gp_hash(hash ^ gp_bits_at(&value, GP_DOUBLE, 0));
	hash = gp_hash(hash ^ (uint64_t) (uintptr_t) s->op);
	for (at = gp_first_place(&b->places, hash); b->bucket[at] != 0;
		 at = gp_next_place(&b->places, at))
	{
		const gp_step *other = &b->step[b->bucket[at] - 1];

		if (other->kind == s->kind && other->arg0 == s->arg0 && other->arg1 == s->arg1 &&
			gp_number_compare(other->value, s->value) == 0 && other->op == s->op)
			break;
	}
	return &b->bucket[at];
}

/* The number of a step, which is made when there is none like it. */
static int
add_step(gp_steps *b, gp_step_kind kind, int arg0, int arg1, double value, const gp_operator *op)
{
	gp_step		s = {kind, arg0, arg1, value, op};

	if (b->n == b->room)
	{
		int			room = b->room > 0 ? 2 * b->room : 32;

		b->step = gp_arena_grow(b->arena, b->step, b->n, room, sizeof(gp_step));
		b->room = room;
		b->places = gp_places_open(b->env, 2 * (uint64_t) room);
		b->bucket = gp_arena_alloc(b->arena, 2 * room * sizeof(int));
		for (int i = 0; i < b->n; i++)
			*find_bucket(b, &b->step[i]) = i + 1;
	}
	int		   *bucket = find_bucket(b, &s);
	if (*bucket == 0)
	{
		b->step[b->n++] = s;
		*bucket = b->n;
	}
	return *bucket - 1;
}

/* The one copy of an operator, so that equal ones have one address. */
static const gp_operator *
add_operator(gp_steps *b, const gp_operator *op)
{
	for (int i = 0; i < b->nops; i++)
		if (gp_operator_compare(b->op[i], op) == 0)
			return b->op[i];
	if (b->nops == b->ops_room)
	{
		b->ops_room = b->ops_room > 0 ? 2 * b->ops_room : 8;
		b->op = gp_arena_grow(b->arena, b->op, b->nops, b->ops_room, sizeof(gp_operator *));
	}
	gp_operator *copy = gp_arena_alloc(b->arena, sizeof(gp_operator));
	memcpy(copy, op, sizeof(gp_operator));
	b->op[b->nops++] = copy;
	return copy;
}

/* ---- steps ---- */

int
gp_step_source(gp_steps *b, gp_step_kind kind)
{
	return add_step(b, kind, -1, -1, 0.0, NULL);
}

int
gp_step_bias(gp_steps *b, double value)
{
	return value == 0.0 ? GP_ZERO : add_step(b, GP_STEP_BIAS, -1, -1, value, NULL);
}

int
gp_step_scale(gp_steps *b, double value, int arg)
{
	if (arg == GP_ZERO)
		return GP_ZERO;
	if (b->step[arg].kind == GP_STEP_BIAS)
		return gp_step_bias(b, value * b->step[arg].value);
	if (b->step[arg].kind == GP_STEP_SCALE)
	{
		value *= b->step[arg].value;
		arg = b->step[arg].arg0;
	}
	if (value == 0.0)
		return GP_ZERO;
	return value == 1.0 ? arg : add_step(b, GP_STEP_SCALE, arg, -1, value, NULL);
}

int
gp_step_unit(gp_steps *b, int arg)
{
	if (arg != GP_ZERO && b->step[arg].kind == GP_STEP_SCALE)
		arg = b->step[arg].arg0;
	if (arg == GP_ZERO || b->step[arg].kind == GP_STEP_UNIT)
		return arg;
	if (b->step[arg].kind == GP_STEP_BIAS)
		return gp_step_bias(b, 1.0);
	return add_step(b, GP_STEP_UNIT, arg, -1, 0.0, NULL);
}

int
gp_step_relu(gp_steps *b, int arg)
{
	return arg == GP_ZERO ? GP_ZERO : add_step(b, GP_STEP_RELU, arg, -1, 0.0, NULL);
}

/* True for A^k: powers of A over powers of A are one power. */
static bool
is_power_of_a(const gp_operator *op)
{
	return op->nterms == 1 && op->np == 0;
}

int
gp_step_op(gp_steps *b, const gp_operator *op, int arg)
{
	if (arg == GP_ZERO)
		return GP_ZERO;
	const gp_step *s = &b->step[arg];
	if (s->kind == GP_STEP_SCALE)
	{
		double		value = s->value;	/* s may move */

		return gp_step_scale(b, value, gp_step_op(b, op, s->arg0));
	}
	if (s->kind == GP_STEP_OP && is_power_of_a(op) && is_power_of_a(s->op) &&
		op->term[0].power_a + s->op->term[0].power_a <= GP_MAX_POWER)
	{
		gp_operator merged;

		memcpy(&merged, op, sizeof(merged));
		merged.term[0].power_a += s->op->term[0].power_a;
		arg = s->arg0;
		return add_step(b, GP_STEP_OP, arg, -1, 0.0, add_operator(b, &merged));
	}
	return add_step(b, GP_STEP_OP, arg, -1, 0.0, add_operator(b, op));
}

int
gp_step_sum(gp_steps *b, int x, int y)
{
	if (x == GP_ZERO || y == GP_ZERO)
		return x == GP_ZERO ? y : x;
	const gp_step *s = &b->step[x];
	const gp_step *t = &b->step[y];
	if (s->kind == GP_STEP_BIAS && t->kind == GP_STEP_BIAS)
		return gp_step_bias(b, s->value + t->value);
	int			core_x = s->kind == GP_STEP_SCALE ? s->arg0 : x;
	int			core_y = t->kind == GP_STEP_SCALE ? t->arg0 : y;
	if (core_x == core_y)
		return gp_step_scale(b, (s->kind == GP_STEP_SCALE ? s->value : 1.0) +
							 (t->kind == GP_STEP_SCALE ? t->value : 1.0), core_x);
	return add_step(b, GP_STEP_SUM, x, y, 0.0, NULL);
}

double
gp_step_value(const gp_steps *b, int step)
{
	return step == GP_ZERO ? 0.0 : b->step[step].value;
}

/* ---- order ---- */

int
gp_step_terms(const gp_steps *b, int step, int whole, int *term)
{
	int			n = 0;

	for (; step != GP_ZERO; n++)
	{
		bool		sum = step != whole && b->step[step].kind == GP_STEP_SUM;

		if (term != NULL)
			term[n] = sum ? b->step[step].arg1 : step;
		step = sum ? b->step[step].arg0 : GP_ZERO;
	}
	return n;
}

/* The place of a kind in sums: biases come last. */
static int
kind_rank(gp_step_kind kind)
{
	static const int rank[] = {
		[GP_STEP_RELU] = 0,[GP_STEP_UNIT] = 1,[GP_STEP_INPUT] = 2,[GP_STEP_LISTS] = 3,
		[GP_STEP_SUM] = 4,[GP_STEP_BIAS] = 5,[GP_STEP_SCALE] = 6,[GP_STEP_OP] = 7
	};
	_Static_assert(sizeof(rank) == GP_STEP_KINDS * sizeof(rank[0]), "each kind of step has a rank");

	return rank[kind];
}

int
gp_steps_compare(const gp_steps *b, int x, int y)
{
	while (x != y)
	{
		const gp_step *s = &b->step[x];
		const gp_step *t = &b->step[y];
		double		value_x = s->kind == GP_STEP_SCALE ? s->value : 1.0;
		double		value_y = t->kind == GP_STEP_SCALE ? t->value : 1.0;

		/* A step is a number times an operator over something. */
		s = s->kind == GP_STEP_SCALE ? &b->step[s->arg0] : s;
		t = t->kind == GP_STEP_SCALE ? &b->step[t->arg0] : t;
		if (s == t)
			return value_x < value_y ? -1 : 1;
		const gp_operator *op_x = s->op;
		const gp_operator *op_y = t->op;
		s = op_x != NULL ? &b->step[s->arg0] : s;
		t = op_y != NULL ? &b->step[t->arg0] : t;

		/* What stands there first, then what it is made of. */
		int			order = (s->kind == GP_STEP_BIAS) - (t->kind == GP_STEP_BIAS);
		order = order != 0 ? order : gp_operator_compare(op_x, op_y);
		order = order != 0 ? order : kind_rank(s->kind) - kind_rank(t->kind);
		if (order == 0 && s->kind == GP_STEP_BIAS)
			order = s->value < t->value ? -1 : 1;
		if (order == 0 && s->kind == GP_STEP_SUM)
			order = gp_step_terms(b, (int) (t - b->step), GP_ZERO, NULL) -
				gp_step_terms(b, (int) (s - b->step), GP_ZERO, NULL);
		if (order != 0)
			return order;
		if (s->kind == GP_STEP_OP)
		{
			x = (int) (s - b->step);
			y = (int) (t - b->step);
			continue;
		}
		x = s->arg0 != t->arg0 ? s->arg0 : s->arg1;
		y = s->arg0 != t->arg0 ? t->arg0 : t->arg1;
	}
	return 0;
}

/* ---- the finished program ---- */

/* Numbers the steps that the root needs in the order in which a walk leaves them. */
static int
number_live(const gp_steps *b, int root, int *number)
{
	int		   *stack = gp_arena_alloc(b->arena, (b->n + 1) * sizeof(int));
	int			depth = 0;
	int			live = 0;

	for (int i = 0; i < b->n; i++)
		number[i] = -1;
	stack[depth++] = root;
	while (depth > 0)
	{
		int			at = stack[depth - 1];
		const gp_step *s = &b->step[at];

		if (s->arg0 >= 0 && number[s->arg0] < 0)
			stack[depth++] = s->arg0;
		else if (s->arg1 >= 0 && number[s->arg1] < 0)
			stack[depth++] = s->arg1;
		else
		{
			number[at] = live++;
			depth--;
		}
	}
	return live;
}

/* Steps and operators are in one block with the program, so that gp_free frees it all. */
gp_program *
gp_steps_finish(const gp_steps *b, const gp_kernel_options *set, int root)
{
	int		   *number = gp_arena_alloc(b->arena, (b->n + 1) * sizeof(int));
	int			live = number_live(b, root, number);
	gp_program *program = gp_alloc_zero(b->env, 1, sizeof(gp_program) + live * sizeof(gp_step) +
										b->nops * sizeof(gp_operator));
	gp_operator *ops = (gp_operator *) (program + 1);
	bool		has_input = false;
	bool		has_op = false;

	program->power = set->power;
	program->open_power = set->open_power;
	program->layers = set->layers;
	program->nsteps = live;
	program->steps = (gp_step *) (ops + b->nops);
	for (int i = 0; i < b->nops; i++)
		memcpy(&ops[i], b->op[i], sizeof(gp_operator));
	for (int i = 0; i < b->n; i++)
		if (number[i] >= 0)
		{
			gp_step    *step = &program->steps[number[i]];

			*step = b->step[i];
			step->arg0 = step->arg0 >= 0 ? number[step->arg0] : -1;
			step->arg1 = step->arg1 >= 0 ? number[step->arg1] : -1;
			for (int k = 0; step->op != NULL && k < b->nops; k++)
				if (b->op[k] == b->step[i].op)
					step->op = &ops[k];
			has_input = has_input || step->kind == GP_STEP_INPUT;
			has_op = has_op || step->kind == GP_STEP_OP;
		}
	/* What no step needs is at its default, for equal kernels to be equal. */
	program->input = has_input ? set->input : (gp_input) {.kind = GP_INPUT_LINEAR};
	program->norm = has_op ? set->norm : GP_NORM_SYM;
	return program;
}

/* ---- whole programs ---- */

gp_program *
gp_program_copy(gp_env *env, const gp_program *program)
{
	const char *start = (const char *) program;
	size_t		bytes = (size_t) ((const char *) (program->steps + program->nsteps) - start);
	gp_program *copy = gp_alloc(env, bytes);

	memcpy(copy, program, bytes);
	copy->steps = (gp_step *) ((char *) copy + ((const char *) program->steps - start));
	for (int i = 0; i < copy->nsteps; i++)
		if (copy->steps[i].op != NULL)
			copy->steps[i].op = (const gp_operator *)
				((char *) copy + ((const char *) copy->steps[i].op - start));
	return copy;
}

void
gp_program_key(gp_text *text, const gp_program *p)
{
	gp_text_add(text, "%d %d %d", (int) p->input.kind, (int) p->norm, p->open_power);
	gp_text_key(text, p->power);
	for (int i = 0; i < GP_MAX_PARAMETERS; i++)
		gp_text_key(text, p->input.p[i]);
	for (int i = 0; i < p->nsteps; i++)
	{
		const gp_step *s = &p->steps[i];
		int			np = s->op != NULL ? s->op->np : 0;
		int			nterms = s->op != NULL ? s->op->nterms : 0;

		gp_text_add(text, " %d %d %d %d %d", (int) s->kind, s->arg0, s->arg1, np, nterms);
		gp_text_key(text, s->value);
		for (int k = 0; k < np; k++)
			gp_text_key(text, s->op->p_alpha[k]);
		for (int t = 0; t < nterms; t++)
		{
			gp_text_key(text, s->op->term[t].coef);
			gp_text_add(text, " %d", s->op->term[t].power_a);
			for (int k = 0; k < np; k++)
				gp_text_add(text, " %d", s->op->term[t].power_p[k]);
		}
	}
}

bool
gp_program_is_laplacian(const gp_program *program)
{
	return program->nsteps == 1 && program->power == 1.0 &&
		program->steps[0].kind == GP_STEP_INPUT &&
		program->input.kind == GP_INPUT_LAPLACIAN && program->input.p[GP_LAPLACIAN_DIMS] == 0.0;
}

/*
 * program.c - from a canonical tree to the steps of a program.
 *
 * The layers are unrolled with the values of l put in.  Equal steps are made
 * once (value numbering); numbers are pulled out of operators, so that a step is
 * SCALE of OP of something; steps that the kernel does not need are dropped.
 */
#include "base/hash_table.h"
#include "formula_internal.h"

#include <math.h>
#include <string.h>

#define ZERO (-1)				/* in place of a step: a covariance of zero */

/* A program that is being put together. */
typedef struct builder
{
	gp_arena   *arena;
	gp_env	   *env;
	int			position;		/* of the kernel, for errors */
	int			layer;
	int			previous;		/* the root of the layer before */
	int			n;
	int			room;
	gp_step    *step;
	gp_places	places;			/* of the buckets */
	int		   *bucket;			/* step + 1, by hash; 0: free */
	int			nops;
	int			ops_room;
	const gp_operator **op;
} builder;

/* Refuses a number that is not finite. */
static double
check_finite(const builder *b, double value, const gp_feature *f)
{
	if (!isfinite(value))
		gp_raise_at(b->env, GP_ERR_VALUE, b->position > 0 && f != NULL ? f->position : b->position,
					NULL, "variance of kernel is not finite in layer %d", b->layer);
	return value;
}

/* ---- value numbering ---- */

/* Mixes a word into a hash (FNV-1a, a word at a time). */
static uint64_t
mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x100000001b3);
	return hash ^ (hash >> 29);
}

/* The hash of a step. */
static uint64_t
hash_step(const builder *b, const gp_step *s)
{
	uint64_t	hash = UINT64_C(0xcbf29ce484222325) ^ b->env->hash_seed;
	uint64_t	bits;

	memcpy(&bits, &s->value, sizeof(bits));
	hash = mix(hash, (uint64_t) s->kind);
	hash = mix(hash, (uint64_t) (s->arg0 + 1) << 32 | (uint64_t) (s->arg1 + 1));
	hash = mix(hash, bits);
	return mix(hash, (uint64_t) (uintptr_t) s->op);
}

/* True for equal steps. */
static bool
same_step(const gp_step *a, const gp_step *b)
{
	return a->kind == b->kind && a->arg0 == b->arg0 && a->arg1 == b->arg1 &&
		a->value == b->value && a->op == b->op;
}

/* The bucket of a step, or the free one where it belongs. */
static int *
find_bucket(builder *b, const gp_step *s)
{
	uint64_t	at = gp_first_place(&b->places, hash_step(b, s));

	while (b->bucket[at] != 0 && !same_step(&b->step[b->bucket[at] - 1], s))
		at = gp_next_place(&b->places, at);
	return &b->bucket[at];
}

/* Doubles the room for steps and their buckets. */
static void
grow(builder *b)
{
	int			room = b->room > 0 ? 2 * b->room : 32;

	b->step = gp_arena_grow(b->arena, b->step, b->n, room, sizeof(gp_step));
	b->room = room;
	b->places = gp_places_open(b->env, 2 * (uint64_t) room);
	b->bucket = gp_arena_alloc(b->arena, 2 * room * sizeof(int));
	for (int i = 0; i < b->n; i++)
		*find_bucket(b, &b->step[i]) = i + 1;
}

/* The number of a step, which is made when there is none like it. */
static int
add_step(builder *b, gp_step_kind kind, int arg0, int arg1, double value, const gp_operator *op)
{
	gp_step		s = {kind, arg0, arg1, value, op};
	int		   *bucket;

	if (b->n == b->room)
		grow(b);
	bucket = find_bucket(b, &s);
	if (*bucket == 0)
	{
		b->step[b->n++] = s;
		*bucket = b->n;
	}
	return *bucket - 1;
}

/* The one copy of an operator, so that equal ones have one address. */
static const gp_operator *
add_operator(builder *b, const gp_operator *op)
{
	gp_operator *copy;

	for (int i = 0; i < b->nops; i++)
		if (memcmp(b->op[i], op, sizeof(gp_operator)) == 0)
			return b->op[i];
	if (b->nops == b->ops_room)
	{
		b->ops_room = b->ops_room > 0 ? 2 * b->ops_room : 8;
		b->op = gp_arena_grow(b->arena, b->op, b->nops, b->ops_room, sizeof(gp_operator *));
	}
	copy = gp_arena_alloc(b->arena, sizeof(gp_operator));
	memcpy(copy, op, sizeof(gp_operator));
	b->op[b->nops++] = copy;
	return copy;
}

/* ---- steps ---- */

/* The input. */
static int
step_input(builder *b)
{
	return add_step(b, GP_STEP_INPUT, -1, -1, 0.0, NULL);
}

/* The lists of neighbours. */
static int
step_lists(builder *b)
{
	return add_step(b, GP_STEP_LISTS, -1, -1, 0.0, NULL);
}

/* A bias; none where its variance is zero. */
static int
step_bias(builder *b, double value)
{
	return value == 0.0 ? ZERO : add_step(b, GP_STEP_BIAS, -1, -1, value, NULL);
}

/* value times a step; numbers merge. */
static int
step_scale(builder *b, double value, int arg, const gp_feature *f)
{
	if (arg == ZERO)
		return ZERO;
	if (b->step[arg].kind == GP_STEP_SCALE || b->step[arg].kind == GP_STEP_BIAS)
		value = check_finite(b, value * b->step[arg].value, f);
	if (b->step[arg].kind == GP_STEP_BIAS)
		return step_bias(b, value);
	if (b->step[arg].kind == GP_STEP_SCALE)
		arg = b->step[arg].arg0;
	if (value == 0.0)
		return ZERO;
	return value == 1.0 ? arg : add_step(b, GP_STEP_SCALE, arg, -1, value, NULL);
}

/* A step over the mean of its diagonal, which takes a number before it away. */
static int
step_unit(builder *b, int arg)
{
	if (arg == ZERO || b->step[arg].kind == GP_STEP_UNIT)
		return arg;
	if (b->step[arg].kind == GP_STEP_BIAS)
		return step_bias(b, 1.0);
	if (b->step[arg].kind == GP_STEP_SCALE)
		return step_unit(b, b->step[arg].arg0);
	return add_step(b, GP_STEP_UNIT, arg, -1, 0.0, NULL);
}

/* True for A^k: powers of A over powers of A are one power. */
static bool
is_power_of_a(const gp_operator *op)
{
	return op->nterms == 1 && op->np == 0;
}

/* An operator on a step; it passes through numbers. */
static int
step_op(builder *b, const gp_operator *op, int arg, const gp_feature *f)
{
	if (arg == ZERO)
		return ZERO;
	if (b->step[arg].kind == GP_STEP_SCALE)
	{
		double		value = b->step[arg].value;

		return step_scale(b, value, step_op(b, op, b->step[arg].arg0, f), f);
	}
	if (b->step[arg].kind == GP_STEP_OP && is_power_of_a(op) && is_power_of_a(b->step[arg].op) &&
		op->term[0].power_a + b->step[arg].op->term[0].power_a <= GP_MAX_POWER)
	{
		gp_operator merged;

		memcpy(&merged, op, sizeof(merged));
		merged.term[0].power_a += b->step[arg].op->term[0].power_a;
		op = add_operator(b, &merged);
		arg = b->step[arg].arg0;
	}
	return add_step(b, GP_STEP_OP, arg, -1, 0.0, op);
}

/* The sum of two steps; multiples of one step, and biases, merge. */
static int
step_sum(builder *b, int x, int y, const gp_feature *f)
{
	const gp_step *s;
	const gp_step *t;
	int			core_x;
	int			core_y;

	if (x == ZERO || y == ZERO)
		return x == ZERO ? y : x;
	s = &b->step[x];
	t = &b->step[y];
	if (s->kind == GP_STEP_BIAS && t->kind == GP_STEP_BIAS)
		return step_bias(b, check_finite(b, s->value + t->value, f));
	core_x = s->kind == GP_STEP_SCALE ? s->arg0 : x;
	core_y = t->kind == GP_STEP_SCALE ? t->arg0 : y;
	if (core_x == core_y)
	{
		double		value = (s->kind == GP_STEP_SCALE ? s->value : 1.0) +
			(t->kind == GP_STEP_SCALE ? t->value : 1.0);

		return step_scale(b, check_finite(b, value, f), core_x, f);
	}
	return add_step(b, GP_STEP_SUM, x, y, 0.0, NULL);
}

/* ---- operators of a layer ---- */

/* The place of an alpha among the ascending ones; it is added when it is new. */
static void
add_alpha(gp_operator *op, double alpha)
{
	int			at = 0;

	while (at < op->np && op->p_alpha[at] < alpha)
		at++;
	if (at < op->np && op->p_alpha[at] == alpha)
		return;
	memmove(&op->p_alpha[at + 1], &op->p_alpha[at], (op->np - at) * sizeof(double));
	op->p_alpha[at] = alpha;
	op->np++;
}

/* The place of an alpha; -1 for 1, since P(1) is I. */
static int
find_alpha(const gp_operator *op, double alpha)
{
	for (int i = 0; i < op->np; i++)
		if (op->p_alpha[i] == alpha)
			return i;
	return -1;
}

/* Adds a monomial, or its number to the one with the same powers. */
static void
add_monomial(gp_operator *op, const gp_monomial *term)
{
	int			at = 0;
	int			order = -1;

	while (at < op->nterms &&
		   (order = gp_poly_compare_powers(term->power_a, term->power_p, op->term[at].power_a,
										   op->term[at].power_p)) > 0)
		at++;
	if (at < op->nterms && order == 0)
	{
		op->term[at].coef += term->coef;
		return;
	}
	memmove(&op->term[at + 1], &op->term[at], (op->nterms - at) * sizeof(gp_monomial));
	memcpy(&op->term[at], term, sizeof(gp_monomial));
	op->nterms++;
}

/* Drops monomials of zero; what is unused stays zero bytes, for memcmp. */
static void
drop_zeros(gp_operator *op)
{
	int			kept = 0;

	for (int i = 0; i < op->nterms; i++)
		if (op->term[i].coef != 0.0)
			memmove(&op->term[kept++], &op->term[i], sizeof(gp_monomial));
	memset(&op->term[kept], 0, (GP_MAX_TERMS - kept) * sizeof(gp_monomial));
	op->nterms = kept;
}

/* Forgets alphas that no monomial has. */
static void
drop_alphas(gp_operator *op)
{
	for (int i = op->np - 1; i >= 0; i--)
	{
		int			uses = 0;

		for (int t = 0; t < op->nterms; t++)
			uses += op->term[t].power_p[i];
		if (uses > 0)
			continue;
		op->np--;
		memmove(&op->p_alpha[i], &op->p_alpha[i + 1], (op->np - i) * sizeof(double));
		op->p_alpha[op->np] = 0.0;
		for (int t = 0; t < op->nterms; t++)
		{
			memmove(&op->term[t].power_p[i], &op->term[t].power_p[i + 1],
					(GP_MAX_P - 1 - i) * sizeof(int));
			op->term[t].power_p[GP_MAX_P - 1] = 0;
		}
	}
}

/* A polynomial with the values of the layer put in. */
static void
evaluate_operator(const builder *b, const gp_feature *f, gp_operator *op)
{
	const gp_poly *p = f->op;
	double		alpha[GP_MAX_P];

	memset(op, 0, sizeof(*op));
	for (int i = 0; i < p->np; i++)
	{
		alpha[i] = gp_scalar_eval(p->alpha[i], b->layer);
		if (!(alpha[i] >= GP_MIN_P && alpha[i] <= 1.0))
			gp_raise_at(b->env, GP_ERR_VALUE, b->position > 0 ? f->position : 0, NULL,
						"teleport probability %g of P is not between %g and 1", alpha[i], GP_MIN_P);
		if (alpha[i] < 1.0)
			add_alpha(op, alpha[i]);
	}
	for (int t = 0; t < p->n; t++)
	{
		gp_monomial term;

		memset(&term, 0, sizeof(term));
		term.coef = check_finite(b, gp_scalar_eval(p->term[t].coef, b->layer), f);
		term.power_a = p->term[t].power_a;
		for (int i = 0; i < p->np; i++)
			if (alpha[i] < 1.0)
				term.power_p[find_alpha(op, alpha[i])] += p->term[t].power_p[i];
		add_monomial(op, &term);
	}
	drop_zeros(op);
	drop_alphas(op);
}

/* An operator on a step; the number of a single monomial multiplies *factor. */
static int
build_operator(builder *b, const gp_feature *f, int arg, double *factor)
{
	gp_operator op;

	if (f->op == NULL)
		return arg;
	evaluate_operator(b, f, &op);
	if (op.nterms == 0)
		return ZERO;
	if (op.nterms == 1)
	{
		*factor *= op.term[0].coef;
		op.term[0].coef = 1.0;
		if (op.term[0].power_a == 0 && op.np == 0)
			return arg;
	}
	return step_op(b, add_operator(b, &op), arg, f);
}

/* ---- features of a layer ---- */

static int	build(builder *b, const gp_feature *f);

/* The variance of id*I + coef*W + ...: id^2 + coef^2 sigma^2 + ... */
static double
mix_variance(const builder *b, const gp_mix *m)
{
	double		id = m->id != NULL ? gp_scalar_eval(m->id, b->layer) : 0.0;
	double		variance = id * id;

	for (int i = 0; i < m->n; i++)
	{
		double		coef = gp_scalar_eval(m->coef[i], b->layer);
		double		sigma = gp_scalar_eval(m->sigma[i], b->layer);

		variance += coef * coef * (sigma * sigma);
	}
	return variance;
}

/* number * operator * feature * weights */
static int
build_term(builder *b, const gp_feature *f)
{
	double		factor = gp_scalar_eval(f->coef, b->layer);
	int			arg = build(b, f->arg[0]);
	double		value;

	arg = build_operator(b, f, arg, &factor);
	value = factor * factor;
	for (int i = 0; i < f->weight->n; i++)
		value *= mix_variance(b, f->weight->mix[i]);
	return step_scale(b, check_finite(b, value, f), arg, f);
}

/* relu(X) is X0 in the first layer: the input is no pre-activation. */
static int
build_relu(builder *b, const gp_feature *f)
{
	int			arg = build(b, f->arg[0]);

	if (arg == ZERO || (b->layer == 1 && f->arg[0]->kind == GP_FEATURE_X))
		return arg;
	return add_step(b, GP_STEP_RELU, arg, -1, 0.0, NULL);
}

/* Terms in their order, two by two. */
static int
build_sum(builder *b, const gp_feature *f)
{
	int			sum = ZERO;

	for (int i = 0; i < f->n; i++)
		sum = step_sum(b, sum, build(b, f->arg[i]), f);
	return sum;
}

/* The step that has a feature's covariance, or ZERO. */
static int
build(builder *b, const gp_feature *f)
{
	double		sigma;

	gp_check_stack(b->env);
	switch (f->kind)
	{
		case GP_FEATURE_X:
			/* The layer before; in the first layer, where none is, the input. */
			return b->layer == 1 ? step_input(b) : b->previous;
		case GP_FEATURE_X0:
			return step_input(b);
		case GP_FEATURE_N:
			return step_lists(b);
		case GP_FEATURE_UNIT:
			return step_unit(b, build(b, f->arg[0]));
		case GP_FEATURE_BIAS:
			sigma = gp_scalar_eval(f->sigma, b->layer);
			return step_bias(b, check_finite(b, sigma * sigma, f));
		case GP_FEATURE_RELU:
			return build_relu(b, f);
		case GP_FEATURE_TERM:
			return build_term(b, f);
		case GP_FEATURE_SUM:
			return build_sum(b, f);
	}
	return ZERO;
}

/* ---- the finished program ---- */

/* Numbers the steps that the root needs, in order; returns how many. */
static int
number_live(const builder *b, int root, int *number)
{
	int			live = 0;

	for (int i = 0; i <= root; i++)
		number[i] = 0;
	number[root] = 1;
	for (int i = root; i >= 0; i--)
		if (number[i] != 0)
		{
			if (b->step[i].arg0 >= 0)
				number[b->step[i].arg0] = 1;
			if (b->step[i].arg1 >= 0)
				number[b->step[i].arg1] = 1;
		}
	for (int i = 0; i <= root; i++)
		number[i] = number[i] != 0 ? live++ : -1;
	return live;
}

/* The copy of an operator in the finished program. */
static const gp_operator *
move_operator(const builder *b, const gp_operator *from, gp_operator *ops)
{
	for (int i = 0; i < b->nops; i++)
		if (b->op[i] == from)
			return &ops[i];
	return NULL;
}

/* Copies the live steps and the operators into one block, so that gp_free frees it all. */
static gp_program *
finish(const builder *b, const gp_kernel_options *set, int root)
{
	int		   *number = gp_arena_alloc(b->arena, (root + 1) * sizeof(int));
	int			live = number_live(b, root, number);
	gp_program *program = gp_alloc_zero(b->env, 1, sizeof(gp_program) + live * sizeof(gp_step) +
										b->nops * sizeof(gp_operator));
	gp_operator *ops = (gp_operator *) (program + 1);

	program->input = set->input;
	program->norm = set->norm;
	program->power = set->power;
	program->layers = set->layers;
	program->nsteps = live;
	program->steps = (gp_step *) (ops + b->nops);
	for (int i = 0; i < b->nops; i++)
		ops[i] = *b->op[i];
	for (int i = 0; i <= root; i++)
		if (number[i] >= 0)
		{
			gp_step    *step = &program->steps[number[i]];

			*step = b->step[i];
			step->arg0 = step->arg0 >= 0 ? number[step->arg0] : -1;
			step->arg1 = step->arg1 >= 0 ? number[step->arg1] : -1;
			step->op = step->op != NULL ? move_operator(b, step->op, ops) : NULL;
		}
	return program;
}

/* The program of a meaning; raises when the kernel is zero or not finite. */
gp_program *
gp_program_make(gp_env *env, const gp_meaning *meaning, int position)
{
	builder		b = {.env = env, .position = position, .previous = ZERO};
	gp_program *program;

	b.arena = gp_arena_create(env);
	for (b.layer = 1; meaning->root != NULL && b.layer <= meaning->set.layers; b.layer++)
		b.previous = build(&b, meaning->root);
	if (b.previous == ZERO)
		gp_raise_at(env, GP_ERR_VALUE, position, "A factor of the kernel is zero.",
					"the kernel is zero");
	program = finish(&b, &meaning->set, b.previous);
	gp_arena_free(b.arena);
	return program;
}

/* True for a program that is a Laplacian prior alone, without columns that were asked for. */
bool
gp_program_is_laplacian(const gp_program *program)
{
	return program->nsteps == 1 && program->power == 1.0 && program->steps[0].kind == GP_STEP_INPUT &&
		program->input.kind == GP_INPUT_LAPLACIAN && program->input.p[GP_LAPLACIAN_DIMS] == 0.0;
}

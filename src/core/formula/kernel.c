/*
 * kernel.c - a kernel as a whole: its options, its program, its canonical text.
 *
 * Options that every kernel has are layers, sigma_w, sigma_b, input, norm and power; sigma_w1
 * belongs to W1; any other name is a constant that the formula or another option uses.  An
 * option that nothing uses is refused, for it is a typing error.
 */
#include "formula_internal.h"

#define DEFAULT_LAYERS 2
/* a Laplacian input where neither a text nor a fit says more */
#define USUAL_D 2.0
#define USUAL_SIGMA2 0.2
#define MAX_OPTIONS 24			/* of a method */

static const char *const general[] = {
	"layers", "sigma_w", "sigma_b", "input", "norm", "power", NULL
};

struct gp_kernel
{
	gp_arena   *arena;
	int			position;		/* of the kernel in its text */
	const gp_preset *preset;	/* NULL: a formula */
	const gp_ast *formula;
	bool		has_x;			/* the formula names the layer before */
	gp_layer	names;			/* its options */
	gp_kernel_options set;
	gp_kernel_options usual;	/* what is not printed */
	gp_program *program;		/* NULL: a method */
	double		value[MAX_OPTIONS]; /* of a method's options */
	int			at[MAX_OPTIONS];	/* where they stand; 0: they are not given */
};

/* ---- options ---- */

/* Adds options, unless one of the name is there, which then comes first. */
static void
add_options(gp_layer *t, gp_kernel_text *text, bool preset)
{
	for (int i = 0; i < text->n; i++)
	{
		gp_option  *option = &text->option[i];

		option->preset = preset;
		if (gp_layer_find(t, option->name) != NULL)
			continue;
		if (gp_keyword_is(option->spelled, (int) strlen(option->spelled)))
			gp_raise_at(t->env, GP_ERR_SYNTAX, option->position,
						"sigma_w and sigma_b are the scales of W and b.",
						"name \"%.40s\" is reserved in kernels", option->spelled);
		t->constant[t->n++] = (gp_constant) {.option = option};
	}
}

/* Refuses an option of the user's that nothing uses. */
static void
check_used(gp_layer *t, const gp_preset *preset)
{
	for (int i = 0; i < t->n; i++)
	{
		const gp_option *option = t->constant[i].option;
		gp_meant	meant = gp_meant_start(option->spelled, (int) strlen(option->spelled));
		gp_text		hint = {.arena = t->arena};

		if (t->constant[i].used || option->preset || gp_is_among(general, option->name))
			continue;
		for (int k = 0; preset != NULL && preset->own[k] != NULL; k++)
			gp_meant_consider(&meant, preset->own[k]);
		for (int k = 0; general[k] != NULL; k++)
			gp_meant_consider(&meant, general[k]);
		if (preset == NULL)
			gp_raise_at(t->env, GP_ERR_SYNTAX, option->position,
						gp_meant_hint(t->arena, &meant, "Options are layers, sigma_w, sigma_b, "
									  "input, norm, power, sigma_w1 for W1, and constants that "
									  "the formula names."),
						"option \"%.40s\" is not used in the kernel", option->spelled);
		gp_text_add(&hint, "Options of %s are ", preset->name);
		for (int k = 0; preset->own[k] != NULL; k++)
			gp_text_add(&hint, "%s, ", preset->own[k]);
		gp_text_add(&hint, "layers, sigma_w, sigma_b, input, norm and power.");
		gp_raise_at(t->env, GP_ERR_SYNTAX, option->position,
					gp_meant_hint(t->arena, &meant, hint.data),
					"kernel \"%s\" does not take option \"%.40s\"", preset->name, option->spelled);
	}
}

static gp_norm
resolve_norm(gp_layer *t, const gp_ast *ast)
{
	bool		row = ast->kind == GP_AST_NAME && strcmp(ast->lower, "row") == 0;

	if (!row && (ast->kind != GP_AST_NAME || strcmp(ast->lower, "sym") != 0))
		gp_raise_at(t->env, GP_ERR_VALUE, ast->position,
					"norm is sym, (I+D)^-1/2 (I+G) (I+D)^-1/2, or row, (I+D)^-1 (I+G).",
					"unknown normalisation in kernel");
	return row ? GP_NORM_ROW : GP_NORM_SYM;
}

static int
resolve_layers(gp_layer *t, bool has_x)
{
	gp_constant *c = gp_layer_find(t, "layers");

	if (c == NULL)
		return has_x ? DEFAULT_LAYERS : 1;
	double		layers = gp_layer_plain_number(t, c->option->value, "layers");
	if (!(layers >= 1.0 && layers <= GP_MAX_LAYERS && layers == floor(layers)))
		gp_raise_at(t->env, GP_ERR_VALUE, c->option->value->position, NULL,
					"option \"layers\" of kernel must be a whole number from 1 to %d",
					GP_MAX_LAYERS);
	if (!has_x && layers != 1.0)
		gp_raise_at(t->env, GP_ERR_VALUE, c->option->value->position,
					"A formula without X, the layer before, has one layer.",
					"option \"layers\" of a kernel without X must be 1");
	return (int) layers;
}

/* The settings of the kernel as a whole; usual are those of its preset. */
static void
resolve_whole(gp_layer *t, gp_kernel *kernel)
{
	const gp_constant *input = gp_layer_find(t, "input");
	const gp_constant *norm = gp_layer_find(t, "norm");
	const gp_constant *power = gp_layer_find(t, "power");

	if (input != NULL)
		kernel->set.input = gp_input_resolve(t, input->option->value);
	if (norm != NULL)
		kernel->set.norm = resolve_norm(t, norm->option->value);
	if (power != NULL)
	{
		const gp_ast *ast = power->option->value;
		kernel->set.open_power = ast->kind == GP_AST_NAME && strcmp(ast->lower, "auto") == 0;
		kernel->set.power = kernel->set.open_power ? 1.0 : gp_layer_plain_number(t, ast, "power");
		if (!(kernel->set.power >= GP_LEAST_POWER && kernel->set.power <= GP_MOST_POWER))
			gp_raise_at(t->env, GP_ERR_VALUE, ast->position,
						"It is the power of the kernel's spectrum over all nodes; auto leaves it to "
						"the fit.",
						"option \"power\" of kernel must be auto or between %g and %g",
						GP_LEAST_POWER, GP_MOST_POWER);
	}
}

/* ---- methods ---- */

const char *
gp_kernel_method(const gp_kernel *kernel)
{
	return kernel->preset != NULL && kernel->preset->text == NULL ? kernel->preset->name : NULL;
}

static int
option_place(const gp_kernel *kernel, const char *name)
{
	int			i = 0;

	while (strcmp(kernel->preset->parameter[i].name, name) != 0)
		i++;
	return i;
}

double
gp_kernel_option(const gp_kernel *kernel, const char *name)
{
	return kernel->value[option_place(kernel, name)];
}

int
gp_kernel_option_position(const gp_kernel *kernel, const char *name)
{
	int			at = kernel->at[option_place(kernel, name)];

	return at > 0 ? at : 1;
}

void
gp_kernel_give(gp_kernel *kernel, const char *name, double value)
{
	kernel->value[option_place(kernel, name)] = value;
}

/* ---- from text to program ---- */

static bool
tree_names(const gp_ast *ast, const char *name)
{
	if (ast->kind == GP_AST_NAME && strcmp(ast->name, name) == 0)
		return true;
	for (int i = 0; i < ast->n; i++)
		if (tree_names(ast->arg[i], name))
			return true;
	return false;
}

/* Begins a layer: numbers may be other ones there. */
static void
enter_layer(gp_layer *t, int layer)
{
	if (t->arena != NULL)
		gp_arena_free(t->arena);
	t->arena = gp_arena_create(t->env);
	t->layer = layer;
	for (int i = 0; i < t->n; i++)
		t->constant[i].known = false;
}

/* The settings of a preset's own text. */
static void
preset_options(gp_layer *t, gp_kernel_text *source, gp_kernel_options *usual)
{
	add_options(t, source, true);
	const gp_constant *input = gp_layer_find(t, "input");
	const gp_constant *norm = gp_layer_find(t, "norm");
	if (input != NULL)
		usual->input = gp_input_usual(t, input->option->value);
	if (norm != NULL)
		usual->norm = resolve_norm(t, norm->option->value);
	t->n = 0;
}

static gp_kernel *
compile(gp_arena *arena, gp_kernel_text *text)
{
	gp_env	   *env = gp_arena_env(arena);
	gp_kernel  *kernel = gp_arena_alloc(arena, sizeof(gp_kernel));
	gp_layer	t = {.env = env,.position = text->position,.previous = GP_ZERO};
	gp_kernel_text *source = text;
	gp_arena   *steps = gp_arena_create(env);

	kernel->arena = arena;
	kernel->position = text->position;
	kernel->preset = text->preset != NULL ? gp_preset_find(text->preset) : NULL;
	if (kernel->preset != NULL)
		source = gp_kernel_read(arena, kernel->preset->text, text->position);
	kernel->formula = source->formula;
	kernel->has_x = tree_names(source->formula, "X");
	t.constant = gp_arena_alloc(arena, (text->n + source->n + 1) * sizeof(gp_constant));
	t.one = !kernel->has_x;

	/* What the kernel is without a word of the user's, and with it */
	enter_layer(&t, 1);
	kernel->usual = (gp_kernel_options) {.norm = GP_NORM_SYM,.power = 1.0,.open_power = true};
	if (kernel->preset != NULL)
		preset_options(&t, source, &kernel->usual);
	add_options(&t, text, false);
	if (kernel->preset != NULL)
		add_options(&t, source, true);
	kernel->usual.layers = kernel->has_x ? DEFAULT_LAYERS : 1;
	kernel->set = kernel->usual;
	kernel->set.layers = t.layers = resolve_layers(&t, kernel->has_x);

	t.steps = gp_steps_create(steps);
	for (int layer = 1; layer <= t.layers; layer++)
	{
		enter_layer(&t, layer);
		t.previous = gp_layer_evaluate(&t, kernel->formula);
		gp_layer_sigma(&t, 'w', 0, text->position);
		gp_layer_sigma(&t, 'b', 0, text->position);
	}
	gp_steps   *made = t.steps;
	t.steps = NULL;
	enter_layer(&t, t.layers);
	resolve_whole(&t, kernel);
	check_used(&t, kernel->preset);
	if (t.previous == GP_ZERO)
		gp_raise_at(env, GP_ERR_VALUE, text->position, "A factor of the kernel is zero.",
					"the kernel is zero");
	kernel->program = gp_steps_finish(made, &kernel->set, t.previous);
	kernel->names = t;
	gp_arena_free(t.arena);
	gp_arena_free(steps);
	return kernel;
}

static gp_kernel *
parse_method(gp_arena *arena, const gp_kernel_text *text, const gp_preset *preset)
{
	gp_env	   *env = gp_arena_env(arena);
	gp_kernel  *kernel = gp_arena_alloc(arena, sizeof(gp_kernel));
	const gp_option_rule *list = preset->parameter;
	gp_layer	t = {.env = env,.arena = arena,.one = true,.layer = 1};
	gp_text		owner = {.arena = arena};

	*kernel = (gp_kernel) {.arena = arena,.position = text->position,.preset = preset};
	gp_text_add(&owner, "kernel \"%s\"", preset->name);
	for (int i = 0; list[i].name != NULL; i++)
		kernel->value[i] = list[i].fallback;
	for (int i = 0; i < text->n; i++)
	{
		const gp_option *option = &text->option[i];
		const char *nearest;
		const gp_option_rule *p = gp_option_rule_find(&t, list, option->name, &nearest);

		if (p == NULL)
		{
			gp_text		hint = {.arena = arena};

			gp_text_add(&hint, list->name == NULL ? "It has no options." : "%sOptions of %s are ",
						nearest, preset->name);
			for (int k = 0; list[k].name != NULL; k++)
				gp_text_add(&hint, list[k + 1].name == NULL ? "%s." : "%s, ", list[k].name);
			gp_raise_at(env, GP_ERR_SYNTAX, option->position, hint.data,
						"%s does not take option \"%.40s\"", owner.data, option->spelled);
		}
		kernel->value[p - list] = gp_option_resolve(&t, owner.data, p, option->value);
		kernel->at[p - list] = option->value->position;
	}
	return kernel;
}

gp_kernel *
gp_kernel_parse(gp_env *env, const char *source)
{
	gp_arena   *arena = gp_arena_create(env);
	gp_kernel_text *text = gp_kernel_read(arena, source, 0);
	const gp_preset *preset = text->preset != NULL ? gp_preset_find(text->preset) : NULL;

	return preset != NULL && preset->text == NULL ? parse_method(arena, text, preset) :
		compile(arena, text);
}

void
gp_kernel_free(gp_kernel *kernel)
{
	gp_free(gp_arena_env(kernel->arena), kernel->program);
	gp_arena_free(kernel->arena);
}

gp_program *
gp_kernel_program(gp_env *env, const gp_kernel *kernel)
{
	if (kernel->program == NULL)
		gp_raise_at(env, GP_ERR_VALUE, kernel->position, "Use it with a fit, which trains it.",
					"kernel \"%s\" is learnt from data", kernel->preset->name);
	gp_program *program = gp_program_copy(env, kernel->program);
	double	   *p = program->input.p;

	if (program->input.kind == GP_INPUT_LAPLACIAN)
	{
		program->open_prior = gp_program_is_laplacian(program) && p[GP_LAPLACIAN_D] == 0.0 &&
			p[GP_LAPLACIAN_SIGMA2] == 0.0;
		if (p[GP_LAPLACIAN_D] == 0.0)
			p[GP_LAPLACIAN_D] = USUAL_D;
		if (p[GP_LAPLACIAN_SIGMA2] == 0.0)
			p[GP_LAPLACIAN_SIGMA2] = USUAL_SIGMA2;
	}
	return program;
}

void
gp_kernel_give_prior(gp_kernel *kernel, int d, double sigma2)
{
	kernel->set.input.p[GP_LAPLACIAN_D] = d;
	kernel->set.input.p[GP_LAPLACIAN_SIGMA2] = sigma2;
	kernel->program->input = kernel->set.input;
}

/* ---- from a kernel to its text ---- */

/* True for an option of the user's that is to be printed: a layer needs it, and it is not the
 * default. */
static bool
is_told(const gp_constant *c, const gp_kernel_text *defaults)
{
	const gp_ast *value = c->option->value;
	const gp_ast *usual = NULL;
	bool		sigma_w = strcmp(c->option->name, "sigma_w") == 0;

	if (!c->needed || c->option->preset)
		return false;
	for (int i = 0; i < defaults->n; i++)
		if (strcmp(defaults->option[i].name, c->option->name) == 0)
			usual = defaults->option[i].value;
	if (value->kind != GP_AST_NUMBER)
		return true;
	if (usual != NULL)
		return usual->kind != GP_AST_NUMBER || usual->number != value->number;
	return value->number != (sigma_w ? 1.0 : 0.0) ||
		(!sigma_w && strcmp(c->option->name, "sigma_b") != 0);
}

static void
add_option(gp_text *text, const gp_kernel *kernel, const gp_constant *c)
{
	gp_text_add(text, ", %s=", c->option->preset || kernel->preset != NULL ||
				gp_is_among(general, c->option->name) ? c->option->name : c->option->spelled);
	gp_text_tree(text, &kernel->names, c->option->value);
}

/* Options in their order: those of the preset's own, constants, those that every kernel has. */
static void
add_options_text(gp_text *text, const gp_kernel *kernel)
{
	static const gp_kernel_text none;
	const gp_preset *preset = kernel->preset;
	const gp_kernel_options *set = &kernel->set;
	const gp_kernel_options *usual = &kernel->usual;
	const gp_kernel_text *defaults = preset == NULL ? &none :
		gp_kernel_read(text->arena, preset->text, kernel->position);
	bool		own_input = preset != NULL && preset->input &&
		set->input.kind == usual->input.kind;

	if (own_input)
		gp_text_input(text, &set->input, true);
	for (int k = 0; preset != NULL && preset->own[k] != NULL; k++)
	{
		const gp_constant *c = gp_layer_find(&kernel->names, preset->own[k]);

		if (is_told(c, defaults))
			add_option(text, kernel, c);
	}
	for (int i = 0; i < kernel->names.n; i++)
	{
		const gp_constant *c = &kernel->names.constant[i];

		if (!gp_is_among(general, c->option->name) && is_told(c, defaults) &&
			(preset == NULL || !gp_is_among(preset->own, c->option->name)))
			add_option(text, kernel, c);
	}
	if (set->layers != usual->layers)
		gp_text_add(text, ", layers=%d", set->layers);
	for (int k = 0; k < 2; k++)
	{
		const gp_constant *c = gp_layer_find(&kernel->names, k == 0 ? "sigma_w" : "sigma_b");

		if (c != NULL && is_told(c, defaults))
			add_option(text, kernel, c);
	}
	if (!own_input && !gp_input_equal(&set->input, &usual->input))
		gp_text_input(text, &set->input, false);
	if (set->norm != usual->norm)
		gp_text_add(text, ", norm=%s", set->norm == GP_NORM_ROW ? "row" : "sym");
	if (!set->open_power)
	{
		gp_text_add(text, ", power=");
		gp_text_number(text, set->power);
	}
}

/* The text in memory of env; its arena goes. */
static char *
close_text(gp_env *env, gp_text *text)
{
	char	   *copy = gp_alloc(env, text->length + 1);

	memcpy(copy, text->data, text->length + 1);
	gp_arena_free(text->arena);
	return copy;
}

char *
gp_kernel_print(gp_env *env, const gp_kernel *kernel)
{
	gp_arena   *arena = gp_arena_create(env);
	gp_text		text = {.arena = arena};
	gp_text		options = {.arena = arena};

	gp_text_add(&options, "%s", "");
	if (gp_kernel_method(kernel) != NULL)
		gp_text_options(&options, kernel->preset->parameter, kernel->value, false);
	else
		add_options_text(&options, kernel);
	if (kernel->preset == NULL)
	{
		gp_text_tree(&text, &kernel->names, kernel->formula);
		gp_text_add(&text, "%s", options.data);
	}
	else if (options.length > 0)
		gp_text_add(&text, "%s(%s)", kernel->preset->name, options.data + 2);
	else
		gp_text_add(&text, "%s", kernel->preset->name);
	if (text.length > GP_KERNEL_MAX_BYTES)
		gp_raise_at(env, GP_ERR_SYNTAX, kernel->position, "Write a simpler kernel.",
					"canonical text of kernel is longer than %d bytes", GP_KERNEL_MAX_BYTES);
	return close_text(env, &text);
}

char *
gp_kernel_key(gp_env *env, const gp_kernel *kernel)
{
	gp_text		text = {.arena = gp_arena_create(env)};

	if (kernel->program != NULL)
		gp_program_key(&text, kernel->program);
	else
		gp_text_add(&text, "%s", kernel->preset->name);
	for (int i = 0; kernel->program == NULL && i < MAX_OPTIONS; i++)
		gp_text_key(&text, kernel->value[i]);
	return close_text(env, &text);
}

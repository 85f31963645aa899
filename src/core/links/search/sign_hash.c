/*
 * sign_hash.c - 256 signs for each node, which tell how alike two nodes are.
 *
 * A bit is the sign of a random projection of the node's row in a factor Q of
 * the kernel.  Two codes differ in a share of bits that is the angle between
 * the rows, over pi (Charikar 2002).  The mean row is taken off first: the
 * covariances of networks are positive, and all rows lie in one corner.
 *
 * Q itself is never made.  A linear kernel multiplies its terms with the
 * directions one after the other, a Laplacian kernel the powers of its root's
 * series.  A low-rank factor P R^-T multiplies P with R^-T G, which solves for
 * some directions and not for all nodes.
 */
#include "base/base.h"
#include "graph/random_walks.h"
#include "links/links_internal.h"

#define LANDMARKS 512
#define FEWEST_LANDMARKS 16
#define FACTOR_BYTES 536870912.0	/* of the nodes' rows */
#define SLICE 64				/* directions at once: one word of the codes */
#define UPLOAD_ROWS 4096		/* of directions that the host makes at once */
#define LOOK_ROWS 1024			/* of projections that the host sees at once */
#define SERIES_ERROR 1e-3		/* of a Laplacian kernel's root, relative */
#define SERIES_TERMS 200		/* at most */

/*
 * A number with the variance 1 that depends on the counter alone: the sum of
 * four uniform ones, near enough to a Gaussian, and the same on every machine.
 */
static inline float
direction(uint64_t counter)
{
	uint64_t	bits = gp_hash(counter);
	int32_t		sum = (int32_t) (bits & 0xffff) + (int32_t) (bits >> 16 & 0xffff) +
		(int32_t) (bits >> 32 & 0xffff) + (int32_t) (bits >> 48);

	return (float) (sum - 131070) * 2.642851e-5f;	/* sqrt(3) / 65536 */
}

/* Fills g (any rows x SLICE) with the directions of one word; part keeps apart the factor's parts. */
static void
fill_directions(gp_device *dev, uint64_t seed, int word, int part, gp_matrix g)
{
	int64_t		height = gp_min64(g.rows, UPLOAD_ROWS);
	float	   *host = gp_alloc_array(dev->env, height * SLICE, sizeof(float));
	uint64_t	base = gp_hash(gp_hash(seed) + (uint64_t) (word + part * GP_LINK_CODE_WORDS));

	for (gp_band band = gp_band_first(g.rows, height); band.count > 0; gp_band_next(&band))
	{
		dev->env->check_interrupts(dev->env);
		for (int64_t k = 0; k < band.count * SLICE; k++)
			host[k] = direction(base + (uint64_t) (band.first * SLICE + k));
		dev->upload(dev, gp_matrix_rows(g, band.first, band.count),
					gp_matrix_wrap(host, band.count, SLICE, GP_FLOAT));
	}
	gp_free(dev->env, host);
}

/* ---- projections of a factor's rows: y (n x SLICE float) = Q G ---- */

/* Of a linear kernel, by its terms. */
static void
project_terms(gp_eval *ev, const gp_terms *terms, uint64_t seed, int word, gp_matrix y)
{
	gp_device  *dev = ev->dev;
	gp_matrix	work = dev->create(dev, ev->n, SLICE, GP_FLOAT);
	gp_matrix	g = dev->create(dev, gp_terms_width(ev, terms), SLICE, GP_FLOAT);

	fill_directions(dev, seed, word, 0, g);
	gp_terms_times(ev, terms, g, work, y);
	dev->destroy(dev, &g);
	dev->destroy(dev, &work);
}

/* Of panels: the sum of sqrt(value) P (R^-T G). */
static void
project_panels(gp_eval *ev, const gp_factor *f, uint64_t seed, int word, gp_matrix y)
{
	gp_device  *dev = ev->dev;

	if (f->npanels == 0)
		dev->fill(dev, y, 0.0);
	for (int b = 0; b < f->npanels; b++)
	{
		const gp_panel *panel = &f->panel[b];
		gp_matrix	solved = dev->create(dev, panel->p.cols, SLICE, GP_DOUBLE);
		gp_matrix	g = dev->create(dev, panel->p.cols, SLICE, GP_FLOAT);

		fill_directions(dev, seed, word, b, solved);
		if (panel->root.data)
			dev->trsm(dev, true, true, panel->root, solved);
		dev->copy(dev, g, solved);
		dev->gemm(dev, false, false, sqrt(panel->value), panel->p, g, b == 0 ? 0.0 : 1.0, y);
		dev->destroy(dev, &g);
		dev->destroy(dev, &solved);
	}
}

/*
 * Of a Laplacian kernel, but for a common factor: (I - U)^(-d/2) G, by the series
 * sum f_k U^k with f_k = Gamma(k + d/2) / (Gamma(d/2) k!); the
 * eigenvalues of U are within rho = s2 / (1 + s2).
 */
static void
project_laplacian(gp_device *dev, const gp_csr *u, double d, double rho, uint64_t seed, int word,
				  gp_matrix y)
{
	gp_matrix	v = dev->create(dev, u->rows, SLICE, GP_FLOAT);
	gp_matrix	next = dev->create(dev, u->rows, SLICE, GP_FLOAT);
	double		most = SERIES_ERROR * pow(1.0 - rho, -0.5 * d);
	double		f = 1.0;
	double		term = 1.0;

	fill_directions(dev, seed, word, 0, v);
	dev->copy(dev, y, v);
	for (int k = 1; k <= SERIES_TERMS; k++)
	{
		double		growth = (k + 0.5 * d) / (k + 1.0);
		double		ratio = rho * fmax(growth, 1.0);	/* of later terms, at most */
		gp_matrix	old = v;

		f *= (k - 1 + 0.5 * d) / k;
		term *= rho * (k - 1 + 0.5 * d) / k;
		dev->spmm(dev, 1.0, u, v, 0.0, next);
		dev->axpby(dev, f, next, 1.0, y);
		v = next;
		next = old;
		if (ratio < 1.0 && term * ratio < most * (1.0 - ratio))
			break;
	}
	dev->destroy(dev, &v);
	dev->destroy(dev, &next);
}

/* ---- signs ---- */

/* The codes on their way. */
typedef struct coding
{
	gp_device  *dev;
	int64_t		n;
	float	   *block;			/* LOOK_ROWS x SLICE */
	bool	   *known;			/* n: some projection is not 0 */
	uint64_t   *code;
} coding;

/* Some rows of the projections, in the host's block. */
static void
look_at_rows(coding *c, gp_matrix y, const gp_band *band)
{
	c->dev->env->check_interrupts(c->dev->env);
	c->dev->download(c->dev, gp_matrix_wrap(c->block, band->count, SLICE, GP_FLOAT),
					 gp_matrix_rows(y, band->first, band->count));
}

/* The mean of each projection; notes which nodes have any. */
static void
find_mean(coding *c, gp_matrix y, double *mean)
{
	for (int k = 0; k < SLICE; k++)
		mean[k] = 0.0;
	for (gp_band band = gp_band_first(c->n, LOOK_ROWS); band.count > 0; gp_band_next(&band))
	{
		look_at_rows(c, y, &band);
		for (int64_t i = 0; i < band.count; i++)
		{
			const float *v = c->block + i * SLICE;
			bool		known = false;

			for (int k = 0; k < SLICE; k++)
			{
				mean[k] += v[k];
				known |= v[k] != 0.0f;
			}
			c->known[band.first + i] |= known;
		}
	}
	for (int k = 0; k < SLICE; k++)
	{
		mean[k] /= (double) c->n;
		if (!isfinite(mean[k]))
			gp_raise(c->dev->env, GP_ERR_RANGE, "Scale the features down, or take fewer layers.",
					 "the kernel overflows");
	}
}

/* One word of every node's code. */
static void
set_signs(coding *c, gp_matrix y, int word)
{
	double		mean[SLICE];

	find_mean(c, y, mean);
	for (gp_band band = gp_band_first(c->n, LOOK_ROWS); band.count > 0; gp_band_next(&band))
	{
		look_at_rows(c, y, &band);
		for (int64_t i = 0; i < band.count; i++)
		{
			const float *v = c->block + i * SLICE;
			uint64_t	bits = 0;

			for (int k = 0; k < SLICE; k++)
				bits |= (uint64_t) (v[k] > mean[k]) << k;
			c->code[(band.first + i) * GP_LINK_CODE_WORDS + word] = bits;
		}
	}
}

/* ---- the factor ---- */

/* The low-rank factor on the nodes of highest degree; fewer of them on a large graph. */
static gp_factor *
make_factor(gp_eval *ev, const gp_link_problem *problem)
{
	double		most = FACTOR_BYTES / (sizeof(float) * fmax(1.0, (double) ev->n));
	int64_t		count = most < LANDMARKS ? (int64_t) most : LANDMARKS;
	int32_t    *landmark;
	int64_t		n;
	gp_factor  *f;

	if (count < FEWEST_LANDMARKS)
		count = FEWEST_LANDMARKS;
	landmark = gp_link_landmarks(ev, problem, count < ev->n ? count : ev->n, &n);
	f = gp_eval_nystrom(ev, problem->program->nsteps - 1, landmark, n);
	gp_free(ev->env, landmark);
	return f;
}

/* True where the kernel is a Laplacian kernel of the graph and nothing else. */
static bool
is_laplacian(const gp_program *program)
{
	return program->input.kind == GP_INPUT_LAPLACIAN &&
		program->steps[program->nsteps - 1].kind == GP_STEP_INPUT;
}

/* Every word of the codes of a Laplacian kernel, exact where walks would stray. */
static void
make_laplacian_codes(const gp_link_problem *problem, coding *c)
{
	gp_device  *dev = c->dev;
	const double *p = problem->program->input.p;
	double		sigma2 = p[GP_LAPLACIAN_SIGMA2];
	gp_csr	   *u = gp_walk_matrix(dev->env, problem->graph, sigma2, GP_FLOAT);
	gp_matrix	y = dev->create(dev, c->n, SLICE, GP_FLOAT);

	for (int word = 0; word < GP_LINK_CODE_WORDS; word++)
	{
		project_laplacian(dev, u, p[GP_LAPLACIAN_D], sigma2 / (1.0 + sigma2), problem->seed, word,
						  y);
		set_signs(c, y, word);
	}
	dev->destroy(dev, &y);
	gp_csr_free(dev->env, u);
}

/* Every word of the codes. */
static void
make_codes(const gp_link_problem *problem, coding *c)
{
	gp_eval		eval;
	gp_eval    *ev = &eval;
	int			root = problem->program->nsteps - 1;
	gp_terms   *terms = gp_alloc_zero(c->dev->env, 1, sizeof(gp_terms));
	gp_factor  *f = NULL;
	gp_matrix	y;
	bool		linear;

	gp_eval_open(ev, c->dev, problem->program, problem->graph, problem->features, problem->seed,
				 GP_FLOAT);
	linear = gp_step_is_linear(ev, root);
	if (linear)
		gp_linear_collect(ev, root, terms);
	else
		f = make_factor(ev, problem);
	y = ev->dev->create(ev->dev, ev->n, SLICE, GP_FLOAT);
	for (int word = 0; word < GP_LINK_CODE_WORDS; word++)
	{
		if (linear)
			project_terms(ev, terms, problem->seed, word, y);
		else
			project_panels(ev, f, problem->seed, word, y);
		set_signs(c, y, word);
	}
	ev->dev->destroy(ev->dev, &y);
	gp_factor_free(ev, f);
	gp_free(ev->env, terms);
	gp_eval_close(ev);
}

/* Room for the codes of n nodes. */
static coding
coding_open(gp_device *dev, int64_t n)
{
	coding		c = {dev, n, NULL, NULL, NULL};

	c.code = gp_alloc_zero(dev->env, gp_size_mul(dev->env, n, GP_LINK_CODE_WORDS), sizeof(uint64_t));
	c.block = gp_alloc_array(dev->env, LOOK_ROWS * SLICE, sizeof(float));
	c.known = gp_alloc_zero(dev->env, n, sizeof(bool));
	return c;
}

/* The codes; nodes without a row in the factor, which are all alike, get the code 0. */
static uint64_t *
coding_close(coding *c)
{
	for (int64_t i = 0; i < c->n; i++)
		if (!c->known[i])
			memset(c->code + i * GP_LINK_CODE_WORDS, 0, GP_LINK_CODE_WORDS * sizeof(uint64_t));
	gp_free(c->dev->env, c->block);
	gp_free(c->dev->env, c->known);
	return c->code;
}

uint64_t *
gp_link_codes(gp_device *dev, const gp_link_problem *problem)
{
	coding		c = coding_open(dev, problem->graph->nodes);

	if (c.n > 0 && is_laplacian(problem->program))
		make_laplacian_codes(problem, &c);
	else if (c.n > 0)
		make_codes(problem, &c);
	return coding_close(&c);
}

uint64_t *
gp_link_row_codes(gp_device *dev, int64_t nodes, int64_t width, const float *row, uint64_t seed)
{
	coding		c = coding_open(dev, nodes);
	gp_matrix	q = dev->create(dev, nodes, width, GP_FLOAT);
	gp_matrix	g = dev->create(dev, width, SLICE, GP_FLOAT);
	gp_matrix	y = dev->create(dev, nodes, SLICE, GP_FLOAT);

	dev->upload(dev, q, gp_matrix_wrap((void *) row, nodes, width, GP_FLOAT));
	for (int word = 0; word < GP_LINK_CODE_WORDS && nodes > 0; word++)
	{
		fill_directions(dev, seed, word, 0, g);
		dev->gemm(dev, false, false, 1.0, q, g, 0.0, y);
		set_signs(&c, y, word);
	}
	dev->destroy(dev, &y);
	dev->destroy(dev, &g);
	dev->destroy(dev, &q);
	return coding_close(&c);
}

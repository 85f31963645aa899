/*
 * sign_hash.c - 256 signs for each node, which tell how alike two nodes are.
 *
 * A bit is the sign of a random projection of the node's row in a factor Q of
 * the kernel.  Two codes differ in a share of bits that is the angle between
 * the rows, over pi (Charikar 2002).  The mean row is taken off first: the
 * covariances of networks are positive, and all rows lie in one corner.
 */
#include "links/links_internal.h"

#define LANDMARKS 512			/* of the factor */
#define FEWEST_LANDMARKS 16
#define FACTOR_BYTES 268435456.0	/* of the nodes' rows, which are held twice */
#define SLICE 64				/* directions at once: one word of the codes */
#define BLOCK_ROWS 1024			/* rows that are on the host at once */

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

/* Some rows of the projections, on the host. */
static void
read_rows(gp_device *dev, gp_matrix y, const gp_band *band, float *block)
{
	dev->env->check_interrupts(dev->env);
	dev->download(dev, gp_matrix_wrap(block, band->count, SLICE, GP_FLOAT),
				  gp_matrix_rows(y, band->first, band->count));
}

/* One word of every node's code, from its projections; notes which nodes have any. */
static void
set_signs(gp_device *dev, gp_matrix y, int word, bool *known, uint64_t *code)
{
	float	   *block = gp_alloc_array(dev->env, BLOCK_ROWS * SLICE, sizeof(float));
	int64_t		n = gp_items(dev->env, y.rows);
	double		mean[SLICE] = {0.0};

	for (gp_band band = gp_band_first(n, BLOCK_ROWS); band.count > 0; gp_band_next(&band))
	{
		read_rows(dev, y, &band, block);
		for (int64_t k = 0; k < band.count * SLICE; k++)
		{
			mean[k % SLICE] += block[k] / (double) y.rows;
			known[band.first + k / SLICE] |= block[k] != 0.0f;
		}
	}
	for (int k = 0; k < SLICE; k++)
		gp_kernel_check_finite(dev->env, mean[k]);
	for (gp_band band = gp_band_first(n, BLOCK_ROWS); band.count > 0; gp_band_next(&band))
	{
		read_rows(dev, y, &band, block);
		for (int64_t i = 0; i < band.count; i++)
		{
			uint64_t	bits = 0;

			for (int k = 0; k < SLICE; k++)
				bits |= (uint64_t) (block[i * SLICE + k] > mean[k]) << k;
			code[(band.first + i) * GP_LINK_CODE_WORDS + word] = bits;
		}
	}
	gp_free(dev->env, block);
}

/* The codes of the rows of q; nodes without a row, which are all alike, get the code 0. */
static uint64_t *
codes_of(gp_device *dev, gp_matrix q, uint64_t seed)
{
	gp_env	   *env = dev->env;
	uint64_t   *code = gp_alloc_values(env, q.rows, GP_LINK_CODE_WORDS * sizeof(uint64_t));
	bool	   *known = gp_alloc_values(env, q.rows, sizeof(bool));
	gp_matrix	g = dev->create(dev, q.cols, SLICE, GP_FLOAT);
	gp_matrix	y = dev->create(dev, q.rows, SLICE, GP_FLOAT);

	memset(known, 0, gp_items(env, q.rows) * sizeof(bool));
	for (int word = 0; word < GP_LINK_CODE_WORDS && q.rows > 0; word++)
	{
		/* The directions of one word */
		uint64_t	base = gp_hash(gp_hash(seed) + (uint64_t) word);
		float	   *host = gp_alloc_array(env, q.cols * SLICE, sizeof(float));

		for (int64_t k = 0; k < q.cols * SLICE; k++)
			host[k] = direction(base + (uint64_t) k);
		dev->upload(dev, g, gp_matrix_wrap(host, q.cols, SLICE, GP_FLOAT));
		gp_free(env, host);
		dev->gemm(dev, false, false, 1.0, q, g, 0.0, y);
		set_signs(dev, y, word, known, code);
	}
	for (int64_t i = 0; i < gp_items(env, q.rows); i++)
		if (!known[i])
			memset(code + i * GP_LINK_CODE_WORDS, 0, GP_LINK_CODE_WORDS * sizeof(uint64_t));
	gp_destroy_all(dev, &g, &y);
	gp_free(env, known);
	return code;
}

uint64_t *
gp_link_codes(gp_device *dev, const gp_link_problem *problem)
{
	int64_t		n = problem->graph->nodes;
	double		most = FACTOR_BYTES / (sizeof(float) * fmax(1.0, (double) n));
	gp_matrix	q = {0};

	if (n > 0)
		q = gp_link_factor(dev, problem, (int64_t) fmax(FEWEST_LANDMARKS, fmin(most, LANDMARKS)));
	uint64_t   *code = codes_of(dev, q, problem->seed);
	dev->destroy(dev, &q);
	return code;
}

uint64_t *
gp_link_row_codes(gp_device *dev, int64_t nodes, int64_t width, const float *row, uint64_t seed)
{
	gp_matrix	q = gp_upload(dev, gp_matrix_wrap((void *) row, nodes, width, GP_FLOAT), GP_FLOAT);
	uint64_t   *code = codes_of(dev, q, seed);

	dev->destroy(dev, &q);
	return code;
}

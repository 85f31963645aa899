/*
 * cuda_elementwise.cu - element-wise steps of a training on the card.
 */
#include "gp_cuda.h"

/* One step of one element; a of one row stands for all. */
template <typename T>
struct step_each
{
	gp_elementwise e;
	gp_matrix	y;
	gp_matrix	a;
	gp_matrix	b;
	gp_matrix	c;
	uint64_t	bound;
	int64_t		row0;
	bool		one;

	/* A step of Adam. */
	__device__ void adam(T *at, T g, T *first, T *second) const
	{
		T			clip = (T) e.adam.clip;

		g = (g > clip ? clip : g < -clip ? -clip : g) + (T) e.adam.decay * *at;
		*first = (T) GP_ADAM_BETA1 * *first + (T) (1.0 - GP_ADAM_BETA1) * g;
		*second = (T) GP_ADAM_BETA2 * *second + (T) (1.0 - GP_ADAM_BETA2) * g * g;
		*at -= (T) e.adam.rate * *first / (sqrt(*second) * (T) e.adam.root + (T) GP_ADAM_EPSILON);
	}

	__device__ void operator() (int64_t i, int64_t j) const
	{
		T		   *at = &gp_at<T>(y, i, j);
		T			with = a.data ? gp_at<T>(a, one ? 0 : i, j) : (T) 0;
		T			factor = (T) e.factor;

		switch (e.op)
		{
			case GP_ELEMENT_RELU:
				*at = *at < 0 ? (T) 0 : *at;
				break;
			case GP_ELEMENT_GATE:
				*at = with > 0 ? *at : (T) 0;
				break;
			case GP_ELEMENT_TIMES:
				*at *= with;
				break;
			case GP_ELEMENT_ADD:
				*at += factor * with * gp_at<T>(b, i, j);
				break;
			case GP_ELEMENT_OVER:
				*at = *at == 0 ? (T) 0 : factor * with / *at;
				break;
			case GP_ELEMENT_ROOT:
				*at = *at < 0 ? (T) 0 : sqrt(*at);
				break;
			case GP_ELEMENT_EXP:
				*at = exp(factor * with);
				break;
			case GP_ELEMENT_COS:
				*at = factor * cos(*at + with);
				break;
			case GP_ELEMENT_SIN:
				*at = factor * sin(*at + with);
				break;
			case GP_ELEMENT_DROP:
				*at *= gp_element_draw(e.seed, (uint64_t) ((row0 + i) * y.cols + j)) < bound ? (T) 0
					: (T) (1.0 / (1.0 - e.rate));
				break;
			case GP_ELEMENT_NORMAL:
				*at = (T) (e.factor * gp_element_normal(e.seed, (uint64_t) ((row0 + i) * y.cols + j)));
				break;
			case GP_ELEMENT_ADAM:
				adam(at, with, &gp_at<T>(b, i, j), &gp_at<T>(c, i, j));
				break;
		}
	}
};

/* The same for matrices on the card. */
template <typename T>
static void
step(gp_cuda *c, const gp_elementwise &e, gp_matrix y, gp_matrix a, gp_matrix b, gp_matrix m, int64_t row, bool one)
{
	gp_cuda_each(c, y.rows, y.cols, step_each<T>{e, y, a, b, m, gp_element_bound(e.rate), row, one});
}

/* True when two matrices have the same type and shape. */
static bool
alike(gp_matrix a, gp_matrix b)
{
	return a.type == b.type && a.rows == b.rows && a.cols == b.cols;
}

/* Changes each element of y. */
void
gp_cuda_elementwise(gp_device *dev, const gp_elementwise *e, gp_matrix y, gp_matrix a, gp_matrix b, gp_matrix m)
{
	gp_cuda    *c = gp_cuda_of(dev);
	int			reads = gp_element_reads(e->op);
	bool		one = (reads == 1 || reads == 2) && a.rows == 1 && y.rows != 1;
	gp_matrix	none = {};
	gp_staged	all = {};
	gp_flow		flow[4] = {{y, GP_BOTH}};
	int			n = 1;

	gp_cuda_require(c, (reads < 1 || one || alike(a, y)) && (!one || (a.type == y.type && a.cols == y.cols)) &&
					(reads < 2 || alike(b, y)) && (reads < 3 || alike(m, y)));
	if (y.rows == 0 || y.cols == 0)
		return;
	if (one)
		all = gp_cuda_stage(c, a, GP_READ);
	else if (reads > 0)
		flow[n++] = {a, GP_READ};
	if (reads > 1)
		flow[n++] = {b, reads > 2 ? GP_BOTH : GP_READ};
	if (reads > 2)
		flow[n++] = {m, GP_BOTH};
	gp_cuda_rows(c, flow, n, false, [=](int64_t row, gp_matrix *part)
				 { gp_cuda_typed(y.type, step, c, *e, part[0], one ? all.m : n > 1 ? part[1] : none,
								 reads > 1 ? part[n - reads + 1] : none, n > 3 ? part[3] : none, row, one); });
	if (one)
		gp_cuda_unstage(c, &all);
	gp_cuda_pace(c);
}

/*
 * power.c - powers of the kernel: its spectrum over all nodes, leading directions strengthened.
 *
 * With K ~ QQ' and Q'Q = V diag(w) V', K^p ~ FF' for F = Q V diag(w)^((p-1)/2).  No label
 * enters, so that leave-one-out stays exact.  What matters is the order of the
 * directions: K^p has no unit, and w is scaled to a largest of 1.
 */
#include "kernel/prepared.h"
#include "fit_internal.h"

#define LANDMARKS 768			/* what a factor has to begin with, all its panels together */
#define KEPT 384				/* leading directions of a wider factor */

gp_spectrum
gp_spectrum_compute(gp_eval *ev, gp_factor *f)
{
	gp_device  *dev = ev->dev;
	int64_t		rank = gp_factor_rank(f);
	gp_spectrum s = {.kept = rank > GP_SYEV_MAX ? KEPT : rank};
	/* Q'Q over evenly spread nodes, divided by their number. */
	int64_t		count = gp_min64(ev->n, GP_FACTOR_SAMPLE);
	int64_t		height = gp_min64(count, dev->row_block);
	int32_t    *sample = gp_eval_sample(ev, count);
	gp_matrix	block = dev->create(dev, height, rank, GP_DOUBLE);
	gp_matrix	g = dev->create(dev, rank, rank, GP_DOUBLE);

	for (gp_band band = gp_band_first(count, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		gp_factor_rows(ev, f, sample + band.first, band.count, b);
		dev->syrk(dev, true, 1.0 / (double) count, b, band.first == 0 ? 0.0 : 1.0, g);
	}
	dev->destroy(dev, &block);
	gp_free(ev->env, sample);
	gp_matrix	w = dev->create(dev, s.kept, 1, GP_DOUBLE);

	s.v = dev->create(dev, rank, s.kept, GP_DOUBLE);
	if (!gp_leading_vectors(dev, g, s.v, w))
		gp_raise(ev->env, GP_ERR_DATA, "Write the kernel without the option power.",
				 "the spectrum of the kernel is out of range");
	s.w = gp_download(dev, w);
	for (int64_t j = 0; j < s.kept && !ev->env->dry; j++)
		s.w[j] = fmax(s.w[j], 0.0);
	gp_destroy_all(dev, &w, &g);
	return s;
}

void
gp_spectrum_free(gp_eval *ev, gp_spectrum *s)
{
	ev->dev->destroy(ev->dev, &s->v);
	gp_free(ev->env, s->w);
}

/* (w_j / w_max)^e; 0 for a direction that is not there. */
static double
strengthened(const gp_spectrum *s, int64_t j, double e)
{
	double		largest = s->w[s->kept - 1];

	return s->w[j] > 0.0 ? pow(s->w[j] / largest, e) : 0.0;
}

gp_matrix
gp_spectrum_directions(gp_eval *ev, const gp_spectrum *s, double p)
{
	gp_device  *dev = ev->dev;
	int64_t		rows = s->v.rows;
	int64_t		kept = s->kept;
	double	   *host = gp_download(dev, s->v);

	for (int64_t j = 0; j < kept && !ev->env->dry; j++)
	{
		double		scale = strengthened(s, j, 0.5 * (p - 1.0));

		for (int64_t i = 0; i < rows; i++)
			host[i * kept + j] *= scale;
	}
	gp_matrix	out = gp_upload(dev, gp_matrix_wrap(host, rows, kept, GP_DOUBLE), GP_DOUBLE);
	gp_free(ev->env, host);
	return out;
}

double
gp_spectrum_mean(const gp_eval *ev, const gp_spectrum *s, double p)
{
	double		mean = 0.0;

	for (int64_t j = 0; j < s->kept && !ev->env->dry; j++)
		mean += s->w[j] * strengthened(s, j, p - 1.0);
	return mean;
}

/* A product that becomes a panel. */
typedef struct panel_out
{
	gp_device  *dev;
	gp_matrix	p;
} panel_out;

static void
take_panel(void *arg, int64_t row, int64_t col, gp_matrix block)
{
	panel_out  *out = arg;

	out->dev->copy(out->dev, gp_matrix_part(out->p, row, col, block.rows, block.cols), block);
}

/* The factor F of all nodes, one panel; the former factor goes. */
static gp_factor *
spectrum_factor(gp_eval *ev, gp_factor *f, const gp_spectrum *s, double p)
{
	gp_device  *dev = ev->dev;
	gp_factor  *out = gp_factor_create(ev->env);
	gp_matrix	wide = gp_spectrum_directions(ev, s, p);

	gp_factor_solve(ev, f, wide);
	gp_matrix	x = gp_copy(dev, wide, ev->type);
	dev->destroy(dev, &wide);
	if (ev->state)
		gp_state_matrix(dev, ev->state, GP_PIECE_POWER, 0, 0, x);
	out->npanels = 1;
	out->panel[0].value = 1.0;
	out->panel[0].p = dev->create(dev, ev->n, s->kept, ev->type);
	gp_factor_product(ev, f, x, false, take_panel, &(panel_out) {dev, out->panel[0].p});
	dev->destroy(dev, &x);
	gp_factor_free(ev, f);
	return out;
}

gp_factor *
gp_factor_of_power(gp_eval *ev, gp_factor *f)
{
	double		p = ev->kernel->program->power;

	if (p == 1.0)
		return f;
	gp_spectrum s = gp_spectrum_compute(ev, f);
	f = spectrum_factor(ev, f, &s, p);
	gp_spectrum_free(ev, &s);
	return f;
}

int64_t
gp_power_landmarks(const gp_eval *ev)
{
	int			panels = gp_nystrom_panels(ev, ev->kernel->program->nsteps - 1, true);

	return gp_min64(ev->n, gp_max64(1, LANDMARKS / gp_max64(1, panels)));
}

void
gp_power_refuse(gp_env *env, const gp_program *program)
{
	if (program->power != 1.0)
		gp_raise(env, GP_ERR_UNSUPPORTED, "Write the kernel without the option power.",
				 "only gp_fit, gp_tune and gp_factor take a power of a kernel");
}

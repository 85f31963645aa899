/*
 * linear_terms.c - steps without activation as lists of terms sqrt(v) S1 S2 ... X0 (or 1).
 */
#include "prepared.h"

/*
 * Takes term t one step down, from at[t]; the second argument of a sum becomes a
 * term of its own behind it.  False at the term's leaf.
 */
static bool
expand_term(const gp_eval *ev, gp_terms *terms, int *at, int t)
{
	const gp_step *s = &ev->kernel->program->steps[at[t]];
	gp_linear_term *term = &terms->term[t];

	at[t] = s->arg0;
	switch (s->kind)
	{
		case GP_STEP_INPUT:
			return false;
		case GP_STEP_LISTS:
			term->leaf = GP_LEAF_LISTS;
			return false;
		case GP_STEP_BIAS:
			term->leaf = GP_LEAF_BIAS;
			term->value *= s->value;
			return false;
		case GP_STEP_SCALE:
			term->value *= s->value;
			return true;
		case GP_STEP_OP:
			if (term->nops == GP_MAX_OPS)
				gp_raise(ev->env, GP_ERR_UNSUPPORTED, "Use fewer layers without activation.",
						 "the kernel has more than %d operators in a row", GP_MAX_OPS);
			term->op[term->nops++] = s->op;
			return true;
		case GP_STEP_SUM:
			if (terms->n == GP_MAX_LINEAR_TERMS)
				gp_raise(ev->env, GP_ERR_UNSUPPORTED, "Use fewer layers without activation.",
						 "the kernel has more than %d linear terms", GP_MAX_LINEAR_TERMS);
			memmove(term + 1, term, (terms->n - t) * sizeof(*term));
			memmove(at + t + 1, at + t, (terms->n - t) * sizeof(*at));
			at[t + 1] = s->arg1;
			terms->n++;
			return true;
		default:				/* is not linear */
			assert(false);
			return false;
	}
}

void
gp_terms_order(gp_terms *terms)
{
	int			lists = 0;

	for (int t = 0; t < terms->n; t++)
	{
		if (terms->term[t].leaf != GP_LEAF_LISTS)
			continue;
		gp_linear_term term = terms->term[t];
		memmove(&terms->term[lists + 1], &terms->term[lists], (t - lists) * sizeof(term));
		terms->term[lists++] = term;
	}
}

void
gp_linear_collect(const gp_eval *ev, int step, gp_terms *terms)
{
	int			at[GP_MAX_LINEAR_TERMS] = {step};

	memset(&terms->term[0], 0, sizeof(terms->term[0]));
	terms->term[0].value = 1.0;
	terms->n = 1;
	for (int t = 0; t < terms->n; t++)
		while (expand_term(ev, terms, at, t))
			 /* down to the leaf */ ;
	gp_terms_order(terms);
}

const gp_csr *
gp_term_csr(const gp_eval *ev, const gp_linear_term *term)
{
	if (term->leaf == GP_LEAF_BIAS)
		return NULL;
	return term->leaf == GP_LEAF_LISTS ? ev->kernel->lists : ev->kernel->x->csr;
}

int64_t
gp_term_width(const gp_eval *ev, const gp_linear_term *term)
{
	if (term->leaf == GP_LEAF_BIAS)
		return 1;
	return term->leaf == GP_LEAF_LISTS ? ev->kernel->lists->cols : ev->kernel->x->dims;
}

int64_t
gp_terms_width(const gp_eval *ev, const gp_terms *terms)
{
	int64_t		width = 0;

	for (int t = 0; t < terms->n; t++)
		width += gp_term_width(ev, &terms->term[t]);
	return width;
}

/* out = sqrt(v) S1 S2 ... (leaf right) + beta out for one term. */
static void
term_times(gp_eval *ev, const gp_linear_term *term, gp_matrix right, gp_matrix work,
		   double beta, gp_matrix out)
{
	gp_device  *dev = ev->dev;
	int			inner = term->nops - 1;
	const gp_csr *csr = gp_term_csr(ev, term);

	/* leaf right: X right, or the row of right repeated */
	if (csr)
		dev->spmm(dev, 1.0, csr, right, 0.0, work);
	else
	{
		gp_matrix	leaf = dev->create(dev, ev->n, gp_term_width(ev, term), ev->type);

		if (term->leaf == GP_LEAF_BIAS)
			dev->fill(dev, leaf, 1.0);
		else
			dev->upload(dev, leaf, gp_matrix_wrap(ev->kernel->x->dense, ev->n, ev->kernel->x->dims,
												  ev->kernel->x->type));
		dev->gemm(dev, false, false, 1.0, leaf, right, 0.0, work);
		dev->destroy(dev, &leaf);
	}
	for (int k = inner; k > 0; k--)
		gp_operator_apply(ev, term->op[k], work);
	if (term->nops > 0 && gp_operator_is_a(term->op[0]))
	{
		dev->spmm(dev, sqrt(term->value) * term->op[0]->term[0].coef, ev->kernel->a, work, beta,
				  out);
		return;
	}
	if (term->nops > 0)
		gp_operator_apply(ev, term->op[0], work);
	dev->axpby(dev, sqrt(term->value), work, beta, out);
}

void
gp_terms_times(gp_eval *ev, const gp_terms *terms, gp_matrix right, gp_matrix work, gp_matrix out)
{
	int64_t		at = 0;

	for (int t = 0; t < terms->n; t++)
	{
		int64_t		width = gp_term_width(ev, &terms->term[t]);

		term_times(ev, &terms->term[t], gp_matrix_rows(right, at, width), work,
				   t == 0 ? 0.0 : 1.0, out);
		at += width;
	}
}

#define DENSE_GAIN 8.0			/* a dense product runs about so much faster than a sparse one */

double
gp_terms_cost(const gp_eval *ev, const gp_terms *terms)
{
	double		cost = 0.0;

	for (int t = 0; t < terms->n; t++)
	{
		const gp_csr *csr = gp_term_csr(ev, &terms->term[t]);

		if (terms->term[t].leaf == GP_LEAF_BIAS)
			cost += (double) ev->n / DENSE_GAIN;
		else if (csr)
			cost += (double) gp_csr_entries(csr);
		else
			cost += (double) ev->n * ev->kernel->x->dims / DENSE_GAIN;
		for (int k = 0; k < terms->term[t].nops; k++)
			cost += gp_operator_products(ev, terms->term[t].op[k]) *
				(double) gp_csr_entries(ev->kernel->a);
	}
	return cost;
}

double
gp_linear_cost(const gp_linear *z, int64_t rows, const int32_t *index)
{
	double		entries = 0.0;

	for (int64_t i = 0; z->csr && i < rows; i++)
		entries += (double) (z->csr->start[index[i] + 1] - z->csr->start[index[i]]);
	return entries + (double) rows * z->dense.cols / DENSE_GAIN;
}

bool
gp_terms_cheaper(const gp_eval *ev, const gp_terms *terms, const gp_linear *z)
{
	return z->terms || gp_terms_cost(ev, terms) < (z->csr ? (double) gp_csr_entries(z->csr) : 0.0) +
		(double) ev->n * z->dense.cols / DENSE_GAIN;
}

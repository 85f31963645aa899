/*
 * shadow.c - a device whose matrices are host memory and whose work another device does.
 */
#include "shadow.h"

#include <string.h>

#define MOST_GAP 3				/* elements behind a row that travel with it */
#define MOST_STAGES 8

/* Memory that create gave. */
typedef struct piece
{
	char	   *data;
	size_t		bytes;
	struct piece *next;
} piece;

typedef struct shadow
{
	gp_device	dev;
	gp_device  *under;
	shadow_way	way;
	int			turn;			/* operands so far */
	piece	   *pieces;
	gp_matrix	token;			/* on the device under test, to wait with */
} shadow;

/* An operand on its way. */
typedef struct trip
{
	gp_matrix	host;			/* with the gaps that travel */
	gp_matrix	card;			/* the same on the device */
	gp_matrix	m;				/* what the operation gets */
	bool		direct;
} trip;

/* The shadow behind a table. */
static shadow *
shadow_of(gp_device *dev)
{
	return dev->state;
}

/* The elements behind each row that are memory of the same matrix. */
static int64_t
gap_of(const shadow *s, gp_matrix m)
{
	size_t		size = gp_type_size(m.type);
	int64_t		gap = m.ld - m.cols < MOST_GAP ? m.ld - m.cols : MOST_GAP;
	const char *data = m.data;

	if (m.rows == 0 || m.cols == 0)
		return 0;
	for (const piece *p = s->pieces; p != NULL; p = p->next)
		if (data >= p->data && data < p->data + p->bytes)
		{
			size_t		end = (size_t) (data - p->data) +
				(size_t) ((m.rows - 1) * m.ld + m.cols + gap) * size;

			return end <= p->bytes ? gap : 0;
		}
	return 0;
}

/* Takes an operand to the device. */
static trip
go(shadow *s, gp_matrix m)
{
	trip		t = {m, m, m, s->way == SHADOW_DIRECT || (s->way == SHADOW_MIXED && s->turn++ % 2)};

	if (m.rows == 0 || m.cols == 0)
		t.direct = false;		/* nothing to be staged: a kernel may be given its address */
	if (t.direct)
		return t;
	t.host.cols += gap_of(s, m);
	t.card = s->under->create(s->under, t.host.rows, t.host.cols, m.type);
	s->under->upload(s->under, t.card, t.host);
	t.m = gp_matrix_cols(t.card, 0, m.cols);
	if (m.rows == 0 || m.cols == 0)
		t.m = t.card;
	return t;
}

/* Ends a trip; what the operation changed comes back. */
static void
back(shadow *s, trip *t, bool changed)
{
	double		sink;

	if (t->direct)
	{
		s->under->download(s->under, gp_matrix_wrap(&sink, 1, 1, GP_DOUBLE), s->token);
		return;
	}
	if (changed)
		s->under->download(s->under, t->host, t->card);
	s->under->destroy(s->under, &t->card);
}

static gp_matrix
shadow_create(gp_device *dev, int64_t rows, int64_t cols, gp_type type)
{
	shadow	   *s = shadow_of(dev);
	gp_matrix	m = {NULL, rows, cols, cols, type};
	piece	   *p = gp_alloc(dev->env, sizeof(piece));

	p->bytes = gp_size_mul(dev->env, (size_t) (rows * cols), gp_type_size(type));
	m.data = gp_alloc(dev->env, p->bytes);
	p->data = m.data;
	p->next = s->pieces;
	s->pieces = p;
	return m;
}

static void
shadow_destroy(gp_device *dev, gp_matrix *m)
{
	shadow	   *s = shadow_of(dev);

	for (piece **link = &s->pieces; *link != NULL; link = &(*link)->next)
		if ((*link)->data == m->data)
		{
			piece	   *gone = *link;

			*link = gone->next;
			gp_free(dev->env, gone);
			break;
		}
	gp_free(dev->env, m->data);
	m->data = NULL;
}

static void
shadow_upload(gp_device *dev, gp_matrix dst, gp_matrix host)
{
	shadow	   *s = shadow_of(dev);
	trip		d = go(s, dst);

	s->under->upload(s->under, d.m, host);
	back(s, &d, true);
}

static void
shadow_download(gp_device *dev, gp_matrix host, gp_matrix src)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, src);

	s->under->download(s->under, host, t.m);
	back(s, &t, false);
}

static void
shadow_copy(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	shadow	   *s = shadow_of(dev);
	trip		d = go(s, dst);
	trip		t = go(s, src);

	s->under->copy(s->under, d.m, t.m);
	back(s, &d, true);
	back(s, &t, false);
}

static void
shadow_fill(gp_device *dev, gp_matrix dst, double value)
{
	shadow	   *s = shadow_of(dev);
	trip		d = go(s, dst);

	s->under->fill(s->under, d.m, value);
	back(s, &d, true);
}

static void
shadow_axpby(gp_device *dev, double a, gp_matrix x, double b, gp_matrix y)
{
	shadow	   *s = shadow_of(dev);
	trip		ty = go(s, y);
	trip		tx = x.data == y.data ? ty : go(s, x);

	s->under->axpby(s->under, a, tx.m, b, ty.m);
	if (x.data != y.data)
		back(s, &tx, false);
	back(s, &ty, true);
}

static void
shadow_shift(gp_device *dev, gp_matrix x, double c)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, x);

	s->under->shift(s->under, t.m, c);
	back(s, &t, true);
}

static void
shadow_transpose(gp_device *dev, gp_matrix dst, gp_matrix src)
{
	shadow	   *s = shadow_of(dev);
	trip		d = go(s, dst);
	trip		t = go(s, src);

	s->under->transpose(s->under, d.m, t.m);
	back(s, &d, true);
	back(s, &t, false);
}

static void
shadow_transpose_square(gp_device *dev, gp_matrix x)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, x);

	s->under->transpose_square(s->under, t.m);
	back(s, &t, true);
}

static void
shadow_gather_rows(gp_device *dev, gp_matrix dst, gp_matrix src, const int32_t *index)
{
	shadow	   *s = shadow_of(dev);
	trip		d = go(s, dst);
	trip		t = go(s, src);

	s->under->gather_rows(s->under, d.m, t.m, index);
	back(s, &d, true);
	back(s, &t, false);
}

static void
shadow_row_dots(gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b)
{
	shadow	   *s = shadow_of(dev);
	trip		o = go(s, out);
	trip		ta = go(s, a);
	trip		tb = a.data == b.data ? ta : go(s, b);

	s->under->row_dots(s->under, o.m, ta.m, tb.m);
	if (a.data != b.data)
		back(s, &tb, false);
	back(s, &ta, false);
	back(s, &o, true);
}

static void
shadow_take(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			double *out)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, m);

	s->under->take(s->under, t.m, n, row, col, out);
	back(s, &t, false);
}

static void
shadow_put(gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
		   const double *value)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, m);

	s->under->put(s->under, t.m, n, row, col, value);
	back(s, &t, true);
}

static void
shadow_gemm(gp_device *dev, bool trans_a, bool trans_b, double alpha, gp_matrix a, gp_matrix b,
			double beta, gp_matrix c)
{
	shadow	   *s = shadow_of(dev);
	trip		ta = go(s, a);
	trip		tb = go(s, b);
	trip		tc = go(s, c);

	s->under->gemm(s->under, trans_a, trans_b, alpha, ta.m, tb.m, beta, tc.m);
	back(s, &ta, false);
	back(s, &tb, false);
	back(s, &tc, true);
}

static void
shadow_syrk(gp_device *dev, bool trans, double alpha, gp_matrix a, double beta, gp_matrix c)
{
	shadow	   *s = shadow_of(dev);
	trip		ta = go(s, a);
	trip		tc = go(s, c);

	s->under->syrk(s->under, trans, alpha, ta.m, beta, tc.m);
	back(s, &ta, false);
	back(s, &tc, true);
}

static int64_t
shadow_potrf(gp_device *dev, gp_matrix a)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, a);
	int64_t		column = s->under->potrf(s->under, t.m);

	back(s, &t, true);
	return column;
}

static void
shadow_trtri(gp_device *dev, gp_matrix l)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, l);

	s->under->trtri(s->under, t.m);
	back(s, &t, true);
}

static void
shadow_syev(gp_device *dev, gp_matrix a, gp_matrix w)
{
	shadow	   *s = shadow_of(dev);
	trip		ta = go(s, a);
	trip		tw = go(s, w);

	s->under->syev(s->under, ta.m, tw.m);
	back(s, &ta, true);
	back(s, &tw, true);
}

static void
shadow_trsm(gp_device *dev, bool left, bool trans, gp_matrix l, gp_matrix b)
{
	shadow	   *s = shadow_of(dev);
	trip		tl = go(s, l);
	trip		tb = go(s, b);

	s->under->trsm(s->under, left, trans, tl.m, tb.m);
	back(s, &tl, false);
	back(s, &tb, true);
}

static void
shadow_spmm(gp_device *dev, double alpha, const gp_csr *a, gp_matrix b, double beta, gp_matrix c)
{
	shadow	   *s = shadow_of(dev);
	trip		tb = go(s, b);
	trip		tc = go(s, c);

	s->under->spmm(s->under, alpha, a, tb.m, beta, tc.m);
	back(s, &tb, false);
	back(s, &tc, true);
}

static void
shadow_spmm_right(gp_device *dev, double alpha, gp_matrix b, const gp_csr *a, double beta,
				  gp_matrix c)
{
	shadow	   *s = shadow_of(dev);
	trip		tb = go(s, b);
	trip		tc = go(s, c);

	s->under->spmm_right(s->under, alpha, tb.m, a, beta, tc.m);
	back(s, &tb, false);
	back(s, &tc, true);
}

static void
shadow_spmm_take(gp_device *dev, const gp_csr *a, gp_matrix b, int64_t n, const int32_t *row,
				 const int32_t *col, double *out)
{
	shadow	   *s = shadow_of(dev);
	trip		tb = go(s, b);

	s->under->spmm_take(s->under, a, tb.m, n, row, col, out);
	back(s, &tb, false);
}

static void
shadow_csr_rows(gp_device *dev, gp_matrix dst, const gp_csr *a, const int32_t *index, int64_t n)
{
	shadow	   *s = shadow_of(dev);
	trip		d = go(s, dst);

	s->under->csr_rows(s->under, d.m, a, index, n);
	back(s, &d, true);
}

static void
shadow_csr_product_rows(gp_device *dev, gp_matrix dst, double alpha, const gp_csr *a,
						const gp_csr *b, const int32_t *index, int64_t n)
{
	shadow	   *s = shadow_of(dev);
	trip		d = go(s, dst);

	s->under->csr_product_rows(s->under, d.m, alpha, a, b, index, n);
	back(s, &d, true);
}

static void
shadow_walks(gp_device *dev, const gp_csr *a, gp_matrix w, int64_t n, const int32_t *src,
			 const int32_t *dst, const bool *cut, double *two, double *three)
{
	shadow	   *s = shadow_of(dev);
	trip		t = go(s, w);

	s->under->walks(s->under, a, t.m, n, src, dst, cut, two, three);
	back(s, &t, false);
}

static void
shadow_random_walks(gp_device *dev, gp_walk_task task, double factor, gp_csr *out)
{
	gp_device  *under = shadow_of(dev)->under;

	under->random_walks(under, task, factor, out);
}

static void
shadow_map(gp_device *dev, const gp_stage *stage, gp_matrix k, int64_t row0, const int32_t *cols)
{
	shadow	   *s = shadow_of(dev);
	gp_stage	there = *stage;
	trip		d = go(s, stage->diag);
	trip		t = go(s, k);

	there.diag = d.m;
	s->under->map(s->under, &there, t.m, row0, cols);
	back(s, &d, false);
	back(s, &t, true);
}

static void
shadow_map_diag(gp_device *dev, const gp_stage *stage, gp_matrix diag)
{
	shadow	   *s = shadow_of(dev);
	gp_stage	there = *stage;
	trip		t = go(s, diag);

	there.diag = t.m;			/* as the cases and the evaluators have it */
	s->under->map_diag(s->under, &there, t.m);
	back(s, &t, true);
}

static void
shadow_pair_diag(gp_device *dev, const gp_csr *a, const gp_csr *zs, const gp_matrix *zd,
				 const gp_stage *stages, int nstages, gp_matrix out)
{
	shadow	   *s = shadow_of(dev);
	gp_stage	there[MOST_STAGES];
	trip		d[MOST_STAGES];
	trip		z;
	trip		o = go(s, out);

	for (int i = 0; i < nstages; i++)
	{
		d[i] = go(s, stages[i].diag);
		there[i] = stages[i];
		there[i].diag = d[i].m;
	}
	if (zd != NULL)
		z = go(s, *zd);
	s->under->pair_diag(s->under, a, zs, zd != NULL ? &z.m : NULL, there, nstages, o.m);
	for (int i = 0; i < nstages; i++)
		back(s, &d[i], false);
	if (zd != NULL)
		back(s, &z, false);
	back(s, &o, true);
}

static void
shadow_close(gp_device *dev)
{
	shadow	   *s = shadow_of(dev);

	s->under->destroy(s->under, &s->token);
	gp_free(dev->env, s);
}

/* The entries of the table. */
static void
fill_table(gp_device *dev)
{
	dev->create = shadow_create;
	dev->destroy = shadow_destroy;
	dev->upload = shadow_upload;
	dev->download = shadow_download;
	dev->copy = shadow_copy;
	dev->fill = shadow_fill;
	dev->axpby = shadow_axpby;
	dev->shift = shadow_shift;
	dev->transpose = shadow_transpose;
	dev->transpose_square = shadow_transpose_square;
	dev->gather_rows = shadow_gather_rows;
	dev->row_dots = shadow_row_dots;
	dev->take = shadow_take;
	dev->put = shadow_put;
	dev->gemm = shadow_gemm;
	dev->syrk = shadow_syrk;
	dev->potrf = shadow_potrf;
	dev->trtri = shadow_trtri;
	dev->syev = shadow_syev;
	dev->trsm = shadow_trsm;
	dev->spmm = shadow_spmm;
	dev->spmm_right = shadow_spmm_right;
	dev->spmm_take = shadow_spmm_take;
	dev->csr_rows = shadow_csr_rows;
	dev->csr_product_rows = shadow_csr_product_rows;
	dev->walks = shadow_walks;
	dev->random_walks = shadow_random_walks;
	dev->map = shadow_map;
	dev->map_diag = shadow_map_diag;
	dev->pair_diag = shadow_pair_diag;
	dev->close = shadow_close;
}

/* A shadow of a device. */
gp_device *
shadow_open(gp_device *under, shadow_way way)
{
	shadow	   *s = gp_alloc_zero(under->env, 1, sizeof(shadow));

	s->under = under;
	s->way = way;
	s->dev.name = "shadow";
	s->dev.env = under->env;
	s->dev.threads = under->threads;
	s->dev.state = s;
	fill_table(&s->dev);
	s->token = under->create(under, 1, 1, GP_DOUBLE);
	under->fill(under, s->token, 0.0);
	return &s->dev;
}

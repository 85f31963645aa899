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
	bool		again;			/* an operand before it went for both */
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
	trip		t = {m, m, m, s->way == SHADOW_DIRECT || (s->way == SHADOW_MIXED && s->turn++ % 2), false};

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

/* Takes the operands of a call to the device; one that stands there twice goes once. */
static gp_device *
go_all(gp_device *dev, int n, const gp_matrix *given, trip *t)
{
	shadow	   *s = shadow_of(dev);

	for (int i = 0; i < n; i++)
	{
		int			same = 0;

		while (same < i && memcmp(&given[same], &given[i], sizeof(gp_matrix)) != 0)
			same++;
		t[i] = same < i ? t[same] : go(s, given[i]);
		t[i].again = same < i;
	}
	return s->under;
}

/* Ends their trips; changed has the bits of those that come back. */
static void
back_all(gp_device *dev, int n, trip *t, unsigned changed)
{
	for (int i = 0; i < n; i++)
		if (!t[i].again)
			back(shadow_of(dev), &t[i], changed >> i & 1);
}

/* An operation whose operands, the last arguments, stand as OPERAND(i) in its call under the shadow. */
#define SHADOW(name, parameters, changed, call, ...) \
	static void shadow_##name parameters \
	{ \
		const gp_matrix given[] = {__VA_ARGS__}; \
		const int	n_given = (int) (sizeof(given) / sizeof(given[0])); \
		trip		t[sizeof(given) / sizeof(given[0])]; \
		gp_device  *under = go_all(dev, n_given, given, t); \
		under->name call; \
		back_all(dev, n_given, t, changed); \
	}
#define OPERAND(i) t[i].m
#define CHANGES(i) (1u << (i))

SHADOW(upload, (gp_device *dev, gp_matrix dst, gp_matrix host), CHANGES(0),
	   (under, OPERAND(0), host), dst)
SHADOW(download, (gp_device *dev, gp_matrix host, gp_matrix src), 0,
	   (under, host, OPERAND(0)), src)
SHADOW(copy, (gp_device *dev, gp_matrix dst, gp_matrix src), CHANGES(0),
	   (under, OPERAND(0), OPERAND(1)), dst, src)
SHADOW(fill, (gp_device *dev, gp_matrix dst, double value), CHANGES(0),
	   (under, OPERAND(0), value), dst)
SHADOW(axpby, (gp_device *dev, double a, gp_matrix x, double b, gp_matrix y), CHANGES(0),
	   (under, a, OPERAND(1), b, OPERAND(0)), y, x)
SHADOW(shift, (gp_device *dev, gp_matrix x, double c), CHANGES(0), (under, OPERAND(0), c), x)
SHADOW(transpose, (gp_device *dev, gp_matrix dst, gp_matrix src), CHANGES(0),
	   (under, OPERAND(0), OPERAND(1)), dst, src)
SHADOW(transpose_square, (gp_device *dev, gp_matrix x), CHANGES(0), (under, OPERAND(0)), x)
SHADOW(gather_rows, (gp_device *dev, gp_matrix dst, gp_matrix src, const int32_t *index), CHANGES(0),
	   (under, OPERAND(0), OPERAND(1), index), dst, src)
SHADOW(row_dots, (gp_device *dev, gp_matrix out, gp_matrix a, gp_matrix b), CHANGES(0),
	   (under, OPERAND(0), OPERAND(1), OPERAND(2)), out, a, b)
SHADOW(elementwise, (gp_device *dev, const gp_elementwise *e, gp_matrix y, gp_matrix a, gp_matrix b, gp_matrix c),
	   CHANGES(0) | CHANGES(2) | CHANGES(3), (under, e, OPERAND(0), OPERAND(1), OPERAND(2), OPERAND(3)), y, a, b, c)
SHADOW(take, (gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			  double *out), 0,
	   (under, OPERAND(0), n, row, col, out), m)
SHADOW(put, (gp_device *dev, gp_matrix m, int64_t n, const int32_t *row, const int32_t *col,
			 const double *value), CHANGES(0),
	   (under, OPERAND(0), n, row, col, value), m)
SHADOW(gemm, (gp_device *dev, bool trans_a, bool trans_b, double alpha, gp_matrix a, gp_matrix b,
			  double beta, gp_matrix c), CHANGES(2),
	   (under, trans_a, trans_b, alpha, OPERAND(0), OPERAND(1), beta, OPERAND(2)), a, b, c)
SHADOW(syrk, (gp_device *dev, bool trans, double alpha, gp_matrix a, double beta, gp_matrix c),
	   CHANGES(1), (under, trans, alpha, OPERAND(0), beta, OPERAND(1)), a, c)
SHADOW(trtri, (gp_device *dev, gp_matrix l), CHANGES(0), (under, OPERAND(0)), l)
SHADOW(syev, (gp_device *dev, gp_matrix a, gp_matrix w), CHANGES(0) | CHANGES(1),
	   (under, OPERAND(0), OPERAND(1)), a, w)
SHADOW(trsm, (gp_device *dev, bool left, bool trans, gp_matrix l, gp_matrix b), CHANGES(1),
	   (under, left, trans, OPERAND(0), OPERAND(1)), l, b)
SHADOW(spmm, (gp_device *dev, double alpha, const gp_csr *a, gp_matrix b, double beta, gp_matrix c),
	   CHANGES(1), (under, alpha, a, OPERAND(0), beta, OPERAND(1)), b, c)
SHADOW(spmm_take, (gp_device *dev, const gp_csr *a, gp_matrix b, int64_t n, const int32_t *row,
				   const int32_t *col, double *out), 0,
	   (under, a, OPERAND(0), n, row, col, out), b)
SHADOW(csr_rows, (gp_device *dev, gp_matrix dst, const gp_csr *a, const int32_t *index, int64_t n),
	   CHANGES(0), (under, OPERAND(0), a, index, n), dst)
SHADOW(csr_product_rows, (gp_device *dev, gp_matrix dst, double alpha, const gp_csr *a,
						  const gp_csr *b, const int32_t *index, int64_t n), CHANGES(0),
	   (under, OPERAND(0), alpha, a, b, index, n), dst)
SHADOW(pair_paths, (gp_device *dev, const gp_csr *a, gp_matrix w, int64_t n, const int32_t *src,
					const int32_t *dst, const bool *cut, double *two, double *three), 0,
	   (under, a, OPERAND(0), n, src, dst, cut, two, three), w)

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
	dev->elementwise = shadow_elementwise;
	dev->take = shadow_take;
	dev->put = shadow_put;
	dev->gemm = shadow_gemm;
	dev->syrk = shadow_syrk;
	dev->potrf = shadow_potrf;
	dev->trtri = shadow_trtri;
	dev->syev = shadow_syev;
	dev->trsm = shadow_trsm;
	dev->spmm = shadow_spmm;
	dev->spmm_take = shadow_spmm_take;
	dev->csr_rows = shadow_csr_rows;
	dev->csr_product_rows = shadow_csr_product_rows;
	dev->pair_paths = shadow_pair_paths;
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

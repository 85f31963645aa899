/*
 * test_gckm.c - the parts of the graph convolutional kernel machine against plain loops: its
 * views, its components, the layer of labels against the dense solution of the paper's equation,
 * golden values.
 */
#include "plain_gckm.h"

/* ---- the layer of labels ---- */

/* A kernel on n nodes: scores, bias and leave-one-out against the dense equation. */
static void
check_equation(gp_env *env, int n, int classes, int every, double lambda1, double lambda2, double eta)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	double	   *x = gp_alloc_array(env, n * 3, sizeof(double));
	int32_t    *labelled = gp_alloc_array(env, n, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, n, sizeof(int32_t));
	gp_rkm		m = {lambda1, lambda2, eta, 0, labelled, label, classes};
	double	   *e = gp_alloc_array(env, n * classes, sizeof(double));
	double	   *want = gp_alloc_array(env, n * classes, sizeof(double));
	double	   *loo = gp_alloc_array(env, n * classes, sizeof(double));
	double		bias[8];
	double		want_bias[8];
	gp_points	points = all_points(env, n);
	uint64_t	state = 7;
	double		worst_loo = 0.0;
	char		name[200];

	for (int i = 0; i < 3 * n; i++)
		x[i] = draw_unit(&state);
	for (int i = 0; i < n; i += every)
	{
		labelled[m.nlabelled] = i;
		label[m.nlabelled++] = draw_below(&state, classes);
	}
	double	   *k = plain_rbf(env, n, 3, x, 0.1);
	gp_matrix	q = on_device(dev, n, n, k);
	gp_points_factor(dev, q, &points);
	gp_rkm_solve(dev, &m, q, e, loo, bias);
	equation(&m, n, k, -1, want, NULL, want_bias);
	snprintf(name, sizeof(name), "%d nodes, %d labels, %d classes, lambda1 %g, eta %g: the dense solution to %.2g, "
			 "bias to %.2g", n, (int) m.nlabelled, classes, lambda1, eta, worst((int64_t) n * classes, e, want),
			 worst(classes, bias, want_bias));
	ok(worst((int64_t) n * classes, e, want) < 1e-9 && worst(classes, bias, want_bias) < 1e-9, name);
	for (int t = 0; t < m.nlabelled && m.nlabelled > 1; t += 1 + (int) m.nlabelled / 10)
	{
		equation(&m, n, k, t, want, NULL, NULL);
		worst_loo = fmax(worst_loo, worst(classes, loo + t * classes, want + labelled[t] * classes));
	}
	snprintf(name, sizeof(name), "leave-one-out is the solution without the label to %.2g", worst_loo);
	ok(worst_loo < 1e-9, name);
}

/* The golden values of the layer of labels on the karate club. */
static void
check_golden(gp_env *env)
{
	static const int32_t labelled[] = {0, 1, 32, 33};
	static const int32_t label[] = {0, 0, 1, 1};
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_rkm		m = {1.0, 0.1, 1.0, 4, labelled, label, 2};
	gp_points	points = all_points(env, N);
	double		h1[N * 4];
	double		h[N * 3];
	double		e[N * 2];
	double		plain[N * 2];
	double		plain_h[N * 2];
	double		loo[8];
	double		bias[2];
	double		d = 0.0;
	gp_matrix	products = dev->create(dev, N, N, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, N, 1, GP_DOUBLE);

	orthogonal(1, 4, h1);
	orthogonal(2, 3, h);
	close_to(h1[0], 0.07611814965150554, 1e-12, "golden: the first components");
	close_to(h[0], 0.12098110560787846, 1e-12, "golden: the second components");
	double	   *k = plain_rbf(env, N, 3, h, 0.1);
	gp_matrix	x = on_device(dev, N, 3, h);
	gp_rows_products(dev, x, &points, products, norm);
	gp_rbf(dev, products, norm, &points, 0.1);
	gp_points_factor(dev, products, &points);
	gp_rkm_solve(dev, &m, products, e, loo, bias);
	for (int j = 0; j < N; j++)
		d += k[j];
	/* h_i = e_i + [labelled] c_i / (r_i lambda2) */
	close_to(e[0] + 1.0 / ((1.0 / d - 10.0) * 0.1), -0.2063598738021836, 1e-9, "golden: H3 of a labelled node");
	close_to(e[16 * 2], 0.806292575811758, 1e-9, "golden: H3 of another node");
	close_to(bias[0], 0.15092986482717546, 1e-9, "golden: the bias");
	equation(&m, N, k, -1, plain, plain_h, NULL);
	close_to(plain_h[0], -0.2063598738021836, 1e-9, "golden: the dense equation of this test");
}

/* Nodes that are like no other: scores and leave-one-out are numbers all the same. */
static void
check_alone(gp_env *env)
{
	static const int32_t labelled[] = {0, 1, 2};
	static const int32_t label[] = {0, 1, 1};
	static const double q[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.8, 0.6, 0, 0, 0.6, 0.8, 0, 0, 0, 0};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_rkm		m = {1.0, 0.07, 1.0, 3, labelled, label, 2};
	double		e[10];
	double		loo[6];
	double		bias[2];
	double		sum = 0.0;

	gp_rkm_solve(dev, &m, on_device(dev, 5, 4, q), e, loo, bias);
	for (int i = 0; i < 10; i++)
		sum += e[i] + (i < 6 ? loo[i] : 0.0);
	ok(isfinite(sum), "nodes that are like no other get scores");
	ok(e[8] == bias[0] && e[9] == bias[1], "that of a node far from the landmarks is the bias");
	m.nlabelled = 1;
	gp_rkm_solve(dev, &m, on_device(dev, 5, 4, q), e, loo, NULL);
	ok(loo[0] == 0.0 && loo[1] == 0.0, "without its only label nothing is said");
}

/* Landmarks are distinct and ascend; labelled nodes come first, as long as others have a quarter. */
static void
check_points(gp_env *env, int nodes, int nlabelled, int count, int want)
{
	int32_t    *labelled = gp_alloc_array(env, nlabelled, sizeof(int32_t));
	bool	   *is_labelled = gp_alloc_zero(env, nodes, sizeof(bool));
	int			taken = 0;
	bool		ascend = true;
	char		name[120];

	for (int k = 0; k < nlabelled; k++)
		is_labelled[labelled[k] = (int32_t) ((int64_t) k * nodes / nlabelled)] = true;
	gp_points	p = gp_points_choose(env, nodes, nlabelled, labelled, count, 1);
	gp_points	other = gp_points_choose(env, nodes, nlabelled, labelled, count, 2);
	for (int k = 0; k < p.n; k++)
	{
		ascend = ascend && (k == 0 || p.node[k] > p.node[k - 1]) && p.node[k] < nodes;
		taken += is_labelled[p.node[k]];
	}
	snprintf(name, sizeof(name), "%d of %d landmarks of %d nodes are among %d labelled ones", taken, (int) p.n, nodes,
			 nlabelled);
	ok(ascend && p.n == (count < nodes ? count : nodes) && taken == want, name);
	ok(count >= nodes || memcmp(p.node, other.node, p.n * sizeof(int32_t)) != 0, "another seed draws others");
}

/* ---- views ---- */

/* Distances from products and norms, and the variance, against plain loops. */
static void
check_view(gp_env *env, int n, int dims, bool sparse, gp_type type, bool own)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	uint64_t	state = 11;
	gp_graph   *graph = random_hub_graph(env, &state, n, 2 * n, n > 3 ? 1 : 0, n / 3, false);
	gp_csr	   *op = own ? NULL : gp_graph_normalise(env, graph, GP_NORM_SYM, GP_DOUBLE);
	double	   *x = gp_alloc_array(env, (int64_t) n * dims, sizeof(double));
	gp_features *f = make_features(env, n, dims, sparse, type, x);
	double	   *a = plain_rows(env, n, dims, op, x);
	int			m = n > 5 ? n - 3 : n;
	gp_points	points = gp_points_choose(env, n, 0, NULL, m, 4);
	gp_matrix	products = dev->create(dev, n, m, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, n, m, GP_DOUBLE);
	double	   *got = gp_alloc_array(env, (int64_t) n * m, sizeof(double));
	double	   *length = gp_alloc_array(env, n, sizeof(double));
	double		variance = gp_feature_products(dev, f, op, &points, products, norm);
	double		off = 0.0;
	char		name[200];

	dev->download(dev, gp_matrix_wrap(got, n, m, GP_DOUBLE), products);
	dev->download(dev, gp_matrix_wrap(length, n, 1, GP_DOUBLE), norm);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
		{
			int			b = points.node[j];
			double		away = 0.0;

			for (int c = 0; c < dims; c++)
				away += (a[i * dims + c] - a[b * dims + c]) * (a[i * dims + c] - a[b * dims + c]);
			off = fmax(off, fabs(length[i] + length[b] - 2.0 * got[i * m + j] - away) / (1.0 + dims));
		}
	snprintf(name, sizeof(name), "%d nodes, %d %s %s, %s: distances to %.2g, variance %.4g", n, dims,
			 type == GP_FLOAT ? "float" : "double", sparse ? "sparse" : "dense", own ? "own" : "gathered", off,
			 variance);
	ok(off < 1e-13 && fabs(variance - plain_variance(n, dims, a)) < 1e-12 * (1.0 + dims), name);
	if (!own)
		return;
	dev->fill(dev, k, 2.0);
	gp_own_view(dev, f, &points, 0.0, products, norm, k);
	dev->download(dev, gp_matrix_wrap(got, n, m, GP_DOUBLE), k);
	off = 0.0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
		{
			int			b = points.node[j];
			double		away = 0.0;
			double		gamma = variance > 0.0 ? 0.8 / sqrt(2.0 * variance) : 1.0;

			for (int c = 0; c < dims; c++)
				away += (a[i * dims + c] - a[b * dims + c]) * (a[i * dims + c] - a[b * dims + c]);
			off = fmax(off, fabs(got[i * m + j] - 2.0 * exp(-gamma * sqrt(away))));
		}
	snprintf(name, sizeof(name), "the own view multiplies the kernel, to %.2g", off);
	ok(off < 1e-7, name);
}

/* Components are orthonormal eigenvectors of the centred kernel. */
static void
check_components(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	double		x[N * 3];
	double		h[N * 40];
	gp_points	points = all_points(env, N);
	gp_matrix	out = dev->create(dev, N, 40, GP_DOUBLE);
	double		off = 0.0;
	double		beyond = 0.0;

	for (int i = 0; i < N * 3; i++)
		x[i] = fill(i / 3, i % 3, 3, 1.0) + cos(0.3 * i * i);
	double	   *k = plain_rbf(env, N, 3, x, 2.0);
	gp_matrix	q = on_device(dev, N, N, k);
	gp_points_factor(dev, q, &points);
	gp_principal_components(dev, q, out);
	dev->download(dev, gp_matrix_wrap(h, N, 40, GP_DOUBLE), out);
	double	   *want = plain_components(env, N, 5, k);
	for (int j = 0; j < 5; j++)
	{
		double		dot = 0.0;

		/* the leading ones stand last of the first 34 */
		for (int i = 0; i < N; i++)
			dot += h[i * 40 + N - 1 - j] * want[i * 5 + j];
		off = fmax(off, fabs(fabs(dot) - 1.0));
	}
	for (int i = 0; i < N; i++)
		for (int j = N; j < 40; j++)
			beyond = fmax(beyond, fabs(h[i * 40 + j]));
	ok(off < 1e-10 && beyond == 0.0, "components are eigenvectors of the centred kernel; those beyond the landmarks are 0");
}

/* Views of all kinds and awkward sizes. */
static void
check_views(int n)
{
	static const int width[] = {2, 31, 33, 65};

	for (volatile int w = 0; w < 4; w++)
		for (volatile int k = 0; k < 8; k++)
			in_env(check_view(env, n, width[w], k & 1, k & 2 ? GP_FLOAT : GP_DOUBLE, k & 4));
}

int
main(void)
{
	static const int size[] = {1, 2, 3, 7, 33, 130};

	in_env(check_golden(env));
	in_env(check_equation(env, 34, 2, 8, 1.0, 0.07, 1.0));
	in_env(check_equation(env, 150, 4, 7, 1.0, 0.07, 1.0));
	in_env(check_equation(env, 90, 3, 2, 1.0, 0.5, 1.0));
	in_env(check_equation(env, 60, 3, 9, 1.5, 0.2, 1.0));
	in_env(check_equation(env, 60, 3, 9, 1.5, 0.2, 2.0));
	in_env(check_equation(env, 60, 2, 30, 1.0, 0.01, 1.0));
	in_env(check_equation(env, 40, 3, 1, 1.0, 0.07, 1.0));
	in_env(check_points(env, 1000, 50, 100, 50));
	in_env(check_points(env, 1000, 400, 100, 75));
	in_env(check_points(env, 1000, 990, 100, 90));
	in_env(check_points(env, 50, 20, 100, 20));
	in_env(check_alone(env));
	in_env(check_components(env));
	for (int s = 0; s < 6; s++)
		check_views(size[s]);
	return done_testing();
}

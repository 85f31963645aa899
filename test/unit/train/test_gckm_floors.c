/*
 * test_gckm_floors.c - the graph convolutional kernel machine on real graphs: its accuracy, which
 * may not fall under what was measured once, and its layer of labels against the dense
 * solution of the paper's equation.
 *
 *		GNNGP_DATA=... test_gckm_floors [a method's text, to try it on all of them]
 *
 * GNNGP_DATA names a folder that holds the data sets.
 */
#include "cluster/cluster.h"
#include "plain_gckm.h"

#include <time.h>

#define SEEDS 3

/* A data set. */
typedef struct dataset
{
	gp_graph   *graph;
	gp_features *features;
	int32_t	   *label;			/* of each node */
	char	   *role;			/* of each node by the default split: its first letter */
	int32_t		classes;
	int64_t		nodes;
} dataset;

static const char *folder;

/* Opens a compressed table and skips its head. */
static FILE *
open_table(const char *set, const char *table)
{
	char		command[600];
	char		head[200];
	FILE	   *file;

	snprintf(command, sizeof(command), "gzip -dc '%s/%s/%s.csv.gz'", folder, set, table);
	file = popen(command, "r");
	if (file == NULL || fgets(head, sizeof(head), file) == NULL)
	{
		printf("Bail out! no %s of %s\n", table, set);
		exit(1);
	}
	return file;
}

/* Reads nodes: id, label or target, split, and perhaps a class. */
static void
read_nodes(gp_env *env, const char *set, dataset *d)
{
	FILE	   *file = open_table(set, "nodes");
	char		line[200];

	d->label = gp_alloc_zero(env, 200000, sizeof(int32_t));
	d->role = gp_alloc_zero(env, 200000, 1);
	while (fgets(line, sizeof(line), file))
	{
		char		split[20] = "";
		int			id;
		int			class = -1;
		double		label = -1.0;
		int			n = sscanf(line, "%d,%lf,%19[a-z],%d", &id, &label, split, &class);

		d->label[id] = n == 4 ? class : (int32_t) label;
		d->role[id] = split[0] == 't' ? split[1] : split[0];
		d->nodes = gp_max64(d->nodes, id + 1);
		d->classes = d->label[id] >= d->classes ? d->label[id] + 1 : d->classes;
	}
	pclose(file);
}

/* Reads a data set. */
static dataset
read_set(gp_env *env, const char *set)
{
	dataset		d = {0};
	gp_edges   *edges;
	gp_features_builder *b;
	FILE	   *file;
	int32_t		i;
	int32_t		j;
	double		value;

	read_nodes(env, set, &d);
	edges = gp_edges_create(env, d.nodes, false, false);
	file = open_table(set, "edges");
	while (fscanf(file, "%d,%d", &i, &j) == 2)
		gp_edges_add(edges, 1, &i, &j, NULL);
	pclose(file);
	d.graph = gp_graph_build(edges);
	b = gp_features_create(env, d.nodes, 0, GP_FLOAT);
	file = open_table(set, "features");
	while (fscanf(file, "%d,%d,%lf", &i, &j, &value) == 3)
		gp_features_add_entries(b, 1, &i, &j, &value);
	pclose(file);
	d.features = gp_features_build(b, &i, &j);
	return d;
}

/* Takes the roles of a named split. */
static void
take_split(const char *set, const char *split, dataset *d)
{
	FILE	   *file = open_table(set, "splits");
	char		line[200];

	memset(d->role, 0, d->nodes);
	while (fgets(line, sizeof(line), file))
	{
		char		name[60];
		char		role[20];
		int			id;

		if (sscanf(line, "%59[^,],%d,%19[a-z]", name, &id, role) == 3 && strcmp(name, split) == 0)
			d->role[id] = role[0] == 't' ? role[1] : role[0];
	}
	pclose(file);
}

/* The problem of a data set: role r (of "train") is labelled. */
static gp_problem
make_problem(gp_env *env, const dataset *d, uint64_t seed)
{
	int32_t    *labelled = gp_alloc_array(env, d->nodes, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, d->nodes, sizeof(int32_t));
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	for (int64_t i = 0; i < d->nodes; i++)
		if (d->role[i] == 'r')
		{
			labelled[p.nlabelled] = (int32_t) i;
			label[p.nlabelled++] = d->label[i];
		}
	p.graph = d->graph;
	p.features = d->features;
	p.task = GP_TASK_CLASSES;
	p.labelled = labelled;
	p.label = label;
	p.nclasses = d->classes;
	p.seed = seed;
	p.type = GP_FLOAT;
	return p;
}

/* The class that a posterior gives a node. */
static int32_t
class_of(const gp_posterior *out, int64_t i)
{
	double		p[100];
	int32_t		best = 0;

	gp_probabilities(&out->calibrator, out->columns, out->mean + i * out->columns, p);
	for (int32_t c = 1; c < out->columns; c++)
		if (p[c] > p[best])
			best = c;
	return best;
}

/* Seconds of processor time. */
static double
seconds(void)
{
	return (double) clock() / CLOCKS_PER_SEC;
}

/* Accuracy on the test nodes, the mean over seeds. */
static void
check_accuracy(gp_env *env, const dataset *d, const char *name, const char *text, double least)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_gckm		options = gp_gckm_parse(env, text);
	double		mean = 0.0;
	double		loo = 0.0;
	double		raw = 0.0;
	double		ece = 0.0;
	double		took = seconds();
	char		line[300];

	for (uint64_t seed = 0; seed < SEEDS; seed++)
	{
		gp_problem	p = make_problem(env, d, seed);
		gp_posterior *out = gp_gckm_fit(dev, &p, &options);
		double		right = 0.0;
		double		best = 0.0;
		double		tests = 0.0;

		for (int64_t i = 0; i < d->nodes; i++)
			if (d->role[i] == 'e')
			{
				const double *row = out->mean + i * out->columns;
				int32_t		top = 0;

				for (int32_t c = 1; c < out->columns; c++)
					top = row[c] > row[top] ? c : top;
				tests += 1.0;
				right += class_of(out, i) == d->label[i];
				best += top == d->label[i];
			}
		printf("# seed %d: %.4f (highest score: %.4f), leave-one-out accuracy %.4f, nll %.3f, ece %.3f, jitter %g\n",
			   (int) seed, right / tests, best / tests, out->metric[GP_METRIC_ACCURACY], out->metric[GP_METRIC_NLL],
			   out->metric[GP_METRIC_ECE], out->jitter);
		mean += right / tests / SEEDS;
		raw += best / tests / SEEDS;
		loo += out->metric[GP_METRIC_ACCURACY] / SEEDS;
		ece += out->metric[GP_METRIC_ECE] / SEEDS;
		gp_posterior_free(env, out);
	}
	took = (seconds() - took) / SEEDS;
	snprintf(line, sizeof(line), "%s, %s: accuracy %.4f (at least %.3f), by the highest score %.4f, "
			 "leave-one-out %.4f, %.2f s", name, text, mean, least, raw, loo, took);
	ok(mean >= least, line);
	dev->close(dev);
}

/* Normalised mutual information, over the mean of the entropies. */
static double
mutual_information(int64_t n, const int32_t *a, int32_t as, const int32_t *b, int32_t bs)
{
	double		joint[64][64] = {{0.0}};
	double		pa[64] = {0.0};
	double		pb[64] = {0.0};
	double		ha = 0.0;
	double		hb = 0.0;
	double		mutual = 0.0;

	for (int64_t i = 0; i < n; i++)
	{
		joint[a[i]][b[i]] += 1.0 / (double) n;
		pa[a[i]] += 1.0 / (double) n;
		pb[b[i]] += 1.0 / (double) n;
	}
	for (int32_t i = 0; i < as; i++)
		for (int32_t j = 0; j < bs; j++)
			if (joint[i][j] > 0.0)
				mutual += joint[i][j] * log(joint[i][j] / (pa[i] * pb[j]));
	for (int32_t i = 0; i < as; i++)
		ha -= pa[i] > 0.0 ? pa[i] * log(pa[i]) : 0.0;
	for (int32_t j = 0; j < bs; j++)
		hb -= pb[j] > 0.0 ? pb[j] * log(pb[j]) : 0.0;
	return 2.0 * mutual / (ha + hb);
}

/* Groups of the embedding against the classes, the mean over seeds. */
static void
check_clusters(gp_env *env, const dataset *d, const char *name, const char *text, double least)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_gckm		options = gp_gckm_parse(env, text);
	double		mean = 0.0;
	char		line[200];

	for (uint64_t seed = 0; seed < SEEDS; seed++)
	{
		gp_features *h = gp_gckm_embedding(dev, d->graph, d->features, seed, &options);
		gp_cluster_problem p = {.graph = d->graph,.features = h,.clusters = d->classes,.seed = seed,.type = h->type};
		gp_clustering *out;
		double		nmi;

		p.program = gp_kernel_compile(env, gp_kernel_parse(env, "X0"));
		out = gp_cluster(dev, &p);
		for (int64_t i = 0; i < d->nodes; i++)
			out->cluster[i]--;
		nmi = mutual_information(d->nodes, out->cluster, d->classes, d->label, d->classes);
		printf("# seed %d: %.4f\n", (int) seed, nmi);
		mean += nmi / SEEDS;
		gp_clustering_free(env, out);
		gp_features_free(env, h);
	}
	snprintf(line, sizeof(line), "%s, %s: clusters share %.4f of the classes' information (at least %.2f)", name,
			 text, mean, least);
	ok(mean >= least, line);
	dev->close(dev);
}

/* The layer of labels with every node a landmark against the paper's equation. */
static void
check_dense(gp_env *env, const dataset *d)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_gckm		options = gp_gckm_defaults();
	gp_problem	p = make_problem(env, d, 0);
	gp_features *h = gp_gckm_embedding(dev, d->graph, d->features, 0, &options);
	int			n = (int) d->nodes;
	int			dims = (int) h->dims;
	gp_rkm		m = {1.0, 0.07, 1.0, p.nlabelled, p.labelled, p.label, d->classes};
	double		sigma2 = 8.0 * plain_variance(n, dims, h->dense);
	double	   *k = plain_rbf(env, n, dims, h->dense, sigma2);
	double	   *e = gp_alloc_array(env, d->nodes * d->classes, sizeof(double));
	double	   *want = gp_alloc_array(env, d->nodes * d->classes, sizeof(double));
	double	   *loo = gp_alloc_array(env, d->nodes * d->classes, sizeof(double));
	gp_points	points = all_points(env, n);
	gp_matrix	q = on_device(dev, n, n, k);
	double		off;
	char		name[100];

	gp_points_factor(dev, q, &points, NULL);
	gp_rkm_solve(dev, &m, q, e, loo, NULL, NULL);
	equation(&m, n, k, -1, want, NULL, NULL);
	off = worst(d->nodes * d->classes, e, want);
	snprintf(name, sizeof(name), "cora, every node a landmark: the dense solution to %.2g", off);
	ok(off < 1e-9, name);
	dev->close(dev);
}

/* Every floor, or what another text gives there. */
static void
check_floors(gp_env *env, const char *text)
{
	dataset		d = read_set(env, "cora");

	check_accuracy(env, &d, "cora, standard split", text ? text : "gckm", 0.815);
	take_split("cora", "gckm_fewlabels", &d);
	check_accuracy(env, &d, "cora, few labels", text ? text : "gckm", 0.80);
	check_clusters(env, &d, "cora", "gckm(components2=7)", 0.44);
	if (text == NULL)
		check_dense(env, &d);
	d = read_set(env, "chameleon");
	take_split("chameleon", "gckm_fewlabels", &d);
	check_accuracy(env, &d, "chameleon, few labels", text ? text : "gckm(own=true)", 0.33);
	d = read_set(env, "dblp");
	check_accuracy(env, &d, "dblp, default split", text ? text : "gckm", 0.70);
}

int
main(int argc, char **argv)
{
	folder = getenv("GNNGP_DATA");
	if (folder == NULL || *folder == '\0')
	{
		printf("1..0 # SKIP GNNGP_DATA names no folder of graphs\n");
		return 0;
	}
	in_env(check_floors(env, argc > 1 ? argv[1] : NULL));
	return done_testing();
}

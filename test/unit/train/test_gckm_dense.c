/*
 * test_gckm_dense.c - the graph convolutional kernel machine on a real graph: its layer of labels
 * against the dense solution of the paper's equation, with GNNGP_LONG=1 (test_gckm has small graphs).
 * GNNGP_DATA names a folder that holds the data sets; test/quality has the accuracy on them.
 */
#include "parse_methods.h"
#include "plain_gckm.h"

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

	snprintf(command, sizeof(command), "gzip -dc '%s/%s/%s.csv.gz'", folder, set, table);
	FILE	   *file = popen(command, "r");
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
	int32_t		i;
	int32_t		j;
	double		value;

	read_nodes(env, set, &d);
	gp_edges   *edges = gp_edges_create(env, d.nodes, false, false);
	FILE	   *file = open_table(set, "edges");
	while (fscanf(file, "%d,%d", &i, &j) == 2)
		gp_edges_add(edges, 1, &i, &j, NULL);
	pclose(file);
	d.graph = gp_graph_build(edges);
	gp_features_builder *b = gp_features_create(env, d.nodes, 0, GP_FLOAT);
	file = open_table(set, "features");
	while (fscanf(file, "%d,%d,%lf", &i, &j, &value) == 3)
		gp_features_add_entries(b, 1, &i, &j, &value);
	pclose(file);
	d.features = gp_features_build(b, &i, &j);
	return d;
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

/* The layer of labels with every node a landmark against the paper's equation. */
static void
check_dense(gp_env *env, const dataset *d)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_gckm		options = parse_gckm(env, "gckm");
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
	char		name[100];

	gp_points_factor(dev, q, &points);
	gp_rkm_solve(dev, &m, q, e, loo, NULL);
	equation(&m, n, k, -1, want, NULL, NULL);
	double		off = worst(d->nodes * d->classes, e, want);
	snprintf(name, sizeof(name), "cora, every node a landmark: the dense solution to %.2g", off);
	ok(off < 1e-9, name);
	dev->close(dev);
}

/* The check on a real graph. */
static void
check_cora(gp_env *env)
{
	dataset		d = read_set(env, "cora");

	check_dense(env, &d);
}

int
main(void)
{
	folder = getenv("GNNGP_DATA");
	if (folder == NULL || *folder == '\0' || getenv("GNNGP_LONG") == NULL)
	{
		printf("1..0 # SKIP no GNNGP_DATA that names a folder of graphs, or no GNNGP_LONG=1\n");
		return 0;
	}
	in_env(check_cora(env));
	return done_testing();
}

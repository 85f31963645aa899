/*
 * rank_links.c - a fit of links, and what it says of given pairs.
 *
 *		./rank_links nodes folder seed [auto | scores | pairs | dgp | ease] [missing_share]
 *
 * Reads, from the folder, edges.csv (src,dst; undirected, unless the environment has
 * DIRECTED), queries.csv (src,dst) and, where it is there, features.csv
 * (node,feature,value), all counted from 0.  missing_share is that of gp_fit_links.
 * Writes scores.csv, the score of each query; and best.csv (src,dst,probability),
 * the first 20 pairs of each of up to 3,000 nodes, or of those in nodes.csv.  Prints the CPU
 * seconds of the fit, of the scores and of the best pairs, the peak megabytes, the
 * fit's own AUC and mean reciprocal rank, and the method that it took.
 */
#include "bench_env.h"
#include "links/links_internal.h"

#define ASKED 3000				/* nodes whose best pairs are written */
#define AT_ONCE 100				/* of them: a pair of two that are asked together is told once */
#define BEST 20

static const char *const methods[] = {"auto", "scores", "pairs", "dgp", "ease"};

static FILE *
open_file(const char *folder, const char *name, const char *mode, bool needed)
{
	char		path[1024];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE	   *f = fopen(path, mode);
	if (f == NULL && needed)
	{
		perror(path);
		exit(1);
	}
	return f;
}

static gp_graph *
read_graph(const char *folder, int64_t nodes)
{
	FILE	   *f = open_file(folder, "edges.csv", "r", true);
	gp_edges   *edges = gp_edges_create(&host, nodes, getenv("DIRECTED") != NULL, false);
	int32_t		src;
	int32_t		dst;

	while (fscanf(f, "%d,%d", &src, &dst) == 2)
		gp_edges_add(edges, 1, &src, &dst, NULL);
	fclose(f);
	return gp_graph_build(edges);
}

static gp_features *
read_features(const char *folder, int64_t nodes)
{
	FILE	   *f = open_file(folder, "features.csv", "r", false);
	int32_t		node;
	int32_t		feature;
	double		value;

	if (f == NULL)
		return NULL;
	gp_features_builder *builder = gp_features_create(&host, nodes, 0, GP_FLOAT);
	while (fscanf(f, "%d,%d,%lf", &node, &feature, &value) == 3)
		gp_features_add_entries(builder, 1, &node, &feature, &value);
	fclose(f);
	return gp_features_build(builder, &node, &feature);
}

static gp_link_pairs
read_pairs(const char *folder)
{
	FILE	   *f = open_file(folder, "queries.csv", "r", true);
	gp_link_pairs pairs = {0};
	int64_t		room = 0;
	int32_t		src;
	int32_t		dst;

	while (fscanf(f, "%d,%d", &src, &dst) == 2)
	{
		if (pairs.n == room)
		{
			room = 2 * room + 1024;
			pairs.src = gp_realloc_array(&host, pairs.src, room, sizeof(int32_t));
			pairs.dst = gp_realloc_array(&host, pairs.dst, room, sizeof(int32_t));
		}
		pairs.src[pairs.n] = src;
		pairs.dst[pairs.n++] = dst;
	}
	fclose(f);
	return pairs;
}

/* The nodes of nodes.csv, or up to 3,000 others. */
static int32_t *
read_nodes(const char *folder, int64_t nodes, int64_t *n)
{
	FILE	   *f = open_file(folder, "nodes.csv", "r", false);
	int32_t    *node = gp_alloc_array(&host, nodes, sizeof(int32_t));

	*n = 0;
	while (f && *n < nodes && fscanf(f, "%d", &node[*n]) == 1)
		++*n;
	for (int64_t i = 0; f == NULL && i < nodes && *n < ASKED; i++)
		if (gp_hash((uint64_t) i) % (uint64_t) nodes < ASKED)
			node[(*n)++] = (int32_t) i;
	if (f)
		fclose(f);
	return node;
}

static void
write_row(void *state, const gp_link_row *row)
{
	fprintf(state, "%d,%d,%.9g\n", row->src, row->dst, row->probability);
}

static double
cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

int
main(int argc, char **argv)
{
	gp_link_problem problem = {0};
	int64_t		asked;
	double		time[4];

	if (argc < 4)
	{
		fprintf(stderr, "usage: rank_links nodes folder seed "
				"[auto | scores | pairs | dgp | ease] [missing_share]\n");
		return 1;
	}
	gp_device  *dev = gp_device_cpu(&host, 1);
	problem.graph = read_graph(argv[2], atoll(argv[1]));
	problem.features = read_features(argv[2], atoll(argv[1]));
	problem.program = gp_kernel_program(&host, gp_kernel_parse(&host, "gcn"));
	problem.seed = strtoull(argv[3], NULL, 10);
	for (size_t k = 0; argc > 4 && k < sizeof(methods) / sizeof(methods[0]); k++)
		if (strcmp(argv[4], methods[k]) == 0)
			problem.method = (gp_link_method) k;
	problem.missing_share = argc > 5 ? atof(argv[5]) : 0.0;
	gp_link_pairs pairs = read_pairs(argv[2]);
	time[0] = cpu_seconds();
	gp_link_model *model = gp_link_fit(dev, &problem);
	time[1] = cpu_seconds();
	gp_links   *links = gp_links_open(dev, model);
	gp_link_row *row = gp_alloc_array(&host, pairs.n, sizeof(gp_link_row));
	gp_links_score(links, pairs.n, pairs.src, pairs.dst, row);
	time[2] = cpu_seconds();
	FILE	   *out = open_file(argv[2], "scores.csv", "w", true);
	for (int64_t e = 0; e < pairs.n; e++)
		fprintf(out, "%.12g\n", row[e].score);
	fclose(out);
	int32_t    *node = read_nodes(argv[2], problem.graph->nodes, &asked);
	out = open_file(argv[2], "best.csv", "w", true);
	time[3] = cpu_seconds();
	for (int64_t k = 0; k < asked; k += AT_ONCE)
		gp_links_best(links, gp_min64(asked - k, AT_ONCE), node + k, BEST, GP_CANDIDATES_AUTO, write_row, out);
	printf("%.3f %.3f %.3f %.0f", time[1] - time[0], time[2] - time[1], cpu_seconds() - time[3], (double) host.peak / 1e6);
	printf(" %.4f %.4f %s\n", model->metric[GP_LINK_METRIC_AUC], model->metric[GP_LINK_METRIC_MRR], methods[model->method]);
	fclose(out);
	return 0;
}

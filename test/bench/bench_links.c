/*
 * bench_links.c - the scores that gp_fit_links learns from, for other learners.
 *
 *		./bench_links nodes folder
 *
 * Reads, from the folder, edges.csv (src,dst; undirected), pairs.csv
 * (src,dst,label) and, where it is there, features.csv (node,feature,value), all
 * counted from 0.  Writes train.csv, a line for each pair of the folds: its label
 * and its scores; and held.csv, the same for the given pairs.  Prints the seconds
 * that the scores took.
 */
#include "bench_env.h"
#include "links/scores/scores.h"

#define SEED 1

/* Opens a file of the folder; NULL where it is not there and may be missing. */
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

/* The graph. */
static gp_graph *
read_graph(gp_env *env, const char *folder, int64_t nodes)
{
	FILE	   *f = open_file(folder, "edges.csv", "r", true);
	gp_edges   *edges = gp_edges_create(env, nodes, false, false);
	int32_t		src;
	int32_t		dst;

	while (fscanf(f, "%d,%d", &src, &dst) == 2)
		gp_edges_add(edges, 1, &src, &dst, NULL);
	fclose(f);
	return gp_graph_build(edges);
}

/* The features, as a fit prepares them; NULL without a file. */
static gp_features *
read_features(gp_env *env, const char *folder, int64_t nodes)
{
	FILE	   *f = open_file(folder, "features.csv", "r", false);
	int32_t		node;
	int32_t		feature;
	double		value;

	if (f == NULL)
		return NULL;
	gp_features_builder *builder = gp_features_create(env, nodes, 0, GP_FLOAT);
	while (fscanf(f, "%d,%d,%lf", &node, &feature, &value) == 3)
		gp_features_add_entries(builder, 1, &node, &feature, &value);
	fclose(f);
	return gp_link_features_prepare(env, gp_features_build(builder, &node, &feature), SEED);
}

/* Scores pairs on a graph and writes a line for each. */
static void
write_scores(gp_device *dev, const gp_graph *graph, const gp_features *x,
			 const gp_link_pairs *pairs, const int *label, FILE *out)
{
	gp_link_context f;

	gp_link_context_open(&f, dev, graph, x, GP_LINK_STEPS, NULL);
	double	   *score = gp_alloc_array(dev->env, pairs->n * f.width, sizeof(double));
	gp_link_pair_scores(&f, pairs->n, pairs->src, pairs->dst, score);
	for (int64_t e = 0; e < pairs->n; e++)
	{
		fprintf(out, "%d", label[e]);
		for (int32_t j = 0; j < f.width; j++)
			fprintf(out, ",%.9g", score[e * f.width + j]);
		fputc('\n', out);
	}
	gp_free(dev->env, score);
	gp_link_context_close(&f);
}

/* The pairs of all folds. */
static void
write_train(gp_device *dev, const gp_graph *graph, const gp_features *x, const char *folder)
{
	FILE	   *out = open_file(folder, "train.csv", "w", true);
	gp_link_fold fold[GP_LINK_FOLDS];
	int			folds = gp_link_folds_make(dev->env, graph, SEED, fold);

	for (int k = 0; k < folds; k++)
	{
		int		   *label = gp_alloc_zero(dev->env, fold[k].pairs.n, sizeof(int));

		for (int64_t e = 0; e < fold[k].links; e++)
			label[e] = 1;
		write_scores(dev, fold[k].graph, x, &fold[k].pairs, label, out);
		gp_free(dev->env, label);
		gp_link_fold_free(dev->env, &fold[k]);
	}
	fclose(out);
}

/* The pairs that are asked for. */
static void
write_held(gp_device *dev, const gp_graph *graph, const gp_features *x, const char *folder)
{
	FILE	   *in = open_file(folder, "pairs.csv", "r", true);
	FILE	   *out = open_file(folder, "held.csv", "w", true);
	gp_link_pairs pairs = {0};
	int		   *label = NULL;
	int64_t		room = 0;
	int32_t		src;
	int32_t		dst;
	int			is_link;

	while (fscanf(in, "%d,%d,%d", &src, &dst, &is_link) == 3)
	{
		if (pairs.n == room)
		{
			room = 2 * room + 1024;
			pairs.src = gp_realloc_array(dev->env, pairs.src, room, sizeof(int32_t));
			pairs.dst = gp_realloc_array(dev->env, pairs.dst, room, sizeof(int32_t));
			label = gp_realloc_array(dev->env, label, room, sizeof(int));
		}
		pairs.src[pairs.n] = src;
		pairs.dst[pairs.n] = dst;
		label[pairs.n++] = is_link;
	}
	write_scores(dev, graph, x, &pairs, label, out);
	fclose(in);
	fclose(out);
}

int
main(int argc, char **argv)
{
	if (argc != 3)
	{
		fprintf(stderr, "usage: bench_links nodes folder\n");
		return 1;
	}
	gp_device  *dev = gp_device_cpu(&host, 1);
	gp_graph   *graph = read_graph(&host, argv[2], atoll(argv[1]));
	gp_features *x = read_features(&host, argv[2], atoll(argv[1]));
	double		start = seconds();
	write_train(dev, graph, x, argv[2]);
	printf("%.3f ", seconds() - start);
	start = seconds();
	write_held(dev, graph, x, argv[2]);
	printf("%.3f\n", seconds() - start);
	return 0;
}

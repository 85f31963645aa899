/*
 * local_push.c - one column of the Chebyshev recurrence where it reaches few nodes.
 *
 * T_k e_i has entries within k steps of i alone, and of T_K only those at the pairs are read; those take
 * T_(K-d) within d steps of a pair's other end.  So the recurrence is run forward on what was reached, entry by
 * entry, up to some T_f, and from there on in the rows that later steps read.  Either side is widened while it is
 * the cheaper one.  The work is that of the entries gone through, whatever the number of nodes; the room is
 * zero between columns, and made so again by the list of what was touched.
 */
#include "scores.h"

#define READING 3				/* that one distance around the pairs takes, of what the one before it has entries */

/* Nodes in the order that they were met. */
typedef struct ball
{
	uint64_t   *met;			/* a bit for each node: so few bytes stay near the processor */
	int32_t    *node;
	int64_t		n;
	int64_t		entries;		/* of their rows */
} ball;

struct gp_link_local
{
	float	   *t[2];			/* T_k of even and of odd k */
	ball		reached;		/* from the source */
	ball		read;			/* from the pairs' other ends */
};

/* What is asked of a column. */
typedef struct column_job
{
	int32_t		source;
	int32_t		steps;
	int64_t		n;				/* pairs */
	const int32_t *dst;			/* their other ends */
	int64_t		most;			/* entries to go through */
	float	   *entry;			/* steps x n */
} column_job;

/* Zeros for all nodes, which are read in no order. */
static void *
room_of_zeros(gp_env *env, int64_t nodes, size_t size)
{
	void	   *room = gp_alloc_array(env, nodes, size);

	gp_use_large_pages(room, (size_t) nodes * size);
	memset(room, 0, (size_t) nodes * size);
	return room;
}

/* An empty ball. */
static ball
ball_open(gp_env *env, int64_t nodes)
{
	return (ball) {.met = room_of_zeros(env, nodes / 64 + 1, sizeof(uint64_t)),
		.node = gp_alloc_array(env, nodes, sizeof(int32_t))};
}

/* True for a node of the ball. */
static inline bool
has_met(const ball *b, int32_t node)
{
	return b->met[node >> 6] >> (node & 63) & 1;
}

/* Room for the columns of one thread. */
gp_link_local *
gp_link_local_open(gp_env *env, int64_t nodes)
{
	gp_link_local *l = gp_alloc_zero(env, 1, sizeof(gp_link_local));

	for (int k = 0; k < 2; k++)
		l->t[k] = room_of_zeros(env, nodes, sizeof(float));
	l->reached = ball_open(env, nodes);
	l->read = ball_open(env, nodes);
	return l;
}

/* Frees it; NULL is none. */
void
gp_link_local_free(gp_env *env, gp_link_local *l)
{
	if (l == NULL)
		return;
	for (int k = 0; k < 2; k++)
		gp_free(env, l->t[k]);
	gp_free(env, l->reached.met);
	gp_free(env, l->read.met);
	gp_free(env, l->reached.node);
	gp_free(env, l->read.node);
	gp_free(env, l);
}

/* Puts a node into a ball unless it is there. */
static inline void
meet(ball *b, const gp_csr *s, int32_t node)
{
	if (has_met(b, node))
		return;
	b->met[node >> 6] |= UINT64_C(1) << (node & 63);
	b->node[b->n++] = node;
	b->entries += s->start[node + 1] - s->start[node];
}

/* Puts the neighbours of what is read, from place first on, to it. */
static void
widen(gp_link_local *l, const gp_csr *s, int64_t first)
{
	ball	   *b = &l->read;
	int64_t		n = b->n;

	for (int64_t k = first; k < n; k++)
		for (int64_t e = s->start[b->node[k]]; e < s->start[b->node[k] + 1]; e++)
			meet(b, s, s->col[e]);
}

/* Empties a ball, and makes zero what a column touched there. */
static void
leave(gp_link_local *l, ball *b)
{
	for (int64_t k = 0; k < b->n; k++)
	{
		b->met[b->node[k] >> 6] = 0;
		l->t[0][b->node[k]] = l->t[1][b->node[k]] = 0.0f;
	}
	b->n = b->entries = 0;
}

/* T_k from T_(k-1), which has entries at the nodes that were reached, and from T_(k-2), whose place it takes. */
static void
step_forward(gp_link_local *l, const gp_csr *s, int32_t k)
{
	const float *value = s->value;
	ball	   *b = &l->reached;
	int64_t		n = b->n;
	float		factor = k == 1 ? 1.0f : 2.0f;
	const float *last = l->t[(k - 1) & 1];
	float	   *next = l->t[k & 1];

	for (int64_t i = 0; i < n; i++)
		next[b->node[i]] *= -1.0f;
	for (int64_t i = 0; i < n; i++)
	{
		int32_t		node = b->node[i];
		float		x = factor * last[node];

		for (int64_t e = s->start[node]; x != 0.0f && e < s->start[node + 1]; e++)
		{
			meet(b, s, s->col[e]);
			next[s->col[e]] += x * value[e];
		}
	}
}

/* T_k in the first n rows that are read.  Most entries of the first of these steps lead to nodes that were never reached. */
static void
step_rows(gp_link_local *l, const gp_csr *s, int32_t k, int64_t n, bool first)
{
	const float *value = s->value;
	const float *last = l->t[(k - 1) & 1];
	float	   *next = l->t[k & 1];

	for (int64_t i = 0; i < n; i++)
	{
		int32_t		node = l->read.node[i];
		float		sum = 0.0f;

		for (int64_t e = s->start[node]; e < s->start[node + 1]; e++)
			if (!first || has_met(&l->reached, s->col[e]))
				sum += value[e] * last[s->col[e]];
		next[node] = 2.0f * sum - next[node];
	}
}

/* Writes the entries of T_k at the pairs. */
static void
write_entries(const gp_link_local *l, int32_t k, const column_job *job)
{
	for (int64_t e = 0; e < job->n; e++)
		job->entry[(k - 1) * job->n + e] = l->t[k & 1][job->dst[e]];
}

/* Widens what was reached, or what is read, until both meet; returns the step that was reached, or -1 for more work than most. */
static int32_t
meet_halfway(gp_link_local *l, const gp_csr *s, const column_job *job, int64_t *end, int32_t *wide, int64_t *work)
{
	int32_t		k = 0;

	while (k == 0 || k + *wide + 1 < job->steps)
	{
		bool		forward = k == 0 || l->reached.entries <= READING * l->read.entries;

		*work += forward ? l->reached.entries : l->read.entries;
		if (*work > job->most)
			return -1;
		if (forward)
		{
			step_forward(l, s, ++k);
			write_entries(l, k, job);
			continue;
		}
		widen(l, s, *wide > 0 ? end[*wide - 1] : 0);
		end[++*wide] = l->read.n;
		*work += l->read.entries;
	}
	return k;
}

/* The steps of a column; returns the entries that it went through, or more than most. */
static int64_t
run_column(gp_link_local *l, const gp_csr *s, const column_job *job)
{
	int64_t		end[GP_LINK_LOCAL_STEPS + 1];	/* rows that are read within each distance */
	int32_t		wide = 0;		/* distances around the pairs' other ends */
	int64_t		work;
	int32_t		k;

	for (int64_t e = 0; e < job->n; e++)
		meet(&l->read, s, job->dst[e]);
	end[0] = l->read.n;
	work = l->read.entries;
	meet(&l->reached, s, job->source);
	l->t[0][job->source] = 1.0f;
	k = meet_halfway(l, s, job, end, &wide, &work);
	if (k < 0 || work > job->most)
		return job->most + 1;
	for (bool first = true; k < job->steps; wide--, first = false)
	{
		step_rows(l, s, ++k, end[wide], first);
		write_entries(l, k, job);
	}
	return work;
}

int64_t
gp_link_local_column(gp_link_local *l, const gp_csr *s, int32_t source, int32_t steps, int64_t n, const int32_t *dst,
					 int64_t most, float *entry)
{
	column_job	job = {source, steps, n, dst, most, entry};
	int64_t		work;

	work = run_column(l, s, &job);
	leave(l, &l->reached);
	leave(l, &l->read);
	return work;
}

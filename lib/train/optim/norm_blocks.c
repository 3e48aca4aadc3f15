/* Norm blocks: sums of squares over parameters, whichever rank owns them. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "comm/exact.h"
#include "train/optim/norm_blocks.h"

/* Return the end of parameter ${p}, with the zeros that align the next one. */
static size_t
norm_blocks_end_of(const struct graph *g, int p)
{
	return p + 1 < g->nparam ? g->param[p + 1].offset : g->elements;
}

static void
norm_blocks_cut(struct norm_blocks *t)
{
	const struct graph *g = t->graph;
	size_t largest = g->elements / EXACT_BLOCK + (size_t)g->nparam + 1;

	t->edge = xcalloc(largest + 1, sizeof(*t->edge));
	t->param = xcalloc(largest, sizeof(*t->param));
	t->first = xcalloc((size_t)g->nparam + 1, sizeof(*t->first));
	for (int p = 0; p < g->nparam; p++) {
		size_t at = g->param[p].offset, end = norm_blocks_end_of(g, p);

		t->first[p] = t->n;
		while (at < end) {
			size_t next = (at / EXACT_BLOCK + 1) * EXACT_BLOCK;

			t->edge[t->n] = at;
			t->param[t->n++] = p;
			at = next < end ? next : end;
		}
	}
	assert(t->n <= largest);
	t->first[g->nparam] = t->n;
	t->edge[t->n] = g->elements;
}

/*
 * Assign the blocks to the owners of segments.  Every segment begins at a
 * block.
 */
static void
norm_blocks_share_out(struct norm_blocks *t)
{
	const struct segments *s = t->share;
	size_t ranks = (size_t)s->comm->size, tile = 0;
	size_t *next = xcalloc(ranks, sizeof(*next));
	int *owner = xcalloc(t->n, sizeof(*owner)), n = segments_count(s);

	t->place = xcalloc(t->n, sizeof(*t->place));
	t->start = xcalloc(ranks + 1, sizeof(*t->start));
	t->sum = xcalloc(t->n, sizeof(*t->sum));
	t->own = xcalloc(t->n, sizeof(*t->own));
	for (int i = 0; i < n; i++) {
		struct segment g = segments_get(s, i);

		assert(g.n == 0 || t->edge[tile] == g.at);
		for (; tile < t->n && t->edge[tile] < g.at + g.n; tile++) {
			owner[tile] = g.rank;
			t->start[g.rank + 1]++;
		}
	}
	assert(tile == t->n);
	for (size_t r = 0; r < ranks; r++) {
		t->start[r + 1] += t->start[r];
		next[r] = t->start[r];
	}
	for (tile = 0; tile < t->n; tile++) {
		t->place[tile] = next[owner[tile]]++;
		if (owner[tile] == s->comm->rank)
			t->own[t->owns++] = (struct interval){ t->edge[tile],
				t->edge[tile + 1] - t->edge[tile] };
	}
	for (size_t r = 0; r <= ranks; r++)
		t->start[r] *= sizeof(*t->sum);
	free(next);
	free(owner);
}

void
norm_blocks_open(struct norm_blocks *t, const struct graph *g,
    const struct segments *share)
{
	*t = (struct norm_blocks){ .graph = g, .share = share };
	norm_blocks_cut(t);
	norm_blocks_share_out(t);
}

void
norm_blocks_close(struct norm_blocks *t)
{
	free(t->edge);
	free(t->param);
	free(t->first);
	free(t->place);
	free(t->start);
	free(t->own);
	free(t->sum);
	*t = (struct norm_blocks){ 0 };
}

void
norm_blocks_sum(struct norm_blocks *t, struct device *d, const void *flat)
{
	device_squares(d, t->sum + t->start[t->share->comm->rank] /
	    sizeof(*t->sum), flat, t->own, t->owns);
}

int
norm_blocks_allgather(struct norm_blocks *t)
{
	return t->share->copies ? 0 :
	    comm_allgatherv(t->share->comm, t->sum, t->start);
}

double
norm_blocks_param(const struct norm_blocks *t, int p)
{
	double sum = 0;

	for (size_t k = t->first[p]; k < t->first[p + 1]; k++)
		sum += t->sum[t->place[k]];
	return sum;
}

double
norm_blocks_total(const struct norm_blocks *t, int statistics)
{
	double sum = 0;

	for (int p = 0; p < t->graph->nparam; p++)
		if ((t->graph->param[p].kind >= PARAM_MEAN) == statistics &&
		    !t->graph->param[p].frozen)
			sum += norm_blocks_param(t, p);
	return sum;
}

int
norm_blocks_finite(const struct norm_blocks *t)
{
	const size_t *start = &t->start[t->share->comm->rank];
	int good = 1;

	for (size_t i = start[0] / sizeof(double); i < start[1] /
	    sizeof(double); i++)
		good &= isfinite(t->sum[i]) != 0;
	return good;
}

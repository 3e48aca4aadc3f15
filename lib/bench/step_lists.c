/* The messages of a training step. */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "bench/step_lists.h"
#include "comm/exact.h"
#include "comm/halving.h"
#include "comm/segments.h"
#include "train/reduce/bucket.h"

/* Bytes of the report of a microbatch (struct step_report of lib/train). */
enum { REPORT = 48 };

void
step_lists_buckets(struct step_lists *s, size_t elements, size_t bytes)
{
	struct comm *self = comm_self();
	struct segments of;

	segments_open(&of, self, elements, bucket_elements(bytes,
	    sizeof(float)));
	s->elements = elements;
	s->bucket = of.bucket;
	segments_close(&of);
	comm_free(self);
}

size_t
step_lists_times(const struct step_lists *s, enum step_part part)
{
	size_t buckets = (s->elements + s->bucket - 1) / s->bucket;

	/* After another sum every rank has all gradients, and updates all
	 * weights by itself. */
	if (s->kind != NULL && (part == STEP_WEIGHTS || part == STEP_NORMS))
		return 0;
	return part == STEP_SUM ? buckets - 1 : 1;
}

/* Return the elements of the bucket of ${part}. */
static size_t
step_lists_bucket(const struct step_lists *s, enum step_part part)
{
	size_t before = step_lists_times(s, STEP_SUM) * s->bucket;

	return part == STEP_SUM ? s->bucket : s->elements - before;
}

static int
step_lists_any_order(const struct step_lists *s, struct comm *c, size_t n,
    struct collective *list)
{
	int *host = xcalloc((size_t)s->ranks, sizeof(*host));
	struct allreduce a;
	int bad;

	for (int r = 0; r < s->ranks; r++)
		host[r] = r - r % s->ranks_per_host;
	bad = allreduce_open(&a, c, &(struct allreduce_options){
	    .kind = s->kind, .wire = s->wire, .columns = s->columns,
	    .host = host, .elem = sizeof(float), .max = n });
	for (int i = 0; i < s->ranks && !bad; i++) {
		a.grid.me = i;
		c->rank = a.grid.rank[i];
		a.list = list[c->rank];
		s->kind->list(&a, n);
		list[c->rank] = a.list;
		a.list = (struct collective){ 0 };
	}
	allreduce_close(&a);
	free(host);
	return bad;
}

/*
 * Append the list of rank c->rank, whose microbatches begin at begin[rank], and
 * whose part of an all-gather of reports or norms at byte start[rank].
 */
static void
step_lists_rank(const struct step_lists *s, struct comm *c,
    enum step_part part, const int *begin, const size_t *start,
    struct collective *l)
{
	struct segments of;

	if (part <= STEP_LAST_SUM)
		halving_list(comm_order(c), c->rank, begin,
		    step_lists_bucket(s, part), sizeof(float), l);
	else if (part == STEP_WEIGHTS) {
		segments_open(&of, c, s->elements, s->bucket);
		segments_gather_list(&of, sizeof(float), 0, s->elements, l);
		segments_close(&of);
	} else if (part == STEP_AGREE)
		collective_spread(l, c->rank, s->ranks, sizeof(int64_t));
	else
		collective_gather_all(l, c->rank, s->ranks, start);
}

int
step_lists_make(const struct step_lists *s, enum step_part part,
    struct collective *list)
{
	struct comm *c = comm_planned(s->ranks);
	size_t ranks = (size_t)s->ranks, *start = xcalloc(ranks + 1,
	    sizeof(*start));
	size_t blocks = (s->elements + EXACT_BLOCK - 1) / EXACT_BLOCK;
	int *begin = xcalloc(ranks + 1, sizeof(*begin)), bad = 0;

	for (int r = 0, first; r < s->ranks; r++)
		begin[r + 1] = begin[r] + split(s->microbatches, r, s->ranks,
		    &first);
	/* A report for each microbatch; sums of squares in equal parts. */
	for (size_t r = 0; r <= ranks; r++)
		start[r] = part == STEP_REPORTS ? (size_t)begin[r] * REPORT :
		    blocks * r / ranks * sizeof(double);
	if (part <= STEP_LAST_SUM && s->kind != NULL)
		bad = step_lists_any_order(s, c, step_lists_bucket(s, part),
		    list);
	else
		for (c->rank = 0; c->rank < s->ranks; c->rank++)
			step_lists_rank(s, c, part, begin, start,
			    &list[c->rank]);
	c->rank = 0;
	comm_free(c);
	free(begin);
	free(start);
	return bad;
}

int
step_lists_walk(const struct step_lists *s, enum step_part part,
    const struct walk_costs *costs, void (*look)(void *arg,
    const struct collective *list, int ranks), struct walk *w)
{
	struct collective *list = xcalloc((size_t)s->ranks, sizeof(*list));
	int bad = step_lists_make(s, part, list);

	if (look != NULL)
		look(costs->arg, list, s->ranks);
	bad = bad || walk_lists(list, s->ranks, costs, NULL, w) != 0;
	for (int r = 0; r < s->ranks; r++)
		collective_free(&list[r]);
	free(list);
	return bad ? -1 : 0;
}

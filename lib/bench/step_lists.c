/* The messages of a training step. */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "bench/step_lists.h"
#include "comm/exact.h"
#include "comm/halving.h"
#include "comm/segments.h"

/* Bytes of the report of a microbatch (struct step_report of lib/train). */
enum { REPORT = 48 };

static const char *const names[STEP_PARTS] = { "sum", "last-sum", "weights",
	"reports", "norms", "agree" };

const char *
step_lists_name(enum step_part part)
{
	return names[part];
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
	size_t before = (step_lists_times(s, STEP_SUM)) * s->bucket;

	return part == STEP_SUM ? s->bucket : s->elements - before;
}

/* Write the first microbatch of each rank to ${begin}[ranks + 1]. */
static void
step_lists_split(const struct step_lists *s, int *begin)
{
	for (int r = 0, first; r < s->ranks; r++)
		begin[r + 1] = begin[r] + split(s->microbatches, r, s->ranks,
		    &first);
}

static void
step_lists_exact(const struct step_lists *s, struct comm *c, size_t n,
    struct collective *list)
{
	int *begin = xcalloc((size_t)s->ranks + 1, sizeof(*begin));

	step_lists_split(s, begin);
	for (int r = 0; r < s->ranks; r++)
		halving_list(comm_order(c), r, begin, n, sizeof(float),
		    &list[r]);
	free(begin);
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
	    .host = host,
	    .elem = sizeof(float), .max = n });
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

/* All-gather ${bytes} for each microbatch. */
static void
step_lists_gather(const struct step_lists *s, size_t bytes,
    struct collective *list)
{
	int *begin = xcalloc((size_t)s->ranks + 1, sizeof(*begin));
	size_t *start = xcalloc((size_t)s->ranks + 1, sizeof(*start));

	step_lists_split(s, begin);
	for (int r = 0; r <= s->ranks; r++)
		start[r] = (size_t)begin[r] * bytes;
	for (int r = 0; r < s->ranks; r++)
		collective_gather_all(&list[r], r, s->ranks, start);
	free(begin);
	free(start);
}

static void
step_lists_weights(const struct step_lists *s, struct comm *c,
    struct collective *list)
{
	for (c->rank = 0; c->rank < s->ranks; c->rank++) {
		struct segments of;

		segments_open(&of, c, s->elements, s->bucket);
		segments_gather_list(&of, sizeof(float), 0, s->elements,
		    &list[c->rank]);
		segments_close(&of);
	}
}

/* All-gather the sums of squares of blocks: each rank has an equal part. */
static void
step_lists_norms(const struct step_lists *s, struct collective *list)
{
	size_t blocks = (s->elements + EXACT_BLOCK - 1) / EXACT_BLOCK;
	size_t *start = xcalloc((size_t)s->ranks + 1, sizeof(*start));

	for (int r = 0; r <= s->ranks; r++)
		start[r] = blocks * (size_t)r / (size_t)s->ranks *
		    sizeof(double);
	for (int r = 0; r < s->ranks; r++)
		collective_gather_all(&list[r], r, s->ranks, start);
	free(start);
}

int
step_lists_make(const struct step_lists *s, enum step_part part,
    struct collective *list)
{
	struct comm *c = comm_planned(s->ranks);
	int bad = 0;

	switch (part) {
	case STEP_SUM:
	case STEP_LAST_SUM:
		if (s->kind == NULL)
			step_lists_exact(s, c, step_lists_bucket(s, part),
			    list);
		else
			bad = step_lists_any_order(s, c,
			    step_lists_bucket(s, part), list);
		break;
	case STEP_WEIGHTS:
		step_lists_weights(s, c, list);
		break;
	case STEP_REPORTS:
		step_lists_gather(s, REPORT, list);
		break;
	case STEP_NORMS:
		step_lists_norms(s, list);
		break;
	default:
		for (int r = 0; r < s->ranks; r++)
			collective_spread(&list[r], r, s->ranks,
			    sizeof(int64_t));
	}
	c->rank = 0;
	comm_free(c);
	return bad;
}

/*
 * The owner of each element of a vector, and the all-gather of owned elements.
 */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "comm/exact.h"
#include "comm/segments.h"

/*
 * Return the elements of a bucket: at most ${largest}, and about the same in
 * all buckets. No computation overlaps with the exchange of the bucket that is
 * ready last, so it must not be larger than the others.
 */
static size_t
segments_bucket_of(size_t elements, size_t largest)
{
	size_t n = (elements + largest - 1) / largest, each;

	each = n > 0 ? (elements + n - 1) / n : 1;
	return (each + EXACT_BLOCK - 1) / EXACT_BLOCK * EXACT_BLOCK;
}

/* Divide each bucket among ranks ${first} to ${end} - 1. */
static void
segments_open_for(struct segments *s, struct comm *c, size_t elements,
    size_t largest, int first, int end)
{
	size_t bucket = segments_bucket_of(elements, largest),
	    ranks = (size_t)c->size;
	int parts = end - first;
	size_t buckets = (elements + bucket - 1) / bucket;

	*s = (struct segments){ .comm = c, .elements = elements,
		.bucket = bucket };
	s->segment = xcalloc(buckets * ranks, sizeof(*s->segment));
	s->owned = xcalloc(ranks, sizeof(*s->owned));
	for (size_t from = 0; from < elements; from += bucket) {
		size_t to = from + bucket < elements ? from + bucket : elements;

		for (int r = first; r < end; r++) {
			size_t at = exact_segment_begin(from, to, r - first, parts);
			size_t n = exact_segment_begin(from, to, r - first + 1, parts) -
			    at;

			if (n == 0)
				continue;
			s->segment[s->n++] = (struct segment){ r, at, n,
				s->owned[r] };
			s->owned[r] += n;
		}
	}
}

void
segments_open(struct segments *s, struct comm *c, size_t elements, size_t largest)
{
	segments_open_for(s, c, elements, largest, 0, c->size);
}

void
segments_copy(struct segments *s, struct comm *c, size_t elements, size_t largest)
{
	segments_open_for(s, c, elements, largest, c->rank, c->rank + 1);
	s->copies = 1;
	for (int r = 0; r < c->size; r++)
		s->owned[r] = elements;
}

void
segments_distribute(struct segments *s, struct comm *c, size_t elements, int n)
{
	size_t ranks = (size_t)c->size, count = (size_t)n;

	*s = (struct segments){ .comm = c, .elements = elements * count,
		.bucket = elements };
	s->segment = xcalloc(count, sizeof(*s->segment));
	s->owned = xcalloc(ranks, sizeof(*s->owned));
	for (int r = 0, first; r < c->size; r++) {
		int held = split(n, r, c->size, &first);

		for (int i = first; i < first + held; i++) {
			s->segment[s->n++] = (struct segment){ r, (size_t)i *
				elements, elements, s->owned[r] };
			s->owned[r] += elements;
		}
	}
}

void
segments_close(struct segments *s)
{
	free(s->segment);
	free(s->owned);
	*s = (struct segments){ 0 };
}

int
segments_gather_start(const struct segments *s, struct exchange *x,
    void *data, size_t elem, size_t from, size_t to)
{
	struct comm *c = s->comm;
	struct collective *l = &c->list;

	l->n = 0;
	/*
	 * Begin with the next rank, so that all ranks do not send to rank 0
	 * first.
	 */
	for (int step = 1; step < c->size; step++) {
		int next = (c->rank + step) % c->size;
		int last = (c->rank + c->size - step) % c->size;

		for (int i = 0; i < s->n; i++) {
			const struct segment *g = &s->segment[i];
			struct address at = { 0, (g->at - from) * elem };

			if (g->at < from || g->at >= to)
				continue;
			if (g->rank == last)
				collective_receive(l, last, at, g->n * elem);
			if (g->rank == c->rank)
				collective_send(l, next, at, g->n * elem);
		}
	}
	return collective_start(c, x, l, &(struct collective_memory){
	    .buffer = &data });
}

int
segments_gather(const struct segments *s, void *data, size_t elem)
{
	if (s->copies)
		return 0;
	return segments_gather_start(s, &s->comm->now, data, elem, 0,
	    s->elements) != 0 ? -1 : comm_wait(&s->comm->now);
}

/*
 * The owner of each element of a vector, and the all-gather of owned elements.
 */
#include <assert.h>
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

static size_t
segments_buckets(const struct segments *s)
{
	return s->elements == 0 ? 0 : (s->elements + s->bucket - 1) / s->bucket;
}

/*
 * Return the first element of the segment at position ${p} of bucket ${b},
 * counted from the start of the bucket.
 */
static size_t
segments_begin(const struct segments *s, size_t b, int p)
{
	size_t left = s->elements - b * s->bucket;

	return exact_segment_begin(0, left < s->bucket ? left : s->bucket, p,
	    s->copies ? 1 : s->comm->size);
}

int
segments_count(const struct segments *s)
{
	return s->vectors > 0 ? s->vectors : (int)segments_buckets(s) *
	    (s->copies ? 1 : s->comm->size);
}

/* Return vector ${i} as a segment. */
static struct segment
segments_vector(const struct segments *s, int i)
{
	int first, n, ranks = s->comm->size;
	/* The last rank whose first vector is not above ${i} (split). */
	int r = (int)(((int64_t)(i + 1) * ranks - 1) / s->vectors);

	n = split(s->vectors, r, ranks, &first);
	assert(i >= first && i < first + n);
	return (struct segment){ r, (size_t)i * s->bucket, s->bucket,
		(size_t)(i - first) * s->bucket };
}

struct segment
segments_get(const struct segments *s, int i)
{
	int parts = s->copies ? 1 : s->comm->size, p = i % parts;
	size_t b = (size_t)(i / parts), at, each;

	if (s->vectors > 0)
		return segments_vector(s, i);
	at = segments_begin(s, b, p);
	each = b == 0 ? 0 : segments_begin(s, 0, p + 1) -
	    segments_begin(s, 0, p);
	return (struct segment){ s->copies ? s->comm->rank :
		comm_order(s->comm)->rank[p], b * s->bucket + at,
		segments_begin(s, b, p + 1) - at, b * each };
}

size_t
segments_owned(const struct segments *s, int rank)
{
	int p = s->copies ? 0 : comm_order(s->comm)->position[rank], first;
	size_t last = segments_buckets(s);

	if (s->vectors > 0)
		return s->bucket * (size_t)split(s->vectors, rank,
		    s->comm->size, &first);
	if (last-- == 0)
		return 0;
	return last * (segments_begin(s, 0, p + 1) - segments_begin(s, 0, p)) +
	    segments_begin(s, last, p + 1) - segments_begin(s, last, p);
}

/* List this rank's segments. */
static void
segments_list_own(struct segments *s)
{
	int step = s->vectors > 0 || s->copies ? 1 : s->comm->size;
	int first = step > 1 ? comm_order(s->comm)->position[s->comm->rank] : 0;
	int count = segments_count(s);

	s->segment = xcalloc((size_t)(count / step) + 1, sizeof(*s->segment));
	for (int i = first; i < count; i += step) {
		struct segment g = segments_get(s, i);

		if (g.n > 0 && g.rank == s->comm->rank)
			s->segment[s->n++] = g;
	}
}

void
segments_open(struct segments *s, struct comm *c, size_t elements,
    size_t largest)
{
	*s = (struct segments){ .comm = c, .elements = elements,
		.bucket = segments_bucket_of(elements, largest) };
	segments_list_own(s);
}

void
segments_copy(struct segments *s, struct comm *c, size_t elements,
    size_t largest)
{
	*s = (struct segments){ .comm = c, .elements = elements, .copies = 1,
		.bucket = segments_bucket_of(elements, largest) };
	segments_list_own(s);
}

void
segments_distribute(struct segments *s, struct comm *c, size_t elements, int n)
{
	*s = (struct segments){ .comm = c, .elements = elements * (size_t)n,
		.bucket = elements, .vectors = n };
	segments_list_own(s);
}

void
segments_close(struct segments *s)
{
	free(s->segment);
	*s = (struct segments){ 0 };
}

/* ---- the all-gather ---- */

/*
 * Write where the blocks of bucket ${b} begin, in bytes from its start, to
 * ${start}[size + 1].
 */
static void
segments_starts(const struct segments *s, size_t b, size_t elem, size_t *start)
{
	int first, n, size = s->comm->size;

	for (int p = 0; p <= size && s->vectors == 0; p++)
		start[p] = elem * segments_begin(s, b, p);
	/* The vectors of a rank are one block, and ranks are in order. */
	for (int r = 0; r < size && s->vectors > 0; r++) {
		n = split(s->vectors, r, size, &first);
		start[r] = (size_t)first * s->bucket * elem;
		start[r + 1] = (size_t)(first + n) * s->bucket * elem;
	}
}

void
segments_gather_list(const struct segments *s, size_t elem, size_t from,
    size_t to, struct collective *l)
{
	const struct rank_order *o = comm_order(s->comm);
	int size = s->comm->size, whole = s->vectors > 0;
	size_t bytes = s->bucket * elem, last = segments_buckets(s);
	size_t first, end, *start, *short_start;

	if (last == 0)
		return;
	first = whole ? 0 : from / s->bucket;
	end = whole ? 1 : (to + s->bucket - 1) / s->bucket;
	/* A step allocates nothing. */
	if (s->comm->starts == NULL)
		s->comm->starts = xcalloc(2 * ((size_t)size + 1),
		    sizeof(*start));
	start = s->comm->starts;
	short_start = start + size + 1;
	/* All buckets are alike, except the last one. */
	segments_starts(s, 0, elem, start);
	segments_starts(s, last - 1, elem, short_start);
	for (int step = 1; step < size; step *= 2) {
		for (size_t b = first; b < end; b++)
			collective_gather(l, whole ? s->comm->rank :
			    o->position[s->comm->rank], size, step, whole ?
			    NULL : o->rank, b + 1 < last || whole ? start :
			    short_start, b * bytes - from * elem);
		collective_wait(l);
	}
}

size_t
segments_traffic(const struct segments *s, size_t elem)
{
	struct collective l = { 0 };
	size_t bytes;

	segments_gather_list(s, elem, 0, s->elements, &l);
	bytes = collective_sent(&l);
	collective_free(&l);
	return bytes;
}

int
segments_gather_start(const struct segments *s, struct exchange *x,
    void *data, size_t elem, size_t from, size_t to)
{
	struct collective *l = &s->comm->list;

	l->n = 0;
	segments_gather_list(s, elem, from, to, l);
	return collective_start(s->comm, x, l, &(struct collective_memory){
	    .buffer = &data });
}

int
segments_gather(const struct segments *s, void *data, size_t elem)
{
	return s->copies ? 0 : segments_gather_on(s, data, elem, NULL, NULL);
}

int
segments_gather_on(const struct segments *s, void *data, size_t elem,
    const struct collective_device *d, void *arg)
{
	struct collective *l = &s->comm->list;

	l->n = 0;
	segments_gather_list(s, elem, 0, s->elements, l);
	return collective_run(s->comm, l, &(struct collective_memory){
	    .buffer = &data, .elem = elem, .arg = arg, .device = d });
}

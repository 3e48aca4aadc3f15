/* Reducers that sum in host memory. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/reduce/host_staging.h"
#include "train/reduce/reducer.h"

/* A reducer with one of the two sums. */
struct reducer_host {
	struct reducer reducer;
	struct exact exact;
	struct allreduce sum;
};

static void
reducer_host_close(struct reducer *reducer)
{
	struct reducer_host *r = (struct reducer_host *)reducer;

	exact_close(&r->exact);
	allreduce_close(&r->sum);
	free(r);
}

static int
reducer_exact_begin(struct reducer *reducer, const struct tree *t, size_t from,
    size_t n)
{
	struct exact *e = &((struct reducer_host *)reducer)->exact;
	int first;

	(void)from;
	exact_leaves(e, t->leaves, &first);
	return exact_reduce_scatter(e, t, 0, n, t->part[0].data);
}

struct reducer *
reducer_exact(struct comm *c, struct device *d, size_t largest)
{
	struct reducer_host *r = xcalloc(1, sizeof(*r));

	r->reducer = (struct reducer){ .begin = reducer_exact_begin,
		.close = reducer_host_close, .whole_tree = 1 };
	exact_open(&r->exact, c, d->elem, host_staging_add, d, largest);
	return &r->reducer;
}

static int
reducer_host_begin(struct reducer *reducer, const struct tree *t, size_t from,
    size_t n)
{
	(void)from;
	return allreduce_run(&((struct reducer_host *)reducer)->sum,
	    t->part[0].data, 0, n);
}

struct reducer *
reducer_host(struct comm *c, const struct allreduce_options *o)
{
	struct reducer_host *r = xcalloc(1, sizeof(*r));

	r->reducer = (struct reducer){ .begin = reducer_host_begin,
		.close = reducer_host_close };
	if (allreduce_open(&r->sum, c, o) == 0)
		return &r->reducer;
	reducer_host_close(&r->reducer);
	return NULL;
}

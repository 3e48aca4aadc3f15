/* Sums of squares of flat buffers, and what follows from those of a gradient. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "base/fail.h"
#include "base/mem.h"

/*
 * In memory of the device that stays: sums, parts of sums, edges, which part is
 * the first of each run; and, for a verdict, which run is that of each parameter,
 * and what it is.
 */
struct room { double *sum, *part; size_t *edge, *first, *run; char *kind; };

static int
take_room(struct cuda *c, size_t runs, size_t parts, size_t params,
    struct room *r)
{
	size_t bytes = (runs + parts) * sizeof(double) +
	    (2 * (runs + 1) + params + 1) * sizeof(size_t) + params;

	if (bytes > c->room_bytes) {
		device_free(&c->device, c->room);
		c->room_bytes = 0;
		if ((c->room = device_alloc(&c->device, bytes)) == NULL)
			return -1;
		c->room_bytes = bytes;
	}
	r->sum = c->room;
	r->part = r->sum + runs;
	r->edge = (size_t *)(r->part + parts);
	r->first = r->edge + runs + 1;
	r->run = r->first + runs + 1;
	r->kind = (char *)(r->run + params + 1);
	return 0;
}

/* Sums of each run, into the room, where ${params} have a place, too. */
static struct room
ask_squares(struct cuda *c, const void *x, const size_t *edge, size_t runs,
    size_t params)
{
	const float *from = (const float *)x + edge[0];
	size_t *first = xcalloc(2 * (runs + 1), sizeof(*first));
	size_t *past = first + runs + 1;	/* edges, as seen from there */
	size_t table = (runs + 1) * sizeof(size_t);
	struct squares a;
	struct launch k;
	struct room r;

	for (size_t i = 0; i < runs; i++) {
		past[i + 1] = edge[i + 1] - edge[0];
		first[i + 1] = first[i] + cuda_pieces(past[i + 1] - past[i],
		    SQUARES);
	}
	if (take_room(c, runs, first[runs], params, &r) != 0)
		die(1, "the device cannot go on");
	cuda_send(c, r.edge, past, table);
	cuda_send(c, r.first, first, table);
	a = (struct squares){ from, r.edge, r.first, runs, r.part, r.sum };
	if (first[runs] > 0) {
		k = CUDA_KERNEL(c, GPU_SQUARES, (unsigned)first[runs], 1, a);
		cuda_reads(&k, from, past[runs] * sizeof(float));
		cuda_reads(&k, r.edge, table);
		cuda_reads(&k, r.first, table);
		cuda_writes(&k, r.part, first[runs] * sizeof(double));
		cuda_launch(c, &k);
	}
	k = CUDA_KERNEL(c, GPU_SQUARES_TOTAL, (unsigned)runs, 1, a);
	cuda_reads(&k, r.part, first[runs] * sizeof(double));
	cuda_reads(&k, r.first, table);
	cuda_writes(&k, r.sum, runs * sizeof(double));
	cuda_launch(c, &k);
	free(first);
	return r;
}

void
cuda_squares(struct device *d, double *sum, const void *x, const size_t *edge,
    size_t runs)
{
	struct cuda *c = (struct cuda *)d;
	struct room r = ask_squares(c, x, edge, runs, 0);

	cuda_receive(c, sum, r.sum, runs * sizeof(double));
}

/* ---- a verdict on a step ---- */

void
cuda_judge(struct device *d, struct verdict *v, const struct judgement *j)
{
	struct cuda *c = (struct cuda *)d;
	struct room r = ask_squares(c, j->g, j->edge, j->runs, j->params);
	size_t table = (j->params + 1) * sizeof(size_t);
	const struct judge a = { .sum = r.sum, .first = r.run, .kind = r.kind,
		.params = j->params, .outcomes = j->outcomes, .scale = j->scale,
		.clip = j->clip, .outcome = j->outcome, .verdict = v };
	struct launch k = CUDA_KERNEL(c, GPU_JUDGE, 1, 1, a);

	cuda_send(c, r.run, j->first, table);
	cuda_send(c, r.kind, j->kind, j->params);
	cuda_reads(&k, r.sum, j->runs * sizeof(double));
	cuda_reads(&k, r.run, table);
	cuda_reads(&k, r.kind, j->params);
	cuda_reads(&k, j->outcome, j->outcomes * sizeof(*j->outcome));
	cuda_writes(&k, v, sizeof(*v));
	cuda_launch(c, &k);
}

void
cuda_obey(struct device *d, const struct verdict *v)
{
	((struct cuda *)d)->verdict = v;
}

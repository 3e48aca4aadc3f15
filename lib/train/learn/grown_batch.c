/* Batch growth by the noise between microbatches. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/learn/grown_batch.h"
#include "train/learn/round.h"

/*
 * Decay of the moving averages, per update.  They reach back over about 20
 * updates; McCandlish et al. average over similar times.
 */
#define GROWN_BATCH_DECAY 0.95

struct grown_batch {
	struct device *device;
	struct comm *self;
	struct segments all;		/* all elements, on this rank */
	struct norm_blocks blocks;	/* of one microbatch's gradient */
	size_t bytes;			/* of a gradient */
	void *sum;			/* of the steps since the last update,
					 * in device memory */
	struct round round;		/* up to an update */
	int microbatches;		/* in ${sum} */
	double clips;			/* of the update so far */
	double squares;			/* sum of their squared norms */
	int due;			/* 1: this step ends with an update */
};

int
grown_batch_wanted(const struct trainer *t)
{
	return t->o.learners.n == 0 && (round_grows(&t->o.learners) ||
	    t->state.grown > 1);
}

size_t
grown_batch_bytes(const struct trainer *t)
{
	return grown_batch_wanted(t) ? t->net->graph->elements *
	    t->net->device->elem : 0;
}

void
grown_batch_print(const struct trainer *t, FILE *f)
{
	fprintf(f, "%-22s up to %lld times\n", "# the batch grows",
	    (long long)t->o.learners.grow);
}

int
grown_batch_fit(const struct trainer *t, const struct cell *c)
{
	if (c->batch / c->group > 1)
		return 0;
	return fail("%s: a batch of %d clips in BN groups of %d makes 1 "
	    "microbatch: --batch-growth-max compares microbatches (wanted at "
	    "least 2: vt-schedule --bn-size)", t->schedule->path, c->batch,
	    c->group);
}

struct grown_batch *
grown_batch_open(const struct trainer *t)
{
	struct grown_batch *b = xcalloc(1, sizeof(*b));
	size_t elements = t->net->graph->elements;

	b->device = t->net->device;
	b->bytes = grown_batch_bytes(t);
	b->self = comm_self();
	segments_open(&b->all, b->self, elements, elements + 1);
	norm_blocks_open(&b->blocks, t->net->graph, &b->all);
	if ((b->sum = device_alloc(b->device, b->bytes)) != NULL)
		return b;
	grown_batch_close(b, t);
	return NULL;
}

void
grown_batch_close(struct grown_batch *b, const struct trainer *t)
{
	if (b == NULL)
		return;
	device_free(t->net->device, b->sum);
	norm_blocks_close(&b->blocks);
	segments_close(&b->all);
	comm_free(b->self);
	free(b);
}

double
grown_batch_squares(struct grown_batch *b, const void *g)
{
	norm_blocks_sum(&b->blocks, b->device, g);
	return norm_blocks_total(&b->blocks, 0);
}

void
grown_batch_begin(struct grown_batch *b, const struct trainer *t)
{
	if (!round_begin(&b->round, t))
		return;
	b->microbatches = b->due = 0;
	b->clips = b->squares = 0;
}

void *
grown_batch_add(struct grown_batch *b, const struct trainer *t, void *sum,
    int microbatches, const struct step_report *s, double *scale)
{
	if (t->state.grown > 1 && b->microbatches == 0)
		device_copy(b->device, b->sum, sum, b->bytes);
	else if (t->state.grown > 1)
		device_add(b->device, b->sum, sum, t->net->graph->elements);
	b->microbatches += microbatches;
	b->clips += t->work->at.cell->batch;
	b->squares += s->squares;
	b->due = round_due(&b->round, t, 1);
	*scale = 1.0 / b->microbatches;
	return !b->due ? NULL : t->state.grown > 1 ? b->sum : sum;
}

/* Add the measurement of an update, whose mean gradient has ${norm}, to the
 * estimates in ${s}. */
static void
grown_batch_estimate(const struct grown_batch *b, double norm, struct state *s)
{
	double n = b->microbatches, mean = norm * norm;
	/* Rounding can make the difference negative. */
	double apart = fmax(b->squares - n * mean, 0) / (n - 1);
	double trace = b->clips / n * apart, gradient = mean - apart / n;
	int first = s->noise_trace == 0 && s->noise_gradient == 0;
	double keep = first ? 0 : GROWN_BATCH_DECAY;

	s->noise_trace = keep * s->noise_trace + (1 - keep) * trace;
	s->noise_gradient = keep * s->noise_gradient + (1 - keep) * gradient;
}

int
grown_batch_end(struct grown_batch *b, struct trainer *t,
    struct step_report *s, int status)
{
	struct state *st = &t->state;

	s->grown = st->grown;
	if (status != 0)
		return round_fall_back(&b->round, t, status);
	round_step(&b->round, s, b->due);
	/* A dynamic loss scale skipped this update: its norm is not finite. */
	if (b->due && !s->skipped) {
		grown_batch_estimate(b, s->norm, st);
		round_grow(t, st->noise_trace / b->clips, st->noise_gradient);
	}
	t->work->saving.unsaved |= b->due;
	s->noise_scale = st->noise_gradient > 0 ?
	    st->noise_trace / st->noise_gradient : NAN;
	return 0;
}

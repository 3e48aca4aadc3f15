/* The description of a rank by its clips. */
#include <inttypes.h>
#include <stdio.h>

#include "base/cpus.h"
#include "data/order.h"
#include "train/guard/rank_status.h"
#include "train/loop/work.h"

static void
rank_status_describe_own(const struct trainer *t, char *text, size_t size)
{
	uint64_t clip;
	uint32_t sample;

	if (feeder_at(&t->work->feeder, &clip, &sample))
		snprintf(text, size, ", at clip %" PRIu64 " (%s)", clip,
		    dataset_sample(t->train, sample).key);
}

/*
 * Describe a rank that does not reply, by the schedule and the order of
 * samples.
 */
static void
rank_status_describe_other(const struct trainer *t, int rank, uint64_t step,
    char *text, size_t size)
{
	uint32_t samples = dataset_samples(t->train);
	struct schedule_step at = schedule_seek(t->schedule, samples, step - 1);
	const struct cell *c = at.cell;
	uint64_t repeat = (uint64_t)transforms_repeats(&t->loading.transforms);
	uint64_t clip;
	int first, count;
	struct step_split p;
	struct order *order;

	if (c == NULL)
		return;
	p = work_parts(t, c);
	count = split(p.n, rank, t->comm->size, &first);
	clip = at.clip + (uint64_t)step_split_clip(&p, c, first, 0);
	order = order_new(t->loading.seed, samples, t->loading.balance);
	snprintf(text, size, "; its %d clips of step %" PRIu64 " begin with %"
	    PRIu64 " (%s)", count * p.clips, step, clip,
	    dataset_sample(t->train, order_sample(order, clip / repeat)).key);
	order_free(order);
}

void
rank_status_describe(void *trainer, int rank, uint64_t step, char *text,
    size_t size)
{
	const struct trainer *t = trainer;

	if (step == 0)
		return;
	if (rank == t->comm->rank)
		rank_status_describe_own(t, text, size);
	else
		rank_status_describe_other(t, rank, step, text, size);
}

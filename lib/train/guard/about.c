/* What a rank is at, by its clips. */
#include <inttypes.h>
#include <stdio.h>

#include "base/cpus.h"
#include "data/order.h"
#include "train/guard/about.h"
#include "train/loop/work.h"

void
about_computes(struct about *a, const struct microbatch *mb)
{
	if (mb != NULL)
		atomic_store(&a->clip, mb->clip[0]);
	atomic_store(&a->sample, mb != NULL ? (int64_t)mb->sample[0] : -1);
}

void
about_loads(struct about *a, int on)
{
	atomic_store(&a->loading, on);
}

static void
about_tell_own(const struct trainer *t, char *text, size_t size)
{
	struct about *a = &t->work->about;
	int64_t sample = atomic_load(&a->sample);
	uint64_t clip = atomic_load(&a->clip);
	uint32_t loaded;

	if (atomic_load(&a->loading) &&
	    loader_waits(t->work->loader, &clip, &loaded))
		sample = loaded;
	if (sample >= 0)
		snprintf(text, size, ", at clip %" PRIu64 " (%s)", clip,
		    dataset_sample(t->train, (uint32_t)sample).key);
}

/* Of a rank that does not say it itself. */
static void
about_tell_other(const struct trainer *t, int rank, uint64_t step, char *text,
    size_t size)
{
	uint32_t samples = dataset_samples(t->train);
	struct schedule_step at = schedule_seek(t->schedule, samples, step - 1);
	const struct cell *c = at.cell;
	uint64_t repeat = t->loading.effects.repeat > 1 ?
	    (uint64_t)t->loading.effects.repeat : 1, clip;
	int first, count;
	struct parts p;
	struct order *order;

	if (c == NULL)
		return;
	p = work_parts(t, c);
	count = split(p.n, rank, t->comm->size, &first);
	clip = at.clip + (uint64_t)parts_clip(&p, c, first, 0);
	order = order_new(t->loading.seed, samples);
	snprintf(text, size, "; its %d clips of step %" PRIu64 " begin with %"
	    PRIu64 " (%s)", count * p.clips, step, clip,
	    dataset_sample(t->train, order_sample(order, clip / repeat)).key);
	order_free(order);
}

void
about_tell(void *trainer, int rank, uint64_t step, char *text, size_t size)
{
	const struct trainer *t = trainer;

	if (step == 0)
		return;
	if (rank == t->comm->rank)
		about_tell_own(t, text, size);
	else
		about_tell_other(t, rank, step, text, size);
}

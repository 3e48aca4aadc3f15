/* Pass microbatches from a loader through a network. */
#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "train/loop/feeder.h"

/* ---- pinned memory ---- */

static void *
feeder_alloc_pinned(void *device, size_t bytes)
{
	struct device *d = device;

	return device_alloc_host(d, bytes);
}

static void
feeder_free_pinned(void *device, void *p)
{
	device_free_host(device, p);
}

/* Return pinned memory for the loader, or ordinary memory if nothing is
 * prefetched. */
static struct pixel_allocator
feeder_buffer(const struct net *n)
{
	return n->prefetch.buffer == NULL ? (struct pixel_allocator){ NULL,
	    NULL, NULL } : (struct pixel_allocator){ feeder_alloc_pinned,
		feeder_free_pinned,
		n->device };
}

/* ---- the loader ---- */

void
feeder_open(struct feeder *f, const struct dataset *d,
    const struct schedule *s, uint64_t from, const struct loader_options *o)
{
	struct loader_options own = *o;

	own.workspace = feeder_buffer(f->net);
	f->seed = o->seed;
	f->sample = -1;
	f->loader = loader_new(d, s, from, &own);
}

void
feeder_open_views(struct feeder *f, const struct dataset *d, uint32_t first,
    uint32_t count, const struct view_options *o)
{
	struct view_options own = *o;

	own.workspace = feeder_buffer(f->net);
	f->sample = -1;
	f->loader = loader_views(d, first, count, &own);
}

void
feeder_close(struct feeder *f)
{
	if (f->loader == NULL)
		return;
	prefetch_drop(&f->net->prefetch);	/* it may still read loader
						 * memory */
	loader_free(f->loader);
	f->loader = NULL;
	f->mb = NULL;
}

int
feeder_at(struct feeder *f, uint64_t *clip, uint32_t *sample)
{
	int64_t present = atomic_load(&f->sample);

	*clip = atomic_load(&f->clip);
	*sample = (uint32_t)present;
	return (atomic_load(&f->loading) &&
	    loader_pending_clip(f->loader, clip, sample)) || present >= 0;
}

/* ---- passes ---- */

void
feeder_begin(struct feeder *f, struct outcome *outcome, double scale)
{
	f->outcome = outcome;
	f->scale = scale;
	f->passes = 0;
}

int
feeder_next(struct feeder *f)
{
	double start = clock_seconds();
	int wait, got;

	if (f->loader == NULL) {
		f->mb = f->own;
		return 0;
	}
	wait = watch_enter(f->watch, "loading clips", 0);
	atomic_store(&f->loading, 1);
	got = loader_next(f->loader, &f->mb);
	atomic_store(&f->loading, 0);
	if (got == 1) {
		atomic_store(&f->clip, f->mb->clip[0]);
		atomic_store(&f->sample, (int64_t)f->mb->sample[0]);
	}
	watch_leave(f->watch, wait);
	f->waited += clock_seconds() - start;
	if (got == 0)
		fail("the loader ended before the schedule");
	return got == 1 ? 0 : got == 0 ? EXIT_FAILED : exit_of(got);
}

static struct plan *
feeder_plan_of(const struct feeder *f, const struct microbatch *mb)
{
	return f->plan != NULL ? f->plan : cells_find(f->cells, mb->at.stage,
	    mb->at.cycle_position)->plan;
}

/* Start the upload of ${mb}, unless it was started before (prefetch_send). */
static void
feeder_send(struct feeder *f, const struct microbatch *mb)
{
	prefetch_send(&f->net->prefetch, feeder_plan_of(f, mb)->staging,
	    mb->stream, mb->load);
}

void
feeder_forward(struct feeder *f, void *dw)
{
	const struct microbatch *mb = f->mb;

	feeder_send(f, mb);
	f->feed = (struct feed){ mb->stream, mb->target, mb->clip, f->seed,
		f->outcome, f->scale };
	if (f->outcome != NULL)
		f->outcome += f->net->graph->heads;
	f->net->weights_unchanged = f->passes++ > 0;	/* the first pass packs
							 * the weights */
	net_forward(f->net, feeder_plan_of(f, mb), &f->feed, dw);
}

void
feeder_backward(struct feeder *f, struct event *final)
{
	plan_backward(feeder_plan_of(f, f->mb), final);
}

void
feeder_prefetch(struct feeder *f)
{
	const struct microbatch *mb = f->net->prefetch.buffer == NULL ? NULL :
	    f->loader == NULL ? f->own : loader_peek(f->loader);

	if (mb != NULL)
		feeder_send(f, mb);
}

void
feeder_done(struct feeder *f)
{
	if (f->mb == NULL)
		return;
	atomic_store(&f->sample, -1);
	/* The upload reads pinned memory, which the loader may overwrite once
	 * it has the microbatch back. */
	prefetch_wait(&f->net->prefetch);
	if (f->loader != NULL)
		loader_return(f->loader, f->mb);
	f->mb = NULL;
	feeder_prefetch(f);
}

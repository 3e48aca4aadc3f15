/*
 * Load one clip, and replace it if it is damaged.
 *
 * The replacement is the next sample in the epoch's order that is not known to
 * be damaged and has intact frames for this clip.  Known are the samples that
 * the trainer has passed to loader_bad for earlier steps.  So the content of a
 * step is a function of that set and of the data.  The rank that loads a step,
 * and damage found while prefetching, do not change it.  If a sample becomes
 * known after its microbatch was loaded, loader_next loads the microbatch
 * again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/loader_run.h"

void
loader_slot_begin(struct loader_slot *s)
{
	size_t n = (size_t)s->mb.n;

	s->begun = 0;
	s->left = s->failed = s->mb.n;
	s->status = 0;
	for (int i = 0; i < s->mb.bads; i++)
		free(s->mb.bad[i].why);
	s->mb.bads = 0;
	memset(s->waits, 0, n);
	memset(s->done, 0, n);
}

static void
loader_add_cost(struct loader_stats *to, const struct fill_cost *c)
{
	to->clips += c->clips;
	to->frames += c->frames;
	to->bytes += c->bytes;
	to->read += c->read;
	to->decode += c->decode;
	to->resize += c->resize;
}

static void
loader_note_bad(struct loader_slot *s, int i, const char *why)
{
	struct microbatch *mb = &s->mb;

	mb->bad = array_reserve(mb->bad, (size_t)mb->bads, &s->cap,
	    sizeof(*mb->bad));
	mb->bad[mb->bads++] = (struct bad_clip){ mb->clip[i], mb->sample[i],
		xstrdup(why) };
}

/* Set ${source} to the stored streams of a sample that make ${stream}. */
static void
loader_sources(const struct loader *l, const struct stream_spec *stream,
    uint32_t sample, struct frame_source source[2])
{
	int number[2], n = fill_find_sources(dataset_streams(l->d),
	    stream->name, number);

	for (int i = 0; i < n; i++)
		source[i] = frame_source_sample(l->d, sample, number[i]);
}

/*
 * Load the ${n} clips of ${s} from number ${i}, which share their frames.  The
 * caller does not hold the lock.
 */
static int
loader_load_clips(const struct loader *l, struct loader_slot *s, int i, int n,
    struct filler *f, struct fill_cost *cost)
{
	struct microbatch *mb = &s->mb;
	const struct input_spec *needs = microbatches_needs(l->microbatches);
	struct clip_out out[CLIPS_MAX];
	int status = 0;

	for (int k = 0; k < n; k++)
		out[k] = (struct clip_out){ .stop = &l->stop };
	for (int of = 0; of < needs->streams && status == 0; of++) {
		const struct stream *to = &mb->stream[of];
		struct frame_source source[2];

		loader_sources(l, &needs->stream[of], mb->sample[i], source);
		for (int k = 0; k < n; k++) {
			struct clip_request *r = &s->request[i + k];

			out[k].bytes = microbatch_clip_bytes(mb, of, i + k);
			if (of > 0)
				continue;
			r->frame = s->frame + (size_t)(i + k) * (size_t)to->t;
			microbatches_choose(l->microbatches, mb, i + k, source,
			    r);
		}
		status = clips_fill_stream(f, &needs->stream[of], source,
		    &s->request[i], out, n);
	}
	*cost = (struct fill_cost){ .clips = status == 0 ? (uint64_t)n : 0 };
	for (int k = 0; k < n; k++) {
		cost->frames += out[k].cost.frames;
		cost->bytes += out[k].cost.bytes;
		cost->read += out[k].cost.read;
		cost->decode += out[k].cost.decode;
		cost->resize += out[k].cost.resize;
	}
	return status;
}

/*
 * Note the damage that the ${n} clips from number ${i} have found, and assign
 * the next sample to each.  They share it, and so does this one.  Return 0 if
 * none is left.
 */
static int
loader_replace_clips(struct loader *l, struct loader_slot *s, int i, int n,
    const char *why)
{
	int found = 1;

	for (int k = i; k < i + n; k++) {
		loader_note_bad(s, k, why);
		s->mb.skipped[k]++;
		found &= microbatches_assign_sample(l->microbatches, &s->mb, k,
		    &l->bad);
	}
	return found;
}

void
loader_clips_load(struct loader *l, struct loader_slot *s, int i, int n,
    struct filler *f)
{
	int status;

	for (;;) {
		struct fill_cost cost;

		pthread_mutex_unlock(&l->lock);
		status = loader_load_clips(l, s, i, n, f, &cost);
		pthread_mutex_lock(&l->lock);
		loader_add_cost(&l->stats, &cost);
		/* -2: the data are damaged. */
		if (status != -2 || !l->o.replaces ||
		    !loader_replace_clips(l, s, i, n, filler_error(f)))
			break;
	}
	memset(s->done + i, 1, (size_t)n);
	/* Keep the error of the first failed clip, so that it does not depend
	 * on threads. */
	if (status != 0 && i < s->failed) {
		s->failed = i;
		s->status = status;
		strcpy(s->error, filler_error(f));
	}
}

int
loader_clip_done(struct loader *l, struct loader_slot *s, int i)
{
	int ring[3], clips = transforms_partners(i, s->mb.n, ring);

	if (!microbatches_mixes(l->microbatches))
		return 1;
	s->waits[i] = 1;
	for (int k = 0; k < clips; k++)
		if (!s->waits[ring[k]])
			return 0;
	if (s->status == 0) {
		pthread_mutex_unlock(&l->lock);
		microbatches_mix(l->microbatches, &s->mb, i);
		pthread_mutex_lock(&l->lock);
	}
	return clips;
}

/*
 * Drop known samples and duplicates: clips of one sample find its damage
 * several times.
 */
static void
loader_drop_known(struct loader *l, struct loader_slot *s)
{
	struct microbatch *mb = &s->mb;
	int n = 0;

	for (int i = 0; i < mb->bads; i++) {
		int known = bad_set_has(&l->bad, mb->bad[i].sample);

		/* The list is short: damage is rare. */
		for (int k = 0; k < n && !known; k++)
			known = mb->bad[k].sample == mb->bad[i].sample;
		if (known)
			free(mb->bad[i].why);
		else
			mb->bad[n++] = mb->bad[i];
	}
	mb->bads = n;
}

int
loader_slot_stale(const struct loader *l, const struct loader_slot *s)
{
	int stale = 0;

	for (int i = 0; i < s->mb.n && l->bad.n > 0; i++)
		stale |= bad_set_has(&l->bad, s->mb.sample[i]);
	return stale;
}

void
loader_slot_replace_damaged(struct loader *l, struct loader_slot *s)
{
	struct microbatch *mb = &s->mb;
	struct filler *f;

	/* Damage is rare, so load in the caller's thread. */
	if (loader_slot_stale(l, s) && l->o.replaces) {
		f = filler_new(&l->max);
		loader_slot_begin(s);
		mb->load = ++l->loads;
		for (int i = 0; i < mb->n; i++) {
			mb->skipped[i] = 0;
			microbatches_assign_sample(l->microbatches, mb, i,
			    &l->bad);
			loader_clips_load(l, s, i, 1, f);
			loader_clip_done(l, s, i);
		}
		s->begun = mb->n;
		s->left = 0;
		filler_free(f);
	}
	loader_drop_known(l, s);
}

void
loader_bad(struct loader *l, const uint32_t *sample, size_t n)
{
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < n; i++)
		bad_set_add(&l->bad, sample[i]);
	pthread_mutex_unlock(&l->lock);
}

/*
 * Prefetch microbatches with threads.
 *
 * A slot holds one microbatch.  A thread that finds no clip left to load plans
 * the next microbatch into a free slot and appends it to the queue.  Threads
 * load the clips of the queue in order; the trainer takes complete microbatches
 * off its head.  The memory limit and the largest microbatch to come decide how
 * many slots are created: 55 for 8 clips of 8 frames of 224 pixels in 512 MiB.
 * So nothing is allocated later, and a change of shape needs no special case.
 *
 * The unit of work is a clip, or the clips of a repeated sample, not a
 * microbatch: all threads load a microbatch that the trainer waits for.  One
 * lock protects everything except the clips being loaded.  It is taken twice
 * per clip, for far less than a microsecond.  A clip of 8 frames takes at least
 * 5 ms: reading a frame of 320x256 takes 15 us, decoding and resizing 600 us
 * (vt-bench loader, one thread).  So threads rarely contend for it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/loader_run.h"

/* more would only use memory: microbatches are small then */
#define MAX_SLOTS 256

/* ---- loading ---- */

/*
 * Set ${*slot} and ${*clip} to the first of some clips to load, which share
 * their frames, and plan a microbatch if necessary.  Return their number, or 0
 * if there is none now.  The caller holds the lock.
 *
 * Microbatches enter the queue in the order of the plan, under the lock, so it
 * does not matter which thread plans one, nor when.  Only the last of the queue
 * can have clips that no thread has begun, so ${loading} is the only state.  A
 * thread that finds nothing sleeps until loader_return frees a slot, or another
 * thread plans a microbatch of several clips.
 */
static int
loader_take(struct loader *l, struct loader_slot **slot, int *clip)
{
	struct loader_slot *s = l->loading;
	int n;

	if (s == NULL) {
		if (l->ended || (s = l->free) == NULL)
			return 0;
		if (!microbatches_next(l->microbatches, &s->mb)) {
			l->ended = 1;
			pthread_cond_signal(&l->ready);
			return 0;
		}
		microbatches_set_buffers(l->microbatches, &s->mb, s->pixels);
		l->free = s->next;
		s->next = NULL;
		loader_slot_begin(s);
		s->mb.load = ++l->loads;
		for (int k = 0; k < s->mb.n && l->bad.n > 0; k++)
			microbatches_assign_sample(l->microbatches, &s->mb, k,
			    &l->bad);
		*(l->head == NULL ? &l->head : &l->tail->next) = s;
		l->tail = l->loading = s;
		pthread_cond_broadcast(&l->work);
	}
	*slot = s;
	*clip = s->begun;
	n = microbatches_shared(l->microbatches, &s->mb, s->begun);
	s->begun += n;
	if (s->begun == s->mb.n)
		l->loading = NULL;
	return n;
}

static void *
loader_thread(void *arg)
{
	struct loader *l = arg;
	struct filler *f = filler_new(&l->max);
	struct loader_slot *s;
	int i, n;

	pthread_mutex_lock(&l->lock);
	while (!atomic_load(&l->stop)) {
		if ((n = loader_take(l, &s, &i)) == 0) {
			pthread_cond_wait(&l->work, &l->lock);
			continue;
		}
		loader_clips_load(l, s, i, n, f);
		for (int k = i; k < i + n; k++) {
			/* loader_clip_done releases the lock, so read ${left}
			 * after it. */
			int done = loader_clip_done(l, s, k);

			if ((s->left -= done) == 0) {
				l->stats.ready++;
				pthread_cond_signal(&l->ready);
			}
		}
	}
	pthread_mutex_unlock(&l->lock);
	filler_free(f);
	return NULL;
}

/* ---- opening and closing ---- */

static void
loader_slot_init(struct loader_slot *s, const struct microbatches *l,
    const struct microbatch_max *m, const struct pixel_allocator *buffer)
{
	char text[32];

	microbatches_open(l, &s->mb, m->clips);
	s->request = xcalloc((size_t)m->clips, sizeof(*s->request));
	s->frame = xcalloc(m->frames, sizeof(*s->frame));
	s->waits = xcalloc((size_t)m->clips, 1);
	s->done = xcalloc((size_t)m->clips, 1);
	/* Each frame is written once, to pages that the TLB no longer has. */
	s->pixels = buffer->alloc != NULL ? buffer->alloc(buffer->of,
	    m->bytes) : huge_alloc(m->bytes);
	if (s->pixels == NULL && m->bytes > 0)
		die(EXIT_FAILED, "out of memory: %s for a microbatch of clips",
		    text_bytes(text, (double)m->bytes));
}

/*
 * Return the number of slots: as many as fit into ${memory}, at least two, at
 * most one more than there are microbatches.  The additional slot lets a thread
 * detect the end while the caller holds all microbatches.
 */
static int
loader_slots_for(const struct microbatches *m, size_t memory, size_t bytes)
{
	int left = microbatches_left(m, MAX_SLOTS - 1) + 1;
	size_t n = bytes > 0 ? memory / bytes : 2;

	n = n > (size_t)left ? (size_t)left : n;
	return n < 2 ? 2 : (int)n;
}

int
loader_threads(int cores, int discrete)
{
	return discrete && cores > 1 ? cores - 1 : cores;
}

/*
 * Return the maximum bytes of the decoders of ${threads} threads: a whole frame
 * each.
 */
static size_t
loader_decoder_bytes(const struct dataset *d, int threads)
{
	int frames, w, h;

	dataset_max(d, &frames, &w, &h);
	return (size_t)(threads < 1 ? 1 : threads) * 3 * (size_t)w * (size_t)h;
}

/* Return the bytes of a loader of ${m}, and free ${m}. */
static size_t
loader_bytes_for(const struct dataset *d, struct microbatches *m, size_t memory,
    int threads)
{
	size_t bytes = microbatches_max(m).bytes, sum;
	int slots = loader_slots_for(m, memory, bytes);

	if (slots > microbatches_left(m, MAX_SLOTS))	/* without the
							 * additional one, which
							 * stays empty */
		slots = microbatches_left(m, MAX_SLOTS);
	sum = (size_t)slots * bytes + loader_decoder_bytes(d, threads);
	microbatches_free(m);
	return sum;
}

size_t
loader_bytes(const struct dataset *d, const struct schedule *s, uint64_t from,
    const struct loader_options *o)
{
	return loader_bytes_for(d, microbatches_of_steps(d, s, from, o),
	    o->memory, o->threads);
}

size_t
loader_views_bytes(const struct dataset *d, uint32_t count,
    const struct view_options *o)
{
	return loader_bytes_for(d, microbatches_of_views(d, 0, count, o),
	    o->memory, o->threads);
}

/* Create the slots, then start the threads. */
static struct loader *
loader_begin(const struct dataset *d, struct microbatches *microbatches,
    const struct loader_options *o)
{
	struct loader *l = xcalloc(1, sizeof(*l));
	struct microbatch_max largest = microbatches_max(microbatches);
	int frames;

	l->max = (struct fill_max){ .t = largest.t * largest.span,
		.side = largest.side, .stacks = largest.stacks,
		.png = strcmp(dataset_ext(d, 0), "png") == 0 };
	dataset_max(d, &frames, &l->max.w, &l->max.h);
	l->max.scratch = dataset_frames_workspace(d, l->max.t, frames);
	l->o = *o;
	l->slots = loader_slots_for(microbatches, o->memory, largest.bytes);
	l->slot = xcalloc((size_t)l->slots, sizeof(*l->slot));
	for (int i = 0; i < l->slots; i++) {
		loader_slot_init(&l->slot[i], microbatches, &largest,
		    &o->workspace);
		l->slot[i].next = l->free;
		l->free = &l->slot[i];
	}
	l->d = d;
	l->microbatches = microbatches;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->work, NULL);
	pthread_cond_init(&l->ready, NULL);
	l->o.threads = o->threads < 1 ? 1 : o->threads;
	l->thread = xcalloc((size_t)l->o.threads, sizeof(*l->thread));
	for (int i = 0; i < l->o.threads; i++)
		if (pthread_create(&l->thread[i], NULL, loader_thread, l) != 0)
			die(EXIT_FAILED, "cannot start thread %d of %d that "
			    "load clips", i + 1, l->o.threads);
	return l;
}

struct loader *
loader_new(const struct dataset *d, const struct schedule *s, uint64_t from,
    const struct loader_options *o)
{
	if (o->trace != NULL)
		fputs("#step\tclip\tkey\tframes\tcrop\tflip\teffects\n",
		    o->trace);
	return loader_begin(d, microbatches_of_steps(d, s, from, o), o);
}

struct loader *
loader_views(const struct dataset *d, uint32_t first, uint32_t count,
    const struct view_options *o)
{
	return loader_begin(d, microbatches_of_views(d, first, count, o),
	    &(struct loader_options){ .threads = o->threads,
		.memory = o->memory, .workspace = o->workspace });
}

void
loader_free(struct loader *l)
{
	if (l == NULL)
		return;
	pthread_mutex_lock(&l->lock);
	atomic_store(&l->stop, 1);
	pthread_cond_broadcast(&l->work);
	pthread_mutex_unlock(&l->lock);
	for (int i = 0; i < l->o.threads; i++)
		pthread_join(l->thread[i], NULL);
	for (int i = 0; i < l->slots; i++) {
		struct loader_slot *s = &l->slot[i];

		/* The slot may hold a microbatch: reset it to free its list of
		 * damaged samples. */
		s->mb.n = 0;
		loader_slot_begin(s);
		microbatch_close(&s->mb);
		if (l->o.workspace.alloc != NULL)
			l->o.workspace.release(l->o.workspace.of, s->pixels);
		else
			free(s->pixels);
		free(s->frame);
		free(s->request);
		free(s->waits);
		free(s->done);
		free(s->mb.bad);
	}
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->work);
	pthread_cond_destroy(&l->ready);
	microbatches_free(l->microbatches);
	bad_set_free(&l->bad);
	free(l->thread);
	free(l->slot);
	free(l);
}

/* ---- the caller's side ---- */

static int
loader_write_trace(const struct loader *l, const struct loader_slot *s)
{
	const struct microbatch *f = &s->mb;
	FILE *to = l->o.trace;

	for (int i = 0; i < f->n; i++) {
		struct sample m = dataset_sample(l->d, f->sample[i]);
		const struct clip_request *r = &s->request[i];
		const struct crop *c = &r->crop;

		fprintf(to, "%llu\t%llu\t%s\t", (unsigned long long)f->at.step,
		    (unsigned long long)f->clip[i], m.key);
		for (int k = 0; k < f->stream->t; k++)
			fprintf(to, "%s%d", k > 0 ? "," : "", r->frame[k]);
		fprintf(to, "\t%.9gx%.9g+%.9g+%.9g\t%d\t", c->w, c->h, c->x,
		    c->y, c->flip);
		microbatches_print_transforms(l->microbatches, f, i, to);
		fputc('\n', to);
	}
	return ferror(to) ? fail_errno("cannot write the trace") : 0;
}

int
loader_next(struct loader *l, struct microbatch **mb)
{
	struct loader_slot *s;
	double start = clock_seconds();
	int status = 1;

	pthread_mutex_lock(&l->lock);
	/* If the caller held every slot, this would wait forever. */
	assert(l->head != NULL || l->free != NULL || l->ended);
	/* Wait until the head is loaded or the plan has ended. */
	while (l->head != NULL ? l->head->left > 0 : !l->ended)
		pthread_cond_wait(&l->ready, &l->lock);
	s = l->head;
	if (s != NULL)
		loader_slot_replace_damaged(l, s);
	l->stats.waited += clock_seconds() - start;
	if (s == NULL) {
		status = 0;
	} else if (s->status != 0) {
		status = s->status;
	} else {
		l->head = s->next;
		l->stats.ready--;
		l->stats.microbatches++;
	}
	pthread_mutex_unlock(&l->lock);
	if (status < 0)
		fail("%s", s->error);
	if (status != 1)
		return status;
	*mb = &s->mb;
	if (l->o.trace != NULL && !s->mb.audit_duplicate &&
	    loader_write_trace(l, s) != 0)
		return -1;
	return 1;
}

const struct microbatch *
loader_peek(struct loader *l)
{
	struct loader_slot *s;

	pthread_mutex_lock(&l->lock);
	s = l->head;
	if (s != NULL && (s->left > 0 || s->failed < s->mb.n ||
	    loader_slot_stale(l, s)))
		s = NULL;
	pthread_mutex_unlock(&l->lock);
	return s != NULL ? &s->mb : NULL;
}

void
loader_return(struct loader *l, struct microbatch *mb)
{
	struct loader_slot *s = (struct loader_slot *)mb;

	pthread_mutex_lock(&l->lock);
	s->next = l->free;
	l->free = s;
	pthread_cond_signal(&l->work);
	pthread_mutex_unlock(&l->lock);
}

int
loader_pending_clip(struct loader *l, uint64_t *clip, uint32_t *sample)
{
	struct loader_slot *s;
	int i = 0;

	pthread_mutex_lock(&l->lock);
	s = l->head;
	while (s != NULL && i < s->mb.n && s->done[i])
		i++;
	if (s != NULL && i < s->mb.n) {
		*clip = s->mb.clip[i];
		*sample = s->mb.sample[i];
	} else {
		s = NULL;
	}
	pthread_mutex_unlock(&l->lock);
	return s != NULL;
}

struct loader_stats
loader_stats(struct loader *l)
{
	struct loader_stats stats;

	pthread_mutex_lock(&l->lock);
	stats = l->stats;
	pthread_mutex_unlock(&l->lock);
	return stats;
}

/* What the microbatches of a run are. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "data/draw.h"
#include "data/microbatches.h"
#include "data/order.h"

#define ALIGN 64		/* of each stream, for any vector and copy */

struct microbatches {
	const struct dataset *d;
	uint32_t samples;
	const struct needs *needs;
	enum target_kind *kind;			/* [needs->targets] */
	struct dims *shape;			/* [needs->streams], of the next */

	/* Training: microbatch ${next} of this rank's in step ${at}. */
	const struct schedule *schedule;	/* NULL: testing */
	struct loader_options o;
	struct order *order;
	struct schedule_step at;
	int next;

	/* Testing: view ${view} of ${views}. */
	struct view_options v;
	uint32_t first;				/* sample */
	uint64_t view, views;
};

/* 0: a target that the data do not have, which is none that counts. */
static int
has_labels(const struct target_need *t)
{
	return strcmp(t->name, TARGET_DEFAULT) == 0;
}

static struct microbatches *
begin(const struct dataset *d, const struct needs *needs)
{
	struct microbatches *l = xcalloc(1, sizeof(*l));

	l->d = d;
	l->samples = dataset_samples(d);
	l->needs = needs != NULL ? needs : &needs_default;
	l->shape = xcalloc((size_t)l->needs->streams, sizeof(*l->shape));
	l->kind = xcalloc((size_t)l->needs->targets + 1, sizeof(*l->kind));
	for (int i = 0; i < l->needs->targets; i++)
		l->kind[i] = dataset_sets(d) &&
		    has_labels(&l->needs->target[i]) &&
		    l->needs->target[i].kinds & 1 << TARGET_SET ? TARGET_SET :
		    TARGET_CLASS;
	return l;
}

struct microbatches *
microbatches_of_steps(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o)
{
	struct microbatches *l = begin(d, o->needs);

	l->schedule = s;
	l->o = *o;
	if (l->samples > 0) {			/* an empty set has no steps */
		l->order = order_new(o->seed, l->samples);
		l->at = schedule_seek(s, l->samples, from);
	}
	return l;
}

struct microbatches *
microbatches_of_views(const struct dataset *d, uint32_t first, uint32_t count,
    const struct view_options *o)
{
	struct microbatches *l = begin(d, o->needs);

	assert(first <= l->samples && count <= l->samples - first);
	l->v = *o;
	l->first = first;
	l->views = (uint64_t)count * (uint64_t)(o->clips * o->crops);
	return l;
}

void
microbatches_free(struct microbatches *l)
{
	if (l == NULL)
		return;
	order_free(l->order);
	free(l->kind);
	free(l->shape);
	free(l);
}

/* ---- one microbatch ---- */

/* Where clips are mixed a target of one class is shares of several. */
static enum target_kind
target_kind(const struct microbatches *l, int i)
{
	if (l->kind[i] != TARGET_CLASS || !microbatches_mixes(l))
		return l->kind[i];
	return l->needs->target[i].kinds & 1 << TARGET_SHARES ? TARGET_SHARES :
	    TARGET_SET;
}

void
microbatch_open(const struct microbatches *l, struct microbatch *mb, int clips)
{
	const struct needs *needs = l->needs;
	size_t n = (size_t)clips;

	mb->stream = xcalloc((size_t)needs->streams, sizeof(*mb->stream));
	mb->target = xcalloc((size_t)needs->targets + 1, sizeof(*mb->target));
	/* The last one, without classes, ends the list. */
	for (int i = 0; i < needs->targets; i++) {
		struct target *t = &mb->target[i];
		size_t classes = (size_t)needs->target[i].classes;

		t->kind = target_kind(l, i);
		t->classes = (int)classes;
		if (t->kind == TARGET_CLASS) {
			t->label = xcalloc(n, sizeof(*t->label));
		} else {
			t->share = xcalloc(n * classes, sizeof(*t->share));
			t->weight = xcalloc(n, sizeof(*t->weight));
		}
	}
	mb->clip = xcalloc(n, sizeof(*mb->clip));
	mb->sample = xcalloc(n, sizeof(*mb->sample));
}

void
microbatch_close(struct microbatch *mb)
{
	for (struct target *t = mb->target; t != NULL &&
	    (t->label != NULL || t->share != NULL); t++) {
		free(t->label);
		free(t->share);
		free(t->weight);
	}
	free(mb->stream);
	free(mb->target);
	free(mb->clip);
	free(mb->sample);
}

/* Bytes of one clip. */
static size_t
stream_bytes(const struct stream *s)
{
	return (size_t)s->t * (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

/* The shapes of its streams: ${t} frames of ${side} by ${side}. */
static void
set_shape(struct microbatches *l, struct microbatch *mb, int t, int side)
{
	needs_shapes(l->needs, mb->n, t, side, l->shape);
	for (int i = 0; i < l->needs->streams; i++) {
		const struct dims *d = &l->shape[i];

		mb->stream[i] = (struct stream){ d->t, d->h, d->w, d->c, NULL };
	}
}

size_t
microbatches_place(const struct microbatches *l, struct microbatch *mb,
    uint8_t *room)
{
	size_t end = 0;

	for (int i = 0; i < l->needs->streams; i++) {
		struct stream *s = &mb->stream[i];

		end = round_up(end, ALIGN);
		s->bytes = room + end;
		end += (size_t)mb->n * stream_bytes(s);
	}
	return end;
}

/* ---- how large they get ---- */

static void
include(const struct microbatches *l, struct microbatch_most *m, int n, int t,
    int side)
{
	size_t f = (size_t)n * (size_t)t, b = 0, more;

	needs_shapes(l->needs, n, t, side, l->shape);
	for (int i = 0; i < l->needs->streams; i++) {
		const struct dims *d = &l->shape[i];

		if (__builtin_mul_overflow((size_t)d->n * (size_t)d->t,
		    (size_t)d->h * (size_t)d->w * (size_t)d->c, &more) ||
		    more > SIZE_MAX / 4 - ALIGN || (b = (b + ALIGN - 1) /
		    ALIGN * ALIGN + more) > SIZE_MAX / 4)
			die(EXIT_FAILED, "%d clips of %d frames of %dx%d pixels "
			    "do not fit into any memory", n, t, side, side);
	}
	m->clips = n > m->clips ? n : m->clips;
	m->t = t > m->t ? t : m->t;
	m->side = side > m->side ? side : m->side;
	m->frames = f > m->frames ? f : m->frames;
	m->bytes = b > m->bytes ? b : m->bytes;
}

struct microbatch_most
microbatches_most(const struct microbatches *l)
{
	const struct schedule *s = l->schedule;
	struct microbatch_most m = { 0 };

	if (s == NULL)
		include(l, &m, l->v.n, l->v.t, l->v.side);
	else if (l->at.cell != NULL)
		for (int i = l->at.stage; i < s->stages; i++)
			for (int k = 0; k < s->stage[i].cells; k++) {
				const struct cell *c = &s->stage[i].cell[k];

				include(l, &m, c->group, c->frames, c->crop);
			}
	return m;
}

int
microbatches_left(const struct microbatches *l, int most)
{
	struct schedule_step at = l->at;
	uint64_t n = l->schedule == NULL ? (l->views - l->view +
	    (uint64_t)l->v.n - 1) / (uint64_t)l->v.n : 0;
	int first;

	for (; l->schedule != NULL && at.cell != NULL && n < (uint64_t)most;
	    at = schedule_next(l->schedule, l->samples, &at))
		n += (uint64_t)split(at.cell->batch / at.cell->group, l->o.rank,
		    l->o.ranks, &first);
	return n < (uint64_t)most ? (int)n : most;
}

/* ---- which clips they hold ---- */

static int
next_of_steps(struct microbatches *l, struct microbatch *to)
{
	const struct cell *c;
	uint64_t repeat = l->o.effects.repeat > 1 ?
	    (uint64_t)l->o.effects.repeat : 1;
	int microbatches, first, n;

	for (;;) {
		if ((c = l->at.cell) == NULL)
			return 0;
		microbatches = c->batch / c->group;
		n = split(microbatches, l->o.rank, l->o.ranks, &first);
		if (l->next < n)
			break;
		l->at = schedule_next(l->schedule, l->samples, &l->at);
		l->next = 0;
	}
	to->at = l->at;
	to->index = first + l->next++;
	to->microbatches = microbatches;
	to->n = c->group;
	set_shape(l, to, c->frames, c->crop);
	for (int i = 0; i < to->n; i++) {
		to->clip[i] = l->at.clip + (uint64_t)cell_clip(c, to->index, i);
		to->sample[i] = order_sample(l->order, to->clip[i] / repeat);
	}
	return 1;
}

static int
next_of_views(struct microbatches *l, struct microbatch *to)
{
	uint64_t each = (uint64_t)(l->v.clips * l->v.crops);
	uint64_t n = (uint64_t)l->v.n;

	if (l->view == l->views)
		return 0;
	to->n = l->v.n;
	set_shape(l, to, l->v.t, l->v.side);
	to->index = (int)(l->view / n);
	to->microbatches = (int)((l->views + n - 1) / n);
	for (int i = 0; i < to->n; i++) {
		if (l->view < l->views) {
			to->clip[i] = l->view++;
		} else {
			to->clip[i] = to->clip[i - 1];
			to->filled++;
		}
		to->sample[i] = l->first + (uint32_t)(to->clip[i] / each);
	}
	return 1;
}

int
microbatches_next(struct microbatches *l, struct microbatch *to)
{
	to->filled = 0;
	memset(&to->at, 0, sizeof(to->at));
	return l->schedule != NULL ? next_of_steps(l, to) :
	    next_of_views(l, to);
}

/* ---- what a clip shows ---- */

static struct clip_of
footage(const struct sample *m)
{
	return (struct clip_of){ .total = m->frames, .fps = m->fps_den > 0 ?
		(double)m->fps_num / m->fps_den : 0 };
}

static void
choose_for_training(const struct microbatches *l, struct microbatch *f, int i,
    const struct sample *m, int *frame, struct crop *crop)
{
	const struct cell *c = f->at.cell;
	struct rng clip = rng_clip(l->o.seed, f->clip[i]);
	struct rng r = clip_draw(clip, DRAW_STRIDE);
	struct clip_of of = footage(m);

	of.t = f->stream->t;
	if (c->stride_max > 0)
		of.stride = c->stride_min + (int)rng_below(&r,
		    (uint32_t)(c->stride_max - c->stride_min) + 1);
	clip_train(l->o.sampler, &of, clip, frame);
	*crop = crop_train(&l->o.crop, m->width, m->height, f->stream->w, clip);
}

void
view_choose(const struct view_options *v, int view, struct clip_of of, int w,
    int h, int *frame, struct crop *crop)
{
	of.t = v->t;
	of.stride = v->stride;
	if (v->validate)
		clip_validate(v->sampler, &of, frame);
	else
		clip_test(v->sampler, &of, view / v->crops, v->clips, frame);
	*crop = crop_test(v->rule, w, h, v->side, view % v->crops, v->crops,
	    v->full);
}

static void
choose_for_testing(const struct microbatches *l, struct microbatch *f, int i,
    const struct sample *m, int *frame, struct crop *crop)
{
	uint64_t views = (uint64_t)(l->v.clips * l->v.crops);

	view_choose(&l->v, (int)(f->clip[i] % views), footage(m), m->width,
	    m->height, frame, crop);
}

static void
choose_none(struct target *t, int i)
{
	size_t classes = (size_t)t->classes;

	memset(t->share + (size_t)i * classes, 0, classes * sizeof(*t->share));
	t->weight[i] = 0;
}

/*
 * The classes of clip ${i} as a set, or as shares of which one is all; no
 * weight if there are none.  In training they are those that can be
 * seen from its first frame to its last; in testing those of the whole video, as
 * PySlowFast's datasets/charades.py has it.
 */
static void
choose_set(const struct microbatches *l, const struct microbatch *mb, int i,
    const struct sample *m, const int *frame, struct target *t)
{
	size_t classes = (size_t)t->classes;
	float *share = t->share + (size_t)i * classes;
	int n, first = 0, last = m->frames - 1;
	const struct class_span *set = dataset_set(l->d, mb->sample[i], &n);

	if (l->schedule != NULL) {
		first = last = frame[0];
		for (int k = 1; k < mb->stream->t; k++) {
			first = frame[k] < first ? frame[k] : first;
			last = frame[k] > last ? frame[k] : last;
		}
	}
	memset(share, 0, classes * sizeof(*share));
	t->weight[i] = set != NULL || m->label >= 0;
	if (set == NULL && m->label >= 0)
		share[m->label] = 1;
	for (int k = 0; k < n; k++)
		if (set[k].first <= last && set[k].last >= first)
			share[set[k].class] = 1;
	if (i >= mb->n - mb->filled)
		t->weight[i] = 0;
}

/* A mirrored clip may be of other classes, or not be mirrored for its own. */
static void
swap_classes(const struct swaps *s, struct target *t, int i, int *flip)
{
	if (t->kind == TARGET_CLASS)
		t->label[i] = swaps_class(s, flip, t->label[i]);
	else
		swaps_set(s, flip, t->share + (size_t)i * (size_t)t->classes);
}

void
microbatches_choose(const struct microbatches *l, struct microbatch *mb, int i,
    int *frame, struct crop *crop)
{
	struct sample m = dataset_sample(l->d, mb->sample[i]);

	(l->schedule != NULL ? choose_for_training : choose_for_testing)(l,
	    mb, i, &m, frame, crop);
	for (int k = 0; k < l->needs->targets; k++) {
		struct target *t = &mb->target[k];
		int has = has_labels(&l->needs->target[k]);

		if (t->kind == TARGET_CLASS)
			t->label[i] = has && i < mb->n - mb->filled ? m.label :
			    -1;
		else if (has)
			choose_set(l, mb, i, &m, frame, t);
		else
			choose_none(t, i);
		if (l->o.swaps != NULL)
			swap_classes(l->o.swaps, t, i, &crop->flip);
	}
}

/* ---- what is done to it ---- */

static uint8_t *
clip_bytes(const struct microbatch *mb, int i)
{
	/* loader_has: there is no other stream. */
	return mb->stream->bytes + (size_t)i * stream_bytes(mb->stream);
}

void
microbatches_apply(const struct microbatches *l, struct microbatch *mb, int i,
    uint8_t *room)
{
	if (l->schedule != NULL && !effects_none(&l->o.effects))
		effects_apply(&l->o.effects, rng_clip(l->o.seed, mb->clip[i]),
		    mb->stream->t, mb->stream->w, clip_bytes(mb, i), room);
}

int
microbatches_mixes(const struct microbatches *l)
{
	return l->schedule != NULL && effects_mixes(&l->o.effects);
}

/*
 * Both targets become a mean of both, each with ${share} of its own; what is
 * mixed with a clip of no class has none.
 */
static void
mix_targets(struct target *t, int i, int k, float share)
{
	size_t classes = (size_t)t->classes;
	float *a = t->share + (size_t)i * classes;
	float *b = t->share + (size_t)k * classes;

	for (size_t c = 0; c < classes; c++) {
		float was = a[c];

		a[c] = share * was + (1 - share) * b[c];
		b[c] = share * b[c] + (1 - share) * was;
	}
	if (t->weight[i] == 0 || t->weight[k] == 0)
		t->weight[i] = t->weight[k] = 0;
}

void
microbatches_mix(const struct microbatches *l, struct microbatch *mb, int i)
{
	int k = effects_partner(i, mb->n), first = i < k ? i : k;
	struct mix m = effects_mix_of(&l->o.effects,
	    rng_clip(l->o.seed, mb->clip[first]), mb->stream->w);

	effects_mix(&m, mb->stream->t, mb->stream->w, clip_bytes(mb, i),
	    clip_bytes(mb, k));
	for (int j = 0; j < l->needs->targets; j++)
		mix_targets(&mb->target[j], i, k, (float)m.share / MIX_ONE);
}

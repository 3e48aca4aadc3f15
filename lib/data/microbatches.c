/*
 * Plan the microbatches of a run: which clips each one holds, their shapes and
 * their sizes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "data/microbatches_run.h"
#include "sched/group.h"

#define ALIGN 64		/* alignment of each stream, in bytes: suits any
				 * vector load and copy */

/* Return the kind of a target of mixed clips: one class becomes soft labels. */
static enum target_kind
microbatch_mixed_kind(const struct target_spec *t, enum target_kind kind)
{
	if (kind != TARGET_CLASS)
		return kind;
	return t->kinds & 1 << TARGET_SOFT ? TARGET_SOFT : TARGET_SET;
}

static struct microbatches *
microbatch_begin(const struct dataset *d, const struct input_spec *needs)
{
	struct microbatches *l = xcalloc(1, sizeof(*l));

	l->d = d;
	l->samples = dataset_samples(d);
	l->needs = needs != NULL ? needs : &input_spec_default;
	l->shape = xcalloc((size_t)l->needs->streams, sizeof(*l->shape));
	l->kind = xcalloc((size_t)l->needs->targets + 1, sizeof(*l->kind));
	for (int i = 0; i < l->needs->targets; i++)
		l->kind[i] = dataset_has_label_sets(d) &&
		    microbatch_target_labeled(&l->needs->target[i]) &&
		    l->needs->target[i].kinds & 1 << TARGET_SET ? TARGET_SET :
		    TARGET_CLASS;
	return l;
}

struct microbatches *
microbatches_of_steps(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o)
{
	struct microbatches *l = microbatch_begin(d, o->needs);

	l->schedule = s;
	l->o = *o;
	for (int i = 0; i < l->needs->targets && microbatches_mixes(l); i++)
		l->kind[i] = microbatch_mixed_kind(&l->needs->target[i],
		    l->kind[i]);
	if (l->samples > 0) {			/* an empty dataset has no
						 * steps */
		l->order = order_new(o->seed, l->samples, o->balance);
		l->at = schedule_seek(s, l->samples, from);
	}
	return l;
}

struct microbatches *
microbatches_of_views(const struct dataset *d, uint32_t first, uint32_t count,
    const struct view_options *o)
{
	struct microbatches *l = microbatch_begin(d, o->needs);

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

void
microbatch_open(const struct input_spec *needs, const enum target_kind *kind,
    struct microbatch *mb, int clips)
{
	size_t n = (size_t)clips;

	mb->stream = xcalloc((size_t)needs->streams, sizeof(*mb->stream));
	mb->target = xcalloc((size_t)needs->targets + 1, sizeof(*mb->target));
	/* The additional one, all 0, ends the list. */
	for (int i = 0; i < needs->targets; i++) {
		struct target *t = &mb->target[i];
		size_t classes = (size_t)needs->target[i].classes;

		t->kind = kind != NULL ? kind[i] : TARGET_CLASS;
		t->classes = (int)classes;
		if (t->kind == TARGET_CLASS) {
			t->label = xcalloc(n, sizeof(*t->label));
		} else {
			t->soft = xcalloc(n * classes, sizeof(*t->soft));
			t->weight = xcalloc(n, sizeof(*t->weight));
		}
	}
	mb->clip = xcalloc(n, sizeof(*mb->clip));
	mb->sample = xcalloc(n, sizeof(*mb->sample));
	mb->skipped = xcalloc(n, sizeof(*mb->skipped));
}

void
microbatches_open(const struct microbatches *l, struct microbatch *mb,
    int clips)
{
	microbatch_open(l->needs, l->kind, mb, clips);
	for (int i = 0; i < l->needs->targets; i++)
		if (microbatch_target_labeled(&l->needs->target[i]))
			mb->target[i].class_weight = l->o.class_weight;
}

void
microbatch_close(struct microbatch *mb)
{
	for (struct target *t = mb->target; t != NULL &&
	    (t->label != NULL || t->soft != NULL); t++) {
		free(t->label);
		free(t->soft);
		free(t->weight);
	}
	free(mb->stream);
	free(mb->target);
	free(mb->clip);
	free(mb->sample);
	free(mb->skipped);
}

/* Set the shapes of the streams to ${t} frames of ${side} by ${side}. */
static void
microbatch_set_shape(struct microbatches *l, struct microbatch *mb, int t,
    int side)
{
	input_spec_shapes(l->needs, mb->n, t, side, l->shape);
	for (int i = 0; i < l->needs->streams; i++) {
		const struct dims *d = &l->shape[i];

		mb->stream[i] = (struct stream){ d->t, d->h, d->w, d->c,
			NULL };
	}
}

/* Return the bytes from one clip to the next. */
static size_t
microbatch_clip_size(const struct stream *s)
{
	return (size_t)s->t * (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

uint8_t *
microbatch_clip_bytes(const struct microbatch *mb, int k, int i)
{
	const struct stream *s = &mb->stream[k];

	return s->bytes + (size_t)i * microbatch_clip_size(s);
}

size_t
microbatches_set_buffers(const struct microbatches *l, struct microbatch *mb,
    uint8_t *buffer)
{
	size_t end = 0;

	for (int i = 0; i < l->needs->streams; i++) {
		struct stream *s = &mb->stream[i];

		end = round_up(end, ALIGN);
		s->bytes = buffer + end;
		end += (size_t)mb->n * microbatch_clip_size(s);
	}
	return end;
}

/* ---- maximum sizes ---- */

/* Return the bytes of stream ${i}, or SIZE_MAX if they exceed the address
 * space. */
static size_t
microbatch_stream_bytes(const struct microbatches *l, int i)
{
	const struct dims *d = &l->shape[i];
	size_t pixels;

	return __builtin_mul_overflow((size_t)d->n * (size_t)d->t,
	    (size_t)d->h * (size_t)d->w * (size_t)d->c, &pixels) ? SIZE_MAX :
	    pixels;
}

static void
microbatch_include(const struct microbatches *l, struct microbatch_max *m,
    int n, int t, int side)
{
	size_t f = (size_t)n * (size_t)t, b = 0;

	input_spec_shapes(l->needs, n, t, side, l->shape);
	for (int i = 0; i < l->needs->streams; i++) {
		size_t more = microbatch_stream_bytes(l, i);

		/* At most a quarter of the address space, so that sums over two
		 * slots do not overflow. */
		if (more > SIZE_MAX / 4 - ALIGN || (b = (b + ALIGN - 1) /
		    ALIGN * ALIGN + more) > SIZE_MAX / 4)
			die(EXIT_FAILED, "%d clips of %d frames of %dx%d "
			    "pixels do not fit into any memory", n, t, side,
			    side);
	}
	m->clips = n > m->clips ? n : m->clips;
	m->t = t > m->t ? t : m->t;
	m->side = side > m->side ? side : m->side;
	m->frames = f > m->frames ? f : m->frames;
	m->bytes = b > m->bytes ? b : m->bytes;
}

static struct step_split
microbatch_parts(const struct microbatches *l, const struct cell *c)
{
	return cell_parts(c, l->o.ranks, l->o.spread);
}

struct microbatch_max
microbatches_max(const struct microbatches *l)
{
	const struct schedule *s = l->schedule;
	struct microbatch_max m = { .span = input_spec_span(l->needs) };

	for (int i = 0; i < l->needs->streams; i++)
		m.stacks |= stream_unit(l->needs->stream[i].name) != 0;
	if (s == NULL)
		microbatch_include(l, &m, l->v.n, l->v.t, l->v.side);
	else if (l->at.cell != NULL)
		for (int i = l->at.stage; i < s->stages; i++)
			for (int k = 0; k < s->stage[i].cells; k++) {
				const struct cell *c = &s->stage[i].cell[k];

				microbatch_include(l, &m,
				    microbatch_parts(l, c).clips, c->frames,
				    c->crop);
			}
	return m;
}

/* Return 1 if step ${at} is in the loader's range. */
static int
microbatch_is_wanted(const struct microbatches *l,
    const struct schedule_step *at)
{
	return at->cell != NULL && (l->o.until == 0 || at->step < l->o.until);
}

/*
 * Return the audit duplicate that this rank computes in step ${at}, if it is
 * due.
 */
static struct audit_duplicate
microbatch_audits(const struct microbatches *l, const struct schedule_step *at)
{
	struct audit_duplicate t = audit_duplicate_at(l->o.seed, at, l->o.audit,
	    l->o.ranks);

	t.due &= t.repeat_rank == l->o.rank;
	return t;
}

int
microbatches_left(const struct microbatches *l, int largest)
{
	struct schedule_step at = l->at;
	uint64_t n = l->schedule == NULL ? (l->views - l->view +
	    (uint64_t)l->v.n - 1) / (uint64_t)l->v.n : 0;
	int first;

	for (; l->schedule != NULL && microbatch_is_wanted(l, &at) &&
	    n < (uint64_t)largest;
	    at = schedule_next(l->schedule, l->samples, &at))
		n += (uint64_t)split_parts(microbatch_parts(l, at.cell).n,
		    l->o.learners, l->o.rank, l->o.ranks, &first) +
		    (uint64_t)microbatch_audits(l, &at).due;
	return n < (uint64_t)largest ? (int)n : largest;
}

/* ---- contents ---- */

static int
microbatch_next_of_steps(struct microbatches *l, struct microbatch *to)
{
	const struct cell *c;
	uint64_t repeat = (uint64_t)transforms_repeats(&l->o.transforms);
	int first, n;
	struct step_split p;
	struct audit_duplicate t = { 0 };

	/* Skip steps in which this rank has no microbatch. */
	for (;;) {
		if (!microbatch_is_wanted(l, &l->at))
			return 0;
		c = l->at.cell;
		p = microbatch_parts(l, c);
		n = split_parts(p.n, l->o.learners, l->o.rank, l->o.ranks,
		    &first);
		t = microbatch_audits(l, &l->at);
		to->audit_duplicate = t.due && !l->audited;
		if (to->audit_duplicate || l->next < n)
			break;
		l->at = schedule_next(l->schedule, l->samples, &l->at);
		l->next = l->audited = 0;
	}
	/* The audit duplicate comes first in its step. */
	l->audited |= to->audit_duplicate;
	to->at = l->at;
	to->index = to->audit_duplicate ? t.index : first + l->next++;
	to->microbatches = p.n;
	to->n = p.clips;
	microbatch_set_shape(l, to, c->frames, c->crop);
	for (int i = 0; i < to->n; i++) {
		to->clip[i] = l->at.clip + (uint64_t)step_split_clip(&p, c,
		    to->index, i);
		to->sample[i] = order_sample(l->order, to->clip[i] / repeat);
		to->skipped[i] = 0;
	}
	return 1;
}

static int
microbatch_next_of_views(struct microbatches *l, struct microbatch *to)
{
	uint64_t each = (uint64_t)(l->v.clips * l->v.crops);
	uint64_t n = (uint64_t)l->v.n;

	if (l->view == l->views)
		return 0;
	to->n = l->v.n;
	microbatch_set_shape(l, to, l->v.t, l->v.side);
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
microbatches_assign_sample(struct microbatches *l, struct microbatch *mb, int i,
    const struct bad_set *bad)
{
	/* repeated augmentation: consecutive clips share a sample */
	uint64_t repeat = (uint64_t)transforms_repeats(&l->o.transforms);
	uint32_t past = mb->skipped[i];
	int found = l->schedule != NULL ? order_next_intact(l->order,
	    mb->clip[i] / repeat, bad, &past, &mb->sample[i]) : 0;

	if (found)
		mb->skipped[i] = past;
	return found;
}

int
microbatches_shared(const struct microbatches *l, const struct microbatch *mb,
    int i)
{
	uint64_t repeat = (uint64_t)transforms_repeats(&l->o.transforms);
	int n = 1;

	while (l->schedule != NULL && i + n < mb->n && mb->clip[i + n] /
	    repeat == mb->clip[i] / repeat && mb->sample[i + n] ==
	    mb->sample[i] && mb->skipped[i + n] == mb->skipped[i] &&
	    (uint64_t)n < repeat)
		n++;
	return n;
}

int
microbatches_next(struct microbatches *l, struct microbatch *to)
{
	to->filled = to->audit_duplicate = 0;
	memset(&to->at, 0, sizeof(to->at));
	return l->schedule != NULL ? microbatch_next_of_steps(l, to) :
	    microbatch_next_of_views(l, to);
}

struct audit_duplicate
audit_duplicate_at(uint64_t seed, const struct schedule_step *at, int64_t every,
    int ranks)
{
	uint64_t step = at->step + 1, p = (uint64_t)ranks, turn;
	struct audit_duplicate t = { 0 };
	int count, first;
	uint32_t draw;

	if (every <= 0 || step % (uint64_t)every != 0)
		return t;
	/* Audit ${turn} is of rank turn mod p.  The rank that repeats it
	 * follows after 1 + (turn div p) mod (p - 1) ranks.  So all ordered
	 * pairs occur once in p (p - 1) audits. */
	turn = step / (uint64_t)every - 1;
	t.rank = (int)(turn % p);
	if (ranks > 1)
		t.repeat_rank = (int)((turn % p + 1 + turn / p % (p - 1)) % p);
	count = split(at->cell->batch / at->cell->group, t.rank, ranks, &first);
	if (count == 0)
		return t;
	/* index = first + floor(draw / 2^32 * count) */
	draw = rng_philox(seed, (uint32_t)step, (uint32_t)(step >> 32), 0,
	    RNG_AUDIT).w[0];
	t.index = first + (int)((uint64_t)draw * (uint64_t)count >> 32);
	t.due = 1;
	return t;
}

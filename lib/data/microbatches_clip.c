/*
 * Choose the frames, the crop, the transforms and the targets of a clip of a
 * microbatch.
 */
#include <string.h>

#include "clip/cover.h"
#include "clip/draw.h"
#include "clip/transforms.h"
#include "data/microbatches_run.h"

/* ---- contents of a clip ---- */

/*
 * Return the number of frames to choose from: those of the video at which a
 * stack of the frames that ${needs} spans begins, as _sample_indices of the TSN
 * program (dataset.py).  A shorter video has one.
 */
static int
microbatch_clip_total(const struct frame_source *s,
    const struct input_spec *needs)
{
	int span = input_spec_span(needs);

	return s->frames > span ? s->frames - span + 1 : 1;
}

/*
 * Set the region to decode for all clips that share the sample of clip ${i}, as
 * if all had the shape of this one.
 */
static void
microbatch_choose_share(const struct microbatches *l,
    const struct microbatch *f, int i, const struct frame_source *s,
    struct clip_request *r)
{
	uint64_t n = (uint64_t)l->o.transforms.repeat;

	for (uint64_t k = 0; k < n; k++) {
		struct crop c = crop_train(&l->o.crop, s->width, s->height,
		    r->side, rng_clip(l->o.seed, f->clip[i] / n * n + k));

		clip_share_add(&r->share, &c, r->side);
	}
}

/*
 * A clip of a repeated sample takes its frames from the random numbers of the
 * first of these clips, and all else from its own.
 */
static void
microbatch_choose_for_training(const struct microbatches *l,
    struct microbatch *f, int i, const struct frame_source *s,
    struct clip_request *r)
{
	const struct cell *c = f->at.cell;
	uint64_t repeat = (uint64_t)transforms_repeats(&l->o.transforms);
	struct rng clip = rng_clip(l->o.seed, f->clip[i]);
	struct rng first = rng_clip(l->o.seed, f->clip[i] / repeat * repeat);
	struct rng stride = clip_draw(first, DRAW_STRIDE);
	struct clip_input of = { .total = microbatch_clip_total(s, l->needs),
		.t = f->stream->t, .fps = s->fps };

	if (c->stride_max > 0)
		of.stride = c->stride_min + (int)rng_below(&stride,
		    (uint32_t)(c->stride_max - c->stride_min) + 1);
	r->t = of.t;
	r->side = f->stream->w;
	clip_train(l->o.sampler, &of, first, r->frame);
	r->crop = crop_train(&l->o.crop, s->width, s->height, r->side, clip);
	r->level = cover_train(&s->levels, &l->o.crop, r->side);
	r->share = (struct clip_share){ 0 };
	if (repeat > 1)
		microbatch_choose_share(l, f, i, s, r);
	r->transforms = transforms_none(&l->o.transforms) ? NULL :
	    &l->o.transforms;
	r->random = clip;
}

void
microbatch_choose_view(const struct view_options *v, int view,
    const struct frame_source *s, struct clip_request *r)
{
	const struct clip_input of =
		{ .total = microbatch_clip_total(s, v->needs != NULL ?
		    v->needs : &input_spec_default), .t = v->t,
		.stride = v->stride, .fps = s->fps };

	r->t = v->t;
	r->side = v->side;
	if (v->validate)
		clip_validate(v->sampler, &of, r->frame);
	else
		clip_test(v->sampler, &of, view / v->crops, v->clips, r->frame);
	r->crop = crop_test(v->rule, s->width, s->height, v->side,
	    view % v->crops, v->crops, v->full);
	r->share = (struct clip_share){ 0 };
	r->level = v->largest ? 0 : cover_test(&s->levels, v->side, v->full);
	r->transforms = NULL;
}

static void
microbatch_choose_for_testing(const struct microbatches *l,
    struct microbatch *f, int i, const struct frame_source *s,
    struct clip_request *r)
{
	uint64_t views = (uint64_t)(l->v.clips * l->v.crops);

	microbatch_choose_view(&l->v, (int)(f->clip[i] % views), s, r);
}

static void
microbatch_choose_none(struct target *t, int i)
{
	size_t classes = (size_t)t->classes;

	memset(t->soft + (size_t)i * classes, 0, classes * sizeof(*t->soft));
	t->weight[i] = 0;
}

/*
 * Set the target of clip ${i} to its set of classes; one class becomes a set of
 * one.  Set its weight to 0 if there are none.  In training take the classes
 * visible between its first and its last frame.  In testing take those of the
 * whole video, as PySlowFast's datasets/charades.py.
 */
static void
microbatch_choose_set(const struct microbatches *l, const struct microbatch *mb,
    int i, const struct sample *m, const int *frame, struct target *t)
{
	size_t classes = (size_t)t->classes;
	float *share = t->soft + (size_t)i * classes;
	int first = 0, last = m->frames - 1;

	if (l->schedule != NULL) {
		first = last = frame[0];
		for (int k = 1; k < mb->stream->t; k++) {
			first = frame[k] < first ? frame[k] : first;
			last = frame[k] > last ? frame[k] : last;
		}
	}
	memset(share, 0, classes * sizeof(*share));
	t->weight[i] = m->labels != NULL || m->label >= 0;
	if (m->labels == NULL && m->label >= 0)
		share[m->label] = 1;
	for (int k = 0; k < m->nlabels; k++)
		if (m->labels[k].first <= last && m->labels[k].last >= first)
			share[m->labels[k].class] = 1;
	if (i >= mb->n - mb->filled)
		t->weight[i] = 0;
}

/*
 * Set the classes of a mirrored clip, or clear ${*flip} if they forbid
 * mirroring.
 */
static void
microbatch_swap_classes(const struct flip_map *s, struct target *t, int i,
    int *flip)
{
	if (t->kind == TARGET_CLASS)
		t->label[i] = flip_map_class(s, flip, t->label[i]);
	else
		flip_map_set_of_classes(s, flip,
		    t->soft + (size_t)i * (size_t)t->classes);
}

void
microbatches_choose(const struct microbatches *l, struct microbatch *mb, int i,
    const struct frame_source *s, struct clip_request *r)
{
	struct sample m = dataset_sample(l->d, mb->sample[i]);

	(l->schedule != NULL ? microbatch_choose_for_training :
	    microbatch_choose_for_testing)(l, mb, i, s, r);
	for (int k = 0; k < l->needs->targets; k++) {
		struct target *t = &mb->target[k];
		int has = microbatch_target_labeled(&l->needs->target[k]);

		if (t->kind == TARGET_CLASS)
			t->label[i] = has && i < mb->n - mb->filled ? m.label :
			    -1;
		else if (has)
			microbatch_choose_set(l, mb, i, &m, r->frame, t);
		else
			microbatch_choose_none(t, i);
		if (l->o.flip_map != NULL)
			microbatch_swap_classes(l->o.flip_map, t, i,
			    &r->crop.flip);
	}
}

const struct input_spec *
microbatches_needs(const struct microbatches *l)
{
	return l->needs;
}

/* ---- mixing ---- */

int
microbatches_mixes(const struct microbatches *l)
{
	return l->schedule != NULL && transforms_mix_clips(&l->o.transforms);
}

/*
 * Mix each target with that of the next partner, by lambda = ${share}.  If one
 * partner has no class, set the weights of all partners to 0.
 */
static void
microbatch_mix_targets(struct target *t, const int *ring, int clips,
    float share)
{
	size_t classes = (size_t)t->classes;
	int weighs = 1;

	for (size_t c = 0; c < classes; c++) {
		float first = t->soft[(size_t)ring[0] * classes + c];

		for (int i = 0; i < clips; i++) {
			float *own = &t->soft[(size_t)ring[i] * classes + c];
			float next = i + 1 < clips ? t->soft[(size_t)ring[i +
			    1] * classes + c] : first;

			*own = share * *own + (1 - share) * next;
		}
	}
	for (int i = 0; i < clips; i++)
		weighs &= t->weight[ring[i]] != 0;
	for (int i = 0; i < clips && !weighs; i++)
		t->weight[ring[i]] = 0;
}

/* Return how clip ${i} is mixed, and set ${ring} to its ${*clips} partners. */
static struct mix
microbatch_mix_of(const struct microbatches *l, const struct microbatch *mb,
    int i, int ring[3], int *clips)
{
	*clips = transforms_partners(i, mb->n, ring);
	return transforms_mix_draw(&l->o.transforms, rng_clip(l->o.seed,
	    mb->clip[ring[0]]), mb->stream->w);
}

void
microbatches_mix(const struct microbatches *l, struct microbatch *mb, int i)
{
	int ring[3], clips;
	struct mix m = microbatch_mix_of(l, mb, i, ring, &clips);

	for (int s = 0; s < l->needs->streams; s++) {
		const struct stream *of = &mb->stream[s];
		uint8_t *bytes[3];

		for (int k = 0; k < clips; k++)
			bytes[k] = microbatch_clip_bytes(mb, s, ring[k]);
		transforms_mix(&m, of->t, of->w, of->c, bytes, clips);
	}
	for (int k = 0; k < l->needs->targets; k++)
		microbatch_mix_targets(&mb->target[k], ring, clips,
		    (float)m.lambda / MIX_ONE);
}

/* ---- trace ---- */

static int
microbatch_print_mix(const struct microbatches *l, const struct microbatch *mb,
    int i, int n, FILE *to)
{
	int ring[3], clips, k = 0;
	struct mix m = microbatch_mix_of(l, mb, i, ring, &clips);

	if (clips < 2)
		return n;
	while (ring[k] != i)
		k++;
	return transforms_print_mix(&m, mb->clip[ring[(k + 1) % clips]], n, to);
}

void
microbatches_print_transforms(const struct microbatches *l,
    const struct microbatch *mb, int i, FILE *to)
{
	const struct transforms *e = &l->o.transforms;
	int n = 0;

	if (e->repeat > 1)
		n += fprintf(to, "repeat=%d", (int)(mb->clip[i] %
		    (unsigned)e->repeat)) > 0;
	n = transforms_print(e, rng_clip(l->o.seed, mb->clip[i]), mb->stream->w,
	    n, to);
	if (microbatches_mixes(l))
		n = microbatch_print_mix(l, mb, i, n, to);
	if (n == 0)
		fputc('-', to);
}

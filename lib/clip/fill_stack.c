/*
 * Fill clips whose frames stack several stored frames: optical flow, and
 * differences of RGB frames.
 *
 * Stacks of a clip overlap if its frames are closer than a stack is long.  So
 * the frames of all stacks are sorted, and each is decoded once and copied to
 * every channel that shows it.
 *
 * image_resize takes three channels, so three planes of flow are resized as one
 * picture.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "clip/fill_run.h"

/* The clip to fill. */
struct stack {
	struct fill_job j[2];	/* by source: different frames, ascending */
	struct filler *f;
	const struct clip_request *r;
	struct clip_out *out;
	int c, depth;		/* channels; stored frames of a stack */
	size_t pixels;		/* of a frame */
};

/* Up to three planes of flow, in f->planes. */
struct stack_planes {
	int n;
	struct region at;
	struct { int frame, axis; } of[3];
};

/* Return the stored frame that is number ${j} in the stack of frame ${k}. */
static int
stack_frame(const struct stack *k, int frame, int j)
{
	int f = k->r->frame[frame] + j;

	return f < k->j->s->frames ? f : k->j->s->frames - 1;
}

static int
stack_by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Set f->stacked to the frames of all stacks, in ascending order.  Return their
 * number.
 */
static int
stack_collect(struct stack *k)
{
	int n = 0, all = k->r->t * k->depth, *to;

	fill_reserve_frames(k->f, all);
	to = k->f->stacked;
	for (int i = 0; i < all; i++)
		to[i] = stack_frame(k, i / k->depth, i % k->depth);
	qsort(to, (size_t)all, sizeof(*to), stack_by_number);
	for (int i = 0; i < all; i++)
		if (n == 0 || to[n - 1] != to[i])
			to[n++] = to[i];
	return n;
}

static struct stack
stack_begin(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, int c, int depth, struct clip_out *out)
{
	struct stack k = { .j = { { .s = s } }, .f = f, .r = r, .out = out,
		.c = c, .depth = depth,
		.pixels = (size_t)r->side * (size_t)r->side };
	int n = stack_collect(&k);

	for (int i = 0; i < 2; i++) {
		k.j[i] = (struct fill_job){ f, i, s + i, r, f->stacked, n,
			&out->cost };
		buffer_reserve(&f->resized[i], 3 * k.pixels);
	}
	return k;
}

static void
stack_resize(struct stack *k, const struct image *m, struct region at,
    uint8_t *to)
{
	double start = clock_seconds();

	fill_resize(k->f, k->r, m, at, to);
	k->out->cost.resize += clock_seconds() - start;
}

/* ---- flow ---- */

/* Copy channel ${from} of resized planes to every channel that shows it. */
static void
stack_spread(const struct stack *k, const uint8_t *from, int frame, int axis)
{
	size_t c = (size_t)k->c;
	int invert = axis == 0 && k->r->crop.flip ? 255 : 0;

	for (int i = 0; i < k->r->t * k->depth; i++) {
		int j = i % k->depth;
		uint8_t *to = k->out->bytes + (size_t)(i / k->depth) *
		    k->pixels * c + 2 * j + axis;

		if (stack_frame(k, i / k->depth, j) != frame)
			continue;
		/* 255 - v is v ^ 255. */
		for (size_t p = 0; p < k->pixels; p++)
			to[p * c] = (uint8_t)(from[3 * p] ^ invert);
	}
}

/* Resize the planes, and copy them to the clip. */
static void
stack_flush(struct stack *k, struct stack_planes *p)
{
	uint8_t *resized = (uint8_t *)k->f->resized[0].data;

	if (p->n > 0)
		stack_resize(k, &k->f->planes, p->at, resized);
	for (int q = 0; q < p->n; q++)
		stack_spread(k, resized + q, p->of[q].frame, p->of[q].axis);
	p->n = 0;
}

/* Add the plane ${m}, which has the region to resize at ${at}. */
static void
stack_add(struct stack *k, struct stack_planes *p, const struct image *m,
    struct region at, int frame, int axis)
{
	struct image *to = &k->f->planes;
	size_t pixels = (size_t)m->w * (size_t)m->h, c = (size_t)m->c;

	/* Encoders may differ in the blocks that jpeg_decode rounds to. */
	if (p->n > 0 && (m->w != to->w || m->h != to->h ||
	    memcmp(&at, &p->at, sizeof(at)) != 0))
		stack_flush(k, p);
	if (p->n == 0)
		image_reshape(to, m->w, m->h, 3);
	for (size_t i = 0; i < pixels; i++)
		to->data[3 * i + (size_t)p->n] = m->data[c * i];
	p->at = at;
	p->of[p->n].frame = frame;
	p->of[p->n].axis = axis;
	if (++p->n == 3)
		stack_flush(k, p);
}

int
fill_flow(struct filler *f, const struct frame_source s[2],
    const struct clip_request *r, int c, struct clip_out *out)
{
	struct stack k = stack_begin(f, s, r, c, c / 2, out);
	struct stack_planes p = { 0 };
	int status = fill_read(&k.j[0]);

	if (status == 0)
		status = fill_read(&k.j[1]);
	for (int i = 0; i < 2 * k.j->n && status == 0; i++) {
		struct image m;
		struct region at;

		if (fill_is_stopped(out))
			return 0;
		status = fill_decode(&k.j[i % 2], i / 2, 1, &m, &at);
		if (status == 0)
			stack_add(&k, &p, &m, at, f->stacked[i / 2], i % 2);
	}
	if (status == 0)
		stack_flush(&k, &p);
	out->cost.clips += status == 0;
	return status;
}

/* ---- differences of RGB frames ---- */

/*
 * Write the differences that end at frame ${frame}, which is ${now}, and begin
 * at the one before, ${before}.
 */
static void
stack_subtract(const struct stack *k, int frame, const uint8_t *now,
    const uint8_t *before)
{
	int depth = k->depth - 1;

	for (int i = 0; i < k->r->t * depth; i++) {
		int j = i % depth, same;
		uint8_t *to = k->out->bytes + (size_t)(i / depth) * k->pixels *
		    (size_t)k->c + 3 * j;

		if (stack_frame(k, i / depth, j + 1) != frame)
			continue;
		same = stack_frame(k, i / depth, j) == frame;
		for (size_t p = 0; p < k->pixels; p++, to += k->c)
			for (size_t c = 3 * p; c < 3 * p + 3; c++) {
				int d = same ? 0 : now[c] - before[c];

				d = d < -128 ? -128 : d > 127 ? 127 : d;
				to[c - 3 * p] = (uint8_t)(d + 128);
			}
	}
}

int
fill_differences(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, int c, struct clip_out *out)
{
	struct stack k = stack_begin(f, s, r, c, c / 3 + 1, out);
	int status = fill_read(k.j);

	for (int u = 0; u < k.j->n && status == 0; u++) {
		uint8_t *now = (uint8_t *)f->resized[u % 2].data;
		struct image m;
		struct region at;

		if (fill_is_stopped(out))
			return 0;
		if ((status = fill_decode(k.j, u, 0, &m, &at)) != 0)
			break;
		stack_resize(&k, &m, at, now);
		stack_subtract(&k, f->stacked[u], now,
		    (uint8_t *)f->resized[1 - u % 2].data);
	}
	out->cost.clips += status == 0;
	return status;
}

/*
 * Optical flow of the stored frames of a video.
 *
 * The pairs of a batch are computed at once, each by one thread, and stored in
 * order.  A pair depends on its two frames alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "ingest/flow.h"
#include "media/png.h"
#include "media/tvl1.h"

#define BATCH 2			/* pairs per thread, if there are several */

/* A frame, and the motion to the next one. */
struct flow_frame {
	uint8_t *luma;			/* [h][w] */
	struct buffer bytes;		/* the encoded frame; empty: not
					 * stored */
	struct buffer flow[2];		/* the encoded motion in x and y */
	int failed;			/* encoding failed, after a message */
};

/* The tools of one thread. */
struct flow_worker {
	struct tvl1 *solver;
	struct jpeg_encoder *jpeg;
	float *motion[2];		/* [h][w] */
	struct image image;		/* of one component */
};

struct flow_maker {
	int png;
	struct pool *pool;
	struct flow_worker *worker;	/* [threads] */
	struct flow_frame *frame;	/* [capacity]: a batch of pairs, plus
					 * 1 */
	int n, capacity;
	int w, h;
	size_t pixels;			/* of the buffers */
	struct spool *spool;
};

struct sample_flow
flow_kind(void)
{
	return (struct sample_flow){ "tvl1", FLOW_BOUND };
}

struct flow_maker *
flow_new(int threads, const struct extract_options *o)
{
	struct flow_maker *f = xcalloc(1, sizeof(*f));

	f->png = o->format == EXTRACT_PNG;
	f->pool = pool_new(threads);
	f->capacity = threads > 1 ? BATCH * threads + 1 : 2;
	f->frame = xcalloc((size_t)f->capacity, sizeof(*f->frame));
	f->worker = xcalloc((size_t)threads, sizeof(*f->worker));
	for (int t = 0; t < threads; t++) {
		f->worker[t].solver = tvl1_new();
		f->worker[t].jpeg = jpeg_encoder_gray(o->quality);
	}
	return f;
}

void
flow_free(struct flow_maker *f)
{
	if (f == NULL)
		return;
	for (int t = 0; t < pool_threads(f->pool); t++) {
		tvl1_free(f->worker[t].solver);
		jpeg_encoder_free(f->worker[t].jpeg);
		free(f->worker[t].motion[0]);
		free(f->worker[t].motion[1]);
		free(f->worker[t].image.data);
	}
	for (int i = 0; i < f->capacity; i++) {
		free(f->frame[i].luma);
		buffer_free(&f->frame[i].bytes);
		buffer_free(&f->frame[i].flow[0]);
		buffer_free(&f->frame[i].flow[1]);
	}
	pool_free(f->pool);
	free(f->worker);
	free(f->frame);
	free(f);
}

void
flow_begin(struct flow_maker *f, struct spool *spool)
{
	f->spool = spool;
	f->n = 0;
}

/* Size the buffers for frames of ${w} by ${h} pixels. */
static void
flow_reserve(struct flow_maker *f, int w, int h)
{
	size_t pixels = (size_t)w * (size_t)h;

	f->w = w;
	f->h = h;
	if (pixels <= f->pixels)
		return;
	f->pixels = pixels;
	for (int i = 0; i < f->capacity; i++)
		f->frame[i].luma = xrealloc(f->frame[i].luma, pixels, 1);
	for (int t = 0; t < pool_threads(f->pool); t++)
		for (int c = 0; c < 2; c++)
			f->worker[t].motion[c] = xrealloc(
			    f->worker[t].motion[c], pixels, sizeof(float));
}

/*
 * Map ${n} displacements in pixels to bytes: 255 (d + FLOW_BOUND) /
 * (2 FLOW_BOUND), clamped and rounded to nearest, halves to even.  No motion is
 * 128.
 */
static void
flow_to_bytes(uint8_t *to, const float *d, size_t n)
{
	const float scale = 255.0f / (2 * FLOW_BOUND);

	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)lrintf(fminf(fmaxf(scale * d[i] + 127.5f, 0),
		    255));
}

/* Compute and encode the motion from frame ${i} to the next. */
static void
flow_compute_pair(int i, int thread, void *arg)
{
	struct flow_maker *f = arg;
	struct flow_worker *w = &f->worker[thread];
	struct flow_frame *p = &f->frame[i];

	tvl1_flow(w->solver, p->luma, p[1].luma, f->w, f->h, w->motion[0],
	    w->motion[1]);
	image_reshape(&w->image, f->w, f->h, 1);
	p->failed = 0;
	for (int c = 0; c < 2 && !p->failed; c++) {
		struct buffer *to = &p->flow[c];

		flow_to_bytes(w->image.data, w->motion[c],
		    (size_t)f->w * (size_t)f->h);
		to->n = 0;
		p->failed = f->png ? png_encode(&w->image, to) != 0 :
		    jpeg_encode_gray(w->jpeg, w->image.data, f->w, f->h, to) !=
		    0;
	}
}

/* Compute and store the pairs of the batch.  The last frame begins the next. */
static int
flow_store_batch(struct flow_maker *f)
{
	struct flow_frame last;

	if (f->n < 2)
		return 0;
	pool_run(f->pool, f->n - 1, flow_compute_pair, f);
	for (int i = 0; i < f->n - 1; i++) {
		struct flow_frame *p = &f->frame[i];

		if (p->failed || (p->bytes.n > 0 && spool_add(f->spool,
		    p->bytes.data, p->bytes.n) != 0))
			return -1;
		for (int c = 0; c < 2; c++)
			if (spool_add(f->spool, p->flow[c].data,
			    p->flow[c].n) != 0)
				return -1;
	}
	last = f->frame[f->n - 1];
	f->frame[f->n - 1] = f->frame[0];
	f->frame[0] = last;
	f->n = 1;
	return 0;
}

int
flow_add(struct flow_maker *f, const struct planes *p,
    const struct buffer *frame)
{
	struct flow_frame *to = &f->frame[f->n];

	if (f->n++ == 0)
		flow_reserve(f, p->w, p->h);
	for (int y = 0; y < f->h; y++)
		memcpy(to->luma + (size_t)y * (size_t)f->w,
		    p->plane[0] + y * (ptrdiff_t)p->stride[0], (size_t)f->w);
	to->bytes.n = 0;
	if (frame != NULL)
		buffer_add(&to->bytes, frame->data, frame->n);
	return f->n == f->capacity ? flow_store_batch(f) : 0;
}

int
flow_end(struct flow_maker *f)
{
	return flow_store_batch(f);
}

/*
 * Decode the stored frames of a clip to pixels: read them, decode the crop,
 * resize, then apply the transforms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "clip/fill.h"
#include "media/image.h"
#include "media/jpeg.h"
#include "media/png.h"
#include "media/raw.h"

#define RESERVE ((size_t)64 << 20)	/* maximum reserved for stored frames,
					 * in bytes */

struct filler {
	struct jpeg_decoder *jpeg;
	struct image pixels;	/* of a PNG; those of a JPEG belong to
				 * ${jpeg} */
	struct resizer *resizer;
	struct raw_clip *raw;
	struct buffer bytes;	/* stored frames of a clip, concatenated */
	struct buffer scratch;	/* for reading them */
	struct buffer frame;	/* for effects */
	size_t *at;		/* [max + 1] offset of each in ${bytes} */
	/* capacity of ${at}, in frames */
	int max;
	struct error error;
};

/* ---- sources ---- */

static int
frame_source_read_sample(const struct frame_source *s, const int *frame, int n,
    struct buffer *to, size_t *at, struct buffer *scratch, struct error *why)
{
	return dataset_frames_read(s->data, s->sample, 0, frame, n, to, at,
	    scratch, why);
}

static struct frame_source
frame_source_of(const struct sample *m, const char *ext)
{
	return (struct frame_source){ .frames = m->frames, .width = m->width,
		.height = m->height,
		.fps = m->fps.den > 0 ? (double)m->fps.num / m->fps.den : 0,
		.png = strcmp(ext, "png") == 0 };
}

struct frame_source
frame_source_sample(const struct dataset *d, uint32_t i)
{
	struct sample m = dataset_sample(d, i);
	struct frame_source s = frame_source_of(&m, dataset_ext(d, 0));

	s.file = text_quote(m.shard);
	s.key = m.key;
	s.get = frame_source_read_sample;
	s.data = d;
	s.sample = i;
	return s;
}

/*
 * A spool item is valid until the next call of spool_get, so copy it under the
 * lock.
 */
static int
frame_source_read_spool(const struct frame_source *s, const int *frame, int n,
    struct buffer *to, size_t *at, struct buffer *scratch, struct error *why)
{
	const void *data = "";
	size_t size;

	(void)scratch;
	to->n = at[0] = 0;
	pthread_mutex_lock(s->lock);
	for (int k = 0; k < n && data != NULL; k++) {
		data = spool_get(s->spool, (size_t)(s->item != NULL ?
		    s->item[frame[k]] : frame[k]), &size, why);
		if (data != NULL)
			buffer_add(to, data, size);
		at[k + 1] = to->n;
	}
	pthread_mutex_unlock(s->lock);
	return data != NULL ? 0 : -1;
}

struct frame_source
frame_source_spool(const struct sample *m, struct spool *spool,
    const int *item, pthread_mutex_t *lock)
{
	struct frame_source s = frame_source_of(m,
	    m->streams->kind[0].ext);

	s.file = m->shard != NULL ? m->shard : "decoded";
	s.key = m->key != NULL ? m->key : m->source;
	s.get = frame_source_read_spool;
	s.spool = spool;
	s.item = item;
	s.lock = lock;
	return s;
}

/* ---- buffers ---- */

static void
fill_reserve_frames(struct filler *f, int t)
{
	if (t <= f->max)
		return;
	f->max = t;
	f->at = xrealloc(f->at, (size_t)t + 1, sizeof(*f->at));
}

static void
fill_reserve(struct filler *f, const struct fill_max *m)
{
	size_t pixels = (size_t)m->w * (size_t)m->h, bytes;

	fill_reserve_frames(f, m->t);
	resizer_reserve(f->resizer, m->side, m->side, m->w, m->h);
	/* Reserve 1 byte per pixel, 3 for PNG; JPEG frames take about a quarter
	 * of that.  The system provides only the memory that is touched. */
	bytes = (size_t)m->t * pixels * (m->png ? 3 : 1);
	buffer_reserve(&f->bytes, bytes < RESERVE ? bytes : RESERVE);
	buffer_reserve(&f->scratch, m->scratch);
	buffer_reserve(&f->frame, 3 * (size_t)m->side * (size_t)m->side);
	if (m->png && pixels > 0)
		image_reshape(&f->pixels, m->w, m->h, 3);
	else
		jpeg_decoder_reserve(f->jpeg, m->w, m->h);
}

struct filler *
filler_new(const struct fill_max *max)
{
	struct filler *f = xcalloc(1, sizeof(*f));

	f->jpeg = jpeg_decoder_new();
	f->resizer = resizer_new();
	f->raw = raw_new();
	if (max != NULL)
		fill_reserve(f, max);
	return f;
}

void
filler_free(struct filler *f)
{
	if (f == NULL)
		return;
	jpeg_decoder_free(f->jpeg);
	resizer_free(f->resizer);
	raw_free(f->raw);
	free(f->pixels.data);
	buffer_free(&f->bytes);
	buffer_free(&f->scratch);
	buffer_free(&f->frame);
	free(f->at);
	free(f);
}

const char *
filler_error(const struct filler *f)
{
	return f->error.text;
}

/* ---- clips ---- */

static int
fill_read_frames(struct filler *f, const struct frame_source *s,
    const struct clip_request *r)
{
	fill_reserve_frames(f, r->t);
	f->error.text[0] = '\0';
	return s->get(s, r->frame, r->t, &f->bytes, f->at, &f->scratch,
	    &f->error);
}

/*
 * Return 0 if the frame has the size in the index, or -1 after a message
 * (error_set).
 */
static int
fill_check_size(const struct frame_source *s, int w, int h, struct error *why)
{
	if (w != s->width || h != s->height)
		return error_set(why, "%dx%d pixels (the index says %dx%d)", w,
		    h, s->width, s->height);
	return 0;
}

/*
 * Decode at least region ${r} of a frame, ${n} bytes at ${data}.  ${out} is
 * valid until the next call, and has the region at ${*at}.  A PNG is decoded
 * whole.
 */
static int
fill_decode(struct filler *f, const struct frame_source *s, const void *data,
    size_t n, struct region r, int side, struct image *out, struct region *at,
    struct error *why)
{
	int w, h;

	if (s->png) {
		if (png_decode_to(&f->pixels, data, n, why) != 0)
			return -1;
		*out = f->pixels;
		*at = r;
		return fill_check_size(s, out->w, out->h, why);
	}
	if (jpeg_size(f->jpeg, data, n, &w, &h, why) != 0 ||
	    fill_check_size(s, w, h, why) != 0)
		return -1;
	return jpeg_decode(f->jpeg, data, n, r, side, side, out, at, why);
}

/*
 * Decode frame ${k} of the clip to ${to}, or append it to the raw clip if ${to}
 * is NULL.
 */
static int
fill_frame(struct filler *f, const struct frame_source *s,
    const struct clip_request *c, int k, uint8_t *to, struct fill_cost *cost)
{
	struct region r = { c->crop.x, c->crop.y, c->crop.w, c->crop.h }, at;
	double start = clock_seconds(), decoded;
	size_t n = f->at[k + 1] - f->at[k];
	struct image m;
	struct error why = { "" };
	int status = fill_decode(f, s, f->bytes.data + f->at[k], n, r, c->side,
	    &m, &at, &why);

	decoded = clock_seconds();
	if (status == 0 && to != NULL)
		image_resize(f->resizer, c->crop.how, to, c->side, c->side,
		    m.data, m.w, m.h, at, c->crop.flip);
	else if (status == 0)
		raw_add(f->raw, f->resizer, c->crop.how, &m, at, c->crop.flip);
	else
		snprintf(f->error.text, sizeof(f->error.text),
		    "%s: key %s: frame %d: %s", s->file, s->key, c->frame[k],
		    why.text);
	cost->decode += decoded - start;
	cost->resize += clock_seconds() - decoded;
	cost->bytes += n;
	cost->frames++;
	return status == 0 ? 0 : -2;
}

/* Repeat the last frame. */
static void
fill_repeat_frame(struct filler *f, uint8_t *to, size_t size)
{
	if (to != NULL)
		memcpy(to, to - size, size);
	else
		raw_repeat(f->raw);
}

static int
fill_is_stopped(const struct clip_out *out)
{
	return out->stop != NULL && atomic_load(out->stop);
}

static int
fill_frames(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out)
{
	size_t size = 3 * (size_t)r->side * (size_t)r->side;
	uint8_t *to = out->raw > 0 ? NULL : out->bytes;
	double start = clock_seconds();
	int status = fill_read_frames(f, s, r);

	out->cost.read += clock_seconds() - start;
	for (int k = 0; k < r->t && status == 0 && !fill_is_stopped(out); k++) {
		/* Short videos repeat frames: decode each one once. */
		if (k > 0 && r->frame[k] == r->frame[k - 1])
			fill_repeat_frame(f, to, size);
		else
			status = fill_frame(f, s, r, k, to, &out->cost);
		to = to != NULL ? to + size : NULL;
	}
	out->cost.clips += status == 0;
	return status;
}

int
clip_fill(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out)
{
	int status;

	if (out->raw > 0)
		raw_begin(f->raw, out->bytes, out->raw, r->t, r->side);
	status = fill_frames(f, s, r, out);
	if (out->raw > 0)
		out->used = raw_used(f->raw);
	if (status != 0 || r->transforms == NULL || fill_is_stopped(out))
		return status;
	buffer_reserve(&f->frame, 3 * (size_t)r->side * (size_t)r->side);
	transforms_apply(r->transforms, r->random, r->t, r->side, out->bytes,
	    (uint8_t *)f->frame.data);
	return 0;
}

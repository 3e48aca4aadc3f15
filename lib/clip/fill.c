/*
 * Decode the stored frames of a clip to pixels: read them, decode the crop,
 * resize, then apply the transforms.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "clip/fill_run.h"
#include "media/png.h"

#define RESERVE ((size_t)64 << 20)	/* maximum reserved for stored frames,
					 * in bytes */

/* ---- sources ---- */

/* Return the number of the stream that has the level ${level}. */
static int
frame_source_stream(const struct frame_source *s, int level)
{
	return level == 0 ? s->stream : s->levels.level[level].stream;
}

static int
frame_source_read_sample(const struct frame_source *s, int level,
    const struct frame_read *r, struct error *why)
{
	return dataset_frames_read(s->data, s->sample,
	    frame_source_stream(s, level), r, why);
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
frame_source_sample(const struct dataset *d, uint32_t i, int stream)
{
	struct sample m = dataset_sample(d, i);
	struct frame_source s = frame_source_of(&m, dataset_ext(d, stream));

	s.file = text_quote(m.shard);
	s.key = m.key;
	s.get = frame_source_read_sample;
	if (stream == 0)
		s.levels = dataset_levels(d);
	s.data = d;
	s.sample = i;
	s.stream = stream;
	return s;
}

int
fill_find_sources(const struct stream_list *l, const char *name, int stream[2])
{
	int flow = strcmp(name, STREAM_FLOW) == 0;

	stream[0] = stream_list_find(l, flow ? "x" : strcmp(name,
	    STREAM_RGBDIFF) == 0 ? STREAM_DEFAULT : name);
	stream[1] = flow ? stream_list_find(l, "y") : -1;
	return stream[0] < 0 || (flow && stream[1] < 0) ? 0 : 1 + flow;
}

/*
 * A spool item is valid until the next call of spool_get, so copy it under the
 * lock.
 */
static int
frame_source_read_spool(const struct frame_source *s, int level,
    const struct frame_read *r, struct error *why)
{
	const void *data = "";
	size_t size;

	r->bytes->n = r->at[0] = 0;
	pthread_mutex_lock(s->lock);
	for (int k = 0; k < r->n && data != NULL; k++) {
		data = spool_get(s->spool, (size_t)((s->item != NULL ?
		    s->item[r->frame[k]] : r->frame[k] * s->streams) +
		    frame_source_stream(s, level)), &size, why);
		if (data != NULL)
			buffer_add(r->bytes, data, size);
		r->at[k + 1] = r->bytes->n;
	}
	pthread_mutex_unlock(s->lock);
	return data != NULL ? 0 : -1;
}

struct frame_source
frame_source_spool(const struct sample *m, int stream, struct spool *spool,
    const int *item, pthread_mutex_t *lock)
{
	struct frame_source s = frame_source_of(m,
	    m->streams->kind[stream].ext);

	s.file = m->shard != NULL ? m->shard : "decoded";
	s.key = m->key != NULL ? m->key : m->source;
	s.get = frame_source_read_spool;
	if (stream == 0)
		s.levels = level_list_of(m->streams);
	s.stream = stream;
	s.streams = m->streams->n;
	s.spool = spool;
	s.item = item;
	s.lock = lock;
	return s;
}

void
clip_share_add(struct clip_share *s, const struct crop *c, int side)
{
	/* An antialiased resize reads half an output pixel more at each edge;
	 * the decoder adds a margin for the filters themselves. */
	double x = c->x - c->w / side / 2, y = c->y - c->h / side / 2;
	double right = c->x + c->w + c->w / side / 2;
	double bottom = c->y + c->h + c->h / side / 2;
	struct region *r = &s->part;

	if (r->w > 0) {
		right = fmax(right, r->x + r->w);
		bottom = fmax(bottom, r->y + r->h);
		x = fmin(x, r->x);
		y = fmin(y, r->y);
	}
	s->w = r->w > 0 ? fmin(s->w, c->w) : c->w;
	s->h = r->w > 0 ? fmin(s->h, c->h) : c->h;
	*r = (struct region){ x, y, right - x, bottom - y };
}

static struct region
frame_level_region(struct region r, double across, double down)
{
	return (struct region){ r.x * across, r.y * down, r.w * across,
		r.h * down };
}

/* Set what is decoded for the share of ${r}: at a scale at which the smallest
 * crop has enough pixels. */
static void
frame_level_share(struct frame_level *l, const struct clip_request *r,
    double across, double down)
{
	const struct clip_share *s = &r->share;

	l->decode.r = frame_level_region(s->part, across, down);
	l->decode.want_w = (int)ceil(r->side * (s->part.w / s->w));
	l->decode.want_h = (int)ceil(r->side * (s->part.h / s->h));
}

struct frame_level
frame_level(const struct frame_source *s, const struct clip_request *r)
{
	const struct crop *c = &r->crop;
	struct frame_level l = { 0, s->stream, s->width, s->height,
		{ c->x, c->y, c->w, c->h }, { { 0, 0, 0, 0 }, r->side, r->side,
		0 }, s->png };
	double across = 1, down = 1;

	/*
	 * Streams without levels, such as flow, ignore the level of the clip.
	 */
	if (r->level > 0 && s->levels.n > 0) {
		l.level = r->level;
		l.stream = s->levels.level[r->level].stream;
		level_size(s->levels.level[r->level].side, s->width, s->height,
		    &l.w, &l.h);
		across = (double)l.w / s->width;
		down = (double)l.h / s->height;
		l.part = frame_level_region(l.part, across, down);
	}
	l.decode.r = l.part;
	if (r->share.part.w > 0)
		frame_level_share(&l, r, across, down);
	return l;
}

/* ---- buffers ---- */

void
fill_reserve_frames(struct filler *f, int n)
{
	if (n <= f->max)
		return;
	f->max = n;
	for (int i = 0; i < 2; i++)
		f->at[i] = xrealloc(f->at[i], (size_t)n + 1, sizeof(**f->at));
	f->stacked = xrealloc(f->stacked, (size_t)n, sizeof(*f->stacked));
}

static void
fill_reserve(struct filler *f, const struct fill_max *m)
{
	size_t pixels = (size_t)m->w * (size_t)m->h, bytes;
	size_t resized = 3 * (size_t)m->side * (size_t)m->side;

	fill_reserve_frames(f, m->t);
	resizer_reserve(f->resizer, m->side, m->side, m->w, m->h);
	/* Reserve 1 byte per pixel, 3 for PNG; JPEG frames take about a quarter
	 * of that.  The system provides only the memory that is touched. */
	bytes = (size_t)m->t * pixels * (m->png ? 3 : 1);
	bytes = bytes < RESERVE ? bytes : RESERVE;
	buffer_reserve(&f->bytes[0], bytes);
	buffer_reserve(&f->scratch, m->scratch);
	buffer_reserve(&f->frame, resized);
	if (m->stacks) {
		buffer_reserve(&f->bytes[1], bytes);
		buffer_reserve(&f->resized[0], resized);
		buffer_reserve(&f->resized[1], resized);
		image_reshape(&f->planes, m->w, m->h, 3);
	}
	if (m->png && pixels > 0)
		image_reshape(&f->decoder.pixels, m->w, m->h, 3);
	else
		jpeg_decoder_reserve(f->decoder.jpeg, m->w, m->h);
}

struct filler *
filler_new(const struct fill_max *max)
{
	struct filler *f = xcalloc(1, sizeof(*f));

	f->decoder.jpeg = jpeg_decoder_new();
	f->resizer = resizer_new();
	if (max != NULL)
		fill_reserve(f, max);
	return f;
}

void
filler_free(struct filler *f)
{
	if (f == NULL)
		return;
	frame_decoder_free(&f->decoder);
	resizer_free(f->resizer);
	buffer_free(&f->scratch);
	buffer_free(&f->frame);
	for (int i = 0; i < 2; i++) {
		buffer_free(&f->bytes[i]);
		buffer_free(&f->resized[i]);
		free(f->at[i]);
	}
	free(f->planes.data);
	free(f->stacked);
	free(f);
}

const char *
filler_error(const struct filler *f)
{
	return f->error.text;
}

/* ---- frames ---- */

int
fill_read(const struct fill_job *j)
{
	struct filler *f = j->f;
	double start = clock_seconds();
	int status;

	f->error.text[0] = '\0';
	status = j->s->get(j->s, frame_level(j->s, j->r).level,
	    &(struct frame_read){ j->frame, j->n, &f->bytes[j->i], f->at[j->i],
	    &f->scratch }, &f->error);
	j->cost->read += clock_seconds() - start;
	return status;
}

int
frame_decoder_run(struct frame_decoder *d, const void *data, size_t n,
    const struct frame_level *l, struct image *m, struct region *at,
    struct error *why)
{
	struct jpeg_part part = l->decode;
	int w, h;

	if (l->png) {
		if (png_decode_to(&d->pixels, data, n, why) != 0)
			return -1;
		*m = d->pixels;
		*at = part.r;
		w = m->w;
		h = m->h;
	} else {
		if (d->jpeg == NULL)
			d->jpeg = jpeg_decoder_new();
		if (jpeg_size(d->jpeg, data, n, &w, &h, why) != 0)
			return -1;
	}
	if (l->w != 0 && (w != l->w || h != l->h))
		return error_set(why, "%dx%d pixels (the index says %dx%d)", w,
		    h, l->w, l->h);
	if (part.r.w == 0)
		part = (struct jpeg_part){ { 0, 0, w, h }, w, h, 0 };
	return l->png ? 0 : jpeg_decode(d->jpeg, NULL, 0, &part, m, at, why);
}

void
frame_decoder_free(struct frame_decoder *d)
{
	jpeg_decoder_free(d->jpeg);
	free(d->pixels.data);
}

int
fill_decode(const struct fill_job *j, int k, int gray, struct image *m,
    struct region *at)
{
	struct filler *f = j->f;
	struct frame_level l = frame_level(j->s, j->r);
	const size_t *of = f->at[j->i] + k;
	struct error why = { "" };
	double start = clock_seconds();
	int bad;

	l.decode.gray = gray;
	bad = frame_decoder_run(&f->decoder, f->bytes[j->i].data + of[0],
	    of[1] - of[0], &l, m, at, &why);

	j->cost->decode += clock_seconds() - start;
	j->cost->bytes += of[1] - of[0];
	j->cost->frames++;
	if (!bad)
		return 0;
	snprintf(f->error.text, sizeof(f->error.text), "%s: key %s: frame %d: "
	    "%s", j->s->file, j->s->key, j->frame[k], why.text);
	return -2;
}

void
fill_resize(struct filler *f, const struct clip_request *r,
    const struct image *m, struct region at, uint8_t *to)
{
	image_resize(f->resizer, &(struct resize_call){ r->crop.how, to,
	    r->side, r->side, m->data, m->w, m->h, at, r->crop.flip });
}

/* ---- clips ---- */

/* Return the region ${l->part} in an image that has ${l->decode} at ${at}. */
static struct region
fill_crop_in(const struct frame_level *l, struct region at)
{
	double across = at.w / l->decode.r.w, down = at.h / l->decode.r.h;

	return (struct region){ at.x + (l->part.x - l->decode.r.x) * across,
		at.y + (l->part.y - l->decode.r.y) * down, l->part.w * across,
		l->part.h * down };
}

/* Decode frame ${k} of ${j}, and append it to each of the clips ${c}[n]. */
static int
fill_frame(const struct fill_job *j, int k, const struct clip_request *c,
    struct clip_out *out, int n)
{
	size_t size = 3 * (size_t)c->side * (size_t)c->side;
	struct region at;
	struct image m;
	int status = fill_decode(j, k, 0, &m, &at);
	double start = clock_seconds();

	for (int i = 0; i < n && status == 0; i++) {
		struct frame_level l = frame_level(j->s, &c[i]);

		fill_resize(j->f, &c[i], &m, c[i].share.part.w > 0 ?
		    fill_crop_in(&l, at) : at, out[i].bytes + (size_t)k * size);
	}
	j->cost->resize += clock_seconds() - start;
	return status;
}

/* Repeat frame ${k} - 1 as frame ${k}. */
static void
fill_repeat_frame(const struct clip_request *c, int k,
    const struct clip_out *out)
{
	size_t size = 3 * (size_t)c->side * (size_t)c->side;
	uint8_t *to = out->bytes + (size_t)k * size;

	memcpy(to, to - size, size);
}

int
fill_is_stopped(const struct clip_out *out)
{
	return out->stop != NULL && atomic_load(out->stop);
}

static int
fill_frames(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out, int clips)
{
	const struct fill_job j = { f, 0, s, r, r->frame, r->t, &out->cost };
	int status;

	fill_reserve_frames(f, r->t);
	status = fill_read(&j);
	for (int k = 0; k < r->t && status == 0 && !fill_is_stopped(out); k++) {
		/* Short videos repeat frames: decode each one once. */
		if (k == 0 || r->frame[k] != r->frame[k - 1])
			status = fill_frame(&j, k, r, out, clips);
		else
			for (int i = 0; i < clips; i++)
				fill_repeat_frame(&r[i], k, &out[i]);
	}
	for (int i = 0; i < clips; i++)
		out[i].cost.clips += status == 0;
	return status;
}

int
clips_fill(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out, int n)
{
	int status;

	assert(n >= 1 && n <= CLIPS_MAX);
	status = fill_frames(f, s, r, out, n);
	for (int i = 0; i < n; i++) {
		if (status != 0 || r[i].transforms == NULL ||
		    fill_is_stopped(out))
			continue;
		buffer_reserve(&f->frame,
		    3 * (size_t)r->side * (size_t)r->side);
		transforms_apply(r[i].transforms, r[i].random, r->t, r->side,
		    out[i].bytes, (uint8_t *)f->frame.data);
	}
	return status;
}

int
clip_fill(struct filler *f, const struct frame_source *s,
    const struct clip_request *r, struct clip_out *out)
{
	return clips_fill(f, s, r, out, 1);
}

int
clips_fill_stream(struct filler *f, const struct stream_spec *stream,
    const struct frame_source s[2], const struct clip_request *r,
    struct clip_out *out, int n)
{
	int unit = stream_unit(stream->name), status = 0;

	if (unit == 0)
		return clips_fill(f, s, r, out, n);
	for (int i = 0; i < n && status == 0; i++) {
		struct clip_request own = r[i];

		/* Each clip decodes its own crop. */
		memset(&own.share, 0, sizeof(own.share));
		status = (unit == 2 ? fill_flow : fill_differences)(f, s, &own,
		    stream->c, &out[i]);
	}
	return status;
}

/* From the stored frames of a sample to the pixels of a clip. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "clip/fetch.h"
#include "media/image.h"
#include "media/jpeg.h"
#include "media/png.h"
#include "media/raw.h"

#define RESERVE ((size_t)64 << 20)	/* bytes of stored frames, at most */

struct fetch {
	const struct dataset *d;
	struct jpeg_decoder *jpeg;
	int png;		/* not JPEG */
	struct image pixels;	/* of a PNG; a JPEG's are the decoder's */
	struct resizer *resizer;
	struct raw_clip *raw;
	struct buffer bytes;	/* stored frames of a clip, one after another */
	struct buffer room;	/* for reading them */
	size_t *at;		/* [most + 1] where each begins in ${bytes} */
	int most;
	char error[1024];
};

static void
fetch_reserve_frames(struct fetch *f, int t)
{
	if (t <= f->most)
		return;
	f->most = t;
	f->at = xrealloc(f->at, (size_t)t + 1, sizeof(*f->at));
}

static void
fetch_reserve(struct fetch *f, const struct fetch_most *m)
{
	size_t pixels = (size_t)m->w * (size_t)m->h, bytes;

	fetch_reserve_frames(f, m->t);
	resizer_reserve(f->resizer, m->side, m->side, m->w, m->h);
	/* Untouched memory costs nothing: frames take a quarter of that. */
	bytes = (size_t)m->t * pixels * (f->png ? 3 : 1);
	buffer_room(&f->bytes, bytes < RESERVE ? bytes : RESERVE);
	buffer_room(&f->room, dataset_frames_room(f->d, m->t, m->frames));
	if (f->png && pixels > 0)
		image_reshape(&f->pixels, m->w, m->h, 3);
	else
		jpeg_decoder_reserve(f->jpeg, m->w, m->h);
}

struct fetch *
fetch_new(const struct dataset *d, const struct fetch_most *most)
{
	struct fetch *f = xcalloc(1, sizeof(*f));

	f->d = d;
	f->png = d != NULL && strcmp(dataset_ext(d, 0), "png") == 0;
	f->jpeg = jpeg_decoder_new();
	f->resizer = resizer_new();
	f->raw = raw_new();
	if (most != NULL)
		fetch_reserve(f, most);
	return f;
}

void
fetch_free(struct fetch *f)
{
	if (f == NULL)
		return;
	jpeg_decoder_free(f->jpeg);
	resizer_free(f->resizer);
	raw_free(f->raw);
	free(f->pixels.data);
	buffer_free(&f->bytes);
	buffer_free(&f->room);
	free(f->at);
	free(f);
}

const char *
fetch_error(const struct fetch *f)
{
	return f->error;
}

static int
fetch_read_frames(struct fetch *f, const struct fetch_clip *c)
{
	int status;

	fetch_reserve_frames(f, c->t);
	fail_capture(f->error, sizeof(f->error));
	status = dataset_frames_read(f->d, c->sample, 0, c->frame, c->t,
	    &f->bytes, f->at, &f->room);
	fail_capture(NULL, 0);
	return status;
}

/* Is the frame of the size that the index promised? */
static int
fetch_check_size(const struct fetch_stored *s, int w, int h)
{
	if (w != s->width || h != s->height)
		return fail("%dx%d pixels (the index says %dx%d)", w, h,
		    s->width, s->height);
	return 0;
}

/*
 * Decode at least region ${r} of a frame; ${*at} is where it lies in ${out},
 * which is good until the next call.  A PNG is decoded whole.
 */
static int
fetch_decode(struct fetch *f, const struct fetch_stored *s, struct region r,
    int side, struct image *out, struct region *at)
{
	int w, h;

	if (s->png) {
		if (png_decode_to(&f->pixels, s->data, s->n) != 0)
			return -1;
		*out = f->pixels;
		*at = r;
		return fetch_check_size(s, out->w, out->h);
	}
	if (jpeg_size(f->jpeg, s->data, s->n, &w, &h) != 0 ||
	    fetch_check_size(s, w, h) != 0)
		return -1;
	return jpeg_decode(f->jpeg, s->data, s->n, r, side, side, out, at);
}

/* To pixels of the size wanted, or, where ${to} is NULL, to the raw clip. */
static int
fetch_make_frame(struct fetch *f, const struct fetch_stored *s,
    const struct fetch_clip *c, uint8_t *to, struct fetch_cost *cost)
{
	struct region r = { c->crop.x, c->crop.y, c->crop.w, c->crop.h }, at;
	double start = clock_seconds(), decoded;
	struct image m;
	char why[512];
	int status;

	fail_capture(why, sizeof(why));
	status = fetch_decode(f, s, r, c->side, &m, &at);
	fail_capture(NULL, 0);
	decoded = clock_seconds();
	if (status == 0 && to != NULL)
		image_resize(f->resizer, c->crop.how, to, c->side, c->side,
		    m.data, m.w, m.h, at, c->crop.flip);
	else if (status == 0)
		raw_add(f->raw, f->resizer, c->crop.how, &m, at, c->crop.flip);
	else
		snprintf(f->error, sizeof(f->error), "%s: key %s: frame %d: %s",
		    s->file, s->key, s->number, why);
	cost->decode += decoded - start;
	cost->resize += clock_seconds() - decoded;
	cost->bytes += s->n;
	cost->frames++;
	return status == 0 ? 0 : -2;
}

int
fetch_frame(struct fetch *f, const struct fetch_stored *s,
    const struct fetch_clip *c, uint8_t *to, struct fetch_cost *cost)
{
	return fetch_make_frame(f, s, c, to, cost);
}

/* The last frame once more. */
static void
fetch_repeat_frame(struct fetch *f, uint8_t *to, size_t size)
{
	if (to != NULL)
		memcpy(to, to - size, size);
	else
		raw_repeat(f->raw);
}

static int
fetch_make_clip(struct fetch *f, const struct fetch_clip *c, uint8_t *to,
    const atomic_int *stop, struct fetch_cost *cost)
{
	struct sample s = dataset_sample(f->d, c->sample);
	size_t size = 3 * (size_t)c->side * (size_t)c->side;
	const char *shard = text_quote(s.shard);
	double start = clock_seconds();
	int status = fetch_read_frames(f, c);

	cost->read += clock_seconds() - start;
	for (int k = 0; k < c->t && status == 0 && !atomic_load(stop); k++) {
		if (k > 0 && c->frame[k] == c->frame[k - 1])
			fetch_repeat_frame(f, to, size);
		else
			status = fetch_make_frame(f, &(struct fetch_stored){
			    shard, s.key, f->bytes.data + f->at[k],
			    f->at[k + 1] - f->at[k], c->frame[k], s.width,
			    s.height, f->png }, c, to, cost);
		to = to != NULL ? to + size : NULL;
	}
	cost->clips += status == 0;
	return status;
}

int
fetch_clip(struct fetch *f, const struct fetch_clip *c, uint8_t *to,
    const atomic_int *stop, struct fetch_cost *cost)
{
	return fetch_make_clip(f, c, to, stop, cost);
}

int
fetch_raw(struct fetch *f, const struct fetch_clip *c, uint8_t *to,
    size_t room, size_t *used, const atomic_int *stop, struct fetch_cost *cost)
{
	int status;

	raw_begin(f->raw, to, room, c->t, c->side);
	status = fetch_make_clip(f, c, NULL, stop, cost);
	*used = raw_used(f->raw);
	return status;
}

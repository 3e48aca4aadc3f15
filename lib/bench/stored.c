/* Decode stored frames with libjpeg-turbo alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "bench/stored.h"

int
stored_is_jpeg(const struct dataset *d)
{
	return strcmp(dataset_ext(d, 0), "jpg") == 0;
}

void
stored_open(struct stored *s, struct pool *p)
{
	int n = pool_threads(p);

	*s = (struct stored){ .pool = p, .resizer = resizer_new() };
	s->decoder = xcalloc((size_t)n, sizeof(struct jpeg_decoder *));
	for (int i = 0; i < n; i++)
		s->decoder[i] = jpeg_decoder_new();
}

void
stored_close(struct stored *s)
{
	for (int i = 0; s->decoder != NULL && i < pool_threads(s->pool); i++)
		jpeg_decoder_free(s->decoder[i]);
	resizer_free(s->resizer);
	free(s->decoder);
	free(s->frame);
	buffer_free(&s->data);
	*s = (struct stored){ 0 };
}

void
stored_clear(struct stored *s)
{
	s->data.n = s->n = 0;
}

int
stored_add(struct stored *s, const struct dataset *d, uint32_t sample,
    const struct clip_request *r)
{
	struct frame_source source = frame_source_sample(d, sample, 0);
	struct frame_level level = frame_level(&source, r);
	struct buffer read = { 0 }, memory = { 0 };
	size_t *at = xcalloc((size_t)r->t + 1, sizeof(*at));
	int bad = dataset_frames_read(d, sample, level.stream,
	    &(struct frame_read){ r->frame, r->t, &read, at, &memory }, NULL);

	for (int i = 0; i < r->t && bad == 0; i++) {
		s->frame = array_reserve(s->frame, s->n, &s->cap,
		    sizeof(*s->frame));
		s->frame[s->n++] = (struct stored_frame){
			.at = s->data.n + at[i], .bytes = at[i + 1] - at[i],
			.sample = dataset_sample(d, sample),
			.number = r->frame[i], .width = level.w,
			.height = level.h, .side = r->side, .how = r->crop.how,
			.part = level.part };
	}
	if (bad == 0)
		buffer_add(&s->data, read.data, at[r->t]);
	buffer_free(&read);
	buffer_free(&memory);
	free(at);
	return bad;
}

/* Return the whole frame, with ${by} times its size. */
static struct jpeg_part
stored_whole(const struct stored_frame *f, double by)
{
	return (struct jpeg_part){ { 0, 0, f->width, f->height },
		(int)(f->width * by), (int)(f->height * by), 0 };
}

static struct jpeg_part
stored_crop(const struct stored_frame *f)
{
	return (struct jpeg_part){ f->part, f->side, f->side, 0 };
}

static int
stored_decode_region(const struct stored *s, int thread,
    const struct stored_frame *f, struct jpeg_part p, struct image *m,
    struct region *at)
{
	struct error why = { "" };
	int bad = jpeg_decode(s->decoder[thread], s->data.data + f->at,
	    f->bytes, &p, m, at, &why);

	return bad ? fail("%s: key %s: frame %d: %s", text_quote(
	    f->sample.shard), f->sample.key, f->number, why.text) : 0;
}

/* Decode the whole frame, whose size must be the one in the index. */
static int
stored_decode_whole(const struct stored *s, int thread,
    const struct stored_frame *f, struct image *m, struct region *at)
{
	if (stored_decode_region(s, thread, f, stored_whole(f, 1), m, at) != 0)
		return -1;
	if (m->w == f->width && m->h == f->height)
		return 0;
	return fail("%s: key %s: frame %d: %dx%d pixels (the index says %dx%d)",
	    text_quote(f->sample.shard), f->sample.key, f->number, m->w, m->h,
	    f->width, f->height);
}

static void
stored_part(int i, int thread, void *arg)
{
	struct stored *s = arg;
	const struct stored_frame *f = &s->frame[i];
	struct image m;
	struct region at;

	if (s->whole ? stored_decode_whole(s, thread, f, &m, &at) :
	    stored_decode_region(s, thread, f, stored_crop(f), &m, &at))
		__atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
}

int
stored_decode(struct stored *s, int whole)
{
	s->failed = 0;
	s->whole = whole;
	pool_run(s->pool, (int)s->n, stored_part, s);
	return s->failed ? -1 : 0;
}

int
stored_compare(struct stored *s, size_t i, uint8_t *part, uint8_t *whole)
{
	const struct stored_frame *f = &s->frame[i];
	struct image m;
	struct region at, r = f->part;
	double by;

	if (stored_decode_region(s, 0, f, stored_crop(f), &m, &at) != 0)
		return -1;
	image_resize(s->resizer, &(struct resize_call){ f->how, part, f->side,
	    f->side, m.data, m.w, m.h, at, 0 });
	/*
	 * The part was decoded at scale 1, 1/2, 1/4 or 1/8: decode the whole
	 * frame at the same scale.
	 */
	by = at.w / r.w;
	if (stored_decode_region(s, 0, f, stored_whole(f, by), &m, &at) != 0)
		return -1;
	image_resize(s->resizer, &(struct resize_call){ f->how, whole, f->side,
	    f->side, m.data, m.w, m.h, { r.x * by, r.y * by, r.w * by,
	    r.h * by }, 0 });
	return 0;
}

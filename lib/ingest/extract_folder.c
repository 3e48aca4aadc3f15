/*
 * Extract a folder of frames.
 * A JPEG that keeps its size is stored unchanged after a test that it decodes,
 * because a second compression would only lose quality.  A folder contains no
 * frame rate, so none is stored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "ingest/extractor.h"
#include "ingest/folder.h"
#include "media/png.h"
#include "shard/picture_size.h"

#define Q text_quote

struct extract_folder_work {
	const char *path;
	const struct extract_options *o;
	struct extractor *e;
	struct extraction *x;
	struct folder folder;
	const char *name;		/* of the current frame */
	struct image now;		/* its pixels, which the decoder owns */
};

static int
extract_folder_decode_png(struct extract_folder_work *w, const struct buffer *b,
    struct image *m, struct error *why)
{
	if (png_decode_to(&w->e->pixels, b->data, b->n, why) != 0)
		return -1;
	*m = w->e->pixels;
	return 0;
}

static int
extract_folder_decode_jpeg(struct extract_folder_work *w,
    const struct buffer *b, int width, int height, struct image *m,
    struct error *why)
{
	struct jpeg_part all = { { 0, 0, width, height }, width, height, 0 };
	struct region at;

	return jpeg_decode(w->e->decoder, b->data, b->n, &all, m, &at, why);
}

/*
 * Decode ${b} to ${m}, and set the size of the sample by the first frame.
 * Return 0, or -1 with the reason in ${why}, without the file name.
 */
static int
extract_folder_decode(struct extract_folder_work *w, const struct buffer *b,
    struct image *m, struct error *why)
{
	struct video_info *i = &w->x->info;
	struct sample *x = &w->x->sample;
	int width = 0, height = 0;

	/* Check the limit before memory is allocated.  Without a valid header,
	 * the decoder of PNG reports the error. */
	if (w->folder.png)
		(void)picture_size("png", b->data, b->n, &width, &height);
	else if (jpeg_size(w->e->decoder, b->data, b->n, &width, &height,
	    why) != 0)
		return -1;
	if ((int64_t)width * height > w->o->max_pixels)
		return error_set(why, "%dx%d pixels (--max-pixels=%lld)", width,
		    height, (long long)w->o->max_pixels);
	if ((w->folder.png ? extract_folder_decode_png(w, b, m, why) :
	    extract_folder_decode_jpeg(w, b, width, height, m, why)) != 0)
		return -1;
	if (i->width == 0) {
		i->width = m->w;
		i->height = m->h;
		extract_size(w->o, m->w, m->h, &x->width, &x->height);
		if (x->width > 65500 || x->height > 65500)
			return error_set(why, "%dx%d pixels to store (wanted "
			    "at most 65500 each way)", x->width, x->height);
	}
	return 0;
}

/* Encode the current frame at ${width} x ${height} pixels. */
static int
extract_folder_encode(void *of, int width, int height)
{
	struct extract_folder_work *w = of;
	struct buffer *b = &w->e->bytes;
	const struct image *m = &w->now, *rgb = m;
	const struct planes *p;

	b->n = 0;
	if (!w->folder.png && w->o->format == EXTRACT_JPEG && m->w == width &&
	    m->h == height) {
		buffer_add(b, w->e->file.data, w->e->file.n);
		return 0;
	}
	if (w->o->format == EXTRACT_PNG) {
		if (m->w != width || m->h != height)
			rgb = picture_rgb(w->e->picture, w->name, m, width,
			    height);
		return rgb == NULL ? -1 : png_encode(rgb, b);
	}
	p = picture_planes(w->e->picture, w->name, m, width, height);
	return p == NULL ? -1 : jpeg_encode_planes(w->e->jpeg,
	    (const uint8_t *const *)p->plane, p->stride, p->w, p->h, b);
}

/* Read, decode and store one frame, and add its bytes to ${hash}. */
static int
extract_folder_take_frame(struct extract_folder_work *w, const char *name,
    struct hasher *hash)
{
	struct extraction *x = w->x;
	struct buffer *from = &w->e->file;
	const struct image *m = &w->now;
	const struct planes *p;
	struct error why = { "" };

	from->n = 0;
	if (file_read(name, from) != 0)
		return -1;
	hasher_add(hash, from->data, from->n);
	x->sample.source_bytes += from->n;
	if (extract_folder_decode(w, from, &w->now, &why) != 0)
		return fail("%s: %s", Q(name), why.text);
	if (m->w != x->sample.width || m->h != x->sample.height)
		x->sample.flags |= SHARD_RESCALED;
	w->name = name;
	if (!w->o->no_phash && phash_wants(&w->e->phash))
		phash_rgb(&w->e->phash, m);
	if (!w->o->flow)
		return extract_add_frame(w->o, w->e, x,
		    extract_folder_encode, w);
	if (w->o->rgb && extract_folder_encode(w, x->sample.width,
	    x->sample.height) != 0)
		return -1;
	p = picture_planes(w->e->picture, name, m, x->sample.width,
	    x->sample.height);
	return p == NULL ? -1 : flow_add(w->e->flow, p, w->o->rgb ?
	    &w->e->bytes : NULL);
}

static int
extract_folder_take_frames(struct extract_folder_work *w, size_t first,
    size_t count)
{
	struct hasher *hash = hasher_new();
	int bad = 0;

	w->e->phash = (struct phash){ 0 };
	w->x->frame = spool_new(w->o->memory, count *
	    (size_t)w->x->streams.n);
	if (w->o->flow)
		flow_begin(w->e->flow, w->x->frame);
	for (size_t i = first; i < first + count && !bad; i++) {
		char *name = path_join(w->path, w->folder.frame[i].name);

		bad = w->o->stopped != NULL && w->o->stopped() ?
		    fail("%s: stopped", Q(w->path)) :
		    extract_folder_take_frame(w, name, hash);
		free(name);
	}
	if (w->o->flow && !bad)
		bad = flow_end(w->e->flow);
	w->x->sample.source_hash = hasher_64(hash);
	w->x->hashed = !bad;
	hasher_free(hash);
	return bad;
}

/* Refuse parts, of which ${count} frames are wanted, and rates that a folder
 * cannot provide. */
static int
extract_folder_check(const struct extract_folder_work *w,
    const struct list_part *p, long long count)
{
	long long n = (long long)w->folder.n, first = (long long)p->begin;

	if (p->unit == LIST_SECONDS)
		return fail("%s: a folder of frames, which has no times (the "
		    "list wants %g s to %g s)", Q(w->path), p->begin, p->end);
	if (w->o->fps.num > 0)
		return fail("%s: a folder of frames, which has no rate to "
		    "resample (--fps)", Q(w->path));
	if (p->frames > 0 && p->frames != n)
		return extract_other_count(w->path, n, p->frames);
	if (first + count > n || count < 1)
		return fail("%s: %lld frames (the list says %lld to %lld)",
		    Q(w->path), n, first, first + (count > 0 ? count : 1) - 1);
	if (count == 1 && w->o->pairs)
		return extract_lone_frame(w->path);
	if (count > w->o->max_frames)
		return fail("%s: more than %lld frames (--max-frames)",
		    Q(w->path), (long long)w->o->max_frames);
	return 0;
}

void
extract_folder(const struct list_row *row, const struct extract_options *o,
    struct extractor *e, struct extraction *x)
{
	const struct list_part *part = &row->part;
	struct extract_folder_work w = { .path = row->path, .o = o, .e = e,
		.x = x };
	struct extractor *own = e == NULL ? extractor_new(o->quality) : NULL;
	struct spool_budget budget;
	struct extract_options one = *o;
	long long first = (long long)part->begin, count;

	if (folder_open(row->path, &w.folder) != 0)
		goto out;
	strcpy(x->info.format, "folder");
	strcpy(x->info.codec, w.folder.png ? "png" : "jpeg");
	count = (part->end > 0 ? (long long)part->end : (long long)w.folder.n) -
	    first;
	if (extract_folder_check(&w, part, count) != 0)
		goto out;
	if (own != NULL) {		/* headers only: the first frame
					 * tells */
		w.e = own;
		w.o = &one;
		spool_budget_open(&budget, 1 << 20);
		one.memory = &budget;
		one.flow = EXTRACT_NO_FLOW;
		count = 1;
	}
	if (extract_folder_take_frames(&w, (size_t)first, (size_t)count) == 0) {
		x->sample.frames = (int)count - o->pairs;
		x->sample.phash = phash_end(&w.e->phash);
		x->account.frames = (int64_t)count;
		x->sample.status = "ok";
		x->kept = 1;
	}
	if (own != NULL) {
		spool_free(x->frame);
		x->frame = NULL;
		spool_budget_close(&budget);
	}
out:
	folder_close(&w.folder);
	extractor_free(own);
}

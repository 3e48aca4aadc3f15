/* Functions shared by the extraction of videos and of folders of frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/extractor.h"
#include "shard/level.h"

struct extractor *
extractor_new(int quality)
{
	struct extractor *e = xcalloc(1, sizeof(*e));

	e->jpeg = jpeg_encoder_new(quality);
	e->decoder = jpeg_decoder_new();
	e->picture = picture_new();
	return e;
}

void
extractor_free(struct extractor *e)
{
	if (e == NULL)
		return;
	jpeg_encoder_free(e->jpeg);
	jpeg_decoder_free(e->decoder);
	picture_free(e->picture);
	buffer_free(&e->file);
	buffer_free(&e->bytes);
	free(e->pixels.data);
	flow_free(e->flow);
	free(e->time);
	free(e);
}

void
extractor_add_flow(struct extractor *e, const struct extract_options *o,
    int threads)
{
	e->flow = flow_new(threads, o);
}

void
extract_streams(const struct extract_options *o, struct stream_list *to)
{
	const char *ext = o->format == EXTRACT_PNG ? "png" : "jpg";

	*to = (struct stream_list){ 0 };
	if (!o->flow || o->rgb)
		strcpy(to->kind[to->n++].tag, STREAM_UNTAGGED);
	if (o->flow) {
		strcpy(to->kind[to->n++].tag, "x");
		strcpy(to->kind[to->n++].tag, "y");
	}
	for (int i = 0; i < o->levels; i++)
		snprintf(to->kind[to->n++].tag, sizeof(to->kind->tag), "s%d",
		    o->level[i]);
	for (int i = 0; i < to->n; i++)
		strcpy(to->kind[i].ext, ext);
}

int
extract_add_frame(const struct extract_options *o, struct extractor *e,
    struct extraction *x, int (*encode)(void *of, int w, int h), void *of)
{
	struct sample *m = &x->sample;
	int w = m->width, h = m->height, bad = encode(of, w, h);

	bad = bad || spool_add(x->frame, e->bytes.data, e->bytes.n) != 0;
	for (int i = 0; i < o->levels && !bad; i++) {
		int to_w, to_h;

		level_size(o->level[i], m->width, m->height, &to_w, &to_h);
		/* A level that does not shrink repeats the bytes. */
		if (to_w != w || to_h != h)
			bad = encode(of, to_w, to_h);
		bad = bad || spool_add(x->frame, e->bytes.data,
		    e->bytes.n) != 0;
		w = to_w;
		h = to_h;
	}
	return bad ? -1 : 0;
}

void
extraction_begin(const struct list_row *row, const struct extract_options *o,
    struct extraction *x)
{
	*x = (struct extraction){ .sample = row->sample };
	extract_streams(o, &x->streams);
	x->sample.streams = &x->streams;
	if (o->flow)
		x->sample.flow = flow_kind();
	x->sample.status = "failed";
}

size_t
extraction_item(const struct extraction *x, int frame, int stream)
{
	size_t first = x->frame_item != NULL ? (size_t)x->frame_item[frame] :
	    (size_t)frame * (size_t)x->streams.n;

	return first + (size_t)stream;
}

int
extraction_write(const struct extraction *x, const struct sample *s,
    struct stream_writer *w, int64_t *bytes)
{
	int streams = x->streams.n;

	if (stream_begin(w, s) != 0)
		return -1;
	for (int k = 0; k < s->frames * streams; k++) {
		size_t n;
		const void *data = spool_get(x->frame, extraction_item(x,
		    k / streams, k % streams), &n, NULL);

		if (data == NULL || stream_frame(w, data, n) != 0)
			return -1;
		*bytes += (int64_t)n;
	}
	return stream_commit(w);
}

void
extraction_free(struct extraction *x)
{
	spool_free(x->frame);
	free((void *)x->sample.time);
	free(x->frame_item);
	*x = (struct extraction){ 0 };
}

void
extract_size(const struct extract_options *o, int w, int h, int *to_w,
    int *to_h)
{
	int side = w < h ? w : h;
	double scale = (double)o->short_side / side;

	*to_w = w;
	*to_h = h;
	if (o->width > 0) {
		*to_w = o->width;
		*to_h = o->height;
	} else if (o->short_side > 0 && o->short_side != side &&
	    (o->enlarge || o->short_side < side)) {
		*to_w = w == side ? o->short_side : level_even(w * scale);
		*to_h = h == side ? o->short_side : level_even(h * scale);
	}
}

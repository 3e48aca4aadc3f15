/* Functions shared by the extraction of videos and of folders of frames. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ingest/extractor.h"

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
	free(e->time);
	free(e);
}

const struct stream_list *
extract_streams(enum extract_format f)
{
	static const struct stream_list streams[] = {
		[EXTRACT_JPEG] = { 1, { { STREAM_UNTAGGED, "jpg" } } },
		[EXTRACT_PNG] = { 1, { { STREAM_UNTAGGED, "png" } } },
	};

	return &streams[f];
}

void
extraction_free(struct extraction *x)
{
	spool_free(x->frame);
	free((void *)x->sample.time);
	free(x->frame_item);
	*x = (struct extraction){ 0 };
}

/* Return the even number nearest to ${v}, at least 2. */
static int
extractor_even(double v)
{
	int n = 2 * (int)floor(v / 2 + 0.5);

	return n < 2 ? 2 : n;
}

/*
 * Round the long side to an even number, because 4:2:0 chroma has one sample
 * for two pixels.
 */
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
		*to_w = w == side ? o->short_side : extractor_even(w * scale);
		*to_h = h == side ? o->short_side : extractor_even(h * scale);
	}
}

/*
 * White is 255 and black is 0 in each pixel format that FFmpeg decodes to, as
 * planes and as RGB, with each range, at the frame's own size and at others.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#ifdef VT_HAVE_FFMPEG
#include "media/ffmpeg/ff.h"

/* Return 1 for formats that are not in memory, that swscale does not read, or
 * in which white depends on the light (XYZ). */
static int
is_other(const AVPixFmtDescriptor *d, enum AVPixelFormat format)
{
	return d->flags & AV_PIX_FMT_FLAG_HWACCEL ||
	    !sws_isSupportedInput(format) || strncmp(d->name, "xyz", 3) == 0;
}

/* Return the value of component ${c} of ${d} where a frame is white or black,
 * with ${full} range or without. */
static unsigned
level(const AVPixFmtDescriptor *d, int c, int white, int full)
{
	int depth = d->comp[c].depth, rgb = (d->flags & AV_PIX_FMT_FLAG_RGB) != 0;
	int alpha = d->flags & AV_PIX_FMT_FLAG_ALPHA && c == d->nb_components - 1;

	if (d->flags & AV_PIX_FMT_FLAG_FLOAT)
		return white || alpha ? 0x3f800000 : 0;		/* 1.0f */
	if (alpha)
		return (1u << depth) - 1;
	if (depth < 8 && !rgb)
		return (unsigned)(white == (strcmp(d->name, "monow") != 0));
	if (!rgb && (c == 1 || c == 2) && d->nb_components > 2)
		return 1u << (depth - 1);
	if (rgb || full)
		return white ? (1u << depth) - 1 : 0;
	return (white ? 235u : 16u) << (depth - 8);
}

/* Return a frame of ${w} by ${h} pixels, white or black, or NULL if FFmpeg does
 * not have such frames. */
static AVFrame *
paint(enum AVPixelFormat format, int w, int h, int white,
    enum AVColorRange range)
{
	const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
	int full = range == AVCOL_RANGE_JPEG || strncmp(d->name, "yuvj", 4) == 0 ||
	    (range == AVCOL_RANGE_UNSPECIFIED && d->nb_components <= 2);
	int bayer = (d->flags & AV_PIX_FMT_FLAG_BAYER) != 0;
	AVFrame *f = av_frame_alloc();

	f->format = format;
	f->width = w;
	f->height = h;
	f->color_range = range;
	if (av_frame_get_buffer(f, 0) != 0) {
		av_frame_free(&f);
		return NULL;
	}
	if (d->flags & AV_PIX_FMT_FLAG_PAL) {
		for (int y = 0; y < h; y++)
			memset(f->data[0] + y * f->linesize[0], 7, (size_t)w);
		memset(f->data[1], 0, 1024);
		((uint32_t *)f->data[1])[7] = white ? 0xffffffff : 0xff000000;
		return f;
	}
	for (int i = 0; i < 4 && f->data[i] != NULL; i++) {
		int rows = i == 1 || i == 2 ? -(-h >> d->log2_chroma_h) : h;

		memset(f->data[i], bayer && white ? 0xff : 0, (size_t)rows *
		    (size_t)f->linesize[i]);
	}
	for (int c = 0; c < d->nb_components && !bayer; c++) {
		int small = (c == 1 || c == 2) && !(d->flags & AV_PIX_FMT_FLAG_RGB);
		int cw = small ? -(-w >> d->log2_chroma_w) : w;
		int ch = small ? -(-h >> d->log2_chroma_h) : h;
		uint32_t line[64];

		for (int x = 0; x < cw; x++)
			line[x] = level(d, c, white, full);
		for (int y = 0; y < ch; y++)
			av_write_image_line2(line, f->data, f->linesize, d, 0, y,
			    c, cw, 4);
	}
	return f;
}

/* Return the value farthest from ${want} in the ${n} bytes of ${data}. */
static int
farthest(const uint8_t *data, size_t n, int want)
{
	int found = want;

	for (size_t i = 0; i < n; i++)
		if (abs(data[i] - want) > abs(found - want))
			found = data[i];
	return found;
}

static void
test_format(enum AVPixelFormat format, const char *name)
{
	static const struct { int w, h, to_w, to_h; } size[] = {
		{ 48, 32, 48, 32 }, { 48, 32, 24, 16 }, { 48, 32, 30, 20 },
		{ 24, 16, 48, 32 }, { 47, 31, 47, 31 }, { 48, 32, 48, 16 },
	};
	char why[200] = "";
	int tried = 0;

	for (size_t i = 0; i < 6 * sizeof(size) / sizeof(size[0]); i++) {
		int w = size[i / 6].to_w, h = size[i / 6].to_h;
		int white = i & 1, want = white ? 255 : 0, y, rgb;
		struct ff_frame p = { .warned = 1 };
		enum AVColorRange range = i % 6 < 2 ? AVCOL_RANGE_JPEG :
		    i % 6 < 4 ? AVCOL_RANGE_MPEG : AVCOL_RANGE_UNSPECIFIED;
		AVFrame *f = paint(format, size[i / 6].w, size[i / 6].h, white,
		    range);
		const struct planes *planes;
		const struct image *image;

		if (f == NULL)
			continue;
		tried++;
		planes = frame_planes(&p, name, f, (struct plane_turn){ 0 }, w,
		    h);
		y = want;
		for (int row = 0; planes != NULL && row < h; row++) {
			int v = farthest(planes->plane[0] + (size_t)row *
			    (size_t)planes->stride[0], (size_t)w, want);

			y = abs(v - want) > abs(y - want) ? v : y;
		}
		if (planes == NULL)
			y = -1;
		image = frame_rgb(&p, name, f, (struct plane_turn){ 0 }, w, h);
		rgb = image == NULL ? -1 :
		    farthest(image->data, 3 * (size_t)w * (size_t)h, want);
		if ((abs(y - want) > 1 || abs(rgb - want) > 1) && why[0] == '\0')
			snprintf(why, sizeof(why), "%dx%d to %dx%d, %s, range "
			    "%s: planes %d, RGB %d", f->width, f->height, w, h,
			    white ? "white" : "black",
			    av_color_range_name(range), y, rgb);
		frame_free(&p);
		av_frame_free(&f);
	}
	if (tried > 0 && !ok(why[0] == '\0', "%s: white is 255, black is 0",
	    name))
		diag("%s", why);
}

static void
test_formats(void)
{
	const AVPixFmtDescriptor *d = NULL;

	video_ready();			/* also drops FFmpeg's messages */
	while ((d = av_pix_fmt_desc_next(d)) != NULL) {
		enum AVPixelFormat format = av_pix_fmt_desc_get_id(d);

		if (!is_other(d, format))
			test_format(format, d->name);
	}
}

#else
static void
test_formats(void)
{
	skip("pixel formats", "no FFmpeg in this build");
}
#endif

int
main(void)
{
	test_formats();
	return done();
}

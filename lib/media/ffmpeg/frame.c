/* Convert a decoded frame to a wanted size, upright, as JPEG planes or RGB. */
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "media/ffmpeg/ff.h"

static int
ff_frame_is_gray(const AVPixFmtDescriptor *d)
{
	return d != NULL && d->nb_components <= 2 &&
	    !(d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL));
}

/*
 * Return 1 for full range.  A frame has limited range unless its range or pixel
 * format says otherwise; gray counts as full unless it says limited.
 */
static int
ff_frame_is_full(const AVFrame *f)
{
	switch (f->format) {
	case AV_PIX_FMT_YUVJ420P:
	case AV_PIX_FMT_YUVJ422P:
	case AV_PIX_FMT_YUVJ444P:
	case AV_PIX_FMT_YUVJ440P:
	case AV_PIX_FMT_YUVJ411P:
		return 1;
	default:
		return f->color_range == AVCOL_RANGE_JPEG ||
		    (f->color_range != AVCOL_RANGE_MPEG &&
		    ff_frame_is_gray(ff.av_pix_fmt_desc_get(f->format)));
	}
}

static int
ff_frame_is_rgb(const AVFrame *f)
{
	const AVPixFmtDescriptor *d = ff.av_pix_fmt_desc_get(f->format);

	return d != NULL && (d->flags & (AV_PIX_FMT_FLAG_RGB |
	    AV_PIX_FMT_FLAG_PAL));
}

/*
 * Return ${f}, or a frame of ${p} with its pixels as RGB of 8 bits if swscale
 * ignores their depth or range: it takes white of 5 bits as 248, gray of
 * limited range as full, and YA16 of full range as limited.
 */
static const AVFrame *
ff_frame_expand(struct ff_frame *p, const AVFrame *f)
{
	const AVPixFmtDescriptor *d = ff.av_pix_fmt_desc_get(f->format);
	int full = ff_frame_is_full(f), w = f->width;
	int gray = ff_frame_is_gray(d) && d->comp[0].depth >= 8 &&
	    d->comp[0].depth <= 16 && (!full || (d->nb_components == 2 &&
	    d->comp[0].depth == 16));
	uint16_t *line;

	if (!gray && (d == NULL || !(d->flags & AV_PIX_FMT_FLAG_RGB) ||
	    d->nb_components < 3 || d->comp[2].depth >= 8))
		return f;
	image_reshape(&p->expanded, w, f->height, 3);
	line = xmalloc((size_t)w * sizeof(*line));
	for (int i = 0; i < 3 * f->height; i++) {
		int c = gray ? 0 : i % 3, depth = d->comp[c].depth;
		int black = gray && !full ? 16 << (depth - 8) : 0;
		int range = gray && !full ? 219 << (depth - 8) :
		    (1 << depth) - 1;
		uint8_t *to = p->expanded.data + (size_t)(i / 3) * 3 *
		    (size_t)w + i % 3;

		ff.av_read_image_line(line, (const uint8_t **)f->data,
		    f->linesize, d, 0, i / 3, c, w, 0);
		for (int x = 0; x < w; x++)
			to[3 * x] = av_clip_uint8(((line[x] - black) * 255 +
			    range / 2) / range);
	}
	free(line);
	if (p->view == NULL && (p->view = ff.av_frame_alloc()) == NULL)
		die(EXIT_FAILED, "out of memory");
	p->view->data[0] = p->expanded.data;
	p->view->linesize[0] = 3 * w;
	p->view->width = w;
	p->view->height = f->height;
	p->view->format = AV_PIX_FMT_RGB24;
	return p->view;
}

/* Return the color space of ${f}.  Weights are from ITU-T H.273, table 4. */
static struct plane_color
ff_frame_color_of(struct ff_frame *p, const char *path, const AVFrame *f)
{
	int full = ff_frame_is_full(f);

	if (ff_frame_is_rgb(f))		/* swscale converts RGB to JFIF's color
					 * space */
		return (struct plane_color){ 0.299, 0.114, 1 };
	switch (f->colorspace) {
	case AVCOL_SPC_BT709:
		return (struct plane_color){ 0.2126, 0.0722, full };
	case AVCOL_SPC_BT2020_NCL:
	case AVCOL_SPC_BT2020_CL:
		return (struct plane_color){ 0.2627, 0.0593, full };
	case AVCOL_SPC_SMPTE240M:
		return (struct plane_color){ 0.212, 0.087, full };
	case AVCOL_SPC_FCC:
		return (struct plane_color){ 0.30, 0.11, full };
	default:
		if (!p->warned++)
			warning("%s: color matrix %s is not known: taken as "
			    "BT.601", text_quote(path),
			    ff.av_color_space_name(f->colorspace));
		/* fallthrough */
	case AVCOL_SPC_UNSPECIFIED:
	case AVCOL_SPC_BT470BG:
	case AVCOL_SPC_SMPTE170M:
		return (struct plane_color){ 0.299, 0.114, full };
	}
}

/*
 * Make ${s} convert frames like ${f} to ${w} by ${h} pixels of ${format}.
 * Return 0, or -1 after a message.
 *
 * Between YUV formats swscale only changes size and layout, so give both ends
 * the same range and matrix.  Between two matrices it would go through RGB;
 * plane_to_jfif converts in one pass.
 */
static int
ff_frame_scaler_set(struct ff_scaler *s, const char *path, const AVFrame *f,
    int w, int h, int format)
{
	int rgb = ff_frame_is_rgb(f), full = ff_frame_is_full(f) || rgb;
	int space = rgb || f->colorspace == AVCOL_SPC_UNSPECIFIED ?
	    SWS_CS_ITU601 : (int)f->colorspace;
	int shrinks = w <= f->width && h <= f->height;
	int flags = shrinks ? SWS_AREA : SWS_BICUBIC;
	const int *from, *to;

	if (s->sws != NULL && s->w == f->width && s->h == f->height &&
	    s->format == f->format && s->to_w == w && s->to_h == h &&
	    s->to_format == format && s->space == space && s->full == full)
		return 0;
	if (!ff.sws_isSupportedInput(f->format))
		return fail("%s: no conversion from pixels of %s",
		    text_quote(path), ff.av_get_pix_fmt_name(f->format));
	/* Otherwise it ignores the range of BGR24 at its own size. */
	if (f->format == AV_PIX_FMT_BGR24)
		flags |= SWS_ACCURATE_RND;
	if (format == AV_PIX_FMT_RGB24)
		flags |= SWS_FULL_CHR_H_INT | SWS_ACCURATE_RND;
	ff.sws_freeContext(s->sws);
	s->sws = ff.sws_getContext(f->width, f->height, f->format, w, h, format,
	    flags, NULL, NULL, NULL);
	if (s->sws == NULL)
		return fail("%s: cannot scale %dx%d pixels of %s to %dx%d",
		    text_quote(path), f->width, f->height,
		    ff.av_get_pix_fmt_name(f->format), w, h);
	from = ff.sws_getCoefficients(space);
	to = rgb || format == AV_PIX_FMT_RGB24 ?
	    ff.sws_getCoefficients(SWS_CS_ITU601) : from;
	/* -1: the setting does not apply to these two formats */
	(void)ff.sws_setColorspaceDetails(s->sws, from, full, to,
	    format == AV_PIX_FMT_RGB24 ? 1 : full, 0, 1 << 16, 1 << 16);
	*s = (struct ff_scaler){ s->sws, f->width, f->height, f->format, w, h,
	    format, space, full };
	return 0;
}

static int
ff_frame_is_turned(struct plane_turn t)
{
	return t.swap || t.mirror || t.flip;
}

static int
ff_frame_is_420(const AVFrame *f)
{
	return f->format == AV_PIX_FMT_YUV420P ||
	    f->format == AV_PIX_FMT_YUVJ420P;
}

/*
 * Scale first, so that the other steps process few pixels.  If no step is
 * needed, return the decoder's own planes.
 */
const struct planes *
frame_planes(struct ff_frame *p, const char *path, const AVFrame *f,
    struct plane_turn turn, int w, int h)
{
	int stored_w = turn.swap ? h : w, stored_h = turn.swap ? w : h;
	struct plane_color color;
	struct planes *now = &p->frame, *next;

	f = ff_frame_expand(p, f);
	color = ff_frame_color_of(p, path, f);
	p->frame = (struct planes){ f->width, f->height,
	    { f->data[0], f->data[1], f->data[2] },
	    { f->linesize[0], f->linesize[1], f->linesize[2] } };
	if (f->width != stored_w || f->height != stored_h ||
	    !ff_frame_is_420(f)) {
		if (ff_frame_scaler_set(&p->planes, path, f, stored_w, stored_h,
		    AV_PIX_FMT_YUV420P) != 0)
			return NULL;
		now = plane_buffer_resize(&p->scaled, stored_w, stored_h);
		if (ff.sws_scale(p->planes.sws, (const uint8_t *const *)f->data,
		    f->linesize, 0, f->height, now->plane, now->stride) < 0)
			return fail_null("%s: cannot scale", text_quote(path));
	}
	if (!plane_is_jfif(color)) {
		/* Do not change the decoder's frame: it is a reference of later
		 * ones. */
		next = now != &p->frame ? now :
		    plane_buffer_resize(&p->scaled, stored_w, stored_h);
		plane_to_jfif(next, now, color);
		now = next;
	}
	if (ff_frame_is_turned(turn)) {
		next = plane_buffer_resize(&p->turned, w, h);
		plane_turn(next, now, turn);
		now = next;
	}
	return now;
}

const struct image *
frame_rgb(struct ff_frame *p, const char *path, const AVFrame *f,
    struct plane_turn turn, int w, int h)
{
	int stored_w = turn.swap ? h : w, stored_h = turn.swap ? w : h;
	uint8_t *to[4] = { NULL };
	int stride[4] = { 3 * stored_w };

	f = ff_frame_expand(p, f);
	(void)ff_frame_color_of(p, path, f);	/* may print a warning */
	if (ff_frame_scaler_set(&p->rgb, path, f, stored_w, stored_h,
	    AV_PIX_FMT_RGB24) != 0)
		return NULL;
	image_reshape(&p->pixels, stored_w, stored_h, 3);
	to[0] = p->pixels.data;
	if (ff.sws_scale(p->rgb.sws, (const uint8_t *const *)f->data,
	    f->linesize, 0, f->height, to, stride) < 0)
		return fail_null("%s: cannot scale", text_quote(path));
	if (!ff_frame_is_turned(turn))
		return &p->pixels;
	image_reshape(&p->upright, w, h, 3);
	plane_turn_bytes(p->upright.data, 3 * w, w, h, p->pixels.data,
	    3 * stored_w, 3, turn);
	return &p->upright;
}

void
frame_free(struct ff_frame *p)
{
	ff.sws_freeContext(p->planes.sws);
	ff.sws_freeContext(p->rgb.sws);
	plane_buffer_free(&p->scaled);
	plane_buffer_free(&p->turned);
	ff.av_frame_free(&p->view);
	free(p->expanded.data);
	free(p->pixels.data);
	free(p->upright.data);
}

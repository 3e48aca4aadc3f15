/*
 * Detect frames with missing data in raw HEVC.  FFmpeg's decoder reads beyond
 * the end of a slice that was cut.  Where a slice is missing, it keeps the
 * previous contents of its buffer.  Both happen without a message, and nothing
 * else in raw HEVC shows them.
 *
 * So decode the stream twice, the second time with other bytes after each slice
 * and in each buffer.  Frames of a complete stream depend on neither: the
 * arithmetic decoder of a slice reads no bit beyond its last one (ITU-T H.265,
 * 9.3.2.5 and 9.3.4.3.5).
 */
#include <string.h>

#include <libavutil/imgutils.h>

#include "media/ffmpeg/ff.h"

#define POISON 0x6b		/* initial contents of the buffers */

/* Bytes appended to each slice.  They contain no start code, and need no
 * emulation prevention. */
static const uint8_t tail[8] = { 0xb7, 0x1d, 0xe3, 0x5a, 0x96, 0x4b, 0xc9,
	0x2d };

/* As avcodec_default_get_buffer2, but fill the buffers with POISON. */
static int
shadow_buffer(AVCodecContext *c, AVFrame *f, int flags)
{
	int r = avcodec_default_get_buffer2(c, f, flags);

	for (int i = 0; r == 0 && i < AV_NUM_DATA_POINTERS &&
	    f->buf[i] != NULL; i++)
		memset(f->buf[i]->data, POISON, f->buf[i]->size);
	return r;
}

int
shadow_begin(struct ff_shadow *s, const AVFormatContext *f,
    const AVCodecContext *decoder, AVDictionary **options)
{
	AVCodecParameters *p;
	int r;

	if (strcmp(f->iformat->name, "hevc") != 0)
		return 0;
	s->decoder = avcodec_alloc_context3(decoder->codec);
	s->packet = av_packet_alloc();
	s->frame = av_frame_alloc();
	p = avcodec_parameters_alloc();
	r = s->decoder == NULL || s->packet == NULL || s->frame == NULL ||
	    p == NULL || avcodec_parameters_from_context(p, decoder) < 0 ||
	    avcodec_parameters_to_context(s->decoder, p) < 0;
	avcodec_parameters_free(&p);
	if (r != 0)
		return -1;
	s->decoder->pkt_timebase = decoder->pkt_timebase;
	s->decoder->err_recognition = decoder->err_recognition;
	s->decoder->get_buffer2 = shadow_buffer;
	return avcodec_open2(s->decoder, decoder->codec, options) < 0 ? -1 : 0;
}

/* Return the offset of the first start code in ${data} at or after ${at}, or
 * ${n} if there is none. */
static size_t
shadow_next_start(const uint8_t *data, size_t n, size_t at)
{
	for (; at + 3 <= n; at++)
		if (data[at] == 0 && data[at + 1] == 0 && data[at + 2] == 1)
			return at;
	return n;
}

/*
 * Copy ${in} to ${out}, with the tail after each slice (NAL unit types below
 * 32, 7.4.2.2).  Return the size of the copy.  If ${out} is NULL, only return
 * the size.
 */
static size_t
shadow_add_tails(uint8_t *out, const uint8_t *in, size_t n)
{
	size_t total = 0, at = shadow_next_start(in, n, 0);

	if (out != NULL)
		memcpy(out, in, at);
	total += at;
	while (at < n) {
		size_t next = shadow_next_start(in, n, at + 3), end = next;
		int slice = at + 3 < n && (in[at + 3] >> 1 & 63) < 32;

		while (next < n && end > at + 3 && in[end - 1] == 0)
			end--;
		if (out != NULL)
			memcpy(out + total, in + at, end - at);
		total += end - at;
		if (slice && out != NULL)
			memcpy(out + total, tail, sizeof(tail));
		total += slice ? sizeof(tail) : 0;
		if (out != NULL)
			memcpy(out + total, in + end, next - end);
		total += next - end;
		at = next;
	}
	return total;
}

int
shadow_packet(struct ff_shadow *s, const AVPacket *p)
{
	size_t n;

	if (s->decoder == NULL)
		return 0;
	if (p == NULL) {
		(void)avcodec_send_packet(s->decoder, NULL);
		return 0;
	}
	n = shadow_add_tails(NULL, p->data, (size_t)p->size);
	if (n > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE ||
	    av_new_packet(s->packet, (int)n) != 0)
		return -1;
	if (av_packet_copy_props(s->packet, p) < 0)
		return -1;
	shadow_add_tails(s->packet->data, p->data, (size_t)p->size);
	(void)avcodec_send_packet(s->decoder, s->packet);
	av_packet_unref(s->packet);
	return 0;
}

static int
shadow_is_equal(const AVFrame *a, const AVFrame *b)
{
	const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(a->format);

	if (a->format != b->format || a->width != b->width ||
	    a->height != b->height || d == NULL)
		return 0;
	for (int i = 0; i < av_pix_fmt_count_planes(a->format); i++) {
		int n = av_image_get_linesize(a->format, a->width, i);
		int shift = i == 1 || i == 2 ? d->log2_chroma_h : 0;
		int rows = -(-a->height >> shift);

		for (int y = 0; y < rows; y++)
			if (memcmp(a->data[i] + (ptrdiff_t)y * a->linesize[i],
			    b->data[i] + (ptrdiff_t)y * b->linesize[i],
			    (size_t)n) != 0)
				return 0;
	}
	return 1;
}

int
shadow_differs(struct ff_shadow *s, const AVFrame *f)
{
	int before = s->differs;

	if (s->decoder == NULL)
		return 0;
	s->differs = avcodec_receive_frame(s->decoder, s->frame) != 0 ||
	    !shadow_is_equal(f, s->frame);
	av_frame_unref(s->frame);
	return s->differs && !before;
}

void
shadow_free(struct ff_shadow *s)
{
	avcodec_free_context(&s->decoder);
	av_packet_free(&s->packet);
	av_frame_free(&s->frame);
}

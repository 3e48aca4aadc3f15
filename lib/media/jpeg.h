#ifndef MEDIA_JPEG_H
#define MEDIA_JPEG_H

/* JPEG through libjpeg-turbo, from planes and to pixels. */

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/mem.h"
#include "media/image.h"

/* jpeg_library(): "libjpeg-turbo 2.1.5", as this was compiled with. */
const char *jpeg_library(void);

/*
 * A decoder and an encoder keep their state between frames; each belongs to
 * one thread at a time.
 */
struct jpeg_decoder;
struct jpeg_encoder;

struct jpeg_decoder *jpeg_decoder_new(void);
void jpeg_decoder_free(struct jpeg_decoder *d);

/* jpeg_decoder_reserve(d, w, h): have room for pictures up to ${w} x ${h}. */
void jpeg_decoder_reserve(struct jpeg_decoder *d, int w, int h);

/* jpeg_size(d, data, n, w, h): the size in the header; -1 after a message. */
int jpeg_size(struct jpeg_decoder *d, const void *data, size_t n, int *w,
    int *h, struct error *why);

/*
 * jpeg_decode(d, data, n, part, want_w, want_h, out, out_part, why):
 * Decode as RGB at least the region ${part} of the image, at the smallest
 * scale of 1, 1/2, 1/4 and 1/8 that leaves ${part} no smaller than ${want_w} x
 * ${want_h}.  ${out} points into the decoder, valid until its next call, and
 * shows a little more than ${part}, which lies at ${out_part} in it: enough for
 * image_resize to give the same bits as from the whole image at that scale.
 * A truncated file, or a decoder warning, is an error: -1 after a message
 * (error_set) without the file's name, which the caller adds.
 */
int jpeg_decode(struct jpeg_decoder *d, const void *data, size_t n,
    struct region part, int want_w, int want_h, struct image *out,
    struct region *out_part, struct error *why);

struct jpeg_encoder *jpeg_encoder_new(int quality);
void jpeg_encoder_free(struct jpeg_encoder *e);

/*
 * jpeg_encode_planes(e, plane, stride, w, h, out):
 * Append a 4:2:0 JPEG of planar full-range YCbCr (BT.601, as JFIF says) to
 * ${out}; chroma planes are (w + 1) / 2 by (h + 1) / 2.
 */
int jpeg_encode_planes(struct jpeg_encoder *e, const uint8_t *const plane[3],
    const int stride[3], int w, int h, struct buffer *out);

#endif

#ifndef MEDIA_JPEG_H
#define MEDIA_JPEG_H

/* Encode planes as JPEG, and decode JPEG to pixels, through libjpeg-turbo. */

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/mem.h"
#include "media/image.h"

/*
 * jpeg_library():
 * Return the version compiled in, such as "libjpeg-turbo 2.1.5".
 */
const char *jpeg_library(void);

/*
 * A decoder and an encoder keep buffers between pictures.  Each belongs to one
 * thread at a time.
 */
struct jpeg_decoder;
struct jpeg_encoder;

/*
 * jpeg_decoder_new():
 * Return a decoder.  The caller frees it with jpeg_decoder_free.  The program
 * ends if libjpeg cannot start.  jpeg_decoder_free(NULL) does nothing.
 */
struct jpeg_decoder *jpeg_decoder_new(void);
void jpeg_decoder_free(struct jpeg_decoder *d);

/*
 * jpeg_decoder_reserve(d, w, h):
 * Allocate for decoded regions up to ${w} x ${h} pixels.
 */
void jpeg_decoder_reserve(struct jpeg_decoder *d, int w, int h);

/*
 * jpeg_size(d, data, n, w, h, why):
 * Set ${*w} and ${*h} to the size in the header of the JPEG ${data}, ${n}
 * bytes.  Return 0, or -1 after a message (error_set) without a file name.
 */
int jpeg_size(struct jpeg_decoder *d, const void *data, size_t n, int *w,
    int *h, struct error *why);

/*
 * Pixels to decode: at least the region ${r}, in pixels of the whole image, at
 * the smallest scale of 1, 1/2, 1/4 and 1/8 at which it has at least ${want_w}
 * x ${want_h} pixels.  ${gray} 1: one channel, the brightness; 0: RGB.
 */
struct jpeg_part { struct region r; int want_w, want_h, gray; };

/*
 * jpeg_decode_scale(p):
 * Return the scale of jpeg_decode in eighths.
 *
 * jpeg_decode(d, data, n, p, out, at, why):
 * Decode the part ${p}.  ${data} NULL: the image whose header jpeg_size has
 * read in the call before, from bytes that are unchanged.  ${out} points into
 * ${d} and is valid until its next call; the region lies at ${*at} in it.  The
 * margin around it lets image_resize give the same bits as from the whole image
 * at that scale.  A truncated file or a decoder warning is an error.  Return 0,
 * or -1 after a message (error_set) without the file name, which the caller
 * adds.
 */
unsigned jpeg_decode_scale(const struct jpeg_part *p);
int jpeg_decode(struct jpeg_decoder *d, const void *data, size_t n,
    const struct jpeg_part *p, struct image *out, struct region *at,
    struct error *why);

/*
 * jpeg_encoder_new(quality):
 * Return an encoder of ${quality} 1 to 100 on libjpeg's scale.  The caller
 * frees it with jpeg_encoder_free.  The program ends if libjpeg cannot start.
 * jpeg_encoder_free(NULL) does nothing.
 */
struct jpeg_encoder *jpeg_encoder_new(int quality);
void jpeg_encoder_free(struct jpeg_encoder *e);

/*
 * jpeg_encoder_gray(quality):
 * Return an encoder for jpeg_encode_gray, as jpeg_encoder_new does for
 * jpeg_encode_planes.
 */
struct jpeg_encoder *jpeg_encoder_gray(int quality);

/*
 * jpeg_encode_planes(e, plane, stride, w, h, out):
 * Append a 4:2:0 JPEG to ${out}.  The planes are Y, Cb and Cr in full range,
 * BT.601 as in JFIF.  Y has ${w} by ${h} samples; Cb and Cr have (w + 1) / 2 by
 * (h + 1) / 2.  ${stride} is in bytes.  Return 0, or -1 after a message without
 * a file name; ${out} is then unchanged.
 */
int jpeg_encode_planes(struct jpeg_encoder *e, const uint8_t *const plane[3],
    const int stride[3], int w, int h, struct buffer *out);

/*
 * jpeg_encode_gray(e, pixels, w, h, out):
 * Append ${pixels}, [${h}][${w}], to ${out} as a JPEG of one component.  Return
 * 0, or -1 after a message without a file name; ${out} is then unchanged.
 */
int jpeg_encode_gray(struct jpeg_encoder *e, const uint8_t *pixels, int w,
    int h, struct buffer *out);

#endif

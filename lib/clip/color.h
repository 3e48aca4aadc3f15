#ifndef CLIP_COLOR_H
#define CLIP_COLOR_H

/*
 * Change the colors and the shape of a picture of bytes [side][side][3], as
 * torchvision's transforms do.  All but hue and shape round a result to the
 * nearest byte, halves up; torchvision truncates.  All arithmetic on pixels is
 * in integers, so every machine gives the same bytes.
 */

#include <stdint.h>

enum color_op {
	RAND_IDENTITY, RAND_SHEAR_X, RAND_SHEAR_Y, RAND_TRANSLATE_X,
	RAND_TRANSLATE_Y, RAND_ROTATE, RAND_BRIGHTNESS, RAND_COLOR,
	RAND_CONTRAST, RAND_SHARPNESS, RAND_POSTERIZE, RAND_SOLARIZE,
	RAND_AUTOCONTRAST, RAND_EQUALIZE,
	RAND_OPS,			/* number of operators of RandAugment */
	COLOR_HUE = RAND_OPS
};

/*
 * color_apply(op, v, side, picture, buffer):
 * Apply ${op} to ${picture} in place.  ${buffer} is a buffer of the same size.
 * ${v} depends on ${op}:
 *
 * - SHEAR_X, SHEAR_Y: pixels that each row moves relative to the row above it;
 *   the same for columns.
 * - TRANSLATE_X, TRANSLATE_Y: pixels, truncated to an integer.
 * - ROTATE: degrees, about the center.
 * - BRIGHTNESS, COLOR, CONTRAST, SHARPNESS: a factor f, at least 0.  The result
 *   is f times the picture and 1 - f times black, its grayscale, the mean of
 *   its grayscale, or a smoothed copy.
 * - POSTERIZE: number of bits to keep.
 * - SOLARIZE: threshold from which values are inverted.
 * - AUTOCONTRAST: unused.  Each channel is stretched to 0 to 255.
 * - EQUALIZE: unused.  The histogram of each channel is flattened.
 * - HUE: rotation of the hue, from -0.5 to 0.5.
 *
 * Shears, translations and rotations take the nearest source pixel, or black if
 * it is outside.
 */
void color_apply(enum color_op op, double v, int side, uint8_t *picture,
    uint8_t *buffer);

#endif

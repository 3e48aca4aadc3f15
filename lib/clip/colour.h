#ifndef CLIP_COLOUR_H
#define CLIP_COLOUR_H

/*
 * Changes of a picture's colours and shape, on bytes [side][side][3], as
 * torchvision's transforms have them; but for hue and shape, a result is
 * rounded to the nearest byte, halves up, where torchvision drops the fraction.
 * Integers throughout, so that every machine gives the same bytes.
 */

#include <stdint.h>

enum colour_op {
	RAND_IDENTITY, RAND_SHEAR_X, RAND_SHEAR_Y, RAND_TRANSLATE_X,
	RAND_TRANSLATE_Y, RAND_ROTATE, RAND_BRIGHTNESS, RAND_COLOR,
	RAND_CONTRAST, RAND_SHARPNESS, RAND_POSTERIZE, RAND_SOLARIZE,
	RAND_AUTOCONTRAST, RAND_EQUALIZE,
	RAND_OPS,			/* those of RandAugment */
	COLOUR_HUE = RAND_OPS
};

/*
 * colour_apply(op, v, side, picture, room): by ${v}, which is
 * SHEAR_X, _Y: columns by which a row moves for each row below the first, and so
 * for columns; TRANSLATE_X, _Y: pixels, whole ones count; ROTATE: degrees, about
 * the centre.  Of these a pixel is the one nearest to where it comes from, black
 * where that is outside.
 * BRIGHTNESS, COLOR, CONTRAST, SHARPNESS: a factor, from 0; f times the picture
 * and 1 - f times black, its grey, the mean of its grey, or its mean with what
 * is around each pixel.
 * POSTERIZE: bits that are kept; SOLARIZE: values from it on are inverted.
 * AUTOCONTRAST: each channel is spread over 0 to 255; EQUALIZE: so that its
 * values are as frequent as may be.  No ${v}.
 * HUE: a turn, from -0.5 to 0.5.
 * ${room} has the picture's bytes.
 */
void colour_apply(enum colour_op op, double v, int side, uint8_t *picture,
    uint8_t *room);

#endif

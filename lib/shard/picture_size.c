/* Headers of JPEG and PNG.  Packing decodes nothing, so vt-pack needs no image
 * library. */
#include <stdint.h>
#include <string.h>

#include "shard/picture_size.h"

static unsigned
picture_be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* Read the frame header of a JPEG, which begins with its length. */
static const char *
picture_jpeg_frame(unsigned marker, const uint8_t *p, size_t n, int *w, int *h)
{
	if (n < 8)
		return "its JPEG header is truncated";
	/* SOF0 to SOF2; the others are lossless, hierarchical or
	 * arithmetic-coded. */
	if (marker > 0xc2)
		return "neither a baseline nor a progressive JPEG";
	if (p[2] != 8)
		return "not 8 bits per channel";
	if (p[7] != 1 && p[7] != 3)
		return "neither gray nor color (wanted 1 or 3 channels)";
	*h = (int)picture_be16(p + 3);
	*w = (int)picture_be16(p + 5);
	return *w > 0 && *h > 0 ? NULL : "its header has no size";
}

static const char *
picture_jpeg(const uint8_t *p, size_t n, int *w, int *h)
{
	size_t at = 2;

	if (n < 4 || p[0] != 0xff || p[1] != 0xd8)
		return "not a JPEG";
	while (n - at >= 4 && p[at] == 0xff) {
		unsigned marker = p[at + 1];

		if (marker == 0xff) {			/* a fill byte */
			at++;
			continue;
		}
		if (marker == 0xda || marker == 0xd9)	/* pixels, or the end */
			return "its JPEG header has no size";
		if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 &&
		    marker != 0xc8 && marker != 0xcc)
			return picture_jpeg_frame(marker, p + at + 2,
			    n - at - 2, w, h);
		if (picture_be16(p + at + 2) > n - at - 2)
			break;
		at += 2 + picture_be16(p + at + 2);
	}
	return "its JPEG header is truncated";
}

static const char *
picture_png(const uint8_t *p, size_t n, int *w, int *h)
{
	if (n < 8 || memcmp(p, "\x89PNG\r\n\x1a\n", 8) != 0)
		return "not a PNG";
	if (n < 24 || memcmp(p + 12, "IHDR", 4) != 0)
		return "its PNG header is truncated";
	if (p[16] != 0 || p[20] != 0)
		return "more than 65535 pixels wide or high";
	*w = (int)(picture_be16(p + 16) << 16 | picture_be16(p + 18));
	*h = (int)(picture_be16(p + 20) << 16 | picture_be16(p + 22));
	if (*w > 65535 || *h > 65535)
		return "more than 65535 pixels wide or high";
	return *w > 0 && *h > 0 ? NULL : "its header has no size";
}

const char *
picture_size(const char *ext, const void *data, size_t n, int *w, int *h)
{
	return strcmp(ext, "png") == 0 ? picture_png(data, n, w, h) :
	    picture_jpeg(data, n, w, h);
}

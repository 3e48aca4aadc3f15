/*
 * GIF89a, 15 to 27: blocks up to a trailer.  The codes of an image, in blocks
 * of up to 255 bytes, must yield its number of pixels and then end (appendix
 * F).  Lost or foreign codes do not.
 */
#include "media/container/reader.h"

#define CODES 4096		/* codes have at most 12 bits */

/* Return the bytes of the color table that the flags ${f} announce. */
static int
gif_colors(int f)
{
	return f >= 0 && f & 0x80 ? 3 << ((f & 7) + 1) : 0;
}

/* A reader of an image's codes, across its blocks. */
struct gif_codes {
	int64_t at;			/* offset of the next byte */
	int left;			/* bytes left in the block */
	uint32_t bits;
	int n;				/* number of valid bits in ${bits} */
};

/* Return the next code of ${width} bits, or -1 at the end of the blocks. */
static int
gif_next_code(struct container_reader *r, struct gif_codes *c, int width)
{
	int code;

	while (c->n < width) {
		if (c->left == 0) {
			c->left = reader_byte(r, c->at);
			if (c->left <= 0) {
				c->left = 0;
				return -1;
			}
			c->at++;
		}
		c->bits |= (uint32_t)reader_byte(r, c->at++) << c->n;
		c->n += 8;
		c->left--;
	}
	code = (int)(c->bits & ((1u << width) - 1));
	c->bits >>= width;
	c->n -= width;
	return code;
}

/*
 * Return the number of pixels of the codes that begin at ${at}, up to the end
 * code, or -1 if a code is invalid there.  Codes stand for strings (LZW); only
 * the lengths of the strings are tracked.
 */
static int64_t
gif_count_pixels(struct container_reader *r, int64_t at, int size)
{
	int64_t length[CODES], pixels = 0;
	const int clear = 1 << size, end = clear + 1;
	struct gif_codes c = { .at = at };
	int code, width = size + 1, next = end + 1, last = -1;

	for (int i = 0; i < clear; i++)
		length[i] = 1;
	while ((code = gif_next_code(r, &c, width)) >= 0 && code != end) {
		if (code == clear) {
			width = size + 1;
			next = end + 1;
			last = -1;
			continue;
		}
		if (code > next || (code == next && (last < 0 ||
		    next == CODES)))
			return -1;
		if (last >= 0 && next < CODES) {
			length[next] = length[last] + 1;
			if (++next == 1 << width && width < 12)
				width++;
		}
		pixels += length[code];
		last = code;
	}
	return pixels;
}

/* Return the offset after the sub-blocks at ${at}. */
static int64_t
gif_skip_blocks(struct container_reader *r, int64_t at)
{
	int n;

	while ((n = reader_byte(r, at)) > 0)
		at += n + 1;
	return at + 1;
}

/*
 * Return 1 if the image at ${at}, whose blocks begin at ${data}, does not have
 * its declared number of pixels.
 */
static int
gif_is_damaged(struct container_reader *r, int64_t at, int64_t data)
{
	int64_t w = (int64_t)reader_little(r, at + 5, 2);
	int64_t h = (int64_t)reader_little(r, at + 7, 2);
	int size = reader_byte(r, data - 1);

	return size < 1 || size > 8 || gif_count_pixels(r, data, size) != w * h;
}

enum container_state
gif_check(struct container_reader *r)
{
	int64_t at = 13 + gif_colors(reader_byte(r, 10)), start, data;

	for (;;) {
		start = at;
		switch (reader_byte(r, at)) {
		case 0x3b:		/* trailer */
			return CONTAINER_WHOLE;
		case 0x21:		/* extension: label */
			at = gif_skip_blocks(r, at + 2);
			break;
		case 0x2c:		/* image: position, colors, code size */
			data = at + 11 + gif_colors(reader_byte(r, at + 9));
			at = gif_skip_blocks(r, data);
			if (at == data + 1 && at <= r->size)
				return reader_broken(r, start, "an image "
				    "without pixels");
			if (gif_is_damaged(r, start, data))
				return reader_broken(r, start, "the pixels of "
				    "an image do not match its size");
			break;
		case 'G':		/* header of a GIF file appended to the
					 * first */
			if (reader_big(r, at, 4) != 0x47494638 || at + 13 >
			    r->size)
				return reader_broken(r, at, "no block begins "
				    "here");
			at += 13 + gif_colors(reader_byte(r, at + 10));
			break;
		case 0:			/* some writers pad with one zero */
			if (reader_byte(r, at + 1) != 0) {
				at++;
				break;
			}
			/* fall through */
		default:
			return at >= r->size ? reader_cut(r, at) :
			    reader_broken(r, at, "no block begins here");
		}
		if (at > r->size)
			return reader_cut(r, start);
	}
}

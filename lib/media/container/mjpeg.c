/* Raw MJPEG: concatenated JPEG pictures, ITU-T T.81, B. */
#include "media/container/reader.h"

enum { SOF = 0xffc0, SOI = 0xffd8, EOI = 0xffd9, SOS = 0xffda,
	FILL = 0xffff };

/* Return 1 if ${marker} begins a frame header.  Each picture has one. */
static int
mjpeg_is_size(int marker)
{
	return marker >= SOF && marker <= 0xffcf && marker != 0xffc4 &&
	    marker != 0xffc8 && marker != 0xffcc;
}

/*
 * Return the offset of the first marker, other than a restart, after the coded
 * data at ${at}.
 */
static int64_t
mjpeg_skip_coded(struct container_reader *r, int64_t at)
{
	for (; at < r->size; at++) {
		int next;

		if (reader_byte(r, at) != 0xff)
			continue;
		next = reader_byte(r, at + 1);
		if (next > 0 && next != 0xff && !(next >= 0xd0 && next <= 0xd7))
			break;
	}
	return at;
}

struct mjpeg_cursor {
	int64_t at, start;	/* position; start of the current picture */
	int inside, sized;	/* inside a picture; its frame header was
				 * read */
	uint64_t frame;		/* height and width from the frame header */
	int pictures;		/* pictures that have begun */
};

/* Advance past the marker at ${c->at}. */
static enum container_state
mjpeg_step(struct container_reader *r, struct mjpeg_cursor *c)
{
	int marker = (int)reader_big(r, c->at, 2);

	if (c->at + 2 > r->size)
		return reader_cut(r, c->at);
	if (marker == SOI && !c->inside) {
		c->start = c->at;
		c->inside = 1;
		c->sized = 0;
		c->pictures++;
		c->at += 2;
	} else if (marker == EOI && c->inside) {
		c->inside = 0;
		c->at += 2;
	} else if (marker == FILL && c->inside) {
		c->at++;
	} else if (c->inside && marker >= SOF && marker != SOI) {
		if (mjpeg_is_size(marker)) {
			if (c->sized++)
				return reader_broken(r, c->at,
				    "a second frame header");
			c->frame = reader_big(r, c->at + 5, 4);
		}
		c->at += 2 + (int64_t)reader_big(r, c->at + 2, 2);
		if (c->at > r->size)
			return reader_cut(r, c->start);
		if (marker == SOS)
			c->at = mjpeg_skip_coded(r, c->at);
	} else {
		return reader_broken(r, c->at, "no %s begins here",
		    c->inside ? "part of a frame" : "frame");
	}
	return CONTAINER_WHOLE;
}

enum container_state
mjpeg_check(struct container_reader *r)
{
	struct mjpeg_cursor c = { 0 };
	enum container_state state;

	while (c.at < r->size)
		if ((state = mjpeg_step(r, &c)) != CONTAINER_WHOLE)
			return state;
	return c.inside ? reader_cut(r, c.start) : CONTAINER_WHOLE;
}

int
container_jpegs(int fd, int64_t size)
{
	struct container_report report;
	struct container_reader r = { .fd = fd, .size = size,
		.report = &report };
	struct mjpeg_cursor c = { 0 };

	uint64_t first;

	while (c.at < size && mjpeg_step(&r, &c) == CONTAINER_WHOLE && c.inside)
		;
	if (c.pictures == 0 || c.at >= size)
		return c.pictures;
	/* Cameras append a preview or a depth map to a photo. */
	first = c.frame;
	while (c.at < size && c.pictures < 3 && !(c.pictures == 2 && c.sized) &&
	    mjpeg_step(&r, &c) == CONTAINER_WHOLE)
		;
	return c.pictures == 2 && c.sized && c.frame != first ? 1 : 2;
}

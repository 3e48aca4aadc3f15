#ifndef TESTS_STREAM_MAKE_H
#define TESTS_STREAM_MAKE_H

/*
 * Make streams for tests.  Each is a function of its numbers: samples
 * c<i%3>/clip_<i> with label i%3 and frames of random bytes.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "media/png.h"
#include "shard/stream.h"

#include "jpeg_rgb.h"

struct make {
	int first, samples;	/* number of the first; how many */
	int frames;		/* per sample: N to 2 N - 1 */
	int bytes;		/* per frame: N to 2 N - 1 */
	int labels;		/* number of classes; 0: no labels */
	int head;		/* write __vt__/.head */
	const char *pictures;	/* "jpg" or "png": encode pictures; NULL:
				 * random bytes */
	uint64_t seed;
};

/*
 * Write a frame of 64x48 pixels, encoded as ${ext}.  Return 0, or another value
 * on failure.
 */
static int
make_picture(struct stream_writer *w, const char *ext, int seed)
{
	struct image *m = image_new(64, 48, 3);
	struct buffer b = { 0 };
	int bad = 0;

	for (int i = 0; i < 64 * 48 * 3; i++)
		m->data[i] = (uint8_t)(i * seed >> 4);
	if (strcmp(ext, "png") == 0)
		bad = png_encode(m, &b);
	else
		jpeg_encode_rgb(90, m, &b);
	bad |= stream_frame(w, b.data, b.n);
	buffer_free(&b);
	image_free(m);
	return bad;
}

/*
 * Write the stream that ${m} describes to ${fd}.  Return 0, or -1 after a
 * message.
 */
__attribute__((unused)) static int
make_stream(int fd, const struct make *m)
{
	static char names[][3] = { "c0", "c1", "c2", "c3", "c4" };
	char *name[] = { names[0], names[1], names[2], names[3], names[4] };
	const struct class_list classes = { name, (size_t)m->labels, 5 };
	struct stream_writer *w = stream_open(fd, "the stream", "test 1");
	unsigned char *data = xmalloc(2 * (size_t)m->bytes + 16);
	int bad = m->head ? stream_head(w, &classes, 0, "{\"quality\":90}") :
	    0;

	for (int i = m->first; i < m->first + m->samples && !bad; i++) {
		struct rng r = rng_clip(m->seed, (uint64_t)i);
		int frames = m->frames + (int)rng_below(&r, (uint32_t)m->frames);
		char key[64], source[80];
		struct stream_list streams = { 1, { { "rgb", "" } } };
		struct sample s = { .key = key, .streams = &streams,
			.label = m->labels ? i % m->labels : -1, .width = 64,
			.frames = frames, .height = 48,
			.fps = { 30000, 1001 }, .status = "ok", .source = source,
			.source_bytes = (uint64_t)i, .source_hash =
			(uint64_t)i * 0x9e3779b97f4a7c15 };

		sprintf(key, "c%d/clip_%d", m->labels ? i % m->labels : 0, i);
		strcpy(streams.kind[0].ext, m->pictures ? m->pictures : "jpg");
		sprintf(source, "videos/%s.mp4", key);
		bad |= stream_begin(w, &s);
		for (int f = 0; f < frames && m->pictures != NULL; f++)
			bad |= make_picture(w, m->pictures, i + f);
		for (int f = 0; f < frames && m->pictures == NULL; f++) {
			size_t n = (size_t)m->bytes + rng_below(&r,
			    (uint32_t)m->bytes);

			for (size_t k = 0; k < n; k += 16) {
				struct rng_block b = rng_philox(m->seed,
				    (uint32_t)i, (uint32_t)f, (uint32_t)k, 99);

				memcpy(data + k, b.w, 16);
			}
			bad |= stream_frame(w, data, n);
		}
		bad |= stream_commit(w);
	}
	free(data);
	if (bad) {
		stream_drop(w);
		return -1;
	}
	return stream_end(w, "ok");
}

#endif

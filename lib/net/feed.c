/* Synthetic microbatches for measurements and comparisons. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "net/feed.h"

#define SEED 1

static uint8_t *
feed_draw_pixels(size_t n)
{
	/* The last block of 16 random bytes may exceed ${n}. */
	uint8_t *p = xmalloc(n + 16);

	for (size_t i = 0; i < n; i += 16) {
		struct rng_block b = rng_philox(SEED, (uint32_t)(i / 16), 0, 0,
		    RNG_CLIP);

		memcpy(p + i, b.w, 16);
	}
	return p;
}

void
feed_make(struct feed *f, const struct dims *input,
    const struct input_spec *needs)
{
	int n = input->n;
	struct stream *stream = xcalloc((size_t)needs->streams,
	    sizeof(*stream));
	struct target *target = xcalloc((size_t)needs->targets,
	    sizeof(*target));
	uint64_t *clip = xcalloc((size_t)n, sizeof(*clip));

	for (int i = 0; i < needs->streams; i++) {
		const struct dims *d = &input[i];

		stream[i] = (struct stream){ d->t, d->h, d->w, d->c,
			feed_draw_pixels(dims_count(d)) };
	}
	for (int i = 0; i < needs->targets; i++) {
		target[i] = (struct target){ .classes =
			needs->target[i].classes, .label = xcalloc((size_t)n,
			sizeof(int)) };
		for (int k = 0; k < n; k++)
			target[i].label[k] = k % target[i].classes;
	}
	for (int i = 0; i < n; i++)
		clip[i] = (uint64_t)i;
	*f = (struct feed){ stream, target, clip, SEED, NULL, 0 };
}

void
feed_free(struct feed *f, const struct input_spec *needs)
{
	for (int i = 0; i < needs->streams && f->stream != NULL; i++)
		free(f->stream[i].bytes);
	for (int i = 0; i < needs->targets && f->target != NULL; i++)
		free(f->target[i].label);
	free((void *)f->stream);
	free((void *)f->target);
	free((void *)f->clip);
	*f = (struct feed){ 0 };
}

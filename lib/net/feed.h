#ifndef NET_FEED_H
#define NET_FEED_H

/* Synthetic microbatches for measurements and comparisons. */

#include "backend/backend.h"

/*
 * feed_make(f, input, needs):
 * Fill ${f} with pseudorandom pixels and cyclic labels for streams of the
 * shapes ${input}[needs->streams].  The content is the same each time.
 *
 * feed_free(f, needs):
 * Free the buffers and leave an empty feed.
 */
void feed_make(struct feed *f, const struct dims *input,
    const struct input_spec *needs);
void feed_free(struct feed *f, const struct input_spec *needs);

#endif

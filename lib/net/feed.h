#ifndef NET_FEED_H
#define NET_FEED_H

/* Clips that are made up, to measure and to compare with. */

#include "backend/backend.h"

/*
 * feed_make(f, input, needs): random bytes and labels in turn for streams of
 * the shapes ${input}[needs->streams]; the same each time.  feed_free gives
 * them back and leaves an empty feed.
 */
void feed_make(struct feed *f, const struct dims *input,
    const struct needs *needs);
void feed_free(struct feed *f, const struct needs *needs);

#endif

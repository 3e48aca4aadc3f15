#ifndef DATA_LEAVES_H
#define DATA_LEAVES_H

/*
 * What the leaves of a run are, one after the other, before any frame is read:
 * the plan that the loader carries out.
 */

#include "data/loader.h"

struct leaves;

/* leaves_of_steps, leaves_of_views: as loader_new and loader_views. */
struct leaves *leaves_of_steps(const struct dataset *d,
    const struct schedule *s, uint64_t from, const struct loader_options *o);
struct leaves *leaves_of_views(const struct dataset *d, uint32_t first,
    uint32_t count, const struct view_options *o);
void leaves_free(struct leaves *l);

/*
 * leaves_most(l, clips, frames, bytes): the most clips, frames and bytes of
 * pixels that any leaf to come has; 0 if there is none.  Dies if that is more
 * than can be addressed.
 */
void leaves_most(const struct leaves *l, int *clips, size_t *frames,
    size_t *bytes);

/*
 * leaves_next(l, to): the next leaf, but for its labels and pixels; 0 if there
 * is none.  One thread at a time.
 */
int leaves_next(struct leaves *l, struct leaf *to);

/*
 * leaves_choose(l, leaf, i, frame, crop): what clip ${i} of ${leaf} shows, to
 * ${frame}[t] and ${crop}, and its label.  By any number of threads.
 */
void leaves_choose(const struct leaves *l, struct leaf *leaf, int i,
    int *frame, struct crop *crop);

#endif

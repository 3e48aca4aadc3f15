#ifndef TRAIN_REDUCE_BUCKET_H
#define TRAIN_REDUCE_BUCKET_H

/*
 * Gradients reduced while the backward pass still runs.
 *
 * Parameters lie in the order of the network, so finished gradients are
 * always a tail of the flat buffer.  As the tail grows, buckets are cut from
 * it and handed to a thread that has a reducer sum them over ranks
 * (train/reduce/reducer.h).
 */

#include "backend/backend.h"
#include "comm/allreduce.h"
#include "comm/exact.h"
#include "comm/segments.h"

struct bucket;

/* bucket_elements(bytes, elem): how many go into a bucket of ${bytes}, a
 * multiple of EXACT_BLOCK. */
size_t bucket_elements(size_t bytes, size_t elem);

/*
 * bucket_open(c, share, d, free):
 * For gradients of device ${d} whose buckets are those of ${share}, which must
 * outlive it.  ${c} is the thread's own from here on.  With one rank no thread
 * is started.  ${free}: how to add up where the order is free, but for what
 * ${d} and ${share} say of it; NULL: exactly.
 */
struct bucket *bucket_open(struct comm *c, const struct segments *share,
    struct device *d, const struct allreduce_options *free);
void bucket_close(struct bucket *b);

/* bucket_tree(b, t, microbatches): an empty tree for this rank's gradients, and
 * the number that the first one has in it. */
int bucket_tree(struct bucket *b, struct tree *t, int microbatches);

/*
 * bucket_begin(b, t, sums, n): the last microbatch's backward pass is about to
 * start; ${t} are this rank's subtrees once the ${n} ${sums} are done, which
 * the thread does bucket by bucket.  Both must live until bucket_wait.  The event is for
 * plan_backward to record; NULL: there is nobody who would wait for it.
 */
struct event *bucket_begin(struct bucket *b, const struct tree *t,
    const struct tree_sum *sums, int n);

/*
 * bucket_wait(b): until everything is reduced, or, where the devices do it
 * themselves, will be before anything that the device is asked for from now on;
 * the sum over all microbatches, of which the elements that this rank owns are of
 * use, or NULL after a message.  ${*busy} is how long the thread worked.
 * bucket_done(b): after that, until everything is reduced; -1 after a message.
 * What was made of the sum before that is of no use then.
 */
void *bucket_wait(struct bucket *b, double *busy);
int bucket_done(struct bucket *b);

/*
 * bucket_lost(b): a float in device memory that device_lost sets before
 * bucket_begin, and that is summed over ranks like a gradient.  NULL unless the
 * devices sum, and judge.
 */
float *bucket_lost(const struct bucket *b);

#endif

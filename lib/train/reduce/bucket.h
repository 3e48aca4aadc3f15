#ifndef TRAIN_REDUCE_BUCKET_H
#define TRAIN_REDUCE_BUCKET_H

/*
 * Gradients reduced during the backward pass.
 *
 * Parameters are stored in the order of the network, and the backward pass goes
 * through it in reverse.  So the finished gradients are always the end of the
 * flat buffer.  As it grows, it is divided into buckets, and a thread has a
 * reducer sum each over ranks (train/reduce/reducer.h), as PyTorch's
 * DistributedDataParallel does.
 */

#include "backend/backend.h"
#include "comm/allreduce.h"
#include "comm/exact.h"
#include "comm/segments.h"

struct bucket;
struct fabric_calls;
struct reducer;

/*
 * bucket_elements(bytes, elem): return the elements of a bucket of ${bytes}, a
 * multiple of EXACT_BLOCK and at least that.
 */
size_t bucket_elements(size_t bytes, size_t elem);

/*
 * bucket_open(c, share, d, free, fabric):
 * Prepare to reduce gradients of device ${d} in the buckets of ${share}, which
 * must outlive the result.  Take ${c}, which the thread uses from here on.
 * With one rank, start no thread.  ${free} has the options of a sum that may
 * choose its order, except those that follow from ${d} and ${share}; NULL: sum
 * exactly.  The devices sum by ${fabric}; if it is NULL, the hosts do.
 * bucket_close frees the result and ${c}.  A failure ends all ranks after a
 * message.
 * Collective: all ranks call bucket_open and bucket_close.
 */
struct bucket *bucket_open(struct comm *c, const struct segments *share,
    struct device *d, const struct allreduce_options *free,
    const struct fabric_calls *fabric);
void bucket_close(struct bucket *b);

/*
 * bucket_tree(b, t, microbatches): make ${t} an empty tree for the gradients of
 * this rank in a step of ${microbatches} on all ranks.  Return the number of
 * this rank's first leaf in it.
 */
int bucket_tree(struct bucket *b, struct tree *t, int microbatches);

/*
 * bucket_begin(b, t, sums, n):
 * Begin to reduce; the last microbatch's backward pass is about to start.  ${t}
 * has this rank's subtrees, which are complete after the ${n} additions
 * ${sums}; the thread makes them bucket by bucket.  Both must stay valid until
 * bucket_wait.
 * Return the event that plan_backward records, NULL with one rank.
 */
struct event *bucket_begin(struct bucket *b, const struct tree *t,
    const struct tree_sum *sums, int n);

/*
 * bucket_wait(b, busy):
 * Wait until all buckets are reduced.  If the devices sum, wait only until that
 * is queued before all later work of the device.  Return the sum over all
 * microbatches, valid in the elements that this rank owns, or NULL after a
 * message.  Set ${*busy} to the seconds that the thread worked.
 *
 * bucket_done(b): after bucket_wait, wait until the devices have reduced all
 * buckets.  Return 0, or -1 after a message; then results computed from the sum
 * are invalid.
 */
void *bucket_wait(struct bucket *b, double *busy);
int bucket_done(struct bucket *b);

/*
 * bucket_reducer(b): return the reducer, for allgather_by.  ${b} owns it; only
 * the main thread may use it, and not between bucket_begin and bucket_wait.
 */
struct reducer *bucket_reducer(const struct bucket *b);

/*
 * bucket_found_inf(b): return a found_inf flag, a float in device memory, which
 * is all-reduced with the gradients. Set it by device_flag_losses before
 * bucket_begin. NULL unless the devices sum and check (device_has_step_check).
 */
float *bucket_found_inf(const struct bucket *b);

#endif

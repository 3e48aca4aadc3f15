#ifndef TRAIN_REDUCE_ONBOARD_H
#define TRAIN_REDUCE_ONBOARD_H

/*
 * Sums over ranks by the devices themselves (comm/fabric.h), in fp32 or in 16
 * bits.  fp16 has five bits of exponent: what is sent of it is divided by the
 * number of ranks first, so that the sum is in range where its elements are; what
 * is small for fp16 is lost, where there is no scale of the loss.
 */

#include "backend/backend.h"
#include "comm/allreduce.h"

struct onboard;

/* onboard_new(c, d, o): of all ranks of ${c}, which call it; as ${o} says, in the
 * order of the work that ${d} is given; both must outlive it.  NULL after a
 * message. */
struct onboard *onboard_new(struct comm *c, struct device *d,
    const struct allreduce_options *o);
void onboard_free(struct onboard *b);

/* onboard_sum(b, x, n): given to the device: ${n} elements at ${x} become the sum
 * over ranks.  onboard_wait(b): until all of it is done. */
int onboard_sum(struct onboard *b, void *x, size_t n);
int onboard_wait(struct onboard *b);

/* onboard_count(b, x): the same of one float, always as such. */
int onboard_count(struct onboard *b, float *x);

#endif

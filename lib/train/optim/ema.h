#ifndef TRAIN_OPTIM_EMA_H
#define TRAIN_OPTIM_EMA_H

/*
 * EMA: the exponential moving average of weights and running statistics.  Each
 * rank keeps it for the elements that it owns.  In checkpoints it is ema/NAME.
 */

#include "train/optim/slots.h"
#include "train/reduce/host_staging.h"

enum { EMA_SLOTS = 2, EMA_SWAP = 1 << 19 };
extern const struct slot_kind ema_slots[EMA_SLOTS];

/*
 * ema_track(s, first, decay, own, n):
 * Update the EMA, slots ${first} and ${first} + 1 of ${s}, from the weights of
 * s->net.  own[n] are the shards that this rank owns.  With t updates before,
 *
 *	average += (1 - d) (w - average),  d = min(decay, (1 + t) / (10 + t))
 *
 * so that the first weights are soon forgotten (TensorFlow's
 * ExponentialMovingAverage).  The first update is a copy (PyTorch's
 * AveragedModel).  The device executes it later.
 *
 * ema_count(s, first): count the update that ema_track made, on the host.
 */
void ema_track(struct slots *s, int first, double decay,
    const struct owned_shard *own, size_t n);
void ema_count(struct slots *s, int first);

/*
 * ema_swap(s, first, g, w, buffer):
 * Exchange the weights at ${w}, those of s->net, with their EMA if it has had
 * an update.  Each rank exchanges what it owns, and ${g} gathers the weights.
 * ${buffer} is EMA_SWAP bytes of device memory.
 * Collective: all ranks call it.  Return 0, or -1 after a message if another
 * rank cannot be reached.
 */
int ema_swap(struct slots *s, int first, struct allgather *g, void *w,
    void *buffer);

#endif

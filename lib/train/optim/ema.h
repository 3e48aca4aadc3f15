#ifndef TRAIN_OPTIM_EMA_H
#define TRAIN_OPTIM_EMA_H

/*
 * The moving average of weights and running statistics, kept by those who own
 * them; in checkpoints ema/NAME.
 */

#include "train/optim/slots.h"
#include "train/reduce/detour.h"

enum { EMA_SLOTS = 2 };
extern const struct slot_kind ema_slots[EMA_SLOTS];

/*
 * ema_track(s, first, decay, own, n): the weights have changed: what slots
 * ${first} and the next of ${s} hold follows them, on each rank what it owns, the
 * ${n} portions ${own}.  With t updates before, average += (1 - d) (w - average),
 * d = min(decay, (1 + t) / (10 + t)), so that the first weights are soon forgotten
 * (TensorFlow's ExponentialMovingAverage); the first update is a copy (PyTorch's
 * AveragedModel).
 * ema_count(s, first): that was an update.
 */
void ema_track(struct slots *s, int first, double decay,
    const struct portion *own, size_t n);
void ema_count(struct slots *s, int first);

/*
 * ema_swap(s, first, g, w): on all ranks, the weights at ${w}, those of the net,
 * which ${g} gathers, change places with their average, if there is one yet.  -1 if another rank
 * cannot be reached.
 */
int ema_swap(struct slots *s, int first, struct gathering *g, void *w);

#endif

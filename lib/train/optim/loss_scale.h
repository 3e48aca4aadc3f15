#ifndef TRAIN_OPTIM_LOSS_SCALE_H
#define TRAIN_OPTIM_LOSS_SCALE_H

/*
 * What the loss is multiplied by, so that the gradients of activations, which
 * may be stored in fp16, do not vanish; the gradient of the weights is divided
 * by it.
 *
 * A dynamic scale (Micikevicius et al. 2018, section 3.2, as PyTorch's
 * GradScaler) is halved by a gradient that is not finite, and doubled after
 * some steps in a row without one.  It is a power of two from 1 to 2^64, and so
 * changes no bit of what neither overflows nor vanishes.
 */

#include "train/optim/slots.h"

enum { LOSS_SCALE_SLOTS = 2 };
extern const struct slot_kind loss_scale_slots[LOSS_SCALE_SLOTS];

enum { LOSS_SCALE_EVERY = 2000 };	/* steps until it is doubled */

/* Slots ${first} and the next of ${s} hold the state of a dynamic scale. */
double loss_scale_now(const struct slots *s, int first);

/* loss_scale_lower(s, first): 0 if it is 1 already, and the gradient is to
 * blame. */
int loss_scale_lower(struct slots *s, int first);

/* loss_scale_keep(s, first, every): a step went well. */
void loss_scale_keep(struct slots *s, int first, int every);

#endif

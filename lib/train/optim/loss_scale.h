#ifndef TRAIN_OPTIM_LOSS_SCALE_H
#define TRAIN_OPTIM_LOSS_SCALE_H

/*
 * The loss scale: a factor on the loss, so that gradients of activations, which
 * may be stored in fp16, do not underflow.  The gradient of the weights is
 * divided by it.
 *
 * A dynamic scale (Micikevicius et al. 2018, section 3.2; PyTorch's GradScaler)
 * is halved after a gradient that is not finite, and doubled after a number of
 * steps without one.  It is a power of two from 1 to 2^64, so it changes no bit
 * of a value that neither overflows nor underflows.
 */

#include "train/optim/slots.h"

enum { LOSS_SCALE_SLOTS = 2 };
extern const struct slot_kind loss_scale_slots[LOSS_SCALE_SLOTS];

enum { LOSS_SCALE_EVERY = 2000 };	/* default number of steps until it
					 * doubles */

/*
 * loss_scale_now(s, first): return the scale.  Slots ${first} and ${first} + 1
 * of ${s} hold the state of a dynamic scale.
 */
double loss_scale_now(const struct slots *s, int first);

/*
 * loss_scale_lower(s, first): halve the scale and return 1.  Return 0 if it is
 * 1 already: then the scale is not the reason for the overflow.
 */
int loss_scale_lower(struct slots *s, int first);

/*
 * loss_scale_keep(s, first, every): count a step with a finite gradient, and
 * double the scale after ${every} of them in a row.
 */
void loss_scale_keep(struct slots *s, int first, int every);

#endif

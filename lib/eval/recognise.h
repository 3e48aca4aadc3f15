#ifndef EVAL_RECOGNISE_H
#define EVAL_RECOGNISE_H

/*
 * What a network makes of one clip after the other, as it makes of the samples
 * of a packed dataset (train/loop/evaluator.h): the same views of the same frames,
 * and the scores averaged over them before any softmax.
 */

#include "data/loader.h"
#include "eval/model.h"
#include "ingest/incoming.h"

struct recogniser;

/*
 * recogniser_new(m, v, threads):
 * Of ${m}, which must have been started and stays the caller's, in the views of
 * ${v}, of which n run through it together at most; its needs do not matter.
 * ${threads} decode frames.  NULL after a message; then ${*status} is the exit
 * status.
 */
struct recogniser *recogniser_new(const struct model *m,
    const struct view_options *v, int threads, int *status);
void recogniser_free(struct recogniser *r);

/*
 * recognise(r, a, scores, why):
 * The scores of every class, [classes], for clip ${a}, whose frames are there.
 * 0; -1 after a message: its frames cannot be read back; -2 and the reason in
 * ${why}[RECOGNISE_WHY]: a frame is damaged.
 */
#define RECOGNISE_WHY 1024
int recognise(struct recogniser *r, const struct extraction *a, double *scores,
    char *why);

#endif

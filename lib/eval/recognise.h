#ifndef EVAL_RECOGNISE_H
#define EVAL_RECOGNISE_H

/*
 * Score single clips with a network.  Views, frames and averaging are those of
 * an evaluation of a packed dataset (train/loop/evaluator.h), so the scores are
 * equal.
 */

#include "data/loader.h"
#include "eval/model.h"
#include "ingest/incoming.h"

struct recogniser;

/*
 * recogniser_new(m, v, threads, status):
 * Return a recogniser for ${m}, which must be started and must outlive it, and
 * for the views ${v}.  v->n is the maximum number of views in a microbatch;
 * v->needs is ignored.  ${threads} threads decode frames.
 * Return NULL after a message and set ${*status} to the exit status on failure.
 * The caller frees it with recogniser_free.
 */
struct recogniser *recogniser_new(const struct model *m,
    const struct view_options *v, int threads, int *status);

/* recogniser_free(r): Stop its threads and free it.  NULL does nothing. */
void recogniser_free(struct recogniser *r);

/* capacity of the reason, in bytes */
#define RECOGNISE_WHY 1024

/*
 * recognise(r, a, scores, why):
 * Write the scores of all classes to ${scores}[classes] for clip ${a}, which
 * must have frames.
 * Return 0; -1 after a message if its frames cannot be read back; -2 with the
 * reason in ${why}[RECOGNISE_WHY] if a frame is damaged.
 */
int recognise(struct recogniser *r, const struct extraction *a, double *scores,
    char *why);

#endif

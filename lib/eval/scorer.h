#ifndef EVAL_SCORER_H
#define EVAL_SCORER_H

/*
 * Score single clips with a network.  Views, frames and averaging are those of
 * an evaluation of a packed dataset (train/loop/evaluator.h), so the scores are
 * equal.
 */

#include "data/loader.h"
#include "eval/model.h"
#include "ingest/clip_source.h"

struct scorer;

/*
 * scorer_new(m, v, threads, status):
 * Return a scorer for ${m}, which must be started and must outlive it, and
 * for the views ${v}.  v->n is the maximum number of views in a microbatch;
 * v->needs is ignored.  ${threads} threads decode frames.
 * Return NULL after a message and set ${*status} to the exit status on failure.
 * The caller frees it with scorer_free.
 */
struct scorer *scorer_new(const struct model *m,
    const struct view_options *v, int threads, int *status);

/* scorer_free(r): Stop its threads and free it.  NULL does nothing. */
void scorer_free(struct scorer *r);

/* capacity of the reason, in bytes */
#define SCORER_WHY 1024

/*
 * scorer_run(r, a, scores, why):
 * Write the scores of all classes to ${scores}[classes] for clip ${a}, which
 * must have frames of the streams that the network reads.
 * Return 0; -1 after a message if its frames cannot be read back; -2 with the
 * reason in ${why}[SCORER_WHY] if a frame is damaged.
 */
int scorer_run(struct scorer *r, const struct extraction *a, double *scores,
    char *why);

#endif

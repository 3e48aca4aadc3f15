#ifndef TRAIN_LEARN_GROWN_BATCH_H
#define TRAIN_LEARN_GROWN_BATCH_H

/*
 * Batch growth without learners: by the noise between the microbatches of an
 * update.
 *
 * An update of n microbatches has the gradients g_i and their mean G.  Let b be
 * the clips of a microbatch and S the covariance of a clip's gradient.  Then
 *
 *	V = (sum |g_i|^2 - n |G|^2) / (n - 1)
 *
 * estimates tr(S) / b, and |G|^2 - V / n estimates |g|^2 of the true gradient
 * g.  Their ratio is the noise scale in clips,
 *
 *	tr(S) / |g|^2 = b V / (|G|^2 - V / n)
 *
 * of McCandlish et al. 2018 (An Empirical Model of Large-Batch Training,
 * appendix A.1, with a small batch b and a big batch n b).  A single |g|^2 is
 * noisy, so both are moving averages before the ratio is taken, as they
 * recommend.
 *
 * The batch grows as for learners (train/learn/round.h).  The schedule does not
 * change: an update adds the gradients of M steps, and M changes only at an
 * update.  Each step still sums over ranks, in its own tree.
 *
 * A rank computes |g_i|^2 of its own microbatches, by norm blocks, before g_i
 * is added to others.  The values are summed over microbatches by the tree of
 * exact_sum, and over steps in order.  |G|^2 is the norm that the optimizer
 * checks.  So the estimate has the same bits for any number of ranks.
 *
 * State is saved and validated only after an update.
 */

#include "train/loop/work.h"

struct grown_batch;

/*
 * grown_batch_wanted(t): return 1 if updates of ${t} may add several steps.
 * grown_batch_bytes(t): return the device memory for that, on each rank.
 * grown_batch_print(t, f): print the settings to ${f}, for the plan.
 */
int grown_batch_wanted(const struct trainer *t);
size_t grown_batch_bytes(const struct trainer *t);
void grown_batch_print(const struct trainer *t, FILE *f);

/*
 * grown_batch_fit(t, c): check that a step of ${c} has microbatches to compare.
 * Return 0, or -1 after a message.
 */
int grown_batch_fit(const struct trainer *t, const struct cell *c);

/*
 * grown_batch_open(t): allocate for ${t}, which must outlive the result.
 * Return NULL after a message.  grown_batch_close frees it.
 */
struct grown_batch *grown_batch_open(const struct trainer *t);
void grown_batch_close(struct grown_batch *b, const struct trainer *t);

/*
 * grown_batch_squares(b, g): return the squared norm of the gradient ${g} of a
 * microbatch, in device memory.  Wait for the device.
 */
double grown_batch_squares(struct grown_batch *b, const void *g);

/*
 * A step calls these in this order.  All ranks call them with the same values.
 *
 * grown_batch_begin(b, t): begin a step.
 *
 * grown_batch_add(b, t, sum, microbatches, s):
 * Add the gradient ${sum} of a step with the report ${s}.  If an update is due,
 * return the sum since the last one and set ${*scale} to the factor that makes
 * it a mean.  Otherwise return NULL.
 *
 * grown_batch_end(b, t, s, status):
 * End the step.  After an update, decide on growth.  Before it, defer requests
 * to save or stop.  If ${status} is not 0, restore the counters of the last
 * update, whose weights the net still has.  Return ${status}.
 */
void grown_batch_begin(struct grown_batch *b, const struct trainer *t);
void *grown_batch_add(struct grown_batch *b, const struct trainer *t, void *sum,
    int microbatches, const struct step_report *s, double *scale);
int grown_batch_end(struct grown_batch *b, struct trainer *t,
    struct step_report *s, int status);

#endif

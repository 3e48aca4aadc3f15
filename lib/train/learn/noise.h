#ifndef TRAIN_LEARN_NOISE_H
#define TRAIN_LEARN_NOISE_H

/*
 * The noise of gradients, measured by the displacements of learners.
 *
 * Learner j takes K steps of plain SGD from the last average, at the learning
 * rate r with b clips a step.  Let g be the gradient and S the covariance of a
 * clip's gradient.  The displacement d_j is about - r K g plus noise of
 * variance r^2 K tr(S) / b.  With the mean d, the variance between N learners
 *
 *	V = sum |d_j - d|^2 / (N - 1)
 *
 * and |d|^2 give the noise scale of McCandlish et al. 2018 (An Empirical Model
 * of Large-Batch Training, section 2.2),
 *
 *	tr(S) / |g|^2 = b K V / (|d|^2 - V / N)
 *
 * in clips.  Up to about that batch size, twice the batch takes half the steps.
 * The learning rate cancels.  A single measurement is noisy, and momentum makes
 * the value a trend only.  b K is the number of clips of a learner, whatever
 * its batch.
 */

struct learners;
struct trainer;

/* V, |d|^2, and |d|^2 - V / N, the part that is not noise. */
struct noise { double apart, moved, gradient; };

/*
 * noise_learners(l, t): before an average, measure each learner's displacement.
 * noise_average(l, t): after the sum, measure the displacement of the mean.
 * l->vector[0] has the mean where this rank owns it; the net still has the last
 * average.
 * Both use the first gradient buffer.  Collective: all ranks call them.  Return
 * 0, or -1 after a message if another rank cannot be reached.
 */
int noise_learners(struct learners *l, struct trainer *t);
int noise_average(struct learners *l, struct trainer *t);

/*
 * noise_of(l): Return what noise_learners and noise_average measured.
 * noise_log(l, t, n): Write an "average" line with ${n} to the run's log.
 */
struct noise noise_of(const struct learners *l);
void noise_log(const struct learners *l, struct trainer *t,
    const struct noise *n);

#endif

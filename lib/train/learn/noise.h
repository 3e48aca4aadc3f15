#ifndef TRAIN_LEARN_NOISE_H
#define TRAIN_LEARN_NOISE_H

/*
 * The noise of gradients, from how far learners have moved apart.
 *
 * After K steps of plain SGD at the learning rate r from one place, with b clips
 * a step, gradient g and covariance S of a clip's, learner j has moved by d_j,
 * about - r K g and noise of variance r^2 K tr(S) / b.  So the variance between
 * N learners, V = sum |d_j - d|^2 / (N - 1) with their mean d, and |d|^2 give
 * the noise scale of McCandlish et al. 2018 (An Empirical Model of Large-Batch
 * Training, section 2.2),
 *
 *	tr(S) / |g|^2 = b K V / (|d|^2 - V / N)
 *
 * clips: up to about as many in a batch, twice the batch takes half the steps.
 * The learning rate cancels.  It is one measurement, which itself has noise, and
 * momentum makes it a trend and no more.  b K are the clips that a learner has
 * had, however many of them went into a step.
 */

struct learners;
struct trainer;

/* V, |d|^2, and what of that is no noise. */
struct noise { double apart, moved, gradient; };

/*
 * noise_learners(l, t): before their average, how far each has moved.
 * noise_average(l, t): how far their mean has; l->vector[0] has that where this
 * rank owns it, and the net still the last average.  -1 if another rank cannot
 * be reached.
 */
int noise_learners(struct learners *l, struct trainer *t);
int noise_average(struct learners *l, struct trainer *t);

/* noise_of(l): what these two found.  noise_log(l, t, n): a line of the log. */
struct noise noise_of(const struct learners *l);
void noise_log(const struct learners *l, struct trainer *t,
    const struct noise *n);

#endif

#ifndef EVAL_FUSION_H
#define EVAL_FUSION_H

/* Late fusion: combine the scores of several networks for the same samples. */

#include "eval/score_file.h"

/*
 * How to combine the scores s of networks k with weights w, divided by their
 * sum:
 *
 *	probabilities: p = sum of w[k] softmax(s[k]); the score is ln p
 *	logits: the score is the sum of w[k] s[k]
 *
 * With a sigmoid loss, p is the sum of w[k] sigmoid(s[k]), and the score is
 * ln(p / (1 - p)).  Sources: probabilities are those of Simonyan and Zisserman
 * 2014, section 2; logits with weights 1:1.5 those of Wang et al. 2016 (TSN),
 * section 3.3.
 */
enum fusion { FUSION_PROBABILITIES, FUSION_LOGITS };
#define FUSION_NAMES "probabilities|logits"	/* in this order */

/*
 * fusion_match(f, n):
 * Check that the files ${f}[n] have the same classes, loss, samples and labels,
 * and set ${from} of all but the first.  Print a note for each file whose
 * protocol differs.  Return 0, or -1 after a message with the first difference.
 */
int fusion_match(struct score_file *f, size_t n);

/*
 * fusion_combine(how, f, n, weight, scores):
 * Write the combined scores of the matched files ${f}[n] with ${weight}[n],
 * whose sum is positive, to ${scores}[samples][classes].  ${scores} may be
 * those of f[0].
 */
void fusion_combine(enum fusion how, const struct score_file *f, size_t n,
    const double *weight, double *scores);

/* Steps of a weight in fusion_fit, and the maximum number of files. */
enum { FUSION_STEPS = 20, FUSION_FIT_FILES = 4 };

/*
 * fusion_fit(how, f, n, weight):
 * Set ${weight}[n] to the multiples of 1 / FUSION_STEPS with sum 1 that give
 * the matched files ${f}[n] the highest top-1 accuracy, or mAP for sets of
 * classes.  Of equal ones take the lowest loss, then the largest first weight.
 * Return the summary of the best.
 */
struct summary fusion_fit(enum fusion how, const struct score_file *f, size_t n,
    double *weight);

#endif

#ifndef GRAPH_METRIC_H
#define GRAPH_METRIC_H

/*
 * Ranks, losses and probabilities from a clip's scores, the scores of a clip
 * from those of its views, and the average precision of a class.
 */

#include <stddef.h>

#include "base/feed.h"
#include "graph/op.h"

/*
 * metric_rank(scores, classes, label):
 * Return the number of classes that score at least as high as ${label}, without
 * itself.  The clip is correct in the top k if that is below k.  Equal scores
 * count against it, so that a network with equal scores for all classes is
 * never correct.
 */
int metric_rank(const double *scores, int classes, int label);

/*
 * target_rank(t, i, scores):
 * Return the best metric_rank among the correct classes of clip ${i}.  They are
 * all classes of a set, and for shares the class with the largest, the first of
 * equal ones.  Return INT_MAX if no class is correct.
 */
int target_rank(const struct target *t, int i, const double *scores);

/* metric_logsumexp(scores, classes): return ln of the sum of exp(scores). */
double metric_logsumexp(const double *scores, int classes);

/*
 * metric_binary(score, share):
 * Return the binary cross-entropy of one class:
 *
 *	ln(1 + exp(score)) - share score
 */
double metric_binary(double score, double share);

/*
 * metric_focal(gamma, log_p, value, slope):
 * Set ${*value} to the loss of a class of probability p = exp(${log_p}), and
 * ${*slope} to -p times its derivative by p:
 *
 *	value = -(1 - p)^gamma ln(p)
 *	slope = (1 - p)^gamma - gamma p (1 - p)^(gamma - 1) ln(p)
 *
 * With ${gamma} 0 they are those of the cross-entropy, -ln(p) and 1.
 * Source: Lin et al., "Focal Loss for Dense Object Detection", ICCV 2017,
 * section 3.
 */
void metric_focal(double gamma, double log_p, double *value, double *slope);

/*
 * metric_loss(kind, scores, classes, label):
 * Return the loss of a clip of class ${label}, as defined in vt-model(5).
 *
 *	softmax: -ln softmax(scores)[label]
 *	sigmoid: mean of metric_binary over the classes
 */
double metric_loss(enum loss_kind kind, const double *scores, int classes,
    int label);

/*
 * metric_probabilities(kind, scores, classes, p):
 * Write the softmax of ${scores}, or the sigmoid of each, to ${p}[classes].
 * ${p} may be ${scores}.
 */
void metric_probabilities(enum loss_kind kind, const double *scores,
    int classes, double *p);

/*
 * metric_ensemble_add(how, kind, classes, scores, first, sum):
 * Add the ${scores} of one view, [classes], to ${sum}.  ${first} is 1 for the
 * first view, which initializes ${sum}.  ${scores} is overwritten.
 *
 * metric_ensemble_end(how, kind, classes, views, sum):
 * Turn the ${sum} of ${views} views into scores of the clip.  A loss of ${kind}
 * turns these scores into the combined probabilities.  The scores of maxima are
 * their logarithms, from which a softmax makes probabilities whose sum is 1.
 */
void metric_ensemble_add(enum ensemble how, enum loss_kind kind, int classes,
    double *scores, int first, double *sum);
void metric_ensemble_end(enum ensemble how, enum loss_kind kind, int classes,
    int views, double *sum);

/* The score of a sample for one class; ${right} is 1 if it belongs to it. */
struct scored { double score; int right; };

/*
 * metric_average_precision(s, n):
 * Return the average precision of a class over ${n} samples.  It is the sum,
 * over thresholds from the highest score down, of precision times the increase
 * of recall:
 *
 *	sum over k of (tp[k] - tp[k - 1]) / positives * tp[k] / (tp[k] + fp[k])
 *
 * Equal scores are one threshold, so that their order does not matter.  Return
 * -1 if no sample belongs to the class.  ${s} is sorted in place.
 *
 * Source: scikit-learn's average_precision_score, which get_map in PySlowFast's
 * utils/meters.py calls for each class with a positive sample.
 */
double metric_average_precision(struct scored *s, size_t n);

#endif

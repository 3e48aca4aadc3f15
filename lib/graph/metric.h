#ifndef GRAPH_METRIC_H
#define GRAPH_METRIC_H

/* What a clip's scores say, to a loss of its kind. */

#include "graph/op.h"

/*
 * metric_rank(scores, classes, label): how many classes score higher than
 * ${label}, so that it is right among the top k if that is below k.  Equal
 * scores count against it: a network that gives the same score to every class
 * is never right.
 */
int metric_rank(const double *scores, int classes, int label);

/*
 * target_rank(t, i, scores): how many classes score higher than the best of
 * those that are right, equal scores counted (metric_rank); that is of a set
 * all its classes, and of shares the class of the largest, the first of equal
 * ones.  INT_MAX if none is right.
 */
int target_rank(const struct target *t, int i, const double *scores);

/* metric_log_sum(scores, classes): ln of the sum of exp(scores). */
double metric_log_sum(const double *scores, int classes);

/*
 * metric_binary(score, share): ln(1 + exp(score)) - share * score, the binary
 * cross-entropy of one class.
 */
double metric_binary(double score, double share);

/*
 * metric_loss(kind, scores, classes, label): softmax: -ln softmax(scores)[label];
 * sigmoid: the mean of metric_binary over the classes, of which ${label} alone
 * is right.  As vt-model(5) has them.
 */
double metric_loss(enum loss_kind kind, const double *scores, int classes,
    int label);

/* metric_probabilities(kind, scores, classes, p): into ${p}: the softmax, or
 * each class's sigmoid. */
void metric_probabilities(enum loss_kind kind, const double *scores,
    int classes, double *p);

#endif

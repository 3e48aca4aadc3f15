#ifndef GRAPH_METRIC_H
#define GRAPH_METRIC_H

/* What a clip's scores say. */

/*
 * metric_rank(scores, classes, label): how many classes score higher than
 * ${label}, so that it is right among the top k if that is below k.  Equal
 * scores count against it: a network that gives the same score to every class
 * is never right.
 */
int metric_rank(const double *scores, int classes, int label);

/* metric_log_sum(scores, classes): ln of the sum of exp(scores). */
double metric_log_sum(const double *scores, int classes);

/* metric_loss(scores, classes, label): -ln softmax(scores)[label]. */
double metric_loss(const double *scores, int classes, int label);

/* metric_softmax(scores, classes, p): probabilities, into ${p}. */
void metric_softmax(const double *scores, int classes, double *p);

#endif

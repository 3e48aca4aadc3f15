#ifndef GRAPH_PRECISION_H
#define GRAPH_PRECISION_H

#include <stddef.h>

/* The score of a sample for one class; ${right} is 1 if it belongs to it. */
struct scored { double score; int right; };

/*
 * average_precision(s, n):
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
double average_precision(struct scored *s, size_t n);

#endif

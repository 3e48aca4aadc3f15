#ifndef GRAPH_PRECISION_H
#define GRAPH_PRECISION_H

#include <stddef.h>

/* Scores of samples for one class, and whether each is of it. */
struct scored { double score; int right; };

/*
 * average_precision(s, n):
 * The average precision of a class among ${n} samples: the sum over thresholds,
 * from the highest score down, of the precision above the threshold times the
 * recall it adds,
 *
 *	sum over k of (tp[k] - tp[k - 1]) / positives * tp[k] / (tp[k] + fp[k])
 *
 * where equal scores are one threshold, so that their order does not matter.
 * -1 where no sample is of the class.  Sorts ${s}.  As scikit-learn's
 * average_precision_score, which PySlowFast's utils/meters.py, get_map, calls
 * for each class that has a positive.
 */
double average_precision(struct scored *s, size_t n);

#endif

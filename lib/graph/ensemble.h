#ifndef GRAPH_ENSEMBLE_H
#define GRAPH_ENSEMBLE_H

/* Combines the scores of a clip's views to those of the clip. */

#include "base/feed.h"
#include "graph/op.h"

/*
 * ensemble_add(how, kind, classes, scores, first, sum):
 * Add the ${scores} of one view, [classes], to ${sum}.  ${first} is 1 for the
 * first view, which initializes ${sum}.  ${scores} is overwritten.
 *
 * ensemble_end(how, kind, classes, views, sum):
 * Turn the ${sum} of ${views} views into scores of the clip.  A loss of ${kind}
 * turns these scores into the combined probabilities.  The scores of maxima are
 * their logarithms, from which a softmax makes probabilities whose sum is 1.
 */
void ensemble_add(enum ensemble how, enum loss_kind kind, int classes,
    double *scores, int first, double *sum);
void ensemble_end(enum ensemble how, enum loss_kind kind, int classes,
    int views, double *sum);

#endif

#ifndef GRAPH_ENSEMBLE_H
#define GRAPH_ENSEMBLE_H

/* How the scores of a clip's views become those of the clip. */

#include "base/feed.h"
#include "graph/op.h"

/*
 * ensemble_add(how, kind, classes, scores, first, sum): take one view's
 * ${scores} into ${sum}; ${first}: it is the first.  ${scores} is written over.
 * ensemble_end(how, kind, classes, views, sum): make scores of it, whose
 * probabilities for a loss of ${kind} are those meant; greatest ones of a softmax
 * are made to add up to 1.
 */
void ensemble_add(enum ensemble how, enum loss_kind kind, int classes,
    double *scores, int first, double *sum);
void ensemble_end(enum ensemble how, enum loss_kind kind, int classes,
    int views, double *sum);

#endif

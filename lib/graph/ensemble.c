/* Combines the scores of a clip's views to those of the clip. */
#include <float.h>
#include <math.h>

#include "graph/ensemble.h"
#include "graph/metric.h"

/*
 * Return 1 if ${how} combines probabilities.  A sigmoid is monotonic, so the
 * maximum of its scores will do.
 */
static int
ensemble_wants_probabilities(enum ensemble how, enum loss_kind kind)
{
	return how == ENSEMBLE_PROBABILITIES || (how == ENSEMBLE_MAX &&
	    kind == LOSS_SOFTMAX);
}

void
ensemble_add(enum ensemble how, enum loss_kind kind, int classes,
    double *scores, int first, double *sum)
{
	if (ensemble_wants_probabilities(how, kind))
		metric_probabilities(kind, scores, classes, scores);
	for (int c = 0; c < classes; c++)
		if (first)
			sum[c] = scores[c];
		else if (how != ENSEMBLE_MAX)
			sum[c] += scores[c];
		else if (!(scores[c] <= sum[c]))	/* keep NaN */
			sum[c] = scores[c];
}

/*
 * Return the score of probability ${p}: ln p, or for a sigmoid ln(p / (1 - p)).
 * Limit p so that the score stays finite: sums may be rounded to 0 or 1.
 */
static double
ensemble_score(enum loss_kind kind, double p)
{
	double q = kind == LOSS_SIGMOID ? 1 - p : 1;

	return log((p < DBL_MIN ? DBL_MIN : p) / (q < DBL_EPSILON ?
	    DBL_EPSILON : q));
}

void
ensemble_end(enum ensemble how, enum loss_kind kind, int classes, int views,
    double *sum)
{
	for (int c = 0; c < classes; c++) {
		if (how != ENSEMBLE_MAX)
			sum[c] /= views;
		if (ensemble_wants_probabilities(how, kind))
			sum[c] = ensemble_score(kind, sum[c]);
	}
}

/* Ranks, losses and probabilities from a clip's scores. */
#include <limits.h>
#include <math.h>

#include "graph/metric.h"

int
metric_rank(const double *scores, int classes, int label)
{
	int above = 0;

	for (int c = 0; c < classes; c++)
		/* Negated, so that equal scores and NaNs count as higher. */
		above += c != label && !(scores[c] < scores[label]);
	return above;
}

int
target_rank(const struct target *t, int i, const double *scores)
{
	int best = INT_MAX, largest = 0;

	if (t->kind == TARGET_CLASS)
		return t->label[i] < 0 ? INT_MAX : metric_rank(scores,
		    t->classes, t->label[i]);
	for (int c = 1; c < t->classes; c++)
		if (target_soft_label(t, i, c) > target_soft_label(t, i,
		    largest))
			largest = c;
	for (int c = 0; c < t->classes; c++)
		if (target_soft_label(t, i, c) > 0 &&
		    (t->kind == TARGET_SET || c == largest)) {
			int rank = metric_rank(scores, t->classes, c);

			best = rank < best ? rank : best;
		}
	return best;
}

double
metric_logsumexp(const double *scores, int classes)
{
	double top = scores[0], sum = 0;

	for (int c = 1; c < classes; c++)
		top = scores[c] > top ? scores[c] : top;
	for (int c = 0; c < classes; c++)
		/* Relative to the maximum, so that exp does not overflow. */
		sum += exp(scores[c] - top);
	return top + log(sum);
}

double
metric_binary(double score, double share)
{
	/*
	 * The equivalent max(x, 0) - share x + ln(1 + exp(-|x|)) does not
	 * overflow.
	 */
	return (score > 0 ? score : 0) - share * score +
	log1p(exp(-fabs(score)));
}

void
metric_focal(double gamma, double log_p, double *value, double *slope)
{
	/* expm1 keeps 1 - p accurate if p is close to 1.  Rounding of log_p may
	 * make it negative there. */
	double rest = fmax(-expm1(log_p), 0), power = pow(rest, gamma);

	*value = -power * log_p;
	*slope = power - (rest > 0 ? gamma * exp(log_p) * power / rest * log_p :
	    0);
}

double
metric_loss(enum loss_kind kind, const double *scores, int classes, int label)
{
	double sum = 0;

	if (kind == LOSS_SOFTMAX)
		return metric_logsumexp(scores, classes) - scores[label];
	for (int c = 0; c < classes; c++)
		sum += metric_binary(scores[c], c == label);
	return sum / classes;
}

void
metric_probabilities(enum loss_kind kind, const double *scores, int classes,
    double *p)
{
	double all = metric_logsumexp(scores, classes);

	for (int c = 0; c < classes; c++)
		p[c] = kind == LOSS_SOFTMAX ? exp(scores[c] - all) :
		    1 / (1 + exp(-scores[c]));
}

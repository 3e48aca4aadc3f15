/* Ranks, losses, probabilities, ensembles and precision from scores. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

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

/*
 * Return 1 if ${how} combines probabilities.  A sigmoid is monotonic, so the
 * maximum of its scores will do.
 */
static int
metric_ensemble_wants_probabilities(enum ensemble how, enum loss_kind kind)
{
	return how == ENSEMBLE_PROBABILITIES || (how == ENSEMBLE_MAX &&
	    kind == LOSS_SOFTMAX);
}

void
metric_ensemble_add(enum ensemble how, enum loss_kind kind, int classes,
    double *scores, int first, double *sum)
{
	if (metric_ensemble_wants_probabilities(how, kind))
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
metric_ensemble_score(enum loss_kind kind, double p)
{
	double q = kind == LOSS_SIGMOID ? 1 - p : 1;

	return log((p < DBL_MIN ? DBL_MIN : p) / (q < DBL_EPSILON ?
	    DBL_EPSILON : q));
}

void
metric_ensemble_end(enum ensemble how, enum loss_kind kind, int classes,
    int views, double *sum)
{
	for (int c = 0; c < classes; c++) {
		if (how != ENSEMBLE_MAX)
			sum[c] /= views;
		if (metric_ensemble_wants_probabilities(how, kind))
			sum[c] = metric_ensemble_score(kind, sum[c]);
	}
}

static int
metric_by_score(const void *a, const void *b)
{
	const struct scored *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

double
metric_average_precision(struct scored *s, size_t n)
{
	double all = 0, right = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		all += s[i].right;
	if (all == 0)
		return -1;
	qsort(s, n, sizeof(*s), metric_by_score);
	for (size_t i = 0; i < n;) {
		double threshold = s[i].score, more = 0;

		/* Equal scores pass one threshold together. */
		for (; i < n && s[i].score == threshold; i++)
			more += s[i].right;
		right += more;
		sum += more / all * (right / (double)i);
	}
	return sum;
}

/* How good scores are. */
#include <math.h>

#include "graph/metric.h"

int
metric_rank(const double *scores, int classes, int label)
{
	int above = 0;

	for (int c = 0; c < classes; c++)
		above += c != label && !(scores[c] < scores[label]);
	return above;
}

double
metric_log_sum(const double *scores, int classes)
{
	double top = scores[0], sum = 0;

	for (int c = 1; c < classes; c++)
		top = scores[c] > top ? scores[c] : top;
	for (int c = 0; c < classes; c++)
		sum += exp(scores[c] - top);
	return top + log(sum);
}

double
metric_loss(const double *scores, int classes, int label)
{
	return metric_log_sum(scores, classes) - scores[label];
}

void
metric_softmax(const double *scores, int classes, double *p)
{
	double all = metric_log_sum(scores, classes);

	for (int c = 0; c < classes; c++)
		p[c] = exp(scores[c] - all);
}
